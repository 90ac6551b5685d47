//! Knot DNS: `knotd`, all of it in the server's folder.

use std::fs;
use std::process::Command;

use crate::server::{Key, Setup};

/// What it needs.
pub const NEEDS: &[&str] = &["/usr/sbin/knotd"];

/// Writes `knot.conf`.
pub fn prepare(setup: &Setup<'_>) -> Command {
    let settings = setup.folder.join("knot.conf");
    fs::write(&settings, knot_conf(setup)).expect("knot.conf");
    // It makes the databases, but not the folder around them.
    fs::create_dir(setup.folder.join("db")).expect("a folder");
    let mut command = Command::new(NEEDS[0]);
    command.arg("-c").arg(&settings);
    command
}

/// The settings of the server. No check refuses a zone. Updates are in the journal alone: the files stay as they were, and
/// a server that is started again reads both.
fn knot_conf(setup: &Setup<'_>) -> String {
    let Setup { config, folder, identity, .. } = setup;
    let folder = folder.display();
    let listen: Vec<_> = setup.addresses.iter().map(|address| format!("{address}@{}", setup.port)).collect();
    let listen = listen.join(", ");
    let known: String = setup
        .keys
        .iter()
        .map(|Key { name, algorithm, secret }| format!("- id: {name}\n  algorithm: {algorithm}\n  secret: {secret}\n"))
        .collect();
    let names: Vec<_> = config.keys.iter().map(|key| key.name.as_str()).collect();
    let allowed = if names.is_empty() { String::new() } else { format!("  key: [ {} ]", names.join(", ")) };
    let zones: String = config.zones.iter().map(|(name, _)| format!("- domain: {name}\n")).collect();
    format!(
        r#"
server:
  rundir: "{folder}"
  listen: [ {listen} ]
  identity: "{identity}"
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
log:
- target: stderr
  any: info
database:
  storage: "{folder}/db"
  journal-db-max-size: 256M
key:
{known}
acl:
- id: all
{allowed}
  action: [ transfer, update ]
template:
- id: default
  storage: "{folder}"
  file: "%s.zone"
  acl: all
  semantic-checks: off
  zonefile-load: whole
  zonefile-sync: -1
  journal-content: changes
zone:
{zones}"#
    )
}
