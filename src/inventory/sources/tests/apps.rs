//! Apps, and lists of DNS update records.

use super::*;
use crate::dns::Rtype;
use crate::inventory::apps::{AddressScope, ListHolder};
use crate::inventory::policy::Policy;
use crate::inventory::published::{self, PublishingRecord};
use crate::inventory::stated::RecordState;

const SHOP: &str = "\
app: shop
bundle: shop-bundle
version: v1
profile: prod
namespace: shop
logical_cloud: lc1
services:
  - name: frontend
    hostnames: [shop.example.com, Shop.example.net.]
    ttl: 60
    addresses: [{cluster: edge-1, scope: public, ips: [192.0.2.10, \"2001:db8::10\"]}, {cluster: edge-1, scope: cluster, ips: [10.0.0.5]}]
";

fn read_apps(text: &str) -> Outcome {
    read("apps", text)
}

/// Reads a list from a file of this name.
fn read_list(name: &str, text: &str) -> Outcome {
    let format = FORMATS.iter().find(|format| format.key == "record_lists").unwrap();
    let (mut files, mut draft) = (Files::default(), Draft::default());
    let input = SourceFile { id: files.add(name), bytes: text.as_bytes() };
    let origin = Origin { file: input.id, line: 1, col: 1 };
    let pattern = PathPattern { text: name.into(), origin, width: 1 };
    let spec = SourceSpec {
        demands: ExportDemands::default(),
        key: format.key,
        word: OWN,
        mapping: FieldMapping::default(),
        name: format.key.into(),
        patterns: vec![pattern],
        require_end: false,
        max_size: Size::of(1 << 20),
        max_age: None,
        penalty: Duration::from_secs(0),
        records: None,
    };
    let context = RowContext {
        files: &files,
        clock: &RowClock::at("2026-11-20T12:00:00Z".parse().unwrap()),
        free_domain: &Name::parse("free.invalid").unwrap(),
        name_cooldown: Duration::from_secs(0),
        admins: &BTreeMap::new(),
    };
    let SourcePart { mut tally, fold } = (format.read)(&SourceInput { spec: &spec, files: vec![input] }, &context);
    fold(&mut draft, Trust::Known);
    tally.diagnostics.settle();
    Outcome { draft, trust: Trust::Known, tally, files }
}

/// Where what was found.
fn found_at(outcome: &Outcome) -> Vec<String> {
    let found = outcome.tally.diagnostics.iter();
    found.map(|found| format!("{}:{} {}", found.origin.line, found.origin.col, found.code)).collect()
}

#[test]
fn an_app_is_read_with_the_place_of_each_value() {
    let outcome = read_apps(SHOP);
    assert_eq!(outcome.text(), "");
    let app = &outcome.draft.apps.apps[0];
    assert_eq!([&*app.name, &*app.bundle, &*app.version, &*app.profile], ["shop", "shop-bundle", "v1", "prod"]);
    assert_eq!([&*app.namespace, &*app.cloud], ["shop", "lc1"]);
    let service = &app.services[0];
    let names: Vec<String> = service.hostnames.iter().map(|(name, at)| format!("{name} {}", at.col)).collect();
    assert_eq!(names, ["shop.example.com. 17", "shop.example.net. 35"]);
    assert_eq!(service.ttl.map(|(ttl, at)| (ttl.as_secs(), at.line)), Some((60, 10)));
    let scopes: Vec<(AddressScope, usize)> =
        service.places.iter().map(|place| (place.scope, place.addresses.len())).collect();
    assert_eq!(scopes, [(AddressScope::Public, 2), (AddressScope::Cluster, 1)]);
    assert!(outcome.draft.apps.unread.is_empty() && !outcome.draft.apps.has_faults());
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (2, 0));
}

#[test]
fn an_app_says_that_it_publishes_nothing() {
    let head = SHOP.split("services:").next().unwrap();
    let nothing = read_apps(&format!("{head}services: []\n"));
    assert!(nothing.draft.apps.apps[0].services.is_empty() && !nothing.draft.apps.has_faults());
    // An app that was cut may have had services.
    let cut = read_apps(head);
    assert_eq!(cut.codes(), ["missing-key"]);
    assert!(cut.draft.apps.apps.is_empty() && cut.draft.apps.unread.len() == 1);
}

#[test]
fn what_is_wrong_with_an_app_is_reported_at_its_place() {
    let text = SHOP
        .replace("namespace: shop", "namespace: Shop")
        .replace("bundle: shop-bundle", "bundel: shop-bundle")
        .replace("ttl: 60", "ttl: -1\n    tll: 1")
        .replace("Shop.example.net.", "shop.example.com., 'a b', [x]")
        .replace("scope: public", "scope: pubic")
        .replace("[10.0.0.5]", "[10.0.0.5, 10.0.0.5, 10.0.0.0/8, \"::1\"]");
    let outcome = read_apps(&text);
    let expected = [
        "1:1 missing-key",
        "2:1 unknown-key",
        "5:12 bad-value",
        "9:35 bad-value",
        "9:54 bad-name",
        "9:61 wrong-type",
        "10:10 bad-value",
        "11:5 unknown-key",
        "12:42 bad-value",
        "12:135 bad-value",
        "12:145 bad-address",
        "12:157 bad-address",
    ];
    assert_eq!(found_at(&outcome), expected);
    assert!(outcome.draft.apps.apps.is_empty());
}

#[test]
fn names_that_kubernetes_refuses_are_refused() {
    let long = "a".repeat(64);
    for wrong in ["a.b", "a..b", "-a", &long] {
        let outcome = read_apps(&SHOP.replace("namespace: shop", &format!("namespace: {wrong}")));
        assert_eq!(found_at(&outcome), ["5:12 bad-value"], "{wrong}");
        assert!(outcome.draft.apps.apps.is_empty());
    }
    assert!(read_apps(&SHOP.replace("namespace: shop", &format!("namespace: {}", &long[1..]))).codes().is_empty());
    assert!(read_apps(&SHOP.replace("name: frontend", "name: a.b")).codes().is_empty());
    assert_eq!(read_apps(&SHOP.replace("name: frontend", "name: a..b")).codes(), ["bad-value"]);
}

#[test]
fn two_services_of_one_name_are_both_wrong() {
    let twin = SHOP.split_once("services:\n").unwrap().1;
    let outcome = read_apps(&format!("{SHOP}{twin}"));
    assert_eq!(outcome.codes(), ["bad-value"]);
    assert!(outcome.draft.apps.apps[0].services.iter().all(|service| service.fault.is_some()));
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (3, 2));
}

#[test]
fn a_document_that_cannot_be_read_spoils_no_other() {
    let outcome = read_apps(&format!("a: &x 1\n---\n{SHOP}---\n{}", SHOP.replace("namespace: shop", "namespace: two")));
    assert_eq!((outcome.codes(), outcome.draft.apps.apps.len()), (vec!["yaml-anchor"], 2));
    assert_eq!(outcome.draft.apps.unread.values().sum::<usize>(), 1);
    assert_eq!(read_apps("# nothing\n").codes(), ["empty-file"]);
    assert_eq!(read_apps(&SHOP.replace("profile: prod", "profile: prod\napp: two")).codes(), ["duplicate-key"]);
}

const LIST: &str = "metadata: {name: names, userData1: x}\nspec: {kv: [{dns: bind}, {dns: etcd}]}\n";

#[test]
fn a_list_is_for_what_its_kind_or_folder_and_its_key_or_file_say() {
    let holder = |name: &str, text: &str| {
        let outcome = read_list(name, text);
        assert_eq!(outcome.text(), "");
        outcome.draft.apps.lists[0].holder.clone()
    };
    assert_eq!(holder("logical-clouds/lc1.yaml", LIST), ListHolder::LogicalCloud("lc1".into()));
    assert_eq!(holder("a/clusters/edge-1.v2.json", LIST), ListHolder::Cluster("edge-1.v2".into()));
    assert_eq!(holder("clusters/x.yaml", &format!("kind: LogicalCloud\n{LIST}")), ListHolder::LogicalCloud("x".into()));
    assert_eq!(holder("clusters/x.yaml", &format!("for: edge-2\n{LIST}")), ListHolder::Cluster("edge-2".into()));
    let records = &read_list("clusters/x.yaml", LIST).draft.apps.lists[0].records;
    let places: Vec<String> = records.iter().map(|(name, at)| format!("{name} {}:{}", at.line, at.col)).collect();
    assert_eq!(places, ["bind 2:19", "etcd 2:32"]);
}

#[test]
fn what_is_wrong_with_a_list_is_reported_at_its_place() {
    let text = "metadata: {nmae: names}\nspec:\n  kv:\n  - {a: bind}\n  - {b: bind}\n  - {c: etcd, d: aws}\n  - {}\n  - e\n  - {f: /x}\n";
    let outcome = read_list("clusters/x.yaml", text);
    let expected = [
        "1:11 missing-key",
        "1:12 unknown-key",
        "5:9 bad-value",
        "6:15 bad-value",
        "7:5 bad-value",
        "8:5 wrong-type",
        "9:9 bad-value",
    ];
    assert_eq!(found_at(&outcome), expected);
    let list = &outcome.draft.apps.lists[0];
    assert!(list.fault.is_some() && list.records.len() == 1);
    let nowhere = read_list("lists/x.yaml", LIST);
    assert_eq!(nowhere.codes(), ["missing-key"]);
    assert!(nowhere.draft.apps.lists.is_empty() && nowhere.draft.apps.unread.len() == 1);
}

const MANIFESTS: &str = "\
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: api, namespace: prod, labels: {zonewright.dev/dns-update-record: bind}}
spec: {endpoints: [{dnsName: api.example.com, recordType: A, targets: [192.0.2.1]}]}
---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: own, namespace: prod}
spec: {endpoints: [{dnsName: own.example.com, recordType: A, targets: [192.0.2.2]}]}
";

fn read_manifests(text: &str) -> Outcome {
    read_as(("records", "dnsendpoint"), &[text.as_bytes()], Draft::default(), |_| {})
}

#[test]
fn a_manifest_with_the_label_of_a_record_belongs_to_it() {
    let Outcome { mut draft, files, .. } = read_manifests(MANIFESTS);
    let owners =
        |stated: &StatedRecords| stated.entries.iter().map(|entry| entry.owner.to_string()).collect::<Vec<_>>();
    assert_eq!((owners(&draft.stated), draft.labelled.len()), (vec!["own.example.com.".to_owned()], 1));
    let origin = Origin { file: draft.stated.documents[0].origin.file, line: 9, col: 1 };
    let state = RecordState::Open(Policy::Sync);
    let record = PublishingRecord { name: "bind".into(), origin, project: None, state, fault: None };
    published::add(&mut draft, &[record], &files);
    assert_eq!(owners(&draft.published), ["api.example.com."]);
    let source = &draft.published.sources[0];
    assert_eq!((&*source.name, source.pool.as_deref()), ("bind", Some("bind")));
    // What its own source leaves out is neither created nor deleted.
    assert!(source.types.as_ref().is_some_and(|types| types.contains(&Rtype::CNAME) && !types.contains(&Rtype::TXT)));
    // It counts among what its own source says, so that one that is gone is missed there.
    let evidence = draft.published.entries[0].evidence.as_deref().expect("it follows from a label, too");
    assert_eq!(evidence.read_from, Some(0));
    // A record may not be believed where the source of its manifests may not.
    draft.stated.sources[0].trust = Trust::Unknown { reason: "cut".to_owned() };
    draft.published.settle_trust(&draft.stated, &draft.apps);
    assert_eq!(draft.published.sources[0].trust.doubt(), Some("cut"));
}

#[test]
fn a_label_that_names_no_record_spoils_its_manifest() {
    let outcome = read_manifests(&MANIFESTS.replace("record: bind", "record: 'a b'"));
    assert_eq!(outcome.tally.bad, 1);
    assert!(outcome.text().contains("the label `zonewright.dev/dns-update-record` is not the name of a record"));
}
