//! RDATA as text.
//!
//! What is written is read back as the same octets: where the library's text would not be, it is the notation of RFC 3597.

use std::fmt::{self, Write as _};

use domain::base::zonefile_fmt::{DisplayKind, ZonefileFmt};
use domain::base::{ParseRecordData, ParsedName, Rtype};
use domain::dep::octseq::Parser;
use domain::rdata::ZoneRecordData;

use super::read_octets;
use crate::dns::name::{NameRef, write_escaped};
use crate::dns::rrset::RdataRef;
use crate::dns::wire::{has_plain_names, has_plain_params};

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
        let mut parser = Parser::from_ref(self.octets);
        let data = ZoneRecordData::<&[u8], ParsedName<&[u8]>>::parse_rdata(self.rtype, &mut parser);
        if let Ok(Some(data)) = data
            && !matches!(data, ZoneRecordData::Unknown(_))
            && has_plain_names(self.rtype, self.octets)
            && has_plain_params(self.rtype, self.octets)
        {
            let mut text = String::new();
            write!(text, "{}", data.display_zonefile(DisplayKind::Simple))?;
            if read_octets(self.rtype, &text, NameRef::ROOT).is_ok_and(|octets| octets == self.octets) {
                return f.write_str(&text);
            }
        }
        write!(f, "\\# {}", self.octets.len())?;
        for (place, octet) in self.octets.iter().enumerate() {
            write!(f, "{}{octet:02x}", if place == 0 { " " } else { "" })?;
        }
        Ok(())
    }
}
