//! Which changes put back what a person edited after an apply; where a project keeps edits, their hosts are left.
//!
//! Comes in: the changes, and what the journal says was last written there. Goes out: the changes with the reason
//! `edited-since`, or notices in place of them. Only RRsets that are about to change are looked up.

use std::collections::BTreeSet;

use super::inputs::PlanInput;
use super::sights::{ReferenceSights, last_written};
use crate::change::{Change, Notice};
use crate::diag::Problem;
use crate::diff::decide::{self, DecisionInput};
use crate::diff::held::HeldEdits;
use crate::diff::judge::FleetDecisions;
use crate::dns::ZoneName;
use crate::drift::edited;
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::plan::order;
use crate::rollout::units;
use crate::state::{KnownMarkers, WrittenRrset};
use crate::target::{Marker, marker_key};

/// What was decided, with what the journal says about it.
pub(super) struct MarkedDecisions {
    /// What was decided; the changes as a plan sorts them.
    pub decided: FleetDecisions,
    /// What the latest update left at the RRset of each change, in their order.
    pub written: Vec<Option<WrittenRrset>>,
    /// What stays as it was edited.
    pub held: HeldEdits,
}

/// Decides, and marks the changes of RRsets that were edited since. Where a project keeps edits, it decides again without
/// the hosts of such changes: those of other hosts may depend on theirs.
///
/// Errors: the state cannot be read.
pub(super) fn decide(input: &PlanInput) -> Result<MarkedDecisions, Problem> {
    let PlanInput { inventory, zones, .. } = input;
    let (mut held, mut notices) = (HeldEdits::default(), Vec::new());
    loop {
        let mut decided = decide::decide(inventory, &zones.live, DecisionInput { held: &held, ..input.decision() });
        decided.changes.sort_by(order::changes);
        let written = mark(&mut decided.changes, input)?;
        let found = keep(inventory, &decided.changes, &written, &mut held);
        if found.is_empty() {
            decided.notices.extend(notices);
            return Ok(MarkedDecisions { decided, written, held });
        }
        notices.extend(found);
    }
}

/// What stays as it was edited, with the notices about it. Where no project keeps edits, that is nothing, and nothing is
/// decided to find out.
///
/// Errors: the state cannot be read.
pub(super) fn held(input: &PlanInput) -> Result<(HeldEdits, Vec<Notice>), Problem> {
    if input.state.is_none() || !input.inventory.projects.iter().any(|project| project.keeps_edits()) {
        return Ok(Default::default());
    }
    let MarkedDecisions { mut decided, held, .. } = decide(input)?;
    decided.notices.retain(|notice| notice.code == crate::change::NoticeCode::EditedSince);
    Ok((held, decided.notices))
}

/// Adds the reason `edited-since` to the changes of RRsets that are not as the latest update left them, if that is
/// proven. Gives what the latest update left at each.
///
/// Errors: the state cannot be read.
pub(super) fn mark(changes: &mut [Change], input: &PlanInput) -> Result<Vec<Option<WrittenRrset>>, Problem> {
    let Some(state) = input.state.as_deref().filter(|_| !changes.is_empty()) else {
        return Ok(vec![None; changes.len()]);
    };
    let config = &input.inventory.config;
    let written = last_written(config, changes, state)?;
    let differs = |(change, written): (&Change, &Option<WrittenRrset>)| {
        written.as_ref().is_some_and(|written| edited::differs(change, written))
    };
    let places: Vec<usize> =
        changes.iter().zip(&written).enumerate().filter(|(_, pair)| differs(*pair)).map(|(place, _)| place).collect();
    // What another process wrote since zones were read may be in the journal and not in these zones.
    if places.is_empty() || input.version != Some(state.version()?) {
        return Ok(written);
    }
    let markers = state.markers()?.among(config.targets().map(|target| &target.id));
    let current = current_zones(input, &markers, places.iter().map(|place| &changes[*place].zone));
    let sights = ReferenceSights::of(config);
    let sought: Vec<_> = places.iter().map(|place| sights.sight(&changes[*place].pool, &changes[*place].key)).collect();
    let creators = state.created_by(&sought)?;
    for (place, creator) in places.into_iter().zip(creators) {
        let (change, Some(left)) = (&mut changes[place], &written[place]) else { continue };
        // A server that said it created an RRset, and did not, left what others then created: it is not own.
        let was_there = creator.is_some() || !left.is_new || left.after.is_none();
        if was_there && current.contains(&change.zone) {
            edited::mark(change, left);
        }
    }
    Ok(written)
}

/// Those of some zones whose data hold all that this state wrote to them.
///
/// A zone with another marker than the latest is older, was restored from an older copy, or was written to with another
/// state. A zone that is asked name by name is asked now, and not for its marker.
fn current_zones<'c>(
    input: &PlanInput,
    markers: &KnownMarkers,
    zones: impl Iterator<Item = &'c ZoneName>,
) -> BTreeSet<ZoneName> {
    let config = &input.inventory.config;
    let copy =
        |zone: &ZoneName| config.zones.iter().find(|spec| spec.name == *zone).map(|spec| config.reference_copy(spec));
    let known = |zone: &ZoneName| copy(zone).map(|copy| markers.of(&copy)).unwrap_or_default();
    let is_current = |zone: &ZoneName| match known(zone) {
        known if known.is_empty() => input.snapshot.is_none(),
        _ if input.zones.asked.contains(zone) => true,
        known => {
            let key = marker_key(zone);
            let live = key.and_then(|key| input.zones.live.rrset(key.owner.as_name(), key.rtype));
            let live = live.and_then(|found| Marker::of_rrset(&found.rrset.to_rrset()));
            let mut markers = known.into_iter().flat_map(|known| known.marker.iter().chain(&known.open));
            live.is_some_and(|live| markers.any(|marker| *marker == live))
        }
    };
    let zones: BTreeSet<&ZoneName> = zones.collect();
    zones.into_iter().filter(|zone| is_current(zone)).cloned().collect()
}

/// Holds the hosts with an edited RRset whose project keeps edits, and all hosts that share a change with them. Gives
/// the notices about the edited RRsets.
fn keep(
    inventory: &Inventory,
    changes: &[Change],
    written: &[Option<WrittenRrset>],
    held: &mut HeldEdits,
) -> Vec<Notice> {
    let keeps = |change: &Change| {
        let project = inventory.projects.iter().find(|project| project.id == change.project);
        change.is_edited_since() && project.is_some_and(|project| project.keeps_edits())
    };
    if !changes.iter().any(keeps) {
        return Vec::new();
    }
    let mut notices = Vec::new();
    let units = units(changes);
    for unit in units.iter().filter(|unit| unit.changes.iter().any(|place| keeps(&changes[*place]))) {
        let own = || unit.changes.iter().map(|place| &changes[*place]);
        own().for_each(|change| held.add(change));
        let hosts: BTreeSet<Inv> = own().flat_map(Change::hosts).collect();
        let hosts: Vec<Inv> = hosts.into_iter().collect();
        let edited = unit.changes.iter().filter(|place| changes[**place].is_edited_since());
        let told = edited.filter_map(|place| Some((&changes[*place], written[*place].as_ref()?)));
        notices.extend(told.map(|(change, written)| edited::notice(change, written, &hosts)));
    }
    notices
}
