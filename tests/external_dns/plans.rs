//! What is planned: the tables of `plan/plan_test.go`, `plan/conflict_test.go` and `plan/policy_test.go`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::workspace::{Settings, TableRecord, Workspace, folded};
use super::{Differences, cases, tables, text};

/// What is appended to the names of the tables, most of which have one label.
const ZONE: &str = "example.net";

/// Our owner, where a case looks at none.
const OWNER: &str = "us";

/// What zonewright plans otherwise: the case, the reason, what it plans. docs/migrate/external-dns.md says the same to operators.
const PLANS: &[(&str, &str, &[&str])] = &[
    ("ResolveCreate 1: should pick min one", JOINED, &["create A bar.example.net 127.0.0.1 192.168.0.1"]),
    (
        "ResolveUpdate 4: should pick min for update when same resource endpoint occur",
        JOINED,
        &["modify A bar.example.net 127.0.0.1 8.8.8.8"],
    ),
    ("ResolveUpdate 5: should pick existing resource", JOINED, &["modify A bar.example.net 127.0.0.1 192.168.0.1"]),
    (
        "ResolveUpdate 9: legacy record's resource value will not match, should pick m",
        JOINED,
        &["modify A bar.example.net 127.0.0.1 192.168.0.1"],
    ),
    ("TestIgnoreTXT", NEXT_TO_CNAME, &[]),
    ("TestExcludeTXT", NEXT_TO_CNAME, &[]),
    ("Records of types that are not managed do not block.", NEXT_TO_CNAME, &[]),
    ("Type change under upsert-only: the create stays, the delete goes.", NEXT_TO_CNAME, &[]),
    ("Type change under create-only: the create stays, the delete goes.", NEXT_TO_CNAME, &[]),
    ("TestDualStackToSingleStack", STATED_BY_ANOTHER, &[]),
    ("TestRecordOwnerIdMigration", "`zonewright adopt --from-owner` does this, never a plan", &[]),
    (
        "After a pair that is equal only as an address, the rest is not compared.",
        "the RRset has another value than the manifest states",
        &["modify AAAA foo.example.net 2001:db8::1 2001:db8::3"],
    ),
    ("Two owners, updates: only our record changes.", AS_A_WHOLE, &[]),
    ("A name with records of two owners: our record is deleted, nothing is created.", AS_A_WHOLE, &[]),
    ("Another owner's A blocks the create of our AAAA.", OF_OTHERS, &["create AAAA foo.example.net 2001:db8::7"]),
    ("A record without an owner blocks a create too.", OF_OTHERS, &["create AAAA foo.example.net 2001:db8::7"]),
];

/// Values of one TTL.
const JOINED: &str = "external-dns joins these entries before its planner sees them, so zonewright joins them, too";

/// A CNAME and another type at a name.
const NEXT_TO_CNAME: &str =
    "servers refuse a CNAME next to another type (RFC 1034 section 3.6.2), so the name is blocked";

/// A name at which an RRset that is to change or give way is another's.
const AS_A_WHOLE: &str = "a name of which one RRset cannot be brought in line is blocked as a whole, and keeps all";

/// A name that another manifest still states.
const STATED_BY_ANOTHER: &str = "what a manifest that is gone had is removed where nothing has its name any longer";

/// A name at which others have another type.
const OF_OTHERS: &str = "an RRset is owned, not a name: another type there is no obstacle";

/// Cases that are not run, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("TestIdempotency", NO_TYPES),
    ("TestIgnoreTargetCase", NO_TYPES),
    ("TestConflictingCurrentNonConflictingDesired", "no zone has a CNAME next to an A"),
    ("TestConflictingCurrentNoDesired", "no zone has a CNAME next to an A"),
];

/// Cases that manage nothing.
const NO_TYPES: &str = "it manages no type, which is an error in the settings of a source";

/// The records of a list, in the zone.
fn records(list: &Value) -> Vec<TableRecord> {
    let in_zone = |record| {
        let record = TableRecord::of(record);
        TableRecord { name: format!("{}.{ZONE}", record.name), ..record }
    };
    list.as_array().expect("a list").iter().map(in_zone).collect()
}

/// A change of an RRset as a line; the TTL where the case sets one.
fn line(verb: &str, name: &str, rtype: &str, (values, ttl): (&[String], Option<u64>)) -> String {
    let values: BTreeSet<String> = values.iter().map(|value| folded(value)).collect();
    let values: Vec<String> = values.into_iter().collect();
    let ttl = ttl.map(|ttl| format!(" ttl {ttl}")).unwrap_or_default();
    format!("{verb} {rtype} {} {}{ttl}", name.trim_end_matches('.'), values.join(" "))
}

/// What external-dns plans.
fn theirs(expected: &Value) -> BTreeSet<String> {
    let of = |verb: &str, list: &Value| -> Vec<String> {
        let ttl = |record: &TableRecord| Some(record.ttl).filter(|ttl| *ttl != 0 && verb != "delete");
        records(list)
            .iter()
            .map(|record| line(verb, &record.name, &record.rtype, (&record.values, ttl(record))))
            .collect()
    };
    let updates = expected["update"].as_array().expect("a list").iter().map(|update| update["new"].clone()).collect();
    let [create, delete] = ["create", "delete"].map(|verb| of(verb, &expected[verb]));
    [create, of("modify", &updates), delete].concat().into_iter().collect()
}

/// What zonewright plans, without the TXT of the registry; TTLs where the case sets one.
fn ours(plan: &Value, desired: &[TableRecord]) -> BTreeSet<String> {
    let changes = plan["changes"].as_array().expect("a list").iter();
    let is_registry = |change: &&Value| {
        let sides = [&change["before"]["rdata"][0], &change["after"]["rdata"][0]];
        sides.iter().any(|text| text.as_str().is_some_and(|text| text.starts_with("\"heritage=")))
    };
    let lines = changes.filter(|change| !is_registry(change)).map(|change| {
        let (verb, side) = match (&change["before"], &change["after"]) {
            (Value::Null, after) => ("create", after),
            (before, Value::Null) => ("delete", before),
            (_, after) => ("modify", after),
        };
        let (name, rtype) = (text(change, "name"), text(change, "type"));
        let values: Vec<String> = side["rdata"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|value| value.as_str().expect("text").to_owned())
            .collect();
        let is_set =
            |record: &TableRecord| format!("{}.", record.name) == name && record.rtype == rtype && record.ttl != 0;
        let has_ttl = verb != "delete" && desired.iter().any(is_set);
        line(verb, name, rtype, (&values, side["ttl"].as_u64().filter(|_| has_ttl)))
    });
    lines.collect()
}

/// The zone of a case: its records, and who has them as the registry says it.
fn zone(owner: &str, current: &[TableRecord]) -> String {
    let mut lines = String::new();
    for record in current {
        lines += &record.lines();
        let owner = if owner.is_empty() { OWNER } else { &record.owner };
        if owner.is_empty() || record.rtype == "TXT" {
            continue;
        }
        let resource =
            record.manifest.as_ref().map(|(namespace, name)| format!(",external-dns/resource=crd/{namespace}/{name}"));
        lines += &format!(
            "{}-{}. 3600 TXT \"heritage=external-dns,external-dns/owner={owner}{}\"\n",
            record.rtype.to_lowercase(),
            record.name,
            resource.unwrap_or_default(),
        );
    }
    lines
}

/// What zonewright plans in a case.
fn planned(case: &Value) -> BTreeSet<String> {
    let list = |key: &str| -> Vec<String> {
        case[key].as_array().expect("a list").iter().map(|text| text.as_str().expect("text").to_owned()).collect()
    };
    let filter = |key: &str| -> Vec<String> {
        let names = case["domain_filter"][key].as_array().expect("a list").iter();
        names.map(|name| format!("{}.{ZONE}", name.as_str().expect("text"))).collect()
    };
    let excluded = list("excluded_types");
    let included = filter("include");
    let mut types = list("managed_types");
    types.retain(|rtype| !excluded.contains(rtype));
    let owner = text(case, "owner");
    let settings = Settings {
        owner: if owner.is_empty() { OWNER } else { owner },
        prefix: "",
        suffix: "",
        wildcard: "",
        key: "",
        zone: ZONE,
        domains: if included.is_empty() { vec![ZONE.to_owned()] } else { included },
        protect: filter("exclude").iter().flat_map(|name| [name.clone(), format!("*.{name}")]).collect(),
        types,
        policy: text(case, "policy"),
    };
    let old_owner = text(case, "old_owner");
    let (mut current, desired) = (records(&case["current"]), records(&case["desired"]));
    for record in &mut current {
        // TXT without any value are in no zone.
        if record.rtype == "TXT" && record.values.is_empty() {
            record.values.push("a text".to_owned());
        }
        // The tables have the owner as external-dns reads it by `--migrate-from-txt-owner`.
        if !old_owner.is_empty() && record.owner == owner {
            record.owner = old_owner.to_owned();
        }
    }
    let workspace = Workspace::new(&settings, &zone(owner, &current));
    // external-dns takes all that it owns for what its sources once stated. zonewright must have seen that.
    let is_own = |record: &&TableRecord| owner.is_empty() || [owner, old_owner].contains(&record.owner.as_str());
    let stated: Vec<TableRecord> = current.iter().filter(is_own).cloned().collect();
    workspace.state(&stated);
    let first = workspace.plan(&["plan"]);
    assert_eq!(first["changes"].as_array().map(Vec::len), Some(0), "{}: {:#}", text(case, "name"), first["changes"]);
    workspace.apply();
    workspace.state(&desired);
    ours(&workspace.plan(&["plan"]), &desired)
}

#[test]
fn the_same_is_planned_as_external_dns_plans() {
    let tables = tables("plan.json");
    let listed = PLANS.iter().map(|(case, reason, ours)| {
        let ours: BTreeSet<String> = ours.iter().map(|&line| line.to_owned()).collect();
        (*case, *reason, ours)
    });
    let mut plans = Differences::new(listed);
    let mut left_out: BTreeSet<&str> = LEFT_OUT.iter().map(|(case, _)| *case).collect();
    let mut cloud = 0;
    for case in ["cases", "extra_cases"].iter().flat_map(|table| cases(&tables, table)) {
        let name = text(case, "name");
        if case["cloud_only"] == true {
            cloud += 1;
        } else if !left_out.remove(name) {
            let p = std::panic::catch_unwind(|| planned(case)).unwrap_or_else(|_| BTreeSet::from(["PANIC".to_owned()]));
            plans.compare(name, theirs(&case["expected"]), p);
        }
    }
    assert!(left_out.is_empty(), "no case: {left_out:?}");
    assert_eq!(cloud, 11, "cases of set identifiers and settings of a provider");
    assert_eq!(plans.end(), 65);
}

#[test]
fn the_same_entry_counts_where_ttls_keep_entries_apart() {
    let tables = tables("plan.json");
    let mut picks = Differences::new([]);
    for case in cases(&tables, "pick") {
        let candidates = case["candidates"].as_array().expect("a list");
        // Where the types differ, the planner has sorted out the CNAME before it picks.
        if candidates.iter().any(|candidate| candidate["type"] != candidates[0]["type"]) {
            continue;
        }
        let with_ttl = |(candidate, ttl): (&Value, u64)| {
            let mut candidate = candidate.clone();
            candidate["ttl"] = ttl.into();
            candidate
        };
        let picked = candidates.iter().position(|candidate| *candidate == case["expected"]).expect("one of them");
        let desired: Vec<Value> = candidates.iter().zip(101..).map(with_ttl).collect();
        let picked = &desired[picked];
        let (current, create, update) = match &case["current"] {
            Value::Null => (json!([]), json!([picked]), json!([])),
            current => (json!([current]), json!([]), json!([{"new": picked}])),
        };
        let whole = json!({
            "name": case["name"],
            "policy": "sync",
            "owner": "",
            "managed_types": ["A", "AAAA", "CNAME"],
            "excluded_types": [],
            "domain_filter": {"include": [], "exclude": []},
            "current": current,
            "desired": desired,
        });
        let expected = theirs(&json!({"create": create, "update": update, "delete": []}));
        picks.compare(text(case, "name"), expected, planned(&whole));
    }
    assert_eq!(picks.end(), 6);
}
