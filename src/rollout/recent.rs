//! Which names of placements clients may not see as live DNS has them. Pure.

use std::collections::BTreeMap;

use super::flux::{FluxRow, RolloutMemory};
use crate::change::reach::is_address_type;
use crate::claim::Subject;
use crate::diff::recent::RecentPods;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Time;

/// What waves remember of such names.
pub fn recent_names(memory: &RolloutMemory, now: Time) -> RecentPods {
    let mut recent = RecentPods::default();
    for row in memory.flux.iter().filter(|row| row.is_in_flux(now)) {
        let ends = row.ends();
        match row.subject {
            Subject::Endpoints(_) => {
                let srv = row.before.iter().filter(|former| former.rtype == Rtype::SRV);
                // The server is the last field (RFC 2782).
                let servers = srv.flat_map(|former| &former.values).filter_map(|value| value.rsplit(' ').next());
                let names = servers.filter_map(|server| Name::parse(server).ok());
                names.for_each(|name| note(&mut recent.listed, name, ends));
            }
            Subject::Pod(_) => made(row).for_each(|name| note(&mut recent.made, name.clone(), ends)),
            _ => {}
        }
    }
    recent
}

/// Notes a name until a time, or for longer where it is noted already.
fn note(names: &mut BTreeMap<Name, Option<Time>>, name: Name, ends: Option<Time>) {
    let until = names.entry(name).or_insert(ends);
    *until = until.zip(ends).map(|(until, ends)| until.max(ends));
}

/// The names that had no addresses before a change.
fn made(row: &FluxRow) -> impl Iterator<Item = &Name> {
    let is_new = |name: &Name| row.before.iter().all(|former| former.name != *name || former.values.is_empty());
    let addresses = row.before.iter().filter(|former| is_address_type(former.rtype));
    addresses.map(|former| &former.name).filter(move |name| is_new(name))
}
