//! The double of Azure DNS is as strict as it must be: its rules one by one, and what the service's own clients, which
//! share no code with it, make of its answers.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::doubles::azure::guid::guid;
use super::doubles::azure::log::EDITOR;
use super::doubles::azure::rules::{AzureKind, AzureRates, AzureRules, GoneAnswer, ThrottleAnswer};
use super::doubles::azure::set::AzureRecordSet;
use super::doubles::azure::{AzureDouble, AzureZoneId, GROUP, SUBSCRIPTION};
use super::doubles::faults::{Fault, FaultKind};
use super::doubles::http::DoubleServer;
use super::doubles::{DoubleAnswer, DoubleRequest};
use super::{now, support, text};

/// A double with one zone, without tokens and rates, and the clock that it sees.
struct Subscription {
    /// The double.
    double: Arc<AzureDouble>,
    /// Which service it is.
    kind: AzureKind,
    /// Its zone, example.net.
    zone: AzureZoneId,
    /// Seconds since the epoch.
    clock: Arc<AtomicI64>,
}

/// The condition of a write: a header and its value.
type Condition<'c> = &'c [(&'c str, &'c str)];

impl Subscription {
    fn new(kind: AzureKind) -> Self {
        let clock = Arc::new(AtomicI64::new(1_795_000_000));
        let seen = Arc::clone(&clock);
        let double = Arc::new(AzureDouble::new(kind, move || seen.load(Ordering::SeqCst)));
        double.set_rules(|rules| {
            rules.checks_token = false;
            rules.rates = None;
        });
        let zone = double.create_zone("example.net");
        Self { double, kind, zone, clock }
    }

    fn public() -> Self {
        Self::new(AzureKind::Public)
    }

    /// Sends a request to a path below the zone.
    fn send(&self, method: &str, below: &str, headers: Condition<'_>, body: Option<&Value>) -> Option<DoubleAnswer> {
        let separator = if below.contains('?') { '&' } else { '?' };
        let version = self.kind.api_version();
        self.send_to(method, &format!("{}{below}{separator}api-version={version}", self.zone.path), headers, body)
    }

    /// Sends a request to any target.
    fn send_to(
        &self,
        method: &str,
        target: &str,
        headers: Condition<'_>,
        body: Option<&Value>,
    ) -> Option<DoubleAnswer> {
        let mut headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("host".to_owned(), "management.azure.com".to_owned()));
        if body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        self.double.answer(&DoubleRequest { method: method.to_owned(), target: target.to_owned(), headers, body })
    }

    fn get(&self, below: &str) -> DoubleAnswer {
        self.send("GET", below, &[], None).expect("an answer")
    }

    /// Writes a record set, given by its properties.
    fn put(&self, below: &str, properties: Value, headers: Condition<'_>) -> DoubleAnswer {
        let body = json!({"properties": properties});
        self.send("PUT", below, headers, Some(&body)).expect("an answer")
    }

    /// Writes an A record set.
    fn put_a(&self, name: &str, address: &str, headers: Condition<'_>) -> DoubleAnswer {
        let properties = match self.kind {
            AzureKind::Public => json!({"TTL": 300, "ARecords": [{"ipv4Address": address}]}),
            AzureKind::Private => json!({"ttl": 300, "aRecords": [{"ipv4Address": address}]}),
        };
        self.put(&format!("/A/{name}"), properties, headers)
    }

    fn delete(&self, below: &str, headers: Condition<'_>) -> DoubleAnswer {
        self.send("DELETE", below, headers, None).expect("an answer")
    }

    /// Writes what must be refused, and says with which status, code and message. Nothing changes.
    fn refused(&self, below: &str, properties: &Value) -> String {
        let before = self.double.record_sets(&self.zone);
        let answer = self.put(below, properties.clone(), &[]);
        assert_eq!(self.double.record_sets(&self.zone), before, "{below} {properties}");
        assert!(answer.status >= 400, "{below} {properties}");
        error_of(&answer)
    }

    /// The names and types of the zone, without those of the apex that every zone has.
    fn names(&self) -> Vec<String> {
        let sets = self.double.record_sets(&self.zone).into_iter();
        let own = sets.filter(|set| !["SOA", "NS"].contains(&set.rtype.as_str()));
        own.map(|set| format!("{} {}", set.name, set.rtype)).collect()
    }
}

/// The JSON of an answer.
fn json_of(answer: &DoubleAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{} has JSON: {}", answer.status, text(answer)))
}

/// The etag of an answer, which is in its header, too.
fn etag_of(answer: &DoubleAnswer) -> String {
    let etag = json_of(answer)["etag"].as_str().expect("a set has an etag").to_owned();
    assert_eq!(answer.header("etag"), Some(etag.as_str()));
    etag
}

/// Status, code and message of an error, in both forms.
fn error_of(answer: &DoubleAnswer) -> String {
    if answer.body.is_empty() {
        return format!("{} ", answer.status);
    }
    let body = json_of(answer);
    let error = if body["error"].is_object() { &body["error"] } else { &body };
    let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    format!("{} {}: {}", answer.status, part("code"), part("message"))
}

#[test]
fn guids_differ() {
    let mut all: Vec<String> = (0..5_000).map(guid).collect();
    assert!(all.iter().all(|guid| guid.len() == 36 && guid.as_bytes()[14] == b'4'));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 5_000);
}

#[test]
fn record_sets_of_all_types_are_kept_and_shown_as_written() {
    let long = "x".repeat(255);
    let public = [
        ("A", "ARecords", json!([{"ipv4Address": "192.0.2.1"}, {"ipv4Address": "192.0.2.2"}])),
        ("AAAA", "AAAARecords", json!([{"ipv6Address": "2001:0DB8::a"}])),
        ("CAA", "caaRecords", json!([{"flags": 0, "tag": "issue", "value": "ca.example"}])),
        ("CNAME", "CNAMERecord", json!({"cname": "other.example.org"})),
        ("MX", "MXRecords", json!([{"preference": 10, "exchange": "mail.example.net"}])),
        ("NS", "NSRecords", json!([{"nsdname": "ns1.example.org."}])),
        ("PTR", "PTRRecords", json!([{"ptrdname": "host.example.net"}])),
        ("SRV", "SRVRecords", json!([{"priority": 1, "weight": 2, "port": 443, "target": "a.example.net"}])),
        ("TXT", "TXTRecords", json!([{"value": ["one", "two \"x\" \\"]}, {"value": [long]}])),
    ];
    let fields = |subscription: &Subscription, rtype: &str, field: &str, records: &Value| {
        let ttl = if subscription.kind == AzureKind::Public { "TTL" } else { "ttl" };
        let path = format!("/{rtype}/d.{}", rtype.to_ascii_lowercase());
        let answer = subscription.put(&path, json!({ttl: 300, field: records}), &[]);
        assert_eq!(answer.status, 201, "{rtype}: {}", text(&answer));
        let shown = json_of(&subscription.get(&path));
        assert_eq!((&shown["properties"][field], &shown["properties"][ttl]), (records, &json!(300)));
        let name = path[1..].split_once('/').expect("a name").1;
        assert_eq!(shown["properties"]["fqdn"], json!(format!("{name}.example.net.")));
        assert_eq!(shown["id"], json!(format!("{}{path}", subscription.zone.path)));
        etag_of(&subscription.get(&path));
    };
    let (one, other) = (Subscription::public(), Subscription::new(AzureKind::Private));
    for (rtype, field, records) in &public {
        fields(&one, rtype, field, records);
        if !["CAA", "NS"].contains(rtype) {
            let field = field.replacen(rtype, &rtype.to_ascii_lowercase(), 1);
            fields(&other, rtype, &field, records);
        }
    }
    let set = one.double.record_sets(&one.zone).into_iter().find(|set| set.rtype == "SRV");
    assert_eq!(set.expect("it is there").values(), ["1 2 443 a.example.net"]);
    // A private zone has no NS and no CAA, and the names of one service are unknown to the other one.
    for (path, properties) in [
        ("/NS/a", json!({"ttl": 1, "nsRecords": [{"nsdname": "ns1.example.org"}]})),
        ("/CAA/a", json!({"ttl": 1})),
        ("/A/a/b", json!({"ttl": 1})),
    ] {
        assert!(other.refused(path, &properties).starts_with("404 InvalidResourceType: "), "{path}");
    }
    let a = json!([{"ipv4Address": "192.0.2.1"}]);
    for properties in [json!({"TTL": 1, "aRecords": a}), json!({"ttl": 1, "ARecords": a}), json!({"Ttl": 1})] {
        assert_eq!(other.refused("/A/a", &properties), "400 BadRequest: The request was invalid.");
        assert_eq!(one.refused("/A/a", &properties), "400 BadRequest: The request was invalid.");
    }
}

#[test]
fn bodies_that_are_wrong_are_refused() {
    let subscription = Subscription::public();
    let invalid = "The request was invalid.";
    let a = |addresses: &[&str]| -> Value {
        json!({"TTL": 300, "ARecords": addresses.iter().map(|text| json!({"ipv4Address": text})).collect::<Vec<_>>()})
    };
    let many: Vec<String> = (0..21).map(|n| format!("192.0.2.{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let txt = |strings: &[&str]| -> Value {
        let records: Vec<Value> = strings.iter().map(|text| json!({"value": [text]})).collect();
        json!({"TTL": 1, "TXTRecords": records})
    };
    let long: Vec<String> = (0..17).map(|n| format!("{n:02}{}", "x".repeat(239))).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let pairs = |count: usize| -> Value {
        (0..count).map(|n| (format!("k{n}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
    };
    let with_metadata = |metadata: Value| json!({"TTL": 1, "metadata": metadata});
    let table = [
        ("/A/a", json!({"ARecords": []}), invalid),
        ("/A/a", json!({"TTL": "300"}), invalid),
        ("/A/a", json!({"TTL": 0}), "The TTL '0' is invalid. It must be between 1 and 2147483647."),
        ("/A/a", json!({"TTL": 2_147_483_648_u32}), "The TTL '2147483648' is invalid."),
        ("/A/a", json!({"TTL": -1}), "The TTL '-1' is invalid."),
        ("/A/a", json!({"TTL": 1, "color": 1}), invalid),
        ("/A/a", json!({"TTL": 1, "AAAARecords": [{"ipv6Address": "2001:db8::1"}]}), invalid),
        ("/A/a", json!({"TTL": 1, "ARecords": {"ipv4Address": "192.0.2.1"}}), invalid),
        ("/A/a", json!({"TTL": 1, "ARecords": [{"ipv4address": "192.0.2.1"}]}), invalid),
        ("/A/a", json!({"TTL": 1, "ARecords": [{}]}), invalid),
        ("/A/a", json!({"TTL": 1, "ARecords": ["192.0.2.1"]}), invalid),
        ("/A/a", a(&["192.0.2.256"]), "The IP address '192.0.2.256' is invalid."),
        ("/A/a", a(&["2001:db8::1"]), "The IP address '2001:db8::1' is invalid."),
        ("/A/a", a(&["192.0.2.1", "192.0.2.1"]), "A record set may not have two identical records."),
        ("/A/a", a(&many), "A record set may not have more than 20 records."),
        (
            "/AAAA/a",
            json!({"TTL": 1, "AAAARecords": [{"ipv6Address": "2001:db8::1"}, {"ipv6Address": "2001:DB8:0::1"}]}),
            "A record set may not have two",
        ),
        ("/AAAA/a", json!({"TTL": 1, "AAAARecords": [{"ipv6Address": "fe80::1%1"}]}), "The IP address"),
        (
            "/CNAME/a",
            json!({"TTL": 1, "CNAMERecord": {"cname": "\"b.example.net\""}}),
            "The domain name '\"b.example.net\"' is invalid.",
        ),
        ("/CNAME/a", json!({"TTL": 1, "CNAMERecord": {"cname": ""}}), "The domain name '' is invalid."),
        ("/CNAME/a", json!({"TTL": 1, "CNAMERecord": [{"cname": "b"}]}), invalid),
        ("/PTR/a", json!({"TTL": 1, "PTRRecords": [{"ptrdname": "a..b"}]}), "The domain name 'a..b' is invalid."),
        (
            "/MX/a",
            json!({"TTL": 1, "MXRecords": [{"preference": 65_536, "exchange": "b"}]}),
            "The value '65536' must be",
        ),
        ("/MX/a", json!({"TTL": 1, "MXRecords": [{"exchange": "b"}]}), invalid),
        ("/SRV/a", json!({"TTL": 1, "SRVRecords": [{"priority": 1, "weight": 1, "port": -1, "target": "b"}]}), invalid),
        (
            "/CAA/a",
            json!({"TTL": 1, "caaRecords": [{"flags": 256, "tag": "issue", "value": "b"}]}),
            "The value '256' must be",
        ),
        ("/CAA/a", json!({"TTL": 1, "caaRecords": [{"flags": 0, "tag": "is sue", "value": "b"}]}), "The CAA tag"),
        ("/CAA/a", json!({"TTL": 1, "CAARecords": []}), invalid),
        ("/TXT/a", json!({"TTL": 1, "TXTRecords": [{"value": "plain"}]}), invalid),
        ("/TXT/a", json!({"TTL": 1, "TXTRecords": [{"value": []}]}), invalid),
        ("/TXT/a", txt(&[&"x".repeat(256)]), "is longer than 255 characters."),
        (
            "/TXT/a",
            txt(&long),
            "The combined length of all TXT records in a record set may not exceed 4096 characters.",
        ),
        ("/TXT/a", with_metadata(pairs(11)), "A record set may not have more than 10 metadata entries."),
        ("/TXT/a", with_metadata(json!({"k": 1})), invalid),
        ("/TXT/a", with_metadata(json!({"k": "x".repeat(257)})), "The metadata entry 'k' is invalid."),
        ("/A/a%20b", a(&["192.0.2.1"]), "The relative record set name 'a b' is invalid."),
        ("/A/a.", a(&["192.0.2.1"]), "The relative record set name 'a.' is invalid."),
        ("/A/a.*", a(&["192.0.2.1"]), "The relative record set name 'a.*' is invalid."),
        ("/A/*a", a(&["192.0.2.1"]), "The relative record set name '*a' is invalid."),
        ("/A/*.", a(&["192.0.2.1"]), "The relative record set name '*.' is invalid."),
        ("/A/a.@", a(&["192.0.2.1"]), "The relative record set name 'a.@' is invalid."),
        ("/A/%C3%A4", a(&["192.0.2.1"]), "The relative record set name 'ä' is invalid."),
        ("/NS/*", json!({"TTL": 1}), "Wildcard record sets of type 'NS' are not supported."),
        ("/SOA/a", json!({"TTL": 1}), "A record set of type 'SOA' can only be at the apex."),
        ("/SOA/@", json!({"TTL": 1, "SOARecord": {"host": "ns.example.org"}}), "The host of the SOA record cannot be"),
        (
            "/NS/@",
            json!({"TTL": 1, "NSRecords": [{"nsdname": "ns.example.org"}]}),
            "The name servers of Azure DNS cannot",
        ),
        (
            "/CNAME/@",
            json!({"TTL": 1, "CNAMERecord": {"cname": "b.example.org"}}),
            "A record set of type 'CNAME' cannot be",
        ),
    ];
    for (path, properties, message) in table {
        let found = subscription.refused(path, &properties);
        assert!(found.starts_with("400 BadRequest: ") && found.contains(message), "{message}: {found}");
    }
    for (media_type, body, start) in [
        ("application/json", "{", "400 InvalidRequestContent: "),
        ("application/json", "[]", "400 InvalidRequestContent: "),
        ("application/json", "{}", "400 BadRequest: "),
        ("application/json", "{\"Properties\":{\"TTL\":1}}", "400 BadRequest: "),
        ("text/plain", "{}", "415 UnsupportedMediaType: "),
    ] {
        let headers = vec![("content-type".to_owned(), media_type.to_owned())];
        let target = format!("{}/A/a?api-version=2018-05-01", subscription.zone.path);
        let request = DoubleRequest { method: "PUT".to_owned(), target, headers, body: body.as_bytes().to_vec() };
        let answer = subscription.double.answer(&request).expect("an answer");
        assert!(error_of(&answer).starts_with(start), "{body}: {}", text(&answer));
    }
    assert_eq!(subscription.names(), Vec::<String>::new());
}

#[test]
fn limits_have_edges_and_are_settings() {
    let subscription = Subscription::public();
    for name in ["*", "*.a", "_x._tcp", "a-b", "1", &"x".repeat(63), "@"] {
        assert_eq!(subscription.put_a(name, "192.0.2.1", &[]).status, 201, "{name}");
    }
    let strings: Vec<Value> = (0..16).map(|n| json!({"value": [format!("{n:02}{}", "x".repeat(253)), "x"]})).collect();
    for ttl in [1, i32::MAX] {
        let properties = json!({"TTL": ttl, "TXTRecords": strings});
        assert!(subscription.put("/TXT/long", properties, &[]).status < 300);
    }
    let twenty: Vec<Value> = (0..20).map(|n| json!({"ipv4Address": format!("192.0.2.{n}")})).collect();
    assert_eq!(subscription.put("/A/twenty", json!({"TTL": 1, "ARecords": twenty}), &[]).status, 201);
    subscription.double.set_rules(|rules| {
        rules.max_records_a_set = 19;
        rules.max_record_sets = 11;
        rules.max_txt_characters = 1_024;
        rules.allows_empty_sets = false;
    });
    let refused = |path: &str, properties: Value| subscription.refused(path, &properties);
    assert!(refused("/A/twenty", json!({"TTL": 1, "ARecords": twenty})).contains("more than 19 records"));
    assert!(refused("/TXT/long", json!({"TTL": 1, "TXTRecords": strings})).contains("may not exceed 1024"));
    assert_eq!(refused("/A/none", json!({"TTL": 1})), "400 BadRequest: The request was invalid.");
    let found = refused("/A/more", json!({"TTL": 1, "ARecords": [{"ipv4Address": "192.0.2.1"}]}));
    assert_eq!(found, "400 BadRequest: The zone 'example.net' may not have more than 11 record sets.");
    assert_eq!(subscription.put_a("a-b", "192.0.2.2", &[]).status, 200);
}

#[test]
fn conditions_of_writes_are_exact() {
    for kind in [AzureKind::Public, AzureKind::Private] {
        let subscription = Subscription::new(kind);
        let put = |address: &str, headers: Condition<'_>| subscription.put_a("a", address, headers);
        let failed = |answer: DoubleAnswer| {
            assert!(error_of(&answer).starts_with("412 PreconditionFailed: The condition "), "{}", text(&answer));
        };
        failed(put("192.0.2.1", &[("if-match", "*")]));
        failed(put("192.0.2.1", &[("if-match", &guid(7))]));
        let created = put("192.0.2.1", &[("if-none-match", "*")]);
        assert_eq!(created.status, 201);
        failed(put("192.0.2.1", &[("if-none-match", "*")]));
        // The same content makes a new etag.
        let first = etag_of(&created);
        let updated = put("192.0.2.1", &[("if-match", &first)]);
        let second = etag_of(&updated);
        assert!(updated.status == 200 && first != second);
        failed(put("192.0.2.2", &[("if-match", &first)]));
        failed(subscription.delete("/A/a", &[("if-match", &first)]));
        let quoted = format!("\"{second}\"");
        let third = etag_of(&put("192.0.2.2", &[("if-match", &quoted)]));
        // An empty header, and other values of If-None-Match, are no conditions.
        let last = etag_of(&put("192.0.2.3", &[("if-match", ""), ("if-none-match", &third)]));
        failed(put("192.0.2.4", &[("if-match", &last), ("if-none-match", "*")]));
        let body = json!({"properties": {"metadata": {"k": "v"}}});
        failed(subscription.send("PATCH", "/A/a", &[("if-match", &third)], Some(&body)).expect("an answer"));
        let patched = subscription.send("PATCH", "/A/a", &[("if-match", &last)], Some(&body)).expect("an answer");
        let before = last;
        let last = etag_of(&patched);
        assert_ne!(before, last);
        assert_eq!(subscription.delete("/A/A", &[("if-match", &last)]).status, 200);
        failed(subscription.delete("/A/a", &[("if-match", &last)]));
        assert_eq!(subscription.delete("/A/a", &[]).status, 204);
        subscription.double.set_rules(|rules| rules.delete_of_gone = GoneAnswer::NoContent);
        assert_eq!(subscription.delete("/A/a", &[("if-match", &last)]).status, 204);
        let missing = subscription.send("PATCH", "/A/a", &[], Some(&body)).expect("an answer");
        assert!(
            error_of(&missing).starts_with("404 NotFound: The resource record 'a' does not exist in resource group")
        );
        // The log has each write that took effect, and nothing else.
        let log = subscription.double.requests();
        let changes: Vec<_> = log.iter().flat_map(|entry| &entry.changes).collect();
        let values: Vec<String> = changes
            .iter()
            .map(|change| change.after.as_ref().map_or_else(String::new, |set| set.values().concat()))
            .collect();
        assert_eq!(values, ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.3", ""]);
        assert_eq!(changes[4].after.as_ref().expect("it was patched").metadata["k"], "v");
        assert_eq!(changes[5].before.as_ref().expect("it was there").etag, last);
    }
}

#[test]
fn of_several_writers_that_saw_the_same_one_has_its_way() {
    let subscription = Subscription::public();
    let mut etag = etag_of(&subscription.put_a("a", "192.0.2.1", &[]));
    for round in 0..20 {
        // Each odd round deletes and creates; the others replace.
        let is_gone = round % 2 == 1;
        if is_gone {
            assert_eq!(subscription.delete("/A/a", &[("if-match", &etag)]).status, 200);
        }
        let condition = if is_gone { ("if-none-match", "*") } else { ("if-match", etag.as_str()) };
        let write = |writer: u32| subscription.put_a("a", &format!("10.0.{round}.{writer}"), &[condition]).status;
        let statuses: Vec<u16> = thread::scope(|scope| {
            let write = &write;
            let writers: Vec<_> = (0..12).map(|writer| scope.spawn(move || write(writer))).collect();
            writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
        });
        let winners: Vec<usize> = (0..12).filter(|writer| statuses[*writer] < 300).collect();
        assert!(winners.len() == 1 && statuses.iter().filter(|status| **status == 412).count() == 11, "{statuses:?}");
        let shown = subscription.get("/A/a");
        let address = json!(format!("10.0.{round}.{}", winners[0]));
        assert_eq!(json_of(&shown)["properties"]["ARecords"][0]["ipv4Address"], address);
        etag = etag_of(&shown);
    }
    // Each change begins with what the one before it left: nothing is lost.
    let log = subscription.double.requests();
    let changes: Vec<_> = log.iter().flat_map(|entry| &entry.changes).collect();
    assert_eq!(changes.len(), 31);
    assert!(changes.windows(2).all(|pair| pair[0].after == pair[1].before));
}

#[test]
fn what_is_beside_a_cname_is_a_conflict() {
    for (kind, ttl, field) in [(AzureKind::Public, "TTL", "CNAMERecord"), (AzureKind::Private, "ttl", "cnameRecord")] {
        let subscription = Subscription::new(kind);
        let cname = json!({ttl: 1, field: {"cname": "b.example.org"}});
        subscription.put_a("a", "192.0.2.1", &[]);
        let found = subscription.refused("/CNAME/A", &cname);
        let words = "because another record with the same name already exists in this zone.";
        assert_eq!(found, format!("409 Conflict: The CNAME record could not be created {words}"));
        assert_eq!(subscription.put("/CNAME/c", cname.clone(), &[]).status, 201);
        assert_eq!(subscription.put("/CNAME/c", cname, &[]).status, 200);
        let answer = subscription.put_a("C", "192.0.2.1", &[]);
        let words = "because a CNAME record with the same name already exists in this zone.";
        assert_eq!(error_of(&answer), format!("409 Conflict: The record could not be created {words}"));
        // These errors are the service's own: they are not inside another object.
        assert_eq!(json_of(&answer)["code"], "Conflict");
        assert_eq!(subscription.names(), ["a A", "c CNAME"]);
    }
}

#[test]
fn the_apex_and_what_the_service_made_are_protected() {
    let subscription = Subscription::public();
    for path in ["/SOA/@", "/NS/@"] {
        let found = error_of(&subscription.delete(path, &[]));
        assert!(
            found.starts_with("400 BadRequest: ") && found.ends_with("with name '@' cannot be deleted."),
            "{found}"
        );
    }
    let mut servers = json_of(&subscription.get("/NS/@"))["properties"]["NSRecords"].clone();
    servers.as_array_mut().expect("a list").push(json!({"nsdname": "ns.example.org."}));
    assert_eq!(subscription.put("/NS/@", json!({"TTL": 60, "NSRecords": servers}), &[]).status, 200);
    let soa = json!({"TTL": 60, "SOARecord": {"email": "hostmaster.example.net", "minimumTTL": 30}});
    let answer = json_of(&subscription.put("/SOA/@", soa, &[]));
    let record = &answer["properties"]["SOARecord"];
    assert_eq!((&record["minimumTTL"], &record["refreshTime"]), (&json!(30), &json!(3_600)));
    let private = Subscription::new(AzureKind::Private);
    let soa = json!({"ttl": 60, "soaRecord": {"minimumTtl": 30}});
    assert_eq!(json_of(&private.put("/SOA/@", soa, &[]))["properties"]["soaRecord"]["minimumTtl"], 30);
    assert!(private.refused("/SOA/@", &json!({"ttl": 60, "soaRecord": {"minimumTTL": 30}})).starts_with("400 "));
    private.double.register(&private.zone, "vm", "10.0.0.4");
    let shown = json_of(&private.get("/A/vm"));
    assert_eq!(shown["properties"]["isAutoRegistered"], true);
    let a = json!({"ttl": 1, "aRecords": [{"ipv4Address": "10.0.0.5"}]});
    assert!(private.refused("/A/vm", &a).contains("'vm' is automatically registered and cannot be changed"));
    assert_eq!(private.delete("/A/vm", &[]).status, 400);
    let body = json!({"properties": {"ttl": 5}});
    assert_eq!(private.send("PATCH", "/A/vm", &[], Some(&body)).expect("an answer").status, 400);
    assert_eq!(private.names(), ["vm A"]);
}

#[test]
fn aliases_have_a_target_and_no_records() {
    let subscription = Subscription::public();
    let address =
        format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/web/providers/Microsoft.Network/publicIPAddresses/one");
    let alias = |id: &str| json!({"TTL": 60, "targetResource": {"id": id}});
    let answer = subscription.put("/A/front", alias(&address), &[]);
    assert_eq!((answer.status, &json_of(&answer)["properties"]["targetResource"]["id"]), (201, &json!(address)));
    assert_eq!(json_of(&answer)["properties"]["ARecords"], json!([]));
    subscription.put_a("a", "192.0.2.1", &[]);
    let own = |path: &str| format!("{}/{path}", subscription.zone.path);
    assert_eq!(subscription.put("/A/b", alias(&own("A/a")), &[]).status, 201);
    let both = json!({"TTL": 60, "targetResource": {"id": address}, "ARecords": [{"ipv4Address": "192.0.2.1"}]});
    for (path, properties, message) in [
        ("/A/c", both, "A record set cannot have both records and a target resource."),
        ("/TXT/c", alias(&address), "A record set of type 'TXT' cannot have a target resource."),
        ("/A/c", alias("one"), "The target resource 'one' is invalid."),
        ("/A/c", alias(&own("A/none")), "is invalid."),
        ("/A/c", alias(&own("A/c")), "is invalid."),
        ("/AAAA/c", alias(&own("A/a")), "is invalid."),
    ] {
        let found = subscription.refused(path, &properties);
        assert!(found.starts_with("400 BadRequest: ") && found.contains(message), "{message}: {found}");
    }
    // A set with records takes the place of an alias; a PATCH leaves the target as it is.
    let patch = json!({"properties": {"TTL": 5}});
    subscription.send("PATCH", "/A/b", &[], Some(&patch)).expect("an answer");
    let sets = subscription.double.record_sets(&subscription.zone);
    assert!(sets.iter().any(|set| set.name == "b" && set.ttl == 5 && set.target.is_some()));
    assert_eq!(subscription.put_a("b", "192.0.2.9", &[]).status, 200);
    assert_eq!(json_of(&subscription.get("/A/b"))["properties"]["targetResource"], json!({}));
    assert!(
        Subscription::new(AzureKind::Private)
            .refused("/A/c", &json!({"ttl": 1, "targetResource": {}}))
            .starts_with("400")
    );
}

/// The names of a page, and the target of the next one.
fn page_of(answer: &DoubleAnswer) -> (Vec<String>, Option<String>) {
    assert_eq!(answer.status, 200, "{}", text(answer));
    let body = json_of(answer);
    let name =
        |item: &Value| format!("{} {}", item["name"].as_str().expect("a name"), item["type"].as_str().expect("a type"));
    let names = body["value"].as_array().expect("a list").iter().map(name);
    let next =
        body["nextLink"].as_str().map(|link| link.strip_prefix("https://management.azure.com").expect("own host"));
    (names.map(|name| name.replace("Microsoft.Network/dnszones/", "")).collect(), next.map(str::to_owned))
}

#[test]
fn listings_are_in_pages_that_edits_do_not_shift() {
    let subscription = Subscription::public();
    let put =
        |name: &str| subscription.double.put(&subscription.zone, AzureRecordSet::new(name, "A", 1, &["192.0.2.1"]));
    for n in 0..250 {
        put(&format!("n{n:03}"));
    }
    subscription.double.put(&subscription.zone, AzureRecordSet::new("n000", "TXT", 1, &["text"]));
    for (path, count) in [("/recordsets", 253), ("/ALL", 253), ("/a", 250), ("/TXT?%24top=1", 1)] {
        let mut answer = subscription.get(path);
        let (mut names, mut next) = page_of(&answer);
        while let Some(target) = next {
            assert!(target.contains("api-version=2018-05-01&$skiptoken="), "{target}");
            answer = subscription.send_to("GET", &target, &[], None).expect("an answer");
            let (more, after) = page_of(&answer);
            names.extend(more);
            next = after;
        }
        assert_eq!(names.len(), count, "{path}");
    }
    let (names, next) = page_of(&subscription.get("/all?$top=3"));
    assert_eq!(names, ["@ NS", "@ SOA", "n000 A"]);
    // What is created before the next page is not in it, and what is deleted is skipped.
    put("a");
    subscription.double.remove(&subscription.zone, "n000", "TXT");
    let next = subscription.send_to("GET", &next.expect("more follow"), &[], None).expect("an answer");
    assert_eq!(page_of(&next).0, ["n001 A", "n002 A", "n003 A"]);
    assert_eq!(page_of(&subscription.get("/A?$recordsetnamesuffix=42")).0, ["n042 A", "n142 A", "n242 A"]);
    assert_eq!(page_of(&subscription.get("/A?$top=1000")).0.len(), 100);
    for query in ["?$top=0", "?$top=x", "?$skiptoken=zz", "?$filter=x", "?$top=1&$top=2"] {
        assert_eq!(subscription.get(&format!("/all{query}")).status, 400, "{query}");
    }
    subscription.double.plan_fault(Fault::nth(1, FaultKind::HalfPage));
    subscription.double.plan_fault(Fault::nth(2, FaultKind::LostItems));
    let pages = [(); 3].map(|()| page_of(&subscription.get("/all")));
    assert_eq!(
        pages.each_ref().map(|(names, next)| (names.len(), next.is_some())),
        [(50, true), (50, false), (100, true)]
    );
    let rest = subscription.send_to("GET", pages[0].1.as_deref().expect("more follow"), &[], None).expect("an answer");
    assert_eq!(page_of(&rest).0[0], pages[2].0[50]);
    assert_eq!(Subscription::new(AzureKind::Private).get("/recordsets").status, 404);
}

#[test]
fn paths_are_found_in_any_case_and_must_be_whole() {
    let subscription = Subscription::public();
    subscription.put_a("a", "192.0.2.1", &[]);
    let send = |target: &str| subscription.send_to("GET", target, &[], None).expect("an answer");
    let upper = subscription.zone.path.to_ascii_uppercase();
    let version = "api-version=2018-05-01";
    assert_eq!(send(&format!("{upper}/a/A?{version}")).status, 200);
    let path = &subscription.zone.path;
    let base = path.strip_suffix("/example.net").expect("the zone is last");
    for (target, start) in [
        (format!("{path}/A/a"), "400 MissingApiVersionParameter"),
        (format!("{path}/A/a?api-version=2024-06-01"), "400 NoRegisteredProviderFound"),
        (format!("{path}/B/a?{version}"), "404 InvalidResourceType"),
        (format!("{path}/A/?{version}"), "404 InvalidResourceType"),
        (format!("{}/A/a?{version}", path.replace("dnszones", "privateDnsZones")), "404 InvalidResourceType"),
        (format!("{}/A/a?{version}", path.replace(SUBSCRIPTION, &guid(9))), "404 SubscriptionNotFound"),
        (format!("{}/A/a?{version}", path.replace(GROUP, "none")), "404 ResourceGroupNotFound"),
        (format!("{base}/example.org?{version}"), "404 ResourceNotFound: The Resource 'Microsoft.Network/dnszones/"),
        (format!("{base}/example.org/A/a?{version}"), "404 ParentResourceNotFound: Failed to perform 'read' on"),
        (format!("{base}/example.org/all?{version}"), "404 ParentResourceNotFound"),
        (format!("{path}/A/none?{version}"), "404 NotFound: The resource record 'none' does not exist"),
        (format!("{path}/A/a?{version}&x=1"), "400 InvalidQueryParameter"),
    ] {
        let found = error_of(&send(&target));
        assert!(found.starts_with(start), "{target}: {found}");
    }
    let second = subscription.double.create_zone("example.org");
    subscription.double.add_group("other");
    subscription.double.create_zone_in("other", "example.org");
    let zones = format!("/subscriptions/{SUBSCRIPTION}/providers/microsoft.network/dnsZones?{version}");
    assert_eq!(json_of(&send(&zones))["value"].as_array().expect("a list").len(), 3);
    let zones = json_of(&send(&format!("{base}?{version}&$top=1")));
    assert_eq!((zones["value"].as_array().expect("a list").len(), zones["nextLink"].is_string()), (1, true));
    assert_eq!(subscription.double.record_sets(&second).len(), 2);
}

#[test]
fn zones_are_created_changed_and_deleted() {
    let subscription = Subscription::public();
    let base = subscription.zone.path.strip_suffix("/example.net").expect("the zone is last");
    let target = format!("{base}/example.org?api-version=2018-05-01");
    let send = |method: &str, headers: Condition<'_>, body: Option<Value>| {
        subscription.send_to(method, &target, headers, body.as_ref()).expect("an answer")
    };
    let zone = json!({"location": "global", "tags": {"team": "dns"}});
    assert!(error_of(&send("PUT", &[], Some(json!({})))).starts_with("400 LocationNotAvailableForResourceType"));
    let created = send("PUT", &[("if-none-match", "*")], Some(zone.clone()));
    let shown = json_of(&created);
    assert_eq!((created.status, shown["properties"]["nameServers"].as_array().expect("a list").len()), (201, 4));
    assert!(
        error_of(&send("PUT", &[("if-none-match", "*")], Some(zone.clone()))).starts_with("412 PreconditionFailed")
    );
    assert_eq!(send("PUT", &[], Some(zone)).status, 200);
    let etag = shown["etag"].as_str().expect("an etag").to_owned();
    assert_eq!(send("DELETE", &[("if-match", &etag)], None).status, 412);
    assert_eq!(json_of(&send("PATCH", &[], Some(json!({"tags": {}}))))["tags"], json!({}));
    assert_eq!(send("DELETE", &[], None).status, 200);
    assert_eq!(send("DELETE", &[], None).status, 204);
    let log = subscription.double.requests();
    let removed: Vec<_> = log.iter().flat_map(|entry| &entry.changes).collect();
    assert!(removed.len() == 2 && removed.iter().all(|change| change.after.is_none() && change.zone == "example.org"));
    for name in ["example", "a..b", "a_b.c%20d", &format!("{}.net", "x".repeat(64))] {
        let target = format!("{base}/{name}?api-version=2018-05-01");
        let body = json!({"location": "global"});
        let answer = subscription.send_to("PUT", &target, &[], Some(&body)).expect("an answer");
        assert_eq!(answer.status, 400, "{name}");
    }
    // A deletion may go on after its answer; a public zone is made at once.
    subscription.double.set_rules(|rules| rules.zone_asks = 2);
    let answer = send("DELETE", &[], None);
    assert_eq!(answer.status, 204);
    assert_eq!(send("PUT", &[], Some(json!({"location": "global"}))).status, 201);
    let answer = send("DELETE", &[], None);
    let status = answer.header("azure-asyncoperation").expect("a link").replace("https://management.azure.com", "");
    let ask = || json_of(&subscription.send_to("GET", &status, &[], None).expect("an answer"))["status"].clone();
    assert_eq!((answer.status, ask(), ask()), (202, json!("InProgress"), json!("Succeeded")));
}

#[test]
fn a_zone_has_so_many_requests_a_minute() {
    let subscription = Subscription::public();
    let other = subscription.double.create_zone("example.org");
    subscription.double.set_rules(|rules| {
        rules.rates = Some(AzureRates { creates: 2, updates: 1, deletes: 1, lists: 1, gets: 1 });
    });
    let a = |name: &str| subscription.put_a(name, "192.0.2.1", &[]);
    assert_eq!(["a", "b", "c", "a", "b"].map(|name| a(name).status), [201, 201, 429, 200, 429]);
    assert_eq!(["a", "a"].map(|name| subscription.delete(&format!("/A/{name}"), &[]).status), [200, 429]);
    assert_eq!(["/all", "/A", "", "/A/b"].map(|below| subscription.get(below).status), [200, 429, 200, 429]);
    subscription.clock.fetch_add(20, Ordering::SeqCst);
    let refused = a("c");
    assert!(error_of(&refused).starts_with("429 TooManyRequests: "));
    assert_eq!(refused.header("retry-after"), Some("40"));
    // Another zone has its own.
    let target = format!("{}/all?api-version=2018-05-01", other.path);
    assert_eq!(subscription.send_to("GET", &target, &[], None).expect("an answer").status, 200);
    subscription.double.set_rules(|rules| rules.throttle_answer = ThrottleAnswer::JsonInString);
    let inner: Value = serde_json::from_str(json_of(&a("c")).as_str().expect("a string")).expect("JSON");
    assert_eq!(inner["code"], "Throttled");
    subscription.clock.fetch_add(40, Ordering::SeqCst);
    assert_eq!(a("c").status, 201);
    let rates = |kind| AzureRules::new(kind).rates.expect("there are rates");
    assert_eq!((rates(AzureKind::Public).lists, rates(AzureKind::Private).creates), (60, 60));
}

#[test]
fn roles_decide_about_each_action() {
    let subscription = Subscription::public();
    let allow = |actions: &[&str]| {
        let allowed = actions.iter().map(|action| format!("Microsoft.Network/dnsZones/{action}")).collect();
        subscription.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
    };
    allow(&["read", "recordsets/read", "A/write"]);
    assert_eq!(
        ["", "/recordsets", "/all", "/A/a", "/A"].map(|below| subscription.get(below).status),
        [200, 200, 403, 403, 403]
    );
    assert_eq!(subscription.put_a("a", "192.0.2.1", &[]).status, 201);
    let found = error_of(&subscription.delete("/A/a", &[]));
    assert!(found.starts_with("403 AuthorizationFailed: The client '"), "{found}");
    let words = "does not have authorization to perform action 'Microsoft.Network/dnsZones/A/delete' over scope";
    assert!(found.contains(words), "{found}");
    assert_eq!(subscription.put("/TXT/a", json!({"TTL": 1}), &[]).status, 403);
    allow(&["all/read", "A/delete", "A/read"]);
    assert_eq!(
        ["", "/recordsets", "/all", "/A/a", "/A"].map(|below| subscription.get(below).status),
        [403, 403, 200, 200, 200]
    );
    assert_eq!(subscription.delete("/A/a", &[]).status, 200);
}

#[test]
fn tokens_are_given_to_those_that_prove_themselves_and_end() {
    let subscription = Subscription::public();
    let double = &subscription.double;
    double.set_rules(|rules| rules.checks_token = true);
    double.add_client("tenant-1", "client-1", "the+secret/of=one");
    double.add_federated_client("tenant-1", "client-2", "a.b.c");
    double.add_identity("client-3");
    let post = |tenant: &str, form: &str| {
        let target = format!("/{tenant}/oauth2/v2.0/token");
        let headers = vec![("content-type".to_owned(), "application/x-www-form-urlencoded".to_owned())];
        let request = DoubleRequest { method: "POST".to_owned(), target, headers, body: form.as_bytes().to_vec() };
        let answer = double.answer(&request).expect("an answer");
        (answer.status, json_of(&answer))
    };
    let scope = "scope=https%3A%2F%2Fmanagement.azure.com%2F.default";
    let secret = "client_secret=the%2Bsecret%2Fof%3Done";
    let good = format!("grant_type=client_credentials&client_id=client-1&{secret}&{scope}");
    let kind = "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer";
    let federated = format!("grant_type=client_credentials&client_id=client-2&{kind}&client_assertion=a.b.c&{scope}");
    for (tenant, form, status, error, code) in [
        ("tenant-1", good.replace("grant_type", "x"), 400, "invalid_request", 900_144),
        ("tenant-1", good.replace("client_credentials", "password"), 400, "unsupported_grant_type", 70_003),
        ("tenant-2", good.clone(), 400, "invalid_request", 90_002),
        ("tenant-1", good.replace("client-1", "client-9"), 400, "unauthorized_client", 700_016),
        ("tenant-1", good.replace("%2B", "+"), 401, "invalid_client", 7_000_215),
        ("tenant-1", good.replace("client_secret", "x"), 401, "invalid_client", 7_000_218),
        ("tenant-1", good.replace(".default", "dns.read"), 400, "invalid_scope", 1_002_012),
        ("tenant-1", federated.replace("a.b.c", "a.b.d"), 401, "invalid_client", 70_021),
        ("tenant-1", federated.replace("jwt-bearer", "x"), 401, "invalid_client", 7_000_218),
    ] {
        let (found, body) = post(tenant, &form);
        assert_eq!((found, &body["error"], &body["error_codes"][0]), (status, &json!(error), &json!(code)), "{body}");
        assert!(body["error_description"].as_str().expect("a text").starts_with(&format!("AADSTS{code}: ")));
    }
    let token = |(status, body): (u16, Value)| {
        assert_eq!((status, &body["token_type"]), (200, &json!("Bearer")), "{body}");
        body["access_token"].as_str().expect("a token").to_owned()
    };
    let identity = |target: &str, headers: Condition<'_>| {
        let answer = subscription.send_to("GET", target, headers, None).expect("an answer");
        (answer.status, json_of(&answer))
    };
    let machine =
        "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F";
    assert_eq!(identity(machine, &[]).0, 400);
    assert_eq!(identity(&machine.replace("2018-02-01", "2017-01-01"), &[("metadata", "true")]).0, 400);
    let (_, body) = identity(&format!("{machine}&client_id=client-9"), &[("metadata", "true")]);
    assert_eq!((&body["error"], &body["error_description"]), (&json!("invalid_request"), &json!("Identity not found")));
    let app = machine.replace("metadata/identity/oauth2", "msi").replace("2018-02-01", "2019-08-01");
    assert_eq!(identity(&app, &[("x-identity-header", "s")]).0, 401);
    double.set_app_secret("s");
    let own = identity(machine, &[("metadata", "True")]);
    assert_eq!(own.1["expires_on"], json!((1_795_000_000 + 3_599).to_string()));
    let tokens = [
        token(post("tenant-1", &good)),
        token(post("tenant-1", &federated)),
        token(own),
        token(identity(&format!("{machine}&client_id=client-3"), &[("metadata", "true")])),
        token(identity(&app, &[("x-identity-header", "s")])),
        double.give_token(),
    ];
    let get = |header: Condition<'_>| subscription.send("GET", "/all", header, None).expect("an answer");
    for token in &tokens {
        assert_eq!(get(&[("authorization", &format!("Bearer {token}"))]).status, 200);
    }
    let other = post("tenant-1", &good.replace("management.azure.com", "vault.azure.net"));
    let refused = |token: &str| {
        let answer = get(&[("authorization", &format!("Bearer {token}"))]);
        assert!(answer.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Bearer ")));
        error_of(&answer)
    };
    assert!(refused(&token(other)).starts_with("401 InvalidAuthenticationTokenAudience: "));
    assert!(refused("x").starts_with("401 InvalidAuthenticationToken: "));
    assert!(error_of(&get(&[])).starts_with("401 AuthenticationFailed: "));
    subscription.clock.fetch_add(3_599, Ordering::SeqCst);
    assert!(refused(&tokens[0]).starts_with("401 ExpiredAuthenticationToken: "));
    let fresh = double.give_token();
    double.expire_tokens();
    assert!(refused(&fresh).starts_with("401 ExpiredAuthenticationToken: "));
    // No secret and no token is in the log.
    let log = format!("{:?}", double.requests());
    assert!(!log.contains("secret/of") && !log.contains(&tokens[0]) && !log.contains("a.b.c"));
    assert_eq!((double.count("Token"), double.count("MachineToken"), double.count("AppToken")), (12, 5, 2));
}

#[test]
fn faults_come_as_they_are_planned() {
    let subscription = Subscription::public();
    let double = &subscription.double;
    let create = |name: &str| {
        let body = json!({"properties": {"TTL": 1, "ARecords": [{"ipv4Address": "192.0.2.1"}]}});
        subscription.send("PUT", &format!("/A/{name}"), &[("if-none-match", "*")], Some(&body))
    };
    let plan = |kind: FaultKind| double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", 1, kind));
    plan(FaultKind::DropBefore);
    assert_eq!((create("a"), subscription.names().len()), (None, 0));
    plan(FaultKind::DropAfter);
    assert_eq!((create("a"), subscription.names().len()), (None, 1));
    let answered = |kind: FaultKind, name: &str| {
        plan(kind);
        (create(name).expect("an answer"), subscription.names().len())
    };
    let (answer, count) = answered(FaultKind::FailAfter, "b");
    assert!(error_of(&answer).starts_with("500 InternalServerError") && count == 2);
    let (answer, count) = answered(FaultKind::TwiceLast, "c");
    assert!(error_of(&answer).starts_with("412 PreconditionFailed") && count == 3);
    let (answer, count) = answered(FaultKind::Twice, "d");
    assert_eq!((answer.status, count), (201, 4));
    for (kind, start) in [
        (FaultKind::FailBefore, "500 InternalServerError"),
        (FaultKind::Throttle, "429 TooManyRequests"),
        (FaultKind::Unavailable, "503 ServiceUnavailable"),
        (FaultKind::ExpiredToken, "401 ExpiredAuthenticationToken"),
    ] {
        let (answer, count) = answered(kind, "e");
        assert!(error_of(&answer).starts_with(start) && count == 4, "{}", text(&answer));
    }
    assert_eq!(answered(FaultKind::TooManyRequests, "e").0.status, 429);
    let (answer, count) = answered(FaultKind::CutBody, "e");
    assert!(answer.is_cut() && answer.status == 201 && count == 5);
    assert_eq!(answered(FaultKind::Delay(Duration::from_secs(3)), "f").0.delay, Duration::from_secs(3));
    let log = double.requests();
    let copies: Vec<_> = log.iter().filter(|entry| entry.fault == Some(FaultKind::Twice)).collect();
    assert_eq!((copies.len(), copies[0].number == copies[1].number), (2, true));
    assert_eq!(copies.iter().map(|entry| entry.changes.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(double.count("RecordSets_CreateOrUpdate"), 14);
    plan(FaultKind::DropBefore);
    double.clear_faults();
    assert!(create("g").is_some());
}

#[test]
fn another_editor_edits_and_is_in_the_log() {
    let subscription = Subscription::public();
    let (double, zone) = (&subscription.double, &subscription.zone);
    let etag = etag_of(&subscription.put_a("a", "192.0.2.1", &[]));
    let set = AzureRecordSet::new("A", "A", 60, &["192.0.2.2", "192.0.2.3"]).with_metadata("owner", "other");
    assert_eq!(double.put(zone, set).expect("it was there").etag, etag);
    assert_eq!(subscription.put_a("a", "192.0.2.1", &[("if-match", &etag)]).status, 412);
    double.alias(zone, "b", "CNAME", "/subscriptions/x/resourceGroups/y/providers/z/profiles/p");
    assert_eq!(double.remove(zone, "a", "A").expect("it was there").metadata["owner"], "other");
    assert_eq!(double.remove(zone, "a", "A"), None);
    assert_eq!((double.count(EDITOR), subscription.names()), (3, vec!["b CNAME".to_owned()]));
    let shown = json_of(&subscription.get("/CNAME/b"));
    assert!(shown["properties"].get("CNAMERecord").is_none(), "{shown}");
    for (rtype, value) in [
        ("MX", "10 mail.example.net."),
        ("CAA", "0 issue \"ca.example\""),
        ("TXT", "\"one\" \"two\""),
        ("PTR", "a.example.net."),
        ("AAAA", "2001:db8::1"),
        ("SOA", "ns.example.net. mail.example.net. 1 2 3 4 5"),
    ] {
        assert_eq!(AzureRecordSet::new("a", rtype, 1, &[value]).values(), [value]);
    }
}

/// A double on the clock of the machine and a server in front of it.
fn served(kind: AzureKind, change: impl FnOnce(&mut AzureRules)) -> (Arc<AzureDouble>, DoubleServer) {
    let double = Arc::new(AzureDouble::new(kind, now));
    double.add_client("tenant-1", "client-1", "secret-1");
    double.set_rules(|rules| {
        rules.rates = None;
        change(rules);
    });
    let server = DoubleServer::start(Arc::clone(&double));
    (double, server)
}

#[test]
fn the_clients_of_the_service_are_answered_as_by_it() {
    let python = support::root().join("target/cloud-clients/bin/python");
    let modules = "import azure.mgmt.dns, azure.mgmt.privatedns";
    if !Command::new(&python).args(["-c", modules]).output().is_ok_and(|output| output.status.success()) {
        return support::skip("azure-mgmt-dns and azure-mgmt-privatedns are not installed under target/cloud-clients");
    }
    let (public, public_server) = served(AzureKind::Public, |_| {});
    let (private, private_server) = served(AzureKind::Private, |_| {});
    let (_slow, slow_server) = served(AzureKind::Public, |rules| rules.zone_asks = 2);
    let (_slow_private, slow_private_server) = served(AzureKind::Private, |rules| rules.zone_asks = 2);
    let allowed = ["read", "write", "A/write"].map(|action| format!("Microsoft.Network/dnsZones/{action}"));
    let (_denied, denied_server) = served(AzureKind::Public, |rules| rules.allowed_actions = Some(allowed.into()));
    let rates = AzureRates { creates: 2, updates: 2, deletes: 2, lists: 2, gets: 2 };
    let (_paced, paced_server) = served(AzureKind::Public, |rules| rules.rates = Some(rates));
    let (faulty, faulty_server) = served(AzureKind::Public, |_| {});
    let zone = faulty.create_zone("one.example.net");
    faulty.put(&zone, AzureRecordSet::new("a", "A", 1, &["192.0.2.1"]));
    let kinds = [
        FaultKind::Throttle,
        FaultKind::Unavailable,
        FaultKind::ExpiredToken,
        FaultKind::TooManyRequests,
        FaultKind::DropBefore,
        FaultKind::CutBody,
        FaultKind::FailAfter,
        FaultKind::HalfPage,
        FaultKind::Delay(Duration::from_millis(300)),
    ];
    for (kind, n) in kinds.into_iter().zip(1..) {
        faulty.plan_fault(Fault::nth_of("RecordSets_ListByDnsZone", n, kind));
    }
    let machine = private.create_zone("machines.example");
    private.register(&machine, "vm", "10.0.0.4");
    private.add_identity("client-3");
    private.set_app_secret("app-secret-1");
    let servers = json!({
        "public": public_server.url(),
        "private": private_server.url(),
        "slow": slow_server.url(),
        "slow-private": slow_private_server.url(),
        "denied": denied_server.url(),
        "paced": paced_server.url(),
        "faulty": faulty_server.url(),
        "subscription": SUBSCRIPTION,
        "group": GROUP,
        "app-secret": "app-secret-1",
    });
    let script = support::root().join("tests/doubles/check_azure.py");
    let output = Command::new(python).arg(script).arg(servers.to_string()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    for double in [&public, &private] {
        // What the requests did is in the log, and each set begins and ends as one that is not there.
        let log = double.requests();
        let changes: Vec<_> = log.iter().filter(|entry| entry.number > 0).flat_map(|entry| &entry.changes).collect();
        let created = changes.iter().filter(|change| change.before.is_none() && change.after.is_some()).count();
        assert!(created > 250, "{created} created");
        assert!(
            log.iter().filter(|entry| entry.number > 0).all(|entry| (entry.status < Some(400)) == entry.code.is_none())
        );
        // A type that there is not is the only path that is none.
        let mut unknown = log.iter().filter(|entry| entry.operation == "Unknown");
        assert!(unknown.all(|entry| entry.code.as_deref() == Some("InvalidResourceType")));
    }
}
