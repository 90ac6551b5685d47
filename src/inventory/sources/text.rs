//! What all formats of lines share: comments, line numbers, cut files, bad rows.

use std::borrow::Cow;
use std::ops::Range;

use ipnet::Ipv6Net;
use rayon::prelude::*;

use super::{RowContext, SourceDate, SourceFile, SourceInput, SourceTally};
use crate::diag::{Code, Diagnostic, Diagnostics, FileId, Origin, Severity, is_formatting};
use crate::dns::{Name, NameError};
use crate::inventory::value::{Net64, Time, Vlan};

/// How many octets one thread reads at a time; about 10 000 rows, so that merging costs little in comparison.
const CHUNK: usize = 1 << 20;

/// How few octets a row may have that room is made for before it is read: a file of empty lines asks for little.
const SHORT_ROW: usize = 32;

/// What is particular about a format of lines.
#[derive(Default)]
pub struct LineFormat {
    /// The first row, where it names the columns.
    pub header: Option<&'static str>,
    /// Whether a last line without an end is one bad row, not a cut file.
    pub cut_is_a_row: bool,
    /// Whether a `#` ends a row at any place.
    pub trailing_comments: bool,
    /// Whether the file is our own, so that no export replaces it.
    pub is_own: bool,
}

/// A kind of fault of rows: what every diagnostic of it says.
pub struct RowFault {
    /// The code.
    pub code: Code,
    /// The rule that is broken.
    pub rule: &'static str,
    /// What to do.
    pub hint: &'static str,
}

/// A row with octets that are not text.
pub const BAD_CHARACTER: RowFault = RowFault {
    code: Code::new("bad-character"),
    rule: "exports are UTF-8 without control characters",
    hint: "find out which program wrote this byte, and export again",
};

/// A host name that is not valid.
pub const BAD_NAME: RowFault = RowFault {
    code: Code::new("bad-name"),
    rule: "labels are 1 to 63 letters, digits, hyphens and underscores, names at most 255 bytes",
    hint: "correct the name",
};

/// A VLAN number that is not valid.
pub const BAD_VLAN: RowFault = RowFault {
    code: Code::new("bad-vlan"),
    rule: "VLANs are numbered 1 to 4094 (IEEE 802.1Q section 9.6)",
    hint: "correct the number",
};

/// An inventory number that is not valid.
pub const BAD_INV: RowFault = RowFault {
    code: Code::new("bad-inv"),
    rule: "an inventory number is an unsigned integer in decimal digits",
    hint: "correct the number; until then the row belongs to no host",
};

/// A network that is not valid.
pub const BAD_NETWORK: RowFault = RowFault {
    code: Code::new("bad-network"),
    rule: "a network is an address, a slash and a prefix length, without host bits",
    hint: "correct the network",
};

/// A network that is not a /64.
pub const NOT_A_64: RowFault = RowFault {
    code: Code::new("not-a-64"),
    rule: "the network of a row is a /64 without host bits",
    hint: "correct the prefix; until then the hosts of this row are blocked `bad-input`",
};

/// A row with too many or too few fields.
pub const FIELD_COUNT: RowFault = RowFault {
    code: Code::new("field-count"),
    rule: "every row has exactly the fields of its format",
    hint: "complete the row",
};

/// A number of fields, in words.
pub fn fields(count: usize) -> String {
    format!("{count} field{}", if count == 1 { "" } else { "s" })
}

/// A time that is not valid.
pub const BAD_TIME: RowFault = RowFault {
    code: Code::new("bad-time"),
    rule: "times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z",
    hint: "correct the time",
};

/// One row.
pub struct TextRow<'a> {
    /// Its place; with a column where it does not begin its line.
    pub origin: Origin,
    /// Its text, without its end; several lines where a field holds some.
    pub text: &'a str,
    /// What is wrong with its characters.
    flaw: Option<Range<usize>>,
    /// Whether the file ends in the middle of it.
    pub cut: bool,
}

/// What is wrong in one row, reported as it is found.
pub struct RowFaults<'r, 'a> {
    /// The row.
    row: &'r TextRow<'a>,
    /// Where to report.
    diagnostics: &'r mut Diagnostics,
    /// Whether anything was.
    found: bool,
    /// Whether what is found from now on only follows from it.
    hushed: bool,
    /// Whether the row is about nothing that is looked for.
    passed_over: bool,
}

impl<'a> TextRow<'a> {
    /// A row of an export of another system, whose characters are judged field by field.
    pub fn foreign(origin: Origin, text: &'a str) -> TextRow<'a> {
        TextRow { origin, text, flaw: None, cut: false }
    }
}

/// Reads one row, and counts it.
pub fn count_row(tally: &mut SourceTally, row: &TextRow<'_>, read: impl FnOnce(&mut RowFaults<'_, '_>)) {
    let mut faults =
        RowFaults { row, diagnostics: &mut tally.diagnostics, found: false, hushed: false, passed_over: false };
    if let Some(at) = row.flaw.clone() {
        faults.add(&BAD_CHARACTER, at, || "a control character, or a byte that is not UTF-8".into());
    }
    read(&mut faults);
    let (found, passed_over) = (faults.found, faults.passed_over);
    tally.bad += usize::from(found);
    tally.passed_over += usize::from(passed_over);
    tally.rows += 1;
}

impl RowFaults<'_, '_> {
    /// Reports a fault at some octets of the row.
    pub fn add(&mut self, fault: &RowFault, at: Range<usize>, message: impl FnOnce() -> String) {
        self.found = true;
        if self.hushed {
            return;
        }
        let row = self.row;
        self.diagnostics.push_bounded(row.origin.file, || {
            let begin = row.text[..at.start].rfind('\n').map_or(0, |end| end + 1);
            let end = row.text[at.start..].find('\n').map_or(row.text.len(), |end| at.start + end);
            let lines = row.text[..begin].matches('\n').count() as u32;
            let col = row.text[begin..at.start].chars().count() as u32 + 1;
            let origin = Origin { file: row.origin.file, line: row.origin.line + lines, col };
            let width = row.text[at.start..at.end.min(end)].chars().count().max(1);
            let diagnostic = Diagnostic::error(fault.code, origin, message());
            let mut diagnostic = diagnostic.excerpt(row.text[begin..end].trim_end_matches('\r'), width);
            diagnostic.row = Some(row.origin);
            if begin == 0 {
                // The text before the row on its line is not shown.
                let before = row.origin.col.saturating_sub(1);
                diagnostic.origin.col += before;
                diagnostic.skipped += before as usize;
            }
            diagnostic.rule(fault.rule).hint(fault.hint)
        });
    }

    /// Reports a fault of the row as a whole.
    pub fn add_whole(&mut self, fault: &RowFault, message: impl FnOnce() -> String) {
        self.add(fault, 0..self.row.text.len(), message);
    }

    /// Keeps silent from now on if anything was found: fields of a row that is cut wrongly are wrong for that reason.
    pub fn hush(&mut self) {
        self.hushed = self.found;
    }

    /// Notes that the row is about nothing that is looked for.
    pub fn pass_over(&mut self) {
        self.passed_over = true;
    }

    /// Whether what is found now is not shown.
    pub fn is_hushed(&self) -> bool {
        self.hushed
    }

    /// Whether the row holds a character that is not text.
    pub fn is_flawed(&self) -> bool {
        self.row.flaw.is_some()
    }

    /// Whether the row is bad.
    pub fn found(&self) -> bool {
        self.found
    }
}

/// A part of a file that ends where a line ends.
struct TextChunk<'a> {
    /// The file.
    file: FileId,
    /// The number of its first line.
    first_line: u32,
    /// How many lines there are.
    lines: usize,
    /// Its octets.
    bytes: &'a [u8],
}

/// Reads all rows of a source, in chunks side by side; the answers are in the order of files and lines.
///
/// `row` is called for each row of a chunk, and reports what is wrong with it. `start` begins the chunk; its argument
/// is the number of rows to make room for.
pub fn read_rows<T: Send>(
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    shape: &LineFormat,
    start: impl Fn(usize) -> T + Sync,
    row: impl Fn(&mut T, &TextRow<'_>, &mut RowFaults<'_, '_>) + Sync,
) -> (Vec<T>, SourceTally) {
    let files = input.files.par_iter().map(|file| {
        let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
        let mut tally = SourceTally::default();
        let mut pieces = Vec::new();
        match header_of(bytes, shape, file.id) {
            Ok(header) => {
                let read = chunks(file.id, bytes).into_par_iter().map(|chunk| {
                    let mut piece = start(chunk.lines.min(chunk.bytes.len() / SHORT_ROW));
                    let tally = read_chunk(&chunk, header, shape, |one, faults| row(&mut piece, one, faults));
                    (piece, tally)
                });
                for (piece, below) in read.collect::<Vec<(T, SourceTally)>>() {
                    pieces.push(piece);
                    tally.append(below);
                }
            }
            Err(diagnostic) => tally.distrust(file.id, context.files, "has another header", *diagnostic),
        }
        check_whole(&mut tally, SourceFile { id: file.id, bytes }, input, context, shape);
        (pieces, tally)
    });
    let mut all = (Vec::new(), SourceTally::default());
    for (pieces, tally) in files.collect::<Vec<(Vec<T>, SourceTally)>>() {
        all.0.extend(pieces);
        all.1.append(tally);
    }
    all
}

/// Some lines of a file, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    /// The number of the first, from 1.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// Their octets.
    pub octets: Range<usize>,
}

/// Reads the rows of some lines of a file, as [`read_rows`] does.
///
/// None where the file has another header, or anything in these lines is wrong.
pub fn read_lines(
    file: SourceFile<'_>,
    lines: &LineRange,
    shape: &LineFormat,
    mut row: impl FnMut(&TextRow<'_>, &mut RowFaults<'_, '_>),
) -> Option<usize> {
    let header = header_of(file.bytes, shape, file.id).ok()?;
    let LineRange { first, count, octets } = lines.clone();
    let chunk = TextChunk { file: file.id, first_line: first, lines: count as usize, bytes: &file.bytes[octets] };
    let tally = read_chunk(&chunk, header, shape, |one, faults| row(one, faults));
    (tally.bad == 0 && tally.diagnostics.is_empty()).then_some(tally.rows)
}

/// Finds the line of the header: 0 where the format has none.
fn header_of(bytes: &[u8], shape: &LineFormat, file: FileId) -> Result<u32, Box<Diagnostic>> {
    let Some(wanted) = shape.header else { return Ok(0) };
    for (number, line) in (1..).zip(bytes.split(|octet| *octet == b'\n')) {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        if is_passed_over(&line) {
            continue;
        }
        if line == wanted {
            return Ok(number);
        }
        let diagnostic = Diagnostic::error("bad-header", Origin::line(file, number), "this is not the header");
        let diagnostic = diagnostic.excerpt(line, 0).rule("the first row names the columns");
        return Err(Box::new(diagnostic.hint(format!("the header is `{wanted}`"))));
    }
    // A file without any row is reported as empty.
    Ok(0)
}

/// Whether a line holds no row: blank, or a comment.
fn is_passed_over(line: &str) -> bool {
    match line.as_bytes().first() {
        None | Some(b'#') => true,
        Some(octet) => octet.is_ascii_whitespace() && line.trim_ascii().is_empty(),
    }
}

/// The lines of a text without their ends, each with whether it has one.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest.as_bytes());
        let (line, behind) = end.map_or((rest, ""), |end| (&rest[..end], &rest[end + 1..]));
        let is_line = !rest.is_empty();
        rest = behind;
        is_line.then_some((line, end.is_some()))
    })
}

/// Cuts a file at line ends near every [`CHUNK`] octets.
fn chunks(file: FileId, bytes: &[u8]) -> Vec<TextChunk<'_>> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end =
            rest.get(CHUNK..).and_then(|tail| memchr::memchr(b'\n', tail)).map_or(rest.len(), |at| CHUNK + at + 1);
        let (part, tail) = rest.split_at(end);
        parts.push(part);
        rest = tail;
    }
    let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() + usize::from(!bytes.ends_with(b"\n"));
    let lines: Vec<usize> = parts.par_iter().map(|part| count(part)).collect();
    let firsts = lines.iter().scan(1, |next, lines| {
        let first = *next;
        *next += *lines as u32;
        Some(first)
    });
    let parts = parts.iter().zip(&lines).zip(firsts);
    parts.map(|((bytes, lines), first_line)| TextChunk { file, first_line, lines: *lines, bytes }).collect()
}

/// Reads the rows of one chunk.
fn read_chunk(
    chunk: &TextChunk<'_>,
    header: u32,
    shape: &LineFormat,
    mut read: impl FnMut(&TextRow<'_>, &mut RowFaults<'_, '_>),
) -> SourceTally {
    let mut tally = SourceTally::default();
    // The replacement character is only looked for where there are octets that are not UTF-8.
    let text = std::str::from_utf8(chunk.bytes).map_or_else(|_| String::from_utf8_lossy(chunk.bytes), Cow::Borrowed);
    let suspicious = is_suspicious(&text);
    for (number, (line, has_end)) in (chunk.first_line..).zip(lines(&text)) {
        let cut = !has_end;
        let line = if line.as_bytes().last() == Some(&b'\r') { &line[..line.len() - 1] } else { line };
        // The rest of a cut row may name another host than the row did.
        let is_remnant = cut && !shape.cut_is_a_row;
        if number == header || is_passed_over(line) || is_remnant {
            continue;
        }
        let line = match shape.trailing_comments.then(|| memchr::memchr(b'#', line.as_bytes())).flatten() {
            Some(comment) if line[..comment].trim_ascii().is_empty() => continue,
            Some(comment) => &line[..comment],
            None => line,
        };
        let flaw = if suspicious { find_flaw(line) } else { None };
        let row = TextRow { origin: Origin::line(chunk.file, number), text: line, flaw, cut };
        count_row(&mut tally, &row, |faults| read(&row, faults));
    }
    tally
}

/// Whether some line of a text may hold what [`find_flaw`] finds; quick to deny.
fn is_suspicious(text: &str) -> bool {
    let is_plain = |octet: &u8| (b' '..=b'~').contains(octet) || matches!(octet, b'\n' | b'\r' | b'\t');
    let bare_return = |at| text.as_bytes().get(at + 1) != Some(&b'\n');
    // Folding instead of `all` lets the compiler look at many octets at once.
    !text.as_bytes().iter().fold(true, |all, octet| all & is_plain(octet))
        || memchr::memchr_iter(b'\r', text.as_bytes()).any(bare_return)
}

/// The first character of a row that is not text: control characters except the tab, characters that are invisible or
/// reorder text, and the replacement for octets that are not UTF-8.
pub fn find_flaw(line: &str) -> Option<Range<usize>> {
    let bad = |c: &char| (c.is_control() && *c != '\t') || is_formatting(*c) || *c == '\u{fffd}';
    line.char_indices().find(|(_, c)| bad(c)).map(|(at, c)| at..at + c.len_utf8())
}

/// Checks that a file is there to its end, and has rows.
pub fn check_whole(
    tally: &mut SourceTally,
    file: SourceFile<'_>,
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    shape: &LineFormat,
) {
    const RULE: &str = "zonewright does not use a file that may be incomplete";
    let (whole, again) = if shape.is_own {
        ("restore it from version control", "restore it from version control")
    } else {
        ("export again; let the exporter write to another name and rename the complete file", "export again")
    };
    let cut = |message: String| Diagnostic::file_error("source-cut", file.id, message).rule(RULE).hint(whole);
    let ended = file.bytes.ends_with(b"\n") || shape.cut_is_a_row;
    if file.bytes.is_empty() {
        let diagnostic = Diagnostic::file_error("source-empty", file.id, "the file is empty");
        let diagnostic = diagnostic.rule("zonewright treats an empty export as unknown, not as a source without rows");
        tally.distrust(file.id, context.files, "is empty", diagnostic.hint(again));
        return;
    }
    if !ended {
        tally.distrust(file.id, context.files, "was cut", cut("the last line has no end: the file was cut".into()));
    }
    match end_marker(file.bytes) {
        Some(rows) if rows != tally.rows as u64 => {
            let message = format!("the last line promises {rows} rows, but there are {}", tally.rows);
            tally.distrust(file.id, context.files, "was cut", cut(message));
        }
        None if input.spec.require_end => {
            let message = "the last line is not `# end ROWS`, but `require_end` demands it".into();
            tally.distrust(file.id, context.files, "was cut", cut(message));
        }
        _ if tally.rows == 0 && tally.doubt.is_none() => {
            let diagnostic = Diagnostic::file_error("source-empty", file.id, "the file has no rows");
            let diagnostic =
                diagnostic.rule("zonewright treats an empty export as unknown, not as a source without rows");
            tally.distrust(file.id, context.files, "has no rows", diagnostic.hint(again));
        }
        _ => {}
    }
}

/// How many rows the last line promises; `None` where it is not a `# end ROWS`.
pub fn end_marker(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.strip_suffix(b"\n")?;
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let last = &bytes[memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)..];
    let last = std::str::from_utf8(last).ok()?;
    let mut words = last.strip_prefix('#')?.split_ascii_whitespace();
    match (words.next(), words.next().map(str::parse), words.next()) {
        (Some("end"), Some(Ok(rows)), None) => Some(rows),
        _ => None,
    }
}

/// Takes the date of a source from the `# generated:` in the first line of each file; warns of one that gives no time.
pub fn read_dates(input: &SourceInput<'_>, tally: &mut SourceTally) {
    for file in &input.files {
        let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
        let first = bytes.split(|octet| *octet == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(first);
        let date = first.strip_prefix("# generated:");
        let time = date.and_then(|date| date.trim().parse::<Time>().ok());
        tally.dated = tally.dated.and(SourceDate::of(time));
        if let (Some(date), None) = (date, time) {
            let message = format!("`{}` is not a time, so the export has no date", date.trim());
            let origin = Origin::line(file.id, 1);
            let diagnostic = Diagnostic::warning(BAD_TIME.code, origin, message).excerpt(first.trim_end(), 0);
            tally.diagnostics.push(diagnostic.rule(BAD_TIME.rule).hint(BAD_TIME.hint));
        }
    }
}

/// A fault that shows only when rows are compared.
pub struct RowConflict {
    /// How bad it is.
    pub severity: Severity,
    /// The row.
    pub origin: Origin,
    /// What is wrong with it.
    pub message: String,
    /// Where the other row is.
    pub other: Origin,
}

/// A row that gives a key one /64.
pub struct KeyedRow<K> {
    /// The key.
    pub key: K,
    /// The network, where the whole row is good.
    pub network: Option<Net64>,
    /// Its place.
    pub origin: Origin,
}

/// Sorts rows by key and place, and takes the networks off all rows of a key that has several; counts them as bad.
pub fn take_conflicts<K: Ord + Copy>(
    rows: &mut [KeyedRow<K>],
    what: &str,
    tally: &mut SourceTally,
) -> Vec<RowConflict> {
    let mut conflicts = Vec::new();
    rows.sort_by_key(|row| (row.key, row.origin));
    for same in rows.chunk_by_mut(|a, b| a.key == b.key) {
        let mut networks = same.iter().filter_map(|row| row.network.map(|network| (network, row.origin)));
        let Some(first) = networks.next() else { continue };
        let Some(second) = networks.find(|(network, _)| *network != first.0) else { continue };
        for row in same {
            let Some(network) = row.network.take() else { continue };
            tally.bad += 1;
            let (other, origin) = if network == first.0 { second } else { first };
            let message = format!("{network} here, but {other} elsewhere for the same {what}");
            conflicts.push(RowConflict { severity: Severity::Error, origin: row.origin, message, other: origin });
        }
    }
    conflicts
}

/// Reports rows that contradict others, with their lines.
pub fn report_conflicts(
    fault: &RowFault,
    mut conflicts: Vec<RowConflict>,
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    tally: &mut SourceTally,
) {
    conflicts.sort_by_key(|conflict| conflict.origin);
    for of_file in conflicts.chunk_by(|a, b| a.origin.file == b.origin.file) {
        let id = of_file[0].origin.file;
        let bytes = input.files.iter().find(|file| file.id == id).map_or(&[][..], |file| file.bytes);
        let mut lines = (1..).zip(bytes.split(|octet| *octet == b'\n')).peekable();
        let mut found = Diagnostics::default();
        for conflict in of_file {
            let mut make = || {
                while lines.next_if(|(number, _)| *number < conflict.origin.line).is_some() {}
                let line = String::from_utf8_lossy(lines.peek().map_or(&[][..], |(_, line)| line));
                let line = line.trim_end_matches('\r').trim_start_matches('\u{feff}');
                let diagnostic = Diagnostic::error(fault.code, conflict.origin, conflict.message.as_str());
                Diagnostic { severity: conflict.severity, row: Some(conflict.origin), ..diagnostic }
                    .excerpt(line, 0)
                    .also(format!("the other is {}", context.files.place(conflict.other)))
                    .rule(fault.rule)
                    .hint(fault.hint)
            };
            match conflict.severity {
                Severity::Error => found.push_bounded(id, make),
                Severity::Warning => found.push(make()),
            }
        }
        tally.diagnostics.append(found);
    }
}

/// Reads the name of a host; one below the free domain counts as none.
pub fn read_name(text: &str, context: &RowContext<'_>) -> Result<Option<Name>, NameError> {
    let name = Name::parse_host(text)?;
    if name.as_name().parent().is_none() {
        return Err(NameError::EmptyLabel);
    }
    let free = context.free_domain.as_name();
    let is_free = name.as_name() != free && name.as_name().is_at_or_below(free);
    Ok((!is_free).then_some(name))
}

/// A word of a row.
pub struct RowWord<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its octets in the row.
    pub at: Range<usize>,
}

/// The words of a row whose fields are separated by blanks.
pub fn words(line: &str) -> impl Iterator<Item = RowWord<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let blanks = line.as_bytes()[at..].iter().take_while(|octet| octet.is_ascii_whitespace()).count();
        let start = at + blanks;
        let octets = line.as_bytes()[start..].iter().take_while(|octet| !octet.is_ascii_whitespace()).count();
        at = start + octets;
        (octets > 0).then(|| RowWord { text: &line[start..at], at: start..at })
    })
}

/// Reads a VLAN number.
pub fn read_vlan(word: &RowWord<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Vlan> {
    let digits = word.text.bytes().all(|octet| octet.is_ascii_digit());
    let vlan = word.text.parse().ok().filter(|_| digits).and_then(Vlan::new);
    if vlan.is_none() {
        faults.add(&BAD_VLAN, word.at.clone(), || format!("`{}` is not a VLAN", word.text));
    }
    vlan
}

/// Reads a /64.
pub fn read_net64(word: &RowWord<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Net64> {
    let Ok(network) = word.text.parse::<Ipv6Net>() else {
        faults.add(&BAD_NETWORK, word.at.clone(), || format!("`{}` is not an IPv6 network", word.text));
        return None;
    };
    let net64 = Net64::new(network);
    if net64.is_none() {
        faults.add(&NOT_A_64, word.at.clone(), || match network.prefix_len() {
            64 => format!("`{network}` has bits behind its prefix"),
            _ => format!("`{network}` is not a /64"),
        });
    }
    net64
}
