//! TTLs: seconds in 31 bits.

use std::fmt;

/// A time to live in seconds, 0 to 2^31 - 1.
///
/// Source: RFC 2181 section 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ttl(u32);

impl Ttl {
    /// The least TTL: caches keep nothing.
    pub const ZERO: Ttl = Ttl(0);

    /// The least TTL with which caches keep anything.
    pub const SECOND: Ttl = Ttl(1);

    /// The largest TTL that exists.
    pub const MAX: Ttl = Ttl(0x7fff_ffff);

    /// The TTL where neither project nor zone sets one: one hour, a common choice of
    /// operators.
    pub const DEFAULT: Ttl = Ttl(3600);

    /// What external-dns gives TXT of its registry at services of clouds: five minutes.
    pub const OF_CLOUD_MARKS: Ttl = Ttl(300);

    /// Checks `seconds`; `None` where it does not fit into 31 bits.
    pub fn from_secs(seconds: u64) -> Option<Ttl> {
        u32::try_from(seconds).ok().map(Ttl).filter(|ttl| *ttl <= Ttl::MAX)
    }

    /// Reads a TTL off the wire; one with its top bit set counts as zero (RFC 2181 section 8).
    pub fn from_wire(seconds: u32) -> Ttl {
        if seconds > Ttl::MAX.0 { Ttl(0) } else { Ttl(seconds) }
    }

    /// The TTL in seconds.
    pub fn as_secs(self) -> u32 {
        self.0
    }
}

impl Default for Ttl {
    fn default() -> Ttl {
        Ttl::DEFAULT
    }
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_one_bits_and_no_more() {
        assert_eq!(Ttl::from_secs(0x7fff_ffff), Some(Ttl::MAX));
        assert_eq!(Ttl::from_secs(0x8000_0000), None);
        assert_eq!(Ttl::from_wire(0x8000_0000).as_secs(), 0);
    }
}
