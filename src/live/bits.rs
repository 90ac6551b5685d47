//! Which of many things were seen, marked by several threads at once.

use std::ops::Range;
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

    /// Sets the bits from `own` on as `other` has those of a range.
    pub fn take(&self, other: &Bits, range: Range<u32>, own: u32) {
        let (mut from, mut to) = (range.start, own);
        while from < range.end {
            let count = (64 - to % 64).min(range.end - from);
            self.0[to as usize / 64].fetch_or(other.some(from, count) << (to % 64), Ordering::Relaxed);
            (from, to) = (from + count, to + count);
        }
    }

    /// So many bits from one on, at most 64; the others are not set.
    fn some(&self, from: u32, count: u32) -> u64 {
        let word = |at: usize| self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
        let (at, skipped) = (from as usize / 64, from % 64);
        let both = (u128::from(word(at + 1)) << 64 | u128::from(word(at))) >> skipped;
        both as u64 & (u64::MAX >> (64 - count))
    }

    /// The first bit of a range that is not set.
    pub fn first_unset(&self, range: Range<u32>) -> Option<u32> {
        let mut from = range.start;
        while from < range.end {
            let count = (64 - from % 64).min(range.end - from);
            let unset = !self.some(from, count) & (u64::MAX >> (64 - count));
            if unset != 0 {
                return Some(from + unset.trailing_zeros());
            }
            from += count;
        }
        None
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

    #[test]
    fn bits_are_taken_from_any_place_to_any_place() {
        let is_set = |number: u32| number.is_multiple_of(5) || (130..200).contains(&number);
        let all = Bits::new(400);
        (0..400).filter(|number| is_set(*number)).for_each(|number| all.set(number));
        for (range, own) in
            [(0..400, 0), (3..399, 0), (0..1, 63), (64..128, 1), (100..250, 100), (70..70, 5), (1..200, 199)]
        {
            let taken = Bits::new(400);
            taken.take(&all, range.clone(), own);
            for number in 0..400 {
                let from = (number + range.start).checked_sub(own).filter(|from| range.contains(from));
                assert_eq!(taken.has(number), number >= own && from.is_some_and(is_set), "{range:?} {own} {number}");
            }
        }
    }

    #[test]
    fn the_first_bit_that_is_not_set_is_found() {
        let bits = Bits::new(300);
        (0..300).filter(|number| ![70, 200].contains(number)).for_each(|number| bits.set(number));
        assert_eq!(
            [bits.first_unset(0..300), bits.first_unset(71..300), bits.first_unset(201..300)],
            [Some(70), Some(200), None]
        );
        assert_eq!(
            [bits.first_unset(70..70), bits.first_unset(60..70), bits.first_unset(200..201)],
            [None, None, Some(200)]
        );
    }
}
