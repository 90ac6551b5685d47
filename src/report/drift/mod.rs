//! Live DNS compared with what is desired, as text for people or as JSON.

mod json;

mod text;

#[cfg(test)]
mod tests;

use super::{ReportFormat, TextOptions};
use crate::change::Change;
use crate::dns::ZoneName;
use crate::drift::{Drift, Mover, StrayCause, StrayedCopy};

/// Prints what is not as desired, and what is behind it; of some zones, or of all where none is named.
pub fn drift(drift: &Drift<'_>, zones: &[ZoneName], format: ReportFormat, options: &TextOptions) -> String {
    let shown = ShownDrift { drift, zones };
    match format {
        ReportFormat::Text => text::render(&shown, options),
        ReportFormat::Json => json::render(&shown),
    }
}

/// What of it is shown.
struct ShownDrift<'a> {
    /// All of it.
    drift: &'a Drift<'a>,
    /// The zones whose RRsets are shown; all where empty.
    zones: &'a [ZoneName],
}

/// An RRset that is not as desired.
#[derive(Debug, Clone, Copy)]
struct StrayedRrset<'a> {
    /// The change that would make it so.
    change: &'a Change,
    /// The name of the target, where its pool has several.
    target: Option<&'a str>,
    /// Why it is not.
    stray: &'a StrayCause,
}

impl<'a> ShownDrift<'a> {
    /// The RRsets that are shown, in the order of the plan; those of several copies one by one.
    fn all(&self) -> impl Iterator<Item = StrayedRrset<'a>> {
        let Drift { plan, strays, .. } = *self.drift;
        let zones = self.zones;
        let all = strays.iter().map(|StrayedCopy { change, target, cause }| StrayedRrset {
            change: &plan.changes[*change],
            target: target.as_deref(),
            stray: cause,
        });
        all.filter(move |strayed| zones.is_empty() || zones.contains(&strayed.change.zone))
    }

    /// Those whose difference this mover explains.
    fn of(&self, mover: Mover) -> Vec<StrayedRrset<'a>> {
        self.all().filter(|strayed| strayed.stray.mover == mover).collect()
    }

    /// How many are not shown.
    fn hidden(&self) -> usize {
        self.drift.strays.len() - self.all().count()
    }
}
