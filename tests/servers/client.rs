//! The client under test: zonewright's own readers of name servers and zone files, through their public interface.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zonewright::diag::Files;
use zonewright::dns::{Name, Rtype, ZoneName};
use zonewright::inventory::config::toml;
use zonewright::inventory::node::SourceText;
use zonewright::inventory::pool::TargetSpec;
use zonewright::inventory::value::Time;
use zonewright::provider::cache::{Cache, CacheUse};
use zonewright::provider::{self, OpenedReader, ProviderContext};
use zonewright::target::{Answer, PoolName, Question, TargetId, WriteTarget, ZoneRead};

use crate::server::{Key, Server};
use zonewright::diag::Problem;

/// A client that signs with one key or not at all.
pub struct Client {
    /// The folder that holds the secret.
    workspace: TempDir,
    /// What the settings say of the key.
    key: String,
}

impl Client {
    /// A client with this key.
    pub fn new(key: Option<&Key>) -> Client {
        let workspace = tempfile::tempdir().expect("a folder");
        let Some(key) = key else { return Client { workspace, key: String::new() } };
        key.write_secret(workspace.path());
        Client { workspace, key: key.setting() }
    }

    /// The line of settings that names the key; empty without one.
    pub fn key_setting(&self) -> &str {
        &self.key
    }

    /// The folder that paths in the settings are relative to.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Reads a zone from the server at `address`; each message may take `timeout`, as the settings write it.
    pub fn read(&self, address: &str, zone: &str, timeout: &str) -> Result<ZoneRead, Problem> {
        let settings = format!("server = \"{address}\"\ntimeout = \"{timeout}\"\n{}", self.key);
        read("rfc2136", &settings, self.workspace.path(), zone)
    }

    /// Reads a zone from the server at `address` by way of a cache, with these further settings, at a time.
    pub fn read_cached(
        &self,
        (address, zone): (&str, &str),
        settings: &str,
        usage: CacheUse,
        now: &str,
    ) -> Result<ZoneRead, Problem> {
        let settings = format!("server = \"{address}\"\n{settings}{}", self.key);
        let (target, source) = target_of("rfc2136", &settings);
        let now = now.parse().expect("a time");
        let cache = Cache::inside(&self.workspace.path().join(".zonewright"), usage, now);
        let context = ProviderContext {
            workspace: self.workspace.path(),
            source: &source,
            now,
            cache: Some(&cache),
            has_marks: false,
        };
        let target = provider::open(&target, &context)?;
        target.prepare(&[&zone_name(zone)]);
        target.read_zone(&zone_name(zone))
    }

    /// The file of a zone in the cache.
    pub fn cached(&self, zone: &str) -> PathBuf {
        self.workspace.path().join(".zonewright/cache").join(format!("{zone}.zone"))
    }

    /// A writer of the zones of the server at `address`, with these further settings.
    pub fn writer(&self, address: &str, settings: &str) -> Box<dyn WriteTarget> {
        let settings = format!("server = \"{address}\"\n{settings}{}", self.key);
        let (target, source) = target_of("rfc2136", &settings);
        let context = ProviderContext {
            workspace: self.workspace.path(),
            source: &source,
            now: now(),
            cache: None,
            has_marks: false,
        };
        provider::open_writer(&target, &context).expect("the secret is there")
    }

    /// Asks the server at `address` for a zone's SOA.
    pub fn ask_soa(&self, address: &str, zone: &str) -> Result<Vec<Answer>, Problem> {
        let question = Question { name: zone_name(zone).as_name().to_name(), rtype: Rtype::SOA };
        self.ask(address, (zone, &[question]), "30s")
    }

    /// Asks the server at `address` these questions about a zone; the server may be silent for `timeout`.
    pub fn ask(&self, address: &str, questions: (&str, &[Question]), timeout: &str) -> Result<Vec<Answer>, Problem> {
        let settings = format!("server = \"{address}\"\ntimeout = \"{timeout}\"\nread = \"query\"\n{}", self.key);
        open("rfc2136", &settings, self.workspace.path())?.ask(&zone_name(questions.0), questions.1)
    }
}

/// Transfers a zone from the server at `address` (`HOST:PORT`), signed with a key where there is one.
pub fn transfer(address: &str, key: Option<&Key>, zone: &str) -> Result<ZoneRead, Problem> {
    Client::new(key).read(address, zone, "30s")
}

/// Reads a zone from the server's own files.
pub fn read_file(server: &Server, zone: &str) -> ZoneRead {
    read("zonefile", "dir = \".\"\n", server.folder(), zone).expect("the server took the same file")
}

/// All records as sorted lines, so that a difference can be read.
pub fn lines(read: &ZoneRead) -> Vec<String> {
    let mut lines = Vec::new();
    for rrset in read.contents.rrsets() {
        lines.extend(rrset.rdata().map(|rdata| format!("{} {} {} {rdata}", rrset.owner(), rrset.ttl(), rrset.rtype())));
    }
    lines.sort();
    lines
}

/// Reads a zone from a target with these settings.
fn read(provider: &str, settings: &str, workspace: &Path, zone: &str) -> Result<ZoneRead, Problem> {
    open(provider, settings, workspace)?.read_zone(&zone_name(zone))
}

/// Opens a target with these settings.
fn open(provider: &str, settings: &str, workspace: &Path) -> OpenedReader {
    let (target, source) = target_of(provider, settings);
    provider::open(&target, &ProviderContext { workspace, source: &source, now: now(), cache: None, has_marks: false })
}

/// A target with these settings, checked, and their text.
pub fn target_of(provider: &str, settings: &str) -> (TargetSpec, SourceText) {
    let text = format!("type = \"{provider}\"\n{settings}");
    let source = SourceText { file: Files::default().add("zonewright.toml"), text };
    let id = TargetId::only(&PoolName::unknown());
    let target =
        TargetSpec { id, provider: provider.to_owned(), settings: toml::parse(&source).root, has_marks: false };
    let found = provider::check(&target, &source);
    assert_eq!(found.error_count(), 0, "{found:?}");
    (target, source)
}

/// A clock that nothing here depends on.
fn now() -> Time {
    "2026-11-20T03:00:00Z".parse().expect("a time")
}

/// The name of a zone.
pub fn zone_name(text: &str) -> ZoneName {
    ZoneName::new(Name::parse(text).expect("a name"))
}
