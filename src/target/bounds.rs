//! Which records targets of a type can hold, as a value: a plan asks it before anything is written. Pure.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::pool_name::PoolName;
use super::set::TargetId;
use crate::dns::{NameRef, Rdata, Rtype, Ttl, ZoneName};

/// What a target refuses of an RRset of a zone by its owner name, type and values, in words that go on after the target's name.
pub type RecordQuirks = fn(&ZoneName, (NameRef<'_>, Rtype), &[&Rdata]) -> Option<String>;

/// Which records a target can hold.
#[derive(Debug, Clone, Copy)]
pub struct RecordBounds {
    /// Of which types.
    pub types: RecordTypes,
    /// The least TTL.
    pub least_ttl: Ttl,
    /// The largest TTL.
    pub most_ttl: Ttl,
    /// What else it refuses.
    pub quirks: RecordQuirks,
    /// Why it takes no RRset of this type at a name that has none of it yet, and has these types; in words that go on after the
    /// target's name.
    pub next_to: fn(NameRef<'_>, Rtype, &[Rtype]) -> Option<String>,
    /// The TTL that external-dns gives the TXT of its registry there; none where that is the TTL of their RRsets.
    pub mark_ttl: Option<Ttl>,
    /// Whether the quotes that external-dns has around these texts are a part of them there.
    pub quotes_marks: bool,
}

impl RecordBounds {
    /// All that a zone can hold.
    pub const ALL: RecordBounds = RecordBounds {
        types: RecordTypes::All,
        least_ttl: Ttl::ZERO,
        most_ttl: Ttl::MAX,
        quirks: |_, _, _| None,
        next_to: |_, _, _| None,
        mark_ttl: None,
        quotes_marks: false,
    };

    /// All of some types.
    pub const fn of_types(types: RecordTypes) -> RecordBounds {
        RecordBounds { types, ..RecordBounds::ALL }
    }

    /// Why a target cannot hold an RRset, in words that go on after its name; none where it can. Without a TTL the live one stays.
    pub fn refusal(
        &self,
        zone: &ZoneName,
        (owner, rtype): (NameRef<'_>, Rtype),
        ttl: Option<Ttl>,
        values: &[&Rdata],
    ) -> Option<String> {
        if !self.types.holds(rtype) {
            return Some(format!("does not take {rtype}"));
        }
        if let Some(ttl) = ttl.filter(|ttl| *ttl < self.least_ttl || *ttl > self.most_ttl) {
            let (least, most) = (self.least_ttl, self.most_ttl);
            return Some(format!("takes TTLs from {least} to {most}, and {rtype} of `{owner}` would have {ttl}"));
        }
        (self.quirks)(zone, (owner, rtype), values)
    }
}

/// Types of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordTypes {
    /// All that a zone can hold.
    All,
    /// These alone.
    These(&'static [Rtype]),
}

impl RecordTypes {
    /// Those that every name server takes.
    pub const COMMON: RecordTypes = RecordTypes::These(&[
        Rtype::A,
        Rtype::AAAA,
        Rtype::CAA,
        Rtype::CNAME,
        Rtype::DNAME,
        Rtype::DS,
        Rtype::HTTPS,
        Rtype::LOC,
        Rtype::MX,
        Rtype::NAPTR,
        Rtype::NS,
        Rtype::PTR,
        Rtype::SRV,
        Rtype::SSHFP,
        Rtype::SVCB,
        Rtype::TLSA,
        Rtype::TXT,
    ]);

    /// Whether a type is among them.
    pub fn holds(self, rtype: Rtype) -> bool {
        match self {
            RecordTypes::All => true,
            RecordTypes::These(types) => types.contains(&rtype),
        }
    }
}

impl Serialize for RecordTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            RecordTypes::All => "all",
            RecordTypes::These(_) => "some",
        })
    }
}

/// Which records the targets of each pool hold, in the pool's order of targets.
pub type PoolBounds = BTreeMap<PoolName, Vec<(TargetId, RecordBounds)>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    #[test]
    fn a_target_says_why_it_cannot_hold_an_rrset() {
        let bounds = RecordBounds {
            types: RecordTypes::COMMON,
            least_ttl: Ttl::from_secs(1).unwrap(),
            quirks: |_, _, values| (values.len() > 1).then(|| "takes one value".to_owned()),
            ..RecordBounds::ALL
        };
        let name = Name::parse("a.example.net").unwrap();
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let value = Rdata::read(Rtype::TXT, "\"v\"", NameRef::ROOT).unwrap();
        let refusal = |rtype, ttl: Option<u64>, values: &[&Rdata]| {
            bounds.refusal(&zone, (name.as_name(), rtype), ttl.and_then(Ttl::from_secs), values)
        };
        assert_eq!(refusal(Rtype::TXT, Some(1), &[&value]), None);
        assert_eq!(refusal(Rtype::TXT, None, &[&value]), None, "the live TTL stays");
        assert_eq!(refusal(Rtype::URI, Some(1), &[&value]).as_deref(), Some("does not take URI"));
        let words = "takes TTLs from 1 to 2147483647, and TXT of `a.example.net.` would have 0";
        assert_eq!(refusal(Rtype::TXT, Some(0), &[&value]).as_deref(), Some(words));
        assert_eq!(refusal(Rtype::TXT, Some(1), &[&value, &value]).as_deref(), Some("takes one value"));
    }
}
