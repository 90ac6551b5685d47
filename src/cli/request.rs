//! What `plan` and `explain` have in common: what they ask of the pipeline, and how they report errors.

use std::path::Path;

use super::args::CacheArgs;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::progress::{ProgressLine, StageTime};
use super::shared_args::SharedArgs;
use crate::diag::Problem;
use crate::guard::Breaker;
use crate::inventory::value::Time;
use crate::pipeline::base::BaseError;
use crate::pipeline::guards::foreseen;
use crate::pipeline::{self, Findings, InputError, MadePlan, OpenError, PlanError, PlanRequest, SnapshotUsed};
use crate::plan::{NoticeCode, Plan, SealedPlan};
use crate::progress::{Progress as _, RunStage};
use crate::provider::cache::CacheUse;

/// The request that the command line makes: every zone is transferred.
pub fn request<'a>(shared: &'a SharedArgs, now: Time, live_snapshot: Option<&'a Path>) -> PlanRequest<'a> {
    PlanRequest {
        workspace: &shared.workspace,
        now,
        hosts: shared.hosts.clone(),
        subjects: shared.picked.clone(),
        projects: shared.projects.clone(),
        live_snapshot,
        base: None,
        cache: CacheUse::Renew,
        allow: &[],
        adopt: None,
        asks_approvals: false,
    }
}

/// Refuses `--zone` for a command that changes DNS.
///
/// A zone limits what is shown and not what is changed: a host has records in several zones, and gets all of them or
/// none.
pub fn refuse_zones(shared: &SharedArgs, command: &str) -> Result<(), CommandFailure> {
    if shared.zones.is_empty() {
        return Ok(());
    }
    let message = format!("`{command}` does not take `--zone`, which limits what is shown and not what is changed");
    let hint = format!(
        "`zonewright plan --zone ZONE` shows a part of a plan; `zonewright {command}` is limited by {}",
        match command {
            "fix" => "the hosts that it names",
            "resume" => "nothing: it finishes the whole apply",
            "sync" => "`--pool POOL`",
            _ => "`--host HOST`, `--subject SUBJECT` or `--project ID`",
        }
    );
    Err(CommandFailure::of_call(message).hint(hint))
}

/// How a command that plans may use the cache.
pub fn cache(args: &CacheArgs) -> CacheUse {
    if args.no_cache { CacheUse::Renew } else { CacheUse::Read }
}

/// A plan that was made and digested, and what was found on the way.
pub struct DigestedPlan {
    /// The plan.
    pub sealed: SealedPlan,
    /// What was found.
    pub findings: Findings,
    /// Whether a zone or a source could not be read completely.
    pub is_partial: bool,
    /// The snapshot that it was made from, where it was.
    pub snapshot: Option<SnapshotUsed>,
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The targets that the plan would change, as people call them.
    pub targets: Vec<String>,
    /// How long each stage took.
    pub stages: Vec<StageTime>,
}

impl DigestedPlan {
    /// Why it would be refused if it were applied as it is.
    pub fn refusal(&self, shared: &SharedArgs) -> Option<Problem> {
        foreseen(&self.sealed, "the plan", &[], &self.breakers, shared.names_subjects())
    }

    /// Notes the plan, why it would be refused, and how long it took.
    pub fn note(&self, notes: &RunNotes, refusal: Option<&Problem>) {
        notes.note(|metrics| metrics.plan(self.sealed.plan(), refusal));
        notes.stages(&self.stages);
    }

    /// How a command ends for the plan alone, whatever happens to its changes.
    pub fn verdict(&self) -> Exit {
        verdict(self.is_partial, self.sealed.plan())
    }
}

/// How a command ends for a plan alone: whether everything that it depends on could be read, and whether a guard
/// refuses any of it.
pub fn verdict(is_partial: bool, plan: &Plan) -> Exit {
    let refused = plan.notices.iter().any(|notice| notice.code == NoticeCode::SourceUntrusted);
    match (is_partial, refused) {
        (true, _) => Exit::Error,
        (false, true) => Exit::Refused,
        (false, false) => Exit::Done,
    }
}

/// Plans, and digests the plan, with its progress shown.
///
/// Errors: [`PlanError`].
pub fn make(shared: &SharedArgs, request: &PlanRequest<'_>) -> Result<DigestedPlan, PlanError> {
    seal(shared, |progress| pipeline::make_plan(request, progress))
}

/// Digests what is made, with its progress shown.
///
/// Errors: as for `make`.
pub fn seal<E>(
    shared: &SharedArgs,
    make: impl FnOnce(&ProgressLine) -> Result<MadePlan, E>,
) -> Result<DigestedPlan, E> {
    let progress = ProgressLine::start(shared);
    let made = make(&progress);
    progress.stage(RunStage::Digest, None);
    let sealed = made.map(|MadePlan { plan, findings, is_partial, snapshot, breakers, targets }| DigestedPlan {
        sealed: SealedPlan::new(plan),
        findings,
        is_partial,
        snapshot,
        breakers,
        targets,
        stages: Vec::new(),
    });
    let stages = progress.finish();
    sealed.map(|sealed| DigestedPlan { stages, ..sealed })
}

/// Prints why there is no plan.
pub fn not_planned(shared: &SharedArgs, error: PlanError) -> Result<Exit, CommandFailure> {
    match error {
        PlanError::Input(error) => not_read(shared, error),
        PlanError::Base(error) => {
            if let BaseError::Config(_, findings) = &error {
                output::findings(shared, findings);
            }
            Err(CommandFailure::new(&error).hint(error.hint()))
        }
    }
}

/// Prints why what decisions are made from cannot be read.
pub fn not_read(shared: &SharedArgs, error: InputError) -> Result<Exit, CommandFailure> {
    match error {
        InputError::Open(error) => not_opened(shared, error),
        InputError::Snapshot(error) => Err(CommandFailure::of_call(&error).maybe_hint(error.hint)),
        InputError::Call(error) => Err(error.into()),
    }
}

/// Prints why the workspace cannot be worked with.
pub fn not_opened(shared: &SharedArgs, error: OpenError) -> Result<Exit, CommandFailure> {
    match error {
        OpenError::Settings(findings) => {
            output::findings(shared, &findings);
            Ok(Exit::Error)
        }
        OpenError::State(error) => Err(error.into()),
    }
}

/// Says which breakers are tripped, since when and why, and how they are reset.
pub fn tell_breakers(shared: &SharedArgs, breakers: &[Breaker]) {
    for breaker in breakers {
        output::warning(shared, "the state", "breaker-tripped", &format!("{}; {}", breaker.says(), breaker.hint()));
    }
}

/// Says how old the snapshot is that replaces live DNS, where one does, and which of its zones were ignored.
pub fn tell_snapshot(shared: &SharedArgs, request: &PlanRequest<'_>, used: Option<&SnapshotUsed>) {
    let Some((path, SnapshotUsed { created, ignored })) = request.live_snapshot.zip(used) else { return };
    let place = path.display().to_string();
    let age = match request.now.since(*created) {
        Some(age) => format!("live DNS as of {created}, {age} ago: no server was asked"),
        None => format!("live DNS as of {created}, which is in the future: no server was asked"),
    };
    output::warning(shared, &place, "snapshot-age", &age);
    for zone in ignored {
        tracing::info!("{place}: the zone `{zone}` is not configured, and was ignored");
    }
}
