//! Lists of the DNS update records that a logical cloud or a cluster uses: YAML or JSON, one list or several a file.
//!
//! A list says `kind: LogicalCloud` or `Cluster`; without it the folder of its file tells. It is for what `for` names, else
//! for what has the name of the file. A list that is wrong blocks the services that it is for, and no others.

use std::sync::Arc;

use super::documents::{self, DocumentFile, DocumentPiece, DocumentSource, push_fault, word, word_of};
use super::meaning::{ExportRows, RowMeaning};
use super::stated::NodeFault;
use super::{Draft, ExportFormat, RowContext, SourceFile, SourceInput, SourcePart};
use crate::diag::Origin;
use crate::inventory::apps::{ListHolder, RecordList};
use crate::inventory::kubernetes::is_label_value;
use crate::inventory::model::Trust;
use crate::inventory::node::{SettingsNode, SettingsValue, TableReader};
use crate::inventory::source::{OWN, Occurrence, RECORD_LISTS, SourceKeys};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: RECORD_LISTS,
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// The rule that a fault breaks.
const RULE: &str = "a list that is wrong blocks the services that it is for, and no others";

/// What a list may be for: its word under `kind`, the folder of its file, and the holder of a name.
type ListKind = (&'static str, &'static str, fn(Arc<str>) -> ListHolder);

/// What lists may be for.
const KINDS: [ListKind; 2] =
    [("LogicalCloud", "logical-clouds", ListHolder::LogicalCloud), ("Cluster", "clusters", ListHolder::Cluster)];

/// Reads a source of lists.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let read = |file: &SourceFile<'_>| read_file(file, context.files.name(file.id));
    let DocumentSource { items, mut unread, tally } = documents::read_all(input, read);
    let fold = move |draft: &mut Draft, trust: Trust| {
        draft.apps.lists = items;
        draft.apps.lists_trust = trust;
        draft.apps.unread.append(&mut unread);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Reads one file; a list is a row.
fn read_file(file: &SourceFile<'_>, name: &str) -> DocumentPiece<RecordList> {
    let mut documents = DocumentFile::read(file);
    let mut piece = DocumentPiece::begin(&mut documents, RULE);
    for mut table in documents.tables() {
        let origin = table.node().origin;
        let holder = read_holder(&mut table, name);
        read_metadata(&mut table);
        let records = read_records(&mut table);
        let fault = piece.count(&table.finish());
        match holder {
            Some(holder) => piece.items.push(RecordList { holder, origin, records, fault }),
            None => piece.hidden += 1,
        }
    }
    piece
}

/// Reads for what a list is; `file` is the name of its file.
fn read_holder(table: &mut TableReader<'_>, file: &str) -> Option<ListHolder> {
    let mut parts = file.rsplit('/');
    let base = parts.next().unwrap_or_default();
    let folder = parts.next().unwrap_or_default();
    let of_kind = KINDS.map(|(word, _, holder)| (word, holder));
    let holder = match table.take("kind") {
        Some(node) => table.choice_of(node, &of_kind),
        None => {
            let found = KINDS.iter().find(|(_, own, _)| *own == folder).map(|(_, _, holder)| *holder);
            if found.is_none() {
                let node = table.node();
                let message = "neither `kind` nor the folder says whether the list is for a logical cloud or a cluster";
                let hint =
                    "add `kind: LogicalCloud` or `kind: Cluster`, or move it below `logical-clouds` or `clusters`";
                push_fault(table, "missing-key", NodeFault::of(node, message, hint));
            }
            found
        }
    };
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    let name = match table.take("for") {
        Some(node) => word_of(table, node),
        None => Some(stem),
    };
    Some(holder?(name?.into()))
}

/// Reads `metadata`: a name, and texts that are kept for people.
fn read_metadata(table: &mut TableReader<'_>) {
    let Some(node) = table.require("metadata") else { return };
    let mut metadata = TableReader::new(node, table.source());
    word(&mut metadata, "name");
    for key in ["description", "userData1", "userData2", "userdata1", "userdata2"] {
        metadata.text(key);
    }
    table.append(metadata.finish());
}

/// Reads `spec.kv`: pairs of any key and a record; none twice.
fn read_records(table: &mut TableReader<'_>) -> Vec<(Arc<str>, Origin)> {
    let Some(node) = table.require("spec") else { return Vec::new() };
    let mut spec = TableReader::new(node, table.source());
    let pairs = spec.require("kv").and_then(|node| spec.list_of(node)).unwrap_or_default();
    let mut read: Vec<(Arc<str>, Origin)> = Vec::new();
    for pair in pairs {
        let Some(node) = value_of(&mut spec, pair) else { continue };
        let Some(name) = spec.text_of(node) else { continue };
        if !is_label_value(name) {
            let hint = "a record has letters, digits, `-`, `_` and `.`, at most 63 of them";
            let message = format!("`{name}` cannot be the name of a DNS update record");
            push_fault(&mut spec, "bad-value", NodeFault::of(node, message, hint));
        } else if read.iter().any(|(own, _)| **own == *name) {
            spec.error(node, "bad-value", format!("the list has `{name}` twice"));
        } else {
            read.push((name.into(), node.origin));
        }
    }
    table.append(spec.finish());
    read
}

/// The value of a mapping with one key.
fn value_of<'a>(spec: &mut TableReader<'a>, pair: &'a SettingsNode) -> Option<&'a SettingsNode> {
    match &pair.value {
        SettingsValue::Table(entries) => match &entries[..] {
            [(_, node)] => return Some(node),
            [_, (key, _), ..] => {
                let hint = "begin a new item of the list for each record";
                push_fault(spec, "bad-value", NodeFault::of_key(key, "one item of `kv` has one key", hint));
            }
            [] => spec.error(pair, "bad-value", "an item of `kv` has a key and the name of a record"),
        },
        _ => spec.wrong_type(pair, "a key with the name of a record"),
    }
    None
}

/// What the lists say: each record under what uses it.
fn meanings(rows: &ExportRows<'_>) -> Vec<RowMeaning> {
    let of_list = |list: &RecordList| {
        let own = list.records.iter().map(|(record, _)| (format!("{} {record}", list.holder), "used".to_owned()));
        own.collect::<Vec<_>>()
    };
    rows.apps.lists.iter().filter(|list| list.fault.is_none()).flat_map(of_list).collect()
}
