//! The past applies of a journal, as text for people or as JSON.

mod json;

mod text;

#[cfg(test)]
mod tests;

use super::{ReportFormat, TextOptions};
use crate::state::History;

/// Prints past applies.
pub fn history(history: &History, format: ReportFormat, options: &TextOptions) -> String {
    match format {
        ReportFormat::Text => text::render(history, options),
        ReportFormat::Json => json::render(history),
    }
}
