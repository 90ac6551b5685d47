//! Which exports become the accepted ones when an apply succeeds, or when an operator says so.
//!
//! Comes in: a plan that was applied, the workspace as it is now, and the state. Goes out: the exports that the plan
//! was made from and that have not changed since, with their content where they are not the accepted ones already.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::conduct::ApplyConduct;
use super::settings::WorkspaceSettings;
use crate::change::{Notice, NoticeCode, SkipCode, SkippedSubject};
use crate::diag::Problem;
use crate::inventory::Inventory;
use crate::inventory::model::{Export, Trust};
use crate::inventory::read::{self, ExportFiles};
use crate::plan::Plan;
use crate::state::{
    self, Acceptance, AcceptanceRecord, AcceptedFile, Acceptor, ExportToAccept, NewExport, OpenedState, StateAddress,
    StateLock,
};

/// The exports that an apply accepts if it did all of its plan: those that the plan believed and of which no file has
/// changed since.
///
/// An export that cannot be read now is not accepted. The apply does not fail because of it: its changes are made.
pub(super) fn of_plan(
    (plan, settings): (&Plan, &WorkspaceSettings),
    request: &ApplyConduct<'_>,
    state: &dyn AcceptanceRecord,
) -> Vec<ExportToAccept> {
    match state.exports() {
        Ok(accepted) => accepting(used(plan, settings, request.workspace, &accepted), request, &accepted),
        Err(error) => {
            tracing::debug!("no export is recorded as accepted: {error}");
            Vec::new()
        }
    }
}

/// What is kept of exports that are accepted, where these were `accepted` last.
fn accepting(exports: Vec<ExportFiles>, request: &ApplyConduct<'_>, accepted: &[Acceptance]) -> Vec<ExportToAccept> {
    let (same, changed) = sorted(exports, accepted);
    let same = same.into_iter().map(|export| ExportToAccept::Again(export.source));
    same.chain(anew(&changed, request).into_iter().map(ExportToAccept::Anew)).collect()
}

/// Accepts the exports of a plan that has nothing to do, where any is not the accepted one already. A state that is in
/// use or cannot be written is no failure, because the plan needs nothing else from it.
pub(super) fn accept_idle(
    (plan, settings): (&Plan, &WorkspaceSettings),
    request: &ApplyConduct<'_>,
    (address, kept): (&StateAddress, OpenedState),
) {
    let accept = || {
        let accepted = kept?.map_or_else(|| Ok(Vec::new()), |state| state.exports())?;
        let exports = used(plan, settings, request.workspace, &accepted);
        if sorted(exports.clone(), &accepted).1.is_empty() {
            return Ok(());
        }
        let _lock = StateLock::take(address, request.who, request.now)?;
        let mut state = state::open_to_write(address)?;
        // A file that changes in the meantime is found when it is read, and another run may have accepted some.
        let accepting = accepting(exports, request, &state.exports()?);
        state.accept(&accepting, &Acceptor::IdleApply(request.who), request.now)
    };
    let done: Result<(), Problem> = accept();
    if let Err(error) = done {
        tracing::debug!("no export is recorded as accepted: {error}");
    }
}

/// Whether a plan has all changes that follow from the inventory: it is no undo, was not narrowed, skips no host
/// because of a breaker, and every zone could be read. Otherwise later plans must still count what is new in the
/// inventory as new: it may have tripped the breaker, or may trip one.
pub(super) fn is_whole(plan: &Plan) -> bool {
    let is_held = |skipped: &SkippedSubject| skipped.code == SkipCode::Breaker;
    let is_unread = |notice: &Notice| notice.code == NoticeCode::ZoneUnknown;
    let is_about_all = plan.undoes.is_none() && plan.only.is_none();
    is_about_all && !plan.skipped.iter().any(is_held) && !plan.notices.iter().any(is_unread)
}

/// The exports of a workspace that a plan was made from and believed, and of which no file has changed since.
///
/// Sources of MACs are accepted together: while one of them is not believed, newer exports of the others must not
/// replace what it said.
fn used(plan: &Plan, settings: &WorkspaceSettings, workspace: &Path, accepted: &[Acceptance]) -> Vec<ExportFiles> {
    if is_whole(plan) { believed(plan, settings, workspace, accepted) } else { Vec::new() }
}

/// The same, whether or not the plan has all changes that follow from the inventory.
///
/// A file of which the plan had the `accepted` content is not read again: there is nothing new in it to accept, whatever it
/// holds by now.
pub(super) fn believed(
    plan: &Plan,
    settings: &WorkspaceSettings,
    workspace: &Path,
    accepted: &[Acceptance],
) -> Vec<ExportFiles> {
    let known = |name: &str| {
        let known = accepted.iter().find_map(|own| own.files.get(name));
        known.filter(|digest| plan.inputs.get(name) == Some(digest)).cloned()
    };
    let mut exports = read::export_files(workspace, &settings.config, &settings.sources, &known);
    // What a file states that cannot be read is not known: a later export would be compared with too little.
    let is_doubt =
        |code| matches!(code, NoticeCode::SourceUnknown | NoticeCode::SourceUntrusted | NoticeCode::RecordsUnread);
    let doubted = plan.notices.iter().filter(|notice| is_doubt(notice.code)).map(|notice| notice.name.as_str());
    let doubted: BTreeSet<&str> = doubted.collect();
    let is_doubted = |export: &ExportFiles| doubted.contains(export.source.as_str());
    let macs_are_doubted = exports.iter().any(|export| export.is_of_macs && is_doubted(export));
    let is_input = |(name, digest): (&String, &String)| plan.inputs.get(name) == Some(digest);
    exports.retain(|export| {
        let is_doubted = if export.is_of_macs { macs_are_doubted } else { is_doubted(export) };
        !is_doubted && !export.digests.is_empty() && export.digests.iter().all(is_input)
    });
    exports
}

/// Sorts exports into those that are the accepted ones already, and the others.
fn sorted(exports: Vec<ExportFiles>, accepted: &[Acceptance]) -> (Vec<ExportFiles>, Vec<ExportFiles>) {
    let is_accepted =
        |export: &ExportFiles| accepted.iter().any(|own| own.source == export.source && own.files == export.digests);
    exports.into_iter().partition(is_accepted)
}

/// Reads exports that changed, with their rows, dates and switches.
fn anew(changed: &[ExportFiles], request: &ApplyConduct<'_>) -> Vec<NewExport> {
    if changed.is_empty() {
        return Vec::new();
    }
    let Ok(inventory) = read::load_workspace(request.workspace, request.now, &|_| {}).inventory else {
        tracing::debug!("no export is recorded as accepted: zonewright.toml cannot be used");
        return Vec::new();
    };
    let read = |wanted: &ExportFiles| {
        let export = inventory.exports.iter().find(|export| export.spec.name == wanted.source)?;
        let found = new_export(&inventory, export, request.workspace);
        found.filter(|found| digests(found) == wanted.digests)
    };
    let told = |wanted: &ExportFiles| {
        let found = read(wanted);
        if found.is_none() {
            tracing::debug!(
                "the export of source `{}` is not recorded as accepted: it changed just now, or cannot be read",
                wanted.source
            );
        }
        found
    };
    changed.iter().filter_map(told).collect()
}

/// The digests of the files of an export.
fn digests(export: &NewExport) -> BTreeMap<String, String> {
    export.files.iter().map(|file| (file.name.clone(), file.digest.clone())).collect()
}

/// An export with its content; `None` where it could not be read completely, or its files have changed since the
/// inventory was read.
pub(super) fn new_export(inventory: &Inventory, export: &Export, workspace: &Path) -> Option<NewExport> {
    let Export { spec, files, rows, dated, .. } = export;
    if files.is_empty() || matches!(inventory.trust_of(spec), Trust::Unknown { .. }) {
        return None;
    }
    let file = |name: &String| {
        let digest = inventory.inputs.get(name)?;
        let content = read::export_content(workspace, name, digest)?;
        Some(AcceptedFile { name: name.clone(), digest: digest.clone(), content })
    };
    let switches = inventory.tors.switches.iter().map(|switch| inventory.symbols.text(*switch).to_owned());
    let switches = if spec.key == "l3_tors" { switches.collect() } else { Vec::new() };
    let files = files.iter().map(file).collect::<Option<_>>()?;
    Some(NewExport { source: spec.name.clone(), rows: *rows, dated: *dated, files, switches })
}
