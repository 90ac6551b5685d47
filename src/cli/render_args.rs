//! What `render` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::candidates;
use super::values::EndpointsFormatArg;

/// What `render` takes.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// What to write.
    #[command(subcommand)]
    pub command: RenderCommand,
}

/// What can be written.
#[derive(Debug, Subcommand)]
pub enum RenderCommand {
    /// Write the addresses behind the endpoints of sets of pods.
    ///
    /// For each endpoint of each set, and each location where `{location}` is in its name, it writes the pods that are
    /// enabled, in one of the endpoint's states, and placed: address, transient name, port and labels. It reads the
    /// inventory as `check` does, and asks no server.
    ///
    /// If the export of pods or the file of a set is in doubt, it writes nothing and exits 1: the file of `--out` stays as it
    /// was, so that no consumer loads a list that is too short. A single bad row leaves its pod out, with a warning.
    #[command(after_help = FORMATS)]
    Endpoints(EndpointsArgs),
}

/// What `render endpoints --help` says below the flags.
const FORMATS: &str = "\
Formats:
  json        `zonewright.endpoints/1`: sets, endpoints, targets
              (`zonewright schema endpoints`)
  prometheus  a list of targets with labels, for `file_sd_configs`, or behind
              a web server for `http_sd_configs`; what we know of a pod is in
              `__meta_zonewright_*`
  envoy       a DiscoveryResponse with a ClusterLoadAssignment for each
              endpoint, SET/ENDPOINT/PROTOCOL, for EDS by `path_config_source`

Exit codes:
  0  written, or unchanged
  1  error: nothing was written";

/// What `render endpoints` takes.
#[derive(Debug, Args)]
pub struct EndpointsArgs {
    /// The format: for whom it is.
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub format: EndpointsFormatArg,
    /// Limit to this set (repeatable) [default: all]
    #[arg(long = "set", value_name = "ID", add = candidates::pod_sets())]
    pub sets: Vec<String>,
    /// Write this file instead of standard output: readers see the old file or the new one, whole. If nothing changed, it is
    /// not touched.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
