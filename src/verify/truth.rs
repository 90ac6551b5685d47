//! What a primary in memory holds and did, for tests.

use std::collections::BTreeSet;

use crate::dns::{Name, NameRef, RdataRef, RrKey, Rrset, Rtype, Ttl, ZoneBuilder, ZoneName};
use crate::plan::Plan;
use crate::provider::memory::message::{Instruction, Message};
use crate::provider::memory::primary::{Logged, Primary};
use crate::provider::memory::rules::Difference;
use crate::provider::memory::zone::Zone;

/// A primary that holds what a plan saw, and keeps what it does.
pub fn primary(plan: &Plan) -> Primary {
    let names: BTreeSet<&ZoneName> = plan.changes.iter().map(|change| &change.zone).collect();
    let zone = |name: &&ZoneName| {
        let mut builder = ZoneBuilder::new((*name).clone());
        let soa = RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata();
        builder.push(name.as_name(), Rtype::SOA, Ttl::DEFAULT, soa.as_octets()).unwrap();
        for change in plan.changes.iter().filter(|change| change.zone == **name) {
            let (owner, rtype) = (change.key.owner.as_name(), change.key.rtype);
            let before = change.kind.before().into_iter();
            for (ttl, rdata) in before.flat_map(|rrset| rrset.rdata().iter().map(|rdata| (rrset.ttl(), rdata))) {
                builder.push(owner, rtype, ttl, rdata.as_octets()).unwrap();
            }
        }
        Zone::of(&builder.finish().unwrap())
    };
    Primary::new(names.iter().map(zone).collect::<Vec<_>>()).with_log()
}

/// What stands at an RRset's place.
pub fn standing(primary: &Primary, key: &RrKey) -> Option<Rrset> {
    let zone = zone_of(&primary.zones(), key.owner.as_name());
    primary.with_zone(&zone, |zone| zone.rrset(key.owner.as_name(), key.rtype).cloned()).flatten()
}

/// The update by which somebody puts an RRset in the place of another, or none, whatever stands there.
pub fn edit(zones: &[ZoneName], key: &RrKey, rrset: Option<&Rrset>) -> Message {
    let (name, rtype) = (key.owner.as_name().to_name(), key.rtype);
    let mut instructions = vec![Instruction::DeleteRrset(name.clone(), rtype)];
    for rdata in rrset.into_iter().flat_map(Rrset::rdata) {
        let ttl = rrset.map_or(Ttl::DEFAULT, Rrset::ttl);
        instructions.push(Instruction::Add(name.clone(), rtype, ttl, rdata.clone()));
    }
    Message { zone: zone_of(zones, name.as_name()), prerequisites: Vec::new(), instructions }
}

/// Lets somebody put an RRset in the place of another, or none.
pub fn put(primary: &Primary, key: &RrKey, rrset: Option<&Rrset>) {
    primary.update(&edit(&primary.zones(), key, rrset));
}

/// The updates that came over the network and took effect: what each changed, without the SOA.
pub fn made(primary: &Primary) -> Vec<Vec<Difference>> {
    changed(primary, |logged| logged.is_delivered)
}

/// What somebody else changed, update by update, without the SOA.
pub fn foreign(primary: &Primary) -> Vec<Vec<Difference>> {
    changed(primary, |logged| !logged.is_delivered)
}

/// What the updates changed that a test picks.
fn changed(primary: &Primary, picks: impl Fn(&Logged) -> bool) -> Vec<Vec<Difference>> {
    let picked = primary.log().into_iter().filter(|logged| picks(logged));
    let changed = picked.filter_map(|logged| {
        let mut differences = logged.outcome.ok()?;
        differences.retain(|difference| difference.rtype != Rtype::SOA);
        Some(differences)
    });
    changed.collect()
}

/// Whether a marker stands at a name.
pub fn is_marker(name: &Name) -> bool {
    name.as_name().first_label() == Some(b"_zonewright")
}

/// The zone of a name: of those that it lies in the lowest.
fn zone_of(zones: &[ZoneName], name: NameRef<'_>) -> ZoneName {
    let inside = zones.iter().filter(|zone| name.is_at_or_below(zone.as_name()));
    inside.max_by_key(|zone| zone.as_name().as_wire().len()).expect("the name lies in a zone").clone()
}
