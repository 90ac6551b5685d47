//! A batch that was sent, and what is known of it.
//!
//! Comes in: what the journal has of a batch. Goes out: its reply, and the marker that it leaves.

use super::batch::UnitPiece;
use super::board::ApplyBoard;
use super::model::{Batch, BatchOutcome};
use crate::diag::Problem;
use crate::dns::Rrset;
use crate::target::{UpdateReply, UpdateTicket, UpdateZone};

/// A batch that was sent.
pub struct SentBatch<'a> {
    /// What the journal has of it.
    pub batch: Batch<'a>,
    /// Its pieces.
    pub pieces: Vec<UnitPiece>,
    /// What its reply is asked for with, or why it could not be sent.
    pub ticket: Result<UpdateTicket, Problem>,
    /// Whether an answer to it was lost, so that it may take effect after the last look.
    pub was_lost: bool,
    /// That others may have written the zone at the same time, where they may.
    pub race: Option<String>,
    /// Whether nothing proves that it found what the plan saw, should all of it be there.
    pub is_unproven: bool,
}

impl SentBatch<'_> {
    /// Its outcome, where it took effect.
    pub fn made(&self) -> BatchOutcome {
        match &self.race {
            Some(race) => BatchOutcome::Raced(race.clone()),
            None if self.is_unproven => BatchOutcome::Found,
            None => BatchOutcome::Done,
        }
    }

    /// Whether it has a change of an earlier batch, which can no longer take effect once it does.
    pub fn replaces(&self, earlier: &SentBatch<'_>) -> bool {
        let mut places = self.pieces.iter().flat_map(|piece| &piece.changes);
        places.any(|place| earlier.pieces.iter().any(|piece| piece.changes.contains(place)))
    }

    /// Notes that others may have written the zone at the same time.
    pub fn note_race(&mut self, board: &ApplyBoard<'_>, error: &Problem) {
        self.race = Some(error.message.clone());
        board.race(&self.pieces, error);
    }

    /// The reply to it, where it could be sent.
    pub fn reply(&self, session: &mut dyn UpdateZone) -> UpdateReply {
        match &self.ticket {
            Ok(ticket) => session.reply(*ticket),
            Err(error) => UpdateReply::Unknown(error.clone()),
        }
    }

    /// What is at the marker's place after it.
    pub fn after(&self) -> Option<Rrset> {
        after(&self.batch)
    }

    /// Whether the first of a chain, read from its end, replaced what this batch left.
    pub fn is_before_all(&self, chain: &[SentBatch<'_>]) -> bool {
        let first = chain.last().and_then(|first| first.batch.swap.as_ref());
        first.is_some_and(|swap| swap.before == self.after())
    }
}

/// What is at the marker's place after a batch.
pub fn after(batch: &Batch<'_>) -> Option<Rrset> {
    batch.swap.as_ref().map(|swap| swap.after.to_rrset())
}
