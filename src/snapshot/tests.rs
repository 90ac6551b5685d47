//! What is written is read again as it was, whatever it is; and what is damaged is found.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::diag::Problem;
use crate::dns::{Name, NameRef, Rtype, Ttl, WireOctets, ZoneBuilder, ZoneContents};
use crate::inventory::value::Time;
use crate::provider;

/// A zone's name.
fn zone(name: &str) -> ZoneName {
    ZoneName::new(Name::parse(name).unwrap())
}

/// The time that all snapshots here were made at.
fn noon() -> Time {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

/// Contents from the text of a master file.
fn parsed(name: &str, text: &str) -> ZoneContents {
    provider::parse_text(&zone(name), "test", text.as_bytes().to_vec()).unwrap_or_else(|found| panic!("{found:?}"))
}

/// All records with their TTLs.
fn records(contents: &ZoneContents) -> Vec<(Name, Rtype, Ttl, Vec<u8>)> {
    let of_rrset = |rrset: crate::dns::RrsetRef<'_>| {
        let (owner, rtype) = (rrset.owner(), rrset.rtype());
        rrset.records().map(|(ttl, rdata)| (owner.clone(), rtype, ttl, rdata.octets.to_vec())).collect::<Vec<_>>()
    };
    contents.rrsets().flat_map(of_rrset).collect()
}

/// The text of a zone.
fn written(contents: &ZoneContents) -> String {
    let mut out = Vec::new();
    text::write_zone(contents, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A SOA, and records of every type that can be written in more than one way.
const EVERY_TYPE: &str = r#"$ORIGIN example.net.
$TTL 3600
@ SOA ns1 a\.b ( 7 1h 2h 4w 10m )
  NS ns1
  NS Ns2
  MX 10 mail
  TXT "v=spf1 -all" "" "two ; strings \"quoted\" \\ \195\164 \000\009"
  TXT plain
  SPF "v=spf1 -all"
  CAA 0 issue "ca.example.net; policy=ev"
  DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==
  CDNSKEY 0 3 0 AA==
  CDS 0 0 0 00
  NSEC3PARAM 1 0 10 AABBCCDD
  ZONEMD 7 1 1 2345
  RRSIG SOA 13 2 3600 20261201000000 20261101000000 1 example.net. AAAA
  NSEC \000.example.net. A NS SOA MX TXT RRSIG NSEC DNSKEY CAA TYPE65280
0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY NS SOA
a A 192.0.2.1
a AAAA 2001:db8::1
a 600 AAAA 2001:db8::2
*.wild 60 TXT star
under_score CNAME a
d\.o\032\@\$\;\"\\\(\)t PTR \@x\.y
old DNAME new
_sip._tcp SRV 10 20 5060 mail
naptr NAPTR 100 50 "s" "http+I2R" "" _http._tcp.foo
naptr NAPTR 100 50 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .
_443._tcp TLSA 3 1 1 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF
mail SSHFP 4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789
web HTTPS 1 . alpn="h2,h3" port=8443 ipv4hint=192.0.2.80
svc SVCB 16 foo.example.org. mandatory=alpn alpn=h2 ech=AAAA
newer SVCB 1 . mandatory=key8 key7=/q{?dns} key8 key9="\000\029" key667="hello"
odd HTTPS 1 . alpn="h1\\\\,h2"
ds DS 60485 8 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A
rp RP mail info.rp
hinfo HINFO "PC" "Linux 6"
afsdb AFSDB 1 db
kx KX 1 db
rt RT 1 db
px PX 1 map822 mapx400
uri URI 10 1 "https://a.example/ \"x\""
pgp OPENPGPKEY AAAA
minfo MINFO a b
mb MB a
mg MG a
mr MR a
loc LOC \# 16 0000000000000000000000000000000a
cert CERT \# 6 000100010100
unknown TYPE65280 \# 4 deadBEEF
empty TYPE65281 \# 0
"#;

#[test]
fn every_known_type_is_read_again_as_it_was() {
    let contents = parsed("example.net", EVERY_TYPE);
    let text = written(&contents);
    let again = parsed("example.net", &text);
    assert_eq!(records(&again), records(&contents));
    assert_eq!(again.digest(|_| true), contents.digest(|_| true));
    // What few software reads in any other form.
    let generic = text.lines().filter(|line| line.contains("\\#")).map(|line| line.split(' ').nth(3).unwrap());
    assert_eq!(
        generic.collect::<Vec<_>>(),
        ["SOA", "NSEC", "ZONEMD", "CERT", "TYPE65281", "LOC", "SVCB", "HTTPS", "TYPE65280"]
    );
    // BIND 9.18 does not load the names of service parameters that are newer than RFC 9460.
    assert!(!["ohttp", "dohpath", "tls-supported-groups", "docpath"].iter().any(|name| text.contains(name)), "{text}");
}

#[test]
fn the_text_begins_with_the_soa_and_has_the_canonical_order() {
    let contents = parsed(
        "example.net",
        "$TTL 60\n@ A 192.0.2.1\n@ SOA a b 1 2 3 4 5\nz A 192.0.2.2\na.z 5 A 192.0.2.3\na.z 7 A 192.0.2.4\nb A 192.0.2.5\n",
    );
    insta::assert_snapshot!(written(&contents), @r#"
    ; zone example.net., serial 1, 6 records
    example.net. 60 IN SOA a.example.net. b.example.net. 1 2 3 4 5
    example.net. 60 IN A 192.0.2.1
    b.example.net. 60 IN A 192.0.2.5
    z.example.net. 60 IN A 192.0.2.2
    a.z.example.net. 5 IN A 192.0.2.3
    a.z.example.net. 7 IN A 192.0.2.4
    ; end of the zone
    "#);
}

#[test]
fn every_type_is_named_so_that_it_is_known_again() {
    for number in 1..=u16::MAX {
        let rtype = Rtype::from_int(number);
        assert_eq!(rtype.to_string().parse::<Rtype>().ok(), Some(rtype), "{number}");
    }
}

/// What RDATA are made of.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// This many octets.
    Octets(usize),
    /// A name.
    Name,
    /// Character strings, at least one.
    Texts,
    /// Anything.
    Rest,
}

/// RDATA as random as their type allows.
fn rdata() -> impl Strategy<Value = (Rtype, Vec<u8>)> {
    use Shape::{Name, Octets, Rest, Texts};
    let shaped = [
        (Rtype::A, vec![Octets(4)]),
        (Rtype::AAAA, vec![Octets(16)]),
        (Rtype::NS, vec![Name]),
        (Rtype::CNAME, vec![Name]),
        (Rtype::DNAME, vec![Name]),
        (Rtype::PTR, vec![Name]),
        (Rtype::MX, vec![Octets(2), Name]),
        (Rtype::SRV, vec![Octets(6), Name]),
        (Rtype::PX, vec![Octets(2), Name, Name]),
        (Rtype::RP, vec![Name, Name]),
        (Rtype::MINFO, vec![Name, Name]),
        (Rtype::TXT, vec![Texts]),
        (Rtype::SPF, vec![Texts]),
        (Rtype::HINFO, vec![Texts]),
        (Rtype::NAPTR, vec![Octets(4), Octets(1), Octets(1), Octets(1), Name]),
        (Rtype::RRSIG, vec![Octets(18), Name, Rest]),
        (Rtype::NSEC, vec![Name, Rest]),
        (Rtype::SVCB, vec![Octets(2), Name, Rest]),
        (Rtype::URI, vec![Octets(4), Rest]),
        (Rtype::CAA, vec![Octets(1), Rest]),
        (Rtype::DNSKEY, vec![Octets(4), Rest]),
        (Rtype::DS, vec![Octets(4), Rest]),
    ];
    let shaped = (0..shaped.len()).prop_flat_map(move |place| {
        let (rtype, shapes) = shaped[place].clone();
        let parts: Vec<BoxedStrategy<Vec<u8>>> = shapes.into_iter().map(part).collect();
        (Just(rtype), parts.prop_map(|parts| parts.concat()))
    });
    let unshaped = (1u16..128, vec(any::<u8>(), 0..80)).prop_map(|(rtype, rdata)| (Rtype::from_int(rtype), rdata));
    let unknown = (256u16.., vec(any::<u8>(), 0..80)).prop_map(|(rtype, rdata)| (Rtype::from_int(rtype), rdata));
    prop_oneof![4 => shaped, 1 => unshaped, 1 => unknown].prop_filter_map("no RDATA of the type", |(rtype, rdata)| {
        let mut canonical = Vec::new();
        let zone_data = !matches!(rtype, Rtype::SOA | Rtype::OPT);
        let done = WireOctets::rdata(&rdata).append_rdata(rtype, 0..rdata.len(), &mut canonical);
        (zone_data && done.is_ok()).then_some((rtype, canonical))
    })
}

/// One part of RDATA.
fn part(shape: Shape) -> BoxedStrategy<Vec<u8>> {
    match shape {
        Shape::Octets(octets) => vec(any::<u8>(), octets).boxed(),
        Shape::Name => name(Name::root()).prop_map(|name| name.as_wire().to_vec()).boxed(),
        Shape::Texts => vec(vec(any::<u8>(), 0..=255), 1..3)
            .prop_map(|texts| texts.into_iter().flat_map(|text| [vec![text.len() as u8], text].concat()).collect())
            .boxed(),
        Shape::Rest => vec(any::<u8>(), 0..80).boxed(),
    }
}

/// Labels of letters, of what must be escaped, or of anything, as many as there is room for, before `parent`.
fn name(parent: Name) -> impl Strategy<Value = Name> {
    let label = prop_oneof![
        "[a-z0-9_*-]{1,12}".prop_map(String::into_bytes),
        vec(prop::sample::select(b" .;\\\"()@$#\t\n\r\0\x01".to_vec()), 1..5),
        vec(any::<u8>(), 1..=63),
    ];
    vec(label, 0..6).prop_map(move |labels| {
        let longer = |name: Name, label: Vec<u8>| Name::prepend(&label, name.as_name()).unwrap_or(name);
        labels.into_iter().fold(parent.clone(), longer)
    })
}

/// A zone with records at random names; some share their names, so that there are RRsets with several TTLs.
fn contents() -> impl Strategy<Value = ZoneContents> {
    let apex = name(Name::root());
    apex.prop_flat_map(|apex| {
        let owners = vec(name(apex.clone()), 1..4);
        let records = vec((any::<prop::sample::Index>(), 0u32..=0x7fff_ffff, rdata()), 0..12);
        (Just(apex), owners, records, vec(any::<u8>(), 20))
    })
    .prop_map(|(apex, owners, records, numbers)| {
        let mut builder = ZoneBuilder::new(ZoneName::new(apex.clone()));
        let soa = [apex.as_wire(), apex.as_wire(), &numbers].concat();
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &soa).unwrap();
        for (owner, ttl, (rtype, rdata)) in &records {
            let owner: NameRef<'_> = owner.get(&owners).as_name();
            builder.push(owner, *rtype, Ttl::from_wire(*ttl), rdata).unwrap();
        }
        builder.finish().unwrap()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_as_it_was(contents in contents()) {
        let text = written(&contents);
        let again = provider::parse_text(contents.apex(), "test", text.clone().into_bytes());
        let again = again.map_err(|found| TestCaseError::fail(format!("{found:?}\n{text}")))?;
        prop_assert_eq!(records(&again), records(&contents));
        prop_assert_eq!(again.digest(|_| true), contents.digest(|_| true));
        prop_assert_eq!(again.serial(), contents.serial());
    }

    #[test]
    fn two_zones_never_share_a_file(a in name(Name::root()), b in name(Name::root())) {
        let (a, b) = (ZoneName::new(a), ZoneName::new(b));
        prop_assert_eq!(a == b, file_stem(&a, None) == file_stem(&b, None));
        let plain = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || b"-_.%~".contains(&octet);
        let file = file_stem(&a, None);
        prop_assert!(file.len() <= 200 && file.bytes().all(plain) && !file.starts_with('.'), "{}", file);
    }
}

#[test]
fn files_are_named_for_their_zones() {
    let names = ["example.net", "0/25.2.0.192.in-addr.arpa", "a\\.b", "."].map(|name| file_stem(&zone(name), None));
    assert_eq!(names, ["example.net", "0%2f25.2.0.192.in-addr.arpa", "a%2eb", "%"]);
    let label = "\\000".repeat(60);
    let (a, b) = (zone(&format!("a.{label}.{label}")), zone(&format!("b.{label}.{label}")));
    assert_eq!(file_stem(&a, None).len(), MAX_STEM);
    assert_ne!(file_stem(&a, None), file_stem(&b, None));
}

/// A small zone.
const SMALL: &str = "$TTL 60\n@ SOA a b 1 2 3 4 5\nx A 192.0.2.1\nx AAAA 2001:db8::1\ny 5 TXT \"a b\"\n";

/// Saves a snapshot of two zones, and of one that could not be read.
fn save(target: &Path) -> Result<(), Problem> {
    let writer = SnapshotWriter::begin(target)?;
    let zones = ["example.net", "0/25.2.0.192.in-addr.arpa"]
        .map(|name| writer.write_zone(SavedCopy::of(&parsed(name, SMALL)), None));
    let zones = zones.into_iter().collect::<Result<Vec<_>, _>>()?;
    let unread = UnreadZone {
        target: None,
        zone: zone("lost.example"),
        place: "192.0.2.53:53 zone lost.example.".to_owned(),
        code: "timeout".to_owned(),
        message: "no whole message in time, before any answer".to_owned(),
        hint: Some("look at the server".to_owned()),
    };
    writer.finish("zonewright 0.0.0", noon(), zones, vec![unread])
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_snapshot_is_read_from_its_folder_or_its_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("live");
    save(&target).unwrap();
    assert_eq!(names_in(folder.path()), ["live"]);
    assert_eq!(names_in(&target), ["0%2f25.2.0.192.in-addr.arpa.zone", "example.net.zone", "manifest.json"]);
    for path in [target.clone(), target.join(MANIFEST)] {
        let snapshot = Snapshot::open(&path).unwrap();
        assert_eq!((snapshot.created(), snapshot.zones().count()), (noon(), 3));
        let read = snapshot.read_zone(&zone("example.net")).unwrap().read;
        assert_eq!(records(&read.contents), records(&parsed("example.net", SMALL)));
        assert_eq!(read.inputs.len(), 1);
        let shown = |name| snapshot.read_zone(&zone(name)).unwrap_err().message;
        assert_eq!(
            shown("lost.example"),
            "the zone could not be read when the snapshot was made: 192.0.2.53:53 zone lost.example.: error[timeout]: \
             no whole message in time, before any answer"
        );
        assert_eq!(shown("other.example"), "the zone is configured, but the snapshot does not have it");
    }
}

#[test]
fn the_manifest_is_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    save(&a).unwrap();
    save(&b).unwrap();
    let text = fs::read_to_string(a.join(MANIFEST)).unwrap();
    assert_eq!(text, fs::read_to_string(b.join(MANIFEST)).unwrap());
    insta::assert_snapshot!(text, @r#"
    {
      "format": "zonewright.snapshot/1",
      "tool": "zonewright 0.0.0",
      "created": "2026-11-20T12:00:00Z",
      "zones": [
        {
          "zone": "example.net.",
          "file": "example.net.zone",
          "sha256": "sha256:afc6be44bea051fe6cafae626e94a09e57f4753448f59c3f53fb0486d2791c1f",
          "extent": "whole",
          "serial": 1,
          "rrsets": 4,
          "records": 4,
          "digest": "sha256:cb61ecddfb582fb001a04829c1569125289b1e785691ac5b6156ddfad12dc06b"
        },
        {
          "zone": "0/25.2.0.192.in-addr.arpa.",
          "file": "0%2f25.2.0.192.in-addr.arpa.zone",
          "sha256": "sha256:41f8b1432ce916705bca69acd6b1eab20c58faa9771890c7bff12b13615b5249",
          "extent": "whole",
          "serial": 1,
          "rrsets": 4,
          "records": 4,
          "digest": "sha256:1f22624e01888fd10592e429474cf9da9c837a9ddbda6cf86b1dc8e154dd3cd4"
        }
      ],
      "unread": [
        {
          "zone": "lost.example.",
          "place": "192.0.2.53:53 zone lost.example.",
          "code": "timeout",
          "message": "no whole message in time, before any answer",
          "hint": "look at the server"
        }
      ]
    }
    "#);
}

#[test]
fn only_a_snapshot_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("live");
    save(&target).unwrap();
    fs::write(target.join("old.example.zone"), "").unwrap();
    save(&target).unwrap();
    assert!(!target.join("old.example.zone").exists());
    fs::write(target.join("notes.txt"), "").unwrap();
    let message = |target: &Path| save(target).unwrap_err().message;
    assert_eq!(
        message(&target),
        "this is not a snapshot, so it is not replaced: its file `notes.txt` does not belong to a snapshot"
    );
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    assert!(message(&other).ends_with("it has no `manifest.json` of a snapshot"), "{}", message(&other));
    fs::write(other.join(MANIFEST), "{\"format\": \"zonewright.plan/1\"}").unwrap();
    assert!(message(&other).ends_with("it has no `manifest.json` of a snapshot"), "{}", message(&other));
    assert!(message(&other.join(MANIFEST)).ends_with("it is not a folder"));
    assert_eq!(save(&folder.path().join("none/live")).unwrap_err().code.as_str(), "snapshot-not-saved");
    assert_eq!(names_in(folder.path()), ["live", "other"]);
}

#[test]
fn a_snapshot_that_is_not_finished_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let writer = SnapshotWriter::begin(&folder.path().join("live")).unwrap();
    writer.write_zone(SavedCopy::of(&parsed("example.net", SMALL)), None).unwrap();
    assert!(!folder.path().join("live").exists());
    drop(writer);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

/// Edits a file of a snapshot, and gives what reading it says.
fn damaged(file: &str, edit: impl Fn(String) -> String) -> Problem {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("live");
    save(&target).unwrap();
    let path = target.join(file);
    fs::write(&path, edit(fs::read_to_string(&path).unwrap())).unwrap();
    let read = Snapshot::open(&target).and_then(|snapshot| snapshot.read_zone(&zone("example.net")));
    read.expect_err("it is damaged")
}

#[test]
fn whatever_is_damaged_is_found() {
    let zone = |edit: &dyn Fn(String) -> String| {
        let error = damaged("example.net.zone", edit);
        assert_eq!(error.code.as_str(), "snapshot-damaged");
        error.message
    };
    assert_eq!(zone(&|text| text[..text.len() / 2].to_owned()), "the file was cut: its last line is missing");
    assert_eq!(zone(&|_| String::new()), "the file was cut: its last line is missing");
    let changed = "the file was changed: its SHA-256 is not that of the manifest";
    assert_eq!(zone(&|text| text.replace("192.0.2.1", "192.0.2.2")), changed);
    assert_eq!(zone(&|text| text.replacen("; zone", "; Zone", 1)), changed);
    let manifest = |old: &str, new: &str| {
        let error = damaged(MANIFEST, |text| text.replacen(old, new, 1));
        format!("{}: {}", error.code, error.message)
    };
    for (old, new, message) in [
        ("\"serial\": 1", "\"serial\": 2", "the serial of its contents is 1, but the manifest says 2"),
        ("\"rrsets\": 4", "\"rrsets\": 5", "the number of RRsets of its contents is 4, but the manifest says 5"),
        ("\"records\": 4", "\"records\": 3", "the number of records of its contents is 4, but the manifest says 3"),
        ("\"digest\": \"sha256:", "\"digest\": \"sha256:0", "the digest of its contents is not that of the manifest"),
        ("\"example.net.zone\"", "\"../example.net.zone\"", "the manifest names a file outside the folder"),
        ("\"example.net.zone\"", "\"none.zone\"", "there is no such file"),
    ] {
        assert_eq!(manifest(old, new), format!("snapshot-damaged: {message}"));
    }
    for (old, new, message) in [
        (
            "snapshot/1",
            "snapshot/2",
            "its format is `zonewright.snapshot/2`, but this version reads only `zonewright.snapshot/1`",
        ),
        ("\"whole\"", "\"names\"", "unknown variant `names`, expected `whole`"),
        ("lost.example.", "example.net.", "the zone `example.net.` is in it twice"),
        ("{", "", "it is not a JSON object with a `format`"),
        ("12:00:00Z", "noon", "is not a time as in RFC 3339"),
    ] {
        let found = manifest(old, new);
        assert!(found.starts_with("not-a-snapshot: no manifest of a snapshot: ") && found.contains(message), "{found}");
    }
}
