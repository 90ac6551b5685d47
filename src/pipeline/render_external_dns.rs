//! Writes what external-dns carries out into a folder, or says what would be written. Asks no server.
//!
//! Comes in: a workspace and a folder. Goes out: what was done. A file is written whole or not at all, and what a run that
//! ended early left is what the next one goes on from.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::findings::Findings;
use super::inputs::load_held;
use super::settings::OpenError;
use crate::diag::Diagnostics;
use crate::disk;
use crate::external_dns::folder::{self, FolderPlan, FolderStep};
use crate::external_dns::objects::is_file_name;
use crate::external_dns::wishes::{self, FolderWishes};
use crate::inventory::Inventory;
use crate::inventory::model::Trust;
use crate::inventory::value::Time;
use crate::progress::Progress;

/// What is to be written.
#[derive(Debug, Clone, Copy)]
pub struct ExternalDnsRequest<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock that ages are measured against.
    pub now: Time,
    /// The folder of the manifests.
    pub out: &'a Path,
    /// The image of external-dns.
    pub image: &'a str,
    /// Whether nothing is written.
    pub is_check: bool,
}

/// What was done, and what was found on the way.
#[derive(Debug)]
pub struct ExternalDnsRendered {
    /// What was done or is to be done; or why nothing was.
    pub folder: Result<RenderedFolder, ExternalDnsError>,
    /// What was found.
    pub findings: Findings,
}

/// What was done in the folder, or is to be.
#[derive(Debug)]
pub struct RenderedFolder {
    /// The steps, and what stays.
    pub plan: FolderPlan,
    /// What is wished, with what is blocked.
    pub wishes: FolderWishes,
}

/// Why nothing was written, or not all of it.
#[derive(Debug)]
pub enum ExternalDnsError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The files of apps, lists or records are in doubt, so that some may be missing.
    Doubted {
        /// What is in doubt.
        reason: String,
        /// Whether a source was read whole, and failed a test that `accept` can overrule.
        is_distrusted: bool,
    },
    /// The folder, or a file in it, cannot be read or written.
    Folder {
        /// The folder, or the name of the file in it.
        file: Option<String>,
        /// What was to be done: `read`, `written` or `removed`.
        verb: &'static str,
        /// Why it cannot be.
        error: io::Error,
    },
}

/// Brings the folder up to date. Exports are tested as `check` tests them, also against those that were accepted last, where
/// there is a state.
pub fn render(request: &ExternalDnsRequest<'_>, progress: &dyn Progress) -> ExternalDnsRendered {
    let (inventory, diagnostics) = match load_held(request.workspace, request.now, progress) {
        Ok(loaded) => loaded,
        Err(error) => {
            return ExternalDnsRendered { folder: Err(ExternalDnsError::Open(error)), findings: Findings::default() };
        }
    };
    let folder = bring_up_to_date(&inventory, request);
    ExternalDnsRendered { folder, findings: findings(inventory, diagnostics) }
}

/// Brings the folder up to date by an inventory.
fn bring_up_to_date(
    inventory: &Inventory,
    request: &ExternalDnsRequest<'_>,
) -> Result<RenderedFolder, ExternalDnsError> {
    if let Some(trust) = inventory.apps.doubted() {
        let reason = trust.doubt().unwrap_or_default().to_owned();
        return Err(ExternalDnsError::Doubted { reason, is_distrusted: matches!(trust, Trust::Distrusted { .. }) });
    }
    let wishes = wishes::wishes(inventory, request.image);
    let texts = read_folder(request.out)?;
    let plan = folder::steps(&wishes, &texts, &inventory.config.record_label);
    if !request.is_check {
        carry_out(request.out, &plan.steps)?;
    }
    Ok(RenderedFolder { plan, wishes })
}

/// The texts of the files that may be ours, by their names; none where there is no folder yet.
fn read_folder(folder: &Path) -> Result<BTreeMap<String, String>, ExternalDnsError> {
    let fault = |file: Option<String>| move |error| ExternalDnsError::Folder { file, verb: "read", error };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(fault(None)(error)),
    };
    let mut texts = BTreeMap::new();
    for entry in entries {
        let name = entry.map_err(fault(None))?.file_name();
        let Some(name) = name.to_str().filter(|name| is_file_name(name)) else { continue };
        let octets = fs::read(folder.join(name)).map_err(fault(Some(name.to_owned())))?;
        // What is no text is not ours, and is not replaced: no text of ours is empty.
        texts.insert(name.to_owned(), String::from_utf8(octets).unwrap_or_default());
    }
    Ok(texts)
}

/// Carries out the steps, in their order.
fn carry_out(folder: &Path, steps: &[FolderStep]) -> Result<(), ExternalDnsError> {
    let fault = |file: Option<&str>, verb| {
        let file = file.map(str::to_owned);
        move |error| ExternalDnsError::Folder { file, verb, error }
    };
    if !steps.is_empty() {
        fs::create_dir_all(folder).map_err(fault(None, "written"))?;
    }
    for FolderStep { file, text } in steps {
        let path = folder.join(file);
        match text {
            Some(text) => disk::publish(&path, text.as_bytes()).map_err(fault(Some(file), "written"))?,
            None => {
                let removed = fs::remove_file(&path).and_then(|()| disk::sync_folder(&path));
                removed.map_err(fault(Some(file), "removed"))?;
            }
        }
    }
    Ok(())
}

/// What was found in files. Exports of hosts and pods do not matter here, so that they count as believed.
fn findings(inventory: Inventory, diagnostics: Diagnostics) -> Findings {
    Findings {
        files_read: inventory.inputs.len(),
        are_exports_believed: inventory.apps.doubted().is_none(),
        settings: inventory.settings_errors.into_keys().collect(),
        files: inventory.files,
        diagnostics,
        ..Findings::default()
    }
}
