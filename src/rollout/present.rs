//! The groups, with who of them is down or in flux: that is how much room they have. Pure.

use std::collections::BTreeMap;

use super::board::GroupBoard;
use super::members::{GroupTerms, RolloutView};

/// What an export says of a pod that is down, where it is not known which of the two.
const DOWN: &str = "`dead` or `waiting`";

/// What is said of one that was so, and that the plan does not call active either.
const NOT_BACK: &str = "not back after `dead` or `waiting`";

/// The groups, with who of them is in flux.
pub fn groups<'p>(view: &RolloutView<'p>) -> Vec<GroupBoard<'p>> {
    let board = |(name, terms): (&'p String, &GroupTerms)| {
        GroupBoard::new(name, *terms, view.shut.get(name).map(String::as_str), view.now)
    };
    let mut boards: Vec<GroupBoard<'p>> = view.groups.iter().map(board).collect();
    // Who is down is unreachable, and not because of a change. It has no location: a repair goes wherever it is.
    for (subject, group) in view.down {
        if let Some(place) = place_of(&boards, group) {
            boards[place].add(subject, None, view.now);
            if let Some(seen) = view.plan.pod(subject).filter(|seen| seen.down) {
                boards[place].note_down(subject, if seen.waiting { "`waiting`" } else { "`dead`" });
            }
        }
    }
    for (subject, group) in view.fallen {
        if let Some(place) = place_of(&boards, group) {
            boards[place].add(subject, None, view.now);
            let is_back = view.plan.pod(subject).is_none_or(|seen| seen.active);
            boards[place].note_down(subject, if is_back { DOWN } else { NOT_BACK });
        }
    }
    for row in view.memory.flux.iter().filter(|row| row.is_disruptive && row.is_in_flux(view.now)) {
        if let Some(place) = place_of(&boards, &row.group) {
            let overlap = boards[place].terms.least_overlap();
            let settles = if row.is_between() {
                row.passes(overlap).unwrap_or_else(|| view.now.plus(row.settle.max(overlap))).plus(row.settle)
            } else {
                row.settles().unwrap_or_else(|| view.now.plus(row.settle))
            };
            boards[place].add(&row.subject, (!row.is_repair).then_some(row.location.as_str()), settles);
            if row.is_silent() {
                boards[place].note_silent(&row.subject);
            }
        }
    }
    boards
}

/// The place of a group; none where nothing holds for it any longer.
pub fn place_of(groups: &[GroupBoard<'_>], name: &str) -> Option<usize> {
    groups.binary_search_by(|group| group.name.cmp(name)).ok()
}

/// How many more of each group may become unreachable now; of those that have a budget.
pub fn free_places<'p>(view: &RolloutView<'p>) -> BTreeMap<&'p str, usize> {
    let with_budget = groups(view).into_iter().filter(|group| !group.terms.is_unlimited());
    with_budget.map(|group| (group.name, group.free_places())).collect()
}
