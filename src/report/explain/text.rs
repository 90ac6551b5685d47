//! An explanation for people: the answer first, then the chain in the order in which it is derived.

use super::super::text::TextOptions;
use super::page::ExplainPage;
use super::{chain, site, verdict};
use crate::explain::Explanation;
use crate::explain::model::{
    AddressClaim, AddressFacts, ChangeFacts, HolderFacts, HoldingName, NameFacts, StatementFacts,
};

/// Renders an explanation.
pub fn render(explanation: &Explanation, options: &TextOptions) -> String {
    let mut page = ExplainPage::new(options);
    page.paragraph(&explanation.answer);
    if !explanation.unseen.is_empty() {
        page.heading("Not everything could be read");
        explanation.unseen.iter().for_each(|unseen| page.item(2, unseen));
    }
    if let Some(name) = &explanation.name {
        name_section(&mut page, name, explanation.host.as_ref().map(|host| host.inv));
    }
    if let Some(address) = &explanation.address {
        address_section(&mut page, address, explanation.host.as_ref().map(|host| host.inv));
    }
    if let Some(host) = &explanation.host {
        chain::render(&mut page, host);
    }
    page.finish()
}

/// All about a name.
fn name_section(page: &mut ExplainPage, facts: &NameFacts, host: Option<u64>) {
    page.heading(&format!("The name {}", facts.live.name));
    for StatementFacts { by, line, because, says, .. } in &facts.stated {
        page.fact("stated", &format!("by {by} ({line}): {says}"));
        if !because.is_empty() {
            page.fact("", &format!("it follows from {}", because.join(", ")));
        }
    }
    if facts.holders.is_empty() && facts.stated.is_empty() && !facts.is_without_hosts {
        page.fact("whose", "no host: no row of hosts.csv or names.lock has it as a backbone or fastbone name");
    }
    for HolderFacts { inv, interface, said, line, .. } in &facts.holders {
        page.fact("whose", &format!("host {inv}, {interface}: {said} ({line})"));
    }
    site::render(page, "live", &facts.live);
    let none = match facts.unread_reverse {
        0 => "no PTR names it".to_owned(),
        1 => "not known: 1 reverse zone could not be read".to_owned(),
        several => format!("not known: {several} reverse zones could not be read"),
    };
    holdings(page, "PTR to it", &none, &facts.pointers, "of ");
    for remark in &facts.remarks {
        page.fact("remark", remark);
    }
    touching(page, &facts.changes, host);
}

/// All about an address.
fn address_section(page: &mut ExplainPage, facts: &AddressFacts, host: Option<u64>) {
    page.heading("The address");
    for pod in &facts.pods {
        page.fact("whose", pod);
    }
    if facts.claims.is_empty() && facts.pods.is_empty() && !facts.is_without_hosts {
        page.fact("whose", "no host: it is not an address that any host may have");
    }
    for AddressClaim { inv, interface, name, role, line } in &facts.claims {
        let (role, what) = match *role {
            "own-a" => ("an A record at its name", ""),
            "listed" => ("an address that the inventory lists for it", ""),
            "preferred" => ("its preferred address", "network: "),
            _ => ("acceptable", "network: "),
        };
        let line = line.as_ref().map(|line| format!(" ({what}{line})")).unwrap_or_default();
        page.fact("whose", &format!("host {inv}, {interface} {name}: {role}{line}"));
    }
    for StatementFacts { by, line, because, says, .. } in &facts.stated {
        page.fact("stated", &format!("by {by} ({line}): {says}"));
        if !because.is_empty() {
            page.fact("", &format!("it follows from {}", because.join(", ")));
        }
    }
    holdings(page, "held by", "no live name holds it", &facts.held_by, "");
    site::render(page, "reverse", &facts.reverse);
    touching(page, &facts.changes, host);
}

/// The changes that touch what was asked for; those of `host`, whose decision follows, in a line.
fn touching(page: &mut ExplainPage, changes: &[ChangeFacts], host: Option<u64>) {
    if changes.is_empty() {
        page.fact("changes", "none touches it");
    }
    let (below, here): (Vec<&ChangeFacts>, Vec<_>) =
        changes.iter().partition(|change| host.is_some() && change.host == host);
    for change in below {
        page.fact("changes", &format!("{} {} (below)", change.verb, verdict::title(change)));
    }
    if !here.is_empty() {
        page.fact("changes", if host.is_some() { "of others, or of no host:" } else { "these touch it:" });
    }
    here.into_iter().for_each(|change| verdict::change(page, change, None));
}

/// Names or addresses; where there are none, `none` says so.
fn holdings(page: &mut ExplainPage, label: &str, none: &str, holdings: &[HoldingName], before: &str) {
    if holdings.is_empty() {
        page.fact(label, none);
    }
    for HoldingName { at, ttl, whose } in holdings {
        page.fact(label, &format!("{before}{at}, ttl {ttl}: {whose}"));
    }
}
