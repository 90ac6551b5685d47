//! Changes as the journal keeps them: what stood there before and after, in the words of the plan document.

use serde::Serialize;

use crate::apply::Batch;
use crate::dns::{Rrset, Rtype};
use crate::plan::Change;

/// One change.
#[derive(Debug, Serialize)]
struct Kept<'a> {
    /// The host; null where an orphan is removed.
    host: Option<u64>,
    /// The project.
    project: &'a str,
    /// The owner name.
    name: String,
    /// The type.
    #[serde(rename = "type")]
    rtype: String,
    /// What was there before.
    before: Option<KeptRrset>,
    /// What is there after.
    after: Option<KeptRrset>,
}

/// One RRset.
#[derive(Debug, Serialize)]
struct KeptRrset {
    /// Seconds.
    ttl: u32,
    /// The RDATA in presentation format, sorted as text.
    rdata: Vec<String>,
}

/// The changes of a batch as JSON.
pub fn changes(batch: &Batch<'_>) -> String {
    let kept: Vec<Kept<'_>> = batch.changes.iter().map(|change| kept(change)).collect();
    serde_json::to_string(&kept).expect("texts and numbers are JSON")
}

/// One change for the journal.
fn kept(change: &Change) -> Kept<'_> {
    let rtype = change.key.rtype;
    let rrset = |rrset: Option<&Rrset>| rrset.map(|rrset| kept_rrset(rtype, rrset));
    Kept {
        host: change.host.map(|inv| inv.0),
        project: &change.project,
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

/// What stands at a marker's place before a batch, one record a line.
pub fn marker_before(batch: &Batch<'_>) -> Option<String> {
    let before = batch.swap.as_ref()?.before.as_ref()?;
    Some(before.rdata_texts(Rtype::TXT).join("\n"))
}
