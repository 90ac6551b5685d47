//! Which records keys can be, as CoreDNS reads them. Pure.

use super::keys::is_reverse;
use super::layout::EtcdLayout;
use super::service::{EtcdService, KeyOwners};
use crate::dns::{NameRef, Rdata, Rtype, Ttl, ZoneName};
use crate::target::{RecordBounds, RecordTypes};

/// The types that CoreDNS makes of keys without a priority, a port or mail.
const TYPES: RecordTypes = RecordTypes::These(&[Rtype::A, Rtype::AAAA, Rtype::CNAME, Rtype::PTR, Rtype::TXT]);

/// The records that keys can be. CoreDNS reads a TTL of 0 as 300.
pub const BOUNDS: RecordBounds = RecordBounds { types: TYPES, least_ttl: Ttl::SECOND, quirks, ..RecordBounds::ALL };

/// What no key says, or CoreDNS would read as something else.
fn quirks(zone: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    // The prefix plays no part in what a name may be.
    if EtcdLayout::new("/", zone).is_none_or(|layout| layout.path(owner).is_none()) {
        return Some(format!("cannot hold `{owner}`: CoreDNS reads one of its labels as something else"));
    }
    if rtype == Rtype::PTR && (values.len() > 1 || !is_reverse(owner)) {
        return Some(format!(
            "has one PTR at a reverse name, and none elsewhere: `{owner}` would have {}",
            values.len()
        ));
    }
    // What CoreDNS makes of the key must be the same record.
    let is_said = |rdata: &&&Rdata| {
        let service = EtcdService::of(rtype, rdata, Ttl::MAX, None);
        let record = service.and_then(|service| service.record(rtype == Rtype::PTR, KeyOwners::Ours(None)).ok());
        record.is_some_and(|record| record.rtype == rtype && record.rdata == ***rdata)
    };
    let unsaid = values.iter().find(|rdata| !is_said(rdata))?.as_rdata(rtype);
    let why = match rtype {
        Rtype::TXT => "it keeps a TXT as one UTF-8 text, which CoreDNS cuts every 255 bytes",
        _ => "CoreDNS would read its key as another record",
    };
    Some(format!("cannot hold {rtype} `{unsaid}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    fn refusal(owner: &str, rtype: Rtype, ttl: u64, values: &[&str]) -> Option<String> {
        let owner = Name::parse(owner).unwrap();
        let values: Vec<Rdata> = values.iter().map(|text| Rdata::read(rtype, text, NameRef::ROOT).unwrap()).collect();
        let apex = if owner.to_string().ends_with("arpa.") { "arpa" } else { "example.net" };
        let zone = ZoneName::new(Name::parse(apex).unwrap());
        BOUNDS.refusal(&zone, (owner.as_name(), rtype), Ttl::from_secs(ttl), &values.iter().collect::<Vec<_>>())
    }

    #[test]
    fn what_no_key_says_is_refused_with_the_reason() {
        for (owner, rtype, ttl, values, words) in [
            ("a.example.net", Rtype::MX, 300, &["10 m.example.net."][..], "does not take MX"),
            ("a.example.net", Rtype::A, 0, &["192.0.2.1"], "takes TTLs from 1 to 2147483647"),
            ("*.example.net", Rtype::A, 300, &["192.0.2.1"], "reads one of its labels as something else"),
            ("a.any.example.net", Rtype::A, 300, &["192.0.2.1"], "reads one of its labels as something else"),
            (
                "a.example.net",
                Rtype::PTR,
                300,
                &["b.example.net."],
                "has one PTR at a reverse name, and none elsewhere",
            ),
            ("1.2.0.192.in-addr.arpa", Rtype::PTR, 300, &["a.example.net.", "b.example.net."], "would have 2"),
            ("a.example.net", Rtype::TXT, 300, &["\"one\" \"two\""], "cannot hold TXT `\"one\" \"two\"`"),
            ("dns.example.net", Rtype::A, 300, &["192.0.2.1"], "reads one of its labels as something else"),
            ("a.example.net", Rtype::CNAME, 300, &["1.2.3.4."], "would read its key as another record"),
            ("a.example.net", Rtype::CNAME, 300, &["."], "would read its key as another record"),
            ("a.example.net", Rtype::AAAA, 300, &["::ffff:192.0.2.1"], "would read its key as another record"),
            ("a.example.net", Rtype::TXT, 300, &["\"\""], "cannot hold TXT `\"\"`"),
            ("a.example.net", Rtype::TXT, 300, &["\"\\255\""], "cannot hold TXT `\"\\255\"`"),
        ] {
            let refused = refusal(owner, rtype, ttl, values).unwrap_or_default();
            assert!(refused.contains(words), "{owner} {rtype} {values:?}: {refused}");
        }
        let long = format!("\"{}\" \"b\"", "a".repeat(255));
        for (owner, rtype, values) in [
            ("a.example.net", Rtype::A, &["192.0.2.1", "192.0.2.2"][..]),
            ("example.net", Rtype::AAAA, &["2001:db8::1"]),
            ("1.2.0.192.in-addr.arpa", Rtype::PTR, &["a.example.net."]),
            ("a.example.net", Rtype::TXT, &[&long]),
        ] {
            assert_eq!(refusal(owner, rtype, 1, values), None, "{owner} {rtype}");
        }
    }
}
