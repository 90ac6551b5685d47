//! A small fleet: its hosts, their RRsets, and what plans change.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::claim::Subject;
use crate::diag::{Files, Origin};
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::model::ProjectAdmin;
use crate::inventory::value::Inv;
use crate::plan::{Plan, SealedPlan, fixture};
use crate::provider::memory::message::UpdateInstruction;
use crate::provider::memory::primary::MemoryPrimary;
use crate::registry::{MarkForm, MarkLabels, Registry};
use crate::target::UpdateLimits;
use crate::verify::truth;

/// How many RRsets a host has: its address, a PTR for each address that it has or may get, and the address of a name
/// that no host uses now.
const OF_HOST: usize = 5;

/// The zones, and every RRset in them that runs or other editors change.
pub struct Fleet {
    /// The zones, sorted.
    pub zones: Vec<ZoneName>,
    /// The project of all hosts.
    pub projects: BTreeMap<String, ProjectAdmin>,
    /// The RRsets, [`OF_HOST`] for each host; in a fleet with marks, the TXT of the registry of each of them behind them, in
    /// the same order.
    pub keys: Vec<RrKey>,
    /// What they hold at first.
    pub first: Vec<Option<Rrset>>,
    /// How many of the RRsets are no marks.
    pub records: usize,
}

/// Who we are, as marks say.
pub const OWNER: &str = "us";

/// The owner name and type of an RRset.
pub fn slot(key: &RrKey) -> (Name, Rtype) {
    (key.owner.as_name().to_name(), key.rtype)
}

/// An address of a host: 1 is what it has at first, 2 and 3 what the first and second plan give it, others are foreign.
fn address(host: usize, kind: usize, number: usize) -> IpAddr {
    Ipv6Addr::new(0x2a02, 0x6b8, 0, 0, 0, kind as u16, number as u16, host as u16).into()
}

/// The usual TTL.
fn ttl() -> Ttl {
    Ttl::from_secs(600).unwrap()
}

/// An RRset of one record.
fn one(rdata: Rdata) -> Rrset {
    Rrset::new(ttl(), vec![rdata]).unwrap()
}

/// The addresses of a host that may have two, of which the second stays.
fn host_addresses(host: usize, kind: usize) -> Rrset {
    let stays = (host % 2 == 1).then(|| address(host, 9, 0));
    let all = std::iter::once(address(host, kind, 0)).chain(stays);
    Rrset::new(ttl(), all.map(Rdata::from_address).collect()).unwrap()
}

/// An RRset without its new records but the first: no plan adds more than one address at a name.
fn with_one_new(wanted: Rrset, standing: Option<&Rrset>) -> Rrset {
    let is_old = |rdata: &&Rdata| standing.is_some_and(|standing| standing.rdata().contains(rdata));
    let (old, new): (Vec<&Rdata>, Vec<&Rdata>) = wanted.rdata().iter().partition(is_old);
    Rrset::new(wanted.ttl(), old.into_iter().chain(new.into_iter().take(1)).cloned().collect()).unwrap()
}

/// A TXT of the registry.
fn mark(owner: &str) -> Rrset {
    Rrset::new(Ttl::OF_CLOUD_MARKS, vec![MarkLabels::new(owner, None).to_rdata()]).unwrap()
}

/// Whether a TXT says that an RRset is ours, and nothing else.
pub fn is_our_mark(rrset: Option<&Rrset>) -> bool {
    rrset.is_some_and(|rrset| rrset.rdata() == mark(OWNER).rdata())
}

/// Why a host's RRset is created, gets another record or TTL, or is deleted.
fn reasons(rtype: Rtype, kind: &ChangeKind, host: u64) -> Vec<Reason> {
    let (adds, removes) = match rtype {
        Rtype::PTR => (Rule::MissingPtr, Rule::WrongPtr),
        Rtype::TXT => return vec![fixture::reason(Rule::Registry, Some(host), &[])],
        _ => (Rule::Missing, Rule::WrongAddress),
    };
    let adds = kind.after().map(|_| adds);
    let sets_ttl = matches!(kind, ChangeKind::Modify { before, after } if before.ttl() != after.ttl());
    let rules = adds.into_iter().chain(kind.before().map(|_| removes)).chain(sets_ttl.then_some(Rule::Ttl));
    rules.map(|rule| fixture::reason(rule, Some(host), &[])).collect()
}

/// A name.
fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

impl Fleet {
    /// A fleet of so many hosts.
    pub fn new(hosts: usize) -> Fleet {
        let zones = vec![fixture::zone("0.0.8.b.6.0.2.0.a.2.ip6.arpa"), fixture::zone("search.example.net")];
        let key = |zone: &ZoneName, name: Name, rtype| RrKey { owner: zone.owner(name.as_name()).unwrap(), rtype };
        let (mut keys, mut first) = (Vec::new(), Vec::new());
        for host in 0..hosts {
            let own = name(&format!("h{host}.search.example.net"));
            keys.push(key(&zones[1], own.clone(), Rtype::AAAA));
            first.push(Some(one(Rdata::from_address(address(host, 1, 0)))));
            for kind in 1..=3 {
                keys.push(key(&zones[0], reverse_name(address(host, kind, 0)), Rtype::PTR));
                first.push((kind == 1).then(|| one(Rdata::from_name(own.as_name()))));
            }
            keys.push(key(&zones[1], name(&format!("gone{host}.search.example.net")), Rtype::AAAA));
            first.push((host % 2 == 0).then(|| one(Rdata::from_address(address(host, 2, 0)))));
        }
        Fleet::of(zones, (keys, first))
    }

    /// The same for a service that holds addresses alone: each PTR is the address of another name instead, and every other host
    /// has two addresses, of which one stays.
    pub fn of_addresses(hosts: usize) -> Fleet {
        let zones = vec![fixture::zone("a.search.example.net"), fixture::zone("b.search.example.net")];
        let key = |zone: &ZoneName, label: String| {
            let name = name(&format!("{label}.{zone}"));
            RrKey { owner: zone.owner(name.as_name()).unwrap(), rtype: Rtype::AAAA }
        };
        let (mut keys, mut first) = (Vec::new(), Vec::new());
        for host in 0..hosts {
            keys.push(key(&zones[1], format!("h{host}")));
            first.push(Some(host_addresses(host, 1)));
            for kind in 1..=3 {
                keys.push(key(&zones[0], format!("n{kind}-h{host}")));
                first.push((kind == 1).then(|| one(Rdata::from_address(address(host, kind, 0)))));
            }
            keys.push(key(&zones[1], format!("gone{host}")));
            first.push((host % 2 == 0).then(|| one(Rdata::from_address(address(host, 2, 0)))));
        }
        let more = zones[0].as_name().to_name();
        let mut fleet = Fleet::of(zones, (keys, first));
        fleet.projects.values_mut().for_each(|own| own.also_domains.push(more.clone()));
        fleet
    }

    /// A fleet of these zones, with what they hold at first.
    fn of(zones: Vec<ZoneName>, (keys, first): (Vec<RrKey>, Vec<Option<Rrset>>)) -> Fleet {
        let search = ProjectAdmin {
            dns_domain: zones[1].as_name().to_name(),
            also_domains: Vec::new(),
            automation_allowed: true,
            keep_edits: false,
            approvals: None,
            origin: Origin::line(Files::default().add("zonewright.toml"), 1),
        };
        let projects = BTreeMap::from([("search".to_owned(), search)]);
        Fleet { zones, projects, records: keys.len(), keys, first }
    }

    /// The same with a registry. Two of three RRsets have marks at first, also where they are not there.
    pub fn with_marks(mut self) -> Fleet {
        let key = |key: &RrKey| {
            let owner = MarkForm::default().txt_name(key.owner.as_name(), key.rtype).unwrap().unwrap();
            RrKey { owner: self.zone_of(key).owner(owner.as_name()).unwrap(), rtype: Rtype::TXT }
        };
        let marks: Vec<RrKey> = self.keys.iter().map(key).collect();
        self.keys.extend(marks);
        self.first.extend((0..self.records).map(|place| (place % 3 > 0).then(|| mark(OWNER))));
        self
    }

    /// How it is known what is ours.
    pub fn registry(&self) -> Registry {
        if self.has_marks() { Registry::Txt } else { Registry::Journal }
    }

    /// How many records plans leave at a name at most.
    pub fn most_records(&self) -> usize {
        if self.has_reverse() { 1 } else { 2 }
    }

    /// Whether it has PTR.
    fn has_reverse(&self) -> bool {
        self.keys.iter().any(|key| key.rtype == Rtype::PTR)
    }

    /// Whether it has marks.
    fn has_marks(&self) -> bool {
        self.keys.len() > self.records
    }

    /// The place of the mark of an RRset; none where there are none.
    pub fn mark_of(&self, place: usize) -> Option<usize> {
        (self.has_marks() && place < self.records).then_some(self.records + place)
    }

    /// The zone of an RRset.
    pub fn zone_of(&self, key: &RrKey) -> &ZoneName {
        self.zones.iter().find(|zone| key.owner.as_name().is_at_or_below(zone.as_name())).unwrap()
    }

    /// The primary with the first data.
    pub fn primary(&self, window: usize, edits: usize) -> MemoryPrimary {
        let rrsets: Vec<(&RrKey, &Rrset)> =
            self.keys.iter().zip(&self.first).filter_map(|(key, rrset)| Some((key, rrset.as_ref()?))).collect();
        let limits = UpdateLimits { edits, ..UpdateLimits::NONE };
        truth::holding(&self.zones, &rrsets).with_window(window).with_limits(limits)
    }

    /// The place of an RRset; `None` where no host has it.
    pub fn place(&self, name: &Name, rtype: Rtype) -> Option<usize> {
        self.keys.iter().position(|key| key.rtype == rtype && key.owner.as_name() == name.as_name())
    }

    /// The RRset that a plan sets at a place; `None` where it removes it.
    pub fn wanted(&self, place: usize, run: usize) -> Option<Rrset> {
        if let Some(marked) = place.checked_sub(self.records) {
            return self.wanted(marked, run).map(|_| mark(OWNER));
        }
        let (host, part) = (place / OF_HOST, place % OF_HOST);
        let is_reverse = self.keys[place].rtype == Rtype::PTR;
        match part {
            0 if self.has_reverse() => Some(one(Rdata::from_address(address(host, 2 + run, 0)))),
            0 => Some(host_addresses(host, 2 + run)),
            part if part != 2 + run => None,
            _ if is_reverse => Some(one(Rdata::from_name(self.keys[host * OF_HOST].owner.as_name()))),
            part => Some(one(Rdata::from_address(address(host, part, 0)))),
        }
    }

    /// The plan of a run, made from what a primary holds.
    pub fn plan(&self, run: usize, primary: &MemoryPrimary) -> SealedPlan {
        let kind = |place: usize| {
            let standing = truth::standing(primary, &self.keys[place]);
            let wanted = self.wanted(place, run).map(|wanted| with_one_new(wanted, standing.as_ref()));
            ChangeKind::between(standing, wanted)
        };
        let mut changes: Vec<Change> = Vec::new();
        let mut marks: Vec<Change> = Vec::new();
        for (place, kind) in (0..self.records).filter_map(|place| Some((place, kind(place)?))) {
            let Some(of_mark) = self.mark_of(place) else {
                changes.push(self.change(place, kind));
                continue;
            };
            let marked = truth::standing(primary, &self.keys[of_mark]);
            let is_ours = is_our_mark(marked.as_ref());
            // What is another owner's is left.
            if marked.is_some() && !is_ours {
                continue;
            }
            let after = match kind {
                ChangeKind::Create { .. } if !is_ours => Some(mark(OWNER)),
                ChangeKind::Delete { .. } => None,
                _ => marked.clone(),
            };
            changes.push(self.change(place, kind));
            marks.extend(ChangeKind::between(marked, after).map(|kind| self.change(of_mark, kind)));
        }
        changes.extend(marks);
        let tool = format!("run {run}");
        SealedPlan::new(Plan { tool, changes, inputs: Default::default(), zones: Vec::new(), ..fixture::empty() })
    }

    /// The change of an RRset, at all targets.
    pub fn change(&self, place: usize, kind: ChangeKind) -> Change {
        let (key, host) = (&self.keys[place], self.host(place) as u64);
        Change {
            zone: self.zone_of(key).clone(),
            key: key.clone(),
            subject: Subject::Host(Inv(host)),
            pool: super::pool(),
            also: Vec::new(),
            registers: None,
            via: None,
            targets: Vec::new(),
            project: "search".to_owned(),
            reasons: reasons(key.rtype, &kind, host),
            kind,
        }
    }

    /// The host of an RRset.
    pub fn host(&self, place: usize) -> usize {
        place % self.records / OF_HOST
    }

    /// An RRset that no plan sets at a place.
    pub fn foreign(&self, place: usize, number: usize) -> Rrset {
        one(self.foreign_rdata(place, number))
    }

    /// RDATA that no plan sets at a place.
    fn foreign_rdata(&self, place: usize, number: usize) -> Rdata {
        match self.keys[place].rtype {
            Rtype::PTR => Rdata::from_name(name(&format!("foreign{number}.example.net")).as_name()),
            Rtype::TXT => MarkLabels::new(&format!("other{number}"), None).to_rdata(),
            _ => Rdata::from_address(address(self.host(place), 15, number)),
        }
    }

    /// An RRset with one more record.
    pub fn with_another(&self, place: usize, rrset: &Rrset, number: usize) -> Rrset {
        let rdata = rrset.rdata().iter().cloned().chain([self.foreign_rdata(place, number)]);
        Rrset::new(rrset.ttl(), rdata.collect()).unwrap()
    }

    /// An RRset with another TTL.
    pub fn with_other_ttl(rrset: &Rrset) -> Rrset {
        let ttl = u64::from(rrset.ttl().as_secs() ^ 1);
        Rrset::new(Ttl::from_secs(ttl).unwrap(), rrset.rdata().to_vec()).unwrap()
    }

    /// The RRset that one of the plans sets at a place.
    pub fn planned(&self, place: usize, number: usize) -> Option<Rrset> {
        self.wanted(place, number % 2)
    }

    /// A CNAME at a name.
    pub fn alias(&self, owner: Name) -> UpdateInstruction {
        UpdateInstruction::Add(owner, Rtype::CNAME, ttl(), Rdata::from_name(name("elsewhere.example.net").as_name()))
    }
}
