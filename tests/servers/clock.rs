//! A clock that is wrong: what is made of it with each kind of server.

use std::path::Path;
use std::process::Command;

use crate::server::{Key, Kind, Server};
use crate::workspace::{demo_zones, edit, plan, reading_from, stderr};

/// Lets a program see another time, by a library that it loads first.
const FAKETIME: &str = "/usr/bin/faketime";

on_every_kind! {
    a_wrong_clock_is_told_with_the_difference_where_the_server_tells
    a_clock_that_is_less_than_300_seconds_wrong_does_no_harm
}

/// The built binary, its clock wrong by so many seconds. `None` where that cannot be had, which it says aloud.
pub fn with_clock(skew: i64) -> Option<Command> {
    let mut command = Command::new(FAKETIME);
    command.arg("-f").arg(format!("{skew:+}")).arg(env!("CARGO_BIN_EXE_zonewright"));
    crate::have(Path::new(FAKETIME)).then_some(command)
}

/// Too slow and too fast, for a transfer and for questions.
fn a_wrong_clock_is_told_with_the_difference_where_the_server_tells(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let [whole, by_name] = [(), ()].map(|()| reading_from(&[server.address()], &key));
    edit(by_name.path(), "type = \"rfc2136\"\n", "type = \"rfc2136\"\nread = \"query\"\n");
    for (workspace, code, to) in
        [(whole, "transfer-refused", ""), (by_name, "query-refused", " to a question about a name")]
    {
        for (skew, side) in [(-400, "ahead of"), (400, "behind")] {
            let Some(command) = with_clock(skew) else { return };
            let output = plan(workspace.path(), command);
            assert_eq!(output.status.code(), Some(1));
            let stderr = stderr(&output);
            let start = format!("{}: ", server.address());
            let mut lines =
                stderr.lines().filter_map(|line| line.strip_prefix(&start).or(line.strip_prefix("  = hint: ")));
            let said = lines.find(|line| line.starts_with("error[")).unwrap_or_else(|| panic!("{stderr}"));
            // The zones come after what keeps them from being read.
            let said = said.split("; ").next().unwrap_or(said);
            let hint = lines.next().unwrap_or_else(|| panic!("{stderr}"));
            if kind == Kind::PowerDns {
                let no = format!(
                    "error[{code}]: the server answers NOTAUTH{to}, unsigned, so another machine may have sent it"
                );
                assert_eq!(said, no);
                assert!(hint.contains("both clocks"), "{hint}");
            } else {
                assert_difference(said, side);
            }
        }
    }
}

/// Checks that a message tells a difference of about 400 seconds.
fn assert_difference(said: &str, side: &str) {
    let seconds = said.strip_prefix("error[tsig-bad-time]: the clocks differ: the server's is ");
    let seconds = seconds.and_then(|rest| rest.strip_suffix(&format!(" s {side} ours")));
    let seconds: u32 = seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or_else(|| panic!("{said}"));
    // Some seconds may pass between both looks at the clock on a busy machine.
    assert!((370..=430).contains(&seconds), "{said}");
}

/// So much is allowed (RFC 8945 section 10), by default and by all of them.
fn a_clock_that_is_less_than_300_seconds_wrong_does_no_harm(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let workspace = reading_from(&[server.address()], &key);
    for skew in [-200, 200] {
        let Some(command) = with_clock(skew) else { return };
        let output = plan(workspace.path(), command);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
