//! PowerDNS by its API: what only the API shows, what it refuses, and the zones that it makes and deletes.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::made::{Makers, SPARE};
use crate::pdns;
use crate::pdns_api::{ask, put};
use crate::rig::{Planned, Rig, apply_in, plan_in, quiet_in, text_of};
use crate::server::{Kind, Server};
use crate::workspace::edit;

/// Whether each record of an RRset is switched off; empty where there is no such RRset.
fn switches(server: &Server, zone: &str, name: &str, rtype: &str) -> Vec<bool> {
    let document: Value =
        serde_json::from_str(&ask(server, "GET", &format!("zones/{zone}"), &Value::Null)).expect("JSON");
    let rrsets = document["rrsets"].as_array().expect("a list");
    let found = rrsets.iter().find(|rrset| rrset["name"] == name && rrset["type"] == rtype);
    let records = found.and_then(|rrset| rrset["records"].as_array()).into_iter().flatten();
    records.map(|record| record["disabled"].as_bool().expect("a switch")).collect()
}

/// The subjects that a plan blocks by a code, each with the message.
fn blocked(plan: &Planned, code: &str) -> Vec<(String, String)> {
    let text = |block: &Value, key: &str| block[key].as_str().expect("text").to_owned();
    let blocked = plan.document["blocked"].as_array().expect("a list").iter().filter(|block| block["code"] == code);
    blocked.map(|block| (text(block, "subject"), text(block, "message"))).collect()
}

#[test]
fn what_is_no_plain_rrset_blocks_its_host_and_stays() {
    let Some(rig) = Rig::demo(Kind::PowerDnsApi) else { return };
    let settings = std::fs::read_to_string(rig.workspace.path().join("zonewright.toml")).expect("a file");
    assert!(settings.contains("type = \"powerdns\""), "{settings}");
    let changes = rig.plan().changes();
    let is_new = |own: &&crate::rig::Edit| own.rtype == "AAAA" && own.before.is_empty() && own.hosts.len() == 1;
    let new: Vec<_> = changes.iter().filter(is_new).collect();
    let (off, alias) = (new[0], new[1]);
    let switched_off = json!([{"content": "2001:db8::9", "disabled": true}]);
    let records = |name: &str, rtype: &str, records: &Value| json!({"name": name, "type": rtype, "ttl": 60, "changetype": "REPLACE", "records": records});
    let own = records(&off.name, "AAAA", &switched_off);
    let other = records(&alias.name, "ALIAS", &json!([{"content": "elsewhere.example.", "disabled": false}]));
    put(&rig.server, &off.zone, &json!([own]));
    put(&rig.server, &alias.zone, &json!([other]));

    let plan = rig.plan();
    let subject = |own: &crate::rig::Edit| format!("host:{}", own.host.expect("a host's"));
    let found = blocked(&plan, "opaque");
    let expected: BTreeSet<String> = [subject(off), subject(alias)].into();
    assert_eq!(found.iter().map(|(subject, _)| subject.clone()).collect::<BTreeSet<_>>(), expected, "{found:?}");
    let messages: Vec<&str> = found.iter().map(|(_, message)| message.as_str()).collect();
    let says = |part: &str| messages.iter().any(|message| message.contains(part));
    assert!(says("has a disabled AAAA record, which zonewright never touches"), "{messages:?}");
    assert!(says("has an ALIAS record of PowerDNS's own kind"), "{messages:?}");
    assert!(plan.changes().iter().all(|change| change.name != off.name && change.name != alias.name));

    let explained = quiet_in(rig.workspace.path()).args(["explain", &off.name]).output().expect("it runs");
    assert!(text_of(&explained.stdout).contains("a disabled AAAA record"), "{}", text_of(&explained.stdout));

    // The same out of a snapshot.
    let snapshot = rig.workspace.path().join("snapshot");
    let saved = quiet_in(rig.workspace.path()).args(["snapshot", "--out"]).arg(&snapshot).output().expect("it runs");
    assert!(saved.status.success(), "{}", text_of(&saved.stderr));
    let of_snapshot = plan_in(rig.workspace.path(), &["--live-snapshot", snapshot.to_str().expect("plain")]);
    assert_eq!((blocked(&of_snapshot, "opaque"), of_snapshot.effect()), (found, plan.effect()));

    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(0), "{}", applied.said());
    assert_eq!(switches(&rig.server, &off.zone, &off.name, "AAAA"), [true]);
    assert_eq!(switches(&rig.server, &alias.zone, &alias.name, "ALIAS"), [false]);
    assert!(rig.plan().changes().is_empty());
}

#[test]
fn records_that_a_rule_would_remove_stay_where_one_of_them_is_switched_off() {
    let Some(rig) = Rig::demo(Kind::PowerDnsApi) else { return };
    let changes = rig.plan().changes();
    let goes = changes.iter().find(|own| own.rtype == "AAAA" && own.after.is_empty()).expect("the demo removes one");
    let value = |line: &String| line.rsplit(' ').next().expect("an address").to_owned();
    let mut records: Vec<Value> =
        goes.before.iter().map(|line| json!({"content": value(line), "disabled": false})).collect();
    records.push(json!({"content": "2001:db8::9", "disabled": true}));
    let rrset = json!({"name": goes.name, "type": "AAAA", "ttl": 60, "changetype": "REPLACE", "records": records});
    put(&rig.server, &goes.zone, &json!([rrset]));
    let plan = rig.plan();
    assert!(plan.changes().iter().all(|own| own.name != goes.name), "{:#}", plan.document["changes"]);
    let told = plan.document["notices"].to_string() + &plan.document["blocked"].to_string();
    assert!(told.contains("a disabled AAAA record, which zonewright never touches"), "{told}");
    rig.apply(&plan, &[]);
    assert_eq!(switches(&rig.server, &goes.zone, &goes.name, "AAAA").len(), records.len());
}

#[test]
fn zones_are_made_and_deleted_by_the_api() {
    let Some(makers) = Makers::start(&[Kind::PowerDnsApi]) else { return };
    let plan = plan_in(makers.path(), &[]);
    let created = plan.document["zone_changes"].as_array().expect("a list").len();
    assert_eq!(created, 3, "{:#}", plan.document["zone_changes"]);
    apply_in(makers.path(), &plan.file, &[]).assert_all(0, "applied");
    let server = &makers.makers[0].server;
    let forward = ask(server, "GET", "zones/example.net.", &Value::Null);
    assert!(forward.contains("\"ns1.example.org.\"") && forward.contains("\"AAAA\""), "{forward}");
    let again = plan_in(makers.path(), &[]);
    assert_eq!((again.document["zone_changes"].is_null(), again.changes().len()), (true, 0));

    makers.close_spare();
    let plan = plan_in(makers.path(), &[]);
    let deleted = apply_in(makers.path(), &plan.file, &["--allow", "zone-delete:spare.example.=1"]);
    assert_eq!(deleted.exit, Some(0), "{}", deleted.said());
    let zones = ask(server, "GET", "zones", &Value::Null);
    assert!(!zones.contains(SPARE) && zones.contains("\"example.net.\""), "{zones}");
}

/// The errors of the zones that a plan could not read: code and message.
fn unread(workspace: &Path) -> (Option<i32>, String) {
    let output = quiet_in(workspace).args(["plan"]).output().expect("it runs");
    (output.status.code(), text_of(&output.stdout) + &text_of(&output.stderr))
}

#[test]
fn what_the_api_refuses_is_said_with_what_to_do() {
    let Some(rig) = Rig::demo(Kind::PowerDnsApi) else { return };
    let (workspace, api) = (rig.workspace.path(), pdns::api(rig.server.folder()));

    let other = "url = \"http://127.0.0.1:9\"";
    edit(workspace, &format!("url = \"http://{api}\""), other);
    let (exit, said) = unread(workspace);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("connect-failed") && said.contains("webserver=yes"), "{said}");

    // Something else answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let elsewhere = listener.local_addr().expect("a port");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut question = [0; 4096];
            let _ = stream.read(&mut question);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<html></html>");
        }
    });
    edit(workspace, other, &format!("url = \"http://{elsewhere}\""));
    let (exit, said) = unread(workspace);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("api-failed") && said.contains("its list of zones cannot be read"), "{said}");
    edit(workspace, &format!("url = \"http://{elsewhere}\""), &format!("url = \"http://{api}\""));

    ask(&rig.server, "DELETE", "zones/search.example.net.", &Value::Null);
    let (exit, said) = unread(workspace);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("zone-not-served") && said.contains("pdnsutil list-all-zones"), "{said}");

    let key = "api_key = { secret_file = \"secret\" }";
    edit(workspace, key, "api_key = { secret_env = \"ZONEWRIGHT_TEST_API_KEY\" }");
    let output = quiet_in(workspace).args(["plan"]).env("ZONEWRIGHT_TEST_API_KEY", "wrong").output().expect("it runs");
    let said = text_of(&output.stdout) + &text_of(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("api-denied") && said.contains("`api-key` of pdns.conf"), "{said}");
    assert!(!said.contains("wrong"), "the key is shown nowhere: {said}");
}

#[test]
fn doctor_looks_at_the_api_and_at_updates() {
    let Some(rig) = Rig::demo(Kind::PowerDnsApi) else { return };
    let rrset = json!({"name": "off.search.example.net.", "type": "A", "ttl": 60, "changetype": "REPLACE",
        "records": [{"content": "192.0.2.1", "disabled": true}]});
    put(&rig.server, "search.example.net.", &json!([rrset]));
    let output = quiet_in(rig.workspace.path()).args(["doctor"]).output().expect("it runs");
    let said = text_of(&output.stdout) + &text_of(&output.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("takes updates"), "{said}");
    assert!(said.contains("off.search.example.net. has a disabled A record: never touched"), "{said}");
    assert!(said.contains("powerdns"), "{said}");
}
