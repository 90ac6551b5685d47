//! What the commands take that are about applies and their state: `status`, `history`, `sync` and `state`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::candidates;
use super::values::FormatArg;

/// What `status --help` says below the flags.
pub const STATUS_WORDS: &str = "\
Words of `status --pool`:
  PENDING  it is not known yet whether enough servers have it
  ACTIVE   enough servers have it as it was applied
  ERROR    so many servers failed that too few have it: `zonewright sync`
  DELETED  enough servers no longer have it, as it was applied
Each apply that changes a zone is a step of it: `newest` is the last one, and
`step` the last one that enough servers have reached. After the status of an
RRset is what is still to be done: ADD, UPDATE, DELETE, or NONE.";

/// What `sync --help` says below the flags.
pub const SYNC_EXITS: &str = "\
Exit codes:
  0  all of these zones are ACTIVE, or there was nothing to do
  1  error: settings are wrong, or the state cannot be used
  3  refused: a limit or a breaker forbids what targets lack
  4  a zone is ERROR or PENDING, or a target still lacks changes: run it
     again, or see who is behind: `zonewright status --pool POOL`";

/// What `status` takes.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Show the zones, servers and RRsets of this pool: what is served of what was applied.
    #[arg(long, value_name = "POOL", conflicts_with = "reset")]
    pub pool: Option<String>,
    /// Reset the breaker of this scope, `global` or `project:ID`; needs `--reason`, which the journal keeps.
    #[arg(long, value_name = "SCOPE", conflicts_with = "format")]
    pub reset: Option<String>,
}

/// What `history` takes.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The number of an apply, an inventory number, a whole owner name, or an address for its reverse name [default: list
    /// the applies]
    #[arg(value_name = "ID|HOST|NAME", add = candidates::applies())]
    pub subject: Option<String>,
    /// The format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
}

/// What `sync` takes.
#[derive(Debug, Args)]
pub struct SyncArgs {
    /// Limit to this pool [default: all]
    #[arg(long, value_name = "POOL")]
    pub pool: Option<String>,
    /// The format of the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Write metrics to this file, for the textfile collector of Prometheus; also if the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
}

/// What `state` takes.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: StateCommand,
}

/// What can be done with the state.
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Take over the markers that the zones have; create the state if there is none.
    ///
    /// For an apply that is refused with `state-lost`: another state was used for an apply, or the state is gone. First look
    /// at what was done. `--reason` says why this is right, and the journal keeps it. Changes nothing in DNS. A zone that
    /// cannot be read is named and not taken over, and the command exits 1.
    Init,
}
