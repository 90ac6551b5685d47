//! What name servers showed, taken into a record that other runs may have gone on with meanwhile. Pure.

use std::collections::BTreeMap;

use super::record::{TimedRow, VoterId, VoterRoll, ZoneRecord};
use super::server::{ServerFault, ServerRow};
use super::steps::{ServedSteps, StepNumber};
use crate::target::SerialAnswer;

/// A step that a name server does not show, although it serves its serial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnshownStep {
    /// Which voter.
    pub voter: VoterId,
    /// The step.
    pub step: StepNumber,
    /// Why.
    pub fault: ServerFault,
}

/// What the name servers of a zone showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonePolls {
    /// The newest step when they were asked.
    pub newest: StepNumber,
    /// The rows of the voters before.
    pub before: BTreeMap<VoterId, TimedRow>,
    /// Their rows after.
    pub after: BTreeMap<VoterId, TimedRow>,
    /// The steps that name servers do not show, although they serve the serials.
    pub unshown: Vec<UnshownStep>,
    /// Whether each name server was asked as often as it is to be.
    pub is_over: bool,
}

impl ZonePolls {
    /// A row of a voter by its serial, as it is without the steps that it does not show.
    fn shown(&self, voter: &VoterId, row: ServerRow) -> ServerRow {
        let unshown = self.unshown.iter().filter(|own| own.voter == *voter);
        unshown.min_by_key(|own| own.step).map_or(row, |own| row.without(own.step, own.fault))
    }
}

impl ZoneRecord {
    /// Takes what name servers showed, and counts. What another run saw later stays, and what failed is known of no step
    /// but those that there were when the servers were asked.
    pub fn take_polls(&mut self, polls: &ZonePolls, roll: &VoterRoll) {
        let asked = polls.after.iter().filter(|(voter, _)| voter.server.is_some());
        for (voter, seen) in asked {
            let (before, present) = (polls.before.get(voter), self.servers.get(voter));
            let shown = TimedRow { row: polls.shown(voter, seen.row), at: seen.at };
            if before == Some(&shown) {
                continue;
            }
            let row = match present.filter(|present| before != Some(*present)) {
                // No other run has asked it since.
                None => shown.row,
                Some(present) if is_older(&shown, present) => continue,
                Some(present) => {
                    let target = self.targets.get(&voter.target).map(|standing| standing.counted()).unwrap_or_default();
                    polls.shown(voter, seen.row.after_row(present.row, &target, polls.newest))
                }
            };
            self.servers.insert(voter.clone(), TimedRow { row, at: seen.at });
        }
        self.count_up_to(roll, polls.is_over.then_some(polls.newest));
    }
}

/// Whether a row was seen before another one. Of two of the same time the one with the higher step is later.
fn is_older(seen: &TimedRow, present: &TimedRow) -> bool {
    (seen.at, seen.row.step) <= (present.at, present.row.step)
}

impl ServerRow {
    /// This row, as it is after the last answer of another run.
    fn after_row(self, earlier: ServerRow, target: &ServedSteps, newest: StepNumber) -> ServerRow {
        match (self.fault, self.serial) {
            (None | Some(ServerFault::Behind), Some(serial)) => {
                earlier.after(SerialAnswer::Serves(serial), target, newest)
            }
            (Some(ServerFault::NoAnswer), _) => earlier.after(SerialAnswer::Silent, target, newest),
            (Some(ServerFault::NoZone), _) => earlier.after(SerialAnswer::NoZone, target, newest),
            (Some(ServerFault::SerialSetBack), _) => ServerRow { serial: earlier.serial.or(self.serial), ..self },
            // A row by its serial alone has no such fault.
            (Some(ServerFault::RecordsDiffer), _) | (None | Some(ServerFault::Behind), None) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewStep, RrsetStatus, RrsetTask, TakenRrset, TargetServed};
    use super::*;
    use crate::dns::{Name, Rtype, Serial};
    use crate::inventory::value::Time;

    /// A time, in seconds after a start.
    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    /// One name server of one target.
    fn server() -> VoterId {
        VoterId { target: "main".to_owned(), server: Some("192.0.2.1:53".to_owned()) }
    }

    /// The voters: that server alone.
    fn roll() -> VoterRoll {
        VoterRoll { threshold: 100, voters: vec![server()] }
    }

    /// Begins a step that changes an RRset; its target serves this serial then.
    fn begin(record: &mut ZoneRecord, name: &str, serial: u32) {
        let taken = TakenRrset { name: Name::parse(name).unwrap(), rtype: Rtype::AAAA, task: RrsetTask::Update };
        let target = "main".to_owned();
        let served = TargetServed { target, lacks: false, is_changed: true, serial: Some(Serial(serial)) };
        record.begin_step(NewStep { taken: vec![taken], targets: vec![served] }, &roll(), at(0));
    }

    /// What one poll of the server gives, which ends at a time.
    fn polls(record: &ZoneRecord, answer: SerialAnswer, seconds: i64) -> ZonePolls {
        let row = record.row(&server()).after(answer, &record.targets["main"].counted(), record.newest);
        let mut after = record.servers.clone();
        after.insert(server(), TimedRow { row, at: at(seconds) });
        let (newest, before) = (record.newest, record.servers.clone());
        ZonePolls { newest, before, after, unshown: Vec::new(), is_over: true }
    }

    /// Polls the server, and takes that at once.
    fn poll(record: &mut ZoneRecord, answer: SerialAnswer, seconds: i64) {
        let polls = polls(record, answer, seconds);
        record.take_polls(&polls, &roll());
    }

    /// The statuses of the open RRsets, and of those that were open, by name.
    fn statuses(record: &ZoneRecord) -> Vec<(String, RrsetStatus)> {
        record.rrsets.iter().map(|((name, _), rrset)| (name.to_string(), rrset.status)).collect()
    }

    /// The step and the fault of the server.
    fn row(record: &ZoneRecord) -> (u64, Option<ServerFault>) {
        let row = record.row(&server());
        (row.step.0, row.fault)
    }

    /// A zone with steps at serials 9 and 10, and what the server showed of them; then a step at serial 11 of another run.
    fn overtaken(answer: SerialAnswer) -> (ZoneRecord, ZonePolls) {
        let mut record = ZoneRecord::default();
        begin(&mut record, "a.example.net", 9);
        begin(&mut record, "b.example.net", 10);
        let polls = polls(&record, answer, 1);
        begin(&mut record, "b.example.net", 11);
        (record, polls)
    }

    #[test]
    fn a_later_step_stays_open_whatever_was_shown_of_the_earlier_one() {
        let both = |a, b| vec![("a.example.net.".to_owned(), a), ("b.example.net.".to_owned(), b)];
        let (mut record, polls) = overtaken(SerialAnswer::Serves(Serial(10)));
        record.take_polls(&polls, &roll());
        assert_eq!(statuses(&record), both(RrsetStatus::Active, RrsetStatus::Pending));
        assert_eq!((row(&record), record.consensus), ((2, None), StepNumber(2)));

        let (mut record, polls) = overtaken(SerialAnswer::Silent);
        record.take_polls(&polls, &roll());
        // No server was asked for step 3.
        assert_eq!(statuses(&record), both(RrsetStatus::Error, RrsetStatus::Pending));
        poll(&mut record, SerialAnswer::Serves(Serial(11)), 2);
        assert_eq!(statuses(&record), both(RrsetStatus::Active, RrsetStatus::Active));
    }

    #[test]
    fn what_another_run_saw_later_stays() {
        for answer in [SerialAnswer::Serves(Serial(10)), SerialAnswer::Silent, SerialAnswer::NoZone] {
            let (mut record, polls) = overtaken(answer);
            poll(&mut record, SerialAnswer::Serves(Serial(11)), 2);
            assert_eq!((row(&record), record.consensus), ((3, None), StepNumber(3)));
            let before = record.clone();
            record.take_polls(&polls, &roll());
            assert_eq!(record, before);
        }
    }

    #[test]
    fn what_was_seen_after_another_run_is_compared_with_what_that_run_saw() {
        let later = |answer| {
            let (mut record, mut polls) = overtaken(answer);
            poll(&mut record, SerialAnswer::Serves(Serial(11)), 2);
            polls.after.get_mut(&server()).unwrap().at = at(3);
            record.take_polls(&polls, &roll());
            assert_eq!(record.consensus, StepNumber(3));
            row(&record)
        };
        assert_eq!(later(SerialAnswer::Serves(Serial(11))), (3, None));
        assert_eq!(later(SerialAnswer::Serves(Serial(10))), (0, Some(ServerFault::SerialSetBack)));
        assert_eq!(later(SerialAnswer::Silent), (3, Some(ServerFault::NoAnswer)));
        assert_eq!(later(SerialAnswer::NoZone), (0, Some(ServerFault::NoZone)));
    }

    #[test]
    fn a_server_that_does_not_hold_what_a_step_changed_has_not_reached_it() {
        let mut record = ZoneRecord::default();
        begin(&mut record, "a.example.net", 9);
        begin(&mut record, "b.example.net", 10);
        let unshown = UnshownStep { voter: server(), step: StepNumber(2), fault: ServerFault::RecordsDiffer };
        let polls = polls(&record, SerialAnswer::Serves(Serial(10)), 1);
        record.take_polls(&ZonePolls { unshown: vec![unshown.clone()], ..polls }, &roll());
        let statuses_now: Vec<RrsetStatus> = statuses(&record).into_iter().map(|(_, status)| status).collect();
        assert_eq!(statuses_now, [RrsetStatus::Active, RrsetStatus::Error]);
        assert_eq!(row(&record), (1, Some(ServerFault::RecordsDiffer)));
        // Also where it held it before.
        poll(&mut record, SerialAnswer::Serves(Serial(10)), 2);
        assert_eq!((row(&record), record.is_at_newest(&server())), ((2, None), true));
        let again = self::polls(&record, SerialAnswer::Serves(Serial(10)), 2);
        record.take_polls(&ZonePolls { unshown: vec![unshown], ..again }, &roll());
        assert_eq!((row(&record), record.consensus), ((1, Some(ServerFault::RecordsDiffer)), StepNumber(2)));
    }

    #[test]
    fn of_two_rows_of_one_time_the_higher_step_counts() {
        let (record, polls) = overtaken(SerialAnswer::Serves(Serial(10)));
        let mut older = record.clone();
        poll(&mut older, SerialAnswer::NoZone, 1);
        older.take_polls(&polls, &roll());
        assert_eq!(row(&older), (2, None));
        let mut newer = record;
        poll(&mut newer, SerialAnswer::Serves(Serial(11)), 1);
        newer.take_polls(&polls, &roll());
        assert_eq!(row(&newer), (3, None));
    }
}
