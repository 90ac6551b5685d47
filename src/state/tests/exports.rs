//! Which exports were accepted, by whom, and which switches they listed.

use super::*;
use crate::apply::ApplyOutcome;

/// A state of version 2 as it was once written.
const V2: &str = include_str!("v2.sql");

/// An export of l3-tors with this content, which lists these switches.
fn l3_tors(content: &str, switches: &[&str]) -> ExportToAccept {
    let file = AcceptedFile { name: "l3-tors.txt".into(), digest: format!("of {content}"), content: content.into() };
    ExportToAccept::Anew(NewExport {
        source: "l3_tors".into(),
        rows: content.len(),
        dated: Some(at(1)),
        files: vec![file],
        switches: switches.iter().map(|switch| (*switch).to_owned()).collect(),
    })
}

/// The content of the accepted l3-tors, when it was accepted, and by which apply.
fn accepted(state: &dyn State) -> (String, Time, Option<u64>) {
    let [only] = state.exports().unwrap().try_into().unwrap();
    let [file] = state.export_files("l3_tors").unwrap().try_into().unwrap();
    assert_eq!(only.files, [(file.name, file.digest)].into());
    (String::from_utf8(file.content).unwrap(), only.at, only.apply.map(|id| id.0))
}

/// Ends an apply that did all of its plan, and so accepts an export.
fn finish(state: &mut dyn State, id: ApplyId, export: ExportToAccept, seconds: u64) {
    state.finish(id, &ApplyOutcome::default(), Some(&[export]), at(seconds)).unwrap();
}

#[test]
fn an_older_apply_that_is_taken_up_does_not_bring_an_older_export_back() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let (older, newer) = (begin(&mut *state, &new_apply()), begin(&mut *state, &new_apply()));
    finish(&mut *state, newer, l3_tors("newer", &["b"]), 1);
    finish(&mut *state, older, l3_tors("older", &["a"]), 2);
    assert_eq!(accepted(&*state), ("newer".into(), at(1), Some(2)));
    assert_eq!(state.l3_switches().unwrap(), ["b"]);
    // What a person accepts takes the place of any, and stays where an apply that began before is taken up.
    let person = Acceptor::Person("ops", "ticket 7");
    state.accept(&[l3_tors("person", &["b"])], &person, at(3)).unwrap();
    finish(&mut *state, newer, l3_tors("newer", &["b"]), 4);
    assert_eq!(accepted(&*state), ("person".into(), at(3), None));
    assert_eq!(state.exports().unwrap()[0].words(), "by ops: ticket 7");
    state.accept(&[ExportToAccept::Again("l3_tors".into())], &Acceptor::IdleApply("night"), at(4)).unwrap();
    assert_eq!(state.exports().unwrap()[0].words(), "by ops: ticket 7", "as long as it is that export");
    let later = begin(&mut *state, &NewApply { started: at(5), ..new_apply() });
    finish(&mut *state, later, l3_tors("later", &["b"]), 6);
    assert_eq!(accepted(&*state), ("later".into(), at(6), Some(3)));
    assert_eq!(state.exports().unwrap()[0].words(), "by apply 3");
}

#[test]
fn what_is_accepted_again_keeps_its_content_and_gets_a_new_date() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let id = begin(&mut *state, &new_apply());
    assert!(state.exports().unwrap().is_empty() && state.export_files("l3_tors").unwrap().is_empty());
    state.finish(id, &ApplyOutcome::default(), None, at(1)).unwrap();
    assert!(state.exports().unwrap().is_empty(), "an apply that did not do all accepts nothing");
    finish(&mut *state, id, l3_tors("text", &["a"]), 2);
    state.accept(&[ExportToAccept::Again("l3_tors".into())], &Acceptor::IdleApply("night"), at(3)).unwrap();
    drop(state);
    let state = open_to_read(&file).unwrap().unwrap();
    assert_eq!(accepted(&*state), ("text".into(), at(3), None));
    let [only] = state.exports().unwrap().try_into().unwrap();
    assert_eq!(
        (only.rows, only.dated, only.words().as_str()),
        (4, Some(at(1)), "by an apply of night with nothing to do")
    );
}

#[test]
fn a_switch_is_forgotten_by_a_person_alone() {
    let (_folder, file) = place();
    let mut state = open_to_write(&file).unwrap();
    let idle = Acceptor::IdleApply("");
    state.accept(&[l3_tors("both", &["b", "a"])], &idle, at(1)).unwrap();
    state.accept(&[l3_tors("one", &["a", "c"])], &idle, at(2)).unwrap();
    assert_eq!(state.l3_switches().unwrap(), ["a", "b", "c"]);
    let hosts = ExportToAccept::Anew(NewExport {
        source: "hosts".into(),
        rows: 0,
        dated: None,
        files: Vec::new(),
        switches: Vec::new(),
    });
    let person = Acceptor::Person("", "ticket 7");
    state.accept(&[hosts], &person, at(3)).unwrap();
    assert_eq!(state.l3_switches().unwrap().len(), 3, "another source says nothing of them");
    state.accept(&[l3_tors("one", &["a", "c"])], &person, at(4)).unwrap();
    assert_eq!(state.l3_switches().unwrap(), ["a", "c"]);
    let names: Vec<String> = state.exports().unwrap().into_iter().map(|own| own.source).collect();
    assert_eq!(names, ["hosts", "l3_tors"]);
}

#[test]
fn every_row_of_version_2_is_there_after_the_step() {
    let (folder, file) = place();
    fs::create_dir(file.parent().unwrap()).unwrap();
    Connection::open(&file).unwrap().execute_batch(V2).unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(&file, &copy).unwrap();
    let read = open_to_read(&file).unwrap().unwrap();
    assert_eq!(fs::read(&file).unwrap(), fs::read(&copy).unwrap(), "who only reads leaves it as it is");
    for state in [read, open_to_write(&file).unwrap()] {
        assert!(state.exports().unwrap().is_empty(), "there is no content of what it accepted");
        assert!(state.l3_switches().unwrap().is_empty());
        let summary = state.apply(ApplyId(3)).unwrap().unwrap();
        assert_eq!((summary.new.undoes, state.left_hosts(ApplyId(3)).unwrap().len()), (Some(ApplyId(1)), 1));
        assert_eq!(state.document(ApplyId(2)).unwrap().as_deref(), None, "its format is no longer read");
    }
    let (old, new) = (Connection::open(&copy).unwrap(), Connection::open(&file).unwrap());
    let rows = |db: &Connection, table: &str| {
        let mut query = db.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let count = query.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..count).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect();
        query.query_map([], row).unwrap().collect::<rusqlite::Result<Vec<Vec<_>>>>().unwrap()
    };
    for table in ["applies", "batches", "own_rrsets", "markers", "breakers", "resumptions", "once_own"] {
        let (before, mut found) = (rows(&old, table), rows(&new, table));
        // What a step adds to a row comes last.
        found.iter_mut().zip(&before).for_each(|(row, before)| row.truncate(before.len()));
        assert_eq!(before, found, "{table}");
        assert!(!found.is_empty(), "{table}");
    }
}
