//! `ci/verdict`: what a run of tests ends with.

use std::process::Command;

use crate::{assert_ended, file};

/// Asserts how a run ends that prints some lines and exits with a code; the verdict is given without the time it took.
#[track_caller]
fn assert_verdict(lines: &str, code: i32, verdict: [&str; 2]) {
    let mut command = Command::new(file("ci/verdict"));
    command.args(["sh", "-c", "printf '%b' \"$1\"; exit \"$2\"", "sh", lines, &code.to_string()]);
    let output = command.env_remove("SKIPPED_FOR").output().expect("it runs");
    assert_ended(&output, code, lines);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, behind) = shown.split_once(verdict[0]).unwrap_or_else(|| panic!("{}: {shown}", verdict[0]));
    assert!(behind.ends_with(verdict[1]), "{shown}");
}

#[test]
fn the_numbers_of_all_test_files_are_added_up() {
    let lines = "test result: ok. 1279 passed; 0 failed; 0 ignored\ntest result: ok. 100 passed; 0 failed; 0 ignored\n";
    assert_verdict(lines, 0, ["\nAll 1 379 tests passed in ", ".\n1379 passed, 0 failed\n"]);
}

#[test]
fn what_failed_is_named_and_the_exit_code_is_kept() {
    let lines = "test a::b ... FAILED\ntest c ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
    assert_verdict(lines, 101, ["\nTests failed: a::b; see above. 1 passed, in ", ".\n1 passed, 1 failed\n"]);
}

#[test]
fn a_build_that_fails_is_no_success() {
    let behind = ", and no test says why; see the errors above.\n0 passed, 0 failed\n";
    assert_verdict("", 101, ["\nTests failed: exit code 101 after ", behind]);
}
