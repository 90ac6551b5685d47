//! What the commands take that change names.lock.

use std::path::PathBuf;

use clap::Args;

use super::candidates;
use super::values::PlanFormatArg;

/// What `allocate` takes.
#[derive(Debug, Args)]
pub struct AllocateArgs {
    /// The hosts, by inventory number or name; the same as `--host`.
    #[arg(value_name = "HOST", add = candidates::hosts())]
    pub subjects: Vec<String>,
    /// Rename each HOST whose name does not fit its template; a name that fits stays.
    #[arg(long)]
    pub rename: bool,
    /// Record that each HOST is in this project; it keeps its name.
    #[arg(long, value_name = "ID", add = candidates::projects())]
    pub to_project: Option<String>,
    /// Read live DNS from this snapshot (its folder or manifest); ask no server, use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
}

/// What `release` takes.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// The hosts, by inventory number or name; the same as `--host`.
    #[arg(value_name = "HOST", add = candidates::hosts())]
    pub subjects: Vec<String>,
    /// Give each HOST a name in this project at once.
    #[arg(long, value_name = "ID", add = candidates::projects())]
    pub to_project: Option<String>,
    /// With `--to-project`: read live DNS from this snapshot (its folder or manifest); ask no server, use no secret.
    #[arg(long, value_name = "PATH", requires = "to_project")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
}

/// What `adopt` takes.
#[derive(Debug, Args)]
pub struct AdoptArgs {
    /// The hosts, by inventory number or name; the same as `--host`.
    #[arg(value_name = "HOST", add = candidates::hosts())]
    pub subjects: Vec<String>,
    /// Take over the RRsets of this owner in place of names: make a plan that replaces the owner in TXT of the registry.
    #[arg(long, value_name = "OWNER", conflicts_with_all = ["write", "yes", "subjects"])]
    pub from_owner: Option<String>,
    /// With `--from-owner`: also RRsets that no host, manifest or file claims. Policy `sync` may delete them then.
    #[arg(long, requires = "from_owner")]
    pub all: bool,
    /// With `--from-owner`: save the plan to this file, for `zonewright apply FILE`.
    #[arg(long, value_name = "FILE", requires = "from_owner")]
    pub out: Option<PathBuf>,
    /// With `--from-owner`: the format of the plan.
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "from_owner")]
    pub format: PlanFormatArg,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
}

/// What all commands take that change names.lock.
#[derive(Debug, Args)]
pub struct WritingArgs {
    /// Write names.lock (on a terminal it asks first).
    #[arg(long)]
    pub write: bool,
    /// Write without asking.
    #[arg(long, requires = "write")]
    pub yes: bool,
}
