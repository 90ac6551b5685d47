//! Names, values and identifiers as Cloud Map writes them, and back. Pure.
//!
//! Source: the published model of the API 2017-03-14; instances have the identifiers that external-dns gives them.

use sha2::{Digest as _, Sha256};

use crate::dns::{Name, NameRef, Rdata, Rtype, ZoneName};

/// How many characters the name of a service may have.
pub const MAX_NAME: usize = 127;

/// How many characters an identifier may have.
const MAX_ID: usize = 64;

/// The types that it holds, each with the attribute of instances that has the value.
pub const ATTRIBUTES: [(Rtype, &str); 3] =
    [(Rtype::A, "AWS_INSTANCE_IPV4"), (Rtype::AAAA, "AWS_INSTANCE_IPV6"), (Rtype::CNAME, "AWS_INSTANCE_CNAME")];

/// The attribute that has the value of a type; none where it holds no such type.
pub fn attribute_of(rtype: Rtype) -> Option<&'static str> {
    ATTRIBUTES.iter().find(|(own, _)| *own == rtype).map(|(_, attribute)| *attribute)
}

/// The name of the service that an owner name is; none where no service can have it: that of the apex, a wildcard, and names with
/// other characters.
pub fn service_name(owner: NameRef<'_>, zone: &ZoneName) -> Option<String> {
    let full = owner.to_string();
    let name = full.strip_suffix(&zone.as_name().to_string())?.strip_suffix('.')?;
    is_service_name(name).then(|| name.to_owned())
}

/// Whether a text may be the name of a service.
fn is_service_name(text: &str) -> bool {
    let is_end = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
    let is_label = |label: &str| match label.as_bytes() {
        [only] => only.is_ascii_alphanumeric(),
        [first, inner @ .., last] => {
            is_end(first) && is_end(last) && inner.iter().all(|octet| is_end(octet) || *octet == b'-')
        }
        [] => false,
    };
    text.len() <= MAX_NAME && text.split('.').all(|label| label.len() <= 63 && is_label(label))
}

/// The owner name of a service; none where its name is none of DNS.
pub fn owner_of(service: &str, zone: &ZoneName) -> Option<Name> {
    // `.` is a name of a service by the model, and no label.
    Name::parse(&format!("{service}.{}", zone.as_name())).ok()
}

/// A value as an instance has it: a name without its final dot.
pub fn value_text(rtype: Rtype, rdata: &Rdata) -> String {
    let text = rdata.as_rdata(rtype).to_string();
    if rtype == Rtype::CNAME { text.trim_end_matches('.').to_owned() } else { text }
}

/// The data that a value of an instance is; none where it is not data of the type.
pub fn parse_value(rtype: Rtype, text: &str) -> Option<Rdata> {
    Rdata::read(rtype, text, NameRef::ROOT).ok()
}

/// Whether a name in a value has characters alone that the service takes, and is not the root.
pub fn is_plain_target(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_'))
    };
    text.split('.').all(is_label)
}

/// The identifier of an instance with these values: the value itself, so that writers of different values never meet; of a longer
/// one, its digest.
pub fn instance_id(values: &[&str]) -> String {
    let text = values.join("_").to_ascii_lowercase();
    let is_sign = |octet: u8| octet.is_ascii_alphanumeric() || b"_/:.@-".contains(&octet);
    if text.len() <= MAX_ID && text.bytes().all(is_sign) { text } else { digest_id(&text) }
}

/// Another identifier in place of one that is taken: its digest.
pub fn digest_id(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_labels_below_its_namespace() {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        for (owner, service) in [
            ("a.example.net", Some("a")),
            ("a.b.example.net", Some("a.b")),
            ("_sip._tcp.example.net", Some("_sip._tcp")),
            ("a-.example.net", None),
            ("_.example.net", None),
            ("*.example.net", None),
            ("0/25.example.net", None),
            ("example.net", None),
            ("a.other.net", None),
        ] {
            let name = Name::parse(owner).unwrap();
            assert_eq!(service_name(name.as_name(), &zone).as_deref(), service, "{owner}");
            assert!(service.is_none_or(|service| owner_of(service, &zone) == Some(name)));
        }
        let long = format!("{}.{}", "a".repeat(63), "b".repeat(63));
        assert!(is_service_name(&long) && !is_service_name(&format!("{long}c")));
        assert_eq!(owner_of("Mixed", &zone), Name::parse("mixed.example.net").ok());
        assert_eq!(owner_of(".", &zone), None);
    }

    #[test]
    fn an_instance_is_called_as_its_value() {
        assert_eq!(instance_id(&["192.0.2.1"]), "192.0.2.1");
        assert_eq!(instance_id(&["192.0.2.1", "2001:db8::1"]), "192.0.2.1_2001:db8::1");
        let name = Rdata::read(Rtype::CNAME, "Www.Example.org.", NameRef::ROOT).unwrap();
        assert_eq!(value_text(Rtype::CNAME, &name), "www.example.org");
        assert_eq!(parse_value(Rtype::CNAME, "www.example.org"), Some(name));
        assert_eq!(parse_value(Rtype::A, "2001:db8::1"), None);
        // The digest of 65 letters, by `sha256sum`.
        let digest = "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0";
        assert_eq!(instance_id(&["a".repeat(65).as_str()]), digest);
        assert!(is_plain_target("a_b.example.org") && !is_plain_target("") && !is_plain_target(r"a\000b.example"));
    }
}
