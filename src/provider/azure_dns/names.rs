//! Names and texts as Azure DNS writes them. Pure.

use crate::dns::{Name, NameRef, ZoneName};

/// What the apex is called among the names of a zone.
const APEX: &str = "@";

/// The name of a record set, relative to its zone.
pub fn relative_text(owner: NameRef<'_>, zone: &ZoneName) -> String {
    let full = owner.to_string();
    let apex = zone.as_name().to_string();
    match full.strip_suffix(&apex).map(|relative| relative.trim_end_matches('.')) {
        Some("") => APEX.to_owned(),
        Some(relative) => relative.to_owned(),
        None => full,
    }
}

/// The owner name that a relative name is; none where it is none.
pub fn relative_name(text: &str, zone: &ZoneName) -> Option<Name> {
    if text == APEX { Some(zone.as_name().to_name()) } else { Name::parse(&format!("{text}.{}", zone.as_name())).ok() }
}

/// A name in a record, from its presentation format: without the final dot, but for the root.
pub fn name_value(text: &str) -> &str {
    if text == "." { text } else { text.trim_end_matches('.') }
}

/// Whether a label has letters, digits, hyphens and underscores alone, which are all that the service takes.
pub fn is_plain_label(label: &[u8]) -> bool {
    label.iter().all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_'))
}

/// A text as a string of presentation format.
pub fn quoted(text: &str) -> String {
    let shown = |octet: u8| match octet {
        b'"' | b'\\' => format!("\\{}", char::from(octet)),
        0x20..=0x7e => char::from(octet).to_string(),
        _ => format!("\\{octet:03}"),
    };
    format!("\"{}\"", text.bytes().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_their_zone() {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        for (name, text) in [("example.net.", "@"), ("a.b.example.net.", "a.b"), ("*.example.net.", "*")] {
            let name = Name::parse(name).unwrap();
            assert_eq!(relative_text(name.as_name(), &zone), text);
            assert_eq!(relative_name(text, &zone), Some(name));
        }
        assert_eq!(relative_name("", &zone), None);
        assert_eq!(relative_name("a..b", &zone), None);
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a\"b\\c\té"), r#""a\"b\\c\009\195\169""#);
        assert_eq!((name_value("a.example.net."), name_value(".")), ("a.example.net", "."));
        assert!(is_plain_label(b"_a-1") && !is_plain_label(b"0/25") && !is_plain_label(b"*"));
    }
}
