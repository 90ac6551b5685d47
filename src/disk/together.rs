//! Several new files that are put in place together: written to a temporary folder, then moved, and removed again if
//! one cannot be moved.
//!
//! No system puts several files in place at once. The file that is moved last can mark the whole set: a reader who
//! finds it finds all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Files that are written and not in place yet. Unless they are put there, they go, and so do the folders made for
/// them.
#[derive(Debug)]
pub struct PendingFiles {
    /// The folder that they are for.
    folder: PathBuf,
    /// Where they are until then: a folder in it, so that moving is renaming.
    staging: PathBuf,
    /// The folders that were made, the outermost first.
    made: Vec<PathBuf>,
    /// The files that were put in place.
    placed: Vec<PathBuf>,
    /// Whether all is done.
    is_done: bool,
}

impl PendingFiles {
    /// Begins; creates the folder and its parents, where they are missing.
    pub fn begin(folder: &Path) -> io::Result<PendingFiles> {
        let staging = folder.join(format!(".zonewright-init.{}.tmp", std::process::id()));
        let mut together =
            PendingFiles { folder: folder.to_owned(), staging, made: vec![], placed: vec![], is_done: false };
        together.make_folders(folder)?;
        fs::create_dir(&together.staging)?;
        Ok(together)
    }

    /// Where files are written for now.
    pub fn staging(&self) -> &Path {
        &self.staging
    }

    /// Writes and syncs a file, by its path in the folder.
    pub fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        self.write_to(path, content, OpenOptions::new().write(true).create_new(true))
    }

    /// Writes and syncs a file that its user alone may read, by its path in the folder.
    pub fn write_private(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.write_to(path, content, options.write(true).create_new(true))
    }

    /// Writes and syncs a file that is opened so.
    fn write_to(&self, path: &str, content: &[u8], options: &OpenOptions) -> io::Result<()> {
        let place = self.staging.join(path);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = options.open(place)?;
        file.write_all(content)?;
        file.sync_all()
    }

    /// Puts all that was written in place, the file `last` at the end. Nothing is overwritten.
    ///
    /// Errors: with the path of the file, where one is there or cannot be put there; then none is.
    pub fn put_in_place(mut self, last: &str) -> Result<(), (PathBuf, io::Error)> {
        let mut paths = Vec::new();
        collect(&self.staging, Path::new(""), &mut paths).map_err(|error| (self.staging.clone(), error))?;
        paths.sort_by_key(|path| (path == Path::new(last), path.clone()));
        for path in paths {
            let place = self.folder.join(&path);
            let parent = place.parent().expect("a file is in a folder").to_owned();
            let moved = self.make_folders(&parent).and_then(|()| move_new(&self.staging.join(&path), &place));
            moved.map_err(|error| (place.clone(), error))?;
            self.placed.push(place);
        }
        self.is_done = true;
        for folder in self.made.iter().chain([&self.folder]) {
            // Everything is in place by now, and a folder that cannot be synced changes nothing about it.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Makes a folder and those that it is in, where they are not there, and remembers which.
    fn make_folders(&mut self, folder: &Path) -> io::Result<()> {
        let mut path = PathBuf::new();
        for part in folder.components() {
            path.push(part);
            if matches!(part, Component::Normal(_)) && !path.try_exists()? {
                fs::create_dir(&path)?;
                self.made.push(path.clone());
            }
        }
        Ok(())
    }
}

impl Drop for PendingFiles {
    fn drop(&mut self) {
        // The reason for giving up is reported elsewhere; an error about removing files would only hide it.
        let _ = fs::remove_dir_all(&self.staging);
        if !self.is_done {
            for file in &self.placed {
                let _ = fs::remove_file(file);
            }
            for folder in self.made.iter().rev() {
                // A folder with files of others stays.
                let _ = fs::remove_dir(folder);
            }
        }
    }
}

/// Moves a file to a place that is free.
fn move_new(from: &Path, to: &Path) -> io::Result<()> {
    // A hard link is only made where the name is free; renaming does not promise that.
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.try_exists()? => fs::rename(from, to),
        linked => linked,
    }
}

/// Collects the paths of all files below a folder.
fn collect(folder: &Path, below: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() { collect(&entry.path(), &path, paths)? } else { paths.push(path) }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of all below a folder, sorted.
    fn all(folder: &Path) -> Vec<String> {
        let mut paths = Vec::new();
        collect(folder, Path::new(""), &mut paths).unwrap();
        let mut paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        paths.sort_unstable();
        paths
    }

    #[test]
    fn all_files_are_put_in_place_in_a_folder_that_is_made() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/b");
        let together = PendingFiles::begin(&folder).unwrap();
        together.write("last", b"1").unwrap();
        together.write("x/y", b"2").unwrap();
        assert!(!folder.join("last").exists());
        together.put_in_place("last").unwrap();
        assert_eq!(all(parent.path()), ["a/b/last", "a/b/x/y"]);
    }

    #[test]
    fn where_one_cannot_be_put_none_is() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("x"), "another user's").unwrap();
        let together = PendingFiles::begin(parent.path()).unwrap();
        for path in ["a/b", "last", "x"] {
            together.write(path, b"ours").unwrap();
        }
        let (place, error) = together.put_in_place("last").unwrap_err();
        assert_eq!((place, error.kind()), (parent.path().join("x"), io::ErrorKind::AlreadyExists));
        assert_eq!(all(parent.path()), ["x"]);
        assert_eq!(fs::read_to_string(parent.path().join("x")).unwrap(), "another user's");
        assert!(!parent.path().join("a").exists());
    }

    #[test]
    fn what_is_given_up_leaves_no_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new");
        let together = PendingFiles::begin(&folder).unwrap();
        together.write("x", b"").unwrap();
        drop(together);
        assert!(!folder.exists());
    }
}
