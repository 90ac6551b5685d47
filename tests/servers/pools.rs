//! One pool with BIND, Knot and PowerDNS: what an apply and an undo do at each, and what one that is dead lacks.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use zonewright::state::{self, StateAddress};

use crate::client::{lines, transfer};
use crate::rig::{Applied, NOW, apply_in, plan_in};
use crate::server::{Key, Kind, Server};
use crate::workspace::{demo_zones, edit, reading_from, zonewright};

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
        let start = |kind| Server::start(kind, &demo_zones(&key));
        let servers = [start(Kind::Bind)?, start(Kind::Knot)?, start(Kind::PowerDns)?];
        let workspace = reading_from(&[servers[0].address()], &key);
        let (head, signed) = ("[[pool.demo.target]]\n", key_text(&key));
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

/// What a target says of its key.
fn key_text(key: &Key) -> String {
    format!("tsig_key = {{ name = \"{}\", algorithm = \"{}\", secret_file = \"secret\" }}\n", key.name, key.algorithm)
}

/// The document of a command that asks nothing of DNS.
fn document(workspace: &Path, args: &[&str]) -> Value {
    let mut command = zonewright();
    command.args(["-q", "--color", "never", "--now", NOW, "-C"]).arg(workspace).args(args);
    let output = command.args(["--format", "json"]).output().expect("the program runs");
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

    let mut undo = zonewright();
    undo.args(["-q", "--color", "never", "--now", NOW, "-C"]).arg(workspace);
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
        let address = StateAddress::of_file(&path.join(".zonewright"), "state.db");
        let lacks = state::open_to_read(&address).expect("it is readable").expect("it is there").lacks();
        let lacks = lacks.expect("it is readable");
        assert_eq!(lacks.len(), plan.changes().len());
        assert!(lacks.iter().all(|lack| lack.copy.target.name == "knot" && lack.why.contains("connect-failed")));
    }
}
