//! The syntax of values, type by type. A value is only looked at: the text is kept as it was written.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::names::{DoubleName, fault};

/// The types of the API's model.
pub const TYPES: [&str; 17] = [
    "SOA", "A", "TXT", "NS", "CNAME", "MX", "NAPTR", "PTR", "SRV", "SPF", "AAAA", "CAA", "DS", "TLSA", "SSHFP", "SVCB",
    "HTTPS",
];

/// The longest character string, in octets. Source: RFC 1035 section 3.3.
const MAX_STRING: usize = 255;

/// A field of a value.
#[derive(Debug, PartialEq, Eq)]
enum ValueField<'t> {
    /// As it is written.
    Plain(&'t str),
    /// Between quotation marks, which are left out.
    Quoted(&'t str),
}

/// Checks a value. Errors: the words in which the service refuses it.
pub fn check_value(rtype: &str, value: &str) -> Result<(), String> {
    check_fields(rtype, value).map_err(|(code, words)| {
        format!("Invalid Resource Record: '{}'", fault(&code.replace("{}", rtype), words, value))
    })
}

/// The code and the words of a refusal; `{}` in the code is the type.
type ValueFault = (&'static str, &'static str);

/// Checks the fields of a value.
fn check_fields(rtype: &str, value: &str) -> Result<(), ValueFault> {
    if value.is_empty() {
        return Err(("{}RRDATAEmpty", "Value is empty"));
    }
    if value.bytes().any(|octet| !(0x20..0x7f).contains(&octet)) {
        return Err(("UnsupportedCharacter", "Value contains unsupported characters"));
    }
    let fields = split(value).ok_or(("InvalidCharacterString", "Value should be enclosed in quotation marks"))?;
    match rtype {
        "TXT" | "SPF" => check_strings(&fields),
        "A" => check_holds(
            plain(single(&fields)?)?.parse::<Ipv4Addr>().is_ok(),
            ("ARRDATAIllegalIPv4Address", "Value is not a valid IPv4 address"),
        ),
        "AAAA" => check_holds(
            plain(single(&fields)?)?.parse::<Ipv6Addr>().is_ok(),
            ("AAAARRDATAIllegalIPv6Address", "Value is not a valid IPv6 address"),
        ),
        "CNAME" | "NS" | "PTR" => check_name(single(&fields)?),
        "MX" => {
            let [preference, exchange] = counted(&fields)?;
            check_number(preference, u16::MAX.into())?;
            check_name(exchange)
        }
        "SRV" => {
            let [priority, weight, port, target] = counted(&fields)?;
            [priority, weight, port].into_iter().try_for_each(|field| check_number(field, u16::MAX.into()))?;
            check_name(target)
        }
        "SOA" => {
            let [primary, mailbox, numbers @ ..] = counted::<7>(&fields)?;
            check_name(primary)?;
            check_name(mailbox)?;
            numbers.into_iter().try_for_each(|field| check_number(field, u32::MAX.into()))
        }
        "CAA" => {
            let [flags, tag, content] = counted(&fields)?;
            check_number(flags, u8::MAX.into())?;
            let tag = plain(tag)?;
            check_holds(
                tag.bytes().all(|octet| octet.is_ascii_alphanumeric()),
                ("CAARRDATAInvalidTag", "Tag is invalid"),
            )?;
            check_string(content)
        }
        "NAPTR" => {
            let [order, preference, flags, service, regexp, replacement] = counted(&fields)?;
            [order, preference].into_iter().try_for_each(|field| check_number(field, u16::MAX.into()))?;
            [flags, service, regexp].into_iter().try_for_each(check_string)?;
            check_name(replacement)
        }
        "DS" => {
            let [tag, algorithm, digest_type, digest] = counted(&fields)?;
            check_number(tag, u16::MAX.into())?;
            [algorithm, digest_type].into_iter().try_for_each(|field| check_number(field, u8::MAX.into()))?;
            check_hex(digest)
        }
        "TLSA" => {
            let [usage, selector, matching, data] = counted(&fields)?;
            [usage, selector, matching].into_iter().try_for_each(|field| check_number(field, u8::MAX.into()))?;
            check_hex(data)
        }
        "SSHFP" => {
            let [algorithm, hash, fingerprint] = counted(&fields)?;
            [algorithm, hash].into_iter().try_for_each(|field| check_number(field, u8::MAX.into()))?;
            check_hex(fingerprint)
        }
        "SVCB" | "HTTPS" => check_service(&fields),
        _ => Err(("UnsupportedType", "Type is not supported")),
    }
}

/// Checks a service binding: priority, target, parameters.
fn check_service(fields: &[ValueField<'_>]) -> Result<(), ValueFault> {
    let [priority, target, parameters @ ..] = fields else { return Err(COUNT_FAULT) };
    check_number(priority, u16::MAX.into())?;
    check_name(target)?;
    let is_key = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_lowercase())
            && key.bytes().all(|octet| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-')
    };
    parameters.iter().try_for_each(|parameter| {
        let parameter = plain(parameter)?;
        let key = parameter.split_once('=').map_or(parameter, |(key, _)| key);
        check_holds(is_key(key), ("{}RRDATAInvalidParameter", "Parameter is invalid"))
    })
}

/// The refusal of a wrong number of fields.
const COUNT_FAULT: ValueFault = ("{}RRDATAWrongFieldCount", "Value does not have the right number of fields");

/// Returns the only field.
fn single<'f, 't>(fields: &'f [ValueField<'t>]) -> Result<&'f ValueField<'t>, ValueFault> {
    match fields {
        [field] => Ok(field),
        _ => Err(("{}RRDATANotSingleField", "Value contains spaces")),
    }
}

/// Returns the fields, if there are as many as there must be.
fn counted<'f, 't, const N: usize>(fields: &'f [ValueField<'t>]) -> Result<[&'f ValueField<'t>; N], ValueFault> {
    let all: Vec<&ValueField<'t>> = fields.iter().collect();
    all.try_into().map_err(|_| COUNT_FAULT)
}

/// Refuses unless a condition holds.
fn check_holds(holds: bool, fault: ValueFault) -> Result<(), ValueFault> {
    if holds { Ok(()) } else { Err(fault) }
}

/// Returns a field that has no quotation marks.
fn plain<'t>(field: &ValueField<'t>) -> Result<&'t str, ValueFault> {
    match field {
        ValueField::Plain(text) => Ok(text),
        ValueField::Quoted(_) => Err(("{}RRDATAQuotedField", "Field must not be enclosed in quotation marks")),
    }
}

/// Checks a number.
fn check_number(field: &ValueField<'_>, most: u64) -> Result<(), ValueFault> {
    let text = plain(field)?;
    let is_number = text.bytes().all(|octet| octet.is_ascii_digit());
    check_holds(
        is_number && text.parse::<u64>().is_ok_and(|number| number <= most),
        ("{}RRDATAInvalidNumber", "Value is not a valid number"),
    )
}

/// Checks a domain name.
fn check_name(field: &ValueField<'_>) -> Result<(), ValueFault> {
    check_holds(
        DoubleName::parse(plain(field)?).is_ok(),
        ("{}RRDATAInvalidDomainName", "Value is not a valid domain name"),
    )
}

/// Checks octets in hexadecimal.
fn check_hex(field: &ValueField<'_>) -> Result<(), ValueFault> {
    let text = plain(field)?;
    check_holds(
        text.len() % 2 == 0 && text.bytes().all(|octet| octet.is_ascii_hexdigit()),
        ("{}RRDATAInvalidHex", "Value is not valid hexadecimal"),
    )
}

/// Checks one or more character strings.
fn check_strings(fields: &[ValueField<'_>]) -> Result<(), ValueFault> {
    check_holds(!fields.is_empty(), ("InvalidCharacterString", "Value should be enclosed in quotation marks"))?;
    fields.iter().try_for_each(check_string)
}

/// Checks a character string: in quotation marks, with `\ooo`, `\"` and `\\` as its only escapes, and not too long.
fn check_string(field: &ValueField<'_>) -> Result<(), ValueFault> {
    let ValueField::Quoted(text) = field else {
        return Err(("InvalidCharacterString", "Value should be enclosed in quotation marks"));
    };
    let mut length = 0;
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        length += 1;
        rest = match (first, after) {
            (b'\\', [b'"' | b'\\', after @ ..]) => after,
            (b'\\', [b'0'..=b'3', b'0'..=b'7', b'0'..=b'7', after @ ..]) => after,
            (b'\\', _) => return Err(("InvalidCharacterString", "Escape is invalid")),
            _ => after,
        };
    }
    check_holds(length <= MAX_STRING, ("CharacterStringTooLong", "Value is too long"))
}

/// Splits a value at blanks. None where quotation marks are not in pairs, or no blank is between two fields.
fn split(value: &str) -> Option<Vec<ValueField<'_>>> {
    let mut fields = Vec::new();
    let mut rest = value.trim_matches(' ');
    while !rest.is_empty() {
        let after = if let Some(inside) = rest.strip_prefix('"') {
            let end = end_of_string(inside)?;
            fields.push(ValueField::Quoted(&inside[..end]));
            &inside[end + 1..]
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            fields.push(ValueField::Plain(&rest[..end]));
            &rest[end..]
        };
        if !after.is_empty() && !after.starts_with(' ') {
            return None;
        }
        rest = after.trim_start_matches(' ');
    }
    Some(fields)
}

/// Finds the quotation mark that ends a character string.
fn end_of_string(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.bytes().position(|octet| {
        let is_end = octet == b'"' && !is_escaped;
        is_escaped = octet == b'\\' && !is_escaped;
        is_end
    })
}
