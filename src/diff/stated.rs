//! What files of records and rows of pods claim, by name; and which claims contradict each other.
//!
//! Comes in: the subjects of files with their claims, and which host has which name and address. Goes out: what is claimed
//! at a name, and for each subject and host what contradicts it. Pure.
//!
//! Claims conflict when two subjects do not say the same of one RRset, when one claims a CNAME and another any other type
//! there, and when one is below the DNAME of another, or at or below its NS (glue and DS excepted). All sides are blocked:
//! which of them is right is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::SubjectBlock;
use super::pod_claims::PodClaims;
use super::statements::KeptStatements;
use crate::change::BlockCode;
use crate::claim::{RrsetClaim, Subject, TtlHold, Want};
use crate::desired::UsedValues;
use crate::desired::pod_subjects::PodSubjects;
use crate::desired::records::{ClaimSource, StatedClaim, StatedSubject, subjects};
use crate::desired::rivals;
use crate::diag::Origin;
use crate::dns::reverse::ReverseName;
use crate::dns::{Name, NameRef, Rdata, Rtype, address_type, reverse};
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::source::RecordConflicts;
use crate::inventory::stated::{DocumentIndex, EntryContent, NotedDocument};
use crate::live::Live;
use crate::names::NameIndex;

/// With how many claims that differ from each other a claim at the same name is compared.
const COMPARED: usize = 16;

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

/// Finds the pods and endpoints that something else may contradict. Of all others it is known that nothing does, by the
/// hashes of their names alone.
struct ContestedPods<'a> {
    /// What claims are compared by.
    ground: RivalGround<'a>,
    /// The claims of files.
    stated: &'a StatedClaims<'a>,
    /// The places that were found.
    places: HashSet<usize>,
}

impl ContestedPods<'_> {
    /// Finds them.
    fn find(mut self) -> Vec<usize> {
        let (stated, pods) = (self.stated, &self.stated.pods);
        if pods.is_empty() {
            return self.places.into_iter().collect();
        }
        self.places.extend(pods.sharing());
        let faulty = stated.of_files.iter().filter(|subject| !subject.faults.is_empty());
        let names = stated.at.keys().chain(stated.held.keys()).chain(faulty.flat_map(StatedSubject::names));
        names.for_each(|name| self.places.extend(pods.near(name.as_name())));
        self.with_hosts();
        self.below_cuts();
        self.places.into_iter().collect()
    }

    /// Adds those that have a name or an address of a host.
    fn with_hosts(&mut self) {
        let pods = &self.stated.pods;
        let of_name = |hash| pods.near_hash(hash).collect::<Vec<_>>();
        let found: Vec<usize> = self.ground.names.hashes().flat_map_iter(of_name).collect();
        self.places.extend(found);
        let of_address = |(address, _): (Ipv6Addr, usize)| {
            let reverse = ReverseName::of(address.to_canonical());
            pods.near(reverse.as_name()).collect::<Vec<_>>()
        };
        let found: Vec<usize> = self.ground.firm_addresses().flat_map_iter(of_address).collect();
        self.places.extend(found);
    }

    /// Adds those that are below a cut.
    fn below_cuts(&mut self) {
        let (live, stated) = (self.ground.live, self.stated);
        if !stated.has_cuts() {
            return;
        }
        let is_below = |place: &usize| {
            let subject = stated.pods().derive(*place);
            subject.names().any(|name| !cuts_around(live, stated, name.as_name()).is_empty())
        };
        let found: Vec<usize> = (0..stated.pods().count()).into_par_iter().filter(is_below).collect();
        self.places.extend(found);
    }
}

/// Finds what contradicts what.
struct ConflictSearch<'a> {
    /// What claims are compared by.
    ground: RivalGround<'a>,
    /// The claims.
    stated: &'a StatedClaims<'a>,
    /// The pods and endpoints that something else may contradict, in their order.
    contested: &'a [usize],
    /// What contradicts each side.
    found: BTreeMap<ConflictSide, BTreeSet<ConflictSide>>,
}

impl ConflictSearch<'_> {
    /// Searches all names.
    fn search(mut self) -> BTreeMap<ConflictSide, BTreeSet<ConflictSide>> {
        let stated = self.stated;
        for places in stated.at.values() {
            self.at_one_name(places);
        }
        self.below_cuts();
        self.with_hosts();
        self.with_unreadable();
        self.found
    }

    /// Notes that two sides contradict each other.
    fn note(&mut self, one: ConflictSide, other: ConflictSide) {
        self.found.entry(one).or_default().insert(other);
        self.found.entry(other).or_default().insert(one);
    }

    /// Compares the claims of files at one name. Each is compared with a few that differ: more would name no other cause.
    fn at_one_name(&mut self, places: &[ClaimPlace]) {
        // What only asks for nothing gives way to values.
        let has_values = |place: &&ClaimPlace| !matches!(self.stated.claim(**place).claim.want, Want::Absent(_));
        let places: Vec<ClaimPlace> = places.iter().filter(has_values).copied().collect();
        if places.len() < 2 {
            return;
        }
        let mut differing: Vec<ClaimPlace> = Vec::new();
        for place in &places {
            let one = &self.stated.claim(*place).claim;
            let (mut is_new, known) = (true, differing.clone());
            for other in known {
                let second = &self.stated.claim(other).claim;
                let is_conflict = if one.rtype == second.rtype {
                    is_new &= !say_the_same(one, second);
                    !say_the_same(one, second)
                } else {
                    [one.rtype, second.rtype].contains(&Rtype::CNAME)
                };
                if is_conflict {
                    self.note(ConflictSide::Stated(*place), ConflictSide::Stated(other));
                }
            }
            if is_new && differing.len() < COMPARED {
                differing.push(*place);
            }
        }
        // Of those that say the same as one that is contradicted, only the first was compared with what came later.
        for place in &places {
            let one = &self.stated.claim(*place).claim;
            let same = differing.iter().find(|other| {
                let second = &self.stated.claim(**other).claim;
                one.rtype == second.rtype && say_the_same(one, second)
            });
            let Some(others) = same.and_then(|same| self.found.get(&ConflictSide::Stated(*same)).cloned()) else {
                continue;
            };
            for other in others.into_iter().filter(|other| *other != ConflictSide::Stated(*place)).take(NAMED) {
                self.note(ConflictSide::Stated(*place), other);
            }
        }
    }

    /// Compares the claims of files with what others claim that cannot be read: bad entries, and what applies noted.
    fn with_unreadable(&mut self) {
        let stated = self.stated;
        let contested = self.contested.iter().map(|place| (*place, stated.subject(*place)));
        for (number, subject) in contested.chain(stated.of_files()) {
            if !subject.faults.is_empty() {
                let places = subject.names().chain(&subject.kept).flat_map(|name| stated.at.get(name));
                for place in places.flatten() {
                    if place.subject as usize != number {
                        self.note(ConflictSide::Stated(*place), ConflictSide::Bad(number as u32));
                    }
                }
            }
        }
        for (number, (name, HeldStatement { rtype, by })) in stated.all_held().into_iter().enumerate() {
            for place in stated.at.get(name).into_iter().flatten() {
                let own = stated.claim(*place).claim.rtype;
                let subject = stated.subject(place.subject as usize);
                let noted = subject.stated_in(self.ground.inventory).map(|(source, by)| source.noted(by));
                let is_barred = own == *rtype || [own, *rtype].contains(&Rtype::CNAME);
                if is_barred && noted.as_ref() != Some(by) {
                    self.note(ConflictSide::Stated(*place), ConflictSide::Held(number));
                }
            }
        }
    }

    /// Compares the claims of files with the cuts at and above their names.
    fn below_cuts(&mut self) {
        let stated = self.stated;
        if !stated.has_cuts() {
            return;
        }
        for (name, places) in &stated.at {
            for cut in cuts_around(self.ground.live, stated, name.as_name()) {
                let cutting = &stated.claim(cut).claim;
                for place in places.iter().filter(|place| **place != cut) {
                    let claim = &stated.claim(*place).claim;
                    if is_cut_off(cutting, claim.owner.as_name(), claim.rtype) {
                        self.note(ConflictSide::Stated(cut), ConflictSide::Stated(*place));
                    }
                }
            }
        }
    }

    /// Compares the claims of files with the names and addresses of hosts.
    fn with_hosts(&mut self) {
        let stated = self.stated;
        let mut pointers: Vec<(Ipv6Addr, ClaimPlace)> = Vec::new();
        for (name, places) in &stated.at {
            for place in places {
                match stated.claim(*place).claim.rtype {
                    rtype @ (Rtype::AAAA | Rtype::A | Rtype::CNAME) => {
                        let claim = &stated.claim(*place).claim;
                        let interfaces = self.ground.names.interfaces_now(self.ground.inventory, name.as_name());
                        for (host, is_fastbone) in interfaces.collect::<Vec<_>>() {
                            let listed = self.listed(host, is_fastbone);
                            if may_claim(listed.as_ref(), rtype) && !self.says_the_same(host, listed.as_ref(), claim) {
                                self.note(ConflictSide::Stated(*place), ConflictSide::Host(host));
                            }
                        }
                    }
                    Rtype::PTR => {
                        let address = match reverse::address_of(name.as_name()) {
                            Some(IpAddr::V6(address)) => address,
                            Some(IpAddr::V4(address)) => address.to_ipv6_mapped(),
                            None => continue,
                        };
                        pointers.push((address, *place));
                    }
                    _ => {}
                }
            }
        }
        self.pointers_of_hosts(pointers);
        if stated.has_cuts() {
            for name in self.ground.names.names(self.ground.inventory) {
                let cuts = cuts_around(self.ground.live, stated, name.as_name());
                let cuts =
                    cuts.iter().filter(|cut| is_cut_off(&stated.claim(**cut).claim, name.as_name(), Rtype::AAAA));
                for cut in cuts {
                    for host in self.holders(name.as_name()) {
                        self.note(ConflictSide::Stated(*cut), ConflictSide::Host(host));
                    }
                }
            }
        }
    }

    /// Compares claims of PTR with the hosts that have their addresses: they say the same where the PTR has the host's name.
    fn pointers_of_hosts(&mut self, pointers: Vec<(Ipv6Addr, ClaimPlace)>) {
        if pointers.is_empty() {
            return;
        }
        let mut by_address: HashMap<Ipv6Addr, Vec<ClaimPlace>> = HashMap::default();
        pointers.into_iter().for_each(|(address, place)| by_address.entry(address).or_default().push(place));
        let by_address = &by_address;
        let of_file = |(address, _): &(Ipv6Addr, usize)| by_address.contains_key(address);
        for (address, host) in self.ground.firm_addresses().filter(of_file).collect::<Vec<_>>() {
            for place in by_address.get(&address).into_iter().flatten().copied() {
                let claim = &self.stated.claim(place).claim;
                let target = |rdata: &Rdata| rdata.as_rdata(Rtype::PTR).target().map(NameRef::to_name);
                let is_own = values(claim)
                    .all(|rdata| target(rdata).is_some_and(|name| self.holders(name.as_name()).contains(&host)));
                if !is_own {
                    self.note(ConflictSide::Stated(place), ConflictSide::Host(host));
                }
            }
        }
    }

    /// What the inventory lists for an interface of a host; none where its addresses are derived.
    fn listed(&self, place: usize, is_fastbone: bool) -> Option<ListedValues> {
        let host = &self.ground.inventory.hosts[place];
        let settings = self.ground.inventory.projects[host.project.0 as usize].file.settings();
        let (name, is_main) = settings?.listed()?.names().find(|(_, is_main)| *is_main != is_fastbone)?;
        let rows = self.ground.inventory.addresses_of(host.inv).iter();
        let own = rows.filter(|row| row.interface.may_be(name, is_main, &self.ground.inventory.symbols));
        let addresses = own.map(|row| row.address).collect::<Option<Vec<IpAddr>>>();
        Some(ListedValues(addresses.filter(|_| self.ground.inventory.trust.addresses.doubt().is_none())))
    }

    /// Whether a host whose addresses the inventory lists says the same of an RRset as a file does, with the same TTL.
    fn says_the_same(&self, place: usize, listed: Option<&ListedValues>, claim: &RrsetClaim) -> bool {
        let Some(ListedValues(Some(addresses))) = listed else { return false };
        let of_type = addresses.iter().filter(|address| address_type(**address) == claim.rtype);
        let own: BTreeSet<Rdata> = of_type.map(|address| Rdata::from_address(*address)).collect();
        let Some(zone) = self.ground.live.zone_of(claim.owner.as_name()) else { return false };
        let spec = &self.ground.inventory.config.zones[zone.0 as usize];
        let ttl = self.ground.inventory.wanted_ttl(self.ground.inventory.hosts[place].project, spec);
        let has_ttl = claim.ttl.as_ref().is_some_and(|own| own.hold == TtlHold::Always && own.ttl == ttl);
        has_ttl && values(claim).eq(&own)
    }

    /// The hosts that have a name now.
    fn holders(&self, name: NameRef<'_>) -> Vec<usize> {
        self.ground.names.hosts_now(self.ground.inventory, name).collect()
    }
}

/// The addresses that the inventory lists for an interface; none where they are not known.
struct ListedValues(Option<Vec<IpAddr>>);

/// Whether a host may claim records of a type at the name of an interface: where the inventory lists its addresses, those of
/// the families of which it lists some.
fn may_claim(listed: Option<&ListedValues>, rtype: Rtype) -> bool {
    match listed {
        None => rtype != Rtype::A,
        Some(ListedValues(None)) => true,
        Some(ListedValues(Some(addresses))) if matches!(rtype, Rtype::A | Rtype::AAAA) => {
            addresses.iter().any(|address| address_type(*address) == rtype)
        }
        Some(ListedValues(Some(addresses))) => !addresses.is_empty(),
    }
}

/// Whether a cut keeps an RRset of a type from being at a name: a DNAME what is below it; NS what is at and below them,
/// but for DS and the addresses of the name servers themselves.
fn is_cut_off(cut: &RrsetClaim, name: NameRef<'_>, rtype: Rtype) -> bool {
    let is_at = cut.owner.as_name() == name;
    match cut.rtype {
        Rtype::DNAME => !is_at,
        _ if is_at && matches!(rtype, Rtype::NS | Rtype::DS) => false,
        _ => {
            let is_server = || values(cut).any(|rdata| rdata.as_rdata(Rtype::NS).target() == Some(name));
            !(matches!(rtype, Rtype::A | Rtype::AAAA) && is_server())
        }
    }
}
