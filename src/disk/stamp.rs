//! By what a file is known not to have been written since it was read.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long before it is looked at a file must have been written for its times to tell it from a later write: file systems
/// keep times in steps of up to two seconds. Those that tests write to keep them in steps of a few milliseconds.
const COARSEST: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(2) };

/// By what a file is known not to have been written since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// The device and the inode.
    file: (u64, u64),
    /// Its length.
    octets: u64,
    /// When it was written.
    modified: SystemTime,
    /// When its content or its owner was changed. A program that copies a file with its times cannot set this one.
    changed: SystemTime,
}

impl FileStamp {
    /// The stamp of the file at a path, links followed; none where there is no file, or a later write might leave the same stamp.
    ///
    /// The file is not opened: where a process closes a file, it loses its locks on it, such as those of an open database.
    pub fn of(path: &Path) -> Option<FileStamp> {
        FileStamp::at(&path.metadata().ok()?, SystemTime::now())
    }

    /// The same, of a file that is opened for this: then a file server is asked anew.
    pub fn of_opened(path: &Path) -> Option<FileStamp> {
        // Opening a pipe would wait for a writer.
        if !path.metadata().ok()?.is_file() {
            return None;
        }
        let now = SystemTime::now();
        FileStamp::at(&File::open(path).ok()?.metadata().ok()?, now)
    }

    /// The same for what the system says of a file that was read from `begun` on, or later.
    pub fn at(metadata: &Metadata, begun: SystemTime) -> Option<FileStamp> {
        let (file, changed) = identity(metadata)?;
        let stamp = FileStamp { file, octets: metadata.len(), modified: metadata.modified().ok()?, changed };
        stamp.is_certain(begun).then_some(stamp)
    }

    /// Whether a write from then on changes it.
    fn is_certain(&self, begun: SystemTime) -> bool {
        let is_past = |at: SystemTime| begun.duration_since(at).is_ok_and(|age| age > COARSEST);
        is_past(self.modified) && is_past(self.changed)
    }
}

/// Which file it is, and when its content or its owner was changed.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<((u64, u64), SystemTime)> {
    use std::os::unix::fs::MetadataExt as _;
    let since = Duration::new(metadata.ctime().try_into().ok()?, metadata.ctime_nsec().try_into().ok()?);
    Some(((metadata.dev(), metadata.ino()), SystemTime::UNIX_EPOCH + since))
}

/// Other systems do not say it.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<((u64, u64), SystemTime)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_just_written_has_no_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("export");
        assert_eq!(FileStamp::of(&path), None);
        fs::write(&path, "one\n").unwrap();
        assert_eq!(FileStamp::of(&path), None);
        // Its times say that it is old, but its inode was changed now.
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(FileStamp::of(&path), None);
    }

    #[test]
    fn a_stamp_is_certain_once_a_later_write_must_have_later_times() {
        let at = |steps: u32| SystemTime::UNIX_EPOCH + COARSEST * steps;
        let stamp =
            |modified, changed| FileStamp { file: (1, 1), octets: 0, modified: at(modified), changed: at(changed) };
        assert!(stamp(10, 10).is_certain(at(12)));
        for (modified, changed) in [(10, 11), (11, 10), (10, 20), (20, 10)] {
            assert!(!stamp(modified, changed).is_certain(at(12)), "{modified} {changed}");
        }
    }
}
