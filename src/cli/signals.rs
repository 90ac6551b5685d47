//! Ctrl-C and SIGTERM while a plan is applied: zonewright waits for the updates in flight, keeps them in the journal,
//! reads them back, and sends nothing else. The second signal ends the process at once. SIGXFSZ, which says that a file
//! is too long, ends nothing: the write fails, as on a full disk. SIGABRT, by which a process
//! ends that gets no memory, becomes exit code 1.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use super::exit::Exit;
use super::output::CommandFailure;

/// Begins to watch for signals; the first one sets the result.
pub fn watch() -> Result<Arc<AtomicBool>, CommandFailure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let cannot = |error| CommandFailure::new(format!("cannot watch for signals: {error}: nothing was changed"));
    for signal in [SIGINT, SIGTERM] {
        // In this order: a signal must not find the mark that it sets itself.
        let code = i32::from(Exit::Error.code());
        let at_once = flag::register_conditional_shutdown(signal, code, Arc::clone(&interrupted));
        let watched = at_once.and_then(|_| flag::register(signal, Arc::clone(&interrupted)));
        watched.map_err(cannot)?;
    }
    outlive_full_files().map_err(cannot)?;
    Ok(interrupted)
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
