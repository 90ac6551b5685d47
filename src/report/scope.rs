//! What a plan is about, where that is not the whole fleet or not all of it is shown.

use super::outlook::PlanOutlook;
use super::summary::counted;
use crate::plan::{Plan, PlanScope};

/// How many names one line holds.
const SHOWN: usize = 20;

/// Sentences that keep a reader from taking a plan for more than it is; not sanitized.
pub fn scope(plan: &Plan, outlook: &PlanOutlook) -> Vec<String> {
    let view = outlook.hidden.filter(|hidden| *hidden > 0).map(|hidden| {
        let are = if hidden == 1 { "is" } else { "are" };
        format!("A view: {} of the plan {are} not shown", counted(hidden, "more change"))
    });
    let undoes = plan.undoes.map(|apply| format!("It undoes apply {apply}"));
    view.into_iter().chain(undoes).chain(plan.only.as_ref().map(narrowed)).collect()
}

/// What the command line narrowed a plan to: `Narrowed to hosts 1, 2 of project web`.
pub fn narrowed(only: &PlanScope) -> String {
    let list = |what: &str, items: Vec<String>| {
        let shown = items[..items.len().min(SHOWN)].join(", ");
        let more = items.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{what}{} {shown}{more}", if items.len() == 1 { "" } else { "s" })
    };
    let hosts = only.hosts().iter().map(ToString::to_string).collect::<Vec<_>>();
    let listed = |what, items: Vec<String>| (!items.is_empty()).then(|| list(what, items));
    in_words(listed("host", hosts), listed("subject", others(only)), listed("project", only.projects.clone()))
}

/// The subjects that are no hosts, and the patterns, as texts name them.
pub fn others(only: &PlanScope) -> Vec<String> {
    only.others().map(|text| format!("`{text}`")).collect()
}

/// What is said of hosts and of other subjects, and of the projects that these are of.
pub fn in_words(hosts: Option<String>, others: Option<String>, projects: Option<String>) -> String {
    let subjects: Vec<String> = hosts.into_iter().chain(others).collect();
    let subjects = (!subjects.is_empty()).then(|| subjects.join(" and "));
    format!("Narrowed to {}", subjects.into_iter().chain(projects).collect::<Vec<_>>().join(" of "))
}
