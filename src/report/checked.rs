//! What a check of the workspace found, as reports for pipelines need it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::diag::{Diagnostics, Files, Problem};

/// What a check of the workspace found.
#[derive(Debug)]
pub struct CheckReport<'a> {
    /// The folder of the workspace, as the command line names it. Pipelines look for files from where the command runs.
    pub folder: &'a Path,
    /// The files that were read, those of zones included.
    pub read: &'a BTreeSet<String>,
    /// What was found in files.
    pub found: Vec<(&'a Files, &'a Diagnostics)>,
    /// What could not be read for a cause that is no finding in a file.
    pub unread: Vec<&'a Problem>,
}

impl CheckReport<'_> {
    /// The path of a file that messages name relative to the workspace, with `/` between folders.
    pub(super) fn path(&self, file: &str) -> String {
        let path: PathBuf = self.folder.join(file).components().filter(|part| *part != Component::CurDir).collect();
        path.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_from_where_the_command_runs() {
        let path = |folder: &str, file: &str| {
            let read = BTreeSet::new();
            CheckReport { folder: Path::new(folder), read: &read, found: Vec::new(), unread: Vec::new() }.path(file)
        };
        assert_eq!(path(".", "projects/web.yaml"), "projects/web.yaml");
        assert_eq!(path("dns", "projects/web.yaml"), "dns/projects/web.yaml");
        assert_eq!(path("./a/./dns/", "zonewright.toml"), "a/dns/zonewright.toml");
        assert_eq!(path("../dns", "zonewright.toml"), "../dns/zonewright.toml");
        assert_eq!(path("/srv/dns", "zonewright.toml"), "/srv/dns/zonewright.toml");
        assert_eq!(path("dns", "/srv/zones/a.zone"), "/srv/zones/a.zone");
    }
}
