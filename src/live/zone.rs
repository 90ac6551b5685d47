//! One zone as it is live: its contents, and what in it is hidden.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::knowledge::ZoneKnowledge;
use super::{Apexes, ZoneIndex};
use crate::dns::{Name, NameRef, RrsetRef, Rtype, ZoneContents, ZoneName};
use crate::target::OpaqueRecords;

/// One configured zone.
#[derive(Debug)]
pub struct LiveZone {
    /// The zone.
    name: ZoneName,
    /// Its contents; none where it could not be read.
    contents: Option<ZoneContents>,
    /// What in it hides or is pointed to.
    structure: ZoneStructure,
    /// The names that it is known for; none where it was read whole.
    knowledge: Option<Box<ZoneKnowledge>>,
    /// Why it has no contents, where it has none.
    absence: ContentsAbsence,
}

/// Why a zone has no contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentsAbsence {
    /// It could not be read.
    Unread,
    /// It does not exist where it should, and cannot be made there.
    Missing,
    /// Nothing may be asked for in it.
    Closed,
}

/// What in a zone hides names, and which names it points to.
#[derive(Debug, Default)]
pub struct ZoneStructure {
    /// The owners of NS below the apex.
    cuts: HashSet<Name>,
    /// The owners of DNAME.
    dnames: HashSet<Name>,
    /// What is at names that no RRset says.
    opaque: HashMap<Name, OpaqueSite>,
    /// Whether no name may be below another, because its target answers with both.
    is_flat: bool,
    /// The names between the apex and another name, where it is flat, each with one that is below.
    above: HashMap<Name, Name>,
    /// Which names it points to.
    found: ZonePointers,
    /// Whether there is any CNAME or PTR.
    has_pointers: bool,
    /// How many records the largest RRset has.
    largest: usize,
}

impl ZoneStructure {
    /// That of a zone in which no name may be below another, or any.
    pub fn of(is_flat: bool) -> ZoneStructure {
        ZoneStructure { is_flat, ..ZoneStructure::default() }
    }

    /// Looks at an RRset of the zone with this apex; each is looked at once, in any order.
    pub fn note(&mut self, apex: NameRef<'_>, rrset: RrsetRef<'_>) {
        self.largest = self.largest.max(rrset.record_count());
        if self.is_flat {
            self.note_below(apex, &rrset.owner());
        }
        match rrset.rtype() {
            Rtype::CNAME | Rtype::PTR => self.has_pointers = true,
            Rtype::MX => {
                let targets = rrset.rdata().filter_map(|rdata| rdata.target());
                self.found.exchangers.extend(targets.map(NameRef::to_name));
            }
            Rtype::NS => {
                let targets = rrset.rdata().filter_map(|rdata| rdata.target());
                let owner = rrset.owner();
                self.found.name_servers.extend(targets.map(|target| (target.to_name(), owner.clone())));
                if owner.as_name() != apex {
                    self.cuts.insert(owner);
                }
            }
            Rtype::DNAME => {
                self.dnames.insert(rrset.owner());
            }
            _ => {}
        }
    }

    /// Notes that a name has data, for the names above it.
    fn note_below(&mut self, apex: NameRef<'_>, owner: &Name) {
        for above in between(apex, owner.as_name()) {
            self.above.entry(above).or_insert_with(|| owner.clone());
        }
    }

    /// Takes what the zone holds that no RRset says.
    pub fn note_opaque(&mut self, apex: NameRef<'_>, opaque: Vec<OpaqueRecords>) {
        for OpaqueRecords { owner, what } in opaque {
            if self.is_flat {
                self.note_below(apex, &owner);
            }
            self.opaque.entry(owner).or_default().0.push(what);
        }
    }
}

/// The names between an apex and a name.
pub fn between(apex: NameRef<'_>, name: NameRef<'_>) -> impl Iterator<Item = Name> {
    name.ancestors()
        .skip(1)
        .take_while(move |ancestor| *ancestor != apex)
        .map(NameRef::to_name)
        .collect::<Vec<_>>()
        .into_iter()
}

/// What is at a name that no RRset says: parts of sentences, each about one thing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OpaqueSite(Vec<String>);

impl fmt::Display for OpaqueSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" and "))
    }
}

/// Which names a zone points to.
#[derive(Debug, Default)]
pub struct ZonePointers {
    /// The targets of MX.
    pub exchangers: Vec<Name>,
    /// The targets of NS, each with the owner of the NS.
    pub name_servers: Vec<(Name, Name)>,
}

impl LiveZone {
    /// A zone that could not be read.
    pub fn unknown(name: ZoneName) -> LiveZone {
        LiveZone::without_contents(name, ContentsAbsence::Unread)
    }

    /// A zone that has no contents for rules.
    pub fn without_contents(name: ZoneName, absence: ContentsAbsence) -> LiveZone {
        LiveZone { name, contents: None, structure: ZoneStructure::default(), knowledge: None, absence }
    }

    /// Why it has no contents, where it has none.
    pub fn absence(&self) -> Option<ContentsAbsence> {
        self.contents.is_none().then_some(self.absence)
    }

    /// A zone that was read whole.
    pub fn known(contents: ZoneContents) -> LiveZone {
        let mut structure = ZoneStructure::default();
        contents.rrsets().for_each(|rrset| structure.note(contents.apex().as_name(), rrset));
        LiveZone::made_of(contents, structure)
    }

    /// The same zone, with what it holds that no RRset says.
    pub fn with_opaque(mut self, opaque: Vec<OpaqueRecords>) -> LiveZone {
        let apex = self.name.clone();
        self.structure.note_opaque(apex.as_name(), opaque);
        self
    }

    /// A zone that was read whole, of which every RRset was looked at.
    pub fn made_of(contents: ZoneContents, structure: ZoneStructure) -> LiveZone {
        let absence = ContentsAbsence::Unread;
        LiveZone { name: contents.apex().clone(), contents: Some(contents), structure, knowledge: None, absence }
    }

    /// A zone of which only the names asked for are known.
    pub fn asked(contents: ZoneContents, knowledge: ZoneKnowledge) -> LiveZone {
        LiveZone::known(contents).with_knowledge(knowledge)
    }

    /// The same zone, with only this knowledge.
    pub fn with_knowledge(mut self, knowledge: ZoneKnowledge) -> LiveZone {
        self.structure.cuts.extend(knowledge.cuts.iter().cloned());
        LiveZone { knowledge: Some(Box::new(knowledge)), ..self }
    }

    /// The zone's name.
    pub fn name(&self) -> &ZoneName {
        &self.name
    }

    /// What the zone is known for by answers alone; none where it was read whole, or not at all.
    pub fn knowledge(&self) -> Option<&ZoneKnowledge> {
        self.knowledge.as_deref()
    }

    /// The zone's contents; none where it could not be read.
    pub fn contents(&self) -> Option<&ZoneContents> {
        self.contents.as_ref()
    }

    /// Whether there is any CNAME or PTR in it.
    pub fn has_pointers(&self) -> bool {
        self.structure.has_pointers
    }

    /// How many records its largest RRset has.
    pub fn largest_rrset(&self) -> usize {
        self.structure.largest
    }

    /// The highest delegation at or above a name of this zone.
    pub fn cut_at_or_above(&self, name: NameRef<'_>) -> Option<Name> {
        if self.structure.cuts.is_empty() {
            return None;
        }
        let cuts = name.ancestors().filter(|ancestor| self.structure.cuts.contains(ancestor.as_wire()));
        cuts.last().map(NameRef::to_name)
    }

    /// The highest DNAME above a name of this zone.
    pub fn dname_above(&self, name: NameRef<'_>) -> Option<Name> {
        if self.structure.dnames.is_empty() {
            return None;
        }
        let above = name.ancestors().skip(1).filter(|ancestor| self.structure.dnames.contains(ancestor.as_wire()));
        above.last().map(NameRef::to_name)
    }

    /// What is at a name that no RRset says; none where there is nothing of that kind.
    pub fn opaque_at(&self, name: NameRef<'_>) -> Option<&OpaqueSite> {
        if self.structure.opaque.is_empty() { None } else { self.structure.opaque.get(name.as_wire()) }
    }

    /// Whether no name may be below another.
    pub fn is_flat(&self) -> bool {
        self.structure.is_flat
    }

    /// A name with data below this one; known where no name may be below another.
    pub fn below(&self, name: NameRef<'_>) -> Option<&Name> {
        self.structure.above.get(name.as_wire())
    }

    /// All that no RRset says, sorted.
    pub fn opaque(&self) -> Vec<OpaqueRecords> {
        let each = |(owner, site): (&Name, &OpaqueSite)| {
            let records = site.0.iter().map(|what| OpaqueRecords { owner: owner.clone(), what: what.clone() });
            records.collect::<Vec<_>>()
        };
        let mut all: Vec<OpaqueRecords> = self.structure.opaque.iter().flat_map(each).collect();
        all.sort_unstable();
        all
    }

    /// Whether there is any delegation or DNAME that could hide data of this zone.
    pub fn hides_any(&self) -> bool {
        !self.structure.cuts.is_empty() || !self.structure.dnames.is_empty()
    }

    /// Whether another copy of this zone has the same delegations and DNAME, so that it hides the same names, and the same
    /// at names that no RRset says.
    pub fn hides_as(&self, other: &LiveZone) -> bool {
        let (one, other) = (&self.structure, &other.structure);
        one.cuts == other.cuts
            && one.dnames == other.dnames
            && one.opaque == other.opaque
            && one.is_flat == other.is_flat
    }

    /// Whether data at a name of this zone is hidden by a delegation or a DNAME.
    pub fn hides(&self, name: NameRef<'_>) -> bool {
        self.cut_at_or_above(name).is_some() || self.dname_above(name).is_some()
    }

    /// Which names it points to.
    pub(super) fn pointers(&self) -> &ZonePointers {
        &self.structure.found
    }

    /// All live RRsets of a type whose names belong to this zone, which is number `own`.
    pub fn live_rrsets<'a>(
        &'a self,
        own: ZoneIndex,
        apexes: &'a Apexes,
        rtype: Rtype,
    ) -> impl Iterator<Item = RrsetRef<'a>> {
        let rrsets = self.contents.iter().flat_map(ZoneContents::rrsets).filter(move |rrset| rrset.rtype() == rtype);
        let (is_parent, hides_any) = (apexes.is_parent(own), self.hides_any());
        rrsets.filter(move |rrset| {
            let is_plain = !is_parent && !hides_any;
            is_plain || {
                let owner = rrset.owner();
                apexes.zone_of(owner.as_name()) == Some(own) && !self.hides(owner.as_name())
            }
        })
    }
}
