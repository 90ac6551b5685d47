//! Which plan it is, how to apply it and nothing else, and where all of it is.

use super::Subject;
use super::escape::{clipped, code, fenced, link, shell};
use crate::report::outlook::Verdict;

/// How many characters of the program's name and version are shown (no official source).
const TOOL: usize = 80;

/// What a report leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many changes are not shown.
    pub changes: usize,
    /// The parts that are left out altogether.
    pub parts: Vec<&'static str>,
    /// Whether anything else is not shown.
    pub is_more: bool,
}

/// The end of a report.
pub fn text(subject: &Subject<'_>, cut: &Cut) -> String {
    let Subject { plan, id, effect, outlook, .. } = subject;
    let mut out = String::from("---\n\n");
    let whole = whole(subject);
    match left_out(subject, cut) {
        Some(left_out) => out.push_str(&format!("**Cut to fit here:** {left_out}. All of it: {whole}.\n\n")),
        None if outlook.url.is_some() => out.push_str(&format!("The whole plan: {whole}.\n\n")),
        None => {}
    }
    out.push_str(&format!("Plan {}, effect {}", code(id), code(effect)));
    out.push_str(&match subject.has_command() {
        true => format!(", valid until {}. {}\n\n", code(&plan.expires.to_string()), how(subject)),
        false => format!(", made by {}.\n", code(&clipped(&plan.tool, TOOL))),
    });
    if subject.has_command() {
        out.push_str(&fenced("sh", &command(subject)));
    }
    out
}

/// What is said above the command.
fn how(Subject { plan, outlook, .. }: &Subject<'_>) -> String {
    let save = if outlook.file.as_deref().and_then(shell).is_some() { "" } else { "`--out FILE` saves it. " };
    match Verdict::of(plan, outlook) {
        Verdict::Refused => format!("{save}This is refused as long as the above stands:"),
        _ => format!("{save}This applies it, and no other:"),
    }
}

/// The command that applies the plan.
fn command(Subject { effect, outlook, .. }: &Subject<'_>) -> String {
    let file = outlook.file.as_deref().and_then(shell).unwrap_or_else(|| "FILE".to_owned());
    format!("zonewright apply {file} --expect {effect}\n")
}

/// Where the whole plan is.
fn whole(Subject { outlook, .. }: &Subject<'_>) -> String {
    let show = |file: String| code(&format!("zonewright show {file}"));
    let file = outlook.file.as_deref().and_then(shell).map(show);
    let url = outlook.url.as_deref().map(link);
    match (url, file) {
        (Some(url), Some(file)) => format!("{url} or {file}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "`zonewright plan`, without `--format`".to_owned(),
    }
}

/// What is left out, in words; none where nothing is.
fn left_out(subject: &Subject<'_>, cut: &Cut) -> Option<String> {
    let all = subject.plan.changes.len();
    let changes = (cut.changes > 0).then(|| format!("{} of {all} changes are not listed", cut.changes));
    let parts = (!cut.parts.is_empty()).then(|| format!("nothing is shown of {}", cut.parts.join(", ")));
    let told: Vec<String> = changes.into_iter().chain(parts).collect();
    match told.is_empty() {
        true => cut.is_more.then(|| "some lists are shown in part".to_owned()),
        false => Some(told.join("; ")),
    }
}

impl Subject<'_> {
    /// Whether there is a command that would apply what is shown.
    fn has_command(&self) -> bool {
        !self.is_view && !self.plan.changes.is_empty()
    }
}
