//! Targets that hold the same copy of a zone: two of them would write it twice, each against what it believes to be there.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::model::Config;
use crate::inventory::pool::TargetSpec;
use crate::provider::{self, TargetEndpoint};

/// The code of a copy that two targets hold.
pub(super) const CODE: &str = "shared-copy";

/// A target with one of the places where it is.
struct EndpointUse<'c> {
    /// The target.
    target: &'c TargetSpec,
    /// Its pool, by its place in the settings.
    pool: usize,
    /// One of its places.
    endpoint: TargetEndpoint<'c>,
}

/// Refuses two targets that are at one place, as one key sees it, and hold the same zone.
pub(super) fn check(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    let mut places: BTreeMap<(&str, String), Vec<EndpointUse<'_>>> = BTreeMap::new();
    for (pool, target) in
        config.pools.iter().enumerate().flat_map(|(pool, spec)| spec.targets.iter().map(move |t| (pool, t)))
    {
        for endpoint in provider::endpoints(target) {
            let here = places.entry((target.provider.as_str(), endpoint.identity.clone())).or_default();
            let here_too = EndpointUse { target, pool, endpoint };
            if let Some((other, zone)) =
                here.iter().find_map(|other| Some((other, shared_zone(config, other, &here_too)?)))
            {
                let TargetEndpoint { node, .. } = here_too.endpoint;
                let message = format!(
                    "target `{}` is at the same place as target `{}`, and both hold `{zone}`",
                    target.id, other.target.id
                );
                let first = format!("the first is on line {}", other.endpoint.node.origin.line);
                found.push(refusal(config.source.error(CODE, node.origin, node.width, message).also(first)));
            }
            here.push(here_too);
        }
    }
    found
}

/// The error about a copy that two targets hold, with its rule and what to do.
pub(super) fn refusal(error: Diagnostic) -> Diagnostic {
    let rule = "each copy of a zone belongs to one target, which alone writes it";
    error.rule(rule).hint("remove one of them, or correct where it is")
}

/// A zone that two targets hold; a server that one target names twice is no second target.
fn shared_zone(config: &Config, one: &EndpointUse<'_>, other: &EndpointUse<'_>) -> Option<String> {
    if one.target.id == other.target.id {
        return None;
    }
    let of = |pool: usize| config.zones.iter().filter(move |zone| zone.pool == pool).map(|zone| &zone.name);
    let zone = of(other.pool).find(|zone| of(one.pool).any(|own| own == *zone))?;
    Some(zone.to_string())
}
