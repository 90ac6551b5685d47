//! Which units may still be written, where targets of a pool vote; and until when a unit waits for another pool. Pure.
//!
//! Lanes are written side by side. They form groups: those of the targets of one pool, of which as many must succeed as
//! reach its threshold; and the lane of all pools with one target, which is a group by itself.

use super::model::Phase;

/// What a lane counts in its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneVotes {
    /// The number of its group.
    pub group: usize,
    /// How many voters its target is or feeds.
    pub votes: usize,
}

/// How many voters of a group must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoteTerms {
    /// The share, in percent.
    pub threshold: u32,
    /// How many voters there are.
    pub voters: usize,
}

impl VoteTerms {
    /// A group of one lane, which needs all of it.
    pub const ALONE: VoteTerms = VoteTerms { threshold: 100, voters: 1 };

    /// Whether so many votes reach the threshold.
    pub fn is_reached(self, votes: usize) -> bool {
        100 * votes >= self.threshold as usize * self.voters
    }
}

/// How far a unit is in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneProgress {
    /// It has nothing to do there.
    Absent,
    /// All its changes of the phases before this number are made there.
    Through(usize),
    /// Something of it is not made there, and will not be; all its changes of the phases before this number are.
    Failed(usize),
}

/// Whether a unit may go on in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitTurn {
    /// It may.
    Go,
    /// Another group has not yet done its earlier phases.
    Wait,
    /// It is given up everywhere: in some group the others cannot reach the threshold.
    Over,
}

/// How far all units are in all lanes.
#[derive(Debug)]
pub struct Quorum {
    /// The lanes.
    lanes: Vec<LaneVotes>,
    /// What each group needs.
    terms: Vec<VoteTerms>,
    /// The progress of each unit, lane by lane.
    progress: Vec<Vec<LaneProgress>>,
    /// Whether each unit is given up.
    is_over: Vec<bool>,
    /// Whether each lane can no longer be written at all.
    is_lost: Vec<bool>,
}

impl Quorum {
    /// Begins, with the progress of each unit in each lane.
    pub fn new(lanes: Vec<LaneVotes>, terms: Vec<VoteTerms>, progress: Vec<Vec<LaneProgress>>) -> Quorum {
        let (is_over, is_lost) = (vec![false; progress.len()], vec![false; lanes.len()]);
        Quorum { lanes, terms, progress, is_over, is_lost }
    }

    /// The votes of the lanes of a group for which something holds.
    fn votes(&self, group: usize, holds: impl Fn(usize) -> bool) -> usize {
        let of_group = self.lanes.iter().enumerate().filter(|(_, lane)| lane.group == group);
        of_group.filter(|(place, _)| holds(*place)).map(|(_, lane)| lane.votes).sum()
    }

    /// Whether a unit has anything to do in a group.
    fn is_in(&self, unit: usize, group: usize) -> bool {
        let of_unit = self.lanes.iter().zip(&self.progress[unit]);
        of_unit.into_iter().any(|(lane, progress)| lane.group == group && *progress != LaneProgress::Absent)
    }

    /// Whether the targets of a group that did all of a unit before a phase reach the threshold.
    fn is_through(&self, unit: usize, group: usize, phase: usize) -> bool {
        let is_done = |lane: usize| match self.progress[unit][lane] {
            LaneProgress::Absent => true,
            LaneProgress::Through(done) => done >= phase,
            LaneProgress::Failed(_) => false,
        };
        self.terms[group].is_reached(self.votes(group, is_done))
    }

    /// Whether all changes of a unit before a phase are made in a lane, whatever happens to the rest.
    fn has_made(&self, unit: usize, lane: usize, phase: usize) -> bool {
        match self.progress[unit][lane] {
            LaneProgress::Absent => true,
            LaneProgress::Through(done) | LaneProgress::Failed(done) => done >= phase,
        }
    }

    /// Whether what needs the changes of a unit before a phase may go on in a lane: they are made there, and in each group at
    /// targets that reach the threshold. Over, where they never will be.
    pub fn turn_after(&self, unit: usize, lane: usize, phase: usize) -> UnitTurn {
        let has_made = |lane: usize| self.has_made(unit, lane, phase);
        let mut groups = (0..self.terms.len()).filter(|group| self.is_in(unit, *group));
        let is_failed = matches!(self.progress[unit][lane], LaneProgress::Failed(_));
        if has_made(lane) && groups.all(|group| self.terms[group].is_reached(self.votes(group, has_made))) {
            UnitTurn::Go
        } else if self.is_over[unit] || is_failed && !has_made(lane) {
            UnitTurn::Over
        } else {
            UnitTurn::Wait
        }
    }

    /// Notes how many phases a lane is through with a unit; what failed there stays failed.
    pub fn reach(&mut self, unit: usize, lane: usize, phases: usize) {
        if let LaneProgress::Through(done) | LaneProgress::Failed(done) = &mut self.progress[unit][lane] {
            *done = phases.max(*done);
        }
    }

    /// Notes that a lane does not make all of a unit. Gives whether the unit is given up by that.
    pub fn fail(&mut self, unit: usize, lane: usize) -> bool {
        let made = match self.progress[unit][lane] {
            LaneProgress::Absent => 0,
            LaneProgress::Through(done) | LaneProgress::Failed(done) => done,
        };
        self.progress[unit][lane] = LaneProgress::Failed(made);
        let group = self.lanes[lane].group;
        let left = self.votes(group, |lane| !matches!(self.progress[unit][lane], LaneProgress::Failed(_)));
        let dies = !self.is_over[unit] && !self.terms[group].is_reached(left);
        self.is_over[unit] |= dies;
        dies
    }

    /// Notes that nothing more can be written in a lane of a pool of several targets. Gives the units that are given up
    /// by that: where the other lanes do not reach the threshold, all that are not yet through in its group.
    pub fn lose(&mut self, lane: usize) -> Vec<usize> {
        self.is_lost[lane] = true;
        let group = self.lanes[lane].group;
        if self.terms[group].is_reached(self.votes(group, |lane| !self.is_lost[lane])) {
            return Vec::new();
        }
        let is_left = |unit: &usize| {
            !self.is_over[*unit] && self.is_in(*unit, group) && !self.is_through(*unit, group, Phase::ALL.len())
        };
        let over: Vec<usize> = (0..self.progress.len()).filter(is_left).collect();
        over.iter().for_each(|unit| self.is_over[*unit] = true);
        over
    }

    /// Whether a unit is given up.
    pub fn is_over(&self, unit: usize) -> bool {
        self.is_over[unit]
    }

    /// Whether a unit may go on with a phase in a lane. It waits for no lane of the same group.
    pub fn turn(&self, unit: usize, lane: usize, phase: usize) -> UnitTurn {
        if self.is_over[unit] {
            return UnitTurn::Over;
        }
        let own = self.lanes[lane].group;
        let mut others = (0..self.terms.len()).filter(|group| *group != own && self.is_in(unit, *group));
        if others.all(|group| self.is_through(unit, group, phase)) { UnitTurn::Go } else { UnitTurn::Wait }
    }
}

#[cfg(test)]
mod tests {
    use super::LaneProgress::{Absent, Failed, Through};
    use super::*;

    /// A quorum of one unit: each group with its threshold and the progress of its lanes, of one vote each.
    fn quorum(groups: &[(u32, &[LaneProgress])]) -> Quorum {
        let (mut lanes, mut progress) = (Vec::new(), Vec::new());
        for (group, (_, of_lanes)) in groups.iter().enumerate() {
            lanes.extend(of_lanes.iter().map(|_| LaneVotes { group, votes: 1 }));
            progress.extend_from_slice(of_lanes);
        }
        let terms = groups.iter().map(|(threshold, lanes)| VoteTerms { threshold: *threshold, voters: lanes.len() });
        Quorum::new(lanes, terms.collect(), vec![progress])
    }

    #[test]
    fn a_unit_is_given_up_once_the_others_do_not_reach_the_threshold() {
        let mut all = quorum(&[(100, &[Through(0); 3])]);
        assert!(all.fail(0, 1));
        assert!(!all.fail(0, 2), "it is given up once");
        assert_eq!(all.turn(0, 0, 0), UnitTurn::Over);
        let mut most = quorum(&[(66, &[Through(0); 3])]);
        assert!(!most.fail(0, 1) && !most.fail(0, 1));
        assert_eq!(most.turn(0, 0, 0), UnitTurn::Go);
        assert!(most.fail(0, 2));
    }

    #[test]
    fn votes_count_and_not_targets() {
        let lanes = vec![LaneVotes { group: 0, votes: 3 }, LaneVotes { group: 0, votes: 1 }];
        let terms = vec![VoteTerms { threshold: 75, voters: 4 }];
        let mut quorum = Quorum::new(lanes, terms, vec![vec![Through(0); 2], vec![Through(0); 2]]);
        assert!(!quorum.fail(0, 1));
        assert!(quorum.fail(1, 0));
    }

    #[test]
    fn a_phase_waits_for_the_earlier_ones_in_other_groups_alone() {
        let mut quorum = quorum(&[(100, &[Through(0)]), (66, &[Through(0), Through(0), Through(0)])]);
        assert_eq!([0, 1].map(|lane| quorum.turn(0, lane, 0)), [UnitTurn::Go; 2]);
        assert_eq!([0, 1].map(|lane| quorum.turn(0, lane, 1)), [UnitTurn::Wait; 2]);
        quorum.reach(0, 0, 1);
        assert_eq!(quorum.turn(0, 1, 1), UnitTurn::Go, "the lanes of its own group do not count");
        quorum.reach(0, 1, 1);
        assert_eq!(quorum.turn(0, 0, 1), UnitTurn::Wait);
        quorum.reach(0, 3, 2);
        assert_eq!(quorum.turn(0, 0, 1), UnitTurn::Go);
        assert_eq!(quorum.turn(0, 0, 2), UnitTurn::Wait);
    }

    #[test]
    fn what_needs_a_unit_goes_once_its_changes_are_made_whatever_happens_to_the_rest() {
        let mut quorum = quorum(&[(100, &[Through(0)]), (50, &[Through(0), Through(0)])]);
        let turns = |quorum: &Quorum| [0, 1, 2].map(|lane| quorum.turn_after(0, lane, 1));
        assert_eq!(turns(&quorum), [UnitTurn::Wait; 3]);
        quorum.reach(0, 0, 1);
        assert!(!quorum.fail(0, 1), "the other one suffices");
        assert_eq!(turns(&quorum), [UnitTurn::Wait, UnitTurn::Over, UnitTurn::Wait], "it lacks them for good");
        quorum.reach(0, 2, 1);
        assert_eq!(turns(&quorum), [UnitTurn::Go, UnitTurn::Over, UnitTurn::Go]);
        assert!(quorum.fail(0, 0));
        assert_eq!(turns(&quorum), [UnitTurn::Go, UnitTurn::Over, UnitTurn::Go], "they are made");
        assert_eq!(quorum.turn_after(0, 0, 2), UnitTurn::Over);
    }

    #[test]
    fn a_group_that_has_nothing_to_do_is_not_waited_for() {
        let mut some = quorum(&[(100, &[Through(0)]), (100, &[Absent, Absent])]);
        assert_eq!(some.turn(0, 0, 2), UnitTurn::Go);
        // A target that needs no change has all of them.
        some = quorum(&[(100, &[Through(0)]), (100, &[Absent, Through(3)])]);
        assert_eq!(some.turn(0, 0, 2), UnitTurn::Go);
    }

    #[test]
    fn what_failed_stays_failed_and_a_lane_that_is_lost_ends_all_that_is_left() {
        let mut quorum = quorum(&[(50, &[Through(0), Failed(0)])]);
        quorum.reach(0, 1, 3);
        assert!(quorum.lose(1).is_empty(), "the other one suffices");
        assert_eq!(quorum.lose(0), [0]);
        assert!(quorum.lose(0).is_empty() && quorum.is_over(0));
        let mut done = self::quorum(&[(100, &[Through(3), Through(3)])]);
        assert!(done.lose(0).is_empty(), "what is done is not given up");
    }
}
