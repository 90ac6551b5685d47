//! Plans on disk. The only part of this room that does input and output.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::SealedPlan;
use super::document::{self, PlanReadError};
use crate::disk;

/// How many octets a plan may have: a change takes about 800. An apply keeps its plan in the state, and SQLite keeps no row
/// of more than 1 000 000 000 octets (<https://www.sqlite.org/limits.html>).
const MAX_PLAN: u64 = 950 << 20;

/// Why a plan could not be saved or loaded.
#[derive(Debug)]
pub enum StoreError {
    /// The file could not be written; readers find either what was there before or the whole new plan.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file could not be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no plan that may be used.
    Plan {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PlanReadError,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Write { path, source } => {
                write!(f, "{}: error[plan-not-saved]: the plan could not be saved: {source}", path.display())
            }
            StoreError::Read { path, source } => {
                let place = path.display();
                match source.kind() {
                    io::ErrorKind::NotFound => write!(f, "{place}: error[plan-unreadable]: there is no such file"),
                    _ => write!(f, "{place}: error[plan-unreadable]: the plan could not be read: {source}"),
                }
            }
            StoreError::Plan { path, source: PlanReadError::Malformed { line, column, message } } => {
                write!(f, "{}:{line}:{column}: error[plan-malformed]: {message}", path.display())
            }
            StoreError::Plan { path, source } => {
                write!(f, "{}: error[{}]: {source}", path.display(), source.code())
            }
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Write { source, .. } | StoreError::Read { source, .. } => Some(source),
            StoreError::Plan { source, .. } => Some(source),
        }
    }
}

/// Saves a plan for its user alone: readers see the whole old file or the whole new one, even after a power cut.
///
/// Errors: [`StoreError::Write`]; also where the plan is too large to be applied.
pub fn save(path: &Path, sealed: &SealedPlan) -> Result<(), StoreError> {
    let text = document::to_json(sealed);
    let saved = fits(text.len() as u64).and_then(|()| disk::replace(path, text.as_bytes()));
    saved.map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

/// Loads a plan and checks all of it.
///
/// Errors: [`StoreError::Read`], [`StoreError::Plan`].
pub fn load(path: &Path) -> Result<SealedPlan, StoreError> {
    let octets = read(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let text = str::from_utf8(&octets).map_err(|error| not_text(&octets[..error.valid_up_to()]));
    text.and_then(document::parse).map_err(|source| StoreError::Plan { path: path.to_owned(), source })
}

/// Reads a file that is no larger than a plan may be. What it says of its size is not believed: it may grow, or be a
/// device.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    fits(length)?;
    let mut octets = Vec::with_capacity(length as usize + 1);
    file.take(MAX_PLAN + 1).read_to_end(&mut octets)?;
    fits(octets.len() as u64)?;
    Ok(octets)
}

/// Whether a plan may have so many octets.
///
/// Errors: it is too large.
fn fits(octets: u64) -> io::Result<()> {
    if octets <= MAX_PLAN {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "it has more than {} MiB, which no apply can keep; plan less at once, with `--project` or `--host`",
            MAX_PLAN >> 20
        )))
    }
}

/// The error of a file that is no text after `valid`.
fn not_text(valid: &[u8]) -> PlanReadError {
    let line = valid.iter().filter(|octet| **octet == b'\n').count() + 1;
    let column = valid.iter().rev().take_while(|octet| **octet != b'\n').count() + 1;
    PlanReadError::Malformed { line, column, message: "this is not UTF-8".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::plan::fixture;

    #[test]
    fn what_is_saved_is_loaded_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        let sealed = SealedPlan::new(fixture::fleet());
        save(&path, &SealedPlan::new(fixture::empty())).unwrap();
        save(&path, &sealed).unwrap();
        assert_eq!(load(&path).unwrap(), sealed);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_plan_is_for_its_user_alone_and_never_written_through_a_link() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("plan.json"), folder.path().join("link.json"));
        save(&path, &SealedPlan::new(fixture::fleet())).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::os::unix::fs::symlink("plan.json", &link).unwrap();
        let error = save(&link, &SealedPlan::new(fixture::empty())).unwrap_err().to_string();
        assert!(
            error.contains("error[plan-not-saved]: the plan could not be saved: this is a symbolic link"),
            "{error}"
        );
        assert_eq!(load(&path).unwrap(), SealedPlan::new(fixture::fleet()));
    }

    #[test]
    fn a_plan_that_cannot_be_saved_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        let error = save(&taken, &SealedPlan::new(fixture::empty())).unwrap_err();
        assert!(error.to_string().contains("error[plan-not-saved]"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let missing = folder.path().join("none").join("plan.json");
        assert!(save(&missing, &SealedPlan::new(fixture::empty())).is_err());
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        // It takes no room on disk.
        File::create(&path).unwrap().set_len(MAX_PLAN + 1).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(
            error.contains("error[plan-unreadable]: the plan could not be read: it has more than 950 MiB"),
            "{error}"
        );
        assert!(fits(MAX_PLAN).is_ok() && fits(MAX_PLAN + 1).is_err());
    }

    #[test]
    fn a_file_that_is_no_plan_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        let shown = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            load(&path).unwrap_err().to_string().replace(&format!("{}", path.display()), "plan.json")
        };
        assert_eq!(
            shown(b"{\n  \"fromat\": 1}"),
            "plan.json:2:10: error[plan-malformed]: unknown field `fromat`, expected one of `affected`, `blocked`, \
             `changes`, `created`, `delayed`, `effect`, `expires`, `fleet`, `format`, `groups`, `hosts`, `id`, `inputs`, \
             `left_behind`, `limits`, \
             `notices`, `only`, `pods`, `review`, `skipped`, `sources`, `stated`, `tool`, `undoes`, `waiting`, `waves`, `workspace`, `zone_changes`, `zones`"
        );
        assert_eq!(
            shown(b"{\"format\": \"zonewright.plan/1\", \"more\": []}"),
            "plan.json: error[plan-format]: its format is `zonewright.plan/1`, and this version reads \
             `zonewright.plan/2` only: make the plan again"
        );
        assert_eq!(shown(b"{\n  \xff"), "plan.json:2:3: error[plan-malformed]: this is not UTF-8");
        assert!(load(folder.path()).is_err());
    }
}
