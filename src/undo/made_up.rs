//! What a `sync` made up for an apply at other targets.
//!
//! Comes in: the updates of an apply, and those of later runs of `sync`. Goes out: the updates that made the same.

use std::collections::HashMap;

use crate::dns::{Name, Rtype, ZoneName};
use crate::state::{SentChange, SentFate, SentUpdate};
use crate::target::PoolName;

/// What later updates of a `sync` made of the changes of an apply: the same change, from and to the same. A sync that went
/// further than the apply, or that began elsewhere, did not make what the apply asked for.
pub fn made_up(sent: &[SentUpdate], later: Vec<SentUpdate>) -> Vec<SentUpdate> {
    let mut asked: HashMap<(&PoolName, &ZoneName, &Name, Rtype), Vec<&SentChange>> = HashMap::new();
    for update in sent.iter().filter(|update| !matches!(update.fate, SentFate::Undone(_))) {
        for change in &update.changes {
            let key = (&update.target.pool, &update.zone, &change.name, change.rtype);
            asked.entry(key).or_default().push(change);
        }
    }
    let is_same = |one: &SentChange, other: &SentChange| {
        one.subject == other.subject && one.before == other.before && one.after == other.after
    };
    let of_apply = |mut update: SentUpdate| {
        update.changes.retain(|change| {
            let own = asked.get(&(&update.target.pool, &update.zone, &change.name, change.rtype));
            own.is_some_and(|own| own.iter().any(|own| is_same(own, change)))
        });
        (!update.changes.is_empty()).then_some(update)
    };
    later.into_iter().filter_map(of_apply).collect()
}
