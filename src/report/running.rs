//! What `run` has done and what comes next, for its page and its metrics.

use crate::drift::{Drift, Mover};
use crate::inventory::value::{Duration, Time};
use crate::plan::{SealedPlan, SourceSeen, WaitCode};
use crate::report::outlook::PlanOutlook;
use crate::report::verdict;
use crate::state::LockHolder;
use crate::state::tallies::{PoolTally, RolloutTally};

/// What a `run` is, as it was started.
#[derive(Debug, Clone)]
pub struct RunningFacts {
    /// The workspace.
    pub workspace: String,
    /// When it began.
    pub began: Time,
    /// The interval of its passes.
    pub interval: Duration,
    /// Whether it only plans.
    pub only_plans: bool,
}

/// Whether this process makes passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunningRole {
    /// It is not known yet.
    Begins,
    /// It does, without asking for the lead: it changes nothing.
    Plans,
    /// It does, and alone.
    Leads,
    /// Another process does: what is known of it.
    Follows(Option<LockHolder>),
}

/// A pass that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassEnd {
    /// Its number in this process, from 1.
    pub number: u64,
    /// When it began.
    pub began: Time,
    /// How long it took.
    pub took: Duration,
    /// The exit code that `apply --auto` would have had.
    pub exit: u8,
    /// What went wrong, where that is known in words.
    pub problem: Option<String>,
    /// Whether it made a plan.
    pub has_plan: bool,
    /// Whether targets lack changes, or name servers are behind.
    pub is_behind: bool,
}

/// Why no pass is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Whether it is the configuration; else it is the state.
    pub is_config: bool,
    /// What is wrong, in words.
    pub why: String,
}

/// The last plan, as far as the page shows it.
#[derive(Debug, Clone, Default)]
pub struct PlanNews {
    /// The plan in one sentence.
    pub headline: String,
    /// When it was made; none before the first.
    pub made: Option<Time>,
    /// How many RRsets are not as desired, by what moved; those of the plan.
    pub moved: Vec<(Mover, usize)>,
    /// The sources.
    pub sources: Vec<SourceSeen>,
}

impl PlanNews {
    /// What the page shows of a plan, with what is behind its changes, where that is known.
    pub fn of(sealed: &SealedPlan, drift: Option<&Drift<'_>>) -> PlanNews {
        let plan = sealed.plan();
        let strays = drift.map(|drift| drift.strays).unwrap_or_default();
        let count = |mover: Mover| strays.iter().filter(|stray| stray.cause.mover == mover).count();
        PlanNews {
            headline: verdict::headline(plan, &PlanOutlook::default()),
            made: Some(plan.created),
            moved: Mover::ALL.iter().map(|mover| (*mover, count(*mover))).filter(|(_, count)| *count > 0).collect(),
            sources: plan.sources.clone(),
        }
    }
}

/// What the state says after a pass.
#[derive(Debug, Clone, Default)]
pub struct StateNews {
    /// The pools that there is something to say of.
    pub pools: Vec<PoolTally>,
    /// What waits for later waves, and what is in flux.
    pub rollouts: Option<RolloutTally>,
    /// The tripped breakers, each in a sentence.
    pub breakers: Vec<String>,
    /// How many applies did not end.
    pub unfinished: usize,
}

/// All of it, at one moment.
#[derive(Debug, Clone)]
pub struct RunningNews {
    /// What it is.
    pub facts: RunningFacts,
    /// Now.
    pub now: Time,
    /// Whether it makes passes.
    pub role: RunningRole,
    /// Since when a pass is under way; none between two.
    pub busy_since: Option<Time>,
    /// When the next pass begins; none while one is under way.
    pub next: Option<Time>,
    /// The last pass.
    pub last: Option<PassEnd>,
    /// How many passes failed since one did not.
    pub failures: u32,
    /// Why no pass is made; none where they are.
    pub obstacle: Option<Obstacle>,
    /// Whether a settings file has errors, so that what it sets is left.
    pub has_broken_settings: bool,
    /// The last plan.
    pub plan: PlanNews,
    /// What the state says.
    pub state: StateNews,
}

/// How it is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningMood {
    /// Nothing is known yet, or another process makes the passes.
    Waiting,
    /// All is as it should be.
    Well,
    /// Something is not done yet, or in part.
    InPart,
    /// A person must look.
    Trouble,
}

impl RunningNews {
    /// How it is going, and the verdict in one sentence.
    pub fn verdict(&self) -> (RunningMood, String) {
        if let Some(obstacle) = &self.obstacle {
            let what = if obstacle.is_config { "The configuration is broken" } else { "The state cannot be used" };
            return (RunningMood::Trouble, format!("{what}: nothing is changed until it is fixed"));
        }
        if let RunningRole::Follows(holder) = &self.role {
            return (RunningMood::Waiting, format!("Ready to take over: {} leads", leader(holder.as_ref())));
        }
        let Some(last) = &self.last else { return (RunningMood::Waiting, "The first pass is under way".to_owned()) };
        let headline = &self.plan.headline;
        match last.exit {
            0 if self.facts.only_plans => (RunningMood::Well, format!("Only planned. {headline}")),
            0 if last.is_behind => {
                let words = "The last pass did what its plan says, but not all servers have it";
                (RunningMood::InPart, format!("{words}. {headline}"))
            }
            0 => (RunningMood::Well, format!("The last pass did what its plan says. {headline}")),
            5 => (RunningMood::Well, format!("The last pass sent what may go now; the rest waits. {headline}")),
            4 => (RunningMood::InPart, format!("The last pass was done in part; the next one goes on. {headline}")),
            3 => (RunningMood::Trouble, format!("The last pass was refused: a person must look. {headline}")),
            _ if last.has_plan => (RunningMood::Trouble, format!("The last pass failed. {headline}")),
            _ => (RunningMood::Trouble, "The last pass failed: there is no plan".to_owned()),
        }
    }

    /// What waits, by code.
    pub fn waits(&self) -> impl Iterator<Item = (WaitCode, usize)> + '_ {
        let waiting = self.state.rollouts.iter().flat_map(|tally| &tally.waiting);
        waiting.copied().filter(|(_, count)| *count > 0)
    }
}

/// Who leads, in words.
pub fn leader(holder: Option<&LockHolder>) -> String {
    let Some(LockHolder { pid, who, since }) = holder else { return "another process".to_owned() };
    let process = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
    let who = if who.is_empty() { String::new() } else { format!(" of {who}") };
    let since = since.map(|since| format!(" (since {since})")).unwrap_or_default();
    format!("{process}{who}{since}")
}
