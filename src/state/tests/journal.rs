//! What an apply writes down is there, and moves markers, own RRsets and the ledger when it took effect.

use super::*;
use crate::claim::Subject;

#[test]
fn what_was_written_is_there_after_opening_again() {
    let (_folder, file) = place();
    assert!(open_to_read(&file).unwrap().is_none());
    let mut state = open_to_write(&file).unwrap();
    assert!(state.applies(10).unwrap().is_empty() && state.markers().unwrap().copies().is_empty());
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(1, 1))), Some(BatchOutcome::Done));
    let host = SubjectOutcome {
        subject: Subject::Host(Inv(7)),
        project: "search".into(),
        name: A.into(),
        changes: 1,
        outcome: OutcomeCode::Applied,
        is_between: false,
        message: None,
        hint: None,
        lacks: Vec::new(),
    };
    state.finish(id, &ApplyOutcome { hosts: vec![host], ..ApplyOutcome::default() }, Some(&[]), at(9)).unwrap();
    drop(state);
    for state in [open_to_read(&file).unwrap().unwrap(), open_to_write(&file).unwrap()] {
        let expected = ApplySummary {
            id: ApplyId(1),
            new: NewApply { inputs: BTreeMap::new(), ..new_apply() },
            finished: Some(at(9)),
            outcomes: [("applied".to_owned(), 1)].into(),
            updates_done: 1,
            updates_open: 0,
            is_sync: false,
            resumed: vec![],
        };
        assert_eq!(state.applies(10).unwrap(), [expected]);
        assert!(state.unfinished().unwrap().is_empty());
        assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open: vec![] });
        assert!(is_own(&*state, A) && !is_own(&*state, B));
        assert_eq!(state.changed_since(at(2)).unwrap(), [("search".to_owned(), Subject::Host(Inv(7)), at(2))]);
        assert!(state.changed_since(at(3)).unwrap().is_empty());
        assert!(state.breakers().unwrap().is_empty());
    }
}

#[test]
fn the_journal_says_what_stood_there_before() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, (3600, &["2a02::2", "2a02::10"]), (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 2, swap(marker(1, 2))), None);
    let db = Connection::open(&file).unwrap();
    let text = |sql: &str| db.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    insta::assert_snapshot!(text("SELECT changes FROM batch_changes"), @r#"[{"after":{"rdata":["2a02::1"],"ttl":600},"before":{"rdata":["2a02::10","2a02::2"],"ttl":3600},"name":"a.search.example.net.","pool":"main","project":"search","subject":"host:7","type":"AAAA","zone":"search.example.net."}]"#);
    assert_eq!(text("SELECT marker_before FROM batches"), "\"e=1 p=sha256:aa b=1\"");
}

#[test]
fn a_batch_that_never_settled_leaves_its_marker_open() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(1, 1))), Some(BatchOutcome::Done));
    run(&mut *state, id, &batch(&changes, 2, swap(marker(1, 2))), Some(BatchOutcome::Undone("refused".into())));
    run(&mut *state, id, &batch(&changes, 3, swap(marker(1, 3))), Some(BatchOutcome::Unknown("no answer".into())));
    run(&mut *state, id, &batch(&changes, 4, swap(marker(1, 4))), None);
    drop(state);
    let mut state = open_to_write(&file).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open: vec![marker(1, 3), marker(1, 4)] });
    let unfinished = state.unfinished().unwrap();
    assert_eq!((unfinished[0].id, unfinished[0].updates_done, unfinished[0].updates_open), (id, 1, 2));
    assert!(unfinished[0].finished.is_none());
    // What took effect later in the zone shows that no other can.
    let next = begin(&mut *state, &new_apply());
    assert_eq!(next, ApplyId(2));
    run(&mut *state, next, &batch(&changes, 1, swap(marker(2, 1))), Some(BatchOutcome::Done));
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(2, 1)), open: vec![] });
    assert_eq!(fates(&*state, id)[2..], ["undone: another marker replaced it"; 2]);
    assert_eq!(state.apply(id).unwrap().unwrap().updates_open, 0);
}

/// The outcomes of the updates of an apply, in words.
fn fates(state: &dyn State, id: ApplyId) -> Vec<String> {
    let word = |sent: SentUpdate| match sent.fate {
        SentFate::Done => "done".to_owned(),
        SentFate::Undone(why) => format!("undone: {why}"),
        SentFate::Unknown(_) => "open".to_owned(),
    };
    state.sent(id).unwrap().into_iter().map(word).collect()
}

#[test]
fn without_a_marker_what_takes_effect_shows_what_did_not() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (one, two): (Side<'_>, Side<'_>) = ((600, &["2a02::1"]), (600, &["2a02::2"]));
    run(&mut *state, id, &batch(&[change(A, NONE, one)], 1, None), None);
    run(&mut *state, id, &batch(&[change(A, two, one)], 2, None), None);
    run(&mut *state, id, &batch(&[change(B, NONE, one)], 3, None), None);
    // Where nothing is compared, or the answer was lost, it may have found anything.
    run(&mut *state, id, &batch(&[change(A, NONE, two)], 4, None), Some(BatchOutcome::Found));
    run(&mut *state, id, &batch(&[change(A, NONE, two)], 5, None), Some(BatchOutcome::Raced("others write".into())));
    assert_eq!(fates(&*state, id), ["open", "open", "open", "done", "done"]);
    // Each found the first as it was to be found, the others not, or they are about something else.
    run(&mut *state, id, &batch(&[change(A, NONE, two)], 6, None), Some(BatchOutcome::Done));
    let undone = "undone: a later update found what it was to change as it was before";
    assert_eq!(fates(&*state, id), [undone, "open", "open", "done", "done", "done"]);
}

#[test]
fn an_answer_that_comes_late_moves_no_marker_back() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    let batches = [1, 2, 3].map(|number| batch(&changes, number, swap(marker(1, number))));
    for batch in &batches {
        state.note_sending(id, batch, at(1)).unwrap();
    }
    state.note_settled(id, &batches[1], &BatchOutcome::Done, at(2)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 2)), open: vec![marker(1, 3)] });
    state.note_settled(id, &batches[0], &BatchOutcome::Done, at(3)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 2)), open: vec![marker(1, 3)] });
}

#[test]
fn the_marker_that_stands_settles_what_a_crash_left_open() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let create = |name| [change(name, NONE, (600, &["2a02::1"]))];
    let (a, b, c) = (create(A), create(B), create("c.search.example.net"));
    let after = |marker: &Marker, number| {
        let after = Marker { batch: number, ..marker.clone() };
        Some(MarkerSwap { before: Some(marker.to_rrset()), after })
    };
    run(&mut *state, id, &batch(&a, 1, swap(marker(1, 1))), None);
    // Sent again as the third, after a refusal of what went before.
    run(&mut *state, id, &batch(&b, 2, after(&marker(1, 1), 2)), Some(BatchOutcome::Unknown("no answer".into())));
    run(&mut *state, id, &batch(&b, 3, after(&marker(1, 1), 3)), None);
    run(&mut *state, id, &batch(&c, 4, after(&marker(1, 3), 4)), None);
    assert_eq!(state.note_standing(&copy(), &marker(2, 9), at(8)).unwrap(), 0, "another writer's says nothing");
    assert_eq!(known(&*state).open.len(), 4);
    let perhaps = |state: &dyn State, since| {
        let hosts = state.perhaps_changed_since(at(since)).unwrap();
        hosts.into_iter().map(|(project, host, at)| (project, host.host().unwrap().0, at)).collect::<Vec<_>>()
    };
    let sent = |seconds| ("search".to_owned(), 7, at(seconds));
    assert_eq!(perhaps(&*state, 2), [sent(2), sent(3), sent(4)], "one is older");
    assert_eq!(state.note_standing(&copy(), &marker(1, 3), at(9)).unwrap(), 2);
    assert_eq!(perhaps(&*state, 0), [sent(4)], "of the others it is known");
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 3)), open: vec![marker(1, 4)] });
    assert!(is_own(&*state, A) && is_own(&*state, B) && !is_own(&*state, "c.search.example.net"));
    assert_eq!(state.changed_since(at(9)).unwrap(), [("search".to_owned(), Subject::Host(Inv(7)), at(9))]);
    assert_eq!((state.unfinished().unwrap()[0].updates_done, state.unfinished().unwrap()[0].updates_open), (2, 1));
    assert_eq!(state.note_standing(&copy(), &marker(1, 3), at(9)).unwrap(), 0, "once is enough");
    // Adopting the marker has the same result.
    state.adopt_markers(&[(copy(), Some(marker(1, 4)))], "ops", "looked at", at(10)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 4)), open: vec![] });
    assert!(is_own(&*state, "c.search.example.net"));
}

#[test]
fn own_is_what_was_created_and_not_deleted_since() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (one, two): (Side<'_>, Side<'_>) = ((600, &["2a02::1"]), (600, &["2a02::2"]));
    let mut number = 0;
    let mut then = |state: &mut dyn State, before, after, settled| {
        number += 1;
        let changes = [change(A, before, after)];
        run(state, id, &batch(&changes, number, None), Some(settled));
        is_own(state, A)
    };
    let state = &mut *state;
    assert!(!then(state, one, two, BatchOutcome::Done), "what others created stays theirs when it is modified");
    assert!(!then(state, NONE, one, BatchOutcome::Undone("refused".into())));
    assert!(!then(state, NONE, one, BatchOutcome::Unknown("no answer".into())));
    assert!(then(state, NONE, one, BatchOutcome::Done));
    assert!(then(state, NONE, one, BatchOutcome::Done), "what is own stays own");
    assert!(then(state, one, two, BatchOutcome::Done));
    assert!(then(state, two, NONE, BatchOutcome::Undone("refused".into())));
    assert!(!then(state, two, NONE, BatchOutcome::Done));
    assert!(state.markers().unwrap().copies().is_empty(), "a zone without a fence has no marker");
}

#[test]
fn the_ledger_has_each_host_of_an_apply_once() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let orphan = fixture::change(("search", None), (B, Rtype::AAAA), ((600, &["2a02::9"]), NONE), &[]);
    // No number is too large.
    let far = fixture::change(("web", Some(u64::MAX)), (B, Rtype::AAAA), (NONE, (600, &["2a02::9"])), &[]);
    let also = Change { also: vec![Subject::Host(Inv(8))], ..change(A, NONE, (600, &["2a02::1"])) };
    let changes = [also, change(B, NONE, (600, &["2a02::2"])), orphan, far];
    for _ in 0..2 {
        let id = begin(&mut *state, &new_apply());
        run(&mut *state, id, &batch(&changes, 1, None), Some(BatchOutcome::Done));
        run(&mut *state, id, &batch(&changes[..2], 4, None), Some(BatchOutcome::Done));
    }
    let web = |when| ("web".to_owned(), Subject::Host(Inv(u64::MAX)), when);
    let search = |when| ("search".to_owned(), Subject::Host(Inv(7)), when);
    assert_eq!(state.changed_since(at(0)).unwrap(), [web(at(2)), web(at(2)), search(at(5)), search(at(5))]);
    assert_eq!(state.changed_since(at(5)).unwrap().len(), 2);
}

#[test]
fn what_was_never_created_is_not_own() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let apply = begin(&mut *state, &new_apply());
    let data: Side<'_> = (600, &["2a02:6b8::1"]);
    let changes = ["a.search.example.net", "b.search.example.net"].map(|name| change(name, NONE, data));
    run(&mut *state, apply, &batch(&changes, 1, None), Some(BatchOutcome::Done));
    state.disown(&[(&copy().target, &changes[0].key)]).unwrap();
    assert_eq!(["a.search.example.net", "b.search.example.net"].map(|name| is_own(&*state, name)), [false, true]);
}

#[test]
fn adopted_markers_are_known() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(3, 1))), None);
    let zones = [(copy(), Some(marker(9, 2))), (fixture::copy("example.net"), None)];
    state.adopt_markers(&zones, "ops", "moved to another runner", at(1)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(9, 2)), open: vec![] });
    assert_eq!(state.markers().unwrap().copies().len(), 1);
    let gone = [(copy(), None)];
    state.adopt_markers(&gone, "ops", "made anew", at(2)).unwrap();
    assert!(state.markers().unwrap().copies().is_empty());
    let db = Connection::open(&file).unwrap();
    let kept = "SELECT count(*) FROM adoptions WHERE who = 'ops' AND reason <> ''";
    assert_eq!(db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}

#[test]
fn two_copies_of_a_zone_have_their_own_markers_and_updates() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    let target = |name: &str| CopyId { target: TargetId { pool: fixture::pool(), name: name.into() }, ..copy() };
    let at_target = |name, number, swap| Batch { copy: target(name), ..batch(&changes, number, swap) };
    let lost = || Some(BatchOutcome::Unknown("no answer".into()));
    run(&mut *state, id, &at_target("a", 1, swap(marker(1, 1))), lost());
    run(&mut *state, id, &at_target("b", 2, swap(marker(3, 1))), lost());
    run(&mut *state, id, &at_target("a", 3, None), lost());
    run(&mut *state, id, &at_target("b", 4, None), Some(BatchOutcome::Done));
    assert_eq!(fates(&*state, id), ["open", "open", "open", "done"], "an update overtakes none elsewhere");
    assert_eq!(state.note_standing(&target("b"), &marker(3, 1), at(9)).unwrap(), 1);
    assert_eq!(fates(&*state, id), ["open", "done", "open", "done"], "a marker settles none elsewhere");
    let known = state.markers().unwrap();
    assert_eq!(known.of(&target("a")), [&KnownMarker { marker: None, open: vec![marker(1, 1)] }]);
    assert_eq!(known.of(&target("b")), [&KnownMarker { marker: Some(marker(3, 1)), open: vec![] }]);
    assert!(!known.covers(&target("a"), &marker(3, 1)), "that of another copy");
    // A target that got another name is still known by its pool.
    assert_eq!((known.of(&target("c")).len(), known.epoch(&target("c"))), (2, 3));
    let targets = ["b", "c"].map(|name| target(name).target);
    let among = known.clone().among(&targets);
    assert_eq!(among.of(&target("c")), known.of(&target("a")), "that of another target of the pool is not meant");
    // A new target may have been filled from another one, whose marker it has then.
    assert!(among.covers(&target("c"), &marker(3, 1)));
    assert!(!among.covers(&target("c"), &marker(2, 1)) && !among.covers(&target("c"), &marker(3, 2)));
    assert_eq!(state.unsettled(id).unwrap()[0].copy, target("a"));
    state.adopt_markers(&[(target("b"), None)], "ops", "made anew", at(10)).unwrap();
    assert_eq!(state.markers().unwrap().copies().keys().collect::<Vec<_>>(), [&target("a")]);
}

#[test]
fn a_state_covers_its_markers_and_older_ones() {
    let known = KnownMarker { marker: Some(marker(3, 2)), open: vec![marker(4, 1)] };
    assert_eq!(known.epoch(), 4);
    for covered in [marker(3, 2), marker(4, 1), marker(3, 9), marker(1, 1)] {
        assert!(known.covers(&covered), "{covered}");
    }
    for other in [marker(4, 2), marker(5, 1), Marker { plan: "other".into(), ..marker(4, 1) }] {
        assert!(!known.covers(&other), "{other}");
    }
    let nothing = KnownMarker { marker: None, open: vec![] };
    assert!(!nothing.covers(&marker(1, 1)) && nothing.epoch() == 0);
}

#[test]
fn what_was_never_sent_cannot_settle() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    let never = batch(&changes, 1, None);
    assert_eq!(
        state.note_settled(id, &never, &BatchOutcome::Done, at(1)).unwrap_err().code.as_str(),
        "state-unwritable"
    );
    assert!(!is_own(&*state, A), "nothing of it is kept");
    assert!(state.note_sending(ApplyId(9), &never, at(1)).is_err(), "nor is there an apply 9");
    state.note_sending(id, &never, at(1)).unwrap();
    assert!(state.note_sending(id, &never, at(1)).is_err(), "each update has a number of its own");
}

#[test]
fn what_settles_and_what_is_sent_next_are_kept_together_or_not_at_all() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let (a, b) = ([change(A, NONE, (600, &["2a02::1"]))], [change(B, NONE, (600, &["2a02::1"]))]);
    let (first, second) = (batch(&a, 1, swap(marker(1, 1))), batch(&b, 2, swap(marker(1, 2))));
    let c = [change("c.search.example.net.", NONE, (600, &["2001:db8::1"]))];
    let third = batch(&c, 3, swap(marker(1, 3)));
    let done = [SettledBatch { batch: &first, outcome: &BatchOutcome::Done }];
    assert!(state.note_settled_and_sending(id, &done, &[&second], at(1)).is_err(), "the first was never sent");
    assert!(state.sent(id).unwrap().is_empty());
    state.note_sending(id, &first, at(1)).unwrap();
    assert!(state.note_settled_and_sending(id, &done, &[&second, &first], at(2)).is_err(), "it was sent already");
    assert_eq!((fates(&*state, id), is_own(&*state, A)), (vec!["open".to_owned()], false));
    state.note_settled_and_sending(id, &done, &[&second, &third], at(2)).unwrap();
    assert_eq!(fates(&*state, id), ["done", "open", "open"]);
    let open = vec![marker(1, 2), marker(1, 3)];
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open });
    assert!(is_own(&*state, A) && !is_own(&*state, B));
    let both = [&second, &third].map(|batch| SettledBatch { batch, outcome: &BatchOutcome::Done });
    state.note_settled_and_sending(id, &both, &[], at(3)).unwrap();
    assert_eq!(fates(&*state, id), ["done", "done", "done"]);
}

#[test]
fn what_is_there_shows_nothing_of_other_updates_without_a_marker() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let a = [change("a.search.example.net.", NONE, (600, &["2001:db8::1"]))];
    let other = [change("a.search.example.net.", NONE, (600, &["2001:db8::9"]))];
    let b = [change("b.search.example.net.", NONE, (600, &["2001:db8::2"]))];
    let lost = || Some(BatchOutcome::Unknown("no answer".into()));
    run(&mut *state, id, &batch(&a, 1, None), lost());
    run(&mut *state, id, &batch(&other, 2, None), lost());
    run(&mut *state, id, &batch(&b, 3, None), lost());
    run(&mut *state, id, &batch(&a, 4, None), lost());
    let open = state.unsettled(id).unwrap();
    assert!(state.note_found(&open[0], at(9)).unwrap() && !state.note_found(&open[0], at(9)).unwrap());
    // The second may have been there before another editor wrote what the first was to leave, and the last says the same as the first.
    assert_eq!(fates(&*state, id), ["done", "open", "open", "open"]);
    assert!(state.note_found(&open[3], at(9)).unwrap());
    assert!(is_own(&*state, "a.search.example.net.") && !is_own(&*state, "b.search.example.net."));
    run(&mut *state, id, &batch(&b, 5, None), Some(BatchOutcome::Done));
    assert_eq!(
        fates(&*state, id)[1..3],
        ["open", "undone: a later update found what it was to change as it was before"]
    );
}
