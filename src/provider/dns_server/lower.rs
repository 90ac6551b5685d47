//! Updates as messages: the changes of RRsets, with what was seen of them as prerequisites.
//!
//! Comes in: an update. Goes out: the octets of an UPDATE message. Pure.
//!
//! Source: RFC 2136 section 2.

use std::sync::Arc;

use domain::base::MessageBuilder;
use domain::base::iana::{Class, Opcode};
use domain::base::message_builder::{AdditionalBuilder, PushError};
use domain::base::name::Name as LibraryName;
use domain::base::rdata::UnknownRecordData;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::composed::ComposedMessage;
use crate::dns::{NameRef, Rrset, Rtype, ZoneName};
use crate::provider::entries::{self, UpdateEntry};
use crate::target::{RrsetEdit, Update, UpdateLimits};

/// What one update may hold. A message holds some 1 700 new RRsets of short names; 500 edits leave most of them well
/// below the limit, more make no server faster, and one refusal concerns fewer hosts. 60 KiB leave
/// room for header, zone and signature.
pub const LIMITS: UpdateLimits = UpdateLimits { edits: 500, octets: 60 * 1024, parts: usize::MAX, names: usize::MAX };

/// The longest message (RFC 1035 section 4.2.2).
const MAX_MESSAGE: usize = 65_535;

/// What a name takes that is compressed to the last label (RFC 1035 section 4.1.4).
const POINTER: usize = 2;

/// The size of a record without owner name and RDATA: type, class, TTL and length (RFC 1035 section 4.1.3).
const FIXED: usize = 10;

/// An update that no message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl From<PushError> for TooLarge {
    fn from(_: PushError) -> TooLarge {
        TooLarge
    }
}

/// The message of an update, and with what the signature of its answer is checked.
#[derive(Debug)]
pub struct LoweredUpdate {
    /// The message.
    pub octets: Vec<u8>,
    /// What the answer is checked with, where there is a key.
    pub transaction: Option<ClientTransaction<Arc<Key>>>,
}

/// Makes the message of an update, signed at the time `now` where there is a key.
pub fn lower(update: &Update<'_>, id: u16, key: Option<Arc<Key>>, now: Time48) -> Result<LoweredUpdate, TooLarge> {
    let mut message = MessageBuilder::from_target(ComposedMessage::default()).expect("a header fits");
    let signature = key.as_ref().map_or(0, |key| usize::from(key.compose_len()));
    // The limit is the first length that is too long.
    message.set_push_limit(MAX_MESSAGE + 1 - signature);
    message.header_mut().set_id(id);
    message.header_mut().set_opcode(Opcode::UPDATE);
    let mut message = message.question();
    message.push((library_name(update.zone.as_name()), Rtype::SOA, Class::IN))?;
    let mut message = message.answer();
    entries::prerequisites(&update.edits, |entry| message.push(record(entry)))?;
    let mut message = message.authority();
    entries::updates(&update.edits, |entry| message.push(record(entry)))?;
    let mut message = message.additional();
    message.set_push_limit(MAX_MESSAGE + 1);
    let transaction = key.map(|key| sign(key, &mut message, now)).transpose()?;
    Ok(LoweredUpdate { octets: message.finish().into_octets(), transaction })
}

/// The most octets that an edit takes in an update of this zone.
///
/// Every owner name ends in a pointer to the zone's apex. Other pointers are not counted on: only the first 16 KiB of a
/// message can be pointed to.
pub fn octets(zone: &ZoneName, edit: RrsetEdit<'_>) -> usize {
    let below_apex = edit.key.owner.as_name().as_wire().len() - zone.as_name().as_wire().len();
    let record = |rdata: usize| below_apex + POINTER + FIXED + rdata;
    let records = |rrset: &Rrset| rrset.rdata().iter().map(|rdata| record(rdata.as_octets().len())).sum::<usize>();
    let (before, after) = (edit.kind.before(), edit.kind.after());
    let prerequisite = before.map_or(record(0), records);
    // Records are deleted one by one only where one stays, which is then not added.
    let deleted = match (before, after) {
        (Some(before), Some(after)) if before.ttl() == after.ttl() => record(0).max(records(before)),
        (Some(_), _) => record(0),
        (None, _) => 0,
    };
    let added = after.map_or(0, |after| record(0) + records(after));
    let others = if entries::creates_cname(&edit) { entries::NEXT_TO_CNAME.len() * record(0) } else { 0 };
    prerequisite + deleted + added + others
}

/// Signs a message.
fn sign(
    key: Arc<Key>,
    message: &mut AdditionalBuilder<ComposedMessage>,
    now: Time48,
) -> Result<ClientTransaction<Arc<Key>>, TooLarge> {
    Ok(ClientTransaction::request(key, message, now)?)
}

/// A name as the library has it.
fn library_name(name: NameRef<'_>) -> LibraryName<&[u8]> {
    LibraryName::from_octets(name.as_wire()).expect("names are wire format")
}

/// A record as the library composes it, the RDATA never compressed.
fn record(entry: UpdateEntry<'_>) -> (LibraryName<&[u8]>, Class, u32, UnknownRecordData<&[u8]>) {
    let rdata = UnknownRecordData::from_octets(entry.rtype, entry.rdata).expect("RDATA have at most 65 535 octets");
    (library_name(entry.owner), entry.class, entry.ttl, rdata)
}

#[cfg(test)]
mod tests {
    use hickory_proto::op::{Message, OpCode};
    use hickory_proto::rr::Record;
    use proptest::prelude::*;

    use super::super::tests::{apex, reader};
    use super::*;
    use crate::dns::{ChangeKind, Name, Rdata, RrKey, Ttl};

    /// An RRset: its TTL, and its RDATA in presentation format.
    fn rrset(rtype: Rtype, ttl: u64, rdata: &[&str]) -> Rrset {
        let rdata = rdata.iter().map(|text| match rtype {
            Rtype::CNAME => Rdata::from_name(Name::parse(text).unwrap().as_name()),
            _ => Rdata::parse(rtype, text).unwrap(),
        });
        Rrset::new(Ttl::from_secs(ttl).unwrap(), rdata.collect()).unwrap()
    }

    /// The key of an RRset of the zone.
    fn key(owner: &str, rtype: Rtype) -> RrKey {
        RrKey { owner: apex().owner(Name::parse(owner).unwrap().as_name()).unwrap(), rtype }
    }

    /// The message of these edits, not signed.
    fn lowered(edits: &[(RrKey, ChangeKind)]) -> Vec<u8> {
        let edits = edits.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
        lower(&Update { zone: &apex(), edits }, 7, None, Time48::now()).unwrap().octets
    }

    /// Records, one line each, as another library reads them.
    fn lines(records: &[Record]) -> Vec<String> {
        let line = |record: &Record| {
            let (name, class, rtype) = (&record.name, record.dns_class, record.record_type());
            // It calls empty RDATA so.
            let rdata = record.data.to_string().replace("UPDATE", "-");
            format!("{name} {} {class} {rtype} {rdata}", record.ttl)
        };
        records.iter().map(line).collect()
    }

    /// Prerequisites and updates of a message, as another library reads them.
    fn read(octets: &[u8]) -> (Vec<String>, Vec<String>) {
        let message = Message::from_vec(octets).unwrap();
        assert_eq!((message.metadata.id, message.metadata.op_code), (7, OpCode::Update));
        let zones: Vec<_> = message.queries.iter().map(ToString::to_string).collect();
        assert_eq!(zones, ["example.net. IN SOA"]);
        (lines(&message.answers), lines(&message.authorities))
    }

    #[test]
    fn what_is_created_was_not_there_and_is_beside_no_cname() {
        let after = rrset(Rtype::AAAA, 300, &["2a02::1", "2a02::2"]);
        let text = rrset(Rtype::TXT, 60, &["\"x\""]);
        let octets = lowered(&[
            (key("a.example.net", Rtype::AAAA), ChangeKind::Create { after }),
            (key("a.example.net", Rtype::TXT), ChangeKind::Create { after: text }),
        ]);
        let (prerequisites, updates) = read(&octets);
        assert_eq!(
            prerequisites,
            ["a.example.net. 0 NONE AAAA -", "a.example.net. 0 NONE CNAME -", "a.example.net. 0 NONE TXT -"]
        );
        let added =
            ["a.example.net. 300 IN AAAA 2a02::1", "a.example.net. 300 IN AAAA 2a02::2", "a.example.net. 60 IN TXT x"];
        assert_eq!(updates, added);
    }

    #[test]
    fn a_cname_goes_before_others_come_and_comes_after_others_went() {
        let octets = lowered(&[
            (key("a.example.net", Rtype::AAAA), ChangeKind::Create { after: rrset(Rtype::AAAA, 300, &["2a02::1"]) }),
            (key("a.example.net", Rtype::CNAME), ChangeKind::Delete { before: rrset(Rtype::CNAME, 60, &["c."]) }),
            (key("b.example.net", Rtype::CNAME), ChangeKind::Create { after: rrset(Rtype::CNAME, 60, &["c."]) }),
            (key("b.example.net", Rtype::AAAA), ChangeKind::Delete { before: rrset(Rtype::AAAA, 300, &["2a02::2"]) }),
        ]);
        let (prerequisites, updates) = read(&octets);
        let seen = ["a.example.net. 0 NONE AAAA -", "a.example.net. 0 IN CNAME c.", "b.example.net. 0 NONE CNAME -"];
        let (first, rest) = prerequisites.split_at(seen.len());
        let (others, last) = rest.split_at(rest.len() - 1);
        assert_eq!((first, last), (&seen.map(str::to_owned)[..], &["b.example.net. 0 IN AAAA 2a02::2".to_owned()][..]));
        // No other type may be where the CNAME comes, but for what the update itself deletes.
        assert_eq!(others.len(), entries::NEXT_TO_CNAME.len() - 1);
        assert!(others.contains(&"b.example.net. 0 NONE MX -".to_owned()));
        assert!(!others.iter().any(|text| text.contains("AAAA")));
        let done = [
            "a.example.net. 0 ANY CNAME -",
            "b.example.net. 0 ANY AAAA -",
            "a.example.net. 300 IN AAAA 2a02::1",
            "b.example.net. 60 IN CNAME c.",
        ];
        assert_eq!(updates, done);
    }

    #[test]
    fn what_gets_another_ttl_is_replaced_whole_after_all_that_is_deleted() {
        let octets = lowered(&[
            (
                key("a.example.net", Rtype::AAAA),
                ChangeKind::Modify {
                    before: rrset(Rtype::AAAA, 300, &["2a02::1", "2a02::2"]),
                    after: rrset(Rtype::AAAA, 60, &["2a02::2"]),
                },
            ),
            (
                key("b.example.net", Rtype::PTR),
                ChangeKind::Delete { before: rrset(Rtype::PTR, 300, &["a.example.net."]) },
            ),
        ]);
        let (prerequisites, updates) = read(&octets);
        assert_eq!(
            prerequisites,
            [
                "a.example.net. 0 IN AAAA 2a02::1",
                "a.example.net. 0 IN AAAA 2a02::2",
                "a.example.net. 0 NONE CNAME -",
                "b.example.net. 0 IN PTR a.example.net."
            ]
        );
        let expected =
            ["a.example.net. 0 ANY AAAA -", "b.example.net. 0 ANY PTR -", "a.example.net. 60 IN AAAA 2a02::2"];
        assert_eq!(updates, expected);
    }

    #[test]
    fn a_record_that_stays_is_not_sent_again() {
        let pointers = |rdata: &[&str]| rrset(Rtype::PTR, 300, rdata);
        let before = pointers(&["host-a.example.net.", "gone.example.net."]);
        let after = pointers(&["host-a.example.net.", "new.example.net."]);
        let octets = lowered(&[(key("p.example.net", Rtype::PTR), ChangeKind::Modify { before, after })]);
        let (prerequisites, updates) = read(&octets);
        assert_eq!(
            prerequisites,
            [
                "p.example.net. 0 IN PTR gone.example.net.",
                "p.example.net. 0 IN PTR host-a.example.net.",
                "p.example.net. 0 NONE CNAME -"
            ]
        );
        let expected = ["p.example.net. 0 NONE PTR gone.example.net.", "p.example.net. 300 IN PTR new.example.net."];
        assert_eq!(updates, expected);
    }

    #[test]
    fn what_keeps_no_record_is_replaced_whole() {
        let (before, after) =
            (rrset(Rtype::PTR, 300, &["a.example.net."]), rrset(Rtype::PTR, 300, &["b.example.net."]));
        let octets = lowered(&[(key("p.example.net", Rtype::PTR), ChangeKind::Modify { before, after })]);
        assert_eq!(read(&octets).1, ["p.example.net. 0 ANY PTR -", "p.example.net. 300 IN PTR b.example.net."]);
    }

    #[test]
    fn a_cname_that_is_itself_changed_needs_no_further_prerequisite() {
        let octets = lowered(&[
            (
                key("a.example.net", Rtype::CNAME),
                ChangeKind::Delete { before: rrset(Rtype::CNAME, 300, &["b.example.net."]) },
            ),
            (key("a.example.net", Rtype::A), ChangeKind::Create { after: rrset(Rtype::A, 300, &["192.0.2.1"]) }),
        ]);
        let (prerequisites, updates) = read(&octets);
        assert_eq!(prerequisites, ["a.example.net. 0 IN CNAME b.example.net.", "a.example.net. 0 NONE A -"]);
        assert_eq!(updates, ["a.example.net. 0 ANY CNAME -", "a.example.net. 300 IN A 192.0.2.1"]);
    }

    #[test]
    fn owner_names_are_compressed_and_rdata_are_not() {
        let after = rrset(Rtype::PTR, 300, &["a.example.net."]);
        let octets = lowered(&[(key("a.example.net", Rtype::PTR), ChangeKind::Create { after })]);
        let expected = [
            &b"\0\x07\x28\0\0\x01\0\x02\0\x01\0\0"[..],
            b"\x07example\x03net\0\0\x06\0\x01",
            b"\x01a\xc0\x0c\0\x0c\0\xfe\0\0\0\0\0\0",
            b"\xc0\x1d\0\x05\0\xfe\0\0\0\0\0\0",
            b"\xc0\x1d\0\x0c\0\x01\0\0\x01\x2c\0\x0f\x01a\x07example\x03net\0",
        ];
        assert_eq!(octets, expected.concat());
    }

    /// A zone name, and edits of any kind in it.
    fn any_edits() -> impl Strategy<Value = Vec<(RrKey, ChangeKind)>> {
        let label = "[a-z]{1,20}";
        let name = proptest::collection::vec(label, 0..4).prop_map(|labels| {
            let relative: String = labels.iter().map(|label| format!("{label}.")).collect();
            format!("{relative}example.net")
        });
        let rrset = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..4).prop_map(|rdata| {
            let rdata = rdata.iter().map(|octets| crate::dns::RdataRef { rtype: Rtype::TXT, octets }.to_rdata());
            Rrset::new(Ttl::DEFAULT, rdata.collect()).unwrap()
        });
        let kind = (rrset.clone(), rrset, 0..3).prop_map(|(before, after, kind)| match kind {
            0 => ChangeKind::Create { after },
            1 => ChangeKind::Modify { before, after },
            _ => ChangeKind::Delete { before },
        });
        proptest::collection::vec((name.prop_map(|name| key(&name, Rtype::TXT)), kind), 1..40)
    }

    proptest! {
        #[test]
        fn a_message_is_never_longer_than_was_said(edits in any_edits()) {
            let tsig = reader(vec![], true).key().unwrap();
            let room = 12 + apex().as_name().as_wire().len() + 4 + usize::from(tsig.as_ref().unwrap().compose_len());
            let edits: Vec<_> = edits.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
            let said: usize = edits.iter().map(|edit| octets(&apex(), *edit)).sum();
            let lowered = lower(&Update { zone: &apex(), edits }, 7, tsig, Time48::now());
            match lowered {
                Ok(lowered) => prop_assert!(lowered.octets.len() <= said + room, "{} {said}", lowered.octets.len()),
                Err(TooLarge) => prop_assert!(said + room > MAX_MESSAGE),
            }
        }
    }

    #[test]
    fn what_keeps_to_the_limits_fits_with_any_zone_and_key() {
        // Header, zone, and a signature with the longest key name and algorithm name, and 64 octets of SHA-512.
        let room = 12 + 255 + 4 + 255 + FIXED + 13 + 16 + 64;
        assert!(LIMITS.octets + room <= MAX_MESSAGE);
        let edits: Vec<_> = (0..LIMITS.edits)
            .map(|number| {
                let kind = ChangeKind::Create { after: rrset(Rtype::AAAA, 300, &["2a02::1"]) };
                (key(&format!("host-{number}.rack.example.net"), Rtype::AAAA), kind)
            })
            .collect();
        let said: usize = edits.iter().map(|(key, kind)| octets(&apex(), RrsetEdit { key, kind })).sum();
        assert!(said <= LIMITS.octets && said < 3 * lowered(&edits).len(), "{said}");
    }

    #[test]
    fn what_no_message_holds_is_an_error_and_what_just_fits_is_none() {
        let message = |records: usize, last: usize, key: Option<Arc<Key>>| {
            let mut rdata: Vec<_> = (0..records).map(|number| vec![number as u8; 1000]).collect();
            rdata.push(vec![255; last]);
            let rdata = rdata.iter().map(|octets| crate::dns::RdataRef { rtype: Rtype::TXT, octets }.to_rdata());
            let kind = ChangeKind::Create { after: Rrset::new(Ttl::DEFAULT, rdata.collect()).unwrap() };
            let rrset = self::key("a.example.net", Rtype::TXT);
            let update = Update { zone: &apex(), edits: vec![RrsetEdit { key: &rrset, kind: &kind }] };
            lower(&update, 7, key, Time48::now()).map(|lowered| lowered.octets.len())
        };
        let tsig = reader(vec![], true).key().unwrap();
        for key in [None, tsig] {
            let rest = MAX_MESSAGE - message(64, 0, key.clone()).unwrap();
            assert_eq!(message(64, rest, key.clone()), Ok(MAX_MESSAGE));
            assert_eq!(message(64, rest + 1, key.clone()), Err(TooLarge));
            assert_eq!(message(200, 0, key), Err(TooLarge));
        }
    }
}
