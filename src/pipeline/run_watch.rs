//! What an apply tells while it sends: the journal what was sent and its outcome, the operator how far it is.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::conduct::ApplyConduct;
use crate::apply::{ApplyEvent, ApplyWatch};
use crate::inventory::value::Time;
use crate::parallel::HELD;
use crate::progress::Progress;
use crate::state::{ApplyId, SettledBatch, State};

/// Writes what happens to the state, and shows the operator how far the apply is.
pub struct RunWatch<'a> {
    /// The state.
    pub state: Mutex<&'a mut dyn State>,
    /// Which apply this is.
    pub id: ApplyId,
    /// How it is done: the clock of the run, and what is set once a signal asks the apply to end.
    pub request: &'a ApplyConduct<'a>,
    /// Shows the operator how far the run is.
    pub progress: &'a dyn Progress,
}

impl RunWatch<'_> {
    /// The clock.
    pub fn now(&self) -> Time {
        self.request.clock()
    }
}

impl ApplyWatch for RunWatch<'_> {
    fn event(&self, event: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.events(&[event])
    }

    fn events(&self, events: &[ApplyEvent<'_>]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let (mut settled, mut next) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                ApplyEvent::Settled(batch, outcome) => settled.push(SettledBatch { batch, outcome }),
                ApplyEvent::Sending(batch) => next.push(*batch),
                ApplyEvent::Hosts(count) => (0..*count).for_each(|_| self.progress.step()),
            }
        }
        // The journal keeps nothing of the end of a host.
        if settled.is_empty() && next.is_empty() {
            return Ok(());
        }
        let now = self.now();
        let mut state = self.state.lock().expect(HELD);
        Ok(state.note_settled_and_sending(self.id, &settled, &next, now)?)
    }

    fn wait(&self, pause: Duration) {
        self.progress.pause(pause);
    }

    fn is_interrupted(&self) -> bool {
        self.request.interrupted.load(Ordering::SeqCst)
    }
}

/// The watch of an apply that a signal ended before anything was sent.
pub struct InterruptedWatch;

impl ApplyWatch for InterruptedWatch {
    fn event(&self, _: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn wait(&self, _: Duration) {}

    fn is_interrupted(&self) -> bool {
        true
    }
}

/// The watch of an apply that sends nothing.
pub struct NoWatch;

impl ApplyWatch for NoWatch {
    fn event(&self, _: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    fn wait(&self, _: Duration) {}
}
