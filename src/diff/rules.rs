//! The rules for a host's own interfaces: addresses, PTR, TTLs.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use super::act::{RrsetDeed, RuleAct, RuleActor};
use super::block::HostBlock;
use super::context::RuleContext;
use super::own::{self, Registration, RegistryName};
use super::standing::{self, HostStanding, HostStandings, kept_or_gained};
use super::{protect, words};
use crate::change::{BlockCode, Notice, NoticeCode, Rule};
use crate::claim::Subject;
use crate::desired::{DesiredHost, Interface, InterfaceKind};
use crate::diag::Origin;
use crate::dns::reverse::{self, ReverseName};
use crate::dns::{NameRef, Rdata, RdataRef, Rtype};
use crate::inventory::model::{ClaimAddresses, Host, Policy, Registry};
use crate::live::{LiveRrset, NamePlace, ZoneIndex};

/// The result of the rules of one host.
#[derive(Debug, Default)]
pub struct HostResult {
    /// What they do; once settled, empty where the host is blocked.
    pub acts: Vec<RuleAct>,
    /// What they found and left; once settled, empty where the host is blocked.
    pub notices: Vec<Notice>,
    /// Why none of it can be done, in the order in which it was found.
    pub blocks: Vec<HostBlock>,
}

impl HostResult {
    /// Why none of it is done: the first of the blocks, by the order of codes.
    pub fn block(&self) -> Option<HostBlock> {
        self.blocks.iter().min_by_key(|block| block.code).cloned()
    }
}

/// Runs the rules of an open host; [`settle`] may still block the host.
pub fn reconcile(context: &RuleContext<'_>, place: usize, policy: Policy) -> HostResult {
    let host = &context.inventory.hosts[place];
    let desired = &context.desired[place];
    let mut run = RulesRun { context, host, desired, policy, outcome: HostResult::default() };
    for interface in &desired.interfaces {
        let kept = kept_or_gained(context, interface, policy);
        run.addresses(interface, &kept);
        run.addresses_elsewhere(interface);
        run.pointers_at_acceptable(interface, &kept);
        run.pointers_at_own_a(interface);
        run.pointers_elsewhere(interface);
    }
    let HostResult { acts, notices, mut blocks } = run.outcome;
    let protected = protect::blocks(context, desired, policy);
    // A blocked host gets no notices about single names: none of its changes is made.
    let (acts, left) = if protected.is_empty() { protect::leave(context, acts) } else { (acts, Vec::new()) };
    blocks.extend(protected);
    HostResult { acts, notices: notices.into_iter().chain(left).collect(), blocks }
}

/// Blocks a host whose rules would remove a protected host's record, and drops the acts and notices of a blocked host.
///
/// It needs the standing of all hosts, and so runs after the rules of all of them.
pub fn settle(context: &RuleContext<'_>, standings: &HostStandings, place: usize, outcome: &mut HostResult) {
    for act in &outcome.acts {
        let RrsetDeed::Remove(rdata) = &act.deed else { continue };
        let owner = act.owner.as_name();
        let rdata = rdata.as_rdata(act.rtype);
        let named = if act.rtype == Rtype::PTR { rdata.target() } else { Some(owner) };
        if let Some(protector) = named.and_then(|name| standings.protector(context, place, name)) {
            let protector = &context.inventory.hosts[protector];
            outcome.blocks.push(words::conflict(context, owner, rdata, protector));
        }
    }
    if !outcome.blocks.is_empty() {
        outcome.acts.clear();
        outcome.notices.clear();
    }
}

/// Everything that keeps a host's rules from acting, in the order of codes: what blocks it now, and what would block it
/// afterwards. Empty where nothing does.
///
/// Live DNS can be compared only where the host's addresses are known.
pub fn obstacles(context: &RuleContext<'_>, standings: &HostStandings, place: usize, policy: Policy) -> Vec<HostBlock> {
    let desired = &context.desired[place];
    let mut blocks = standing::obstacles(context, place, policy);
    let unsure = |block: &HostBlock| matches!(block.code, BlockCode::BadInput | BlockCode::SourceUntrusted);
    let derived = !desired.interfaces.is_empty() && desired.interfaces.iter().all(|own| !own.acceptable.is_empty());
    if derived && !blocks.iter().any(unsure) {
        let mut outcome = reconcile(context, place, policy);
        settle(context, standings, place, &mut outcome);
        blocks.extend(outcome.blocks);
    }
    // The zones were tested with all hosts' changes; that result cannot be computed for one host.
    if let HostStanding::Blocked(block) = &standings.0[place]
        && block.code == BlockCode::PostState
    {
        blocks.push(block.clone());
    }
    blocks.sort_by_key(|block| block.code);
    let mut said = BTreeSet::new();
    blocks.retain(|block| said.insert(block.message.clone()));
    blocks
}

/// The rules of one host while they run.
struct RulesRun<'a, 'c> {
    /// What they may read.
    context: &'a RuleContext<'c>,
    /// The host.
    host: &'a Host,
    /// What the inventory says of it.
    desired: &'a DesiredHost,
    /// What may be done.
    policy: Policy,
    /// Their result so far.
    outcome: HostResult,
}

/// What happens to a wrong record that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfForeign {
    /// The host is blocked: its own record belongs there.
    Block,
    /// The record is left.
    Leave,
}

/// The RRset that a rule is about, whether it exists or not.
#[derive(Debug, Clone, Copy)]
struct RuleSite<'n, 'c> {
    /// Its zone.
    zone: ZoneIndex,
    /// Its owner name.
    owner: NameRef<'n>,
    /// Its type.
    rtype: Rtype,
    /// The RRset as it is live.
    found: Option<LiveRrset<'c>>,
    /// What happens where it is not ours.
    if_foreign: IfForeign,
}

impl<'n, 'c> RuleSite<'n, 'c> {
    /// An RRset that was found where the host's own records do not belong, with its owner name.
    fn elsewhere(found: LiveRrset<'c>, owner: NameRef<'n>) -> RuleSite<'n, 'c> {
        let rtype = found.rrset.rtype();
        RuleSite { zone: found.zone, owner, rtype, found: Some(found), if_foreign: IfForeign::Leave }
    }

    /// The records that are there.
    fn records(&self) -> impl Iterator<Item = RdataRef<'c>> {
        self.found.into_iter().flat_map(|found| found.rrset.rdata())
    }
}

/// What a rule is based on; the evidence of its acts is made from it.
#[derive(Clone, Copy)]
enum RuleBasis<'i> {
    /// An address of an interface; the preferred one where none is named.
    Address(&'i Interface, Option<Ipv6Addr>),
    /// The host's name.
    Name,
    /// The wanted TTL.
    Ttl,
}

/// A rule that acts, whether the host has the name or address (`by_right`), and what the rule is based on.
type RuleCause<'i> = (Rule, bool, RuleBasis<'i>);

impl<'c> RulesRun<'_, 'c> {
    /// Rules 1, 2, 4 and 6 at the interface's name: remove wrong addresses, add the preferred one, set the TTL.
    fn addresses(&mut self, interface: &Interface, kept: &[Ipv6Addr]) {
        let Some(site) = self.site(interface.owner.as_name(), Rtype::AAAA, IfForeign::Block) else { return };
        if self.policy != Policy::CreateOnly {
            for rdata in site.records() {
                let accepted = matches!(rdata.address(), Some(IpAddr::V6(v6)) if interface.accepts(v6));
                if !accepted {
                    self.remove(&site, rdata, (Rule::WrongAddress, true, RuleBasis::Address(interface, None)));
                }
            }
        }
        for address in kept {
            let cause = (Rule::Missing, true, RuleBasis::Address(interface, Some(*address)));
            self.ensure(&site, &Rdata::from_address(IpAddr::V6(*address)), cause);
        }
        self.set_ttl(&site);
    }

    /// Rule 3: remove the interface's addresses at names that are not the interface's.
    fn addresses_elsewhere(&mut self, interface: &Interface) {
        let context = self.context;
        for (address, _) in &interface.acceptable {
            for found in context.live.holding(*address) {
                let owner = found.rrset.owner();
                let name = owner.as_name();
                if name == interface.owner.as_name() {
                    continue;
                }
                if is_untouchable(context, name) || !self.may_clear(found) {
                    self.outcome.notices.push(Notice {
                        code: NoticeCode::ForeignName,
                        name: name.to_string(),
                        subject: Some(Subject::Host(self.host.inv)),
                        message: words::foreign_name(self.host.inv, *address, name),
                    });
                } else if matches!(self.policy, Policy::Repair | Policy::Sync) {
                    let rdata = Rdata::from_address(IpAddr::V6(*address));
                    let basis = RuleBasis::Address(interface, Some(*address));
                    let cause = (Rule::AddressElsewhere, self.has_name(name), basis);
                    self.remove(&RuleSite::elsewhere(found, name), rdata.as_rdata(Rtype::AAAA), cause);
                }
            }
        }
    }

    /// Whether rule 3 may clear a name: its RRset is own, a host has or had it, or its zone says so.
    fn may_clear(&self, found: LiveRrset<'_>) -> bool {
        let context = self.context;
        own::is_own(context, found)
            || context.names.holders(context.inventory, found.rrset.owner().as_name()).next().is_some()
            || context.zone_spec(found.zone).claim_addresses == ClaimAddresses::All
    }

    /// Whether one of the host's interfaces has a name.
    fn has_name(&self, name: NameRef<'_>) -> bool {
        self.desired.interfaces.iter().any(|interface| interface.owner.as_name() == name)
    }

    /// Rules 5 and 6 at the acceptable addresses.
    fn pointers_at_acceptable(&mut self, interface: &Interface, kept: &[Ipv6Addr]) {
        let target = Rdata::from_name(interface.owner.as_name());
        for (address, _) in &interface.acceptable {
            let owner = ReverseName::of(IpAddr::V6(*address));
            let is_kept = kept.contains(address);
            let touches = match self.policy {
                Policy::CreateOnly => false,
                Policy::UpsertOnly => is_kept,
                Policy::Repair | Policy::Sync => true,
            };
            let if_foreign = if is_kept { IfForeign::Block } else { IfForeign::Leave };
            let Some(site) = self.site(owner.as_name(), Rtype::PTR, if_foreign) else { continue };
            let basis = RuleBasis::Address(interface, Some(*address));
            if touches {
                for rdata in site.records().filter(|rdata| !is_kept || rdata.octets != target.as_octets()) {
                    self.remove(&site, rdata, (Rule::WrongPtr, true, basis));
                }
            }
            if is_kept {
                self.ensure(&site, &target, (Rule::MissingPtr, true, basis));
                self.set_ttl(&site);
            }
        }
    }

    /// Rules 5 and 6 at the A records of the interface's name, wherever their PTR may be written.
    fn pointers_at_own_a(&mut self, interface: &Interface) {
        let target = Rdata::from_name(interface.owner.as_name());
        for address in &interface.own_a {
            let owner = ReverseName::of(IpAddr::V4(*address));
            if !matches!(self.context.live.place(owner.as_name()), NamePlace::Open(_)) {
                continue;
            }
            let Some(site) = self.site(owner.as_name(), Rtype::PTR, IfForeign::Leave) else { continue };
            if self.policy != Policy::CreateOnly {
                for rdata in site.records().filter(|rdata| rdata.octets != target.as_octets()) {
                    self.remove(&site, rdata, (Rule::WrongPtr, true, RuleBasis::Name));
                }
            }
            self.ensure(&site, &target, (Rule::MissingPtr, true, RuleBasis::Name));
            self.set_ttl(&site);
        }
    }

    /// Rule 5 at all other addresses: remove PTR that name the interface.
    fn pointers_elsewhere(&mut self, interface: &Interface) {
        if !matches!(self.policy, Policy::Repair | Policy::Sync) {
            return;
        }
        let target = Rdata::from_name(interface.owner.as_name());
        for found in self.context.live.pointing_to(interface.owner.as_name()) {
            let owner = found.rrset.owner();
            let address = reverse::address_of(owner.as_name()).expect("the index holds whole addresses");
            if !interface.is_at(address) {
                let by_right = self.desired.interfaces.iter().any(|own| own.is_at(address));
                let cause = (Rule::PtrElsewhere, by_right, RuleBasis::Name);
                self.remove(&RuleSite::elsewhere(found, owner.as_name()), target.as_rdata(Rtype::PTR), cause);
            }
        }
    }

    /// Looks an RRset up; none where no configured zone holds it.
    fn site<'n>(&self, owner: NameRef<'n>, rtype: Rtype, if_foreign: IfForeign) -> Option<RuleSite<'n, 'c>> {
        let live = self.context.live;
        let zone = live.zone_of(owner)?;
        Some(RuleSite { zone, owner, rtype, found: live.rrset(owner, rtype), if_foreign })
    }

    /// Removes a record, unless it is not ours to remove.
    fn remove(&mut self, site: &RuleSite<'_, 'c>, rdata: RdataRef<'_>, cause: RuleCause<'_>) {
        let context = self.context;
        if let Some(registry) = own::unknown_registry(context, site.zone, site.owner, site.rtype) {
            if site.if_foreign == IfForeign::Block {
                self.block(words::registry_unknown(context, site.zone, &registry));
            }
        } else if site.found.is_some_and(|found| own::is_writable(context, found)) {
            self.act(site, RrsetDeed::Remove(rdata.to_rdata()), cause);
        } else if site.if_foreign == IfForeign::Block {
            self.block(words::not_owner(context, site.owner, rdata));
        }
    }

    /// Adds a record that is missing, where the policy permits it and the RRset may be changed.
    fn ensure(&mut self, site: &RuleSite<'_, 'c>, rdata: &Rdata, cause: RuleCause<'_>) {
        let context = self.context;
        match site.found {
            Some(found) => {
                let present = site.records().any(|own| own.octets == rdata.as_octets());
                // An RRset that is not ours and lacks the record holds a wrong one, for which `remove` has blocked the
                // host or not.
                if present || self.policy == Policy::CreateOnly || !own::is_writable(context, found) {
                    return;
                }
            }
            None => {
                if let Some(block) = self.registry_block(site) {
                    if site.if_foreign == IfForeign::Block {
                        self.block(block);
                    }
                    return;
                }
            }
        }
        self.act(site, RrsetDeed::Add(rdata.clone()), cause);
    }

    /// Why the registry does not permit an RRset to be created.
    fn registry_block(&self, site: &RuleSite<'_, '_>) -> Option<HostBlock> {
        let context = self.context;
        let RuleSite { zone, owner, rtype, .. } = *site;
        if context.inventory.config.registry != Registry::Txt {
            return None;
        }
        match own::registry_name(context, zone, owner, rtype) {
            RegistryName::TooLong(error) => Some(words::registry_too_long(owner, rtype, &error)),
            RegistryName::AtCname(name) => Some(words::registry_at_cname(owner, rtype, &name)),
            RegistryName::Unknown(name) => Some(words::registry_unknown(context, zone, &name)),
            RegistryName::Outside => None,
            RegistryName::At(name) => match own::registration(context, zone, owner, rtype) {
                Registration::Foreign(by) => Some(words::registered(context, owner, rtype, &by, &name)),
                Registration::None | Registration::Ours(_) => None,
            },
        }
    }

    /// Rule 6: sets the TTL of an RRset that exists or is created.
    fn set_ttl(&mut self, site: &RuleSite<'_, 'c>) {
        let context = self.context;
        let wanted = context.wanted_ttl(self.host.project, site.zone);
        let acts = site.found.is_none_or(|found| {
            self.policy != Policy::CreateOnly && found.rrset.ttl() != wanted && own::is_writable(context, found)
        });
        if acts {
            self.act(site, RrsetDeed::SetTtl(wanted), (Rule::Ttl, true, RuleBasis::Ttl));
        }
    }

    /// Notes a deed.
    fn act(&mut self, site: &RuleSite<'_, '_>, deed: RrsetDeed, (rule, by_right, basis): RuleCause<'_>) {
        let actor = RuleActor { subject: Subject::Host(self.host.inv), project: self.host.project, by_right };
        let evidence = self.evidence(site.zone, basis);
        let RuleSite { zone, owner, rtype, .. } = *site;
        self.outcome.acts.push(RuleAct { zone, owner: owner.to_name(), rtype, deed, rule, actor, evidence });
    }

    /// Notes that the host is blocked.
    fn block(&mut self, block: HostBlock) {
        self.outcome.blocks.push(block);
    }

    /// The lines that a rule is based on.
    fn evidence(&self, zone: ZoneIndex, basis: RuleBasis<'_>) -> Vec<Origin> {
        let settings = self.context.settings(self.host.project);
        match basis {
            RuleBasis::Name => self.desired.name_origin.into_iter().collect(),
            RuleBasis::Ttl => {
                let spec = self.context.zone_spec(zone);
                let project = settings.and_then(|settings| settings.ttl).map(|(_, origin)| origin);
                vec![project.or(spec.ttl_origin).unwrap_or(spec.origin)]
            }
            RuleBasis::Address(interface, address) => {
                let acceptable = &interface.acceptable;
                let chosen = match address {
                    Some(address) => acceptable.iter().find(|(own, _)| *own == address),
                    None => acceptable.first(),
                };
                let network = chosen.map(|(_, origin)| *origin);
                let by_ipv4 = interface.kind == InterfaceKind::Backbone && !interface.own_a.is_empty();
                let mac = self.desired.mac.active.map(|active| active.origin).filter(|_| !by_ipv4);
                let vlan = settings.map(|settings| settings.vlans_origin);
                let project_id = settings.and_then(|settings| settings.hbf_project_id).filter(|_| !by_ipv4);
                let project_id = project_id.map(|(_, origin)| origin);
                [mac, network, vlan, project_id, self.desired.name_origin].into_iter().flatten().collect()
            }
        }
    }
}

/// Whether rules 3, 8 and 9 leave a name alone: an apex, a wildcard, a name that MX data point to, or one that may be
/// the fastbone of a host whose project file is bad. [`protect::leave`] reports what they leave at other protected
/// names.
pub fn is_untouchable(context: &RuleContext<'_>, name: NameRef<'_>) -> bool {
    context.live.is_apex(name)
        || name.is_wildcard()
        || context.live.is_exchanger(name)
        || context.names.may_be_held(context.inventory, name)
}
