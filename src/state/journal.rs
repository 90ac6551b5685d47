//! Changes as the journal keeps them: what was there before and after, in the words of the plan document.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Serialize, Serializer};

use crate::apply::Batch;
use crate::dns::{OwnerName, Rdata, Rrset, Rtype, Ttl};
use crate::plan::Change;

/// One change.
#[derive(Debug, Deserialize)]
pub struct Kept {
    /// The host; null where an orphan is removed.
    pub host: Option<u64>,
    /// The other hosts whose rules contributed, sorted.
    #[serde(default)]
    pub also: Vec<u64>,
    /// The project.
    pub project: String,
    /// The owner name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// What was there before.
    pub before: Option<KeptRrset>,
    /// What is there after.
    pub after: Option<KeptRrset>,
}

/// One RRset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRrset {
    /// Seconds.
    pub ttl: u32,
    /// The RDATA in presentation format, sorted as text.
    pub rdata: Vec<String>,
}

impl KeptRrset {
    /// Whether this is what an RRset of this type holds, the TTL too.
    pub fn is(&self, rtype: Rtype, rrset: &Rrset) -> bool {
        self.ttl == rrset.ttl().as_secs() && self.rdata == rrset.rdata_texts(rtype)
    }

    /// The RRset; `None` where this is not what the journal writes.
    pub fn to_rrset(&self, rtype: Rtype) -> Option<Rrset> {
        let rdata = self.rdata.iter().map(|text| Rdata::parse(rtype, text)).collect::<Option<Vec<Rdata>>>()?;
        Rrset::new(Ttl::from_secs(self.ttl.into())?, rdata)
    }
}

/// The changes of a batch.
pub fn kept(batch: &Batch<'_>) -> Vec<Kept> {
    batch.changes.iter().map(|change| kept_change(change)).collect()
}

/// One change, written as [`Kept`] is, from borrowed parts.
#[derive(Serialize)]
struct Shown<'a> {
    /// The host.
    host: Option<u64>,
    /// The other hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<u64>,
    /// The project.
    project: &'a str,
    /// The owner name.
    #[serde(serialize_with = "as_text")]
    name: &'a OwnerName,
    /// The type.
    #[serde(rename = "type", serialize_with = "as_text")]
    rtype: &'a Rtype,
    /// What was there before.
    before: Option<KeptRrset>,
    /// What is there after.
    after: Option<KeptRrset>,
}

/// Writes the displayed form of a value as a text, without a copy.
fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The changes of a batch as JSON.
pub fn to_json(batch: &Batch<'_>) -> String {
    let shown = batch.changes.iter().map(|change| {
        let (key, rtype) = (&change.key, change.key.rtype);
        let rrset = |rrset: Option<&Rrset>| rrset.map(|rrset| kept_rrset(rtype, rrset));
        Shown {
            host: change.host.map(|inv| inv.0),
            also: change.also.iter().map(|inv| inv.0).collect(),
            project: &change.project,
            name: &key.owner,
            rtype: &key.rtype,
            before: rrset(change.kind.before()),
            after: rrset(change.kind.after()),
        }
    });
    serde_json::to_string(&shown.collect::<Vec<_>>()).expect("texts and numbers are JSON")
}

/// What a change means for what is own, waits, and counts.
#[derive(Debug)]
pub struct Effect<'a> {
    /// The owner name.
    pub name: Cow<'a, str>,
    /// The type.
    pub rtype: Cow<'a, str>,
    /// Whether something was there before, and is after.
    pub is_there: (bool, bool),
    /// The host; none where an orphan is removed.
    pub host: Option<u64>,
    /// The project.
    pub project: &'a str,
}

impl<'a> From<&'a Kept> for Effect<'a> {
    fn from(kept: &'a Kept) -> Effect<'a> {
        Effect {
            name: Cow::Borrowed(&kept.name),
            rtype: Cow::Borrowed(&kept.rtype),
            is_there: (kept.before.is_some(), kept.after.is_some()),
            host: kept.host,
            project: &kept.project,
        }
    }
}

impl<'a> From<&'a Change> for Effect<'a> {
    fn from(change: &'a Change) -> Effect<'a> {
        Effect {
            name: Cow::Owned(change.key.owner.to_string()),
            rtype: Cow::Owned(change.key.rtype.to_string()),
            is_there: (change.kind.before().is_some(), change.kind.after().is_some()),
            host: change.host.map(|inv| inv.0),
            project: &change.project,
        }
    }
}

/// Changes from JSON; `None` where it is not what [`to_json`] writes.
pub fn from_json(text: &str) -> Option<Vec<Kept>> {
    serde_json::from_str(text).ok()
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
fn kept_change(change: &Change) -> Kept {
    let rtype = change.key.rtype;
    let rrset = |rrset: Option<&Rrset>| rrset.map(|rrset| kept_rrset(rtype, rrset));
    Kept {
        host: change.host.map(|inv| inv.0),
        also: change.also.iter().map(|inv| inv.0).collect(),
        project: change.project.clone(),
        name: change.key.owner.to_string(),
        rtype: rtype.to_string(),
        before: rrset(change.kind.before()),
        after: rrset(change.kind.after()),
    }
}

/// One RRset for the journal.
fn kept_rrset(rtype: Rtype, rrset: &Rrset) -> KeptRrset {
    KeptRrset { ttl: rrset.ttl().as_secs(), rdata: rrset.rdata_texts(rtype) }
}

/// What is at a marker's place before a batch, one record on each line.
pub fn marker_before(batch: &Batch<'_>) -> Option<String> {
    let before = batch.swap.as_ref()?.before.as_ref()?;
    Some(before.rdata_texts(Rtype::TXT).join("\n"))
}
