//! What would be decided by a base, with the present live data.

use super::super::targets::server_names;
use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use super::super::base::{self, Base};
use super::super::inputs::{PlanInput, PlanRequest};
use super::{ReviewError, ReviewSubject};
use crate::change::{BlockCode, BlockedSubject, Change};
use crate::claim::Subject;
use crate::diff::decide::{self, DecisionInput};
use crate::diff::judge::FleetDecisions;
use crate::diff::survey::FleetSurvey;
use crate::diff::{RuleGround, Selection};
use crate::dns::{NameRef, ZoneName};
use crate::guard::{last, trust};
use crate::inventory::Inventory;
use crate::inventory::model::{ProjectIndex, Trust, ZoneSpec};
use crate::inventory::moves::HostMoves;
use crate::inventory::pool::Pool;
use crate::inventory::value::{Inv, Time};
use crate::plan::order;
use crate::review::InventorySide;

/// A base, and what is decided by it.
pub struct DecidedBase {
    /// The base.
    pub base: Base,
    /// What is decided by it.
    pub decided: FleetDecisions,
    /// The present zones that it lacks.
    pub new_zones: BTreeSet<ZoneName>,
}

impl DecidedBase {
    /// Loads a base and decides by it, with the live data that the plan was made from.
    ///
    /// Errors: the base or the state cannot be read.
    pub fn decide(
        request: &PlanRequest<'_>,
        reviewed: ReviewSubject<'_>,
        name: &str,
    ) -> Result<DecidedBase, ReviewError> {
        let PlanInput { inventory: now, zones, state, .. } = reviewed.input;
        let live = &zones.live;
        let mut base = base::load(request.workspace, name, request.now)?;
        let inventory = &mut base.inventory;
        // The same switches must stay in an L3 segment on both sides.
        last::keep_in_l3(
            inventory,
            &state.as_deref().map(|state| state.l3_switches()).transpose()?.unwrap_or_default(),
        );
        share_doubts(inventory, now, request.now);
        share_keys(inventory, now);
        let zones = align_zones(inventory, now);
        let mut decided = decide_by((inventory, None), request, reviewed);
        let side = InventorySide { inventory, live, now: request.now };
        if !zones.new.is_empty() {
            block_outside(&side, &mut decided, reviewed.decided, &zones.new);
        }
        if !zones.gone.is_empty() {
            let lies_in =
                |blocked: &BlockedSubject| blocked.subject.host().is_some_and(|inv| lies_in(&side, inv, &zones.gone));
            let is_kept = |blocked: &BlockedSubject| blocked.code != BlockCode::NoZone || !lies_in(blocked);
            decided.blocked.retain(is_kept);
        }
        Ok(DecidedBase { base, decided, new_zones: zones.new })
    }
}

/// What is found of all hosts by another inventory in which some have other rows, from what was found of them for the plan.
pub fn survey_of((inventory, moves): (&Inventory, &HostMoves), input: &PlanInput) -> Option<FleetSurvey> {
    let (live, servers) = (&input.zones.live, &server_names(inventory));
    let survey = input.survey.get()?.clone();
    survey.carry((live, moves), RuleGround { inventory, live, servers }, input.now)
}

/// Decides by another inventory, with the live data, the clock and the selection of the plan; what is found of all hosts by it may be
/// known.
pub fn decide_by(
    (inventory, survey): (&Inventory, Option<FleetSurvey>),
    request: &PlanRequest<'_>,
    ReviewSubject { input, held, .. }: ReviewSubject<'_>,
) -> FleetDecisions {
    let selection = &select(inventory, &input.selection, &request.projects);
    let (servers, tripped) = (&server_names(inventory), &input.remembered.tripped(inventory));
    let survey = survey.map(OnceLock::from);
    let given = DecisionInput { servers, selection, tripped, held, survey: survey.as_ref(), ..input.decision() };
    decide::decide(inventory, &input.zones.live, given)
}

/// Gives the base the keys of encrypted TXT.
fn share_keys(base: &mut Inventory, now: &Inventory) {
    for pool in &mut base.config.pools {
        let present = now.config.pools.iter().find(|present| present.name == pool.name);
        pool.marking.key = present.and_then(|present| present.marking.key.clone());
    }
}

/// Gives the base the present doubts: an export that is the same, under the same demands, is believed on both sides or
/// on none. An export that differs keeps the trust that it had when it was new.
fn share_doubts(base: &mut Inventory, now: &Inventory, clock: Time) {
    let known: Vec<Trust> = base.exports.iter().map(|export| base.trust_of(&export.spec).clone()).collect();
    // The same export under other demands is tested with its present age.
    trust::test_exports(base, clock);
    for (place, known) in known.into_iter().enumerate() {
        let export = &base.exports[place];
        let own = now.exports.iter().find(|own| own.spec.name == export.spec.name);
        let same = own.filter(|own| now.digests_of(own) == base.digests_of(export));
        match same {
            Some(own) if own.spec.demands == export.spec.demands => {
                let (name, trust) = (own.spec.name.as_str(), now.trust_of(&own.spec).clone());
                base.set_trust(place, trust);
                share_given(base, now, name);
            }
            Some(_) => {}
            None => base.set_trust(place, known),
        }
    }
}

/// Copies from the present inventory for which hosts a source in doubt gave MACs, and keeps only their reports.
fn share_given(base: &mut Inventory, now: &Inventory, name: &str) {
    let Some(gave) = now.mac_sources.iter().find(|own| own.name == name).and_then(|own| own.gave.clone()) else {
        return;
    };
    let Some(place) = base.mac_sources.iter().position(|own| own.name == name) else { return };
    base.reports.retain(|report| usize::from(report.source) != place || gave.contains(&report.inv));
    base.mac_sources[place].gave = Some(gave);
}

/// The zones in which a base and the present inventory differ.
pub(super) struct OtherZones {
    /// Those that the base lacks.
    new: BTreeSet<ZoneName>,
    /// Those that only the base has.
    gone: BTreeSet<ZoneName>,
}

/// Gives a base the present zones, in their order, each with the base's settings where it has the zone: the live data
/// are of the present zones. A zone of a DNS update record is the one of its pool; no host is in it.
pub(super) fn align_zones(base: &mut Inventory, now: &Inventory) -> OtherZones {
    let mut own: Vec<ZoneSpec> = std::mem::take(&mut base.config.zones);
    let mut new = BTreeSet::new();
    for spec in &now.config.zones {
        let pool = now.config.pool(spec);
        let is_it = |own: &ZoneSpec| {
            let of_base = base.config.pool(own);
            let is_same_kind = of_base.is_of_record == pool.is_of_record;
            own.name == spec.name && is_same_kind && (!pool.is_of_record || of_base.name == pool.name)
        };
        let spec = match own.iter().position(is_it) {
            Some(place) => own.swap_remove(place),
            None => {
                new.extend((!pool.is_of_record).then(|| spec.name.clone()));
                ZoneSpec { pool: place_of(pool, &mut base.config.pools), ..spec.clone() }
            }
        };
        base.config.zones.push(spec);
    }
    let gone = own.into_iter().filter(|spec| !base.config.is_of_record(spec));
    OtherZones { new, gone: gone.map(|spec| spec.name).collect() }
}

/// The place of a present pool among those of a base, which gets it where it has none of its name.
fn place_of(pool: &Pool, of_base: &mut Vec<Pool>) -> usize {
    let is_it = |own: &Pool| own.name == pool.name && own.is_of_record == pool.is_of_record;
    of_base.iter().position(is_it).unwrap_or_else(|| {
        of_base.push(pool.clone());
        of_base.len() - 1
    })
}

/// Blocks the hosts that have a name or address in one of these zones, and drops their changes: a base changes only its
/// own zones.
fn block_outside(
    side: &InventorySide<'_>,
    decided: &mut FleetDecisions,
    of_today: &FleetDecisions,
    zones: &BTreeSet<ZoneName>,
) {
    let changed = decided.changes.iter().filter_map(|change| change.subject.host());
    let hosts: BTreeSet<Inv> =
        changed.chain(of_today.blocked.iter().filter_map(|blocked| blocked.subject.host())).collect();
    let outside: HashSet<Inv> = hosts.into_iter().filter(|inv| lies_in(side, *inv, zones)).collect();
    let is_open = |change: &Change| change.subject.host().is_none_or(|inv| !outside.contains(&inv));
    decided.changes.retain(|change| !zones.contains(&change.zone) && is_open(change));
    let left: HashSet<Inv> = decided.blocked.iter().filter_map(|blocked| blocked.subject.host()).collect();
    let skipped: HashSet<Inv> = decided.skipped.iter().filter_map(|skipped| skipped.subject.host()).collect();
    for host in outside.into_iter().filter(|inv| !left.contains(inv) && !skipped.contains(inv)) {
        let place = side.inventory.place_of(host).expect("it was just derived");
        let project = side.inventory.projects[side.inventory.hosts[place].project.0 as usize].id.clone();
        let (message, hint) = Default::default();
        decided.blocked.push(BlockedSubject {
            code: BlockCode::NoZone,
            hint,
            message,
            project,
            subject: Subject::Host(host),
        });
    }
    decided.blocked.sort_by(order::blocked);
}

/// Whether a host has a name or address in one of these zones, and in no other below it.
fn lies_in(side: &InventorySide<'_>, inv: Inv, zones: &BTreeSet<ZoneName>) -> bool {
    let is_in = |name: NameRef<'_>| {
        let holds = |zone: &&ZoneName| name.is_at_or_below(zone.as_name());
        let longest = |zone: &ZoneName| zone.as_name().as_wire().len();
        let nearest = zones.iter().filter(holds).map(longest).max();
        let configured = side.live.zone_of(name);
        let configured = configured.map(|zone| longest(&side.inventory.config.zones[zone.0 as usize].name));
        nearest.is_some() && nearest >= configured
    };
    side.facts(inv).is_some_and(|facts| facts.has_name(is_in))
}

/// The subjects of a base whose rules run: those that the command line names, as far as the base knows them.
fn select(base: &Inventory, now: &Selection, projects: &[String]) -> Selection {
    let place = |id: &String| base.projects.iter().position(|project| project.id == *id);
    // A project that the base lacks still narrows the selection: it selects no host.
    let index = |id| ProjectIndex(place(id).map_or(u32::MAX, |place| place as u32));
    Selection { projects: projects.iter().map(index).collect(), ..now.clone() }
}
