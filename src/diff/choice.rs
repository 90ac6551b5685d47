//! Which of the values that are accepted at an RRset stay, or are added.

use crate::dns::Rdata;
use crate::inventory::model::Policy;
use crate::live::LiveRrset;

/// The places of the values that an RRset keeps or gets: those that are live, else the first.
///
/// Under `create-only` an RRset that exists without any of them keeps and gets none.
pub fn kept_or_added(found: Option<LiveRrset<'_>>, values: &[Rdata], policy: Policy) -> Vec<usize> {
    let is_live =
        |value: &Rdata| found.is_some_and(|found| found.rrset.rdata().any(|rdata| rdata.octets == value.as_octets()));
    let kept: Vec<usize> = (0..values.len()).filter(|place| is_live(&values[*place])).collect();
    match (kept.is_empty(), policy) {
        (false, _) => kept,
        (true, Policy::CreateOnly) if found.is_some() => Vec::new(),
        (true, _) => (0..values.len().min(1)).collect(),
    }
}
