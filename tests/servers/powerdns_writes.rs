//! PowerDNS that is written by its API alone: what is compared, what is found afterwards, and what is lost.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::etcd::{PROJECT, SETTINGS};
use crate::http_way::read_message;
use crate::pdns;
use crate::pdns_api::{ask, ask_at, put};
use crate::rig::{Planned, Rig, apply_command, plan_in, quiet_in, text_of};
use crate::server::Kind;
use crate::workspace::edit;

/// The zone.
const ZONE: &str = "z.example";

/// What the settings say after those of a workspace of records alone.
const REST: &str = "[pool.main]
[[pool.main.target]]
type = \"zonefile\"
dir = \"zones\"
[[zone]]
name = \"z.example\"
pool = \"main\"
permission = \"full\"
";

/// A server with the zone, and a workspace that writes it by the API.
fn rig() -> Option<Rig> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    fs::create_dir(folder.path().join("zones")).expect("a folder");
    fs::create_dir(folder.path().join("octo")).expect("a folder");
    file("zonewright.toml", &format!("{SETTINGS}{REST}"));
    file("p.yaml", PROJECT);
    let apex = "$TTL 60\n@ SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n@ NS ns.example.org.\n";
    file("zones/z.example.zone", apex);
    state(folder.path(), "192.0.2.1");
    let rig = Rig::of_files(Kind::PowerDnsApi, folder.path())?;
    number_by(&rig, "INCREASE");
    write_by_api(rig.workspace.path(), "writes = \"api\"\nexclusive = true");
    Some(rig)
}

/// Says which address a name is to have.
fn state(folder: &Path, address: &str) {
    let text = format!("a: {{type: A, ttl: 300, value: {address}}}\n");
    fs::write(folder.join(format!("octo/{ZONE}.yaml")), text).expect("a file");
}

/// Sets how requests raise the serial.
fn number_by(rig: &Rig, kind: &str) {
    ask(&rig.server, "PUT", &format!("zones/{ZONE}."), &json!({"soa_edit_api": kind}));
}

/// Has a target written so, in place of updates to its server.
fn write_by_api(folder: &Path, lines: &str) {
    let file = folder.join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("the settings");
    let kept = text.lines().filter(|line| !line.starts_with("server = ") && !line.starts_with("tsig_key = "));
    let text: Vec<&str> =
        kept.flat_map(|line| [line].into_iter().chain((line == "type = \"powerdns\"").then_some(lines))).collect();
    fs::write(&file, text.join("\n") + "\n").expect("the settings");
}

/// The addresses of the name.
fn addresses(rig: &Rig) -> BTreeSet<String> {
    let document: Value =
        serde_json::from_str(&ask(&rig.server, "GET", &format!("zones/{ZONE}."), &Value::Null)).expect("JSON");
    let rrsets = document["rrsets"].as_array().expect("a list");
    let found = rrsets.iter().find(|rrset| rrset["name"] == format!("a.{ZONE}.") && rrset["type"] == "A");
    let records = found.and_then(|rrset| rrset["records"].as_array()).into_iter().flatten();
    records.map(|record| record["content"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn what_the_api_writes_is_compared_before_and_undone_after() {
    let Some(rig) = rig() else { return };
    let plan = rig.plan();
    let notices = plan.document["notices"].to_string();
    assert!(notices.contains("cannot-compare") && notices.contains("`exclusive = true` says"), "{notices}");
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    assert_eq!(addresses(&rig), ["192.0.2.1".to_owned()].into());

    // Another editor comes between a plan and its apply.
    state(rig.workspace.path(), "192.0.2.2");
    let late = rig.plan();
    let edited = json!({"name": format!("a.{ZONE}."), "type": "A", "ttl": 300, "changetype": "REPLACE",
        "records": [{"content": "192.0.2.77", "disabled": false}]});
    put(&rig.server, &format!("{ZONE}."), &json!([edited]));
    rig.apply(&late, &[]).assert_all(3, "stale");
    assert_eq!(addresses(&rig), ["192.0.2.77".to_owned()].into());

    let again = rig.plan();
    let done = rig.apply(&again, &[]);
    done.assert_all(0, "applied");
    assert_eq!(addresses(&rig), ["192.0.2.2".to_owned()].into());
    let number = done.document["apply"].to_string();
    let undone = quiet_in(rig.workspace.path()).args(["undo", &number, "--yes"]).output().expect("it runs");
    assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
    assert_eq!(addresses(&rig), ["192.0.2.77".to_owned()].into());
}

#[test]
fn a_zone_whose_serial_tells_nothing_is_not_written() {
    let Some(rig) = rig() else { return };
    number_by(&rig, "EPOCH");
    let applied = rig.apply(&rig.plan(), &[]);
    assert_eq!(applied.exit, Some(1), "{}", applied.said());
    let said = applied.document.to_string();
    assert!(said.contains("update-rejected") && said.contains("SOA-EDIT-API INCREASE"), "{said}");
    assert!(addresses(&rig).is_empty());
    let doctor = quiet_in(rig.workspace.path()).args(["doctor"]).output().expect("it runs");
    let told = text_of(&doctor.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("`SOA-EDIT-API` of the zone is `EPOCH`"), "{told}");
    // By dates the first serial of a day is the next one, too.
    number_by(&rig, "DEFAULT");
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    state(rig.workspace.path(), "192.0.2.2");
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
}

#[test]
fn settings_say_that_nothing_else_writes_or_how_updates_go() {
    let Some(rig) = rig() else { return };
    for (lines, words) in [
        ("writes = \"api\"", "needs `exclusive = true`"),
        ("writes = \"api\"\nexclusive = false", "needs `exclusive = true`"),
        ("writes = \"api\"\nexclusive = true\nserver = \"192.0.2.53\"", "`server` is for `writes = \"update\"`"),
        ("writes = \"update\"\nserver = \"192.0.2.53\"\nexclusive = true", "exclusive"),
        ("writes = \"update\"", "`server` is missing"),
        ("writes = \"API\"\nexclusive = true", "`API` is not one of"),
        ("writes = \"api\"\nexclusive = \"true\"", "exclusive"),
    ] {
        let folder = rig.another_workspace();
        let file = folder.path().join("zonewright.toml");
        let text = fs::read_to_string(&file).expect("the settings");
        fs::write(&file, text.replace("writes = \"api\"\nexclusive = true", lines)).expect("the settings");
        let output = quiet_in(folder.path()).args(["check"]).output().expect("it runs");
        let said = text_of(&output.stdout) + &text_of(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{lines}: {said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{lines}: {said}");
    }
}

/// What comes between a request that writes and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meddling {
    /// Another editor writes the same name right before it.
    Edit,
    /// The same, and the answer is lost.
    EditAndLose,
    /// The answer is lost.
    Lose,
    /// The answer has no serial.
    Strip,
}

/// The address that the other editor writes.
const OTHER: &str = "192.0.2.99";

/// A way to the API on which something comes between the first request that writes and its answer: `127.0.0.1:PORT`.
fn meddle(api: String, meddling: Meddling) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let is_done = Arc::new(AtomicBool::new(false));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, api, is_done) = (stream.expect("a connection"), api.clone(), Arc::clone(&is_done));
            thread::spawn(move || {
                while let Some(request) = read_message(&mut stream) {
                    let is_it = request.starts_with(b"PATCH") && !is_done.swap(true, Ordering::SeqCst);
                    if is_it && matches!(meddling, Meddling::Edit | Meddling::EditAndLose) {
                        let records = json!([{"content": OTHER, "disabled": false}]);
                        let rrset = json!({"name": format!("a.{ZONE}."), "type": "A", "ttl": 300, "changetype": "REPLACE", "records": records});
                        ask_at(&api, "PATCH", &format!("zones/{ZONE}."), &json!({"rrsets": [rrset]}));
                    }
                    let mut onward = TcpStream::connect(&api).expect("the API runs");
                    onward.write_all(&request).expect("the API reads");
                    let answer = read_message(&mut onward).expect("the API answers");
                    if is_it && matches!(meddling, Meddling::Lose | Meddling::EditAndLose) {
                        return;
                    }
                    let text = String::from_utf8(answer).expect("text");
                    let text =
                        if is_it && meddling == Meddling::Strip { text.replace("X-PDNS-", "X-Other-") } else { text };
                    let _ = stream.write_all(text.as_bytes());
                }
            });
        }
    });
    address
}

#[test]
fn what_others_write_between_is_told_whatever_happens_to_the_answer() {
    for (meddling, outcome) in [
        (Meddling::Edit, "raced"),
        (Meddling::EditAndLose, "raced"),
        (Meddling::Lose, "applied"),
        (Meddling::Strip, "applied"),
    ] {
        let Some(rig) = rig() else { return };
        rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
        state(rig.workspace.path(), "192.0.2.2");
        let plan = rig.plan();
        let api = pdns::api(rig.server.folder());
        let between = meddle(api.clone(), meddling);
        edit(rig.workspace.path(), &format!("http://{api}"), &format!("http://{between}"));
        let applied = rig.apply(&plan, &[]);
        let exit = if outcome == "raced" { 4 } else { 0 };
        applied.assert_all(exit, outcome);
        assert_eq!(addresses(&rig), ["192.0.2.2".to_owned()].into(), "{meddling:?}");
        if outcome == "raced" {
            // The journal has it, also when the apply is taken up.
            let number = applied.document["apply"].to_string();
            let resumed =
                quiet_in(rig.workspace.path()).args(["resume", &number, "--format", "json"]).output().expect("it runs");
            let said = text_of(&resumed.stdout);
            assert!(
                resumed.status.code() == Some(4) && said.contains("\"raced\": 1"),
                "{said}{}",
                text_of(&resumed.stderr)
            );
            let history = quiet_in(rig.workspace.path()).args(["history", &number]).output().expect("it runs");
            let told = text_of(&history.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains("done, but something else wrote"), "{told}");
        }
    }
}

#[test]
fn a_cname_and_other_types_take_each_others_place() {
    let Some(rig) = rig() else { return };
    let file = rig.workspace.path().join(format!("octo/{ZONE}.yaml"));
    for text in [
        "a: [{type: A, ttl: 300, value: 192.0.2.1}, {type: AAAA, ttl: 300, value: '2001:db8::1'}]\n",
        "a: {type: CNAME, ttl: 300, value: b.example.org.}\n",
        "a: {type: A, ttl: 300, value: 192.0.2.1}\n",
        "a: {type: CNAME, ttl: 300, value: b.example.org.}\n",
        "a: {type: TXT, ttl: 300, value: a text}\n",
    ] {
        fs::write(&file, text).expect("a file");
        let applied = rig.apply(&rig.plan(), &[]);
        assert_eq!(applied.exit, Some(0), "{text}: {}", applied.said());
        assert!(rig.plan().changes().is_empty(), "{text}");
    }
}

/// How many runs write at once.
const WRITERS: usize = 12;

/// One name, twelve runs that each want another address. Where several write, what all but the last wrote is lost: so many
/// of them, at least, must say `raced`.
#[test]
fn of_twelve_writers_at_once_those_that_overwrite_say_so() {
    let Some(rig) = rig() else { return };
    let rounds = std::env::var("RACE_ROUNDS").map_or(10, |rounds| rounds.parse().expect("a number"));
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    let runs: Vec<TempDir> = (0..WRITERS).map(|_| rig.another_workspace()).collect();
    let (mut overwritten, mut raced, mut unnoticed) = (0, 0, 0);
    for round in 0..rounds {
        let address = |number: usize| format!("192.0.2.{}", 100 + (round % 2) * WRITERS + number);
        let plan = |(number, run): (usize, &TempDir)| {
            let _ = fs::remove_dir_all(run.path().join(".zonewright"));
            state(run.path(), &address(number));
            plan_in(run.path(), &[])
        };
        let plans: Vec<Planned> = runs.iter().enumerate().map(plan).collect();
        let begin = |(run, plan): (&TempDir, &Planned)| {
            let mut command = apply_command(run.path(), &plan.file, &[]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
        };
        let children: Vec<Child> = runs.iter().zip(&plans).map(begin).collect();
        let (mut wrote, mut doubtful, mut said_so) = (Vec::new(), Vec::new(), 0);
        for (number, child) in children.into_iter().enumerate() {
            let output = child.wait_with_output().expect("a child");
            let document: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{}{}", text_of(&output.stdout), text_of(&output.stderr)));
            let outcome = document["hosts"][0]["outcome"].as_str().expect("an outcome").to_owned();
            let expected: &[i32] = match outcome.as_str() {
                "applied" => &[0],
                "raced" => &[4],
                "stale" => &[3],
                // The database is busy, and the server does not say whether it wrote; or it is busy while it is read.
                "failed" | "not-reached" => &[1, 4],
                other => panic!("round {round}: {other}: {document:#}"),
            };
            assert!(expected.contains(&output.status.code().expect("a code")), "{document:#}");
            said_so += usize::from(outcome == "raced");
            match outcome.as_str() {
                "applied" | "raced" => wrote.push(number),
                "failed" | "not-reached" => doubtful.push(number),
                _ => {}
            }
        }
        assert!(!wrote.is_empty(), "round {round}: one comes first");
        let there = addresses(&rig);
        let wanted: BTreeSet<String> = wrote.iter().chain(&doubtful).map(|number| address(*number)).collect();
        assert!(there.len() == 1 && there.is_subset(&wanted), "round {round}: {there:?} of {wanted:?}");
        let lost = wrote.len() - 1;
        overwritten += lost;
        raced += said_so;
        unnoticed += usize::from(said_so < lost);
    }
    eprintln!(
        "{rounds} rounds: {overwritten} updates were overwritten, {raced} say `raced`, in {unnoticed} rounds too few do"
    );
    assert!(unnoticed * 10 <= rounds, "in {unnoticed} of {rounds} rounds updates were lost that no outcome reports");
}
