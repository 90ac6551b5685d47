//! `[dns_update_record.NAME]` of zonewright.toml: what only the administrator may say about a DNS update record.

use std::collections::BTreeMap;

use super::marking;
use crate::dns::{Name, ZoneName};
use crate::inventory::kubernetes::is_namespace;
use crate::inventory::model::ProjectAdmin;
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, TableReader};
use crate::inventory::update_record::{RecordRunner, RecordZone, UpdateRecordTerms};

/// The keys of targets that a table may have, in the place of what the record says or in addition to it. Only the provider
/// of the record knows which of them are its own.
const TARGET_KEYS: &[&str] = &[
    "authority",
    "ca_file",
    "cache",
    "cache_max_age",
    "cert_file",
    "client_id",
    "client_secret",
    "cloud",
    "credentials",
    "endpoint",
    "endpoints",
    "federated_token_file",
    "instance_metadata",
    "key_file",
    "managed_identity",
    "max_growth",
    "max_records",
    "max_size",
    "max_time",
    "namespace_ids",
    "password",
    "prefix",
    "profile",
    "publication_timeout",
    "read",
    "region",
    "exclusive",
    "requests_per_second",
    "server",
    "software",
    "tenant_id",
    "timeout",
    "tsig_key",
    "user",
    "window",
    "writes_per_minute",
    "zone_id_filter",
    "zone_ids",
    // These the record may say, too.
    "assume_role",
    "batch_records",
    "config_file",
    "external_id",
    "namespace_type",
    "resource_group",
    "subscription_id",
    "zone_tags",
    "zone_type",
];

/// The namespace of Deployments where nothing says: that of external-dns' own examples.
const NAMESPACE: &str = "external-dns";

/// Reads `[dns_update_record.NAME]`, in the order of the file; `admins` are the projects.
pub fn read(reader: &mut TableReader<'_>, admins: &BTreeMap<String, ProjectAdmin>) -> Vec<UpdateRecordTerms> {
    let Some(node) = reader.take("dns_update_record") else { return Vec::new() };
    let mut table = TableReader::new(node, reader.source());
    let mut all = Vec::new();
    for (key, node) in table.take_all() {
        let mut record = TableReader::new(node, table.source());
        let read = read_one((key, node), &mut record, admins);
        table.append(record.finish());
        all.extend(read);
    }
    reader.append(table.finish());
    all
}

/// Reads one table.
fn read_one<'a>(
    (key, node): (&SettingsKey, &'a SettingsNode),
    record: &mut TableReader<'a>,
    admins: &BTreeMap<String, ProjectAdmin>,
) -> Option<UpdateRecordTerms> {
    let ids: Vec<(&str, &str)> = admins.keys().map(|id| (id.as_str(), id.as_str())).collect();
    let project = record.require("project").and_then(|node| record.choice_of(node, &ids)).map(str::to_owned);
    let runners = [("zonewright", RecordRunner::Zonewright), ("external-dns", RecordRunner::ExternalDns)];
    let by = record.choice("by", &runners).unwrap_or(RecordRunner::Zonewright);
    let namespace = match record.take("namespace") {
        None => Some(NAMESPACE.to_owned()),
        Some(node) => read_namespace(node, record),
    };
    let zones = record.take("zones").map(|node| read_zones(node, record)).unwrap_or_default();
    let txt_key = marking::read_key(record);
    let entries = TARGET_KEYS.iter().filter_map(|key| record.take_entry(key));
    let value = SettingsValue::Table(entries.map(|(key, node)| (key.clone(), node.clone())).collect());
    Some(UpdateRecordTerms {
        name: key.name.clone(),
        project: project?,
        by,
        namespace: namespace?,
        zones,
        target: SettingsNode { origin: node.origin, width: node.width, value },
        txt_key,
        origin: key.origin,
        width: key.width,
    })
}

/// Reads a namespace of Kubernetes.
fn read_namespace<'a>(node: &'a SettingsNode, record: &mut TableReader<'a>) -> Option<String> {
    let text = record.text_of(node)?;
    let is_right = is_namespace(text);
    if !is_right {
        let message = format!("`{text}` cannot be a namespace of Kubernetes");
        let error = record.source().error("bad-value", node.origin, node.width, message);
        record.push(error.hint("use 1 to 63 lower-case letters, digits and hyphens"));
    }
    is_right.then(|| text.to_owned())
}

/// Reads `zones`.
fn read_zones<'a>(node: &'a SettingsNode, record: &mut TableReader<'a>) -> Vec<RecordZone> {
    let mut zones: Vec<RecordZone> = Vec::new();
    for item in record.list_of(node).unwrap_or_default() {
        let Some(text) = record.text_of(item) else { continue };
        match Name::parse(text) {
            Ok(name) if name != Name::root() => {
                let zone = RecordZone { name: ZoneName::new(name), origin: item.origin, width: item.width };
                if zones.iter().any(|other| other.name == zone.name) {
                    record.error(item, "duplicate-zone", format!("the zone `{}` is listed twice", zone.name));
                }
                zones.push(zone);
            }
            Ok(_) => record.error(item, "bad-name", "a record does not publish into the root zone"),
            Err(error) => record.error(item, "bad-name", format!("`{text}` is not a zone: {error}")),
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_schema_has_the_keys_of_a_table_and_no_other() {
        let schema = include_str!("../../../schemas/config.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let there = schema.pointer("/$defs/dns_update_record/properties").unwrap().as_object().unwrap();
        let own = ["project", "by", "namespace", "zones", "txt_encrypt_aes_key"];
        let read: BTreeSet<&str> = TARGET_KEYS.iter().copied().chain(own).collect();
        assert_eq!(there.keys().map(String::as_str).collect::<BTreeSet<_>>(), read);
    }
}
