//! What the dice of a seed decided so far, and what runs sent and journaled.

use std::collections::HashSet;

use crate::dns::{Name, Rtype};
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary::UpdateFault;
use crate::state::ApplyId;
use crate::target::Marker;
use crate::verify::truth::Numbers;

/// How often events happen, each as one of so many; 0 is never.
pub struct Rates {
    /// A run dies at a point.
    pub crash: usize,
    /// Another editor edits at a point.
    pub edit: usize,
    /// A request suffers a fault.
    pub fault: usize,
}

/// An update as it was sent.
pub struct Sent {
    /// Which run sent it.
    pub run: usize,
    /// The update as it was after the network.
    pub message: UpdateMessage,
    /// The place of its batch among those of all journals.
    pub batch: Option<usize>,
    /// The process of the run that sent it, from 1.
    pub session: usize,
    /// Whether the journal said before that something of it was made.
    pub is_again: bool,
}

/// A batch as the journal has it.
pub struct Journaled {
    /// The state.
    pub state: usize,
    /// The run.
    pub run: usize,
    /// The apply.
    pub apply: ApplyId,
    /// Its number.
    pub number: u64,
    /// The marker that it leaves.
    pub marker: Option<Marker>,
    /// The RRsets that it changes.
    pub keys: Vec<(Name, Rtype)>,
}

/// What the dice decided so far.
pub struct Cast {
    /// The dice.
    pub dice: Numbers,
    /// How often events happen.
    pub rates: Rates,
    /// Whether faults happen.
    pub is_stormy: bool,
    /// The run that has the turn.
    pub turn: usize,
    /// Which runs are not at their end.
    pub alive: [bool; 2],
    /// Which runs are active.
    pub active: [bool; 2],
    /// How many processes each run had.
    pub sessions: [usize; 2],
    /// How many crashes may still happen.
    pub crashes: usize,
    /// How often another editor edited.
    pub edits: usize,
    /// The updates that were sent.
    pub sent: Vec<Sent>,
    /// The batches of all journals, each with how many updates there had been.
    pub journaled: Vec<(Journaled, usize)>,
    /// What journals say that runs made.
    pub made: HashSet<(usize, (Name, Rtype))>,
    /// What happened, where it is kept.
    pub history: Option<Vec<String>>,
}

impl Cast {
    /// Draws whether an event happens that happens once in so many.
    pub fn one_of(&mut self, count: usize) -> bool {
        count > 0 && self.dice.below(count) == 0
    }

    /// Adds a line to the history.
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(history) = &mut self.history {
            history.push(line());
        }
    }

    /// Keeps an update that a run sent.
    pub fn note_sent(&mut self, run: usize, message: &UpdateMessage) {
        let batch = self.journaled.iter().rposition(|(entry, _)| entry.run == run);
        let mut subjects = message.instructions.iter().filter_map(subject);
        let is_again = subjects.any(|own| self.made.contains(&(run, own)));
        self.sent.push(Sent { run, message: message.clone(), batch, session: self.sessions[run], is_again });
    }

    /// What happens to an update.
    pub fn fault(&mut self) -> UpdateFault {
        let kinds = self.rates.fault;
        if !self.is_stormy || kinds == 0 {
            return UpdateFault::None;
        }
        match self.dice.below(kinds) {
            0 => UpdateFault::LostAnswer,
            1 => UpdateFault::Lost,
            2 => UpdateFault::Late,
            3 => UpdateFault::Slow,
            4 => UpdateFault::Stuck,
            5 => UpdateFault::Freed,
            6 => UpdateFault::Doubled,
            7 => UpdateFault::ServFail,
            8 if self.one_of(4) => UpdateFault::Dead,
            _ => UpdateFault::None,
        }
    }
}

/// The RRset that an instruction is about; none where it is about all of a name.
fn subject(instruction: &UpdateInstruction) -> Option<(Name, Rtype)> {
    match instruction {
        UpdateInstruction::Add(name, rtype, ..)
        | UpdateInstruction::DeleteRrset(name, rtype)
        | UpdateInstruction::DeleteRecord(name, rtype, _) => Some((name.clone(), *rtype)),
        UpdateInstruction::DeleteName(_) => None,
    }
}
