//! Writes a large saved plan to measure reports with.
//!
//! ```text
//! cargo run --release --example plan -- 100000 > plan.json
//! ```
//!
//! Comes in: a number of changes. Goes out: on standard output the document of a plan for the hosts of 40 projects in
//! five datacenters, compared with a base: racks that moved, hosts that are new, records that drifted, names that were
//! given up. The same number gives the same bytes.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::Ipv6Addr;
use std::process::ExitCode;

use zonewright::claim::Subject;
use zonewright::dns::reverse::reverse_name;
use zonewright::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use zonewright::inventory::value::Inv;
use zonewright::plan::{
    BlockCode, BlockedSubject, Cause, CauseKind, Change, ChangeClass, ChangeKind, ComparisonBase, ContentsSeen,
    HostSeen, LimitKind, LimitState, Notice, NoticeCode, Plan, Reason, Review, Rule, SealedPlan, SkipCode,
    SkippedSubject, SourceSeen, WorkspaceSeen, ZoneSeen, document,
};
use zonewright::registry::Registry;
use zonewright::target::{PoolName, TargetId};

/// The datacenters.
const LOCATIONS: [&str; 5] = ["sas", "vla", "myt", "iva", "man"];

/// How many projects there are; the first ones have the most hosts.
const PROJECTS: u64 = 40;

/// How many hosts share a switch, and so a cause.
const RACK: u64 = 48;

/// The inventory number of the first host.
const FIRST: u64 = 100_000;

/// An error; each is a bug of this program.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let number = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let Some(number) = number else {
        eprintln!("usage: plan CHANGES");
        return ExitCode::FAILURE;
    };
    match plan(number) {
        Ok(plan) => print!("{}", document::to_json(&SealedPlan::new(plan))),
        Err(error) => {
            eprintln!("plan: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// One host of the plan.
struct Host {
    /// Its place among the hosts.
    index: u64,
    /// Its project.
    project: String,
    /// The zone of its name.
    zone: ZoneName,
    /// Its name.
    name: Name,
    /// Its rack, the cause of all its changes.
    rack: u64,
}

/// What happens to the hosts of a rack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Their switch has another network.
    Moved,
    /// They are new.
    New,
    /// Another editor changed their records.
    Drifted,
    /// They gave up their names.
    Released,
}

impl Fate {
    /// What happens to a rack.
    fn of(rack: u64) -> Fate {
        match rack % 10 {
            0..5 => Fate::Moved,
            5..7 => Fate::New,
            7..9 => Fate::Drifted,
            _ => Fate::Released,
        }
    }
}

impl Host {
    /// Makes a host.
    fn new(index: u64) -> Result<Host> {
        let rack = index / RACK;
        // Squares crowd the first projects.
        let share = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let project = (((share * share) >> 24) * PROJECTS) >> 24;
        let zone = ZoneName::new(Name::parse(&format!("p{project:02}.example.net"))?);
        let name = Name::parse(&format!("{}{}-{index:06}.p{project:02}.example.net", location(rack), rack % 12 + 1))?;
        Ok(Host { index, project: format!("p{project:02}"), zone, name, rack })
    }

    /// Its address in one of the two networks of its rack.
    fn address(&self, network: u64) -> Ipv6Addr {
        let (rack, low) = ((self.rack + network) as u16, (self.index as u32).wrapping_mul(2_654_435_761));
        Ipv6Addr::new(0x2001, 0xdb8, 0, rack, 0, 0x1478, (low >> 16) as u16, low as u16)
    }

    /// Its changes: those of its name, of its new address, and of its old one.
    fn changes(&self) -> Result<Vec<Change>> {
        let address = |network| Rdata::from_address(self.address(network).into());
        let (old, new, name) = (address(900), address(0), Rdata::from_name(self.name.as_name()));
        let (gone, come) = (Some(old), Some(new));
        let (aaaa, ptr) = (Rtype::AAAA, Rtype::PTR);
        let (here, there) = (reverse_name(self.address(0).into()), reverse_name(self.address(900).into()));
        Ok(match Fate::of(self.rack) {
            Fate::Moved => vec![
                self.change(&self.name, aaaa, (gone, come), Rule::WrongAddress)?,
                self.change(&here, ptr, (None, Some(name.clone())), Rule::MissingPtr)?,
                self.change(&there, ptr, (Some(name), None), Rule::PtrElsewhere)?,
            ],
            Fate::New => vec![
                self.change(&self.name, aaaa, (None, come), Rule::Missing)?,
                self.change(&here, ptr, (None, Some(name)), Rule::MissingPtr)?,
            ],
            Fate::Drifted => vec![self.change(&self.name, aaaa, (None, come), Rule::Missing)?],
            Fate::Released => vec![
                self.change(&self.name, aaaa, (gone, None), Rule::Released)?,
                self.change(&there, ptr, (Some(name), None), Rule::Released)?,
            ],
        })
    }

    /// One of its changes.
    fn change(&self, name: &Name, rtype: Rtype, sides: (Option<Rdata>, Option<Rdata>), rule: Rule) -> Result<Change> {
        let zone = if rtype == Rtype::PTR { reverse_zone()? } else { self.zone.clone() };
        let ttl = Ttl::from_secs(600).ok_or("no such TTL")?;
        let rrset = |rdata: Option<Rdata>| rdata.and_then(|rdata| Rrset::new(ttl, vec![rdata]));
        let agent = format!("agents/agent-{}.jsonl:{}", self.index % 4 + 1, self.index / 4 + 1);
        let evidence = vec![agent, place(self.rack), format!("projects/{}.yaml:4", self.project)];
        let host = Inv(FIRST + self.index);
        let subject = if rule == Rule::Released { Subject::Released(host) } else { Subject::Host(host) };
        Ok(Change {
            pool: pool()?,
            key: RrKey { owner: zone.owner(name.as_name()).ok_or("a name outside its zone")?, rtype },
            zone,
            subject: subject.clone(),
            also: Vec::new(),
            registers: None,
            via: None,
            targets: Vec::new(),
            project: self.project.clone(),
            kind: ChangeKind::between(rrset(sides.0), rrset(sides.1)).ok_or("no change")?,
            reasons: vec![Reason { evidence, rule, subject }],
        })
    }
}

/// The datacenter of a rack.
fn location(rack: u64) -> &'static str {
    LOCATIONS[rack as usize % LOCATIONS.len()]
}

/// The line that gives a rack its network.
fn place(rack: u64) -> String {
    format!("racktables/l3-tors.txt:{}", rack + 7)
}

/// The pool of all zones.
fn pool() -> Result<PoolName> {
    Ok("main".parse::<PoolName>()?)
}

/// The zone of all addresses.
fn reverse_zone() -> Result<ZoneName> {
    Ok(ZoneName::new(Name::parse("8.b.d.0.1.0.0.2.ip6.arpa")?))
}

/// The whole plan, of `number` changes.
fn plan(number: usize) -> Result<Plan> {
    let (mut changes, mut hosts) = (Vec::with_capacity(number), 0);
    while changes.len() < number {
        changes.extend(Host::new(hosts)?.changes()?);
        hosts += 1;
    }
    changes.truncate(number);
    let plan = Plan {
        tool: concat!("zonewright ", env!("CARGO_PKG_VERSION")).to_owned(),
        created: time("2026-11-20T01:30:00Z")?,
        expires: time("2026-11-21T01:30:00Z")?,
        workspace: WorkspaceSeen {
            owner: "example".to_owned(),
            pools: Vec::new(),
            txt: None,
            registry: Registry::Journal,
            id: None,
        },
        undoes: None,
        only: None,
        inputs: [("racktables/l3-tors.txt".to_owned(), "1".repeat(64))].into(),
        fleet: Some(2 * hosts),
        hosts: seen(&changes)?,
        affected: Vec::new(),
        changes,
        review: None,
        groups: Vec::new(),
        pods: Vec::new(),
        delayed: Vec::new(),
        waiting: Vec::new(),
        waves: Vec::new(),
        blocked: (0..hosts / 50).map(|index| blocked(FIRST + hosts + index)).collect(),
        skipped: (0..hosts / 40).map(|index| skipped(FIRST + 2 * hosts + index)).collect(),
        notices: vec![Notice {
            code: NoticeCode::ForeignName,
            name: "www.example.net.".to_owned(),
            subject: Some(Subject::Host(Inv(FIRST))),
            message: format!("an address of host {FIRST} is there, but the name is not a host's"),
        }],
        limits: limits(hosts),
        left_behind: Vec::new(),
        stated: Vec::new(),
        sources: sources(hosts)?,
        zone_changes: Vec::new(),
        zones: zones(hosts)?,
    };
    // Causes count by the order that sealing gives.
    let mut plan = SealedPlan::new(plan).plan().clone();
    plan.review = Some(review(&plan.changes));
    Ok(plan)
}

/// What the inventory says of the hosts that have changes. It lacks every twentieth rack.
fn seen(changes: &[Change]) -> Result<BTreeMap<Inv, HostSeen>> {
    let hosts = changes.iter().filter_map(|change| change.subject.host());
    let known = hosts.filter(|host| (host.0 - FIRST) / RACK % 20 != 19);
    let seen = |inv: Inv| {
        let Host { name, rack, .. } = Host::new(inv.0 - FIRST)?;
        let (location, switch) = (location(rack).to_uppercase(), format!("{}-s{rack}", location(rack)));
        Ok((
            inv,
            HostSeen {
                name: Some(name.to_string()),
                location,
                switch: Some(switch),
                rack: Some(format!("R{rack}")),
                ..HostSeen::default()
            },
        ))
    };
    known.map(seen).collect()
}

/// A time.
fn time<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| format!("`{text}` cannot be read").into())
}

/// The causes of the changes: a rack each, except for drift.
fn review(changes: &[Change]) -> Review {
    let mut causes: BTreeMap<Option<u64>, Vec<u32>> = BTreeMap::new();
    for (change, place) in changes.iter().zip(0..) {
        let host = change.subject.host().map_or(FIRST, |host| host.0);
        let rack = (host - FIRST) / RACK;
        causes.entry((Fate::of(rack) != Fate::Drifted).then_some(rack)).or_default().push(place);
    }
    let causes = causes.into_iter().map(|(rack, changes)| cause(rack, changes)).collect();
    let against = ComparisonBase::Base { name: "origin/main".to_owned(), commit: Some("3f2a".repeat(10)) };
    let mut review = Review { against, causes, settled: 2, newly_blocked: Vec::new() };
    review.sort();
    review
}

/// The cause of the changes of a rack, or drift.
fn cause(rack: Option<u64>, changes: Vec<u32>) -> Cause {
    let Some(rack) = rack else {
        let says = "drift: changed outside zonewright since apply 12 (2026-11-18T04:00:00Z)".to_owned();
        let (class, kind) = (Some(ChangeClass::Pending), CauseKind::Drift);
        return Cause { class, kind, says, places: Vec::new(), is_explained: true, changes };
    };
    let switch = format!("{}1-s{rack}", location(rack));
    let (class, kind, says) = match Fate::of(rack) {
        Fate::New => (ChangeClass::Caused, CauseKind::NewHost, format!("hosts of switch `{switch}` are new")),
        Fate::Released => {
            (ChangeClass::Pending, CauseKind::Released, format!("names of hosts of switch `{switch}` were given up"))
        }
        _ => {
            let network = |rack: u64| format!("2001:db8:0:{:x}::/64", rack as u16);
            let says =
                format!("VLAN 604 of switch `{switch}` moved from `{}` to `{}`", network(rack + 900), network(rack));
            (if rack % 30 == 0 { ChangeClass::Mixed } else { ChangeClass::Caused }, CauseKind::Network, says)
        }
    };
    Cause { class: Some(class), kind, says, places: vec![place(rack)], is_explained: true, changes }
}

/// A host that is blocked.
fn blocked(host: u64) -> BlockedSubject {
    let (code, message, hint) = match host % 3 {
        0 => (
            BlockCode::BadInput,
            "racktables/l3-tors.txt:412: `2001:db8:0:1600::/63` is not a /64".to_owned(),
            "correct the line",
        ),
        _ => (
            BlockCode::NoMac,
            format!("no source reports a MAC for host {host}"),
            "check that the host's agent runs and reports",
        ),
    };
    let project = format!("p{:02}", host % PROJECTS);
    BlockedSubject { subject: Subject::Host(Inv(host)), project, code, message, hint: hint.to_owned() }
}

/// A host that is skipped.
fn skipped(host: u64) -> SkippedSubject {
    let code = if host.is_multiple_of(7) { SkipCode::Restricted } else { SkipCode::AutomationOff };
    SkippedSubject { subject: Subject::Host(Inv(host)), project: format!("p{:02}", host % PROJECTS), code }
}

/// The limits of hosts, none of them exceeded.
fn limits(hosts: u64) -> Vec<LimitState> {
    let limit = |scope: String, period: &str, max, used, planned| LimitState {
        scope,
        period: period.to_owned(),
        counts: LimitKind::Hosts,
        max,
        used,
        planned,
        exceeded: used + planned > max,
        of: None,
        cause: None,
        frees: None,
        setting: None,
    };
    let global =
        [("1h", 2), ("1d", 3)].map(|(period, times)| limit("global".to_owned(), period, times * hosts, 118, hosts));
    let projects = (0..PROJECTS)
        .map(|project| limit(format!("project:p{project:02}"), "1h", hosts, project * 9, hosts / PROJECTS));
    global.into_iter().chain(projects).collect()
}

/// The exports.
fn sources(hosts: u64) -> Result<Vec<SourceSeen>> {
    let source = |name: &str, rows, dated: &str, max_age: Option<&str>| -> Result<SourceSeen> {
        let dated = if dated.is_empty() { None } else { Some(time(dated)?) };
        Ok(SourceSeen { source: name.to_owned(), rows, dated, max_age: max_age.map(time).transpose()? })
    };
    Ok(vec![
        source("agent", hosts * 2, "2026-11-20T01:15:00Z", Some("1h"))?,
        source("hosts", hosts, "2026-11-19T22:00:00Z", None)?,
        source("l3_tors", hosts / RACK, "2026-11-19T20:10:00Z", Some("6h"))?,
        source("net_layout", 812, "", None)?,
    ])
}

/// The zones.
fn zones(hosts: u64) -> Result<Vec<ZoneSeen>> {
    let names = (0..PROJECTS).map(|project| format!("p{project:02}.example.net"));
    let names = names.chain(["8.b.d.0.1.0.0.2.ip6.arpa".to_owned()]);
    let seen = |name: String| -> Result<ZoneSeen> {
        let zone = ZoneName::new(Name::parse(&name)?);
        let seen = ContentsSeen { digest: "ab".repeat(32), managed: hosts / 2, rrsets: hosts, serial: 2_026_112_001 };
        Ok(ZoneSeen::new(&TargetId::only(&pool()?), zone, seen))
    };
    names.map(seen).collect()
}
