//! Zones and names for tests.

use super::zone::MemoryZone;
use crate::dns::{Name, ZoneName};
use crate::provider::parse_text;

/// A name.
pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// The zone `example.net.` with a SOA of serial 1, one NS, and these records, whose TTL is 60 where they say none.
pub fn zone(records: &str) -> MemoryZone {
    let apex = ZoneName::new(name("example.net"));
    let text = format!("$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\n{records}");
    MemoryZone::of(&parse_text(&apex, "zone", text.into_bytes()).unwrap())
}

/// All records of a zone but its SOA, one line each, as master files have them.
pub fn shown(zone: &MemoryZone) -> String {
    let lines =
        zone.rrsets().filter(|(_, rtype, _)| *rtype != crate::dns::Rtype::SOA).flat_map(|(name, rtype, rrset)| {
            let texts = rrset.rdata_texts(rtype).into_iter();
            texts.map(move |text| format!("{name} {} {rtype} {text}\n", rrset.ttl())).collect::<Vec<_>>()
        });
    lines.collect()
}
