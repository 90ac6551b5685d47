//! What the API says of a zone, to its contents. Pure.
//!
//! Source: the schema of `GET /servers/{server_id}/zones/{zone_id}` in PowerDNS's own description of its API, and what
//! version 4.7 answers.

use std::borrow::Cow;

use serde::Deserialize;

use crate::dns::{Name, NameRef, Rdata, Rtype, Ttl, ZoneBuilder, ZoneContents, ZoneName};
use crate::target::OpaqueRecords;

/// A zone in a list of zones.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ListedZone {
    /// What the API calls it: its name, with other characters for some.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// How a zone is numbered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ZoneNumbering {
    /// The serial that is stored.
    #[serde(default)]
    pub serial: u32,
    /// What raises it with each request of the API (`SOA-EDIT-API`); empty where nothing does.
    #[serde(default)]
    pub soa_edit_api: String,
}

/// A zone with its RRsets.
#[derive(Debug, Deserialize)]
struct ZoneDocument<'d> {
    /// The serial that servers answer with, where `SOA-EDIT` makes it another one than is stored.
    edited_serial: Option<u32>,
    /// The serial that is stored.
    #[serde(default)]
    serial: u32,
    /// What raises it.
    #[serde(default)]
    soa_edit_api: String,
    /// All RRsets.
    #[serde(borrow)]
    rrsets: Vec<RrsetDocument<'d>>,
}

/// An RRset.
#[derive(Debug, Deserialize)]
struct RrsetDocument<'d> {
    /// The owner name.
    #[serde(borrow)]
    name: Cow<'d, str>,
    /// The records.
    #[serde(borrow)]
    records: Vec<RecordDocument<'d>>,
    /// In seconds.
    ttl: u64,
    /// The type; of one that only PowerDNS has, its own word.
    #[serde(borrow, rename = "type")]
    rtype: Cow<'d, str>,
}

/// A record.
#[derive(Debug, Deserialize)]
struct RecordDocument<'d> {
    /// Its data in presentation format, with names that end in a dot.
    #[serde(borrow)]
    content: Cow<'d, str>,
    /// Whether it is switched off: then it is kept, and not served.
    #[serde(default)]
    disabled: bool,
}

/// Why there are no contents.
#[derive(Debug, PartialEq, Eq)]
pub enum DocumentFault {
    /// It is not what the API should say, in words.
    Bad(String),
    /// It has more records than are read.
    TooMany,
}

/// The list of zones of this name.
///
/// Errors: in words.
pub fn read_list(octets: &[u8]) -> Result<Vec<ListedZone>, String> {
    serde_json::from_slice(octets).map_err(|error| format!("its list of zones cannot be read: {error}"))
}

/// How a zone is numbered.
///
/// Errors: in words.
pub fn read_numbering(octets: &[u8]) -> Result<ZoneNumbering, String> {
    serde_json::from_slice(octets).map_err(|error| format!("its zone cannot be read: {error}"))
}

/// The contents of a zone, of at most `most` records, and what in it is no plain RRset.
pub fn read_zone(
    zone: &ZoneName,
    octets: &[u8],
    most: u64,
) -> Result<(ZoneContents, Vec<OpaqueRecords>, ZoneNumbering), DocumentFault> {
    let bad = |why: String| DocumentFault::Bad(why);
    let document: ZoneDocument<'_> =
        serde_json::from_slice(octets).map_err(|error| bad(format!("its zone cannot be read: {error}")))?;
    let mut builder = ZoneBuilder::new(zone.clone());
    let (mut opaque, mut count) = (Vec::new(), 0);
    for rrset in &document.rrsets {
        let RrsetDocument { name, records, ttl, rtype } = rrset;
        let owner = Name::parse(name).map_err(|error| bad(format!("it has the name `{name}`: {error}")))?;
        let plain = rtype.parse::<Rtype>().ok().zip(Ttl::from_secs(*ttl));
        for RecordDocument { content, disabled } in records {
            count += 1;
            if count > most {
                return Err(DocumentFault::TooMany);
            }
            let rdata = plain
                .filter(|_| !disabled)
                .and_then(|(rtype, ttl)| Some((rtype, ttl, Rdata::read(rtype, content, NameRef::ROOT).ok()?)));
            match rdata {
                Some((rtype, ttl, rdata)) => {
                    let served = document.edited_serial.filter(|_| rtype == Rtype::SOA);
                    let rdata = served.map_or_else(|| rdata.as_octets().to_vec(), |serial| with_serial(&rdata, serial));
                    let pushed = builder.push(owner.as_name(), rtype, ttl, &rdata);
                    pushed.map_err(|error| bad(format!("its {rtype} record at `{owner}` cannot be kept: {error}")))?;
                }
                None => opaque.push(OpaqueRecords { owner: owner.clone(), what: what(rtype, *disabled) }),
            }
        }
    }
    opaque.sort_unstable();
    opaque.dedup();
    let contents = builder.finish().map_err(|error| bad(format!("its zone cannot be used: {error}")))?;
    let numbering = ZoneNumbering { serial: document.serial, soa_edit_api: document.soa_edit_api };
    Ok((contents, opaque, numbering))
}

/// What a record is that no RRset says.
fn what(rtype: &str, is_disabled: bool) -> String {
    let begins_with_vowel = rtype.starts_with(['A', 'E', 'I', 'O', 'U']);
    match (is_disabled, begins_with_vowel) {
        (true, _) => format!("a disabled {rtype} record"),
        (false, true) => format!("an {rtype} record of PowerDNS's own kind"),
        (false, false) => format!("a {rtype} record of PowerDNS's own kind"),
    }
}

/// The RDATA of a SOA with another serial, which is the first of its five last numbers (RFC 1035 section 3.3.13).
fn with_serial(soa: &Rdata, serial: u32) -> Vec<u8> {
    let mut octets = soa.as_octets().to_vec();
    let place = octets.len() - 20;
    octets[place..place + 4].copy_from_slice(&serial.to_be_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What version 4.7.3 answered, with what a zone can hold, and `SOA-EDIT` set to `INCREMENT-WEEKS`; without the keys that
    /// are not read.
    const ZONE: &str = r#"{"edited_serial": 2026115972, "id": "example.net.", "rrsets": [
        {"comments": [], "name": "*.w.example.net.", "records": [{"content": "2001:db8::1", "disabled": false}], "ttl": 300, "type": "AAAA"},
        {"comments": [], "name": "u.example.net.", "records": [{"content": "\\# 4 0a000001", "disabled": false}], "ttl": 300, "type": "ADDR"},
        {"comments": [], "name": "d.example.net.", "records": [{"content": "192.0.2.9", "disabled": true}], "ttl": 300, "type": "A"},
        {"comments": [], "name": "c.example.net.", "records": [{"content": "a.example.net.", "disabled": false}], "ttl": 300, "type": "ALIAS"},
        {"comments": [], "name": "b.example.net.", "records": [{"content": "\"x;y \\\"q\\\" ()\" \"z\"", "disabled": false}], "ttl": 300, "type": "TXT"},
        {"comments": [], "name": "lua.example.net.", "records": [{"content": "A \"ifportup(443, {'1.2.3.4'})\"", "disabled": false}], "ttl": 300, "type": "LUA"},
        {"comments": [], "name": "a.example.net.", "records": [{"content": "192.0.2.1", "disabled": false}, {"content": "192.0.2.2", "disabled": true}], "ttl": 300, "type": "A"},
        {"comments": [], "name": "example.net.", "records": [{"content": "ns1.example.net. root.example.net. 2026113003 2 3 4 300", "disabled": false}], "ttl": 3600, "type": "SOA"},
        {"comments": [], "name": "example.net.", "records": [{"content": "ns1.example.net.", "disabled": false}], "ttl": 3600, "type": "NS"}], "serial": 2026113003}"#;

    fn apex() -> ZoneName {
        ZoneName::new(Name::parse("example.net").unwrap())
    }

    #[test]
    fn a_zone_has_its_plain_records_and_what_is_none() {
        let (contents, opaque, _) = read_zone(&apex(), ZONE.as_bytes(), 100).unwrap();
        let shown = |rrset: crate::dns::RrsetRef<'_>| {
            let (owner, rtype, ttl) = (rrset.owner(), rrset.rtype(), rrset.ttl().as_secs());
            format!("{owner} {ttl} {rtype} {}", rrset.to_rrset().rdata_texts(rtype).join(", "))
        };
        let mut rrsets: Vec<String> = contents.rrsets().map(shown).collect();
        rrsets.sort();
        assert_eq!(
            rrsets,
            [
                "*.w.example.net. 300 AAAA 2001:db8::1",
                "a.example.net. 300 A 192.0.2.1",
                "b.example.net. 300 TXT \"x;y \\\"q\\\" ()\" \"z\"",
                "example.net. 3600 NS ns1.example.net.",
                "example.net. 3600 SOA ns1.example.net. root.example.net. 2026115972 2 3 4 300",
            ]
        );
        assert_eq!(contents.serial().into_int(), 2_026_115_972, "as servers answer it");
        let opaque: Vec<String> = opaque.iter().map(|own| format!("{} has {}", own.owner, own.what)).collect();
        assert_eq!(
            opaque,
            [
                "a.example.net. has a disabled A record",
                "c.example.net. has an ALIAS record of PowerDNS's own kind",
                "d.example.net. has a disabled A record",
                "u.example.net. has an ADDR record of PowerDNS's own kind",
                "lua.example.net. has a LUA record of PowerDNS's own kind",
            ]
        );
    }

    #[test]
    fn what_is_no_zone_is_an_error_and_never_an_empty_zone() {
        let words = |text: &str| match read_zone(&apex(), text.as_bytes(), 100) {
            Err(DocumentFault::Bad(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(words("").starts_with("its zone cannot be read: EOF"), "{}", words(""));
        assert!(words(&ZONE[..ZONE.len() / 2]).starts_with("its zone cannot be read: EOF"));
        assert!(words("{}").contains("missing field `rrsets`"));
        assert_eq!(words(r#"{"rrsets": []}"#), "its zone cannot be used: no SOA at the apex");
        let outside =
            r#"{"rrsets": [{"name": "a.example.org.", "type": "A", "ttl": 1, "records": [{"content": "192.0.2.1"}]}]}"#;
        assert!(words(outside).starts_with("its A record at `a.example.org.` cannot be kept"), "{}", words(outside));
        assert_eq!(read_zone(&apex(), ZONE.as_bytes(), 9).unwrap_err(), DocumentFault::TooMany);
    }

    #[test]
    fn what_cannot_be_read_of_a_record_is_not_left_out() {
        let odd = r#"{"rrsets": [{"name": "example.net.", "type": "SOA", "ttl": 1, "records": [{"content": "a. b. 7 2 3 4 5"}]},
            {"name": "a.example.net.", "type": "A", "ttl": 1, "records": [{"content": "192.0.2.1\nb.example.net. 1 IN A 192.0.2.2"}]},
            {"name": "c.example.net.", "type": "A", "ttl": 99999999999, "records": [{"content": "192.0.2.1"}]}]}"#;
        let (contents, opaque, _) = read_zone(&apex(), odd.as_bytes(), 100).unwrap();
        assert_eq!((contents.rrsets().count(), contents.serial().into_int()), (1, 7));
        let owners: Vec<String> = opaque.iter().map(|own| own.owner.to_string()).collect();
        assert_eq!(owners, ["a.example.net.", "c.example.net."]);
    }
}
