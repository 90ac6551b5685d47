//! Which of many keys may occur several times, found with little memory where most occur once.
//!
//! Comes in: the hashes of all keys, twice. Goes out: those that may belong to keys that occur several times. Touches
//! no disk.

/// How many bits there are for each key: one key in about as many looks like a repeat by chance, and is then compared.
const BITS_PER_KEY: usize = 16;

/// The hashes that occur several times among many, and some others.
#[derive(Debug)]
pub struct RepeatedHashes {
    /// A bit for each place of a hash: whether any was seen there.
    once: Vec<u64>,
    /// The same: whether several were.
    again: Vec<u64>,
    /// How far a hash is shifted to leave its place.
    shift: u32,
}

impl RepeatedHashes {
    /// Expects about so many hashes.
    pub fn new(expected: usize) -> RepeatedHashes {
        let places = (expected * BITS_PER_KEY).next_power_of_two().max(64);
        let words = vec![0; places / 64];
        RepeatedHashes { once: words.clone(), again: words, shift: 64 - places.trailing_zeros() }
    }

    /// Adds the hash of one key.
    pub fn add(&mut self, hash: u64) {
        let (word, bit) = self.place(hash);
        self.again[word] |= self.once[word] & bit;
        self.once[word] |= bit;
    }

    /// Whether the key with this hash may occur several times among those that were added.
    pub fn may_hold(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.again[word] & bit != 0
    }

    /// The word and the bit of a hash.
    fn place(&self, hash: u64) -> (usize, u64) {
        let place = hash >> self.shift;
        ((place / 64) as usize, 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_twice_is_always_found_and_little_else() {
        let hash = |key: u64| xxhash_rust::xxh3::xxh3_64(&key.to_be_bytes());
        let keys = || (0..1000).chain([7, 500, 999, 7]);
        let mut repeats = RepeatedHashes::new(1000);
        keys().for_each(|key| repeats.add(hash(key)));
        assert!([7, 500, 999].iter().all(|key| repeats.may_hold(hash(*key))));
        assert!((0..1000).filter(|key| repeats.may_hold(hash(*key))).count() < 150);
        assert!(!RepeatedHashes::new(0).may_hold(u64::MAX));
    }
}
