//! What runs that were killed left in a folder: temporary files that no process writes.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::temporary_of;

/// A folder that this process writes files to. While one is held, no other process takes temporary files there for left over.
#[derive(Debug)]
pub struct WrittenFolder {
    /// The folder, with a lock that several processes may share; none where the system has no such locks.
    _held: Option<File>,
}

impl WrittenFolder {
    /// Begins to write into a folder, and removes what is left over of files with names of which `is_own` says so.
    ///
    /// Nothing is removed while another process writes there, nor where that cannot be seen. A file that cannot be removed
    /// stays: it harms nothing.
    pub fn begin(folder: &Path, is_own: fn(&str) -> bool) -> WrittenFolder {
        let Ok(held) = File::open(folder) else { return WrittenFolder { _held: None } };
        match held.try_lock() {
            Ok(()) => {
                remove_leftovers(folder, is_own);
                let _ = held.unlock();
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(_)) => return WrittenFolder { _held: None },
        }
        // Another process holds it alone for no longer than it removes files.
        let is_shared = held.lock_shared().is_ok();
        WrittenFolder { _held: is_shared.then_some(held) }
    }
}

/// Removes the temporary files of files with names of which `is_own` says so.
fn remove_leftovers(folder: &Path, is_own: fn(&str) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_leftover = name.to_str().and_then(temporary_of).is_some_and(is_own);
        // A link or a folder of such a name is none that we made.
        if is_leftover && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names in a folder.
    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        entries.map(|name| name.into_string().expect("the name is a text")).collect()
    }

    #[test]
    fn only_what_is_left_over_goes_and_only_where_no_other_process_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let others =
            [".a.tmp", ".a.1-0.tmp.bak", ".b.1-0.tmp", "a", "a.1-0.tmp", ".a.x-0.tmp", ".a.1-.tmp", ".a.-1.tmp"];
        for name in others.into_iter().chain([".a.1-0.tmp", ".a.17-100.tmp"]) {
            fs::write(path.join(name), "").unwrap();
        }
        fs::create_dir(path.join(".a.2-0.tmp")).unwrap();
        std::os::unix::fs::symlink("a", path.join(".a.3-0.tmp")).unwrap();
        let all = names(path);
        let is_own: fn(&str) -> bool = |name| name == "a";
        let first = File::open(path).unwrap();
        first.lock_shared().unwrap();
        drop(WrittenFolder::begin(path, is_own));
        assert_eq!(names(path), all, "another one writes");
        drop(first);
        drop(WrittenFolder::begin(path, is_own));
        let left: Vec<String> = all.difference(&names(path)).cloned().collect();
        assert_eq!(left, [".a.1-0.tmp", ".a.17-100.tmp"]);
    }

    #[test]
    fn two_that_write_do_not_wait_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = WrittenFolder::begin(folder.path(), |_| true);
        let second = WrittenFolder::begin(folder.path(), |_| true);
        assert!(first._held.is_some() && second._held.is_some());
    }
}
