//! What is kept of each copy: what is own there, what was written, and what it lacks.

use super::*;
use crate::diff::statements::RrsetStatement;
use crate::dns::RrKey;
use crate::target::{PoolName, TargetScope};

/// An address.
const ONE: Side<'static> = (600, &["2a02:6b8::1"]);

/// A name.
const A: &str = "a.search.example.net";

/// A target of the pool.
fn target(name: &str) -> TargetId {
    TargetId { pool: fixture::pool(), name: name.to_owned() }
}

/// The copy of the zone at a target.
fn copy_at(name: &str) -> CopyId {
    CopyId { target: target(name), ..copy() }
}

/// A target among others.
fn scope(name: &str, others: &[&str]) -> TargetScope {
    let others = others.iter().map(|other| (*other).to_owned()).collect();
    TargetScope { others, ..TargetScope::only(target(name)) }
}

/// Sends changes to a target with this outcome.
fn sends(
    state: &mut dyn State,
    apply: ApplyId,
    (name, number): (&str, u64),
    changes: &[Change],
    outcome: BatchOutcome,
) {
    run(state, apply, &Batch { copy: copy_at(name), ..batch(changes, number, None) }, Some(outcome));
}

/// Where the RRset at [`A`] is own, of two targets.
fn own(state: &dyn State, key: &RrKey) -> [bool; 2] {
    let is_own = |scope: &TargetScope| state.own_at(scope).unwrap().contains(key.owner.as_name(), key.rtype);
    let scopes = [scope("a", &["b"]), scope("b", &["a"])];
    let sights = [0, 1].map(|place| SightedRrset { key, at: Some(&scopes[place]) });
    let created = state.created_by(&sights).unwrap();
    let found = [0, 1].map(|place| is_own(&scopes[place]));
    assert_eq!(found, [created[0].is_some(), created[1].is_some()]);
    found
}

#[test]
fn an_rrset_is_own_in_the_copies_in_which_it_was_created() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (create, delete) = ([change(A, NONE, ONE)], [change(A, ONE, NONE)]);
    let key = &create[0].key;
    sends(&mut *state, id, ("a", 1), &create, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [true, false]);
    sends(&mut *state, id, ("b", 2), &create, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [true, true]);
    sends(&mut *state, id, ("a", 3), &delete, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [false, true]);
    state.disown(&[(&target("b"), key)]).unwrap();
    assert_eq!(own(&*state, key), [false, false]);
}

#[test]
fn what_is_own_at_a_target_that_got_another_name_stays_own() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (create, delete) = ([change(A, NONE, ONE)], [change(A, ONE, NONE)]);
    let key = &create[0].key;
    sends(&mut *state, id, ("main", 1), &create, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [true, true], "no target that is there has it");
    state.release_targets(&[target("a"), target("b")]).unwrap();
    assert_eq!(own(&*state, key), [true, true]);
    sends(&mut *state, id, ("a", 2), &delete, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [false, true]);
}

#[test]
fn what_was_own_only_at_a_target_that_is_gone_is_not_own_at_those_that_stay() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (create, other) = ([change(A, NONE, ONE)], [change("b.search.example.net", NONE, ONE)]);
    let key = &create[0].key;
    sends(&mut *state, id, ("c", 1), &create, BatchOutcome::Done);
    sends(&mut *state, id, ("a", 2), &other, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [false, true], "`a` has had its name, `b` may have been `c`");
    sends(&mut *state, id, ("b", 3), &other, BatchOutcome::Done);
    assert_eq!(own(&*state, key), [false, false]);
    assert_eq!(own(&*state, &other[0].key), [true, true]);
    state.release_targets(&[target("a"), target("b")]).unwrap();
    assert_eq!(own(&*state, key), [false, false]);
    assert!(!state.own().unwrap().contains(key.owner.as_name(), key.rtype));
    assert_eq!(own(&*state, &other[0].key), [true, true]);
}

#[test]
fn what_was_written_last_is_told_copy_by_copy() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let create = [change(A, NONE, ONE)];
    sends(&mut *state, id, ("a", 1), &create, BatchOutcome::Done);
    sends(&mut *state, id, ("b", 2), &create, BatchOutcome::Unknown("no answer".into()));
    let scopes = [scope("a", &["b"]), scope("b", &["a"])];
    let sights = [0, 1].map(|place| SightedRrset { key: &create[0].key, at: Some(&scopes[place]) });
    let written = state.last_written(&sights).unwrap();
    assert_eq!([written[0].is_some(), written[1].is_some()], [true, false]);
    let later = state.last_changed(ApplyId(0), &[sights[1], SightedRrset::anywhere(&create[0].key)]).unwrap();
    assert_eq!(later, [Some(id), Some(id)]);
}

#[test]
fn what_a_target_lacks_is_kept_until_it_gets_the_rrset() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, ONE), change("b.search.example.net", NONE, ONE)];
    let (a, b) = (copy_at("a"), copy_at("b"));
    let lack = |copy, place: usize| NewLack { copy, change: &changes[place], why: "it was dead" };
    state.add_lacks(id, &[lack(&a, 0), lack(&b, 0), lack(&b, 1)], at(5)).unwrap();
    state.add_lacks(id, &[lack(&b, 1)], at(6)).unwrap();
    drop(state);
    let mut state = open_to_write(&file).unwrap();
    let shown = |state: &dyn State| -> Vec<String> {
        let lacks = state.lacks().unwrap();
        lacks.iter().map(|lack| format!("{} {}", lack.copy.target, lack.change.name)).collect()
    };
    let all = ["a a.search.example.net.", "b a.search.example.net.", "b b.search.example.net."];
    assert_eq!(shown(&*state), all);
    let first = state.lacks().unwrap().remove(0);
    assert_eq!((first.apply, first.at, first.why.as_str()), (id, at(5), "it was dead"));
    assert_eq!(first.change.after.as_ref().unwrap().rdata, ["2a02:6b8::1"]);
    let later = begin(&mut *state, &new_apply());
    sends(&mut *state, later, ("b", 1), &changes[..1], BatchOutcome::Undone("refused".into()));
    assert_eq!(shown(&*state), all);
    sends(&mut *state, later, ("b", 2), &changes[..1], BatchOutcome::Done);
    assert_eq!(shown(&*state), [all[0], all[2]]);
    state.drop_replaced(&[(&b, &changes[1]), (&a, &changes[1])]).unwrap();
    assert_eq!(shown(&*state), [all[0]]);
    state.drop_lack(&first).unwrap();
    assert!(state.lacks().unwrap().is_empty());
}

#[test]
fn a_lack_says_whether_the_plan_left_the_copy_out() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let change = |name: &str, targets: &[&str]| {
        let targets = targets.iter().map(|target| (*target).to_owned()).collect();
        Change { targets, ..change(name, NONE, ONE) }
    };
    let changes = [change(A, &[]), change("b.search.example.net", &["a"]), change("c.search.example.net", &["b", "c"])];
    let copy = copy_at("b");
    let lacks: Vec<NewLack<'_>> =
        changes.iter().map(|change| NewLack { copy: &copy, change, why: "it was dead" }).collect();
    state.add_lacks(id, &lacks, at(5)).unwrap();
    let left_out: Vec<bool> = state.lacks().unwrap().iter().map(|lack| lack.is_left_out).collect();
    assert_eq!(left_out, [false, true, false]);
}

#[test]
fn what_a_record_published_is_own_for_records_alone_once_the_record_is_gone() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let create = [change(A, NONE, ONE)];
    let key = &create[0].key;
    let name = key.owner.as_name().to_name();
    let record = |name: &str| TargetId::only(&name.parse().unwrap());
    let copy = CopyId { target: record("old"), ..copy() };
    run(&mut *state, id, &Batch { copy, ..batch(&create, 1, None) }, Some(BatchOutcome::Done));
    let by = "old/shop/web-old".to_owned();
    state.note_statements(&[RrsetStatement { by, is_kept: true, name: name.clone(), rtype: key.rtype }]).unwrap();
    let (unknown, gone) = (PoolName::unknown(), PoolName::gone_record());
    let is_own = |state: &dyn State, target: TargetId, apart: &PoolName| {
        let is_of_record = *apart == unknown;
        let scope = TargetScope { apart: vec![apart.clone()], is_of_record, ..TargetScope::only(target) };
        let created = state.created_by(&[SightedRrset { key, at: Some(&scope) }]).unwrap();
        let is_own = state.own_at(&scope).unwrap().contains(name.as_name(), key.rtype);
        assert_eq!(created[0].is_some(), is_own);
        is_own
    };
    for is_released in [false, true] {
        if is_released {
            state.release_targets(&[record("new"), target("a")]).unwrap();
        }
        assert!(is_own(&*state, record("new"), &unknown), "the record may have another name now");
        assert!(!is_own(&*state, target("a"), &gone), "an RRset of this name there is another one");
    }
    assert!(!state.own().unwrap().contains(name.as_name(), key.rtype));
    assert_eq!(state.created_by(&[SightedRrset::anywhere(key)]).unwrap(), [None]);
}
