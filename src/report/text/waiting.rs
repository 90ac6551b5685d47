//! RRsets at names that no host has, and that wait to be deleted.

use serde::Serialize;

use super::super::data;
use super::super::words::ExplainedCode as _;
use super::TextOptions;
use crate::diag::sanitize;
use crate::plan::{Plan, WaitingRrset};

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

/// Gathers what waits by its times: what is due first comes first, and last what no apply has planned to delete yet.
pub fn waiting(plan: &Plan, options: &TextOptions) -> Vec<WaitingView> {
    let mut sorted: Vec<&WaitingRrset> = plan.waiting.iter().collect();
    sorted.sort_by_key(|waiting| (waiting.due.is_none(), waiting.due, waiting.since));
    let of_times = sorted.chunk_by(|a, b| (a.due, a.since) == (b.due, b.since));
    let view = |all: &[&WaitingRrset]| {
        let shown = options.shown(all.len());
        WaitingView {
            times: match all[0].since.zip(all[0].due) {
                Some((since, due)) => format!("since {since}, due {due}"),
                None => "the wait begins when this plan is applied".to_owned(),
            },
            rrsets: all[..shown].iter().map(|waiting| rrset(waiting)).collect(),
            more: all.len() - shown,
        }
    };
    of_times.map(view).collect()
}

/// An RRset that waits, with whose it was.
fn rrset(waiting: &WaitingRrset) -> String {
    let WaitingRrset { key, subject, project, rule, .. } = waiting;
    let rrset = data::rrset(key.rtype, key.owner.as_name());
    let host = subject.host().map(|host| format!("host {host} of ")).unwrap_or_default();
    format!("{rrset}: {} of {host}{}", rule.words().title, sanitize(project))
}
