//! What a state says, as text for people or as JSON; and which markers it took over.

mod approvals;

mod json;

mod pool;

mod sources;

mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::{ReportFormat, TextOptions};
use crate::diag::sanitize;
use crate::plan::LimitState;
use crate::state::{KnownMarker, StateFacts, Status};
use crate::target::{CopyId, ZoneId};

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

/// Whose marker it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct MarkedCopy {
    /// The zone's name.
    zone: String,
    /// The target, where several copies of the zone have one.
    target: Option<String>,
}

impl MarkedCopy {
    /// It in words.
    fn shown(&self) -> String {
        let at = self.target.as_deref().map(|target| format!(" at {target}")).unwrap_or_default();
        sanitize(&format!("{}{at}", self.zone))
    }
}

/// The markers, sorted by the zone's name as text, then by target.
fn markers(memory: &StateFacts) -> Vec<(MarkedCopy, &KnownMarker)> {
    let copies = memory.markers.copies();
    let mut counts: BTreeMap<ZoneId, usize> = BTreeMap::new();
    copies.keys().for_each(|copy| *counts.entry(copy.zone_id()).or_default() += 1);
    let marked = |copy: &CopyId| {
        let target = (counts[&copy.zone_id()] > 1).then(|| copy.target.name.clone());
        MarkedCopy { zone: copy.zone.to_string(), target }
    };
    let mut markers: Vec<_> = copies.iter().map(|(copy, known)| (marked(copy), known)).collect();
    markers.sort_by(|a, b| a.0.cmp(&b.0));
    markers
}
