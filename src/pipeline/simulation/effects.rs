//! What the updates of runs did, by the log of the primary, which is the truth.

use super::cast::Cast;
use super::stage::Stage;
use crate::dns::{Name, Rtype};
use crate::provider::memory::primary::LoggedUpdate;
use crate::provider::memory::rules::RrsetDifference;
use crate::verify::truth;

/// An update of a run that took effect.
pub struct EffectiveUpdate {
    /// The run.
    pub run: usize,
    /// The process of the run that sent it.
    pub session: usize,
    /// Its place among all updates that were sent.
    pub sent: usize,
    /// Its place among all updates that the primary processed.
    pub logged: usize,
    /// What it changed.
    pub differences: Vec<RrsetDifference>,
    /// Whether it created an RRset that was removed after it had been sent. A service without markers has no condition that
    /// prevents this (docs/targets.md), so that it counts as an edit of the network. At a service that compares nothing: whether
    /// it came after another run or another editor had written its RRset.
    pub is_echo: bool,
}

impl EffectiveUpdate {
    /// The differences of RRsets of hosts.
    pub fn of_hosts(&self) -> impl Iterator<Item = &RrsetDifference> {
        self.differences.iter().filter(|found| is_of_host(found))
    }
}

/// Whether a difference is one of a host's RRsets.
pub fn is_of_host(found: &RrsetDifference) -> bool {
    found.rtype != Rtype::SOA && !truth::is_marker(&found.name)
}

/// The updates of runs that took effect, in their order.
pub fn effects(stage: &Stage) -> Vec<EffectiveUpdate> {
    let cast = stage.cast();
    stage.primary.with_log(|log| {
        let effect = |(place, logged): (usize, &LoggedUpdate)| {
            let differences = logged.outcome.clone().ok().filter(|_| logged.is_delivered)?;
            let sent = cast.sent.iter().position(|sent| sent.message == logged.message)?;
            let (run, session) = (cast.sent[sent].run, cast.sent[sent].session);
            let is_echo = match (stage.is_fenced, stage.is_exclusive) {
                (true, _) => false,
                (false, false) => is_echo(stage, log, (place, &differences)),
                (false, true) => is_late(stage, &cast, (log, place), &differences),
            };
            Some(EffectiveUpdate { run, session, sent, logged: place, differences, is_echo })
        };
        log.iter().enumerate().filter_map(effect).collect()
    })
}

/// Whether an update at a place of the log created an RRset that was removed after it had been sent.
fn is_echo(stage: &Stage, log: &[LoggedUpdate], (place, differences): (usize, &[RrsetDifference])) -> bool {
    let Some(cloud) = &stage.cloud else { return false };
    let [created] = differences.iter().filter(|own| is_of_host(own)).collect::<Vec<_>>()[..] else { return false };
    let sent_at = cloud.sent_at(&log[place].message);
    let mut since = log[sent_at..place].iter().filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
    created.before.is_none()
        && since.any(|own| own.name == created.name && own.rtype == created.rtype && own.after.is_none())
}

/// Whether an update at a place of the log came after anything but its run had changed an RRset of it since it was sent.
fn is_late(
    stage: &Stage,
    cast: &Cast,
    (log, place): (&[LoggedUpdate], usize),
    differences: &[RrsetDifference],
) -> bool {
    let Some(cloud) = &stage.cloud else { return false };
    let message = &log[place].message;
    let run_of = |logged: &LoggedUpdate| {
        let sent = cast.sent.iter().find(|sent| sent.message == logged.message);
        sent.filter(|_| logged.is_delivered).map(|sent| sent.run)
    };
    let own = run_of(&log[place]);
    let others = log[cloud.sent_at(message)..place].iter().filter(|logged| run_of(logged) != own);
    let mut changed = others.filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
    changed.any(|theirs| differences.iter().any(|own| is_of_host(own) && own.name == theirs.name))
}

/// Whether another editor changed an RRset after a place of the log.
pub fn is_changed_by_others(stage: &Stage, (name, rtype): (&Name, Rtype), since: usize) -> bool {
    stage.primary.with_log(|log| {
        let theirs = log[since..].iter().filter(|logged| !logged.is_delivered);
        let mut differences = theirs.filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
        differences.any(|found| found.name == *name && found.rtype == rtype)
    })
}
