//! A clock that is wrong: what is made of it with each kind of server.

use std::path::Path;
use std::process::Command;

use crate::server::{Key, Kind, Server};
use crate::workspace::{demo_zones, plan, reading_from, stderr};

/// Lets a program see another time, by a library that it loads first.
const FAKETIME: &str = "/usr/bin/faketime";

on_every_kind! {
    a_wrong_clock_is_told_with_the_difference_where_the_server_tells
    a_clock_that_is_less_than_300_seconds_wrong_does_no_harm
}

/// The built binary, its clock wrong by so many seconds. `None` where that cannot be had, which it says aloud.
fn with_clock(skew: i64) -> Option<Command> {
    let mut command = Command::new(FAKETIME);
    command.arg("-f").arg(format!("{skew:+}")).arg(env!("CARGO_BIN_EXE_zonewright"));
    crate::have(Path::new(FAKETIME)).then_some(command)
}

/// Too slow and too fast.
fn a_wrong_clock_is_told_with_the_difference_where_the_server_tells(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let workspace = reading_from(&[server.address()], &key);
    for (skew, side) in [(-400, "ahead of"), (400, "behind")] {
        let Some(command) = with_clock(skew) else { return };
        let output = plan(workspace.path(), command);
        assert_eq!(output.status.code(), Some(1));
        let stderr = stderr(&output);
        let start = format!("{} zone example.net.: ", server.address());
        let mut lines = stderr.lines().skip_while(|line| !line.starts_with(&start));
        let said = lines.next().unwrap_or_else(|| panic!("{stderr}")).strip_prefix(&start).expect("it starts so");
        if kind == Kind::PowerDns {
            assert_eq!(
                said,
                "error[transfer-refused]: the server answers NOTAUTH, unsigned, so that anybody may have said it"
            );
            assert!(lines.next().is_some_and(|hint| hint.contains("both clocks")), "{stderr}");
        } else {
            let seconds = said.strip_prefix("error[tsig-bad-time]: the clocks differ: the server's is ");
            let seconds = seconds.and_then(|rest| rest.strip_suffix(&format!(" s {side} ours")));
            // Some seconds may pass between both looks at the clock on a busy machine.
            let seconds: u32 = seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or_else(|| panic!("{said}"));
            assert!((370..=430).contains(&seconds), "{said}");
        }
    }
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
