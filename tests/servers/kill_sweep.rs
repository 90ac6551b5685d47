//! An apply that is killed at any moment, and taken up again: nothing is lost, and nothing is done twice.
//!
//! Every write, sync, connect, send and receive of an apply over a forward and a reverse zone is a point where it is
//! killed: those of the whole run by a library, and those that `strace` can reach by `strace` as well. Every tenth time
//! the resumption is killed too. By default a sample is tried that is the same each time; `KILL_POINTS=all` tries all.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use crate::rig::Applied;
use crate::server::Kind;
use crate::sweep;
use crate::syscalls::{self, Fault, Maker, Point};
use crate::yard::Yard;

on_every_primary! {
    an_apply_that_is_killed_anywhere_is_completed_by_resume
}

by_api_too! {
    an_apply_that_is_killed_anywhere_is_completed_by_resume
}

/// How many points of each kind of server are tried by default.
const SAMPLE: usize = 100;

/// Of so many resumptions one is killed, too.
const KILLED_RESUMPTIONS: usize = 10;

/// Calls of which all are tried by default: between them an update is on its way.
const ON_THE_WIRE: [&str; 3] = ["connect", "send", "recv"];

/// The outcomes of all points.
#[derive(Debug, Default)]
struct Tally {
    /// How many were tried, by maker and call.
    points: BTreeMap<(Maker, String), usize>,
    /// After how many the apply had begun.
    begun: usize,
    /// How many resumptions were killed, and how many were to be and ended before.
    resumptions: (usize, usize),
    /// How many runs ended before their point came.
    missed: usize,
}

/// The sweep.
fn an_apply_that_is_killed_anywhere_is_completed_by_resume(kind: Kind) {
    if !syscalls::are_possible() {
        return;
    }
    let yard = || Yard::served(kind);
    let Some(first) = yard() else { return };
    let (points, of_resumption) = (first.points(), points_of_resumption(&first));
    let is_all = sweep::wants_all("KILL_POINTS");
    let chosen = if is_all { points } else { sample(&points) };
    let (tally, begun) = (Mutex::new(Tally::default()), Instant::now());
    let divergences = sweep::over(&first, &yard, &chosen, |yard, number, point| {
        let is_killed_again = number % KILLED_RESUMPTIONS == 0;
        let resumed_at =
            is_killed_again.then(|| &of_resumption[number / KILLED_RESUMPTIONS * 29 % of_resumption.len()]);
        let tried = try_point(yard, point, resumed_at, &tally);
        tried.map_err(|divergence| format!("then {resumed_at:?}: {divergence}"))
    });
    let (tally, took) = (tally.into_inner().expect("nothing panics with it"), begun.elapsed());
    if is_all {
        writeln!(std::io::stderr(), "{kind:?}: {} points in {took:.1?}: {tally:#?}", chosen.len()).expect("stderr");
    }
    assert!(divergences.is_empty(), "{kind:?}: {divergences:#?}");
    assert!(tally.begun > 0 && tally.missed < chosen.len() / 5, "{tally:?}");
    assert!(tally.resumptions.0 > 0, "{tally:?}");
}

/// The calls of a resumption of which most is left to do.
fn points_of_resumption(yard: &Yard) -> Vec<Point> {
    let point = yard.before_updates(3);
    syscalls::points(&yard.resume_command(), yard.copies(), |mut command| {
        yard.put_back();
        point.of(&yard.apply_command(), Fault::Kill).output().expect("it runs");
        Applied::new(command.output().expect("it runs")).assert_all(0, "applied");
    })
}

/// The points that are tried by default: all around a message, and of the others as many as there is time for, evenly.
fn sample(points: &[Point]) -> Vec<Point> {
    let is_on_the_wire = |point: &Point| point.maker == Maker::Library && ON_THE_WIRE.contains(&point.call.as_str());
    let (mut chosen, others): (Vec<Point>, Vec<Point>) = points.iter().cloned().partition(is_on_the_wire);
    chosen.extend(sweep::sample(&others, SAMPLE.saturating_sub(chosen.len())));
    chosen
}

/// Kills an apply at a point, and where that is said its resumption too; then looks whether all is as it must be.
fn try_point(yard: &Yard, point: &Point, resumed_at: Option<&Point>, tally: &Mutex<Tally>) -> Result<(), String> {
    let was_killed = |point: &Point, command: &Command| {
        point.of(command, Fault::Kill).output().expect("it runs").status.signal().is_some()
    };
    let is_killed = was_killed(point, &yard.apply_command());
    let is_killed_again = resumed_at.map(|point| was_killed(point, &yard.resume_command()));
    let resumed = yard.resume();
    let has_begun = yard.has_begun();
    {
        let mut tally = tally.lock().expect("nothing panics with it");
        *tally.points.entry((point.maker, point.call.clone())).or_default() += 1;
        tally.missed += usize::from(!is_killed);
        tally.begun += usize::from(has_begun);
        tally.resumptions.0 += usize::from(is_killed_again == Some(true));
        tally.resumptions.1 += usize::from(is_killed_again == Some(false));
    }
    yard.check_resumed(&resumed, has_begun)?;
    yard.check_rest(has_begun)
}
