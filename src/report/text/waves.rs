//! How a plan goes in waves, and what waits for a later one.

use super::super::host_label::subject_label;
use super::super::waves::{by_reason, going_now, group_lines};
use super::TextOptions;
use crate::diag::sanitize;
use crate::plan::Plan;

/// The lines, each with the columns that it is indented by; none where all of the plan goes at once.
pub fn lines(plan: &Plan, options: &TextOptions) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    if plan.waiting.is_empty() {
        return lines;
    }
    lines.extend(group_lines(&plan.waves).into_iter().map(|line| (2, line)));
    let going: Vec<String> = going_now(plan).into_iter().map(|subject| subject_label(plan, subject)).collect();
    let shown = options.shown(going.len());
    let more = if shown < going.len() { format!(" and {} more", going.len() - shown) } else { String::new() };
    if !going.is_empty() {
        lines.push((2, format!("now: {}{more}", going[..shown].join(", "))));
    }
    for group in by_reason(&plan.waiting) {
        lines.push((2, group.headline()));
        lines.extend(group.lines(|all| options.shown(all)).into_iter().map(|line| (4, line)));
    }
    lines.into_iter().map(|(depth, line)| (depth, sanitize(&line))).collect()
}
