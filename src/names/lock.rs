//! The text of names.lock: which rows it gets and loses, and how it is written.
//!
//! Unchanged rows keep their text, bad ones too: a row that could not be read is not lost.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::LockRow;
use crate::inventory::source::is_conflict_marker;
use crate::inventory::value::{Inv, Time, is_cooling};

/// A row that names.lock gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// The host.
    pub inv: Inv,
    /// The name.
    pub name: Name,
    /// The project's id.
    pub project: String,
    /// When it was given, to the second.
    pub since: Time,
    /// When it was given up; `None` while the host has it.
    pub released: Option<Time>,
}

/// What is done to names.lock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockEdits {
    /// The rows that go, by their places in [`Inventory::lock`].
    pub gone: BTreeSet<usize>,
    /// The rows that come.
    pub new: Vec<NewRow>,
}

impl LockEdits {
    /// Whether nothing is done.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.new.is_empty()
    }
}

/// One line of a row, old or new.
struct LockLine<'a> {
    /// The host; rows of which it cannot be read come last.
    inv: Option<Inv>,
    /// The whole line.
    text: Cow<'a, str>,
}

impl LockLine<'_> {
    /// The order of the file: by host and name.
    fn order(&self, other: &LockLine<'_>) -> Ordering {
        let host = |line: &LockLine<'_>| (line.inv.is_none(), line.inv);
        let by_name = || (field(&self.text, 1), &self.text).cmp(&(field(&other.text, 1), &other.text));
        host(self).cmp(&host(other)).then_with(by_name)
    }
}

/// Writes names.lock: comments, then rows sorted by inventory number and name.
///
/// `text` is the file as it was read for `inventory`; empty where there is no file. Rows that were released too long
/// ago to matter are dropped. If a host then has no row, but a name in hosts.csv, it gets a row that says that it has
/// no name.
///
/// A file of which no row would be left stays unchanged: a file without rows would count as cut, and would not be
/// believed.
pub fn write(text: &str, inventory: &Inventory, edits: &LockEdits, now: Time) -> String {
    let whole = text;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The places from 1; 0 where a line is not a row.
    let mut rows_of_lines = vec![0u32; text.lines().count() + 1];
    for (place, row) in (1..).zip(&inventory.lock) {
        rows_of_lines[row.origin.line as usize] = place;
    }
    let expired = expired(inventory, edits, now);
    let mut comments = String::new();
    let mut lines: Vec<LockLine<'_>> = Vec::with_capacity(inventory.lock.len() + edits.new.len());
    for (number, line) in text.lines().enumerate() {
        let place = rows_of_lines[number + 1].checked_sub(1).map(|place| place as usize);
        match place.map(|place| (place, &inventory.lock[place])) {
            Some((place, _)) if edits.gone.contains(&place) || expired.gone.contains(&place) => {}
            Some((_, row)) => lines.push(LockLine { inv: Some(row.inv), text: line.into() }),
            // The count of rows that some exports end in would be wrong after the next change.
            None if line.trim_ascii().is_empty() || is_row_count(line) || is_conflict_marker(line) => {}
            None if line.starts_with('#') => comments.extend([line, "\n"]),
            None => lines.push(LockLine { inv: None, text: line.into() }),
        }
    }
    lines.extend(edits.new.iter().chain(&expired.new).map(new_line));
    if lines.is_empty() {
        return whole.to_owned();
    }
    lines.sort_by(LockLine::order);
    let mut out = comments;
    out.reserve(lines.iter().map(|line| line.text.len() + 1).sum());
    for line in &lines {
        out.extend([&*line.text, "\n"]);
    }
    out
}

/// Whether a line is `# end ROWS`.
fn is_row_count(line: &str) -> bool {
    let words = line.strip_prefix('#').map(|rest| rest.split_ascii_whitespace().collect::<Vec<_>>());
    matches!(words.as_deref(), Some(["end", rows]) if rows.bytes().all(|octet| octet.is_ascii_digit()))
}

/// A field of a line, from 0; empty where there are fewer.
fn field(line: &str, number: usize) -> &str {
    line.split('\t').nth(number).unwrap_or_default()
}

/// The line of a new row.
fn new_line<'a>(row: &NewRow) -> LockLine<'a> {
    let name = row.name.as_name().to_dotless_text();
    let mut text = format!("{}\t{name}\t{}\t{}\t", row.inv, row.project, row.since);
    match row.released {
        // Writing to a string cannot fail.
        Some(released) => drop(write!(text, "{released}")),
        None => text.push('-'),
    }
    LockLine { inv: Some(row.inv), text: Cow::Owned(text) }
}

/// Drops the rows that were released too long ago to matter.
fn expired(inventory: &Inventory, edits: &LockEdits, now: Time) -> LockEdits {
    let config = &inventory.config;
    // What waits to be deleted is looked after as much longer.
    let is_over = |released: Time| {
        !is_cooling(released, now, config.name_cooldown)
            && released.plus(config.name_cooldown).plus(config.delete_after) < now
    };
    let is_expired = |row: &LockRow| !row.bad && row.released.is_some_and(is_over);
    let mut expired = LockEdits::default();
    let renewed: BTreeSet<Inv> = edits.new.iter().map(|row| row.inv).collect();
    let mut from = 0;
    for rows in inventory.lock.chunk_by(|a, b| a.inv == b.inv) {
        let places = from..from + rows.len();
        from = places.end;
        let stays = |place: &usize| !edits.gone.contains(place) && !is_expired(&inventory.lock[*place]);
        if !rows.iter().any(is_expired) {
            continue;
        }
        let is_bare = !renewed.contains(&rows[0].inv) && !places.clone().any(|place| stays(&place));
        expired.gone.extend(places.filter(|place| is_expired(&inventory.lock[*place])));
        let last = rows.iter().filter_map(|row| Some((row.released?, row))).max_by_key(|(released, _)| *released);
        if let (true, Some((released, row))) = (is_bare && is_named_elsewhere(inventory, row_inv(rows)), last) {
            let project = inventory.projects[row.project.0 as usize].id.clone();
            expired.new.extend(free_name(inventory, row.inv).map(|name| NewRow {
                inv: row.inv,
                name,
                project,
                since: released,
                released: None,
            }));
        }
    }
    expired
}

/// The host whose rows these are; there is at least one.
fn row_inv(rows: &[LockRow]) -> Inv {
    rows[0].inv
}

/// Whether hosts.csv has a name for a host, perhaps in one of several rows: the host would take it if names.lock had no
/// row for it.
fn is_named_elsewhere(inventory: &Inventory, inv: Inv) -> bool {
    let from = inventory.hosts.partition_point(|host| host.inv < inv);
    inventory.hosts[from..].iter().take_while(|host| host.inv == inv).any(|host| host.name.is_some())
}

/// The name of a host that has none: below the free domain, never published. `None` where it would be too long.
pub fn free_name(inventory: &Inventory, inv: Inv) -> Option<Name> {
    Name::prepend(format!("free-{inv}").as_bytes(), inventory.config.free_domain.as_name()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, inventory_of};
    use super::*;

    /// names.lock after one name was given, at a time; of hosts 1, 2 and 3, the latter with a name in hosts.csv.
    fn written(setting: &str, text: &str, now: &str) -> String {
        let hosts = ["1,,search,assigned,sas", "2,,web,assigned,sas", "3,x3.web.example,web,assigned,sas"];
        let inventory = inventory_of(setting, &hosts, text);
        let name = Name::parse("sas9.search.example").unwrap();
        let new = NewRow { inv: Inv(1), name, project: "search".into(), since: at(now), released: None };
        write(text, &inventory, &LockEdits { gone: BTreeSet::new(), new: vec![new] }, at(now))
    }

    /// A tombstone of a host, given up at one.
    fn tombstone(inv: u64) -> String {
        format!("{inv}\tx{inv}.web.example\tweb\t2026-11-01T00:00:00Z\t2026-11-20T01:00:00Z\n")
    }

    #[test]
    fn unchanged_rows_keep_their_text() {
        let text = "\u{feff}10\tB.web.example.\tweb\t2026-11-01T00:00:00+03:00\t-\r\n\r\n# a comment\r\nno host's line\r\n \t\r\n\
                    2\tx2.web.example\tweb\tsometime\t-\r\n2\ta.web.example\tweb\t2026-11-01t00:00:00.5z\t2026-11-20T01:30:00Z\r\n\
                    # endless\r\n#end of 3\r\n# end 4\r\n";
        insta::assert_snapshot!(written("", text, "02:00:00").replace('\t', " "), @r"
        # a comment
        # endless
        #end of 3
        1 sas9.search.example search 2026-11-20T02:00:00Z -
        2 a.web.example web 2026-11-01t00:00:00.5z 2026-11-20T01:30:00Z
        2 x2.web.example web sometime -
        10 B.web.example. web 2026-11-01T00:00:00+03:00 -
        no host's line
        ");
    }

    #[test]
    fn what_was_given_up_goes_once_its_cooldown_and_the_wait_for_deletes_are_over() {
        let has_row = |setting: &str, now: &str| written(setting, &tombstone(2), now).contains("x2.web.example");
        assert!(has_row("", "02:00:00"), "exactly as long ago as the cooldown");
        assert!(!has_row("", "02:00:01"));
        assert!(has_row("delete_after = \"30m\"", "02:30:00"));
        assert!(!has_row("delete_after = \"30m\"", "02:30:01"));
    }

    #[test]
    fn a_name_in_hosts_csv_does_not_come_back_when_the_last_row_goes() {
        let text = tombstone(2) + &tombstone(3) + &tombstone(4);
        insta::assert_snapshot!(written("", &text, "03:00:00").replace('\t', " "), @r"
        1 sas9.search.example search 2026-11-20T03:00:00Z -
        3 free-3.free.invalid web 2026-11-20T01:00:00Z -
        ");
    }

    #[test]
    fn a_name_in_any_row_of_hosts_csv_does_not_come_back() {
        let named = "4,x4.web.example,web,assigned,sas";
        let bare = "4,,web,assigned,sas";
        for hosts in [[named, bare, bare], [bare, bare, named]] {
            let inventory = inventory_of("", &hosts, &tombstone(4));
            let text = write(&tombstone(4), &inventory, &LockEdits::default(), at("03:00:00"));
            assert!(text.starts_with("4\tfree-4.free.invalid\t"), "{text}");
        }
    }

    #[test]
    fn the_last_row_stays_however_old() {
        let text = "# a comment\n".to_owned() + &tombstone(2);
        let inventory = inventory_of("", &["2,,web,assigned,sas"], &text);
        assert_eq!(write(&text, &inventory, &LockEdits::default(), at("03:00:00")), text);
    }

    #[test]
    fn a_bad_row_is_kept_however_old() {
        let text = tombstone(2).replace("2026-11-01T00:00:00Z", "long ago");
        assert!(written("", &text, "03:00:00").contains(text.trim_end()));
    }

    #[test]
    fn only_the_count_of_rows_is_no_comment() {
        let counts = ["# end 3", "#end 0", "#  end\t12 "].map(is_row_count);
        let comments = ["# end", "# ends 3", "# end 3 rows", "# end three", "end 3"].map(is_row_count);
        assert_eq!((counts, comments), ([true; 3], [false; 5]));
    }
}
