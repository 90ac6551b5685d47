//! What keeps a state from being used, in words.

use std::io;

use super::address::StateAddress;
use crate::diag::{Code, Problem};

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateAttempt {
    /// To read.
    Read,
    /// To write.
    Write,
}

impl StateAttempt {
    /// The code of an error without a code of its own.
    fn code(self) -> &'static str {
        match self {
            StateAttempt::Read => "state-unreadable",
            StateAttempt::Write => "state-unwritable",
        }
    }

    /// What could not be done.
    pub fn words(self) -> &'static str {
        match self {
            StateAttempt::Read => "the state cannot be read",
            StateAttempt::Write => "the state cannot be written",
        }
    }
}

/// What to do about a file that is not a state.
const RESTORE: &str = "restore the file from its last good copy; or move it away and run `zonewright state init \
                       --reason TEXT`, which forgets the journal";

/// What to do about a file or folder that the system does not let be used.
const ACCESS: &str = "check the file's owner, its mode, and the free space of its disk; `[state] url` says where it is";

/// Puts an error together.
pub fn error(address: &StateAddress, code: impl Into<Code>, message: impl Into<String>, hint: &str) -> Problem {
    Problem::new(address.to_string(), code, message.into()).hint(hint)
}

/// What the system does not let be done, and why.
pub fn unusable(address: &StateAddress, attempt: StateAttempt, why: &str) -> Problem {
    error(address, attempt.code(), format!("{}: {why}", attempt.words()), ACCESS)
}

/// What the system says of the file or its folder.
pub fn of_system(address: &StateAddress, attempt: StateAttempt, source: &io::Error) -> Problem {
    unusable(address, attempt, &source.to_string())
}

/// The file holds something that is not part of a state.
pub fn unreadable(address: &StateAddress, what: impl Into<String>) -> Problem {
    error(address, "state-unreadable", what, RESTORE)
}
