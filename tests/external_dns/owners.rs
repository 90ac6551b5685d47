//! Whose an RRset is: the tables of `registry/txt/registry_test.go`, as zones.

use std::collections::BTreeSet;

use serde_json::Value;

use super::workspace::{Settings, TableRecord, Workspace};
use super::{Differences, cases, tables, text};

/// What zonewright has otherwise: the case and RRset, the reason, the owner that zonewright sees.
const OWNERS: &[(&str, &str, &str)] = &[
    ("testTXTRegistryMissingRecordsNoPrefix 1: NS newformat.test-zone.example.org", DELEGATED, "delegated"),
    ("testTXTRegistryMissingRecordsWithPrefix 1: NS newformat.test-zone.example.org", DELEGATED, "delegated"),
    (
        "Two values at one TXT name: only the first counts.: A foo.example.org",
        "a server sends values in any order, so all must name the owner",
        "other",
    ),
    (
        "Two values at one TXT name, the first is another text: an ordinary TXT, the record has no owner.: A foo.example.org",
        "a server sends values in any order, and other texts are left alone",
        "me",
    ),
    ("A wildcard replacement in upper case: the ownership is lost.: A *.example.org", NO_CASE, "me"),
    (
        "The record's name in upper case: it does not fit the TXT's name, which is read in lower case.: A foo.example.org",
        NO_CASE,
        "me",
    ),
    (
        "rfc2136 gives each character string as a value of its own. So only the first 255 octets are read.: A foo.example.org",
        "the strings of a TXT are one text",
        "me",
    ),
];

/// A delegation.
const DELEGATED: &str = "`explain` says that the name is served elsewhere, and not whose its NS are";

/// Capital letters.
const NO_CASE: &str = "names have no case (RFC 4343)";

/// The settings of a case.
fn settings<'c>(case: &'c Value, zone: &'c str) -> Settings<'c> {
    let config = &case["config"];
    Settings {
        owner: text(config, "owner"),
        prefix: text(config, "prefix"),
        suffix: text(config, "suffix"),
        wildcard: text(config, "wildcard_replacement"),
        key: text(config, "aes_key"),
        zone,
        domains: vec![zone.to_owned()],
        protect: Vec::new(),
        types: ["A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "NAPTR"].map(str::to_owned).to_vec(),
        policy: "sync",
    }
}

/// The owner that zonewright sees of an RRset.
fn owner_of(workspace: &Workspace, settings: &Settings<'_>, record: &TableRecord) -> String {
    let explained = workspace.explain(&record.name);
    let rrsets = explained["name"]["live"]["rrsets"].as_array().expect("a list");
    let rrset = rrsets.iter().find(|rrset| rrset["type"] == *record.rtype);
    let Some(rrset) = rrset else { return text(&explained["name"]["live"], "place").to_owned() };
    if rrset["own"] == true { settings.owner.to_owned() } else { text(rrset, "registered_to").to_owned() }
}

#[test]
fn an_rrset_is_own_where_external_dns_sees_the_same_owner() {
    let tables = tables("registry.json");
    let mut owners = Differences::new(OWNERS.iter().map(|(case, reason, ours)| (*case, *reason, (*ours).to_owned())));
    let mut impossible = 0;
    for case in ["records", "records_extra"].iter().flat_map(|table| cases(&tables, table)) {
        let mut all: Vec<TableRecord> = case["zone"].as_array().expect("a list").iter().map(TableRecord::of).collect();
        let zone =
            if all[0].name.ends_with(".test-zone.example.org") { "test-zone.example.org" } else { "example.org" };
        if text(case, "name").starts_with("rfc2136 ") {
            // What the table has as values are the strings of one TXT.
            all.iter_mut().for_each(TableRecord::join_strings);
        }
        // The provider of the tests keeps a CNAME next to other records, which no zone may (RFC 1034 section 3.6.2).
        let others: BTreeSet<&str> =
            all.iter().filter(|record| record.rtype != "CNAME").map(|record| record.name.as_str()).collect();
        let is_possible = |record: &&TableRecord| record.rtype != "CNAME" || !others.contains(record.name.as_str());
        let lines: String = all.iter().filter(is_possible).map(TableRecord::lines).collect();
        let settings = settings(case, zone);
        let workspace = Workspace::new(&settings, &lines);
        let old_owner = text(&case["config"], "old_owner");
        if !old_owner.is_empty() {
            // What external-dns reads as its own by a setting, zonewright takes over by a command.
            workspace.plan(&["adopt", "--from-owner", old_owner, "--all"]);
            workspace.apply();
        }
        for expected in case["expected"].as_array().expect("a list") {
            let record = TableRecord::of(expected);
            if !is_possible(&&record) {
                impossible += 1;
                continue;
            }
            let label = format!("{}: {} {}", text(case, "name"), record.rtype, record.name);
            owners.compare(&label, record.owner.clone(), owner_of(&workspace, &settings, &record));
        }
    }
    assert_eq!(impossible, 12, "records that no zone has");
    assert_eq!(owners.end(), 88);
}
