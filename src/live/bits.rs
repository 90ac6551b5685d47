//! Which of many things were seen, marked by several threads at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each of a number of things.
#[derive(Debug)]
pub struct Bits(Vec<AtomicU64>);

impl Bits {
    /// So many bits, none of them set.
    pub fn new(count: usize) -> Bits {
        Bits((0..count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Sets a bit.
    pub fn set(&self, number: u32) {
        self.0[number as usize / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
    }

    /// Clears a bit.
    pub fn clear(&self, number: u32) {
        self.0[number as usize / 64].fetch_and(!(1 << (number % 64)), Ordering::Relaxed);
    }

    /// Whether a bit is set. What other threads set is seen once they are joined.
    pub fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_set_and_no_other() {
        let bits = Bits::new(130);
        [0, 63, 64, 129].into_iter().for_each(|number| bits.set(number));
        let set: Vec<u32> = (0..130).filter(|number| bits.has(*number)).collect();
        assert_eq!(set, [0, 63, 64, 129]);
        bits.clear(64);
        assert!(!bits.has(64) && bits.has(63) && bits.has(129));
    }
}
