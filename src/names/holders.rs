//! Whose a name is: every name that a host has or had, searchable.

use std::collections::HashSet;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::by_hash::ByHash;
use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::by_inv::{of_each, rows_of};
use crate::inventory::model::{Host, LockRow, Project, ProjectIndex};
use crate::inventory::moves::{HostMoves, MovedHost};
use crate::inventory::value::Inv;

/// A host that has or had a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameHolder {
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
#[derive(Debug, Clone)]
pub struct NameIndex {
    /// Who holds which name, sorted.
    entries: ByHash<HolderEntry>,
    /// The domains in which hosts have names whose project file is bad or missing: any other name there may be a
    /// fastbone of theirs.
    clouded: HashSet<Name>,
}

/// One name of one holder; sorts by the name's hash, and then those who hold it now first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HolderEntry {
    /// The hash of the name.
    hash: u64,
    /// The holder, packed in the order of [`NameHolder`] but for `now`, which leads.
    holder: u64,
}

impl HolderEntry {
    /// Packs a holder.
    fn new(hash: u64, NameHolder { by, fastbone, now }: NameHolder) -> HolderEntry {
        let (is_lock, place) = match by {
            HolderRow::Host(place) => (0, place),
            HolderRow::Lock(place) => (1, place),
        };
        let holder = u64::from(!now) << 34 | is_lock << 33 | u64::from(place) << 1 | u64::from(fastbone);
        HolderEntry { hash, holder }
    }

    /// The holder.
    fn holder(self) -> NameHolder {
        let place = (self.holder >> 1) as u32;
        let by = if self.holder >> 33 & 1 == 0 { HolderRow::Host(place) } else { HolderRow::Lock(place) };
        NameHolder { by, fastbone: self.holder & 1 == 1, now: self.holder >> 34 == 0 }
    }
}

/// Whether a row of names.lock is the one that gives its host's name, where hosts.csv has the host.
///
/// Of several current rows for one host, which are all bad, only one does.
pub fn gives_name(inventory: &Inventory, row: &LockRow) -> bool {
    let host = inventory.place_of(row.inv).map(|place| &inventory.hosts[place]);
    let given_by = host.and_then(|host| name_of(inventory, host)).and_then(|(_, row)| row);
    given_by.is_some_and(|given_by| given_by.origin == row.origin)
}

/// The name of a host, with the row of names.lock that gives it.
pub type NameAndRow<'i> = (&'i Name, Option<&'i LockRow>);

/// All hosts in their order, each with what [`name_of`] gives of it; quicker than to look for each.
pub fn named(inventory: &Inventory) -> impl Iterator<Item = (&Host, Option<NameAndRow<'_>>)> {
    let rows = of_each(&inventory.lock, |row| row.inv, &inventory.hosts);
    inventory.hosts.iter().zip(rows).map(|(host, rows)| (host, name_among(rows, host)))
}

/// The rows of names.lock for one host, in their order.
pub fn lock_rows_of(inventory: &Inventory, inv: Inv) -> std::ops::Range<usize> {
    rows_of(&inventory.lock, inv, |row| row.inv)
}

/// A host's name, with the row of names.lock that gives it; `None` for each where there is none.
///
/// A host with any row in names.lock takes its name from there alone.
pub fn name_of<'i>(inventory: &'i Inventory, host: &'i Host) -> Option<NameAndRow<'i>> {
    name_among(&inventory.lock[lock_rows_of(inventory, host.inv)], host)
}

/// A host's name, as [`name_of`] gives it; `rows` are those of names.lock for it.
pub fn name_among<'i>(rows: &'i [LockRow], host: &'i Host) -> Option<NameAndRow<'i>> {
    if rows.is_empty() {
        return host.name.as_ref().map(|name| (name, None));
    }
    let current = rows.iter().find(|row| row.released.is_none())?;
    current.name.as_ref().map(|name| (name, Some(current)))
}

/// The fastbone name that a project gives together with a backbone's; `None` where it has no fastbones or the name is
/// too long.
pub fn fastbone_of(inventory: &Inventory, project: ProjectIndex, backbone: NameRef<'_>) -> Option<Name> {
    let settings = inventory.projects[project.0 as usize].file.settings()?;
    let fastbone = settings.has_fastbone().then(|| settings.fastbone_name.expand(backbone));
    fastbone?.ok()
}

impl NameIndex {
    /// Collects the names of hosts.csv and names.lock.
    pub fn new(inventory: &Inventory) -> NameIndex {
        let mut found = NameIndexParts { inventory, entries: Vec::new(), clouded: HashSet::new() };
        found.entries.reserve_exact(inventory.hosts.len() * 2);
        for (place, (host, held)) in named(inventory).enumerate() {
            found.add_host(place, host, held);
        }
        let (mut at, mut place) = (0, 0);
        for rows in inventory.lock.chunk_by(|a, b| a.inv == b.inv) {
            let hosts = &inventory.hosts[at..];
            at += hosts.iter().take_while(|host| host.inv < rows[0].inv).count();
            let same = inventory.hosts[at..].iter().take_while(|host| host.inv == rows[0].inv).count();
            let host = match same {
                0 => None,
                1 => Some(&inventory.hosts[at]),
                _ => inventory.place_of(rows[0].inv).map(|place| &inventory.hosts[place]),
            };
            found.add_rows(place, rows, host);
            place += rows.len();
        }
        let NameIndexParts { entries, clouded, .. } = found;
        NameIndex { entries: ByHash::new(entries, |entry| entry.hash).sorted(), clouded }
    }

    /// The index of an inventory in which some hosts have other rows than in that of this index.
    ///
    /// None where a bad project file hides which names hosts have.
    pub fn carry(self, inventory: &Inventory, moves: &HostMoves) -> Option<NameIndex> {
        if moves.is_none() {
            return Some(self);
        }
        let mut found = NameIndexParts { inventory, entries: Vec::new(), clouded: HashSet::new() };
        let mut locked = Vec::new();
        for MovedHost { inv, is, .. } in &moves.0 {
            let places = lock_rows_of(inventory, *inv);
            let rows = &inventory.lock[places.clone()];
            for place in is.clone() {
                let host = &inventory.hosts[place];
                found.add_host(place, host, name_among(rows, host));
            }
            found.add_rows(places.start, rows, inventory.place_of(*inv).map(|place| &inventory.hosts[place]));
            locked.push(places);
        }
        if !self.clouded.is_empty() || !found.clouded.is_empty() {
            return None;
        }
        let is_moved = |row: usize| {
            let before = locked.partition_point(|places| places.end <= row);
            locked.get(before).is_some_and(|places| places.contains(&row))
        };
        let carried = |entry: HolderEntry| {
            let holder = entry.holder();
            match holder.by {
                HolderRow::Lock(row) => (!is_moved(row as usize)).then_some(entry),
                HolderRow::Host(place) => {
                    let by = HolderRow::Host(moves.place(place as usize)? as u32);
                    Some(HolderEntry::new(entry.hash, NameHolder { by, ..holder }))
                }
            }
        };
        Some(NameIndex { entries: self.entries.replaced(carried, found.entries, |entry| entry.hash), ..self })
    }

    /// All names that hosts have or had; a name with several holders comes several times.
    pub fn names(&self, inventory: &Inventory) -> impl Iterator<Item = Name> {
        self.entries.rows().iter().filter_map(move |entry| held_name(inventory, entry.holder()))
    }

    /// The hashes (XXH3) of the wire format of all names.
    pub fn hashes(&self) -> impl ParallelIterator<Item = u64> {
        self.entries.rows().par_iter().map(|entry| entry.hash)
    }

    /// Everybody who has or had any name, by the hashes of the names.
    pub fn entries(&self) -> impl Iterator<Item = NameHolder> {
        self.entries.rows().iter().map(|entry| entry.holder())
    }

    /// Everybody who has or had a name; those who hold it now come first.
    pub fn holders(&self, inventory: &Inventory, name: NameRef<'_>) -> impl Iterator<Item = NameHolder> {
        let hash = xxh3_64(name.as_wire());
        let same_hash = self.entries.near(hash).iter().filter(move |entry| entry.hash == hash);
        same_hash.map(|entry| entry.holder()).filter(move |holder| has_name(inventory, *holder, name))
    }

    /// The hosts of hosts.csv that hold a name now, by their places in [`Inventory::hosts`].
    pub fn hosts_now(&self, inventory: &Inventory, name: NameRef<'_>) -> impl Iterator<Item = usize> {
        self.interfaces_now(inventory, name).map(|(place, _)| place)
    }

    /// The same, each with whether it is the name of the fastbone.
    pub fn interfaces_now(&self, inventory: &Inventory, name: NameRef<'_>) -> impl Iterator<Item = (usize, bool)> {
        let now = self.holders(inventory, name).take_while(|holder| holder.now);
        now.filter_map(|holder| {
            let place = match holder.by {
                HolderRow::Host(place) => place as usize,
                HolderRow::Lock(row) => inventory.place_of(inventory.lock[row as usize].inv)?,
            };
            Some((place, holder.fastbone))
        })
    }

    /// Whether a host holds a name now.
    pub fn is_held(&self, inventory: &Inventory, name: NameRef<'_>) -> bool {
        self.holders(inventory, name).take_while(|holder| holder.now).next().is_some()
    }

    /// Whether a host of hosts.csv holds a name now.
    pub fn has_host(&self, inventory: &Inventory, name: NameRef<'_>) -> bool {
        let mut now = self.holders(inventory, name).take_while(|holder| holder.now);
        now.any(|holder| match holder.by {
            HolderRow::Host(_) => true,
            HolderRow::Lock(place) => !inventory.places_of(inventory.lock[place as usize].inv).is_empty(),
        })
    }

    /// The lowest number to which a current row of names.lock gives a name.
    pub fn locked_for(&self, inventory: &Inventory, name: NameRef<'_>) -> Option<Inv> {
        let now = self.holders(inventory, name).take_while(|holder| holder.now);
        let rows = now.filter_map(|holder| match holder.by {
            HolderRow::Host(_) => None,
            HolderRow::Lock(place) => Some(inventory.lock[place as usize].inv),
        });
        rows.min()
    }

    /// Whether a name without a known holder may still be a host's: the fastbone names of a project are unknown while
    /// its file is bad or missing.
    pub fn may_be_held(&self, inventory: &Inventory, name: NameRef<'_>) -> bool {
        let clouded = name.parent().is_some_and(|domain| self.clouded.contains(domain.as_wire()));
        clouded && self.holders(inventory, name).next().is_none()
    }

    /// The holders of names whose hash several have, in groups, for finding names held twice.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = NameHolder>> {
        let groups = self.entries.rows().chunk_by(|a, b| a.hash == b.hash).filter(|group| group.len() > 1);
        groups.map(|group| group.iter().map(|entry| entry.holder()))
    }
}

/// The parts of a [`NameIndex`] found so far.
struct NameIndexParts<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// Who holds which name, unsorted.
    entries: Vec<HolderEntry>,
    /// The domains of [`NameIndex::clouded`].
    clouded: HashSet<Name>,
}

impl NameIndexParts<'_> {
    /// Adds the names of a row of hosts.csv; `held` is what [`name_of`] gives of its host.
    fn add_host(&mut self, place: usize, host: &Host, held: Option<NameAndRow<'_>>) {
        let by = HolderRow::Host(place as u32);
        if let Some((name, _)) = held {
            self.add(NameHolder { by, fastbone: false, now: true }, name, host.project);
        }
        match (&host.name, held) {
            (Some(name), Some((held, _))) if name == held => {}
            (Some(name), _) => self.add(NameHolder { by, fastbone: false, now: false }, name, host.project),
            (None, _) => {}
        }
    }

    /// Adds the names of the rows of names.lock for one number, of which the first is at a place; with its host.
    fn add_rows(&mut self, first: usize, rows: &[LockRow], host: Option<&Host>) {
        // A row that repeats the name in hosts.csv is not another holder.
        let given_by = host.and_then(|host| name_among(rows, host)?.1.filter(|row| row.project == host.project));
        for (place, row) in (first as u32..).zip(rows) {
            if let Some(name) = &row.name
                && given_by.is_none_or(|given_by| given_by.origin != row.origin)
            {
                let now = row.released.is_none();
                self.add(NameHolder { by: HolderRow::Lock(place), fastbone: false, now }, name, row.project);
            }
        }
    }

    /// Adds a backbone name of a holder in a project, with its fastbone name.
    fn add(&mut self, backbone: NameHolder, name: &Name, project: ProjectIndex) {
        self.entries.push(HolderEntry::new(xxh3_64(name.as_wire()), backbone));
        let Project { admin, file, .. } = &self.inventory.projects[project.0 as usize];
        let Some(settings) = file.settings() else {
            if backbone.now && admin.is_some() {
                self.clouded.extend(name.as_name().parent().map(NameRef::to_name));
            }
            return;
        };
        if settings.has_fastbone()
            && let Ok(fastbone) = settings.fastbone_name.expand(name.as_name())
        {
            let holder = NameHolder { fastbone: true, ..backbone };
            self.entries.push(HolderEntry::new(xxh3_64(fastbone.as_wire()), holder));
        }
    }
}

/// Whether a holder's name really is `name`: equal hashes alone prove nothing.
fn has_name(inventory: &Inventory, holder: NameHolder, name: NameRef<'_>) -> bool {
    let Some((backbone, project)) = backbone_of(inventory, holder) else { return false };
    let backbone = backbone.as_name();
    if !holder.fastbone {
        return backbone == name;
    }
    let settings = inventory.projects[project.0 as usize].file.settings();
    let settings = settings.filter(|settings| settings.has_fastbone());
    backbone.parent() == name.parent()
        && backbone
            .first_label()
            .zip(name.first_label())
            .zip(settings)
            .is_some_and(|((own, label), settings)| settings.fastbone_name.gives(own, label))
}

/// The name that an entry represents.
pub fn held_name(inventory: &Inventory, holder: NameHolder) -> Option<Name> {
    let (backbone, project) = backbone_of(inventory, holder)?;
    if holder.fastbone { fastbone_of(inventory, project, backbone.as_name()) } else { Some(backbone.clone()) }
}

/// The backbone name that a holder has or had, and the project in which.
fn backbone_of(inventory: &Inventory, holder: NameHolder) -> Option<(&Name, ProjectIndex)> {
    match holder.by {
        HolderRow::Host(place) => {
            let host = &inventory.hosts[place as usize];
            let name = if holder.now { name_of(inventory, host).map(|(name, _)| name) } else { host.name.as_ref() };
            Some((name?, host.project))
        }
        HolderRow::Lock(place) => {
            let row = &inventory.lock[place as usize];
            Some((row.name.as_ref()?, row.project))
        }
    }
}
