//! The plainest YAML, fast: blocks of `key: value` and `- value`, as programs write manifests and zones.
//!
//! Comes in: a text. Goes out: the same trees that the parser of all YAML makes of it, or nothing where the text has anything
//! else. A large repository of manifests costs a fraction of the time. What is left out here is not wrong: it is left to that
//! parser, with all its errors.
//!
//! Source: <https://yaml.org/spec/1.2.2/>, sections 7.3 and 8.2.

use super::super::node::{SettingsKey, SettingsNode, SettingsValue};
use super::YamlDocument;
use crate::diag::{Diagnostics, FileId, Origin};

/// How deep lists and mappings may nest here.
const MAX_DEPTH: usize = 12;

/// The longest key, in octets; YAML ends at 1024 characters (section 8.2.2).
const MAX_KEY: usize = 200;

/// What is between two documents.
const BETWEEN: &str = "---";

/// What begins an item of a list.
const ITEM: &str = "- ";

/// Reads all documents of a text; none where it has more than plain blocks.
pub fn documents(file: FileId, text: &str) -> Option<Vec<YamlDocument>> {
    let is_plain = |octet: &u8| matches!(octet, b' '..=b'~' | b'\n');
    if !text.as_bytes().iter().all(is_plain) {
        return None;
    }
    let mut blocks = Blocks { file, rest: text, next_number: 1, line: None };
    blocks.advance();
    let mut documents = Vec::new();
    if blocks.line?.is_between() {
        blocks.advance();
    }
    loop {
        let root = blocks.block(0, 0)?;
        documents.push(YamlDocument { root, faults: Diagnostics::default() });
        match blocks.line {
            None => return Some(documents),
            Some(line) if line.is_between() => blocks.advance(),
            Some(_) => return None,
        }
    }
}

/// A line that says something, or what is left of it behind the beginning of a list's item.
#[derive(Clone, Copy)]
struct PlainLine<'a> {
    /// Its number in the file, from 1.
    number: u32,
    /// How many characters are before its content.
    indent: usize,
    /// What it says.
    content: &'a str,
}

impl PlainLine<'_> {
    /// Whether it is between two documents.
    fn is_between(&self) -> bool {
        self.indent == 0 && self.content == BETWEEN
    }
}

/// The lines of a text, one after another.
struct Blocks<'a> {
    /// The file.
    file: FileId,
    /// What was not read yet.
    rest: &'a str,
    /// The number of the line that comes next.
    next_number: u32,
    /// The line that is read; none at the end.
    line: Option<PlainLine<'a>>,
}

impl<'a> Blocks<'a> {
    /// Goes to the next line that is neither empty nor a comment.
    fn advance(&mut self) {
        self.line = loop {
            if self.rest.is_empty() {
                break None;
            }
            let end = memchr::memchr(b'\n', self.rest.as_bytes()).unwrap_or(self.rest.len());
            let whole = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            let number = self.next_number;
            self.next_number += 1;
            let content = whole.trim_start_matches(' ');
            if !content.is_empty() && !content.starts_with('#') {
                break Some(PlainLine { number, indent: whole.len() - content.len(), content });
            }
        };
    }

    /// Reads a list or mapping whose lines are indented like this.
    fn block(&mut self, indent: usize, depth: usize) -> Option<SettingsNode> {
        let line = self.line.filter(|line| line.indent == indent && !line.is_between() && depth < MAX_DEPTH)?;
        if line.content.starts_with(ITEM) {
            let origin = self.origin(line);
            self.list(indent, depth, origin)
        } else {
            self.mapping(indent, depth)
        }
    }

    /// Reads a list that begins at `origin`.
    fn list(&mut self, indent: usize, depth: usize, origin: Origin) -> Option<SettingsNode> {
        let mut items = Vec::new();
        while let Some(line) = self.line.filter(|line| line.indent >= indent && !line.is_between()) {
            if line.indent > indent {
                return None;
            }
            let Some(content) = line.content.strip_prefix(ITEM) else { break };
            let item = PlainLine { indent: indent + ITEM.len(), content, ..line };
            let item = if key_of(content).is_some() {
                self.line = Some(item);
                self.mapping(item.indent, depth + 1)?
            } else {
                let scalar = self.scalar(item)?;
                self.advance();
                scalar
            };
            items.push(item);
        }
        Some(SettingsNode { origin, width: 1, value: SettingsValue::List(items) })
    }

    /// Reads a mapping.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<SettingsNode> {
        if depth == MAX_DEPTH {
            return None;
        }
        let origin = self.origin(self.line?);
        let mut entries = Vec::new();
        while let Some(line) = self.line.filter(|line| line.indent >= indent && !line.is_between()) {
            if line.indent > indent {
                return None;
            }
            let (name, rest) = key_of(line.content)?;
            let key = SettingsKey { name: name.to_owned(), origin: self.origin(line), width: name.len() };
            let value = if rest.is_empty() {
                self.advance();
                let next = self.line.filter(|next| !next.is_between())?;
                match next.content.strip_prefix(ITEM) {
                    _ if next.indent > indent => self.block(next.indent, depth + 1)?,
                    // A list may be indented as its key is. The other parser has it begin at its first item's content.
                    Some(content) if next.indent == indent => {
                        let first = self.origin(PlainLine { indent: indent + ITEM.len(), content, ..next });
                        self.list(indent, depth + 1, first)?
                    }
                    _ => return None,
                }
            } else {
                let content = rest.trim_start_matches(' ');
                let at = line.content.len() - content.len();
                let scalar = self.scalar(PlainLine { indent: line.indent + at, content, ..line })?;
                self.advance();
                scalar
            };
            entries.push((key, value));
        }
        Some(SettingsNode { origin, width: 1, value: SettingsValue::Table(entries) })
    }

    /// Reads a scalar that ends with its line.
    fn scalar(&self, line: PlainLine<'_>) -> Option<SettingsNode> {
        let value = match *line.content.as_bytes().first()? {
            b'"' => SettingsValue::Text(double_quoted(line.content)?),
            b'\'' => SettingsValue::Text(single_quoted(line.content)?.to_owned()),
            _ if is_plain_scalar(line.content) => SettingsValue::Plain(line.content.to_owned()),
            _ => return None,
        };
        Some(SettingsNode { origin: self.origin(line), width: line.content.len(), value })
    }

    /// Where the content of a line begins.
    fn origin(&self, line: PlainLine<'_>) -> Origin {
        Origin { file: self.file, line: line.number, col: line.indent as u32 + 1 }
    }
}

/// The key at the beginning of a line, and what is behind its colon.
fn key_of(content: &str) -> Option<(&str, &str)> {
    let is_of_key = |octet: &u8| octet.is_ascii_alphanumeric() || matches!(octet, b'_' | b'.' | b'/' | b'-');
    let end = content.as_bytes().iter().position(|octet| !is_of_key(octet))?;
    let (name, rest) = content.split_at(end);
    let rest = rest.strip_prefix(':')?;
    let is_key = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_') && end <= MAX_KEY;
    (is_key && (rest.is_empty() || rest.starts_with(' '))).then_some((name, rest))
}

/// Whether a text is a scalar without quotes that is nothing else.
fn is_plain_scalar(text: &str) -> bool {
    let octets = text.as_bytes();
    let is_safe =
        |octet: &u8| !matches!(octet, b'"' | b'\'' | b'[' | b']' | b'{' | b'}' | b'\\' | b'`' | b'|' | b'>' | b'&');
    let is_first = |octet: &u8| octet.is_ascii_alphanumeric() || matches!(octet, b'_' | b'/');
    let is_pair_safe = |pair: &[u8]| !matches!(pair, b": " | b" #");
    octets.first().is_some_and(is_first)
        && octets.iter().all(is_safe)
        && !octets.last().is_some_and(|octet| matches!(octet, b' ' | b':'))
        && octets.windows(2).all(is_pair_safe)
}

/// The text in double quotes, where it has no escapes but of quotes and backslashes.
fn double_quoted(content: &str) -> Option<String> {
    let inner = content.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(inner.len());
    let mut octets = inner.chars();
    while let Some(c) = octets.next() {
        text.push(match c {
            '"' => return None,
            '\\' => octets.next().filter(|escaped| matches!(escaped, '"' | '\\'))?,
            other => other,
        });
    }
    Some(text)
}

/// The text in single quotes, where it has none itself.
fn single_quoted(content: &str) -> Option<&str> {
    content.strip_prefix('\'')?.strip_suffix('\'').filter(|inner| !inner.contains('\''))
}

#[cfg(test)]
mod tests {
    use super::super::{YamlDocuments, parse_all};
    use super::*;
    use crate::diag::Files;
    use crate::inventory::node::SourceText;

    /// What this makes of a text, once it is as the parser of all YAML has it; whether it made anything.
    fn agrees(text: &str) -> bool {
        let source = SourceText { file: Files::default().add("x.yaml"), text: text.into() };
        let Some(own) = documents(source.file, text) else { return false };
        let YamlDocuments { documents, broken } = parse_all(&source);
        assert!(broken.is_none(), "{text:?}: {broken:?}");
        let roots = |documents: &[YamlDocument]| documents.iter().map(|own| own.root.clone()).collect::<Vec<_>>();
        assert_eq!(roots(&own), roots(&documents), "{text:?}");
        assert!(documents.iter().all(|own| own.faults.is_empty()), "{text:?}");
        true
    }

    #[test]
    fn manifests_and_zones_are_read_as_by_the_other_parser() {
        let manifest = "# made by a program\napiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nmetadata:\n  \
                        name: web\n  annotations:\n    a.b/c: \"x: # \\\"y\\\"\"\nspec:\n  endpoints:\n  - dnsName: \
                        a.example.net\n    recordTTL: 300\n    targets:\n    - 192.0.2.1\n    - '2001:db8::1'\n\n  - \
                        dnsName: b.example.net\n    targets:\n      - web 10\n";
        for text in
            [manifest, &format!("---\n{manifest}---\n{manifest}"), "- a\n- b: 1\n  c: 2\n- 3\n", "a:\n- b\nc: d"]
        {
            assert!(agrees(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_other_parser() {
        let texts = [
            "",
            "a\n",
            "a:\n",
            "a: [1]\n",
            "a: &x 1\n",
            "a: *x\n",
            "a: !t 1\n",
            "a: |\n  b\n",
            "a: b\n  c\n",
            "a: b # c\n",
            "a: b: c\n",
            "\"a\": b\n",
            "? a\n: b\n",
            "a:\tb\n",
            "a: b\r\n",
            "a: \u{e4}\n",
            "a: 'it''s'\n",
            "a: \"\\n\"\n",
            "a: b\n...\n",
            "- - a\n",
            "a: b \n",
            "---\n---\na: b\n",
            " a: b\n",
            "a:\n  - b\n c: d\n",
            "<<: a\n",
            "-  a\n",
            "a: -\n",
            "a: ---\n",
            "a: b\n- c\n",
        ];
        for text in texts {
            let file = Files::default().add("x.yaml");
            assert!(documents(file, text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn random_texts_are_read_alike_or_left() {
        const PIECES: [&str; 24] = [
            "a: ", "b:", "key-1: ", "- ", "-", "  ", "    ", " ", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "x", "1.5",
            "a/b", "\"q\"", "'s'", "#", " #", ":", "---", "a: 1\n", "- a: 1\n",
        ];
        // Numbers that are alike in each run (Knuth, MMIX).
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut read = 0;
        for _ in 0..60_000 {
            let text: String = (0..random(14) + 1).map(|_| PIECES[random(PIECES.len())]).collect();
            read += usize::from(agrees(&text));
        }
        assert!(read > 500, "{read}");
    }
}
