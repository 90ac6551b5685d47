//! Zones that zonewright makes, lists in catalogs and deletes, on BIND, Knot and PowerDNS.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::client::{lines, transfer};
use crate::maker::{CATALOG, Maker};
use crate::planted::{FORWARD, PlantedFleet, REVERSE};
use crate::proxy::wait_until;
use crate::rig::{Planned, apply_command, apply_in, plan_in, quiet_in, text_of};
use crate::server::{Key, Kind};
use crate::workspace::edit;

/// How many hosts the fleet has.
const HOSTS: usize = 6;

/// A zone without hosts.
pub const SPARE: &str = "spare.example";

/// The name servers and the SOA of each zone that is made.
const APEX: &str = "create = true\n[zone.apex]\nns = [\"ns1.example.org\", \"ns2.example.org\"]\n\
                    mname = \"ns1.example.org\"\nrname = \"hostmaster@example.org\"\n";

/// Servers that make zones, and a workspace whose one pool they are. None has a zone of the workspace yet.
pub struct Makers {
    /// The servers.
    pub makers: Vec<Maker>,
    /// The workspace.
    workspace: TempDir,
    /// The key of all.
    pub key: Key,
}

impl Makers {
    /// Starts servers of these kinds; `None` where one is not installed.
    pub fn start(kinds: &[Kind]) -> Option<Makers> {
        let key = Key::new("zonewright");
        let makers: Option<Vec<Maker>> = kinds.iter().map(|kind| Maker::start(*kind, &key)).collect();
        let workspace = tempfile::tempdir().expect("a folder");
        key.write_secret(workspace.path());
        let makers = Makers { makers: makers?, workspace, key };
        makers.configure("");
        Some(makers)
    }

    /// Writes the settings of the workspace; these lines follow its targets.
    pub fn configure(&self, more: &str) {
        let targets: String =
            self.makers.iter().enumerate().map(|(place, maker)| maker.target(&name(place), &self.key)).collect();
        let spare = format!("[[zone]]\nname = \"{SPARE}\"\npool = \"main\"\npermission = \"full\"\n{APEX}");
        let pool = format!("catalog = \"{CATALOG}\"\n{more}{targets}{spare}");
        PlantedFleet::without_blocked(HOSTS, 1).write(self.path(), &pool);
        for zone in ["name = \"example.net\"\n", "network = \"2a02:6b8::/48\"\n"] {
            let rest = "pool = \"main\"\npermission = \"full\"\n";
            edit(self.path(), &format!("{zone}{rest}"), &format!("{zone}{rest}{APEX}"));
        }
    }

    /// The folder of the workspace.
    pub fn path(&self) -> &Path {
        self.workspace.path()
    }

    /// The records of a zone at a server, but for its SOA and its marker; `None` where the server lacks the zone.
    pub fn records(&self, place: usize, zone: &str) -> Option<BTreeSet<String>> {
        let read = transfer(&self.makers[place].server.address(), Some(&self.key), zone).ok()?;
        let is_own = |line: &String| !line.contains(" SOA ") && !line.starts_with("_zonewright.");
        Some(lines(&read).into_iter().filter(is_own).collect())
    }

    /// The zones that the catalog of a server lists.
    pub fn listed(&self, place: usize) -> BTreeSet<String> {
        let records = self.records(place, CATALOG).expect("the catalog is there").into_iter();
        records.filter_map(|line| Some(line.split_once(" PTR ")?.1.to_owned())).collect()
    }

    /// Closes the zone without hosts.
    pub fn close_spare(&self) {
        let open = format!("name = \"{SPARE}\"\npool = \"main\"\npermission = \"full\"\n{APEX}");
        edit(self.path(), &open, &format!("name = \"{SPARE}\"\npool = \"main\"\nstate = \"absent\"\n"));
    }

    /// Runs a command of the program in the workspace.
    fn run(&self, args: &[&str]) -> Output {
        quiet_in(self.path()).args(args).output().expect("the program runs")
    }
}

/// The name of a target.
fn name(place: usize) -> String {
    format!("t{place}")
}

/// What a plan does to zones: action, target and zone.
fn zone_changes(plan: &Planned) -> BTreeSet<(String, String, String)> {
    let text = |change: &Value, key: &str| change[key].as_str().expect("text").to_owned();
    let changes = plan.document["zone_changes"].as_array().into_iter().flatten();
    changes.map(|change| (text(change, "action"), text(change, "target"), text(change, "zone"))).collect()
}

/// Every kind that makes zones.
const KINDS: [Kind; 3] = [Kind::Bind, Kind::Knot, Kind::PowerDns];

#[test]
fn zones_are_made_listed_and_deleted_at_each_of_three_targets() {
    let Some(makers) = Makers::start(&KINDS) else { return };
    let plan = plan_in(makers.path(), &[]);
    let zones = [FORWARD, REVERSE, "spare.example."];
    let all = |action: &str, zones: &[&str]| -> BTreeSet<(String, String, String)> {
        let of_zone = |zone: &&str| (0..3).map(|place| (action.to_owned(), name(place), (*zone).to_owned())).collect();
        zones.iter().flat_map(|zone| -> Vec<_> { of_zone(zone) }).collect()
    };
    assert_eq!(zone_changes(&plan), all("CREATE", &zones));
    apply_in(makers.path(), &plan.file, &[]).assert_all(0, "applied");
    for place in 0..3 {
        let forward = makers.records(place, "example.net").expect("it was made");
        let names: BTreeSet<&String> = forward.iter().filter(|line| line.contains(" AAAA ")).collect();
        assert_eq!(names.len(), HOSTS, "{forward:?}");
        assert!(forward.contains("example.net. 3600 NS ns1.example.org."), "{forward:?}");
        assert_eq!(forward, makers.records(0, "example.net").expect("it was made"));
        let listed: BTreeSet<String> = zones.iter().map(|zone| (*zone).to_owned()).collect();
        assert_eq!(makers.listed(place), listed);
    }
    let again = plan_in(makers.path(), &[]);
    assert_eq!((zone_changes(&again), again.changes().len()), (BTreeSet::new(), 0));

    // One copy gets a record of another editor, so that it stays.
    makers.close_spare();
    makers.makers[1].delete(SPARE);
    makers.makers[1].create(SPARE, "@ 60 SOA ns1.example.org. a. 1 1 1 1 1\n@ 60 NS ns1.example.org.\nkept 60 TXT x\n");
    let plan = plan_in(makers.path(), &[]);
    let two = all("DELETE", &["spare.example."]).into_iter().filter(|(_, target, _)| target != "t1").collect();
    assert_eq!(zone_changes(&plan), two);
    assert!(plan.document["notices"].to_string().contains("\"zone-kept\""), "{}", plan.document["notices"]);
    let left = apply_in(makers.path(), &plan.file, &[]);
    assert_eq!(left.exit, Some(0), "{}", left.said());
    assert!((0..3).all(|place| makers.records(place, SPARE).is_some()), "it is not deleted without leave");
    let deleted = apply_in(makers.path(), &plan.file, &["--allow", "zone-delete:spare.example.=1"]);
    assert_eq!(deleted.exit, Some(0), "{}", deleted.said());
    let is_there = [0, 1, 2].map(|place| makers.records(place, SPARE).is_some());
    assert_eq!(is_there, [false, true, false], "{}", deleted.said());
    let is_listed = [0, 1, 2].map(|place| makers.listed(place).contains("spare.example."));
    assert_eq!(is_listed, [false, true, false]);
}

#[test]
fn a_zone_that_was_there_is_not_made_anew_without_leave() {
    for kind in KINDS {
        let Some(makers) = Makers::start(&[kind]) else { return };
        let plan = plan_in(makers.path(), &[]);
        apply_in(makers.path(), &plan.file, &[]).assert_all(0, "applied");
        makers.makers[0].delete("example.net");
        let refused = makers.run(&["plan"]);
        let said = text_of(&refused.stdout) + &text_of(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{kind:?}: {said}");
        assert!(said.contains("[zone-gone]"), "{kind:?}: {said}");
        let allow = ["--allow", "zone-create:example.net.=1"];
        let plan = plan_in(makers.path(), &allow);
        assert_eq!(zone_changes(&plan).len(), 1, "{kind:?}");
        apply_in(makers.path(), &plan.file, &allow).assert_all(0, "applied");
        assert!(makers.records(0, "example.net").expect("it is there").len() > HOSTS, "{kind:?}");
    }
}

#[test]
fn a_server_that_cannot_be_asked_lacks_no_zone() {
    for kind in KINDS {
        let Some(makers) = Makers::start(&[kind]) else { return };
        let plan = plan_in(makers.path(), &[]);
        apply_in(makers.path(), &plan.file, &[]).assert_all(0, "applied");
        // The state would protect zones that it has seen.
        fs::remove_dir_all(makers.path().join(".zonewright")).expect("the state");
        let secret = fs::read_to_string(makers.path().join("secret")).expect("the secret");
        let unknown = |what: &str| {
            let plan = makers.run(&["plan", "--format", "json"]);
            let document: Value = serde_json::from_slice(&plan.stdout).expect("a plan");
            assert_eq!(plan.status.code(), Some(1), "{kind:?} {what}: {document:#}");
            assert_eq!(document.get("zone_changes"), None, "{kind:?} {what}");
        };
        fs::write(makers.path().join("secret"), "d3Jvbmc=").expect("the secret");
        unknown("a wrong secret");
        fs::write(makers.path().join("secret"), secret).expect("the secret");
        let settings = fs::read_to_string(makers.path().join("zonewright.toml")).expect("the settings");
        let file = makers.path().join("zonewright.toml");
        fs::write(&file, settings.replace("name = \"zonewright\"", "name = \"stranger\"")).expect("the settings");
        unknown("an unknown key");
        let timeout = settings.replace("type = \"rfc2136\"\n", "type = \"rfc2136\"\ntimeout = \"1s\"\n");
        fs::write(&file, timeout).expect("the settings");
        makers.makers[0].server.signal("-STOP");
        unknown("a silent server");
        makers.makers[0].server.signal("-CONT");
        makers.makers[0].server.kill();
        unknown("no server");
    }
}

#[test]
fn an_apply_that_is_killed_while_a_zone_is_made_is_taken_up() {
    for kind in KINDS {
        // Before the command does anything, and after it made the zone.
        for is_before in [true, false] {
            let Some(makers) = Makers::start(&[kind]) else { return };
            let begun = makers.path().join("begun");
            let wait = format!("touch {}; sleep 2\n", begun.display());
            let (first, last) = if is_before { (wait.as_str(), "") } else { ("", wait.as_str()) };
            makers.makers[0].add_to_create(first, last);
            let plan = plan_in(makers.path(), &[]);
            let mut child = apply_command(makers.path(), &plan.file, &[]).spawn().expect("the program runs");
            wait_until(|| begun.exists(), || format!("{kind:?}: the command does not begin"));
            child.kill().expect("a child");
            child.wait().expect("a child");
            let resumed = makers.run(&["resume"]);
            let said = text_of(&resumed.stdout) + &text_of(&resumed.stderr);
            let rest = plan_in(makers.path(), &[]);
            let applied = apply_in(makers.path(), &rest.file, &[]);
            assert_eq!(applied.exit, Some(0), "{kind:?} {is_before}: {said}{}", applied.said());
            let again = plan_in(makers.path(), &[]);
            assert_eq!(
                (zone_changes(&again), again.changes().len()),
                (BTreeSet::new(), 0),
                "{kind:?} {is_before}: {said}"
            );
            let forward = makers.records(0, "example.net").expect("it was made");
            assert!(forward.len() > HOSTS, "{kind:?} {is_before}: {forward:?}\n{said}");
        }
    }
}
