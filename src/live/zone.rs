//! One zone as it is live: its contents, and what in it is hidden.

use std::collections::HashSet;
use std::net::Ipv6Addr;

use xxhash_rust::xxh3::xxh3_64;

use super::asked::Knowledge;
use super::{Apexes, ZoneIndex};
use crate::dns::{Name, NameRef, RrsetRef, Rtype, ZoneContents, ZoneName, reverse};

/// One configured zone.
#[derive(Debug)]
pub struct LiveZone {
    /// The zone.
    name: ZoneName,
    /// Its contents; none where it could not be read.
    contents: Option<ZoneContents>,
    /// The owners of NS below the apex.
    cuts: HashSet<Name>,
    /// The owners of DNAME.
    dnames: HashSet<Name>,
    /// What the search indexes need, until they take it.
    found: Found,
    /// The names that it is known for; none where it was read whole.
    knowledge: Option<Box<Knowledge>>,
}

/// What one pass over a zone found for the search indexes.
#[derive(Debug, Default)]
pub struct Found {
    /// The hash of each address with the id of the live AAAA RRset that holds it.
    pub addresses: Vec<(u64, u32)>,
    /// The hash of each target with the id of the live PTR RRset that points to it.
    pub targets: Vec<(u64, u32)>,
    /// The targets of MX.
    pub exchangers: Vec<Name>,
    /// The targets of NS, each with the owner of the NS.
    pub name_servers: Vec<(Name, Name)>,
}

/// The hash of an address in the indexes.
pub fn address_hash(address: Ipv6Addr) -> u64 {
    xxh3_64(&address.octets())
}

/// The hash of a name in the indexes.
pub fn name_hash(name: NameRef<'_>) -> u64 {
    xxh3_64(name.as_wire())
}

impl LiveZone {
    /// A zone that could not be read.
    pub fn unknown(name: ZoneName) -> LiveZone {
        let (cuts, dnames) = Default::default();
        LiveZone { name, contents: None, cuts, dnames, found: Found::default(), knowledge: None }
    }

    /// A zone that was read whole; `apexes` says what of it belongs to other zones.
    pub fn known(contents: ZoneContents, apexes: &Apexes) -> LiveZone {
        LiveZone::unknown(contents.apex().clone()).with_contents(contents, apexes)
    }

    /// A zone of which some names were asked for, and no more is known.
    pub fn asked(contents: ZoneContents, apexes: &Apexes, knowledge: Knowledge) -> LiveZone {
        let mut zone = LiveZone::unknown(contents.apex().clone());
        zone.cuts.clone_from(&knowledge.cuts);
        zone.knowledge = Some(Box::new(knowledge));
        zone.with_contents(contents, apexes)
    }

    /// Looks through contents.
    fn with_contents(self, contents: ZoneContents, apexes: &Apexes) -> LiveZone {
        let mut zone = self;
        for rrset in contents.rrsets() {
            zone.note_structure(rrset);
        }
        let own = apexes.zone_of(zone.name.as_name());
        let has_children = apexes.has_child_of(zone.name.as_name());
        let mut found = std::mem::take(&mut zone.found);
        for rrset in contents.rrsets().filter(|rrset| matches!(rrset.rtype(), Rtype::AAAA | Rtype::PTR)) {
            let owner = rrset.owner();
            let foreign = has_children && apexes.zone_of(owner) != own;
            if !foreign && !zone.hides(owner) {
                note_values(rrset, &mut found);
            }
        }
        LiveZone { contents: Some(contents), found, ..zone }
    }

    /// Keeps cuts, DNAMEs, and the names that are pointed to.
    fn note_structure(&mut self, rrset: RrsetRef<'_>) {
        match rrset.rtype() {
            Rtype::MX => {
                let targets = rrset.rdata().filter_map(|rdata| rdata.target());
                self.found.exchangers.extend(targets.map(NameRef::to_name));
            }
            Rtype::NS => {
                let targets = rrset.rdata().filter_map(|rdata| rdata.target());
                let owner = rrset.owner();
                self.found.name_servers.extend(targets.map(|target| (target.to_name(), owner.to_name())));
                if owner != self.name.as_name() {
                    self.cuts.insert(owner.to_name());
                }
            }
            Rtype::DNAME => {
                self.dnames.insert(rrset.owner().to_name());
            }
            _ => {}
        }
    }

    /// The zone's name.
    pub fn name(&self) -> &ZoneName {
        &self.name
    }

    /// What the zone is known for by answers alone; none where it was read whole, or not at all.
    pub fn knowledge(&self) -> Option<&Knowledge> {
        self.knowledge.as_deref()
    }

    /// The zone's contents; none where it could not be read.
    pub fn contents(&self) -> Option<&ZoneContents> {
        self.contents.as_ref()
    }

    /// The highest delegation at or above a name of this zone.
    pub fn cut_at_or_above(&self, name: NameRef<'_>) -> Option<Name> {
        if self.cuts.is_empty() {
            return None;
        }
        let cuts = name.ancestors().filter(|ancestor| self.cuts.contains(ancestor.as_wire()));
        cuts.last().map(NameRef::to_name)
    }

    /// The highest DNAME above a name of this zone.
    pub fn dname_above(&self, name: NameRef<'_>) -> Option<Name> {
        if self.dnames.is_empty() {
            return None;
        }
        let above = name.ancestors().skip(1).filter(|ancestor| self.dnames.contains(ancestor.as_wire()));
        above.last().map(NameRef::to_name)
    }

    /// Whether data at a name of this zone is hidden by a delegation or a DNAME.
    pub fn hides(&self, name: NameRef<'_>) -> bool {
        self.cut_at_or_above(name).is_some() || self.dname_above(name).is_some()
    }

    /// Hands over what the indexes need.
    pub(super) fn take_found(&mut self) -> Found {
        std::mem::take(&mut self.found)
    }

    /// All live RRsets of a type whose names belong to this zone, which is number `own`.
    pub fn live_rrsets<'a>(
        &'a self,
        own: ZoneIndex,
        apexes: &'a Apexes,
        rtype: Rtype,
    ) -> impl Iterator<Item = RrsetRef<'a>> {
        let rrsets = self.contents.iter().flat_map(ZoneContents::rrsets).filter(move |rrset| rrset.rtype() == rtype);
        rrsets.filter(move |rrset| apexes.zone_of(rrset.owner()) == Some(own) && !self.hides(rrset.owner()))
    }
}

/// Adds the values of an AAAA or PTR RRset to what was found.
fn note_values(rrset: RrsetRef<'_>, found: &mut Found) {
    match rrset.rtype() {
        Rtype::AAAA => found.addresses.extend(rrset.rdata().map(|rdata| (xxh3_64(rdata.octets), rrset.id()))),
        _ if reverse::address_of(rrset.owner()).is_some() => {
            found.targets.extend(rrset.rdata().map(|rdata| (xxh3_64(rdata.octets), rrset.id())));
        }
        _ => {}
    }
}
