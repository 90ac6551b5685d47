//! What is behind one change: live, written and wanted held against each other, TTL and RDATA.

use super::{Deed, Mover, Stray};
use crate::change::Change;
use crate::dns::{Rrset, Rtype};
use crate::inventory::value::{Duration, Time};
use crate::state::{ApplyId, KeptRrset, Written};

/// Judges a change by what was last written there, else by the apply after which it stood as it is wanted.
pub fn judge(change: &Change, (written, stood): (Option<Written>, Option<(ApplyId, Time)>), now: Time) -> Stray {
    let (rtype, live, wanted) = (change.key.rtype, change.kind.before(), change.kind.after());
    // A clock that was set back since says nothing of how long it is.
    let for_at_most = |since: Time| Some(now.since(since).unwrap_or(Duration::from_secs(0)));
    let Some(written) = written else {
        let (mover, deed) = match stood {
            // Whether a TXT stood beside an RRset that others made is not known.
            Some(_) if change.is_registry() => (Mover::Dns, None),
            Some(_) => (Mover::Dns, Some(deed(wanted.is_some(), live.is_some()))),
            None => (Mover::Unknown, None),
        };
        return Stray {
            mover,
            deed,
            written: None,
            since: stood,
            for_at_most: stood.and_then(|(_, at)| for_at_most(at)),
        };
    };
    let since = Some((written.apply, written.at));
    let left = written.after.as_ref();
    if is(left, rtype, live) {
        return Stray { mover: Mover::Inventory, deed: None, written: Some(written), since, for_at_most: None };
    }
    let mover = if is(left, rtype, wanted) { Mover::Dns } else { Mover::Both };
    let (deed, for_at_most) = (Some(deed(left.is_some(), live.is_some())), for_at_most(written.at));
    Stray { mover, deed, written: Some(written), since, for_at_most }
}

/// What was done to an RRset, by whether it was there and whether it is.
fn deed(was: bool, is: bool) -> Deed {
    match (was, is) {
        (_, false) => Deed::Removed,
        (false, true) => Deed::Added,
        (true, true) => Deed::Changed,
    }
}

/// Whether what an apply left is this RRset.
fn is(left: Option<&KeptRrset>, rtype: Rtype, rrset: Option<&Rrset>) -> bool {
    match (left, rrset) {
        (Some(left), Some(rrset)) => left.is(rtype, rrset),
        (None, None) => true,
        _ => false,
    }
}
