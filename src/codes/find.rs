//! Finds the page of a word that a user typed or pasted.

use super::{CodePage, pages};

/// The page of a code, however it was pasted.
pub fn find(word: &str) -> Option<&'static CodePage> {
    let code = normalize(word);
    pages().find(|page| page.code == code)
}

/// The code in what a user typed or pasted: `error[not-a-64]:`, a word in backticks, capitals, blanks for hyphens.
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
