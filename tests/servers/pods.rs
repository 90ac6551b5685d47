//! Sets of pods on real servers: names and SRV come, move one after another, and what is left behind goes.

use std::fs;

use crate::rig::Rig;
use crate::server::Kind;
use crate::workspace::{demo, zonewright};

on_every_primary! {
    pods_come_move_one_after_another_and_leave_nothing
    an_srv_lists_no_name_that_another_editor_took
}

/// The domain of the set.
const DOMAIN: &str = "web.shop.example.net.";

/// The zones of the demo of pods.
const ZONES: [&str; 2] = ["shop.example.net.", "5.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa."];

/// Makes a plan as of a time of the day and applies what of it may go; gives the exit code.
fn apply(rig: &Rig, now: &str) -> i32 {
    let now = format!("2026-11-20T{now}Z");
    let output = zonewright()
        .args(["-q", "apply", "--auto", "--yes", "--now", &now, "-C"])
        .arg(rig.workspace.path())
        .output()
        .expect("the binary was built for this test");
    output.status.code().expect("an exit code")
}

/// What the server holds of the set: `ab12cd AAAA 2001:db8:5:1::a`, sorted; without SOA, NS and markers.
fn held(rig: &Rig) -> Vec<String> {
    let lines = ZONES.into_iter().flat_map(|zone| rig.zone(zone).records);
    let own = lines.filter(|line| line.contains(DOMAIN)).map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let name = fields[0].trim_end_matches('.').trim_end_matches(DOMAIN.trim_end_matches('.'));
        let name = if fields[2] == "PTR" { "PTR" } else { name.trim_end_matches('.') };
        format!("{name} {}", fields[2..].join(" ")).replace(&format!(".{DOMAIN}"), "")
    });
    let mut held: Vec<String> = own.collect();
    held.sort();
    held
}

/// Names and SRV of two pods of which one moves at a time, on a real server.
fn pods_come_move_one_after_another_and_leave_nothing(kind: Kind) {
    let Some(rig) = Rig::of_files(kind, &demo().join("shop")) else { return };
    assert_eq!(apply(&rig, "02:00:00"), 0);
    let (a, b, c) = ("ab12cd-744dc0cd", "ef34gh-28b23f1f", "ij56kl-6bb3ae97");
    let placed =
        |name: &str, address: &str| [format!("{name} AAAA 2001:db8:5:1::{address}"), format!("PTR PTR {name}")];
    let stays = |name: &str, address: &str| format!("{name} AAAA 2001:db8:5:1::{address}");
    let listed =
        |names: &[&str]| names.iter().map(|name| format!("_http._tcp SRV 0 0 8080 {name}")).collect::<Vec<_>>();
    let sorted = |parts: &[Vec<String>]| {
        let mut all = parts.concat();
        all.sort();
        all
    };
    let expected = sorted(&[
        placed(a, "a").to_vec(),
        placed(b, "b").to_vec(),
        placed(c, "c").to_vec(),
        vec![stays("ab12cd", "a"), stays("ef34gh", "b")],
        listed(&[a, b]),
    ]);
    assert_eq!(held(&rig), expected);
    // Both move, and the budget is one.
    let rows = rig.workspace.path().join("pods/pods.jsonl");
    let text = fs::read_to_string(&rows).expect("the rows of the demo");
    let text = text.replace("sas1-0001", "sas1-0009").replace("1::a\"", "1::1a\"");
    let text = text.replace("sas1-0002", "sas1-0008").replace("1::b\"", "1::1b\"");
    fs::write(&rows, text).expect("the rows of the demo");
    assert_eq!(apply(&rig, "02:10:00"), 5);
    let (new_a, new_b) = ("ab12cd-63df6090", "ef34gh-dd41ffeb");
    let expected = sorted(&[
        placed(a, "a").to_vec(),
        placed(new_a, "1a").to_vec(),
        placed(b, "b").to_vec(),
        placed(c, "c").to_vec(),
        vec![stays("ab12cd", "1a"), stays("ef34gh", "b")],
        listed(&[a, b]),
    ]);
    assert_eq!(held(&rig), expected);
    let exits: Vec<i32> = ["02:11:30", "02:13:00", "02:15:00", "02:17:00"].iter().map(|now| apply(&rig, now)).collect();
    assert_eq!(exits, [0, 0, 0, 0]);
    let expected = sorted(&[
        placed(new_a, "1a").to_vec(),
        placed(new_b, "1b").to_vec(),
        placed(c, "c").to_vec(),
        vec![stays("ab12cd", "1a"), stays("ef34gh", "1b")],
        listed(&[new_a, new_b]),
    ]);
    assert_eq!(held(&rig), expected);
}

/// Another editor makes the name of a new pod between plan and apply: the SRV does not list it until the pod has it.
fn an_srv_lists_no_name_that_another_editor_took(kind: Kind) {
    let Some(rig) = Rig::of_files(kind, &demo().join("shop")) else { return };
    assert_eq!(apply(&rig, "02:00:00"), 0);
    let srv = || held(&rig).into_iter().filter(|line| line.contains(" SRV ")).collect::<Vec<_>>();
    let (before, rows) = (srv(), rig.workspace.path().join("pods/pods.jsonl"));
    let text = fs::read_to_string(&rows).expect("the rows of the demo");
    let first = text.lines().next().expect("a row");
    let new = first.replace("ab12cd", "mn78op").replace("0001", "0005").replace("1::a\"", "1::d\"");
    fs::write(&rows, format!("{text}{new}\n")).expect("the rows of the demo");
    let plan = rig.plan();
    let changes = plan.document["changes"].as_array().expect("changes");
    let names = changes.iter().filter_map(|change| change["name"].as_str());
    let name =
        names.into_iter().find(|name| name.starts_with("mn78op-")).expect("the name of its placement").to_owned();
    rig.nsupdate("shop.example.net.", &format!("update add {name} 60 AAAA 2001:db8:5:1::ffff"));
    let applied = rig.apply(&plan, &[]);
    assert!(applied.said().contains(&format!("its SRV is to list `{name}`, which is not there")), "{}", applied.said());
    assert_eq!(srv(), before);
    rig.nsupdate("shop.example.net.", &format!("update delete {name} AAAA"));
    assert_eq!(apply(&rig, "02:10:00"), 0);
    assert_eq!(srv().len(), before.len() + 1);
}

#[test]
fn a_pod_that_a_server_refuses_holds_back_its_set_no_longer_than_twice() {
    let strict = ("check-names primary ignore;", "check-names primary fail;");
    let Some(rig) = Rig::of_files_in_bind(&demo().join("shop"), strict.0, strict.1) else { return };
    assert_eq!(apply(&rig, "02:00:00"), 0);
    let rows = rig.workspace.path().join("pods/pods.jsonl");
    let row = |pod: &str, address: &str| {
        format!(
            "{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"shop-web\",\"pod\":\"{pod}\",\"node\":\"sas1-0007.example.net\",\
             \"rack\":\"sas1-7\",\"location\":\"sas\",\"addresses\":[\"2001:db8:5:1::{address}\"],\"state\":\"active\"}}\n"
        )
    };
    let text = fs::read_to_string(&rows).expect("the rows of the demo");
    // BIND takes no address at a name with an underscore (`check-names`).
    fs::write(&rows, format!("{text}{}{}", row("op_1", "21"), row("qr78st", "22"))).expect("the rows of the demo");
    let listed = || held(&rig).iter().any(|record| record.contains(" SRV ") && record.contains("qr78st"));
    // The second one has nothing left that succeeds.
    for (now, exit, is_listed) in [("02:10:00", 4, false), ("02:20:00", 1, false), ("02:30:00", 4, true)] {
        assert_eq!((apply(&rig, now), listed()), (exit, is_listed), "{now}");
    }
    fs::write(&rows, format!("{text}{}{}", row("op1", "21"), row("qr78st", "22"))).expect("the rows of the demo");
    assert_eq!(apply(&rig, "02:40:00"), 0);
}
