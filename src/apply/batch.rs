//! Pieces of units to batches that a server takes. Pure.

use std::collections::BTreeMap;
use std::ops::Add as _;

use crate::change::{Change, ChangeKind};
use crate::dns::Rtype;
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

/// Cuts pieces into batches, in their order. A piece is not cut, so that one that is over the limits is alone; but where a target
/// takes one RRset at a time, each of its changes is a piece, and where it takes one name at a time, what is of each name.
///
/// `size` gives what a change takes.
pub fn cut(
    pieces: Vec<UnitPiece>,
    (changes, limits): (&[Change], UpdateLimits),
    size: impl Fn(usize) -> EditSize,
) -> Vec<Vec<UnitPiece>> {
    let pieces = match limits {
        UpdateLimits { edits: 1, .. } => pieces.into_iter().flat_map(|piece| single(piece, changes)).collect(),
        UpdateLimits { names: 1, .. } => pieces.into_iter().flat_map(|piece| by_name(piece, changes)).collect(),
        _ => pieces,
    };
    let mut batches: Vec<Vec<UnitPiece>> = Vec::new();
    let (mut edits, mut taken) = (0, EditSize::default());
    for piece in pieces {
        let more = piece.changes.iter().map(|place| size(*place)).fold(EditSize::default(), EditSize::add);
        let fits = limits.names > 1 && limits.hold(edits + piece.changes.len(), taken + more);
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

/// Cuts a piece into what is of each name, in the order in which the names come first.
fn by_name(piece: UnitPiece, changes: &[Change]) -> Vec<UnitPiece> {
    let mut cut: Vec<UnitPiece> = Vec::new();
    for place in piece.changes {
        let owner = &changes[place].key.owner;
        match cut.iter_mut().find(|own| changes[own.changes[0]].key.owner == *owner) {
            Some(own) => own.changes.push(place),
            None => cut.push(UnitPiece { unit: piece.unit, changes: vec![place] }),
        }
    }
    cut
}

/// The place of a change among those of a piece that are made one by one. An apply may end behind each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SingleTurn {
    /// A TXT of the registry comes before the RRset that it records, so that no RRset is there without it.
    Mark,
    /// What goes at a name makes room there: a CNAME is alone at its name.
    Room,
    /// Anything else.
    Other,
    /// A TXT of the registry goes after the RRset that it recorded.
    Unmark,
}

/// Cuts a piece into its changes, in an order in which it may end behind each of them; otherwise that of the plan.
fn single(piece: UnitPiece, changes: &[Change]) -> Vec<UnitPiece> {
    let is_swapped = |change: &Change| {
        let mut others = piece.changes.iter().map(|place| &changes[*place]);
        let is_cname = change.key.rtype == Rtype::CNAME;
        let makes =
            |other: &Change| matches!(other.kind, ChangeKind::Create { .. }) && other.key.owner == change.key.owner;
        others.any(|other| makes(other) && (is_cname || other.key.rtype == Rtype::CNAME))
    };
    let turn = |place: &usize| {
        let change = &changes[*place];
        let goes = matches!(change.kind, ChangeKind::Delete { .. });
        match (change.registered().is_some(), goes) {
            (true, false) => SingleTurn::Mark,
            (true, true) => SingleTurn::Unmark,
            (false, true) if is_swapped(change) => SingleTurn::Room,
            (false, _) => SingleTurn::Other,
        }
    };
    let mut places = piece.changes.clone();
    places.sort_by_key(turn);
    places.into_iter().map(|place| UnitPiece { unit: piece.unit, changes: vec![place] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Rule;
    use crate::change::fixture::{Side, change, reason};

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
        let limits = UpdateLimits { edits: 5, octets: 100, parts: 6, names: usize::MAX };
        let size = |octets, parts| move |_| EditSize { octets, parts };
        let by_edits = cut(pieces_of(&[2, 2, 2, 7, 1]), (&[], limits), size(1, 0));
        assert_eq!(shape(&by_edits), [vec![2, 2], vec![2], vec![7], vec![1]]);
        let by_octets = cut(pieces_of(&[1, 1, 1, 1]), (&[], limits), size(40, 0));
        assert_eq!(shape(&by_octets), [vec![1, 1], vec![1, 1]]);
        let by_parts = cut(pieces_of(&[1, 1, 1, 1]), (&[], limits), size(1, 2));
        assert_eq!(shape(&by_parts), [vec![1, 1, 1], vec![1]]);
        assert_eq!(cut(Vec::new(), (&[], limits), size(1, 0)), Vec::<Vec<UnitPiece>>::new());
    }

    const NONE: Side<'static> = (0, &[]);

    const ADDRESS: Side<'static> = (600, &["2a02:6b8::1"]);

    const OTHER: Side<'static> = (600, &["2a02:6b8::2"]);

    const ALIAS: Side<'static> = (600, &["b.search.example.net"]);

    const TEXT: Side<'static> = (600, &["\"heritage=x\""]);

    /// A change at a name.
    fn by(name: &str, rtype: Rtype, sides: (Side<'_>, Side<'_>)) -> Change {
        let rule = if rtype == Rtype::TXT { Rule::Registry } else { Rule::Undo };
        change(
            ("search", Some(1)),
            (&format!("{name}.search.example.net"), rtype),
            sides,
            &[reason(rule, Some(1), &[])],
        )
    }

    /// The changes of two units, the first of which has all but the last, in the order in which they are made one by one.
    fn one_by_one(changes: &[Change]) -> Vec<String> {
        let last = changes.len() - 1;
        let pieces =
            vec![UnitPiece { unit: 0, changes: (0..last).collect() }, UnitPiece { unit: 1, changes: vec![last] }];
        let limits = UpdateLimits { edits: 1, ..UpdateLimits::NONE };
        let batches = cut(pieces, (changes, limits), |_| EditSize::default());
        let words = |batch: &Vec<UnitPiece>| {
            let [UnitPiece { unit, changes: places }] = batch.as_slice() else { panic!("{batch:?}") };
            let [place] = places.as_slice() else { panic!("{places:?}") };
            let change = &changes[*place];
            let verb = match change.kind {
                ChangeKind::Create { .. } => '+',
                ChangeKind::Modify { .. } => '~',
                ChangeKind::Delete { .. } => '-',
            };
            let owner = change.key.owner.to_string();
            format!("{unit} {verb}{} {}", change.key.rtype, owner.trim_end_matches(".search.example.net."))
        };
        batches.iter().map(words).collect()
    }

    #[test]
    fn name_by_name_the_types_of_a_name_stay_together() {
        let changes = [
            by("a", Rtype::A, (NONE, (600, &["192.0.2.1"]))),
            by("b", Rtype::AAAA, (NONE, ADDRESS)),
            by("a", Rtype::AAAA, (NONE, ADDRESS)),
            by("b", Rtype::AAAA, (NONE, ADDRESS)),
        ];
        let pieces = vec![UnitPiece { unit: 0, changes: vec![0, 1, 2] }, UnitPiece { unit: 1, changes: vec![3] }];
        let limits = UpdateLimits { names: 1, ..UpdateLimits::NONE };
        let batches = cut(pieces, (&changes, limits), |_| EditSize::default());
        let places: Vec<_> = batches.iter().flatten().map(|piece| (piece.unit, piece.changes.clone())).collect();
        assert_eq!((batches.len(), places), (3, vec![(0, vec![0, 2]), (0, vec![1]), (1, vec![3])]));
    }

    #[test]
    fn one_by_one_no_record_is_without_its_mark() {
        let changes = [
            by("a", Rtype::AAAA, (NONE, ADDRESS)),
            by("aaaa-a", Rtype::TXT, (NONE, TEXT)),
            by("aaaa-b", Rtype::TXT, (TEXT, NONE)),
            by("b", Rtype::AAAA, (ADDRESS, NONE)),
            by("c", Rtype::AAAA, (ADDRESS, OTHER)),
            by("d", Rtype::AAAA, (NONE, ADDRESS)),
        ];
        let expected = ["0 +TXT aaaa-a", "0 +AAAA a", "0 -AAAA b", "0 ~AAAA c", "0 -TXT aaaa-b", "1 +AAAA d"];
        assert_eq!(one_by_one(&changes), expected);
    }

    #[test]
    fn one_by_one_a_cname_and_others_make_room_for_each_other() {
        let changes = [
            by("a", Rtype::AAAA, (NONE, ADDRESS)),
            by("a", Rtype::CNAME, (ALIAS, NONE)),
            by("aaaa-a", Rtype::TXT, (NONE, TEXT)),
            by("cname-a", Rtype::TXT, (TEXT, NONE)),
            by("b", Rtype::CNAME, (NONE, ALIAS)),
            by("b", Rtype::AAAA, (ADDRESS, NONE)),
            by("d", Rtype::AAAA, (NONE, ADDRESS)),
        ];
        let expected =
            ["0 +TXT aaaa-a", "0 -CNAME a", "0 -AAAA b", "0 +AAAA a", "0 +CNAME b", "0 -TXT cname-a", "1 +AAAA d"];
        assert_eq!(one_by_one(&changes), expected);
    }
}
