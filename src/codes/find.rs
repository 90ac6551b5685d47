//! Finds the page of a word that somebody typed or pasted.

use super::{Page, pages};

/// How much like a word another must be to be suggested, from 0 to 1. No official source: a doubled, lost or swapped letter
/// in a short code passes, and two codes that have nothing but a hyphen in common do not.
const LIKENESS: f64 = 0.72;

/// The page of a code, however it was pasted.
pub fn find(word: &str) -> Option<&'static Page> {
    let code = normalize(word);
    pages().find(|page| page.code == code)
}

/// The code in what somebody typed or pasted: `error[not-a-64]:`, a word in backticks, capitals, blanks for hyphens.
pub fn normalize(word: &str) -> String {
    let bracketed = ["error[", "warning["].iter().find_map(|start| {
        let (_, rest) = word.split_once(start)?;
        rest.split_once(']').map(|(code, _)| code)
    });
    let plain = bracketed.unwrap_or(word).to_lowercase();
    let plain = plain.trim_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = plain.split([' ', '_', '\t', '\n']).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// The words of `known` that are most like `word`, at most `count`, the likest first; those that hold it as a part count too.
pub fn near<'k>(word: &str, known: impl Iterator<Item = &'k str>, count: usize) -> Vec<&'k str> {
    let word = normalize(word);
    let like = |known: &str| match word.len() > 2 && known.contains(&word) {
        true => 1.0,
        false => strsim::normalized_damerau_levenshtein(&word, known).max(strsim::jaro_winkler(&word, known) - 0.15),
    };
    let mut found: Vec<(f64, &str)> =
        known.map(|known| (like(known), known)).filter(|(like, _)| *like >= LIKENESS).collect();
    found.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    found.dedup_by_key(|(_, known)| *known);
    found.into_iter().take(count).map(|(_, known)| known).collect()
}
