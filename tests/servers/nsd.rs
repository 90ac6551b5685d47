//! NSD: one server process, no remote control, all of it in the server's folder.

use std::fs;
use std::process::Command;

use crate::server::{Key, Setup};

/// What it needs.
pub const NEEDS: &[&str] = &["/usr/sbin/nsd"];

/// Writes `nsd.conf`.
pub fn prepare(setup: &Setup<'_>) -> Command {
    let settings = setup.folder.join("nsd.conf");
    fs::write(&settings, nsd_conf(setup)).expect("nsd.conf");
    let mut command = Command::new(NEEDS[0]);
    command.arg("-d").arg("-c").arg(&settings);
    command
}

/// The settings of the server.
fn nsd_conf(setup: &Setup<'_>) -> String {
    let Setup { config, folder, port, identity, .. } = setup;
    let folder = folder.display();
    let listen: String = setup.addresses.iter().map(|address| format!("  ip-address: {address}@{port}\n")).collect();
    let mut text = format!(
        r#"
server:
{listen}
  server-count: 1
  identity: "{identity}"
  username: ""
  chroot: ""
  pidfile: ""
  database: ""
  zonesdir: "{folder}"
  zonelistfile: "{folder}/zone.list"
  xfrdfile: "{folder}/xfrd.state"
  xfrdir: "{folder}"
remote-control:
  control-enable: no
"#
    );
    for Key { name, algorithm, secret } in setup.keys {
        text += &format!("key:\n  name: {name}\n  algorithm: {algorithm}\n  secret: \"{secret}\"\n");
    }
    let keys: Vec<&str> =
        if config.keys.is_empty() { vec!["NOKEY"] } else { config.keys.iter().map(|key| key.name.as_str()).collect() };
    let provide: String =
        keys.iter().map(|key| format!("  provide-xfr: 0.0.0.0/0 {key}\n  provide-xfr: ::0/0 {key}\n")).collect();
    for (name, _) in &config.zones {
        text += &format!("zone:\n  name: {name}\n  zonefile: \"{name}.zone\"\n{provide}");
    }
    text
}
