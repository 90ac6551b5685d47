//! What keeps a state from being used, in words.

use crate::diag::{Code, Problem};
use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use super::seal::broken_row;

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
    fn words(self) -> &'static str {
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
pub fn error(file: &Path, code: impl Into<Code>, message: impl Into<String>, hint: &str) -> Problem {
    // The current folder need not be named.
    let place = file.strip_prefix(".").unwrap_or(file).display().to_string();
    Problem::new(place, code, message.into()).hint(hint)
}

/// What the database says.
pub fn of_database(file: &Path, attempt: StateAttempt, source: &rusqlite::Error) -> Problem {
    if let Some(broken) = broken_row(source) {
        return unreadable(file, broken.to_string());
    }
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => unreadable(file, "the file is not a database"),
        Some(ErrorCode::DatabaseCorrupt) => unreadable(file, "the database is damaged"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let message = format!("{}: another process is still writing to it", attempt.words());
            error(file, "state-busy", message, "wait until it is done, and see `zonewright status`")
        }
        _ if needs_recovery(source) => {
            let message = "a crash left the state in the middle of a write, and this user may not write there to \
                           repair it";
            error(file, "state-unreadable", message, "run `zonewright status` as a user who may write to its folder")
        }
        // A writer needs free space even to read the file.
        _ if lacks_room(source) => {
            let message = format!("{}: there is no room on its disk", StateAttempt::Write.words());
            error(file, StateAttempt::Write.code(), message, ACCESS)
        }
        _ => error(file, attempt.code(), format!("{}: {source}", attempt.words()), ACCESS),
    }
}

/// Whether the disk is full.
fn lacks_room(source: &rusqlite::Error) -> bool {
    let of_log = || source.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE);
    source.sqlite_error_code() == Some(ErrorCode::DiskFull) || of_log()
}

/// Whether a crash left the file in the middle of a write, and this reader may not undo it.
pub fn needs_recovery(source: &rusqlite::Error) -> bool {
    source.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_READONLY_ROLLBACK)
}

/// What the system says of the file or its folder.
pub fn of_system(file: &Path, attempt: StateAttempt, source: &io::Error) -> Problem {
    error(file, attempt.code(), format!("{}: {source}", attempt.words()), ACCESS)
}

/// The file holds something that is not part of a state.
pub fn unreadable(file: &Path, what: impl Into<String>) -> Problem {
    error(file, "state-unreadable", what, RESTORE)
}
