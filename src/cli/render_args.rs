//! What `render` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::candidates;
use super::values::{EndpointsFormatArg, parse_image};

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
    /// Write the manifests of DNS update records that external-dns carries out.
    ///
    /// For each record whose `[dns_update_record.NAME]` says `by = "external-dns"` it writes into DIR a DNSEndpoint for each
    /// service that the record publishes, and one Deployment of external-dns with its ServiceAccount, ClusterRole and binding.
    /// All have the label of the record. Secrets are named, never written. It reads the inventory as `check` does, and asks
    /// neither DNS nor Kubernetes.
    ///
    /// Only files that it wrote itself are replaced or removed. When the last service of a record is gone, the first call
    /// removes the DNSEndpoints and leaves the Deployment with an empty `zonewright.dev/used-by`, so that external-dns can
    /// delete the records; the next call removes the Deployment. Apply DIR to the cluster in between.
    ///
    /// What is blocked keeps its files. If the files of apps, lists or records are in doubt, nothing is written.
    #[command(name = "external-dns", after_help = EXTERNAL_DNS_EXITS)]
    ExternalDns(ExternalDnsArgs),
}

/// What `render external-dns --help` says below the flags.
const EXTERNAL_DNS_EXITS: &str = "\
Exit codes:
  0  DIR is up to date
  1  error: nothing was written, or a file could not be
  2  `--check`: files would be written or removed
  4  something is blocked, and its files stayed as they were; all else is done";

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

/// What `render external-dns` takes.
#[derive(Debug, Args)]
pub struct ExternalDnsArgs {
    /// The folder of the manifests, made where it is not there. Keep it out of the paths of `[sources]`.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The image of external-dns
    // The release whose flags the parameters of records are.
    #[arg(long, value_name = "IMAGE", default_value = "registry.k8s.io/external-dns/external-dns:v0.22.0",
        value_parser = parse_image)]
    pub image: String,
    /// Write nothing, and say which files would be written or removed
    #[arg(long)]
    pub check: bool,
}
