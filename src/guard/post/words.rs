//! What is wrong with the zones as they would be, in words.

use super::{Fault, Kind};
use crate::change::{Change, Notice, NoticeCode};
use crate::dns::{NameRef, Rtype, reverse};
use crate::live::Live;

/// How many faults of one kind in one zone are told one by one: what somebody reads through (no official source).
pub const TOLD: usize = 20;

/// What would be wrong, and what to do about it.
pub fn caused(fault: &Fault<'_>, max_rrset: usize) -> (String, String) {
    let owner = fault.owner.as_name();
    match &fault.kind {
        Kind::CnameBeside(others) => (
            format!("a CNAME would stand beside {} at {}", list(others), readable(owner)),
            "remove the CNAME, or give the host another name".to_owned(),
        ),
        Kind::TooMany(rtype, records) => (
            format!("{} would have {records} records, over the {max_rrset} of `max_rrset`", rrset(owner, *rtype)),
            "remove what is not needed there by hand, or raise `max_rrset` of [limits]".to_owned(),
        ),
        Kind::Dangling { target, is_new: true } => (
            format!("the PTR of {} would name `{target}`, at which no AAAA, A or CNAME would stand", address(owner)),
            format!("find out what keeps the addresses of `{target}` away"),
        ),
        Kind::Dangling { target, is_new: false } => (
            format!("the PTR of {} names `{target}`, at which no AAAA, A or CNAME would be left", address(owner)),
            format!("correct or remove that PTR by hand, or give `{target}` another address"),
        ),
        Kind::Delegated(rtype, cut) => (
            format!("{} would stand at or below the delegation `{cut}`", rrset(owner, *rtype)),
            "add the delegated zone to zonewright.toml, or remove the NS".to_owned(),
        ),
        Kind::BelowDname(rtype, dname) => (
            format!("{} would stand below the DNAME at `{dname}`", rrset(owner, *rtype)),
            "remove the DNAME, or give the host another name".to_owned(),
        ),
    }
}

/// Why what nobody's rules would do to an RRset is not done.
pub fn left(change: &Change, fault: &Fault<'_>, max_rrset: usize) -> String {
    let (would_be, _) = caused(fault, max_rrset);
    format!("{} is left as it is, else {would_be}", rrset(change.key.owner.as_name(), change.key.rtype))
}

/// Tells of faults that were there before: of each zone and kind the first [`TOLD`], and how many more there are.
///
/// `standing` is sorted.
pub fn notices(standing: &[Fault<'_>], live: &Live, max_rrset: usize) -> Vec<Notice> {
    let is_like = |a: &Fault<'_>, b: &Fault<'_>| {
        a.zone == b.zone && std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
    };
    let mut notices = Vec::new();
    for alike in standing.chunk_by(is_like) {
        let (told, further) = alike.split_at(alike.len().min(TOLD));
        let notice = |name: String, message| Notice { code: NoticeCode::PostState, name, host: None, message };
        notices.extend(told.iter().map(|fault| notice(fault.owner.to_string(), stands(fault, max_rrset))));
        if let Some(first) = further.first() {
            let zone = live.zone(first.zone).name().to_string();
            notices.push(notice(zone, further_like(first, further.len(), max_rrset)));
        }
    }
    notices
}

/// What is wrong, and was before.
fn stands(fault: &Fault<'_>, max_rrset: usize) -> String {
    let owner = fault.owner.as_name();
    match &fault.kind {
        Kind::CnameBeside(others) => format!("a CNAME stands beside {} at {}", list(others), readable(owner)),
        Kind::TooMany(rtype, records) => {
            format!("{} has {records} records, over the {max_rrset} of `max_rrset`", rrset(owner, *rtype))
        }
        Kind::Dangling { target, .. } => {
            format!("the PTR of {} names `{target}`, at which no AAAA, A or CNAME stands", address(owner))
        }
        Kind::Delegated(rtype, cut) => format!("{} stands at or below the delegation `{cut}`", rrset(owner, *rtype)),
        Kind::BelowDname(rtype, dname) => format!("{} stands below the DNAME at `{dname}`", rrset(owner, *rtype)),
    }
}

/// How many more such faults a zone has.
fn further_like(first: &Fault<'_>, further: usize, max_rrset: usize) -> String {
    match &first.kind {
        Kind::CnameBeside(_) => format!("further names of this zone with a CNAME beside other data: {further}"),
        Kind::TooMany(..) => format!("further RRsets of this zone with more than {max_rrset} records: {further}"),
        Kind::Dangling { .. } => {
            format!("further PTR of this zone to names at which no AAAA, A or CNAME stands: {further}")
        }
        Kind::Delegated(..) | Kind::BelowDname(..) => format!("further RRsets of this zone that are hidden: {further}"),
    }
}

/// Types in a row.
fn list(rtypes: &[Rtype]) -> String {
    rtypes.iter().map(Rtype::to_string).collect::<Vec<_>>().join(", ")
}

/// A reverse name as its address, any other name as it is.
fn address(name: NameRef<'_>) -> String {
    reverse::address_of(name).map_or_else(|| format!("`{name}`"), |address| format!("`{address}`"))
}

/// A name as people read it.
fn readable(name: NameRef<'_>) -> String {
    match reverse::address_of(name) {
        Some(address) => format!("the reverse name of `{address}`"),
        None => format!("`{name}`"),
    }
}

/// An RRset as people speak of it.
fn rrset(owner: NameRef<'_>, rtype: Rtype) -> String {
    format!("the {rtype} of {}", address(owner))
}
