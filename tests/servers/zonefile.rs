//! Zone files that a name server has open: the changes show once the server reloaded.
//!
//! Not with BIND: all its zones here accept updates, and of such a zone it never reads the file again.

use std::time::{Duration, Instant};

use zonewright::change::ChangeKind;
use zonewright::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use zonewright::provider::{self, ProviderContext};
use zonewright::target::{Answer, Question, RrsetEdit, Update, UpdateReply, WriteTarget};

use crate::client;
use crate::server::{Kind, Server, ServerConfig};

/// A zone whose serial tells a date.
const ZONE: &str =
    "$TTL 60\n@ SOA ns host 2026111903 3600 600 86400 60\n@ NS ns\nns A 127.0.0.1\nold AAAA 2001:db8::1\n";

/// How long a server may take to load a file.
const LOAD: Duration = Duration::from_secs(60);

#[test]
fn knot_serves_what_is_written() {
    is_served_once_it_is_written(Kind::Knot);
}

#[test]
fn nsd_serves_what_is_written() {
    is_served_once_it_is_written(Kind::Nsd);
}

/// Writes into the folder of a server, whose reload is a signal.
fn is_served_once_it_is_written(kind: Kind) {
    let config = ServerConfig {
        zones: vec![("example.net".to_owned(), ZONE.to_owned())],
        is_static: true,
        ..ServerConfig::default()
    };
    let Some(server) = Server::start(kind, &config) else { return };
    let writer = open(&server);
    let zone = ZoneName::new(Name::parse("example.net").expect("a name"));
    let [old, new] = ["old", "new"].map(|host| key(&zone, host));
    let delete = ChangeKind::Delete { before: aaaa("2001:db8::1") };
    let create = ChangeKind::Create { after: aaaa("2001:db8::2") };
    let edits = vec![RrsetEdit { key: &old, kind: &delete }, RrsetEdit { key: &new, kind: &create }];
    let mut updates = writer.open(&zone);
    let ticket = updates.send(&Update { zone: &zone, edits }).expect("it is sent");
    let reply = updates.reply(ticket);
    assert!(matches!(reply, UpdateReply::Done), "{reply:?}");
    let question = Question { name: new.owner.as_name().to_name(), rtype: Rtype::AAAA };
    let seen = writer.observe(&zone, &[question], None).expect("the file can be read");
    assert_eq!(seen, [Answer::Holds(Rtype::AAAA, aaaa("2001:db8::2"))]);
    writer.finish(&|| false).expect("the signal arrives");
    let written = client::lines(&client::read_file(&server, "example.net"));
    let deadline = Instant::now() + LOAD;
    loop {
        let served = client::transfer(&server.address(), None, "example.net").map(|read| client::lines(&read));
        match served {
            Ok(lines) if lines == written => break,
            _ if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
            other => panic!("{kind:?} serves {other:#?}, and the file holds {written:#?}"),
        }
    }
    assert!(written.iter().any(|line| line.contains("2001:db8::2")), "{written:#?}");
    assert!(!written.iter().any(|line| line.contains("2001:db8::1")), "{written:#?}");
}

/// Opens the folder of a server as a target; a signal makes it load its zones.
fn open(server: &Server) -> Box<dyn WriteTarget> {
    let reload = format!("kill -HUP {}", server.process());
    let settings = format!("dir = \".\"\nreload = [\"sh\", \"-c\", \"{reload}\"]\n");
    let (target, source) = client::target_of("zonefile", &settings);
    let now = "2026-11-20T03:00:00Z".parse().expect("a time");
    let context = ProviderContext { workspace: server.folder(), source: &source, now, cache: None, has_marks: false };
    provider::open_writer(&target, &context).expect("the folder is there")
}

/// The key of the AAAA of a host.
fn key(zone: &ZoneName, host: &str) -> RrKey {
    let name = Name::parse(&format!("{host}.{zone}")).expect("a name");
    RrKey { owner: zone.owner(name.as_name()).expect("it is in the zone"), rtype: Rtype::AAAA }
}

/// An RRset of one AAAA, with the TTL of the zone.
fn aaaa(address: &str) -> Rrset {
    let rdata = Rdata::parse(Rtype::AAAA, address).expect("an address");
    Rrset::new(Ttl::from_secs(60).expect("a TTL"), vec![rdata]).expect("an address")
}
