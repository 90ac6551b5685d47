//! What a check found as a report of tests: a suite for each file, in which errors fail.

use std::collections::BTreeMap;

use super::super::checked::Checked;
use super::{Case, Outcome, Suite, document};
use crate::diag::{Diagnostic, Diagnostics, Files, Severity, render, sanitize};

/// What all cases are grouped by: readers cut a path at its dots.
const CLASS: &str = "zonewright.check";

/// Renders what a check found. A warning is a case that passes, with the warning as its output; a file without findings
/// passes, too.
pub fn check(checked: &Checked<'_>) -> String {
    let mut files: BTreeMap<String, Vec<Case>> = BTreeMap::new();
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
        files.entry(path.clone()).or_insert_with(|| vec![Case::passed(path, "")]);
    }
    let suite = |(file, cases): (String, Vec<Case>)| Suite {
        class: CLASS.to_owned(),
        file: Some(file.clone()),
        ..Suite::new(file, cases)
    };
    let mut suites: Vec<Suite> = files.into_iter().map(suite).collect();
    let bare = checked.unread.iter().map(|error| {
        Case::failed(format!("{} {}", error.place, error.code), error.code, &error.message, error.hint.as_deref())
    });
    suites.push(Suite { class: CLASS.to_owned(), ..Suite::new("not read".to_owned(), bare.collect()) });
    document("zonewright check", &suites)
}

/// The case of a finding.
fn finding(names: &Files, found: &Diagnostic, path: &str) -> Case {
    let name = match (found.origin.line, found.origin.col) {
        (0, _) => format!("{path} {}", found.code),
        (line, 0) => format!("{path}:{line} {}", found.code),
        (line, col) => format!("{path}:{line}:{col} {}", found.code),
    };
    let mut alone = Diagnostics::default();
    alone.push(found.clone());
    let body = render(&alone, names).trim_end().to_owned();
    match found.severity {
        Severity::Warning => Case::passed(name, body),
        Severity::Error => {
            Case { name, outcome: Outcome::Failed { code: found.code, message: found.message.clone(), body } }
        }
    }
}

/// Makes the case of the findings of a file that were counted and not kept: it fails where errors are among those of
/// all files.
fn more(diagnostics: &Diagnostics) -> impl Fn(&str, usize) -> Case {
    let kept = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let has_errors = diagnostics.error_count() > kept;
    move |path, count| {
        let says = format!("{count} more findings are not shown");
        if has_errors {
            Case::failed(format!("{path} more"), "more-findings", &says, None)
        } else {
            Case::passed(format!("{path} more"), sanitize(&says))
        }
    }
}
