//! What `cms` and `serve --cms` take.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::FormatArg;
use crate::inventory::cms::CmsVersion;
use crate::serve::cms::fault::ApprovalFault;

/// What `cms` takes.
#[derive(Debug, Args)]
pub struct CmsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: CmsCommand,
}

/// What can be done with services.
#[derive(Debug, Subcommand)]
pub enum CmsCommand {
    /// Try all of the protocol at a service, by dry runs.
    ///
    /// Asks the service `[cms.NAME]` for its list of tasks, for a task that does not exist, and, by a dry run, for each action
    /// that its version knows; deletes what dry runs left; and asks without the token, which it should refuse. Each step says
    /// whether it is as the protocol demands (`zonewright schema cms`), and what its authors are to change. No host is
    /// disturbed, and nothing changes in DNS. Exits 1 where a step fails.
    Check(CmsCheckArgs),
    /// Delete the tasks of a state that is lost, at a service.
    ///
    /// Each run deletes what its own state left at services. The tasks of a state
    /// that was lost, or is no longer used, stay: their hosts count as busy for ever. Needs `--reason`. Refuses the state of this workspace.
    Clean(CmsCleanArgs),
}

/// What `cms check` takes.
#[derive(Debug, Args)]
pub struct CmsCheckArgs {
    /// The service: NAME of `[cms.NAME]`.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The host that dry runs are about [default: a host of hosts.csv]
    #[arg(long = "about", value_name = "HOSTNAME")]
    pub about: Option<String>,
    /// The format of the findings.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
}

/// What `cms clean` takes.
#[derive(Debug, Args)]
pub struct CmsCleanArgs {
    /// The service: NAME of `[cms.NAME]`.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The id of the lost state: the part between the dots of the ids of its tasks.
    #[arg(long, value_name = "ID")]
    pub state: String,
}

/// How `serve --cms` behaves.
#[derive(Debug, Args)]
pub struct ServeCmsArgs {
    /// Serve approvals in place of zones: the reference service of the protocol of cluster-management services, over HTTP.
    #[arg(long, conflicts_with_all = ["paths", "key", "key_name", "try_on", "quirks", "faults"])]
    pub cms: bool,
    /// The version of the protocol: actions that it does not know are refused.
    #[arg(long, value_name = "VERSION", default_value = "v1.4", requires = "cms", value_parser = parse_version)]
    pub cms_version: CmsVersion,
    /// How many hosts may be disturbed at a time.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "cms")]
    pub cms_max_busy: usize,
    /// Reject this host (repeatable).
    #[arg(long, value_name = "HOSTNAME", requires = "cms")]
    pub cms_reject: Vec<String>,
    /// A file with the bearer token that requests must have [default: none is needed]
    #[arg(long, value_name = "FILE", requires = "cms")]
    pub cms_token: Option<PathBuf>,
    /// Keep the tasks in this SQLite database, beyond the end of the process.
    #[arg(long, value_name = "FILE", requires = "cms")]
    pub cms_db: Option<PathBuf>,
    /// Make the Nth request, or each, go wrong (repeatable); see below.
    #[arg(long = "cms-fault", value_name = "NAME=N", requires = "cms")]
    pub cms_faults: Vec<ApprovalFault>,
}

/// Reads a version of the protocol.
fn parse_version(text: &str) -> Result<CmsVersion, String> {
    CmsVersion::parse(text).ok_or_else(|| {
        let known: Vec<&str> = CmsVersion::ALL.iter().map(|version| version.as_str()).collect();
        format!("there are the versions {}", known.join(", "))
    })
}
