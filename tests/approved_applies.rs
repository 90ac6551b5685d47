//! `apply` and `plan` of the built binary, with hosts that need approvals, against `serve --cms`.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;
#[path = "process/reference_cms.rs"]
mod reference_cms;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use copy::copy;
use edit::edit;
use reference_cms::ReferenceCms;
use serde_json::{Value, json};
use tempfile::TempDir;
use zonewright::cms::CmsCalls as _;
use zonewright::cms::client::CmsClient;
use zonewright::cms::task::CmsTask;
use zonewright::diag::{Files, Origin};
use zonewright::inventory::cms::{CmsAction, CmsService, CmsVersion};

impl ReferenceCms {
    /// The tasks that it has, as `action host: status`, sorted.
    fn tasks(&self) -> Vec<String> {
        let listed = self.client().list().expect("a list");
        let mut tasks: Vec<String> =
            listed.into_iter().map(|task| format!("{}: {}", task.hosts.join(","), task.status)).collect();
        tasks.sort();
        tasks
    }

    /// A client.
    fn client(&self) -> CmsClient {
        let service = CmsService {
            name: "a".to_owned(),
            url: self.url.clone(),
            version: CmsVersion::V1_4,
            token: None,
            timeout: Duration::from_secs(5),
            origin: Origin::line(Files::default().add("zonewright.toml"), 1),
        };
        CmsClient::new(&service, None).expect("a URL")
    }
}

/// A workspace in which two hosts of `web` are to be moved.
struct Fleet {
    /// Where it is.
    folder: TempDir,
}

/// How a run ended, and what it printed as JSON.
struct Ended {
    /// The exit code.
    exit: i32,
    /// The document.
    said: Value,
}

impl Ended {
    /// The outcome of a host, with its message.
    fn outcome(&self, host: u64) -> (String, String) {
        let hosts = self.said["hosts"].as_array().expect("hosts");
        let own = hosts.iter().find(|own| own["host"] == host).expect("the host");
        (own["outcome"].as_str().expect("a word").to_owned(), own["message"].as_str().unwrap_or_default().to_owned())
    }

    /// What waits, as `code until`.
    fn waits(&self) -> Vec<String> {
        let waiting = self.said["waiting"].as_array().expect("what waits");
        let text = |own: &Value| format!("{} {} {}", own["subject"], own["code"], own["until"]).replace('"', "");
        waiting.iter().map(text).collect()
    }
}

/// The names of the two hosts, as services get them.
const NAMES: [&str; 2] = ["sas0-0001.web.example.net", "sas0-0002.web.example.net"];

/// The file of the reverse zone.
const REVERSE: &str = "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone";

impl Fleet {
    /// A workspace whose `web` asks services as `keys` say, of which `services` are the tables.
    fn new(services: &[(&str, &ReferenceCms, &str)], keys: &str) -> Fleet {
        let fleet = Fleet::settled(services, ("web", keys));
        fleet.edit("racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
        fleet
    }

    /// The same of a project, where no host is to be moved.
    fn settled(services: &[(&str, &ReferenceCms, &str)], (project, keys): (&str, &str)) -> Fleet {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
        let tables = services.iter().map(|(name, service, version)| {
            format!("[cms.{name}]\nurl = \"{}\"\nversion = \"{version}\"\ntimeout = \"1s\"\n\n", service.url)
        });
        let head = format!("[project.{project}]\n");
        let asking = format!("{}{head}{keys}\n", tables.collect::<String>());
        edit(folder.path(), "zonewright.toml", &head, &asking);
        Fleet { folder }
    }

    /// Replaces a text of a file.
    fn edit(&self, file: &str, from: &str, to: &str) {
        edit(self.folder.path(), file, from, to);
    }

    /// Runs a command at a time of the day of the plan.
    fn run(&self, time: &str, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["--now", &format!("2026-11-20T{time}Z")])
            .args(args)
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("NO_PROXY", "*")
            .output()
            .expect("the binary was built for this test");
        let text = |octets: Vec<u8>| String::from_utf8(octets).expect("UTF-8");
        (output.status.code().expect("it ends by itself"), text(output.stdout), text(output.stderr))
    }

    /// Applies.
    fn apply(&self, time: &str, more: &[&str]) -> Ended {
        let (exit, out, err) = self.run(time, &[&["apply", "--auto", "--format", "json"], more].concat());
        let said = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        Ended { exit, said }
    }
}

#[test]
fn hosts_go_one_after_another_through_all_services_and_leave_no_task() {
    let (strict, slow) =
        (ReferenceCms::start(&["--cms-max-busy", "1"]), ReferenceCms::start(&["--cms-version", "v1.0"]));
    let services = [("a", &slow, "v1.0"), ("b", &strict, "v1.4")];
    let fleet = Fleet::new(&services, "cms = [\"default\", \"b\", \"a\"]");
    let first = fleet.apply("02:00:00", &[]);
    // Both are asked for side by side: whichever came first goes.
    let (one, other) = if first.outcome(101).0 == "applied" { (0, 1) } else { (1, 0) };
    let host = |place: usize| 101 + place as u64;
    assert_eq!((first.exit, first.outcome(host(one)).0.as_str()), (5, "applied"));
    let why = "`b` does not allow it yet, asked since 2026-11-20T02:00:00Z: others are disturbed now";
    assert_eq!(first.outcome(host(other)), ("waiting".to_owned(), why.to_owned()));
    assert_eq!(first.waits(), [format!("host:{} approval null", host(other))]);
    assert_eq!(slow.tasks(), NAMES.map(|name| format!("{name}: ok")));
    let mut asked = [format!("{}: ok", NAMES[one]), format!("{}: in-process", NAMES[other])];
    asked.sort();
    assert_eq!(strict.tasks(), asked);
    // The first one is busy as long as caches may have its old address.
    assert_eq!(fleet.apply("02:59:00", &[]).exit, 5);
    assert_eq!(strict.tasks().len(), 2);
    let second = fleet.apply("03:00:01", &[]);
    assert_eq!((second.exit, second.outcome(host(other)).0.as_str()), (0, "applied"));
    assert_eq!(strict.tasks(), [format!("{}: ok", NAMES[other])]);
    // Nothing is left to do, and the tasks go all the same.
    assert_eq!(fleet.apply("04:00:02", &[]).exit, 0);
    assert_eq!((strict.tasks(), slow.tasks()), (vec![], vec![]));
}

#[test]
fn the_service_that_is_built_in_counts_hosts_without_a_rollout() {
    let fleet = Fleet::new(&[], "cms = [\"default\"]\nmax_busy_hosts = 1");
    let first = fleet.apply("02:00:00", &[]);
    assert_eq!((first.exit, first.outcome(101).0.as_str()), (5, "applied"));
    assert_eq!(
        first.outcome(102).1,
        "`default` does not allow it yet, asked since 2026-11-20T02:00:00Z: 1 host of `web` is busy, and 1 may be"
    );
    assert_eq!(first.said["waves"].as_array().map(Vec::len), Some(0), "there is no rollout");
    assert_eq!(fleet.apply("02:30:00", &[]).exit, 5);
    assert_eq!(fleet.apply("03:01:00", &[]).exit, 0);
}

#[test]
fn a_host_that_is_rejected_stays_as_it_is_and_is_asked_for_an_hour_later() {
    let db = tempfile::tempdir().expect("a folder");
    let file = db.path().join("tasks.db");
    let args = ["--cms-db", file.to_str().expect("a path")];
    let service = ReferenceCms::start(&[&args[..], &["--cms-reject", NAMES[1]]].concat());
    let fleet = Fleet::new(&[("a", &service, "v1.4")], "cms = [\"a\"]");
    let (exit, out, _) = fleet.run("01:59:00", &["plan", "--ask-cms"]);
    assert!(exit == 0 && out.contains("cms-rejects"), "{out}");
    assert!(out.contains("`a` would reject `temporary-unreachable` of"), "{out}");
    assert!(service.tasks().is_empty() && !fleet.folder.path().join(".zonewright/state.db").exists());
    let first = fleet.apply("02:00:00", &[]);
    let rejected = ("rejected".to_owned(), "`a` rejects it: this host is to stay as it is".to_owned());
    assert_eq!((first.exit, first.outcome(101).0.as_str(), first.outcome(102)), (4, "applied", rejected.clone()));
    assert_eq!(service.tasks(), [format!("{}: ok", NAMES[0])]);
    let later = fleet.apply("02:59:59", &[]);
    assert_eq!((later.exit, later.waits()), (5, vec!["host:102 approval 2026-11-20T03:00:00Z".to_owned()]));
    // By name it is asked for at once; where nothing is sent, the exit code is 3.
    let named = fleet.apply("02:59:59", &["--host", "102"]);
    assert_eq!((named.exit, named.outcome(102)), (3, rejected));
    let url = service.url.clone();
    drop(service);
    let service = ReferenceCms::start(&args);
    fleet.edit("zonewright.toml", &url, &service.url);
    assert_eq!(fleet.apply("03:59:58", &[]).exit, 5, "an hour after it was asked for by name");
    let last = fleet.apply("04:00:00", &[]);
    assert_eq!((last.exit, last.outcome(102).0.as_str()), (0, "applied"));
}

#[test]
fn silence_lets_no_host_through_and_is_said_until_the_service_answers() {
    let service = ReferenceCms::start(&["--cms-fault", "error=all"]);
    let fleet = Fleet::new(&[("a", &service, "v1.4")], "cms = [\"a\"]");
    let first = fleet.apply("02:00:00", &[]);
    assert_eq!((first.exit, first.waits().len()), (5, 2));
    let (_, plan, _) = fleet.run("02:01:00", &["plan"]);
    assert!(plan.contains("cms-silent") && plan.contains("answers with status 500"), "{plan}");
    let (exit, doctor, _) = fleet.run("02:01:00", &["doctor"]);
    assert!(exit == 1 && doctor.contains("Service a: http://127.0.0.1"), "{doctor}");
    // Without a reason, or a name, no host goes.
    let (exit, _, err) = fleet.run("02:02:00", &["apply", "--auto", "--host", "101", "--ignore-cms"]);
    assert!(exit == 1 && err.contains("`--ignore-cms` needs `--reason TEXT`"), "{err}");
    let (exit, _, err) = fleet.run("02:02:00", &["apply", "--auto", "--ignore-cms", "--reason", "it is down"]);
    assert!(exit == 1 && err.contains("for hosts that are named"), "{err}");
    let named = fleet.apply("02:03:00", &["--host", "101", "--ignore-cms", "--reason", "it is down"]);
    assert_eq!((named.exit, named.outcome(101).0.as_str()), (0, "applied"));
    let url = service.url.clone();
    drop(service);
    let service = ReferenceCms::start(&[]);
    fleet.edit("zonewright.toml", &url, &service.url);
    assert_eq!(fleet.apply("02:04:00", &[]).exit, 0);
    let (_, plan, _) = fleet.run("02:05:00", &["plan"]);
    assert!(!plan.contains("cms-silent"), "{plan}");
}

#[test]
fn a_service_that_takes_its_word_back_stops_the_host() {
    // The first request lists, two make tasks, which no service had allowed before, and the next ones poll right before the wave.
    let service = ReferenceCms::start(&["--cms-fault", "reversed=3"]);
    let fleet = Fleet::new(&[("a", &service, "v1.4")], "cms = [\"a\"]");
    let first = fleet.apply("02:00:00", &[]);
    assert_eq!(
        (first.exit, [101, 102].map(|host| first.outcome(host).0)),
        (3, ["rejected", "rejected"].map(str::to_owned))
    );
    assert_eq!(first.said["apply"], Value::Null, "nothing was sent");
    assert!(service.tasks().is_empty());
}

#[test]
fn a_service_that_forgets_is_asked_anew_and_tasks_of_nothing_are_deleted() {
    let service = ReferenceCms::start(&["--cms-fault", "forgotten=2", "--cms-fault", "forgotten=3"]);
    let fleet = Fleet::new(&[("a", &service, "v1.4")], "cms = [\"a\"]");
    let first = fleet.apply("02:00:00", &[]);
    assert_eq!((first.exit, first.waits().len()), (5, 2), "the tasks were not known right before the wave");
    let lost =
        |id: &str| CmsTask { dry_run: false, ..CmsTask::dry("fleet-dns", id, CmsAction::Reboot, "h.example", "x") };
    service.client().create(&lost("1")).expect("a dry run of this owner that was left");
    let other = CmsTask { id: format!("fleet-dns.{}.1", "5".repeat(32)), ..lost("2") };
    service.client().create(&other).expect("a task of another state");
    assert_eq!(fleet.apply("02:01:00", &[]).exit, 0);
    let own = NAMES.map(|name| format!("{name}: ok"));
    assert_eq!(service.tasks(), [&["h.example: ok".to_owned()], &own[..]].concat());
    let clean = |state: &str, reason: &[&str]| {
        fleet.run("02:02:00", &[&["cms", "clean", "a", "--state", state][..], reason].concat())
    };
    let (exit, _, err) = clean(&"5".repeat(32), &[]);
    assert!(exit == 1 && err.contains("needs `--reason TEXT`"), "{err}");
    let (exit, out, _) = clean("7", &["--reason", "its disk is gone"]);
    assert!(exit == 0 && out.starts_with("Nothing was deleted: `a` has no task of the state 7."), "{out}");
    assert!(out.contains(&"5".repeat(32)), "{out}");
    let (exit, out, _) = clean(&"5".repeat(32), &["--reason", "its disk is gone"]);
    assert!(exit == 0 && out.starts_with("Deleted 1 task of the state"), "{out}");
    assert_eq!(service.tasks(), own);
    let listed = service.client().list().expect("a list");
    let state = listed[0].id.split('.').nth(1).expect("a state").to_owned();
    let (exit, _, err) = clean(&state, &["--reason", "x"]);
    assert!(exit == 1 && err.contains("it is the state of this workspace"), "{err}");
    assert_eq!(service.tasks(), own);
}

#[test]
fn a_new_host_has_an_action_of_its_own() {
    let service = ReferenceCms::start(&["--cms-version", "v1.1"]);
    let keys = "cms = [\"a\"]\ncms_actions = [\"prepare\", \"deactivate\"]";
    let fleet = Fleet::new(&[("a", &service, "v1.1")], keys);
    // The move of the two hosts needs no approval then.
    assert_eq!(fleet.apply("02:00:00", &[]).exit, 0);
    assert!(service.tasks().is_empty());
    let zone = fleet.folder.path().join("zones/web.example.net.zone");
    let text = fs::read_to_string(&zone).expect("the zone");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("sas0-0001")).collect();
    fs::write(&zone, without.join("\n") + "\n").expect("the zone");
    let made = fleet.apply("02:10:00", &[]);
    assert_eq!((made.exit, made.outcome(101).0.as_str()), (0, "applied"));
    assert_eq!(service.tasks(), [format!("{}: ok", NAMES[0])]);
}

#[test]
fn a_rollout_asks_ahead_and_a_saved_plan_goes_on() {
    let service = ReferenceCms::start(&[]);
    let fleet = Fleet::new(&[("a", &service, "v1.4")], "cms = [\"a\"]\nask_ahead = 0");
    let file = fleet.folder.path().join("projects/web.yaml");
    let text = fs::read_to_string(&file).expect("the project");
    fs::write(&file, format!("{text}rollout: {{max_unavailable: 1}}\n")).expect("the project");
    let (exit, ..) = fleet.run("02:00:00", &["plan", "--out", "plan.json"]);
    assert_eq!(exit, 0);
    let apply = |time: &str| fleet.run(time, &["apply", "plan.json", "--format", "json"]);
    let (exit, out, _) = apply("02:01:00");
    let said = Ended { exit, said: serde_json::from_str(&out).expect("a document") };
    assert_eq!((exit, said.outcome(101).0.as_str()), (5, "applied"));
    assert_eq!(service.tasks(), [format!("{}: ok", NAMES[0])], "none is asked for ahead");
    let (exit, out, err) = fleet.run("03:10:00", &["resume", "--format", "json"]);
    assert_eq!(exit, 0, "{out}{err}");
    assert_eq!(service.tasks(), [format!("{}: ok", NAMES[1])]);
    let (exit, ..) = fleet.run("04:20:00", &["apply", "--auto"]);
    assert_eq!((exit, service.tasks()), (0, Vec::new()));
}

#[test]
fn a_host_whose_name_loses_an_address_to_another_one_needs_an_approval_too() {
    let service = ReferenceCms::start(&["--cms-reject", NAMES[1]]);
    let fleet = Fleet::settled(&[("a", &service, "v1.4")], ("web", "cms = [\"a\", \"default\"]"));
    // Both hosts have each other's addresses, and no PTR says whose the other one's is.
    fleet.edit(REVERSE, "2.0.1.0.0.0.0.0.8.7.4.1.0.0.0.0.1.0.0.0.0.0.0.0 PTR sas0-0002.web.example.net.\n", "");
    let zone = "zones/web.example.net.zone";
    fleet.edit(zone, "\nsas0-0001 AAAA", "\nsas0-0003 AAAA");
    fleet.edit(zone, "\nsas0-0002 AAAA", "\nsas0-0001 AAAA");
    fleet.edit(zone, "\nsas0-0003 AAAA", "\nsas0-0002 AAAA");
    let (_, plan, _) = fleet.run("02:00:00", &["plan", "--host", "101", "--format", "json"]);
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let affected = json!([{ "name": "sas0-0002.web.example.net.", "project": "web", "subject": "host:102" }]);
    assert_eq!(plan["affected"], affected);
    let first = fleet.apply("02:00:00", &["--host", "101"]);
    let why = "host:102, `sas0-0002.web.example.net`, loses an address by it, and `a` rejects it: this host is to stay as it is";
    assert_eq!((first.exit, first.outcome(101)), (3, ("rejected".to_owned(), why.to_owned())));
    assert!(service.tasks().is_empty());
    let (_, plan, _) = fleet.run("02:01:00", &["plan", "--host", "101"]);
    assert!(plan.contains("approval, 1 host"), "{plan}");
    let url = service.url.clone();
    drop(service);
    let service = ReferenceCms::start(&[]);
    fleet.edit("zonewright.toml", &url, &service.url);
    let second = fleet.apply("03:00:01", &["--host", "101"]);
    assert_eq!((second.exit, second.outcome(101).0.as_str()), (0, "applied"));
    let both = NAMES.map(|name| format!("{name}: ok"));
    assert_eq!(service.tasks(), both, "both are busy as long as caches have the old addresses");
    assert_eq!(fleet.apply("03:59:00", &["--host", "101"]).exit, 0);
    assert_eq!(service.tasks(), both);
    assert_eq!(fleet.apply("04:00:03", &["--host", "101"]).exit, 0);
    assert!(service.tasks().is_empty());
}

#[test]
fn a_project_that_asks_nothing_keeps_hosts_of_one_that_asks_busy() {
    let service = ReferenceCms::start(&[]);
    let fleet = Fleet::settled(&[("a", &service, "v1.4")], ("db", "cms = [\"a\"]"));
    // The name of a host of `db` has the address of one of `web`, and nothing else.
    fleet.edit(REVERSE, "1.0.2.0.0.0.e.f.f.f.0.0.0.0.0.0.3.0.0.0.0.0.0.0 PTR db-sas1.db.example.net.\n", "");
    let zone = "zones/db.example.net.zone";
    fleet.edit(zone, "2001:db8:0:3:0:ff:fe00:201", "2001:db8:0:1:0:1478:0:101");
    let first = fleet.apply("02:00:00", &["--host", "101"]);
    assert_eq!((first.exit, first.outcome(101).0.as_str()), (0, "applied"));
    let busy = ["db-sas1.db.example.net: ok"];
    assert_eq!(service.tasks(), busy);
    assert_eq!(fleet.apply("02:59:00", &["--host", "101"]).exit, 0);
    assert_eq!(service.tasks(), busy);
    assert_eq!(fleet.apply("03:00:02", &["--host", "101"]).exit, 0);
    assert!(service.tasks().is_empty());
}
