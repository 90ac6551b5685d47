//! Pieces of units to batches that a server takes. Pure.

use std::collections::BTreeMap;

use crate::target::UpdateLimits;

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
/// `octets` gives the size of a change.
pub fn cut(pieces: Vec<UnitPiece>, limits: UpdateLimits, octets: impl Fn(usize) -> usize) -> Vec<Vec<UnitPiece>> {
    let mut batches: Vec<Vec<UnitPiece>> = Vec::new();
    let (mut edits, mut size) = (0usize, 0usize);
    for piece in pieces {
        let more: usize = piece.changes.iter().map(|place| octets(*place)).sum();
        let fits =
            edits.saturating_add(piece.changes.len()) <= limits.edits && size.saturating_add(more) <= limits.octets;
        match batches.last_mut().filter(|_| fits) {
            Some(batch) => {
                (edits, size) = (edits + piece.changes.len(), size + more);
                batch.push(piece);
            }
            None => {
                (edits, size) = (piece.changes.len(), more);
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
        let limits = UpdateLimits { edits: 5, octets: 100 };
        let by_edits = cut(pieces_of(&[2, 2, 2, 7, 1]), limits, |_| 1);
        assert_eq!(shape(&by_edits), [vec![2, 2], vec![2], vec![7], vec![1]]);
        let by_octets = cut(pieces_of(&[1, 1, 1, 1]), limits, |_| 40);
        assert_eq!(shape(&by_octets), [vec![1, 1], vec![1, 1]]);
        assert_eq!(cut(Vec::new(), limits, |_| 1), Vec::<Vec<UnitPiece>>::new());
    }
}
