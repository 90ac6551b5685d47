//! What `serve` takes, and the list of its quirks and faults for `--help`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::cms_args::ServeCmsArgs;
use super::values::{parse_address, parse_key_name};
use crate::dns::Name;
use crate::serve::cms;
use crate::serve::fault::{FATES, TrialFault};
use crate::serve::quirk::{QUIRKS, ServerQuirk};

/// What `serve` takes.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Master files called APEX.zone, or folders of them [default: the zones that the workspace has in files]
    #[arg(value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Where to listen, a loopback address (repeatable); port 0 means any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5300", value_parser = parse_address)]
    pub listen: Vec<SocketAddr>,
    /// A file with the secret of an hmac-sha256 key in base64; transfers and updates must then be signed with it.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The name of the key.
    #[arg(long, value_name = "NAME", default_value = "zonewright.", value_parser = parse_key_name)]
    pub key_name: Name,
    /// Make a copy of the workspace in this folder; its targets of type `zonefile` become this server, with a new key.
    #[arg(long = "try", value_name = "DIR", conflicts_with_all = ["paths", "key"])]
    pub try_on: Option<PathBuf>,
    /// Deviate from the RFC in one way (repeatable); see below.
    #[arg(long = "quirk", value_name = "NAME")]
    pub quirks: Vec<ServerQuirk>,
    /// Make the Nth update fail (repeatable); see below.
    #[arg(long = "fault", value_name = "NAME=N")]
    pub faults: Vec<TrialFault>,
    /// What it does in place of zones.
    #[command(flatten)]
    pub approvals: ServeCmsArgs,
}

/// What `serve --help` says below the flags.
pub fn serve_help() -> String {
    let list = |entries: &[(&str, &str)]| -> String {
        entries.iter().map(|(name, meaning)| format!("  {name:18}  {meaning}\n")).collect()
    };
    format!(
        "Quirks:\n{}\nFaults (N is the number of the update; the first is 1):\n{}\nFaults of `--cms` (N is the number of the \
         request, or `all`):\n{}",
        list(&QUIRKS),
        list(&FATES.map(|(name, _, meaning)| (name, meaning))),
        list(&cms::fault::FATES.map(|(name, _, meaning)| (name, meaning)))
    )
}
