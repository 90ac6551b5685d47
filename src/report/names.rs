//! Names that are given, freed or recorded, as text: the difference in names.lock, and the outcome for each host.

use std::collections::BTreeMap;

use super::TextOptions;
use super::lines::unified;
use super::page::TextPage;
use crate::inventory::source::NAMES_LOCK;
use crate::inventory::value::Inv;
use crate::names::{NameChange, NameCode, NameRefusal, NamesOutcome, SettledHost};

/// Names.lock, old and new, and the outcome for each host.
#[derive(Debug, Clone, Copy)]
pub struct NamesReport<'a> {
    /// names.lock as it is.
    pub old: &'a str,
    /// names.lock as it would be.
    pub new: &'a str,
    /// The outcome for each host.
    pub outcome: &'a NamesOutcome,
    /// Whether `--write` was given.
    pub is_to_be_written: bool,
}

/// Renders names that are given, freed or recorded.
pub fn names(report: &NamesReport<'_>, options: &TextOptions) -> String {
    let NamesOutcome { namings, refused, settled, .. } = report.outcome;
    let mut page = TextPage::new(options);
    page.out.push_str(&unified(NAMES_LOCK, report.old, report.new, &page.paint));
    if !(page.out.is_empty()
        || namings.iter().all(|naming| naming.note.is_none()) && settled.is_empty() && refused.is_empty())
    {
        page.out.push('\n');
    }
    notes(&mut page, namings);
    settled_hosts(&mut page, settled);
    refusals(&mut page, refused);
    if !page.out.is_empty() {
        page.out.push('\n');
    }
    page.line(0, &summary(report));
    page.out
}

/// Adds what follows from namings, each once with the hosts that it is true of.
fn notes(page: &mut TextPage<'_>, namings: &[NameChange]) {
    let mut by_note: BTreeMap<&str, Vec<Inv>> = BTreeMap::new();
    for naming in namings {
        if let Some(note) = &naming.note {
            by_note.entry(note).or_default().push(naming.inv);
        }
    }
    for (note, hosts) in by_note {
        let hosts = numbers(page.options, &hosts);
        page.line(0, &format!("note: {note}: {hosts}"));
    }
}

/// Adds the hosts for which nothing needs to be done.
fn settled_hosts(page: &mut TextPage<'_>, settled: &[SettledHost]) {
    let shown = page.options.shown(settled.len());
    for SettledHost { inv, message } in &settled[..shown] {
        page.line(0, &format!("host {inv} {message}"));
    }
    if shown < settled.len() {
        page.line(0, &format!("and {} more hosts (-v lists all)", settled.len() - shown));
    }
}

/// Adds the hosts for which nothing could be done, those with one reason together; of many reasons only some.
fn refusals(page: &mut TextPage<'_>, refused: &[NameRefusal]) {
    let mut by_code: BTreeMap<NameCode, BTreeMap<(&str, &str), Vec<Inv>>> = BTreeMap::new();
    for NameRefusal { inv, code, message, hint, .. } in refused {
        by_code.entry(*code).or_default().entry((message, hint)).or_default().push(*inv);
    }
    for (code, kinds) in by_code {
        let shown = page.options.shown(kinds.len());
        for ((message, hint), hosts) in kinds.iter().take(shown) {
            let hosts = numbers(page.options, hosts);
            page.line(0, &format!("{code}: {message}: {hosts}"));
            page.line(2, &format!("= hint: {hint}"));
        }
        let hidden: usize = kinds.values().skip(shown).map(Vec::len).sum();
        if hidden > 0 {
            page.line(0, &format!("{code}: {hidden} more hosts (-v lists all)"));
        }
    }
}

/// Names hosts by their numbers; of many only some.
fn numbers(options: &TextOptions, hosts: &[Inv]) -> String {
    let shown = options.shown(hosts.len());
    let numbers: Vec<String> = hosts[..shown].iter().map(Inv::to_string).collect();
    let what = if hosts.len() == 1 { "host" } else { "hosts" };
    let more =
        if shown < hosts.len() { format!(" and {} more (-v lists all)", hosts.len() - shown) } else { String::new() };
    format!("{what} {}{more}", numbers.join(", "))
}

/// How many hosts get, give up or keep names, and what is not written of it.
fn summary(report: &NamesReport<'_>) -> String {
    let NamesOutcome { namings, refused, .. } = report.outcome;
    let count = |is: fn(&NameChange) -> bool| namings.iter().filter(|naming| is(naming)).count();
    let given = count(|naming| naming.before.is_none());
    let freed = count(|naming| naming.after.is_none());
    let kept = count(|naming| naming.before.is_some() && naming.before == naming.after);
    let renamed = namings.len() - given - freed - kept;
    let counts = [
        (given, "host gets a name", "hosts get names"),
        (renamed, "host gets another name", "hosts get other names"),
        (freed, "host gives up its name", "hosts give up their names"),
        (kept, "name is recorded", "names are recorded"),
        (refused.len(), "host stays as it is", "hosts stay as they are"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, several)| format!("{count} {}", if *count == 1 { one } else { several }))
        .collect();
    let told = if told.is_empty() { "nothing to do".to_owned() } else { told.join(", ") };
    let written = match (report.old == report.new, report.is_to_be_written) {
        (true, _) => "; names.lock stays as it is",
        (false, false) => "; names.lock is not written: `--write` writes it",
        (false, true) => "",
    };
    format!("{told}{written}")
}
