//! Exports of other systems: CSV with a header, or JSON, to the fields that are asked for.
//!
//! Comes in: the files of a source, and the fields. Goes out: the rows with these fields as text; other fields are
//! ignored. The content of a file decides which of the two formats it has.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::text::{self, BAD_CHARACTER, RowFault, RowFaults, TextRow};
use super::{RowContext, SourceFile, SourceInput, SourceTally};
use crate::diag::{Code, Diagnostic, FileId};

mod csv;

mod json;

mod skim;

/// A field that holds what cannot be used.
pub const BAD_FIELD: RowFault = RowFault {
    code: Code::new("bad-field"),
    rule: "a value must be text on one line",
    hint: "correct it where the export comes from, and export again",
};

/// What the files of one system have in common.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// What the header of a CSV file calls a field; `None` where it is not known.
    pub header: fn(&str) -> Option<&'static [&'static str]>,
    /// Whether columns separated by tabs are as `mysql --batch` writes them: no quotes, `NULL` for nothing, and escapes
    /// by backslashes.
    pub tabs_of_mysql: bool,
    /// How to get a whole export.
    pub hint: &'static str,
}

/// A field that is asked for.
#[derive(Debug, Clone)]
pub struct WantedField {
    /// What it is called: `asset_tag`, `site.slug`, `cf_number`, or a column's header.
    pub name: String,
    /// Whether a file must have it.
    pub is_required: bool,
    /// Whether of several objects in a list the first alone counts, and not all that they say.
    pub is_first: bool,
}

impl WantedField {
    /// A field that must be there.
    pub fn required(name: impl Into<String>) -> WantedField {
        WantedField { name: name.into(), is_required: true, is_first: false }
    }

    /// A field that may be missing.
    pub fn optional(name: impl Into<String>) -> WantedField {
        WantedField { name: name.into(), is_required: false, is_first: false }
    }

    /// A field that may be missing, of the first object where its way leads through a list.
    pub fn of_first(name: impl Into<String>) -> WantedField {
        WantedField { is_first: true, ..WantedField::optional(name) }
    }

    /// The keys that lead to it in a JSON object; NetBox keeps custom fields apart.
    fn path(&self) -> Vec<&str> {
        match self.name.strip_prefix("cf_") {
            Some(name) => vec!["custom_fields", name],
            None => self.name.split('.').collect(),
        }
    }
}

/// The requested fields of one row.
pub struct ExportRecord<'r, 'a> {
    /// The row.
    pub row: &'r TextRow<'a>,
    /// The requested fields, without blanks around them; `None` where the file has no such field, or the field is
    /// empty.
    pub fields: Vec<Option<Cow<'r, str>>>,
    /// Where they are in the row.
    place: FieldPlace,
}

/// How to find a field in a row again.
enum FieldPlace {
    /// By the number of its column and what separates columns.
    Columns(Vec<Option<usize>>, csv::CsvStyle),
    /// By its octets.
    Octets(Vec<Range<usize>>),
}

impl ExportRecord<'_, '_> {
    /// A field; empty where there is none.
    pub fn text(&self, field: usize) -> &str {
        self.fields[field].as_deref().unwrap_or_default()
    }

    /// Where a field is in its row.
    pub fn at(&self, field: usize) -> Range<usize> {
        match &self.place {
            FieldPlace::Columns(columns, style) => match columns[field] {
                Some(column) => csv::column(self.row.text, column, *style),
                None => 0..self.row.text.len(),
            },
            FieldPlace::Octets(octets) => octets[field].clone(),
        }
    }

    /// Reports a fault of a field.
    pub fn fault(
        &self,
        field: usize,
        fault: &RowFault,
        faults: &mut RowFaults<'_, '_>,
        message: impl FnOnce() -> String,
    ) {
        if faults.is_hushed() {
            // Finding a field again costs time, and the report would not be shown.
            faults.add(fault, 0..0, String::new);
        } else {
            faults.add(fault, self.at(field), message);
        }
    }

    /// Reports fields that hold what no text of one line holds.
    pub fn judge(&self, faults: &mut RowFaults<'_, '_>) {
        for (place, text) in self.fields.iter().enumerate() {
            let Some(text) = text else { continue };
            if text.bytes().all(|octet| (b' '..=b'~').contains(&octet)) {
                continue;
            }
            if text.contains(['\n', '\r', '\t']) {
                self.fault(place, &BAD_FIELD, faults, || "the field holds several lines, or a tab".into());
            } else if text::find_flaw(text).is_some() {
                let message = || "a control character, or a byte that is not UTF-8".into();
                self.fault(place, &BAD_CHARACTER, faults, message);
            }
        }
    }
}

/// What was read of a source.
pub struct ExportRecords<T> {
    /// What each chunk gave, in the order of files and rows.
    pub pieces: Vec<T>,
    /// How much is wrong.
    pub tally: SourceTally,
    /// The files with several rows on one line.
    pub crowded: Vec<FileId>,
}

/// What is the same for all rows of a source.
pub struct RowReading<'w, S, R> {
    /// The fields.
    wanted: &'w [WantedField],
    /// What the system writes.
    dialect: &'w Dialect,
    /// Begins a chunk.
    start: S,
    /// Takes one row.
    row: R,
}

impl<'w, S, R> RowReading<'w, S, R> {
    /// Reads by two functions: `row` is called for each row of a chunk that `start` began, and judges its fields. A row
    /// that cannot be read has no fields.
    pub fn new<T>(wanted: &'w [WantedField], dialect: &'w Dialect, start: S, row: R) -> RowReading<'w, S, R>
    where
        S: Fn() -> T + Sync,
        R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>) + Sync,
    {
        RowReading { wanted, dialect, start, row }
    }
}

/// Reads all rows of a source, in chunks side by side.
pub fn read_records<T, S, R>(
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    reading: &RowReading<'_, S, R>,
) -> ExportRecords<T>
where
    T: Send,
    S: Fn() -> T + Sync,
    R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>) + Sync,
{
    let of_file = |file: &SourceFile<'_>| {
        let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
        let file = SourceFile { id: file.id, bytes };
        match bytes.trim_ascii_start().first() {
            Some(b'{' | b'[') => json::read(file, context, reading),
            _ => {
                let (pieces, tally) = csv::read(file, input, context, reading);
                json::FileRows { pieces, tally, is_crowded: false, page: json::JsonPages::default() }
            }
        }
    };
    let files: Vec<json::FileRows<T>> = input.files.par_iter().map(of_file).collect();
    let mut all = ExportRecords { pieces: Vec::new(), tally: SourceTally::default(), crowded: Vec::new() };
    let mut pages = Vec::new();
    for (file, read) in input.files.iter().zip(files) {
        pages.push((file.id, read.page, read.tally.rows));
        all.pieces.extend(read.pieces);
        all.tally.append(read.tally);
        all.crowded.extend(read.is_crowded.then_some(file.id));
    }
    json::check_pages(&pages, context, &mut all.tally);
    let tally = &mut all.tally;
    tally.rows -= std::mem::take(&mut tally.passed_over);
    if let (0, None, Some(file)) = (tally.rows, &tally.doubt, input.files.first()) {
        let (words, hint) = if input.spec.mapping.only.is_empty() {
            ("none of the rows has what is looked for", "export whole objects, and those that have it")
        } else {
            ("`only` selects none of the rows", "correct `only`, or export again")
        };
        let diagnostic = Diagnostic::file_error("source-empty", file.id, words);
        let diagnostic = diagnostic.rule("zonewright treats an empty export as unknown, not as a source without rows");
        tally.distrust(file.id, context.files, "has no rows", diagnostic.hint(hint));
    }
    all
}
