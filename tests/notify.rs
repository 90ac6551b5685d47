//! `[notify]` of the built binary: a command and a webhook get the events that need a person, and change no exit code.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use copy::copy;
use edit::edit;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use tempfile::TempDir;

/// The clock of all runs.
const NOW: &str = "2026-11-20T02:00:00Z";

/// A workspace in which an apply exceeds a limit, with a table `[notify]`.
fn refused(notify: &str) -> TempDir {
    let folder = workspace(notify);
    edit(folder.path(), "racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
    let file = folder.path().join("projects/web.yaml");
    let text = fs::read_to_string(&file).expect("a project file");
    fs::write(&file, text + "limits: {hosts: [{period: 1h, max: 1}]}\n").expect("a project file");
    folder
}

/// A workspace whose live DNS is as desired, with a table `[notify]`.
fn workspace(notify: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    let file = folder.path().join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("the settings");
    fs::write(&file, format!("{text}\n[notify]\n{notify}")).expect("the settings");
    folder
}

/// Runs a command; gives its output.
fn run(folder: &TempDir, args: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(["--now", NOW])
        .args(args)
        .current_dir(folder.path())
        .env_remove("HTTP_PROXY")
        .env_remove("HTTPS_PROXY")
        .env_remove("ALL_PROXY")
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the binary was built for this test")
}

/// The warnings about receivers.
fn warnings(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.contains("notify-failed")).map(str::to_owned).collect()
}

/// The words of events that a command wrote into a file.
fn words(file: PathBuf) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| word(&serde_json::from_str(line).expect("JSON"))).collect()
}

/// The word of an event.
fn word(event: &Value) -> String {
    event["event"].as_str().expect("a word").to_owned()
}

/// A server that gives these status codes, one a request; it ends with the bodies that it got.
fn server(statuses: &'static [u16], tls: Option<Arc<ServerConfig>>) -> (u16, JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answer = move |status: u16| {
        let stream = listener.accept().expect("a connection").0;
        match &tls {
            Some(config) => {
                let connection = ServerConnection::new(Arc::clone(config)).expect("a connection");
                answer_one(StreamOwned::new(connection, stream), status)
            }
            None => answer_one::<TcpStream>(stream, status),
        }
    };
    (port, thread::spawn(move || statuses.iter().map(|status| answer(*status)).collect()))
}

/// Reads one request and answers it; gives its body.
fn answer_one<S: Read + Write>(stream: S, status: u16) -> Value {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length, mut is_json) = (String::new(), 0, false);
    while reader.read_line(&mut line).expect("a request") > 2 {
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        is_json |= lower.trim_end() == "content-type: application/json";
        line.clear();
    }
    assert!(is_json, "the content type says that it is JSON");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let stream = reader.get_mut();
    let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\nConnection: close\r\nLocation: /else\r\n\r\n");
    stream.write_all(answer.as_bytes()).and_then(|()| stream.flush()).expect("an answer");
    serde_json::from_slice(&body).expect("JSON")
}

#[test]
fn a_command_gets_what_needs_a_person() {
    let folder = refused("command = [\"sh\", \"-c\", \"cat >> events\"]\n");
    let output = run(&folder, &["apply", "--auto"], &[]);
    assert_eq!((output.status.code(), warnings(&output)), (Some(3), vec![]));
    assert_eq!(words(folder.path().join("events")), ["plan-refused", "breaker-tripped"]);
    // An author reads the plan of a pull request: it is sent to no one else.
    fs::remove_file(folder.path().join("events")).expect("a file");
    edit(folder.path(), "zonewright.toml", "owner", "owners");
    assert_eq!(run(&folder, &["plan"], &[]).status.code(), Some(1));
    assert_eq!(words(folder.path().join("events")), Vec::<String>::new());
    // A run that cannot read its other settings needs a person, too.
    assert_eq!(run(&folder, &["apply", "--auto"], &[]).status.code(), Some(1));
    assert_eq!(words(folder.path().join("events")), ["run-failed"]);
}

#[test]
fn an_outage_is_sent_once_and_a_mistake_of_the_call_is_not() {
    let folder = workspace("command = [\"sh\", \"-c\", \"cat >> events\"]\n");
    assert_eq!(run(&folder, &["fix", "nope", "--yes"], &[]).status.code(), Some(1));
    assert_eq!(words(folder.path().join("events")), Vec::<String>::new());
    let files = "type = \"zonefile\"\ndir = \"zones\"";
    edit(folder.path(), "zonewright.toml", files, "type = \"rfc2136\"\nserver = \"127.0.0.1:1\"");
    assert_eq!(run(&folder, &["apply", "--auto"], &[]).status.code(), Some(1));
    assert_eq!(words(folder.path().join("events")), ["apply-finished"]);
}

#[test]
fn only_what_was_asked_for_is_sent() {
    let folder = refused("command = [\"sh\", \"-c\", \"cat >> events\"]\non = [\"breaker\"]\n");
    assert_eq!(run(&folder, &["apply", "--auto"], &[]).status.code(), Some(3));
    assert_eq!(words(folder.path().join("events")), ["breaker-tripped"]);
    let folder = workspace("command = [\"sh\", \"-c\", \"cat >> events\"]\n");
    assert_eq!(run(&folder, &["apply", "--auto"], &[]).status.code(), Some(0));
    assert_eq!(words(folder.path().join("events")), Vec::<String>::new());
}

#[test]
fn a_receiver_that_fails_is_tried_again_and_changes_no_exit_code() {
    let (port, bodies) = server(&[503, 429, 204, 404], None);
    let folder = refused(&format!("webhook = \"http://127.0.0.1:{port}/secret-path\"\n"));
    let output = run(&folder, &["apply", "--auto"], &[]);
    assert_eq!(output.status.code(), Some(3));
    let expected = ["[notify]: warning[notify-failed]: `127.0.0.1` answers with status 404"];
    assert_eq!(warnings(&output), expected);
    let bodies: Vec<String> = bodies.join().expect("no panic").iter().map(word).collect();
    assert_eq!(bodies, ["plan-refused", "plan-refused", "plan-refused", "breaker-tripped"]);
}

#[test]
fn what_cannot_be_reached_is_said_without_the_url() {
    let folder = refused("webhook_env = \"HOOK\"\ncommand = [\"./none\"]\non = [\"breaker\"]\n");
    let output = run(&folder, &["apply", "--auto"], &[("HOOK", "http://127.0.0.1:1/secret-path")]);
    assert_eq!(output.status.code(), Some(3));
    let [command, webhook] = warnings(&output).try_into().expect("two warnings");
    assert!(command.contains("`./none` cannot be run: no such file"), "{command}");
    assert!(webhook.contains("`127.0.0.1` cannot be reached: connection refused"), "{webhook}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("secret-path"));
    // Another workspace: the breaker has tripped in the first one.
    let folder = refused("webhook_env = \"HOOK\"\non = [\"breaker\"]\n");
    let unset = run(&folder, &["apply", "--auto"], &[]);
    assert!(warnings(&unset)[0].ends_with("the environment variable `HOOK` with the webhook is not set"), "{unset:?}");
}

#[test]
fn a_redirect_is_not_followed() {
    let (port, bodies) = server(&[307], None);
    let folder = refused(&format!("webhook = \"http://127.0.0.1:{port}/\"\non = [\"breaker\"]\n"));
    let output = run(&folder, &["apply", "--auto"], &[]);
    assert!(warnings(&output)[0].ends_with("answers with a redirect (307), which is not followed"), "{output:?}");
    assert_eq!(bodies.join().expect("no panic").len(), 1);
}

#[test]
fn a_webhook_over_tls_is_verified() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/notify");
    let certificate = files.join("certificate.pem");
    let chain = vec![CertificateDer::from_pem_file(&certificate).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(files.join("key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("versions");
    let config =
        Arc::new(config.with_no_client_auth().with_single_cert(chain, key).expect("a certificate and its key"));
    let (port, bodies) = server(&[200], Some(config));
    let folder = refused(&format!("webhook = \"https://localhost:{port}/\"\non = [\"breaker\"]\n"));
    let trusted = certificate.to_str().expect("UTF-8");
    let output = run(&folder, &["apply", "--auto"], &[("SSL_CERT_FILE", trusted)]);
    assert_eq!(warnings(&output), Vec::<String>::new());
    assert_eq!(bodies.join().expect("no panic").len(), 1);
}
