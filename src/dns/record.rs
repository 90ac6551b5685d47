//! One record as zones keep it.
//!
//! Comes in: octets of an arena. Goes out: the parts of a record, or why it cannot be in a zone.

use domain::base::{Rtype, Serial};

use super::rrset::RdataRef;

/// Why a record or a whole zone is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentsError {
    /// The owner name is not at or below the apex.
    OutOfZone,
    /// The zone is larger than 4 GiB.
    TooLarge,
    /// There is no SOA at the apex.
    NoSoa,
    /// There are two different SOA records at the apex.
    TwoSoas,
    /// A SOA below the apex.
    StraySoa,
    /// Octets that are not records in the order of a zone.
    Disordered,
}

impl std::fmt::Display for ContentsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ContentsError::OutOfZone => "the owner name is outside the zone",
            ContentsError::TooLarge => "the zone is larger than 4 GiB",
            ContentsError::NoSoa => "no SOA at the apex",
            ContentsError::TwoSoas => "two different SOA records at the apex",
            ContentsError::StraySoa => "a SOA below the apex",
            ContentsError::Disordered => "bytes that are not records in the order of a zone",
        })
    }
}

impl std::error::Error for ContentsError {}

/// One record inside an arena: owner length (1 octet), owner, type (2), TTL (4), RDATA length (2), RDATA.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArenaRecord<'a> {
    /// The labels of the owner name above the apex: none at the apex itself.
    pub owner: &'a [u8],
    /// The type, as a number in network order.
    pub rtype: [u8; 2],
    /// The TTL in network order.
    pub ttl: [u8; 4],
    /// The RDATA.
    pub rdata: &'a [u8],
}

impl<'a> ArenaRecord<'a> {
    /// Reads the record that starts at `start`.
    pub fn at(arena: &'a [u8], start: u32) -> ArenaRecord<'a> {
        let rest = &arena[start as usize..];
        let (owner, rest) = rest[1..].split_at(rest[0] as usize);
        let length = u16::from_be_bytes([rest[6], rest[7]]) as usize;
        ArenaRecord {
            owner,
            rtype: [rest[0], rest[1]],
            ttl: [rest[2], rest[3], rest[4], rest[5]],
            rdata: &rest[8..8 + length],
        }
    }

    /// Reads the record that octets begin with; gives what follows it, too. `None` where they hold no whole record.
    pub fn split(octets: &'a [u8]) -> Option<(ArenaRecord<'a>, &'a [u8])> {
        let (length, rest) = octets.split_first()?;
        let (owner, rest) = rest.split_at_checked(usize::from(*length))?;
        let (fixed, rest) = rest.split_first_chunk::<8>()?;
        let [t0, t1, a, b, c, d, l0, l1] = *fixed;
        let (rdata, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes([l0, l1])))?;
        Some((ArenaRecord { owner, rtype: [t0, t1], ttl: [a, b, c, d], rdata }, rest))
    }

    /// Appends it to an arena.
    pub fn append_to(self, arena: &mut Vec<u8>) {
        arena.push(self.owner.len() as u8);
        arena.extend_from_slice(self.owner);
        arena.extend_from_slice(&self.rtype);
        arena.extend_from_slice(&self.ttl);
        arena.extend_from_slice(&(self.rdata.len() as u16).to_be_bytes());
        arena.extend_from_slice(self.rdata);
    }

    /// Orders records of one hash: RRsets stay together, and of two equal records the lower TTL comes first.
    pub fn sort_key(self) -> (&'a [u8], [u8; 2], &'a [u8], [u8; 4]) {
        (self.owner, self.rtype, self.rdata, self.ttl)
    }

    /// What is equal in two records that count as one: all but the TTL (RFC 2181 section 5).
    pub fn identity(self) -> (&'a [u8], [u8; 2], &'a [u8]) {
        (self.owner, self.rtype, self.rdata)
    }

    /// The key of the RRset.
    pub fn rrset(self) -> (&'a [u8], [u8; 2]) {
        (self.owner, self.rtype)
    }
}

/// The serial of a SOA, which must be at the apex: its owner name has no labels above the apex.
pub(super) fn soa_serial(owner: &[u8], rdata: &[u8]) -> Result<Serial, ContentsError> {
    if !owner.is_empty() {
        return Err(ContentsError::StraySoa);
    }
    RdataRef { rtype: Rtype::SOA, octets: rdata }.serial().ok_or(ContentsError::NoSoa)
}
