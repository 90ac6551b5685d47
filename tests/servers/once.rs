//! What a command opens: each settings file once, and the state once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::have;
use crate::rig::NOW;
use crate::workspace::{copy, demo};

/// Where Debian puts it.
const STRACE: &str = "/usr/bin/strace";

/// How often a command opens each file of a workspace whose name has one of these endings.
fn opened(workspace: &Path, args: &[&str], endings: &[&str]) -> BTreeMap<String, usize> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut command = Command::new(STRACE);
    command.args(["-f", "-qq", "-e", "trace=openat,open", "-e", "signal=none", "-o"]).arg(log.path());
    command.arg(env!("CARGO_BIN_EXE_zonewright")).args(args).args(["--now", NOW, "-C"]).arg(workspace);
    command.output().expect("strace runs");
    let mut opened = BTreeMap::new();
    for line in fs::read_to_string(log.path()).expect("the log").lines() {
        // A call that another thread interrupts is resumed in a line of its own, without the path.
        let Some(path) = line.split('"').nth(1).filter(|_| !line.contains("ENOENT")) else { continue };
        let name = Path::new(path).strip_prefix(workspace).map(|name| name.to_string_lossy().into_owned());
        if let Ok(name) = name.map_err(drop)
            && endings.iter().any(|ending| name.ends_with(ending))
        {
            *opened.entry(name).or_default() += 1;
        }
    }
    opened
}

#[test]
fn settings_are_read_once_and_the_state_is_opened_once() {
    if !have(Path::new(STRACE)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    copy(&demo(), folder.path());
    let endings = ["zonewright.toml", ".yaml", "hosts.csv", "state.db"];
    let applied = opened(folder.path(), &["apply", "--yes", "-q"], &endings);
    assert!(applied.contains_key("zonewright.toml"), "{applied:?}");
    for args in [&["plan", "-q"][..], &["explain", "100101"], &["status"], &["check"], &["history"]] {
        let opened = opened(folder.path(), args, &endings);
        assert!(opened.contains_key("zonewright.toml") && opened.contains_key(".zonewright/state.db"), "{opened:?}");
        assert!(opened.values().all(|times| *times == 1), "{args:?}: {opened:?}");
    }
}
