//! The marker: a TXT record at `_zonewright.APEX` that every update of a fenced zone swaps for a new one.
//!
//! Comes in and goes out: its text, `e=EPOCH p=PLAN b=BATCH`. A run that swaps it proves that it has seen the last
//! update. So of two runs one is refused, a message sent twice takes effect once, and after a lost answer the marker
//! shows whether the update was done. Pure.

use std::fmt;

use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};

/// The first label of a marker's owner name.
pub const MARKER_LABEL: &[u8] = b"_zonewright";

/// The TTL of a marker: no resolver must cache it.
const TTL: u64 = 0;

/// What a marker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Grows with each apply that writes to the zone.
    pub epoch: u64,
    /// The plan's `id`, or another word without blanks.
    pub plan: String,
    /// Which update of that plan.
    pub batch: u64,
}

impl Marker {
    /// Reads a marker's text; `None` where it is none.
    pub fn parse(text: &str) -> Option<Marker> {
        let mut fields = text.split(' ');
        let mut field = |name: &str| fields.next()?.strip_prefix(name);
        let number = |digits: &str| digits.bytes().all(|octet| octet.is_ascii_digit()).then(|| digits.parse().ok())?;
        let marker =
            Marker { epoch: number(field("e=")?)?, plan: field("p=")?.to_owned(), batch: number(field("b=")?)? };
        (fields.next().is_none() && !marker.plan.is_empty()).then_some(marker)
    }

    /// Reads the marker of an RRset: of several the one of the greatest epoch; `None` where there is none.
    pub fn of_rrset(rrset: &Rrset) -> Option<Marker> {
        rrset.rdata().iter().filter_map(Marker::of_rdata).max_by_key(|marker| (marker.epoch, marker.batch))
    }

    /// Reads the marker of a TXT record.
    fn of_rdata(rdata: &Rdata) -> Option<Marker> {
        let text = rdata.as_rdata(Rtype::TXT).strings().collect::<Vec<_>>().concat();
        Marker::parse(std::str::from_utf8(&text).ok()?)
    }

    /// The RRset that holds this marker alone.
    pub fn to_rrset(&self) -> Rrset {
        let rdata = Rdata::from_text(&self.to_string()).expect("two numbers and a digest are shorter than 255 octets");
        Rrset::new(Ttl::from_secs(TTL).expect("a small TTL"), vec![rdata]).expect("one record")
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e={} p={} b={}", self.epoch, self.plan, self.batch)
    }
}

/// Where the marker of a zone is; `None` where the apex leaves no room for a label (RFC 1035 section 2.3.4).
pub fn marker_key(zone: &ZoneName) -> Option<RrKey> {
    let name = Name::prepend(MARKER_LABEL, zone.as_name()).ok()?;
    Some(RrKey { owner: zone.owner(name.as_name())?, rtype: Rtype::TXT })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_as_it_is_written() {
        let marker = Marker { epoch: 7, plan: "sha256:00ff".into(), batch: 12 };
        assert_eq!(marker.to_string(), "e=7 p=sha256:00ff b=12");
        assert_eq!(Marker::parse(&marker.to_string()), Some(marker.clone()));
        assert_eq!(Marker::of_rrset(&marker.to_rrset()), Some(marker));
        for text in ["", "e=7 p=x", "e=7 p=x b=1 c", "e=+7 p=x b=1", "e=7  p=x b=1", "e=7 p= b=1", "e= p=x b=1"] {
            assert_eq!(Marker::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_marker_is_below_the_apex() {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        assert_eq!(marker_key(&zone).unwrap().owner.to_string(), "_zonewright.example.net.");
    }
}
