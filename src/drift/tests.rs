//! Who moved.

use super::*;
use crate::dns::Rtype;
use crate::plan::fixture::{self, rrset};
use crate::state::{ApplyId, KeptRrset};

/// One side of a change.
type Side<'a> = (u64, &'a [&'a str]);

/// No RRset.
const NONE: Side<'static> = (0, &[]);

/// Some RRsets.
const ONE: Side<'static> = (600, &["2a02::1", "2a02::10"]);

const TWO: Side<'static> = (600, &["2a02::2"]);

const THREE: Side<'static> = (600, &["2a02::3"]);

/// [`ONE`] with another TTL.
const LATE: Side<'static> = (3600, &["2a02::10", "2a02::1"]);

/// So many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// What an apply left at that moment.
fn written(side: Side<'_>) -> Option<Written> {
    let kept =
        |rrset: crate::dns::Rrset| KeptRrset { ttl: rrset.ttl().as_secs(), rdata: rrset.rdata_texts(Rtype::AAAA) };
    Some(Written { apply: ApplyId(12), at: at(0), after: rrset(Rtype::AAAA, side.0, side.1).map(kept) })
}

/// What is behind a difference, an hour after the apply: live, wanted, written.
fn found(
    live: Side<'_>,
    wanted: Side<'_>,
    written: Option<Written>,
) -> (&'static str, Option<&'static str>, Option<u64>) {
    let name = "a.search.example.net";
    let change = fixture::change(("search", Some(7)), (name, Rtype::AAAA), (live, wanted), &[]);
    let Stray { mover, deed, written: told, for_at_most } = judge(&change, written.clone(), at(3600));
    assert_eq!(told, written);
    (mover.as_str(), deed.map(Deed::as_str), for_at_most.map(Duration::as_secs))
}

#[test]
fn what_an_apply_left_as_it_is_wanted_drifted() {
    assert_eq!(found(TWO, ONE, written(ONE)), ("drift", Some("changed"), Some(3600)));
    assert_eq!(found(NONE, ONE, written(ONE)), ("drift", Some("removed"), Some(3600)));
    assert_eq!(found(TWO, NONE, written(NONE)), ("drift", Some("added"), Some(3600)));
    assert_eq!(found(LATE, ONE, written(ONE)), ("drift", Some("changed"), Some(3600)), "the TTL counts");
}

#[test]
fn what_stands_as_it_was_written_did_not_drift() {
    for (live, wanted) in [(ONE, TWO), (ONE, NONE), (NONE, ONE), (ONE, LATE)] {
        assert_eq!(found(live, wanted, written(live)), ("moved-on", None, None));
    }
}

#[test]
fn both_may_have_moved() {
    assert_eq!(found(TWO, ONE, written(THREE)), ("both", Some("changed"), Some(3600)));
    assert_eq!(found(NONE, ONE, written(LATE)), ("both", Some("removed"), Some(3600)));
    assert_eq!(found(TWO, ONE, written(NONE)), ("both", Some("added"), Some(3600)));
}

#[test]
fn of_what_was_never_written_nobody_knows() {
    assert_eq!(found(TWO, ONE, None), ("never-applied", None, None));
}

#[test]
fn a_clock_that_was_set_back_makes_no_time() {
    let later = written(ONE).map(|written| Written { at: at(9999), ..written });
    assert_eq!(found(TWO, ONE, later), ("drift", Some("changed"), Some(0)));
}
