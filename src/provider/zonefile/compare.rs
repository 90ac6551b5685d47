//! Whether a zone is the intended result of edits to another one.
//!
//! Comes in: the contents before and after, and the edits. Goes out: whether after is before with exactly these edits.
//! Pure.

use std::collections::HashSet;

use crate::dns::{RdataRef, Rtype, Ttl, ZoneContents};
use crate::target::RrsetEdit;

/// Whether `new` holds what `old` holds with the edits made, TTLs too, and a later serial.
pub fn is_edited(old: &ZoneContents, new: &ZoneContents, edits: &[RrsetEdit<'_>]) -> bool {
    let apex = old.apex().as_name();
    let labels = edits.iter().map(|edit| (edit.key.owner.as_name().labels_above(apex), edit.key.rtype));
    let edited: HashSet<_> = labels.collect();
    let others = |zone| records(zone).filter(|(owner, _, rdata)| !edited.contains(&(Some(*owner), rdata.rtype)));
    let is_made = |edit: &RrsetEdit<'_>| {
        let found = new.rrset(edit.key.owner.as_name(), edit.key.rtype);
        found.is_none_or(|rrset| rrset.has_one_ttl())
            && found.map(|rrset| rrset.to_rrset()).as_ref() == edit.kind.after()
    };
    others(old).eq(others(new)) && edits.iter().all(is_made) && soa(old) == soa(new) && new.serial() > old.serial()
}

/// All records but the SOA, with the labels of their owner names above the apex, in an order that depends on nothing
/// else.
fn records(zone: &ZoneContents) -> impl Iterator<Item = (&[u8], Ttl, RdataRef<'_>)> {
    let rrsets = zone.rrsets().filter(|rrset| rrset.rtype() != Rtype::SOA);
    rrsets.flat_map(|rrset| rrset.records().map(move |(ttl, rdata)| (rrset.labels(), ttl, rdata)))
}

/// The TTL of the SOA, and its data without the serial, which is the first of the five numbers at their end.
fn soa(zone: &ZoneContents) -> Vec<(Ttl, Vec<u8>)> {
    let soa = zone.rrset(zone.apex().as_name(), Rtype::SOA);
    let without_serial = |(ttl, rdata): (Ttl, RdataRef<'_>)| {
        let (names, numbers) = rdata.octets.split_at(rdata.octets.len() - 20);
        (ttl, [names, &numbers[4..]].concat())
    };
    soa.into_iter().flat_map(|rrset| rrset.records()).map(without_serial).collect()
}
