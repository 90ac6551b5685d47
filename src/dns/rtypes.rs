//! Which types records of a zone can have. Pure.

use super::Rtype;

/// Whether records of a type can be in a zone (RFC 6895 section 3.1: 128 to 255 are types of questions and messages,
/// and 41 is EDNS).
pub fn is_zone_data(rtype: Rtype) -> bool {
    !matches!(rtype.to_int(), 0 | 41 | 128..=255)
}
