//! Zone files as a user writes them, right and wrong.

use proptest::prelude::*;

use super::*;
use crate::diag::{self, Files, Origin, Problem};
use crate::dns::{Name, NameBuffer, Rtype, Ttl, WireOctets};
use crate::inventory::node::{SettingsKey, SettingsValue};

/// A SOA and a TTL that most tests do not care about.
const HEAD: &str = "$TTL 3600\n@ SOA ns hostmaster 1 2 3 4 5\n";

/// The zone of all tests.
fn apex() -> ZoneName {
    ZoneName::new(Name::parse("example.net").unwrap())
}

/// Writes files into a workspace of its own and reads `zones/example.net.zone`.
fn read_files(files: &[(&str, &[u8])]) -> Result<ZoneRead, Problem> {
    let workspace = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = workspace.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    ZoneFiles { folder: TargetFolder::open(workspace.path(), "zones")? }.read_zone(&apex())
}

/// Reads one text as the zone.
fn read(text: &str) -> Result<ZoneRead, Problem> {
    read_files(&[("zones/example.net.zone", text.as_bytes())])
}

/// All records of a text below [`HEAD`], sorted as text; the SOA left out.
fn records(text: &str) -> String {
    printed(&read(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{}", shown(&error))).contents, false)
}

/// A zone as sorted master-file lines.
fn printed(contents: &ZoneContents, soa: bool) -> String {
    let mut lines = Vec::new();
    for rrset in contents.rrsets().filter(|rrset| soa || rrset.rtype() != Rtype::SOA) {
        for rdata in rrset.rdata() {
            lines.push(format!("{} {} IN {} {rdata}\n", rrset.owner(), rrset.ttl(), rrset.rtype()));
        }
    }
    lines.sort();
    lines.concat()
}

/// An error as a user sees it.
fn shown(error: &Problem) -> String {
    let findings = error.findings.as_deref().map(|(files, findings)| diag::render(findings, files));
    format!("{error}\n{}", findings.unwrap_or_default())
}

/// The codes of what is wrong with a text below [`HEAD`], each with its line and column.
fn codes(text: &str) -> Vec<String> {
    codes_of(&read(&format!("{HEAD}{text}")).expect_err("the text is wrong"))
}

/// The codes in an error, each with its line and column.
fn codes_of(error: &Problem) -> Vec<String> {
    let found = &error.findings.as_ref().unwrap_or_else(|| panic!("{error}")).1;
    let place = |origin: Origin| format!("{}:{}", origin.line, origin.col);
    found.iter().map(|diagnostic| format!("{} {}", place(diagnostic.origin), diagnostic.code)).collect()
}

#[test]
fn every_way_to_leave_something_out() {
    let text = "
$ORIGIN Sub.Example.NET.
a 60 IN A 192.0.2.1
  IN 61 A 192.0.2.2 ; the same owner
  A ( 192.0.2.3
      ) ; the default TTL
@ aaaa 2001:DB8::1
$TTL 1h30m
* in txt one \"two ; ( \\\" \\092\" th\\114ee \"\"
$ORIGIN deeper
b 1W2d PTR @
c CLASS1 CNAME b.example.net.
d mx 10 C
";
    insta::assert_snapshot!(records(text), @r#"
    *.sub.example.net. 5400 IN TXT "one" "two ; ( \" \\" "three" ""
    a.sub.example.net. 60 IN A 192.0.2.1
    a.sub.example.net. 60 IN A 192.0.2.2
    a.sub.example.net. 60 IN A 192.0.2.3
    b.deeper.sub.example.net. 777600 IN PTR deeper.sub.example.net.
    c.deeper.sub.example.net. 5400 IN CNAME b.example.net.
    d.deeper.sub.example.net. 5400 IN MX 10 c.deeper.sub.example.net.
    sub.example.net. 3600 IN AAAA 2001:db8::1
    "#);
}

#[test]
fn ttls_come_from_the_record_the_directive_the_record_before_or_the_soa() {
    let zone = |text: &str| read(text).map(|read| printed(&read.contents, true)).map_err(|error| codes_of(&error));
    let before = "@ 100 SOA ns host 1 2 3 4 5\na A 192.0.2.1\nb 7 A 192.0.2.1\nc A 192.0.2.1\n";
    insta::assert_snapshot!(zone(before).unwrap(), @r"
    a.example.net. 100 IN A 192.0.2.1
    b.example.net. 7 IN A 192.0.2.1
    c.example.net. 7 IN A 192.0.2.1
    example.net. 100 IN SOA ns.example.net. host.example.net. 1 2 3 4 5
    ");
    let soa = "@ SOA ns host 1 2 3 4 1m\nb 7 A 192.0.2.1\nc A 192.0.2.1\n";
    insta::assert_snapshot!(zone(soa).unwrap(), @r"
    b.example.net. 7 IN A 192.0.2.1
    c.example.net. 60 IN A 192.0.2.1
    example.net. 60 IN SOA ns.example.net. host.example.net. 1 2 3 4 60
    ");
    assert_eq!(zone("a A 192.0.2.1\n@ 5 SOA ns host 1 2 3 4 5\n").unwrap_err(), ["1:1 no-ttl"]);
}

#[test]
fn dnssec_and_unknown_types_are_kept() {
    let text = r#"
@ NS Ns
ns A 192.0.2.53
k DNSKEY 256 3 8 AwEAAb==
@ DNSKEY 257 3 13 ( mdsswUyr3DPW132mOi8V9xESWE8jTo0d
   xCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ== )
d DS 60485 5 1 ( 2BB183AF5F22588179A53B0A 98631FAD1A292118 )
r RRSIG A 5 3 86400 20300322173103 20300220173103 2642 EXAMPLE.net. AAAA
n NSEC Host.Example.net. A MX RRSIG NSEC TYPE1234
h 60 HTTPS 1 . alpn="h2,h3" port=8443
c CAA 0 issue "ca.example.net; policy=ev"
s SRV 0 5 5060 Sip
u URI 10 1 "ftp://a.example/"
o NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.Gatech.edu.
f SSHFP 4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789
t TYPE65280 \# 4 DE ADbeEF
v A \# 4 C0000201
w MX \# 6 000A 01 41 00 00 ; trailing
"#;
    let error = read(&format!("{HEAD}{text}")).expect_err("the last record is wrong");
    insta::assert_snapshot!(shown(&error), @r"
    zones/example.net.zone: error[bad-zone-file]: 1 error in the files of `example.net.`
    zones/example.net.zone:20:9: error[bad-rdata]: bad RDATA of MX: the data go on after the last field
      20 | w MX \# 6 000A 01 41 00 00 ; trailing
         |         ^
         = hint: the notation is `\# LENGTH HEX`
    ");
    let good = text.lines().filter(|line| !line.starts_with("w ") && !line.starts_with("k ")).collect::<Vec<_>>();
    insta::assert_snapshot!(records(&(good.join("\n") + "\n")), @r#"
    c.example.net. 3600 IN CAA 0 issue "ca.example.net; policy=ev"
    d.example.net. 3600 IN DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118
    example.net. 3600 IN DNSKEY 257 3 13 mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==
    example.net. 3600 IN NS ns.example.net.
    f.example.net. 3600 IN SSHFP 4 2 123456789ABCDEF67890123456789ABCDEF67890123456789ABCDEF123456789
    h.example.net. 60 IN HTTPS 1 . alpn=h2,h3 port=8443
    n.example.net. 3600 IN NSEC host.example.net. A MX RRSIG NSEC TYPE1234
    ns.example.net. 3600 IN A 192.0.2.53
    o.example.net. 3600 IN NAPTR 100 50 "s" "z3950+I2L+I2C" "" _z3950._tcp.gatech.edu.
    r.example.net. 3600 IN RRSIG A 5 3 86400 1900431063 1897839063 2642 example.net. AAAA
    s.example.net. 3600 IN SRV 0 5 5060 sip.example.net.
    t.example.net. 3600 IN TYPE65280 \# 4 deadbeef
    u.example.net. 3600 IN URI 10 1 "ftp://a.example/"
    v.example.net. 3600 IN A 192.0.2.1
    "#);
}

#[test]
fn one_rare_record_does_not_hide_its_zone() {
    // Each of these made the whole zone unknown.
    let text = r#"
https HTTPS 1 . key9999=x
alpn HTTPS 1 . alpn="h1\\,h2"
ds DS 12345 RSASHA256 2 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A
key DNSKEY 257 3 ECDSAP256SHA256 AwEAAQ==
sig RRSIG A RSASHA256 3 3600 20300322173103 20300220173103 2642 example.net. AAAA
loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m
cert CERT PKIX 1 RSASHA256 AAAA
a AAAA 2001:db8::1
a DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=
eui EUI48 00-00-5e-00-53-2a
nsap NSAP-PTR a
"#;
    let read = read(&format!("{HEAD}{text}")).unwrap_or_else(|error| panic!("{}", shown(&error)));
    assert_eq!(read.contents.record_count(), 12);
    assert!(records(text).contains("a.example.net. 3600 IN AAAA 2001:db8::1\n"));
}

#[test]
fn all_that_is_wrong_is_reported_at_once() {
    let text = "\
a A 192.0.2
a AAAA 192.0.2.1
a A 192.0.2.1 192.0.2.2
a TTXT \"x\"
a -1 A 192.0.2.1
a 2147483648 A 192.0.2.1
a CH A 192.0.2.1
a 5 IN
b.example.org. A 192.0.2.1
  A 192.0.2.2
c..d A 192.0.2.1
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa A 192.0.2.1
e TXT \"x
f TXT x)
g SOA . . 1 2 3 4 5
@ SOA ns hostmaster 2 2 3 4 5
$GENERATE 1-2 h$ A 192.0.2.$
$TTL
$TTL -5
$FOO x
i ANY x
j MX 70000 x
k TXT \\# 2 zz
l TXT
m A \u{e4}.example
  UINFO 1 2
good A 192.0.2.1
n ( A
192.0.2.1
";
    insta::assert_snapshot!(shown(&read(&format!("{HEAD}{text}")).unwrap_err()), @r#"
    zones/example.net.zone: error[bad-zone-file]: 26 errors in the files of `example.net.`
    zones/example.net.zone:3:5: error[bad-rdata]: `192.0.2` is not an IPv4 address
      3 | a A 192.0.2
        |     ^^^^^^^
        = hint: an A record holds one address such as `192.0.2.1`
    zones/example.net.zone:4:8: error[bad-rdata]: `192.0.2.1` is not an IPv6 address
      4 | a AAAA 192.0.2.1
        |        ^^^^^^^^^
        = hint: an AAAA record holds one address such as `2001:db8::1`
    zones/example.net.zone:5:15: error[bad-rdata]: this follows the last field of the RDATA
      5 | a A 192.0.2.1 192.0.2.2
        |               ^^^^^^^^^
        = hint: an A record holds one address such as `192.0.2.1`
    zones/example.net.zone:6:3: error[unknown-type]: `TTXT` is not a type
      6 | a TTXT "x"
        |   ^^^^
        = hint: write types without a mnemonic as `TYPE` and their number, their data as `\# LENGTH HEX`
    zones/example.net.zone:7:3: error[bad-ttl]: `-1` is not a TTL
      7 | a -1 A 192.0.2.1
        |   ^^
        = hint: a TTL is 0 to 2147483647 seconds, or numbers with units such as `1h30m`
    zones/example.net.zone:8:3: error[bad-ttl]: `2147483648` is not a TTL
      8 | a 2147483648 A 192.0.2.1
        |   ^^^^^^^^^^
        = hint: a TTL is 0 to 2147483647 seconds, or numbers with units such as `1h30m`
    zones/example.net.zone:9:3: error[wrong-class]: `CH`: the class is not IN
      9 | a CH A 192.0.2.1
        |   ^^
        = hint: zones of other classes cannot be read
    zones/example.net.zone:10:1: error[missing-type]: the record ends before its type
      10 | a 5 IN
         | ^
         = hint: a record is `NAME [TTL] [IN] TYPE DATA`
    zones/example.net.zone:11:1: error[outside-zone]: `b.example.org.` is outside the zone
      11 | b.example.org. A 192.0.2.1
         | ^^^^^^^^^^^^^^
         = hint: move the record into its own zone; or, if the name should be below the origin, remove its final dot
    zones/example.net.zone:13:1: error[bad-name]: bad name: an empty label
      13 | c..d A 192.0.2.1
         | ^^^^
         = hint: labels are separated by single dots; bytes other than letters and digits are written `\DDD`
    zones/example.net.zone:14:1: error[name-too-long]: bad name: a label of 64 bytes (63 are allowed)
      14 | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa A 192.0.2.1
         | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
         = hint: a label has at most 63 bytes, a name 255; check the origin
    zones/example.net.zone:15:7: error[unclosed-quote]: a quote that is not closed on its line
      15 | e TXT "x
         |       ^^
         = hint: close it; a quote in text is written `\"`
    zones/example.net.zone:16:8: error[stray-parenthesis]: a closing parenthesis without an opening one
      16 | f TXT x)
         |        ^
         = hint: remove it, or open one in the line before
    zones/example.net.zone:17:1: error[two-soas]: a second SOA
      17 | g SOA . . 1 2 3 4 5
         | ^
         = also: the first is in line 2
         = hint: remove one of them; a printed transfer has the same SOA at both ends
    zones/example.net.zone:18:1: error[two-soas]: a second SOA
      18 | @ SOA ns hostmaster 2 2 3 4 5
         | ^
         = also: the first is in line 2
         = hint: remove one of them; a printed transfer has the same SOA at both ends
    zones/example.net.zone:19:1: error[generate]: `$GENERATE` is not supported
      19 | $GENERATE 1-2 h$ A 192.0.2.$
         | ^^^^^^^^^
         = hint: write out its records, as `named-checkzone -D` prints them
    zones/example.net.zone:20:1: error[bad-directive]: a directive with too few or too many arguments
      20 | $TTL
         = hint: write `$ORIGIN NAME`, `$TTL SECONDS` or `$INCLUDE FILE [ORIGIN]`
    zones/example.net.zone:21:6: error[bad-ttl]: `-5` is not a TTL
      21 | $TTL -5
         |      ^^
         = hint: a TTL is 0 to 2147483647 seconds, or numbers with units such as `1h30m`
    zones/example.net.zone:22:1: error[bad-directive]: `$FOO` is not a directive
      22 | $FOO x
         | ^^^^
         = hint: there are `$ORIGIN`, `$TTL` and `$INCLUDE`
    zones/example.net.zone:23:3: error[wrong-class]: `ANY`: the class is not IN
      23 | i ANY x
         |   ^^^
         = hint: zones of other classes cannot be read
    zones/example.net.zone:24:6: error[bad-rdata]: `70000` is not a number of 0 to 65535
      24 | j MX 70000 x
         |      ^^^^^
         = hint: correct the data of this record
    zones/example.net.zone:25:12: error[bad-rdata]: this is not hexadecimal data
      25 | k TXT \# 2 zz
         |            ^^
         = hint: the notation is `\# LENGTH HEX`
    zones/example.net.zone:26:3: error[bad-rdata]: the RDATA end before a string
      26 | l TXT
         |   ^^^
         = hint: put text into quotes, in strings of at most 255 bytes
    zones/example.net.zone:27:5: error[bad-rdata]: `ä.example` is not an IPv4 address
      27 | m A ä.example
         |     ^^^^^^^^^
         = hint: an A record holds one address such as `192.0.2.1`
    zones/example.net.zone:28:9: error[unknown-type]: the RDATA of UINFO can be read only in the notation of RFC 3597
      28 |   UINFO 1 2
         |         ^
         = hint: write the data as `\# LENGTH HEX`
    zones/example.net.zone:30:3: error[unclosed-parenthesis]: a parenthesis that is never closed, so the rest of the file belongs to this record
      30 | n ( A
         |   ^
         = hint: close it behind the last field of the record
    "#);
}

#[test]
fn crlf_and_a_byte_order_mark_are_no_part_of_the_data() {
    let text = format!("\u{feff}{HEAD}a TXT x\n").replace('\n', "\r\n");
    assert_eq!(printed(&read(&text).unwrap().contents, false), "a.example.net. 3600 IN TXT \"x\"\n");
    let error = read("\u{feff}x A\r\n").unwrap_err();
    insta::assert_snapshot!(shown(&error), @r"
    zones/example.net.zone: error[bad-zone-file]: 1 error in the files of `example.net.`
    zones/example.net.zone:1:3: error[bad-rdata]: the RDATA end before an IPv4 address
      1 | x A
        |   ^
        = hint: an A record holds one address such as `192.0.2.1`
    ");
}

#[test]
fn a_cut_file_is_no_zone_wherever_it_was_cut() {
    let text = format!("{HEAD}a TXT \"x\" ( y\n) ; c\nb A 192.0.2.1\n");
    for end in 0..text.len() {
        let cut = read(&text[..end]);
        // A cut after a line is not seen here, unless the SOA is gone.
        let whole_lines = text[..end].ends_with('\n') && end > HEAD.len() - 1 && !text[..end].ends_with("y\n");
        assert_eq!(cut.is_ok(), whole_lines, "{end}");
    }
    assert_eq!(codes_of(&read("").unwrap_err()), ["0:0 cut-file"]);
    assert_eq!(codes("a A 192.0.2.1"), ["0:0 cut-file"]);
}

#[test]
fn a_cname_stands_alone() {
    insta::assert_snapshot!(shown(&read(&format!("{HEAD}a A 192.0.2.1\nb CNAME a\n  CNAME c\na CNAME b\n")).unwrap_err()), @"
    zones/example.net.zone: error[bad-zone-file]: 2 errors in the files of `example.net.`
    zones/example.net.zone:5:3: error[multiple-cnames]: a second CNAME at `b.example.net.`
      5 |   CNAME c
        |   ^^^^^
        = also: the CNAME is at zones/example.net.zone:4
        = rule: a name has at most one CNAME (RFC 2181 section 10.1) (zonewright help multiple-cnames)
        = hint: remove one of them
    zones/example.net.zone:6:1: error[cname-and-other-data]: `a.example.net.` has a CNAME and other data
      6 | a CNAME b
        | ^
        = also: the A is at zones/example.net.zone:3
        = rule: only DNSSEC's records are allowed next to a CNAME (RFC 1034 section 3.6.2) (zonewright help cname-and-other-data)
        = hint: remove one of them
    ");
    assert_eq!(codes("a CNAME b\na TXT x\n"), ["4:1 cname-and-other-data"]);
    assert_eq!(codes("@ CNAME b\n"), ["3:1 cname-and-other-data"]);
    let signed = "a CNAME b\na RRSIG CNAME 8 2 60 20300322173103 20300220173103 1 @ AAAA\na NSEC b CNAME RRSIG NSEC\na CNAME B\n";
    assert_eq!(records(signed).lines().count(), 3);
}

#[test]
fn different_ttls_within_an_rrset_are_a_warning_and_the_lowest_counts() {
    let read = read(&format!("{HEAD}a 60 A 192.0.2.1\nb A 192.0.2.1\na 30 A 192.0.2.2\n")).unwrap();
    insta::assert_snapshot!(printed(&read.contents, false), @r"
    a.example.net. 30 IN A 192.0.2.1
    a.example.net. 30 IN A 192.0.2.2
    b.example.net. 3600 IN A 192.0.2.1
    ");
    let (files, findings) = *read.findings.unwrap();
    insta::assert_snapshot!(diag::render(&findings, &files), @r"
    zones/example.net.zone:5:1: warning[mixed-ttl]: TTL 30 here, but 60 in the first record of the RRset
      5 | a 30 A 192.0.2.2
        | ^
        = rule: an RRset has one TTL (RFC 2181 section 5.2); the lowest counts (zonewright help mixed-ttl)
        = hint: give all its records one TTL
    ");
}

#[test]
fn includes_keep_the_origin_and_owner_of_their_file() {
    let main = format!("{HEAD}$ORIGIN b\nx A 192.0.2.1\n$INCLUDE sub/one.inc c\n  A 192.0.2.2\ny A 192.0.2.3\n");
    let read = read_files(&[
        ("zones/example.net.zone", main.as_bytes()),
        ("zones/sub/one.inc", b"$ORIGIN d\nz A 192.0.2.4\n$INCLUDE ./two.inc\n$INCLUDE two.inc e.example.net.\n"),
        ("zones/sub/two.inc", b"w A 192.0.2.5\n"),
    ])
    .unwrap();
    insta::assert_snapshot!(printed(&read.contents, false), @r"
    w.d.c.b.example.net. 3600 IN A 192.0.2.5
    w.e.example.net. 3600 IN A 192.0.2.5
    x.b.example.net. 3600 IN A 192.0.2.1
    x.b.example.net. 3600 IN A 192.0.2.2
    y.b.example.net. 3600 IN A 192.0.2.3
    z.d.c.b.example.net. 3600 IN A 192.0.2.4
    ");
    let names: Vec<&str> = read.inputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["zones/example.net.zone", "zones/sub/one.inc", "zones/sub/two.inc"]);
    assert_eq!(read.inputs[2].1, "3aa1c2c1ce710c3382b034d23dd55ffca74e971da58cc1f52080a40e73c460be");
}

#[test]
fn includes_stay_in_the_folder_and_come_to_an_end() {
    let workspace = tempfile::tempdir().unwrap();
    let zones = workspace.path().join("zones");
    std::fs::create_dir_all(zones.join("sub")).unwrap();
    std::fs::write(workspace.path().join("secret"), "a A 192.0.2.1\n").unwrap();
    std::os::unix::fs::symlink("../secret", zones.join("link")).unwrap();
    let outside = ["../secret", "/etc/secret", "link", "none", "sub", "example.net.zone", "1"];
    let main = HEAD.to_owned() + &outside.map(|path| format!("$INCLUDE {path}\n")).concat();
    std::fs::write(zones.join("example.net.zone"), main).unwrap();
    for depth in 1..=9 {
        let next = if depth < 9 { format!("$INCLUDE {}\n", depth + 1) } else { "\n".to_owned() };
        std::fs::write(zones.join(depth.to_string()), next).unwrap();
    }
    let files = ZoneFiles { folder: TargetFolder::open(workspace.path(), "zones").unwrap() };
    insta::assert_snapshot!(shown(&files.read_zone(&apex()).unwrap_err()), @r"
    zones/example.net.zone: error[bad-zone-file]: 7 errors in the files of `example.net.`
    zones/example.net.zone:3:10: error[include-outside]: `../secret`: the path leads out of the target's folder
      3 | $INCLUDE ../secret
        |          ^^^^^^^^^
        = hint: copy the file into the target's folder, and include it by a relative path without `..`
    zones/example.net.zone:4:10: error[include-outside]: `/etc/secret`: the path leads out of the target's folder
      4 | $INCLUDE /etc/secret
        |          ^^^^^^^^^^^
        = hint: copy the file into the target's folder, and include it by a relative path without `..`
    zones/example.net.zone:5:10: error[include-outside]: `link`: the path leads out of the target's folder
      5 | $INCLUDE link
        |          ^^^^
        = hint: copy the file into the target's folder, and include it by a relative path without `..`
    zones/example.net.zone:6:10: error[include-missing]: `none`: there is no such file
      6 | $INCLUDE none
        |          ^^^^
        = hint: paths are relative to the folder of the file that includes
    zones/example.net.zone:7:10: error[include-missing]: `sub`: this is not a regular file
      7 | $INCLUDE sub
        |          ^^^
        = hint: paths are relative to the folder of the file that includes
    zones/example.net.zone:8:10: error[include-cycle]: `example.net.zone` is being read already: the files include each other
      8 | $INCLUDE example.net.zone
        |          ^^^^^^^^^^^^^^^^
        = hint: remove one of the `$INCLUDE`
    zones/8:1:10: error[include-depth]: `$INCLUDE` nests deeper than 8 files
      1 | $INCLUDE 9
        |          ^
        = hint: include the files from the zone file itself
    ");
}

#[test]
fn files_that_include_each_other_many_times_come_to_an_end() {
    let many = |next: &str| format!("$INCLUDE {next}\n").repeat(50);
    let main = format!("{HEAD}{}", many("1"));
    let mut files = vec![("zones/example.net.zone".to_owned(), main)];
    for depth in 1..8 {
        files.push((format!("zones/{depth}"), many(&(depth + 1).to_string())));
    }
    files.push(("zones/8".to_owned(), "\n".to_owned()));
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let codes = codes_of(&read_files(&files).unwrap_err());
    assert!(codes.iter().all(|code| code.ends_with("include-limit") || code.ends_with("too-many-errors")), "{codes:?}");
}

#[test]
fn a_missing_file_or_folder_says_what_to_do() {
    let error = read_files(&[("zones/other.zone", b"\n")]).unwrap_err();
    assert_eq!(error.to_string(), "zones/example.net.zone: error[missing-file]: there is no such file");
    assert!(error.hint.unwrap().contains("`example.net.`"));
    assert_eq!(read_files(&[]).unwrap_err().code.as_str(), "missing-folder");
    let workspace = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/tmp", workspace.path().join("zones")).unwrap();
    assert_eq!(TargetFolder::open(workspace.path(), "zones").unwrap_err().code.as_str(), "outside-workspace");
}

#[test]
fn a_slash_in_a_zone_name_makes_no_folder() {
    let zone = |name: &str| file_name(&ZoneName::new(Name::parse(name).unwrap()));
    assert_eq!(zone("0/25.2.0.192.in-addr.arpa"), "0\\04725.2.0.192.in-addr.arpa.zone");
    assert_eq!(zone("Example.NET"), "example.net.zone");
}

#[test]
fn settings_are_checked_whole() {
    let mut files = Files::default();
    let file = files.add("zonewright.toml");
    let at = |line| Origin { file, line, col: 1 };
    let node = |line, value| SettingsNode { origin: at(line), width: 1, value };
    let text = |line, text: &str| node(line, SettingsValue::Text(text.into()));
    let entries = vec![
        ("type", text(1, "zonefile")),
        ("dir", text(2, "../zones")),
        ("reload", text(3, "rndc reload")),
        ("timeout", text(4, "0s")),
        ("window", node(5, SettingsValue::Integer(0))),
        ("read", text(6, "ixfr")),
        ("dirr", text(7, "x")),
    ];
    let entries = entries.into_iter().map(|(name, node)| {
        let key = SettingsKey { name: name.into(), origin: node.origin, width: name.len() };
        (key, node)
    });
    let settings = node(1, SettingsValue::Table(entries.collect()));
    let lines = "type\ndir\nreload\ntimeout\nwindow\nread\ndirr\n";
    let source = SourceText { file, text: lines.into() };
    let mut found = check(&settings, &source);
    found.settle();
    let codes: Vec<_> = found.iter().map(|found| (found.origin.line, found.code.as_str())).collect();
    let bad = "bad-value";
    assert_eq!(codes, [(2, "outside-workspace"), (3, "bad-command"), (4, bad), (5, bad), (6, bad), (7, "unknown-key")]);
}

/// Any owner name in the zone, as labels of any octets.
fn any_name() -> impl Strategy<Value = Name> {
    let label = prop_oneof![
        8 => proptest::collection::vec(b'a'..=b'z', 1..8),
        1 => proptest::collection::vec(any::<u8>(), 1..8),
    ];
    proptest::collection::vec(label, 0..4).prop_map(|labels| {
        let apex = apex().as_name().to_name();
        labels.iter().fold(apex, |name, label| Name::prepend(label, name.as_name()).unwrap())
    })
}

/// A type with RDATA of it in wire format.
fn any_rdata() -> impl Strategy<Value = (Rtype, Vec<u8>)> {
    let octets = |length| proptest::collection::vec(any::<u8>(), length);
    let name = || any_name().prop_map(|name| name.as_wire().to_vec());
    let string = || {
        octets(0..20).prop_map(|mut string| {
            string.insert(0, string.len() as u8);
            string
        })
    };
    prop_oneof![
        octets(4..5).prop_map(|octets| (Rtype::A, octets)),
        octets(16..17).prop_map(|octets| (Rtype::AAAA, octets)),
        name().prop_map(|name| (Rtype::NS, name)),
        name().prop_map(|name| (Rtype::PTR, name)),
        proptest::collection::vec(string(), 1..4).prop_map(|strings| (Rtype::TXT, strings.concat())),
        (octets(2..3), name()).prop_map(|(number, name)| (Rtype::MX, [number, name].concat())),
        (octets(6..7), name()).prop_map(|(numbers, name)| (Rtype::SRV, [numbers, name].concat())),
        (octets(18..19), name(), octets(1..40))
            .prop_map(|(head, name, sig)| (Rtype::RRSIG, [head, name, sig].concat())),
        (name(), name()).prop_map(|(a, b)| (Rtype::MINFO, [a, b].concat())),
        (name(), name()).prop_map(|(a, b)| (Rtype::RP, [a, b].concat())),
        (string(), string()).prop_map(|(a, b)| (Rtype::HINFO, [a, b].concat())),
        name().prop_map(|name| (Rtype::NSEC, [name, b"\x00\x01\x40".to_vec()].concat())),
        octets(0..20).prop_map(|value| (Rtype::CAA, [b"\0\x05issue".to_vec(), value].concat())),
        octets(5..40).prop_map(|octets| (Rtype::DNSKEY, octets)),
        octets(5..40).prop_map(|octets| (Rtype::DS, octets)),
        octets(4..40).prop_map(|octets| (Rtype::TLSA, octets)),
        (octets(4..5), string(), string(), string(), name())
            .prop_map(|(head, a, b, c, name)| (Rtype::NAPTR, [head, a, b, c, name].concat())),
        octets(0..40).prop_map(|octets| (Rtype::from_int(65_280), octets)),
    ]
}

/// A zone of random records, built without any text.
fn any_zone() -> impl Strategy<Value = ZoneContents> {
    proptest::collection::vec((any_name(), any_rdata(), 0..=0x7fff_ffffu64), 0..20).prop_map(|records| {
        let mut builder = ZoneBuilder::new(apex());
        let soa = [&[0u8, 0][..], &[7; 20]].concat();
        builder.push(apex().as_name(), Rtype::SOA, Ttl::DEFAULT, &soa).unwrap();
        for (owner, (rtype, octets), ttl) in records {
            let mut rdata = Vec::new();
            WireOctets::rdata(&octets).append_rdata(rtype, 0..octets.len(), &mut rdata).unwrap();
            builder.push(owner.as_name(), rtype, Ttl::from_secs(ttl).unwrap(), &rdata).unwrap();
        }
        builder.finish().unwrap()
    })
}

/// Words that make nearly right RDATA of many types.
fn any_entry() -> impl Strategy<Value = String> {
    let types = "A AAAA NS SOA MX TXT SRV PTR HINFO MINFO RP NAPTR DS DNSKEY RRSIG NSEC NSEC3 NSEC3PARAM CDS CDNSKEY TLSA SSHFP \
        OPENPGPKEY SVCB HTTPS CAA ZONEMD IPSECKEY URI CNAME DNAME TYPE1 TYPE65280 LOC";
    let types: Vec<&str> = types.split_whitespace().collect();
    let words = "0 1 2 255 256 65535 65536 4294967295 20300322173103 2030032217310 . @ a example.net. \\# AA== AAAA 00 abc - A \"\" \
        \"x y\" \\000 \\255 \\ alpn= alpn=h2 key65535=\"x\" mandatory=alpn ipv4hint=192.0.2.1 port=1 no-default-alpn 192.0.2.1 ::1 ( ) \u{e4}";
    let words: Vec<&str> = words.split_whitespace().collect();
    (proptest::sample::select(types), proptest::collection::vec(proptest::sample::select(words), 0..8))
        .prop_map(|(rtype, words)| format!("x {rtype} {}\n", words.join(" ")))
}

proptest! {
    #[test]
    fn a_zone_printed_and_parsed_again_is_equal(zone in any_zone()) {
        let text = printed(&zone, true);
        let again = read(&text).map_err(|error| TestCaseError::fail(format!("{}{text}", shown(&error))))?.contents;
        prop_assert_eq!(printed(&again, true), text);
        prop_assert_eq!(again.digest(|_| true), zone.digest(|_| true));
    }

    #[test]
    fn no_text_makes_the_parser_panic(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_files(&[("zones/example.net.zone", &octets)]);
    }

    #[test]
    fn what_is_accepted_is_canonical(entries in proptest::collection::vec(any_entry(), 1..6)) {
        for entry in entries {
            let Ok(read) = read(&format!("{HEAD}{entry}")) else { continue };
            for rrset in read.contents.rrsets() {
                for rdata in rrset.rdata() {
                    let mut canonical = Vec::new();
                    let done = WireOctets::rdata(rdata.octets).append_rdata(rrset.rtype(), 0..rdata.octets.len(), &mut canonical);
                    prop_assert_eq!(done, Ok(()));
                    prop_assert_eq!(&*canonical, rdata.octets);
                }
            }
            // Names that are read keep within their limits.
            prop_assert!(NameBuffer::default().parse(b"x", apex().as_name()).is_ok());
        }
    }
}
