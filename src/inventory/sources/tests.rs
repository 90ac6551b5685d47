//! Every format, good and bad.

mod apps;

mod foreign;

use super::*;
use crate::diag::{Origin, render};
use crate::inventory::model::{ExportEntry, HostStatus, Sighting};
use crate::inventory::reports::in_order;
use crate::inventory::selector::KeySelector;
use crate::inventory::source::{
    ExportDemands, FieldMapping, OWN, PathPattern, RECORD_LABEL, RecordConflicts, RecordsSpec,
};
use crate::inventory::value::{Inv, Size, Vlan};

/// The outcome of one source.
struct Outcome {
    draft: Draft,
    trust: Trust,
    tally: SourceTally,
    files: Files,
}

impl Outcome {
    fn codes(&self) -> Vec<&'static str> {
        self.tally.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    fn reports(&self) -> Vec<MacReport> {
        in_order(self.draft.reports.clone())
    }

    fn text(&self) -> String {
        render(&self.tally.diagnostics, &self.files)
    }

    fn doubt(&self) -> &str {
        self.trust.doubt().unwrap_or("known")
    }

    fn symbol(&self, text: &str) -> Symbol {
        self.draft.symbols.find(text).expect("some row names it")
    }
}

/// Reads one source from `contents`, a file each.
fn read_with(key: &'static str, contents: &[&[u8]], adjust: impl FnOnce(&mut SourceSpec)) -> Outcome {
    read_as((key, OWN), contents, Draft::default(), adjust)
}

/// Reads one source of a format into a draft that may hold others.
fn read_as(
    (key, word): (&'static str, &'static str),
    contents: &[&[u8]],
    mut draft: Draft,
    adjust: impl FnOnce(&mut SourceSpec),
) -> Outcome {
    let format = FORMATS.iter().find(|format| (format.key, format.word) == (key, word)).unwrap();
    let mut files = Files::default();
    let inputs: Vec<SourceFile<'_>> =
        (1..).zip(contents).map(|(n, bytes)| SourceFile { id: files.add(format!("{key}-{n}")), bytes }).collect();
    let origin = Origin::line(inputs[0].id, 1);
    let pattern = PathPattern { text: key.into(), origin, width: 1 };
    let mut spec = SourceSpec {
        demands: ExportDemands::default(),
        key,
        word,
        mapping: FieldMapping {
            fields: format.keys.fields.iter().map(|(key, field)| (*key, (*field).to_owned())).collect(),
            ..FieldMapping::default()
        },
        name: key.into(),
        patterns: vec![pattern],
        require_end: false,
        max_size: Size::of(1 << 20),
        max_age: None,
        penalty: Duration::from_secs(0),
        records: (key == "records").then(|| RecordsSpec {
            project: "search".to_owned(),
            pool: None,
            namespace: None,
            labels: KeySelector::default(),
            annotations: KeySelector::default(),
            record_types: None,
            conflicts: RecordConflicts::Block,
            record_label: RECORD_LABEL.to_owned(),
        }),
    };
    adjust(&mut spec);
    let search = ProjectAdmin {
        dns_domain: Name::parse("search.example.net").unwrap(),
        also_domains: vec![Name::parse("old.example.net").unwrap()],
        automation_allowed: true,
        keep_edits: false,
        approvals: None,
        origin,
    };
    let admins = BTreeMap::from([("search".to_owned(), search)]);
    let context = RowContext {
        files: &files,
        now: "2026-11-20T12:00:00Z".parse().unwrap(),
        free_domain: &Name::parse("free.invalid").unwrap(),
        name_cooldown: Duration::from_secs(7 * 86_400),
        admins: &admins,
    };
    let SourcePart { mut tally, fold } = (format.read)(&SourceInput { spec: &spec, files: inputs.clone() }, &context);
    let limit = (!matches!(key, "apps" | "record_lists")).then_some(Percent::from_whole(1));
    let trust = tally.judge(key, limit, Some(inputs[0].id));
    fold(&mut draft, trust.clone());
    tally.diagnostics.append(std::mem::take(&mut draft.found));
    tally.diagnostics.settle();
    Outcome { draft, trust, tally, files }
}

fn read(key: &'static str, text: &str) -> Outcome {
    read_with(key, &[text.as_bytes()], |_| {})
}

const HEADER: &str = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";

fn hosts(rows: &str) -> Outcome {
    read("hosts", &format!("{HEADER}{rows}"))
}

fn vlan(number: u64) -> Vlan {
    Vlan::new(number).unwrap()
}

#[test]
fn hosts_are_read_sorted_and_numbered() {
    let outcome = hosts(
        "# a comment\n\
         7,,search,free,man,,,,,\n\
         \n\
         5,\"Sas1-0001.search.example.net\",search,assigned,sas,\"a \"\"q\"\", b\",r1,sas1-s1,ge1,x; automated-dns\r\n\
         6,free-6.FREE.invalid.,other,assigned,sas,,,sas1-s1,,\n",
    );
    assert_eq!((outcome.text().as_str(), &outcome.trust), ("", &Trust::Known));
    let [five, six, seven] = outcome.draft.hosts.as_slice() else { panic!("three hosts") };
    assert_eq!((five.inv, six.inv, seven.inv), (Inv(5), Inv(6), Inv(7)));
    assert_eq!(five.name, Some(Name::parse("sas1-0001.search.example.net").unwrap()));
    assert!(five.restricted && !six.restricted && !five.bad);
    assert_eq!((six.name.as_ref(), seven.name.as_ref(), seven.switch), (None, None, None));
    assert_eq!((five.switch, five.location), (six.switch, six.location));
    assert_eq!((five.status, seven.status), (HostStatus::Assigned, HostStatus::Free));
    assert_eq!((five.origin.line, seven.origin.line), (5, 3));
    assert_eq!(outcome.draft.projects.texts().collect::<Vec<_>>(), ["search", "other"]);
    assert!(!outcome.draft.has_bad_names);
}

#[test]
fn bad_host_rows_say_what_is_wrong_and_freeze_their_host() {
    let outcome = hosts(
        "1,sas 1.example.net,search,assigned,sas,,,s,,\n\
         x,,search,assigned,sas,,,s,,\n\
         2,,search,maybe,sas,,,s,\n\
         3,,,assigned,,,,s,,\n\
         4,\"a\"b,search,assigned,sas,,,s,,\n\
         8,,search,assigned,sas,,,s\0,,\n\
         9,\"open,search\n",
    );
    insta::assert_snapshot!(outcome.text(), @r#"
    hosts-1: error[too-many-bad-rows]: source `hosts`: 7 of 7 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    hosts-1:2:3: error[bad-name]: `sas 1.example.net` is not a host name: the character ' '
      2 | 1,sas 1.example.net,search,assigned,sas,,,s,,
        |   ^^^^^^^^^^^^^^^^^
        = rule: labels are 1 to 63 letters, digits, hyphens and underscores, names at most 255 bytes (zonewright help bad-name)
        = hint: correct the name
    hosts-1:3:1: error[bad-inv]: `x` is not an inventory number
      3 | x,,search,assigned,sas,,,s,,
        | ^
        = rule: an inventory number is an unsigned integer in decimal digits (zonewright help bad-inv)
        = hint: correct the number; until then the row belongs to no host
    hosts-1:4:1: error[field-count]: 9 fields instead of 10
      4 | 2,,search,maybe,sas,,,s,
        = rule: every row has exactly the fields of its format (zonewright help field-count)
        = hint: complete the row, or quote a field that holds a comma
    hosts-1:5:4: error[empty-field]: the project is empty
      5 | 3,,,assigned,,,,s,,
        |    ^
        = rule: inv, project, status and location are never empty (zonewright help empty-field)
        = hint: complete the row
    hosts-1:5:14: error[empty-field]: the location is empty
      5 | 3,,,assigned,,,,s,,
        |              ^
        = rule: inv, project, status and location are never empty (zonewright help empty-field)
        = hint: complete the row
    hosts-1:6:3: error[bad-quoting]: text behind the closing quote of a field
      6 | 4,"a"b,search,assigned,sas,,,s,,
        |   ^^^^
        = rule: a quoted field begins and ends with a quote, with quotes in it doubled (RFC 4180 section 2) (zonewright help bad-quoting)
        = hint: correct the quotes
    hosts-1:7:27: error[bad-character]: a control character, or a byte that is not UTF-8
      7 | 8,,search,assigned,sas,,,s\u{0},,
        |                           ^^^^^
        = rule: exports are UTF-8 without control characters (zonewright help bad-character)
        = hint: find out which program wrote this byte, and export again
    hosts-1:8:3: error[bad-quoting]: a quote that is never closed
      8 | 9,"open,search
        |   ^^^^^^^^^^^^
        = rule: a quoted field begins and ends with a quote, with quotes in it doubled (RFC 4180 section 2) (zonewright help bad-quoting)
        = hint: correct the quotes
    "#);
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.inv.0).collect::<Vec<_>>(), [1, 2, 3, 4, 8, 9]);
    assert!(outcome.draft.hosts.iter().all(|host| host.bad));
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (7, 7));
    assert_eq!(outcome.doubt(), "source `hosts`: 7 of 7 rows are bad");
    assert!(outcome.draft.has_bad_names);
}

#[test]
fn names_have_bounds() {
    for name in [
        &format!("{}.example.net", "a".repeat(64)),
        &[&*"a".repeat(63); 4].join("."),
        "a..b",
        "a\\032b.c",
        "\u{e4}.example.net",
        ".",
        "*.example.net",
    ] {
        let outcome = hosts(&format!("1,{name},search,assigned,sas,,,s,,\n"));
        assert_eq!(outcome.codes(), ["bad-name"], "{name}");
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"));
    }
}

#[test]
fn octets_that_are_no_text_are_a_bad_row() {
    let bytes = [HEADER.as_bytes(), b"1,,search,assigned,s\xffs,,,,,\n2,,search,assigned,sas,,,,,\n"].concat();
    let outcome = read_with("hosts", &[&bytes], |_| {});
    assert_eq!(outcome.codes(), ["bad-character"]);
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.bad).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_number_on_two_rows_freezes_both() {
    let outcome = read_with(
        "hosts",
        &[
            format!("{HEADER}1,,search,assigned,sas,,,,,\n2,,search,assigned,sas,,,,,\n").as_bytes(),
            format!("{HEADER}1,,search,free,sas,,,,,\n").as_bytes(),
        ],
        |_| {},
    );
    insta::assert_snapshot!(outcome.text(), @"
    hosts-1: error[too-many-bad-rows]: source `hosts`: 2 of 3 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    hosts-1:2: error[duplicate-inv]: 1 is on several rows
      2 | 1,,search,assigned,sas,,,,,
        = also: the other is hosts-2:2
        = rule: an inventory number always means the same host (zonewright help duplicate-inv)
        = hint: remove or correct one of the rows; until then all of them are frozen
    hosts-2:2: error[duplicate-inv]: 1 is on several rows
      2 | 1,,search,free,sas,,,,,
        = also: the other is hosts-1:2
        = rule: an inventory number always means the same host (zonewright help duplicate-inv)
        = hint: remove or correct one of the rows; until then all of them are frozen
    ");
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.bad).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn another_header_makes_hosts_unknown() {
    let outcome = read("hosts", "inv,name\n1,a\n");
    assert_eq!(outcome.codes(), ["bad-header"]);
    assert_eq!(outcome.doubt(), "source `hosts`: hosts-1 has another header");
    let outcome = read("hosts", &format!("\u{feff}# exported\n{}1,,p,free,sas,,,,,\r\n", HEADER.replace('\n', "\r\n")));
    assert_eq!((outcome.text().as_str(), outcome.draft.hosts.len()), ("", 1));
}

#[test]
fn rows_are_one_in_a_hundred_bad_at_most_and_one_always_may() {
    let rows = |bad: usize, good: usize| {
        let bad: String = (0..bad).map(|n| format!("{n},,search,x,sas,,,,,\n")).collect();
        let good: String = (1000..1000 + good).map(|n| format!("{n},,search,free,sas,,,,,\n")).collect();
        hosts(&(bad + &good)).trust
    };
    assert_eq!(rows(1, 0), Trust::Known);
    assert_eq!(rows(2, 198), Trust::Known);
    assert_ne!(rows(2, 197), Trust::Known);
}

#[test]
fn empty_files_are_unknown() {
    for (key, contents) in [
        ("hosts", HEADER),
        ("l3_tors", "# generated: 2026-11-20T01:00:00Z\n"),
        ("ipv4_map", "\n"),
        ("addresses", "inv,interface,address\n"),
        ("mac", "# nothing\n"),
        ("names_lock", "# nothing\n"),
        ("net_layout", "<net-layout><datacenter name='a'/></net-layout>"),
    ] {
        for contents in [contents, ""] {
            let outcome = read(key, contents);
            assert_eq!(outcome.codes(), ["source-empty"], "{key}");
            assert_ne!(outcome.trust, Trust::Known);
        }
    }
}

#[test]
fn switch_and_vlan_give_one_network() {
    let outcome = read(
        "l3_tors",
        "# generated: 2026-11-20T01:00:00Z\n\
         sas1-s1\t604 2a02:6b8:0:160b::/64 # why\n   # blank\n\
         sas1-s1 604 2a02:6b8:0:160b::/64\n\
         sas1-s2 604 2a02:6b8:0:160c::/64\n\
         sas1-s2 604 2a02:6b8:0:160d::/64\n\
         sas1-s3 604 2a02:6b8:0:1600::/63\n\
         sas1-s4 4096 2a02:6b8:0:1600::/64\n\
         sas1-s5 604\n\
         sas1-s6 604 2a02::1/64\n",
    );
    insta::assert_snapshot!(outcome.text(), @"
    l3_tors-1: error[too-many-bad-rows]: source `l3_tors`: 6 of 8 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    l3_tors-1:5: error[conflicting-networks]: 2a02:6b8:0:160c::/64 here, but 2a02:6b8:0:160d::/64 elsewhere for the same switch and VLAN
      5 | sas1-s2 604 2a02:6b8:0:160c::/64
        = also: the other is l3_tors-1:6
        = rule: switch and VLAN give exactly one /64 (zonewright help conflicting-networks)
        = hint: remove the wrong row; until then the hosts of both are blocked `bad-input`
    l3_tors-1:6: error[conflicting-networks]: 2a02:6b8:0:160d::/64 here, but 2a02:6b8:0:160c::/64 elsewhere for the same switch and VLAN
      6 | sas1-s2 604 2a02:6b8:0:160d::/64
        = also: the other is l3_tors-1:5
        = rule: switch and VLAN give exactly one /64 (zonewright help conflicting-networks)
        = hint: remove the wrong row; until then the hosts of both are blocked `bad-input`
    l3_tors-1:7:13: error[not-a-64]: `2a02:6b8:0:1600::/63` is not a /64
      7 | sas1-s3 604 2a02:6b8:0:1600::/63
        |             ^^^^^^^^^^^^^^^^^^^^
        = rule: the network of a row is a /64 without host bits (zonewright help not-a-64)
        = hint: correct the prefix; until then the hosts of this row are blocked `bad-input`
    l3_tors-1:8:9: error[bad-vlan]: `4096` is not a VLAN
      8 | sas1-s4 4096 2a02:6b8:0:1600::/64
        |         ^^^^
        = rule: VLANs are numbered 1 to 4094 (IEEE 802.1Q section 9.6) (zonewright help bad-vlan)
        = hint: correct the number
    l3_tors-1:9:1: error[field-count]: 2 fields instead of `SWITCH VLAN NETWORK`
      9 | sas1-s5 604
        = rule: every row has exactly the fields of its format (zonewright help field-count)
        = hint: complete the row
    l3_tors-1:10:13: error[not-a-64]: `2a02::1/64` has bits behind its prefix
      10 | sas1-s6 604 2a02::1/64
         |             ^^^^^^^^^^
         = rule: the network of a row is a /64 without host bits (zonewright help not-a-64)
         = hint: correct the prefix; until then the hosts of this row are blocked `bad-input`
    ");
    let tors = &outcome.draft.tors;
    assert_eq!(tors.switches.len(), 6);
    let entry = |switch: &str| tors.networks.get(&(outcome.symbol(switch), vlan(604)));
    assert!(matches!(entry("sas1-s1"), Some(ExportEntry::Good(_, origin)) if origin.line == 2));
    assert!(matches!(entry("sas1-s2"), Some(ExportEntry::Bad(origin)) if origin.line == 5));
    assert!(
        matches!(entry("sas1-s3"), Some(ExportEntry::Bad(_))) && matches!(entry("sas1-s5"), Some(ExportEntry::Bad(_)))
    );
    assert_eq!(entry("sas1-s4"), None);
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (8, 6));
}

#[test]
fn ipv4_maps_put_the_longest_prefix_first() {
    let outcome = read(
        "ipv4_map",
        "178.154.0.0/16 sas 604 2a02:6b8:0:1::/64\n\
         178.154.132.0/24 sas 604 2a02:6b8:0:2::/64\n\
         178.154.0.0/16 sas 604 2a02:6b8:0:1::/64\n\
         10.0.0.0/8 sas 604 2a02:6b8:0:3::/64\n\
         10.0.0.0/8 sas 604 2a02:6b8:0:4::/64\n\
         10.0.0.1/8 sas 604 2a02:6b8:0:4::/64\n",
    );
    assert_eq!(outcome.codes(), ["too-many-bad-rows", "conflicting-networks", "conflicting-networks", "bad-network"]);
    let key = (outcome.symbol("sas"), vlan(604));
    let rows: Vec<String> = outcome.draft.ipv4_map.rows[&key]
        .iter()
        .map(|(ipv4, entry)| match entry {
            ExportEntry::Good(network, origin) => format!("{ipv4} {network} {}", origin.line),
            ExportEntry::Bad(origin) => format!("{ipv4} bad {}", origin.line),
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @r"
    0.0.0.0/0 bad 6
    178.154.132.0/24 2a02:6b8:0:2::/64 2
    178.154.0.0/16 2a02:6b8:0:1::/64 1
    10.0.0.0/8 bad 4
    ");
}

#[test]
fn layouts_keep_their_order() {
    let outcome = read(
        "net_layout",
        "<?xml version=\"1.0\"?>\n<net-layout generated=\"2026-11-20T01:00:00Z\"><!-- c -->\n\
         <datacenter name=\"sas\">\n\
         <vlan id=\"604\"><network>2a02:6b8:0:2::/64</network>\n<network>2a02:6b8:0:1600::/56</network>\
         <network> 2a02:6b8:0:1::/6&#52; </network><network>2a02:6b8:0:2::/64</network></vlan>\n\
         <vlan id=\"761\"><network>2a02:6b8:0:3::/64</network><network>2a02:6b8::/6x</network></vlan>\n\
         </datacenter></net-layout>\n",
    );
    insta::assert_snapshot!(outcome.text(), @r#"
    net_layout-1:6:52: error[bad-network]: `2a02:6b8::/6x` is not a network
      6 | <vlan id="761"><network>2a02:6b8:0:3::/64</network><network>2a02:6b8::/6x</network></vlan>
        |                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        = rule: a network is an address, a slash and a prefix length, without host bits (zonewright help bad-network)
        = hint: correct the network
    "#);
    assert_eq!(outcome.draft.layout.ignored, 1);
    let sas = outcome.symbol("sas");
    let Some(ExportEntry::Good(list, first)) = outcome.draft.layout.networks.get(&(sas, vlan(604))) else {
        panic!("good")
    };
    let list: Vec<_> = list.iter().map(|(network, origin)| (network.to_string(), origin.line)).collect();
    assert_eq!(list, [("2a02:6b8:0:2::/64".to_owned(), 4), ("2a02:6b8:0:1::/64".to_owned(), 5)]);
    assert_eq!(first.line, 4);
    assert!(
        matches!(outcome.draft.layout.networks.get(&(sas, vlan(761))), Some(ExportEntry::Bad(origin)) if origin.line == 6)
    );
}

#[test]
fn layouts_that_hide_something_are_unknown() {
    let bomb = "<!DOCTYPE n [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n<net-layout/>";
    for (text, code) in [
        (bomb, "xml-doctype"),
        ("<net-layout>&b;</net-layout>", "xml-entity"),
        ("<net-layout><datacenter name=\"&b;\"/></net-layout>", "xml-entity"),
        ("<net-layout><datacenter name=\"a&b\"/></net-layout>", "xml-syntax"),
        ("<net-layout><datacenter name=\"a\0b\"/></net-layout>", "xml-syntax"),
        ("<net-layout a=1></net-layout>", "xml-syntax"),
        ("<net-layout></net>", "xml-syntax"),
        ("<net-layout></net-layout><net-layout/>", "xml-syntax"),
        ("<other/>", "xml-syntax"),
        ("<net-layout>\0</net-layout>", "xml-syntax"),
        ("<net-layout><datacenter name='a'>", "source-cut"),
    ] {
        let outcome = read("net_layout", text);
        assert_eq!(outcome.codes(), [code], "{text}");
        assert_ne!(outcome.trust, Trust::Known);
    }
    assert_eq!(read_with("net_layout", &[b"<net-layout>\xff</net-layout>"], |_| {}).codes(), ["not-utf-8"]);
}

#[test]
fn what_does_not_belong_in_a_layout_is_a_bad_row() {
    let outcome = read(
        "net_layout",
        "<net-layout><pop/><datacenter><vlan id='1'><network>2a02::/64</network></vlan></datacenter>\n\
         <datacenter name='sas'><vlan id='4096'><network>2a02::/64</network></vlan>\n\
         <vlan id='5'>2a02::/64</vlan><vlan id='6'><net><network>2a02::/64</network></net></vlan></datacenter></net-layout>",
    );
    insta::assert_snapshot!(outcome.text(), @"
    net_layout-1: error[too-many-bad-rows]: source `net_layout`: 5 of 8 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    net_layout-1:1:13: error[xml-element]: the element `pop` does not belong here
      1 | <net-layout><pop/><datacenter><vlan id='1'><network>2a02::/64</network></vlan></datacenter>
        |             ^^^^^^
        = rule: net-layout holds datacenters, a datacenter holds vlans, a vlan holds networks, and nothing else (zonewright help xml-element)
        = hint: remove it; its content is not read
    net_layout-1:1:19: error[xml-attribute]: a datacenter without a `name`
      1 | <net-layout><pop/><datacenter><vlan id='1'><network>2a02::/64</network></vlan></datacenter>
        |                   ^^^^^^^^^^^^
        = rule: a datacenter has a `name`, a vlan an `id` (zonewright help xml-attribute)
        = hint: correct the attribute; until then the element is not read
    net_layout-1:2:24: error[bad-vlan]: `4096` is not a VLAN
      2 | <datacenter name='sas'><vlan id='4096'><network>2a02::/64</network></vlan>
        |                        ^^^^^^^^^^^^^^^^
        = rule: VLANs are numbered 1 to 4094 (IEEE 802.1Q section 9.6) (zonewright help bad-vlan)
        = hint: correct the number
    net_layout-1:3:14: error[xml-element]: text outside a network
      3 | <vlan id='5'>2a02::/64</vlan><vlan id='6'><net><network>2a02::/64</network></net></vlan></datacenter></net-layout>
        |              ^^^^^^^^^
        = rule: net-layout holds datacenters, a datacenter holds vlans, a vlan holds networks, and nothing else (zonewright help xml-element)
        = hint: remove it; its content is not read
    net_layout-1:3:43: error[xml-element]: the element `net` does not belong here
      3 | <vlan id='5'>2a02::/64</vlan><vlan id='6'><net><network>2a02::/64</network></net></vlan></datacenter></net-layout>
        |                                           ^^^^^
        = rule: net-layout holds datacenters, a datacenter holds vlans, a vlan holds networks, and nothing else (zonewright help xml-element)
        = hint: remove it; its content is not read
    ");
    assert_eq!(outcome.draft.layout.networks.len(), 2);
    assert!(outcome.draft.layout.networks.values().all(|entry| matches!(entry, ExportEntry::Bad(_))));
}

fn report(rest: &str) -> String {
    format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":7,{rest}}}\n")
}

#[test]
fn reports_are_sorted_by_host() {
    let first = "{\"inv\":9,\"time\":\"2026-11-20T12:05:00Z\",\"mac\":\"78e3b5089398\",\"new\":{\"x\":[1]}}\n";
    let lines = format!(
        "{first}{}{}\n",
        report("\"mac\":\"78-e3-b5-08-93-98\",\"switch\":\"sas1\\u002ds1\",\"port\":null,\"active\":true"),
        report("\"mac\":\"78:e3:b5:08:93:99\",\"active\":false,\"switch\":\"\""),
    );
    let outcome = read("mac", &lines);
    assert_eq!(outcome.text(), "");
    let reports = outcome.reports();
    let [active, inactive, other] = &reports[..] else { panic!("three reports") };
    assert_eq!((active.inv, inactive.inv, other.inv), (Inv(7), Inv(7), Inv(9)));
    let switch = Some(outcome.symbol("sas1-s1"));
    assert!(matches!(active.sighting, Sighting::Active { switch: found, .. } if found == switch));
    assert!(matches!(inactive.sighting, Sighting::Inactive { .. }));
    assert_eq!((other.origin.line, outcome.draft.mac_sources[0].name.as_str()), (1, "mac"));
}

#[test]
fn bad_reports_freeze_their_host_where_it_and_their_time_can_be_read() {
    for (line, code, frozen) in [
        (report("\"mac\":\"78:e3:b5:08:93\""), "bad-mac", true),
        (report("\"mac\":\"01:00:5e:00:00:01\""), "bad-mac", true),
        (report("\"mac\":\"00:00:00:00:00:00\""), "bad-mac", true),
        (report("\"mac\":1"), "bad-report", true),
        (report("\"x\":1"), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"active\":\"no\""), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"switch\":\"a\\u0000\""), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"mac\":\"78e3b5089398\""), "bad-json", true),
        ("{\"inv\":7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("{\"time\":\"today\",\"inv\":7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-time", false),
        ("{\"time\":\"2026-11-20T12:00:00Z\",\"inv\":-7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("{\"time\":\"2026-11-20T12:00:00Z\",\"inv\":\"7\",\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("[1]\n".into(), "bad-json", false),
        ("{\n".into(), "bad-json", false),
        (format!("{}\n", "[".repeat(10_000)), "bad-json", false),
    ] {
        let outcome = read("mac", &line);
        assert!(outcome.codes().contains(&code), "{line}: {:?}", outcome.codes());
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"), "{line}");
        let found: Vec<_> = outcome.reports().iter().map(|report| report.sighting).collect();
        assert_eq!(found, if frozen { vec![Sighting::Bad] } else { vec![] }, "{line}");
    }
}

#[test]
fn reports_from_the_future_are_reported_but_freeze_no_host() {
    let mac = "78:e3:b5:08:93:98".parse().ok();
    for (rest, mac) in
        [("\"mac\":\"78e3b5089398\"", mac), ("\"mac\":\"78e3b5089398\",\"active\":false", mac), ("\"mac\":1", None)]
    {
        let outcome = read("mac", &format!("{{\"time\":\"2026-11-20T12:05:01Z\",\"inv\":7,{rest}}}\n"));
        assert!(outcome.codes().contains(&"future-report"), "{rest}: {:?}", outcome.codes());
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"), "{rest}");
        let found: Vec<_> = outcome.reports().iter().map(|report| report.sighting).collect();
        assert_eq!(found, [Sighting::Ahead { mac }], "{rest}");
    }
}

#[test]
fn a_cut_report_is_one_bad_row() {
    let line = report("\"mac\":\"78e3b5089398\"");
    let outcome = read("mac", &format!("{line}{}", line.trim_end()));
    insta::assert_snapshot!(outcome.text(), @r#"
    mac-1:2:1: error[cut-line]: the last line has no end
      2 | {"time":"2026-11-20T01:00:00Z","inv":7,"mac":"78e3b5089398"}
        = rule: every line ends with a newline; the last one may be incomplete without it (zonewright help cut-line)
        = hint: export again; append whole lines only
    "#);
    assert_eq!((outcome.doubt(), outcome.tally.bad), ("known", 1));
    let sightings: Vec<_> = outcome.reports().iter().map(|report| report.sighting == Sighting::Bad).collect();
    assert_eq!(sightings, [false, true]);
}

#[test]
fn locks_say_who_has_and_had_which_name() {
    let outcome = read(
        "names_lock",
        "2\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\ta.old.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n\
         1\tfree-1.free.invalid\tsearch\t2026-11-19T00:00:00Z\t-\n\
         3\tx.elsewhere\tsearch\t2026-01-01T00:00:00Z\t2026-11-13T11:59:59Z\n\
         4\tx.elsewhere\tunknown\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n",
    );
    assert_eq!((outcome.text().as_str(), &outcome.trust), ("", &Trust::Known));
    let rows: Vec<_> =
        outcome.draft.lock.iter().map(|row| (row.inv.0, row.name.is_some(), row.released.is_some())).collect();
    assert_eq!(rows, [(1, false, false), (1, true, true), (2, true, false), (3, true, true), (4, true, true)]);
}

#[test]
fn rows_of_names_lock_that_contradict_say_which_counts() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n\
         2\ta.search.example.net\tsearch\t2026-01-02T00:00:00Z\t-\n\
         2\tfree-2.free.invalid\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         4\td.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         4\tfree-4.free.invalid\tsearch\t2026-01-02T00:00:00Z\t-\n\
         <<<<<<< HEAD\n\
         =======\n\
         ======\n",
    );
    let heads: Vec<String> = outcome.text().lines().filter(|line| line.contains('[')).map(str::to_owned).collect();
    insta::assert_snapshot!(heads.join("\n"), @"
    names_lock-1: error[too-many-bad-rows]: source `names_lock`: 10 of 11 rows are bad; at most 1 may be
    names_lock-1:1: warning[current-and-released]: host 1 has `a.search.example.net.` in this row, but another row says that it gave the name up at 2026-11-19T00:00:00Z
    names_lock-1:1: error[two-current-holders]: `a.search.example.net.` is current in several rows; host 2 keeps it: host 1 gave `a.search.example.net.` up at 2026-11-19T00:00:00Z
    names_lock-1:3: error[two-current-holders]: `a.search.example.net.` is current in several rows; host 2 keeps it: host 1 gave `a.search.example.net.` up at 2026-11-19T00:00:00Z
    names_lock-1:3: error[two-current-names]: host 2 has several current rows; it keeps `a.search.example.net.`: since 2026-01-02T00:00:00Z, no earlier than its release at 2026-01-01T00:00:00Z
    names_lock-1:4: error[two-current-names]: host 2 has several current rows; it keeps `a.search.example.net.`: since 2026-01-02T00:00:00Z, no earlier than its release at 2026-01-01T00:00:00Z
    names_lock-1:5: error[two-current-names]: host 3 has several current rows; it keeps `c.search.example.net.`: one row since 2026-01-01T00:00:00Z is enough
    names_lock-1:6: error[two-current-names]: host 3 has several current rows; it keeps `c.search.example.net.`: one row since 2026-01-01T00:00:00Z is enough
    names_lock-1:7: error[two-current-names]: host 4 has several current rows; it keeps no name: it was released at 2026-01-02T00:00:00Z, after 2026-01-01T00:00:00Z
    names_lock-1:8: error[two-current-names]: host 4 has several current rows; it keeps no name: it was released at 2026-01-02T00:00:00Z, after 2026-01-01T00:00:00Z
    names_lock-1:9:1: error[conflict-marker]: git could not merge the rows here
    names_lock-1:10:1: error[conflict-marker]: git could not merge the rows here
    names_lock-1:11:1: error[field-count]: 1 field instead of `inv name project since released`
    ");
}

#[test]
fn a_name_from_before_a_release_does_not_count_though_it_is_the_first() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\tfree-1.free.invalid\tsearch\t2026-01-02T00:00:00Z\t-\n\
         1\tb.search.example.net\tsearch\t2026-01-03T00:00:00Z\t-\n",
    );
    let expected = "it keeps `b.search.example.net.`: since 2026-01-03T00:00:00Z: the host got it after a release, \
                    and `a.search.example.net.` before that release";
    assert_eq!(outcome.text().matches(expected).count(), 2, "{}", outcome.text());
}

#[test]
fn bad_lock_rows_are_bad_for_all_concerned() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         2\tB.search.example.net.\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.elsewhere\tsearch\t2026-01-01T00:00:00Z\t2026-11-13T12:00:00Z\n\
         4\td.search.example.net\tsearch\tlong ago\tnever\n\
         5 e.search.example.net search\n\
         x\tf.search.example.net\t\t2026-01-01T00:00:00Z\t-\n\
         6\tg.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n",
    );
    insta::assert_snapshot!(outcome.text(), @"
    names_lock-1: error[too-many-bad-rows]: source `names_lock`: 7 of 8 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    names_lock-1:1: error[two-current-names]: host 1 has several current rows; it keeps `a.search.example.net.`: since 2026-01-01T00:00:00Z like `b.search.example.net.`, and it is the lower of the two
      1 | 1 a.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:2
        = rule: a host has one current row (zonewright help two-current-names)
        = hint: let `zonewright check --fix-lock` settle it, or give all but one of the rows the time of the release
    names_lock-1:2: error[two-current-holders]: `b.search.example.net.` is current in several rows; host 2 keeps it: host 1 keeps another name
      2 | 1 b.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:3
        = rule: a name is current in one row (zonewright help two-current-holders)
        = hint: let `zonewright check --fix-lock` settle it, or release the name of all but one of the hosts
    names_lock-1:2: error[two-current-names]: host 1 has several current rows; it keeps `a.search.example.net.`: since 2026-01-01T00:00:00Z like `b.search.example.net.`, and it is the lower of the two
      2 | 1 b.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:1
        = rule: a host has one current row (zonewright help two-current-names)
        = hint: let `zonewright check --fix-lock` settle it, or give all but one of the rows the time of the release
    names_lock-1:3: error[two-current-holders]: `b.search.example.net.` is current in several rows; host 2 keeps it: host 1 keeps another name
      3 | 2 B.search.example.net. search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:2
        = rule: a name is current in one row (zonewright help two-current-holders)
        = hint: let `zonewright check --fix-lock` settle it, or release the name of all but one of the hosts
    names_lock-1:4:3: error[foreign-released-name]: `c.elsewhere.` is not directly below a domain of project `search`
      4 | 3 c.elsewhere search 2026-01-01T00:00:00Z 2026-11-13T12:00:00Z
        |   ^^^^^^^^^^^
        = rule: a released name is directly below a domain of its project (zonewright help foreign-released-name)
        = hint: correct the project of the row, or give the project the domain in `also_domains`
    names_lock-1:5:31: error[bad-time]: `long ago` is not a time
      5 | 4 d.search.example.net search long ago never
        |                               ^^^^^^^^
        = rule: times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z (zonewright help bad-time)
        = hint: correct the time
    names_lock-1:5:40: error[bad-time]: `never` is not a time
      5 | 4 d.search.example.net search long ago never
        |                                        ^^^^^
        = rule: times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z (zonewright help bad-time)
        = hint: correct the time
    names_lock-1:6:1: error[field-count]: 1 field instead of `inv name project since released`
      6 | 5 e.search.example.net search
        = rule: every row has exactly the fields of its format (zonewright help field-count)
        = hint: write its five fields with one tab between them
    names_lock-1:7:1: error[bad-inv]: `x` is not an inventory number
      7 | x f.search.example.net  2026-01-01T00:00:00Z -
        | ^
        = rule: an inventory number is an unsigned integer in decimal digits (zonewright help bad-inv)
        = hint: correct the number; until then the row belongs to no host
    names_lock-1:7:24: error[empty-field]: the project is empty
      7 | x f.search.example.net  2026-01-01T00:00:00Z -
        |                        ^
        = rule: a row is `inv name project since released`, separated by tabs (zonewright help empty-field)
        = hint: complete the row
    ");
    let bad: Vec<_> = outcome.draft.lock.iter().map(|row| (row.inv.0, row.bad)).collect();
    assert_eq!(bad, [(1, true), (1, true), (2, true), (3, true), (4, true), (6, false)]);
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (8, 7));
}

#[test]
fn the_end_marker_proves_that_a_file_is_whole() {
    let rows = "a 1 2a02::/64\nb 1 2a02::/64\n";
    let demanded = |text: &str| {
        let outcome = read_with("l3_tors", &[text.as_bytes()], |spec| spec.require_end = true);
        outcome.doubt().to_owned()
    };
    assert_eq!(demanded(&format!("{rows}# end 2\n")), "known");
    assert_eq!(demanded(&format!("{rows}# end 2\r\n")), "known");
    assert_eq!(demanded(rows), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(demanded(&format!("{rows}# end 3\n")), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(demanded(&format!("# end 2\n{rows}")), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(read("l3_tors", &format!("{rows}# end 1\n")).codes(), ["source-cut"]);
}

/// A good file of each format, whose end can be recognized.
fn whole(key: &str) -> String {
    match key {
        "hosts" => {
            format!("{HEADER}1,a.search.example.net,search,assigned,sas,,,s,,\n2,,search,free,\"m,an\",,,,,\n# end 2\n")
        }
        "l3_tors" => "sas1-s1 604 2a02:6b8:0:1::/64\nsas1-s2 604 2a02:6b8:0:2::/64\n# end 2\n".into(),
        "addresses" => "inv,interface,address\n1,eth0,192.0.2.1\n1,\"eth\u{e4}\",2001:db8::1\n# end 2\n".into(),
        "ipv4_map" => "10.0.0.0/8 sas 604 2a02:6b8:0:1::/64\n10.1.0.0/16 sas 604 2a02:6b8:0:1::/64\n# end 2\n".into(),
        "net_layout" => "<net-layout><datacenter name=\"s\u{e4}s\"><vlan id=\"604\"><network>2a02::/64</network>\
                         <network>2a02:1::/64</network></vlan></datacenter></net-layout>"
            .into(),
        "mac" => format!(
            "{}{}# end 2\n",
            report("\"mac\":\"78e3b5089398\""),
            report("\"mac\":\"78e3b5089399\",\"switch\":\"\u{e4}\"")
        ),
        "pods" => {
            let row = |pod: &str| {
                format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"s\",\"pod\":\"{pod}\",\"state\":\"dead\"}}\n")
            };
            format!("{}{}# end 2\n", row("a"), row("b"))
        }
        _ => "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
              2\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n# end 2\n"
            .into(),
    }
}

#[test]
fn no_cut_goes_unnoticed() {
    // Where documents end is shown by their syntax alone.
    let of_rows = |format: &&ExportFormat| format.word == OWN && !matches!(format.key, "apps" | "record_lists");
    for format in FORMATS.iter().filter(of_rows) {
        let text = whole(format.key);
        let outcome = read_with(format.key, &[text.as_bytes()], |spec| spec.require_end = true);
        assert_eq!((outcome.doubt(), outcome.tally.bad), ("known", 0), "{}", format.key);
        for end in 0..text.len() {
            let cut = &text.as_bytes()[..end];
            let demanded = read_with(format.key, &[cut], |spec| spec.require_end = true);
            assert_ne!(demanded.trust, Trust::Known, "{} cut at {end}", format.key);
            // Without the demand, a cut is recognized by the missing end of the last line.
            let outcome = read_with(format.key, &[cut], |_| {});
            let is_reported = !cut.ends_with(b"\n");
            if is_reported && format.key == "mac" {
                let all = outcome.reports().len() == 2;
                assert!(outcome.trust != Trust::Known || outcome.tally.bad == 1 || all, "{end}");
            } else if is_reported {
                assert_ne!(outcome.trust, Trust::Known, "{} cut at {end}", format.key);
            }
        }
    }
}

#[test]
fn chunks_are_joined_in_order() {
    let name = |n: usize| if n.is_multiple_of(3) { String::new() } else { format!("h{n}.search.example.net") };
    let count = 60_000;
    let rows: String =
        (0..count).map(|n| format!("{},{},p{},assigned,sas,,,s{},,\n", count - n, name(n), n % 7, n % 1000)).collect();
    let text = format!("{HEADER}{}\n{rows}0,,p,x,sas,,,,,\n# end {}\n", "# long\n".repeat(300_000), count + 1);
    let outcome = read("hosts", &text);
    assert_eq!((outcome.doubt(), outcome.codes()), ("known", vec!["bad-status"]));
    assert_eq!(outcome.draft.hosts.len(), count + 1);
    for (place, host) in outcome.draft.hosts.iter().enumerate().skip(1) {
        let n = count - place;
        assert_eq!(host.inv, Inv(place as u64));
        assert_eq!(host.origin.line as usize, n + 300_003);
        assert_eq!(host.switch.map(|switch| outcome.draft.symbols.text(switch)), Some(&*format!("s{}", n % 1000)));
        assert_eq!(host.name.is_none(), n % 3 == 0);
    }
}

#[test]
fn exports_date_themselves() {
    for (key, file) in [
        ("hosts", format!("# generated: DATE\r\n# more\n{HEADER}ROW,,search,free,man,,,,,\n")),
        ("l3_tors", "\u{feff}# generated: DATE\nsas1-s1 604 2a02:6b8:0:1::/64\n".into()),
        ("addresses", "# generated: DATE\ninv,interface,address\n1,eth0,192.0.2.1\n".into()),
        ("ipv4_map", "# generated:DATE \n10.0.0.0/8 sas 604 2a02:6b8:0:3::/64\n".into()),
        (
            "net_layout",
            "<net-layout generated=\"DATE\"><datacenter name=\"sas\"><vlan id=\"604\">\
             <network>2a02:6b8:0:2::/64</network></vlan></datacenter></net-layout>\n"
                .into(),
        ),
    ] {
        let dated = |dates: &[&str]| {
            let files: Vec<String> = (1..)
                .zip(dates)
                .map(|(row, date): (u64, _)| file.replace("DATE", date).replace("ROW", &row.to_string()))
                .collect();
            let files: Vec<&[u8]> = files.iter().map(String::as_bytes).collect();
            let outcome = read_with(key, &files, |_| {});
            assert_eq!(outcome.doubt(), "known", "{key}: {}", outcome.text());
            (outcome.tally.dated.time().map(|time| time.to_string()), outcome.codes())
        };
        let at = |time: &str| Some(time.to_owned());
        assert_eq!(dated(&["2026-11-20T01:00:00Z"]), (at("2026-11-20T01:00:00Z"), vec![]), "{key}");
        // Of several files the oldest counts, whatever offsets they are written with.
        let dates = ["2026-11-20T01:00:00+05:00", "2026-11-19T23:00:00-02:00", "2026-11-19T22:00:00Z"];
        assert_eq!(dated(&dates), (at("2026-11-19T20:00:00Z"), vec![]), "{key}");
        // A file that does not say may be of any age.
        assert_eq!(dated(&["2026-11-20T01:00:00Z", "yesterday"]), (None, vec!["bad-time"]), "{key}");
        assert_eq!(dated(&["2026-11-20T01:00:00", "2026-11-20T01:00:00Z"]), (None, vec!["bad-time"]), "{key}");
    }
    let undated = read("l3_tors", "sas1-s1 604 2a02:6b8:0:1::/64\n# generated: 2026-11-20T01:00:00Z\n");
    assert_eq!((undated.tally.dated, undated.doubt()), (SourceDate::Unsaid, "known"));
}

#[test]
fn a_date_before_the_header_moves_no_line() {
    let outcome = read("hosts", &format!("# generated: 2026-11-20T01:00:00Z\n{HEADER}7,,search,maybe,man,,,,,\n"));
    assert_eq!(outcome.draft.hosts[0].origin.line, 3);
    assert_eq!((outcome.tally.rows, outcome.codes()), (1, vec!["bad-status"]));
}
