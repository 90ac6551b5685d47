//! Where the targets of pools keep the marks that `registry` says, and whether they can.

use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::dns::Rtype;
use crate::inventory::model::Config;
use crate::inventory::pool::{Pool, TargetSpec};
use crate::provider;
use crate::registry::Registry;
use crate::target::{MarkPlace, TargetCapabilities};

/// Makes the owner of keys the registry where `txt` is said of targets that have it with their keys: they need no TXT.
pub(super) fn settle(config: &mut Config) {
    let has_owner =
        |target: &TargetSpec| provider::capabilities(target).is_some_and(|own| own.marks == Some(MarkPlace::Owner));
    let is_txt = |pool: &&mut Pool| pool.marking.registry == Registry::Txt;
    for pool in config.pools.iter_mut().filter(is_txt) {
        if pool.targets.iter().all(has_owner) {
            pool.marking.registry = Registry::Owner;
            pool.targets.iter_mut().for_each(|target| target.has_marks = true);
        }
    }
}

/// Refuses `registry` of pools with a target that cannot keep such marks.
pub(super) fn check(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    for pool in config.pools.iter().filter(|pool| !pool.is_of_record) {
        found.append(idle_owners(pool, config));
        let Some(node) = &pool.registry else { continue };
        let registry = pool.marking.registry;
        // What has no type is refused by another check.
        let of_targets = pool.targets.iter().filter_map(|target| Some((target, provider::capabilities(target)?)));
        let mut refused = of_targets.filter_map(|(target, own)| Some((target, refusal(registry, &own)?, words(&own))));
        if let Some((target, why, words)) = refused.next() {
            let message = format!(
                "`{}` cannot be the registry of pool `{}`: type `{}` {why}",
                registry.as_str(),
                pool.name,
                target.provider
            );
            let hint = format!("set `registry` of the pool to {words}; docs/targets.md says which types keep an owner");
            found.push(config.source.error("bad-value", node.origin, node.width, message).hint(hint));
        }
    }
    found
}

/// Warns of a target's own `owner`, where the owner of the pool is in its keys.
fn idle_owners(pool: &Pool, config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    let owners = pool.targets.iter().filter_map(|target| target.settings.get("owner"));
    for node in owners.filter(|_| pool.marking.registry == Registry::Owner) {
        let message =
            format!("`owner` of the target has no effect: the registry writes `{}` into the keys", pool.marking.owner);
        let warning = config.source.error("without-effect", node.origin, node.width, message);
        let hint = "remove it; `zonewright adopt --from-owner` takes over keys of another owner";
        found.push(Diagnostic { severity: Severity::Warning, ..warning.hint(hint) });
    }
    found
}

/// Why a target cannot keep the marks of a registry; none where it can.
fn refusal(registry: Registry, target: &TargetCapabilities) -> Option<String> {
    if registry == Registry::Txt && !holds_txt(target) {
        return Some("holds no TXT records".to_owned());
    }
    let place = registry.mark_place()?;
    match target.marks {
        None => Some("keeps no owner with its records".to_owned()),
        Some(own) if own == place => None,
        Some(own) => Some(format!("keeps an owner with its records as `{own}` alone")),
    }
}

/// The words of the registries that a target can have, but for `noop`, which knows no owner.
fn words(target: &TargetCapabilities) -> String {
    let of_target = target.marks.map(|own| format!("`{own}`"));
    let of_txt = holds_txt(target).then(|| "`txt`".to_owned());
    let mut words: Vec<String> = of_target.into_iter().chain(["`journal`".to_owned()]).chain(of_txt).collect();
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Whether TXT of a registry can be next to the records.
fn holds_txt(target: &TargetCapabilities) -> bool {
    target.bounds.types.holds(Rtype::TXT)
}
