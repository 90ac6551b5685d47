//! What a state keeps, over crashes, versions and other processes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::apply::{HostOutcome, Outcome, Phase, Swap};
use crate::dns::{Name, Rtype};
use crate::inventory::value::Duration;
use crate::plan::Change;
use crate::plan::fixture;

mod undone;

/// A folder for a state, and the file in it.
fn place() -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".zonewright").join("state.db");
    (folder, file)
}

/// So many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// An apply that begins.
fn new_apply() -> NewApply {
    NewApply {
        plan: "sha256:aa".into(),
        effect: "sha256:bb".into(),
        started: at(0),
        who: "ops".into(),
        reason: Some("ticket 7".into()),
        inputs: [("racktables/hosts.csv".to_owned(), "00ff".to_owned())].into(),
        hosts: 2,
        undoes: None,
    }
}

/// Begins an apply of some plan.
fn begin(state: &mut dyn State, apply: &NewApply) -> ApplyId {
    let text = PlanText { document: "{}", expires: at(86_400) };
    state.begin(apply, &text).unwrap()
}

/// A marker of a plan.
fn marker(epoch: u64, batch: u64) -> Marker {
    Marker { epoch, plan: "sha256:aa".into(), batch }
}

/// One side of a change.
type Side<'a> = (u64, &'a [&'a str]);

/// No RRset.
const NONE: Side<'static> = (0, &[]);

/// A change of the AAAA at a name of host 7.
fn change(name: &str, before: Side<'_>, after: Side<'_>) -> Change {
    fixture::change(("search", Some(7)), (name, Rtype::AAAA), (before, after), &[])
}

/// A batch of changes in one zone, fenced by a marker.
fn batch<'a>(changes: &'a [Change], number: u64, swap: Option<Swap>) -> Batch<'a> {
    Batch { number, zone: &changes[0].zone, phase: Phase::Forward, swap, changes: changes.iter().collect() }
}

/// The swap of one marker for the next.
fn swap(after: Marker) -> Option<Swap> {
    let before = (after.batch > 1).then(|| marker(after.epoch, after.batch - 1).to_rrset());
    Some(Swap { before, after })
}

/// Sends a batch, and settles it where that is known.
fn run(state: &mut dyn State, apply: ApplyId, batch: &Batch<'_>, settled: Option<Settled>) {
    state.note_sending(apply, batch, at(batch.number)).unwrap();
    if let Some(settled) = settled {
        state.note_settled(apply, batch, &settled, at(batch.number + 1)).unwrap();
    }
}

/// What is known of the marker of the zone of [`change`].
fn known(state: &dyn State) -> KnownMarker {
    state.markers().unwrap().remove(&fixture::zone("search.example.net")).unwrap()
}

/// Whether the AAAA at a name is own.
fn is_own(state: &dyn State, name: &str) -> bool {
    state.own().unwrap().contains(Name::parse(name).unwrap().as_name(), Rtype::AAAA)
}

/// Why a file cannot be read.
fn read_error(file: &Path) -> StateError {
    open_to_read(file).err().unwrap()
}

const A: &str = "a.search.example.net";

const B: &str = "b.search.example.net";

#[test]
fn what_was_written_is_there_after_opening_again() {
    let (_folder, file) = place();
    assert!(open_to_read(&file).unwrap().is_none());
    let mut state = open_to_write(&file).unwrap();
    assert!(state.applies(10).unwrap().is_empty() && state.markers().unwrap().is_empty());
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(1, 1))), Some(Settled::Done));
    let host = HostOutcome {
        host: Some(Inv(7)),
        project: "search".into(),
        name: A.into(),
        changes: 1,
        outcome: Outcome::Applied,
        message: None,
        hint: None,
    };
    state.finish(id, &Applied { hosts: vec![host], ..Applied::default() }, true, at(9)).unwrap();
    drop(state);
    for state in [open_to_read(&file).unwrap().unwrap(), open_to_write(&file).unwrap()] {
        let expected = ApplySummary {
            id: ApplyId(1),
            new: NewApply { inputs: BTreeMap::new(), ..new_apply() },
            finished: Some(at(9)),
            outcomes: [("applied".to_owned(), 1)].into(),
            updates_done: 1,
            updates_open: 0,
            resumed: vec![],
        };
        assert_eq!(state.applies(10).unwrap(), [expected]);
        assert!(state.unfinished().unwrap().is_empty());
        assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open: vec![] });
        assert!(is_own(&*state, A) && !is_own(&*state, B));
        assert_eq!(state.changed_since(at(2)).unwrap(), [("search".to_owned(), Inv(7), at(2))]);
        assert!(state.changed_since(at(3)).unwrap().is_empty());
        assert!(state.breakers().unwrap().is_empty());
    }
    let db = Connection::open(&file).unwrap();
    let sql = "SELECT name || ' ' || digest || ' ' || apply FROM accepted_sources";
    assert_eq!(
        db.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap(),
        "racktables/hosts.csv 00ff 1",
        "what an apply accepted"
    );
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
    insta::assert_snapshot!(text("SELECT changes FROM batch_changes"), @r#"[{"host":7,"project":"search","name":"a.search.example.net.","type":"AAAA","before":{"ttl":3600,"rdata":["2a02::10","2a02::2"]},"after":{"ttl":600,"rdata":["2a02::1"]}}]"#);
    assert_eq!(text("SELECT marker_before FROM batches"), "\"e=1 p=sha256:aa b=1\"");
}

#[test]
fn a_batch_that_never_settled_leaves_its_marker_open() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(1, 1))), Some(Settled::Done));
    run(&mut *state, id, &batch(&changes, 2, swap(marker(1, 2))), Some(Settled::Undone("refused".into())));
    run(&mut *state, id, &batch(&changes, 3, swap(marker(1, 3))), Some(Settled::Unknown("no answer".into())));
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
    run(&mut *state, next, &batch(&changes, 1, swap(marker(2, 1))), Some(Settled::Done));
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(2, 1)), open: vec![] });
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
    state.note_settled(id, &batches[1], &Settled::Done, at(2)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 2)), open: vec![marker(1, 3)] });
    state.note_settled(id, &batches[0], &Settled::Done, at(3)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 2)), open: vec![marker(1, 3)] });
}

#[test]
fn the_marker_that_stands_settles_what_a_crash_left_open() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let zone = fixture::zone("search.example.net");
    let create = |name| [change(name, NONE, (600, &["2a02::1"]))];
    let (a, b, c) = (create(A), create(B), create("c.search.example.net"));
    let after = |marker: &Marker, number| {
        let after = Marker { batch: number, ..marker.clone() };
        Some(Swap { before: Some(marker.to_rrset()), after })
    };
    run(&mut *state, id, &batch(&a, 1, swap(marker(1, 1))), None);
    // Sent again as the third, after a refusal of what went before.
    run(&mut *state, id, &batch(&b, 2, after(&marker(1, 1), 2)), Some(Settled::Unknown("no answer".into())));
    run(&mut *state, id, &batch(&b, 3, after(&marker(1, 1), 3)), None);
    run(&mut *state, id, &batch(&c, 4, after(&marker(1, 3), 4)), None);
    assert_eq!(state.note_standing(&zone, &marker(2, 9), at(8)).unwrap(), 0, "somebody else's says nothing");
    assert_eq!(known(&*state).open.len(), 4);
    assert_eq!(state.note_standing(&zone, &marker(1, 3), at(9)).unwrap(), 2);
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 3)), open: vec![marker(1, 4)] });
    assert!(is_own(&*state, A) && is_own(&*state, B) && !is_own(&*state, "c.search.example.net"));
    assert_eq!(state.changed_since(at(9)).unwrap(), [("search".to_owned(), Inv(7), at(9))]);
    assert_eq!((state.unfinished().unwrap()[0].updates_done, state.unfinished().unwrap()[0].updates_open), (2, 1));
    assert_eq!(state.note_standing(&zone, &marker(1, 3), at(9)).unwrap(), 0, "once is enough");
    // Whoever takes the marker for known learns the same.
    state.adopt_markers(&[(zone, Some(marker(1, 4)))], "ops", "looked at", at(10)).unwrap();
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
    assert!(!then(state, one, two, Settled::Done), "what others created stays theirs when it is modified");
    assert!(!then(state, NONE, one, Settled::Undone("refused".into())));
    assert!(!then(state, NONE, one, Settled::Unknown("no answer".into())));
    assert!(then(state, NONE, one, Settled::Done));
    assert!(then(state, NONE, one, Settled::Done), "what is own stays own");
    assert!(then(state, one, two, Settled::Done));
    assert!(then(state, two, NONE, Settled::Undone("refused".into())));
    assert!(!then(state, two, NONE, Settled::Done));
    assert!(state.markers().unwrap().is_empty(), "a zone without a fence has no marker");
}

#[test]
fn the_ledger_has_each_host_of_an_apply_once() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let orphan = fixture::change(("search", None), (B, Rtype::AAAA), ((600, &["2a02::9"]), NONE), &[]);
    // No number is too large.
    let far = fixture::change(("web", Some(u64::MAX)), (B, Rtype::AAAA), (NONE, (600, &["2a02::9"])), &[]);
    let also = Change { also: vec![Inv(8)], ..change(A, NONE, (600, &["2a02::1"])) };
    let changes = [also, change(B, NONE, (600, &["2a02::2"])), orphan, far];
    for _ in 0..2 {
        let id = begin(&mut *state, &new_apply());
        run(&mut *state, id, &batch(&changes, 1, None), Some(Settled::Done));
        run(&mut *state, id, &batch(&changes[..2], 4, None), Some(Settled::Done));
    }
    let web = |when| ("web".to_owned(), Inv(u64::MAX), when);
    let search = |when| ("search".to_owned(), Inv(7), when);
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
    run(&mut *state, apply, &batch(&changes, 1, None), Some(Settled::Done));
    state.disown(&[&changes[0].key]).unwrap();
    assert_eq!(["a.search.example.net", "b.search.example.net"].map(|name| is_own(&*state, name)), [false, true]);
}

#[test]
fn adopted_markers_are_known() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    let changes = [change(A, NONE, (600, &["2a02::1"]))];
    run(&mut *state, id, &batch(&changes, 1, swap(marker(3, 1))), None);
    let zones = [(fixture::zone("search.example.net"), Some(marker(9, 2))), (fixture::zone("example.net"), None)];
    state.adopt_markers(&zones, "ops", "moved to another runner", at(1)).unwrap();
    assert_eq!(known(&*state), KnownMarker { marker: Some(marker(9, 2)), open: vec![] });
    assert_eq!(state.markers().unwrap().len(), 1);
    let gone = [(fixture::zone("search.example.net"), None)];
    state.adopt_markers(&gone, "ops", "made anew", at(2)).unwrap();
    assert!(state.markers().unwrap().is_empty());
    let db = Connection::open(&file).unwrap();
    let kept = "SELECT count(*) FROM adoptions WHERE who = 'ops' AND reason <> ''";
    assert_eq!(db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 3);
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
    assert_eq!(state.note_settled(id, &never, &Settled::Done, at(1)).unwrap_err().code, "state-unwritable");
    assert!(!is_own(&*state, A), "nothing of it is kept");
    assert!(state.note_sending(ApplyId(9), &never, at(1)).is_err(), "nor is there an apply 9");
    state.note_sending(id, &never, at(1)).unwrap();
    assert!(state.note_sending(id, &never, at(1)).is_err(), "each update has a number of its own");
}

#[cfg(unix)]
#[test]
fn the_folder_is_made_for_its_owner_alone_and_kept_out_of_version_control() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, file) = place();
    open_to_write(&file).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&folder.path().join(".zonewright"))), (0o600, 0o700));
    assert_eq!(fs::read_to_string(file.with_file_name(".gitignore")).unwrap(), "*\n");
    // A folder that is not ours gets no such file.
    let other = folder.path().join("deep").join("er").join("state.db");
    open_to_write(&other).unwrap();
    assert!(!other.with_file_name(".gitignore").exists());
    let beside = folder.path().join("state.db");
    open_to_write(&beside).unwrap();
    assert!(!folder.path().join(".gitignore").exists());
}

/// What is in a folder: names, contents, times of change.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let entry = |entry: fs::DirEntry| {
        let modified = entry.metadata().unwrap().modified().unwrap();
        (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap(), modified)
    };
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|found| entry(found.unwrap())).collect();
    found.sort();
    found
}

#[cfg(unix)]
#[test]
fn reading_writes_nothing_and_works_where_nothing_may_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, file) = place();
    assert!(open_to_read(&file).unwrap().is_none() && Lock::holder(&file).is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    begin(&mut *open_to_write(&file).unwrap(), &new_apply());
    let inside = file.parent().unwrap();
    let before = listing(inside);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(inside, fs::Permissions::from_mode(0o500)).unwrap();
    let state = open_to_read(&file).unwrap().unwrap();
    assert_eq!(state.unfinished().unwrap().len(), 1);
    assert!(state.own().is_ok() && state.markers().is_ok() && Lock::holder(&file).is_none());
    drop(state);
    assert_eq!(listing(inside), before);
    fs::set_permissions(inside, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_file_alone_is_the_state() {
    let (folder, file) = place();
    begin(&mut *open_to_write(&file).unwrap(), &new_apply());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2, "beside it there is .gitignore alone");
    let copy = folder.path().join("copy.db");
    fs::copy(&file, &copy).unwrap();
    assert_eq!(open_to_read(&copy).unwrap().unwrap().unfinished().unwrap().len(), 1);
}

#[test]
fn a_crash_in_the_middle_of_a_write_is_taken_back_by_whoever_reads() {
    let (folder, file) = place();
    begin(&mut *open_to_write(&file).unwrap(), &new_apply());
    let mut db = Connection::open(&file).unwrap();
    db.pragma_update(None, "cache_size", 1).unwrap();
    let half = db.transaction().unwrap();
    for number in 0..2000 {
        let sql = "INSERT INTO breakers (scope, tripped, why) VALUES (?1, 0, ?1)";
        half.execute(sql, [format!("project:{number:0200}")]).unwrap();
    }
    // What stands on the disk now is what a crash would leave.
    let crashed = folder.path().join("crashed.db");
    let journal = |file: &Path| file.with_extension("db-journal");
    fs::copy(&file, &crashed).unwrap();
    fs::copy(journal(&file), journal(&crashed)).unwrap();
    assert!(fs::metadata(journal(&crashed)).unwrap().len() > 0);
    let read_only = Connection::open_with_flags(&crashed, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let error = read_only.query_row("SELECT 1 FROM breakers", [], |_| Ok(())).unwrap_err();
    assert!(error::needs_recovery(&error), "{error}");
    let state = open_to_read(&crashed).unwrap().unwrap();
    assert!(state.breakers().unwrap().is_empty());
    assert_eq!(state.unfinished().unwrap().len(), 1);
}

/// A state of version 1 as it was once written: tables as they were then, and a row in most of them.
const V1: &str = include_str!("v1.sql");

#[test]
fn a_state_of_version_1_can_be_read() {
    let (_folder, file) = place();
    fs::create_dir(file.parent().unwrap()).unwrap();
    Connection::open(&file).unwrap().execute_batch(V1).unwrap();
    let read = open_to_read(&file).unwrap().unwrap();
    let written = open_to_write(&file).unwrap();
    for state in [read, written] {
        let applies = state.applies(1).unwrap();
        assert_eq!((applies[0].id, applies[0].finished), (ApplyId(2), None));
        assert_eq!(state.applies(9).unwrap()[1].outcomes, [("applied".to_owned(), 1), ("stale".to_owned(), 1)].into());
        assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open: vec![marker(2, 1)] });
        assert!(is_own(&*state, A));
        assert_eq!(state.changed_since(at(0)).unwrap(), [("search".to_owned(), Inv(7), at(2))]);
        assert_eq!(state.breakers().unwrap()[0].scope, "global");
    }
}

#[test]
fn the_tables_are_those_of_the_version_that_the_file_says() {
    let (folder, file) = place();
    drop(open_to_write(&file).unwrap());
    let old = folder.path().join("old.db");
    Connection::open(&old).unwrap().execute_batch(V1).unwrap();
    drop(open_to_write(&old).unwrap());
    let tables = |file: &Path| {
        let db = Connection::open(file).unwrap();
        let mut query = db.prepare("SELECT name, sql FROM sqlite_master ORDER BY name").unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?));
        query.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<_>>>().unwrap()
    };
    assert_eq!(tables(&file), tables(&old));
}

#[test]
fn a_newer_state_is_left_alone() {
    let (_folder, file) = place();
    drop(open_to_write(&file).unwrap());
    let db = Connection::open(&file).unwrap();
    db.execute("UPDATE schema_version SET version = 99", []).unwrap();
    for error in [read_error(&file), open_to_write(&file).err().unwrap()] {
        assert_eq!(error.code, "state-too-new");
        assert_eq!(error.message, "the state is of version 99, and this program knows those up to 2");
        assert!(error.hint.is_some());
    }
}

#[test]
fn a_file_that_is_no_state_is_told_and_kept() {
    let (folder, _) = place();
    let file = folder.path().join("state.db");
    let other = "CREATE TABLE guests (name TEXT)";
    let none = "CREATE TABLE schema_version (version BIGINT NOT NULL)";
    fs::write(&file, "zones of the moon, and then enough text to look like the head of a file: ".repeat(40)).unwrap();
    for sql in [None, Some(other), Some(none)] {
        if let Some(sql) = sql {
            fs::remove_file(&file).unwrap();
            Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        }
        let before = fs::read(&file).unwrap();
        for error in [read_error(&file), open_to_write(&file).err().unwrap()] {
            assert_eq!(error.code, "state-unreadable", "{error}");
            assert!(error.hint.unwrap().contains("restore the file"), "{sql:?}");
        }
        assert_eq!(fs::read(&file).unwrap(), before, "{sql:?}");
    }
    assert_eq!(read_error(folder.path()).code, "state-unreadable");
    assert_eq!(open_to_write(folder.path()).err().unwrap().code, "state-unwritable");
    // Created by a run that was killed before it wrote anything.
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert!(open_to_read(&empty).unwrap().is_none());
    assert!(open_to_write(&empty).is_ok());
}

#[test]
fn a_lock_is_held_once_and_free_when_it_is_dropped() {
    let (_folder, file) = place();
    assert_eq!(Lock::holder(&file), None);
    let lock = Lock::take(&file, "ops@desk", at(0)).unwrap();
    let holder = Holder { pid: Some(std::process::id()), who: "ops@desk".into(), since: Some(at(0)) };
    assert_eq!(Lock::holder(&file), Some(holder));
    let error = Lock::take(&file, "ci", at(1)).unwrap_err();
    assert_eq!(error.code, "locked");
    let pid = std::process::id();
    assert_eq!(error.message, format!("another run is at work: process {pid} of ops@desk, since 2026-11-20T02:00:00Z"));
    drop(lock);
    assert_eq!(Lock::holder(&file), None);
    drop(Lock::take(&file, "", at(2)).unwrap());
    // What it says is for messages alone.
    fs::write(file.with_extension("db.lock"), "nonsense").unwrap();
    assert_eq!(Lock::holder(&file), None);
    assert!(Lock::take(&file, "ci", at(1)).is_ok());
}

/// Names the state whose lock this process is to hold, where it was started for that.
const HELD: &str = "ZONEWRIGHT_TEST_HOLDS_LOCK_OF";

#[test]
fn the_lock_of_a_killed_process_is_free() {
    if let Some(file) = std::env::var_os(HELD) {
        let _lock = Lock::take(Path::new(&file), "victim", at(0)).unwrap();
        println!("\nheld");
        loop {
            std::thread::park();
        }
    }
    let (_folder, file) = place();
    let name = "state::tests::the_lock_of_a_killed_process_is_free";
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", name, "--nocapture"]).env(HELD, &file).stdout(Stdio::piped());
    let mut victim = victim.spawn().unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"));
    assert_eq!(Lock::holder(&file).unwrap().who, "victim");
    assert_eq!(Lock::take(&file, "other", at(1)).unwrap_err().code, "locked");
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(Lock::holder(&file), None);
    assert!(Lock::take(&file, "other", at(1)).is_ok());
}
