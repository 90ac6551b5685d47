//! The side that reads: zones through the library, from a server or from its own zone files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use zonewright::diag::{Files, Origin};
use zonewright::dns::{Name, ZoneName};
use zonewright::inventory::config::node::{self, Node, SourceText, Value};
use zonewright::provider::{self, Context, ReadError, ZoneRead};

use crate::server::{Key, Server};

/// Reads a zone from the server's own files.
pub fn read_file(server: &Server, zone: &str) -> ZoneRead {
    read("zonefile", &table(vec![("dir", text("."))]), server.folder(), zone).expect("the server took the same file")
}

/// Transfers a zone from an address (`HOST:PORT`), signed with a key where there is one.
pub fn transfer(address: &str, key: Option<&Key>, zone: &str) -> Result<ZoneRead, ReadError> {
    let mut settings = vec![("server", text(address))];
    let workspace = tempfile::tempdir().expect("a folder");
    if let Some(key) = key {
        let secret = workspace.path().join("secret");
        fs::write(&secret, format!("{}\n", key.secret)).expect("a file");
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("it is ours");
        let entries =
            vec![("name", text(&key.name)), ("algorithm", text(&key.algorithm)), ("secret_file", text("secret"))];
        settings.push(("tsig_key", table(entries).value));
    }
    read("rfc2136", &table(settings), workspace.path(), zone)
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

/// Reads a zone from a target.
fn read(provider: &str, settings: &Node, workspace: &Path, zone: &str) -> Result<ZoneRead, ReadError> {
    let source = SourceText { file: Files::default().add("zonewright.toml"), text: "\n".to_owned() };
    let found = provider::check(provider, settings, &source);
    assert_eq!(found.error_count(), 0, "{found:?}");
    let reader = provider::open(provider, settings, &Context { workspace, source: &source })?;
    reader.read_zone(&ZoneName::new(Name::parse(zone).expect("a name")))
}

/// A settings table.
fn table(entries: Vec<(&str, Value)>) -> Node {
    let origin = Origin { file: Files::default().add("zonewright.toml"), line: 1, col: 1 };
    let entries = entries
        .into_iter()
        .map(|(name, value)| (node::Key { name: name.to_owned(), origin, width: 1 }, Node { origin, width: 1, value }));
    Node { origin, width: 1, value: Value::Table(entries.collect()) }
}

/// A text value.
fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
