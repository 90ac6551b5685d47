//! l3-tors.txt, ipv4-map.txt and net-layout.xml: which networks there are.

use super::*;

fn vlan(number: u64) -> Vlan {
    Vlan::new(number).unwrap()
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
