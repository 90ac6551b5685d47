//! Gives, releases and records names: makes the new names.lock of a workspace.
//!
//! Comes in: the folder of a workspace, the clock, the hosts, and what is to be done with their names. Goes out:
//! names.lock, old and new, and the outcome of each host. Where the operator says `--write`, the file itself is
//! replaced as a whole, unless another process wrote it in the meantime.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::findings::Findings;
use super::free_names::{FreeNamesInquiry, UnclearZone};
use super::input_error::InputError;
use super::inputs::{PlanRequest, SnapshotUsed, used};
use super::inputs::{find_project, load_extent, select};
use super::settings::state_address;
use super::{accepted, published};
use crate::claim::SubjectPick;
use crate::diag::CallError;
use crate::diff::Selection;
use crate::diff::statements::KeptStatements;
use crate::disk::{self, PendingFile};
use crate::dns::ZoneName;
use crate::inventory::Inventory;
use crate::inventory::model::{Host, Trust};
use crate::inventory::read::{self, NotReadAgain, WorkspaceExtent};
use crate::inventory::source::{NAMES_LOCK, is_conflict_marker};
use crate::inventory::value::{Inv, Time};
use crate::names::allocate::{AllocationTerms, NameHandling, allocate, nameless};
use crate::names::holders::lock_rows_of;
use crate::names::taken::LiveLabels;
use crate::names::{NamesOutcome, Settlement, TakenNames, adopt, lock, release, settle, taken};
use crate::progress::{Progress, RunStage};
use crate::provider::outage;
use crate::reading::open::open_targets;
use crate::reading::some::{LiveSource, look_at_some};
use crate::reading::{ReadingTerms, TargetReaders};
use crate::snapshot::Snapshot;
use crate::state::{State, open_to_read};
use crate::target::ZoneRead;

/// What is to be done with names.
#[derive(Debug, Clone)]
pub enum NamesTask {
    /// Give names to hosts that have none.
    Allocate {
        /// Whether the named hosts get a new name where theirs does not follow the template.
        rename: bool,
        /// The project to which the named hosts are moved.
        to: Option<String>,
    },
    /// Release the names of the named hosts.
    Release {
        /// The project in which they get new names.
        to: Option<String>,
    },
    /// Record the names that hosts have in hosts.csv.
    Adopt,
}

/// names.lock, old and new.
#[derive(Debug)]
pub struct LockRewrite {
    /// As it is now; empty where there is none.
    pub old: String,
    /// As it would be written.
    pub new: String,
    /// The outcome of each host.
    pub outcome: NamesOutcome,
    /// The snapshot that was used in place of live DNS, where given.
    pub snapshot: Option<SnapshotUsed>,
}

/// names.lock, old and settled.
#[derive(Debug)]
pub struct SettledLock {
    /// As it is now; empty where there is none.
    pub old: String,
    /// As it would be written.
    pub new: String,
    /// What was decided.
    pub settlement: Settlement,
}

/// Why names.lock stays as it is.
#[derive(Debug)]
pub enum NamesError {
    /// What says which host has which name cannot be read.
    Input(InputError),
    /// The command line names no host.
    NoHostNamed,
    /// A source is not believed that says which names are taken.
    Doubted {
        /// Why.
        reason: String,
        /// Whether it could be read, and failed a test.
        is_distrusted: bool,
    },
    /// It is not known which names live DNS has; why, in words.
    Unread(Vec<String>),
    /// names.lock changed while this ran.
    Changed,
    /// names.lock is not UTF-8.
    NotUtf8,
    /// names.lock has conflict markers of git.
    Unmerged,
    /// names.lock could not be written.
    Unwritable(io::Error),
}

impl From<InputError> for NamesError {
    fn from(error: InputError) -> NamesError {
        NamesError::Input(error)
    }
}

impl From<NotReadAgain> for NamesError {
    fn from(error: NotReadAgain) -> NamesError {
        match error {
            NotReadAgain::Changed => NamesError::Changed,
            NotReadAgain::NotUtf8 => NamesError::NotUtf8,
        }
    }
}

/// What is to be done, and for which hosts.
#[derive(Debug, Clone, Copy)]
pub struct NamesOrder<'a> {
    /// What is to be done.
    pub task: &'a NamesTask,
    /// Hosts in addition to those of the request, by number or by name.
    pub hosts: &'a [String],
}

/// Makes the new text of names.lock, and gives the findings of the same run.
pub fn rewrite(
    request: &PlanRequest<'_>,
    order: NamesOrder<'_>,
    progress: &dyn Progress,
) -> (Result<LockRewrite, NamesError>, Findings) {
    let mut read = match gather(request, progress) {
        Ok(read) => read,
        Err(error) => return (Err(error.into()), Findings::default()),
    };
    let done = work(&mut read, request, order, progress);
    let NamesRead { inventory, snapshot, findings, .. } = read;
    let snapshot = snapshot.map(|snapshot| used(&snapshot, &inventory));
    (done.map(|rewrite| LockRewrite { snapshot, ..rewrite }), Findings { files: inventory.files, ..findings })
}

/// Makes the new text of names.lock, sorted, with all contradictions between its rows settled.
pub fn fix_lock(request: &PlanRequest<'_>, progress: &dyn Progress) -> (Result<SettledLock, NamesError>, Findings) {
    let NamesRead { inventory, findings, .. } = match gather(request, progress) {
        Ok(read) => read,
        Err(error) => return (Err(error.into()), Findings::default()),
    };
    let fixed = trusted(&inventory).and_then(|()| {
        let old = read::names_lock(request.workspace, &inventory)?;
        let settlement = settle::settle(&inventory, &old, request.now);
        let new = lock::write(&old, &inventory, &settlement.edits, request.now);
        Ok(SettledLock { old, new, settlement })
    });
    (fixed, Findings { files: inventory.files, ..findings })
}

/// What names are given by.
struct NamesRead {
    /// The inventory, as far as names need it.
    inventory: Inventory,
    /// The snapshot that is used in place of live DNS, where given.
    snapshot: Option<Snapshot>,
    /// The state, where there is one.
    state: Option<Box<dyn State>>,
    /// What was found.
    findings: Findings,
}

/// Reads the files that say which host has which name, compares them with the accepted exports, and opens the snapshot.
fn gather(request: &PlanRequest<'_>, progress: &dyn Progress) -> Result<NamesRead, InputError> {
    let snapshot = request.live_snapshot.map(Snapshot::open).transpose().map_err(InputError::Snapshot)?;
    let (mut inventory, mut diagnostics) =
        load_extent(request.workspace, WorkspaceExtent::Names, request.now, progress)?;
    let state = open_to_read(&state_address(request.workspace, &inventory.config))?;
    diagnostics.append(accepted::hold_against(&mut inventory, state.as_deref(), None)?);
    diagnostics.settle();
    let findings = Findings { diagnostics, files_read: inventory.inputs.len(), ..Findings::default() };
    Ok(NamesRead { inventory, snapshot, state, findings })
}

/// Does the work on an inventory that was read.
fn work(
    read: &mut NamesRead,
    request: &PlanRequest<'_>,
    NamesOrder { task, hosts }: NamesOrder<'_>,
    progress: &dyn Progress,
) -> Result<LockRewrite, NamesError> {
    let (inventory, state) = (&read.inventory, read.state.as_deref());
    let of_files = request.subjects.iter().find_map(|pick| match pick {
        SubjectPick::One(subject) => Some(subject).filter(|subject| subject.host().is_none()),
        SubjectPick::Like(_) => None,
    });
    if let Some(subject) = of_files {
        let message = format!("`{subject}` is no host, and names.lock has names of hosts alone");
        return Err(InputError::from(CallError { message, hint: "name a host".to_owned() }).into());
    }
    let mut selection = select(inventory, request, (state, &KeptStatements::default()))?;
    let named = published::find_named(inventory, state, hosts).map_err(InputError::from)?;
    selection.hosts.extend(named.map_err(InputError::from)?);
    trusted(inventory)?;
    let invs = subjects(inventory, &selection, task)?;
    let old = read::names_lock(request.workspace, inventory)?;
    if old.lines().any(is_conflict_marker) {
        return Err(NamesError::Unmerged);
    }
    let now = request.now;
    let to =
        |id: &Option<String>| id.as_ref().map(|id| find_project(inventory, id).map_err(InputError::from)).transpose();
    let (holding, to) = match task {
        NamesTask::Allocate { rename, to: id } => {
            (if *rename { NameHandling::Rename } else { NameHandling::Keep }, to(id)?)
        }
        NamesTask::Release { to: Some(id) } => {
            (NameHandling::Replace, Some(find_project(inventory, id).map_err(InputError::from)?))
        }
        NamesTask::Release { to: None } => {
            return Ok(written(inventory, old, release::release(inventory, &invs, now), now));
        }
        NamesTask::Adopt => {
            let mut taken = TakenNames::by_hosts(inventory, now);
            let outcome = adopt::adopt(inventory, &mut taken, &invs, now);
            return Ok(written(inventory, old, outcome, now));
        }
    };
    let outcome = if invs.is_empty() {
        NamesOutcome::default()
    } else {
        give(read, request.workspace, &invs, AllocationTerms { holding, to, now }, progress)?
    };
    Ok(written(&read.inventory, old, outcome, now))
}

/// Makes the new text of names.lock from its edits.
fn written(inventory: &Inventory, old: String, outcome: NamesOutcome, now: Time) -> LockRewrite {
    let new = if outcome.edits.is_empty() { old.clone() } else { lock::write(&old, inventory, &outcome.edits, now) };
    LockRewrite { old, new, outcome, snapshot: None }
}

/// Checks that the sources that say which host has which name are believed.
fn trusted(inventory: &Inventory) -> Result<(), NamesError> {
    let trust = &inventory.trust;
    for trust in [&trust.hosts, &trust.names_lock] {
        if let Some(reason) = trust.doubt() {
            let is_distrusted = matches!(trust, Trust::Distrusted { .. });
            return Err(NamesError::Doubted { reason: reason.to_owned(), is_distrusted });
        }
    }
    Ok(())
}

/// The hosts that a task is about, in order: `--subject` may name them, too.
fn subjects(inventory: &Inventory, selection: &Selection, task: &NamesTask) -> Result<Vec<Inv>, NamesError> {
    let is_about_named = match task {
        NamesTask::Allocate { rename, to } => *rename || to.is_some(),
        NamesTask::Release { .. } => true,
        NamesTask::Adopt => false,
    };
    if !selection.hosts.is_empty() {
        return match selection.hosts.iter().find(|inv| !is_in_projects(inventory, selection, **inv)) {
            Some(inv) => Err(InputError::from(elsewhere(*inv)).into()),
            None => Ok(selection.hosts.iter().copied().collect()),
        };
    }
    if is_about_named {
        return Err(NamesError::NoHostNamed);
    }
    let is_selected = |host: &&Host| selection.includes(host.inv, host.project);
    let invs: BTreeSet<Inv> = match task {
        NamesTask::Adopt => adopt::adoptable(inventory).filter(is_selected).map(|host| host.inv).collect(),
        NamesTask::Allocate { .. } | NamesTask::Release { .. } => {
            nameless(inventory).filter(is_selected).map(|host| host.inv).collect()
        }
    };
    Ok(invs.into_iter().collect())
}

/// Whether a host is in a project among those selected: by hosts.csv, or, where that lacks it, by any of its rows.
fn is_in_projects(inventory: &Inventory, selection: &Selection, inv: Inv) -> bool {
    match inventory.place_of(inv) {
        Some(place) => selection.includes_project(inventory.hosts[place].project),
        None => lock_rows_of(inventory, inv).any(|row| selection.includes_project(inventory.lock[row].project)),
    }
}

/// The error about a named host that is in none of the named projects.
fn elsewhere(inv: Inv) -> CallError {
    CallError {
        message: format!("host {inv} is in no project that `--project` names"),
        hint: "leave `--project` out, or name only hosts of that project".to_owned(),
    }
}

/// Gives names that are free by the inventory and by live DNS.
fn give(
    NamesRead { inventory, snapshot, findings, .. }: &mut NamesRead,
    workspace: &Path,
    invs: &[Inv],
    giving: AllocationTerms,
    progress: &dyn Progress,
) -> Result<NamesOutcome, NamesError> {
    let inventory = &*inventory;
    let config = &inventory.config;
    let domains = taken::domains(inventory);
    let terms = ReadingTerms { workspace, now: giving.now, cache: None };
    let opened = if snapshot.is_none() { open_targets(config, &terms) } else { TargetReaders::default() };
    let source = snapshot.as_ref().map_or(LiveSource::Targets(&opened), LiveSource::Snapshot);
    let is_needed = |zone: &ZoneName| taken::is_needed(&domains, zone.as_name());
    let look = |read: &ZoneRead| LiveLabels::of(&domains, &read.contents, &read.opaque);
    let (mut taken, some) = rayon::join(
        || TakenNames::by_hosts(inventory, giving.now),
        || look_at_some(config, source, is_needed, look, progress),
    );
    findings.zones = some.findings;
    let in_part =
        some.in_part.iter().map(|zone| format!("the snapshot has only the names of `{zone}` that were queried"));
    let no_answer = in_part.map(UnclearZone::NoAnswer);
    let unclear: Vec<UnclearZone> = some.unread.into_iter().map(UnclearZone::Unread).chain(no_answer).collect();
    if !unclear.is_empty() {
        return Err(unread(unclear, findings));
    }
    some.seen.into_iter().for_each(|labels| taken.add_labels(labels));
    for zone in &some.asked {
        let apex = zone.zone.as_name();
        if apex.parent().is_some_and(|parent| domains.contains(parent.as_wire())) {
            taken.add_live_name(apex.first_label().unwrap_or_default());
        }
    }
    if some.asked.is_empty() {
        progress.stage(RunStage::Names, None);
        return Ok(allocate(inventory, &mut taken, invs, giving));
    }
    progress.stage(RunStage::FreeNames, None);
    let given = FreeNamesInquiry::open(inventory, &some.asked, &domains)
        .and_then(|mut inquiry| inquiry.allocate(inventory, &mut taken, invs, giving));
    given.map_err(|unclear| unread(unclear, findings))
}

/// Makes the error that says why it is not known which names are free.
fn unread(unclear: Vec<UnclearZone>, findings: &mut Findings) -> NamesError {
    let (mut missing, mut failed) = (Vec::new(), Vec::new());
    for unclear in unclear {
        match unclear {
            UnclearZone::NoAnswer(message) => missing.push(message),
            UnclearZone::Unread(error) => failed.push(error),
        }
    }
    match failed.len() {
        0 => {}
        1 => missing.insert(0, "a zone could not be read".to_owned()),
        several => missing.insert(0, format!("{several} zones could not be read")),
    }
    findings.unread = outage::gather(failed.into_iter());
    NamesError::Unread(missing)
}

/// Writes names.lock, unless it is no longer `old`: then another process wrote it since.
///
/// Errors: `Changed` and `Unwritable`; the file is unchanged then.
pub fn write(workspace: &Path, old: &str, new: &str) -> Result<(), NamesError> {
    // Another process that gives names in this workspace waits here, and then finds the file changed.
    let folder = File::open(workspace).map_err(NamesError::Unwritable)?;
    folder.lock().map_err(NamesError::Unwritable)?;
    let path = workspace.join(NAMES_LOCK);
    let path = fs::canonicalize(&path).unwrap_or(path);
    let present = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(NamesError::Unwritable(error)),
    };
    if present != old {
        return Err(NamesError::Changed);
    }
    put(&path, new.as_bytes()).map_err(NamesError::Unwritable)
}

/// Replaces a file as a whole, or creates it.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    PendingFile::write(path, content, fs::metadata(path).ok().as_ref())?.put_in_place()?;
    disk::sync_folder(path)
}
