//! Names that files of records state and that no plan can have: in no configured zone, or in no domain of the project.
//!
//! Comes in: the inventory. Goes out: one warning for each source and cause. A plan blocks these names; nothing live
//! needs to be known to say so before. Pure.

use std::collections::{BTreeMap, HashSet};

use super::Inventory;
use super::stated::{EntryContent, RecordSource, StatedEntry};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dns::NameRef;

/// The code that a plan has for a name in no zone.
const NO_ZONE: &str = "no-zone";

/// The code that a plan has for a name in no domain of its project.
const FOREIGN_DOMAIN: &str = "foreign-domain";

/// Warns of them; each warning counts the names, and is about the first entry.
pub fn check(inventory: &Inventory) -> Diagnostics {
    let zones: HashSet<NameRef<'_>> = inventory.config.zones.iter().map(|zone| zone.name.as_name()).collect();
    let is_claim = |entry: &&StatedEntry| !matches!(entry.content, EntryContent::LeftAlone(_));
    let mut warnings = Diagnostics::default();
    for stated in [&inventory.stated, &inventory.published] {
        let mut found: BTreeMap<(u16, &str), (usize, &StatedEntry)> = BTreeMap::new();
        for entry in stated.entries.iter().filter(is_claim) {
            let source = &stated.sources[usize::from(entry.source)];
            if let Some(code) = fault(inventory, &zones, (source, entry)) {
                found.entry((entry.source, code)).or_insert((0, entry)).0 += 1;
            }
        }
        for ((source, code), (count, first)) in found {
            warnings.push(warning(inventory, (code, count), (&stated.sources[usize::from(source)], first)));
        }
    }
    warnings
}

/// What a plan would block an entry for.
fn fault(
    inventory: &Inventory,
    zones: &HashSet<NameRef<'_>>,
    (source, entry): (&RecordSource, &StatedEntry),
) -> Option<&'static str> {
    let name = entry.owner.as_name();
    let project = source.project;
    let admin = inventory.projects[project.0 as usize].admin.as_ref();
    let mut above = std::iter::successors(Some(name), |name| name.parent());
    match admin {
        // A plan finds this first, too.
        Some(admin) if !admin.contains(name) => Some(FOREIGN_DOMAIN),
        // A DNS update record has zones of its own.
        _ if source.record.is_some() => None,
        _ if !above.any(|name| zones.contains(&name)) => Some(NO_ZONE),
        _ => None,
    }
}

/// The warning of so many entries.
fn warning(
    inventory: &Inventory,
    (code, count): (&'static str, usize),
    (source, first): (&RecordSource, &StatedEntry),
) -> Diagnostic {
    let id = &inventory.projects[source.project.0 as usize].id;
    let (place, hint) = match code {
        NO_ZONE => ("in no configured zone".to_owned(), "add a [[zone]] for the names, or correct them"),
        _ => (
            format!("at or below no domain of project `{id}`"),
            "add the domain to `also_domains` of the project, or correct the names",
        ),
    };
    let name = &first.owner;
    let message = match count {
        1 => format!("`{name}` is {place}"),
        _ => format!("{count} entries of source `{}` are {place}; the first is `{name}`", source.name),
    };
    Diagnostic::warning(code, first.origin, message).rule("a plan blocks such names").hint(hint)
}
