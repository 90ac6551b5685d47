//! Zones that come by way of the cache are what a transfer gives, whatever happened meanwhile, to whom.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use zonewright::provider::cache::CacheUse;
use zonewright::target::ZoneRead;

use crate::client::Client;
use crate::rig::{NOW as PLAN_NOW, Planned, Rig, plan_in};
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::spy::Spy;
use crate::workspace::{edit, stderr, zonewright};

/// The zone of all tests.
const APEX: &str = "example.net";

/// When zones are read, but where a test says otherwise.
const NOW: &str = "2026-11-20T12:00:00Z";

/// The type of a question for a SOA.
const SOA: u16 = 6;

/// The type of a question for a marker.
const TXT: u16 = 16;

/// The type of a question for differences.
const IXFR: u16 = 251;

/// The type of a question for a whole zone.
const AXFR: u16 = 252;

on_every_kind! {
    a_zone_that_has_not_moved_is_not_transferred
    a_zone_of_another_serial_or_soa_is_transferred_whole
}

/// Those that take updates.
mod updated {
    on_every_primary! {
        after_any_updates_the_cache_leads_to_the_zone
        a_plan_is_the_same_by_whatever_way_zones_come
    }

    use super::{a_plan_is_the_same_by_whatever_way_zones_come, after_any_updates_the_cache_leads_to_the_zone};
}

/// Numbers that a seed makes again (the constants are Knuth's).
struct Numbers(u64);

impl Numbers {
    /// A number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// One of these.
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// What one update changes, in the form of `nsupdate`.
    fn update(&mut self) -> String {
        let mut lines = String::new();
        for _ in 0..1 + self.below(6) {
            let name = format!("{}{}.example.net.", self.of(&["h", "H", "new"]), self.below(12));
            let ttl = self.of(&[60, 300, 3600]);
            let record = match self.below(5) {
                0 => format!("TXT \"{}\" \"Some Text\"", self.below(3)),
                1 => format!("PTR Target{}.Example.NET.", self.below(3)),
                2 => format!("MX {} Mail.example.net.", self.below(3)),
                _ => format!("AAAA 2001:db8::{:x}", self.below(4)),
            };
            let rtype = record.split(' ').next().unwrap_or_default().to_owned();
            lines += &match self.below(8) {
                0 => format!("update delete {name}\n"),
                1 => format!("update delete {name} {rtype}\n"),
                2 => format!("update delete {name} {record}\n"),
                3 => format!("update delete {name}\nupdate add {name} {ttl} CNAME h1.example.net.\n"),
                _ => format!("update add {name} {ttl} {record}\n"),
            };
        }
        lines
    }
}

/// A zone with this serial and so many hosts.
fn zone(serial: u32, hosts: u32) -> String {
    let hosts = (0..hosts).map(|host| format!("h{host} 300 AAAA 2001:db8::{host:x}\n"));
    format!(
        "$TTL 1h\n@ SOA ns1 hostmaster {serial} 1d 2h 4w 10m\n  NS ns1\nns1 A 192.0.2.53\n{}",
        hosts.collect::<String>()
    )
}

/// A server that serves this as the zone, to any client with the key.
fn serve(kind: Kind, key: &Key, zone: String) -> Option<Server> {
    let zones = vec![(APEX.to_owned(), zone)];
    Server::start(kind, &ServerConfig { keys: vec![key.clone()], zones, ..ServerConfig::default() })
}

/// Changes the zone by `nsupdate`; what the server refuses does not matter.
fn nsupdate(server: &Server, key: &Key, lines: &str) {
    let address = server.address().replace(':', " ");
    let mut command = Command::new("/usr/bin/nsupdate");
    command.args(["-v", "-y", &format!("{}:{}:{}", key.algorithm, key.name, key.secret)]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("nsupdate runs");
    let script = format!("server {address}\nzone {APEX}\n{lines}send\n");
    child.stdin.take().expect("its input is piped").write_all(script.as_bytes()).expect("nsupdate reads");
    child.wait().expect("nsupdate ends");
}

/// Reads the zone at an address by way of the cache.
fn read(client: &Client, address: &str) -> ZoneRead {
    client.read_cached((address, APEX), "", CacheUse::Read, NOW).expect("a zone")
}

/// Fails unless two reads gave the same zone.
fn assert_same(one: &ZoneRead, other: &ZoneRead, when: &str) {
    assert!(one.contents.octets() == other.contents.octets(), "another zone {when}");
    assert_eq!(one.contents.digest(|_| true), other.contents.digest(|_| true), "{when}");
}

/// The second time it costs two questions.
fn a_zone_that_has_not_moved_is_not_transferred(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = serve(kind, &key, zone(7, 50)) else { return };
    let (spy, client) = (Spy::start(&server.address()), Client::new(Some(&key)));
    let first = read(&client, &spy.address());
    assert_eq!(spy.asked(), [AXFR]);
    for _ in 0..2 {
        assert_same(&read(&client, &spy.address()), &first, "that has not moved");
        assert_eq!(spy.asked(), [SOA, TXT]);
    }
    let renewed = client.read_cached((&spy.address(), APEX), "", CacheUse::Renew, NOW).expect("a zone");
    assert_same(&renewed, &first, "that is renewed");
    assert_eq!(spy.asked(), [AXFR]);
    let read = |settings: &str, now: &str| {
        let read = client.read_cached((&spy.address(), APEX), settings, CacheUse::Read, now).expect("a zone");
        assert_same(&read, &first, now);
        spy.asked()
    };
    assert_eq!(read("cache = false\n", NOW), [AXFR]);
    assert_eq!(read("", "2026-11-20T13:00:00Z"), [SOA, TXT]);
    assert_eq!(read("cache_max_age = \"1d\"\n", "2026-11-21T12:00:00Z"), [SOA, TXT]);
    // That a file is too old, or no good, is seen when it is read.
    let in_vain = [SOA, TXT, AXFR];
    assert_eq!(read("cache_max_age = \"1d\"\n", "2026-11-21T12:00:01Z"), in_vain);
    assert_eq!(read("", "2026-11-21T13:00:02Z"), in_vain);
    // Any damage of the file costs a transfer.
    fs::write(client.cached(APEX), "x").expect("the file");
    assert_eq!(read("", "2026-11-21T13:00:02Z"), in_vain);
    fs::remove_file(client.cached(APEX)).expect("the file");
    assert_eq!(read("", "2026-11-21T13:00:02Z"), [AXFR]);
    assert_eq!(read("", "2026-11-21T13:00:02Z"), [SOA, TXT]);
}

/// As where a server is restored from a backup, or its zone is made anew.
fn a_zone_of_another_serial_or_soa_is_transferred_whole(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = serve(kind, &key, zone(7, 50)) else { return };
    let (spy, client) = (Spy::start(&server.address()), Client::new(Some(&key)));
    let first = read(&client, &spy.address());
    let others = [zone(6, 40), zone(7, 30).replace("10m", "11m"), zone(9, 20), zone(7, 10)];
    for other in others {
        let server = serve(kind, &key, other).expect("it started before");
        spy.lead_to(&server.address());
        spy.asked();
        let fresh = client.read(&server.address(), APEX, "30s").expect("a zone");
        assert_same(&read(&client, &spy.address()), &fresh, "after another took its place");
        assert!(spy.asked().iter().any(|rtype| [IXFR, AXFR].contains(rtype)));
    }
    // A zone with exactly the SOA of the last one counts as unchanged, until other data are needed or the cache is too
    // old.
    let server = serve(kind, &key, zone(7, 50)).expect("it started before");
    spy.lead_to(&server.address());
    let kept = read(&client, &spy.address());
    assert_ne!(kept.contents.octets(), first.contents.octets());
    let later = client.read_cached((&spy.address(), APEX), "", CacheUse::Read, "2026-11-21T12:00:01Z");
    assert_same(&later.expect("a zone"), &first, "after a day");
}

/// Whatever is updated how often between two reads.
fn after_any_updates_the_cache_leads_to_the_zone(kind: Kind) {
    if !crate::have(Path::new("/usr/bin/nsupdate")) {
        return;
    }
    let key = Key::new("key");
    let Some(server) = serve(kind, &key, zone(7, 400)) else { return };
    let (spy, client) = (Spy::start(&server.address()), Client::new(Some(&key)));
    let setting = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let seed = setting("CACHE_SEED", 1995);
    let mut numbers = Numbers(seed);
    let (mut by_differences, mut unmoved) = (0, 0);
    for round in 0..setting("CACHE_ROUNDS", 25) {
        for _ in 0..numbers.below(4) {
            nsupdate(&server, &key, &numbers.update());
        }
        let read = read(&client, &spy.address());
        let asked = spy.asked();
        by_differences += usize::from(asked == [SOA, TXT, IXFR]);
        unmoved += usize::from(asked == [SOA, TXT]);
        let fresh = client.read(&server.address(), APEX, "30s").expect("a zone");
        assert_same(&read, &fresh, &format!("in round {round} of seed {seed}, {asked:?}"));
    }
    assert!(unmoved > 0, "rounds without updates");
    // What `zonewright serve` does not give is a whole transfer.
    assert!(by_differences > 0 || kind == Kind::Serve, "no round by differences");
}

/// Each octet of differences flipped, each message lost, doubled and cut: the zone all the same.
#[test]
fn spoiled_differences_cost_a_transfer_and_nothing_else() {
    for kind in [Kind::Bind, Kind::Knot] {
        let key = Key::new("key");
        let Some(server) = serve(kind, &key, zone(7, 400)) else { continue };
        let (spy, client) = (Spy::start(&server.address()), Client::new(Some(&key)));
        read(&client, &spy.address());
        let kept = fs::read(client.cached(APEX)).expect("the cache");
        nsupdate(&server, &key, "update add new.example.net. 60 AAAA 2001:db8::1\nupdate delete h3.example.net.\n");
        nsupdate(&server, &key, "update delete new.example.net.\nupdate add h3.example.net. 60 TXT x\n");
        let fresh = client.read(&server.address(), APEX, "30s").expect("a zone");
        let after = |what: String| {
            fs::write(client.cached(APEX), &kept).expect("the cache");
            spy.asked();
            assert_same(&read(&client, &spy.address()), &fresh, &what);
            spy.asked()
        };
        assert_eq!(after("unspoiled".into()), [SOA, TXT, IXFR], "{kind:?}");
        let (sender, lengths) = std::sync::mpsc::channel();
        spy.spoil(
            IXFR,
            Box::new(move |_, message| {
                let _ = sender.send(message.len());
                Some(vec![message])
            }),
        );
        after("unspoiled".into());
        let lengths: Vec<usize> = lengths.try_iter().collect();
        let mut refused = 0;
        for (number, length) in lengths.iter().enumerate() {
            for octet in 0..*length {
                spy.spoil(
                    IXFR,
                    Box::new(move |place, mut message| {
                        if place == number {
                            message[octet] ^= 1 << (octet % 8);
                        }
                        Some(vec![message])
                    }),
                );
                let asked = after(format!("{kind:?}: octet {octet} of message {number} flipped"));
                refused += usize::from(asked.ends_with(&[AXFR]));
            }
            type Change = fn(Vec<u8>) -> Option<Vec<Vec<u8>>>;
            let changes: [(&str, Change); 4] = [
                ("lost", |_| None),
                ("doubled", |message| Some(vec![message.clone(), message])),
                ("cut", |message| Some(vec![message[..message.len() / 2].to_vec()])),
                ("followed by another", |message| Some(vec![message, vec![0; 12]])),
            ];
            for (what, change) in changes {
                spy.spoil(
                    IXFR,
                    Box::new(move |place, message| if place == number { change(message) } else { Some(vec![message]) }),
                );
                after(format!("{kind:?}: message {number} {what}"));
            }
        }
        let octets: usize = lengths.iter().sum();
        // But for IDs and the times of signatures all is signed.
        assert!(refused * 10 > octets * 8, "{kind:?}: {refused} of {octets} refused");
        // What is said of the serial is signed, too.
        for octet in (0..120).step_by(3) {
            spy.spoil(
                TXT,
                Box::new(move |_, mut message| {
                    let place = octet % message.len();
                    message[place] ^= 1;
                    Some(vec![message])
                }),
            );
            after(format!("{kind:?}: octet {octet} of what is said of the serial flipped"));
        }
    }
}

/// A zone that was restored from a backup and then reached the stored serial, and later ones, in another way: its
/// differences fit, but lead to another zone. The marker shows that zonewright applied to the old one.
#[test]
fn differences_that_do_not_lead_to_the_marker_that_stands_there_are_not_used() {
    for kind in [Kind::Bind, Kind::Knot] {
        let key = Key::new("key");
        let Some(first) = serve(kind, &key, zone(7, 400)) else { continue };
        let (spy, client) = (Spy::start(&first.address()), Client::new(Some(&key)));
        nsupdate(&first, &key, "update add _zonewright.example.net. 0 TXT \"e=7 p=sha256:00 b=1\"\n");
        read(&client, &spy.address());
        let restored = serve(kind, &key, zone(7, 400)).expect("it started before");
        for host in ["one", "two"] {
            nsupdate(&restored, &key, &format!("update add {host}.example.net. 60 AAAA 2001:db8::1\n"));
        }
        spy.lead_to(&restored.address());
        spy.asked();
        let fresh = client.read(&restored.address(), APEX, "30s").expect("a zone");
        assert_same(&read(&client, &spy.address()), &fresh, "that was restored");
        assert_eq!(spy.asked(), [SOA, TXT, IXFR, AXFR], "{kind:?}");
    }
}

/// The plan of a workspace, as it is printed.
fn planned(rig: &Rig, args: &[&str]) -> Vec<u8> {
    let mut command = zonewright();
    command.args(["plan", "--format", "json", "-q", "--color", "never", "--now", PLAN_NOW, "-C"]);
    let output = command.arg(rig.workspace.path()).args(args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    output.stdout
}

/// By transfer, from the cache, by differences, and after the cache was deleted or damaged.
fn a_plan_is_the_same_by_whatever_way_zones_come(kind: Kind) {
    let Some(rig) = Rig::demo(kind) else { return };
    let folder = rig.workspace.path().join(".zonewright/cache");
    let cold = planned(&rig, &[]);
    assert!(folder.is_dir());
    let assert_alike = |when: &str| {
        let now = planned(&rig, &["--no-cache"]);
        for _ in 0..2 {
            assert!(planned(&rig, &[]) == now, "another plan {when}");
        }
        now
    };
    assert_eq!(assert_alike("where nothing moved"), cold);
    let forward = rig.zones.iter().find(|zone| !zone.ends_with("arpa.")).expect("a forward zone").clone();
    let plan: Planned = plan_in(rig.workspace.path(), &[]);
    let change = plan.changes().into_iter().find(|change| change.zone == forward && !change.before.is_empty());
    let change = change.expect("a change of what is there");
    let lines = format!("update delete {}\nupdate add elsewhere.{forward} 60 AAAA 2001:db8::1", change.name);
    // The second is made on what is kept of before, the third by differences of several updates.
    rig.nsupdate(&forward, &lines);
    assert!(planned(&rig, &[]) != cold);
    rig.nsupdate(&forward, &format!("update add elsewhere.{forward} 60 AAAA 2001:db8::2"));
    rig.nsupdate(&forward, &format!("update delete elsewhere.{forward}"));
    let moved = planned(&rig, &[]);
    assert_eq!(assert_alike("after updates"), moved);
    for entry in fs::read_dir(&folder).expect("the cache") {
        let path = entry.expect("an entry").path();
        let mut octets = fs::read(&path).expect("a file");
        let middle = octets.len() / 2;
        octets[middle] ^= 1;
        fs::write(&path, octets).expect("a file");
    }
    assert_eq!(planned(&rig, &[]), moved, "from damaged files");
    fs::remove_dir_all(&folder).expect("the cache");
    assert_eq!(planned(&rig, &[]), moved, "without files");
    // An apply moves zones itself, and a plan after it finds nothing of it left to do.
    let plan = rig.plan();
    rig.apply(&plan, &[]);
    assert_alike("after an apply");
}

/// Where content moves and the serial does not, the plan is of what was, and applying it is `stale`: never a wrong
/// change.
#[test]
fn a_change_that_moves_no_serial_is_stale_at_apply() {
    let Some(rig) = Rig::demo(Kind::PowerDns) else { return };
    let cold = rig.plan();
    let modified = |change: &crate::rig::Edit| {
        change.rtype == "AAAA" && change.host.is_some() && !change.before.is_empty() && !change.after.is_empty()
    };
    let change = cold.changes().into_iter().find(modified).expect("a change of an address");
    let owner = change.name.trim_end_matches('.');
    let sql = format!("UPDATE records SET content = '2001:db8::bad' WHERE name = '{owner}' AND type = 'AAAA';");
    let output = Command::new("/usr/bin/sqlite3")
        .args(["-cmd", ".timeout 5000", "zones.db", &sql])
        .current_dir(rig.server.folder())
        .output()
        .expect("sqlite3 runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let before = rig.zone(&change.zone).rrset(&change.name, "AAAA");
    assert!(before.iter().all(|line| line.contains("2001:db8::bad")), "{before:?}");
    let warm = rig.plan();
    assert_eq!(warm.effect(), cold.effect(), "the serial has not moved");
    assert_ne!(plan_in(rig.workspace.path(), &["--no-cache"]).effect(), cold.effect());
    let applied = rig.apply(&warm, &[]);
    assert!(applied.hosts("stale").is_superset(&change.hosts), "{}", applied.said());
    assert_eq!(rig.zone(&change.zone).rrset(&change.name, "AAAA"), before);
}

/// A target that says so never keeps anything, nor does a command that needs live data.
#[test]
fn nothing_is_kept_where_nobody_plans_or_the_settings_say_so() {
    let Some(rig) = Rig::demo(Kind::Knot) else { return };
    let folder = rig.workspace.path().join(".zonewright");
    for args in [&["snapshot", "--out", "s"][..], &["doctor"], &["check"]] {
        let mut command = zonewright();
        command.args(["-q", "--color", "never", "--now", PLAN_NOW, "-C"]).arg(rig.workspace.path()).args(args);
        // The demo has faults on purpose, so that not all end well.
        command.current_dir(rig.workspace.path()).output().expect("it runs");
        assert!(!folder.exists(), "{args:?}");
    }
    edit(rig.workspace.path(), "type = \"rfc2136\"\n", "type = \"rfc2136\"\ncache = false\n");
    planned(&rig, &[]);
    assert!(!folder.exists());
}
