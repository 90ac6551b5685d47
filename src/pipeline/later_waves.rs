//! Goes on with later waves, for as long as the operator lets it wait. Between two waves the state is free for others.

use std::sync::atomic::Ordering;
use std::time::{Duration as Pause, Instant};

use super::apply::{ApplyRun, PlanToApply, apply};
use super::conduct::ApplyConduct;
use super::resume::{ResumeOutcome, after, resume};
use super::settings::OpenError;
use super::wait_notes::{WaitNotes, may_go};
use crate::apply::OutcomeCode;
use crate::diag::Problem;
use crate::inventory::read::SETTINGS;
use crate::inventory::value::{Duration, Time};
use crate::plan::WaitingSubject;
use crate::progress::{Progress, RunStage};
use crate::state::ApplyId;
use crate::state::lock::IN_USE;

/// How long it sleeps at a time: a signal ends the wait soon.
const NAP: Pause = Pause::from_millis(100);

/// How long after a try that let nothing go the next one comes at the earliest: name servers may have become current.
const AGAIN: Duration = Duration::from_secs(1);

/// How long after a gate did not pass, or a host did not answer, it is asked again: often enough for a service that
/// recovers, and seldom enough for one that is ill.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// Applies a plan, and goes on with its later waves for so long.
///
/// Errors: [`OpenError`]; nothing was sent then.
pub fn apply_in_waves(
    given: &PlanToApply<'_>,
    request: &ApplyConduct<'_>,
    progress: &dyn Progress,
    wait: Option<Duration>,
) -> Result<ApplyRun, OpenError> {
    let ran = apply(given, request, progress)?;
    let next = |ran: &ApplyRun, request: &ApplyConduct<'_>| match ran.apply {
        Some(id) => resumed(ran, id, request, progress),
        // Nothing of it has gone yet.
        None => apply(given, request, progress).unwrap_or_else(not_begun),
    };
    Ok(go_on(ran, request, (progress, wait), next))
}

/// Resumes an apply, and goes on with its later waves for so long.
///
/// Errors: [`OpenError`]; nothing was sent then.
pub fn resume_in_waves(
    id: Option<ApplyId>,
    request: &ApplyConduct<'_>,
    progress: &dyn Progress,
    wait: Option<Duration>,
) -> Result<ResumeOutcome, OpenError> {
    Ok(match resume(id, request, progress)? {
        ResumeOutcome::Ran(sealed, ran) => {
            let next = |ran: &ApplyRun, request: &ApplyConduct<'_>| {
                resumed(ran, ran.apply.expect("what was resumed is in the journal"), request, progress)
            };
            ResumeOutcome::Ran(sealed, Box::new(go_on(*ran, request, (progress, wait), next)))
        }
        other => other,
    })
}

/// The next wave of an apply in the journal.
fn resumed(ran: &ApplyRun, id: ApplyId, request: &ApplyConduct<'_>, progress: &dyn Progress) -> ApplyRun {
    match resume(Some(id), request, progress) {
        Ok(ResumeOutcome::Ran(_, ran)) => *ran,
        Ok(ResumeOutcome::Refused(refusal)) => ApplyRun::refused(refusal),
        // Another run finished it while this one waited.
        Ok(ResumeOutcome::Complete(..)) => finished_by_another(ran),
        Ok(ResumeOutcome::NoSuchApply) => {
            let message = "the journal no longer has it";
            ApplyRun::refused(Problem::new(format!("apply {}", id.0), "plan-not-kept", message))
        }
        Err(error) => not_begun(error),
    }
}

/// The result of an apply of which another run did what waited.
fn finished_by_another(ran: &ApplyRun) -> ApplyRun {
    let mut applied = ran.applied.clone();
    for host in applied.hosts.iter_mut().filter(|host| host.outcome == OutcomeCode::Waiting) {
        (host.outcome, host.message, host.hint) = (OutcomeCode::AlreadyApplied, None, None);
    }
    // What was sent is added by the caller.
    applied.zones.clear();
    ApplyRun { apply: ran.apply, applied, moved: ran.moved.clone(), is_journaled: true, ..ApplyRun::default() }
}

/// That a later wave could not begin.
fn not_begun(error: OpenError) -> ApplyRun {
    ApplyRun::refused(match error {
        OpenError::State(problem) => problem,
        OpenError::Settings(_) => {
            Problem::new(SETTINGS, "bad-settings", "it can no longer be used").hint("`zonewright check` says why")
        }
    })
}

/// Sends wave after wave until nothing waits that can go, or the time is over.
fn go_on(
    mut ran: ApplyRun,
    request: &ApplyConduct<'_>,
    (progress, wait): (&dyn Progress, Option<Duration>),
    next: impl Fn(&ApplyRun, &ApplyConduct<'_>) -> ApplyRun,
) -> ApplyRun {
    let Some(wait) = wait else { return ran };
    let ends = request.now.plus(wait);
    // A clock that is set by hand does not run while a wave is sent, so that what it took is added.
    let by_hand = |began: Instant| if request.read_at.is_none() { began.elapsed() } else { Pause::ZERO };
    let mut took = by_hand(request.began);
    let mut notes = WaitNotes::default();
    let tell = |note: Option<String>| note.iter().for_each(|note| progress.tell(note));
    if !ran.waiting.is_empty() {
        tell(notes.wave(None, &ran));
    }
    while let Some(start) = next_start(&ran, request.wave_clock()) {
        let start = start.plus(Duration::measured(took));
        if request.interrupted.load(Ordering::SeqCst) {
            break;
        }
        tell(notes.wait(&ran, start, request.wave_clock(), start > ends));
        if start > ends || !sleep_until(start, request, progress) {
            break;
        }
        let (now, began) = (request.wave_clock(), Instant::now());
        let read_at = request.read_at.map(|_| began);
        let went = next(&ran, &ApplyConduct { now, read_at, began, ..*request });
        took = by_hand(began);
        if went.is_interrupted {
            // Nothing was sent: the outcome is that of what went before.
            break;
        }
        if went.refusal.as_ref().is_some_and(|refusal| refusal.code.as_str() == IN_USE) {
            // Another run holds the state, and will give it back.
            continue;
        }
        tell(notes.wave(Some(&ran.applied), &went));
        let is_over = went.refusal.is_some() || !went.is_journaled;
        ran = after(ran, Ok(went));
        if is_over {
            break;
        }
    }
    ran
}

/// When the next wave may go; none where nothing waits that will ever go.
fn next_start(ran: &ApplyRun, now: Time) -> Option<Time> {
    if ran.refusal.is_some() || !ran.is_journaled {
        return None;
    }
    // When a gate passes, or a host answers, is not known: they are asked again.
    let start = |waiting: &WaitingSubject| waiting.until.unwrap_or_else(|| now.plus(ASK_AGAIN));
    let earliest = ran.waiting.iter().filter(|own| may_go(own)).map(start).min()?.max(now.plus(AGAIN));
    // After that the plan may not go on.
    ran.waves_until.is_none_or(|until| earliest <= until).then_some(earliest)
}

/// Sleeps; gives whether no signal came.
fn sleep_until(start: Time, request: &ApplyConduct<'_>, progress: &dyn Progress) -> bool {
    progress.stage(RunStage::Waves, None);
    while request.wave_clock() < start {
        if request.interrupted.load(Ordering::SeqCst) {
            return false;
        }
        progress.pause(NAP);
    }
    !request.interrupted.load(Ordering::SeqCst)
}
