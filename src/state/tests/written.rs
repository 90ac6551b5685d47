//! What the latest update left at an RRset.

use super::*;

/// Sends one change at a time, and settles it where that is known.
fn send(
    state: &mut dyn State,
    apply: ApplyId,
    (number, seconds): (u64, u64),
    change: &Change,
    settled: Option<BatchOutcome>,
) {
    let batch = batch(std::slice::from_ref(change), number, None);
    state.note_sending(apply, &batch, at(seconds)).unwrap();
    if let Some(settled) = settled {
        state.note_settled(apply, &batch, &settled, at(seconds + 1)).unwrap();
    }
}

/// A change that leaves something.
fn leaves(name: &str, text: &str) -> Change {
    change(name, NONE, (600, &[text]))
}

/// What an update of an apply left so many seconds after some moment, where it was new or was another record.
fn written(
    (apply, number): (ApplyId, u64),
    seconds: u64,
    (is_new, after): (bool, Option<&str>),
) -> Option<WrittenRrset> {
    let after = after.map(|text| RrsetText { mark: None, ttl: 600, rdata: vec![text.to_owned()] });
    Some(WrittenRrset { apply, number, at: at(seconds), is_new, after })
}

#[test]
fn the_latest_update_that_took_effect_says_what_it_left() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let state = &mut *state;
    let first = begin(state, &new_apply());
    send(state, first, (1, 10), &leaves(A, "2a02::1"), Some(BatchOutcome::Done));
    send(state, first, (2, 20), &leaves(A, "2a02::2"), Some(BatchOutcome::Done));
    send(state, first, (3, 30), &leaves(B, "2a02::1"), Some(BatchOutcome::Done));
    let second = begin(state, &new_apply());
    send(state, second, (1, 40), &change(B, (600, &["2a02::1"]), NONE), Some(BatchOutcome::Done));
    send(state, second, (2, 50), &leaves(A, "2a02::3"), Some(BatchOutcome::Undone("refused".into())));
    let quoted = r"a\034b.search.example.net";
    send(state, second, (3, 60), &leaves(quoted, "2a02::4"), Some(BatchOutcome::Done));
    let text = fixture::change(("search", Some(7)), (A, Rtype::TXT), (NONE, (600, &["\"t\""])), &[]);
    let asked = [
        leaves(quoted, "::"),
        leaves(B, "::"),
        text,
        leaves(A, "::"),
        leaves("c.search.example.net", "::"),
        leaves(A, "::"),
    ];
    let keys: Vec<_> = asked.iter().map(|change| SightedRrset::anywhere(&change.key)).collect();
    let a = written((first, 2), 20, (true, Some("2a02::2")));
    let expected = [
        written((second, 3), 60, (true, Some("2a02::4"))),
        written((second, 1), 40, (false, None)),
        None,
        a.clone(),
        None,
        a,
    ];
    assert_eq!(state.last_written(&keys).unwrap(), expected);
    assert!(state.last_written(&[]).unwrap().is_empty());
}

#[test]
fn an_update_that_may_have_taken_effect_leaves_an_unknown_rrset() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let state = &mut *state;
    let id = begin(state, &new_apply());
    for (number, name) in [(1, A), (2, B)] {
        send(state, id, (number, number), &leaves(name, "2a02::1"), Some(BatchOutcome::Done));
    }
    let next = begin(state, &new_apply());
    let other = |name| change(name, (600, &["2a02::1"]), (600, &["2a02::2"]));
    send(state, next, (1, 10), &other(A), Some(BatchOutcome::Unknown("no answer".into())));
    send(state, next, (2, 20), &other(B), None);
    let (a, b) = (leaves(A, "::"), leaves(B, "::"));
    let found = |state: &dyn State| state.last_written(&[&a.key, &b.key].map(SightedRrset::anywhere)).unwrap();
    assert_eq!(found(state), [None, None]);
    // Once it is found out, what it left counts, from when it was sent.
    for open in state.unsettled(next).unwrap() {
        assert!(state.note_found(&open, at(90)).unwrap());
    }
    assert_eq!(found(state), [1, 2].map(|number| written((next, number), 10 * number, (false, Some("2a02::2")))));
}

#[test]
fn an_apply_that_is_taken_up_again_may_write_after_a_later_one() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let state = &mut *state;
    let first = begin(state, &new_apply());
    let second = begin(state, &new_apply());
    send(state, second, (1, 10), &leaves(A, "2a02::2"), Some(BatchOutcome::Done));
    send(state, first, (1, 20), &leaves(A, "2a02::1"), Some(BatchOutcome::Done));
    // Of updates in one moment the one that was sent last counts.
    send(state, first, (2, 30), &leaves(B, "2a02::1"), Some(BatchOutcome::Done));
    send(state, second, (2, 30), &leaves(B, "2a02::2"), Some(BatchOutcome::Done));
    send(state, second, (3, 30), &leaves(B, "2a02::3"), Some(BatchOutcome::Done));
    let (a, b) = (leaves(A, "::"), leaves(B, "::"));
    let expected =
        [written((first, 1), 20, (true, Some("2a02::1"))), written((second, 3), 30, (true, Some("2a02::3")))];
    assert_eq!(state.last_written(&[&a.key, &b.key].map(SightedRrset::anywhere)).unwrap(), expected);
}

#[test]
fn a_clock_that_was_set_back_changes_nothing_of_what_was_sent_last() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let state = &mut *state;
    let first = begin(state, &new_apply());
    send(state, first, (1, 7200), &leaves(A, "2a02::1"), Some(BatchOutcome::Done));
    let second = begin(state, &new_apply());
    send(state, second, (1, 60), &leaves(A, "2a02::2"), Some(BatchOutcome::Done));
    assert_eq!(
        state.last_written(&[SightedRrset::anywhere(&leaves(A, "::").key)]).unwrap(),
        [written((second, 1), 60, (true, Some("2a02::2")))]
    );
}

#[test]
fn what_version_1_wrote_is_known() {
    let (_folder, file) = place();
    v1(&file);
    let state = open_to_read(&file).unwrap().unwrap();
    let (a, b) = (leaves(A, "::"), leaves(B, "::"));
    let found = state.last_written(&[&a.key, &b.key].map(SightedRrset::anywhere)).unwrap();
    let after = found[0].clone().unwrap().after.unwrap();
    assert_eq!((after.ttl, after.rdata, &found[1]), (600, vec!["2a02::1".to_owned()], &None));
}

#[test]
fn the_version_is_another_one_only_after_another_process_wrote() {
    let (_folder, file) = place();
    let mut writer = open_to_write(&file).unwrap();
    let reader = open_to_read(&file).unwrap().unwrap();
    let first = reader.version().unwrap();
    assert_eq!(reader.version().unwrap(), first);
    let id = begin(&mut *writer, &new_apply());
    let begun = reader.version().unwrap();
    assert_ne!(begun, first);
    send(&mut *writer, id, (1, 10), &leaves(A, "2a02::1"), Some(BatchOutcome::Done));
    assert_ne!(reader.version().unwrap(), begun);
    assert_eq!(writer.version().unwrap(), writer.version().unwrap());
}
