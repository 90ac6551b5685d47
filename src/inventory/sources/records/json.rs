//! JSON as other systems write it: a list of objects, pages of an API, or one object a line.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use rayon::prelude::*;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::skim::{SkimError, SkimmedDocument, skim};
use super::{ExportRecord, FieldPlace, RowReading, WantedField};
use crate::diag::{Code, Diagnostic, Diagnostics, FileId, Origin};
use crate::inventory::sources::text::{self, RowFault, RowFaults, TextRow};
use crate::inventory::sources::{RowContext, SourceFile, SourceTally};

/// How many rows one thread reads at a time.
const CHUNK: usize = 256;

/// How deep the value of a field may be: a list of objects, each with a name.
const DEPTH: usize = 2;

/// The members of an object that represent it; the first that it has counts: the name of a site, the value of a choice,
/// the display of an object with neither.
const STANDS_FOR: [&str; 5] = ["name", "value", "label", "display", "id"];

/// A row that is not a JSON object.
const BAD_JSON: RowFault =
    RowFault { code: Code::new("bad-json"), rule: "each row is one JSON object, each key once", hint: "export again" };

/// What may be incomplete.
const CUT_RULE: &str = "zonewright does not use a file that may be incomplete";

/// What keeps a file from being read before it is complete.
const WHOLE: &str = "export again; let the exporter write to another name and rename the complete file";

/// What was read of one file.
pub struct FileRows<T> {
    /// What each chunk gave.
    pub pieces: Vec<T>,
    /// How much is wrong.
    pub tally: SourceTally,
    /// Whether several rows are on one line.
    pub is_crowded: bool,
    /// What its pages say of themselves.
    pub page: JsonPages,
}

/// What the pages of a file say of themselves together.
#[derive(Debug, Default)]
pub struct JsonPages {
    /// How many rows there are in all, as each page says that says it.
    counts: Vec<String>,
    /// How many rows the pages have.
    rows: usize,
    /// What each page that says it says of the page behind it.
    nexts: Vec<String>,
    /// Whether another page follows the last.
    has_next: bool,
    /// Whether there is any page.
    is_there: bool,
}

/// Reads one file.
pub fn read<T, S, R>(file: SourceFile<'_>, context: &RowContext<'_>, reading: &RowReading<'_, S, R>) -> FileRows<T>
where
    T: Send,
    S: Fn() -> T + Sync,
    R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>) + Sync,
{
    let mut read =
        FileRows { pieces: Vec::new(), tally: SourceTally::default(), is_crowded: false, page: JsonPages::default() };
    let found = match skim(file.bytes) {
        Ok(found) => found,
        Err(error) => {
            let (cause, diagnostic) = no_document(error, file, reading.dialect.hint);
            read.tally.distrust(file.id, context.files, cause, diagnostic);
            return read;
        }
    };
    if found.has_open_end {
        let diagnostic = cut(file.id, "the last line has no end: the file was cut");
        read.tally.distrust(file.id, context.files, "was cut", diagnostic);
    }
    read.page = page(&found, file.bytes);
    let mut places = OctetPlaces::new(file);
    let rows: Vec<(Range<usize>, Origin)> =
        found.rows.into_iter().map(|row| (row.clone(), places.origin(row.start))).collect();
    read.is_crowded = rows.windows(2).any(|pair| pair[0].1.line == pair[1].1.line);
    let paths = FieldPaths::new(reading.wanted);
    let parts = rows.par_chunks(CHUNK).map(|rows| {
        let seen = vec![false; paths.keys.len()];
        let mut chunk = RowChunk { piece: (reading.start)(), tally: SourceTally::default(), seen };
        for (octets, origin) in rows {
            let text = String::from_utf8_lossy(&file.bytes[octets.clone()]);
            read_row(&mut chunk, &TextRow::foreign(*origin, &text), reading, &paths);
        }
        chunk
    });
    let parts: Vec<RowChunk<T>> = parts.collect();
    let seen = |place: usize| parts.iter().any(|chunk| chunk.seen[place]);
    let lacking = paths.lacking(reading.wanted, seen);
    for RowChunk { piece, tally: mut below, .. } in parts {
        if !lacking.is_empty() {
            // A field that every row lacks is reported once.
            below.diagnostics = Diagnostics::default();
        }
        read.pieces.push(piece);
        read.tally.append(below);
    }
    if !rows.is_empty() && !lacking.is_empty() {
        read.tally.distrust(file.id, context.files, "has other fields", no_field(file.id, &lacking));
    }
    if rows.is_empty() && read.tally.doubt.is_none() {
        let diagnostic = Diagnostic::file_error("source-empty", file.id, "the file has no rows");
        let diagnostic = diagnostic.rule("zonewright treats an empty export as unknown, not as a source without rows");
        read.tally.distrust(file.id, context.files, "has no rows", diagnostic.hint("export again"));
    }
    read
}

/// The error about a file that was cut.
fn cut(file: FileId, message: &str) -> Diagnostic {
    Diagnostic::file_error("source-cut", file, message).rule(CUT_RULE).hint(WHOLE)
}

/// Why a file is no document, in a word for the doubt, and the error about it. `hint` says how to get a whole export.
fn no_document(error: SkimError, file: SourceFile<'_>, hint: &'static str) -> (&'static str, Diagnostic) {
    match error {
        SkimError::Cut => ("was cut", cut(file.id, "the document does not close: the file was cut")),
        SkimError::Unexpected(at) => {
            let (mut places, width) = (OctetPlaces::new(file), file.bytes.len().min(at + 1) - at);
            let diagnostic = Diagnostic::error(BAD_JSON.code, places.origin(at), "this is not JSON");
            let line = String::from_utf8_lossy(places.line(at));
            ("is not JSON", diagnostic.excerpt(line, width).rule(BAD_JSON.rule).hint(hint))
        }
    }
}

/// The error about fields that every row of a file lacks.
fn no_field(file: FileId, lacking: &[String]) -> Diagnostic {
    let message = format!("none of the rows has {}", lacking.join(", "));
    let hint = "export whole objects, without `brief` or `fields`; or name the fields that it has in zonewright.toml";
    Diagnostic::file_error("bad-header", file, message).rule("a file has the fields that are asked for").hint(hint)
}

/// What the pages of a document say.
fn page(found: &SkimmedDocument, bytes: &[u8]) -> JsonPages {
    let text = |octets: &Option<Range<usize>>| octets.clone().map(|octets| String::from_utf8_lossy(&bytes[octets]));
    let number = |octets| text(octets).map(|text| text.trim_matches('"').to_owned()).filter(|count| count != "null");
    JsonPages {
        counts: found.pages.iter().filter_map(|page| number(&page.count)).collect(),
        rows: found.pages.iter().map(|page| page.rows).sum(),
        nexts: found.pages.iter().filter_map(|page| Some(text(&page.next)?.into_owned())).collect(),
        has_next: found.pages.last().and_then(|page| text(&page.next)).is_some_and(|next| next != "null"),
        is_there: !found.pages.is_empty(),
    }
}

/// Checks that the pages of a source are all of them.
pub fn check_pages(pages: &[(FileId, JsonPages, usize)], context: &RowContext<'_>, tally: &mut SourceTally) {
    let Some((file, last)) = pages.iter().rev().find(|(_, page, _)| page.is_there).map(|(file, page, _)| (*file, page))
    else {
        return;
    };
    let rows: usize = pages.iter().map(|(_, page, _)| page.rows).sum();
    let differs = |count: &&String| **count != rows.to_string();
    let mut nexts: Vec<&String> = pages.iter().flat_map(|(_, page, _)| &page.nexts).collect();
    nexts.sort_unstable();
    // Where one page is there twice, the number of rows may be right though another is missing.
    let is_twice = nexts.windows(2).any(|pair| pair[0] == pair[1]);
    let message = match pages.iter().flat_map(|(_, page, _)| &page.counts).find(differs) {
        Some(count) => format!("`count` promises {count} rows, but there are {rows}"),
        None if is_twice => "two pages have the same `next`: one is there twice, or another is missing".into(),
        None if last.has_next && last.counts.is_empty() => "`next` says that another page follows".into(),
        None => return,
    };
    let diagnostic = Diagnostic::file_error("source-cut", file, message).rule(CUT_RULE);
    let hint = "export all pages, each to a file of the source; or ask for all rows at once, with `limit=0`";
    tally.distrust(file, context.files, "is not whole", diagnostic.hint(hint));
}

/// The lines and columns of octets, asked for in ascending order.
struct OctetPlaces<'a> {
    /// The file.
    file: SourceFile<'a>,
    /// The octet that was asked for last.
    at: usize,
    /// Its line and column.
    origin: Origin,
}

impl<'a> OctetPlaces<'a> {
    /// Begins at the first octet.
    fn new(file: SourceFile<'a>) -> OctetPlaces<'a> {
        OctetPlaces { file, at: 0, origin: Origin { file: file.id, line: 1, col: 1 } }
    }

    /// The line and column of an octet that is not before the last one.
    fn origin(&mut self, at: usize) -> Origin {
        let between = &self.file.bytes[self.at..at];
        let lines = memchr::memchr_iter(b'\n', between).count() as u32;
        let tail = memchr::memrchr(b'\n', between).map_or(between, |end| &between[end + 1..]);
        // Every character has one octet that does not continue another.
        let chars = tail.iter().filter(|octet| **octet & 0xc0 != 0x80).count() as u32;
        self.origin.line += lines;
        self.origin.col = chars + if lines > 0 { 1 } else { self.origin.col };
        self.at = at;
        self.origin
    }

    /// The line around an octet.
    fn line(&self, at: usize) -> &'a [u8] {
        let (before, behind) = self.file.bytes.split_at(at);
        let from = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let to = memchr::memchr(b'\n', behind).map_or(self.file.bytes.len(), |end| at + end);
        &self.file.bytes[from..to]
    }
}

/// The ways to the fields that are asked for.
struct FieldPaths<'w> {
    /// The keys that lead to each, and whether of a list the first object alone counts.
    all: Vec<(Vec<&'w str>, bool)>,
    /// The first of them, sorted, each once.
    keys: Vec<&'w str>,
}

impl<'w> FieldPaths<'w> {
    /// The ways to some fields.
    fn new(wanted: &'w [WantedField]) -> FieldPaths<'w> {
        let all: Vec<(Vec<&str>, bool)> = wanted.iter().map(|wanted| (wanted.path(), wanted.is_first)).collect();
        let mut keys: Vec<&str> = all.iter().map(|(path, _)| path[0]).collect();
        keys.sort_unstable();
        keys.dedup();
        FieldPaths { all, keys }
    }

    /// The fields that must be there and of which not even the first key was seen, quoted.
    fn lacking(&self, wanted: &[WantedField], seen: impl Fn(usize) -> bool) -> Vec<String> {
        let is_seen = |path: &[&str]| self.keys.binary_search(&path[0]).is_ok_and(&seen);
        let lacking = wanted.iter().zip(&self.all).filter(|(wanted, (path, _))| wanted.is_required && !is_seen(path));
        lacking.map(|(wanted, _)| format!("`{}`", wanted.name)).collect()
    }
}

/// What was read of some rows that one thread reads.
struct RowChunk<T> {
    /// What they gave.
    piece: T,
    /// How much is wrong.
    tally: SourceTally,
    /// Which of the first keys to fields any of them has.
    seen: Vec<bool>,
}

/// Reads one row; notes which of the first keys it has, whatever their values.
fn read_row<T, S, R>(chunk: &mut RowChunk<T>, row: &TextRow<'_>, reading: &RowReading<'_, S, R>, paths: &FieldPaths<'_>)
where
    R: Fn(&mut T, &ExportRecord<'_, '_>, &mut RowFaults<'_, '_>),
{
    let RowChunk { piece, tally, seen } = chunk;
    text::count_row(tally, row, |faults| {
        let found = find_fields(row.text, paths, seen).unwrap_or_else(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned();
            faults.add_whole(&BAD_JSON, || message);
            faults.hush();
            vec![None; reading.wanted.len()]
        });
        let start = row.text.as_ptr() as usize;
        let octets = found.iter().map(|field| match field {
            Some((_, raw)) => raw.as_ptr() as usize - start..raw.as_ptr() as usize - start + raw.len(),
            None => 0..row.text.len(),
        });
        let place = FieldPlace::Octets(octets.collect());
        let record = ExportRecord { row, fields: found.into_iter().map(|field| Some(field?.0)).collect(), place };
        (reading.row)(piece, &record, faults);
    });
}

/// A field as text, and as it is written.
type WrittenField<'t> = Option<(Cow<'t, str>, &'t str)>;

/// Finds fields in the text of an object; notes which of the first keys it has.
fn find_fields<'t>(
    text: &'t str,
    paths: &FieldPaths<'_>,
    seen: &mut [bool],
) -> Result<Vec<WrittenField<'t>>, serde_json::Error> {
    let found = pick(text, &paths.keys)?;
    seen.iter_mut().zip(&found).for_each(|(seen, member)| *seen |= member.is_some());
    let fields = paths.all.iter().map(|(path, is_first)| {
        let member = paths.keys.binary_search(&path[0]).ok().and_then(|place| found[place]);
        member.map_or(Ok(None), |member| descend(member, &path[1..], *is_first))
    });
    fields.collect()
}

/// Follows keys down a value; of a list, down its first item, or down all of them.
fn descend<'t>(mut raw: &'t str, mut path: &[&str], is_first: bool) -> Result<WrittenField<'t>, serde_json::Error> {
    while let Some((key, rest)) = path.split_first() {
        match raw.as_bytes().first() {
            Some(b'[') => {
                let items = serde_json::from_str::<Vec<&'t RawValue>>(raw)?;
                let items = items.iter().map(|item| item.get()).filter(|item| !item.starts_with('['));
                if !is_first {
                    let texts = items.filter_map(|item| descend(item, path, true).transpose());
                    let texts: Vec<Cow<'_, str>> =
                        texts.map(|field| field.map(|(text, _)| text)).collect::<Result<_, _>>()?;
                    return Ok((!texts.is_empty()).then(|| (Cow::Owned(texts.join(",")), raw)));
                }
                match items.into_iter().next() {
                    Some(first) => raw = first,
                    None => return Ok(None),
                }
            }
            Some(b'{') => match pick(raw, &[key])?[0] {
                Some(member) => (raw, path) = (member, rest),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    Ok(text_of(raw, DEPTH)?.map(|text| (text, raw)))
}

/// A value as text: for an object the member that represents it, for a list its items; `None` where it is null, empty,
/// or too deep.
fn text_of(raw: &str, depth: usize) -> Result<Option<Cow<'_, str>>, serde_json::Error> {
    let text: Cow<'_, str> = match raw.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<JsonText<'_>>(raw)?.0,
        Some(b'{' | b'[') if depth == 0 => return Ok(None),
        Some(b'{') => {
            for member in pick(raw, &STANDS_FOR)?.into_iter().flatten() {
                if let Some(text) = text_of(member, 0)? {
                    return Ok(Some(text));
                }
            }
            return Ok(None);
        }
        Some(b'[') => {
            let items = serde_json::from_str::<Vec<&RawValue>>(raw)?;
            let texts = items.into_iter().filter_map(|item| text_of(item.get(), depth - 1).transpose());
            Cow::Owned(texts.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        Some(b'n') | None => return Ok(None),
        Some(_) => Cow::Borrowed(raw),
    };
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Text, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct JsonText<'t>(#[serde(borrow)] Cow<'t, str>);

/// The members of an object under some keys, as they are written.
///
/// Errors: a value that is not an object, and a requested key that it has twice: it is unknown which of the two is
/// right.
fn pick<'t>(text: &'t str, keys: &[&str]) -> Result<Vec<Option<&'t str>>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let picked = MemberPick(keys).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(picked)
}

/// Picks members under some keys.
struct MemberPick<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for MemberPick<'_> {
    type Value = Vec<Option<&'de str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MemberPick<'_> {
    type Value = Vec<Option<&'de str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut picked = vec![None; self.0.len()];
        while let Some(JsonText(key)) = map.next_key()? {
            match self.0.iter().position(|own| *own == key) {
                Some(place) if picked[place].is_some() => {
                    return Err(M::Error::custom(format!("it has the key `{key}` twice")));
                }
                Some(place) => picked[place] = Some(map.next_value::<&'de RawValue>()?.get()),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds one field.
    fn find<'t>(text: &'t str, name: &str) -> Result<Vec<WrittenField<'t>>, serde_json::Error> {
        find_fields(text, &FieldPaths::new(&[WantedField::optional(name)]), &mut [false])
    }

    /// A field of an object as text.
    fn field(text: &str, name: &str) -> Option<String> {
        let found = find(text, name).unwrap();
        found.into_iter().next().flatten().map(|(text, _)| text.into_owned())
    }

    #[test]
    fn fields_are_found_wherever_the_api_puts_them() {
        let device = r#"{"id":7,"name":" a\u002db ","site":{"id":1,"name":"SAS 1","slug":"sas-1"},"tenant":null,
            "status":{"value":"active","label":"Active"},"tags":[{"name":"x"},{"name":"y"}],"local":{"a":{"b":1}},
            "custom_fields":{"inv":101},"ends":[{"name":"p1","device":{"name":"s1"}}],"empty":""}"#;
        for (name, expected) in [
            ("id", Some("7")),
            ("name", Some("a-b")),
            ("site", Some("SAS 1")),
            ("site.slug", Some("sas-1")),
            ("tenant", None),
            ("tenant.slug", None),
            ("status", Some("active")),
            ("tags", Some("x,y")),
            ("cf_inv", Some("101")),
            ("ends.device.name", Some("s1")),
            ("ends.device", Some("s1")),
            ("tags.name", Some("x,y")),
            ("empty", None),
            ("local", None),
            ("nothing", None),
        ] {
            assert_eq!(field(device, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn no_depth_is_too_deep() {
        let deep = |open: &str, close: &str| format!("{{\"a\":{}1{}}}", open.repeat(200_000), close.repeat(200_000));
        assert_eq!(field(&deep("[", "]"), "a"), None);
        assert_eq!(field(&deep("[{\"a\":", "}]"), "a.a.a"), None);
        assert_eq!(field(&deep("{\"name\":", "}"), "a"), None);
        assert!(find("{\"a\":1,\"a\":2}", "a").is_err());
        assert!(find("{\"b\":1,\"b\":2}", "a").is_ok(), "`b` is not asked for");
    }

    #[test]
    fn places_count_characters() {
        let file = SourceFile { id: crate::diag::Files::default().add("x"), bytes: "[é{}\n  {}{}".as_bytes() };
        let mut places = OctetPlaces::new(file);
        let found = [3, 8, 10].map(|at| places.origin(at)).map(|origin| (origin.line, origin.col));
        assert_eq!(found, [(1, 3), (2, 3), (2, 5)]);
    }
}
