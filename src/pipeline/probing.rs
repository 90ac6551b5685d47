//! Which subjects of rollouts answer: after a change, so that it is over; and before one, where they are not where DNS
//! says, so that the change repairs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Mutex;

use super::pointers::NamedZones;
use super::targets::Targets;
use super::wave_checks::WaveChecks;
use super::waves::GroupSettings;
use crate::change::Change;
use crate::change::reach::{addresses, is_of_address};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Name, Rtype};
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::parallel::{HELD, side_by_side};
use crate::plan::Plan;
use crate::rollout::{FluxRow, ProbeResult, RolloutMemory, UnitMember, UnitStep};
use crate::target::{Answer, CopyId, Question, ZoneId};

/// How many subjects are probed at the same time: most of the time is spent on waiting for those that do not answer.
const SIDE_BY_SIDE: usize = 64;

/// The types of addresses.
const ADDRESSES: [Rtype; 2] = [Rtype::A, Rtype::AAAA];

/// Asks the probes of groups.
pub struct Prober<'a> {
    /// The rollouts.
    groups: &'a GroupSettings,
    /// Who is asked.
    checks: &'a dyn WaveChecks,
    /// Why a probe cannot be asked, by its name.
    failures: Mutex<BTreeMap<String, String>>,
}

impl<'a> Prober<'a> {
    /// One that has asked nothing yet.
    pub fn new(groups: &'a GroupSettings, checks: &'a dyn WaveChecks) -> Prober<'a> {
        Prober { groups, checks, failures: Mutex::new(BTreeMap::new()) }
    }

    /// The probe of a group.
    fn probe(&self, group: &str) -> Option<&'a str> {
        self.groups.get(group)?.probe.as_deref()
    }

    /// Whether one of these addresses answers, in their order.
    fn any_answers<'i>(&self, probe: &str, asked: impl IntoIterator<Item = &'i IpAddr>) -> bool {
        asked.into_iter().any(|address| match self.checks.answers(probe, *address) {
            Ok(answers) => answers,
            Err(why) => {
                self.failures.lock().expect(HELD).insert(probe.to_owned(), why);
                false
            }
        })
    }

    /// Asks the subjects whose change has settled for an answer: at an address that the change gave them, or at one that they
    /// are to have. Where the plan changes nothing of it, that is what is live. One that has no address in DNS any longer
    /// cannot answer, and is no longer waited for.
    pub fn ask_changed(
        &self,
        plan: &Plan,
        (memory, now): (&RolloutMemory, Time),
        (config, targets): (&Config, &Targets<'_>),
    ) -> Vec<ProbeResult> {
        let asks = |row: &&FluxRow| row.is_to_be_asked(now) && self.probe(&row.group).is_some();
        let rows: Vec<_> = memory.flux.iter().filter(asks).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let zones = &NamedZones::of(config);
        let wanted = wanted_addresses(plan, &rows.iter().map(|row| &row.subject).collect());
        side_by_side(rows, SIDE_BY_SIDE, |row| {
            // What a later change gave it is wanted, too.
            let later = memory.rows_of(&row.subject).filter(|own| own.apply > row.apply).flat_map(|own| &own.gave);
            let asked = row.gave.iter().chain(later).chain(wanted.get(&row.subject).into_iter().flatten());
            let asked: BTreeSet<&IpAddr> = asked.collect();
            let probe = self.probe(&row.group).expect("only rows with a probe are asked");
            let is_settled = || {
                let live = if wanted.contains_key(&row.subject) { None } else { live_now(row, zones, targets) };
                live.is_some_and(|live| live.is_empty() || self.any_answers(probe, &live))
            };
            let answered = self.any_answers(probe, asked) || is_settled();
            ProbeResult { subject: row.subject.clone(), apply: row.apply, answered }
        })
    }

    /// Who of these is down: an address that it is to have answers, and none that is live does. With their groups.
    pub fn ask_down(&self, members: &[DownCandidate<'_>], targets: &Targets<'_>) -> BTreeMap<Subject, String> {
        let asked: Vec<&DownCandidate<'_>> =
            members.iter().filter(|candidate| self.probe(candidate.group).is_some()).collect();
        let found = side_by_side(asked, SIDE_BY_SIDE, |candidate| {
            let probe = self.probe(candidate.group).expect("only groups with a probe are asked");
            // Most hosts answer where they are, and at once: what they are to have is asked last.
            let is_down = !self.any_answers(probe, &candidate.live)
                // An address of the other family may be live, too, and is then not in the plan.
                && others(candidate, targets).is_some_and(|others| !self.any_answers(probe, &others))
                && self.any_answers(probe, candidate.wanted.difference(&candidate.live));
            is_down.then(|| (candidate.subject.clone(), candidate.group.to_owned()))
        });
        found.into_iter().flatten().collect()
    }

    /// Why probes could not be asked.
    pub fn problems(self) -> Vec<Problem> {
        let problem = |(probe, why): (String, String)| {
            let hint = "correct it in zonewright.toml; until then its hosts count as unreachable once they are changed";
            Problem::new(format!("[probe.{probe}]"), "probe-unusable", why).hint(hint)
        };
        self.failures.into_inner().expect(HELD).into_iter().map(problem).collect()
    }
}

/// A subject that may be down.
pub struct DownCandidate<'p> {
    /// The subject.
    subject: &'p Subject,
    /// Its group.
    group: &'p str,
    /// The addresses that it is to have.
    wanted: BTreeSet<IpAddr>,
    /// Those that are live, of what the plan changes.
    live: BTreeSet<IpAddr>,
    /// The RRsets of addresses at its names that the plan does not change.
    others: BTreeSet<(ZoneId, Question)>,
}

impl<'p> DownCandidate<'p> {
    /// A member of a unit; `changes` are those of its unit that are to be made, in this step.
    pub fn of(member: &UnitMember<'p>, changes: &[&'p Change], step: UnitStep) -> DownCandidate<'p> {
        let is_own = |change: &&&Change| is_of_address(change) && change.subjects().any(|own| own == member.subject);
        let own: Vec<&Change> = changes.iter().filter(is_own).copied().collect();
        let names: BTreeSet<(ZoneId, Name)> =
            own.iter().map(|change| (change.zone_id(), change.key.owner.as_name().to_name())).collect();
        let questions = names
            .into_iter()
            .flat_map(|(zone, name)| ADDRESSES.map(|rtype| (zone.clone(), Question { name: name.clone(), rtype })));
        // Where a CNAME is live it is not known which addresses clients find.
        let is_known = own.iter().all(|change| change.key.rtype != Rtype::CNAME || change.kind.before().is_none());
        let changed: BTreeSet<Question> = own.iter().map(|change| Question::of(&change.key)).collect();
        DownCandidate {
            subject: member.subject,
            group: member.group,
            wanted: own
                .iter()
                .filter(|_| is_known)
                .flat_map(|change| addresses(change.kind.after(), change.key.rtype))
                .collect(),
            live: own.iter().flat_map(|change| addresses(step.before(change), change.key.rtype)).collect(),
            others: questions.filter(|(_, question)| !changed.contains(question)).collect(),
        }
    }
}

/// The live addresses at the names of a subject that the plan does not change; none where they cannot be read.
fn others(candidate: &DownCandidate<'_>, targets: &Targets<'_>) -> Option<BTreeSet<IpAddr>> {
    let mut found = BTreeSet::new();
    for (zone, question) in &candidate.others {
        found.extend(live_addresses(|copy| copy.zone_id() == *zone, question, targets)?);
    }
    Some(found)
}

/// The live addresses at the names that a change was of; none where not all of them are known.
fn live_now(row: &FluxRow, zones: &NamedZones<'_>, targets: &Targets<'_>) -> Option<BTreeSet<IpAddr>> {
    let mut live = BTreeSet::new();
    for own in &row.before {
        let zone = &zones.of_name(own.name.as_name())?.name;
        for rtype in ADDRESSES {
            let question = Question { name: own.name.clone(), rtype };
            live.extend(live_addresses(|copy| copy.zone == *zone, &question, targets)?);
        }
    }
    (!row.before.is_empty()).then_some(live)
}

/// The addresses of an RRset at all copies; none where one cannot be read, or where something else is there.
fn live_addresses(
    is_its: impl Fn(&CopyId) -> bool,
    question: &Question,
    targets: &Targets<'_>,
) -> Option<BTreeSet<IpAddr>> {
    let mut live = BTreeSet::new();
    let mut copies = targets.copies.iter().filter(|access| is_its(&access.copy)).peekable();
    copies.peek()?;
    for access in copies {
        let writer = access.writer.as_ref().ok()?;
        match writer.observe(&access.copy.zone, std::slice::from_ref(question), None).ok()?.first()? {
            Answer::Holds(rtype, rrset) if *rtype == question.rtype => live.extend(addresses(Some(rrset), *rtype)),
            Answer::Nothing => {}
            Answer::Holds(..) | Answer::Delegated(..) | Answer::BelowDname(..) => return None,
        }
    }
    Some(live)
}

/// The addresses that a plan is to give these subjects.
fn wanted_addresses(plan: &Plan, asked: &BTreeSet<&Subject>) -> BTreeMap<Subject, Vec<IpAddr>> {
    let mut wanted: BTreeMap<Subject, Vec<IpAddr>> = BTreeMap::new();
    for change in plan.changes.iter().filter(|change| is_of_address(change)) {
        for subject in change.subjects().filter(|subject| asked.contains(subject)) {
            let given = addresses(change.kind.after(), change.key.rtype);
            wanted.entry(subject.clone()).or_default().extend(given);
        }
    }
    wanted
}
