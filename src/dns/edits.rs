//! A zone that changed record by record, as an incremental transfer lists it.
//!
//! Comes in: a zone, and records to remove and to add, in order. Goes out: the zone after these changes. A removed
//! record must have been there exactly so, and an added one must not: a server that says otherwise describes another
//! zone. Pure.

use std::collections::BTreeMap;

use domain::base::Rtype;
use xxhash_rust::xxh3::xxh3_64;

use super::contents::{RecordReplacement, ZoneContents};
use super::name::NameRef;
use super::record::{ArenaRecord, ContentsError};
use super::ttl::Ttl;

/// A record that is removed but was not there, or is added but was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditContradiction;

/// What identifies a record, sorted as a zone's contents are.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RecordIdentity {
    /// The hash of the owner name.
    hash: u64,
    /// The labels of the owner name above the apex.
    owner: Box<[u8]>,
    /// The type, as a number in network order.
    rtype: [u8; 2],
    /// The RDATA.
    rdata: Box<[u8]>,
}

/// A zone that is being changed.
#[derive(Debug)]
pub struct ZoneEdits<'a> {
    /// The zone as it was.
    base: &'a ZoneContents,
    /// The records that were removed or added; those that are there now with their TTL.
    now: BTreeMap<RecordIdentity, Option<Ttl>>,
    /// Whether a record was added whose owner is outside the zone.
    is_left: bool,
}

impl<'a> ZoneEdits<'a> {
    /// Starts with a zone.
    pub fn new(base: &'a ZoneContents) -> ZoneEdits<'a> {
        ZoneEdits { base, now: BTreeMap::new(), is_left: false }
    }

    /// The zone as it was.
    pub fn base(&self) -> &'a ZoneContents {
        self.base
    }

    /// Removes a record. `rdata` is uncompressed wire format with the names inside it in lower case.
    ///
    /// Errors: it is not there, or with another TTL.
    pub fn remove(
        &mut self,
        owner: NameRef<'_>,
        rtype: Rtype,
        ttl: Ttl,
        rdata: &[u8],
    ) -> Result<(), EditContradiction> {
        let now = self.ttl_now(owner, rtype, rdata).filter(|now| **now == Some(ttl)).ok_or(EditContradiction)?;
        *now = None;
        Ok(())
    }

    /// Adds a record, in the form that [`ZoneEdits::remove`] takes.
    ///
    /// Errors: it is there, with any TTL.
    pub fn add(&mut self, owner: NameRef<'_>, rtype: Rtype, ttl: Ttl, rdata: &[u8]) -> Result<(), EditContradiction> {
        let Some(now) = self.ttl_now(owner, rtype, rdata) else {
            self.is_left = true;
            return Ok(());
        };
        if now.is_some() {
            return Err(EditContradiction);
        }
        *now = Some(ttl);
        Ok(())
    }

    /// The zone as it is now.
    ///
    /// Errors: the result is not a zone.
    pub fn finish(self) -> Result<ZoneContents, ContentsError> {
        if self.is_left {
            return Err(ContentsError::OutOfZone);
        }
        let replacement = |(identity, ttl): (&RecordIdentity, &Option<Ttl>)| {
            let RecordIdentity { hash, owner, rtype, rdata } = identity;
            let number = self.base.number_of(*hash, (owner, *rtype, rdata));
            let mut octets = Vec::new();
            if let Some(ttl) = ttl {
                ArenaRecord { owner, rtype: *rtype, ttl: ttl.as_secs().to_be_bytes(), rdata }.append_to(&mut octets);
            }
            RecordReplacement {
                hash: *hash,
                number: number.unwrap_or_else(|there| there),
                is_there: number.is_ok(),
                octets,
            }
        };
        self.base.with_replacements(&self.now.iter().map(replacement).collect::<Vec<_>>())
    }

    /// The TTL that a record has now, to be changed: `Some(None)` for a record that is not there, `None` for one whose
    /// owner is not in the zone.
    fn ttl_now(&mut self, owner: NameRef<'_>, rtype: Rtype, rdata: &[u8]) -> Option<&mut Option<Ttl>> {
        let base = self.base;
        let in_base = || {
            let mut records = base.rrset(owner, rtype)?.records();
            records.find(|(_, found)| found.octets == rdata).map(|(ttl, _)| ttl)
        };
        let labels = owner.labels_above(base.apex().as_name())?;
        let identity = RecordIdentity {
            hash: xxh3_64(labels),
            owner: labels.into(),
            rtype: rtype.to_int().to_be_bytes(),
            rdata: rdata.into(),
        };
        Some(self.now.entry(identity).or_insert_with(in_base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, ZoneBuilder, ZoneName};

    /// The records of a test: owner and last octet of an AAAA, and the TTL.
    type Known = BTreeMap<(u8, u8), u64>;

    /// The owner of this number.
    fn owner(number: u8) -> Name {
        Name::parse(&format!("h{number}.example.net")).unwrap()
    }

    /// RDATA that end in this octet.
    fn rdata(last: u8) -> Vec<u8> {
        [&[0; 15][..], &[last]].concat()
    }

    /// A zone of these records.
    fn zone(records: &Known) -> ZoneContents {
        let apex = Name::parse("example.net").unwrap();
        let mut builder = ZoneBuilder::new(ZoneName::new(apex.clone()));
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        for ((number, last), ttl) in records {
            let ttl = Ttl::from_secs(*ttl).unwrap();
            builder.push(owner(*number).as_name(), Rtype::AAAA, ttl, &rdata(*last)).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_zone_after_any_edits_is_the_zone_that_they_lead_to() {
        let mut seed = 17_u64;
        let mut below = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % end
        };
        for _ in 0..200 {
            let mut records = Known::new();
            for _ in 0..below(30) {
                records.insert((below(6) as u8, below(3) as u8), 60 + below(2));
            }
            let base = zone(&records);
            let mut edits = ZoneEdits::new(&base);
            for _ in 0..below(60) {
                let (key, ttl) = ((below(6) as u8, below(3) as u8), 60 + below(2));
                let (name, wire, as_ttl) = (owner(key.0), rdata(key.1), Ttl::from_secs(ttl).unwrap());
                let is_removal = below(2) == 0;
                let outcome = if is_removal {
                    edits.remove(name.as_name(), Rtype::AAAA, as_ttl, &wire)
                } else {
                    edits.add(name.as_name(), Rtype::AAAA, as_ttl, &wire)
                };
                let fits = if is_removal { records.get(&key) == Some(&ttl) } else { !records.contains_key(&key) };
                assert_eq!(outcome.is_ok(), fits);
                match (fits, is_removal) {
                    (true, true) => drop(records.remove(&key)),
                    (true, false) => drop(records.insert(key, ttl)),
                    (false, _) => {}
                }
            }
            let (edited, built) = (edits.finish().unwrap(), zone(&records));
            assert_eq!((edited.octets(), edited.serial()), (built.octets(), built.serial()));
            let found = |zone: &ZoneContents, number| {
                zone.rrset(owner(number).as_name(), Rtype::AAAA).map(|rrset| rrset.to_rrset())
            };
            (0..6).for_each(|number| assert_eq!(found(&edited, number), found(&built, number)));
        }
    }

    #[test]
    fn a_zone_has_the_soa_that_edits_leave() {
        let base = zone(&Known::new());
        let soa = |serial: u8| [&[0; 2][..], &[0, 0, 0, serial], &[0; 16]].concat();
        let apex = base.apex().as_name();
        let mut edits = ZoneEdits::new(&base);
        edits.add(apex, Rtype::SOA, Ttl::DEFAULT, &soa(7)).unwrap();
        assert_eq!(edits.finish().err(), Some(ContentsError::TwoSoas));
        let mut edits = ZoneEdits::new(&base);
        edits.remove(apex, Rtype::SOA, Ttl::DEFAULT, &soa(0)).unwrap();
        edits.add(apex, Rtype::SOA, Ttl::DEFAULT, &soa(7)).unwrap();
        assert_eq!(edits.finish().unwrap().serial().into_int(), 7);
        let mut edits = ZoneEdits::new(&base);
        edits.add(owner(1).as_name(), Rtype::SOA, Ttl::DEFAULT, &soa(7)).unwrap();
        assert_eq!(edits.finish().err(), Some(ContentsError::StraySoa));
    }

    #[test]
    fn a_zone_that_loses_its_soa_is_none() {
        let base = zone(&Known::new());
        let mut edits = ZoneEdits::new(&base);
        edits.remove(base.apex().as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        assert_eq!(edits.finish().err(), Some(ContentsError::NoSoa));
        let mut edits = ZoneEdits::new(&base);
        let outside = Name::parse("example.org").unwrap();
        edits.add(outside.as_name(), Rtype::AAAA, Ttl::DEFAULT, &rdata(1)).unwrap();
        assert_eq!(edits.finish().err(), Some(ContentsError::OutOfZone));
    }
}
