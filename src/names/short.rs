//! Short names that several hosts have: what only the whole inventory shows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use xxhash_rust::xxh3::xxh3_128;

use super::holders::named;
use super::taken::fastbone_label;
use crate::diag::{Diagnostic, Diagnostics, Origin};
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::repeats::RepeatedHashes;
use crate::inventory::value::Inv;

/// A host that has a name, and who says so.
#[derive(Clone, Copy)]
struct ShortNameHolder<'a> {
    /// The host.
    inv: Inv,
    /// The name.
    name: &'a Name,
    /// The project in which it has it.
    project: ProjectIndex,
    /// The row.
    origin: Origin,
    /// Whether that is one of names.lock.
    by_lock: bool,
}

/// Warns of hosts whose short name, or whose fastbone's short name, another host has.
///
/// Nothing is bad because of that: the records of both are at different names. But `allocate` gives no such names, and
/// people who use short names may reach the wrong host.
pub fn check(inventory: &Inventory) -> Diagnostics {
    let mut found = Diagnostics::default();
    // Nearly all short names occur once, and only the others are kept.
    let mut repeats = RepeatedHashes::new(inventory.hosts.len() * 2);
    for holder in holders(inventory) {
        labels(inventory, &holder).for_each(|hash| repeats.add(hash as u64));
    }
    let mut owners: HashMap<u128, ShortNameHolder<'_>> = HashMap::new();
    for holder in holders(inventory) {
        let mut other = None;
        for hash in labels(inventory, &holder).filter(|hash| repeats.may_hold(*hash as u64)) {
            match owners.entry(hash) {
                Entry::Vacant(entry) => drop(entry.insert(holder)),
                Entry::Occupied(entry) if entry.get().inv != holder.inv => other = Some(*entry.get()),
                Entry::Occupied(_) => {}
            }
        }
        // Two rows of names.lock with the same name are errors, reported where they are read.
        let other = other.filter(|other| !(holder.by_lock && other.by_lock && holder.name == other.name));
        if let Some(other) = other {
            found.push(warning(inventory, &holder, &other));
        }
    }
    found
}

/// The hashes of a host's short name, and of its fastbone's.
fn labels(inventory: &Inventory, holder: &ShortNameHolder<'_>) -> impl Iterator<Item = u128> {
    let label = holder.name.as_name().first_label().unwrap_or_default();
    let fastbone = fastbone_label(inventory, holder.project, label);
    std::iter::once(xxh3_128(label)).chain(fastbone.map(|label| xxh3_128(&label)))
}

/// All hosts that have names: those of hosts.csv, then those that only names.lock knows.
fn holders(inventory: &Inventory) -> impl Iterator<Item = ShortNameHolder<'_>> {
    let by_hosts = named(inventory).filter_map(|(host, held)| {
        let (name, row) = held?;
        let origin = row.map_or(host.origin, |row| row.origin);
        Some(ShortNameHolder { inv: host.inv, name, project: host.project, origin, by_lock: row.is_some() })
    });
    let by_lock = inventory.lock.iter().filter_map(|row| {
        let name = row.name.as_ref()?;
        let is_alone = row.released.is_none() && inventory.place_of(row.inv).is_none();
        let origin = row.origin;
        is_alone.then_some(ShortNameHolder { inv: row.inv, name, project: row.project, origin, by_lock: true })
    });
    by_hosts.chain(by_lock)
}

/// The warning about a host.
fn warning(inventory: &Inventory, holder: &ShortNameHolder<'_>, other: &ShortNameHolder<'_>) -> Diagnostic {
    let ShortNameHolder { inv, name, origin, .. } = holder;
    let label = |name: &Name| name.as_name().first_label().map(<[u8]>::to_vec);
    let clash = if label(name) == label(other.name) {
        "the same short name"
    } else {
        "the fastbone of one host has the other host's short name"
    };
    let message = format!("host {inv} has `{name}`, and host {} has `{}`: {clash}", other.inv, other.name);
    let hint = if holder.by_lock && other.by_lock {
        "`zonewright check --fix-lock` leaves the name to the host that had it first"
    } else {
        "give one of the hosts another name, in hosts.csv or by `zonewright release --to-project`"
    };
    Diagnostic::warning("shared-short-name", *origin, message)
        .also(format!("the other is {}", inventory.files.place(other.origin)))
        .rule("in all projects together, only one host has a short name; this includes names of fastbones")
        .hint(hint)
}
