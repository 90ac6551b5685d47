//! Which approval each host of a plan needs. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::reach::takes_value;
use crate::change::{AffectedHost, Change, ChangeKind};
use crate::claim::Subject;
use crate::cms::task::TaskType;
use crate::dns::Rtype;
use crate::inventory::approvals::ApprovalTerms;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::Inv;
use crate::plan::Plan;
use crate::rollout::flux::FormerRrset;
use crate::rollout::{ChangeUnit, is_one};

/// A host that services are to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAsk {
    /// The host.
    pub subject: Subject,
    /// Its project.
    pub project: String,
    /// The name that services get: without the final dot.
    pub host: String,
    /// What is to be allowed.
    pub action: CmsAction,
    /// What the change leaves, as text: an approval of another change counts, and a rejection does not.
    pub change: String,
    /// What is to be done, in words.
    pub comment: String,
    /// Whether a person named the host.
    pub kind: TaskType,
    /// Whether the plan takes an address at its name, and nothing else: no rule of it has a part in that.
    pub is_affected: bool,
    /// What it shares with the hosts with which it goes together, and with no other: the place of the first change of its unit.
    pub unit: usize,
}

/// What a unit does to one host.
struct HostChanges<'p> {
    /// Its project.
    project: &'p str,
    /// The changes.
    changes: Vec<&'p Change>,
    /// Whether no rule of the host has a part in them.
    is_affected: bool,
}

/// The hosts of a unit that need an approval, by the terms of their projects; in the order of the plan.
pub fn asks_of(plan: &Plan, unit: &ChangeUnit, terms: &BTreeMap<String, ApprovalTerms>) -> Vec<HostAsk> {
    let mut hosts: BTreeMap<Inv, HostChanges<'_>> = BTreeMap::new();
    for change in unit.changes.iter().map(|place| &plan.changes[*place]) {
        for subject in change.subjects() {
            let Some(inv) = subject.host() else { continue };
            let project = change.project.as_str();
            let own = hosts.entry(inv).or_insert(HostChanges { project, changes: Vec::new(), is_affected: false });
            // A host that comes from another project is of that in which something of it is to be.
            if change.kind.after().is_some() || own.is_affected {
                (own.project, own.is_affected) = (project, false);
            }
            own.changes.push(change);
        }
        for AffectedHost { subject, project, .. } in plan.affected(change) {
            let Some(inv) = subject.host() else { continue };
            hosts
                .entry(inv)
                .or_insert(HostChanges { project, changes: Vec::new(), is_affected: true })
                .changes
                .push(change);
        }
    }
    let ask = |(inv, own): (Inv, HostChanges<'_>)| {
        let action = action_of(plan, inv, &own.changes)?;
        let is_asked = terms.get(own.project).is_some_and(|terms| terms.actions.contains(&action));
        is_asked.then(|| HostAsk { unit: unit.changes[0], ..ask(plan, inv, &own, action) })
    };
    hosts.into_iter().filter_map(ask).collect()
}

/// The request for a host.
fn ask(plan: &Plan, inv: Inv, own: &HostChanges<'_>, action: CmsAction) -> HostAsk {
    let HostChanges { project, changes, is_affected } = own;
    let subject = Subject::Host(inv);
    let is_named = plan.only.as_ref().is_some_and(|only| only.subjects.iter().any(|named| is_one(named, &subject)));
    let after: BTreeSet<FormerRrset> = changes.iter().map(|change| FormerRrset::after(change)).collect();
    HostAsk {
        host: host_name(plan, inv, changes),
        project: (*project).to_owned(),
        action,
        change: serde_json::to_string(&after).expect("texts are JSON"),
        comment: comment(changes),
        kind: if is_named { TaskType::Manual } else { TaskType::Automated },
        is_affected: *is_affected,
        unit: 0,
        subject,
    }
}

/// What a plan does to a host; none where no service need be asked.
fn action_of(plan: &Plan, inv: Inv, changes: &[&Change]) -> Option<CmsAction> {
    let is_in_service = |change: &Change| change.subjects().any(|subject| *subject == Subject::Host(inv));
    let is_affected = |change: &Change| plan.affected(change).any(|affected| affected.subject == Subject::Host(inv));
    if changes.iter().any(|change| takes_value(change) && (is_in_service(change) || is_affected(change))) {
        return Some(CmsAction::TemporaryUnreachable);
    }
    let seen = plan.hosts.get(&inv);
    let has = |is: fn(&ChangeKind) -> bool| changes.iter().all(|change| is(&change.kind));
    let has_address = changes.iter().any(|change| matches!(change.key.rtype, Rtype::A | Rtype::AAAA));
    let is_new = seen.map_or(plan.undoes.is_some(), |seen| seen.new) && has_address;
    if is_new && has(|kind| matches!(kind, ChangeKind::Create { .. })) {
        return Some(CmsAction::Prepare);
    }
    let has_left =
        plan.undoes.is_none() && seen.is_none_or(|seen| seen.left) && !changes.iter().any(|own| is_in_service(own));
    let is_gone = has_left && has(|kind| matches!(kind, ChangeKind::Delete { .. })) && has_address;
    is_gone.then_some(CmsAction::Deactivate)
}

/// The live backbone name of a host, else the wanted one. A plan without the host's row knows its names alone: of two, that of
/// the backbone is the shorter one.
fn host_name(plan: &Plan, inv: Inv, changes: &[&Change]) -> String {
    let is_address = |change: &&&Change| matches!(change.key.rtype, Rtype::A | Rtype::AAAA);
    let owner = |change: &&Change| change.key.owner.to_string();
    let shorter = |one: &String, other: &String| (one.len(), one).cmp(&(other.len(), other));
    let wanted = plan.name_of(inv).map(str::to_owned);
    let comes = changes.iter().filter(is_address).filter(|change| change.kind.before().is_none());
    let is_to_come = comes.map(owner).any(|name| Some(&name) == wanted.as_ref());
    // A rule of the host may take an address at the name of another one, too.
    let is_of_other = |change: &&&Change| {
        let owner = change.key.owner.to_string();
        let has_name = |other: &Inv| *other != inv && plan.name_of(*other) == Some(&owner);
        change.hosts().iter().any(has_name) || plan.affected(change).any(|other| other.subject.host() != Some(inv))
    };
    let live = changes.iter().filter(is_address).filter(|change| change.kind.before().is_some());
    let live = live.filter(|change| !is_of_other(change));
    let live = live.map(owner).min_by(shorter);
    let name = if is_to_come { live.or(wanted) } else { wanted.or(live) };
    let any = || changes.iter().map(owner).min_by(shorter);
    let name = name.or_else(any).unwrap_or_default();
    name.trim_end_matches('.').to_owned()
}

/// What changes, in words: `AAAA replaced, PTR added`.
fn comment(changes: &[&Change]) -> String {
    let part = |change: &&Change| {
        let what = match change.kind {
            ChangeKind::Create { .. } => "added",
            ChangeKind::Modify { .. } => "replaced",
            ChangeKind::Delete { .. } => "removed",
        };
        // The TXT of the registry follows what it records.
        (change.registers.is_none() && change.key.rtype != Rtype::TXT).then(|| format!("{} {what}", change.key.rtype))
    };
    let parts: BTreeSet<String> = changes.iter().filter_map(part).collect();
    parts.into_iter().collect::<Vec<_>>().join(", ")
}
