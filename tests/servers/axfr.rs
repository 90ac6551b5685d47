//! What a real server transfers is what its zone file says.

use crate::client::{lines, read_file, transfer};
use crate::server::{Key, Kind, Server, ServerConfig};

/// A zone with something of everything that is written in more than one way.
pub const ZONE: &str = r#"$TTL 1h
@ IN SOA ns1 hostmaster ( 2026112001 ; serial
    1d 2h 4w 10m )
  NS ns1
  NS Ns2.Example.NET.
  MX 10 Mail
  TXT "v=spf1 -all" "two ; strings \"quoted\" \\ \195\164"
  CAA 0 issue "ca.example.net; policy=ev"
ns1 A 192.0.2.53
    AAAA 2001:db8::53
ns2 600 A 192.0.2.54
Mail A 192.0.2.25
*.wild 60 TXT star
a\.b\032c TXT dotted
under_score A 192.0.2.1
www CNAME Mail
old DNAME new
_sip._tcp SRV 10 20 5060 Mail
naptr NAPTR 100 50 "s" "http+I2R" "" _http._tcp.Foo.example.net.
_443._tcp.mail TLSA 3 1 1 0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF
mail SSHFP 4 2 123456789abcdef67890123456789abcdef67890123456789abcdef123456789
web HTTPS 1 . alpn="h2,h3" port=8443 ipv4hint=192.0.2.80
svc SVCB 16 Foo.example.org. mandatory=alpn alpn=h2 key667="hello"
ds NS ns.ds
   DS 60485 8 2 ( 2BB183AF5F22588179A53B0A98631FAD1A2921182BB183AF5F22588179A53B0A )
ns.ds A 192.0.2.99
unknown TYPE65280 \# 4 deadBEEF
known A \# 4 C0000202
rp RP Mail Info.rp
hinfo HINFO "PC" "Linux 6"
afsdb AFSDB 1 Db
uri URI 10 1 "https://a.example/"
$ORIGIN deeper.example.net.
x A 192.0.2.3
"#;

/// The name of a reverse zone.
const REVERSE_NAME: &str = "8.b.d.0.1.0.0.2.ip6.arpa";

/// Its records.
const REVERSE: &str = "$TTL 600
@ SOA ns1.example.net. hostmaster.example.net. 7 3600 600 86400 60
@ NS ns1.example.net.
1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR Host-1.Example.net.
2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR host-2.example.net.
";

/// The algorithms that both sides know.
const ALGORITHMS: [&str; 4] = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"];

on_every_kind! {
    a_transfer_is_what_the_file_says_with_every_algorithm
    a_server_without_keys_lets_everybody_transfer
    a_zone_of_many_messages_comes_whole
}

/// The zone as this kind takes it: PowerDNS refuses the form for unknown types (RFC 3597 section 5) where it knows the
/// type.
pub fn zone(kind: Kind) -> String {
    let taken = |line: &&str| kind != Kind::PowerDns || !line.starts_with("known ");
    ZONE.lines().filter(taken).map(|line| format!("{line}\n")).collect()
}

/// Both zones.
fn zones(kind: Kind) -> Vec<(String, String)> {
    vec![("example.net".to_owned(), zone(kind)), (REVERSE_NAME.to_owned(), REVERSE.to_owned())]
}

/// Transfers every zone with every key, and none, from every address of a server, and holds it to the zone's file.
fn assert_transfers(server: &Server, keys: &[Option<&Key>]) {
    for zone in ["example.net", REVERSE_NAME] {
        let file = read_file(server, zone);
        for address in [Some(server.address()), server.address_v6()].into_iter().flatten() {
            for key in keys {
                let live = transfer(&address, *key, zone).expect("a transfer");
                assert_eq!(lines(&live), lines(&file), "{address} {key:?}");
                assert_eq!(live.contents.digest(|_| true), file.contents.digest(|_| true));
                assert_eq!(live.contents.serial(), file.contents.serial());
            }
        }
    }
}

/// Of a server that knows a key of each algorithm.
fn a_transfer_is_what_the_file_says_with_every_algorithm(kind: Kind) {
    let keys = ALGORITHMS.map(|algorithm| Key::with_algorithm(algorithm, algorithm)).to_vec();
    let Some(server) =
        Server::start(kind, &ServerConfig { keys: keys.clone(), zones: zones(kind), ..ServerConfig::default() })
    else {
        return;
    };
    assert_transfers(&server, &keys.iter().map(Some).collect::<Vec<_>>());
}

/// Of a server that knows none.
fn a_server_without_keys_lets_everybody_transfer(kind: Kind) {
    let Some(server) =
        Server::start(kind, &ServerConfig { keys: Vec::new(), zones: zones(kind), ..ServerConfig::default() })
    else {
        return;
    };
    assert_transfers(&server, &[None]);
}

/// Servers sign the first and last message of such a transfer, and some of those between.
fn a_zone_of_many_messages_comes_whole(kind: Kind) {
    let hosts = (0..20_000).map(|host| format!("h{host}.rack{} 300 AAAA 2001:db8::{host:x}\n", host % 97));
    let zone = zone(kind) + &hosts.collect::<String>();
    let keys = vec![Key::new("key")];
    let config =
        ServerConfig { keys: keys.clone(), zones: vec![("example.net".to_owned(), zone)], ..ServerConfig::default() };
    let Some(server) = Server::start(kind, &config) else { return };
    let live = transfer(&server.address(), keys.first(), "example.net").expect("a transfer");
    assert!(live.contents.record_count() > 20_000);
    assert_eq!(live.contents.digest(|_| true), read_file(&server, "example.net").contents.digest(|_| true));
}
