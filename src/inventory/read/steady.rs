//! What becomes of a file while it is read, and how often it is read again.
//!
//! Comes in: looks at a file before and after, and readings of it. Goes out: octets that were all there at one time. Reads
//! nothing itself, so that what happens meanwhile can be told in a test.

use std::fs::Metadata;
use std::time::SystemTime;

/// What tells a file from another one, and from what it was before it was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Which file it is.
    file: (u64, u64),
    /// Its length.
    pub octets: u64,
    /// When it was last written to; `None` where the system does not say.
    modified: Option<SystemTime>,
}

impl Look {
    /// What the system says of a file.
    pub fn at(metadata: &Metadata) -> Look {
        Look { file: identity(metadata), octets: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The device and the inode of a file.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere nothing tells which file it is, and its length and age must do.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// What was read of a file.
pub struct Reading {
    /// Its octets.
    pub bytes: Vec<u8>,
    /// What became of it meanwhile.
    pub fate: Fate,
}

/// What becomes of a file while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: it is the same file before and after, and its path still leads to it.
    Settled,
    /// It is the same file, and longer.
    Grown,
    /// Anything else.
    Changed,
}

impl Fate {
    /// What became of the file that was opened; `there` is what its path leads to afterwards, if to anything.
    pub fn of(before: Look, after: Look, there: Option<Look>) -> Fate {
        match there {
            Some(there) if there == after && before == after => Fate::Settled,
            Some(there) if there.file == after.file && before.octets < after.octets => Fate::Grown,
            Some(_) | None => Fate::Changed,
        }
    }
}

/// How often a file is read again that changed meanwhile. Whoever renames a complete file into place does so once; who
/// writes over it may take longer than any number of readings (no official source).
pub const AGAIN: usize = 3;

/// Reads until nobody changes the file meanwhile; gives nothing where somebody does each time.
///
/// Errors: those of `read`.
pub fn settled<E>(mut read: impl FnMut() -> Result<Reading, E>) -> Result<Option<Vec<u8>>, E> {
    for _ in 0..=AGAIN {
        let Reading { bytes, fate } = read()?;
        if fate == Fate::Settled {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// Reads until nobody changes the file meanwhile, or two readings in a row agree on what was there before it grew: a file to
/// which many report might never be settled. Gives nothing where neither happens.
///
/// Errors: those of `read`.
pub fn agreed<E>(mut read: impl FnMut() -> Result<Reading, E>) -> Result<Option<Vec<u8>>, E> {
    let mut grown = Vec::new();
    for _ in 0..=AGAIN {
        let Reading { bytes, fate } = read()?;
        match fate {
            Fate::Settled => return Ok(Some(bytes)),
            Fate::Grown | Fate::Changed if !grown.is_empty() && bytes.starts_with(&grown) => return Ok(Some(grown)),
            Fate::Grown => grown = bytes,
            Fate::Changed => grown.clear(),
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
                let fate = if done > changes { Fate::Settled } else { Fate::Changed };
                Ok::<_, ()>(Reading { bytes: vec![done], fate })
            });
            assert_eq!((done, read), (readings, Ok(is_read.then(|| vec![readings]))), "{changes}");
        }
    }

    #[test]
    fn what_is_gone_at_another_reading_is_gone() {
        let mut readings = vec![Err("gone"), Ok(Reading { bytes: Vec::new(), fate: Fate::Changed })];
        assert_eq!(settled(|| readings.pop().unwrap()), Err("gone"));
    }

    #[test]
    fn of_a_file_that_grows_what_two_readings_agree_on_is_read() {
        use Fate::{Changed, Grown, Settled};
        let read = |readings: &[(&str, Fate)]| {
            let mut readings = readings.iter();
            let read = agreed(|| {
                let (bytes, fate) = readings.next().expect("no more than four readings");
                Ok::<_, ()>(Reading { bytes: bytes.as_bytes().to_vec(), fate: *fate })
            });
            read.unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(read(&[("a\n", Settled)]), is("a\n"));
        assert_eq!(read(&[("a\n", Grown), ("a\nb\n", Grown)]), is("a\n"));
        assert_eq!(read(&[("a\n", Grown), ("a\nb\n", Settled)]), is("a\nb\n"));
        // Whoever writes over it, or begins anew, does not only append.
        assert_eq!(read(&[("a\n", Grown), ("b\n", Grown), ("c\n", Changed), ("c\nd\n", Grown)]), None);
        assert_eq!(read(&[("", Grown), ("a\n", Changed), ("a\nb\n", Changed), ("a\nb\nc\n", Changed)]), None);
    }
}
