//! From a hash to the RRsets that may have what was hashed.

/// Pairs of (zone, RRset id) by a 64-bit hash; whoever asks compares the real values.
#[derive(Debug)]
pub struct HashIndex {
    /// Sorted by hash, then zone, then id: (hash, zone, id).
    entries: Vec<(u64, u32, u32)>,
    /// For each value of a hash's leading bits, where its entries begin; one more at the end.
    directory: Vec<u32>,
    /// How far a hash is shifted to index `directory`.
    shift: u32,
}

impl HashIndex {
    /// Orders the entries.
    pub fn new(mut entries: Vec<(u64, u32, u32)>) -> HashIndex {
        entries.sort_unstable();
        let bits = (usize::BITS - entries.len().leading_zeros()).max(1);
        let shift = 64 - bits;
        let mut directory = vec![0u32; (1 << bits) + 1];
        for (hash, _, _) in &entries {
            directory[(hash >> shift) as usize + 1] += 1;
        }
        for bucket in 1..directory.len() {
            directory[bucket] += directory[bucket - 1];
        }
        HashIndex { entries, directory, shift }
    }

    /// Everything with this hash, as (zone, id).
    pub fn find(&self, hash: u64) -> impl Iterator<Item = (u32, u32)> {
        let bucket = (hash >> self.shift) as usize;
        let range = self.directory[bucket] as usize..self.directory[bucket + 1] as usize;
        self.entries[range].iter().filter(move |entry| entry.0 == hash).map(|(_, zone, id)| (*zone, *id))
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
