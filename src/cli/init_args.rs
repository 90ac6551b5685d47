//! What `init` takes: the folder, and whether the fleet comes from its files or from the zones of a server.

use std::path::PathBuf;

use clap::Args;

use super::values::parse_key_name;
use crate::dns::Name;

/// What `init` takes.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder of the workspace; it is made where there is none [default: that of -C]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Start from the zones of a server: HOST, HOST:PORT or an address, then the zones. DIR comes before.
    #[arg(long, num_args = 2.., value_names = ["SERVER", "ZONE"], group = "live")]
    pub from_axfr: Vec<String>,
    /// Start from the zones of a PowerDNS, read by its API: the URL without `/api/v1`, then the zones. DIR comes before.
    #[arg(long, num_args = 2.., value_names = ["URL", "ZONE"], group = "live", requires = "api_key_file")]
    pub from_powerdns: Vec<String>,
    /// Start from zones in etcd, as CoreDNS reads them: the URL of a member, or several with commas, then the zones. DIR comes
    /// before.
    #[arg(long, num_args = 2.., value_names = ["URL", "ZONE"], group = "live")]
    pub from_etcd: Vec<String>,
    /// Write the zones as files that state all their records, in YAML as octoDNS has it, instead of looking for hosts. From
    /// then on these files are the source.
    #[arg(long, requires = "live")]
    pub records: bool,
    /// The file of the key of PowerDNS's API, and nothing else. Only its owner may read it (chmod 600).
    #[arg(long, value_name = "FILE", requires = "from_powerdns")]
    pub api_key_file: Option<PathBuf>,
    /// Where the PowerDNS takes updates: HOST, HOST:PORT or an address [default: the host of its API]
    #[arg(long, value_name = "SERVER", requires = "from_powerdns")]
    pub server: Option<String>,
    /// What the keys of zones begin with in etcd [default: /skydns/]
    #[arg(long, value_name = "PATH", requires = "from_etcd")]
    pub prefix: Option<String>,
    /// The user of etcd.
    #[arg(long, value_name = "NAME", requires_all = ["from_etcd", "password_file"])]
    pub user: Option<String>,
    /// The file of the password of the user of etcd, and nothing else. Only its owner may read it (chmod 600).
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// A file of certificates, as PEM, that are trusted in place of the system's.
    #[arg(long, value_name = "FILE", requires = "live", conflicts_with = "from_axfr")]
    pub ca_file: Option<PathBuf>,
    /// The file of this client's certificate for etcd, as PEM.
    #[arg(long, value_name = "FILE", requires_all = ["from_etcd", "key_file"])]
    pub cert_file: Option<PathBuf>,
    /// The file of the key of that certificate, as PEM. Only its owner may read it (chmod 600).
    #[arg(long, value_name = "FILE", requires = "cert_file")]
    pub key_file: Option<PathBuf>,
    /// The file of the TSIG key for transfers and updates: as `tsig-keygen` prints it, or the secret alone in base64. Only its
    /// owner may read it (chmod 600). The settings will name this file.
    #[arg(long, value_name = "FILE", requires = "live", conflicts_with = "from_etcd")]
    pub tsig_secret_file: Option<PathBuf>,
    /// The name of the key, if its file does not have it.
    #[arg(long, value_name = "NAME", requires = "tsig_secret_file", value_parser = parse_key_name)]
    pub tsig_key: Option<Name>,
    /// The algorithm of the key, if its file does not have it [default: hmac-sha256]
    #[arg(long, value_name = "ALGORITHM", requires = "tsig_secret_file")]
    pub tsig_algorithm: Option<String>,
}
