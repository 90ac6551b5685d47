//! What a workspace looked like while it was read, so that another look can show whether anything in it has moved. Pure.
//!
//! Comes in: each look at the disk. Goes out: the same looks, to be taken again. Where one look cannot prove that nothing
//! moved, it counts as a move: then the workspace is read again, and nothing else is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::layer::FileListing;
use crate::disk::FileStamp;
use crate::inventory::source::PathPattern;

/// A pattern whose files were looked for.
#[derive(Debug, Clone)]
pub struct PatternTrace {
    /// The pattern.
    pub pattern: PathPattern,
    /// The ending of the files that were left out.
    pub ignored: Option<String>,
    /// What was found; none where nothing could be.
    pub found: Option<FileListing>,
}

/// What was seen of a workspace.
#[derive(Debug, Clone, Default)]
pub struct FolderTraces {
    /// The files that were read, by their path, each as it was all the time; none where another write might look alike.
    pub files: BTreeMap<PathBuf, Option<FileStamp>>,
    /// What was looked for by name, and whether there was nothing.
    pub names: BTreeMap<String, bool>,
    /// What was looked for by patterns.
    pub patterns: Vec<PatternTrace>,
}

/// Takes what is seen, from any thread.
#[derive(Debug, Default)]
pub struct TraceBook(Mutex<FolderTraces>);

impl TraceBook {
    /// Notes something.
    fn note(&self, what: impl FnOnce(&mut FolderTraces)) {
        // A thread that died while it noted something is reported by itself.
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes a file that was read.
    pub fn read(&self, path: &Path, stamp: Option<FileStamp>) {
        self.note(|traces| {
            // A file that two sources read, and that was written in between, is none of what it was at two times.
            let known = traces.files.entry(path.to_owned()).or_insert(stamp);
            *known = known.filter(|known| Some(*known) == stamp);
        });
    }

    /// Notes whether nothing has a name.
    pub fn lacks(&self, name: &str, lacks: bool) {
        self.note(|traces| {
            traces.names.insert(name.to_owned(), lacks);
        });
    }

    /// Notes what a pattern found.
    pub fn found(&self, pattern: &PathPattern, ignored: Option<&str>, found: Option<&FileListing>) {
        let trace =
            PatternTrace { pattern: pattern.clone(), ignored: ignored.map(str::to_owned), found: found.cloned() };
        self.note(|traces| traces.patterns.push(trace));
    }

    /// All that was noted.
    pub fn into_traces(self) -> FolderTraces {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
