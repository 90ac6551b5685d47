//! The cause of one change: what differs from the base where that causes it, else what an apply wrote, what was
//! accepted last, and the rows that it is derived from.

use std::collections::{HashMap, HashSet};

use super::concern::ChangeConcern;
use super::difference::{HostDifference, HostPart, differences};
use super::others::{self, Holders};
use super::side::{InventorySide, SideFacts};
use super::{FoundAs, ReviewInput, basis};
use crate::change::{BlockCode, BlockedSubject, Change, Rule};
use crate::claim::Subject;
use crate::diag::split_place;
use crate::dns::{Name, RrKey, Rrset, Rtype, ZoneName};
use crate::inventory::model::HostStatus;
use crate::inventory::value::Inv;
use crate::plan::{CauseKind, ChangeClass};
use crate::target::PoolName;

/// What changes are gathered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CauseKey {
    /// The class.
    pub class: Option<ChangeClass>,
    /// The kind.
    pub kind: CauseKind,
    /// The words.
    pub says: String,
    /// Whether what differs explains it.
    pub is_explained: bool,
}

/// The cause of one change.
pub struct FoundCause {
    /// What it is gathered by.
    pub key: CauseKey,
    /// The line that says so.
    pub place: Option<String>,
}

/// Finds the causes of changes, one after another.
pub struct CauseFinder<'g, 'a> {
    /// What is given.
    given: &'g ReviewInput<'a>,
    /// The changes that would be made by the base.
    of_base: ChangesByRrset<'a>,
    /// The changes that would be made by what was accepted last; none where that is the inventory.
    of_accepted: Option<ChangesByRrset<'a>>,
    /// The hosts that the base blocks, with the code.
    blocked: HashMap<Inv, &'a BlockedSubject>,
    /// The hosts that the base skips.
    skipped: HashSet<Inv>,
    /// The hosts that are blocked.
    blocked_now: HashMap<Inv, &'a BlockedSubject>,
    /// Where in the plan each RRset is changed, for the TXT that record them.
    places: HashMap<(Rtype, Name), Vec<usize>>,
    /// The hosts of changes to RRsets that an apply wrote.
    published: HashSet<Inv>,
    /// What is known of each host that was asked about.
    hosts: HashMap<Inv, KnownHost<'a>>,
    /// Who has which name.
    holders: Holders,
}

/// Changes by their RRset. In a pool of several targets an RRset may have several, each for other targets.
struct ChangesByRrset<'a>(HashMap<(&'a PoolName, &'a ZoneName, &'a RrKey), Vec<&'a Change>>);

impl<'a> ChangesByRrset<'a> {
    /// These.
    fn of(changes: impl IntoIterator<Item = &'a Change>) -> ChangesByRrset<'a> {
        let mut by_rrset: HashMap<_, Vec<&Change>> = HashMap::new();
        for change in changes {
            by_rrset.entry((&change.pool, &change.zone, &change.key)).or_default().push(change);
        }
        ChangesByRrset(by_rrset)
    }

    /// The first that is about the RRset of a change, at a target that it is for.
    fn like(&self, change: &Change) -> Option<&'a Change> {
        self.0.get(&(&change.pool, &change.zone, &change.key))?.iter().copied().find(|own| own.shares_target(change))
    }
}

/// What is known of one host.
struct KnownHost<'a> {
    /// What the inventory says of it.
    now: Option<SideFacts<'a>>,
    /// What the base says of it.
    base: Option<SideFacts<'a>>,
    /// Whether its records could be made with what was accepted last.
    was_open: bool,
    /// In what the inventory differs from the base.
    from_base: Vec<HostDifference>,
    /// In what it differs from what was accepted last.
    from_accepted: Vec<HostDifference>,
}

impl<'g, 'a> CauseFinder<'g, 'a> {
    /// Starts.
    pub fn new(given: &'g ReviewInput<'a>) -> CauseFinder<'g, 'a> {
        let base = given.base.as_ref().map(|(_, decided)| *decided);
        let of_accepted = given.by_accepted.map(|decided| ChangesByRrset::of(decided.changes));
        let registers = given.decided.changes.iter().any(Change::is_registry);
        let changes = given.decided.changes.iter().enumerate().filter(|_| registers);
        let by_host = |blocked: &'a BlockedSubject| Some((blocked.subject.host()?, blocked));
        let key = |change: &Change| (change.key.rtype, change.key.owner.as_name().to_name());
        let mut places: HashMap<(Rtype, Name), Vec<usize>> = HashMap::new();
        changes.for_each(|(place, change)| places.entry(key(change)).or_default().push(place));
        CauseFinder {
            given,
            of_base: ChangesByRrset::of(base.iter().flat_map(|base| base.changes)),
            of_accepted,
            blocked: base.iter().flat_map(|base| base.blocked).filter_map(by_host).collect(),
            skipped: base.iter().flat_map(|base| base.skipped).filter_map(|skipped| skipped.subject.host()).collect(),
            blocked_now: given.decided.blocked.iter().filter_map(by_host).collect(),
            places,
            published: published(given),
            hosts: HashMap::new(),
            holders: Holders::default(),
        }
    }

    /// Finds the cause of a change.
    pub fn find(&mut self, place: usize, change: &'a Change) -> FoundCause {
        // A TXT that records an RRset has the cause of that RRset, but a class of its own.
        let told = change.registered().and_then(|rrset| self.place_of(&rrset, change)).unwrap_or(place);
        let class = self.class(change);
        let told_of = &self.given.decided.changes[told];
        let (kind, says, line, is_explained) = match class {
            Some(ChangeClass::Caused | ChangeClass::Mixed) => self.caused(told_of),
            Some(ChangeClass::Pending) | None => self.pending(told, told_of),
        };
        FoundCause { key: CauseKey { class, kind, says, is_explained }, place: line }
    }

    /// Where in the plan an RRset is changed at a target that a change of its TXT is for.
    fn place_of(&self, rrset: &(Rtype, Name), told: &Change) -> Option<usize> {
        let changes = self.given.decided.changes;
        self.places.get(rrset)?.iter().copied().find(|place| changes[*place].shares_target(told))
    }

    /// Whether the difference to the base causes a change; none without a base.
    fn class(&self, change: &Change) -> Option<ChangeClass> {
        self.given.base.as_ref()?;
        Some(match self.of_base.like(change) {
            None => ChangeClass::Caused,
            Some(before) if before.kind.after() == change.kind.after() => ChangeClass::Pending,
            Some(_) => ChangeClass::Mixed,
        })
    }

    /// How the difference to the base explains a change.
    fn caused(&mut self, change: &'a Change) -> (CauseKind, String, Option<String>, bool) {
        let mut invs = hosts_of(change);
        // With the base other hosts may change the RRset.
        let with_base = self.of_base.like(change).map(hosts_of);
        with_base.into_iter().flatten().for_each(|inv| push_new(&mut invs, inv));
        let is_ttl = self.differs_by_ttl(change);
        if let Some(found) = self.by_difference(change, &invs, is_ttl).or_else(|| self.by_others(change, is_ttl)) {
            return (found.kind, found.says, found.place, true);
        }
        let (kind, basis, place) = basis::of(&self.given.now, change, |inv| self.hosts.get(&inv)?.now.as_ref());
        match self.changed_file(change) {
            Some(file) => (CauseKind::Other, format!("`{file}` differs; {basis}"), place, true),
            None => (kind, format!("nothing that differs explains this; {basis}"), place, false),
        }
    }

    /// Whether the result of a change differs by its TTL alone from what the RRset is with the base.
    fn differs_by_ttl(&self, change: &Change) -> bool {
        let with_base = match self.of_base.like(change) {
            Some(before) => before.kind.after(),
            None => change.kind.before(),
        };
        let is_same = |(with_base, after): (&Rrset, &Rrset)| with_base.rdata() == after.rdata();
        with_base.zip(change.kind.after()).is_some_and(is_same)
    }

    /// What explains a change among the differences of its own hosts and its zone.
    fn by_difference(&mut self, change: &Change, invs: &[Inv], is_ttl: bool) -> Option<HostDifference> {
        for inv in invs {
            let concern = self.concern(change, *inv, is_ttl);
            if let Some(found) = fitting(&self.host(*inv).from_base, concern) {
                return Some(found.clone());
            }
        }
        let (base, _) = self.given.base.as_ref()?;
        others::zone_setting([base, &self.given.now], change, is_ttl).or_else(|| self.unblocked(invs))
    }

    /// What explains a change among the differences elsewhere.
    fn by_others(&mut self, change: &Change, is_ttl: bool) -> Option<HostDifference> {
        let given = self.given;
        let sides = [&given.base.as_ref()?.0, &given.now];
        let holders = self.holders.of(sides, change);
        for inv in &holders {
            let concern = ChangeConcern { interface: None, is_ttl };
            let found = fitting(&self.host(*inv).from_base, concern).cloned();
            if let Some(found) = found.or_else(|| others::lock_rows(sides, *inv)) {
                return Some(found);
            }
        }
        let holders: Vec<Inv> = holders.into_iter().collect();
        let of_project = || change.subject.host().is_none().then(|| others::project_setting(sides, change)).flatten();
        of_project().or_else(|| others::workspace_setting(sides, change)).or_else(|| self.unblocked(&holders))
    }

    /// The cause of a change that the difference to a base, if any, does not cause.
    fn pending(&mut self, place: usize, change: &Change) -> (CauseKind, String, Option<String>, bool) {
        let invs = hosts_of(change);
        for inv in &invs {
            self.host(*inv);
        }
        let drift = |says: String| (CauseKind::Drift, says, None, true);
        let since_apply = self.given.desired_since.get(place).copied().flatten();
        let of_others = || {
            let since = since_apply.map_or_else(|| "an apply wrote them".to_owned(), |apply| format!("apply {apply}"));
            format!("drift: changed outside zonewright since {since} (records of `{}`)", change.project)
        };
        let found_as = self.given.found.get(place).copied().unwrap_or(FoundAs::Unwritten);
        if found_as == (FoundAs::Changed { is_wanted: true }) {
            return drift(of_others());
        }
        let is_ttl = change.rules().all(|rule| rule == Rule::Ttl);
        let is_old = self.is_of_accepted(change);
        // A change that the accepted exports would make, too, is not caused by the new ones.
        if is_old != Some(true) {
            for inv in invs {
                let concern = self.concern(change, inv, is_ttl);
                // A host for which an apply of some hosts published records is not new, whatever the accepted export
                // lacks.
                let is_published = self.published.contains(&inv);
                let found = fitting(&self.host(inv).from_accepted, concern);
                if let Some(found) = found.filter(|found| !(is_published && found.kind == CauseKind::NewHost)) {
                    return (found.kind, found.says.clone(), found.place.clone(), true);
                }
            }
        }
        if change.is_edited_since() {
            return drift(of_others());
        }
        if since_apply.is_some() && is_old != Some(false) && !others::is_without_host(change) && self.was_open(change) {
            match found_as {
                FoundAs::Changed { .. } | FoundAs::Unwritten => return drift(of_others()),
                // The change is of what the apply wrote.
                FoundAs::Left => {}
            }
        }
        let (kind, says, line) = basis::of(&self.given.now, change, |inv| self.hosts.get(&inv)?.now.as_ref());
        (kind, says, line, true)
    }

    /// Whether a change would be made by what was accepted last too; none where that is the inventory.
    fn is_of_accepted(&self, change: &Change) -> Option<bool> {
        let of_accepted = self.of_accepted.as_ref()?;
        let with_accepted = of_accepted.like(change);
        Some(with_accepted.is_some_and(|before| before.kind.after() == change.kind.after()))
    }

    /// What of a host a change is about.
    fn concern(&mut self, change: &Change, inv: Inv, is_ttl: bool) -> ChangeConcern {
        let known = self.host(inv);
        ChangeConcern::of(change, [known.now.as_ref(), known.base.as_ref()], is_ttl)
    }

    /// Whether the records of the host of a change could be made with what was accepted last.
    fn was_open(&mut self, change: &Change) -> bool {
        change.subject.host().is_some_and(|inv| self.host(inv).was_open)
    }

    /// What is known of a host.
    fn host(&mut self, inv: Inv) -> &KnownHost<'a> {
        let given = self.given;
        self.hosts.entry(inv).or_insert_with(|| {
            let now = given.now.facts(inv);
            let base = given.base.as_ref().and_then(|(side, _)| side.facts(inv));
            let accepted = given.accepted.as_ref().and_then(|side| side.facts(inv));
            let from_base = if given.base.is_some() { differences(base.as_ref(), now.as_ref()) } else { Vec::new() };
            let from_accepted =
                if given.accepted.is_some() { differences(accepted.as_ref(), now.as_ref()) } else { Vec::new() };
            let was_open = accepted
                .as_ref()
                .is_some_and(|facts| facts.host.status == HostStatus::Assigned && facts.desired.faults.is_empty());
            KnownHost { now, base, was_open, from_base, from_accepted }
        })
    }

    /// Whether the base blocks or skips one of these hosts, or one of them is blocked that the base does not block.
    fn unblocked(&self, invs: &[Inv]) -> Option<HostDifference> {
        let difference = |kind, says, place| Some(HostDifference { about: HostPart::Host, kind, says, place });
        let blocked = invs.iter().find_map(|inv| Some((inv, self.blocked.get(inv)?)));
        if let Some((host, BlockedSubject { project, code, .. })) = blocked {
            let zone =
                self.given.new_zones.iter().filter(|_| *code == BlockCode::NoZone).find(|zone| self.is_in(*host, zone));
            return match zone {
                Some(zone) => {
                    let spec = self.given.now.inventory.config.listed_zones().find(|spec| spec.name == *zone);
                    let place = spec.map(|spec| self.given.now.place(spec.origin));
                    difference(CauseKind::Setting, format!("zone `{zone}` is configured now"), place)
                }
                None => {
                    difference(CauseKind::Unblocked, format!("hosts of `{project}` that were blocked `{code}`"), None)
                }
            };
        }
        if invs.iter().any(|inv| self.skipped.contains(inv)) {
            return difference(CauseKind::Unblocked, "hosts that were skipped".to_owned(), None);
        }
        let newly = |inv: &Inv| self.blocked_now.get(inv);
        let BlockedSubject { project, code, .. } = invs.iter().find_map(newly)?;
        difference(CauseKind::Other, format!("hosts of `{project}` that are blocked `{code}` now"), None)
    }

    /// Whether a host has a name or address in a zone.
    fn is_in(&self, inv: Inv, zone: &ZoneName) -> bool {
        let facts = self.hosts.get(&inv).and_then(|known| known.now.as_ref());
        facts.is_some_and(|facts| facts.has_name(|name| name.is_at_or_below(zone.as_name())))
    }

    /// A file that a change depends on and that differs from the base.
    fn changed_file(&self, change: &Change) -> Option<String> {
        let (base, _) = self.given.base.as_ref()?;
        let inputs = |side: &InventorySide<'a>| &side.inventory.inputs;
        let differs = |file: &&str| inputs(&self.given.now).get(*file) != inputs(base).get(*file);
        let mut files = change.lines().filter_map(|place| split_place(place));
        files.find(|(file, ..)| differs(file)).map(|(file, ..)| file.to_owned())
    }
}

/// The hosts of changes to RRsets that an apply wrote.
fn published(given: &ReviewInput<'_>) -> HashSet<Inv> {
    let changes = given.decided.changes.iter().zip(given.found);
    changes.filter(|(_, found)| **found != FoundAs::Unwritten).filter_map(|(change, _)| change.subject.host()).collect()
}

/// The first difference that is about what a change concerns.
fn fitting(differences: &[HostDifference], concern: ChangeConcern) -> Option<&HostDifference> {
    let best = differences.iter().filter_map(|difference| Some((concern.rank(difference.about)?, difference)));
    best.min_by_key(|(rank, _)| *rank).map(|(_, difference)| difference)
}

/// The hosts that a change is made for: its own first, then the others of its reasons.
fn hosts_of(change: &Change) -> Vec<Inv> {
    let reasons = change.reasons.iter().filter_map(|reason| reason.subject.host());
    let others = reasons.chain(change.also.iter().filter_map(Subject::host));
    let mut invs: Vec<Inv> = Vec::new();
    change.subject.host().into_iter().chain(others).for_each(|inv| push_new(&mut invs, inv));
    invs
}

/// Adds a host that is not among some.
fn push_new(invs: &mut Vec<Inv>, inv: Inv) {
    if !invs.contains(&inv) {
        invs.push(inv);
    }
}
