//! Ctrl-C, SIGTERM and SIGHUP while a plan is applied: zonewright waits for the updates in flight, keeps them in the
//! journal, reads them back, and sends nothing else. A second Ctrl-C or SIGTERM ends the process at once. SIGHUP, which
//! says that the terminal is gone, is left alone where the process began with it ignored, as under `nohup`. SIGXFSZ, which
//! says that a file is too long, ends nothing: the write fails, as on a full disk. SIGABRT, by which a process
//! ends that gets no memory, becomes exit code 1.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use super::exit::Exit;
use super::output::CommandFailure;
use crate::process::BoundedCommand;

/// What a signal sets in a process that goes on until it is stopped.
#[derive(Debug, Clone, Default)]
pub struct ServiceSignals {
    /// That it is to end.
    pub interrupted: Arc<AtomicBool>,
    /// That it is to begin a pass.
    pub hangup: Arc<AtomicBool>,
    /// Set while the process may end at once, because it plans: a signal ends it then, with exit code 0.
    only_plans: Arc<AtomicBool>,
}

impl ServiceSignals {
    /// Lets a signal end the process at once, as long as the result is kept: for a plan, which writes nothing but copies of zones,
    /// however long a server is silent.
    pub fn end_at_once(&self) -> PlanningTime<'_> {
        self.only_plans.store(true, Ordering::SeqCst);
        PlanningTime(self)
    }
}

/// While a process plans.
#[derive(Debug)]
pub struct PlanningTime<'s>(&'s ServiceSignals);

impl Drop for PlanningTime<'_> {
    fn drop(&mut self) {
        self.0.only_plans.store(false, Ordering::SeqCst);
    }
}

/// The signals of such a process: what it does one after another ends by the same one.
static SERVICE: OnceLock<ServiceSignals> = OnceLock::new();

/// The failure to watch for signals.
fn cannot(error: io::Error) -> CommandFailure {
    CommandFailure::new(format!("cannot watch for signals: {error}: nothing was changed"))
}

/// Begins to watch for signals in a process that goes on until it is stopped, once in its life: SIGINT and SIGTERM end it, and
/// whatever it does then; SIGHUP sets a mark of its own.
pub fn watch_service() -> Result<ServiceSignals, CommandFailure> {
    let only_plans = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // It comes first: what a signal does follows the order in which it was said.
        let code = i32::from(Exit::Done.code());
        flag::register_conditional_shutdown(signal, code, Arc::clone(&only_plans)).map_err(cannot)?;
    }
    let signals = ServiceSignals { interrupted: watch_interrupts()?, hangup: Arc::default(), only_plans };
    flag::register(SIGHUP, Arc::clone(&signals.hangup)).map_err(cannot)?;
    outlive_full_files().map_err(cannot)?;
    Ok(SERVICE.get_or_init(|| signals).clone())
}

/// Watches for SIGINT and SIGTERM: the first one sets the result, the second one ends the process.
fn watch_interrupts() -> Result<Arc<AtomicBool>, CommandFailure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: a signal must not find the mark that it sets itself.
        let code = i32::from(Exit::Error.code());
        let at_once = flag::register_conditional_shutdown(signal, code, Arc::clone(&interrupted));
        let watched = at_once.and_then(|_| flag::register(signal, Arc::clone(&interrupted)));
        watched.map_err(cannot)?;
    }
    Ok(interrupted)
}

/// Begins to watch for signals; the first one sets the result.
pub fn watch() -> Result<Arc<AtomicBool>, CommandFailure> {
    if let Some(service) = SERVICE.get() {
        return Ok(Arc::clone(&service.interrupted));
    }
    let interrupted = watch_interrupts()?;
    if !is_hangup_ignored() {
        // A second one ends nothing at once: where a session ends, the system and the shell each send one.
        flag::register(SIGHUP, Arc::clone(&interrupted)).map_err(cannot)?;
    }
    outlive_full_files().map_err(cannot)?;
    Ok(interrupted)
}

/// Whether SIGHUP is ignored, as `nohup` starts a process. Where that is not known it is treated as ignored: then the
/// signal does what it did when the process began.
///
/// The system call that says it needs unsafe code. Linux has it in a file; anywhere a shell inherits it, and sends itself
/// the signal.
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores_hangup(&status).unwrap_or_else(|| {
        let words = ["sh", "-c", "kill -HUP $$"].map(str::to_owned).to_vec();
        let shell = BoundedCommand { words, workspace: PathBuf::from("/"), timeout: SHELL_TAKES };
        // What cannot be run says nothing.
        shell.run(b"").map_or_else(|error| !error.may_pass, |()| true)
    })
}

/// How long a shell may take to send itself a signal.
const SHELL_TAKES: Duration = Duration::from_secs(10);

/// Whether a process ignores SIGHUP by its status, as Linux writes it: a bit for each signal, from 1.
fn ignores_hangup(status: &str) -> Option<bool> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored >> (SIGHUP - 1) & 1 == 1)
}

/// Makes 1, the code of errors, of an abort: that is how the process ends for which the system has no memory, with a
/// sentence that says so.
pub fn exit_on_abort() -> std::io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    flag::register_conditional_shutdown(SIGABRT, i32::from(Exit::Error.code()), always).map(drop)
}

/// Lets a write fail that makes a file too long, which would end the process.
pub fn outlive_full_files() -> std::io::Result<()> {
    // Nothing reads this mark: setting it replaces the end of the process.
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_process_says_whether_a_hangup_is_ignored() {
        let status = |ignored: &str| format!("Name:\tzonewright\nSigBlk:\t0000000000000001\nSigIgn:\t{ignored}\n");
        assert_eq!(ignores_hangup(&status("0000000000001000")), Some(false));
        assert_eq!(ignores_hangup(&status("0000000000001001")), Some(true));
        assert_eq!(ignores_hangup(&status("many")), None);
        assert_eq!(ignores_hangup(""), None);
    }
}
