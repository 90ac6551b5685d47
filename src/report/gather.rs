//! Items that say the same, gathered, so that a cause that many share is printed once.

use std::collections::BTreeMap;

use crate::plan::{DelayedRrset, Plan};

/// Gathers items by a text of theirs: the groups with most items first, and of equal ones the one that begins first.
pub fn gather<'a, T>(items: &[&'a T], text: impl Fn(&'a T) -> &'a str) -> Vec<Vec<&'a T>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for item in items {
        let place = *places.entry(text(item)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(item);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// What waits to be deleted, by its times in words: what is due first comes first, and last what no apply has planned to
/// delete yet.
pub fn waits(plan: &Plan) -> Vec<(String, Vec<&DelayedRrset>)> {
    let mut sorted: Vec<&DelayedRrset> = plan.delayed.iter().collect();
    sorted.sort_by_key(|waiting| (waiting.due.is_none(), waiting.due, waiting.since));
    let of_times = |all: &[&'_ DelayedRrset]| match all[0].since.zip(all[0].due) {
        Some((since, due)) => format!("since {since}, due {due}"),
        None => "the wait begins when this plan is applied".to_owned(),
    };
    let groups = sorted.chunk_by(|a, b| (a.due, a.since) == (b.due, b.since));
    groups.map(|all| (of_times(all), all.to_vec())).collect()
}
