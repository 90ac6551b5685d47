//! What the formats of records share: places in their files, faults, and what is read of one file and one source.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::meaning::{ExportRows, RowMeaning};
use super::{Draft, LabelledManifests, RowContext, SourceFile, SourceInput, SourcePart, SourceTally, project_index};
use crate::diag::{Code, Diagnostic, FileId, Files, Origin, did_you_mean};
use crate::dns::presentation::parse_rtype;
use crate::dns::{Name, Rtype, Ttl, is_of_signer, is_zone_data};
use crate::inventory::model::Trust;
use crate::inventory::near_type;
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, SourceText};
use crate::inventory::source::RecordsSpec;
use crate::inventory::stated::{EntryContent, RecordSource, StatedBy, StatedDocument, StatedEntry};

pub mod names;

pub mod rdata;

/// The code of a manifest or file that is not one.
pub const BAD_MANIFEST: Code = Code::new("bad-manifest");

/// The code of an entry that cannot be used.
pub const BAD_RECORD: Code = Code::new("bad-record");

/// The keys that select manifests.
const SELECTORS: &str = "`namespace`, `label_filter` and `annotation_filter`";

/// The code of a manifest or zone that a source has twice.
const DUPLICATE: Code = Code::new("duplicate-manifest");

/// The rule of all entries.
const RULE: &str = "a record that cannot be used blocks its name, and no other";

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeFault {
    /// Where it begins.
    pub origin: Origin,
    /// How many characters are meant.
    pub width: usize,
    /// What it is.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl NodeFault {
    /// A fault of a node.
    pub fn of(node: &SettingsNode, message: impl Into<String>, hint: impl Into<String>) -> NodeFault {
        NodeFault { origin: node.origin, width: node.width, message: message.into(), hint: hint.into() }
    }

    /// A fault of a key.
    pub fn of_key(key: &SettingsKey, message: impl Into<String>, hint: impl Into<String>) -> NodeFault {
        NodeFault { origin: key.origin, width: key.width, message: message.into(), hint: hint.into() }
    }
}

/// The text of a file, with its lines.
pub struct StatedText {
    /// The text.
    pub source: SourceText,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl StatedText {
    /// Takes the text of a file.
    ///
    /// Errors: it is not UTF-8.
    pub fn read(file: &SourceFile<'_>) -> Result<StatedText, Box<Diagnostic>> {
        let text = str::from_utf8(file.bytes).map_err(|error| {
            let line = 1 + memchr::memchr_iter(b'\n', &file.bytes[..error.valid_up_to()]).count() as u32;
            let diagnostic = Diagnostic::error("not-utf-8", Origin::line(file.id, line), "the line is not UTF-8");
            Box::new(diagnostic.hint("save the file as UTF-8"))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Ok(StatedText { source: SourceText { file: file.id, text }, starts })
    }

    /// A finding at a place, with its line.
    pub fn error(&self, code: Code, fault: &NodeFault) -> Diagnostic {
        let line = fault.origin.line as usize;
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let line = self.source.text[start..].lines().next().unwrap_or_default();
        let diagnostic = Diagnostic::error(code, fault.origin, fault.message.as_str()).excerpt(line, fault.width);
        diagnostic.hint(fault.hint.as_str())
    }
}

/// What is read of one file.
#[derive(Default)]
pub struct StatedPiece {
    /// The manifests or the zone.
    documents: Vec<StatedDocument>,
    /// The entries.
    entries: Vec<StatedEntry>,
    /// The manifests that the source's selection leaves out.
    left_out: Vec<(Arc<StatedBy>, Origin)>,
    /// The types that are left out although zonewright.toml does not say so: how many entries, and where the first is.
    untaken: BTreeMap<String, (usize, Origin)>,
    /// The files of the parts that could not be read.
    refused: Vec<FileId>,
    /// The DNS update record of each manifest that belongs to one, with the place of the label.
    labels: HashMap<Arc<StatedBy>, (Arc<str>, Origin)>,
    /// How much of it is wrong.
    tally: SourceTally,
}

impl StatedPiece {
    /// The text of the file; none where it cannot be read, which is noted.
    pub fn text_of(&mut self, file: &SourceFile<'_>) -> Option<StatedText> {
        StatedText::read(file).map_err(|diagnostic| self.refuse(*diagnostic)).ok()
    }

    /// Notes that the file, or a part of it, cannot be read.
    pub fn refuse(&mut self, diagnostic: Diagnostic) {
        self.tally.rows += 1;
        self.tally.bad += 1;
        self.refused.push(diagnostic.origin.file);
        self.tally.diagnostics.push(diagnostic);
    }

    /// Notes a manifest or a zone; the entries that follow are its own.
    pub fn begin(&mut self, by: StatedBy, origin: Origin) {
        self.documents.push(StatedDocument { source: 0, by: Arc::new(by), origin, is_whole: true });
    }

    /// Notes that the manifest that it began last belongs to a DNS update record.
    pub fn label(&mut self, record: &str, origin: Origin) {
        if let Some(document) = self.documents.last() {
            self.labels.insert(Arc::clone(&document.by), (record.into(), origin));
        }
    }

    /// Notes that not all of what it began last can be read.
    pub fn cut_short(&mut self) {
        if let Some(document) = self.documents.last_mut() {
            document.is_whole = false;
        }
    }

    /// Notes a manifest that the selection leaves out.
    pub fn leave_out(&mut self, by: StatedBy, origin: Origin) {
        self.left_out.push((Arc::new(by), origin));
    }

    /// Notes an entry of a type that does not count, because zonewright.toml says nothing of types.
    pub fn leave_out_type(&mut self, rtype: &str, origin: Origin) {
        let (count, _) = self.untaken.entry(rtype.to_owned()).or_insert((0, origin));
        *count += 1;
    }

    /// Notes something that is of no kind that is looked for.
    pub fn pass_over(&mut self) {
        self.tally.passed_over += 1;
    }

    /// Adds what was read of another file.
    fn append(&mut self, other: StatedPiece) {
        self.documents.extend(other.documents);
        self.entries.extend(other.entries);
        self.left_out.extend(other.left_out);
        self.labels.extend(other.labels);
        self.refused.extend(other.refused);
        for (rtype, (count, origin)) in other.untaken {
            self.untaken.entry(rtype).or_insert((0, origin)).0 += count;
        }
        self.tally.append(other.tally);
    }

    /// Adds an entry of what it began last: what it states, and what is wrong with it.
    pub fn add(&mut self, text: &StatedText, owner: Option<Name>, origin: Origin, read: ReadEntry) {
        self.tally.rows += 1;
        let (content, unused) = match read {
            ReadEntry::Good { content, unused } => (content, unused),
            ReadEntry::Bad(faults) => {
                self.tally.bad += 1;
                self.cut_short();
                for fault in &faults {
                    self.tally.diagnostics.push(text.error(BAD_RECORD, fault).rule(RULE));
                }
                let first = faults.into_iter().next().expect("a bad entry has a fault");
                if owner.is_none() {
                    // No subject can be blocked for it.
                    self.refused.push(first.origin.file);
                }
                (EntryContent::Bad(first.origin, first.message), Vec::new())
            }
        };
        let document = self.documents.last().expect("entries are in a manifest or a zone");
        let by = Arc::clone(&document.by);
        let evidence = None;
        self.entries.extend(owner.map(|owner| StatedEntry { source: 0, by, owner, origin, content, unused, evidence }));
    }
}

/// An entry as it was read.
pub enum ReadEntry {
    /// It can be used, or it demands what no target can do.
    Good {
        /// What it states.
        content: EntryContent,
        /// What of it has no effect.
        unused: Vec<String>,
    },
    /// It is wrong; never empty.
    Bad(Vec<NodeFault>),
}

/// Joins what was read of the files of a source.
///
/// `types` are those that count where zonewright.toml says nothing; all where it is empty.
pub fn join(
    input: &SourceInput<'_>,
    context: &RowContext<'_>,
    pieces: Vec<StatedPiece>,
    types: &[Rtype],
) -> SourcePart {
    let records = records_of(input).clone();
    let types = records.record_types.clone().or_else(|| (!types.is_empty()).then(|| types.to_vec()));
    let mut all = StatedPiece::default();
    pieces.into_iter().for_each(|piece| all.append(piece));
    refuse_twins(&mut all, context);
    let StatedPiece { mut documents, mut entries, left_out, untaken, labels, refused, mut tally } = all;
    if let Some(warning) = types_left_out(&input.spec.name, &untaken) {
        tally.diagnostics.push(warning);
    }
    if let (Some((by, origin)), true, true) = (left_out.first(), documents.is_empty(), refused.is_empty()) {
        let diagnostic = takes_none(&input.spec.name, by, *origin);
        tally.distrust(origin.file, context.files, "is left out, as all manifests are", diagnostic);
    }
    let name = input.spec.name.as_str().into();
    let has_bad = tally.bad > 0;
    let mut unread = BTreeMap::new();
    for file in refused {
        *unread.entry(file).or_insert(0) += 1;
    }
    let fold = move |draft: &mut Draft, trust: Trust| {
        let source = draft.stated.sources.len() as u16;
        let project = project_index(&mut draft.projects, &records.project);
        let (pool, conflicts) = (records.pool, records.conflicts);
        let record = None;
        draft.stated.sources.push(RecordSource {
            name,
            project,
            pool,
            conflicts,
            types,
            trust,
            has_bad,
            unread,
            record,
        });
        split_off(draft, source, &labels, (&mut documents, &mut entries));
        documents.iter_mut().for_each(|document| document.source = source);
        entries.iter_mut().for_each(|entry| entry.source = source);
        draft.left_out.extend(left_out);
        draft.stated.documents.append(&mut documents);
        draft.stated.entries.append(&mut entries);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// The error about a source whose selection leaves all its manifests out, such as this one.
fn takes_none(source: &str, by: &StatedBy, origin: Origin) -> Diagnostic {
    // A word that is wrong in a selector is no order to delete.
    let message = format!(
        "source `{source}` takes none of its manifests, such as {}: {SELECTORS} leave all of them out",
        shown(by).trim_start_matches("the manifest ")
    );
    let diagnostic = Diagnostic::error("source-empty", origin, message);
    let diagnostic = diagnostic.rule("zonewright treats an empty export as unknown, not as a source without rows");
    diagnostic.hint("correct them")
}

/// Takes out the manifests that belong to DNS update records.
fn split_off(
    draft: &mut Draft,
    source: u16,
    labels: &HashMap<Arc<StatedBy>, (Arc<str>, Origin)>,
    (documents, entries): (&mut Vec<StatedDocument>, &mut Vec<StatedEntry>),
) {
    let mut found: BTreeMap<Arc<str>, LabelledManifests> = BTreeMap::new();
    for document in documents.extract_if(.., |document| labels.contains_key(&document.by)) {
        let (record, label) = &labels[&document.by];
        let (record, label) = (Arc::clone(record), *label);
        let new = || LabelledManifests {
            record: Arc::clone(&record),
            label,
            source,
            documents: Vec::new(),
            entries: Vec::new(),
        };
        found.entry(Arc::clone(&record)).or_insert_with(new).documents.push(document);
    }
    for entry in entries.extract_if(.., |entry| labels.contains_key(&entry.by)) {
        let (record, _) = &labels[&entry.by];
        found.get_mut(record).expect("its manifest is there").entries.push(entry);
    }
    draft.labelled.extend(found.into_values());
}

/// The warning of entries whose types do not count, though zonewright.toml does not say so.
fn types_left_out(source: &str, untaken: &BTreeMap<String, (usize, Origin)>) -> Option<Diagnostic> {
    let first = untaken.values().map(|(_, origin)| *origin).min()?;
    let counts: Vec<String> = untaken.iter().map(|(rtype, (count, _))| format!("{count} of type {rtype}")).collect();
    let message = format!("source `{source}` leaves entries out: {}", counts.join(", "));
    let hint = "add their types to `record_types` of the source, which has A, AAAA and CNAME where nothing is said";
    Some(Diagnostic::warning("type-left-out", first, message).hint(hint))
}

/// What zonewright.toml says of a source of records.
pub fn records_of<'a>(input: &SourceInput<'a>) -> &'a RecordsSpec {
    input.spec.records.as_ref().expect("sources of records say what they are for")
}

/// Makes all entries bad of manifests and zones that the source has twice: it is not known which of them counts.
fn refuse_twins(all: &mut StatedPiece, context: &RowContext<'_>) {
    let mut first: HashMap<Arc<StatedBy>, usize> = HashMap::new();
    let mut twins: Vec<(usize, usize)> = Vec::new();
    for (place, document) in all.documents.iter().enumerate() {
        match first.get(&document.by) {
            Some(first) => twins.push((*first, place)),
            None => {
                first.insert(Arc::clone(&document.by), place);
            }
        }
    }
    for (first, second) in &twins {
        let (one, other) = (all.documents[*first].origin, all.documents[*second].origin);
        let said = shown(&all.documents[*first].by);
        for (at, other) in [(one, other), (other, one)] {
            let message = format!("{said} is in this source twice");
            all.tally.diagnostics.push(
                Diagnostic::error(DUPLICATE, at, message)
                    .also(format!("the other is {}", context.files.place(other)))
                    .rule("it is not known which of two is right, so that the names of both are blocked")
                    .hint(match *all.documents[*first].by {
                        StatedBy::Manifest { .. } => {
                            "remove one of them, or select one with `namespace`, `label_filter` or `path`"
                        }
                        StatedBy::Zone(_) => "remove one of them, or let `path` leave one out",
                    }),
            );
        }
    }
    let twice: HashSet<Arc<StatedBy>> = twins.iter().map(|(first, _)| Arc::clone(&all.documents[*first].by)).collect();
    for entry in all.entries.iter_mut().filter(|entry| twice.contains(&entry.by)) {
        if !matches!(entry.content, EntryContent::Bad(..)) {
            all.tally.bad += 1;
            entry.content = EntryContent::Bad(entry.origin, format!("{} is in its source twice", shown(&entry.by)));
        }
    }
    for document in all.documents.iter_mut().filter(|document| twice.contains(&document.by)) {
        document.is_whole = false;
    }
}

/// A manifest or zone in words.
pub fn shown(by: &StatedBy) -> String {
    match by {
        StatedBy::Manifest { namespace, name } => format!("the manifest `{namespace}/{name}`"),
        StatedBy::Zone(zone) => format!("the zone `{zone}`"),
    }
}

/// What the entries of a source say, each under what states it and its name.
pub fn meanings(rows: &ExportRows<'_>) -> Vec<RowMeaning> {
    let read_from = |entry: &StatedEntry| entry.evidence.as_ref().and_then(|evidence| evidence.read_from);
    let own = rows.stated.entries.iter().filter(|entry| entry.source == rows.source);
    let own = own.chain(rows.published.entries.iter().filter(|entry| read_from(entry) == Some(rows.source)));
    let own = own.chain(rows.labelled.iter().flat_map(|manifests| &manifests.entries));
    let meaning = |entry: &StatedEntry| {
        let by = match &*entry.by {
            StatedBy::Manifest { namespace, name } => format!("{namespace}/{name} "),
            StatedBy::Zone(_) => String::new(),
        };
        let key = format!("{by}{}", entry.owner);
        let rrset = match &entry.content {
            EntryContent::Rrset(rrset) => rrset,
            // The name is there, whatever can be done with it.
            EntryContent::Unsupported(what) | EntryContent::Barred(_, _, what) => return Some((key, what.clone())),
            EntryContent::LeftAlone(rtype) => return Some((key, format!("{rtype}, left alone"))),
            EntryContent::Bad(..) => return None,
        };
        let values: Vec<String> = rrset.values.iter().map(|value| value.as_rdata(rrset.rtype).to_string()).collect();
        let ttl = rrset.ttl.map(|(ttl, _)| format!(", TTL {ttl}")).unwrap_or_default();
        // A type that changes is another meaning of the name, and not one that is gone.
        Some((key, format!("{} {}{ttl}", rrset.rtype, values.join(", "))))
    };
    own.filter_map(meaning).collect()
}

/// Warns of manifests that sources left out and none took.
pub fn warn_of_left_out(draft: &mut Draft, files: &Files) {
    let taken: HashSet<(&str, &StatedBy)> =
        draft.stated.documents.iter().map(|document| (files.name(document.origin.file), &*document.by)).collect();
    let mut left: Vec<(&str, &StatedBy, Origin)> = Vec::new();
    for (by, origin) in &draft.left_out {
        let key = (files.name(origin.file), &**by);
        if !taken.contains(&key) && !left.iter().rev().take(8).any(|(file, other, _)| (*file, *other) == key) {
            left.push((key.0, key.1, *origin));
        }
    }
    left.sort_by_key(|(file, by, origin)| (*file, *by, *origin));
    left.dedup_by_key(|(file, by, _)| (*file, *by));
    let Some((_, first, origin)) = left.first() else { return };
    let message = match left.len() {
        1 => format!("{} is taken by no source", shown(first)),
        count => format!("{count} manifests are taken by no source; the first is {}", shown(first)),
    };
    let hint = format!("{SELECTORS} of [[sources.records]] select manifests");
    let origin = *origin;
    draft.found.push(Diagnostic::warning("manifest-left-out", origin, message).hint(hint));
}

/// The text of a scalar.
///
/// Errors: it is a list or a mapping, or there is nothing; `what` says what would be right.
pub fn text_of<'n>(node: &'n SettingsNode, what: &str) -> Result<&'n str, NodeFault> {
    match &node.value {
        SettingsValue::Text(text) => Ok(text),
        SettingsValue::Plain(text) if !node.is_null() => Ok(text),
        _ => Err(NodeFault::of(node, format!("this is not {what}"), format!("write {what}"))),
    }
}

/// The type that a node names.
///
/// Errors: it names none that files can state.
pub fn rtype_of(node: &SettingsNode) -> Result<Rtype, NodeFault> {
    let text = text_of(node, "a type of records")?;
    let found = parse_rtype(text.as_bytes());
    let found = found.filter(|rtype| is_zone_data(*rtype)).ok_or_else(|| {
        NodeFault::of(node, format!("`{text}` is not a type of records of a zone"), near_type::hint(text))
    })?;
    if is_of_signer(found) || found == Rtype::SOA {
        let hint = "remove it: who signs the zone, or its server, makes such records";
        return Err(NodeFault::of(node, format!("`{text}` records are not stated by files"), hint));
    }
    Ok(found)
}

/// The TTL that a node says.
///
/// Errors: it is no number, or larger than a TTL can be.
pub fn ttl_of(node: &SettingsNode) -> Result<Ttl, NodeFault> {
    let ttl = match &node.value {
        SettingsValue::Plain(text) => text.parse::<u64>().ok().and_then(Ttl::from_secs),
        _ => None,
    };
    ttl.ok_or_else(|| NodeFault::of(node, "this is not a TTL", "a TTL is a number of 0 to 2147483647 seconds"))
}

/// The fault of a key that is there twice.
pub fn twice(key: &SettingsKey) -> NodeFault {
    NodeFault::of_key(key, format!("the key `{}` is there twice", key.name), "keep one of them")
}

/// The fault of the first key of a mapping that is none of these; `says` makes the message of its name.
pub fn first_unknown(node: &SettingsNode, known: &[&str], says: impl Fn(&str) -> String) -> Option<NodeFault> {
    let SettingsValue::Table(entries) = &node.value else { return None };
    let (key, _) = entries.iter().find(|(key, _)| !known.contains(&key.name.as_str()))?;
    let near = did_you_mean(&key.name, known.iter().copied());
    let hint = near.unwrap_or_else(|| format!("the keys are {}", known.join(", ")));
    Some(NodeFault::of_key(key, says(&key.name), hint))
}

/// A name with other letters than those of ASCII, as DNS has it (IDNA, UTS 46).
///
/// Errors: it has none.
pub fn to_ascii(text: &str) -> Result<String, String> {
    idna::domain_to_ascii_cow(text.as_bytes(), idna::AsciiDenyList::EMPTY)
        .map(|ascii| ascii.into_owned())
        .map_err(|_| "it has characters that no name in DNS can have".to_owned())
}
