//! One pass of `run`: a plan, applied as `apply --auto` does, then what targets lack and servers do not serve yet.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::apply::{NoPlan, apply_made, make_to_apply, show_to_apply, view};
use super::args::{ApplyArgs, ApplyLimits, CacheArgs};
use super::ending::ended;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::DigestedPlan;
use super::shared_args::SharedArgs;
use super::signals::ServiceSignals;
use super::values::FormatArg;
use super::{notify, signals, sync};
use crate::inventory::value::Time;
use crate::pipeline::drift::find_drift;
use crate::pipeline::metrics::{StateMetrics, standing};
use crate::pipeline::{LastPlan, PlanRequest};
use crate::plan::SealedPlan;
use crate::report::metrics::Metrics;
use crate::report::running::{PlanNews, StateNews};

/// How many lines of what was found the page shows.
const LINES: usize = 40;

/// What a pass did.
pub struct PassOutcome {
    /// How `apply --auto` would have ended; with `--dry-run` how `plan` would have.
    pub exit: Exit,
    /// What went wrong, where that is known in words.
    pub problem: Option<String>,
    /// Whether a settings file has errors.
    pub has_broken_settings: bool,
    /// Whether targets lack changes, or name servers are behind; none where they were not asked.
    pub is_behind: Option<bool>,
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

/// How a pass is to be made.
#[derive(Clone, Copy)]
pub struct PassTerms<'a> {
    /// Whether it only plans.
    pub only_plans: bool,
    /// Whether targets are brought in line, and name servers asked, after it.
    pub syncs: bool,
    /// The last plan in one sentence: a plan without changes that says the same is not shown again.
    pub before: &'a str,
    /// The plan of the last pass, which is used again where nothing has moved.
    pub last_plan: &'a RefCell<LastPlan>,
    /// The signals of a process that goes on, which end it at once while it plans; none where the exit code is the result.
    pub signals: Option<&'a ServiceSignals>,
}

/// What becomes known in a pass.
#[derive(Default)]
struct PassFindings {
    /// The plan with what was found on the way, and what the page shows of it.
    made: Option<(DigestedPlan, PlanNews)>,
    /// Why there is no plan, in lines.
    no_plan: String,
    /// Whether anything is behind; none where that was not asked.
    is_behind: Option<bool>,
}

/// Makes a pass; `shared` is of it alone.
pub fn pass(shared: &SharedArgs, terms: PassTerms<'_>) -> PassOutcome {
    let (began, started) = (output::now(shared).ok(), Instant::now());
    let notes = RunNotes::of("run");
    let mut findings = PassFindings::default();
    let outcome = plan_and_apply(shared, terms, &notes, &mut findings);
    if let Err(failure) = &outcome {
        shared.process.note_problem(&failure.message);
    }
    let exit = ended(shared, true, outcome);
    let PassFindings { made, no_plan, is_behind } = findings;
    let mut problems = shared.process.problems.take();
    if exit == Exit::Error {
        let found = made.as_ref().map_or(no_plan, |(made, _)| output::rendered(shared, &made.findings));
        problems.extend(found.lines().take(LINES).map(str::to_owned));
    }
    let problem = (!problems.is_empty()).then(|| problems.join("\n"));
    let state = standing(&shared.workspace, output::now(shared).ok());
    let metrics = notes.ended((began, started), exit, state.as_ref()).unwrap_or_else(|| Metrics::new("run"));
    // Planning changes nothing that a person would have to know of at once.
    if !terms.only_plans {
        notify::send(shared);
    }
    let has_broken_settings = made.as_ref().is_some_and(|(made, _)| !made.findings.settings.is_empty());
    let plan = made.map(|(made, news)| (made.sealed, news));
    PassOutcome { exit, problem, has_broken_settings, is_behind, plan, metrics, state: state.map(state_news) }
}

/// Plans, applies, and asks the servers, as long as no signal asks it to end; keeps what becomes known.
fn plan_and_apply(
    shared: &SharedArgs,
    terms: PassTerms<'_>,
    notes: &RunNotes,
    findings: &mut PassFindings,
) -> Result<Exit, CommandFailure> {
    let (now, args) = (output::now(shared)?, unattended());
    let view = view(shared)?;
    let interrupted = signals::watch()?;
    let is_over = || interrupted.load(Ordering::SeqCst);
    let reading = terms.signals.map(ServiceSignals::end_at_once);
    // One that came just before ends nothing by itself.
    if reading.is_some() && is_over() {
        return Ok(Exit::Done);
    }
    let plan =
        |request: &PlanRequest<'_>, progress: &ProgressLine| terms.last_plan.borrow_mut().plan(request, progress);
    let made = make_to_apply(shared, &args, (now, notes), plan)?;
    drop(reading);
    let made = match made {
        Ok(made) => made,
        Err(NoPlan { exit, why }) => {
            findings.no_plan = why;
            return Ok(exit);
        }
    };
    let news = plan_news(shared, &made.sealed, now);
    // A log that cannot be written is no reason to leave DNS as it is.
    let is_news = !made.sealed.plan().is_idle() || news.headline != terms.before;
    let shown = if is_news { show_to_apply(shared, &args, &view, &made) } else { Ok(()) };
    shown.unwrap_or_else(|failure| shared.process.note_problem(failure.message));
    let outcome = if terms.only_plans || is_over() {
        // An apply says itself why it is refused.
        made.refusal(shared).iter().for_each(|refusal| shared.process.note_problem(refusal.to_string()));
        Ok(made.verdict())
    } else {
        apply_made(shared, &args, (&made, now), notes)
    };
    findings.made = Some((made, news));
    let exit = outcome?;
    if terms.syncs && !terms.only_plans && !is_over() {
        let left = sync::after_apply(shared, notes).unwrap_or_else(|failure| {
            shared.process.note_problem(failure.message);
            Exit::InPart
        });
        findings.is_behind = Some(left != Exit::Done);
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
