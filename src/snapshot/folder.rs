//! The folder of a snapshot: made next to its place, then renamed; only a snapshot is replaced.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::format_of;
use super::{MANIFEST, NAMES_SUFFIX, SUFFIX};

/// What the format of every version of a manifest begins with.
const ANY_FORMAT: &str = "zonewright.snapshot/";

/// How many names are tried for the temporary folder; a name in use belongs to a run that was killed.
const ATTEMPTS: u32 = 100;

/// Checks that a folder is a snapshot and nothing else is in it, so that it can be replaced.
///
/// Errors: why it is not a snapshot.
pub fn check_is_snapshot(folder: &Path) -> Result<(), String> {
    if !folder.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    let manifest = fs::read(folder.join(MANIFEST)).ok().and_then(|text| format_of(&text));
    if !manifest.is_some_and(|format| format.starts_with(ANY_FORMAT)) {
        return Err(format!("it has no `{MANIFEST}` of a snapshot"));
    }
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name == MANIFEST || name.ends_with(SUFFIX) || name.ends_with(NAMES_SUFFIX);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Err(format!("its file `{name}` does not belong to a snapshot"));
        }
    }
    Ok(())
}

/// Makes a new folder in the folder of `target`, with the mode that the umask leaves.
pub fn create_temporary(target: &Path) -> io::Result<PathBuf> {
    let mut attempt = 0;
    loop {
        let temporary = sibling(target, &format!("{attempt}.tmp"))?;
        match fs::create_dir(&temporary) {
            Ok(()) => return Ok(temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A name next to `target` that no other process uses.
fn sibling(target: &Path, end: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this names no folder"))?;
    let mut sibling = OsString::from(".");
    sibling.push(name);
    sibling.push(format!(".{}-{end}", std::process::id()));
    Ok(target.with_file_name(sibling))
}

/// Puts the folder `new` in the place of the folder `target`, and removes what that was.
///
/// No system call does both at once everywhere: for a moment there is neither, and never a half of one.
pub fn replace(new: &Path, target: &Path) -> io::Result<()> {
    let old = sibling(target, "old")?;
    fs::rename(target, &old)?;
    if let Err(error) = fs::rename(new, target) {
        // The failure is reported; an error about putting the old one back would only hide it.
        let _ = fs::rename(&old, target);
        return Err(error);
    }
    fs::remove_dir_all(&old)
}

/// The folder that holds `path`.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs a folder, so that the names in it last.
pub fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
