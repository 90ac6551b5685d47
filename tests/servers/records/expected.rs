//! What the servers of DNS update records must hold, calculated from the apps, the lists and the records as people state
//! them. It is written apart from the product and shares no code with it, so that a mistake is not made on both sides.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

/// An owner name with its final dot, and a type.
pub type Place = (String, String);

/// A TTL and values.
pub type Content = (u32, BTreeSet<String>);

/// RRsets.
pub type Holding = BTreeMap<Place, Content>;

/// The types that apps ask for.
const TYPES: [&str; 2] = ["A", "AAAA"];

/// An app.
#[derive(Debug, Clone)]
pub struct StatedApp {
    /// Its name.
    pub name: &'static str,
    /// Its namespace.
    pub namespace: &'static str,
    /// The logical cloud that it is in.
    pub cloud: &'static str,
    /// Its services.
    pub services: Vec<StatedService>,
}

/// A service of an app.
#[derive(Debug, Clone)]
pub struct StatedService {
    /// Its name.
    pub name: &'static str,
    /// Its hostnames, without the final dot.
    pub hostnames: Vec<&'static str>,
    /// Its TTL, where it says one.
    pub ttl: Option<u32>,
    /// Where it is reached.
    pub addresses: Vec<StatedAddress>,
}

/// Where a service is reached.
#[derive(Debug, Clone)]
pub struct StatedAddress {
    /// The cluster.
    pub cluster: &'static str,
    /// Whether it is reached from everywhere, and not only from within the cluster.
    pub is_public: bool,
    /// The addresses.
    pub ips: Vec<String>,
}

/// Which records a logical cloud or a cluster uses.
#[derive(Debug, Clone)]
pub struct StatedList {
    /// Whether it is of a cluster.
    pub is_cluster: bool,
    /// For which it is.
    pub of: &'static str,
    /// The records.
    pub records: Vec<String>,
}

/// What may be done to the records of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedPolicy {
    /// Everything.
    Sync,
    /// Nothing is deleted.
    UpsertOnly,
}

/// How a server notes whose an RRset is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkForm {
    /// A TXT with the TTL of the RRset.
    Text,
    /// A TXT with a TTL of 300.
    TextOf300,
    /// The same, and the quotes are a part of what the text says.
    QuotedTextOf300,
    /// The owner is in each value's key: shown here as an RRset `owner` at the name.
    Key,
}

/// A DNS update record.
#[derive(Debug, Clone)]
pub struct StatedRecord {
    /// Its name.
    pub name: String,
    /// Its zones, without the final dot.
    pub zones: Vec<&'static str>,
    /// Who owns what it publishes.
    pub owner: &'static str,
    /// How that is noted.
    pub mark: MarkForm,
    /// What is in front of the first label of a mark's name.
    pub prefix: &'static str,
    /// What is behind it.
    pub suffix: &'static str,
    /// What may be done.
    pub policy: StatedPolicy,
    /// The domains whose names are published; all where there are none.
    pub only: Vec<&'static str>,
    /// The domains whose names are not.
    pub without: Vec<&'static str>,
    /// Whether its file has an error.
    pub is_broken: bool,
}

/// All that people state.
#[derive(Debug, Clone)]
pub struct Stated {
    /// The apps.
    pub apps: Vec<StatedApp>,
    /// The lists.
    pub lists: Vec<StatedList>,
    /// The records.
    pub records: Vec<StatedRecord>,
    /// The TTL of the project, for services without one.
    pub ttl: u32,
}

/// What a server must hold, and which of it was made for its record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// All of it, without the apex and what guards zones.
    pub held: Holding,
    /// The RRsets that were made for the record, without their marks.
    own: BTreeSet<Place>,
}

/// What the services ask for at one hostname of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wish {
    /// These values for each type, the TTL if there is one, and the manifest that would say so.
    Values(BTreeMap<&'static str, BTreeSet<String>>, Option<u32>, String),
    /// Something is wrong with it: what is there stays.
    Blocked,
}

impl Expected {
    /// A server that holds only what others made.
    pub fn new(foreign: Holding) -> Expected {
        Expected { held: foreign, own: BTreeSet::new() }
    }

    /// Does what people state for a record.
    pub fn publish(&mut self, stated: &Stated, record: &StatedRecord) {
        if record.is_broken {
            return;
        }
        let wishes = wishes(stated, record);
        for (hostname, wish) in &wishes {
            let Wish::Values(values, ttl, manifest) = wish else { continue };
            let name = format!("{hostname}.");
            if record.is_seen(&name) && record.has_zone(&name) && !self.is_foreign(record, &name, values) {
                self.put(record, &name, (values, *ttl, stated.ttl), manifest);
            }
        }
        if record.policy == StatedPolicy::Sync {
            let is_gone = |(name, rtype): &&Place| {
                let wish = wishes.get(name.trim_end_matches('.'));
                let is_stated = wish.is_some_and(|wish| match wish {
                    Wish::Values(values, ..) => values.contains_key(rtype.as_str()),
                    Wish::Blocked => true,
                });
                record.is_seen(name) && !is_stated
            };
            let gone: Vec<Place> = self.own.iter().filter(is_gone).cloned().collect();
            gone.iter().for_each(|place| self.remove(record, place));
        }
    }

    /// Whether something that others made is in the way at a name.
    fn is_foreign(&self, record: &StatedRecord, name: &str, values: &BTreeMap<&'static str, BTreeSet<String>>) -> bool {
        let has_alias = self.held.contains_key(&(name.to_owned(), "CNAME".to_owned()));
        let is_other = |(rtype, wanted): (&&str, &BTreeSet<String>)| {
            let place = (name.to_owned(), (*rtype).to_owned());
            let has_other = self.held.get(&place).is_some_and(|(_, values)| values != wanted);
            let has_mark = record.mark != MarkForm::Key && self.held.contains_key(&record.mark_of(&place));
            !self.own.contains(&place) && (has_other || has_mark)
        };
        has_alias || values.iter().any(is_other)
    }

    /// Puts the RRsets of a name, with their marks.
    fn put(
        &mut self,
        record: &StatedRecord,
        name: &str,
        (values, ttl, default): (&BTreeMap<&'static str, BTreeSet<String>>, Option<u32>, u32),
        manifest: &str,
    ) {
        for (rtype, values) in values {
            let place = (name.to_owned(), (*rtype).to_owned());
            let live = self.held.get(&place).map(|(ttl, _)| *ttl);
            if live.is_some() && !self.own.contains(&place) {
                // Another one made it, and it says the same.
                continue;
            }
            // Without a TTL what is live keeps its own.
            let ttl = ttl.or(live).unwrap_or(default);
            self.held.insert(place.clone(), (ttl, values.clone()));
            if self.own.insert(place.clone()) {
                self.held.insert(record.mark_of(&place), record.mark_content(ttl, manifest));
            }
        }
    }

    /// Removes an own RRset with its mark.
    fn remove(&mut self, record: &StatedRecord, place: &Place) {
        self.held.remove(place);
        self.own.remove(place);
        let mark = record.mark_of(place);
        // A mark in keys is shown once for all types of a name.
        if !self.own.iter().any(|other| record.mark_of(other) == mark) {
            self.held.remove(&mark);
        }
    }
}

impl StatedRecord {
    /// Whether the filters show a name.
    fn is_seen(&self, name: &str) -> bool {
        let is_only = self.only.is_empty() || self.only.iter().any(|domain| covers(domain, name));
        is_only && !self.without.iter().any(|domain| covers(domain, name))
    }

    /// Whether a name is in one of the zones.
    fn has_zone(&self, name: &str) -> bool {
        self.zones.iter().any(|zone| covers(zone, name))
    }

    /// Where the mark of an RRset is.
    fn mark_of(&self, (name, rtype): &Place) -> Place {
        if self.mark == MarkForm::Key {
            return (name.clone(), "owner".to_owned());
        }
        let (label, rest) = name.split_once('.').expect("a name has a dot");
        let rtype = rtype.to_lowercase();
        let has_place = |text: &str| text.contains("%{record_type}");
        let typed = if has_place(self.prefix) || has_place(self.suffix) { String::new() } else { format!("{rtype}-") };
        let text = format!("{}{typed}{label}{}", self.prefix, self.suffix);
        (format!("{}.{rest}", text.replace("%{record_type}", &rtype).to_lowercase()), "TXT".to_owned())
    }

    /// What a new mark says of an RRset with this TTL.
    fn mark_content(&self, ttl: u32, manifest: &str) -> Content {
        let owner = self.owner;
        let text = format!("heritage=external-dns,external-dns/owner={owner},external-dns/resource=crd/{manifest}");
        let (ttl, text) = match self.mark {
            MarkForm::Text => (ttl, text),
            MarkForm::TextOf300 => (300, text),
            MarkForm::QuotedTextOf300 => (300, format!("\"{text}\"")),
            MarkForm::Key => (0, owner.to_owned()),
        };
        (ttl, BTreeSet::from([text]))
    }
}

/// Whether a name is at or below a domain; only below, where the domain has a dot in front.
fn covers(domain: &str, name: &str) -> bool {
    let name = name.trim_end_matches('.');
    match domain.strip_prefix('.') {
        Some(_) => name.ends_with(domain),
        None => name == domain || name.ends_with(&format!(".{domain}")),
    }
}

/// What is asked for at each hostname of a record.
fn wishes(stated: &Stated, record: &StatedRecord) -> BTreeMap<&'static str, Wish> {
    let mut wishes: BTreeMap<&'static str, Wish> = BTreeMap::new();
    let manifests: Vec<String> = services(stated)
        .filter(|(app, service)| is_used(stated, record, app, service))
        .map(|(app, service)| manifest(app, service, record))
        .collect();
    for (app, service) in services(stated) {
        let Some(mut wish) = wish(stated, record, app, service) else { continue };
        let own = manifest(app, service, record);
        if manifests.iter().filter(|other| **other == own).count() > 1 {
            wish = Wish::Blocked;
        }
        for hostname in &service.hostnames {
            let joined = match wishes.get(hostname) {
                Some(other) if *other != wish => Wish::Blocked,
                _ => wish.clone(),
            };
            wishes.insert(hostname, joined);
        }
    }
    wishes
}

/// All services, each with its app.
fn services(stated: &Stated) -> impl Iterator<Item = (&StatedApp, &StatedService)> {
    stated.apps.iter().flat_map(|app| app.services.iter().map(move |service| (app, service)))
}

/// The clusters whose lists name a record, and whether the list of a logical cloud does.
fn lists_of<'s>(stated: &'s Stated, record: &StatedRecord, cloud: &str) -> (bool, BTreeSet<&'s str>) {
    let naming = |list: &&StatedList| list.records.contains(&record.name);
    let of_cloud = stated.lists.iter().filter(naming).any(|list| !list.is_cluster && list.of == cloud);
    let clusters = stated.lists.iter().filter(naming).filter(|list| list.is_cluster).map(|list| list.of).collect();
    (of_cloud, clusters)
}

/// Whether a record is to publish a service.
fn is_used(stated: &Stated, record: &StatedRecord, app: &StatedApp, service: &StatedService) -> bool {
    let (of_cloud, clusters) = lists_of(stated, record, app.cloud);
    of_cloud || service.addresses.iter().any(|address| clusters.contains(address.cluster))
}

/// What a service asks of a record; `None` where the record is not to publish it.
fn wish(stated: &Stated, record: &StatedRecord, app: &StatedApp, service: &StatedService) -> Option<Wish> {
    let (of_cloud, clusters) = lists_of(stated, record, app.cloud);
    let of_cluster = service.addresses.iter().any(|address| clusters.contains(address.cluster));
    let is_wanted = match (of_cloud, of_cluster) {
        (false, false) => return None,
        (true, true) => return Some(Wish::Blocked),
        (true, false) => |address: &StatedAddress, _: &BTreeSet<&str>| address.is_public,
        (false, true) => |address: &StatedAddress, clusters: &BTreeSet<&str>| {
            !address.is_public && clusters.contains(address.cluster)
        },
    };
    let wanted = service.addresses.iter().filter(|address| is_wanted(address, &clusters));
    let ips: BTreeSet<&String> = wanted.flat_map(|address| &address.ips).collect();
    if ips.is_empty() {
        return Some(Wish::Blocked);
    }
    let mut values: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for ip in ips {
        values.entry(TYPES[usize::from(ip.contains(':'))]).or_default().insert(ip.clone());
    }
    Some(Wish::Values(values, service.ttl, manifest(app, service, record)))
}

/// The namespace and the name of the manifest that would say what a service asks of a record.
fn manifest(app: &StatedApp, service: &StatedService, record: &StatedRecord) -> String {
    let whole = format!("{}-{}", service.name, record.name);
    let name = if whole.len() > 63 {
        let digest: String = Sha256::digest(&whole).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{digest}", &whole[..54])
    } else {
        whole
    };
    format!("{}/{name}", app.namespace)
}
