//! Records that files state: manifests, and zones in YAML.
//!
//! Each entry keeps its place, and whether it can be used. What of it is live or wanted elsewhere does not matter here.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::source::RecordConflicts;
use super::trust::{ProjectIndex, Trust};
use crate::diag::{FileId, Origin};
use crate::dns::{Name, Rdata, Rtype, Ttl};

/// What all sources of records state.
#[derive(Debug, Default)]
pub struct StatedRecords {
    /// The sources, in the file's order.
    pub sources: Vec<RecordSource>,
    /// The entries, by source, file and place.
    pub entries: Vec<StatedEntry>,
    /// The manifests and zone files that are there, by source and file.
    pub documents: Vec<StatedDocument>,
}

/// One `[[sources.records]]`.
#[derive(Debug)]
pub struct RecordSource {
    /// Its name.
    pub name: Arc<str>,
    /// Its project.
    pub project: ProjectIndex,
    /// The pool in whose zones its records are; any where none is said.
    pub pool: Option<String>,
    /// What happens where two entries say different things.
    pub conflicts: RecordConflicts,
    /// The types that it has; all that files may state where none are said.
    pub types: Option<Vec<Rtype>>,
    /// Whether it may be believed.
    pub trust: Trust,
    /// Whether any of its entries, manifests or files is bad.
    pub has_bad: bool,
    /// The files of which a whole part could not be read, so that it is not known which names it states; each with how
    /// many such parts there are.
    pub unread: BTreeMap<FileId, usize>,
}

impl RecordSource {
    /// What states records, as applies note it: `SOURCE/NAMESPACE/NAME` of a manifest, `SOURCE/ZONE` of a zone file.
    pub fn noted(&self, by: &StatedBy) -> String {
        match by {
            StatedBy::Manifest { namespace, name } => format!("{}/{namespace}/{name}", self.name),
            StatedBy::Zone(zone) => format!("{}/{zone}", self.name),
        }
    }

    /// Whether a note of an apply is about what states records.
    pub fn is_noted(&self, by: &StatedBy, note: &str) -> bool {
        let of_source = note.strip_prefix(&*self.name).and_then(|rest| rest.strip_prefix('/'));
        of_source.is_some_and(|rest| match by {
            StatedBy::Manifest { namespace, name } => {
                rest.strip_prefix(&**namespace).and_then(|rest| rest.strip_prefix('/')) == Some(&**name)
            }
            StatedBy::Zone(zone) => rest == zone.to_string(),
        })
    }
}

/// A manifest or zone file that an apply noted, as far as it is there now.
#[derive(Debug, Clone, Copy)]
pub struct NotedDocument<'s> {
    /// Its source.
    pub source: &'s RecordSource,
    /// The manifest or file, where it is there.
    pub document: Option<&'s StatedDocument>,
}

/// The manifests and zone files that are there, by what applies note of them.
#[derive(Debug)]
pub struct DocumentIndex<'s> {
    /// The sources.
    sources: &'s [RecordSource],
    /// The documents.
    documents: HashMap<String, &'s StatedDocument>,
}

impl<'s> DocumentIndex<'s> {
    /// Collects them.
    pub fn of(stated: &'s StatedRecords) -> DocumentIndex<'s> {
        let of_document =
            |document: &'s StatedDocument| (stated.sources[usize::from(document.source)].noted(&document.by), document);
        DocumentIndex { sources: &stated.sources, documents: stated.documents.iter().map(of_document).collect() }
    }

    /// Finds what an apply noted; none where its source is no longer configured.
    pub fn find(&self, noted_by: &str) -> Option<NotedDocument<'s>> {
        let (name, _) = noted_by.split_once('/')?;
        let source = self.sources.iter().find(|source| &*source.name == name)?;
        Some(NotedDocument { source, document: self.documents.get(noted_by).copied() })
    }
}

/// What states records: a manifest, or the file of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatedBy {
    /// A manifest.
    Manifest {
        /// Its namespace.
        namespace: Arc<str>,
        /// Its name.
        name: Arc<str>,
    },
    /// The file of a zone.
    Zone(Name),
}

/// A manifest or zone file that is there.
#[derive(Debug, Clone)]
pub struct StatedDocument {
    /// The source's place in [`StatedRecords::sources`].
    pub source: u16,
    /// Which it is.
    pub by: Arc<StatedBy>,
    /// Where it is.
    pub origin: Origin,
    /// Whether all of it could be read.
    pub is_whole: bool,
}

/// What a file states of one RRset.
#[derive(Debug, Clone)]
pub struct StatedEntry {
    /// The source's place in [`StatedRecords::sources`].
    pub source: u16,
    /// What states it.
    pub by: Arc<StatedBy>,
    /// The owner name.
    pub owner: Name,
    /// Where it is.
    pub origin: Origin,
    /// What it states.
    pub content: EntryContent,
    /// What of it has no effect.
    pub unused: Vec<String>,
}

/// What an entry states, or why it cannot be used.
#[derive(Debug, Clone)]
pub enum EntryContent {
    /// An RRset.
    Rrset(StatedRrset),
    /// It is wrong; where, and with what is wrong.
    Bad(Origin, String),
    /// It demands what no target can do; with what that is.
    Unsupported(String),
    /// It says that an RRset of this type is neither created nor deleted.
    LeftAlone(Rtype),
}

/// An RRset as a file states it.
#[derive(Debug, Clone)]
pub struct StatedRrset {
    /// The type.
    pub rtype: Rtype,
    /// The TTL, where one is said, and where.
    pub ttl: Option<(Ttl, Origin)>,
    /// The values, sorted by octets, each once; never empty.
    pub values: Vec<Rdata>,
}
