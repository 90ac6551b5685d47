//! Ctrl-C and SIGTERM while a plan is applied: what is in flight is waited for, kept in the journal and read back, and nothing
//! more is sent. The second one ends the process at once. SIGXFSZ, which says that a file may not grow any more, ends
//! nothing: the write fails, as on a full disk. SIGABRT, by which a process ends that gets no memory, becomes exit code 1.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use super::exit::Exit;
use super::output::Failure;

/// Begins to look out for signals; what is given is set by the first.
pub fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let cannot = |error| Failure::new(format!("cannot look out for signals: {error}: nothing was changed"));
    for signal in [SIGINT, SIGTERM] {
        // In this order, so that a signal does not find its own mark.
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
    // Nobody looks at this mark: that it is set takes the place of the end of the process.
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}
