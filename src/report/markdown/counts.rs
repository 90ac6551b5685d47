//! How much a plan changes: by project, by cause, by datacenter.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::counts::{self, PlanCounts, is_near};
use super::super::summary::{SubjectCounts, counted};
use super::ReportSubject;
use super::escape::{cell, code, subject_label};
use super::fit::PagePart;
use crate::inventory::value::Inv;
use crate::plan::{ChangeClass, ComparisonBase, LimitState, Plan, Review};

/// How many hexadecimal digits of a commit are shown: what git shows of one in a large repository.
const DIGITS: usize = 12;

/// How many projects are seen at once; a longer table is folded, so that the causes are seen.
const SEEN: usize = 10;

/// A table of the projects that have changes; those of most changes are shown where there is no room for all.
pub fn projects(plan: &Plan) -> PagePart<'_> {
    let projects = counts::by_project(plan);
    let mut order: Vec<&str> =
        projects.iter().filter(|(_, counts)| counts.all_changes() > 0).map(|(project, _)| *project).collect();
    order.sort_by_key(|project| {
        let PlanCounts { left: [blocked, skipped], .. } = projects[project];
        Reverse((projects[project].all_changes(), blocked, skipped))
    });
    let items = order.len();
    let text = move |shown: usize| {
        let table = table(&projects, &order, shown);
        match shown {
            0..=SEEN => table,
            _ => format!("<details>\n<summary>{}</summary>\n\n{table}\n</details>\n", counted(items, "project")),
        }
    };
    PagePart { name: "projects", items, share: 25, text: Box::new(text) }
}

/// The table with the first `shown` projects of an order, sorted by name, the sum of the others, and that of all.
fn table(projects: &BTreeMap<&str, PlanCounts>, order: &[&str], shown: usize) -> String {
    if shown == 0 {
        return if order.is_empty() {
            String::new()
        } else {
            format!("{}, not shown here.\n", counted(order.len(), "project"))
        };
    }
    let quiet: Vec<&PlanCounts> = projects.values().filter(|counts| counts.all_changes() == 0).collect();
    let (shown, rest) = order.split_at(shown);
    let shown: HashSet<&str> = shown.iter().copied().collect();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for (project, counts) in projects.iter().filter(|(project, _)| shown.contains(*project)) {
        // The row of such a host is too bad to say its project.
        let name = if project.is_empty() { "unknown".to_owned() } else { cell(project) };
        rows.push((name, counts.cells()));
    }
    if !rest.is_empty() {
        let sum = PlanCounts::sum(rest.iter().map(|project| &projects[project]));
        rows.push((counted(rest.len(), "more project"), sum.cells()));
    }
    if !quiet.is_empty() {
        rows.push((format!("{} without changes", counted(quiet.len(), "project")), PlanCounts::sum(quiet).cells()));
    }
    if rows.len() > 1 {
        let total = PlanCounts::sum(projects.values()).cells();
        rows.push(("**total**".to_owned(), total.into_iter().map(|cell| format!("**{cell}**")).collect()));
    }
    let what = PlanCounts::sum(projects.values()).heading();
    let head =
        format!("| project | {what} | create | modify | delete | blocked | skipped |\n|:--|--:|--:|--:|--:|--:|--:|\n");
    let row = |(name, cells): (String, Vec<String>)| format!("| {name} | {} |\n", cells.join(" | "));
    head + &rows.into_iter().map(row).collect::<String>()
}

/// What the difference to a base causes; the items are the hosts that it blocks.
pub fn against<'a>(ReportSubject { plan, causes, review, .. }: &'a ReportSubject<'a>) -> PagePart<'a> {
    let newly_blocked = review.as_ref().map(|review| review.newly_blocked.as_slice()).unwrap_or_default();
    let text = move |shown: usize| {
        let Some(Review { against: ComparisonBase::Base { name, commit }, settled, .. }) = review else {
            return String::new();
        };
        let commit = commit.as_ref().map(|commit| commit.chars().take(DIGITS).collect::<String>());
        let commit = commit.map(|commit| format!(" ({})", code(&commit))).unwrap_or_default();
        let of_class = |class| causes.of_class(class).all_changes();
        let [caused, mixed, pending] = [ChangeClass::Caused, ChangeClass::Mixed, ChangeClass::Pending].map(of_class);
        let mut out = format!(
            "Against {}{commit}: **{caused} caused by this change set, {mixed} caused in part, {pending} pending before.**",
            code(name),
        );
        if *settled > 0 {
            let settled = counted(usize::try_from(*settled).unwrap_or(usize::MAX), "RRset");
            out.push_str(&format!(" It settles {settled} that would be changed without it."));
        }
        if !newly_blocked.is_empty() {
            let hosts: Vec<String> =
                newly_blocked[..shown].iter().map(|subject| subject_label(plan, subject)).collect();
            let more = newly_blocked.len() - shown;
            let named = match (shown, more) {
                (0, _) => String::new(),
                (_, 0) => format!(": {}", hosts.join(", ")),
                (_, more) => format!(": {} and {more} more", hosts.join(", ")),
            };
            out.push_str(&format!(
                " **It blocks {} that the base does not{named}.**",
                SubjectCounts::of(newly_blocked).in_words()
            ));
        }
        out + "\n"
    };
    // More are in the list of blocked hosts, with what to do.
    PagePart { name: "base", items: newly_blocked.len().min(20), share: 25, text: Box::new(text) }
}

/// How many hosts have changes in each datacenter, those of most hosts first.
pub fn locations<'a>(ReportSubject { plan, .. }: &'a ReportSubject<'a>) -> PagePart<'a> {
    let changed: BTreeSet<Inv> = plan.changes.iter().filter_map(|change| change.subject.host()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in changed.iter().filter_map(|host| plan.hosts.get(host)) {
        *counts.entry(&host.location).or_default() += 1;
    }
    let mut locations: Vec<(&str, usize)> = counts.into_iter().collect();
    locations.sort_by_key(|(_, hosts)| Reverse(*hosts));
    let items = locations.len();
    let text = move |shown: usize| {
        let (shown, rest) = locations.split_at(shown);
        let mut parts: Vec<String> = Vec::new();
        for (location, hosts) in shown {
            parts.push(format!("{} {}", code(location), counted(*hosts, "host")));
        }
        if !rest.is_empty() {
            let more = if parts.is_empty() { "datacenter" } else { "more datacenter" };
            parts.push(format!("{}, not shown here", counted(rest.len(), more)));
        }
        if parts.is_empty() { String::new() } else { format!("By datacenter: {}.\n", parts.join(", ")) }
    };
    PagePart { name: "datacenters", items, share: 25, text: Box::new(text) }
}

/// A table of the limits that a plan comes near and does not exceed.
pub fn limits(plan: &Plan) -> PagePart<'_> {
    let near: Vec<&LimitState> = plan.limits.iter().filter(|limit| !limit.exceeded && is_near(plan, limit)).collect();
    let items = near.len();
    let text = move |shown: usize| {
        let (shown, rest) = near.split_at(shown);
        let mut out = String::new();
        if !shown.is_empty() {
            out.push_str("| limit that is near | used | planned | max |\n|:--|--:|--:|--:|\n");
        }
        for limit in shown {
            let LimitState { used, planned, max, .. } = limit;
            out.push_str(&format!("| {} | {used} | {planned} | {max} |\n", cell(&limit.name())));
        }
        match rest.len() {
            0 => out,
            more if shown.is_empty() => format!("{} with room left, not shown here.\n", counted(more, "limit")),
            more => format!("{out}\nAnd {} with room left, not shown here.\n", counted(more, "more limit")),
        }
    };
    PagePart { name: "limits", items, share: 25, text: Box::new(text) }
}
