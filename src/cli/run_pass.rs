//! One pass of `run`: a plan, applied as `apply --auto` does, then what targets lack and servers do not serve yet.

use std::time::Instant;

use super::apply::{apply_made, make_to_apply};
use super::args::{ApplyArgs, ApplyLimits, CacheArgs};
use super::ending::ended;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::shared_args::SharedArgs;
use super::values::FormatArg;
use super::{notify, sync};
use crate::inventory::value::Time;
use crate::pipeline::drift::find_drift;
use crate::pipeline::metrics::{StateMetrics, standing};
use crate::plan::SealedPlan;
use crate::report::metrics::Metrics;
use crate::report::running::{PlanNews, StateNews};

/// What a pass did.
pub struct PassOutcome {
    /// How `apply --auto` would have ended; with `--dry-run` how `plan` would have.
    pub exit: Exit,
    /// What went wrong, where that is known in words.
    pub problem: Option<String>,
    /// The plan, and what the page shows of it; none where there is none.
    pub plan: Option<(SealedPlan, PlanNews)>,
    /// Its metrics.
    pub metrics: Metrics,
    /// What the state says now; none where it cannot be read.
    pub state: Option<StateNews>,
}

/// What `apply --auto` is given.
fn unattended() -> ApplyArgs {
    ApplyArgs {
        file: None,
        format: FormatArg::Text,
        expect: None,
        auto: true,
        metrics: None,
        limits: ApplyLimits::default(),
        cache: CacheArgs::default(),
    }
}

/// Makes a pass; `shared` is of it alone.
///
/// `before` is the last plan in one sentence: a plan without changes that says the same is not shown again.
pub fn pass(shared: &SharedArgs, only_plans: bool, before: &str) -> PassOutcome {
    let (began, started) = (output::now(shared).ok(), Instant::now());
    let notes = RunNotes::of("run");
    let mut plan = None;
    let mut problem = None;
    let outcome = plan_and_apply(shared, (only_plans, before), &notes, &mut plan, &mut problem);
    if let Err(failure) = &outcome {
        problem = Some(failure.message.clone());
    }
    let exit = ended(shared, true, outcome);
    let state = standing(&shared.workspace, output::now(shared).ok());
    let metrics = notes.ended((began, started), exit, state.as_ref()).unwrap_or_else(|| Metrics::new("run"));
    notify::send(shared);
    PassOutcome { exit, problem, plan, metrics, state: state.map(state_news) }
}

/// Plans, applies, and asks the servers; keeps the plan, and why it would be refused.
fn plan_and_apply(
    shared: &SharedArgs,
    (only_plans, before): (bool, &str),
    notes: &RunNotes,
    plan: &mut Option<(SealedPlan, PlanNews)>,
    problem: &mut Option<String>,
) -> Result<Exit, CommandFailure> {
    let (now, args) = (output::now(shared)?, unattended());
    let made = match make_to_apply(shared, &args, now, notes)? {
        Ok(made) => made,
        Err(exit) => return Ok(exit),
    };
    *problem = made.refusal.as_ref().map(ToString::to_string);
    let news = plan_news(shared, &made.sealed, now);
    if !made.sealed.plan().is_idle() || news.headline != before {
        made.show(shared, &args)?;
    }
    let outcome = match only_plans {
        true => Ok(made.verdict),
        false => apply_made(shared, &args, (&made, now), notes),
    };
    *plan = Some((made.sealed, news));
    let exit = outcome?;
    if !only_plans {
        sync::after_apply(shared, notes)?;
    }
    Ok(exit)
}

/// What the page shows of a plan that was not applied yet.
fn plan_news(shared: &SharedArgs, sealed: &SealedPlan, now: Time) -> PlanNews {
    // What the journal says of it only helps: where it cannot be read, the pass itself says so.
    let drift = find_drift(&shared.workspace, sealed.plan(), now).ok();
    let drift = drift.as_ref().map(|drift| drift.of(sealed.plan()));
    PlanNews::of(sealed, drift.as_ref())
}

/// What the page shows of the state.
fn state_news(state: StateMetrics) -> StateNews {
    let StateMetrics { breakers, unfinished, pools, rollouts, .. } = state;
    StateNews {
        pools: pools.into_iter().filter(|pool| pool.is_counted()).collect(),
        rollouts,
        breakers: breakers.iter().map(|breaker| format!("{}; {}", breaker.says(), breaker.hint())).collect(),
        unfinished,
    }
}
