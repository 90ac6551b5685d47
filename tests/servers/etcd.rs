//! Zones in a real etcd: what CoreDNS would answer from them, writers that race, applies that are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{lines, transfer};
use crate::coredns::{self, Keys};
use crate::http_way::{FAULTS, HttpFault, Way};
use crate::planted::{self, Dice, PlantedFleet};
use crate::race::race;
use crate::rig::{Applied, Planned, apply_command, apply_in, plan_in, quiet_in, resume_in, text_of};
use crate::server::{Key, Kind, Server, ServerConfig, free_port};
use crate::workspace::{another, edit};

/// The programs `etcd` and `etcdctl`: those of a folder that `ETCD_BIN` names, such as that of another version, or Debian's.
fn programs() -> [PathBuf; 2] {
    let folder = std::env::var_os("ETCD_BIN").map_or_else(|| PathBuf::from("/usr/bin"), PathBuf::from);
    ["etcd", "etcdctl"].map(|program| folder.join(program))
}

/// How long a start may take.
const START: Duration = Duration::from_secs(60);

/// A running etcd of one member; it ends when this is dropped.
pub struct Etcd {
    /// The process.
    child: Child,
    /// Its files.
    _folder: TempDir,
    /// Its port.
    port: u16,
    /// The folder of its certificates, where it has some and asks for those of clients.
    certificates: Option<PathBuf>,
}

impl Etcd {
    /// Starts one; `None`, which it says aloud, where it is not installed.
    pub fn start() -> Option<Etcd> {
        Etcd::start_in(None)
    }

    /// One that asks for certificates: those of `ca.pem`, which signed its own, `server.pem`, and `client.pem`.
    pub fn start_with_certificates(folder: &Path) -> Option<Etcd> {
        Etcd::start_in(Some(folder.to_owned()))
    }

    /// Starts one, with the certificates of a folder.
    fn start_in(certificates: Option<PathBuf>) -> Option<Etcd> {
        if !programs().iter().all(|file| crate::have(file)) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
        let (port, peers) = (free_port(&loopback), free_port(&loopback));
        let scheme = if certificates.is_some() { "https" } else { "http" };
        let (client, peer) = (format!("{scheme}://127.0.0.1:{port}"), format!("http://127.0.0.1:{peers}"));
        let mut command = Command::new(&programs()[0]);
        command.arg("--data-dir").arg(folder.path().join("data"));
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
        command.args(["--initial-cluster", &format!("default={peer}"), "--logger", "zap"]);
        if let Some(own) = &certificates {
            command.arg("--cert-file").arg(own.join("server.pem")).arg("--key-file").arg(own.join("server.key"));
            command.arg("--trusted-ca-file").arg(own.join("ca.pem")).arg("--client-cert-auth");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("it runs");
        let etcd = Etcd { child, _folder: folder, port, certificates };
        let deadline = Instant::now() + START;
        while !etcd.ctl(&["endpoint", "health"]).status.success() {
            assert!(Instant::now() < deadline, "etcd does not start");
            thread::sleep(Duration::from_millis(50));
        }
        Some(etcd)
    }

    /// Where it is.
    pub fn url(&self) -> String {
        let scheme = if self.certificates.is_some() { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Runs `etcdctl`.
    pub fn ctl(&self, args: &[&str]) -> Output {
        let mut command = Command::new(&programs()[1]);
        command.env("ETCDCTL_API", "3").args(["--endpoints", &self.url()]);
        if let Some(own) = &self.certificates {
            command.arg("--cacert").arg(own.join("ca.pem"));
            command.arg("--cert").arg(own.join("client.pem")).arg("--key").arg(own.join("client.key"));
        }
        command.args(args).output().expect("it runs")
    }

    /// Writes a key.
    pub fn put(&self, key: &str, value: &Value) {
        let done = self.ctl(&["put", key, &value.to_string()]);
        assert!(done.status.success(), "{}", text_of(&done.stderr));
    }

    /// Deletes a key.
    fn delete(&self, key: &str) {
        assert!(self.ctl(&["del", key]).status.success());
    }

    /// The revision at which a key was written last.
    fn revision(&self, key: &str) -> i64 {
        let output = self.ctl(&["get", key, "-w", "json"]);
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        found["kvs"][0]["mod_revision"].as_i64().expect("a number")
    }

    /// Begins a transaction, as `etcdctl txn` reads it, after a pause.
    fn transaction(&self, script: &str, pause: Duration) -> Child {
        let mut command = Command::new(&programs()[1]);
        command.env("ETCDCTL_API", "3").args(["--endpoints", &self.url(), "txn"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let (mut input, script) = (child.stdin.take().expect("it is piped"), script.to_owned());
        thread::spawn(move || {
            thread::sleep(pause);
            let _ = input.write_all(script.as_bytes());
        });
        child
    }

    /// All keys below the prefix of CoreDNS.
    pub fn keys(&self) -> Keys {
        let output = self.ctl(&["get", "--prefix", "/skydns/"]);
        assert!(output.status.success(), "{}", text_of(&output.stderr));
        let text = text_of(&output.stdout);
        let lines: Vec<&str> = text.lines().collect();
        lines.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
    }

    /// The settings of a target that is this etcd.
    fn target(&self) -> String {
        format!("type = \"etcd\"\nendpoints = \"{}\"\n", self.url())
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // There is nothing to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The settings of a workspace of records alone.
pub const SETTINGS: &str = "owner = \"fleet-dns\"
[sources]
projects = \"p.yaml\"
hosts = \"none\"
[[sources.records]]
name = \"static\"
format = \"octodns\"
path = \"octo/*.yaml\"
project = \"p\"
max_shrink = \"100%\"
[project.p]
dns_domain = \"example\"
automation = \"allowed\"
[limits]
max_loss = \"100%\"
";

/// The file of its project.
pub const PROJECT: &str = "id: p\nvlan_scheme: none\nttl: 600\nautomation: true\npolicy: sync\n";

/// How many zones there are at a time.
const ZONES: usize = 25;

/// A workspace whose zones are in an etcd.
pub struct Site {
    /// The etcd.
    pub etcd: Etcd,
    /// The workspace.
    folder: TempDir,
    /// The zones, without the final dot.
    pub zones: Vec<String>,
}

/// RRsets by name and type: TTL and data.
pub type Rrsets = BTreeMap<(String, &'static str), (u64, BTreeSet<String>)>;

impl Site {
    /// Makes one with so many zones; `None` where etcd is not installed.
    pub fn start(zones: usize) -> Option<Site> {
        let site = Site {
            etcd: Etcd::start()?,
            folder: tempfile::tempdir().expect("a folder"),
            zones: (0..zones).map(|number| format!("z{number}.example")).collect(),
        };
        fs::create_dir(site.path().join("octo")).expect("a folder");
        fs::write(site.path().join("p.yaml"), PROJECT).expect("a file");
        site.configure(&site.etcd.target());
        site.zones.iter().for_each(|zone| site.state(zone, &Rrsets::new()));
        Some(site)
    }

    /// Writes the settings, with this target.
    fn configure(&self, target: &str) {
        let zone = |zone: &String| {
            format!(
                "[[zone]]\nname = \"{zone}\"\npool = \"main\"\npermission = \"full\"\ncreate = true\n[zone.apex]\n\
                 ns = [\"ns1.example.org\"]\nmname = \"ns1.example.org\"\nrname = \"hostmaster@example.org\"\n"
            )
        };
        let zones: String = self.zones.iter().map(zone).collect();
        let text = format!("{SETTINGS}[pool.main]\n[[pool.main.target]]\n{target}{zones}");
        fs::write(self.path().join("zonewright.toml"), text).expect("a file");
    }

    /// The workspace.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// States what a zone is to hold.
    pub fn state(&self, zone: &str, rrsets: &Rrsets) {
        write_stated(self.path(), zone, rrsets);
    }

    /// Plans and applies; all must be applied.
    pub fn apply_all(&self) -> Planned {
        let plan = plan_in(self.path(), &[]);
        assert_eq!(plan.document["blocked"], json!([]), "{:#}", plan.document["blocked"]);
        let applied = apply_in(self.path(), &plan.file, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        plan
    }

    /// What CoreDNS answers otherwise than it is to.
    fn faults(&self, wanted: &BTreeMap<String, Rrsets>) -> Vec<String> {
        let keys = self.etcd.keys();
        let mut faults = Vec::new();
        for (zone, rrsets) in wanted {
            let names: BTreeSet<&String> = rrsets.keys().map(|(name, _)| name).collect();
            for name in names {
                for rtype in ["A", "AAAA", "CNAME", "TXT"] {
                    let line = |rtype: &str, ttl: u64, value: &String| format!("{rtype} {ttl} {value}");
                    let of = |rtype: &'static str| {
                        let found = rrsets.get(&(name.clone(), rtype));
                        found
                            .into_iter()
                            .flat_map(move |(ttl, values)| values.iter().map(move |value| line(rtype, *ttl, value)))
                    };
                    // An alias is answered to questions for addresses, too.
                    let alias = (rtype != "TXT").then_some("CNAME").into_iter().flat_map(of);
                    let expected: BTreeSet<String> = of(rtype).chain(alias).collect();
                    let short = |name: &str| name.trim_end_matches('.').to_owned();
                    let answered = coredns::answer(&keys, &short(zone), &short(name), rtype);
                    if answered != expected {
                        faults.push(format!("{name} {rtype}: {answered:?}, and not {expected:?}"));
                    }
                }
            }
        }
        let count: usize = wanted.values().flat_map(BTreeMap::values).map(|(_, values)| values.len()).sum();
        if keys.len() != count {
            faults.push(format!("{} keys for {count} records", keys.len()));
        }
        faults
    }
}

/// Writes the file of what a zone is to hold, into a workspace.
pub fn write_stated(folder: &Path, zone: &str, rrsets: &Rrsets) {
    let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
    for ((name, rtype), (ttl, values)) in rrsets {
        let short = name.strip_suffix(&format!("{zone}.")).expect("a name of the zone").trim_end_matches('.');
        let text = by_name.entry(short).or_default();
        write!(text, "  - type: {rtype}\n    ttl: {ttl}\n    values:\n").expect("a String grows");
        values.iter().for_each(|value| writeln!(text, "    - '{value}'").expect("a String grows"));
    }
    let text: String = by_name.iter().map(|(name, records)| format!("'{name}':\n{records}")).collect();
    let text = if text.is_empty() { "{}\n".to_owned() } else { text };
    fs::write(folder.join(format!("octo/{zone}.yaml")), text).expect("a file");
}

/// Random RRsets of a zone: no name is below another one.
pub fn random_rrsets(zone: &str, dice: &mut Dice) -> Rrsets {
    let mut rrsets = Rrsets::new();
    for number in 0..1 + dice.below(8) {
        let name = match dice.below(6) {
            0 => format!("{zone}."),
            1 => format!("_s{number}._tcp.{zone}."),
            2 => format!("deep{number}.in.{zone}."),
            _ => format!("n{number}.{zone}."),
        };
        let ttl = [30, 300, 3600, 86_400][dice.below(4)];
        if dice.below(5) == 0 && name != format!("{zone}.") {
            let target = format!("t{}.example.org.", dice.below(50));
            rrsets.insert((name, "CNAME"), (ttl, [target].into()));
            continue;
        }
        let mut values = |rtype: &'static str, value: &dyn Fn(usize) -> String, dice: &mut Dice| {
            if dice.below(2) == 0 {
                let values = (0..1 + dice.below(4)).map(|_| value(dice.below(200))).collect();
                rrsets.insert((name.clone(), rtype), (ttl, values));
            }
        };
        values("A", &|number| format!("192.0.2.{number}"), dice);
        values("AAAA", &|number| format!("2001:db8::{:x}", number + 1), dice);
        values("TXT", &|number| format!("v=spf1 number {number}"), dice);
    }
    rrsets
}

#[test]
fn coredns_answers_what_is_stated_in_500_random_zones() {
    let Some(site) = Site::start(ZONES) else { return };
    let rounds = std::env::var("ETCD_ROUNDS").map_or(20, |rounds| rounds.parse().expect("a number"));
    let (mut dice, mut rrsets) = (Dice(7), 0);
    for round in 0..rounds {
        let wanted: BTreeMap<String, Rrsets> =
            site.zones.iter().map(|zone| (format!("{zone}."), random_rrsets(zone, &mut dice))).collect();
        wanted.iter().for_each(|(zone, stated)| site.state(zone.trim_end_matches('.'), stated));
        site.apply_all();
        let faults = site.faults(&wanted);
        assert!(faults.is_empty(), "round {round}: {}", faults.join("\n"));
        let again = plan_in(site.path(), &[]);
        assert!(again.changes().is_empty(), "round {round}: {:#}", again.document["changes"]);
        rrsets += wanted.values().map(BTreeMap::len).sum::<usize>();
    }
    assert!(rrsets > rounds * ZONES, "{rrsets}");
}

/// One RRset at a name of a zone.
pub fn one(zone: &str, label: &str, ttl: u64, value: &str) -> Rrsets {
    [((format!("{label}.{zone}."), "A"), (ttl, [value.to_owned()].into()))].into()
}

/// How many of our runs, and of other editors, write at once.
const WRITERS: usize = 6;

/// One key, twelve writers: six runs that each want another address, and six editors that compare as they write. The writer that
/// that it won is the one whose address is there.
#[test]
fn of_twelve_writers_at_once_one_wins_and_no_change_is_lost() {
    let Some(site) = Site::start(1) else { return };
    let rounds = std::env::var("RACE_ROUNDS").map_or(10, |rounds| rounds.parse().expect("a number"));
    let zone = site.zones[0].clone();
    site.state(&zone, &one(&zone, "a", 300, "192.0.2.1"));
    site.apply_all();
    let runs: Vec<TempDir> = (0..WRITERS).map(|_| another(site.path())).collect();
    let (mut ours, mut foreign) = (0, 0);
    for round in 0..rounds {
        let (key, _) = site.etcd.keys().into_iter().next().expect("there is one key");
        let revision = site.etcd.revision(&key);
        let plan = |(number, run): (usize, &TempDir)| {
            let _ = fs::remove_dir_all(run.path().join(".zonewright"));
            let stated = one(&zone, "a", 300, &format!("192.0.2.{}", 100 + (round % 10) * 12 + number));
            write_stated(run.path(), &zone, &stated);
            plan_in(run.path(), &[])
        };
        let plans: Vec<Planned> = runs.iter().enumerate().map(plan).collect();
        site.etcd
            .delete(&format!("/zonewright/skydns/example/{zone}/marker", zone = zone.trim_end_matches(".example")));
        let address = |number: usize| format!("192.0.2.{}", 100 + (round % 10) * 12 + number);
        let begin_runs = || -> Vec<Child> {
            let begin = |number: usize| {
                let mut command = apply_command(runs[number].path(), &plans[number].file, &[]);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
            };
            (0..WRITERS).map(begin).collect()
        };
        let begin_editors = || -> Vec<Child> {
            let begin = |number: usize| {
                let value = json!({"host": address(number), "ttl": 300, "targetstrip": 1}).to_string();
                let escaped = value.replace('"', "\\\"");
                let script = format!("mod(\"{key}\") = \"{revision}\"\n\nput {key} \"{escaped}\"\n\n\n");
                let pause = Duration::from_millis((round % 5 * 200 + (number - WRITERS) * 10) as u64);
                site.etcd.transaction(&script, pause)
            };
            (WRITERS..2 * WRITERS).map(begin).collect()
        };
        let has_edited =
            |editor: Child| text_of(&editor.wait_with_output().expect("a child").stdout).starts_with("SUCCESS");
        let winners = race(round, begin_runs, begin_editors, has_edited);
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let keys = site.etcd.keys();
        let there = coredns::answer(&keys, &zone, &format!("a.{zone}"), "A");
        assert_eq!(there, BTreeSet::from([format!("A 300 {}", address(winners[0].0))]), "round {round}");
        if winners[0].1 { ours += 1 } else { foreign += 1 }
    }
    eprintln!("{rounds} rounds: {ours} won by runs, {foreign} by other editors");
    assert!(rounds < 10 || ours > 0 && foreign > 0, "both win now and then: {ours}, {foreign}");
}

/// Every request of an apply meets every fault: what is not made at once is made by `resume` or by the next plan, and nothing twice.
#[test]
fn an_apply_whose_requests_meet_faults_is_completed() {
    let Some(site) = Site::start(2) else { return };
    let (mut dice, mut begun, mut completed) = (Dice(11), 0, 0);
    for fault in FAULTS {
        for at in 1.. {
            let wanted: BTreeMap<String, Rrsets> =
                site.zones.iter().map(|zone| (format!("{zone}."), random_rrsets(zone, &mut dice))).collect();
            wanted.iter().for_each(|(zone, stated)| site.state(zone.trim_end_matches('.'), stated));
            let plan = plan_in(site.path(), &[]);
            let way = Way::new(site.etcd.port, fault, at);
            let through = format!("type = \"etcd\"\nendpoints = \"http://127.0.0.1:{}\"\ntimeout = \"5s\"\n", way.port);
            site.configure(&through);
            let mut command = apply_command(site.path(), &plan.file, &[]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
            way.process.store(child.id() as usize, Ordering::SeqCst);
            let applied = Applied::new(child.wait_with_output().expect("a child"));
            let count = way.count.load(Ordering::SeqCst);
            // What is late may still come.
            thread::sleep(Duration::from_millis(if fault == HttpFault::Late { 200 } else { 0 }));
            site.configure(&site.etcd.target());
            let is_killed = applied.exit.is_none();
            if is_killed || applied.exit != Some(0) {
                let resumed = resume_in(site.path());
                assert!(!is_killed || resumed.exit == Some(0), "{fault:?} at {at}: {}", resumed.said());
                if resumed.exit == Some(0) && resumed.document["hosts"].as_array().is_some_and(|own| !own.is_empty()) {
                    begun += 1;
                    let faults = site.faults(&wanted);
                    assert!(faults.is_empty(), "{fault:?} at {at}: {}\n{}", faults.join("\n"), resumed.said());
                }
            } else {
                completed += 1;
                let faults = site.faults(&wanted);
                assert!(faults.is_empty(), "{fault:?} at {at}: {}\n{}", faults.join("\n"), applied.said());
            }
            site.apply_all();
            let faults = site.faults(&wanted);
            assert!(faults.is_empty(), "{fault:?} at {at}: {}", faults.join("\n"));
            if count < at {
                break;
            }
        }
    }
    assert!(begun > 3 && completed > 3, "{begun} were resumed, and {completed} ended by themselves");
}

#[test]
fn an_apply_that_is_killed_when_its_zone_is_made_is_completed_by_resume() {
    let mut resumed_with_zone = 0;
    for at in 1.. {
        let Some(site) = Site::start(1) else { return };
        let zone = site.zones[0].clone();
        site.state(&zone, &one(&zone, "www", 300, "192.0.2.1"));
        let plan = plan_in(site.path(), &[]);
        let way = Way::new(site.etcd.port, HttpFault::KilledAfter, at);
        site.configure(&format!("type = \"etcd\"\nendpoints = \"http://127.0.0.1:{}\"\n", way.port));
        let mut command = apply_command(site.path(), &plan.file, &[]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        way.process.store(child.id() as usize, Ordering::SeqCst);
        let applied = Applied::new(child.wait_with_output().expect("a child"));
        site.configure(&site.etcd.target());
        if applied.exit.is_some() {
            assert!(at > 4, "it makes few requests");
            break;
        }
        let has_zone = !site.etcd.keys().is_empty();
        let resumed = resume_in(site.path());
        assert_eq!(resumed.exit, Some(0), "{at}: {}", resumed.said());
        resumed_with_zone += usize::from(has_zone);
        site.apply_all();
        let wanted = BTreeMap::from([(format!("{zone}."), one(&zone, "www", 300, "192.0.2.1"))]);
        let faults = site.faults(&wanted);
        assert!(faults.is_empty(), "{at}: {}", faults.join("\n"));
    }
    assert!(resumed_with_zone > 1, "{resumed_with_zone}");
}

#[test]
fn an_apply_is_undone_to_the_last_key() {
    let Some(site) = Site::start(3) else { return };
    let mut dice = Dice(5);
    let mut state = |site: &Site| {
        site.zones.iter().for_each(|zone| site.state(zone, &random_rrsets(zone, &mut dice)));
        site.apply_all();
        site.etcd.keys()
    };
    let before = state(&site);
    assert_ne!(state(&site), before);
    let undone = quiet_in(site.path()).args(["undo", "2", "--yes"]).output().expect("it runs");
    assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
    assert_eq!(site.etcd.keys(), before);
}

#[test]
fn keys_of_others_are_kept_and_block_who_needs_their_names() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    let path = |rest: &str| format!("/skydns/example/z0/{rest}");
    let ours = json!({"host": "192.0.2.9", "ttl": 60, "targetstrip": 1, "text": "\"heritage=external-dns,external-dns/owner=x\""});
    site.etcd.put(&path("plain/0a0b0c0d"), &ours);
    site.etcd.put(&path("theirs/0a0b0c0d"), &json!({"host": "192.0.2.9", "ttl": 60, "targetstrip": 1, "owner": "x"}));
    site.etcd.put(
        &path("mail/0a0b0c0d"),
        &json!({"host": "mx.example.org", "mail": true, "priority": 10, "targetstrip": 1}),
    );
    site.etcd.put(&path("upper/lower/0a0b0c0d"), &json!({"host": "192.0.2.9", "targetstrip": 1}));
    let stated: Rrsets = ["plain", "theirs", "mail", "upper"]
        .into_iter()
        .flat_map(|label| one(&zone, label, 300, "192.0.2.1"))
        .collect();
    site.state(&zone, &stated);
    let plan = plan_in(site.path(), &[]);
    let blocked = plan.document["blocked"].as_array().expect("a list");
    let found: BTreeMap<&str, (&str, &str)> = blocked
        .iter()
        .map(|own| {
            (
                own["subject"].as_str().expect("text"),
                (own["code"].as_str().expect("text"), own["message"].as_str().expect("text")),
            )
        })
        .collect();
    let of = |label: &str| found.get(format!("record:static/{label}.z0.example.").as_str()).copied();
    assert_eq!(of("plain"), None, "{found:?}");
    assert!(
        of("theirs").is_some_and(|(code, message)| code == "opaque" && message.contains("the owner `x`")),
        "{found:?}"
    );
    assert!(of("mail").is_some_and(|(code, message)| code == "opaque" && message.contains("MX")), "{found:?}");
    assert!(
        of("upper").is_some_and(|(code, message)| code == "post-state" && message.contains("above `lower.upper")),
        "{found:?}"
    );
    let applied = apply_in(site.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    let keys = site.etcd.keys();
    for kept in ["theirs/0a0b0c0d", "mail/0a0b0c0d", "upper/lower/0a0b0c0d"] {
        assert!(keys.contains_key(&path(kept)), "{keys:?}");
    }
    assert_eq!(
        coredns::answer(&keys, &zone, &format!("plain.{zone}"), "A"),
        BTreeSet::from(["A 300 192.0.2.1".to_owned()])
    );

    // The owner of the target is that of the keys: now they are ours.
    site.configure(&format!("{}owner = \"x\"\n", site.etcd.target()));
    site.state(&zone, &one(&zone, "theirs", 300, "192.0.2.1"));
    site.apply_all();
    let keys = site.etcd.keys();
    let (_, value) = keys.iter().find(|(key, _)| key.starts_with(&path("theirs/"))).expect("it is there");
    assert!(value.contains("192.0.2.1") && value.contains("\"owner\":\"x\""), "{value}");
}

#[test]
fn the_owner_of_a_key_is_its_mark_and_a_text_of_external_dns_is_only_read() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    let file = site.path().join("zonewright.toml");
    let settings = fs::read_to_string(&file).expect("a file").replace("permission = \"full\"", "permission = \"own\"");
    fs::write(&file, settings.replacen("owner =", "registry = \"txt\"\nowner =", 1)).expect("a file");
    let path = |rest: &str| format!("/skydns/example/z0/{rest}/0a0b0c0d");
    let address = json!({"host": "192.0.2.9", "ttl": 300, "targetstrip": 1});
    let text = |owner: &str| json!({"text": format!("heritage=external-dns,external-dns/owner={owner}"), "ttl": 300, "targetstrip": 1});
    ["plain", "texted", "ours"].iter().for_each(|label| site.etcd.put(&path(label), &address));
    site.etcd.put(&path("theirs"), &json!({"host": "192.0.2.9", "ttl": 300, "targetstrip": 1, "owner": "x"}));
    site.etcd.put(&path("a-texted"), &text("x"));
    site.etcd.put(&path("a-ours"), &text("fleet-dns"));
    site.etcd.put(&path("a-taken"), &text("x"));
    let labels = ["plain", "texted", "ours", "theirs", "taken", "new"];
    let state = |labels: &[&str]| {
        site.state(&zone, &labels.iter().flat_map(|label| one(&zone, label, 300, "192.0.2.1")).collect());
    };
    let apply = || {
        let plan = plan_in(site.path(), &[]);
        let blocked = plan.document["blocked"].as_array().expect("a list");
        assert!(blocked.iter().all(|own| own["code"] == "not-owner"), "{blocked:?}");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let blocked: BTreeMap<String, String> =
            blocked.iter().map(|own| (text(&own["subject"]), text(&own["hint"]))).collect();
        let applied = apply_in(site.path(), &plan.file, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        blocked
    };
    /// What the one key of a name says.
    fn key_of(site: &Site, label: &str) -> Value {
        let keys = site.etcd.keys();
        let start = format!("/skydns/example/z0/{label}/");
        let mut own = keys.iter().filter(|(key, _)| key.starts_with(&start));
        let (_, value) = own.next().unwrap_or_else(|| panic!("no key of {label}: {keys:?}"));
        assert!(own.next().is_none(), "{keys:?}");
        serde_json::from_str(value).expect("JSON")
    }
    let subject = |label: &str| format!("record:static/{label}.z0.example.");

    state(&labels);
    let blocked = apply();
    assert_eq!(
        blocked.keys().cloned().collect::<Vec<_>>(),
        ["ours", "plain", "taken", "texted", "theirs"].map(subject)
    );
    for (label, hint) in [
        ("theirs", "adopt --from-owner x"),
        ("texted", "adopt --from-owner x"),
        ("ours", "adopt --from-owner fleet-dns"),
        ("taken", "remove it by hand"),
    ] {
        assert!(blocked[&subject(label)].contains(hint), "{label}: {blocked:?}");
    }
    assert_eq!(key_of(&site, "new")["owner"], "fleet-dns");
    assert_eq!(key_of(&site, "ours")["host"], "192.0.2.9", "a TXT makes nothing ours");
    assert!(!site.etcd.keys().keys().any(|key| key.contains("/a-new/")), "no TXT is written");

    for from in ["x", "fleet-dns"] {
        let adopted = site.path().join(format!("{from}.json"));
        let mut command = quiet_in(site.path());
        let output = command.args(["adopt", "--from-owner", from, "--out"]).arg(&adopted).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}{}", text_of(&output.stdout), text_of(&output.stderr));
        let applied = apply_in(site.path(), &adopted, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
    }
    for label in ["theirs", "texted", "ours"] {
        let key = key_of(&site, label);
        assert_eq!((&key["owner"], &key["host"]), (&json!("fleet-dns"), &json!("192.0.2.9")), "{label}");
    }
    assert_eq!(key_of(&site, "a-texted"), text("x"), "the TXT is only read");

    assert_eq!(apply().into_keys().collect::<Vec<_>>(), ["plain", "taken"].map(subject));
    for label in ["theirs", "texted", "ours"] {
        let key = key_of(&site, label);
        assert_eq!((&key["owner"], &key["host"]), (&json!("fleet-dns"), &json!("192.0.2.1")), "{label}");
    }
    state(&["plain", "taken"]);
    apply();
    let left: BTreeSet<String> = site.etcd.keys().into_keys().filter(|key| key.starts_with("/skydns/")).collect();
    let kept = ["a-ours", "a-taken", "a-texted", "plain"].map(path);
    assert_eq!(left, BTreeSet::from(kept));

    // The TXT that stays makes nothing ours, and no file may write another one.
    site.etcd.put(&path("ours"), &address);
    assert_eq!(apply().into_keys().collect::<Vec<_>>(), ["plain", "taken"].map(subject));
    assert_eq!(key_of(&site, "ours"), address);
    let forged = "heritage=external-dns,external-dns/owner=fleet-dns".to_owned();
    site.state(&zone, &[((format!("a-plain.{zone}."), "TXT"), (300, [forged].into()))].into());
    let plan = plan_in(site.path(), &[]);
    assert_eq!((plan.changes().len(), &plan.document["blocked"][0]["code"]), (0, &json!("claim-conflict")));
}

#[test]
fn a_dns_update_record_takes_over_the_keys_of_another_owner() {
    let Some(etcd) = Etcd::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let write = |name: &str, text: &str| {
        let file = path.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    };
    let settings = SETTINGS.split("[[sources.records]]").next().expect("a part");
    write(
        "zonewright.toml",
        &format!(
            "{settings}dns_update_records = \"records/*.yaml\"\nrecord_lists = [\"logical-clouds/*.yaml\"]\napps = \"apps/*.yaml\"\n\
             [project.p]\ndns_domain = \"example\"\nautomation = \"allowed\"\n[limits]\nmax_loss = \"100%\"\n\
             [dns_update_record.edge]\nproject = \"p\"\nendpoints = [\"{}\"]\nzones = [\"z0.example\"]\n",
            etcd.url()
        ),
    );
    write("p.yaml", PROJECT);
    write(
        "records/edge.yaml",
        "metadata: {name: edge}\nspec:\n  provider: coredns\n  external-dns-parameters:\n    policy: sync\n    registry: txt\n    \
         txt-owner-id: edge\n",
    );
    write("logical-clouds/lc1.yaml", "metadata: {name: names}\nspec: {kv: [{dns: edge}]}\n");
    write(
        "apps/shop.yaml",
        "app: shop\nbundle: b\nversion: v1\nprofile: prod\nnamespace: shop\nlogical_cloud: lc1\nservices:\n  - name: web\n    \
         hostnames: [www.z0.example]\n    ttl: 60\n    addresses: [{cluster: c1, scope: public, ips: [192.0.2.1]}]\n",
    );
    let key = "/skydns/example/z0/www/0a0b0c0d";
    let value = json!({"host": "192.0.2.9", "ttl": 60, "targetstrip": 1, "owner": "external-dns"});
    etcd.put(key, &value);
    let plan = plan_in(path, &[]);
    let blocked = plan.document["blocked"].to_string();
    assert!(blocked.contains("not-owner") && blocked.contains("adopt --from-owner external-dns"), "{blocked}");

    let adopted = path.join("adopted.json");
    let output = quiet_in(path)
        .args(["adopt", "--from-owner", "external-dns", "--out"])
        .arg(&adopted)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}{}", text_of(&output.stdout), text_of(&output.stderr));
    let applied = apply_in(path, &adopted, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    let held = || -> BTreeMap<String, Value> {
        let keys = etcd.keys().into_iter().filter(|(key, _)| key.starts_with("/skydns/"));
        keys.map(|(key, value)| (key, serde_json::from_str(&value).expect("JSON"))).collect()
    };
    let mut ours = value;
    ours["owner"] = json!("edge");
    assert_eq!(held(), BTreeMap::from([(key.to_owned(), ours)]), "the owner alone is another");

    let plan = plan_in(path, &[]);
    assert_eq!(plan.document["blocked"], json!([]));
    let applied = apply_in(path, &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    let values: Vec<Value> = held().into_values().collect();
    assert_eq!((values.len(), &values[0]["host"], &values[0]["owner"]), (1, &json!("192.0.2.1"), &json!("edge")));
    let output = quiet_in(path).args(["explain", "192.0.2.1"]).output().expect("it runs");
    let said = text_of(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("www.z0.example., ttl 60: a name in a zone of the record `edge`"), "{said}");
    assert!(said.contains("www.z0.example. A 192.0.2.1 ttl 60"), "{said}");
    write(
        "apps/shop.yaml",
        "app: shop\nbundle: b\nversion: v1\nprofile: prod\nnamespace: shop\nlogical_cloud: lc1\nservices: []\n",
    );
    let plan = plan_in(path, &[]);
    let applied = apply_in(path, &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    assert_eq!(held(), BTreeMap::new(), "what was taken over goes with its app");
}

#[test]
fn a_name_below_another_is_blocked_before_coredns_mixes_them() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    let both: Rrsets =
        [one(&zone, "a", 300, "192.0.2.1"), one(&zone, "x.a", 300, "192.0.2.2")].into_iter().flatten().collect();
    site.state(&zone, &both);
    let plan = plan_in(site.path(), &[]);
    let blocked = plan.document["blocked"].to_string();
    assert!(blocked.contains("post-state") && blocked.contains("whose target answers with both"), "{blocked}");
    let applied = apply_in(site.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    let keys = site.etcd.keys();
    assert_eq!(
        coredns::answer(&keys, &zone, &format!("a.{zone}"), "A"),
        BTreeSet::from(["A 300 192.0.2.1".to_owned()])
    );
    // A key that a person wrote by hand, without a label of its own, is the record of a name below.
    site.etcd
        .put(&format!("/skydns/example/{}/b/x1", zone.trim_end_matches(".example")), &json!({"host": "192.0.2.5"}));
    site.state(&zone, &one(&zone, "b", 300, "192.0.2.6"));
    let blocked = plan_in(site.path(), &[]).document["blocked"].to_string();
    assert!(blocked.contains(&format!("would be above `x1.b.{zone}.`, and its target answers with both")), "{blocked}");
}

/// What no key can say is blocked in the plan, and the rest is applied.
#[test]
fn what_no_key_says_is_blocked_in_the_plan() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    let wrong = "any: {type: A, value: 192.0.2.1}
'*': {type: A, value: 192.0.2.1}
m: {type: MX, value: {preference: 10, exchange: m.example.org.}}
p: {type: PTR, value: a.example.org.}
soon: {type: A, ttl: 0, value: 192.0.2.1}
empty: {type: TXT, value: ''}
right: {type: TXT, value: a text}
";
    fs::write(site.path().join(format!("octo/{zone}.yaml")), wrong).expect("a file");
    let plan = plan_in(site.path(), &[]);
    let blocked = plan.document["blocked"].as_array().expect("a list");
    let of = |own: &Value| (text(own, "subject"), text(own, "code"));
    let found: BTreeSet<(String, String)> = blocked.iter().map(of).collect();
    let names = ["any", "*", "m", "p", "soon", "empty"];
    let expected = names.map(|name| (format!("record:static/{name}.{zone}."), "target-limit".to_owned()));
    assert_eq!(found, expected.into(), "{blocked:#?}");
    let applied = apply_in(site.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    let keys = site.etcd.keys();
    assert_eq!(keys.len(), 1, "{keys:?}");
}

/// A text of an object.
fn text(own: &Value, key: &str) -> String {
    own[key].as_str().expect("a text").to_owned()
}

/// One plan for a BIND and an etcd: both follow.
#[test]
fn a_pool_of_bind_and_etcd_follows_one_plan() {
    let Some(site) = Site::start(1) else { return };
    let zone = site.zones[0].clone();
    let key = Key::new("zonewright");
    let text =
        "$TTL 60\n@ SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n@ NS ns.example.org.\n".to_owned();
    let config = ServerConfig { keys: vec![key.clone()], zones: vec![(zone.clone(), text)], ..ServerConfig::default() };
    let Some(bind) = Server::start(Kind::Bind, &config) else { return };
    key.write_secret(site.path());
    let targets = format!(
        "name = \"bind\"\n{}{}[[pool.main.target]]\nname = \"coredns\"\n{}",
        bind.target(),
        key.setting(),
        site.etcd.target()
    );
    site.configure(&targets);
    let mut dice = Dice(3);
    for _ in 0..3 {
        let stated = random_rrsets(&zone, &mut dice);
        site.state(&zone, &stated);
        site.apply_all();
        let faults = site.faults(&[(format!("{zone}."), stated.clone())].into());
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        let read = transfer(&bind.address(), Some(&key), &zone).expect("BIND answers");
        let is_ours =
            |line: &String| !line.contains(" SOA ") && !line.contains(" NS ") && !line.starts_with("_zonewright.");
        let held = lines(&read).into_iter().filter(is_ours).count();
        assert_eq!(held, stated.values().map(|(_, values)| values.len()).sum::<usize>());
        assert!(plan_in(site.path(), &[]).changes().is_empty());
    }
}

#[test]
fn doctor_looks_at_an_etcd_and_says_what_is_wrong() {
    let Some(site) = Site::start(1) else { return };
    let doctor = || {
        let output = quiet_in(site.path()).args(["doctor"]).output().expect("it runs");
        let said = text_of(&output.stdout) + &text_of(&output.stderr);
        (output.status.code(), said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    site.state(&site.zones[0], &one(&site.zones[0], "a", 300, "192.0.2.1"));
    site.apply_all();
    let (exit, said) = doctor();
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("takes updates") && said.contains("takes connections"), "{said}");
    site.configure("type = \"etcd\"\nendpoints = \"http://127.0.0.1:9\"\n");
    let (exit, said) = doctor();
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("check that etcd runs"), "{said}");
    site.configure(&format!("{}prefix = \"elsewhere\"\n", site.etcd.target()));
    let (_, said) = doctor();
    assert!(said.contains("the target has no such zone now"), "{said}");
}

/// Hosts with their PTR, in a forward and a reverse zone that are made.
#[test]
fn a_fleet_of_hosts_is_published_in_etcd() {
    let Some(etcd) = Etcd::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let fleet = PlantedFleet::without_blocked(40, 1);
    fleet.write(folder.path(), &format!("[[pool.main.target]]\n{}", etcd.target()));
    let apex = "create = true\n[zone.apex]\nns = [\"ns1.example.org\"]\nmname = \"ns1.example.org\"\nrname = \"h@example.org\"\n";
    for zone in ["name = \"example.net\"\n", "network = \"2a02:6b8::/48\"\n"] {
        let rest = "pool = \"main\"\npermission = \"full\"\n";
        edit(folder.path(), &format!("{zone}{rest}"), &format!("{zone}{rest}{apex}"));
    }
    apply_in(folder.path(), &plan_in(folder.path(), &[]).file, &[]).assert_all(0, "applied");
    let keys = etcd.keys();
    for host in fleet.published() {
        let (name, address) = (planted::name(host), planted::acceptable(host)[0]);
        let forward = coredns::answer(&keys, "example.net", name.trim_end_matches('.'), "AAAA");
        assert_eq!(forward, BTreeSet::from([format!("AAAA 600 {address}")]));
        let reverse = planted::reverse(address);
        let pointer = coredns::answer(&keys, "0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa", reverse.trim_end_matches('.'), "PTR");
        assert_eq!(pointer, BTreeSet::from([format!("PTR 600 {name}")]));
    }
    assert_eq!(keys.len(), 80);
    assert!(plan_in(folder.path(), &[]).changes().is_empty());
}
