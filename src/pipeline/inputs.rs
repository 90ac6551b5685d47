//! What a plan is made from: the inventory, live DNS and the state, read together.
//!
//! Comes in: a request. Goes out: all that decisions are based on, or why it cannot be read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use super::findings::Findings;
use super::guards::{self, GuardMemory};
use super::input_error::InputError;
use super::kept_input::{InputMemory, InventoryReading, UnmovedInventory};
use super::recent_pods::recent_pods;
use super::settings::{OpenError, check_targets, local_folder, read_settings, state_address};
use super::targets::{bounds_of_pools, server_names};
use super::{accepted, published, record_zones, subjects, txt_keys, zone_changes};
use crate::claim::SubjectPick;
use crate::diag::{CallError, Diagnostics, Problem, did_you_mean};
use crate::diff::adopt::AdoptionTerms;
use crate::diff::context::ServerNames;
use crate::diff::decide::DecisionInput;
use crate::diff::held::HeldEdits;
use crate::diff::recent::RecentPods;
use crate::diff::statements::KeptStatements;
use crate::diff::survey::{EarlierSurvey, FleetSurvey};
use crate::diff::waits::RrsetWaits;
use crate::diff::{RuleGround, Selection, TrippedHosts};
use crate::dns::ZoneName;
use crate::explain::find_hosts;
use crate::guard::{Allowance, trust};
use crate::inventory::model::{Config, Inventory, ProjectIndex};
use crate::inventory::pool::Pool;
use crate::inventory::read::{LoadedWorkspace, SettingsFile, WorkspaceExtent};
use crate::inventory::value::Time;
use crate::live::{OwnRrsets, PoolCopies, TargetCopies};
use crate::parallel::HELD;
use crate::progress::{Progress, RunStage};
use crate::provider::ProviderContext;
use crate::provider::cache::{Cache, CacheUse};
use crate::reading::open::all_copies;
use crate::reading::{EarlyZones, ReadingTerms, Zones, ZonesRequest, zones};
use crate::registry::Registry;
use crate::snapshot::Snapshot;
use crate::state::{self, State, StateStamp, open_to_read};
use crate::target::{PoolBounds, TargetId, ZoneId};

/// What to plan.
#[derive(Debug, Clone)]
pub struct PlanRequest<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock that ages are measured against.
    pub now: Time,
    /// Hosts whose rules run, by number or name; all where empty.
    pub hosts: Vec<String>,
    /// Subjects of any kind whose rules run, with the hosts; all where both are empty.
    pub subjects: Vec<SubjectPick>,
    /// Projects whose rules run; all where empty.
    pub projects: Vec<String>,
    /// The snapshot that is used in place of the targets; no target is opened then.
    pub live_snapshot: Option<&'a Path>,
    /// What the inventory is compared with: a git revision, or a folder.
    pub base: Option<&'a str>,
    /// How zones that earlier runs kept may be used.
    pub cache: CacheUse,
    /// What an operator allows: only that zones are made which an earlier apply saw counts here.
    pub allow: &'a [Allowance],
    /// Whose RRsets are taken over; none where rules run.
    pub adopt: Option<AdoptionTerms<'a>>,
    /// Whether cluster-management services are asked, by dry runs, what they would say.
    pub asks_approvals: bool,
}

impl PlanRequest<'_> {
    /// Whether it names subjects, of any kind.
    pub fn picks_subjects(&self) -> bool {
        !self.hosts.is_empty() || !self.subjects.is_empty()
    }
}

/// A snapshot that a plan was made from.
#[derive(Debug, Clone)]
pub struct SnapshotUsed {
    /// When it was made.
    pub created: Time,
    /// The zones of it that are not configured, and were ignored.
    pub ignored: Vec<ZoneName>,
}

/// All that decisions are based on.
pub(super) struct PlanInput {
    /// The clock.
    pub now: Time,
    /// The inventory.
    pub inventory: Inventory,
    /// What is wrong in it.
    pub diagnostics: Diagnostics,
    /// How it was read.
    pub reading: InventoryReading,
    /// The hosts whose rules run.
    pub selection: Selection,
    /// Live DNS.
    pub zones: Zones,
    /// The servers that zones are written to.
    pub servers: ServerNames,
    /// Which records the targets hold.
    pub bounds: PoolBounds,
    /// The hosts whose rules do not run because of a breaker.
    pub tripped: TrippedHosts,
    /// The RRsets that wait to be deleted.
    pub waits: RrsetWaits,
    /// What claims which RRset, as applies noted it.
    pub statements: KeptStatements,
    /// What earlier applies left of pods.
    pub recent: RecentPods,
    /// The zones whose markers show an apply that the state does not know, where the state says what is own.
    pub forgotten: Vec<ZoneName>,
    /// The snapshot that is used in place of live DNS, where given.
    pub snapshot: Option<SnapshotUsed>,
    /// What guards need from the state.
    pub remembered: GuardMemory,
    /// The state, where there is one.
    pub state: Option<Box<dyn State>>,
    /// Its version before live DNS was read.
    pub version: Option<u64>,
    /// Its stamp before it was opened; none where it was written to just then.
    pub stamp: Option<StateStamp>,
    /// What is found of all hosts, once it is known.
    pub survey: OnceLock<FleetSurvey>,
    /// No held edits: what is decided before any are known.
    nothing: HeldEdits,
}

impl PlanInput {
    /// What decisions depend on, without held edits.
    pub fn decision(&self) -> DecisionInput<'_> {
        let PlanInput {
            now, servers, bounds, selection, tripped, waits, statements, nothing: held, recent, zones, ..
        } = self;
        let Zones { copies, own_of_records, .. } = zones;
        #[rustfmt::skip]
        let given = DecisionInput {
            now: *now, servers, bounds, selection, tripped, waits, statements, held, recent, copies, own_of_records, survey: None,
        };
        given
    }
}

/// For which hosts zones are queried that are read name by name.
pub(super) enum ReadFor<'a> {
    /// For all hosts.
    AllHosts,
    /// For the hosts that the request selects, unless they are compared with another inventory, which may have other
    /// names for them.
    Selected,
    /// For the hosts that the operator names by number or name, as far as they can be found.
    Named(&'a [String]),
}

impl ReadFor<'_> {
    /// The hosts, of an inventory and what the request selects of it.
    fn selection(&self, request: &PlanRequest<'_>, inventory: &Inventory, selection: &Selection) -> Selection {
        match self {
            ReadFor::AllHosts => Selection::default(),
            // Where the names of other subjects are is not known before all is read.
            ReadFor::Selected if request.base.is_some() || selection.picks_others() => Selection::default(),
            ReadFor::Selected => selection.clone(),
            ReadFor::Named(texts) => {
                let hosts = find_hosts(inventory, texts);
                hosts.map_or_else(|_| Selection::default(), |hosts| Selection { hosts, ..selection.clone() })
            }
        }
    }
}

/// Reads the inventory and live DNS.
pub(super) fn gather(
    request: &PlanRequest<'_>,
    read_for: &ReadFor<'_>,
    progress: &dyn Progress,
) -> Result<PlanInput, InputError> {
    gather_moved(request, read_for, None, progress)
}

/// Reads the inventory and live DNS, as [`gather`] does; of what is kept from an earlier plan only what has moved since.
pub(super) fn gather_moved(
    request: &PlanRequest<'_>,
    read_for: &ReadFor<'_>,
    memory: Option<&mut InputMemory>,
    progress: &dyn Progress,
) -> Result<PlanInput, InputError> {
    let snapshot = request.live_snapshot.map(Snapshot::open).transpose().map_err(InputError::Snapshot)?;
    let ReadFirst { loaded, early, state, stamp } =
        load_beside_zones(request, read_for, (snapshot.as_ref(), memory), progress);
    let LoadedInventory { mut inventory, mut diagnostics, reading, surveyed } = loaded?;
    txt_keys::fetch(&mut inventory.config, request.workspace)?;
    // A state that is opened now was not there, or zones are not read yet.
    let (state, version, stamp) = match state {
        Some((state, version)) => (Some(state), Some(version), stamp),
        None => {
            let address = state_address(request.workspace, &inventory.config);
            let stamp = state::stamp(&address);
            let state = open_to_read(&address)?;
            let version = if early.is_none() { version_of(state.as_deref())? } else { None };
            (state, version, stamp)
        }
    };
    diagnostics.append(accepted::hold_against(&mut inventory, state.as_deref(), reading.rows.as_ref())?);
    diagnostics.settle();
    let statements = state.as_deref().map(|state| state.statements()).transpose()?.unwrap_or_default();
    let selection = select(&inventory, request, (state.as_deref(), &statements))?;
    let waits = state.as_deref().map(|state| state.waits()).transpose()?.unwrap_or_default();
    let read_for = read_for.selection(request, &inventory, &selection);
    let zones = match &snapshot {
        Some(snapshot) => zones::read_snapshot(&inventory, snapshot, progress),
        None => {
            let cache = cache_of(request, &inventory.config);
            let terms = ReadingTerms { workspace: request.workspace, now: request.now, cache: Some(&cache) };
            let creation = zone_changes::terms(state.as_deref(), request.allow)?;
            let (inventory, selection, creation, statements) = (&inventory, &read_for, &creation, &statements);
            let request = ZonesRequest { inventory, selection, terms, creation, statements };
            zones::read(&request, early, progress)
        }
    };
    let is_kept = inventory.config.pools.iter().any(|pool| pool.marking.registry == Registry::Journal);
    let (zones, forgotten) = if is_kept {
        remember(&inventory.config, zones, state.as_deref())?
    } else if request.base.is_some() {
        // The base may need the state.
        (with_own(&inventory.config, zones, state.as_deref())?, Vec::new())
    } else {
        (zones, Vec::new())
    };
    let recent = match state.as_deref().filter(|_| !inventory.pods.rows.is_empty()) {
        Some(state) => recent_pods((&inventory, &zones.live), state, request.now)?,
        None => RecentPods::default(),
    };
    let remembered = GuardMemory::read(guards::rules_of(&inventory), state.as_deref(), request.now)?.about(&inventory);
    let snapshot = snapshot.map(|snapshot| used(&snapshot, &inventory));
    let (servers, tripped) = (server_names(&inventory), remembered.tripped(&inventory));
    let ground = RuleGround { inventory: &inventory, live: &zones.live, servers: &servers };
    // A source in doubt may concern any host.
    let surveyed = surveyed.filter(|_| inventory.is_believed());
    let carried = surveyed.and_then(|earlier| earlier.carry(ground, request.now));
    let survey = carried.map_or_else(OnceLock::new, OnceLock::from);
    let source = &inventory.config.source;
    let context =
        ProviderContext { workspace: request.workspace, source, now: request.now, cache: None, has_marks: false };
    // From a snapshot a plan is made without any server.
    let bounds = bounds_of_pools(&inventory, snapshot.is_none().then_some(&context));
    Ok(PlanInput {
        now: request.now,
        inventory,
        diagnostics,
        reading,
        selection,
        zones,
        servers,
        bounds,
        tripped,
        waits,
        statements,
        recent,
        forgotten,
        snapshot,
        remembered,
        state,
        version,
        stamp,
        survey,
        nothing: HeldEdits::default(),
    })
}

/// Loads the inventory while the servers send their zones.
///
/// Zones are read early only where they are needed whatever the inventory says. If the command names a host or project
/// that the inventory lacks, this is reported at once, whether servers answer or not.
fn load_beside_zones(
    request: &PlanRequest<'_>,
    read_for: &ReadFor<'_>,
    (snapshot, memory): (Option<&Snapshot>, Option<&mut InputMemory>),
    progress: &dyn Progress,
) -> ReadFirst {
    let is_narrowed = request.picks_subjects() || !request.projects.is_empty() || matches!(read_for, ReadFor::Named(_));
    let add_zones = |config: &mut Config| match snapshot {
        Some(snapshot) => record_zones::take_saved(config, snapshot),
        None => {
            record_zones::find(config, ReadingTerms { workspace: request.workspace, now: request.now, cache: None })
        }
    };
    let settings = read_settings(request.workspace).with_zones(add_zones);
    let settings = if memory.is_some() { settings.keeping_rows() } else { settings };
    let config = settings.config().filter(|config| check_targets(config).error_count() == 0);
    let config = config.filter(|_| !is_narrowed && snapshot.is_none()).cloned();
    // A state that cannot be read is reported at once, too.
    let early = config.and_then(|config| {
        let address = state_address(request.workspace, &config);
        let stamp = state::stamp(&address);
        let state = open_to_read(&address).ok()?;
        let version = version_of(state.as_deref()).ok()?;
        Some((config, state.zip(version), stamp))
    });
    let kept =
        memory.zip(early.as_ref()).map(|(memory, (config, ..))| memory.take(config, request.workspace, request.now));
    let (unmoved, known) = kept.unwrap_or_default();
    let load = || match unmoved {
        Some(unmoved) => LoadedInventory::again(unmoved, request.now),
        None => go_on(settings, WorkspaceExtent::Whole, request.now, progress),
    };
    let Some((config, state, stamp)) = early else {
        return ReadFirst { loaded: load(), early: None, state: None, stamp: None };
    };
    let total = all_copies(&config).len() as u64;
    let steps = DeferredSteps { progress, done: Mutex::new(Some(0)) };
    let cache = cache_of(request, &config);
    let terms = ReadingTerms { workspace: request.workspace, now: request.now, cache: Some(&cache) };
    std::thread::scope(|scope| {
        let read = || EarlyZones::read(&config, &known, &terms, &steps);
        let reading = std::thread::Builder::new().spawn_scoped(scope, read);
        let loaded = load();
        // Where the system gives no thread, the zones are read after the workspace.
        let Ok(reading) = reading else { return ReadFirst { loaded, early: None, state, stamp } };
        steps.begin(RunStage::Zones, total);
        let early = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ReadFirst { loaded, early: Some(early), state, stamp }
    })
}

/// Where zones are kept from run to run.
pub(super) fn cache_of(request: &PlanRequest<'_>, config: &Config) -> Cache {
    Cache::inside(&local_folder(request.workspace, config), request.cache, request.now)
}

/// What is read before or while the inventory is loaded.
struct ReadFirst {
    /// The inventory.
    loaded: Result<LoadedInventory, Box<Findings>>,
    /// The zones that were read early.
    early: Option<EarlyZones>,
    /// The state and its version before any zone was read, where zones were to be read early and there is one.
    state: Option<(Box<dyn State>, u64)>,
    /// Its stamp before it was opened.
    stamp: Option<StateStamp>,
}

/// The version of a state, where there is one.
fn version_of(state: Option<&dyn State>) -> Result<Option<u64>, Problem> {
    state.map(State::version).transpose()
}

/// Counts the steps of a stage that runs during another stage, and shows them when the other stage is over.
struct DeferredSteps<'p> {
    /// Where the steps are shown.
    progress: &'p dyn Progress,
    /// How many steps are done, until the stage is shown.
    done: Mutex<Option<u64>>,
}

impl DeferredSteps<'_> {
    /// Shows the stage, and the steps that are done.
    fn begin(&self, what: RunStage, total: u64) {
        let mut done = self.done.lock().expect(HELD);
        self.progress.stage(what, Some(total));
        (0..done.take().unwrap_or_default()).for_each(|_| self.progress.step());
    }
}

impl Progress for DeferredSteps<'_> {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {
        match &mut *self.done.lock().expect(HELD) {
            Some(done) => *done += 1,
            None => self.progress.step(),
        }
    }

    fn pause(&self, pause: std::time::Duration) {
        self.progress.pause(pause);
    }
}

/// Reads from the state which RRsets are own; also gives the zones whose markers show an apply that the state does not
/// know.
fn remember(config: &Config, zones: Zones, state: Option<&dyn State>) -> Result<(Zones, Vec<ZoneName>), Problem> {
    let known = state.map(|state| state.markers()).transpose()?.unwrap_or_default();
    let known = known.among(config.targets().map(|target| &target.id));
    let lost = zones.markers().filter(|(copy, marker)| !known.covers(copy, marker));
    let lost: BTreeSet<ZoneId> = lost.map(|(copy, _)| copy.zone_id()).collect();
    let kept = config.zones.iter().filter(|spec| config.marking(spec).registry == Registry::Journal);
    let forgotten = kept.filter(|spec| lost.contains(&config.zone_id(spec))).map(|spec| spec.name.clone());
    let forgotten = forgotten.collect();
    Ok((with_own(config, zones, state)?, forgotten))
}

/// The same zones, with what the state says of who created what: in pools of several targets at each of them, and by itself
/// for each DNS update record.
fn with_own(config: &Config, zones: Zones, state: Option<&dyn State>) -> Result<Zones, Problem> {
    let Some(state) = state else { return Ok(zones) };
    let Zones { mut live, mut copies, .. } = zones;
    if copies.is_empty() && config.update_records.records.is_empty() {
        live.know_own(state.own()?);
        return Ok(Zones { live, copies, ..zones });
    }
    let own_at = |target: &TargetId| state.own_at(&config.scope(target));
    let (of_records, listed): (Vec<&Pool>, Vec<&Pool>) = config.pools.iter().partition(|pool| pool.is_of_record);
    let of_record = |pool: &Pool| Ok((pool.name.clone(), own_at(&pool.targets[0].id)?));
    let own_of_records = of_records.into_iter().map(of_record).collect::<Result<_, Problem>>()?;
    let alone = listed.into_iter().filter(|pool| !pool.has_several()).map(|pool| &pool.targets[0].id);
    let references = alone.chain(copies.iter().flat_map(PoolCopies::references));
    // A name is in one zone, and so in one pool: those of records are left out.
    let own = references.map(own_at).collect::<Result<Vec<OwnRrsets>, Problem>>()?;
    live.know_own(own.into_iter().fold(OwnRrsets::default(), OwnRrsets::joined));
    for pool in &mut copies {
        let reference = pool.reference().map(own_at).transpose()?.unwrap_or_default();
        // A copy that holds the same is like the reference only where the same of it is own.
        let mut others = Vec::new();
        for target in std::mem::take(&mut pool.alike) {
            let own = own_at(&target)?;
            if own == reference {
                pool.alike.push(target);
            } else {
                others.push(TargetCopies { target, live: live.with_copies([]) });
            }
        }
        pool.others.append(&mut others);
        for seen in &mut pool.others {
            seen.live.know_own(own_at(&seen.target)?);
        }
    }
    Ok(Zones { live, copies, own_of_records, ..zones })
}

/// What is reported about the snapshot that is used in place of live DNS.
pub(super) fn used(snapshot: &Snapshot, inventory: &Inventory) -> SnapshotUsed {
    let configured = |zone: &&ZoneName| inventory.config.zones.iter().any(|spec| spec.name == **zone);
    let ignored = snapshot.zones().filter(|zone| !configured(zone)).cloned().collect();
    SnapshotUsed { created: snapshot.created(), ignored }
}

/// Loads the inventory, tests its exports, and checks the targets' settings.
///
/// Errors: what is wrong, where zonewright.toml or a target's settings cannot be used.
pub(super) fn load(
    workspace: &Path,
    now: Time,
    progress: &dyn Progress,
) -> Result<(Inventory, Diagnostics), Box<Findings>> {
    load_extent(workspace, WorkspaceExtent::Whole, now, progress)
}

/// Loads the inventory, as [`load`] does, and tests its exports also against those that were accepted last, where there is a state.
///
/// Errors: what is wrong, where the settings cannot be used; the state cannot be read.
pub(super) fn load_held(
    workspace: &Path,
    now: Time,
    progress: &dyn Progress,
) -> Result<(Inventory, Diagnostics), OpenError> {
    let (mut inventory, mut diagnostics) = load(workspace, now, progress)?;
    let state = open_to_read(&state_address(workspace, &inventory.config))?;
    diagnostics.append(accepted::hold_against(&mut inventory, state.as_deref(), None)?);
    diagnostics.settle();
    Ok((inventory, diagnostics))
}

/// Loads a part of the inventory, as [`load`] does.
pub(super) fn load_extent(
    workspace: &Path,
    extent: WorkspaceExtent,
    now: Time,
    progress: &dyn Progress,
) -> Result<(Inventory, Diagnostics), Box<Findings>> {
    let LoadedInventory { inventory, diagnostics, .. } = go_on(read_settings(workspace), extent, now, progress)?;
    Ok((inventory, diagnostics))
}

/// An inventory, its exports tested.
struct LoadedInventory {
    /// The inventory.
    inventory: Inventory,
    /// What is wrong in it.
    diagnostics: Diagnostics,
    /// How it was read.
    reading: InventoryReading,
    /// Where it was kept: what was found of all hosts.
    surveyed: Option<EarlierSurvey>,
}

/// Loads a part of the inventory by settings that were read, as [`load`] does.
fn go_on(
    settings: SettingsFile,
    extent: WorkspaceExtent,
    now: Time,
    progress: &dyn Progress,
) -> Result<LoadedInventory, Box<Findings>> {
    progress.stage(RunStage::Inventory, None);
    let LoadedWorkspace { inventory, diagnostics, traces, rows } = settings.load(extent, now, &|_| {});
    match inventory {
        Ok(inventory) => {
            let reading = InventoryReading { at: now, of_files: diagnostics, traces, rows };
            let diagnostics = Diagnostics::default();
            LoadedInventory { inventory, diagnostics, reading, surveyed: None }.tested(now)
        }
        Err(files) => Err(Box::new(Findings { files, diagnostics, ..Findings::default() })),
    }
}

impl LoadedInventory {
    /// The same, its exports tested, and the settings of its targets.
    ///
    /// Errors: what is wrong, where the settings cannot be used.
    fn tested(mut self, now: Time) -> Result<LoadedInventory, Box<Findings>> {
        let mut diagnostics = self.reading.of_files.clone();
        diagnostics.append(trust::test_exports(&mut self.inventory, now));
        let targets = check_targets(&self.inventory.config);
        let are_unusable = targets.error_count() > 0;
        diagnostics.append(targets);
        diagnostics.settle();
        if are_unusable {
            return Err(Box::new(Findings { files: self.inventory.files, diagnostics, ..Findings::default() }));
        }
        Ok(LoadedInventory { diagnostics, ..self })
    }

    /// An inventory that was kept, as a reading at this time would give it.
    ///
    /// Errors: as for [`LoadedInventory::tested`].
    fn again(kept: UnmovedInventory, now: Time) -> Result<LoadedInventory, Box<Findings>> {
        let UnmovedInventory { inventory, reading, survey } = kept;
        let diagnostics = Diagnostics::default();
        LoadedInventory { inventory, diagnostics, reading, surveyed: Some(survey) }.tested(now)
    }
}

/// Finds the hosts and projects that the command line names.
///
/// Errors: there is none of that name, or the state, which may know more of it, cannot be read.
pub(super) fn select(
    inventory: &Inventory,
    request: &PlanRequest<'_>,
    (state, statements): (Option<&dyn State>, &KeptStatements),
) -> Result<Selection, InputError> {
    let mut projects = BTreeSet::new();
    for id in &request.projects {
        projects.insert(find_project(inventory, id)?);
    }
    let mut selection = Selection { projects, ..Selection::default() };
    let mut hosts = request.hosts.clone();
    for pick in &request.subjects {
        match pick {
            SubjectPick::Like(pattern) => {
                subjects::check_like(inventory, statements, pattern)?;
                selection.patterns.push(pattern.clone());
            }
            SubjectPick::One(subject) => match subject.host() {
                Some(inv) => hosts.push(inv.to_string()),
                None => {
                    subjects::check_known(inventory, statements, subject)?;
                    selection.subjects.insert(subject.clone());
                }
            },
        }
    }
    selection.hosts = published::find_named(inventory, state, &hosts)??;
    Ok(selection)
}

/// How many projects are listed where the command line names an unknown one.
const PROJECTS_LISTED: usize = 8;

/// Finds the project that the command line names.
///
/// Errors: no file names it.
pub(super) fn find_project(inventory: &Inventory, id: &str) -> Result<ProjectIndex, CallError> {
    if let Some(place) = inventory.projects.iter().position(|project| project.id == id) {
        return Ok(ProjectIndex(place as u32));
    }
    let known = || inventory.projects.iter().map(|project| project.id.as_str());
    let listed = || {
        let listed: Vec<String> = known().take(PROJECTS_LISTED).map(|id| format!("`{id}`")).collect();
        let more = if known().count() > PROJECTS_LISTED { ", …" } else { "" };
        format!("the projects are {}{more}", listed.join(", "))
    };
    let hint = did_you_mean(id, known()).unwrap_or_else(listed);
    Err(CallError { message: format!("there is no project `{id}`"), hint })
}
