//! Pods that others replace: their records wait until the new pod is there. Pure.
//!
//! The old records go once the new pod is active, and its names and the SRV of its set have reached all clients, whatever the
//! export says of the old pod. So a resolver with a cache always gets one of both. Of several new pods one is enough: the
//! others may never come.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::board::HeldBack;
use super::members::RolloutView;
use super::units::ChangeUnit;
use crate::claim::Subject;
use crate::plan::{PodSeen, WaitCode};

/// The pods that others replace, with what is open or under way of the new ones.
pub struct Replacements<'p> {
    /// The new pods, by the old one; never empty.
    by_old: BTreeMap<&'p Subject, Vec<&'p PodSeen>>,
    /// The pods and endpoints that have a change that is still to be made, or that clients may not have seen.
    unsettled: HashSet<&'p Subject>,
    /// The new pods that the plan does not change although they may need it, each with why.
    unchanged: HashMap<&'p Subject, &'static str>,
}

impl<'p> Replacements<'p> {
    /// Finds them.
    pub fn of(view: &RolloutView<'p>) -> Replacements<'p> {
        let mut by_old: BTreeMap<&Subject, Vec<&PodSeen>> = BTreeMap::new();
        for (old, seen) in view.plan.pods.iter().filter_map(|seen| Some((seen.replaces.as_ref()?, seen))) {
            by_old.entry(old).or_default().push(seen);
        }
        let mut unsettled = HashSet::new();
        if !by_old.is_empty() {
            let is_of_set = |subject: &&Subject| subject.pod_set().is_some();
            let changes = view.plan.changes.iter().enumerate().filter(|(place, _)| (view.is_open)(*place));
            unsettled.extend(changes.flat_map(|(_, change)| change.subjects()).filter(is_of_set));
            let rows = view.memory.flux.iter().filter(|row| row.is_in_flux(view.now));
            unsettled.extend(rows.map(|row| &row.subject).filter(is_of_set));
        }
        let news = || by_old.values().flatten().map(|new| &new.subject);
        let mut unchanged: HashMap<&Subject, &str> = HashMap::new();
        if let Some(only) = &view.plan.only {
            let left_out = news().filter(|new| !only.includes(new));
            unchanged.extend(left_out.map(|new| (new, "the command leaves it out")));
        }
        let are_news: HashSet<&Subject> = news().collect();
        let blocked = view.plan.blocked.iter().map(|blocked| &blocked.subject);
        unchanged.extend(blocked.filter(|own| are_news.contains(own)).map(|own| (own, "is blocked")));
        Replacements { by_old, unsettled, unchanged }
    }

    /// Why the records of a unit wait for a new pod, with the set; none where they do not.
    pub fn held(&self, view: &RolloutView<'p>, unit: &ChangeUnit) -> Option<(&'p str, HeldBack)> {
        if self.by_old.is_empty() {
            return None;
        }
        let changes = unit.changes.iter().map(|place| &view.plan.changes[*place]);
        let mut replaced = changes.flat_map(|change| change.subjects()).filter_map(|own| self.by_old.get(own));
        replaced.find_map(|news| {
            let set = news[0].subject.pod_set()?;
            let unready: Option<Vec<&str>> = news.iter().map(|new| self.unready(new, set)).collect();
            let (new, why) = (news[0], unready?[0]);
            let message = format!("{} replaces it, and {why}", new.subject);
            Some((set, HeldBack { code: WaitCode::Replaces, message }))
        })
    }

    /// Why a new pod does not take the place of the old one yet.
    fn unready(&self, new: &PodSeen, set: &str) -> Option<&'static str> {
        let mut others = self.unsettled.iter();
        if !new.active {
            Some("is not `active` yet")
        } else if let Some(why) = self.unchanged.get(&new.subject) {
            Some(why)
        } else if self.unsettled.contains(&new.subject) {
            Some("its names have not settled")
        } else if others.any(|own| matches!(own, Subject::Endpoints(_)) && own.pod_set() == Some(set)) {
            Some("the SRV of the set have not settled")
        } else {
            None
        }
    }
}
