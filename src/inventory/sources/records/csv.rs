//! CSV as other systems write it: a header that names the columns, quotes around fields that need them, lines in
//! fields.
//!
//! Source: RFC 4180; Python's `csv` module and the manual of `mysql --batch` for what differs.

use std::borrow::Cow;
use std::ops::Range;

use ::csv::{ReaderBuilder, StringRecord};
use rayon::prelude::*;

use super::{ExportRecord, FieldPlace, RowReading};
use crate::diag::{Diagnostic, Origin};
use crate::inventory::sources::hosts_csv::{BAD_QUOTING, CSV_FIELDS};
use crate::inventory::sources::text::{self, LineFormat, RowFaults, TextRow};
use crate::inventory::sources::{RowContext, SourceFile, SourceInput, SourceTally};

/// How many octets one thread reads at a time.
const CHUNK: usize = 1 << 20;

/// How a file separates its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvStyle {
    /// The octet between columns.
    delimiter: u8,
    /// Whether fields may be in quotes; otherwise they are as `mysql --batch` writes them.
    is_quoted: bool,
}

/// The columns of a file.
struct CsvColumns {
    /// How they are separated.
    style: CsvStyle,
    /// How many there are.
    count: usize,
    /// The place of each field that is asked for.
    places: Vec<Option<usize>>,
}

/// Some whole rows of a file.
struct CsvChunk<'a> {
    /// The number of its first line.
    first_line: u32,
    /// Its text.
    text: Cow<'a, str>,
}

/// Reads one file.
pub fn read<T, S, R>(
    file: SourceFile<'_>,
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    reading: &RowReading<'_, S, R>,
) -> (Vec<T>, SourceTally)
where
    T: Send,
    S: Fn() -> T + Sync,
    R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>) + Sync,
{
    let mut tally = SourceTally::default();
    let mut pieces = Vec::new();
    let rows = rows_of(file.bytes);
    match find_columns(file, rows, reading) {
        Ok(Some((columns, header))) => match chunks(&rows[header..], lines(&rows[..header]) + 1, columns.style) {
            Some(chunks) => {
                let read = chunks.into_par_iter().map(|chunk| read_chunk(&chunk, file, &columns, reading));
                for (piece, below) in read.collect::<Vec<(T, SourceTally)>>() {
                    pieces.push(piece);
                    tally.append(below);
                }
            }
            None => {
                let diagnostic = Diagnostic::file_error("source-cut", file.id, "a quote is never closed");
                let diagnostic = diagnostic.rule(BAD_QUOTING.rule).hint("export again; the file was cut, or edited");
                tally.distrust(file.id, context.files, "was cut", diagnostic);
            }
        },
        Ok(None) => {}
        Err(diagnostic) => tally.distrust(file.id, context.files, "has another header", *diagnostic),
    }
    text::check_whole(&mut tally, file, input, context, &LineFormat::default());
    (pieces, tally)
}

/// A file without the last line that counts its rows, and without a last line that has no end: the rest of a cut row
/// may name another host than the row did.
fn rows_of(bytes: &[u8]) -> &[u8] {
    let whole = &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)];
    match text::end_marker(whole) {
        Some(_) => &whole[..memchr::memrchr(b'\n', &whole[..whole.len() - 1]).map_or(0, |end| end + 1)],
        None => whole,
    }
}

/// How many lines end in some octets.
fn lines(bytes: &[u8]) -> u32 {
    memchr::memchr_iter(b'\n', bytes).count() as u32
}

/// Finds the columns that are asked for in the header, and the end of that; `None` where there is no row at all.
fn find_columns<S, R>(
    file: SourceFile<'_>,
    rows: &[u8],
    reading: &RowReading<'_, S, R>,
) -> Result<Option<(CsvColumns, usize)>, Box<Diagnostic>> {
    let Some(end) = memchr::memchr(b'\n', rows).map(|end| end + 1) else { return Ok(None) };
    let header = String::from_utf8_lossy(rows[..end].trim_ascii_end());
    let delimiter = delimiter(&header);
    let style = CsvStyle { delimiter, is_quoted: !(reading.dialect.tabs_of_mysql && delimiter == b'\t') };
    let mut names = StringRecord::new();
    let read = reader(header.as_bytes(), style).read_record(&mut names);
    read.expect("text in memory is read, whatever it holds");
    let bad = |message: String| {
        let diagnostic = Diagnostic::error("bad-header", Origin::line(file.id, 1), message);
        let diagnostic = diagnostic.excerpt(&header, 0);
        let rule = "the first row names the columns";
        Box::new(diagnostic.rule(rule).hint(reading.dialect.hint))
    };
    let mut places = Vec::new();
    for wanted in reading.wanted {
        let own = wanted.name.strip_prefix("cf_").unwrap_or(&wanted.name);
        let known = (reading.dialect.header)(&wanted.name).unwrap_or(&[]);
        let is_it = |name: &str| known.iter().chain([&own]).any(|header| name.trim().eq_ignore_ascii_case(header));
        let found: Vec<usize> = (0..names.len()).filter(|place| is_it(&names[*place])).collect();
        match found[..] {
            [] if wanted.is_required => {
                let header = known.first().copied().unwrap_or(own);
                return Err(bad(format!("there is no column `{header}`")));
            }
            [_, second, ..] => return Err(bad(format!("two columns are called `{}`", &names[second]))),
            _ => places.push(found.first().copied()),
        }
    }
    Ok(Some((CsvColumns { style, count: names.len(), places }, end)))
}

/// What separates the columns: of what may, that which the header has most of.
fn delimiter(header: &str) -> u8 {
    let count = |delimiter: &u8| memchr::memchr_iter(*delimiter, header.as_bytes()).count();
    // Of several with one count the last wins, and a header of one column is as good as any.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(count).expect("there are four")
}

/// A reader of rows without a header.
fn reader(bytes: &[u8], style: CsvStyle) -> ::csv::Reader<&[u8]> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(style.delimiter).quoting(style.is_quoted).from_reader(bytes)
}

/// Cuts rows at line ends outside quotes, near every [`CHUNK`] octets; `None` where a quote is never closed.
fn chunks(mut rest: &[u8], mut line: u32, style: CsvStyle) -> Option<Vec<CsvChunk<'_>>> {
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let end = if style.is_quoted { end_outside_quotes(rest)? } else { end_of_line(rest, CHUNK) };
        let (part, tail) = rest.split_at(end);
        chunks.push(CsvChunk { first_line: line, text: String::from_utf8_lossy(part) });
        line += lines(part);
        rest = tail;
    }
    Some(chunks)
}

/// The end of the first line that ends at or behind an octet.
fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).and_then(|tail| memchr::memchr(b'\n', tail)).map_or(bytes.len(), |at| from + at + 1)
}

/// The end of the first line that ends behind [`CHUNK`] octets and outside quotes.
fn end_outside_quotes(bytes: &[u8]) -> Option<usize> {
    let mut is_inside = false;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        match bytes[at] {
            b'"' => is_inside = !is_inside,
            _ if !is_inside && at >= CHUNK => return Some(at + 1),
            _ => {}
        }
    }
    (!is_inside).then_some(bytes.len())
}

/// Reads the rows of one chunk.
fn read_chunk<T, S, R>(
    chunk: &CsvChunk<'_>,
    file: SourceFile<'_>,
    columns: &CsvColumns,
    reading: &RowReading<'_, S, R>,
) -> (T, SourceTally)
where
    S: Fn() -> T,
    R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>),
{
    let (mut piece, mut tally) = ((reading.start)(), SourceTally::default());
    let text = &*chunk.text;
    let mut rows = reader(text.as_bytes(), columns.style);
    let (mut line, mut counted) = (chunk.first_line, 0);
    let mut fields = StringRecord::new();
    while rows.read_record(&mut fields).expect("text in memory is read, whatever it holds") {
        let from = fields.position().map_or(0, |position| position.byte() as usize);
        // The library counts what ends the row before, and blank lines, to the row.
        let from = from + text[from..].bytes().take_while(|octet| matches!(octet, b'\r' | b'\n')).count();
        let to = rows.position().byte() as usize;
        line += lines(&text.as_bytes()[counted..from]);
        counted = from;
        let row = TextRow::foreign(Origin::line(file.id, line), text[from..to].trim_end_matches(['\r', '\n']));
        let values = columns.places.iter().map(|place| value(fields.get((*place)?)?, columns.style)).collect();
        let place = FieldPlace::Columns(columns.places.clone(), columns.style);
        let record = ExportRecord { row: &row, fields: values, place };
        text::count_row(&mut tally, &row, |faults| {
            if fields.len() != columns.count {
                faults
                    .add_whole(&CSV_FIELDS, || format!("{} instead of {}", text::fields(fields.len()), columns.count));
            }
            faults.hush();
            (reading.row)(&mut piece, &record, faults);
        });
    }
    (piece, tally)
}

/// A field without blanks around it; `None` where it is empty.
fn value(field: &str, style: CsvStyle) -> Option<Cow<'_, str>> {
    let field = field.trim();
    let is_nothing = field.is_empty() || (!style.is_quoted && field == "NULL");
    let is_escaped = !style.is_quoted && field.contains('\\');
    (!is_nothing).then(|| if is_escaped { Cow::Owned(unescaped(field)) } else { Cow::Borrowed(field) })
}

/// A field of `mysql --batch` as it is in the database.
///
/// Source: MySQL Reference Manual, mysql client options, `--batch`.
fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        text.push(match (c, c == '\\') {
            (c, false) => c,
            _ => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('0') => '\0',
                Some(other) => other,
                None => '\\',
            },
        });
    }
    text
}

/// The octets of a column in a row, quotes included.
pub fn column(row: &str, column: usize, style: CsvStyle) -> Range<usize> {
    let (mut from, mut number, mut is_inside) = (0, 0, false);
    for (at, octet) in row.bytes().enumerate() {
        if octet == b'"' && style.is_quoted {
            is_inside = !is_inside;
        } else if octet == style.delimiter && !is_inside {
            if number == column {
                return from..at;
            }
            (from, number) = (at + 1, number + 1);
        }
    }
    if number == column { from..row.len() } else { 0..row.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_outside_quotes() {
        let row = format!("\"{}\n\"\"{}\",b\n", "a".repeat(CHUNK / 2), "a".repeat(CHUNK / 2 - 4));
        let text = row.repeat(3);
        let style = CsvStyle { delimiter: b',', is_quoted: true };
        let found = chunks(text.as_bytes(), 2, style).unwrap();
        let firsts: Vec<u32> = found.iter().map(|chunk| chunk.first_line).collect();
        assert_eq!((firsts, found.iter().all(|chunk| chunk.text == row)), (vec![2, 4, 6], true));
        assert!(chunks(&text.as_bytes()[..text.len() - 4], 2, style).is_none());
    }

    #[test]
    fn a_column_is_found_again() {
        let comma = CsvStyle { delimiter: b',', is_quoted: true };
        let row = "a,\"b,\n\"\"\",c";
        let found = [0, 1, 2].map(|number| &row[column(row, number, comma)]);
        assert_eq!(found, ["a", "\"b,\n\"\"\"", "c"]);
        let tab = CsvStyle { delimiter: b'\t', is_quoted: false };
        assert_eq!(&"a\"\tb"[column("a\"\tb", 1, tab)], "b");
        assert_eq!(unescaped(r"a\tb\\n\0"), "a\tb\\n\0");
    }
}
