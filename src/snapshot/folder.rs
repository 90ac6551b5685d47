//! The folder of a snapshot: made beside its place, then renamed; replaced only where it is one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::format_of;
use super::{MANIFEST, SUFFIX};

/// What the format of every version of a manifest begins with.
const ANY_FORMAT: &str = "zonewright.snapshot/";

/// How many names are tried for the folder beside; each one taken is what a run left that was killed.
const ATTEMPTS: u32 = 100;

/// Checks that a folder is a snapshot and nothing else is in it, so that it can be replaced.
///
/// Errors: why it is none.
pub fn check_is_snapshot(folder: &Path) -> Result<(), String> {
    if !folder.is_dir() {
        return Err("it is no folder".to_owned());
    }
    let manifest = fs::read(folder.join(MANIFEST)).ok().and_then(|text| format_of(&text));
    if !manifest.is_some_and(|format| format.starts_with(ANY_FORMAT)) {
        return Err(format!("it has no `{MANIFEST}` of a snapshot"));
    }
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let ours = name == MANIFEST || name.ends_with(SUFFIX);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return Err(format!("`{name}` in it is not of a snapshot"));
        }
    }
    Ok(())
}

/// Makes a new folder in the folder of `target`, with the mode that the umask leaves.
pub fn create_beside(target: &Path) -> io::Result<PathBuf> {
    let mut attempt = 0;
    loop {
        let beside = beside(target, &format!("{attempt}.tmp"))?;
        match fs::create_dir(&beside) {
            Ok(()) => return Ok(beside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A name beside `target` that no other process uses.
fn beside(target: &Path, end: &str) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this names no folder"))?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}-{end}", std::process::id()));
    Ok(target.with_file_name(beside))
}

/// Puts the folder `new` in the place of the folder `target`, and removes what that was.
///
/// No system call does both at once everywhere: for a moment there is neither, and never a half of one.
pub fn replace(new: &Path, target: &Path) -> io::Result<()> {
    let old = beside(target, "old")?;
    fs::rename(target, &old)?;
    if let Err(error) = fs::rename(new, target) {
        // What failed is told; that the old one could not be put back either would only hide it.
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
