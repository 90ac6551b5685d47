//! Which records Cloud Map can hold. Pure.
//!
//! Source: the published model of the API 2017-03-14, and the quotas of the service.

use super::names::{MAX_NAME, is_plain_target, service_name, value_text};
use super::steps::MAX_INSTANCES;
use crate::dns::{NameRef, Rdata, Rtype, ZoneName};
use crate::target::{RecordBounds, RecordTypes};

/// The types. The targets of SRV are names that the service makes, so that it holds none that is stated elsewhere.
const TYPES: RecordTypes = RecordTypes::These(&[Rtype::A, Rtype::AAAA, Rtype::CNAME]);

/// What it holds.
pub const BOUNDS: RecordBounds =
    RecordBounds { types: TYPES, quirks: refused, next_to: refused_next_to, ..RecordBounds::ALL };

/// Refuses addresses of one type at a name that has those of the other: a service keeps its types.
fn refused_next_to(owner: NameRef<'_>, rtype: Rtype, types: &[Rtype]) -> Option<String> {
    let other = types.iter().find(|own| matches!(**own, Rtype::A | Rtype::AAAA))?;
    let is_address = matches!(rtype, Rtype::A | Rtype::AAAA);
    is_address.then(|| {
        format!("cannot add {rtype} to `{owner}`, which has {other}: both come together, or one of them alone")
    })
}

/// Refuses what the service refuses by name and data.
fn refused(zone: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    if owner == zone.as_name() {
        return Some(format!("takes no records at the apex of a zone, and `{owner}` would have {rtype}"));
    }
    if service_name(owner, zone).is_none() {
        return Some(format!(
            "takes names of letters, digits, hyphens and underscores with up to {MAX_NAME} characters below the zone, and not `{owner}`"
        ));
    }
    let count = values.len();
    if rtype == Rtype::CNAME && count > 1 {
        return Some(format!("takes one CNAME at a name, and `{owner}` would have {count}"));
    }
    if count > MAX_INSTANCES {
        return Some(format!("takes {MAX_INSTANCES} records of one name, and {rtype} of `{owner}` would have {count}"));
    }
    let is_refused = |value: &&Rdata| rtype == Rtype::CNAME && !is_plain_target(&value_text(rtype, value));
    values.iter().any(is_refused).then(|| {
        format!("takes targets of letters, digits, hyphens and underscores, and not what CNAME of `{owner}` would have")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Ttl};

    #[test]
    fn addresses_of_both_types_come_together() {
        let name = Name::parse("a.example.net").unwrap();
        let said = refused_next_to(name.as_name(), Rtype::AAAA, &[Rtype::A]).unwrap();
        assert_eq!(said, "cannot add AAAA to `a.example.net.`, which has A: both come together, or one of them alone");
        assert_eq!(refused_next_to(name.as_name(), Rtype::AAAA, &[]), None);
        assert_eq!(refused_next_to(name.as_name(), Rtype::A, &[Rtype::CNAME]), None, "a CNAME makes room");
    }

    #[test]
    fn what_the_service_does_not_take_is_known_before() {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let many: Vec<String> = (0..1_001).map(|number| format!("10.0.{}.{}", number / 250, number % 250)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for (owner, rtype, values, starts) in [
            ("a.example.net", Rtype::A, &many[..1_000], ""),
            ("a.example.net", Rtype::A, &many[..], "takes 1000 records of one name"),
            ("example.net", Rtype::A, &many[..1], "takes no records at the apex"),
            ("*.example.net", Rtype::A, &many[..1], "takes names of letters"),
            ("a.example.net", Rtype::TXT, &["\"a\""], "does not take TXT"),
            ("_sip._tcp.example.net", Rtype::SRV, &["0 0 1 a.example.net."], "does not take SRV"),
            ("a.example.net", Rtype::CNAME, &["b.example.net."], ""),
            ("a.example.net", Rtype::CNAME, &["b.example.net.", "c.example.net."], "takes one CNAME"),
            ("a.example.net", Rtype::CNAME, &["."], "takes targets of letters"),
        ] {
            let name = Name::parse(owner).unwrap();
            let values: Vec<Rdata> =
                values.iter().map(|value| Rdata::read(rtype, value, NameRef::ROOT).unwrap()).collect();
            let values: Vec<&Rdata> = values.iter().collect();
            let said = BOUNDS.refusal(&zone, (name.as_name(), rtype), Ttl::from_secs(60), &values).unwrap_or_default();
            assert!(said.starts_with(starts) && said.is_empty() == starts.is_empty(), "{owner} {rtype}: {said}");
        }
    }
}
