//! Checks the resulting zones: which rules of DNS changes would break, and which are broken already.
//!
//! Comes in: live DNS, the merged changes of a plan, and how many records an RRset may have. Goes out: the faults that
//! the changes cause, each with the changes that cause it, and the faults that were there before and stay. Live DNS is
//! not copied: the changes are a layer above it. Pure.
//!
//! | fault | caused by |
//! |---|---|
//! | a CNAME and other data at one name | the change that creates one of them |
//! | an RRset of too many records | the change that makes it larger |
//! | a PTR to a name that has no address or CNAME | the change that adds the PTR, or removes the address or CNAME |
//! | data at or below a delegation, or below a DNAME | the change that creates the data |
//! | data above or below other data, where the target answers with both | the change that creates the data |
//!
//! What a name holds is known where the name is in a zone that was read completely, and is not delegated or below a
//! DNAME; or where its zone was queried for this name. Elsewhere no PTR to it is a fault. A new name can keep a
//! wildcard from answering for another name. This is reported as a fault that no change causes: no change removed a
//! record of that name.
//!
//! Labels of the registry's TXT that are too long are not checked here: the rules block the host.

mod view;

pub mod words;

#[cfg(test)]
mod tests;

use crate::change::{Change, ChangeKind};
use crate::dns::{Name, NameRef, Rdata, Rrset, RrsetRef, Rtype, reverse};
use crate::live::{Live, NamePlace, ZoneIndex, between};
use view::LayeredView;

/// The result of the check.
#[derive(Debug, Default)]
pub struct FoundFaults<'a> {
    /// The faults that the changes cause, sorted by fault.
    pub caused: Vec<CausedFault<'a>>,
    /// The faults that were there before and that the changes do not fix, sorted.
    pub standing: Vec<ZoneFault<'a>>,
}

/// A fault with the changes that cause it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CausedFault<'a> {
    /// The fault.
    pub fault: ZoneFault<'a>,
    /// The places of the changes that cause it; never empty.
    pub by: Vec<usize>,
}

/// A rule of DNS that is broken at a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ZoneFault<'a> {
    /// The zone of the name.
    pub zone: ZoneIndex,
    /// How it is broken.
    pub kind: ZoneFaultKind<'a>,
    /// The owner name.
    pub owner: Name,
}

/// A name with data that a target answers together with another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum MixedName {
    /// It is above the other.
    Above(Name),
    /// It is below the other.
    Below(Name),
}

/// How a rule of DNS is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ZoneFaultKind<'a> {
    /// A CNAME is at the same name as RRsets of these types, sorted by number.
    CnameBeside(Vec<Rtype>),
    /// The RRset of this type has so many records.
    TooMany(Rtype, usize),
    /// The PTR names a name that has no address or CNAME.
    Dangling {
        /// That name.
        target: NameRef<'a>,
        /// Whether a change adds the PTR.
        is_new: bool,
    },
    /// The RRset of this type is created at or below this delegation.
    Delegated(Rtype, Name),
    /// The RRset of this type is created below this DNAME.
    BelowDname(Rtype, Name),
    /// The RRset of this type is created above or below this name with data, in a zone whose target answers with both.
    Mixed(Rtype, MixedName),
}

impl<'a> FoundFaults<'a> {
    /// Joins what was found in parts.
    pub fn join(parts: impl IntoIterator<Item = FoundFaults<'a>>) -> FoundFaults<'a> {
        let mut all = FoundFaults::default();
        for FoundFaults { caused, standing } in parts {
            all.caused.extend(caused);
            all.standing.extend(standing);
        }
        all.caused.sort_unstable();
        all.standing.sort_unstable();
        all
    }
}

/// What is compared. Its parts, the changes and each of the zones, can be checked in parallel.
pub struct PostCheck<'a> {
    /// The changes.
    changes: &'a [Change],
    /// The zones as they are.
    before: LayeredView<'a>,
    /// The zones as they would be.
    after: LayeredView<'a>,
    /// How many records an RRset may have.
    max_rrset: usize,
}

impl<'a> PostCheck<'a> {
    /// Puts `changes` over live DNS; an RRset may have `max_rrset` records. Each RRset has at most one change, whose
    /// `before` is live.
    pub fn new(live: &'a Live, changes: &'a [Change], max_rrset: usize) -> PostCheck<'a> {
        PostCheck { changes, before: LayeredView::new(live, &[]), after: LayeredView::new(live, changes), max_rrset }
    }

    /// Checks the names and RRsets of the changes.
    pub fn changes(&self) -> FoundFaults<'a> {
        let mut found = FoundFaults::default();
        for (place, change) in self.changes.iter().enumerate() {
            self.change(place, change, &mut found);
        }
        found
    }

    /// Checks the RRsets of a zone that no change is about.
    pub fn zone(&self, zone: ZoneIndex) -> FoundFaults<'a> {
        let mut found = FoundFaults::default();
        let live = self.after.live().zone(zone);
        // An RRset without a change can have no other fault.
        if live.has_pointers() || live.largest_rrset() > self.max_rrset {
            for rrset in live.contents().into_iter().flat_map(|contents| contents.rrsets()) {
                self.unchanged(zone, rrset, &mut found);
            }
        }
        found
    }

    /// Checks the RRset that a change is about.
    fn change(&self, place: usize, change: &'a Change, found: &mut FoundFaults<'a>) {
        let owner = change.key.owner.as_name();
        let live = self.after.live();
        let Some(zone) = live.zone_of(owner) else { return };
        // A CNAME with other data is checked once for each name, at its first change.
        let is_first = self.after.changes_at(owner).next().is_some_and(|(first, _)| first == place);
        if is_first && self.after.shows(zone, owner) {
            self.cname(zone, owner, found);
        }
        let Some(after) = change.kind.after() else { return };
        let rtype = change.key.rtype;
        let contents = live.zone(zone);
        // NS and DS at a delegation, and the addresses of its name servers, are this zone's own.
        let is_open = matches!(live.stated_place(owner, rtype), NamePlace::Open(_));
        let cut = contents.cut_at_or_above(owner).filter(|_| !is_open);
        let hidden = cut.map(|cut| ZoneFaultKind::Delegated(rtype, cut));
        let hidden =
            hidden.or_else(|| contents.dname_above(owner).map(|dname| ZoneFaultKind::BelowDname(rtype, dname)));
        if let Some(kind) = hidden {
            found.caused.push(CausedFault { fault: ZoneFault { zone, kind, owner: owner.to_name() }, by: vec![place] });
            return;
        }
        if let Some(kind) = self.mixed(zone, owner, rtype).filter(|_| change.kind.before().is_none()) {
            found.caused.push(CausedFault { fault: ZoneFault { zone, kind, owner: owner.to_name() }, by: vec![place] });
        }
        let had = change.kind.before().map_or(0, |before| before.rdata().len());
        let kind = ZoneFaultKind::TooMany(rtype, after.rdata().len());
        let fault = ZoneFault { zone, kind, owner: owner.to_name() };
        self.size(CausedFault { fault, by: vec![place] }, had, found);
        if rtype == Rtype::PTR && reverse::address_of(owner).is_some() {
            self.pointers(zone, place, change, found);
        }
    }

    /// The fault of an RRset that its target would mix with others; none where the zone is not flat. Of reverse names only the key itself
    /// is read.
    fn mixed(&self, zone: ZoneIndex, owner: NameRef<'a>, rtype: Rtype) -> Option<ZoneFaultKind<'a>> {
        let live = self.after.live().zone(zone);
        if !live.is_flat() || reverse::address_of(owner).is_some() {
            return None;
        }
        let above = between(live.name().as_name(), owner)
            .find(|name| self.after.has_data(zone, name.as_name()) || live.opaque_at(name.as_name()).is_some());
        let other = above.map(MixedName::Above).or_else(|| live.below(owner).cloned().map(MixedName::Below))?;
        Some(ZoneFaultKind::Mixed(rtype, other))
    }

    /// Checks the number of records of an RRset, a fault that a change may cause; it had `had` before.
    fn size(&self, caused: CausedFault<'a>, had: usize, found: &mut FoundFaults<'a>) {
        let ZoneFaultKind::TooMany(_, has) = caused.fault.kind else { return };
        if has > self.max_rrset {
            if has > had { found.caused.push(caused) } else { found.standing.push(caused.fault) }
        }
    }

    /// Checks the PTR that an RRset has after a change.
    fn pointers(&self, zone: ZoneIndex, place: usize, change: &'a Change, found: &mut FoundFaults<'a>) {
        let owner = change.key.owner.as_name();
        let had = |rdata: &Rdata| change.kind.before().is_some_and(|before| before.rdata().contains(rdata));
        for rdata in change.kind.after().into_iter().flat_map(Rrset::rdata) {
            let Some(target) = rdata.as_rdata(Rtype::PTR).target() else { continue };
            if self.after.leads_nowhere(target) {
                let adds = (!had(rdata)).then_some(place);
                let kind = ZoneFaultKind::Dangling { target, is_new: adds.is_some() };
                self.pointer(ZoneFault { zone, kind, owner: owner.to_name() }, adds, found);
            }
        }
    }

    /// Adds the fault of a PTR to a name that has no address or CNAME, with the changes that cause it. The change
    /// `adds` adds the PTR; without one it was there before.
    fn pointer(&self, fault: ZoneFault<'a>, adds: Option<usize>, found: &mut FoundFaults<'a>) {
        let ZoneFaultKind::Dangling { target, .. } = fault.kind else { return };
        let mut by: Vec<usize> = adds.into_iter().collect();
        if !self.before.leads_nowhere(target) {
            by.extend(self.after.taken_from(target));
        }
        if !by.is_empty() { found.caused.push(CausedFault { fault, by }) } else { found.standing.push(fault) }
    }

    /// Checks whether a name of a change would have a CNAME and other data.
    fn cname(&self, zone: ZoneIndex, owner: NameRef<'_>, found: &mut FoundFaults<'a>) {
        let Some(others) = self.after.beside_cname(zone, owner) else { return };
        let had = self.before.beside_cname(zone, owner);
        let is_new = |rtype: Rtype| match &had {
            Some(had) => others.contains(&rtype) && !had.contains(&rtype),
            None => others.contains(&rtype) || rtype == Rtype::CNAME,
        };
        let creates = |change: &Change| matches!(change.kind, ChangeKind::Create { .. }) && is_new(change.key.rtype);
        let causes = self.after.changes_at(owner).filter(|(_, change)| creates(change));
        let by: Vec<usize> = causes.map(|(place, _)| place).collect();
        let fault = ZoneFault { zone, kind: ZoneFaultKind::CnameBeside(others), owner: owner.to_name() };
        if !by.is_empty() { found.caused.push(CausedFault { fault, by }) } else { found.standing.push(fault) }
    }

    /// Checks a live RRset, unless a change is about it.
    fn unchanged(&self, zone: ZoneIndex, rrset: RrsetRef<'a>, found: &mut FoundFaults<'a>) {
        let rtype = rrset.rtype();
        let is_large = rrset.record_count() > self.max_rrset && !view::is_dnssec(rtype);
        if !is_large && !matches!(rtype, Rtype::CNAME | Rtype::PTR) {
            return;
        }
        // Nearly every PTR is correct, so this test comes before those of its own name.
        let mut targets = rrset.rdata().filter_map(|rdata| rdata.target());
        let is_answered = rtype == Rtype::PTR && self.after.live().is_answered(zone, rrset);
        if !is_large && is_answered && targets.all(|target| self.after.changes_at(target).next().is_none()) {
            return;
        }
        let lost = |target: &NameRef<'a>| rtype == Rtype::PTR && self.after.leads_nowhere(*target);
        let lost: Vec<NameRef<'a>> = rrset.rdata().filter_map(|rdata| rdata.target()).filter(lost).collect();
        if !is_large && rtype == Rtype::PTR && lost.is_empty() {
            return;
        }
        let owner = rrset.owner();
        let owner = owner.as_name();
        if !self.after.shows(zone, owner) {
            return;
        }
        if rtype == Rtype::CNAME && self.after.changes_at(owner).next().is_none() {
            self.cname(zone, owner, found);
        }
        if self.after.change_of(owner, rtype).is_some() {
            return;
        }
        if is_large {
            let kind = ZoneFaultKind::TooMany(rtype, rrset.record_count());
            found.standing.push(ZoneFault { zone, kind, owner: owner.to_name() });
        }
        if reverse::address_of(owner).is_some() {
            for target in lost {
                let kind = ZoneFaultKind::Dangling { target, is_new: false };
                self.pointer(ZoneFault { zone, kind, owner: owner.to_name() }, None, found);
            }
        }
    }
}
