//! What is to be done in a folder: files to write and to remove, in the order in which external-dns may see them.
//!
//! An external-dns that is there deletes the records of endpoints that are gone. So endpoints are written before it, and
//! where the last of them goes, it stays for one call more. Where zonewright takes over, it goes first, and nothing is deleted.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{self, FolderFile, FoundContent, FoundManifest};
use super::objects::{MAX_ANNOTATIONS_OCTETS, RecordLabel, RecordUse, is_endpoint_file, program_file};
use super::wishes::{FolderWishes, RecordFiles, RecordWish};

/// The files of a folder that have names of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderContent {
    /// The texts of those that can be read, by their names.
    pub texts: BTreeMap<String, String>,
    /// What else has such a name, and can be neither read nor replaced.
    pub obstacles: BTreeMap<String, FileObstacle>,
}

impl FolderContent {
    /// Whether anything has a name.
    pub fn has(&self, file: &str) -> bool {
        self.texts.contains_key(file) || self.obstacles.contains_key(file)
    }
}

/// What has the name of a file, and can be neither read nor replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileObstacle {
    /// What it is: what follows on `the file cannot be written: `.
    pub why: String,
    /// Whether it is a file, so that it may be one of ours.
    pub is_file: bool,
}

/// What is to be done in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FolderPlan {
    /// The steps, in their order.
    pub steps: Vec<FolderStep>,
    /// How many files are as they are to be.
    pub unchanged: usize,
    /// The files that stay as they are, each with the reason.
    pub held: Vec<HeldFile>,
    /// How many more files stay as they are: the wishes say why, for all files of a record or for an endpoint.
    pub kept: usize,
    /// The files that cannot be read or written, each with the reason.
    pub faults: Vec<HeldFile>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderStep {
    /// The name of the file.
    pub file: String,
    /// The record that it is of.
    pub record: String,
    /// Its new text; none where it is removed.
    pub text: Option<String>,
}

/// A file that stays as it is, although something else is wished, or nothing says what is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldFile {
    /// Its name.
    pub file: String,
    /// Why.
    pub why: String,
}

/// Why the external-dns of a record is not made.
pub const UNSAFE_START: &str =
    "not all endpoints of the record are written, and external-dns could delete their records";

/// Finds the steps; `label` is the key of the label.
pub fn steps(wishes: &FolderWishes, content: &FolderContent, label: &str) -> FolderPlan {
    let mut planner = FolderPlanner {
        wishes,
        content,
        found: BTreeMap::new(),
        strange: BTreeMap::new(),
        label,
        endpoints: Vec::new(),
        removals: Vec::new(),
        programs: Vec::new(),
        made: FolderPlan::default(),
    };
    planner.read();
    for (record, wish) in &wishes.records {
        match wish {
            RecordWish::Render(files) => planner.render(record, files),
            RecordWish::Release => planner.release(record),
            RecordWish::Keep(why) => planner.keep(record, why.as_deref()),
        }
    }
    planner.unknown_records();
    planner.damaged_files();
    let FolderPlanner { endpoints, removals, programs, mut made, .. } = planner;
    made.steps = endpoints.into_iter().chain(removals).chain(programs).collect();
    made
}

/// Finds the steps.
struct FolderPlanner<'a> {
    /// What is wished.
    wishes: &'a FolderWishes,
    /// What the folder holds.
    content: &'a FolderContent,
    /// The files of ours.
    found: BTreeMap<&'a str, FoundManifest>,
    /// What is wrong with files that were ours, or may be.
    strange: BTreeMap<&'a str, StrangeFile>,
    /// The key of the label.
    label: &'a str,
    /// Endpoints to write.
    endpoints: Vec<FolderStep>,
    /// Endpoints to remove.
    removals: Vec<FolderStep>,
    /// What runs external-dns, to write and to remove.
    programs: Vec<FolderStep>,
    /// What else was found.
    made: FolderPlan,
}

/// What has a name of ours, and is none of ours as far as can be seen.
#[derive(Debug, Clone)]
struct StrangeFile {
    /// Why it is none, or cannot be read.
    why: String,
    /// Whether it may be one of ours all the same.
    may_be_ours: bool,
    /// Whether no text can take its place.
    is_obstacle: bool,
}

impl<'a> FolderPlanner<'a> {
    /// Reads all files.
    fn read(&mut self) {
        for (name, text) in &self.content.texts {
            match found::read(name, text, self.label) {
                Some(FolderFile::Ours(manifest)) => drop(self.found.insert(name, manifest)),
                Some(FolderFile::Strange(strange)) => {
                    let strange = StrangeFile { why: strange.why, may_be_ours: strange.was_ours, is_obstacle: false };
                    self.strange.insert(name, strange);
                }
                None => {}
            }
        }
        for (name, FileObstacle { why, is_file }) in &self.content.obstacles {
            let strange = StrangeFile { why: why.clone(), may_be_ours: *is_file, is_obstacle: true };
            self.strange.insert(name, strange);
        }
    }

    /// Notes that a file stays as it is.
    fn hold(&mut self, file: &str, why: String) {
        self.made.held.push(HeldFile { file: file.to_owned(), why });
    }

    /// The files of ours that are endpoints of a record, with their namespaces.
    fn endpoints_of(&self, record: &str) -> Vec<(&'a str, String)> {
        let own = self.found.iter().filter(|(_, file)| file.record == record);
        let own = own.filter_map(|(name, file)| match &file.content {
            FoundContent::Endpoint { namespace } => Some((*name, namespace.clone())),
            FoundContent::Program { .. } => None,
        });
        own.collect()
    }

    /// Whether a file is the endpoint of a record that is to be written.
    fn is_wished(&self, file: &str) -> bool {
        self.wishes.records.values().any(|wish| match wish {
            RecordWish::Render(files) => files.endpoints.contains_key(file),
            RecordWish::Release | RecordWish::Keep(_) => false,
        })
    }

    /// Whether an endpoint may be among the files that cannot be read as ours.
    fn may_hide_endpoints(&self) -> bool {
        self.strange.iter().any(|(file, strange)| strange.may_be_ours && is_endpoint_file(file))
    }

    /// Why a file of ours may not be replaced by one of a record; none where it may.
    fn barred(&self, found: &FoundManifest, record: &str) -> Option<String> {
        if found.record == record {
            return None;
        }
        let other = &found.record;
        match self.wishes.records.get(other) {
            Some(RecordWish::Render(files)) if files.is_whole => None,
            Some(RecordWish::Release) => None,
            Some(RecordWish::Render(_) | RecordWish::Keep(_)) => {
                Some(format!("it is of the record `{other}`, whose files stay as they are"))
            }
            None => Some(format!(
                "its label names the record `{other}`, which no file has: delete it if that is wrong, and run again"
            )),
        }
    }

    /// Wishes a text of a file. Gives whether the file has it now or after its step.
    fn write(&mut self, (file, record): (&str, &str), text: String) -> Result<Option<FolderStep>, ()> {
        if let Some(StrangeFile { why, is_obstacle, .. }) = self.strange.get(file).cloned() {
            if is_obstacle {
                let why = format!("the file cannot be written: {why}");
                self.made.faults.push(HeldFile { file: file.to_owned(), why });
            } else {
                self.hold(file, format!("{why}: delete it, and run again"));
            }
            return Err(());
        }
        if let Some(why) = self.found.get(file).and_then(|found| self.barred(found, record)) {
            self.hold(file, why);
            return Err(());
        }
        if self.content.texts.get(file) == Some(&text) {
            self.made.unchanged += 1;
            return Ok(None);
        }
        Ok(Some(FolderStep { file: file.to_owned(), record: record.to_owned(), text: Some(text) }))
    }

    /// The steps of a record that external-dns carries out.
    fn render(&mut self, record: &str, files: &RecordFiles) {
        let mut is_hindered = false;
        for (file, text) in &files.endpoints {
            match text.as_ref().map(|text| self.write((file, record), text.clone())) {
                Some(Ok(step)) => self.endpoints.extend(step),
                Some(Err(())) => is_hindered = true,
                // The wishes say why it is blocked.
                None => self.made.kept += usize::from(self.found.contains_key(file.as_str())),
            }
        }
        let there = self.endpoints_of(record);
        if files.is_whole {
            self.remove(record, &there);
        } else {
            self.made.kept += there.iter().filter(|(file, _)| !self.is_wished(file)).count();
        }
        if is_hindered && !self.content.has(&program_file(record)) {
            return self.hold(&program_file(record), UNSAFE_START.to_owned());
        }
        self.program(record, files, &there);
    }

    /// The steps of what runs external-dns for a record, of which these endpoints are there.
    fn program(&mut self, record: &str, files: &RecordFiles, there: &[(&str, String)]) {
        let file = program_file(record);
        let found = match self.found.get(file.as_str()).map(|found| &found.content) {
            Some(FoundContent::Program { users, namespace }) => Some((users.clone(), namespace.clone())),
            _ => None,
        };
        let mut used = RecordUse { users: files.users.clone(), namespace: None };
        let mut namespaces: BTreeSet<&str> = files.namespaces.iter().map(String::as_str).collect();
        match (&found, files.is_whole) {
            (_, true) => {}
            // It may be an app that cannot be read that uses it.
            (Some(_), false) if files.users.is_empty() => {
                self.made.kept += 1;
                return;
            }
            (found, false) => {
                used.users.extend(found.iter().flat_map(|(users, _)| users.clone()));
                namespaces.extend(there.iter().map(|(_, namespace)| namespace.as_str()));
            }
        }
        let one = namespaces.first().filter(|_| namespaces.len() == 1).map(|namespace| (*namespace).to_owned());
        // An endpoint that cannot be read may be in another namespace, and would count as gone.
        let is_as_before = |one: &String| found.as_ref().is_none_or(|(_, before)| before.as_ref() == Some(one));
        used.namespace = one.filter(|one| files.is_whole || is_as_before(one));
        if used.users.is_empty() {
            match found {
                None => return,
                Some((users, _)) if users.is_empty() && there.is_empty() => {
                    return self.remove_program(record, &file);
                }
                Some(_) => {}
            }
        }
        if used.annotations_octets() > MAX_ANNOTATIONS_OCTETS {
            let why = format!(
                "{} apps use the record, and Kubernetes takes annotations of {MAX_ANNOTATIONS_OCTETS} octets in all: \
                 publish some of them by another record",
                used.users.len()
            );
            return self.hold(&file, why);
        }
        let label = RecordLabel { key: self.label, record };
        let step = self.write((&file, record), files.program.text(&label, &used));
        self.programs.extend(step.ok().flatten());
    }

    /// Removes what runs external-dns for a record that nothing uses.
    fn remove_program(&mut self, record: &str, file: &str) {
        if self.may_hide_endpoints() {
            let why = "one of its endpoints may be in a file that cannot be read, and external-dns must be there when it goes";
            return self.hold(file, why.to_owned());
        }
        self.programs.push(removed(file, record));
    }

    /// The steps of a record that zonewright carries out: what runs external-dns goes first, so that it does not take
    /// endpoints that are gone for records that are to be deleted.
    fn release(&mut self, record: &str) {
        let file = program_file(record);
        if self.found.contains_key(file.as_str()) {
            self.programs.push(removed(&file, record));
            return;
        }
        let there = self.endpoints_of(record);
        if let Some(strange) = self.strange.get(file.as_str()) {
            let why = format!(
                "{}, and external-dns must go before its endpoints: delete it, apply the folder, and run again",
                strange.why
            );
            self.made.kept += there.len();
            return self.hold(&file, why);
        }
        self.remove(record, &there);
    }

    /// Leaves the files of a record as they are; `why` is what nothing else says.
    fn keep(&mut self, record: &str, why: Option<&str>) {
        let own = self.found.iter().filter(|(file, found)| found.record == record && !self.is_wished(file));
        let own: Vec<&str> = own.map(|(file, _)| *file).collect();
        match why {
            None => self.made.kept += own.len(),
            Some(why) => own.into_iter().for_each(|file| self.hold(file, why.to_owned())),
        }
    }

    /// Removes endpoints of a record that are there, but for those that are to be written.
    fn remove(&mut self, record: &str, there: &[(&str, String)]) {
        let gone = there.iter().map(|(file, _)| *file).filter(|file| !self.is_wished(file));
        let gone: Vec<FolderStep> = gone.map(|file| removed(file, record)).collect();
        self.removals.extend(gone);
    }

    /// Notes the files of records that no file has.
    fn unknown_records(&mut self) {
        let stray = self.found.iter().filter(|(_, found)| !self.wishes.records.contains_key(&found.record));
        let stray = stray.filter(|(file, _)| !self.is_wished(file)).map(|(file, found)| HeldFile {
            file: (*file).to_owned(),
            why: format!("no file has its record `{}`, and what is not known loses nothing", found.record),
        });
        let stray: Vec<HeldFile> = stray.collect();
        self.made.held.extend(stray);
    }

    /// Notes files that may be ours, that cannot be read as such, and of which nothing was said.
    fn damaged_files(&mut self) {
        let said: BTreeSet<String> =
            self.made.held.iter().chain(&self.made.faults).map(|held| held.file.clone()).collect();
        for (file, StrangeFile { why, may_be_ours, is_obstacle }) in std::mem::take(&mut self.strange) {
            if !may_be_ours || said.contains(file) {
                continue;
            }
            if is_obstacle {
                let why = format!("the file cannot be read: {why}");
                self.made.faults.push(HeldFile { file: file.to_owned(), why });
            } else {
                self.hold(
                    file,
                    format!("{why}, and it is not known what it is of: restore it, or delete it if nothing needs it"),
                );
            }
        }
    }
}

/// The removal of a file of a record.
fn removed(file: &str, record: &str) -> FolderStep {
    FolderStep { file: file.to_owned(), record: record.to_owned(), text: None }
}
