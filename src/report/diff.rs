//! A plan as a unified diff of each zone in presentation format.

use super::text::TextOptions;
use crate::plan::SealedPlan;

/// Renders a plan.
pub fn render(sealed: &SealedPlan, _options: &TextOptions) -> String {
    format!("{}\n", sealed.plan().changes.len())
}
