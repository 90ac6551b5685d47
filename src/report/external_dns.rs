//! What `render external-dns` says of its folder.

use std::fmt::Write as _;

use super::summary::counted;
use crate::external_dns::folder::FolderPlan;

/// A line for each file that was written or removed, and one for the folder; where nothing was done, what would be.
pub fn external_dns_summary(folder: &str, plan: &FolderPlan, is_check: bool) -> String {
    let would = if is_check { "would be " } else { "" };
    let mut text = String::new();
    for step in &plan.steps {
        let verb = if step.text.is_some() { "written" } else { "removed" };
        let _ = writeln!(text, "{folder}/{}: {would}{verb}", step.file);
    }
    let written = plan.steps.iter().filter(|step| step.text.is_some()).count();
    let parts = [(written, "written"), (plan.steps.len() - written, "removed")];
    let said =
        |(count, verb): &(usize, &str)| (*count > 0).then(|| format!("{} {would}{verb}", counted(*count, "file")));
    let mut parts: Vec<String> = parts.iter().filter_map(said).collect();
    if plan.unchanged > 0 || parts.is_empty() {
        parts.push(format!("{} up to date", counted(plan.unchanged, "file")));
    }
    let kept = plan.held.len() + plan.kept;
    if kept > 0 {
        parts.push(format!("{} left as {}", counted(kept, "file"), if kept == 1 { "it is" } else { "they are" }));
    }
    if !plan.faults.is_empty() {
        parts.push(format!("{} cannot be read or written", counted(plan.faults.len(), "file")));
    }
    let _ = writeln!(text, "{folder}: {}", parts.join(", "));
    text
}
