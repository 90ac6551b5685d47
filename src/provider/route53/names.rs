//! Names and values as Route 53 writes them, with octal escapes where master files have decimal ones. Pure.
//!
//! Source: Amazon Route 53 developer guide, "DNS domain name format": all but letters, digits, hyphens and underscores comes as
//! `\` and three octal digits; the same in values of TXT.

use std::fmt::Write as _;

use crate::dns::{Name, NameRef, Rdata, Rtype};

/// A name as the API takes and gives it, with the final dot.
pub fn name_text(name: NameRef<'_>) -> String {
    let mut text = String::new();
    for label in name.labels() {
        for octet in label {
            let is_plain = octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
            // Writing to a text does not fail.
            let _ = if is_plain { write!(text, "{}", char::from(*octet)) } else { write!(text, "\\{octet:03o}") };
        }
        text.push('.');
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

/// The name that a text of the API is.
///
/// Errors: in words.
pub fn parse_name(text: &str) -> Result<Name, String> {
    let decimal = with_decimals(text).ok_or_else(|| format!("the name `{text}` has an escape that is none"))?;
    Name::parse(&decimal).map_err(|error| format!("the name `{text}` is none: {error}"))
}

/// A value as the API takes it.
pub fn value_text(rtype: Rtype, rdata: &Rdata) -> String {
    let text = rdata.as_rdata(rtype).to_string();
    converted(&text, 10, |octet| format!("\\{octet:03o}")).unwrap_or(text)
}

/// The data that a value of the API is; none where it is not data of the type.
pub fn parse_value(rtype: Rtype, text: &str) -> Option<Rdata> {
    // Names in values are whole ones, with a final dot or without.
    Rdata::read(rtype, &with_decimals(text)?, NameRef::ROOT).ok()
}

/// A text with decimal escapes in place of octal ones.
fn with_decimals(text: &str) -> Option<String> {
    converted(text, 8, |octet| format!("\\{octet:03}"))
}

/// A text with other escapes in place of those of three digits of a base; none where such an escape is no octet.
fn converted(text: &str, base: u32, escape: impl Fn(u8) -> String) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('\\') {
        made.push_str(&rest[..place]);
        rest = &rest[place + 1..];
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = rest.get(..3)?;
            made.push_str(&escape(u8::from_str_radix(digits, base).ok()?));
            rest = &rest[3..];
        } else {
            let escaped = rest.chars().next()?;
            // A dot in a label of a name, and the like; in texts, these two are escaped.
            match u8::try_from(escaped) {
                Ok(octet) if !matches!(octet, b'"' | b'\\') => made.push_str(&escape(octet)),
                _ => made.extend(['\\', escaped]),
            }
            rest = &rest[escaped.len_utf8()..];
        }
    }
    made.push_str(rest);
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_octal_escapes() {
        for (ours, theirs) in [
            ("*.example.net.", r"\052.example.net."),
            (r"a\.b.example.net.", r"a\056b.example.net."),
            (r"\000\255.example.net.", r"\000\377.example.net."),
            ("_sip._tcp.example.net.", "_sip._tcp.example.net."),
            ("0/25.2.0.192.in-addr.arpa.", r"0\05725.2.0.192.in-addr.arpa."),
        ] {
            let name = Name::parse(ours).unwrap();
            assert_eq!(name_text(name.as_name()), theirs);
            assert_eq!(parse_name(theirs).unwrap(), name);
        }
        assert_eq!(name_text(NameRef::ROOT), ".");
        assert_eq!(parse_name("*.Example.net").unwrap(), Name::parse("*.example.net").unwrap());
        for bad in [r"\09a.example.net", r"\999.example.net", r"\1", r"a\", r"\777.example.net"] {
            assert!(parse_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_have_octal_escapes() {
        for (rtype, ours, theirs) in [
            (Rtype::TXT, r#""a\"b\\c" "\009\195\164""#, r#""a\"b\\c" "\011\303\244""#),
            (Rtype::CNAME, r"\*.a\.b.example.net.", r"*.a\056b.example.net."),
            (Rtype::MX, "10 mail.example.net.", "10 mail.example.net."),
        ] {
            let rdata = Rdata::read(rtype, ours, NameRef::ROOT).unwrap();
            assert_eq!(value_text(rtype, &rdata), theirs);
            assert_eq!(parse_value(rtype, theirs).unwrap(), rdata);
        }
        let rdata = parse_value(Rtype::CNAME, "www.example.net").unwrap();
        assert_eq!(value_text(Rtype::CNAME, &rdata), "www.example.net.", "a final dot may be left out");
        assert_eq!(parse_value(Rtype::A, "192.0.2.256"), None);
        assert_eq!(parse_value(Rtype::TXT, r#""\899""#), None);
    }
}
