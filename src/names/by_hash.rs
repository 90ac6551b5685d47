//! Rows that are looked up by a hash, in one piece of memory without gaps.
//!
//! Comes in: rows, each with a hash. Goes out: the few rows that contain those of one hash. Two look-ups in memory find
//! them among millions; the first one is in a table that fits into a processor's cache.

/// About how many rows are in a group.
const TOGETHER: usize = 2;

/// Into how many parts rows are sorted at first, at most, as bits: so many can be written side by side.
const PARTS: u32 = 8;

/// Rows in the order of the leading bits of their hashes; of those with the same bits in the order in which they came.
#[derive(Debug, Clone)]
pub struct ByHash<T> {
    /// The rows.
    rows: Vec<T>,
    /// Where the rows begin of each value of the leading bits of a hash; one more at the end.
    begins: Vec<u32>,
    /// How far a hash is shifted to leave those.
    shift: u32,
}

impl<T: Copy> ByHash<T> {
    /// Sorts rows by the leading bits of what `hash` gives for each.
    pub fn new(mut rows: Vec<T>, hash: impl Fn(&T) -> u64) -> ByHash<T> {
        let bits = (usize::BITS - (rows.len() / TOGETHER).leading_zeros()).max(1);
        let shift = u64::BITS - bits;
        // In two steps, so that consecutive writes are close together in memory.
        let few = bits.min(PARTS);
        let (parted, parts) = sorted(&rows, 1 << few, |row| (hash(row) >> (u64::BITS - few)) as usize);
        if few == bits {
            return ByHash { rows: parted, begins: parts, shift };
        }
        rows.clear();
        let mut whole = ByHash { rows, begins: vec![0], shift };
        let values = 1 << (bits - few);
        for part in parts.windows(2) {
            let part = &parted[part[0] as usize..part[1] as usize];
            let (part, begins) = sorted(part, values, |row| (hash(row) >> shift) as usize & (values - 1));
            let from = whole.rows.len() as u32;
            whole.begins.extend(begins[1..].iter().map(|begin| from + begin));
            whole.rows.extend(part);
        }
        whole
    }
}

impl<T> ByHash<T> {
    /// Sorts the rows of each group.
    pub fn sorted(mut self) -> ByHash<T>
    where
        T: Ord,
    {
        let ranges = self.begins.windows(2).map(|range| range[0] as usize..range[1] as usize);
        ranges.filter(|range| range.len() > 1).for_each(|range| self.rows[range].sort_unstable());
        self
    }

    /// Other rows in their place: what `carried` makes of each, in groups that it leaves in order, and new ones.
    pub fn replaced(self, carried: impl Fn(T) -> Option<T>, mut new: Vec<T>, hash: impl Fn(&T) -> u64) -> ByHash<T>
    where
        T: Copy + Ord,
    {
        let value = |row: &T| (hash(row) >> self.shift) as usize;
        new.sort_unstable_by_key(|row| value(row));
        let mut new = new.into_iter().peekable();
        let mut rows = Vec::with_capacity(self.rows.len() + new.len());
        let mut begins = Vec::with_capacity(self.begins.len());
        begins.push(0);
        for (number, group) in self.begins.windows(2).enumerate() {
            let first = rows.len();
            rows.extend(self.rows[group[0] as usize..group[1] as usize].iter().copied().filter_map(&carried));
            let before = rows.len();
            while let Some(row) = new.next_if(|row| value(row) == number) {
                rows.push(row);
            }
            if rows.len() > before {
                rows[first..].sort_unstable();
            }
            begins.push(rows.len() as u32);
        }
        ByHash { rows, begins, shift: self.shift }
    }

    /// All rows.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The rows among which are all with this hash, and a few others.
    pub fn near(&self, hash: u64) -> &[T] {
        let value = (hash >> self.shift) as usize;
        &self.rows[self.begins[value] as usize..self.begins[value + 1] as usize]
    }
}

/// Rows in the order of a value below `values`, and where those of each value begin, with one more at the end.
fn sorted<T: Copy>(rows: &[T], values: usize, value: impl Fn(&T) -> usize) -> (Vec<T>, Vec<u32>) {
    let mut begins = vec![0u32; values + 1];
    rows.iter().for_each(|row| begins[value(row) + 1] += 1);
    (1..begins.len()).for_each(|value| begins[value] += begins[value - 1]);
    let mut next = begins.clone();
    let mut sorted = rows.to_vec();
    for row in rows {
        let place = &mut next[value(row)];
        sorted[*place as usize] = *row;
        *place += 1;
    }
    (sorted, begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_of_a_hash_are_near_in_the_order_in_which_they_came() {
        let hash = |key: u64| xxhash_rust::xxh3::xxh3_64(&key.to_be_bytes());
        for count in [0, 1, 2, 3, 100, 511, 512, 5000] {
            // Every key has a row of its own, and every third two more.
            let rows: Vec<(u64, usize)> =
                (0..count).chain((0..count).step_by(3)).chain((0..count).step_by(3)).map(hash).zip(0..).collect();
            let found = ByHash::new(rows.clone(), |row| row.0);
            assert_eq!(found.rows().len(), rows.len());
            for key in 0..count + 10 {
                let own: Vec<(u64, usize)> = rows.iter().filter(|row| row.0 == hash(key)).copied().collect();
                let near = found.near(hash(key));
                assert_eq!(near.iter().filter(|row| row.0 == hash(key)).copied().collect::<Vec<_>>(), own);
                assert!(near.len() < 40, "{} of {count}", near.len());
            }
        }
    }
}
