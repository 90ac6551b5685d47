//! What is kept of applies that are over: their plans, who took them up, whom they left, and what they did where.

use super::*;
use crate::claim::Subject;

/// A plan that expires.
fn text(document: &str, expires: Time) -> PlanText<'_> {
    PlanText { document, made: at(0), expires, blocked: &[] }
}

/// A host of an apply.
fn host(inv: Option<u64>, name: &str, outcome: OutcomeCode) -> SubjectOutcome {
    let message = (outcome != OutcomeCode::Applied).then(|| format!("it is {outcome}"));
    let host = inv.map(Inv);
    SubjectOutcome {
        subject: fixture::subject(host.map(|inv| inv.0)),
        project: "search".into(),
        name: name.into(),
        changes: 1,
        outcome,
        is_between: false,
        message,
        hint: None,
        lacks: Vec::new(),
    }
}

/// The outcome of an apply.
fn applied(hosts: Vec<SubjectOutcome>) -> ApplyOutcome {
    ApplyOutcome { hosts, ..ApplyOutcome::default() }
}

/// A create of the AAAA at a name, for a host or no host.
fn create(inv: Option<u64>, name: &str) -> Change {
    fixture::change(("search", inv), (name, Rtype::AAAA), (NONE, (600, &["2a02::1"])), &[])
}

/// Begins an apply, sends these changes in a batch each, and settles each.
fn sends(state: &mut dyn State, changes: &[Change], settled: Option<&BatchOutcome>) -> ApplyId {
    let id = begin(state, &new_apply());
    for (number, change) in changes.iter().enumerate() {
        run(state, id, &batch(std::slice::from_ref(change), number as u64 + 1, None), settled.cloned());
    }
    id
}

/// Applies by their numbers.
fn numbers(ids: Vec<ApplyId>) -> Vec<u64> {
    ids.into_iter().map(|id| id.0).collect()
}

#[test]
fn a_plan_is_kept_until_all_of_it_is_done_or_it_has_expired() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let whole = state.begin(&new_apply(), &text("whole", at(100)), &RolloutChoice::default()).unwrap();
    let left = state.begin(&new_apply(), &text("left", at(100)), &RolloutChoice::default()).unwrap();
    let killed = state.begin(&new_apply(), &text("killed", at(50)), &RolloutChoice::default()).unwrap();
    state.finish(whole, &applied(vec![host(Some(7), A, OutcomeCode::Applied)]), Some(&[]), at(1)).unwrap();
    state.finish(left, &applied(vec![host(Some(7), A, OutcomeCode::Stale)]), None, at(1)).unwrap();
    drop(state);
    let mut state = open_to_write(&file).unwrap();
    let document = |state: &dyn State, id| state.document(id).unwrap();
    assert_eq!(document(&*state, whole), None);
    assert_eq!(document(&*state, left).as_deref(), Some("left"));
    assert_eq!(document(&*state, killed).as_deref(), Some("killed"));
    assert_eq!(state.document(ApplyId(9)).unwrap(), None);
    // A plan may be applied at the very time at which it expires.
    assert_eq!(state.resumable(at(50)).unwrap(), [killed, left]);
    assert_eq!(state.resumable(at(51)).unwrap(), [left]);
    assert_eq!(state.resumable(at(101)).unwrap(), []);
    let next = |seconds| NewApply { started: at(seconds), ..new_apply() };
    state.begin(&next(50), &text("next", at(150)), &RolloutChoice::default()).unwrap();
    assert!(document(&*state, killed).is_some());
    state.begin(&next(51), &text("after", at(151)), &RolloutChoice::default()).unwrap();
    assert_eq!((document(&*state, killed), document(&*state, left).as_deref()), (None, Some("left")));
    assert_eq!(state.applies(9).unwrap().len(), 5, "that they were is never forgotten");
}

#[test]
fn what_a_sync_made_is_its_own_to_go_on_with() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let planned = state.begin(&new_apply(), &text("planned", at(100)), &RolloutChoice::default()).unwrap();
    let synced = NewApply { inputs: [].into(), ..new_apply() };
    state.begin(&synced, &text("synced", at(100)), &RolloutChoice::default()).unwrap();
    let undone = NewApply { undoes: Some(planned), ..synced };
    assert_eq!(state.last_of_plan().unwrap().unwrap().id, planned);
    assert_eq!(state.syncs_after(planned).unwrap().len(), 1);
    assert_eq!(state.resumable(at(50)).unwrap(), [planned]);
    let undo = state.begin(&undone, &text("undo", at(100)), &RolloutChoice::default()).unwrap();
    let are_syncs: Vec<bool> = state.applies(9).unwrap().into_iter().map(|apply| apply.is_sync).collect();
    assert_eq!(are_syncs, [false, true, false]);
    assert_eq!(state.last_of_plan().unwrap().unwrap().id, undo);
    assert_eq!(state.resumable(at(50)).unwrap(), [undo, planned]);
}

#[test]
fn what_a_plan_left_is_kept_until_a_later_one_did_all_of_the_fleets() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let blocked = [u64::MAX, 7, 7].map(|inv| Subject::Host(Inv(inv)));
    let begin = |state: &mut dyn State, is_whole| {
        let text = PlanText { made: at(5), blocked: &blocked, ..text("", at(100)) };
        state.begin(&NewApply { is_whole, started: at(9), ..new_apply() }, &text, &RolloutChoice::default()).unwrap()
    };
    let kept = |hosts: &[Subject]| Some(PlanBasis { at: at(5), blocked: hosts.iter().cloned().collect() });
    let first = begin(&mut *state, true);
    let narrowed = begin(&mut *state, false);
    let second = begin(&mut *state, true);
    let done = |state: &mut dyn State, id| state.finish(id, &applied(Vec::new()), Some(&[]), at(10)).unwrap();
    let planned = |state: &dyn State| [first, narrowed, second].map(|id| state.planned(id).unwrap());
    done(&mut *state, narrowed);
    assert_eq!(planned(&*state), [kept(&blocked), kept(&[]), kept(&blocked)]);
    done(&mut *state, second);
    assert_eq!(planned(&*state), [kept(&[]), kept(&[]), kept(&blocked)]);
    assert_eq!(state.planned(ApplyId(9)).unwrap(), None);
    let (_folder, old) = place();
    v1(&old);
    assert_eq!(open_to_read(&old).unwrap().unwrap().planned(ApplyId(2)).unwrap(), None, "it was not kept then");
}

#[test]
fn the_plan_of_an_apply_that_did_all_is_kept_as_long_as_an_update_is_open() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = state.begin(&new_apply(), &text("plan", at(100)), &RolloutChoice::default()).unwrap();
    let changes = [create(Some(7), A)];
    run(&mut *state, id, &batch(&changes, 1, None), Some(BatchOutcome::Unknown("no answer".into())));
    let all = applied(vec![host(Some(7), A, OutcomeCode::Applied)]);
    state.finish(id, &all, Some(&[]), at(1)).unwrap();
    assert!(state.document(id).unwrap().is_some(), "it may yet be found out");
    let [open] = state.unsettled(id).unwrap().try_into().unwrap();
    assert!(state.note_found(&open, at(2)).unwrap());
    state.finish(id, &all, Some(&[]), at(3)).unwrap();
    assert_eq!(state.document(id).unwrap(), None);
}

#[test]
fn what_is_taken_up_again_has_not_ended_and_ends_anew() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &NewApply { undoes: Some(ApplyId(1)), ..new_apply() });
    let hosts = vec![
        host(Some(7), A, OutcomeCode::Applied),
        host(Some(u64::MAX), B, OutcomeCode::Failed),
        host(None, "c.search.example.net.", OutcomeCode::NotReached),
        host(Some(9), "d.search.example.net.", OutcomeCode::AlreadyApplied),
        host(Some(10), "e.search.example.net.", OutcomeCode::Stale),
    ];
    state.finish(id, &applied(hosts), None, at(5)).unwrap();
    let left = |inv: Option<u64>, name: &str, outcome: &str| LeftSubject {
        subject: fixture::subject(inv),
        project: "search".into(),
        name: name.into(),
        outcome: outcome.into(),
        message: Some(format!("it is {outcome}")),
    };
    let expected = [
        left(Some(u64::MAX), B, "failed"),
        left(None, "c.search.example.net.", "not-reached"),
        left(Some(10), "e.search.example.net.", "stale"),
    ];
    assert_eq!(state.left_hosts(id).unwrap(), expected, "in the order of the plan");
    let resumptions = [(20, "night", Some("after the reboot")), (30, "", None)].map(|(seconds, who, reason)| {
        Resumption { at: at(seconds), who: who.into(), reason: reason.map(str::to_owned) }
    });
    for resumption in &resumptions {
        state.resume(id, resumption, &RolloutChoice::default()).unwrap();
    }
    assert_eq!(state.last_finished().unwrap(), None);
    let [summary] = state.unfinished().unwrap().try_into().unwrap();
    assert_eq!((summary.finished, summary.outcomes.len(), summary.new.undoes), (None, 0, Some(ApplyId(1))));
    assert_eq!((summary.resumed.as_slice(), summary.begun()), (resumptions.as_slice(), at(30)));
    assert!(state.left_hosts(id).unwrap().is_empty(), "it is no longer known");
    state
        .finish(
            id,
            &applied(vec![host(Some(10), A, OutcomeCode::Stale), host(Some(7), A, OutcomeCode::Applied)]),
            None,
            at(40),
        )
        .unwrap();
    let summary = state.apply(id).unwrap().unwrap();
    assert_eq!((summary.finished, summary.new.started), (Some(at(40)), at(0)));
    assert_eq!(summary.outcomes, [("applied".to_owned(), 1), ("stale".to_owned(), 1)].into());
    let later = begin(&mut *state, &new_apply());
    state.finish(later, &applied(vec![]), None, at(39)).unwrap();
    assert_eq!(state.last_finished().unwrap(), Some(summary), "it was taken up, and ended after the later one");
    assert_eq!(state.left_hosts(id).unwrap(), [left(Some(10), A, "stale")]);
    assert_eq!(
        state.resume(ApplyId(9), &resumptions[0], &RolloutChoice::default()).unwrap_err().code.as_str(),
        "state-unwritable"
    );
    assert_eq!(state.apply(ApplyId(9)).unwrap(), None);
}

#[test]
fn what_became_of_each_update_is_told_in_the_order_of_sending() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let shared = Change {
        also: vec![Subject::Host(Inv(8)), Subject::Host(Inv(9))],
        ..change(A, (3600, &["2a02::2"]), (600, &["2a02::1"]))
    };
    let (first, second) = ([shared], [change(B, (600, &["2a02::1"]), NONE)]);
    run(&mut *state, id, &batch(&second, 10, swap(marker(1, 3))), None);
    run(&mut *state, id, &batch(&first, 2, swap(marker(1, 1))), Some(BatchOutcome::Undone("refused".into())));
    run(&mut *state, id, &batch(&first, 3, swap(marker(1, 1))), Some(BatchOutcome::Done));
    run(&mut *state, id, &batch(&second, 9, swap(marker(1, 2))), Some(BatchOutcome::Unknown("no answer".into())));
    let sent = state.sent(id).unwrap();
    let fates: Vec<(u64, &SentFate)> = sent.iter().map(|sent| (sent.number, &sent.fate)).collect();
    let (undone, unknown) = (SentFate::Undone("refused".into()), SentFate::Unknown(Some("no answer".into())));
    let never = SentFate::Unknown(None);
    assert_eq!(fates, [(2, &undone), (3, &SentFate::Done), (9, &unknown), (10, &never)]);
    let SentUpdate { zone, phase, at: when, changes, .. } = &sent[1];
    assert_eq!((zone, phase.as_str(), *when), (&fixture::zone("search.example.net"), "forward", at(3)));
    let rrset = |ttl, text: &str| Some(RrsetText { mark: None, ttl, rdata: vec![text.to_owned()] });
    let expected = SentChange {
        registers: None,
        subject: Subject::Host(Inv(7)),
        also: vec![Subject::Host(Inv(8)), Subject::Host(Inv(9))],
        project: "search".into(),
        name: Name::parse(A).unwrap(),
        rtype: Rtype::AAAA,
        before: rrset(3600, "2a02::2"),
        after: rrset(600, "2a02::1"),
    };
    assert_eq!(*changes, [expected]);
    assert!(state.sent(ApplyId(9)).unwrap().is_empty());
    // Each RRset is reported once, with the change that says most about what is there.
    let summary = state.apply(id).unwrap().unwrap();
    let (left, allowed, gates, approvals, published) = (vec![], vec![], vec![], vec![], vec![]);
    let past = PastApply { summary, sent, left, allowed, gates, approvals, published };
    let names: Vec<(u64, String)> =
        past.changes().iter().map(|(sent, change)| (sent.number, change.name.to_string())).collect();
    assert_eq!(names, [(3, format!("{A}.")), (10, format!("{B}."))]);
}

#[test]
fn the_applies_of_a_host_are_those_that_tried_something_for_it() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let also = |hosts: &[u64]| Change {
        also: hosts.iter().map(|inv| Subject::Host(Inv(*inv))).collect(),
        ..create(Some(1), A)
    };
    sends(&mut *state, &[create(Some(7), A)], Some(&BatchOutcome::Done));
    sends(&mut *state, &[create(Some(77), A), create(Some(17), B)], Some(&BatchOutcome::Undone("refused".into())));
    sends(&mut *state, &[also(&[7])], None);
    sends(&mut *state, &[also(&[5, 7, 78])], Some(&BatchOutcome::Done));
    sends(&mut *state, &[also(&[5, 7]), create(None, B)], Some(&BatchOutcome::Done));
    // Digits in a text are no number of a host.
    sends(&mut *state, &[Change { project: "a,7,\"host\":7,[7]".into(), ..also(&[5]) }], Some(&BatchOutcome::Done));
    let id = sends(&mut *state, &[create(Some(u64::MAX), B)], Some(&BatchOutcome::Unknown("no answer".into())));
    state
        .finish(
            id,
            &applied(vec![host(Some(7), A, OutcomeCode::Stale), host(Some(8), B, OutcomeCode::Applied)]),
            None,
            at(9),
        )
        .unwrap();
    let of = |inv| numbers(state.applies_of(Inv(inv)).unwrap());
    assert_eq!(of(7), [7, 5, 4, 3, 1]);
    assert_eq!((of(77), of(17), of(78), of(5)), (vec![2], vec![2], vec![4], vec![6, 5, 4]));
    assert_eq!((of(u64::MAX), of(8), of(0)), (vec![7], vec![], vec![]));
}

#[test]
fn the_applies_at_a_name_are_those_of_that_name_alone() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let names = ["a_b", "axb", "a%b", "a!b", "a!_b", "a\\\\b", "a\\.b", "a\\\"b", "\\195\\164", "B-1"];
    for label in names {
        sends(&mut *state, &[create(Some(7), &format!("{label}.search.example.net"))], Some(&BatchOutcome::Done));
    }
    let pointer =
        |to: &str| fixture::change(("search", Some(7)), ("2a02:6b8::1", Rtype::PTR), (NONE, (600, &[to])), &[]);
    sends(&mut *state, &[pointer("a_b.search.example.net.")], Some(&BatchOutcome::Undone("refused".into())));
    sends(&mut *state, &[create(Some(7), "x.a_b.search.example.net")], None);
    let at_name = |text: &str| {
        let name = Name::parse(&format!("{text}.search.example.net")).unwrap();
        numbers(state.applies_at(&name).unwrap())
    };
    for (place, label) in names.iter().enumerate().skip(1) {
        assert_eq!(at_name(label), [place as u64 + 1], "{label}");
    }
    assert_eq!(at_name("a_b"), [11, 1]);
    assert_eq!((at_name("A_B"), at_name("b-1"), at_name("c")), (vec![11, 1], vec![10], vec![]));
    // Behind an escaped quote another name may seem to begin; the changes themselves tell.
    assert_eq!(at_name("b"), [8]);
    let b = Name::parse(B).unwrap();
    assert!(!state.sent(ApplyId(8)).unwrap()[0].changes[0].is_at(&b));
    let hosts = vec![host(Some(7), "late.search.example.net.", OutcomeCode::Failed)];
    state.finish(ApplyId(4), &applied(hosts), None, at(9)).unwrap();
    let late = Name::parse("late.search.example.net").unwrap();
    assert_eq!(numbers(state.applies_at(&late).unwrap()), [4], "a host that an apply left is reported, too");
    let name = Name::parse("a_b.search.example.net").unwrap();
    assert!(state.sent(ApplyId(11)).unwrap()[0].changes[0].is_at(&name));
    assert!(!state.sent(ApplyId(12)).unwrap()[0].changes[0].is_at(&name));
}

#[test]
fn what_was_own_when_it_was_deleted_is_own_again_after_an_undo() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let data: Side<'_> = (600, &["2a02::1"]);
    let settled = Some(&BatchOutcome::Done);
    sends(&mut *state, &[change(A, NONE, data)], settled);
    let deleted = sends(&mut *state, &[change(A, data, NONE), change(B, data, NONE)], settled);
    let undo = begin(&mut *state, &NewApply { undoes: Some(deleted), ..new_apply() });
    for (number, name) in [(1, A), (2, B)] {
        run(&mut *state, undo, &batch(&[change(name, NONE, data)], number, None), settled.cloned());
    }
    assert!(is_own(&*state, A) && !is_own(&*state, B), "what others created stays theirs");
}

#[test]
fn what_version_1_kept_can_be_reported() {
    let (_folder, file) = place();
    v1(&file);
    let before = fs::read(&file).unwrap();
    let read = open_to_read(&file).unwrap().unwrap();
    assert_eq!(fs::read(&file).unwrap(), before, "who only reads leaves it as it is");
    for state in [read, open_to_write(&file).unwrap()] {
        let summary = state.apply(ApplyId(1)).unwrap().unwrap();
        assert_eq!((summary.new.undoes, summary.resumed.len(), summary.updates_done), (None, 0, 1));
        assert_eq!(state.resumable(at(0)).unwrap(), []);
        assert_eq!(state.document(ApplyId(2)).unwrap(), None);
        assert!(state.left_hosts(ApplyId(1)).unwrap().is_empty());
        let sent = state.sent(ApplyId(1)).unwrap();
        assert_eq!((sent.len(), &sent[0].fate), (1, &SentFate::Done));
        assert_eq!((sent[0].changes[0].subject.host(), sent[0].changes[0].also.len()), (Some(Inv(7)), 0));
        assert_eq!(state.sent(ApplyId(2)).unwrap(), [], "of which there are no changes");
        assert_eq!(numbers(state.applies_of(Inv(7)).unwrap()), [1]);
        assert_eq!(numbers(state.applies_at(&Name::parse(A).unwrap()).unwrap()), [1]);
    }
}

#[test]
fn every_row_of_version_1_is_there_after_the_step() {
    let (folder, file) = place();
    v1(&file);
    let copy = folder.path().join("copy.db");
    fs::copy(&file, &copy).unwrap();
    drop(open_to_write(&file).unwrap());
    let (old, new) = (Connection::open(&copy).unwrap(), Connection::open(&file).unwrap());
    let rows = |db: &Connection, table: &str, columns: &str| {
        let mut query = db.prepare(&format!("SELECT {columns} FROM {table} ORDER BY 1, 2")).unwrap();
        let count = query.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..count).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect();
        query.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<Vec<_>>>>().unwrap()
    };
    let applies = "id, plan, effect, started, who, reason, inputs, hosts, finished, outcomes";
    assert_eq!(rows(&old, "applies", "*"), rows(&new, "applies", applies));
    for table in ["batches", "own_rrsets", "markers", "breakers"] {
        let (before, mut found) = (rows(&old, table, "*"), rows(&new, table, "*"));
        // What a step adds to a row comes last.
        found.iter_mut().zip(&before).for_each(|(row, before)| row.truncate(before.len()));
        assert_eq!(before, found, "{table}");
        assert!(!found.is_empty(), "{table}");
    }
}

#[test]
fn the_latest_apply_after_another_that_changed_an_rrset_is_found() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let quoted = r"a\034b.search.example.net";
    let text = |name: &str| fixture::change(("search", Some(7)), (name, Rtype::TXT), (NONE, (600, &["\"t\""])), &[]);
    let first = sends(&mut *state, &[create(Some(7), A), create(Some(8), quoted)], Some(&BatchOutcome::Done));
    let second = sends(&mut *state, &[create(Some(7), A), create(Some(8), quoted)], Some(&BatchOutcome::Done));
    let third = sends(&mut *state, &[text(A), create(Some(7), A)], None);
    sends(&mut *state, &[create(Some(7), A), text(B)], Some(&BatchOutcome::Undone("refused".into())));
    let rrsets = [create(None, A), create(None, quoted), create(None, B), text(A), text(B), create(None, A)];
    let keys: Vec<_> = rrsets.iter().map(|change| SightedRrset::anywhere(&change.key)).collect();
    let found = |after| state.last_changed(after, &keys).unwrap();
    assert_eq!(found(first), [Some(third), Some(second), None, Some(third), None, Some(third)]);
    assert_eq!(found(second), [Some(third), None, None, Some(third), None, Some(third)]);
    assert_eq!(found(third), [None; 6]);
    assert!(state.last_changed(first, &[]).unwrap().is_empty());
}
