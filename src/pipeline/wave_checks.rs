//! Asks the gates and probes of the settings, for the rollout.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::conduct::ApplyConduct;
use crate::health::gate::GateAnswer;
use crate::health::{AskContext, gate, probe};
use crate::inventory::health::HealthChecks;
use crate::inventory::model::Config;
use crate::progress::Progress;

/// How long it sleeps at a time: a signal ends the wait soon.
const NAP: Duration = Duration::from_millis(100);

/// Who is asked before a wave goes. Settings that name what is not there have no rollout, so that any name here is known.
pub trait WaveChecks: Sync {
    /// Asks a gate; a command gets this as its standard input.
    fn gate(&self, name: &str, input: &str) -> GateAnswer;

    /// Whether an address answers a probe.
    ///
    /// Errors: it cannot be asked; why, in words.
    fn answers(&self, name: &str, address: IpAddr) -> Result<bool, String>;

    /// Whether a signal asked the run to end.
    fn is_over(&self) -> bool {
        false
    }
}

/// Who is asked where no rollout has a gate or a probe.
#[cfg(test)]
pub struct NoChecks;

#[cfg(test)]
impl WaveChecks for NoChecks {
    fn gate(&self, name: &str, _: &str) -> GateAnswer {
        panic!("no rollout has the gate {name}")
    }

    fn answers(&self, name: &str, _: IpAddr) -> Result<bool, String> {
        panic!("no rollout has the probe {name}")
    }
}

/// The gates and probes of zonewright.toml.
pub struct ConfiguredChecks<'a> {
    /// What they ask.
    pub checks: &'a HealthChecks,
    /// The folder in which commands run.
    pub workspace: &'a Path,
    /// Set once a signal asks the run to end.
    pub interrupted: &'a AtomicBool,
    /// What waits between two attempts.
    pub progress: &'a dyn Progress,
}

impl<'a> ConfiguredChecks<'a> {
    /// Those of a run.
    pub fn of(config: &'a Config, request: &ApplyConduct<'a>, progress: &'a dyn Progress) -> ConfiguredChecks<'a> {
        let ApplyConduct { workspace, interrupted, .. } = *request;
        ConfiguredChecks { checks: &config.health, workspace, interrupted, progress }
    }

    /// Waits; gives whether no signal came.
    fn pause(&self, pause: Duration) -> bool {
        let mut left = pause;
        while !left.is_zero() && !self.is_over() {
            let nap = left.min(NAP);
            self.progress.pause(nap);
            left -= nap;
        }
        !self.is_over()
    }
}

impl WaveChecks for ConfiguredChecks<'_> {
    fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    fn gate(&self, name: &str, input: &str) -> GateAnswer {
        let (pause, is_over) = (&|pause| self.pause(pause), &|| self.is_over());
        match self.checks.gates.get(name) {
            Some(found) => gate::ask(found, input, AskContext { workspace: self.workspace, pause, is_over }),
            None => {
                let said = format!("zonewright.toml has no `[gate.{name}]`");
                GateAnswer { passed: false, said, is_usable: false }
            }
        }
    }

    fn answers(&self, name: &str, address: IpAddr) -> Result<bool, String> {
        let found = self.checks.probes.get(name).ok_or_else(|| format!("zonewright.toml has no `[probe.{name}]`"))?;
        // What was not asked has not answered, and stays in flux.
        if self.is_over() {
            return Ok(false);
        }
        let (pause, is_over) = (&|pause| self.pause(pause), &|| self.is_over());
        probe::answers(found, address, AskContext { workspace: self.workspace, pause, is_over })
    }
}
