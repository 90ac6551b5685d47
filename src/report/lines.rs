//! The difference of two files in which hardly any line occurs twice, as a unified diff.
//!
//! Such files differ by their lines as two orders of the same cards do: the longest run that both keep is the longest
//! increasing one, found in n log n steps however much differs (M. L. Fredman, On computing the length of longest
//! increasing subsequences, 1975). A search for the shortest edit script would take as many steps as lines differ,
//! squared.

use std::collections::VecDeque;

use similar::{DiffOp, group_diff_ops};
use xxhash_rust::xxh3::xxh3_64;

use super::paint::Paint;
use crate::diag::sanitize;

/// How many lines that both files have are shown around those that differ: what `diff -u` and git show.
const CONTEXT: usize = 3;

/// What some editors begin a file with.
const MARK: &str = "\u{feff}";

/// Renders the difference, under the name of the file; empty where there is none.
pub fn unified(file: &str, old: &str, new: &str, paint: &Paint) -> String {
    if old == new {
        return String::new();
    }
    // A line ends in LF: a CR before it is part of the line, which files may differ by alone.
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.split_terminator('\n').collect(), new.split_terminator('\n').collect());
    let mut out = String::new();
    let mut line = |(style, sign): (&str, &str), text: &str| {
        let off = if style.is_empty() { "" } else { &paint.off };
        out.extend([style, sign]);
        // Without the tabs between fields, the mark at the beginning of a file and the CR at the end of a line, none of
        // which harms a terminal, the difference could not be applied.
        let (mark, text) = text.strip_prefix(MARK).map_or(("", text), |text| (MARK, text));
        let (text, end) = text.strip_suffix('\r').map_or((text, "\n"), |text| (text, "\r\n"));
        out.push_str(mark);
        if text.bytes().all(|octet| (b' '..=b'~').contains(&octet) || octet == b'\t') {
            out.push_str(text);
        } else {
            let fields: Vec<String> = text.split('\t').map(sanitize).collect();
            out.push_str(&fields.join("\t"));
        }
        out.extend([off, end]);
    };
    line(("", "--- "), if old.is_empty() { "/dev/null" } else { file });
    line(("", "+++ "), file);
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let old_span = span(first.old_range().start, last.old_range().end);
        let new_span = span(first.new_range().start, last.new_range().end);
        line((&paint.head, ""), &format!("@@ -{old_span} +{new_span} @@"));
        for operation in hunk {
            if let DiffOp::Equal { .. } = operation {
                new[operation.new_range()].iter().for_each(|text| line(("", " "), text));
                continue;
            }
            old[operation.old_range()].iter().for_each(|text| line((&paint.delete, "-"), text));
            new[operation.new_range()].iter().for_each(|text| line((&paint.create, "+"), text));
        }
    }
    out
}

/// A range of lines as hunks name it: the first, from 1, and how many; of none the line before (POSIX, `diff -u`).
fn span(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    }
}

/// What makes the new file of the old one.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut operations = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    let mut kept = kept(old, new);
    kept.push((old.len(), new.len()));
    for (old_index, new_index) in kept {
        if old_index > at_old || new_index > at_new {
            operations.push(DiffOp::Replace {
                old_index: at_old,
                old_len: old_index - at_old,
                new_index: at_new,
                new_len: new_index - at_new,
            });
        }
        if old_index < old.len() && new_index < new.len() {
            match operations.last_mut() {
                Some(DiffOp::Equal { len, .. }) => *len += 1,
                _ => operations.push(DiffOp::Equal { old_index, new_index, len: 1 }),
            }
        }
        (at_old, at_new) = (old_index + 1, new_index + 1);
    }
    operations
}

/// The lines that both files keep in one order: their places in the old and the new one, both increasing.
fn kept(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    only_more(old, new).unwrap_or_else(|| longest(&pairs(old, new)))
}

/// What is kept where the new file has all lines of the old one in their order, and perhaps more; `None` otherwise.
fn only_more(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    let mut kept = Vec::with_capacity(old.len());
    for (at_new, text) in new.iter().enumerate() {
        if old.get(kept.len()) == Some(text) {
            kept.push((kept.len(), at_new));
        }
    }
    (kept.len() == old.len()).then_some(kept)
}

/// The lines that both files have, the n-th of equal lines in one with the n-th of them in the other; sorted by their
/// places in the new file.
fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    // Sorted by hash and joined: in a table of millions of lines each look-up would wait for memory.
    let (mut of_old, mut of_new) = (by_hash(old).into_iter().peekable(), by_hash(new).into_iter().peekable());
    let mut partners: Vec<Option<usize>> = vec![None; new.len()];
    let mut same_hash = VecDeque::new();
    while let Some((hash, _)) = of_old.peek().copied() {
        same_hash.clear();
        same_hash.extend(std::iter::from_fn(|| of_old.next_if(|line| line.0 == hash)).map(|(_, place)| place));
        while of_new.next_if(|line| line.0 < hash).is_some() {}
        while let Some((_, at_new)) = of_new.next_if(|line| line.0 == hash) {
            if let Some(first) = same_hash.iter().position(|at_old| old[*at_old] == new[at_new]) {
                partners[at_new] = same_hash.remove(first);
            }
        }
    }
    let partners = partners.into_iter().enumerate();
    partners.filter_map(|(at_new, at_old)| at_old.map(|at_old| (at_old, at_new))).collect()
}

/// The lines by their hashes, each with its place; sorted.
fn by_hash(lines: &[&str]) -> Vec<(u64, usize)> {
    let hashes = lines.iter().map(|text| xxh3_64(text.as_bytes()));
    let mut sorted: Vec<(u64, usize)> = hashes.zip(0..).collect();
    sorted.sort_unstable();
    sorted
}

/// The longest run of pairs, which are sorted by their second places, in which the first ones increase too.
fn longest(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair that ends the run of n + 1 pairs whose end is lowest so far; `before` leads back.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (at_old, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *at_old);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut run: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |number| before[*number]).map(|number| pairs[number]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The difference without colour.
    fn shown(old: &str, new: &str) -> String {
        unified("names.lock", old, new, &Paint::new(false))
    }

    #[test]
    fn equal_files_have_no_difference() {
        assert_eq!(shown("a\nb\n", "a\nb\n"), "");
    }

    #[test]
    fn lines_are_shown_with_their_neighbours() {
        let old: String = (0..20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("10\n", "10\nx\n").replace("\n2\n", "\n");
        insta::assert_snapshot!(shown(&old, &new), @r"
        --- names.lock
        +++ names.lock
        @@ -1,6 +1,5 @@
         0
         1
        -2
         3
         4
         5
        @@ -9,6 +8,7 @@
         8
         9
         10
        +x
         11
         12
         13
        ");
    }

    #[test]
    fn a_new_file_is_all_new_lines() {
        insta::assert_snapshot!(shown("", "a\n"), @r"
        --- /dev/null
        +++ names.lock
        @@ -0,0 +1 @@
        +a
        ");
    }

    #[test]
    fn a_line_that_moves_goes_and_comes() {
        insta::assert_snapshot!(shown("c\na\nb\n", "a\nb\nc\n"), @r"
        --- names.lock
        +++ names.lock
        @@ -1,3 +1,3 @@
        -c
         a
         b
        +c
        ");
    }

    #[test]
    fn how_lines_end_and_the_mark_at_the_beginning_are_shown() {
        let old = "\u{feff}b\tx\r\na\r\n";
        let text = "--- names.lock\n+++ names.lock\n@@ -1,2 +1,2 @@\n-\u{feff}b\tx\r\n-a\r\n+a\n+b\tx\n";
        assert_eq!(shown(old, "a\nb\tx\n"), text);
        assert_eq!(shown("a\u{feff}\rb\n", ""), "--- names.lock\n+++ names.lock\n@@ -1 +0,0 @@\n-a\\u{feff}\\u{d}b\n");
    }

    proptest::proptest! {
        #[test]
        fn the_difference_makes_the_new_file_of_the_old_one(
            old in proptest::collection::vec(0u8..12, 0..24),
            new in proptest::collection::vec(0u8..12, 0..24),
        ) {
            let texts = |lines: &[u8]| lines.iter().map(u8::to_string).collect::<Vec<_>>();
            let (old, new) = (texts(&old), texts(&new));
            let (old, new): (Vec<&str>, Vec<&str>) =
                (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
            let mut made: Vec<&str> = Vec::new();
            let mut at = 0;
            for operation in operations(&old, &new) {
                proptest::prop_assert_eq!(operation.old_range().start, at);
                at = operation.old_range().end;
                match operation {
                    DiffOp::Equal { .. } => made.extend(&old[operation.old_range()]),
                    _ => made.extend(&new[operation.new_range()]),
                }
            }
            proptest::prop_assert_eq!(at, old.len());
            proptest::prop_assert_eq!(made, new);
        }
    }
}
