//! RRsets at names that no host has, and that wait to be deleted.

use serde::Serialize;

use super::super::data;
use super::super::gather::waits;
use super::super::words::ExplainedCode as _;
use super::TextOptions;
use crate::diag::sanitize;
use crate::plan::{DelayedRrset, Plan};

/// The RRsets that wait since one time, until one.
#[derive(Serialize)]
pub struct WaitingView {
    /// Since when, and until when.
    times: String,
    /// Those that are shown, each with whose it was and by which rule it goes.
    rrsets: Vec<String>,
    /// How many more there are.
    more: usize,
}

/// What waits, by its times.
pub fn waiting(plan: &Plan, options: &TextOptions) -> Vec<WaitingView> {
    let view = |(times, all): (String, Vec<&DelayedRrset>)| {
        let shown = options.shown(all.len());
        let rrsets = all[..shown].iter().map(|waiting| rrset(waiting)).collect();
        WaitingView { times, rrsets, more: all.len() - shown }
    };
    waits(plan).into_iter().map(view).collect()
}

/// An RRset that waits, with whose it was.
fn rrset(waiting: &DelayedRrset) -> String {
    let DelayedRrset { key, subject, project, rule, .. } = waiting;
    let rrset = data::rrset(key.rtype, key.owner.as_name());
    let host = subject.host().map(|host| format!("host {host} of ")).unwrap_or_default();
    format!("{rrset}: {} of {host}{}", rule.words().title, sanitize(project))
}
