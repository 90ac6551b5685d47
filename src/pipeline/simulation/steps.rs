//! Whether each step of a run was one of its plan, where a service compares nothing and values are written one by one.

use std::collections::{BTreeSet, HashMap};

use super::effects::EffectiveUpdate;
use super::stage::Stage;
use crate::change::{Change, ChangeKind};
use crate::dns::{Name, Rdata, Rrset};
use crate::provider::memory::rules::RrsetDifference;

/// What is written by a step: the run, its process, the name, the value, and whether it comes.
type WrittenValue<'e> = (usize, usize, &'e Name, Rdata, bool);

/// What steps of runs did that is in no plan: values of others, gone or written over; a moment in which a name had fewer values
/// than before and after; a value that came or went twice.
pub fn wrong_steps(stage: &Stage, effects: &[EffectiveUpdate], plans: &HashMap<usize, Vec<Change>>) -> Vec<String> {
    let mut times: HashMap<WrittenValue<'_>, usize> = HashMap::new();
    let mut found = Vec::new();
    let late: BTreeSet<&Name> =
        effects.iter().filter(|effect| effect.is_echo).flat_map(of_hosts).map(|own| &own.name).collect();
    for effect in effects.iter().filter(|effect| !effect.is_echo) {
        for own in effect.of_hosts() {
            let (run, name) = (effect.run, &own.name);
            let is_it =
                |change: &&Change| change.key.owner.as_name() == name.as_name() && change.key.rtype == own.rtype;
            let Some(change) = plans[&run].iter().find(is_it) else {
                found.push(format!("run {run} changed {name} {}, which is not in its plan", own.rtype));
                continue;
            };
            let why = wrong_step(&change.kind, own, late.contains(name));
            found.extend(why.map(|why| format!("run {run} {why} at {name}: {}", shown(own))));
            let (gone, come) = moved(own);
            let all = gone.into_iter().map(|value| (value, false)).chain(come.into_iter().map(|value| (value, true)));
            for (value, comes) in all.filter(|_| !late.contains(name)) {
                *times.entry((run, effect.session, name, value, comes)).or_default() += 1;
            }
        }
    }
    let twice = times.into_iter().filter(|(_, count)| *count > 1);
    found.extend(twice.map(|((run, _, name, ..), count)| format!("run {run} wrote a value of {name} {count} times")));
    stage.tell(|| format!("{} steps took effect", effects.len()));
    found
}

/// The differences of an update.
fn of_hosts(effect: &EffectiveUpdate) -> impl Iterator<Item = &RrsetDifference> {
    effect.of_hosts()
}

/// The values that went, and those that came.
fn moved(own: &RrsetDifference) -> (Vec<Rdata>, Vec<Rdata>) {
    let (before, after) = (values(own.before.as_ref()), values(own.after.as_ref()));
    let without = |one: &[Rdata], other: &[Rdata]| -> Vec<Rdata> {
        one.iter().filter(|value| !other.contains(value)).cloned().collect()
    };
    (without(before, after), without(after, before))
}

/// The values of an RRset.
fn values(rrset: Option<&Rrset>) -> &[Rdata] {
    rrset.map(Rrset::rdata).unwrap_or_default()
}

/// What is wrong with a step, as a part of a sentence; something came late to the name where `is_late` says so.
fn wrong_step(kind: &ChangeKind, own: &RrsetDifference, is_late: bool) -> Option<&'static str> {
    let (before, after) = (values(kind.before()), values(kind.after()));
    let (gone, come) = moved(own);
    let is_of = |value: &Rdata, one: &[Rdata], other: &[Rdata]| one.contains(value) && !other.contains(value);
    let count = values(own.after.as_ref()).len();
    let is_fewer = count < before.len().min(after.len()) && count < values(own.before.as_ref()).len();
    let ttls = [kind.before(), kind.after()].map(|rrset| rrset.map(Rrset::ttl));
    let is_on_its_way =
        |rrset: Option<&Rrset>| rrset == kind.before() || rrset == kind.after() || kind.is_between(rrset);
    if gone.iter().any(|value| !is_of(value, before, after)) {
        Some("took a value away that is to stay, or is of others")
    } else if come.iter().any(|value| !is_of(value, after, before)) {
        Some("wrote a value that is not planned")
    } else if own.after.as_ref().is_some_and(|rrset| !is_late && !ttls.contains(&Some(rrset.ttl()))) {
        Some("wrote a TTL that is not planned")
    } else if is_fewer && !is_late {
        Some("took values away before others came")
    } else if !is_late && !is_on_its_way(own.before.as_ref()) {
        Some("wrote over what its plan did not see")
    } else {
        None
    }
}

/// A step in words.
fn shown(own: &RrsetDifference) -> String {
    let texts = |rrset: &Option<Rrset>| {
        rrset.as_ref().map_or("nothing".to_owned(), |rrset| {
            format!("{} {}", rrset.ttl(), rrset.rdata_texts(own.rtype).join(", "))
        })
    };
    format!("{} became {}", texts(&own.before), texts(&own.after))
}
