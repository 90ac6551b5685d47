//! What is at the apex of a zone that is made anew. Pure.

use serde::{Deserialize, Serialize};

use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl, ZoneBuilder, ZoneContents, ZoneName};

/// The SOA and the name servers of a zone that is made anew.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneApex {
    /// The primary, as the SOA names it.
    pub mname: Name,
    /// The name servers, sorted, each once; at least one.
    pub ns: Vec<Name>,
    /// The mailbox of the person responsible, with its first dot in place of the `@` (RFC 1035 section 3.3.13).
    pub rname: Name,
}

/// The TTL of both RRsets, in seconds.
const TTL: u64 = 3600;

/// The rest of the SOA: serial, refresh, retry, expire and minimum. Secondaries that miss a NOTIFY ask within an hour; a
/// name that is not there is asked for again after five minutes, since hosts come and go (RFC 2308 section 5).
const NUMBERS: [u32; 5] = [1, 3600, 600, 1_209_600, 300];

impl ZoneApex {
    /// The apex that CoreDNS answers for a zone in an etcd: its server is `ns.dns` below it. None where the zone's name is too
    /// long.
    pub fn below(zone: &ZoneName) -> Option<ZoneApex> {
        let mname = Name::prepend(b"dns", zone.as_name()).and_then(|dns| Name::prepend(b"ns", dns.as_name())).ok()?;
        let rname = Name::prepend(b"hostmaster", zone.as_name()).ok()?;
        Some(ZoneApex { ns: vec![mname.clone()], mname, rname })
    }

    /// The RRsets of a zone that has nothing else.
    pub fn rrsets(&self) -> [(Rtype, Rrset); 2] {
        let ttl = Ttl::from_secs(TTL).expect("a constant TTL");
        let soa = Rdata::of_soa(self.mname.as_name(), self.rname.as_name(), NUMBERS);
        let soa = Rrset::new(ttl, vec![soa]).expect("one record");
        let ns = self.ns.iter().map(|name| Rdata::from_name(name.as_name())).collect();
        [(Rtype::SOA, soa), (Rtype::NS, Rrset::new(ttl, ns).expect("a zone has a name server"))]
    }

    /// The contents of a zone that has nothing else.
    pub fn contents(&self, zone: &ZoneName) -> ZoneContents {
        let mut builder = ZoneBuilder::new(zone.clone());
        for (rtype, rrset) in self.rrsets() {
            for rdata in rrset.rdata() {
                let pushed = builder.push(zone.as_name(), rtype, rrset.ttl(), rdata.as_octets());
                pushed.expect("few records, at the apex");
            }
        }
        builder.finish().expect("there is a SOA")
    }

    /// The text of its master file.
    pub fn text(&self, zone: &ZoneName) -> String {
        let numbers = NUMBERS.map(|number| number.to_string()).join(" ");
        let soa = format!("{zone} {TTL} IN SOA {} {} {numbers}\n", self.mname, self.rname);
        let ns = self.ns.iter().map(|server| format!("{zone} {TTL} IN NS {server}\n"));
        std::iter::once(soa).chain(ns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_is_made_anew_has_a_soa_and_its_name_servers() {
        let name = |text: &str| Name::parse(text).unwrap();
        let (mname, rname) = (name("ns1.example.net"), name("hostmaster.example.net"));
        let apex = ZoneApex { mname, ns: vec![name("ns1.example.net"), name("ns2.example.net")], rname };
        let zone = ZoneName::new(name("new.example.net"));
        assert_eq!(
            apex.text(&zone),
            "new.example.net. 3600 IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300\n\
             new.example.net. 3600 IN NS ns1.example.net.\n\
             new.example.net. 3600 IN NS ns2.example.net.\n"
        );
        let contents = apex.contents(&zone);
        assert_eq!((contents.rrsets().count(), contents.serial().into_int()), (2, 1));
    }
}
