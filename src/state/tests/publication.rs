//! What is kept of whether zones are served.

use super::*;
use crate::consensus::{
    NewStep, RrsetTask, ServerFault, ServerRow, StepNumber, TakenRrset, TargetServed, TimedRow, VoterId, VoterRoll,
    ZoneRecord, ZoneStatus,
};
use crate::dns::{Serial, ZoneName};
use crate::state::RecordedZone;
use crate::state::served::StatusCounts;

/// The zone of all these tests.
fn zone() -> ZoneId {
    let name = ZoneName::new(Name::parse("search.example.net").unwrap());
    ZoneId { pool: "main".parse().unwrap(), name }
}

/// A name server that follows the only target.
fn voter(server: &str) -> VoterId {
    VoterId { target: "main".to_owned(), server: Some(server.to_owned()) }
}

/// Two name servers of which both must agree.
fn roll() -> VoterRoll {
    VoterRoll { threshold: 100, voters: vec![voter("a"), voter("b")] }
}

/// A step that changes the AAAA at names, after which the target serves a serial.
fn step(names: &[&str], task: RrsetTask, serial: u32) -> NewStep {
    let taken = |name: &&str| TakenRrset { name: Name::parse(name).unwrap(), rtype: Rtype::AAAA, task };
    let served =
        TargetServed { target: "main".to_owned(), lacks: false, is_changed: true, serial: Some(Serial(serial)) };
    NewStep { taken: names.iter().map(taken).collect(), targets: vec![served] }
}

/// Begins a step of a new apply.
fn begin_step(state: &mut Sqlite, step: NewStep) -> ApplyId {
    let apply = begin(state, &new_apply());
    let mut record = state.zone_record(&zone()).unwrap();
    record.begin_step(step, &roll(), at(1));
    state.keep_records(&[RecordedZone { zone: zone(), record, begun: Some(apply) }], at(1)).unwrap();
    apply
}

/// Keeps that a name server showed a step, or failed; and counts.
fn show(state: &mut Sqlite, server: &str, step: u64, fault: Option<ServerFault>) {
    let mut record = state.zone_record(&zone()).unwrap();
    let row = ServerRow { step: StepNumber(step), fault, serial: Some(Serial(7)) };
    record.servers.insert(voter(server), TimedRow { row, at: at(2) });
    record.count(&roll(), true);
    state.keep_records(&[RecordedZone { zone: zone(), record, begun: None }], at(2)).unwrap();
}

/// The pending, active, failed and deleted RRsets of the zone, its consensus step and its status.
fn standing(state: &Sqlite) -> (StatusCounts, u64, ZoneStatus) {
    let [found] = state.publications(&zone().pool).unwrap().try_into().unwrap();
    let statuses = found.rrsets.iter().map(|rrset| rrset.row.status);
    (StatusCounts::of(statuses), found.consensus.0, found.status)
}

/// These numbers of RRsets: pending, active, failed, deleted.
fn counts([pending, active, error, deleted]: [usize; 4]) -> StatusCounts {
    StatusCounts { pending, active, error, deleted }
}

#[test]
fn a_zone_without_steps_has_an_empty_record() {
    let state = Sqlite::in_memory();
    assert_eq!(state.zone_record(&zone()).unwrap(), ZoneRecord::default());
    assert!(state.zones_with_steps().unwrap().is_empty() && state.rrset_tallies().unwrap().is_empty());
}

#[test]
fn what_is_kept_is_read_again_as_it_was() {
    let mut state = Sqlite::in_memory();
    begin_step(&mut state, step(&[A, B], RrsetTask::Add, 7));
    let mut record = state.zone_record(&zone()).unwrap();
    record.servers.insert(voter("a"), TimedRow { row: ServerRow::default(), at: at(5) });
    record.targets.get_mut("main").unwrap().is_set_back = true;
    state.keep_records(&[RecordedZone { zone: zone(), record: record.clone(), begun: None }], at(5)).unwrap();
    assert_eq!(state.zone_record(&zone()).unwrap(), record);
    assert_eq!(state.zones_with_steps().unwrap(), [zone()]);
}

#[test]
fn rows_go_from_pending_to_served_or_failed_and_are_replaced_by_later_steps() {
    use ServerFault::{Behind, NoAnswer};
    /// What happens next.
    enum Event {
        Step(&'static [&'static str], RrsetTask, u32),
        Show(&'static str, u64, Option<ServerFault>),
    }
    let table = [
        (Event::Step(&[A, B], RrsetTask::Add, 7), [2, 0, 0, 0], 0, ZoneStatus::Pending),
        (Event::Show("a", 1, None), [2, 0, 0, 0], 0, ZoneStatus::Pending),
        (Event::Show("b", 0, Some(NoAnswer)), [0, 0, 2, 0], 0, ZoneStatus::Error),
        (Event::Show("b", 1, None), [0, 2, 0, 0], 1, ZoneStatus::Active),
        (Event::Step(&[A], RrsetTask::Delete, 8), [1, 1, 0, 0], 1, ZoneStatus::Pending),
        (Event::Show("a", 2, None), [1, 1, 0, 0], 1, ZoneStatus::Pending),
        (Event::Show("b", 1, Some(Behind)), [0, 1, 1, 0], 1, ZoneStatus::Error),
        // A later step replaces the row that failed, and heals with it.
        (Event::Step(&[A], RrsetTask::Add, 9), [1, 1, 0, 0], 1, ZoneStatus::Pending),
        (Event::Show("a", 3, None), [0, 1, 1, 0], 1, ZoneStatus::Error),
        (Event::Show("b", 3, None), [0, 2, 0, 0], 3, ZoneStatus::Active),
        (Event::Step(&[B], RrsetTask::Delete, 10), [1, 1, 0, 0], 3, ZoneStatus::Pending),
        (Event::Show("a", 4, None), [1, 1, 0, 0], 3, ZoneStatus::Pending),
        (Event::Show("b", 4, None), [0, 1, 0, 1], 4, ZoneStatus::Active),
    ];
    let mut state = Sqlite::in_memory();
    for (number, (event, rows, consensus, status)) in table.into_iter().enumerate() {
        match event {
            Event::Step(names, task, serial) => drop(begin_step(&mut state, step(names, task, serial))),
            // A server that was not asked since the step is known to be as it was.
            Event::Show(server, shown, fault) => show(&mut state, server, shown, fault),
        }
        assert_eq!(standing(&state), (counts(rows), consensus, status), "event {number}");
    }
}

#[test]
fn an_apply_knows_the_rrsets_whose_last_step_it_made() {
    let mut state = Sqlite::in_memory();
    let first = begin_step(&mut state, step(&[A, B], RrsetTask::Add, 7));
    let second = begin_step(&mut state, step(&[B], RrsetTask::Update, 8));
    let names = |apply| -> Vec<String> {
        state.published_by(apply).unwrap().iter().map(|rrset| rrset.name.to_string()).collect()
    };
    assert_eq!((names(first), names(second)), (vec![format!("{A}.")], vec![format!("{B}.")]));
    let since = |apply| state.rrsets_since(&zone(), apply).unwrap().len();
    assert_eq!((since(first), since(second), since(ApplyId(99))), (2, 1, 0));
    let after = |step| state.rrset_rows_after(&zone(), StepNumber(step)).unwrap().len();
    assert_eq!([0, 1, 2].map(after), [2, 1, 0]);
}

#[test]
fn a_serial_that_is_not_past_all_others_sets_a_target_back() {
    let mut state = Sqlite::in_memory();
    begin_step(&mut state, step(&[A], RrsetTask::Add, 7));
    begin_step(&mut state, step(&[A], RrsetTask::Update, 7));
    let reached = |state: &Sqlite| state.zone_record(&zone()).unwrap().targets["main"].counted().reached;
    assert_eq!(reached(&state), StepNumber::NONE);
    begin_step(&mut state, step(&[A], RrsetTask::Update, 8));
    assert_eq!(reached(&state), StepNumber(3));
}
