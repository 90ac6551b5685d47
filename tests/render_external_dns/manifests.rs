//! What the manifests say.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use zonewright::diag::Files;
use zonewright::external_dns::wishes::RecordWish;
use zonewright::inventory::model::Inventory;
use zonewright::inventory::node::{SettingsNode, SettingsValue, SourceText};
use zonewright::inventory::stated::EntryContent;
use zonewright::inventory::yaml;

use crate::workspace::{EDGE, Workspace, app, fresh, list, table};

/// Records of all providers, with many of their parameters.
const RECORDS: &str = "\
metadata: {name: bind}
spec:
  provider: rfc2136
  external-dns-parameters:
    rfc2136-host: 2001:db8::53
    rfc2136-zone: [example.net, example.org]
    rfc2136-tsig-keyname: shop.
    rfc2136-tsig-axfr: true
    policy: upsert-only
    once: true
    interval: 90s
    request-timeout: 0s
    log-format: json
    contour-load-balancer: heptio-contour/contour
    txt-suffix: -x
---
metadata: {name: cloud}
spec:
  provider: aws
  external-dns-parameters:
    aws-zone-tags: [team=web, open]
    aws-zone-type: ''
    aws-assume-role-external-id: a$(HOME)b
    aws-batch-change-interval: 1500ms
    no-aws-evaluate-target-health: true
    registry: noop
    policy: create-only
    metrics-address: 127.0.0.1:9000
---
metadata: {name: map}
spec:
  provider: aws-sd
  external-dns-parameters: {policy: sync, txt-owner-id: map}
---
metadata: {name: blue}
spec:
  provider: azure-dns
  external-dns-parameters: {policy: sync, azure-config-file: azure.json, azure-subscription-id: s1, tls-ca: ca.pem}
---
metadata: {name: private}
spec:
  provider: azure-private-dns
  external-dns-parameters: {policy: sync, azure-config-file: /etc/azure/own.json, domain-filter: .example.net}
---
metadata: {name: etcd}
spec:
  provider: coredns
  external-dns-parameters: {policy: sync, coredns-prefix: skydns, tls-ca: /tls/ca.pem, tls-client-cert: c.pem, tls-client-cert-key: k.pem}
";

/// What the administrator says of them.
const TABLES: &str = "\
[dns_update_record.bind]
project = \"web\"
by = \"external-dns\"
server = \"[2001:db8::54]:5353\"
tsig_key = { algorithm = \"hmac-sha512\", secret_env = \"KEY\" }
[dns_update_record.cloud]
project = \"web\"
by = \"external-dns\"
zones = [\"example.net\"]
assume_role = \"arn:aws:iam::1:role/dns\"
requests_per_second = 2
[dns_update_record.map]
project = \"web\"
by = \"external-dns\"
region = \"eu-central-1\"
zones = [\"example.net\"]
exclusive = true
[dns_update_record.blue]
project = \"web\"
by = \"external-dns\"
namespace = \"dns\"
[dns_update_record.private]
project = \"web\"
by = \"external-dns\"
zones = [\"example.net\"]
[dns_update_record.etcd]
project = \"web\"
by = \"external-dns\"
endpoints = [\"https://e1:2379\", \"https://e2:2379\"]
user = \"dns\"
password = { secret_env = \"PASSWORD\" }
";

/// A workspace with all of these records in use.
fn of_all_providers() -> Workspace {
    let workspace = Workspace::new(TABLES);
    workspace.remove("records/edge.yaml");
    workspace.write("records/all.yaml", RECORDS);
    workspace.write("logical-clouds/lc1.yaml", &list(&["bind", "cloud", "map", "blue", "private", "etcd"]));
    let services = [
        ("web", "web.example.net", "192.0.2.10, '2001:db8::10', 192.0.2.9"),
        ("star", "'*.example.net'", "192.0.2.11"),
    ];
    workspace.write("apps/shop.yaml", &app("shop", "shop", &services));
    workspace
}

/// The documents of a YAML text, as JSON.
pub fn documents(text: &str) -> Vec<Value> {
    let source = SourceText { file: Files::default().add("file.yaml"), text: text.to_owned() };
    let read = yaml::parse_documents(&source);
    assert!(read.broken.is_none(), "{text}");
    read.documents.iter().map(|document| json(&document.root)).collect()
}

/// A value of YAML as JSON, by the core schema of YAML 1.2.
fn json(node: &SettingsNode) -> Value {
    match &node.value {
        SettingsValue::Plain(text) => match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text => text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::from),
        },
        SettingsValue::List(items) => Value::Array(items.iter().map(json).collect()),
        SettingsValue::Table(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.name.clone(), json(value))).collect::<Map<_, _>>())
        }
        SettingsValue::Text(text) | SettingsValue::Other(text) => Value::String(text.clone()),
        SettingsValue::Integer(number) => Value::from(*number),
        SettingsValue::Bool(is_on) => Value::Bool(*is_on),
    }
}

/// Whether an object follows a schema of `tests/schemas`; else why not.
fn judge(schema: &str, object: &Value) -> Result<(), String> {
    let text =
        std::fs::read_to_string(format!("{}/tests/schemas/{schema}", env!("CARGO_MANIFEST_DIR"))).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("schema.json", schema).expect("it is a schema");
    let mut schemas = boon::Schemas::new();
    let place = compiler.compile("schema.json", &mut schemas).expect("it is a schema");
    schemas.validate(object, place).map_err(|error| format!("{error}"))
}

/// The schema of an object.
fn schema_of(object: &Value) -> &'static str {
    if object["kind"] == "DNSEndpoint" { "dnsendpoint-v1alpha1.json" } else { "kubernetes-1.34.json" }
}

#[test]
fn all_objects_follow_the_schemas_of_external_dns_and_kubernetes() {
    let workspace = of_all_providers();
    let wishes = workspace.wishes();
    assert_eq!(wishes.held, []);
    let folder = fresh(&wishes);
    assert_eq!(folder.0.len(), 6 * 2 + 6);
    let mut kinds = BTreeSet::new();
    for (file, text) in &folder.0 {
        for mut object in documents(text) {
            judge(schema_of(&object), &object).unwrap_or_else(|why| panic!("{file}: {why}"));
            kinds.insert(object["kind"].as_str().expect("a kind").to_owned());
            let record = &object["metadata"]["labels"]["zonewright.dev/dns-update-record"];
            assert!(file.contains(record.as_str().expect("each object has the label")), "{file}");
            // Each schema would find a key that is none.
            object["spec"]["endpoint"] = Value::from("wrong");
            assert!(judge(schema_of(&object), &object).is_err(), "{file}");
        }
    }
    let all = ["ClusterRole", "ClusterRoleBinding", "DNSEndpoint", "Deployment", "ServiceAccount"];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

/// The container of a record's Deployment.
fn container(workspace: &Workspace, record: &str) -> Value {
    let folder = fresh(&workspace.wishes());
    let objects = documents(&folder.0[&format!("external-dns_{record}.yaml")]);
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment").expect("there is one");
    assert_eq!(deployment["spec"]["replicas"], 1);
    assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    deployment["spec"]["template"]["spec"]["containers"][0].clone()
}

/// The arguments of a record.
fn args(workspace: &Workspace, record: &str) -> Vec<String> {
    let container = container(workspace, record);
    let args = container["args"].as_array().expect("arguments");
    args.iter().map(|arg| arg.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn parameters_become_arguments_and_the_administrator_wins() {
    let workspace = of_all_providers();
    let head = |record: &str| format!("--label-filter=zonewright.dev/dns-update-record={record}");
    #[rustfmt::skip]
    let bind = [
        head("bind").as_str(), "--namespace=shop", "--provider=rfc2136", "--source=crd", "--interval=90s",
        "--kube-api-request-timeout=0s", "--log-format=json", "--policy=upsert-only", "--registry=txt", "--rfc2136-axfr",
        "--rfc2136-host=2001:db8::54", "--rfc2136-port=5353", "--rfc2136-tsig-keyname=shop.",
        "--rfc2136-tsig-secret-alg=hmac-sha512", "--rfc2136-zone=example.net", "--rfc2136-zone=example.org",
        "--txt-owner-id=fleet-dns", "--txt-suffix=-x",
    ].map(str::to_owned);
    assert_eq!(args(&workspace, "bind"), bind);
    #[rustfmt::skip]
    let cloud = [
        head("cloud").as_str(), "--namespace=shop", "--provider=aws", "--source=crd",
        "--aws-assume-role=arn:aws:iam::1:role/dns", "--aws-assume-role-external-id=a$$(HOME)b",
        "--aws-batch-change-interval=1500ms", "--no-aws-evaluate-target-health",
        "--aws-zone-tags=team=web", "--aws-zone-tags=open", "--domain-filter=example.net", "--metrics-address=127.0.0.1:9000",
        "--policy=create-only", "--registry=noop", "--txt-owner-id=fleet-dns",
    ].map(str::to_owned);
    assert_eq!(args(&workspace, "cloud"), cloud);
    assert!(args(&workspace, "map").contains(&"--registry=aws-sd".to_owned()));
    let blue = args(&workspace, "blue");
    assert!(
        blue.contains(&"--provider=azure".to_owned()) && !blue.iter().any(|arg| arg.starts_with("--tls")),
        "{blue:?}"
    );
    assert!(blue.contains(&"--azure-config-file=/etc/external-dns/azure-config-file".to_owned()), "{blue:?}");
    let etcd = args(&workspace, "etcd");
    assert!(
        etcd.contains(&"--coredns-prefix=/skydns/".to_owned()) && etcd.contains(&"--coredns-strictly-owned".to_owned())
    );
}

/// A workspace with the record `edge`, whose table has these lines, in use.
fn with_table(lines: &str) -> Workspace {
    let workspace = Workspace::new(&format!("{}{lines}\n", table("edge", "external-dns")));
    workspace.write("apps/shop.yaml", &app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]));
    workspace
}

#[test]
fn several_name_servers_are_arguments_each_and_share_a_port() {
    for (server, port, hosts) in [
        ("\"192.0.2.7\"", "53", vec!["192.0.2.7"]),
        ("[\"ns1.example.net:5353\", \"[2001:db8::1]:5353\"]", "5353", vec!["ns1.example.net", "2001:db8::1"]),
        ("[\"a\", \"2001:db8::1\"]", "53", vec!["a", "2001:db8::1"]),
    ] {
        let args = args(&with_table(&format!("server = {server}")), "edge");
        let of = |flag: &str| args.iter().filter_map(|arg| arg.strip_prefix(flag)).collect::<Vec<_>>();
        assert_eq!((of("--rfc2136-host="), of("--rfc2136-port=")), (hosts, vec![port]));
    }
    for (lines, why) in [
        ("server = [\"a:5353\", \"b\"]", "have different ports"),
        ("server = []", "names no server"),
        ("server = 53", "`server` is no text"),
        ("server = [\"a:0\"]", "is not a host"),
        ("server = \"a b\"", "is not a host"),
        ("read = true", "`read` is no text"),
    ] {
        let workspace = with_table(lines);
        let wishes = workspace.wishes();
        let held = &wishes.held[0];
        assert!(held.message.contains(why), "{held:?}");
        let place = workspace.inventory().files.place(held.origin).to_string();
        assert!(place.starts_with("zonewright.toml:15"), "{place}");
        assert!(fresh(&wishes).0.is_empty());
    }
}

#[test]
fn the_ttl_is_that_of_the_service_alone() {
    let workspace = with_table("");
    workspace
        .write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: true\npolicy: create-only\nttl: 120\n");
    let said = app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]);
    for (app, ttl) in [(said.clone(), Some(60)), (said.replace("ttl: 60, ", ""), None), (said.replace("60", "0"), None)]
    {
        workspace.write("apps/shop.yaml", &app);
        let text = &fresh(&workspace.wishes()).0["dnsendpoint_shop_web-edge.yaml"];
        assert_eq!(documents(text)[0]["spec"]["endpoints"][0].get("recordTTL").and_then(Value::as_i64), ttl, "{text}");
    }
}

#[test]
fn no_two_files_are_mounted_at_one_path() {
    let of = |cert: &str, key: &str| {
        let workspace =
            Workspace::new(&format!("{}endpoints = [\"https://e1:2379\"]\n", table("edge", "external-dns")));
        let files =
            format!("policy: sync, tls-client-cert: {cert}, tls-client-cert-key: {key}, domain-filter: example.net");
        let record =
            format!("metadata: {{name: edge}}\nspec: {{provider: coredns, external-dns-parameters: {{{files}}}}}\n");
        workspace.write("records/edge.yaml", &record);
        workspace.write("apps/shop.yaml", &app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]));
        workspace
    };
    let one = container(&of("/tls/both.pem", "/tls/both.pem"), "edge");
    assert_eq!(one["volumeMounts"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["volumeMounts"][0]["subPath"], "tls-client-cert");
    let env = one["env"].as_array().expect("variables");
    assert_eq!(env.iter().filter(|entry| entry["value"] == "/tls/both.pem").count(), 2);
    // Another spelling of the path is a path of its own.
    let other = container(&of("/tls/both.pem", "/tls//both.pem"), "edge");
    assert_eq!(other["volumeMounts"][1]["mountPath"], "/etc/external-dns/tls-client-cert-key");
    let wishes = of("/tls", "/tls/key.pem").wishes();
    assert!(wishes.held[0].message.contains("cannot both be files"), "{:?}", wishes.held);
}

#[test]
fn secrets_are_named_and_never_written() {
    let workspace = of_all_providers();
    let secret = |key: &str| serde_json::json!({ "secretKeyRef": { "key": key, "name": "external-dns-bind" } });
    let bind = container(&workspace, "bind");
    assert_eq!(bind["env"][0]["valueFrom"], secret("rfc2136-tsig-secret"));
    let etcd = container(&workspace, "etcd");
    let of = |name: &str| {
        let env = etcd["env"].as_array().expect("variables");
        env.iter().find(|entry| entry["name"] == name).cloned().expect("the variable is there")
    };
    assert_eq!(of("ETCD_URLS")["value"], "https://e1:2379,https://e2:2379");
    assert_eq!(of("ETCD_CA_FILE")["value"], "/tls/ca.pem");
    assert_eq!(of("ETCD_KEY_FILE")["value"], "/etc/external-dns/tls-client-cert-key");
    assert_eq!(of("ETCD_PASSWORD")["valueFrom"]["secretKeyRef"]["key"], "etcd-password");
    assert_eq!(etcd["volumeMounts"].as_array().map(Vec::len), Some(3));
    assert_eq!(container(&workspace, "private")["volumeMounts"][0]["mountPath"], "/etc/azure/own.json");
    // What serves its health to itself alone cannot be probed.
    assert!(container(&workspace, "cloud").get("livenessProbe").is_none() && bind["livenessProbe"].is_object());
}

#[test]
fn what_external_dns_has_no_argument_for_is_said() {
    let remarks = of_all_providers().wishes().remarks;
    let said: Vec<&str> = remarks.iter().map(|remark| remark.message.split(':').next().expect("a part")).collect();
    assert_eq!(
        said,
        [
            "`once` is left out",
            "`requests_per_second` has no effect",
            "`exclusive` has no effect",
            "`zones` has no effect",
        ]
    );
}

/// What a record publishes: names, types, values and TTLs.
fn published(inventory: &Inventory, record: &str) -> Vec<String> {
    let place = inventory.published.sources.iter().position(|source| &*source.name == record).expect("a source");
    let own = inventory.published.entries.iter().filter(|entry| usize::from(entry.source) == place);
    let mut claims: Vec<String> = own
        .map(|entry| match &entry.content {
            EntryContent::Rrset(rrset) => {
                let ttl = rrset.ttl.map(|(ttl, _)| ttl.as_secs());
                format!("{:?} {} {} {ttl:?} {:?}", entry.by, entry.owner, rrset.rtype, rrset.values)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    claims.sort();
    claims
}

#[test]
fn endpoints_that_are_read_as_manifests_claim_the_same() {
    let workspace = Workspace::new(&table("edge", "external-dns"));
    let long = "a-service-with-a-name-that-is-so-long-that-it-must-be-cut-off";
    let services = [
        ("web", "web.example.net", "192.0.2.10, '2001:db8::10', 192.0.2.9"),
        ("star", "'*.example.net'", "192.0.2.11"),
        (long, "xn--bcher-kva.example.net, a_b.example.net", "'2001:db8::11'"),
    ];
    workspace.write("apps/shop.yaml", &app("shop", "shop", &services));
    workspace.write(
        "apps/bare.yaml",
        &app("bare", "other", &[("web", "bare.example.net", "192.0.2.12")]).replace("ttl: 60, ", ""),
    );
    let folder = fresh(&workspace.wishes());
    let other = Workspace::new(&table("edge", "external-dns"));
    let source = "[[sources.records]]\nname = \"manifests\"\nformat = \"dnsendpoint\"\npath = \"manifests/dnsendpoint_*.yaml\"\nproject = \"web\"\n";
    other.add_settings("", source);
    for (file, text) in &folder.0 {
        other.write(&format!("manifests/{file}"), text);
    }
    let claims = published(&workspace.inventory(), "edge");
    assert_eq!(claims.len(), 6);
    assert_eq!(published(&other.inventory(), "edge"), claims);
    // There they are manifests of the record: external-dns runs for them, and nothing of them is copied.
    let again = fresh(&other.wishes());
    assert_eq!(again.names(), ["external-dns_edge.yaml"]);
    assert!(again.0["external-dns_edge.yaml"].contains("zonewright.dev/used-by: \"manifests:manifests\""));
    assert!(!again.0["external-dns_edge.yaml"].contains("--namespace="));
}

#[test]
fn a_record_is_rendered_or_applied_and_never_both() {
    for by in ["external-dns", "zonewright"] {
        let workspace = Workspace::new(&table("edge", by));
        workspace.write("apps/shop.yaml", &app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]));
        let inventory = workspace.inventory();
        let is_applied = inventory.config.update_records.find("edge").expect("the record").pool.is_some();
        let is_rendered = matches!(workspace.wishes().records["edge"], RecordWish::Render(_));
        assert_eq!((is_rendered, is_applied), (by == "external-dns", by == "zonewright"));
        assert_eq!(fresh(&workspace.wishes()).0.is_empty(), is_applied);
    }
    // Nor is one that is wrong, or that the administrator does not name.
    let wrong = EDGE.replace("policy: sync", "policy: sink");
    for (tables, record) in [(String::new(), EDGE), (table("edge", "external-dns"), wrong.as_str())] {
        let workspace = Workspace::new(&tables);
        workspace.write("records/edge.yaml", record);
        workspace.write("apps/shop.yaml", &app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]));
        assert!(workspace.inventory().config.update_records.find("edge").expect("the record").pool.is_none());
        assert!(fresh(&workspace.wishes()).0.is_empty());
    }
}
