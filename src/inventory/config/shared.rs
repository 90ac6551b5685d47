//! What both kinds of settings have in common.

use std::collections::BTreeMap;

use super::node::{Key, Node, Reader};
use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::dns::Ttl;
use crate::inventory::value::{Duration, Percent};

/// Settings that are checked but that nothing acts on yet: one warning for each kind, at the first place.
#[derive(Debug, Default)]
pub struct Unenforced(BTreeMap<&'static str, Diagnostic>);

impl Unenforced {
    /// Notes that `kind` is set at `key`.
    pub fn note(&mut self, kind: &'static str, key: &Key, reader: &Reader<'_>) {
        self.0.entry(kind).or_insert_with(|| {
            let message = format!("`{kind}` is accepted, but nothing enforces it yet");
            let diagnostic = reader.source().error("not-enforced", key.origin, key.width, message);
            Diagnostic { severity: Severity::Warning, ..diagnostic }.hint("do not rely on it")
        });
    }

    /// The warnings.
    pub fn into_diagnostics(self) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        self.0.into_values().for_each(|diagnostic| diagnostics.push(diagnostic));
        diagnostics
    }
}

/// What would be right where a duration stands.
pub const A_DURATION: &str = "a duration such as `90s`, `12h`, `7d` or `1h30m`";

/// What would be right where a share stands.
pub const A_PERCENTAGE: &str = "a share such as `10%` or `0.5%`";

/// How many limits one list may hold; more than a person can mean (no official source).
const MAX_LIMITS: usize = 100;

/// Checks a table of limits, and notes which there are.
pub fn check_limits(node: &Node, outer: &mut Reader<'_>, unenforced: &mut Unenforced) {
    let mut limits = Reader::new(node, outer.source());
    if let Some((key, list)) = limits.take_entry("hosts") {
        unenforced.note("limits.hosts", key, &limits);
        if let Some(items) = limits.list_of(list) {
            if items.len() > MAX_LIMITS {
                limits.error(list, "bad-value", format!("{} limits; {MAX_LIMITS} are allowed", items.len()));
            }
            for item in items.iter().take(MAX_LIMITS) {
                let findings = check_limit(item, &limits);
                limits.append(findings);
            }
        }
    }
    for kind in ["max_delete", "max_modify", "max_by_cause"] {
        if let Some((key, share)) = limits.take_entry(kind) {
            unenforced.note(kind, key, &limits);
            limits.parse_node::<Percent>(share, A_PERCENTAGE);
        }
    }
    outer.append(limits.finish());
}

/// Checks one limit: `{ period = "1h", max = 20 }`.
fn check_limit(item: &Node, outer: &Reader<'_>) -> Diagnostics {
    let mut limit = Reader::new(item, outer.source());
    if let Some(period) = limit.require("period")
        && limit.parse_node::<Duration>(period, A_DURATION) == Some(Duration::from_secs(0))
    {
        limit.error(period, "bad-value", "a period of no length holds nothing");
    }
    if let Some(max) = limit.require("max")
        && limit.integer_of(max).is_some_and(|max| max < 0)
    {
        limit.error(max, "bad-value", "a number of hosts is not negative");
    }
    limit.finish()
}

/// Reads a TTL.
pub fn read_ttl(node: &Node, reader: &mut Reader<'_>) -> Option<Ttl> {
    let seconds = reader.integer_of(node)?;
    let ttl = u64::try_from(seconds).ok().and_then(Ttl::from_secs);
    if ttl.is_none() {
        let message = format!("`{seconds}` is no TTL");
        let diagnostic = reader.source().error("bad-ttl", node.origin, node.width, message);
        reader.push(
            diagnostic
                .rule("a TTL has 31 bits: 0 to 2147483647 seconds (RFC 2181 section 8)")
                .hint("write the seconds, such as 3600"),
        );
    }
    ttl
}
