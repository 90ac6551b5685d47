//! RDATA and RRsets.

use std::net::IpAddr;

use domain::base::{Rtype, Serial};

use super::mark::RrsetMark;
use super::name::{NameRef, OwnerName};
use super::ttl::Ttl;

/// The key of an RRset within its zone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RrKey {
    /// The owner name.
    pub owner: OwnerName,
    /// The type.
    pub rtype: Rtype,
}

/// RDATA of some type: uncompressed wire format, names inside it in lower case (RFC 4034 section 6.2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rdata(Box<[u8]>);

impl Rdata {
    /// The RDATA of an A or AAAA record.
    pub fn from_address(address: IpAddr) -> Rdata {
        match address {
            IpAddr::V4(v4) => Rdata(v4.octets().into()),
            IpAddr::V6(v6) => Rdata(v6.octets().into()),
        }
    }

    /// The RDATA of a SOA record: its names, then serial, refresh, retry, expire and minimum (RFC 1035 section 3.3.13).
    pub fn of_soa(mname: NameRef<'_>, rname: NameRef<'_>, numbers: [u32; 5]) -> Rdata {
        let numbers = numbers.map(u32::to_be_bytes);
        Rdata([mname.as_wire(), rname.as_wire(), numbers.as_flattened()].concat().into())
    }

    /// The RDATA of a record that holds one name: NS, CNAME, PTR.
    pub fn from_name(name: NameRef<'_>) -> Rdata {
        Rdata(name.as_wire().into())
    }

    /// The RDATA of an SRV record: priority, weight and port, then the name of the server (RFC 2782).
    pub fn of_srv(numbers: [u16; 3], server: NameRef<'_>) -> Rdata {
        let numbers = numbers.map(u16::to_be_bytes);
        Rdata([numbers.as_flattened(), server.as_wire()].concat().into())
    }

    /// The RDATA of a TXT record of one string; `None` where it is over 255 octets.
    pub fn from_text(text: &str) -> Option<Rdata> {
        let length = u8::try_from(text.len()).ok()?;
        Some(Rdata([&[length], text.as_bytes()].concat().into()))
    }

    /// Octets that are known to be canonical RDATA, as those inside a zone's arena are.
    pub(super) fn trusted(octets: &[u8]) -> Rdata {
        Rdata(octets.into())
    }

    /// The octets of the wire format.
    pub fn as_octets(&self) -> &[u8] {
        &self.0
    }

    /// Borrows the RDATA, with its type.
    pub fn as_rdata(&self, rtype: Rtype) -> RdataRef<'_> {
        RdataRef { rtype, octets: &self.0 }
    }
}

/// Borrowed RDATA with its type; displays as presentation format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RdataRef<'a> {
    /// The type.
    pub rtype: Rtype,
    /// Canonical wire format.
    pub octets: &'a [u8],
}

impl<'a> RdataRef<'a> {
    /// The address, where this is A or AAAA.
    pub fn address(self) -> Option<IpAddr> {
        match self.rtype {
            Rtype::A => <[u8; 4]>::try_from(self.octets).ok().map(IpAddr::from),
            Rtype::AAAA => <[u8; 16]>::try_from(self.octets).ok().map(IpAddr::from),
            _ => None,
        }
    }

    /// The name that this points to, where this is NS, CNAME, DNAME, PTR or MX.
    pub fn target(self) -> Option<NameRef<'a>> {
        match self.rtype {
            Rtype::NS | Rtype::CNAME | Rtype::DNAME | Rtype::PTR => Some(NameRef::trusted(self.octets)),
            Rtype::MX => self.octets.get(2..).map(NameRef::trusted),
            _ => None,
        }
    }

    /// The name of the server that this names, where this is NS, MX or SRV; none of the last two where it is the root,
    /// which says that there is no server (RFC 7505 section 3, RFC 2782).
    pub fn server(self) -> Option<NameRef<'a>> {
        let named = match self.rtype {
            Rtype::NS | Rtype::MX => self.target(),
            Rtype::SRV => self.octets.get(6..).map(NameRef::trusted),
            _ => None,
        };
        named.filter(|name| *name != NameRef::ROOT)
    }

    /// The serial, where this is SOA: the first of the five numbers at its end (RFC 1035 section 3.3.13).
    pub fn serial(self) -> Option<Serial> {
        let start = self.octets.len().checked_sub(20).filter(|_| self.rtype == Rtype::SOA)?;
        let octets = self.octets[start..start + 4].try_into().expect("four octets");
        Some(Serial(u32::from_be_bytes(octets)))
    }

    /// How long caches hold that a name does not exist, where this is a SOA with this TTL: the last of the five numbers at
    /// its end, or the TTL where that is less (RFC 2308 section 5).
    pub fn negative_ttl(self, ttl: Ttl) -> Option<Ttl> {
        let start = self.octets.len().checked_sub(4).filter(|_| self.rtype == Rtype::SOA)?;
        let octets = self.octets[start..].try_into().expect("four octets");
        Some(Ttl::from_wire(u32::from_be_bytes(octets)).min(ttl))
    }

    /// The character strings of a TXT record.
    pub fn strings(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = if self.rtype == Rtype::TXT { self.octets } else { &[] };
        std::iter::from_fn(move || {
            let (&length, after) = rest.split_first()?;
            let (string, after) = after.split_at_checked(length as usize)?;
            rest = after;
            Some(string)
        })
    }

    /// An owned copy.
    pub fn to_rdata(self) -> Rdata {
        Rdata::trusted(self.octets)
    }
}

/// An RRset's data: never empty, one TTL (RFC 2181 section 5.2), RDATA sorted by octets, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rrset {
    /// The TTL of all its records.
    ttl: Ttl,
    /// Sorted and unique.
    rdata: Vec<Rdata>,
    /// Whose it is, where its target keeps that with it.
    mark: Option<Box<RrsetMark>>,
}

impl Rrset {
    /// Sorts `rdata` and drops repeats; `None` where there is none.
    pub fn new(ttl: Ttl, mut rdata: Vec<Rdata>) -> Option<Rrset> {
        rdata.sort_unstable();
        rdata.dedup();
        (!rdata.is_empty()).then_some(Rrset { ttl, rdata, mark: None })
    }

    /// The same with this mark, or with none.
    pub fn marked(self, mark: Option<RrsetMark>) -> Rrset {
        Rrset { mark: mark.map(Box::new), ..self }
    }

    /// Whose it is, where its target keeps that with it.
    pub fn mark(&self) -> Option<&RrsetMark> {
        self.mark.as_deref()
    }

    /// Whether another one has the same records and TTL, whatever their marks are.
    pub fn has_records_of(&self, other: &Rrset) -> bool {
        self.ttl == other.ttl && self.rdata == other.rdata
    }

    /// The TTL.
    pub fn ttl(&self) -> Ttl {
        self.ttl
    }

    /// The RDATA, sorted by octets.
    pub fn rdata(&self) -> &[Rdata] {
        &self.rdata
    }

    /// The RDATA in presentation format, sorted as text.
    pub fn rdata_texts(&self, rtype: Rtype) -> Vec<String> {
        let mut texts: Vec<String> = self.rdata.iter().map(|rdata| rdata.as_rdata(rtype).to_string()).collect();
        texts.sort_unstable();
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_and_escaped() {
        let rdata = Rdata::from_text("a \"b\" \\ \u{1b}[31m").unwrap();
        let shown = rdata.as_rdata(Rtype::TXT).to_string();
        assert_eq!(shown, r#""a \"b\" \\ \027[31m""#);
        assert_eq!(Rdata::parse(Rtype::TXT, &shown), Some(rdata));
    }

    #[test]
    fn unknown_types_print_as_rfc_3597_says() {
        let rdata = Rdata::trusted(&[0, 255, 0]);
        assert_eq!(rdata.as_rdata(Rtype::from_int(65280)).to_string(), "\\# 3 00ff00");
    }

    #[test]
    fn rdata_texts_sort_as_text() {
        let addresses = ["2a02::10", "2a02::9", "2a02::9"];
        let rdata = addresses.iter().map(|text| Rdata::parse(Rtype::AAAA, text).unwrap()).collect();
        let rrset = Rrset::new(Ttl::DEFAULT, rdata).unwrap();
        assert_eq!(rrset.rdata_texts(Rtype::AAAA), ["2a02::10", "2a02::9"]);
    }
}
