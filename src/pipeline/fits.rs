//! Whether a plan still fits: the zones and targets of the settings, the state that wrote to the zones, and what it was made
//! from.

use std::collections::BTreeSet;
use std::path::Path;

use crate::apply::{LaneSurvey, Survey, SurveyedCopy};
use crate::change::Change;
use crate::diag::Problem;
use crate::disk;
use crate::dns::ZoneName;
use crate::inventory::model::{Config, ZoneSpec};
use crate::plan::{Plan, ZoneSeen};
use crate::state::KnownMarkers;
use crate::target::{PoolName, ZoneId};

/// The settings of the zones that a plan changes.
///
/// Errors: one is not configured, or a target of it.
pub fn zones_of<'c>(plan: &Plan, config: &'c Config, place: &str) -> Result<Vec<&'c ZoneSpec>, Problem> {
    if let Some(refusal) = unknown_target(plan, config, place) {
        return Err(refusal);
    }
    let of_zones = plan.zone_changes.iter().flat_map(|change| {
        [Some(&change.zone), change.catalog.as_ref()].into_iter().flatten().map(|zone| (&change.pool, zone))
    });
    let changes = plan.changes.iter().map(|change| (&change.pool, &change.zone));
    let zones: BTreeSet<(&PoolName, &ZoneName)> = changes.chain(of_zones).collect();
    let unknown = |message: String, hint: &str| Problem::new(place, "unknown-zone", message).hint(hint);
    let spec = |(pool, name): (&PoolName, &ZoneName)| {
        if let Some(spec) = config.zone(&ZoneId { pool: pool.clone(), name: name.clone() }) {
            return Ok(spec);
        }
        if config.update_records.find(pool.as_str()).is_some() {
            let message = format!(
                "the plan changes the zone `{name}` of the DNS update record `{pool}`, which cannot be used now"
            );
            return Err(unknown(
                message,
                "`zonewright check` says what is wrong with the record; correct that, or plan again",
            ));
        }
        let spec = config.listed_zones().find(|spec| spec.name == *name).ok_or_else(|| {
            let message = format!("the plan changes the zone `{name}`, which is not in zonewright.toml");
            unknown(message, "plan again, or add the zone to zonewright.toml")
        })?;
        let own = &config.pools[spec.pool].name;
        let message =
            format!("the plan changes the zone `{name}` of pool `{pool}`, and zonewright.toml has it in `{own}`");
        Err(unknown(message, "plan again"))
    };
    zones.into_iter().map(spec).collect()
}

/// The refusal of a plan that has a change for a target which its pool does not have.
fn unknown_target(plan: &Plan, config: &Config, place: &str) -> Option<Problem> {
    let has = |change: &Change, name: &String| {
        let mut targets = config.targets().filter(|target| target.id.pool == change.pool);
        targets.any(|target| target.id.name == *name)
    };
    let stray =
        |change: &Change| Some((change.zone.clone(), change.targets.iter().find(|name| !has(change, name))?.clone()));
    let (zone, name) = plan.changes.iter().find_map(stray)?;
    let message = format!("the plan changes the zone `{zone}` at the target `{name}`, which its pool does not have");
    Some(Problem::new(place, "no-such-target", message).hint("plan again"))
}

/// Refuses to write to a zone whose marker the state does not know, unless it is older than what the state knows.
pub fn state_lost(survey: &Survey<'_>, known: &KnownMarkers) -> Option<Problem> {
    let lost = |zone: &&SurveyedCopy<'_>| zone.marker().is_some_and(|live| !known.covers(&zone.copy, &live));
    let zone = survey.copies().find(lost)?;
    let live = zone.marker()?;
    let knows = match known.of(&zone.copy).into_iter().find_map(|known| known.marker.as_ref()) {
        Some(marker) => format!("the last one in the state is `{marker}`"),
        None => "the state has none".to_owned(),
    };
    let hint = "restore the state (`[state] url`) of the run that wrote the marker; or check what that run changed, \
                and then take over its markers: `zonewright state init --reason TEXT`";
    Some(
        Problem::new(
            zone.writer.place(&zone.copy.zone),
            "state-lost",
            format!(
                "the zone's marker is `{live}`, and {knows}: an apply that this state does not know wrote to the zone"
            ),
        )
        .hint(hint),
    )
}

/// The zones and input files that have changed since the plan was made.
pub fn moved(plan: &Plan, survey: &Survey<'_>, workspace: &Path) -> Vec<String> {
    let serial = |lane: &LaneSurvey<'_>, zone: &SurveyedCopy<'_>| {
        let is_it = |seen: &&ZoneSeen| {
            let is_target = lane.target.as_ref().is_none_or(|target| seen.target == target.name);
            seen.zone == zone.copy.zone && seen.pool == zone.copy.target.pool && is_target
        };
        let seen = plan.zones.iter().find(is_it)?.serial?;
        let now = zone.serial.filter(|now| *now != seen)?;
        let at = lane.target.as_ref().map(|target| format!(" at target `{target}`")).unwrap_or_default();
        Some(format!("zone `{}`{at}: serial {now}, the plan saw {seen}", zone.copy.zone))
    };
    // The names of snapshot files begin with the folder as the operator gave it to `plan`.
    let found = |name: &str| disk::digest(&workspace.join(name)).or_else(|_| disk::digest(Path::new(name)));
    let input = |(name, digest): (&String, &String)| match found(name) {
        Ok(found) if found == *digest => None,
        Ok(_) => Some(format!("{name}: changed")),
        Err(_) => Some(format!("{name}: no longer readable")),
    };
    let of_lane =
        |lane: &LaneSurvey<'_>| -> Vec<String> { lane.copies.iter().filter_map(|copy| serial(lane, copy)).collect() };
    let mut moved: Vec<String> = survey.lanes.iter().flat_map(of_lane).collect();
    moved.extend(plan.inputs.iter().filter_map(input));
    moved.sort();
    moved
}
