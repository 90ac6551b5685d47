//! A plan as Markdown for a comment on a pull request.

use super::outlook::{Outlook, Verdict};
use crate::plan::SealedPlan;

/// Renders a plan.
pub fn render(sealed: &SealedPlan, outlook: &Outlook) -> String {
    format!("### zonewright: {:?}, {} changes\n", Verdict::of(sealed.plan(), outlook), sealed.plan().changes.len())
}
