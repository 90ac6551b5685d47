//! The parameters of SVCB and HTTPS.
//!
//! A value is unescaped as a character string first; lists are then split at commas, where `\,` is a comma of an item
//! and `\\` a backslash. So `alpn="h1\\,h2"` has one item, `h1,h2`. A parameter that is named by its number (`key1`) has
//! its value in wire format, with no second step.
//!
//! Source: RFC 9460 sections 2.1, 7 and appendix A.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, Ipv6Addr};

use domain::base::iana::SvcParamKey;
use domain::utils::base64;

use super::fields::{FieldResult, RdataFields};
use super::{digits, parsed, unescaped};

/// The names of parameters; the number of each is its place. The last six are newer than RFC 9460.
const NAMES: &str =
    "mandatory alpn no-default-alpn port ipv4hint ech ipv6hint dohpath ohttp tls-supported-groups docpath pvd oots";

/// Reads all parameters, and writes them in the order of their numbers.
pub fn read_params(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    let mut params = BTreeMap::new();
    while !fields.is_at_end() {
        let (key, value) = read_param(fields)?;
        if params.insert(key, value).is_some() {
            return Err(fields.fault("the parameter is there twice".to_owned()));
        }
    }
    for (key, value) in params {
        let too_long = |_| fields.fault("a value of over 65535 bytes".to_owned());
        let length = u16::try_from(value.len()).map_err(too_long)?;
        fields.out.extend_from_slice(&key.to_be_bytes());
        fields.out.extend_from_slice(&length.to_be_bytes());
        fields.out.extend_from_slice(&value);
    }
    Ok(())
}

/// Reads `KEY`, `KEY=VALUE`, or `KEY="VALUE"`, which is two tokens.
fn read_param(fields: &mut RdataFields<'_, '_>) -> FieldResult<(u16, Vec<u8>)> {
    let token = fields.token("a parameter")?;
    let word = fields.text_of(token);
    let (name, value) = match word.iter().position(|octet| *octet == b'=') {
        Some(equals) => (&word[..equals], Some(&word[equals + 1..])),
        None => (word, None),
    };
    let shown = || String::from_utf8_lossy(name).into_owned();
    let known = known_key(name).filter(|_| !token.quoted);
    let number = known.or_else(|| parse_key(name).filter(|_| !token.quoted));
    let key = number.ok_or_else(|| fields.fault(format!("`{}` is not a service parameter", shown())))?;
    let value = match (value, fields.peek()) {
        (Some(b""), Some(next)) if next.glued && next.quoted => Some(fields.word("a value")?),
        (value, _) => value,
    };
    if fields.peek().is_some_and(|next| next.glued) {
        return Err(fields.fault(format!("something follows the value of `{}` without a blank", shown())));
    }
    let wrong = |what: &str| fields.fault(format!("the value of `{}` is not {what}", shown()));
    let text = unescaped(value.unwrap_or_default()).map_err(|message| fields.fault(message))?;
    let octets = match known {
        Some(_) => parse_value(key, &text).map_err(wrong)?,
        None => text,
    };
    check_value(key, &octets).map_err(wrong)?;
    Ok((key, octets))
}

/// The number of a parameter that has a name.
fn known_key(name: &[u8]) -> Option<u16> {
    Some(NAMES.split(' ').position(|known| known.as_bytes() == name)? as u16)
}

/// The number in `key667`, written without leading zeros.
fn parse_key(name: &[u8]) -> Option<u16> {
    let number = name.strip_prefix(b"key")?;
    let is_plain = number == b"0" || !number.starts_with(b"0");
    digits(number).filter(|_| is_plain)?.try_into().ok()
}

/// A value of a named parameter in wire format.
///
/// Errors: what it should be.
fn parse_value(key: u16, text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let items = || split_list(text).ok_or("a list without empty items");
    Ok(match SvcParamKey::from_int(key) {
        SvcParamKey::MANDATORY => {
            let number = |name: Vec<u8>| known_key(&name).or_else(|| parse_key(&name));
            let keys = items()?.into_iter().map(number).collect::<Option<Vec<u16>>>().ok_or(KEYS)?;
            let sorted: BTreeSet<u16> = keys.iter().copied().collect();
            if sorted.len() < keys.len() {
                return Err(KEYS);
            }
            sorted.into_iter().flat_map(u16::to_be_bytes).collect()
        }
        SvcParamKey::ALPN => {
            let mut octets = Vec::with_capacity(text.len() + 1);
            for item in items()? {
                octets.push(u8::try_from(item.len()).map_err(|_| PROTOCOLS)?);
                octets.extend_from_slice(&item);
            }
            octets
        }
        SvcParamKey::PORT => parse_number(text).ok_or(PORT)?.to_be_bytes().to_vec(),
        SvcParamKey::IPV4HINT => join(items()?, |item| Some(parsed::<Ipv4Addr>(item)?.octets())).ok_or(V4)?,
        SvcParamKey::IPV6HINT => join(items()?, |item| Some(parsed::<Ipv6Addr>(item)?.octets())).ok_or(V6)?,
        SvcParamKey::ECH => {
            let text = str::from_utf8(text).map_err(|_| "base64")?;
            base64::decode(text).map_err(|_| "base64")?
        }
        SvcParamKey::TLS_SUPPORTED_GROUPS => {
            join(items()?, |item| Some(parse_number(item)?.to_be_bytes())).ok_or(GROUPS)?
        }
        _ => text.to_vec(),
    })
}

/// What lists of keys are.
const KEYS: &str = "a list of other parameters, each once";

/// What lists of protocols are.
const PROTOCOLS: &str = "a list of protocols of 1 to 255 bytes";

/// What a port is.
const PORT: &str = "a port: 0 to 65535";

/// What lists of IPv4 addresses are.
const V4: &str = "a list of IPv4 addresses";

/// What lists of IPv6 addresses are.
const V6: &str = "a list of IPv6 addresses";

/// What lists of groups are.
const GROUPS: &str = "a list of numbers of 0 to 65535";

/// Checks a value in wire format.
///
/// Errors: what it should be.
fn check_value(key: u16, octets: &[u8]) -> Result<(), &'static str> {
    let of = |size: usize| !octets.is_empty() && octets.len().is_multiple_of(size);
    let (holds, what) = match SvcParamKey::from_int(key) {
        SvcParamKey::MANDATORY => {
            let keys: Vec<[u8; 2]> = octets.chunks_exact(2).map(|key| [key[0], key[1]]).collect();
            (of(2) && keys.is_sorted_by(|a, b| a < b) && keys[0] != [0, 0], KEYS)
        }
        SvcParamKey::ALPN => (is_list_of_strings(octets), PROTOCOLS),
        SvcParamKey::NO_DEFAULT_ALPN | SvcParamKey::OHTTP => (octets.is_empty(), "empty"),
        SvcParamKey::PORT => (octets.len() == 2, PORT),
        SvcParamKey::IPV4HINT => (of(4), V4),
        SvcParamKey::IPV6HINT => (of(16), V6),
        _ => (true, ""),
    };
    if holds { Ok(()) } else { Err(what) }
}

/// Whether octets are character strings, none empty, at least one.
fn is_list_of_strings(octets: &[u8]) -> bool {
    let mut rest = octets;
    while let Some((length, after)) = rest.split_first() {
        match after.get(usize::from(*length)..) {
            Some(next) if *length > 0 => rest = next,
            _ => return false,
        }
    }
    !octets.is_empty()
}

/// The items of a list: its text is split at commas, `\,` is a comma of an item, and `\\` a backslash.
///
/// `None` where an item is empty, or another octet follows a backslash.
fn split_list(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut items = vec![Vec::new()];
    let mut octets = text.iter();
    while let Some(octet) = octets.next() {
        let item = items.last_mut()?;
        match octet {
            b',' => items.push(Vec::new()),
            b'\\' => item.push(*octets.next().filter(|escaped| matches!(escaped, b',' | b'\\'))?),
            octet => item.push(*octet),
        }
    }
    items.iter().all(|item| !item.is_empty()).then_some(items)
}

/// A number of 16 bits.
fn parse_number(text: &[u8]) -> Option<u16> {
    digits(text)?.try_into().ok()
}

/// All items in wire format.
fn join<const N: usize>(items: Vec<Vec<u8>>, parse: impl Fn(&[u8]) -> Option<[u8; N]>) -> Option<Vec<u8>> {
    let octets = items.iter().map(|item| parse(item)).collect::<Option<Vec<[u8; N]>>>()?;
    Some(octets.concat())
}
