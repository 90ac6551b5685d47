//! Settling names.lock after a merge: one row for each name, one name for each host, one host for each short name.
//!
//! The result depends on the rows alone, not on their order: every merge of the same branches gives the same file. Rows
//! that are bad on their own take no part, and stay unchanged.

use std::cmp::Ordering;
use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet};

use super::edit::looked_after;
use super::lock::{LockEdits, NewRow, free_name};
use super::taken::fastbone_label;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::{LockRow, ProjectIndex};
use crate::inventory::source::{is_base_marker, is_conflict_marker};
use crate::inventory::value::{Inv, Time};

#[cfg(test)]
mod tests;

/// What is settled.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// What is done to names.lock.
    pub edits: LockEdits,
    /// What was decided, by the numbers of the hosts.
    pub decided: Vec<HostDecision>,
    /// What could not be decided, by the numbers of the hosts.
    pub left: Vec<HostDecision>,
}

/// What was decided about a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostDecision {
    /// The host.
    pub inv: Inv,
    /// What and why, in words; follows the host's number.
    pub message: String,
}

/// A row, as it is or as it will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SettleRow<'a> {
    /// The name; `None` where it counts as none.
    name: Option<&'a Name>,
    /// When it was given.
    since: Time,
    /// When it was given up.
    released: Option<Time>,
    /// The project.
    project: ProjectIndex,
    /// Its text, by which rows differ that say the same; empty where it is new.
    text: &'a str,
    /// Its place in [`Inventory::lock`]; `None` where it is new.
    place: Option<usize>,
}

/// A host that has a name.
#[derive(Clone, Copy)]
struct RowHolder<'a> {
    /// The host.
    inv: Inv,
    /// Its current row.
    row: SettleRow<'a>,
}

/// Settles what the rows of names.lock say against each other; `text` is the file as it was read for `inventory`.
pub fn settle(inventory: &Inventory, text: &str, now: Time) -> Settlement {
    let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(text).lines().collect();
    let mut settling = SettlementState {
        inventory,
        now: now.to_second(),
        base: base_lines(&lines),
        lines,
        hosts: BTreeMap::new(),
        settlement: Settlement::default(),
    };
    let mut holders = Vec::new();
    let mut from = 0;
    for rows in inventory.lock.chunk_by(|a, b| a.inv == b.inv) {
        settling.settle_host(rows[0].inv, from..from + rows.len(), &mut holders);
        from += rows.len();
    }
    settling.settle_names(holders);
    settling.finish()
}

/// The lines, from 1, that git shows as they were before either side changed them.
fn base_lines(lines: &[&str]) -> BTreeSet<u32> {
    let mut base = BTreeSet::new();
    let mut is_base = false;
    for (number, line) in (1..).zip(lines) {
        if is_conflict_marker(line) {
            is_base = is_base_marker(line);
        } else if is_base {
            base.insert(number);
        }
    }
    base
}

/// The state of a settlement.
struct SettlementState<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// The clock, to the second.
    now: Time,
    /// The lines of the file.
    lines: Vec<&'a str>,
    /// The lines, from 1, that neither side of a merge wrote.
    base: BTreeSet<u32>,
    /// The rows that are not bad of the hosts of which any changes.
    hosts: BTreeMap<Inv, Vec<SettleRow<'a>>>,
    /// What was decided.
    settlement: Settlement,
}

impl<'a> SettlementState<'a> {
    /// Puts the new file together.
    fn finish(self) -> Settlement {
        let SettlementState {
            inventory, base, hosts, settlement: Settlement { mut edits, mut decided, mut left }, ..
        } = self;
        let is_base = |row: &LockRow| base.contains(&row.origin.line);
        edits.gone.extend((0..inventory.lock.len()).filter(|place| is_base(&inventory.lock[*place])));
        for (inv, rows) in hosts {
            let kept: BTreeSet<usize> = rows.iter().filter_map(|row| row.place).collect();
            let own = super::holders::lock_rows_of(inventory, inv);
            edits.gone.extend(own.filter(|place| !inventory.lock[*place].bad_itself && !kept.contains(place)));
            edits.new.extend(rows.iter().filter(|row| row.place.is_none()).filter_map(|row| {
                let name = row.name.cloned().or_else(|| free_name(inventory, inv))?;
                let project = inventory.projects[row.project.0 as usize].id.clone();
                Some(NewRow { inv, name, project, since: row.since, released: row.released })
            }));
        }
        decided.sort();
        left.sort();
        Settlement { edits, decided, left }
    }

    /// The row at a place; `None` where it is bad by itself, or no side of a merge wrote it.
    fn row(&self, place: usize) -> Option<SettleRow<'a>> {
        let LockRow { name, project, since, released, bad_itself, origin, .. } = &self.inventory.lock[place];
        if *bad_itself || self.base.contains(&origin.line) {
            return None;
        }
        let text = self.lines.get(origin.line as usize - 1).copied().unwrap_or_default();
        let (name, since) = (name.as_ref(), (*since)?);
        Some(SettleRow { name, since, released: *released, project: *project, text, place: Some(place) })
    }

    /// Settles the rows of one host among themselves, and adds those by which it has a name to `holders`.
    fn settle_host(&mut self, inv: Inv, places: std::ops::Range<usize>, holders: &mut Vec<RowHolder<'a>>) {
        let mut rows: Vec<SettleRow<'a>> = places.filter_map(|place| self.row(place)).collect();
        if rows.len() > 1 {
            let before = rows.clone();
            rows = self.one_row_a_name(inv, rows);
            rows = self.one_name(inv, rows);
            if rows != before {
                self.hosts.insert(inv, rows.clone());
            }
        }
        let current = rows.into_iter().filter(|row| row.released.is_none() && row.name.is_some());
        holders.extend(current.map(|row| RowHolder { inv, row }));
    }

    /// Leaves one row of each name of a host.
    fn one_row_a_name(&mut self, inv: Inv, mut rows: Vec<SettleRow<'a>>) -> Vec<SettleRow<'a>> {
        // By all that they say: the order of the file must not matter.
        rows.sort();
        let mut kept = Vec::with_capacity(rows.len());
        for same in rows.chunk_by(|a, b| a.name == b.name) {
            let row = match same {
                [only] => *only,
                _ => {
                    let (row, message) = self.latest(inv, same);
                    self.decide(inv, message);
                    row
                }
            };
            kept.push(row);
        }
        kept
    }

    /// The one row that replaces several rows of one host and one name, and why; they are sorted.
    fn latest(&self, inv: Inv, same: &[SettleRow<'a>]) -> (SettleRow<'a>, String) {
        let shown = shown(&same[0]);
        // A current row that has the `since` of a released one is what that was before.
        let is_stale =
            |row: &SettleRow<'a>| same.iter().any(|later| later.released.is_some() && later.since == row.since);
        let released =
            same.iter().filter(|row| row.released.is_some()).rev().max_by_key(|row| (row.released, row.since));
        let given_since = released.and_then(|row| row.released);
        let current: Vec<&SettleRow<'a>> = same
            .iter()
            .filter(|row| row.released.is_none() && !is_stale(row) && given_since.is_none_or(|time| row.since >= time))
            .collect();
        let says_same = |row: &SettleRow<'a>| (row.since, row.released, row.project);
        // Of several rows that say that the host has no name, the last counts: it gives up every name given before.
        let first = if same[0].name.is_none() { current.iter().max_by_key(|row| row.since) } else { current.first() };
        match (first, released) {
            (None, Some(row)) if same.iter().any(|row| row.released.is_none()) => {
                let released = given_since.unwrap_or(row.since);
                (*row, format!("no longer has {shown}: it gave it up at {released}, and this older row was left over"))
            }
            (None, Some(row)) if same.iter().all(|other| says_same(other) == says_same(row)) => {
                (*row, format!("gave up {shown} in {} equal rows: one stays", same.len()))
            }
            (None, Some(row)) => {
                let released = given_since.unwrap_or(row.since);
                (*row, format!("gave up {shown} several times: the last, at {released}, stays"))
            }
            (Some(first), _) => {
                let row = self.in_project(inv, first, &current);
                let message = if same.iter().all(|other| says_same(other) == says_same(first)) {
                    format!("has {shown} in {} equal rows: one stays", same.len())
                } else {
                    let project = &self.inventory.projects[row.project.0 as usize].id;
                    format!("has {shown} in one row now: since {}, in `{project}`", row.since)
                };
                (row, message)
            }
            (None, None) => unreachable!("a row is current or released, and one that is released makes others stale"),
        }
    }

    /// The first of some rows that say that a host has a name, in the project that hosts.csv confirms, where any does.
    fn in_project(&self, inv: Inv, first: &SettleRow<'a>, rows: &[&SettleRow<'a>]) -> SettleRow<'a> {
        let host = self.inventory.place_of(inv).map(|place| self.inventory.hosts[place].project);
        let project = host.filter(|project| rows.iter().any(|row| row.project == *project)).unwrap_or(first.project);
        let wanted = SettleRow { project, ..*first };
        let same_row = rows.iter().find(|row| row.since == wanted.since && row.project == wanted.project);
        same_row.map_or(SettleRow { text: "", place: None, ..wanted }, |row| **row)
    }

    /// Leaves a host one current row; `rows` hold each name once.
    ///
    /// A row of the free domain says that the host gave its name up, or has none yet. Against a name it counts only if
    /// it is newer: a release after the host got the name released the name that it had by then, on any branch; a name
    /// that was given later was given to a host without one, or renamed the host at the same time, which is not a
    /// release. Of several names the host keeps the one that it had first.
    fn one_name(&mut self, inv: Inv, rows: Vec<SettleRow<'a>>) -> Vec<SettleRow<'a>> {
        let (mut current, mut rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.released.is_none());
        if current.len() < 2 {
            rows.extend(current);
            return rows;
        }
        current.sort_by_key(|row| (row.since, row.name));
        let free = current.iter().find(|row| row.name.is_none()).copied();
        let is_later = |row: &&SettleRow<'a>| row.name.is_some() && free.is_none_or(|free| row.since >= free.since);
        let Some(keeper) = current.iter().find(is_later).copied().or(free) else { return rows };
        let is_left =
            |row: &SettleRow<'a>| row.name.is_some() && *row != keeper && self.looked_after(inv, row).is_none();
        let has_left = current.iter().any(is_left);
        for row in current {
            match (row == keeper, row.name) {
                (true, _) => rows.push(row),
                // Without it the next fix would take the older name for the one that the host had first.
                (false, None) if has_left => rows.push(row),
                (false, None) => self.decide(inv, format!("has {}: it was given after the release", shown(&keeper))),
                (false, Some(_)) => {
                    let why = match keeper.name {
                        None => format!("has no name: its release at {} came after {}", keeper.since, shown(&row)),
                        Some(_) => {
                            let why = match keeper.since.cmp(&row.since) {
                                Ordering::Less => "which it had first",
                                Ordering::Equal => "the lower one",
                                Ordering::Greater => "which it was given after a release",
                            };
                            format!("keeps {}, {why}, and gives up {}", shown(&keeper), shown(&row))
                        }
                    };
                    rows.push(self.give_up(inv, row, why));
                }
            }
        }
        rows
    }

    /// Leaves each short name one host: the one that had it first, of several the one with the lowest number.
    fn settle_names(&mut self, mut holders: Vec<RowHolder<'a>>) {
        holders.sort_by_key(|holder| (holder.row.since, holder.inv, holder.row.name));
        let mut kept: HashMap<u128, usize> = HashMap::with_capacity(holders.len());
        for place in 0..holders.len() {
            let holder = holders[place];
            let claims = self.claims(&holder);
            let others = claims.iter().filter_map(|claim| kept.get(claim)).map(|other| holders[*other]);
            let winner =
                others.filter(|other| other.inv != holder.inv).min_by_key(|other| (other.row.since, other.inv));
            match winner {
                Some(winner) => self.lose(&holder, &winner),
                None => claims.into_iter().for_each(|claim| match kept.entry(claim) {
                    Entry::Vacant(entry) => drop(entry.insert(place)),
                    Entry::Occupied(_) => {}
                }),
            }
        }
    }

    /// The short names, by their hashes as in [`super::TakenNames`], that a host has: its own and its fastbone's, in
    /// the project of the row and in that of hosts.csv.
    fn claims(&self, holder: &RowHolder<'a>) -> Vec<u128> {
        let Some(name) = holder.row.name else { return Vec::new() };
        let label = name.as_name().first_label().unwrap_or_default();
        let host = self.inventory.place_of(holder.inv).map(|place| self.inventory.hosts[place].project);
        let other = host.filter(|project| *project != holder.row.project);
        let projects = std::iter::once(holder.row.project).chain(other);
        let fastbones = projects.filter_map(|project| fastbone_label(self.inventory, project, label));
        let hash = |label: &[u8]| xxhash_rust::xxh3::xxh3_128(label);
        std::iter::once(hash(label)).chain(fastbones.map(|label| hash(&label))).collect()
    }

    /// Takes a name from a host that another host keeps.
    fn lose(&mut self, loser: &RowHolder<'a>, winner: &RowHolder<'a>) {
        let (inv, row) = (loser.inv, loser.row);
        let own = super::holders::lock_rows_of(self.inventory, inv);
        let known = self.hosts.get(&inv).cloned();
        let mut rows = known.unwrap_or_else(|| own.clone().filter_map(|place| self.row(place)).collect());
        let why = format!("gives up {}: {}", shown(&row), why(loser, winner));
        let Some(at) = rows.iter().position(|other| *other == row) else { return };
        rows[at] = self.give_up(inv, row, why);
        let is_bad_current = |place: usize| {
            let row = &self.inventory.lock[place];
            row.bad_itself && row.released.is_none()
        };
        if !rows.iter().any(|row| row.released.is_none()) && !own.into_iter().any(is_bad_current) {
            // Otherwise hosts.csv could bring the name back once the release is forgotten.
            let host = self.inventory.place_of(inv).map(|place| self.inventory.hosts[place].project);
            let project = host.unwrap_or(row.project);
            rows.push(SettleRow { name: None, since: self.now, released: None, project, text: "", place: None });
        }
        self.hosts.insert(inv, rows);
    }

    /// The row by which a host gives up a name; as it was where no row may say so.
    fn give_up(&mut self, inv: Inv, row: SettleRow<'a>, why: String) -> SettleRow<'a> {
        let Some(project) = self.looked_after(inv, &row) else {
            let message = format!(
                "{why}; but {} is in no domain of its project, so an operator must do this by hand",
                shown(&row)
            );
            self.settlement.left.push(HostDecision { inv, message });
            return row;
        };
        self.decide(inv, why);
        SettleRow { released: Some(self.now), project, text: "", place: None, ..row }
    }

    /// The project in which the records of a row's name are looked after once the host has given it up; `None` where a
    /// row that says so would be bad.
    fn looked_after(&self, inv: Inv, row: &SettleRow<'a>) -> Option<ProjectIndex> {
        let host = self.inventory.place_of(inv).map(|place| self.inventory.hosts[place].project);
        looked_after(self.inventory, row.name?, host.into_iter().chain([row.project]))
    }

    /// Notes what was decided.
    fn decide(&mut self, inv: Inv, message: String) {
        self.settlement.decided.push(HostDecision { inv, message });
    }
}

/// Why one host keeps a short name, and not another.
fn why(loser: &RowHolder<'_>, winner: &RowHolder<'_>) -> String {
    let label = |row: &SettleRow<'_>| row.name.and_then(|name| name.as_name().first_label().map(<[u8]>::to_vec));
    let (inv, name) = (winner.inv, shown(&winner.row));
    let has = match (loser.row.name == winner.row.name, label(&loser.row) == label(&winner.row)) {
        (true, _) => format!("host {inv} has it"),
        (false, true) => format!("host {inv} has {name}, the same short name,"),
        (false, false) => format!("host {inv} has {name}, and a fastbone is in the way,"),
    };
    if loser.row.since == winner.row.since {
        format!("{has} since {} as well, and has the lower number", winner.row.since)
    } else {
        format!("{has} since {}, earlier than {}", winner.row.since, loser.row.since)
    }
}

/// The name of a row, for messages.
fn shown(row: &SettleRow<'_>) -> String {
    row.name.map_or_else(|| "no name".to_owned(), |name| format!("`{name}`"))
}
