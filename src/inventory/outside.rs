//! Names that files of records state and that no plan can have: in no configured zone, or in no domain of the project.
//!
//! Comes in: the inventory. Goes out: one warning for each source and cause. A plan blocks these names; nothing live
//! needs to be known to say so before. Pure.

use std::collections::{BTreeMap, HashSet};

use super::Inventory;
use super::model::ZoneSpec;
use super::stated::{EntryContent, RecordSource, StatedEntry};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dns::NameRef;

/// The code that a plan has for a name in no zone.
const NO_ZONE: &str = "no-zone";

/// The code that a plan has for a name in no domain of its project.
const FOREIGN_DOMAIN: &str = "foreign-domain";

/// Warns of them; each warning counts the names, and is about the first entry.
pub fn check(inventory: &Inventory) -> Diagnostics {
    let config = &inventory.config;
    let names = |is_meant: &dyn Fn(&ZoneSpec) -> bool| -> HashSet<NameRef<'_>> {
        config.zones.iter().filter(|spec| is_meant(spec)).map(|spec| spec.name.as_name()).collect()
    };
    let zones_of = |source: &RecordSource| {
        // A DNS update record has zones of its own, if it is carried out.
        let is_own = |spec: &ZoneSpec| config.is_of_record(spec) && config.pool(spec).name.as_str() == &*source.name;
        match source.record {
            None => Some(names(&|spec| !config.is_of_record(spec))),
            Some(_) => Some(names(&is_own)).filter(|own| !own.is_empty()),
        }
    };
    let is_claim = |entry: &&StatedEntry| !matches!(entry.content, EntryContent::LeftAlone(_));
    let mut warnings = Diagnostics::default();
    for stated in [&inventory.stated, &inventory.published] {
        let mut found: BTreeMap<(u16, &str), (usize, &StatedEntry)> = BTreeMap::new();
        let zones: Vec<_> = stated.sources.iter().map(zones_of).collect();
        for entry in stated.entries.iter().filter(is_claim) {
            let place = usize::from(entry.source);
            if let Some(code) = fault(inventory, zones[place].as_ref(), (&stated.sources[place], entry)) {
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
    zones: Option<&HashSet<NameRef<'_>>>,
    (source, entry): (&RecordSource, &StatedEntry),
) -> Option<&'static str> {
    let name = entry.owner.as_name();
    let project = source.project;
    let admin = inventory.projects[project.0 as usize].admin.as_ref();
    let mut above = std::iter::successors(Some(name), |name| name.parent());
    match admin {
        // A plan finds this first, too.
        Some(admin) if !admin.contains(name) => Some(FOREIGN_DOMAIN),
        _ if zones.is_some_and(|zones| !above.any(|name| zones.contains(&name))) => Some(NO_ZONE),
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
        NO_ZONE if source.record.is_some() => (
            format!("in no zone of the DNS update record `{}`", source.name),
            "publish the names by another record, or add their zone to this one",
        ),
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
