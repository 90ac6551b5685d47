//! Writes what external-dns carries out into a folder, or says what would be written. Asks no server.
//!
//! Comes in: a workspace and a folder. Goes out: what was done. A file is written whole or not at all, and what a run that
//! ended early left is what the next one goes on from.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::findings::Findings;
use super::inputs::load_held;
use super::settings::OpenError;
use crate::diag::Diagnostics;
use crate::disk;
use crate::disk::leftovers::WrittenFolder;
use crate::external_dns::folder::{self, FileObstacle, FolderContent, FolderPlan, HeldFile, UNSAFE_START};
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
    /// What was done, or is to be done where nothing is written; what stays, and what could not be done.
    pub plan: FolderPlan,
    /// What is wished, with what is blocked.
    pub wishes: FolderWishes,
}

/// Why nothing was written.
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
    /// The folder cannot be read or made.
    Folder {
        /// What was to be done: `read` or `written`.
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
    let content = read_folder(request.out)?;
    let mut plan = folder::steps(&wishes, &content, &inventory.config.record_label);
    if !request.is_check {
        carry_out(request.out, &content, &mut plan)?;
    }
    Ok(RenderedFolder { plan, wishes })
}

/// The files that may be ours; none where there is no folder yet.
fn read_folder(folder: &Path) -> Result<FolderContent, ExternalDnsError> {
    let mut content = FolderContent::default();
    let fault = |error| ExternalDnsError::Folder { verb: "read", error };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(content),
        Err(error) => return Err(fault(error)),
    };
    for entry in entries {
        let name = entry.map_err(fault)?.file_name();
        let Some(name) = name.to_str().filter(|name| is_file_name(name)) else { continue };
        match read_file(&folder.join(name)) {
            Ok(text) => drop(content.texts.insert(name.to_owned(), text)),
            Err(obstacle) => drop(content.obstacles.insert(name.to_owned(), obstacle)),
        }
    }
    Ok(content)
}

/// The text of a file.
///
/// Errors: it cannot be read, or could not be replaced. A link is not followed: it may lead anywhere.
fn read_file(path: &Path) -> Result<String, FileObstacle> {
    let unread = |error: io::Error| FileObstacle { why: error.to_string(), is_file: true };
    let kind = fs::symlink_metadata(path).map_err(unread)?.file_type();
    if !kind.is_file() {
        let why = if kind.is_symlink() { "it is a symbolic link, and links are not followed" } else { "it is no file" };
        return Err(FileObstacle { why: why.to_owned(), is_file: false });
    }
    // What is no text is shown as one that is none of ours.
    fs::read(path).map(|octets| String::from_utf8_lossy(&octets).into_owned()).map_err(unread)
}

/// Carries out the steps, in their order. What cannot be done becomes a fault of the plan, and all else is done.
///
/// Errors: the folder cannot be made.
fn carry_out(folder: &Path, content: &FolderContent, plan: &mut FolderPlan) -> Result<(), ExternalDnsError> {
    if !plan.steps.is_empty() {
        fs::create_dir_all(folder).map_err(|error| ExternalDnsError::Folder { verb: "written", error })?;
    }
    let _written = WrittenFolder::begin(folder, is_file_name);
    let mut hindered: BTreeSet<String> = BTreeSet::new();
    for step in std::mem::take(&mut plan.steps) {
        let file = step.file.clone();
        if step.text.is_some() && !content.has(&file) && hindered.contains(&step.record) {
            plan.held.push(HeldFile { file, why: UNSAFE_START.to_owned() });
            continue;
        }
        let (done, verb) = match &step.text {
            Some(text) => (disk::publish(&folder.join(&file), text.as_bytes()), "written"),
            None => (remove(&folder.join(&file)), "removed"),
        };
        match done {
            Ok(()) => plan.steps.push(step),
            Err(error) => {
                plan.faults.push(HeldFile { file, why: format!("the file could not be {verb}: {error}") });
                hindered.insert(step.record);
            }
        }
    }
    Ok(())
}

/// Removes a file. One that is gone already is removed, too.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => disk::sync_folder(path),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external_dns::folder::FolderStep;

    #[test]
    fn what_cannot_be_written_keeps_its_external_dns_from_starting_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let step = |file: &str, record: &str, text: Option<&str>| FolderStep {
            file: file.to_owned(),
            record: record.to_owned(),
            text: text.map(str::to_owned),
        };
        let steps = vec![
            step("none/dnsendpoint_a_b.yaml", "edge", Some("a")),
            step("gone.yaml", "core", None),
            step("external-dns_core.yaml", "core", Some("b")),
            step("external-dns_edge.yaml", "edge", Some("c")),
        ];
        let mut plan = FolderPlan { steps, ..FolderPlan::default() };
        carry_out(folder.path(), &FolderContent::default(), &mut plan).unwrap();
        let files = |held: &[HeldFile]| held.iter().map(|held| held.file.clone()).collect::<Vec<_>>();
        assert_eq!(files(&plan.faults), ["none/dnsendpoint_a_b.yaml"]);
        assert!(plan.faults[0].why.starts_with("the file could not be written: "), "{plan:?}");
        assert_eq!(files(&plan.held), ["external-dns_edge.yaml"]);
        let done: Vec<&str> = plan.steps.iter().map(|step| step.file.as_str()).collect();
        assert_eq!(done, ["gone.yaml", "external-dns_core.yaml"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
