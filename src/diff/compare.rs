//! Claims compared with live DNS, a function for each kind of want. Nothing here knows a host, an interface or a type.
//!
//! Comes in: claims of one subject. Goes out: what is done for them, what was found and left, and what blocks the
//! subject.

use smallvec::SmallVec;

use super::act::{RrsetDeed, RuleAct, RuleActor};
use super::block::SubjectBlock;
use super::choice::kept_or_added;
use super::context::RuleContext;
use super::own::{self, Registration, RegistryName};
use super::{protect, words};
use crate::change::{Notice, NoticeCode, Rule};
use crate::claim::{
    Claim, ElsewhereClaim, ElsewhereReach, IfForeign, RrsetClaim, Subject, TtlHold, Want, WantedTtl, WantedValue,
};
use crate::diag::Origin;
use crate::dns::{NameRef, Rdata, RdataRef, Rtype};
use crate::inventory::model::{ClaimAddresses, Policy, ProjectIndex};
use crate::live::{LiveRrset, NamePlace, ZoneIndex};
use crate::registry::Registry;
use crate::target::RecordBounds;

/// The result of the claims of one subject.
#[derive(Debug, Default)]
pub struct ClaimsResult {
    /// What is done; once settled, empty where the subject is blocked.
    pub acts: Vec<RuleAct>,
    /// What was found and left; once settled, empty where the subject is blocked.
    pub notices: Vec<Notice>,
    /// Why none of it can be done, in the order in which it was found.
    pub blocks: Vec<SubjectBlock>,
}

impl ClaimsResult {
    /// Why none of it is done: the first of the blocks, by the order of codes.
    pub fn block(&self) -> Option<SubjectBlock> {
        self.blocks.iter().min_by_key(|block| block.code).cloned()
    }
}

/// The subject whose claims are compared.
#[derive(Debug)]
pub struct Claimant<'a, 'c> {
    /// What may be read.
    context: &'a RuleContext<'c>,
    /// The subject.
    subject: Subject,
    /// Its project.
    project: ProjectIndex,
    /// What may be done.
    policy: Policy,
    /// Whether changes belong to the subject by right: it has the names and addresses that it claims.
    by_right: bool,
    /// The result so far.
    result: ClaimsResult,
}

/// The RRset that a claim is about, whether it exists or not.
#[derive(Debug, Clone, Copy)]
struct ClaimSite<'n, 'c> {
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

impl<'c> ClaimSite<'_, 'c> {
    /// The records that are there.
    fn records(&self) -> impl Iterator<Item = RdataRef<'c>> {
        self.found.into_iter().flat_map(|found| found.rrset.rdata())
    }
}

/// The rule that acts, whether the subject has the name, and the lines that the act is based on.
#[derive(Clone, Copy)]
struct ActCause<'e> {
    /// The rule.
    rule: Rule,
    /// Whether the subject has the name.
    by_right: bool,
    /// The lines.
    evidence: &'e [Origin],
}

/// The octets of values in their order, to be searched: an RRset may have many.
fn in_order<'o>(values: impl Iterator<Item = &'o [u8]>) -> SmallVec<[&'o [u8]; 4]> {
    let mut values: SmallVec<[&[u8]; 4]> = values.collect();
    values.sort_unstable();
    values
}

impl<'a, 'c> Claimant<'a, 'c> {
    /// A subject of a project that has the names and addresses of its claims.
    pub fn by_right(
        context: &'a RuleContext<'c>,
        subject: Subject,
        project: ProjectIndex,
        policy: Policy,
    ) -> Claimant<'a, 'c> {
        Claimant { context, subject, project, policy, by_right: true, result: ClaimsResult::default() }
    }

    /// A subject of a project that no longer has the names of its claims.
    pub fn of_former(
        context: &'a RuleContext<'c>,
        subject: Subject,
        project: ProjectIndex,
        policy: Policy,
    ) -> Claimant<'a, 'c> {
        Claimant { by_right: false, ..Claimant::by_right(context, subject, project, policy) }
    }

    /// The result of all claims.
    pub fn finish(self) -> ClaimsResult {
        self.result
    }

    /// Compares a claim.
    pub fn compare(&mut self, claim: &Claim) {
        match claim {
            Claim::Rrset(claim) => self.compare_rrset(claim),
            Claim::NowhereElse(claim) => self.nowhere_else(claim),
        }
    }

    /// Compares a claim on one RRset; outside of all zones there is nothing to compare.
    pub fn compare_rrset(&mut self, claim: &RrsetClaim) {
        let live = self.context.live;
        let owner = claim.owner.as_name();
        let Some(zone) = live.zone_of(owner) else { return };
        let (rtype, if_foreign) = (claim.rtype, claim.if_foreign);
        let is_stated = self.subject.is_stated();
        // What a subject only prefers gives way to what a file states.
        let stated = self.context.stated;
        let is_of_files = || stated.on(owner, rtype).next().is_some() || stated.holds(owner, rtype);
        if if_foreign != IfForeign::Block && !is_stated && is_of_files() {
            return;
        }
        // Nothing gives way to the values of another subject.
        let is_asked = || stated.is_asked_by_another(&self.subject, owner, rtype);
        if matches!(claim.want, Want::Absent(_)) && is_stated && is_asked() {
            return;
        }
        let found = if is_stated { live.stated_rrset(owner, rtype) } else { live.rrset(owner, rtype) };
        let site = ClaimSite { zone, owner, rtype, found, if_foreign };
        let first = self.result.acts.len();
        match &claim.want {
            Want::AnyOf { values, adds } => self.any_of(&site, claim, values, *adds),
            Want::Exactly { values, adds } => self.exactly(&site, claim, values, *adds),
            Want::Absent(evidence) => self.absent(&site, claim, evidence),
        }
        self.check_bounds(&site, first);
    }

    /// Blocks the subject where a target of the zone's pool cannot hold what the acts on an RRset, from this one on, make of it.
    fn check_bounds(&mut self, site: &ClaimSite<'_, 'c>, first: usize) {
        let acts = &self.result.acts[first..];
        let adds = acts.iter().any(|act| !matches!(act.deed, RrsetDeed::Remove(_)));
        let Some(bounds) = self.context.bounds.get(self.context.pool_of(site.zone)).filter(|_| adds) else { return };
        let mut values: Vec<Rdata> = site.records().map(RdataRef::to_rdata).collect();
        let mut ttl = None;
        for act in acts {
            match &act.deed {
                RrsetDeed::Remove(rdata) => values.retain(|own| own != rdata),
                RrsetDeed::Add(rdata) => values.push(rdata.clone()),
                RrsetDeed::SetTtl(own) => ttl = Some(*own),
                RrsetDeed::SetMark(_) => {}
            }
        }
        let (zone, values) = (&self.context.zone_spec(site.zone).name, values.iter().collect::<Vec<&Rdata>>());
        let neighbours: Vec<Rtype> = match site.found {
            Some(_) => Vec::new(),
            None => self.context.live.rrsets_at(site.owner).map(|found| found.rrset.rtype()).collect(),
        };
        let refusal = |bounds: &RecordBounds| {
            let of_rrset = bounds.refusal(zone, (site.owner, site.rtype), ttl, &values);
            of_rrset.or_else(|| (bounds.next_to)(site.owner, site.rtype, &neighbours))
        };
        let refused = bounds.iter().find_map(|(target, bounds)| Some((target, refusal(bounds)?)));
        if let Some((target, why)) = refused {
            let origin = acts.iter().find_map(|act| act.evidence.first()).copied();
            let block = words::record_refused(self.context, origin, target, &why);
            self.result.blocks.push(block);
        }
    }

    /// Any of some values: removes all others, adds the first where there is none of them, sets the TTL.
    fn any_of(&mut self, site: &ClaimSite<'_, 'c>, claim: &RrsetClaim, values: &[WantedValue], adds: Rule) {
        let preferred = values.first().map_or(&[][..], |first| &first.evidence);
        let data: Vec<Rdata> = values.iter().map(|value| value.rdata.clone()).collect();
        let chosen = kept_or_added(self.context, (site.owner, site.rtype), &data, self.policy);
        if self.policy != Policy::CreateOnly {
            let is_wanted = |rdata: &RdataRef<'_>| chosen.iter().any(|place| rdata.octets == data[*place].as_octets());
            let cause = ActCause { rule: claim.removes, by_right: self.by_right, evidence: preferred };
            site.records().filter(|rdata| !is_wanted(rdata)).for_each(|rdata| self.remove(site, rdata, cause));
        }
        for place in chosen {
            self.ensure(site, &values[place], adds);
        }
        self.set_ttl(site, claim.ttl);
    }

    /// All of some values: removes all others, adds those that are missing, sets the TTL. Where nothing depends on it, it is
    /// made only where it may be written.
    fn exactly(&mut self, site: &ClaimSite<'_, 'c>, claim: &RrsetClaim, values: &[WantedValue], adds: Rule) {
        let is_open = || matches!(self.context.live.place(site.owner), NamePlace::Open(_));
        if claim.if_foreign == IfForeign::Leave && !is_open() {
            return;
        }
        if self.policy != Policy::CreateOnly {
            let evidence = values.first().map_or(&[][..], |first| &first.evidence);
            let cause = ActCause { rule: claim.removes, by_right: self.by_right, evidence };
            let wanted = in_order(values.iter().map(|value| value.rdata.as_octets()));
            let is_wanted = |rdata: &RdataRef<'_>| wanted.binary_search(&rdata.octets).is_ok();
            site.records().filter(|rdata| !is_wanted(rdata)).for_each(|rdata| self.remove(site, rdata, cause));
            self.block_incomplete(site, values);
        }
        let live = in_order(site.records().map(|rdata| rdata.octets));
        for value in values.iter().filter(|value| live.binary_search(&value.rdata.as_octets()).is_err()) {
            self.ensure(site, value, adds);
        }
        self.set_ttl(site, claim.ttl);
    }

    /// Blocks the subject where an RRset that is not ours lacks one of several values: with one value, it holds another,
    /// which has blocked the subject or not.
    fn block_incomplete(&mut self, site: &ClaimSite<'_, 'c>, values: &[WantedValue]) {
        let Some(found) = site.found.filter(|_| site.if_foreign == IfForeign::Block && values.len() > 1) else {
            return;
        };
        let live = in_order(site.records().map(|rdata| rdata.octets));
        let missing = values.iter().find(|value| live.binary_search(&value.rdata.as_octets()).is_err());
        if let Some(missing) = missing.filter(|_| !own::is_writable(self.context, found)) {
            self.block(words::lacks_value(self.context, (site.zone, site.owner), missing.rdata.as_rdata(site.rtype)));
        }
    }

    /// Removes the RRsets of other types that cannot be next to a claim: a CNAME is alone at its name. Only own RRsets
    /// make room, and only under a policy that deletes.
    pub fn make_room(&mut self, claim: &RrsetClaim) {
        let (context, owner) = (self.context, claim.owner.as_name());
        let bars = |rtype: Rtype| {
            rtype != claim.rtype
                && (rtype == Rtype::CNAME || claim.rtype == Rtype::CNAME)
                && !crate::dns::is_of_signer(rtype)
        };
        let mut barring: Vec<LiveRrset<'c>> =
            context.live.rrsets_at(owner).filter(|found| bars(found.rrset.rtype())).collect();
        if !matches!(claim.rtype, Rtype::NS | Rtype::DS) && own::is_delegation_over(context, owner) {
            barring.extend(context.live.delegation_at(owner));
        }
        for found in barring {
            let (zone, rtype) = (found.zone, found.rrset.rtype());
            let unknown = own::unknown_registry(context, zone, owner, rtype);
            if let Some(registry) = unknown {
                self.block(words::registry_unknown(context, zone, &registry));
            } else if self.deletes() && own::is_own(context, found) && context.stated.counts(&self.subject, rtype) {
                let evidence = claim.want.values().first().map_or(&[][..], |first| &first.evidence);
                let cause = ActCause { rule: Rule::MakesRoom, by_right: self.by_right, evidence };
                let site = ClaimSite { zone, owner, rtype, found: Some(found), if_foreign: IfForeign::Block };
                site.records().for_each(|rdata| self.act(&site, RrsetDeed::Remove(rdata.to_rdata()), cause));
            } else {
                let is_own = own::is_own(context, found);
                self.block(words::no_room(context, (zone, owner), (rtype, claim.rtype), is_own));
            }
        }
    }

    /// Nothing: removes what is there, under a policy that deletes.
    fn absent(&mut self, site: &ClaimSite<'_, 'c>, claim: &RrsetClaim, evidence: &[Origin]) {
        if self.deletes() {
            let cause = ActCause { rule: claim.removes, by_right: self.by_right, evidence };
            site.records().for_each(|rdata| self.remove(site, rdata, cause));
        }
    }

    /// Nowhere else: removes a value from all other RRsets, under a policy that deletes. What it does not reach is
    /// reported under any policy.
    fn nowhere_else(&mut self, claim: &ElsewhereClaim) {
        let context = self.context;
        if claim.reach == ElsewhereReach::Everywhere && !self.deletes() {
            return;
        }
        for found in context.live.holding_rdata(claim.rtype, &claim.value.rdata) {
            let owner = found.rrset.owner();
            let name = owner.as_name();
            if claim.here.iter().any(|here| here.as_name() == name) {
                continue;
            }
            let rdata = claim.value.rdata.as_rdata(claim.rtype);
            if context.stated.has_value(name, claim.rtype, &claim.value.rdata) {
                self.result.notices.push(Notice {
                    code: NoticeCode::AddressShared,
                    message: words::address_shared(&self.subject, rdata, name),
                    name: name.to_string(),
                    subject: Some(self.subject.clone()),
                });
            } else if claim.reach == ElsewhereReach::KnownNames
                && (protect::is_untouchable(context, name) || !self.knows(found))
            {
                self.result.notices.push(Notice {
                    code: NoticeCode::ForeignName,
                    message: words::foreign_name(&self.subject, rdata, name),
                    name: name.to_string(),
                    subject: Some(self.subject.clone()),
                });
            } else if self.deletes() {
                let by_right = self.by_right && claim.own.iter().any(|own| own.as_name() == name);
                let cause = ActCause { rule: claim.removes, by_right, evidence: &claim.value.evidence };
                let (zone, rtype) = (found.zone, claim.rtype);
                let site = ClaimSite { zone, owner: name, rtype, found: Some(found), if_foreign: IfForeign::Leave };
                self.remove(&site, rdata, cause);
            }
        }
    }

    /// Whether the policy deletes what no claim names.
    fn deletes(&self) -> bool {
        matches!(self.policy, Policy::Repair | Policy::Sync)
    }

    /// Whether a value may be cleared from an RRset: it is own, a host has or had its name, or its zone says so.
    fn knows(&self, found: LiveRrset<'_>) -> bool {
        let context = self.context;
        own::is_own(context, found)
            || context.names.holders(context.inventory, found.rrset.owner().as_name()).next().is_some()
            || context.zone_spec(found.zone).claim_addresses == ClaimAddresses::All
    }

    /// Removes a record, unless it is not ours to remove.
    fn remove(&mut self, site: &ClaimSite<'_, 'c>, rdata: RdataRef<'_>, cause: ActCause<'_>) {
        let context = self.context;
        if let Some(registry) = own::unknown_registry(context, site.zone, site.owner, site.rtype) {
            if site.if_foreign == IfForeign::Block {
                self.block(words::registry_unknown(context, site.zone, &registry));
            }
        } else if site.found.is_some_and(|found| {
            let must_be_own = site.if_foreign == IfForeign::Keep;
            if must_be_own { own::is_own(context, found) } else { own::is_writable(context, found) }
        }) {
            self.act(site, RrsetDeed::Remove(rdata.to_rdata()), cause);
        } else if site.if_foreign == IfForeign::Block {
            self.block(words::not_owner(context, (site.zone, site.owner), rdata));
        }
    }

    /// Adds a value that is missing, where the policy permits it and the RRset may be changed.
    fn ensure(&mut self, site: &ClaimSite<'_, 'c>, value: &WantedValue, adds: Rule) {
        let context = self.context;
        match site.found {
            Some(found) => {
                let present = site.records().any(|own| own.octets == value.rdata.as_octets());
                // An RRset that is not ours and lacks the record holds a wrong one, for which `remove` has blocked the
                // subject or not.
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
        let cause = ActCause { rule: adds, by_right: self.by_right, evidence: &value.evidence };
        self.act(site, RrsetDeed::Add(value.rdata.clone()), cause);
    }

    /// Why the registry does not permit an RRset to be created.
    fn registry_block(&self, site: &ClaimSite<'_, '_>) -> Option<SubjectBlock> {
        let context = self.context;
        let ClaimSite { zone, owner, rtype, .. } = *site;
        match context.marking(zone).registry {
            Registry::Txt => {}
            Registry::Owner => return self.foreign_block(site),
            Registry::Journal | Registry::Noop | Registry::Metadata | Registry::Description => return None,
        }
        match own::registry_name(context, zone, owner, rtype) {
            RegistryName::TooLong(error) => Some(words::registry_too_long(owner, rtype, &error)),
            RegistryName::AtCname(name) => Some(words::registry_at_cname(owner, rtype, &name)),
            RegistryName::Unknown(name) => Some(words::registry_unknown(context, zone, &name)),
            RegistryName::Outside => None,
            RegistryName::At(_) => self.foreign_block(site),
        }
    }

    /// The block of an RRset that is registered to another owner.
    fn foreign_block(&self, site: &ClaimSite<'_, '_>) -> Option<SubjectBlock> {
        let (context, ClaimSite { zone, owner, rtype, .. }) = (self.context, *site);
        match own::registration(context, zone, owner, rtype) {
            Registration::Foreign { owner: by, at } => Some(words::registered(context, (zone, owner, rtype), &by, &at)),
            Registration::None | Registration::Ours(_) => None,
        }
    }

    /// Sets the TTL of an RRset that exists or is created.
    fn set_ttl(&mut self, site: &ClaimSite<'_, 'c>, wanted: Option<WantedTtl>) {
        let Some(WantedTtl { ttl, origin, hold }) = wanted else { return };
        let acts = site.found.is_none_or(|found| {
            hold == TtlHold::Always
                && self.policy != Policy::CreateOnly
                && found.rrset.ttl() != ttl
                && own::is_writable(self.context, found)
        });
        if acts {
            let cause = ActCause { rule: Rule::Ttl, by_right: self.by_right, evidence: &[origin] };
            self.act(site, RrsetDeed::SetTtl(ttl), cause);
        }
    }

    /// Notes a deed.
    fn act(&mut self, site: &ClaimSite<'_, '_>, deed: RrsetDeed, cause: ActCause<'_>) {
        let ActCause { rule, by_right, evidence } = cause;
        let actor = RuleActor { subject: self.subject.clone(), project: self.project, by_right };
        let ClaimSite { zone, owner, rtype, .. } = *site;
        let (owner, evidence) = (owner.to_name(), evidence.to_vec());
        self.result.acts.push(RuleAct { zone, owner, rtype, deed, rule, actor, evidence });
    }

    /// Notes that the subject is blocked.
    fn block(&mut self, block: SubjectBlock) {
        self.result.blocks.push(block);
    }
}
