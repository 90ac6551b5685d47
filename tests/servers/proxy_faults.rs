//! Faults on the wire, at every boundary of a message and at random octets of three sessions: everything that an apply
//! reports about its hosts is true, or it says that it does not know; and once the fault is gone `resume` does the
//! rest.
//!
//! Of these a sample is played. `PROXY_CASES=all` in the environment plays every fault at every boundary, and those at
//! a thousand octets; `PROXY_CASES=late` plays the updates that come late, each at every moment of `resume`.
//! `PROXY_SEED=17` picks other octets.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::faults::{At, Fault, Passed, Way, Wrong, octets_of};
use crate::session::{Play, Played, Stage};

/// How many sessions of each kind are played side by side: most of their time they wait.
const SIDE_BY_SIDE: usize = 6;

/// Octets of each session at which something is done wrong, where all are asked for.
const OCTETS: usize = 334;

/// Of so many faults one is played, unless all are asked for; no number of faults of a boundary has a divisor with it.
const ONE_OF: usize = 11;

/// A late update comes at the latest before this message up of those of `resume`; there are hardly more.
const LATEST: usize = 24;

/// After so many sessions a new plan is made.
const PLANS: usize = 10;

#[test]
fn an_apply_knows_what_it_did_whatever_the_wire_does_to_a_fenced_fleet() {
    assert_nothing_is_wrong(Play::Demo);
}

#[test]
fn an_apply_knows_what_it_did_whatever_the_wire_does_to_a_chain_of_updates() {
    assert_nothing_is_wrong(Play::Chain);
}

#[test]
fn an_apply_knows_what_it_did_whatever_the_wire_does_without_markers_and_signatures() {
    assert_nothing_is_wrong(Play::Bare);
}

/// Plays a session with every fault of the list.
fn assert_nothing_is_wrong(play: Play) {
    let begun = Instant::now();
    let Some(first) = Stage::new(play) else { return };
    let passed = first.record();
    let faults = faults(play, &passed);
    let next = Mutex::new(faults.iter().enumerate());
    let take = || next.lock().expect("nothing panics with it").next();
    let work = |stage: Stage| {
        let mut played = Vec::new();
        while let Some((number, fault)) = take() {
            played.push((fault, stage.play(fault, number % PLANS == 0)));
        }
        played
    };
    let played: Vec<(&Fault, Played)> = thread::scope(|scope| {
        let stages = std::iter::once(Some(first)).chain((1..SIDE_BY_SIDE).map(|_| Stage::new(play))).flatten();
        let workers: Vec<_> = stages.map(|stage| scope.spawn(|| work(stage))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a session is played to its end")).collect()
    });
    tell(play, &passed, &played, begun.elapsed());
    let wrong: Vec<_> = played.iter().filter(|(_, played)| !played.wrong.is_empty()).collect();
    for (fault, played) in wrong.iter().take(5) {
        eprintln!("{fault:?}\n{}", played.wrong.join("\n"));
    }
    assert!(wrong.is_empty(), "{play:?}: {} of {} cases are wrong", wrong.len(), played.len());
}

/// What is to be done wrong.
fn faults(play: Play, passed: &Passed) -> Vec<Fault> {
    match std::env::var("PROXY_CASES").as_deref() {
        Ok("all") => [boundaries(passed), late(passed), octets(play, passed)].concat(),
        Ok("late") => late(passed),
        _ => {
            let all = [boundaries(passed), late(passed), octets(play, passed)].concat();
            all.into_iter().step_by(ONE_OF).collect()
        }
    }
}

/// Every fault at every boundary.
fn boundaries(passed: &Passed) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (line, ways) in passed {
        for way in [Way::Up, Way::Down] {
            let fault = |at: At, wrong: Wrong| Fault { line: line.clone(), way, at, wrong };
            let messages = &ways[way as usize];
            for number in 0..messages.len() {
                // After the deadline: while `resume` looks for its outcome, and after it was done again.
                let late = Duration::from_millis([1030, 1150, 1300, 1700][(faults.len() / 7) % 4]);
                let short = Wrong::Delayed(Duration::from_millis(100));
                let wrongs =
                    [Wrong::Dropped, short, Wrong::Delayed(late), Wrong::Doubled, Wrong::Swapped, Wrong::Dripping];
                faults.extend(wrongs.map(|wrong| fault(At::Message(number), wrong)));
            }
            for end in 0..=messages.len() {
                let at = At::Octet(octets_of(&messages[..end]));
                faults
                    .extend([Wrong::Cut, Wrong::HalfClosed, Wrong::Gone, Wrong::Silent].map(|wrong| fault(at, wrong)));
            }
        }
    }
    faults
}

/// Every update late: it comes while the apply is taken up, before one message or another.
fn late(passed: &Passed) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (line, [up, _]) in passed {
        for number in (0..up.len()).filter(|number| up[*number].is_update) {
            let (line, way, at) = (line.clone(), Way::Up, At::Message(number));
            let fault = |before: usize| Fault { line: line.clone(), way, at, wrong: Wrong::Late(before) };
            faults.extend((0..LATEST).map(fault));
        }
    }
    faults
}

/// Faults at random octets.
fn octets(play: Play, passed: &Passed) -> Vec<Fault> {
    let seed = std::env::var("PROXY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(5);
    let mut random = Random(seed * 4 + play as u64 + 1);
    let fault = |number: usize| {
        let way = [Way::Up, Way::Down][number % 2];
        let all: usize = passed.values().map(|ways| octets_of(&ways[way as usize])).sum();
        let mut octet = random.below(all);
        for (line, ways) in passed {
            let here = octets_of(&ways[way as usize]);
            if octet < here {
                let wrong = [Wrong::Cut, Wrong::HalfClosed, Wrong::Stalled, Wrong::Gone][number / 2 % 4];
                return Fault { line: line.clone(), way, at: At::Octet(octet), wrong };
            }
            octet -= here;
        }
        unreachable!("an octet is in one of the connections")
    };
    (0..OCTETS).map(fault).collect()
}

/// Numbers that a seed decides (xorshift64*).
struct Random(u64);

impl Random {
    /// One below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

/// Tells how many sessions came to what.
fn tell(play: Play, passed: &Passed, played: &[(&Fault, Played)], took: Duration) {
    let messages: usize = passed.values().flatten().map(Vec::len).sum();
    let octets: usize = passed.values().flatten().map(|messages| octets_of(messages)).sum();
    let mut by_fault: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_end: BTreeMap<&str, usize> = BTreeMap::new();
    for (fault, played) in played {
        let name = format!("{:?}", fault.wrong);
        *by_fault.entry(name.split('(').next().unwrap_or_default().to_owned()).or_default() += 1;
        *by_end.entry(played.end).or_default() += 1;
    }
    let count = |is: fn(&Played) -> bool| played.iter().filter(|(_, played)| is(played)).count();
    eprintln!(
        "{play:?}: {} connections, {messages} messages, {octets} octets; {} cases in {:.0} s, of which the fault was met in {}: \
         {by_fault:?}; reported: {by_end:?}; unknown, then resolved: {}; wrong: {}",
        passed.len(),
        played.len(),
        took.as_secs_f64(),
        count(|played| played.is_struck),
        count(|played| played.is_resolved),
        count(|played| !played.wrong.is_empty()),
    );
}
