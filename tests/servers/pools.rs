//! One pool with BIND, Knot and PowerDNS: what an apply and an undo do at each, and what one that is dead lacks.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use zonewright::state::{self, StateAddress};

use crate::client::{lines, transfer};
use crate::rig::{Applied, apply_in, key_of, plan_in, quiet_in};
use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{demo_zones, edit, reading_from};

/// The names of the targets, in the order of the settings.
const NAMES: [&str; 3] = ["bind", "knot", "pdns"];

/// Three servers with the demo's zones, and a workspace whose one pool they are.
struct Three {
    /// Their key.
    key: Key,
    /// BIND, Knot and PowerDNS.
    servers: [Server; 3],
    /// The workspace.
    workspace: TempDir,
}

impl Three {
    /// Starts them, with a threshold in percent; `None` where one is not installed.
    fn start(threshold: u32) -> Option<Three> {
        let key = Key::new("zonewright");
        let configs = [0, 1, 2].map(|_| demo_zones(&key));
        Three::start_with(threshold, configs)
    }

    /// Starts them with these zones.
    fn start_with(threshold: u32, [bind, knot, pdns]: [ServerConfig; 3]) -> Option<Three> {
        let key = bind.keys[0].clone();
        let servers = [
            Server::start(Kind::Bind, &bind)?,
            Server::start(Kind::Knot, &knot)?,
            Server::start(Kind::PowerDns, &pdns)?,
        ];
        let workspace = reading_from(&[servers[0].address()], &key);
        let (head, signed) = ("[[pool.demo.target]]\n", key.setting());
        let first = format!("[pool.demo]\nthreshold_percentage = {threshold}\n{head}name = \"bind\"\n");
        edit(workspace.path(), head, &first);
        let others = [1, 2].map(|place| {
            let (name, address) = (NAMES[place], servers[place].address());
            format!("{head}name = \"{name}\"\ntype = \"rfc2136\"\nserver = \"{address}\"\n{signed}")
        });
        edit(workspace.path(), &signed, &format!("{signed}{}", others.concat()));
        Some(Three { key, servers, workspace })
    }

    /// The records of all zones of a server, but for those that differ between servers by themselves.
    fn records(&self, place: usize) -> BTreeSet<String> {
        let zones = demo_zones(&self.key).zones;
        let read = zones.iter().flat_map(|(zone, _)| {
            let read = transfer(&self.servers[place].address(), Some(&self.key), zone).expect("the server answers");
            lines(&read)
        });
        read.filter(|line| !line.contains(" SOA ") && !line.starts_with("_zonewright.")).collect()
    }

    /// The same of all.
    fn all_records(&self) -> [BTreeSet<String>; 3] {
        [0, 1, 2].map(|place| self.records(place))
    }
}

/// The document of a command that asks nothing of DNS.
fn document(workspace: &Path, args: &[&str]) -> Value {
    let output = quiet_in(workspace).args(args).args(["--format", "json"]).output().expect("the program runs");
    serde_json::from_slice(&output.stdout).expect("a document")
}

/// The targets to which the updates of an apply were sent.
fn sent_to(workspace: &Path, apply: &str) -> BTreeSet<String> {
    let history = document(workspace, &["history", apply]);
    let updates = history["applies"][0]["updates"].as_array().expect("a list");
    updates.iter().map(|update| update["target"].as_str().expect("a target").to_owned()).collect()
}

#[test]
fn an_apply_changes_all_targets_and_an_undo_puts_all_back() {
    let Some(three) = Three::start(100) else { return };
    let workspace = three.workspace.path();
    let before = three.all_records();
    let plan = plan_in(workspace, &[]);
    apply_in(workspace, &plan.file, &[]).assert_all(0, "applied");
    let after = three.all_records();
    assert_ne!(after[0], before[0]);
    assert_eq!((&after[1], &after[2]), (&after[0], &after[0]));
    assert_eq!(sent_to(workspace, "1"), NAMES.map(str::to_owned).into());
    apply_in(workspace, &plan.file, &[]).assert_all(0, "already-applied");

    let mut undo = quiet_in(workspace);
    let undone = Applied::new(undo.args(["undo", "1", "--yes", "--format", "json"]).output().expect("it runs"));
    undone.assert_all(0, "applied");
    assert_eq!(three.all_records(), before);
    assert_eq!(sent_to(workspace, "2"), NAMES.map(str::to_owned).into());
}

#[test]
fn a_dead_target_lacks_what_the_others_get_or_stops_them() {
    for threshold in [66, 100] {
        let Some(three) = Three::start(threshold) else { return };
        let plan = plan_in(three.workspace.path(), &[]);
        let before = three.records(0);
        let Three { key, servers: [bind, knot, pdns], workspace } = three;
        drop(knot);
        let path = workspace.path();
        let applied = apply_in(path, &plan.file, &[]);
        let servers = [bind, pdns];
        let records = |place: usize| -> BTreeSet<String> {
            let zones = demo_zones(&key).zones;
            let read = |zone: &str| transfer(&servers[place].address(), Some(&key), zone).expect("it answers");
            let lines = zones.iter().flat_map(|(zone, _)| lines(&read(zone)));
            lines.filter(|line| !line.contains(" SOA ") && !line.starts_with("_zonewright.")).collect()
        };
        if threshold == 100 {
            assert_eq!(applied.exit, Some(1), "{}", applied.said());
            let message = applied.document["hosts"][0]["message"].as_str().expect("a message");
            assert!(message.contains("error[no-consensus]"), "{message}");
            assert_eq!((records(0), records(1)), (before.clone(), before));
            continue;
        }
        applied.assert_all(0, "applied");
        assert_eq!(records(0), records(1));
        assert_ne!(records(0), before);
        assert_eq!(applied.document["hosts"][0]["lacks"][0]["target"], "knot", "{}", applied.said());
        let lacks = lacks(path);
        assert_eq!(lacks.len(), plan.changes().len());
        assert!(lacks.iter().all(|lack| lack.copy.target.name == "knot" && lack.why.contains("connect-failed")));
    }
}

#[test]
fn what_a_target_lacks_that_was_away_comes_with_sync() {
    let Some(three) = Three::start(66) else { return };
    let path = three.workspace.path();
    let knot = three.servers[1].address();
    edit(path, &format!("server = \"{knot}\"\n"), &format!("server = \"{knot}\"\ntimeout = \"1s\"\n"));
    let (plan, before) = (plan_in(path, &[]), three.all_records());
    three.servers[1].signal("-STOP");
    let applied = apply_in(path, &plan.file, &[]);
    applied.assert_all(0, "applied");
    assert_eq!(applied.document["hosts"][0]["lacks"][0]["target"], "knot", "{}", applied.said());
    assert_eq!(three.records(0), three.records(2));
    let sync = || {
        let output = quiet_in(path).arg("sync").output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (exit, said) = sync();
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.starts_with("Targets still lack changes: 0 changes made"), "{said}");
    three.servers[1].signal("-CONT");
    let (exit, said) = sync();
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.starts_with("Targets have what they lacked: "), "{said}");
    assert_eq!(three.records(1), three.records(0));
    assert!(lacks(path).is_empty());
    let (exit, said) = sync();
    assert_eq!((exit, said.as_str()), (Some(0), "Nothing to do: every server serves the last changes.\n"));

    // What `sync` made of the apply is undone with it.
    let undone = quiet_in(path).args(["undo", "1", "--yes", "--format", "json"]).output().expect("it runs");
    Applied::new(undone).assert_all(0, "applied");
    assert_eq!(three.all_records(), before);
}

/// What the state says that targets lack.
fn lacks(workspace: &Path) -> Vec<state::LackedChange> {
    let address = StateAddress::of_file(&workspace.join(".zonewright"), "state.db");
    let state = state::open_to_read(&address).expect("it is readable").expect("it is there");
    state.lacks().expect("they are readable")
}

/// Plants differences in the zone files of one server: each of some records of hosts goes, or gets another TTL or address.
fn plant(config: &mut ServerConfig, seed: usize) {
    for (_, text) in &mut config.zones {
        let lines: Vec<&str> = text.lines().collect();
        let is_alone = |place: usize| lines.get(place + 1).is_none_or(|next| !next.starts_with([' ', '\t']));
        let mut planted = String::new();
        for (place, line) in lines.iter().enumerate() {
            let is_host = line.contains(" AAAA ") && !line.starts_with([' ', '\t', ';', '@']) && is_alone(place);
            match (place * 7 + seed * 13) % 29 {
                0 if is_host => {}
                1 if is_host => planted += &format!("{}f1\n", &line[..line.rfind(':').expect("an address") + 1]),
                2 if is_host && line.split_whitespace().nth(1) == Some("AAAA") => {
                    planted += &(line.replacen(" AAAA ", " 77 AAAA ", 1) + "\n");
                }
                _ => planted += &format!("{line}\n"),
            }
        }
        planted += &format!("only-{seed} TXT \"unclaimed\"\n");
        *text = planted;
    }
}

#[test]
fn copies_with_planted_differences_come_to_hold_the_same() {
    let key = Key::new("zonewright");
    let config = |seed| {
        let mut config = demo_zones(&key);
        plant(&mut config, seed);
        config
    };
    let Some(three) = Three::start_with(100, [config(1), config(2), config(3)]) else { return };
    let path = three.workspace.path();
    let before = three.all_records();
    let plan = plan_in(path, &[]);
    let changes = plan.document["changes"].as_array().expect("a list");
    let brings_in_line = |change: &&Value| text_of_rules(change).contains("copy-differs");
    assert!(changes.iter().filter(brings_in_line).count() > 10, "the plan brings copies in line");
    let applied = apply_in(path, &plan.file, &[]);
    applied.assert_all(0, "applied");
    let after = three.all_records();
    for (place, name) in NAMES.iter().enumerate() {
        let is_for = |change: &Value| change["targets"].as_array().is_none_or(|own| own.iter().any(|own| own == name));
        let changed: BTreeSet<(String, String)> =
            changes.iter().filter(|change| is_for(change)).map(key_of_change).collect();
        let rest = |records: &BTreeSet<String>| -> BTreeSet<String> {
            records.iter().filter(|line| !changed.contains(&key_of(line))).cloned().collect()
        };
        assert_eq!(rest(&before[place]), rest(&after[place]), "{name}: what no change is about stays");
    }
    let claimed: BTreeSet<(String, String)> = changes.iter().filter(|own| adds(own)).map(key_of_change).collect();
    let held = |records: &BTreeSet<String>| -> BTreeSet<String> {
        records.iter().filter(|line| claimed.contains(&key_of(line))).cloned().collect()
    };
    assert_eq!((held(&after[1]), held(&after[2])), (held(&after[0]), held(&after[0])));
    let again = plan_in(path, &[]);
    assert_eq!(again.changes().len(), 0, "{:?}", again.changes());
}

/// The rules of a change, as one text.
fn text_of_rules(change: &Value) -> String {
    change["reasons"].to_string()
}

/// Whether a change is about what a subject asks for.
fn adds(change: &Value) -> bool {
    text_of_rules(change).contains("\"missing")
}

/// The owner name and type of a change.
fn key_of_change(change: &Value) -> (String, String) {
    let text = |field: &str| change[field].as_str().expect("a text").to_owned();
    (text("name"), text("type"))
}
