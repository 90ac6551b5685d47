//! What is own after an apply is undone: what was before it.

use super::*;

/// Some AAAA RRset.
const ONE: Side<'static> = (600, &["2a02::1"]);

/// Another one.
const TWO: Side<'static> = (600, &["2a02::2"]);

/// Makes changes of A by an apply that undoes another, or none.
fn apply(state: &mut dyn State, undoes: Option<ApplyId>, changes: &[(&str, Side<'_>, Side<'_>)]) -> ApplyId {
    let id = begin(state, &NewApply { undoes, ..new_apply() });
    for ((name, before, after), number) in changes.iter().zip(1..) {
        let changes = [change(name, *before, *after)];
        run(state, id, &batch(&changes, number, None), Some(BatchOutcome::Done));
    }
    id
}

#[test]
fn what_an_apply_created_is_no_longer_own_once_it_is_undone_and_own_again_after_that() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    let first = apply(state, None, &[(A, NONE, ONE)]);
    assert!(is_own(state, A));
    let second = apply(state, Some(first), &[(A, ONE, NONE)]);
    assert!(!is_own(state, A));
    let third = apply(state, Some(second), &[(A, NONE, ONE)]);
    assert!(is_own(state, A), "the undo of the undo restores");
    apply(state, Some(third), &[(A, ONE, NONE)]);
    assert!(!is_own(state, A));
}

#[test]
fn what_comes_back_is_own_only_where_it_was() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    apply(state, None, &[(A, NONE, ONE)]);
    let first = apply(state, None, &[(A, ONE, NONE), (B, ONE, NONE)]);
    let second = apply(state, Some(first), &[(A, NONE, ONE), (B, NONE, ONE)]);
    assert!(is_own(state, A) && !is_own(state, B), "B is another editor's");
    let third = apply(state, Some(second), &[(A, ONE, NONE), (B, ONE, NONE)]);
    assert!(!is_own(state, A) && !is_own(state, B));
    apply(state, Some(third), &[(A, NONE, ONE), (B, NONE, ONE)]);
    assert!(is_own(state, A) && !is_own(state, B));
}

#[test]
fn what_is_modified_and_modified_back_stays_whose_it_was() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    apply(state, None, &[(A, NONE, ONE)]);
    let first = apply(state, None, &[(A, ONE, TWO), (B, ONE, TWO)]);
    apply(state, Some(first), &[(A, TWO, ONE), (B, TWO, ONE)]);
    assert!(is_own(state, A) && !is_own(state, B));
}

#[test]
fn what_one_apply_deleted_is_no_reason_for_the_undo_of_another() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    apply(state, None, &[(A, NONE, ONE)]);
    apply(state, None, &[(A, ONE, NONE)]);
    // Another editor puts it there again, and we remove it: it is no longer ours.
    let third = apply(state, None, &[(A, ONE, NONE)]);
    apply(state, Some(third), &[(A, NONE, ONE)]);
    assert!(!is_own(state, A));
}

#[test]
fn an_undo_that_was_made_in_two_parts_is_one() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    apply(state, None, &[(A, NONE, ONE), (B, NONE, ONE)]);
    let first = apply(state, None, &[(A, ONE, NONE), (B, ONE, NONE)]);
    apply(state, Some(first), &[(A, NONE, ONE)]);
    assert!(is_own(state, A) && !is_own(state, B));
    apply(state, Some(first), &[(B, NONE, ONE)]);
    assert!(is_own(state, A) && is_own(state, B));
}

#[test]
fn an_undo_of_which_only_the_marker_tells_that_it_took_effect_counts_as_one() {
    let (_folder, file) = place();
    let state = &mut *open_to_write(&file).unwrap();
    let first = apply(state, None, &[(A, NONE, ONE), (B, ONE, NONE)]);
    let undo = begin(state, &NewApply { undoes: Some(first), ..new_apply() });
    let changes = [change(A, ONE, NONE), change(B, NONE, ONE)];
    run(state, undo, &batch(&changes, 1, swap(marker(1, 1))), Some(BatchOutcome::Unknown("no answer".into())));
    assert!(is_own(state, A) && !is_own(state, B));
    assert_eq!(state.note_standing(&copy(), &marker(1, 1), at(9)).unwrap(), 1);
    assert!(!is_own(state, A) && !is_own(state, B), "B is another editor's");
    assert_eq!(state.apply(undo).unwrap().unwrap().new.undoes, Some(first));
}
