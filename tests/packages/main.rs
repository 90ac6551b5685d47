//! What people copy to run zonewright regularly, held to what it promises: the script for any service, the hook, the units of
//! systemd, the manifests, the image, and what the package is made of.

#[path = "../folder/copy.rs"]
mod copy;
#[path = "../support/schemas.rs"]
mod schemas;
#[expect(dead_code, reason = "these tests need no Python")]
#[path = "../support/mod.rs"]
mod support;

mod hook;
mod image;
mod manifests;
mod package;
mod script;
mod served;
mod units;
mod verdict;

use std::path::PathBuf;
use std::process::{Command, Output};

/// The clock of all runs on the demo.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The built binary.
const PROGRAM: &str = env!("CARGO_BIN_EXE_zonewright");

/// A file of the project.
fn file(path: &str) -> PathBuf {
    support::root().join(path)
}

/// The text of a file of the project.
fn text(path: &str) -> String {
    std::fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All that a program printed.
fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Asserts an exit code, and that some text was printed.
#[track_caller]
fn assert_ended(output: &Output, code: i32, text: &str) {
    assert_eq!(output.status.code(), Some(code), "{}", said(output));
    assert!(said(output).contains(text), "{text} is not in: {}", said(output));
}

/// Whether a program can be run; says aloud where it cannot.
fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        support::skip(&format!("{program} is not installed"));
    }
    found
}
