//! The conflicts that were resolved in names.lock, as text: the difference, and what was decided.

use super::TextOptions;
use super::lines::unified;
use super::page::TextPage;
use super::summary::counted;
use crate::inventory::source::NAMES_LOCK;
use crate::names::Settlement;
use crate::names::settle::HostDecision;

/// Renders the conflicts that were resolved between the `old` and the `new` names.lock, and those that are left to
/// people.
pub fn settlement(old: &str, new: &str, settlement: &Settlement, options: &TextOptions) -> String {
    let Settlement { decided, left, .. } = settlement;
    let mut page = TextPage::new(options);
    page.out.push_str(&unified(NAMES_LOCK, old, new, &page.paint));
    if !page.out.is_empty() {
        page.out.push('\n');
    }
    let tell = |page: &mut TextPage, decisions: &[HostDecision]| {
        let shown = options.shown(decisions.len());
        for HostDecision { inv, message } in decisions.iter().take(shown) {
            page.line(0, &format!("host {inv} {message}"));
        }
        if decisions.len() > shown {
            page.line(0, &format!("and {} more; -v shows them", decisions.len() - shown));
        }
    };
    tell(&mut page, decided);
    if !left.is_empty() {
        page.line(0, "for you to decide:");
        tell(&mut page, left);
    }
    if !(decided.is_empty() && left.is_empty()) {
        page.out.push('\n');
    }
    let told = match decided.len() {
        0 => "no conflict to resolve".to_owned(),
        count => format!("{} resolved", counted(count, "conflict")),
    };
    let stays = if old == new { "; names.lock stays as it is" } else { "" };
    page.line(0, &format!("{told}{stays}"));
    page.out
}
