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

use foldhash::HashMap;

use super::SubjectBlock;
use super::statements::KeptStatements;
use crate::change::BlockCode;
use crate::claim::{RrsetClaim, Subject, TtlHold, Want};
use crate::desired::UsedValues;
use crate::desired::pods;
use crate::desired::records::{ClaimSource, StatedClaim, StatedSubject, subjects};
use crate::desired::rivals;
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rdata, Rtype, address_type, reverse};
use crate::inventory::Inventory;
use crate::inventory::source::RecordConflicts;
use crate::inventory::stated::{DocumentIndex, EntryContent, NotedDocument};
use crate::live::Live;
use crate::names::NameIndex;

/// With how many claims that differ from each other a claim at the same name is compared.
const COMPARED: usize = 16;

/// How many others a message names.
const NAMED: usize = 3;

/// What files of records, and rows of pods, claim.
#[derive(Debug, Default)]
pub struct StatedClaims {
    /// The subjects, sorted.
    pub subjects: Vec<StatedSubject>,
    /// The claims at each name.
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

impl StatedClaims {
    /// Collects the claims of all files, and finds what contradicts what.
    pub fn find(
        inventory: &Inventory,
        live: &Live,
        (names, used): (&NameIndex, &UsedValues),
        statements: &KeptStatements,
    ) -> StatedClaims {
        let held = held(inventory, statements);
        if inventory.stated.entries.is_empty() && held.is_empty() && inventory.pods.rows.is_empty() {
            return StatedClaims::default();
        }
        let mut of_files = subjects(inventory, live);
        settle_rivals(inventory, live, &mut of_files);
        // Both are sorted, and pods come before what files state.
        let mut subjects = pods::subjects(inventory, live);
        subjects.append(&mut of_files);
        let mut at: HashMap<Name, Vec<ClaimPlace>> = HashMap::default();
        for (place, subject) in subjects.iter().enumerate() {
            for claim in 0..subject.claims.len() {
                let claim = ClaimPlace { subject: place as u32, claim: claim as u32 };
                let owner = &subject.claims[claim.claim as usize].claim.owner;
                at.entry(owner.clone()).or_default().push(claim);
            }
        }
        let types = inventory.stated.sources.iter().map(|source| source.types.clone()).collect();
        let mut left_alone: HashMap<Name, Vec<Rtype>> = HashMap::default();
        for entry in &inventory.stated.entries {
            if let EntryContent::LeftAlone(rtype) = entry.content {
                left_alone.entry(entry.owner.clone()).or_default().push(rtype);
            }
        }
        for name in subjects.iter().flat_map(|subject| &subject.kept) {
            left_alone.entry(name.clone()).or_default().extend([Rtype::A, Rtype::AAAA]);
        }
        let (conflicts, of_hosts) = (BTreeMap::new(), BTreeMap::new());
        let stated = StatedClaims { subjects, at, types, held, left_alone, conflicts, of_hosts };
        let found = ConflictSearch { inventory, live, names, used, stated: &stated, found: BTreeMap::new() }.search();
        let of_side = |side: &ConflictSide, others: &BTreeSet<ConflictSide>| stated.block(inventory, *side, others);
        let (mut conflicts, mut of_hosts) = (BTreeMap::new(), BTreeMap::new());
        for (side, others) in &found {
            let block = of_side(side, others);
            match side {
                ConflictSide::Stated(place) => drop(conflicts.entry(place.subject as usize).or_insert(block)),
                ConflictSide::Host(place) => drop(of_hosts.insert(*place, block)),
                // Both are blocked, or claim nothing, anyway.
                ConflictSide::Bad(_) | ConflictSide::Held(_) => {}
            }
        }
        StatedClaims { conflicts, of_hosts, ..stated }
    }

    /// The place of a subject.
    pub fn place_of(&self, subject: &Subject) -> Option<usize> {
        self.subjects.binary_search_by(|own| own.subject.cmp(subject)).ok()
    }

    /// Whether the source of a subject has records of a type: what `record_types` leaves out is neither created nor deleted.
    pub fn counts(&self, subject: &Subject, rtype: Rtype) -> bool {
        let place = self.place_of(subject);
        let types = place.and_then(|place| match self.subjects[place].source {
            ClaimSource::Records { source, .. } => self.types[usize::from(source)].as_ref(),
            ClaimSource::Pods(_) => None,
        });
        types.is_none_or(|types| types.contains(&rtype))
    }

    /// The place of the first subject that claims an RRset, and its entry.
    pub fn claimant(&self, name: NameRef<'_>, rtype: Rtype) -> Option<(usize, Origin)> {
        let places = self.at.get(name.as_wire())?;
        let claim = |place: &ClaimPlace| &self.subjects[place.subject as usize].claims[place.claim as usize];
        let place = places.iter().find(|place| claim(place).claim.rtype == rtype)?;
        Some((place.subject as usize, claim(place).origin))
    }

    /// Whether any file claims something at a name, or may.
    pub fn has_name(&self, name: NameRef<'_>) -> bool {
        let name = name.as_wire();
        self.at.contains_key(name) || self.held.contains_key(name) || self.left_alone.contains_key(name)
    }

    /// Whether a file that cannot be read now claimed an RRset, or one that can be read leaves it alone.
    pub fn holds(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        self.is_held(name, rtype) || self.leaves_alone(name, rtype)
    }

    /// Whether a file that cannot be read now claimed an RRset.
    pub fn is_held(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        self.held.get(name.as_wire()).into_iter().flatten().any(|held| held.rtype == rtype)
    }

    /// Whether a file says that an RRset is neither created nor deleted.
    pub fn leaves_alone(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        self.left_alone.get(name.as_wire()).is_some_and(|types| types.contains(&rtype))
    }

    /// The claims on an RRset.
    pub fn on(&self, name: NameRef<'_>, rtype: Rtype) -> impl Iterator<Item = &RrsetClaim> {
        let places = self.at.get(name.as_wire()).into_iter().flatten();
        places.map(|place| &self.claim(*place).claim).filter(move |claim| claim.rtype == rtype)
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

    /// A claim.
    fn claim(&self, place: ClaimPlace) -> &StatedClaim {
        &self.subjects[place.subject as usize].claims[place.claim as usize]
    }

    /// The block of one side of a conflict.
    fn block(&self, inventory: &Inventory, side: ConflictSide, others: &BTreeSet<ConflictSide>) -> SubjectBlock {
        let shown = |other: &ConflictSide| match other {
            ConflictSide::Stated(place) => {
                let StatedClaim { claim, origin } = self.claim(*place);
                let subject = &self.subjects[place.subject as usize].subject;
                format!("{} of {subject} ({})", claim.rtype, inventory.files.place(*origin))
            }
            ConflictSide::Host(place) => {
                let host = &inventory.hosts[*place];
                format!("host {} ({})", host.inv, inventory.files.place(host.origin))
            }
            ConflictSide::Bad(place) => {
                let StatedSubject { subject, origin, .. } = &self.subjects[*place as usize];
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

/// Finds what contradicts what.
struct ConflictSearch<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// In which zone a name is.
    live: &'a Live,
    /// Which host has which name.
    names: &'a NameIndex,
    /// Which host has which address.
    used: &'a UsedValues,
    /// The claims.
    stated: &'a StatedClaims,
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
        for (number, subject) in stated.subjects.iter().enumerate() {
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
                let subject = &stated.subjects[place.subject as usize];
                let noted = subject.stated_in(self.inventory).map(|(source, by)| source.noted(by));
                let is_barred = own == *rtype || [own, *rtype].contains(&Rtype::CNAME);
                if is_barred && noted.as_ref() != Some(by) {
                    self.note(ConflictSide::Stated(*place), ConflictSide::Held(number));
                }
            }
        }
    }

    /// The claims of DNAME, and of NS below an apex, at a name: what they hide belongs to no other subject.
    fn cuts_at(&self, name: NameRef<'_>) -> Vec<ClaimPlace> {
        let is_apex = self.live.is_apex(name);
        let is_cut = |rtype: Rtype| rtype == Rtype::DNAME || (rtype == Rtype::NS && !is_apex);
        let places = self.stated.at.get(name.as_wire()).into_iter().flatten().copied();
        places.filter(|place| is_cut(self.stated.claim(*place).claim.rtype)).collect()
    }

    /// Whether there is any such claim.
    fn has_cuts(&self) -> bool {
        let mut claims = self.stated.subjects.iter().flat_map(|subject| &subject.claims);
        claims.any(|own| matches!(own.claim.rtype, Rtype::DNAME | Rtype::NS))
    }

    /// Compares the claims of files with the cuts at and above their names.
    fn below_cuts(&mut self) {
        if !self.has_cuts() {
            return;
        }
        let stated = self.stated;
        for (name, places) in &stated.at {
            for cut in self.cuts_around(name.as_name()) {
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

    /// The cuts at a name and above it, in its zone.
    fn cuts_around(&self, name: NameRef<'_>) -> Vec<ClaimPlace> {
        let zone = self.live.zone_of(name);
        let above = std::iter::successors(Some(name), |name| name.parent());
        let own = above.take_while(|above| self.live.zone_of(*above) == zone);
        own.flat_map(|above| self.cuts_at(above)).collect()
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
                        let interfaces = self.names.interfaces_now(self.inventory, name.as_name());
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
        if self.has_cuts() {
            for name in self.names.names(self.inventory) {
                let cuts = self.cuts_around(name.as_name());
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
        // To the PTR of an A record that is only live a file has the better right.
        let is_firm = |(address, host): &(Ipv6Addr, usize)| address.to_ipv4_mapped().is_none() || self.is_listed(*host);
        for (address, host) in self.used.addresses().filter(is_firm).collect::<Vec<_>>() {
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
        let host = &self.inventory.hosts[place];
        let settings = self.inventory.projects[host.project.0 as usize].file.settings();
        let (name, is_main) = settings?.listed()?.names().find(|(_, is_main)| *is_main != is_fastbone)?;
        let rows = self.inventory.addresses_of(host.inv).iter();
        let own = rows.filter(|row| row.interface.may_be(name, is_main, &self.inventory.symbols));
        let addresses = own.map(|row| row.address).collect::<Option<Vec<IpAddr>>>();
        Some(ListedValues(addresses.filter(|_| self.inventory.trust.addresses.doubt().is_none())))
    }

    /// Whether a host whose addresses the inventory lists says the same of an RRset as a file does, with the same TTL.
    fn says_the_same(&self, place: usize, listed: Option<&ListedValues>, claim: &RrsetClaim) -> bool {
        let Some(ListedValues(Some(addresses))) = listed else { return false };
        let of_type = addresses.iter().filter(|address| address_type(**address) == claim.rtype);
        let own: BTreeSet<Rdata> = of_type.map(|address| Rdata::from_address(*address)).collect();
        let Some(zone) = self.live.zone_of(claim.owner.as_name()) else { return false };
        let spec = &self.inventory.config.zones[zone.0 as usize];
        let ttl = self.inventory.wanted_ttl(self.inventory.hosts[place].project, spec);
        let has_ttl = claim.ttl.as_ref().is_some_and(|own| own.hold == TtlHold::Always && own.ttl == ttl);
        has_ttl && values(claim).eq(&own)
    }

    /// Whether the inventory lists the addresses of a host.
    fn is_listed(&self, place: usize) -> bool {
        self.inventory.lists_addresses(self.inventory.hosts[place].project)
    }

    /// The hosts that have a name now.
    fn holders(&self, name: NameRef<'_>) -> Vec<usize> {
        self.names.hosts_now(self.inventory, name).collect()
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
