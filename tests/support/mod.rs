//! What several test files share: the built binary, Python, and how a test skips.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the built binary, with a fixed number of threads where one is given.
pub fn zonewright(args: &[String], threads: Option<usize>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).env_remove("RAYON_NUM_THREADS").env("NO_COLOR", "1");
    if let Some(threads) = threads {
        command.env("RAYON_NUM_THREADS", threads.to_string());
    }
    command.output().expect("the binary was built for this test")
}

/// Says aloud, past the test harness, that a test did not run, and why. Under `CI=true` that is a failure.
pub fn skip(reason: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "under CI=true nothing may skip: {reason}");
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
}

/// The Python interpreter; none where there is none of version 3.11 or later.
pub fn python() -> Option<PathBuf> {
    let check = "import sys; sys.exit(sys.version_info < (3, 11))";
    let found = ["python3", "/usr/bin/python3"]
        .into_iter()
        .find(|python| Command::new(python).args(["-c", check]).output().is_ok_and(|output| output.status.success()));
    found.map(PathBuf::from)
}
