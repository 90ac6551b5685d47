//! That names which pods had stay until caches have forgotten what led to them.

use std::collections::BTreeMap;

use super::context::RuleContext;
use super::orphans::Orphan;
use super::pod_names::{self, PodNameFate};
use crate::change::{Notice, NoticeCode};
use crate::inventory::pods::PodSetIndex;
use crate::inventory::value::Time;

/// The notices of names that settle: one for each set.
pub fn settling(context: &RuleContext<'_>, orphans: &[Orphan<'_>]) -> Vec<Notice> {
    let mut sets: BTreeMap<PodSetIndex, Vec<Option<Time>>> = BTreeMap::new();
    for orphan in orphans {
        if let PodNameFate::Settles(set, until) = orphan.fate {
            sets.entry(set).or_default().push(until);
        }
    }
    sets.into_iter().filter_map(|(set, untils)| notice(context, set, &untils)).collect()
}

/// The notice of a set, whose names stay until these times; none where they do not go.
fn notice(context: &RuleContext<'_>, set: PodSetIndex, untils: &[Option<Time>]) -> Option<Notice> {
    let set = &context.inventory.pods.sets[set.0 as usize];
    let project = set.terms()?.project;
    // Under other policies they stay for good: they are left behind.
    if !pod_names::removes(context, project) {
        return None;
    }
    let (names, go) = if untils.len() == 1 { ("name", "goes") } else { ("names", "go") };
    let count = untils.len();
    // The last of them: a plan then finds none left.
    let until = untils.iter().copied().collect::<Option<Vec<Time>>>().and_then(|all| all.into_iter().max());
    let when = when(until);
    let message = format!("{count} former {names} of pods of `{}` {go} {when}: caches may still lead there", set.id);
    Some(Notice { code: NoticeCode::FormerNames, name: set.id.to_string(), subject: None, message })
}

/// When a name goes that stays until a time, in words.
pub fn when(until: Option<Time>) -> String {
    match until {
        Some(until) => format!("with the first plan after {until}"),
        None => "once name servers serve the change".to_owned(),
    }
}
