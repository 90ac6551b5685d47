//! A plan, or findings, as a report of tests in JUnit's XML.

use super::outlook::{Outlook, Verdict};
use crate::plan::SealedPlan;

/// Renders a plan.
pub fn plan(sealed: &SealedPlan, outlook: &Outlook) -> String {
    format!("<!-- {:?} {} -->\n", Verdict::of(sealed.plan(), outlook), sealed.plan().changes.len())
}
