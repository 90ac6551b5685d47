//! Whether journals say what happened.

use std::collections::{HashMap, HashSet};

use super::cast::Journaled;
use super::effects::EffectiveUpdate;
use super::stage::Stage;
use crate::change::{Change, ChangeKind};
use crate::dns::{Name, Rtype};
use crate::provider::memory::primary::LoggedUpdate;
use crate::state::{ApplyJournal, SentFate, Sqlite};
use crate::target::Marker;
use crate::verify::truth;

/// What journals say of each batch: by the state, the apply and its number.
type BatchFates = HashMap<(usize, u64, u64), SentFate>;

/// What all journals say.
pub fn fates(states: &[&Sqlite]) -> BatchFates {
    let of_state = |(number, state): (usize, &&Sqlite)| {
        let applies = state.applies(10).unwrap();
        let sent = applies.into_iter().flat_map(|apply| {
            let sent = state.sent(apply.id).unwrap();
            sent.into_iter().map(move |sent| ((number, apply.id.0, sent.number), sent.fate))
        });
        sent.collect::<Vec<_>>()
    };
    states.iter().enumerate().flat_map(of_state).collect()
}

/// What journals say that is not so: updates took effect exactly where a journal says so, by their markers.
pub fn untrue_of_markers(stage: &Stage, states: &[&Sqlite], effects: &[EffectiveUpdate]) -> Vec<String> {
    let swaps = effects.iter().flat_map(|effect| &effect.differences).filter(|found| truth::is_marker(&found.name));
    let executed: HashSet<String> =
        swaps.filter_map(|swap| Some(Marker::of_rrset(swap.after.as_ref()?)?.to_string())).collect();
    let fates = fates(states);
    let cast = stage.cast();
    let untrue = |(entry, _): &(Journaled, usize)| {
        let marker = entry.marker.as_ref().map(Marker::to_string).unwrap_or_default();
        untrue(&fates[&fate_key(entry)], executed.contains(&marker), &format!("`{marker}`"))
    };
    cast.journaled.iter().filter_map(untrue).collect()
}

/// What journals say that is not so, where no marker shows which update took effect. An RRset that another editor wrote as
/// planned counts as done after a lost answer, and what another editor put back may count as never made: nothing tells the two
/// apart.
pub fn untrue_of_rrsets(
    stage: &Stage,
    (states, plans): (&[&Sqlite], &HashMap<usize, Vec<Change>>),
    effects: &[EffectiveUpdate],
) -> Vec<String> {
    let fates = fates(states);
    let cast = stage.cast();
    let executed: HashMap<usize, usize> = effects
        .iter()
        .filter(|effect| effect.of_hosts().next().is_some())
        .filter_map(|effect| Some((cast.sent[effect.sent].batch?, effect.logged)))
        .collect();
    let all: Vec<(usize, &Journaled)> = cast.journaled.iter().map(|(entry, _)| entry).enumerate().collect();
    let untrue = |(place, (entry, updates)): (usize, &(Journaled, usize))| {
        // Of two updates that make the same changes, the journal does not know which one took effect.
        let kinds = |own: &Journaled| -> Vec<Option<ChangeKind>> {
            let kind = |(name, rtype): &(Name, Rtype)| Some(change_of(&plans[&own.run], (name, *rtype))?.kind.clone());
            own.keys.iter().map(kind).collect()
        };
        let is_same = |own: &Journaled| own.apply == entry.apply || kinds(own) == kinds(entry);
        let is_twin = |own: &Journaled| (own.state, &own.keys) == (entry.state, &entry.keys) && is_same(own);
        let twins = || all.iter().filter(|(_, own)| is_twin(own));
        let fate = &fates[&fate_key(entry)];
        let was_done = match fate {
            SentFate::Done => {
                let was_there = |key| was_as_planned(stage, (key, &plans[&entry.run]), *updates);
                // Where values are written one by one, an update may have taken effect in part.
                let took_effect = !stage.is_exclusive && twins().any(|(place, _)| executed.contains_key(place));
                took_effect || entry.keys.iter().all(was_there)
            }
            _ => {
                let is_done = |own: &Journaled| matches!(fates[&fate_key(own)], SentFate::Done);
                let was_put_back = |logged| {
                    let changes = &plans[&entry.run];
                    entry.keys.iter().any(|key| was_put_back(stage, (key, changes), logged))
                };
                let is_kept = executed.get(&place).is_some_and(|logged| !was_put_back(*logged));
                is_kept && !twins().any(|(_, own)| is_done(own))
            }
        };
        let names: Vec<String> = entry.keys.iter().map(|(name, rtype)| format!("{name} {rtype}")).collect();
        untrue(fate, was_done, &format!("update {} of run {}: {}", entry.number, entry.run, names.join(", ")))
    };
    cast.journaled.iter().enumerate().filter_map(untrue).collect()
}

/// Whether an RRset was as planned after so many updates, or at some time since.
fn was_as_planned(stage: &Stage, ((name, rtype), changes): (&(Name, Rtype), &[Change]), updates: usize) -> bool {
    let (change, place) = (change_of(changes, (name, *rtype)), stage.fleet.place(name, *rtype));
    let (Some(change), Some(place)) = (change, place) else { return false };
    let after = |logged: &LoggedUpdate| {
        let own = logged.outcome.as_ref().ok()?.iter().find(|own| own.name == *name && own.rtype == *rtype)?;
        Some(own.after.clone())
    };
    stage.primary.with_log(|log| {
        let (early, since) = log.split_at(updates);
        let then = early.iter().rev().find_map(after).unwrap_or_else(|| stage.fleet.first[place].clone());
        let mut held = std::iter::once(then).chain(since.iter().filter_map(after));
        held.any(|held| held.as_ref() == change.kind.after())
    })
}

/// Whether another editor put back what a change replaced, after an update that made it.
fn was_put_back(stage: &Stage, ((name, rtype), changes): (&(Name, Rtype), &[Change]), made: usize) -> bool {
    let Some(change) = change_of(changes, (name, *rtype)) else { return false };
    stage.primary.with_log(|log| {
        let others = log[made + 1..].iter().filter(|logged| !logged.is_delivered);
        let mut since = others.filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
        since.any(|own| own.name == *name && own.rtype == *rtype && own.after.as_ref() == change.kind.before())
    })
}

/// The change of an RRset.
fn change_of<'c>(changes: &'c [Change], (name, rtype): (&Name, Rtype)) -> Option<&'c Change> {
    changes.iter().find(|change| change.key.owner.as_name() == name.as_name() && change.key.rtype == rtype)
}

/// What a journal says of a batch that is not so.
fn untrue(fate: &SentFate, was_done: bool, batch: &str) -> Option<String> {
    match fate {
        SentFate::Done if !was_done => Some(format!("the journal says that {batch} is done, but it is not")),
        SentFate::Undone(why) if was_done => {
            Some(format!("the journal says that {batch} is undone, but it took effect: {why}"))
        }
        _ => None,
    }
}

/// Where the fate of a batch is.
fn fate_key(entry: &Journaled) -> (usize, u64, u64) {
    (entry.state, entry.apply.0, entry.number)
}
