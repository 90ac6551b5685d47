//! Files before and after edits.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use proptest::sample::select;

use super::super::compare;
use super::super::load::FileLoader;
use super::super::read_noting;
use super::*;
use crate::dns::{ChangeKind, Name, Rdata, RrKey, ZoneContents, ZoneName};

/// The zone of all tests.
fn apex() -> ZoneName {
    ZoneName::new(Name::parse("example.net").unwrap())
}

/// What a text holds, and where; panics where it is not a zone.
fn read(text: &str, keys: &[RrKey]) -> (ZoneContents, ZoneLayout) {
    let mut loader = FileLoader::of_text("zone", text.as_bytes().to_vec());
    let wanted: HashSet<LayoutKey> = keys.iter().map(|key| (key.owner.as_name().to_name(), key.rtype)).collect();
    let mut layout = ZoneLayout::new(loader.get(0).file, wanted);
    let (contents, found) = read_noting(&apex(), &mut loader, 0, &mut |record, place| layout.note(record, place));
    assert_eq!(found.error_count(), 0, "{text}{}", crate::diag::render(&found, loader.files()));
    (contents.unwrap(), layout)
}

/// What is to be at an owner and type: `TTL RDATA RDATA …`, or nothing.
type Wish<'a> = (&'a str, Rtype, &'a str);

/// The new text after wishes came true, which is also read and compared.
fn edited(text: &str, wishes: &[Wish<'_>]) -> String {
    let owner = |name: &str| match name {
        "@" => apex().owner(apex().as_name()).unwrap(),
        name => apex().owner(Name::parse(&format!("{name}.example.net")).unwrap().as_name()).unwrap(),
    };
    let keys: Vec<RrKey> = wishes.iter().map(|(name, rtype, _)| RrKey { owner: owner(name), rtype: *rtype }).collect();
    let (old, layout) = read(text, &keys);
    let kinds = keys.iter().zip(wishes).map(|(key, (_, rtype, wish))| {
        let before = old.rrset(key.owner.as_name(), key.rtype).map(|rrset| rrset.to_rrset());
        let mut words = wish.split_whitespace();
        let ttl = words.next().map(|ttl| Ttl::from_secs(ttl.parse().unwrap()).unwrap());
        let rdata = words.map(|word| Rdata::parse(*rtype, word).unwrap()).collect();
        match (before, ttl.map(|ttl| Rrset::new(ttl, rdata).unwrap())) {
            (None, Some(after)) => ChangeKind::Create { after },
            (Some(before), Some(after)) => ChangeKind::Modify { before, after },
            (Some(before), None) => ChangeKind::Delete { before },
            (None, None) => panic!("nothing is there"),
        }
    });
    let kinds: Vec<ChangeKind> = kinds.collect();
    let edits: Vec<RrsetEdit<'_>> = keys.iter().zip(&kinds).map(|(key, kind)| RrsetEdit { key, kind }).collect();
    let serial = Serial(old.serial().into_int() + 1);
    let new = String::from_utf8(edit(text.as_bytes(), &layout, &edits, serial).unwrap()).unwrap();
    assert!(compare::is_edited(&old, &read(&new, &[]).0, &edits), "{new}");
    new
}

#[test]
fn an_rrset_is_replaced_in_its_place_and_shape() {
    let text = "\
$TTL 3600
@\tIN\tSOA\tns host 7 2 3 4 5 ; the SOA
; one host
host1   IN AAAA  2001:db8::1 ; goes
; between
        IN AAAA  2001:db8::2
        IN TXT   \"stays\" ; stays

host2\t60\tAAAA\t2001:db8::3
";
    let wishes = [("host1", Rtype::AAAA, "300 2001:db8::a 2001:db8::b"), ("host2", Rtype::AAAA, "300 2001:db8::c")];
    insta::assert_snapshot!(edited(text, &wishes), @r#"
    $TTL 3600
    @	IN	SOA	ns host 8 2 3 4 5 ; the SOA
    ; one host
    host1   300 IN AAAA  2001:db8::a
    host1   300 IN AAAA  2001:db8::b
    ; between
            IN TXT   "stays" ; stays

    host2	300	AAAA	2001:db8::c
    "#);
}

#[test]
fn a_record_that_stays_keeps_its_capitals_and_its_comment() {
    let text = "\
$TTL 3600
@ SOA ns host 7 2 3 4 5
p PTR Host-A.Example.NET. ; stays
  PTR gone.example.net.   ; goes
  PTR Host-B.Example.NET.
q 60 PTR Host-C.Example.NET.
r TXT x
";
    let stays = "3600 host-a.example.net host-b.example.net";
    insta::assert_snapshot!(edited(text, &[("p", Rtype::PTR, stays)]), @r"
    $TTL 3600
    @ SOA ns host 8 2 3 4 5
    p PTR Host-A.Example.NET. ; stays
      PTR Host-B.Example.NET.
    q 60 PTR Host-C.Example.NET.
    r TXT x
    ");
    let new = format!("{stays} host-d.example.net");
    let further = ("q", Rtype::PTR, "60 host-c.example.net host-d.example.net");
    insta::assert_snapshot!(edited(text, &[("p", Rtype::PTR, &new), further]), @r"
    $TTL 3600
    @ SOA ns host 8 2 3 4 5
    p PTR Host-A.Example.NET. ; stays
      3600 PTR host-d.example.net.
      PTR Host-B.Example.NET.
    q 60 PTR Host-C.Example.NET.
    q 60 PTR host-d.example.net.
    r TXT x
    ");
}

#[test]
fn what_follows_a_removed_record_keeps_its_owner_and_ttl() {
    let text = "\
@ 900 SOA ns host 7 2 3 4 5
a 60 AAAA ::1
  TXT \"of a\"
b AAAA ::2 ; has 60 from a
  AAAA ::3
c AAAA ::4
";
    let gone = edited(text, &[("a", Rtype::AAAA, ""), ("b", Rtype::AAAA, "")]);
    insta::assert_snapshot!(gone, @r#"
    @ 900 SOA ns host 8 2 3 4 5
    a.example.net.  60 TXT "of a"
    c AAAA ::4
    "#);
    insta::assert_snapshot!(edited(text, &[("b", Rtype::AAAA, "300 ::5")]), @r#"
    @ 900 SOA ns host 8 2 3 4 5
    a 60 AAAA ::1
      TXT "of a"
    b 300 AAAA ::5
    c 60 AAAA ::4
    "#);
}

#[test]
fn columns_stay_where_there_is_room() {
    let text = "\
$TTL 60
@         SOA ns host 7 2 3 4 5
a         A   192.0.2.1
b    3600 A   192.0.2.2
c      60 A   192.0.2.3
          TXT \"c\"
";
    let wishes = [
        ("a", Rtype::A, "600 192.0.2.4"),
        ("b", Rtype::A, "600 192.0.2.5"),
        ("c", Rtype::A, "86400 192.0.2.6"),
        ("c", Rtype::TXT, "5 \"d\""),
    ];
    insta::assert_snapshot!(edited(text, &wishes), @r#"
    $TTL 60
    @         SOA ns host 8 2 3 4 5
    a     600 A   192.0.2.4
    b     600 A   192.0.2.5
    c   86400 A   192.0.2.6
            5 TXT "d"
    "#);
}

#[test]
fn a_new_rrset_stands_behind_its_owner_or_at_the_end() {
    let text = "\
$TTL 60
$ORIGIN net.
example IN SOA ns host 7 2 3 4 5
$ORIGIN example.net.
a IN A 192.0.2.1
  IN TXT \"x\"
b IN (
  A 192.0.2.2 )
c IN A 192.0.2.3
";
    let wishes = [
        ("new", Rtype::AAAA, "300 ::1 ::2"),
        ("a", Rtype::AAAA, "300 ::3"),
        ("b", Rtype::AAAA, "300 ::4"),
        ("c", Rtype::A, ""),
        ("c", Rtype::AAAA, "300 ::5"),
        ("_zonewright", Rtype::TXT, "0 \"e=1\""),
    ];
    insta::assert_snapshot!(edited(text, &wishes), @r#"
    $TTL 60
    $ORIGIN net.
    example IN SOA ns host 8 2 3 4 5
    $ORIGIN example.net.
    a IN A 192.0.2.1
      IN TXT "x"
      300 IN AAAA ::3
    b IN (
      A 192.0.2.2 )
    b.example.net. 300 IN AAAA ::4
    c 300 IN AAAA ::5
    new.example.net. 300 IN AAAA ::1
    new.example.net. 300 IN AAAA ::2
    _zonewright.example.net. 0 IN TXT "e=1"
    "#);
}

#[test]
fn records_over_several_lines_go_whole() {
    let text = "\
$TTL 60
@ SOA ns host ( ; names
    0000000009 ; serial
    2 3 4 5 )
a ( AAAA ; why
    ::1 )
; a comment on b
b AAAA ( ::2
  ) ; end
  TXT ( \"x\" ) ; of b
";
    let wishes = [("a", Rtype::AAAA, "60 ::3"), ("b", Rtype::AAAA, ""), ("b", Rtype::A, "60 192.0.2.1")];
    insta::assert_snapshot!(edited(text, &wishes), @r#"
    $TTL 60
    @ SOA ns host ( ; names
        0000000010 ; serial
        2 3 4 5 )
    a.example.net. 60 AAAA ::3
    ; a comment on b
    b.example.net.  TXT ( "x" ) ; of b
    b.example.net. 60 A 192.0.2.1
    "#);
}

#[test]
fn the_serial_keeps_its_column_and_lines_their_ends() {
    let text = "$TTL 60\r\n@ SOA ns host (\r\n  9    ; serial\r\n  2 3 4 5 )\r\na A 192.0.2.1\r\n";
    let new = edited(text, &[("a", Rtype::A, "5 192.0.2.2"), ("b", Rtype::A, "5 192.0.2.3")]);
    insta::assert_snapshot!(new.replace('\r', "<CR>"), @r"
    $TTL 60<CR>
    @ SOA ns host (<CR>
      10   ; serial<CR>
      2 3 4 5 )<CR>
    a 5 A 192.0.2.2<CR>
    b.example.net. 5 A 192.0.2.3<CR>
    ");
    let packed = "@ 60 SOA ns host 99 2 3 4 5\na A 192.0.2.1\n";
    insta::assert_snapshot!(edited(packed, &[("a", Rtype::A, "")]), @r"@ 60 SOA ns host 100 2 3 4 5");
}

#[test]
fn odd_names_are_written_so_that_they_are_read_again() {
    let text =
        "$TTL 60\n@ SOA ns host 7 2 3 4 5\na\\;b A 192.0.2.1\n\"q\" A 192.0.2.1\n\\@ A 192.0.2.1\n@ A 192.0.2.1\n";
    let wishes = [
        ("a\\;b", Rtype::A, "60 192.0.2.2"),
        ("q", Rtype::A, "60 192.0.2.2"),
        ("\\@", Rtype::A, "60 192.0.2.2"),
        ("@", Rtype::A, "60 192.0.2.2"),
        ("\\$x", Rtype::A, "60 192.0.2.2"),
        ("\\032\\009", Rtype::TXT, "60 \";(\\\"\""),
    ];
    insta::assert_snapshot!(edited(text, &wishes), @r#"
    $TTL 60
    @ SOA ns host 8 2 3 4 5
    a\;b.example.net. 60 A 192.0.2.2
    q.example.net. 60 A 192.0.2.2
    \@ 60 A 192.0.2.2
    @ 60 A 192.0.2.2
    \$x.example.net. 60 A 192.0.2.2
    \032\009.example.net. 60 TXT ";(\""
    "#);
}

#[test]
fn a_record_before_the_soa_that_goes_takes_no_ttl_with_it() {
    let text = "a 60 A 192.0.2.1\n@ SOA ns host 7 2 3 4 5\nb A 192.0.2.2\n";
    insta::assert_snapshot!(edited(text, &[("a", Rtype::A, "")]), @r"
    @ 60 SOA ns host 8 2 3 4 5
    b A 192.0.2.2
    ");
}

#[test]
fn a_soa_in_octets_has_no_serial_to_raise() {
    let text = "@ 60 SOA \\# 22 00000000000000000000000000000000000000000000\n";
    let layout = read(text, &[]).1;
    assert_eq!(check(&layout), Err(UnfitFile::NoSerial));
}

/// A line of a random file, without its end: a record with more or less of what it may leave out, or something else.
fn any_statement() -> impl Strategy<Value = String> {
    let owner =
        select(vec!["", "", "", "a ", "b\t", "c.a  ", "@ ", "example.net.\t", "a.example.net. ", "(a ", "\\065 "]);
    let ttl = prop_oneof![2 => Just(String::new()), 1 => select(vec!["60 ", "1h ", "90\t"]).prop_map(str::to_owned)];
    let class = select(vec!["", "", "IN ", "in\t"]);
    let data = select(vec![
        "A 192.0.2.1",
        "a  192.0.2.2",
        "A ( 192.0.2.3 ; (\n )",
        "AAAA ::1",
        "AAAA\t( ; why\n  ::2\n)",
        "TXT \"x ; (\" y",
        "PTR b",
        "MX 10 a",
        "TYPE65280 \\# 1 00",
    ]);
    let comment = select(vec!["", "", " ; why", " ;"]);
    let record =
        (owner, ttl, class, any::<bool>(), data, comment).prop_map(|(owner, ttl, class, swap, data, comment)| {
            let options = if swap { format!("{class}{ttl}") } else { format!("{ttl}{class}") };
            let close = if owner.starts_with('(') { "\n)" } else { "" };
            format!("{}{options}{data}{close}{comment}", if owner.is_empty() { "   " } else { owner })
        });
    let others = ["$TTL 300", "$ORIGIN sub.example.net.", "$ORIGIN example.net.", "", "; a comment", "  ", "d NS a"];
    prop_oneof![5 => record, 2 => select(others.to_vec()).prop_map(str::to_owned)]
}

/// A random file: a SOA somewhere, and what a record may have its TTL and owner from before anything else.
fn any_text() -> impl Strategy<Value = String> {
    let soa = select(vec![
        "example.net. SOA ns host 9 2 3 4 5",
        "example.net.\tIN 5m SOA ns host ( 99 ; serial\n 2 3 4 5 )",
        "example.net. 70 SOA ( ns host\n009  ; serial\n 2 3 4\n5 )",
    ]);
    let first = select(vec!["$TTL 1d\na A 192.0.2.9", "a 40 A 192.0.2.9", "@ NS a"]);
    let statements = || proptest::collection::vec(any_statement(), 0..8);
    (first, statements(), soa, statements(), any::<bool>()).prop_map(|(first, before, soa, after, crlf)| {
        // A SOA alone may have no TTL, and a record before it would have none.
        let before = if first.starts_with('@') { Vec::new() } else { [vec![first.to_owned()], before].concat() };
        let lines = [before, vec![soa.to_owned()], after].concat();
        let text = lines.join("\n") + "\n";
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

/// Which RRset is to change, by a number; to what TTL and how many records, if any.
type Pick = (usize, u64, u8);

/// The changes of picked RRsets: of those in a zone, and of some that are not.
fn pick(zone: &ZoneContents, picks: &[Pick]) -> Vec<(RrKey, ChangeKind)> {
    let rtypes = [Rtype::A, Rtype::AAAA, Rtype::TXT, Rtype::PTR];
    let standing = zone.rrsets().filter(|rrset| rtypes.contains(&rrset.rtype()));
    let mut keys: Vec<(Name, Rtype)> = standing.map(|rrset| (rrset.owner(), rrset.rtype())).collect();
    let fresh =
        ["example.net", "a.example.net", "a.sub.example.net", "n.example.net"].map(|name| Name::parse(name).unwrap());
    keys.extend(fresh.iter().flat_map(|name| rtypes.map(|rtype| (name.clone(), rtype))));
    keys.sort_unstable();
    keys.dedup();
    let mut picked = BTreeMap::new();
    for (number, ttl, count) in picks {
        let (name, rtype) = keys[number % keys.len()].clone();
        let before = zone.rrset(name.as_name(), rtype).map(|rrset| rrset.to_rrset());
        let rdata = (0..*count).map(|number| some_rdata(rtype, number)).collect();
        let kind = match (before, Rrset::new(Ttl::from_secs(*ttl).unwrap(), rdata)) {
            (None, Some(after)) => ChangeKind::Create { after },
            (Some(before), Some(after)) => ChangeKind::Modify { before, after },
            (Some(before), None) => ChangeKind::Delete { before },
            (None, None) => continue,
        };
        picked.insert(RrKey { owner: apex().owner(name.as_name()).unwrap(), rtype }, kind);
    }
    picked.into_iter().collect()
}

/// Data of a type, different for each number.
fn some_rdata(rtype: Rtype, number: u8) -> Rdata {
    let text = match rtype {
        Rtype::A => format!("198.51.100.{number}"),
        Rtype::AAAA => format!("2001:db8::{number}"),
        Rtype::TXT => format!("\"new ; ( {number}\""),
        _ => format!("h{number}.example.net"),
    };
    Rdata::parse(rtype, &text).unwrap()
}

/// All RRsets but the SOA, each with its records and their TTLs.
fn rrsets(zone: &ZoneContents) -> BTreeMap<(Name, Rtype), Vec<(Ttl, String)>> {
    let others = zone.rrsets().filter(|rrset| rrset.rtype() != Rtype::SOA);
    let records = |(ttl, rdata): (Ttl, crate::dns::RdataRef<'_>)| (ttl, rdata.to_string());
    others.map(|rrset| ((rrset.owner(), rrset.rtype()), rrset.records().map(records).collect())).collect()
}

/// What must be in the new text in this order, each as the end of a line: the lines that no edit touches, whole; and
/// those whose owner name or TTL may have been written out, without the text before these.
fn kept(text: &str, layout: &ZoneLayout, edits: &[(RrKey, ChangeKind)]) -> Vec<(bool, String)> {
    let mut kept = Vec::new();
    let mut at = 0;
    let whole = |text: &str| text.split_inclusive('\n').map(|line| (true, line.to_owned())).collect::<Vec<_>>();
    for line in &layout.lines {
        kept.extend(whole(&text[at..line.range.start]));
        at = line.range.end;
        let is =
            |(key, _): &(RrKey, ChangeKind)| key.owner.as_name() == line.owner.as_name() && key.rtype == line.rtype;
        if line.rtype == Rtype::SOA || edits.iter().any(is) {
            continue;
        }
        if line.owner_at.is_some() && line.ttl_from != TtlFrom::Latest {
            kept.extend(whole(&text[line.range.clone()]));
        } else {
            let mut rest = whole(&text[line.head_at..line.range.end]);
            rest[0].0 = false;
            kept.extend(rest);
        }
    }
    kept.extend(whole(&text[at..]));
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_file_holds_what_it_held_with_the_edits_made(
        text in any_text(),
        picks in proptest::collection::vec((any::<usize>(), 0..200u64, 0..3u8), 1..5),
    ) {
        let (old, layout) = read(&text, &[]);
        let picked = pick(&old, &picks);
        let edits: Vec<RrsetEdit<'_>> = picked.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
        let serial = Serial(old.serial().into_int() + 1);
        let new = String::from_utf8(edit(text.as_bytes(), &layout, &edits, serial).unwrap()).unwrap();
        let after = read(&new, &[]).0;
        let mut expected = rrsets(&old);
        for (key, kind) in &picked {
            let place = (key.owner.as_name().to_name(), key.rtype);
            match kind.after() {
                Some(rrset) => {
                    let records = rrset.rdata().iter().map(|rdata| (rrset.ttl(), rdata.as_rdata(key.rtype).to_string()));
                    expected.insert(place, records.collect());
                }
                None => {
                    expected.remove(&place);
                }
            }
        }
        prop_assert_eq!(rrsets(&after), expected, "{}", new);
        prop_assert_eq!(after.serial(), serial);
        prop_assert!(compare::is_edited(&old, &after, &edits));
        let mut lines = new.split_inclusive('\n');
        for (whole, text) in kept(&text, &layout, &picked) {
            let found = lines.any(|line| if whole { line == text } else { line.ends_with(&text) });
            prop_assert!(found, "{text:?} is gone from\n{new}");
        }
    }
}
