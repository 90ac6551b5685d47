//! What the folder is to hold, by the inventory alone: for each DNS update record its endpoints and its external-dns, or why
//! its files stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::arguments::{self, ArgumentFault, DEFAULT_TYPES, UnusedSetting};
use super::objects::{EndpointObject, ProgramObjects, RecordLabel, endpoint_file};
use crate::diag::Origin;
use crate::dns::{Name, Rtype};
use crate::inventory::Inventory;
use crate::inventory::model::{ProjectAdmin, ProjectFile};
use crate::inventory::published::{DerivedEndpoint, derive};
use crate::inventory::stated::{EntryContent, RecordSource, StatedBy, StatedEntry, StatedRrset};
use crate::inventory::update_record::{RecordRunner, RecordStanding, UpdateRecord};

/// What the folder is to hold.
#[derive(Debug, Default)]
pub struct FolderWishes {
    /// What is wished of each record that a file has, by its name.
    pub records: BTreeMap<String, RecordWish>,
    /// What stays as it is, because it is blocked.
    pub held: Vec<HeldWish>,
    /// What external-dns has no argument for, and records that are switched off: nothing that anyone must wait for.
    pub remarks: Vec<UnusedSetting>,
}

/// What is wished of a record.
#[derive(Debug)]
pub enum RecordWish {
    /// external-dns carries it out.
    Render(Box<RecordFiles>),
    /// zonewright carries it out: external-dns is to end, and what is in DNS to stay.
    Release,
    /// Its files stay as they are, for a reason that is still to be said where there are any.
    Keep(Option<String>),
}

/// The files of a record.
#[derive(Debug)]
pub struct RecordFiles {
    /// The texts of its endpoints by the names of their files; none of one that is blocked.
    pub endpoints: BTreeMap<String, Option<String>>,
    /// Its external-dns.
    pub program: ProgramObjects,
    /// What uses it: apps as `BUNDLE/VERSION/PROFILE`, and sources with manifests of it.
    pub users: BTreeSet<String>,
    /// The namespaces of all that is stated of it.
    pub namespaces: BTreeSet<String>,
    /// Whether all that is stated of it is known: else nothing of it goes.
    pub is_whole: bool,
}

/// Something that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldWish {
    /// Where the cause is.
    pub origin: Origin,
    /// What stays, and why.
    pub message: String,
}

/// What `used-by` has in front of the name of a source with manifests of the record.
const MANIFESTS: &str = "manifests:";

/// What the folder is to hold; external-dns is of this image.
pub fn wishes(inventory: &Inventory, image: &str) -> FolderWishes {
    let mut wisher =
        FolderWisher { inventory, image, endpoints: derive(&inventory.apps), made: FolderWishes::default() };
    // Of several of one name, the first has a problem, as all of them have.
    let records = inventory.config.update_records.records.chunk_by(|a, b| a.name == b.name);
    for record in records.filter_map(|twins| twins.first()) {
        let wish = wisher.of_record(record);
        wisher.made.records.insert(record.name.clone(), wish);
    }
    wisher.unknown_records();
    wisher.made
}

/// Finds out what is wished.
struct FolderWisher<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// The image of external-dns.
    image: &'a str,
    /// What follows from apps and lists.
    endpoints: Vec<DerivedEndpoint>,
    /// What was found so far.
    made: FolderWishes,
}

impl<'a> FolderWisher<'a> {
    /// Notes that something stays as it is.
    fn hold(&mut self, origin: Origin, message: String) {
        self.made.held.push(HeldWish { origin, message });
    }

    /// What is wished of a record.
    fn of_record(&mut self, record: &UpdateRecord) -> RecordWish {
        let name = &record.name;
        let is_ours = record.terms.as_ref().is_some_and(|terms| terms.by == RecordRunner::ExternalDns);
        match record.standing() {
            RecordStanding::Zonewright => return RecordWish::Release,
            RecordStanding::SwitchedOff => {
                let message =
                    format!("the files of the record `{name}` stay as they are: zonewright.toml has no table for it");
                self.made.remarks.push(UnusedSetting { origin: record.origin, message });
                return RecordWish::Keep(None);
            }
            RecordStanding::Bad => {
                let Some(problem) = record.problems.first() else { return RecordWish::Keep(None) };
                if !is_ours {
                    return RecordWish::Keep(Some(format!("its record `{name}` is wrong: {}", problem.message)));
                }
                let message = format!("the files of the record `{name}` stay as they are: {}", problem.message);
                self.hold(problem.origin, message);
                return RecordWish::Keep(None);
            }
            RecordStanding::ExternalDns => {}
        }
        match self.files(record) {
            Ok(files) => RecordWish::Render(Box::new(files)),
            Err(HeldWish { origin, message }) => {
                self.hold(origin, format!("the files of the record `{name}` stay as they are: {message}"));
                RecordWish::Keep(None)
            }
        }
    }

    /// The files of a record.
    ///
    /// Errors: why they stay as they are.
    fn files(&mut self, record: &UpdateRecord) -> Result<RecordFiles, HeldWish> {
        let inventory = self.inventory;
        let terms = record.terms.as_ref().expect("external-dns carries out what a table says");
        let place = inventory.published.sources.iter().position(|source| *source.name == *record.name);
        let place = place.expect("each record has a source of what it publishes");
        let source = &inventory.published.sources[place];
        let held = |message: String| HeldWish { origin: record.origin, message };
        if let Some(doubt) = source.trust.doubt() {
            return Err(held(doubt.to_owned()));
        }
        let admin = self.admin(record, source)?;
        let arguments = arguments::arguments(record, terms, &inventory.config)
            .map_err(|ArgumentFault { origin, message, .. }| HeldWish { origin, message })?;
        self.made.remarks.extend(arguments.unused.iter().cloned());
        let program = ProgramObjects {
            namespace: terms.namespace.clone(),
            image: self.image.to_owned(),
            provider: record.provider.expect("a record without problems has a provider").as_str(),
            types: types(source),
            arguments,
        };
        let manifests = source.record.iter().flat_map(|record| &record.manifests);
        let manifests = manifests.map(|place| &*inventory.stated.sources[usize::from(*place)].name);
        let mut users: BTreeSet<String> = manifests.map(|name| format!("{MANIFESTS}{name}")).collect();
        let documents = inventory.published.documents.iter().filter(|document| usize::from(document.source) == place);
        let namespaces = documents.filter_map(|document| match &*document.by {
            StatedBy::Manifest { namespace, .. } => Some(namespace.to_string()),
            StatedBy::Zone(_) => None,
        });
        let namespaces = namespaces.collect();
        let mut endpoints = BTreeMap::new();
        let faults = self.faults(place, admin);
        let own: Vec<DerivedEndpoint> =
            self.endpoints.iter().filter(|own| *own.record == *record.name).cloned().collect();
        for endpoint in own {
            users.insert(endpoint.user.to_string());
            let file = endpoint_file(&endpoint.namespace, &endpoint.name);
            let key = (Arc::clone(&endpoint.namespace), Arc::clone(&endpoint.name));
            let text = match faults.get(&key) {
                Some(HeldWish { origin, message }) => {
                    self.hold(*origin, format!("{file} stays as it is: {message}"));
                    None
                }
                None => Some(text(&endpoint, &inventory.config.record_label)),
            };
            endpoints.insert(file, text);
        }
        let is_hiding = |source: &RecordSource| source.trust.doubt().is_some() || !source.unread.is_empty();
        let is_whole = !source.has_bad && !inventory.stated.sources.iter().any(is_hiding);
        if !is_whole {
            let name = &record.name;
            let message =
                format!("nothing of the record `{name}` is removed while an app, a list or a manifest is wrong");
            self.hold(record.origin, message);
        }
        Ok(RecordFiles { endpoints, program, users, namespaces, is_whole })
    }

    /// The project of a record, where it lets its records be changed.
    fn admin(&self, record: &UpdateRecord, source: &RecordSource) -> Result<&'a ProjectAdmin, HeldWish> {
        let project = &self.inventory.projects[source.project.0 as usize];
        let held = |message: String| HeldWish { origin: record.origin, message };
        match (&project.admin, &project.file) {
            (Some(admin), ProjectFile::Good(settings)) if admin.automation_allowed && settings.automation => Ok(admin),
            (_, ProjectFile::Missing | ProjectFile::Bad { .. }) => {
                Err(held(format!("the file of the project `{}` is missing or cannot be used", project.id)))
            }
            _ => Err(held(format!("automation is off for the project `{}`", project.id))),
        }
    }

    /// What keeps endpoints of a record from being written, by their namespaces and names.
    fn faults(&self, place: usize, admin: &ProjectAdmin) -> BTreeMap<(Arc<str>, Arc<str>), HeldWish> {
        let mut faults = BTreeMap::new();
        let published = &self.inventory.published;
        let entries: Vec<&StatedEntry> =
            published.entries.iter().filter(|entry| usize::from(entry.source) == place).collect();
        let mut note = |by: &StatedBy, origin: Origin, message: String| {
            if let StatedBy::Manifest { namespace, name } = by {
                let key = (Arc::clone(namespace), Arc::clone(name));
                faults.entry(key).or_insert(HeldWish { origin, message });
            }
        };
        // What cannot be read may have no entry.
        for document in published.documents.iter().filter(|own| usize::from(own.source) == place && !own.is_whole) {
            let cause = entries.iter().find(|entry| entry.by == document.by).and_then(|entry| fault(entry));
            let (origin, message) = cause.unwrap_or((document.origin, "not all of it can be used".to_owned()));
            note(&document.by, origin, message);
        }
        for entry in &entries {
            if let Some((origin, message)) = fault(entry) {
                note(&entry.by, origin, message);
            } else if !admin.contains(entry.owner.as_name()) {
                let message = format!("`{}` is in no domain of the record's project", entry.owner);
                note(&entry.by, entry.origin, message);
            }
        }
        for (entry, other) in contradictions(&entries) {
            let place = self.inventory.files.place(other.origin);
            note(&entry.by, entry.origin, format!("{place} states something else of `{}`", entry.owner));
        }
        faults
    }

    /// Notes what is to be published by records that no file has.
    fn unknown_records(&mut self) {
        let records = &self.inventory.config.update_records;
        let unknown = self.endpoints.iter().filter(|endpoint| records.find(&endpoint.record).is_none());
        let unknown: BTreeMap<Arc<str>, Origin> =
            unknown.map(|endpoint| (Arc::clone(&endpoint.record), endpoint.lists[0])).rev().collect();
        for (record, origin) in unknown {
            self.hold(origin, format!("no file has the DNS update record `{record}`: its files stay as they are"));
        }
    }
}

/// Why an entry cannot be written, and where the cause is.
fn fault(entry: &StatedEntry) -> Option<(Origin, String)> {
    match &entry.content {
        EntryContent::Bad(origin, message) | EntryContent::Barred(_, origin, message) => {
            Some((*origin, message.clone()))
        }
        EntryContent::Unsupported(message) => Some((entry.origin, message.clone())),
        EntryContent::Rrset(_) | EntryContent::LeftAlone(_) => None,
    }
}

/// The entries that do not say the same of one RRset, or of which one is a CNAME, each with one that contradicts it.
fn contradictions<'e>(entries: &[&'e StatedEntry]) -> Vec<(&'e StatedEntry, &'e StatedEntry)> {
    let mut at: BTreeMap<&Name, Vec<(&StatedEntry, &StatedRrset)>> = BTreeMap::new();
    for entry in entries {
        if let EntryContent::Rrset(rrset) = &entry.content {
            at.entry(&entry.owner).or_default().push((entry, rrset));
        }
    }
    let mut found = Vec::new();
    for claims in at.values() {
        for (entry, rrset) in claims {
            let differs = |(_, other): &&(&StatedEntry, &StatedRrset)| {
                if rrset.rtype == other.rtype {
                    let ttl = |rrset: &StatedRrset| rrset.ttl.map(|(ttl, _)| ttl);
                    rrset.values != other.values || ttl(rrset) != ttl(other)
                } else {
                    [rrset.rtype, other.rtype].contains(&Rtype::CNAME)
                }
            };
            found.extend(claims.iter().find(differs).map(|(other, _)| (*entry, *other)));
        }
    }
    found
}

/// The types that external-dns needs an argument for: all of a record, where manifests of it may state more than usual.
fn types(source: &RecordSource) -> Vec<String> {
    let own = source.types.as_deref().unwrap_or_default();
    if own.iter().all(|rtype| DEFAULT_TYPES.contains(rtype)) {
        return Vec::new();
    }
    let own: BTreeSet<String> = own.iter().map(Rtype::to_string).collect();
    own.into_iter().collect()
}

/// The text of the file of an endpoint.
fn text(endpoint: &DerivedEndpoint, label: &str) -> String {
    let object = EndpointObject {
        namespace: Arc::clone(&endpoint.namespace),
        name: Arc::clone(&endpoint.name),
        hostnames: endpoint.hostnames.iter().map(|(name, _)| name.clone()).collect(),
        addresses: endpoint.addresses.keys().copied().collect(),
        ttl: endpoint.ttl.map(|(ttl, _)| ttl),
    };
    object.text(&RecordLabel { key: label, record: &endpoint.record })
}
