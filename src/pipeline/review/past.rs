//! What a review needs from the state: what was accepted last, and what applies wrote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::inputs::{PlanInput, PlanRequest};
use super::super::settings::judge_targets;
use super::super::sights::CopySights;
use super::{ReviewSubject, based};
use crate::apply::OutcomeCode;
use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::drift::WrittenCopy;
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::moves::HostMoves;
use crate::inventory::read::{self, FileError, FileLayer, FindError, FoundBy, GLOB};
use crate::inventory::source::PathPattern;
use crate::inventory::value::Time;
use crate::plan::ComparisonBase;
use crate::review::FoundAs;
use crate::state::{Acceptance, AcceptanceRecord, ApplyId, ApplyJournal, ApplySummary, PlanBasis, State};

/// What the state remembers.
#[derive(Default)]
pub struct ReviewMemory {
    /// The latest apply that did all of its plan for the whole fleet.
    pub whole: Option<ComparisonBase>,
    /// When exports were last accepted, or such an apply began.
    pub at: Option<Time>,
    /// The inventory with the exports that were last accepted, where any of them differs now.
    pub accepted: Option<AcceptedInventory>,
    /// For each change, in their order, whether applies wrote what it finds.
    pub found: Vec<FoundAs>,
    /// For each change, in their order, the apply after which its RRset was as the inventory wanted, where one is known
    /// and only exports differ since; empty where none is known.
    pub desired_since: Vec<Option<u64>>,
}

/// The inventory with the exports that were last accepted.
pub struct AcceptedInventory {
    /// The inventory.
    pub inventory: Inventory,
    /// The hosts that have other rows than now, where nothing else differs and that is known.
    pub moves: Option<HostMoves>,
}

impl ReviewMemory {
    /// Reads the state.
    ///
    /// Errors: the state cannot be read.
    pub fn read(
        request: &PlanRequest<'_>,
        ReviewSubject { input, decided, written, .. }: ReviewSubject<'_>,
        state: &dyn State,
    ) -> Result<ReviewMemory, Problem> {
        let PlanInput { inventory, remembered, .. } = input;
        let LastWhole { last, is_undone } = last_whole(state)?;
        let planned = last.as_ref().map(|last| state.planned(last.id)).transpose()?.flatten();
        let exported: BTreeSet<&String> = inventory.exports.iter().flat_map(|export| &export.files).collect();
        let is_same = |(name, digest): (&String, &String)| exported.contains(name) || remembered.had(name, digest);
        let (changes, exports) = (&decided.changes, state.exports()?);
        let is_kept = |last: &ApplySummary| {
            !is_undone && inventory.inputs.iter().all(is_same) && are_of(inventory, &exports, last.new.started)
        };
        let desired_since = match (&last, &planned) {
            (Some(last), Some(planned)) if is_kept(last) => {
                let sights = CopySights::of(&inventory.config);
                let sought: Vec<_> = changes.iter().map(|change| sights.first_of(change)).collect();
                let later = state.last_changed(last.id, &sought)?;
                desired_since(changes, written, &later, last.id, planned)
            }
            _ => Vec::new(),
        };
        let since = last.as_ref().map(|last| planned.map_or(last.new.started, |planned| planned.at));
        let at = exports.iter().map(|export| export.at).chain(since).max();
        let accepted = accepted((request, input), &exports, state)?;
        let whole = last.zip(since).map(|(last, at)| ComparisonBase::Journal { apply: last.id.0, at });
        Ok(ReviewMemory { whole, at, accepted, found: found_as(changes, written), desired_since })
    }
}

/// Whether the accepted exports are those of an apply that began at this time: each source has one, and no operator
/// accepted another since.
fn are_of(inventory: &Inventory, accepted: &[Acceptance], began: Time) -> bool {
    let is_by_an_apply = |own: &Acceptance| own.reason.is_none() || own.at < began;
    let has_one = |name: &String| accepted.iter().any(|own| own.source == *name && is_by_an_apply(own));
    let mut used = inventory.exports.iter().filter(|export| !export.files.is_empty());
    used.all(|export| has_one(&export.spec.name))
}

/// The inventory with the exports that were last accepted in place of the present ones; none where they are the same,
/// or cannot be used.
fn accepted(
    (request, input): (&PlanRequest<'_>, &PlanInput),
    accepted: &[Acceptance],
    state: &dyn AcceptanceRecord,
) -> Result<Option<AcceptedInventory>, Problem> {
    let now = &input.inventory;
    let of_today = |source: &str| now.exports.iter().find(|export| export.spec.name == source);
    let is_other = |own: &Acceptance| of_today(&own.source).is_some_and(|export| now.digests_of(export) != own.files);
    let others: Vec<&Acceptance> = accepted.iter().filter(|own| is_other(own)).collect();
    if others.is_empty() {
        return Ok(None);
    }
    // Where every source is believed, an inventory that is read has no doubts either.
    if let ([other], Some(rows)) = (others.as_slice(), input.reading.rows.as_ref().filter(|_| now.is_believed()))
        && of_today(&other.source).is_some_and(|export| export.spec.key == "hosts")
        && let [file] = state.export_files(&other.source)?.as_slice()
        && file.name == rows.file.name
        && let Some((inventory, moves)) = read::with_earlier(now, rows, &file.content, request.now)
    {
        return Ok(Some(AcceptedInventory { inventory, moves: Some(moves) }));
    }
    let mut layer = AcceptedLayer::default();
    for export in accepted.iter().filter_map(|own| of_today(&own.source)) {
        let files = state.export_files(&export.spec.name)?;
        layer.files.extend(files.into_iter().map(|file| (file.name, file.content)));
        layer.replaced.extend(export.files.iter().cloned());
    }
    let (loaded, _) = read::load_behind(Box::new(layer), request.workspace, request.now, judge_targets);
    let Ok(mut inventory) = loaded.inventory else { return Ok(None) };
    last::keep_in_l3(&mut inventory, &state.l3_switches()?);
    // Its files do not say which zones the targets of records list.
    based::align_zones(&mut inventory, now);
    Ok(Some(AcceptedInventory { inventory, moves: None }))
}

/// The exports that were last accepted, as a layer in front of the workspace.
#[derive(Default)]
struct AcceptedLayer {
    /// The files, by name.
    files: BTreeMap<String, Vec<u8>>,
    /// The present files that they replace.
    replaced: BTreeSet<String>,
}

impl FileLayer for AcceptedLayer {
    fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    fn hides(&self, name: &str, _: FoundBy) -> bool {
        self.replaced.contains(name)
    }

    fn find(&self, glob: &PathPattern) -> Result<Vec<String>, FindError> {
        let Ok(pattern) = glob::Pattern::new(&glob.text) else { return Ok(Vec::new()) };
        let names = self.files.keys().filter(|name| pattern.matches_with(name, GLOB));
        Ok(names.cloned().collect())
    }

    fn read(&self, name: &str, _: u64) -> Result<Vec<u8>, FileError> {
        Ok(self.files[name].clone())
    }
}

/// What the latest applies say about the latest that did all of its plan for the whole fleet.
struct LastWhole {
    /// That one; none where there is none among the latest.
    last: Option<ApplySummary>,
    /// Whether an apply was undone after it.
    is_undone: bool,
}

/// Finds the latest apply that did all of its plan for the whole fleet.
fn last_whole(state: &dyn ApplyJournal) -> Result<LastWhole, Problem> {
    /// How many applies are searched: most days have a whole apply.
    const LATEST: usize = 50;
    let is_done = |word: &String| {
        [OutcomeCode::Applied, OutcomeCode::AlreadyApplied].iter().any(|outcome| outcome.as_str() == word)
    };
    let is_whole = |apply: &ApplySummary| {
        let ApplySummary { new, finished, outcomes, .. } = apply;
        new.is_whole && new.undoes.is_none() && finished.is_some() && outcomes.keys().all(is_done)
    };
    let mut latest = state.applies(LATEST)?;
    let place = latest.iter().position(is_whole);
    let is_undone = latest[..place.unwrap_or_default()].iter().any(|apply| apply.new.undoes.is_some());
    Ok(LastWhole { last: place.map(|place| latest.swap_remove(place)), is_undone })
}

/// For each change, whether applies wrote what it finds.
fn found_as(changes: &[Change], written: &[WrittenCopy]) -> Vec<FoundAs> {
    let of_change = |(change, copy): (&Change, &WrittenCopy)| {
        let Some(written) = &copy.written else { return FoundAs::Unwritten };
        let left = |rrset| written.left(change.key.rtype, rrset);
        match (left(change.kind.before()), left(change.kind.after())) {
            (true, _) => FoundAs::Left,
            (false, is_wanted) => FoundAs::Changed { is_wanted },
        }
    };
    changes.iter().zip(written).map(of_change).collect()
}

/// For each change the last whole apply, if its RRset was as the inventory wanted after that apply, by all that is
/// known.
///
/// There is none where the plan of that apply blocked the host; where the RRset is as an update left it, as after an
/// undo; or where a later update may have changed it.
fn desired_since(
    changes: &[Change],
    written: &[WrittenCopy],
    later: &[Option<ApplyId>],
    apply: ApplyId,
    planned: &PlanBasis,
) -> Vec<Option<u64>> {
    let is_open =
        |change: &Change| change.hosts().into_iter().all(|inv| !planned.blocked.contains(&Subject::Host(inv)));
    let is_others = |change: &Change, copy: &WrittenCopy, later: &Option<ApplyId>| match &copy.written {
        Some(written) => !written.left(change.key.rtype, change.kind.before()),
        None => later.is_none(),
    };
    let of_change =
        |((change, written), later)| (is_open(change) && is_others(change, written, later)).then_some(apply.0);
    changes.iter().zip(written).zip(later).map(of_change).collect()
}
