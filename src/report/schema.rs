//! The JSON Schemas of the files that people and programs write and read.

/// The file that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// A saved plan.
    Plan,
    /// What `explain` prints.
    Explain,
    /// zonewright.toml.
    Config,
    /// projects/*.yaml.
    Project,
    /// pod-sets/*.yaml.
    PodSet,
    /// apps/*.yaml.
    App,
    /// The lists of DNS update records.
    RecordList,
    /// dns-update-records/*.yaml.
    UpdateRecord,
    /// What `doctor` finds.
    Doctor,
    /// What `cms check` finds.
    CmsCheck,
    /// What `apply` prints as JSON.
    Apply,
    /// What `drift` prints as JSON.
    Drift,
    /// What `status` prints as JSON.
    Status,
    /// What `history` prints as JSON.
    History,
    /// What `sync` prints as JSON.
    Sync,
    /// What a run reports.
    Event,
    /// What `render endpoints` writes as JSON.
    Endpoints,
}

/// The schema of a file, as JSON text. Source: JSON Schema draft 2020-12.
pub fn schema(kind: SchemaKind) -> &'static str {
    match kind {
        SchemaKind::Plan => include_str!("../../schemas/plan.schema.json"),
        SchemaKind::Explain => include_str!("../../schemas/explain.schema.json"),
        SchemaKind::Config => include_str!("../../schemas/config.schema.json"),
        SchemaKind::Apply => include_str!("../../schemas/apply.schema.json"),
        SchemaKind::Drift => include_str!("../../schemas/drift.schema.json"),
        SchemaKind::Status => include_str!("../../schemas/status.schema.json"),
        SchemaKind::History => include_str!("../../schemas/history.schema.json"),
        SchemaKind::Sync => include_str!("../../schemas/sync.schema.json"),
        SchemaKind::Event => include_str!("../../schemas/event.schema.json"),
        SchemaKind::Endpoints => include_str!("../../schemas/endpoints.schema.json"),
        SchemaKind::CmsCheck => include_str!("../../schemas/cms-check.schema.json"),
        SchemaKind::Doctor => include_str!("../../schemas/doctor.schema.json"),
        SchemaKind::Project => include_str!("../../schemas/project.schema.json"),
        SchemaKind::PodSet => include_str!("../../schemas/pod-set.schema.json"),
        SchemaKind::App => include_str!("../../schemas/app.schema.json"),
        SchemaKind::RecordList => include_str!("../../schemas/record-list.schema.json"),
        SchemaKind::UpdateRecord => include_str!("../../schemas/dns-update-record.schema.json"),
    }
}

/// The protocol of cluster-management services, as OpenAPI 3.1.
pub fn cms_protocol() -> &'static str {
    include_str!("../../schemas/cms.openapi.json")
}

#[cfg(test)]
pub mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::apply::OutcomeCode;
    use crate::plan::{BlockCode, NoticeCode, Rule, SealedPlan, SkipCode, document, fixture};

    /// All schemas.
    const ALL: [SchemaKind; 17] = [
        SchemaKind::UpdateRecord,
        SchemaKind::CmsCheck,
        SchemaKind::Plan,
        SchemaKind::Explain,
        SchemaKind::Config,
        SchemaKind::Project,
        SchemaKind::PodSet,
        SchemaKind::App,
        SchemaKind::RecordList,
        SchemaKind::Doctor,
        SchemaKind::Apply,
        SchemaKind::Drift,
        SchemaKind::Status,
        SchemaKind::History,
        SchemaKind::Sync,
        SchemaKind::Event,
        SchemaKind::Endpoints,
    ];

    /// A schema as a value.
    fn value(kind: SchemaKind) -> Value {
        serde_json::from_str(schema(kind)).unwrap()
    }

    /// Checks one document against a schema; gives what is wrong with it, empty where nothing is.
    pub fn check_one(kind: SchemaKind, document: Value) -> String {
        check(kind, &[document]).concat()
    }

    /// Checks documents against one schema; gives the first line of what is wrong with each, empty where nothing is.
    fn check(kind: SchemaKind, documents: &[Value]) -> Vec<String> {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("file:///schema.json", value(kind)).unwrap();
        let index = compiler.compile("file:///schema.json", &mut schemas).unwrap();
        let found =
            |document| schemas.validate(document, index).map_or_else(|error| error.to_string(), |()| String::new());
        documents.iter().map(found).collect()
    }

    /// Checks one document with parts replaced: each edit is a JSON pointer and the new value; null removes.
    fn fits(kind: SchemaKind, document: &Value, edits: &[(&str, Value)]) -> bool {
        let mut edited = document.clone();
        for (pointer, new) in edits {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            match edited.pointer_mut(parent).unwrap() {
                Value::Object(fields) if new.is_null() => drop(fields.remove(key)),
                Value::Object(fields) => drop(fields.insert(key.to_owned(), new.clone())),
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = new.clone(),
                other => panic!("{other} has no parts"),
            }
        }
        check(kind, &[edited])[0].is_empty()
    }

    /// The fixture's plan as a document.
    fn plan() -> Value {
        serde_json::from_str(&document::to_json(&SealedPlan::new(fixture::fleet()))).unwrap()
    }

    /// Settings in which nearly every key occurs.
    fn config() -> Value {
        toml::from_str(
            r#"
            owner = "fleet-dns"
            registry = "journal"
            free_domain = "free.invalid"
            max_bad_rows = "0.5%"
            delete_after = "1d"
            [state]
            url = "sqlite:.zonewright/state.db"
            [plan]
            expires = "24h"
            [sources]
            projects = "projects/*.yaml"
            hosts = ["racktables/hosts.csv", "more/*.csv"]
            l3_tors = { path = "racktables/l3-tors.txt", max_age = "6h", max_shrink = "10%", require_end = true }
            net_layout = { path = "racktables/net-layout.xml", max_churn = "5%", min_rows = 100, digest = "sha256" }
            [[sources.mac]]
            name = "agent"
            path = "agents/agent-*.jsonl"
            max_age = "12h"
            digest = true
            [[sources.mac]]
            name = "racktables"
            path = "racktables/macs.jsonl"
            penalty = "1h"
            [project.search]
            dns_domain = "search.example.net"
            also_domains = ["old.example.net."]
            automation = "allowed"
            keep_edits = true
            cms = ["search-cms", "default"]
            cms_actions = ["temporary-unreachable", "prepare", "deactivate"]
            max_busy_hosts = 5
            ask_ahead = 0
            give_up = "12h"
            [cms.search-cms]
            url = "https://cms.example.net/search"
            version = "v1.4"
            [[pool.main.target]]
            type = "rfc2136"
            server = "127.0.0.1:5353"
            tsig_key = { name = "zonewright.", algorithm = "hmac-sha256", secret_file = "keys/main.secret" }
            [[pool.demo.target]]
            type = "zonefile"
            dir = "zones"
            [[zone]]
            name = "search.example.net"
            pool = "main"
            permission = "full"
            fence = "marker"
            protect = ["ns*", "www.search.example.net."]
            [[zone]]
            network = "2a02:6b8::/40"
            pool = "demo"
            [limits]
            hosts = [{ period = "1h", max = 200 }, { period = "1d", max = 1000 }]
            max_delete = "10%"
            max_modify = "30%"
            max_by_cause = "50%"
            max_loss = "15%"
            max_rrset = 100
            "#,
        )
        .unwrap()
    }

    /// A project file in which every key occurs.
    fn project() -> Value {
        json!({
            "id": "search",
            "shortname_template": "{location}{bucket}-{index:04}",
            "vlan_scheme": "search",
            "vlans": {"main": 604, "fastbone": 761},
            "fastbone_name": "fb-{shortname}",
            "hbf_project_id": "1478",
            "ttl": 600,
            "automation": true,
            "policy": "repair",
            "limits": {"hosts": [{"period": "1h", "max": 20}]},
        })
    }

    /// The file of a set of pods in which every key occurs.
    fn pod_set() -> Value {
        json!({
            "id": "shop-web",
            "project": "shop",
            "domain": "web.shop.example.net",
            "names": {"constant": "{pod}", "transient": "{pod}-{placement}"},
            "ttl": 60,
            "unavailability_budget": 2,
            "migration": "move",
            "min_interval": "1h",
            "rollout": {"canary": 1, "one_location_at_a_time": true, "settle": "ttl", "overlap": "10m", "gate": "g", "probe": "p"},
            "endpoints": [
                {"name": "http", "protocol": "tcp", "port": 8080, "states": ["active"], "labels": {"shard": "1"}},
            ],
        })
    }

    #[test]
    fn sets_with_anything_else_in_them_do_not_fit() {
        let set = pod_set();
        for edit in [
            ("/id", json!("a/b")),
            ("/project", Value::Null),
            ("/domain", Value::Null),
            ("/names/constant", json!("{rack}")),
            ("/names/other", json!("{pod}")),
            ("/ttl", json!(-1)),
            ("/unavailability_budget", json!(0)),
            ("/migration", json!("copy")),
            ("/min_interval", json!(60)),
            ("/rollout/max_unavailable", json!(2)),
            ("/endpoints/0/port", json!(0)),
            ("/endpoints/0/protocol", json!("_tcp")),
            ("/endpoints/0/states", json!([])),
            ("/endpoints/0/states", json!(["waiting"])),
            ("/endpoints/0/labels/shard", json!(1)),
            ("/colour", json!(1)),
        ] {
            assert!(!fits(SchemaKind::PodSet, &set, std::slice::from_ref(&edit)), "{edit:?}");
        }
    }

    /// An app in which every key occurs.
    fn app() -> Value {
        json!({
            "app": "shop",
            "bundle": "shop-bundle",
            "version": "v1",
            "profile": "prod",
            "namespace": "shop",
            "logical_cloud": "lc1",
            "services": [{
                "name": "frontend",
                "hostnames": ["shop.example.com"],
                "ttl": 60,
                "addresses": [{"cluster": "edge-1", "scope": "public", "ips": ["192.0.2.10", "2001:db8::10"]}],
            }],
        })
    }

    /// A list of records in which every key occurs.
    fn record_list() -> Value {
        let texts = json!({"name": "l", "description": "d", "userData1": "", "userData2": "", "userdata1": "", "userdata2": ""});
        json!({"kind": "Cluster", "for": "edge-1", "metadata": texts, "spec": {"kv": [{"a": "bind"}, {"a": "etcd"}]}})
    }

    #[test]
    fn apps_and_lists_with_anything_else_in_them_do_not_fit() {
        for edit in [
            ("/app", Value::Null),
            ("/bundle", json!("a b")),
            ("/version", json!(1)),
            ("/profile", json!("a/b")),
            ("/namespace", json!("Shop")),
            ("/logical_cloud", json!("a,b")),
            ("/services", Value::Null),
            ("/services/0/name", json!("-a")),
            ("/services/0/hostnames", json!([])),
            ("/services/0/hostnames", json!(["a.example.", "a.example."])),
            ("/services/0/ttl", json!(-1)),
            ("/services/0/addresses", Value::Null),
            ("/services/0/addresses/0/scope", json!("private")),
            ("/services/0/addresses/0/ips", json!("192.0.2.1")),
            ("/services/0/addresses/0/more", json!(1)),
            ("/services/0/more", json!(1)),
            ("/more", json!(1)),
        ] {
            assert!(!fits(SchemaKind::App, &app(), std::slice::from_ref(&edit)), "{edit:?}");
        }
        assert!(fits(SchemaKind::App, &app(), &[("/services", json!([]))]));
        for edit in [
            ("/kind", json!("cluster")),
            ("/for", json!("")),
            ("/metadata/name", Value::Null),
            ("/metadata/labels", json!({})),
            ("/spec/kv", Value::Null),
            ("/spec/kv/0", json!({"a": "b", "c": "d"})),
            ("/spec/kv/0", json!({})),
            ("/spec/kv/0/a", json!("-b")),
            ("/more", json!(1)),
        ] {
            assert!(!fits(SchemaKind::RecordList, &record_list(), std::slice::from_ref(&edit)), "{edit:?}");
        }
    }

    #[test]
    fn documents_as_they_should_be_fit() {
        let empty = serde_json::from_str(&document::to_json(&SealedPlan::new(fixture::empty()))).unwrap();
        assert_eq!(check(SchemaKind::Plan, &[plan(), empty]), ["", ""]);
        assert_eq!(check(SchemaKind::Config, &[config()]), [""]);
        assert_eq!(check(SchemaKind::Project, &[project()]), [""]);
        assert_eq!(check(SchemaKind::PodSet, &[pod_set()]), [""]);
        assert_eq!(check(SchemaKind::App, &[app()]), [""]);
        assert_eq!(check(SchemaKind::RecordList, &[record_list()]), [""]);
    }

    #[test]
    fn plans_with_anything_else_in_them_do_not_fit() {
        let plan = plan();
        for edit in [
            ("/more", json!(1)),
            ("/format", json!("zonewright.plan/1")),
            ("/id", json!("sha256:12")),
            ("/tool", Value::Null),
            ("/inputs/x", json!(1)),
            ("/changes/0/more", json!(1)),
            ("/changes/0/type", json!("cname")),
            ("/changes/0/name", json!("Lab.example.net.")),
            ("/changes/0/name", json!("lab.example.net")),
            ("/changes/0/also", json!([])),
            ("/changes/0/subject", json!("host:-1")),
            ("/changes/0/subject", Value::Null),
            ("/changes/0/reasons", json!([])),
            ("/changes/0/before/ttl", json!(2147483648u64)),
            ("/changes/0/before/rdata", json!([])),
            ("/blocked/0/code", json!("no-such-code")),
            ("/zones/0/serial", json!(1.5)),
        ] {
            assert!(!fits(SchemaKind::Plan, &plan, std::slice::from_ref(&edit)), "{edit:?}");
        }
    }

    #[test]
    fn settings_with_anything_else_in_them_do_not_fit() {
        let config = config();
        for edit in [
            ("/owner", Value::Null),
            ("/owner", json!("a,b")),
            ("/colour", json!(1)),
            ("/registry", json!("dns")),
            ("/name_cooldown", json!(7)),
            ("/max_bad_rows", json!("many")),
            ("/sources/hosts", Value::Null),
            ("/sources/hosts", json!([])),
            ("/sources/l3_tors/path", json!("../l3-tors.txt")),
            ("/sources/l3_tors/path", json!("/etc/passwd")),
            ("/sources/mac/0/name", Value::Null),
            ("/project/search/dns_domain", Value::Null),
            ("/project/search/automation", json!(true)),
            ("/project/search/cms", Value::Null),
            ("/project/search/cms", json!("default")),
            ("/project/search/cms", json!([])),
            ("/project/search/cms", json!(["default", "default"])),
            ("/project/search/cms_actions", json!([])),
            ("/project/search/cms_actions", json!(["reboot"])),
            ("/project/search/cms_actions", json!(["prepare", "prepare"])),
            ("/project/search/max_busy_hosts", json!(0)),
            ("/project/search/ask_ahead", json!(-1)),
            ("/project/search/give_up", json!(60)),
            ("/project/search/give_up", json!("0s")),
            ("/cms/search-cms/version", Value::Null),
            ("/pool/main/target/0/secret", json!("x")),
            ("/pool/main/target/0/tsig_key/secret", json!("x")),
            ("/pool/main/target/0/tsig_key/secret_env", json!("X")),
            ("/pool/demo/target/0/dir", json!("/zones")),
            ("/zone/0/name", Value::Null),
            ("/zone/0/network", json!("2a02:6b8::/40")),
            ("/zone/0/ttl", json!(-1)),
            ("/sources/net_layout/digest", json!("md5")),
            ("/sources/net_layout/digest", json!("0123")),
            ("/sources/net_layout/min_rows", json!(-1)),
            ("/sources/net_layout/penalty", json!("1h")),
            ("/zone/0/protect", json!("ns1")),
            ("/zone/0/protect/0", json!("")),
            ("/delete_after", json!(86400)),
            ("/limits/max_rrset", json!(0)),
            ("/limits/max_delete", json!(10)),
            ("/limits/hosts/0/max", json!("200")),
        ] {
            assert!(!fits(SchemaKind::Config, &config, std::slice::from_ref(&edit)), "{edit:?}");
        }
        // What a provider that comes later needs is not known here.
        assert!(fits(SchemaKind::Config, &config, &[("/pool/demo/target/0", json!({"type": "other", "key": 1}))]));
    }

    #[test]
    fn projects_with_anything_else_in_them_do_not_fit() {
        let project = project();
        for edit in [
            ("/id", json!("a b")),
            ("/vlans", Value::Null),
            ("/vlan_scheme", json!("none")),
            ("/vlans/main", json!(4095)),
            ("/vlans/fastbone", Value::Null),
            ("/hbf_project_id", json!(12e5)),
            ("/hbf_project_id", json!("123456789")),
            ("/shortname_template", json!("{location}")),
            ("/automation", json!("yes")),
            ("/policy", json!("delete")),
            ("/limits/hosts/0/period", json!("daily")),
            ("/limits/max_delete", json!("10%")),
            ("/limits/max_rrset", json!(100)),
            ("/colour", json!(1)),
        ] {
            assert!(!fits(SchemaKind::Project, &project, std::slice::from_ref(&edit)), "{edit:?}");
        }
        let backbone_only = [("/vlan_scheme", json!("static")), ("/vlans/fastbone", Value::Null)];
        assert!(fits(SchemaKind::Project, &project, &backbone_only));
        let no_hosts = [("/vlan_scheme", json!("none")), ("/vlans", Value::Null)];
        assert!(fits(SchemaKind::Project, &project, &no_hosts));
    }

    #[test]
    fn the_schemas_have_every_word_and_no_other() {
        let schema = value(SchemaKind::Plan);
        let listed = |pointer: &str| schema.pointer(pointer).unwrap().clone();
        let words = |words: Vec<&str>| json!(words);
        let rules = Rule::ALL.iter().map(|word| word.as_str()).collect();
        assert_eq!(listed("/$defs/reason/properties/rule/enum"), words(rules));
        let codes = BlockCode::ALL.iter().map(|word| word.as_str()).collect();
        assert_eq!(listed("/$defs/blocked/properties/code/enum"), words(codes));
        let explain = value(SchemaKind::Explain);
        let obstacles = explain.pointer("/$defs/obstacle/properties/code/enum").unwrap();
        assert_eq!(*obstacles, listed("/$defs/blocked/properties/code/enum"));
        let rules = explain.pointer("/$defs/reason-facts/properties/rule/enum").unwrap();
        assert_eq!(*rules, listed("/$defs/reason/properties/rule/enum"));
        let codes = SkipCode::ALL.iter().map(|word| word.as_str()).collect();
        assert_eq!(listed("/$defs/skipped/properties/code/enum"), words(codes));
        let codes = NoticeCode::ALL.iter().map(|word| word.as_str()).collect();
        assert_eq!(listed("/$defs/notice/properties/code/enum"), words(codes));
        let apply = value(SchemaKind::Apply);
        let outcomes = words(OutcomeCode::ALL.iter().map(|word| word.as_str()).collect());
        assert_eq!(*apply.pointer("/$defs/host/properties/outcome/enum").unwrap(), outcomes);
        assert_eq!(*apply.pointer("/properties/counts/required").unwrap(), outcomes);
        let sync = value(SchemaKind::Sync);
        for shared in ["/$defs/publishedZone", "/$defs/differingRrset", "/$defs/count"] {
            assert_eq!(sync.pointer(shared), apply.pointer(shared), "{shared}");
        }
        let event = value(SchemaKind::Event);
        for event_kind in ["apply-finished", "resume-finished", "undo-finished"] {
            let listed = format!("/$defs/{event_kind}/properties/outcomes/propertyNames/enum");
            assert_eq!(*event.pointer(&listed).unwrap(), outcomes);
        }
        for kind in [SchemaKind::Status, SchemaKind::History] {
            assert_eq!(*value(kind).pointer("/$defs/apply/properties/outcomes/propertyNames/enum").unwrap(), outcomes);
        }
        let all = value(SchemaKind::History);
        let mut left = all.pointer("/$defs/left/properties/outcome/enum").unwrap().as_array().unwrap().clone();
        left.extend([OutcomeCode::Applied, OutcomeCode::AlreadyApplied].map(|word| json!(word.as_str())));
        assert!(
            OutcomeCode::ALL.iter().all(|word| left.contains(&json!(word.as_str())))
                && left.len() == OutcomeCode::ALL.len()
        );
    }

    /// Visits every key that a schema declares.
    fn each_key(schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
        let Value::Object(fields) = schema else { return };
        for (word, inner) in fields {
            match (word.as_str(), inner) {
                ("properties", Value::Object(keys)) => keys.iter().for_each(|(key, of_key)| {
                    visit(key, of_key);
                    each_key(of_key, visit);
                }),
                ("$defs", Value::Object(definitions)) => {
                    definitions.values().for_each(|definition| each_key(definition, visit));
                }
                // Conditions repeat keys that are declared elsewhere.
                _ => {}
            }
        }
    }

    #[test]
    fn every_key_is_described() {
        for kind in ALL {
            let mut keys = 0;
            each_key(&value(kind), &mut |key, of_key| {
                keys += 1;
                let text = of_key["description"].as_str().unwrap_or_default();
                assert!(text.ends_with('.'), "{kind:?}: `{key}` has no description");
            });
            assert!(keys > 10, "{kind:?}: {keys}");
        }
    }
}
