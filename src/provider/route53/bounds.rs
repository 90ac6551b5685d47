//! Which records Route 53 can hold. Pure.
//!
//! Source: the published model of the API 2013-04-01.

use super::change::{CHARACTERS, MARKER_CHARACTERS, RECORDS};
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

/// How many values an RRset may have: a change deletes and creates them in one batch, with the marker.
const MAX_VALUES: usize = (RECORDS - 2) / 2;

/// How many characters all values of an RRset may have, for the same reason.
const MAX_CHARACTERS: usize = (CHARACTERS - 2 * MARKER_CHARACTERS) / 2;

/// Refuses what the service refuses by name and data.
fn refused_value(zone: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    if owner == zone.as_name() && matches!(rtype, Rtype::CNAME | Rtype::DS) {
        return Some(format!("takes no {rtype} at the apex of a zone"));
    }
    if rtype == Rtype::CNAME && values.len() > 1 {
        return Some(format!("takes one CNAME at a name, and `{owner}` would have {}", values.len()));
    }
    let lengths = || values.iter().map(|value| value_text(rtype, value).chars().count());
    let (longest, sum) = (lengths().max()?, lengths().sum::<usize>());
    if longest > MAX_VALUE {
        return Some(format!(
            "takes values of up to {MAX_VALUE} characters, and one of {rtype} of `{owner}` would have {longest}"
        ));
    }
    (values.len() > MAX_VALUES || sum > MAX_CHARACTERS).then(|| {
        let count = values.len();
        format!(
            "can change up to {MAX_VALUES} values of {MAX_CHARACTERS} characters at once, and {rtype} of `{owner}` would have {count} of {sum}"
        )
    })
}
