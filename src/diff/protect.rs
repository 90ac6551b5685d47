//! Names that no rule may change, and why.
//!
//! A zone's `protect` lists some. Others are always protected, because DNS or zonewright would not work without them:
//! every apex, the names of name servers (with their addresses, which are the glue where they are below a delegation),
//! the names of the configured servers, and the names of markers. Delegations, and what is below them, need no
//! protection: no rule reads or changes what is there, and a host there is blocked `delegated`.

use super::act::{RrsetDeed, RuleAct, removes_unheld_name};
use super::block::SubjectBlock;
use super::context::{RuleContext, RuleGround};
use super::standing::kept_or_gained;
use super::words;
use crate::change::{BlockCode, Notice, NoticeCode};
use crate::desired::DesiredHost;
use crate::diag::Origin;
use crate::dns::reverse::ReverseName;
use crate::dns::{Name, NameRef, Rdata, Rtype};
use crate::inventory::model::{Policy, ProtectPattern};
use crate::live::{OpaqueSite, ZoneIndex};
use std::collections::BTreeMap;

/// The label of a marker, directly below the apex of its zone.
pub const MARKER_LABEL: &[u8] = b"_zonewright";

/// Why a name is protected.
#[derive(Debug, Clone, Copy)]
pub enum Protection<'c> {
    /// `protect` of its zone lists it.
    Listed(&'c ProtectPattern),
    /// It is the apex of a zone.
    Apex,
    /// The NS RRset at this name names it.
    NameServer(NameRef<'c>),
    /// It is the name of a server that zones are written to.
    Target(Origin),
    /// A zone's marker is there.
    Marker,
    /// What no RRset says is there, and an update could take it away.
    Opaque(&'c OpaqueSite),
}

/// Why a name is protected; none where it is not.
pub fn protection<'c>(context: &RuleContext<'c>, name: NameRef<'_>) -> Option<Protection<'c>> {
    protection_in(context.ground(), context.live.zone_of(name)?, name)
}

/// Why a name of a zone is protected; none where it is not.
pub fn protection_in<'c>(ground: RuleGround<'c>, zone: ZoneIndex, name: NameRef<'_>) -> Option<Protection<'c>> {
    let RuleGround { live, servers, .. } = ground;
    let patterns = &ground.zone_spec(zone).protect;
    if !patterns.is_empty() {
        let text = name.to_string();
        if let Some(pattern) = patterns.iter().find(|pattern| pattern.glob.matches(&text)) {
            return Some(Protection::Listed(pattern));
        }
    }
    if let Some(site) = live.zone(zone).opaque_at(name) {
        return Some(Protection::Opaque(site));
    }
    if live.zone(zone).name().as_name() == name {
        return Some(Protection::Apex);
    }
    if let Some(owner) = live.delegation_to(name) {
        return Some(Protection::NameServer(owner));
    }
    if let Some(origin) = servers.get(name.as_wire()) {
        return Some(Protection::Target(*origin));
    }
    let is_marker = name.first_label() == Some(MARKER_LABEL);
    let above = name.parent().filter(|_| is_marker)?;
    live.is_apex(above).then_some(Protection::Marker)
}

/// The blocks of a host by its protected names, and by the protected reverse names of the addresses that these keep or get.
///
/// A protected name blocks its host even if nothing would change: the operator who protects it must see that zonewright
/// does not manage the host.
pub fn blocks(context: &RuleContext<'_>, desired: &DesiredHost, policy: Policy) -> Vec<SubjectBlock> {
    let mut blocks = Vec::new();
    let mut note = |name: NameRef<'_>| blocks.extend(protection(context, name).map(|why| block(context, name, why)));
    for interface in &desired.interfaces {
        note(interface.owner.as_name());
        for address in kept_or_gained(context, interface, policy) {
            note(ReverseName::of(address).as_name());
        }
    }
    blocks
}

/// The block of a host one of whose names is protected.
fn block(context: &RuleContext<'_>, name: NameRef<'_>, why: Protection<'_>) -> SubjectBlock {
    let hint = match why {
        Protection::Listed(_) => "remove it from `protect`, or edit the host's records by hand",
        Protection::NameServer(_) | Protection::Target(_) => "edit the host's records by hand, or give it another name",
        Protection::Opaque(_) => "remove it at the target, or use another name",
        Protection::Apex | Protection::Marker => "give the host another name",
    };
    let message = format!("{} is protected: {}", words::readable(name), reason(context, why));
    SubjectBlock { code: BlockCode::Protected, message, hint: hint.to_owned() }
}

/// Why a name is protected, in words.
pub fn reason(context: &RuleContext<'_>, why: Protection<'_>) -> String {
    let at = |origin: Origin| context.inventory.files.place(origin);
    match why {
        Protection::Listed(ProtectPattern { glob, origin }) => format!("`protect` lists `{glob}` ({})", at(*origin)),
        Protection::Apex => "it is the apex of a zone".to_owned(),
        Protection::NameServer(owner) => format!("it is a name server of `{owner}`, by the NS there"),
        Protection::Target(origin) => format!("it is a server that zones are written to ({})", at(origin)),
        Protection::Marker => "a zone's marker is there".to_owned(),
        Protection::Opaque(site) => format!("it has {site}, which zonewright never touches"),
    }
}

/// Drops the acts at protected names, and reports what is left there.
///
/// A host whose own name is protected is blocked. What is found here is what rules would do at other names: names that
/// no host has, names that a host had, and names that hold records which belong elsewhere.
pub fn leave(context: &RuleContext<'_>, acts: Vec<RuleAct>) -> (Vec<RuleAct>, Vec<Notice>) {
    let mut left: BTreeMap<(Name, Rtype, bool), Vec<(RuleAct, Protection<'_>)>> = BTreeMap::new();
    let mut done = Vec::with_capacity(acts.len());
    for act in acts {
        match protection_from(context, &act) {
            None => done.push(act),
            Some(why) => {
                let is_removal = matches!(act.deed, RrsetDeed::Remove(_));
                left.entry((act.owner.clone(), act.rtype, !is_removal)).or_default().push((act, why));
            }
        }
    }
    let mut notices: Vec<Notice> = Vec::new();
    for ((owner, ..), left) in left {
        // The notice of the removal is first, and one notice for each name is enough.
        let name = owner.to_string();
        if notices.last().is_none_or(|last| last.name != name) {
            notices.push(notice(context, name, &left));
        }
    }
    (done, notices)
}

/// Why an act is not done. Its owner is protected; or it removes a PTR to a name that no host has and that is
/// protected: the PTR stay with the addresses of that name.
fn protection_from<'c>(context: &RuleContext<'c>, act: &RuleAct) -> Option<Protection<'c>> {
    let named = match &act.deed {
        RrsetDeed::Remove(rdata) if removes_unheld_name(act.rule) => rdata.as_rdata(act.rtype).target(),
        RrsetDeed::Remove(_) | RrsetDeed::Add(_) | RrsetDeed::SetTtl(_) | RrsetDeed::SetMark(_) => None,
    };
    protection(context, act.owner.as_name()).or_else(|| named.and_then(|name| protection(context, name)))
}

/// The notice about an RRset at a protected name, and what a rule would do to it; `left` is not empty.
fn notice(context: &RuleContext<'_>, name: String, left: &[(RuleAct, Protection<'_>)]) -> Notice {
    let (RuleAct { owner, rtype, actor, .. }, why) = &left[0];
    let removed = |act: &RuleAct| match &act.deed {
        RrsetDeed::Remove(rdata) => Some(rdata.clone()),
        RrsetDeed::Add(_) | RrsetDeed::SetTtl(_) | RrsetDeed::SetMark(_) => None,
    };
    let mut removed: Vec<Rdata> = left.iter().filter_map(|(act, _)| removed(act)).collect();
    removed.sort();
    removed.dedup();
    let data: Vec<String> = removed.iter().map(|rdata| format!("`{}`", rdata.as_rdata(*rtype))).collect();
    let shown = words::readable(owner.as_name());
    let what = if data.is_empty() {
        format!("{rtype} at {shown} would change")
    } else {
        format!("{rtype} {} at {shown} would be removed", data.join(", "))
    };
    let message = format!("{what}, but is left: {}", reason(context, *why));
    Notice { code: NoticeCode::Protected, message, name, subject: Some(actor.subject.clone()) }
}

/// Whether rules 3, 8 and 9 leave a name alone: an apex, a wildcard, a name that MX data point to, or one that may be
/// the fastbone of a host whose project file is bad. [`leave`] reports what they leave at other protected
/// names.
pub fn is_untouchable(context: &RuleContext<'_>, name: NameRef<'_>) -> bool {
    context.live.is_apex(name)
        || name.is_wildcard()
        || context.live.is_exchanger(name)
        || context.names.may_be_held(context.inventory, name)
}
