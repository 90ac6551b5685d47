//! What both kinds of settings have in common.

use crate::diag::Diagnostics;
use crate::dns::Ttl;
use crate::inventory::model::HostLimit;
use crate::inventory::node::{SettingsNode, SettingsValue, TableReader};
use crate::inventory::value::Duration;

/// What a duration looks like, for messages.
pub const A_DURATION: &str = "a duration such as `90s`, `12h`, `7d` or `1h30m`";

/// What a size must be.
pub const A_SIZE: &str = "a size such as `64MiB` or `2GiB`";

/// What a share looks like, for messages.
pub const A_PERCENTAGE: &str = "a share such as `10%` or `0.5%`";

/// How many limits one list may hold; more than a person can mean.
const MAX_LIMITS: usize = 100;

/// Reads `hosts` of a table of limits; wrong ones are reported and ignored.
pub fn read_host_limits(limits: &mut TableReader<'_>) -> Vec<HostLimit> {
    let Some(list) = limits.take("hosts") else { return Vec::new() };
    let Some(items) = limits.list_of(list) else { return Vec::new() };
    if items.len() > MAX_LIMITS {
        limits.error(list, "bad-value", format!("{} limits; {MAX_LIMITS} are allowed", items.len()));
    }
    let mut read: Vec<HostLimit> = Vec::new();
    for item in items.iter().take(MAX_LIMITS) {
        let (limit, findings) = read_host_limit(item, limits);
        limits.append(findings);
        let Some(limit) = limit else { continue };
        // `--allow` names a limit by its period.
        if read.iter().any(|other| other.period == limit.period) {
            limits.error(item, "bad-value", format!("two limits for the period `{}`", limit.period));
        }
        read.push(limit);
    }
    read
}

/// Reads one limit: `{ period = "1h", max = 20 }`.
fn read_host_limit(item: &SettingsNode, outer: &TableReader<'_>) -> (Option<HostLimit>, Diagnostics) {
    let mut limit = TableReader::new(item, outer.source());
    let period = limit.require("period").and_then(|node| {
        let period = limit.parse_node::<Duration>(node, A_DURATION)?;
        if period == Duration::from_secs(0) {
            limit.error(node, "bad-value", "a period of length 0 limits nothing");
        }
        Some(period)
    });
    let max = limit.require("max").and_then(|node| {
        let max = limit.integer_of(node)?;
        if max < 0 {
            limit.error(node, "bad-value", "a number of hosts is not negative");
        }
        u64::try_from(max).ok()
    });
    let read = period.zip(max).map(|(period, max)| HostLimit { period, max, origin: item.origin });
    (read, limit.finish())
}

/// Reads a TTL.
pub fn read_ttl(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<Ttl> {
    let seconds = reader.integer_or(node, "a whole number of seconds")?;
    let ttl = u64::try_from(seconds).ok().and_then(Ttl::from_secs);
    if ttl.is_none() {
        let message = format!("`{seconds}` is not a TTL");
        let diagnostic = reader.source().error("bad-ttl", node.origin, node.width, message);
        reader.push(
            diagnostic
                .rule("a TTL has 31 bits: 0 to 2147483647 seconds (RFC 2181 section 8)")
                .hint("write the seconds, such as 3600"),
        );
    }
    ttl
}

/// Reads a command: a list of texts, of which the first is the program; reports anything else.
pub fn read_command(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<Vec<String>> {
    let texts: Option<Vec<String>> = match &node.value {
        SettingsValue::List(items) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
        _ => None,
    };
    match texts {
        Some(texts) if texts.first().is_some_and(|program| !program.is_empty()) => Some(texts),
        _ => {
            let message = "a command is a list of a program and its arguments, such as `[\"rndc\", \"reload\"]`";
            reader.error(node, "bad-command", message);
            None
        }
    }
}
