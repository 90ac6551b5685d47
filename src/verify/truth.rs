//! What a primary in memory holds and did, for tests.

use std::collections::BTreeSet;

use crate::dns::{Name, NameRef, RrKey, Rrset, Rtype, Ttl, ZoneBuilder, ZoneName};
use crate::plan::Plan;
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary::{LoggedUpdate, MemoryPrimary};
use crate::provider::memory::rules::RrsetDifference;
use crate::provider::memory::zone::MemoryZone;

/// A primary that holds what a plan saw, and keeps what it does.
pub fn primary(plan: &Plan) -> MemoryPrimary {
    let names: BTreeSet<&ZoneName> = plan.changes.iter().map(|change| &change.zone).collect();
    let before: Vec<(&RrKey, &Rrset)> =
        plan.changes.iter().filter_map(|change| Some((&change.key, change.kind.before()?))).collect();
    holding(&names.into_iter().cloned().collect::<Vec<_>>(), &before)
}

/// A primary of zones that hold these RRsets, and that keeps what it does.
pub fn holding(zones: &[ZoneName], rrsets: &[(&RrKey, &Rrset)]) -> MemoryPrimary {
    let zone = |name: &ZoneName| {
        let mut builder = ZoneBuilder::new(name.clone());
        builder.push(name.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        let inside = rrsets.iter().filter(|(key, _)| zone_of(zones, key.owner.as_name()) == *name);
        for (key, rrset) in inside {
            for rdata in rrset.rdata() {
                builder.push(key.owner.as_name(), key.rtype, rrset.ttl(), rdata.as_octets()).unwrap();
            }
        }
        MemoryZone::of(&builder.finish().unwrap())
    };
    MemoryPrimary::new(zones.iter().map(zone).collect::<Vec<_>>()).keeping_log()
}

/// A small generator of numbers (an LCG with the multiplier of Knuth's MMIX).
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below another.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// What is at an RRset's place.
pub fn standing(primary: &MemoryPrimary, key: &RrKey) -> Option<Rrset> {
    let zone = zone_of(&primary.zones(), key.owner.as_name());
    primary.with_zone(&zone, |zone| zone.rrset(key.owner.as_name(), key.rtype).cloned()).flatten()
}

/// The update by which another editor replaces or deletes an RRset, regardless of what is there.
pub fn edit(zones: &[ZoneName], key: &RrKey, rrset: Option<&Rrset>) -> UpdateMessage {
    let (name, rtype) = (key.owner.as_name().to_name(), key.rtype);
    let mut instructions = vec![UpdateInstruction::DeleteRrset(name.clone(), rtype)];
    for rdata in rrset.into_iter().flat_map(Rrset::rdata) {
        let ttl = rrset.map_or(Ttl::DEFAULT, Rrset::ttl);
        instructions.push(UpdateInstruction::Add(name.clone(), rtype, ttl, rdata.clone()));
    }
    UpdateMessage { zone: zone_of(zones, name.as_name()), prerequisites: Vec::new(), instructions }
}

/// Makes another editor replace or delete an RRset.
pub fn put(primary: &MemoryPrimary, key: &RrKey, rrset: Option<&Rrset>) {
    primary.update(&edit(&primary.zones(), key, rrset));
}

/// The updates that came over the network and took effect: what each changed, without the SOA.
pub fn made(primary: &MemoryPrimary) -> Vec<Vec<RrsetDifference>> {
    changed(primary, |logged| logged.is_delivered)
}

/// What another editor changed, update by update, without the SOA.
pub fn foreign(primary: &MemoryPrimary) -> Vec<Vec<RrsetDifference>> {
    changed(primary, |logged| !logged.is_delivered)
}

/// What the updates changed that a test picks.
fn changed(primary: &MemoryPrimary, picks: impl Fn(&LoggedUpdate) -> bool) -> Vec<Vec<RrsetDifference>> {
    let changed = |logged: &LoggedUpdate| {
        let mut differences = logged.outcome.clone().ok()?;
        differences.retain(|difference| difference.rtype != Rtype::SOA);
        Some(differences)
    };
    primary.with_log(|log| log.iter().filter(|logged| picks(logged)).filter_map(changed).collect())
}

/// Whether a name is that of a marker.
pub fn is_marker(name: &Name) -> bool {
    name.as_name().first_label() == Some(b"_zonewright")
}

/// The zone of a name: the lowest of those that contain it.
fn zone_of(zones: &[ZoneName], name: NameRef<'_>) -> ZoneName {
    let inside = zones.iter().filter(|zone| name.is_at_or_below(zone.as_name()));
    inside.max_by_key(|zone| zone.as_name().as_wire().len()).expect("the name is in a zone").clone()
}
