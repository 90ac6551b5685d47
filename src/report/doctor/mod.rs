//! A diagnosis as text for people, or as JSON.

mod abilities;

mod json;

mod text;

use super::{ReportFormat, TextOptions};
use crate::doctor::Diagnosis;

/// Prints a diagnosis; text is as wide and as coloured as `options` say.
pub fn doctor(diagnosis: &Diagnosis, format: ReportFormat, options: &TextOptions) -> String {
    match format {
        ReportFormat::Text => text::render(diagnosis, options.width, options.color),
        ReportFormat::Json => json::render(diagnosis),
    }
}

#[cfg(test)]
mod tests;
