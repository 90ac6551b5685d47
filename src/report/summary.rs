//! The last line of a check or snapshot.

use crate::snapshot::SnapshotCounts;

/// Counts what was checked and what was found: `12 files, 3 errors, 1 warning`.
pub fn check_summary(files: usize, errors: usize, warnings: usize) -> String {
    format!("{}, {}, {}\n", counted(files, "file"), counted(errors, "error"), counted(warnings, "warning"))
}

/// Counts what was saved: `3 zones with 120 records saved, 1 zone could not be read`; of several targets the copies, too.
pub fn snapshot_summary(counts: SnapshotCounts) -> String {
    let SnapshotCounts { zones, copies, records, unread } = counts;
    let left = match unread {
        0 => String::new(),
        _ if copies > zones => format!(", {unread} more could not be read"),
        _ => format!(", {} could not be read", counted(unread, "zone")),
    };
    let copies = if copies > zones { format!(" in {copies} copies") } else { String::new() };
    format!("{}{copies} with {} saved{left}\n", counted(zones, "zone"), counted(records, "record"))
}

/// A number with what it counts, in the plural where that is right.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {}", plural(number, what))
}

/// Counts hosts, and names that no host has: `28 hosts and 1 name without a host`.
pub fn subjects(hosts: usize, names: usize) -> String {
    match (hosts, names) {
        (hosts, 0) => counted(hosts, "host"),
        (0, names) => nameless(names),
        (hosts, names) => format!("{} and {}", counted(hosts, "host"), nameless(names)),
    }
}

/// Counts names that no host has.
pub fn nameless(names: usize) -> String {
    format!("{} without a host", counted(names, "name"))
}

/// A serial; a dash where a zone has none, since it does not exist yet.
pub fn serial_text(serial: Option<u32>) -> String {
    serial.map_or_else(|| "-".to_owned(), |serial| serial.to_string())
}

/// What a number counts, in the plural where that is right.
pub fn plural(number: usize, what: &str) -> String {
    if number == 1 { what.to_owned() } else { format!("{what}s") }
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
