//! What a plan is about, where that is not the whole fleet or not all of it is shown.

use super::super::summary::counted;
use super::escape::code;
use crate::plan::{Only, Plan};

/// How many hosts or projects are named (no official source).
const NAMED: usize = 5;

/// Sentences that keep a reader from taking a plan for more than it is.
pub fn of(plan: &Plan, is_view: bool) -> Vec<String> {
    let undoes = plan.undoes.map(|apply| format!("It undoes apply {apply}."));
    let view = is_view.then(|| "**This is a view:** only some of the plan's changes are shown and counted.".to_owned());
    undoes.into_iter().chain(plan.only.as_ref().map(narrowed)).chain(view).collect()
}

/// What the command line narrowed a plan to.
fn narrowed(Only { hosts, projects }: &Only) -> String {
    let hosts: Vec<String> = hosts.iter().map(|host| host.0.to_string()).collect();
    let parts = [listed("host", &hosts), listed("project", projects)];
    format!("**Narrowed to {}:** nothing else was looked at.", parts.into_iter().flatten().collect::<Vec<_>>().join(" of "))
}

/// How many there are, and the first few; none where there are none.
fn listed(what: &str, items: &[String]) -> Option<String> {
    let shown: Vec<String> = items.iter().take(NAMED).map(|item| code(item)).collect();
    let more = items.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!items.is_empty()).then(|| format!("{} ({}{more})", counted(items.len(), what), shown.join(", ")))
}
