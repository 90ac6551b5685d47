//! The lock of a state.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::*;

#[test]
fn a_lock_is_held_once_and_free_when_it_is_dropped() {
    let (_folder, file) = place();
    assert_eq!(StateLock::holder(&address(&file)), None);
    let lock = StateLock::take(&address(&file), "ops@desk", at(0)).unwrap();
    let holder = LockHolder { pid: Some(std::process::id()), who: "ops@desk".into(), since: Some(at(0)) };
    assert_eq!(StateLock::holder(&address(&file)), Some(holder));
    let error = StateLock::take(&address(&file), "ci", at(1)).unwrap_err();
    assert_eq!(error.code.as_str(), "locked");
    let pid = std::process::id();
    assert_eq!(
        error.message,
        format!("another run has the lock: process {pid} of ops@desk, since 2026-11-20T02:00:00Z")
    );
    drop(lock);
    assert_eq!(StateLock::holder(&address(&file)), None);
    drop(StateLock::take(&address(&file), "", at(2)).unwrap());
    // What it says is for messages alone.
    fs::write(file.with_extension("db.lock"), "nonsense").unwrap();
    assert_eq!(StateLock::holder(&address(&file)), None);
    assert!(StateLock::take(&address(&file), "ci", at(1)).is_ok());
}

/// Names the state whose lock this process is to hold, where it was started for that.
const HELD: &str = "ZONEWRIGHT_TEST_HOLDS_LOCK_OF";

#[test]
fn the_lock_of_a_killed_process_is_free() {
    if let Some(file) = std::env::var_os(HELD) {
        let _lock = StateLock::take(&address(file.as_ref()), "victim", at(0)).unwrap();
        println!("\nheld");
        loop {
            std::thread::park();
        }
    }
    let (_folder, file) = place();
    let name = "state::tests::lock::the_lock_of_a_killed_process_is_free";
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim.args(["--exact", name, "--nocapture"]).env(HELD, &file).stdout(Stdio::piped());
    let mut victim = victim.spawn().unwrap();
    let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"));
    assert_eq!(StateLock::holder(&address(&file)).unwrap().who, "victim");
    assert_eq!(StateLock::take(&address(&file), "other", at(1)).unwrap_err().code.as_str(), "locked");
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(StateLock::holder(&address(&file)), None);
    assert!(StateLock::take(&address(&file), "other", at(1)).is_ok());
}
