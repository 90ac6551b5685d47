//! Which types records of a zone can have. Pure.

use std::net::IpAddr;

use super::Rtype;

/// Whether records of a type can be in a zone (RFC 6895 section 3.1: 128 to 255 are types of questions and messages,
/// and 41 is EDNS).
pub fn is_zone_data(rtype: Rtype) -> bool {
    !matches!(rtype.to_int(), 0 | 41 | 128..=255)
}

/// The type of the records that hold an address.
pub fn address_type(address: IpAddr) -> Rtype {
    if address.is_ipv4() { Rtype::A } else { Rtype::AAAA }
}

/// Whether a signer makes RRsets of this type, which change when no editor changes anything (RFC 4034, RFC 5155, RFC 7344).
pub fn is_of_signer(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM | Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY
    )
}
