//! zonewright compared with the tables of external-dns' own tests: the names and texts of its registry, whose an RRset is, and
//! what it plans.
//!
//! `tests/external_dns/` has the tables, and says where they come from. What zonewright decides otherwise is listed next to
//! each table with the reason. An entry that is no longer needed fails the test.

#[path = "external_dns/form.rs"]
mod form;
#[path = "external_dns/owners.rs"]
mod owners;
#[path = "external_dns/plans.rs"]
mod plans;
#[path = "external_dns/rounds.rs"]
mod rounds;
mod support;
#[path = "external_dns/workspace.rs"]
mod workspace;

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::fs;
use std::process::Command;

use serde_json::Value;

/// Reads a file of tables.
fn tables(file: &str) -> Value {
    let path = support::root().join("tests/external_dns").join(file);
    serde_json::from_str(&fs::read_to_string(path).expect("the tables")).expect("tables are JSON")
}

/// The cases of a table.
fn cases<'t>(tables: &'t Value, table: &str) -> &'t [Value] {
    tables[table].as_array().expect("a table is a list")
}

/// A text of a case, empty where there is none.
fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap_or_default()
}

/// What zonewright has otherwise than a table, each with a reason; it tells at the end which were not needed.
struct Differences<'d, T> {
    /// What is not yet met, by case.
    open: BTreeMap<&'d str, (&'d str, T)>,
    /// What was found.
    failures: String,
    /// How many were compared.
    compared: usize,
}

impl<'d, T: PartialEq + Debug> Differences<'d, T> {
    /// Those of a list of case, reason, and what zonewright has.
    fn new(listed: impl IntoIterator<Item = (&'d str, &'d str, T)>) -> Differences<'d, T> {
        let mut open = BTreeMap::new();
        for (case, reason, ours) in listed {
            assert!(open.insert(case, (reason, ours)).is_none(), "`{case}` is listed twice");
        }
        Differences { open, failures: String::new(), compared: 0 }
    }

    /// Compares a case.
    fn compare(&mut self, case: &str, theirs: T, ours: T) {
        self.compared += 1;
        let outcome = match self.open.remove(case) {
            Some((_, listed)) if listed == theirs => Some(format!("is listed, but not another: {theirs:?}")),
            Some((reason, listed)) if listed != ours => {
                Some(format!("({reason})\n  listed: {listed:?}\n  ours:   {ours:?}"))
            }
            None if theirs != ours => Some(format!("\n  theirs: {theirs:?}\n  ours:   {ours:?}")),
            _ => None,
        };
        if let Some(outcome) = outcome {
            writeln!(self.failures, "{case} {outcome}").expect("a string grows");
        }
    }

    /// Fails where a case was another than listed, or is not there; how many were compared.
    fn end(self) -> usize {
        let Differences { open, failures, compared } = self;
        let unmet: Vec<&str> = open.into_keys().collect();
        assert!(failures.is_empty() && unmet.is_empty(), "\n{failures}no case: {unmet:?}");
        compared
    }
}

/// The writer, the reader and the planner in Python, which know nothing of zonewright, agree with the tables.
#[test]
fn the_tables_agree_with_programs_of_their_own() {
    let Some(python) = support::python() else { return support::skip("there is no Python 3.11") };
    for program in ["check_writer.py", "check_plan.py"] {
        let path = support::root().join("tests/external_dns").join(program);
        let output = Command::new(&python).env("PYTHONDONTWRITEBYTECODE", "1").arg(path).output().expect("Python runs");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
