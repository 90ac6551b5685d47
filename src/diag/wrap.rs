//! Text in lines of a width.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// Breaks `text` at blanks into lines of at most `width` columns, the first indented by `first`, the others by `rest`.
///
/// What is between backticks stays on one line where it fits there: a command that is broken cannot be copied. A word that
/// is wider than the line is alone on its line and exceeds it: names and addresses are never cut. There is no newline at
/// the end.
pub fn wrap(text: &str, width: usize, first: usize, rest: usize) -> String {
    let mut out = " ".repeat(first);
    let mut column = first;
    let mut fresh = true;
    for unit in units(text, width.saturating_sub(first.max(rest))) {
        let columns = unit.width();
        if !fresh && column + 1 + columns > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', rest));
            column = rest;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(&unit);
        column += columns;
        fresh = false;
    }
    out
}

/// The parts of a text that lines may not break: words, and quotes of several words that are at most `room` wide.
fn units(text: &str, room: usize) -> Vec<Cow<'_, str>> {
    let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    let mut units = Vec::with_capacity(words.len());
    let mut left = words.as_slice();
    while !left.is_empty() {
        let (group, after) = left.split_at(quoted_words(left));
        let quote = Some(group.join(" ")).filter(|quote| quote.width() <= room);
        match quote {
            Some(quote) => units.push(Cow::Owned(quote)),
            None => units.extend(group.iter().copied().map(Cow::Borrowed)),
        }
        left = after;
    }
    units
}

/// How many words there are up to the end of the quote that the first one begins; one where it begins none.
fn quoted_words(words: &[&str]) -> usize {
    let mut ticks = 0;
    let is_closed = |word: &&str| {
        ticks += word.matches('`').count();
        ticks % 2 == 0
    };
    words.iter().position(is_closed).map_or(1, |last| last + 1)
}

/// A text in lines of at most `width` columns, the first indented by `first` and the others by `rest`, as [`wrap`] breaks it;
/// as it is where one line is enough.
pub fn fit(text: &str, width: usize, first: usize, rest: usize) -> String {
    if first.saturating_add(text.width()) <= width {
        format!("{}{text}", " ".repeat(first))
    } else {
        wrap(text, width, first, rest)
    }
}
