//! One zone as it is live: its contents, and what in it is hidden.

use std::collections::HashSet;

use super::asked::Knowledge;
use super::{Apexes, ZoneIndex};
use crate::dns::{Name, NameRef, RrsetRef, Rtype, ZoneContents, ZoneName};

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
    /// Which names it points to, until somebody takes them.
    found: Found,
    /// The names that it is known for; none where it was read whole.
    knowledge: Option<Box<Knowledge>>,
}

/// Which names a zone points to.
#[derive(Debug, Default)]
pub struct Found {
    /// The targets of MX.
    pub exchangers: Vec<Name>,
    /// The targets of NS, each with the owner of the NS.
    pub name_servers: Vec<(Name, Name)>,
}

impl LiveZone {
    /// A zone that could not be read.
    pub fn unknown(name: ZoneName) -> LiveZone {
        let (cuts, dnames) = Default::default();
        LiveZone { name, contents: None, cuts, dnames, found: Found::default(), knowledge: None }
    }

    /// A zone that was read whole.
    pub fn known(contents: ZoneContents) -> LiveZone {
        LiveZone::unknown(contents.apex().clone()).with_contents(contents)
    }

    /// A zone of which some names were asked for, and no more is known.
    pub fn asked(contents: ZoneContents, knowledge: Knowledge) -> LiveZone {
        let mut zone = LiveZone::unknown(contents.apex().clone());
        zone.cuts.clone_from(&knowledge.cuts);
        zone.knowledge = Some(Box::new(knowledge));
        zone.with_contents(contents)
    }

    /// Looks through contents.
    fn with_contents(self, contents: ZoneContents) -> LiveZone {
        let mut zone = self;
        for rrset in contents.rrsets() {
            zone.note_structure(rrset);
        }
        LiveZone { contents: Some(contents), ..zone }
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

    /// Hands over which names it points to.
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
