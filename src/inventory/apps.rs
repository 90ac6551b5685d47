//! Apps with their services, and the lists of the DNS update records that publish them.
//!
//! Each value keeps its place. Which endpoints follow from it does not matter here.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::trust::Trust;
use crate::diag::{FileId, Origin};
use crate::dns::{Name, Ttl};

/// What the files of apps, and those of lists, say.
#[derive(Debug, Clone)]
pub struct AppFiles {
    /// The apps, by file and place.
    pub apps: Vec<App>,
    /// Whether they may be believed.
    pub apps_trust: Trust,
    /// The lists, by file and place.
    pub lists: Vec<RecordList>,
    /// Whether they may be believed.
    pub lists_trust: Trust,
    /// Whether the files of DNS update records may be believed.
    pub records_trust: Trust,
    /// The files of which a whole part could not be read, so that it is not known which endpoints follow from it; each
    /// with how many such parts there are.
    pub unread: BTreeMap<FileId, usize>,
}

impl Default for AppFiles {
    fn default() -> AppFiles {
        AppFiles {
            apps: Vec::new(),
            apps_trust: Trust::Known,
            lists: Vec::new(),
            lists_trust: Trust::Known,
            records_trust: Trust::Known,
            unread: BTreeMap::new(),
        }
    }
}

impl AppFiles {
    /// What may not be believed of them; none where all may.
    pub fn doubted(&self) -> Option<&Trust> {
        [&self.records_trust, &self.lists_trust, &self.apps_trust].into_iter().find(|trust| trust.doubt().is_some())
    }

    /// Whether any app, service or list cannot be used.
    pub fn has_faults(&self) -> bool {
        let is_bad = |app: &App| app.fault.is_some() || app.services.iter().any(|service| service.fault.is_some());
        self.apps.iter().any(is_bad) || self.lists.iter().any(|list| list.fault.is_some())
    }
}

/// What is wrong with a part of a document: the first fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFileFault {
    /// Where it is.
    pub origin: Origin,
    /// What it is.
    pub message: String,
}

/// An app.
#[derive(Debug, Clone)]
pub struct App {
    /// Where it begins.
    pub origin: Origin,
    /// Its name.
    pub name: Arc<str>,
    /// The composite app that it is of.
    pub bundle: Arc<str>,
    /// The version of the composite app.
    pub version: Arc<str>,
    /// The profile of the composite app.
    pub profile: Arc<str>,
    /// The namespace that it runs in.
    pub namespace: Arc<str>,
    /// The logical cloud that it runs in.
    pub cloud: Arc<str>,
    /// Its services, in the file's order; empty where it publishes nothing.
    pub services: Vec<AppService>,
    /// What is wrong outside its services; then none of them can be used.
    pub fault: Option<AppFileFault>,
}

/// A service of an app.
#[derive(Debug, Clone)]
pub struct AppService {
    /// Its name; no other service of the app has it.
    pub name: Arc<str>,
    /// Where it begins.
    pub origin: Origin,
    /// The names that it is to have, in the file's order, each with its place; a name that cannot be read is not among them.
    pub hostnames: Vec<(Name, Origin)>,
    /// The TTL of its records, where one is said, and where.
    pub ttl: Option<(Ttl, Origin)>,
    /// Where it can be reached, in the file's order.
    pub places: Vec<ServicePlace>,
    /// What is wrong with it; then it cannot be used.
    pub fault: Option<AppFileFault>,
}

/// Where a service can be reached: addresses of one scope in one cluster.
#[derive(Debug, Clone)]
pub struct ServicePlace {
    /// The cluster.
    pub cluster: Arc<str>,
    /// From where the addresses can be reached.
    pub scope: AddressScope,
    /// The addresses, each with its place; may be empty.
    pub addresses: Vec<(IpAddr, Origin)>,
}

/// From where an address can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressScope {
    /// From everywhere: what lists of logical clouds publish.
    Public,
    /// From within its cluster: what lists of clusters publish.
    Cluster,
}

impl AddressScope {
    /// The word that files use.
    pub fn as_str(self) -> &'static str {
        match self {
            AddressScope::Public => "public",
            AddressScope::Cluster => "cluster",
        }
    }
}

/// For what a list says which DNS update records it uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListHolder {
    /// A logical cloud: its apps get addresses of the scope `public`.
    LogicalCloud(Arc<str>),
    /// A cluster: what runs in it gets its addresses of the scope `cluster`.
    Cluster(Arc<str>),
}

impl ListHolder {
    /// The name of the logical cloud or cluster.
    pub fn name(&self) -> &Arc<str> {
        match self {
            ListHolder::LogicalCloud(name) | ListHolder::Cluster(name) => name,
        }
    }

    /// Which addresses of a service its records get.
    pub fn scope(&self) -> AddressScope {
        match self {
            ListHolder::LogicalCloud(_) => AddressScope::Public,
            ListHolder::Cluster(_) => AddressScope::Cluster,
        }
    }
}

impl std::fmt::Display for ListHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ListHolder::LogicalCloud(name) => write!(f, "the logical cloud `{name}`"),
            ListHolder::Cluster(name) => write!(f, "the cluster `{name}`"),
        }
    }
}

/// A list of the DNS update records that a logical cloud or a cluster uses.
#[derive(Debug, Clone)]
pub struct RecordList {
    /// For what it is.
    pub holder: ListHolder,
    /// Where it begins.
    pub origin: Origin,
    /// The records, in the file's order, each with the place that names it and none twice; may be empty.
    pub records: Vec<(Arc<str>, Origin)>,
    /// What is wrong with it; then nothing is known of the other records that it names.
    pub fault: Option<AppFileFault>,
}
