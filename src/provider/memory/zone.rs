//! One zone in memory, which can be changed RRset by RRset.
//!
//! Comes in: a zone's contents. Goes out: its RRsets, by owner name and type. Each look and each change costs at most a
//! search in a tree.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::dns::{Name, NameRef, Rdata, RdataRef, Rrset, Rtype, Serial, ZoneContents, ZoneName};

/// The longest name, in octets (RFC 1035 section 2.3.4).
const MAX_NAME: usize = 255;

/// The place of the serial in the RDATA of a SOA, from its end: it is the first of five numbers (RFC 1035 section
/// 3.3.13).
const SERIAL_FROM_END: usize = 20;

/// The records of one zone; there is always a SOA.
#[derive(Debug, Clone)]
pub struct MemoryZone {
    /// The zone.
    apex: ZoneName,
    /// The RRsets at each name that has any.
    names: BTreeMap<Box<[u8]>, NameNode>,
}

/// The RRsets at one name.
#[derive(Debug, Clone)]
struct NameNode {
    /// The name.
    name: Name,
    /// Its RRsets, sorted by type; never empty.
    rrsets: Vec<(Rtype, Rrset)>,
}

/// A name with its labels from right to left, so that all names below another begin with its octets.
struct NameKey {
    /// Labels, each behind its length.
    octets: [u8; MAX_NAME],
    /// Where in `octets` they begin.
    from: usize,
}

impl NameKey {
    /// The key of a name.
    fn of(name: NameRef<'_>) -> NameKey {
        let mut key = NameKey { octets: [0; MAX_NAME], from: MAX_NAME };
        for label in name.labels() {
            key.from -= 1 + label.len();
            key.octets[key.from] = label.len() as u8;
            key.octets[key.from + 1..key.from + 1 + label.len()].copy_from_slice(label);
        }
        key
    }

    /// Its octets.
    fn octets(&self) -> &[u8] {
        &self.octets[self.from..]
    }
}

impl MemoryZone {
    /// A zone that holds this.
    pub fn of(contents: &ZoneContents) -> MemoryZone {
        let mut zone = MemoryZone { apex: contents.apex().clone(), names: BTreeMap::new() };
        for rrset in contents.rrsets() {
            zone.put(rrset.owner().as_name(), rrset.rtype(), Some(rrset.to_rrset()));
        }
        zone
    }

    /// The zone.
    pub fn apex(&self) -> &ZoneName {
        &self.apex
    }

    /// The serial of the SOA.
    pub fn serial(&self) -> Serial {
        let soa = self.soa().as_rdata(Rtype::SOA);
        soa.serial().expect("the SOA of a zone has a serial")
    }

    /// The SOA record.
    fn soa(&self) -> &Rdata {
        &self.rrset(self.apex.as_name(), Rtype::SOA).expect("a zone has a SOA").rdata()[0]
    }

    /// One RRset.
    pub fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<&Rrset> {
        let rrsets = &self.node(name)?.rrsets;
        let place = rrsets.binary_search_by_key(&rtype, |(rtype, _)| *rtype).ok()?;
        Some(&rrsets[place].1)
    }

    /// The RRsets at a name, sorted by type.
    pub fn at(&self, name: NameRef<'_>) -> impl Iterator<Item = (Rtype, &Rrset)> {
        let rrsets = self.node(name).map_or(&[][..], |node| &node.rrsets);
        rrsets.iter().map(|(rtype, rrset)| (*rtype, rrset))
    }

    /// Whether any RRset is at a name: an empty non-terminal is not in use.
    ///
    /// Source: RFC 2136 section 2.4.4.
    pub fn is_in_use(&self, name: NameRef<'_>) -> bool {
        self.node(name).is_some()
    }

    /// Whether any RRset is at a name or below it.
    ///
    /// Source: RFC 4592 section 2.2.2.
    pub fn exists(&self, name: NameRef<'_>) -> bool {
        let key = NameKey::of(name);
        let next = self.names.range::<[u8], _>((Bound::Included(key.octets()), Bound::Unbounded)).next();
        next.is_some_and(|(found, _)| found.starts_with(key.octets()))
    }

    /// All RRsets, the SOA among them: by name, a name before those below it, then by type.
    pub fn rrsets(&self) -> impl Iterator<Item = (NameRef<'_>, Rtype, &Rrset)> {
        self.names.values().flat_map(|node| {
            let name = node.name.as_name();
            node.rrsets.iter().map(move |(rtype, rrset)| (name, *rtype, rrset))
        })
    }

    /// Replaces or deletes an RRset; returns the old one.
    pub(super) fn put(&mut self, name: NameRef<'_>, rtype: Rtype, rrset: Option<Rrset>) -> Option<Rrset> {
        let key = NameKey::of(name);
        let Some(node) = self.names.get_mut(key.octets()) else {
            let node = rrset.map(|rrset| NameNode { name: name.to_name(), rrsets: vec![(rtype, rrset)] });
            self.names.extend(node.map(|node| (key.octets().into(), node)));
            return None;
        };
        let place = node.rrsets.binary_search_by_key(&rtype, |(rtype, _)| *rtype);
        let before = match (place, rrset) {
            (Ok(place), Some(rrset)) => Some(std::mem::replace(&mut node.rrsets[place].1, rrset)),
            (Ok(place), None) => Some(node.rrsets.remove(place).1),
            (Err(place), Some(rrset)) => {
                node.rrsets.insert(place, (rtype, rrset));
                None
            }
            (Err(_), None) => None,
        };
        if node.rrsets.is_empty() {
            self.names.remove(key.octets());
        }
        before
    }

    /// The SOA's RRset with another serial.
    pub(super) fn soa_with(&self, serial: Serial) -> Rrset {
        let mut octets = self.soa().as_octets().to_vec();
        let start = octets.len() - SERIAL_FROM_END;
        octets[start..start + 4].copy_from_slice(&serial.into_int().to_be_bytes());
        let ttl = self.rrset(self.apex.as_name(), Rtype::SOA).expect("a zone has a SOA").ttl();
        let rdata = RdataRef { rtype: Rtype::SOA, octets: &octets }.to_rdata();
        Rrset::new(ttl, vec![rdata]).expect("one record")
    }

    /// The RRsets at a name.
    fn node(&self, name: NameRef<'_>) -> Option<&NameNode> {
        self.names.get(NameKey::of(name).octets())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::memory::testing::{name, zone};

    #[test]
    fn a_name_exists_where_something_stands_below_it_and_is_in_use_where_something_stands_there() {
        let zone = zone("a.b A 192.0.2.1\nlong.label A 192.0.2.1\n");
        let found = |text: &str| (zone.is_in_use(name(text).as_name()), zone.exists(name(text).as_name()));
        assert_eq!(found("example.net"), (true, true));
        assert_eq!(found("a.b.example.net"), (true, true));
        assert_eq!(found("b.example.net"), (false, true));
        assert_eq!(found("x.b.example.net"), (false, false));
        // A label that another begins with is not a name above it.
        assert_eq!(found("lab.example.net"), (false, false));
        assert_eq!(found("label.example.net"), (false, true));
        assert_eq!(found("net"), (false, true));
    }

    #[test]
    fn rrsets_come_name_by_name_and_type_by_type() {
        let zone = zone("b TXT \"x\"\nb A 192.0.2.1\nb A 192.0.2.2\na.b A 192.0.2.1\nc A 192.0.2.1\n");
        let shown: Vec<String> =
            zone.rrsets().map(|(name, rtype, rrset)| format!("{name} {rtype} {}", rrset.rdata().len())).collect();
        let expected = ["example.net. NS 1", "example.net. SOA 1", "b.example.net. A 2", "b.example.net. TXT 1"];
        assert_eq!(shown, [&expected[..], &["a.b.example.net. A 1", "c.example.net. A 1"]].concat());
        assert_eq!(zone.at(name("b.example.net").as_name()).count(), 2);
        assert_eq!(zone.serial(), Serial(1));
    }

    #[test]
    fn what_is_put_takes_the_place_of_what_stood_there() {
        let mut zone = zone("a A 192.0.2.1\n");
        let (name, rrset) = (name("a.example.net"), zone.rrset(name("a.example.net").as_name(), Rtype::A).cloned());
        assert_eq!(zone.put(name.as_name(), Rtype::TXT, None), None);
        assert_eq!(zone.put(name.as_name(), Rtype::A, None), rrset);
        assert!(!zone.is_in_use(name.as_name()));
        assert_eq!(zone.put(name.as_name(), Rtype::A, rrset.clone()), None);
        assert_eq!(zone.rrset(name.as_name(), Rtype::A), rrset.as_ref());
    }
}
