//! Records that files state: manifests, and zones in YAML.
//!
//! Each entry keeps its place, and whether it can be used. What of it is live or wanted elsewhere does not matter here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::apps::AppFiles;
use super::policy::Policy;
use super::source::RecordConflicts;
use super::trust::{ProjectIndex, Trust};
use crate::diag::{Code, FileId, Origin};
use crate::dns::{Name, Rdata, Rtype, Ttl};

/// What all sources of records state.
#[derive(Debug, Clone, Default)]
pub struct StatedRecords {
    /// The sources, in the file's order.
    pub sources: Vec<RecordSource>,
    /// The entries, by source, file and place.
    pub entries: Vec<StatedEntry>,
    /// The manifests and zone files that are there, by source and file.
    pub documents: Vec<StatedDocument>,
}

impl StatedRecords {
    /// Lets the sources of DNS update records be believed as far as what they follow from is: the records, lists and apps,
    /// and the sources of their manifests, which are among `files`.
    pub fn settle_trust(&mut self, files: &StatedRecords, apps: &AppFiles) {
        for source in &mut self.sources {
            let manifests = source.record.iter().flat_map(|record| &record.manifests);
            let of_manifests = manifests.map(|place| &files.sources[usize::from(*place)].trust);
            let doubted = apps.doubted().into_iter().chain(of_manifests).find(|trust| trust.doubt().is_some());
            source.trust = doubted.cloned().unwrap_or(Trust::Known);
        }
    }

    /// What one of the sources states, by itself.
    pub fn only(&self, place: usize) -> StatedRecords {
        let is_own = |source: u16| usize::from(source) == place;
        let entries = self.entries.iter().filter(|entry| is_own(entry.source));
        let documents = self.documents.iter().filter(|document| is_own(document.source));
        StatedRecords {
            sources: vec![self.sources[place].clone()],
            entries: entries.map(|entry| StatedEntry { source: 0, ..entry.clone() }).collect(),
            documents: documents.map(|document| StatedDocument { source: 0, ..document.clone() }).collect(),
        }
    }
}

/// A source of records: one `[[sources.records]]`, or a DNS update record with what it publishes.
#[derive(Debug, Clone)]
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
    /// Of a DNS update record: how it is carried out. None for one `[[sources.records]]`.
    pub record: Option<RecordTerms>,
}

/// How a DNS update record is carried out.
#[derive(Debug, Clone)]
pub struct RecordTerms {
    /// Whether it is.
    pub state: RecordState,
    /// The sources of the manifests that belong to it, by their places.
    pub manifests: BTreeSet<u16>,
}

/// Whether a DNS update record is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// No file has it, or it cannot be used: what it is to publish is blocked.
    Unknown,
    /// It is not switched on, or another program carries it out: it is skipped.
    Idle,
    /// It is, under this policy.
    Open(Policy),
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
    /// The lines behind it, where it is not the entry of a file alone.
    pub evidence: Option<Box<DerivedEvidence>>,
}

/// The lines behind what follows from several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedEvidence {
    /// Those of each value, in the order of the values; the entry itself where there are none.
    pub values: Vec<Vec<Origin>>,
    /// Those of the whole: lists, labels, and the file of the record.
    pub because: Vec<Origin>,
    /// Of a manifest: the source that has its file, by its place.
    pub read_from: Option<u16>,
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
    /// It is right, but what else is stated keeps it from being published; where, and with what is wrong.
    Barred(PublishFault, Origin, String),
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

/// What keeps an endpoint from being published that is written rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishFault {
    /// No file has its DNS update record.
    UnknownRecord,
    /// Lists of a logical cloud and of a cluster both name the record for its service.
    ScopeConflict,
    /// Its service has no address for the record.
    NoAddress,
    /// Another endpoint has its namespace and name.
    SameName,
}

impl PublishFault {
    /// The code.
    pub fn code(self) -> Code {
        Code::new(match self {
            PublishFault::UnknownRecord => "unknown-record",
            PublishFault::ScopeConflict => "scope-conflict",
            PublishFault::NoAddress => "no-address",
            PublishFault::SameName => "claim-conflict",
        })
    }

    /// What to do.
    pub fn hint(self) -> &'static str {
        match self {
            PublishFault::UnknownRecord => "add the file of the record, or correct its name in the list or the label",
            PublishFault::ScopeConflict => "remove the record from one of the lists",
            PublishFault::NoAddress => "add an address, or remove the record from the list",
            PublishFault::SameName => "rename one of the services, or let them run in different namespaces",
        }
    }
}
