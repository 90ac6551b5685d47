//! What every command takes.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::candidates;
use super::process_run::ProcessRun;
use super::values::{Color, LogFormat, parse_time};
use crate::claim::SubjectPick;
use crate::inventory::value::Time;

/// What every command takes.
#[derive(Debug, Args)]
pub struct SharedArgs {
    /// The workspace: the folder with zonewright.toml.
    #[arg(short = 'C', value_name = "DIR", default_value = ".", global = true)]
    pub workspace: PathBuf,
    /// Limit to this host, by inventory number or name (repeatable). It overrides the host's restriction, its project's
    /// `automation: false`, and breakers.
    #[arg(long = "host", value_name = "HOST", global = true, add = candidates::hosts())]
    pub hosts: Vec<String>,
    /// Limit to this subject of any kind, as plans name it: `pod:SET/POD`, `endpoints:SET/NAME`,
    /// `endpoint:SOURCE/NAMESPACE/NAME/DNSNAME`, `record:SOURCE/DNSNAME`, `orphan:POOL/DNSNAME`, `host:NUMBER` (repeatable).
    /// It overrides what `--host` overrides. With `*` or `?` it is all that are like it, and overrides nothing.
    #[arg(long = "subject", value_name = "SUBJECT", global = true, id = "picked", value_parser = str::parse::<SubjectPick>)]
    pub picked: Vec<SubjectPick>,
    /// Limit to this project (repeatable). It overrides nothing.
    #[arg(long = "project", value_name = "ID", global = true, add = candidates::projects())]
    pub projects: Vec<String>,
    /// Show only the changes in this zone (repeatable); `doctor`: ask for this zone only. Commands that change DNS refuse it.
    #[arg(long = "zone", value_name = "ZONE", global = true, add = candidates::zones())]
    pub zones: Vec<String>,
    /// Use this time as the current time, such as 2026-11-20T02:00:00Z [default: now]
    #[arg(long, value_name = "RFC3339", global = true, value_parser = parse_time)]
    pub now: Option<Time>,
    /// Why you run this; commands that change something keep it in the journal.
    #[arg(long, value_name = "TEXT", global = true)]
    pub reason: Option<String>,
    /// The format of messages on standard error. With `json` outcomes are events there, and no page for people is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub log_format: LogFormat,
    /// Print errors only, no warnings.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print long lists in full; twice: also how long each stage took.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,
    /// This run of the program; no argument.
    #[arg(skip)]
    pub process: ProcessRun,
}

impl SharedArgs {
    /// Whether the command line limits what is planned.
    pub fn limits_plans(&self) -> bool {
        !self.hosts.is_empty() || !self.picked.is_empty() || !self.projects.is_empty()
    }

    /// Whether it names hosts or other subjects, so that breakers do not stop them.
    pub fn names_subjects(&self) -> bool {
        !self.hosts.is_empty() || self.picked.iter().any(|pick| matches!(pick, SubjectPick::One(_)))
    }
}
