//! Files of DNS update records: YAML or JSON, several documents a file.
//!
//! Comes in: the text of a file. Goes out: the records of it, and all that was found. Touches no disk.

mod document;

mod draft;

mod entries;

mod judge;

pub mod parameters;

mod values;

#[cfg(test)]
mod tests;

pub use document::is_record_name;
pub use draft::FoundAt;

use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::node::SourceText;
use crate::inventory::update_record::UpdateRecord;
use crate::inventory::yaml::{self, YamlDocuments};

/// A file of records, as far as it could be read.
#[derive(Debug)]
pub struct RecordFile {
    /// The records that have a name, in the order of the file.
    pub records: Vec<UpdateRecord>,
    /// Whether each document has a name: otherwise the record of any name may be in it.
    pub is_whole: bool,
    /// All that was found.
    pub diagnostics: Diagnostics,
}

/// Reads a file.
pub fn read(source: &SourceText) -> RecordFile {
    let YamlDocuments { documents, broken } = yaml::parse_documents(source);
    let mut file = RecordFile { records: Vec::new(), is_whole: broken.is_none(), diagnostics: Diagnostics::default() };
    let is_empty = documents.iter().all(|document| document.root.is_null());
    for document in documents.into_iter().filter(|document| !document.root.is_null()) {
        if !document.faults.is_empty() {
            // What is refused may mean anything, so that none of the document is believed.
            file.is_whole = false;
            file.diagnostics.append(document.faults);
            continue;
        }
        let read = document::read(&document.root, source);
        file.is_whole &= read.record.is_some();
        file.records.extend(read.record);
        file.diagnostics.append(read.diagnostics);
    }
    match broken {
        Some(broken) => file.diagnostics.push(broken),
        None if is_empty => {
            let found = Diagnostic::file_error("empty-file", source.file, "the file has no document");
            file.diagnostics.push(found.hint("restore it from version control, or remove it"));
        }
        None => {}
    }
    file
}
