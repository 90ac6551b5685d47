//! Whether the targets of pools keep marks where `registry` says that they do.

use crate::diag::Diagnostics;
use crate::inventory::model::Config;
use crate::provider;

/// Refuses `registry` of pools with a target that keeps no such marks.
pub(super) fn check(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    for pool in &config.pools {
        let (Some(place), Some(node)) = (pool.marking.registry.mark_place(), &pool.registry) else { continue };
        // What has no type is refused by another check.
        let keeps = |provider| provider::capabilities(provider).is_none_or(|own| own.marks == Some(place));
        if let Some(target) = pool.targets.iter().find(|target| !keeps(target)) {
            let message = format!(
                "`{place}` cannot be the registry of pool `{}`: type `{}` keeps no owner with its records",
                pool.name, target.provider
            );
            let hint =
                "set `registry` of the pool to `journal` or `txt`; docs/targets.md says which types keep an owner";
            found.push(config.source.error("bad-value", node.origin, node.width, message).hint(hint));
        }
    }
    found
}
