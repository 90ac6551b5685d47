//! How a primary handles an update: checks, prerequisites, then one instruction after another; all of it or nothing.
//!
//! Comes in: a zone and an update. Goes out: the zone after it, and the answer to its sender. Where RFC 2136 leaves
//! something open, this does what BIND 9.18 does; [`PrimaryQuirks`] has a switch for what other servers do differently.
//!
//! Source: RFC 2136 section 3.

use std::collections::BTreeMap;

use domain::base::iana::Rcode;

use super::hosts::is_host_data;
use super::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};
use super::zone::MemoryZone;
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, Serial, Ttl, is_zone_data};

/// What servers do otherwise than the RFC says; by default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrimaryQuirks {
    /// PowerDNS: refuses a whole update that puts a CNAME next to other data, or other data next to a CNAME, instead of
    /// ignoring the new record.
    pub refuses_cname_clash: bool,
    /// Knot: ignores a record that is there already with another TTL.
    pub ignores_ttl_change: bool,
    /// PowerDNS: does all deletions before all additions, regardless of the order in the update.
    pub adds_after_deletes: bool,
    /// BIND (`max-records-per-type`, 100): fails where an RRset would have more records than this.
    pub max_records: Option<usize>,
    /// BIND (`check-names`): refuses an update with an address, mail exchange or pointer at or to what is not a name of
    /// a host.
    pub checks_names: bool,
    /// BIND, PowerDNS: policies that ignore instructions for these names in silence.
    pub ignores_names: Vec<Name>,
    /// How the serial changes.
    pub serial: SerialStep,
}

/// How the serial of a zone with changed contents changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerialStep {
    /// It grows by so much: BIND's `increment` by one, its other methods and Knot's and PowerDNS's dates by more.
    By(u32),
    /// It stays, as for all updates of one batch but the last (Knot).
    Unmoved,
}

impl Default for SerialStep {
    /// By one (section 3.6).
    fn default() -> SerialStep {
        SerialStep::By(1)
    }
}

/// The change of one RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetDifference {
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// What was there; never equal to what is there now.
    pub before: Option<Rrset>,
    /// What is there now.
    pub after: Option<Rrset>,
}

/// Does an update, whole or not at all; returns the answer.
///
/// `NOTAUTH` where the update is for another zone.
pub fn execute(zone: &mut MemoryZone, message: &UpdateMessage, quirks: &PrimaryQuirks) -> Rcode {
    carry_out(zone, message, quirks).err().unwrap_or(Rcode::NOERROR)
}

/// Does an update; returns what it changed, sorted by name and type, including the SOA where the serial changed.
///
/// Errors: the answer; nothing was changed then.
pub fn carry_out(
    zone: &mut MemoryZone,
    message: &UpdateMessage,
    quirks: &PrimaryQuirks,
) -> Result<Vec<RrsetDifference>, Rcode> {
    if message.zone != *zone.apex() {
        return Err(Rcode::NOTAUTH);
    }
    check_prerequisites(zone, &message.prerequisites)?;
    message.instructions.iter().try_for_each(|instruction| check(zone, instruction, quirks))?;
    let mut work = UpdateWork { zone, quirks, before: BTreeMap::new() };
    let (added, deleted): (Vec<_>, Vec<_>) =
        message.instructions.iter().partition(|instruction| matches!(instruction, UpdateInstruction::Add(..)));
    let done = if quirks.adds_after_deletes {
        deleted.into_iter().chain(added).try_for_each(|instruction| work.follow(instruction))
    } else {
        message.instructions.iter().try_for_each(|instruction| work.follow(instruction))
    };
    match done {
        Ok(()) => Ok(work.finish()),
        Err(rcode) => {
            work.take_back();
            Err(rcode)
        }
    }
}

/// Whether all prerequisites hold; those that give values are compared after all others.
///
/// Source: RFC 2136 section 3.2.5.
fn check_prerequisites(zone: &MemoryZone, prerequisites: &[UpdatePrerequisite]) -> Result<(), Rcode> {
    let mut values: BTreeMap<(&Name, Rtype), Vec<Rdata>> = BTreeMap::new();
    for prerequisite in prerequisites {
        let (name, rcode, holds) = match prerequisite {
            UpdatePrerequisite::InUse(name) => (name, Rcode::NXDOMAIN, zone.is_in_use(name.as_name())),
            UpdatePrerequisite::NotInUse(name) => (name, Rcode::YXDOMAIN, !zone.is_in_use(name.as_name())),
            UpdatePrerequisite::Exists(name, rtype) => {
                (name, Rcode::NXRRSET, zone.rrset(name.as_name(), *rtype).is_some())
            }
            UpdatePrerequisite::Absent(name, rtype) => {
                (name, Rcode::YXRRSET, zone.rrset(name.as_name(), *rtype).is_none())
            }
            UpdatePrerequisite::Holds(name, rtype, rdata) => {
                values.entry((name, *rtype)).or_default().push(rdata.clone());
                (name, Rcode::NXRRSET, true)
            }
        };
        require(zone, name)?;
        if !holds {
            return Err(rcode);
        }
    }
    // A record that is named twice is one too many, as BIND counts.
    let is_held = |((name, rtype), mut rdata): ((&Name, Rtype), Vec<Rdata>)| {
        rdata.sort_unstable();
        zone.rrset(name.as_name(), rtype).is_some_and(|rrset| rrset.rdata() == rdata)
    };
    if values.into_iter().all(is_held) { Ok(()) } else { Err(Rcode::NXRRSET) }
}

/// Whether a name is in the zone.
fn require(zone: &MemoryZone, name: &Name) -> Result<(), Rcode> {
    if name.as_name().is_at_or_below(zone.apex().as_name()) { Ok(()) } else { Err(Rcode::NOTZONE) }
}

/// Whether an instruction is valid, and accepted by the server.
///
/// Source: RFC 2136 section 3.4.1. BIND also refuses NSEC, NSEC3 and, except at the apex, RRSIG.
fn check(zone: &MemoryZone, instruction: &UpdateInstruction, quirks: &PrimaryQuirks) -> Result<(), Rcode> {
    let (name, rtype) = match instruction {
        UpdateInstruction::DeleteName(name) => return require(zone, name),
        UpdateInstruction::Add(name, rtype, ..)
        | UpdateInstruction::DeleteRrset(name, rtype)
        | UpdateInstruction::DeleteRecord(name, rtype, _) => (name, *rtype),
    };
    require(zone, name)?;
    if !is_zone_data(rtype) {
        return Err(Rcode::FORMERR);
    }
    if let UpdateInstruction::Add(_, _, _, rdata) = instruction
        && quirks.checks_names
        && !is_host_data(name.as_name(), rdata.as_rdata(rtype))
    {
        return Err(Rcode::REFUSED);
    }
    let is_apex = name.as_name() == zone.apex().as_name();
    match rtype {
        Rtype::NSEC | Rtype::NSEC3 => Err(Rcode::REFUSED),
        Rtype::RRSIG if !is_apex => Err(Rcode::REFUSED),
        _ => Ok(()),
    }
}

/// An update in progress.
struct UpdateWork<'z> {
    /// The zone.
    zone: &'z mut MemoryZone,
    /// What the server does otherwise.
    quirks: &'z PrimaryQuirks,
    /// What was at the place of each touched RRset.
    before: BTreeMap<(Name, Rtype), Option<Rrset>>,
}

impl UpdateWork<'_> {
    /// Follows one instruction.
    ///
    /// Source: RFC 2136 section 3.4.2.7.
    fn follow(&mut self, instruction: &UpdateInstruction) -> Result<(), Rcode> {
        let (UpdateInstruction::Add(name, ..)
        | UpdateInstruction::DeleteRrset(name, _)
        | UpdateInstruction::DeleteName(name)
        | UpdateInstruction::DeleteRecord(name, ..)) = instruction;
        if self.quirks.ignores_names.contains(name) {
            return Ok(());
        }
        match instruction {
            UpdateInstruction::Add(name, rtype, ttl, rdata) => self.add(name.as_name(), *rtype, *ttl, rdata)?,
            UpdateInstruction::DeleteRrset(name, rtype) => {
                if !(self.is_apex(name.as_name()) && is_kept(*rtype)) {
                    self.put(name.as_name(), *rtype, None);
                }
            }
            UpdateInstruction::DeleteName(name) => {
                let is_apex = self.is_apex(name.as_name());
                let types = self.zone.at(name.as_name()).map(|(rtype, _)| rtype);
                let gone: Vec<Rtype> = types.filter(|rtype| !(is_apex && is_kept(*rtype))).collect();
                gone.into_iter().for_each(|rtype| self.put(name.as_name(), rtype, None));
            }
            UpdateInstruction::DeleteRecord(name, rtype, rdata) => self.delete_record(name.as_name(), *rtype, rdata),
        }
        Ok(())
    }

    /// Adds a record, or ignores it.
    fn add(&mut self, name: NameRef<'_>, rtype: Rtype, ttl: Ttl, rdata: &Rdata) -> Result<(), Rcode> {
        if self.clashes(name, rtype) {
            return match (self.quirks.refuses_cname_clash, self.touched(name)) {
                (false, _) => Ok(()),
                (true, false) => Err(Rcode::REFUSED),
                // Both come in one update.
                (true, true) => Err(Rcode::FORMERR),
            };
        }
        if rtype == Rtype::SOA && !self.is_newer(name, rdata) || Self::is_misplaced(name, rtype) {
            return Ok(());
        }
        let standing = self.zone.rrset(name, rtype);
        let is_there = standing.is_some_and(|rrset| rrset.rdata().contains(rdata));
        if is_there && self.quirks.ignores_ttl_change {
            return Ok(());
        }
        let kept = standing.into_iter().flat_map(Rrset::rdata).filter(|old| !replaces(rtype, rdata, old));
        let all: Vec<Rdata> = kept.chain([rdata]).cloned().collect();
        let rrset = Rrset::new(ttl, all).expect("one record at least");
        if self.quirks.max_records.is_some_and(|max| !is_there && rrset.rdata().len() > max) {
            return Err(Rcode::SERVFAIL);
        }
        self.put(name, rtype, Some(rrset));
        Ok(())
    }

    /// Whether a CNAME would be next to other data (section 3.4.2.2); data for DNSSEC may be (RFC 4034 section 2.5).
    fn clashes(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        let is_allowed_with_cname = |rtype| matches!(rtype, Rtype::KEY | Rtype::RRSIG | Rtype::NSEC);
        match rtype {
            Rtype::CNAME => self.zone.at(name).any(|(other, _)| other != Rtype::CNAME && !is_allowed_with_cname(other)),
            _ => !is_allowed_with_cname(rtype) && self.zone.rrset(name, Rtype::CNAME).is_some(),
        }
    }

    /// Whether the update in progress touched a name already.
    fn touched(&self, name: NameRef<'_>) -> bool {
        let created = |((at, _), before): (&(Name, Rtype), &Option<Rrset>)| at.as_name() == name && before.is_none();
        self.before.iter().any(created)
    }

    /// Whether a SOA takes the place of that of the zone: its serial must be greater (section 3.4.2.2, RFC 1982).
    fn is_newer(&self, name: NameRef<'_>, rdata: &Rdata) -> bool {
        let serial = rdata.as_rdata(Rtype::SOA).serial();
        self.is_apex(name) && serial.is_some_and(|serial| serial > self.zone.serial())
    }

    /// Whether BIND ignores a record here: NS or DNAME at a wildcard. It adds NSEC3PARAM below the apex as any record.
    fn is_misplaced(name: NameRef<'_>, rtype: Rtype) -> bool {
        matches!(rtype, Rtype::NS | Rtype::DNAME) && name.is_wildcard()
    }

    /// Deletes a record; the SOA and the last NS of the apex stay (section 3.4.2.4).
    fn delete_record(&mut self, name: NameRef<'_>, rtype: Rtype, rdata: &Rdata) {
        let Some(standing) = self.zone.rrset(name, rtype) else { return };
        let is_last = standing.rdata().len() == 1;
        if self.is_apex(name) && (rtype == Rtype::SOA || rtype == Rtype::NS && is_last) {
            return;
        }
        let left: Vec<Rdata> = standing.rdata().iter().filter(|old| *old != rdata).cloned().collect();
        let left = Rrset::new(standing.ttl(), left);
        self.put(name, rtype, left);
    }

    /// Replaces an RRset, and keeps what was there first.
    fn put(&mut self, name: NameRef<'_>, rtype: Rtype, rrset: Option<Rrset>) {
        let before = self.zone.put(name, rtype, rrset);
        self.before.entry((name.to_name(), rtype)).or_insert(before);
    }

    /// Whether a name is the apex.
    fn is_apex(&self, name: NameRef<'_>) -> bool {
        name == self.zone.apex().as_name()
    }

    /// Takes everything back.
    fn take_back(self) {
        for ((name, rtype), before) in self.before {
            self.zone.put(name.as_name(), rtype, before);
        }
    }

    /// Ends: moves the serial where something changed; gives what did.
    fn finish(mut self) -> Vec<RrsetDifference> {
        self.delete_orphaned_ds();
        let rrset_at = |zone: &MemoryZone, name: &Name, rtype| zone.rrset(name.as_name(), rtype).cloned();
        let zone = &*self.zone;
        self.before.retain(|(name, rtype), before| zone.rrset(name.as_name(), *rtype) != before.as_ref());
        let apex = self.zone.apex().as_name().to_name();
        if !self.before.is_empty() && !self.before.contains_key(&(apex.clone(), Rtype::SOA)) {
            let soa = match self.quirks.serial {
                SerialStep::By(step) => Some(self.zone.soa_with(after(self.zone.serial(), step))),
                SerialStep::Unmoved => None,
            };
            soa.into_iter().for_each(|soa| self.put(apex.as_name(), Rtype::SOA, Some(soa)));
        }
        let UpdateWork { zone, before, .. } = self;
        let differences = before.into_iter().map(|((name, rtype), before)| {
            let after = rrset_at(zone, &name, rtype);
            RrsetDifference { name, rtype, before, after }
        });
        differences.collect()
    }

    /// Deletes the DS that the update left without NS at the same name, also at the apex, as BIND does.
    fn delete_orphaned_ds(&mut self) {
        let is_of_cut = |(_, rtype): &&(Name, Rtype)| matches!(*rtype, Rtype::NS | Rtype::DS);
        let names: Vec<Name> = self.before.keys().filter(is_of_cut).map(|(name, _)| name.clone()).collect();
        for name in names {
            let is_cut = self.zone.rrset(name.as_name(), Rtype::NS).is_some() && !self.is_apex(name.as_name());
            if !is_cut && self.zone.rrset(name.as_name(), Rtype::DS).is_some() {
                self.put(name.as_name(), Rtype::DS, None);
            }
        }
    }
}

/// Whether an RRset of this type stays at the apex despite any deletion there (section 3.4.2.3).
fn is_kept(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::SOA | Rtype::NS)
}

/// Whether a record replaces another of its type, instead of being added to it: where only one of the type is allowed,
/// or one WKS for an address and protocol (section 3.4.2.2).
fn replaces(rtype: Rtype, new: &Rdata, old: &Rdata) -> bool {
    match rtype {
        Rtype::CNAME | Rtype::DNAME | Rtype::SOA => true,
        Rtype::WKS => new.as_octets().get(..5) == old.as_octets().get(..5),
        _ => new == old,
    }
}

/// The serial so many steps after another. 0 is skipped, as some software treats it as no serial at all (RFC 2136
/// section 3.6 has no such rule, but BIND does it).
fn after(serial: Serial, step: u32) -> Serial {
    match serial.into_int().wrapping_add(step) {
        0 => Serial(1),
        next => Serial(next),
    }
}
