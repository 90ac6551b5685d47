//! Files in front of those of a workspace: how another version of it is read.
//!
//! Comes in: names, and what a layer says of them. Goes out: which of two files to read. Reads nothing itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::unread::{FileError, FindError};
use crate::inventory::source::PathPattern;

/// How globs are understood: a `*` matches no text that contains a `/` or begins with a dot.
pub const GLOB: glob::MatchOptions =
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Files by name in messages and path; unsorted, perhaps twice.
pub type FileListing = Vec<(String, PathBuf)>;

/// What the placeholder of a file begins with that Git LFS keeps elsewhere. Source: the specification of Git LFS,
/// docs/spec.md, "The Pointer".
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// A placeholder has fewer octets. Source: the specification of Git LFS, docs/spec.md, "The Pointer".
const MAX_POINTER: usize = 1024;

/// Files by name, in front of those of a workspace's folder. Names are relative to it, with `/` between folders.
pub trait FileLayer: Send + Sync {
    /// Whether it has a file of this name.
    fn has(&self, name: &str) -> bool;

    /// Whether the folder's file of this name counts as not there; asked of names that it lacks.
    fn hides(&self, name: &str, asked: FoundBy) -> bool;

    /// The names of its files that a glob matches, in any order; empty where it has none.
    ///
    /// Errors: it cannot say.
    fn find(&self, glob: &PathPattern) -> Result<Vec<String>, FindError>;

    /// Reads a file that it has, of at most `max` octets.
    ///
    /// Errors: [`FileError`].
    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, FileError>;
}

/// How a name was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// It was asked for.
    Name,
    /// A glob means it.
    Glob,
}

/// A file of the folder that was read though there is a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BorrowedFile {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: BorrowReason,
}

/// Why a file was read from the folder though there is a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BorrowReason {
    /// The layer knows nothing of it.
    Unknown,
    /// The layer has no such file; but a source must be there, and this is its only file.
    Needed,
    /// The layer has only the placeholder of Git LFS.
    Placeholder,
}

/// A layer in front of a folder, and what was read behind it.
pub struct FrontLayer {
    /// The layer.
    layer: Box<dyn FileLayer>,
    /// The files of the folder that were read, by name.
    borrowed: Mutex<BTreeMap<String, BorrowReason>>,
}

impl FrontLayer {
    /// Puts a layer in front.
    pub fn new(layer: Box<dyn FileLayer>) -> FrontLayer {
        FrontLayer { layer, borrowed: Mutex::default() }
    }

    /// Whether the layer has a file of this name.
    pub fn has(&self, name: &str) -> bool {
        self.layer.has(name)
    }

    /// Whether the layer says that there is no file of this name, regardless of the folder.
    pub fn lacks(&self, name: &str) -> bool {
        !self.layer.has(name) && self.layer.hides(name, FoundBy::Name)
    }

    /// The files that a glob matches; `there` are those in `folder`. They are those of the layer, and those of the
    /// folder that it does not hide. Where that is none, all of the folder: a source must be there.
    ///
    /// Errors: the layer cannot list its files.
    pub fn choose(&self, glob: &PathPattern, there: FileListing, folder: &Path) -> Result<FileListing, FindError> {
        let names = self.layer.find(glob)?.into_iter();
        let mut chosen: FileListing = names.map(|name| (name.clone(), folder.join(name))).collect();
        let shows = |name: &str| !self.layer.has(name) && !self.layer.hides(name, FoundBy::Glob);
        chosen.extend(there.iter().filter(|(name, _)| shows(name)).cloned());
        Ok(if chosen.is_empty() { there } else { chosen })
    }

    /// Reads a file of the layer; `None` where the folder's is to be read.
    ///
    /// Errors: [`FileError`].
    pub fn read(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>, FileError> {
        if !self.layer.has(name) {
            return Ok(None);
        }
        let bytes = self.layer.read(name, max)?;
        Ok((!is_placeholder(&bytes)).then_some(bytes))
    }

    /// Notes that the folder's file was read.
    pub fn borrow(&self, name: &str) {
        let why = match (self.layer.has(name), self.layer.hides(name, FoundBy::Name)) {
            (true, _) => BorrowReason::Placeholder,
            (false, true) => BorrowReason::Needed,
            (false, false) => BorrowReason::Unknown,
        };
        self.borrowed.lock().expect("no thread panics while it holds the lock").insert(name.to_owned(), why);
    }

    /// The files of the folder that were read, sorted by name.
    pub fn into_borrowed(self) -> Vec<BorrowedFile> {
        let borrowed = self.borrowed.into_inner().expect("no thread panics while it holds the lock");
        borrowed.into_iter().map(|(name, why)| BorrowedFile { name, why }).collect()
    }
}

/// Whether this is what Git LFS leaves where the file belongs.
fn is_placeholder(bytes: &[u8]) -> bool {
    bytes.len() < MAX_POINTER && bytes.starts_with(POINTER)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::disk::WorkspaceFolder;
    use super::*;
    use crate::diag::{Files, Origin};

    /// A layer in memory.
    struct Fake {
        /// Its files.
        files: BTreeMap<&'static str, &'static [u8]>,
        /// What it hides.
        hidden: BTreeSet<&'static str>,
    }

    impl FileLayer for Fake {
        fn has(&self, name: &str) -> bool {
            self.files.contains_key(name)
        }

        fn hides(&self, name: &str, _: FoundBy) -> bool {
            self.hidden.contains(name)
        }

        fn find(&self, glob: &PathPattern) -> Result<Vec<String>, FindError> {
            let glob = glob::Pattern::new(&glob.text).unwrap();
            let names = self.files.keys().filter(|name| glob.matches_with(name, GLOB));
            Ok(names.map(|name| (*name).to_owned()).collect())
        }

        fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, FileError> {
            let bytes = self.files[name];
            if bytes.len() as u64 > max { Err(FileError::TooLarge(max)) } else { Ok(bytes.to_vec()) }
        }
    }

    /// A folder with the files `a/new`, `a/both` and `a/own`, behind a layer that has `a/both` and `a/old`, and was
    /// without `a/new`.
    fn folder() -> (tempfile::TempDir, WorkspaceFolder) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        for name in ["a/new", "a/both", "a/own", "a/large"] {
            fs::write(dir.path().join(name), "own").unwrap();
        }
        let files = [("a/both", &b"front"[..]), ("a/old", b"front"), ("b/old", b""), ("a/large", POINTER)];
        let layer = Fake { files: files.into(), hidden: ["a/new"].into() };
        let folder = WorkspaceFolder::behind(Box::new(layer), dir.path());
        (dir, folder)
    }

    /// A pattern.
    fn pattern(text: &str) -> PathPattern {
        PathPattern { text: text.to_owned(), origin: Origin::line(Files::default().add(""), 1), width: 1 }
    }

    /// The names that a pattern means, sorted; nothing where it finds none.
    fn find(folder: &WorkspaceFolder, text: &str) -> Option<Vec<String>> {
        let mut names: Vec<String> =
            folder.find(&pattern(text), Some("d")).ok()?.into_iter().map(|file| file.0).collect();
        names.sort();
        Some(names)
    }

    #[test]
    fn a_glob_means_what_is_in_front_and_what_is_not_hidden() {
        let (_dir, folder) = folder();
        assert_eq!(find(&folder, "a/*").unwrap(), ["a/both", "a/large", "a/own"]);
        assert_eq!(find(&folder, "a/n*").unwrap(), ["a/new"], "a source must be there");
        assert_eq!(find(&folder, "b/*"), None, "a digest file is not an export");
        assert_eq!(find(&folder, "c/*"), None);
    }

    #[test]
    fn a_name_means_what_is_in_front_else_what_is_there() {
        let (_dir, folder) = folder();
        for name in ["a/old", "a/both", "a/own", "a/new"] {
            assert_eq!(find(&folder, name).unwrap(), [name]);
        }
        assert_eq!(find(&folder, "nothing"), None);
        let lacks = ["a/old", "a/both", "a/own", "a/new", "nothing"].map(|name| folder.lacks(name));
        assert_eq!(lacks, [false, false, false, true, true]);
    }

    #[test]
    fn what_is_read_of_the_folder_is_noted() {
        let (_dir, folder) = folder();
        let mut files = Files::default();
        let mut read = |name: &str| folder.read(&folder.file(name, &mut files), 100).ok();
        assert_eq!(read("a/both").unwrap(), b"front");
        assert_eq!(read("a/old").unwrap(), b"front");
        assert_eq!(read("a/own").unwrap(), b"own");
        assert_eq!(read("a/new").unwrap(), b"own");
        assert_eq!(read("a/large").unwrap(), b"own");
        assert_eq!(read("nothing"), None);
        let appended = folder.read_appended(&folder.file("a/both", &mut files), 100).unwrap();
        assert_eq!(appended, b"front");
        assert!(matches!(folder.read(&folder.file("a/both", &mut files), 4), Err(FileError::TooLarge(4))));
        let borrowed = folder.into_borrowed().into_iter().map(|BorrowedFile { name, why }| (name, why));
        let expected =
            [("a/large", BorrowReason::Placeholder), ("a/new", BorrowReason::Needed), ("a/own", BorrowReason::Unknown)];
        assert_eq!(borrowed.collect::<Vec<_>>(), expected.map(|(name, why)| (name.to_owned(), why)));
    }

    #[test]
    fn a_long_file_that_begins_like_a_placeholder_is_none() {
        assert!(is_placeholder(POINTER));
        assert!(!is_placeholder(&[POINTER, &[b' '; MAX_POINTER]].concat()));
        assert!(!is_placeholder(b"version 1"));
    }
}
