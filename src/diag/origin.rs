//! Where a value came from.

use std::fmt;

/// The number of a file in [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A place in a file; lines and columns count from 1, columns in characters, and column 0 means the whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where the line as a whole is meant.
    pub col: u32,
}

impl Origin {
    /// A whole line.
    pub fn line(file: FileId, line: u32) -> Origin {
        Origin { file, line, col: 0 }
    }
}

/// The files that were read, by the name that messages use: relative to the workspace, with `/` between folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(Vec<String>);

impl Files {
    /// Takes a file in, and numbers it.
    pub fn add(&mut self, name: impl Into<String>) -> FileId {
        self.0.push(name.into());
        FileId(self.0.len() as u32 - 1)
    }

    /// The name of a file.
    pub fn name(&self, file: FileId) -> &str {
        &self.0[file.0 as usize]
    }

    /// The same files by other names.
    pub fn renamed(&self, rename: impl Fn(&str) -> String) -> Files {
        Files(self.0.iter().map(|name| rename(name)).collect())
    }

    /// `file:line`, as evidence is written.
    pub fn place(&self, origin: Origin) -> impl fmt::Display {
        format!("{}:{}", self.name(origin.file), origin.line)
    }
}
