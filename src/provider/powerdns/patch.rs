//! An update to a request of the API, by what was read right before; and whether others wrote in between. Pure.
//!
//! Source: PowerDNS, docs/http-api/zone.rst. A request takes effect as a whole or not at all. It compares nothing, but raises the
//! serial once, as `SOA-EDIT-API` says: of two that were made by one reading, the later one is not followed by the next serial.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use serde_json::{Value, json};

use super::document::ZoneNumbering;
use crate::dns::{Name, RrKey, Rrset, RrsetRef, Rtype, ZoneContents};
use crate::target::{OpaqueRecords, RrsetEdit, Update, UpdateLimits};

/// What one request may hold. The server takes 2 MiB (`webserver-max-bodysize`), and needs about as long for one as for hundreds.
pub const LIMITS: UpdateLimits = UpdateLimits { edits: 1_000, octets: 1_000_000, parts: usize::MAX, names: usize::MAX };

/// How many octets an edit takes at most in a request.
pub fn octets(edit: RrsetEdit<'_>) -> usize {
    let text = |rrset: &Rrset| rrset.rdata_texts(edit.key.rtype).iter().map(|text| 2 * text.len() + 50).sum::<usize>();
    // A name, a type, a TTL and what is between them; a character of a text may need two.
    let frame = edit.key.owner.to_string().len() + 120;
    frame + edit.kind.after().map_or(0, text)
}

/// A zone as it was read, with what was written since.
pub struct ApiZoneView {
    /// What was read.
    contents: ZoneContents,
    /// The names that have what no RRset says.
    opaque: HashSet<Name>,
    /// What was written since.
    written: HashMap<RrKey, Option<Rrset>>,
    /// Its serial by now.
    pub serial: u32,
}

impl ApiZoneView {
    /// A zone that was just read.
    pub fn new(contents: ZoneContents, opaque: Vec<OpaqueRecords>, serial: u32) -> ApiZoneView {
        let opaque = opaque.into_iter().map(|own| own.owner).collect();
        ApiZoneView { contents, opaque, written: HashMap::new(), serial }
    }

    /// An RRset.
    fn rrset(&self, key: &RrKey) -> Option<Rrset> {
        let read = || self.contents.rrset(key.owner.as_name(), key.rtype).map(RrsetRef::to_rrset);
        self.written.get(key).cloned().unwrap_or_else(read)
    }

    /// Whether there is a CNAME at the name of an edit that its update does not delete.
    fn has_cname(&self, update: &Update<'_>, edit: &RrsetEdit<'_>) -> bool {
        let key = RrKey { owner: edit.key.owner.clone(), rtype: Rtype::CNAME };
        let goes = update.edits.iter().any(|other| other.deletes_cname_at(&edit.key.owner));
        edit.key.rtype != Rtype::CNAME && !goes && self.rrset(&key).is_some()
    }

    /// The request of an update.
    ///
    /// Errors: the zone is not as the update says, in words.
    pub fn request(&self, update: &Update<'_>) -> Result<String, String> {
        for edit in &update.edits {
            let RrKey { owner, rtype } = edit.key;
            if self.opaque.contains(&owner.as_name().to_name()) {
                return Err(format!("`{owner}` has a record that no RRset says, and it would be lost"));
            }
            if self.rrset(edit.key).as_ref() != edit.kind.before() {
                return Err(format!("{rtype} of `{owner}` is not what the plan says"));
            }
            if edit.kind.after().is_some() && self.has_cname(update, edit) {
                return Err(format!("there is a CNAME at `{owner}`"));
            }
        }
        // The server goes through them in this order, and refuses a CNAME next to what is deleted only later.
        let (gone, others): (Vec<_>, Vec<_>) = update.edits.iter().partition(|edit| edit.kind.after().is_none());
        let rrsets: Vec<Value> = gone.into_iter().chain(others).map(rrset).collect();
        Ok(json!({ "rrsets": rrsets }).to_string())
    }

    /// Whether an update was made, as far as its RRsets show.
    pub fn holds(&self, update: &Update<'_>) -> bool {
        update.edits.iter().all(|edit| self.rrset(edit.key).as_ref() == edit.kind.after())
    }

    /// Notes that an update was made, and what the serial is since then.
    pub fn note(&mut self, update: &Update<'_>, serial: u32) {
        self.written.extend(update.edits.iter().map(|edit| (edit.key.clone(), edit.kind.after().cloned())));
        self.serial = serial;
    }
}

/// The records of an RRset, as the API gets them.
pub fn records(rtype: Rtype, rrset: &Rrset) -> Vec<Value> {
    let texts = rrset.rdata_texts(rtype).into_iter();
    texts.map(|content| json!({"content": content, "disabled": false})).collect()
}

/// What the API gets of an edit.
fn rrset(edit: &RrsetEdit<'_>) -> Value {
    let RrKey { owner, rtype } = edit.key;
    let (name, rtype_text) = (owner.to_string(), rtype.to_string());
    match edit.kind.after() {
        None => json!({"name": name, "type": rtype_text, "changetype": "DELETE", "records": []}),
        Some(after) => {
            let (records, ttl) = (records(*rtype, after), after.ttl().as_secs());
            json!({"name": name, "type": rtype_text, "ttl": ttl, "changetype": "REPLACE", "records": records})
        }
    }
}

/// How `SOA-EDIT-API` raises a serial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerialRule {
    /// By one.
    Increase,
    /// To the first one of the day, and by one after that.
    Date,
}

impl SerialRule {
    /// The rule of a zone; none where its serial does not tell whether others wrote.
    pub fn of(numbering: &ZoneNumbering) -> Option<SerialRule> {
        match numbering.soa_edit_api.to_ascii_uppercase().as_str() {
            "INCREASE" => Some(SerialRule::Increase),
            "DEFAULT" => Some(SerialRule::Date),
            _ => None,
        }
    }

    /// Whether a serial is the one that one request leads to; the clock of the server may be in another time zone.
    pub fn is_next(self, read: u32, new: u32, today: Date) -> bool {
        let first_of = |date: Date| {
            let (year, month, day) = (date.year(), date.month(), date.day());
            format!("{year:04}{month:02}{day:02}01").parse::<u32>().ok()
        };
        let days = [today.yesterday().ok(), Some(today), today.tomorrow().ok()];
        let is_first = || read < new && days.into_iter().flatten().filter_map(first_of).any(|first| first == new);
        new == read.wrapping_add(1) || self == SerialRule::Date && is_first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{ChangeKind, NameRef, Ttl, ZoneName};
    use crate::provider::parse_text;

    fn zone() -> ZoneName {
        ZoneName::new(Name::parse("example.net").unwrap())
    }

    fn view() -> ApiZoneView {
        let text = "$TTL 300\n@ SOA ns host 7 2 3 4 300\n@ NS ns\na A 192.0.2.1\nc CNAME a\n";
        let contents = parse_text(&zone(), "zone", text.into()).unwrap();
        let off =
            OpaqueRecords { owner: Name::parse("off.example.net").unwrap(), what: "a disabled A record".to_owned() };
        ApiZoneView::new(contents, vec![off], 7)
    }

    fn rrset_of(ttl: u64, values: &[&str]) -> Rrset {
        let rdata = values.iter().map(|text| crate::dns::Rdata::read(Rtype::A, text, NameRef::ROOT).unwrap());
        Rrset::new(Ttl::from_secs(ttl).unwrap(), rdata.collect()).unwrap()
    }

    fn key(name: &str, rtype: Rtype) -> RrKey {
        RrKey { owner: zone().owner(Name::parse(name).unwrap().as_name()).unwrap(), rtype }
    }

    fn request(view: &ApiZoneView, key: &RrKey, kind: &ChangeKind) -> Result<String, String> {
        view.request(&Update { zone: &zone(), edits: vec![RrsetEdit { key, kind }] })
    }

    #[test]
    fn an_update_is_a_request_only_where_the_zone_is_as_it_says() {
        let mut view = view();
        let own = key("a.example.net", Rtype::A);
        let (before, after) = (rrset_of(300, &["192.0.2.1"]), rrset_of(300, &["192.0.2.2", "192.0.2.3"]));
        let kind = ChangeKind::Modify { before: before.clone(), after: after.clone() };
        let expected = r#"{"rrsets":[{"changetype":"REPLACE","name":"a.example.net.","records":[{"content":"192.0.2.2","disabled":false},{"content":"192.0.2.3","disabled":false}],"ttl":300,"type":"A"}]}"#;
        assert_eq!(request(&view, &own, &kind).unwrap(), expected);
        // By then the view has what was written.
        view.note(&Update { zone: &zone(), edits: vec![RrsetEdit { key: &own, kind: &kind }] }, 8);
        assert_eq!(view.serial, 8);
        assert_eq!(request(&view, &own, &kind).unwrap_err(), "A of `a.example.net.` is not what the plan says");
        let gone = ChangeKind::Delete { before: after };
        let expected = r#"{"rrsets":[{"changetype":"DELETE","name":"a.example.net.","records":[],"type":"A"}]}"#;
        assert_eq!(request(&view, &own, &gone).unwrap(), expected);
        let other_ttl = ChangeKind::Delete { before: rrset_of(60, &["192.0.2.2", "192.0.2.3"]) };
        assert!(request(&view, &own, &other_ttl).is_err());
        let new = |after| ChangeKind::Create { after };
        let at_cname = request(&view, &key("c.example.net", Rtype::A), &new(before.clone()));
        assert_eq!(at_cname.unwrap_err(), "there is a CNAME at `c.example.net.`");
        let off = request(&view, &key("off.example.net", Rtype::A), &new(before));
        assert!(off.unwrap_err().contains("it would be lost"));
    }

    #[test]
    fn a_serial_that_another_request_raised_is_not_the_next_one() {
        let today = Date::constant(2026, 11, 30);
        for (rule, read, new, is_next) in [
            (SerialRule::Increase, 7, 8, true),
            (SerialRule::Increase, 7, 9, false),
            (SerialRule::Increase, 7, 7, false),
            (SerialRule::Increase, u32::MAX, 0, true),
            (SerialRule::Increase, 7, 2_026_113_001, false),
            (SerialRule::Date, 7, 2_026_113_001, true),
            (SerialRule::Date, 2_026_112_909, 2_026_113_001, true),
            (SerialRule::Date, 2_026_112_909, 2_026_113_002, false),
            (SerialRule::Date, 2_026_113_001, 2_026_113_002, true),
            (SerialRule::Date, 2_026_113_001, 2_026_113_003, false),
            (SerialRule::Date, 2_026_113_001, 2_026_113_001, false),
        ] {
            assert_eq!(rule.is_next(read, new, today), is_next, "{rule:?} {read} {new}");
        }
        let rule = |text: &str| SerialRule::of(&ZoneNumbering { serial: 1, soa_edit_api: text.to_owned() });
        assert_eq!(rule("default"), Some(SerialRule::Date));
        assert_eq!((rule(""), rule("EPOCH"), rule("SOA-EDIT")), (None, None, None));
    }
}
