//! The random fleets that `tests/reference/fleets.py` writes.

use std::path::Path;
use std::process::Command;

use crate::support::root;

/// The arguments that a generated fleet asks for, from its file `args`.
pub fn args(fleet: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(fleet.join("args")).expect("a fleet has a file `args`");
    text.lines().map(str::to_owned).collect()
}

/// Damages that only the guards will judge: exports by their date, protected names, and CNAMEs where the registry writes.
const LEFT_TO_GUARDS: &str = "stale_source,protected,cname_at_registry_name";

/// Writes the random fleet of a seed.
pub fn write(python: &Path, seed: u64, fleet: &Path) {
    let output = Command::new(python)
        .arg(root().join("tests/reference/fleets.py"))
        .arg(seed.to_string())
        .arg(fleet)
        .args(["--without", LEFT_TO_GUARDS])
        .output()
        .expect("Python was just found");
    assert!(output.status.success(), "fleet {seed}: {}", String::from_utf8_lossy(&output.stderr));
}
