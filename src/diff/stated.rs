//! What files of records and rows of pods claim, by name; and which claims contradict each other.
//!
//! Comes in: the subjects of files with their claims, and which host has which name and address. Goes out: what is claimed
//! at a name, and for each subject and host what contradicts it. Pure.
//!
//! Claims conflict when two subjects do not say the same of one RRset, when one claims a CNAME and another any other type
//! there, and when one is below the DNAME of another, or at or below its NS (glue and DS excepted). All sides are blocked:
//! which of them is right is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use foldhash::HashMap;
use rayon::prelude::*;

use super::SubjectBlock;
use super::pod_claims::PodClaims;
use super::statements::KeptStatements;
use crate::change::BlockCode;
use crate::claim::{RrsetClaim, Subject, TtlHold};
use crate::desired::UsedValues;
use crate::desired::pod_subjects::PodSubjects;
use crate::desired::records::{ClaimSource, StatedClaim, StatedSubject, subjects};
use crate::desired::rivals;
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rdata, Rtype};
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::source::RecordConflicts;
use crate::inventory::stated::{DocumentIndex, EntryContent, NotedDocument};
use crate::live::Live;
use crate::names::NameIndex;
use conflicts::ConflictSearch;
use contested::ContestedPods;

mod conflicts;

mod contested;

/// How many others a message names.
const NAMED: usize = 3;

/// What files of records, and rows of pods, claim. Subjects are counted by their places: pods, endpoints, files, each sorted.
#[derive(Debug)]
pub struct StatedClaims<'i> {
    /// The subjects of pods and endpoints.
    pods: PodClaims<'i>,
    /// The subjects of files, sorted.
    of_files: Vec<StatedSubject>,
    /// The claims at each name that a file is about, or that may be of several subjects.
    at: HashMap<Name, Vec<ClaimPlace>>,
    /// The types that each source has; all where none are said.
    types: Vec<Option<Vec<Rtype>>>,
    /// What applies noted of files that cannot be read now, by name: it may still be stated.
    held: HashMap<Name, Vec<HeldStatement>>,
    /// The RRsets that files leave alone: they are neither created nor deleted.
    left_alone: HashMap<Name, Vec<Rtype>>,
    /// What contradicts a subject, by its place.
    conflicts: BTreeMap<usize, SubjectBlock>,
    /// What contradicts a host, by its place in the inventory.
    of_hosts: BTreeMap<usize, SubjectBlock>,
}

/// An RRset that a manifest or zone file claimed when an apply noted it, and that cannot be read now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct HeldStatement {
    /// The type.
    rtype: Rtype,
    /// What claimed it.
    by: String,
}

/// Where a claim is: its subject, and its place among the subject's claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ClaimPlace {
    /// The place of the subject.
    subject: u32,
    /// The place of the claim.
    claim: u32,
}

/// One side of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConflictSide {
    /// A claim of a file.
    Stated(ClaimPlace),
    /// A host, by its place in the inventory.
    Host(usize),
    /// A subject one of whose entries cannot be used, by its place: what it asks for is not known.
    Bad(u32),
    /// What a file claimed that cannot be read now, by its place in a list.
    Held(usize),
}

/// Whether anything is stated, or may be.
pub fn is_any(inventory: &Inventory, statements: &KeptStatements) -> bool {
    !inventory.stated.entries.is_empty() || !inventory.pods.rows.is_empty() || !held(inventory, statements).is_empty()
}

impl<'i> StatedClaims<'i> {
    /// Collects the claims of all files, and finds what contradicts what; `faulty` are the places of pods with faults.
    pub fn find(
        ground: RivalGround<'_>,
        statements: &KeptStatements,
        (pods, faulty): (PodClaims<'i>, &[usize]),
    ) -> StatedClaims<'i> {
        let RivalGround { inventory, live, .. } = ground;
        let mut of_files = subjects(inventory, live);
        settle_rivals(inventory, live, &mut of_files);
        let mut left_alone: HashMap<Name, Vec<Rtype>> = HashMap::default();
        for entry in &inventory.stated.entries {
            if let EntryContent::LeftAlone(rtype) = entry.content {
                left_alone.entry(entry.owner.clone()).or_default().push(rtype);
            }
        }
        let mut stated = StatedClaims {
            pods,
            of_files,
            at: HashMap::default(),
            types: inventory.stated.sources.iter().map(|source| source.types.clone()).collect(),
            held: held(inventory, statements),
            left_alone,
            conflicts: BTreeMap::new(),
            of_hosts: BTreeMap::new(),
        };
        stated.add_claims(stated.pods.subjects().count()..stated.count());
        let mut contested = ContestedPods { ground, stated: &stated, places: faulty.iter().copied().collect() }.find();
        contested.sort_unstable();
        stated.add_claims(contested.iter().copied());
        let found = ConflictSearch { ground, stated: &stated, contested: &contested, found: BTreeMap::new() }.search();
        let (mut conflicts, mut of_hosts) = (BTreeMap::new(), BTreeMap::new());
        for (side, others) in &found {
            let block = stated.block(inventory, *side, others);
            match side {
                ConflictSide::Stated(place) => drop(conflicts.entry(place.subject as usize).or_insert(block)),
                ConflictSide::Host(place) => drop(of_hosts.insert(*place, block)),
                // Both are blocked, or claim nothing, anyway.
                ConflictSide::Bad(_) | ConflictSide::Held(_) => {}
            }
        }
        StatedClaims { conflicts, of_hosts, ..stated }
    }

    /// Lets the claims of some subjects be found by their names.
    fn add_claims(&mut self, places: impl Iterator<Item = usize>) {
        for place in places {
            let owners: Vec<Name> = self.subject(place).claims.iter().map(|own| own.claim.owner.clone()).collect();
            for (claim, owner) in owners.into_iter().enumerate() {
                let claim = ClaimPlace { subject: place as u32, claim: claim as u32 };
                let places = self.at.entry(owner).or_default();
                // Pods come after files here, and before them by their places.
                let at = places.partition_point(|other| *other < claim);
                places.insert(at, claim);
            }
        }
    }

    /// How many subjects there are.
    pub fn count(&self) -> usize {
        self.pods.subjects().count() + self.of_files.len()
    }

    /// The subjects of pods and endpoints.
    pub fn pods(&self) -> &PodSubjects<'i> {
        self.pods.subjects()
    }

    /// The subjects that files state, each with its place.
    pub fn of_files(&self) -> impl Iterator<Item = (usize, &StatedSubject)> {
        (self.pods().count()..).zip(&self.of_files)
    }

    /// The subject at a place. One of a pod is kept from then on.
    pub fn subject(&self, place: usize) -> &StatedSubject {
        match place.checked_sub(self.pods().count()) {
            Some(file) => &self.of_files[file],
            None => self.pods().read(place),
        }
    }

    /// The subject at a place, without its claims.
    pub fn name_of(&self, place: usize) -> Subject {
        match place.checked_sub(self.pods().count()) {
            Some(file) => self.of_files[file].subject.clone(),
            None => self.pods().name_of(place),
        }
    }

    /// The project of the subject at a place.
    pub fn project_of(&self, place: usize) -> ProjectIndex {
        match place.checked_sub(self.pods().count()) {
            Some(file) => self.of_files[file].project,
            None => self.pods().project_of(place),
        }
    }

    /// The place of a subject.
    pub fn place_of(&self, subject: &Subject) -> Option<usize> {
        let of_file = || self.of_files.binary_search_by(|own| own.subject.cmp(subject)).ok();
        let place = self.pods().place_of(subject);
        place.or_else(|| Some(self.pods().count() + of_file()?))
    }

    /// Whether the source of a subject has records of a type: what `record_types` leaves out is neither created nor deleted.
    pub fn counts(&self, subject: &Subject, rtype: Rtype) -> bool {
        let place = self.of_files.binary_search_by(|own| own.subject.cmp(subject));
        let types = place.ok().and_then(|place| match self.of_files[place].source {
            ClaimSource::Records { source, .. } => self.types[usize::from(source)].as_ref(),
            ClaimSource::Pods(_) => None,
        });
        types.is_none_or(|types| types.contains(&rtype))
    }

    /// The subjects that are about a name, in their order.
    pub fn about(&self, name: NameRef<'_>) -> impl Iterator<Item = &StatedSubject> {
        let of_pods = self.pods.near(name).map(|place| self.subject(place));
        of_pods.chain(&self.of_files).filter(move |subject| subject.is_about(name))
    }

    /// The places of the claims at a name, in their order.
    fn places_at(&self, name: NameRef<'_>) -> Vec<ClaimPlace> {
        if let Some(places) = self.at.get(name.as_wire()) {
            return places.clone();
        }
        let of_pod = |subject: usize| {
            let claims = self.subject(subject).claims.iter().enumerate();
            let own = claims.filter(|(_, own)| own.claim.owner.as_name() == name);
            own.map(move |(claim, _)| ClaimPlace { subject: subject as u32, claim: claim as u32 })
        };
        self.pods.near(name).flat_map(of_pod).collect()
    }

    /// The place of the first subject that claims an RRset, and its entry.
    pub fn claimant(&self, name: NameRef<'_>, rtype: Rtype) -> Option<(usize, Origin)> {
        let place = self.places_at(name).into_iter().find(|place| self.claim(*place).claim.rtype == rtype)?;
        Some((place.subject as usize, self.claim(place).origin))
    }

    /// Whether any file claims something at a name, or may.
    pub fn has_name(&self, name: NameRef<'_>) -> bool {
        let wire = name.as_wire();
        let is_of_file =
            self.at.contains_key(wire) || self.held.contains_key(wire) || self.left_alone.contains_key(wire);
        is_of_file || self.pods.has_name(name)
    }

    /// Whether a file that cannot be read now claimed an RRset, or one that can be read leaves it alone.
    pub fn holds(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        self.is_held(name, rtype) || self.leaves_alone(name, rtype)
    }

    /// Whether a file that cannot be read now claimed an RRset.
    pub fn is_held(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        self.held.get(name.as_wire()).into_iter().flatten().any(|held| held.rtype == rtype)
    }

    /// Whether a file says that an RRset is neither created nor deleted, or a pod keeps the addresses there.
    pub fn leaves_alone(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        let is_kept = |place| self.subject(place).kept.iter().any(|kept| kept.as_name() == name);
        let of_pods = || matches!(rtype, Rtype::A | Rtype::AAAA) && self.pods.near(name).any(is_kept);
        self.left_alone.get(name.as_wire()).is_some_and(|types| types.contains(&rtype)) || of_pods()
    }

    /// The claims on an RRset.
    pub fn on(&self, name: NameRef<'_>, rtype: Rtype) -> impl Iterator<Item = &RrsetClaim> {
        let places = self.places_at(name).into_iter();
        places.map(|place| &self.claim(place).claim).filter(move |claim| claim.rtype == rtype)
    }

    /// Whether another subject claims values of an RRset.
    pub fn is_asked_by_another(&self, subject: &Subject, name: NameRef<'_>, rtype: Rtype) -> bool {
        let is_asked = |place: &ClaimPlace| {
            let claim = &self.claim(*place).claim;
            claim.rtype == rtype && !claim.want.values().is_empty()
        };
        let mut asked = self.places_at(name).into_iter().filter(is_asked);
        asked.any(|place| self.name_of(place.subject as usize) != *subject)
    }

    /// Whether a claim on an RRset has a value, or may have it.
    pub fn has_value(&self, name: NameRef<'_>, rtype: Rtype, rdata: &Rdata) -> bool {
        self.holds(name, rtype) || self.on(name, rtype).any(|claim| values(claim).any(|own| own == rdata))
    }

    /// What contradicts a subject.
    pub fn conflict(&self, place: usize) -> Option<&SubjectBlock> {
        self.conflicts.get(&place)
    }

    /// What contradicts a host, by its place in the inventory.
    pub fn conflict_of_host(&self, place: usize) -> Option<&SubjectBlock> {
        self.of_hosts.get(&place)
    }

    /// The hosts that files contradict, by their places in the inventory.
    pub fn contradicted_hosts(&self) -> impl Iterator<Item = usize> {
        self.of_hosts.keys().copied()
    }

    /// All that files claimed that cannot be read now, sorted.
    fn all_held(&self) -> Vec<(&Name, &HeldStatement)> {
        let mut all: Vec<_> =
            self.held.iter().flat_map(|(name, held)| held.iter().map(move |held| (name, held))).collect();
        all.sort();
        all
    }

    /// Whether a file claims what hides other names.
    fn has_cuts(&self) -> bool {
        let mut claims = self.of_files.iter().flat_map(|subject| &subject.claims);
        claims.any(|own| matches!(own.claim.rtype, Rtype::DNAME | Rtype::NS))
    }

    /// A claim.
    fn claim(&self, place: ClaimPlace) -> &StatedClaim {
        &self.subject(place.subject as usize).claims[place.claim as usize]
    }

    /// The block of one side of a conflict.
    fn block(&self, inventory: &Inventory, side: ConflictSide, others: &BTreeSet<ConflictSide>) -> SubjectBlock {
        let shown = |other: &ConflictSide| match other {
            ConflictSide::Stated(place) => {
                let StatedClaim { claim, origin } = self.claim(*place);
                let subject = &self.subject(place.subject as usize).subject;
                format!("{} of {subject} ({})", claim.rtype, inventory.files.place(*origin))
            }
            ConflictSide::Host(place) => {
                let host = &inventory.hosts[*place];
                format!("host {} ({})", host.inv, inventory.files.place(host.origin))
            }
            ConflictSide::Bad(place) => {
                let StatedSubject { subject, origin, .. } = self.subject(*place as usize);
                format!("an entry of {subject} that cannot be used ({})", inventory.files.place(*origin))
            }
            ConflictSide::Held(place) => {
                let (name, HeldStatement { rtype, by }) = self.all_held()[*place];
                format!("{rtype} of `{name}`, which `{by}` claimed, and which cannot be read now")
            }
        };
        let mut named: Vec<String> = others.iter().take(NAMED).map(shown).collect();
        if others.len() > NAMED {
            named.push(format!("{} more", others.len() - NAMED));
        }
        let own = match side {
            ConflictSide::Stated(place) => {
                let claim = &self.claim(place).claim;
                format!("{} of `{}`", claim.rtype, claim.owner)
            }
            ConflictSide::Host(_) => "what the host has".to_owned(),
            ConflictSide::Bad(_) | ConflictSide::Held(_) => String::new(),
        };
        SubjectBlock {
            code: BlockCode::ClaimConflict,
            message: format!("{own} contradicts {}", named.join(", ")),
            hint: "let all of them say the same, or keep one of them; all wait until then".to_owned(),
        }
    }
}

/// What applies noted of files that cannot be read now: their source is not believed; or an entry of the manifest is bad; or
/// it is not there, and a file of the source is broken.
fn held(inventory: &Inventory, statements: &KeptStatements) -> HashMap<Name, Vec<HeldStatement>> {
    let (sources, documents) = (&inventory.stated.sources, &inventory.stated.documents);
    let is_all_read = sources.iter().all(|source| source.trust.doubt().is_none() && !source.has_bad)
        && documents.iter().all(|document| document.is_whole);
    if is_all_read {
        return HashMap::default();
    }
    let documents = DocumentIndex::of(&inventory.stated);
    let is_held = |by: &str| {
        documents.find(by).is_some_and(|NotedDocument { source, document }| match document {
            _ if source.trust.doubt().is_some() => true,
            Some(document) => !document.is_whole,
            None => source.has_bad,
        })
    };
    let mut found: HashMap<Name, Vec<HeldStatement>> = HashMap::default();
    for (name, rtype, by) in statements.iter() {
        for by in by.into_iter().filter(|by| is_held(by)) {
            found.entry(name.clone()).or_default().push(HeldStatement { rtype, by: by.to_owned() });
        }
    }
    found
}

/// Lets the sources with `conflicts = "external-dns"` decide which of their entries count.
fn settle_rivals(inventory: &Inventory, live: &Live, subjects: &mut [StatedSubject]) {
    let recorded = |name: &Name, rtype: Rtype| recorded_manifest(inventory, live, name, rtype);
    for (number, source) in inventory.stated.sources.iter().enumerate() {
        if source.conflicts == RecordConflicts::ExternalDns {
            let is_of_source = |subject: &&mut StatedSubject| matches!(subject.source, ClaimSource::Records { source, .. } if usize::from(source) == number);
            let of_source = subjects.iter_mut().filter(is_of_source);
            rivals::settle(&mut of_source.collect::<Vec<_>>(), &recorded);
        }
    }
}

/// The manifest that the registry records for an RRset, as `NAMESPACE/NAME`.
fn recorded_manifest(inventory: &Inventory, live: &Live, name: &Name, rtype: Rtype) -> Option<String> {
    let zone = live.zone_of(name.as_name())?;
    let marking = inventory.config.marking(&inventory.config.zones[zone.0 as usize]);
    let found = marking.form.names(name.as_name(), rtype).find_map(|at| live.rrset(at.as_name(), Rtype::TXT))?;
    found.rrset.rdata().find_map(|rdata| Some(marking.labels(rdata)?.manifest()?.to_owned()))
}

/// The values that a claim asks for.
fn values(claim: &RrsetClaim) -> impl Iterator<Item = &Rdata> {
    claim.want.values().iter().map(|value| &value.rdata)
}

/// Whether two claims of files say the same of one RRset. Values are in order.
fn say_the_same(one: &RrsetClaim, other: &RrsetClaim) -> bool {
    let ttl = |claim: &RrsetClaim| claim.ttl.filter(|ttl| ttl.hold == TtlHold::Always).map(|ttl| ttl.ttl);
    values(one).eq(values(other)) && ttl(one) == ttl(other)
}

/// What claims are compared by.
#[derive(Clone, Copy)]
pub struct RivalGround<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// In which zone a name is.
    pub live: &'a Live,
    /// Which host has which name.
    pub names: &'a NameIndex,
    /// Which host has which address.
    pub used: &'a UsedValues,
}

impl RivalGround<'_> {
    /// The addresses of hosts that no file has the better right to, each with the place of its host. To the PTR of an A
    /// record that is only live a file has it.
    fn firm_addresses(&self) -> impl ParallelIterator<Item = (Ipv6Addr, usize)> {
        let is_firm = |(address, host): &(Ipv6Addr, usize)| address.to_ipv4_mapped().is_none() || self.is_listed(*host);
        self.used.all_addresses().filter(is_firm)
    }

    /// Whether the inventory lists the addresses of a host.
    fn is_listed(&self, place: usize) -> bool {
        self.inventory.lists_addresses(self.inventory.hosts[place].project)
    }
}

/// The cuts at a name and above it, in its zone: DNAME, and NS below an apex; what they hide belongs to no other subject.
fn cuts_around(live: &Live, stated: &StatedClaims<'_>, name: NameRef<'_>) -> Vec<ClaimPlace> {
    let zone = live.zone_of(name);
    let above = std::iter::successors(Some(name), |name| name.parent());
    let own = above.take_while(|above| live.zone_of(*above) == zone);
    let at = |above: NameRef<'_>| {
        let is_apex = live.is_apex(above);
        let is_cut = move |rtype: Rtype| rtype == Rtype::DNAME || (rtype == Rtype::NS && !is_apex);
        let places = stated.at.get(above.as_wire()).into_iter().flatten().copied();
        places.filter(move |place| is_cut(stated.claim(*place).claim.rtype))
    };
    own.flat_map(at).collect()
}
