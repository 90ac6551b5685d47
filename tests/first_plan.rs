//! The first plan of a workspace that `init` made of zones removes nothing, changes nothing that is there, and adds no
//! more than reverse records of addresses that the zones hold already.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use zonewright::change::{Change, ChangeKind};
use zonewright::dns::{Rtype, reverse};
use zonewright::inventory::value::Time;
use zonewright::pipeline::init::{self, InitError};
use zonewright::pipeline::{PlanRequest, make_plan};
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;

/// Ignores all reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// The clock.
fn now() -> Time {
    "2026-11-20T02:00:00Z".parse().expect("a time")
}

/// The last 64 bits of an address, of each kind that there is: of a MAC, of an IPv4 address, of a project id, or by
/// hand.
fn interface_id(kind: u8, host: u8) -> String {
    match kind % 4 {
        0 | 1 => format!("200:5eff:fe00:53{host:02x}"),
        2 => format!("0:0:c000:2{host:02x}"),
        _ => format!("0:1478:0:{host:x}"),
    }
}

/// One line of the forward zone; names repeat, so that hosts have several addresses and share them.
fn forward_line() -> impl Strategy<Value = String> {
    let name = || (0..14u8).prop_map(|n| if n < 10 { format!("h{n}") } else { format!("h{n}.dc") });
    let v6 = (0..3u8, any::<u8>(), 0..9u8)
        .prop_map(|(net, kind, host)| format!("2001:db8:0:{net}:{}", interface_id(kind, host)));
    prop_oneof![
        8 => (name(), v6.clone(), 0..3u8).prop_map(|(name, v6, ttl)| format!("{name} {} AAAA {v6}", 300 * (1 + u32::from(ttl)))),
        3 => (name(), 0..9u8).prop_map(|(name, host)| format!("{name} A 192.0.2.{host}")),
        1 => name().prop_map(|name| format!("@ MX 10 {name}")),
        1 => name().prop_map(|name| format!("@ NS {name}")),
        1 => name().prop_map(|name| format!("alias-{name} CNAME {name}")),
        1 => v6.clone().prop_map(|v6| format!("*.w AAAA {v6}")),
        1 => v6.clone().prop_map(|v6| format!("_odd AAAA {v6}")),
        1 => v6.clone().prop_map(|v6| format!("@ AAAA {v6}")),
        1 => (name(), v6).prop_map(|(name, v6)| format!("{name}.cut AAAA {v6}")),
        1 => Just("cut NS ns.cut".to_owned()),
        1 => name().prop_map(|name| format!("{name} TXT \"an editor's\"")),
    ]
}

/// One line of the reverse zone of 2001:db8::/48: a PTR to some name, at any of the addresses.
fn reverse_line() -> impl Strategy<Value = String> {
    let target = (0..16u8).prop_map(|n| match n {
        0..10 => format!("h{n}.example.net."),
        10..14 => format!("h{n}.dc.example.net."),
        14 => "elsewhere.example.org.".to_owned(),
        _ => "example.net.".to_owned(),
    });
    (0..3u8, any::<u8>(), 0..9u8, target).prop_map(|(net, kind, host, target)| {
        let address: Ipv6Addr = format!("2001:db8:0:{net}:{}", interface_id(kind, host)).parse().expect("an address");
        let name = reverse::reverse_name(address.into()).to_string();
        format!("{name} PTR {target}")
    })
}

/// Writes a master file.
fn write_zone(folder: &Path, name: &str, lines: &[String]) {
    let lines: BTreeSet<&String> = lines.iter().collect();
    let lines: Vec<&str> = lines.into_iter().map(String::as_str).collect();
    let head = "$TTL 900\n@ SOA ns.invalid. hostmaster.invalid. 1 3600 600 604800 300\n@ NS ns.invalid.\n";
    fs::write(folder.join(format!("{name}.zone")), format!("{head}{}\n", lines.join("\n"))).expect("a file");
}

/// How many zones: those of `PROPTEST_CASES` in the environment, else as many as take some seconds.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(100, |cases| cases.parse().expect("a number"))
}

/// The changes of the first plan of a workspace made of these zones; none where no name in them is a host's.
fn first_plan(forward: &[String], reverse: &[String], has_v4: bool) -> Option<Vec<Change>> {
    let folder = tempfile::tempdir().expect("a folder");
    let zones = folder.path().join("zones");
    fs::create_dir(&zones).expect("a folder");
    write_zone(&zones, "example.net", forward);
    write_zone(&zones, "0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", reverse);
    if has_v4 {
        write_zone(&zones, "2.0.192.in-addr.arpa", &["3 PTR h3.example.net.".to_owned()]);
    }
    let starter = match init::of_folder(folder.path(), "test", now(), &Silent) {
        Ok(starter) => starter,
        Err(InitError::NoHosts(_)) => return None,
        Err(error) => panic!("{error:?}"),
    };
    for file in &starter.files {
        let place = folder.path().join(&file.path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(place, &file.text).expect("a file");
    }
    let (hosts, projects) = (Vec::new(), Vec::new());
    let workspace = folder.path();
    let request = PlanRequest {
        subjects: Vec::new(),
        adopt: None,
        asks_approvals: false,
        workspace,
        now: now(),
        hosts,
        projects,
        live_snapshot: None,
        base: None,
        cache: CacheUse::Read,
        allow: &[],
    };
    let made = make_plan(&request, &Silent).expect("a plan");
    assert_eq!(made.findings.diagnostics.error_count(), 0, "{:?}", made.findings.diagnostics);
    assert!(!made.is_partial);
    Some(made.plan.changes)
}

/// The name and address of a change that adds nothing but the PTR of one name to an address that has none.
fn added(change: &Change) -> Option<(String, IpAddr)> {
    let ChangeKind::Create { after } = &change.kind else { return None };
    let address = reverse::address_of(change.key.owner.as_name()).filter(|_| change.key.rtype == Rtype::PTR)?;
    match after.rdata_texts(Rtype::PTR).as_slice() {
        [name] => Some((name.strip_suffix(".example.net.")?.to_owned(), address)),
        _ => None,
    }
}

#[test]
fn nothing_is_removed_and_only_missing_reverse_records_are_added() {
    let mut runner = TestRunner::new(Config { cases: cases(), failure_persistence: None, ..Config::default() });
    let (plans, additions) = (Cell::new(0), Cell::new(0));
    let zones =
        (prop::collection::vec(forward_line(), 1..40), prop::collection::vec(reverse_line(), 0..20), any::<bool>());
    let outcome = runner.run(&zones, |(forward, reverse, has_v4)| {
        let Some(changes) = first_plan(&forward, &reverse, has_v4) else { return Ok(()) };
        plans.set(plans.get() + 1);
        for change in &changes {
            let Some((name, address)) = added(change) else { return Err(TestCaseError::fail(format!("{change:?}"))) };
            let holds = |line: &String| {
                let words: Vec<&str> = line.split(' ').collect();
                words[0] == name && words.last().and_then(|word| word.parse().ok()) == Some(address)
            };
            prop_assert!(forward.iter().any(holds), "{} {}", name, address);
            additions.set(additions.get() + 1);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    // Zones in which there is nothing to do would show nothing.
    let (plans, additions) = (plans.get(), additions.get());
    assert!(plans * 2 > cases() && additions * 2 > plans, "{additions} additions in {plans} plans");
}
