//! Items that say the same, gathered, so that a cause that many share is printed once.

use std::collections::BTreeMap;

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
