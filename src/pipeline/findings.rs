//! What a run found besides its result: what is wrong in files, and what could not be read.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostics, FileFindings, FileId, Files, Problem};
use crate::dns::ZoneName;
use crate::inventory::read::SETTINGS;

/// What was found, in addition to the plan.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The files that diagnostics name.
    pub files: Files,
    /// What is wrong in them.
    pub diagnostics: Diagnostics,
    /// The settings files that have errors: zonewright.toml and project files. All other files with diagnostics are exports
    /// and names.lock.
    pub settings: BTreeSet<String>,
    /// Whether every export is believed, so that an error in one affects only single hosts.
    pub are_exports_believed: bool,
    /// How many files were read, those of zones included.
    pub files_read: usize,
    /// What is questionable in zones that could still be read.
    pub zones: Vec<FileFindings>,
    /// Why zones could not be read, in the order of the configuration; one cause for several zones of a server is one
    /// error.
    pub unread: Vec<Problem>,
    /// The zones whose markers show an apply that the state does not know, where the state says what is own.
    pub forgotten: Vec<ZoneName>,
    /// What is questionable about the base.
    pub base: Vec<BaseRemark>,
}

impl Findings {
    /// Whether a file that diagnostics name is a settings file.
    pub fn is_settings(&self, file: FileId) -> bool {
        let name = self.files.name(file);
        name == SETTINGS || self.settings.contains(name)
    }

    /// All findings in files, with the files.
    pub fn in_files(&self) -> impl Iterator<Item = (&Files, &Diagnostics)> {
        let unread = self.unread.iter().filter_map(|error| error.findings.as_deref());
        let zones = self.zones.iter().chain(unread).map(|(files, found)| (files, found));
        std::iter::once((&self.files, &self.diagnostics)).chain(zones)
    }

    /// Why zones could not be read, where the cause is not a finding in a file.
    pub fn bare_errors(&self) -> impl Iterator<Item = &Problem> {
        self.unread.iter().filter(|error| error.findings.is_none())
    }
}

/// Something that a reader should know about a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseRemark {
    /// The file, or the base.
    pub place: String,
    /// The code: stable, kebab-case.
    pub code: Code,
    /// What was found: lower case, no full stop.
    pub message: String,
}
