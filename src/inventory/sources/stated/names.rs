//! Names of DNS in documents.

use super::{NodeFault, to_ascii};
use crate::dns::Name;
use crate::inventory::node::SettingsNode;

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
