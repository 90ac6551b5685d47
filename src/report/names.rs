//! Names that are given, freed or recorded, as text: the difference in names.lock, and what became of each host.

use std::collections::BTreeMap;

use super::TextOptions;
use super::lines::unified;
use super::page::Page;
use super::summary::counted;
use crate::inventory::source::NAMES_LOCK;
use crate::names::settle::Decision;
use crate::names::{NameCode, Naming, Outcome, Refusal, Settlement};

/// Names.lock, old and new, and what became of each host.
#[derive(Debug, Clone, Copy)]
pub struct NamesReport<'a> {
    /// names.lock as it stands.
    pub old: &'a str,
    /// names.lock as it would be.
    pub new: &'a str,
    /// What became of each host.
    pub outcome: &'a Outcome,
    /// Whether it is written now.
    pub is_written: bool,
}

/// Renders names that are given, freed or recorded.
pub fn names(report: &NamesReport<'_>, options: &TextOptions) -> String {
    let Outcome { namings, refused, settled, .. } = report.outcome;
    let mut page = Page::new(options);
    page.out.push_str(&unified(NAMES_LOCK, report.old, report.new, &page.paint));
    let noted: Vec<String> =
        namings.iter().filter_map(|naming| Some(format!("host {}: {}", naming.inv, naming.note.as_ref()?))).collect();
    let settled: Vec<String> =
        settled.iter().map(|settled| format!("host {} {}", settled.inv, settled.message)).collect();
    let mut by_kind: BTreeMap<(NameCode, &str, &str), Vec<&Refusal>> = BTreeMap::new();
    for refusal in refused {
        by_kind.entry((refusal.code, &refusal.message, &refusal.hint)).or_default().push(refusal);
    }
    if !(page.out.is_empty() || noted.is_empty() && settled.is_empty() && refused.is_empty()) {
        page.out.push('\n');
    }
    for line in noted.iter().chain(&settled).take(options.shown(noted.len() + settled.len())) {
        page.line(0, line);
    }
    let hidden = noted.len() + settled.len() - options.shown(noted.len() + settled.len());
    if hidden > 0 {
        page.line(0, &format!("and {hidden} more; -v shows them"));
    }
    for ((code, message, hint), hosts) in &by_kind {
        let shown = options.shown(hosts.len());
        let numbers: Vec<String> = hosts.iter().take(shown).map(|refusal| refusal.inv.to_string()).collect();
        let more = hosts.len() - shown;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.line(
            0,
            &format!(
                "{code}: {message}: {} {}{more}",
                if hosts.len() == 1 { "host" } else { "hosts" },
                numbers.join(", ")
            ),
        );
        page.line(2, &format!("= hint: {hint}"));
    }
    if !page.out.is_empty() {
        page.out.push('\n');
    }
    page.line(0, &summary(report));
    page.out
}

/// Renders what was settled in names.lock, which is `old` and `new`, and what is left to people.
pub fn settlement((old, new): (&str, &str), settlement: &Settlement, options: &TextOptions) -> String {
    let Settlement { decided, left, .. } = settlement;
    let mut page = Page::new(options);
    page.out.push_str(&unified(NAMES_LOCK, old, new, &page.paint));
    if !page.out.is_empty() {
        page.out.push('\n');
    }
    let tell = |page: &mut Page, decisions: &[Decision]| {
        let shown = options.shown(decisions.len());
        for Decision { inv, message } in decisions.iter().take(shown) {
            page.line(0, &format!("host {inv} {message}"));
        }
        if decisions.len() > shown {
            page.line(0, &format!("and {} more; -v shows them", decisions.len() - shown));
        }
    };
    tell(&mut page, decided);
    if !left.is_empty() {
        page.line(0, "left to you:");
        tell(&mut page, left);
    }
    if !(decided.is_empty() && left.is_empty()) {
        page.out.push('\n');
    }
    let written = if old == new { "names.lock stays as it is" } else { "names.lock is written" };
    let told = match decided.len() {
        0 => "nothing to settle".to_owned(),
        count => format!("{} settled", counted(count, "conflict")),
    };
    page.line(0, &format!("{told}; {written}"));
    page.out
}

/// How many hosts got, gave up or keep names, and whether that is written.
fn summary(report: &NamesReport<'_>) -> String {
    let Outcome { namings, refused, .. } = report.outcome;
    let count = |is: fn(&Naming) -> bool| namings.iter().filter(|naming| is(naming)).count();
    let given = count(|naming| naming.before.is_none());
    let freed = count(|naming| naming.after.is_none());
    let kept = count(|naming| naming.before.is_some() && naming.before == naming.after);
    let renamed = namings.len() - given - freed - kept;
    let counts = [
        (given, "given a name"),
        (renamed, "renamed"),
        (freed, "without a name now"),
        (kept, "noted with its name"),
        (refused.len(), "left as it is"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count, "host")))
        .collect();
    let told = if told.is_empty() { "nothing to do".to_owned() } else { told.join(", ") };
    let written = match (report.old == report.new, report.is_written) {
        (true, _) => "names.lock stays as it is",
        (false, true) => "names.lock is written",
        (false, false) => "names.lock is not written; `--write` writes it",
    };
    format!("{told}; {written}")
}
