//! The types that zones seldom hold, field by field; the library knows no presentation format of most of them.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::fields::{FieldResult, RdataFields};
use super::{RdataText, digits, mnemonic, parsed, svcb};
use crate::dns::Rtype;

/// Reads RDATA into wire format, appended to `out`; `false` where the type is none of those here.
pub fn read(rtype: Rtype, source: RdataText<'_>, out: &mut Vec<u8>) -> FieldResult<bool> {
    let mut fields = RdataFields::new(source, out);
    let known = read_dnssec(rtype, &mut fields)? || read_data(rtype, &mut fields)? || read_other(rtype, &mut fields)?;
    if known {
        fields.finish()?;
    }
    Ok(known)
}

/// The types of DNSSEC and their like, of which the library reads no mnemonics of algorithms.
fn read_dnssec(rtype: Rtype, fields: &mut RdataFields<'_, '_>) -> FieldResult<bool> {
    match rtype {
        Rtype::DS | Rtype::CDS | Rtype::DLV | Rtype::TA => {
            fields.u16()?;
            fields.octet(ALGORITHM, mnemonic::algorithm)?;
            fields.octet("a kind of digest", mnemonic::digest)?;
            fields.hex()?;
        }
        Rtype::DNSKEY | Rtype::CDNSKEY | Rtype::KEY | Rtype::RKEY => {
            let flags = fields.pair("flags of a key", mnemonic::key_flags)?;
            fields.octet("the protocol of a key", mnemonic::key_protocol)?;
            fields.octet(ALGORITHM, mnemonic::algorithm)?;
            // Both bits say that there is no key (RFC 2535 section 3.1.2).
            if rtype == Rtype::KEY && flags & 0xc000 == 0xc000 {
                fields.base64_or_nothing()?;
            } else {
                fields.base64()?;
            }
        }
        Rtype::RRSIG | Rtype::SIG => {
            fields.pair("a type", |word| Some(mnemonic::rtype(word)?.to_int()))?;
            fields.octet(ALGORITHM, mnemonic::algorithm)?;
            fields.u8()?;
            fields.u32()?;
            fields.quad(TIME, parse_time)?;
            fields.quad(TIME, parse_time)?;
            fields.u16()?;
            fields.name()?;
            fields.base64()?;
        }
        Rtype::CERT => {
            fields.pair("a kind of certificate", mnemonic::certificate)?;
            fields.u16()?;
            fields.octet(ALGORITHM, mnemonic::algorithm)?;
            fields.base64()?;
        }
        Rtype::CSYNC => {
            fields.u32()?;
            fields.u16()?;
            push_windows(&fields.types()?, fields.out);
        }
        Rtype::NXT => {
            fields.name()?;
            let types = fields.types()?;
            if types.last().is_some_and(|last| *last > 127) {
                return Err(fields.fault("NXT has no room for types over 127".to_owned()));
            }
            push_bits(types, fields.out);
        }
        Rtype::DSYNC => {
            fields.pair("a type", |word| Some(mnemonic::rtype(word)?.to_int()))?;
            fields.octet("a scheme", mnemonic::scheme)?;
            fields.u16()?;
            fields.name()?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Those that are texts or data, with few numbers in front.
fn read_data(rtype: Rtype, fields: &mut RdataFields<'_, '_>) -> FieldResult<bool> {
    match rtype {
        Rtype::SMIMEA => {
            fields.u8()?;
            fields.u8()?;
            fields.u8()?;
            fields.hex()?;
        }
        Rtype::DHCID | Rtype::HHIT | Rtype::BRID => fields.base64()?,
        Rtype::SINK => {
            fields.u8()?;
            fields.u8()?;
            fields.u8()?;
            fields.base64_or_nothing()?;
        }
        Rtype::X25 => fields.text()?,
        Rtype::ISDN => {
            fields.text()?;
            if !fields.is_at_end() {
                fields.text()?;
            }
        }
        Rtype::GPOS => {
            fields.text()?;
            fields.text()?;
            fields.text()?;
        }
        Rtype::NINFO | Rtype::AVC | Rtype::RESINFO | Rtype::WALLET => fields.texts()?,
        Rtype::EID | Rtype::NIMLOC => fields.hex()?,
        Rtype::DOA => {
            fields.u32()?;
            fields.u32()?;
            fields.u8()?;
            fields.text()?;
            match fields.peek() {
                Some(token) if fields.text_of(token) == b"-" => fields.token(DATA).map(|_| ())?,
                _ => fields.base64()?,
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// All others.
fn read_other(rtype: Rtype, fields: &mut RdataFields<'_, '_>) -> FieldResult<bool> {
    match rtype {
        Rtype::SVCB | Rtype::HTTPS => {
            fields.u16()?;
            fields.name()?;
            svcb::read_params(fields)?;
        }
        Rtype::LOC => read_loc(fields)?,
        Rtype::HIP => read_hip(fields)?,
        Rtype::APL => read_apl(fields)?,
        Rtype::WKS => read_wks(fields)?,
        Rtype::AMTRELAY => read_amtrelay(fields)?,
        Rtype::A6 => read_a6(fields)?,
        Rtype::ATMA => read_atma(fields)?,
        Rtype::NSAP => {
            let octets = fields.value("hexadecimal data after `0x`", |word| {
                let (zero, digits) = word.split_at_checked(2)?;
                zero.eq_ignore_ascii_case(b"0x").then(|| dotted_hex(digits))?
            })?;
            fields.out.extend_from_slice(&octets);
        }
        Rtype::EUI48 => read_eui(fields, 6)?,
        Rtype::EUI64 => read_eui(fields, 8)?,
        Rtype::NID | Rtype::L64 => {
            fields.u16()?;
            let groups = fields.value("four groups of hexadecimal digits", parse_groups)?;
            groups.into_iter().for_each(|group| fields.out.extend_from_slice(&group.to_be_bytes()));
        }
        Rtype::L32 => {
            fields.u16()?;
            fields.v4()?;
        }
        Rtype::LP => {
            fields.u16()?;
            fields.name()?;
        }
        Rtype::NSAPPTR => fields.name()?,
        Rtype::TALINK => {
            fields.name()?;
            fields.name()?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// What an algorithm is called.
const ALGORITHM: &str = "an algorithm of DNSSEC";

/// What a time is called.
const TIME: &str = "a time such as `20261231235959`";

/// What data are called.
const DATA: &str = "the data";

/// Seconds since 1970, modulo 2^32, from `YYYYMMDDHHmmSS` or from the seconds themselves (RFC 4034 section 3.2).
fn parse_time(word: &[u8]) -> Option<u32> {
    if word.len() != 14 {
        return digits(word)?.try_into().ok();
    }
    let number = |from: usize, length: usize| digits(&word[from..from + length]);
    let (year, month, day) = (number(0, 4)?, number(4, 2)?, number(6, 2)?);
    let (hour, minute, second) = (number(8, 2)?, number(10, 2)?, number(12, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let of_month = *days.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    if year < 1970 || !(1..=of_month).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let before = year - 1;
    let leap_days = before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    let days = (year - 1970) * 365 + leap_days + days[..month as usize - 1].iter().sum::<u64>() + day - 1;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) as u32)
}

/// Appends types as windows of bits (RFC 4034 section 4.1.2).
fn push_windows(types: &BTreeSet<u16>, out: &mut Vec<u8>) {
    let mut types = types.iter().copied().peekable();
    while let Some(window) = types.peek().map(|first| first >> 8) {
        let of_window = std::iter::from_fn(|| types.next_if(|next| next >> 8 == window));
        out.extend_from_slice(&[window as u8, 0]);
        let start = out.len();
        push_bits(of_window.map(|number| number & 0xff), out);
        out[start - 1] = (out.len() - start) as u8;
    }
}

/// Appends sorted numbers as bits, the first of the first octet being that of zero, up to the last octet that has one.
fn push_bits(numbers: impl IntoIterator<Item = u16>, out: &mut Vec<u8>) {
    let start = out.len();
    for number in numbers {
        out.resize(start + usize::from(number / 8) + 1, 0);
        out[start + usize::from(number / 8)] |= 0x80 >> (number % 8);
    }
}

/// A decimal number with at most `places` digits after its point, times ten for each place.
fn parse_decimal(word: &[u8], places: usize) -> Option<u64> {
    let point = word.iter().position(|octet| *octet == b'.').unwrap_or(word.len());
    let (whole, fraction) = (&word[..point], word.get(point + 1..).unwrap_or_default());
    if whole.len() > 12 || fraction.len() > places || point < word.len() && fraction.is_empty() {
        return None;
    }
    let fraction = [fraction, &vec![b'0'; places - fraction.len()]].concat();
    digits(&[whole, &fraction].concat()).filter(|_| !whole.is_empty())
}

/// The equator and the prime meridian (RFC 1876 section 2).
const ORIGIN: u32 = 1 << 31;

/// A place on earth (RFC 1876 section 3).
fn read_loc(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    let latitude = read_angle(fields, 90, b"N", b"S")?;
    let longitude = read_angle(fields, 180, b"E", b"W")?;
    // In centimetres above 100 km below the reference spheroid.
    let altitude = fields.value("an altitude in metres", |word| {
        let word = without_unit(word);
        let below = word.strip_prefix(b"-");
        let distance = i64::try_from(parse_decimal(below.unwrap_or(word), 2)?).ok()?;
        u32::try_from(10_000_000 + if below.is_some() { -distance } else { distance }).ok()
    })?;
    let mut precisions = [0x12, 0x16, 0x13];
    for precision in &mut precisions {
        if !fields.is_at_end() {
            *precision = fields.value("a length in metres", |word| parse_precision(without_unit(word)))?;
        }
    }
    fields.out.push(0);
    fields.out.extend_from_slice(&precisions);
    for number in [latitude, longitude, altitude] {
        fields.out.extend_from_slice(&number.to_be_bytes());
    }
    Ok(())
}

/// Degrees, perhaps with minutes and seconds, and a direction: thousandths of a second of arc.
fn read_angle(fields: &mut RdataFields<'_, '_>, most: u64, positive: &[u8], negative: &[u8]) -> FieldResult<u32> {
    let mut angle = fields.value("degrees", digits)?.saturating_mul(3_600_000);
    for (unit, places) in [(60_000, 0), (1, 3)] {
        let next = fields.peek().map(|token| fields.text_of(token)).unwrap_or_default();
        if next.first().is_some_and(u8::is_ascii_digit) {
            let part = fields.value("a number below 60", |word| parse_decimal(word, places))?;
            if part * unit >= 60 * 1_000 * if places == 0 { 60 } else { 1 } {
                return Err(fields.fault("minutes and seconds are below 60".to_owned()));
            }
            angle = angle.saturating_add(part * unit);
        }
    }
    if angle > most * 3_600_000 {
        return Err(fields.fault(format!("an angle of over {most} degrees")));
    }
    let angle = angle as u32;
    fields.value("a direction", |word| match word {
        word if word.eq_ignore_ascii_case(positive) => Some(ORIGIN + angle),
        word if word.eq_ignore_ascii_case(negative) => Some(ORIGIN - angle),
        _ => None,
    })
}

/// A length without the `m` behind it.
fn without_unit(word: &[u8]) -> &[u8] {
    word.strip_suffix(b"m").or_else(|| word.strip_suffix(b"M")).unwrap_or(word)
}

/// A length as one digit of centimetres and a power of ten. Further digits are dropped, as BIND does.
fn parse_precision(word: &[u8]) -> Option<u8> {
    let mut mantissa = parse_decimal(word, 2).filter(|centimetres| *centimetres <= 9_000_000_000)?;
    let mut exponent = 0;
    while mantissa > 9 {
        mantissa /= 10;
        exponent += 1;
    }
    Some((mantissa as u8) << 4 | exponent)
}

/// An identity of a host, its key, and its rendezvous servers (RFC 8005 section 6).
fn read_hip(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    let algorithm: u8 = fields.value("a number of 0 to 255", |word| digits(word)?.try_into().ok())?;
    let identity = fields.hex_word()?;
    let length = u8::try_from(identity.len());
    let length = length.map_err(|_| fields.fault("an identity of over 255 bytes".to_owned()))?;
    let key = fields.base64_word()?;
    let of_key = u16::try_from(key.len()).map_err(|_| fields.fault("a key of over 65535 bytes".to_owned()))?;
    fields.out.extend_from_slice(&[length, algorithm]);
    fields.out.extend_from_slice(&of_key.to_be_bytes());
    fields.out.extend_from_slice(&identity);
    fields.out.extend_from_slice(&key);
    while !fields.is_at_end() {
        fields.name()?;
    }
    Ok(())
}

/// Networks: `1:192.0.2.0/24`, `!2:2001:db8::/32` (RFC 3123 section 5).
fn read_apl(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    while !fields.is_at_end() {
        let (negation, family, prefix, address) = fields.value("a network such as `1:192.0.2.0/24`", |word| {
            let text = str::from_utf8(word).ok()?;
            let (negation, rest) = text.strip_prefix('!').map_or((0, text), |rest| (0x80, rest));
            let (family, network) = rest.split_once(':')?;
            let (address, prefix) = network.split_once('/')?;
            let prefix: u8 = digits(prefix.as_bytes())?.try_into().ok()?;
            let (family, most, octets) = match family {
                "1" => (1u16, 32, address.parse::<Ipv4Addr>().ok()?.octets().to_vec()),
                "2" => (2, 128, address.parse::<Ipv6Addr>().ok()?.octets().to_vec()),
                _ => return None,
            };
            (prefix <= most).then_some((negation, family, prefix, octets))
        })?;
        let kept = address.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
        fields.out.extend_from_slice(&family.to_be_bytes());
        fields.out.extend_from_slice(&[prefix, negation | kept as u8]);
        fields.out.extend_from_slice(&address[..kept]);
    }
    Ok(())
}

/// The services of an address (RFC 1035 section 3.4.2).
fn read_wks(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    fields.v4()?;
    fields.octet("a protocol", mnemonic::protocol)?;
    let mut ports = BTreeSet::new();
    while !fields.is_at_end() {
        ports.insert(fields.value("a service that is known here, or a port", mnemonic::service)?);
    }
    push_bits(ports, fields.out);
    Ok(())
}

/// A relay of multicast (RFC 8777 section 4.3).
fn read_amtrelay(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    fields.u8()?;
    let discovery: u8 = fields.value("0 or 1", |word| match word {
        b"0" => Some(0),
        b"1" => Some(0x80),
        _ => None,
    })?;
    let kind: u8 =
        fields.value("a kind of relay: 0 to 3", |word| digits(word)?.try_into().ok().filter(|kind| *kind < 4))?;
    fields.out.push(discovery | kind);
    match kind {
        1 => fields.v4(),
        2 => fields.v6(),
        3 => fields.name(),
        _ => fields.value("`.`, since there is no relay", |word| (word == b".").then_some(())),
    }
}

/// A part of an address, and the name that has the rest (RFC 2874 section 3.2).
fn read_a6(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    let prefix =
        fields.octet("a number of 0 to 128", |word| digits(word)?.try_into().ok().filter(|bits| *bits <= 128))?;
    if prefix < 128 {
        let address: Ipv6Addr = fields.value("an IPv6 address", parsed)?;
        let masked = u128::from(address) & (u128::MAX >> prefix);
        fields.out.extend_from_slice(&masked.to_be_bytes()[usize::from(prefix / 8)..]);
    }
    if prefix > 0 { fields.name() } else { Ok(()) }
}

/// An address of ATM: `+` and digits, or hexadecimal data.
fn read_atma(fields: &mut RdataFields<'_, '_>) -> FieldResult {
    let (format, address) =
        fields.value("`+` and digits, or hexadecimal data", |word| match word.strip_prefix(b"+") {
            Some(number) => {
                let digits: Vec<u8> = number.iter().copied().filter(|octet| *octet != b'.').collect();
                (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some((1, digits))
            }
            None => Some((0, dotted_hex(word)?)),
        })?;
    fields.out.push(format);
    fields.out.extend_from_slice(&address);
    Ok(())
}

/// Hexadecimal data with dots anywhere between digits.
fn dotted_hex(word: &[u8]) -> Option<Vec<u8>> {
    let digits = word.iter().filter(|octet| **octet != b'.').map(|octet| (*octet as char).to_digit(16));
    let digits = digits.collect::<Option<Vec<u32>>>()?;
    let octets = digits.chunks(2).map(|pair| Some((pair[0] << 4 | pair.get(1)?) as u8));
    octets.collect::<Option<Vec<u8>>>().filter(|octets| !octets.is_empty())
}

/// A hardware address of so many octets: `00-00-5e-00-53-2a` (RFC 7043 sections 3.2 and 4.2).
fn read_eui(fields: &mut RdataFields<'_, '_>, length: usize) -> FieldResult {
    let octets = fields.value("pairs of hexadecimal digits with hyphens between them", |word| {
        let octets = str::from_utf8(word).ok()?.split('-').map(|pair| match pair.len() {
            2 => dotted_hex(pair.as_bytes())?.first().copied(),
            _ => None,
        });
        octets.collect::<Option<Vec<u8>>>().filter(|octets| octets.len() == length)
    })?;
    fields.out.extend_from_slice(&octets);
    Ok(())
}

/// 64 bits as groups of hexadecimal digits: `2001:db8:1140:1000` (RFC 6742 sections 2.1.2 and 2.3.2).
fn parse_groups(word: &[u8]) -> Option<[u16; 4]> {
    let group = |text: &str| {
        let is_plain = (1..=4).contains(&text.len()) && text.bytes().all(|octet| octet.is_ascii_hexdigit());
        is_plain.then(|| u16::from_str_radix(text, 16).ok())?
    };
    let groups = str::from_utf8(word).ok()?.split(':').map(group).collect::<Option<Vec<u16>>>()?;
    groups.try_into().ok()
}
