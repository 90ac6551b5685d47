//! How to undo what an apply did: hosts that share changes are put back together, or left.

use std::collections::HashMap;

use crate::apply::compare::{DeletedCnames, shown, shown_before};
use crate::change::{BlockCode, BlockedSubject, Change, ChangeKind, Notice, NoticeCode};
use crate::dns::RrKey;
use crate::inventory::value::Inv;
use crate::plan::PlanScope;
use crate::rollout::{ChangeUnit, UnitSubject, hosts_of, units};
use crate::state::ApplyId;
use crate::target::{Answer, ZoneId};

/// What is to be done, and about whom nothing.
#[derive(Debug, Default, PartialEq)]
pub struct UndoJudgement {
    /// The changes that put back what was there before.
    pub changes: Vec<Change>,
    /// The RRsets that were changed since, whose hosts are left.
    pub edited: Vec<EditedRrset>,
    /// The hosts of which something could not be read.
    pub blocked: Vec<BlockedSubject>,
}

/// An RRset that is neither as the apply left it nor as it was before.
#[derive(Debug, PartialEq)]
pub struct EditedRrset {
    /// What would put it back.
    pub inverse: Change,
    /// What is there.
    pub found: Answer,
    /// The hosts that are left for it, its own among them; none where only orphans are.
    pub hosts: Vec<Inv>,
}

/// Leaves of what an apply did that of some subjects and projects, with what shares changes with it.
pub fn narrow(done: Vec<Change>, only: &PlanScope) -> Vec<Change> {
    let is_named = |change: &Change| {
        change.subjects().any(|subject| only.includes(subject))
            && (only.projects.is_empty() || only.projects.contains(&change.project))
    };
    let units = units(&done);
    let mut is_kept = vec![false; done.len()];
    for unit in units.iter().filter(|unit| unit.changes.iter().any(|place| is_named(&done[*place]))) {
        unit.changes.iter().for_each(|place| is_kept[*place] = true);
    }
    done.into_iter().zip(is_kept).filter_map(|(change, is_kept)| is_kept.then_some(change)).collect()
}

/// Judges what an apply did by what is there now; `now` has the order of `done`, and `None` for what could not be read.
///
/// An RRset that is as before needs nothing. If any of a host's RRsets could not be read, or is neither as before nor
/// as the apply left it, including the TTL, the whole host is left.
pub fn judge(done: &[Change], now: &[Option<Answer>]) -> UndoJudgement {
    let mut judged = UndoJudgement::default();
    let units = units(done);
    let inverses: Vec<Change> = done.iter().map(inverse).collect();
    let (deleted_by_it, deleted_back) = (DeletedCnames::of(done), DeletedCnames::of(&inverses));
    for unit in &units {
        let hosts = hosts_of(done, unit);
        let read: Vec<(usize, &Answer)> =
            unit.changes.iter().filter_map(|place| Some((*place, now[*place].as_ref()?))).collect();
        if read.len() < unit.changes.len() {
            judged.blocked.extend(block(done, unit, now, &hosts));
            continue;
        }
        let open = read.into_iter().filter(|(place, answer)| !deleted_by_it.is_before(&done[*place], answer));
        let open = open.map(|(place, answer)| (&inverses[place], answer));
        let (back, edited): (Vec<_>, Vec<_>) =
            open.partition(|(inverse, answer)| deleted_back.is_before(inverse, answer));
        if edited.is_empty() {
            judged.changes.extend(back.into_iter().map(|(inverse, _)| inverse.clone()));
        }
        let hosts: Vec<Inv> = hosts.iter().filter_map(|(_, subject)| subject.host()).collect();
        let edited = edited.into_iter();
        judged.edited.extend(edited.map(|(inverse, found)| EditedRrset {
            inverse: inverse.clone(),
            found: found.clone(),
            hosts: hosts.clone(),
        }));
    }
    judged
}

/// The first of the changes that does not put back one of those that an apply made; reasons do not count. None where all
/// of them do. In pools of several targets both are one change for each target.
pub fn stray<'a>(changes: &'a [Change], done: &[Change]) -> Option<&'a Change> {
    let rrset = |change: &Change| (change.zone_id(), change.key.clone(), change.targets.clone());
    let inverses: HashMap<(ZoneId, RrKey, Vec<String>), Change> =
        done.iter().map(|done| (rrset(done), inverse(done))).collect();
    let is_inverse = |change: &Change| {
        let inverse = inverses.get(&rrset(change))?;
        Some(*change == Change { reasons: change.reasons.clone(), ..inverse.clone() })
    };
    changes.iter().find(|change| is_inverse(change) != Some(true))
}

/// The change that puts back what another changed.
fn inverse(change: &Change) -> Change {
    let kind = match change.kind.clone() {
        ChangeKind::Create { after } => ChangeKind::Delete { before: after },
        ChangeKind::Modify { before, after } => ChangeKind::Modify { before: after, after: before },
        ChangeKind::Delete { before } => ChangeKind::Create { after: before },
    };
    Change { kind, ..change.clone() }
}

/// The blocks of hosts of which something could not be read.
fn block(done: &[Change], unit: &ChangeUnit, now: &[Option<Answer>], hosts: &[UnitSubject<'_>]) -> Vec<BlockedSubject> {
    let unread = unit.changes.iter().find(|place| now[**place].is_none());
    let Some(Change { zone, key, .. }) = unread.map(|place| &done[*place]) else { return Vec::new() };
    let block = |(project, subject): &UnitSubject<'_>| BlockedSubject {
        code: BlockCode::ZoneUnknown,
        hint: "fix the zone's error, and then undo again; until then, the host stays as it is".to_owned(),
        message: format!("`{}` {} is in `{zone}`, which could not be read", key.owner, key.rtype),
        project: (*project).to_owned(),
        subject: (*subject).clone(),
    };
    hosts.iter().filter(|(_, subject)| subject.host().is_some()).map(block).collect()
}

/// The notice about an RRset that was changed since, by a later apply where one did.
pub fn notice(undone: ApplyId, edited: &EditedRrset, later: Option<ApplyId>) -> Notice {
    let EditedRrset { inverse, found, hosts } = edited;
    let owner = &inverse.key.owner;
    let (left, found) = (shown_before(inverse), shown(found));
    let since = match later {
        Some(later) => format!("apply {} changed it since; undo that apply first", later.0),
        None => "no later apply in this journal changed it".to_owned(),
    };
    let own = inverse.subject.host();
    let whose = own.map_or_else(|| "the name".to_owned(), |inv| format!("host {inv}"));
    let others: Vec<String> = hosts.iter().filter(|inv| Some(**inv) != own).map(Inv::to_string).collect();
    let with = match others.as_slice() {
        [] => String::new(),
        [one] => format!(", and with it host {one}"),
        _ => format!(", and with it hosts {}", others.join(", ")),
    };
    let message = format!(
        "{} of `{owner}`: apply {} left {left}, but there is {found}; {since}; undo leaves {whose} as it is{with}",
        inverse.key.rtype, undone.0
    );
    Notice { code: NoticeCode::EditedSince, message, name: owner.to_string(), subject: Some(inverse.subject.clone()) }
}
