//! What is counted of a plan.

use std::collections::{BTreeMap, HashSet};

use super::summary::SubjectCounts;
use crate::claim::Subject;
use crate::guard::ledger::LimitScope;
use crate::inventory::value::Inv;
use crate::plan::{Change, ChangeKind, LimitKind, LimitState, Plan, Rule};

/// What is counted of one project, or of several.
#[derive(Debug, Default)]
pub struct PlanCounts {
    /// The hosts that have changes; one that comes from another project counts in both, and in their sum once.
    pub hosts: HashSet<Inv>,
    /// The pods, endpoints and names in files that have changes; of one name each manifest or zone file counts.
    pub stated: HashSet<Subject>,
    /// RRsets that are created, modified, deleted.
    pub changes: [usize; 3],
    /// Hosts, and names that files state, that are blocked, skipped.
    pub left: [usize; 2],
}

impl PlanCounts {
    /// Counts the changes of a whole plan, and the hosts that it leaves.
    pub fn of_plan(plan: &Plan) -> PlanCounts {
        let mut counts = PlanCounts { left: [plan.blocked.len(), plan.skipped.len()], ..PlanCounts::default() };
        plan.changes.iter().for_each(|change| counts.count(change));
        counts
    }

    /// Counts a change.
    pub fn count(&mut self, change: &Change) {
        self.hosts.extend(change.subject.host());
        self.stated.extend(change.subject.is_stated().then(|| change.subject.clone()));
        self.changes[match change.kind {
            ChangeKind::Create { .. } => 0,
            ChangeKind::Modify { .. } => 1,
            ChangeKind::Delete { .. } => 2,
        }] += 1;
    }

    /// How many subjects of each kind have changes, without unclaimed names.
    pub fn subjects(&self) -> SubjectCounts {
        SubjectCounts { hosts: self.hosts.len(), ..SubjectCounts::of(&self.stated) }
    }

    /// How many changes there are.
    pub fn all_changes(&self) -> usize {
        self.changes.iter().sum()
    }

    /// The sum of several counts.
    pub fn sum<'a>(counts: impl IntoIterator<Item = &'a PlanCounts>) -> PlanCounts {
        let mut total = PlanCounts::default();
        for counts in counts {
            total.hosts.extend(&counts.hosts);
            total.stated.extend(counts.stated.iter().cloned());
            total.changes.iter_mut().zip(counts.changes).for_each(|(sum, more)| *sum += more);
            total.left.iter_mut().zip(counts.left).for_each(|(sum, more)| *sum += more);
        }
        total
    }

    /// The heading of the first number of a table: `hosts`, and where pods or endpoints have changes the kinds that there are.
    pub fn heading(&self) -> String {
        let counts = self.subjects();
        if counts.pods + counts.endpoints == 0 {
            return "hosts".to_owned();
        }
        let kinds = counts.by_kind().into_iter().filter(|own| own.number > 0);
        kinds.map(|own| format!("{}s{}", own.noun, own.behind)).collect::<Vec<_>>().join(", ")
    }

    /// The numbers in the order of a table: what has changes but for unclaimed names, create, modify, delete, blocked, skipped. A
    /// dash means 0, so that the eye finds the other numbers.
    pub fn cells(&self) -> Vec<String> {
        let numbers = [&[self.hosts.len() + self.stated.len()][..], &self.changes, &self.left].concat();
        numbers.into_iter().map(|number| if number == 0 { "-".to_owned() } else { number.to_string() }).collect()
    }
}

/// Counts by project; the project of a host is empty where its row is too bad to say.
pub fn by_project(plan: &Plan) -> BTreeMap<&str, PlanCounts> {
    let mut projects: BTreeMap<&str, PlanCounts> = BTreeMap::new();
    for change in &plan.changes {
        projects.entry(&change.project).or_default().count(change);
    }
    for blocked in &plan.blocked {
        projects.entry(&blocked.project).or_default().left[0] += 1;
    }
    for skipped in &plan.skipped {
        projects.entry(&skipped.project).or_default().left[1] += 1;
    }
    projects
}

/// What has none of the names at which RRsets wait to be deleted: `host`, `pod`, `host or pod`.
pub fn without(plan: &Plan) -> &'static str {
    let pods = plan.delayed.iter().filter(|delayed| delayed.rule == Rule::NoPod).count();
    match pods {
        0 => "host",
        all if all == plan.delayed.len() => "pod",
        _ => "host or pod",
    }
}

/// Whether a plan comes near a limit: of hosts, that it changes any of them; of a share, that it takes more than half.
pub fn is_near(plan: &Plan, limit: &LimitState) -> bool {
    limit.exceeded
        || match LimitScope::parse(&limit.scope).filter(|_| limit.counts == LimitKind::Hosts) {
            Some(scope) => plan.changes.iter().any(|change| scope.has(&change.project)),
            None => limit.planned.saturating_mul(2) > limit.max,
        }
}
