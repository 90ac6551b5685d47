//! Text in lines of a width.

use unicode_width::UnicodeWidthStr;

/// Breaks `text` at blanks into lines of at most `width` columns, the first indented by `first`, the others by `rest`.
///
/// A word that is wider than the line is alone on its line and exceeds it: names and addresses are never cut. There is no
/// newline at the end.
pub fn wrap(text: &str, width: usize, first: usize, rest: usize) -> String {
    let mut out = " ".repeat(first);
    let mut column = first;
    let mut fresh = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let columns = word.width();
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
        out.push_str(word);
        column += columns;
        fresh = false;
    }
    out
}

/// A text in lines of at most `width` columns, the first indented by `first` and the others by `rest`, as [`wrap`] breaks it;
/// as it is where one line is enough.
pub fn fit(text: &str, width: usize, (first, rest): (usize, usize)) -> String {
    match first.saturating_add(text.width()) <= width {
        true => format!("{}{text}", " ".repeat(first)),
        false => wrap(text, width, first, rest),
    }
}
