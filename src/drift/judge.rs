//! What is behind one change: live, written and wanted held against each other, TTL and RDATA.

use super::{Deed, Mover, Stray};
use crate::change::Change;
use crate::dns::{Rrset, Rtype};
use crate::inventory::value::{Duration, Time};
use crate::state::{KeptRrset, Written};

/// Judges a change by what was last written there.
pub fn judge(change: &Change, written: Option<Written>, now: Time) -> Stray {
    let Some(written) = written else {
        return Stray { mover: Mover::Unknown, deed: None, written: None, for_at_most: None };
    };
    let (rtype, live, wanted) = (change.key.rtype, change.kind.before(), change.kind.after());
    let left = written.after.as_ref();
    if is(left, rtype, live) {
        return Stray { mover: Mover::Inventory, deed: None, written: Some(written), for_at_most: None };
    }
    let mover = if is(left, rtype, wanted) { Mover::Dns } else { Mover::Both };
    let deed = match (left, live) {
        (_, None) => Deed::Removed,
        (None, Some(_)) => Deed::Added,
        (Some(_), Some(_)) => Deed::Changed,
    };
    // A clock that was set back since says nothing of how long it is.
    let for_at_most = Some(now.since(written.at).unwrap_or(Duration::from_secs(0)));
    Stray { mover, deed: Some(deed), written: Some(written), for_at_most }
}

/// Whether what an apply left is this RRset.
fn is(left: Option<&KeptRrset>, rtype: Rtype, rrset: Option<&Rrset>) -> bool {
    match (left, rrset) {
        (Some(left), Some(rrset)) => left.is(rtype, rrset),
        (None, None) => true,
        _ => false,
    }
}
