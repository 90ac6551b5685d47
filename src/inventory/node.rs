//! Settings as a tree in which every key and value knows its place.
//!
//! TOML and YAML become the same tree, so that both are checked by one reader that reports everything it finds.

use std::collections::HashSet;
use std::str::FromStr;

use crate::diag::{Code, Diagnostic, Diagnostics, FileId, Origin, did_you_mean};

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsNode {
    /// Where it begins.
    pub origin: Origin,
    /// How many characters it takes on that line.
    pub width: usize,
    /// The value.
    pub value: SettingsValue,
}

/// What a value may be.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingsValue {
    /// Quoted text.
    Text(String),
    /// An unquoted YAML scalar, exactly as written: what it means depends on who reads it.
    Plain(String),
    /// A TOML integer.
    Integer(i64),
    /// A TOML boolean.
    Bool(bool),
    /// A TOML float or date, as written.
    Other(String),
    /// A list.
    List(Vec<SettingsNode>),
    /// A table or mapping, in the file's order; in settings no key twice.
    Table(Vec<(SettingsKey, SettingsNode)>),
}

/// A key with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsKey {
    /// Its text.
    pub name: String,
    /// Where it begins.
    pub origin: Origin,
    /// How many characters it takes.
    pub width: usize,
}

/// The text of a settings file, for excerpts.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// The file.
    pub file: FileId,
    /// Its content.
    pub text: String,
}

impl SourceText {
    /// An error at a place, with the line and `width` characters marked.
    ///
    /// A line that may hold a secret is not shown, and what a message quotes of it is hidden first.
    pub fn error(&self, code: impl Into<Code>, origin: Origin, width: usize, message: impl Into<String>) -> Diagnostic {
        // A value of another file may be among the settings that are judged: its line is not here.
        if origin.file != self.file {
            return Diagnostic::error(code, origin, unquoted(&message.into()));
        }
        let line = self.text.lines().nth((origin.line as usize).saturating_sub(1)).unwrap_or_default();
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if may_hold_secret(line) {
            return Diagnostic::error(code, origin, unquoted(&message.into()));
        }
        Diagnostic::error(code, origin, message).excerpt(line, width)
    }
}

/// Words on a line that may hold a secret, there rightly or by mistake.
const SENSITIVE: [&str; 8] = ["secret", "token", "tsig_key", "api_key", "password", "webh", "://", "credentials"];

/// Parts of a key, in letters of any size, whose value may be a secret even where no table has such a key.
const OF_SECRETS: [&str; 4] = ["key", "secret", "token", "password"];

/// Whether a line may hold a secret.
fn may_hold_secret(line: &str) -> bool {
    if SENSITIVE.iter().any(|word| line.contains(word)) {
        return true;
    }
    // A line may have several keys: whatever is wrong with one of them would show the values of the others.
    let mut parts = line.to_ascii_lowercase();
    parts.retain(|c| !matches!(c, ' ' | '\t' | '"' | '\''));
    let mut parts: Vec<&str> = parts.split(['=', ':']).collect();
    // What is behind the last sign is a value.
    parts.pop();
    let is_of_key = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    parts.iter().any(|part| {
        let key = part.rsplit(|c| !is_of_key(c)).next().unwrap_or_default();
        OF_SECRETS.iter().any(|word| key.contains(word))
    })
}

/// A message without the value that it quotes first, unless that is a word of ours.
fn unquoted(message: &str) -> String {
    match message.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        Some((value, rest)) if !SENSITIVE.iter().any(|word| value.contains(word)) => format!("the value{rest}"),
        _ => message.to_owned(),
    }
}

/// Up to so many keys are compared with each other; more are hashed.
const FEW_KEYS: usize = 12;

impl SettingsNode {
    /// The value of a key, where it is a table.
    pub fn get(&self, key: &str) -> Option<&SettingsNode> {
        match &self.value {
            SettingsValue::Table(entries) => entries.iter().find(|(own, _)| own.name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The first key that a mapping in it has twice, at its second place.
    pub fn key_twice(&self) -> Option<&SettingsKey> {
        match &self.value {
            SettingsValue::Table(entries) => {
                self.own_key_twice().or_else(|| entries.iter().find_map(|(_, node)| node.key_twice()))
            }
            SettingsValue::List(items) => items.iter().find_map(SettingsNode::key_twice),
            _ => None,
        }
    }

    /// The first key that the mapping itself has twice, at its second place; what is in its values is not looked at.
    pub fn own_key_twice(&self) -> Option<&SettingsKey> {
        let SettingsValue::Table(entries) = &self.value else { return None };
        if entries.len() <= FEW_KEYS {
            let is_before = |place: usize| entries[..place].iter().any(|(key, _)| key.name == entries[place].0.name);
            return (1..entries.len()).find(|place| is_before(*place)).map(|place| &entries[place].0);
        }
        let mut names = HashSet::new();
        entries.iter().map(|(key, _)| key).find(|key| !names.insert(key.name.as_str()))
    }

    /// The text of a scalar that was written as text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            SettingsValue::Text(text) | SettingsValue::Plain(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[SettingsNode]> {
        match &self.value {
            SettingsValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether there is no value: an unquoted null of YAML is not a name (YAML 1.2.2 section 10.3.2).
    pub fn is_null(&self) -> bool {
        matches!(&self.value, SettingsValue::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            SettingsValue::Text(_) | SettingsValue::Plain(_) => "text",
            SettingsValue::Integer(_) => "an integer",
            SettingsValue::Bool(_) => "a boolean",
            SettingsValue::Other(_) => "a float or date",
            SettingsValue::List(_) => "a list",
            SettingsValue::Table(_) => "a table",
        }
    }
}

/// A settings file as a tree, as far as it could be read.
#[derive(Debug)]
pub struct SettingsTree {
    /// The outermost table.
    pub root: SettingsNode,
    /// What is wrong with how it is written.
    pub faults: Diagnostics,
    /// Whether it was read to its end, so that a key that is not there is missing.
    pub whole: bool,
}

/// How many unknown keys of one table are reported: a table of nothing else is another kind of file.
const UNKNOWN_SHOWN: usize = 20;

/// Reads the keys of one table, each once, and collects what is wrong with them.
///
/// A value that cannot be used is reported and reads as absent. [`TableReader::finish`] reports the keys that no call
/// asked for.
#[derive(Debug)]
pub struct TableReader<'a> {
    /// The table.
    node: &'a SettingsNode,
    /// Its entries.
    entries: &'a [(SettingsKey, SettingsNode)],
    /// The keys that were asked for.
    known: Vec<&'static str>,
    /// The text around it.
    source: &'a SourceText,
    /// What was found so far.
    diagnostics: Diagnostics,
}

impl<'a> TableReader<'a> {
    /// Starts with a node; one that is not a table is reported and read as an empty table.
    pub fn new(node: &'a SettingsNode, source: &'a SourceText) -> TableReader<'a> {
        let mut reader =
            TableReader { node, entries: &[], known: Vec::new(), source, diagnostics: Diagnostics::default() };
        match &node.value {
            SettingsValue::Table(entries) => reader.entries = entries,
            _ => reader.wrong_type(node, "a table"),
        }
        reader
    }

    /// The text around it.
    pub fn source(&self) -> &'a SourceText {
        self.source
    }

    /// The table itself.
    pub fn node(&self) -> &'a SettingsNode {
        self.node
    }

    /// The value of a key.
    pub fn take(&mut self, key: &'static str) -> Option<&'a SettingsNode> {
        self.known.push(key);
        self.entries.iter().find(|(own, _)| own.name == key).map(|(_, node)| node)
    }

    /// A key as it is written, with its value.
    pub fn take_entry(&mut self, key: &'static str) -> Option<(&'a SettingsKey, &'a SettingsNode)> {
        self.known.push(key);
        self.entries.iter().find(|(own, _)| own.name == key).map(|(own, node)| (own, node))
    }

    /// The value of a key that must be there.
    pub fn require(&mut self, key: &'static str) -> Option<&'a SettingsNode> {
        self.require_or(key, "")
    }

    /// The value of a key that must be there; `else_what` is a further sentence of the hint, which says what to do where it has
    /// no value.
    pub fn require_or(&mut self, key: &'static str, else_what: &str) -> Option<&'a SettingsNode> {
        let node = self.take(key);
        if node.is_none() {
            let message = format!("the key `{key}` is missing");
            let diagnostic = self.source.error("missing-key", self.node.origin, self.node.width, message);
            self.diagnostics.push(diagnostic.hint(format!("add `{key}`{else_what}")));
        }
        node
    }

    /// Every entry of a table whose keys are names that the user chose.
    pub fn take_all(&mut self) -> &'a [(SettingsKey, SettingsNode)] {
        std::mem::take(&mut self.entries)
    }

    /// Text under a key.
    pub fn text(&mut self, key: &'static str) -> Option<&'a str> {
        let node = self.take(key)?;
        self.text_of(node)
    }

    /// The text of a node that must be text.
    pub fn text_of(&mut self, node: &'a SettingsNode) -> Option<&'a str> {
        self.text_or(node, "text")
    }

    /// The text of a node that must be text; `what` says what would be right.
    fn text_or(&mut self, node: &'a SettingsNode, what: &str) -> Option<&'a str> {
        let text = node.as_text().filter(|_| !node.is_null());
        if text.is_none() {
            self.wrong_type(node, what);
        }
        text
    }

    /// A value parsed from text under a key; `what` says what would be right.
    pub fn parsed<T: FromStr>(&mut self, key: &'static str, what: &str) -> Option<T> {
        let node = self.take(key)?;
        self.parse_node(node, what)
    }

    /// A value parsed from a node's text; `what` says what would be right.
    pub fn parse_node<T: FromStr>(&mut self, node: &'a SettingsNode, what: &str) -> Option<T> {
        let text = self.text_or(node, what)?;
        let value = text.parse().ok();
        if value.is_none() {
            self.error(node, "bad-value", format!("`{text}` is not {what}"));
        }
        value
    }

    /// One of several words under a key.
    pub fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let node = self.take(key)?;
        self.choice_of(node, choices)
    }

    /// One of several words that a node must be.
    pub fn choice_of<T: Copy>(&mut self, node: &'a SettingsNode, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text_of(node)?;
        let value = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if value.is_none() {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
            let message = format!("`{text}` is not one of {}", words.join(", "));
            let diagnostic = self.source.error("bad-value", node.origin, node.width, message);
            self.push(match did_you_mean(text, choices.iter().map(|(word, _)| *word)) {
                Some(near) => diagnostic.hint(near),
                None => diagnostic,
            });
        }
        value
    }

    /// A boolean under a key.
    pub fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let node = self.take(key)?;
        match &node.value {
            SettingsValue::Bool(value) => Some(*value),
            SettingsValue::Plain(text) if text == "true" => Some(true),
            SettingsValue::Plain(text) if text == "false" => Some(false),
            _ => {
                let message = not_of_type(node, "`true` or `false`");
                let diagnostic = self.source.error("wrong-type", node.origin, node.width, message);
                self.push(match node.as_text().and_then(meant_boolean) {
                    Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                    None => diagnostic,
                });
                None
            }
        }
    }

    /// A whole number under a key.
    pub fn integer(&mut self, key: &'static str) -> Option<(&'a SettingsNode, i64)> {
        let node = self.take(key)?;
        self.integer_of(node).map(|value| (node, value))
    }

    /// The whole number that a node must be.
    pub fn integer_of(&mut self, node: &SettingsNode) -> Option<i64> {
        self.integer_or(node, "a whole number")
    }

    /// The whole number that a node must be; `what` says what would be right.
    pub fn integer_or(&mut self, node: &SettingsNode, what: &str) -> Option<i64> {
        let value = match &node.value {
            SettingsValue::Integer(value) => Some(*value),
            SettingsValue::Plain(text) => text.parse().ok(),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, what);
        }
        value
    }

    /// A list under a key.
    pub fn list(&mut self, key: &'static str) -> Option<&'a [SettingsNode]> {
        let node = self.take(key)?;
        self.list_of(node)
    }

    /// The items of a node that must be a list.
    pub fn list_of(&mut self, node: &'a SettingsNode) -> Option<&'a [SettingsNode]> {
        let items = node.as_list();
        if items.is_none() {
            self.wrong_type(node, "a list");
        }
        items
    }

    /// Reports an error at a node.
    pub fn error(&mut self, node: &SettingsNode, code: impl Into<Code>, message: impl Into<String>) {
        self.push(self.source.error(code, node.origin, node.width, message));
    }

    /// Reports anything.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds what another reader found.
    pub fn append(&mut self, diagnostics: Diagnostics) {
        self.diagnostics.append(diagnostics);
    }

    /// Reports a value of the wrong type.
    pub fn wrong_type(&mut self, node: &SettingsNode, wanted: &str) {
        self.error(node, "wrong-type", not_of_type(node, wanted));
    }

    /// Reports the keys that no call asked for, and returns all that was found.
    pub fn finish(mut self) -> Diagnostics {
        // A key with its place and then its value is asked for twice.
        self.known.dedup();
        let unknown = self.entries.iter().filter(|(key, _)| !self.known.contains(&key.name.as_str()));
        for (key, _) in unknown.take(UNKNOWN_SHOWN) {
            let message = format!("this table has no key `{}`", key.name);
            let diagnostic = self.source.error("unknown-key", key.origin, key.width, message);
            self.diagnostics.push(match did_you_mean(&key.name, self.known.iter().copied()) {
                Some(near) => diagnostic.hint(near),
                None => {
                    let known: Vec<String> = self.known.iter().map(|key| format!("`{key}`")).collect();
                    diagnostic.hint(format!("its keys are {}", known.join(", ")))
                }
            });
        }
        self.diagnostics
    }
}

/// What is said of a value of the wrong type.
fn not_of_type(node: &SettingsNode, wanted: &str) -> String {
    match &node.value {
        _ if node.is_null() => format!("the value is missing: {wanted} belongs here"),
        SettingsValue::Plain(text) | SettingsValue::Other(text) => format!("`{text}` is not {wanted}"),
        SettingsValue::Integer(number) => format!("`{number}` is not {wanted}"),
        _ => format!("{} is here, but {wanted} belongs here", node.kind()),
    }
}

/// The boolean that a text means where other formats, such as YAML 1.1, have one.
fn meant_boolean(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "yes" | "y" | "on" | "true" => Some(true),
        "no" | "n" | "off" | "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;

    #[test]
    fn a_line_with_a_key_that_names_a_secret_is_not_shown() {
        for (line, is_hidden) in [
            ("access_key = \"hush\"", true),
            ("type = \"route53\", \"AccessKeyId\" : \"hush\", regoin = \"x\"", true),
            ("  sessionToken: hush", true),
            ("db-Password='hush'", true),
            ("credentials = \"hush\"", true),
            ("type = \"monkey\"", false),
            ("key", false),
        ] {
            let file = Files::default().add("x");
            let source = SourceText { file, text: line.into() };
            let found = source.error("bad-value", Origin { file, line: 1, col: 1 }, 1, "`hush` is wrong");
            let shown = (found.message.contains("hush"), found.excerpt.is_some());
            assert_eq!(shown, (!is_hidden, !is_hidden), "{line}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_reported_at_once() {
        let file = Files::default().add("x.toml");
        let at = |col| Origin { file, line: 1, col };
        let entry = |name: &str, col, value| {
            let key = SettingsKey { name: name.into(), origin: at(col), width: name.len() };
            (key, SettingsNode { origin: at(col + 4), width: 1, value })
        };
        let entries = vec![entry("one", 1, SettingsValue::Bool(true)), entry("tow", 10, SettingsValue::Integer(2))];
        let node = SettingsNode { origin: at(1), width: 1, value: SettingsValue::Table(entries) };
        let source = SourceText { file, text: "one=true tow=2\n".into() };
        let mut reader = TableReader::new(&node, &source);
        assert_eq!(reader.text("one"), None);
        assert_eq!(reader.integer("two").map(|(_, value)| value), None);
        reader.require("three");
        let found = reader.finish();
        let codes: Vec<&str> = found.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(codes, ["wrong-type", "missing-key", "unknown-key"]);
    }
}
