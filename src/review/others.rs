//! What explains a change that its own hosts do not explain: settings of its zone, its project and the workspace, and
//! other hosts that have or had a name that it is about.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::difference::{HostDifference, HostPart};
use super::side::InventorySide;
use crate::change::{Change, Rule};
use crate::dns::{Name, NameRef, Rrset, Rtype, Ttl};
use crate::inventory::Inventory;
use crate::inventory::model::{LockRow, Project, ProtectPattern, ZoneSpec};
use crate::inventory::read::SETTINGS;
use crate::inventory::value::Inv;
use crate::names::NameIndex;
use crate::names::holders::{HolderRow, lock_rows_of};
use crate::plan::CauseKind;

/// What differs in the settings of the zone of a change; `is_ttl` where it is about a TTL alone.
pub fn zone_setting([base, now]: [&InventorySide<'_>; 2], change: &Change, is_ttl: bool) -> Option<HostDifference> {
    let (old, new) = (spec(base.inventory, change)?, spec(now.inventory, change)?);
    let zone = &change.zone;
    let (kind, says, origin) = match old {
        old if is_ttl && wanted(old) != wanted(new) => {
            let says = format!("the TTL of zone `{zone}` is {}, no longer {}", wanted(new), wanted(old));
            (CauseKind::Ttl, says, new.ttl_origin.unwrap_or(new.origin))
        }
        old if old.permission != new.permission => {
            (CauseKind::Setting, format!("the permission of zone `{zone}` changed"), new.origin)
        }
        old if old.claim_addresses != new.claim_addresses => {
            (CauseKind::Setting, format!("`claim_addresses` of zone `{zone}` changed"), new.origin)
        }
        old if !patterns(old).eq(patterns(new)) => {
            (CauseKind::Setting, format!("the protected names of zone `{zone}` changed"), new.origin)
        }
        _ => return None,
    };
    Some(HostDifference { about: HostPart::Host, kind, says, place: Some(now.place(origin)) })
}

/// What an inventory says of the zone of a change.
fn spec<'i>(inventory: &'i Inventory, change: &Change) -> Option<&'i ZoneSpec> {
    inventory.config.zone(&change.zone_id())
}

/// The TTL of a zone's records.
fn wanted(spec: &ZoneSpec) -> Ttl {
    spec.ttl.unwrap_or(Ttl::DEFAULT)
}

/// What a zone protects.
fn patterns(spec: &ZoneSpec) -> impl Iterator<Item = &str> {
    spec.protect.iter().map(|ProtectPattern { glob, .. }| glob.as_str())
}

/// What differs in the settings of its project, for changes at names that no host has.
pub fn project_setting([base, now]: [&InventorySide<'_>; 2], change: &Change) -> Option<HostDifference> {
    let new = project(now.inventory, &change.project)?;
    let id = &new.id;
    let setting = |says: String, origin| {
        Some(HostDifference { about: HostPart::Host, kind: CauseKind::Setting, says, place: Some(now.place(origin)) })
    };
    let Some(old) = project(base.inventory, id) else {
        return setting(format!("project `{id}` is configured now"), new.admin.as_ref()?.origin);
    };
    if let Some(admin) = &new.admin {
        let domains = |project: &Project| {
            project.admin.as_ref().map(|admin| (admin.dns_domain.clone(), admin.also_domains.clone()))
        };
        let is_allowed = old.admin.as_ref().is_some_and(|admin| admin.automation_allowed);
        if !is_allowed && admin.automation_allowed {
            return setting(format!("automation is allowed for project `{id}` now"), admin.origin);
        }
        if domains(old) != domains(new) {
            return setting(format!("project `{id}` has other domains"), admin.origin);
        }
    }
    let settings = new.file.settings()?;
    match old.file.settings() {
        None => setting(format!("the file of project `{id}` is good now"), settings.policy_origin),
        Some(old) if old.policy != settings.policy => {
            let (now, was) = (settings.policy.as_str(), old.policy.as_str());
            setting(format!("the policy of project `{id}` is `{now}`, no longer `{was}`"), settings.policy_origin)
        }
        Some(old) if !old.automation && settings.automation => {
            setting(format!("automation is switched on for project `{id}` now"), settings.policy_origin)
        }
        Some(_) => None,
    }
}

/// A project of an inventory.
fn project<'i>(inventory: &'i Inventory, id: &str) -> Option<&'i Project> {
    inventory.projects.iter().find(|project| project.id == id)
}

/// What differs in the workspace as a whole, as far as a change can depend on it.
pub fn workspace_setting([base, now]: [&InventorySide<'_>; 2], change: &Change) -> Option<HostDifference> {
    let [old, new] = [base, now].map(|side| &side.inventory.config);
    let [was, is] = [old, new].map(|config| config.marking_in(&change.pool));
    let says = if was.registry != is.registry {
        format!("the registry is `{}`, no longer `{}`", is.registry, was.registry)
    } else if was.owner != is.owner {
        format!("the owner is `{}`, no longer `{}`", is.owner, was.owner)
    } else if was.form != is.form {
        "the names of the registry's TXT are formed in another way".to_owned()
    } else if !is_without_host(change) {
        return None;
    } else if old.delete_after != new.delete_after {
        format!("deletes wait {}, no longer {}", new.delete_after, old.delete_after)
    } else if old.name_cooldown != new.name_cooldown {
        format!("the name cooldown is {}, no longer {}", new.name_cooldown, old.name_cooldown)
    } else if are_removals_paused(base.inventory) && !are_removals_paused(now.inventory) {
        let says = "names that no host has are removed again: all rows and sources are good now".to_owned();
        return Some(HostDifference { about: HostPart::Host, kind: CauseKind::Unblocked, says, place: None });
    } else {
        return None;
    };
    Some(HostDifference { about: HostPart::Host, kind: CauseKind::Setting, says, place: Some(SETTINGS.to_owned()) })
}

/// Whether a change removes records at a name that no host or no pod has.
pub fn is_without_host(change: &Change) -> bool {
    change.reasons.iter().any(|reason| matches!(reason.rule, Rule::Released | Rule::Orphan | Rule::NoPod))
}

/// Whether nothing is removed at names that no host has.
pub fn are_removals_paused(inventory: &Inventory) -> bool {
    inventory.has_bad_names || inventory.sources().any(|(_, trust)| trust.doubt().is_some())
}

/// Which hosts have which names, by two inventories; looked up on first use.
#[derive(Default)]
pub struct Holders(OnceCell<[NameIndex; 2]>);

impl Holders {
    /// The hosts that have or had one of the names that a change is about, by either inventory.
    pub fn of(&self, [base, now]: [&InventorySide<'_>; 2], change: &Change) -> BTreeSet<Inv> {
        let indexes = self.0.get_or_init(|| [base, now].map(|side| NameIndex::new(side.inventory)));
        let sides = [base, now].into_iter().zip(indexes);
        let of_side = |(side, index): (&InventorySide<'_>, &NameIndex)| {
            let found = names(change).into_iter().flat_map(|name| {
                let holders = index.holders(side.inventory, name.as_name()).map(|holder| holder.by);
                holders.collect::<Vec<_>>()
            });
            let inv = |row| match row {
                HolderRow::Host(place) => side.inventory.hosts[place as usize].inv,
                HolderRow::Lock(place) => side.inventory.lock[place as usize].inv,
            };
            found.map(inv).collect::<Vec<Inv>>()
        };
        sides.flat_map(of_side).collect()
    }
}

/// The names that a change is about: that of an address, and those that a PTR names.
fn names(change: &Change) -> Vec<Name> {
    if change.key.rtype != Rtype::PTR {
        return vec![change.key.owner.as_name().to_name()];
    }
    let rrsets = [change.kind.before(), change.kind.after()].into_iter().flatten();
    let targets = |rrset: &Rrset| {
        let targets = rrset.rdata().iter().filter_map(|rdata| rdata.as_rdata(Rtype::PTR).target());
        targets.map(NameRef::to_name).collect::<Vec<Name>>()
    };
    rrsets.flat_map(targets).collect()
}

/// What differs in names.lock about a host.
pub fn lock_rows<'a>([base, now]: [&InventorySide<'a>; 2], inv: Inv) -> Option<HostDifference> {
    // A fleet has many rows, and many changes may ask.
    let rows = |side: &InventorySide<'a>| &side.inventory.lock[lock_rows_of(side.inventory, inv)];
    let told = |LockRow { name, released, .. }: &'a LockRow| (name, released);
    (!rows(base).iter().map(told).eq(rows(now).iter().map(told))).then(|| {
        let row = rows(now).first();
        let place = row.map_or_else(|| crate::inventory::source::NAMES_LOCK.to_owned(), |row| now.place(row.origin));
        let says = "names.lock changed which host has a name".to_owned();
        HostDifference { about: HostPart::Host, kind: CauseKind::Released, says, place: Some(place) }
    })
}
