//! What people call a host: its name, with its inventory number behind it.
//!
//! Comes in: a plan and an inventory number. Goes out: text, not sanitized.

use crate::claim::Subject;
use crate::inventory::value::Inv;
use crate::plan::{Change, Plan, Rule};

/// The name of a host and its number: `sas0-0005.search.example.net. (100105)`; `100105` where the plan knows no name. Not
/// sanitized.
pub fn host_label(plan: &Plan, host: Inv) -> String {
    match plan.name_of(host) {
        Some(name) => format!("{name} ({host})"),
        None => host.to_string(),
    }
}

/// A host in a sentence: `sas0-0005.search.example.net. (100105)`; `host 100105` where the plan knows no name. Not sanitized.
pub fn host_in_words(plan: &Plan, host: Inv) -> String {
    match plan.name_of(host) {
        Some(_) => host_label(plan, host),
        None => format!("host {host}"),
    }
}

/// A host in a short list: the first label of its name, `sas0-0005`, which commands take, too; else its number. Not sanitized.
pub fn short_label(plan: &Plan, host: Inv) -> String {
    let label = plan.name_of(host).and_then(|name| name.split('.').next()).filter(|label| !label.is_empty());
    label.map_or_else(|| host.to_string(), str::to_owned)
}

/// A subject, as [`host_label`] shows a host.
pub fn subject_label(plan: &Plan, subject: &Subject) -> String {
    subject.host().map_or_else(|| stated_label(subject), |host| host_label(plan, host))
}

/// A subject, as [`host_in_words`] shows a host.
pub fn subject_in_words(plan: &Plan, subject: &Subject) -> String {
    subject.host().map_or_else(|| stated_label(subject), |host| host_in_words(plan, host))
}

/// A subject, as [`short_label`] shows a host.
pub fn short_subject(plan: &Plan, subject: &Subject) -> String {
    let stated = || subject.stated_name().map_or_else(|| subject.to_string(), ToString::to_string);
    subject.host().map_or_else(stated, |host| short_label(plan, host))
}

/// A name that a file states, with what states it: `www.example.net. (apps/prod/web)`; a pod or an endpoint with its set, and
/// a name that nothing has as its text.
fn stated_label(subject: &Subject) -> String {
    match (subject.stated_name(), subject.in_words()) {
        (Some(name), Some(by)) => format!("{name} ({by})"),
        (None, Some(words)) => words,
        (_, None) => subject.to_string(),
    }
}

/// A subject with its project: `host 7 of search`, `static in search`, `unclaimed name in search`.
pub fn of_project(subject: &Subject, project: &str) -> String {
    match subject.in_words() {
        Some(words) if subject.pod_set().is_some() => format!("{words} in {project}"),
        Some(words) => format!("{words} of {project}"),
        None => format!("unclaimed name in {project}"),
    }
}

/// Whether a change removes a name that no pod has.
pub fn is_without_pod(change: &Change) -> bool {
    change.rules().any(|rule| rule == Rule::NoPod)
}

/// What has none of the names at which a change of no host and no pod is: `host`, `pod`, `host or pod`. An undo does not know it.
pub fn without(change: &Change) -> &'static str {
    match change {
        change if is_without_pod(change) => "pod",
        change if change.rules().any(|rule| rule == Rule::Undo) => "host or pod",
        _ => "host",
    }
}

/// What the changes of something other than a host are below: `pod a1 of shop`, a name that a file states, or what has none of
/// the names. Not sanitized.
pub fn heading_of_other(change: &Change) -> String {
    if change.subject.is_stated() {
        stated_label(&change.subject)
    } else if is_without_pod(change) {
        "Names that no pod has".to_owned()
    } else {
        format!("Names without a {}", without(change))
    }
}
