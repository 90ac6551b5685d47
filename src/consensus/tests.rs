//! The count and the serials, against tables and against a reading of each that is as plain as it is slow.
//!
//! The tables were written from the rules by an author who had not seen the code.

use proptest::prelude::*;

use super::*;
use crate::dns::Serial;
use crate::target::SerialAnswer;

/// The cases of a table: its lines without comments, each cut into what is given and what comes out.
fn cases(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" -> ").expect("a case has a result"))
}

/// The value of a key in a case.
fn value<'a>(case: &'a str, key: &str) -> &'a str {
    let value = case.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("`{case}` has no `{key}`"))
}

/// A number of a case; `-` is none.
fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Option<T> {
    (text != "-").then(|| text.parse().expect("a number"))
}

/// The steps and serials that are kept, as `STEP:SERIAL,…`.
fn kept(case: &str) -> Vec<StepSerial> {
    let pairs = value(case, "kept").split(',').filter(|pair| *pair != "-");
    let pair = |pair: &str| {
        let (step, serial) = pair.split_once(':').expect("a step and a serial");
        StepSerial { step: StepNumber(step.parse().unwrap()), serial: Serial(serial.parse().unwrap()) }
    };
    pairs.map(pair).collect()
}

#[test]
fn the_count_is_as_in_the_table() {
    let mut count = 0;
    for (case, result) in cases(include_str!("tests/counts.txt")) {
        let voter = |text: &str| {
            let step = text.trim_end_matches('E');
            (StepNumber(number(step).unwrap_or(0)), text.ends_with('E'))
        };
        let voters: Vec<(StepNumber, bool)> = value(case, "voters").split(',').map(voter).collect();
        let step = |key| StepNumber(number(value(case, key)).unwrap_or(0));
        let threshold = value(case, "t").parse().unwrap();
        let ballot = UpdateBallot { threshold, voters: &voters, last: step("last"), newest: step("newest") };
        let expected = StepVerdict {
            consensus: StepNumber(number(value(result, "consensus")).unwrap()),
            rose: value(result, "rose") == "yes",
            failed: number(value(result, "error")).map(StepNumber),
        };
        assert_eq!(ballot.count(), expected, "{case}");
        count += 1;
    }
    assert!(count >= 60, "{count} cases");
}

#[test]
fn serials_are_steps_as_in_the_table() {
    let mut count = 0;
    for (case, result) in cases(include_str!("tests/serials.txt")) {
        let serial = Serial(value(case, "serial").parse().unwrap());
        let found = match case.split(' ').next() {
            Some("server") => {
                let reached = StepNumber(value(case, "reached").parse().unwrap());
                format!("step={}", ServedSteps { reached, serials: kept(case) }.shown_by(serial))
            }
            Some("target") => {
                let steps = ServedSteps { reached: StepNumber::NONE, serials: kept(case) };
                if steps.is_set_back(serial) { "set-back" } else { "past" }.to_owned()
            }
            Some("before") => {
                let row = ServerRow { serial: Some(Serial(value(case, "highest").parse().unwrap())), ..ROW };
                let row = row.after(SerialAnswer::Serves(serial), &ServedSteps::default(), StepNumber::NONE);
                if row.fault == Some(ServerFault::SerialSetBack) { "set-back" } else { "fine" }.to_owned()
            }
            other => panic!("{other:?} is no kind of case"),
        };
        assert_eq!(found, result, "{case}");
        count += 1;
    }
    assert!(count >= 40, "{count} cases");
}

/// A server of which nothing is known.
const ROW: ServerRow = ServerRow { step: StepNumber::NONE, fault: None, serial: None };

/// What is kept of a target: each step with this serial, all of them reached.
fn target(serials: &[(u64, u32)]) -> ServedSteps {
    let kept = |(step, serial): &(u64, u32)| StepSerial { step: StepNumber(*step), serial: Serial(*serial) };
    let reached = serials.iter().map(|(step, _)| StepNumber(*step)).max().unwrap_or_default();
    ServedSteps { reached, serials: serials.iter().map(kept).collect() }
}

#[test]
fn an_answer_moves_the_row_of_a_server() {
    let (target, newest) = (target(&[(1, 10), (2, 20)]), StepNumber(2));
    let after = |row: ServerRow, answer| row.after(answer, &target, newest);
    let behind = after(ROW, SerialAnswer::Serves(Serial(15)));
    assert_eq!((behind.step, behind.fault), (StepNumber(1), Some(ServerFault::Behind)));
    let at_newest = after(behind, SerialAnswer::Serves(Serial(20)));
    assert_eq!((at_newest.step, at_newest.fault, at_newest.serial), (newest, None, Some(Serial(20))));
    // Who was at the newest step and no longer answers has served it: only its status changes.
    let silent = after(at_newest, SerialAnswer::Silent);
    assert_eq!((silent.step, silent.fault), (newest, Some(ServerFault::NoAnswer)));
    let gone = after(at_newest, SerialAnswer::NoZone);
    assert_eq!((gone.step, gone.fault), (StepNumber::NONE, Some(ServerFault::NoZone)));
    let back = after(at_newest, SerialAnswer::Serves(Serial(19)));
    assert_eq!((back.step, back.fault), (StepNumber::NONE, Some(ServerFault::SerialSetBack)));
    assert_eq!(back.serial, Some(Serial(20)), "the highest stays");
    assert_eq!(after(back, SerialAnswer::Serves(Serial(20))), at_newest, "it is back where it was");
}

#[test]
fn a_target_without_name_servers_votes_by_what_it_lacks() {
    let vote = |reached, is_set_back| ServerRow::of_target(StepNumber(reached), is_set_back, StepNumber(3));
    assert_eq!((vote(3, false).step, vote(3, false).fault), (StepNumber(3), None));
    assert_eq!((vote(1, false).step, vote(1, false).fault), (StepNumber(1), Some(ServerFault::Behind)));
    assert_eq!((vote(3, true).step, vote(3, true).fault), (StepNumber(0), Some(ServerFault::SerialSetBack)));
}

#[test]
fn rrsets_follow_the_count() {
    let verdict = |consensus, failed: Option<u64>| StepVerdict {
        consensus: StepNumber(consensus),
        rose: true,
        failed: failed.map(StepNumber),
    };
    let of_step = |step, task| RrsetPublication::of_step(StepNumber(step), task);
    let add = of_step(2, RrsetTask::Add);
    assert_eq!(add.after(&verdict(1, None)), add, "it is waited for");
    let failed = add.after(&verdict(1, Some(2)));
    assert_eq!((failed.status, failed.task), (RrsetStatus::Error, RrsetTask::Add));
    assert_eq!(add.after(&verdict(0, Some(1))), add, "only the step before it failed");
    for open in [add, failed] {
        let served = open.after(&verdict(2, None));
        assert_eq!((served.status, served.task), (RrsetStatus::Active, RrsetTask::None));
        assert_eq!(served.after(&verdict(2, Some(3))), served, "what was served stays so");
    }
    let deleted = of_step(1, RrsetTask::Delete).after(&verdict(1, None));
    assert_eq!((deleted.status, deleted.task), (RrsetStatus::Deleted, RrsetTask::None));
    let zone = |statuses: &[RrsetStatus]| ZoneStatus::of(statuses.iter().copied());
    assert_eq!(zone(&[]), ZoneStatus::Active);
    assert_eq!(zone(&[RrsetStatus::Active, RrsetStatus::Deleted]), ZoneStatus::Active);
    assert_eq!(zone(&[RrsetStatus::Active, RrsetStatus::Pending]), ZoneStatus::Pending);
    assert_eq!(zone(&[RrsetStatus::Pending, RrsetStatus::Error, RrsetStatus::Active]), ZoneStatus::Error);
}

/// The count, read off the rule: the highest step that enough voters have, tried one by one.
fn by_trying(ballot: &UpdateBallot<'_>) -> StepVerdict {
    let UpdateBallot { threshold, voters, last, newest } = *ballot;
    let top = voters.iter().map(|(step, _)| step.0).max().unwrap_or(0);
    let has = |step: u64| voters.iter().filter(|(own, _)| own.0 >= step).count();
    let enough = |step: &u64| 100 * has(*step) >= threshold as usize * voters.len();
    let reached = (0..=top).filter(enough).max().unwrap_or(0);
    let consensus = reached.max(last.0);
    let failed = voters.iter().filter(|(_, failed)| *failed).count() as f64;
    let is_lost = failed / voters.len() as f64 * 100.0 > f64::from(100 - threshold) + 1e-9;
    let next =
        (consensus + 1..=top.max(newest.0)).find(|step| newest.0 == *step || voters.iter().any(|v| v.0.0 == *step));
    StepVerdict {
        consensus: StepNumber(consensus),
        rose: consensus > last.0,
        failed: next.filter(|_| is_lost).map(StepNumber),
    }
}

proptest! {
    #[test]
    fn the_count_is_what_trying_each_step_gives(
        threshold in 1..=100_u32,
        voters in prop::collection::vec((0..6_u64, any::<bool>()), 1..=7),
        last in 0..6_u64,
        newest in 0..7_u64,
    ) {
        let voters: Vec<_> = voters.into_iter().map(|(step, failed)| (StepNumber(step), failed)).collect();
        let ballot = UpdateBallot { threshold, voters: &voters, last: StepNumber(last), newest: StepNumber(newest) };
        prop_assert_eq!(ballot.count(), by_trying(&ballot));
    }

    #[test]
    fn a_serial_shows_the_same_steps_wherever_the_counter_stands(
        steps in prop::collection::btree_map(1..9_u64, 0..1_000_u32, 0..6),
        reached in 0..9_u64,
        serial in 0..1_000_u32,
        start in any::<u32>(),
    ) {
        let shown = |start: u32| {
            let moved = |serial: u32| Serial(start.wrapping_add(serial));
            let kept = |(step, serial): (&u64, &u32)| StepSerial { step: StepNumber(*step), serial: moved(*serial) };
            let kept = ServedSteps { reached: StepNumber(reached), serials: steps.iter().map(kept).collect() };
            (kept.shown_by(moved(serial)), kept.is_set_back(moved(serial)))
        };
        // From 0 on, serials below 1 000 compare as numbers do.
        let plain = steps.iter().filter(|(step, kept)| **step <= reached && **kept <= serial).map(|(step, _)| *step).max();
        prop_assert_eq!(shown(0), (StepNumber(plain.unwrap_or(0)), steps.values().any(|kept| *kept >= serial)));
        prop_assert_eq!(shown(start), shown(0));
    }
}
