//! The values of arguments: what they may be, and how they are read.

use std::net::SocketAddr;

use clap::ValueEnum;

use crate::diag::is_formatting;
use crate::dns::Name;
use crate::inventory::value::{Duration, Time};

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormatArg {
    /// For people at a terminal.
    Text,
    /// The document that `--out` saves.
    Json,
    /// For a comment on a pull request; at most 65 536 bytes.
    Markdown,
    /// One page for a browser, without other files.
    Html,
    /// A unified diff of each zone.
    Diff,
    /// A JUnit test report, for pipelines.
    Junit,
}

/// How the findings of a check are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Only how many findings there are.
    Text,
    /// A JUnit test report, for pipelines.
    Junit,
    /// Annotations of files on GitHub.
    Github,
}

/// How anything else is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For people.
    Text,
    /// The document.
    Json,
}

/// For which consumer endpoints are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EndpointsFormatArg {
    /// Our own document, for scripts.
    Json,
    /// A file of targets, for `file_sd_configs` of Prometheus.
    Prometheus,
    /// Endpoints of clusters, for a `path_config_source` of Envoy.
    Envoy,
}

/// The formats that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKindArg {
    /// zonewright.toml.
    Config,
    /// A project file.
    Project,
    /// The file of a set of pods.
    PodSet,
    /// An app with its services.
    App,
    /// A list of the DNS update records that a logical cloud or cluster uses.
    RecordList,
    /// A DNS update record.
    DnsUpdateRecord,
    /// The plan document.
    Plan,
    /// The document of `doctor`.
    Doctor,
    /// The document of `cms check`.
    CmsCheck,
    /// The protocol of cluster-management services: OpenAPI 3.1, not a JSON Schema.
    Cms,
    /// What `explain` prints as JSON.
    Explain,
    /// What `apply` prints as JSON.
    Apply,
    /// What `drift` prints as JSON.
    Drift,
    /// What `status` prints as JSON.
    Status,
    /// What `history` prints as JSON.
    History,
    /// What `sync` prints as JSON.
    Sync,
    /// What `--log-format json` prints on standard error.
    Event,
    /// What `render endpoints` writes as JSON.
    Endpoints,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Reads an address with its port.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address has a port, such as 127.0.0.1:5300 or [::1]:5300".to_owned())
}

/// Where `run` serves its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenArg {
    /// Nowhere.
    Nowhere,
    /// At this address.
    At(SocketAddr),
}

/// Reads where `run` serves its page.
pub fn parse_listen(text: &str) -> Result<ListenArg, String> {
    if text == "none" { Ok(ListenArg::Nowhere) } else { parse_address(text).map(ListenArg::At) }
}

/// Reads the name of a key.
pub fn parse_key_name(text: &str) -> Result<Name, String> {
    Name::parse(text).map_err(|error| error.to_string())
}

/// Reads the number of an apply.
pub fn parse_apply(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "the number of an apply is a whole number from 1; `zonewright history` lists them".to_owned())
}

/// Reads how long to wait.
pub fn parse_wait(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|()| "write whole numbers with units, such as `90s`, `2h` or `1h30m`".to_owned())
}

/// Reads the address of a page, for reports to show.
pub fn parse_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or(text.strip_prefix("http://"));
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !is_formatting(c);
    let is_page = rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_plain));
    let wrong = || "a URL is that of a page, without blanks, such as https://ci.example.net/runs/17".to_owned();
    is_page.then(|| text.to_owned()).ok_or_else(wrong)
}

/// Reads the name of an image.
pub fn parse_image(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\' | '$');
    let wrong = || "an image has a name without blanks, such as registry.example.net/external-dns:v0.22.0".to_owned();
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_owned()).ok_or_else(wrong)
}

/// Reads a point in time.
pub fn parse_time(text: &str) -> Result<Time, String> {
    text.parse().map_err(|()| "a time is written as in RFC 3339, such as 2026-11-20T02:00:00Z".to_owned())
}
