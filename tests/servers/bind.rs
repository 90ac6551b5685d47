//! BIND: `named` without a control channel, one thread.

use std::fs;
use std::net::IpAddr;
use std::process::Command;

use crate::server::{Key, Setup};

/// What it needs.
pub const NEEDS: &[&str] = &["/usr/sbin/named"];

/// Writes `named.conf`.
pub fn prepare(setup: &Setup<'_>) -> Command {
    let settings = setup.folder.join("named.conf");
    fs::write(&settings, named_conf(setup)).expect("named.conf");
    let mut command = Command::new(NEEDS[0]);
    command.arg("-g").args(["-n", "1"]).arg("-c").arg(&settings);
    command
}

/// The settings of the server: loopback only, nothing outside its folder, no control channel.
fn named_conf(setup: &Setup<'_>) -> String {
    let Setup { config, folder, port, identity, .. } = setup;
    let folder = folder.display();
    let keys: String = config.keys.iter().map(|key| format!("key \"{}\"; ", key.name)).collect();
    let allowed = if keys.is_empty() { "any; " } else { keys.as_str() };
    let v6 = if setup.addresses.iter().any(IpAddr::is_ipv6) { "::1" } else { "none" };
    let mut text = format!(
        r#"
options {{
  directory "{folder}";
  listen-on port {port} {{ 127.0.0.1; }};
  listen-on-v6 port {port} {{ {v6}; }};
  server-id "{identity}";
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
  notify no;
  empty-zones-enable no;
  check-names primary ignore;
  allow-transfer {{ {allowed}}};
}};
controls {{ }};
"#
    );
    for Key { name, algorithm, secret } in setup.keys {
        text += &format!("key \"{name}\" {{ algorithm {algorithm}; secret \"{secret}\"; }};\n");
    }
    let updating = if config.is_static { "none; " } else { allowed };
    for (name, _) in &config.zones {
        text += &format!("zone \"{name}\" {{ type primary; file \"{name}.zone\"; allow-update {{ {updating}}}; }};\n");
    }
    text
}
