//! What went wrong with something other than the files of a workspace: a server, the state, a plan, a snapshot.

use std::fmt;

use serde::Serialize;

use super::{Code, Diagnostics, Files};

/// What was found in files, with the files.
pub type FileFindings = (Files, Diagnostics);

/// Why something was not done. All rooms turn their errors into this, and it is said and kept in this form alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: a file, a server and zone, the state.
    pub place: String,
    /// What kind of problem it is.
    pub code: Code,
    /// What happened: lower case, no full stop.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
    /// What was found in files, where that is the cause.
    #[serde(skip)]
    pub findings: Option<Box<FileFindings>>,
}

impl Problem {
    /// A problem at a place, without a hint.
    pub fn new(place: impl Into<String>, code: impl Into<Code>, message: impl Into<String>) -> Problem {
        Problem { place: place.into(), code: code.into(), message: message.into(), hint: None, findings: None }
    }

    /// Says what to do.
    pub fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }

    /// Says what to do, where that is known.
    pub fn maybe_hint(self, hint: Option<String>) -> Problem {
        Problem { hint, ..self }
    }

    /// Says what in files is the cause.
    pub fn findings(self, findings: Box<FileFindings>) -> Problem {
        Problem { findings: Some(findings), ..self }
    }

    /// The same problem at another place.
    pub fn at(self, place: impl Into<String>) -> Problem {
        Problem { place: place.into(), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: error[{}]: {}", self.place, self.code, self.message)
    }
}

impl std::error::Error for Problem {}

/// Why an attempt failed that may be made again: a command that was run, a request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptError {
    /// In words, without secrets.
    pub message: String,
    /// Whether the same attempt may succeed later.
    pub may_pass: bool,
}

/// What is wrong with a call: the caller reads it, and no other person is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CallError {}
