//! The units of a plan as rollouts see them: the subjects of each that a budget counts, and why it may pass. Pure.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

use super::flux::{FluxRow, FormerRrset, RolloutMemory, is_watched};
use super::steps::UnitStep;
use super::units::{ChangeUnit, is_one};
use crate::change::reach::{addresses, takes_value};
use crate::change::{BlockCode, BlockedSubject, Change, NoticeCode};
use crate::claim::{Subject, SubjectGroup};
use crate::dns::RrKey;
use crate::inventory::rollout::SettleTime;
use crate::inventory::value::{Duration, Time};
use crate::plan::Plan;
use crate::target::ZoneId;

/// What holds for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupTerms {
    /// How many may be unreachable at once; at least 1.
    pub budget: usize,
    /// Whether all of them are at one location.
    pub one_location: bool,
    /// How many go in the first wave of a batch.
    pub canary: Option<usize>,
    /// How long a change takes to reach all clients.
    pub settle: SettleTime,
    /// How long old and new addresses are there together; none where the new ones take the place of the old ones.
    pub overlap: Option<Duration>,
}

impl GroupTerms {
    /// Whether no budget holds: the project has no rollout, and what it changes is remembered for its approvals.
    pub fn is_unlimited(&self) -> bool {
        self.budget == usize::MAX
    }

    /// How long old and new addresses are there together at least, where caches have the new ones sooner.
    pub fn least_overlap(&self) -> Duration {
        self.overlap.unwrap_or(Duration::from_secs(0))
    }
}

/// How long caches may hold what is there.
pub trait CacheTimes {
    /// That a name does not exist (RFC 2308 section 5).
    fn negative(&self, zone: &ZoneId) -> Duration;

    /// What an RRset was before, where an earlier change of it was less than its TTL ago: that TTL.
    fn former(&self, key: &RrKey) -> Option<Duration>;
}

/// Why a host may not go that needs an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnapprovedHost {
    /// In words: lower case, no full stop.
    pub message: String,
    /// When it may go at the earliest; none where that is not known.
    pub until: Option<Time>,
    /// Whether a service rejected it in this run.
    pub is_rejected: bool,
}

/// A subject of a unit that is in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitMember<'p> {
    /// The subject.
    pub subject: &'p Subject,
    /// Its group.
    pub group: &'p str,
    /// Its location; empty where none is known.
    pub location: &'p str,
    /// Its rack; empty where none is known.
    pub rack: &'p str,
    /// Whether its changes take live values.
    pub is_disruptive: bool,
    /// How long they take to reach all clients.
    pub settle: Duration,
    /// How long old and new addresses are there together, where they are.
    pub overlap: Option<Duration>,
    /// What its addresses are before.
    pub before: Vec<FormerRrset>,
    /// The hosts at whose names its changes take addresses, and of which no rule has a part in that; sorted.
    pub affected: Vec<Subject>,
    /// What its addresses are to be in the end, where the change stops in between.
    pub wanted: Option<Vec<FormerRrset>>,
    /// How it is in between since an earlier wave, where it is.
    pub between: Option<BetweenStand<'p>>,
    /// The addresses that it has by them, sorted.
    pub gave: Vec<IpAddr>,
    /// Whether its disruptive change repairs.
    pub repairs: bool,
    /// Whether it is down, and has no place in the budget.
    pub is_down: bool,
}

impl UnitMember<'_> {
    /// Lets its old addresses go together with the coming of the new ones.
    pub fn go_at_once(&mut self) {
        (self.overlap, self.wanted) = (None, None);
    }

    /// How long its old and new addresses are there together; 0 where they are not.
    pub fn between_for(&self) -> Duration {
        self.overlap.map_or(Duration::from_secs(0), |overlap| self.settle.max(overlap))
    }

    /// How long it takes from the first message until all has settled.
    pub fn lasts(&self) -> Duration {
        self.between_for().plus(self.settle)
    }
}

/// How a subject is in between: its new addresses came with an earlier wave, and its old ones are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BetweenStand<'p> {
    /// What came.
    pub row: &'p FluxRow,
    /// Whether what is to go is what an address takes the place of that came then: it stays until caches have that one.
    /// Otherwise new ones come first, or all of a name goes.
    pub is_second_step: bool,
    /// When the old ones may go at the earliest; none while that is not known.
    pub passes: Option<Time>,
}

/// What a plan is seen with.
pub struct RolloutView<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The groups.
    pub groups: &'p BTreeMap<String, GroupTerms>,
    /// What is remembered.
    pub memory: &'p RolloutMemory,
    /// How long caches hold what is there.
    pub times: &'p dyn CacheTimes,
    /// Whether a change, by its place, is still to be made.
    pub is_open: &'p dyn Fn(usize) -> bool,
    /// Which part of a unit comes next.
    pub step: &'p dyn Fn(&ChangeUnit) -> UnitStep,
    /// The groups whose settings can be read, each with its project: of others a plan says nothing.
    pub known: &'p BTreeMap<String, String>,
    /// What is used as the location of hosts of which nothing is known.
    pub unknown: &'p BTreeMap<Subject, String>,
    /// The groups whose gates did not pass; with why, in words.
    pub shut: &'p BTreeMap<String, String>,
    /// The subjects that cannot be reached where they are, and can where the plan puts them; with their groups.
    pub down: &'p BTreeMap<Subject, String>,
    /// The pods that the state knows as down. One that the plan had so may have come back where it was since.
    pub was_down: &'p BTreeSet<Subject>,
    /// The pods that are down, and of which the plan does not know it, with their groups. They count in the budget; what the plan
    /// does to them repairs nothing.
    pub fallen: &'p BTreeMap<Subject, String>,
    /// The hosts that need an approval and have none.
    pub unapproved: &'p BTreeMap<Subject, UnapprovedHost>,
    /// The clock.
    pub now: Time,
}

impl<'p> RolloutView<'p> {
    /// The first host of a unit that needs an approval and has none, with its project.
    pub fn unapproved(&self, unit: &ChangeUnit) -> Option<(&'p str, &'p UnapprovedHost)> {
        if self.unapproved.is_empty() {
            return None;
        }
        let mut changes = unit.changes.iter().map(|place| &self.plan.changes[*place]);
        changes.find_map(|change| {
            let own = change.subjects().filter_map(Subject::host).map(Subject::Host);
            let affected = self.plan.affected(change).map(|affected| affected.subject.clone());
            own.chain(affected).find_map(|host| Some((change.project.as_str(), self.unapproved.get(&host)?)))
        })
    }

    /// The subjects of a unit that are in a group and whose addresses it changes, in the order of the plan.
    pub fn members(&self, unit: &ChangeUnit) -> Vec<UnitMember<'p>> {
        let mut members: Vec<UnitMember<'p>> = Vec::new();
        let changes = &self.plan.changes;
        let is_asked = |place: &&usize| is_watched(&changes[**place]) && (self.is_open)(**place);
        for place in unit.changes.iter().filter(is_asked) {
            let change = &changes[*place];
            for subject in change.subjects() {
                // What no budget counts is remembered as long as hosts are busy because of it.
                let with_affected = || self.plan.affected(change).next().map(|_| change.project.as_str());
                let group = group_of(change, subject).or_else(with_affected);
                let Some((group, terms)) = group.and_then(|group| self.groups.get_key_value(group)) else { continue };
                if members.iter().all(|member| member.subject != subject) {
                    members.push(self.member(subject, group, terms, unit));
                }
            }
        }
        members
    }

    /// Whether a subject is one that a budget counts and is in service, as far as the plan says: one that undoes an apply knows nothing of pods.
    fn is_in_service(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Pod(_) => self.plan.pod(subject).map_or(self.plan.undoes.is_some(), |seen| seen.in_service),
            _ => subject.group().is_some(),
        }
    }

    /// A subject of a unit.
    fn member(&self, subject: &'p Subject, group: &'p str, terms: &GroupTerms, unit: &ChangeUnit) -> UnitMember<'p> {
        let open = unit.changes.iter().filter(|place| (self.is_open)(**place));
        let changes = open.map(|place| &self.plan.changes[*place]);
        let own: Vec<&'p Change> = changes.filter(|change| change.subjects().any(|its| its == subject)).collect();
        let (location, rack) = place_of(self.plan, subject).unzip();
        let location = location.or_else(|| self.memory.location_of(subject));
        let location = location.or_else(|| self.unknown.get(subject).map(String::as_str));
        let addresses: Vec<&Change> = own.iter().copied().filter(|change| is_watched(change)).collect();
        let step = (self.step)(unit);
        let after = || addresses.iter().map(|change| FormerRrset::after(change)).collect();
        UnitMember {
            subject,
            group,
            location: location.unwrap_or_default(),
            rack: rack.flatten().unwrap_or_default(),
            // What is out of service settles as all else does: others may wait for that.
            is_disruptive: self.is_in_service(subject) && addresses.iter().any(|change| takes_value(change)),
            settle: self.settle(terms, &own, step),
            overlap: (step == UnitStep::ToVia).then(|| terms.least_overlap()),
            before: addresses.iter().map(|change| FormerRrset::before(change)).collect(),
            // One of whom all is made in this step does not stop in between.
            wanted: (step == UnitStep::ToVia && own.iter().any(|change| change.via.is_some())).then(after),
            between: self.between((subject, group), terms, (&addresses, step)),
            affected: self.affected(subject, unit),
            gave: self.gave(subject, unit),
            is_down: self.down.contains_key(subject) && !self.has_place(subject, group),
            repairs: self.repairs((subject, group), &addresses),
        }
    }

    /// All changes of a subject in a unit, also those that were made before.
    fn changes_of(&self, subject: &Subject, unit: &ChangeUnit) -> impl Iterator<Item = &'p Change> {
        let changes = unit.changes.iter().map(|place| &self.plan.changes[*place]);
        changes.filter(move |change| change.subjects().any(|its| its == subject))
    }

    /// The hosts at whose names all changes of a subject take addresses, also those that were made before, and of which no rule
    /// has a part in that.
    fn affected(&self, subject: &Subject, unit: &ChangeUnit) -> Vec<Subject> {
        let own = self.changes_of(subject, unit);
        let affected = own.flat_map(|change| self.plan.affected(change)).map(|host| host.subject.clone());
        affected.collect::<BTreeSet<Subject>>().into_iter().collect()
    }

    /// The addresses that all changes of a subject leave it, also those that were made before.
    fn gave(&self, subject: &Subject, unit: &ChangeUnit) -> Vec<IpAddr> {
        let own = self.changes_of(subject, unit);
        let given = own.flat_map(|change| addresses(change.kind.after(), change.key.rtype));
        given.collect::<BTreeSet<IpAddr>>().into_iter().collect()
    }

    /// How long changes take to reach all clients, once name servers serve them.
    fn settle(&self, terms: &GroupTerms, changes: &[&Change], step: UnitStep) -> Duration {
        if let SettleTime::Fixed(settle) = terms.settle {
            return settle;
        }
        let held = |change: &&Change| {
            let live = match step.before(change) {
                Some(before) => Duration::from(before.ttl()),
                None => self.times.negative(&change.zone_id()),
            };
            self.times.former(&change.key).map_or(live, |former| former.max(live))
        };
        changes.iter().map(held).max().unwrap_or(Duration::from_secs(0))
    }

    /// How a subject is in between, where it is.
    fn between(
        &self,
        (subject, group): (&'p Subject, &'p str),
        terms: &GroupTerms,
        (addresses, step): (&[&Change], UnitStep),
    ) -> Option<BetweenStand<'p>> {
        let row = self.memory.between(subject, group)?;
        let wanted = row.wanted.as_deref().unwrap_or_default();
        let mut taking = addresses.iter().filter(|change| takes_value(change));
        // Where the wish changed to some of what is live, caches need not have that yet, either.
        let is_replaced =
            |change: &&Change| change.kind.after().is_some() || wanted.contains(&FormerRrset::after(change));
        let is_second_step = step != UnitStep::ToVia && taking.all(is_replaced);
        let passes = row.passes(terms.least_overlap());
        Some(BetweenStand { row, is_second_step, passes })
    }

    /// Whether a subject has its place in the budget already: it is in flux since a change that was no repair.
    fn has_place(&self, subject: &'p Subject, group: &'p str) -> bool {
        self.in_flux(subject, group).any(|row| row.is_disruptive && !row.is_repair)
    }

    /// What is remembered, without that something stopped in between of which the plan changes nothing although it is about
    /// all of the group: nothing of it is left to go.
    pub fn memory_of_what_is_left(&self) -> Cow<'p, RolloutMemory> {
        what_is_left(self.memory, self.plan, self.known)
    }

    /// The changes of a subject in a group that are in flux.
    fn in_flux(&self, subject: &'p Subject, group: &'p str) -> impl Iterator<Item = &'p FluxRow> {
        let now = self.now;
        self.memory.rows_of(subject).filter(move |row| row.group == group && row.is_in_flux(now))
    }

    /// Whether a disruptive change of a subject repairs: it is down; or it has its place in the budget already; or all of it
    /// goes back to what it had before a change that has not settled. Where it was down, its probe alone says whether to
    /// go back repairs: others may have taken the budget since.
    fn repairs(&self, (subject, group): (&'p Subject, &'p str), addresses: &[&Change]) -> bool {
        let goes_back = |change: &&Change| {
            let mut rows = self.in_flux(subject, group).filter(|row| !row.is_down);
            rows.any(|row| row.before.contains(&FormerRrset::after(change)))
        };
        let mut disruptive = addresses.iter().copied().filter(|change| takes_value(change)).peekable();
        let is_down = self.down.contains_key(subject);
        let was_down = self.plan.pod(subject).is_some_and(|seen| seen.was_down) && self.was_down.contains(subject);
        // What is in between has its place, and goes on step by step all the same.
        let is_between = self.memory.between(subject, group).is_some();
        is_down
            || was_down
            || (self.has_place(subject, group) && !is_between)
            || disruptive.peek().is_some() && disruptive.all(|change| goes_back(&change))
    }

    /// The first group of a unit whose gate did not pass, and why.
    pub fn shut_by(&self, members: &[UnitMember<'p>]) -> Option<(&'p str, &'p str)> {
        let mut disruptive = members.iter().filter(|member| member.is_disruptive);
        disruptive.find_map(|member| Some((member.group, self.shut.get(member.group)?.as_str())))
    }

    /// The first group of a unit that does not meet what its project demands, and in which way.
    pub fn unmet(&self, members: &[UnitMember<'p>]) -> Option<(&'p str, &'p str)> {
        let groups = members.iter().filter(|member| member.is_disruptive).map(|member| member.group);
        let mut seen = groups.filter_map(|group| self.plan.group(group));
        seen.find_map(|seen| Some((seen.group.as_str(), seen.unmet.as_deref()?)))
    }

    /// Whether the command line names all disruptive subjects of a unit: then nothing holds it back.
    pub fn is_named(&self, members: &[UnitMember<'_>]) -> bool {
        let Some(only) = &self.plan.only else { return false };
        let names = |member: &UnitMember<'_>| only.subjects.iter().any(|named| is_one(named, member.subject));
        members.iter().filter(|member| member.is_disruptive).all(names)
    }

    /// Whether a subject of a group that the plan does not change no longer waits: the plan is about all of the group, and no
    /// unread zone keeps it from changing the subject. What else blocks a subject may last, and holds back no others.
    pub fn is_over(&self, subject: &Subject, group: &str) -> bool {
        let is_unread =
            |blocked: &BlockedSubject| blocked.subject == *subject && blocked.code == BlockCode::ZoneUnknown;
        self.covers(group) && !self.plan.blocked.iter().any(is_unread)
    }

    /// Whether the plan is about all of a group.
    fn covers(&self, group: &str) -> bool {
        plan_covers(self.plan, self.known, group)
    }
}

/// What is remembered, without that something stopped in between of which a plan changes nothing although it is about all of the
/// group: nothing of it is left to go. `known` are the groups whose settings can be read, each with its project.
pub fn what_is_left<'m>(
    memory: &'m RolloutMemory,
    plan: &Plan,
    known: &BTreeMap<String, String>,
) -> Cow<'m, RolloutMemory> {
    if !memory.flux.iter().any(FluxRow::is_between) {
        return Cow::Borrowed(memory);
    }
    let changed = plan.changes.iter().flat_map(Change::subjects);
    let left: HashSet<&Subject> = changed.chain(plan.blocked.iter().map(|blocked| &blocked.subject)).collect();
    let mut memory = memory.clone();
    let ended =
        memory.flux.iter_mut().filter(|row| plan_covers(plan, known, &row.group) && !left.contains(&row.subject));
    ended.for_each(|row| row.wanted = None);
    Cow::Owned(memory)
}

/// Whether a plan is about all of a group; `known` are the groups whose settings can be read, each with its project. A failure
/// that is not about the group does not count: what an unread zone keeps from a change is blocked.
pub fn plan_covers(plan: &Plan, known: &BTreeMap<String, String>, group: &str) -> bool {
    let Some(own) = known.get(group) else { return false };
    let is_whole =
        |only: &crate::plan::PlanScope| !only.picks_subjects() && only.projects.iter().any(|project| project == own);
    let is_short = plan.notices.iter().any(|notice| {
        let is_of_pods = matches!(notice.name.as_str(), "pods" | "pod_sets");
        let is_of_all = notice.name == "projects";
        // A group has the name of its project, or is a set of pods.
        notice.code == NoticeCode::SourceUnknown && (is_of_all || is_of_pods == (group != own))
    });
    let is_made_of_inventory = plan.undoes.is_none() && plan.fleet.is_some();
    is_made_of_inventory && !is_short && plan.only.as_ref().is_none_or(is_whole)
}

/// The group of a subject of a change: the set of a pod, the project of a host; none of others. Names that a host had are no
/// longer in service.
pub fn group_of<'c>(change: &'c Change, subject: &'c Subject) -> Option<&'c str> {
    Some(match subject.group()? {
        SubjectGroup::Project => &change.project,
        SubjectGroup::PodSet(set) => set,
    })
}

/// Where the plan has a subject: the location, and the rack where it names one; none where it does not know it.
pub fn place_of<'p>(plan: &'p Plan, subject: &Subject) -> Option<(&'p str, Option<&'p str>)> {
    match subject.host() {
        Some(inv) => plan.hosts.get(&inv).map(|seen| (seen.location.as_str(), seen.rack.as_deref())),
        None => plan.pod(subject).map(|seen| (seen.location.as_str(), seen.rack.as_deref())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Rtype;
    use crate::inventory::value::Inv;
    use crate::plan::fixture::{change, empty};
    use crate::rollout::FluxStage;

    #[test]
    fn who_stopped_in_between_is_not_in_flux_for_ever_where_nothing_of_it_is_left() {
        let now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
        let (former, second) = ((600, &["2001:db8::1", "2001:db8::2"][..]), (600, &["2001:db8::2"][..]));
        let left = change(("search", Some(1)), ("h1.search.example.net", Rtype::AAAA), (former, second), &[]);
        let row = FluxRow {
            subject: Subject::Host(Inv(1)),
            apply: 1,
            group: "search".to_owned(),
            location: "iva".to_owned(),
            settle: Duration::from_secs(300),
            is_disruptive: true,
            is_repair: false,
            is_down: false,
            canary_of: None,
            before: vec![FormerRrset::before(&left)],
            affected: Vec::new(),
            gave: Vec::new(),
            wanted: Some(vec![FormerRrset::after(&left)]),
            stage: FluxStage::ServedSince(now.minus(Duration::from_secs(3_600))),
            answer: None,
        };
        let memory = RolloutMemory { flux: vec![row], ..RolloutMemory::default() };
        let known = [("search".to_owned(), "search".to_owned())].into();
        let is_in_flux = |plan: &Plan| what_is_left(&memory, plan, &known).flux[0].is_in_flux(now);
        assert!(is_in_flux(&Plan { changes: vec![left], ..empty() }));
        assert!(!is_in_flux(&empty()));
        // A plan that is not about all of the group says nothing of it.
        assert!(is_in_flux(&Plan { fleet: None, ..empty() }));
    }
}
