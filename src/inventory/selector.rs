//! Which labels a manifest must have to count.
//!
//! Comes in: the text of a selector. Goes out: whether labels fit it. Source: Kubernetes, "Labels and Selectors", and
//! `labels.Parse`, whose syntax external-dns takes for `--label-filter` and `--annotation-filter`.

use std::fmt;
use std::str::FromStr;

/// What a manifest's labels or annotations must be; anything where nothing is demanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySelector(Vec<KeyDemand>);

/// What is demanded of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyDemand {
    /// The key.
    key: String,
    /// What its value must be.
    value: ValueDemand,
}

/// What the value of a key must be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueDemand {
    /// Any: the key is there.
    Present,
    /// None: the key is not there.
    Absent,
    /// One of these.
    OneOf(Vec<String>),
    /// None of these; the key need not be there.
    NoneOf(Vec<String>),
}

/// Why a text is no selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError(String);

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl KeySelector {
    /// Whether keys and values fit; `value` gives the value of a key.
    pub fn fits<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.iter().all(|demand| match (&demand.value, value(&demand.key)) {
            (ValueDemand::Present, found) => found.is_some(),
            (ValueDemand::Absent, found) => found.is_none(),
            (ValueDemand::OneOf(values), found) => found.is_some_and(|found| values.iter().any(|own| own == found)),
            (ValueDemand::NoneOf(values), found) => found.is_none_or(|found| values.iter().all(|own| own != found)),
        })
    }
}

impl FromStr for KeySelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<KeySelector, SelectorError> {
        if text.trim().is_empty() {
            return Ok(KeySelector::default());
        }
        demands(text).into_iter().map(demand).collect::<Result<Vec<KeyDemand>, SelectorError>>().map(KeySelector)
    }
}

/// The parts of a selector: those between commas outside parentheses.
fn demands(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads one part: `key`, `!key`, `key=value`, `key!=value`, `key in (a, b)` or `key notin (a, b)`.
fn demand(part: &str) -> Result<KeyDemand, SelectorError> {
    let part = part.trim();
    let of = |key: &str, value: ValueDemand| {
        let key = key.trim();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        if key.is_empty() || !key.chars().all(is_plain) {
            return Err(SelectorError(format!("`{key}` is not the key of a label")));
        }
        Ok(KeyDemand { key: key.to_owned(), value })
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some((key, value)) = part.split_once("!=") {
        return of(key, ValueDemand::NoneOf(one(value)));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return of(key, ValueDemand::OneOf(one(value)));
    }
    if let Some(values) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let (head, values) = values;
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        return match head.trim().rsplit_once(char::is_whitespace) {
            Some((key, "in")) => of(key, ValueDemand::OneOf(values)),
            Some((key, "notin")) => of(key, ValueDemand::NoneOf(values)),
            _ => Err(SelectorError(format!("`{part}` has a list, and neither `in` nor `notin` before it"))),
        };
    }
    match part.strip_prefix('!') {
        Some(key) => of(key, ValueDemand::Absent),
        None => of(part, ValueDemand::Present),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a selector takes a manifest with the labels `app: web` and `tier: front`.
    fn takes(selector: &str) -> Result<bool, String> {
        let selector: KeySelector = selector.parse().map_err(|error: SelectorError| error.to_string())?;
        let labels = [("app", "web"), ("tier", "front")];
        Ok(selector.fits(|key| labels.iter().find(|(own, _)| *own == key).map(|(_, value)| *value)))
    }

    #[test]
    fn labels_are_selected_as_kubernetes_selects_them() {
        for yes in [
            "",
            " ",
            "app",
            "app=web",
            "app == web, tier!=back",
            "tier in (front, back)",
            "!old,app",
            "x notin (a)",
            "x!=a",
        ] {
            assert_eq!(takes(yes), Ok(true), "{yes}");
        }
        for no in ["x", "app=db", "app!=web", "tier notin (front)", "!app", "app=web,x=y", "tier in (back)"] {
            assert_eq!(takes(no), Ok(false), "{no}");
        }
        for wrong in ["a b", ",", "app of (a)", "app,,tier", "=x"] {
            assert!(takes(wrong).is_err(), "{wrong}");
        }
    }
}
