//! One run that writes at a time, and one `run` that leads: locks on files, which die with their processes.
//!
//! They are a courtesy, not a protection: the fence of each zone keeps two runs from harming each other, also between
//! machines. The files stay; their content is only for messages.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::address::StateAddress;
use super::error::{StateAttempt, error, of_system};
use super::folder;
use crate::diag::Problem;
use crate::disk::private_file;
use crate::inventory::value::Time;

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LockHolder {
    /// The process; none where the lock does not say yet.
    pub pid: Option<u32>,
    /// Who runs it; empty where that is not known.
    pub who: String,
    /// Since when; none where the lock does not say yet.
    pub since: Option<Time>,
}

/// What the file says.
#[derive(Debug, Serialize, Deserialize)]
struct LockContent {
    /// The process.
    pid: u32,
    /// Who runs it.
    who: String,
    /// Since when.
    since: String,
}

/// A lock, held until it is dropped.
#[derive(Debug)]
pub struct StateLock {
    /// The file that is locked.
    file: File,
}

/// The end of the name of the file that is locked, next to that of the state: so each state has its own.
const END: &str = ".lock";

/// The same for the one that says which of several `run` leads.
const LEADER_END: &str = ".leader";

/// How often at least a lock is tried that another process holds: `status` holds it for a moment, too.
const TRIES: u64 = 10;

/// The code of a state that another process holds.
pub const IN_USE: &str = "locked";

/// How long to wait between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// More octets than the file ever has.
const MAX_CONTENT: u64 = 64 * 1024;

impl StateLock {
    /// Takes the lock of a state.
    ///
    /// Errors: `locked`, where another process holds it; `state-unwritable`, where there can be no lock.
    pub fn take(address: &StateAddress, who: &str, now: Time) -> Result<StateLock, Problem> {
        StateLock::take_patiently(address, who, now, &|| false)
    }

    /// Takes the lock of a state; while another process holds it, it is tried again as long as `goes_on` says so.
    ///
    /// Errors: as for [`StateLock::take`].
    pub fn take_patiently(
        address: &StateAddress,
        who: &str,
        now: Time,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<StateLock, Problem> {
        let lock = address.next_to(END);
        StateLock::take_file(&lock, who, now, goes_on)
    }

    /// Takes the lock on a file.
    ///
    /// Errors: as for [`StateLock::take`].
    fn take_file(lock: &StateAddress, who: &str, now: Time, goes_on: &dyn Fn() -> bool) -> Result<StateLock, Problem> {
        let failed = |source| of_system(lock, StateAttempt::Write, &source);
        folder::prepare(lock.file()).map_err(failed)?;
        // The text about another holder stays until the lock is ours.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let held = private_file(&mut options).open(lock.file()).map_err(failed)?;
        let mut tries = 1;
        loop {
            match held.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES || goes_on() => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(locked(lock, &read(&held))),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            tries += 1;
        }
        let taken = StateLock { file: held };
        taken.sign(who, now).map_err(failed)?;
        Ok(taken)
    }

    /// Takes the lead of a state among processes that would all carry it out, for as long as this process keeps it; none where
    /// another one leads. A process that ends, however it ends, no longer leads.
    ///
    /// Errors: `state-unwritable`, where there can be no lock.
    pub fn lead(address: &StateAddress, who: &str, now: Time) -> Result<Option<StateLock>, Problem> {
        match StateLock::take_file(&address.next_to(LEADER_END), who, now, &|| false) {
            Ok(lock) => Ok(Some(lock)),
            Err(problem) if problem.code.as_str() == IN_USE => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Whether this is still the lead of a state: the file that is locked is the one that has its name. It is not where the folder of
    /// the state was replaced.
    pub fn still_leads(&self, address: &StateAddress) -> bool {
        let named = File::open(address.next_to(LEADER_END).file());
        named.is_ok_and(|named| is_same_file(&named, &self.file))
    }

    /// Who leads a state; `None` where no process does, or it is unknown.
    pub fn leader(address: &StateAddress) -> Option<LockHolder> {
        holder_of(&address.next_to(LEADER_END))
    }

    /// Who holds the lock of a state; `None` where no process does, or it is unknown.
    pub fn holder(address: &StateAddress) -> Option<LockHolder> {
        holder_of(&address.next_to(END))
    }

    /// Writes who holds it.
    fn sign(&self, who: &str, now: Time) -> std::io::Result<()> {
        let content = LockContent { pid: std::process::id(), who: who.to_owned(), since: now.to_string() };
        let text = serde_json::to_string(&content).expect("a number and texts are JSON");
        self.file.set_len(0)?;
        writeln!(&self.file, "{text}")
    }
}

impl Drop for StateLock {
    /// Clears the file; the lock ends with the open file.
    fn drop(&mut self) {
        // The text of a free lock is not read.
        let _ = self.file.set_len(0);
    }
}

/// Whether two open files are one.
#[cfg(unix)]
fn is_same_file(one: &File, other: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |file: &File| file.metadata().map(|metadata| (metadata.dev(), metadata.ino())).ok();
    place(one).is_some() && place(one) == place(other)
}

/// Whether two open files are one: where the system does not say so, they count as one.
#[cfg(not(unix))]
fn is_same_file(_: &File, _: &File) -> bool {
    true
}

/// Who holds the lock on a file; `None` where no process does, or it is unknown.
fn holder_of(lock: &StateAddress) -> Option<LockHolder> {
    let looked = File::open(lock.file()).ok()?;
    // Let go when `looked` is closed.
    match looked.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read(&looked)),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// Reads from the file who holds a lock.
fn read(mut file: &File) -> LockHolder {
    let mut text = String::new();
    // What cannot be read says nothing.
    let _ = file.rewind().and_then(|()| file.take(MAX_CONTENT).read_to_string(&mut text));
    match serde_json::from_str::<LockContent>(&text) {
        Ok(LockContent { pid, who, since }) => LockHolder { pid: Some(pid), who, since: since.parse().ok() },
        Err(_) => LockHolder { pid: None, who: String::new(), since: None },
    }
}

/// Another process holds the lock.
fn locked(lock: &StateAddress, holder: &LockHolder) -> Problem {
    let who = if holder.who.is_empty() { String::new() } else { format!(" of {}", holder.who) };
    let process = holder.pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}{who}"));
    let since = holder.since.map(|since| format!(", since {since}")).unwrap_or_default();
    let hint = "wait until it is done, or see `zonewright status`; the lock ends with its process";
    error(lock, IN_USE, format!("another run has the lock: {process}{since}"), hint)
}
