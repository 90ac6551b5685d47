//! Contents to the text of a master file: one record a line, every name and TTL written out.
//!
//! The order is that of RFC 4034 section 6.1, the apex and its SOA first, so that two snapshots can be compared line by
//! line. Every record is read back as it is written.

use std::io::{self, Write};

use crate::dns::{NameRef, RdataRef, RrsetRef, Rtype, ZoneContents};

/// The last line: a text without it was cut.
pub const END: &str = "; end of the zone\n";

/// Writes a zone.
///
/// Errors: those of `out`.
pub fn write_zone(contents: &ZoneContents, out: &mut impl Write) -> io::Result<()> {
    let mut rrsets: Vec<RrsetRef<'_>> = contents.rrsets().collect();
    rrsets.sort_by_cached_key(|rrset| {
        (canonical_key(rrset.owner().as_name()), rrset.rtype() != Rtype::SOA, rrset.rtype())
    });
    writeln!(out, "; zone {}, serial {}, {} records", contents.apex(), contents.serial(), contents.record_count())?;
    let mut line = String::new();
    for rrset in rrsets {
        let owner = rrset.owner().to_string();
        for (ttl, rdata) in rrset.records() {
            line.clear();
            push_data(&mut line, rdata);
            write!(out, "{owner} {ttl} IN {line}")?;
        }
    }
    out.write_all(END.as_bytes())
}

/// Appends type and RDATA, and the end of the line.
fn push_data(line: &mut String, rdata: RdataRef<'_>) {
    line.extend([&*rdata.rtype.to_string(), " ", &*rdata.to_string(), "\n"]);
}

/// Octets that compare as names do in the canonical order: label by label from the right, a shorter one first.
///
/// Source: RFC 4034 section 6.1.
fn canonical_key(name: NameRef<'_>) -> Vec<u8> {
    let mut labels: Vec<&[u8]> = name.labels().collect();
    labels.reverse();
    let mut key = Vec::with_capacity(name.as_wire().len());
    for label in labels {
        for octet in label {
            // Zero ends a label, so that a zero in it takes two octets that come after that.
            match octet {
                0 | 1 => key.extend([1, *octet]),
                other => key.push(*other),
            }
        }
        key.push(0);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    #[test]
    fn names_have_the_order_of_rfc_4034() {
        // The example of section 6.1, its capitals lowered.
        let names = [
            "example.",
            "a.example.",
            "yljkjljk.a.example.",
            "z.a.example.",
            "zabc.a.example.",
            "z.example.",
            "\\001.z.example.",
            "*.z.example.",
            "\\200.z.example.",
        ];
        let key = |name: &str| canonical_key(Name::parse(name).unwrap().as_name());
        assert!(names.is_sorted_by_key(|name| key(name)));
        let zeros = ["a.", "\\000.a.", "\\000\\000.a.", "\\000\\001.a.", "\\001.a.", "\\001\\000.a.", "\\002.a."];
        assert!(zeros.is_sorted_by_key(|name| key(name)));
    }
}
