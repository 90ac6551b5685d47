//! What a person accepted, as text: how it differs from what was accepted before.

use super::TextOptions;
use super::page::TextPage;
use super::summary::counted;
use crate::guard::baseline::ChangedEntry;
use crate::state::ExportExchange;

/// How many examples are shown of each kind.
const EXAMPLES: usize = 3;

/// Renders what a person accepted.
pub fn accepted(exchange: &ExportExchange, options: &TextOptions) -> String {
    let ExportExchange { source, rows, dated, before, difference, leaving } = exchange;
    let mut page = TextPage::new(options);
    let dated = dated.map(|dated| format!(", of {dated}")).unwrap_or_default();
    let head = match *rows {
        0 => format!("Source `{source}`: no export is accepted now"),
        rows => format!("Source `{source}`: its export is now accepted: {}{dated}", counted(rows, "row")),
    };
    page.line(0, &head);
    let Some(before) = before else {
        page.line(0, "Before: none was accepted");
        return page.out;
    };
    let (rows, words) = (counted(before.rows, "row"), before.words());
    page.line(0, &format!("Before: {rows}, accepted {} {words}", before.at.to_second()));
    page.line(2, &listed("gone", &difference.gone));
    page.line(2, &listed("new", &difference.new));
    page.line(2, &changed(&difference.changed));
    if !leaving.is_empty() {
        let leave = if leaving.len() == 1 { "switch leaves its" } else { "switches leave their" };
        page.line(2, &format!("{} {leave} L3 segment: {}", leaving.len(), quoted(leaving).join(", ")));
    }
    page.out
}

/// How many things are gone, or new, with examples.
fn listed(what: &str, keys: &[String]) -> String {
    let examples = quoted(&keys[..keys.len().min(EXAMPLES)]).join(", ");
    match keys.len() {
        0 => format!("{what}: none"),
        count if count <= EXAMPLES => format!("{what}: {count}: {examples}"),
        count => format!("{what}: {count}, such as {examples}"),
    }
}

/// How many things changed, with examples.
fn changed(changed: &[ChangedEntry]) -> String {
    let examples = changed.iter().take(EXAMPLES);
    let examples: Vec<String> =
        examples.map(|ChangedEntry { key, was, is }| format!("`{key}`: {is}, was {was}")).collect();
    let such_as = if changed.len() > EXAMPLES { ", such as" } else { ":" };
    match changed.len() {
        0 => "changed: none".to_owned(),
        count => format!("changed: {count}{such_as} {}", examples.join("; ")),
    }
}

/// Names in backticks.
fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}
