//! The settings of a PowerDNS: its API, and the server that takes updates.

use std::time::Duration;

use crate::diag::{Diagnostics, Origin};
use crate::dns::Name;
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::provider::TargetEndpoint;
use crate::provider::dns_server::settings as servers;
use crate::provider::dns_server::settings::ServerSettings;
use crate::provider::exchange::ExchangeSettings;
use crate::provider::limits::{ReadLimits, parse_limits};
use crate::provider::secret::SecretSource;
use crate::provider::url::{host_name, plain_url};
use crate::target::ReadingManner;

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerDnsSettings {
    /// How it is read.
    pub api: ApiSettings,
    /// How it is written.
    pub writes: PowerDnsWrites,
}

/// How a PowerDNS is written.
#[derive(Debug, Clone, PartialEq)]
pub enum PowerDnsWrites {
    /// By updates to this server, which compares.
    Update(Box<ServerSettings>),
    /// By the API, which does not.
    Api,
}

/// The settings of an API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiSettings {
    /// Where it is, without `/api/v1` and a final slash.
    pub url: String,
    /// Where its key is.
    pub key: SecretSource,
    /// A file with the certificates that are trusted in place of the system's.
    pub ca_file: Option<String>,
    /// How long it may take for an answer; reading a whole zone has its own time, among the limits.
    pub timeout: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
}

/// The ways of writing that `writes` knows, and whether each is that by the API.
const WRITES: [(&str, bool); 2] = [("update", false), ("api", true)];

/// Reads settings; `None` where something in them is wrong.
pub fn parse(settings: &SettingsNode, source: &SourceText) -> (Option<PowerDnsSettings>, Diagnostics) {
    if let Some(misplaced) = servers::misplaced_secret(settings) {
        let mut found = Diagnostics::default();
        found.push(misplaced);
        return (None, found);
    }
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let url = reader.require("url").and_then(|node| read_url(&mut reader, node));
    let key = reader.require("api_key").and_then(|node| {
        let (key, found) = SecretSource::of_table(node, source);
        reader.append(found);
        key
    });
    let ca_file = reader.text("ca_file").map(str::to_owned);
    let is_said = settings.get("writes").is_some();
    let by_api = reader.choice("writes", &WRITES);
    let limits = parse_limits(&mut reader);
    let writes = match by_api {
        Some(true) => read_exclusive(&mut reader),
        None if is_said => {
            // What belongs to which way of writing is not known.
            for key in ["server", "tsig_key", "exclusive", "timeout", "window"] {
                reader.take(key);
            }
            None
        }
        Some(false) | None => read_updates(&mut reader, limits),
    };
    let found = reader.finish();
    let settings = url.zip(key).zip(writes).map(|((url, key), (timeout, writes))| PowerDnsSettings {
        api: ApiSettings { url, key, ca_file, timeout, limits },
        writes,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Reads the server that takes updates, with the deadline of requests.
fn read_updates(reader: &mut TableReader<'_>, limits: ReadLimits) -> Option<(Duration, PowerDnsWrites)> {
    let server = servers::parse_primary(reader, limits)?;
    Some((server.exchange.timeout, PowerDnsWrites::Update(Box::new(server))))
}

/// Reads `exclusive`, without which nothing is written where nothing is compared, and the deadline of requests.
fn read_exclusive(reader: &mut TableReader<'_>) -> Option<(Duration, PowerDnsWrites)> {
    for key in ["server", "tsig_key"] {
        if let Some(node) = reader.take(key) {
            let message = format!("`{key}` is for `writes = \"update\"`");
            let error = reader.source().error("unknown-key", node.origin, node.width, message);
            reader.push(error.hint("remove it: the API alone is asked"));
        }
    }
    let timeout = ExchangeSettings::parse_without_read(reader, ReadingManner::Whole).timeout;
    let is_wrong = reader.node().get("exclusive").is_some();
    let exclusive = reader.boolean("exclusive");
    if exclusive.is_none() && is_wrong {
        return None;
    }
    if exclusive != Some(true) {
        let message = "the API compares nothing before it writes: `writes = \"api\"` needs `exclusive = true`, which says that \
                       nothing else writes to these zones";
        let node = reader.node();
        let error = reader.source().error("missing-key", node.origin, node.width, message);
        reader
            .push(error.hint("leave `writes` out, and give `server`: updates compare, so that others may write, too"));
        return None;
    }
    Some((timeout, PowerDnsWrites::Api))
}

/// Whether a target is written by its API, by settings that may be wrong.
pub fn writes_by_api(settings: &SettingsNode) -> bool {
    settings.get("writes").and_then(SettingsNode::as_text) == Some("api")
}

/// Reads `url`, to which the path of the API is added.
fn read_url(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<String> {
    let url = node.as_text().and_then(api_url);
    if url.is_none() {
        let message = "`url` is not the URL of an API";
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.hint("write `https://` or `http://`, a host and a port, such as `http://127.0.0.1:8081`"));
    }
    url
}

/// The URL of an API without the path that all have; none where it is none.
fn api_url(text: &str) -> Option<String> {
    let url = plain_url(text)?;
    Some(url.strip_suffix("/api/v1").unwrap_or(&url).to_owned())
}

/// The names of servers in the settings: that which takes updates, and that of the API.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    let of_api = settings.get("url").and_then(host_name);
    servers::server_names(settings).into_iter().chain(of_api).collect()
}

/// The URL of the API; empty where it cannot be read.
pub fn place(settings: &SettingsNode) -> String {
    settings.get("url").and_then(SettingsNode::as_text).and_then(api_url).unwrap_or_default()
}

/// The server that takes updates: a target of another type may be the same one. Without it, the API.
pub fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    if !writes_by_api(settings) {
        return servers::endpoints(settings);
    }
    let node = settings.get("url");
    node.into_iter().map(|node| TargetEndpoint { identity: place(settings), node }).collect()
}
