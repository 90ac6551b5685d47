//! Plans for tests.

use std::collections::BTreeMap;

use super::*;
pub use crate::change::fixture::{Side, change, copy, pool, reason, rrset, subject, zone};
use crate::dns::Rtype;
use crate::inventory::value::Inv;
use crate::registry::Registry;

/// An empty plan.
pub fn empty() -> Plan {
    Plan {
        tool: "zonewright 0.1.0".to_owned(),
        created: "2026-11-20T01:30:00Z".parse().unwrap(),
        expires: "2026-11-21T01:30:00Z".parse().unwrap(),
        workspace: WorkspaceSeen {
            owner: "fleet-dns".to_owned(),
            pools: Vec::new(),
            registry: Registry::Txt,
            txt: None,
            id: Some("2f61c0a49be07d35".repeat(2)),
        },
        undoes: None,
        only: None,
        inputs: [("racktables/hosts.csv", '1'), ("racktables/l3-tors.txt", '2')]
            .map(|(file, digit)| (file.to_owned(), String::from(digit).repeat(64)))
            .into(),
        fleet: Some(62_000),
        hosts: BTreeMap::new(),
        affected: Vec::new(),
        changes: Vec::new(),
        review: None,
        groups: Vec::new(),
        pods: Vec::new(),
        delayed: Vec::new(),
        waiting: Vec::new(),
        waves: Vec::new(),
        stated: Vec::new(),
        left_behind: Vec::new(),
        blocked: Vec::new(),
        skipped: Vec::new(),
        notices: Vec::new(),
        limits: Vec::new(),
        sources: Vec::new(),
        zone_changes: Vec::new(),
        zones: vec![
            seen("0.0.8.b.6.0.2.0.a.2.ip6.arpa", 2026112007, 81_240),
            seen("search.example.net", 2026112001, 62_018),
            seen("web.example.net", 417, 9_114),
        ],
    }
}

/// [`fleet`] compared with a base: changes that the difference causes, causes in part, and does not cause.
pub fn reviewed() -> Plan {
    let mut plan = fleet();
    super::order::settle(&mut plan);
    let of = |wanted: &dyn Fn(&Change) -> bool| -> Vec<u32> {
        plan.changes.iter().zip(0..).filter(|(change, _)| wanted(change)).map(|(_, place)| place).collect()
    };
    let cause = |class, kind, says: &str, places: &[&str], changes| Cause {
        class: Some(class),
        kind,
        says: says.to_owned(),
        places: places.iter().map(|place| (*place).to_owned()).collect(),
        is_explained: kind != CauseKind::Other,
        changes,
    };
    let network = "VLAN 604 of switch `sas1-s12` moved from `2a02:6b8:0:1600::/64` to `2a02:6b8:0:160b::/64`";
    let tors = ["racktables/l3-tors.txt:412"];
    let drift = "another editor changed or removed records that apply 12 wrote (2026-11-18T04:00:00Z)";
    let ttl = "the TTL of project `search` is 600, no longer 3600";
    let is_search = |change: &Change, inv: u64| change.subject == subject(Some(inv));
    let causes = vec![
        cause(ChangeClass::Caused, CauseKind::Network, network, &tors, of(&|change| is_search(change, 100_007))),
        cause(
            ChangeClass::Caused,
            CauseKind::Other,
            "nothing that differs explains this",
            &[],
            of(&|change| change.project == "lab"),
        ),
        cause(ChangeClass::Mixed, CauseKind::Network, network, &tors, of(&|change| is_search(change, 100_001))),
        cause(ChangeClass::Pending, CauseKind::Drift, drift, &[], of(&|change| change.project == "web")),
        cause(
            ChangeClass::Pending,
            CauseKind::Ttl,
            ttl,
            &["projects/search.yaml:9"],
            of(&|change| is_search(change, 100_012)),
        ),
        cause(
            ChangeClass::Pending,
            CauseKind::Released,
            "names that no host has",
            &["projects/search.yaml:11"],
            of(&|change| change.project == "search" && change.subject.host().is_none()),
        ),
    ];
    let against = ComparisonBase::Base { name: "origin/main".to_owned(), commit: Some("3f2a".repeat(10)) };
    let mut review = Review { against, causes, settled: 2, newly_blocked: vec![subject(Some(100_002))] };
    review.sort();
    let source = |name: &str, rows, dated: &str, max_age: Option<&str>| SourceSeen {
        source: name.to_owned(),
        rows,
        dated: (!dated.is_empty()).then(|| dated.parse().unwrap()),
        max_age: max_age.map(|age| age.parse().unwrap()),
    };
    let sources = vec![
        source("agent", 41_022, "2026-11-20T01:15:00Z", Some("1h")),
        source("hosts", 20_611, "2026-11-19T22:00:00Z", None),
        source("l3_tors", 1_904, "2026-11-19T20:10:00Z", Some("6h")),
        source("net_layout", 812, "", None),
    ];
    Plan { review: Some(review), sources, ..plan }
}

/// A zone as it was read.
fn seen(name: &str, serial: u32, rrsets: u64) -> ZoneSeen {
    ZoneSeen {
        digest: "ab".repeat(32),
        managed: rrsets / 2,
        pool: pool(),
        rrsets,
        serial: Some(serial),
        target: "main".to_owned(),
        zone: zone(name),
    }
}

/// A plan for three projects, in which nearly everything happens.
pub fn fleet() -> Plan {
    let tors = "racktables/l3-tors.txt:412";
    let search = "projects/search.yaml:4";
    let agent = "agents/agent-1.jsonl:17";
    let s1 = ("search", Some(100_001));
    let s2 = ("search", Some(100_007));
    let s3 = ("search", Some(100_012));
    let w1 = ("web", Some(200_017));
    let lab = ("lab", Some(300_044));
    let none: Side<'_> = (0, &[]);
    let host1 = "2a02:6b8:0:160b:0:1478:b508:9398";
    let host2 = "2a02:6b8:0:160b:0:1478:b508:93a0";
    let fast2 = "2a02:6b8:0:3f02:0:1478:b508:93a0";
    let mut claimed = change(
        s2,
        ("sas1-0002.search.example.net", Rtype::AAAA),
        ((600, &["2a02:6b8:0:160b:0:1478:b508:93a0"]), none),
        &[
            reason(Rule::AddressElsewhere, Some(100_007), &["agents/agent-1.jsonl:23", tors, search]),
            reason(Rule::AddressElsewhere, Some(100_008), &["agents/agent-2.jsonl:9", tors, search]),
        ],
    );
    claimed.also = vec![subject(Some(100_008))];
    let changes = vec![
        change(
            s1,
            ("sas1-0001.search.example.net", Rtype::AAAA),
            ((3600, &["2a02:6b8:0:160b:7ae3:b5ff:fe08:9398"]), (600, &[host1])),
            &[
                reason(Rule::Ttl, Some(100_001), &["projects/search.yaml:9"]),
                reason(Rule::WrongAddress, Some(100_001), &[agent, tors, search]),
            ],
        ),
        change(
            s1,
            ("2a02:6b8:0:160b:7ae3:b5ff:fe08:9398", Rtype::PTR),
            ((3600, &["sas1-0001.search.example.net"]), none),
            &[reason(Rule::PtrElsewhere, Some(100_001), &[agent, tors, search])],
        ),
        change(
            s1,
            (host1, Rtype::PTR),
            (none, (600, &["sas1-0001.search.example.net"])),
            &[reason(Rule::MissingPtr, Some(100_001), &[agent, tors, search])],
        ),
        change(
            s2,
            ("sas1-0007.search.example.net", Rtype::AAAA),
            (none, (600, &[host2])),
            &[reason(Rule::Missing, Some(100_007), &["agents/agent-1.jsonl:23", tors, search])],
        ),
        change(
            s2,
            ("fb-sas1-0007.search.example.net", Rtype::AAAA),
            (none, (600, &[fast2])),
            &[reason(
                Rule::Missing,
                Some(100_007),
                &["agents/agent-1.jsonl:23", "racktables/net-layout.xml:88", "racktables/net-layout.xml:89", search],
            )],
        ),
        claimed,
        change(
            s2,
            (host2, Rtype::PTR),
            ((600, &["sas1-0002.search.example.net"]), (600, &["sas1-0007.search.example.net"])),
            &[
                reason(Rule::MissingPtr, Some(100_007), &["agents/agent-1.jsonl:23", tors, search]),
                reason(Rule::WrongPtr, Some(100_007), &["agents/agent-1.jsonl:23", tors, search]),
            ],
        ),
        change(
            s2,
            (fast2, Rtype::PTR),
            (none, (600, &["fb-sas1-0007.search.example.net"])),
            &[reason(Rule::MissingPtr, Some(100_007), &["agents/agent-1.jsonl:23", search])],
        ),
        change(
            s3,
            ("sas1-0012.search.example.net", Rtype::AAAA),
            (
                (3600, &["2a02:6b8:0:160b:0:1478:b508:93b1", "2a02:6b8:0:160c:0:1478:b508:93b1"]),
                (600, &["2a02:6b8:0:160b:0:1478:b508:93b1", "2a02:6b8:0:160c:0:1478:b508:93b1"]),
            ),
            &[reason(Rule::Ttl, Some(100_012), &["projects/search.yaml:9"])],
        ),
        change(
            ("search", None),
            ("sas1-0931.search.example.net", Rtype::AAAA),
            ((600, &["2a02:6b8:0:160b:0:1478:b508:1111"]), none),
            &[reason(Rule::Orphan, None, &["projects/search.yaml:11"])],
        ),
        change(
            w1,
            ("myt2-web-0017.web.example.net", Rtype::AAAA),
            (
                (3600, &["2a02:6b8:0:51a::b29a:845b", "2a02:6b8:0:51a::b29a:845c"]),
                (3600, &["2a02:6b8:0:51a::b29a:845b"]),
            ),
            &[reason(Rule::WrongAddress, Some(200_017), &["racktables/ipv4-map.txt:31", "projects/web.yaml:3"])],
        ),
        change(
            w1,
            ("178.154.132.91", Rtype::PTR),
            (none, (3600, &["myt2-web-0017.web.example.net"])),
            &[reason(Rule::MissingPtr, Some(200_017), &["racktables/ipv4-map.txt:31"])],
        ),
        change(
            w1,
            ("aaaa-myt2-web-0017.web.example.net", Rtype::TXT),
            (none, (3600, &["\"heritage=external-dns,external-dns/owner=fleet-dns\""])),
            &[reason(Rule::Registry, Some(200_017), &["zonewright.toml:2"])],
        ),
        change(
            lab,
            ("lab-old-3.example.net", Rtype::AAAA),
            ((3600, &["2a02:6b8:0:77::1"]), none),
            &[reason(Rule::Released, Some(300_044), &["names.lock:902"])],
        ),
    ];
    Plan {
        hosts: hosts(),
        changes,
        blocked: blocked(),
        skipped: skipped(),
        notices: vec![
            Notice {
                code: NoticeCode::ForeignName,
                name: "www.example.net.".to_owned(),
                subject: Some(subject(Some(100_001))),
                message: format!("AAAA {host1} belongs to host 100001, but the name is no host's"),
            },
            Notice {
                code: NoticeCode::SourceUnknown,
                name: "eine".to_owned(),
                subject: None,
                message: "source `eine`: agents/eine-1.jsonl was cut: its last line has no end".to_owned(),
            },
        ],
        limits: vec![
            LimitState {
                scope: "global".to_owned(),
                period: "1d".to_owned(),
                max: 1000,
                used: 118,
                planned: 5,
                exceeded: false,
                ..of_hosts()
            },
            LimitState {
                scope: "project:search".to_owned(),
                period: "1h".to_owned(),
                max: 20,
                used: 18,
                planned: 3,
                exceeded: true,
                ..of_hosts()
            },
        ],
        zone_changes: Vec::new(),
        zones: empty().zones,
        ..empty()
    }
}

/// What the inventory says of the hosts that have changes.
fn hosts() -> BTreeMap<Inv, HostSeen> {
    let host = |inv, name: &str, location: &str, [switch, rack]: [&str; 2]| {
        let (name, location) = (Some(name.to_owned()), location.to_owned());
        (
            Inv(inv),
            HostSeen {
                name,
                location,
                switch: Some(switch.to_owned()),
                rack: Some(rack.to_owned()),
                ..HostSeen::default()
            },
        )
    };
    BTreeMap::from([
        host(100_001, "sas1-0001.search.example.net.", "SAS", ["sas1-s12", "A11"]),
        host(100_007, "sas1-0007.search.example.net.", "SAS", ["sas1-s12", "A11"]),
        host(100_012, "sas1-0012.search.example.net.", "SAS", ["sas1-s2", "A12"]),
        host(200_017, "myt2-web-0017.web.example.net.", "MYT", ["myt2-s1", "B01"]),
    ])
}

/// A limit of hosts with defaults for all else.
fn of_hosts() -> LimitState {
    LimitState {
        scope: "global".to_owned(),
        period: "1h".to_owned(),
        counts: LimitKind::Hosts,
        max: 0,
        used: 0,
        planned: 0,
        exceeded: false,
        of: None,
        cause: None,
        frees: None,
        setting: None,
    }
}

/// Blocked hosts: many by one fault, many each by its own, and some alone.
fn blocked() -> Vec<BlockedSubject> {
    let one = |host: u64, project: &str, code, message: String, hint: &str| BlockedSubject {
        subject: subject(Some(host)),
        project: project.to_owned(),
        code,
        message,
        hint: hint.to_owned(),
    };
    let mut all = Vec::new();
    for host in 100_100..100_138 {
        let message = "racktables/l3-tors.txt:412: `2a02:6b8:0:1600::/63` is no /64".to_owned();
        all.push(one(host, "search", BlockCode::BadInput, message, "correct the line"));
    }
    for host in 200_100..200_109 {
        let message = format!("no source reports a MAC of host {host}");
        let hint = "see whether the host's agent runs and reports";
        all.push(one(host, "web", BlockCode::NoMac, message, hint));
    }
    for (host, other, name) in [(100_300, 100_301, "sas1-0300"), (100_301, 100_300, "sas1-0300")] {
        let message = format!("`{name}.search.example.net.` is the name of host {other} too");
        all.push(one(
            host,
            "search",
            BlockCode::DuplicateName,
            message,
            "`release` one of the two, or correct hosts.csv",
        ));
    }
    let message = "AAAA at `lab-7.example.net.` is wrong and was not created by us".to_owned();
    all.push(one(300_007, "lab", BlockCode::NotOwner, message, "`adopt` the name, or remove the record by hand"));
    all
}

/// Skipped hosts: a project switched off, and two restricted hosts.
fn skipped() -> Vec<SkippedSubject> {
    let one = |host: u64, project: &str, code| SkippedSubject {
        subject: subject(Some(host)),
        project: project.to_owned(),
        code,
    };
    let mut all: Vec<SkippedSubject> =
        (300_100..301_303).map(|host| one(host, "lab", SkipCode::AutomationOff)).collect();
    all.extend([one(100_400, "search", SkipCode::Restricted), one(200_400, "web", SkipCode::Restricted)]);
    all
}
