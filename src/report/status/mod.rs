//! What a state says, as text for people or as JSON; and which markers it took over.

mod json;

mod pool;

mod sources;

mod text;

#[cfg(test)]
mod tests;

use super::{ReportFormat, TextOptions};
use crate::plan::LimitState;
use crate::state::{KnownMarker, StateFacts, Status};

pub use text::{adopted, reset};

/// Prints what a state says; as text of a pool alone, where one is asked for.
pub fn status(status: &Status, format: ReportFormat, options: &TextOptions) -> String {
    match format {
        ReportFormat::Text => match &status.pool {
            Some(pool) => pool::render(pool, options),
            None => text::render(status, options),
        },
        ReportFormat::Json => json::render(status),
    }
}

/// How many hosts may still change.
fn left(limit: &LimitState) -> u64 {
    limit.max.saturating_sub(limit.used)
}

/// The markers, sorted by the zone's name as text.
fn markers(memory: &StateFacts) -> Vec<(String, &KnownMarker)> {
    let mut markers: Vec<_> =
        memory.markers.copies().iter().map(|(copy, known)| (copy.zone.to_string(), known)).collect();
    markers.sort_by(|a, b| a.0.cmp(&b.0));
    markers
}
