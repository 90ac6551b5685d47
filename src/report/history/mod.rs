//! The past applies of a journal, as text for people or as JSON.

mod json;

mod text;

#[cfg(test)]
mod tests;

use super::{Format, TextOptions};
use crate::state::History;

/// Prints past applies.
pub fn history(history: &History, format: Format, options: &TextOptions) -> String {
    match format {
        Format::Text => text::render(history, options),
        Format::Json => json::render(history),
    }
}
