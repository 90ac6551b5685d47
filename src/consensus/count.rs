//! The count: from the rows of all voters to the step that the zone has reached. One function. Pure.

use super::steps::StepNumber;

/// The voters of a pool for one zone, and what was known before.
#[derive(Debug, Clone, Copy)]
pub struct UpdateBallot<'a> {
    /// The share of the voters that must agree, in percent: 1 to 100.
    pub threshold: u32,
    /// Each voter: the step that it has reached, and whether its status is ERROR. One without a row has step 0.
    pub voters: &'a [(StepNumber, bool)],
    /// The consensus step so far.
    pub last: StepNumber,
    /// The newest step of the zone.
    pub newest: StepNumber,
}

/// What the voters say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepVerdict {
    /// The consensus step: enough voters have reached it.
    pub consensus: StepNumber,
    /// Whether it is higher than the last one.
    pub rose: bool,
    /// The step up to which what is not there yet failed; `None` where nothing did.
    pub failed: Option<StepNumber>,
}

impl UpdateBallot<'_> {
    /// Counts.
    ///
    /// Of n voters, k = ⌈threshold × n / 100⌉ must have reached a step. When more than 100 − threshold percent of the
    /// voters failed, the others are too few: the next step that is not reached has failed.
    pub fn count(&self) -> StepVerdict {
        let count = self.voters.len();
        let needed = (self.threshold as usize * count).div_ceil(100);
        let mut steps: Vec<StepNumber> = self.voters.iter().map(|(step, _)| *step).collect();
        steps.sort_unstable();
        let reached = steps.get(count - needed).copied().unwrap_or(StepNumber::NONE);
        let consensus = reached.max(self.last);
        let failures = self.voters.iter().filter(|(_, failed)| *failed).count();
        let is_lost = 100 * failures > (100 - self.threshold as usize) * count;
        let next = steps.into_iter().chain([self.newest]).filter(|step| *step > consensus).min();
        StepVerdict { consensus, rose: consensus > self.last, failed: next.filter(|_| is_lost) }
    }
}

/// Whether so many of all reach the threshold, in percent.
pub fn is_reached(threshold: u32, some: usize, all: usize) -> bool {
    100 * some >= threshold as usize * all
}
