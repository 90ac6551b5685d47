//! Breakers that trip and are reset, limits that are lifted, and what the last apply was made from.

use super::*;
use crate::apply::ApplyOutcome;
use crate::claim::Subject;

/// A breaker that trips.
fn breaker(scope: &str, seconds: u64, why: &str) -> Breaker {
    Breaker { scope: scope.into(), tripped: at(seconds), why: why.into() }
}

/// An operator who resets a breaker.
fn operator() -> BreakerReset<'static> {
    BreakerReset { who: "ops", reason: "the export was whole again", now: at(60) }
}

#[test]
fn a_breaker_stays_as_it_first_tripped_until_it_is_reset() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    state.trip(&breaker("project:search", 1, "31 hosts")).unwrap();
    state.trip(&breaker("project:search", 2, "40 hosts")).unwrap();
    state.trip(&breaker("global", 3, "200 hosts")).unwrap();
    drop(state);
    let mut state = open_to_write(&file).unwrap();
    let both = [breaker("global", 3, "200 hosts"), breaker("project:search", 1, "31 hosts")];
    assert_eq!(state.breakers().unwrap(), both);
    assert!(!state.reset("project:web", operator()).unwrap());
    assert!(state.reset("project:search", operator()).unwrap());
    assert!(!state.reset("project:search", operator()).unwrap(), "it is no longer tripped");
    assert_eq!(state.breakers().unwrap(), both[..1]);
    drop(state);
    let sql = "SELECT scope || ' ' || why || ' ' || who || ': ' || reason FROM breaker_resets";
    let kept: String = Connection::open(&file).unwrap().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "project:search 31 hosts ops: the export was whole again");
}

#[test]
fn what_was_allowed_is_kept_with_its_apply_and_may_be_allowed_anew() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let (first, second) = (begin(&mut *state, &new_apply()), begin(&mut *state, &new_apply()));
    let allowed = |text: &str, seconds: u64| LiftedLimit {
        allowance: text.parse().unwrap(),
        effect: "sha256:bb".into(),
        at: at(seconds),
        who: "ops".into(),
    };
    state.allow(first, &[allowed("project:search/1h=34", 1), allowed("global/1h=34", 1)]).unwrap();
    state.allow(first, &[allowed("project:search/1h=40", 2)]).unwrap();
    state.allow(first, &[allowed("project:search/1h=35", 3), allowed("global/1h=34", 3)]).unwrap();
    let found = state.allowed(first).unwrap();
    assert_eq!(found, [allowed("global/1h=34", 3), allowed("project:search/1h=40", 2)], "the greater holds");
    assert!(state.allowed(second).unwrap().is_empty());
}

#[test]
fn the_last_inputs_are_those_of_an_apply_that_did_all_of_its_plan() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    assert!(state.last_inputs().unwrap().is_empty());
    let mut ends = |digest: &str, (undoes, is_whole): (Option<u64>, bool), outcome: Option<OutcomeCode>| {
        let inputs = [("hosts.csv".to_owned(), digest.to_owned())].into();
        let id = begin(&mut *state, &NewApply { inputs, undoes: undoes.map(ApplyId), is_whole, ..new_apply() });
        let host = |outcome| SubjectOutcome {
            subject: Subject::Host(Inv(7)),
            project: "search".into(),
            name: "a.".into(),
            changes: 1,
            outcome,
            is_between: false,
            message: None,
            hint: None,
            lacks: Vec::new(),
        };
        if let Some(outcome) = outcome {
            let applied = ApplyOutcome { hosts: vec![host(outcome)], ..ApplyOutcome::default() };
            state.finish(id, &applied, Some(&[]), at(9)).unwrap();
        }
        state.last_inputs().unwrap().remove("hosts.csv")
    };
    assert_eq!(ends("aa", (None, true), Some(OutcomeCode::Applied)).as_deref(), Some("aa"));
    assert_eq!(ends("bb", (None, true), Some(OutcomeCode::AlreadyApplied)).as_deref(), Some("bb"));
    assert_eq!(ends("cc", (None, true), Some(OutcomeCode::Stale)).as_deref(), Some("bb"), "some of it was not done");
    assert_eq!(ends("dd", (None, true), None).as_deref(), Some("bb"), "it did not end");
    assert_eq!(
        ends("ee", (Some(1), true), Some(OutcomeCode::Applied)).as_deref(),
        Some("bb"),
        "an undo uses no export"
    );
    assert_eq!(
        ends("ff", (None, false), Some(OutcomeCode::Applied)).as_deref(),
        Some("bb"),
        "other hosts were left out"
    );
}
