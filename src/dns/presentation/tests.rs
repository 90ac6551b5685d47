//! Presentation formats, and the wire format that BIND 9.18 makes of them.

use super::*;
use crate::dns::Name;

/// Reads the RDATA of a type.
fn read(rtype: &str, text: &str) -> Result<String, String> {
    let line = format!("{text}\n");
    let mut splitter = EntrySplitter::new(line.as_bytes());
    let entry = splitter.next_entry();
    assert!(entry.is_none_or(|entry| entry.fault.is_none()), "{text}");
    let origin = Name::parse("example.net").unwrap();
    let source = RdataText { text: line.as_bytes(), tokens: splitter.tokens(), origin: origin.as_name() };
    let rtype = parse_rtype(rtype.as_bytes()).unwrap();
    let mut reader = RdataReader::default();
    let octets = reader.read(rtype, source).map_err(|fault| fault.message)?;
    Ok(octets.iter().map(|octet| format!("{octet:02x}")).collect())
}

/// Each: type, presentation format, wire format. The wire format is that of `named-compilezone` 9.18.49: it prints both
/// forms alike.
const RARE: &str = include_str!("rare.txt");

#[test]
fn rare_types_are_read_as_bind_reads_them() {
    let mut count = 0;
    for line in RARE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (left, hex) = line.split_once(" = ").unwrap();
        let (rtype, text) = left.split_once(' ').unwrap_or((left, ""));
        assert_eq!(read(rtype, text).as_deref(), Ok(hex), "{left}");
        let generic = format!("\\# {} {hex}", hex.len() / 2);
        assert_eq!(read(rtype, &generic).as_deref(), Ok(hex), "{left}");
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn what_is_wrong_in_a_rare_type_is_said() {
    let text = |(rtype, text): (&str, &str)| match read(rtype, text) {
        Ok(hex) => format!("{rtype} {text}: {hex}\n"),
        Err(message) => format!("{rtype} {text}: {message}\n"),
    };
    let wrong = [
        ("HTTPS", "1 . alpn=h2,,h3"),
        ("HTTPS", "1 . alpn="),
        ("HTTPS", r#"1 . alpn="h1\\2""#),
        ("HTTPS", "1 . alpn=h2 alpn=h3"),
        ("HTTPS", "1 . key1=h2"),
        ("HTTPS", "1 . key09=x"),
        ("HTTPS", "1 . key65536=x"),
        ("HTTPS", "1 . \"alpn=h2\""),
        ("HTTPS", "1 . alpn=h2\"h3\""),
        ("HTTPS", "1 . mandatory=mandatory"),
        ("HTTPS", "1 . mandatory=alpn,alpn alpn=h2"),
        ("HTTPS", "1 . port=70000"),
        ("HTTPS", "1 . port"),
        ("HTTPS", "1 . no-default-alpn=x"),
        ("HTTPS", "1 . ipv4hint=2001:db8::1"),
        ("HTTPS", "1 . ech=*"),
        ("DS", "1 RSA 2 00"),
        ("DS", "1 8 2"),
        ("DS", "1 8 2 0"),
        ("DNSKEY", "256 3 8"),
        ("RRSIG", "A 8 3 60 20300230000000 20300220173103 2642 . AAAA"),
        ("RRSIG", "FOO 8 3 60 20300220000000 20300220173103 2642 . AAAA"),
        ("LOC", "91 N 0 E 0m"),
        ("LOC", "1 60 N 0 E 0m"),
        ("LOC", "1 1 60 N 0 E 0m"),
        ("LOC", "1 N 1 N 0m"),
        ("LOC", "1 N 1 E"),
        ("LOC", "1 N 1 E 1 1 1 1 1"),
        ("LOC", "1 N 1 E -100000.01"),
        ("EUI48", "00-00-5e-00-53"),
        ("EUI48", "00-00-5e-00-53-2"),
        ("NID", "10 14:4fff:ff20"),
        ("APL", "3:192.0.2.0/24"),
        ("APL", "1:192.0.2.0/33"),
        ("WKS", "192.0.2.1 TCP nothing"),
        ("HIP", "2 0 AwEAAQ=="),
        ("NSAP", "47"),
        ("ATMA", "+12a"),
        ("AMTRELAY", "10 0 4 ."),
        ("A6", "129 a"),
        ("X25", "1 2"),
        ("DHCID", ""),
        ("CSYNC", "1 1 FOO"),
        ("NXT", ". TYPE128"),
        ("UINFO", "1"),
    ];
    insta::assert_snapshot!(wrong.map(text).concat(), @r#"
    HTTPS 1 . alpn=h2,,h3: the value of `alpn` is not a list without empty items
    HTTPS 1 . alpn=: the value of `alpn` is not a list without empty items
    HTTPS 1 . alpn="h1\\2": the value of `alpn` is not a list without empty items
    HTTPS 1 . alpn=h2 alpn=h3: the parameter is there twice
    HTTPS 1 . key1=h2: the value of `key1` is not a list of protocols of 1 to 255 bytes
    HTTPS 1 . key09=x: `key09` is not a service parameter
    HTTPS 1 . key65536=x: `key65536` is not a service parameter
    HTTPS 1 . "alpn=h2": `alpn` is not a service parameter
    HTTPS 1 . alpn=h2"h3": something follows the value of `alpn` without a blank
    HTTPS 1 . mandatory=mandatory: the value of `mandatory` is not a list of other parameters, each once
    HTTPS 1 . mandatory=alpn,alpn alpn=h2: the value of `mandatory` is not a list of other parameters, each once
    HTTPS 1 . port=70000: the value of `port` is not a port: 0 to 65535
    HTTPS 1 . port: the value of `port` is not a port: 0 to 65535
    HTTPS 1 . no-default-alpn=x: the value of `no-default-alpn` is not empty
    HTTPS 1 . ipv4hint=2001:db8::1: the value of `ipv4hint` is not a list of IPv4 addresses
    HTTPS 1 . ech=*: the value of `ech` is not base64
    DS 1 RSA 2 00: `RSA` is not an algorithm of DNSSEC
    DS 1 8 2: the RDATA end before hexadecimal data
    DS 1 8 2 0: this is not hexadecimal data
    DNSKEY 256 3 8: the RDATA end before base64
    RRSIG A 8 3 60 20300230000000 20300220173103 2642 . AAAA: `20300230000000` is not a time such as `20261231235959`
    RRSIG FOO 8 3 60 20300220000000 20300220173103 2642 . AAAA: `FOO` is not a type
    LOC 91 N 0 E 0m: an angle of over 90 degrees
    LOC 1 60 N 0 E 0m: minutes and seconds are below 60
    LOC 1 1 60 N 0 E 0m: minutes and seconds are below 60
    LOC 1 N 1 N 0m: `N` is not a direction
    LOC 1 N 1 E: the RDATA end before an altitude in metres
    LOC 1 N 1 E 1 1 1 1 1: this follows the last field of the RDATA
    LOC 1 N 1 E -100000.01: `-100000.01` is not an altitude in metres
    EUI48 00-00-5e-00-53: `00-00-5e-00-53` is not pairs of hexadecimal digits with hyphens between them
    EUI48 00-00-5e-00-53-2: `00-00-5e-00-53-2` is not pairs of hexadecimal digits with hyphens between them
    NID 10 14:4fff:ff20: `14:4fff:ff20` is not four groups of hexadecimal digits
    APL 3:192.0.2.0/24: `3:192.0.2.0/24` is not a network such as `1:192.0.2.0/24`
    APL 1:192.0.2.0/33: `1:192.0.2.0/33` is not a network such as `1:192.0.2.0/24`
    WKS 192.0.2.1 TCP nothing: `nothing` is not a service that is known here, or a port
    HIP 2 0 AwEAAQ==: `0` is not hexadecimal data
    NSAP 47: `47` is not hexadecimal data after `0x`
    ATMA +12a: `+12a` is not `+` and digits, or hexadecimal data
    AMTRELAY 10 0 4 .: `4` is not a kind of relay: 0 to 3
    A6 129 a: `129` is not a number of 0 to 128
    X25 1 2: this follows the last field of the RDATA
    DHCID : the RDATA end before base64
    CSYNC 1 1 FOO: `FOO` is not a type
    NXT . TYPE128: NXT has no room for types over 127
    UINFO 1: the RDATA of UINFO can be read only in the notation of RFC 3597
    "#);
}

/// The wire format of every line of the list of rare types.
fn rare() -> impl Iterator<Item = (Rtype, Vec<u8>)> {
    let lines = RARE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.map(|line| {
        let (left, hex) = line.split_once(" = ").unwrap();
        let rtype = left.split_once(' ').map_or(left, |(rtype, _)| rtype);
        let octets = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
        (parse_rtype(rtype.as_bytes()).unwrap(), octets.collect())
    })
}

#[test]
fn what_is_written_is_read_as_the_same_octets() {
    for (rtype, octets) in rare() {
        let rdata = Rdata::trusted(&octets);
        let text = rdata.as_rdata(rtype).to_string();
        assert_eq!(Rdata::parse(rtype, &text), Some(rdata), "{rtype} {text}");
    }
}

#[test]
fn common_types_are_written_as_people_write_them() {
    let texts = [
        (Rtype::MX, "10 mail.example.net."),
        (Rtype::SRV, "0 5 5060 sip.example.net."),
        (Rtype::CAA, "0 issue \"letsencrypt.org\""),
        (Rtype::NAPTR, "100 10 \"S\" \"SIP+D2U\" \"!^.*$!sip:a@b!\" _sip._udp.example.net."),
        (Rtype::DS, "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118"),
        (Rtype::TLSA, "3 1 1 D2ABDE240D7CD3EE6B4B28C54DF034B97983A1D16E8A410E4561CB106618E971"),
        (Rtype::SSHFP, "1 1 DD465C09CFA51FB45020CC83316FFF21B9EC74AC"),
        (Rtype::HTTPS, "1 . alpn=h2,h3 ipv4hint=192.0.2.1"),
        (Rtype::DNAME, "example.org."),
        (Rtype::NS, "ns1.example.net."),
        (Rtype::LOC, "52 22 23.000 N 4 53 32.500 W -2.00m 1.00m 10000.00m 10.00m"),
        (Rtype::URI, "10 1 \"ftp://ftp.example.net/a;b\""),
        (Rtype::AFSDB, "1 afs.example.net."),
        (Rtype::SPF, "\"v=spf1\" \"-all\""),
    ];
    for (rtype, text) in texts {
        let rdata = Rdata::parse(rtype, text).unwrap_or_else(|| panic!("{rtype} {text}"));
        assert_eq!(rdata.as_rdata(rtype).to_string(), text, "{rtype}");
    }
}

#[test]
fn text_that_holds_more_than_rdata_is_refused() {
    for text in ["\"a", "\"a\"\n\"b\"", "( \"a\"", "\"a\" )", ""] {
        assert_eq!(Rdata::parse(Rtype::TXT, text), None, "{text}");
    }
    let origin = Name::parse("example.net").unwrap();
    let relative = Rdata::read(Rtype::MX, "10 mail", origin.as_name()).unwrap();
    assert_eq!(relative.as_rdata(Rtype::MX).to_string(), "10 mail.example.net.");
    assert_eq!(Rdata::read(Rtype::MX, "10", origin.as_name()).unwrap_err().message, "the RDATA end before a name");
}
