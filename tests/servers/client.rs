//! The client under test: zonewright's own reader of a name server, through its public interface.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;
use zonewright::diag::Files;
use zonewright::dns::{Name, ZoneName};
use zonewright::inventory::config::node::SourceText;
use zonewright::inventory::config::toml;
use zonewright::provider::{self, Context, ReadError, ZoneRead};

use crate::bind::BindKey;

/// A client that signs with one key or not at all.
pub struct Client {
    /// The folder that holds the secret.
    workspace: TempDir,
    /// What the settings say of the key.
    key: String,
}

impl Client {
    /// A client with this key.
    pub fn new(key: Option<&BindKey>) -> Client {
        let workspace = tempfile::tempdir().expect("a folder");
        let Some(BindKey { name, algorithm, secret }) = key else { return Client { workspace, key: String::new() } };
        let file = workspace.path().join("secret");
        fs::write(&file, secret).expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
        let key =
            format!("tsig_key = {{ name = \"{name}\", algorithm = \"{algorithm}\", secret_file = \"secret\" }}\n");
        Client { workspace, key }
    }

    /// Reads a zone from the server at `address`; each message may take `timeout`, as the settings write it.
    pub fn read(&self, address: &str, zone: &str, timeout: &str) -> Result<ZoneRead, ReadError> {
        let text = format!("type = \"rfc2136\"\nserver = \"{address}\"\ntimeout = \"{timeout}\"\n{}", self.key);
        let source = SourceText { file: Files::default().add("zonewright.toml"), text };
        let settings = toml::parse(&source).root;
        let found = provider::check("rfc2136", &settings, &source);
        assert_eq!(found.error_count(), 0, "{found:?}");
        let context = Context { workspace: self.workspace.path(), source: &source };
        provider::open("rfc2136", &settings, &context)?.read_zone(&ZoneName::new(Name::parse(zone).expect("a name")))
    }
}
