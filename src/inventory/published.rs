//! Which endpoints follow from apps and lists: for each service and each DNS update record that publishes it, one.
//!
//! Comes in: the apps and the lists, the records, and the manifests that belong to records. Goes out: sources of records,
//! one a record, with what they state, as if manifests did; and each of them as an inventory of its own. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::apps::{AddressScope, App, AppFileFault, AppFiles, AppService, ListHolder, RecordList};
use super::model::{Inventory, ProjectFile};
use super::policy::Policy;
use super::source::RecordConflicts;
use super::sources::{Draft, LabelledManifests};
use super::stated::{
    DerivedEvidence, EntryContent, PublishFault, RecordSource, RecordState, RecordTerms, StatedBy, StatedDocument,
    StatedEntry, StatedRrset,
};
use super::trust::Trust;
use super::update_record::{RecordStanding, UpdateRecord, UpdateRecords};
use crate::diag::{Diagnostic, Files, Origin, did_you_mean};
use crate::dns::{Name, Rdata, Rtype, Ttl, address_type};

/// The most octets of the name of an endpoint: those of a label of DNS.
const MAX_NAME: usize = 63;

/// How much of a longer name stays, in front of a hyphen and eight digits of its hash.
const NAME_HEAD: usize = 54;

/// The project of records that have none. It is shown and nothing else: no such record is carried out.
const NO_PROJECT: &str = "-";

/// A DNS update record, as far as its endpoints need it.
#[derive(Debug, Clone)]
pub struct PublishingRecord {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is stated.
    pub origin: Origin,
    /// The project whose switches, limits and domains hold; none where the administrator names none.
    pub project: Option<String>,
    /// Whether it is carried out.
    pub state: RecordState,
    /// What is wrong with it; then its endpoints are blocked.
    pub fault: Option<AppFileFault>,
}

/// What endpoints need of the records that files state. Of several of one name the first, which has a problem, is enough.
pub fn records(updates: &UpdateRecords) -> Vec<PublishingRecord> {
    let firsts = updates.records.chunk_by(|a, b| a.name == b.name).filter_map(|twins| twins.first());
    firsts.map(publishing).collect()
}

/// What endpoints need of a record.
fn publishing(record: &UpdateRecord) -> PublishingRecord {
    let (state, problem) = match record.standing() {
        RecordStanding::Bad => (RecordState::Unknown, record.problems.first()),
        RecordStanding::SwitchedOff | RecordStanding::ExternalDns => (RecordState::Idle, None),
        RecordStanding::Zonewright => (RecordState::Open(record.policy()), None),
    };
    PublishingRecord {
        name: record.name.as_str().into(),
        origin: record.origin,
        project: record.terms.as_ref().map(|terms| terms.project.clone()),
        state,
        fault: problem.map(|problem| AppFileFault { origin: problem.origin, message: problem.message.clone() }),
    }
}

/// An endpoint that follows from a service and a record.
#[derive(Debug, Clone)]
pub struct DerivedEndpoint {
    /// The name of the record.
    pub record: Arc<str>,
    /// The app, as `BUNDLE/VERSION/PROFILE`.
    pub user: Arc<str>,
    /// The namespace of the app.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The service.
    pub origin: Origin,
    /// The names that it is about, each with its place.
    pub hostnames: Vec<(Name, Origin)>,
    /// The TTL, where the service says one.
    pub ttl: Option<(Ttl, Origin)>,
    /// The addresses, each with the lines that give it.
    pub addresses: BTreeMap<IpAddr, Vec<Origin>>,
    /// The lines of the lists that name the record.
    pub lists: Vec<Origin>,
    /// What keeps it from being published.
    pub fault: Option<EndpointFault>,
}

/// What keeps an endpoint from being published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointFault {
    /// The app, the service or a list cannot be used.
    Bad(AppFileFault),
    /// They contradict each other, or say too little.
    Barred(PublishFault, AppFileFault),
}

/// What the lists say for one logical cloud or cluster.
#[derive(Debug, Default)]
struct HolderRecords<'a> {
    /// The lines that name each record.
    records: BTreeMap<&'a Arc<str>, Vec<Origin>>,
    /// What is wrong with one of the lists.
    fault: Option<&'a AppFileFault>,
}

/// For what a record publishes a service: the lines of the lists.
#[derive(Debug, Default)]
struct RecordUses {
    /// For its logical cloud.
    of_cloud: Vec<Origin>,
    /// For clusters in which it is, each with its lines.
    of_clusters: BTreeMap<Arc<str>, Vec<Origin>>,
}

/// The endpoints of all services, by app, service and record.
pub fn derive(files: &AppFiles) -> Vec<DerivedEndpoint> {
    let mut holders: BTreeMap<&ListHolder, HolderRecords<'_>> = BTreeMap::new();
    for RecordList { holder, records, fault, .. } in &files.lists {
        let own = holders.entry(holder).or_default();
        own.fault = own.fault.or(fault.as_ref());
        for (record, origin) in records {
            own.records.entry(record).or_default().push(*origin);
        }
    }
    let services = files.apps.iter().flat_map(|app| app.services.iter().map(move |service| (app, service)));
    services.flat_map(|(app, service)| of_service(&holders, app, service)).collect()
}

/// The endpoints of a service, by record.
fn of_service(
    holders: &BTreeMap<&ListHolder, HolderRecords<'_>>,
    app: &App,
    service: &AppService,
) -> Vec<DerivedEndpoint> {
    let clusters: BTreeSet<&Arc<str>> = service.places.iter().map(|place| &place.cluster).collect();
    let clusters = clusters.into_iter().map(|cluster| ListHolder::Cluster(Arc::clone(cluster)));
    let own = std::iter::once(ListHolder::LogicalCloud(Arc::clone(&app.cloud))).chain(clusters);
    let mut list_fault: Option<&AppFileFault> = None;
    let mut uses: BTreeMap<&Arc<str>, RecordUses> = BTreeMap::new();
    for holder in own {
        let Some(HolderRecords { records, fault }) = holders.get(&holder) else { continue };
        list_fault = list_fault.or(*fault);
        for (record, lines) in records {
            let uses = uses.entry(record).or_default();
            match &holder {
                ListHolder::LogicalCloud(_) => uses.of_cloud.extend(lines),
                ListHolder::Cluster(name) => uses.of_clusters.entry(Arc::clone(name)).or_default().extend(lines),
            }
        }
    }
    // Which other records a faulty list names is not known: they may be those of another list, too.
    let fault = app.fault.as_ref().or(service.fault.as_ref()).or(list_fault);
    let endpoint = |(record, uses): (&Arc<str>, RecordUses)| of_record((app, service), record, &uses, fault);
    uses.into_iter().map(endpoint).collect()
}

/// The endpoint of a service for a record.
fn of_record(
    (app, service): (&App, &AppService),
    record: &Arc<str>,
    uses: &RecordUses,
    fault: Option<&AppFileFault>,
) -> DerivedEndpoint {
    let mut addresses: BTreeMap<IpAddr, Vec<Origin>> = BTreeMap::new();
    for place in &service.places {
        let is_meant = match place.scope {
            AddressScope::Public => !uses.of_cloud.is_empty(),
            AddressScope::Cluster => uses.of_clusters.contains_key(&place.cluster),
        };
        for (address, origin) in place.addresses.iter().filter(|_| is_meant) {
            addresses.entry(*address).or_default().push(*origin);
        }
    }
    let barred = || barred(service, record, uses, addresses.is_empty());
    let fault = fault.map(|fault| EndpointFault::Bad(fault.clone())).or_else(barred);
    DerivedEndpoint {
        record: Arc::clone(record),
        user: format!("{}/{}/{}", app.bundle, app.version, app.profile).into(),
        namespace: Arc::clone(&app.namespace),
        name: endpoint_name(&service.name, record).into(),
        origin: service.origin,
        hostnames: service.hostnames.clone(),
        ttl: service.ttl,
        addresses,
        lists: uses.of_cloud.iter().chain(uses.of_clusters.values().flatten()).copied().collect(),
        fault,
    }
}

/// What keeps a service from being published by a record.
fn barred(service: &AppService, record: &str, uses: &RecordUses, is_bare: bool) -> Option<EndpointFault> {
    let cluster = uses.of_clusters.iter().next();
    let (kind, origin, message) = match (uses.of_cloud.first(), cluster) {
        (Some(_), Some((cluster, lines))) => {
            let message = format!(
                "the lists of the logical cloud and of the cluster `{cluster}` name the record `{record}` for the service \
                 `{}`: it is not known whether it gets public addresses or those of the cluster",
                service.name
            );
            (PublishFault::ScopeConflict, lines[0], message)
        }
        _ if !is_bare => return None,
        (Some(_), None) => {
            let message = format!("the service `{}` has no public address for the record `{record}`", service.name);
            (PublishFault::NoAddress, service.origin, message)
        }
        (None, _) => {
            let clusters: Vec<String> = uses.of_clusters.keys().map(|cluster| format!("`{cluster}`")).collect();
            let message = format!(
                "the service `{}` has no address of the scope `cluster` in {} for the record `{record}`",
                service.name,
                clusters.join(", ")
            );
            (PublishFault::NoAddress, service.origin, message)
        }
    };
    Some(EndpointFault::Barred(kind, AppFileFault { origin, message }))
}

/// The name of the endpoint of a service for a record: `SERVICE-RECORD`, shortened where it is no label. Of its head a dot at
/// the end does not stay: no hyphen may follow a dot in a name of Kubernetes.
pub fn endpoint_name(service: &str, record: &str) -> String {
    let whole = format!("{service}-{record}");
    if whole.len() <= MAX_NAME {
        return whole;
    }
    let digest = Sha256::digest(whole.as_bytes());
    let mut name = whole[..NAME_HEAD].trim_end_matches('.').to_owned() + "-";
    for octet in &digest[..4] {
        write!(name, "{octet:02x}").expect("writing to a text works");
    }
    name
}

/// Adds a source for each record, with what follows from apps and lists, and the manifests that belong to it.
///
/// A record that no file has gets one where something names it: what it is to publish is blocked.
pub fn add(draft: &mut Draft, records: &[PublishingRecord], files: &Files) {
    let endpoints = derive(&draft.apps);
    let labelled = std::mem::take(&mut draft.labelled);
    let mut adder = SourceAdder { draft, files, sources: BTreeMap::new() };
    for record in records {
        adder.add_record(record);
    }
    let named = labelled.iter().map(|manifests| (&manifests.record, manifests.label));
    let derived = endpoints.iter().map(|endpoint| (&endpoint.record, endpoint.lists[0]));
    let missing: BTreeMap<Arc<str>, Origin> =
        derived.chain(named).rev().map(|(record, origin)| (Arc::clone(record), origin)).collect();
    for (record, origin) in missing {
        adder.add_missing(&record, origin, records);
    }
    endpoints.iter().for_each(|endpoint| adder.add_endpoint(endpoint));
    labelled.into_iter().for_each(|manifests| adder.add_manifests(manifests));
    adder.finish();
}

/// Adds sources of records to a draft.
struct SourceAdder<'a> {
    /// The draft.
    draft: &'a mut Draft,
    /// The names of files.
    files: &'a Files,
    /// The sources so far, by record.
    sources: BTreeMap<Arc<str>, SourceInMaking>,
}

/// The source of a record, in the making.
struct SourceInMaking {
    /// Its place among all sources.
    place: u16,
    /// Where the record is stated; none where no file has it.
    origin: Option<Origin>,
    /// What is wrong with the record.
    fault: Option<EndpointFault>,
}

impl SourceAdder<'_> {
    /// Adds the source of a record that a file has.
    fn add_record(&mut self, record: &PublishingRecord) {
        let mut fault = record.fault.clone().map(EndpointFault::Bad);
        if let Some(other) = self.draft.stated.sources.iter_mut().find(|source| source.name == record.name) {
            // Notes of applies name both alike: nothing of either is removed.
            other.has_bad = true;
            let message = format!("a source of records is called `{}`, as this record is", record.name);
            self.draft.found.push(
                Diagnostic::error("duplicate-source", record.origin, message.as_str())
                    .rule("subjects name sources and DNS update records by their names alone")
                    .hint("rename one of them"),
            );
            fault = Some(EndpointFault::Bad(AppFileFault { origin: record.origin, message }));
        }
        self.add_source(&record.name, record.project.as_deref(), record.state, (Some(record.origin), fault));
    }

    /// Adds the source of a record that no file has.
    fn add_missing(&mut self, name: &Arc<str>, origin: Origin, records: &[PublishingRecord]) {
        if self.sources.contains_key(name) {
            return;
        }
        let message = format!("no file has the DNS update record `{name}`");
        // It may be in a file that cannot be read.
        let is_known = self.draft.apps.records_trust == Trust::Known;
        let fault = is_known.then(|| {
            let near = did_you_mean(name, records.iter().map(|record| &*record.name));
            let hint = near.unwrap_or_else(|| "add its file, or correct the name".to_owned());
            let found = Diagnostic::error(PublishFault::UnknownRecord.code(), origin, message.as_str());
            self.draft.found.push(found.rule("what it is to publish is blocked, and stays as it is").hint(hint));
            EndpointFault::Barred(PublishFault::UnknownRecord, AppFileFault { origin, message })
        });
        self.add_source(name, None, RecordState::Unknown, (None, fault));
    }

    /// Adds a source.
    fn add_source(
        &mut self,
        name: &Arc<str>,
        project: Option<&str>,
        state: RecordState,
        (origin, fault): (Option<Origin>, Option<EndpointFault>),
    ) {
        let place = self.draft.published.sources.len() as u16;
        // What cannot be read may be of any record.
        let is_hidden = |source: &RecordSource| !source.unread.is_empty() || source.trust.doubt().is_some();
        let is_hidden = self.draft.stated.sources.iter().any(is_hidden);
        let has_bad = is_hidden || !self.draft.apps.unread.is_empty() || self.draft.apps.has_faults();
        let project = self.draft.project(project.unwrap_or(NO_PROJECT));
        self.draft.published.sources.push(RecordSource {
            name: Arc::clone(name),
            project,
            pool: Some(name.to_string()),
            conflicts: RecordConflicts::Block,
            types: None,
            trust: Trust::Known,
            has_bad,
            unread: BTreeMap::new(),
            record: Some(RecordTerms { state, manifests: BTreeSet::new() }),
        });
        self.sources.insert(Arc::clone(name), SourceInMaking { place, origin, fault });
    }

    /// Adds what an endpoint states.
    fn add_endpoint(&mut self, endpoint: &DerivedEndpoint) {
        let SourceInMaking { place, origin, fault } = &self.sources[&endpoint.record];
        let source = *place;
        let by = StatedBy::Manifest { namespace: Arc::clone(&endpoint.namespace), name: Arc::clone(&endpoint.name) };
        let by = Arc::new(by);
        let fault = fault.as_ref().or(endpoint.fault.as_ref());
        let is_whole = fault.is_none();
        let document = StatedDocument { source, by: Arc::clone(&by), origin: endpoint.origin, is_whole };
        let because: Vec<Origin> = endpoint.lists.iter().copied().chain(*origin).collect();
        for (name, origin) in &endpoint.hostnames {
            let entry = |content, evidence| StatedEntry {
                source,
                by: Arc::clone(&by),
                owner: name.clone(),
                origin: *origin,
                content,
                unused: Vec::new(),
                evidence,
            };
            match fault {
                Some(fault) => self.draft.published.entries.push(entry(content_of(fault), None)),
                None => {
                    let rrsets = rrsets(endpoint, &because);
                    let entries = rrsets.map(|(rrset, evidence)| entry(EntryContent::Rrset(rrset), Some(evidence)));
                    self.draft.published.entries.extend(entries);
                }
            }
        }
        if let Some(EndpointFault::Barred(kind, fault)) = &endpoint.fault {
            let warning = Diagnostic::warning(kind.code(), fault.origin, fault.message.as_str());
            self.draft.found.push(warning.rule(BLOCKS).hint(kind.hint()));
        }
        self.draft.published.documents.push(document);
    }

    /// Adds the manifests of a source that belong to a record.
    fn add_manifests(&mut self, manifests: LabelledManifests) {
        let LabelledManifests { record, source, documents, entries, label } = manifests;
        let SourceInMaking { place, fault, .. } = &self.sources[&record];
        let (place, fault) = (*place, fault.clone());
        let has_bad = documents.iter().any(|document| !document.is_whole);
        let types = self.draft.stated.sources[usize::from(source)].types.clone();
        let stated = &mut self.draft.published;
        let own = &mut stated.sources[usize::from(place)];
        own.has_bad |= has_bad;
        // What `record_types` of their source leaves out is neither created nor deleted.
        let known = own.types.get_or_insert_with(|| vec![Rtype::A, Rtype::AAAA]);
        known.extend(types.into_iter().flatten());
        own.record.as_mut().expect("it is of a record").manifests.insert(source);
        let is_bad = fault.is_some();
        stated.documents.extend(documents.into_iter().map(|document| StatedDocument {
            source: place,
            is_whole: document.is_whole && !is_bad,
            ..document
        }));
        stated.entries.extend(entries.into_iter().map(|entry| {
            let content = fault.as_ref().map_or(entry.content, content_of);
            let because = self.sources[&record].origin.into_iter().chain([label]).collect();
            let evidence = DerivedEvidence { values: Vec::new(), because, read_from: Some(source) };
            let evidence = Some(Box::new(evidence));
            StatedEntry { source: place, content, evidence, ..entry }
        }));
    }

    /// Blocks all that has one namespace and name, and lets the sources know what they may not be believed for.
    fn finish(self) {
        let SourceAdder { draft, files, sources } = self;
        if sources.is_empty() {
            return;
        }
        bar_twins(draft, files);
        draft.published.settle_trust(&draft.stated, &draft.apps);
    }
}

impl Inventory {
    /// What a DNS update record alone asks for, as an inventory without hosts and pods; `place` is that of its source.
    ///
    /// The record has a policy of its own. By those of projects nothing is removed from its zones.
    pub fn of_record(&self, place: usize) -> Inventory {
        let mut projects = self.projects.clone();
        for project in &mut projects {
            if let ProjectFile::Good(settings) = &mut project.file {
                settings.policy = Policy::CreateOnly;
            }
        }
        let Draft { symbols, devices, hosts, tors, layout, ipv4_map, addresses, mac_sources, .. } = Draft::default();
        let Draft { lock, stray_names, pods, apps, published, .. } = Draft::default();
        Inventory {
            files: self.files.clone(),
            symbols,
            config: self.config.clone(),
            projects,
            hosts,
            devices,
            tors,
            layout,
            ipv4_map,
            addresses,
            mac_sources,
            reports: Vec::new(),
            lock,
            stray_names,
            trust: self.trust.clone(),
            exports: Vec::new(),
            inputs: BTreeMap::new(),
            has_bad_names: self.has_bad_names,
            stated: self.published.only(place),
            pods,
            apps,
            published,
            settings_errors: BTreeMap::new(),
            moves: self.moves,
        }
    }
}

/// The rule of all that blocks an endpoint.
const BLOCKS: &str = "a plan blocks the endpoint, and what is live stays";

/// What an entry states that cannot be published.
fn content_of(fault: &EndpointFault) -> EntryContent {
    match fault {
        EndpointFault::Bad(AppFileFault { origin, message }) => EntryContent::Bad(*origin, message.clone()),
        EndpointFault::Barred(kind, AppFileFault { origin, message }) => {
            EntryContent::Barred(*kind, *origin, message.clone())
        }
    }
}

/// The RRsets of an endpoint at each of its names, with the lines behind them.
fn rrsets(endpoint: &DerivedEndpoint, because: &[Origin]) -> impl Iterator<Item = (StatedRrset, Box<DerivedEvidence>)> {
    [Rtype::A, Rtype::AAAA].into_iter().filter_map(move |rtype| {
        let own = endpoint.addresses.iter().filter(|(address, _)| address_type(**address) == rtype);
        let (values, lines): (Vec<Rdata>, Vec<Vec<Origin>>) =
            own.map(|(address, lines)| (Rdata::from_address(*address), lines.clone())).unzip();
        let rrset = StatedRrset { rtype, ttl: endpoint.ttl, values };
        let evidence = DerivedEvidence { values: lines, because: because.to_vec(), read_from: None };
        (!rrset.values.is_empty()).then(|| (rrset, Box::new(evidence)))
    })
}

/// Bars all that several endpoints or manifests of records state under one namespace and name: they would be one object.
fn bar_twins(draft: &mut Draft, files: &Files) {
    let stated = &mut draft.published;
    let mut places: BTreeMap<&StatedBy, Vec<Origin>> = BTreeMap::new();
    for document in &stated.documents {
        places.entry(&document.by).or_default().push(document.origin);
    }
    let twins: BTreeMap<StatedBy, Vec<Origin>> =
        places.into_iter().filter(|(_, places)| places.len() > 1).map(|(by, places)| (by.clone(), places)).collect();
    if twins.is_empty() {
        return;
    }
    for (by, places) in &twins {
        let StatedBy::Manifest { namespace, name } = by else { continue };
        for (number, at) in places.iter().enumerate() {
            let other = places[usize::from(number == 0)];
            let message = format!("the endpoint `{namespace}/{name}` is stated twice");
            let warning = Diagnostic::warning(PublishFault::SameName.code(), *at, message);
            let warning = warning.also(format!("the other is {}", files.place(other)));
            draft.found.push(warning.rule(BLOCKS).hint(PublishFault::SameName.hint()));
        }
    }
    for document in &mut stated.documents {
        document.is_whole &= !twins.contains_key(&*document.by);
    }
    for entry in &mut stated.entries {
        let Some(places) = twins.get(&*entry.by) else { continue };
        let is_usable = matches!(entry.content, EntryContent::Rrset(_) | EntryContent::Unsupported(_));
        if is_usable {
            let all: Vec<String> = places.iter().map(|place| files.place(*place).to_string()).collect();
            let StatedBy::Manifest { namespace, name } = &*entry.by else { continue };
            let message = format!("the endpoint `{namespace}/{name}` is stated at {}", all.join(" and "));
            entry.content = EntryContent::Barred(PublishFault::SameName, entry.origin, message);
        }
    }
}

#[cfg(test)]
mod tests;
