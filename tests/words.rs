//! Plain English: no text, message or comment of this repository uses a word of `tests/words/banned.txt`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders that are read. Below `tests`, only Rust is: cases and fixtures quote other programs.
const READ: &[&str] = &[
    "CHANGELOG.md",
    "README.md",
    "benches",
    "ci",
    "docs",
    "examples",
    "inventory/README.md",
    "schemas",
    "src",
    "templates",
    "tests",
];

/// Words that our text does not use one after the other.
struct BannedPhrase {
    /// In lower case; `*` is any word.
    words: Vec<String>,
    /// One of these after the words makes them plain English.
    unless_before: Vec<String>,
    /// What to write instead.
    instead: String,
    /// Whether Rust sources may use it.
    is_for_rust: bool,
}

/// The banned phrases by their first word.
type Banned = HashMap<String, Vec<BannedPhrase>>;

/// A word of a text.
struct Word {
    /// In lower case.
    text: String,
    /// Whether it is alone between backticks or quotes, or followed by `=`, as keys are.
    is_key: bool,
    /// Counted from 1.
    line: usize,
    /// Whether only blanks, line ends and marks of comments are between it and the word before.
    is_joined: bool,
}

/// Parses `tests/words/banned.txt`.
fn parse_banned(text: &str) -> Banned {
    let mut phrases = Banned::new();
    let mut is_for_rust = false;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('[') {
            is_for_rust = line == "[outside of Rust]";
            continue;
        }
        let (phrase, instead) = line.split_once(": ").expect("a line is `words: use`");
        let (words, after) = phrase.split_once(" (").unwrap_or((phrase, ""));
        let split = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let words: Vec<String> = split(words);
        phrases.entry(words[0].clone()).or_default().push(BannedPhrase {
            words,
            unless_before: split(after.trim_end_matches(')')),
            instead: instead.to_owned(),
            is_for_rust,
        });
    }
    phrases
}

/// The words of a text. `_` and `-` join: `left-behind` and `is_told` are one word each.
fn words_of(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_joined = false;
    for (line, number) in text.lines().zip(1..) {
        let line = without_marks(line);
        let mut end = 0;
        for (start, word) in words_in(line) {
            let is_next = line[end..start].chars().all(char::is_whitespace) && (end > 0 || is_joined);
            end = start + word.len();
            let marks = (line[..start].chars().next_back(), line[end..].chars().next());
            let is_key = matches!(marks, (Some('`'), Some('`')) | (Some('"'), Some('"')) | (_, Some('=')));
            words.push(Word { text: word.to_lowercase(), is_key, line: number, is_joined: is_next });
        }
        let is_blank = line[end..].trim().is_empty();
        is_joined = is_blank && (end > 0 || is_joined);
    }
    words
}

/// A line without what makes it a comment or a part of a literal that goes on.
fn without_marks(line: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || matches!(c, '/' | '!' | '#' | '>' | '|' | '*');
    line.trim_start_matches(marks).trim_end_matches(|c: char| c.is_whitespace() || c == '\\')
}

/// The words of a line, each with where it begins.
fn words_in(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let pieces = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    pieces.filter(|piece| piece.chars().any(char::is_alphanumeric)).map(|word| {
        let start = word.as_ptr().addr() - line.as_ptr().addr();
        (start, word)
    })
}

impl BannedPhrase {
    /// Whether a text that goes on with these words goes on with the phrase.
    fn is_at(&self, words: &[Word]) -> bool {
        let Some(found) = words.get(..self.words.len()) else { return false };
        let is_same = self.words.iter().zip(found).all(|(wanted, word)| wanted == "*" || *wanted == word.text);
        let next = words.get(self.words.len()).filter(|next| next.is_joined);
        let is_excused = next.is_some_and(|next| self.unless_before.contains(&next.text));
        is_same && found[1..].iter().all(|word| word.is_joined) && !is_excused
    }
}

/// The banned phrases in a text, each as `file:line: words: use …`.
fn hits_in(path: &str, text: &str, banned: &Banned) -> Vec<String> {
    let words = words_of(text);
    let is_rust = path.ends_with(".rs");
    let mut hits = Vec::new();
    for (place, word) in words.iter().enumerate() {
        // A program reads keys: they stay as they are.
        let is_excused = |phrase: &BannedPhrase| if is_rust { phrase.is_for_rust } else { word.is_key };
        let phrases = banned.get(&word.text).into_iter().flatten().filter(|phrase| !is_excused(phrase));
        hits.extend(
            phrases
                .filter(|phrase| phrase.is_at(&words[place..]))
                .map(|phrase| format!("{path}:{}: {}: use {}", word.line, phrase.words.join(" "), phrase.instead)),
        );
    }
    hits
}

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files at or below a path, sorted.
fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the entry can be read").path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| files(path)).collect()
}

/// A path from the root of the repository, with `/`.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("it is below the root");
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The banned phrases in all that is read.
fn all_hits() -> Vec<String> {
    let banned =
        parse_banned(&fs::read_to_string(root().join("tests/words/banned.txt")).expect("the list can be read"));
    let paths = READ.iter().flat_map(|path| files(&root().join(path))).map(|path| (shown(&path), path));
    let paths = paths.filter(|(shown, _)| !shown.starts_with("tests/") || shown.ends_with(".rs"));
    // A picture is no text.
    let texts = paths.filter_map(|(shown, path)| Some((shown, fs::read_to_string(path).ok()?)));
    texts.flat_map(|(path, text)| hits_in(&path, &text, &banned)).collect()
}

#[test]
fn no_banned_words() {
    let hits = all_hits();
    assert!(hits.is_empty(), "{} banned words (tests/words/banned.txt):\n{}", hits.len(), hits.join("\n"));
}

/// The lines and phrases of the hits in a text.
fn found(path: &str, text: &str) -> Vec<String> {
    let banned =
        parse_banned("[everywhere]\nbad: x\nno less (than): x\nmakes * well: x\n[outside of Rust]\noctets: x\n");
    hits_in(path, text, &banned).into_iter().map(|hit| hit.trim_end_matches(": use x").to_owned()).collect()
}

#[test]
fn a_word_is_found_alone_and_in_any_case() {
    assert_eq!(found("a.rs", "Bad is not badly\n\"so bad.\""), ["a.rs:1: bad", "a.rs:2: bad"]);
    assert_eq!(found("a.rs", "not_bad bad-input embad"), [""; 0]);
}

#[test]
fn a_phrase_goes_on_in_the_next_line_of_a_comment_or_literal() {
    assert_eq!(found("a.rs", "    /// it is there no\n    /// less, it"), ["a.rs:1: no less"]);
    assert_eq!(found("a.rs", "\"it is there no \\\n    less\""), ["a.rs:1: no less"]);
    assert_eq!(found("a.rs", "no, less"), [""; 0]);
    assert_eq!(found("a.rs", "makes that well, makes all that well"), ["a.rs:1: makes * well"]);
}

#[test]
fn some_words_may_follow() {
    assert_eq!(found("a.rs", "no less than 3, no less\n// than 3, no less. Than"), ["a.rs:2: no less"]);
}

#[test]
fn keys_stay_as_they_are_outside_of_rust() {
    assert_eq!(found("a.service", "Bad=x \"bad\": `octets`"), [""; 0]);
    assert_eq!(found("a.rs", "`bad`"), ["a.rs:1: bad"]);
}

#[test]
fn octets_are_for_rust() {
    assert_eq!(found("a.rs", "9 octets"), [""; 0]);
    assert_eq!(found("a.md", "9 octets"), ["a.md:1: octets"]);
}
