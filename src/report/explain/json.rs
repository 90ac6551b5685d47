//! The document `zonewright.explain/1`.

use serde::Serialize;

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
    let document = ExplainDocument { format: "zonewright.explain/1", tool: TOOL, explanation };
    let text = serde_json::to_string_pretty(&document).expect("texts, numbers and lists are JSON");
    text + "\n"
}
