//! What files of records claim: each manifest and each zone file for one name, its RRsets and nothing else.
//!
//! Comes in: the entries of files. Goes out: subjects, sorted, each with its claims and with what is wrong with its
//! entries.

use std::sync::Arc;

use rayon::prelude::*;

use crate::claim::{
    EndpointName, IfForeign, RecordName, RrsetClaim, Rule, Subject, TtlHold, Want, WantedTtl, WantedValue,
};
use crate::diag::Origin;
use crate::dns::{Name, Rtype};
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::stated::{EntryContent, RecordSource, StatedBy, StatedEntry, StatedRrset};
use crate::live::Live;

/// What files state for one name.
#[derive(Debug)]
pub struct StatedSubject {
    /// The subject.
    pub subject: Subject,
    /// The place of its source among those of records.
    pub source: u16,
    /// Its project.
    pub project: ProjectIndex,
    /// What states it: the manifest or zone file of its first entry.
    pub by: Arc<StatedBy>,
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
}

impl StatedSubject {
    /// The owner name of all its claims.
    pub fn name(&self) -> &Name {
        self.subject.stated_name().expect("these subjects have names")
    }
}

/// What is to be said of an entry.
#[derive(Debug)]
pub struct StatedFault {
    /// Where the entry is.
    pub origin: Origin,
    /// What it is.
    pub message: String,
    /// Whether the entry is right, and no target can do what it demands.
    pub is_unsupported: bool,
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
    let mut found: Vec<StatedSubject> = entries.map(|entry| of_entry(inventory, live, entry)).collect();
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

/// What one entry states.
fn of_entry(inventory: &Inventory, live: &Live, entry: &StatedEntry) -> StatedSubject {
    let source = &inventory.stated.sources[usize::from(entry.source)];
    let said = |message: &String, is_unsupported| {
        let message = message.clone();
        StatedFault { origin: entry.origin, message, is_unsupported }
    };
    let (mut faults, mut claims) = (Vec::new(), Vec::new());
    match &entry.content {
        EntryContent::Bad(origin, message) => faults.push(StatedFault { origin: *origin, ..said(message, false) }),
        EntryContent::Unsupported(message) => faults.push(said(message, true)),
        EntryContent::LeftAlone(_) => {}
        EntryContent::Rrset(rrset) => {
            let claim = claim(inventory, live, source, entry, rrset);
            claims.push(StatedClaim { claim, origin: entry.origin });
        }
    }
    StatedSubject {
        subject: subject_of(source, &entry.by, &entry.owner),
        source: entry.source,
        project: source.project,
        by: Arc::clone(&entry.by),
        origin: entry.origin,
        faults,
        unused: entry.unused.iter().map(|unused| said(unused, false)).collect(),
        claims,
        lost: Vec::new(),
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

/// The claim of an entry: exactly its values. Without a TTL a new RRset gets that of the project, else of the zone.
fn claim(
    inventory: &Inventory,
    live: &Live,
    source: &RecordSource,
    entry: &StatedEntry,
    rrset: &StatedRrset,
) -> RrsetClaim {
    let values = rrset.values.iter();
    let values = values.map(|rdata| WantedValue { rdata: rdata.clone(), evidence: vec![entry.origin] }).collect();
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
