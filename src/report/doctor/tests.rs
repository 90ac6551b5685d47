//! A diagnosis in both forms.

use std::time::Duration;

use super::*;
use crate::diag::{Code, Problem};
use crate::dns::{Name, ZoneName};
use crate::doctor::{FindingLevel, TargetAbilities, TargetDiagnosis};
use crate::provider::examine::{
    Capabilities, KeyExamined, KeylessAccess, PlaceExamined, ServerClock, TargetExamined, UpdatesExamined,
    ZoneExamined, ZoneMeasures,
};
use crate::report::SchemaKind;
use crate::report::schema::tests::check_one;
use crate::target::{
    AtomicUnit, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, UpdateLimits, ZoneFence, ZoneHome,
    ZoneMaking,
};

/// A zone's name.
fn zone(name: &str) -> ZoneName {
    ZoneName::new(Name::parse(name).unwrap())
}

/// A zone as a server that works has it.
fn found(name: &str, serial: u32) -> ZoneExamined {
    let took = Some(Duration::from_millis(1_234));
    let measures =
        ZoneMeasures { rrsets: 40, records: 42, octets: 5_000, took, signed: false, warnings: 0, opaque: Vec::new() };
    ZoneExamined {
        zone: zone(name),
        authority: Some(Ok(true)),
        serial: Some(serial),
        read: Ok(measures),
        without_key: Some(KeylessAccess::Refused),
        writable: None,
    }
}

/// A place with these zones.
fn place(place: &str, clock: ServerClock, zones: Vec<ZoneExamined>) -> PlaceExamined {
    PlaceExamined { place: place.to_owned(), fault: None, clock, zones }
}

/// A fault.
fn fault(code: impl Into<Code>, message: &str) -> Problem {
    Problem::new("here", code, message).hint("do something")
}

/// A target with a key of an algorithm, and these places.
fn signed(algorithm: &str, places: Vec<PlaceExamined>) -> TargetExamined {
    let name = Name::parse("zonewright").unwrap();
    let key = KeyExamined { name, algorithm: algorithm.to_owned(), fault: None };
    TargetExamined {
        key: Some(key),
        signs: true,
        is_folder: false,
        transfers: true,
        places,
        capabilities: updates([None, None]),
    }
}

/// A diagnosis of targets, for two zones each.
fn diagnosis(targets: Vec<TargetExamined>) -> Diagnosis {
    let zones = vec![zone("a.example"), zone("b.example")];
    let target =
        |examined| TargetDiagnosis::new("main".to_owned(), "rfc2136".to_owned(), zones.clone(), abilities(), examined);
    Diagnosis {
        tool: "zonewright 0.1.0".to_owned(),
        created: "2026-11-20T02:00:00Z".parse().unwrap(),
        targets: targets.into_iter().map(target).collect(),
        services: Vec::new(),
    }
}

/// What a name server can do; the second zone has no marker.
fn abilities() -> TargetAbilities {
    let capabilities = TargetCapabilities {
        home: ZoneHome::Servers,
        making: ZoneMaking { creates: true, deletes: false, never: None },
        unit: AtomicUnit::Message,
        limits: UpdateLimits { edits: 500, octets: 61_440, parts: usize::MAX, names: usize::MAX },
        comparison: RrsetComparison::Records,
        fence: ZoneFence::Marker,
        bounds: RecordBounds::ALL,
        proof: PublicationProof::ReadBack,
        pace: None,
        marks: None,
    };
    TargetAbilities { capabilities, fenced: vec![zone("a.example")] }
}

/// Why each of two zones takes no updates; of those that take them nothing.
fn updates(faults: [Option<Problem>; 2]) -> Capabilities {
    let zones = ["a.example", "b.example"].into_iter().zip(faults);
    let examined = |(name, fault)| UpdatesExamined { zone: zone(name), place: "ns1:53".into(), fault };
    Capabilities::Asked { updates: zones.map(examined).collect(), pace: Some(4) }
}

/// One that has something of everything.
fn everything() -> Diagnosis {
    let open = ZoneExamined { without_key: Some(KeylessAccess::Allowed), ..found("b.example", 7) };
    let lame = ZoneExamined { authority: Some(Ok(false)), ..found("b.example", 8) };
    let unclear = KeylessAccess::Unclear("the server answers SERVFAIL".to_owned());
    let odd = ZoneExamined { without_key: Some(unclear), ..found("a.example", 6) };
    let read = Err(fault("transfer-refused", "the server answers REFUSED"));
    let refused = ["a.example", "b.example"].map(|name| ZoneExamined { read: read.clone(), ..found(name, 7) });
    let dead = PlaceExamined {
        fault: Some(fault("connect-failed", "no connection: \u{1b}[31m")),
        ..place("ns3:53", ServerClock::NotTold, Vec::new())
    };
    let places = vec![
        place("ns1:53", ServerClock::Ahead(-2), vec![found("a.example", 5), open]),
        place("ns2:53", ServerClock::Ahead(61), vec![odd, lame]),
        dead,
        place("ns4:53", ServerClock::Repeats, refused.to_vec()),
    ];
    let exposed = fault("secret-exposed", "others can read `key`");
    let mut locked = signed("hmac-sha256", vec![place("ns1:53", ServerClock::NotTold, Vec::new())]);
    locked.key.iter_mut().for_each(|key| key.fault = Some(exposed.clone()));
    locked.capabilities = Capabilities::NotAsked;
    let mut files = signed("", Vec::new());
    let file = |name, signed, warnings, writable| {
        let measures = ZoneMeasures { took: None, signed, warnings, ..found(name, 1).read.unwrap() };
        ZoneExamined {
            authority: None,
            without_key: None,
            read: Ok(measures),
            writable: Some(writable),
            ..found(name, 1)
        }
    };
    let zones = vec![file("a.example", true, 0, true), file("b.example", false, 2, false)];
    let no_updates = fault("signed-zone-file", "it holds signatures");
    files.capabilities = updates([Some(no_updates), None]);
    files = TargetExamined {
        key: None,
        signs: false,
        is_folder: true,
        places: vec![place("zones", ServerClock::NotTold, zones)],
        ..files
    };
    let unsigned = TargetExamined {
        key: None,
        transfers: false,
        places: vec![place("ns1:53", ServerClock::NotTold, refused.to_vec())],
        ..signed("", Vec::new())
    };
    diagnosis(vec![signed("hmac-sha1", places), locked, files, unsigned])
}

#[test]
fn text_says_what_is_wrong_and_what_to_do() {
    insta::assert_snapshot!(doctor(&everything(), ReportFormat::Text, &TextOptions::default()), @r#"
    Pool main: rfc2136, 2 zones

      atomic unit  a message about one zone, with at most 500 RRsets and 61440 bytes
      comparison   the records of each RRset, but not its TTL
      fence        a marker in `a.example.`
      types        all
      TTLs         0 to 2147483647
      zones        it can make them, but not delete them (no `delete_command`)
      pace         4 updates of a zone at a time
      proof        what was written is read back

      ok       the secret of the key `zonewright.` (hmac-sha1) can be read
      warning  the key `zonewright.` uses hmac-sha1; RFC 8945 section 6 no longer
               recommends it
               hint: make a key with hmac-sha256 on the server; then set the key and
                 its `algorithm` here
      warning  a.example.: the servers have different serials: 5 at ns1:53, 6 at
               ns2:53, 7 at ns4:53
               hint: a plan reads the zone from the first server that answers; if
                 the serials stay different, check the transfers between the
                 servers, and put the primary first in `server`
      warning  b.example.: the servers have different serials: 7 at ns1:53, 8 at
               ns2:53, 7 at ns4:53
               hint: a plan reads the zone from the first server that answers; if
                 the serials stay different, check the transfers between the
                 servers, and put the primary first in `server`
      ok       each of the 2 zones: takes updates

      ns1:53
      ok       takes connections
      ok       its clock is 2 s behind ours
      ok       a.example.: authoritative, serial 5; 40 RRsets, 42 records, 5000
               bytes transferred in 1.23 s; refused without the key
      ok       b.example.: authoritative, serial 7; 40 RRsets, 42 records, 5000
               bytes transferred in 1.23 s
      warning  b.example.: the zone is transferred without the key as well: any
               client that reaches the server can read it
               hint: make the server require the key (BIND:
                 `allow-transfer { key NAME; };`)

      ns2:53
      ok       takes connections
      warning  its clock is 61 s ahead of ours
               hint: set both clocks by NTP: clocks may differ by at most 300 s (RFC
                 8945 section 10)
      ok       a.example.: authoritative, serial 6; 40 RRsets, 42 records, 5000
               bytes transferred in 1.23 s
      note     a.example.: it is unclear whether the transfer needs the key: without
               it, the server answers SERVFAIL
      problem  b.example.: the server's answer for the zone is not authoritative
               hint: check that it is one of the zone's name servers and has loaded
                 the zone; see its log
      ok       b.example.: serial 8; 40 RRsets, 42 records, 5000 bytes transferred
               in 1.23 s; refused without the key

      ns3:53
      problem  no connection: \u{1b}[31m
               hint: do something

      ns4:53
      ok       takes connections
      note     its clock is not known: the server copies the time of the question
               into its signed answers
      problem  each of the 2 zones: the server answers REFUSED
               hint: do something

    Pool main: rfc2136, 2 zones

      atomic unit  a message about one zone, with at most 500 RRsets and 61440 bytes
      comparison   the records of each RRset, but not its TTL
      fence        a marker in `a.example.`
      types        all
      TTLs         0 to 2147483647
      zones        it can make them, but not delete them (no `delete_command`)
      proof        what was written is read back

      problem  others can read `key`
               hint: do something
      note     zonewright did not ask for any zone, because that needs the key

      ns1:53
      ok       takes connections

      zonewright did not test whether it takes updates: first fix what is above.

    Pool main: rfc2136, 2 zones

      atomic unit  a message about one zone, with at most 500 RRsets and 61440 bytes
      comparison   the records of each RRset, but not its TTL
      fence        a marker in `a.example.`
      types        all
      TTLs         0 to 2147483647
      zones        it can make them, but not delete them (no `delete_command`)
      pace         4 updates of a zone at a time
      proof        what was written is read back

      warning  a.example.: `apply` cannot write it: it holds signatures
               hint: do something
      ok       b.example.: takes updates

      zones
      ok       the folder is there
      ok       a.example.: serial 1; 40 RRsets, 42 records, 5000 bytes
      warning  a.example.: the file holds signatures (RRSIG); zonewright cannot
               renew them
               hint: plans can use this file; an apply needs the unsigned file that
                 the signer reads
      ok       b.example.: serial 1; 40 RRsets, 42 records, 5000 bytes
      warning  b.example.: warnings in its files: 2
               hint: `zonewright check` shows them
      note     b.example.: this user cannot write the file: plans can use it,
               applies cannot change it

    Pool main: rfc2136, 2 zones

      atomic unit  a message about one zone, with at most 500 RRsets and 61440 bytes
      comparison   the records of each RRset, but not its TTL
      fence        a marker in `a.example.`
      types        all
      TTLs         0 to 2147483647
      zones        it can make them, but not delete them (no `delete_command`)
      pace         4 updates of a zone at a time
      proof        what was written is read back

      warning  messages are not signed: anyone on the network path can change the
               answers
               hint: give the target a `tsig_key`, and make the server require it
      ok       each of the 2 zones: takes updates

      ns1:53
      ok       takes connections
      note     its clock is not known: only signed answers contain the time
      ok       each of the 2 zones: authoritative, serial 7; asked name by name, as
               `read = "query"` says
      note     each of the 2 zones: no transfer: the server answers REFUSED

    4 targets: 4 problems, 9 warnings
    "#);
}

#[test]
fn what_works_is_a_line_a_zone() {
    let works = place("ns1:53", ServerClock::Ahead(0), vec![found("a.example", 5), found("b.example", 6)]);
    let diagnosis = diagnosis(vec![signed("hmac-sha256", vec![works])]);
    assert_eq!((diagnosis.count(FindingLevel::Problem), diagnosis.count(FindingLevel::Warning)), (0, 0));
    insta::assert_snapshot!(doctor(&diagnosis, ReportFormat::Text, &TextOptions::default()), @"
    Pool main: rfc2136, 2 zones

      atomic unit  a message about one zone, with at most 500 RRsets and 61440 bytes
      comparison   the records of each RRset, but not its TTL
      fence        a marker in `a.example.`
      types        all
      TTLs         0 to 2147483647
      zones        it can make them, but not delete them (no `delete_command`)
      pace         4 updates of a zone at a time
      proof        what was written is read back

      ok       the secret of the key `zonewright.` (hmac-sha256) can be read
      ok       each of the 2 zones: takes updates

      ns1:53
      ok       takes connections
      ok       its clock agrees with ours
      ok       a.example.: authoritative, serial 5; 40 RRsets, 42 records, 5000
               bytes transferred in 1.23 s; refused without the key
      ok       b.example.: authoritative, serial 6; 40 RRsets, 42 records, 5000
               bytes transferred in 1.23 s; refused without the key

    1 target: 0 problems, 0 warnings
    ");
}

#[test]
fn documents_fit_their_schema() {
    for diagnosis in [everything(), diagnosis(Vec::new())] {
        let document = serde_json::from_str(&doctor(&diagnosis, ReportFormat::Json, &TextOptions::default())).unwrap();
        assert_eq!(check_one(SchemaKind::Doctor, document), "");
    }
}

#[test]
fn colour_changes_nothing_else() {
    let painted = doctor(&everything(), ReportFormat::Text, &TextOptions { color: true, ..TextOptions::default() });
    let plain = painted.split('\u{1b}').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    // The first part has no escape sequence before it, and no `m` of one.
    assert!(painted.starts_with('\u{1b}') && painted.len() > 1000);
    assert_eq!(plain.collect::<String>(), doctor(&everything(), ReportFormat::Text, &TextOptions::default()));
}
