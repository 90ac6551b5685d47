//! Which records keys can be, as CoreDNS reads them. Pure.

use super::keys::is_reverse;
use super::layout::plain_labels;
use super::service::EtcdService;
use crate::dns::{NameRef, Rdata, Rtype, Ttl};
use crate::target::{RecordBounds, RecordTypes};

/// The types that CoreDNS makes of keys without a priority, a port or mail.
const TYPES: RecordTypes = RecordTypes::These(&[Rtype::A, Rtype::AAAA, Rtype::CNAME, Rtype::PTR, Rtype::TXT]);

/// The records that keys can be. CoreDNS reads a TTL of 0 as 300.
pub const BOUNDS: RecordBounds = RecordBounds { types: TYPES, least_ttl: Ttl::SECOND, quirks, ..RecordBounds::ALL };

/// What no key says, or CoreDNS would read as something else.
fn quirks(owner: NameRef<'_>, rtype: Rtype, values: &[&Rdata]) -> Option<String> {
    if plain_labels(owner).is_none() {
        return Some(format!("cannot hold `{owner}`: CoreDNS reads one of its labels as something else"));
    }
    if rtype == Rtype::PTR && (values.len() > 1 || !is_reverse(owner)) {
        return Some(format!(
            "has one PTR at a reverse name, and none elsewhere: `{owner}` would have {}",
            values.len()
        ));
    }
    let is_said = |rdata: &&&Rdata| EtcdService::of(rtype, rdata, Ttl::MAX, None).is_some();
    let unsaid = values.iter().find(|rdata| !is_said(rdata))?;
    let shown = unsaid.as_rdata(rtype);
    Some(format!("keeps a TXT as one UTF-8 text, which CoreDNS cuts every 255 bytes: it cannot hold `{shown}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    fn refusal(owner: &str, rtype: Rtype, ttl: u64, values: &[&str]) -> Option<String> {
        let owner = Name::parse(owner).unwrap();
        let values: Vec<Rdata> = values.iter().map(|text| Rdata::read(rtype, text, NameRef::ROOT).unwrap()).collect();
        BOUNDS.refusal((owner.as_name(), rtype), Ttl::from_secs(ttl), &values.iter().collect::<Vec<_>>())
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
            ("a.example.net", Rtype::TXT, 300, &["\"one\" \"two\""], "it cannot hold `\"one\" \"two\"`"),
            ("a.example.net", Rtype::TXT, 300, &["\"\""], "it cannot hold `\"\"`"),
            ("a.example.net", Rtype::TXT, 300, &["\"\\255\""], "it cannot hold `\"\\255\"`"),
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
