//! Changes as the journal keeps them: what was there before and after, in the words of the plan document.

use std::borrow::Cow;

use serde::Deserialize;

use crate::apply::Batch;
use crate::change::{RecordedRrset, RrsetText, WithoutReasons};
use crate::claim::Subject;
use crate::dns::Rtype;
use crate::plan::Change;

/// One change.
#[derive(Debug, Deserialize)]
pub struct KeptChange {
    /// What is there after.
    pub after: Option<RrsetText>,
    /// The other subjects, sorted.
    #[serde(default)]
    pub also: Vec<Subject>,
    /// What was there before.
    pub before: Option<RrsetText>,
    /// The owner name.
    pub name: String,
    /// The project.
    pub project: String,
    /// What a TXT of the registry records, where its name does not say it.
    #[serde(default)]
    pub registers: Option<RecordedRrset>,
    /// What it was for.
    pub subject: Subject,
    /// The targets that it was for; none where it was for all of its pool.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The type.
    #[serde(rename = "type")]
    pub rtype: String,
}

/// The changes of a batch.
pub fn kept(batch: &Batch<'_>) -> Vec<KeptChange> {
    batch.changes.iter().map(|change| kept_change(change)).collect()
}

/// The changes of a batch as JSON.
pub fn to_json(batch: &Batch<'_>) -> String {
    let changes: Vec<WithoutReasons<'_>> = batch.changes.iter().map(|change| WithoutReasons(change)).collect();
    serde_json::to_string(&changes).expect("texts and numbers are JSON")
}

/// One change as JSON.
pub fn one_to_json(change: &Change) -> String {
    serde_json::to_string(&WithoutReasons(change)).expect("texts and numbers are JSON")
}

/// Reads one change; `None` where it is not what [`one_to_json`] writes.
pub fn of_json(text: &str) -> Option<KeptChange> {
    serde_json::from_str(text).ok()
}

/// What a change means for what is own, waits, and counts.
#[derive(Debug)]
pub struct ChangeEffect<'a> {
    /// The owner name.
    pub name: Cow<'a, str>,
    /// The type.
    pub rtype: Cow<'a, str>,
    /// Whether something was there before, and is after.
    pub is_there: (bool, bool),
    /// What it is for.
    pub subject: &'a Subject,
    /// The project.
    pub project: &'a str,
}

impl<'a> From<&'a KeptChange> for ChangeEffect<'a> {
    fn from(kept: &'a KeptChange) -> ChangeEffect<'a> {
        ChangeEffect {
            name: Cow::Borrowed(&kept.name),
            rtype: Cow::Borrowed(&kept.rtype),
            is_there: (kept.before.is_some(), kept.after.is_some()),
            subject: &kept.subject,
            project: &kept.project,
        }
    }
}

impl<'a> From<&'a Change> for ChangeEffect<'a> {
    fn from(change: &'a Change) -> ChangeEffect<'a> {
        ChangeEffect {
            name: Cow::Owned(change.key.owner.to_string()),
            rtype: Cow::Owned(change.key.rtype.to_string()),
            is_there: (change.kind.before().is_some(), change.kind.after().is_some()),
            subject: &change.subject,
            project: &change.project,
        }
    }
}

/// Where a change was made: all that is read of it where nothing else counts.
#[derive(Deserialize)]
struct KeptKey<'a> {
    /// The owner name.
    #[serde(borrow)]
    name: Cow<'a, str>,
    /// The type.
    #[serde(borrow, rename = "type")]
    rtype: Cow<'a, str>,
}

/// The owner names and types of changes as JSON; `None` where it is not what [`to_json`] writes.
pub fn keys(text: &str) -> Option<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
    let keys: Vec<KeptKey<'_>> = serde_json::from_str(text).ok()?;
    Some(keys.into_iter().map(|KeptKey { name, rtype }| (name, rtype)).collect())
}

/// One change for the journal.
fn kept_change(Change { key, subject, also, registers, targets, project, kind, .. }: &Change) -> KeptChange {
    KeptChange {
        after: kind.after().map(|rrset| RrsetText::of(key.rtype, rrset)),
        also: also.clone(),
        before: kind.before().map(|rrset| RrsetText::of(key.rtype, rrset)),
        name: key.owner.to_string(),
        project: project.clone(),
        registers: registers.clone(),
        subject: subject.clone(),
        targets: targets.clone(),
        rtype: key.rtype.to_string(),
    }
}

/// What is at a marker's place before a batch, one record on each line.
pub fn marker_before(batch: &Batch<'_>) -> Option<String> {
    let before = batch.swap.as_ref()?.before.as_ref()?;
    Some(before.rdata_texts(Rtype::TXT).join("\n"))
}
