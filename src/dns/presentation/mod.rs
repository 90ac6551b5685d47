//! Presentation format of RDATA, of every type: the common types by a small table, rare ones field by field, all others
//! by the library.
//!
//! Comes in: text, or the tokens of one. Goes out: canonical wire format, or the token that is wrong and why.
//!
//! The library `domain` (0.12.3) has scanners for the types that it knows. They know no mnemonics of algorithms and no
//! rare types such as LOC, CERT and DHCID, and misread service parameters (SVCB, HTTPS): those are read here.

pub mod entry;

mod fields;

mod mnemonic;

mod rare;

mod scan;

mod svcb;

mod write;

#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, Ipv6Addr};

use domain::base::rdata::ComposeRecordData;
use domain::rdata::ZoneRecordData;

use self::entry::{EntrySplitter, Token};
pub use self::mnemonic::rtype as parse_rtype;
use self::scan::TokenScanner;
use super::Rtype;
use super::name::{self, Name, NameError, NameRef};
use super::rrset::Rdata;
use super::ttl::Ttl;
use super::wire::{NameBuffer, WireOctets};

/// One part of RDATA in presentation format.
#[derive(Debug, Clone, Copy)]
enum RdataField {
    /// An IPv4 address.
    V4,
    /// An IPv6 address.
    V6,
    /// A name.
    Name,
    /// A number of 16 bits.
    U16,
    /// A number of 32 bits.
    U32,
    /// Seconds, perhaps with units.
    Period,
    /// Character strings, at least one.
    Texts,
    /// One string without a length of its own (RFC 7553 section 4.4).
    LongText,
}

/// The parts of the types that are read here: those that zones are full of, those where the library knows no units
/// (SOA), and those that it does not know at all (AFSDB, KX, PX, RT, SPF, URI).
fn parts(rtype: Rtype) -> Option<&'static [RdataField]> {
    use RdataField::{LongText, Name, Period, Texts, U16, U32, V4, V6};
    Some(match rtype {
        Rtype::A => &[V4],
        Rtype::AAAA => &[V6],
        Rtype::NS | Rtype::CNAME | Rtype::DNAME | Rtype::PTR => &[Name],
        Rtype::TXT | Rtype::SPF => &[Texts],
        Rtype::MX | Rtype::AFSDB | Rtype::RT | Rtype::KX => &[U16, Name],
        Rtype::SRV => &[U16, U16, U16, Name],
        Rtype::SOA => &[Name, Name, U32, Period, Period, Period, Period],
        Rtype::PX => &[U16, Name, Name],
        Rtype::URI => &[U16, U16, LongText],
        _ => return None,
    })
}

/// What kind of fault RDATA have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdataFaultKind {
    /// The type is not known by name, so that only the notation of RFC 3597 says what its data are.
    UnknownType,
    /// A name or a label is too long (RFC 1035 section 2.3.4).
    NameTooLong,
    /// A name is not valid.
    BadName,
    /// The type does not allow it.
    BadData,
}

/// What is wrong with RDATA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdataFault {
    /// The number of the token that it is about; `None` where one is missing.
    pub token: Option<usize>,
    /// What kind it is.
    pub kind: RdataFaultKind,
    /// What it is.
    pub message: String,
}

/// Reads the RDATA of records, with room that is used again for each.
#[derive(Debug, Default)]
pub struct RdataReader {
    /// The name that is being read.
    name: NameBuffer,
    /// The RDATA that is being read.
    rdata: Vec<u8>,
}

/// The tokens of one RDATA, with what they need around them.
#[derive(Debug, Clone, Copy)]
pub struct RdataText<'a> {
    /// The text that contains them.
    pub text: &'a [u8],
    /// The tokens.
    pub tokens: &'a [Token],
    /// What completes names without a final dot.
    pub origin: NameRef<'a>,
}

impl RdataReader {
    /// Reads RDATA into canonical wire format: uncompressed, names in lower case.
    pub fn read(&mut self, rtype: Rtype, source: RdataText<'_>) -> Result<&[u8], RdataFault> {
        self.rdata.clear();
        let unknown = source.tokens.first().is_some_and(|token| !token.quoted && token.text(source.text) == b"\\#");
        match parts(rtype) {
            _ if unknown => self.read_generic(rtype, source)?,
            Some(parts) => self.read_parts(parts, source)?,
            None if rare::read(rtype, source, &mut self.rdata)? => {}
            None => self.read_by_library(rtype, source)?,
        }
        Ok(&self.rdata)
    }

    /// Reads one part after another.
    fn read_parts(&mut self, parts: &[RdataField], source: RdataText<'_>) -> Result<(), RdataFault> {
        let mut taken = 0;
        for part in parts {
            loop {
                let token = *source.tokens.get(taken).ok_or_else(|| ends_early(*part))?;
                let read = self.read_part(*part, token.text(source.text), token.quoted, source.origin);
                read.map_err(|(kind, message)| RdataFault { token: Some(taken), kind, message })?;
                taken += 1;
                if !matches!(part, RdataField::Texts) || taken == source.tokens.len() {
                    break;
                }
            }
        }
        if taken < source.tokens.len() {
            return Err(bad(taken, "this follows the last field of the RDATA".to_owned()));
        }
        match self.rdata.len() {
            0..=0xffff => Ok(()),
            _ => Err(bad(0, "RDATA of over 65535 bytes".to_owned())),
        }
    }

    /// Reads one part from one token.
    fn read_part(
        &mut self,
        part: RdataField,
        word: &[u8],
        quoted: bool,
        origin: NameRef<'_>,
    ) -> Result<(), (RdataFaultKind, String)> {
        let wrong =
            |what: &str| (RdataFaultKind::BadData, format!("`{}` is not {what}", String::from_utf8_lossy(word)));
        match part {
            RdataField::Name => {
                match word {
                    b"@" if !quoted => self.name.set(origin),
                    _ => self.name.parse(word, origin).map_err(|error| name_fault(&error))?,
                }
                self.rdata.extend_from_slice(self.name.as_name().as_wire());
            }
            RdataField::V4 => {
                let address: Ipv4Addr = parsed(word).ok_or_else(|| wrong("an IPv4 address"))?;
                self.rdata.extend_from_slice(&address.octets());
            }
            RdataField::V6 => {
                let address: Ipv6Addr = parsed(word).ok_or_else(|| wrong("an IPv6 address"))?;
                self.rdata.extend_from_slice(&address.octets());
            }
            RdataField::U16 => {
                let number = digits(word).and_then(|number| u16::try_from(number).ok());
                self.rdata.extend_from_slice(&number.ok_or_else(|| wrong("a number of 0 to 65535"))?.to_be_bytes());
            }
            RdataField::U32 => {
                let number = digits(word).and_then(|number| u32::try_from(number).ok());
                self.rdata
                    .extend_from_slice(&number.ok_or_else(|| wrong("a number of 0 to 4294967295"))?.to_be_bytes());
            }
            RdataField::Period => {
                let period = parse_period(word).ok_or_else(|| wrong("a length of time of 0 to 2147483647 seconds"))?;
                self.rdata.extend_from_slice(&period.as_secs().to_be_bytes());
            }
            RdataField::Texts => {
                push_string(&mut self.rdata, word, true).map_err(|message| (RdataFaultKind::BadData, message))?
            }
            RdataField::LongText => {
                push_string(&mut self.rdata, word, false).map_err(|message| (RdataFaultKind::BadData, message))?
            }
        }
        Ok(())
    }

    /// Reads the notation of RFC 3597 section 5, which any type may have.
    fn read_generic(&mut self, rtype: Rtype, source: RdataText<'_>) -> Result<(), RdataFault> {
        let missing =
            || RdataFault { token: None, kind: RdataFaultKind::BadData, message: "`\\#` needs a length".to_owned() };
        let length = source.tokens.get(1).ok_or_else(missing)?;
        let length = digits(length.text(source.text)).filter(|length| *length <= 0xffff);
        let length = length.ok_or_else(|| bad(1, "the length after `\\#` must be 0 to 65535".to_owned()))? as usize;
        let mut octets = Vec::with_capacity(length.min(1024));
        let mut high = None;
        for (number, token) in source.tokens.iter().enumerate().skip(2) {
            for octet in token.text(source.text) {
                let digit = (*octet as char).to_digit(16);
                let digit = digit.ok_or_else(|| bad(number, "this is not hexadecimal data".to_owned()))? as u8;
                match high.take() {
                    None => high = Some(digit),
                    Some(high) => octets.push(high << 4 | digit),
                }
            }
        }
        if octets.len() != length || high.is_some() {
            return Err(bad(1, format!("the length is {length}, but {} bytes follow", octets.len())));
        }
        self.canonicalize(rtype, &octets).map_err(|message| bad(1, message))
    }

    /// Lets the library read the types that are not in the table.
    fn read_by_library(&mut self, rtype: Rtype, source: RdataText<'_>) -> Result<(), RdataFault> {
        let RdataText { text, tokens, origin } = source;
        let mut scanner = TokenScanner { text, tokens, taken: 0, origin };
        let data = ZoneRecordData::scan(rtype, &mut scanner);
        let taken = scanner.taken;
        let token = if tokens.is_empty() { None } else { Some(taken.saturating_sub(1)) };
        let data = data.map_err(|error| match &*error.to_string() {
            "unknown record type with concrete data" => {
                let message = format!("the RDATA of {rtype} can be read only in the notation of RFC 3597");
                RdataFault { token: Some(0).filter(|_| !tokens.is_empty()), kind: RdataFaultKind::UnknownType, message }
            }
            said => {
                RdataFault { token, kind: RdataFaultKind::BadData, message: format!("bad RDATA of {rtype}: {said}") }
            }
        })?;
        if taken < tokens.len() {
            return Err(bad(taken, "this follows the last field of the RDATA".to_owned()));
        }
        let mut octets = Vec::new();
        data.compose_rdata(&mut octets).expect("a vector has room");
        self.canonicalize(rtype, &octets).map_err(|message| RdataFault {
            token,
            kind: RdataFaultKind::BadData,
            message,
        })
    }

    /// Checks that octets are RDATA of the type, and lowers the names in them.
    fn canonicalize(&mut self, rtype: Rtype, octets: &[u8]) -> Result<(), String> {
        let done = WireOctets::rdata(octets).append_rdata(rtype, 0..octets.len(), &mut self.rdata);
        done.map_err(|error| format!("bad RDATA of {rtype}: {error}"))
    }
}

impl Rdata {
    /// Parses the presentation format of any type; names are absolute, with the final dot or without.
    ///
    /// `None` where the text is not of the type.
    pub fn parse(rtype: Rtype, text: &str) -> Option<Rdata> {
        match rtype {
            Rtype::A => text.parse::<Ipv4Addr>().ok().map(|v4| Rdata::from_address(v4.into())),
            Rtype::AAAA => text.parse::<Ipv6Addr>().ok().map(|v6| Rdata::from_address(v6.into())),
            Rtype::CNAME | Rtype::PTR => Name::parse(text).ok().map(|name| Rdata::from_name(name.as_name())),
            _ => Rdata::read(rtype, text, NameRef::ROOT).ok(),
        }
    }

    /// The RDATA of a TXT record of one text, in as many strings as it takes: each but the last has 255 octets.
    pub fn from_long_text(text: &[u8]) -> Rdata {
        let mut octets = Vec::with_capacity(text.len() + 1 + text.len() / 255);
        let empty: &[&[u8]] = &[b""];
        let strings: Vec<&[u8]> = text.chunks(255).collect();
        for string in if strings.is_empty() { empty } else { &strings } {
            octets.push(string.len() as u8);
            octets.extend_from_slice(string);
        }
        Rdata::trusted(&octets)
    }

    /// Reads the presentation format of any type, as a line of a master file holds it; names without a final dot are
    /// completed by `origin`.
    ///
    /// Errors: [`RdataFault`].
    pub fn read(rtype: Rtype, text: &str, origin: NameRef<'_>) -> Result<Rdata, RdataFault> {
        read_octets(rtype, text, origin).map(|octets| Rdata::trusted(&octets))
    }
}

/// Reads the RDATA that a text holds, and that end with it.
///
/// Errors: [`RdataFault`].
fn read_octets(rtype: Rtype, text: &str, origin: NameRef<'_>) -> Result<Vec<u8>, RdataFault> {
    let line = format!("{text}\n");
    let mut splitter = EntrySplitter::new(line.as_bytes());
    let is_whole = splitter.next_entry().is_none_or(|entry| entry.fault.is_none() && entry.range.end == line.len());
    if !is_whole {
        return Err(bad(0, "a quote, a parenthesis or a comment that is not closed".to_owned()));
    }
    let source = RdataText { text: line.as_bytes(), tokens: splitter.tokens(), origin };
    RdataReader::default().read(rtype, source).map(<[u8]>::to_vec)
}

/// Appends the octets of a string, with their number before them where it is a character string.
///
/// Errors: a bad escape, or a character string that is too long.
fn push_string(out: &mut Vec<u8>, word: &[u8], counted: bool) -> Result<(), String> {
    let start = out.len();
    if counted {
        out.push(0);
    }
    let mut rest = word;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..backslash]);
        let (octet, used) = name::unescape(&rest[backslash + 1..]).map_err(|error| error.to_string())?;
        out.push(octet);
        rest = &rest[backslash + 1 + used..];
    }
    out.extend_from_slice(rest);
    if counted {
        let length = out.len() - start - 1;
        out[start] = u8::try_from(length).map_err(|_| format!("a string of {length} bytes (255 are allowed)"))?;
    }
    Ok(())
}

/// The octets of a string.
///
/// Errors: a bad escape.
fn unescaped(word: &[u8]) -> Result<Vec<u8>, String> {
    let mut octets = Vec::with_capacity(word.len());
    push_string(&mut octets, word, false)?;
    Ok(octets)
}

/// A fault of a token.
fn bad(token: usize, message: String) -> RdataFault {
    RdataFault { token: Some(token), kind: RdataFaultKind::BadData, message }
}

/// The fault of RDATA that lack a part.
fn ends_early(part: RdataField) -> RdataFault {
    let what = match part {
        RdataField::V4 => "an IPv4 address",
        RdataField::V6 => "an IPv6 address",
        RdataField::Name => "a name",
        RdataField::U16 | RdataField::U32 => "a number",
        RdataField::Period => "a length of time",
        RdataField::Texts | RdataField::LongText => "a string",
    };
    RdataFault { token: None, kind: RdataFaultKind::BadData, message: format!("the RDATA end before {what}") }
}

/// The kind of fault, and the message, of a name that is not valid.
pub fn name_fault(error: &NameError) -> (RdataFaultKind, String) {
    let kind = match error {
        NameError::LabelTooLong(_) | NameError::NameTooLong => RdataFaultKind::NameTooLong,
        _ => RdataFaultKind::BadName,
    };
    (kind, format!("bad name: {error}"))
}

/// A value of the standard library from a token.
fn parsed<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    str::from_utf8(word).ok()?.parse().ok()
}

/// The number that decimal digits mean, where it fits into 64 bits.
fn digits(word: &[u8]) -> Option<u64> {
    let plain = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if plain { parsed(word) } else { None }
}

/// Reads seconds, or numbers with units in any order: `3600`, `1h30m`, `1W`.
///
/// Source: none official; the units are BIND's, and widely used.
pub fn parse_period(word: &[u8]) -> Option<Ttl> {
    let mut seconds: u64 = 0;
    let mut rest = word;
    if word.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let count = rest.iter().take_while(|octet| octet.is_ascii_digit()).count();
        let number = digits(&rest[..count])?;
        let factor = match rest.get(count).map(u8::to_ascii_lowercase) {
            None if count == word.len() => 1,
            Some(b's') => 1,
            Some(b'm') => 60,
            Some(b'h') => 3_600,
            Some(b'd') => 86_400,
            Some(b'w') => 604_800,
            _ => return None,
        };
        seconds = number.checked_mul(factor).and_then(|more| seconds.checked_add(more))?;
        rest = rest.get(count + 1..).unwrap_or_default();
    }
    Ttl::from_secs(seconds)
}
