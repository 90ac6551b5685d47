//! The settings of a name server: where it is, how messages to it are signed, and how much it may send.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use domain::tsig::Algorithm;

use crate::diag::{Diagnostic, Diagnostics, Origin};
use crate::dns::{Name, Rtype};
use crate::inventory::config::shared::read_command;
use crate::inventory::node::{SettingsNode, SettingsValue, SourceText, TableReader};
use crate::inventory::value;
use crate::provider::TargetEndpoint;
use crate::provider::exchange::ExchangeSettings;
use crate::provider::limits::{ReadLimits, parse_limits, read_count};
use crate::provider::secret::SecretSource;
use crate::target::{ReadingManner, RecordTypes, ZoneMaking};

/// The port of DNS (RFC 1035 section 4.2).
const DEFAULT_PORT: u16 = 53;

/// How long a zone may come from the cache by default: an hour, so that a serial that does not change with its contents
/// misleads at most that long, and a plan every five minutes still transfers once in twelve times.
const CACHE_MAX_AGE: Duration = Duration::from_secs(3600);

/// The TSIG algorithms that may be named. MD5 is broken, and the truncated ones are not used (RFC 8945 section
/// 6).
const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("hmac-sha1", Algorithm::Sha1),
    ("hmac-sha256", Algorithm::Sha256),
    ("hmac-sha384", Algorithm::Sha384),
    ("hmac-sha512", Algorithm::Sha512),
];

/// The keys that `tsig_key` may have.
const KEY_KEYS: [&str; 6] = ["name", "algorithm", "secret_file", "secret_env", "secret_credential", "secret_command"];

/// The settings of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// The servers, tried in this order; at least one.
    pub servers: Vec<ServerAddress>,
    /// The key that messages are signed with, where they are.
    pub key: Option<KeySettings>,
    /// Deadline and method.
    pub exchange: ExchangeSettings,
    /// Whether zones that have not moved come from the cache.
    pub cache: bool,
    /// How long a zone may come from it without being transferred whole.
    pub cache_max_age: Duration,
    /// How much one read may bring.
    pub limits: ReadLimits,
    /// The commands that make and delete zones.
    pub making: ZoneCommands,
}

/// The commands that make and delete zones, each a program with its arguments; none where they are not given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ZoneCommands {
    /// Makes a zone.
    pub create: Option<Vec<String>>,
    /// Deletes a zone.
    pub delete: Option<Vec<String>>,
}

/// What is replaced by the name of the zone, without the final dot, in the arguments of commands.
pub const ZONE_WORD: &str = "{zone}";

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// A name, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerAddress { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// A TSIG key, its secret yet to be fetched.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySettings {
    /// Its name.
    pub name: Name,
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Where its secret is.
    pub secret: SecretSource,
}

/// Reads settings; `None` where something in them is wrong.
pub fn parse(settings: &SettingsNode, source: &SourceText) -> (Option<ServerSettings>, Diagnostics) {
    if let Some(misplaced) = misplaced_secret(settings) {
        let mut found = Diagnostics::default();
        found.push(misplaced);
        return (None, found);
    }
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    let servers = reader.require("server").and_then(|node| parse_servers(&mut reader, node));
    let key = read_key(&mut reader);
    let exchange = ExchangeSettings::parse(&mut reader);
    let cache = reader.boolean("cache").unwrap_or(true);
    let cache_max_age = reader.parsed::<value::Duration>("cache_max_age", "a length of time such as `12h`");
    let cache_max_age = cache_max_age.map_or(CACHE_MAX_AGE, |age| Duration::from_secs(age.as_secs()));
    let limits = ReadLimits { growth: read_growth(&mut reader), ..parse_limits(&mut reader) };
    let create = read_zone_command(&mut reader, "create_command");
    let making = ZoneCommands { create, delete: read_zone_command(&mut reader, "delete_command") };
    // What a target can do is asked for without the rest.
    reader.choice("software", &SOFTWARE);
    let found = reader.finish();
    #[rustfmt::skip]
    let settings = servers.zip(key).map(|(servers, key)| ServerSettings {
        servers, key, exchange, cache, cache_max_age, limits, making,
    });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// Reads the settings of a server that only gets updates, and questions about what they change: of a target that is read
/// another way. `None` where something in them is wrong.
pub fn parse_primary(reader: &mut TableReader<'_>, limits: ReadLimits) -> Option<ServerSettings> {
    let server = reader.require("server").and_then(|node| read_server(reader, node, ""));
    let key = read_key(reader);
    let exchange = ExchangeSettings::parse_without_read(reader, ReadingManner::ByName);
    Some(ServerSettings {
        servers: vec![server?],
        key: key?,
        exchange,
        cache: false,
        cache_max_age: CACHE_MAX_AGE,
        limits,
        making: ZoneCommands::default(),
    })
}

/// Reads `tsig_key`; `None` where it is wrong.
fn read_key(reader: &mut TableReader<'_>) -> Option<Option<KeySettings>> {
    match reader.take("tsig_key") {
        None => Some(None),
        Some(node) => parse_key(reader, node).map(Some),
    }
}

/// The settings of a name server that is only asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NameServerSettings {
    /// Where it is.
    pub server: ServerAddress,
    /// The key that messages are signed with, where they are.
    pub key: Option<KeySettings>,
}

/// Reads the settings of a name server, of `[[pool.X.nameserver]]`; `None` where something in them is wrong.
pub fn parse_name_server(settings: &SettingsNode, source: &SourceText) -> (Option<NameServerSettings>, Diagnostics) {
    if let Some(misplaced) = misplaced_secret(settings) {
        let mut found = Diagnostics::default();
        found.push(misplaced);
        return (None, found);
    }
    let mut reader = TableReader::new(settings, source);
    // The pool reads these.
    reader.take("of");
    reader.take("notify");
    let server = reader.require("server").and_then(|node| read_server(&mut reader, node, ""));
    let key = read_key(&mut reader);
    let found = reader.finish();
    let settings = server.zip(key).map(|(server, key)| NameServerSettings { server, key });
    (settings.filter(|_| found.error_count() == 0), found)
}

/// The types that PowerDNS takes by UPDATE: it refuses those that it does not know, where BIND and Knot take any by its number.
///
/// Source: each was sent to PowerDNS 4.7 (tests/servers/stated.rs).
pub const POWERDNS_TYPES: RecordTypes = RecordTypes::These(&[
    Rtype::A,
    Rtype::AAAA,
    Rtype::AFSDB,
    Rtype::APL,
    Rtype::CAA,
    Rtype::CERT,
    Rtype::CNAME,
    Rtype::CSYNC,
    Rtype::DHCID,
    Rtype::DNAME,
    Rtype::DS,
    Rtype::EUI48,
    Rtype::EUI64,
    Rtype::HINFO,
    Rtype::HTTPS,
    Rtype::IPSECKEY,
    Rtype::KX,
    Rtype::L32,
    Rtype::L64,
    Rtype::LOC,
    Rtype::LP,
    Rtype::MX,
    Rtype::NAPTR,
    Rtype::NID,
    Rtype::NS,
    Rtype::OPENPGPKEY,
    Rtype::PTR,
    Rtype::RP,
    Rtype::SMIMEA,
    Rtype::SRV,
    Rtype::SSHFP,
    Rtype::SVCB,
    Rtype::TLSA,
    Rtype::TXT,
    Rtype::URI,
]);

/// The programs that a server may be, with the types that their UPDATE takes.
const SOFTWARE: [(&str, RecordTypes); 4] =
    [("bind", RecordTypes::All), ("knot", RecordTypes::All), ("nsd", RecordTypes::All), ("powerdns", POWERDNS_TYPES)];

/// Which types a target holds, by what `software` says that its servers are.
pub fn types(settings: &SettingsNode) -> RecordTypes {
    let said = settings.get("software").and_then(SettingsNode::as_text);
    SOFTWARE.iter().find(|(word, _)| Some(*word) == said).map_or(RecordTypes::All, |(_, types)| *types)
}

/// Whether a target has commands that make and delete zones.
pub fn zone_making(settings: &SettingsNode) -> ZoneMaking {
    let has = |key: &str| settings.get(key).is_some();
    ZoneMaking { creates: has("create_command"), deletes: has("delete_command"), never: None }
}

/// Reads a command that is about one zone: an argument of it names the zone.
fn read_zone_command(reader: &mut TableReader<'_>, key: &'static str) -> Option<Vec<String>> {
    let node = reader.take(key)?;
    let words = read_command(reader, node)?;
    if !words.iter().skip(1).any(|word| word.contains(ZONE_WORD)) {
        let message = format!("no argument of the command has `{ZONE_WORD}`, so that it does not know the zone");
        reader.error(node, "bad-command", message);
    }
    Some(words)
}

/// Reads how many times as much a read may bring as the zone held last.
fn read_growth(reader: &mut TableReader<'_>) -> u64 {
    read_count(reader, "max_growth").unwrap_or(ReadLimits::default().growth)
}

/// The error of a key in `tsig_key` that does not belong there.
///
/// It may hold the secret itself, and any finding about its line would show that: this error is therefore reported
/// alone, without the line.
pub fn misplaced_secret(settings: &SettingsNode) -> Option<Diagnostic> {
    let SettingsValue::Table(entries) = &settings.value else { return None };
    let (_, key) = entries.iter().find(|(key, _)| key.name == "tsig_key")?;
    let SettingsValue::Table(entries) = &key.value else { return None };
    let (stray, _) = entries.iter().find(|(key, _)| !KEY_KEYS.contains(&key.name.as_str()))?;
    let message = format!("`{}` is not a key of `tsig_key`", stray.name);
    let hint = "secrets must not be in this file: use `secret_file`, `secret_env`, `secret_credential` or `secret_command`; \
                the other keys are `name` and `algorithm`";
    Some(Diagnostic::error("unknown-key", stray.origin, message).hint(hint))
}

/// The names of the servers, each with its place; none of those that are given by their addresses.
pub fn server_names(settings: &SettingsNode) -> Vec<(Name, Origin)> {
    let nodes = settings.get("server").map(server_nodes).unwrap_or_default();
    let name = |node: &SettingsNode| {
        let host = node.as_text().and_then(parse_server)?.host;
        let is_address = host.contains(':') || host.parse::<Ipv4Addr>().is_ok();
        Some((Name::parse(&host).ok().filter(|_| !is_address)?, node.origin))
    };
    nodes.into_iter().filter_map(name).collect()
}

/// The first server, which updates are sent to; empty where it cannot be read.
pub fn place(settings: &SettingsNode) -> String {
    let first =
        settings.get("server").map(server_nodes).and_then(|nodes| nodes.first()?.as_text().and_then(parse_server));
    first.map(|server| server.to_string()).unwrap_or_default()
}

/// Each server with the name of the key: a server may show clients with another key another view of its zones.
pub fn endpoints(settings: &SettingsNode) -> Vec<TargetEndpoint<'_>> {
    let key = settings.get("tsig_key").and_then(|key| key.get("name")).and_then(SettingsNode::as_text);
    let key = key.map(|name| Name::parse(name).map_or_else(|_| name.to_owned(), |name| name.to_string()));
    let key = key.unwrap_or_default();
    let nodes = settings.get("server").map(server_nodes).unwrap_or_default();
    let endpoint = |node: &'_ SettingsNode| {
        let ServerAddress { host, port } = node.as_text().and_then(parse_server)?;
        // One address may be written in several ways, and so may a name.
        let host = match host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().to_string(),
            Err(_) => match host.trim_end_matches('.').to_ascii_lowercase() {
                // The one name whose address is known without a question (RFC 6761 section 6.3).
                name if name == "localhost" => Ipv4Addr::LOCALHOST.to_string(),
                name => name,
            },
        };
        Some(format!("{} {key}", ServerAddress { host, port }))
    };
    nodes.into_iter().filter_map(|node| Some(TargetEndpoint { identity: endpoint(node)?, node })).collect()
}

/// The servers of a setting that is one or a list of them.
fn server_nodes(node: &SettingsNode) -> Vec<&SettingsNode> {
    match node.as_list() {
        Some(items) if !items.is_empty() => items.iter().collect(),
        _ => vec![node],
    }
}

/// Reads one server or a list of them.
fn parse_servers(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<Vec<ServerAddress>> {
    let servers: Vec<_> =
        server_nodes(node).into_iter().map(|node| read_server(reader, node, ", or a list of these")).collect();
    servers.into_iter().collect()
}

/// Reads one server; `or` ends the message about what is none.
fn read_server(reader: &mut TableReader<'_>, node: &SettingsNode, or: &str) -> Option<ServerAddress> {
    let server = node.as_text().and_then(parse_server);
    if server.is_none() {
        let message = format!("a server is `HOST`, `HOST:PORT`, `ADDRESS` or `[ADDRESS]:PORT`{or}");
        reader.error(node, "bad-server", message);
    }
    server
}

/// Reads one server.
fn parse_server(text: &str) -> Option<ServerAddress> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
            (Some(host).filter(|host| host.contains(':'))?, port)
        }
        // More than one colon: an IPv6 address without a port.
        None if text.matches(':').count() > 1 => (text, None),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => DEFAULT_PORT,
        Some(digits) if digits.bytes().all(|octet| octet.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0)?
        }
        Some(_) => return None,
    };
    // The percent sign comes before the zone of a link-local address (RFC 4007 section 11).
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    (!host.is_empty() && host.chars().all(plain)).then(|| ServerAddress { host: host.to_owned(), port })
}

/// Reads `tsig_key`.
fn parse_key(outer: &mut TableReader<'_>, node: &SettingsNode) -> Option<KeySettings> {
    let mut reader = TableReader::new(node, outer.source());
    let name = reader.require("name").and_then(|node| {
        let name = node.as_text().map(Name::parse);
        if !matches!(name, Some(Ok(_))) {
            reader.error(node, "bad-value", "the name of a key is a domain name such as `zonewright.`");
        }
        name?.ok()
    });
    let has_algorithm = reader.require("algorithm").is_some();
    let algorithm = if has_algorithm { reader.choice("algorithm", &ALGORITHMS) } else { None };
    let secret = SecretSource::read(&mut reader);
    outer.append(reader.finish());
    Some(KeySettings { name: name?, algorithm: algorithm?, secret: secret? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::node::SettingsKey;

    #[test]
    fn servers_are_written_in_many_ways() {
        let shown = |text| parse_server(text).map(|server| server.to_string());
        for (text, server) in [
            ("ns1.example.net", "ns1.example.net:53"),
            ("127.0.0.1:5353", "127.0.0.1:5353"),
            ("[::1]:53", "[::1]:53"),
            ("[::1]", "[::1]:53"),
            ("2001:db8::1", "[2001:db8::1]:53"),
            ("fe80::1%eth0", "[fe80::1%eth0]:53"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(server));
        }
        for text in ["", ":53", "a:", "a:0", "a:65536", "a:+1", "[::1", "[::1]53", "[a]:53", "a b", "a/b", "\u{e4}"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn servers_given_by_addresses_have_no_names() {
        let origin = Origin::line(Files::default().add("zonewright.toml"), 7);
        let text = |text: &str| SettingsNode { origin, width: 1, value: SettingsValue::Text(text.into()) };
        let names = |server: SettingsNode| {
            let key = SettingsKey { name: "server".into(), origin, width: 6 };
            let settings = SettingsNode { value: SettingsValue::Table(vec![(key, server)]), ..text("") };
            let names = server_names(&settings).into_iter();
            names.map(|(name, origin)| format!("{name} {}", origin.line)).collect::<Vec<_>>()
        };
        assert_eq!(names(text("NS1.example.net:5353")), ["ns1.example.net. 7"]);
        let list = ["127.0.0.1", "[::1]:53", "fe80::1%eth0", "a b", "ns2.example.net."].map(text).to_vec();
        assert_eq!(names(SettingsNode { value: SettingsValue::List(list), ..text("") }), ["ns2.example.net. 7"]);
    }
}
