//! Whether each RRset that a run created has its TXT of the registry, after every single write.

use super::effects::EffectiveUpdate;
use super::fleet::{Fleet, is_our_mark, slot};
use super::stage::Stage;
use crate::dns::{Name, Rtype};

/// An RRset and its mark, as far as the log was read.
struct MarkedRrset {
    /// The RRset.
    record: (Name, Rtype),
    /// Its mark.
    mark: (Name, Rtype),
    /// Whether a run created it, and it is there.
    is_ours: bool,
    /// Whether the mark is there, and ours.
    is_marked: bool,
    /// Whether another editor took the mark away.
    is_robbed: bool,
}

/// RRsets that were there without their mark after a write, although a run created them, and no other editor took the mark
/// away. What the network did late is not of a run.
pub fn unmarked(stage: &Stage, effects: &[EffectiveUpdate]) -> Vec<String> {
    let mut rrsets: Vec<MarkedRrset> =
        (0..stage.fleet.records).filter_map(|place| marked_rrset(&stage.fleet, place)).collect();
    let mut found = Vec::new();
    stage.primary.with_log(|log| {
        for (place, logged) in log.iter().enumerate() {
            let by_run = effects.iter().find(|effect| effect.logged == place);
            let is_of_run = by_run.is_some_and(|effect| !effect.is_echo);
            for own in logged.outcome.iter().flatten() {
                let key = (own.name.clone(), own.rtype);
                for rrset in rrsets.iter_mut().filter(|rrset| rrset.record == key || rrset.mark == key) {
                    if rrset.record == key {
                        rrset.is_ours = own.after.is_some() && (rrset.is_ours || own.before.is_none() && is_of_run);
                    } else {
                        let is_marked = is_our_mark(own.after.as_ref());
                        rrset.is_robbed = !is_marked && (rrset.is_robbed || rrset.is_marked && !is_of_run);
                        rrset.is_marked = is_marked;
                    }
                    if rrset.is_ours && !rrset.is_marked && !rrset.is_robbed {
                        let (name, rtype) = &rrset.record;
                        found.push(format!("after write {place}, {name} {rtype} is there without its mark"));
                    }
                }
            }
        }
    });
    found
}

/// What a fleet holds at first of an RRset and its mark; none where it has no marks. What is there at first counts as ours
/// where it is marked.
fn marked_rrset(fleet: &Fleet, place: usize) -> Option<MarkedRrset> {
    let of_mark = fleet.mark_of(place)?;
    let is_marked = is_our_mark(fleet.first[of_mark].as_ref());
    Some(MarkedRrset {
        record: slot(&fleet.keys[place]),
        mark: slot(&fleet.keys[of_mark]),
        is_ours: is_marked && fleet.first[place].is_some(),
        is_marked,
        is_robbed: false,
    })
}
