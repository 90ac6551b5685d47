//! What is created where records or their TXT are missing: the rounds of `registry/txt/registry_test.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::workspace::{Settings, TableRecord, Workspace};
use super::{Differences, cases, tables, text};

/// The zone.
const ZONE: &str = "test-zone.example.org";

/// What zonewright creates otherwise: the case, the reason, what it creates.
const ROUNDS: &[(&str, &str, &[&str])] = &[
    ("Recreate missing CNAME record when TXT exists", NEXT_TO_CNAME, &[]),
    (
        "Recreate missing A and CNAME records when TXT exists",
        NEXT_TO_CNAME,
        &["create A new-record-1.test-zone.example.org"],
    ),
];

/// A TXT of an earlier version at the name of a CNAME.
const NEXT_TO_CNAME: &str = "servers refuse a CNAME next to a TXT of an earlier version, so the name is blocked";

/// The records of a list.
fn records(list: &Value) -> Vec<TableRecord> {
    list.as_array().expect("a list").iter().map(TableRecord::of).collect()
}

/// The types and names of what a plan creates; a word for all that it does else.
fn created(plan: &Value) -> BTreeSet<String> {
    let change = |change: &Value| {
        let name = text(change, "name").trim_end_matches('.');
        let verb = if change["before"].is_null() { "create" } else { "change" };
        format!("{verb} {} {name}", text(change, "type"))
    };
    plan["changes"].as_array().expect("a list").iter().map(change).collect()
}

/// What a case creates under a policy. Once it is applied, nothing more is.
fn round(case: &Value, policy: &str) -> BTreeSet<String> {
    let config = &case["config"];
    let types = config["managed_types"].as_array().expect("a list").iter();
    let settings = Settings {
        owner: text(config, "owner"),
        prefix: text(config, "prefix"),
        suffix: text(config, "suffix"),
        wildcard: text(config, "wildcard_replacement"),
        key: text(config, "aes_key"),
        zone: ZONE,
        domains: vec![ZONE.to_owned()],
        protect: Vec::new(),
        types: types.map(|rtype| rtype.as_str().expect("text").to_owned()).collect(),
        policy,
    };
    let zone = records(&case["zone"]);
    // The provider of the tests keeps a TXT of an earlier version next to a CNAME, which no zone may have.
    let aliases: BTreeSet<&String> =
        zone.iter().filter(|record| record.rtype == "CNAME").map(|record| &record.name).collect();
    let is_possible = |record: &&TableRecord| record.rtype == "CNAME" || !aliases.contains(&record.name);
    let lines: String = zone.iter().filter(is_possible).map(TableRecord::lines).collect();
    let workspace = Workspace::new(&settings, &lines);
    workspace.state(&records(&case["desired"]));
    let plan = workspace.plan(&["plan"]);
    workspace.apply();
    let again = created(&workspace.plan(&["plan"]));
    assert!(again.is_empty(), "{}: {again:?}", text(case, "name"));
    created(&plan)
}

#[test]
fn what_is_missing_is_created_as_external_dns_creates_it() {
    let tables = tables("registry.json");
    let listed = ROUNDS.iter().map(|(case, reason, ours)| {
        let ours: BTreeSet<String> = ours.iter().map(|&line| line.to_owned()).collect();
        (*case, *reason, ours)
    });
    let mut rounds = Differences::new(listed);
    let mut compared = 0;
    for case in cases(&tables, "rounds") {
        let created = records(&case["expected_create"]);
        let expected: BTreeSet<String> =
            created.iter().map(|record| format!("create {} {}", record.rtype, record.name)).collect();
        let policies = case["policies"].as_array().expect("a list").iter();
        let ours: BTreeSet<BTreeSet<String>> =
            policies.map(|policy| round(case, policy.as_str().expect("text"))).collect();
        compared += case["policies"].as_array().map_or(0, Vec::len);
        assert_eq!(ours.len(), 1, "{}: policies differ: {ours:?}", text(case, "name"));
        rounds.compare(text(case, "name"), expected, ours.into_iter().next().unwrap_or_default());
    }
    assert_eq!((rounds.end(), compared), (10, 26));
}
