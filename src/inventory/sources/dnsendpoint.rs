//! Manifests of the kind DNSEndpoint, as external-dns reads them: YAML or JSON, several documents a file, lists of them.
//!
//! Source: external-dns v0.22, config/crd/standard, source/crd.go and endpoint/endpoint.go.

use rayon::prelude::*;

use super::stated::names::read_owner;
use super::stated::rdata::{self, FinalDots};
use super::stated::{
    BAD_MANIFEST, NodeFault, ReadEntry, StatedPiece, StatedText, first_unknown, join, meanings, records_of, rtype_of,
    text_of, ttl_of, twice,
};
use super::{ExportFormat, RowContext, SourceFile, SourceInput, SourcePart};
use crate::diag::{Diagnostic, Origin};
use crate::dns::presentation::parse_rtype;
use crate::dns::{Rdata, Rtype, Ttl};
use crate::inventory::kubernetes::{is_label_value, is_namespace, is_object_name};
use crate::inventory::node::{SettingsNode, SettingsValue};
use crate::inventory::source::{MANIFESTS, Occurrence, RecordsSpec, SourceKeys};
use crate::inventory::stated::{EntryContent, StatedBy, StatedRrset};
use crate::inventory::yaml::{self, YamlDocument, YamlDocuments};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "records",
    word: MANIFESTS,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Stated,
    gives_names: false,
    read,
    meanings,
};

/// The kind of the manifests.
const KIND: &str = "DNSEndpoint";

/// The group of the manifests.
const GROUP: &str = "externaldns.k8s.io/";

/// The only version of the group.
const VERSION: &str = "externaldns.k8s.io/v1alpha1";

/// The types that count where nothing is said: those that external-dns manages then.
const DEFAULT_TYPES: [Rtype; 3] = [Rtype::A, Rtype::AAAA, Rtype::CNAME];

/// The keys of an endpoint.
const KEYS: [&str; 7] =
    ["dnsName", "labels", "providerSpecific", "recordTTL", "recordType", "setIdentifier", "targets"];

/// The keys of a manifest.
const MANIFEST_KEYS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

/// The keys of its `metadata`. Source: Kubernetes API, ObjectMeta.
const METADATA_KEYS: [&str; 16] = [
    "annotations",
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The keys of its `spec`.
const SPEC_KEYS: [&str; 1] = ["endpoints"];

/// What of `providerSpecific` asks for routing, which no RRset can say.
const ROUTING: [&str; 7] = [
    "aws/weight",
    "aws/region",
    "aws/failover",
    "aws/geolocation-continent-code",
    "aws/geolocation-country-code",
    "aws/geolocation-subdivision-code",
    "aws/multi-value-answer",
];

/// Reads a source of manifests.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let records = records_of(input);
    let pieces = input.files.par_iter().map(|file| read_file(file, records)).collect();
    join(input, context, pieces, &DEFAULT_TYPES)
}

/// Reads one file.
fn read_file(file: &SourceFile<'_>, records: &RecordsSpec) -> StatedPiece {
    let mut piece = StatedPiece::default();
    let Some(text) = piece.text_of(file) else { return piece };
    let YamlDocuments { documents, broken } = yaml::parse_documents(&text.source);
    let mut reader = ManifestReader { text: &text, records, piece };
    for YamlDocument { root, faults } in &documents {
        // What is refused in a document of another kind does not matter.
        if faults.is_empty() || !reader.holds_manifest(root) {
            reader.read_document(root);
        } else {
            let first = faults.iter().next().expect("there are faults").clone();
            reader.piece.refuse(first);
        }
    }
    match broken {
        Some(broken) => reader.piece.refuse(broken),
        None if documents.iter().all(|document| document.root.is_null()) => {
            let diagnostic = Diagnostic::file_error(BAD_MANIFEST, file.id, "the file has no document");
            let hint = "restore it, or remove the file; a manifest that is to state nothing has `endpoints: []`";
            reader.piece.refuse(diagnostic.hint(hint));
        }
        None => {}
    }
    reader.piece
}

/// Reads the documents of a file.
struct ManifestReader<'a> {
    /// The text.
    text: &'a StatedText,
    /// What counts.
    records: &'a RecordsSpec,
    /// What was read so far.
    piece: StatedPiece,
}

impl ManifestReader<'_> {
    /// Whether a document is a manifest of the kind, or a list that holds one; or may be, where its kind cannot be read.
    fn holds_manifest(&self, node: &SettingsNode) -> bool {
        let kind = node.get("kind").and_then(SettingsNode::as_text);
        match (kind, node.get("items").map(|items| &items.value)) {
            (Some(kind), Some(SettingsValue::List(items))) if kind.ends_with("List") => {
                items.iter().any(|item| self.holds_manifest(item))
            }
            (Some(kind), _) => kind == KIND,
            (None, _) => true,
        }
    }

    /// Reads a document: a manifest, a list of them, or something else.
    fn read_document(&mut self, node: &SettingsNode) {
        if node.is_null() {
            return;
        }
        let kind = node.get("kind").and_then(SettingsNode::as_text);
        let version = node.get("apiVersion").and_then(SettingsNode::as_text);
        // Which of two counts is not known; what other kinds have twice further down does not matter.
        let heads = ["apiVersion", "kind", "items"];
        if let Some(key) = node.own_key_twice().filter(|key| heads.contains(&key.name.as_str())) {
            return self.piece.refuse(self.text.error(BAD_MANIFEST, &twice(key)));
        }
        match (kind, version) {
            (Some(kind), Some(version)) if kind.ends_with("List") => {
                match node.get("items").map(|items| &items.value) {
                    Some(SettingsValue::List(items)) => items.iter().for_each(|item| self.read_document(item)),
                    _ if kind == "List" || version.starts_with(GROUP) => {
                        let message = "the list has no `items`".to_owned();
                        self.refuse(node, message, "write the manifests as a list in `items`".to_owned());
                    }
                    _ => self.piece.pass_over(),
                }
            }
            (Some(KIND), Some(VERSION)) => self.read_manifest(node),
            (Some(KIND), Some(version)) => {
                let message = format!("`{version}` is not the version of a DNSEndpoint");
                self.refuse(node.get("apiVersion").unwrap_or(node), message, format!("write `{VERSION}`"));
            }
            (Some(kind), Some(version)) if version.starts_with(GROUP) => {
                let message = format!("`{kind}` is not a kind of `{version}`");
                self.refuse(node.get("kind").unwrap_or(node), message, format!("write `{KIND}`"));
            }
            (Some(_), Some(_)) => self.piece.pass_over(),
            _ => {
                let message = "the document is no manifest: it has no `apiVersion` and `kind`";
                let hint = "remove it, or let `path` match manifests alone";
                self.refuse(node, message.to_owned(), hint.to_owned());
            }
        }
    }

    /// Notes a document that cannot be read.
    fn refuse(&mut self, node: &SettingsNode, message: String, hint: String) {
        let fault = NodeFault::of(node, message, hint);
        self.piece.refuse(self.text.error(BAD_MANIFEST, &fault));
    }

    /// Reads a manifest.
    fn read_manifest(&mut self, node: &SettingsNode) {
        let metadata = node.get("metadata");
        let text = |key: &str| metadata.and_then(|metadata| metadata.get(key)).filter(|node| !node.is_null());
        let tables: Vec<&SettingsNode> = ["labels", "annotations"].into_iter().filter_map(text).collect();
        let mut heads = std::iter::once(node).chain(metadata).chain(tables.iter().copied());
        let of_head = heads.find_map(SettingsNode::own_key_twice).map(twice);
        let misshapen = tables.iter().find(|node| !matches!(node.value, SettingsValue::Table(_)));
        let misshapen = misshapen.map(|node| NodeFault::of(node, "this is not a mapping", "write keys and values"));
        let unknown = metadata.and_then(|metadata| unknown_key(metadata, &METADATA_KEYS));
        if let Some(fault) = of_head.or(misshapen).or(unknown) {
            return self.piece.refuse(self.text.error(BAD_MANIFEST, &fault));
        }
        let Some(name) = text("name").and_then(SettingsNode::as_text).filter(|name| is_object_name(name)) else {
            let message = "the manifest has no valid `metadata.name`".to_owned();
            let hint = "a name is of lower-case letters, digits, hyphens and dots";
            return self.refuse(text("name").or(metadata).unwrap_or(node), message, hint.to_owned());
        };
        let namespace = match text("namespace") {
            None => "default",
            Some(node) => match node.as_text().filter(|namespace| is_namespace(namespace)) {
                Some(namespace) => namespace,
                None => {
                    let message = "`metadata.namespace` is not the name of a namespace".to_owned();
                    let hint = "a namespace is of lower-case letters, digits and hyphens";
                    return self.refuse(node, message, hint.to_owned());
                }
            },
        };
        let by = StatedBy::Manifest { namespace: namespace.into(), name: name.into() };
        let value = |table: &str, key: &str| {
            let table = metadata.and_then(|metadata| metadata.get(table));
            table.and_then(|table| table.get(key)).and_then(SettingsNode::as_text)
        };
        let RecordsSpec { namespace: only, labels, annotations, .. } = self.records;
        let is_taken = only.as_ref().is_none_or(|only| only == namespace)
            && labels.fits(|key| value("labels", key))
            && annotations.fits(|key| value("annotations", key));
        if !is_taken {
            return self.piece.leave_out(by, node.origin);
        }
        self.piece.begin(by, node.origin);
        let labels = metadata.and_then(|metadata| metadata.get("labels"));
        if let Some(label) = labels.and_then(|labels| labels.get(&self.records.record_label)) {
            match label.as_text().filter(|record| is_label_value(record)) {
                Some(record) => self.piece.label(record, label.origin),
                None => {
                    self.piece.cut_short();
                    let message = format!("the label `{}` is not the name of a record", self.records.record_label);
                    return self.refuse(label, message, "name a DNS update record, or remove the label".to_owned());
                }
            }
        }
        self.read_spec(node);
    }

    /// Reads what the manifest states that was begun last.
    fn read_spec(&mut self, node: &SettingsNode) {
        let spec = node.get("spec");
        let unknown = unknown_key(node, &MANIFEST_KEYS).or_else(|| unknown_key(spec.unwrap_or(node), &SPEC_KEYS));
        let spec_twice = spec.and_then(SettingsNode::own_key_twice).map(twice);
        if let Some(fault) = unknown.filter(|_| spec.is_some()).or(spec_twice) {
            self.piece.cut_short();
            return self.piece.refuse(self.text.error(BAD_MANIFEST, &fault));
        }
        match spec.and_then(|spec| spec.get("endpoints")) {
            Some(SettingsNode { value: SettingsValue::List(items), .. }) => {
                items.iter().for_each(|item| self.read_endpoint(item));
            }
            // A manifest that states nothing says so with an empty list: it may also be one that was cut.
            found => {
                self.piece.cut_short();
                let message = "the manifest has no list `spec.endpoints`".to_owned();
                let hint = "write `endpoints: []` where it is to state nothing".to_owned();
                self.refuse(found.or(spec).unwrap_or(node), message, hint);
            }
        }
    }

    /// Reads an endpoint, unless its type does not count.
    fn read_endpoint(&mut self, node: &SettingsNode) {
        let types = self.records.record_types.as_deref().unwrap_or(&DEFAULT_TYPES);
        // What is of no type that counts is not read any further. A word that is no type is: in `AAA` for `A` the name
        // would lose its records.
        let named = node.get("recordType").and_then(SettingsNode::as_text);
        let is_other = |text: &str| parse_rtype(text.as_bytes()).is_some_and(|rtype| !types.contains(&rtype));
        if let Some(other) = named.filter(|text| is_other(text) && node.key_twice().is_none()) {
            if self.records.record_types.is_none() {
                self.piece.leave_out_type(other, node.origin);
            }
            return;
        }
        let rtype = match node.get("recordType") {
            Some(node) => rtype_of(node),
            None => Err(NodeFault::of(node, "`recordType` is missing", "write the type of the records, such as `A`")),
        };
        let mut faults: Vec<NodeFault> = node.key_twice().map(twice).into_iter().collect();
        let owner = match node.get("dnsName") {
            Some(node) => text_of(node, "a name").and_then(|text| read_owner(node, text)),
            None => Err(NodeFault::of(node, "`dnsName` is missing", "write the name of the records")),
        };
        let owner = owner.map_err(|fault| faults.push(fault)).ok();
        faults.extend(unknown_keys(node));
        let read = rtype.map_err(|fault| faults.push(fault)).ok().and_then(|rtype| {
            let ttl = read_ttl(node.get("recordTTL")).map_err(|fault| faults.push(fault)).ok()?;
            let values = read_targets(node, rtype, &mut faults);
            Some(StatedRrset { rtype, ttl, values })
        });
        faults.extend(misshapen(node));
        let read = match read.filter(|_| faults.is_empty()) {
            Some(rrset) => judged(node, rrset),
            None => ReadEntry::Bad(faults),
        };
        let origin: Origin = node.origin;
        self.piece.add(self.text, owner, origin, read);
    }
}

/// The keys that no endpoint has.
fn unknown_keys(node: &SettingsNode) -> Vec<NodeFault> {
    match &node.value {
        SettingsValue::Table(_) => unknown_key(node, &KEYS).into_iter().collect(),
        _ => vec![NodeFault::of(node, "the endpoint is not a mapping", "write `dnsName`, `recordType` and `targets`")],
    }
}

/// The fault of a key that is none of these.
fn unknown_key(node: &SettingsNode, known: &[&str]) -> Option<NodeFault> {
    first_unknown(node, known, |name| format!("there is no key `{name}` here"))
}

/// What is wrong with how `setIdentifier` and `providerSpecific` are written: they may ask for what no plain record has.
fn misshapen(node: &SettingsNode) -> Option<NodeFault> {
    let set = node.get("setIdentifier").filter(|set| set.as_text().is_none());
    if let Some(set) = set {
        return Some(NodeFault::of(set, "`setIdentifier` is not a text", "write a text, or remove it"));
    }
    let specific = node.get("providerSpecific").filter(|specific| !specific.is_null())?;
    let hint = "write a list of `name` and `value`";
    let SettingsValue::List(items) = &specific.value else {
        return Some(NodeFault::of(specific, "`providerSpecific` is not a list", hint));
    };
    let is_right = |item: &&SettingsNode| {
        ["name", "value"].iter().all(|key| item.get(key).is_some_and(|node| node.as_text().is_some()))
    };
    let wrong = items.iter().find(|item| !is_right(item))?;
    Some(NodeFault::of(wrong, "an item of `providerSpecific` has no `name` and `value`", hint))
}

/// Reads `recordTTL`; 0 says none, as to external-dns.
fn read_ttl(node: Option<&SettingsNode>) -> Result<Option<(Ttl, Origin)>, NodeFault> {
    let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(None) };
    let ttl = ttl_of(node)?;
    Ok((ttl.as_secs() > 0).then_some((ttl, node.origin)))
}

/// Reads `targets` to values: sorted, each once.
fn read_targets(node: &SettingsNode, rtype: Rtype, faults: &mut Vec<NodeFault>) -> Vec<Rdata> {
    let items = match node.get("targets").map(|targets| &targets.value) {
        Some(SettingsValue::List(items)) if !items.is_empty() => items,
        found => {
            let at = node.get("targets").unwrap_or(node);
            let is_scalar = matches!(found, Some(SettingsValue::Text(_) | SettingsValue::Plain(_))) && !at.is_null();
            let (message, hint) = if is_scalar {
                ("`targets` is a text, and not a list", "write it as a list, such as `[192.0.2.1]`")
            } else {
                ("the endpoint has no `targets`", "write one value at least, as a list")
            };
            faults.push(NodeFault::of(at, message, hint));
            return Vec::new();
        }
    };
    let read = |item: &SettingsNode| text_of(item, "a value").and_then(|text| read_target(item, rtype, text));
    let mut values = Vec::new();
    for item in items {
        match read(item) {
            Ok(value) => values.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    values.sort_unstable();
    values.dedup();
    if values.len() > 1 && matches!(rtype, Rtype::CNAME | Rtype::DNAME) {
        let hint = "keep one of them";
        faults.push(NodeFault::of(&items[1], format!("a {rtype} has one target, and this is another"), hint));
    }
    values
}

/// Reads one target, with final dots as external-dns needs them.
fn read_target(node: &SettingsNode, rtype: Rtype, text: &str) -> Result<Rdata, NodeFault> {
    match rtype {
        Rtype::TXT => match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(_) => rdata::read(node, rtype, text, FinalDots::Any),
            None => rdata::long_text(node, text.as_bytes()),
        },
        Rtype::NS | Rtype::PTR => rdata::read(node, rtype, text, FinalDots::None),
        Rtype::SRV | Rtype::NAPTR => rdata::read(node, rtype, text, FinalDots::All),
        _ => rdata::read(node, rtype, text, FinalDots::Any),
    }
}

/// Decides whether an endpoint that is right can be had: not one with a set identifier, an alias or routing.
fn judged(node: &SettingsNode, rrset: StatedRrset) -> ReadEntry {
    let unsupported = |what: String| ReadEntry::Good { content: EntryContent::Unsupported(what), unused: Vec::new() };
    let set = node.get("setIdentifier").and_then(SettingsNode::as_text).filter(|set| !set.is_empty() && *set != "~");
    if let Some(set) = set {
        return unsupported(format!("`setIdentifier: {set}` asks for one of several sets of records at one name"));
    }
    let mut unused = Vec::new();
    let specific = match node.get("providerSpecific").map(|specific| &specific.value) {
        Some(SettingsValue::List(items)) => &items[..],
        _ => &[],
    };
    for item in specific {
        let text = |key: &str| item.get(key).and_then(SettingsNode::as_text).unwrap_or_default();
        match (text("name"), text("value")) {
            ("alias", "true") => {
                return unsupported("`alias` asks for a record that only some providers have".to_owned());
            }
            (name, _) if ROUTING.contains(&name) => {
                return unsupported(format!("`{name}` asks for routing, which no plain record has"));
            }
            (name, value) => unused.push(format!("{name}={value}")),
        }
    }
    ReadEntry::Good { content: EntryContent::Rrset(rrset), unused }
}
