//! Pieces of units to batches that a server takes. Pure.

use std::collections::BTreeMap;
use std::ops::Add as _;

use crate::target::{EditSize, UpdateLimits};

/// What of a unit belongs to one phase and zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitPiece {
    /// The unit's place among all units.
    pub unit: usize,
    /// The places of its changes in the plan, ascending; never empty.
    pub changes: Vec<usize>,
}

/// Joins the changes at these places that belong to one phase into pieces, in the order of the units.
pub fn pieces(places: &[usize], unit_of: impl Fn(usize) -> usize, belongs: impl Fn(usize) -> bool) -> Vec<UnitPiece> {
    let mut by_unit: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for place in places.iter().copied().filter(|place| belongs(*place)) {
        by_unit.entry(unit_of(place)).or_default().push(place);
    }
    by_unit.into_iter().map(|(unit, changes)| UnitPiece { unit, changes }).collect()
}

/// Cuts pieces into batches, in their order; a piece is never cut, so that one that is over the limits is alone.
///
/// `size` gives what a change takes.
pub fn cut(pieces: Vec<UnitPiece>, limits: UpdateLimits, size: impl Fn(usize) -> EditSize) -> Vec<Vec<UnitPiece>> {
    let mut batches: Vec<Vec<UnitPiece>> = Vec::new();
    let (mut edits, mut taken) = (0, EditSize::default());
    for piece in pieces {
        let more = piece.changes.iter().map(|place| size(*place)).fold(EditSize::default(), EditSize::add);
        let fits = limits.hold(edits + piece.changes.len(), taken + more);
        match batches.last_mut().filter(|_| fits) {
            Some(batch) => {
                (edits, taken) = (edits + piece.changes.len(), taken + more);
                batch.push(piece);
            }
            None => {
                (edits, taken) = (piece.changes.len(), more);
                batches.push(vec![piece]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of units with so many changes each.
    fn pieces_of(sizes: &[usize]) -> Vec<UnitPiece> {
        let piece = |(unit, size): (usize, &usize)| UnitPiece { unit, changes: (0..*size).collect() };
        sizes.iter().enumerate().map(piece).collect()
    }

    /// How many changes the pieces of each batch have.
    fn shape(batches: &[Vec<UnitPiece>]) -> Vec<Vec<usize>> {
        let sizes = |batch: &Vec<UnitPiece>| batch.iter().map(|piece| piece.changes.len()).collect();
        batches.iter().map(sizes).collect()
    }

    #[test]
    fn batches_hold_whole_units_up_to_the_limits() {
        let limits = UpdateLimits { edits: 5, octets: 100, parts: 6 };
        let size = |octets, parts| move |_| EditSize { octets, parts };
        let by_edits = cut(pieces_of(&[2, 2, 2, 7, 1]), limits, size(1, 0));
        assert_eq!(shape(&by_edits), [vec![2, 2], vec![2], vec![7], vec![1]]);
        let by_octets = cut(pieces_of(&[1, 1, 1, 1]), limits, size(40, 0));
        assert_eq!(shape(&by_octets), [vec![1, 1], vec![1, 1]]);
        let by_parts = cut(pieces_of(&[1, 1, 1, 1]), limits, size(1, 2));
        assert_eq!(shape(&by_parts), [vec![1, 1, 1], vec![1]]);
        assert_eq!(cut(Vec::new(), limits, size(1, 0)), Vec::<Vec<UnitPiece>>::new());
    }
}
