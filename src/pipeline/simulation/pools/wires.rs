//! What is between a run and one target: at each step the dice say what happens.

use std::time::Duration;

use super::stage::PoolStage;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::progress::{Progress, RunStage};
use crate::target::{
    Answer, EditSize, Question, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket, UpdateZone, WriteTarget,
};

/// The connection of a run to the primary of one target.
pub struct TargetWire<'s> {
    /// The stage.
    pub stage: &'s PoolStage,
    /// The place of the target.
    pub copy: usize,
}

impl WriteTarget for TargetWire<'_> {
    fn place(&self, zone: &ZoneName) -> String {
        WriteTarget::place(&self.stage.primaries[self.copy], zone)
    }

    fn limits(&self) -> UpdateLimits {
        self.stage.primaries[self.copy].limits()
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        self.stage.primaries[self.copy].size(zone, edit)
    }

    fn observe(&self, zone: &ZoneName, asked: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        self.stage.step(self.copy, "is read");
        self.stage.primaries[self.copy].observe(zone, asked, None)
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(TargetLine { wire: self, session: self.stage.primaries[self.copy].open(zone) })
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}

/// The connection of a run to one zone of a target.
struct TargetLine<'w> {
    /// The connection to the target.
    wire: &'w TargetWire<'w>,
    /// The session with its primary.
    session: Box<dyn UpdateZone + 'w>,
}

impl TargetLine<'_> {
    /// A step.
    fn step(&self, what: &str) {
        self.wire.stage.step(self.wire.copy, what);
    }
}

impl UpdateZone for TargetLine<'_> {
    fn window(&mut self) -> usize {
        self.session.window()
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.step("is about to get an update");
        let ticket = self.session.send(update);
        self.step("got an update");
        ticket
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.step("is about to answer");
        self.session.reply(ticket)
    }
}

/// Shows no progress, and waits for nothing.
pub struct Hasty;

impl Progress for Hasty {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}

    fn pause(&self, _: Duration) {}
}
