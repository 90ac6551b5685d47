//! What files of records claim: each manifest and each zone file for one name, its RRsets and nothing else.
//!
//! Comes in: the entries of files. Goes out: subjects, each with its claims and with what is wrong with its entries.

use std::sync::Arc;

use rayon::prelude::*;

use crate::change::BlockCode;
use crate::claim::{
    EndpointName, IfForeign, RecordName, RrsetClaim, Rule, Subject, TtlHold, Want, WantedTtl, WantedValue,
};
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rtype};
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::pods::PodSetIndex;
use crate::inventory::stated::{
    EntryContent, PublishFault, RecordSource, StatedBy, StatedEntry, StatedRecords, StatedRrset,
};
use crate::live::Live;

/// What files state for one name, or rows and files for a pod or an endpoint.
#[derive(Debug)]
pub struct StatedSubject {
    /// The subject.
    pub subject: Subject,
    /// What states it.
    pub source: ClaimSource,
    /// Its project.
    pub project: ProjectIndex,
    /// Its first entry.
    pub origin: Origin,
    /// What is wrong with entries, or cannot be had, in their order.
    pub faults: Vec<StatedFault>,
    /// What of its entries has no effect, in their order.
    pub unused: Vec<StatedFault>,
    /// Its claims, each with its place, in the order of the entries.
    pub claims: Vec<StatedClaim>,
    /// What of its entries counts for nothing, because another entry of its source is preferred.
    pub lost: Vec<LostClaim>,
    /// The names at which it keeps the addresses that are live, without a claim.
    pub kept: Vec<Name>,
}

/// What states a subject.
#[derive(Debug, Clone)]
pub enum ClaimSource {
    /// A source of records.
    Records {
        /// Its place among those of records.
        source: u16,
        /// The manifest or zone file of the first entry.
        by: Arc<StatedBy>,
    },
    /// The rows and the file of a set of pods.
    Pods(PodSetIndex),
}

impl StatedSubject {
    /// The source of records that states it, and the manifest or zone file; none for pods.
    pub fn stated_in<'i>(&'i self, inventory: &'i Inventory) -> Option<(&'i RecordSource, &'i StatedBy)> {
        match &self.source {
            ClaimSource::Records { source, by } => Some((&inventory.stated.sources[usize::from(*source)], by)),
            ClaimSource::Pods(_) => None,
        }
    }

    /// The names that it is about, those of its claims in their order; each once.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let own = self.subject.stated_name();
        let owners = self.claims.iter().map(|own| &own.claim.owner);
        let others = owners.enumerate().filter(move |(place, name)| {
            own != Some(name) && self.claims[..*place].iter().all(|earlier| earlier.claim.owner != **name)
        });
        own.into_iter().chain(others.map(|(_, name)| name))
    }

    /// Whether it is about a name.
    pub fn is_about(&self, name: NameRef<'_>) -> bool {
        self.names().chain(&self.kept).any(|own| own.as_name() == name)
    }
}

/// What is to be said of an entry.
#[derive(Debug)]
pub struct StatedFault {
    /// Where the entry is.
    pub origin: Origin,
    /// What it is.
    pub message: String,
    /// As what it blocks its subject: `target-limit` where the entry is right, and no target can do what it demands.
    pub code: BlockCode,
}

/// A claim that counts for nothing.
#[derive(Debug)]
pub struct LostClaim {
    /// Where the entry is.
    pub origin: Origin,
    /// The type of what it states.
    pub rtype: Rtype,
    /// The type of what is preferred, and where that entry is.
    pub winner: (Rtype, Origin),
}

/// A claim of an entry.
#[derive(Debug)]
pub struct StatedClaim {
    /// The claim.
    pub claim: RrsetClaim,
    /// Where the entry is.
    pub origin: Origin,
}

/// The subjects of all sources of records, sorted; `live` says in which zone a name is.
pub fn subjects(inventory: &Inventory, live: &Live) -> Vec<StatedSubject> {
    let entries = inventory.stated.entries.par_iter();
    let entries = entries.filter(|entry| !matches!(entry.content, EntryContent::LeftAlone(_)));
    let source = |entry: &StatedEntry| &inventory.stated.sources[usize::from(entry.source)];
    let mut found: Vec<StatedSubject> =
        entries.map(|entry| of_entry(inventory, live, (source(entry), entry))).collect();
    // Entries of one subject stay in their order.
    found.par_sort_by(|one, other| one.subject.cmp(&other.subject));
    found.dedup_by(|next, own| {
        let is_same = next.subject == own.subject;
        if is_same {
            own.faults.append(&mut next.faults);
            own.unused.append(&mut next.unused);
            own.claims.append(&mut next.claims);
        }
        is_same
    });
    found
}

/// What DNS update records publish at a name, each entry by itself, in their order.
pub fn published_at(inventory: &Inventory, live: &Live, name: NameRef<'_>) -> Vec<StatedSubject> {
    let StatedRecords { sources, entries, .. } = &inventory.published;
    let own = entries.iter().filter(|entry| entry.owner.as_name() == name);
    own.map(|entry| of_entry(inventory, live, (&sources[usize::from(entry.source)], entry))).collect()
}

/// What one entry of a source states.
fn of_entry(inventory: &Inventory, live: &Live, (source, entry): (&RecordSource, &StatedEntry)) -> StatedSubject {
    let said = |message: &String, origin, code| StatedFault { origin, message: message.clone(), code };
    let (mut faults, mut claims) = (Vec::new(), Vec::new());
    match &entry.content {
        EntryContent::Bad(origin, message) => faults.push(said(message, *origin, BlockCode::BadInput)),
        EntryContent::Barred(kind, origin, message) => faults.push(said(message, *origin, code_of(*kind))),
        EntryContent::Unsupported(message) => faults.push(said(message, entry.origin, BlockCode::TargetLimit)),
        EntryContent::LeftAlone(_) => {}
        EntryContent::Rrset(rrset) => {
            let claim = claim(inventory, live, source, entry, rrset);
            claims.push(StatedClaim { claim, origin: entry.origin });
        }
    }
    StatedSubject {
        subject: subject_of(source, &entry.by, &entry.owner),
        source: ClaimSource::Records { source: entry.source, by: Arc::clone(&entry.by) },
        project: source.project,
        origin: entry.origin,
        faults,
        unused: entry.unused.iter().map(|unused| said(unused, entry.origin, BlockCode::BadInput)).collect(),
        claims,
        lost: Vec::new(),
        kept: Vec::new(),
    }
}

/// As what a fault of what is to be published blocks its subject.
fn code_of(fault: PublishFault) -> BlockCode {
    match fault {
        PublishFault::UnknownRecord => BlockCode::UnknownRecord,
        PublishFault::ScopeConflict => BlockCode::ScopeConflict,
        PublishFault::NoAddress => BlockCode::NoAddress,
        PublishFault::SameName => BlockCode::ClaimConflict,
    }
}

/// The subject that a manifest or zone file has at a name.
pub fn subject_of(source: &RecordSource, by: &StatedBy, name: &Name) -> Subject {
    let (source, owner) = (Arc::clone(&source.name), name.clone());
    match by {
        StatedBy::Manifest { namespace, name } => Subject::Endpoint(Box::new(EndpointName {
            source,
            namespace: Arc::clone(namespace),
            manifest: Arc::clone(name),
            name: owner,
        })),
        StatedBy::Zone(_) => Subject::Record(Box::new(RecordName { source, name: owner })),
    }
}

/// The lines behind a value of an entry, by its place.
fn evidence(entry: &StatedEntry, place: usize) -> Vec<Origin> {
    let Some(derived) = &entry.evidence else { return vec![entry.origin] };
    let own = derived.values.get(place).map_or(std::slice::from_ref(&entry.origin), Vec::as_slice);
    own.iter().chain(&derived.because).copied().collect()
}

/// The claim of an entry: exactly its values. Without a TTL a new RRset gets that of the project, else of the zone.
fn claim(
    inventory: &Inventory,
    live: &Live,
    source: &RecordSource,
    entry: &StatedEntry,
    rrset: &StatedRrset,
) -> RrsetClaim {
    let values = rrset.values.iter().enumerate();
    let values = values.map(|(place, rdata)| WantedValue { rdata: rdata.clone(), evidence: evidence(entry, place) });
    let values = values.collect();
    let stated = rrset.ttl.map(|(ttl, origin)| WantedTtl { ttl, origin, hold: TtlHold::Always });
    let of_zone = || {
        let zone = live.zone_of(entry.owner.as_name())?;
        let spec = &inventory.config.zones[zone.0 as usize];
        let ttl = inventory.wanted_ttl(source.project, spec);
        Some(WantedTtl { ttl, origin: entry.origin, hold: TtlHold::WhenCreated })
    };
    RrsetClaim {
        owner: entry.owner.clone(),
        rtype: rrset.rtype,
        want: Want::Exactly { values, adds: Rule::Stated },
        ttl: stated.or_else(of_zone),
        removes: Rule::NotStated,
        if_foreign: IfForeign::Block,
    }
}
