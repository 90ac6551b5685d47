//! Exports of NetBox and RackTables: they mean what our own formats would mean, and their errors are reported.

use proptest::prelude::*;

use super::*;
use crate::inventory::model::Host;
use crate::inventory::source::FieldMapping;
use crate::inventory::value::Time;

/// The formats of NetBox.
const DEVICES: (&str, &str) = ("hosts", "netbox");

/// Its interfaces.
const INTERFACES: (&str, &str) = ("mac", "netbox");

/// Reads devices.
fn devices(text: &str) -> Outcome {
    read_as(DEVICES, &[text.as_bytes()], Draft::default(), |_| {})
}

/// A device of the API.
fn device(id: u64, inv: &str, rest: &str) -> String {
    format!(
        "{{\"id\":{id},\"name\":\"host-{id}\",\"asset_tag\":{inv},\"tenant\":{{\"id\":1,\"name\":\"search\"}},\
         \"site\":{{\"id\":2,\"name\":\"sas\"}},\"status\":{{\"value\":\"active\",\"label\":\"Active\"}},\"tags\":[]{rest}}}"
    )
}

/// An interface of the API.
fn interface(device: u64, rest: &str) -> String {
    format!(
        "{{\"id\":1,\"device\":{{\"id\":{device},\"name\":\"host-{device}\"}},\"name\":\"eth0\",\"enabled\":true,\
         \"mgmt_only\":false,\"mac_address\":\"78:E3:B5:08:93:98\",\"last_updated\":\"2026-11-20T01:00:00.123456Z\"{rest}}}"
    )
}

/// A page of the API.
fn page(count: usize, next: &str, rows: &[String]) -> String {
    format!("{{\"count\":{count},\"next\":{next},\"previous\":null,\"results\":[{}]}}", rows.join(","))
}

/// What was said of a host, without its place.
fn said(outcome: &Outcome, host: &Host) -> String {
    let draft = &outcome.draft;
    let project = draft.projects.texts().nth(host.project.0 as usize).unwrap_or_default();
    let switch = host.switch.map(|switch| draft.symbols.text(switch));
    let name = host.name.as_ref().map(ToString::to_string);
    let location = draft.symbols.text(host.location);
    let Host { inv, status, restricted, bad, columns_are_known, .. } = host;
    format!("{inv} {name:?} {project} {status:?} {location} {switch:?} {restricted} {bad} {columns_are_known}")
}

/// What was said of all hosts.
fn all_said(outcome: &Outcome) -> Vec<String> {
    outcome.draft.hosts.iter().map(|host| said(outcome, host)).collect()
}

/// What was reported, without places.
fn reported(outcome: &Outcome) -> Vec<String> {
    let switch = |sighting: Sighting| sighting.switch().map(|switch| outcome.draft.symbols.text(switch));
    let report = |report: &MacReport| {
        let kind = match report.sighting {
            Sighting::Active { .. } => "active",
            Sighting::Inactive { .. } => "inactive",
            Sighting::Ahead { .. } => "ahead",
            Sighting::Bad => "bad",
        };
        let mac = report.sighting.mac().map(|mac| mac.to_string());
        format!("{} {} {kind} {mac:?} {:?}", report.inv, report.time, switch(report.sighting))
    };
    let mut all: Vec<String> = outcome.reports().iter().map(report).collect();
    all.sort();
    all
}

/// A host of a random fleet, with its interface.
#[derive(Debug, Clone)]
struct Made {
    name: Option<String>,
    project: &'static str,
    is_free: bool,
    location: &'static str,
    is_restricted: bool,
    mac: Option<MadeMac>,
    comment: String,
}

/// The interface of a host of a random fleet: its MAC's last octets, whether it is in use, when, and the switch.
type MadeMac = (u32, bool, u32, Option<&'static str>);

/// Any host.
fn made() -> impl Strategy<Value = Made> {
    let mac = (any::<u32>(), any::<bool>(), 0_u32..3600, proptest::option::of(Just("sas1-s1")));
    (
        proptest::option::weighted(0.8, "[a-z][a-z0-9]{0,5}"),
        prop_oneof![Just("search"), Just("other")],
        any::<bool>(),
        prop_oneof![Just("sas"), Just("MAN 2")],
        any::<bool>(),
        proptest::option::of(mac),
        "[a-z ,\"\n\r;é\t]{0,12}",
    )
        .prop_map(|(name, project, is_free, location, is_restricted, mac, comment)| Made {
            name,
            project,
            is_free,
            location,
            is_restricted,
            mac,
            comment,
        })
}

/// A field of CSV as Python's module writes it.
fn quoted(field: &str, delimiter: char) -> String {
    if field.contains(['"', '\n', '\r', delimiter]) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Rows of CSV.
fn csv(rows: &[Vec<String>], delimiter: char) -> String {
    let line = |row: &Vec<String>| row.iter().map(|field| quoted(field, delimiter)).collect::<Vec<_>>();
    rows.iter().map(|row| line(row).join(&delimiter.to_string()) + "\r\n").collect()
}

/// The time of a report.
fn time(seconds: u32) -> String {
    let time: Time = "2026-11-20T10:00:00Z".parse().unwrap();
    time.plus(Duration::from_secs(seconds.into())).to_string()
}

/// A MAC by its last octets.
fn mac(tail: u32) -> String {
    let octets = tail.to_be_bytes();
    format!("02:00:{:02X}:{:02X}:{:02X}:{:02X}", octets[0], octets[1], octets[2], octets[3])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_says_the_same_of_a_fleet(
        fleet in proptest::collection::vec(made(), 1..12), pretty in any::<bool>(),
        delimiter in prop_oneof![Just(','), Just(';'), Just('|'), Just('\t')],
    ) {
        let fleet: Vec<(u64, Made)> = (1001..).zip(fleet).collect();
        // Our own.
        let name = |inv: u64, one: &Made| match (&one.name, one.project) {
            (Some(name), "search") => format!("{name}{inv}.search.example.net"),
            _ => String::new(),
        };
        let mut own = HEADER.to_owned();
        let mut reports = String::new();
        for (inv, one) in &fleet {
            let status = if one.is_free { "free" } else { "assigned" };
            let restricted = if one.is_restricted { "x;automated-dns" } else { "" };
            own += &format!("{inv},{},{},{status},{},,,,,{restricted}\n", name(*inv, one), one.project, one.location);
            if let Some((tail, active, seconds, switch)) = one.mac {
                let switch = switch.map_or("null".to_owned(), |switch| format!("\"{switch}\""));
                let (mac, time) = (mac(tail), time(seconds));
                reports += &format!("{{\"time\":\"{time}\",\"inv\":{inv},\"mac\":\"{mac}\",\"active\":{active},\"switch\":{switch}}}\n");
            }
        }
        let own = read("hosts", &own);
        let own_reports = read("mac", &reports);
        // As the API writes it.
        let json = |value: serde_json::Value| if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let device = |inv: u64, one: &Made| serde_json::json!({
            "id": inv - 1000, "display": format!("{}", inv), "name": one.name.as_ref().map(|name| format!("{name}{inv}")),
            "asset_tag": inv.to_string(), "tenant": {"id": 1, "name": one.project, "slug": "s"}, "site": {"name": one.location},
            "status": if one.is_free { serde_json::json!({"value": "inventory", "label": "Inventory"}) } else { serde_json::json!({"value": "failed", "label": "Failed"}) },
            "tags": if one.is_restricted { serde_json::json!([{"name": "x"}, {"name": "automated-dns"}]) } else { serde_json::json!([]) },
            "comments": one.comment,
        });
        let list: Vec<serde_json::Value> = fleet.iter().map(|(inv, one)| device(*inv, one)).collect();
        let page = json(serde_json::json!({"count": list.len(), "next": null, "previous": null, "results": list}));
        let of_json = devices(&page);
        let lines: String = list.iter().map(|device| format!("{device}\n")).collect();
        let of_lines = devices(&lines);
        // As its pages write it.
        let head = ["Name", "Status", "Tenant", "Site", "ID", "Asset tag", "Comments", "Tags"].map(str::to_owned).to_vec();
        let row = |(inv, one): &(u64, Made)| vec![
            one.name.as_ref().map_or("Unnamed device".to_owned(), |name| format!("{name}{inv}")),
            if one.is_free { "Inventory" } else { "Staged" }.to_owned(),
            one.project.to_owned(), one.location.to_owned(), (inv - 1000).to_string(), inv.to_string(), one.comment.clone(),
            if one.is_restricted { "x,automated-dns" } else { "" }.to_owned(),
        ];
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(fleet.iter().map(row)).collect();
        let of_csv = devices(&csv(&rows, delimiter));
        for (format, outcome) in [("JSON", &of_json), ("lines", &of_lines), ("CSV", &of_csv)] {
            prop_assert_eq!(outcome.codes(), own.codes(), "{}: {}", format, outcome.text());
            prop_assert_eq!(all_said(outcome), all_said(&own), "{}", format);
        }
        // The interfaces, joined with either.
        let with_mac = || fleet.iter().filter_map(|(inv, one)| Some((*inv, one, one.mac?)));
        if with_mac().next().is_none() {
            return Ok(());
        }
        let interface = |(inv, _, (tail, active, seconds, switch)): (u64, &Made, MadeMac)| serde_json::json!({
            "device": {"id": inv - 1000}, "name": "eth0", "enabled": active, "mgmt_only": false, "mac_address": mac(tail),
            "last_updated": time(seconds),
            "connected_endpoints": switch.map(|switch| serde_json::json!([{"name": "ge1", "device": {"name": switch}}])),
        });
        let list: Vec<serde_json::Value> = with_mac().map(interface).collect();
        let of_json = read_as(INTERFACES, &[json(list.into()).as_bytes()], of_json.draft, |_| {});
        prop_assert_eq!(reported(&of_json), reported(&own_reports), "{}", of_json.text());
        let named: Vec<(u64, &Made, MadeMac)> = with_mac().filter(|(_, one, _)| one.name.is_some()).collect();
        let head = ["Name", "Device", "Enabled", "Management Only", "Primary MAC", "Connection", "Last updated"].map(str::to_owned).to_vec();
        let row = |(inv, one, (tail, active, seconds, switch)): &(u64, &Made, MadeMac)| vec![
            "eth0".to_owned(), format!("{}{inv} ({inv})", one.name.as_deref().unwrap_or_default()),
            if *active { "True" } else { "False" }.to_owned(), "False".to_owned(), mac(*tail),
            switch.map_or(String::new(), |switch| format!("{switch} (SW-7) > ge1")), time(*seconds),
        ];
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(named.iter().map(row)).collect();
        if named.is_empty() {
            return Ok(());
        }
        let of_csv = read_as(INTERFACES, &[csv(&rows, delimiter).as_bytes()], of_csv.draft, |_| {});
        let names: Vec<String> = named.iter().map(|(inv, ..)| format!("{inv} ")).collect();
        let expected: Vec<String> = reported(&own_reports).into_iter().filter(|one| names.iter().any(|name| one.starts_with(name))).collect();
        prop_assert_eq!(reported(&of_csv), expected, "{}", of_csv.text());
    }

    #[test]
    fn nothing_makes_a_reader_fail(text in "[\\[\\]{}\":,a-c\\\\01\n\r\t|;é\u{0}\u{202e} ]{0,60}", start in prop_oneof![
        Just(""), Just("["), Just("{\"results\":["), Just("Name,Asset tag,Tenant,Site,Status,Tags\n"),
        Just("name\tasset_no\tproject\tlocation\n"), Just("Device,Last updated,Primary MAC\n"),
    ]) {
        let text = format!("{start}{text}");
        for format in FORMATS.iter().filter(|format| format.word != OWN) {
            let outcome = read_as((format.key, format.word), &[text.as_bytes()], Draft::default(), |_| {});
            for host in &outcome.draft.hosts {
                prop_assert!(host.origin.line > 0);
            }
        }
    }
}

#[test]
fn no_cut_of_another_system_goes_unnoticed() {
    let rows: Vec<String> = [device(1, "\"101\"", ",\"comments\":\"a\\\"\\\\\""), device(2, "102", "")].into();
    let text = "Name,Asset tag,Tenant,Site,Status,Tags,Comments\r\nh,101,search,sas,Active,,\"a\nb\"\r\n";
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    for text in [page(2, "null", &rows), format!("[{}]", rows.join(", ")), lines, text.to_owned()] {
        let outcome = devices(&text);
        assert_eq!((outcome.doubt(), outcome.tally.bad), ("known", 0), "{}", outcome.text());
        for end in 0..text.len() {
            let cut = &text[..end];
            let outcome = devices(cut);
            // A file of rows that is cut at the end of a row shows it only by the number of its rows.
            let ends_a_row = cut.ends_with("}\n") || cut.ends_with("}");
            let is_lines = text.starts_with('{') && !text.starts_with("{\"count");
            assert!(
                outcome.trust != Trust::Known || (is_lines && ends_a_row && cut.ends_with('\n')),
                "cut at {end}: {cut}"
            );
        }
    }
}

#[test]
fn a_page_of_several_is_not_the_whole() {
    let rows: Vec<String> = (1..=3).map(|id| device(id, &format!("\"{id}\""), "")).collect();
    let next = "\"http://netbox/api/dcim/devices/?limit=2&offset=2\"";
    let first = page(3, next, &rows[..2]);
    let alone = devices(&first);
    assert_eq!(alone.doubt(), "source `hosts`: hosts-1 is not whole", "{}", alone.text());
    assert!(alone.text().contains("`count` promises 3 rows, but there are 2"), "{}", alone.text());
    let second = page(3, "null", &rows[2..]);
    let both = read_as(DEVICES, &[first.as_bytes(), second.as_bytes()], Draft::default(), |_| {});
    assert_eq!((both.doubt(), both.draft.hosts.len()), ("known", 3), "{}", both.text());
    let together = devices(&format!("{first}\n{second}"));
    assert_eq!((together.doubt(), together.draft.hosts.len()), ("known", 3));
    for count in ["\"4\"", "-3", "99999999999999999999", "3.5", "{}"] {
        let outcome = devices(&format!("{first}\n{second}").replacen("\"count\":3", &format!("\"count\":{count}"), 1));
        assert_eq!(outcome.doubt(), "source `hosts`: hosts-1 is not whole", "{count}");
    }
    let uncounted = devices(&first.replace("\"count\":3,", ""));
    assert!(uncounted.text().contains("`next` says that another page follows"), "{}", uncounted.text());
}

#[test]
fn the_place_of_a_fault_is_its_field() {
    let minified = format!("[{},{}]", device(1, "\"1\"", ""), device(2, "\"x\"", ""));
    let outcome = devices(&minified);
    let at = minified.find("\"x\"").unwrap() + 1;
    assert!(
        outcome.text().contains(&format!("hosts-1:1:{at}: error[bad-inv]: `x` is not an inventory number")),
        "{}",
        outcome.text()
    );
    assert_eq!(outcome.draft.crowded.len(), 1);
    let pretty = format!("[\n  {},\n  {}\n]", device(1, "\"1\"", ""), device(2, "\n    \"x\"", ""));
    let outcome = devices(&pretty);
    assert!(outcome.text().contains("hosts-1:4:5: error[bad-inv]"), "{}", outcome.text());
    assert_eq!((outcome.draft.crowded.len(), outcome.draft.hosts[0].origin.line), (0, 2));
    let csv = "Name,Comments,Asset tag,Tenant,Site,Status,Tags\r\nh,\"a\r\nb\",x,search,sas,Active,\r\n\r\ni,,7,search,sas,Gone,\r\n";
    let outcome = devices(csv);
    assert!(outcome.text().contains("hosts-1:3:4: error[bad-inv]"), "{}", outcome.text());
    assert!(
        outcome.text().contains("hosts-1:5:17: error[bad-status]: the meaning of the status `Gone` is unknown"),
        "{}",
        outcome.text()
    );
}

#[test]
fn rows_that_are_not_looked_for_are_passed_over() {
    let role = |name: &str| format!(",\"role\":{{\"id\":1,\"name\":\"{name}\"}}");
    let rows = [device(1, "\"1\"", &role("Server")), device(2, "null", &role("Switch")), "7".to_owned()];
    let only = |values: &'static [&'static str]| {
        let text = format!("[{}]", rows.join(","));
        read_as(DEVICES, &[text.as_bytes()], Draft::default(), move |spec| {
            spec.mapping.only = vec![("role".into(), values.iter().map(|value| (*value).to_owned()).collect())];
        })
    };
    let servers = only(&["Server", "Node"]);
    assert_eq!((servers.tally.rows, servers.codes()), (2, vec!["bad-json"]), "{}", servers.text());
    assert_eq!(servers.draft.hosts.len(), 1);
    let text = format!("[{}]", rows[1]);
    let none = read_as(DEVICES, &[text.as_bytes()], Draft::default(), |spec| {
        spec.mapping.only = vec![("role".into(), vec!["Server".into()])];
    });
    assert_eq!(none.doubt(), "source `hosts`: hosts-1 has no rows", "{}", none.text());
}

#[test]
fn statuses_and_fields_can_be_named_otherwise() {
    let row = device(7, "null", ",\"custom_fields\":{\"number\":42}").replace("\"active\"", "\"retired\"");
    let outcome = read_as(DEVICES, &[format!("[{row}]").as_bytes()], Draft::default(), |spec| {
        let FieldMapping { fields, statuses, .. } = &mut spec.mapping;
        for (key, field) in fields {
            match *key {
                "inv" => *field = "cf_number".into(),
                "switch" => *field = "site.name".into(),
                _ => {}
            }
        }
        statuses.push(("Retired".into(), true));
    });
    let expected = "42 Some(\"host-7.search.example.net.\") search Free sas Some(\"sas\") false false true";
    assert_eq!((all_said(&outcome), outcome.codes()), (vec![expected.to_owned()], vec![]));
}

#[test]
fn the_rack_of_a_host_is_known_where_the_export_has_it() {
    let racked = device(1, "\"101\"", ",\"rack\":{\"id\":4,\"name\":\"A11\"}");
    let outcome = devices(&format!("[{racked},{}]", device(2, "\"102\"", "")));
    let rack = |host: &Host| host.rack.map(|rack| outcome.draft.symbols.text(rack).to_owned());
    let racks: Vec<Option<String>> = outcome.draft.hosts.iter().map(rack).collect();
    assert_eq!(racks, [Some("A11".to_owned()), None], "{}", outcome.text());
}

#[test]
fn interfaces_report_what_hosts_have() {
    let hosts = devices(&format!("[{},{}]", device(1, "\"101\"", ""), device(2, "\"102\"", "")));
    let rows = [
        interface(1, ""),
        interface(1, ",\"mgmt_only\":true").replace("\"mgmt_only\":false,", ""),
        interface(1, "").replace("\"78:E3:B5:08:93:98\"", "null"),
        interface(2, ",\"mac_addresses\":[{\"mac_address\":\"02:00:00:00:00:01\",\"display\":\"02:00:00:00:00:01\"},{\"display\":\"02:00:00:00:00:02\"}]").replace("\"78:E3:B5:08:93:98\"", "null"),
        interface(2, "").replace("\"enabled\":true", "\"enabled\":false"),
        interface(3, ""),
        interface(2, "").replace("2026-11-20", "2026-11-21"),
    ];
    let outcome = read_as(INTERFACES, &[format!("[{}]", rows.join(",\n")).as_bytes()], hosts.draft, |_| {});
    assert_eq!(outcome.codes(), ["too-many-bad-rows", "bad-mac", "future-report"], "{}", outcome.text());
    assert_eq!(
        reported(&outcome),
        [
            "101 2026-11-20T01:00:00.123456Z active Some(\"78:e3:b5:08:93:98\") None",
            "102 2026-11-20T01:00:00.123456Z bad None None",
            "102 2026-11-20T01:00:00.123456Z inactive Some(\"78:e3:b5:08:93:98\") None",
            "102 2026-11-21T01:00:00.123456Z ahead Some(\"78:e3:b5:08:93:98\") None",
        ]
    );
    assert_eq!(outcome.tally.rows, 5, "two are ignored");
}

#[test]
fn a_device_that_may_be_two_hosts_freezes_both() {
    let row = |inv: &str| format!("web,{inv},search,sas,Active,\r\n");
    let hosts = devices(&format!("Name,Asset tag,Tenant,Site,Status,Tags\r\n{}{}", row("1"), row("2")));
    let rows = "Device,Enabled,Primary MAC,Last updated\r\nweb,True,02:00:00:00:00:01,2026-11-20T01:00:00+00:00\r\n\
                web (2),True,02:00:00:00:00:02,2026-11-20T01:00:00+00:00\r\nsw,True,02:00:00:00:00:03,2026-11-20T01:00:00+00:00\r\n";
    let outcome = read_as(INTERFACES, &[rows.as_bytes()], hosts.draft, |_| {});
    assert_eq!(outcome.codes(), ["ambiguous-device"]);
    assert_eq!(
        reported(&outcome),
        [
            "1 2026-11-20T01:00:00Z bad None None",
            "2 2026-11-20T01:00:00Z active Some(\"02:00:00:00:00:02\") None",
            "2 2026-11-20T01:00:00Z bad None None",
        ]
    );
}

#[test]
fn interfaces_are_joined_with_hosts_csv_by_name() {
    let hosts = hosts("7,web-1.search.example.net,search,assigned,sas,,,,,\n");
    let rows =
        |name: &str| format!("[{}]", interface(1, "").replace("\"name\":\"host-1\"", &format!("\"name\":\"{name}\"")));
    for name in ["web-1", "WEB-1.search.example.net", "web-1 (A 7)"] {
        let draft = Draft { hosts: hosts_of(&hosts), ..Draft::default() };
        let outcome = read_as(INTERFACES, &[rows(name).as_bytes()], draft, |_| {});
        assert_eq!((outcome.reports().len(), outcome.codes()), (1, vec![]), "{name}");
    }
    let draft = Draft { hosts: hosts_of(&hosts), ..Draft::default() };
    let outcome = read_as(INTERFACES, &[rows("web-2").as_bytes()], draft, |_| {});
    assert_eq!((outcome.reports().len(), outcome.codes()), (0, vec!["unknown-devices"]));
}

/// A copy of the hosts of an outcome.
fn hosts_of(outcome: &Outcome) -> Vec<Host> {
    let copy = |host: &Host| Host { name: host.name.clone(), ..*host };
    outcome.draft.hosts.iter().map(copy).collect()
}

#[test]
fn times_that_people_read_are_refused() {
    let rows = "Device,MAC address,Last updated\r\nweb,02:00:00:00:00:01,11/20/2026 1 a.m.\r\n";
    let outcome = read_as(INTERFACES, &[rows.as_bytes()], Draft::default(), |_| {});
    assert!(
        outcome.text().contains("1:27: error[bad-time]") || outcome.text().contains(":2:23: error[bad-time]"),
        "{}",
        outcome.text()
    );
    assert!(outcome.text().contains("export as JSON"), "{}", outcome.text());
    let without = read_as(INTERFACES, &[b"Device,MAC address\r\nweb,02:00:00:00:00:01\r\n"], Draft::default(), |_| {});
    assert!(without.text().contains("there is no column `Last updated`"), "{}", without.text());
}

#[test]
fn racktables_is_read_as_mysql_prints_it() {
    let hosts = "asset_no\tname\ttype\tproject\tlocation\ttags\n101\tweb\"1\tServer\tsearch\tsas\tx,automated-dns\n\
                 102\tNULL\tServer\tsearch\tsas\tNULL\nNULL\tsw\\t1\tSwitch\tNULL\tsas\tNULL\n";
    let adjust = |spec: &mut SourceSpec| spec.mapping.only = vec![("type".into(), vec!["Server".into()])];
    let outcome = read_as(("hosts", "racktables"), &[hosts.as_bytes()], Draft::default(), adjust);
    assert_eq!(outcome.codes(), ["bad-name"], "{}", outcome.text());
    assert_eq!(
        all_said(&outcome),
        ["101 None search Assigned sas None true true true", "102 None search Assigned sas None false false true"]
    );
    let ports = "asset_no\tport\tl2address\tremote_object\tremote_port\texported\n\
                 101\teth0\t78E3B5089398\tsas1-s1\tge1\t2026-11-20T01:00:00Z\n101\teth1\tNULL\tNULL\tNULL\t2026-11-20T01:00:00Z\n";
    let outcome = read_as(("mac", "racktables"), &[ports.as_bytes()], Draft::default(), |_| {});
    let expected = "101 2026-11-20T01:00:00Z active Some(\"78:e3:b5:08:93:98\") Some(\"sas1-s1\")";
    assert_eq!((reported(&outcome), outcome.codes()), (vec![expected.to_owned()], vec![]), "{}", outcome.text());
    let report =
        "Name,Type,\"Asset Tag\",Location,project,Tags\n\"web-1\",Server,101,sas,search,\"x (automated-dns )\"\n";
    let outcome = read_as(("hosts", "racktables"), &[report.as_bytes()], Draft::default(), |_| {});
    let expected = "101 Some(\"web-1.search.example.net.\") search Assigned sas None true false true";
    assert_eq!((all_said(&outcome), outcome.codes()), (vec![expected.to_owned()], vec![]), "{}", outcome.text());
}

#[test]
fn objects_that_are_no_rows_are_no_export() {
    // What a server answers in place of an export, its short forms, and another way to ask it.
    for text in [
        "{\"detail\":\"Invalid token\"}\n",
        "{\"count\":1,\"next\":null,\"results\":null}\n",
        "{\"data\":{\"device_list\":[{\"id\":\"1\"}]}}\n",
        "[{\"id\":1,\"url\":\"x\",\"display\":\"web\",\"name\":\"web\",\"description\":\"\"}]",
        "[null]",
    ] {
        let outcome = devices(text);
        assert_eq!(outcome.doubt(), "source `hosts`: hosts-1 has other fields", "{}", outcome.text());
        assert_eq!(outcome.codes(), ["bad-header"], "{}", outcome.text());
    }
    let rows = [device(1, "null", "").replace("\"tenant\":{\"id\":1,\"name\":\"search\"}", "\"tenant\":null")];
    assert_eq!(devices(&format!("[{}]", rows[0])).doubt(), "known", "a field that holds nothing is there");
}

#[test]
fn no_export_takes_protection_away_by_what_it_lacks() {
    let json = format!("[{}]", device(1, "\"1\"", "").replace(",\"tags\":[]", ""));
    let csv = "Name,Asset tag,Tenant,Site,Status\r\nweb,1,search,sas,Active\r\n";
    for (text, code) in [(json.as_str(), "none of the rows has `tags`"), (csv, "there is no column `tags`")] {
        let outcome = devices(text);
        assert!(outcome.trust != Trust::Known && outcome.text().contains(code), "{}", outcome.text());
        let outcome = read_as(DEVICES, &[text.as_bytes()], Draft::default(), |spec| {
            let restrictions = spec.mapping.fields.iter_mut().find(|(key, _)| *key == "restrictions").unwrap();
            restrictions.1.clear();
        });
        assert_eq!((outcome.doubt(), outcome.codes()), ("known", vec![]), "{}", outcome.text());
    }
}

#[test]
fn a_page_that_is_there_twice_does_not_stand_for_another() {
    let rows: Vec<String> = (1..=4).map(|id| interface(id, "")).collect();
    let next = "\"http://netbox/api/dcim/interfaces/?limit=2&offset=2\"";
    let pages = [page(4, next, &rows[..2]), page(4, "null", &rows[2..])];
    let read = |one: usize, other: usize| {
        read_as(INTERFACES, &[pages[one].as_bytes(), pages[other].as_bytes()], Draft::default(), |_| {})
    };
    assert_eq!(read(0, 1).doubt(), "known");
    assert_eq!(read(1, 0).doubt(), "known", "their order does not matter where they are counted");
    for twice in [0, 1] {
        let outcome = read(twice, twice);
        assert!(outcome.trust != Trust::Known, "{}", outcome.text());
        assert!(outcome.text().contains("two pages have the same `next`"), "{}", outcome.text());
    }
}

#[test]
fn a_host_is_restricted_by_any_tag_by_its_name_or_slug() {
    let tagged =
        |tags: &str| format!("[{}]", device(1, "\"1\"", "").replace("\"tags\":[]", &format!("\"tags\":{tags}")));
    let is_restricted = |tags: &str, field: &'static str| {
        let outcome = read_as(DEVICES, &[tagged(tags).as_bytes()], Draft::default(), |spec| {
            let restrictions = spec.mapping.fields.iter_mut().find(|(key, _)| *key == "restrictions").unwrap();
            restrictions.1 = field.into();
        });
        assert_eq!(outcome.codes(), [] as [&str; 0], "{}", outcome.text());
        outcome.draft.hosts[0].restricted
    };
    let other = "{\"name\":\"x\",\"slug\":\"x\"}";
    let own = "{\"name\":\"Automated DNS\",\"slug\":\"automated-dns\"}";
    for field in ["tags", "tags.slug"] {
        assert!(is_restricted(&format!("[{other},{own}]"), field), "{field}");
        assert!(!is_restricted(&format!("[{other}]"), field), "{field}");
    }
    assert!(is_restricted("[\"x\",\"Automated-DNS\"]", "tags"), "names alone, as the API takes them");
}
