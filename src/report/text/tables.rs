//! The tables of a report, as rows of cells.

use std::collections::{BTreeMap, HashSet};

use crate::diag::sanitize;
use crate::guard::ledger::Scope;
use crate::guard::words;
use crate::inventory::value::Inv;
use crate::plan::{ChangeKind, LimitKind, LimitState, Plan};

/// Rows of cells, without a heading.
pub type Cells = Vec<Vec<String>>;

/// What is counted of one project.
#[derive(Default)]
struct Counts {
    /// The hosts that have changes; one that comes from another project counts in both, and in total once.
    hosts: HashSet<Inv>,
    /// RRsets that are created, modified, deleted.
    changes: [usize; 3],
    /// Hosts that are blocked, skipped.
    left: [usize; 2],
}

/// Counts by project, sorted, and then in total where there are several; `?` stands for hosts whose row is too bad to tell
/// their project.
pub fn summary(plan: &Plan) -> Cells {
    let mut projects: BTreeMap<&str, Counts> = BTreeMap::new();
    for change in &plan.changes {
        let counts = projects.entry(&change.project).or_default();
        counts.hosts.extend(change.host);
        counts.changes[match change.kind {
            ChangeKind::Create { .. } => 0,
            ChangeKind::Modify { .. } => 1,
            ChangeKind::Delete { .. } => 2,
        }] += 1;
    }
    for blocked in &plan.blocked {
        projects.entry(&blocked.project).or_default().left[0] += 1;
    }
    for skipped in &plan.skipped {
        projects.entry(&skipped.project).or_default().left[1] += 1;
    }
    let mut total = Counts::default();
    for counts in projects.values() {
        total.hosts.extend(&counts.hosts);
        total.changes.iter_mut().zip(counts.changes).for_each(|(sum, more)| *sum += more);
        total.left.iter_mut().zip(counts.left).for_each(|(sum, more)| *sum += more);
    }
    let label = |project: &str| if project.is_empty() { "?".to_owned() } else { sanitize(project) };
    let rows = projects.iter().map(|(project, counts)| row(label(project), counts));
    let total = (projects.len() > 1).then(|| row("total".to_owned(), &total));
    rows.chain(total).collect()
}

/// A row of the summary; a dash stands for nothing, so that the eye finds what there is.
fn row(first: String, counts: &Counts) -> Vec<String> {
    let numbers = [&[counts.hosts.len()][..], &counts.changes, &counts.left].concat();
    let cell = |number| if number == 0 { "-".to_owned() } else { usize::to_string(&number) };
    std::iter::once(first).chain(numbers.into_iter().map(cell)).collect()
}

/// The limits that a plan comes near: max, used, planned, and the name last, for it may be long.
pub fn limits(plan: &Plan) -> Cells {
    let row = |limit: &LimitState| {
        let numbers = [limit.max, limit.used, limit.planned].map(|number| number.to_string());
        let name = sanitize(&limit.name());
        let name = if limit.exceeded { format!("{name}, exceeded") } else { name };
        numbers.into_iter().chain([name]).collect()
    };
    plan.limits.iter().filter(|limit| is_near(plan, limit)).map(row).collect()
}

/// Whether a plan comes near a limit: of hosts, that it changes any of them; of a share, that it takes more than half.
fn is_near(plan: &Plan, limit: &LimitState) -> bool {
    limit.exceeded
        || match Scope::parse(&limit.scope).filter(|_| limit.counts == LimitKind::Hosts) {
            Some(scope) => plan.changes.iter().any(|change| scope.has(&change.project)),
            None => limit.planned.saturating_mul(2) > limit.max,
        }
}

/// Of each limit that is exceeded what is said of it, and what lets the plan through.
pub fn exceeded(plan: &Plan) -> Cells {
    let words = |limit: &LimitState| {
        vec![sanitize(&words::says(limit)), sanitize(&format!("`{}` lets this plan through", words::allow(limit)))]
    };
    plan.limits.iter().filter(|limit| limit.exceeded).map(words).collect()
}

/// The zones: serial, RRsets, and the name last, for it may be long.
pub fn zones(plan: &Plan) -> Cells {
    let row = |zone: &crate::plan::ZoneSeen| {
        vec![zone.serial.to_string(), zone.rrsets.to_string(), sanitize(&zone.zone.to_string())]
    };
    plan.zones.iter().map(row).collect()
}
