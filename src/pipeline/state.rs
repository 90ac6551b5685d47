//! The state itself: what it says, and how it learns markers that another state's run wrote.

use std::collections::BTreeSet;
use std::path::Path;

use super::findings::Findings;
use super::guards::{limits_used, rules_of};
use super::inputs::load;
use super::settings::{OpenError, load_config, state_address};
use super::targets::{OpenedZones, is_fenced};
use super::{TOOL, accepted, metrics, waves};
use crate::apply::{CopyAccess, standing_marker};
use crate::diag::Problem;
use crate::dns::{Name, Rtype, ZoneName};
use crate::guard::Breaker;
use crate::inventory::Inventory;
use crate::inventory::model::{Config, Export, ZoneSpec};
use crate::inventory::value::Time;
use crate::names::NameIndex;
use crate::plan::{WaitCode, WaitingSubject};
use crate::progress::{Progress, RunStage};
use crate::provider::outage;
use crate::reading::side_by_side::side_by_side;
use crate::registry::Registry;
use crate::state::{self, Acceptance, BreakerReset, ChangeLedger, SourceStatus, State, StateFacts, StateLock, Status};
use crate::target::{CopyId, Marker, Question, TargetId, marker_key};

/// Reads the state of a workspace, its sources, and at most `count` applies; queries no server and writes nothing.
///
/// Errors: [`OpenError`].
pub fn status(workspace: &Path, now: Time, count: usize) -> Result<Status, OpenError> {
    let (mut inventory, _) = load(workspace, now, &NoProgress)?;
    let address = state_address(workspace, &inventory.config);
    // The lock is read first, so that an apply that is seen as running has not ended before the journal is read.
    let (holder, leader) = (StateLock::holder(&address), StateLock::leader(&address));
    let state = state::open_to_read(&address)?;
    let mut memory = state.as_deref().map(|state| StateFacts::read(state, count, now)).transpose()?;
    // What a project without a rollout kept waiting goes with its next apply.
    let groups = waves::settings_of(&inventory.projects, &inventory.pods.sets);
    let has_group = |waiting: &WaitingSubject| {
        // A host of another project may have to be let through, too.
        waiting.code == WaitCode::Approval || groups.contains_key(waiting.subject.pod_set().unwrap_or(&waiting.project))
    };
    memory.iter_mut().for_each(|memory| memory.waiting.retain(has_group));
    accepted::hold_against(&mut inventory, state.as_deref(), None)?;
    let limits = limits_used(&rules_of(&inventory), state.as_deref(), now)?;
    let left_behind = state.as_deref().map_or_else(|| Ok(Vec::new()), |state| left_behind(&inventory, state))?;
    let pools = state.as_deref().map(|state| metrics::pools(state, &inventory.config)).transpose()?;
    let pools = pools.unwrap_or_default();
    let accepted = state.map(|state| state.exports()).transpose()?.unwrap_or_default();
    let sources = inventory.exports.iter().map(|export| source(&inventory, export, &accepted)).collect();
    let place = address.setting().to_owned();
    let (tool, created) = (TOOL.to_owned(), now);
    Ok(Status { tool, created, place, holder, leader, sources, memory, pools, limits, left_behind, pool: None })
}

/// The names that no host has and at which applies created an AAAA RRset for a host that no apply deleted since,
/// sorted; none where hosts.csv or names.lock is in doubt, or where every RRset is own.
fn left_behind(inventory: &Inventory, state: &dyn State) -> Result<Vec<Name>, Problem> {
    let doubted = [&inventory.trust.hosts, &inventory.trust.names_lock].map(|trust| trust.doubt().is_some());
    if doubted.contains(&true) || inventory.config.is_marked_by(Registry::Noop) {
        return Ok(Vec::new());
    }
    let (own, names, statements) = (state.own()?, NameIndex::new(inventory), state.statements()?);
    // Whether a pod has a name is known with live DNS alone.
    let domains: BTreeSet<&Name> = inventory.pods.sets.iter().filter_map(|set| Some(&set.terms()?.domain)).collect();
    let is_left = |name: &&Name| {
        let is_stated = !statements.by(name.as_name(), Rtype::AAAA).is_empty();
        let name = name.as_name();
        let is_of_pods = name.parent().is_some_and(|domain| domains.contains(&domain.to_name()));
        !is_stated && !is_of_pods && !names.has_host(inventory, name) && !names.may_be_held(inventory, name)
    };
    let mut left: Vec<Name> = own.owners(Rtype::AAAA).filter(is_left).cloned().collect();
    left.sort();
    Ok(left)
}

/// The status of an export.
fn source(inventory: &Inventory, export: &Export, accepted: &[Acceptance]) -> SourceStatus {
    let accepted = accepted.iter().find(|own| own.source == export.spec.name).cloned();
    SourceStatus {
        source: export.spec.name.clone(),
        rows: export.rows,
        dated: export.dated,
        doubt: inventory.trust_of(&export.spec).doubt().map(str::to_owned),
        is_accepted: accepted.as_ref().is_some_and(|own| own.files == inventory.digests_of(export)),
        accepted,
    }
}

/// Shows no progress.
struct NoProgress;

impl Progress for NoProgress {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}
}

/// The result of resetting a breaker.
#[derive(Debug)]
pub enum WasReset {
    /// It was tripped, and is reset now.
    Yes(Breaker),
    /// It was not tripped; lists those that are.
    No(Vec<Breaker>),
}

/// Resets the breaker of a scope; nothing is written where it is not tripped.
///
/// Errors: [`OpenError`].
pub fn reset(workspace: &Path, scope: &str, reset: BreakerReset<'_>) -> Result<WasReset, OpenError> {
    let (config, _) = load_config(workspace)?;
    let address = state_address(workspace, &config);
    let tripped = |state: &dyn ChangeLedger| state.breakers();
    let Some(found) = state::open_to_read(&address)?.map(|state| tripped(&*state)).transpose()? else {
        return Ok(WasReset::No(Vec::new()));
    };
    if found.iter().all(|breaker| breaker.scope != scope) {
        return Ok(WasReset::No(found));
    }
    let _lock = StateLock::take(&address, reset.who, reset.now)?;
    let mut state = state::open_to_write(&address)?;
    let found = tripped(&*state)?;
    match found.iter().position(|breaker| breaker.scope == scope) {
        Some(place) if state.reset(scope, reset)? => Ok(WasReset::Yes(found[place].clone())),
        _ => Ok(WasReset::No(found)),
    }
}

/// Who records markers as known, and why.
#[derive(Debug, Clone, Copy)]
pub struct AdoptionRequest<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock.
    pub now: Time,
    /// Who records them; empty where this is not known.
    pub who: &'a str,
    /// Why.
    pub reason: &'a str,
}

/// What was recorded as known.
#[derive(Debug)]
pub struct AdoptedMarkers {
    /// Where the state is kept.
    pub place: String,
    /// The copies of fenced zones that could be read, in the order of the configuration, with their markers.
    pub markers: Vec<(CopyId, Option<Marker>)>,
    /// Those that could not.
    pub unread: Vec<ZoneName>,
    /// Why not.
    pub findings: Findings,
}

/// Records the present markers of all fenced zones as known; creates the state where there is none.
///
/// Errors: [`OpenError`]; nothing was written then.
pub fn init(adoption: &AdoptionRequest<'_>, progress: &dyn Progress) -> Result<AdoptedMarkers, OpenError> {
    let AdoptionRequest { workspace, now, who, reason } = *adoption;
    let (config, _) = load_config(workspace)?;
    let address = state_address(workspace, &config);
    let _lock = StateLock::take(&address, who, now)?;
    let mut state = state::open_to_write(&address)?;
    let (mut markers, mut unread, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for (copy, found) in present_markers(&config, workspace, now, progress) {
        match found {
            Ok(marker) => markers.push((copy, marker)),
            Err(error) => {
                unread.push(copy.zone);
                errors.push(error);
            }
        }
    }
    state.adopt_markers(&markers, who, reason, now)?;
    let findings = Findings { unread: outage::gather(errors.into_iter()), ..Findings::default() };
    Ok(AdoptedMarkers { place: address.setting().to_owned(), markers, unread, findings })
}

/// The present markers of all fenced zones, in the order of the configuration.
fn present_markers(
    config: &Config,
    workspace: &Path,
    now: Time,
    progress: &dyn Progress,
) -> Vec<(CopyId, Result<Option<Marker>, Problem>)> {
    let has_fence = |spec: &&ZoneSpec| config.pool(spec).targets.iter().any(|target| is_fenced(spec, target));
    let specs: Vec<&ZoneSpec> = config.zones.iter().filter(has_fence).collect();
    let opened = OpenedZones::open(config, specs, workspace, now);
    let fenced: Vec<CopyAccess<'_>> = opened.copies().into_iter().filter(|access| access.is_fenced).collect();
    let targets: Vec<&TargetId> = config.targets().map(|target| &target.id).collect();
    let place = |access: &CopyAccess<'_>| targets.iter().position(|target| **target == access.copy.target);
    let targets: Vec<usize> = fenced.iter().map(|access| place(access).unwrap_or_default()).collect();
    progress.stage(RunStage::Markers, Some(fenced.len() as u64));
    let found = side_by_side(&targets, |place| {
        let marker = read_marker(&fenced[place]);
        progress.step();
        marker
    });
    fenced.iter().map(|access| access.copy.clone()).zip(found).collect()
}

/// The present marker of a zone; `None` where there is none, or where its name would be too long.
pub(super) fn read_marker(access: &CopyAccess<'_>) -> Result<Option<Marker>, Problem> {
    let writer = access.writer.clone()?;
    let Some(key) = marker_key(&access.copy.zone) else { return Ok(None) };
    let answer = writer.observe(&access.copy.zone, &[Question::of(&key)], None)?.into_iter().next();
    Ok(standing_marker(writer, &access.copy.zone, answer)?.as_ref().and_then(Marker::of_rrset))
}
