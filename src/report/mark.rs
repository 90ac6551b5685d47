//! What differs between two texts that are much alike: addresses and names.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The parts of the old and the new text that differ, as octets; joined where they touch.
pub type DifferingParts = (Vec<Range<usize>>, Vec<Range<usize>>);

/// The least share of octets that two texts must have in common, in percent. Below it nearly everything would be
/// marked, which says nothing.
const ALIKE: usize = 30;

/// Finds what differs between two texts; `None` where they are too little alike.
///
/// The unit is a label or group of digits with the separator behind it: people compare these, not letters.
pub fn differing(old: &str, new: &str) -> Option<DifferingParts> {
    let (old_pieces, new_pieces) = (pieces(old), pieces(new));
    let (mut in_old, mut in_new) = (Vec::new(), Vec::new());
    let mut common = 0;
    for op in capture_diff_slices(Algorithm::Myers, &old_pieces, &new_pieces) {
        let (from, to) = (span(&old_pieces, op.old_range()), span(&new_pieces, op.new_range()));
        if let DiffOp::Equal { .. } = op {
            common += from.len();
        } else {
            push(&mut in_old, from);
            push(&mut in_new, to);
        }
    }
    let longest = old.len().max(new.len());
    let trimmed = |text: &str, parts: Vec<Range<usize>>| parts.into_iter().map(|part| trim(text, part)).collect();
    (common * 100 >= longest * ALIKE).then(|| (trimmed(old, in_old), trimmed(new, in_new)))
}

/// Takes the separator off the end of a part, unless there is nothing else.
fn trim(text: &str, part: Range<usize>) -> Range<usize> {
    let kept = text[part.clone()].trim_end_matches(is_separator).len();
    if kept == 0 { part } else { part.start..part.start + kept }
}

/// Whether a piece ends here.
fn is_separator(c: char) -> bool {
    matches!(c, ':' | '.' | '-' | '_' | '=' | ',' | ' ')
}

/// Adds a part, unless it is empty; joins it with one that it touches.
fn push(parts: &mut Vec<Range<usize>>, part: Range<usize>) {
    match parts.last_mut() {
        _ if part.is_empty() => {}
        Some(last) if last.end == part.start => last.end = part.end,
        _ => parts.push(part),
    }
}

/// Cuts a text behind each separator.
fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive(is_separator).collect()
}

/// The octets that a run of pieces takes.
fn span(pieces: &[&str], run: Range<usize>) -> Range<usize> {
    let octets = |pieces: &[&str]| pieces.iter().map(|piece| piece.len()).sum::<usize>();
    let start = octets(&pieces[..run.start]);
    start..start + octets(&pieces[run])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that differ, in brackets.
    fn shown(old: &str, new: &str) -> Option<(String, String)> {
        let bracket = |text: &str, parts: &[Range<usize>]| {
            parts.iter().rev().fold(text.to_owned(), |mut text, part| {
                text.insert(part.end, ']');
                text.insert(part.start, '[');
                text
            })
        };
        differing(old, new).map(|(in_old, in_new)| (bracket(old, &in_old), bracket(new, &in_new)))
    }

    #[test]
    fn groups_and_labels_are_marked_whole() {
        let eui64 = "2a02:6b8:0:160b:7ae3:b5ff:fe08:9398";
        assert_eq!(
            shown(eui64, "2a02:6b8:0:160b:0:1478:b508:9398").unwrap(),
            ("2a02:6b8:0:160b:[7ae3:b5ff:fe08]:9398".into(), "2a02:6b8:0:160b:[0:1478:b508]:9398".into())
        );
        assert_eq!(
            shown("sas1-0002.example.net.", "sas1-0007.example.net.").unwrap(),
            ("sas1-[0002].example.net.".into(), "sas1-[0007].example.net.".into())
        );
        assert_eq!(shown("a.b.c.", "a.c.").unwrap(), ("a.[b].c.".into(), "a.c.".into()));
    }

    #[test]
    fn what_has_nothing_in_common_is_not_marked() {
        assert_eq!(shown("2a02:6b8::1", "fe80:1:2:3:4:5:6:7"), None);
        assert_eq!(shown("ä", "ö"), None);
    }
}
