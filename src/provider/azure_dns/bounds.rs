//! Which records Azure DNS can hold. Pure.
//!
//! Source: the limits of the service, and its rules for names (2024).

use super::document::caa_parts;
use super::names::is_plain_label;
use super::service::AzureKind;
use crate::dns::{NameRef, Rdata, Rtype, Ttl, ZoneName};
use crate::target::{RecordBounds, RecordTypes};

/// How many records a record set may have.
const MAX_RECORDS: usize = 20;

/// How many characters all TXT of a record set may have.
const MAX_TEXT: usize = 4_096;

/// How many that are in the clouds of governments and of China.
const MAX_NATIONAL_TEXT: usize = 1_024;

/// The types of public zones.
const PUBLIC: RecordTypes = RecordTypes::These(&[
    Rtype::A,
    Rtype::AAAA,
    Rtype::CAA,
    Rtype::CNAME,
    Rtype::MX,
    Rtype::NS,
    Rtype::PTR,
    Rtype::SRV,
    Rtype::TXT,
]);

/// The types of private zones.
const PRIVATE: RecordTypes =
    RecordTypes::These(&[Rtype::A, Rtype::AAAA, Rtype::CNAME, Rtype::MX, Rtype::PTR, Rtype::SRV, Rtype::TXT]);

/// What a service holds, in a national cloud or in the one for all.
pub fn bounds(kind: AzureKind, is_national: bool) -> RecordBounds {
    RecordBounds {
        types: if kind == AzureKind::Public { PUBLIC } else { PRIVATE },
        least_ttl: Ttl::from_secs(1).expect("a small TTL"),
        quirks: if is_national { refused_in_national } else { refused },
        mark_ttl: Some(Ttl::OF_CLOUD_MARKS),
        quotes_marks: true,
        ..RecordBounds::ALL
    }
}

/// What the cloud for all refuses.
fn refused(_: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    refusal((owner, rtype), values, MAX_TEXT)
}

/// What a national cloud refuses.
fn refused_in_national(_: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata]) -> Option<String> {
    refusal((owner, rtype), values, MAX_NATIONAL_TEXT)
}

/// What is refused where TXT of a record set may have so many characters.
fn refusal((owner, rtype): (NameRef<'_>, Rtype), values: &[&Rdata], most: usize) -> Option<String> {
    let is_wild = owner.is_wildcard();
    if !owner.labels().skip(usize::from(is_wild)).all(is_plain_label) || is_wild && rtype == Rtype::NS {
        return Some(format!(
            "takes names of letters, digits, hyphens and underscores alone, and not `{owner}` for {rtype}"
        ));
    }
    if values.len() > MAX_RECORDS {
        let count = values.len();
        return Some(format!(
            "takes {MAX_RECORDS} records of one name and type, and {rtype} of `{owner}` would have {count}"
        ));
    }
    if rtype == Rtype::TXT {
        let length: usize = values.iter().flat_map(|value| value.as_rdata(rtype).strings()).map(<[u8]>::len).sum();
        if length > most {
            return Some(format!("takes TXT of up to {most} characters, and that of `{owner}` would have {length}"));
        }
    }
    let is_refused = values.iter().any(|value| !is_plain_value(rtype, value));
    is_refused.then(|| format!("takes printable ASCII alone in records, and not what {rtype} of `{owner}` would have"))
}

/// Whether names and texts of a value have characters alone that the service takes.
fn is_plain_value(rtype: Rtype, value: &Rdata) -> bool {
    let is_text = |octets: &[u8]| octets.iter().all(|octet| (0x20..0x7f).contains(octet));
    match rtype {
        Rtype::TXT => value.as_rdata(rtype).strings().all(is_text),
        Rtype::CAA => caa_parts(value.as_octets())
            .is_some_and(|(_, tag, text)| is_text(tag.as_bytes()) && is_text(text.as_bytes())),
        Rtype::A | Rtype::AAAA => true,
        _ => {
            let shown = value.as_rdata(rtype).to_string();
            let name = shown.rsplit(' ').next().unwrap_or_default();
            name == "." || name.trim_end_matches('.').split('.').all(|label| is_plain_label(label.as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    /// What is refused of an RRset of this name.
    fn refused_of(kind: AzureKind, owner: &str, rtype: Rtype, values: &[String]) -> String {
        let owner = Name::parse(owner).unwrap();
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let values: Vec<Rdata> = values.iter().map(|value| Rdata::read(rtype, value, NameRef::ROOT).unwrap()).collect();
        let values: Vec<&Rdata> = values.iter().collect();
        bounds(kind, false).refusal(&zone, (owner.as_name(), rtype), Ttl::from_secs(300), &values).unwrap_or_default()
    }

    #[test]
    fn what_the_services_do_not_take_is_known_before() {
        let (public, private) = (AzureKind::Public, AzureKind::Private);
        let one = |value: &str| vec![value.to_owned()];
        let addresses = |count: usize| (0..count).map(|number| format!("192.0.2.{number}")).collect::<Vec<_>>();
        for (kind, owner, rtype, values, starts) in [
            (public, "*.example.net", Rtype::A, addresses(20), ""),
            (public, "a.example.net", Rtype::A, addresses(21), "takes 20 records"),
            (public, "0/25.example.net", Rtype::NS, one("ns1.example.org."), "takes names of letters"),
            (public, "*.example.net", Rtype::NS, one("ns1.example.org."), "takes names of letters"),
            (private, "a.example.net", Rtype::NS, one("ns1.example.org."), "does not take NS"),
            (private, "a.example.net", Rtype::CAA, one("0 issue \";\""), "does not take CAA"),
            (public, "a.example.net", Rtype::CAA, one("0 issue \";\""), ""),
            (public, "a.example.net", Rtype::MX, one("0 ."), ""),
            (public, "a.example.net", Rtype::CNAME, one("0/25.example.net."), "takes printable ASCII"),
            (public, "a.example.net", Rtype::TXT, one(r#""a\009""#), "takes printable ASCII"),
            (public, "a.example.net", Rtype::SRV, one("0 0 1 _a.example.net."), ""),
        ] {
            let said = refused_of(kind, owner, rtype, &values);
            assert!(said.starts_with(starts) && said.is_empty() == starts.is_empty(), "{owner} {rtype}: {said}");
        }
        let strings = |count: usize| vec![vec![format!("\"{}\"", "x".repeat(128)); count].join(" ")];
        assert_eq!(refused_of(public, "a.example.net", Rtype::TXT, &strings(32)), "");
        assert!(refused_of(public, "a.example.net", Rtype::TXT, &strings(33)).starts_with("takes TXT of up to 4096"));
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let text = Rdata::read(Rtype::TXT, &strings(9)[0], NameRef::ROOT).unwrap();
        let national = bounds(public, true).refusal(&zone, (zone.as_name(), Rtype::TXT), Some(Ttl::DEFAULT), &[&text]);
        assert!(national.unwrap().starts_with("takes TXT of up to 1024"));
        let zero = bounds(public, false).refusal(&zone, (zone.as_name(), Rtype::TXT), Some(Ttl::ZERO), &[]);
        assert!(zero.unwrap().starts_with("takes TTLs from 1"));
    }
}
