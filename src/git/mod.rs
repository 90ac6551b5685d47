//! What the program `git` knows about the folder of a workspace.
//!
//! Comes in: a folder, and the name of a revision. Goes out: the files of the revision, in front of those of the
//! folder. Writes nothing: no lock is taken, no index refreshed, no hook or filter run, and nothing fetched from
//! anywhere.

mod contents;

mod tree;

#[cfg(test)]
pub mod fixture;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::diag::sanitize;
pub use tree::GitTree;

/// The environment variables in which git looks for its files before it looks at the folder; hooks run with them set.
/// Source: git, `git rev-parse --local-env-vars`, without those that hold settings.
const PLACES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// What git says of a name that it does not know.
const UNKNOWN: &str = "Needed a single revision";

/// How git begins its message that the repository belongs to another user, as is common in containers.
pub const FOREIGN: &str = "detected dubious ownership";

/// Why git gives nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitError {
    /// There is no program `git`.
    NotInstalled,
    /// The folder belongs to no repository.
    NotARepository,
    /// The repository has no such revision.
    NoSuchRevision {
        /// What git says of it, where it says more than that.
        says: Option<String>,
        /// Whether the repository lacks the older part of its history.
        is_shallow: bool,
    },
    /// It says no, in these words.
    Says(String),
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GitError::NotInstalled => write!(f, "there is no program `git`"),
            GitError::NotARepository => write!(f, "the workspace is not in a git repository"),
            GitError::NoSuchRevision { says: None, .. } => write!(f, "there is no such revision"),
            GitError::NoSuchRevision { says: Some(says), .. } | GitError::Says(says) => write!(f, "git says: {says}"),
        }
    }
}

impl std::error::Error for GitError {}

/// The root of the work tree that contains a path, known by its `.git`, without asking git.
pub fn root_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.join(".git").exists())
}

/// The part of a repository that is in a folder.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The folder.
    folder: PathBuf,
    /// Whether it lacks the older part of its history.
    is_shallow: bool,
}

impl Repository {
    /// Finds the repository that a folder belongs to.
    ///
    /// Errors: [`GitError`].
    pub fn of(folder: &Path) -> Result<Repository, GitError> {
        let output = run(folder, &["rev-parse", "--is-shallow-repository"])?;
        if !output.status.success() {
            let says = said(&output);
            let is_none = says.starts_with("not a git repository");
            return Err(if is_none { GitError::NotARepository } else { GitError::Says(says) });
        }
        Ok(Repository { folder: folder.to_owned(), is_shallow: output.stdout.starts_with(b"true") })
    }

    /// The whole hash of the commit that a revision names.
    ///
    /// Errors: [`GitError`].
    pub fn commit(&self, revision: &str) -> Result<String, GitError> {
        let unknown = |says| GitError::NoSuchRevision { says, is_shallow: self.is_shallow };
        // Not every git takes `--end-of-options` here, and no revision begins so.
        if revision.starts_with('-') || revision.contains('\0') {
            return Err(unknown(None));
        }
        let output = run(&self.folder, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])?;
        let hash = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        if output.status.success() && hash.len() >= 40 && hash.bytes().all(|octet| octet.is_ascii_hexdigit()) {
            return Ok(hash);
        }
        let says = said(&output);
        Err(unknown((says != UNKNOWN && !says.is_empty()).then_some(says)))
    }

    /// The files of a commit, and the names of those that are in the index now.
    ///
    /// Errors: [`GitError`].
    pub fn tree(&self, commit: &str) -> Result<GitTree, GitError> {
        let listed = self.ask(&["ls-tree", "-r", "-z", commit])?;
        let indexed = self.ask(&["ls-files", "-z"])?;
        let contents = contents::GitContents::new(&self.folder);
        GitTree::new(&listed, &indexed, contents).map_err(|error| GitError::Says(error.to_string()))
    }

    /// What git answers.
    ///
    /// Errors: it says no.
    fn ask(&self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        let output = run(&self.folder, words)?;
        if output.status.success() { Ok(output.stdout) } else { Err(GitError::Says(said(&output))) }
    }
}

/// Runs git to its end.
fn run(folder: &Path, words: &[&str]) -> Result<Output, GitError> {
    command(folder).args(words).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => GitError::NotInstalled,
        _ => GitError::Says(format!("cannot be run: {}", error.to_string().to_lowercase())),
    })
}

/// Git as it is run here: it changes nothing, asks no questions, and speaks English.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    // By `-C`, so that a relative path of the program is not looked for in the workspace.
    command.arg("-C").arg(folder).args(["--no-pager", "--no-optional-locks"]);
    // A monitor of files is a hook. Older ones than 2.45 know no GIT_NO_LAZY_FETCH, but all know protocols.
    command.args(["-c", "core.fsmonitor=false", "-c", "protocol.allow=never"]);
    for place in PLACES {
        command.env_remove(place);
    }
    command.env("GIT_ALLOW_PROTOCOL", "").env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
    command.env("LC_ALL", "C").env_remove("LANGUAGE").stdin(Stdio::null());
    command
}

/// Why git refused: the first line of its error output.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let complaint = |line: &&str| ["fatal: ", "error: "].iter().any(|start| line.starts_with(start));
    let line = text.lines().find(complaint).or_else(|| text.lines().next()).unwrap_or_default();
    let line = line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")).unwrap_or(line);
    sanitize(line.trim_end_matches('.'))
}
