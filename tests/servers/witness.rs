//! An independent witness: `hickory-proto` decodes and verifies what zonewright sends, and agrees with what it reads.
//!
//! It is only used in tests, not in the delivered binary: the client that goes with it loses records of a
//! transfer without an error (<https://github.com/hickory-dns/hickory-dns/issues/2049>; docs/design.md has figures).

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::rdata::tsig::TsigAlgorithm;
use hickory_proto::rr::{DNSClass, Name, Record, RecordType, TSigner};
use hickory_proto::serialize::binary::{BinEncodable, BinEncoder, NameEncoding};
use zonewright::target::ZoneRead;

use crate::axfr::zone;
use crate::client::Client;
use crate::proxy::Proxy;
use crate::server::{Key, Kind, Server, ServerConfig};

/// The secret of all keys in base64, and its octets.
const SECRET: (&str, &[u8]) = ("YSBzZWNyZXQgdGhhdCB0d28gc2lkZXMga25vdw==", b"a secret that two sides know");

/// The algorithms of keys, as settings and as the witness call them.
const ALGORITHMS: [(&str, TsigAlgorithm); 4] = [
    ("hmac-sha1", TsigAlgorithm::HmacSha1),
    ("hmac-sha256", TsigAlgorithm::HmacSha256),
    ("hmac-sha384", TsigAlgorithm::HmacSha384),
    ("hmac-sha512", TsigAlgorithm::HmacSha512),
];

on_every_kind! {
    an_independent_decoder_finds_the_same_records_in_the_same_messages
}

/// A key of an algorithm.
fn key(algorithm: &str) -> Key {
    Key { name: format!("{algorithm}.key"), algorithm: algorithm.to_owned(), secret: SECRET.0.to_owned() }
}

/// The same key for the witness; `None` where it does not compute the algorithm, which is so of hmac-sha1.
fn signer(key: &Key, algorithm: &TsigAlgorithm, secret: &[u8]) -> Option<TSigner> {
    TSigner::new(secret.to_vec(), algorithm.clone(), name(&key.name), 300).ok()
}

/// A name with its final dot.
fn name(text: &str) -> Name {
    Name::from_ascii(format!("{text}.")).expect("a name")
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs()
}

/// A record: owner in wire format, type, TTL, RDATA.
type Plain = (Vec<u8>, u16, u32, Vec<u8>);

/// Types with names in their RDATA that the witness takes for opaque octets or keeps in the case that they came in.
/// Their RDATA are compared without regard to case as a whole.
const CASELESS: [RecordType; 5] = [
    RecordType::HTTPS,
    RecordType::SVCB,
    RecordType::Unknown(17), // RP
    RecordType::Unknown(18), // AFSDB
    RecordType::DNAME,
];

/// Brings RDATA into a form that both sides share.
fn settled(rtype: u16, mut rdata: Vec<u8>) -> Vec<u8> {
    if CASELESS.contains(&RecordType::from(rtype)) {
        rdata.make_ascii_lowercase();
    }
    rdata
}

/// What the witness says something is on the wire: names in lower case, not compressed.
fn wire(part: &impl BinEncodable) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encoder = BinEncoder::new(&mut octets);
    encoder.set_canonical_form(true);
    encoder.set_name_encoding(NameEncoding::UncompressedLowercase);
    part.emit(&mut encoder).expect("what was decoded can be encoded");
    octets
}

/// A record as the witness decoded it.
fn plain(record: &Record) -> Plain {
    assert_eq!(record.dns_class, DNSClass::IN);
    let rtype = u16::from(record.record_type());
    (wire(&record.name), rtype, record.ttl, settled(rtype, wire(&record.data)))
}

/// All records of a zone as zonewright read it.
fn plain_zone(read: &ZoneRead) -> BTreeSet<Plain> {
    let mut records = BTreeSet::new();
    for rrset in read.contents.rrsets() {
        let (owner, rtype) = (rrset.owner().as_wire().to_vec(), rrset.rtype().to_int());
        for rdata in rrset.rdata() {
            let rdata = settled(rtype, rdata.to_rdata().as_octets().to_vec());
            records.insert((owner.clone(), rtype, rrset.ttl().as_secs(), rdata));
        }
    }
    records
}

#[test]
fn the_question_is_what_an_independent_decoder_expects_and_its_signature_holds() {
    let mut verified = 0;
    for (algorithm, theirs) in ALGORITHMS {
        let key = key(algorithm);
        let proxy = Proxy::listening();
        let error = Client::new(Some(&key)).read(&proxy.address(), "Example.NET", "60s").expect_err("no answer came");
        assert_eq!(error.code.as_str(), "transfer-cut");
        let octets = proxy.passed().questions.remove(0);
        let message = Message::from_vec(&octets).expect("a message");
        let header = &message.metadata;
        assert_eq!((header.message_type, header.op_code), (MessageType::Query, OpCode::Query));
        assert_eq!(header.response_code, ResponseCode::NoError);
        assert!(!header.recursion_desired && !header.truncation && !header.authoritative);
        let [query] = &message.queries[..] else { panic!("{:?}", message.queries) };
        assert_eq!((query.query_type(), query.query_class()), (RecordType::AXFR, DNSClass::IN));
        assert!(query.name().eq_case(&name("example.net")), "{}", query.name());
        // Nothing but the signature, so that it is the last record.
        let others = [&message.answers, &message.authorities, &message.additionals];
        assert!(others.iter().all(|section| section.is_empty()) && message.edns.is_none());
        let record = message.signature().expect("a TSIG record");
        assert_eq!((&record.name, record.dns_class, record.ttl), (&name(&key.name), DNSClass::ANY, 0));
        let tsig = &record.data;
        assert_eq!((&tsig.algorithm, tsig.fudge, tsig.oid), (&theirs, 300, header.id));
        assert!(tsig.error.is_none() && tsig.other.is_empty());
        let Some(signer) = signer(&key, &theirs, SECRET.1) else { continue };
        let (mac, _, bearable) = signer.verify_message_byte(&octets, None, true).expect("our signature holds");
        assert!(mac == tsig.mac && bearable.contains(&now()), "{bearable:?}");
        let wrong = self::signer(&key, &theirs, b"another secret").expect("the algorithm is known");
        assert!(wrong.verify_message_byte(&octets, None, true).is_err());
        verified += 1;
    }
    assert_eq!(verified, 3);
}

#[test]
fn a_question_without_a_key_is_a_question_and_nothing_else() {
    let proxy = Proxy::listening();
    assert!(Client::new(None).read(&proxy.address(), "example.net", "60s").is_err());
    let message = Message::from_vec(&proxy.passed().questions[0]).expect("a message");
    assert_eq!(message.queries.len(), 1);
    assert!(message.signature().is_none() && message.all_sections().next().is_none() && message.edns.is_none());
}

/// With every algorithm; where the witness computes it, it verifies each message too.
fn an_independent_decoder_finds_the_same_records_in_the_same_messages(kind: Kind) {
    let hosts: String = (0..2000).map(|host| format!("h{host} 300 AAAA 2001:db8::{host:x}\n")).collect();
    let zones = vec![("example.net".to_owned(), zone(kind) + "$ORIGIN example.net.\n" + &hosts)];
    let keys = ALGORITHMS.map(|(algorithm, _)| key(algorithm)).to_vec();
    let Some(server) = Server::start(kind, &ServerConfig { keys, zones, ..ServerConfig::default() }) else { return };
    let mut verified = 0;
    for (algorithm, theirs) in ALGORITHMS {
        let key = key(algorithm);
        let proxy = Proxy::passing(&server.address(), |_| {});
        let read = Client::new(Some(&key)).read(&proxy.address(), "example.net", "60s").expect("a zone");
        let exchange = proxy.passed();
        let signer = signer(&key, &theirs, SECRET.1);
        let question = Message::from_vec(&exchange.questions[0]).expect("a message");
        let mut mac = question.signature().expect("a TSIG record").data.mac.clone();
        let mut records = BTreeSet::new();
        let mut count = 0;
        for (number, octets) in exchange.answer.iter().enumerate() {
            if let Some(signer) = &signer {
                let checked = signer.verify_message_byte(octets, Some(&mac), number == 0);
                mac = checked.expect("it signs each message").0;
                verified += 1;
            }
            let message = Message::from_vec(octets).expect("a message");
            count += message.answers.len();
            records.extend(message.answers.iter().map(plain));
        }
        assert_eq!(records, plain_zone(&read), "{algorithm}");
        // All but the closing SOA.
        assert_eq!((records.len(), read.contents.record_count()), (count - 1, count - 1));
        assert!(exchange.answer.len() > 3 && records.len() > 2020, "{} records", records.len());
    }
    assert!(verified > 9, "{verified} messages were verified");
}
