//! YAML to trees: the plain part of it that settings and files of records need. JSON is a part of YAML.
//!
//! Scalars stay as they are written, so that `12e5` is not a number until a reader asks for one. Everything that makes
//! YAML mean more than its text shows is refused: anchors, aliases, tags, merge keys; in settings several documents, too.

mod plain;

use std::collections::HashSet;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::node::{SettingsKey, SettingsNode, SettingsTree, SettingsValue, SourceText};
use super::place::TextPlaces;
use crate::diag::{Code, Diagnostic, Diagnostics};

/// How deep lists and mappings may nest: twice what a project file needs.
const MAX_DEPTH: usize = 16;

/// How deep they may nest in files with several documents: those of other kinds may be anything.
const MAX_DEPTH_OF_SEVERAL: usize = 100;

/// How many faults of one file are reported.
const MAX_FAULTS: usize = 50;

/// One document of a file.
#[derive(Debug)]
pub struct YamlDocument {
    /// Its outermost value.
    pub root: SettingsNode,
    /// What is refused in it: none of it can be relied on, then.
    pub faults: Diagnostics,
}

/// The documents of a file, as far as it could be read.
#[derive(Debug)]
pub struct YamlDocuments {
    /// Those that could be read to their ends.
    pub documents: Vec<YamlDocument>,
    /// What ended the reading early.
    pub broken: Option<Diagnostic>,
}

/// Parses all documents of a file; what is refused in one concerns no other.
///
/// Source: <https://yaml.org/spec/1.2.2/>.
pub fn parse_documents(source: &SourceText) -> YamlDocuments {
    match plain::documents(source.file, &source.text) {
        Some(documents) => YamlDocuments { documents, broken: None },
        None => parse_all(source),
    }
}

/// Parses all documents of a file, whatever YAML they have.
fn parse_all(source: &SourceText) -> YamlDocuments {
    let mut builder = TreeBuilder::new(source, true);
    let mut documents = Vec::new();
    for event in Parser::new_from_str_with_options(&source.text, parser_options(MAX_DEPTH_OF_SEVERAL)) {
        match event {
            Ok((Event::DocumentEnd, _)) => {
                let faults = std::mem::take(&mut builder.faults);
                documents.extend(builder.root.take().map(|root| YamlDocument { root, faults }));
            }
            Ok((event, span)) => {
                builder.take(event, span);
            }
            Err(error) => {
                builder.faults = Diagnostics::default();
                builder.syntax(&error);
                return YamlDocuments { documents, broken: builder.faults.iter().next().cloned() };
            }
        }
    }
    YamlDocuments { documents, broken: None }
}

/// The options of the parser, with a limit to nesting. Aliases are not resolved, so that none can grow.
fn parser_options(depth: usize) -> granit_parser::Options {
    granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        block_nesting_limit: depth,
        flow_nesting_limit: depth,
    }
}

/// Parses a YAML document; reports every construct that is refused, and the first fault of syntax, where reading ends.
///
/// Source: <https://yaml.org/spec/1.2.2/>.
pub fn parse(source: &SourceText) -> SettingsTree {
    let mut builder = TreeBuilder::new(source, false);
    let mut whole = true;
    for event in Parser::new_from_str_with_options(&source.text, parser_options(MAX_DEPTH)) {
        let more = match event {
            Ok((event, span)) => builder.take(event, span),
            Err(error) => builder.syntax(&error),
        };
        if !more {
            whole = false;
            break;
        }
    }
    builder.finish(whole)
}

/// A list or mapping whose end has not come yet.
struct OpenNode {
    /// Its place.
    range: Range<usize>,
    /// What it holds so far.
    content: OpenContent,
}

/// What an open list or mapping holds.
enum OpenContent {
    /// A list's items.
    List(Vec<SettingsNode>),
    /// A mapping's entries.
    Table {
        /// Those that are complete.
        entries: Vec<(SettingsKey, SettingsNode)>,
        /// The keys that were seen.
        names: HashSet<String>,
        /// The key whose value comes next.
        key: Option<SettingsKey>,
        /// Whether the value that comes next has a key that cannot be used.
        dropped: bool,
    },
}

/// Makes a tree of events.
struct TreeBuilder<'a> {
    /// The text.
    source: &'a SourceText,
    /// Its lines.
    places: TextPlaces<'a>,
    /// The lists and mappings around the next value, outermost first; at most [`MAX_DEPTH`].
    open: Vec<OpenNode>,
    /// The outermost value.
    root: Option<SettingsNode>,
    /// How many documents began.
    documents: usize,
    /// Whether there may be several, and reading goes on after what is refused.
    several: bool,
    /// What is wrong.
    faults: Diagnostics,
}

impl<'a> TreeBuilder<'a> {
    /// Starts on a text.
    fn new(source: &'a SourceText, several: bool) -> TreeBuilder<'a> {
        let places = TextPlaces::new(source.file, &source.text);
        let (open, faults) = (Vec::new(), Diagnostics::default());
        TreeBuilder { source, places, open, root: None, documents: 0, several, faults }
    }

    /// Adds one event; `false` ends the reading.
    fn take(&mut self, event: Event<'_>, span: Span) -> bool {
        let range = span.byte_range().unwrap_or_default();
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 && !self.several {
                    self.refuse(range, "yaml-documents", "a second document begins", "keep one document in each file");
                    return false;
                }
            }
            // Reading ends at the first of these: a file that has one may have as many as it has octets.
            Event::Anchor(..) => {
                self.refuse(range, "yaml-anchor", "anchors are refused", "write the value out");
                return false;
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.refuse(range.clone(), "yaml-alias", "aliases are refused", "write the value out");
                // What takes the place of the value keeps keys and values in step.
                self.scalar(range, SettingsValue::Plain(String::new()));
                return false;
            }
            Event::Scalar(text, style, _, tag) => {
                self.check_tag(tag.as_deref(), &span);
                let plain = style == ScalarStyle::Plain;
                if plain && text == "<<" && self.wants_key() {
                    self.refuse(range.clone(), "yaml-merge-key", "merge keys are refused", "write the keys out");
                }
                let text = text.into_owned();
                self.scalar(range, if plain { SettingsValue::Plain(text) } else { SettingsValue::Text(text) });
            }
            Event::SequenceStart(_, _, tag) => {
                self.check_tag(tag.as_deref(), &span);
                return self.begin(range, OpenContent::List(Vec::new()));
            }
            Event::MappingStart(_, _, tag) => {
                self.check_tag(tag.as_deref(), &span);
                let (entries, names) = (Vec::new(), HashSet::new());
                return self.begin(range, OpenContent::Table { entries, names, key: None, dropped: false });
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => {}
        }
        self.faults.error_count() < MAX_FAULTS
    }

    /// Whether the next scalar would be a key.
    fn wants_key(&self) -> bool {
        let content = self.open.last().map(|open| &open.content);
        matches!(content, Some(OpenContent::Table { key: None, dropped: false, .. }))
    }

    /// Adds a scalar, as a key or as a value.
    fn scalar(&mut self, range: Range<usize>, value: SettingsValue) {
        let (origin, width) = (self.places.origin(range.start), self.places.width(range.clone()));
        let node = SettingsNode { origin, width, value };
        if !self.wants_key() {
            return self.put(node);
        }
        let name = match node.value {
            SettingsValue::Plain(name) | SettingsValue::Text(name) => name,
            _ => String::new(),
        };
        let Some(OpenNode { content: OpenContent::Table { names, key, dropped, .. }, .. }) = self.open.last_mut()
        else {
            return;
        };
        // In files of several documents who reads a mapping says which entry a key spoils that is there twice.
        if self.several || names.insert(name.clone()) {
            *key = Some(SettingsKey { name, origin, width });
        } else {
            *dropped = true;
            self.refuse(range, "duplicate-key", "the key is in this mapping twice", "keep one of them");
        }
    }

    /// Opens a list or mapping; `false` ends the reading.
    fn begin(&mut self, range: Range<usize>, content: OpenContent) -> bool {
        if !self.several && self.open.len() == MAX_DEPTH {
            self.too_deep(range);
            return false;
        }
        if self.wants_key() {
            self.refuse(range.clone(), "yaml-key", "a key is a list or mapping", "use text as the key");
            if !self.several {
                return false;
            }
        }
        self.open.push(OpenNode { range, content });
        self.faults.error_count() < MAX_FAULTS
    }

    /// Closes the innermost list or mapping.
    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            let (origin, width) = (self.places.origin(open.range.start), self.places.width(open.range));
            let value = match open.content {
                OpenContent::List(items) => SettingsValue::List(items),
                OpenContent::Table { entries, .. } => SettingsValue::Table(entries),
            };
            self.put(SettingsNode { origin, width, value });
        }
    }

    /// Puts a whole value where it belongs.
    fn put(&mut self, node: SettingsNode) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(OpenContent::List(items)) => items.push(node),
            Some(OpenContent::Table { entries, key, dropped, .. }) => match key.take() {
                Some(key) => entries.push((key, node)),
                // The value of a key that cannot be used; or such a key itself, whose value comes next.
                None => *dropped = !*dropped,
            },
        }
    }

    /// Refuses a tag.
    fn check_tag(&mut self, tag: Option<&Tag>, span: &Span) {
        if tag.is_some() {
            let range = span.tag_span().and_then(|tag| tag.byte_range()).or(span.byte_range()).unwrap_or_default();
            self.refuse(range, "yaml-tag", "tags are refused", "leave the tag out");
        }
    }

    /// Reports where the syntax is wrong, and ends the reading.
    fn syntax(&mut self, error: &ScanError) -> bool {
        let at = error.marker().byte_offset().unwrap_or_default();
        match error.kind() {
            ErrorKind::RecursionLimitExceeded => self.too_deep(at..at),
            kind => {
                let origin = self.places.origin(at);
                self.faults.push(self.source.error("yaml-syntax", origin, 1, kind.to_string()));
            }
        }
        false
    }

    /// Reports nesting that is too deep.
    fn too_deep(&mut self, range: Range<usize>) {
        let message = format!("lists and mappings nest deeper than {MAX_DEPTH}");
        self.refuse(range, "yaml-too-deep", &message, "no setting needs such depth");
    }

    /// Reports what is refused; no more than a person reads.
    fn refuse(&mut self, range: Range<usize>, code: impl Into<Code>, message: &str, hint: &str) {
        if self.faults.error_count() >= MAX_FAULTS {
            return;
        }
        let (origin, width) = (self.places.origin(range.start), self.places.width(range));
        let diagnostic: Diagnostic = self.source.error(code, origin, width, message);
        self.faults.push(diagnostic.rule(RULE).hint(hint));
    }

    /// Closes what is still open, and gives the tree.
    fn finish(mut self, whole: bool) -> SettingsTree {
        while !self.open.is_empty() {
            self.end();
        }
        let origin = self.places.origin(0);
        let empty = SettingsNode { origin, width: 1, value: SettingsValue::Table(Vec::new()) };
        SettingsTree { root: self.root.unwrap_or(empty), faults: self.faults, whole }
    }
}

/// The rule that refused constructs break.
const RULE: &str = "zonewright reads only YAML whose text shows what it means";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Files, render};

    fn parsed(text: &str) -> (Files, SettingsTree) {
        let mut files = Files::default();
        let source = SourceText { file: files.add("x.yaml"), text: text.into() };
        (files, parse(&source))
    }

    fn codes(text: &str) -> Vec<&'static str> {
        parsed(text).1.faults.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    #[test]
    fn scalars_stay_as_written() {
        let (_, parsed) = parsed("id: 12e5\nq: \"12e5\"\nl: [0x1, 010]\nempty:\n");
        assert!(parsed.whole && parsed.faults.is_empty());
        let SettingsValue::Table(entries) = &parsed.root.value else { panic!("the root is a mapping") };
        assert_eq!(entries[0].1.value, SettingsValue::Plain("12e5".into()));
        assert_eq!(entries[1].1.value, SettingsValue::Text("12e5".into()));
        assert!(
            matches!(&entries[2].1.value, SettingsValue::List(items) if items[1].value == SettingsValue::Plain("010".into()))
        );
        assert_eq!(entries[3].1.value, SettingsValue::Plain("~".into()));
        assert_eq!((entries[2].0.origin.line, entries[2].1.origin.col), (3, 4));
    }

    #[test]
    fn what_means_more_than_it_shows_is_refused() {
        let text = "id: one\nz: !!str 1\n<<: {m: 1}\nid: two\n---\nid: three\n";
        let (files, parsed) = parsed(text);
        assert!(!parsed.whole);
        insta::assert_snapshot!(render(&parsed.faults, &files), @r"
        x.yaml:2:4: error[yaml-tag]: tags are refused
          2 | z: !!str 1
            |    ^^^^^
            = rule: zonewright reads only YAML whose text shows what it means (zonewright help yaml-tag)
            = hint: leave the tag out
        x.yaml:3:1: error[yaml-merge-key]: merge keys are refused
          3 | <<: {m: 1}
            | ^^
            = rule: zonewright reads only YAML whose text shows what it means (zonewright help yaml-merge-key)
            = hint: write the keys out
        x.yaml:4:1: error[duplicate-key]: the key is in this mapping twice
          4 | id: two
            | ^^
            = rule: zonewright reads only YAML whose text shows what it means (zonewright help duplicate-key)
            = hint: keep one of them
        x.yaml:5:1: error[yaml-documents]: a second document begins
          5 | ---
            = rule: zonewright reads only YAML whose text shows what it means (zonewright help yaml-documents)
            = hint: keep one document in each file
        ");
        let SettingsValue::Table(entries) = &parsed.root.value else { panic!("the root is a mapping") };
        assert_eq!(entries[0].1.as_text(), Some("one"));
    }

    #[test]
    fn of_several_documents_one_that_is_refused_spoils_no_other() {
        let text = "a: &x 1\nb: *x\n? [k]\n: v\nc: 1\nc: 2\n---\na: 2\n---\n{\"a\": [\n\t3]}\n---\n- - [\n";
        let source = SourceText { file: Files::default().add("x.yaml"), text: text.into() };
        let YamlDocuments { documents, broken } = parse_documents(&source);
        let codes =
            |document: &YamlDocument| document.faults.iter().map(|found| found.code.as_str()).collect::<Vec<_>>();
        let all: Vec<_> = documents.iter().map(codes).collect();
        assert_eq!(all, [vec!["yaml-anchor", "yaml-alias", "yaml-key"], vec![], vec![]]);
        assert_eq!(documents[0].root.key_twice().map(|key| key.origin.line), Some(6));
        assert_eq!(documents[0].root.get("c").and_then(SettingsNode::as_text), Some("1"));
        assert!(matches!(&documents[2].root.get("a").unwrap().value, SettingsValue::List(items) if items.len() == 1));
        assert_eq!(broken.map(|found| (found.code.as_str(), found.origin.line)), Some(("yaml-syntax", 13)));
    }

    #[test]
    fn bombs_in_files_of_several_documents_do_not_grow() {
        let mut bomb = String::from("a0: &a0 x\n");
        for level in 1..60 {
            bomb += &format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1);
        }
        let source = SourceText { file: Files::default().add("x.yaml"), text: bomb };
        let YamlDocuments { documents, broken } = parse_documents(&source);
        assert!(broken.is_none() && documents.len() == 1 && documents[0].faults.error_count() == MAX_FAULTS);
        let source = SourceText { text: "[".repeat(500_000), ..source };
        assert_eq!(parse_documents(&source).broken.unwrap().code.as_str(), "yaml-too-deep");
    }

    #[test]
    fn reading_ends_at_the_first_anchor_or_alias() {
        for (text, code) in [("id: &a search\nx: *a\n<<: *a\n", "yaml-anchor"), ("x: *a\nid: &a b\n", "yaml-alias")] {
            assert!(!parsed(text).1.whole);
            assert_eq!(codes(text), [code]);
        }
        // 600 kB of them: each would cost a fault with its line.
        assert_eq!(codes(&format!("a: [{}x]\n", "*b,".repeat(200_000))), ["yaml-alias"]);
        assert_eq!(codes(&format!("a: [{}x]\n", "&b c,".repeat(120_000))), ["yaml-anchor"]);
    }

    #[test]
    fn bombs_and_depths_end_early() {
        let mut bomb = String::from("a0: &a0 x\n");
        for level in 1..60 {
            bomb += &format!("a{level}: &a{level} [*a{0}, *a{0}]\n", level - 1);
        }
        assert_eq!(codes(&bomb), ["yaml-anchor"]);
        assert_eq!(codes(&format!("a: [{}x]\n", "!!str y,".repeat(75_000))).len(), MAX_FAULTS);
        assert_eq!(codes(&format!("a: [{}x]\n", "!!seq [],".repeat(75_000))).len(), MAX_FAULTS);
        assert_eq!(codes(&"[".repeat(500_000)), ["yaml-too-deep"]);
        assert_eq!(codes(&"- ".repeat(500_000)), ["yaml-too-deep"]);
        assert_eq!(codes(&"{a: [".repeat(10)), ["yaml-too-deep"]);
        assert_eq!(codes("? [a]\n: b\n"), ["yaml-key"]);
        assert_eq!(codes("a: [1\n"), ["yaml-syntax"]);
        assert_eq!(codes("a: \u{0}x\n"), ["yaml-syntax"]);
    }

    #[test]
    fn no_cut_panics() {
        let text = "id: search\nvlans: {main: 604, f: \"\\u00e4\"}\nl:\n  - &a x\n  - |\n    ä\n";
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            parsed(&text[..end]);
        }
    }
}
