//! What is wrong with the resulting zones, in words.

use super::{MixedName, ZoneFault, ZoneFaultKind};
use crate::change::{Change, Notice, NoticeCode};
use crate::claim::Subject;
use crate::dns::{NameRef, Rtype, reverse};
use crate::live::Live;

/// How many faults of one kind in one zone are reported one by one: a person can read so many.
pub const TOLD: usize = 20;

/// What would be wrong, and what to do about it.
pub fn caused(fault: &ZoneFault<'_>, max_rrset: usize) -> (String, String) {
    let owner = fault.owner.as_name();
    match &fault.kind {
        ZoneFaultKind::CnameBeside(others) => (
            format!("a CNAME would be next to {} at {}", list(others), readable(owner)),
            "remove the CNAME, or give the host another name".to_owned(),
        ),
        ZoneFaultKind::TooMany(rtype, records) => (
            format!("{} would have {records} records, but `max_rrset` is {max_rrset}", rrset(owner, *rtype)),
            "remove by hand the records that are not needed there, or raise `max_rrset` of [limits]".to_owned(),
        ),
        ZoneFaultKind::Dangling { target, is_new: true } => (
            format!("the PTR of {} would name `{target}`, which would have no AAAA, A or CNAME", address(owner)),
            format!("find out why `{target}` gets no address"),
        ),
        ZoneFaultKind::Dangling { target, is_new: false } => (
            format!("the PTR of {} names `{target}`, which would have no AAAA, A or CNAME any longer", address(owner)),
            format!("correct or remove that PTR by hand, or give `{target}` another address"),
        ),
        ZoneFaultKind::Delegated(rtype, cut) => (
            format!("{} would be at or below the delegation `{cut}`", rrset(owner, *rtype)),
            "add the delegated zone to zonewright.toml, or remove the NS".to_owned(),
        ),
        ZoneFaultKind::Mixed(rtype, MixedName::Above(above)) => (
            format!("{} would be below `{above}`, whose target answers with both", rrset(owner, *rtype)),
            "give one of them a name that is not below the other's".to_owned(),
        ),
        ZoneFaultKind::Mixed(rtype, MixedName::Below(below)) => (
            format!("{} would be above `{below}`, and its target answers with both", rrset(owner, *rtype)),
            format!("remove `{below}` and what else is below, or give it a name that no other name is below"),
        ),
        ZoneFaultKind::BelowDname(rtype, dname) => (
            format!("{} would be below the DNAME at `{dname}`", rrset(owner, *rtype)),
            "remove the DNAME, or give the host another name".to_owned(),
        ),
    }
}

/// The message that an RRset is left because its removal would cause a fault.
pub fn left(change: &Change, fault: &ZoneFault<'_>, max_rrset: usize) -> String {
    let (would_be, _) = caused(fault, max_rrset);
    format!("{} is not changed; with the change, {would_be}", rrset(change.key.owner.as_name(), change.key.rtype))
}

/// The notices about faults that were there before: for each zone and kind the first [`TOLD`], and how many more there
/// are.
///
/// `standing` is sorted.
pub fn notices(standing: &[ZoneFault<'_>], live: &Live, max_rrset: usize) -> Vec<Notice> {
    let is_like = |a: &ZoneFault<'_>, b: &ZoneFault<'_>| {
        a.zone == b.zone && std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
    };
    let mut notices = Vec::new();
    for alike in standing.chunk_by(is_like) {
        let (told, further) = alike.split_at(alike.len().min(TOLD));
        let notice = |name: String, message| Notice { code: NoticeCode::PostState, message, name, subject: None };
        notices.extend(told.iter().map(|fault| notice(fault.owner.to_string(), already(fault, max_rrset))));
        if let Some(first) = further.first() {
            let zone = live.zone(first.zone).name().to_string();
            notices.push(notice(zone, further_like(first, further.len(), max_rrset)));
        }
    }
    notices
}

/// What to do where the SRV of an endpoint would have too many records; none for other faults and subjects.
pub fn hint_of_endpoint(fault: &ZoneFault<'_>, subject: &Subject) -> Option<String> {
    let is_endpoint = matches!(subject, Subject::Endpoints(_));
    let is_srv = matches!(fault.kind, ZoneFaultKind::TooMany(Rtype::SRV, _));
    let hint = "put `{location}` into the name of the endpoint, so that each location has an SRV; or list the pods without DNS \
                (`zonewright render endpoints`); or raise `max_rrset` of [limits]";
    (is_endpoint && is_srv).then(|| hint.to_owned())
}

/// The message about a fault that was there before.
fn already(fault: &ZoneFault<'_>, max_rrset: usize) -> String {
    let owner = fault.owner.as_name();
    match &fault.kind {
        ZoneFaultKind::CnameBeside(others) => format!("a CNAME is next to {} at {}", list(others), readable(owner)),
        ZoneFaultKind::TooMany(rtype, records) => {
            format!("{} has {records} records, but `max_rrset` is {max_rrset}", rrset(owner, *rtype))
        }
        ZoneFaultKind::Dangling { target, .. } => {
            format!("the PTR of {} names `{target}`, which has no AAAA, A or CNAME", address(owner))
        }
        ZoneFaultKind::Delegated(rtype, cut) => {
            format!("{} is at or below the delegation `{cut}`", rrset(owner, *rtype))
        }
        ZoneFaultKind::BelowDname(rtype, dname) => format!("{} is below the DNAME at `{dname}`", rrset(owner, *rtype)),
        ZoneFaultKind::Mixed(rtype, _) => format!("{} is above or below other names", rrset(owner, *rtype)),
    }
}

/// How many more such faults a zone has.
fn further_like(first: &ZoneFault<'_>, further: usize, max_rrset: usize) -> String {
    match &first.kind {
        ZoneFaultKind::CnameBeside(_) => format!("more names of this zone with a CNAME and other data: {further}"),
        ZoneFaultKind::TooMany(..) => format!("more RRsets of this zone with more than {max_rrset} records: {further}"),
        ZoneFaultKind::Dangling { .. } => {
            format!("more PTR of this zone to names that have no AAAA, A or CNAME: {further}")
        }
        ZoneFaultKind::Delegated(..) | ZoneFaultKind::BelowDname(..) | ZoneFaultKind::Mixed(..) => {
            format!("more RRsets of this zone that are hidden: {further}")
        }
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

/// A name for people: a reverse name is shown as its address.
fn readable(name: NameRef<'_>) -> String {
    match reverse::address_of(name) {
        Some(address) => format!("the reverse name of `{address}`"),
        None => format!("`{name}`"),
    }
}

/// An RRset for people: its type and name.
fn rrset(owner: NameRef<'_>, rtype: Rtype) -> String {
    format!("the {rtype} of {}", address(owner))
}
