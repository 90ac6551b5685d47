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

    /// That of the list with more entries of some hashes, or fewer: each with how many; sorted by hash.
    pub fn with(&self, more: impl Iterator<Item = (u64, i32)>) -> HashDirectory {
        let mut begins = self.begins.clone();
        let (mut from, mut ahead) = (begins.len(), 0_i32);
        let shift = |begins: &mut [u32], ahead: i32| {
            begins.iter_mut().for_each(|begin| *begin = begin.wrapping_add_signed(ahead));
        };
        for (hash, count) in more {
            let to = (hash >> self.shift) as usize + 1;
            if from < to {
                shift(&mut begins[from..to], ahead);
            }
            (from, ahead) = (to, ahead + count);
        }
        if from < begins.len() {
            shift(&mut begins[from..], ahead);
        }
        HashDirectory { begins, shift: self.shift }
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
    fn a_list_with_other_entries_is_found_in_as_well() {
        let hashes: Vec<u64> = (0..100_u64).map(|number| number << 57 | number).collect();
        let directory = HashDirectory::new(hashes.iter().copied());
        // The third goes, and two more of the tenth and one of the last come.
        let other = directory.with([(hashes[2], -1), (hashes[9], 2), (hashes[99], 1)].into_iter());
        let listed = [&hashes[..2], &hashes[3..10], &[hashes[9]; 2], &hashes[10..], &[hashes[99]]].concat();
        for (place, hash) in (0..).zip(listed) {
            assert!(other.range(hash).contains(&place), "{hash:x} {place} {:?}", other.range(hash));
        }
    }

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
