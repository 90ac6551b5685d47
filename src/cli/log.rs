//! Messages on standard error.

use tracing::Level;

use super::args::{LogFormat, Shared};

/// Sends messages of the wanted weight to standard error, in the wanted format.
///
/// Only the first call in a process counts.
pub fn start(shared: &Shared) {
    let level = match (shared.quiet, shared.verbose) {
        (true, _) => Level::ERROR,
        (false, 0) => Level::WARN,
        (false, 1) => Level::INFO,
        (false, _) => Level::DEBUG,
    };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    // A second start in one process, as tests make, keeps the first subscriber.
    let _ = match shared.log_format {
        LogFormat::Text => builder.without_time().with_ansi(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
