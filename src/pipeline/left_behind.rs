//! Own records of names that no host has, and that a plan leaves: which apply created them, and the notices about them.

use std::collections::{BTreeMap, BTreeSet};

use super::sights::CopySights;
use crate::change::{LeftBehindRrset, Notice, NoticeCode};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::Selection;
use crate::diff::left_behind::LeftOrphan;
use crate::dns::{Name, Rtype};
use crate::inventory::model::Config;
use crate::inventory::value::Inv;
use crate::plan::Plan;
use crate::state::{ApplyId, ApplyJournal, State};

/// What is remembered of orphans.
#[derive(Clone, Copy)]
pub struct OrphanMemory<'a> {
    /// The settings, which name the reference copies.
    pub config: &'a Config,
    /// The state, where there is one.
    pub state: Option<&'a dyn State>,
}

/// Lists in a plan what it leaves, with a notice for each name.
///
/// Where the command names hosts, the journal knows the names that applies published for them. A name is listed only if
/// the inventory or the journal gives it to one of them.
///
/// Errors: the state cannot be read.
pub fn list(
    plan: &mut Plan,
    mut left: Vec<LeftOrphan>,
    selection: &Selection,
    memory: OrphanMemory<'_>,
) -> Result<(), Problem> {
    if left.is_empty() {
        return Ok(());
    }
    let OrphanMemory { config, state } = memory;
    if selection.picks_subjects() {
        let published = match state {
            Some(state) if left.iter().any(|orphan| orphan.hosts.is_empty()) => published(state, &selection.hosts)?,
            Some(_) | None => BTreeMap::new(),
        };
        for orphan in left.iter_mut().filter(|orphan| orphan.hosts.is_empty()) {
            orphan.hosts.extend(published.get(&orphan.orphan.name));
        }
        let is_picked = |left: &LeftOrphan| selection.picks(&Subject::Orphan(left.orphan.clone()));
        left.retain(|orphan| !orphan.hosts.is_empty() || is_picked(orphan));
    }
    let sights = CopySights::of(config);
    let rrsets = left.iter().flat_map(|orphan| &orphan.rrsets);
    let sought: Vec<_> = rrsets.map(|rrset| sights.reference(&rrset.pool, &rrset.key)).collect();
    let applies = match state {
        Some(state) => state.created_by(&sought)?,
        None => vec![None; sought.len()],
    };
    let mut applies = applies.into_iter();
    for orphan in &left {
        let applies: Vec<Option<ApplyId>> = applies.by_ref().take(orphan.rrsets.len()).collect();
        plan.notices.push(notice(orphan, &applies));
        let host = orphan.hosts.first().map(|inv| Subject::Released(*inv));
        let subject = host.unwrap_or_else(|| Subject::Orphan(orphan.orphan.clone()));
        plan.left_behind.extend(orphan.rrsets.iter().zip(&applies).map(|(rrset, apply)| LeftBehindRrset {
            pool: rrset.pool.clone(),
            zone: rrset.zone.clone(),
            key: rrset.key.clone(),
            name: orphan.orphan.name.clone(),
            subject: subject.clone(),
            project: orphan.project.clone(),
            apply: apply.map(|apply| apply.0),
        }));
    }
    Ok(())
}

/// The names that applies published for hosts, each with the lowest of the hosts.
fn published(state: &dyn ApplyJournal, hosts: &BTreeSet<Inv>) -> Result<BTreeMap<Name, Inv>, Problem> {
    let mut names = BTreeMap::new();
    for host in hosts {
        for apply in state.applies_of(*host)? {
            let changes = state.sent(apply)?.into_iter().flat_map(|sent| sent.changes);
            let own = changes.filter(|change| change.rtype == Rtype::AAAA && change.subject.host() == Some(*host));
            for change in own {
                names.entry(change.name).or_insert(*host);
            }
        }
    }
    Ok(names)
}

/// The notice about one name; `applies` created its RRsets, in their order, as far as the journal knows.
fn notice(orphan: &LeftOrphan, applies: &[Option<ApplyId>]) -> Notice {
    let known: BTreeSet<u64> = applies.iter().flatten().map(|apply| apply.0).collect();
    let created = match known.iter().map(u64::to_string).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [one] => format!(", created by apply {one}"),
        several => format!(", created by applies {}", several.join(", ")),
    };
    let subject = orphan.hosts.first().map(|inv| Subject::Released(*inv));
    let subject = subject.unwrap_or_else(|| Subject::Orphan(orphan.orphan.clone()));
    let name = orphan.orphan.name.to_string();
    Notice { code: NoticeCode::LeftBehind, message: orphan.message(&created), name, subject: Some(subject) }
}
