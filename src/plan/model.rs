//! The plan as a value.

use std::collections::BTreeMap;

use super::marker::marker_key;
use crate::change::{Blocked, Change, Notice, Skipped};
use crate::dns::{RrKey, RrsetRef, Rtype, ZoneContents, ZoneName};
use crate::inventory::value::Time;

/// All that a run would change, and all that it would not and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The program that made it, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it was made.
    pub created: Time,
    /// When it may no longer be applied.
    pub expires: Time,
    /// The number of the apply that it undoes, in the state of the workspace; none where it undoes none.
    pub undoes: Option<u64>,
    /// SHA-256 of every input file in hexadecimal, by name.
    pub inputs: BTreeMap<String, String>,
    /// The changes, sorted by project, host (none last), zone, owner, type; the names as text.
    pub changes: Vec<Change>,
    /// The hosts that get no change although they should, sorted by host.
    pub blocked: Vec<Blocked>,
    /// The hosts that are not looked after, sorted by host.
    pub skipped: Vec<Skipped>,
    /// What somebody should know, sorted by code, name and host.
    pub notices: Vec<Notice>,
    /// The limits, with what of them is used.
    pub limits: Vec<LimitState>,
    /// The zones that were read whole, sorted by name.
    pub zones: Vec<ZoneSeen>,
}

/// How much of a limit is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitState {
    /// `global`, or `project:` and the id.
    pub scope: String,
    /// The period, such as `1h`.
    pub period: String,
    /// How many hosts may change within it.
    pub max: u64,
    /// How many did.
    pub used: u64,
    /// How many this plan would add.
    pub planned: u64,
    /// Whether that is too many.
    pub exceeded: bool,
}

/// A zone as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneSeen {
    /// The zone.
    pub zone: ZoneName,
    /// The SOA's serial.
    pub serial: u32,
    /// How many RRsets it has.
    pub rrsets: u64,
    /// SHA-256 over its content without SOA, DNSSEC types and the marker, in hexadecimal.
    pub digest: String,
}

impl ZoneSeen {
    /// How a zone's contents are seen.
    pub fn of(contents: &ZoneContents) -> ZoneSeen {
        let marker = marker_key(contents.apex());
        let counts = |rrset: RrsetRef<'_>| {
            let is_marker = |key: &RrKey| key.rtype == rrset.rtype() && key.owner.as_name() == rrset.owner();
            let marks = marker.as_ref().is_some_and(is_marker);
            !marks && rrset.rtype() != Rtype::SOA && !is_dnssec(rrset.rtype())
        };
        let digest: String = contents.digest(counts).iter().map(|octet| format!("{octet:02x}")).collect();
        ZoneSeen {
            zone: contents.apex().clone(),
            serial: contents.serial().into_int(),
            rrsets: contents.rrsets().count() as u64,
            digest,
        }
    }
}

/// The types that a signer makes, so that they change without anybody's doing (RFC 4034, RFC 5155, RFC 7344).
fn is_dnssec(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM | Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY
    )
}
