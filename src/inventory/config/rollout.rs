//! `rollout` of a project file and of the file of a set of pods.

use super::shared::{A_DURATION, A_PERCENTAGE};
use crate::diag::{Origin, did_you_mean};
use crate::inventory::health::HealthChecks;
use crate::inventory::node::{SettingsNode, SettingsValue, TableReader};
use crate::inventory::rollout::{MaxUnavailable, RolloutTerms, SettleTime};
use crate::inventory::value::{Duration, Percent};

/// Reads `rollout`; none where there is none, or where it has an error. `health` is what it may name.
pub fn read(reader: &mut TableReader<'_>, health: &HealthChecks) -> Option<RolloutTerms> {
    let node = reader.take("rollout")?;
    let mut rollout = TableReader::new(node, reader.source());
    let budget = rollout.require("max_unavailable");
    let budget = budget.and_then(|node| {
        Some(UnavailabilityBudget { max: read_budget(node, "hosts", &mut rollout)?, origin: node.origin })
    });
    let terms = read_terms(&mut rollout, budget, health);
    reader.append(rollout.finish());
    terms
}

/// Reads `rollout` of a set of pods, whose budget is not in it; what holds by default where there is none. None where the
/// budget has an error, which has been reported then.
pub fn read_of_set(
    reader: &mut TableReader<'_>,
    budget: Option<UnavailabilityBudget>,
    health: &HealthChecks,
) -> Option<RolloutTerms> {
    let Some(node) = reader.take("rollout") else { return budget.map(UnavailabilityBudget::terms) };
    let mut rollout = TableReader::new(node, reader.source());
    if let Some((key, _)) = rollout.take_entry("max_unavailable") {
        let message = "the budget of a set is not in `rollout`";
        let error = rollout.source().error("bad-value", key.origin, key.width, message);
        rollout.push(error.hint("write it as `unavailability_budget`, next to `rollout`"));
    }
    let terms = read_terms(&mut rollout, budget, health);
    reader.append(rollout.finish());
    terms
}

/// How many may be unreachable, with its place.
#[derive(Debug, Clone, Copy)]
pub struct UnavailabilityBudget {
    /// How many.
    pub max: MaxUnavailable,
    /// Where it is written.
    pub origin: Origin,
}

impl UnavailabilityBudget {
    /// What holds with it where nothing else is said.
    fn terms(self) -> RolloutTerms {
        RolloutTerms {
            max_unavailable: self.max,
            budget_origin: self.origin,
            one_location_at_a_time: true,
            settle: SettleTime::Ttl,
            settle_origin: None,
            canary: None,
            canary_origin: None,
            overlap: None,
            overlap_origin: None,
            gate: None,
            probe: None,
        }
    }
}

/// Reads all but the budget; none where that has an error.
fn read_terms(
    rollout: &mut TableReader<'_>,
    budget: Option<UnavailabilityBudget>,
    health: &HealthChecks,
) -> Option<RolloutTerms> {
    let one_location_at_a_time = rollout.boolean("one_location_at_a_time").unwrap_or(true);
    let settle = rollout.take("settle").and_then(|node| Some((read_settle(node, rollout)?, node.origin)));
    let canary = rollout.take("canary").and_then(|node| Some((read_count(node, rollout)?, node.origin)));
    let overlap = rollout.take("overlap");
    let overlap = overlap.and_then(|node| Some((rollout.parse_node::<Duration>(node, A_DURATION)?, node.origin)));
    let gate = read_name(rollout, "gate", &mut health.gates.keys());
    let probe = read_name(rollout, "probe", &mut health.probes.keys());
    let terms = RolloutTerms {
        one_location_at_a_time,
        canary: canary.map(|(canary, _)| canary),
        canary_origin: canary.map(|(_, origin)| origin),
        overlap: overlap.map(|(overlap, _)| overlap),
        overlap_origin: overlap.map(|(_, origin)| origin),
        gate,
        probe,
        ..budget?.terms()
    };
    Some(match settle {
        Some((settle, origin)) => RolloutTerms { settle, settle_origin: Some(origin), ..terms },
        None => terms,
    })
}

/// Reads the name of a gate or a probe that zonewright.toml has.
fn read_name(
    reader: &mut TableReader<'_>,
    kind: &'static str,
    known: &mut dyn Iterator<Item = &String>,
) -> Option<String> {
    let node = reader.take(kind)?;
    let name = reader.text_of(node)?;
    let known: Vec<&str> = known.map(String::as_str).collect();
    if !known.contains(&name) {
        let message = format!("zonewright.toml has no `[{kind}.{name}]`");
        let near = did_you_mean(name, known.iter().copied());
        let all = || format!("it has {}", known.iter().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", "));
        let hint = near.or_else(|| (!known.is_empty()).then(all));
        let hint = hint.unwrap_or_else(|| format!("ask the administrator for `[{kind}.{name}]`, or leave the key out"));
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.rule("the administrator defines gates and probes").hint(hint));
    }
    Some(name.to_owned())
}

/// Reads a number of `things` from 1, or a share.
pub fn read_budget(node: &SettingsNode, things: &str, reader: &mut TableReader<'_>) -> Option<MaxUnavailable> {
    if let Some(text) = node.as_text().filter(|text| text.ends_with('%')) {
        let share: Option<Percent> = text.parse().ok().filter(|share| *share != Percent::from_whole(0));
        if share.is_none() {
            let message = format!("`{text}` is not {A_PERCENTAGE}, above 0% and at most 100%");
            reader.error(node, "bad-value", message);
        }
        return share.map(MaxUnavailable::Share);
    }
    let is_number = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit() || octet == b'-');
    if let Some(text) = node.as_text().filter(|text| !is_number(text) || matches!(node.value, SettingsValue::Text(_))) {
        let message = format!("`{text}` is neither a number of {things}, such as `2`, nor a share, such as `5%`");
        reader.error(node, "bad-value", message);
        return None;
    }
    read_count(node, reader).map(MaxUnavailable::Number)
}

/// Reads a number from 1.
fn read_count(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<usize> {
    let number = reader.integer_of(node)?;
    let count = usize::try_from(number).ok().filter(|count| *count > 0);
    if count.is_none() {
        let message = format!("`{number}` would let nothing change; the least is 1");
        let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(diagnostic.hint("write 1 or more"));
    }
    count
}

/// Reads `ttl`, or a duration.
fn read_settle(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<SettleTime> {
    let is_ttl = matches!(&node.value, SettingsValue::Text(text) | SettingsValue::Plain(text) if text == "ttl");
    if is_ttl {
        return Some(SettleTime::Ttl);
    }
    let text = node.as_text().filter(|_| !node.is_null());
    let Some(text) = text else {
        reader.wrong_type(node, "`ttl` or a duration");
        return None;
    };
    let settle = text.parse::<Duration>().ok().map(SettleTime::Fixed);
    if settle.is_none() {
        reader.error(node, "bad-value", format!("`{text}` is neither `ttl` nor {A_DURATION}"));
    }
    settle
}
