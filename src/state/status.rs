//! What there is to say of a state as a whole. Pure.

use std::collections::BTreeSet;

use super::tallies::PoolTally;
use super::{
    ApplyId, ApplyJournal, ApplySummary, Breaker, CmsFailure, KnownMarkers, LockHolder, SourceStatus, State,
    ZoneActionRow, ZonePublication,
};
use crate::approval::queue::holds_until;
use crate::approval::{Refusal, RefusalKind, TaskRow};
use crate::claim::Subject;
use crate::consensus::VoterId;
use crate::diag::Problem;
use crate::dns::Name;
use crate::inventory::value::Time;
use crate::plan::{LimitState, WaitingSubject};
use crate::rollout::{FluxRow, RolloutMemory};
use crate::target::PoolName;

/// A state, looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The program that looked, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it looked.
    pub created: Time,
    /// Where the state is kept.
    pub place: String,
    /// Who is running.
    pub holder: Option<LockHolder>,
    /// Which process of `run` makes the passes; none where there is none.
    pub leader: Option<LockHolder>,
    /// The exports of the workspace, in the order of the configuration.
    pub sources: Vec<SourceStatus>,
    /// What the state says; none where there is no state yet.
    pub memory: Option<StateFacts>,
    /// What it says of each pool, in the order of the settings.
    pub pools: Vec<PoolTally>,
    /// The limits of hosts, with what of them is used.
    pub limits: Vec<LimitState>,
    /// The names that no host has and at which applies created an AAAA RRset that they did not delete since; sorted.
    pub left_behind: Vec<Name>,
    /// The rows of a pool, where they are asked for.
    pub pool: Option<PoolStatus>,
}

impl Status {
    /// The pools of which there is something to say.
    pub fn counted_pools(&self) -> impl Iterator<Item = &PoolTally> {
        self.pools.iter().filter(|pool| pool.is_counted())
    }
}

/// What a state says of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolStatus {
    /// Its name.
    pub name: PoolName,
    /// The share of its voters that must agree, in percent.
    pub threshold: u32,
    /// Its voters, in the order of the settings.
    pub voters: Vec<VoterId>,
    /// The zones of it that have steps, with all their rows, sorted by name.
    pub zones: Vec<ZonePublication>,
    /// The rows of zones that were made or deleted, the oldest first.
    pub made: Vec<ZoneActionRow>,
}

/// What a state says.
#[derive(Debug, Clone, PartialEq)]
pub struct StateFacts {
    /// The latest applies, the latest first.
    pub applies: Vec<ApplySummary>,
    /// Those that did not end, the latest first; only such as were begun or taken up after the last that did.
    pub unfinished: Vec<ApplySummary>,
    /// Those that can be taken up again, the latest first: their plan is kept and has not expired.
    pub resumable: Vec<ApplyId>,
    /// The markers, by zone.
    pub markers: KnownMarkers,
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The subjects that wait for a later wave, sorted.
    pub waiting: Vec<WaitingSubject>,
    /// The changes that take live addresses and have not settled, sorted by subject.
    pub in_flux: Vec<FluxRow>,
    /// What there is to say of approvals.
    pub approvals: ApprovalStanding,
}

/// What a state says of approvals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalStanding {
    /// The tasks, sorted by host, then by service.
    pub tasks: Vec<TaskRow>,
    /// The hosts that a service rejected a short while ago or that went to the end, and that are not asked for again yet, sorted;
    /// with until when a rejection holds.
    pub refusals: Vec<(Subject, Refusal, Option<Time>)>,
    /// The services that do not answer, sorted.
    pub failures: Vec<CmsFailure>,
}

impl ApprovalStanding {
    /// What a state says as of a time.
    fn read(state: &dyn State, now: Time) -> Result<ApprovalStanding, Problem> {
        let (memory, failures) = (state.approvals()?, state.cms_failures()?);
        let mut tasks: Vec<TaskRow> = memory.tasks().cloned().collect();
        tasks.sort_by(|one, other| {
            (&one.subject, &one.service, &one.id).cmp(&(&other.subject, &other.service, &other.id))
        });
        let asked: BTreeSet<&Subject> = tasks.iter().filter(|row| !row.is_ended).map(|row| &row.subject).collect();
        let mut refusals = Vec::new();
        for (subject, refusal) in memory.refusals.into_iter().filter(|(subject, _)| !asked.contains(subject)) {
            let until = holds_until(&refusal, now);
            if until.is_some() || refusal.kind == RefusalKind::GaveUp {
                refusals.push((subject, refusal, until));
            }
        }
        Ok(ApprovalStanding { tasks, refusals, failures })
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.refusals.is_empty() && self.failures.is_empty()
    }

    /// The hosts that are asked for and not through, each with the first task that keeps it back.
    pub fn open(&self) -> Vec<&TaskRow> {
        let mut open: Vec<&TaskRow> = self.tasks.iter().filter(|row| row.is_open()).collect();
        open.dedup_by_key(|row| &row.subject);
        open
    }
}

impl StateFacts {
    /// Asks a state for all of it as of a time, and for at most `count` applies.
    pub fn read(state: &dyn State, count: usize, now: Time) -> Result<StateFacts, Problem> {
        let (applies, unfinished) = (state.applies(count)?, unfinished(state)?);
        let (resumable, markers, breakers) = (state.resumable(now)?, state.markers()?, state.breakers()?);
        let memory = state.rollouts()?;
        let now_of_waves = memory.now(now);
        let RolloutMemory { flux, waits, .. } = memory;
        let in_flux = flux.into_iter().filter(|row| {
            // What stopped in between and waits no longer has nothing left to go.
            let is_over = row.is_between() && row.has_settled(now_of_waves) && !waits.contains_key(&row.subject);
            row.is_disruptive && row.is_in_flux(now_of_waves) && !is_over
        });
        let in_flux = in_flux.collect();
        let waiting = waits.into_values().map(|record| record.wait).collect();
        let approvals = ApprovalStanding::read(state, now_of_waves)?;
        Ok(StateFacts { applies, unfinished, resumable, markers, breakers, waiting, in_flux, approvals })
    }
}

/// The applies that did not end, the latest first; only such as were begun or taken up after the last that did.
pub fn unfinished(state: &dyn ApplyJournal) -> Result<Vec<ApplySummary>, Problem> {
    let mut unfinished = state.unfinished()?;
    // One of so many ended, if any did.
    let last = state.applies(unfinished.len() + 1)?.into_iter().find(|apply| apply.finished.is_some());
    let Some(last) = last else { return Ok(unfinished) };
    // What an earlier apply left was in the plans of later ones, unless it was resumed since.
    let is_resumed_later = |apply: &ApplySummary| !apply.resumed.is_empty() && Some(apply.begun()) >= last.finished;
    unfinished.retain(|apply| apply.id > last.id || is_resumed_later(apply));
    Ok(unfinished)
}

/// Which of the applies that did not end is running rather than broken off: the lock is held, and the apply was begun
/// or resumed since. There is one at a time.
pub fn at_work(holder: Option<&LockHolder>, unfinished: &[ApplySummary]) -> Option<ApplyId> {
    let since = holder?.since?;
    let since_then = unfinished.iter().filter(|apply| apply.begun() >= since);
    since_then.max_by_key(|apply| (apply.begun(), apply.id)).map(|apply| apply.id)
}

impl Status {
    /// Which apply is running.
    pub fn running(&self) -> Option<ApplyId> {
        at_work(self.holder.as_ref(), &self.memory.as_ref()?.unfinished)
    }

    /// The applies that can be resumed, the latest first; without the one that is running.
    pub fn resumable(&self) -> impl Iterator<Item = ApplyId> {
        let running = self.running();
        self.memory.iter().flat_map(|memory| &memory.resumable).copied().filter(move |id| Some(*id) != running)
    }
}
