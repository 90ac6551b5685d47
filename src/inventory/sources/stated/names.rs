//! Names in documents: those of DNS, and those of objects in Kubernetes.

use super::{NodeFault, to_ascii};
use crate::dns::Name;
use crate::inventory::node::SettingsNode;

/// Whether a text can be the name of an object or a namespace. Source: Kubernetes, "Object Names and IDs".
pub fn is_kubernetes_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 253 && text.chars().all(is_plain) && is_end(text.chars().next()) && is_end(text.chars().next_back())
}

/// Reads an owner name; a final dot changes nothing.
///
/// Errors: `text` is not a name.
pub fn read_owner(node: &SettingsNode, text: &str) -> Result<Name, NodeFault> {
    let wrong = |why: String| NodeFault::of(node, format!("`{text}` is not a name: {why}"), "write a whole DNS name");
    if text.is_empty() || text == "." || text.contains(char::is_whitespace) {
        return Err(wrong("a name has labels, and no blanks".to_owned()));
    }
    let ascii = if text.is_ascii() { text.to_owned() } else { to_ascii(text).map_err(wrong)? };
    Name::parse(&ascii).map_err(|error| wrong(error.to_string()))
}

/// Whether a text can be the value of a label, and is not empty. Source: Kubernetes, "Labels and Selectors".
pub fn is_label_value(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.len() <= 63 && text.chars().all(is_plain) && is_end(text.chars().next()) && is_end(text.chars().next_back())
}
