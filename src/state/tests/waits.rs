//! What waits to be deleted, from one apply to the next.

use super::*;
use crate::change::{DelayedRrset, Notice, NoticeCode, Rule};
use crate::plan::{Plan, PlanScope};

/// Names of the fixture's zone.
const A: &str = "a.search.example.net";

const B: &str = "b.search.example.net";

/// A change that deletes an RRset.
fn deletes(name: &str) -> Change {
    let reasons = [fixture::reason(Rule::Orphan, None, &[])];
    fixture::change(("search", None), (name, Rtype::AAAA), ((600, &["::1"]), (0, &[])), &reasons)
}

/// A plan of so many seconds after the beginning, with what it lists as waiting.
fn plan(seconds: u64, waiting: &[&str]) -> Plan {
    let waits = |name: &&str| {
        let Change { pool, zone, key, subject, project, .. } = deletes(name);
        DelayedRrset { pool, zone, key, subject, project, rule: Rule::Orphan, since: None, due: None }
    };
    Plan { created: at(seconds), delayed: waiting.iter().map(waits).collect(), ..fixture::empty() }
}

/// Notes a plan that is carried out as soon as it is made; gives what waits then, by name.
fn noted(state: &mut dyn State, plan: &Plan) -> Vec<(String, Time)> {
    noted_at(state, plan, plan.created)
}

/// Notes a plan that is carried out at a time; gives what waits then, by name.
fn noted_at(state: &mut dyn State, plan: &Plan, now: Time) -> Vec<(String, Time)> {
    let news = WaitNews::of(plan, &state.waits().unwrap(), now);
    state.note_waits(&news).unwrap();
    assert!(WaitNews::of(plan, &state.waits().unwrap(), now).is_empty(), "there is nothing new in it");
    waits(state)
}

/// What waits, by name.
fn waits(state: &dyn State) -> Vec<(String, Time)> {
    let waits = state.waits().unwrap();
    let mut waits: Vec<(String, Time)> = waits.iter().map(|(name, _, since)| (name.to_string(), since)).collect();
    waits.sort();
    waits
}

/// Names with their times, as [`waits`] gives them.
fn since(waits: &[(&str, u64)]) -> Vec<(String, Time)> {
    waits.iter().map(|(name, seconds)| (format!("{name}."), at(*seconds))).collect()
}

#[test]
fn what_waits_does_so_since_the_first_apply_that_wanted_it() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    assert_eq!(noted(&mut *state, &plan(10, &[A])), since(&[(A, 10)]));
    assert_eq!(noted(&mut *state, &plan(20, &[A, B])), since(&[(A, 10), (B, 20)]));
    drop(state);
    let state = open_to_read(&file).unwrap().unwrap();
    assert_eq!(waits(&*state), since(&[(A, 10), (B, 20)]));
}

#[test]
fn what_a_saved_plan_lists_waits_since_its_apply() {
    let mut state = Sqlite::in_memory();
    noted(&mut state, &plan(10, &[A]));
    assert_eq!(noted_at(&mut state, &plan(20, &[A, B]), at(500)), since(&[(A, 10), (B, 500)]));
}

#[test]
fn what_a_plan_of_the_fleet_does_not_list_waits_no_more() {
    let mut state = Sqlite::in_memory();
    noted(&mut state, &plan(10, &[A, B]));
    let listed = plan(20, &[B]);
    let only = PlanScope::new([Inv(7)], &[]);
    let notice = |code| Notice { code, name: "x".into(), subject: None, message: "x".into() };
    let ignorant = [
        Plan { only, ..listed.clone() },
        Plan { undoes: Some(1), ..listed.clone() },
        Plan { notices: vec![notice(NoticeCode::ZoneUnknown)], ..listed.clone() },
        Plan { notices: vec![notice(NoticeCode::RemovalsRest)], ..listed.clone() },
    ];
    for plan in &ignorant {
        assert_eq!(noted(&mut state, plan), since(&[(A, 10), (B, 10)]));
    }
    let changed = Plan { changes: vec![deletes(A)], ..listed.clone() };
    assert_eq!(noted(&mut state, &changed), since(&[(A, 10), (B, 10)]), "it waits until it is deleted");
    assert_eq!(noted(&mut state, &listed), since(&[(B, 10)]));
}

#[test]
fn a_time_ahead_of_the_plan_is_that_of_a_clock_that_stepped_back() {
    let mut state = Sqlite::in_memory();
    noted(&mut state, &plan(1000, &[A]));
    assert_eq!(noted(&mut state, &plan(10, &[A])), since(&[(A, 10)]));
}

#[test]
fn what_is_deleted_or_created_waits_no_more() {
    let mut state = Sqlite::in_memory();
    noted(&mut state, &plan(10, &[A, B]));
    let id = begin(&mut state, &new_apply());
    let created = fixture::change(("search", None), (B, Rtype::AAAA), ((0, &[]), (600, &["::1"])), &[]);
    let steps = [
        (deletes(A), BatchOutcome::Undone("refused".into()), since(&[(A, 10), (B, 10)])),
        (deletes(A), BatchOutcome::Done, since(&[(B, 10)])),
        (created, BatchOutcome::Done, since(&[])),
    ];
    for (number, (change, settled, left)) in steps.into_iter().enumerate() {
        let changes = [change];
        let batch = batch(&changes, number as u64, None);
        state.note_sending(id, &batch, at(20)).unwrap();
        state.note_settled(id, &batch, &settled, at(21)).unwrap();
        assert_eq!(waits(&state), left);
    }
}
