//! What belongs to a host, in lists that are sorted by inventory number.
//!
//! Comes in: such a list, and a number, or hosts in their order. Goes out: where the rows of that number are, or those
//! of each host. Touches no disk.

use std::ops::Range;

use super::model::Host;
use super::value::Inv;

/// The place of the first row whose number is not lower than `inv`; `of` gives the number of a row.
///
/// The search begins where the row would be if numbers were evenly spread, as most are: in millions of rows a binary
/// search waits for memory at each step.
pub fn first_from<T>(rows: &[T], inv: Inv, of: impl Fn(&T) -> Inv) -> usize {
    let (Some(first), Some(last)) = (rows.first().map(&of), rows.last().map(&of)) else { return 0 };
    if inv <= first {
        return 0;
    }
    if inv > last {
        return rows.len();
    }
    // Above the first and not above the last, so that the share is above 0 and at most 1.
    let share = (inv.0 - first.0) as f64 / (last.0 - first.0) as f64;
    let guess = ((rows.len() - 1) as f64 * share) as usize;
    let is_lower = |place: usize| of(&rows[place]) < inv;
    let mut step = 1;
    let (mut from, mut to) = (guess, guess);
    if is_lower(guess) {
        // The last row is not lower.
        while is_lower(to) {
            (from, to) = (to + 1, (to + step).min(rows.len() - 1));
            step *= 2;
        }
    } else {
        // The first row is lower.
        while !is_lower(from) {
            (from, to) = (from.saturating_sub(step), from);
            step *= 2;
        }
    }
    from + rows[from..to].partition_point(|row| of(row) < inv)
}

/// The rows of a number.
pub fn rows_of<T>(rows: &[T], inv: Inv, of: impl Fn(&T) -> Inv) -> Range<usize> {
    let from = first_from(rows, inv, &of);
    let length = rows[from..].iter().take_while(|row| of(row) == inv).count();
    from..from + length
}

/// What of a list belongs to each of some hosts, which are sorted so too.
pub fn of_each<'i, T>(list: &'i [T], of: impl Fn(&T) -> Inv + Copy, hosts: &[Host]) -> impl Iterator<Item = &'i [T]> {
    let mut from = hosts.first().map_or(0, |host| first_from(list, host.inv, of));
    hosts.iter().map(move |host| {
        from += list[from..].iter().take_while(|item| of(item) < host.inv).count();
        let length = list[from..].iter().take_while(|item| of(item) == host.inv).count();
        &list[from..from + length]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn rows_are_found_however_their_numbers_are_spread(
            mut invs in proptest::collection::vec(0u64..60, 0..40),
            far in proptest::collection::vec(proptest::num::u64::ANY, 0..4),
            sought in proptest::collection::vec(0u64..62, 0..20),
        ) {
            invs.extend(&far);
            invs.sort_unstable();
            for inv in sought.into_iter().chain(far).chain([0, u64::MAX]) {
                let found = rows_of(&invs, Inv(inv), |own| Inv(*own));
                let first = invs.partition_point(|own| *own < inv);
                proptest::prop_assert_eq!(found.start, first);
                proptest::prop_assert_eq!(found.len(), invs.iter().filter(|own| **own == inv).count());
            }
        }
    }
}
