//! Files of records and tables of zonewright.toml, joined to pools.

use std::fs;

use crate::diag::{Diagnostics, Files, render};
use crate::dns::{Name, ZoneName};
use crate::inventory::model::{Config, Policy, Trust};
use crate::inventory::node::{SettingsNode, SettingsValue};
use crate::inventory::read::SettingsFile;
use crate::inventory::update_record::{RecordStanding, UpdateRecord};
use crate::registry::Registry;
use crate::target::{PoolName, ZoneId};

/// zonewright.toml without tables of records.
const TOML: &str = r#"owner = "fleet-dns"
registry = "journal"

[sources]
projects = "projects/*.yaml"
hosts = "none"
dns_update_records = ["records/*.{yaml,json}"]

[project.shop]
dns_domain = "shop.example.net"

[pool.main]
[[pool.main.target]]
type = "zonefile"
dir = "zones"
"#;

/// The example of each provider, in one file.
const EXAMPLES: [&str; 7] = [
    include_str!("../../sources/update_records/tests/examples/aws.yaml"),
    include_str!("../../sources/update_records/tests/examples/aws-sd.yaml"),
    include_str!("../../sources/update_records/tests/examples/azure.yaml"),
    include_str!("../../sources/update_records/tests/examples/azure-dns.yaml"),
    include_str!("../../sources/update_records/tests/examples/azure-private-dns.yaml"),
    include_str!("../../sources/update_records/tests/examples/coredns.yaml"),
    include_str!("../../sources/update_records/tests/examples/rfc2136.yaml"),
];

/// What is read of a workspace with these files of records and these tables.
fn read(files: &[(&str, &str)], tables: &str) -> (Config, Files, Diagnostics) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("records")).unwrap();
    fs::write(folder.path().join("zonewright.toml"), format!("{TOML}\n{tables}")).unwrap();
    for (name, text) in files {
        fs::write(folder.path().join("records").join(name), text).unwrap();
    }
    let mut settings = SettingsFile::read(folder.path());
    let config = settings.config().cloned();
    let mut found = std::mem::take(&mut settings.of_records);
    found.settle();
    let files = std::mem::take(&mut settings.workspace.files);
    let config = config.unwrap_or_else(|| panic!("{}", render(&settings.workspace.diagnostics, &files)));
    (config, files, found)
}

/// The codes of what was found.
fn codes(found: &Diagnostics) -> Vec<&'static str> {
    found.iter().map(|found| found.code.as_str()).collect()
}

/// A value as TOML has it.
fn shown(node: &SettingsNode) -> String {
    match &node.value {
        SettingsValue::Text(text) | SettingsValue::Plain(text) | SettingsValue::Other(text) => format!("{text:?}"),
        SettingsValue::Integer(number) => number.to_string(),
        SettingsValue::Bool(is_on) => is_on.to_string(),
        SettingsValue::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        SettingsValue::Table(entries) => {
            let entries = entries.iter().map(|(key, node)| format!("{} = {}", key.name, shown(node)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A record in words: its standing, and of its pool the zones, the mark and the settings of the target.
fn told(record: &UpdateRecord) -> String {
    let UpdateRecord { name, problems, .. } = record;
    let standing = record.standing();
    let Some(pool) = &record.pool else {
        let codes: Vec<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
        return format!("{name}: {standing:?} {}\n", codes.join(" "));
    };
    let zones: Vec<String> = pool.zones.iter().map(|zone| zone.name.to_string()).collect();
    let (policy, marking, target) = (pool.policy.as_str(), &pool.pool.marking, &pool.pool.targets[0]);
    format!(
        "{name}: {standing:?} {} {policy} {} {:?} in {}\n  {} {}\n",
        target.id,
        marking.owner,
        marking.registry,
        zones.join(" "),
        target.provider,
        shown(&target.settings),
    )
}

#[test]
fn the_examples_of_all_providers_become_pools() {
    let files: Vec<(String, &str)> = (0..).map(|number| format!("{number}.yaml")).zip(EXAMPLES).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let tables = r#"
[dns_update_record.edge-aws]
project = "shop"
zones = ["shop.example.net", "example.net"]
profile = "dns"
[dns_update_record.edge-cloudmap]
project = "shop"
zones = ["internal.example.net"]
region = "eu-central-1"
exclusive = true
[dns_update_record.edge-azure]
project = "shop"
zones = ["example.net", "example.org"]
[dns_update_record.edge-azure-dns]
project = "shop"
by = "external-dns"
[dns_update_record.edge-azure-private]
project = "shop"
zones = ["example.net"]
[dns_update_record.edge-coredns]
project = "shop"
endpoints = "http://127.0.0.1:2379"
prefix = "/other/"
[dns_update_record.edge-bind]
project = "shop"
tsig_key = { secret_file = "keys/bind.secret" }
"#;
    let (config, _, found) = read(&files, tables);
    let records: Vec<String> = config.update_records.records.iter().map(told).collect();
    let codes: Vec<&str> = codes(&found).into_iter().filter(|code| *code != "without-effect").collect();
    assert_eq!(codes, [""; 0]);
    assert_eq!(config.pools.len(), 1, "other claims see no pool of a record");
    insta::assert_snapshot!(records.concat(), @r#"
    edge-aws: Zonewright edge-aws upsert-only shop Txt in shop.example.net. example.net.
      route53 { profile = "dns", zone_type = "public", zone_tags = ["team=dns", "managed"], assume_role = "arn:aws:iam::123456789012:role/dns", batch_records = 500, type = "route53" }
    edge-azure: Zonewright edge-azure sync shop Txt in example.net. example.org.
      azure { config_file = "keys/azure.json", resource_group = "dns", subscription_id = "00000000-1111-2222-3333-444455556666", type = "azure" }
    edge-azure-dns: ExternalDns 
    edge-azure-private: Zonewright edge-azure-private create-only fleet-dns Noop in example.net.
      azure-private { resource_group = "dns", subscription_id = "00000000-1111-2222-3333-444455556666", client_id = "11111111-1111-2222-3333-444455556666", managed_identity = true, type = "azure-private" }
    edge-bind: Zonewright edge-bind sync shop Txt in example.net.
      rfc2136 { server = "192.0.2.1:53", read = "axfr", tsig_key = { secret_file = "keys/bind.secret", name = "external-dns.", algorithm = "hmac-sha256" }, type = "rfc2136" }
    edge-cloudmap: Zonewright edge-cloudmap sync shop Description in internal.example.net.
      cloudmap { region = "eu-central-1", exclusive = true, namespace_type = "private", assume_role = "arn:aws:iam::123456789012:role/dns", type = "cloudmap" }
    edge-coredns: Zonewright edge-coredns sync shop Owner in example.net.
      etcd { endpoints = "http://127.0.0.1:2379", prefix = "/other/", ca_file = "keys/ca.pem", cert_file = "keys/client.pem", key_file = "keys/client.key", owner = "shop", type = "etcd" }
    "#);
}

/// A document of a record.
fn record(name: &str, provider: &str, parameters: &str) -> String {
    format!("metadata: {{name: {name}}}\nspec: {{provider: {provider}, external-dns-parameters: {{{parameters}}}}}\n")
}

#[test]
fn a_record_says_what_is_own_and_zonewright_toml_says_the_rest() {
    let key = "rfc2136-host: ns, rfc2136-zone: example.net, rfc2136-insecure: true, policy: upsert-only";
    for (provider, parameters, table, registry, owner) in [
        ("rfc2136", key, "", Registry::Journal, "fleet-dns"),
        ("rfc2136", &format!("{key}, registry: txt, txt-owner-id: shop"), "", Registry::Txt, "shop"),
        ("rfc2136", &format!("{key}, registry: noop"), "", Registry::Noop, "fleet-dns"),
        (
            "coredns",
            "domain-filter: example.net, registry: txt, policy: sync",
            "endpoints = \"http://e:1\"",
            Registry::Owner,
            "fleet-dns",
        ),
        ("aws-sd", "registry: aws-sd, policy: sync", "zones = [\"example.net\"]", Registry::Description, "fleet-dns"),
        ("aws-sd", "policy: sync", "zones = [\"example.net\"]", Registry::Journal, "fleet-dns"),
        ("azure", "registry: txt, policy: sync", "zones = [\"example.net\"]", Registry::Txt, "fleet-dns"),
    ] {
        let table = format!("[dns_update_record.a]\nproject = \"shop\"\n{table}\n");
        let (config, files, found) = read(&[("a.yaml", &record("a", provider, parameters))], &table);
        let made = config.update_records.find("a").unwrap();
        let pool = made.pool.as_ref().unwrap_or_else(|| panic!("{}", render(&found, &files)));
        assert_eq!((pool.pool.marking.registry, pool.pool.marking.owner.as_str()), (registry, owner), "{parameters}");
        assert_eq!(pool.pool.targets[0].has_marks, registry.mark_place().is_some());
    }
}

#[test]
fn zones_that_an_account_lists_are_added_as_far_as_the_filter_shows_them() {
    let text = record("a", "aws", "policy: sync, domain-filter: example.net");
    let (mut config, _, found) = read(&[("a.yaml", &text)], "[dns_update_record.a]\nproject = \"shop\"\n");
    assert_eq!(codes(&found), [""; 0]);
    let listed = config.zones.len();
    config.place_records();
    let zone = |pool: &str, name: &str| ZoneId {
        pool: pool.parse().unwrap(),
        name: ZoneName::new(Name::parse(name).unwrap()),
    };
    let all = ["example.net", "example.org", "sub.example.net", "example.net"].map(|name| zone("a", name));
    config.add_record_zones(all.into_iter().chain([zone("b", "example.net")]));
    let added: Vec<String> = config.zones[listed..].iter().map(|spec| spec.name.to_string()).collect();
    assert_eq!(added, ["example.net.", "sub.example.net."]);
    assert_eq!(config.listed_zones().count(), listed, "no host is in them");
    assert_eq!(config.pool_of(&zone("a", "example.net").name), PoolName::unknown());
}

#[test]
fn what_keeps_a_record_from_its_pool_is_said_of_it_alone() {
    let good = "rfc2136-host: ns, rfc2136-zone: example.net, policy: sync, rfc2136-insecure: true";
    for (provider, parameters, table, expected) in [
        ("azure", "policy: sync, domain-filter: example.org", "zones = [\"example.net\"]", "no-zone"),
        ("coredns", "policy: sync", "endpoints = \"http://e:1\"", "no-zone"),
        ("coredns", "policy: sync, domain-filter: example.net", "", "no-endpoints"),
        ("rfc2136", "policy: sync, rfc2136-zone: example.net, rfc2136-insecure: true", "", "no-endpoints"),
        ("rfc2136", "policy: sync, rfc2136-host: ns, rfc2136-zone: example.net", "", "missing-key"),
        (
            "rfc2136",
            "policy: sync, rfc2136-host: ns, rfc2136-zone: example.net, rfc2136-tsig-keyname: k",
            "",
            "missing-key",
        ),
        ("rfc2136", good, "zones = [\"example.net\"]", "bad-value"),
    ] {
        let tables =
            format!("[dns_update_record.a]\nproject = \"shop\"\n{table}\n[dns_update_record.b]\nproject = \"shop\"\n");
        let text = format!("{}---\n{}", record("a", provider, parameters), record("b", "rfc2136", good));
        let (config, _, found) = read(&[("a.yaml", &text)], &tables);
        let codes: Vec<&str> = codes(&found).into_iter().filter(|code| *code != "filtered").collect();
        assert_eq!(codes, [expected], "{parameters} {table}");
        let standings: Vec<_> = config.update_records.records.iter().map(UpdateRecord::standing).collect();
        assert_eq!(standings, [RecordStanding::Bad, RecordStanding::Zonewright], "{parameters} {table}");
        assert!(config.update_records.records[0].pool.is_none());
    }
}

#[test]
fn records_of_one_name_and_tables_without_a_record_are_errors_and_a_record_without_a_table_is_off() {
    let good = "rfc2136-host: ns, rfc2136-zone: example.net, policy: sync, rfc2136-insecure: true";
    let files = [
        ("a.yaml", record("a", "rfc2136", good)),
        ("b.json", "{\"metadata\": {\"name\": \"a\"}, \"spec\": {\"provider\": \"aws\", \"external-dns-parameters\": {\"policy\": \"sync\"}}}\n".to_owned()),
        ("c.yaml", record("c", "rfc2136", good)),
        ("d.yaml", record("main", "rfc2136", good)),
        ("e.txt", "not read".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (config, _, found) =
        read(&files, "[dns_update_record.cc]\nproject = \"shop\"\n[dns_update_record.main]\nproject = \"shop\"\n");
    let mut codes = codes(&found);
    codes.sort_unstable();
    let expected = [
        "automation-off",
        "automation-off",
        "automation-off",
        "duplicate-record",
        "duplicate-record",
        "duplicate-record",
        "missing-record",
    ];
    assert_eq!(codes, expected);
    let standings: Vec<_> = config.update_records.records.iter().map(UpdateRecord::standing).collect();
    assert_eq!(standings, [RecordStanding::Bad, RecordStanding::Bad, RecordStanding::SwitchedOff, RecordStanding::Bad]);
    assert_eq!(config.update_records.trust, Trust::Known);
    assert!(config.update_records.find("b").is_none() && config.update_records.find("a").is_some());
}

#[test]
fn files_that_cannot_be_read_make_the_source_unknown_and_nothing_else() {
    let (config, _, found) = read(&[], "");
    assert_eq!((codes(&found), config.update_records.records.len()), (vec!["source-missing"], 0));
    assert!(matches!(config.update_records.trust, Trust::Unknown { .. }));
    let good = record("a", "aws", "policy: sync");
    let (config, _, found) =
        read(&[("a.yaml", &good), ("b.yaml", "a: [\n")], "[dns_update_record.b]\nproject = \"shop\"\n");
    let (mut of_missing, found) = (codes(&found), found);
    of_missing.sort_unstable();
    assert_eq!(of_missing, ["automation-off", "missing-record", "yaml-syntax"]);
    assert!(found.iter().any(|found| found.also.iter().any(|also| also.contains("records/b.yaml"))));
    assert_eq!(config.update_records.records[0].policy(), Policy::Sync);
}

#[test]
fn a_file_without_a_document_has_no_record_however_it_is_written() {
    let good = record("a", "aws", "policy: sync");
    for empty in ["", "\n", "\u{feff}", "# nothing\n", "---\n", "null\n"] {
        let (config, _, found) =
            read(&[("a.yaml", &good), ("b.yaml", empty)], "[dns_update_record.a]\nproject = \"shop\"\n");
        assert!(codes(&found).contains(&"empty-file"), "{empty:?} {:?}", codes(&found));
        assert_eq!(
            (config.update_records.records.len(), &config.update_records.trust),
            (1, &Trust::Known),
            "{empty:?}"
        );
        assert!(config.update_records.find("a").is_some_and(|record| record.pool.is_some()), "{empty:?}");
    }
}

#[test]
fn the_label_of_records_is_the_key_of_a_label() {
    let read = |label: &str| {
        let folder = tempfile::tempdir().unwrap();
        let text = TOML.replace("[sources]\n", &format!("[sources]\nrecord_label = \"{label}\"\n"));
        fs::write(folder.path().join("zonewright.toml"), text).unwrap();
        codes(&SettingsFile::read(folder.path()).workspace.diagnostics).join(" ")
    };
    for right in ["dns", "example.net/dns", "app.kubernetes.io/part-of"] {
        assert_eq!(read(right), "", "{right}");
    }
    for wrong in ["", "a b", "a/b/c", "/dns", "a..b/dns", "app.kubernetes.io/name", "app.kubernetes.io/instance"] {
        assert_eq!(read(wrong), "bad-value", "{wrong}");
    }
}

#[test]
fn tables_are_checked() {
    for (table, code) in [
        ("", "missing-key"),
        ("project = \"none\"", "bad-value"),
        ("project = \"shop\"\nby = \"bind\"", "bad-value"),
        ("project = \"shop\"\nnamespace = \"A\"", "bad-value"),
        ("project = \"shop\"\nzones = [\".\"]", "bad-name"),
        ("project = \"shop\"\nzones = [\"a..b\"]", "bad-name"),
        ("project = \"shop\"\nzones = [\"a.b\", \"A.b.\"]", "duplicate-zone"),
        ("project = \"shop\"\nzones = \"a.b\"", "wrong-type"),
        ("project = \"shop\"\ntype = \"etcd\"", "unknown-key"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{TOML}\n[dns_update_record.a]\n{table}\n");
        fs::write(folder.path().join("zonewright.toml"), text).unwrap();
        let settings = SettingsFile::read(folder.path());
        assert!(settings.config().is_none(), "{table}");
        assert_eq!(codes(&settings.workspace.diagnostics), [code], "{table}");
    }
}
