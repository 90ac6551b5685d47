//! The keys of a zone to its contents. Pure.
//!
//! Source: CoreDNS, plugin `etcd`. A question for a name reads all keys below its path: what is below the name is answered with
//! it. The key at the path itself counts where there is none below it, and for reverse names, of which only that key is read.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::EtcdLayout;
use super::service::{EtcdService, KeyOwners, ServiceRecord};
use crate::dns::{
    ContentsError, Name, NameRef, Rdata, Rrset, Rtype, Ttl, ZoneBuilder, ZoneContents, ZoneName, reverse,
};
use crate::target::{Marker, OpaqueRecords, marker_key};

/// A key of etcd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdKey {
    /// The key.
    pub key: String,
    /// The revision of the whole etcd at which it was written last.
    pub mod_revision: i64,
    /// Whether it ends after a while without a request (lease).
    pub has_lease: bool,
    /// Its value.
    pub value: Vec<u8>,
}

/// A key that belongs to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedKey {
    /// The key.
    pub key: EtcdKey,
    /// The name.
    pub owner: Name,
    /// The record that it is, or what it is instead.
    pub record: Result<ServiceRecord, String>,
}

/// Keys of a zone as they were at one revision.
#[derive(Debug, Clone)]
pub struct ZoneKeys {
    /// The revision of the whole etcd.
    pub revision: i64,
    /// The keys of names.
    pub named: Vec<NamedKey>,
    /// The keys of no name.
    pub strange: Vec<EtcdKey>,
    /// The marker.
    pub marker: Option<EtcdKey>,
}

impl ZoneKeys {
    /// The keys of a zone and those of zonewright.
    pub fn read(layout: &EtcdLayout, keys: Vec<EtcdKey>, revision: i64, owners: KeyOwners<'_>) -> ZoneKeys {
        let marker = layout.marker();
        let mut all = ZoneKeys { revision, named: Vec::new(), strange: Vec::new(), marker: None };
        for key in keys {
            if key.key == marker {
                all.marker = Some(key);
            } else if !layout.is_own(&key.key) {
                match named(layout, key, owners) {
                    Ok(named) => all.named.push(named),
                    Err(key) => all.strange.push(key),
                }
            }
        }
        all
    }

    /// Adds keys that were read later. Those of a name below another one may come twice.
    pub fn add(&mut self, later: ZoneKeys) {
        let ZoneKeys { revision, named, strange, marker } = later;
        (self.revision, self.marker) = (revision, marker);
        self.named.extend(named);
        self.strange.extend(strange);
    }

    /// Drops what came twice.
    pub fn drop_repeats(&mut self) {
        let mut known: BTreeSet<String> = BTreeSet::new();
        self.named.retain(|own| known.insert(own.key.key.clone()));
    }

    /// What the zone holds, with what no RRset says.
    ///
    /// Errors: of more records than a zone can have.
    pub fn contents(&self, zone: &ZoneName) -> Result<(ZoneContents, Vec<OpaqueRecords>), ContentsError> {
        let mut builder = ZoneBuilder::new(zone.clone());
        builder.push(zone.as_name(), Rtype::SOA, soa_ttl(), self.soa(zone).as_octets())?;
        if let Some((key, rrset)) = self.marker_rrset(zone) {
            for rdata in rrset.rdata() {
                builder.push(key.as_name(), Rtype::TXT, rrset.ttl(), rdata.as_octets())?;
            }
        }
        let of_no_name = |key| OpaqueRecords { owner: zone.as_name().to_name(), what: of_no_name(key) };
        let mut opaque: Vec<OpaqueRecords> = self.strange.iter().map(of_no_name).collect();
        let shadows = self.shadows(zone);
        for (owner, keys) in self.by_owner() {
            opaque.extend(opaque_at(&owner, &keys, &shadows));
            for own in keys {
                if let Ok(ServiceRecord { rtype, ttl, rdata, mark }) = &own.record {
                    builder.push(owner.as_name(), *rtype, *ttl, rdata.as_octets())?;
                    if let Some(mark) = mark {
                        builder.mark(owner.as_name(), *rtype, mark.clone());
                    }
                }
            }
        }
        opaque.sort_unstable();
        opaque.dedup();
        Ok((builder.finish()?, opaque))
    }

    /// The keys by their names.
    fn by_owner(&self) -> BTreeMap<Name, Vec<&NamedKey>> {
        let mut by_owner: BTreeMap<Name, Vec<&NamedKey>> = BTreeMap::new();
        for own in &self.named {
            by_owner.entry(own.owner.clone()).or_default().push(own);
        }
        by_owner
    }

    /// The names with keys below them that CoreDNS answers together with theirs.
    fn shadows(&self, zone: &ZoneName) -> BTreeSet<Name> {
        let owners: BTreeSet<&Name> = self.named.iter().map(|own| &own.owner).collect();
        let apex = zone.as_name();
        let above = |owner: &&Name| -> Vec<Name> {
            let ancestors = owner.as_name().ancestors().skip(1).take_while(|name| *name != apex);
            ancestors.map(NameRef::to_name).collect()
        };
        let above: BTreeSet<Name> = owners.iter().flat_map(above).collect();
        above.into_iter().filter(|name| owners.contains(name) && !is_reverse(name.as_name())).collect()
    }

    /// The RRset of the marker, with its name.
    fn marker_rrset(&self, zone: &ZoneName) -> Option<(Name, Rrset)> {
        let text = String::from_utf8(self.marker.as_ref()?.value.clone()).ok()?;
        let key = marker_key(zone)?;
        let rrset = match Marker::parse(&text) {
            Some(marker) => marker.to_rrset(),
            None => Rrset::new(Ttl::from_secs(0)?, vec![Rdata::from_long_text(text.as_bytes())])?,
        };
        Some((key.owner.as_name().to_name(), rrset))
    }

    /// The SOA that CoreDNS would make, but for the serial: that is the revision.
    fn soa(&self, zone: &ZoneName) -> Rdata {
        let name = |label: &[u8], below: NameRef<'_>| Name::prepend(label, below).unwrap_or_else(|_| below.to_name());
        let dns = name(b"dns", zone.as_name());
        let (server, person) = (name(b"ns", dns.as_name()), name(b"hostmaster", zone.as_name()));
        Rdata::of_soa(server.as_name(), person.as_name(), [self.revision as u32, 7200, 1800, 86400, NEGATIVE_TTL])
    }
}

/// How long CoreDNS lets caches keep that there is nothing, in seconds.
const NEGATIVE_TTL: u32 = 30;

/// What a key of no name is, as a part of a sentence.
pub fn of_no_name(key: &EtcdKey) -> String {
    format!("the key `{}`, which is of no name", key.key)
}

/// A key with its name and its record; the key itself where it is of no name.
fn named(layout: &EtcdLayout, key: EtcdKey, owners: KeyOwners<'_>) -> Result<NamedKey, EtcdKey> {
    let service: Option<EtcdService> = serde_json::from_slice(&key.value).ok();
    let strip = service.as_ref().map_or(0, |service| service.targetstrip);
    let Some(owner) = layout.owner(&key.key, strip) else { return Err(key) };
    let is_whole_path = strip == 0 && is_reverse(owner.as_name());
    let record = match &service {
        _ if key.has_lease => Err("a key with a lease".to_owned()),
        None => Err("a key whose value CoreDNS cannot read".to_owned()),
        // CoreDNS reads it only while there is no key below the path.
        Some(_) if strip == 0 && !is_whole_path => Err("a key at the path of its name".to_owned()),
        Some(service) => service.record(is_whole_path, owners),
    };
    Ok(NamedKey { key, owner, record })
}

/// Whether a name is one of reverse mapping, of which CoreDNS reads the one key alone.
pub fn is_reverse(name: NameRef<'_>) -> bool {
    reverse::address_of(name).is_some()
}

/// What is at a name that no RRset says.
fn opaque_at(owner: &Name, keys: &[&NamedKey], shadows: &BTreeSet<Name>) -> Vec<OpaqueRecords> {
    let opaque = |what: String| OpaqueRecords { owner: owner.clone(), what };
    let mut found: Vec<OpaqueRecords> =
        keys.iter().filter_map(|own| own.record.as_ref().err().cloned().map(opaque)).collect();
    let records = || keys.iter().filter_map(|own| own.record.as_ref().ok());
    let rtypes: BTreeSet<Rtype> = records().map(|record| record.rtype).collect();
    for rtype in rtypes {
        let ttls: BTreeSet<u32> =
            records().filter(|record| record.rtype == rtype).map(|record| record.ttl.as_secs()).collect();
        if ttls.len() > 1 {
            found.push(opaque(format!("{rtype} keys with different TTLs")));
        }
        let mut marks = records().filter(|record| record.rtype == rtype).map(|record| &record.mark);
        let first = marks.next();
        if marks.any(|mark| Some(mark) != first) {
            found.push(opaque(format!("{rtype} keys of different owners")));
        }
    }
    if shadows.contains(owner) {
        found.push(opaque("names below it that CoreDNS answers together with it".to_owned()));
    }
    found
}

/// The TTL of the SOA that CoreDNS makes.
fn soa_ttl() -> Ttl {
    Ttl::from_secs(300).expect("a small TTL")
}
