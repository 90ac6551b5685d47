//! The hosts that get no change, by cause.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::gather::gather;
use super::super::words::Explained as _;
use super::TextOptions;
use crate::diag::sanitize;
use crate::inventory::value::Inv;
use crate::plan::{BlockCode, Blocked, Plan, SkipCode, Skipped};

/// The hosts that are blocked with one code.
#[derive(Serialize)]
pub struct BlockedView {
    /// The code.
    code: &'static str,
    /// What it means.
    brief: &'static str,
    /// How many hosts.
    count: usize,
    /// What to do, and about what, as far as it is shown; what helps most hosts comes first.
    hints: Vec<HintView>,
    /// How many hints there are more.
    more: usize,
    /// How many hosts these help.
    more_hosts: usize,
}

/// The causes of one code that one hint helps against.
#[derive(Serialize)]
struct HintView {
    /// What to do.
    hint: String,
    /// The causes that are shown, those with most hosts first.
    causes: Vec<CauseView>,
    /// How many more causes there are.
    more: usize,
    /// How many hosts these have.
    more_hosts: usize,
}

/// One cause, and the hosts that it blocks.
#[derive(Serialize)]
struct CauseView {
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
    /// Their project, where they have one in common and it is known: a row may be too bad to tell.
    project: Option<String>,
    /// Those that are shown, sorted.
    shown: Vec<u64>,
    /// How many more there are.
    more: usize,
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
pub fn blocked(plan: &Plan, options: &TextOptions) -> Vec<BlockedView> {
    let mut codes: BTreeMap<BlockCode, Vec<&Blocked>> = BTreeMap::new();
    plan.blocked.iter().for_each(|blocked| codes.entry(blocked.code).or_default().push(blocked));
    let view = |(code, all): (BlockCode, Vec<&Blocked>)| {
        let of_hints = gather(&all, |blocked| &blocked.hint);
        let (shown, rest) = of_hints.split_at(options.shown(of_hints.len()));
        BlockedView {
            code: code.as_str(),
            brief: code.words().brief,
            count: all.len(),
            hints: shown.iter().map(|of_hint| hint(of_hint, options)).collect(),
            more: rest.len(),
            more_hosts: rest.iter().map(Vec::len).sum(),
        }
    };
    codes.into_iter().map(view).collect()
}

/// What one hint helps against.
fn hint(of_hint: &[&Blocked], options: &TextOptions) -> HintView {
    let causes = gather(of_hint, |blocked| &blocked.message);
    let (shown, rest) = causes.split_at(options.shown(causes.len()));
    let cause = |of_cause: &Vec<&Blocked>| CauseView {
        message: sanitize(&of_cause[0].message),
        hosts: hosts(of_cause.iter().map(|blocked| (blocked.host, blocked.project.as_str())), options),
    };
    HintView {
        hint: sanitize(&of_hint[0].hint),
        causes: shown.iter().map(cause).collect(),
        more: rest.len(),
        more_hosts: rest.iter().map(Vec::len).sum(),
    }
}

/// Some hosts with their projects, at least one.
fn hosts<'a>(hosts: impl Iterator<Item = (Inv, &'a str)>, options: &TextOptions) -> HostsView {
    let all: Vec<(Inv, &str)> = hosts.collect();
    let shown = options.shown(all.len());
    let project = all[0].1;
    HostsView {
        count: all.len(),
        project: all.iter().all(|(_, other)| !other.is_empty() && *other == project).then(|| sanitize(project)),
        shown: all[..shown].iter().map(|(host, _)| host.0).collect(),
        more: all.len() - shown,
    }
}

/// Gathers the skipped hosts by code and project.
pub fn skipped(plan: &Plan, options: &TextOptions) -> Vec<SkippedView> {
    let mut codes: BTreeMap<SkipCode, BTreeMap<&str, Vec<&Skipped>>> = BTreeMap::new();
    for skipped in &plan.skipped {
        codes.entry(skipped.code).or_default().entry(&skipped.project).or_default().push(skipped);
    }
    let of_project =
        |all: &Vec<&Skipped>| hosts(all.iter().map(|skipped| (skipped.host, skipped.project.as_str())), options);
    let view = |(code, projects): (SkipCode, BTreeMap<&str, Vec<&Skipped>>)| SkippedView {
        code: code.as_str(),
        brief: code.words().brief,
        count: projects.values().map(Vec::len).sum(),
        projects: projects.values().map(of_project).collect(),
    };
    codes.into_iter().map(view).collect()
}
