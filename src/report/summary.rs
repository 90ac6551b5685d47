//! The last line of a check.

/// Counts what was checked and what was found: `12 files, 3 errors, 1 warning`.
pub fn check_summary(files: usize, errors: usize, warnings: usize) -> String {
    format!("{}, {}, {}\n", counted(files, "file"), counted(errors, "error"), counted(warnings, "warning"))
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

    #[test]
    fn errors_and_warnings_are_counted_apart() {
        assert_eq!(check_summary(1, 0, 0), "1 file, 0 errors, 0 warnings\n");
        assert_eq!(check_summary(12, 1, 2), "12 files, 1 error, 2 warnings\n");
    }
}
