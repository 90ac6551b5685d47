//! Where to begin in a list that is sorted by hash.

use std::ops::Range;

/// For each value of the leading bits of a hash, where its entries are in a list sorted by that hash.
///
/// There are about as many values as entries, so that a look-up reads one or two of them.
#[derive(Debug)]
pub struct HashDirectory {
    /// Where the entries of each value begin; one more at the end.
    begins: Vec<u32>,
    /// How far a hash is shifted to leave its leading bits.
    shift: u32,
}

impl HashDirectory {
    /// Counts the hashes of a list, which come in any order; the list has at most 2^32 - 1 entries.
    pub fn new(hashes: impl ExactSizeIterator<Item = u64>) -> HashDirectory {
        let bits = (usize::BITS - hashes.len().leading_zeros()).max(1);
        let shift = 64 - bits;
        let mut begins = vec![0u32; (1 << bits) + 1];
        for hash in hashes {
            begins[(hash >> shift) as usize + 1] += 1;
        }
        for value in 1..begins.len() {
            begins[value] += begins[value - 1];
        }
        HashDirectory { begins, shift }
    }

    /// The part of the list that contains a hash, if the list contains it at all.
    pub fn range(&self, hash: u64) -> Range<u32> {
        let value = (hash >> self.shift) as usize;
        self.begins[value]..self.begins[value + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hash_lies_in_its_range() {
        let hashes = [0, 7, 7, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        let directory = HashDirectory::new(hashes.into_iter());
        for (place, hash) in hashes.into_iter().enumerate() {
            assert!(directory.range(hash).contains(&(place as u32)), "{hash}");
        }
        assert_eq!(HashDirectory::new(std::iter::empty()).range(u64::MAX), 0..0);
    }
}
