//! The folder and the file of a state: made durable, and readable by this account only.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use crate::disk::{private_file, private_folder, sync_folder};

/// The folder that is all ours.
const FOLDER: &str = ".zonewright";

/// Creates the folder of a file where it is missing; the files in our folder stay out of version control.
///
/// Errors: it cannot be created or written to.
pub fn prepare(file: &Path) -> io::Result<()> {
    let folder = of(file);
    if let Err(error) = private_folder(&mut DirBuilder::new()).create(folder) {
        match error.kind() {
            ErrorKind::AlreadyExists => {}
            // Folders above belong to the operator who configured them, and have the mode that is usual there.
            ErrorKind::NotFound => {
                fs::create_dir_all(of(folder))?;
                private_folder(&mut DirBuilder::new()).create(folder)?;
            }
            _ => return Err(error),
        }
    } else {
        sync_folder(folder)?;
    }
    if folder.file_name().is_some_and(|name| name == FOLDER) { ignore_all(folder) } else { Ok(()) }
}

/// Writes a `.gitignore` that covers the folder, where there is none.
fn ignore_all(folder: &Path) -> io::Result<()> {
    let path = folder.join(".gitignore");
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            file.write_all(b"*\n")?;
            file.sync_all()?;
            sync_folder(&path)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates an empty file.
///
/// Errors: it cannot be created, or is there.
pub fn create(file: &Path) -> io::Result<()> {
    private_file(OpenOptions::new().write(true).create_new(true)).open(file)?.sync_all()?;
    sync_folder(file)
}

/// The folder that a file or folder is in.
fn of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
