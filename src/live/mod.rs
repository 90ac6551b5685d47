//! What the servers hold now, searchable by owner, by address and by PTR target.
//!
//! Comes in: the configured zones with their contents, or the fact that a zone could not be read. Goes out: answers
//! about names and records, with everything left out that is not live: data at or below a delegation, below a DNAME,
//! and data that belongs to another configured zone. Pure.

pub mod asked;

mod bits;

pub mod compared;

pub mod copies;

mod index;

mod knowledge;

mod own;

mod unpaired;

mod zone;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashSet};

use crate::dns::reverse::ReverseName;
use crate::dns::{Name, NameRef, Rdata, RdataRef, RrsetRef, Rtype, ZoneContents, ZoneName, address_type};

pub use compared::{ComparedViews, ComparedZone};
pub use copies::{PoolCopies, TargetCopies, differing_rrsets, is_of_one_copy};
pub use knowledge::ZoneKnowledge;
pub use own::OwnRrsets;
pub use unpaired::PairedRecords;
use unpaired::UnpairedRecords;
pub use zone::{ContentsAbsence, LiveZone, OpaqueSite, ZoneStructure, between};

/// The number of a zone in the list that [`Live::new`] got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneIndex(pub u32);

/// All configured zones.
#[derive(Debug)]
pub struct Live {
    /// The zones, in the order of the configuration; those of several views of DNS are shared.
    zones: Vec<Arc<LiveZone>>,
    /// The zone of each apex.
    apexes: Arc<Apexes>,
    /// The live records that cannot be found through the PTR or the address that belongs to them, because it is
    /// missing; found when first asked for.
    unpaired: OnceLock<UnpairedRecords>,
    /// The names that MX data of the zones point to.
    exchangers: HashSet<Name>,
    /// The names that NS data of the zones point to, each with the owner of the NS; the first by wire format of
    /// several.
    name_servers: HashMap<Name, Name>,
    /// The RRsets that the state says we created.
    own: OwnRrsets,
}

/// An RRset with the zone that holds it.
#[derive(Debug, Clone, Copy)]
pub struct LiveRrset<'a> {
    /// The zone.
    pub zone: ZoneIndex,
    /// The RRset.
    pub rrset: RrsetRef<'a>,
}

/// What was found at a name: its zone, and which of its records; there may be none.
#[derive(Debug, Clone)]
pub struct NameSpot {
    /// The zone.
    pub zone: ZoneIndex,
    /// The numbers of the records.
    records: Range<u32>,
}

/// The zone of a name, and what prevents writing to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePlace {
    /// In no configured zone.
    NoZone,
    /// In a zone that could not be read, or that is not known for this name.
    Unknown(ZoneIndex),
    /// At or below this delegation.
    Delegated(ZoneIndex, Name),
    /// Below this DNAME.
    BelowDname(ZoneIndex, Name),
    /// At a CNAME.
    Cname(ZoneIndex),
    /// At what no RRset says.
    Opaque(ZoneIndex),
    /// Nothing prevents it.
    Open(ZoneIndex),
}

/// Finds the zone with the longest matching apex.
#[derive(Debug)]
pub struct Apexes {
    /// The zones by apex.
    zones: HashMap<Name, ZoneIndex>,
    /// The lengths of wire format that an apex has, the longest first: few, so that a name needs as few look-ups.
    lengths: Vec<usize>,
    /// The zones below whose apex there is another.
    parents: HashSet<ZoneIndex>,
}

impl Apexes {
    /// Takes the apexes in the order of the configuration.
    pub fn new<'z>(apexes: impl Iterator<Item = &'z ZoneName>) -> Apexes {
        Apexes::numbered(apexes.enumerate().map(|(number, apex)| (ZoneIndex(number as u32), apex)))
    }

    /// Takes apexes with their numbers.
    fn numbered<'z>(apexes: impl Iterator<Item = (ZoneIndex, &'z ZoneName)>) -> Apexes {
        let zones: HashMap<Name, ZoneIndex> = apexes.map(|(number, apex)| (apex.as_name().to_name(), number)).collect();
        let lengths: BTreeSet<usize> = zones.keys().map(|apex: &Name| apex.as_wire().len()).collect();
        let lengths = lengths.into_iter().rev().collect();
        let mut apexes = Apexes { zones, lengths, parents: HashSet::default() };
        let above = |apex: &Name| apex.as_name().parent().and_then(|parent| apexes.zone_of(parent));
        apexes.parents = apexes.zones.keys().filter_map(above).collect();
        apexes
    }

    /// The zone that a name belongs to.
    pub fn zone_of(&self, name: NameRef<'_>) -> Option<ZoneIndex> {
        let wire = name.as_wire();
        let fitting = self.lengths.iter().filter_map(|length| wire.len().checked_sub(*length));
        let found = |start: usize| self.zones.get(&wire[start..]).filter(|_| name.begins_label(start));
        fitting.filter_map(found).next().copied()
    }

    /// Whether names below the apex of a zone may belong to another.
    fn is_parent(&self, zone: ZoneIndex) -> bool {
        self.parents.contains(&zone)
    }
}

impl Live {
    /// Joins the zones; they come in the order of `apexes`.
    pub fn new(zones: Vec<LiveZone>, apexes: Apexes) -> Live {
        Live::of(zones.into_iter().map(Arc::new).collect(), Arc::new(apexes))
    }

    /// The same, with other copies of some zones; without what the state says of who created what.
    pub fn with_copies(&self, copies: impl IntoIterator<Item = (ZoneIndex, Arc<LiveZone>)>) -> Live {
        let mut zones = self.zones.clone();
        copies.into_iter().for_each(|(zone, copy)| zones[zone.0 as usize] = copy);
        Live::of(zones, self.apexes.clone())
    }

    /// The same zones under the same numbers, of which only some are seen: to names in others no zone belongs.
    pub fn only(&self, is_seen: impl Fn(ZoneIndex) -> bool) -> Live {
        let closed = |zone: &LiveZone| LiveZone::without_contents(zone.name().clone(), ContentsAbsence::Closed);
        let seen = |(number, zone): (ZoneIndex, &Arc<LiveZone>)| {
            if is_seen(number) { Arc::clone(zone) } else { Arc::new(closed(zone)) }
        };
        let zones = (0..).map(ZoneIndex).zip(&self.zones).map(seen).collect();
        let apexes = self.zones().filter(|(number, _)| is_seen(*number)).map(|(number, zone)| (number, zone.name()));
        let apexes = Arc::new(Apexes::numbered(apexes));
        Live::of(zones, apexes).with_own(self.own.clone())
    }

    /// Joins zones that may be shared.
    fn of(zones: Vec<Arc<LiveZone>>, apexes: Arc<Apexes>) -> Live {
        let (mut exchangers, mut name_servers) = (HashSet::default(), HashMap::<Name, Name>::default());
        for zone in &zones {
            let found = zone.pointers();
            exchangers.extend(found.exchangers.iter().cloned());
            for (server, owner) in &found.name_servers {
                let first = name_servers.entry(server.clone()).or_insert_with(|| owner.clone());
                *first = std::cmp::min(&*first, owner).clone();
            }
        }
        let (unpaired, own) = (OnceLock::new(), OwnRrsets::default());
        Live { zones, apexes, unpaired, exchangers, name_servers, own }
    }

    /// Takes what the state says of who created what.
    pub fn with_own(self, own: OwnRrsets) -> Live {
        Live { own, ..self }
    }

    /// Takes what the state says of who created what.
    pub fn know_own(&mut self, own: OwnRrsets) {
        self.own = own;
    }

    /// Whether the state says that zonewright created an RRset.
    pub fn is_recorded_own(&self, owner: NameRef<'_>, rtype: Rtype) -> bool {
        self.own.contains(owner, rtype)
    }

    /// The RRsets that the state says zonewright created, in no order.
    pub fn recorded_own(&self) -> impl Iterator<Item = (&Name, Rtype)> {
        self.own.all()
    }

    /// Joins zones of which more will be known: MX and NS data of theirs count for nothing yet.
    pub fn draft(zones: Vec<Arc<LiveZone>>, apexes: Apexes) -> Live {
        let (unpaired, exchangers, name_servers, own) = Default::default();
        Live { zones, apexes: Arc::new(apexes), unpaired, exchangers, name_servers, own }
    }

    /// Puts another zone in the place of one, of which more is known now, into a draft.
    pub fn put(&mut self, zone: ZoneIndex, known: LiveZone) {
        self.zones[zone.0 as usize] = Arc::new(known);
        // Records that were found in the zone before may no longer be in it.
        self.unpaired = OnceLock::new();
    }

    /// Finishes the draft.
    pub fn finish(self) -> Live {
        Live::of(self.zones, self.apexes).with_own(self.own)
    }

    /// What finds the zone of a name.
    pub fn apexes(&self) -> &Apexes {
        &self.apexes
    }

    /// A zone.
    pub fn zone(&self, zone: ZoneIndex) -> &LiveZone {
        &self.zones[zone.0 as usize]
    }

    /// A zone, to be shared with another view.
    pub fn shared(&self, zone: ZoneIndex) -> Arc<LiveZone> {
        Arc::clone(&self.zones[zone.0 as usize])
    }

    /// All zones, in the order of the configuration.
    pub fn zones(&self) -> impl Iterator<Item = (ZoneIndex, &LiveZone)> {
        self.zones.iter().enumerate().map(|(number, zone)| (ZoneIndex(number as u32), &**zone))
    }

    /// The zone that a name belongs to.
    pub fn zone_of(&self, name: NameRef<'_>) -> Option<ZoneIndex> {
        self.apexes.zone_of(name)
    }

    /// The zone of a name, and what prevents writing addresses or PTR to it.
    pub fn place(&self, name: NameRef<'_>) -> NamePlace {
        self.place_if(name, ZoneKnowledge::covers)
    }

    /// The zone of a name, and what prevents writing TXT to it.
    pub fn place_of_text(&self, name: NameRef<'_>) -> NamePlace {
        self.place_if(name, ZoneKnowledge::covers_text)
    }

    /// The zone of a name, and what prevents a file from stating records of a type there. Where a zone was asked name by
    /// name, nothing is known of types that were not asked for.
    ///
    /// NS and DS at a delegation's own name are the zone's, and so are the addresses of the name servers below it.
    pub fn stated_place(&self, name: NameRef<'_>, rtype: Rtype) -> NamePlace {
        let covers: fn(&ZoneKnowledge, NameRef<'_>) -> bool = match rtype {
            Rtype::A | Rtype::AAAA | Rtype::CNAME | Rtype::PTR => ZoneKnowledge::covers,
            Rtype::TXT => ZoneKnowledge::covers_text,
            _ => |_, _| false,
        };
        match self.place_if(name, covers) {
            NamePlace::Delegated(zone, cut) if self.is_of_parent(zone, &cut, name, rtype) => NamePlace::Open(zone),
            // A file may replace the CNAME, and with it what no RRset says.
            NamePlace::Cname(zone) if self.zone(zone).opaque_at(name).is_some() => NamePlace::Opaque(zone),
            place => place,
        }
    }

    /// The RRsets of the delegation at a name itself, NS and DS; none where there is no delegation, or it is above the name.
    pub fn delegation_at(&self, name: NameRef<'_>) -> Vec<LiveRrset<'_>> {
        let is_own =
            |number: &ZoneIndex| self.zone(*number).cut_at_or_above(name).is_some_and(|cut| cut.as_name() == name);
        let Some(zone) = self.zone_of(name).filter(is_own) else { return Vec::new() };
        let contents = self.zone(zone).contents().expect("its delegations are known");
        let found = [Rtype::NS, Rtype::DS].into_iter().filter_map(|rtype| contents.rrset(name, rtype));
        found.map(|rrset| LiveRrset { zone, rrset }).collect()
    }

    /// A live RRset that a zone would hide if there were NS or a DNAME at a name: below it, and for NS at it, but for glue.
    pub fn would_hide(&self, name: NameRef<'_>, rtype: Rtype, servers: &[Name]) -> Option<LiveRrset<'_>> {
        let zone = self.zone_of(name)?;
        let hides = |rrset: &RrsetRef<'_>| {
            let owner = rrset.owner();
            let is_below = owner.as_name() != name && owner.as_name().is_at_or_below(name);
            let is_at = owner.as_name() == name && !matches!(rrset.rtype(), Rtype::NS | Rtype::DS);
            let is_glue = matches!(rrset.rtype(), Rtype::A | Rtype::AAAA) && servers.contains(&owner);
            let is_meant = is_below || (is_at && rtype == Rtype::NS);
            is_meant && !is_glue && !crate::dns::is_of_signer(rrset.rtype())
        };
        let mut rrsets = self.zone(zone).contents()?.rrsets();
        rrsets.find(|rrset| hides(rrset)).map(|rrset| LiveRrset { zone, rrset })
    }

    /// A live RRset, also one that belongs to a zone though it is at or below a delegation; see [`Live::stated_place`].
    pub fn stated_rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<LiveRrset<'_>> {
        let number = self.zone_of(name)?;
        let zone = self.zone(number);
        let cut = zone.cut_at_or_above(name).filter(|cut| self.is_of_parent(number, cut, name, rtype));
        match cut {
            Some(_) => zone.contents()?.rrset(name, rtype).map(|rrset| LiveRrset { zone: number, rrset }),
            None => self.rrset(name, rtype),
        }
    }

    /// Whether an RRset at or below a delegation of a zone belongs to the zone: NS and DS at it, and the addresses of its
    /// name servers (RFC 1034 section 4.2.1, RFC 4035 section 3.1.4.1).
    fn is_of_parent(&self, zone: ZoneIndex, cut: &Name, name: NameRef<'_>, rtype: Rtype) -> bool {
        match rtype {
            Rtype::NS | Rtype::DS => cut.as_name() == name,
            Rtype::A | Rtype::AAAA => {
                let servers = self.zone(zone).contents().and_then(|contents| contents.rrset(cut.as_name(), Rtype::NS));
                let mut targets = servers.into_iter().flat_map(|servers| servers.rdata()).filter_map(RdataRef::target);
                targets.any(|target| target == name)
            }
            _ => false,
        }
    }

    /// The zone of a name, and what prevents writing to it; `covers` says whether enough is known about the name, where
    /// its zone was asked name by name.
    fn place_if(&self, name: NameRef<'_>, covers: impl Fn(&ZoneKnowledge, NameRef<'_>) -> bool) -> NamePlace {
        let Some(number) = self.zone_of(name) else { return NamePlace::NoZone };
        let zone = self.zone(number);
        let Some(contents) = zone.contents() else {
            let is_closed = zone.absence() == Some(ContentsAbsence::Closed);
            return if is_closed { NamePlace::NoZone } else { NamePlace::Unknown(number) };
        };
        if let Some(cut) = zone.cut_at_or_above(name) {
            return NamePlace::Delegated(number, cut);
        }
        if let Some(dname) = zone.dname_above(name) {
            return NamePlace::BelowDname(number, dname);
        }
        if zone.knowledge().is_some_and(|knowledge| !covers(knowledge, name)) {
            return NamePlace::Unknown(number);
        }
        match contents.rrset(name, Rtype::CNAME) {
            Some(_) => NamePlace::Cname(number),
            None if zone.opaque_at(name).is_some() => NamePlace::Opaque(number),
            None => NamePlace::Open(number),
        }
    }

    /// A live RRset.
    pub fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<LiveRrset<'_>> {
        let number = self.zone_of(name)?;
        let zone = self.zone(number);
        let rrset = zone.contents()?.rrset(name, rtype)?;
        (!zone.hides(name)).then_some(LiveRrset { zone: number, rrset })
    }

    /// The live addresses at a name.
    pub fn addresses_at(&self, name: NameRef<'_>) -> impl Iterator<Item = IpAddr> {
        let found = [Rtype::AAAA, Rtype::A].into_iter().filter_map(move |rtype| self.rrset(name, rtype));
        found.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.address())
    }

    /// Every live RRset at a name, sorted by type; none where its records are unknown.
    pub fn rrsets_at(&self, name: NameRef<'_>) -> impl Iterator<Item = LiveRrset<'_>> {
        let known = match self.place(name) {
            NamePlace::Open(zone) | NamePlace::Cname(zone) | NamePlace::Opaque(zone) => Some(zone),
            NamePlace::NoZone | NamePlace::Unknown(_) | NamePlace::Delegated(..) | NamePlace::BelowDname(..) => None,
        };
        let found = known.and_then(|zone| Some((zone, self.zone(zone).contents()?)));
        found.into_iter().flat_map(move |(zone, contents)| {
            contents.at_owner(name).map(move |rrset| LiveRrset { zone, rrset }).collect::<Vec<_>>()
        })
    }

    /// Every live AAAA or A RRset that holds an address, by zone.
    ///
    /// Nearly every one is found by the PTR of the address; those to which no PTR points are listed.
    pub fn holding(&self, wanted: IpAddr) -> impl Iterator<Item = LiveRrset<'_>> {
        let rtype = address_type(wanted);
        let holds = move |found: &LiveRrset<'_>| found.rrset.rdata().any(|rdata| rdata.address() == Some(wanted));
        let pointer = self.rrset(ReverseName::of(wanted).as_name(), Rtype::PTR);
        let targets = pointer.into_iter().flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.target());
        let pointed_to = targets.filter_map(move |name| self.rrset(name, rtype));
        let unpaired = self.unpaired().holding(wanted).map(|(zone, id)| self.found(zone, id));
        in_order(pointed_to.chain(unpaired).filter(holds).collect())
    }

    /// Every live RRset of a type that holds a value, by zone: an AAAA or A that holds an address, or a PTR that points to a
    /// name. Of other types none is known.
    pub fn holding_rdata(&self, rtype: Rtype, rdata: &Rdata) -> Vec<LiveRrset<'_>> {
        let value = rdata.as_rdata(rtype);
        match (value.address(), value.target()) {
            (Some(address), _) => self.holding(address).collect(),
            (_, Some(name)) if rtype == Rtype::PTR => self.pointing_to(name).collect(),
            _ => Vec::new(),
        }
    }

    /// Every live PTR RRset, at a whole address, that points to a name, by zone.
    ///
    /// Nearly every one is found by an address at the name; those that point to a name without their address are
    /// listed.
    pub fn pointing_to(&self, name: NameRef<'_>) -> impl Iterator<Item = LiveRrset<'_>> {
        let points = move |found: &LiveRrset<'_>| found.rrset.rdata().any(|rdata| rdata.target() == Some(name));
        let answering =
            self.addresses_at(name).filter_map(|address| self.rrset(ReverseName::of(address).as_name(), Rtype::PTR));
        let unpaired = self.unpaired().pointing_to(name).map(|(zone, id)| self.found(zone, id));
        in_order(answering.chain(unpaired).filter(points).collect())
    }

    /// Whether an AAAA may hold an address whose PTR does not point to it.
    pub fn may_be_held_unanswered(&self, address: Ipv6Addr) -> bool {
        self.unpaired().holding(IpAddr::V6(address)).next().is_some()
    }

    /// The names that PTR of whole addresses point to without holding the address.
    pub fn pointed_to_in_vain(&self) -> impl Iterator<Item = NameRef<'_>> {
        let rrsets = self.unpaired().pointers().map(|(zone, id)| self.found(zone, id).rrset);
        rrsets.flat_map(RrsetRef::rdata).filter_map(RdataRef::target)
    }

    /// Finds the records without a counterpart, given the many records that are already known to have one.
    ///
    /// The known pairs only save time; a call after the unpaired records were found has no effect.
    pub fn pair(&self, known: PairedRecords) {
        self.unpaired.get_or_init(|| UnpairedRecords::find(self, known));
    }

    /// The records without a counterpart. All threads find them together; [`Live::pair`] therefore comes first, so that
    /// no thread asks for them from work that is itself shared among the threads.
    fn unpaired(&self) -> &UnpairedRecords {
        self.unpaired.get_or_init(|| UnpairedRecords::find(self, PairedRecords::none(self)))
    }

    /// The names that pass a test, of those at which an AAAA or A is and of those that a PTR of a whole address points to;
    /// sorted. The names of settled hosts are left out.
    pub fn names_beside_settled(&self, is_wanted: impl Fn(NameRef<'_>) -> bool + Sync) -> Vec<Name> {
        self.unpaired().names(self, is_wanted)
    }

    /// Whether every name that a live PTR RRset points to holds the address, as AAAA or A.
    pub fn is_answered(&self, zone: ZoneIndex, pointer: RrsetRef<'_>) -> bool {
        self.unpaired().is_answered(zone, pointer)
    }

    /// Looks up many names at once; none for those in no zone that was read whole, and for hidden ones.
    ///
    /// The records at a name that [`Live::rrset`] is asked for next are then in the cache of the processor.
    pub fn look_up<'n>(&self, names: impl Iterator<Item = NameRef<'n>>) -> Vec<Option<NameSpot>> {
        let zones: Vec<(Option<ZoneIndex>, NameRef<'n>)> = names.map(|name| (self.open_zone_of(name), name)).collect();
        let known = |(zone, name): &(Option<ZoneIndex>, NameRef<'n>)| Some((self.zone((*zone)?).contents()?, *name));
        let mut found = ZoneContents::look_up(&zones.iter().filter_map(known).collect::<Vec<_>>()).into_iter();
        let spot = |(zone, _): &(Option<ZoneIndex>, _)| Some(NameSpot { zone: (*zone)?, records: found.next()? });
        zones.iter().map(spot).collect()
    }

    /// The zone of a name that was read whole and does not hide the name.
    fn open_zone_of(&self, name: NameRef<'_>) -> Option<ZoneIndex> {
        let number = self.zone_of(name)?;
        let zone = self.zone(number);
        (zone.contents().is_some() && zone.knowledge().is_none() && !zone.hides(name)).then_some(number)
    }

    /// All RRsets at a name that was looked up.
    pub fn at(&self, spot: &NameSpot) -> impl Iterator<Item = RrsetRef<'_>> {
        let contents = self.zone(spot.zone).contents().expect("names are looked up in zones that were read");
        contents.rrsets_of(spot.records.clone())
    }

    /// Whether MX data of any zone point to a name.
    pub fn is_exchanger(&self, name: NameRef<'_>) -> bool {
        self.exchangers.contains(name.as_wire())
    }

    /// The owner of NS data of any zone that point to a name; none where no NS does.
    pub fn delegation_to(&self, name: NameRef<'_>) -> Option<NameRef<'_>> {
        self.name_servers.get(name.as_wire()).map(Name::as_name)
    }

    /// Every live RRset of a type, zone by zone.
    pub fn rrsets_of(&self, rtype: Rtype) -> impl Iterator<Item = LiveRrset<'_>> {
        self.zones().flat_map(move |(zone, live)| {
            live.live_rrsets(zone, &self.apexes, rtype).map(move |rrset| LiveRrset { zone, rrset })
        })
    }

    /// Every live RRset that has a mark, zone by zone; those at delegations, too.
    pub fn marked_rrsets(&self) -> impl Iterator<Item = LiveRrset<'_>> {
        let of_zone = |(zone, live): (ZoneIndex, &'_ LiveZone)| {
            let marked = live.contents().into_iter().flat_map(ZoneContents::marked_rrsets);
            let keys: Vec<(Name, Rtype)> = marked.map(|rrset| (rrset.owner(), rrset.rtype())).collect();
            keys.into_iter().map(move |key| (zone, key))
        };
        let keys: Vec<(ZoneIndex, (Name, Rtype))> = self.zones().flat_map(of_zone).collect();
        keys.into_iter().filter_map(|(zone, (name, rtype))| {
            self.stated_rrset(name.as_name(), rtype).filter(|found| found.zone == zone)
        })
    }

    /// Whether a name is the apex of a configured zone.
    pub fn is_apex(&self, name: NameRef<'_>) -> bool {
        self.zone_of(name).is_some_and(|zone| self.zone(zone).name().as_name() == name)
    }

    /// The RRset in a place that was listed: in which zone, and its id there.
    fn found(&self, zone: u32, id: u32) -> LiveRrset<'_> {
        let contents = self.zones[zone as usize].contents().expect("RRsets of known zones are listed");
        LiveRrset { zone: ZoneIndex(zone), rrset: contents.rrset_by_id(id) }
    }
}

/// RRsets by zone and place in it, each once.
fn in_order(mut found: Vec<LiveRrset<'_>>) -> impl Iterator<Item = LiveRrset<'_>> {
    found.sort_unstable_by_key(|found| (found.zone, found.rrset.id()));
    found.dedup_by_key(|found| (found.zone, found.rrset.id()));
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Rdata, Ttl, ZoneBuilder};

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// A zone's apex and records: owner, type, RDATA.
    type Sample<'a> = (&'a str, &'a [(&'a str, Rtype, &'a str)]);

    /// Zones of samples, each with a SOA.
    fn live(zones: &[Sample<'_>]) -> Live {
        let apexes: Vec<ZoneName> = zones.iter().map(|(apex, _)| ZoneName::new(name(apex))).collect();
        let zones = apexes.iter().zip(zones).map(|(apex, (_, records))| {
            let mut builder = ZoneBuilder::new(apex.clone());
            builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
            for (owner, rtype, rdata) in *records {
                let rdata = match *rtype {
                    Rtype::NS | Rtype::CNAME | Rtype::DNAME => Rdata::from_name(name(rdata).as_name()),
                    _ => Rdata::parse(*rtype, rdata).unwrap(),
                };
                builder.push(name(owner).as_name(), *rtype, Ttl::DEFAULT, rdata.as_octets()).unwrap();
            }
            LiveZone::known(builder.finish().unwrap())
        });
        Live::new(zones.collect(), Apexes::new(apexes.iter()))
    }

    #[test]
    fn what_is_delegated_or_redirected_or_anothers_is_not_live() {
        let live = live(&[
            (
                "example.net",
                &[
                    ("sub.example.net", Rtype::NS, "ns.sub.example.net"),
                    ("ns.sub.example.net", Rtype::AAAA, "2a02::1"),
                    ("d.example.net", Rtype::DNAME, "e.example.net"),
                    ("d.example.net", Rtype::AAAA, "2a02::2"),
                    ("x.d.example.net", Rtype::AAAA, "2a02::2"),
                    ("x.child.example.net", Rtype::AAAA, "2a02::3"),
                    ("c.example.net", Rtype::CNAME, "a.example.net"),
                ],
            ),
            ("child.example.net", &[("y.child.example.net", Rtype::AAAA, "2a02::3")]),
        ]);
        let holders = |address: &str| -> Vec<String> {
            live.holding(address.parse().unwrap()).map(|found| found.rrset.owner().to_string()).collect()
        };
        assert_eq!(holders("2a02::1"), [""; 0]);
        assert_eq!(holders("2a02::2"), ["d.example.net."]);
        assert_eq!(holders("2a02::3"), ["y.child.example.net."]);
        let place = |text: &str| live.place(name(text).as_name());
        assert_eq!(place("ns.sub.example.net"), NamePlace::Delegated(ZoneIndex(0), name("sub.example.net")));
        assert_eq!(place("x.d.example.net"), NamePlace::BelowDname(ZoneIndex(0), name("d.example.net")));
        assert_eq!(place("d.example.net"), NamePlace::Open(ZoneIndex(0)));
        assert_eq!(place("c.example.net"), NamePlace::Cname(ZoneIndex(0)));
        assert_eq!(place("x.child.example.net"), NamePlace::Open(ZoneIndex(1)));
        assert_eq!(place("example.org"), NamePlace::NoZone);
        let ns = name("ns.sub.example.net");
        assert_eq!(live.delegation_to(ns.as_name()), Some(name("sub.example.net").as_name()));
        assert!(!live.is_exchanger(ns.as_name()));
        assert!(live.rrset(name("x.child.example.net").as_name(), Rtype::AAAA).is_none());
    }

    #[test]
    fn what_a_draft_holds_is_found_anew_once_more_is_known() {
        let records: Sample<'_> = ("example.net", &[("a.example.net", Rtype::AAAA, "2a02::1")]);
        let Live { zones, .. } = live(&[records]);
        let apex = zones[0].name().clone();
        let apexes = Apexes::new(std::iter::once(&apex));
        let mut draft = Live::draft(vec![Arc::new(LiveZone::unknown(apex))], apexes);
        let count = |draft: &Live| draft.holding("2a02::1".parse().unwrap()).count();
        assert_eq!(count(&draft), 0);
        for known in zones {
            draft.put(ZoneIndex(0), Arc::into_inner(known).unwrap());
        }
        assert_eq!(count(&draft), 1);
    }

    #[test]
    fn ptr_count_at_whole_addresses_alone() {
        let live = live(&[(
            "10.in-addr.arpa",
            &[
                ("1.2.3.10.in-addr.arpa", Rtype::PTR, "a.example.net"),
                ("2.3.10.in-addr.arpa", Rtype::PTR, "a.example.net"),
            ],
        )]);
        let target = name("a.example.net");
        let owners: Vec<String> =
            live.pointing_to(target.as_name()).map(|found| found.rrset.owner().to_string()).collect();
        assert_eq!(owners, ["1.2.3.10.in-addr.arpa."]);
    }
}
