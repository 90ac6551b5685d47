//! The settings of a target in Route 53: who asks, for which zones, and how fast. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use super::change::{MOST_RECORDS, RECORDS};
use crate::diag::{Diagnostics, Origin};
use crate::dns::Name;
use crate::inventory::node::{SettingsNode, SettingsValue, SourceText, TableReader};
use crate::provider::TargetEndpoint;
use crate::provider::aws::{AwsSettings, read_endpoint, read_publication};
use crate::provider::exchange::ExchangeSettings;
use crate::provider::id_ends::{self, IdEnds};
use crate::provider::limits::{ReadLimits, parse_limits, read_count};
use crate::provider::url::{host_name, plain_url};
use crate::provider::zone_ids::ZoneIdSetting;
use crate::target::ReadingManner;

/// Where the API is, for all regions but those of China.
const ENDPOINT: &str = "https://route53.amazonaws.com";

/// How many requests a second the service takes of an account, all its tools together.
const REQUESTS: u64 = 5;

/// How many characters the key of a tag has at most (the model of the API).
const TAG_KEY: usize = 128;

/// How many characters the value of a tag has at most (the model of the API).
const TAG_VALUE: usize = 256;

/// Why no private zone is made.
pub const PRIVATE_IS_NOT_MADE: &str = "a private hosted zone is made for a network, which zonewright does not know";

/// Why no zone with tags is made.
pub const TAGGED_IS_NOT_MADE: &str = "a zone that zonewright makes has no tags, so that `zone_tags` would hide it";

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Route53Settings {
    /// Who asks.
    pub login: AwsSettings,
    /// Where the API is, without a final slash.
    pub endpoint: String,
    /// Which zones of the account are meant.
    pub zones: ZoneChoice,
    /// Whether protections of record sets are read with a zone.
    pub protections: bool,
    /// How many requests go in a second.
    pub requests: u64,
    /// How many records a batch of changes may have, where that is less than the service takes.
    pub batch_records: Option<usize>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long is waited until all name servers of the service have what was written.
    pub publication: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
}

/// Which zones of an account are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZoneChoice {
    /// Private ones alone, or public ones alone.
    pub is_private: Option<bool>,
    /// The tags that they have, each with its value or with any.
    pub tags: Vec<(String, Option<String>)>,
    /// The ids of some of them, by their names.
    pub ids: BTreeMap<Name, String>,
    /// The ends of their ids.
    pub ends: IdEnds,
}

/// The ids of hosted zones.
pub const IDS: ZoneIdSetting = ZoneIdSetting {
    key: "zone_ids",
    of: "a hosted zone",
    example: "Z0123456789ABCDEFGHIJ",
    prefix: "/hostedzone/",
    is_id: |id| !id.is_empty() && id.len() <= 32 && id.bytes().all(|octet| octet.is_ascii_alphanumeric()),
};

/// Reads settings; `None` where something in them is wrong.
pub fn parse(settings: &SettingsNode, source: &SourceText) -> (Option<Route53Settings>, Diagnostics) {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let login = AwsSettings::read(&mut reader);
    let endpoint = match reader.take("endpoint") {
        None => Some(ENDPOINT.to_owned()),
        Some(node) => read_endpoint(
            &mut reader,
            node,
            &format!("leave it out for `{ENDPOINT}`; in China, `https://route53.amazonaws.com.cn`"),
        ),
    };
    let zones = read_choice(&mut reader);
    let protections = reader.boolean("protections").unwrap_or(true);
    let requests = read_count(&mut reader, "requests_per_second").unwrap_or(REQUESTS);
    let batch_records = read_batch(&mut reader);
    let publication = read_publication(&mut reader);
    let limits = parse_limits(&mut reader);
    let timeout = ExchangeSettings::parse_without_read(&mut reader, ReadingManner::Whole).timeout;
    let found = reader.finish();
    let parts = login.zip(endpoint).zip(zones).zip(publication);
    let settings = parts.map(|(((login, endpoint), zones), publication)| Route53Settings {
        login,
        endpoint,
        zones,
        protections,
        requests,
        batch_records,
        timeout,
        publication,
        limits,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Reads `batch_records`; none where it is not said or wrong.
fn read_batch(reader: &mut TableReader<'_>) -> Option<usize> {
    let (most, all) = (MOST_RECORDS, RECORDS);
    let node = reader.node().get("batch_records");
    let count = read_count(reader, "batch_records").map(|count| usize::try_from(count).unwrap_or(usize::MAX))?;
    if let Some(node) = node.filter(|_| count > most) {
        let message = format!(
            "`{count}` is more than {most}: Route 53 takes {all} records in a batch, and two are of the marker"
        );
        reader.error(node, "bad-value", message);
    }
    Some(count)
}

/// Reads `zone_type`, `zone_tags`, `zone_ids` and `zone_id_filter`; none where one of them is wrong.
fn read_choice(reader: &mut TableReader<'_>) -> Option<ZoneChoice> {
    let is_said = reader.node().get("zone_type").is_some();
    let is_private = reader.choice("zone_type", &[("public", false), ("private", true)]);
    let tags = match reader.take("zone_tags") {
        None => Some(Vec::new()),
        Some(node) => read_tags(reader, node),
    };
    let ids = IDS.read(reader);
    let ends = IdEnds::read(reader);
    let ((tags, ids), ends) = tags.zip(ids).zip(ends)?;
    (!is_said || is_private.is_some()).then_some(ZoneChoice { is_private, tags, ids, ends })
}

/// Reads `zone_tags`: a list of `KEY=VALUE` or `KEY`.
fn read_tags(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<Vec<(String, Option<String>)>> {
    let Some(items) = node.as_list() else {
        reader.error(node, "bad-value", "`zone_tags` is a list such as `[\"team=dns\", \"managed\"]`");
        return None;
    };
    let tags: Vec<Option<(String, Option<String>)>> = items.iter().map(|item| read_tag(reader, item)).collect();
    let mut values = BTreeMap::new();
    for (item, tag) in items.iter().zip(&tags) {
        let Some((key, Some(value))) = tag else { continue };
        if values.insert(key, value).is_some_and(|other| other != value) {
            reader.error(item, "bad-value", format!("no hosted zone has two values of the tag `{key}`"));
        }
    }
    tags.into_iter().collect()
}

/// Reads one tag.
fn read_tag(reader: &mut TableReader<'_>, item: &SettingsNode) -> Option<(String, Option<String>)> {
    let text = item.as_text().unwrap_or_default();
    let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value.to_owned())));
    if key.is_empty() {
        reader.error(item, "bad-value", format!("`{text}` has no key: a tag is `KEY=VALUE`, or `KEY` with any value"));
        return None;
    }
    if key.chars().count() > TAG_KEY || value.as_ref().is_some_and(|value| value.chars().count() > TAG_VALUE) {
        let message = format!("a tag of AWS has at most {TAG_KEY} characters in its key, and {TAG_VALUE} in its value");
        reader.error(item, "bad-value", message);
        return None;
    }
    Some((key.to_owned(), value))
}

/// The name of the API's host, where the settings say it.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    settings.get("endpoint").and_then(host_name).into_iter().collect()
}

/// How many requests go in a second, and how many records one batch may have, by settings that may be wrong.
pub fn pace(settings: &SettingsNode) -> (usize, Option<usize>) {
    let count = |key: &str| match settings.get(key).map(|node| &node.value) {
        Some(SettingsValue::Integer(count)) => usize::try_from(*count).ok(),
        _ => None,
    };
    (count("requests_per_second").unwrap_or(REQUESTS as usize), count("batch_records"))
}

/// Why no zone is made, by settings that may be wrong.
pub fn never_makes(settings: &SettingsNode) -> Option<&'static str> {
    let is_private = settings.get("zone_type").and_then(SettingsNode::as_text) == Some("private");
    let tags = settings.get("zone_tags").and_then(SettingsNode::as_list);
    if is_private {
        return Some(PRIVATE_IS_NOT_MADE);
    }
    tags.is_some_and(|tags| !tags.is_empty()).then_some(TAGGED_IS_NOT_MADE)
}

/// The URL of the API.
fn endpoint(settings: &SettingsNode) -> String {
    let said = settings.get("endpoint").and_then(SettingsNode::as_text).and_then(plain_url);
    said.unwrap_or_else(|| ENDPOINT.to_owned())
}

/// What people call the target: the service, or another endpoint.
pub fn place(settings: &SettingsNode) -> String {
    let endpoint = endpoint(settings);
    if endpoint == ENDPOINT { "Route 53".to_owned() } else { format!("Route 53 at {endpoint}") }
}

/// What distinguishes accounts and choices of zones, as far as the settings say it.
pub fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let said = |key: &str| settings.get(key).map(|node| format!("{:?}", node.value)).unwrap_or_default();
    let keys = ["credentials", "profile", "instance_metadata", "assume_role", "zone_type", "zone_tags", "zone_ids"];
    let of_account = keys.map(said).join(" ");
    let node = settings.get("type").unwrap_or(settings);
    vec![TargetEndpoint { identity: format!("{} {of_account} {}", endpoint(settings), id_ends::said(settings)), node }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::config::toml;

    /// What is read of a table, with what is wrong.
    fn read(text: &str) -> (Option<Route53Settings>, Vec<String>) {
        let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
        let tree = toml::parse(&source);
        let (settings, found) = parse(&tree.root, &source);
        (settings, found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect())
    }

    #[test]
    fn what_the_service_takes_is_taken() {
        let (settings, found) = read(
            "batch_records = 998\npublication_timeout = \"1d\"\nendpoint = \"https://route53.amazonaws.com.cn/\"\n\
             zone_tags = [\"team=dns\", \"team\", \"team=dns\"]",
        );
        assert_eq!(found, [""; 0]);
        let settings = settings.unwrap();
        assert_eq!(
            (settings.batch_records, settings.endpoint.as_str()),
            (Some(998), "https://route53.amazonaws.com.cn")
        );
    }

    #[test]
    fn what_the_service_never_takes_is_refused() {
        let tag = "bad-value: a tag of AWS has at most 128 characters in its key, and 256 in its value";
        let wait = "bad-value: `publication_timeout` must be between `1s` and `1d`";
        for (text, why) in [
            (
                "batch_records = 999",
                "bad-value: `999` is more than 998: Route 53 takes 1000 records in a batch, and two are of the marker",
            ),
            ("batch_records = 0", "bad-value: `0` is not a number of 1 or more"),
            (&format!("zone_tags = [\"{}\"]", "k".repeat(129)), tag),
            (&format!("zone_tags = [\"k={}\"]", "v".repeat(257)), tag),
            ("zone_tags = [\"team=a\", \"team=b\"]", "bad-value: no hosted zone has two values of the tag `team`"),
            ("publication_timeout = \"0s\"", wait),
            ("publication_timeout = \"2d\"", wait),
        ] {
            assert_eq!(read(text), (None, vec![why.to_owned()]), "{text}");
        }
    }
}
