//! The base that a plan is compared with: the inventory of a git revision, or of another folder.
//!
//! Comes in: the folder of a workspace, and the name of a base. Goes out: the inventory as it was there. The working
//! tree is read and never changed. Files that the base lacks and git does not keep are used for both. No export of a
//! base is tested for its age or compared with accepted ones: that was done when it was new. The state's switches with
//! routes of their own are not kept here (`guard::last::keep_in_l3`): the caller that has the state does this for both
//! inventories. Templates of reports and the state are never taken from a base.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use super::findings::{BaseRemark, Findings};
use super::settings::judge_targets;
use crate::diag::{Code, Diagnostic, Diagnostics, Files, Severity};
use crate::git::{FOREIGN, GitError, Repository};
use crate::inventory::model::Inventory;
use crate::inventory::read::{self, BorrowReason, BorrowedFile, FileLayer, LoadedWorkspace, SETTINGS};
use crate::inventory::value::Time;

/// The inventory that a plan is compared with.
#[derive(Debug)]
pub struct Base {
    /// The inventory; its files have the names that they have in the workspace.
    pub inventory: Inventory,
    /// What the user calls it.
    pub name: String,
    /// The full hash of its commit; `None` for a folder.
    pub commit: Option<String>,
    /// What is wrong in it.
    pub diagnostics: Diagnostics,
    /// The files of the workspace that are used for it too, because it lacks them; sorted by name.
    pub borrowed: Vec<BorrowedFile>,
}

impl Base {
    /// What is questionable about it, sorted by file; errors of the whole base come last. An error that the present
    /// inventory has, too (`found`, already reported), is not counted.
    ///
    /// `inputs` are the digests of the files that the present inventory was read from.
    pub fn remarks(&self, files: &Files, inputs: &BTreeMap<String, String>, found: &Diagnostics) -> Vec<BaseRemark> {
        let both = |borrowed| self.changed_meanwhile(borrowed, inputs).or_else(|| self.remark(borrowed));
        let mut remarks: Vec<BaseRemark> = self.borrowed.iter().filter_map(both).collect();
        let key = |files: &Files, found: &Diagnostic| (files.name(found.origin.file).to_owned(), found.message.clone());
        let of_both: BTreeSet<(String, String)> = found.iter().map(|found| key(files, found)).collect();
        let is_new = |found: &&Diagnostic| {
            found.severity == Severity::Error && !of_both.contains(&key(&self.inventory.files, found))
        };
        let errors = self.diagnostics.iter().filter(is_new).count();
        if errors > 0 {
            let s = if errors == 1 { "" } else { "s" };
            let message = format!(
                "the base has {errors} error{s} that the workspace does not have: causes of changes may be wrong where \
                 they depend on them"
            );
            remarks.push(BaseRemark { place: self.name.clone(), code: Code::new("base-has-errors"), message });
        }
        remarks
    }

    /// The remark that a file which is used for both had changed when it was read for the base.
    fn changed_meanwhile(
        &self,
        BorrowedFile { name, .. }: &BorrowedFile,
        inputs: &BTreeMap<String, String>,
    ) -> Option<BaseRemark> {
        let message = "the file changed between two reads: causes of changes may be wrong where they depend on it; \
                       plan again";
        let is_other = self.inventory.inputs.get(name).zip(inputs.get(name)).is_some_and(|(base, now)| base != now);
        is_other.then(|| BaseRemark {
            place: name.clone(),
            code: Code::new("changed-meanwhile"),
            message: message.to_owned(),
        })
    }

    /// The remark about a file that is used for both.
    fn remark(&self, borrowed: &BorrowedFile) -> Option<BaseRemark> {
        let BorrowedFile { name, why } = borrowed;
        let (code, message) = match why {
            BorrowReason::Placeholder => (
                Code::new("base-lacks-content"),
                "the base has only a Git LFS placeholder: the present file is used for the base too".to_owned(),
            ),
            BorrowReason::Unknown if self.commit.is_some() && self.is_kept_in_git(name) => (
                Code::new("not-in-git"),
                "the file is not in git, and is used for the base too; `git add` it if it is new".to_owned(),
            ),
            BorrowReason::Unknown | BorrowReason::Needed => return None,
        };
        Some(BaseRemark { place: name.clone(), code, message })
    }

    /// Whether a file that was read belongs in git: a project file, or names.lock.
    fn is_kept_in_git(&self, name: &str) -> bool {
        let mut exports = self.inventory.exports.iter().flat_map(|export| &export.files);
        name != SETTINGS && !exports.any(|file| file == name)
    }

    /// Its files, by names that differ from those of the workspace, for its diagnostics.
    pub fn files(&self) -> Files {
        named_apart(&self.inventory.files, &self.name, self.commit.is_some(), &self.borrowed)
    }
}

/// Names files of a base so that they differ from those of the workspace.
fn named_apart(files: &Files, base: &str, is_revision: bool, borrowed: &[BorrowedFile]) -> Files {
    let borrowed: BTreeSet<&str> = borrowed.iter().map(|borrowed| borrowed.name.as_str()).collect();
    files.renamed(|name| match (borrowed.contains(name), is_revision) {
        (true, _) => name.to_owned(),
        (false, true) => format!("{base}:{name}"),
        (false, false) => Path::new(base).join(name).to_string_lossy().into_owned(),
    })
}

/// Why there is no base.
#[derive(Debug)]
pub enum BaseError {
    /// It is the path of a folder, and there is no workspace there.
    NoFolder(String),
    /// Git cannot read it.
    Git(String, GitError),
    /// The revision has no workspace where this one is.
    NoWorkspace(String),
    /// Its zonewright.toml cannot be used.
    Config(String, Box<Findings>),
}

impl BaseError {
    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            BaseError::NoFolder(_) => "name a folder with a workspace, or a revision of git such as `origin/main`",
            BaseError::Git(_, GitError::NotInstalled) => "install git, or name a folder that holds the base",
            BaseError::Git(_, GitError::NotARepository) => {
                "run it in a clone, or name a folder that holds the base, with its zonewright.toml"
            }
            BaseError::Git(_, GitError::NoSuchRevision { is_shallow: true, .. }) => {
                "this clone is shallow: fetch the revision first, for example with `git fetch --unshallow`, or make CI \
                 clone all of it"
            }
            BaseError::Git(_, GitError::NoSuchRevision { .. }) => {
                "name a branch, a tag or a commit that this clone has, or a folder with a zonewright.toml"
            }
            BaseError::Git(_, GitError::Says(says)) if says.starts_with(FOREIGN) => {
                "make git trust the folder's owner: `git config --global --add safe.directory FOLDER`"
            }
            BaseError::Git(_, GitError::Says(_)) => "run `git -C WORKSPACE status` and do what git asks for",
            BaseError::NoWorkspace(_) => "name a revision that has the workspace in the same folder, or another folder",
            BaseError::Config(..) => "name a base whose zonewright.toml can be used",
        }
    }
}

impl fmt::Display for BaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaseError::NoFolder(base) => write!(f, "the base `{base}` is not a folder with a {SETTINGS}"),
            BaseError::Git(base, error) => write!(f, "the base `{base}` cannot be read: {error}"),
            BaseError::NoWorkspace(base) => write!(f, "the base `{base}` has no workspace here: it lacks {SETTINGS}"),
            BaseError::Config(base, _) => write!(f, "{SETTINGS} of the base `{base}` cannot be used"),
        }
    }
}

impl std::error::Error for BaseError {}

/// Loads the base of a workspace: a folder that holds a zonewright.toml, else a revision of the repository in which the
/// workspace is. A folder is relative to where the program runs.
///
/// Errors: [`BaseError`].
pub fn load(workspace: &Path, base: &str, now: Time) -> Result<Base, BaseError> {
    let name = base.to_owned();
    let (layer, commit) = find(workspace, base)?;
    let (LoadedWorkspace { inventory, diagnostics, .. }, borrowed) =
        read::load_behind(layer, workspace, now, judge_targets);
    match inventory {
        Ok(inventory) => Ok(Base { inventory, name, commit, diagnostics, borrowed }),
        Err(files) => {
            let files = named_apart(&files, base, commit.is_some(), &borrowed);
            let findings = Findings { files, diagnostics, ..Findings::default() };
            Err(BaseError::Config(name, Box::new(findings)))
        }
    }
}

/// Finds the files of a base, and the commit where it is a revision.
fn find(workspace: &Path, base: &str) -> Result<(Box<dyn FileLayer>, Option<String>), BaseError> {
    let folder = Path::new(base);
    if !base.is_empty() && folder.join(SETTINGS).symlink_metadata().is_ok() {
        return Ok((read::of_folder(folder), None));
    }
    if is_path(base) {
        return Err(BaseError::NoFolder(base.to_owned()));
    }
    let failed = |error| BaseError::Git(base.to_owned(), error);
    let repository = Repository::of(workspace).map_err(failed)?;
    let commit = repository.commit(base).map_err(failed)?;
    let tree = repository.tree(&commit).map_err(failed)?;
    if !tree.names(SETTINGS) {
        return Err(BaseError::NoWorkspace(base.to_owned()));
    }
    Ok((Box::new(tree), Some(commit)))
}

/// Whether this can only be a path: no revision has this form. Source: git, `git check-ref-format`.
fn is_path(base: &str) -> bool {
    let starts = ["/", "./", "../"].iter().any(|start| base.starts_with(start));
    starts || base.ends_with('/') || base == "." || base == ".."
}

#[cfg(test)]
mod tests;
