//! What is to be done in a folder: files to write and to remove, in the order in which external-dns may see them.
//!
//! An external-dns that is there deletes the records of endpoints that are gone. So endpoints are written before it, and
//! where the last of them goes, it stays for one call more. Where zonewright takes over, it goes first, and nothing is deleted.

use std::collections::{BTreeMap, BTreeSet};

use super::found::{self, FoundContent, FoundManifest};
use super::objects::{RecordLabel, RecordUse, program_file};
use super::wishes::{FolderWishes, RecordFiles, RecordWish};

/// What is to be done in a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FolderPlan {
    /// The steps, in their order.
    pub steps: Vec<FolderStep>,
    /// How many files are as they are to be.
    pub unchanged: usize,
    /// The files that stay as they are, each with the reason.
    pub held: Vec<HeldFile>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderStep {
    /// The name of the file.
    pub file: String,
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

/// Finds the steps; `texts` are the files of the folder, by their names, and `label` is the key of the label.
pub fn steps(wishes: &FolderWishes, texts: &BTreeMap<String, String>, label: &str) -> FolderPlan {
    let found = texts.iter().filter_map(|(name, text)| Some((name.as_str(), found::read(name, text, label)?)));
    let mut planner = FolderPlanner {
        wishes,
        texts,
        found: found.collect(),
        label,
        endpoints: Vec::new(),
        removals: Vec::new(),
        programs: Vec::new(),
        made: FolderPlan::default(),
    };
    for (record, wish) in &wishes.records {
        match wish {
            RecordWish::Render(files) => planner.render(record, files),
            RecordWish::Release => planner.release(record),
            RecordWish::Keep => {}
        }
    }
    planner.unknown_records();
    let FolderPlanner { endpoints, removals, programs, mut made, .. } = planner;
    made.steps = endpoints.into_iter().chain(removals).chain(programs).collect();
    made
}

/// Finds the steps.
struct FolderPlanner<'a> {
    /// What is wished.
    wishes: &'a FolderWishes,
    /// The texts of the files.
    texts: &'a BTreeMap<String, String>,
    /// The files of ours.
    found: BTreeMap<&'a str, FoundManifest>,
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

impl<'a> FolderPlanner<'a> {
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
            RecordWish::Release | RecordWish::Keep => false,
        })
    }

    /// Why a file that is there may not be replaced by one of a record; none where it may.
    fn barred(&self, file: &str, record: &str) -> Option<String> {
        if !self.texts.contains_key(file) {
            return None;
        }
        match self.found.get(file) {
            None => Some(format!("it does not have the label `{}`, so that it is not ours", self.label)),
            Some(found) if found.record == record => None,
            Some(FoundManifest { record: other, .. }) => {
                let is_free = match self.wishes.records.get(other) {
                    Some(RecordWish::Render(files)) => files.is_whole,
                    Some(RecordWish::Release) => true,
                    Some(RecordWish::Keep) | None => false,
                };
                (!is_free).then(|| format!("it is of the record `{other}`, whose files stay as they are"))
            }
        }
    }

    /// Wishes a text of a file.
    fn write(&mut self, file: &str, record: &str, text: String) -> Option<FolderStep> {
        if let Some(why) = self.barred(file, record) {
            self.made.held.push(HeldFile { file: file.to_owned(), why });
            return None;
        }
        if self.texts.get(file) == Some(&text) {
            self.made.unchanged += 1;
            return None;
        }
        Some(FolderStep { file: file.to_owned(), text: Some(text) })
    }

    /// The steps of a record that external-dns carries out.
    fn render(&mut self, record: &str, files: &RecordFiles) {
        for (file, text) in &files.endpoints {
            let step = text.as_ref().and_then(|text| self.write(file, record, text.clone()));
            self.endpoints.extend(step);
        }
        let there = self.endpoints_of(record);
        if files.is_whole {
            self.remove(&there);
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
            (Some(_), false) if files.users.is_empty() => return,
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
                    self.programs.push(removed(&file));
                    return;
                }
                Some(_) => {}
            }
        }
        let label = RecordLabel { key: self.label, record };
        let step = self.write(&file, record, files.program.text(&label, &used));
        self.programs.extend(step);
    }

    /// The steps of a record that zonewright carries out: what runs external-dns goes first, so that it does not take
    /// endpoints that are gone for records that are to be deleted.
    fn release(&mut self, record: &str) {
        let file = program_file(record);
        if self.found.contains_key(file.as_str()) {
            self.programs.push(removed(&file));
            return;
        }
        self.remove(&self.endpoints_of(record));
    }

    /// Removes endpoints that are there, but for those that are to be written.
    fn remove(&mut self, there: &[(&str, String)]) {
        let gone = there.iter().map(|(file, _)| *file).filter(|file| !self.is_wished(file));
        let gone: Vec<FolderStep> = gone.map(removed).collect();
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
}

/// The removal of a file.
fn removed(file: &str) -> FolderStep {
    FolderStep { file: file.to_owned(), text: None }
}
