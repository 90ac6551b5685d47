//! Plans that zonewright did not make: whole, with the right digests, and with changes that no rule makes. They are
//! refused, and nothing is written.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use zonewright::claim::{OrphanName, Subject};

use serde_json::Value;
use tempfile::TempDir;
use zonewright::change::{Change, ChangeKind, Reason, Rule};
use zonewright::dns::reverse::reverse_name;
use zonewright::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use zonewright::inventory::value::Inv;
use zonewright::plan::{Plan, PlanScope, SealedPlan, document};

use copy::copy;
use edit::edit;

/// The clock of all commands.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The registry's text.
const HERITAGE: &str = "\"heritage=external-dns,external-dns/owner=fleet-dns\"";

/// A small workspace with zone files, and `registry = "journal"`; the records of one name are still to be made.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    edit(folder.path(), "zones/web.example.net.zone", "\nsas0-0001 AAAA 2001:db8:0:1:0:1478:0:101", "");
    folder
}

/// Runs a command in a workspace; gives the document that it prints.
fn run(workspace: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).args(["--format", "json", "-q"]);
    if !args.contains(&"--now") {
        command.args(["--now", NOW]);
    }
    let output = command.arg("-C").arg(workspace).output().expect("the binary was built for this test");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The plan of a workspace.
fn planned(workspace: &Path) -> Plan {
    let path = workspace.join("plan.json");
    run(workspace, &["plan", "--out", &path.display().to_string()]);
    let text = fs::read_to_string(path).expect("the plan");
    document::parse(&text).expect("it is one").plan().clone()
}

/// Saves a plan with digests that fit what it says; gives its path.
fn saved(workspace: &Path, plan: Plan) -> String {
    let path = workspace.join("forged.json");
    fs::write(&path, document::to_json(&SealedPlan::new(plan))).expect("a file");
    path.display().to_string()
}

/// An RRset of records in presentation format; none without records.
fn rrset(rtype: Rtype, rdata: &[&str]) -> Option<Rrset> {
    let rdata = rdata.iter().map(|text| Rdata::parse(rtype, text).expect("RDATA")).collect();
    Rrset::new(Ttl::from_secs(3600).expect("a TTL"), rdata)
}

/// A change of host 101, from records to others.
fn change((zone, name, rtype): (&str, &str, Rtype), (before, after): (&[&str], &[&str]), rules: &[Rule]) -> Change {
    let zone = ZoneName::new(Name::parse(zone).expect("a zone"));
    let name = match name.parse::<IpAddr>() {
        Ok(address) => reverse_name(address),
        Err(_) => Name::parse(name).expect("a name"),
    };
    let subject = |rule: &Rule| match rule {
        Rule::Released => Subject::Released(Inv(101)),
        Rule::Orphan | Rule::NoPod => {
            Subject::Orphan(OrphanName { pool: "main".parse().expect("a pool"), name: name.clone() })
        }
        _ => Subject::Host(Inv(101)),
    };
    Change {
        pool: "main".parse().expect("a pool"),
        key: RrKey { owner: zone.owner(name.as_name()).expect("a name in the zone"), rtype },
        zone,
        subject: rules.first().map_or(Subject::Host(Inv(101)), subject),
        also: Vec::new(),
        registers: None,
        via: None,
        targets: Vec::new(),
        project: "web".to_owned(),
        kind: ChangeKind::between(rrset(rtype, before), rrset(rtype, after)).expect("a change"),
        reasons: rules
            .iter()
            .map(|rule| Reason { evidence: Vec::new(), rule: *rule, subject: subject(rule) })
            .collect(),
    }
}

/// What a workspace holds that an apply could write: its zones, and whether it has a state.
fn held(workspace: &Path) -> (BTreeMap<PathBuf, String>, bool) {
    let zones = fs::read_dir(workspace.join("zones")).expect("the zones");
    let zones = zones.map(|entry| entry.expect("a file").path());
    let zones = zones.map(|path| (path.clone(), fs::read_to_string(path).expect("a zone"))).collect();
    (zones, workspace.join(".zonewright/state.db").exists())
}

/// Checks that a plan of these changes is refused with these words, and that nothing is written.
fn assert_refused(workspace: &Path, changes: Vec<Change>, words: &str) {
    let before = held(workspace);
    let names: Vec<String> = changes.iter().map(|change| change.key.owner.to_string()).collect();
    let forged = saved(workspace, Plan { changes, review: None, ..planned(workspace) });
    let applied = run(workspace, &["apply", &forged]);
    assert_eq!(applied["exit"], 3, "{names:?}: {applied:#}");
    assert_eq!(applied["refused"]["code"], "plan-malformed", "{names:?}: {applied:#}");
    let message = applied["refused"]["message"].as_str().expect("text");
    assert!(message.contains(words) && names.iter().any(|name| message.contains(name)), "{names:?}: {message}");
    assert_eq!(applied["zones"], serde_json::json!([]), "{applied:#}");
    assert_eq!(held(workspace), before, "{names:?}");
}

/// A change of the zone of the hosts, which adds records.
fn adds(name: &str, rtype: Rtype, rdata: &[&str], rule: Rule) -> Change {
    change(("web.example.net", name, rtype), (&[], rdata), &[rule])
}

#[test]
fn what_no_rule_makes_is_refused_and_nothing_is_written() {
    let folder = workspace();
    let address = ["2001:db8::1"];
    let many: Vec<String> = (1..=130).map(|number| format!("2001:db8::{number:x}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let host = "sas0-0001.web.example.net";
    for (name, rtype, rdata, rule, words) in [
        (
            "web.example.net",
            Rtype::AAAA,
            &address[..],
            Rule::Missing,
            "of an apex a plan changes only what a file states",
        ),
        ("*.web.example.net", Rtype::AAAA, &address, Rule::Missing, "no plan changes a wildcard"),
        (
            "_acme-challenge.web.example.net",
            Rtype::TXT,
            &["\"token\""],
            Rule::Registry,
            "only with `registry = \"txt\"`",
        ),
        ("aaaa-sas0-0001.web.example.net", Rtype::TXT, &[HERITAGE], Rule::Registry, "only with `registry = \"txt\"`"),
        ("_zonewright.web.example.net", Rtype::TXT, &["\"e=9 p=x b=1\""], Rule::Registry, "the zone's marker"),
        (host, Rtype::AAAA, &many, Rule::Missing, "leaves 130 records there, and `max_rrset` of [limits] is 100"),
        (host, Rtype::PTR, &["x.web.example.net."], Rule::MissingPtr, "only at the reverse name of a whole address"),
        ("x.y.web.example.net", Rtype::AAAA, &address, Rule::Missing, "a host of project `web` has no such name"),
    ] {
        assert_refused(folder.path(), vec![adds(name, rtype, rdata, rule)], words);
    }
    let target = change(
        ("8.b.d.0.1.0.0.2.ip6.arpa", "2001:db8::1", Rtype::PTR),
        (&[], &["www.example.org."]),
        &[Rule::MissingPtr],
    );
    assert_refused(folder.path(), vec![target], "which is directly below no project's domain");
    assert_eq!(run(folder.path(), &["apply", "--yes"])["exit"], 0, "the plan itself is applied");
}

#[test]
fn a_plan_says_what_limits_and_breakers_are_counted_by() {
    let folder = workspace();
    let real = planned(folder.path());
    let only = PlanScope::new([Inv(999_999)], &[]);
    for (forged, words) in [
        (Plan { fleet: None, ..real.clone() }, "it does not say how many hosts the fleet has"),
        (Plan { only, ..real }, "but the plan is narrowed to subjects of which this is none"),
    ] {
        let before = held(folder.path());
        let applied = run(folder.path(), &["apply", &saved(folder.path(), forged)]);
        assert_eq!(
            (&applied["exit"], &applied["refused"]["code"]),
            (&3.into(), &"plan-malformed".into()),
            "{applied:#}"
        );
        let message = applied["refused"]["message"].as_str().expect("text");
        assert!(message.contains(words), "{message}");
        assert_eq!(held(folder.path()), before);
    }
}

#[test]
fn a_text_that_is_not_the_registrys_is_refused_beside_a_change_that_rules_make() {
    let folder = workspace();
    edit(folder.path(), "zonewright.toml", "registry = \"journal\"", "registry = \"txt\"");
    let genuine = planned(folder.path()).changes;
    let is_text = |change: &Change| change.key.rtype == Rtype::TXT;
    assert!(genuine.iter().any(is_text), "{genuine:#?}");
    for (name, rdata, words) in [
        ("_acme-challenge.web.example.net", "\"token\"", "only at the registry's names"),
        ("aaaa-sas0-0002.web.example.net", HERITAGE, "it does not create the RRset that this TXT is for"),
        ("aaaa-sas0-0001.web.example.net", "\"v=spf1 -all\"", "the registry's text of owner `fleet-dns`"),
        ("_zonewright.web.example.net", HERITAGE, "the zone's marker"),
    ] {
        let forged = adds(name, Rtype::TXT, &[rdata], Rule::Registry);
        let others = genuine.iter().filter(|change| change.key != forged.key).cloned();
        assert_refused(folder.path(), others.chain([forged.clone()]).collect(), words);
    }
    assert_eq!(run(folder.path(), &["apply", "--yes"])["exit"], 0, "the plan itself is applied");
}

#[test]
fn an_undo_puts_back_what_its_apply_changed_and_nothing_else() {
    let folder = workspace();
    let workspace = folder.path();
    assert_eq!(run(workspace, &["apply", "--yes"])["exit"], 0);
    let path = workspace.join("undo.json").display().to_string();
    run(workspace, &["undo", "1", "--out", &path]);
    let plan = document::parse(&fs::read_to_string(&path).expect("the plan")).expect("it is one").plan().clone();
    assert_eq!((plan.undoes, plan.changes.len()), (Some(1), 1), "{:#?}", plan.changes);
    let before = held(workspace);
    let host = "sas0-0001.web.example.net";
    let other = |name: &str, before: &[&str], after: &[&str]| {
        change(("web.example.net", name, Rtype::AAAA), (before, after), &[Rule::Undo])
    };
    let own = "2001:db8:0:1:0:1478:0:101";
    for forged in [
        other("www.web.example.net", &[], &[own]),
        other("sas0-0002.web.example.net", &["2001:db8:0:1:0:1478:0:102"], &[]),
        other(host, &[own], &["2001:db8::666"]),
        Change { subject: Subject::Host(Inv(102)), ..plan.changes[0].clone() },
    ] {
        let name = forged.key.owner.to_string();
        let forged = saved(workspace, Plan { changes: vec![forged], ..plan.clone() });
        let applied = run(workspace, &["apply", &forged]);
        assert_eq!(
            (&applied["exit"], &applied["refused"]["code"]),
            (&3.into(), &"plan-malformed".into()),
            "{applied:#}"
        );
        let message = applied["refused"]["message"].as_str().expect("text");
        assert!(message.contains("does not put back what apply 1 changed") && message.contains(&name), "{message}");
        assert_eq!(held(workspace), before, "{name}");
    }
    let without = Plan { undoes: None, ..plan };
    let applied = run(workspace, &["apply", &saved(workspace, without)]);
    assert_eq!(applied["refused"]["code"], "plan-malformed", "{applied:#}");
    assert_eq!(run(workspace, &["apply", &path])["exit"], 0, "the undo itself is applied");
}

#[test]
fn resume_refuses_what_no_rule_makes_too() {
    let folder = workspace();
    let workspace = folder.path();
    // What is in an included file cannot be changed, so that the apply does not do all of its plan.
    edit(workspace, "zones/web.example.net.zone", "\nsas0-0002 AAAA 2001:db8:0:1:0:1478:0:102", "\n$INCLUDE hosts.inc");
    fs::write(workspace.join("zones/hosts.inc"), "sas0-0002 3600 AAAA 2001:db8:0:1:0:1478:0:999\n").expect("a file");
    let applied = run(workspace, &["apply", "--yes"]);
    assert_ne!(applied["exit"], 0, "{applied:#}");
    let plan = planned(workspace);
    let forged = adds("*.web.example.net", Rtype::AAAA, &["2001:db8::1"], Rule::Missing);
    let forged = document::to_json(&SealedPlan::new(Plan { changes: vec![forged], review: None, ..plan }));
    let state = rusqlite::Connection::open(workspace.join(".zonewright/state.db")).expect("the state");
    assert_eq!(state.execute("UPDATE plans SET document = ?1", [forged]), Ok(1));
    drop(state);
    let before = held(workspace);
    let resumed = run(workspace, &["resume"]);
    assert_eq!((&resumed["exit"], &resumed["refused"]["code"]), (&3.into(), &"plan-malformed".into()), "{resumed:#}");
    assert_eq!(held(workspace), before);
}

#[test]
fn the_times_of_a_plan_cannot_be_moved_to_the_future() {
    let folder = workspace();
    let workspace = folder.path();
    let plan = planned(workspace);
    let times = |created: &str, expires: &str| Plan {
        created: created.parse().expect("a time"),
        expires: expires.parse().expect("a time"),
        ..plan.clone()
    };
    for (created, expires) in [
        ("2026-11-20T02:05:01Z", "2026-11-21T02:05:01Z"),
        ("2027-11-20T02:00:00Z", "2027-11-21T02:00:00Z"),
        ("2026-11-20T02:00:00Z", "2026-11-21T02:00:01Z"),
    ] {
        let applied = run(workspace, &["apply", &saved(workspace, times(created, expires))]);
        assert_eq!(applied["refused"]["code"], "plan-times", "{created} {expires}: {applied:#}");
    }
    // The other machine's clock is a little fast, and its setting was lower.
    let applied = run(workspace, &["apply", &saved(workspace, times("2026-11-20T02:05:00Z", "2026-11-20T03:05:00Z"))]);
    assert_eq!(applied["exit"], 0, "{applied:#}");
}
