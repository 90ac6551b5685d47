//! Changes for tests.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::*;
use crate::claim::{OrphanName, Subject};
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::value::Inv;
use crate::target::{CopyId, PoolName, ZoneId};

/// A zone.
pub fn zone(text: &str) -> ZoneName {
    ZoneName::new(Name::parse(text).unwrap())
}

/// An RRset of the given TTL and RDATA in presentation format; `None` without RDATA.
pub fn rrset(rtype: Rtype, ttl: u64, rdata: &[&str]) -> Option<Rrset> {
    let rdata = rdata.iter().map(|text| Rdata::parse(rtype, text).unwrap()).collect();
    Rrset::new(Ttl::from_secs(ttl).unwrap(), rdata)
}

/// The pool of all zones.
pub fn pool() -> PoolName {
    "main".parse().unwrap()
}

/// The copy of a zone at the one target of that pool.
pub fn copy(zone: &str) -> CopyId {
    CopyId::only(&ZoneId { pool: pool(), name: self::zone(zone) })
}

/// A host; without a number an orphan.
pub fn subject(host: Option<u64>) -> Subject {
    let orphan = || OrphanName { pool: pool(), name: Name::parse("gone.example.net").unwrap() };
    host.map_or_else(|| Subject::Orphan(orphan()), |inv| Subject::Host(Inv(inv)))
}

/// A reason with its evidence.
pub fn reason(rule: Rule, host: Option<u64>, evidence: &[&str]) -> Reason {
    let subject = match (rule, host) {
        (Rule::Released, Some(inv)) => Subject::Released(Inv(inv)),
        _ => subject(host),
    };
    Reason { evidence: evidence.iter().map(|place| (*place).to_owned()).collect(), rule, subject }
}

/// One side of a change: the TTL, and RDATA in presentation format; none where there is no RRset.
pub type Side<'a> = (u64, &'a [&'a str]);

/// A change of the RRset `rtype` at `name`, from `before` to `after`, each a TTL and RDATA.
pub fn change(
    (project, host): (&str, Option<u64>),
    (name, rtype): (&str, Rtype),
    (before, after): (Side<'_>, Side<'_>),
    reasons: &[Reason],
) -> Change {
    let name = match name.parse::<IpAddr>() {
        Ok(address) => reverse_name(address),
        Err(_) => Name::parse(name).unwrap(),
    };
    let zones = [
        zone("search.example.net"),
        zone("web.example.net"),
        zone("example.net"),
        zone("0.0.8.b.6.0.2.0.a.2.ip6.arpa"),
        zone("154.178.in-addr.arpa"),
    ];
    let zone = zones.into_iter().find(|zone| name.as_name().is_at_or_below(zone.as_name())).unwrap();
    let owner = zone.owner(name.as_name()).unwrap();
    let kind = ChangeKind::between(rrset(rtype, before.0, before.1), rrset(rtype, after.0, after.1)).unwrap();
    // An orphan is the name of the addresses, or what the PTR points to.
    let target = before.1.first().filter(|_| rtype == Rtype::PTR).map(|target| Name::parse(target).unwrap());
    let orphan = Subject::Orphan(OrphanName { pool: pool(), name: target.unwrap_or(name) });
    let named = |own: &Subject| if own.host().is_some() { own.clone() } else { orphan.clone() };
    let reasons: Vec<Reason> =
        reasons.iter().map(|reason| Reason { subject: named(&reason.subject), ..reason.clone() }).collect();
    let subject = match (reasons.as_slice(), host) {
        ([Reason { rule: Rule::Released, .. }], Some(inv)) => Subject::Released(Inv(inv)),
        _ => named(&subject(host)),
    };
    let others = reasons.iter().map(|reason| &reason.subject).filter(|own| **own != subject);
    let also: BTreeSet<Subject> = others.cloned().collect();
    Change {
        pool: pool(),
        zone,
        key: RrKey { owner, rtype },
        also: also.into_iter().collect(),
        registers: None,
        via: None,
        targets: Vec::new(),
        subject,
        project: project.to_owned(),
        kind,
        reasons,
    }
}
