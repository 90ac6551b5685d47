//! Which zone of an account is meant, where several have one name: a setting that says their ids. Pure.

use std::collections::BTreeMap;

use crate::dns::Name;
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue, TableReader};

/// A setting that gives ids to zones.
pub struct ZoneIdSetting {
    /// Its key.
    pub key: &'static str,
    /// What an id is of, as a part of a sentence.
    pub of: &'static str,
    /// Such an id.
    pub example: &'static str,
    /// What may be in front of an id.
    pub prefix: &'static str,
    /// Whether a text may be an id.
    pub is_id: fn(&str) -> bool,
}

impl ZoneIdSetting {
    /// Reads it: a table of zones to their ids; none where something in it is wrong.
    pub fn read(&self, reader: &mut TableReader<'_>) -> Option<BTreeMap<Name, String>> {
        let Some(node) = reader.take(self.key) else { return Some(BTreeMap::new()) };
        let SettingsValue::Table(entries) = &node.value else {
            let (key, example) = (self.key, self.example);
            let message = format!("`{key}` is a table such as `{{ \"example.net\" = \"{example}\" }}`");
            reader.error(node, "bad-value", message);
            return None;
        };
        let read = |(key, value): &(SettingsKey, SettingsNode)| self.read_id(reader, &key.name, value);
        let ids: Vec<Option<(Name, String)>> = entries.iter().map(read).collect();
        let mut names = BTreeMap::new();
        for ((_, value), (name, id)) in
            entries.iter().zip(&ids).filter_map(|(entry, read)| Some((entry, read.as_ref()?)))
        {
            if let Some(other) = names.insert(id, name) {
                reader.error(
                    value,
                    "bad-value",
                    format!("`{id}` is the id of `{other}`, too: {} has one name", self.of),
                );
            }
        }
        ids.into_iter().collect()
    }

    /// Reads the id of a zone.
    fn read_id(&self, reader: &mut TableReader<'_>, zone: &str, value: &SettingsNode) -> Option<(Name, String)> {
        let Ok(name) = Name::parse(zone) else {
            reader.error(value, "bad-value", format!("`{zone}` is not the name of a zone"));
            return None;
        };
        let id = value.as_text().unwrap_or_default().trim_start_matches(self.prefix);
        if !(self.is_id)(id) {
            let (of, example) = (self.of, self.example);
            reader.error(value, "bad-value", format!("`{id}` is not the id of {of}, such as `{example}`"));
            return None;
        }
        Some((name, id.to_owned()))
    }
}
