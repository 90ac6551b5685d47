//! What a real BIND transfers is what its zone file says.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use zonewright::diag::{Files, Origin};
use zonewright::dns::{Name, ZoneName};
use zonewright::inventory::config::node::{Key, Node, SourceText, Value};
use zonewright::provider::{self, Access, Context, ReadError, ZoneRead};

use crate::bind::{Bind, BindConfig, BindKey};

/// A zone with something of everything that is written in more than one way.
const ZONE: &str = r#"$TTL 1h
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

/// A reverse zone.
const REVERSE: &str = "$TTL 600
@ SOA ns1.example.net. hostmaster.example.net. 7 3600 600 86400 60
@ NS ns1.example.net.
1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR Host-1.Example.net.
2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR host-2.example.net.
";

/// The algorithms that both sides know.
const ALGORITHMS: [&str; 4] = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512"];

/// A settings table.
fn table(entries: Vec<(&str, Value)>) -> Node {
    let origin = Origin { file: Files::default().add("zonewright.toml"), line: 1, col: 1 };
    let entries = entries
        .into_iter()
        .map(|(name, value)| (Key { name: name.to_owned(), origin, width: 1 }, Node { origin, width: 1, value }));
    Node { origin, width: 1, value: Value::Table(entries.collect()) }
}

/// A text value.
fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Reads a zone from a target.
fn read(provider: &str, settings: &Node, workspace: &Path, zone: &str) -> Result<ZoneRead, ReadError> {
    let source = SourceText { file: Files::default().add("zonewright.toml"), text: "\n".to_owned() };
    let found = provider::check(provider, settings, &source);
    assert_eq!(found.error_count(), 0, "{found:?}");
    match provider::open(provider, settings, &Context { workspace, source: &source })? {
        Access::Whole(target) => target.read_zone(&ZoneName::new(Name::parse(zone).expect("a name"))),
        Access::ByName(_) => panic!("the settings say nothing of `read`"),
    }
}

/// Reads a zone from the server's own files.
fn read_file(bind: &Bind, zone: &str) -> ZoneRead {
    read("zonefile", &table(vec![("dir", text("."))]), bind.folder(), zone).expect("the server took the same file")
}

/// Reads a zone from the server, signed with a key.
fn transfer(bind: &Bind, key: Option<&BindKey>, zone: &str) -> Result<ZoneRead, ReadError> {
    let mut settings = vec![("server", text(&bind.address()))];
    let workspace = tempfile::tempdir().expect("a folder");
    if let Some(key) = key {
        let secret = workspace.path().join("secret");
        fs::write(&secret, format!("{}\n", key.secret)).expect("a file");
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("it is ours");
        let entries =
            vec![("name", text(&key.name)), ("algorithm", text(&key.algorithm)), ("secret_file", text("secret"))];
        settings.push(("tsig_key", table(entries).value));
    }
    read("rfc2136", &table(settings), workspace.path(), zone)
}

/// All records as sorted lines, so that a difference can be read.
fn lines(read: &ZoneRead) -> Vec<String> {
    let mut lines = Vec::new();
    for rrset in read.contents.rrsets() {
        lines.extend(rrset.rdata().map(|rdata| format!("{} {} {} {rdata}", rrset.owner(), rrset.ttl(), rrset.rtype())));
    }
    lines.sort();
    lines
}

/// The code and message of an error that must come.
fn failure(read: Result<ZoneRead, ReadError>) -> (&'static str, String) {
    let error = read.expect_err("the transfer fails");
    (error.code, error.message)
}

#[test]
fn a_transfer_is_what_the_file_says_with_every_algorithm() {
    let keys = ALGORITHMS.map(|algorithm| BindKey::with_algorithm(algorithm, algorithm)).to_vec();
    let reverse = "8.b.d.0.1.0.0.2.ip6.arpa";
    let zones = vec![("example.net".to_owned(), ZONE.to_owned()), (reverse.to_owned(), REVERSE.to_owned())];
    let Some(bind) = Bind::start(&BindConfig { keys: keys.clone(), zones }) else { return };
    for zone in ["example.net", reverse] {
        let file = read_file(&bind, zone);
        for key in &keys {
            let live = transfer(&bind, Some(key), zone).unwrap();
            assert_eq!(lines(&live), lines(&file));
            assert_eq!(live.contents.digest(|_| true), file.contents.digest(|_| true));
            assert_eq!(live.contents.serial(), file.contents.serial());
        }
    }
}

#[test]
fn a_zone_of_many_messages_comes_whole() {
    let hosts = (0..20_000).map(|host| format!("h{host}.rack{} 300 AAAA 2001:db8::{host:x}\n", host % 97));
    let zone = ZONE.to_owned() + &hosts.collect::<String>();
    let keys = vec![BindKey::new("key")];
    let config = BindConfig { keys: keys.clone(), zones: vec![("example.net".to_owned(), zone)] };
    let Some(bind) = Bind::start(&config) else { return };
    let (live, file) = (transfer(&bind, keys.first(), "example.net").unwrap(), read_file(&bind, "example.net"));
    assert!(live.contents.record_count() > 20_000);
    assert_eq!(live.contents.digest(|_| true), file.contents.digest(|_| true));
}

#[test]
fn refusals_name_their_cause() {
    let key = BindKey::new("key");
    let config = BindConfig { keys: vec![key.clone()], zones: vec![("example.net".to_owned(), ZONE.to_owned())] };
    let Some(bind) = Bind::start(&config) else { return };
    let wrong = BindKey { secret: "d3Jvbmcgc2VjcmV0".to_owned(), ..key.clone() };
    let (code, message) = failure(transfer(&bind, Some(&wrong), "example.net"));
    assert_eq!((code, message.as_str()), ("tsig-bad-sig", "the server finds our signature wrong (BADSIG)"));
    let (code, message) = failure(transfer(&bind, Some(&BindKey::new("other")), "example.net"));
    assert_eq!((code, message.as_str()), ("tsig-bad-key", "the server does not know the TSIG key (BADKEY)"));
    let sha512 = BindKey::with_algorithm("key", "hmac-sha512");
    assert_eq!(failure(transfer(&bind, Some(&sha512), "example.net")).0, "tsig-bad-key");
    assert_eq!(failure(transfer(&bind, None, "example.net")).0, "transfer-refused");
    let (code, message) = failure(transfer(&bind, Some(&key), "example.org"));
    assert_eq!((code, message.as_str()), ("zone-not-served", "the server answers NOTAUTH"));
    let error = transfer(&bind, None, "example.net").unwrap_err();
    assert_eq!(error.place, format!("{} zone example.net.", bind.address()));
}

#[test]
fn a_server_without_keys_lets_everybody_transfer() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("example.net.zone"), ZONE).unwrap();
    let Some(bind) = Bind::start(&BindConfig::default().zones_of(folder.path())) else { return };
    let live = transfer(&bind, None, "example.net").unwrap();
    assert_eq!(lines(&live), lines(&read_file(&bind, "example.net")));
}
