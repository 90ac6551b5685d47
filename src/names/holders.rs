//! Whose a name is: every name that a host has or had, searchable.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, LockRow, Project, ProjectIndex};
use crate::inventory::value::Inv;

/// Somebody who has or had a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// Who says so.
    pub by: HolderRow,
    /// Whether it is the fastbone's name.
    pub fastbone: bool,
    /// Whether the name is held now; otherwise it once was, or hosts.csv says so against names.lock.
    pub now: bool,
}

/// The row that gives a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HolderRow {
    /// A host, by its place in [`Inventory::hosts`].
    Host(u32),
    /// A row of names.lock, by its place in [`Inventory::lock`].
    Lock(u32),
}

/// All names of all hosts, backbone and fastbone.
#[derive(Debug)]
pub struct NameIndex {
    /// The hash of a name and who holds it, sorted; of one hash, those who hold it now come first.
    entries: Vec<(u64, Holder)>,
    /// The domains in which hosts have names whose project file is bad or missing: any other name there may be a
    /// fastbone of theirs.
    clouded: HashSet<Name>,
}

/// Whether a row of names.lock is the one that gives its host's name, where hosts.csv has the host.
///
/// Of several current rows for one host, which are all bad, only one does.
pub fn gives_name(inventory: &Inventory, row: &LockRow) -> bool {
    let host = inventory.place_of(row.inv).map(|place| &inventory.hosts[place]);
    let given_by = host.and_then(|host| name_of(inventory, host)).and_then(|(_, row)| row);
    given_by.is_some_and(|given_by| given_by.origin == row.origin)
}

/// Whether a row of names.lock only says what its host says already: that the host has this name, in this project.
fn is_counted(inventory: &Inventory, row: &LockRow) -> bool {
    let same_project = |place: usize| inventory.hosts[place].project == row.project;
    inventory.place_of(row.inv).is_some_and(same_project) && gives_name(inventory, row)
}

/// The rows of names.lock for one host, in their order.
pub fn lock_rows_of(inventory: &Inventory, inv: Inv) -> std::ops::Range<usize> {
    let from = inventory.lock.partition_point(|row| row.inv < inv);
    let length = inventory.lock[from..].partition_point(|row| row.inv == inv);
    from..from + length
}

/// A host's name, with the row of names.lock that gives it; none in either where it has none.
///
/// A host with any row in names.lock takes its name from there alone.
pub fn name_of<'i>(inventory: &'i Inventory, host: &'i Host) -> Option<(&'i Name, Option<&'i LockRow>)> {
    let rows = &inventory.lock[lock_rows_of(inventory, host.inv)];
    if rows.is_empty() {
        return host.name.as_ref().map(|name| (name, None));
    }
    let current = rows.iter().find(|row| row.released.is_none())?;
    current.name.as_ref().map(|name| (name, Some(current)))
}

/// The fastbone name that a project gives beside a backbone's; none where it has no fastbones or the name is too long.
pub fn fastbone_of(inventory: &Inventory, project: ProjectIndex, backbone: NameRef<'_>) -> Option<Name> {
    let settings = inventory.projects[project.0 as usize].file.settings()?;
    settings.vlans.fastbone()?;
    settings.fastbone_name.expand(backbone).ok()
}

impl NameIndex {
    /// Collects the names of hosts.csv and names.lock.
    pub fn new(inventory: &Inventory) -> NameIndex {
        let entries = Vec::with_capacity(inventory.hosts.len() * 2);
        let mut index = NameIndex { entries, clouded: HashSet::new() };
        for (place, host) in inventory.hosts.iter().enumerate() {
            let by = HolderRow::Host(place as u32);
            let held = name_of(inventory, host);
            if let Some((name, _)) = held {
                index.add(inventory, by, true, (name, host.project));
            }
            match (&host.name, held) {
                (Some(name), Some((held, _))) if name == held => {}
                (Some(name), _) => index.add(inventory, by, false, (name, host.project)),
                (None, _) => {}
            }
        }
        for (place, row) in inventory.lock.iter().enumerate() {
            if let Some(name) = &row.name
                && !is_counted(inventory, row)
            {
                let now = row.released.is_none();
                index.add(inventory, HolderRow::Lock(place as u32), now, (name, row.project));
            }
        }
        index.entries.sort_unstable_by_key(|(hash, holder)| (*hash, !holder.now, *holder));
        index
    }

    /// Adds a backbone name with its fastbone name.
    fn add(&mut self, inventory: &Inventory, by: HolderRow, now: bool, (name, project): (&Name, ProjectIndex)) {
        self.entries.push((xxh3_64(name.as_wire()), Holder { by, fastbone: false, now }));
        let Project { admin, file, .. } = &inventory.projects[project.0 as usize];
        if now && admin.is_some() && file.settings().is_none() {
            self.clouded.extend(name.as_name().parent().map(NameRef::to_name));
        }
        if let Some(fastbone) = fastbone_of(inventory, project, name.as_name()) {
            self.entries.push((xxh3_64(fastbone.as_wire()), Holder { by, fastbone: true, now }));
        }
    }

    /// All names, those that somebody had too; a name that several hold comes several times.
    pub fn names(&self, inventory: &Inventory) -> impl Iterator<Item = Name> {
        self.entries.iter().filter_map(move |(_, holder)| held_name(inventory, *holder))
    }

    /// Everybody who has or had any name, by the hashes of the names.
    pub fn entries(&self) -> impl Iterator<Item = Holder> {
        self.entries.iter().map(|(_, holder)| *holder)
    }

    /// Everybody who has or had a name; those who hold it now come first.
    pub fn holders(&self, inventory: &Inventory, name: NameRef<'_>) -> impl Iterator<Item = Holder> {
        let hash = xxh3_64(name.as_wire());
        let from = self.entries.partition_point(|(own, _)| *own < hash);
        let same_hash = self.entries[from..].iter().take_while(move |(own, _)| *own == hash);
        same_hash.map(|(_, holder)| *holder).filter(move |holder| has_name(inventory, *holder, name))
    }

    /// Whether somebody holds a name now.
    pub fn is_held(&self, inventory: &Inventory, name: NameRef<'_>) -> bool {
        self.holders(inventory, name).take_while(|holder| holder.now).next().is_some()
    }

    /// Whether a name that nobody is known to have or have had may still be a host's: which fastbone names a project
    /// gives is unknown while its file is bad or missing.
    pub fn may_be_held(&self, inventory: &Inventory, name: NameRef<'_>) -> bool {
        let clouded = name.parent().is_some_and(|domain| self.clouded.contains(domain.as_wire()));
        clouded && self.holders(inventory, name).next().is_none()
    }

    /// The groups of entries that share a hash, for finding names held twice.
    pub fn groups(&self) -> impl Iterator<Item = &[(u64, Holder)]> {
        self.entries.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1)
    }
}

/// Whether a holder's name really is `name`: equal hashes alone prove nothing.
fn has_name(inventory: &Inventory, holder: Holder, name: NameRef<'_>) -> bool {
    held_name(inventory, holder).is_some_and(|held| held.as_name() == name)
}

/// The name that an entry stands for.
pub fn held_name(inventory: &Inventory, holder: Holder) -> Option<Name> {
    let (backbone, project) = match holder.by {
        HolderRow::Host(place) => {
            let host = &inventory.hosts[place as usize];
            let name = if holder.now { name_of(inventory, host).map(|(name, _)| name) } else { host.name.as_ref() };
            (name?, host.project)
        }
        HolderRow::Lock(place) => {
            let row = &inventory.lock[place as usize];
            (row.name.as_ref()?, row.project)
        }
    };
    match holder.fastbone {
        true => fastbone_of(inventory, project, backbone.as_name()),
        false => Some(backbone.clone()),
    }
}
