//! The settings of a target in Azure DNS: who asks, for which zones, and how fast. Pure.

use std::time::Duration;

use super::service::AzureKind;
use crate::diag::{Diagnostics, Origin};
use crate::dns::Name;
use crate::inventory::node::{SettingsNode, SettingsValue, SourceText, TableReader};
use crate::provider::TargetEndpoint;
use crate::provider::entra::EntraSettings;
use crate::provider::exchange::ExchangeSettings;
use crate::provider::id_ends::{self, IdEnds};
use crate::provider::limits::{ReadLimits, parse_limits, read_count};
use crate::provider::url::{host_name, plain_url};
use crate::target::{ReadingManner, ZoneMaking};

/// The longest name of a resource group.
const MAX_GROUP: usize = 90;

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct AzureSettings {
    /// Who asks, and which cloud.
    pub login: EntraSettings,
    /// The subscription that has the zones; none where the `config_file` says it.
    pub subscription: Option<String>,
    /// The resource group that has the zones.
    pub group: Option<String>,
    /// The ends of the ids of the zones that are meant.
    pub ends: IdEnds,
    /// How many record sets of a zone are written in a minute.
    pub writes: u64,
    /// How long one request may take.
    pub timeout: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
}

/// Reads settings; `None` where something in them is wrong.
pub fn parse(kind: AzureKind, settings: &SettingsNode, source: &SourceText) -> (Option<AzureSettings>, Diagnostics) {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let login = EntraSettings::read(&mut reader);
    let what = "`subscription_id` is not the ID of a subscription";
    let subscription = read_word(&mut reader, "subscription_id", is_subscription, what);
    let group = read_word(&mut reader, "resource_group", is_group, "`resource_group` is not the name of one");
    let has_file = settings.get("config_file").is_some();
    if subscription == Some(None) && !has_file {
        reader.error(settings, "missing-key", "`subscription_id` is required: the subscription that has the zones");
    }
    let ends = IdEnds::read(&mut reader);
    let writes = read_count(&mut reader, "writes_per_minute").unwrap_or(kind.writes_per_minute());
    let limits = parse_limits(&mut reader);
    let timeout = ExchangeSettings::parse_without_read(&mut reader, ReadingManner::Whole).timeout;
    let found = reader.finish();
    let parts = login.zip(subscription).zip(group).zip(ends);
    let settings = parts.map(|(((login, subscription), group), ends)| AzureSettings {
        login,
        subscription,
        group,
        ends,
        writes,
        timeout,
        limits,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Reads a word that becomes a part of a path; none where it is wrong.
fn read_word(
    reader: &mut TableReader<'_>,
    key: &'static str,
    is_right: fn(&str) -> bool,
    why: &'static str,
) -> Option<Option<String>> {
    let Some(node) = reader.take(key) else { return Some(None) };
    let word = node.as_text().filter(|word| is_right(word));
    if word.is_none() {
        reader.error(node, "bad-value", why);
    }
    word.map(|word| Some(word.to_owned()))
}

/// Whether a text is the ID of a subscription: 32 hexadecimal digits in five groups (RFC 9562 section 4).
pub fn is_subscription(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|octet| octet.is_ascii_hexdigit()))
}

/// Whether a text may be the name of a resource group.
pub fn is_group(text: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '(' | ')');
    (1..=MAX_GROUP).contains(&text.chars().count()) && !text.ends_with('.') && text.chars().all(is_allowed)
}

/// Whether the settings name a cloud of a government or of China.
pub fn is_national(settings: &SettingsNode) -> bool {
    settings.get("cloud").and_then(SettingsNode::as_text).is_some_and(|cloud| cloud != "public")
}

/// Whether zones are made, which needs a resource group: settings name one, or a file that may.
pub fn zone_making(settings: &SettingsNode) -> ZoneMaking {
    let creates = ["resource_group", "config_file"].iter().any(|key| settings.get(key).is_some());
    let why = "a zone of Azure is made in a resource group, and `resource_group` of the target is not set";
    ZoneMaking { creates, deletes: true, never: (!creates).then_some(why) }
}

/// How many writes of a zone go in a minute, by settings that may be wrong.
pub fn writes_per_minute(kind: AzureKind, settings: &SettingsNode) -> usize {
    let said = settings.get("writes_per_minute").map(|node| &node.value);
    let count = if let Some(SettingsValue::Integer(count)) = said { usize::try_from(*count).ok() } else { None };
    count.unwrap_or(kind.writes_per_minute() as usize)
}

/// The name of the API's host, where the settings say it.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    settings.get("endpoint").and_then(host_name).into_iter().collect()
}

/// What people call the target: the service, and its endpoint where that is another one.
pub fn place(kind: AzureKind, settings: &SettingsNode) -> String {
    let said = settings.get("endpoint").and_then(SettingsNode::as_text).and_then(plain_url);
    said.map_or_else(|| kind.shown().to_owned(), |endpoint| format!("{} at {endpoint}", kind.shown()))
}

/// What distinguishes subscriptions and their groups, as far as the settings say it.
pub fn endpoints(kind: AzureKind, settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let said = |key: &str| settings.get(key).and_then(SettingsNode::as_text).unwrap_or_default().to_ascii_lowercase();
    let keys = ["cloud", "subscription_id", "config_file", "resource_group"].map(said).join(" ");
    let node = settings.get("type").unwrap_or(settings);
    vec![TargetEndpoint { identity: format!("{} {keys} {}", place(kind, settings), id_ends::said(settings)), node }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::config::toml;

    /// What is read of a table, with what is wrong.
    fn read(kind: AzureKind, text: &str) -> (Option<AzureSettings>, Vec<String>) {
        let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
        let tree = toml::parse(&source);
        let (settings, found) = parse(kind, &tree.root, &source);
        (settings, found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect())
    }

    const ID: &str = "subscription_id = \"00000000-1111-2222-3333-444455556666\"\n";

    #[test]
    fn the_pace_is_that_of_the_service_unless_it_is_said() {
        let (settings, found) = read(AzureKind::Private, ID);
        assert_eq!((settings.unwrap().writes, found), (60, vec![]));
        assert_eq!(read(AzureKind::Public, ID).0.unwrap().writes, 200);
        let (settings, found) =
            read(AzureKind::Public, &format!("{ID}resource_group = \"dns (1)\"\nwrites_per_minute = 7"));
        assert_eq!(found, ["bad-value: `resource_group` is not the name of one"]);
        assert_eq!(settings, None);
        let (settings, _) = read(AzureKind::Public, &format!("{ID}resource_group = \"dns\"\nwrites_per_minute = 7"));
        assert_eq!(settings.map(|own| (own.group, own.writes)), Some((Some("dns".into()), 7)));
    }

    #[test]
    fn the_subscription_is_said_here_or_in_the_file_of_other_tools() {
        let missing = "missing-key: `subscription_id` is required: the subscription that has the zones";
        assert_eq!(read(AzureKind::Public, ""), (None, vec![missing.to_owned()]));
        assert!(read(AzureKind::Public, "config_file = \"azure.json\"").0.is_some());
        let bad = "bad-value: `subscription_id` is not the ID of a subscription";
        assert_eq!(read(AzureKind::Public, "subscription_id = \"../x\"").1, [bad]);
        assert!(is_group("dns-group_(1).x") && !is_group("a/b") && !is_group("a.") && !is_group(""));
    }
}
