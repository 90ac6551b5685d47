//! Pods: what a plan does for them, how they move within the budget of their set, and what goes when.

#[path = "folder/copy.rs"]
mod copy;

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use copy::copy;

/// What a command printed as a document, and its exit code.
struct Ran {
    /// The document.
    document: Value,
    /// The exit code.
    exit: i32,
}

impl Ran {
    /// The changes: `create AAAA a.web.shop.example.net. pod:shop-web/a`.
    fn changes(&self) -> Vec<String> {
        let changes = self.document["changes"].as_array().expect("a list of changes");
        let text = |own: &Value, key: &str| own[key].as_str().expect("a text").to_owned();
        let shown = changes.iter().map(|own| {
            let name = format!("{}.", text(own, "name").trim_end_matches('.'));
            let action = match (own["before"].is_null(), own["after"].is_null()) {
                (true, _) => "create",
                (_, true) => "delete",
                _ => "modify",
            };
            [action.to_owned(), text(own, "type"), name, text(own, "subject")].join(" ")
        });
        shown.collect()
    }

    /// What waits: `pod:shop-web/a budget`.
    fn waiting(&self) -> Vec<String> {
        let waiting = self.document["waiting"].as_array().expect("a list of what waits");
        waiting.iter().map(|own| format!("{} {}", own["subject"], own["code"]).replace('"', "")).collect()
    }

    /// The blocked subjects with their codes.
    fn blocked(&self) -> Vec<String> {
        let blocked = self.document["blocked"].as_array().expect("a list of what is blocked");
        blocked.iter().map(|own| format!("{} {}", own["subject"], own["code"]).replace('"', "")).collect()
    }
}

/// A pod as its row has it.
#[derive(Clone, Copy)]
struct Row<'r> {
    /// Its id.
    pod: &'r str,
    /// The node, without its domain; none while it waits.
    node: &'r str,
    /// The addresses.
    addresses: &'r [&'r str],
    /// Its state.
    state: &'r str,
    /// More keys, each with a comma in front.
    more: &'r str,
}

/// An active pod on a node with one address.
const fn pod<'r>(pod: &'r str, node: &'r str, addresses: &'r [&'r str]) -> Row<'r> {
    Row { pod, node, addresses, state: "active", more: "" }
}

/// A workspace with one set of pods.
struct Shop(TempDir);

impl Shop {
    /// The demo with another end of the file of its set, and without pods.
    fn with(set: &str) -> Shop {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory/shop"), folder.path());
        let shop = Shop(folder);
        let text = "id: shop-web\nproject: shop\ndomain: web.shop.example.net\n\
                    names: {constant: \"{pod}\", transient: \"{pod}-{placement}\"}\nttl: 60\n";
        shop.write("pod-sets/shop-web.yaml", &format!("{text}{set}\n"));
        shop
    }

    /// The folder.
    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    fn write(&self, file: &str, text: &str) {
        fs::write(self.path().join(file), text).expect("a file");
    }

    /// The text of a file.
    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).expect("a file")
    }

    /// Adds a gate with the name `up`, which passes or not.
    fn gate(&self, passes: bool) {
        let config = self.read("zonewright.toml");
        if !config.contains("[gate.up]") {
            let gate = "[gate.up]\ncommand = [\"sh\", \"gate.sh\"]\nretries = 0\n";
            self.write("zonewright.toml", &format!("{config}\n{gate}"));
        }
        self.write("gate.sh", if passes { "exit 0" } else { "echo one is down; exit 1" });
    }

    /// Makes these the rows of the export.
    fn pods(&self, rows: &[Row<'_>]) {
        let text = rows.iter().map(|row| {
            let Row { pod, node, state, more, .. } = row;
            let addresses: Vec<String> =
                row.addresses.iter().map(|address| format!("\"2001:db8:5::{address}\"")).collect();
            let place = if node.is_empty() {
                String::new()
            } else {
                let location = &node[..3];
                format!(",\"node\":\"{node}.example.net\",\"rack\":\"{node}\",\"location\":\"{location}\"")
            };
            let addresses = addresses.join(",");
            format!(
                "{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"shop-web\",\"pod\":\"{pod}\",\"state\":\"{state}\",\
                 \"addresses\":[{addresses}]{place}{more}}}\n"
            )
        });
        self.write("pods/pods.jsonl", &text.collect::<String>());
    }

    /// Runs a command as of a time of the day.
    fn run(&self, now: &str, args: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        let now = format!("2026-11-20T{now}Z");
        command.args(args).args(["--format", "json", "-q", "--now", &now, "-C"]).arg(self.path());
        let output = command.output().expect("the binary was built for this test");
        let document = serde_json::from_slice(&output.stdout);
        let document = document.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        Ran { document, exit: output.status.code().expect("an exit code") }
    }

    /// Runs a command as of a time of the day; gives what it printed, for people.
    fn text(&self, now: &str, args: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        let now = format!("2026-11-20T{now}Z");
        let output = command.args(args).args(["-q", "--now", &now, "-C"]).arg(self.path()).output();
        String::from_utf8(output.expect("the binary was built for this test").stdout).expect("text")
    }

    /// Makes a plan and applies what of it may go now.
    fn apply(&self, now: &str) -> Ran {
        self.run(now, &["apply", "--auto", "--yes"])
    }

    /// The records of the set: `a AAAA 2001:db8:5::1`, without the domain; the digits of placements are left out.
    fn records(&self) -> Vec<String> {
        let zone = self.read("zones/shop.example.net.zone");
        let own = zone.lines().filter_map(|line| {
            let (name, rest) = line.split_once(".web.shop.example.net. 60 ")?;
            Some(format!("{name} {}", rest.replace(".web.shop.example.net.", "")))
        });
        let mut records: Vec<String> = own.map(|line| line.replace("2001:db8:5", "")).collect();
        records.sort();
        records
    }

    /// What the SRV list: `_http._tcp a-734ec82a`, without the domain.
    fn listed(&self) -> Vec<String> {
        let records = self.records().into_iter();
        let listed = records.filter_map(|own| {
            let (srv, name) = own.split_once(" SRV 0 0 8080 ")?;
            Some(format!("{srv} {name}"))
        });
        listed.collect()
    }

    /// Another editor gives a name of the set another address; none takes its records away.
    fn edit(&self, name: &str, address: Option<&str>) {
        let file = "zones/shop.example.net.zone";
        let begin = format!("{name}.web.shop.example.net. ");
        let edited = |line: &str| match address {
            _ if !line.starts_with(&begin) => format!("{line}\n"),
            Some(address) => format!("{begin}60 AAAA 2001:db8:5::{address}\n"),
            None => String::new(),
        };
        self.write(file, &self.read(file).lines().map(edited).collect::<String>());
    }

    /// The name of the placement that a pod has on a node, without the domain.
    fn placed(&self, pod: &str, address: &str) -> String {
        let is_of =
            |line: &&String| line.starts_with(&format!("{pod}-")) && line.ends_with(&format!("AAAA ::{address}"));
        let found = self.records().iter().find(is_of).cloned();
        found
            .and_then(|line| Some(line.split_once(' ')?.0.to_owned()))
            .unwrap_or_else(|| panic!("{:?}", self.records()))
    }
}

#[test]
fn each_pod_has_a_name_that_stays_and_one_for_its_placement() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let prepared = Row { state: "prepared", ..pod("b", "sas2", &["2"]) };
    let waiting = Row { state: "waiting", ..pod("c", "", &[]) };
    shop.pods(&[pod("a", "sas1", &["1"]), prepared, waiting]);
    let plan = shop.run("02:00:00", &["plan"]);
    assert_eq!((plan.exit, plan.waiting().len(), plan.blocked().len()), (0, 0, 0));
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (a, b) = (shop.placed("a", "1"), shop.placed("b", "2"));
    // printf 'sas1.example.net\n2001:db8:5::1\n' | sha256sum
    assert_eq!(a, "a-734ec82a");
    let expected = [
        format!("_http._tcp SRV 0 0 8080 {a}"),
        "a AAAA ::1".to_owned(),
        format!("{a} AAAA ::1"),
        format!("{b} AAAA ::2"),
    ];
    assert_eq!(shop.records(), expected);
    let reverse = shop.read("zones/5.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.zone");
    assert!(reverse.contains(&format!("PTR {a}.web.shop.example.net.")), "{reverse}");
    assert!(shop.run("03:00:00", &["plan"]).changes().is_empty());
    // Active where it was prepared: only the name that stays, and the SRV.
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), waiting]);
    let changes = shop.run("03:00:00", &["plan"]).changes();
    let names = ["create AAAA b.web.shop.example.net. pod:shop-web/b"];
    let srv = ["modify SRV _http._tcp.web.shop.example.net. endpoints:shop-web/http"];
    assert_eq!(changes, [names, srv].concat());
}

#[test]
fn pods_move_within_the_budget_and_what_they_leave_goes_last() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (old_a, old_b) = (shop.placed("a", "1"), shop.placed("b", "2"));
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas4", &["b"])]);
    let first = shop.apply("02:10:00");
    assert_eq!((first.exit, first.waiting()), (5, vec!["pod:shop-web/b budget".to_owned()]));
    let new_a = shop.placed("a", "a");
    let records = shop.records();
    for expected in ["a AAAA ::a", "b AAAA ::2", &format!("{old_a} AAAA ::1"), &format!("{new_a} AAAA ::a")] {
        assert!(records.iter().any(|own| own == expected), "{expected}: {records:?}");
    }
    // `status` has what waits, and takes no name of a pod for one that was left behind.
    let status = shop.run("02:10:10", &["status"]).document;
    assert_eq!(status["waiting"][0]["subject"], "pod:shop-web/b");
    assert_eq!(status["left_behind"], serde_json::json!([]));
    let asked = shop.run("02:10:10", &["explain", "a.web.shop.example.net"]).document;
    let answer = asked["answer"].as_str().expect("an answer");
    assert!(answer.starts_with("a.web.shop.example.net. belongs to pod:shop-web/a."), "{answer}");
    let asked = shop.run("02:10:10", &["explain", "2001:db8:5::a"]).document;
    let answer = asked["answer"].as_str().expect("an answer");
    assert!(
        answer.starts_with("2001:db8:5::a is an address of pod:shop-web/a (active, pods/pods.jsonl:1)."),
        "{answer}"
    );
    // The SRV follows in the next plan, and lists the other pod where it still is.
    let listed = |shop: &Shop| -> Vec<String> {
        let records = shop.records().into_iter();
        records.filter_map(|own| Some(own.strip_prefix("_http._tcp SRV 0 0 8080 ")?.to_owned())).collect()
    };
    assert_eq!(listed(&shop), [old_a.clone(), old_b.clone()]);
    assert_eq!(shop.apply("02:10:30").exit, 5);
    assert_eq!(listed(&shop), [new_a.clone(), old_b.clone()]);
    // As soon as caches have forgotten the old address, the other one goes. The old placement is still listed in caches.
    assert_eq!(shop.apply("02:11:01").exit, 0);
    assert_eq!(listed(&shop), [new_a.clone(), old_b.clone()]);
    assert!(shop.records().contains(&format!("{old_a} AAAA ::1")));
    let later = shop.run("02:11:31", &["plan"]).changes();
    let orphan = format!("orphan:main/{old_a}.web.shop.example.net.");
    assert!(later.iter().any(|change| change.ends_with(&format!(" {orphan}"))), "{later:?}");
    for now in ["02:12:30", "02:14:00", "02:16:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    let new_b = shop.placed("b", "b");
    let mut expected = vec![
        format!("_http._tcp SRV 0 0 8080 {new_a}"),
        format!("_http._tcp SRV 0 0 8080 {new_b}"),
        "a AAAA ::a".to_owned(),
        "b AAAA ::b".to_owned(),
        format!("{new_a} AAAA ::a"),
        format!("{new_b} AAAA ::b"),
    ];
    expected.sort();
    assert_eq!(shop.records(), expected);
    assert!(shop.run("02:20:00", &["plan"]).changes().is_empty());
    // Again within `min_interval` of an hour: said, and not held back.
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas4", &["b"])]);
    let again = shop.run("02:30:00", &["plan"]);
    let notices = again.document["notices"].as_array().expect("notices").clone();
    assert!(notices.iter().any(|own| own["code"] == "migrates-often" && own["name"] == "shop-web"), "{notices:?}");
    assert!(again.waiting().is_empty());
    let late = shop.run("04:30:00", &["plan"]).document;
    assert!(late["notices"].as_array().expect("notices").iter().all(|own| own["code"] != "migrates-often"));
}

#[test]
fn a_pod_that_is_down_counts_and_its_move_repairs() {
    let shop = Shop::with("");
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // One is dead: no other may move, and nothing of it changes.
    let dead = Row { state: "dead", ..all[0] };
    shop.pods(&[dead, pod("b", "sas4", &["b"]), all[2]]);
    let held = shop.apply("02:10:00");
    assert_eq!((held.exit, held.waiting()), (5, vec!["pod:shop-web/b budget".to_owned()]));
    assert_eq!(held.document["waiting"][0]["until"], Value::Null);
    let message = "the budget of `shop-web` is 1, and 1 is down, in flux or goes now; pod:shop-web/a is `dead` by the export, and \
                   counts until it is back or its row is gone";
    assert_eq!(held.document["waiting"][0]["message"], message);
    let shown = shop.text("02:10:00", &["apply", "--auto", "--yes"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Waiting alone does not help"), "{shown}");
    assert!(!words.contains("Apply the plan again later"), "{shown}");
    // What was accepted is the export with the dead pod.
    shop.pods(&[dead, all[1], all[2]]);
    assert_eq!(shop.apply("02:20:00").exit, 0);
    // It comes back elsewhere: the move does not wait, although another one moves, too.
    shop.pods(&[pod("a", "sas5", &["a"]), pod("b", "sas4", &["b"]), all[2]]);
    let plan = shop.run("02:30:00", &["plan"]);
    assert_eq!(plan.waiting(), ["pod:shop-web/b budget"]);
    assert_eq!(plan.document["pods"][0]["was_down"], true);
    assert_eq!(shop.apply("02:30:00").exit, 5);
    assert!(shop.records().contains(&"a AAAA ::a".to_owned()));
    // Once it was active there, its next move is one as any other.
    assert_eq!(shop.apply("02:32:00").exit, 0);
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas4", &["b"]), pod("c", "sas6", &["c"])]);
    assert_eq!(shop.run("02:50:00", &["plan"]).waiting(), ["pod:shop-web/c budget"]);
}

#[test]
fn a_pod_that_came_back_passes_the_gate_that_its_death_made_fail() {
    let shop = Shop::with("rollout: {gate: up}");
    shop.gate(true);
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // One dies while another one is to move: so long as that waits, no apply does all of its plan.
    let moved = pod("a", "sas5", &["5"]);
    shop.pods(&[moved, all[1], Row { state: "dead", ..all[2] }]);
    for now in ["02:10:00", "02:20:00"] {
        assert_eq!(shop.apply(now).waiting(), ["pod:shop-web/a budget"]);
    }
    shop.gate(false);
    shop.pods(&[moved, all[1], pod("c", "sas9", &["9"])]);
    let repaired = shop.apply("02:30:00");
    assert_eq!(repaired.waiting().len(), 1, "{:?}", repaired.waiting());
    assert!(shop.records().contains(&"c AAAA ::9".to_owned()), "{:?}", shop.records());
    assert!(shop.records().contains(&"a AAAA ::1".to_owned()), "{:?}", shop.records());
    // It is where its name points: its next move is one as any other.
    shop.pods(&[moved, all[1], pod("c", "sas8", &["8"])]);
    assert_eq!(shop.apply("02:40:00").waiting(), ["pod:shop-web/a gate", "pod:shop-web/c gate"]);
}

#[test]
fn who_died_is_known_although_a_zone_of_another_project_cannot_be_read() {
    let shop = Shop::with("rollout: {gate: up}");
    shop.gate(true);
    let config = shop.read("zonewright.toml");
    let other = "[project.other]\ndns_domain = \"other.example.net\"\nautomation = \"allowed\"\n\
                 [pool.other]\n[[pool.other.target]]\ntype = \"zonefile\"\ndir = \"nowhere\"\n\
                 [[zone]]\nname = \"other.example.net\"\npool = \"other\"\npermission = \"own\"\n";
    shop.write("zonewright.toml", &format!("{config}\n{other}"));
    let project = shop.read("projects/shop.yaml").replace("id: shop", "id: other");
    shop.write("projects/other.yaml", &project);
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    shop.apply("02:00:00");
    assert!(shop.records().contains(&"c AAAA ::3".to_owned()), "{:?}", shop.records());
    shop.pods(&[all[0], all[1], Row { state: "dead", ..all[2] }]);
    shop.apply("02:10:00");
    shop.gate(false);
    shop.pods(&[all[0], all[1], pod("c", "sas9", &["9"])]);
    assert!(shop.apply("02:20:00").waiting().is_empty());
    assert!(shop.records().contains(&"c AAAA ::9".to_owned()), "{:?}", shop.records());
}

#[test]
fn a_pod_that_came_back_in_place_is_as_any_other_while_a_rollout_runs() {
    let shop = Shop::with("");
    let [a, b] = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])];
    shop.pods(&[a, b, pod("x", "sas3", &["3"]), pod("y", "sas4", &["4"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let dead = [a, b].map(|row| Row { state: "dead", ..row });
    shop.pods(&[dead[0], dead[1], pod("x", "sas3", &["3"]), pod("y", "sas4", &["4"])]);
    assert_eq!(shop.apply("02:10:00").exit, 0);
    // Both come back where they were. Others move, one after another.
    let moved = [pod("x", "sas5", &["5"]), pod("y", "sas6", &["6"])];
    shop.pods(&[a, b, moved[0], moved[1]]);
    assert_eq!(shop.apply("02:20:00").waiting(), ["pod:shop-web/y budget"]);
    shop.pods(&[pod("a", "sas7", &["7"]), pod("b", "sas8", &["8"]), moved[0], moved[1]]);
    let waiting = ["pod:shop-web/a budget", "pod:shop-web/b budget", "pod:shop-web/y budget"];
    assert_eq!(shop.apply("02:20:30").waiting(), waiting);
}

#[test]
fn a_saved_plan_repairs_no_pod_that_came_back_since() {
    let shop = Shop::with("");
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&all.map(|row| Row { state: "dead", ..row }));
    assert_eq!(shop.apply("02:10:00").exit, 0);
    shop.pods(&[pod("a", "sas4", &["4"]), pod("b", "sas5", &["5"]), pod("c", "sas6", &["6"])]);
    let file = shop.path().join("plan.json").display().to_string();
    assert!(shop.run("02:20:00", &["plan", "--out", &file]).waiting().is_empty());
    // They come back where they were, and one apply sees that.
    shop.pods(&all);
    assert_eq!(shop.apply("02:30:00").exit, 0);
    let late = shop.run("02:40:00", &["apply", &file, "--yes"]);
    assert_eq!((late.exit, late.waiting().len()), (5, 2), "{:?}", late.waiting());
    assert_eq!(shop.records().iter().filter(|own| own.ends_with("AAAA ::4")).count(), 2, "{:?}", shop.records());
}

#[test]
fn later_waves_of_a_saved_plan_count_a_pod_that_died_since() {
    let shop = Shop::with("");
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"]), pod("d", "sas4", &["4"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let moved = [pod("a", "sas5", &["5"]), pod("b", "sas6", &["6"]), pod("c", "sas7", &["7"])];
    let file = shop.path().join("plan.json").display().to_string();
    shop.pods(&[moved[0], moved[1], moved[2], all[3]]);
    shop.run("02:10:00", &["plan", "--out", &file]);
    assert_eq!(shop.run("02:10:00", &["apply", &file, "--yes"]).exit, 5);
    // One that the plan does not change dies, and one that the plan is still to move.
    for dead in [all[3], moved[2]] {
        let row = |row: Row<'static>| if row.pod == dead.pod { Row { state: "dead", ..row } } else { row };
        shop.pods(&[row(moved[0]), row(moved[1]), row(moved[2]), row(all[3])]);
        assert_eq!(shop.apply("02:30:00").exit, 5);
        for args in [&["resume", "2"][..], &["apply", &file, "--yes"]] {
            let held = shop.run("02:40:00", args);
            assert_eq!(held.waiting()[0], "pod:shop-web/b budget", "{args:?}: {:?}", held.waiting());
        }
    }
    assert!(shop.records().contains(&"c AAAA ::3".to_owned()), "{:?}", shop.records());
    // A pod out of service counts in no budget, dead or not.
    let off = Row { state: "dead", more: ",\"enabled\":false", ..all[3] };
    shop.pods(&[moved[0], all[1], all[2], off]);
    assert_eq!(shop.apply("02:50:00").exit, 0);
    let second = shop.run("03:00:00", &["resume", "2"]);
    assert_eq!(second.waiting(), ["pod:shop-web/c budget"]);
    assert!(shop.records().contains(&"b AAAA ::6".to_owned()), "{:?}", shop.records());
}

/// How a file is spoiled, with what messages call it.
type Spoil<'s> = (&'s str, &'s dyn Fn(&Shop));

#[test]
fn nothing_of_a_set_moves_whose_file_is_wrong_since_the_plan() {
    let file = "pod-sets/shop-web.yaml";
    let spoils: [Spoil<'_>; 3] = [
        ("the file of set `shop-web` has an error now (pod-sets/shop-web.yaml:", &|shop| {
            shop.write(file, &format!("{}unavailability_budget: x\n", shop.read(file)));
        }),
        ("no file of a set has the id `shop-web` now", &|shop| {
            fs::remove_file(shop.path().join(file)).expect("a file");
        }),
        ("no file of a set has the id `shop-web` now", &|shop| {
            shop.write(file, &shop.read(file).replace("id: shop-web", "id: shop-www"));
        }),
    ];
    for (why, spoil) in spoils {
        let shop = Shop::with("");
        let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
        shop.pods(&all);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        shop.pods(&[pod("a", "sas4", &["a"]), pod("b", "sas5", &["b"]), pod("c", "sas6", &["c"])]);
        let plan = shop.path().join("plan.json").display().to_string();
        shop.run("02:10:00", &["plan", "--out", &plan]);
        assert_eq!(shop.run("02:10:00", &["apply", &plan, "--yes"]).exit, 5);
        let (good, before) = (shop.read(file), shop.records());
        spoil(&shop);
        for args in [&["resume"][..], &["apply", &plan, "--yes"], &["apply", &plan, "--yes", "--wait", "1h"]] {
            let ran = shop.run("02:20:00", args).document;
            let hosts = ran["hosts"].as_array().expect("outcomes");
            let left = hosts.iter().filter(|host| host["outcome"] == "no-longer-allowed");
            let messages: Vec<&str> = left.filter_map(|host| host["message"].as_str()).collect();
            assert!(messages.len() == 2 && messages.iter().all(|own| own.starts_with(why)), "{args:?}: {ran}");
            assert_eq!(shop.records(), before, "{args:?}");
        }
        // It is right again: the rest goes, one pod after another.
        shop.write(file, &good);
        assert_eq!(shop.run("02:30:00", &["resume"]).waiting(), ["pod:shop-web/c budget"]);
        assert_eq!(shop.run("02:40:00", &["resume"]).exit, 0);
    }
}

#[test]
fn an_undo_of_a_set_whose_file_is_wrong_takes_one_pod_after_another() {
    let file = "pod-sets/shop-web.yaml";
    let moved = |spoil: &dyn Fn(&Shop)| -> Shop {
        let shop = Shop::with("unavailability_budget: 3");
        shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas1", &["2"]), pod("c", "sas1", &["3"])]);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        shop.pods(&[pod("a", "sas4", &["a"]), pod("b", "sas4", &["b"]), pod("c", "sas4", &["c"])]);
        assert_eq!(shop.apply("02:10:00").exit, 0);
        spoil(&shop);
        shop
    };
    let spoils: [&dyn Fn(&Shop); 2] =
        [&|shop| shop.write(file, &format!("{}rollout: {{gate: nothing}}\n", shop.read(file))), &|shop| {
            fs::remove_file(shop.path().join(file)).expect("a file")
        }];
    for spoil in spoils {
        // What is in flux is repaired.
        let shop = moved(spoil);
        assert_eq!(shop.run("02:10:30", &["undo", "2", "--yes"]).exit, 0);
        let shop = moved(spoil);
        let undo = shop.run("03:00:00", &["undo", "2"]);
        assert_eq!(undo.waiting(), ["pod:shop-web/b budget", "pod:shop-web/c budget"]);
        let undo = shop.run("03:00:00", &["undo", "2", "--yes"]);
        assert_eq!((undo.exit, undo.waiting().len()), (5, 2));
        assert_eq!(shop.run("03:01:00", &["resume"]).waiting(), ["pod:shop-web/c budget"]);
        assert_eq!(shop.run("03:02:00", &["resume"]).exit, 0);
        assert!(
            ["a AAAA ::1", "b AAAA ::2", "c AAAA ::3"].iter().all(|own| shop.records().iter().any(|has| has == own))
        );
    }
}

#[test]
fn an_undo_counts_pods_that_are_down() {
    let shop = Shop::with("");
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let moved = pod("a", "sas4", &["4"]);
    shop.pods(&[moved, all[1], all[2]]);
    assert_eq!(shop.apply("02:10:00").exit, 0);
    // In time it goes at once, although a pod died.
    shop.pods(&[moved, Row { state: "dead", ..all[1] }, all[2]]);
    assert_eq!(shop.apply("02:10:30").exit, 0);
    assert!(shop.run("02:10:40", &["undo", "2"]).waiting().is_empty());
    // Later it waits for room.
    let held = shop.run("02:30:00", &["undo", "2", "--yes"]);
    assert_eq!((held.exit, held.waiting()), (5, vec!["pod:shop-web/a budget".to_owned()]));
    shop.pods(&[moved, all[1], all[2]]);
    assert_eq!(shop.apply("02:40:00").exit, 0);
    assert_eq!(shop.run("02:50:00", &["undo", "2", "--yes"]).exit, 0);
    assert!(shop.records().contains(&"a AAAA ::1".to_owned()), "{:?}", shop.records());
}

#[test]
fn a_bad_row_says_of_no_pod_that_it_is_down() {
    let shop = Shop::with("");
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &format!("max_bad_rows = \"90%\"\n{config}"));
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // The exporter writes the state in another way for a while: nothing is known of these pods.
    let odd = all.map(|row| Row { state: "Active", ..row });
    shop.pods(&[odd[0], odd[1], all[2]]);
    let plan = shop.run("02:10:00", &["plan"]);
    assert_eq!(plan.blocked(), ["pod:shop-web/a bad-input", "pod:shop-web/b bad-input"]);
    shop.apply("02:10:00");
    // So to move them is no repair.
    shop.pods(&[pod("a", "sas4", &["a"]), pod("b", "sas5", &["b"]), all[2]]);
    assert_eq!(shop.apply("02:20:00").waiting(), ["pod:shop-web/b budget"]);
}

#[test]
fn a_pod_that_died_counts_until_it_is_active_again() {
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    let (off, elsewhere) = (Row { more: ",\"enabled\":false", ..all[0] }, pod("a", "sas9", &["9"]));
    let held = ["pod:shop-web/b budget"];
    let rows: [(Row<'_>, &[&str]); 5] = [
        (Row { state: "prepared", ..elsewhere }, &held),
        (Row { state: "removing", ..all[0] }, &held),
        (Row { state: "Active", ..all[0] }, &held),
        (Row { state: "prepared", ..off }, &[]),
        (all[0], &[]),
    ];
    for (row, waiting) in rows {
        let shop = Shop::with("");
        let config = shop.read("zonewright.toml");
        shop.write("zonewright.toml", &format!("max_bad_rows = \"90%\"\n{config}"));
        shop.pods(&all);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        shop.pods(&[Row { state: "dead", ..all[0] }, all[1], all[2]]);
        shop.apply("02:10:00");
        shop.pods(&[row, pod("b", "sas4", &["b"]), all[2]]);
        assert_eq!(shop.run("02:20:00", &["plan"]).waiting(), waiting, "{}", row.state);
        for now in ["02:20:00", "02:30:00"] {
            let ran = shop.apply(now);
            assert_eq!(ran.waiting(), waiting, "{} {now}", row.state);
            assert!(!waiting.is_empty() || now != "02:20:00" || shop.records().contains(&"b AAAA ::b".to_owned()));
        }
    }
    // Its row is gone: it is no longer one of the set.
    let shop = Shop::with("");
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[Row { state: "dead", ..all[0] }, all[1], all[2]]);
    shop.apply("02:10:00");
    shop.pods(&[pod("b", "sas4", &["b"]), all[2]]);
    assert!(shop.run("02:20:00", &["plan"]).waiting().is_empty());
    assert!(shop.apply("02:20:00").waiting().is_empty());
}

#[test]
fn a_death_is_not_forgotten_until_the_name_has_moved() {
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    let cases = [
        ("projects/shop.yaml", "policy: repair", "policy: create-only"),
        ("zonewright.toml", "automation = \"allowed\"", "automation = \"allowed\"\nkeep_edits = true"),
    ];
    for (file, before, after) in cases {
        let shop = Shop::with("");
        shop.pods(&all);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        shop.pods(&[Row { state: "dead", ..all[0] }, all[1], all[2]]);
        shop.apply("02:10:00");
        shop.write(file, &shop.read(file).replacen(before, after, 1));
        if file == "zonewright.toml" {
            shop.edit("a", Some("e"));
        }
        // It is there again, and the plan may not move its name: the first one creates its other names, the next does nothing.
        shop.pods(&[pod("a", "sas9", &["9"]), all[1], all[2]]);
        ["02:20:00", "02:30:00"].into_iter().for_each(|now| drop(shop.apply(now)));
        assert!(shop.records().iter().all(|own| own != "a AAAA ::9"), "{:?}", shop.records());
        shop.write(file, &shop.read(file).replacen(after, before, 1));
        shop.pods(&[pod("a", "sas9", &["9"]), pod("b", "sas4", &["b"]), all[2]]);
        assert_eq!(shop.run("02:40:00", &["plan"]).waiting(), ["pod:shop-web/b budget"], "{file}");
        assert_eq!(shop.apply("02:40:00").waiting(), ["pod:shop-web/b budget"], "{file}");
        assert!(shop.records().contains(&"a AAAA ::9".to_owned()), "{:?}", shop.records());
        // It has moved: its next move waits as any other.
        shop.pods(&[pod("a", "sas8", &["8"]), pod("b", "sas4", &["b"]), all[2]]);
        assert_eq!(shop.apply("02:50:00").waiting(), ["pod:shop-web/a budget"], "{file}");
    }
}

#[test]
fn records_of_a_replaced_pod_wait_for_the_new_one() {
    let shop = Shop::with("migration: copy-and-remove\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("old", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("old", "1");
    // The export has forgotten the old pod, and the new one does not serve yet.
    let new = Row { more: ",\"replaces\":\"old\"", ..pod("new", "sas2", &["2"]) };
    shop.pods(&[Row { state: "prepared", ..new }]);
    let first = shop.apply("02:10:00");
    assert_eq!((first.exit, first.waiting()), (5, vec!["pod:shop-web/old replaces".to_owned()]));
    let placed = shop.placed("new", "2");
    assert!(shop.records().contains(&format!("_http._tcp SRV 0 0 8080 {old}")), "{:?}", shop.records());
    // It serves: its names and the SRV go now, and the old records once these have settled.
    shop.pods(&[new]);
    for now in ["02:20:00", "02:20:59"] {
        assert_eq!(shop.apply(now).waiting(), ["pod:shop-web/old replaces"]);
        let records = shop.records();
        for expected in ["old AAAA ::1", "new AAAA ::2", &format!("_http._tcp SRV 0 0 8080 {placed}")] {
            assert!(records.iter().any(|own| own == expected), "{expected}: {records:?}");
        }
    }
    assert_eq!(shop.apply("02:21:00").exit, 0);
    let expected =
        [format!("_http._tcp SRV 0 0 8080 {placed}"), "new AAAA ::2".to_owned(), format!("{placed} AAAA ::2")];
    assert_eq!(shop.records(), expected);
}

#[test]
fn records_of_a_replaced_pod_do_not_wait_where_another_pod_has_the_address() {
    let shop = Shop::with("migration: copy-and-remove");
    shop.pods(&[pod("old", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let new = Row { state: "prepared", more: ",\"replaces\":\"old\"", ..pod("new", "sas2", &["2"]) };
    shop.pods(&[new, pod("other", "sas1", &["1"])]);
    let applied = shop.apply("02:10:00");
    assert!(applied.waiting().is_empty(), "{:?}", applied.waiting());
    assert!(shop.records().iter().all(|own| !own.starts_with("old")), "{:?}", shop.records());
}

#[test]
fn a_project_may_demand_that_its_sets_can_lose_pods() {
    let shop = Shop::with("");
    let project = shop.read("projects/shop.yaml");
    shop.write("projects/shop.yaml", &format!("{project}availability: require\n"));
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    // Two pods are too few; what takes no address goes all the same.
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas2", &["2"])]);
    let held = shop.apply("02:10:00");
    assert_eq!((held.exit, held.waiting()), (5, vec!["pod:shop-web/a availability".to_owned()]));
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas2", &["2"]), pod("c", "sas4", &["4"])]);
    assert_eq!(shop.apply("02:20:00").exit, 0);
    assert!(shop.records().contains(&"a AAAA ::a".to_owned()));
}

#[test]
fn pods_at_two_locations_do_not_move_together() {
    let shop = Shop::with("unavailability_budget: 2");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "vla1", &["2"]), pod("c", "vla2", &["3"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas2", &["a"]), pod("b", "vla3", &["b"]), pod("c", "vla2", &["3"])]);
    assert_eq!(shop.apply("02:10:00").waiting(), ["pod:shop-web/b location"]);
}

#[test]
fn a_pod_that_is_disabled_has_names_and_no_place_in_the_budget() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let off = Row { more: ",\"enabled\":false", ..pod("b", "sas2", &["2"]) };
    shop.pods(&[pod("a", "sas1", &["1"]), off]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    assert!(shop.records().contains(&"b AAAA ::2".to_owned()));
    assert_eq!(shop.records().iter().filter(|own| own.contains("SRV")).count(), 1);
    shop.pods(&[pod("a", "sas3", &["a"]), Row { node: "sas4", addresses: &["b"], ..off }]);
    assert_eq!(shop.apply("02:10:00").exit, 0);
}

#[test]
fn what_no_pod_has_goes_and_what_is_not_known_stays() {
    let shop = Shop::with("endpoints: [{name: \"http-{location}\", protocol: tcp, port: 8080}]");
    let all = [pod("a", "sas1", &["1"]), pod("b", "vla1", &["2"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    assert!(shop.records().iter().any(|own| own.starts_with("_http-vla._tcp SRV")));
    // A row that cannot be read may be about any pod.
    shop.pods(&all[..1]);
    let rows = shop.read("pods/pods.jsonl");
    shop.write("pods/pods.jsonl", &format!("{rows}{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"shop-web\"}}\n"));
    let kept = shop.run("02:10:00", &["plan"]).changes();
    assert!(kept.iter().all(|change| !change.contains(" b")), "{kept:?}");
    // With the row gone, the pod is gone, and its location has none: the SRV goes, and the names once that has settled.
    shop.pods(&all[..1]);
    for now in ["02:10:00", "02:12:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    assert!(shop.records().iter().all(|own| own.contains("1") || own.starts_with("_http-sas")), "{:?}", shop.records());
    assert!(shop.run("02:20:00", &["plan"]).changes().is_empty());
    // All are gone: an export without rows is not believed.
    shop.write("pods/pods.jsonl", "");
    assert!(shop.run("02:20:00", &["plan"]).changes().is_empty());
}

#[test]
fn nothing_of_a_name_goes_while_its_zone_cannot_be_read() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // The SRV still lists the former placement.
    shop.pods(&[pod("a", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:10:00").exit, 0);
    let (zone, away) = (shop.path().join("zones/shop.example.net.zone"), shop.path().join("away"));
    fs::rename(&zone, &away).expect("a file");
    let ran = shop.run("02:20:00", &["plan"]);
    assert!(ran.changes().is_empty(), "{:?}", ran.changes());
    assert_eq!(ran.document["left_behind"], Value::Null, "it is not known what is left");
    fs::rename(&away, &zone).expect("a file");
    let changes = shop.run("02:20:00", &["plan"]).changes();
    assert!(changes.iter().any(|change| change.contains(" SRV ")), "{changes:?}");
}

#[test]
fn while_it_is_not_known_which_pods_there_are_no_name_is_left_behind() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "vla1", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (rows, set) = (shop.read("pods/pods.jsonl"), shop.read("pod-sets/shop-web.yaml"));
    let unlike = rows.replacen("shop-web", "no-such-set", 1);
    let first = rows.lines().next().expect("a row");
    let broken = [
        ("pods/pods.jsonl", ""),
        ("pods/pods.jsonl", rows.trim_end()),
        ("pods/pods.jsonl", &format!("{first}\n{{\n")),
        ("pods/pods.jsonl", &unlike),
        ("pod-sets/shop-web.yaml", &set.replace("ttl", "tll")),
        ("pod-sets/shop-web.yaml", &set.replace("id: shop-web", "id: shop-wob")),
    ];
    for (file, text) in broken {
        shop.write(file, text);
        let ran = shop.run("02:10:00", &["plan"]);
        assert!(ran.changes().is_empty(), "{text}: {:?}", ran.changes());
        assert_eq!(ran.document["left_behind"], Value::Null, "{text}");
        let notices = ran.document["notices"].as_array().expect("a list of notices");
        assert_eq!(notices.len(), 1, "one says what is not known: {notices:?}");
        shop.write("pods/pods.jsonl", &rows);
        shop.write("pod-sets/shop-web.yaml", &set);
    }
    shop.write("pods/pods.jsonl", "");
    let ran = shop.run("02:10:00", &["explain", "a.web.shop.example.net"]);
    let answer = ran.document["answer"].as_str().expect("an answer");
    assert!(
        answer.starts_with("It is not known whether a pod has a.web.shop.example.net. now: source `pods`"),
        "{answer}"
    );
    assert!(answer.contains("Nothing of it is removed."), "{answer}");
}

#[test]
fn both_families_are_at_both_names() {
    let shop = Shop::with("");
    let config = shop.read("zonewright.toml");
    shop.write(
        "zonewright.toml",
        &format!("{config}\n[[zone]]\nnetwork = \"192.0.2.0/24\"\npool = \"main\"\npermission = \"own\"\n"),
    );
    let zone = shop.read("zones/5.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.zone");
    shop.write("zones/2.0.192.in-addr.arpa.zone", &zone);
    let row = "{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"shop-web\",\"pod\":\"a\",\"node\":\"n.example.net\",\
               \"addresses\":[\"2001:db8:5::1\",\"192.0.2.7\"],\"state\":\"active\"}\n";
    shop.write("pods/pods.jsonl", row);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let placed = shop.placed("a", "1");
    assert!(
        shop.records().contains(&"a A 192.0.2.7".to_owned())
            && shop.records().contains(&format!("{placed} A 192.0.2.7"))
    );
    assert!(shop.read("zones/2.0.192.in-addr.arpa.zone").contains(&format!("PTR {placed}.web.shop.example.net.")));
    // Without the family the name that stays loses it.
    shop.write("pods/pods.jsonl", &row.replace(",\"192.0.2.7\"", ""));
    for now in ["02:10:00", "02:12:00", "02:14:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    let moved = shop.placed("a", "1");
    assert_eq!(shop.records(), ["a AAAA ::1".to_owned(), format!("{moved} AAAA ::1")]);
}

#[test]
fn what_is_wrong_with_rows_and_files_takes_nothing_from_clients() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let before = shop.records();
    let (rows, set, config) =
        (shop.read("pods/pods.jsonl"), shop.read("pod-sets/shop-web.yaml"), shop.read("zonewright.toml"));
    let unchanged = |what: &str, exit: i32| {
        let ran = shop.apply("02:10:00");
        assert_eq!((ran.exit, shop.records()), (exit, before.clone()), "{what}");
    };
    let faults = [
        ("two pods with one address", rows.replace("::2", "::1")),
        ("a state that is none", rows.replacen("\"active\"", "\"actve\"", 1)),
        ("a rack that no template takes", rows.replacen("\"pod\":\"a\"", "\"pod\":\"a b\"", 1)),
        ("no node", rows.replacen("\"node\":\"sas1.example.net\",", "", 1)),
    ];
    for (what, text) in faults {
        shop.write("pods/pods.jsonl", &text);
        unchanged(what, 0);
    }
    shop.write("pods/pods.jsonl", &rows);
    shop.write("pod-sets/shop-web.yaml", &set.replace("id: shop-web", "id: shop-wbe"));
    unchanged("the id of the set has a mistake", 1);
    let plan = shop.text("02:10:00", &["plan"]).replace("\n ", "");
    assert!(plan.contains("1 set of pods has no file: shop-web.") && !plan.contains("settings file"), "{plan}");
    shop.write("pod-sets/shop-web.yaml", &set.replace("ttl: 60", "tll: 60"));
    unchanged("the file of the set has a mistake", 1);
    shop.write("pod-sets/shop-web.yaml", &set);
    shop.write("zonewright.toml", &config.replace("pods = \"pods/*.jsonl\"\n", ""));
    unchanged("there is no export", 0);
}

#[test]
fn a_pod_whose_placement_has_no_name_keeps_the_one_that_stays() {
    let shop = Shop::with("");
    let set = shop.read("pod-sets/shop-web.yaml");
    shop.write("pod-sets/shop-web.yaml", &set.replace("{pod}-{placement}", "{pod}-{rack}"));
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (before, rows) = (shop.records(), shop.read("pods/pods.jsonl"));
    assert_eq!(before, ["a AAAA ::1", "a-sas1 AAAA ::1"]);
    shop.write("pods/pods.jsonl", &rows.replace("\"rack\":\"sas1\",", ""));
    assert_eq!(shop.run("02:10:00", &["plan"]).blocked(), ["pod:shop-web/a bad-input"]);
    assert_eq!((shop.apply("02:10:00").exit, shop.records()), (0, before));
}

#[test]
fn a_pod_without_a_place_keeps_a_name_that_is_made_of_one() {
    let shop =
        Shop::with("endpoints: [{name: \"http-{location}\", protocol: tcp, port: 8080, states: [active, removing]}]");
    let set = shop.read("pod-sets/shop-web.yaml");
    let set =
        set.replace("\"{pod}\"", "\"{pod}-{location}\"").replace("{pod}-{placement}", "{pod}-{location}-{placement}");
    shop.write("pod-sets/shop-web.yaml", &set);
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let before = shop.records();
    for state in ["waiting", "dead", "removing"] {
        shop.pods(&[Row { state, ..pod("a", "", &[]) }, pod("b", "sas2", &["2"])]);
        assert_eq!(shop.run("02:10:00", &["plan"]).blocked(), [""; 0], "{state}");
        shop.apply("02:10:00");
        let lost: Vec<String> = before.iter().filter(|own| !shop.records().contains(own)).cloned().collect();
        // Whom the SRV does not ask for is not listed; all else stays.
        let is_srv = |own: &String| own.starts_with("_http");
        assert!(lost.iter().all(is_srv) && (state != "removing" || lost.is_empty()), "{state}: {lost:?}");
        shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
        assert_eq!(shop.apply("02:20:00").exit, 0);
        assert_eq!(shop.records(), before, "{state}");
    }
}

#[test]
fn a_name_that_caches_may_be_led_to_stays_in_a_domain_of_hosts_too() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let set = shop.read("pod-sets/shop-web.yaml");
    shop.write("pod-sets/shop-web.yaml", &set.replace("domain: web.shop", "domain: shop"));
    let project = shop.read("projects/shop.yaml");
    shop.write("projects/shop.yaml", &project.replace("policy: repair", "policy: sync"));
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas1", &["1"])]);
    let holds_b = |shop: &Shop| shop.read("zones/shop.example.net.zone").lines().any(|line| line.starts_with("b-"));
    for (now, expected) in [("02:10:00", true), ("02:10:30", true), ("02:11:30", false)] {
        assert_eq!((shop.apply(now).exit, holds_b(&shop)), (0, expected), "{now}");
    }
}

#[test]
fn a_set_without_pods_takes_nothing_from_another_one() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let set = shop.read("pod-sets/shop-web.yaml");
    shop.write("pod-sets/empty.yaml", &set.replace("id: shop-web", "id: shop-b"));
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.run("02:00:00", &["plan"]).blocked(), [""; 0]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    assert!(shop.records().iter().any(|own| own.starts_with("_http._tcp SRV")));
    assert!(shop.run("02:10:00", &["plan"]).changes().is_empty());
}

#[test]
fn an_srv_lists_no_pod_that_the_command_leaves_out() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    let plan = shop.run("02:00:00", &["plan", "--subject", "endpoints:shop-web/http"]);
    assert!(plan.changes().is_empty(), "{:?}", plan.changes());
}

#[test]
fn an_srv_lists_a_new_name_once_all_name_servers_have_it() {
    // None of these answers.
    let silent: Vec<UdpSocket> = (0..2).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a port")).collect();
    for has_servers in [false, true] {
        let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
        shop.pods(&[pod("a", "sas1", &["1"])]);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        if has_servers {
            let server = |socket: &UdpSocket| {
                let address = socket.local_addr().expect("an address");
                format!("[[pool.main.nameserver]]\nserver = \"{address}\"\n")
            };
            let servers: String = silent.iter().map(server).collect();
            let terms = "[pool.main]\npoll_timeout = \"1s\"\npoll_max_retries = 0\n\n[[pool.main.target]]";
            let settings = shop.read("zonewright.toml").replace("[[pool.main.target]]", terms);
            shop.write("zonewright.toml", &format!("{settings}\n{servers}"));
        }
        let former = shop.placed("a", "1");
        // Only the node is another one.
        shop.pods(&[pod("a", "sas2", &["1"])]);
        shop.apply("02:10:00");
        let (records, listed) = (shop.records(), |name: &str| format!("_http._tcp SRV 0 0 8080 {name}"));
        let is_new = |own: &&String| own.starts_with("a-") && !own.starts_with(&former);
        let new = records.iter().find(is_new).and_then(|own| own.split_once(' ')).expect("the new name").0;
        let wanted = if has_servers { &former } else { new };
        assert!(records.contains(&listed(wanted)), "{records:?}");
    }
}

#[test]
fn a_name_that_is_made_of_a_place_goes_once_clients_can_know_the_new_one() {
    let shop = Shop::with("");
    let file = "pod-sets/shop-web.yaml";
    shop.write(file, &shop.read(file).replace("constant: \"{pod}\"", "constant: \"{pod}-{rack}\""));
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // Each pod has another rack, and its address stays.
    shop.pods(&[pod("a", "sas2", &["1"])]);
    for now in ["02:10:00", "02:10:30"] {
        assert_eq!(shop.apply(now).exit, 0);
        let records = shop.records();
        for name in ["a-sas1", "a-sas2"] {
            assert!(records.contains(&format!("{name} AAAA ::1")), "{records:?}");
        }
    }
    assert_eq!(shop.apply("02:11:30").exit, 0);
    let records = shop.records();
    assert!(records.contains(&"a-sas2 AAAA ::1".to_owned()), "{records:?}");
    assert!(records.iter().all(|own| !own.starts_with("a-sas1")), "{records:?}");
}

#[test]
fn a_pod_is_explained_by_its_id_and_a_name_that_stays_for_caches_says_so() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let answer = |question: &str| {
        let ran = shop.run("02:10:00", &["explain", question]);
        ran.document["answer"].as_str().expect("an answer").to_owned()
    };
    let whole = answer("a.web.shop.example.net");
    assert!(whole.starts_with("a.web.shop.example.net. belongs to pod:shop-web/a."), "{whole}");
    for question in ["pod:shop-web/a", "a"] {
        assert_eq!(answer(question), whole, "{question}");
    }
    let srv = answer("endpoints:shop-web/http");
    assert!(srv.starts_with("_http._tcp.web.shop.example.net. belongs to endpoints:shop-web/http."), "{srv}");
    let former = format!("{}.web.shop.example.net", shop.placed("a", "1"));
    // The move is made, and the SRV still lists the former placement.
    shop.pods(&[pod("a", "sas2", &["2"])]);
    shop.apply("02:10:00");
    let stays = answer(&former);
    assert!(stays.contains("is of a set of pods, and no pod has it now. It stays while clients"), "{stays}");
    // The SRV follows, and caches may have the former one for its TTL: a plan without changes says until when the name stays.
    shop.apply("02:10:30");
    let stays = answer(&former);
    assert!(
        stays.contains("caches may still lead there, and goes with the first plan after 2026-11-20T02:11:30Z."),
        "{stays}"
    );
    let shown = shop.text("02:10:40", &["plan"]);
    let said = [
        "No changes; former names of 1 set go later.",
        "1 former name of pods of `shop-web` goes with the first plan after 2026-11-20T02:11:30Z",
    ];
    let words: Vec<&str> = shown.split_whitespace().collect();
    for said in said {
        assert!(words.join(" ").contains(said), "{said}: {shown}");
    }
    let gone = shop.run("02:11:30", &["plan"]).changes();
    assert!(gone.iter().any(|change| change.starts_with(&format!("delete AAAA {former}."))), "{gone:?}");
    // An address of a pod is one of no host, too.
    let shown = shop.text("02:11:30", &["explain", "2001:db8:5::2"]);
    assert!(shown.contains("whose") && !shown.contains("no host"), "{shown}");
}

#[test]
fn a_pod_that_is_not_in_service_is_explained_by_its_row_and_one_without_a_row_is_an_error() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let waiting = Row { state: "waiting", ..pod("new1", "", &[]) };
    shop.pods(&[pod("a", "sas1", &["1"]), Row { state: "dead", ..pod("b", "sas2", &["2"]) }, waiting]);
    let answer = |question: &str| {
        let ran = shop.run("02:10:00", &["explain", question]);
        ran.document["answer"].as_str().expect("an answer").to_owned()
    };
    let says = |question: &str, said: &str| assert!(answer(question).starts_with(said), "{}", answer(question));
    let line = "by its row (pods/pods.jsonl:";
    says(
        "pod:shop-web/new1",
        &format!(
            "new1.web.shop.example.net. belongs to pod:shop-web/new1, which is `waiting` {line}3): it has no records at it, and \
             gets none in this state."
        ),
    );
    says(
        "pod:shop-web/B",
        &format!(
            "b.web.shop.example.net. belongs to pod:shop-web/b, which is `dead` {line}2): it keeps what is live there (AAAA), and \
             gets nothing new in this state."
        ),
    );
    // No row has the pod, and none had it: that is an error, as it is of a plan.
    let both = ["explain", "plan"].map(|command| {
        let args: &[&str] = if command == "plan" { &["plan", "--subject"] } else { &["explain"] };
        let mut run = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        run.args(args).args(["pod:shop-web/zzz", "--now", "2026-11-20T02:10:00Z", "-C"]).arg(shop.path());
        let output = run.output().expect("the binary was built for this test");
        assert_eq!(output.status.code(), Some(1), "{command}");
        String::from_utf8(output.stderr).expect("text")
    });
    assert!(both.iter().all(|said| said.contains("the set `shop-web` has no `zzz`")), "{both:?}");
    // Case does not count.
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas3", &["3"])]);
    let changes = shop.run("02:20:00", &["plan", "--subject", "pod:shop-web/B"]).changes();
    assert!(!changes.is_empty() && changes.iter().all(|change| change.ends_with("pod:shop-web/b")), "{changes:?}");
    assert_eq!(shop.run("02:20:00", &["plan", "--subject", "pod:shop-web/B*"]).changes(), changes);
    // An address is one of a pod, and so are the names that hold it.
    let shown = shop.text("02:20:00", &["explain", "2001:db8:5::1"]);
    assert!(shown.contains("a.web.shop.example.net., ttl 60: pod:shop-web/a\n"), "{shown}");
}

#[test]
fn a_replaced_pod_goes_once_no_cache_has_the_srv_that_listed_it() {
    let shop = Shop::with("migration: copy-and-remove\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("old", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    // The new pod is never listed: it is not enabled.
    shop.pods(&[Row { more: ",\"replaces\":\"old\",\"enabled\":false", ..pod("new", "sas2", &["2"]) }]);
    for now in ["02:10:00", "02:10:30"] {
        assert_eq!(shop.apply(now).waiting(), ["pod:shop-web/old replaces"]);
        let records = shop.records();
        assert!(records.contains(&"old AAAA ::1".to_owned()), "{records:?}");
        assert!(records.iter().all(|own| !own.starts_with("_http")), "{records:?}");
    }
    assert_eq!(shop.apply("02:11:30").exit, 0);
    let placed = shop.placed("new", "2");
    assert_eq!(shop.records(), ["new AAAA ::2".to_owned(), format!("{placed} AAAA ::2")]);
}

#[test]
fn a_pod_in_order_is_blocked_by_what_contradicts_it() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let settings =
        "[[sources.records]]\nname = \"static\"\nformat = \"octodns\"\npath = \"records/*.yaml\"\nproject = \"shop\"\n";
    shop.write("zonewright.toml", &format!("{}\n{settings}", shop.read("zonewright.toml")));
    fs::create_dir(shop.path().join("records")).expect("a folder");
    shop.write("records/shop.example.net.yaml", "{}\n");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let of_pods = |entries: &str, reverse: &str| {
        shop.write("records/shop.example.net.yaml", entries);
        shop.write("records/5.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.yaml", reverse);
        let blocked = shop.run("03:00:00", &["plan"]).blocked();
        blocked.into_iter().filter(|line| !line.starts_with("record:")).collect::<Vec<_>>()
    };
    assert_eq!(of_pods("{}\n", "{}\n"), Vec::<String>::new());
    let alias = "a.web: {type: CNAME, value: other.example.org.}\n";
    let pointer = format!("2{}: {{type: PTR, value: other.example.org.}}\n", ".0".repeat(19));
    assert_eq!(of_pods(alias, &pointer), ["pod:shop-web/a claim-conflict", "pod:shop-web/b claim-conflict"]);
    // The same address at the same name contradicts nothing; a TXT is welcome.
    let same = "c.web: [{type: AAAA, ttl: 60, value: '2001:db8:5::3'}, {type: TXT, value: hello}]\n";
    assert_eq!(of_pods(same, "{}\n"), Vec::<String>::new());
    // What is at and below a delegation belongs to no other subject.
    let all = ["pod:shop-web/a", "pod:shop-web/b", "pod:shop-web/c", "endpoints:shop-web/http"];
    let all = all.map(|subject| format!("{subject} claim-conflict"));
    assert_eq!(of_pods("web: {type: NS, value: ns1.example.org.}\n", "{}\n"), all);
}

#[test]
fn with_overlap_a_pod_has_its_old_and_its_new_address_for_a_time() {
    let shop = Shop::with("rollout: {overlap: 5m}\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("a", "1");
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas2", &["2"])]);
    let plan = shop.run("02:10:00", &["plan"]).document;
    let with_via: Vec<&Value> =
        plan["changes"].as_array().expect("changes").iter().filter(|own| own.get("via").is_some()).collect();
    assert_eq!(with_via.len(), 1, "the name that stays: {with_via:?}");
    let first = shop.apply("02:10:00");
    assert_eq!((first.exit, first.waiting()), (5, vec!["pod:shop-web/a overlap".to_owned()]));
    let status = shop.text("02:10:00", &["status"]);
    assert!(status.contains("In flux: these pods have both their old and their new addresses"), "{status}");
    let new = shop.placed("a", "a");
    let holds = |shop: &Shop, expected: &[&str]| {
        let records = shop.records();
        expected.iter().for_each(|own| assert!(records.iter().any(|it| it == own), "{own}: {records:?}"));
    };
    let (of_old, of_new) = (format!("{old} AAAA ::1"), format!("{new} AAAA ::a"));
    let listed = |placed: &str| format!("_http._tcp SRV 0 0 8080 {placed}");
    holds(&shop, &["a AAAA ::1", "a AAAA ::a", &of_old, &of_new, &listed(&old)]);
    assert_eq!(shop.apply("02:14:59").waiting(), ["pod:shop-web/a overlap"]);
    holds(&shop, &["a AAAA ::1", "a AAAA ::a", &of_old]);
    let second = shop.apply("02:15:00");
    assert_eq!(second.exit, 0, "{}", second.document);
    assert!(!shop.records().contains(&"a AAAA ::1".to_owned()));
    for now in ["02:17:00", "02:19:00", "02:21:00", "02:23:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    holds(&shop, &["a AAAA ::a", &of_new, &listed(&new)]);
    assert!(!shop.records().contains(&of_old), "{:?}", shop.records());
}

#[test]
fn an_srv_lists_no_name_that_an_apply_could_not_create() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    let kept = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])];
    shop.pods(&kept);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (before, file) = (shop.records(), shop.path().join("plan.json"));
    shop.pods(&[kept[0], kept[1], pod("c", "sas3", &["3"]), pod("d", "sas3", &["4"])]);
    let file = file.to_str().expect("a path");
    let plan = shop.run("02:10:00", &["plan", "--out", file]);
    let created = plan.changes().into_iter().find_map(|own| Some(own.split_once(" AAAA c-")?.1.to_owned()));
    let label = format!("c-{}", created.expect("a name").split_once('.').expect("a domain").0);
    // Until the apply another editor makes the name of a new pod.
    let zone = shop.read("zones/shop.example.net.zone");
    let foreign = format!("{label}.web.shop.example.net. 60 AAAA 2001:db8:5::ffff\n");
    shop.write("zones/shop.example.net.zone", &format!("{zone}{foreign}"));
    let outcomes = |ran: &Ran| -> Vec<String> {
        let all = ran.document["hosts"].as_array().expect("a list of outcomes").iter();
        all.map(|own| format!("{} {}", own["name"], own["outcome"]).replace('"', "")).collect()
    };
    let expected =
        ["c.web.shop.example.net. stale", "d.web.shop.example.net. applied", "_http._tcp.web.shop.example.net. stale"];
    let is_srv = |own: &&String| own.contains(" SRV ");
    for (command, now) in [("apply", "02:11:00"), ("resume", "02:12:00")] {
        let args: &[&str] = if command == "apply" { &["apply", file, "--yes"] } else { &["resume"] };
        let applied = shop.run(now, args);
        let outcomes: Vec<String> = outcomes(&applied).iter().map(|own| own.replace("already-", "")).collect();
        assert_eq!((applied.exit, outcomes), (4, expected.map(str::to_owned).to_vec()), "{}", applied.document);
        let message = applied.document["hosts"][2]["message"].as_str().expect("why");
        let begin = format!("its SRV is to list `{label}.web.shop.example.net.`, which is not there: pod:shop-web/c: ");
        assert!(message.starts_with(&begin), "{message}");
        let records = shop.records();
        let [listed, expected] = [&records, &before].map(|all| all.iter().filter(is_srv).collect::<Vec<_>>());
        assert_eq!(listed, expected);
    }
    // The next plan lists the pods that are there.
    assert_eq!(shop.apply("02:20:00").exit, 0);
    assert_eq!(shop.records().iter().filter(is_srv).count(), 3);
    shop.write("zones/shop.example.net.zone", &shop.read("zones/shop.example.net.zone").replace(&foreign, ""));
    assert_eq!(shop.apply("02:30:00").exit, 0);
    assert_eq!(shop.records().iter().filter(is_srv).count(), 4);
}

#[test]
fn an_srv_lists_no_name_that_went_since_the_plan() {
    let shop = Shop::with("");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let file = "pod-sets/shop-web.yaml";
    shop.write(file, &format!("{}endpoints: [{{name: http, protocol: tcp, port: 8080}}]\n", shop.read(file)));
    let plan = shop.path().join("plan.json");
    let plan = plan.to_str().expect("a path");
    assert_eq!(shop.run("02:10:00", &["plan", "--out", plan]).changes().len(), 1);
    let (zone, gone) = ("zones/shop.example.net.zone", shop.placed("a", "1"));
    let left = shop
        .read(zone)
        .lines()
        .filter(|line| !line.starts_with(&gone))
        .fold(String::new(), |all, line| all + line + "\n");
    shop.write(zone, &left);
    let ran = shop.run("02:11:00", &["apply", plan, "--yes"]);
    let message = ran.document["hosts"][0]["message"].as_str().expect("why");
    let expected = format!("its SRV is to list `{gone}.web.shop.example.net.`, which is no longer there");
    assert_eq!((ran.exit, message), (3, &*expected));
    assert!(shop.records().iter().all(|record| !record.contains(" SRV ")), "{:?}", shop.records());
}

#[test]
fn a_name_that_an_srv_lists_since_the_plan_stays() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let name = shop.placed("a", "1");
    shop.pods(&[pod("a", "sas2", &["2"])]);
    ["02:10:00", "02:20:00"].into_iter().for_each(|now| assert_eq!(shop.apply(now).exit, 0));
    let plan = |now: &str, file: &str| -> String {
        let path = shop.path().join(file).to_str().expect("a path").to_owned();
        let taken = format!("delete AAAA {name}.web.shop.example.net. orphan:main/{name}.web.shop.example.net.");
        assert!(shop.run(now, &["plan", "--out", &path]).changes().contains(&taken));
        path
    };
    let plans = ["one.json", "other.json", "third.json"].map(|file| plan("02:30:00", file));
    // The pod is back, and the SRV lists it there.
    shop.pods(&[pod("a", "sas1", &["1"])]);
    ["02:31:00", "02:32:30"].into_iter().for_each(|now| assert_eq!(shop.apply(now).exit, 0));
    let srv = format!("_http._tcp SRV 0 0 8080 {name}");
    assert!(shop.records().contains(&srv), "{:?}", shop.records());
    let stays = |ran: &Ran, why: &str| {
        let hosts = ran.document["hosts"].as_array().expect("outcomes");
        let messages: Vec<&str> = hosts.iter().filter_map(|host| host["message"].as_str()).collect();
        assert!(messages.contains(&why), "{messages:?}");
        assert!(shop.records().contains(&format!("{name} AAAA ::1")), "{:?}", shop.records());
    };
    let full = format!("{name}.web.shop.example.net.");
    let ran = shop.run("02:33:00", &["apply", &plans[0], "--yes"]);
    let listed = format!("the SRV `_http._tcp.web.shop.example.net.` lists `{full}` since the plan was made");
    stays(&ran, &listed);
    // The file of the set does not say any longer which domain it has.
    let (file, good) = ("pod-sets/shop-web.yaml", shop.read("pod-sets/shop-web.yaml"));
    shop.write(file, &format!("{good}x: [\n"));
    stays(&shop.run("02:33:10", &["apply", &plans[2], "--yes"]), &listed);
    shop.write(file, &good);
    // It has left again, and caches may hold the SRV.
    shop.pods(&[pod("a", "sas2", &["2"])]);
    ["02:40:00", "02:41:30"].into_iter().for_each(|now| assert_eq!(shop.apply(now).exit, 0));
    assert!(!shop.records().contains(&srv), "{:?}", shop.records());
    let ran = shop.run("02:42:00", &["apply", &plans[1], "--yes"]);
    stays(&ran, &format!("caches may hold an SRV that listed `{full}` since the plan was made"));
}

#[test]
fn a_name_that_a_pod_has_again_since_the_plan_stays() {
    // The name that stays is of the pod alone, or of its node, too.
    for constant in ["{pod}", "{pod}-{node}"] {
        let shop = Shop::with("");
        let file = "pod-sets/shop-web.yaml";
        shop.write(file, &shop.read(file).replace("\"{pod}\"", &format!("\"{constant}\"")));
        let (here, there, other) = (pod("a", "sas1", &["1"]), pod("a", "sas2", &["2"]), pod("b", "sas3", &["3"]));
        shop.pods(&[here, other]);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        let before = shop.records();
        shop.pods(&[there, other]);
        assert_eq!(shop.apply("02:10:00").exit, 0);
        let plan = shop.path().join("plan.json").display().to_string();
        let taken = shop.run("02:20:00", &["plan", "--out", &plan]).changes();
        assert!(taken.iter().any(|own| own.starts_with("delete AAAA a")), "{taken:?}");
        // It is back, and what it had at the other place goes.
        shop.pods(&[here, other]);
        ["06:20:00", "06:30:00", "06:40:00"].into_iter().for_each(|now| drop(shop.apply(now)));
        assert_eq!(shop.records(), before, "{constant}");
        let ran = shop.run("06:50:00", &["apply", &plan, "--yes"]).document;
        let hosts = ran["hosts"].as_array().expect("outcomes");
        assert!(hosts.iter().all(|host| host["outcome"] == "stale"), "{constant}: {ran}");
        assert_eq!(shop.records(), before, "{constant}: {ran}");
    }
}

#[test]
fn a_replaced_pod_stays_as_long_as_an_srv_lists_it_that_cannot_change() {
    let shop = Shop::with("migration: copy-and-remove\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("old", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("old", "1");
    // The SRV would have more records than a target may hold in one RRset.
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &format!("{config}\n[limits]\nmax_rrset = 1\n"));
    let new = Row { more: ",\"replaces\":\"old\"", ..pod("new", "sas2", &["2"]) };
    shop.pods(&[new, pod("b", "sas3", &["3"])]);
    for now in ["02:10:00", "02:30:00", "02:50:00"] {
        assert_eq!(shop.run(now, &["plan"]).blocked(), ["endpoints:shop-web/http post-state"]);
        shop.apply(now);
        assert!(shop.records().contains(&format!("{old} AAAA ::1")), "{now}: {:?}", shop.records());
    }
}

/// What a plan says about RRsets that were changed since.
fn edited(ran: &Ran) -> Vec<String> {
    let notices = ran.document["notices"].as_array().expect("a list of notices").iter();
    let edited = notices.filter(|own| own["code"] == "edited-since");
    edited.map(|own| own["message"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn an_undo_takes_no_name_that_an_srv_lists_and_lists_none_that_is_gone() {
    let shop = Shop::with("endpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("a", "1");
    shop.pods(&[pod("a", "sas3", &["a"])]);
    for now in ["02:10:00", "02:10:30"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    let (new, before) = (shop.placed("a", "a"), shop.records());
    assert!(before.contains(&format!("_http._tcp SRV 0 0 8080 {new}")), "{before:?}");
    // The SRV of apply 3 lists the name that apply 2 made.
    let plan = shop.run("02:10:40", &["plan"]).document;
    let undo = shop.run("02:10:40", &["undo", "2"]);
    let expected = format!(
        "the SRV `_http._tcp.web.shop.example.net.` lists `{new}.web.shop.example.net.`, which apply 2 created; apply 3 \
         did that; undo that apply first; undo leaves pod:shop-web/a as it is"
    );
    assert_eq!((undo.changes(), edited(&undo)), (Vec::new(), vec![expected]), "{plan}");
    // In turn both can be undone, while the name of the first placement is there.
    for (id, now) in [("3", "02:10:41"), ("2", "02:10:42")] {
        shop.run(now, &["undo", id, "--yes"]);
    }
    let first = [format!("_http._tcp SRV 0 0 8080 {old}"), "a AAAA ::1".to_owned(), format!("{old} AAAA ::1")];
    assert_eq!(shop.records(), first);
    // Again, until the name of the first placement is gone: no SRV gets it back without the name.
    for now in ["02:20:00", "02:22:00", "02:24:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    assert!(shop.records().iter().all(|own| !own.contains(&old)), "{:?}", shop.records());
    let undo = shop.run("02:25:00", &["undo", "7"]);
    let expected = format!(
        "the SRV `_http._tcp.web.shop.example.net.` would list `{old}.web.shop.example.net.`, which is no longer there; \
         apply 8 did that; undo that apply first; undo leaves endpoints:shop-web/http as it is"
    );
    assert_eq!((undo.changes(), edited(&undo)), (Vec::new(), vec![expected]));
}

#[test]
fn an_undo_of_all_takes_the_srv_first_and_of_a_pod_alone_nothing() {
    let shop = Shop::with("unavailability_budget: 2\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let alone = shop.run("02:00:10", &["undo", "1", "--subject", "pod:shop-web/a"]);
    assert_eq!(alone.changes(), [""; 0]);
    let said = edited(&alone);
    assert!(said[0].contains("undo that, too: `--subject 'endpoints:shop-web/http'`"), "{said:?}");
    assert_eq!(shop.run("02:00:20", &["undo", "1", "--yes"]).exit, 0);
    assert_eq!(shop.records(), [""; 0]);
}

#[test]
fn what_waits_is_in_explanations_metrics_and_events() {
    let shop = Shop::with("rollout: {gate: health}");
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &format!("{config}\n[gate.health]\ncommand = [\"true\"]\n"));
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas4", &["b"])]);
    let (metrics, path) = (shop.path().join("run.prom"), shop.path().to_str().expect("a path"));
    let metrics = metrics.to_str().expect("a path");
    let events = |now: &str| -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        let now = format!("2026-11-20T{now}Z");
        let args =
            ["apply", "--auto", "--yes", "--log-format", "json", "--now", &now, "--metrics", metrics, "-C", path];
        let output = command.args(args).output().expect("the binary was built for this test");
        let text = String::from_utf8(output.stderr).expect("text");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line"));
        lines.filter(|line: &Value| line["event"].is_string()).collect()
    };
    let wave = events("02:10:00").into_iter().find(|line| line["event"] == "wave-sent").expect("a wave");
    let expected = serde_json::json!({"budget": 1});
    assert_eq!(
        (&wave["sent"], &wave["waiting"], &wave["next"]),
        (&1.into(), &expected, &"2026-11-20T02:11:00Z".into())
    );
    let text = shop.read("run.prom");
    for sample in [
        "zonewright_waiting_subjects{command=\"apply\",code=\"budget\"} 1",
        "zonewright_waiting_subjects{command=\"apply\",code=\"gate\"} 0",
        "zonewright_flux_subjects{command=\"apply\",group=\"shop-web\"} 1",
    ] {
        assert!(text.contains(sample), "{sample}: {text}");
    }
    let asked = shop.run("02:10:10", &["explain", "b.web.shop.example.net"]).document;
    let answer = asked["answer"].as_str().expect("an answer");
    let said = "A change of pod:shop-web/b waits for a later wave since 2026-11-20T02:10:00Z (`budget`): the budget of \
                `shop-web` is 1, and 1 is in flux or goes now; it can go from 2026-11-20T02:11:00Z on.";
    assert!(answer.ends_with(said), "{answer}");
    // The gate no longer passes.
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &config.replace("[\"true\"]", "[\"false\"]\nretries = 0"));
    let failed = events("02:12:00").into_iter().find(|line| line["event"] == "gate-failed").expect("a gate");
    assert_eq!(
        (&failed["group"], &failed["gate"], &failed["level"]),
        (&"shop-web".into(), &"health".into(), &"WARN".into())
    );
}

#[test]
fn names_of_earlier_placements_and_large_srv_have_words_of_their_own() {
    let shop = Shop::with("unavailability_budget: 3\nendpoints: [{name: http, protocol: tcp, port: 8080}]");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("a", "1");
    shop.pods(&[pod("a", "sas3", &["a"])]);
    for now in ["02:10:00", "02:12:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    let plan = shop.run("02:14:00", &["plan"]).document;
    let reason = &plan["changes"][0]["reasons"][0];
    assert_eq!((&reason["rule"], &reason["evidence"][0]), (&"no-pod".into(), &"pod-sets/shop-web.yaml:1".into()));
    let name = format!("{old}.web.shop.example.net.");
    assert!(
        plan["changes"].as_array().expect("changes").iter().any(|change| change["name"] == name.as_str()),
        "{plan}"
    );
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &format!("{config}\n[limits]\nmax_rrset = 1\n"));
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas3", &["b"])]);
    let blocked = shop.run("02:20:00", &["plan"]).document["blocked"][0].clone();
    let hint = blocked["hint"].as_str().expect("a hint");
    assert!(hint.contains("`{location}`") && hint.contains("`zonewright render endpoints`"), "{hint}");
}

#[test]
fn the_page_of_a_plan_says_how_many_pods_go_now_and_how_many_later() {
    let shop = Shop::with("unavailability_budget: 2\nrollout: {canary: 1, overlap: 5m}");
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas4", &["a"]), pod("b", "sas5", &["b"]), pod("c", "sas6", &["c"])]);
    let page = shop.text("02:10:00", &["plan", "--format", "html"]);
    for said in [
        "1 now + 2 later, 2 waves, 11m",
        "Ready to apply to 3 pods: 1 pod now, 2 pods in later waves",
        "old and new together for `overlap`, then the new alone",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

#[test]
fn a_pattern_that_nothing_is_like_is_an_error() {
    let shop = Shop::with("");
    shop.pods(&[pod("a", "sas1", &["1"])]);
    let said = |pattern: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        let args = ["plan", "-q", "--now", "2026-11-20T02:00:00Z", "--subject", pattern, "-C"];
        let output = command.args(args).arg(shop.path()).output().expect("the binary was built for this test");
        (output.status.code().expect("an exit code"), String::from_utf8(output.stderr).expect("text"))
    };
    for (pattern, hint) in [
        ("pod:shop-wbe/*", "did you mean `pod:shop-web`?"),
        ("pod:shop-web/z*", "`pod:shop-web/*` is all of them"),
        ("record:*", "`zonewright explain NAME` says which subject has a name"),
    ] {
        let (exit, text) = said(pattern);
        assert!(exit == 1 && text.contains("no subject of the inventory is like it"), "{pattern} {exit}: {text}");
        assert!(text.contains(hint), "{pattern}: {text}");
    }
    // Which names are unclaimed is not known before DNS is read.
    for pattern in ["pod:shop-web/*", "pod:*/a", "*", "orphan:*"] {
        assert_eq!(said(pattern).0, 0, "{pattern}");
    }
}

/// The end of the file of a set with one endpoint.
const HTTP: &str = "endpoints: [{name: http, protocol: tcp, port: 8080}]";

/// What `_http._tcp` lists where it lists these names.
fn http(names: &[&str]) -> Vec<String> {
    let mut listed: Vec<String> = names.iter().map(|name| format!("_http._tcp {name}")).collect();
    listed.sort();
    listed
}

#[test]
fn what_another_editor_makes_of_a_pod_that_is_to_move_takes_it_from_no_srv() {
    for (is_constant, address) in [(true, Some("dead")), (false, Some("dead")), (false, None)] {
        let shop = Shop::with(HTTP);
        shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        let old = [shop.placed("a", "1"), shop.placed("b", "2")];
        let names: [&str; 2] = if is_constant { ["a", "b"] } else { [&old[0], &old[1]] };
        names.iter().for_each(|name| shop.edit(name, address));
        shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas4", &["b"])]);
        assert_eq!(shop.apply("02:15:00").exit, 5);
        assert_eq!(shop.listed(), http(&[&old[0], &old[1]]), "{names:?} {address:?}");
        for now in ["02:17:00", "02:19:00", "02:21:00", "02:23:00"] {
            shop.apply(now);
            assert!(!shop.listed().is_empty(), "{names:?} {address:?}");
        }
        assert_eq!(shop.listed(), http(&[&shop.placed("a", "a"), &shop.placed("b", "b")]));
    }
}

#[test]
fn an_srv_does_not_list_again_where_a_pod_no_longer_is() {
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "sas3", &["3"])];
    // One died, one was taken away: the SRV no longer lists it, and its names stay.
    for state in ["dead", "removing"] {
        let shop = Shop::with(HTTP);
        shop.pods(&all);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        let (a, b) = (shop.placed("a", "1"), shop.placed("b", "2"));
        shop.pods(&[all[0], all[1], Row { state, ..all[2] }]);
        assert_eq!(shop.apply("02:20:00").exit, 0);
        assert_eq!(shop.listed(), http(&[&a, &b]), "{state}");
        // It comes back elsewhere, and its name does not lead there yet.
        shop.pods(&[pod("a", "sas5", &["a"]), all[1], pod("c", "sas6", &["c"])]);
        shop.apply("02:50:00");
        assert_eq!(shop.listed(), http(&[&a, &b]), "{state}");
        for now in ["02:52:00", "02:54:00", "02:56:00"] {
            shop.apply(now);
        }
        assert_eq!(shop.listed(), http(&[&shop.placed("a", "a"), &b, &shop.placed("c", "c")]), "{state}");
    }
}

#[test]
fn an_srv_that_comes_back_does_not_list_where_a_pod_no_longer_is() {
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])];
    for state in ["dead", "removing"] {
        let shop = Shop::with(HTTP);
        shop.pods(&all);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        // No pod is left, and the SRV goes.
        shop.pods(&all.map(|row| Row { state, ..row }));
        assert_eq!(shop.apply("02:20:00").exit, 0);
        assert!(shop.listed().is_empty(), "{state}");
        // They come back elsewhere, and their names do not lead there yet.
        shop.pods(&[pod("a", "sas5", &["a"]), pod("b", "sas6", &["b"])]);
        shop.apply("02:50:00");
        assert!(shop.listed().is_empty(), "{state}: {:?}", shop.listed());
        for now in ["02:52:00", "02:54:00", "02:56:00"] {
            shop.apply(now);
        }
        assert_eq!(shop.listed(), http(&[&shop.placed("a", "a"), &shop.placed("b", "b")]), "{state}");
    }
}

#[test]
fn an_srv_lists_no_name_that_stays_with_a_pod() {
    let shop = Shop::with(HTTP);
    let file = "pod-sets/shop-web.yaml";
    let names = "{constant: \"{pod}-{location}\", transient: \"{pod}-{node}\"}";
    shop.write(file, &shop.read(file).replace("{constant: \"{pod}\", transient: \"{pod}-{placement}\"}", names));
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop.pods(&[pod("a", "sas5", &["a"]), pod("b", "sas6", &["b"])]);
    assert_eq!(shop.apply("02:10:00").exit, 5);
    assert_eq!(shop.listed(), http(&["a-sas1", "b-sas2"]));
}

#[test]
fn a_pod_that_waits_stays_in_the_srv_of_the_location_where_it_is() {
    let shop = Shop::with("endpoints: [{name: \"http-{location}\", protocol: tcp, port: 8080}]");
    let all = [pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"]), pod("c", "vla3", &["3"])];
    shop.pods(&all);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let (a, c) = (shop.placed("a", "1"), shop.placed("c", "3"));
    // One is dead, so no other may move.
    shop.pods(&[pod("a", "vla1", &["a"]), Row { state: "dead", ..all[1] }, all[2]]);
    assert_eq!(shop.apply("02:10:00").waiting(), ["pod:shop-web/a budget"]);
    assert_eq!(shop.listed(), [format!("_http-sas._tcp {a}"), format!("_http-vla._tcp {c}")]);
    shop.pods(&[pod("a", "vla1", &["a"]), all[1], all[2]]);
    for now in ["02:20:00", "02:22:00"] {
        assert_eq!(shop.apply(now).exit, 0);
    }
    let mut vla = vec![format!("_http-vla._tcp {}", shop.placed("a", "a")), format!("_http-vla._tcp {c}")];
    vla.sort();
    let sas = vec![format!("_http-sas._tcp {}", shop.placed("b", "2"))];
    assert_eq!(shop.listed(), [sas, vla].concat());
}

/// What makes a row say that its pod replaces `old`.
const REPLACES: &str = ",\"replaces\":\"old\"";

/// A workspace whose set copies names, with two pods of which one is `old`.
fn copying(endpoints: &str) -> Shop {
    let shop = Shop::with(&format!("migration: copy-and-remove\n{endpoints}"));
    shop.pods(&[pod("old", "sas1", &["1"]), pod("k", "sas5", &["5"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    shop
}

#[test]
fn one_of_several_pods_that_replace_another_is_enough() {
    for (ready, dead) in [("n1", "n2"), ("n2", "n1")] {
        let shop = copying(HTTP);
        let ready = Row { more: REPLACES, ..pod(ready, "sas2", &["2"]) };
        let dead = Row { more: REPLACES, state: "dead", ..pod(dead, "sas3", &["3"]) };
        shop.pods(&[pod("k", "sas5", &["5"]), ready, dead]);
        assert_eq!(shop.apply("02:10:00").waiting(), ["pod:shop-web/old replaces"]);
        assert_eq!(shop.apply("02:12:00").exit, 0);
        let records = shop.records();
        assert!(records.iter().all(|own| !own.starts_with("old")), "{records:?}");
    }
}

#[test]
fn a_pod_that_is_still_there_does_not_wait_for_the_one_that_is_to_replace_it() {
    let kept = pod("k", "sas5", &["5"]);
    let new = Row { more: REPLACES, state: "waiting", ..pod("new", "", &[]) };
    // It is new itself.
    let shop = Shop::with(&format!("migration: copy-and-remove\n{HTTP}"));
    for old in [Row { state: "prepared", ..pod("old", "sas1", &["1"]) }, pod("old", "sas1", &["1"])] {
        shop.pods(&[kept, old, new]);
        assert!(shop.apply("02:00:00").waiting().is_empty());
    }
    let listed = |shop: &Shop, pods: [&str; 2]| assert_eq!(shop.listed(), http(&pods), "{:?}", shop.records());
    listed(&shop, [&shop.placed("k", "5"), &shop.placed("old", "1")]);
    assert!(shop.records().contains(&"old AAAA ::1".to_owned()), "{:?}", shop.records());
    // It died, and is back elsewhere.
    shop.pods(&[kept, Row { state: "dead", ..pod("old", "sas1", &["1"]) }, new]);
    shop.apply("02:10:00");
    shop.pods(&[kept, pod("old", "sas9", &["9"]), new]);
    for now in ["02:20:00", "02:30:00"] {
        assert!(shop.apply(now).waiting().is_empty());
    }
    listed(&shop, [&shop.placed("k", "5"), &shop.placed("old", "9")]);
    assert!(shop.records().contains(&"old AAAA ::9".to_owned()), "{:?}", shop.records());
}

#[test]
fn a_pod_is_not_replaced_by_one_that_is_blocked_or_left_out() {
    let (kept, new) = (pod("k", "sas5", &["5"]), Row { more: REPLACES, ..pod("new", "sas2", &["2"]) });
    let holds = |shop: &Shop| shop.records().contains(&"old AAAA ::1".to_owned());
    for endpoints in ["", HTTP] {
        // Another editor has the name that is to stay with the new pod.
        let shop = copying(endpoints);
        let (file, foreign) = ("zones/shop.example.net.zone", "new.web.shop.example.net. 60 AAAA 2001:db8:5::77\n");
        shop.write(file, &format!("{}{foreign}", shop.read(file)));
        shop.pods(&[kept, new]);
        for now in ["02:20:00", "02:30:00"] {
            let ran = shop.apply(now);
            assert_eq!(ran.waiting(), ["pod:shop-web/old replaces"]);
            let message = ran.document["waiting"][0]["message"].as_str().expect("why");
            assert_eq!(message, "pod:shop-web/new replaces it, and is blocked");
            assert!(holds(&shop), "{:?}", shop.records());
        }
        shop.write(file, &shop.read(file).replace(foreign, ""));
        for now in ["02:40:00", "02:42:00"] {
            shop.apply(now);
        }
        assert!(!holds(&shop), "{:?}", shop.records());
        // Its row is bad.
        let shop = copying(endpoints);
        shop.pods(&[kept, Row { more: ",\"replaces\":\"old\",\"inv\":\"x\"", ..new }]);
        assert_eq!(shop.apply("02:20:00").waiting(), ["pod:shop-web/old replaces"]);
        assert!(holds(&shop), "{:?}", shop.records());
        // The command is about the old pod alone, which moves.
        let shop = copying(endpoints);
        shop.pods(&[kept, new, pod("old", "sas9", &["9"])]);
        let ran = shop.run("02:20:00", &["apply", "--auto", "--yes", "--subject", "pod:shop-web/old"]);
        let message = ran.document["waiting"][0]["message"].as_str().expect("why");
        assert_eq!(message, "pod:shop-web/new replaces it, and the command leaves it out");
        assert!(holds(&shop), "{:?}", shop.records());
    }
}

#[test]
fn a_name_that_may_be_of_two_pods_stays_as_long_as_one_keeps_it() {
    let shop = Shop::with("");
    let file = "pod-sets/shop-web.yaml";
    shop.write(file, &shop.read(file).replace("{pod}-{placement}", "{pod}-{node}"));
    let (a, c) = (pod("a", "sas1", &["1"]), pod("c", "sas3", &["3"]));
    shop.pods(&[a, pod("a-b", "sas2", &["2"]), c]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let before = shop.records();
    // `a-b-sas2` could be the name of `a` on a node `b-sas2`, too.
    shop.pods(&[a, Row { state: "dead", ..pod("a-b", "", &[]) }, c]);
    assert_eq!(shop.apply("02:10:00").exit, 0);
    assert_eq!(shop.records(), before);
}

#[test]
fn a_set_that_grows_all_the_time_lets_a_replaced_pod_go() {
    let shop = copying(HTTP);
    let new = Row { more: REPLACES, ..pod("new", "sas2", &["2"]) };
    let mut all = vec![pod("k", "sas5", &["5"]), new];
    let more = [pod("x1", "sas6", &["11"]), pod("x2", "sas7", &["12"]), pod("x3", "sas8", &["13"])];
    let of_old = |shop: &Shop| shop.records().iter().filter(|own| own.starts_with("old")).count();
    for (own, now, left) in [(more[0], "02:10:00", 2), (more[1], "02:10:40", 2), (more[2], "02:11:20", 0)] {
        // One more comes with each apply, so that the SRV is always on its way.
        all.push(own);
        shop.pods(&all);
        shop.apply(now);
        assert_eq!(of_old(&shop), left, "{now}: {:?}", shop.records());
    }
    assert_eq!(shop.listed().len(), 5);
}

/// Writes a text into the file of the set in place of another one.
fn rewrite(shop: &Shop, old: &str, new: &str) {
    let set = shop.read("pod-sets/shop-web.yaml");
    assert!(set.contains(old), "{set}");
    shop.write("pod-sets/shop-web.yaml", &set.replace(old, new));
}

/// The names with an SRV, each once: `_http._tcp`.
fn srv_names(shop: &Shop) -> Vec<String> {
    let records = shop.records();
    let names = records.iter().filter(|own| own.contains(" SRV ")).filter_map(|own| own.split(' ').next());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.dedup();
    names
}

#[test]
fn the_srv_of_an_endpoint_that_its_file_no_longer_has_goes_and_what_it_lists_once_that_has_settled() {
    let shop = Shop::with(HTTP);
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let old = shop.placed("a", "1");
    rewrite(&shop, HTTP, "");
    shop.pods(&[pod("a", "sas3", &["a"]), pod("b", "sas2", &["2"])]);
    let plan = shop.run("02:10:00", &["plan"]);
    let gone = "delete SRV _http._tcp.web.shop.example.net. endpoints:shop-web/http".to_owned();
    assert!(plan.changes().contains(&gone), "{:?}", plan.changes());
    assert_eq!(plan.document["left_behind"], Value::Null);
    let of_srv = plan.document["changes"].as_array().expect("changes").iter().find(|own| own["type"] == "SRV");
    let reason = of_srv.expect("the change")["reasons"][0].clone();
    assert_eq!((&reason["rule"], &reason["evidence"][0]), (&"no-pod".into(), &"pod-sets/shop-web.yaml:1".into()));
    let asked = shop.run("02:10:00", &["explain", "_http._tcp.web.shop.example.net"]).document;
    let answer = asked["answer"].as_str().expect("an answer");
    let expected =
        "_http._tcp.web.shop.example.net. is of the set `shop-web`, and no endpoint has it now: an own SRV there goes.";
    assert!(answer.starts_with(expected), "{answer}");
    // A cache may still have the SRV, and ask for what it lists.
    let is_there = |shop: &Shop| shop.records().contains(&format!("{old} AAAA ::1"));
    for (now, srv, expected) in [("02:10:00", 0, true), ("02:10:50", 0, true), ("02:11:30", 0, false)] {
        assert_eq!((shop.apply(now).exit, srv_names(&shop).len(), is_there(&shop)), (0, srv, expected), "{now}");
    }
    assert!(shop.run("02:20:00", &["plan"]).changes().is_empty());
}

#[test]
fn the_srv_of_an_endpoint_goes_with_what_says_in_dns_that_it_is_ours() {
    let shop = Shop::with(HTTP);
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &config.replace("registry = \"journal\"", "registry = \"txt\""));
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let has_srv = |shop: &Shop| shop.read("zones/shop.example.net.zone").contains("_http._tcp");
    assert!(has_srv(&shop));
    rewrite(&shop, HTTP, "");
    assert_eq!((shop.apply("02:10:00").exit, has_srv(&shop)), (0, false));
}

#[test]
fn the_srv_of_an_endpoint_with_another_name_or_protocol_goes() {
    let located = HTTP.replace("name: http", "name: \"http-{location}\"");
    let changes = [
        (HTTP, "name: http", "name: web", ["_web._tcp"]),
        (HTTP, "protocol: tcp", "protocol: udp", ["_http._udp"]),
        (HTTP, "name: http", "name: \"http-{location}\"", ["_http-sas._tcp"]),
        (&located, "name: \"http-{location}\"", "name: http", ["_http._tcp"]),
    ];
    for (endpoints, old, new, expected) in changes {
        let shop = Shop::with(endpoints);
        shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
        assert_eq!(shop.apply("02:00:00").exit, 0);
        rewrite(&shop, old, new);
        assert_eq!((shop.apply("02:10:00").exit, srv_names(&shop)), (0, expected.map(str::to_owned).to_vec()), "{new}");
        assert!(shop.run("02:20:00", &["plan"]).changes().is_empty(), "{new}");
    }
}

#[test]
fn an_srv_that_no_endpoint_has_stays_where_a_set_or_a_file_may_have_it() {
    let shop = Shop::with(HTTP);
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    let set = shop.read("pod-sets/shop-web.yaml");
    let stays = |what: &str| {
        let ran = shop.run("02:10:00", &["plan"]);
        assert!(ran.changes().is_empty(), "{what}: {:?}", ran.changes());
        assert_eq!(ran.document["left_behind"], Value::Null, "{what}");
    };
    rewrite(&shop, HTTP, "");
    // Another set in the domain has it.
    shop.write("pod-sets/other.yaml", &set.replace("id: shop-web", "id: shop-b"));
    let changes = shop.run("02:10:00", &["plan"]).changes();
    assert_eq!(changes, ["delete SRV _http._tcp.web.shop.example.net. endpoints:shop-b/http"]);
    // Its file cannot be read.
    shop.write("pod-sets/other.yaml", &set.replace("id: shop-web", "id: shop-b").replace("ttl", "tll"));
    stays("a file of a set is bad");
    fs::remove_file(shop.path().join("pod-sets/other.yaml")).expect("a file");
    let rows = shop.read("pods/pods.jsonl");
    shop.write("pods/pods.jsonl", "");
    stays("the export is not believed");
    shop.write("pods/pods.jsonl", &rows);
    assert_eq!(shop.run("02:10:00", &["plan", "--subject", "endpoints:shop-web/*"]).changes().len(), 1);
    assert!(shop.run("02:10:00", &["plan", "--subject", "pod:shop-web/*"]).changes().is_empty());
    // Another editor has what is to take its place.
    let zone = shop.read("zones/shop.example.net.zone");
    shop.write(
        "zones/shop.example.net.zone",
        &format!("{zone}_http._udp.web.shop.example.net. 60 SRV 0 0 1 x.example.net.\n"),
    );
    shop.write("pod-sets/shop-web.yaml", &set.replace("tcp", "udp"));
    assert_eq!(shop.run("02:10:00", &["plan"]).blocked(), ["endpoints:shop-web/http not-owner"]);
    stays("the endpoint is blocked");
    // What the state does not say is ours is another's.
    shop.write("pod-sets/shop-web.yaml", &set.replace(HTTP, ""));
    fs::remove_dir_all(shop.path().join(".zonewright")).expect("the state");
    stays("it is not own");
}

#[test]
fn what_a_file_of_records_may_state_stays_while_it_cannot_be_read() {
    let shop = Shop::with(HTTP);
    let config = shop.read("zonewright.toml").replace("registry = \"journal\"", "registry = \"txt\"");
    let source =
        "[[sources.records]]\nname = \"static\"\nformat = \"octodns\"\npath = \"records/*.yaml\"\nproject = \"shop\"\n";
    shop.write("zonewright.toml", &format!("{config}\n{source}"));
    fs::create_dir(shop.path().join("records")).expect("a folder");
    let (file, good) = (
        "records/shop.example.net.yaml",
        "_sip._tcp.web: {type: SRV, ttl: 60, value: 0 0 5060 sip.shop.example.net.}\n\
         legacy.web: {type: AAAA, ttl: 60, value: \"2001:db8:5::77\"}\n",
    );
    shop.write(file, good);
    shop.pods(&[pod("a", "sas1", &["1"]), pod("b", "sas2", &["2"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    assert!(shop.records().contains(&"legacy AAAA ::77".to_owned()), "{:?}", shop.records());
    // The state is lost, and the file is broken.
    fs::remove_dir_all(shop.path().join(".zonewright")).expect("the state");
    shop.write(file, &format!("{good}x: [\n"));
    let ran = shop.run("02:10:00", &["plan"]);
    assert!(ran.changes().is_empty(), "{:?}", ran.changes());
    // A pod moves all the same.
    shop.pods(&[pod("a", "sas9", &["9"]), pod("b", "sas2", &["2"])]);
    assert!(
        shop.run("02:10:00", &["plan"])
            .changes()
            .contains(&"modify AAAA a.web.shop.example.net. pod:shop-web/a".into())
    );
}

#[test]
fn an_srv_that_no_endpoint_has_is_left_behind_where_the_policy_deletes_nothing_and_waits_as_delete_after_says() {
    let shop = Shop::with(HTTP);
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    rewrite(&shop, HTTP, "");
    let project = shop.read("projects/shop.yaml");
    assert!(project.contains("policy: repair"), "{project}");
    shop.write("projects/shop.yaml", &project.replace("policy: repair", "policy: upsert-only"));
    let plan = shop.run("02:10:00", &["plan"]);
    assert!(plan.changes().is_empty(), "{:?}", plan.changes());
    let left = plan.document["left_behind"].as_array().expect("what is left");
    let names: Vec<&str> = left.iter().filter_map(|own| own["name"].as_str()).collect();
    assert_eq!((names, &left[0]["type"]), (vec!["_http._tcp.web.shop.example.net."], &"SRV".into()));
    let notices = plan.document["notices"].as_array().expect("notices");
    let message = "no endpoint has the name `_http._tcp.web.shop.example.net.`, and its records are left, created by apply 1: SRV; \
                   policy `repair` or `sync` would delete them, but project `shop` has policy `upsert-only`";
    assert!(notices.iter().any(|own| own["message"] == message), "{notices:?}");
    shop.write("projects/shop.yaml", &project);
    let config = shop.read("zonewright.toml");
    shop.write("zonewright.toml", &format!("delete_after = \"1h\"\n{config}"));
    assert_eq!((shop.apply("02:20:00").exit, srv_names(&shop)), (0, vec!["_http._tcp".to_owned()]));
    assert_eq!(shop.run("02:30:00", &["plan"]).document["delayed"][0]["subject"], "endpoints:shop-web/http");
    assert_eq!((shop.apply("03:20:00").exit, srv_names(&shop).len()), (0, 0));
}

#[test]
fn nothing_goes_that_a_set_of_another_project_in_the_same_domain_may_have() {
    let shop = Shop::with(HTTP);
    let config = shop.read("zonewright.toml");
    let other = "[project.other]\ndns_domain = \"other.example.net\"\nalso_domains = [\"web.shop.example.net\"]\n\
                 automation = \"allowed\"\n\n[[pool.main.target]]";
    shop.write("zonewright.toml", &config.replacen("[[pool.main.target]]", other, 1));
    shop.write("projects/other.yaml", &shop.read("projects/shop.yaml").replace("id: shop", "id: other"));
    let set = shop
        .read("pod-sets/shop-web.yaml")
        .replace("id: shop-web", "id: api")
        .replace("project: shop", "project: other");
    let set = set.replace("name: http", "name: api");
    shop.write("pod-sets/api.yaml", &set);
    let row = |set: &str, pod: &str| {
        format!(
            "{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"{set}\",\"pod\":\"{pod}\",\"state\":\"active\",\
             \"node\":\"{pod}1.example.net\",\"addresses\":[\"2001:db8:5::{pod}\"]}}\n"
        )
    };
    shop.write("pods/pods.jsonl", &[row("shop-web", "a"), row("api", "b")].concat());
    assert_eq!(shop.apply("02:00:00").exit, 0);
    assert_eq!(srv_names(&shop), ["_api._tcp", "_http._tcp"]);
    shop.write("pod-sets/api.yaml", &set.replace("ttl", "tll"));
    let ran = shop.run("02:10:00", &["plan"]);
    assert!(ran.changes().is_empty(), "{:?}", ran.changes());
    assert_eq!(ran.document["left_behind"], Value::Null);
}

#[test]
fn an_srv_in_the_former_domain_of_a_set_is_left_behind() {
    let shop = Shop::with(HTTP);
    shop.pods(&[pod("a", "sas1", &["1"])]);
    assert_eq!(shop.apply("02:00:00").exit, 0);
    rewrite(&shop, "domain: web.shop", "domain: www.shop");
    assert_eq!(shop.apply("02:10:00").exit, 0);
    let plan = shop.run("02:20:00", &["plan"]);
    assert!(plan.changes().is_empty(), "{:?}", plan.changes());
    let left = plan.document["left_behind"].as_array().expect("what is left");
    let of_srv: Vec<&str> =
        left.iter().filter(|own| own["type"] == "SRV").filter_map(|own| own["name"].as_str()).collect();
    assert_eq!((left.len(), of_srv), (3, vec!["_http._tcp.web.shop.example.net."]));
    // While a file of a set cannot be read, it may be of that one.
    shop.write("pod-sets/other.yaml", "id: other\nproject: shop\ntll: 60\n");
    assert_eq!(shop.run("02:20:00", &["plan"]).document["left_behind"], Value::Null);
}
