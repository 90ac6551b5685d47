//! The file of a state: who may read it, what it looks like, and how older and damaged ones are taken.

use super::*;
use crate::claim::Subject;
use crate::diag::Problem;

/// Why a file cannot be read.
fn read_error(file: &Path) -> Problem {
    open_to_read(file).err().unwrap()
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
    let file = folder.path().join("state.db");
    open_to_write(&file).unwrap();
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
    assert!(open_to_read(&file).unwrap().is_none() && StateLock::holder(&address(&file)).is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    begin(&mut *open_to_write(&file).unwrap(), &new_apply());
    let inside = file.parent().unwrap();
    let before = listing(inside);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(inside, fs::Permissions::from_mode(0o500)).unwrap();
    let state = open_to_read(&file).unwrap().unwrap();
    assert_eq!(state.unfinished().unwrap().len(), 1);
    assert!(state.own().is_ok() && state.markers().is_ok() && StateLock::holder(&address(&file)).is_none());
    drop(state);
    assert_eq!(listing(inside), before);
    fs::set_permissions(inside, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_file_alone_is_the_state() {
    let (folder, file) = place();
    begin(&mut *open_to_write(&file).unwrap(), &new_apply());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2, "next to it there is only .gitignore");
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
    // The files on the disk are now as a crash would leave them.
    let crashed = folder.path().join("crashed.db");
    let journal = |file: &Path| file.with_extension("db-journal");
    fs::copy(&file, &crashed).unwrap();
    fs::copy(journal(&file), journal(&crashed)).unwrap();
    assert!(fs::metadata(journal(&crashed)).unwrap().len() > 0);
    let read_only = Connection::open_with_flags(&crashed, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let error = read_only.query_row("SELECT 1 FROM breakers", [], |_| Ok(())).unwrap_err();
    assert!(sqlite::needs_recovery(&error), "{error}");
    let state = open_to_read(&crashed).unwrap().unwrap();
    assert!(state.breakers().unwrap().is_empty());
    assert_eq!(state.unfinished().unwrap().len(), 1);
}

#[test]
fn a_state_of_version_1_can_be_read() {
    let (_folder, file) = place();
    v1(&file);
    let read = open_to_read(&file).unwrap().unwrap();
    let written = open_to_write(&file).unwrap();
    for state in [read, written] {
        let applies = state.applies(1).unwrap();
        assert_eq!((applies[0].id, applies[0].finished), (ApplyId(2), None));
        assert_eq!(state.applies(9).unwrap()[1].outcomes, [("applied".to_owned(), 1), ("stale".to_owned(), 1)].into());
        assert_eq!(known(&*state), KnownMarker { marker: Some(marker(1, 1)), open: vec![marker(2, 1)] });
        assert!(is_own(&*state, A));
        assert_eq!(state.changed_since(at(0)).unwrap(), [("search".to_owned(), Subject::Host(Inv(7)), at(2))]);
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
        assert_eq!(error.code.as_str(), "state-too-new");
        assert_eq!(error.message, "the state is of version 99, but this program knows versions up to 20");
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
            assert_eq!(error.code.as_str(), "state-unreadable", "{error}");
            assert!(error.hint.unwrap().contains("restore the file"), "{sql:?}");
        }
        assert_eq!(fs::read(&file).unwrap(), before, "{sql:?}");
    }
    assert_eq!(read_error(folder.path()).code.as_str(), "state-unreadable");
    assert_eq!(open_to_write(folder.path()).err().unwrap().code.as_str(), "state-unwritable");
}

#[test]
fn a_file_gets_its_name_once_it_is_a_state_so_that_an_empty_one_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (file, begun) = (folder.path().join("state.db"), folder.path().join("state.db.new"));
    // What a run leaves that was killed before it wrote anything.
    fs::write(&begun, "").unwrap();
    assert!(open_to_read(&file).unwrap().is_none());
    drop(open_to_write(&file).unwrap());
    assert!(file.metadata().unwrap().len() > 0 && !begun.exists());
    fs::write(&file, "").unwrap();
    for error in [open_to_read(&file).err(), open_to_write(&file).err()] {
        let error = error.unwrap();
        assert_eq!(
            (error.code.as_str(), &*error.message),
            ("state-unreadable", "the file is empty: its content was lost")
        );
    }
}
