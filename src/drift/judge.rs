//! Finds the cause of one change: compares live, written and wanted values, TTL and RDATA.

use super::{ApplyMoment, EditorDeed, Mover, StrayCause};
use crate::change::Change;
use crate::inventory::value::{Duration, Time};
use crate::state::WrittenRrset;

/// Judges a change by what was last written there, else by the apply after which the RRset was as it is wanted now.
pub fn judge(
    change: &Change,
    written: Option<WrittenRrset>,
    wanted_after: Option<ApplyMoment>,
    now: Time,
) -> StrayCause {
    let (rtype, live, wanted) = (change.key.rtype, change.kind.before(), change.kind.after());
    let Some(written) = written else {
        // It is not known whether an RRset that another editor created had a registry TXT.
        let wanted_after = wanted_after.filter(|_| !change.is_registry());
        let (mover, deed) = match wanted_after {
            Some(_) => (Mover::Dns, Some(deed(wanted.is_some(), live.is_some()))),
            None => (Mover::Unknown, None),
        };
        return StrayCause {
            mover,
            deed,
            written: None,
            since: wanted_after,
            for_at_most: wanted_after.and_then(|wanted| at_most(now, wanted.at)),
        };
    };
    let since = Some(ApplyMoment { apply: written.apply, at: written.at });
    if written.left(rtype, live) {
        return StrayCause { mover: Mover::Inventory, deed: None, written: Some(written), since, for_at_most: None };
    }
    let mover = if written.left(rtype, wanted) { Mover::Dns } else { Mover::Both };
    let (deed, for_at_most) = (Some(deed(written.after.is_some(), live.is_some())), at_most(now, written.at));
    StrayCause { mover, deed, written: Some(written), since, for_at_most }
}

/// What was done to an RRset, by whether it was there and whether it is there now.
fn deed(was: bool, is: bool) -> EditorDeed {
    match (was, is) {
        (_, false) => EditorDeed::Removed,
        (false, true) => EditorDeed::Added,
        (true, true) => EditorDeed::Changed,
    }
}

/// How long ago something was, in whole seconds and rounded up; none where it is in the future, because the clock was
/// set back.
fn at_most(now: Time, since: Time) -> Option<Duration> {
    let past = now.since(since)?;
    let whole = Duration::from_secs(past.as_secs());
    Some(if whole < past { Duration::from_secs(past.as_secs() + 1) } else { whole })
}
