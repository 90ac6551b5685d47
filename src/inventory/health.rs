//! What a rollout may ask before it goes on: gates, whether the service is well, and probes, whether a host answers. The
//! administrator defines them, so that no project file can have a command run.

use std::collections::BTreeMap;
use std::time::Duration;

/// All gates and probes, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthChecks {
    /// `[gate.X]`.
    pub gates: BTreeMap<String, Gate>,
    /// `[probe.X]`.
    pub probes: BTreeMap<String, Probe>,
}

/// How often something is asked, and how long it may take to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptTerms {
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many further attempts there are after one that failed.
    pub retries: u32,
}

/// Whether a further wave may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// What is asked.
    pub asks: GateQuestion,
    /// How often.
    pub terms: AttemptTerms,
}

/// What a gate asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateQuestion {
    /// A program and its arguments; it passes with exit code 0.
    Command(Vec<String>),
    /// A URL; it passes with status 200 (RFC 9110 section 15.3.1).
    Url(String),
}

/// Whether an address answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What is asked.
    pub asks: ProbeQuestion,
    /// How often.
    pub terms: AttemptTerms,
}

/// What a probe asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeQuestion {
    /// A port of TCP, from 1: an address that accepts or refuses the connection answers (RFC 9293 section 3.10.7).
    Port(u16),
    /// A program and its arguments, with the address behind them; it answers with exit code 0.
    Command(Vec<String>),
}
