//! The verdict on a plan in one sentence, the same in every format and at the prompt.
//!
//! Comes in: a plan and its outlook. Goes out: text without a final full stop, with codes and names in backticks.

use std::collections::BTreeSet;

use super::counts::PlanCounts;
use super::outages::{no_plan, short_of};
use super::outlook::PlanOutlook;
use super::summary::{SubjectCounts, counted};
use crate::diag::sanitize;
use crate::guard::LIMIT_EXCEEDED;
use crate::plan::{LimitState, NoticeCode, Plan, WaitCode, ZoneAction};

/// What a plan comes to: `Plan: 54 to create, 26 to modify, 30 to delete for 28 of 111 hosts; 24 blocked, 7 skipped`.
///
/// A plan without changes says so in place of the numbers. One for which no zone could be read says that there is no
/// plan. The numbers of a view are those of the shown changes, and the sentence says how many are hidden.
pub fn headline(plan: &Plan, outlook: &PlanOutlook) -> String {
    if let Some(no_plan) = no_plan(plan) {
        return no_plan;
    }
    let counts = PlanCounts::of_plan(plan);
    let (left, short_of) = (left(plan), short_of(plan));
    let clauses = (!left.is_empty()).then(|| left.join(", ")).into_iter().chain(short_of);
    let clauses: String = clauses.map(|clause| format!("; {clause}")).collect();
    let zones = zones(plan);
    if counts.all_changes() == 0 && zones.is_empty() {
        let matches = clauses.is_empty() && refused(plan, outlook).is_none();
        return format!("{}{clauses}{}", no_changes(plan, outlook, matches), hidden(outlook));
    }
    let what = match plan.undoes {
        Some(apply) => format!("Undo of apply {apply}"),
        None if is_view(outlook) => "Part of the plan".to_owned(),
        None => "Plan".to_owned(),
    };
    let [create, modify, delete] = counts.changes;
    let rrsets = (counts.all_changes() > 0).then(|| {
        let hosts = of_hosts(&counts, plan.fleet);
        format!("{create} to create, {modify} to modify, {delete} to delete {hosts}")
    });
    let parts: Vec<String> = zones.into_iter().chain(rrsets).collect();
    format!("{what}: {}{clauses}{}", parts.join("; "), hidden(outlook))
}

/// The zones that are made, listed in a catalog, or deleted, in numbers; empty where there are none.
fn zones(plan: &Plan) -> Vec<String> {
    let count = |action: ZoneAction, what: &str| {
        let zones = plan.zone_changes.iter().filter(|change| change.action == action);
        let zones: BTreeSet<String> = zones.map(|change| format!("{}/{}", change.pool, change.zone)).collect();
        (!zones.is_empty()).then(|| format!("{} {what}", counted(zones.len(), "zone")))
    };
    let made = count(ZoneAction::Create, "to make");
    let listed = count(ZoneAction::List, "to list in the catalog");
    made.into_iter().chain(listed).chain(count(ZoneAction::Delete, "to delete")).collect()
}

/// Why a plan would be refused: `Refused by the limit `global/1h``; none where nothing refuses it.
pub fn refused(plan: &Plan, outlook: &PlanOutlook) -> Option<String> {
    let exceeded: Vec<&LimitState> = plan.limits.iter().filter(|limit| limit.exceeded).collect();
    // The plan names each limit, where the refusal sums them up.
    let refusal = outlook.refusal.as_ref().filter(|refusal| exceeded.is_empty() || refusal.code != LIMIT_EXCEEDED);
    match (refusal, exceeded.as_slice()) {
        (Some(refusal), _) => Some(format!("Refused by `{}`", refusal.code)),
        (None, []) => None,
        (None, [limit]) => Some(format!("Refused by the limit `{}`", sanitize(&limit.name()))),
        (None, limits) => Some(format!("Refused by {} limits", limits.len())),
    }
}

/// What has changes: `for 28 of 111 hosts and 3 names in files`, without 111 where there is no host; names that no host has have changes, too.
fn of_hosts(counts: &PlanCounts, fleet: Option<u64>) -> String {
    let subjects = counts.subjects();
    if subjects == SubjectCounts::default() {
        return "at unclaimed names".to_owned();
    }
    format!("for {}", subjects.of_fleet(fleet.unwrap_or_default() as usize))
}

/// Says that there is nothing to change; `matches` says whether live DNS is as the whole inventory says.
fn no_changes(plan: &Plan, outlook: &PlanOutlook, matches: bool) -> String {
    match plan.undoes {
        _ if is_view(outlook) => "No changes in this part of the plan".to_owned(),
        Some(apply) if plan.notices.is_empty() => format!("No changes: apply {apply} needs no undo"),
        Some(apply) => format!("No changes: what is left of apply {apply} was edited since, see the notices"),
        None => match (&outlook.idle, plan.fleet) {
            (Some(why), _) => format!("No changes: {why}"),
            _ if matches => "No changes: live DNS matches the inventory".to_owned(),
            (None, Some(fleet @ 1..)) => format!("No changes for {}", counted(fleet as usize, "host")),
            (None, _) => "No changes".to_owned(),
        },
    }
}

/// The hosts, RRsets and names that get no change, in numbers; empty where there are none.
fn left(plan: &Plan) -> Vec<String> {
    let hosts = [(plan.blocked.len(), "blocked"), (plan.skipped.len(), "skipped")];
    let hosts = hosts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    let waiting = (!plan.delayed.is_empty()).then(|| format!("{} waiting", counted(plan.delayed.len(), "RRset")));
    let misfits = plan.waiting.iter().filter(|waiting| waiting.code == WaitCode::DoesNotFit).count();
    let later = plan.waiting.len() - misfits;
    let waves = [(later, "in later waves"), (misfits, "that fit no wave")];
    let waves = waves.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    let left_behind = plan.notices.iter().filter(|notice| notice.code == NoticeCode::LeftBehind);
    // Zones of one name at several records may each have a notice of it.
    let left_behind = left_behind.map(|notice| &notice.name).collect::<BTreeSet<_>>().len();
    let edited = plan.notices.iter().filter(|notice| notice.code == NoticeCode::EditedSince).count();
    let edited = (edited > 0 && plan.undoes.is_none()).then(|| format!("{} left as edited", counted(edited, "RRset")));
    let former = plan.notices.iter().filter(|notice| notice.code == NoticeCode::FormerNames).count();
    let former = (former > 0).then(|| format!("former names of {} go later", counted(former, "set")));
    let left_behind = (left_behind > 0).then(|| format!("{} left behind", counted(left_behind, "name")));
    hosts.chain(waves).chain(waiting).chain(former).chain(left_behind).chain(edited).collect()
}

/// Whether only some of a plan's changes are shown.
fn is_view(outlook: &PlanOutlook) -> bool {
    outlook.hidden.is_some()
}

/// How many changes a view hides.
fn hidden(outlook: &PlanOutlook) -> String {
    match outlook.hidden {
        None | Some(0) => String::new(),
        Some(hidden) => format!("; {} not shown", counted(hidden, "more change")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture;

    /// The headline of a plan of which all is shown.
    fn whole(plan: &Plan) -> String {
        headline(plan, &PlanOutlook::default())
    }

    /// A plan for which everything could be read.
    fn known() -> Plan {
        Plan { notices: Vec::new(), ..fixture::fleet() }
    }

    #[test]
    fn a_plan_says_what_it_changes_for_how_many_hosts() {
        assert_eq!(
            whole(&known()),
            "Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped"
        );
        let undo = Plan { undoes: Some(7), fleet: None, blocked: vec![], skipped: vec![], ..known() };
        assert_eq!(whole(&undo), "Undo of apply 7: 6 to create, 4 to modify, 4 to delete for 5 hosts");
    }

    #[test]
    fn a_plan_without_changes_says_so_first() {
        assert_eq!(whole(&fixture::empty()), "No changes: live DNS matches the inventory");
        let left = Plan { changes: Vec::new(), ..known() };
        assert_eq!(whole(&left), "No changes for 62000 hosts; 50 blocked, 1205 skipped");
        assert_eq!(whole(&Plan { undoes: Some(7), ..fixture::empty() }), "No changes: apply 7 needs no undo");
        let unread = Plan { notices: fixture::fleet().notices, ..fixture::empty() };
        assert_eq!(
            whole(&unread),
            "No changes for 62000 hosts; no plan for what needs source `eine`, which could not be read"
        );
    }

    #[test]
    fn a_view_says_how_much_it_hides() {
        let outlook = PlanOutlook { hidden: Some(3), ..PlanOutlook::default() };
        let plan = Plan { blocked: vec![], skipped: vec![], ..known() };
        assert_eq!(
            headline(&plan, &outlook),
            "Part of the plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 3 more changes not shown"
        );
    }

    #[test]
    fn what_refuses_a_plan_is_named() {
        assert_eq!(
            refused(&fixture::fleet(), &PlanOutlook::default()).as_deref(),
            Some("Refused by the limit `project:search/1h`")
        );
        assert_eq!(refused(&fixture::empty(), &PlanOutlook::default()), None);
    }
}
