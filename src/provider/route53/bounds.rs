//! Which records Route 53 can hold. Pure.
//!
//! Source: the published model of the API 2013-04-01.

use super::names::value_text;
use crate::dns::{NameRef, Rdata, Rtype, Ttl, ZoneName};
use crate::target::{RecordBounds, RecordTypes};

/// How many characters a value may have.
const MAX_VALUE: usize = 4_000;

/// The types.
const TYPES: RecordTypes = RecordTypes::These(&[
    Rtype::A,
    Rtype::AAAA,
    Rtype::CAA,
    Rtype::CNAME,
    Rtype::DS,
    Rtype::HTTPS,
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

/// What it holds.
pub const BOUNDS: RecordBounds =
    RecordBounds { types: TYPES, quirks: refused_value, mark_ttl: Some(Ttl::OF_CLOUD_MARKS), ..RecordBounds::ALL };

/// Refuses values that are too long.
fn refused_value(_: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    let longest = values.iter().map(|value| value_text(rtype, value).chars().count()).max()?;
    (longest > MAX_VALUE).then(|| {
        format!("takes values of up to {MAX_VALUE} characters, and one of {rtype} of `{owner}` would have {longest}")
    })
}
