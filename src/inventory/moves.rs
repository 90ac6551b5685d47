//! Which hosts have other rows in hosts.csv than a moment before, and where the others are now. Pure.

use std::ops::Range;

use super::value::Inv;

/// A host whose rows are others now, or that is new, or gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedHost {
    /// Its number.
    pub inv: Inv,
    /// The places of its rows in [`super::Inventory::hosts`] as they were; where they would be, where there were none.
    pub was: Range<usize>,
    /// The same as they are.
    pub is: Range<usize>,
}

/// Which hosts have other rows; sorted by number, and so by place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostMoves(pub Vec<MovedHost>);

impl HostMoves {
    /// Whether no host has another row.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all others have the places that they had.
    pub fn is_in_place(&self) -> bool {
        self.0.iter().all(|moved| moved.was == moved.is)
    }

    /// Where the row that was at a place is now; none where its host has other rows now.
    pub fn place(&self, was: usize) -> Option<usize> {
        let before = self.0.partition_point(|moved| moved.was.end <= was);
        if self.0.get(before).is_some_and(|moved| moved.was.start <= was) {
            return None;
        }
        // Each of those before has moved all that are behind it.
        let last = before.checked_sub(1).map(|last| &self.0[last]);
        Some(last.map_or(was, |last| last.is.end + (was - last.was.end)))
    }

    /// The places of the hosts that have other rows, as they are.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|moved| moved.is.clone())
    }

    /// Values of all places as they were, at the places as they are; a new one for each host that has other rows.
    pub fn carry<T: Clone>(&self, values: Vec<T>, new: &T) -> Vec<T> {
        if self.is_in_place() {
            return values;
        }
        let mut carried = Vec::with_capacity(values.len() + self.0.len());
        let mut at = 0;
        for MovedHost { was, is, .. } in &self.0 {
            carried.extend_from_slice(&values[at..was.start]);
            carried.extend(is.clone().map(|_| new.clone()));
            at = was.end;
        }
        carried.extend_from_slice(&values[at..]);
        carried
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_a_place_is_found_where_it_is_now() {
        // Of a b c d e f, b becomes x, c goes, and y comes before e.
        let moved = |inv, was: Range<usize>, is: Range<usize>| MovedHost { inv: Inv(inv), was, is };
        let moves = HostMoves(vec![moved(2, 1..2, 1..2), moved(3, 2..3, 2..2), moved(5, 4..4, 3..4)]);
        let places: Vec<Option<usize>> = (0..6).map(|place| moves.place(place)).collect();
        assert_eq!(places, [Some(0), None, None, Some(2), Some(4), Some(5)]);
        let carried: String = moves.carry("abcdef".chars().collect(), &'.').into_iter().collect();
        assert_eq!(carried, "a.d.ef");
        assert_eq!(moves.places().collect::<Vec<_>>(), [1, 3]);
        assert!(!moves.is_in_place() && HostMoves::default().is_in_place());
    }
}
