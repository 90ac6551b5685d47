//! The rules of a host: its claims, compared with live DNS, and what blocks it because of them.

use std::collections::BTreeSet;

use super::act::RrsetDeed;
use super::block::SubjectBlock;
use super::compare::{Claimant, ClaimsResult};
use super::context::RuleContext;
use super::standing::{self, kept_or_gained, spared_addresses};
use super::subject_standing::{SubjectStanding, SubjectStandings};
use super::{protect, words};
use crate::change::BlockCode;
use crate::claim::Subject;
use crate::desired::Interface;
use crate::desired::claims::HostClaims;
use crate::dns::Rtype;
use crate::inventory::model::Policy;

/// Runs the rules of an open host; [`settle`] may still block the host.
pub fn reconcile(context: &RuleContext<'_>, place: usize, policy: Policy) -> ClaimsResult {
    let host = &context.inventory.hosts[place];
    let desired = &context.desired[place];
    let claims = HostClaims { inventory: context.inventory, live: context.live, host, desired };
    let mut claimant = Claimant::by_right(context, Subject::Host(host.inv), host.project, policy);
    for interface in &desired.interfaces {
        let kept = kept_or_gained(context, interface, policy);
        claims.addresses(interface).for_each(|claim| claimant.compare_rrset(&claim));
        let spared = spared_addresses(context, interface);
        claims.beside_addresses(interface, &kept, &spared).for_each(|claim| claimant.compare(&claim));
    }
    let ClaimsResult { acts, notices, mut blocks } = claimant.finish();
    let protected = protect::blocks(context, desired, policy);
    // A blocked host gets no notices about single names: none of its changes is made.
    let (acts, left) = if protected.is_empty() { protect::leave(context, acts) } else { (acts, Vec::new()) };
    blocks.extend(protected);
    ClaimsResult { acts, notices: notices.into_iter().chain(left).collect(), blocks }
}

/// Blocks a host whose rules would remove a protected host's record, and drops the acts and notices of a blocked host.
///
/// It needs the standing of all hosts, and so runs after the rules of all of them.
pub fn settle(context: &RuleContext<'_>, standings: &SubjectStandings, place: usize, outcome: &mut ClaimsResult) {
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
pub fn obstacles(
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    place: usize,
    policy: Policy,
) -> Vec<SubjectBlock> {
    let desired = &context.desired[place];
    let mut blocks = standing::obstacles(context, place, policy);
    let unsure = |block: &SubjectBlock| matches!(block.code, BlockCode::BadInput | BlockCode::SourceUntrusted);
    let is_derived = |own: &Interface| own.is_listed() || own.has_addresses();
    let derived = !desired.interfaces.is_empty()
        && desired.interfaces.iter().all(is_derived)
        && desired.interfaces.iter().any(Interface::has_addresses);
    if derived && !blocks.iter().any(unsure) {
        let mut outcome = reconcile(context, place, policy);
        settle(context, standings, place, &mut outcome);
        blocks.extend(outcome.blocks);
    }
    // The zones were tested with all hosts' changes; that result cannot be computed for one host.
    if let SubjectStanding::Blocked(block) = &standings.hosts[place]
        && block.code == BlockCode::PostState
    {
        blocks.push(block.clone());
    }
    blocks.sort_by_key(|block| block.code);
    let mut said = BTreeSet::new();
    blocks.retain(|block| said.insert(block.message.clone()));
    blocks
}
