//! A row that is not what was written, or not where it was written, is never used.

use super::*;
use crate::diag::Problem;

/// A state with an apply of two updates, of which the first took effect, and an accepted export; and its file.
fn written() -> (TempDir, PathBuf) {
    written_to(&copy())
}

/// The same, with updates of this copy.
fn written_to(copy: &CopyId) -> (TempDir, PathBuf) {
    let (folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    for (number, name, settled) in [(1, A, Some(BatchOutcome::Done)), (2, B, None)] {
        let changes = [
            change(name, (600, &["2a02::1"]), (600, &["2a02::2"])),
            change(&format!("new-{name}"), NONE, (600, &["2a02::1"])),
        ];
        let batch = Batch { copy: copy.clone(), ..batch(&changes, number, swap(marker(1, number))) };
        run(&mut *state, id, &batch, settled);
    }
    let files = ["a", "b"].map(|name| AcceptedFile { name: name.into(), digest: "d".into(), content: b"row".to_vec() });
    let export =
        NewExport { source: "hosts".into(), rows: 2, dated: None, files: files.to_vec(), switches: Vec::new() };
    state.accept(&[ExportToAccept::Anew(export)], &Acceptor::Person("operator", "a test"), at(4)).unwrap();
    (folder, file)
}

/// What uses of a state find: the messages of the errors.
fn found(file: &Path) -> Vec<String> {
    let mut state = open_to_write(file).unwrap();
    let keys = [A, B].map(|name| change(name, NONE, (600, &["2a02::1"])));
    let keys: Vec<_> = keys.iter().map(|change| SightedRrset::anywhere(&change.key)).collect();
    let mut errors = Vec::new();
    let mut note = |error: Option<Problem>| {
        if let Some(error) = error {
            assert_eq!(error.code.as_str(), "state-unreadable", "{error}");
            assert!(error.hint.as_deref().unwrap().contains("last good copy"));
            errors.push(error.message);
        }
    };
    note(state.sent(ApplyId(1)).err());
    note(state.last_written(&keys).err());
    note(state.own().err());
    note(state.markers().err());
    note(state.exports().err());
    note(state.export_files("hosts").err());
    note(state.note_standing(&copy(), &marker(1, 2), at(5)).err());
    errors.dedup();
    errors
}

/// What is found after a change to the database by hand.
fn found_after(sql: &str) -> Vec<String> {
    let (_folder, file) = written();
    Connection::open(&file).unwrap().execute_batch(sql).unwrap();
    found(&file)
}

#[test]
fn what_was_written_proves_itself() {
    assert_eq!(found_after("UPDATE schema_version SET version = version"), [""; 0]);
}

#[test]
fn a_row_that_was_changed_is_not_used() {
    let update = "update 2 of apply 1 is not what was written: its digest does not match";
    let changes = "the list of changes of update 1 of apply 1 is not what was written: its digest does not match";
    let export = "the accepted export of `hosts` is not what was written: its digest does not match";
    let in_file = "file `a` of the accepted export of `hosts` is not what was written: its digest does not match";
    for (sql, message) in [
        ("UPDATE batch_changes SET changes = replace(changes, '2a02::1', '2a02::3') WHERE number = 1", changes),
        ("UPDATE batch_changes SET seal = NULL WHERE number = 1", changes),
        ("UPDATE batches SET settled = 'done' WHERE number = 2", update),
        ("UPDATE batches SET sent_at = sent_at + 1 WHERE number = 2", update),
        ("UPDATE batches SET marker_after = 'e=1 p=sha256:bb b=2' WHERE number = 2", update),
        ("UPDATE batches SET target = 'other' WHERE number = 2", update),
        ("UPDATE batches SET pool = '-' WHERE number = 2", update),
        ("UPDATE exports SET row_count = 3", export),
        ("UPDATE export_files SET digest = 'e' WHERE name = 'a'", in_file),
        ("UPDATE export_files SET content = CAST('raw' AS BLOB) WHERE name = 'a'", in_file),
    ] {
        let found = found_after(sql);
        assert!(found.iter().any(|error| error == message), "{sql}: {found:?}");
    }
    let own = found_after("UPDATE own_rrsets SET name = 'x.search.example.net.'");
    assert_eq!(own, ["own RRset `x.search.example.net.` AAAA is not what was written: its digest does not match"]);
}

#[test]
fn rows_that_were_swapped_are_not_used() {
    for sql in [
        "UPDATE batch_changes SET changes = (SELECT changes FROM batch_changes WHERE number = 2),
           seal = (SELECT seal FROM batch_changes WHERE number = 2) WHERE number = 1",
        "UPDATE batch_changes SET number = number + 10; UPDATE batch_changes SET number = 13 - number",
        "UPDATE batches SET number = number + 10; UPDATE batches SET number = 13 - number",
        "UPDATE export_files SET name = 'c' WHERE name = 'a'",
    ] {
        assert!(!found_after(&format!("PRAGMA foreign_keys = OFF; {sql}")).is_empty(), "{sql}");
    }
}

#[test]
fn rows_of_earlier_versions_get_their_digests() {
    let unsealed = "ALTER TABLE batches DROP COLUMN seal; ALTER TABLE batch_changes DROP COLUMN seal;
         ALTER TABLE own_rrsets DROP COLUMN seal; ALTER TABLE exports DROP COLUMN seal;
         ALTER TABLE export_files DROP COLUMN seal; ALTER TABLE export_files DROP COLUMN content_seal;
         DROP TABLE workspace; UPDATE schema_version SET version = 4;";
    let unsealed = &format!("{}{unsealed}", include_str!("v6.sql"));
    assert_eq!(found_after(unsealed), [""; 0]);
    let (_folder, file) = written();
    Connection::open(&file).unwrap().execute_batch(unsealed).unwrap();
    drop(open_to_write(&file).unwrap());
    let db = Connection::open(&file).unwrap();
    db.execute_batch("UPDATE batch_changes SET changes = replace(changes, '2a02::1', '2a02::3')").unwrap();
    drop(db);
    assert!(!found(&file).is_empty());
}

/// The copy that rows of versions up to 7 are of.
fn any_copy() -> CopyId {
    CopyId::only(&ZoneId { pool: PoolName::unknown(), name: fixture::zone("search.example.net") })
}

/// Makes a state of version 6 of this one: rows with the digests that version 6 gave them.
fn make_version_6(file: &Path) {
    let db = Connection::open(file).unwrap();
    db.execute_batch(include_str!("v6.sql")).unwrap();
    let mut rows = db.prepare("SELECT apply, number, changes FROM batch_changes").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))).unwrap();
    for row in rows.collect::<Vec<_>>() {
        let (apply, number, changes) = row.unwrap();
        let sql = "UPDATE batch_changes SET seal = ?3 WHERE apply = ?1 AND number = ?2";
        db.execute(sql, (apply, number, crate::state::seal::of_changes(apply, number, &changes))).unwrap();
    }
}

#[test]
fn a_row_that_was_changed_by_hand_is_not_made_right_by_the_step_to_subjects() {
    let found = |change: &str| {
        let (_folder, file) = written_to(&any_copy());
        make_version_6(&file);
        let sql = format!("UPDATE batch_changes SET changes = {change}");
        Connection::open(&file).unwrap().execute_batch(&sql).unwrap();
        found(&file)
    };
    assert_eq!(found("changes"), [""; 0], "what was not changed is right");
    for change in ["replace(changes, '2a02::1', '2a02::3')", "substr(changes, 1, 20)"] {
        let errors = found(change);
        assert!(errors.iter().any(|error| error.contains("its digest does not match")), "{errors:?}");
    }
}

#[test]
fn what_an_earlier_version_knew_of_a_zone_is_known_of_its_copy() {
    let (_folder, file) = written_to(&any_copy());
    make_version_6(&file);
    let mut state = open_to_write(&file).unwrap();
    let known = KnownMarker { marker: Some(marker(1, 1)), open: vec![marker(1, 2)] };
    assert_eq!(state.markers().unwrap().of(&copy()), [&known]);
    assert_eq!(state.note_standing(&copy(), &marker(1, 2), at(6)).unwrap(), 1, "it settles what was open");
    let markers = state.markers().unwrap();
    assert_eq!(*markers.copies(), [(copy(), KnownMarker { marker: Some(marker(1, 2)), open: vec![] })].into());
}
