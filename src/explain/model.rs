//! What is explained, as plain values: texts, numbers and lists, in the order in which they are derived.
//!
//! Field by field this is the document `zonewright.explain/1`, so that text for people and JSON cannot differ.

use crate::diag::Code;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

/// The answer to one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What was asked about.
    pub subject: ExplainSubject,
    /// The clock that ages are measured against.
    pub now: String,
    /// The answer in a few sentences.
    pub answer: String,
    /// The sources and zones that could not be read, or not whole, so that the answer may lack something.
    pub unseen: Vec<String>,
    /// Where a name was asked for: all about it.
    pub name: Option<NameFacts>,
    /// Where an address was asked for: all about it.
    pub address: Option<AddressFacts>,
    /// The chain of the one host that was asked for, or whose the name or address is.
    pub host: Option<HostFacts>,
}

/// What was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "lowercase")]
pub enum ExplainSubject {
    /// A host, by its inventory number.
    Host(u64),
    /// A name, absolute.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// A host, from its row to what is done about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostFacts {
    /// The inventory number.
    pub inv: u64,
    /// Its row in hosts.csv; none where only names.lock knows it.
    pub row: Option<HostsCsvRow>,
    /// Its project; none where only names.lock knows it.
    pub project: Option<ProjectFacts>,
    /// Its name, where it has one.
    pub name: Option<GivenName>,
    /// The names that it had, or that hosts.csv gives it against names.lock.
    pub other_names: Vec<OtherName>,
    /// Every MAC report of it, the one that won first, then by when they count as made, the latest first.
    pub reports: Vec<ReportFacts>,
    /// The MAC that its addresses are made of.
    pub mac: Option<String>,
    /// Its switch and segment; none where neither reports nor hosts.csv name a switch.
    pub switch: Option<SwitchFacts>,
    /// The backbone, then the fastbone.
    pub interfaces: Vec<InterfaceFacts>,
    /// What is done about it, or why nothing is.
    pub decision: DecisionFacts,
}

/// A row of hosts.csv.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostsCsvRow {
    /// `file:line`.
    pub line: String,
    /// Further rows with the same number, which make all of them bad.
    pub also: Vec<String>,
    /// `assigned` or `free`.
    pub status: &'static str,
    /// The datacenter's code.
    pub location: String,
    /// The switch, where the row names one.
    pub switch: Option<String>,
    /// Whether its restrictions hold `automated-dns`.
    pub restricted: bool,
    /// Whether the row is bad.
    pub bad: bool,
}

/// A project, and who lets automation work on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectFacts {
    /// Its id.
    pub id: String,
    /// What the administrator says: `allowed`, `forbidden`, or `absent` where there is no `[project.X]`.
    pub administrator: &'static str,
    /// The line of `[project.X]`.
    pub administrator_line: Option<String>,
    /// What the owner's file says: `on`, `off`, `missing` or `bad`.
    pub owner: &'static str,
    /// A line of the owner's file.
    pub owner_line: Option<String>,
    /// The policy, where the owner's file is good.
    pub policy: Option<&'static str>,
}

/// The name of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GivenName {
    /// The name.
    pub name: String,
    /// The line that gives it.
    pub line: String,
    /// The source of that line: `names.lock` or `hosts.csv`.
    pub source: &'static str,
}

/// A name that a host had, or that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OtherName {
    /// The name; none where the row holds none that is readable.
    pub name: Option<String>,
    /// The line that says so.
    pub line: String,
    /// When it was given up.
    pub released: Option<String>,
    /// Until when it stays taken, also for the host that had it.
    pub taken_until: Option<String>,
    /// What that means, in words.
    pub said: String,
}

/// One MAC report, and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportFacts {
    /// `file:line`.
    pub line: String,
    /// Its source.
    pub source: String,
    /// When it was made.
    pub time: String,
    /// How old it is; `0s` where it is dated ahead.
    pub age: String,
    /// How much older it counts than it is; none where it counts as it is.
    pub penalty: Option<String>,
    /// The MAC, where it is readable.
    pub mac: Option<String>,
    /// The switch, where it names one.
    pub switch: Option<String>,
    /// The verdict: `won`, `lost`, `too-old`, `withdrawn`, `inactive`, `future` or `bad`.
    pub verdict: &'static str,
    /// Why, in words.
    pub why: String,
}

/// A switch, and the kind of segment that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SwitchFacts {
    /// The switch.
    pub switch: String,
    /// The line that names it.
    pub line: String,
    /// Whether the winning report or hosts.csv names it: `report` or `hosts.csv`.
    pub source: &'static str,
    /// `L3` or `L2`.
    pub segment: &'static str,
    /// The first line of l3-tors that lists it, where one does; none of an L3 segment where only an accepted export
    /// did.
    pub segment_line: Option<String>,
}

/// One interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterfaceFacts {
    /// `backbone` or `fastbone`.
    pub kind: &'static str,
    /// Its name; none where the host has none.
    pub name: Option<String>,
    /// How a fastbone's name is made: the line of `fastbone_name`.
    pub name_line: Option<String>,
    /// Its VLAN.
    pub vlan: Option<u64>,
    /// The line of the VLAN.
    pub vlan_line: Option<String>,
    /// How its addresses are made: `project-id`, `eui-64` or `ipv4`; `listed` where the inventory lists them.
    pub method: Option<&'static str>,
    /// Where its networks come from, in words.
    pub networks_from: String,
    /// Its networks, with or without an address in them, the preferred one first.
    pub networks: Vec<NetworkFacts>,
    /// The A records at its name; none where the inventory lists its addresses.
    pub own_a: Vec<OwnA>,
    /// Its addresses, where the inventory lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<ListedAddress>,
    /// What is live at its name.
    pub live: Option<LiveSite>,
    /// PTR that name it at addresses that are not its own.
    pub ptr_elsewhere: Vec<HoldingName>,
}

/// A network with the address in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NetworkFacts {
    /// The /64.
    pub network: String,
    /// The line that gives it.
    pub line: String,
    /// The address; none where the host has no MAC.
    pub address: Option<MadeAddress>,
}

/// An address that an interface may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MadeAddress {
    /// The address.
    pub address: Ipv6Addr,
    /// Whether it is the one that is added where none is live.
    pub preferred: bool,
    /// Whether it is live at the interface's name; none where that is not known.
    pub live: Option<bool>,
    /// Whether the interface keeps or gets it.
    pub kept: bool,
    /// How it was made.
    pub steps: Vec<AddressStep>,
    /// What is live at its reverse name.
    pub reverse: LiveSite,
    /// Other names that hold it.
    pub elsewhere: Vec<HoldingName>,
}

/// One step from a network and a MAC to an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressStep {
    /// What is taken or done.
    pub what: String,
    /// The result.
    pub value: String,
    /// How many bits of the address that is; none where it is a step on the way.
    pub bits: Option<u8>,
}

/// An A record at an interface's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnA {
    /// The address.
    pub address: Ipv4Addr,
    /// What is live at its reverse name.
    pub reverse: LiveSite,
}

/// An address that the inventory lists for an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedAddress {
    /// The address.
    pub address: IpAddr,
    /// The row that lists it.
    pub line: String,
    /// Whether it is live at the interface's name; none where that is not known.
    pub live: Option<bool>,
    /// Whether the interface keeps or gets it.
    pub kept: bool,
    /// What is live at its reverse name.
    pub reverse: LiveSite,
    /// Other names that hold it.
    pub elsewhere: Vec<HoldingName>,
}

/// A name in live DNS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveSite {
    /// The name.
    pub name: String,
    /// The zone that holds it; none where no configured one does.
    pub zone: Option<String>,
    /// The zone's permission: `full` or `own`.
    pub permission: Option<&'static str>,
    /// What prevents writing there: `no-zone`, `zone-unknown`, `delegated`, `below-dname`, `cname`; else
    /// `open`.
    pub place: &'static str,
    /// The same in words.
    pub said: String,
    /// The RRsets that are there and that rules look at, or all where a name was asked for; in a pool of several targets those
    /// of the reference copy.
    pub rrsets: Vec<LiveFacts>,
    /// The targets whose copies hold other RRsets of these types there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopySite>,
    /// What is there in the zones of DNS update records, by the names of the records; of those alone that have a zone for the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<CopySite>,
}

/// What a copy holds at a name, where the reference copy holds something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopySite {
    /// The name of the target.
    pub target: String,
    /// The RRsets; none where nothing is there.
    pub rrsets: Vec<CopyFacts>,
}

/// An RRset of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyFacts {
    /// The type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// The TTL in seconds.
    pub ttl: u32,
    /// The data, sorted.
    pub rdata: Vec<String>,
}

/// A live RRset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveFacts {
    /// The type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// The TTL in seconds.
    pub ttl: u32,
    /// The desired TTL, where it is another.
    pub wanted_ttl: Option<u32>,
    /// The data, sorted.
    pub rdata: Vec<String>,
    /// Whether it is own.
    pub own: bool,
    /// Who else it is registered to.
    pub registered_to: Option<String>,
    /// Whether it may be changed: it is own, or its zone's permission is `full`.
    pub writable: bool,
}

/// A name that holds an address, or a reverse name that holds a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HoldingName {
    /// The owner name, or its address where it is a reverse name.
    pub at: String,
    /// The TTL in seconds.
    pub ttl: u32,
    /// Whose the owner name or the address is, in words.
    pub whose: String,
}

/// Something that blocks or would block a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostObstacle {
    /// The code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// Where a line is bad: what is wrong with it, as `check` says.
    pub findings: Vec<String>,
    /// What to do.
    pub hint: String,
}

/// What is done about a host, or why nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionFacts {
    /// `changes`, `nothing`, `blocked`, `skipped`, `free`, `unknown` where hosts.csv lacks the host, or `left-out`
    /// where `--host` or `--project` names others.
    pub outcome: &'static str,
    /// The policy under which it is planned, where it is.
    pub policy: Option<&'static str>,
    /// Why it is skipped: the code.
    pub skipped: Option<&'static str>,
    /// Why it is not skipped, though a switch or a restriction keeps automation away from it.
    pub although: Option<String>,
    /// Why, and what would change that, in words; empty where there is nothing to say.
    pub said: String,
    /// What blocks it, first what does, then what would next.
    pub obstacles: Vec<HostObstacle>,
    /// The changes that are its own.
    pub changes: Vec<ChangeFacts>,
    /// Changes of others to its names, to the reverse names of its addresses, or to which its rules contributed.
    pub changes_of_others: Vec<ChangeFacts>,
    /// What its rules found and left.
    pub notices: Vec<String>,
    /// What its policy keeps its rules from doing.
    pub held_back: Vec<ChangeFacts>,
    /// What `--host` would do about a skipped host.
    pub by_hand: Option<ByHand>,
}

/// What would happen if an operator named a host on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ByHand {
    /// The command.
    pub command: String,
    /// Whether that overrides what skips the host.
    pub passes: bool,
    /// What would block it then, the first first.
    pub obstacles: Vec<HostObstacle>,
    /// What would be changed.
    pub changes: Vec<ChangeFacts>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangeFacts {
    /// `create`, `modify` or `delete`.
    pub verb: &'static str,
    /// The zone.
    pub zone: String,
    /// The owner name.
    pub name: String,
    /// The address of a reverse name.
    pub address: Option<IpAddr>,
    /// The RRset whose owner a TXT of the registry records, such as `PTR of 2a02:6b8::1`.
    pub registers: Option<String>,
    /// The type.
    #[serde(rename = "type")]
    pub rtype: String,
    /// The targets that it is for, where it is not for all of its pool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The host whose change it is; none of others, and for orphans.
    pub host: Option<u64>,
    /// Whose change it is, where it is no host's: a pod's or another subject's, or `no host` or `no pod`.
    #[serde(skip)]
    pub of: String,
    /// What is there.
    pub before: Option<RrsetData>,
    /// What is to be.
    pub after: Option<RrsetData>,
    /// Why.
    pub reasons: Vec<ReasonFacts>,
}

/// The data of an RRset. Plans have it in another order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RrsetData {
    /// The TTL in seconds.
    pub ttl: u32,
    /// The data, sorted.
    pub rdata: Vec<String>,
}

/// Why something is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReasonFacts {
    /// The rule.
    pub rule: &'static str,
    /// The host whose rule it is; none for orphans.
    pub host: Option<u64>,
    /// The lines that it depends on.
    pub evidence: Vec<String>,
}

/// All about a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameFacts {
    /// Whether the inventory has no hosts.
    #[serde(skip)]
    pub is_without_hosts: bool,
    /// Who has or had it; those who have it now come first.
    pub holders: Vec<HolderFacts>,
    /// What files state for it.
    pub stated: Vec<StatementFacts>,
    /// What is live at it.
    pub live: LiveSite,
    /// The addresses whose PTR point to it.
    pub pointers: Vec<HoldingName>,
    /// How many reverse zones could not be read; the document lists them in `unseen`.
    #[serde(skip)]
    pub unread_reverse: usize,
    /// The changes that touch it or the PTR that name it.
    pub changes: Vec<ChangeFacts>,
    /// What else is to be known, in words.
    pub remarks: Vec<String>,
}

/// What a manifest or zone file states for a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementFacts {
    /// The subject.
    pub subject: String,
    /// What states it: `apps/prod/web`.
    pub by: String,
    /// The entry, as `file:line`.
    pub line: String,
    /// The other lines that it follows from, as `file:line`: of apps, lists and DNS update records; mostly empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// What it states, in words; or what is wrong with it.
    pub says: String,
    /// Why the subject gets no change; none where it does.
    pub blocked: Option<String>,
}

/// A host that has or had a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HolderFacts {
    /// The host.
    pub inv: u64,
    /// `backbone` or `fastbone`.
    pub interface: &'static str,
    /// Whether the host has the name now.
    pub now: bool,
    /// The line that says so.
    pub line: String,
    /// When it gave the name up.
    pub released: Option<String>,
    /// Until when it stays taken, also for the host that had it.
    pub taken_until: Option<String>,
    /// The same in words.
    pub said: String,
}

/// All about an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressFacts {
    /// Whether the inventory has no hosts.
    #[serde(skip)]
    pub is_without_hosts: bool,
    /// The interfaces that may have it.
    pub claims: Vec<AddressClaim>,
    /// The pods that have it by their rows, in words: `pod:shop-web/ab12cd (active, pods/pods.jsonl:1)`.
    pub pods: Vec<String>,
    /// What files state that has it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatementFacts>,
    /// The names that hold it.
    pub held_by: Vec<HoldingName>,
    /// What is live at its reverse name.
    pub reverse: LiveSite,
    /// The changes that touch it: at its reverse name, or of an RRset that holds or comes to hold it.
    pub changes: Vec<ChangeFacts>,
}

/// An interface that may have an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AddressClaim {
    /// The host.
    pub inv: u64,
    /// `backbone` or `fastbone`.
    pub interface: &'static str,
    /// The interface's name.
    pub name: String,
    /// `preferred`, `acceptable`, `own-a` for an A record at the name, or `listed` for one that the inventory lists.
    pub role: &'static str,
    /// The line of the network, where it was made from one, or the row that lists it.
    pub line: Option<String>,
}
