//! Joins what the rules do into one change for each RRset.

use std::collections::{BTreeMap, BTreeSet};

use super::act::{RrsetDeed, RuleAct, RuleActor};
use super::context::RuleContext;
use super::own::{self, Registration, RegistryName};
use crate::change::{Change, ChangeKind, Reason, RecordedRrset, Rule};
use crate::claim::Subject;
use crate::dns::{Name, NameRef, Rdata, RrKey, Rrset, Rtype, ZoneName};
use crate::live::ZoneIndex;
use crate::registry::{MarkLabels, Registry};

/// Sorts acts and joins them into one change for each RRset; changes of the registry's TXT are next to them.
pub fn merge(context: &RuleContext<'_>, acts: &mut [RuleAct]) -> Vec<Change> {
    acts.sort_by(|a, b| (a.zone, &a.owner, a.rtype).cmp(&(b.zone, &b.owner, b.rtype)));
    let same_rrset = |a: &RuleAct, b: &RuleAct| (a.zone, &a.owner, a.rtype) == (b.zone, &b.owner, b.rtype);
    let mut changes = Vec::new();
    for acts in acts.chunk_by(same_rrset) {
        let Some(change) = merge_one(context, acts) else { continue };
        let txt = registry_change(context, acts[0].zone, &change);
        changes.push(change);
        changes.extend(txt);
    }
    if context.inventory.config.pools.iter().any(|pool| pool.marking.form.wildcard.is_some()) {
        changes = with_shared_marks(context, changes);
    }
    changes
}

/// The same changes, where a wildcard and a name like its replacement may share a TXT: that is created once, and stays while
/// one of the two does.
fn with_shared_marks(context: &RuleContext<'_>, changes: Vec<Change>) -> Vec<Change> {
    let mark = |change: &Change| {
        let marking = context.inventory.config.marking_in(&change.pool);
        let is_txt = marking.registry == Registry::Txt && !change.is_registry();
        let name = is_txt.then(|| marking.form.txt_name(change.key.owner.as_name(), change.key.rtype))??;
        name.ok().map(|name| (change.zone.clone(), name))
    };
    let created: BTreeSet<(ZoneName, Name)> =
        changes.iter().filter(|change| matches!(change.kind, ChangeKind::Create { .. })).filter_map(mark).collect();
    let deleted: BTreeSet<(Name, Rtype)> = changes
        .iter()
        .filter(|change| matches!(change.kind, ChangeKind::Delete { .. }) && !change.is_registry())
        .map(|change| (change.key.owner.as_name().to_name(), change.key.rtype))
        .collect();
    let is_needed = |change: &Change| {
        let form = &context.inventory.config.marking_in(&change.pool).form;
        let other = change.registered().and_then(|(rtype, name)| Some((form.partner(name.as_name())?, rtype)));
        other.is_some_and(|other| context.live.rrset(other.0.as_name(), other.1).is_some() && !deleted.contains(&other))
    };
    let mut joined: Vec<Change> = Vec::with_capacity(changes.len());
    let mut places: BTreeMap<(ZoneName, Name), usize> = BTreeMap::new();
    for change in changes {
        if change.is_registry() {
            let at = (change.zone.clone(), change.key.owner.as_name().to_name());
            let goes = change.kind.after().is_none_or(|after| {
                change.kind.before().is_some_and(|before| before.rdata().len() > after.rdata().len())
            });
            if goes && (created.contains(&at) || is_needed(&change)) {
                continue;
            }
            if let Some(place) = places.get(&at) {
                let own = &mut joined[*place];
                let others: BTreeSet<Subject> =
                    own.also.iter().chain(change.subjects()).filter(|other| **other != own.subject).cloned().collect();
                own.also = others.into_iter().collect();
                continue;
            }
            places.insert(at, joined.len());
        }
        joined.push(change);
    }
    joined
}

/// Joins the acts on one RRset; none where they change nothing.
fn merge_one(context: &RuleContext<'_>, acts: &[RuleAct]) -> Option<Change> {
    let RuleAct { zone, owner, rtype, .. } = &acts[0];
    // What files state may be at a delegation: NS, DS and glue.
    let before = context.live.stated_rrset(owner.as_name(), *rtype).map(|found| found.rrset.to_rrset());
    let mut rdata: BTreeSet<Rdata> = before.iter().flat_map(|before| before.rdata().iter().cloned()).collect();
    for act in acts {
        if let RrsetDeed::Remove(gone) = &act.deed {
            rdata.remove(gone);
        }
    }
    rdata.extend(acts.iter().filter_map(|act| match &act.deed {
        RrsetDeed::Add(rdata) => Some(rdata.clone()),
        RrsetDeed::Remove(_) | RrsetDeed::SetTtl(_) | RrsetDeed::SetMark(_) => None,
    }));
    let wanted = acts.iter().find_map(|act| match act.deed {
        RrsetDeed::SetTtl(ttl) => Some(ttl),
        RrsetDeed::Add(_) | RrsetDeed::Remove(_) | RrsetDeed::SetMark(_) => None,
    });
    let ttl = wanted.or(before.as_ref().map(Rrset::ttl)).unwrap_or_default();
    let marked = acts.iter().find_map(|act| match &act.deed {
        RrsetDeed::SetMark(mark) => Some(mark.clone()),
        RrsetDeed::Add(_) | RrsetDeed::Remove(_) | RrsetDeed::SetTtl(_) => None,
    });
    // What is there stays of whom it is.
    let mark = marked.or_else(|| before.as_ref()?.mark().cloned());
    let after = Rrset::new(ttl, rdata.into_iter().collect()).map(|after| after.marked(mark));
    let kind = ChangeKind::between(before, after)?;
    let sets_ttl = matches!(&kind, ChangeKind::Modify { before, after } if before.ttl() != after.ttl());
    let effective = acts.iter().filter(|act| sets_ttl || !matches!(act.deed, RrsetDeed::SetTtl(_)));
    let effective: Vec<&RuleAct> = effective.collect();
    let (actor, also) = attribute(&effective);
    let kind = match kind {
        ChangeKind::Create { after } => {
            ChangeKind::Create { after: after.marked(context.marking(*zone).mark(actor.subject.manifest())) }
        }
        kind => kind,
    };
    Some(Change {
        pool: context.pool_of(*zone).clone(),
        zone: context.zone_spec(*zone).name.clone(),
        key: key(context, *zone, owner.as_name(), *rtype),
        subject: actor.subject.clone(),
        also,
        registers: None,
        via: None,
        targets: Vec::new(),
        project: context.project_id(actor.project).to_owned(),
        kind,
        reasons: reasons(context, &effective),
    })
}

/// The key of an RRset in a zone.
fn key(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> RrKey {
    let owner = context.zone_spec(zone).name.owner(owner).expect("rules act on names in their zones");
    RrKey { owner, rtype }
}

/// The subject that a change belongs to, and the others that contributed.
///
/// It belongs to the host that has the name or address, else to the first subject.
fn attribute<'a>(acts: &[&'a RuleAct]) -> (&'a RuleActor, Vec<Subject>) {
    let rank = |actor: &&'a RuleActor| (!actor.by_right, &actor.subject, actor.project);
    let first = acts.iter().map(|act| &act.actor).min_by(|a, b| rank(a).cmp(&rank(b))).expect("a change has an act");
    let subjects = acts.iter().map(|act| &act.actor.subject);
    let others: BTreeSet<&Subject> = subjects.filter(|subject| **subject != first.subject).collect();
    (first, others.into_iter().cloned().collect())
}

/// The reasons of a change: a rule and subject each, with all lines that they are based on.
fn reasons(context: &RuleContext<'_>, acts: &[&RuleAct]) -> Vec<Reason> {
    let mut evidence: BTreeMap<(&str, Rule, &Subject), BTreeSet<String>> = BTreeMap::new();
    for act in acts {
        let lines = evidence.entry((act.rule.as_str(), act.rule, &act.actor.subject)).or_default();
        lines.extend(act.evidence.iter().map(|origin| context.inventory.files.place(*origin).to_string()));
    }
    let reason = |((_, rule, subject), lines): ((&str, Rule, &Subject), BTreeSet<String>)| Reason {
        evidence: lines.into_iter().collect(),
        rule,
        subject: subject.clone(),
    };
    evidence.into_iter().map(reason).collect()
}

/// The change of the TXT that registers an RRset which is created or deleted.
fn registry_change(context: &RuleContext<'_>, zone: ZoneIndex, change: &Change) -> Option<Change> {
    let marking = context.marking(zone);
    if marking.registry != Registry::Txt {
        return None;
    }
    let (owner, rtype) = (change.key.owner.as_name(), change.key.rtype);
    let RegistryName::At(name) = own::registry_name(context, zone, owner, rtype) else { return None };
    let said = own::registration(context, zone, owner, rtype);
    let before = context.live.rrset(name.as_name(), Rtype::TXT).map(|found| found.rrset.to_rrset());
    let mut rdata: Vec<Rdata> = before.iter().flat_map(|before| before.rdata().iter().cloned()).collect();
    let ttl = match (&change.kind, said) {
        // No server would answer with it.
        (ChangeKind::Create { .. }, _) if is_below_new_delegation(context, zone, name.as_name()) => return None,
        (ChangeKind::Create { after }, Registration::None) => {
            let labels = MarkLabels::new(&marking.owner, change.subject.manifest());
            rdata.push(if context.quotes_marks(zone) { labels.quoted() } else { labels }.to_rdata());
            before.as_ref().map_or_else(|| context.mark_ttl(zone).unwrap_or(after.ttl()), Rrset::ttl)
        }
        (ChangeKind::Delete { .. }, Registration::Ours(ours)) => {
            rdata.retain(|own| !ours.contains(own));
            before.as_ref()?.ttl()
        }
        _ => return None,
    };
    let recorded = RecordedRrset { name: owner.to_name(), rtype };
    Some(Change {
        kind: ChangeKind::between(before, Rrset::new(ttl, rdata))?,
        key: key(context, zone, name.as_name(), Rtype::TXT),
        registers: recorded.unless_said_by(name.as_name()),
        via: None,
        reasons: registry_reason(change),
        ..change.clone()
    })
}

/// Whether files delegate a name of a zone to others.
fn is_below_new_delegation(context: &RuleContext<'_>, zone: ZoneIndex, name: NameRef<'_>) -> bool {
    let apex = context.zone_spec(zone).name.as_name();
    let own = std::iter::successors(Some(name), |name| name.parent()).take_while(|above| *above != apex);
    own.into_iter().any(|above| context.stated.on(above, Rtype::NS).next().is_some())
}

/// The one reason of a registry's change: all lines of the change that causes it.
fn registry_reason(change: &Change) -> Vec<Reason> {
    let evidence: BTreeSet<String> = change.reasons.iter().flat_map(|reason| reason.evidence.iter().cloned()).collect();
    let evidence = evidence.into_iter().collect();
    vec![Reason { evidence, rule: Rule::Registry, subject: change.subject.clone() }]
}
