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
pub struct Files {
    /// Their names.
    names: Vec<String>,
    /// Those with several rows on one line, sorted.
    crowded: Vec<FileId>,
}

impl Files {
    /// Adds a file and gives it a number.
    pub fn add(&mut self, name: impl Into<String>) -> FileId {
        self.names.push(name.into());
        FileId(self.names.len() as u32 - 1)
    }

    /// Marks files with several rows on one line: their places need a column.
    pub fn mark_crowded(&mut self, files: &[FileId]) {
        self.crowded.extend(files);
        self.crowded.sort_unstable();
    }

    /// Whether a file has several rows on one line.
    pub fn is_crowded(&self, file: FileId) -> bool {
        self.crowded.binary_search(&file).is_ok()
    }

    /// The name of a file.
    pub fn name(&self, file: FileId) -> &str {
        &self.names[file.0 as usize]
    }

    /// The same files by other names.
    pub fn renamed(&self, rename: impl Fn(&str) -> String) -> Files {
        Files { names: self.names.iter().map(|name| rename(name)).collect(), crowded: self.crowded.clone() }
    }

    /// `file:line`, as evidence is written; `file:line:column` where the file has several rows on one line.
    pub fn place(&self, origin: Origin) -> impl fmt::Display {
        let Origin { file, line, col } = origin;
        if col > 0 && self.is_crowded(file) {
            format!("{}:{line}:{col}", self.name(file))
        } else {
            format!("{}:{line}", self.name(file))
        }
    }
}

/// The parts of a place as [`Files::place`] writes it: the file, the line, and the column, 0 where there is none.
///
/// If a file name ends in a colon and a number, that number is read as a line; exports have no such names.
pub fn split_place(place: &str) -> Option<(&str, u32, u32)> {
    let (before, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Some((file, line, last)),
        None => Some((before, last, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        let mut files = Files::default();
        let (one, other) = (files.add("a.json"), files.add("b.csv"));
        files.mark_crowded(&[one]);
        let place = |file| files.place(Origin { file, line: 3, col: 7 }).to_string();
        assert_eq!(split_place(&place(one)), Some(("a.json", 3, 7)));
        assert_eq!(split_place(&place(other)), Some(("b.csv", 3, 0)));
        assert_eq!(split_place("apply"), None);
    }
}
