//! zonewright.toml with other targets, and everything else unchanged: comments, blanks, order.
//!
//! Comes in: the text. Goes out: the text. Pure.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What replaces the targets of one type.
#[derive(Debug)]
pub struct NewTargets<'a> {
    /// The type that is replaced.
    pub from: &'a str,
    /// The type that they get.
    pub to: &'a str,
    /// The keys that only the former type has.
    pub dropped: &'a [&'a str],
    /// The keys that they get, with their values as TOML.
    pub added: &'a [(&'a str, String)],
    /// Where the state is kept instead, where it is not to stay where `[state]` says.
    pub state: Option<&'a str>,
}

/// A key with its value, each with its place.
type TomlEntry<'t> = (Spanned<std::borrow::Cow<'t, str>>, Spanned<DeValue<'t>>);

impl NewTargets<'_> {
    /// Replaces the targets of the type; returns the text, and how many pools changed.
    ///
    /// A text that is not TOML stays unchanged: the settings reader reports it.
    pub fn apply(&self, text: &str) -> (String, usize) {
        let (root, _) = DeTable::parse_recoverable(text);
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        let mut count = 0;
        let root = root.into_inner();
        edits.extend(self.state.zip(place_of_state(&root)).map(|(url, place)| (place, format!("\"{url}\""))));
        for (range, target) in targets(root) {
            if text_of(&target, "type") == Some(self.from) {
                let is_inline = text[range.start..].starts_with('{');
                self.edit(text, target, is_inline, &mut edits);
                count += 1;
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        let mut edited = text.to_owned();
        for (range, by) in edits.into_iter().rev() {
            edited.replace_range(range, &by);
        }
        (edited, count)
    }

    /// Notes what is to be edited in one target.
    fn edit(&self, text: &str, target: DeTable<'_>, is_inline: bool, edits: &mut Vec<(Range<usize>, String)>) {
        let added: Vec<String> = self.added.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let separator = if is_inline { ", " } else { "\n" };
        let entries: Vec<TomlEntry<'_>> = target.into_iter().collect();
        for (key, value) in &entries {
            let whole = key.span().start..value.span().end;
            if key.get_ref() == "type" {
                edits.push((value.span(), format!("\"{}\"{separator}{}", self.to, added.join(separator))));
            } else if self.dropped.contains(&key.get_ref().as_ref()) {
                let range = if is_inline { in_table(text, whole) } else { with_line(text, whole) };
                edits.push((range, String::new()));
            }
        }
    }
}

/// Where it is said where the state is kept.
fn place_of_state(root: &DeTable<'_>) -> Option<Range<usize>> {
    match root.get("state")?.get_ref() {
        DeValue::Table(state) => Some(state.get("url")?.span()),
        _ => None,
    }
}

/// The tables of all targets, each with its place.
fn targets(mut root: DeTable<'_>) -> Vec<(Range<usize>, DeTable<'_>)> {
    let mut found = Vec::new();
    let Some(DeValue::Table(pools)) = root.remove("pool").map(Spanned::into_inner) else { return found };
    for (_, pool) in pools {
        let DeValue::Table(mut pool) = pool.into_inner() else { continue };
        let Some(DeValue::Array(targets)) = pool.remove("target").map(Spanned::into_inner) else { continue };
        for target in targets {
            let range = target.span();
            if let DeValue::Table(target) = target.into_inner() {
                found.push((range, target));
            }
        }
    }
    found
}

/// The text at a key.
fn text_of<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    match table.get(key)?.get_ref() {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// An entry of a table in lines, with its line; a comment on that line is part of it.
fn with_line(text: &str, entry: Range<usize>) -> Range<usize> {
    let start = text[..entry.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[entry.end..].find('\n').map_or(text.len(), |at| entry.end + at + 1);
    start..end
}

/// An entry of a table in braces, with the comma before it, or where it is the first with the one behind it.
fn in_table(text: &str, entry: Range<usize>) -> Range<usize> {
    let before = text[..entry.start].trim_end();
    if before.ends_with(',') {
        return before.len() - 1..entry.end;
    }
    let behind = &text[entry.end..];
    let comma = behind.find(',').filter(|at| behind[..*at].trim().is_empty());
    entry.start..comma.map_or(entry.end, |at| entry.end + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with its targets of type `zonefile` replaced.
    fn retarget(text: &str) -> (String, usize) {
        let added = [("server", "\"127.0.0.1:53\"".to_owned()), ("key", "{ a = 1 }".to_owned())];
        let retarget =
            NewTargets { from: "zonefile", to: "rfc2136", dropped: &["dir", "reload"], added: &added, state: None };
        retarget.apply(text)
    }

    #[test]
    fn only_the_targets_of_the_type_change() {
        let text = "\
# a comment
owner   = \"x\" # another
[pool.a]
[[pool.a.target]]   # here
dir = \"zones\"  # goes with its line
  type = 'zonefile'  # stays
reload = [
  \"rndc\",
  \"reload\",
]
timeout = \"5s\"

[pool.b]
[[pool.b.target]]
type = \"rfc2136\"
dir = \"zonefile\"
";
        let expected = "\
# a comment
owner   = \"x\" # another
[pool.a]
[[pool.a.target]]   # here
  type = \"rfc2136\"
server = \"127.0.0.1:53\"
key = { a = 1 }  # stays
timeout = \"5s\"

[pool.b]
[[pool.b.target]]
type = \"rfc2136\"
dir = \"zonefile\"
";
        assert_eq!(retarget(text), (expected.to_owned(), 1));
    }

    #[test]
    fn targets_in_braces_stay_there() {
        let text = "[pool]\na.target = [{ dir = \"x\", type = \"zonefile\", reload = [\"a\"] }]\n\
                    b.target = [{ type = \"zonefile\", dir = \"y\" }]\n";
        let new = "{  type = \"rfc2136\", server = \"127.0.0.1:53\", key = { a = 1 } }";
        let expected = format!("[pool]\na.target = [{new}]\nb.target = [{}]\n", new.replace("{  type", "{ type"));
        assert_eq!(retarget(text), (expected, 2));
    }

    #[test]
    fn the_state_is_kept_elsewhere_where_that_is_wanted() {
        let retarget = |state, text: &str| {
            let retarget = NewTargets { from: "zonefile", to: "rfc2136", dropped: &[], added: &[], state };
            retarget.apply(text).0
        };
        for text in
            ["[state]\nurl = 'sqlite:/a' # here\n", "state.url = 'sqlite:/a' # here\n", "state = { url = 'sqlite:/a' }"]
        {
            assert_eq!(retarget(None, text), text);
            assert_eq!(retarget(Some("sqlite:b"), text), text.replace("'sqlite:/a'", "\"sqlite:b\""));
        }
        for text in ["", "state = 1\n", "[state]\n"] {
            assert_eq!(retarget(Some("sqlite:b"), text), text);
        }
    }

    #[test]
    fn what_is_no_toml_stays() {
        for text in ["", "[pool", "pool = 1\n", "[pool.a]\ntarget = 3\n"] {
            assert_eq!(retarget(text), (text.to_owned(), 0));
        }
    }
}
