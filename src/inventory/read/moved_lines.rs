//! Which lines of a file are others than they were. Pure.
//!
//! Nearly all lines of an export are as they were an hour ago: they are skipped without a look at what they say. The result
//! explains all that differs, but is not always the shortest explanation.

use crate::dns::same_octets;
use crate::inventory::sources::LineRange;

/// How many lines behind a difference the texts are searched for the same line.
const NEAR: usize = 64;

/// How many differences are followed: where there are more, all is read anew.
const MOST: usize = 1000;

/// Lines that were replaced by others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedLines {
    /// The lines as they were; there may be none.
    pub was: LineRange,
    /// The lines in their place.
    pub is: LineRange,
}

/// A place in a text, at the beginning of a line.
#[derive(Debug, Clone, Copy)]
struct LinePlace<'t> {
    /// The text.
    text: &'t [u8],
    /// The octet.
    at: usize,
    /// The number of the line, from 1.
    line: u32,
}

impl<'t> LinePlace<'t> {
    /// The text from here on.
    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Goes on over so many octets, which end where a line ends; gives the lines.
    fn pass(&mut self, octets: usize) -> LineRange {
        let passed = &self.rest()[..octets];
        let cut = !passed.is_empty() && !passed.ends_with(b"\n");
        let count = memchr::memchr_iter(b'\n', passed).count() as u32 + u32::from(cut);
        let range = LineRange { first: self.line, count, octets: self.at..self.at + octets };
        (self.at, self.line) = (self.at + octets, self.line + count);
        range
    }

    /// The next lines with their ends, so many at most.
    fn near(&self) -> Vec<&'t [u8]> {
        self.rest().split_inclusive(|octet| *octet == b'\n').take(NEAR).collect()
    }
}

/// The lines in which two texts differ, in order; none where there are too many of them.
pub fn moved_lines(was: &[u8], is: &[u8]) -> Option<Vec<MovedLines>> {
    let start = |text| LinePlace { text, at: 0, line: 1 };
    let (mut was, mut is) = (start(was), start(is));
    let mut moved = Vec::new();
    loop {
        let (rest, other) = (was.rest(), is.rest());
        let same = same_octets(rest, other);
        let is_end = same == rest.len() && same == other.len();
        let whole = if is_end { same } else { memchr::memrchr(b'\n', &rest[..same]).map_or(0, |end| end + 1) };
        was.pass(whole);
        is.pass(whole);
        if is_end {
            return Some(moved);
        }
        let (gone, new) = (was.near(), is.near());
        let ahead =
            meeting(&gone, &new).or_else(|| (gone.len().max(new.len()) < NEAR).then_some((gone.len(), new.len())));
        let (gone_lines, new_lines) = ahead.filter(|_| moved.len() < MOST)?;
        let octets = |lines: &[&[u8]]| lines.iter().map(|line| line.len()).sum();
        let (gone, new) = (octets(&gone[..gone_lines]), octets(&new[..new_lines]));
        moved.push(MovedLines { was: was.pass(gone), is: is.pass(new) });
    }
}

/// Where two lists of lines have the nearest line that is the same: how many lines of each are before it.
fn meeting(gone: &[&[u8]], new: &[&[u8]]) -> Option<(usize, usize)> {
    let pairs = (0..gone.len() + new.len()).flat_map(|both| (0..=both).map(move |one| (one, both - one)));
    let mut pairs = pairs.filter(|(one, other)| *one < gone.len() && *other < new.len());
    pairs.find(|(one, other)| gone[*one] == new[*other])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines of a range of a text.
    fn lines<'t>(text: &'t [u8], range: &LineRange) -> &'t [u8] {
        &text[range.octets.clone()]
    }

    proptest! {
        #[test]
        fn what_moved_makes_one_text_of_the_other(
            was in proptest::collection::vec("[ab]{0,2}", 0..200),
            edits in proptest::collection::vec((0..200_usize, "[abc]{0,2}", 0..3_u8), 0..12),
            is_cut in any::<bool>(),
        ) {
            let mut is = was.clone();
            for (place, line, what) in edits {
                match what {
                    0 if place < is.len() => drop(is.remove(place)),
                    1 if place < is.len() => is[place] = line,
                    _ => is.insert(place.min(is.len()), line),
                }
            }
            let [was, mut is] = [was, is].map(|lines| lines.iter().map(|line| line.clone() + "\n").collect::<String>());
            if is_cut {
                is.pop();
            }
            let (was, is) = (was.as_bytes(), is.as_bytes());
            let moved = moved_lines(was, is).unwrap();
            let (mut made, mut at, mut shift) = (Vec::new(), 0, 0_i64);
            let number = |text: &[u8], octet: usize| memchr::memchr_iter(b'\n', &text[..octet]).count() as u32 + 1;
            for MovedLines { was: gone, is: new } in &moved {
                made.extend_from_slice(&was[at..gone.octets.start]);
                made.extend_from_slice(lines(is, new));
                at = gone.octets.end;
                prop_assert_ne!(lines(was, gone), lines(is, new));
                for (text, range) in [(was, gone), (is, new)] {
                    prop_assert!(range.octets.is_empty() || range.first == number(text, range.octets.start));
                    prop_assert_eq!(lines(text, range).split_inclusive(|octet| *octet == b'\n').count() as u32, range.count);
                }
                prop_assert_eq!(i64::from(new.first), i64::from(gone.first) + shift);
                shift += i64::from(new.count) - i64::from(gone.count);
            }
            made.extend_from_slice(&was[at..]);
            prop_assert_eq!(made, is);
        }
    }

    #[test]
    fn texts_that_have_nothing_alike_are_not_followed() {
        let text = |from: u32| (from..from + 200).map(|number| format!("{number}\n")).collect::<String>();
        assert_eq!(moved_lines(text(0).as_bytes(), text(1000).as_bytes()), None);
        assert_eq!(moved_lines(text(0).as_bytes(), text(0).as_bytes()), Some(Vec::new()));
        // Lines that are gone between lines that stay are followed as far as the search looks.
        assert_eq!(moved_lines(text(0).as_bytes(), text(10).as_bytes()).unwrap().len(), 2);
    }
}
