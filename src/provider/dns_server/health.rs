//! What a run has learned of a server, so that one that is dead costs one deadline and not one for each zone.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::failure::{ServerFailure, TransferProgress};

/// What is known about one server.
#[derive(Debug, Default)]
pub struct ServerHealth {
    /// Whether a connection timed out.
    unreachable: AtomicBool,
    /// Whether a question passed without a word until the deadline.
    silent: AtomicBool,
    /// Whether it ever said anything.
    heard: AtomicBool,
    /// Whether it failed until a transfer was given up.
    failing: AtomicBool,
}

impl ServerHealth {
    /// Whether the server may be asked.
    ///
    /// Errors: the failure that asking would end with, after another deadline.
    pub fn check(&self) -> Result<(), ServerFailure> {
        if self.unreachable.load(Ordering::Relaxed) {
            return Err(ServerFailure::Connect(io::ErrorKind::TimedOut.into()));
        }
        // The other zones waited as long as the one that got no answer.
        if self.was_silent() && !self.heard.load(Ordering::Relaxed) {
            return Err(ServerFailure::TimedOut { progress: TransferProgress::default() });
        }
        Ok(())
    }

    /// Whether a question passed without a word: others are better asked first.
    pub fn was_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// Whether it failed until a transfer was given up, so that no other is waited for.
    pub fn goes_on_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// Notes that it failed until a transfer was given up.
    pub fn note_failing(&self) {
        self.failing.store(true, Ordering::Relaxed);
    }

    /// Notes how an exchange ended: with this failure, or well.
    pub fn note(&self, failure: Option<&ServerFailure>) {
        match failure {
            Some(ServerFailure::Connect(error)) if error.kind() == io::ErrorKind::TimedOut => {
                self.unreachable.store(true, Ordering::Relaxed);
            }
            Some(ServerFailure::TimedOut { progress }) if progress.messages == 0 => {
                self.silent.store(true, Ordering::Relaxed);
            }
            // It may have been about to answer.
            Some(
                ServerFailure::Unresolved(_)
                | ServerFailure::Connect(_)
                | ServerFailure::Io(_)
                | ServerFailure::Cut { .. },
            ) => {}
            Some(_) | None => self.heard.store(true, Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The failure of a question that passed without a word.
    fn silence() -> ServerFailure {
        ServerFailure::TimedOut { progress: TransferProgress::default() }
    }

    #[test]
    fn a_server_that_never_answered_is_not_waited_for() {
        let health = ServerHealth::default();
        assert!(health.check().is_ok());
        health.note(Some(&silence()));
        assert!(matches!(health.check(), Err(ServerFailure::TimedOut { .. })));
    }

    #[test]
    fn a_server_that_spoke_once_is_asked_for_every_zone() {
        let health = ServerHealth::default();
        health.note(Some(&ServerFailure::Unsigned));
        health.note(Some(&silence()));
        assert!(health.check().is_ok() && health.was_silent());
    }

    #[test]
    fn a_refused_connection_costs_nothing_and_says_nothing_of_the_next() {
        let health = ServerHealth::default();
        health.note(Some(&ServerFailure::Connect(io::ErrorKind::ConnectionRefused.into())));
        assert!(health.check().is_ok());
        health.note(Some(&ServerFailure::Connect(io::ErrorKind::TimedOut.into())));
        assert!(
            matches!(health.check(), Err(ServerFailure::Connect(error)) if error.kind() == io::ErrorKind::TimedOut)
        );
    }
}
