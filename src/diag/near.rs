//! "Did you mean": what is like a word that is unknown.

/// How much like a word another must be to be suggested, from 0 to 1. A doubled, lost or swapped letter
/// in a short word passes, and two words that have nothing but a hyphen in common do not.
const LIKENESS: f64 = 0.72;

/// How many words are suggested at most.
const SUGGESTED: usize = 3;

/// The octets above which nothing is like a word: likeness takes time that grows with the square of the length.
const LONGEST: usize = 80;

/// The words of `known` that are most like `word`, at most `count`, the likest first; those that hold it as a part count too.
/// Capitals do not matter.
pub fn near<'k>(word: &str, known: impl Iterator<Item = &'k str>, count: usize) -> Vec<&'k str> {
    let word = word.to_lowercase();
    if word.len() > LONGEST {
        return Vec::new();
    }
    let mut found: Vec<(f64, &str)> =
        known.map(|known| (likeness(&word, known), known)).filter(|(like, _)| *like >= LIKENESS).collect();
    found.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    found.dedup_by_key(|(_, known)| *known);
    found.into_iter().take(count).map(|(_, known)| known).collect()
}

/// How much `known` is like a word, from 0 to 1.
fn likeness(word: &str, known: &str) -> f64 {
    match strsim::damerau_levenshtein(word, &known.to_lowercase()) {
        0 => 1.0,
        _ if word.len() > 2 && known.contains(word) => 1.0,
        // One slip in a short word changes much of it.
        1 if word.len() > 1 => LIKENESS.max(strsim::normalized_damerau_levenshtein(word, known)),
        _ => strsim::normalized_damerau_levenshtein(word, known).max(strsim::jaro_winkler(word, known) - 0.15),
    }
}

/// The hint for an unknown word: up to three known words that are like it; none where no word is.
pub fn did_you_mean<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let found = near(word, known, SUGGESTED);
    let quoted: Vec<String> = found.iter().map(|known| format!("`{known}`")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_gets_a_suggestion_and_another_word_gets_none() {
        let hint = |word: &str| did_you_mean(word, ["pool", "permission", "repair", "two"].into_iter());
        assert_eq!(hint("permision").as_deref(), Some("did you mean `permission`?"));
        assert_eq!(hint("Repair").as_deref(), Some("did you mean `repair`?"));
        assert_eq!(hint("tow").as_deref(), Some("did you mean `two`?"));
        assert_eq!(hint("colour"), None);
        assert_eq!(hint(&"x".repeat(1000)), None);
    }

    #[test]
    fn at_most_three_are_suggested() {
        let hosts: Vec<String> = (1..=9).map(|number| format!("web0{number}")).collect();
        let hint = did_you_mean("web0", hosts.iter().map(String::as_str));
        assert_eq!(hint.as_deref(), Some("did you mean `web01` or `web02` or `web03`?"));
    }
}
