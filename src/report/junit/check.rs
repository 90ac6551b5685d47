//! What a check found as a report of tests: a suite for each file, in which errors fail.

use std::collections::BTreeMap;

use super::super::checked::CheckReport;
use super::{CaseOutcome, TestCase, TestSuite, document};
use crate::diag::{Diagnostic, Diagnostics, Files, Severity, render, sanitize};

/// What all cases are grouped by: readers cut a path at its dots.
const CLASS: &str = "zonewright.check";

/// Renders what a check found. A warning is a case that passes, with the warning as its output; a file without findings
/// passes, too.
pub fn check(checked: &CheckReport<'_>) -> String {
    let mut files: BTreeMap<String, Vec<TestCase>> = BTreeMap::new();
    for (names, diagnostics) in &checked.found {
        for found in diagnostics.iter() {
            let path = checked.path(names.name(found.origin.file));
            let case = finding(names, found, &path);
            files.entry(path).or_default().push(case);
        }
        let more = more(diagnostics);
        for (file, count) in diagnostics.dropped() {
            let path = checked.path(names.name(*file));
            files.entry(path.clone()).or_default().push(more(&path, *count));
        }
    }
    for file in checked.read {
        let path = checked.path(file);
        files.entry(path.clone()).or_insert_with(|| vec![TestCase::passed(path, "")]);
    }
    let suite = |(file, cases): (String, Vec<TestCase>)| TestSuite {
        class: CLASS.to_owned(),
        file: Some(file.clone()),
        ..TestSuite::new(file, cases)
    };
    let mut suites: Vec<TestSuite> = files.into_iter().map(suite).collect();
    let bare = checked.unread.iter().map(|error| {
        TestCase::failed(format!("{} {}", error.place, error.code), error.code, &error.message, error.hint.as_deref())
    });
    suites.push(TestSuite { class: CLASS.to_owned(), ..TestSuite::new("not read".to_owned(), bare.collect()) });
    document("zonewright check", &suites)
}

/// The case of a finding.
fn finding(names: &Files, found: &Diagnostic, path: &str) -> TestCase {
    let name = match (found.origin.line, found.origin.col) {
        (0, _) => format!("{path} {}", found.code),
        (line, 0) => format!("{path}:{line} {}", found.code),
        (line, col) => format!("{path}:{line}:{col} {}", found.code),
    };
    let mut alone = Diagnostics::default();
    alone.push(found.clone());
    let body = render(&alone, names).trim_end().to_owned();
    match found.severity {
        Severity::Warning => TestCase::passed(name, body),
        Severity::Error => {
            TestCase { name, outcome: CaseOutcome::Failed { code: found.code, message: found.message.clone(), body } }
        }
    }
}

/// Makes the case of the findings of a file that were counted and not kept: it fails where errors are among those of
/// all files.
fn more(diagnostics: &Diagnostics) -> impl Fn(&str, usize) -> TestCase {
    let kept = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let has_errors = diagnostics.error_count() > kept;
    move |path, count| {
        let says = format!("{count} more findings are not shown");
        if has_errors {
            TestCase::failed(format!("{path} more"), "more-findings", &says, None)
        } else {
            TestCase::passed(format!("{path} more"), sanitize(&says))
        }
    }
}
