//! What the formats of documents share: the text of a file to trees, how much of it is wrong, and words in them.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::stated::{NodeFault, StatedText};
use super::{SourceFile, SourceInput, SourceTally};
use crate::diag::{Code, Diagnostic, Diagnostics, FileId};
use crate::inventory::apps::AppFileFault;
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::inventory::yaml::{self, YamlDocument, YamlDocuments};

/// The documents of a file, as far as it could be read.
pub struct DocumentFile {
    /// The text; none where it is not UTF-8.
    source: Option<SourceText>,
    /// Those that can be relied on.
    pub roots: Vec<SettingsNode>,
    /// What is wrong with the others.
    pub faults: Vec<Diagnostic>,
}

impl DocumentFile {
    /// Reads a file: YAML or JSON, one document or several. Every fault is a document that could not be read.
    pub fn read(file: &SourceFile<'_>) -> DocumentFile {
        let source = match StatedText::read(file) {
            Ok(text) => text.source,
            Err(fault) => return DocumentFile { source: None, roots: Vec::new(), faults: vec![*fault] },
        };
        let YamlDocuments { documents, broken } = yaml::parse_documents(&source);
        let (mut roots, mut faults) = (Vec::new(), Vec::new());
        for YamlDocument { root, faults: found } in documents {
            match found.iter().next() {
                Some(first) => faults.push(first.clone()),
                None if root.is_null() => {}
                None => roots.push(root),
            }
        }
        faults.extend(broken);
        if roots.is_empty() && faults.is_empty() {
            let diagnostic = Diagnostic::file_error("empty-file", file.id, "the file has no document");
            faults.push(diagnostic.hint("restore it, or let the path leave it out"));
        }
        DocumentFile { source: Some(source), roots, faults }
    }

    /// Each document that can be relied on, as a table.
    pub fn tables(&self) -> impl Iterator<Item = TableReader<'_>> {
        let source = self.source.as_ref();
        self.roots.iter().filter_map(move |root| Some(document_table(root, source?)))
    }
}

/// What is read of one file.
pub struct DocumentPiece<T> {
    /// What its documents say.
    pub items: Vec<T>,
    /// How many parts could not be read, so that it is not known what follows from them.
    pub hidden: usize,
    /// How much of it is wrong.
    tally: SourceTally,
    /// The rule that a fault breaks.
    rule: &'static str,
}

impl<T> DocumentPiece<T> {
    /// Nothing of a file was read yet but the documents that cannot be: each is a row, and it is not known what is in it.
    pub fn begin(documents: &mut DocumentFile, rule: &'static str) -> DocumentPiece<T> {
        let mut piece = DocumentPiece { items: Vec::new(), hidden: 0, tally: SourceTally::default(), rule };
        for fault in std::mem::take(&mut documents.faults) {
            piece.tally.rows += 1;
            piece.tally.bad += 1;
            piece.hidden += 1;
            piece.tally.diagnostics.push(fault);
        }
        piece
    }

    /// Counts a row with what is wrong with it; gives the first fault.
    pub fn count(&mut self, found: &Diagnostics) -> Option<AppFileFault> {
        let fault = first_fault(found);
        self.tally.rows += 1;
        self.tally.bad += usize::from(fault.is_some());
        found.iter().for_each(|found| self.tally.diagnostics.push(found.clone().rule(self.rule)));
        fault
    }

    /// Counts a row as bad that was counted as a good one.
    pub fn count_bad(&mut self) {
        self.tally.bad += 1;
    }
}

/// What all files of a source say.
pub struct DocumentSource<T> {
    /// What their documents say, in the order of the files.
    pub items: Vec<T>,
    /// How many parts of each file could not be read, where there are any.
    pub unread: BTreeMap<FileId, usize>,
    /// How much of them is wrong.
    pub tally: SourceTally,
}

/// Reads the files of a source in parallel.
pub fn read_all<T: Send>(
    input: &SourceInput<'_>,
    read: impl Fn(&SourceFile<'_>) -> DocumentPiece<T> + Sync,
) -> DocumentSource<T> {
    let pieces: Vec<(FileId, DocumentPiece<T>)> = input.files.par_iter().map(|file| (file.id, read(file))).collect();
    let mut all = DocumentSource { items: Vec::new(), unread: BTreeMap::new(), tally: SourceTally::default() };
    for (file, piece) in pieces {
        all.items.extend(piece.items);
        all.tally.append(piece.tally);
        if piece.hidden > 0 {
            *all.unread.entry(file).or_insert(0) += piece.hidden;
        }
    }
    all
}

/// Begins to read a document; a key that it has twice, anywhere, is reported.
fn document_table<'a>(root: &'a SettingsNode, source: &'a SourceText) -> TableReader<'a> {
    let mut table = TableReader::new(root, source);
    if let Some(key) = root.key_twice() {
        let diagnostic = source.error("duplicate-key", key.origin, key.width, "the key is in this mapping twice");
        table.push(diagnostic.hint("keep one of them"));
    }
    table
}

/// The first of some faults.
fn first_fault(found: &Diagnostics) -> Option<AppFileFault> {
    let first = found.iter().next()?;
    Some(AppFileFault { origin: first.origin, message: first.message.clone() })
}

/// Reports a fault of a node under a code.
pub fn push_fault(table: &mut TableReader<'_>, code: impl Into<Code>, fault: NodeFault) {
    let NodeFault { origin, width, message, hint } = fault;
    table.push(table.source().error(code, origin, width, message).hint(hint));
}

/// Reads text that is one word: it is a part of other texts, which blanks, commas and slashes divide.
pub fn word_of<'a>(table: &mut TableReader<'a>, node: &'a SettingsNode) -> Option<&'a str> {
    let text = table.text_of(node)?;
    let is_barred = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '/');
    if text.is_empty() || text.contains(is_barred) {
        let hint = "use one word without blanks, commas, slashes and control characters";
        push_fault(table, "bad-value", NodeFault::of(node, format!("`{text}` is not one word"), hint));
        return None;
    }
    Some(text)
}

/// Reads a word under a key that must be there.
pub fn word<'a>(table: &mut TableReader<'a>, key: &'static str) -> Option<&'a str> {
    let node = table.require(key)?;
    word_of(table, node)
}
