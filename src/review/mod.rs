//! The causes of the changes of a plan, and which changes a difference between two inventories causes.
//!
//! Comes in: the changes, the inventory that they were made from, and others to compare it with: a base, and what was
//! accepted last. Goes out: a [`Review`]. Pure.

mod basis;

mod concern;

mod difference;

mod find;

mod others;

mod reasons;

pub mod side;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub use reasons::of_reasons;
pub use side::InventorySide;

use self::find::{CauseFinder, CauseKey, FoundCause};
use crate::change::{BlockedSubject, Change, DelayedRrset, SkippedSubject};
use crate::claim::Subject;
use crate::diag::split_place;
use crate::dns::{RrKey, ZoneName};
use crate::inventory::value::Inv;
use crate::plan::{Cause, ComparisonBase, Plan, Review};
use crate::target::PoolName;

/// How many lines of a cause are named.
const NAMED: usize = 3;

/// The review of a plan: its own, else what its reasons say; none where there are no changes.
pub fn of_plan(plan: &Plan) -> Option<Review> {
    plan.review.clone().or_else(|| (!plan.changes.is_empty()).then(|| of_reasons(plan)))
}

/// What was decided by an inventory.
#[derive(Debug, Clone, Copy)]
pub struct InventoryDecisions<'a> {
    /// The changes; those of the plan itself in its order.
    pub changes: &'a [Change],
    /// The blocked hosts.
    pub blocked: &'a [BlockedSubject],
    /// The skipped hosts.
    pub skipped: &'a [SkippedSubject],
    /// What waits to be deleted.
    pub waiting: &'a [DelayedRrset],
}

/// What applies have to do with the RRset that a change finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundAs {
    /// None is known to have written it.
    Unwritten,
    /// It is as the latest left it.
    Left,
    /// Another editor changed or removed what the latest left.
    Changed {
        /// Whether the change puts that there again.
        is_wanted: bool,
    },
}

/// All that a review is made of.
pub struct ReviewInput<'a> {
    /// What the inventory was compared with, for the reader.
    pub against: ComparisonBase,
    /// The inventory.
    pub now: InventorySide<'a>,
    /// What was decided by it.
    pub decided: InventoryDecisions<'a>,
    /// The base, and what would be decided by it.
    pub base: Option<(InventorySide<'a>, InventoryDecisions<'a>)>,
    /// The zones that the base lacks; it has them all the same, and hosts that need them are blocked in it.
    pub new_zones: &'a BTreeSet<ZoneName>,
    /// What was accepted last, and when.
    pub accepted: Option<InventorySide<'a>>,
    /// What would be decided by what was accepted last, where that is not the inventory.
    pub by_accepted: Option<InventoryDecisions<'a>>,
    /// Of each change, in their order, what applies have to do with what it finds; empty where none are known.
    pub found: &'a [FoundAs],
    /// Of each change, in their order, the apply after which live DNS was there as desired, where one is known and only
    /// exports differ since; empty where none is.
    pub desired_since: &'a [Option<u64>],
}

/// Finds the cause of each change; none where there is nothing to report. With a base there is a report without
/// changes, too.
pub fn review(given: &ReviewInput<'_>) -> Option<Review> {
    if given.decided.changes.is_empty() && given.base.is_none() {
        return None;
    }
    let mut finder = CauseFinder::new(given);
    let mut gathered: BTreeMap<CauseKey, CauseChanges> = BTreeMap::new();
    for (place, change) in given.decided.changes.iter().enumerate() {
        let FoundCause { key, place: line } = finder.find(place, change);
        let of_cause = gathered.entry(key).or_default();
        of_cause.changes.push(place as u32);
        of_cause.lines.extend(line.map(FileLine));
    }
    let causes = gathered.into_iter().map(|(key, gathered)| gathered.cause(key)).collect();
    let (settled, newly_blocked) = given.base.as_ref().map(|(_, base)| since(base, given)).unwrap_or_default();
    let mut review = Review { against: given.against.clone(), causes, settled, newly_blocked };
    review.sort();
    Some(review)
}

/// The changes of one cause.
#[derive(Default)]
struct CauseChanges {
    /// Their places.
    changes: Vec<u32>,
    /// The lines.
    lines: BTreeSet<FileLine>,
}

impl CauseChanges {
    /// The cause.
    fn cause(self, CauseKey { class, kind, says, is_explained }: CauseKey) -> Cause {
        let places = self.lines.into_iter().take(NAMED).map(|FileLine(place)| place).collect();
        Cause { class, kind, says, places, is_explained, changes: self.changes }
    }
}

/// A place, `file:line`, that sorts by file and then by number.
#[derive(Debug, PartialEq, Eq)]
struct FileLine(String);

impl FileLine {
    /// The file, and the numbers of line and column where there are any.
    fn key(&self) -> (&str, Option<(u32, u32)>) {
        let parts = split_place(&self.0).map(|(file, line, col)| (file, Some((line, col))));
        parts.unwrap_or((&self.0, None))
    }
}

impl Ord for FileLine {
    fn cmp(&self, other: &FileLine) -> Ordering {
        self.key().cmp(&other.key()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for FileLine {
    fn partial_cmp(&self, other: &FileLine) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What else is new since the base: how many of its changes are no longer needed, and which hosts are blocked that it
/// does not block.
fn since(base: &InventoryDecisions<'_>, given: &ReviewInput<'_>) -> (u64, Vec<Subject>) {
    let now = &given.decided;
    let planned = now.changes.iter().map(|change| (&change.pool, &change.zone, &change.key));
    let waiting = now.waiting.iter().map(|waiting| (&waiting.pool, &waiting.zone, &waiting.key));
    let unsettled: HashSet<(&PoolName, &ZoneName, &RrKey)> = planned.chain(waiting).collect();
    let left = now.blocked.iter().map(|own| &own.subject).chain(now.skipped.iter().map(|own| &own.subject));
    let left: HashSet<Inv> = left.filter_map(Subject::host).collect();
    // While nothing is removed at names that no host has, nothing about them is settled.
    let are_paused = others::are_removals_paused(given.now.inventory);
    let is_settled = |change: &&Change| {
        let is_left = change.subject.host().map_or(are_paused, |inv| left.contains(&inv));
        !is_left && !unsettled.contains(&(&change.pool, &change.zone, &change.key))
    };
    let before: HashSet<&Subject> = base.blocked.iter().map(|own| &own.subject).collect();
    let newly = now.blocked.iter().map(|own| &own.subject).filter(|subject| !before.contains(subject));
    let newly: BTreeSet<Subject> = newly.cloned().collect();
    (base.changes.iter().filter(is_settled).count() as u64, newly.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::{Inventory, load_workspace};
    use crate::live::{Apexes, Live};
    use crate::plan::{ChangeClass, fixture};

    /// When.
    const NOW: &str = "2026-11-20T02:00:00Z";

    /// A small workspace.
    fn inventory() -> Inventory {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        let loaded = load_workspace(&workspace, NOW.parse().unwrap(), &|_| {});
        loaded.inventory.expect("the base of the cases is a workspace")
    }

    /// The review of changes that a base would not make.
    fn compared_with(base: &Inventory, now: &Inventory) -> Review {
        let plan = fixture::fleet();
        let live = Live::new(Vec::new(), Apexes::new(std::iter::empty()));
        let side = |inventory| InventorySide { inventory, live: &live, now: NOW.parse().unwrap() };
        let given = ReviewInput {
            against: ComparisonBase::Nothing,
            now: side(now),
            decided: InventoryDecisions { changes: &plan.changes, blocked: &[], skipped: &[], waiting: &[] },
            base: Some((side(base), InventoryDecisions { changes: &[], blocked: &[], skipped: &[], waiting: &[] })),
            new_zones: &BTreeSet::new(),
            accepted: None,
            by_accepted: None,
            found: &[],
            desired_since: &[],
        };
        review(&given).unwrap()
    }

    #[test]
    fn what_nothing_that_differs_explains_is_marked() {
        let review = compared_with(&inventory(), &inventory());
        assert!(review.is_whole(fixture::fleet().changes.len()));
        let is_marked = |cause: &Cause| {
            let says = cause.says.starts_with("nothing that differs explains this; ");
            cause.class == Some(ChangeClass::Caused) && !cause.is_explained && says
        };
        assert!(review.causes.iter().all(is_marked), "{review:#?}");
    }

    #[test]
    fn a_file_that_differs_explains_what_depends_on_it() {
        let plan = fixture::fleet();
        let evidence = plan.changes.iter().flat_map(|change| &change.reasons).flat_map(|reason| &reason.evidence);
        let mut now = inventory();
        for (file, ..) in evidence.filter_map(|place| split_place(place)) {
            now.inputs.insert(file.to_owned(), "another".to_owned());
        }
        let review = compared_with(&inventory(), &now);
        let differs = |cause: &Cause| cause.is_explained && cause.says.contains("` differs; ");
        assert!(review.causes.iter().any(differs), "{review:#?}");
    }
}
