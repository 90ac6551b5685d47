//! Templates of names in settings files: read, with what is wrong shown where it is.

use crate::diag::Origin;
use crate::inventory::node::{SettingsNode, SettingsValue, SourceText, TableReader};
use crate::inventory::template::NameTemplateError;

/// Reads the template that a node must be.
pub fn read_node<T>(
    node: &SettingsNode,
    reader: &mut TableReader<'_>,
    parse: impl Fn(&str) -> Result<T, NameTemplateError>,
) -> Option<T> {
    let Some(text) = node.as_text().filter(|_| !node.is_null()) else {
        reader.wrong_type(node, "text");
        return None;
    };
    match parse(text) {
        Ok(template) => Some(template),
        Err(error) => {
            let (origin, width) = place_inside(node, text, &error, reader.source());
            let message = format!("`{text}`: {}", error.message);
            let diagnostic = reader.source().error("bad-template", origin, width, message);
            let diagnostic = diagnostic.rule("the fields of templates and what they need");
            reader.push(match error.hint {
                Some(hint) => diagnostic.hint(hint),
                None => diagnostic,
            });
            None
        }
    }
}

/// Where in the file a fault of a template is; the whole value where escapes or line ends make that unclear.
fn place_inside(node: &SettingsNode, text: &str, error: &NameTemplateError, source: &SourceText) -> (Origin, usize) {
    let line = source.text.lines().nth(node.origin.line as usize - 1).unwrap_or_default();
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let start = node.origin.col as usize - 1;
    // A block of text begins without a quote.
    let is_quoted =
        matches!(node.value, SettingsValue::Text(_)) && line.chars().nth(start).is_some_and(|c| "'\"".contains(c));
    let before = start + usize::from(is_quoted);
    let text = text.trim_end_matches('\n');
    let written = line.chars().skip(before).take(text.chars().count());
    if written.eq(text.chars()) {
        let col = (before + error.at + 1) as u32;
        (Origin { col, ..node.origin }, error.width.max(1))
    } else {
        (node.origin, node.width)
    }
}
