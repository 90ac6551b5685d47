//! Tests which side changed.

use super::*;
use crate::change::RrsetText;
use crate::change::{Reason, Rule};
use crate::dns::{Rrset, Rtype};
use crate::plan::fixture::{self, rrset};
use crate::state::ApplyId;
use crate::target::TargetId;

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
fn written(side: Side<'_>) -> Option<WrittenRrset> {
    let kept = |rrset: crate::dns::Rrset| RrsetText {
        mark: None,
        ttl: rrset.ttl().as_secs(),
        rdata: rrset.rdata_texts(Rtype::AAAA),
    };
    Some(WrittenRrset {
        apply: ApplyId(12),
        number: 3,
        at: at(0),
        is_new: true,
        after: rrset(Rtype::AAAA, side.0, side.1).map(kept),
    })
}

/// The cause of a difference, an hour after the apply: live, wanted, written.
fn found(
    live: Side<'_>,
    wanted: Side<'_>,
    written: Option<WrittenRrset>,
) -> (&'static str, Option<&'static str>, Option<u64>) {
    let name = "a.search.example.net";
    let change = fixture::change(("search", Some(7)), (name, Rtype::AAAA), (live, wanted), &[]);
    let StrayCause { mover, deed, written: told, since, for_at_most } = judge(&change, written.clone(), None, at(3600));
    assert_eq!(since, told.as_ref().map(|told| ApplyMoment { apply: told.apply, at: told.at }));
    assert_eq!(told, written);
    (mover.as_str(), deed.map(EditorDeed::as_str), for_at_most.map(Duration::as_secs))
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
fn a_clock_that_was_set_back_says_nothing_of_how_long_it_is() {
    let later = written(ONE).map(|written| WrittenRrset { at: at(9999), ..written });
    assert_eq!(found(TWO, ONE, later), ("drift", Some("changed"), None));
}

#[test]
fn a_part_of_a_second_counts_as_one() {
    let nanos = at(0).as_nanos() - 1;
    let earlier = written(ONE).map(|written| WrittenRrset { at: Time::from_nanos(nanos), ..written });
    assert_eq!(found(TWO, ONE, earlier), ("drift", Some("changed"), Some(3601)));
}

#[test]
fn what_stood_as_it_is_wanted_after_an_apply_drifted_though_none_wrote_it() {
    let name = "a.search.example.net";
    let judged = |live, wanted| {
        let change = fixture::change(("search", Some(7)), (name, Rtype::AAAA), (live, wanted), &[]);
        let stray = judge(&change, None, Some(ApplyMoment { apply: ApplyId(12), at: at(0) }), at(3600));
        (stray.mover, stray.deed, stray.since, stray.for_at_most.map(Duration::as_secs))
    };
    let drifted = |deed| (Mover::Dns, Some(deed), Some(ApplyMoment { apply: ApplyId(12), at: at(0) }), Some(3600));
    assert_eq!(judged(NONE, ONE), drifted(EditorDeed::Removed));
    assert_eq!(judged(TWO, ONE), drifted(EditorDeed::Changed));
    assert_eq!(judged(TWO, NONE), drifted(EditorDeed::Added));
}

#[test]
fn whether_a_txt_stood_beside_what_others_made_nobody_knows() {
    let text = (600, &["\"heritage=external-dns,external-dns/owner=fleet-dns\""][..]);
    let mut change = fixture::change(("search", Some(7)), ("aaaa-a.search.example.net", Rtype::TXT), (NONE, text), &[]);
    change.reasons = vec![Reason { evidence: Vec::new(), rule: Rule::Registry, subject: change.subject.clone() }];
    let stray = judge(&change, None, Some(ApplyMoment { apply: ApplyId(12), at: at(0) }), at(3600));
    assert_eq!((stray.mover, stray.since, stray.for_at_most), (Mover::Unknown, None, None));
}

#[test]
fn each_copy_is_compared_with_what_was_left_there() {
    let name = "a.search.example.net";
    let change = fixture::change(("search", Some(7)), (name, Rtype::AAAA), (TWO, ONE), &[]);
    let plan = Plan { changes: vec![change.clone()], ..fixture::empty() };
    let copy = |target: &str, rdata: Option<&Rrset>| {
        let after = rdata.map(|rrset| RrsetText::of(Rtype::AAAA, rrset));
        let written = WrittenRrset { apply: ApplyId(3), number: 1, at: at(0), is_new: false, after };
        let target = TargetId { pool: change.pool.clone(), name: target.to_owned() };
        WrittenCopy { target: Some(target), written: Some(written) }
    };
    let (live, wanted) = (change.kind.before(), change.kind.after());
    let mut copies = vec![copy("a", live), copy("b", wanted), copy("c", None)];
    copies.push(WrittenCopy { written: None, ..copy("d", None) });
    let found = strays(&plan, vec![copies], at(60));
    let told: Vec<_> = found.iter().map(|stray| (stray.change, stray.target.as_deref(), stray.cause.mover)).collect();
    let expected = [("a", Mover::Inventory), ("b", Mover::Dns), ("c", Mover::Both), ("d", Mover::Unknown)];
    assert_eq!(told, expected.map(|(target, mover)| (0, Some(target), mover)));
}

#[test]
fn the_review_of_a_plan_says_what_stood() {
    let plan = fixture::reviewed();
    let drifted = |against: ComparisonBase| {
        let review = plan.review.clone().map(|review| Review { against, ..review });
        let strays =
            strays(&Plan { review, ..plan.clone() }, of_one_target(plan.changes.iter().map(|_| None)), at(3600));
        strays.iter().filter(|stray| stray.cause.mover == Mover::Dns).count()
    };
    assert_eq!(drifted(ComparisonBase::Journal { apply: 12, at: at(0) }), 2);
    assert_eq!(drifted(ComparisonBase::Nothing), 0);
}
