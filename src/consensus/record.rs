//! What is remembered of one zone between runs: its steps, what each server showed, and the RRsets that are open. Pure.

use std::collections::BTreeMap;

use super::count::{StepVerdict, UpdateBallot};
use super::rrsets::{RrsetPublication, RrsetStatus, RrsetTask, ZoneStatus};
use super::server::{ServerFault, ServerRow};
use super::steps::{ServedSteps, StepNumber, StepSerial, is_at_or_past};
use crate::dns::{Name, Rtype, Serial};
use crate::inventory::value::Time;

/// A server that has a row: a name server with the target that it follows, or a target by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VoterId {
    /// The name of the target.
    pub target: String,
    /// The address of the name server; none for the target itself.
    pub server: Option<String>,
}

/// The voters of a zone, and when they agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoterRoll {
    /// The share of them that must agree, in percent: 1 to 100.
    pub threshold: u32,
    /// All of them, in the order of the settings.
    pub voters: Vec<VoterId>,
}

/// A row of a server, with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedRow {
    /// The row.
    pub row: ServerRow,
    /// When it was written.
    pub at: Time,
}

/// An RRset that at least one target took in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenRrset {
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// What was done.
    pub task: RrsetTask,
}

/// What a target serves right after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetServed {
    /// Its name.
    pub target: String,
    /// Whether it lacks a change of this step or of an earlier one.
    pub lacks: bool,
    /// Whether something was changed there in this step.
    pub is_changed: bool,
    /// The serial that it serves now; none where that is not known.
    pub serial: Option<Serial>,
}

/// A step that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStep {
    /// The RRsets that at least one target took; a change that no target took gets no row.
    pub taken: Vec<TakenRrset>,
    /// What each target of the pool serves now.
    pub targets: Vec<TargetServed>,
}

/// A serial that a target serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SerialSeen<'a> {
    /// The name of the target.
    pub target: &'a str,
    /// The serial.
    pub serial: Serial,
}

/// What is remembered of a target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetStanding {
    /// The steps that it reached, and the serials that it served then. What it reached stays here while its serial is
    /// set back.
    pub steps: ServedSteps,
    /// Whether its serial went back behind one that is kept, and is not past all of those again.
    pub is_set_back: bool,
}

impl TargetStanding {
    /// The steps that count: none while its serial is set back.
    pub fn counted(&self) -> ServedSteps {
        let reached = if self.is_set_back { StepNumber::NONE } else { self.steps.reached };
        ServedSteps { reached, serials: self.steps.serials.clone() }
    }

    /// Whether its serial must be read again: it is set back, or that of the step that it reached is not known.
    pub fn is_unclear(&self) -> bool {
        let ServedSteps { reached, serials } = &self.steps;
        self.is_set_back || *reached > StepNumber::NONE && serials.iter().all(|kept| kept.step != *reached)
    }

    /// Takes what it serves after a step.
    fn take(&mut self, step: StepNumber, served: &TargetServed) {
        if let Some(serial) = served.serial {
            self.see(serial, served.is_changed);
        }
        if served.lacks {
            return;
        }
        self.steps.reached = step;
        self.keep(served.serial);
    }

    /// Takes the serial that it serves at another time than right after a change.
    pub fn look_again(&mut self, serial: Serial) {
        self.see(serial, false);
        if self.is_unclear() {
            self.keep(Some(serial));
        }
    }

    /// Compares a serial with those that are kept.
    ///
    /// A change makes a serial that is past all of them. Without one it may be the last of them again.
    fn see(&mut self, serial: Serial, is_changed: bool) {
        self.is_set_back = if is_changed || self.is_set_back {
            self.steps.is_set_back(serial)
        } else {
            !self.steps.serials.iter().all(|kept| is_at_or_past(serial, kept.serial))
        };
    }

    /// Keeps the serial of the step that it reached, unless that is set back.
    fn keep(&mut self, serial: Option<Serial>) {
        let step = self.steps.reached;
        if let (Some(serial), false) = (serial, self.is_set_back || step == StepNumber::NONE) {
            self.steps.serials.retain(|kept| kept.step != step);
            self.steps.serials.push(StepSerial { step, serial });
        }
    }

    /// Forgets the serials of steps before the consensus step, but for the last of them: a serial compares only with
    /// such as are less than 2^31 away, and no step below the consensus step is counted.
    fn forget_before(&mut self, consensus: StepNumber) {
        let last = self.steps.serials.iter().map(|kept| kept.step).filter(|step| *step <= consensus).max();
        self.steps.serials.retain(|kept| last.is_none_or(|last| kept.step >= last));
    }
}

/// Rows of RRsets of a zone, by owner name and type.
pub type ZoneRrsets = BTreeMap<(Name, Rtype), RrsetPublication>;

/// What is remembered of one zone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ZoneRecord {
    /// The newest step; none where the zone has no step.
    pub newest: StepNumber,
    /// The consensus step.
    pub consensus: StepNumber,
    /// Its targets, by name.
    pub targets: BTreeMap<String, TargetStanding>,
    /// The rows of its voters.
    pub servers: BTreeMap<VoterId, TimedRow>,
    /// The RRsets whose row is open, and those whose row closed since the record was read.
    pub rrsets: ZoneRrsets,
}

impl ZoneRecord {
    /// Begins the next step.
    ///
    /// Targets that vote have their row from then on. Name servers were not asked yet, so that no row fails.
    pub fn begin_step(&mut self, step: NewStep, roll: &VoterRoll, now: Time) {
        self.newest = self.newest.next();
        for served in &step.targets {
            self.targets.entry(served.target.clone()).or_default().take(self.newest, served);
        }
        for TakenRrset { name, rtype, task } in step.taken {
            self.rrsets.insert((name, rtype), RrsetPublication::of_step(self.newest, task));
        }
        self.rows_of_targets(roll, now);
    }

    /// Takes what a target serves at another time than right after a change.
    pub fn look_again(&mut self, seen: &SerialSeen<'_>, roll: &VoterRoll, now: Time) {
        if let Some(standing) = self.targets.get_mut(seen.target) {
            standing.look_again(seen.serial);
        }
        self.rows_of_targets(roll, now);
    }

    /// Takes what a target serves that no longer lacks anything: it has reached the newest step.
    pub fn catch_up(&mut self, seen: &SerialSeen<'_>, roll: &VoterRoll, now: Time) {
        let standing = self.targets.entry(seen.target.to_owned()).or_default();
        standing.look_again(seen.serial);
        standing.steps.reached = self.newest;
        standing.keep(Some(seen.serial));
        self.rows_of_targets(roll, now);
    }

    /// Writes the rows of the targets that vote.
    fn rows_of_targets(&mut self, roll: &VoterRoll, at: Time) {
        for voter in roll.voters.iter().filter(|voter| voter.server.is_none()) {
            if let Some(standing) = self.targets.get(&voter.target) {
                let row = ServerRow::of_target(standing.steps.reached, standing.is_set_back, self.newest);
                self.servers.insert(voter.clone(), TimedRow { row, at });
            }
        }
    }

    /// The row of a voter; an empty one where it has none.
    pub fn row(&self, voter: &VoterId) -> ServerRow {
        self.servers.get(voter).map(|kept| kept.row).unwrap_or_default()
    }

    /// Whether a voter has shown the newest step.
    pub fn is_at_newest(&self, voter: &VoterId) -> bool {
        self.servers.get(voter).is_some_and(|kept| kept.row.fault.is_none() && kept.row.step == self.newest)
    }

    /// Counts the rows of the voters, while `is_over` is false only those that reached a step: what has failed is known
    /// once all were asked as often as they are to be.
    pub fn count(&mut self, roll: &VoterRoll, is_over: bool) {
        self.count_up_to(roll, is_over.then_some(self.newest));
    }

    /// Counts the rows of the voters. What has failed is known of steps up to `over`, of none where there is none.
    pub(super) fn count_up_to(&mut self, roll: &VoterRoll, over: Option<StepNumber>) {
        let failed = |row: &ServerRow, over: StepNumber| {
            // Who has reached that step is behind a later one, of which nothing is known yet.
            row.fault.is_some_and(|fault| fault != ServerFault::Behind || row.step < over)
        };
        let voter = |voter: &VoterId| {
            let row = self.row(voter);
            (row.step, over.is_some_and(|over| failed(&row, over)))
        };
        let voters: Vec<(StepNumber, bool)> = roll.voters.iter().map(voter).collect();
        let (threshold, last, newest) = (roll.threshold, self.consensus, over.unwrap_or(self.newest));
        let verdict = UpdateBallot { threshold, voters: &voters, last, newest }.count();
        let verdict = StepVerdict { failed: verdict.failed.filter(|step| Some(*step) <= over), ..verdict };
        if verdict.rose || verdict.failed.is_some() {
            self.rrsets.values_mut().for_each(|rrset| *rrset = rrset.after(&verdict));
        }
        self.consensus = verdict.consensus;
        self.targets.values_mut().for_each(|standing| standing.forget_before(verdict.consensus));
    }

    /// Whether a row is still to be decided.
    pub fn is_pending(&self) -> bool {
        self.rrsets.values().any(|rrset| rrset.status == RrsetStatus::Pending)
    }

    /// The status of the zone.
    pub fn status(&self) -> ZoneStatus {
        ZoneStatus::of(self.rrsets.values().map(|rrset| rrset.status))
    }

    /// Why a voter does not show the newest step; none where it does.
    pub fn fault(&self, voter: &VoterId) -> Option<VoterLag> {
        let kept = self.servers.get(voter).filter(|kept| kept.row.fault.is_some() || kept.row.step == self.newest);
        match kept {
            Some(kept) => kept.row.fault.map(VoterLag::Failed),
            None => Some(VoterLag::NotAsked),
        }
    }
}

/// Why a voter does not show the newest step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VoterLag {
    /// It was asked, and failed.
    Failed(ServerFault),
    /// It was not asked since that step, or not until it showed it.
    NotAsked,
}
