//! What people and programs see of approvals: `status`, `history`, metrics and events of the built binary, against
//! `serve --cms`.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;
#[path = "process/reference_cms.rs"]
mod reference_cms;
#[expect(dead_code, reason = "this file starts the binary itself, and needs no Python")]
mod support;

use std::fs;
use std::process::{Command, Output, Stdio};

use copy::copy;
use edit::edit;
use reference_cms::ReferenceCms;
use serde_json::{Value, json};
use tempfile::TempDir;

impl ReferenceCms {
    /// What metrics call it.
    fn label(&self) -> String {
        self.url.trim_start_matches("http://").trim_end_matches('/').replace(['.', ':'], "_")
    }
}

/// A workspace in which both hosts of a project have an address that is not theirs, and need an approval.
struct Place {
    /// Where it is.
    folder: TempDir,
}

impl Place {
    /// One whose service is this.
    fn new(service: &ReferenceCms) -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = folder.path();
        copy(&support::root().join("tests/cases/_base"), workspace);
        edit(workspace, "racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
        let project = "[project.web]\ndns_domain = \"web.example.net\"\n";
        edit(workspace, "zonewright.toml", project, &format!("{project}cms = [\"trial\", \"default\"]\n"));
        let file = workspace.join("zonewright.toml");
        let text = fs::read_to_string(&file).expect("the settings");
        let cms = format!("\n[cms.trial]\nurl = \"{}\"\nversion = \"v1.4\"\ntimeout = \"1s\"\n", service.url);
        fs::write(&file, text + &cms).expect("the settings");
        Place { folder }
    }

    /// Runs a command at some minute, and ends as it should.
    fn run(&self, minute: u32, args: &[&str], exit: i32) -> Output {
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["--now", &format!("2026-11-20T02:{minute:02}:00Z")])
            .args(args)
            .current_dir(self.folder.path())
            .env("ZONEWRIGHT_WHO", "deploy@runner")
            .env("NO_COLOR", "1")
            .env("NO_PROXY", "*")
            .stdin(Stdio::null())
            .output()
            .expect("the binary was built for this test");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(exit), "{args:?}: {said}");
        output
    }

    /// What a command prints that succeeds.
    fn text(&self, minute: u32, args: &[&str]) -> String {
        String::from_utf8(self.run(minute, args, 0).stdout).expect("text")
    }

    /// The document that a command prints.
    fn json(&self, minute: u32, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(minute, &[args, &["--format", "json"]].concat())).expect("JSON")
    }

    /// Applies; gives the requests that were reported.
    fn apply(&self, minute: u32, args: &[&str], exit: i32) -> Vec<Value> {
        let args = [&["--log-format", "json", "apply", "--auto", "--metrics", "run.prom"], args].concat();
        let output = self.run(minute, &args, exit);
        let lines = String::from_utf8(output.stderr).expect("text");
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        events.filter(|event| event["event"] == "cms-asked").collect()
    }

    /// The value of a sample of the last apply, by the text before it.
    fn metric(&self, family: &str, labels: &str) -> Option<f64> {
        let text = fs::read_to_string(self.folder.path().join("run.prom")).expect("metrics");
        let sample = format!("zonewright_{family}{{command=\"apply\",{labels}}} ");
        text.lines().find_map(|line| line.strip_prefix(&sample)?.parse().ok())
    }
}

/// The number of a host.
fn number_of(subject: &str) -> &str {
    subject.trim_start_matches("host:")
}

/// Requests in short, sorted: `create ok`.
fn in_short(asked: &[Value]) -> Vec<String> {
    let word = |event: &Value, key: &str| event[key].as_str().unwrap_or("-").to_owned();
    let mut all: Vec<String> =
        asked.iter().map(|event| format!("{} {}", word(event, "request"), word(event, "outcome"))).collect();
    all.sort_unstable();
    all
}

#[test]
fn what_services_say_is_seen_everywhere() {
    let service = ReferenceCms::start(&["--cms-max-busy", "1"]);
    let place = Place::new(&service);
    let asked = place.apply(0, &[], 5);
    assert_eq!(in_short(&asked), ["create in-process", "create ok", "list done", "poll ok"]);
    let create = asked.iter().find(|event| event["request"] == "create").expect("a request");
    assert_eq!((&create["service"], &create["project"]), (&json!("trial"), &json!("web")));
    assert_eq!((&create["action"], &create["version"]), (&json!("temporary-unreachable"), &json!("v1.4")));
    // One went, and the other one is under approvals alone.
    let status = place.json(1, &["status"]);
    let tasks = status["approvals"]["tasks"].as_array().expect("tasks");
    let standing = |own: &Value| format!("{} {} {}", own["subject"], own["service"], own["status"]).replace('"', "");
    let mut standings: Vec<String> = tasks.iter().map(standing).collect();
    standings.sort_unstable();
    let waits = status["waiting"][0]["subject"].as_str().expect("a host waits");
    let went = if waits == "host:101" { "host:102" } else { "host:101" };
    let mut expected =
        vec![format!("{went} default ok"), format!("{went} trial ok"), format!("{waits} trial in-process")];
    expected.sort_unstable();
    assert_eq!(standings, expected);
    let text = place.text(1, &["status"]);
    let approvals = text.find("\nApprovals\n").expect("a section");
    assert!(text.contains("  `default`: 1 task, 1 ok\n  `trial`: 2 tasks, 1 ok, 1 in process\n"), "{text}");
    assert!(text[approvals..].contains("1 host: `trial` does not allow it yet, asked since 2026-11-20T02:00:00Z"));
    assert_eq!(text[approvals..].matches(waits).count(), 1, "{text}");
    // The history says who let it go.
    let text = place.text(1, &["history", "1"]);
    let line = format!("  approved by `trial`, `default`: host {}\n", number_of(went));
    assert!(text.contains(&line), "{text}");
    let history = place.json(1, &["history", "1"]);
    let given = history["applies"][0]["approvals"].as_array().expect("approvals");
    assert_eq!(given.len(), 2);
    assert_eq!((&given[0]["status"], &given[0]["subject"]), (&json!("ok"), &json!(went)));
    let label = service.label();
    let of = |outcome: &str| {
        let labels = format!("service=\"{label}\",project=\"web\",action=\"temporary-unreachable\",version=\"v1.4\"");
        place.metric("cms_requests", &format!("{labels},request=\"create\",outcome=\"{outcome}\""))
    };
    assert_eq!([of("ok"), of("in-process")], [Some(1.0); 2]);
    let tasks = |status: &str| place.metric("cms_tasks", &format!("service=\"{label}\",status=\"{status}\""));
    assert_eq!([tasks("ok"), tasks("in-process"), tasks("to-be-deleted")], [Some(1.0), Some(1.0), Some(0.0)]);
    // The service is gone: no answer lets the other one through.
    drop(service);
    let asked = place.apply(2, &[], 5);
    assert!(!asked.is_empty() && asked.iter().all(|event| event["outcome"] == "unreachable"), "{asked:?}");
    assert!(asked.iter().all(|event| event["level"] == "WARN" && event["fault"].is_string()), "{asked:?}");
    let text = place.text(3, &["status"]);
    assert!(text.contains("  `trial` does not answer since 2026-11-20T02:02:00Z, "), "{text}");
    assert!(text.contains("1 host: `trial` gives no answer, asked since 2026-11-20T02:00:00Z"), "{text}");
    let since = place.metric("cms_failing_since_seconds", &format!("service=\"{label}\"")).expect("it fails");
    assert!((1_795_140_120.0..1_795_140_180.0).contains(&since), "{since}");
    // A person goes on without it.
    let args = ["--host", number_of(waits), "--ignore-cms", "--reason", "the service is gone"];
    assert!(place.apply(4, &args, 0).iter().all(|event| event["request"] != "create"));
    let text = place.text(5, &["history", "2"]);
    let line = format!("  sent without approvals, as `--ignore-cms` says: host {}\n", number_of(waits));
    assert!(text.contains(&line), "{text}");
    assert!(place.text(5, &["history", "--host", number_of(waits)]).contains(&line));
}

#[test]
fn rejected_hosts_are_told_with_the_apply_that_began_without_them() {
    let service = ReferenceCms::start(&["--cms-reject", "sas0-0001.web.example.net"]);
    let place = Place::new(&service);
    let asked = place.apply(0, &[], 4);
    assert!(in_short(&asked).contains(&"create rejected".to_owned()), "{asked:?}");
    let text = place.text(1, &["status"]);
    let told = "1 host: `trial` rejected it at 2026-11-20T02:00:00Z, asked again from 2026-11-20T03:00:00Z on";
    assert!(text.replace("\n    ", " ").contains(told), "{text}");
    let status = place.json(1, &["status"]);
    let refusal = &status["approvals"]["refusals"][0];
    assert_eq!((&refusal["kind"], &refusal["service"]), (&json!("rejected"), &json!("trial")));
    let rejected = refusal["subject"].as_str().expect("a host");
    let text = place.text(1, &["history", "1"]);
    assert!(
        text.contains("  rejected by `trial`") && text.contains(&format!(": host {}\n", number_of(rejected))),
        "{text}"
    );
    assert!(text.contains("  approved by `trial`, `default`: "), "{text}");
}
