//! What SQLite says, in words.

use rusqlite::{ErrorCode, ffi};

use crate::diag::Problem;
use crate::state::address::StateAddress;
use crate::state::error::{StateAttempt, error, unreadable, unusable};

/// What the database says.
pub fn of_database(address: &StateAddress, attempt: StateAttempt, source: &rusqlite::Error) -> Problem {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => unreadable(address, "the file is not a database"),
        Some(ErrorCode::DatabaseCorrupt) => unreadable(address, "the database is damaged"),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let message = format!("{}: another process is still writing to it", attempt.words());
            error(address, "state-busy", message, "wait until it is done, and see `zonewright status`")
        }
        _ if needs_recovery(source) => {
            let message = "a crash left the state in the middle of a write, and this user may not write there to \
                           repair it";
            error(address, "state-unreadable", message, "run `zonewright status` as a user who may write to its folder")
        }
        // A writer needs free space even to read the file.
        _ if lacks_room(source) => unusable(address, StateAttempt::Write, "there is no room on its disk"),
        _ => unusable(address, attempt, &source.to_string()),
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
