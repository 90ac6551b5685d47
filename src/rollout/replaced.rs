//! Pods that others replace: their records wait until the new pod is there. Pure.
//!
//! The old records go once the new pod is active, and its names and the SRV of its set have reached all clients, whatever the
//! export says of the old pod. What comes for an old pod that is still there does not wait, nor does the move of one that
//! died. So a resolver with a cache always gets one of both. Of several new pods one is enough: the others may never come.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::board::HeldBack;
use super::flux::{FluxRow, FormerRrset};
use super::members::RolloutView;
use super::units::ChangeUnit;
use crate::change::Change;
use crate::change::reach::takes_value;
use crate::claim::Subject;
use crate::dns::Rtype;
use crate::plan::{PodSeen, WaitCode};

/// The pods that others replace, with what is open or under way of the new ones.
pub struct Replacements<'p> {
    /// The new pods, by the old one; never empty.
    by_old: BTreeMap<&'p Subject, Vec<&'p PodSeen>>,
    /// The pods that have a change that is still to be made, or that clients may not have seen.
    unsettled: HashSet<&'p Subject>,
    /// The changes of SRV that are still to be made, or that clients may not have seen.
    srv: Vec<SrvOnItsWay<'p>>,
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
        let (mut unsettled, mut srv) = (HashSet::new(), Vec::new());
        if !by_old.is_empty() {
            let is_pod = |subject: &&Subject| matches!(subject, Subject::Pod(_));
            let changes = view.plan.changes.iter().enumerate().filter(|(place, _)| (view.is_open)(*place));
            let changes: Vec<&Change> = changes.map(|(_, change)| change).collect();
            unsettled.extend(changes.iter().flat_map(|change| change.subjects()).filter(is_pod));
            srv.extend(changes.iter().filter_map(|change| SrvOnItsWay::of_change(change)));
            let rows = view.memory.flux.iter().filter(|row| row.is_in_flux(view.now));
            srv.extend(rows.clone().filter_map(SrvOnItsWay::of_row));
            unsettled.extend(rows.map(|row| &row.subject).filter(is_pod));
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
        Replacements { by_old, unsettled, srv, unchanged }
    }

    /// Why the records of a unit wait for a new pod, with the set; none where they do not.
    pub fn held(&self, view: &RolloutView<'p>, unit: &ChangeUnit) -> Option<(&'p str, HeldBack)> {
        if self.by_old.is_empty() {
            return None;
        }
        let changes = || unit.changes.iter().map(|place| &view.plan.changes[*place]);
        let gives = |old: &Subject| {
            changes().any(|change| change.kind.after().is_some() && change.subjects().any(|own| own == old))
        };
        // One that died has no clients where it was.
        let takes = |old: &Subject| {
            let mut taking = changes().filter(|change| takes_value(change));
            !view.was_down.contains(old) && taking.any(|change| change.subjects().any(|own| own == old))
        };
        // Only of a pod that is to be somewhere a change leaves something.
        let is_there = |old: &Subject| {
            let seen = view.plan.pod(old).filter(|seen| !seen.down);
            seen.is_some_and(|seen| (seen.active || gives(old)) && !takes(old))
        };
        let mut replaced = changes()
            .flat_map(|change| change.subjects())
            .filter_map(|own| self.by_old.get_key_value(own))
            .filter(|(old, _)| !is_there(old));
        replaced.find_map(|(old, news)| {
            let set = old.pod_set()?;
            let unready: Vec<Option<&str>> = news.iter().map(|new| self.unready(new)).collect();
            let ready = unready.iter().position(Option::is_none);
            let is_listed = || self.srv.iter().any(|srv| srv.leads_to(old, news));
            let (new, why) = match ready {
                Some(ready) if is_listed() => (news[ready], "the SRV of the set have not settled"),
                Some(_) => return None,
                None => (news[0], unready[0]?),
            };
            let message = format!("{} replaces it, and {why}", new.subject);
            Some((set, HeldBack { code: WaitCode::Replaces, message }))
        })
    }

    /// Why a new pod does not take the place of the old one yet.
    fn unready(&self, new: &PodSeen) -> Option<&'static str> {
        if !new.active {
            Some("is not `active` yet")
        } else if let Some(why) = self.unchanged.get(&new.subject) {
            Some(why)
        } else if self.unsettled.contains(&new.subject) {
            Some("its names have not settled")
        } else {
            None
        }
    }
}

/// A change of an SRV of a set that clients may not have seen.
struct SrvOnItsWay<'p> {
    /// The set.
    set: &'p str,
    /// The first labels of the servers that clients may still get, in lower case.
    before: Vec<String>,
    /// Those that the SRV is to list; none where it does so already.
    after: Option<Vec<String>>,
}

impl<'p> SrvOnItsWay<'p> {
    /// One that is still to be made.
    fn of_change(change: &'p Change) -> Option<SrvOnItsWay<'p>> {
        let endpoint = change.subjects().find(|subject| matches!(subject, Subject::Endpoints(_)))?;
        let (before, after) = (FormerRrset::before(change), FormerRrset::after(change));
        Some(SrvOnItsWay { set: endpoint.pod_set()?, before: servers(&before), after: Some(servers(&after)) })
    }

    /// One that may have been made.
    fn of_row(row: &'p FluxRow) -> Option<SrvOnItsWay<'p>> {
        let set = row.subject.pod_set().filter(|_| matches!(row.subject, Subject::Endpoints(_)))?;
        Some(SrvOnItsWay { set, before: row.before.iter().flat_map(servers).collect(), after: None })
    }

    /// Whether clients may still get the old pod by it, or are to get a new one first. A set that grows all the time changes its
    /// SRV all the time: what of that is about other pods counts for nothing.
    fn leads_to(&self, old: &Subject, news: &[&PodSeen]) -> bool {
        let lists = |labels: &[String], pod: &Subject| labels.iter().any(|label| may_be_of(label, pod));
        let comes = |after: &Vec<String>| {
            news.iter().any(|new| lists(after, &new.subject) && !lists(&self.before, &new.subject))
        };
        old.pod_set() == Some(self.set) && (lists(&self.before, old) || self.after.as_ref().is_some_and(comes))
    }
}

/// Whether a label may be one of a placement of a pod: every template has the id in it.
fn may_be_of(label: &str, pod: &Subject) -> bool {
    matches!(pod, Subject::Pod(own) if label.contains(&*own.pod))
}

/// The first labels of the servers of an SRV, in lower case.
fn servers(rrset: &FormerRrset) -> Vec<String> {
    // The server is the last field (RFC 2782).
    let names = rrset.values.iter().filter(|_| rrset.rtype == Rtype::SRV).filter_map(|value| value.rsplit(' ').next());
    names.filter_map(|name| name.split('.').next()).map(str::to_ascii_lowercase).collect()
}
