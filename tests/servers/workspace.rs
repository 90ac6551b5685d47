//! Copies of the demo that read its zones from servers, and what the built binary says of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub use crate::copy::copy;
use crate::edit;
use crate::server::{Key, ServerConfig};

/// The target of the demo, as its settings say it.
const TARGET: &str = "[pool.demo]\n[[pool.demo.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n";

/// The demo.
pub fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory")
}

/// The demo's zones, for a server.
pub fn demo_zones(key: &Key) -> ServerConfig {
    ServerConfig { keys: vec![key.clone()], zones: Vec::new(), ..ServerConfig::default() }
        .zones_of(&demo().join("zones"))
}

/// Makes a copy of the demo without its zones, which reads them from these addresses (`HOST:PORT`), signed with a key.
///
/// Its settings have as many lines as the demo's, so that both plans name the same places.
pub fn reading_from(addresses: &[String], key: &Key) -> TempDir {
    reading_by(&format!("type = \"rfc2136\"\nserver = {addresses:?}\n"), key)
}

/// The same with a target that has these settings, signed with a key.
pub fn reading_by(target: &str, key: &Key) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&demo(), folder.path());
    fs::remove_dir_all(folder.path().join("zones")).expect("the copy of the zones");
    key.write_secret(folder.path());
    let target = format!("[[pool.demo.target]]\n{target}{}", key.setting());
    edit(folder.path(), TARGET, &target);
    folder
}

/// Replaces a part of a workspace's settings that is there once.
pub fn edit(workspace: &Path, part: &str, by: &str) {
    edit::edit(workspace, "zonewright.toml", part, by);
}

/// Runs `plan` on a workspace, by the built binary or by a program that runs it.
pub fn plan(workspace: &Path, mut command: Command) -> Output {
    command.args(["plan", "--format", "json", "-q", "--color", "never", "--now", "2026-11-20T02:00:00Z", "-C"]);
    command.arg(workspace).output().expect("the program runs")
}

/// The built binary.
pub fn zonewright() -> Command {
    Command::new(env!("CARGO_BIN_EXE_zonewright"))
}

/// The plan that a run printed.
pub fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// The standard error of a run.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The workspace of another run: a copy of a workspace without its state.
pub fn another(workspace: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(workspace, folder.path());
    let _ = fs::remove_dir_all(folder.path().join(".zonewright"));
    folder
}
