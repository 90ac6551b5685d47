//! Why what a plan is made from cannot be read.

use super::findings::Findings;
use super::settings::OpenError;
use crate::diag::{CallError, Problem};

/// Why the inventory, live DNS and the state cannot be read together.
#[derive(Debug)]
pub enum InputError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The command line names a folder that is not a snapshot.
    Snapshot(Problem),
    /// The command line names a host or project that is not known.
    Call(CallError),
}

impl From<OpenError> for InputError {
    fn from(error: OpenError) -> InputError {
        InputError::Open(error)
    }
}

impl From<Box<Findings>> for InputError {
    fn from(findings: Box<Findings>) -> InputError {
        InputError::Open(findings.into())
    }
}

impl From<Problem> for InputError {
    fn from(error: Problem) -> InputError {
        InputError::Open(error.into())
    }
}

impl From<CallError> for InputError {
    fn from(error: CallError) -> InputError {
        InputError::Call(error)
    }
}
