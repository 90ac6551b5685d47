//! What is between a run and the zones: before and after each request other editors may act, and the run may die.

use std::time::Duration;

use super::seed_play::Weakness;
use super::stage::Stage;
use crate::change::{Change, ChangeKind};
use crate::diag::Problem;
use crate::dns::{Rtype, ZoneName};
use crate::progress::{Progress, RunStage};
use crate::provider::at_once::AtOnce;
use crate::target::{
    Answer, EditSize, Question, RrsetBlame, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket, UpdateZone,
    WriteTarget,
};

/// The connection of a run to the primary.
pub struct RunWire<'s> {
    /// The stage.
    pub stage: &'s Stage,
    /// The run.
    pub run: usize,
    /// The changes of its plan.
    pub changes: &'s [Change],
    /// What it writes to.
    pub target: &'s dyn WriteTarget,
}

impl RunWire<'_> {
    /// What the plan saw, as an answer.
    fn seen(&self, question: &Question, answer: Answer) -> Answer {
        let is_asked = |change: &&Change| Question::of(&change.key) == *question;
        match self.changes.iter().find(is_asked).map(|change| change.kind.before()) {
            Some(Some(before)) => Answer::Holds(question.rtype, before.clone()),
            Some(None) => Answer::Nothing,
            None => answer,
        }
    }
}

impl WriteTarget for RunWire<'_> {
    fn place(&self, zone: &ZoneName) -> String {
        self.target.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        let limits = self.target.limits();
        // Without an order of their own, RRsets go in batches that are taken apart on the way.
        let is_cut = limits.edits > 1 || self.stage.weakness == Weakness::Order;
        let edits = if is_cut { self.stage.primary.limits().edits } else { 1 };
        UpdateLimits { edits, ..limits }
    }

    fn compares(&self) -> bool {
        self.target.compares()
    }

    fn is_divisible(&self) -> bool {
        self.target.is_divisible()
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        self.target.size(zone, edit)
    }

    fn observe(&self, zone: &ZoneName, asked: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        self.stage.point(self.run, "before it reads");
        let answers = self.target.observe(zone, asked, self.stage.size_hint)?;
        // Only the survey asks for the SOA with RRsets behind it.
        let is_pre_read = asked.len() > 1 && asked[0].rtype == Rtype::SOA;
        if is_pre_read && self.stage.weakness == Weakness::PreRead {
            return Ok(asked.iter().zip(answers).map(|(question, answer)| self.seen(question, answer)).collect());
        }
        Ok(answers)
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        let line = Line { wire: self, session: self.target.open(zone) };
        match (self.stage.weakness, self.stage.is_exclusive) {
            (Weakness::Order, false) => Box::new(one_by_one(line)),
            (Weakness::Order, true) => Box::new(gone_first(line)),
            _ => Box::new(line),
        }
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}

/// The connection of a run to one zone.
struct Line<'w> {
    /// The connection to the primary.
    wire: &'w RunWire<'w>,
    /// The session with it.
    session: Box<dyn UpdateZone + 'w>,
}

impl UpdateZone for Line<'_> {
    fn window(&mut self) -> usize {
        self.session.window()
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.wire.stage.point(self.wire.run, "before it sends");
        let ticket = self.session.send(update);
        self.wire.stage.point(self.wire.run, "after it sent");
        ticket
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.wire.stage.point(self.wire.run, "before it hears");
        self.session.reply(ticket)
    }

    fn blamed(&mut self, ticket: UpdateTicket) -> Vec<RrsetBlame> {
        self.session.blamed(ticket)
    }
}

/// A connection that sends each edit by itself, in the order in which they come, up to the first that is not done.
fn one_by_one<'w>(mut line: Line<'w>) -> impl UpdateZone + 'w {
    AtOnce::new(move |update: &Update<'_>| {
        for edit in &update.edits {
            let sent = line.send(&Update { zone: update.zone, edits: vec![*edit] });
            match sent.map_or_else(UpdateReply::Unknown, |ticket| line.reply(ticket)) {
                UpdateReply::Done => {}
                reply => return reply,
            }
        }
        UpdateReply::Done
    })
}

/// A connection by which all values of before go before the others come.
fn gone_first<'w>(mut line: Line<'w>) -> impl UpdateZone + 'w {
    AtOnce::new(move |update: &Update<'_>| {
        let is_gone = |kind: &ChangeKind| kind.before().cloned().map(|before| ChangeKind::Delete { before });
        let is_there = |kind: &ChangeKind| kind.after().cloned().map(|after| ChangeKind::Create { after });
        for edit in &update.edits {
            for kind in [is_gone(edit.kind), is_there(edit.kind)].iter().flatten() {
                let half = Update { zone: update.zone, edits: vec![RrsetEdit { key: edit.key, kind }] };
                match line.send(&half).map_or_else(UpdateReply::Unknown, |ticket| line.reply(ticket)) {
                    UpdateReply::Done => {}
                    reply => return reply,
                }
            }
        }
        UpdateReply::Done
    })
}

impl Progress for RunWire<'_> {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}

    fn pause(&self, _: Duration) {
        self.stage.point(self.run, "while it waits");
    }
}
