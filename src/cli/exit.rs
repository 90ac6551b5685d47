//! The exit codes: one type, one meaning each.

use std::process::ExitCode;

/// How a command ended. Where several hold, `Error` goes before `Refused`, and that before `Changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `plan`, without `--detailed-exitcode`, whatever it found.
    Done,
    /// An error, in usage too; also a plan for which a zone or a source could not be read.
    Error,
    /// `plan --detailed-exitcode`: there are changes.
    Changes,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Changes => 2,
        })
    }
}
