//! A diagnosis as text: one block a target, one paragraph a finding.

use super::abilities::push_abilities;
use crate::diag::sanitize;
use crate::doctor::{Diagnosis, Finding, FindingLevel, ServiceHealth, TargetDiagnosis};
use crate::provider::examine::Capabilities;
use crate::report::paint::Paint;
use crate::report::summary::counted;
use crate::report::wrap::wrap;

/// The columns before the words of a finding: the widest level and two blanks on either side.
const INDENT: usize = 11;

/// Renders a diagnosis.
pub fn render(diagnosis: &Diagnosis, width: usize, color: bool) -> String {
    let paint = Paint::new(color);
    let mut out = String::new();
    for target in &diagnosis.targets {
        push_target(&mut out, target, width, &paint);
        out.push('\n');
    }
    for service in &diagnosis.services {
        push_service(&mut out, service, width, &paint);
        out.push('\n');
    }
    let problems = counted(diagnosis.count(FindingLevel::Problem), "problem");
    let warnings = counted(diagnosis.count(FindingLevel::Warning), "warning");
    let services = match diagnosis.services.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "service")),
    };
    out + &format!("{}{services}: {problems}, {warnings}\n", counted(diagnosis.targets.len(), "target"))
}

/// Adds the block of one cluster-management service.
fn push_service(out: &mut String, service: &ServiceHealth, width: usize, paint: &Paint) {
    let (name, url) = (sanitize(&service.service), sanitize(&service.url));
    let head = format!("Service {name}: {url}, {}", service.version);
    out.push_str(&format!("{}{}{}\n\n", paint.head, wrap(&head, width, 0, 2), paint.off));
    service.findings.iter().for_each(|finding| push_finding(out, finding, width, paint));
}

/// Adds the block of one target.
fn push_target(out: &mut String, target: &TargetDiagnosis, width: usize, paint: &Paint) {
    let (pool, kind) = (sanitize(&target.pool), sanitize(&target.provider));
    let name = target.target.as_ref().map(|name| format!(", target {}", sanitize(name))).unwrap_or_default();
    let zones = counted(target.zones.len(), "zone");
    out.push_str(&format!("{}Pool {pool}{name}: {kind}, {zones}{}\n", paint.head, paint.off));
    out.push('\n');
    push_abilities(out, target, width, paint);
    let mut place = None;
    if target.findings.first().is_some_and(|finding| finding.place.is_none()) {
        out.push('\n');
    }
    for finding in &target.findings {
        if finding.place.as_deref() != place {
            place = finding.place.as_deref();
            out.push_str(&format!("\n  {}{}{}\n", paint.head, sanitize(place.unwrap_or_default()), paint.off));
        }
        push_finding(out, finding, width, paint);
    }
    if target.examined.capabilities == Capabilities::NotAsked {
        let text = "zonewright did not test whether it takes updates: first fix what is above.";
        out.push_str(&format!("\n{}\n", wrap(text, width, 2, 2)));
    }
}

/// Adds one finding: its level, the zone that it is about, what was found, and what to do.
fn push_finding(out: &mut String, finding: &Finding, width: usize, paint: &Paint) {
    let style = match finding.level {
        FindingLevel::Ok => &paint.create,
        FindingLevel::Note => &paint.dim,
        FindingLevel::Warning => &paint.modify,
        FindingLevel::Problem => &paint.alarm,
    };
    let zone = finding.zone.as_ref().map(|zone| format!("{zone}: ")).unwrap_or_default();
    let words = sanitize(&format!("{zone}{}", finding.message));
    let wrapped = wrap(&words, width, INDENT, INDENT);
    let level = finding.level.as_str();
    let gap = " ".repeat(INDENT - 2 - level.len());
    out.push_str(&format!("  {style}{level}{}{gap}{}\n", paint.off, &wrapped[INDENT..]));
    if let Some(hint) = &finding.hint {
        out.push_str(&format!("{}\n", wrap(&format!("hint: {}", sanitize(hint)), width, INDENT, INDENT + 2)));
    }
}
