//! The settings of a target in Cloud Map: who asks, for which namespaces, and how fast. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

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

/// How many requests go in a second. The service has its own limit for each kind of request, which it does not promise: this one is
/// far below those of the requests that are many.
const REQUESTS: u64 = 10;

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct CloudMapSettings {
    /// Who asks.
    pub login: AwsSettings,
    /// The region that has the namespaces.
    pub region: String,
    /// Where the API is, without a final slash.
    pub endpoint: String,
    /// Which namespaces of the account are meant.
    pub namespaces: NamespaceChoice,
    /// How many requests go in a second.
    pub requests: u64,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long is waited until an operation is done.
    pub publication: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
}

/// Which namespaces of an account are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamespaceChoice {
    /// Private ones alone, or public ones alone.
    pub is_private: Option<bool>,
    /// The ids of some of them, by their names.
    pub ids: BTreeMap<Name, String>,
    /// The ends of their ids.
    pub ends: IdEnds,
}

/// The ids of namespaces.
pub const IDS: ZoneIdSetting = ZoneIdSetting {
    key: "namespace_ids",
    of: "a namespace",
    example: "ns-0123456789abcdef",
    prefix: "",
    is_id: |id| {
        id.len() <= 64
            && id
                .strip_prefix("ns-")
                .is_some_and(|own| !own.is_empty() && own.bytes().all(|octet| octet.is_ascii_alphanumeric()))
    },
};

/// Reads settings; `None` where something in them is wrong.
pub fn parse(settings: &SettingsNode, source: &SourceText) -> (Option<CloudMapSettings>, Diagnostics) {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let login = AwsSettings::read(&mut reader);
    if settings.get("region").is_none() {
        reader.error(settings, "missing-key", "`region` is required: the region that has the namespaces");
    }
    let region = login.as_ref().and_then(|login| login.region.clone());
    let endpoint = match reader.take("endpoint") {
        None => region.as_deref().map(endpoint_of),
        Some(node) => read_endpoint(&mut reader, node, "leave it out: `region` says where the API of AWS is"),
    };
    let namespaces = read_choice(&mut reader);
    let requests = read_count(&mut reader, "requests_per_second").unwrap_or(REQUESTS);
    let publication = read_publication(&mut reader);
    let limits = parse_limits(&mut reader);
    let timeout = ExchangeSettings::parse_without_read(&mut reader, ReadingManner::Whole).timeout;
    check_exclusive(&mut reader);
    let found = reader.finish();
    let parts = login.zip(region).zip(endpoint).zip(namespaces).zip(publication);
    let settings = parts.map(|((((login, region), endpoint), namespaces), publication)| CloudMapSettings {
        login,
        region,
        endpoint,
        namespaces,
        requests,
        timeout,
        publication,
        limits,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Where the API of a region is.
fn endpoint_of(region: &str) -> String {
    // China has names of its own.
    let end = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://servicediscovery.{region}.amazonaws.com{end}")
}

/// Reads `exclusive`, without which nothing is written where nothing is compared.
fn check_exclusive(reader: &mut TableReader<'_>) {
    let said = reader.node().get("exclusive");
    let exclusive = reader.boolean("exclusive");
    if exclusive == Some(true) || said.is_some() && exclusive.is_none() {
        return;
    }
    let message = "Cloud Map compares nothing before it writes: it needs `exclusive = true`, which says that nothing else writes to \
                   these namespaces";
    let (code, node, what) = match said {
        None => ("missing-key", reader.node(), "add"),
        Some(node) => ("bad-value", node, "write"),
    };
    let error = reader.source().error(code, node.origin, node.width, message);
    reader.push(error.hint(format!("see to it that nothing else writes there, and {what} `exclusive = true`")));
}

/// Reads `namespace_type`, `namespace_ids` and `zone_id_filter`; none where one of them is wrong.
fn read_choice(reader: &mut TableReader<'_>) -> Option<NamespaceChoice> {
    let is_said = reader.node().get("namespace_type").is_some();
    let is_private = reader.choice("namespace_type", &[("public", false), ("private", true)]);
    let (ids, ends) = IDS.read(reader).zip(IdEnds::read(reader))?;
    (!is_said || is_private.is_some()).then_some(NamespaceChoice { is_private, ids, ends })
}

/// The name of the API's host, where the settings say it.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    settings.get("endpoint").and_then(host_name).into_iter().collect()
}

/// How many requests go in a second, by settings that may be wrong.
pub fn pace(settings: &SettingsNode) -> usize {
    let said = settings.get("requests_per_second").map(|node| &node.value);
    let count = if let Some(SettingsValue::Integer(count)) = said { usize::try_from(*count).ok() } else { None };
    count.unwrap_or(REQUESTS as usize)
}

/// The text of a setting; empty where it is not there.
fn said<'s>(settings: &'s SettingsNode, key: &str) -> &'s str {
    settings.get(key).and_then(SettingsNode::as_text).unwrap_or_default()
}

/// What people call the target: the service in a region, or at another endpoint.
pub fn place(settings: &SettingsNode) -> String {
    match settings.get("endpoint").and_then(SettingsNode::as_text).and_then(plain_url) {
        None => format!("Cloud Map in {}", said(settings, "region")),
        Some(endpoint) => format!("Cloud Map at {endpoint}"),
    }
}

/// What distinguishes accounts and choices of namespaces, as far as the settings say it.
pub fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let shown = |key: &str| settings.get(key).map(|node| format!("{:?}", node.value)).unwrap_or_default();
    let keys =
        ["credentials", "profile", "instance_metadata", "assume_role", "region", "namespace_type", "namespace_ids"];
    let of_account = keys.map(shown).join(" ");
    let node = settings.get("type").unwrap_or(settings);
    vec![TargetEndpoint { identity: format!("{} {of_account} {}", place(settings), id_ends::said(settings)), node }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::config::toml;

    /// What is read of a table, with what is wrong.
    fn read(text: &str) -> (Option<CloudMapSettings>, Vec<String>) {
        let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
        let tree = toml::parse(&source);
        let (settings, found) = parse(&tree.root, &source);
        (settings, found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect())
    }

    #[test]
    fn the_region_says_where_the_api_is() {
        let of = |region: &str| read(&format!("region = \"{region}\"\nexclusive = true")).0.map(|own| own.endpoint);
        assert_eq!(of("eu-central-1").unwrap(), "https://servicediscovery.eu-central-1.amazonaws.com");
        assert_eq!(of("cn-north-1").unwrap(), "https://servicediscovery.cn-north-1.amazonaws.com.cn");
        let (settings, found) = read(
            "region = \"eu-central-1\"\nexclusive = true\nnamespace_type = \"private\"\nrequests_per_second = 3\n\
             namespace_ids = { \"example.net\" = \"ns-0123456789abcdef\" }\nendpoint = \"http://127.0.0.1:1/\"",
        );
        assert_eq!(found, [""; 0]);
        let settings = settings.unwrap();
        assert_eq!((settings.requests, settings.endpoint.as_str()), (3, "http://127.0.0.1:1"));
        let ids = [(Name::parse("example.net").unwrap(), "ns-0123456789abcdef".to_owned())].into();
        assert_eq!(settings.namespaces, NamespaceChoice { is_private: Some(true), ids, ..NamespaceChoice::default() });
    }

    #[test]
    fn wrong_settings_are_explained() {
        let right = "region = \"eu-central-1\"\nexclusive = true\n";
        let alone = "Cloud Map compares nothing before it writes: it needs `exclusive = true`, which says that nothing else \
                     writes to these namespaces";
        let no_url = "bad-value: what `endpoint` names is not the URL of an API: `https://` or `http://`, a host, and nothing behind it";
        let no_region = "missing-key: `region` is required: the region that has the namespaces";
        for (text, why) in [
            ("exclusive = true", no_region),
            ("region = \"eu-central-1\"", &format!("missing-key: {alone}")),
            ("region = \"eu-central-1\"\nexclusive = false", &format!("bad-value: {alone}")),
            ("region = \"eu-central-1\"\nexclusive = 1", "wrong-type: `1` is not `true` or `false`"),
            (
                &format!("{right}namespace_ids = {{ \"example.net\" = \"Z1\" }}"),
                "bad-value: `Z1` is not the id of a namespace, such as `ns-0123456789abcdef`",
            ),
            (&format!("{right}endpoint = \"ftp\""), no_url),
            (&format!("{right}endpoint = \"ftp://map.example.net\""), no_url),
            (&format!("{right}endpoint = \"https://map.example.net/v1\""), no_url),
            (&format!("{right}endpoint = \"https://map.example.net?v=1\""), no_url),
            (
                &format!("{right}namespace_ids = {{ \"a.example\" = \"ns-1\", \"b.example\" = \"ns-1\" }}"),
                "bad-value: `ns-1` is the id of `a.example.`, too: a namespace has one name",
            ),
        ] {
            assert_eq!(read(text), (None, vec![why.to_owned()]), "{text}");
        }
    }
}
