//! The rules that a host's own interfaces give: addresses, PTR, TTLs.

use std::net::{IpAddr, Ipv6Addr};

use super::act::{Act, Actor, Deed};
use super::context::Context;
use super::own::{self, Registration, RegistryName};
use super::standing::{Block, Standings, kept_or_gained};
use super::words;
use crate::change::{Notice, NoticeCode, Rule};
use crate::desired::{DesiredHost, Interface, InterfaceKind};
use crate::diag::Origin;
use crate::dns::{NameRef, Rdata, Rtype, reverse};
use crate::inventory::model::{ClaimAddresses, Host, Policy, Registry};
use crate::live::{LiveRrset, Place, ZoneIndex};

/// What the rules of one host come to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What they do; empty where the host is blocked.
    pub acts: Vec<Act>,
    /// What they found and left; empty where the host is blocked.
    pub notices: Vec<Notice>,
    /// Why none of it is done, after all.
    pub block: Option<Block>,
}

/// Runs the rules of an open host.
pub fn reconcile(context: &Context<'_>, standings: &Standings, place: usize, policy: Policy) -> Outcome {
    let host = &context.inventory.hosts[place];
    let desired = &context.desired[place];
    let mut run = Run { context, standings, place, host, desired, policy, outcome: Outcome::default() };
    for interface in &desired.interfaces {
        let kept = kept_or_gained(context, interface, policy);
        run.addresses(interface, &kept);
        run.addresses_elsewhere(interface);
        run.pointers_at_acceptable(interface, &kept);
        run.pointers_at_own_a(interface);
        run.pointers_elsewhere(interface);
    }
    match run.outcome.block {
        Some(_) => Outcome { block: run.outcome.block, ..Outcome::default() },
        None => run.outcome,
    }
}

/// The rules of one host while they run.
struct Run<'a, 'c> {
    /// What they may look at.
    context: &'a Context<'c>,
    /// Where all hosts stand.
    standings: &'a Standings,
    /// The host's place in the inventory.
    place: usize,
    /// The host.
    host: &'a Host,
    /// What the inventory says of it.
    desired: &'a DesiredHost,
    /// What may be done.
    policy: Policy,
    /// What they came to so far.
    outcome: Outcome,
}

/// How a record that stands where it should not is treated when it is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfForeign {
    /// The host is blocked: its own record belongs there.
    Block,
    /// It is left.
    Leave,
}

impl<'c> Run<'_, 'c> {
    /// Rules 1, 2, 4 and 6 at the interface's name: wrong addresses go, the preferred one comes, the TTL is set.
    fn addresses(&mut self, interface: &Interface, kept: &[Ipv6Addr]) {
        let owner = interface.owner.as_name();
        let found = self.context.live.rrset(owner, Rtype::AAAA);
        if self.policy != Policy::CreateOnly
            && let Some(found) = found
        {
            for rdata in found.rrset.rdata() {
                let accepted = matches!(rdata.address(), Some(IpAddr::V6(v6)) if interface.accepts(v6));
                if !accepted {
                    let evidence = self.address_evidence(interface, None);
                    self.remove(found, rdata.to_rdata(), Rule::WrongAddress, true, IfForeign::Block, evidence);
                }
            }
        }
        for address in kept {
            let rdata = Rdata::from_address(IpAddr::V6(*address));
            let evidence = self.address_evidence(interface, Some(*address));
            self.ensure(owner, Rtype::AAAA, rdata, Rule::Missing, IfForeign::Block, evidence);
        }
        self.set_ttl(owner, Rtype::AAAA);
    }

    /// Rule 3: the interface's addresses at names that are not the interface's.
    fn addresses_elsewhere(&mut self, interface: &Interface) {
        for (address, _) in &interface.acceptable {
            let holding: Vec<LiveRrset<'c>> = self.context.live.holding(*address).collect();
            for found in holding.into_iter().filter(|found| found.rrset.owner() != interface.owner.as_name()) {
                let name = found.rrset.owner();
                if is_untouchable(self.context, name) || !self.may_clear(found) {
                    self.outcome.notices.push(Notice {
                        code: NoticeCode::ForeignName,
                        name: name.to_string(),
                        host: Some(self.host.inv),
                        message: words::foreign_name(self.host.inv, *address, name),
                    });
                } else if matches!(self.policy, Policy::Repair | Policy::Sync) {
                    let rdata = Rdata::from_address(IpAddr::V6(*address));
                    let by_right = self.has_name(name);
                    let evidence = self.address_evidence(interface, Some(*address));
                    self.remove(found, rdata, Rule::AddressElsewhere, by_right, IfForeign::Leave, evidence);
                }
            }
        }
    }

    /// Whether rule 3 may clear a name: its RRset is own, a host has or had it, or its zone says so.
    fn may_clear(&self, found: LiveRrset<'_>) -> bool {
        let context = self.context;
        own::is_own(context, found)
            || context.names.holders(context.inventory, found.rrset.owner()).next().is_some()
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
            let owner = reverse::reverse_name(IpAddr::V6(*address));
            let is_kept = kept.contains(address);
            let touches = match self.policy {
                Policy::CreateOnly => false,
                Policy::UpsertOnly => is_kept,
                Policy::Repair | Policy::Sync => true,
            };
            let evidence = |run: &Self| run.address_evidence(interface, Some(*address));
            if touches && let Some(found) = self.context.live.rrset(owner.as_name(), Rtype::PTR) {
                let if_foreign = if is_kept { IfForeign::Block } else { IfForeign::Leave };
                for rdata in found.rrset.rdata().filter(|rdata| !is_kept || rdata.octets != target.as_octets()) {
                    let evidence = evidence(self);
                    self.remove(found, rdata.to_rdata(), Rule::WrongPtr, true, if_foreign, evidence);
                }
            }
            if is_kept {
                let evidence = evidence(self);
                self.ensure(owner.as_name(), Rtype::PTR, target.clone(), Rule::MissingPtr, IfForeign::Block, evidence);
                self.set_ttl(owner.as_name(), Rtype::PTR);
            }
        }
    }

    /// Rules 5 and 6 at the A records of the interface's name, wherever their PTR may be written.
    fn pointers_at_own_a(&mut self, interface: &Interface) {
        let target = Rdata::from_name(interface.owner.as_name());
        for address in &interface.own_a {
            let owner = reverse::reverse_name(IpAddr::V4(*address));
            if !matches!(self.context.live.place(owner.as_name()), Place::Open(_)) {
                continue;
            }
            let evidence: Vec<Origin> = self.desired.name_origin.into_iter().collect();
            if self.policy != Policy::CreateOnly
                && let Some(found) = self.context.live.rrset(owner.as_name(), Rtype::PTR)
            {
                for rdata in found.rrset.rdata().filter(|rdata| rdata.octets != target.as_octets()) {
                    let (rdata, evidence) = (rdata.to_rdata(), evidence.clone());
                    self.remove(found, rdata, Rule::WrongPtr, true, IfForeign::Leave, evidence);
                }
            }
            self.ensure(owner.as_name(), Rtype::PTR, target.clone(), Rule::MissingPtr, IfForeign::Leave, evidence);
            self.set_ttl(owner.as_name(), Rtype::PTR);
        }
    }

    /// Rule 5 at all other addresses: PTR that name the interface go.
    fn pointers_elsewhere(&mut self, interface: &Interface) {
        if !matches!(self.policy, Policy::Repair | Policy::Sync) {
            return;
        }
        let target = interface.owner.as_name();
        let pointing: Vec<LiveRrset<'c>> = self.context.live.pointing_to(target).collect();
        for found in pointing {
            let address = reverse::address_of(found.rrset.owner()).expect("the index holds whole addresses");
            if interface.is_at(address) {
                continue;
            }
            let by_right = self.desired.interfaces.iter().any(|own| own.is_at(address));
            let evidence: Vec<Origin> = self.desired.name_origin.into_iter().collect();
            let rdata = Rdata::from_name(target);
            self.remove(found, rdata, Rule::PtrElsewhere, by_right, IfForeign::Leave, evidence);
        }
    }

    /// Removes a record, unless it is not ours to remove or another host's and protected.
    fn remove(
        &mut self,
        found: LiveRrset<'_>,
        rdata: Rdata,
        rule: Rule,
        by_right: bool,
        if_foreign: IfForeign,
        evidence: Vec<Origin>,
    ) {
        let context = self.context;
        let (owner, rtype) = (found.rrset.owner(), found.rrset.rtype());
        if !own::is_writable(context, found) {
            if if_foreign == IfForeign::Block {
                self.block(words::not_owner(context, owner, rtype, None));
            }
            return;
        }
        let named = if rtype == Rtype::PTR { rdata.as_rdata(rtype).target() } else { Some(owner) };
        let protector = named.and_then(|name| self.standings.protector(context, self.place, name));
        if let Some(protector) = protector {
            let record = (owner, rtype, &rdata);
            self.block(words::conflict(context, record, &context.inventory.hosts[protector]));
            return;
        }
        self.act(found.zone, owner, rtype, Deed::Remove(rdata), rule, by_right, evidence);
    }

    /// Adds a record that is missing, where the policy and the RRset's owner let it.
    fn ensure(
        &mut self,
        owner: NameRef<'_>,
        rtype: Rtype,
        rdata: Rdata,
        rule: Rule,
        if_foreign: IfForeign,
        evidence: Vec<Origin>,
    ) {
        let context = self.context;
        let Some(zone) = context.live.zone_of(owner) else { return };
        match context.live.rrset(owner, rtype) {
            Some(found) => {
                let present = found.rrset.rdata().any(|own| own.octets == rdata.as_octets());
                // Where it is not ours and lacks the record it holds a wrong one, which `remove` has judged.
                if present || self.policy == Policy::CreateOnly || !own::is_writable(context, found) {
                    return;
                }
            }
            None => {
                if let Some(block) = self.registry_block(zone, owner, rtype) {
                    if if_foreign == IfForeign::Block {
                        self.block(block);
                    }
                    return;
                }
            }
        }
        self.act(zone, owner, rtype, Deed::Add(rdata), rule, true, evidence);
    }

    /// Why the registry does not let an RRset be created.
    fn registry_block(&self, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Option<Block> {
        let context = self.context;
        if context.inventory.config.registry != Registry::Txt {
            return None;
        }
        match own::registry_name(context, zone, owner, rtype) {
            RegistryName::TooLong(error) => Some(words::registry_too_long(owner, rtype, &error)),
            RegistryName::AtCname(name) => Some(words::registry_at_cname(owner, rtype, &name)),
            RegistryName::Outside => None,
            RegistryName::At(_) => match own::registration(context, zone, owner, rtype) {
                Registration::Foreign(by) => Some(words::not_owner(context, owner, rtype, Some(&by))),
                Registration::None | Registration::Ours(_) => None,
            },
        }
    }

    /// Rule 6: sets the TTL of an RRset that exists or is created.
    fn set_ttl(&mut self, owner: NameRef<'_>, rtype: Rtype) {
        let context = self.context;
        let Some(zone) = context.live.zone_of(owner) else { return };
        let wanted = context.wanted_ttl(self.host.project, zone);
        let acts = match context.live.rrset(owner, rtype) {
            Some(found) => {
                self.policy != Policy::CreateOnly && found.rrset.ttl() != wanted && own::is_writable(context, found)
            }
            None => true,
        };
        if acts {
            let project = context.settings(self.host.project).and_then(|settings| settings.ttl);
            let origin = project.map(|(_, origin)| origin).or(context.zone_spec(zone).ttl_origin);
            let evidence = origin.unwrap_or(context.zone_spec(zone).origin);
            self.act(zone, owner, rtype, Deed::SetTtl(wanted), Rule::Ttl, true, vec![evidence]);
        }
    }

    /// Notes a deed.
    #[expect(clippy::too_many_arguments, reason = "they are the fields of one act, each given by the rule that acts")]
    fn act(
        &mut self,
        zone: ZoneIndex,
        owner: NameRef<'_>,
        rtype: Rtype,
        deed: Deed,
        rule: Rule,
        by_right: bool,
        evidence: Vec<Origin>,
    ) {
        let actor = Actor { host: Some(self.host.inv), project: self.host.project, by_right };
        self.outcome.acts.push(Act { zone, owner: owner.to_name(), rtype, deed, rule, actor, evidence });
    }

    /// Notes that the host is blocked; the first code in the order of codes counts.
    fn block(&mut self, block: Block) {
        if self.outcome.block.as_ref().is_none_or(|earlier| block.code < earlier.code) {
            self.outcome.block = Some(block);
        }
    }

    /// The lines that an address of an interface rests on; without an address those of the preferred one.
    fn address_evidence(&self, interface: &Interface, address: Option<Ipv6Addr>) -> Vec<Origin> {
        let acceptable = &interface.acceptable;
        let chosen = match address {
            Some(address) => acceptable.iter().find(|(own, _)| *own == address),
            None => acceptable.first(),
        };
        let network = chosen.map(|(_, origin)| *origin);
        let by_ipv4 = interface.kind == InterfaceKind::Backbone && !interface.own_a.is_empty();
        let settings = self.context.settings(self.host.project);
        let mac = self.desired.mac.active.map(|active| active.origin).filter(|_| !by_ipv4);
        let project = settings.map(|settings| match settings.hbf_project_id {
            Some((_, origin)) if !by_ipv4 => origin,
            _ => settings.vlans_origin,
        });
        [mac, network, project, self.desired.name_origin].into_iter().flatten().collect()
    }
}

/// Whether rules 3, 8 and 9 leave a name alone: an apex, a wildcard, or a name that NS or MX data point to.
pub fn is_untouchable(context: &Context<'_>, name: NameRef<'_>) -> bool {
    context.live.is_apex(name) || name.is_wildcard() || context.live.is_pointed_to(name)
}
