//! YAML as we write it: keys sorted, blocks indented by two, and quotes wherever a reader of YAML could see more than a text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The words that some reader of YAML takes for something else than a text (YAML 1.1 and 1.2), in lower case.
const KEYWORDS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan"];

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YamlValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
    /// A switch.
    Flag(bool),
    /// A list.
    List(Vec<YamlValue>),
    /// A mapping.
    Table(BTreeMap<String, YamlValue>),
}

impl YamlValue {
    /// A mapping of these entries.
    pub fn table<const N: usize>(entries: [(&str, YamlValue); N]) -> YamlValue {
        YamlValue::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// A list of texts, in their order.
    pub fn texts<T: Into<String>>(items: impl IntoIterator<Item = T>) -> YamlValue {
        YamlValue::List(items.into_iter().map(|item| YamlValue::Text(item.into())).collect())
    }

    /// The same with one more entry, where it is a mapping and there is a value.
    pub fn with(mut self, key: &str, value: Option<YamlValue>) -> YamlValue {
        if let (YamlValue::Table(entries), Some(value)) = (&mut self, value) {
            entries.insert(key.to_owned(), value);
        }
        self
    }

    /// The text of a document.
    pub fn document(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    /// Whether it has a line of its own for each part.
    fn is_block(&self) -> bool {
        match self {
            YamlValue::List(items) => !items.is_empty(),
            YamlValue::Table(entries) => !entries.is_empty(),
            _ => false,
        }
    }

    /// Writes it, each line indented by so many blanks.
    fn write(&self, text: &mut String, indent: usize) {
        match self {
            YamlValue::List(items) if !items.is_empty() => {
                for item in items {
                    let mut lines = String::new();
                    item.write(&mut lines, indent + 2);
                    let _ = write!(text, "{:indent$}- {}", "", lines.trim_start_matches(' '));
                }
            }
            YamlValue::Table(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    let _ = write!(text, "{:indent$}{}:{}", "", scalar(key), if value.is_block() { "\n" } else { " " });
                    value.write(text, if value.is_block() { indent + 2 } else { 0 });
                }
            }
            YamlValue::List(_) => text.push_str("[]\n"),
            YamlValue::Table(_) => text.push_str("{}\n"),
            YamlValue::Text(own) => {
                let _ = writeln!(text, "{}", scalar(own));
            }
            YamlValue::Number(number) => {
                let _ = writeln!(text, "{number}");
            }
            YamlValue::Flag(is_on) => {
                let _ = writeln!(text, "{is_on}");
            }
        }
    }
}

impl From<&str> for YamlValue {
    fn from(text: &str) -> YamlValue {
        YamlValue::Text(text.to_owned())
    }
}

impl From<String> for YamlValue {
    fn from(text: String) -> YamlValue {
        YamlValue::Text(text)
    }
}

/// A text as a scalar: plain where it can be nothing else, in double quotes otherwise.
fn scalar(text: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(is_inner)
        && !KEYWORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let quoted = serde_json::to_string(text).expect("a text can be written as JSON");
    // JSON leaves these as they are, and YAML 1.1 takes them for ends of lines, or not at all.
    let is_barred = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    let escaped = |c: char| if is_barred(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    quoted.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::node::{SettingsNode, SettingsValue, SourceText};
    use crate::inventory::yaml;

    #[test]
    fn blocks_are_indented_and_keys_sorted() {
        let item = YamlValue::table([("name", "a".into()), ("list", YamlValue::texts(["x", "1"]))]);
        let value = YamlValue::table([
            ("spec", YamlValue::table([("items", YamlValue::List(vec![item, "plain".into()]))])),
            ("kind", "Pod".into()),
            ("none", YamlValue::List(Vec::new())),
            ("empty", YamlValue::Table(BTreeMap::new())),
            ("port", YamlValue::Number(53)),
        ])
        .with("left", None)
        .with("on", Some(YamlValue::Flag(true)));
        insta::assert_snapshot!(value.document(), @r#"
        empty: {}
        kind: Pod
        none: []
        "on": true
        port: 53
        spec:
          items:
            - list:
                - x
                - "1"
              name: a
            - plain
        "#);
    }

    /// What our own reader of YAML sees in a document of one text.
    fn read_back(text: &str) -> SettingsNode {
        let document = YamlValue::table([("key", text.into())]).document();
        let source = SourceText { file: Files::default().add("file.yaml"), text: document };
        let documents = yaml::parse_documents(&source);
        assert!(documents.broken.is_none(), "{}", source.text);
        documents.documents[0].root.get("key").expect("the key is there").clone()
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_read_back(text in "\\PC{0,20}|[a-z0-9 :#\"'\\\\~.@%,\u{2028}\u{85}\u{1}-]{0,12}") {
            let node = read_back(&text);
            proptest::prop_assert_eq!(node.as_text(), Some(text.as_str()));
        }
    }

    #[test]
    fn what_could_be_more_than_a_text_is_quoted() {
        for text in ["", "no", "Null", "12e5", "192.0.2.1", "*.example.net", "a: b", "@x", "--policy=sync", "a,b"] {
            assert!(matches!(read_back(text).value, SettingsValue::Text(own) if own == text), "{text}");
        }
        assert_eq!(scalar("zonewright.dev/dns-update-record"), "zonewright.dev/dns-update-record");
    }
}
