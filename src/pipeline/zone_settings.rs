//! What settings ask of zones that the targets of their pool cannot do: ids of zones that the pool does not have, and zones that
//! none of its targets makes.

use crate::diag::Diagnostics;
use crate::diag::near::did_you_mean;
use crate::dns::Name;
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::pool::Pool;
use crate::provider;

/// How many columns the value of `create` takes.
const CREATE_WIDTH: usize = "true".len();

/// Refuses both.
pub(super) fn check(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    // The zones of a DNS update record may not be known yet.
    for (place, pool) in config.pools.iter().enumerate().filter(|(_, pool)| !pool.is_of_record) {
        let zones: Vec<&ZoneSpec> = config.zones.iter().filter(|zone| zone.pool == place).collect();
        check_ids(config, pool, &zones, &mut found);
        zones.iter().for_each(|zone| check_making(config, pool, zone, &mut found));
    }
    found
}

/// Refuses ids of zones that the pool does not have: a slip of the pen would leave the zone that is meant without its id.
fn check_ids(config: &Config, pool: &Pool, zones: &[&ZoneSpec], found: &mut Diagnostics) {
    for key in pool.targets.iter().flat_map(provider::zones_with_ids) {
        // A name that cannot be read is refused by the provider.
        let Ok(name) = Name::parse(&key.name) else { continue };
        if zones.iter().any(|zone| zone.name.as_name() == name.as_name()) {
            continue;
        }
        let names: Vec<String> = zones.iter().map(|zone| zone.name.as_name().to_dotless_text()).collect();
        let message = format!("`{}` is not a zone of pool `{}`", key.name, pool.name);
        let hint = did_you_mean(key.name.trim_end_matches('.'), names.iter().map(String::as_str));
        let hint = hint.unwrap_or_else(|| "remove it, or add a `[[zone]]` with this name and this pool".to_owned());
        found.push(config.source.error("bad-value", key.origin, key.width, message).hint(hint));
    }
}

/// Refuses `create = true` where no target of the pool makes a zone. Where one of them may, the others need not.
fn check_making(config: &Config, pool: &Pool, zone: &ZoneSpec, found: &mut Diagnostics) {
    let Some(origin) = zone.create_origin.filter(|_| zone.create.is_some()) else { return };
    let whys: Option<Vec<&str>> =
        pool.targets.iter().map(|target| provider::capabilities(target).and_then(|able| able.making.never)).collect();
    let Some(why) = whys.as_deref().and_then(<[&str]>::first) else { return };
    let message = format!("pool `{}` cannot make `{}`: {why}", pool.name, zone.name);
    let hint = "leave out `create`, and make the zone by the tools of the target's provider";
    found.push(config.source.error("bad-value", origin, CREATE_WIDTH, message).hint(hint));
}
