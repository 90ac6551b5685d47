//! The past applies of a journal, as JSON. `schemas/history.schema.json` describes it.

use serde::Serialize;

use crate::change::RrsetText;
use crate::dns::ZoneName;
use crate::report::applies::{self, ApplyView};
use crate::state::{
    ApplyId, History, HistoryAnswer, LeftSubject, LiftedLimit, PastApply, SentChange, SentFate, SentUpdate,
};

/// What `format` says.
const FORMAT: &str = "zonewright.history/1";

/// The document.
#[derive(Debug, Serialize)]
struct HistoryDocument<'a> {
    /// [`FORMAT`].
    format: &'static str,
    /// The program.
    tool: &'a str,
    /// When it looked.
    created: String,
    /// Where the state is kept.
    state: &'a str,
    /// What was asked for.
    asked: AskedView,
    /// The projects whose changes alone are there.
    projects: &'a [String],
    /// The zones whose changes alone are there.
    zones: Vec<String>,
    /// The applies that can be resumed.
    resumable: Vec<u64>,
    /// The applies.
    applies: Vec<EntryView<'a>>,
    /// Whether there are earlier ones.
    more: bool,
}

/// What was asked for: one of these, or none for all applies.
#[derive(Debug, Default, Serialize)]
struct AskedView {
    /// An apply.
    apply: Option<u64>,
    /// Hosts.
    hosts: Vec<u64>,
    /// A name.
    name: Option<String>,
}

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
    left: Option<Vec<LeftView<'a>>>,
    /// The limits that were lifted for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<Vec<AllowedView<'a>>>,
}

/// A limit that was lifted.
#[derive(Debug, Serialize)]
struct AllowedView<'a> {
    /// The limit.
    limit: &'a str,
    /// How many might change.
    number: u64,
    /// The effect of the plan that it was lifted for.
    effect: &'a str,
    /// When.
    at: String,
    /// Who did it.
    who: &'a str,
}

/// An update.
#[derive(Debug, Serialize)]
struct UpdateView<'a> {
    /// Its number.
    number: u64,
    /// The zone.
    zone: String,
    /// The phase.
    phase: &'a str,
    /// When it was sent.
    sent: String,
    /// Whether it took effect.
    fate: &'static str,
    /// Why.
    why: Option<&'a str>,
    /// What it changes.
    changes: Vec<JournalChangeView<'a>>,
}

/// A change.
#[derive(Debug, Serialize)]
struct JournalChangeView<'a> {
    /// The host.
    host: Option<u64>,
    /// Other hosts.
    also: Vec<u64>,
    /// The project.
    project: &'a str,
    /// The owner name.
    name: String,
    /// The type.
    #[serde(rename = "type")]
    rtype: String,
    /// What was there before.
    before: Option<&'a RrsetText>,
    /// What is there after.
    after: Option<&'a RrsetText>,
}

/// A host that was left.
#[derive(Debug, Serialize)]
struct LeftView<'a> {
    /// The host.
    host: Option<u64>,
    /// Its project.
    project: &'a str,
    /// A name of it.
    name: &'a str,
    /// Its outcome.
    outcome: &'a str,
    /// Why.
    message: Option<&'a str>,
}

/// Renders a history.
pub fn render(history: &History) -> String {
    let past = |past| full(past, history.running);
    let (asked, applies, more) = match &history.told {
        HistoryAnswer::Applies(applies, more) => {
            let short = |apply| EntryView {
                apply: applies::view(apply, history.running),
                updates: None,
                left: None,
                allowed: None,
            };
            (AskedView::default(), applies.iter().map(short).collect(), *more)
        }
        HistoryAnswer::Apply(one) => {
            (AskedView { apply: Some(one.summary.id.0), ..AskedView::default() }, vec![past(one.as_ref())], false)
        }
        HistoryAnswer::Hosts(hosts, applies) => {
            let hosts = hosts.iter().map(|host| host.0).collect();
            (AskedView { hosts, ..AskedView::default() }, applies.iter().map(past).collect(), false)
        }
        HistoryAnswer::Name(name, applies) => (
            AskedView { name: Some(name.to_string()), ..AskedView::default() },
            applies.iter().map(past).collect(),
            false,
        ),
    };
    let document = HistoryDocument {
        format: FORMAT,
        tool: &history.tool,
        created: history.created.to_string(),
        state: &history.place,
        asked,
        projects: &history.projects,
        zones: history.zones.iter().map(ZoneName::to_string).collect(),
        resumable: history.resumable.iter().map(|id| id.0).collect(),
        applies,
        more,
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// An apply with what it did.
fn full(past: &PastApply, running: Option<ApplyId>) -> EntryView<'_> {
    EntryView {
        apply: applies::view(&past.summary, running),
        updates: Some(past.sent.iter().map(update).collect()),
        left: Some(past.left.iter().map(left).collect()),
        allowed: Some(past.allowed.iter().map(allowed).collect()),
    }
}

/// A limit that was lifted, for the document.
fn allowed(allowed: &LiftedLimit) -> AllowedView<'_> {
    let LiftedLimit { allowance, effect, at, who } = allowed;
    AllowedView { limit: &allowance.name, number: allowance.number, effect, at: at.to_string(), who }
}

/// An update for the document.
fn update(sent: &SentUpdate) -> UpdateView<'_> {
    let (fate, why) = match &sent.fate {
        SentFate::Done => ("done", None),
        SentFate::Undone(why) => ("undone", Some(why.as_str())),
        SentFate::Unknown(why) => ("unknown", why.as_deref()),
    };
    UpdateView {
        number: sent.number,
        zone: sent.zone.to_string(),
        phase: &sent.phase,
        sent: sent.at.to_string(),
        fate,
        why,
        changes: sent.changes.iter().map(change).collect(),
    }
}

/// A change for the document.
fn change(change: &SentChange) -> JournalChangeView<'_> {
    JournalChangeView {
        host: change.subject.host().map(|host| host.0),
        also: change.other_hosts().iter().map(|host| host.0).collect(),
        project: &change.project,
        name: change.name.to_string(),
        rtype: change.rtype.to_string(),
        before: change.before.as_ref(),
        after: change.after.as_ref(),
    }
}

/// A host that was left, for the document.
fn left(left: &LeftSubject) -> LeftView<'_> {
    let LeftSubject { subject, project, name, outcome, message } = left;
    LeftView { host: subject.host().map(|host| host.0), project, name, outcome, message: message.as_deref() }
}
