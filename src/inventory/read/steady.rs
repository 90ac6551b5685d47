//! What happens to a file while it is read, and how often it is read again.
//!
//! Comes in: looks at a file before and after, and readings of it. Goes out: octets that were all there at one time.
//! Reads nothing itself, so that a test can say what happens in between.

use std::fs::Metadata;
use std::time::SystemTime;

/// What distinguishes a file from another one, and from itself before a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLook {
    /// Which file it is.
    file: (u64, u64),
    /// Its length.
    pub octets: u64,
    /// When it was last written to; `None` where the system does not say.
    modified: Option<SystemTime>,
}

impl FileLook {
    /// What the system says of a file.
    pub fn at(metadata: &Metadata) -> FileLook {
        FileLook { file: identity(metadata), octets: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The device and the inode of a file.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Other systems have no file identity; length and age must do.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// What was read of a file.
pub struct FileReading {
    /// Its octets.
    pub bytes: Vec<u8>,
    /// What happened to it meanwhile.
    pub fate: FileFate,
}

/// What happens to a file while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFate {
    /// Nothing: it is the same file before and after, and its path still leads to it.
    Settled,
    /// It is the same file, and longer.
    Grown,
    /// Anything else.
    Changed,
}

impl FileFate {
    /// What happened to the file that was opened; `there` is the file at its path afterwards, if any.
    pub fn of(before: FileLook, after: FileLook, there: Option<FileLook>) -> FileFate {
        match there {
            Some(there) if there == after && before == after => FileFate::Settled,
            Some(there) if there.file == after.file && before.octets < after.octets => FileFate::Grown,
            Some(_) | None => FileFate::Changed,
        }
    }
}

/// How often a file that changed meanwhile is read again. A writer that renames a complete file into place changes it
/// once; a writer that overwrites it may take longer than any number of readings.
pub const AGAIN: usize = 3;

/// Reads until the file does not change meanwhile; returns nothing where it changes each time.
///
/// Errors: those of `read`.
pub fn settled<E>(mut read: impl FnMut() -> Result<FileReading, E>) -> Result<Option<Vec<u8>>, E> {
    for _ in 0..=AGAIN {
        let FileReading { bytes, fate } = read()?;
        if fate == FileFate::Settled {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Reads until the file does not change meanwhile, or two readings in a row agree on the part before it grew: a file
/// with many writers might never be quiet. Returns nothing where neither happens.
///
/// Errors: those of `read`.
pub fn agreed<E>(mut read: impl FnMut() -> Result<FileReading, E>) -> Result<Option<Vec<u8>>, E> {
    let mut grown = Vec::new();
    for _ in 0..=AGAIN {
        let FileReading { bytes, fate } = read()?;
        match fate {
            FileFate::Settled => return Ok(Some(bytes)),
            FileFate::Grown | FileFate::Changed if !grown.is_empty() && bytes.starts_with(&grown) => {
                return Ok(Some(grown));
            }
            FileFate::Grown => grown = bytes,
            FileFate::Changed => grown.clear(),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_read_three_times_more() {
        for (changes, readings, is_read) in [(0, 1, true), (1, 2, true), (3, 4, true), (4, 4, false), (9, 4, false)] {
            let mut done = 0;
            let read = settled(|| {
                done += 1;
                let fate = if done > changes { FileFate::Settled } else { FileFate::Changed };
                Ok::<_, ()>(FileReading { bytes: vec![done], fate })
            });
            assert_eq!((done, read), (readings, Ok(is_read.then(|| vec![readings]))), "{changes}");
        }
    }

    #[test]
    fn what_is_gone_at_another_reading_is_gone() {
        let mut readings = vec![Err("gone"), Ok(FileReading { bytes: Vec::new(), fate: FileFate::Changed })];
        assert_eq!(settled(|| readings.pop().unwrap()), Err("gone"));
    }

    #[test]
    fn of_a_file_that_grows_what_two_readings_agree_on_is_read() {
        use FileFate::{Changed, Grown, Settled};
        let read = |readings: &[(&str, FileFate)]| {
            let mut readings = readings.iter();
            let read = agreed(|| {
                let (bytes, fate) = readings.next().expect("no more than four readings");
                Ok::<_, ()>(FileReading { bytes: bytes.as_bytes().to_vec(), fate: *fate })
            });
            read.unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(read(&[("a\n", Settled)]), is("a\n"));
        assert_eq!(read(&[("a\n", Grown), ("a\nb\n", Grown)]), is("a\n"));
        assert_eq!(read(&[("a\n", Grown), ("a\nb\n", Settled)]), is("a\nb\n"));
        // A writer that overwrites it, or starts again, does not only append.
        assert_eq!(read(&[("a\n", Grown), ("b\n", Grown), ("c\n", Changed), ("c\nd\n", Grown)]), None);
        assert_eq!(read(&[("", Grown), ("a\n", Changed), ("a\nb\n", Changed), ("a\nb\nc\n", Changed)]), None);
    }
}
