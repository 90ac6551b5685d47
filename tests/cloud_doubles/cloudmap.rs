//! The double of Cloud Map is as strict as it must be: its rules one by one, and what botocore, which shares no code with
//! it, makes of its answers.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::doubles::cloudmap::CloudMapDouble;
use super::doubles::cloudmap::log::{EDITOR, MapChange, SETTLED};
use super::doubles::cloudmap::model::written_model;
use super::doubles::cloudmap::operations::FailurePlan;
use super::doubles::cloudmap::patterns::ModelPattern;
use super::doubles::cloudmap::resources::{MapInstance, MapRouting, NamespaceKind};
use super::doubles::cloudmap::rules::{
    CloudMapRules, ErrorStatuses, ErrorTypeForm, ExpiredAnswer, ListingMoment, MapThrottle, OmittedRecords,
    OperationSettling, RepeatAnswer, RequestMemory, ReuseAnswer,
};
use super::doubles::faults::{Fault, FaultKind};
use super::doubles::http::DoubleServer;
use super::doubles::{DoubleAnswer, DoubleRequest};
use super::{KEY, now, support, text};

/// The region of all doubles here.
const REGION: &str = "eu-central-1";

/// A double with one namespace, without signatures, and the clock that it sees.
struct Region {
    /// The double.
    double: Arc<CloudMapDouble>,
    /// Its namespace, example.net.
    namespace: String,
    /// Seconds since the epoch.
    clock: Arc<AtomicI64>,
}

impl Region {
    fn new() -> Self {
        let clock = Arc::new(AtomicI64::new(1_795_000_000));
        let seen = Arc::clone(&clock);
        let double = Arc::new(CloudMapDouble::new(REGION, KEY, move || seen.load(Ordering::SeqCst)));
        double.set_rules(|rules| rules.checks_signature = false);
        let namespace = double.create_namespace("example.net", NamespaceKind::Private);
        Self { double, namespace, clock }
    }

    /// Sends a request; none where the connection breaks.
    fn send(&self, operation: &str, input: &Value) -> Option<DoubleAnswer> {
        let headers = [
            ("host", "servicediscovery.eu-central-1.amazonaws.com"),
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", &format!("Route53AutoNaming_v20170314.{operation}")),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let (method, target) = ("POST".to_owned(), "/".to_owned());
        self.double.answer(&DoubleRequest { method, target, headers, body: input.to_string().into_bytes() })
    }

    /// Sends a request that must be taken, and returns its answer.
    fn done(&self, operation: &str, input: &Value) -> Value {
        let answer = self.send(operation, input).expect("an answer");
        assert_eq!(answer.status, 200, "{operation} {input}\n{}", text(&answer));
        serde_json::from_slice(&answer.body).expect("it is JSON")
    }

    /// Sends a request that must be refused, and says with which status, code and message. Nothing changes.
    fn refused(&self, operation: &str, input: &Value) -> String {
        let before = self.all();
        let answer = self.send(operation, input).expect("an answer");
        assert!(answer.status >= 400, "{operation} {input}\n{}", text(&answer));
        assert_eq!(self.all(), before, "{operation} {input}");
        error_of(&answer)
    }

    /// All that is there and that runs.
    fn all(&self) -> String {
        let namespaces = self.double.namespaces();
        let services: Vec<_> = namespaces.iter().flat_map(|own| self.double.services(&own.id)).collect();
        let instances: Vec<_> = services.iter().map(|own| self.double.instances(&own.id)).collect();
        let running = self.double.operations().into_iter().map(|operation| (operation.id, operation.end));
        format!("{namespaces:?} {services:?} {instances:?} {:?}", running.collect::<Vec<_>>())
    }

    /// Creates a service as another editor.
    fn service(&self, name: &str, types: &[&str]) -> String {
        let records: Vec<(&str, u32)> = types.iter().map(|rtype| (*rtype, 300)).collect();
        self.double.create_service(&self.namespace, name, &records, None)
    }

    /// Submits a registration of an A.
    fn register(&self, service: &str, id: &str, address: &str) -> Value {
        self.done("RegisterInstance", &registration(service, id, &json!({"AWS_INSTANCE_IPV4": address})))
    }

    /// Says how far an operation is.
    fn status(&self, submitted: &Value) -> String {
        let operation = &self.done("GetOperation", submitted)["Operation"];
        assert_eq!(operation["Id"], submitted["OperationId"]);
        operation["Status"].as_str().expect("a status").to_owned()
    }

    /// The identifiers of the instances that listings show.
    fn listed(&self, service: &str) -> Vec<String> {
        texts(&self.done("ListInstances", &json!({"ServiceId": service}))["Instances"], "Id")
    }

    /// What DNS serves.
    fn served(&self) -> Vec<String> {
        let rrsets = self.double.rrsets(&self.namespace).into_iter();
        rrsets.map(|rrset| format!("{} {} {} {}", rrset.name, rrset.ttl, rrset.rtype, rrset.values.join(","))).collect()
    }
}

/// A request for a registration.
fn registration(service: &str, id: &str, attributes: &Value) -> Value {
    json!({"ServiceId": service, "InstanceId": id, "Attributes": attributes})
}

/// A text of each item of a list.
fn texts(list: &Value, member: &str) -> Vec<String> {
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item[member].as_str().expect("a text").to_owned()).collect()
}

/// Status, code and message of an error.
fn error_of(answer: &DoubleAnswer) -> String {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let message = body["Message"].as_str().or(body["message"].as_str()).unwrap_or_default();
    format!("{} {}: {message}", answer.status, body["__type"].as_str().unwrap_or_default())
}

#[test]
fn an_operation_is_submitted_pending_and_then_done() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.set_rules(|rules| rules.settling = OperationSettling::AfterAsks(2));
    let submitted = region.register(&service, "one", "192.0.2.1");
    assert_eq!((region.listed(&service), region.served()), (Vec::new(), Vec::new()));
    assert_eq!([(); 4].map(|()| region.status(&submitted)), ["SUBMITTED", "PENDING", "SUCCESS", "SUCCESS"]);
    assert_eq!(region.listed(&service), ["one"]);
    assert_eq!(region.served(), ["web.example.net. 300 A 192.0.2.1"]);
    let operation = region.done("GetOperation", &submitted);
    assert_eq!(operation["Operation"]["Type"], "REGISTER_INSTANCE");
    assert_eq!(operation["Operation"]["Targets"], json!({"INSTANCE": "one", "SERVICE": service}));
    assert_eq!(operation["Operation"]["CreateDate"].as_f64(), Some(1_795_000_000.087));

    region.double.set_rules(|rules| rules.settling = OperationSettling::AfterSeconds(30));
    let gone = region.done("DeregisterInstance", &json!({"ServiceId": service, "InstanceId": "one"}));
    assert_eq!(region.status(&gone), "SUBMITTED");
    region.clock.fetch_add(30, Ordering::SeqCst);
    // The clock is enough: DNS changes though no client asks.
    assert_eq!((region.served(), region.status(&gone)), (Vec::new(), "SUCCESS".to_owned()));

    region.double.set_rules(|rules| rules.settling = OperationSettling::AfterRequests(1));
    let submitted = region.register(&service, "two", "192.0.2.2");
    assert_eq!(region.listed(&service), [""; 0]);
    assert_eq!((region.listed(&service), region.status(&submitted)), (vec!["two".to_owned()], "SUCCESS".to_owned()));

    region.double.set_rules(|rules| rules.settling = OperationSettling::Held);
    let first = region.register(&service, "three", "192.0.2.3");
    let second = region.register(&service, "four", "192.0.2.4");
    assert_eq!([(); 3].map(|()| region.status(&second)), ["SUBMITTED", "PENDING", "PENDING"]);
    region.double.finish(second["OperationId"].as_str().expect("a text"));
    assert_eq!((region.status(&first), region.status(&second)), ("SUBMITTED".to_owned(), "SUCCESS".to_owned()));
    region.double.finish_all();
    assert_eq!(region.status(&first), "SUCCESS");
    region.double.set_rules(|rules| rules.settling = OperationSettling::AtOnce);
    assert_eq!(region.status(&region.register(&service, "five", "192.0.2.5")), "SUCCESS");
    assert!(region.refused("GetOperation", &json!({"OperationId": "x"})).starts_with("400 OperationNotFound: "));
}

#[test]
fn an_operation_can_fail_and_changes_nothing_then() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.plan_failure(FailurePlan { skip: 1, ..FailurePlan::next("RegisterInstance", "THROTTLED_REQUEST") });
    let good = region.register(&service, "one", "192.0.2.1");
    let creator = json!({
        "ServiceId": service, "InstanceId": "two", "CreatorRequestId": "c",
        "Attributes": {"AWS_INSTANCE_IPV4": "192.0.2.2"},
    });
    let bad = region.done("RegisterInstance", &creator);
    region.double.finish_all();
    assert_eq!((region.status(&good), region.status(&bad)), ("SUCCESS".to_owned(), "FAIL".to_owned()));
    let operation = &region.done("GetOperation", &bad)["Operation"];
    assert_eq!(operation["ErrorCode"], "THROTTLED_REQUEST");
    assert!(operation["ErrorMessage"].is_string());
    assert_eq!(region.listed(&service), ["one"]);
    // The same request is done once more, because its operation failed.
    let again = region.done("RegisterInstance", &creator);
    assert_ne!(again, bad);
    region.double.finish_all();
    assert_eq!(region.listed(&service), ["one", "two"]);
    // What no name can be made of is found out when the operation runs.
    let srv = region.service("srv", &["SRV"]);
    let attributes = json!({"AWS_INSTANCE_IPV4": "192.0.2.1", "AWS_INSTANCE_PORT": "80"});
    let long = region.done("RegisterInstance", &registration(&srv, &"x".repeat(64), &attributes));
    region.double.finish_all();
    assert_eq!(region.done("GetOperation", &long)["Operation"]["ErrorCode"], "INVALID_CHANGE_BATCH");
}

#[test]
fn requests_that_do_not_fit_the_model_are_refused() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    let input = |start: &str| format!("400 InvalidInput: 1 validation error detected: Value {start}");
    let null =
        |member: &str| input(&format!("null at '{member}' failed to satisfy constraint: Member must not be null"));
    let address = json!({"AWS_INSTANCE_IPV4": "192.0.2.1"});
    let long = "x".repeat(65);
    let table = [
        ("GetService", json!({}), null("id")),
        ("GetService", json!({"Id": null}), null("id")),
        ("ListInstances", json!({}), null("serviceId")),
        ("RegisterInstance", json!({"ServiceId": service, "InstanceId": "x"}), null("attributes")),
        ("CreateService", json!({"NamespaceId": region.namespace}), null("name")),
        (
            "CreateService",
            json!({"Name": "x", "NamespaceId": region.namespace, "DnsConfig": {"DnsRecords": [{"Type": "A"}]}}),
            null("dnsConfig.dnsRecords.1.member.tTL"),
        ),
        (
            "RegisterInstance",
            registration(&service, &long, &address),
            input(&format!(
                "'{long}' at 'instanceId' failed to satisfy constraint: Member must have length less than or equal to 64"
            )),
        ),
        (
            "RegisterInstance",
            registration(&service, "a b", &address),
            input(
                "'a b' at 'instanceId' failed to satisfy constraint: Member must satisfy regular expression pattern: \
                 ^[0-9a-zA-Z_/:.@-]+$",
            ),
        ),
        (
            "RegisterInstance",
            registration(&service, "x", &json!({"AWS_INSTANCE_IPV4": " 192.0.2.1"})),
            input("' 192.0.2.1' at 'attributes.AWS_INSTANCE_IPV4.member' failed"),
        ),
        (
            "ListInstances",
            json!({"ServiceId": service, "MaxResults": 0}),
            input(
                "'0' at 'maxResults' failed to satisfy constraint: Member must have value greater than or equal to 1",
            ),
        ),
        (
            "ListServices",
            json!({"MaxResults": 101}),
            input(
                "'101' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 100",
            ),
        ),
        (
            "ListServices",
            json!({"Filters": [{"Name": "NAME", "Values": ["x"]}]}),
            input(
                "'NAME' at 'filters.1.member.name' failed to satisfy constraint: Member must satisfy enum value set: \
                 [NAMESPACE_ID, RESOURCE_OWNER]",
            ),
        ),
        (
            "CreateService",
            json!({"Name": "-x", "Type": "DNS"}),
            "400 InvalidInput: 2 validation errors detected: Value '-x' at 'name' failed to satisfy".to_owned(),
        ),
        (
            "ListServices",
            json!({"MaxResults": "5"}),
            "400 SerializationException: maxResults must be a whole number".to_owned(),
        ),
        ("ListServices", json!([]), "400 SerializationException: it is no object".to_owned()),
        (
            "ListServices",
            json!({"NamespaceId": "x"}),
            "400 SerializationException: the member NamespaceId is not in the model".to_owned(),
        ),
        ("ListServices", json!({"NextToken": "x"}), "400 InvalidInput: NextToken is not one".to_owned()),
        ("DiscoverInstances", json!({}), "400 UnknownOperationException: ".to_owned()),
    ];
    for (operation, input, start) in table {
        let found = region.refused(operation, &input);
        assert!(found.starts_with(&start), "{operation} {input}\n{found}\n{start}");
    }
    region.double.set_rules(|rules| rules.refuses_strange_members = false);
    region.done("ListServices", &json!({"NamespaceId": "x"}));
}

#[test]
fn patterns_are_those_of_the_model() {
    let (label, long) = ("x".repeat(63), "x".repeat(64));
    let table = [
        (ModelPattern::InstanceId, vec!["a", "2001:db8::1", "a/b_c.d@e-f"], vec!["", "a b", "ä", "a*"]),
        (
            ModelPattern::ServiceName,
            vec!["a", ".", "_http._tcp", "a-b.c", "A", "__", &label],
            vec!["", "_", "-a", "a-", "a..b", "a.", "*.a", &long, "a b"],
        ),
        (ModelPattern::PublicName, vec!["a.b", "A-1.example.net"], vec!["a", "a.", "-a.b", "a_b.c", "*.a"]),
        (ModelPattern::PrivateName, vec!["a", "a_b", "*"], vec!["", "a b", "arn:x", "ä"]),
        (ModelPattern::HttpName, vec!["a", "a_b"], vec!["", "a b", "arn:x"]),
        (ModelPattern::AttributeKey, vec!["a", "!~"], vec!["", "a b", "ä"]),
        (ModelPattern::AttributeValue, vec!["", "a", "a b\t c ", "~"], vec![" ", " a", "\ta", "ä", "a\nb"]),
    ];
    for (pattern, good, bad) in table {
        good.iter().for_each(|text| assert!(pattern.fits(text), "{pattern:?} {text}"));
        bad.iter().for_each(|text| assert!(!pattern.fits(text), "{pattern:?} {text}"));
    }
}

#[test]
fn a_service_has_one_set_of_types() {
    let region = Region::new();
    let create = |name: &str, types: &[&str], routing: &str| {
        let records: Vec<Value> = types.iter().map(|rtype| json!({"Type": rtype, "TTL": 60})).collect();
        let dns = json!({"RoutingPolicy": routing, "DnsRecords": records});
        json!({"Name": name, "NamespaceId": region.namespace, "DnsConfig": dns})
    };
    for (n, types) in [&["A"][..], &["AAAA"], &["A", "AAAA"], &["AAAA", "A"], &["SRV"]].into_iter().enumerate() {
        let made = region.done("CreateService", &create(&format!("s{n}"), types, "MULTIVALUE"));
        assert_eq!(texts(&made["Service"]["DnsConfig"]["DnsRecords"], "Type"), types);
        region.done("CreateService", &create(&format!("w{n}"), types, "WEIGHTED"));
    }
    region.done("CreateService", &create("cname", &["CNAME"], "WEIGHTED"));
    for (types, words) in [
        (&["CNAME", "A"][..], "The combination of record types is invalid: [A, CNAME]"),
        (&["SRV", "A"], "The combination of record types is invalid: [A, SRV]"),
        (&["A", "A"], "The combination of record types is invalid: [A, A]"),
        (&[], "The combination of record types is invalid: []"),
        (&["CNAME"], "A service with CNAME records must have the routing policy WEIGHTED"),
    ] {
        let found = region.refused("CreateService", &create("bad", types, "MULTIVALUE"));
        assert_eq!(found, format!("400 InvalidInput: {words}"));
    }
    let plain = create("plain", &["A"], "MULTIVALUE");
    let changed = |member: &str, value: Value| {
        let mut input = plain.clone();
        input[member] = value;
        input
    };
    let long = "x".repeat(63);
    for (input, words) in [
        (changed("NamespaceId", json!("ns-none")), "400 NamespaceNotFound: Namespace not found: ns-none"),
        (changed("NamespaceId", json!(null)), "400 InvalidInput: NamespaceId is required"),
        (changed("Name", json!(".")), "400 InvalidInput: The name of a service must have a label"),
        (changed("Name", json!(format!("{long}.{long}"))), "400 InvalidInput: The name "),
        (changed("Type", json!("HTTP")), "400 InvalidInput: DnsConfig cannot be specified for a service"),
        (changed("DnsConfig", json!(null)), "400 InvalidInput: DnsConfig is required"),
        (
            changed("HealthCheckConfig", json!({"Type": "TCP"})),
            "400 InvalidInput: HealthCheckConfig cannot be specified for a private namespace",
        ),
        (changed("Name", json!("S0")), "400 ServiceAlreadyExists: Service already exists."),
        (changed("Name", json!("s0")), "400 ServiceAlreadyExists: Service already exists."),
    ] {
        // A name is too long with its namespace alone.
        if input["Name"].as_str().is_some_and(|name| name.len() > 100) {
            let space = region.double.create_namespace(&"y".repeat(200), NamespaceKind::Private);
            let mut input = input;
            input["NamespaceId"] = json!(space);
            assert!(region.refused("CreateService", &input).starts_with(words));
            continue;
        }
        let found = region.refused("CreateService", &input);
        assert!(found.starts_with(words), "{input}\n{found}");
    }
    let answer = region.send("CreateService", &changed("Name", json!("s0"))).expect("an answer");
    let body: Value = serde_json::from_slice(&answer.body).expect("it is JSON");
    assert!(body["ServiceId"].as_str().is_some_and(|id| id.starts_with("srv-")), "{body}");
    // A copy of the request is answered with the service, and another request is not.
    let mine = changed("CreatorRequestId", json!("c1"));
    let made = region.done("CreateService", &mine);
    assert_eq!(region.done("CreateService", &mine), made);
    assert!(region.refused("CreateService", &changed("CreatorRequestId", json!("c2"))).contains("already exists"));
    region.double.set_rules(|rules| rules.max_services = Some(12));
    let found = region.refused("CreateService", &create("more", &["A"], "MULTIVALUE"));
    assert!(found.starts_with("400 ResourceLimitExceeded: "), "{found}");
    assert_eq!(region.double.services(&region.namespace).len(), 12);
}

#[test]
fn an_instance_has_what_its_types_need() {
    let region = Region::new();
    let (v4, v6, port) = ("AWS_INSTANCE_IPV4", "AWS_INSTANCE_IPV6", "AWS_INSTANCE_PORT");
    let services: Vec<String> = [&["A"][..], &["AAAA"], &["A", "AAAA"], &["SRV"], &["CNAME"]]
        .into_iter()
        .enumerate()
        .map(|(n, types)| region.service(&format!("s{n}"), types))
        .collect();
    let many: Value = (0..31).map(|n| (format!("key{n}"), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    let custom = |most: usize| {
        let mut attributes = many.clone();
        let own = attributes.as_object_mut().expect("an object");
        own.retain(|key, _| key[3..].parse::<usize>().is_ok_and(|n| n < most));
        own.insert(v4.to_owned(), json!("192.0.2.1"));
        attributes
    };
    let mut long = custom(5);
    (0..5).for_each(|n| long[format!("key{n}")] = json!("x".repeat(1_000)));
    let good = [
        (0, json!({v4: "192.0.2.1"})),
        (0, json!({v4: "192.0.2.1", port: "80", "color": "green and blue"})),
        (0, custom(30)),
        (1, json!({v6: "2001:0DB8::1"})),
        (2, json!({v4: "192.0.2.1", v6: "2001:db8::1"})),
        (3, json!({v4: "192.0.2.1", port: "443"})),
        (3, json!({v6: "2001:db8::1", port: "443"})),
        (4, json!({"AWS_INSTANCE_CNAME": "www.example.org"})),
    ];
    for (n, (place, attributes)) in good.into_iter().enumerate() {
        region.done("RegisterInstance", &registration(&services[place], &format!("i{n}"), &attributes));
    }
    let bad = [
        (0, json!({}), "AWS_INSTANCE_IPV4 is required for a service with A records"),
        (0, json!({v6: "2001:db8::1"}), "AWS_INSTANCE_IPV4 is required for a service with A records"),
        (2, json!({v4: "192.0.2.1"}), "AWS_INSTANCE_IPV6 is required for a service with AAAA records"),
        (3, json!({v4: "192.0.2.1"}), "AWS_INSTANCE_PORT is required for a service with SRV records"),
        (3, json!({port: "80"}), "AWS_INSTANCE_IPV4 or AWS_INSTANCE_IPV6 is required for a service with SRV records"),
        (4, json!({v4: "192.0.2.1"}), "AWS_INSTANCE_CNAME is required for a service with CNAME records"),
        (0, json!({v4: "192.0.2.256"}), "AWS_INSTANCE_IPV4 has an invalid value: 192.0.2.256"),
        (1, json!({v6: "192.0.2.1"}), "AWS_INSTANCE_IPV6 has an invalid value: 192.0.2.1"),
        (3, json!({v4: "192.0.2.1", port: "0"}), "AWS_INSTANCE_PORT has an invalid value: 0"),
        (3, json!({v4: "192.0.2.1", port: "+80"}), "AWS_INSTANCE_PORT has an invalid value: +80"),
        (4, json!({"AWS_INSTANCE_CNAME": "a..b"}), "AWS_INSTANCE_CNAME has an invalid value: a..b"),
        (0, json!({v4: "192.0.2.1", "AWS_COLOR": "x"}), "The attribute AWS_COLOR is not known"),
        (0, custom(31), "An instance has at most 30 custom attributes"),
        (0, long, "All attributes have at most 5000 characters"),
        (
            0,
            json!({v4: "192.0.2.1", "AWS_INIT_HEALTH_STATUS": "HEALTHY"}),
            "AWS_INIT_HEALTH_STATUS needs a service with HealthCheckCustomConfig",
        ),
        (
            0,
            json!({"AWS_ALIAS_DNS_NAME": "lb.example.org"}),
            "ALIAS instance can be registered only in services with WEIGHTED routing policy",
        ),
        (
            4,
            json!({"AWS_ALIAS_DNS_NAME": "lb.example.org"}),
            "ALIAS instance can be registered only in services with A or AAAA records",
        ),
    ];
    for (place, attributes, words) in bad {
        let found = region.refused("RegisterInstance", &registration(&services[place], "bad", &attributes));
        assert_eq!(found, format!("400 InvalidInput: {words}"));
    }
    let found = region.refused("RegisterInstance", &registration("srv-none", "x", &json!({})));
    assert_eq!(found, "400 ServiceNotFound: Service not found: srv-none");
}

#[test]
fn one_operation_runs_for_an_instance() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.register(&service, "one", &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    let instance = json!({"ServiceId": service, "InstanceId": "one"});
    let register = registration(&service, "one", &json!({"AWS_INSTANCE_IPV4": "192.0.2.9"}));
    let running = region.done("DeregisterInstance", &instance)["OperationId"].as_str().expect("a text").to_owned();
    let words =
        format!("400 DuplicateRequest: Another operation of type DeregisterInstance and id {running} is in progress");
    assert_eq!(region.refused("RegisterInstance", &register), words);
    assert_eq!(region.refused("DeregisterInstance", &instance), words);
    let answer = region.send("RegisterInstance", &register).expect("an answer");
    let body: Value = serde_json::from_slice(&answer.body).expect("it is JSON");
    assert_eq!(body["DuplicateOperationId"], running.as_str());
    // Another instance of the service is free.
    region.register(&service, "two", "192.0.2.2");
    region.double.finish_all();
    assert_eq!(region.refused("DeregisterInstance", &instance), "400 InstanceNotFound: Instance not found: one");
    assert!(region.refused("GetInstance", &instance).starts_with("400 InstanceNotFound: "));
    region.done("RegisterInstance", &register);
    region.double.finish_all();
    let shown = region.done("GetInstance", &instance);
    assert_eq!(shown["Instance"]["Attributes"], json!({"AWS_INSTANCE_IPV4": "192.0.2.9"}));
    // Another editor's operation is in the way in the same manner.
    let theirs = region.double.begin_deregister(&service, "one");
    assert!(region.refused("RegisterInstance", &register).contains(&theirs));
    region.double.finish(&theirs);
    let theirs = region.double.begin_register(&service, "one", &[("AWS_INSTANCE_IPV4", "192.0.2.7")]);
    assert!(region.refused("RegisterInstance", &register).contains(&format!("RegisterInstance and id {theirs} is")));
    region.double.set_rules(|rules| rules.error_statuses = ErrorStatuses::OfModel);
    assert!(region.refused("RegisterInstance", &register).starts_with("409 DuplicateRequest: "));
    assert!(region.refused("GetInstance", &json!({"ServiceId": "x", "InstanceId": "x"})).starts_with("404 Service"));
    region.double.set_rules(|rules| rules.error_types = ErrorTypeForm::Namespaced);
    let found = region.refused("RegisterInstance", &register);
    assert!(found.starts_with("409 com.amazonaws.servicediscovery#DuplicateRequest: "), "{found}");
}

#[test]
fn a_registration_overwrites_and_nothing_compares() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    for address in ["192.0.2.1", "192.0.2.2"] {
        region.register(&service, "one", address);
        region.double.finish_all();
    }
    assert_eq!(region.listed(&service), ["one"]);
    assert_eq!(region.served(), ["web.example.net. 300 A 192.0.2.2"]);
    let log = region.double.requests();
    let last = log.iter().rfind(|entry| entry.operation == SETTLED).expect("an end");
    let MapChange::Instance { before: Some(before), after: Some(after), .. } = &last.changes[0] else {
        panic!("{last:?}");
    };
    let address = |instance: &MapInstance| instance.attribute("AWS_INSTANCE_IPV4").map(str::to_owned);
    assert_eq!((address(before).as_deref(), address(after).as_deref()), (Some("192.0.2.1"), Some("192.0.2.2")));
}

#[test]
fn a_copy_of_a_request_is_done_once() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    let request = |creator: &str, id: &str, address: &str| {
        let mut input = registration(&service, id, &json!({"AWS_INSTANCE_IPV4": address}));
        input["CreatorRequestId"] = json!(creator);
        input
    };
    let mine = request("c", "one", "192.0.2.1");
    let submitted = region.done("RegisterInstance", &mine);
    assert_eq!(region.done("RegisterInstance", &mine), submitted);
    region.double.set_rules(|rules| rules.repeated = RepeatAnswer::DuplicateRequest);
    assert!(region.refused("RegisterInstance", &mine).starts_with("400 DuplicateRequest: "));
    region.double.finish_all();
    assert_eq!(region.done("RegisterInstance", &mine), submitted);
    for other in [request("c", "two", "192.0.2.1"), request("c", "one", "192.0.2.2")] {
        let found = region.refused("RegisterInstance", &other);
        assert_eq!(found, "400 InvalidInput: The CreatorRequestId c was used for another request");
    }
    region.double.set_rules(|rules| rules.reused = ReuseAnswer::OldOperation);
    assert_eq!(region.done("RegisterInstance", &request("c", "two", "192.0.2.1")), submitted);
    // The service knows the request after the instance is gone: nothing is done.
    region.double.deregister(&service, "one");
    assert_eq!((region.done("RegisterInstance", &mine), region.listed(&service).len()), (submitted.clone(), 0));
    region.double.set_rules(|rules| rules.memory = RequestMemory::Instance);
    let again = region.done("RegisterInstance", &mine);
    assert_ne!(again, submitted);
    region.double.finish_all();
    assert_eq!(region.listed(&service), ["one"]);
    assert_eq!(region.double.operations().len(), 2);
}

#[test]
fn a_service_is_updated_as_a_whole() {
    let region = Region::new();
    let both = region.service("both", &["A", "AAAA"]);
    region.double.change_service(&both, |own| own.description = Some("heritage=external-dns".to_owned()));
    let attributes = [("AWS_INSTANCE_IPV4", "192.0.2.1"), ("AWS_INSTANCE_IPV6", "2001:db8::1")];
    region.double.register(&both, "one", &attributes);
    let update = |description: Option<&str>, records: &[(&str, u32)]| {
        let records: Vec<Value> = records.iter().map(|(rtype, ttl)| json!({"Type": rtype, "TTL": ttl})).collect();
        json!({"Id": both, "Service": {"Description": description, "DnsConfig": {"DnsRecords": records}}})
    };
    let done = |input: &Value| {
        let submitted = region.done("UpdateService", input);
        region.double.finish_all();
        assert_eq!(region.status(&submitted), "SUCCESS");
        let own = region.double.services(&region.namespace).remove(0);
        (own.description, own.records.iter().map(|(rtype, ttl)| format!("{rtype} {ttl}")).collect::<Vec<_>>())
    };
    assert_eq!(
        done(&update(Some("mine"), &[("AAAA", 20), ("A", 10)])),
        (Some("mine".to_owned()), vec!["A 10".to_owned(), "AAAA 20".to_owned()])
    );
    assert_eq!(region.served(), ["both.example.net. 10 A 192.0.2.1", "both.example.net. 20 AAAA 2001:db8::1"]);
    let found = region.refused("UpdateService", &update(None, &[("SRV", 10)]));
    assert!(found.starts_with("400 InvalidInput: The record type SRV cannot be added"), "{found}");
    region.done("UpdateService", &update(Some("mine"), &[("A", 10), ("AAAA", 30)]));
    let found = region.refused("UpdateService", &update(Some("mine"), &[("A", 11), ("AAAA", 30)]));
    assert!(found.starts_with("400 DuplicateRequest: Another operation of type UpdateService"), "{found}");
    region.double.finish_all();
    region.double.set_rules(|rules| rules.omitted_records = OmittedRecords::Refused);
    assert!(region.refused("UpdateService", &update(None, &[("A", 10)])).ends_with("is missing"));
    region.double.set_rules(|rules| {
        rules.omitted_records = OmittedRecords::Kept;
        rules.keeps_description = true;
    });
    assert_eq!(
        done(&update(None, &[("A", 12)])),
        (Some("mine".to_owned()), vec!["A 12".to_owned(), "AAAA 30".to_owned()])
    );
    region.double.set_rules(|rules| {
        rules.omitted_records = OmittedRecords::Deleted;
        rules.keeps_description = false;
    });
    // What is left out is deleted, and DNS loses it.
    assert_eq!(done(&update(None, &[("AAAA", 5)])), (None, vec!["AAAA 5".to_owned()]));
    assert_eq!(region.served(), ["both.example.net. 5 AAAA 2001:db8::1"]);
}

#[test]
fn what_has_something_in_it_is_not_deleted() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    let (id, space) = (json!({"Id": service}), json!({"Id": region.namespace}));
    let submitted = region.register(&service, "one", "192.0.2.1");
    let words = "400 ResourceInUse: Service contains registered instances; delete the instances before deleting the \
                 service";
    assert_eq!(region.refused("DeleteService", &id), words);
    region.double.finish_all();
    assert_eq!((region.refused("DeleteService", &id).as_str(), region.status(&submitted).as_str()), (words, "SUCCESS"));
    assert!(region.refused("DeleteNamespace", &space).starts_with("400 ResourceInUse: "));
    region.double.deregister(&service, "one");
    assert_eq!(region.done("DeleteService", &id), json!({}));
    assert!(region.refused("DeleteService", &id).starts_with("400 ServiceNotFound: "));
    let submitted = region.done("DeleteNamespace", &space);
    assert!(region.refused("DeleteNamespace", &space).starts_with("400 DuplicateRequest: "));
    // A service that comes in between keeps the namespace.
    let late = region.service("late", &["A"]);
    region.double.finish_all();
    assert_eq!((region.status(&submitted).as_str(), region.double.namespaces().len()), ("FAIL", 1));
    region.double.delete_service(&late);
    let submitted = region.done("DeleteNamespace", &space);
    region.double.finish_all();
    assert_eq!((region.status(&submitted).as_str(), region.double.namespaces().len()), ("SUCCESS", 0));
    assert!(region.refused("GetNamespace", &space).starts_with("400 NamespaceNotFound: "));
}

#[test]
fn namespaces_are_created_later() {
    let region = Region::new();
    let private = json!({"Name": "example.org", "Vpc": "vpc-1", "CreatorRequestId": "c"});
    let submitted = region.done("CreatePrivateDnsNamespace", &private);
    assert_eq!(region.double.namespaces().len(), 1);
    assert_eq!(region.done("CreatePrivateDnsNamespace", &private), submitted);
    let other = json!({"Name": "Example.org", "Vpc": "vpc-1"});
    assert!(region.refused("CreatePrivateDnsNamespace", &other).starts_with("400 DuplicateRequest: "));
    region.double.finish_all();
    let found = region.refused("CreatePrivateDnsNamespace", &other);
    assert_eq!(found, "400 NamespaceAlreadyExists: Namespace already exists.");
    // Another network, and the public one, are other namespaces of the same name.
    region.done("CreatePrivateDnsNamespace", &json!({"Name": "example.org", "Vpc": "vpc-2"}));
    let properties = json!({"DnsProperties": {"SOA": {"TTL": 60}}});
    region.done("CreatePublicDnsNamespace", &json!({"Name": "example.org", "Properties": properties}));
    region.done("CreateHttpNamespace", &json!({"Name": "example"}));
    region.double.finish_all();
    let listed = region.done("ListNamespaces", &json!({}));
    assert_eq!(
        texts(&listed["Namespaces"], "Type"),
        ["DNS_PRIVATE", "DNS_PRIVATE", "DNS_PRIVATE", "DNS_PUBLIC", "HTTP"]
    );
    let public = &listed["Namespaces"][3];
    assert_eq!(public["Properties"]["DnsProperties"]["SOA"]["TTL"], 60);
    assert!(public["Properties"]["DnsProperties"]["HostedZoneId"].is_string());
    assert!(public["Arn"].as_str().is_some_and(|arn| arn.starts_with("arn:aws:servicediscovery:eu-central-1:")));
    let shown = region.done("GetNamespace", &json!({"Id": public["Arn"]}));
    assert_eq!(shown["Namespace"]["Id"], public["Id"]);
    assert!(region.refused("CreatePublicDnsNamespace", &json!({"Name": "local"})).contains("Member must satisfy"));
    assert!(region.refused("CreatePrivateDnsNamespace", &json!({"Name": "x", "Vpc": "x"})).contains("VPC"));
    region.double.set_rules(|rules| rules.max_namespaces = 5);
    let found = region.refused("CreateHttpNamespace", &json!({"Name": "more"}));
    assert!(found.starts_with("400 ResourceLimitExceeded: "), "{found}");
}

#[test]
fn there_are_so_many_instances_in_a_service() {
    let region = Region::new();
    let (one, other) = (region.service("one", &["A"]), region.service("other", &["A"]));
    for n in 0..999 {
        region.double.register(&one, &format!("i{n}"), &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    }
    let full = |service: &str, id: &str| {
        region.refused("RegisterInstance", &registration(service, id, &json!({"AWS_INSTANCE_IPV4": "192.0.2.1"})))
    };
    // The last one counts while its operation runs.
    region.register(&one, "last", "192.0.2.1");
    assert!(full(&one, "more").starts_with("400 ResourceLimitExceeded: The service "));
    region.double.finish_all();
    assert!(full(&one, "more").starts_with("400 ResourceLimitExceeded: The service "));
    // One that is there can be overwritten.
    region.register(&one, "i7", "192.0.2.7");
    region.double.finish_all();
    region.double.set_rules(|rules| rules.max_namespace_instances = 1_001);
    region.register(&other, "first", "192.0.2.1");
    assert!(full(&other, "second").starts_with("400 ResourceLimitExceeded: The namespace "));
    region.double.deregister(&one, "i7");
    region.register(&other, "second", "192.0.2.1");
}

#[test]
fn listings_come_in_pages_that_are_filtered_after_they_are_cut() {
    let region = Region::new();
    let other = region.double.create_namespace("example.org", NamespaceKind::Public);
    for n in 0..230 {
        let namespace = if n < 200 { &other } else { &region.namespace };
        region.double.create_service(namespace, &format!("s{n}"), &[("A", 60)], None);
    }
    let pages = |operation: &str, member: &str, input: Value| {
        let (mut input, mut sizes) = (input, Vec::new());
        loop {
            let page = region.done(operation, &input);
            sizes.push(page[member].as_array().expect("a list").len());
            match page.get("NextToken") {
                Some(token) => input["NextToken"] = token.clone(),
                None => return sizes,
            }
        }
    };
    let of = |namespace: &str| json!({"Filters": [{"Name": "NAMESPACE_ID", "Values": [namespace]}]});
    assert_eq!(pages("ListServices", "Services", json!({})), [100, 100, 30]);
    // Pages without a service have more behind them.
    assert_eq!(pages("ListServices", "Services", of(&region.namespace)), [0, 0, 30]);
    assert_eq!(pages("ListServices", "Services", of(&other)), [100, 100, 0]);
    assert_eq!(pages("ListServices", "Services", of("ns-none")), [0, 0, 0]);
    let mut few = of(&other);
    few["MaxResults"] = json!(99);
    assert_eq!(pages("ListServices", "Services", few), [99, 99, 2]);
    let first = region.done("ListServices", &json!({"MaxResults": 1}));
    assert!(first["Services"][0].get("NamespaceId").is_none() && first["Services"][0]["Type"] == "DNS_HTTP");

    let service = region.double.services(&region.namespace).remove(0).id;
    for n in 0..250 {
        region.double.register(&service, &format!("i{n}"), &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    }
    assert_eq!(pages("ListInstances", "Instances", json!({"ServiceId": service})), [100, 100, 50]);
    let seven = json!({"ServiceId": service, "MaxResults": 7});
    assert_eq!(pages("ListInstances", "Instances", seven).len(), 36);
    // What is removed between two pages moves nothing.
    let page = region.done("ListInstances", &json!({"ServiceId": service}));
    region.double.deregister(&service, "i0");
    let rest = region.done("ListInstances", &json!({"ServiceId": service, "NextToken": page["NextToken"]}));
    assert_eq!(rest["Instances"].as_array().map(Vec::len), Some(100));

    let named = |name: &str, value: &str, condition: &str| {
        let filter = json!({"Name": name, "Values": [value], "Condition": condition});
        texts(&region.done("ListNamespaces", &json!({"Filters": [filter]}))["Namespaces"], "Name")
    };
    assert_eq!(named("NAME", "example.org", "EQ"), ["example.org"]);
    assert_eq!(named("NAME", "example.", "BEGINS_WITH").len(), 2);
    assert_eq!(named("TYPE", "DNS_PRIVATE", "EQ"), ["example.net"]);
    assert_eq!(named("RESOURCE_OWNER", "OTHER_ACCOUNTS", "EQ"), [""; 0]);
    for filter in [
        json!({"Name": "NAME", "Values": ["a", "b"]}),
        json!({"Name": "NAME", "Values": []}),
        json!({"Name": "NAME", "Values": ["a"], "Condition": "BETWEEN"}),
        json!({"Name": "RESOURCE_OWNER", "Values": ["S"], "Condition": "BEGINS_WITH"}),
    ] {
        assert!(region.refused("ListNamespaces", &json!({"Filters": [filter]})).starts_with("400 InvalidInput: "));
    }
}

#[test]
fn listings_can_show_what_is_not_done() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.register(&service, "old", &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    region.double.set_rules(|rules| rules.shown = ListingMoment::Submitted);
    region.double.plan_failure(FailurePlan::next("RegisterInstance", "THROTTLED_REQUEST"));
    region.register(&service, "new", "192.0.2.2");
    region.done("DeregisterInstance", &json!({"ServiceId": service, "InstanceId": "old"}));
    assert_eq!(region.listed(&service), ["new"]);
    assert_eq!(region.served(), ["web.example.net. 300 A 192.0.2.1"]);
    region.double.finish_all();
    assert_eq!((region.listed(&service), region.served()), (Vec::new(), Vec::new()));
}

#[test]
fn dns_serves_what_is_registered() {
    let region = Region::new();
    let srv = region.service("_http._tcp", &["SRV"]);
    region.double.register(&srv, "Web-1", &[("AWS_INSTANCE_IPV4", "192.0.2.1"), ("AWS_INSTANCE_PORT", "80")]);
    region.double.register(&srv, "web-2", &[("AWS_INSTANCE_IPV6", "2001:db8::2"), ("AWS_INSTANCE_PORT", "81")]);
    let name = region.service("www", &["CNAME"]);
    region.double.register(&name, "one", &[("AWS_INSTANCE_CNAME", "B.example.org")]);
    region.double.register(&name, "two", &[("AWS_INSTANCE_CNAME", "a.example.org.")]);
    let many = region.service("Many", &["A"]);
    for n in 1..=12 {
        region.double.register(&many, &format!("i{n}"), &[("AWS_INSTANCE_IPV4", &format!("192.0.2.{n}"))]);
    }
    region.double.set_health(&many, "i12", false);
    let served = region.served();
    assert_eq!(
        served,
        [
            "_http._tcp.example.net. 300 SRV 1 1 80 web-1._http._tcp.example.net.,1 1 81 web-2._http._tcp.example.net.",
            "many.example.net. 300 A 192.0.2.1,192.0.2.10,192.0.2.11,192.0.2.2,192.0.2.3,192.0.2.4,192.0.2.5,192.0.2.6,\
             192.0.2.7,192.0.2.8,192.0.2.9",
            "web-1._http._tcp.example.net. 300 A 192.0.2.1",
            "web-2._http._tcp.example.net. 300 AAAA 2001:db8::2",
            "www.example.net. 300 CNAME a.example.org.,b.example.org.",
        ]
    );
    let many_set = region.double.rrset(&region.namespace, "many.example.net.", "A").expect("it is there");
    assert_eq!((many_set.routing, many_set.answer(0).len()), (MapRouting::MultiValue, 8));
    assert_ne!(many_set.answer(0), many_set.answer(3));
    let www = region.double.rrset(&region.namespace, "www.example.net.", "CNAME").expect("it is there");
    assert_eq!((www.answer(0), www.answer(1)), (vec!["a.example.org.".to_owned()], vec!["b.example.org.".to_owned()]));
    // Where no instance is healthy, all are answered.
    (1..=11).for_each(|n| region.double.set_health(&many, &format!("i{n}"), false));
    let many_set = region.double.rrset(&region.namespace, "many.example.net.", "A").expect("it is there");
    assert_eq!(many_set.values.len(), 12);
    // A health check that others do may begin with an instance that is not well.
    let request = json!({
        "Name": "checked", "NamespaceId": region.namespace, "HealthCheckCustomConfig": {},
        "DnsConfig": {"DnsRecords": [{"Type": "A", "TTL": 5}]},
    });
    let checked = region.done("CreateService", &request)["Service"]["Id"].as_str().expect("a text").to_owned();
    for (id, health) in [("good", "HEALTHY"), ("bad", "UNHEALTHY")] {
        let address = if id == "good" { "192.0.2.1" } else { "192.0.2.2" };
        let attributes = json!({"AWS_INSTANCE_IPV4": address, "AWS_INIT_HEALTH_STATUS": health});
        region.done("RegisterInstance", &registration(&checked, id, &attributes));
    }
    region.double.finish_all();
    let set = region.double.rrset(&region.namespace, "checked.example.net.", "A").expect("it is there");
    assert_eq!((set.ttl, set.values), (5, vec!["192.0.2.1".to_owned()]));
    // Two instances with one address are one RR.
    region.double.register(&many, "again", &[("AWS_INSTANCE_IPV4", "192.0.2.1")]);
    let many_set = region.double.rrset(&region.namespace, "many.example.net.", "A").expect("it is there");
    assert_eq!(many_set.values, ["192.0.2.1"]);
}

#[test]
fn rights_and_rates_are_those_of_the_account() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.set_rules(|rules| rules.deny("RegisterInstance"));
    let request = registration(&service, "one", &json!({"AWS_INSTANCE_IPV4": "192.0.2.1"}));
    let words = "400 AccessDeniedException: User: arn:aws:iam::123456789012:user/double is not authorized to perform: \
                 servicediscovery:RegisterInstance on resource: ";
    assert!(region.refused("RegisterInstance", &request).starts_with(words));
    region.done("ListInstances", &json!({"ServiceId": service}));
    region.double.set_rules(|rules| {
        rules.denied_actions.clear();
        rules.allowed_actions = Some(["servicediscovery:GetService".to_owned()].into());
    });
    region.done("GetService", &json!({"Id": service}));
    assert!(region.refused("ListServices", &json!({})).starts_with("400 AccessDeniedException: "));
    region.clock.fetch_add(1, Ordering::SeqCst);
    region.double.set_rules(|rules| rules.requests_a_second = Some(2));
    (0..2).for_each(|_| drop(region.done("GetService", &json!({"Id": service}))));
    assert_eq!(region.refused("GetService", &json!({"Id": service})), "400 ThrottlingException: Rate exceeded");
    region.double.set_rules(|rules| {
        rules.throttle_answer = MapThrottle::RequestLimitExceeded;
        rules.error_statuses = ErrorStatuses::OfModel;
    });
    assert_eq!(region.refused("GetService", &json!({"Id": service})), "429 RequestLimitExceeded: Rate exceeded");
    region.clock.fetch_add(1, Ordering::SeqCst);
    region.done("GetService", &json!({"Id": service}));
}

#[test]
fn faults_come_as_they_are_planned() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.set_rules(|rules| rules.settling = OperationSettling::AtOnce);
    let register = |id: &str| {
        let input = registration(&service, id, &json!({"AWS_INSTANCE_IPV4": "192.0.2.1"}));
        region.send("RegisterInstance", &input)
    };
    let count = || region.double.instances(&service).len();
    let plan = |kind: FaultKind| region.double.plan_fault(Fault::nth_of("RegisterInstance", 1, kind));
    plan(FaultKind::DropBefore);
    assert_eq!((register("a"), count()), (None, 0));
    plan(FaultKind::DropAfter);
    assert_eq!((register("a"), count()), (None, 1));
    for (kind, start) in [
        (FaultKind::FailBefore, "500 InternalFailure"),
        (FaultKind::Throttle, "400 ThrottlingException: Rate exceeded"),
        (FaultKind::TooManyRequests, "429 "),
        (FaultKind::Unavailable, "503 ServiceUnavailableException"),
        (FaultKind::ExpiredToken, "400 ExpiredTokenException: The security token"),
    ] {
        plan(kind);
        let found = error_of(&register("b").expect("an answer"));
        assert!(found.starts_with(start) && count() == 1, "{found}");
    }
    region.double.set_rules(|rules| rules.expired_answer = ExpiredAnswer::OfXml);
    plan(FaultKind::ExpiredToken);
    assert!(error_of(&register("b").expect("an answer")).starts_with("403 ExpiredToken: "));
    plan(FaultKind::FailAfter);
    assert_eq!((register("b").expect("an answer").status, count()), (500, 2));
    plan(FaultKind::CutBody);
    assert!(register("c").expect("an answer").is_cut() && count() == 3);
    plan(FaultKind::Delay(Duration::from_secs(3)));
    assert_eq!(register("d").expect("an answer").delay, Duration::from_secs(3));
    // A copy is in the way of itself while the operation runs.
    region.double.set_rules(|rules| rules.settling = OperationSettling::Held);
    plan(FaultKind::TwiceLast);
    let found = error_of(&register("e").expect("an answer"));
    assert!(found.starts_with("400 DuplicateRequest: "), "{found}");
    let log = region.double.requests();
    let copies: Vec<_> = log.iter().filter(|entry| entry.fault == Some(FaultKind::TwiceLast)).collect();
    assert_eq!((copies.len(), copies[0].number == copies[1].number), (2, true));
    assert_eq!(copies[0].operation_id.is_some(), copies[1].operation_id.is_none());
    region.double.finish_all();
    region.double.plan_fault(Fault::nth(1, FaultKind::HalfPage));
    region.double.plan_fault(Fault::nth(2, FaultKind::LostItems));
    let pages = [(); 3].map(|()| {
        let page = region.done("ListInstances", &json!({"ServiceId": service}));
        (page["Instances"].as_array().map(Vec::len), page.get("NextToken").is_some())
    });
    assert_eq!(pages, [(Some(3), true), (Some(2), false), (Some(5), false)]);
}

#[test]
fn the_log_is_the_truth() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    region.double.register(&service, "theirs", &[("AWS_INSTANCE_IPV4", "192.0.2.9")]);
    let submitted = region.register(&service, "mine", "192.0.2.1");
    let refused = region.refused("GetService", &json!({"Id": "srv-none"}));
    assert!(refused.starts_with("400 ServiceNotFound"));
    region.double.finish_all();
    let log = region.double.requests();
    let shown: Vec<String> = log
        .iter()
        .map(|entry| format!("{} {} {}", entry.number, entry.operation, entry.code.as_deref().unwrap_or("-")))
        .collect();
    assert_eq!(
        shown,
        [
            "0 Editor -",
            "0 Editor -",
            "0 Editor -",
            "1 RegisterInstance -",
            "2 GetService ServiceNotFound",
            "1 Settled -"
        ]
    );
    assert_eq!((log[3].subject.as_ref(), log[3].instance.as_deref()), (Some(&service), Some("mine")));
    assert_eq!((log[3].operation_id.as_deref(), log[3].changes.len()), (submitted["OperationId"].as_str(), 0));
    assert_eq!((&log[5].operation_id, log[5].changes.len()), (&log[3].operation_id, 1));
    assert_eq!((region.double.count(EDITOR), region.double.count("RegisterInstance")), (3, 1));
}

#[test]
fn another_editor_comes_between_two_requests() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    let own = service.clone();
    region.double.edit_before("ListInstances", 2, move |double| {
        double.register(&own, "theirs", &[("AWS_INSTANCE_IPV4", "192.0.2.9")]);
    });
    let own = service.clone();
    region.double.edit_before("RegisterInstance", 1, move |double| drop(double.begin_deregister(&own, "theirs")));
    assert_eq!(region.listed(&service), [""; 0]);
    assert_eq!(region.listed(&service), ["theirs"]);
    let input = registration(&service, "theirs", &json!({"AWS_INSTANCE_IPV4": "192.0.2.1"}));
    let answer = region.send("RegisterInstance", &input).expect("an answer");
    assert!(error_of(&answer).starts_with("400 DuplicateRequest: Another operation of type DeregisterInstance"));
    assert_eq!(region.listed(&service), ["theirs"]);
}

#[test]
fn one_of_many_writers_is_taken() {
    let region = Region::new();
    let service = region.service("web", &["A"]);
    for round in 0..20 {
        let write = |writer: u32| {
            let input = registration(&service, "one", &json!({"AWS_INSTANCE_IPV4": format!("192.0.2.{writer}")}));
            region.send("RegisterInstance", &input).expect("an answer").status
        };
        let statuses: Vec<u16> = thread::scope(|scope| {
            let writers: Vec<_> = (0..12).map(|writer| scope.spawn(move || write(writer))).collect();
            writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{round}: {statuses:?}");
        region.double.finish_all();
    }
}

/// What the double thinks of short texts: for each pattern, those that fit and those that do not.
fn judged_texts() -> Value {
    let letters = ["a", "Z", "0", "-", "_", ".", "/", "*", "~", " ", "\t", "ä", "arn:", "x.y", "-x"];
    let long = [63, 64, 126, 127, 128].map(|length| "x".repeat(length));
    let pairs = letters.iter().flat_map(|first| letters.iter().map(move |second| format!("{first}{second}")));
    let texts: Vec<String> =
        [String::new()].into_iter().chain(pairs).chain(long).chain(letters.map(str::to_owned)).collect();
    let judged = ModelPattern::ALL.map(|pattern| {
        let (good, bad): (Vec<&String>, Vec<&String>) = texts.iter().partition(|text| pattern.fits(text));
        json!({"pattern": pattern.text(), "good": good, "bad": bad})
    });
    json!(judged)
}

/// A double on the clock of the machine and a server in front of it.
fn served(rules: impl FnOnce(&mut CloudMapRules), skew: i64) -> (Arc<CloudMapDouble>, DoubleServer) {
    let double = Arc::new(CloudMapDouble::new(REGION, KEY, move || now() + skew));
    double.add_key("ASIASESSION", "session secret", Some("session/token=="));
    double.add_key("ASIAEXPIRED", "old secret", Some("old token"));
    double.expire_key("ASIAEXPIRED");
    double.set_rules(rules);
    let server = DoubleServer::start(Arc::clone(&double));
    (double, server)
}

#[test]
fn botocore_is_answered_as_by_cloud_map() {
    let python = support::root().join("target/cloud-clients/bin/python");
    if !Command::new(&python).args(["-c", "import botocore"]).output().is_ok_and(|output| output.status.success()) {
        return support::skip("botocore is not installed under target/cloud-clients");
    }
    let (main, main_server) = served(|_| {}, 0);
    let strict = |rules: &mut CloudMapRules| {
        rules.error_statuses = ErrorStatuses::OfModel;
        rules.error_types = ErrorTypeForm::Namespaced;
        rules.max_instances = 3;
    };
    let (_strict, strict_server) = served(strict, 0);
    let (_denied, denied_server) = served(|rules| rules.deny("RegisterInstance"), 0);
    let (_late, late_server) = served(|_| {}, 3600);
    let (faulty, faulty_server) = served(|_| {}, 0);
    let kinds = [
        FaultKind::Throttle,
        FaultKind::Unavailable,
        FaultKind::ExpiredToken,
        FaultKind::TooManyRequests,
        FaultKind::DropBefore,
        FaultKind::CutBody,
        FaultKind::FailAfter,
    ];
    for (kind, n) in kinds.into_iter().zip(1..) {
        faulty.plan_fault(Fault::nth(n, kind));
    }
    let servers = json!({
        "main": main_server.url(),
        "strict": strict_server.url(),
        "denied": denied_server.url(),
        "late": late_server.url(),
        "faulty": faulty_server.url(),
        "region": REGION,
        "key": KEY.0,
        "secret": KEY.1,
        "model": written_model(),
        "texts": judged_texts(),
    });
    let script = support::root().join("tests/doubles/check_cloudmap.py");
    let output = Command::new(python).arg(script).arg(servers.to_string()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    // What the requests did is in the log, and all that was created is gone.
    assert_eq!((main.namespaces(), main.operations().iter().filter(|own| own.end.is_none()).count()), (vec![], 0));
    let log = main.requests();
    let ends = log.iter().filter(|entry| entry.operation == SETTLED).count();
    assert!(ends > 250 && ends == main.operations().len(), "{ends} ends");
    let requests = log.iter().filter(|entry| entry.operation != SETTLED);
    requests.for_each(|entry| assert_eq!(entry.status < Some(400), entry.code.is_none(), "{entry:?}"));
}
