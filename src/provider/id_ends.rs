//! Which zones of an account are meant, by the ends of their ids: a setting. Pure.
//!
//! Source: `--zone-id-filter` of external-dns compares the ends of ids, too.

use crate::inventory::node::{SettingsNode, TableReader};

/// The key of the setting.
pub const KEY: &str = "zone_id_filter";

/// The ends of the ids of the zones that are meant; all are where there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdEnds(Vec<String>);

impl IdEnds {
    /// Reads the setting; none where it is wrong.
    pub fn read(reader: &mut TableReader<'_>) -> Option<IdEnds> {
        let Some(node) = reader.take(KEY) else { return Some(IdEnds::default()) };
        let texts = node.as_list().unwrap_or_default().iter().map(SettingsNode::as_text);
        let ends: Option<Vec<String>> =
            texts.map(|text| text.filter(|text| !text.is_empty()).map(str::to_owned)).collect();
        let ends = ends.filter(|ends| !ends.is_empty());
        if ends.is_none() {
            reader.error(
                node,
                "bad-value",
                format!("`{KEY}` is a list of the ends of ids, such as `[\"Z0123456789\"]`"),
            );
        }
        ends.map(IdEnds)
    }

    /// Whether a zone with this id is meant; upper and lower case are alike.
    pub fn show(&self, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        self.0.is_empty() || self.0.iter().any(|end| id.ends_with(&end.to_ascii_lowercase()))
    }
}

/// The setting as one text, which two targets have alike where they mean the same.
pub fn said(settings: &SettingsNode) -> String {
    let items = settings.get(KEY).and_then(SettingsNode::as_list).unwrap_or_default();
    items.iter().filter_map(SettingsNode::as_text).collect::<Vec<&str>>().join(",").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_from_their_ends() {
        let ends = IdEnds(vec!["Z1".to_owned(), "/dnszones/example.net".to_owned()]);
        assert!(ends.show("XZ1") && ends.show("/subscriptions/x/dnsZones/example.net"));
        assert!(!ends.show("Z12") && !ends.show(""));
        assert!(IdEnds::default().show("any"));
    }
}
