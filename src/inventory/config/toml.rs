//! TOML to a tree.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diag::Diagnostics;
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsTree, SettingsValue, SourceText};
use crate::inventory::place::TextPlaces;

/// Parses a TOML document; reports every fault of its syntax.
///
/// Of a key that is there twice, one value is kept. Source: <https://toml.io/en/v1.0.0>.
pub fn parse(source: &SourceText) -> SettingsTree {
    let (root, errors) = DeTable::parse_recoverable(&source.text);
    let mut places = TextPlaces::new(source.file, &source.text);
    let mut faults = Diagnostics::default();
    let mut whole = true;
    for error in errors {
        let span = error.span().unwrap_or_default();
        let (origin, width) = (places.origin(span.start), places.width(span));
        if error.message() == DUPLICATE {
            let message = "the key is in this table twice";
            faults.push(source.error("duplicate-key", origin, width, message).hint("keep one of them"));
        } else {
            whole = false;
            faults.push(source.error("toml-syntax", origin, width, error.message().replace('\n', " ")));
        }
    }
    let origin = places.origin(0);
    SettingsTree {
        root: SettingsNode { origin, width: 1, value: table(root.into_inner(), &mut places) },
        faults,
        whole,
    }
}

/// A text as TOML writes it (a basic string).
pub fn quoted(text: &str) -> String {
    // What JSON escapes, TOML escapes alike (TOML 1.0.0, "String").
    serde_json::Value::from(text).to_string()
}

/// What the library calls a key that is there twice; a test shows it.
const DUPLICATE: &str = "duplicate key";

/// Converts a table; the library sorts keys, the file's order comes back by their places.
fn table(table: DeTable<'_>, places: &mut TextPlaces<'_>) -> SettingsValue {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let (origin, width) = (places.origin(key.span().start), places.width(key.span()));
        let key = SettingsKey { name: key.into_inner().into_owned(), origin, width };
        (key, node(value, places))
    });
    SettingsValue::Table(entries.collect())
}

/// Converts a value. The nesting is bounded by the parser, at 80.
fn node(value: Spanned<DeValue<'_>>, places: &mut TextPlaces<'_>) -> SettingsNode {
    let span = value.span();
    let (origin, width) = (places.origin(span.start), places.width(span));
    let value = match value.into_inner() {
        DeValue::String(text) => SettingsValue::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(value) => SettingsValue::Integer(value),
            Err(_) => SettingsValue::Other(number.to_string()),
        },
        DeValue::Float(number) => SettingsValue::Other(number.as_str().to_owned()),
        DeValue::Boolean(value) => SettingsValue::Bool(value),
        DeValue::Datetime(date) => SettingsValue::Other(date.to_string()),
        DeValue::Array(items) => SettingsValue::List(items.into_iter().map(|item| node(item, places)).collect()),
        DeValue::Table(entries) => table(entries, places),
    };
    SettingsNode { origin, width, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Files, render};

    fn parsed(text: &str) -> (Files, SettingsTree) {
        let mut files = Files::default();
        let source = SourceText { file: files.add("x.toml"), text: text.into() };
        (files, parse(&source))
    }

    #[test]
    fn keys_keep_their_order_and_place() {
        let (_, parsed) = parsed("b = \"x\"\n[a]\nn = 0x10\n[[l]]\nf = 1e5\n[[l]]\n");
        let SettingsValue::Table(entries) = &parsed.root.value else { panic!("the root is a table") };
        let names: Vec<_> =
            entries.iter().map(|(key, _)| (key.name.as_str(), key.origin.line, key.origin.col)).collect();
        assert_eq!(names, [("b", 1, 1), ("a", 2, 2), ("l", 4, 3)]);
        let SettingsValue::Table(a) = &entries[1].1.value else { panic!("`a` is a table") };
        assert_eq!(a[0].1.value, SettingsValue::Integer(16));
        assert!(
            matches!(&entries[2].1.value, SettingsValue::List(items) if items.len() == 2 && items[1].origin.line == 6)
        );
    }

    #[test]
    fn quoted_texts_read_as_they_were() {
        for text in ["zonewright.", "a \"b\" \\ c", "\u{7}", "\u{e4}\n"] {
            let document = format!("x = {}", quoted(text));
            let parsed: toml::Table = document.parse().unwrap();
            assert_eq!(parsed["x"].as_str(), Some(text));
        }
    }

    #[test]
    fn all_faults_of_syntax_are_found() {
        let (files, parsed) = parsed("a = 1\na = 2\nb = \nc = yes\nd = \"x\u{0}\"\n");
        assert!(!parsed.whole);
        insta::assert_snapshot!(render(&parsed.faults, &files), @r#"
        x.toml:2:1: error[duplicate-key]: the key is in this table twice
          2 | a = 2
            | ^
            = hint: keep one of them
        x.toml:3:5: error[toml-syntax]: string values must be quoted, expected literal string
          3 | b = 
            |     ^
        x.toml:4:5: error[toml-syntax]: string values must be quoted, expected literal string
          4 | c = yes
            |     ^^^
        x.toml:5:7: error[toml-syntax]: invalid basic string, expected non-double-quote visible characters, `\`
          5 | d = "x\u{0}"
            |       ^^^^^
        "#);
    }

    #[test]
    fn deep_nesting_is_a_fault_and_no_overflow() {
        let (_, parsed) = parsed(&format!("a = {}", "[".repeat(500_000)));
        assert!(parsed.faults.error_count() > 0);
    }
}
