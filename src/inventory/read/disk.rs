//! Files of a workspace: which there are, and their content.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::diag::{Diagnostic, FileId, Files};
use crate::inventory::config::node::SourceText;
use crate::inventory::source::Pattern;

/// The folder of a workspace.
pub struct Folder {
    /// As the user names it.
    path: PathBuf,
    /// Without symbolic links; `None` where there is none.
    real: Option<PathBuf>,
}

/// A file that a pattern found.
pub struct Found {
    /// Its number.
    pub id: FileId,
    /// Its name in messages.
    pub name: String,
    /// Where it is.
    path: PathBuf,
}

/// Files by name in messages and path; unsorted, perhaps twice.
pub type Listing = Vec<(String, PathBuf)>;

/// Numbers files, each once, sorted by name.
pub fn number(mut listing: Listing, files: &mut Files) -> Vec<Found> {
    listing.sort();
    listing.dedup();
    listing.into_iter().map(|(name, path)| Found { id: files.add(name.as_str()), name, path }).collect()
}

impl Folder {
    /// Takes a folder, which need not exist.
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_owned(), real: path.canonicalize().ok() }
    }

    /// The file with this name.
    pub fn file(&self, name: &str, files: &mut Files) -> Found {
        Found { id: files.add(name), name: name.to_owned(), path: self.path.join(name) }
    }

    /// Whether nothing at all has this name, not even a link that leads nowhere.
    pub fn lacks(&self, name: &str) -> bool {
        let metadata = self.path.join(name).symlink_metadata();
        metadata.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// The files that a pattern means; never empty. Folders that a glob matches are passed over.
    pub fn find(&self, pattern: &Pattern) -> Result<Listing, FindError> {
        if !pattern.text.contains(['*', '?', '[']) {
            let path = self.path.join(&pattern.text);
            return match path.symlink_metadata() {
                Ok(_) => Ok(vec![(pattern.text.clone(), path)]),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FindError::Missing),
                Err(error) => Err(FindError::Unreadable(error.to_string())),
            };
        }
        let folder =
            self.path.to_str().ok_or_else(|| FindError::Unreadable("the folder's name is not UTF-8".into()))?;
        let whole = format!("{}/{}", glob::Pattern::escape(folder), pattern.text);
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let paths = glob::glob_with(&whole, options).map_err(|error| FindError::Unreadable(error.msg.to_owned()))?;
        let mut found = Vec::new();
        for path in paths {
            let path = path.map_err(|error| FindError::Unreadable(error.to_string()))?;
            if !path.is_dir() {
                let name = path.strip_prefix(&self.path).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, path));
            }
        }
        if found.is_empty() { Err(FindError::NoMatch) } else { Ok(found) }
    }

    /// Reads a file of at most `max` octets that lies in the folder, links followed.
    pub fn read(&self, file: &Found, max: u64) -> Result<Vec<u8>, FileError> {
        let real = file.path.canonicalize().map_err(FileError::Io)?;
        if !self.real.as_ref().is_some_and(|folder| real.starts_with(folder)) {
            return Err(FileError::Outside);
        }
        let metadata = real.metadata().map_err(FileError::Io)?;
        // Opening a pipe would wait for whoever writes to it.
        if !metadata.is_file() {
            return Err(FileError::NotAFile);
        }
        if metadata.len() > max {
            return Err(FileError::TooLarge(max));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        File::open(&real).and_then(|file| file.take(max).read_to_end(&mut bytes)).map_err(FileError::Io)?;
        Ok(bytes)
    }
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Why a pattern gives no files.
pub enum FindError {
    /// The path names nothing.
    Missing,
    /// The glob matches nothing.
    NoMatch,
    /// A folder cannot be read.
    Unreadable(String),
}

impl FindError {
    /// What is wrong, to follow the source's name.
    pub fn reason(&self, pattern: &Pattern) -> String {
        match self {
            FindError::Missing => format!("there is no file {}", pattern.text),
            FindError::NoMatch => format!("{} matches no file", pattern.text),
            FindError::Unreadable(cause) => format!("{} cannot be read: {cause}", pattern.text),
        }
    }

    /// A diagnostic at the pattern.
    pub fn diagnostic(&self, name: &str, pattern: &Pattern, settings: &SourceText) -> Diagnostic {
        let code = match self {
            FindError::Missing | FindError::NoMatch => "source-missing",
            FindError::Unreadable(_) => "source-unreadable",
        };
        let message = format!("source `{name}`: {}", self.reason(pattern));
        settings
            .error(code, pattern.origin, pattern.width, message)
            .rule("a source that is not there is unknown, never empty (docs/formats.md, trust)")
            .hint("export it, correct the path, or remove the source")
    }
}

/// Why a file cannot be read.
pub enum FileError {
    /// The system says no.
    Io(io::Error),
    /// A symbolic link leads out of the workspace.
    Outside,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// It is larger than so many octets.
    TooLarge(u64),
}

impl FileError {
    /// What is wrong, to follow the file's name.
    pub fn reason(&self) -> String {
        match self {
            FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => "is not there".into(),
            FileError::Io(error) => format!("cannot be read: {error}"),
            FileError::Outside => "leads out of the workspace".into(),
            FileError::NotAFile => "is no regular file".into(),
            FileError::TooLarge(max) => format!("is larger than {max} octets"),
        }
    }

    /// A diagnostic about the file.
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        let (code, hint) = match self {
            FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                ("source-missing", "create it, or name the right folder with `-C`")
            }
            FileError::Io(_) | FileError::NotAFile => ("source-unreadable", "make it a file that can be read"),
            FileError::Outside => ("outside-workspace", "move or copy the file into the workspace"),
            FileError::TooLarge(_) => ("file-too-large", "a settings file needs a thousandth of that; is it one?"),
        };
        Diagnostic::file_error(code, file, format!("the file {}", self.reason())).hint(hint)
    }
}
