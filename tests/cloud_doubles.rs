//! The doubles of cloud services are as strict as they must be: their rules one by one, and what botocore, which shares
//! no code with them, makes of their answers.

#[path = "cloud_doubles/azure.rs"]
mod azure;
#[path = "cloud_doubles/cloudmap.rs"]
mod cloudmap;
#[expect(dead_code, reason = "this file uses what it tests")]
#[path = "doubles/mod.rs"]
mod doubles;
#[expect(dead_code, reason = "this file starts no binary of the project")]
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use doubles::clock::{http_date, parse_basic_time, shown_time};
use doubles::faults::{Fault, FaultKind};
use doubles::http::DoubleServer;
use doubles::route53::Route53Double;
use doubles::route53::log::EDITOR;
use doubles::route53::names::DoubleName;
use doubles::route53::rrset::{DoubleRrset, RoutingPolicy};
use doubles::route53::rules::{BatchErrorForm, ChangeSettling, PriorRequest, Route53Rules, SkewAnswer};
use doubles::{DoubleAnswer, DoubleRequest};

/// The key of all doubles here.
const KEY: (&str, &str) = ("AKIADOUBLE", "the+secret/of=the double");

/// A double with one zone, without signatures and rates, and the clock that it sees.
struct Account {
    /// The double.
    double: Arc<Route53Double>,
    /// Its zone, example.net.
    zone: String,
    /// Seconds since the epoch.
    clock: Arc<AtomicI64>,
}

impl Account {
    fn new() -> Self {
        let clock = Arc::new(AtomicI64::new(1_795_000_000));
        let seen = Arc::clone(&clock);
        let double = Arc::new(Route53Double::new(KEY, move || seen.load(Ordering::SeqCst)));
        double.set_rules(|rules| {
            rules.checks_signature = false;
            rules.requests_a_second = None;
        });
        let zone = double.create_zone("example.net", false);
        Self { double, zone, clock }
    }

    fn get(&self, target: &str) -> Option<DoubleAnswer> {
        self.send("GET", target, "")
    }

    fn send(&self, method: &str, target: &str, body: &str) -> Option<DoubleAnswer> {
        let headers = vec![("host".to_owned(), "route53.amazonaws.com".to_owned())];
        let target = format!("/2013-04-01/{target}");
        let (method, body) = (method.to_owned(), body.as_bytes().to_vec());
        self.double.answer(&DoubleRequest { method, target, headers, body })
    }

    /// Sends a batch, given by the XML of its changes.
    fn change(&self, changes: &str) -> Option<DoubleAnswer> {
        self.send("POST", &format!("hostedzone/{}/rrset/", self.zone), &batch(changes))
    }

    /// Sends a batch that must be done.
    fn assert_done(&self, changes: &str) {
        let answer = self.change(changes).expect("an answer");
        assert_eq!(answer.status, 200, "{changes}\n{}", text(&answer));
    }

    /// Sends a batch that must be refused, and says with which code and message. Nothing changes.
    fn refused(&self, changes: &str) -> String {
        let before = self.double.rrsets(&self.zone);
        let answer = self.change(changes).expect("an answer");
        assert_eq!(self.double.rrsets(&self.zone), before, "{changes}");
        assert_ne!(answer.status, 200, "{changes}");
        error_of(&answer)
    }

    /// The names and types of the zone, without those of the apex that every zone has.
    fn names(&self) -> Vec<String> {
        let rrsets = self.double.rrsets(&self.zone).into_iter();
        let own = rrsets.filter(|rrset| !["SOA", "NS"].contains(&rrset.rtype.as_str()));
        own.map(|rrset| format!("{} {}", rrset.name, rrset.rtype)).collect()
    }
}

/// The body of a batch.
fn batch(changes: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ChangeResourceRecordSetsRequest \
         xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><ChangeBatch><Changes>{changes}</Changes>\
         </ChangeBatch></ChangeResourceRecordSetsRequest>"
    )
}

/// A change of an RRset, given by the XML inside it.
fn change_of(action: &str, inside: &str) -> String {
    format!("<Change><Action>{action}</Action><ResourceRecordSet>{inside}</ResourceRecordSet></Change>")
}

/// A change of a plain RRset with a TTL of 300.
fn plain(action: &str, name: &str, rtype: &str, values: &[&str]) -> String {
    let values: String = values.iter().map(|value| record(value)).collect();
    let inside =
        format!("<Name>{name}</Name><Type>{rtype}</Type><TTL>300</TTL><ResourceRecords>{values}</ResourceRecords>");
    change_of(action, &inside)
}

/// A record.
fn record(value: &str) -> String {
    format!("<ResourceRecord><Value>{}</Value></ResourceRecord>", value.replace('&', "&amp;").replace('<', "&lt;"))
}

/// The body of an answer.
fn text(answer: &DoubleAnswer) -> String {
    String::from_utf8(answer.body.clone()).expect("answers are UTF-8")
}

/// What is in all elements of a name.
fn all_of(answer: &DoubleAnswer, name: &str) -> Vec<String> {
    let (body, start, end) = (text(answer), format!("<{name}>"), format!("</{name}>"));
    let parts = body.split(&start).skip(1).filter_map(|part| part.split_once(&end));
    parts.map(|(inside, _)| inside.replace("&quot;", "\"").replace("&gt;", ">").replace("&amp;", "&")).collect()
}

/// Status, code and message of an error.
fn error_of(answer: &DoubleAnswer) -> String {
    format!("{} {}: {}", answer.status, all_of(answer, "Code").join(","), all_of(answer, "Message").join("|"))
}

#[test]
fn names_are_taken_in_any_form_and_shown_in_one() {
    let shown = |text: &str| DoubleName::parse(text).map(|name| name.shown());
    for (text, expected) in [
        ("Example.NET", "example.net."),
        ("example.net.", "example.net."),
        ("*.example.net", "\\052.example.net."),
        ("\\052.example.net", "\\052.example.net."),
        ("0/25.2.0.192.in-addr.arpa.", "0\\05725.2.0.192.in-addr.arpa."),
        ("a\\056b.\\101.net", "a\\056b.a.net."),
        ("\\344_x-y.net", "\\344_x-y.net."),
        ("\\040.net", "\\040.net."),
    ] {
        assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
    }
    for text in ["", "a..net", ".net", "a b.net", "ä.net", "\\1.net", "\\400.net", "\\x.net", "a.net\\"] {
        assert!(shown(text).is_err(), "{text}");
    }
    assert!(shown(&format!("{}.net", "a".repeat(63))).is_ok());
    assert!(shown(&format!("{}.net", "a".repeat(64))).is_err());
    // 4 + 249 labels of two octets each and one of three, with the root: 255.
    assert!(shown(&format!("{}aaa", "a.".repeat(125))).is_ok());
    assert!(shown(&format!("{}aaaa", "a.".repeat(125))).is_err());
}

#[test]
fn times_are_written_and_read() {
    for (seconds, shown, basic) in [
        (0, "1970-01-01T00:00:00Z", "19700101T000000Z"),
        (951_782_400, "2000-02-29T00:00:00Z", "20000229T000000Z"),
        (1_795_139_999, "2026-11-20T01:59:59Z", "20261120T015959Z"),
    ] {
        assert_eq!((shown_time(seconds).as_str(), parse_basic_time(basic)), (shown, Some(seconds)));
    }
    assert_eq!(http_date(1_795_139_999), "Fri, 20 Nov 2026 01:59:59 GMT");
    for broken in ["", "20261120T015959", "20261320T015959Z", "2026-11-20T01:59Z", "20261120T0159é"] {
        assert_eq!(parse_basic_time(broken), None, "{broken}");
    }
}

#[test]
fn values_must_be_of_their_type() {
    let hex = "a".repeat(64);
    let long = format!("\"{}\"", "x".repeat(255));
    let too_long = format!("\"{}\"", "x".repeat(256));
    let good = [
        ("A", "192.0.2.1"),
        ("AAAA", "2001:0DB8::a"),
        ("CAA", "0 issue \"ca.example\""),
        ("CNAME", "other.example.org"),
        ("DS", &format!("12345 13 2 {hex}")),
        ("MX", "10 mail.example.net."),
        ("NAPTR", "10 20 \"u\" \"sip+E2U\" \"!^.*$!sip:a@example.net!\" ."),
        ("NS", "ns1.example.org."),
        ("PTR", "host.example.net."),
        ("SPF", "\"v=spf1 -all\""),
        ("SRV", "1 2 443 a.example.net."),
        ("TXT", "\"one\" \"two \\\" \\\\ \\101\""),
        ("TXT", &long),
        ("TLSA", &format!("3 1 1 {hex}")),
        ("SSHFP", "4 2 abcdef"),
        ("SVCB", "1 svc.example.net. alpn=h2,h3 port=8443"),
        ("HTTPS", "0 pool.example.net."),
    ];
    for (rtype, value) in good {
        Account::new().assert_done(&plain("CREATE", "a.example.net", rtype, &[value]));
    }
    let bad = [
        ("A", "192.0.2.256", "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)"),
        ("A", "192.0.2.1, 192.0.2.2", "ARRDATANotSingleField (Value contains spaces)"),
        ("AAAA", "nonsense", "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)"),
        ("CAA", "0 issue ca.example", "InvalidCharacterString (Value should be enclosed in quotation marks)"),
        ("CNAME", "a b", "CNAMERRDATANotSingleField (Value contains spaces)"),
        ("DS", "1 2 3 xyz", "DSRRDATAInvalidHex (Value is not valid hexadecimal)"),
        ("MX", "mail.example.net.", "MXRRDATAWrongFieldCount (Value does not have the right number of fields)"),
        ("MX", "70000 a.example.net.", "MXRRDATAInvalidNumber (Value is not a valid number)"),
        ("PTR", "a..b", "PTRRRDATAInvalidDomainName (Value is not a valid domain name)"),
        ("SRV", "1 2 a.example.net.", "SRVRRDATAWrongFieldCount (Value does not have the right number of fields)"),
        ("TXT", "plain", "InvalidCharacterString (Value should be enclosed in quotation marks)"),
        ("TXT", "\"a\"\"b\"", "InvalidCharacterString (Value should be enclosed in quotation marks)"),
        ("TXT", "\"open", "InvalidCharacterString (Value should be enclosed in quotation marks)"),
        ("TXT", "\"\\q\"", "InvalidCharacterString (Escape is invalid)"),
        ("TXT", "\"ä\"", "UnsupportedCharacter (Value contains unsupported characters)"),
        ("TXT", &too_long, "CharacterStringTooLong (Value is too long)"),
        ("SVCB", "1 svc.example.net. Port=1", "SVCBRRDATAInvalidParameter (Parameter is invalid)"),
    ];
    for (rtype, value, words) in bad {
        let message = format!("Invalid Resource Record: 'FATAL problem: {words} encountered with '{value}''");
        let found = Account::new().refused(&plain("CREATE", "a.example.net", rtype, &[value]));
        assert_eq!(found, format!("400 InvalidChangeBatch: [{message}]"));
    }
}

/// An account with an A of two values at a, an AAAA at b, and a CNAME at c.
fn furnished() -> Account {
    let account = Account::new();
    account.double.put(&account.zone, DoubleRrset::new("a.example.net", "A", 300, &["192.0.2.1", "192.0.2.2"]));
    account.double.put(&account.zone, DoubleRrset::new("b.example.net", "AAAA", 300, &["2001:0DB8::B"]));
    account.double.put(&account.zone, DoubleRrset::new("c.example.net", "CNAME", 300, &["a.example.net."]));
    account
}

#[test]
fn changes_that_do_not_fit_are_refused() {
    let account = furnished();
    let soa = "ns-1.awsdns-00.com. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400";
    let soa_gone = change_of(
        "DELETE",
        &format!(
            "<Name>example.net</Name><Type>SOA</Type><TTL>900</TTL><ResourceRecords>{}</ResourceRecords>",
            record(soa)
        ),
    );
    let other_ttl = plain("DELETE", "b.example.net", "AAAA", &["2001:0DB8::B"]).replace("300", "301");
    let table = [
        (
            plain("CREATE", "A.example.net", "A", &["192.0.2.9"]),
            "Tried to create resource record set [name='a.example.net.', type='A'] but it already exists",
        ),
        (
            plain("DELETE", "x.example.net", "A", &["192.0.2.9"]),
            "Tried to delete resource record set [name='x.example.net.', type='A'] but it was not found",
        ),
        (
            plain("DELETE", "a.example.net", "A", &["192.0.2.1"]),
            "Tried to delete resource record set [name='a.example.net.', type='A'] but the values provided do not \
             match the current values",
        ),
        // The same values in another order, the same address in other letters, and another TTL do not fit.
        (
            plain("DELETE", "a.example.net", "A", &["192.0.2.2", "192.0.2.1"]),
            "Tried to delete resource record set [name='a.example.net.', type='A'] but the values provided do not \
             match the current values",
        ),
        (
            plain("DELETE", "b.example.net", "AAAA", &["2001:db8::b"]),
            "Tried to delete resource record set [name='b.example.net.', type='AAAA'] but the values provided do not \
             match the current values",
        ),
        (
            other_ttl,
            "Tried to delete resource record set [name='b.example.net.', type='AAAA'] but the values provided do not \
             match the current values",
        ),
        (
            plain("CREATE", "a.example.net", "CNAME", &["b.example.net"]),
            "RRSet of type CNAME with DNS name a.example.net. is not permitted as it conflicts with other records with \
             the same DNS name in zone example.net.",
        ),
        (
            plain("CREATE", "c.example.net", "A", &["192.0.2.1"]),
            "RRSet of type A with DNS name c.example.net. is not permitted because a conflicting RRSet of type CNAME \
             with the same DNS name already exists in zone example.net.",
        ),
        (
            plain("CREATE", "example.net", "CNAME", &["b.example.net"]),
            "RRSet of type CNAME with DNS name example.net. is not permitted at apex in zone example.net.",
        ),
        (
            plain("CREATE", "a.example.org", "A", &["192.0.2.1"]),
            "RRSet with DNS name a.example.org. is not permitted in zone example.net.",
        ),
        (
            plain("CREATE", "badexample.net", "A", &["192.0.2.1"]),
            "RRSet with DNS name badexample.net. is not permitted in zone example.net.",
        ),
        (plain("CREATE", "d.example.net", "A", &["192.0.2.1", "192.0.2.1"]), "Duplicate Resource Record: '192.0.2.1'"),
        (
            plain("CREATE", "d.example.net", "CNAME", &["a.example.net", "b.example.net"]),
            "RRSet of type CNAME with DNS name d.example.net. must have one record",
        ),
        (
            plain("CREATE", "d d.example.net", "A", &["192.0.2.1"]),
            "FATAL problem: UnsupportedCharacter (Value contains unsupported characters) encountered with \
             'd d.example.net'",
        ),
        (soa_gone, "A HostedZone must contain exactly one SOA record."),
        (
            plain("UPSERT", "d.example.net", "A", &["192.0.2.1"]).repeat(2),
            "The request contains an invalid set of changes for a resource record set 'A d.example.net.'",
        ),
        (
            plain("DELETE", "b.example.net", "AAAA", &["2001:0DB8::B"]).repeat(2),
            "The request contains an invalid set of changes for a resource record set 'AAAA b.example.net.'",
        ),
    ];
    for (changes, message) in table {
        assert_eq!(account.refused(&changes), format!("400 InvalidChangeBatch: [{message}]"));
    }
}

#[test]
fn requests_that_the_model_forbids_are_invalid_input() {
    let account = furnished();
    let a = |inside: &str| change_of("CREATE", &format!("<Name>d.example.net</Name><Type>A</Type>{inside}"));
    let records = format!("<ResourceRecords>{}</ResourceRecords>", record("192.0.2.1"));
    let long = plain("CREATE", "d.example.net", "TXT", &[&format!("\"{}\"", "x".repeat(4000))]);
    let table = [
        (a(&format!("{records}<TTL>300</TTL>")), "starting with element 'TTL'"),
        (a(&format!("<Ttl>300</Ttl>{records}")), "starting with element 'Ttl'"),
        (a(&format!("<TTL>300</TTL><TTL>300</TTL>{records}")), "starting with element 'TTL'"),
        (a(&format!("<TTL>-1</TTL>{records}")), "greater than or equal to 0"),
        (a(&format!("<TTL>2147483648</TTL>{records}")), "less than or equal to 2147483647"),
        (a(&format!("<TTL>5m</TTL>{records}")), "'5m' is not a valid value for 'integer'"),
        (a(""), "Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId]"),
        (a(&records), "Missing field 'TTL'"),
        (a("<TTL>300</TTL>"), "Missing field 'ResourceRecords'"),
        (a(&format!("<SetIdentifier>x</SetIdentifier><TTL>300</TTL>{records}")), "but found none in Change with"),
        (a(&format!("<Weight>1</Weight><TTL>300</TTL>{records}")), "Missing field 'SetIdentifier'"),
        (
            a(&format!("<SetIdentifier>x</SetIdentifier><Weight>256</Weight><TTL>300</TTL>{records}")),
            "less than or equal to 255",
        ),
        (plain("REPLACE", "d.example.net", "A", &["192.0.2.1"]), "[CREATE, DELETE, UPSERT]"),
        (plain("CREATE", "d.example.net", "DNAME", &["a.example.org"]), "Value 'DNAME' at 'type'"),
        (long, "length less than or equal to 4000"),
        ("<Change/>".to_owned(), "The content of element 'Change' is not complete"),
    ];
    for (changes, part) in table {
        let found = account.refused(&changes);
        assert!(found.starts_with("400 InvalidInput: ") && found.contains(part), "{part}: {found}");
    }
    assert_eq!(account.refused(""), "400 MalformedInput: Unexpected list element termination");
    let path = format!("hostedzone/{}/rrset/", account.zone);
    let body = batch(&plain("CREATE", "d.example.net", "A", &["192.0.2.1"]));
    let foreign = body.replace(" xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"", "");
    for (body, part) in [(foreign.as_str(), "400 InvalidInput: Invalid XML"), (&body[..200], "400 MalformedInput")] {
        let answer = account.send("POST", &path, body).expect("an answer");
        assert!(error_of(&answer).starts_with(part), "{}", text(&answer));
    }
    // The path of a batch ends with a slash.
    let answer = account.send("POST", path.trim_end_matches('/'), &body).expect("an answer");
    assert_eq!(answer.status, 404);
}

#[test]
fn all_faults_of_a_batch_are_listed_and_nothing_of_it_is_done() {
    let account = furnished();
    let changes = [
        plain("CREATE", "d.example.net", "A", &["192.0.2.1"]),
        plain("CREATE", "a.example.net", "A", &["192.0.2.1"]),
        plain("DELETE", "b.example.net", "AAAA", &["2001:0DB8::B"]),
        plain("DELETE", "x.example.net", "A", &["192.0.2.1"]),
    ];
    let messages = [
        "Tried to create resource record set [name='a.example.net.', type='A'] but it already exists",
        "Tried to delete resource record set [name='x.example.net.', type='A'] but it was not found",
    ];
    let found = account.refused(&changes.concat());
    assert_eq!(found, format!("400 InvalidChangeBatch: [{}]", messages.join(", ")));
    account.double.set_rules(|rules| rules.batch_errors = BatchErrorForm::MessageList);
    let answer = account.change(&changes.concat()).expect("an answer");
    assert!(text(&answer).contains("<InvalidChangeBatch xmlns="), "{}", text(&answer));
    assert_eq!(all_of(&answer, "Message"), messages);
}

#[test]
fn what_is_unknown_of_the_service_is_a_setting() {
    let account = furnished();
    let [first, second] = ["192.0.2.1", "192.0.2.2"];
    let swap = [
        plain("DELETE", "a.example.net", "A", &[first, second]),
        plain("CREATE", "a.example.net", "A", &["192.0.2.3"]),
    ];
    account.double.set_rules(|rules| rules.allows_swap = false);
    assert!(account.refused(&swap.concat()).contains("invalid set of changes"));
    account.double.set_rules(|rules| rules.allows_swap = true);
    account.assert_done(&swap.concat());
    let log = account.double.requests();
    let changes = &log.last().expect("an entry").changes;
    assert_eq!(changes[0].before.as_ref().expect("it was there").values, [first, second]);
    assert_eq!(changes[1].after.as_ref().expect("it is there").values, ["192.0.2.3"]);

    account.double.put(&account.zone, DoubleRrset::new("a.example.net", "A", 300, &[first, second]));
    account.double.set_rules(|rules| rules.order_matters = false);
    account.assert_done(&plain("DELETE", "a.example.net", "A", &[second, first]));

    let records = format!("<ResourceRecords>{}</ResourceRecords>", record(first));
    let unordered = change_of("CREATE", &format!("<Type>A</Type><Name>a.example.net</Name>{records}<TTL>1</TTL>"));
    account.refused(&unordered);
    account.double.set_rules(|rules| rules.demands_element_order = false);
    account.assert_done(&unordered);
}

#[test]
fn changes_are_made_one_after_the_other() {
    let account = furnished();
    let [remove, create] = [
        plain("DELETE", "c.example.net", "CNAME", &["a.example.net."]),
        plain("CREATE", "c.example.net", "A", &["192.0.2.1"]),
    ];
    assert!(account.refused(&format!("{create}{remove}")).contains("conflicting RRSet of type CNAME"));
    account.assert_done(&format!("{remove}{create}"));
    assert_eq!(account.names(), ["a.example.net. A", "b.example.net. AAAA", "c.example.net. A"]);
    account.assert_done(&plain("UPSERT", "c.example.net", "A", &["192.0.2.2"]));
    account.assert_done(&plain("UPSERT", "d.example.net", "A", &["192.0.2.2"]));
}

#[test]
fn of_several_writers_that_saw_the_same_one_has_its_way() {
    let account = furnished();
    for round in 0..20 {
        let seen = account.double.rrsets(&account.zone).into_iter().find(|rrset| rrset.rtype == "AAAA");
        let seen = seen.expect("it is there").values.concat();
        let write = |writer: u32| {
            let swap = [
                plain("DELETE", "b.example.net", "AAAA", &[&seen]),
                plain("CREATE", "b.example.net", "AAAA", &[&format!("2001:db8::{round}:{writer}")]),
            ];
            account.change(&swap.concat()).expect("an answer").status
        };
        let statuses: Vec<u16> = thread::scope(|scope| {
            let writers: Vec<_> = (0..12)
                .map(|writer| {
                    scope.spawn({
                        let write = &write;
                        move || write(writer)
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    }
}

#[test]
fn a_batch_has_limits() {
    let account = Account::new();
    let many = |action: &str, count: usize, value: &str| -> String {
        (0..count).map(|n| plain(action, &format!("n{n}.example.net"), "TXT", &[value])).collect()
    };
    account.assert_done(&many("CREATE", 1000, "\"\""));
    let found = account.refused(&many("DELETE", 1001, "\"\""));
    assert_eq!(found, "400 InvalidChangeBatch: [Number of records limit of 1000 exceeded.]");
    assert!(account.refused(&many("UPSERT", 501, "\"\"")).contains("Number of records limit"));
    account.assert_done(&many("UPSERT", 500, "\"x\""));
    // 160 values of 200 characters are as many as fit.
    let value = format!("\"{}\"", "x".repeat(198));
    let account = Account::new();
    account.assert_done(&many("CREATE", 160, &value));
    let found = account.refused(&many("DELETE", 161, &value));
    assert_eq!(found, "400 InvalidChangeBatch: [RDATA character limit of 32000 exceeded.]");
    assert!(account.refused(&many("UPSERT", 81, &value)).contains("RDATA character limit"));

    account.double.set_rules(|rules| rules.max_rrsets = Some(162));
    let found = account.refused(&plain("CREATE", "x.example.net", "A", &["192.0.2.1"]));
    assert_eq!(
        found,
        format!("400 InvalidChangeBatch: [Exceeded limit MAX_RRSETS_BY_ZONE for zone: {}]", account.zone)
    );
    account.double.set_rules(|rules| rules.max_records_a_set = 1);
    let found = account.refused(&plain("UPSERT", "n0.example.net", "A", &["192.0.2.1", "192.0.2.2"]));
    assert!(found.contains("Cannot have more than 1 records in a RRSet."), "{found}");
}

#[test]
fn sets_of_one_name_are_chosen_from_in_one_way() {
    let account = furnished();
    let set = |id: &str, routing: &str, ttl: u32| {
        let inside = format!(
            "<Name>w.example.net</Name><Type>A</Type><SetIdentifier>{id}</SetIdentifier>{routing}<TTL>{ttl}</TTL>\
             <ResourceRecords>{}</ResourceRecords>",
            record("192.0.2.1")
        );
        change_of("CREATE", &inside)
    };
    account.assert_done(&[set("x", "<Weight>1</Weight>", 300), set("y", "<Weight>1</Weight>", 300)].concat());
    let start = "400 InvalidChangeBatch: [RRSet with DNS name w.example.net., type A";
    let table = [
        (
            plain("CREATE", "w.example.net", "A", &["192.0.2.1"]),
            " cannot be created as other RRSets exist with the same name and type.]",
        ),
        (
            set("z", "<Weight>1</Weight>", 60),
            ", SetIdentifier z cannot be created as weighted sets must contain the same TTL.]",
        ),
        (
            set("z", "<Region>eu-west-1</Region>", 300),
            ", SetIdentifier z cannot be created as a non-latency set exists with the same name and type.]",
        ),
        (
            set("z", "<MultiValueAnswer>true</MultiValueAnswer>", 300),
            ", SetIdentifier z cannot be created because a non multivalue answer rrset exists with the same name and \
             type.]",
        ),
    ];
    for (changes, end) in table {
        assert_eq!(account.refused(&changes), format!("{start}{end}"));
    }
    let found = account.refused(&set("x", "<Weight>1</Weight>", 300));
    assert!(found.contains("[name='w.example.net.', type='A', set identifier='x'] but it already exists"), "{found}");
    // A DELETE must state the weight, too.
    let other = set("x", "<Weight>2</Weight>", 300).replace("CREATE", "DELETE");
    assert!(account.refused(&other).contains("do not match the current values"));
    account.assert_done(&set("x", "<Weight>1</Weight>", 300).replace("CREATE", "DELETE"));
}

#[test]
fn aliases_have_a_target_and_no_data() {
    let account = furnished();
    let alias = |action: &str, rtype: &str, zone: &str, target: &str| {
        let inside = format!(
            "<Name>d.example.net</Name><Type>{rtype}</Type><AliasTarget><HostedZoneId>{zone}</HostedZoneId><DNSName>\
             {target}</DNSName><EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget>"
        );
        change_of(action, &inside)
    };
    let zone = account.zone.as_str();
    let found = account.refused(&alias("CREATE", "AAAA", zone, "a.example.net"));
    let words = "Tried to create an alias that targets a.example.net., type AAAA in zone";
    assert!(found.contains(words), "{found}");
    assert!(account.refused(&alias("CREATE", "NS", zone, "example.net")).contains("must be a simple one"));
    let mixed = alias("CREATE", "A", zone, "a.example.net").replace("<AliasTarget>", "<TTL>1</TTL><AliasTarget>");
    assert!(account.refused(&mixed).contains("but found more than one"));
    account.assert_done(&alias("CREATE", "A", zone, "A.Example.net"));
    assert!(account.refused(&alias("DELETE", "A", "ZOTHER", "a.example.net")).contains("do not match"));
    account.assert_done(&alias("DELETE", "A", zone, "a.example.net."));
    account.assert_done(&alias("CREATE", "A", "Z2FDTNDATAQYW2", "d111.cloudfront.net"));
}

#[test]
fn listings_are_in_order_and_in_pages() {
    let account = Account::new();
    for name in ["b", "a", "x.a", "a-b", "*", "1", "_x", "B.a"] {
        account.double.put(&account.zone, DoubleRrset::new(&format!("{name}.example.net"), "A", 1, &["192.0.2.1"]));
    }
    let weighted =
        |id: &str| DoubleRrset::new("a.example.net", "AAAA", 1, &["2001:db8::1"]).routed(id, RoutingPolicy::Weight(1));
    account.double.put(&account.zone, weighted("two"));
    account.double.put(&account.zone, weighted("one"));
    let list = |query: &str| {
        let answer = account.get(&format!("hostedzone/{}/rrset{query}", account.zone)).expect("an answer");
        assert_eq!(answer.status, 200, "{}", text(&answer));
        let names = all_of(&answer, "Name")
            .into_iter()
            .zip(all_of(&answer, "Type"))
            .map(|(name, rtype)| format!("{name} {rtype}"));
        let next =
            ["NextRecordName", "NextRecordType", "NextRecordIdentifier"].map(|part| all_of(&answer, part).concat());
        (names.collect::<Vec<_>>(), next.join(" ").trim().to_owned())
    };
    let all = [
        "example.net. NS",
        "example.net. SOA",
        "1.example.net. A",
        "\\052.example.net. A",
        "_x.example.net. A",
        "a-b.example.net. A",
        "a.example.net. A",
        "a.example.net. AAAA",
        "a.example.net. AAAA",
        "b.a.example.net. A",
        "x.a.example.net. A",
        "b.example.net. A",
    ];
    assert_eq!(list(""), (all.map(str::to_owned).to_vec(), String::new()));
    let (page, next) = list("?maxitems=8");
    assert_eq!((page.len(), next.as_str()), (8, "a.example.net. AAAA two"));
    assert_eq!(list("?name=a.example.net.&type=AAAA&identifier=two").0, &all[8..]);
    assert_eq!(list("?name=A.example.net&type=AAAA").0, &all[7..]);
    assert_eq!(list("?name=%5C052.example.net").0, &all[3..]);
    assert_eq!(list("?name=aa.example.net&maxitems=1").0, &all[11..]);
    for query in
        ["?type=A", "?name=a.example.net&identifier=x", "?maxitems=0", "?maxitems=x", "?limit=1", "?name=a&type=Q"]
    {
        let answer = account.get(&format!("hostedzone/{}/rrset{query}", account.zone)).expect("an answer");
        assert!(error_of(&answer).starts_with("400 InvalidInput"), "{query}");
    }
    let answer = account.get("hostedzone/ZNONE/rrset").expect("an answer");
    assert_eq!(error_of(&answer), "404 NoSuchHostedZone: No hosted zone found with ID: ZNONE");
}

#[test]
fn the_account_has_so_many_requests_a_second() {
    let account = Account::new();
    account.double.set_rules(|rules| rules.requests_a_second = Some(5));
    let statuses = |count: usize| -> Vec<u16> {
        (0..count).map(|_| account.get("hostedzone").expect("an answer").status).collect()
    };
    assert_eq!(statuses(6), [200, 200, 200, 200, 200, 400]);
    assert_eq!(error_of(&account.get("hostedzone").expect("an answer")), "400 Throttling: Rate exceeded");
    account.clock.fetch_add(1, Ordering::SeqCst);
    assert_eq!(statuses(1), [200]);
}

#[test]
fn a_change_is_pending_and_then_in_sync() {
    let account = Account::new();
    let change = |name: &str| account.change(&plain("CREATE", name, "A", &["192.0.2.1"])).expect("an answer");
    let status = |id: &str| all_of(&account.get(&id[1..]).expect("an answer"), "Status").concat();
    account.double.set_rules(|rules| {
        rules.settling = ChangeSettling::AfterSeconds(30);
        rules.prior_request = PriorRequest::WhilePending;
    });
    let first = change("a.example.net");
    let id = all_of(&first, "Id").concat();
    assert_eq!((all_of(&first, "Status").concat().as_str(), status(&id).as_str()), ("PENDING", "PENDING"));
    assert!(error_of(&change("b.example.net")).starts_with("400 PriorRequestNotComplete: "));
    account.clock.fetch_add(30, Ordering::SeqCst);
    assert_eq!(status(&id), "INSYNC");
    assert_eq!(change("b.example.net").status, 200);
    account.double.set_rules(|rules| rules.prior_request = PriorRequest::Seconds(2));
    assert_eq!(change("c.example.net").status, 400);
    account.clock.fetch_add(2, Ordering::SeqCst);
    account.double.set_rules(|rules| rules.settling = ChangeSettling::AfterAsks(2));
    let id = all_of(&change("c.example.net"), "Id").concat();
    assert_eq!([(); 3].map(|()| status(&id)), ["PENDING", "PENDING", "INSYNC"]);
    assert!(error_of(&account.get("change/CNONE").expect("an answer")).starts_with("404 NoSuchChange: "));
}

#[test]
fn faults_come_as_they_are_planned() {
    let account = Account::new();
    let create = |name: &str| account.change(&plain("CREATE", name, "A", &["192.0.2.1"]));
    let plan = |kind: FaultKind| account.double.plan_fault(Fault::nth_of("ChangeResourceRecordSets", 1, kind));
    plan(FaultKind::DropBefore);
    assert_eq!((create("a.example.net"), account.names().len()), (None, 0));
    plan(FaultKind::DropAfter);
    assert_eq!((create("a.example.net"), account.names().len()), (None, 1));
    let answered = |kind: FaultKind, name: &str| {
        plan(kind);
        let answer = create(name).expect("an answer");
        (error_of(&answer), account.names().len())
    };
    assert_eq!(answered(FaultKind::FailAfter, "b.example.net").1, 2);
    let (error, count) = answered(FaultKind::TwiceLast, "c.example.net");
    assert!(error.contains("but it already exists") && count == 3, "{error}");
    assert_eq!(answered(FaultKind::Twice, "d.example.net"), ("200 : ".to_owned(), 4));
    for (kind, start) in [
        (FaultKind::FailBefore, "500 InternalFailure"),
        (FaultKind::Throttle, "400 Throttling: Rate exceeded"),
        (FaultKind::TooManyRequests, "429 "),
        (FaultKind::Unavailable, "503 ServiceUnavailable"),
        (FaultKind::ExpiredToken, "403 ExpiredToken"),
    ] {
        let (error, count) = answered(kind, "e.example.net");
        assert!(error.starts_with(start) && count == 4, "{error}");
    }
    plan(FaultKind::CutBody);
    let cut = create("e.example.net").expect("an answer");
    assert!(cut.is_cut() && cut.status == 200 && account.names().len() == 5);
    plan(FaultKind::Delay(Duration::from_secs(3)));
    assert_eq!(create("f.example.net").expect("an answer").delay, Duration::from_secs(3));
    // Copies are in the log twice, under one number, and the second one changed nothing.
    let log = account.double.requests();
    let copies: Vec<_> = log.iter().filter(|entry| entry.fault == Some(FaultKind::Twice)).collect();
    assert_eq!((copies.len(), copies[0].number == copies[1].number), (2, true));
    assert_eq!(copies.iter().map(|entry| entry.changes.len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(account.double.count("ChangeResourceRecordSets"), 14);

    account.double.plan_fault(Fault::nth(2, FaultKind::HalfPage).times(2));
    account.double.plan_fault(Fault::nth(4, FaultKind::LostItems));
    let pages = [(); 5].map(|()| {
        let answer = account.get(&format!("hostedzone/{}/rrset", account.zone)).expect("an answer");
        (all_of(&answer, "Name").len(), all_of(&answer, "IsTruncated").concat() == "true")
    });
    assert_eq!(pages, [(8, false), (4, true), (4, true), (4, false), (8, false)]);
    account.double.plan_fault(Fault::nth(1, FaultKind::DropBefore));
    account.double.clear_faults();
    assert!(account.get("hostedzone").is_some());
}

#[test]
fn another_editor_edits_protects_and_is_in_the_log() {
    let account = furnished();
    let before = account.double.put(&account.zone, DoubleRrset::new("b.example.net", "AAAA", 60, &["2001:db8::2"]));
    assert_eq!(before.expect("it was there").values, ["2001:0DB8::B"]);
    assert!(account.double.remove(&account.zone, "C.example.net", "CNAME", None).is_some());
    assert!(account.double.remove(&account.zone, "c.example.net", "CNAME", None).is_none());
    assert_eq!(account.double.count(EDITOR), 5);
    account.double.protect(&account.zone, "a.example.net", "A", Some("ask the mail team"));
    account.double.protect(&account.zone, "new.example.net", "A", None);
    let changes = [
        plain("DELETE", "a.example.net", "A", &["192.0.2.1", "192.0.2.2"]),
        plain("CREATE", "new.example.net", "A", &["192.0.2.1"]),
    ];
    let found = account.refused(&changes.concat());
    let words = "is protected by a resource record set protection";
    assert!(found.contains(&format!("[name='a.example.net.', type='A'] {words}: ask the mail team, ")), "{found}");
    assert!(found.contains(&format!("[name='new.example.net.', type='A'] {words}]")), "{found}");

    account.double.link_service(&account.zone, "servicediscovery.amazonaws.com", "by Cloud Map");
    let found = account.refused(&plain("CREATE", "d.example.net", "A", &["192.0.2.1"]));
    assert!(found.starts_with("403 AccessDenied: The resource hostedzone/"), "{found}");
    let answer = account.get(&format!("hostedzone/{}", account.zone)).expect("an answer");
    assert_eq!(all_of(&answer, "ServicePrincipal"), ["servicediscovery.amazonaws.com"]);
    account.double.tag(&account.zone, "team", "dns");
    let answer = account.get(&format!("tags/hostedzone/{}", account.zone)).expect("an answer");
    assert_eq!((all_of(&answer, "Key"), all_of(&answer, "Value")), (vec!["team".to_owned()], vec!["dns".to_owned()]));
}

#[test]
fn the_server_keeps_connections_and_breaks_them_where_an_answer_is_lost() {
    let account = Account::new();
    let server = DoubleServer::start(Arc::clone(&account.double));
    let mut stream = TcpStream::connect(server.authority()).expect("it listens");
    let request = "GET /2013-04-01/hostedzone HTTP/1.1\r\nHost: x\r\n\r\n";
    // Both requests are sent at once; the second answer never comes.
    account.double.plan_fault(Fault::nth(2, FaultKind::DropAfter));
    stream.write_all(request.repeat(2).as_bytes()).expect("it reads");
    let mut answers = String::new();
    stream.read_to_string(&mut answers).expect("it closes");
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), 1, "{answers}");
    assert_eq!(account.double.count("ListHostedZones"), 2);
    let mut idle = TcpStream::connect(server.authority()).expect("it listens");
    idle.write_all(request.as_bytes()).expect("it reads");
    idle.read_exact(&mut [0; 10]).expect("it answers");
    drop(server);
    // Connections end with their server.
    assert!(idle.read_to_end(&mut Vec::new()).is_ok());
}

/// A double on the clock of the machine and a server in front of it.
fn served(rules: impl FnOnce(&mut Route53Rules), skew: i64) -> (Arc<Route53Double>, DoubleServer) {
    let double = Arc::new(Route53Double::new(KEY, move || now() + skew));
    double.add_key("ASIASESSION", "session secret", Some("session/token=="));
    double.add_key("ASIAEXPIRED", "old secret", Some("old token"));
    double.expire_key("ASIAEXPIRED");
    double.set_rules(|own| {
        own.requests_a_second = None;
        rules(own);
    });
    let server = DoubleServer::start(Arc::clone(&double));
    (double, server)
}

/// Seconds since the epoch, by the clock of the machine.
fn now() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is after 1970");
    i64::try_from(passed.as_secs()).expect("the clock is before the end of time")
}

#[test]
fn botocore_is_answered_as_by_the_service() {
    let python = support::root().join("target/cloud-clients/bin/python");
    if !Command::new(&python).args(["-c", "import botocore"]).output().is_ok_and(|output| output.status.success()) {
        return support::skip("botocore is not installed under target/cloud-clients");
    }
    let (main, main_server) = served(|_| {}, 0);
    let (_busy, busy_server) = served(|rules| rules.prior_request = PriorRequest::WhilePending, 0);
    let allowed = ["route53:CreateHostedZone", "route53:ListHostedZones"].map(str::to_owned);
    let (_denied, denied_server) = served(|rules| rules.allowed_actions = Some(allowed.into()), 0);
    let (_late, late_server) = served(|_| {}, 3600);
    let (_late_words, late_words_server) = served(|rules| rules.skew_answer = SkewAnswer::SignatureDoesNotMatch, 3600);
    let (_list, list_server) = served(|rules| rules.batch_errors = BatchErrorForm::MessageList, 0);
    let paced_at = now();
    let paced = Arc::new(Route53Double::new(KEY, move || paced_at));
    let paced_server = DoubleServer::start(Arc::clone(&paced));
    let (faulty, faulty_server) = served(|_| {}, 0);
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
        faulty.plan_fault(Fault::nth(n, kind));
    }
    faulty.create_zone("one.example.net", false);
    let servers = serde_json::json!({
        "main": main_server.url(),
        "busy": busy_server.url(),
        "denied": denied_server.url(),
        "late": late_server.url(),
        "late-words": late_words_server.url(),
        "list": list_server.url(),
        "paced": paced_server.url(),
        "faulty": faulty_server.url(),
        "key": KEY.0,
        "secret": KEY.1,
    });
    let script = support::root().join("tests/doubles/check_route53.py");
    let output = Command::new(python).arg(script).arg(servers.to_string()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    // What the requests did is in the log, and all that was created is gone.
    let log = main.requests();
    let changes: Vec<_> = log.iter().flat_map(|entry| &entry.changes).collect();
    let created = changes.iter().filter(|change| change.before.is_none() && change.after.is_some()).count();
    let removed = changes.iter().filter(|change| change.before.is_some() && change.after.is_none()).count();
    // A swap creates what it removed.
    assert!(created > 700 && created == removed, "{created} created, {removed} removed");
    assert!(log.iter().all(|entry| entry.status.is_some() && (entry.status < Some(400)) == entry.code.is_none()));
}
