//! Which names of placements clients may not see as live DNS has them. Pure.

use super::flux::{FluxRow, RolloutMemory, is_address_type};
use crate::claim::Subject;
use crate::diff::recent::RecentPods;
use crate::dns::{Name, Rtype};
use crate::inventory::value::Time;

/// What waves remember of such names.
pub fn recent_names(memory: &RolloutMemory, now: Time) -> RecentPods {
    let in_flux = || memory.flux.iter().filter(move |row| row.is_in_flux(now));
    let of_endpoints = in_flux().filter(|row| matches!(row.subject, Subject::Endpoints(_)));
    let srv = of_endpoints.flat_map(|row| &row.before).filter(|former| former.rtype == Rtype::SRV);
    // The server is the last field (RFC 2782).
    let servers = srv.flat_map(|former| &former.values).filter_map(|value| value.rsplit(' ').next());
    let listed = servers.filter_map(|server| Name::parse(server).ok()).collect();
    let of_pods = in_flux().filter(|row| matches!(row.subject, Subject::Pod(_)));
    RecentPods { listed, made: of_pods.flat_map(made).cloned().collect(), ..RecentPods::default() }
}

/// The names that had no addresses before a change.
fn made(row: &FluxRow) -> impl Iterator<Item = &Name> {
    let is_new = |name: &Name| row.before.iter().all(|former| former.name != *name || former.values.is_empty());
    let addresses = row.before.iter().filter(|former| is_address_type(former.rtype));
    addresses.map(|former| &former.name).filter(move |name| is_new(name))
}
