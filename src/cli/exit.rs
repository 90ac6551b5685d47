//! The exit codes: one type, one meaning each.

use std::process::ExitCode;

/// How a command ended. Where several apply, `Error` wins over `Refused`, that over `InPart`, that over `Waiting`, and that over `Changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done; for `plan`, without `--detailed-exitcode`, whatever it found.
    Done,
    /// An error, in usage too; also a plan for which a zone or a source could not be read.
    Error,
    /// `plan --detailed-exitcode`, `drift`: there are changes.
    Changes,
    /// Nothing was changed: the plan exceeds a limit, a breaker holds it back, it is expired, altered or not the
    /// expected one, or every host of it is stale. Also where a test refuses an export, although hosts that do not need
    /// it were changed. `plan --detailed-exitcode`: it would be refused.
    Refused,
    /// Some hosts were changed, and others could not be.
    InPart,
    /// Some hosts wait for a later wave of the rollout; nothing went wrong.
    Waiting,
}

impl Exit {
    /// The one that wins, where both apply.
    pub fn and(self, other: Exit) -> Exit {
        let place = |exit: &Exit| match exit {
            Exit::Error => 0,
            Exit::Refused => 1,
            Exit::InPart => 2,
            Exit::Waiting => 3,
            Exit::Changes => 4,
            Exit::Done => 5,
        };
        std::cmp::min_by_key(self, other, place)
    }

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Changes => 2,
            Exit::Refused => 3,
            Exit::InPart => 4,
            Exit::Waiting => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_codes_the_gravest_wins() {
        let order = [Exit::Error, Exit::Refused, Exit::InPart, Exit::Waiting, Exit::Changes, Exit::Done];
        for (place, first) in order.into_iter().enumerate() {
            for second in &order[place..] {
                assert_eq!((first.and(*second), second.and(first)), (first, first));
            }
        }
    }
}
