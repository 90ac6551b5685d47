//! Rows of names.lock that contradict others, and which of them counts in the end.
//!
//! What counts is what `check --fix-lock` decides, as far as the rows alone show it.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::super::SourceTally;
use super::super::text::{RowConflict, RowFault};
use super::{LockEntry, STALE, TWO_HOLDERS, TWO_NAMES};
use crate::diag::Severity;
use crate::inventory::model::LockRow;
use crate::inventory::repeats::RepeatedHashes;

/// Finds the rows that contradict others, and marks those as bad whose order is undecided.
pub fn find(entries: &mut [LockEntry], tally: &mut SourceTally) -> [(&'static RowFault, Vec<RowConflict>); 3] {
    let mut clashes = LockClashes { entries, lost: HashMap::new() };
    let several = clashes.several();
    let stale = clashes.stale(&several);
    let by_inv = clashes.by_inv(&several);
    let by_name = clashes.by_name();
    for conflict in by_inv.iter().chain(&by_name) {
        let at = entries.binary_search_by_key(&conflict.origin, |entry| entry.row.origin);
        let entry = &mut entries[at.expect("entries are in the order of their places")];
        tally.bad += usize::from(!entry.row.bad);
        entry.row.bad = true;
    }
    [(&STALE, stale), (&TWO_NAMES, by_inv), (&TWO_HOLDERS, by_name)]
}

/// The rows, and what is known of them so far.
struct LockClashes<'e> {
    /// All rows, in the order of their places.
    entries: &'e [LockEntry],
    /// The rows that do not count, by their places in `entries`, with the reason: `host 7 keeps another name`.
    lost: HashMap<usize, String>,
}

/// Why one of two rows counts.
type ClashReason = String;

impl LockClashes<'_> {
    /// A row.
    fn row(&self, at: usize) -> &LockRow {
        &self.entries[at].row
    }

    /// The rows of hosts that have several, by host; few have.
    fn several(&self) -> Vec<usize> {
        let inv = |at: &usize| self.row(*at).inv;
        let mut rows: Vec<usize> = (0..self.entries.len()).collect();
        // Hosts have their rows next to each other in a file that was not edited by hand.
        if !self.entries.is_sorted_by_key(|entry| entry.row.inv) {
            rows.sort_by_key(inv);
        }
        rows.chunk_by(|a, b| inv(a) == inv(b)).filter(|same| same.len() > 1).flatten().copied().collect()
    }

    /// Finds current rows that have a later version: released, with the same `since`.
    fn stale(&mut self, several: &[usize]) -> Vec<RowConflict> {
        let is_good = |at: &usize| self.row(*at).name.is_some() && !self.row(*at).bad;
        let mut rows: Vec<usize> = several.iter().copied().filter(is_good).collect();
        rows.sort_by(|a, b| (self.row(*a).inv, &self.row(*a).name).cmp(&(self.row(*b).inv, &self.row(*b).name)));
        let mut conflicts = Vec::new();
        let is_same = |a: &usize, b: &usize| {
            let (a, b) = (self.row(*a), self.row(*b));
            a.inv == b.inv && a.name == b.name
        };
        let mut lost = HashMap::new();
        for same in rows.chunk_by(is_same).filter(|same| same.len() > 1) {
            for at in same.iter().filter(|at| self.row(**at).released.is_none()) {
                let row = self.row(*at);
                let is_later = |later: &&LockRow| later.released.is_some() && later.since == row.since;
                let Some(later) = same.iter().map(|at| self.row(*at)).find(is_later) else { continue };
                let (Some(name), Some(released)) = (&row.name, later.released) else { continue };
                let message = format!(
                    "host {} has `{name}` in this row, but another row says that it gave the name up at {released}",
                    row.inv
                );
                let (severity, origin) = (Severity::Warning, row.origin);
                conflicts.push(RowConflict { severity, origin, message, other: later.origin });
                lost.insert(*at, format!("host {} gave `{name}` up at {released}", row.inv));
            }
        }
        self.lost = lost;
        conflicts
    }

    /// Finds hosts with several current rows.
    fn by_inv(&mut self, several: &[usize]) -> Vec<RowConflict> {
        let current: Vec<usize> = several.iter().copied().filter(|at| self.entries[*at].current).collect();
        let mut conflicts = Vec::new();
        let mut lost = Vec::new();
        for same in current.chunk_by(|a, b| self.row(*a).inv == self.row(*b).inv).filter(|same| same.len() > 1) {
            let keeper = self.name_that_stays(same);
            let message = format!("host {} has several current rows", self.row(same[0]).inv);
            for (at, other) in with_another(same) {
                let loser = if Some(at) == keeper { other } else { at };
                let reason = keeper.filter(|keeper| *keeper != loser).map(|keeper| {
                    format!("; it keeps {}: {}", shown(self.row(keeper)), self.why_this_name(keeper, loser))
                });
                conflicts.push(self.conflict(at, other, message.clone() + &reason.unwrap_or_default()));
                if keeper.is_some_and(|keeper| keeper != at) {
                    lost.push(at);
                }
            }
        }
        for at in lost {
            let reason = format!("host {} keeps another name", self.row(at).inv);
            self.lost.entry(at).or_insert(reason);
        }
        conflicts
    }

    /// Finds names that are current in several rows.
    fn by_name(&mut self) -> Vec<RowConflict> {
        let current = (0..self.entries.len()).filter(|at| self.entries[*at].current);
        let hash = |at: usize| self.row(at).name.as_ref().map(|name| xxh3_64(name.as_wire()));
        let hashed: Vec<(usize, u64)> = current.filter_map(|at| Some((at, hash(at)?))).collect();
        let mut repeats = RepeatedHashes::new(hashed.len());
        hashed.iter().for_each(|(_, hash)| repeats.add(*hash));
        let may_repeat = hashed.iter().filter(|(_, hash)| repeats.may_hold(*hash));
        let mut current: Vec<usize> = may_repeat.map(|(at, _)| *at).collect();
        current.sort_by(|a, b| {
            let (a, b) = (self.row(*a), self.row(*b));
            (&a.name, a.origin).cmp(&(&b.name, b.origin))
        });
        let mut conflicts = Vec::new();
        let is_one_hosts = |same: &[usize]| same.iter().all(|at| self.row(*at).inv == self.row(same[0]).inv);
        let same_names = current.chunk_by(|a, b| self.row(*a).name == self.row(*b).name);
        for same in same_names.filter(|same| !is_one_hosts(same)) {
            let keeper = self.holder_that_stays(same);
            let message = format!("{} is current in several rows", shown(self.row(same[0])));
            for (at, other) in with_another(same) {
                let loser = if Some(at) == keeper { other } else { at };
                let reason = keeper.filter(|keeper| *keeper != loser).map(|keeper| {
                    format!("; host {} keeps it: {}", self.row(keeper).inv, self.why_this_host(keeper, loser))
                });
                conflicts.push(self.conflict(at, other, message.clone() + &reason.unwrap_or_default()));
            }
        }
        conflicts
    }

    /// An error of a row.
    fn conflict(&self, at: usize, other: usize, message: String) -> RowConflict {
        let other = self.row(other).origin;
        RowConflict { severity: Severity::Error, origin: self.row(at).origin, message, other }
    }

    /// Those of some rows between which is decided; none where one of them cannot be understood.
    fn candidates<'s>(&self, same: &'s [usize]) -> Vec<&'s usize> {
        if same.iter().any(|at| self.row(*at).bad) {
            return Vec::new();
        }
        same.iter().filter(|at| !self.lost.contains_key(at)).collect()
    }

    /// Which of a host's current rows stays: the one of the name that it had first, unless it was released after that.
    fn name_that_stays(&self, same: &[usize]) -> Option<usize> {
        let candidates = self.candidates(same);
        let released = candidates.iter().map(|at| self.row(**at)).filter(|row| row.name.is_none());
        let released = released.filter_map(|row| row.since).max();
        let is_later = |at: &usize| self.row(*at).name.is_some() && self.row(*at).since >= released;
        let first = candidates.iter().filter(|at| is_later(at));
        let first = first.min_by_key(|at| (self.row(***at).since, &self.row(***at).name));
        let free = candidates.iter().find(|at| self.row(***at).name.is_none());
        first.or(free).map(|at| **at)
    }

    /// Which of a name's current rows stays: that of the host that had it first, of several the lowest number's.
    fn holder_that_stays(&self, same: &[usize]) -> Option<usize> {
        let candidates = self.candidates(same);
        candidates.into_iter().min_by_key(|at| (self.row(**at).since, self.row(**at).inv)).copied()
    }

    /// Why a host keeps one name, and not another.
    fn why_this_name(&self, keeper: usize, loser: usize) -> ClashReason {
        let (own, other) = (self.row(keeper), self.row(loser));
        let (Some(since), Some(others)) = (own.since, other.since) else { return String::new() };
        if let Some(reason) = self.lost.get(&loser) {
            return reason.clone();
        }
        match (&own.name, &other.name) {
            _ if own.name == other.name => format!("one row since {since} is enough"),
            (None, _) => format!("it was released at {since}, after {others}"),
            (_, None) => format!("since {since}, no earlier than its release at {others}"),
            _ if since == others => format!("since {since} like {}, and it is the lower of the two", shown(other)),
            // An older name was left out only because the host was released in between.
            _ if since > others => {
                format!("since {since}: the host got it after a release, and {} before that release", shown(other))
            }
            _ => format!("since {since}, earlier than {others}"),
        }
    }

    /// Why one host keeps a name, and not another.
    fn why_this_host(&self, keeper: usize, loser: usize) -> ClashReason {
        let (own, other) = (self.row(keeper), self.row(loser));
        let (Some(since), Some(others)) = (own.since, other.since) else { return String::new() };
        match self.lost.get(&loser) {
            Some(reason) => reason.clone(),
            None if since == others => format!("since {since} as host {}, and has the lower number", other.inv),
            None => format!("since {since}, earlier than host {}, since {others}", other.inv),
        }
    }
}

/// Each of several rows with another of them: the first, or of the first the second.
fn with_another(same: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    same.iter().map(|at| (*at, if *at == same[0] { same[1] } else { same[0] }))
}

/// The name of a row, for messages.
fn shown(row: &LockRow) -> String {
    row.name.as_ref().map_or_else(|| "no name".to_owned(), |name| format!("`{name}`"))
}
