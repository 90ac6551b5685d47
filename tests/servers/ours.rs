//! `zonewright serve`: the built binary as a server.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::server::Setup;

/// What it needs: nothing that is not built with the tests.
pub const NEEDS: &[&str] = &[];

/// Writes the secret of its key, of which it has one at most, of hmac-sha256.
pub fn prepare(setup: &Setup<'_>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.arg("serve");
    command.args(setup.config.zones.iter().map(|(name, _)| setup.folder.join(format!("{name}.zone"))));
    for address in setup.addresses {
        command.arg("--listen").arg(std::net::SocketAddr::new(*address, setup.port).to_string());
    }
    assert!(setup.config.keys.len() < 2, "it has one key at most");
    if let Some(key) = setup.config.keys.first() {
        assert_eq!(key.algorithm, "hmac-sha256");
        let secret = setup.folder.join("secret");
        fs::write(&secret, &key.secret).expect("a file");
        fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("it is ours");
        command.arg("--key").arg(secret).arg("--key-name").arg(&key.name);
    }
    command
}
