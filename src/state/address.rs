//! Where a state is kept. What is kept where is known to `state` alone; others hand it on and print it. Pure.

use std::fmt;
use std::path::{Path, PathBuf};

/// Names a state. Its text is the place in messages about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAddress {
    /// As the settings have it.
    setting: String,
    /// The file that it means.
    file: PathBuf,
}

impl StateAddress {
    /// The state that is kept in a file, which the settings of a workspace name relative to the workspace.
    pub fn of_file(workspace: &Path, setting: &str) -> StateAddress {
        StateAddress { setting: setting.to_owned(), file: workspace.join(setting) }
    }

    /// As the settings have it: what a look at a state shows as its place.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// The file.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// The file next to it that has its name and this at the end.
    pub(super) fn next_to(&self, end: &str) -> StateAddress {
        let mut file = self.file.as_os_str().to_owned();
        file.push(end);
        StateAddress { setting: format!("{}{end}", self.setting), file: file.into() }
    }
}

impl fmt::Display for StateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The current folder need not be named.
        self.file.strip_prefix(".").unwrap_or(&self.file).display().fmt(f)
    }
}
