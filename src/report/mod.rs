//! Values as text for people and machines.
//!
//! Comes in: a plan, an explanation, diagnostics, a code. Goes out: a String. May not do input or output; what comes
//! from input passes `diag::sanitize` here, before it can reach a terminal. What a plan looks like is in templates/,
//! which a workspace may override.

mod accept;

pub mod apply;

mod applies;

mod data;

mod doctor;

mod explain;

mod gather;

mod history;

mod lines;

mod mark;

mod names;

mod page;

mod paint;

mod schema;

mod serve;

mod settlement;

mod status;

mod summary;

mod templates;

mod text;

mod words;

mod wrap;

use crate::explain::Explanation;
use crate::plan::{SealedPlan, v1};

pub use accept::accepted;
pub use doctor::doctor;
pub use history::history;
pub use names::{NamesReport, names};
pub use schema::{SchemaKind, schema};
pub use serve::{Serving, served, serving};
pub use settlement::settlement;
pub use status::{adopted, reset, status};
pub use summary::{check_summary, snapshot_summary};
pub use templates::{TemplateError, Templates};
pub use text::{Purpose, TextOptions};
pub use words::{Explained, Words, explain};

/// The program with its version, as documents name it.
const TOOL: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));

/// How a plan or diagnosis is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// The document that `--out` saves.
    Json,
}

/// Prints a plan.
///
/// Errors: [`TemplateError`] where an overriding template asks for something that is not there.
pub fn plan(
    sealed: &SealedPlan,
    format: Format,
    templates: &Templates,
    options: &TextOptions,
) -> Result<String, TemplateError> {
    match format {
        Format::Text => text::render(sealed, templates, options),
        Format::Json => Ok(v1::to_json(sealed)),
    }
}

/// Prints an explanation.
pub fn explanation(explanation: &Explanation, format: Format, options: &TextOptions) -> String {
    match format {
        Format::Text => explain::text::render(explanation, options),
        Format::Json => explain::json::render(explanation),
    }
}
