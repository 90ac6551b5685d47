//! Values of records from texts.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{NodeFault, to_ascii};
use crate::dns::{Name, NameRef, Rdata, Rtype, WireOctets, name};
use crate::inventory::node::SettingsNode;

/// Whether the names in a value end with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalDots {
    /// They must not.
    None,
    /// They may.
    Any,
    /// They must.
    All,
}

/// Reads a value in presentation format; names in it are absolute.
///
/// Errors: it is no value of the type, or its names do not end as they must.
pub fn read(node: &SettingsNode, rtype: Rtype, text: &str, dots: FinalDots) -> Result<Rdata, NodeFault> {
    let wrong = |why: &str| {
        let hint = match rtype {
            Rtype::A => "an A record holds IPv4 addresses such as `192.0.2.1`",
            Rtype::AAAA => "an AAAA record holds IPv6 addresses such as `2001:db8::1`",
            Rtype::MX => "write a preference and a name, such as `10 mail.example.net.`",
            Rtype::SRV => "write priority, weight, port and a name, such as `0 5 5060 sip.example.net.`",
            _ => "write the data as a line of a master file holds them",
        };
        NodeFault::of(node, format!("`{}` is not the data of {rtype}: {why}", in_short(text)), hint)
    };
    if begins_comment(text) {
        let message = format!("`{}`: a `;` begins a comment, so what is behind it would be lost", in_short(text));
        return Err(NodeFault::of(node, message, "put the text with the `;` in double quotes, or write `\\;`"));
    }
    let plain = if text.is_ascii() { text.to_owned() } else { ascii_names(rtype, text).map_err(|why| wrong(&why))? };
    let text = plain.as_str();
    match rtype {
        // The notation of RFC 3597 is one of any type.
        _ if text.starts_with("\\#") => {}
        Rtype::A => {
            let address = text.parse::<Ipv4Addr>().map_err(|_| wrong(not_an_address(text)))?;
            return Ok(Rdata::from_address(IpAddr::V4(address)));
        }
        Rtype::AAAA => {
            let address = text.parse::<Ipv6Addr>().map_err(|_| wrong(not_an_address(text)))?;
            return Ok(Rdata::from_address(IpAddr::V6(address)));
        }
        Rtype::CNAME | Rtype::DNAME | Rtype::NS | Rtype::PTR
            if text.is_empty() || text == "@" || text.contains(char::is_whitespace) =>
        {
            return Err(wrong("it is not a name"));
        }
        _ => {}
    }
    let read = |origin: NameRef<'_>| Rdata::read(rtype, text, origin).map_err(|fault| wrong(&fault.message));
    let rdata = read(NameRef::ROOT)?;
    if let Some(why) = refused_by_servers(&rdata, rtype) {
        return Err(wrong(&why));
    }
    // A name without a final dot would end in what completes it.
    let marker = Name::parse("no-final-dot.invalid").expect("a constant name");
    let lacks_dot = read(marker.as_name()).map_or(true, |other| other != rdata);
    match dots {
        FinalDots::All if lacks_dot => {
            let hint = "end each name in it with a dot";
            Err(NodeFault::of(node, format!("`{text}`: a name of {rtype} needs a final dot here"), hint))
        }
        FinalDots::None if !lacks_dot => {
            let hint = "remove the dot at its end: external-dns drops such a record";
            Err(NodeFault::of(node, format!("`{text}`: a name of {rtype} has no final dot here"), hint))
        }
        _ => Ok(rdata),
    }
}

/// How many characters of a value a message has.
const SHOWN: usize = 120;

/// A value as a message has it.
fn in_short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Whether a comment begins in a value, as in a line of a master file (RFC 1035 section 5.1).
fn begins_comment(text: &str) -> bool {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.chars().any(|c| {
        let is_plain = !std::mem::take(&mut is_escaped);
        match c {
            '\\' => is_escaped = is_plain,
            '"' if is_plain => is_quoted = !is_quoted,
            _ => {}
        }
        c == ';' && is_plain && !is_quoted
    })
}

/// A value whose names have other letters than those of ASCII, as DNS has them.
///
/// Errors: it has some elsewhere, or no such name can be in DNS.
fn ascii_names(rtype: Rtype, text: &str) -> Result<String, String> {
    let has_names = matches!(
        rtype,
        Rtype::CNAME | Rtype::DNAME | Rtype::NS | Rtype::PTR | Rtype::MX | Rtype::SRV | Rtype::SVCB | Rtype::HTTPS
    );
    if !has_names {
        return Err("it has characters that are not ASCII".to_owned());
    }
    let words = text.split(' ').map(|word| if word.is_ascii() { Ok(word.to_owned()) } else { to_ascii(word) });
    words.collect::<Result<Vec<String>, String>>().map(|words| words.join(" "))
}

/// Why servers refuse a value that can be written, where they do: digests of another length than their kind has (RFC 4509,
/// RFC 6605, RFC 4255, RFC 6594), and service parameters that need others (RFC 9460 sections 7.1.1 and 8).
fn refused_by_servers(rdata: &Rdata, rtype: Rtype) -> Option<String> {
    let octets = rdata.as_octets();
    let expected = match (rtype, octets) {
        (Rtype::DS, [_, _, _, kind, ..]) => {
            [(1, 20), (2, 32), (4, 48)].iter().find(|(own, _)| own == kind).map(|(_, len)| len + 4)
        }
        (Rtype::SSHFP, [_, kind, ..]) => [(1, 20), (2, 32)].iter().find(|(own, _)| own == kind).map(|(_, len)| len + 2),
        _ => None,
    };
    if expected.is_some_and(|expected| expected != octets.len()) {
        return Some("the digest has another length than its kind".to_owned());
    }
    // Both begin with numbers of one octet each.
    if matches!((rtype, octets.len()), (Rtype::TLSA | Rtype::SMIMEA, 3) | (Rtype::SSHFP, 2)) {
        return Some("the data of the certificate or key are missing".to_owned());
    }
    if !matches!(rtype, Rtype::SVCB | Rtype::HTTPS) {
        return None;
    }
    let params = service_params(octets)?;
    let has = |key: u16| params.iter().any(|(own, _)| *own == key);
    let (mandatory, alpn, no_default_alpn) = (0, 1, 2);
    if has(no_default_alpn) && !has(alpn) {
        return Some("`no-default-alpn` needs `alpn`".to_owned());
    }
    let listed = params.iter().find(|(key, _)| *key == mandatory)?.1;
    let lacks = listed.chunks_exact(2).any(|key| !has(u16::from_be_bytes([key[0], key[1]])));
    lacks.then(|| "`mandatory` names a parameter that is not there".to_owned())
}

/// The service parameters of SVCB and HTTPS: numbers and values.
fn service_params(octets: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    let end = WireOctets::rdata(octets).skip_name(2).ok()?;
    let (mut rest, mut params) = (&octets[end..], Vec::new());
    while let Some(([k0, k1, l0, l1], after)) = rest.split_first_chunk::<4>() {
        let (value, after) = after.split_at_checked(usize::from(u16::from_be_bytes([*l0, *l1])))?;
        params.push((u16::from_be_bytes([*k0, *k1]), value));
        rest = after;
    }
    Some(params)
}

/// A TXT of one text.
///
/// Errors: no record holds so much.
pub fn long_text(node: &SettingsNode, text: &[u8]) -> Result<Rdata, NodeFault> {
    let octets = text.len() + text.len().div_ceil(255).max(1);
    if octets > usize::from(u16::MAX) {
        let message = format!("the text has {} bytes, and no record holds so many", text.len());
        return Err(NodeFault::of(node, message, "divide it into several values"));
    }
    Ok(Rdata::from_long_text(text))
}

/// What is wrong with a text that is no address of its type.
fn not_an_address(text: &str) -> &'static str {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => "it is an IPv4 address",
        Ok(IpAddr::V6(_)) => "it is an IPv6 address",
        Err(_) if Name::parse_host(text).is_ok() && text.contains(|c: char| c.is_ascii_alphabetic()) => {
            "it is a name, and a CNAME holds one"
        }
        Err(_) => "it is not an address",
    }
}

/// The octets that a text means in which `\DDD` and `\X` are escapes, as between quotes of a master file.
///
/// Errors: a bad escape.
pub fn unescaped(node: &SettingsNode, text: &str) -> Result<Vec<u8>, NodeFault> {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        octets.extend_from_slice(&rest[..backslash]);
        let after = &rest[backslash + 1..];
        let (octet, used) = name::unescape(after).map_err(|error| {
            NodeFault::of(node, format!("`{text}`: {error}"), "write a backslash as `\\\\`, and an octet as `\\DDD`")
        })?;
        octets.push(octet);
        rest = &after[used..];
    }
    octets.extend_from_slice(rest);
    Ok(octets)
}

/// Octets between quotes, as a master file holds them.
pub fn quoted(octets: &[u8]) -> String {
    let mut text = String::from("\"");
    for octet in octets {
        match octet {
            b'"' | b'\\' => text.extend(['\\', char::from(*octet)]),
            0x20..=0x7e => text.push(char::from(*octet)),
            _ => write!(text, "\\{octet:03}").expect("a string has room"),
        }
    }
    text.push('"');
    text
}
