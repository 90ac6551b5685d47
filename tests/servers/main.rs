//! Tests against real name servers on loopback: one binary, so that all of them share the helpers that start servers.

use std::io::Write as _;
use std::path::Path;

mod axfr;
mod bind;
mod demo;
mod query;

/// Whether a program is there. Where it is not, says so aloud on stderr, past the test harness; in CI that is a failure.
fn have(program: &Path) -> bool {
    if program.is_file() {
        return true;
    }
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{} is not installed, and CI is true",
        program.display()
    );
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: {} is not installed", program.display()).expect("stderr is open");
    false
}
