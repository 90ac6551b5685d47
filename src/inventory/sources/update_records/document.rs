//! One document: `{metadata: {name, …}, spec: {provider, external-dns-parameters: {…}}}`.

use super::draft::{FoundAt, RecordDraft};
use super::{entries, judge};
use crate::diag::{Diagnostics, did_you_mean};
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, SourceText};
use crate::inventory::update_record::{RecordNotes, RecordProvider, UpdateRecord};

/// The most characters of a name: a label of DNS (RFC 1035 section 2.3.4), and a value of a label in Kubernetes.
const MAX_NAME: usize = 63;

/// The keys of a document.
const KEYS: [&str; 2] = ["metadata", "spec"];

/// The keys of `metadata`; the last two are another spelling that the design of the format has, too.
const METADATA_KEYS: [&str; 6] = ["name", "description", "userdata1", "userdata2", "userData1", "userData2"];

/// The keys of `spec`.
const SPEC_KEYS: [&str; 2] = ["provider", PARAMETERS_KEY];

/// The key of the parameters.
const PARAMETERS_KEY: &str = "external-dns-parameters";

/// A document, read.
pub struct UpdateRecordDocument {
    /// The record; none where it has no name.
    pub record: Option<UpdateRecord>,
    /// All that was found.
    pub diagnostics: Diagnostics,
}

/// Whether a text can be the name of a record: a label of lower-case letters, digits and hyphens (RFC 1123 section 2.1).
pub fn is_record_name(text: &str) -> bool {
    let is_plain = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-';
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.bytes().all(is_plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Reads a document.
pub fn read(root: &SettingsNode, source: &SourceText) -> UpdateRecordDocument {
    let mut draft = RecordDraft::new(source);
    let nothing = RecordMetadata { text: None, at: root.into(), notes: RecordNotes::default() };
    let mut name = nothing;
    let mut provider = None;
    if let Some(top) = table(&mut draft, root, "a document with `metadata` and `spec`", &KEYS) {
        match value(top, "metadata") {
            Some(node) => name = read_metadata(&mut draft, node),
            None => missing(&mut draft, root, "metadata", "write `metadata: {name: NAME}`"),
        }
        match value(top, "spec") {
            Some(node) => provider = read_spec(&mut draft, node),
            None => missing(&mut draft, root, "spec", "write `spec: {provider: PROVIDER}`"),
        }
    }
    let RecordDraft { settings, without_effect, problems, diagnostics, .. } = draft;
    let RecordMetadata { text, at: FoundAt { origin, width }, notes } = name;
    let record = text.map(|name| UpdateRecord {
        name,
        origin,
        width,
        notes,
        provider,
        settings,
        without_effect,
        problems,
        terms: None,
        pool: None,
        place: None,
    });
    UpdateRecordDocument { record, diagnostics }
}

/// What `metadata` says.
struct RecordMetadata {
    /// The name; none where there is none that can be used.
    text: Option<String>,
    /// Where it is.
    at: FoundAt,
    /// The rest.
    notes: RecordNotes,
}

/// The entries of a mapping; keys that it does not have, and those that are there twice, are noted.
fn table<'n>(
    draft: &mut RecordDraft<'_>,
    node: &'n SettingsNode,
    what: &str,
    known: &[&str],
) -> Option<&'n [(SettingsKey, SettingsNode)]> {
    let SettingsValue::Table(entries) = &node.value else {
        draft.refuse("wrong-type", node, format!("this is not {what}"), format!("write {what}"));
        return None;
    };
    for (place, (key, _)) in entries.iter().enumerate() {
        if key.name == entries::ONE_OF {
            entries::refuse_one_of(draft, key);
        } else if !known.contains(&key.name.as_str()) {
            let hint = did_you_mean(&key.name, known.iter().copied());
            let hint = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
            draft.refuse("unknown-key", key, format!("there is no key `{}` here", key.name), hint);
        } else if entries[..place].iter().any(|(other, _)| other.name == key.name) {
            draft.refuse("duplicate-key", key, format!("the key `{}` is there twice", key.name), "keep one of them");
        }
    }
    Some(entries)
}

/// The value of a key.
fn value<'n>(entries: &'n [(SettingsKey, SettingsNode)], name: &str) -> Option<&'n SettingsNode> {
    entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
}

/// Notes a key that must be there.
fn missing(draft: &mut RecordDraft<'_>, node: &SettingsNode, key: &str, hint: &str) {
    draft.refuse("missing-key", node, format!("the key `{key}` is missing"), hint);
}

/// Reads `metadata`.
fn read_metadata(draft: &mut RecordDraft<'_>, node: &SettingsNode) -> RecordMetadata {
    let mut read = RecordMetadata { text: None, at: node.into(), notes: RecordNotes::default() };
    let Some(entries) = table(draft, node, "a mapping with `name`", &METADATA_KEYS) else { return read };
    let mut note = |names: &[&str]| {
        let node = names.iter().find_map(|name| value(entries, name)).filter(|node| !node.is_null())?;
        if node.as_text().is_none() {
            draft.refuse("wrong-type", node, format!("`{}` is not a text", names[0]), "write a text, or remove it");
        }
        node.as_text().map(str::to_owned)
    };
    read.notes = RecordNotes {
        description: note(&["description"]),
        userdata1: note(&["userdata1", "userData1"]),
        userdata2: note(&["userdata2", "userData2"]),
    };
    let hint = "a name has 1 to 63 lower-case letters, digits and hyphens, and begins and ends with none of the last";
    let Some(node) = value(entries, "name") else {
        missing(draft, node, "name", hint);
        return read;
    };
    read.at = node.into();
    match node.as_text().filter(|text| is_record_name(text) && !node.is_null()) {
        Some(text) => read.text = Some(text.to_owned()),
        None => draft.refuse("bad-value", node, "this cannot be the name of a record", hint),
    }
    read
}

/// Reads `spec`; gives its provider.
fn read_spec(draft: &mut RecordDraft<'_>, node: &SettingsNode) -> Option<RecordProvider> {
    let entries = table(draft, node, "a mapping with `provider` and `external-dns-parameters`", &SPEC_KEYS)?;
    let Some(named) = value(entries, "provider") else {
        missing(draft, node, "provider", "write `provider: rfc2136`, or another one");
        return None;
    };
    let text = named.as_text().unwrap_or_default();
    let Some(provider) = RecordProvider::of_word(text) else {
        let words: Vec<&str> = RecordProvider::all_words().collect();
        let hint = did_you_mean(text, words.iter().copied());
        let hint = hint.unwrap_or_else(|| format!("the providers are `{}`", words.join("`, `")));
        draft.refuse("bad-value", named, "this is not a provider of records", hint);
        return None;
    };
    match value(entries, PARAMETERS_KEY) {
        Some(SettingsNode { value: SettingsValue::Table(parameters), .. }) => {
            entries::read(draft, provider, parameters);
        }
        Some(node) if node.is_null() => {}
        Some(node) => {
            let hint = "write each parameter as a key with its value, such as `policy: sync`";
            draft.refuse("wrong-type", node, "`external-dns-parameters` is not a mapping", hint);
        }
        None => {}
    }
    judge::judge(draft, provider, named.into());
    Some(provider)
}
