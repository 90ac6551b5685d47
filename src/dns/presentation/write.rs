//! RDATA as text.
//!
//! What is written is read back as the same octets: where the library's text would not be, it is the notation of RFC 3597.

use std::fmt::{self, Write as _};

use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::base::{ParseRecordData, ParsedName, Rtype};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;

use super::{RdataField, parts, read_octets};
use crate::dns::name::{NameRef, write_escaped};
use crate::dns::rrset::RdataRef;
use crate::dns::wire::{NameBuffer, WireOctets, has_plain_names, has_plain_params};

impl fmt::Display for RdataRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(address) = self.address() {
            return address.fmt(f);
        }
        match self.rtype {
            Rtype::NS | Rtype::CNAME | Rtype::DNAME | Rtype::PTR => NameRef::trusted(self.octets).fmt(f),
            Rtype::TXT => {
                for (place, string) in self.strings().enumerate() {
                    f.write_str(if place == 0 { "\"" } else { " \"" })?;
                    // Blanks are kept as they are between quotes.
                    for part in string.split_inclusive(|octet| *octet == b' ') {
                        let (text, blank) = match part.strip_suffix(b" ") {
                            Some(text) => (text, " "),
                            None => (part, ""),
                        };
                        write_escaped(f, text, b"\"\\")?;
                        f.write_str(blank)?;
                    }
                    f.write_str("\"")?;
                }
                Ok(())
            }
            _ => self.fmt_other(f),
        }
    }
}

impl RdataRef<'_> {
    /// Writes any further type: as `domain` does where that is read back as the same octets, else as RFC 3597 section 5
    /// says.
    ///
    /// The library (0.12.3) leaves out some escapes in names, so that its text may mean something else: `;` would begin a
    /// comment. It also writes service parameters that BIND 9.18 does not read.
    fn fmt_other(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = if self.rtype == Rtype::LOC { location(self.octets) } else { by_parts(*self) };
        if let Some(text) = own.filter(|text| self.is_read_from(text)) {
            return f.write_str(&text);
        }
        let mut parser = Parser::from_ref(self.octets);
        let data = ZoneRecordData::<&[u8], ParsedName<&[u8]>>::parse_rdata(self.rtype, &mut parser);
        if let Ok(Some(data)) = data
            && !matches!(data, ZoneRecordData::Unknown(_))
            && has_plain_names(self.rtype, self.octets)
            && has_plain_params(self.rtype, self.octets)
        {
            let mut text = String::new();
            write!(text, "{}", data.display_zonefile(DisplayKind::Simple))?;
            if self.is_read_from(&text) {
                return f.write_str(&text);
            }
        }
        write!(f, "\\# {}", self.octets.len())?;
        for (place, octet) in self.octets.iter().enumerate() {
            write!(f, "{}{octet:02x}", if place == 0 { " " } else { "" })?;
        }
        Ok(())
    }

    /// Whether a text is read as these RDATA.
    fn is_read_from(&self, text: &str) -> bool {
        read_octets(self.rtype, text, NameRef::ROOT).is_ok_and(|octets| octets == self.octets)
    }
}

/// The text of a type that is read by its parts, and that the library writes as octets; none of other types.
fn by_parts(rdata: RdataRef<'_>) -> Option<String> {
    let is_meant = matches!(rdata.rtype, Rtype::AFSDB | Rtype::KX | Rtype::PX | Rtype::RT | Rtype::SPF | Rtype::URI);
    let (mut rest, mut text) = (rdata.octets, String::new());
    let mut name = NameBuffer::default();
    for part in parts(rdata.rtype).filter(|_| is_meant)? {
        let blank = if text.is_empty() { "" } else { " " };
        match part {
            RdataField::U16 => {
                let (number, after) = rest.split_first_chunk::<2>()?;
                write!(text, "{blank}{}", u16::from_be_bytes(*number)).ok()?;
                rest = after;
            }
            RdataField::Name => {
                let end = WireOctets::rdata(rest).read_name(0, &mut name).ok()?;
                write!(text, "{blank}{}", name.as_name()).ok()?;
                rest = &rest[end..];
            }
            RdataField::LongText => {
                write!(text, "{blank}\"{}\"", escaped(std::mem::take(&mut rest))).ok()?;
            }
            RdataField::Texts => {
                while let Some((length, after)) = rest.split_first() {
                    let (string, after) = after.split_at_checked(usize::from(*length))?;
                    let blank = if text.is_empty() { "" } else { " " };
                    write!(text, "{blank}\"{}\"", escaped(string)).ok()?;
                    rest = after;
                }
            }
            RdataField::V4 | RdataField::V6 | RdataField::U32 | RdataField::Period => return None,
        }
    }
    Some(text)
}

/// Octets as they are between quotes.
fn escaped(octets: &[u8]) -> String {
    let mut text = String::new();
    for octet in octets {
        match octet {
            b'"' | b'\\' => text.extend(['\\', char::from(*octet)]),
            0x20..=0x7e => text.push(char::from(*octet)),
            _ => write!(text, "\\{octet:03}").expect("a string has room"),
        }
    }
    text
}

/// The text of a LOC; none of another version than 0.
///
/// Source: RFC 1876 sections 2 and 3.
fn location(octets: &[u8]) -> Option<String> {
    let [0, size, horizontal, vertical, numbers @ ..] = octets else { return None };
    let number = |at: usize| Some(i64::from(u32::from_be_bytes(*numbers.get(at..)?.first_chunk()?)));
    let angle = |from_equator: i64, [positive, negative]: [char; 2]| {
        let (thousandths, side) = (from_equator.abs(), if from_equator < 0 { negative } else { positive });
        let (degrees, minutes) = (thousandths / 3_600_000, thousandths / 60_000 % 60);
        format!("{degrees} {minutes} {}.{:03} {side}", thousandths / 1000 % 60, thousandths % 1000)
    };
    let metres = |centimetres: i64| {
        let sign = if centimetres < 0 { "-" } else { "" };
        format!("{sign}{}.{:02}m", centimetres.abs() / 100, centimetres.abs() % 100)
    };
    // A digit and a power of ten, of centimetres.
    let precision = |octet: &u8| metres(i64::from(octet >> 4) * 10_i64.pow(u32::from(octet & 0xf)));
    let (latitude, longitude) = (number(0)? - (1 << 31), number(4)? - (1 << 31));
    let altitude = metres(number(8)? - 10_000_000);
    Some(format!(
        "{} {} {altitude} {} {} {}",
        angle(latitude, ['N', 'S']),
        angle(longitude, ['E', 'W']),
        precision(size),
        precision(horizontal),
        precision(vertical)
    ))
}
