//! A plan as one HTML page.

use super::outlook::{Outlook, Verdict};
use crate::plan::SealedPlan;

/// Renders a plan.
pub fn render(sealed: &SealedPlan, outlook: &Outlook) -> String {
    format!("<!doctype html><title>{:?}</title>{}\n", Verdict::of(sealed.plan(), outlook), sealed.plan().changes.len())
}
