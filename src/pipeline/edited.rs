//! Which changes put back what a person edited after an apply; where a project keeps edits, their hosts are left.
//!
//! Comes in: the changes, and what the journal says was last written there. Goes out: the changes with the reason
//! `edited-since`, or notices in place of them. Only RRsets that are about to change are looked up.

use std::collections::{BTreeSet, HashMap};

use super::inputs::PlanInput;
use super::sights::{CopySights, last_written};
use crate::change::{Change, Notice};
use crate::diag::Problem;
use crate::diff::decide::{self, DecisionInput};
use crate::diff::held::HeldEdits;
use crate::diff::judge::FleetDecisions;
use crate::drift::{WrittenCopy, edited};
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::plan::order;
use crate::rollout::units;
use crate::state::{KnownMarkers, State};
use crate::target::{CopyId, Marker};

/// What was decided, with what the journal says about it.
pub(super) struct MarkedDecisions {
    /// What was decided; the changes as a plan sorts them.
    pub decided: FleetDecisions,
    /// What the latest update left at the RRset of each change in one of its copies, in their order.
    pub written: Vec<WrittenCopy>,
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
        let mut decided = decide::decide(
            inventory,
            &zones.live,
            DecisionInput { held: &held, survey: Some(&input.survey), ..input.decision() },
        );
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

/// Adds the reason `edited-since` to the changes of RRsets that are not as the latest update left them in some copy, if
/// that is proven. Gives what the latest update left at each: in the first copy that was edited, else in the first of all.
///
/// Errors: the state cannot be read.
pub(super) fn mark(changes: &mut [Change], input: &PlanInput) -> Result<Vec<WrittenCopy>, Problem> {
    let config = &input.inventory.config;
    let state = input.state.as_deref();
    let mut written = last_written(config, changes, state)?;
    let edited = match state {
        Some(state) => edited_copies(changes, &written, input, state)?,
        None => Vec::new(),
    };
    let mut told = vec![0; changes.len()];
    for EditedCopy { change: place, copy } in edited {
        let (change, found) = (&mut changes[place], &written[place][copy]);
        if let Some(left) = found.written.as_ref().filter(|_| !change.is_edited_since()) {
            edited::mark(change, left);
            told[place] = copy;
        }
    }
    Ok(written.iter_mut().zip(told).map(|(copies, told)| copies.swap_remove(told)).collect())
}

/// A copy of the RRset of a change, by their places.
#[derive(Debug, Clone, Copy)]
struct EditedCopy {
    /// The change.
    change: usize,
    /// The copy, among those that the change is for.
    copy: usize,
}

/// The copies of RRsets that are provably not as the latest update left them, in the order of the changes.
///
/// Errors: the state cannot be read.
fn edited_copies(
    changes: &[Change],
    written: &[Vec<WrittenCopy>],
    input: &PlanInput,
    state: &dyn State,
) -> Result<Vec<EditedCopy>, Problem> {
    let differs = |change: &Change, copy: &WrittenCopy| {
        copy.written.as_ref().is_some_and(|written| edited::differs(change, written))
    };
    let of_change = |(place, (change, copies)): (usize, (&Change, &Vec<WrittenCopy>))| {
        let differing = copies.iter().enumerate().filter(|(_, copy)| differs(change, copy));
        differing.map(|(copy, _)| EditedCopy { change: place, copy }).collect::<Vec<_>>()
    };
    let mut found: Vec<EditedCopy> = changes.iter().zip(written).enumerate().flat_map(of_change).collect();
    // What another process wrote since zones were read may be in the journal and not in these zones.
    if found.is_empty() || input.version != Some(state.version()?) {
        return Ok(Vec::new());
    }
    let config = &input.inventory.config;
    let markers = state.markers()?.among(config.targets().map(|target| &target.id));
    let copy_of = |found: &EditedCopy| {
        let change = &changes[found.change];
        let spec = config.zone(&change.zone_id())?;
        let target = written[found.change][found.copy].target.as_ref().unwrap_or(&config.reference(spec).id);
        Some(CopyId { target: target.clone(), zone: change.zone.clone() })
    };
    let current = current_copies(input, &markers, found.iter().filter_map(copy_of).collect());
    let sights = CopySights::of(config);
    let sought: Vec<_> =
        found.iter().map(|found| sights.of_change(&changes[found.change]).swap_remove(found.copy)).collect();
    let mut creators = state.created_by(&sought)?.into_iter();
    found.retain(|found| {
        let creator = creators.next().expect("each RRset has an answer");
        // A server that said it created an RRset, and did not, left what others then created: it is not own.
        let was_there = written[found.change][found.copy]
            .written
            .as_ref()
            .is_some_and(|left| creator.is_some() || !left.is_new || left.after.is_none());
        was_there && copy_of(found).is_some_and(|copy| current.contains(&copy))
    });
    Ok(found)
}

/// Those of some copies whose data hold all that this state wrote to them.
///
/// A copy with another marker than the latest is older, was restored from an older one, or was written to with another
/// state. A zone that is asked name by name is asked now, and not for its marker.
fn current_copies(input: &PlanInput, markers: &KnownMarkers, copies: BTreeSet<CopyId>) -> BTreeSet<CopyId> {
    let live: HashMap<&CopyId, Marker> = input.zones.markers().collect();
    let is_current = |copy: &CopyId| match markers.of(copy) {
        known if known.is_empty() => input.snapshot.is_none(),
        _ if input.zones.asked.contains(&copy.zone_id()) => true,
        known => {
            let mut markers = known.into_iter().flat_map(|known| known.marker.iter().chain(&known.open));
            live.get(copy).is_some_and(|live| markers.any(|marker| marker == live))
        }
    };
    copies.into_iter().filter(is_current).collect()
}

/// Holds the hosts with an edited RRset whose project keeps edits, and all hosts that share a change with them. Gives
/// the notices about the edited RRsets.
fn keep(inventory: &Inventory, changes: &[Change], written: &[WrittenCopy], held: &mut HeldEdits) -> Vec<Notice> {
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
        notices.extend(edited.filter_map(|place| edited::notice(&changes[*place], &written[*place], &hosts)));
    }
    notices
}
