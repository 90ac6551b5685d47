//! Approvals: `cms check` and its client against `serve --cms`, and the document of the protocol.

#[path = "folder/copy.rs"]
mod copy;
#[path = "process/reference_cms.rs"]
mod reference_cms;
#[expect(dead_code, reason = "this file starts the binary itself, and needs no Python")]
mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Duration;

use copy::copy;
use reference_cms::ReferenceCms;
use serde_json::{Value, json};
use tempfile::TempDir;
use zonewright::cms::client::CmsClient;
use zonewright::cms::task::{CmsTask, TaskStatus};
use zonewright::cms::{CmsCalls as _, CmsFaultKind};
use zonewright::diag::{Files, Origin};
use zonewright::inventory::cms::{CmsAction, CmsService, CmsVersion};

impl ReferenceCms {
    /// A client with this token.
    fn client(&self, token: Option<&str>) -> CmsClient {
        let service = CmsService {
            name: "trial".to_owned(),
            url: self.url.clone(),
            version: CmsVersion::V1_4,
            token: None,
            timeout: Duration::from_secs(1),
            origin: Origin::line(Files::default().add("zonewright.toml"), 1),
        };
        CmsClient::new(&service, token.map(str::to_owned)).expect("a URL")
    }
}

/// A workspace with this service.
fn workspace(service: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    let file = folder.path().join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("the settings");
    fs::write(&file, format!("{text}\n[cms.trial]\n{service}")).expect("the settings");
    folder
}

/// Tries the service of a workspace.
fn check(folder: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(["cms", "check"])
        .args(args)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .env("NO_PROXY", "*")
        .output()
        .expect("the binary was built for this test")
}

/// What a trial found: the exit code, and each step as `dry-run reboot: ok cms-works`.
fn found(folder: &TempDir) -> (i32, Vec<String>) {
    let output = check(folder, &["trial", "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let schema = fs::read_to_string(support::root().join("schemas/cms-check.schema.json")).expect("a schema");
    assert_fits(&serde_json::from_str(&schema).expect("JSON"), "", &document);
    let text = |own: &Value, key: &str| own[key].as_str().unwrap_or("-").to_owned();
    let steps = document["steps"].as_array().expect("steps").iter().map(|own| {
        format!("{} {}: {} {}", text(own, "step"), text(own, "action"), text(own, "level"), text(own, "code"))
    });
    (output.status.code().expect("it ends by itself"), steps.map(|step| step.replace(" -:", ":")).collect())
}

/// Holds a value to a part of a schema, or of the document of the protocol.
fn assert_fits(schema: &Value, part: &str, value: &Value) {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.set_default_draft(boon::Draft::V2020_12);
    compiler.add_resource("own.json", schema.clone()).expect("a schema");
    let own = compiler.compile(&format!("own.json#{part}"), &mut schemas).expect("a schema");
    if let Err(error) = schemas.validate(value, own) {
        panic!("{error}: {value}");
    }
}

/// The document of the protocol.
fn protocol() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_zonewright")).args(["schema", "cms"]).output().expect("the binary");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A task that is no dry run.
fn task(id: &str, action: CmsAction, host: &str) -> CmsTask {
    let group = format!("me.{id}.1");
    CmsTask { dry_run: false, group, ..CmsTask::dry("me", id, action, host, "AAAA replaced") }
}

#[test]
fn a_service_of_each_version_is_asked_for_what_it_knows_alone() {
    let actions = |version: CmsVersion| -> Vec<String> { version.actions().iter().map(ToString::to_string).collect() };
    for version in CmsVersion::ALL {
        // It refuses what its version does not know.
        let approvals = ReferenceCms::start(&["--cms-version", version.as_str()]);
        let folder = workspace(&format!("url = \"{}/\"\nversion = \"{version}\"\n", approvals.url));
        let mut expected: Vec<String> =
            ["list", "unknown-task", "delete-unknown-task"].map(|step| format!("{step}: ok cms-works")).into();
        for action in actions(*version) {
            expected.push(format!("dry-run {action}: ok cms-works"));
            expected.push(format!("deleted-task {action}: ok cms-works"));
        }
        assert_eq!(found(&folder), (0, expected));
    }
    let approvals = ReferenceCms::start(&["--cms-version", "v1.0"]);
    let folder = workspace(&format!("url = \"{}\"\nversion = \"v1.4\"\n", approvals.url));
    let (exit, steps) = found(&folder);
    let failed: Vec<&String> = steps.iter().filter(|step| step.ends_with("problem cms-fault")).collect();
    assert_eq!((exit, failed.len()), (1, 3), "{steps:?}");
}

#[test]
fn what_is_wrong_with_a_service_is_said_with_what_to_do() {
    let said = |args: &[&str], service: &str| {
        let approvals = ReferenceCms::start(args);
        let folder = workspace(&format!("url = \"{}\"\nversion = \"v1.4\"\n{service}", approvals.url));
        let output = check(&folder, &["trial", "--about", "a.example.net"]);
        (output.status.code().expect("a code"), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (exit, text) = said(&["--cms-fault", "error=all"], "");
    assert!(exit == 1 && text.starts_with("`trial` does not work: 9 of 9 steps failed.\n"), "{text}");
    assert!(text.ends_with("`trial` does not work: 9 of 9 steps failed.\n"), "{text}");
    assert!(text.contains("`127.0.0.1` answers with status 500"), "{text}");
    let (exit, text) = said(&["--cms-fault", "schema=all"], "");
    assert!(exit == 1 && text.contains("answers with JSON that is not that of the protocol"), "{text}");
    // After silence nothing more is tried: each step would only wait.
    let (exit, text) = said(&["--cms-fault", "late=all"], "timeout = \"1s\"\n");
    assert!(exit == 1 && text.starts_with("`trial` does not work: 1 of 1 step failed.\n"), "{text}");
    assert!(text.contains("did not answer within 1 s"), "{text}");
    let (exit, text) = said(&["--cms-reject", "A.example.net."], "");
    assert!(exit == 0 && text.contains("it would say `rejected` for a.example.net"), "{text}");
}

#[test]
fn a_token_is_sent_and_a_service_that_needs_none_is_said_to_be_open() {
    let keys = tempfile::tempdir().expect("a folder");
    let token = keys.path().join("token");
    fs::write(&token, "s3cret\n").expect("a file");
    let mut mode = fs::metadata(&token).expect("a file").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o600);
    fs::set_permissions(&token, mode).expect("a file");
    let path = token.to_str().expect("a path");
    let settings = |url: &str| format!("url = \"{url}\"\nversion = \"v1.0\"\ntoken = {{ secret_file = \"{path}\" }}\n");
    let approvals = ReferenceCms::start(&["--cms-token", path]);
    let (exit, steps) = found(&workspace(&settings(&approvals.url)));
    assert_eq!((exit, steps.last().expect("steps").as_str()), (0, "without-token: ok cms-works"));
    let (exit, steps) = found(&workspace(&format!("url = \"{}\"\nversion = \"v1.0\"\n", approvals.url)));
    assert_eq!((exit, steps[0].as_str()), (1, "list: problem cms-fault"));
    let open = ReferenceCms::start(&[]);
    let (exit, steps) = found(&workspace(&settings(&open.url)));
    assert_eq!((exit, steps.last().expect("steps").as_str()), (0, "without-token: warning cms-open"));
}

#[test]
fn so_many_hosts_are_let_through_at_a_time_in_their_order_also_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks.db");
    let args = ["--cms-max-busy", "1", "--cms-db", file.to_str().expect("a path")];
    let approvals = ReferenceCms::start(&args);
    let client = approvals.client(None);
    let tasks = ["1", "2", "3"].map(|id| task(id, CmsAction::Reboot, &format!("h{id}.example.net")));
    let said = tasks.each_ref().map(|task| client.create(task).expect("an answer").status);
    assert_eq!(said, [TaskStatus::Ok, TaskStatus::InProcess, TaskStatus::InProcess]);
    // The same task may come twice, and another one may not have its id.
    assert_eq!(client.create(&tasks[0]).expect("an answer").status, TaskStatus::Ok);
    let other = CmsTask { comment: "other".to_owned(), ..tasks[0].clone() };
    assert_eq!(client.create(&other).unwrap_err().kind, CmsFaultKind::Status);
    drop(approvals);
    let approvals = ReferenceCms::start(&args);
    let client = approvals.client(None);
    let poll = |number: usize| {
        let answer = client.poll(&tasks[number].id, tasks[number].host()).expect("an answer");
        answer.map(|answer| answer.status)
    };
    assert_eq!([poll(0), poll(1)], [Some(TaskStatus::Ok), Some(TaskStatus::InProcess)]);
    client.delete(&tasks[0].id).expect("an answer");
    assert_eq!([poll(0), poll(1), poll(2)], [None, Some(TaskStatus::Ok), Some(TaskStatus::InProcess)]);
    let listed: Vec<String> = client.list().expect("an answer").into_iter().map(|task| task.id).collect();
    assert_eq!(listed, [tasks[1].id.clone(), tasks[2].id.clone()]);
    assert_eq!(client.poll(&tasks[1].id, "other.example.net").unwrap_err().kind, CmsFaultKind::WrongHosts);
}

/// Sends a signal to a process.
fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

#[test]
fn connections_that_come_at_once_and_are_kept_all_get_their_answers() {
    let approvals = ReferenceCms::start(&[]);
    let address = approvals.url.strip_prefix("http://").expect("a URL");
    // All of them wait for it together.
    signal(&approvals.child, "-STOP");
    let clients: Vec<TcpStream> = (0..32)
        .map(|number| {
            let mut client = TcpStream::connect(address).expect("it listens");
            client.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
            write!(client, "GET /tasks/{number} HTTP/1.1\r\nHost: a\r\n\r\n").expect("a client that is connected");
            client
        })
        .collect();
    signal(&approvals.child, "-CONT");
    for mut client in &clients {
        let mut answer = [0; 12];
        client.read_exact(&mut answer).expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 404");
    }
}

#[test]
fn what_is_no_request_is_refused_and_ends_the_connection() {
    let approvals = ReferenceCms::start(&[]);
    let address = approvals.url.strip_prefix("http://").expect("a URL");
    let answer = |request: &str| {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(request.as_bytes()).expect("a client that is connected");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it ends the connection");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(answer("hello\r\n\r\n"), "400");
    assert_eq!(answer("POST /tasks/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), "411");
    assert_eq!(answer("POST /tasks/ HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n"), "413");
    assert_eq!(answer("GET /tasks/ HTTP/1.1\r\nConnection: close\r\n\r\n"), "200");
    assert_eq!(answer("GET /tasks/ HTTP/1.0\r\n\r\n"), "200");
}

#[test]
fn faults_are_made_as_ordered() {
    // The first request makes a task that is forgotten, the third one deletes a task that stays.
    let approvals =
        ReferenceCms::start(&["--cms-fault", "forgotten=1", "--cms-fault", "forgotten=4", "--cms-fault", "reversed=6"]);
    let client = approvals.client(None);
    let own = task("1", CmsAction::Prepare, "a.example.net");
    let poll = || client.poll(&own.id, own.host()).expect("an answer").map(|answer| answer.status);
    assert_eq!(client.create(&own).expect("an answer").status, TaskStatus::Ok);
    assert_eq!(poll(), None);
    assert_eq!(client.create(&own).expect("an answer").status, TaskStatus::Ok);
    client.delete(&own.id).expect("an answer");
    assert_eq!(poll(), Some(TaskStatus::Ok));
    assert_eq!(poll(), Some(TaskStatus::Rejected));
}

#[test]
fn the_protocol_is_published_and_what_is_sent_and_answered_fits_it() {
    let protocol = protocol();
    let schema = |name: &str| format!("/components/schemas/{name}");
    for action in CmsAction::ALL {
        let own = task("1", *action, "a.example.net");
        let sent: Value = serde_json::from_str(&own.content()).expect("JSON");
        assert_fits(&protocol, &schema("Task"), &sent);
        let more = sent.as_object().expect("an object").keys().count();
        assert_eq!(more, protocol["components"]["schemas"]["Task"]["required"].as_array().expect("keys").len());
    }
    for status in ["ok", "REJECTED", "in-process", "In_Progress"] {
        assert!(TaskStatus::read(status).is_some());
        assert_fits(&protocol, &schema("Status"), &json!(status));
    }
    let approvals = ReferenceCms::start(&["--cms-max-busy", "1"]);
    let client = approvals.client(None);
    for id in ["1", "2"] {
        client.create(&task(id, CmsAction::Reboot, &format!("{id}.example.net"))).expect("an answer");
    }
    let answered = |path: &str| -> Value {
        let output = Command::new("curl").args(["-s", "--noproxy", "*", &format!("{}{path}", approvals.url)]).output();
        serde_json::from_slice(&output.expect("curl runs").stdout).expect("JSON")
    };
    if Command::new("curl").arg("--version").output().is_err() {
        return support::skip("curl is not installed");
    }
    assert_fits(&protocol, &schema("Answer"), &answered("/tasks/me.dry.2"));
    assert_fits(&protocol, &schema("TaskList"), &answered("/tasks/"));
}

#[test]
fn the_document_of_the_protocol_is_valid_openapi() {
    let own = support::root().join("target/check-jsonschema/bin/openapi-spec-validator");
    if !own.exists() {
        return support::skip("openapi-spec-validator is not installed (ci/test does it)");
    }
    let file = support::root().join("schemas/cms.openapi.json");
    let output = Command::new(own).arg(file).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn settings_of_services_are_checked() {
    let errors = |service: &str| {
        let folder = workspace(service);
        let output = check(&folder, &["trial"]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let cases = [
        ("version = \"v1.0\"\n", "the key `url` is missing"),
        ("url = \"https://a.example\"\n", "the key `version` is missing"),
        ("url = \"https://a.example\"\nversion = \"v2\"\n", "`v2` is not one of"),
        ("url = \"ftp://a.example\"\nversion = \"v1.0\"\n", "is not the URL of a service"),
        ("url = \"https://a.example\"\nversion = \"v1.0\"\ntimeout = \"11s\"\n", "from `1s` to `10s`"),
        ("url = \"https://a.example\"\nversion = \"v1.0\"\ntoken = {}\n", "set exactly one of"),
        ("url = \"https://a.example\"\nversion = \"v1.0\"\nurll = 1\n", "did you mean `url`"),
        (
            "url = \"https://a.example\"\nversion = \"v1.0\"\n[cms.default]\nurl = \"https://a\"\nversion = \"v1.0\"\n",
            "built in",
        ),
    ];
    for (service, expected) in cases {
        let said = errors(service);
        assert!(said.contains(expected), "{service}: {said}");
    }
    let folder = workspace("url = \"https://a.example\"\nversion = \"v1.0\"\n");
    let output = check(&folder, &["tiral"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("did you mean `trial`?"), "{said}");
}
