//! What a plan is about, where that is not the whole fleet or not all of it is shown.

use super::super::scope;
use super::super::summary::counted;
use super::escape::{code, host};
use crate::plan::{Plan, PlanScope};

/// How many octets the names of hosts or projects may take; of more there is a count.
const NAMED: usize = 120;

/// Lines that keep a reader from taking a plan for more than it is.
pub fn of(plan: &Plan, hidden: Option<usize>) -> Vec<String> {
    let view = hidden.map(|hidden| {
        let more = counted(hidden, "more change");
        let are = if hidden == 1 { "is" } else { "are" };
        format!("- **a view:** {more} of the plan {are} not shown and not counted here\n")
    });
    let undoes = plan.undoes.map(|apply| format!("- **an undo:** it takes apply {apply} back\n"));
    view.into_iter().chain(undoes).chain(plan.only.as_ref().map(|only| narrowed(plan, only))).collect()
}

/// What the command line narrowed a plan to.
fn narrowed(plan: &Plan, only: &PlanScope) -> String {
    let hosts: Vec<String> = only.hosts().iter().map(|inv| host(plan, *inv)).collect();
    let projects: Vec<String> = only.projects.iter().map(|project| code(project)).collect();
    let others: Vec<String> = only.others().map(|other| code(&other)).collect();
    let narrowed = scope::in_words(listed("host", &hosts), listed("subject", &others), listed("project", &projects));
    let to = narrowed.strip_prefix("Narrowed ").expect("it begins so");
    format!("- **narrowed** {to}: nothing else was looked at\n")
}

/// How many there are, with them where these are short; none where there are none.
fn listed(what: &str, items: &[String]) -> Option<String> {
    let names = items.join(", ");
    let names = if names.len() <= NAMED { format!(" ({names})") } else { String::new() };
    (!items.is_empty()).then(|| format!("{}{names}", counted(items.len(), what)))
}
