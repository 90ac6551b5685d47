//! Joins the rooms in order: makes a plan from a workspace and its servers.
//!
//! Comes in: the folder of a workspace, the clock, and the hosts whose rules run. Goes out: a plan with all findings.
//! Zones and hosts are processed in parallel here; the outcome does not depend on the number of threads.

pub mod zones;

pub mod base;

mod inquiry;

mod needed;

mod accepted;

mod acceptance;

pub mod snapshot;

pub mod doctor;

pub mod state;

pub mod decide;

mod derive;

pub mod guards;

mod review;

mod post;

pub mod explain;

pub mod accept;

mod free_names;

pub mod names;

pub mod merging;

pub mod apply;

mod allowed;

pub mod fix;

pub mod resume;

pub mod undo;

mod left_behind;

mod edited;

mod published;

pub mod drift;

pub mod metrics;

mod waits;

pub mod vocabulary;

pub mod history;

pub mod serve;

pub mod init;

mod settings;

mod stage;

#[cfg(test)]
mod simulation;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use crate::change::{Change, Notice, NoticeCode};
use crate::diag::{CallError, Diagnostics, FileFindings, FileId, Files, Problem, did_you_mean};
use crate::diff::Selection;
use crate::diff::held::Held;
use crate::diff::waits::Waits;
use crate::dns::{ZoneName, reverse};
use crate::explain::find_hosts;
use crate::guard::{Breaker, trust};
use crate::inventory::model::{Config, Export, Inventory, ProjectIndex, Registry, Trust};
use crate::inventory::read::{self, Extent, Loaded, SETTINGS};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::names::holders::name_of;
use crate::names::short;
use crate::parallel::HELD;
use crate::plan::{HostSeen, Marker, Only, Plan, SourceSeen, WorkspaceSeen, marker_key};
use crate::provider::cache::CacheUse;
use crate::provider::{self, outage};
use crate::snapshot::Snapshot;
use crate::state::{State, knows, open_to_read};
use base::{BaseError, Remark};
use decide::{Decided, Given};
use edited::{Marked, Past};
use guards::Remembered;
use zones::{EarlyZones, Zones};

use settings::{Settings, check_targets, load_config, load_settings};

pub use stage::RunStage;

/// Receives the progress of a run, to show it to the operator.
pub trait Progress: Sync {
    /// A stage begins; `total` is how many steps it has, where that is known.
    fn stage(&self, what: RunStage, total: Option<u64>);
    /// One step is done.
    fn step(&self);
    /// Waits before a next try.
    fn pause(&self, pause: std::time::Duration) {
        std::thread::sleep(pause);
    }
}

/// What to plan.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock that ages are measured against.
    pub now: Time,
    /// Hosts whose rules run, by number or name; all where empty.
    pub hosts: Vec<String>,
    /// Projects whose rules run; all where empty.
    pub projects: Vec<String>,
    /// The snapshot that is used in place of the targets; no target is opened then.
    pub live_snapshot: Option<&'a Path>,
    /// What the inventory is compared with: a git revision, or a folder.
    pub base: Option<&'a str>,
    /// How zones that earlier runs kept may be used.
    pub cache: CacheUse,
}

/// What was found, in addition to the plan.
#[derive(Debug, Default)]
pub struct Findings {
    /// The files that diagnostics name.
    pub files: Files,
    /// What is wrong in them.
    pub diagnostics: Diagnostics,
    /// The settings files that have errors: zonewright.toml and project files. All other files with diagnostics are exports
    /// and names.lock.
    pub settings: BTreeSet<String>,
    /// Whether every export is believed, so that an error in one affects only single hosts.
    pub are_exports_believed: bool,
    /// How many files were read, those of zones included.
    pub files_read: usize,
    /// What is questionable in zones that could still be read.
    pub zones: Vec<FileFindings>,
    /// Why zones could not be read, in the order of the configuration; one cause for several zones of a server is one
    /// error.
    pub unread: Vec<Problem>,
    /// The zones whose markers show an apply that the state does not know, where the state says what is own.
    pub forgotten: Vec<ZoneName>,
    /// What is questionable about the base.
    pub base: Vec<Remark>,
}

impl Findings {
    /// Whether a file that diagnostics name is a settings file.
    pub fn is_settings(&self, file: FileId) -> bool {
        let name = self.files.name(file);
        name == SETTINGS || self.settings.contains(name)
    }

    /// All findings in files, with the files.
    pub fn in_files(&self) -> impl Iterator<Item = (&Files, &Diagnostics)> {
        let unread = self.unread.iter().filter_map(|error| error.findings.as_deref());
        let zones = self.zones.iter().chain(unread).map(|(files, found)| (files, found));
        std::iter::once((&self.files, &self.diagnostics)).chain(zones)
    }

    /// Why zones could not be read, where the cause is not a finding in a file.
    pub fn bare_errors(&self) -> impl Iterator<Item = &Problem> {
        self.unread.iter().filter(|error| error.findings.is_none())
    }
}

/// What a check of a workspace found.
#[derive(Debug)]
pub struct Checked {
    /// What was found.
    pub findings: Findings,
    /// The files that were read, those of zones included.
    pub read: BTreeSet<String>,
}

/// A plan, and the findings of the same run.
#[derive(Debug)]
pub struct Made {
    /// The plan.
    pub plan: Plan,
    /// What was found.
    pub findings: Findings,
    /// Whether a zone or a source could not be read completely.
    pub is_partial: bool,
    /// The snapshot that it was made from, where given.
    pub snapshot: Option<SnapshotUsed>,
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The targets that the plan would change, as messages call them, in the order of the configuration.
    pub targets: Vec<String>,
}

/// A snapshot that a plan was made from.
#[derive(Debug)]
pub struct SnapshotUsed {
    /// When it was made.
    pub created: Time,
    /// The zones of it that are not configured, and were ignored.
    pub ignored: Vec<ZoneName>,
}

/// Why there is no plan.
#[derive(Debug)]
pub enum MakeError {
    /// zonewright.toml cannot be used.
    Config(Box<Findings>),
    /// The command line names a folder that is not a snapshot.
    NoSnapshot(Problem),
    /// The state cannot be read.
    NoState(Problem),
    /// The command line names a host or project that is not known.
    NoSubject(CallError),
    /// The command line names an apply that cannot be undone.
    NoUndo(CallError),
    /// The command line names a base that cannot be read.
    NoBase(BaseError),
}

impl fmt::Display for MakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MakeError::Config(_) => write!(f, "zonewright.toml cannot be used"),
            MakeError::NoSnapshot(error) => error.fmt(f),
            MakeError::NoState(error) => error.fmt(f),
            MakeError::NoSubject(error) => error.fmt(f),
            MakeError::NoUndo(error) => error.fmt(f),
            MakeError::NoBase(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MakeError {}

impl From<BaseError> for MakeError {
    fn from(error: BaseError) -> MakeError {
        MakeError::NoBase(error)
    }
}

impl From<Problem> for MakeError {
    fn from(error: Problem) -> MakeError {
        MakeError::NoState(error)
    }
}

/// The name of this program in documents.
const TOOL: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));

/// Makes a plan: reads inventory and live DNS, derives, compares, decides.
///
/// Errors: [`MakeError`]. A source or zone that cannot be read is no error: the plan says what it leaves because of it.
pub fn make_plan(request: &Request<'_>, progress: &dyn Progress) -> Result<Made, MakeError> {
    let Gathered { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, state, version } =
        gather(request, &ReadFor::Selected, progress)?;
    progress.stage(RunStage::Compare, None);
    let tripped = remembered.tripped(&inventory);
    let nothing = Held::default();
    let given = Given { now: request.now, selection: &selection, tripped: &tripped, waits: &waits, held: &nothing };
    let past = Past { state: state.as_deref(), version, zones: &zones, is_snapshot: snapshot.is_some() };
    let Marked { mut decided, written, held } = edited::decide(&inventory, given, past)?;
    let left = std::mem::take(&mut decided.left_behind);
    let (found, live) = (&diagnostics, &zones.live);
    let reviewed = review::Reviewed {
        inventory: &inventory,
        hosts: &selection.hosts,
        found,
        live,
        waits: &waits,
        held: &held,
        decided: &decided,
        written: &written,
    };
    let (review, remarks) = review::review(request, reviewed, (&remembered, state.as_deref()), progress)?;
    let chosen = Chosen { selection: &selection, decided };
    let workspace = workspace_seen(&inventory.config, state.as_deref())?;
    let mut made = made((request.now, workspace), (inventory, diagnostics), zones, snapshot, chosen);
    made.plan.review = review;
    left_behind::list(&mut made.plan, left, (&selection, state.as_deref()))?;
    made.findings.base = remarks;
    let only = narrowed_to(&selection.hosts, &request.projects);
    let made = Made { plan: Plan { only, ..made.plan }, ..made };
    Ok(guarded(made, forgotten, remembered, request.workspace))
}

/// Adds to a plan what the state knows: the use of limits, the tripped breakers, and the zones with an apply that the
/// state does not know.
fn guarded(mut made: Made, forgotten: Vec<ZoneName>, remembered: Remembered, workspace: &Path) -> Made {
    made.plan.limits = remembered.count(&made.plan, workspace);
    Made { findings: Findings { forgotten, ..made.findings }, breakers: remembered.breakers, ..made }
}

/// The workspace that a plan is for.
///
/// Errors: the state cannot be read.
fn workspace_seen(config: &Config, state: Option<&dyn State>) -> Result<WorkspaceSeen, Problem> {
    let id = state.map(|state| state.identity()).transpose()?.map(|identity| identity.id);
    Ok(WorkspaceSeen { owner: config.owner.clone(), registry: config.registry, id })
}

/// The hosts and projects that a plan is narrowed to; none where it is about the whole fleet.
fn narrowed_to(hosts: &BTreeSet<Inv>, projects: &[String]) -> Option<Only> {
    let is_narrowed = !hosts.is_empty() || !projects.is_empty();
    is_narrowed.then(|| Only { hosts: hosts.iter().copied().collect(), projects: projects.to_vec() })
}

/// What was decided, and for which hosts.
struct Chosen<'a> {
    /// The hosts whose rules ran.
    selection: &'a Selection,
    /// What was decided.
    decided: Decided,
}

/// Makes a plan from what was decided.
fn made(
    (now, workspace): (Time, WorkspaceSeen),
    (inventory, diagnostics): (Inventory, Diagnostics),
    zones: Zones,
    snapshot: Option<SnapshotUsed>,
    Chosen { selection, decided }: Chosen<'_>,
) -> Made {
    let (mut notices, is_partial) = found_notices(&inventory, &zones);
    let hosts = hosts_seen(&inventory, &decided);
    notices.extend(decided.notices);
    let mut inputs = inventory.inputs.clone();
    inputs.extend(zones.inputs);
    let settings = inventory.settings_errors.keys().cloned().collect();
    let are_exports_believed = are_believed(&inventory);
    let targets = targets(&inventory.config, &decided.changes);
    let plan = Plan {
        tool: TOOL.to_owned(),
        created: now,
        expires: now.plus(inventory.config.plan_expires),
        workspace,
        undoes: None,
        only: None,
        inputs,
        fleet: Some(fleet(&inventory, selection)),
        hosts,
        changes: decided.changes,
        review: None,
        waiting: decided.waiting,
        left_behind: Vec::new(),
        blocked: decided.blocked,
        skipped: decided.skipped,
        notices,
        limits: Vec::new(),
        sources: inventory.exports.iter().map(source_seen).collect(),
        zones: zones.seen,
    };
    let unread = outage::gather(zones.unread.into_iter().map(|(_, error)| error));
    let files_read = plan.inputs.len();
    let findings = Findings {
        files: inventory.files,
        settings,
        are_exports_believed,
        diagnostics,
        files_read,
        zones: zones.findings,
        unread,
        forgotten: Vec::new(),
        base: Vec::new(),
    };
    Made { plan, findings, is_partial, snapshot, breakers: Vec::new(), targets }
}

/// The targets of the zones that changes are in, each once.
fn targets(config: &Config, changes: &[Change]) -> Vec<String> {
    let changed: BTreeSet<&ZoneName> = changes.iter().map(|change| &change.zone).collect();
    let pools: BTreeSet<usize> =
        config.zones.iter().filter(|zone| changed.contains(&zone.name)).map(|zone| zone.pool).collect();
    let places = pools.into_iter().map(|pool| &config.pools[pool].target);
    let mut places: Vec<String> = places.map(|target| provider::place(&target.provider, &target.settings)).collect();
    places.dedup();
    places
}

/// How many hosts hosts.csv has, of those that are selected; a number on several rows is one host.
fn fleet(inventory: &Inventory, selection: &Selection) -> u64 {
    let hosts = inventory.hosts.chunk_by(|a, b| a.inv == b.inv);
    hosts.filter(|rows| rows.iter().any(|host| selection.includes(host.inv, host.project))).count() as u64
}

/// What the inventory says of each host that a plan names.
fn hosts_seen(inventory: &Inventory, decided: &Decided) -> BTreeMap<Inv, HostSeen> {
    let of_changes = decided.changes.iter().flat_map(|change| change.host.iter().chain(&change.also));
    let left = decided.blocked.iter().map(|blocked| &blocked.host);
    let left = left.chain(decided.skipped.iter().map(|skipped| &skipped.host));
    let noticed = decided.notices.iter().filter_map(|notice| notice.host.as_ref());
    let waiting = decided.waiting.iter().filter_map(|waiting| waiting.host.as_ref());
    let named: BTreeSet<Inv> = of_changes.chain(left).chain(noticed).chain(waiting).copied().collect();
    let seen = |inv: Inv| {
        // Where a number has several rows, the values would depend on their order.
        let [host] = &inventory.hosts[inventory.places_of(inv)] else { return None };
        let text = |symbol| inventory.symbols.text(symbol).to_owned();
        let name = name_of(inventory, host).map(|(name, _)| name.to_string());
        Some((
            inv,
            HostSeen { name, location: text(host.location), switch: host.switch.map(text), rack: host.rack.map(text) },
        ))
    };
    named.into_iter().filter_map(seen).collect()
}

/// Whether every export is believed.
fn are_believed(inventory: &Inventory) -> bool {
    inventory.sources().all(|(_, trust)| matches!(trust, Trust::Known))
}

/// What a plan says about an export.
fn source_seen(export: &Export) -> SourceSeen {
    let source = export.spec.name.clone();
    // Without a date the default holds for nothing.
    let max_age = export.spec.demands.max_age.filter(|max| !max.is_default || export.dated.is_some());
    let max_age = max_age.map(|max| max.age);
    SourceSeen { source, rows: export.rows as u64, dated: export.dated, max_age }
}

/// All that decisions are based on.
struct Gathered {
    /// The inventory.
    inventory: Inventory,
    /// What is wrong in it.
    diagnostics: Diagnostics,
    /// The hosts whose rules run.
    selection: Selection,
    /// Live DNS.
    zones: Zones,
    /// The RRsets that wait to be deleted.
    waits: Waits,
    /// The zones whose markers show an apply that the state does not know, where the state says what is own.
    forgotten: Vec<ZoneName>,
    /// The snapshot that is used in place of live DNS, where given.
    snapshot: Option<SnapshotUsed>,
    /// What guards need from the state.
    remembered: Remembered,
    /// The state, where there is one.
    state: Option<Box<dyn State>>,
    /// Its version before live DNS was read.
    version: Option<u64>,
}

/// For which hosts zones are queried that are read name by name.
enum ReadFor<'a> {
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
    fn selection(&self, request: &Request<'_>, inventory: &Inventory, selection: &Selection) -> Selection {
        match self {
            ReadFor::AllHosts => Selection::default(),
            ReadFor::Selected if request.base.is_some() => Selection::default(),
            ReadFor::Selected => selection.clone(),
            ReadFor::Named(texts) => {
                let hosts = find_hosts(inventory, texts);
                hosts.map_or_else(|_| Selection::default(), |hosts| Selection { hosts, ..selection.clone() })
            }
        }
    }
}

/// Reads the inventory and live DNS.
fn gather(request: &Request<'_>, read_for: &ReadFor<'_>, progress: &dyn Progress) -> Result<Gathered, MakeError> {
    let snapshot = request.live_snapshot.map(Snapshot::open).transpose().map_err(MakeError::NoSnapshot)?;
    let ReadFirst { loaded, early, state } = load_beside_zones(request, read_for, snapshot.is_none(), progress);
    let (mut inventory, mut diagnostics) = loaded?;
    // A state that is opened now was not there, or zones are not read yet.
    let (state, version) = match state {
        Some((state, version)) => (Some(state), Some(version)),
        None => {
            let state = open_to_read(&request.workspace.join(&inventory.config.state_file))?;
            let version = if early.is_none() { version_of(state.as_deref())? } else { None };
            (state, version)
        }
    };
    diagnostics.append(accepted::hold_against(&mut inventory, state.as_deref())?);
    diagnostics.settle();
    let selection = select(&inventory, request)?;
    let waits = state.as_deref().map(State::waits).transpose()?.unwrap_or_default();
    let read_for = read_for.selection(request, &inventory, &selection);
    let zones = match &snapshot {
        Some(snapshot) => zones::read_snapshot(&inventory, snapshot, progress),
        None => {
            let how = (&read_for, request.now, request.cache);
            zones::read_cached(&inventory, (request.workspace, early), how, progress)
        }
    };
    let (zones, forgotten) = match inventory.config.registry {
        Registry::Journal => remember(&inventory.config, zones, state.as_deref())?,
        // The base may need the state.
        Registry::Txt | Registry::Noop if request.base.is_some() => {
            let own = state.as_deref().map(State::own).transpose()?.unwrap_or_default();
            (Zones { live: zones.live.with_own(own), ..zones }, Vec::new())
        }
        Registry::Txt | Registry::Noop => (zones, Vec::new()),
    };
    let remembered = Remembered::read(guards::rules_of(&inventory), state.as_deref(), request.now)?.about(&inventory);
    let snapshot = snapshot.map(|snapshot| used(&snapshot, &inventory));
    Ok(Gathered { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, state, version })
}

/// Loads the inventory while the servers send their zones.
///
/// Zones are read early only where they are needed whatever the inventory says. If the command names a host or project
/// that the inventory lacks, this is reported at once, whether servers answer or not.
fn load_beside_zones(
    request: &Request<'_>,
    read_for: &ReadFor<'_>,
    are_zones_read: bool,
    progress: &dyn Progress,
) -> ReadFirst {
    let is_narrowed =
        !request.hosts.is_empty() || !request.projects.is_empty() || matches!(read_for, ReadFor::Named(_));
    let config = (!is_narrowed && are_zones_read).then(|| load_config(request.workspace).ok()).flatten();
    // A state that cannot be read is reported at once, too.
    let config = config.and_then(|(config, _)| {
        let state = open_to_read(&request.workspace.join(&config.state_file)).ok()?;
        let version = version_of(state.as_deref()).ok()?;
        Some((config, state.zip(version)))
    });
    let Some((config, state)) = config else {
        return ReadFirst { loaded: load(request.workspace, request.now, progress), early: None, state: None };
    };
    let total = config.zones.len() as u64;
    let steps = Waiting { progress, done: Mutex::new(Some(0)) };
    std::thread::scope(|scope| {
        let read = || EarlyZones::read(&config, request.workspace, (request.now, request.cache), &steps);
        let reading = std::thread::Builder::new().spawn_scoped(scope, read);
        let loaded = load(request.workspace, request.now, progress);
        // Where the system gives no thread, the zones are read after the workspace.
        let Ok(reading) = reading else { return ReadFirst { loaded, early: None, state } };
        steps.begin(RunStage::Zones, total);
        let early = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ReadFirst { loaded, early: Some(early), state }
    })
}

/// What is read before or while the inventory is loaded.
struct ReadFirst {
    /// The inventory.
    loaded: Result<(Inventory, Diagnostics), MakeError>,
    /// The zones that were read early.
    early: Option<EarlyZones>,
    /// The state and its version before any zone was read, where zones were to be read early and there is one.
    state: Option<(Box<dyn State>, u64)>,
}

/// The version of a state, where there is one.
fn version_of(state: Option<&dyn State>) -> Result<Option<u64>, Problem> {
    state.map(State::version).transpose()
}

/// Counts the steps of a stage that runs during another stage, and shows them when the other stage is over.
struct Waiting<'p> {
    /// Where the steps are shown.
    progress: &'p dyn Progress,
    /// How many steps are done, until the stage is shown.
    done: Mutex<Option<u64>>,
}

impl Waiting<'_> {
    /// Shows the stage, and the steps that are done.
    fn begin(&self, what: RunStage, total: u64) {
        let mut done = self.done.lock().expect(HELD);
        self.progress.stage(what, Some(total));
        (0..done.take().unwrap_or_default()).for_each(|_| self.progress.step());
    }
}

impl Progress for Waiting<'_> {
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
    let (own, known) = match state {
        Some(state) => (state.own()?, state.markers()?),
        None => (OwnRrsets::default(), BTreeMap::new()),
    };
    let is_forgotten = |zone: &&ZoneName| {
        let key = marker_key(zone);
        let live = key.and_then(|key| zones.live.rrset(key.owner.as_name(), key.rtype));
        let live = live.and_then(|found| Marker::of_rrset(&found.rrset.to_rrset()));
        live.is_some_and(|live| !knows(&known, zone, &live))
    };
    let forgotten = config.zones.iter().map(|spec| &spec.name).filter(is_forgotten).cloned().collect();
    Ok((Zones { live: zones.live.with_own(own), ..zones }, forgotten))
}

/// What is reported about the snapshot that is used in place of live DNS.
fn used(snapshot: &Snapshot, inventory: &Inventory) -> SnapshotUsed {
    let configured = |zone: &&ZoneName| inventory.config.zones.iter().any(|spec| spec.name == **zone);
    let ignored = snapshot.zones().filter(|zone| !configured(zone)).cloned().collect();
    SnapshotUsed { created: snapshot.created(), ignored }
}

/// Checks a workspace without a query to any server: all its files, the targets' settings, and zones that are files.
pub fn check(workspace: &Path, now: Time, progress: &dyn Progress) -> Checked {
    let (mut inventory, mut diagnostics) = match load(workspace, now, progress) {
        Ok(loaded) => loaded,
        Err(MakeError::Config(findings)) => return Checked { findings: *findings, read: BTreeSet::new() },
        Err(_) => unreachable!("`load` selects nothing, and reads no snapshot"),
    };
    diagnostics.append(short::check(&inventory));
    diagnostics.settle();
    let state = open_to_read(&workspace.join(&inventory.config.state_file));
    let held = state.and_then(|state| accepted::hold_against(&mut inventory, state.as_deref()));
    let unread = match held {
        Ok(found) => {
            diagnostics.append(found);
            diagnostics.settle();
            None
        }
        Err(error) => Some(error),
    };
    let local = zones::check_local(&inventory, workspace, now, progress);
    let files_read = inventory.inputs.len() + local.read.len() + local.unread.len();
    let (zones, unread) = (local.findings, outage::gather(unread.into_iter().chain(local.unread)));
    let read = inventory.inputs.into_keys().chain(local.read).collect();
    let findings = Findings {
        files: inventory.files,
        settings: BTreeSet::new(),
        are_exports_believed: false,
        diagnostics,
        files_read,
        zones,
        unread,
        forgotten: Vec::new(),
        base: Vec::new(),
    };
    Checked { findings, read }
}

/// Loads the inventory, tests its exports, and checks the targets' settings.
///
/// Errors: `Config`, where either cannot be used.
fn load(workspace: &Path, now: Time, progress: &dyn Progress) -> Result<(Inventory, Diagnostics), MakeError> {
    load_extent(workspace, (Extent::Whole, now), progress)
}

/// Loads a part of the inventory, as [`load`] does.
fn load_extent(
    workspace: &Path,
    (extent, now): (Extent, Time),
    progress: &dyn Progress,
) -> Result<(Inventory, Diagnostics), MakeError> {
    progress.stage(RunStage::Inventory, None);
    let Loaded { inventory, mut diagnostics } = read::load_extent(workspace, extent, now, &|_| {});
    let config_error =
        |files, diagnostics| Err(MakeError::Config(Box::new(Findings { files, diagnostics, ..Findings::default() })));
    let mut inventory = match inventory {
        Ok(inventory) => inventory,
        Err(files) => return config_error(files, diagnostics),
    };
    diagnostics.append(trust::test_exports(&mut inventory, now));
    let targets = check_targets(&inventory.config);
    let unusable = targets.error_count() > 0;
    diagnostics.append(targets);
    diagnostics.settle();
    if unusable { config_error(inventory.files, diagnostics) } else { Ok((inventory, diagnostics)) }
}

/// Finds the hosts and projects that the command line names.
fn select(inventory: &Inventory, request: &Request<'_>) -> Result<Selection, MakeError> {
    let mut projects = BTreeSet::new();
    for id in &request.projects {
        projects.insert(find_project(inventory, id)?);
    }
    let hosts = published::find_named(inventory, request.workspace, &request.hosts)?;
    Ok(Selection { hosts, projects })
}

/// How many projects are listed where the command line names an unknown one.
const PROJECTS_LISTED: usize = 8;

/// Finds the project that the command line names.
///
/// Errors: no file names it.
fn find_project(inventory: &Inventory, id: &str) -> Result<ProjectIndex, MakeError> {
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
    Err(MakeError::NoSubject(CallError { message: format!("there is no project `{id}`"), hint }))
}

/// The notices about sources, settings and zones, and whether any of them could not be read completely.
fn found_notices(inventory: &Inventory, zones: &Zones) -> (Vec<Notice>, bool) {
    let mut notices = unknown_sources(inventory);
    notices.extend(inventory.settings_errors.iter().map(|(file, count)| bad_settings(file, *count)));
    notices.extend(zones.unread.iter().map(|(zone, error)| zone_unknown(zone, error)));
    let is_partial = notices.iter().any(|notice| notice.code.tells_of_failure());
    notices.extend(zones.asked.iter().map(|zone| not_looked_for(zone, zones.for_some)));
    (notices, is_partial)
}

/// The notice about a zone that could not be read.
fn zone_unknown(zone: &ZoneName, error: &Problem) -> Notice {
    Notice { code: NoticeCode::ZoneUnknown, name: zone.to_string(), host: None, message: error.to_string() }
}

/// The notice about a settings file with errors.
fn bad_settings(file: &str, count: usize) -> Notice {
    let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
    let message = format!("{file} has {errors}; `zonewright check` shows them");
    Notice { code: NoticeCode::BadSettings, name: file.to_owned(), host: None, message }
}

/// The notice about a zone that was queried name by name, perhaps `for_some` hosts only: which data were not read.
fn not_looked_for(zone: &ZoneName, for_some: bool) -> Notice {
    let unseen = match reverse::is_reverse(zone.as_name()) {
        true if for_some => "PTR records that name a host at addresses outside its own names",
        true => "PTR records that name a host at addresses outside all names of hosts",
        false => {
            "addresses of hosts at names to which no PTR of the address points, names that no host has, and NS and MX \
             records below the apex that point to a host's name"
        }
    };
    let message = format!("`{zone}` was queried name by name, not transferred; not read: {unseen}");
    Notice { code: NoticeCode::ReadByQuery, name: zone.to_string(), host: None, message }
}

/// A notice for every source that is not believed.
fn unknown_sources(inventory: &Inventory) -> Vec<Notice> {
    let notice = |(name, trust): (&str, &Trust)| {
        let (code, reason) = match trust {
            Trust::Known => return None,
            Trust::Unknown { reason } => (NoticeCode::SourceUnknown, reason),
            Trust::Distrusted { reason } => (NoticeCode::SourceUntrusted, reason),
        };
        Some(Notice { code, name: name.to_owned(), host: None, message: reason.clone() })
    };
    inventory.sources().filter_map(notice).collect()
}
