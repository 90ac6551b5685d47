//! Tests how many hosts lose records, and by which line.

use super::*;
use crate::guard::words;
use crate::plan::Rule;
use crate::plan::fixture::{self, change, reason};

/// A change of the AAAA of a host from some addresses to others, with these lines as evidence.
fn of(host: u64, (before, after): (&[&str], &[&str]), evidence: &[&str]) -> Change {
    let name = format!("h{host}.search.example.net");
    let side = |addresses| (if <[&str]>::is_empty(addresses) { 0 } else { 60 }, addresses);
    let sides = (side(before), side(after));
    change(("search", Some(host)), (&name, Rtype::AAAA), sides, &[reason(Rule::WrongAddress, Some(host), evidence)])
}

/// A plan in which these hosts of a fleet move, each with the lines that it depends on.
fn moving(fleet: u64, hosts: impl IntoIterator<Item = (u64, Vec<String>)>) -> Plan {
    let moved = |(host, lines): (u64, Vec<String>)| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        of(host, (&["2001:db8::1"], &["2001:db8::2"]), &lines)
    };
    Plan { fleet: Some(fleet), changes: hosts.into_iter().map(moved).collect(), ..fixture::empty() }
}

/// Lines of these names: by their first letters a row that replaced one, another one of networks, a host's, or another.
fn line(place: &str) -> LineKind {
    match &place[..4] {
        "tors" => LineKind::Replaced,
        "layo" => LineKind::Network,
        "host" => LineKind::OfOneHost,
        "old:" => LineKind::Old,
        _ => LineKind::Other,
    }
}

/// A limit in short: its numbers, whether it is exceeded, and the cause.
fn told(limit: Option<LimitState>) -> Option<(u64, u64, bool, String)> {
    limit.map(|limit| (limit.planned, limit.max, limit.exceeded, limit.cause.unwrap_or_default()))
}

#[test]
fn a_host_loses_what_was_live_and_is_gone_and_nothing_by_an_addition_or_another_ttl() {
    let plan = |before: &[&str], after: &[&str]| Plan {
        fleet: Some(600),
        changes: vec![of(1, (before, after), &["x:1"])],
        ..fixture::empty()
    };
    let losing =
        |before: &[&str], after: &[&str]| loss(&plan(before, after), &LimitRules::default()).map(|limit| limit.planned);
    let (a, b) = ("2001:db8::1", "2001:db8::2");
    assert_eq!(losing(&[a], &[]), Some(1));
    assert_eq!(losing(&[a], &[b]), Some(1));
    assert_eq!(losing(&[a, b], &[b]), Some(1));
    assert_eq!(losing(&[], &[a]), None);
    assert_eq!(losing(&[a], &[a, b]), None);
    let mut ttl = plan(&[a], &[b]);
    let same = change(("s", Some(1)), ("h.search.example.net", Rtype::AAAA), ((60, &[a]), (600, &[a])), &[]);
    ttl.changes = vec![same];
    assert_eq!(loss(&ttl, &LimitRules::default()), None);
}

#[test]
fn so_many_hosts_may_lose_records_as_the_share_says_or_else_fifteen_percent_and_fifty() {
    let found = |fleet: u64, hosts: u64, share: Option<u32>| {
        let plan = moving(fleet, (0..hosts).map(|host| (host, vec!["old:1".to_owned()])));
        told(loss(&plan, &LimitRules { max_loss: share.map(Percent::from_whole), ..LimitRules::default() }))
    };
    assert_eq!(found(111, 50, None), Some((50, 50, false, String::new())));
    assert_eq!(found(111, 51, None), Some((51, 50, true, String::new())));
    assert_eq!(found(600, 90, None), Some((90, 90, false, String::new())));
    assert_eq!(found(600, 91, None), Some((91, 90, true, String::new())));
    assert_eq!(found(600, 7, Some(1)), Some((7, 6, true, String::new())));
    assert_eq!(found(10, 1, Some(0)), Some((1, 1, false, String::new())), "one is always allowed");
    assert_eq!(found(10, 10, Some(100)), Some((10, 10, false, String::new())));
    let plan = moving(600, (0..106).map(|host| (host, Vec::new())));
    let limit = loss(&plan, &LimitRules::default()).unwrap();
    assert_eq!(
        words::says(&limit),
        "global/max_loss: 106 of 600 hosts would lose AAAA or PTR records that are live, but at most 90 may (the default \
         of max_loss: 15%, or 50 hosts; `[limits]` in zonewright.toml sets another)"
    );
    assert_eq!(words::allow(&limit), "--allow global/max_loss=106");
    let undo = Plan { fleet: None, ..plan };
    assert_eq!(loss(&undo, &LimitRules::default()), None, "an undo takes back what was created");
}

#[test]
fn a_name_without_a_host_counts_once_for_its_records() {
    let (address, pointer) = ("2a02:6b8::1", "gone.search.example.net.");
    let name = change(("s", None), ("gone.search.example.net", Rtype::AAAA), ((60, &[address]), (0, &[])), &[]);
    let back = change(("s", None), ("2a02:6b8::1", Rtype::PTR), ((60, &[pointer]), (0, &[])), &[]);
    let other = change(("s", None), ("other.search.example.net", Rtype::AAAA), ((60, &[address]), (0, &[])), &[]);
    let plan = |changes| Plan { fleet: Some(600), changes, ..fixture::empty() };
    let losing = |changes| loss(&plan(changes), &LimitRules::default()).map(|limit| (limit.planned, limit.of));
    assert_eq!(losing(vec![name.clone(), back.clone()]), Some((1, Some(601))));
    assert_eq!(losing(vec![name, back, other]), Some((2, Some(602))));
}

#[test]
fn a_row_of_l3_tors_that_changed_alone_may_move_ten_hosts() {
    let rack = |hosts: u64| (0..hosts).map(|host| (host, vec!["tors:3".to_owned(), format!("host:{host}")]));
    let found = |plan: &Plan| told(by_line(plan, &LimitRules::default(), &line));
    assert_eq!(found(&moving(600, rack(10))), Some((10, 50, false, "tors:3".to_owned())));
    let plan = moving(600, rack(18));
    assert_eq!(found(&plan), Some((18, 10, true, "tors:3".to_owned())));
    assert_eq!(
        words::says(&by_line(&plan, &LimitRules::default(), &line).unwrap()),
        "global/max_by_cause: 18 of 600 hosts would lose AAAA or PTR records that are live because of tors:3, but at most \
         10 may because of one new line (the default of max_by_cause: 5%, or 50 hosts; 10 by a row of l3-tors that \
         changed alone; `[limits]` in zonewright.toml sets another)"
    );
    // Other changes of the day, and the other VLAN of the rack, do not hide it.
    let day = (100..120).map(|host| (host, vec![format!("host:{host}"), "old:1".to_owned()]));
    assert_eq!(found(&moving(600, rack(18).chain(day))), Some((18, 10, true, "tors:3".to_owned())));
    let both = rack(18).map(|(host, lines)| (host, [lines, vec!["tors:4".to_owned()]].concat()));
    assert_eq!(found(&moving(600, both)), Some((18, 10, true, "tors:3, tors:4".to_owned())));
    // A VLAN that moves in a datacenter concerns several racks, or the L2 segments too.
    let racks = (0..36).map(|host| (host, vec![format!("tors:{}", host / 18)]));
    assert_eq!(found(&moving(600, racks)), Some((18, 50, false, "tors:0, tors:1".to_owned())));
    let segments = (50..60).map(|host| (host, vec!["layout:1".to_owned()]));
    assert_eq!(found(&moving(600, rack(18).chain(segments))), Some((18, 50, false, "tors:3".to_owned())));
}

#[test]
fn one_line_may_take_records_from_five_percent_of_the_hosts() {
    let found = |fleet: u64, hosts: u64, cause: &str| {
        let plan = moving(fleet, (0..hosts).map(|host| (host, vec![cause.to_owned(), format!("host:{host}")])));
        told(by_line(&plan, &LimitRules::default(), &line))
    };
    assert_eq!(found(10_000, 544, "p4.yaml:3"), Some((544, 500, true, "p4.yaml:3".to_owned())));
    assert_eq!(found(10_000, 333, "layout:3"), Some((333, 500, false, "layout:3".to_owned())));
    assert_eq!(found(111, 44, "p4.yaml:3"), Some((44, 50, false, "p4.yaml:3".to_owned())));
    assert_eq!(found(111, 44, "old:1"), None);
    // A project file that was edited on the day on which a VLAN moved causes nothing of that.
    let racks = (0..80).map(|host| (host, vec![format!("tors:{}", host / 20), "p0.yaml:3".to_owned()]));
    let both = told(by_line(&moving(600, racks), &LimitRules::default(), &line)).unwrap();
    assert_eq!((both.0, both.2), (20, false));
    let undo = Plan { fleet: None, ..moving(600, [(1, vec!["tors:1".to_owned()])]) };
    assert_eq!(by_line(&undo, &LimitRules::default(), &line), None);
}
