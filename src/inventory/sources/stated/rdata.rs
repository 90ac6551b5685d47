//! Values of records from texts.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::NodeFault;
use crate::dns::{Name, NameRef, Rdata, Rtype, name};
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
        NodeFault::of(node, format!("`{text}` is not the data of {rtype}: {why}"), hint)
    };
    match rtype {
        Rtype::A => {
            let address = text.parse::<Ipv4Addr>().map_err(|_| wrong(not_an_address(text)))?;
            return Ok(Rdata::from_address(IpAddr::V4(address)));
        }
        Rtype::AAAA => {
            let address = text.parse::<Ipv6Addr>().map_err(|_| wrong(not_an_address(text)))?;
            return Ok(Rdata::from_address(IpAddr::V6(address)));
        }
        Rtype::CNAME | Rtype::DNAME | Rtype::NS | Rtype::PTR => {
            if text.is_empty() || text.contains(char::is_whitespace) {
                return Err(wrong("it is not a name"));
            }
        }
        _ => {}
    }
    let read = |origin: NameRef<'_>| Rdata::read(rtype, text, origin).map_err(|fault| wrong(&fault.message));
    let rdata = read(NameRef::ROOT)?;
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
