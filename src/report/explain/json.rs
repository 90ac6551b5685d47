//! The document `zonewright.explain/1`.

use serde::Serialize;

use crate::document::pretty;
use crate::explain::Explanation;
use crate::report::TOOL;

/// The document: the explanation, with the name of the format in front.
#[derive(Serialize)]
struct ExplainDocument<'a> {
    /// The format and its version.
    format: &'static str,
    /// The program that made it, with its version.
    tool: &'static str,
    /// The rest.
    #[serde(flatten)]
    explanation: &'a Explanation,
}

/// Writes the document, with a final newline.
pub fn render(explanation: &Explanation) -> String {
    pretty(&ExplainDocument { format: "zonewright.explain/1", tool: TOOL, explanation })
}
