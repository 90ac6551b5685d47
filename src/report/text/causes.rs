//! The causes of the changes, those of most changes first.

use std::collections::HashSet;

use serde::Serialize;

use super::super::host_label::short_subject;
use super::super::summary::counted;
use super::TextOptions;
use crate::diag::sanitize;
use crate::inventory::value::Inv;
use crate::plan::{Cause, ChangeClass, ComparisonBase, Plan, Review};

/// The causes of one class; all of them where there is no base.
#[derive(Serialize)]
pub struct ClassView {
    /// The heading above them.
    heading: String,
    /// The causes that are shown.
    causes: Vec<CauseView>,
    /// How many more there are.
    more: usize,
    /// How many changes these have.
    more_changes: usize,
}

/// One cause.
#[derive(Serialize)]
struct CauseView {
    /// What it says, where, and how much it changes.
    text: String,
    /// Whether it should make people look twice.
    alarms: bool,
}

/// How many causes of a class are shown without `-v`.
const MAX_CAUSES: usize = 3;

/// What else is new since a base, in sentences.
pub fn since(plan: &Plan, options: &TextOptions) -> Vec<String> {
    let Some(review) = plan.review.as_ref() else { return Vec::new() };
    let Review { settled, newly_blocked, .. } = review;
    let settled = match settled {
        0 => None,
        1 => Some("1 more change was pending before, and is no longer needed".to_owned()),
        count => Some(format!("{count} more changes were pending before, and are no longer needed")),
    };
    let shown = options.shown(newly_blocked.len());
    let hosts: Vec<String> =
        newly_blocked[..shown].iter().map(|subject| sanitize(&short_subject(plan, subject))).collect();
    let more = newly_blocked.len() - shown;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (host, are) = if newly_blocked.len() == 1 { ("host", "is") } else { ("hosts", "are") };
    let blocked = format!("{host} {}{more} {are} blocked because of the differences", hosts.join(", "));
    settled.into_iter().chain((!newly_blocked.is_empty()).then_some(blocked)).collect()
}

/// The causes of a plan's changes, by class.
pub fn causes(plan: &Plan, options: &TextOptions) -> Vec<ClassView> {
    // Without a review the only causes are the reasons, and each change shows its own.
    let Some(review) = &plan.review else { return Vec::new() };
    let of_class = review.causes.chunk_by(|a, b| a.class == b.class);
    let view = |causes: &[Cause]| {
        // Few are enough to judge by: those of most changes come first.
        let shown = if options.verbose { causes.len() } else { causes.len().min(MAX_CAUSES) };
        let (shown, rest) = causes.split_at(shown);
        ClassView {
            heading: heading(review, causes),
            causes: shown.iter().map(|cause| view(plan, cause)).collect(),
            more: rest.len(),
            more_changes: rest.iter().map(|cause| cause.changes.len()).sum(),
        }
    };
    of_class.map(view).collect()
}

/// The heading above the causes of one class.
fn heading(review: &Review, causes: &[Cause]) -> String {
    let name = match &review.against {
        ComparisonBase::Base { name, .. } => sanitize(name),
        ComparisonBase::Journal { .. } | ComparisonBase::Nothing => String::new(),
    };
    let count: usize = causes.iter().map(|cause| cause.changes.len()).sum();
    let changes = counted(count, "change");
    match (causes[0].class, &review.against) {
        (Some(ChangeClass::Caused), _) => format!("Caused by the differences from {name}: {changes}"),
        (Some(ChangeClass::Mixed), _) => format!("Caused in part, and pending before: {changes}"),
        (Some(ChangeClass::Pending), _) => format!("Pending before: {changes}"),
        (None, ComparisonBase::Journal { apply, at }) => format!("Causes, since apply {apply} ({at})"),
        (None, _) => "Causes".to_owned(),
    }
}

/// One cause: `VLAN 604 of … (racktables/l3-tors.txt:412): 40 hosts, 160 changes`.
fn view(plan: &Plan, cause: &Cause) -> CauseView {
    let changed = |change: &u32| plan.changes[*change as usize].subject.host();
    let hosts: HashSet<Inv> = cause.changes.iter().filter_map(changed).collect();
    let places = match cause.places.as_slice() {
        [] => String::new(),
        places => format!(" ({})", sanitize(&places.join(", "))),
    };
    let hosts = if hosts.is_empty() { String::new() } else { format!("{}, ", counted(hosts.len(), "host")) };
    let says = sanitize(&cause.says);
    let text = format!("{says}{places}: {hosts}{}", counted(cause.changes.len(), "change"));
    CauseView { text, alarms: !cause.is_explained }
}
