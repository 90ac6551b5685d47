//! A service that was tried, as text for people and its authors, or as JSON. `schemas/cms-check.schema.json` describes that.

use super::paint::Paint;
use super::summary::counted;
use super::wrap::wrap;
use super::{ReportFormat, TextOptions};
use crate::cms::examine::CmsStep;
use crate::diag::sanitize;
use crate::doctor::approvals::{ServiceCleaned, ServiceDiagnosis};
use crate::doctor::{Finding, FindingLevel};
use crate::document::{object_in_documents, pretty};

/// What `format` says.
const FORMAT: &str = "zonewright.cms-check/1";

/// The columns before the words of a step: the widest level and two blanks on either side.
const INDENT: usize = 11;

/// Prints what was found; text is as wide and as coloured as `options` say.
pub fn cms_check(diagnosis: &ServiceDiagnosis, format: ReportFormat, options: &TextOptions) -> String {
    match format {
        ReportFormat::Text => text(diagnosis, options.width, &Paint::new(options.color)),
        ReportFormat::Json => pretty(diagnosis),
    }
}

/// Prints what was deleted at a service of a lost state.
pub fn cms_clean(cleaned: &ServiceCleaned, options: &TextOptions) -> String {
    let ServiceCleaned { service, state, hosts, failed, others } = cleaned;
    let (service, state) = (sanitize(service), sanitize(state));
    let tasks = counted(hosts.len(), "task");
    let verdict = match (hosts.len(), failed.len()) {
        (0, 0) => format!("Nothing was deleted: `{service}` has no task of the state {state}."),
        (_, 0) => format!("Deleted {tasks} of the state {state} at `{service}`."),
        (_, left) => format!(
            "Deleted {tasks} of the state {state} at `{service}`; {} could not be deleted.",
            counted(left, "task")
        ),
    };
    let verdict = wrap(&verdict, options.width, 0, 2);
    let mut out = format!("{verdict}\n");
    for host in hosts {
        out.push_str(&format!("  {}\n", sanitize(host)));
    }
    for (id, why) in failed {
        out.push_str(&format!("{}\n", wrap(&format!("{}: {}", sanitize(id), sanitize(why)), options.width, 2, 4)));
    }
    if hosts.is_empty() && failed.is_empty() && !others.is_empty() {
        let known: Vec<String> = others.iter().map(|state| format!("`{}`", sanitize(state))).collect();
        let hint = format!("hint: it has tasks of {}", known.join(", "));
        out.push_str(&format!("{}\n", wrap(&hint, options.width, 0, 2)));
    }
    if hosts.is_empty() && failed.is_empty() { out } else { out + &format!("{verdict}\n") }
}

/// The verdict: whether the service works.
fn verdict(diagnosis: &ServiceDiagnosis) -> String {
    let (problems, warnings) = (diagnosis.count(FindingLevel::Problem), diagnosis.count(FindingLevel::Warning));
    let tried = counted(diagnosis.steps.len(), "step");
    let service = sanitize(&diagnosis.service);
    match (problems, warnings) {
        (0, 0) => format!("`{service}` works: {tried} tried, none failed."),
        (0, _) => format!("`{service}` works: {tried} tried, {}.", counted(warnings, "warning")),
        _ => format!("`{service}` does not work: {problems} of {tried} failed."),
    }
}

/// A service as text.
fn text(diagnosis: &ServiceDiagnosis, width: usize, paint: &Paint) -> String {
    let verdict = verdict(diagnosis);
    let about = format!("{}, {}; dry runs about {}", diagnosis.url, diagnosis.version, diagnosis.host);
    let mut out = format!("{verdict}\n\n{}{}{}\n", paint.head, wrap(&sanitize(&about), width, 0, 2), paint.off);
    for (_, Finding { level, message, hint, .. }) in &diagnosis.steps {
        let style = match level {
            FindingLevel::Ok => &paint.create,
            FindingLevel::Note => &paint.dim,
            FindingLevel::Warning => &paint.modify,
            FindingLevel::Problem => &paint.alarm,
        };
        let wrapped = wrap(&sanitize(message), width, INDENT, INDENT);
        let gap = " ".repeat(INDENT - 2 - level.as_str().len());
        out.push_str(&format!("  {style}{level}{}{gap}{}\n", paint.off, &wrapped[INDENT..]));
        if let Some(hint) = hint {
            out.push_str(&format!("{}\n", wrap(&format!("hint: {}", sanitize(hint)), width, INDENT, INDENT + 2)));
        }
    }
    out + &format!("\n{verdict}\n")
}

object_in_documents!(ServiceDiagnosis, diagnosis => {
    "format": FORMAT,
    "tool": diagnosis.tool,
    "created": diagnosis.created,
    "service": diagnosis.service,
    "url": diagnosis.url,
    "version": diagnosis.version,
    "host": diagnosis.host,
    "problems": diagnosis.count(FindingLevel::Problem),
    "warnings": diagnosis.count(FindingLevel::Warning),
    "steps": diagnosis.steps.iter().map(|(step, finding)| StepDocument(step, finding)).collect::<Vec<_>>(),
});

/// A step as an object of the document.
struct StepDocument<'d>(&'d CmsStep, &'d Finding);

object_in_documents!(StepDocument<'_>, of => {
    "step": of.0.kind,
    "action": of.0.action,
    "seconds": of.0.took.as_secs_f64(),
    "level": of.1.level,
    "code": of.1.code,
    "message": of.1.message,
    "hint": of.1.hint,
});
