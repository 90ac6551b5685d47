//! Apps with their services: YAML or JSON, one app or several a file.
//!
//! An app, or a service, that is wrong is kept as far as it can be read: it blocks its own endpoints, and no others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::addresses_csv::{BAD_ADDRESS, parse_address};
use super::documents::{self, DocumentFile, DocumentPiece, DocumentSource, push_fault, word};
use super::meaning::{ExportRows, RowMeaning};
use super::stated::names::read_owner;
use super::stated::{NodeFault, ttl_of};
use super::{Draft, ExportFormat, RowContext, SourceFile, SourceInput, SourcePart};
use crate::diag::{Diagnostic, Diagnostics, Origin};
use crate::dns::{Name, Ttl};
use crate::inventory::apps::{AddressScope, App, AppFileFault, AppService, ServicePlace};
use crate::inventory::kubernetes::{is_namespace, is_object_name};
use crate::inventory::model::Trust;
use crate::inventory::node::{SettingsNode, SettingsValue, TableReader};
use crate::inventory::source::{APPS, OWN, Occurrence, SourceKeys};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: APPS,
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// The rule that a fault breaks.
const RULE: &str = "an app or a service that is wrong blocks its own endpoints, and no others";

/// What is read of one file: an app is a row, and so is each of its services.
struct AppReader(DocumentPiece<App>);

/// Reads a source of apps.
fn read(input: &SourceInput<'_>, _: &RowContext<'_>) -> SourcePart {
    let DocumentSource { items, mut unread, tally } = documents::read_all(input, read_file);
    let fold = move |draft: &mut Draft, trust: Trust| {
        draft.apps.apps = items;
        draft.apps.apps_trust = trust;
        draft.apps.unread.append(&mut unread);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Reads one file.
fn read_file(file: &SourceFile<'_>) -> DocumentPiece<App> {
    let mut documents = DocumentFile::read(file);
    let mut reader = AppReader(DocumentPiece::begin(&mut documents, RULE));
    documents.tables().for_each(|table| reader.read_app(table));
    reader.0
}

impl AppReader {
    /// Reads an app.
    fn read_app(&mut self, mut table: TableReader<'_>) {
        let origin = table.node().origin;
        let name = word(&mut table, "app");
        let bundle = word(&mut table, "bundle");
        let version = word(&mut table, "version");
        let profile = word(&mut table, "profile");
        let namespace = table.require("namespace").and_then(|node| namespace_name(&mut table, node));
        let cloud = word(&mut table, "logical_cloud");
        let listed = table.require_or("services", ", or `services: []` if the app publishes nothing");
        let listed = listed.and_then(|node| table.list_of(node));
        let source = table.source();
        let read = |node| ServiceReader::new(TableReader::new(node, source)).read();
        let services: Vec<ServiceRead> = listed.unwrap_or_default().iter().map(read).collect();
        let fault = self.0.count(&table.finish());
        let services = self.take_services(services);
        let (Some(namespace), Some(cloud), Some(_)) = (namespace, cloud, listed) else {
            self.0.hidden += 1;
            return;
        };
        // What a faulty app lacks is not needed where nothing can be done with it.
        let text = |text: Option<&str>| text.unwrap_or_default().into();
        self.0.items.push(App {
            origin,
            name: text(name),
            bundle: text(bundle),
            version: text(version),
            profile: text(profile),
            namespace: namespace.into(),
            cloud: cloud.into(),
            services,
            fault,
        });
    }

    /// Takes the services of an app. Of two with one name both are wrong.
    fn take_services(&mut self, read: Vec<ServiceRead>) -> Vec<AppService> {
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        let mut services: Vec<AppService> = Vec::new();
        for ServiceRead { service, twin, hides, mut found } in read {
            let first = service.as_ref().and_then(|service| places.get(&service.name).copied());
            if let Some(first) = first {
                let message = twin.message.clone();
                let line = services[first].origin.line;
                found.push(twin.also(format!("the first is on line {line}")));
                let own = AppFileFault { origin: services[first].origin, message };
                if services[first].fault.is_none() {
                    self.0.count_bad();
                }
                services[first].fault.get_or_insert(own);
            }
            self.0.hidden += usize::from(hides);
            let fault = self.0.count(&found);
            services.extend(service.map(|service| {
                places.entry(Arc::clone(&service.name)).or_insert(services.len());
                AppService { fault, ..service }
            }));
        }
        services
    }
}

/// Reads the name of a namespace.
fn namespace_name<'a>(table: &mut TableReader<'a>, node: &'a SettingsNode) -> Option<&'a str> {
    let text = table.text_of(node)?;
    if !is_namespace(text) {
        let message = format!("`{text}` cannot be the name of a namespace");
        let hint = "use 1 to 63 lower-case letters, digits and hyphens, with a hyphen neither first nor last";
        push_fault(table, "bad-value", NodeFault::of(node, message, hint));
        return None;
    }
    Some(text)
}

/// Reads the name of a service: it becomes part of the name of an object.
fn service_name<'a>(table: &mut TableReader<'a>, node: &'a SettingsNode) -> Option<&'a str> {
    let text = table.text_of(node)?;
    if !is_object_name(text) {
        let message = format!("`{text}` cannot be the name of a service");
        let hint = "use lower-case letters, digits, hyphens and dots, with a letter or digit next to each dot";
        push_fault(table, "bad-value", NodeFault::of(node, message, hint));
        return None;
    }
    Some(text)
}

/// A service as it was read.
struct ServiceRead {
    /// The service, without its fault; none where its name cannot be read.
    service: Option<AppService>,
    /// What is said where an earlier service has its name.
    twin: Diagnostic,
    /// Whether it is not known which names it is to have.
    hides: bool,
    /// What is wrong with it.
    found: Diagnostics,
}

/// Reads a service.
struct ServiceReader<'a> {
    /// Its table.
    table: TableReader<'a>,
    /// Whether it is not known which names it is to have.
    hides: bool,
}

impl<'a> ServiceReader<'a> {
    /// Starts on a table.
    fn new(table: TableReader<'a>) -> ServiceReader<'a> {
        ServiceReader { table, hides: false }
    }

    /// Reads all of it.
    fn read(mut self) -> ServiceRead {
        let node = self.table.node();
        let named = self.table.require("name");
        let name = named.and_then(|node| service_name(&mut self.table, node));
        let hostnames = self.hostnames();
        let ttl = self.table.take("ttl").and_then(|node| self.ttl(node));
        let places = self.places();
        let at = named.unwrap_or(node);
        let message = format!("the app has two services `{}`", name.unwrap_or_default());
        let twin = self.table.source().error("bad-value", at.origin, at.width, message);
        let service =
            name.map(|name| AppService { name: name.into(), origin: node.origin, hostnames, ttl, places, fault: None });
        let hides = self.hides || service.is_none();
        ServiceRead { service, twin: twin.hint("rename one of them, or join them"), hides, found: self.table.finish() }
    }

    /// Reads `hostnames`: one at least, none twice.
    fn hostnames(&mut self) -> Vec<(Name, Origin)> {
        let Some(node) = self.table.require("hostnames") else {
            self.hides = true;
            return Vec::new();
        };
        let items = self.table.list_of(node).unwrap_or_default();
        self.hides |= !matches!(node.value, SettingsValue::List(_));
        if items.is_empty() && !self.hides {
            self.table.error(node, "bad-value", "a service needs one hostname at least");
        }
        let mut read: Vec<(Name, Origin)> = Vec::new();
        for item in items {
            let found = self.table.text_of(item).map(|text| read_owner(item, text));
            match found {
                Some(Ok(name)) if read.iter().any(|(own, _)| *own == name) => {
                    self.table.error(item, "bad-value", format!("the service has `{name}` twice"));
                }
                Some(Ok(name)) => read.push((name, item.origin)),
                Some(Err(fault)) => {
                    self.hides = true;
                    push_fault(&mut self.table, "bad-name", fault);
                }
                None => self.hides = true,
            }
        }
        read
    }

    /// Reads `ttl`; 0 says none, as in manifests.
    fn ttl(&mut self, node: &'a SettingsNode) -> Option<(Ttl, Origin)> {
        let ttl = ttl_of(node).map_err(|fault| push_fault(&mut self.table, "bad-value", fault)).ok()?;
        (ttl.as_secs() > 0).then_some((ttl, node.origin))
    }

    /// Reads `addresses`. One address is in a cluster and scope once.
    fn places(&mut self) -> Vec<ServicePlace> {
        let Some(node) = self.table.require("addresses") else { return Vec::new() };
        let items = self.table.list_of(node).unwrap_or_default();
        let mut read: Vec<ServicePlace> = Vec::new();
        for item in items {
            let mut table = TableReader::new(item, self.table.source());
            let cluster = word(&mut table, "cluster");
            let scopes = [AddressScope::Public, AddressScope::Cluster].map(|scope| (scope.as_str(), scope));
            let scope = table.require("scope").and_then(|node| table.choice_of(node, &scopes));
            let listed = table.require("ips").and_then(|node| table.list_of(node)).unwrap_or_default();
            let mut addresses: Vec<(IpAddr, Origin)> = Vec::new();
            for node in listed {
                let Some(address) = read_address(&mut table, node) else { continue };
                let is_same = |place: &&ServicePlace| Some(&*place.cluster) == cluster && Some(place.scope) == scope;
                let mut known = read.iter().filter(is_same).flat_map(|place| &place.addresses).chain(&addresses);
                if known.any(|(own, _)| *own == address) {
                    table.error(node, "bad-value", format!("the service has {address} here twice"));
                } else {
                    addresses.push((address, node.origin));
                }
            }
            self.table.append(table.finish());
            if let (Some(cluster), Some(scope)) = (cluster, scope) {
                read.push(ServicePlace { cluster: cluster.into(), scope, addresses });
            }
        }
        read
    }
}

/// Reads an address that a service can have.
fn read_address<'a>(table: &mut TableReader<'a>, node: &'a SettingsNode) -> Option<IpAddr> {
    let text = table.text_of(node)?;
    let read = parse_address(text).map_err(|why| {
        let hint = "write an address of IPv4 or IPv6, without a prefix length";
        push_fault(table, BAD_ADDRESS.code, NodeFault::of(node, format!("`{text}` {why}"), hint));
    });
    read.ok()
}

/// What the apps say: an app under its namespace and name, and each hostname of a service.
fn meanings(rows: &ExportRows<'_>) -> Vec<RowMeaning> {
    let mut meanings = Vec::new();
    for app in &rows.apps.apps {
        let App { name, bundle, version, profile, namespace, cloud, .. } = app;
        let fact = format!("{bundle}/{version}/{profile} in {cloud}");
        meanings.extend(app.fault.is_none().then(|| (format!("{namespace}/{name}"), fact)));
        for service in app.services.iter().filter(|service| service.fault.is_none()) {
            let ttl = service.ttl.map(|(ttl, _)| format!("TTL {ttl}, ")).unwrap_or_default();
            let fact = format!("{ttl}{}", shown(&service.places));
            let keys = service.hostnames.iter().map(|(host, _)| format!("{namespace}/{} {host}", service.name));
            meanings.extend(keys.map(|key| (key, fact.clone())));
        }
    }
    meanings
}

/// The addresses of a service in words, whatever their order in the file.
fn shown(places: &[ServicePlace]) -> String {
    let mut all: Vec<(&str, AddressScope, IpAddr)> = Vec::new();
    for ServicePlace { cluster, scope, addresses } in places {
        all.extend(addresses.iter().map(|(address, _)| (&**cluster, *scope, *address)));
    }
    all.sort_unstable();
    let shown = all.iter().map(|(cluster, scope, address)| format!("{address} {} in {cluster}", scope.as_str()));
    shown.collect::<Vec<_>>().join(", ")
}
