//! What a name server answered about a zone, and the row that is kept of it. Pure.

use super::steps::{ServedSteps, StepNumber, is_at_or_past, is_past};
use crate::dns::Serial;
use crate::target::SerialAnswer;

crate::document::words! {
    /// Why a server does not show that it serves the newest step.
    ServerFault {
        /// It serves an older one.
        Behind = "behind",
        /// It does not answer.
        NoAnswer = "no-answer",
        /// It answers that it does not have the zone.
        NoZone = "no-zone",
        /// It serves a lower serial than before.
        SerialSetBack = "serial-set-back",
        /// It serves the serial, and does not hold an RRset as it was changed.
        RecordsDiffer = "records-differ",
    }
}

crate::document::words! {
    /// How an action at a server ended.
    RowStatus {
        /// It is done.
        Success = "SUCCESS",
        /// It is not.
        Error = "ERROR",
    }
}

impl RowStatus {
    /// That of something that is done or not.
    pub fn of(is_done: bool) -> RowStatus {
        if is_done { RowStatus::Success } else { RowStatus::Error }
    }
}

/// What is kept of one server, for one zone and one kind of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerRow {
    /// The step that it has reached.
    pub step: StepNumber,
    /// Why it counts as failed; `None` where it serves the newest step.
    pub fault: Option<ServerFault>,
    /// The highest serial that it answered.
    pub serial: Option<Serial>,
}

impl ServerRow {
    /// Its status.
    pub fn status(self) -> RowStatus {
        RowStatus::of(self.fault.is_none())
    }

    /// The row of a name server after an answer; `target` is what is kept of the target that it follows.
    ///
    /// A server that does not answer keeps its step: what it served it may still serve.
    pub fn after(self, answer: SerialAnswer, target: &ServedSteps, newest: StepNumber) -> ServerRow {
        match answer {
            SerialAnswer::Silent => ServerRow { fault: Some(ServerFault::NoAnswer), ..self },
            SerialAnswer::NoZone => {
                ServerRow { step: StepNumber::NONE, fault: Some(ServerFault::NoZone), serial: self.serial }
            }
            SerialAnswer::Serves(serial) if self.serial.is_some_and(|highest| !is_at_or_past(serial, highest)) => {
                let fault = Some(ServerFault::SerialSetBack);
                ServerRow { step: StepNumber::NONE, fault, serial: self.serial }
            }
            SerialAnswer::Serves(serial) => {
                let step = target.shown_by(serial);
                let fault = (step < newest).then_some(ServerFault::Behind);
                let highest = self.serial.filter(|highest| !is_past(serial, *highest)).unwrap_or(serial);
                ServerRow { step, fault, serial: Some(highest) }
            }
        }
    }

    /// The row of a name server that does not hold what a step changed: it has reached the step before at most.
    pub fn without(self, step: StepNumber, fault: ServerFault) -> ServerRow {
        ServerRow { step: self.step.min(step.before()), fault: Some(fault), ..self }
    }

    /// The row of a target that votes by itself; `is_set_back` says that its serial went back.
    pub fn of_target(reached: StepNumber, is_set_back: bool, newest: StepNumber) -> ServerRow {
        if is_set_back {
            return ServerRow { step: StepNumber::NONE, fault: Some(ServerFault::SerialSetBack), serial: None };
        }
        ServerRow { step: reached, fault: (reached < newest).then_some(ServerFault::Behind), serial: None }
    }
}
