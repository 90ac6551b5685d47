//! In which order changes are made. Pure.
//!
//! Comes in: the changes of a plan, and what ties them. Goes out: the phase of each change.

use super::model::Phase;
use crate::change::{Change, ChangeKind};
use crate::claim::Subject;
use crate::dns::reverse;
use crate::rollout::units::ChangeTies;

/// The phase of each change. A TXT of the registry has that of the RRset that it records.
pub fn phases(changes: &[Change], tied: &ChangeTies<'_>) -> Vec<Phase> {
    let of_place = |(place, change): (usize, &Change)| {
        let leading = tied.leading(changes, place);
        match phase(leading) {
            // A CNAME is alone at its name: what goes at its name makes room for what comes, so both are in one update.
            Phase::Deletes if tied.is_swapped(changes, leading) || tied.is_swapped(changes, change) => Phase::Forward,
            phase => phase,
        }
    };
    changes.iter().enumerate().map(of_place).collect()
}

/// The phase of a change by itself. What lists pods comes after their names, and goes before them.
fn phase(change: &Change) -> Phase {
    let lists_pods = matches!(change.subject, Subject::Endpoints(_));
    match (&change.kind, reverse::is_reverse(change.zone.as_name()) || lists_pods) {
        (_, true) => Phase::Reverse,
        (ChangeKind::Delete { .. }, false) => Phase::Deletes,
        (ChangeKind::Create { .. } | ChangeKind::Modify { .. }, false) => Phase::Forward,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Rule;
    use crate::change::fixture::{Side, change, reason};
    use crate::dns::Rtype;
    use crate::rollout::units;

    /// A change of a host, or of an orphan.
    fn by(host: Option<u64>, name: &str, rtype: Rtype, sides: (Side<'_>, Side<'_>)) -> Change {
        change(("search", host), (name, rtype), sides, &[reason(Rule::Undo, host, &[])])
    }

    /// The changes of each unit, and the phases.
    fn arranged(changes: &[Change]) -> (Vec<Vec<usize>>, Vec<Phase>) {
        let tied = ChangeTies::of(changes);
        let units = units::joined(changes, &tied);
        (units.into_iter().map(|unit| unit.changes).collect(), phases(changes, &tied))
    }

    const NONE: Side<'static> = (0, &[]);

    const ADDRESS: Side<'static> = (600, &["2a02:6b8::1"]);

    const ALIAS: Side<'static> = (600, &["b.search.example.net"]);

    const TEXT: Side<'static> = (600, &["\"heritage=x\""]);

    const A: &str = "a.search.example.net";

    #[test]
    fn a_cname_and_what_it_replaces_are_one_unit_in_the_first_phase() {
        let texts = "aaaa-a.search.example.net";
        for (cname, other) in [((ALIAS, NONE), (NONE, ADDRESS)), ((NONE, ALIAS), (ADDRESS, NONE))] {
            let text = if other.0 == NONE { (NONE, TEXT) } else { (TEXT, NONE) };
            let changes = [
                by(Some(1), A, Rtype::CNAME, cname),
                by(Some(2), A, Rtype::AAAA, other),
                by(Some(2), texts, Rtype::TXT, text),
                by(Some(3), "c.search.example.net", Rtype::AAAA, (ADDRESS, NONE)),
            ];
            let expected = [Phase::Forward, Phase::Forward, Phase::Forward, Phase::Deletes];
            assert_eq!(arranged(&changes), (vec![vec![0, 1, 2], vec![3]], expected.to_vec()));
        }
        let reverse = [
            by(Some(1), "2a02:6b8::1", Rtype::CNAME, (ALIAS, NONE)),
            by(Some(2), "2a02:6b8::1", Rtype::PTR, (NONE, (600, &[A]))),
        ];
        assert_eq!(arranged(&reverse), (vec![vec![0, 1]], vec![Phase::Reverse; 2]));
    }

    #[test]
    fn a_cname_alone_and_types_that_may_stand_together_stay_apart() {
        let changes = [
            by(Some(1), A, Rtype::CNAME, (ALIAS, NONE)),
            by(Some(2), "b.search.example.net", Rtype::AAAA, (NONE, ADDRESS)),
            by(Some(3), "b.search.example.net", Rtype::TXT, (TEXT, NONE)),
        ];
        let expected = vec![Phase::Deletes, Phase::Forward, Phase::Deletes];
        assert_eq!(arranged(&changes), (vec![vec![0], vec![1], vec![2]], expected));
    }
}
