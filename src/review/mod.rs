//! What the changes of a plan rest on, and which of them a difference between two inventories brought about.
//!
//! Comes in: the changes, the inventory that they were made from, and others to hold it against: a base, and what was
//! accepted last. Goes out: a [`Review`]. Pure.

mod concern;

mod difference;

mod reasons;

mod rests;

pub mod side;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use reasons::of_reasons;
pub use side::Side;

use self::concern::Concern;
use self::difference::{About, Difference, differences};
use self::side::Facts;
use crate::change::{Blocked, Change, Skipped};
use crate::dns::{Name, RrKey, Rtype, ZoneName};
use crate::inventory::value::Inv;
use crate::plan::{Against, Cause, CauseKind, Class, Plan, Review};

/// How many lines of a cause are named.
const NAMED: usize = 3;

/// The review of a plan: its own, else what its reasons say; none where there are no changes.
pub fn of_plan(plan: &Plan) -> Option<Review> {
    plan.review.clone().or_else(|| (!plan.changes.is_empty()).then(|| of_reasons(plan)))
}

/// What was decided by an inventory.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// The changes; those of the plan itself in its order.
    pub changes: &'a [Change],
    /// The blocked hosts.
    pub blocked: &'a [Blocked],
    /// The skipped hosts.
    pub skipped: &'a [Skipped],
}

/// All that a review is made of.
pub struct Given<'a> {
    /// What the inventory was held against, for the reader.
    pub against: Against,
    /// The inventory.
    pub now: Side<'a>,
    /// What was decided by it.
    pub decided: Decided<'a>,
    /// The base, and what would be decided by it.
    pub base: Option<(Side<'a>, Decided<'a>)>,
    /// What was accepted last, where any of it is another now.
    pub accepted: Option<Side<'a>>,
    /// Of each change, in their order, whether somebody else changed or removed what an apply wrote.
    pub drifted: &'a [bool],
}

/// Finds what each change rests on; none where there are no changes.
pub fn review(given: &Given<'_>) -> Option<Review> {
    if given.decided.changes.is_empty() {
        return None;
    }
    let mut finder = Finder::new(given);
    let mut gathered: BTreeMap<Key, Gathered> = BTreeMap::new();
    for (place, change) in given.decided.changes.iter().enumerate() {
        let Found { key, place: line } = finder.find(place, change);
        let of_cause = gathered.entry(key).or_default();
        of_cause.changes.push(place as u32);
        of_cause.lines.extend(line.map(Line));
    }
    let causes = gathered.into_iter().map(|(key, gathered)| gathered.cause(key)).collect();
    let (settled, newly_blocked) = given.base.as_ref().map(|base| since(base, &given.decided)).unwrap_or_default();
    let locations = locations(given);
    let mut review = Review { against: given.against.clone(), causes, settled, newly_blocked, locations };
    review.sort();
    Some(review)
}

/// What changes are gathered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The class.
    class: Option<Class>,
    /// The kind.
    kind: CauseKind,
    /// The words.
    says: String,
    /// Whether what differs explains it.
    is_explained: bool,
}

/// What one change rests on.
struct Found {
    /// What it is gathered by.
    key: Key,
    /// The line that says so.
    place: Option<String>,
}

/// The changes of one cause.
#[derive(Default)]
struct Gathered {
    /// Their places.
    changes: Vec<u32>,
    /// The lines.
    lines: BTreeSet<Line>,
}

impl Gathered {
    /// The cause.
    fn cause(self, Key { class, kind, says, is_explained }: Key) -> Cause {
        let places = self.lines.into_iter().take(NAMED).map(|Line(place)| place).collect();
        Cause { class, kind, says, places, is_explained, changes: self.changes }
    }
}

/// A place, `file:line`, that sorts by file and then by number.
#[derive(Debug, PartialEq, Eq)]
struct Line(String);

impl Line {
    /// The file, and the number of the line where there is one.
    fn key(&self) -> (&str, Option<u64>) {
        let parts = self.0.rsplit_once(':').and_then(|(file, line)| Some((file, Some(line.parse().ok()?))));
        parts.unwrap_or((&self.0, None))
    }
}

impl Ord for Line {
    fn cmp(&self, other: &Line) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Line) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Finds what changes rest on, one after another.
struct Finder<'g, 'a> {
    /// What is given.
    given: &'g Given<'a>,
    /// The changes that would be made by the base.
    of_base: HashMap<(&'a ZoneName, &'a RrKey), &'a Change>,
    /// The hosts that the base blocks, with the code.
    blocked: HashMap<Inv, &'a Blocked>,
    /// The hosts that the base skips.
    skipped: HashSet<Inv>,
    /// Where in the plan each RRset is changed, for the TXT that record them.
    places: HashMap<(Rtype, Name), usize>,
    /// What is known of each host that was asked about.
    hosts: HashMap<Inv, KnownHost<'a>>,
}

/// What is known of one host.
struct KnownHost<'a> {
    /// What the inventory says of it.
    now: Option<Facts<'a>>,
    /// What the base says of it.
    base: Option<Facts<'a>>,
    /// In what the inventory differs from the base.
    from_base: Vec<Difference>,
    /// In what it differs from what was accepted last.
    from_accepted: Vec<Difference>,
}

impl<'g, 'a> Finder<'g, 'a> {
    /// Starts.
    fn new(given: &'g Given<'a>) -> Finder<'g, 'a> {
        let base = given.base.as_ref().map(|(_, decided)| *decided);
        let of_base = base.iter().flat_map(|base| base.changes).map(|change| ((&change.zone, &change.key), change));
        let registers = given.decided.changes.iter().any(Change::is_registry);
        let changes = given.decided.changes.iter().enumerate().filter(|_| registers);
        let key = |change: &Change| (change.key.rtype, change.key.owner.as_name().to_name());
        Finder {
            given,
            of_base: of_base.collect(),
            blocked: base.iter().flat_map(|base| base.blocked).map(|blocked| (blocked.host, blocked)).collect(),
            skipped: base.iter().flat_map(|base| base.skipped).map(|skipped| skipped.host).collect(),
            places: changes.map(|(place, change)| (key(change), place)).collect(),
            hosts: HashMap::new(),
        }
    }

    /// What a change rests on.
    fn find(&mut self, place: usize, change: &'a Change) -> Found {
        // What records an RRset rests on what that rests on; its own class is its own all the same.
        let told = change.registered().and_then(|rrset| self.places.get(&rrset).copied()).unwrap_or(place);
        let class = self.class(change);
        let told_of = &self.given.decided.changes[told];
        let (kind, says, line, is_explained) = match class {
            Some(Class::Caused | Class::Mixed) => self.caused(told_of),
            Some(Class::Pending) | None => self.standing(told, told_of),
        };
        Found { key: Key { class, kind, says, is_explained }, place: line }
    }

    /// Whether the difference to the base brought a change about; none without a base.
    fn class(&self, change: &Change) -> Option<Class> {
        self.given.base.as_ref()?;
        Some(match self.of_base.get(&(&change.zone, &change.key)) {
            None => Class::Caused,
            Some(before) if before.kind.after() == change.kind.after() => Class::Pending,
            Some(_) => Class::Mixed,
        })
    }

    /// What the difference to the base explains a change by.
    fn caused(&mut self, change: &Change) -> (CauseKind, String, Option<String>, bool) {
        let invs = hosts_of(change);
        for inv in &invs {
            let concern = self.concern(change, *inv);
            let known = self.host(*inv);
            if let Some(found) = fitting(&known.from_base, concern) {
                return (found.kind, found.says.clone(), found.place.clone(), true);
            }
        }
        if let Some(found) = self.zone_setting(change).or_else(|| self.unblocked(&invs)) {
            return (found.kind, found.says, found.place, true);
        }
        let (kind, rests_on, place) = rests::on(&self.given.now, change, |inv| self.hosts.get(&inv)?.now.as_ref());
        match self.changed_file(change) {
            Some(file) => (CauseKind::Other, format!("`{file}` differs; {rests_on}"), place, true),
            None => (kind, format!("nothing that differs explains this; {rests_on}"), place, false),
        }
    }

    /// What a change rests on that the difference to a base, if any, did not bring about.
    fn standing(&mut self, place: usize, change: &Change) -> (CauseKind, String, Option<String>, bool) {
        let invs = hosts_of(change);
        for inv in &invs {
            self.host(*inv);
        }
        if self.given.drifted.get(place).copied().unwrap_or(false) {
            let says = format!("somebody else changed or removed records of `{}` that an apply wrote", change.project);
            return (CauseKind::Drift, says, None, true);
        }
        for inv in invs {
            let concern = self.concern(change, inv);
            if let Some(found) = fitting(&self.host(inv).from_accepted, concern) {
                return (found.kind, found.says.clone(), found.place.clone(), true);
            }
        }
        let (kind, says, line) = rests::on(&self.given.now, change, |inv| self.hosts.get(&inv)?.now.as_ref());
        (kind, says, line, true)
    }

    /// What of a host a change is about.
    fn concern(&mut self, change: &Change, inv: Inv) -> Concern {
        let known = self.host(inv);
        Concern::of(change, [known.now.as_ref(), known.base.as_ref()])
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
            KnownHost { now, base, from_base, from_accepted }
        })
    }

    /// In what the settings of the zone differ that a change is in.
    fn zone_setting(&self, change: &Change) -> Option<Difference> {
        let spec = |side: &Side<'a>| side.inventory.config.zones.iter().find(|spec| spec.name == change.zone);
        let (now, (base, _)) = (&self.given.now, self.given.base.as_ref()?);
        let new = spec(now)?;
        let zone = &change.zone;
        let (kind, says, origin) = match spec(base) {
            None => (CauseKind::Setting, format!("zone `{zone}` is configured now"), new.origin),
            Some(old) if old.permission != new.permission => {
                (CauseKind::Setting, format!("the permission of zone `{zone}` is another"), new.origin)
            }
            Some(old) if old.claim_addresses != new.claim_addresses => {
                (CauseKind::Setting, format!("whose names zone `{zone}` clears is another"), new.origin)
            }
            Some(old) if old.ttl != new.ttl && change.kind.after().map(|after| after.ttl()) == new.ttl => {
                (CauseKind::Ttl, format!("the TTL of zone `{zone}` is another"), new.ttl_origin.unwrap_or(new.origin))
            }
            Some(_) => return None,
        };
        Some(Difference { about: About::Host, kind, says, place: Some(now.place(origin)) })
    }

    /// Whether the base blocks or skips one of these hosts.
    fn unblocked(&self, invs: &[Inv]) -> Option<Difference> {
        let blocked = invs.iter().find_map(|inv| self.blocked.get(inv));
        let skipped = invs.iter().any(|inv| self.skipped.contains(inv));
        let says = match blocked {
            Some(blocked) => format!("hosts of `{}` that were blocked `{}`", blocked.project, blocked.code),
            None if skipped => "hosts that were not looked after".to_owned(),
            None => return None,
        };
        Some(Difference { about: About::Host, kind: CauseKind::Unblocked, says, place: None })
    }

    /// A file that a change rests on and that the base has otherwise.
    fn changed_file(&self, change: &Change) -> Option<String> {
        let (base, _) = self.given.base.as_ref()?;
        let inputs = |side: &Side<'a>| &side.inventory.inputs;
        let differs = |file: &&str| inputs(&self.given.now).get(*file) != inputs(base).get(*file);
        let mut files = change.reasons.iter().flat_map(|reason| &reason.evidence).filter_map(|place| place.rsplit_once(':'));
        files.find(|(file, _)| differs(file)).map(|(file, _)| file.to_owned())
    }
}

/// The first difference that is about what a change concerns.
fn fitting(differences: &[Difference], concern: Concern) -> Option<&Difference> {
    let best = differences.iter().filter_map(|difference| Some((concern.rank(difference.about)?, difference)));
    best.min_by_key(|(rank, _)| *rank).map(|(_, difference)| difference)
}

/// The hosts that a change is made for: its own first, then the others of its reasons.
fn hosts_of(change: &Change) -> Vec<Inv> {
    let others = change.reasons.iter().filter_map(|reason| reason.host).chain(change.also.iter().copied());
    let mut invs: Vec<Inv> = Vec::new();
    for inv in change.host.into_iter().chain(others) {
        if !invs.contains(&inv) {
            invs.push(inv);
        }
    }
    invs
}

/// What else is new since the base: how many of its changes are not needed any more, and which hosts are blocked that it
/// does not block.
fn since((_, base): &(Side<'_>, Decided<'_>), now: &Decided<'_>) -> (u64, Vec<Inv>) {
    let planned: HashSet<(&ZoneName, &RrKey)> = now.changes.iter().map(|change| (&change.zone, &change.key)).collect();
    let left: HashSet<Inv> =
        now.blocked.iter().map(|own| own.host).chain(now.skipped.iter().map(|own| own.host)).collect();
    let is_settled = |change: &&Change| {
        !planned.contains(&(&change.zone, &change.key)) && change.host.is_none_or(|inv| !left.contains(&inv))
    };
    let before: HashSet<Inv> = base.blocked.iter().map(|own| own.host).collect();
    let newly: BTreeSet<Inv> = now.blocked.iter().map(|own| own.host).filter(|inv| !before.contains(inv)).collect();
    (base.changes.iter().filter(is_settled).count() as u64, newly.into_iter().collect())
}

/// The hosts that have changes, by datacenter.
fn locations(given: &Given<'_>) -> BTreeMap<String, Vec<Inv>> {
    let hosts: BTreeSet<Inv> = given.decided.changes.iter().filter_map(|change| change.host).collect();
    let inventory = given.now.inventory;
    let mut found: BTreeMap<String, Vec<Inv>> = BTreeMap::new();
    for inv in hosts {
        if let Some(place) = inventory.place_of(inv) {
            let location = inventory.symbols.text(inventory.hosts[place].location);
            found.entry(location.to_owned()).or_default().push(inv);
        }
    }
    found
}
