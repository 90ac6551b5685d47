//! Why files of a workspace cannot be found or read, in words.

use std::io;

use super::steady::AGAIN;
use crate::diag::{Diagnostic, FileId};
use crate::inventory::node::SourceText;
use crate::inventory::source::PathPattern;
use crate::inventory::value::Size;

/// Why a pattern gives no files.
#[derive(Debug)]
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
    pub fn reason(&self, pattern: &PathPattern) -> String {
        match self {
            FindError::Missing => format!("there is no file {}", pattern.text),
            FindError::NoMatch => format!("{} matches no file", pattern.text),
            FindError::Unreadable(cause) => format!("{} cannot be read: {cause}", pattern.text),
        }
    }

    /// A diagnostic at the pattern.
    pub fn diagnostic(&self, name: &str, pattern: &PathPattern, settings: &SourceText) -> Diagnostic {
        let code = match self {
            FindError::Missing | FindError::NoMatch => "source-missing",
            FindError::Unreadable(_) => "source-unreadable",
        };
        let message = format!("source `{name}`: {}", self.reason(pattern));
        settings
            .error(code, pattern.origin, pattern.width, message)
            .rule("zonewright treats a missing source as unknown, not as empty")
            .hint("export it, correct the path, or remove the source")
    }
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum FileError {
    /// The system says no.
    Io(io::Error),
    /// A symbolic link leads out of the workspace.
    Outside,
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// It is larger than so many octets.
    TooLarge(u64),
    /// It changed during each attempt to read it.
    Changed,
}

impl FileError {
    /// What is wrong, to follow the file's name.
    pub fn reason(&self) -> String {
        match self {
            FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => "is not there".into(),
            FileError::Io(error) => format!("cannot be read: {error}"),
            FileError::Outside => "leads out of the workspace".into(),
            FileError::NotAFile => "is not a regular file".into(),
            FileError::TooLarge(max) => format!("is larger than {}", Size::of(*max)),
            FileError::Changed => format!("changed while it was read, {} times in a row", AGAIN + 1),
        }
    }

    /// A diagnostic about the file, which is one of a source of zonewright.toml.
    pub fn diagnostic_of_source(&self, file: FileId) -> Diagnostic {
        match self {
            FileError::TooLarge(_) => {
                Diagnostic::file_error("file-too-large", file, format!("the file {}", self.reason())).hint(
                    "where this is the right file, and its machines are real, give the source a higher `max_size`",
                )
            }
            _ => self.diagnostic(file),
        }
    }

    /// A diagnostic about the file.
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        let (code, hint) = match self {
            FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
                ("source-missing", "restore it, or name another workspace with `-C DIR`")
            }
            FileError::Io(_) | FileError::NotAFile => ("source-unreadable", "make it a file that can be read"),
            FileError::Outside => ("outside-workspace", "move or copy the file into the workspace"),
            FileError::TooLarge(_) => {
                ("file-too-large", "settings files are about a thousand times smaller; is this the right file?")
            }
            FileError::Changed => (
                "changed-while-read",
                "let the exporter write to another name and rename the complete file; or run again when it is written",
            ),
        };
        Diagnostic::file_error(code, file, format!("the file {}", self.reason())).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;

    #[test]
    fn a_file_that_never_settles_is_reported() {
        let error = FileError::Changed;
        assert_eq!(error.reason(), "changed while it was read, 4 times in a row");
        assert_eq!(error.diagnostic(Files::default().add("export")).code.as_str(), "changed-while-read");
    }
}
