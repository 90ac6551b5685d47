//! Parts of a page within a number of octets.
//!
//! Comes in: parts that can be shown with any number of their items, the most important part first. Goes out: each part
//! with as many items as there is room for. A part is shown whole or with fewer items, never torn.

/// A part of a page.
pub struct PagePart<'a> {
    /// What it is, for the reader of a report that leaves it out.
    pub name: &'static str,
    /// How many items it has.
    pub items: usize,
    /// How much of the room that is left it may take, in percent, before the less important ones take theirs.
    pub share: usize,
    /// The part with the first so many items, and how many more there are; empty where there is nothing to say.
    pub text: Box<dyn Fn(usize) -> String + 'a>,
}

/// A part as it is shown.
#[derive(Debug, Default)]
pub struct FittedPart {
    /// The text; empty where the part is left out.
    pub text: String,
    /// How many items are in it.
    pub items: usize,
}

/// Fits parts into `room`, with what joins them. Each gets what remains after the least that every less important part
/// needs.
///
/// Goes out: the parts in the same order, and the names of those that are left out.
pub fn fit(parts: &[PagePart<'_>], room: usize) -> (Vec<FittedPart>, Vec<&'static str>) {
    let least: Vec<usize> = parts.iter().map(|part| joined(&(part.text)(0))).collect();
    let (mut left, mut later) = (room, least.iter().sum::<usize>());
    let (mut fitted, mut dropped) = (Vec::with_capacity(parts.len()), Vec::new());
    for (part, least) in parts.iter().zip(least) {
        later -= least;
        let room = left.min((left.saturating_sub(later) * part.share / 100).max(least));
        let (items, text) = largest(part.items, |items| {
            let text = (part.text)(items);
            (joined(&text) <= room).then_some(text)
        })
        .unwrap_or_default();
        if text.is_empty() && least > 0 {
            dropped.push(part.name);
        }
        left -= joined(&text);
        fitted.push(FittedPart { text, items });
    }
    (fitted, dropped)
}

/// The octets that a part takes with the blank line before the next one.
pub fn joined(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.len() + 1 }
}

/// The greatest number up to `most` of which `make` makes something, with that. If `make` fits a number, it fits all
/// lower ones; only `most` may fit where a lower one does not, because it does not say what is left out.
pub fn largest<T>(most: usize, make: impl Fn(usize) -> Option<T>) -> Option<(usize, T)> {
    if let Some(all) = make(most) {
        return Some((most, all));
    }
    let (mut fits, mut too_many) = (None, most);
    while too_many > fits.as_ref().map_or(0, |(number, _)| number + 1) {
        let low = fits.as_ref().map_or(0, |(number, _)| number + 1);
        let middle = low + (too_many - low) / 2;
        match make(middle) {
            Some(made) => fits = Some((middle, made)),
            None => too_many = middle,
        }
    }
    fits
}

/// Shares `room` by needs: small needs are met, and all others get the same share.
pub fn shared(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|place| needs[*place]);
    let mut shares = vec![0; needs.len()];
    let mut left = room;
    for (done, place) in order.into_iter().enumerate() {
        shares[place] = needs[place].min(left / (needs.len() - done));
        left -= shares[place];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of lines of two octets, and one for those that are left out.
    fn part(name: &'static str, items: usize, share: usize) -> PagePart<'static> {
        let text = move |shown: usize| {
            let more = if shown < items { format!("{} more\n", items - shown) } else { String::new() };
            "-\n".repeat(shown) + &more
        };
        PagePart { name, items, share, text: Box::new(text) }
    }

    #[test]
    fn what_is_more_important_gets_more_and_leaves_the_least_to_others() {
        let parts = [part("first", 10, 50), part("second", 9, 100)];
        let (whole, dropped) = fit(&parts, 100);
        assert_eq!((whole[0].items, whole[1].items, dropped.len()), (10, 9, 0));
        let (cut, dropped) = fit(&parts, 40);
        assert_eq!((cut[0].items, cut[1].items, dropped.len()), (4, 9, 0), "{cut:?}");
        let (cut, dropped) = fit(&parts, 16);
        assert_eq!((cut[0].text.as_str(), cut[1].text.as_str(), dropped), ("10 more\n", "", vec!["second"]));
        let (cut, dropped) = fit(&parts, 0);
        assert_eq!((cut[0].text.as_str(), dropped), ("", vec!["first", "second"]));
    }

    #[test]
    fn the_largest_number_that_fits_is_found() {
        for limit in 0..=8 {
            let found = largest(7, |number| (number <= limit).then_some(()));
            assert_eq!(found, Some((limit.min(7), ())));
        }
        assert_eq!(largest(7, |_| None::<()>), None);
        assert_eq!(largest(0, |_| Some('a')), Some((0, 'a')));
    }

    #[test]
    fn who_needs_little_gets_it_and_others_share_alike() {
        assert_eq!(shared(&[100, 2, 100], 52), [25, 2, 25]);
        assert_eq!(shared(&[1, 2, 3], 100), [1, 2, 3]);
        assert_eq!(shared(&[5, 5], 0), [0, 0]);
        assert!(shared(&[], 9).is_empty());
    }
}
