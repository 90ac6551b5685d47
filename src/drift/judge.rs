//! What is behind one change: live, written and wanted held against each other, TTL and RDATA.

use super::{Deed, Mover, Stray};
use crate::change::Change;
use crate::inventory::value::{Duration, Time};
use crate::state::{ApplyId, Written};

/// Judges a change by what was last written there, else by the apply after which it stood as it is wanted.
pub fn judge(change: &Change, (written, stood): (Option<Written>, Option<(ApplyId, Time)>), now: Time) -> Stray {
    let (rtype, live, wanted) = (change.key.rtype, change.kind.before(), change.kind.after());
    let Some(written) = written else {
        // Whether a TXT stood beside an RRset that others made is not known.
        let stood = stood.filter(|_| !change.is_registry());
        let (mover, deed) = match stood {
            Some(_) => (Mover::Dns, Some(deed(wanted.is_some(), live.is_some()))),
            None => (Mover::Unknown, None),
        };
        return Stray {
            mover,
            deed,
            written: None,
            since: stood,
            for_at_most: stood.and_then(|(_, at)| at_most(now, at)),
        };
    };
    let since = Some((written.apply, written.at));
    if written.left(rtype, live) {
        return Stray { mover: Mover::Inventory, deed: None, written: Some(written), since, for_at_most: None };
    }
    let mover = if written.left(rtype, wanted) { Mover::Dns } else { Mover::Both };
    let (deed, for_at_most) = (Some(deed(written.after.is_some(), live.is_some())), at_most(now, written.at));
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

/// How long ago something was, in whole seconds and rounded up; none where it is yet to come: a clock that was set back says
/// nothing of that.
fn at_most(now: Time, since: Time) -> Option<Duration> {
    let past = now.since(since)?;
    let whole = Duration::from_secs(past.as_secs());
    Some(if whole < past { Duration::from_secs(past.as_secs() + 1) } else { whole })
}
