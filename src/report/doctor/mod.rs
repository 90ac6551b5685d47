//! A diagnosis as text for people, or as JSON.

mod json;

mod text;

use super::ReportFormat;
use crate::doctor::Diagnosis;

/// Prints a diagnosis; text keeps within `width` columns, and is coloured if `color` says so.
pub fn doctor(diagnosis: &Diagnosis, format: ReportFormat, (width, color): (usize, bool)) -> String {
    match format {
        ReportFormat::Text => text::render(diagnosis, width, color),
        ReportFormat::Json => json::render(diagnosis),
    }
}

#[cfg(test)]
mod tests;
