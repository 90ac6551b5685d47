//! `[gate.X]` and `[probe.X]` of zonewright.toml.

use std::collections::BTreeMap;
use std::time;

use super::notify::is_url;
use super::shared::{A_DURATION, read_command};
use crate::inventory::health::{AttemptTerms, Gate, GateQuestion, HealthChecks, Probe, ProbeQuestion};
use crate::inventory::node::TableReader;
use crate::inventory::value::Duration;

/// How long one attempt may take where `timeout` does not say.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The bounds of `timeout`, in seconds. A test of a service may take minutes; nothing else can use the state meanwhile.
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1..=600;

/// How many further attempts there are where `retries` does not say.
const RETRIES: u32 = 2;

/// The most further attempts.
const MAX_RETRIES: i64 = 10;

/// Reads all gates and probes; wrong ones are reported and left out.
pub fn read(reader: &mut TableReader<'_>) -> HealthChecks {
    HealthChecks { gates: read_named(reader, "gate", read_gate), probes: read_named(reader, "probe", read_probe) }
}

/// Reads the tables of one kind, by name.
fn read_named<T>(
    reader: &mut TableReader<'_>,
    kind: &'static str,
    read: impl Fn(&mut TableReader<'_>) -> Option<T>,
) -> BTreeMap<String, T> {
    let mut named = BTreeMap::new();
    let Some(node) = reader.take(kind) else { return named };
    let mut table = TableReader::new(node, reader.source());
    for (key, node) in table.take_all() {
        if !super::is_id(&key.name) {
            let message = format!("`{}` cannot be the name of a {kind}", key.name);
            table.push(table.source().error("bad-value", key.origin, key.width, message).hint(super::ID_HINT));
        }
        let mut own = TableReader::new(node, table.source());
        let found = read(&mut own);
        table.append(own.finish());
        named.extend(found.map(|found| (key.name.clone(), found)));
    }
    reader.append(table.finish());
    named
}

/// Reads a gate.
fn read_gate(gate: &mut TableReader<'_>) -> Option<Gate> {
    let terms = read_terms(gate);
    let command = gate.take("command").map(|node| read_command(gate, node).map(GateQuestion::Command));
    let url = gate.take("url").map(|node| {
        let text = gate.text_of(node)?;
        if !is_url(text) {
            let error = gate.source().error("bad-value", node.origin, node.width, "`url` is not a URL");
            gate.push(error.hint("write `https://` or `http://`, a host and a path"));
            return None;
        }
        Some(GateQuestion::Url(text.to_owned()))
    });
    let asks = one_of(gate, ("command", command), ("url", url))?;
    Some(Gate { asks, terms })
}

/// Reads a probe.
fn read_probe(probe: &mut TableReader<'_>) -> Option<Probe> {
    let terms = read_terms(probe);
    let port = probe.take("port").map(|node| {
        let number = probe.integer_of(node)?;
        let port = u16::try_from(number).ok().filter(|port| *port > 0);
        if port.is_none() {
            probe.error(node, "bad-value", format!("`{number}` is not a port: 1 to 65535"));
        }
        port.map(ProbeQuestion::Port)
    });
    let command = probe.take("command").map(|node| read_command(probe, node).map(ProbeQuestion::Command));
    let asks = one_of(probe, ("port", port), ("command", command))?;
    Some(Probe { asks, terms })
}

/// Takes the one key of two that is there; none where it is wrong. Reports both, and none.
fn one_of<T>(
    table: &mut TableReader<'_>,
    (first_key, first): (&str, Option<Option<T>>),
    (second_key, second): (&str, Option<Option<T>>),
) -> Option<T> {
    match (first, second) {
        (Some(one), None) | (None, Some(one)) => one,
        (Some(_), Some(_)) => {
            table.error(table.node(), "bad-value", format!("it has `{first_key}` or `{second_key}`, not both"));
            None
        }
        (None, None) => {
            let node = table.node();
            let message = format!("it has neither `{first_key}` nor `{second_key}`, so that it asks nothing");
            let error = table.source().error("missing-key", node.origin, node.width, message);
            table.push(error.hint(format!("add `{first_key}` or `{second_key}`")));
            None
        }
    }
}

/// Reads `timeout` and `retries`.
fn read_terms(table: &mut TableReader<'_>) -> AttemptTerms {
    let timeout = table.take("timeout").and_then(|node| {
        let timeout = table.parse_node::<Duration>(node, A_DURATION)?;
        if !TIMEOUTS.contains(&timeout.as_secs()) {
            table.error(node, "bad-value", "a timeout is from `1s` to `10m` here: the run waits for it");
        }
        Some(timeout)
    });
    let retries = table.integer("retries").and_then(|(node, number)| {
        if !(0..=MAX_RETRIES).contains(&number) {
            table.error(node, "bad-value", format!("`{number}` is not a number of retries: 0 to {MAX_RETRIES}"));
        }
        u32::try_from(number).ok()
    });
    AttemptTerms {
        timeout: time::Duration::from_secs(timeout.unwrap_or(TIMEOUT).as_secs()),
        retries: retries.unwrap_or(RETRIES),
    }
}
