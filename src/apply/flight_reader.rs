//! A zone while it is written, read: which batches took effect whose answers were lost.
//!
//! Comes in: the batches in flight, and the marker before them. Goes out: how many of them took effect. Nothing is written.

use std::collections::VecDeque;
use std::time::Duration;

use super::board::ApplyBoard;
use super::compare::{is_after, is_between};
use super::lane::{SurveyedCopy, standing_marker};
use super::sent_batch::SentBatch;
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::{RrKey, Rrset};
use crate::target::{Answer, Marker, Question};

/// How often something is tried before it is given up.
pub const TRIES: u32 = 4;

/// How long is waited before the second try; each further one waits twice as long.
pub const PAUSE: Duration = Duration::from_millis(250);

/// What a look at the primary says of a chain of batches.
pub enum ChainLook {
    /// So many of its first took effect, and no others.
    Took(usize),
    /// A batch took effect that was made anew since: its place among those that may come late.
    Late(usize),
    /// The marker is not in the chain: another run writes the zone.
    Moved(String),
    /// Without a marker: some RRsets are as they were to be, others not.
    Mixed,
    /// Without a marker: the one RRset of a batch is neither as it was nor as it was to be, so that its update can no
    /// longer take effect.
    Replaced,
    /// The primary cannot be asked.
    Unreadable(Problem),
}

/// A zone that is written, and how it is read.
#[derive(Clone, Copy)]
pub struct FlightReader<'a> {
    /// The apply.
    pub board: &'a ApplyBoard<'a>,
    /// The zone.
    pub zone: &'a SurveyedCopy<'a>,
}

impl<'a> FlightReader<'a> {
    /// A change of the plan.
    pub fn change(&self, place: usize) -> &'a Change {
        &self.board.lane.changes[place]
    }

    /// Whether an RRset is as the plan saw it.
    pub fn is_before(&self, change: &Change, answer: &Answer) -> bool {
        self.board.lane.deleted_cnames.is_before(change, answer)
    }

    /// Whether an RRset is as the plan saw it, as it is to be, or between the two.
    fn is_on_its_way(&self, change: &Change, answer: &Answer) -> bool {
        self.is_before(change, answer) || is_after(change, answer) || is_between(change, answer)
    }

    /// Reads RRsets of changes.
    pub fn observe(&self, places: &[usize]) -> Result<Vec<Answer>, Problem> {
        let questions: Vec<_> = places.iter().map(|place| Question::of(&self.change(*place).key)).collect();
        self.zone.writer.observe(&self.zone.copy.zone, &questions, None)
    }

    /// Looks which batches in flight took effect.
    pub fn look(&self, flight: &VecDeque<SentBatch<'a>>, marker: Option<&Rrset>, late: &[SentBatch<'a>]) -> ChainLook {
        let mut tries = 0;
        loop {
            let looked = match &self.zone.fence {
                Some((key, _)) => self.look_at_marker(key, flight, (marker, late)),
                None => self.look_at_rrsets(flight),
            };
            match looked {
                Ok(look) => return look,
                Err(error) => {
                    tries += 1;
                    if tries == TRIES {
                        return ChainLook::Unreadable(error);
                    }
                    self.board.hub.wait(PAUSE * (1 << (tries - 1)));
                }
            }
        }
    }

    /// Reads the marker, and finds it in the chain.
    fn look_at_marker(
        &self,
        key: &RrKey,
        flight: &VecDeque<SentBatch<'a>>,
        (marker, late): (Option<&Rrset>, &[SentBatch<'a>]),
    ) -> Result<ChainLook, Problem> {
        let answer = self.zone.writer.observe(&self.zone.copy.zone, &[Question::of(key)], None)?.pop();
        let standing = standing_marker(self.zone.writer, &self.zone.copy.zone, answer)?;
        let data = |rrset: &Option<Rrset>| rrset.as_ref().map(|rrset| rrset.rdata().to_vec());
        let chain = std::iter::once(marker.cloned()).chain(flight.iter().map(SentBatch::after));
        // The latest: of equal ones, which only a chain without effect could have, nothing would follow anyway.
        let took =
            chain.enumerate().filter(|(_, marker)| data(marker) == data(&standing)).map(|(count, _)| count).last();
        if let Some(count) = took {
            return Ok(ChainLook::Took(count));
        }
        let late = late.iter().position(|late| data(&late.after()) == data(&standing));
        Ok(match (late, standing.as_ref().and_then(Marker::of_rrset)) {
            (Some(place), _) => ChainLook::Late(place),
            (None, Some(marker)) => ChainLook::Moved(format!("`{marker}`")),
            (None, None) => ChainLook::Moved("gone".to_owned()),
        })
    }

    /// Without a marker: reads what the one batch in flight was to write.
    fn look_at_rrsets(&self, flight: &VecDeque<SentBatch<'a>>) -> Result<ChainLook, Problem> {
        let Some(sent) = flight.front() else { return Ok(ChainLook::Took(0)) };
        let places: Vec<usize> = sent.pieces.iter().flat_map(|piece| piece.changes.iter().copied()).collect();
        let answers = self.observe(&places)?;
        let read = || places.iter().zip(&answers).map(|(place, answer)| (self.change(*place), answer));
        Ok(if read().all(|(change, answer)| is_after(change, answer)) {
            ChainLook::Took(1)
        } else if read().all(|(change, answer)| self.is_before(change, answer)) {
            ChainLook::Took(0)
        } else if self.zone.writer.is_divisible() && read().all(|(change, answer)| self.is_on_its_way(change, answer)) {
            // The same update goes on from there.
            ChainLook::Took(0)
        } else if let ([_], true) = (places.as_slice(), self.zone.writer.compares()) {
            ChainLook::Replaced
        } else {
            ChainLook::Mixed
        })
    }
}
