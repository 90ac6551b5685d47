//! The random fleets that `tests/reference/fleets.py` writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use crate::support::root;

/// The arguments that a generated fleet asks for, from its file `args`.
pub fn args(fleet: &Path) -> Vec<String> {
    let text = fs::read_to_string(fleet.join("args")).expect("a fleet has a file `args`");
    text.lines().map(str::to_owned).collect()
}

/// Damages that only the guards will judge: exports by their date, protected names, and CNAMEs where the registry writes.
const LEFT_TO_GUARDS: &str = "stale_source,protected,cname_at_registry_name";

/// The files of a fleet, by their path in its folder.
type FleetFiles = BTreeMap<PathBuf, Vec<u8>>;

/// Fleets of seeds up to this are kept in memory. A run of more seeds looks at each of them once.
const KEPT: u64 = 100;

/// The fleets that are kept, by seed. Many tests of a file look at the same fleets, and Python takes longer to write one
/// than a test to look at it.
static WRITTEN: Mutex<BTreeMap<u64, Arc<OnceLock<FleetFiles>>>> = Mutex::new(BTreeMap::new());

/// Writes the random fleet of a seed.
pub fn write(python: &Path, seed: u64, fleet: &Path) {
    if seed > KEPT {
        return make(python, seed, fleet);
    }
    let files = Arc::clone(WRITTEN.lock().expect("nothing panics here").entry(seed).or_default());
    for (path, content) in files.get_or_init(|| made(python, seed)) {
        let path = fleet.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, content).expect("a file of the fleet");
    }
}

/// Lets Python write the fleet of a seed.
fn make(python: &Path, seed: u64, fleet: &Path) {
    let output = Command::new(python)
        .arg(root().join("tests/reference/fleets.py"))
        .arg(seed.to_string())
        .arg(fleet)
        .args(["--without", LEFT_TO_GUARDS])
        .output()
        .expect("Python was just found");
    assert!(output.status.success(), "fleet {seed}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The files of the fleet of a seed.
fn made(python: &Path, seed: u64) -> FleetFiles {
    let folder = tempfile::tempdir().expect("a folder for the fleet");
    make(python, seed, folder.path());
    let mut files = FleetFiles::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let own = path.strip_prefix(folder.path()).expect("it is in the folder").to_owned();
                files.insert(own, fs::read(&path).expect("a file of the fleet"));
            }
        }
    }
    files
}
