//! The last line of a check.

use crate::diag::{Diagnostics, Severity};

/// Counts what was checked and what was found: `12 files, 3 errors, 1 warning`.
pub fn check_summary(files: usize, found: &Diagnostics) -> String {
    let kept = |severity| found.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let dropped: usize = found.dropped().iter().map(|(_, more)| more).sum();
    let files = counted(files, "file");
    let (errors, warnings) = (kept(Severity::Error), counted(kept(Severity::Warning), "warning"));
    match dropped {
        0 => format!("{files}, {}, {warnings}", counted(errors, "error")),
        _ => format!("{files}, {}, {warnings}, {dropped} more not shown", counted(errors, "error")),
    }
}

/// A number with what it counts, in the plural where that is right.
pub fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostic, Files};

    #[test]
    fn errors_and_warnings_are_counted_apart() {
        let file = Files::default().add("x");
        let mut found = Diagnostics::default();
        assert_eq!(check_summary(1, &found), "1 file, 0 errors, 0 warnings");
        found.push(Diagnostic::file_error("a", file, "a"));
        found.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::file_error("b", file, "b") });
        assert_eq!(check_summary(12, &found), "12 files, 1 error, 1 warning");
    }

    #[test]
    fn what_is_not_shown_is_counted_too() {
        let file = Files::default().add("x");
        let mut found = Diagnostics::default();
        (0..210).for_each(|number| found.push(Diagnostic::file_error("a", file, number.to_string())));
        found.settle();
        assert_eq!(check_summary(2, &found), "2 files, 200 errors, 0 warnings, 10 more not shown");
    }
}
