//! Warns of projects whose hosts have no address in the inventory, though the project says that they are there.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::addresses::ListedInterfaces;
use crate::inventory::model::{Inventory, ProjectFile, ProjectIndex};

/// The code of all of them.
const CODE: &str = "no-addresses";

/// How many names of interfaces a message has.
const NAMED: usize = 5;

/// Warns of them, once for each project, where its file says `addresses: inventory`.
///
/// `has_source` says whether zonewright.toml has a source of addresses.
pub fn warn(inventory: &Inventory, has_source: bool, diagnostics: &mut Diagnostics) {
    for (place, project) in inventory.projects.iter().enumerate() {
        let ProjectFile::Good(settings) = &project.file else { continue };
        let Some(listed) = settings.listed() else { continue };
        let index = ProjectIndex(place as u32);
        let fault =
            if has_source { of_interfaces(inventory, index, listed) } else { Some(without_source(&project.id)) };
        if let Some((message, hint)) = fault {
            diagnostics.push(Diagnostic::warning(CODE, listed.origin, message).hint(hint));
        }
    }
}

/// What is said where there is no source, and what to do.
fn without_source(id: &str) -> (String, String) {
    let message = format!("the inventory lists the addresses of project `{id}`, and `[sources]` has no `addresses`");
    (message, "add `addresses` to `[sources]`; until then the hosts are blocked `no-address`".to_owned())
}

/// What is said where the source is believed and knows the hosts, but none of their interfaces by its name.
fn of_interfaces(inventory: &Inventory, project: ProjectIndex, listed: &ListedInterfaces) -> Option<(String, String)> {
    if inventory.trust.addresses.doubt().is_some() {
        return None;
    }
    let symbols = &inventory.symbols;
    let hosts = inventory.hosts.iter().filter(|host| host.project == project);
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for row in hosts.flat_map(|host| inventory.addresses_of(host.inv)) {
        if listed.names().any(|(name, is_main)| row.interface.may_be(name, is_main, symbols)) {
            return None;
        }
        known.extend(row.interface.name(symbols));
    }
    let named: Vec<String> = known.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let wanted: Vec<String> = listed.names().map(|(name, _)| format!("`{name}`")).collect();
    let id = &inventory.projects[project.0 as usize].id;
    let message = format!("no host of project `{id}` has an address at {}", wanted.join(" or "));
    let more = if known.len() > NAMED { ", …" } else { "" };
    let hint = format!("its hosts have addresses at {}{more}: name these in `interfaces`", named.join(", "));
    (!named.is_empty()).then_some((message, hint))
}
