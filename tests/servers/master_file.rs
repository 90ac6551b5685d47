//! Texts of each type in master files (RFC 1035 section 5): zonewright, BIND and Knot accept the same, and understand the same.
//!
//! What is understood is compared as octets: both sides are printed by `named-compilezone` as unknown types (RFC 3597).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use zonewright::dns::{Name, ZoneName};
use zonewright::provider::read_in;

use crate::rig::text_of;

/// What reads master files of BIND.
const COMPILER: &str = "/usr/bin/named-compilezone";

/// What reads those of Knot.
const CHECKER: &str = "/usr/bin/kzonecheck";

/// The zone of all texts.
const ZONE: &str = "example.net";

/// What the zone has in addition to the text.
const APEX: &str =
    "@ 3600 IN SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n@ 3600 IN NS ns.example.org.\n";

/// Texts, each of a type.
#[rustfmt::skip]
const TEXTS: &[(&str, &[&str])] = &[
    ("A", &["192.0.2.1", "0.0.0.0", "255.255.255.255", "192.0.2", "192.0.2.256", "192.0.2.1.1", "192.0.2.1 192.0.2.2", "192.0.2.01", "",
            "\\# 4 c0000201", "\\# 3 c00002"]),
    ("AAAA", &["2001:db8::1", "::", "::ffff:192.0.2.1", "2001:DB8::A", "2001:db8::1::2", "2001:db8", "fe80::1%eth0", "12345::",
               "\\# 16 20010db8000000000000000000000001"]),
    ("CNAME", &["www.example.net.", "www", "@", "a b", "*.example.net.", "\\097.example.net.", "a..example.net.", "."]),
    ("DNAME", &["other.example.org.", "other", ""]),
    ("NS", &["ns.example.org.", "ns1.example.org. ns2.example.org."]),
    ("PTR", &["host.example.org.", "host", ""]),
    ("MX", &["10 mail.example.org.", "0 .", "65535 mail", "65536 mail", "-1 mail", "mail", "10", "10 mail x", "010 mail"]),
    ("SRV", &["0 0 443 www.example.org.", "0 0 0 .", "1 2 65536 x", "1 2 3", "65535 65535 65535 x"]),
    ("TXT", &["\"a\"", "a", "\"a b\" \"c\"", "\"\"", "a b c", "\"a;b\"", "\"\\\"q\\\"\"", "\"\\255\\000\"", "\"\\256\"", "\"open", "",
              "a\\ b", "\"tab\tin\"", "(\"a\"\n \"b\")", "\"a\"\"b\""]),
    ("CAA", &["0 issue \"ca.example.net\"", "128 iodef \"mailto:a@example.net\"", "0 issue ca.example.net", "0 issue \";\"", "256 issue \"x\"",
              "0 \"issue\" \"x\"", "0 is-sue \"x\"", "0 issue", "0 ISSUE \"x\""]),
    ("NAPTR", &["100 10 \"S\" \"SIP+D2U\" \"\" _sip._udp.example.net.", "100 10 \"U\" \"E2U+sip\" \"!^.*$!sip:a@example.net!\" .",
                "100 10 s sip \"\" x", "65536 10 \"\" \"\" \"\" .", "100 10 \"\" \"\" \"\""]),
    ("DS", &["60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118", "60485 5 1 2BB183AF5F 22588179A53B0A98631FAD1A292118", "60485 5 1 2BB1",
             "60485 8 2 E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766", "65536 8 2 00", "60485 RSASHA256 2 \
             E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766", "60485 8 2", "60485 8 2 XY", "60485 8 99 00"]),
    ("TLSA", &["3 1 1 92003BA34942DC74152E2F2C408D29ECA5A520E7F2E06BB944F4DCA346BAF63C", "3 1 1 92003BA3 4942DC74", "256 1 1 00", "3 1 1", "3 1 1 0",
               "3 1 1 0g"]),
    ("SSHFP", &["4 2 123456789abcdef67890123456789abcdef67890123456789abcdef67890123a", "2 1 123456789abcdef67890123456789abcdef67890", "2 1 12 34",
                "2 1", "2 1 1", "256 1 12"]),
    ("LOC", &["42 21 54 N 71 06 18 W -24m 30m", "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "42 N 71 W 0", "42 21 N 71 06 W 0m 1m",
              "90 0 0 N 180 0 0 E 0m", "91 N 0 E 0m", "42 21 60 N 0 E 0m", "42 21 54 X 71 06 18 W 0m", "42 21 54 N 71 06 18 W"]),
    ("SVCB", &["0 svc.example.org.", "1 . alpn=h2", "1 svc alpn=h2,h3 port=443", "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2 ipv4hint=192.0.2.1",
               "1 svc ipv6hint=2001:db8::1,2001:db8::2", "1 svc key667=hello", "1 svc key667=\"hel\\210lo\"", "1 svc alpn=h2 alpn=h3", "1 svc port=65536",
               "1 svc mandatory=alpn", "1 svc nonsense=1", "65536 svc", "1 svc no-default-alpn", "1 svc no-default-alpn alpn=h2", "1 svc port"]),
    ("HTTPS", &["1 . alpn=h3,h2 ipv4hint=192.0.2.7 ipv6hint=2001:db8::7", "0 www.example.org.", "1 . ipv4hint=192.0.2.256", "1 . alpn=\"h2,h3\""]),
    ("TYPE65501", &["\\# 0", "\\# 4 01020304", "\\# 4 0102 0304", "\\# 3 01020304", "\\# 4 010203", "\\# 2 0g12", "01020304"]),
    ("TYPE1", &["\\# 4 c0000201", "\\# 5 c000020100"]),
    ("A6X", &["192.0.2.1"]),
];

/// Texts about which BIND and Knot disagree, or both with us, with the reason.
///
/// A zone file is read as it is: that a value makes no sense is not found there. Files of records are judged by what servers
/// refuse (`src/inventory/sources/stated/rdata.rs`), so that no update fails because of it.
#[rustfmt::skip]
const KNOWN: &[(&str, &str, &str)] = &[
    ("A", "\\# 3 c00002", "Knot does not look at the length of generic data"),
    ("TYPE1", "\\# 5 c000020100", "Knot does not look at the length of generic data"),
    ("TXT", "\"a\"\"b\"", "Knot needs a blank between strings, RFC 1035 does not"),
    ("CAA", "0 \"issue\" \"x\"", "BIND takes no tag in quotes, RFC 8659 section 4.1.1 has none"),
    ("CAA", "0 is-sue \"x\"", "Knot takes a tag that RFC 8659 section 4.1 does not allow"),
    ("DS", "60485 5 1 2BB1", "the digest is too short; refused where a file states it"),
    ("DS", "60485 8 99 00", "Knot knows no such kind of digest"),
    ("TLSA", "3 1 1", "there is no data; refused where a file states it"),
    ("SSHFP", "2 1 12 34", "the digest is too short, which Knot does not see; refused where a file states it"),
    ("SSHFP", "2 1", "there is no digest; refused where a file states it"),
    ("SVCB", "1 svc mandatory=alpn", "what is mandatory is not there; refused where a file states it"),
    ("SVCB", "1 svc no-default-alpn", "RFC 9460 section 7.1.1 asks for `alpn`, which Knot does not see; refused where a file states it"),
];

/// Whether BIND accepts a zone; with its records as unknown types where it does.
fn bind(folder: &Path, text: &str) -> Option<BTreeSet<String>> {
    let file = folder.join("bind.zone");
    fs::write(&file, text).expect("a file");
    let mut command = Command::new(COMPILER);
    command.args(["-q", "-i", "none", "-k", "ignore", "-n", "ignore", "-m", "ignore", "-M", "ignore", "-S", "ignore"]);
    command.args(["-r", "ignore", "-W", "ignore", "-T", "ignore", "-s", "full", "-o", "-", ZONE]).arg(&file);
    let output = command.output().expect("it runs");
    let lines = text_of(&output.stdout);
    let spaced = |line: &str| crate::rig::folded(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    output.status.success().then(|| lines.lines().map(spaced).collect())
}

/// Whether Knot accepts a zone.
fn knot(folder: &Path, text: &str) -> bool {
    let file = folder.join("knot.zone");
    fs::write(&file, text).expect("a file");
    Command::new(CHECKER).args(["-o", ZONE]).arg(&file).output().expect("it runs").status.success()
}

/// Whether zonewright accepts a zone; with what it understands, as a master file.
fn ours(folder: &Path, text: &str) -> Option<String> {
    fs::write(folder.join(format!("{ZONE}.zone")), text).expect("a file");
    let zone = ZoneName::new(Name::parse(ZONE).expect("a name"));
    let read = read_in(folder, &zone).ok()?;
    let mut written = String::new();
    for rrset in read.contents.rrsets() {
        let (owner, rtype) = (rrset.owner(), rrset.rtype());
        for (ttl, rdata) in rrset.records() {
            written.push_str(&format!("{owner} {} IN {rtype} {rdata}\n", ttl.as_secs()));
        }
    }
    Some(written)
}

#[test]
fn texts_of_each_type_are_accepted_and_understood_as_by_bind_and_knot() {
    if ![COMPILER, CHECKER].iter().all(|program| crate::have(Path::new(program))) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (mut faults, mut tried, mut used) = (Vec::new(), 0, BTreeSet::new());
    for (rtype, texts) in TEXTS {
        for text in *texts {
            tried += 1;
            // DS needs a delegation next to it.
            let with = if *rtype == "DS" { "x 300 IN NS ns.example.org.\n" } else { "" };
            let zone = format!("$ORIGIN {ZONE}.\n{APEX}{with}x 300 IN {rtype} {text}\n");
            let (bind_says, knot_says) = (bind(folder.path(), &zone), knot(folder.path(), &zone));
            let our_zone = ours(folder.path(), &zone);
            let seen = [our_zone.is_some(), bind_says.is_some(), knot_says];
            let mut wrong = (seen != [seen[0]; 3]).then(|| format!("ours, BIND, Knot: {seen:?}"));
            if let (Some(our_zone), Some(theirs)) = (&our_zone, &bind_says) {
                let again = bind(folder.path(), our_zone);
                if again.as_ref() != Some(theirs) {
                    wrong = Some(format!("understood as {again:?}, and by BIND as {theirs:?}"));
                }
            }
            let known = KNOWN.iter().position(|(of, known, _)| of == rtype && known == text);
            match (wrong, known) {
                (Some(_), Some(place)) => drop(used.insert(place)),
                (Some(wrong), None) => faults.push(format!("{rtype} {text}\n  {wrong}")),
                (None, Some(_)) => faults.push(format!("{rtype} {text}\n  no longer differs")),
                (None, None) => {}
            }
        }
    }
    assert!(tried > 100, "only {tried} texts were tried");
    assert!(faults.is_empty(), "{} of {tried} texts:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(used.len(), KNOWN.len(), "each known difference is one");
}
