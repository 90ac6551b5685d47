//! The causes of the changes of a plan, gathered so that people can judge the changes by them.

use serde::{Deserialize, Serialize};

use crate::claim::Subject;
use crate::document::{nullable_object, objects, present, words};
use crate::inventory::value::Time;

/// The causes of a plan's changes. Together they have every change, each once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "ReviewText", try_from = "ReviewText")]
pub struct Review {
    /// What the inventory was compared with.
    pub against: ComparisonBase,
    /// The causes: by class, those of most changes first; empty only with a base, where there are no changes.
    pub causes: Vec<Cause>,
    /// With a base: how many RRsets a plan of the base would change that need no change with this inventory.
    pub settled: u64,
    /// With a base: the subjects that are blocked now and are not blocked with the base, sorted.
    pub newly_blocked: Vec<Subject>,
}

/// A review in a document: some of it is there only with a base.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewText {
    /// What the inventory was compared with; null where with nothing.
    #[serde(deserialize_with = "nullable_object")]
    against: Option<AgainstText>,
    /// The causes.
    #[serde(deserialize_with = "objects")]
    causes: Vec<Cause>,
    /// The subjects that are blocked and were not.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    newly_blocked: Option<Vec<Subject>>,
    /// How many RRsets the base would change and the plan does not.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    settled: Option<u64>,
}

impl From<Review> for ReviewText {
    fn from(review: Review) -> ReviewText {
        let is_based = review.is_based();
        let Review { against, causes, settled, newly_blocked } = review;
        let (newly_blocked, settled) = (is_based.then_some(newly_blocked), is_based.then_some(settled));
        ReviewText { against: AgainstText::of(against), causes, newly_blocked, settled }
    }
}

impl TryFrom<ReviewText> for Review {
    type Error = String;

    fn try_from(text: ReviewText) -> Result<Review, String> {
        let ReviewText { against, causes, newly_blocked, settled } = text;
        let against = against.map_or(Ok(ComparisonBase::Nothing), ComparisonBase::try_from)?;
        let is_based = matches!(against, ComparisonBase::Base { .. });
        let of_base = [settled.is_some(), newly_blocked.is_some()];
        if of_base.contains(&!is_based) || causes.iter().any(|cause| cause.class.is_some() != is_based) {
            return Err("`settled`, `newly_blocked` and each `class` are there with a base, and only then".into());
        }
        let newly_blocked = newly_blocked.unwrap_or_default();
        if !newly_blocked.is_sorted_by(|a, b| a < b) {
            return Err("`newly_blocked` is not sorted, or has a subject twice".into());
        }
        Ok(Review { against, causes, settled: settled.unwrap_or_default(), newly_blocked })
    }
}

/// What an inventory is compared with to find what is new in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparisonBase {
    /// Nothing: the cause of each change is what it is derived from.
    Nothing,
    /// What the state remembers.
    Journal {
        /// The latest apply that did all of its plan for the whole fleet.
        apply: u64,
        /// When its plan was made, or where that is not known, when it began.
        at: Time,
    },
    /// A base.
    Base {
        /// What the command line names: a revision or a folder.
        name: String,
        /// The commit; none for a folder.
        commit: Option<String>,
    },
}

/// What an inventory is compared with, in a document: an apply and when its plan was made, or a base and its commit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgainstText {
    /// The apply.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    apply: Option<u64>,
    /// When its plan was made.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    at: Option<Time>,
    /// The name of the base.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// Its commit, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    commit: Option<Option<String>>,
}

impl AgainstText {
    /// How this is written; none where nothing was compared.
    fn of(against: ComparisonBase) -> Option<AgainstText> {
        let nothing = AgainstText { apply: None, at: None, base: None, commit: None };
        match against {
            ComparisonBase::Nothing => None,
            ComparisonBase::Journal { apply, at } => Some(AgainstText { apply: Some(apply), at: Some(at), ..nothing }),
            ComparisonBase::Base { name, commit } => {
                Some(AgainstText { base: Some(name), commit: Some(commit), ..nothing })
            }
        }
    }
}

impl TryFrom<AgainstText> for ComparisonBase {
    type Error = String;

    fn try_from(text: AgainstText) -> Result<ComparisonBase, String> {
        match text {
            AgainstText { apply: Some(apply), at: Some(at), base: None, commit: None } => {
                Ok(ComparisonBase::Journal { apply, at })
            }
            AgainstText { apply: None, at: None, base: Some(name), commit: Some(commit) } => {
                Ok(ComparisonBase::Base { name, commit })
            }
            _ => Err("`against` has `apply` and `at`, or `base` and `commit`".into()),
        }
    }
}

/// The cause of some changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// The places of the changes in [`super::Plan::changes`], ascending; never empty.
    pub changes: Vec<u32>,
    /// Whether the difference to the base causes the changes; none without a base.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub class: Option<ChangeClass>,
    /// Whether what differs from the base explains the changes; true without a base.
    #[serde(rename = "explained")]
    pub is_explained: bool,
    /// What kind.
    pub kind: CauseKind,
    /// The lines that say so, as `file:line`, sorted; the first few where there are many.
    pub places: Vec<String>,
    /// In words: lower case, no full stop, names in backticks.
    pub says: String,
}

words! {
    /// Whether the difference to a base causes a change.
    ChangeClass {
        /// It did: without it the RRset would stay as it is.
        Caused = "caused",
        /// In part: without it the RRset would be changed too, but to other data.
        Mixed = "mixed",
        /// It did not: the change was to be made before.
        Pending = "pending",
    }
}

words! {
    /// What kind of cause.
    CauseKind {
        /// A row that says which network a VLAN is.
        Network = "network",
        /// A MAC report.
        Mac = "mac",
        /// A setting of a project or zone.
        Setting = "setting",
        /// A TTL.
        Ttl = "ttl",
        /// A host that was not there, or not in use.
        NewHost = "new-host",
        /// A host that has another name.
        Renamed = "renamed",
        /// A host that moved to another switch, datacenter or project.
        Moved = "moved",
        /// A name that no host has now.
        Released = "released",
        /// Something that blocked a host and no longer does.
        Unblocked = "unblocked",
        /// A record that another editor changed or removed.
        Drift = "drift",
        /// An apply that is undone.
        Undo = "undo",
        /// Anything else.
        Other = "other",
    }
}

impl Review {
    /// The cause of each of `count` changes, as a place in [`Review::causes`].
    pub fn cause_of_each(&self, count: usize) -> Vec<usize> {
        let mut found = vec![0; count];
        for (place, cause) in self.causes.iter().enumerate() {
            cause.changes.iter().for_each(|change| found[*change as usize] = place);
        }
        found
    }

    /// The review of some of the changes: those of `kept`, places in ascending order. Causes without changes are left
    /// out; none where there is nothing left to report.
    pub fn of_some(&self, kept: &[u32]) -> Option<Review> {
        let renumbered = |changes: &[u32]| {
            let places = changes.iter().filter_map(|change| kept.binary_search(change).ok());
            places.map(|place| place as u32).collect::<Vec<u32>>()
        };
        let causes = self.causes.iter().map(|cause| Cause { changes: renumbered(&cause.changes), ..cause.clone() });
        let causes: Vec<Cause> = causes.filter(|cause| !cause.changes.is_empty()).collect();
        (!causes.is_empty() || self.is_based()).then(|| Review { causes, ..self.clone() })
    }

    /// Whether there is a base.
    pub fn is_based(&self) -> bool {
        matches!(self.against, ComparisonBase::Base { .. })
    }

    /// Puts the causes in order: caused, mixed, pending; those of most changes first; then by words.
    pub fn sort(&mut self) {
        self.causes.sort_by(|a, b| {
            let key = |cause: &Cause| (cause.class, std::cmp::Reverse(cause.changes.len()));
            key(a).cmp(&key(b)).then_with(|| (&a.says, &a.places, &a.changes).cmp(&(&b.says, &b.places, &b.changes)))
        });
    }

    /// Whether the causes have each of `count` changes once, and are in order.
    pub fn is_whole(&self, count: usize) -> bool {
        let mut seen = vec![false; count];
        let mut each_once = self.causes.iter().flat_map(|cause| &cause.changes);
        let each_once =
            each_once.all(|change| seen.get_mut(*change as usize).is_some_and(|seen| !std::mem::replace(seen, true)));
        let ascending = |cause: &Cause| !cause.changes.is_empty() && cause.changes.is_sorted();
        let mut sorted = self.clone();
        sorted.sort();
        (self.is_based() || count > 0)
            && each_once
            && seen.iter().all(|seen| *seen)
            && self.causes.iter().all(ascending)
            && sorted == *self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause of these changes.
    fn cause(class: Option<ChangeClass>, says: &str, changes: &[u32]) -> Cause {
        let says = says.to_owned();
        Cause { class, kind: CauseKind::Other, says, places: vec![], is_explained: true, changes: changes.to_vec() }
    }

    /// A review of these causes.
    fn review(causes: Vec<Cause>) -> Review {
        Review { against: ComparisonBase::Nothing, causes, settled: 0, newly_blocked: Vec::new() }
    }

    #[test]
    fn of_some_changes_only_their_causes_are_left() {
        let whole = review(vec![cause(None, "a", &[0, 3]), cause(None, "b", &[1]), cause(None, "c", &[2])]);
        assert!(whole.is_whole(4) && !whole.is_whole(5));
        assert_eq!(whole.cause_of_each(4), [0, 1, 2, 0]);
        let some = whole.of_some(&[2, 3]).unwrap();
        assert_eq!(some.causes, [cause(None, "a", &[1]), cause(None, "c", &[0])]);
        assert!(some.is_whole(2));
        assert_eq!(whole.of_some(&[]), None);
    }

    #[test]
    fn what_is_twice_or_out_of_order_is_not_whole() {
        assert!(!review(vec![cause(None, "a", &[0]), cause(None, "b", &[0])]).is_whole(1));
        assert!(!review(vec![cause(None, "a", &[0]), cause(None, "b", &[1, 2])]).is_whole(3), "most come first");
        assert!(!review(vec![cause(None, "a", &[1, 0])]).is_whole(2));
        let pending = cause(Some(ChangeClass::Pending), "a", &[0, 1]);
        assert!(!review(vec![pending.clone(), cause(Some(ChangeClass::Caused), "b", &[2])]).is_whole(3));
        assert!(review(vec![cause(Some(ChangeClass::Caused), "b", &[2]), pending]).is_whole(3));
    }
}
