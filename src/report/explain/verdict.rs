//! What is done about a host, or why nothing is, and what would change that.

use super::super::copies::mark;
use super::super::words::{ExplainedCode as _, edited_after_in_words};
use super::page::ExplainPage;
use crate::change::{BlockCode, Rule};
use crate::explain::model::{ByHand, ChangeFacts, DecisionFacts, HostFacts, HostObstacle, ReasonFacts, RrsetData};

/// Renders the decision about a host.
pub fn render(page: &mut ExplainPage, host: &HostFacts) {
    let decision = &host.decision;
    page.heading(match decision.outcome {
        "changes" => "Decision: changes",
        "blocked" => "Decision: blocked",
        "skipped" => "Decision: skipped",
        "left-out" => "Decision: left out",
        "free" => "Decision: none, the host is free",
        "unknown" => "Decision: none, hosts.csv has no row of it",
        _ => "Decision: nothing to do",
    });
    if let Some(although) = &decision.although {
        page.item(2, although);
    }
    if !decision.said.is_empty() {
        page.item(2, &decision.said);
    }
    if decision.skipped.is_some() {
        page.item(2, "No rule changes its records; this includes the rules of other hosts.");
    }
    obstacles(page, &decision.obstacles);
    decision.changes.iter().for_each(|own| change(page, own, Some(host.inv)));
    further(page, host.inv, decision);
    if let Some(own) = &decision.by_hand {
        by_hand(page, host.inv, own);
    }
}

/// What is left, held back, or done by others.
fn further(page: &mut ExplainPage, inv: u64, decision: &DecisionFacts) {
    for notice in &decision.notices {
        page.item(2, &format!("notice: {notice}"));
    }
    if !decision.held_back.is_empty() {
        let policy = decision.policy.unwrap_or_default();
        page.item(2, &format!("Policy `{policy}` does not make these changes; `repair` would make them:"));
        decision.held_back.iter().for_each(|own| change(page, own, Some(inv)));
    }
    if !decision.changes_of_others.is_empty() {
        page.item(2, "Changes at its names and addresses for others, and changes that it shares:");
        decision.changes_of_others.iter().for_each(|own| change(page, own, Some(inv)));
    }
}

/// What blocks a host, then what would next.
fn obstacles(page: &mut ExplainPage, obstacles: &[HostObstacle]) {
    for (rank, HostObstacle { code, message, findings, hint }) in obstacles.iter().enumerate() {
        let style = page.paint.alarm.clone();
        match rank {
            0 => page.styled(2, &style, &format!("{code}: {message}")),
            _ => page.item(2, &format!("next, {code}: {message}")),
        }
        for found in findings {
            page.item(4, &format!("what is wrong: {found}"));
        }
        page.item(4, &format!("to unblock it: {hint}"));
        if let (0, Some(known)) = (rank, BlockCode::parse(code.as_str())) {
            page.item(4, &format!("what it means: {}", known.words().long));
        }
    }
}

/// What would happen if an operator named a skipped host.
fn by_hand(page: &mut ExplainPage, inv: u64, own: &ByHand) {
    let ByHand { command, passes, obstacles: blocks, changes } = own;
    if !passes {
        return page.item(2, &format!("`{command}` does not override that: only the administrator can change it."));
    }
    match (blocks.is_empty(), changes.is_empty()) {
        (false, _) => page.item(2, &format!("`{command}` overrides that; then the host would be blocked:")),
        (true, true) => page.item(2, &format!("`{command}` overrides that, and would find nothing to change.")),
        (true, false) => page.item(2, &format!("`{command}` overrides that, and would change:")),
    }
    obstacles(page, blocks);
    changes.iter().for_each(|own| change(page, own, Some(inv)));
}

/// One change, with its reasons; `host` is the one whose changes are shown, where it is one host's.
pub fn change(page: &mut ExplainPage, change: &ChangeFacts, host: Option<u64>) {
    let ChangeFacts { verb, before, after, targets, .. } = change;
    let at = title(change) + &mark(targets);
    let whose = match change.host {
        own if own == host && host.is_some() => String::new(),
        Some(own) => format!("  (of host {own})"),
        None => format!("  (of {})", change.of),
    };
    let style = match *verb {
        "create" => page.paint.create.clone(),
        "modify" => page.paint.modify.clone(),
        _ => page.paint.delete.clone(),
    };
    page.styled(2, &style, &format!("{verb} {at}  ttl {}{whose}", ttl(before.as_ref(), after.as_ref())));
    let data = |data: &Option<RrsetData>| data.as_ref().map(|data| data.rdata.clone()).unwrap_or_default();
    let (old, new) = (data(before), data(after));
    old.iter().filter(|text| new.contains(text)).for_each(|text| page.exact(4, &format!("  {text}")));
    old.iter().filter(|text| !new.contains(text)).for_each(|text| page.exact(4, &format!("- {text}")));
    new.iter().filter(|text| !old.contains(text)).for_each(|text| page.exact(4, &format!("+ {text}")));
    change.reasons.iter().for_each(|own| reason(page, own, change.host));
}

/// The RRset of a change.
pub fn title(change: &ChangeFacts) -> String {
    let ChangeFacts { name, address, rtype, registers, .. } = change;
    match (registers, address) {
        (Some(recorded), _) => format!("{rtype} for {recorded}"),
        (None, Some(address)) => format!("{rtype} of {address}"),
        (None, None) => format!("{rtype} {name}"),
    }
}

/// The TTL, or the old one and the new one.
fn ttl(before: Option<&RrsetData>, after: Option<&RrsetData>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before.ttl != after.ttl => format!("{} -> {}", before.ttl, after.ttl),
        (Some(data), _) | (None, Some(data)) => data.ttl.to_string(),
        (None, None) => String::new(),
    }
}

/// Why something is changed, with the lines.
fn reason(page: &mut ExplainPage, reason: &ReasonFacts, host: Option<u64>) {
    if reason.rule == Rule::EditedSince.as_str()
        && let Some(says) = edited_after_in_words(&reason.evidence)
    {
        return page.item(4, &says);
    }
    let words = Rule::parse(reason.rule).map(|rule| format!("{}: {}", rule.words().title, rule.words().brief));
    let whose = match reason.host {
        Some(inv) if Some(inv) != host => format!(" for host {inv}"),
        _ => String::new(),
    };
    let lines = match reason.evidence.as_slice() {
        [] => String::new(),
        lines if page.is_as_above(lines) => " (as above)".to_owned(),
        lines => format!(" ({})", lines.join(", ")),
    };
    page.item(4, &format!("{}{whose}{lines}", words.unwrap_or_default()));
}
