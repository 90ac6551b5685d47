//! hosts.csv: one row a host.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::meaning::{ExportRows, RowMeaning};
use super::text::{
    self, BAD_INV, BAD_NAME, FIELD_COUNT, LineFormat, LineRange, RowConflict, RowFault, RowFaults, RowWord, TextRow,
};
use super::{
    Draft, ExportFormat, Renumbering, RowContext, SourceDate, SourceFile, SourceInput, SourcePart, SourceTally,
    likely_project_index,
};
use crate::diag::{Code, Severity};
use crate::dns::Name;
use crate::inventory::model::{Host, HostStatus, Trust};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::Symbols;
use crate::inventory::value::Inv;

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "hosts",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Required,
    gives_names: true,
    read,
    meanings,
};

/// The columns.
pub const HEADER: &str = "inv,name,project,status,location,queue,rack,switch,port,restrictions";

/// How many columns there are.
const COLUMNS: usize = 10;

/// The restriction that keeps automation away from a host's records.
pub const RESTRICTION: &str = "automated-dns";

/// A status that does not exist.
pub const BAD_STATUS: RowFault = RowFault {
    code: Code::new("bad-status"),
    rule: "a host is `assigned` or `free`",
    hint: "correct the status; until then the host counts as assigned, and is frozen",
};

/// A field that may not be empty.
pub const EMPTY_FIELD: RowFault = RowFault {
    code: Code::new("empty-field"),
    rule: "inv, project, status and location are never empty",
    hint: "complete the row",
};

/// Quotes that do not pair.
pub const BAD_QUOTING: RowFault = RowFault {
    code: Code::new("bad-quoting"),
    rule: "a quoted field begins and ends with a quote, with quotes in it doubled (RFC 4180 section 2)",
    hint: "correct the quotes",
};

/// A row with too many or too few fields.
pub const CSV_FIELDS: RowFault =
    RowFault { hint: "complete the row, or quote a field that holds a comma", ..FIELD_COUNT };

/// An inventory number on two rows.
const DUPLICATE_INV: RowFault = RowFault {
    code: Code::new("duplicate-inv"),
    rule: "an inventory number always means the same host",
    hint: "remove or correct one of the rows; until then all of them are frozen",
};

/// What one chunk of an export of hosts holds.
#[derive(Default)]
pub struct HostsPiece {
    /// Switches, racks and locations.
    pub symbols: Symbols,
    /// Projects.
    pub projects: Symbols,
    /// The rows.
    pub hosts: Vec<Host>,
    /// The names of rows whose inventory number cannot be read.
    pub strays: Vec<Name>,
}

/// Reads hosts.csv.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = shape();
    let start = |rows| HostsPiece { hosts: Vec::with_capacity(rows), ..HostsPiece::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, start, |piece, row, faults| {
        read_host(piece, row, faults, context);
    });
    text::read_dates(input, &mut tally);
    join(pieces, input, context, tally)
}

/// What is particular about the format.
fn shape() -> LineFormat {
    LineFormat { header: Some(HEADER), ..LineFormat::default() }
}

/// Reads the rows of some lines of hosts.csv.
///
/// None where anything in them is wrong.
pub fn read_some<'l>(
    file: SourceFile<'_>,
    lines: impl Iterator<Item = &'l LineRange>,
    context: &RowContext<'_>,
) -> Option<HostsPiece> {
    let mut piece = HostsPiece::default();
    for lines in lines {
        text::read_lines(file, lines, &shape(), |row, faults| read_host(&mut piece, row, faults, context))?;
    }
    Some(piece)
}

/// What hosts.csv says of itself, with so many rows: when it was made.
///
/// None where it is not there to its end, or anything else of it is wrong.
pub fn read_frame(input: &SourceInput<'_>, rows: usize, context: &RowContext<'_>) -> Option<SourceDate> {
    let mut tally = SourceTally { rows, ..SourceTally::default() };
    input.files.iter().for_each(|file| text::check_whole(&mut tally, *file, input, context, &shape()));
    text::read_dates(input, &mut tally);
    (tally.doubt.is_none() && tally.diagnostics.is_empty()).then_some(tally.dated)
}

/// Joins the chunks of an export of hosts, in the order of its rows.
pub fn join(
    pieces: Vec<HostsPiece>,
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    mut tally: SourceTally,
) -> SourcePart {
    let mut merged = HostsPiece::default();
    merged.hosts.reserve_exact(pieces.iter().map(|piece| piece.hosts.len()).sum());
    for mut piece in pieces {
        let symbols = Renumbering::merge(&mut merged.symbols, &piece.symbols);
        let projects = Renumbering::merge(&mut merged.projects, &piece.projects);
        merged.strays.extend(piece.strays);
        renumber(&mut piece.hosts, &symbols, &projects);
        merged.hosts.append(&mut piece.hosts);
    }
    // Exports are most often in order, and what is in order takes no second copy to sort.
    if !merged.hosts.is_sorted_by_key(|host| (host.inv, host.origin)) {
        merged.hosts.par_sort_by_key(|host| (host.inv, host.origin));
    }
    mark_duplicates(&mut merged.hosts, input, context, &mut tally);
    let has_bad = tally.bad > 0;
    let fold = move |draft: &mut Draft, trust: Trust| {
        let symbols = Renumbering::merge(&mut draft.symbols, &merged.symbols);
        let projects = Renumbering::merge(&mut draft.projects, &merged.projects);
        renumber(&mut merged.hosts, &symbols, &projects);
        draft.hosts = merged.hosts;
        draft.hosts_trust = trust;
        draft.stray_names.extend(merged.strays);
        draft.has_bad_names |= has_bad;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Gives hosts the numbers of the whole.
fn renumber(hosts: &mut [Host], symbols: &Renumbering, projects: &Renumbering) {
    if symbols.is_idle() && projects.is_idle() {
        return;
    }
    for host in hosts {
        host.project = projects.project(host.project);
        host.location = symbols.symbol(host.location);
        host.switch = host.switch.map(|switch| symbols.symbol(switch));
        host.rack = host.rack.map(|rack| symbols.symbol(rack));
    }
}

/// Reads one row; without a readable inventory number it belongs to no host, and is only reported.
fn read_host(piece: &mut HostsPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>, context: &RowContext<'_>) {
    let fields =
        plain_ends(row.text).map_or_else(|| RowFields::Cut(Box::new(split(row.text, faults))), RowFields::Plain);
    // Where the fields of the row are wrong, a value may be in the wrong column.
    let columns_are_known = !faults.found();
    faults.hush();
    let [inv, name, project, status, location, rack, switch, restrictions] =
        [0, 1, 2, 3, 4, 6, 7, 9].map(|column| fields.get(row.text, column));
    let number: Option<Inv> = inv.text.parse().ok();
    if number.is_none() {
        faults.add(&BAD_INV, inv.at.clone(), || format!("`{}` is not an inventory number", inv.text));
    }
    let read_name = match name.text {
        "" => Ok(None),
        text => text::read_name(text, context),
    };
    let read_name = read_name.unwrap_or_else(|error| {
        faults.add(&BAD_NAME, name.at.clone(), || format!("`{}` is not a host name: {error}", name.text));
        None
    });
    let read_status = match status.text {
        "assigned" => HostStatus::Assigned,
        "free" => HostStatus::Free,
        text => {
            faults.add(&BAD_STATUS, status.at.clone(), || format!("`{text}` is not a status"));
            HostStatus::Assigned
        }
    };
    for (field, column) in [(&project, "project"), (&location, "location")] {
        if field.text.is_empty() {
            faults.add(&EMPTY_FIELD, field.at.clone(), || format!("the {column} is empty"));
        }
    }
    let Some(inv) = number else {
        piece.strays.extend(read_name);
        return;
    };
    // Rows that are next to each other are most often of one rack.
    let before = piece.hosts.last();
    let (likely_project, likely_location) = (before.map(|host| host.project), before.map(|host| host.location));
    let likely_switch = before.and_then(|host| host.switch);
    let likely_rack = before.and_then(|host| host.rack);
    piece.hosts.push(Host {
        inv,
        name: read_name,
        project: likely_project_index(&mut piece.projects, project.text, likely_project),
        status: read_status,
        location: piece.symbols.intern_likely(location.text, likely_location),
        switch: (!switch.text.is_empty()).then(|| piece.symbols.intern_likely(switch.text, likely_switch)),
        rack: (!rack.text.is_empty()).then(|| piece.symbols.intern_likely(rack.text, likely_rack)),
        restricted: restrictions.text.split(';').any(|restriction| restriction.trim_ascii() == RESTRICTION),
        bad: faults.found(),
        columns_are_known: columns_are_known && !project.text.is_empty(),
        origin: row.origin,
    });
}

/// Marks all rows of an inventory number that is on several rows; `hosts` are sorted by it.
fn mark_duplicates(hosts: &mut [Host], input: &SourceInput<'_>, context: &RowContext<'_>, tally: &mut SourceTally) {
    let mut conflicts = Vec::new();
    for same in hosts.chunk_by_mut(|a, b| a.inv == b.inv).filter(|same| same.len() > 1) {
        let (first, second) = (same[0].origin, same[1].origin);
        for host in same {
            tally.bad += usize::from(!host.bad);
            host.bad = true;
            let other = if host.origin == first { second } else { first };
            let message = format!("{} is on several rows", host.inv);
            conflicts.push(RowConflict { severity: Severity::Error, origin: host.origin, message, other });
        }
    }
    text::report_conflicts(&DUPLICATE_INV, conflicts, input, context, tally);
}

/// One field.
#[derive(Default)]
pub struct RowField<'a> {
    /// Its text, quotes taken off.
    pub text: Cow<'a, str>,
    /// Its octets in the row, quotes included.
    pub at: Range<usize>,
}

/// The fields of a row.
enum RowFields<'a> {
    /// Where each ends in a row without quotes.
    Plain([usize; COLUMNS]),
    /// Each by itself.
    Cut(Box<[RowField<'a>; COLUMNS]>),
}

impl RowFields<'_> {
    /// A field of the row.
    fn get<'f>(&'f self, line: &'f str, column: usize) -> RowWord<'f> {
        match self {
            RowFields::Plain(ends) => {
                let at = column.checked_sub(1).map_or(0, |before| ends[before] + 1)..ends[column];
                RowWord { text: &line[at.clone()], at }
            }
            RowFields::Cut(fields) => RowWord { text: &fields[column].text, at: fields[column].at.clone() },
        }
    }
}

/// Where the fields end of a row without quotes that has exactly its fields; `None` for any other.
fn plain_ends(line: &str) -> Option<[usize; COLUMNS]> {
    let mut ends = [line.len(); COLUMNS];
    let mut count = 0;
    let mut end_at = |at: usize| {
        *ends[..COLUMNS - 1].get_mut(count)? = at;
        count += 1;
        Some(())
    };
    let (words, rest) = line.as_bytes().as_chunks::<8>();
    for (place, word) in (0..).step_by(8).zip(words) {
        let eight = u64::from_le_bytes(*word);
        if marks(eight, b'"') != 0 {
            return None;
        }
        let mut commas = marks(eight, b',');
        while commas != 0 {
            end_at(place + commas.trailing_zeros() as usize / 8)?;
            commas &= commas - 1;
        }
    }
    for (place, octet) in (words.len() * 8..).zip(rest) {
        match octet {
            b'"' => return None,
            b',' => end_at(place)?,
            _ => {}
        }
    }
    (count == COLUMNS - 1).then_some(ends)
}

/// Marks those of eight octets that are `octet`, each by its highest bit.
fn marks(eight: u64, octet: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 0x7f;
    let differing = eight ^ (ONES * u64::from(octet));
    // A sum reaches the highest bit of an octet where one of the others is set, and never the next octet.
    !(((differing & LOW) + LOW) | differing | LOW)
}

/// Cuts a row at its commas; fields that are not there are empty, which is reported.
pub fn split<'a, const N: usize>(line: &'a str, faults: &mut RowFaults<'_, '_>) -> [RowField<'a>; N] {
    let mut fields: [RowField<'a>; N] = std::array::from_fn(|_| RowField::default());
    let mut count = 0;
    let mut at = 0;
    loop {
        let (field, end) = match line[at..].strip_prefix('"') {
            None => unquoted(line, at, faults),
            Some(_) => quoted(line, at, faults),
        };
        if let Some(place) = fields.get_mut(count) {
            *place = field;
        }
        count += 1;
        if end == line.len() {
            break;
        }
        at = end + 1;
    }
    // Where a quote does not pair the row is cut in the wrong places, and the number of its fields means nothing.
    if count != N && !faults.found() {
        faults.add_whole(&CSV_FIELDS, || format!("{} instead of {N}", text::fields(count)));
    }
    fields
}

/// Reads a field without quotes; gives the place of the comma behind it, or of the end.
fn unquoted<'a>(line: &'a str, at: usize, faults: &mut RowFaults<'_, '_>) -> (RowField<'a>, usize) {
    let end = memchr::memchr(b',', &line.as_bytes()[at..]).map_or(line.len(), |comma| at + comma);
    let text = &line[at..end];
    if text.contains('"') {
        faults.add(&BAD_QUOTING, at..end, || format!("a quote inside the field `{text}`"));
    }
    (RowField { text: Cow::Borrowed(text), at: at..end }, end)
}

/// Reads a field in quotes; gives the place of the comma behind it, or of the end.
fn quoted<'a>(line: &'a str, at: usize, faults: &mut RowFaults<'_, '_>) -> (RowField<'a>, usize) {
    let inside = at + 1;
    let mut close = inside;
    loop {
        let Some(quote) = memchr::memchr(b'"', &line.as_bytes()[close..]) else {
            faults.add(&BAD_QUOTING, at..line.len(), || "a quote that is never closed".into());
            return (RowField { text: Cow::Borrowed(&line[inside..]), at: at..line.len() }, line.len());
        };
        close += quote;
        if line.as_bytes().get(close + 1) != Some(&b'"') {
            break;
        }
        close += 2;
    }
    let text = &line[inside..close];
    let text = if text.contains('"') { Cow::Owned(text.replace("\"\"", "\"")) } else { Cow::Borrowed(text) };
    let end = memchr::memchr(b',', &line.as_bytes()[close + 1..]).map_or(line.len(), |comma| close + 1 + comma);
    if end != close + 1 {
        faults.add(&BAD_QUOTING, at..end, || "text behind the closing quote of a field".into());
    }
    (RowField { text, at: at..end }, end)
}

/// What each row says of its host; its switch port and its orders do not concern DNS.
pub fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let meaning = |host: &Host| {
        let name = host.name.as_ref().map_or_else(|| "no name".to_owned(), |name| name.to_string());
        let status = match host.status {
            HostStatus::Assigned => "assigned",
            HostStatus::Free => "free",
        };
        let (project, location) = (said.project(host.project), said.symbols.text(host.location));
        let switch = host.switch.map(|switch| said.symbols.text(switch)).unwrap_or("no switch");
        let restricted = if host.restricted { ", restricted" } else { "" };
        (host.inv.to_string(), format!("{name}, {project}, {status}, {location}, {switch}{restricted}"))
    };
    said.hosts.iter().filter(|host| !host.bad).map(meaning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_row_without_quotes_ends_its_fields_at_its_commas(
            fields in proptest::collection::vec("[-a-c+,.é\"]{0,9}|[a-z]{0,9}", COLUMNS - 1..COLUMNS + 2),
        ) {
            let line = fields.join(",");
            let commas: Vec<usize> = line.match_indices(',').map(|(at, _)| at).chain([line.len()]).collect();
            let is_plain = commas.len() == COLUMNS && !line.contains('"');
            proptest::prop_assert_eq!(plain_ends(&line).map(Vec::from), is_plain.then_some(commas));
        }
    }
}
