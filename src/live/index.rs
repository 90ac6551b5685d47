//! From a hash to the RRsets that may have what was hashed.

use std::ops::Range;

use crate::dns::directory::HashDirectory;

/// Pairs of (zone, RRset id) by a 64-bit hash; the caller compares the real values.
#[derive(Debug)]
pub struct HashIndex {
    /// Sorted by hash, then zone, then id: (hash, zone, id).
    entries: Vec<(u64, u32, u32)>,
    /// Where in `entries` a hash is.
    directory: HashDirectory,
}

impl HashIndex {
    /// Orders the entries.
    pub fn new(mut entries: Vec<(u64, u32, u32)>) -> HashIndex {
        entries.sort_unstable();
        let directory = HashDirectory::new(entries.iter().map(|(hash, _, _)| *hash));
        HashIndex { entries, directory }
    }

    /// Everything, as (zone, id).
    pub fn all(&self) -> impl Iterator<Item = (u32, u32)> {
        self.entries.iter().map(|(_, zone, id)| (*zone, *id))
    }

    /// Everything with this hash, as (zone, id).
    pub fn find(&self, hash: u64) -> impl Iterator<Item = (u32, u32)> {
        let Range { start, end } = self.directory.range(hash);
        self.entries[start as usize..end as usize]
            .iter()
            .filter(move |entry| entry.0 == hash)
            .map(|(_, zone, id)| (*zone, *id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_entries_of_a_hash_are_found() {
        let index = HashIndex::new(vec![(u64::MAX, 1, 1), (7, 0, 2), (u64::MAX, 0, 9), (0, 0, 0)]);
        assert_eq!(index.find(u64::MAX).collect::<Vec<_>>(), [(0, 9), (1, 1)]);
        assert_eq!(index.find(7).collect::<Vec<_>>(), [(0, 2)]);
        assert_eq!(index.find(8).count(), 0);
        assert_eq!(HashIndex::new(Vec::new()).find(3).count(), 0);
    }
}
