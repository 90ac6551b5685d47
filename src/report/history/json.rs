//! The past applies of a journal, as JSON. `schemas/history.schema.json` describes it.

use serde::Serialize;

use crate::dns::ZoneName;
use crate::document::{object_in_documents, pretty};
use crate::inventory::value::Time;
use crate::report::applies::ApplyView;
use crate::state::approvals::NO_SERVICE;
use crate::state::{
    ApprovalGiven, GateAsked, History, HistoryAnswer, LeftSubject, LiftedLimit, PastApply, RrsetStanding, SentChange,
    SentFate, SentUpdate,
};

/// What `format` says.
const FORMAT: &str = "zonewright.history/1";

/// Renders a history.
pub fn render(history: &History) -> String {
    pretty(history)
}

object_in_documents!(History, history => {
    "format": FORMAT,
    "tool": history.tool,
    "created": history.created,
    "state": history.place,
    "asked": history.told,
    "projects": history.projects,
    "zones": history.zones,
    "resumable": history.resumable,
    "applies": entries(history),
    "more": matches!(history.told, HistoryAnswer::Applies(_, true)),
});

// What was asked for: one of these, or none for all applies.
object_in_documents!(HistoryAnswer, told => {
    "apply": match told {
        HistoryAnswer::Apply(one) => Some(one.summary.id),
        _ => None,
    },
    "hosts": match told {
        HistoryAnswer::Hosts(hosts, _) => hosts.iter().map(|host| host.0).collect(),
        _ => Vec::new(),
    },
    "name": match told {
        HistoryAnswer::Name(name, _) => Some(name),
        _ => None,
    },
});

/// An apply, with what it did where that is asked for.
#[derive(Debug, Serialize)]
struct EntryView<'a> {
    /// The apply.
    #[serde(flatten)]
    apply: ApplyView<'a>,
    /// Its updates.
    #[serde(skip_serializing_if = "Option::is_none")]
    updates: Option<Vec<UpdateView<'a>>>,
    /// The hosts that it left.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a [LeftSubject]>,
    /// The limits that were lifted for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a [LiftedLimit]>,
    /// What gates said before its waves.
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<&'a [GateAsked]>,
    /// What services said of its hosts before its waves.
    #[serde(skip_serializing_if = "<[ApprovalGiven]>::is_empty")]
    approvals: &'a [ApprovalGiven],
    /// Whether its RRsets are served.
    #[serde(skip_serializing_if = "<[RrsetStanding]>::is_empty")]
    published: &'a [RrsetStanding],
}

/// The applies of a history; with what they did, unless all applies are listed.
fn entries<'a>(history: &'a History) -> Vec<EntryView<'a>> {
    let view = |apply| ApplyView { apply, running: history.running };
    let full = |past: &'a PastApply| EntryView {
        apply: view(&past.summary),
        updates: Some(past.sent.iter().map(update).collect()),
        left: Some(&past.left),
        allowed: Some(&past.allowed),
        gates: Some(&past.gates),
        approvals: &past.approvals,
        published: &past.published,
    };
    let short = |apply| EntryView {
        apply: view(apply),
        updates: None,
        left: None,
        allowed: None,
        gates: None,
        approvals: &[],
        published: &[],
    };
    match &history.told {
        HistoryAnswer::Applies(applies, _) => applies.iter().map(short).collect(),
        HistoryAnswer::Apply(one) => vec![full(one)],
        HistoryAnswer::Hosts(_, applies) | HistoryAnswer::Name(_, applies) => applies.iter().map(full).collect(),
    }
}

object_in_documents!(ApprovalGiven, given => {
    "subject": given.subject,
    "service": Some(&given.service).filter(|service| *service != NO_SERVICE),
    "status": given.status,
    "message": Some(&given.message).filter(|message| !message.is_empty()),
    "at": given.at,
});

/// An update in a document.
#[derive(Debug, Serialize)]
struct UpdateView<'a> {
    /// Its number within the apply.
    number: u64,
    /// The zone.
    zone: &'a ZoneName,
    /// The target, where the pool has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    /// The word of its phase.
    phase: &'a str,
    /// When it was sent.
    sent: Time,
    /// Its outcome.
    fate: &'static str,
    /// Why it is not done.
    why: Option<&'a String>,
    /// What it changes.
    changes: &'a [SentChange],
}

/// An update as a document has it.
fn update(sent: &SentUpdate) -> UpdateView<'_> {
    let (fate, why) = match &sent.fate {
        SentFate::Done => ("done", sent.race.as_ref()),
        SentFate::Undone(why) => ("undone", Some(why)),
        SentFate::Unknown(why) => ("unknown", why.as_ref()),
    };
    let SentUpdate { number, zone, phase, at, changes, .. } = sent;
    UpdateView { number: *number, zone, target: sent.told_target(), phase, sent: *at, fate, why, changes }
}

object_in_documents!(SentChange, change => {
    "host": change.subject.host().map(|inv| inv.0),
    "also": change.other_hosts().iter().map(|inv| inv.0).collect::<Vec<_>>(),
    "project": change.project,
    "name": change.name,
    "type": change.rtype.to_string(),
    "before": change.before,
    "after": change.after,
});
