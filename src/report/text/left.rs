//! The hosts that get no change, by cause, in full.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::gather::gather;
use super::super::host_label::subject_in_words;
use super::super::summary::SubjectCounts;
use super::super::words::ExplainedCode as _;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::plan::{BlockCode, BlockedSubject, Plan, SkipCode, SkippedSubject};

/// The hosts that are blocked with one code.
#[derive(Serialize)]
pub struct BlockedView {
    /// The code.
    code: &'static str,
    /// What it means.
    brief: &'static str,
    /// How many hosts.
    count: usize,
    /// What to do, and about what; what helps most hosts comes first.
    hints: Vec<HintView>,
}

/// The causes of one code that one hint helps against.
#[derive(Serialize)]
struct HintView {
    /// What to do.
    hint: String,
    /// The causes, those with most hosts first.
    causes: Vec<BlockCauseView>,
}

/// One cause, and the hosts that it blocks.
#[derive(Serialize)]
struct BlockCauseView {
    /// What is wrong.
    message: String,
    /// The hosts.
    hosts: HostsView,
}

/// Some hosts.
#[derive(Serialize)]
struct HostsView {
    /// How many there are.
    count: usize,
    /// The same in words, by kind.
    what: String,
    /// Their project, where they have one in common and it is known: a row may be too bad to tell.
    project: Option<String>,
    /// The hosts, sorted by number.
    labels: Vec<String>,
}

/// The hosts that are skipped with one code.
#[derive(Serialize)]
pub struct SkippedView {
    /// The code.
    code: &'static str,
    /// What it means.
    brief: &'static str,
    /// How many hosts.
    count: usize,
    /// The hosts by project.
    projects: Vec<HostsView>,
}

/// Gathers the blocked hosts by code, hint and message; the codes in the order in which they are tried.
pub fn blocked(plan: &Plan) -> Vec<BlockedView> {
    let mut codes: BTreeMap<BlockCode, Vec<&BlockedSubject>> = BTreeMap::new();
    plan.blocked.iter().for_each(|blocked| codes.entry(blocked.code).or_default().push(blocked));
    let view = |(code, all): (BlockCode, Vec<&BlockedSubject>)| {
        let of_hints = gather(&all, |blocked| &blocked.hint);
        let hints = of_hints.iter().map(|of_hint| hint(plan, of_hint)).collect();
        BlockedView { code: code.as_str(), brief: code.words().brief, count: all.len(), hints }
    };
    codes.into_iter().map(view).collect()
}

/// What one hint helps against.
fn hint(plan: &Plan, of_hint: &[&BlockedSubject]) -> HintView {
    let causes = gather(of_hint, |blocked| &blocked.message);
    let cause = |of_cause: &Vec<&BlockedSubject>| BlockCauseView {
        message: sanitize(&of_cause[0].message),
        hosts: hosts(plan, of_cause.iter().map(|blocked| (&blocked.subject, blocked.project.as_str()))),
    };
    HintView { hint: sanitize(&of_hint[0].hint), causes: causes.iter().map(cause).collect() }
}

/// Some hosts with their projects, at least one.
fn hosts<'a>(plan: &Plan, hosts: impl Iterator<Item = (&'a Subject, &'a str)>) -> HostsView {
    let all: Vec<(&Subject, &str)> = hosts.collect();
    let project = all[0].1;
    HostsView {
        count: all.len(),
        what: SubjectCounts::of(all.iter().map(|(subject, _)| *subject)).in_words(),
        project: all.iter().all(|(_, other)| !other.is_empty() && *other == project).then(|| sanitize(project)),
        labels: all.iter().map(|(subject, _)| sanitize(&subject_in_words(plan, subject))).collect(),
    }
}

/// Gathers the skipped hosts by code and project.
pub fn skipped(plan: &Plan) -> Vec<SkippedView> {
    let mut codes: BTreeMap<SkipCode, BTreeMap<&str, Vec<&SkippedSubject>>> = BTreeMap::new();
    for skipped in &plan.skipped {
        codes.entry(skipped.code).or_default().entry(&skipped.project).or_default().push(skipped);
    }
    let of_project = |all: &Vec<&SkippedSubject>| {
        hosts(plan, all.iter().map(|skipped| (&skipped.subject, skipped.project.as_str())))
    };
    let view = |(code, projects): (SkipCode, BTreeMap<&str, Vec<&SkippedSubject>>)| SkippedView {
        code: code.as_str(),
        brief: code.words().brief,
        count: projects.values().map(Vec::len).sum(),
        projects: projects.values().map(of_project).collect(),
    };
    codes.into_iter().map(view).collect()
}
