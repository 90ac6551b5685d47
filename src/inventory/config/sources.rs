//! `[sources]` of zonewright.toml: where the exports are, what they are about, and what makes them trusted.
//!
//! Comes in: the tree below `[sources]`, and the known formats. Goes out: a specification of each source. Only the
//! format knows what its own keys mean.

use std::collections::{BTreeMap, HashMap};

use super::shared::{A_DURATION, A_PERCENTAGE, A_SIZE};
use crate::diag::Origin;
use crate::dns::presentation::parse_rtype;
use crate::dns::{Rtype, is_of_signer, is_zone_data};
use crate::inventory::kubernetes::is_label_key;
use crate::inventory::model::ProjectAdmin;
use crate::inventory::near_type;
use crate::inventory::node::{SettingsNode, SettingsValue, TableReader};
use crate::inventory::pool::Pool;
use crate::inventory::selector::KeySelector;
use crate::inventory::source::{
    DNS_UPDATE_RECORDS, ExportDemands, ExportTolerance, FieldMapping, KnownFormat, MANIFESTS, MaxAge, NO_SOURCE, OWN,
    Occurrence, PROGRAM_LABELS, PathPattern, RECORD_LABEL, RecordConflicts, RecordsSpec, SourceKeys, SourceSpec,
};
use crate::inventory::value::{Duration, Size};

/// The names of the sources other than those of MACs: messages, the state and `accept` know sources by their names
/// alone.
const OTHER_SOURCES: [&str; 10] = [
    "projects",
    "hosts",
    "l3_tors",
    "net_layout",
    "ipv4_map",
    "addresses",
    "pods",
    "pod_sets",
    "names.lock",
    DNS_UPDATE_RECORDS,
];

/// Where the files of sets of pods are where nothing says.
const POD_SETS: &str = "pod-sets/*.yaml";

/// How large a file of a source may be where the settings say nothing: the rows of 5 million hosts, of 100 octets each.
const MAX_SOURCE: Size = Size::of(512 << 20);

/// What the tables of sources of records name.
#[derive(Debug, Clone, Copy)]
pub struct NamedTables<'a> {
    /// The ids of `[project.X]`.
    pub projects: &'a BTreeMap<String, ProjectAdmin>,
    /// The names of `[pool.X]`.
    pub pools: &'a [(String, Option<Pool>)],
}

/// What `[sources]` says.
#[derive(Debug, Default)]
pub struct SourceSettings {
    /// Where project files are.
    pub projects: Vec<PathPattern>,
    /// Where the files of sets of pods are.
    pub pod_sets: PodSetPaths,
    /// Where the files of DNS update records are; empty where there are none.
    pub update_records: Vec<PathPattern>,
    /// The label of manifests that names their DNS update record.
    pub record_label: String,
    /// The sources, in the order of the formats.
    pub specs: Vec<SourceSpec>,
}

/// Where the files of sets of pods are.
#[derive(Debug, Clone, Default)]
pub struct PodSetPaths {
    /// The paths.
    pub patterns: Vec<PathPattern>,
    /// Whether they need not match anything: nothing is said of them, and there are no pods.
    pub may_lack: bool,
}

/// Reads `[sources]`.
pub fn read_sources(reader: &mut TableReader<'_>, formats: &[KnownFormat], context: NamedTables<'_>) -> SourceSettings {
    let mut specs = Vec::new();
    let Some(node) = reader.require("sources") else { return SourceSettings::default() };
    let mut table = TableReader::new(node, reader.source());
    let projects = table.require("projects").map(|node| read_patterns(node, &mut table)).unwrap_or_default();
    let mut before = "";
    for format in formats {
        // The formats of one key are neighbours; the first of them is our own.
        if std::mem::replace(&mut before, format.key) == format.key {
            continue;
        }
        let of_key: Vec<KnownFormat> = formats.iter().filter(|other| other.key == format.key).copied().collect();
        match format.occurs {
            Occurrence::Required => {
                // That there is none must be said: a line that is lost must not take the records of all hosts with it.
                let none = format!(", or write `{} = \"none\"` if there are none", format.key);
                let node = table.require_or(format.key, &none).filter(|node| node.as_text() != Some(NO_SOURCE));
                specs.extend(node.map(|node| read_source(&of_key, node, &mut table)));
            }
            Occurrence::Optional => {
                specs.extend(table.take(format.key).map(|node| read_source(&of_key, node, &mut table)));
            }
            Occurrence::Listed => {
                let items = table.list(format.key).unwrap_or_default();
                let listed = items.iter().map(|item| read_mac_source(&of_key, item, &mut table));
                let listed: Vec<_> = listed.collect();
                check_names(&listed, &specs, &mut table);
                specs.extend(listed.into_iter().map(|(_, spec)| spec));
            }
            Occurrence::Stated => {
                let items = table.list(format.key).unwrap_or_default();
                let listed: Vec<_> =
                    items.iter().map(|item| read_records_source(&of_key, item, context, &mut table)).collect();
                check_names(&listed, &specs, &mut table);
                specs.extend(listed.into_iter().map(|(_, spec)| spec));
            }
            Occurrence::Fixed(file) => {
                let pattern = PathPattern { text: file.to_owned(), origin: node.origin, width: node.width };
                specs.push(SourceSpec { name: file.to_owned(), patterns: vec![pattern], ..unnamed(format.key) });
            }
        }
    }
    let record_label = read_record_label(&mut specs, &mut table);
    let pod_sets = read_pod_sets(&specs, &mut table);
    let update_records = table.take(DNS_UPDATE_RECORDS).map(|node| read_patterns(node, &mut table)).unwrap_or_default();
    reader.append(table.finish());
    SourceSettings { projects, pod_sets, update_records, record_label, specs }
}

/// Reads `record_label`, which all sources of manifests have.
fn read_record_label(specs: &mut [SourceSpec], table: &mut TableReader<'_>) -> String {
    let label = match table.take("record_label").map(|node| (node, table.text_of(node))) {
        Some((_, Some(text))) if is_label_key(text) && !PROGRAM_LABELS.contains(&text) => text,
        Some((node, Some(text))) => {
            let own = if PROGRAM_LABELS.contains(&text) { ": the Deployment of a record has it already" } else { "" };
            let message = format!("`{text}` cannot be the label that names a record{own}");
            let error = table.source().error("bad-value", node.origin, node.width, message);
            table.push(error.hint("write `NAME` or `DOMAIN/NAME`, as Kubernetes has the keys of labels"));
            RECORD_LABEL
        }
        Some((_, None)) | None => RECORD_LABEL,
    };
    specs
        .iter_mut()
        .filter_map(|spec| spec.records.as_mut())
        .for_each(|records| records.record_label = label.to_owned());
    label.to_owned()
}

/// Reads `pod_sets`, or takes the default; a default that matches nothing is wrong where there are pods.
fn read_pod_sets(specs: &[SourceSpec], table: &mut TableReader<'_>) -> PodSetPaths {
    if let Some(node) = table.take("pod_sets") {
        return PodSetPaths { patterns: read_patterns(node, table), may_lack: false };
    }
    let pods = specs.iter().find(|spec| spec.key == "pods").and_then(|spec| spec.patterns.first());
    let node = table.node();
    let (origin, width) = pods.map_or((node.origin, node.width), |pattern| (pattern.origin, pattern.width));
    let default = PathPattern { text: POD_SETS.to_owned(), origin, width };
    PodSetPaths { patterns: vec![default], may_lack: pods.is_none() }
}

/// A source of which only the key is known.
fn unnamed(key: &'static str) -> SourceSpec {
    let patterns = Vec::new();
    SourceSpec {
        key,
        word: OWN,
        name: key.to_owned(),
        patterns,
        require_end: false,
        max_size: MAX_SOURCE,
        demands: ExportDemands::of(key),
        max_age: None,
        penalty: Duration::from_secs(0),
        mapping: FieldMapping::default(),
        records: None,
    }
}

/// Reads one source: a path, a list of them, or a table with `path` and what it takes to trust it.
fn read_source(formats: &[KnownFormat], node: &SettingsNode, outer: &mut TableReader<'_>) -> SourceSpec {
    let key = formats[0].key;
    if !matches!(node.value, SettingsValue::Table(_)) {
        return SourceSpec { patterns: read_patterns(node, outer), ..unnamed(key) };
    }
    let mut table = TableReader::new(node, outer.source());
    let mut spec = read_trusted(formats, &mut table);
    if spec.has_documents() {
        refuse_end(&mut table);
    } else if let Some(node) = table.take("max_age") {
        spec.demands.max_age = read_max_age(node, &mut table);
    }
    spec.name = key.to_owned();
    outer.append(table.finish());
    spec
}

/// The word under `max_age` with which an export may have any age.
const ANY_AGE: &str = "none";

/// Reads how old an export may be; `None` where it may have any age.
fn read_max_age<'a>(node: &'a SettingsNode, table: &mut TableReader<'a>) -> Option<MaxAge> {
    if node.as_text() == Some(ANY_AGE) {
        return None;
    }
    let age = table.parse_node(node, "a duration such as `6h` or `3d`, or `none`")?;
    Some(MaxAge { age, is_default: false })
}

/// Reads one `[[sources.mac]]`; gives the node of its name too.
fn read_mac_source<'a>(
    formats: &[KnownFormat],
    node: &'a SettingsNode,
    outer: &mut TableReader<'a>,
) -> (Option<&'a SettingsNode>, SourceSpec) {
    let mut table = TableReader::new(node, outer.source());
    let mut spec = read_trusted(formats, &mut table);
    let name = table.require("name");
    if let Some(node) = name
        && let Some(text) = table.text_of(node)
    {
        if text.is_empty() {
            table.error(node, "bad-value", "a source needs a name");
        }
        spec.name = text.to_owned();
    }
    spec.max_age = table.parsed("max_age", A_DURATION);
    spec.penalty = table.parsed("penalty", A_DURATION).unwrap_or(spec.penalty);
    outer.append(table.finish());
    (name, spec)
}

/// Reads one `[[sources.records]]`; gives the node of its name too.
fn read_records_source<'a>(
    formats: &[KnownFormat],
    node: &'a SettingsNode,
    context: NamedTables<'_>,
    outer: &mut TableReader<'a>,
) -> (Option<&'a SettingsNode>, SourceSpec) {
    let mut table = TableReader::new(node, outer.source());
    // Each of the formats is another system's, so that none is the default.
    if table.node().get("format").is_none() && matches!(node.value, SettingsValue::Table(_)) {
        table.require("format");
    }
    let mut spec = read_trusted(formats, &mut table);
    refuse_end(&mut table);
    let name = table.require("name");
    if let Some(node) = name
        && let Some(text) = table.text_of(node)
    {
        // Subjects have it before a slash.
        if !super::is_id(text) || text.contains('/') {
            let message = format!("`{text}` cannot be the name of a source of records");
            let diagnostic = table.source().error("bad-value", node.origin, node.width, message);
            table.push(diagnostic.hint("use one word without blanks, slashes and control characters"));
        }
        spec.name = text.to_owned();
    }
    let project = table.require("project");
    let ids: Vec<(&str, &str)> = context.projects.keys().map(|id| (id.as_str(), id.as_str())).collect();
    let project = project.and_then(|node| table.choice_of(node, &ids)).unwrap_or_default().to_owned();
    let pools: Vec<(&str, &str)> = context.pools.iter().map(|(name, _)| (name.as_str(), name.as_str())).collect();
    let pool = table.choice("pool", &pools).map(str::to_owned);
    let takes_manifests = spec.word == MANIFESTS;
    let mut of_manifests = |key: &'static str| {
        let node = table.take(key)?;
        if !takes_manifests {
            table.error(node, "bad-value", format!("`{key}` selects manifests, and `{}` has none", spec.word));
            return None;
        }
        Some(node)
    };
    let (namespace, labels, annotations) =
        (of_manifests("namespace"), of_manifests("label_filter"), of_manifests("annotation_filter"));
    let namespace = namespace.and_then(|node| table.text_of(node)).map(str::to_owned);
    let labels = labels.map(|node| read_selector(node, &mut table)).unwrap_or_default();
    let annotations = annotations.map(|node| read_selector(node, &mut table)).unwrap_or_default();
    let record_types = table.take("record_types").map(|node| read_types(node, &mut table));
    let conflicts = [("block", RecordConflicts::Block), ("external-dns", RecordConflicts::ExternalDns)];
    let conflicts = table.choice("conflicts", &conflicts).unwrap_or(RecordConflicts::Block);
    outer.append(table.finish());
    let record_label = RECORD_LABEL.to_owned();
    spec.records =
        Some(RecordsSpec { project, pool, namespace, labels, annotations, record_types, conflicts, record_label });
    (name, spec)
}

/// Refuses `require_end` for files of documents.
fn refuse_end(table: &mut TableReader<'_>) {
    if let Some(node) = table.node().get("require_end") {
        table.error(node, "bad-value", "`require_end` is for exports of rows, and these files have none");
    }
}

/// Reads a selector of labels or annotations.
fn read_selector<'a>(node: &'a SettingsNode, table: &mut TableReader<'a>) -> KeySelector {
    let Some(text) = table.text_of(node) else { return KeySelector::default() };
    text.parse().unwrap_or_else(|error| {
        let diagnostic = table.source().error("bad-value", node.origin, node.width, format!("{error}"));
        table
            .push(diagnostic.hint("a selector is `key=value, key!=value, key, !key, key in (a, b), key notin (a, b)`"));
        KeySelector::default()
    })
}

/// Reads `record_types`.
fn read_types<'a>(node: &'a SettingsNode, table: &mut TableReader<'a>) -> Vec<Rtype> {
    let items = table.list_of(node).unwrap_or_default();
    if items.is_empty() && matches!(node.value, SettingsValue::List(_)) {
        table.error(node, "bad-value", "an empty list of types selects no record");
    }
    let mut types = Vec::new();
    for item in items {
        let Some(text) = table.text_of(item) else { continue };
        match parse_rtype(text.as_bytes()).filter(|rtype| is_zone_data(*rtype) && *rtype != Rtype::SOA) {
            Some(rtype) if is_of_signer(rtype) => {
                table.error(item, "bad-value", format!("`{text}` records are made by who signs the zone"));
            }
            Some(rtype) => types.push(rtype),
            None => {
                let message = format!("`{text}` is not a type of records that files can state");
                let diagnostic = table.source().error("bad-value", item.origin, item.width, message);
                table.push(diagnostic.hint(near_type::hint(text)));
            }
        }
    }
    types
}

/// Reads what any table of a source may hold.
fn read_trusted(formats: &[KnownFormat], table: &mut TableReader<'_>) -> SourceSpec {
    let key = formats[0].key;
    let words: Vec<(&str, KnownFormat)> = formats.iter().map(|format| (format.word, *format)).collect();
    // A key with one format has nothing to choose.
    let format = if words.len() > 1 { table.choice("format", &words) } else { None };
    let format = format.unwrap_or(formats[0]);
    let mapping = read_mapping(format.keys, table);
    let patterns = table.require("path").map(|path| read_patterns(path, table)).unwrap_or_default();
    let require_end = table.boolean("require_end").unwrap_or(false);
    let max_size = table.parsed("max_size", A_SIZE).unwrap_or(MAX_SOURCE);
    let default = ExportDemands::of(key);
    let max_shrink = table.parsed("max_shrink", A_PERCENTAGE).map(ExportTolerance::exactly).or(default.max_shrink);
    let max_churn = table.parsed("max_churn", A_PERCENTAGE).map(ExportTolerance::exactly).or(default.max_churn);
    let min_rows = table.take("min_rows").and_then(|node| {
        let rows = table.integer_of(node)?;
        if rows < 0 {
            table.error(node, "bad-value", "a number of rows is not negative");
        }
        usize::try_from(rows).ok()
    });
    let digest = table.take("digest").is_some_and(|node| read_digest(node, table));
    let demands = ExportDemands { max_age: default.max_age, max_shrink, max_churn, min_rows, digest };
    SourceSpec { word: format.word, patterns, require_end, max_size, demands, mapping, ..unnamed(key) }
}

/// The key whose field an export may do without, where that is said.
const WITHOUT: &str = "restrictions";

/// Reads the keys that only some formats have.
fn read_mapping(keys: SourceKeys, table: &mut TableReader<'_>) -> FieldMapping {
    let fields = keys.fields.iter().map(|(key, default)| {
        let Some(node) = table.take(key) else { return (*key, (*default).to_owned()) };
        let field = table.text_of(node);
        if field.is_some_and(|field| field.trim().is_empty()) && *key != WITHOUT {
            table.error(node, "bad-value", "a field needs a name");
        }
        (*key, field.unwrap_or_default().to_owned())
    });
    let fields = fields.collect();
    let only = if keys.has_only { read_only(table) } else { Vec::new() };
    let statuses = if keys.has_statuses { read_statuses(table) } else { Vec::new() };
    FieldMapping { fields, only, statuses }
}

/// Reads `only`: fields, each with the values that rows must have in it.
fn read_only(table: &mut TableReader<'_>) -> Vec<(String, Vec<String>)> {
    let Some(node) = table.take("only") else { return Vec::new() };
    let mut only = TableReader::new(node, table.source());
    let mut read = Vec::new();
    for (field, node) in only.take_all() {
        let values = match &node.value {
            SettingsValue::List(items) if items.is_empty() => {
                only.error(node, "bad-value", "an empty list of values selects no row");
                Vec::new()
            }
            SettingsValue::List(items) => {
                items.iter().filter_map(|item| only.text_of(item)).map(str::to_owned).collect()
            }
            _ => only.text_of(node).map(str::to_owned).into_iter().collect(),
        };
        read.push((field.name.clone(), values));
    }
    table.append(only.finish());
    read
}

/// Reads `statuses`: what each means.
fn read_statuses(table: &mut TableReader<'_>) -> Vec<(String, bool)> {
    let Some(node) = table.take("statuses") else { return Vec::new() };
    let mut statuses = TableReader::new(node, table.source());
    let mut read = Vec::new();
    for (status, node) in statuses.take_all() {
        let is_free = statuses.choice_of(node, &[("assigned", false), ("free", true)]);
        read.extend(is_free.map(|is_free| (status.name.clone(), is_free)));
    }
    table.append(statuses.finish());
    read
}

/// Reads `digest`: whether each file must agree with a `FILE.sha256` in the same folder.
fn read_digest(node: &SettingsNode, table: &mut TableReader<'_>) -> bool {
    match (&node.value, node.as_text()) {
        (SettingsValue::Bool(wanted), _) => *wanted,
        (_, Some("sha256" | ".sha256")) => true,
        _ => {
            table.error(node, "bad-value", "`digest` is `\"sha256\"`, `true` or `false`");
            false
        }
    }
}

/// Reports sources with the name of an earlier one; `others` are those of other keys.
fn check_names(listed: &[(Option<&SettingsNode>, SourceSpec)], others: &[SourceSpec], table: &mut TableReader<'_>) {
    let mut seen: HashMap<&str, Origin> = HashMap::new();
    for (node, spec) in listed {
        let Some(node) = node else { continue };
        if OTHER_SOURCES.contains(&spec.name.as_str()) || others.iter().any(|other| other.name == spec.name) {
            table.error(node, "bad-value", format!("another source is called `{}`", spec.name));
        } else if let Some(first) = seen.get(spec.name.as_str()) {
            let message = format!("there are two sources `{}`", spec.name);
            let diagnostic = table.source().error("duplicate-source", node.origin, node.width, message);
            table.push(diagnostic.also(format!("the first is on line {}", first.line)).hint("rename one of them"));
        } else {
            seen.insert(&spec.name, node.origin);
        }
    }
}

/// Reads a path or glob, or a list of them.
fn read_patterns(node: &SettingsNode, reader: &mut TableReader<'_>) -> Vec<PathPattern> {
    match &node.value {
        SettingsValue::List(items) if items.is_empty() => {
            reader.error(node, "bad-value", "an empty list of paths");
            Vec::new()
        }
        SettingsValue::List(items) => items.iter().filter_map(|item| read_pattern(item, reader)).collect(),
        _ => read_pattern(node, reader).into_iter().collect(),
    }
}

/// Reads a path or glob that stays inside the workspace as far as its text shows.
fn read_pattern(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<PathPattern> {
    let Some(text) = node.as_text() else {
        reader.wrong_type(node, "a path");
        return None;
    };
    let outside = text.starts_with('/') || text.split('/').any(|part| part == "..");
    if outside {
        let message = format!("`{text}` may lead out of the workspace");
        let diagnostic = reader.source().error("outside-workspace", node.origin, node.width, message);
        reader.push(
            diagnostic
                .rule("paths are relative to zonewright.toml and stay below it")
                .hint("move or copy the files into the workspace"),
        );
        return None;
    }
    if text.is_empty() || text.contains('\0') {
        reader.error(node, "bad-value", "no path");
        return None;
    }
    if let Err(error) = glob::Pattern::new(text) {
        reader.error(node, "bad-value", format!("`{text}` is not a glob: {}", error.msg));
        return None;
    }
    Some(PathPattern { text: text.to_owned(), origin: node.origin, width: node.width })
}
