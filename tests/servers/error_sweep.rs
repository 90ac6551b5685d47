//! Errors of the system at any call of an apply: none loses an entry of the journal, all are reported or survived, and
//! the rest can be resumed.
//!
//! Every write, sync, rename and connect fails once with ENOSPC, with EIO and with EINTR; every write is once cut
//! short; and from every write to the state on the disk is full. By default a sample is tried that is the same each
//! time;
//! `ERROR_POINTS=all` tries all.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use crate::rig::Applied;
use crate::server::Kind;
use crate::sweep;
use crate::syscalls::{self, Fault, Maker, Point};
use crate::workspace::{copy, stderr};
use crate::yard::{STATE, Yard};

/// How many cases of each target are tried by default.
const SAMPLE: usize = 120;

/// The errors.
const ERRORS: [Fault; 3] = [Fault::Errno("ENOSPC", 28), Fault::Errno("EIO", 5), Fault::Errno("EINTR", 4)];

/// The calls that fail, as either maker names them.
const FAILING: [&str; 9] =
    ["write", "pwrite", "pwrite64", "fsync", "fdatasync", "rename", "ftruncate", "connect", "unlink"];

/// The calls that are cut short.
const CUT: [&str; 3] = ["write", "pwrite", "send"];

/// The calls that take room on a disk, of those that the library counts.
const TAKING_ROOM: [&str; 3] = ["write", "pwrite", "ftruncate"];

/// Gives a command a world of its own, in which it may mount.
const UNSHARE: &str = "/usr/bin/unshare";

/// Puts a disk of some octets in the place of a folder, with a copy of what another holds, and runs a command.
const ON_A_SMALL_DISK: &str = r#"mount -t tmpfs -o size="$1" none "$2" || exit 99
cp "$3"/* "$2"
shift 3
exec "$@""#;

/// The exit code where that is not possible.
const NOT_MOUNTED: i32 = 99;

/// What a small file takes of such a disk, in octets.
const PAGE: u64 = 4096;

#[test]
fn no_error_loses_an_entry_of_an_apply_to_a_server() {
    try_all("server", &|| Yard::served(Kind::Bind));
}

#[test]
fn no_error_loses_an_entry_of_an_apply_to_files_or_tears_one() {
    try_all("files", &|| Some(Yard::in_files()));
}

/// A case: where, and what.
type Case = (Point, Fault);

/// The outcomes of all cases.
#[derive(Debug, Default)]
struct Tally {
    /// How many were tried, by call and fault.
    cases: BTreeMap<(String, String), usize>,
    /// How many applies ended with which exit code.
    exits: BTreeMap<Option<i32>, usize>,
}

/// Tries the cases of a target.
fn try_all(target: &str, yard: &(impl Fn() -> Option<Yard> + Sync)) {
    if !syscalls::are_possible() {
        return;
    }
    let Some(first) = yard() else { return };
    let all = cases(&first.points());
    let is_all = sweep::wants_all("ERROR_POINTS");
    let chosen = if is_all { all } else { sweep::sample(&all, SAMPLE) };
    let (tally, begun) = (Mutex::new(Tally::default()), Instant::now());
    let divergences = sweep::over(&first, yard, &chosen, |yard, _, (point, fault)| {
        let (exit, tried) = try_case(yard, point, *fault);
        let mut tally = tally.lock().expect("nothing panics with it");
        *tally.cases.entry((point.call.clone(), format!("{fault:?}"))).or_default() += 1;
        *tally.exits.entry(exit).or_default() += 1;
        tried
    });
    let (tally, took) = (tally.into_inner().expect("nothing panics with it"), begun.elapsed());
    if is_all {
        writeln!(std::io::stderr(), "{target}: {} cases in {took:.1?}: {tally:#?}", chosen.len()).expect("stderr");
    }
    assert!(divergences.is_empty(), "{target}: {divergences:#?}");
}

/// All cases, mixed so that every part of them has something of all calls and faults.
fn cases(points: &[Point]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let room: Vec<&Point> = points.iter().filter(|point| point.maker == Maker::Library).collect();
    let room = room.iter().filter(|point| TAKING_ROOM.contains(&point.call.as_str())).count();
    for point in points {
        let call = point.call.as_str();
        if FAILING.contains(&call) {
            cases.extend(ERRORS.map(|error| (point.clone(), error)));
        }
        if CUT.contains(&call) && point.maker == Maker::Library {
            cases.push((point.clone(), Fault::Short));
        }
    }
    let full = |number| Point { maker: Maker::Library, call: "disk".to_owned(), number };
    cases.extend((1..=room).map(|number| (full(number), Fault::Full(STATE))));
    cases
}

/// Applies with a fault, and looks whether all is as it must be; gives the exit code too.
fn try_case(yard: &Yard, point: &Point, fault: Fault) -> (Option<i32>, Result<(), String>) {
    let output = point.of(&yard.apply_command(), fault).output().expect("it runs");
    let signal = output.status.signal();
    let applied = Applied::new(output);
    let checked = match (applied.exit, signal) {
        (Some(0), _) => yard.differ_from_after(&yard.zones()),
        (Some(1 | 4), _) if is_reported(&applied) => Ok(()),
        _ => Err(format!("signal {signal:?}: {}", applied.said())),
    };
    let checked = checked.and_then(|()| yard.check_journal()).and_then(|()| {
        let has_begun = yard.has_begun();
        yard.check_resumed(&yard.resume(), has_begun)?;
        yard.check_rest(has_begun)
    });
    (applied.exit, checked.map_err(|error| format!("{error}\nafter {}", applied.said())))
}

/// Whether an error was reported.
fn is_reported(applied: &Applied) -> bool {
    let document = &applied.document;
    let has_problem = document["problems"].as_array().is_some_and(|problems| !problems.is_empty());
    applied.refused().is_some() || has_problem || !applied.stderr.trim().is_empty()
}

#[test]
fn a_full_disk_stops_an_apply_before_anything_is_sent() {
    if !syscalls::are_possible() {
        return;
    }
    let Some(yard) = Yard::served(Kind::Bind) else { return };
    let before = yard.zones();
    let first = Point { maker: Maker::Library, call: "disk".to_owned(), number: 1 };
    let applied = Applied::new(first.of(&yard.apply_command(), Fault::Full(STATE)).output().expect("it runs"));
    applied.assert_refused(1, "state-unwritable");
    assert_eq!(yard.zones(), before, "the serials too");
    yard.check_resumed(&yard.resume(), false).expect("nothing was begun");
    yard.check_rest(false).expect("with room again it is applied");
}

/// The same with a real disk, so small that no log of the state finds room on it.
#[test]
fn a_disk_that_is_really_full_stops_an_apply_before_anything_is_sent() {
    if !crate::have(Path::new(UNSHARE)) {
        return;
    }
    let Some(yard) = Yard::served(Kind::Bind) else { return };
    let state = yard.workspace().join(STATE);
    // What plans keep may be deleted at any time, and would take the room that the state is to lack.
    fs::remove_dir_all(state.join("cache")).expect("the plan kept its zones");
    let copied = tempfile::tempdir().expect("a folder");
    copy(&state, copied.path());
    let octets = |entry: fs::DirEntry| entry.metadata().expect("a file").len().next_multiple_of(PAGE);
    let needed: u64 = fs::read_dir(&state).expect("the state").map(|entry| octets(entry.expect("an entry"))).sum();
    let before = yard.zones();
    for room in [0, 1, 2, 4, 8] {
        let apply = yard.apply_command();
        let mut command = Command::new(UNSHARE);
        command.args(["--map-root-user", "--mount", "sh", "-ec", ON_A_SMALL_DISK, "sh"]);
        command.arg((needed + room * PAGE).to_string()).arg(&state).arg(copied.path());
        command.arg(apply.get_program()).args(apply.get_args());
        let output = command.output().expect("unshare runs");
        if output.status.code() == Some(NOT_MOUNTED) {
            let why = stderr(&output);
            writeln!(std::io::stderr(), "skipped: nothing can be mounted here: {why}").expect("stderr is open");
            return;
        }
        Applied::new(output).assert_refused(1, "state-unwritable");
        assert_eq!(yard.zones(), before, "the serials too");
    }
}
