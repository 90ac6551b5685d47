//! The settings of an etcd: where it is, who asks, and below which keys zones are.

use std::time::Duration;

use crate::diag::{Diagnostics, Origin};
use crate::dns::Name;
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::provider::TargetEndpoint;
use crate::provider::exchange::ExchangeSettings;
use crate::provider::limits::{ReadLimits, parse_limits};
use crate::provider::secret::SecretSource;
use crate::provider::url::{host_name, plain_url};
use crate::target::ReadingManner;

/// The prefix of SkyDNS, which CoreDNS has by default.
const PREFIX: &str = "/skydns/";

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct EtcdSettings {
    /// The URLs of its members, tried in this order; at least one.
    pub endpoints: Vec<String>,
    /// What all keys of zones begin with: a slash at both ends.
    pub prefix: String,
    /// Who asks, with where the password is.
    pub user: Option<(String, SecretSource)>,
    /// A file with the certificates that are trusted in place of the system's.
    pub ca_file: Option<String>,
    /// The files with the certificate and the key of this client.
    pub client_files: Option<(String, String)>,
    /// What `owner` says in keys that are written, unless owners are marks; keys of other owners are left.
    pub owner: Option<String>,
    /// How long one request may take.
    pub timeout: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
}

/// Reads settings; `None` where something in them is wrong.
pub fn parse(settings: &SettingsNode, source: &SourceText) -> (Option<EtcdSettings>, Diagnostics) {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let endpoints = reader.require("endpoints").and_then(|node| read_endpoints(&mut reader, node));
    let prefix = match reader.take("prefix") {
        None => Some(PREFIX.to_owned()),
        Some(node) => read_prefix(&mut reader, node),
    };
    let user = read_user(&mut reader);
    let ca_file = reader.text("ca_file").map(str::to_owned);
    let (cert_file, key_file) =
        (reader.text("cert_file").map(str::to_owned), reader.text("key_file").map(str::to_owned));
    if cert_file.is_some() != key_file.is_some() {
        reader.error(reader.node(), "missing-key", "`cert_file` and `key_file` are given together");
    }
    let owner = reader.text("owner").map(str::to_owned);
    let limits = parse_limits(&mut reader);
    let timeout = ExchangeSettings::parse_without_read(&mut reader, ReadingManner::Whole).timeout;
    let found = reader.finish();
    let settings = endpoints.zip(prefix).zip(user).map(|((endpoints, prefix), user)| EtcdSettings {
        endpoints,
        prefix,
        user,
        ca_file,
        client_files: cert_file.zip(key_file),
        owner,
        timeout,
        limits,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Reads `endpoints`: one URL or a list of them.
fn read_endpoints(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<Vec<String>> {
    let mut read = |node: &SettingsNode| {
        let url = node.as_text().and_then(plain_url);
        if url.is_none() {
            let error = reader.source().error("bad-value", node.origin, node.width, "this is not the URL of an etcd");
            reader
                .push(error.hint("write `https://` or `http://`, a host and a port, such as `http://127.0.0.1:2379`"));
        }
        url
    };
    let urls: Vec<Option<String>> = endpoint_nodes(node).into_iter().map(&mut read).collect();
    urls.into_iter().collect()
}

/// The settings that are URLs.
fn endpoint_nodes(node: &SettingsNode) -> Vec<&SettingsNode> {
    match node.as_list() {
        Some(items) if !items.is_empty() => items.iter().collect(),
        _ => vec![node],
    }
}

/// Reads `prefix`. CoreDNS takes a path; external-dns puts it together with names as it is, so that slashes matter there.
fn read_prefix(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<String> {
    let text = node.as_text().map(|text| text.trim_matches('/'));
    let is_right = |text: &&str| {
        !text.is_empty()
            && text.split('/').all(|part| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_graphic()))
    };
    let Some(text) = text.filter(is_right) else {
        reader.error(node, "bad-value", "`prefix` is a path such as `/skydns/`");
        return None;
    };
    Some(format!("/{text}/"))
}

/// Reads `user` and `password`; none where one of them is wrong.
fn read_user(reader: &mut TableReader<'_>) -> Option<Option<(String, SecretSource)>> {
    let user = reader.text("user").map(str::to_owned);
    let Some(node) = reader.take("password") else {
        if user.is_some() {
            reader.error(reader.node(), "missing-key", "`user` needs `password`, which says where the password is");
            return None;
        }
        return Some(None);
    };
    let (password, found) = SecretSource::of_table(node, reader.source());
    reader.append(found);
    match (user, password) {
        (Some(user), Some(password)) => Some(Some((user, password))),
        (None, _) => {
            reader.error(node, "missing-key", "`password` needs `user`");
            None
        }
        (Some(_), None) => None,
    }
}

/// The names of the members, each with its place.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    let nodes = settings.get("endpoints").map(endpoint_nodes).unwrap_or_default();
    nodes.into_iter().filter_map(host_name).collect()
}

/// The first member; empty where it cannot be read.
pub fn place(settings: &SettingsNode) -> String {
    let nodes = settings.get("endpoints").map(endpoint_nodes).unwrap_or_default();
    nodes.first().and_then(|node| node.as_text()).and_then(plain_url).unwrap_or_default()
}

/// Each member with the prefix: below another prefix are other zones.
pub fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let prefix = settings.get("prefix").and_then(SettingsNode::as_text).unwrap_or(PREFIX).trim_matches('/').to_owned();
    let nodes = settings.get("endpoints").map(endpoint_nodes).unwrap_or_default();
    let endpoint = |node: &'_ SettingsNode| Some(format!("{} /{prefix}/", node.as_text().and_then(plain_url)?));
    nodes.into_iter().filter_map(|node| Some(TargetEndpoint { identity: endpoint(node)?, node })).collect()
}
