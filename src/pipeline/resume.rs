//! An apply that did not do all of its plan, taken up again.
//!
//! Comes in: the number of an apply, or none for the latest. Goes out: what became of every host of its plan. What the
//! journal and the markers prove is settled first; then what is missing is sent, with the prerequisites that it had, so that
//! nothing is sent twice and nothing that changed since is overwritten.

use std::collections::HashSet;

use super::apply::{
    ApplyError, Conduct, Ran, Writers, accesses, moved, open_writers, orders, run, settle_found, settle_standing,
    state_lost, zones_of,
};
use super::{Progress, load_config};
use crate::apply::accept::{Terms, accept};
use crate::apply::{self, Ending, Outcome, Refusal};
use crate::change::Change;
use crate::dns::{Name, Rtype};
use crate::inventory::model::{Config, ZoneSpec};
use crate::plan::{Plan, SealedPlan, v1};
use crate::state::{self, ApplyId, ApplySummary, Lock, Resumption, Sent, SentFate, State};

/// How often it is looked again where an update of the apply came late and was in the way (no official source).
const ROUNDS: usize = 3;

/// What came of it.
#[derive(Debug)]
pub enum Resumed {
    /// The journal has no apply, or none of this number.
    NoSuchApply,
    /// The apply did all of its plan.
    Complete(Box<ApplySummary>),
    /// It was taken up again; with its plan.
    Ran(Box<SealedPlan>, Ran),
    /// It was not, and why.
    Refused(Refusal),
}

/// Takes up an apply, or the latest; nothing is derived anew.
///
/// Errors: [`ApplyError`]; nothing was sent then.
pub fn resume(id: Option<ApplyId>, request: &Conduct<'_>, progress: &dyn Progress) -> Result<Resumed, ApplyError> {
    let (config, _) = load_config(request.workspace).map_err(ApplyError::Config)?;
    let file = request.workspace.join(&config.state_file);
    if state::open_to_read(&file)?.is_none() {
        return Ok(Resumed::NoSuchApply);
    }
    let _lock = Lock::take(&file, request.who, request.now)?;
    let mut state = state::open_to_write(&file)?;
    let found = match id {
        Some(id) => state.apply(id)?,
        None => state.applies(1)?.pop(),
    };
    let Some(found) = found else { return Ok(Resumed::NoSuchApply) };
    let place = format!("apply {}", found.id.0);
    let sealed = match state.document(found.id)?.map(|document| v1::parse(&document)) {
        Some(Ok(sealed)) => sealed,
        Some(Err(error)) => {
            let hint = Some("plan again: what stands in DNS is what a new plan starts from".to_owned());
            return Ok(Resumed::Refused(Refusal { place, code: error.code(), message: error.to_string(), hint }));
        }
        None if is_complete(&found) => return Ok(Resumed::Complete(Box::new(found))),
        None => return Ok(Resumed::Refused(not_kept(place))),
    };
    let work = Work { config: &config, id: found.id, place: &place, sealed: &sealed, request, progress };
    let ran = work.go_on(&mut *state)?;
    Ok(Resumed::Ran(Box::new(sealed), ran))
}

/// Whether an apply did all of its plan, and the journal tells so of each update.
fn is_complete(apply: &ApplySummary) -> bool {
    let is_fine = |word: &String| [Outcome::Applied, Outcome::AlreadyApplied].iter().any(|fine| fine.as_str() == word);
    apply.finished.is_some() && apply.updates_open == 0 && apply.outcomes.keys().all(is_fine)
}

/// The refusal of an apply whose plan is no longer there.
fn not_kept(place: String) -> Refusal {
    Refusal {
        place,
        code: "plan-not-kept",
        message: "it did not do all of its plan, which has expired and is no longer kept".to_owned(),
        hint: Some("plan again: what stands in DNS is what a new plan starts from".to_owned()),
    }
}

/// An apply to be taken up.
struct Work<'a> {
    /// The settings of today.
    config: &'a Config,
    /// The apply.
    id: ApplyId,
    /// What messages call it.
    place: &'a str,
    /// Its plan.
    sealed: &'a SealedPlan,
    /// How it is gone on with.
    request: &'a Conduct<'a>,
    /// Who waits.
    progress: &'a dyn Progress,
}

impl Work<'_> {
    /// Settles what is open, and does what is missing.
    fn go_on(&self, state: &mut dyn State) -> Result<Ran, ApplyError> {
        let zones = match zones_of(self.sealed.plan(), self.config, self.place) {
            Ok(zones) => zones,
            Err(refusal) => return Ok(Ran::refused(refusal)),
        };
        let Conduct { workspace, now, .. } = *self.request;
        let writers = open_writers(self.config, &zones, workspace, now);
        writers.values().flatten().for_each(|writer| writer.doubt());
        let mut ran = self.round(state, (&zones, &writers), true)?;
        for _ in 1..ROUNDS {
            if ran.refusal.is_some() || !ran.is_journaled || ran.applied.ending() == Ending::Done {
                break;
            }
            // An update that the apply sent before it ended may have come late, and taken the place of what was sent now.
            let (_, found) = self.look(state, (&zones, &writers))?;
            if found == 0 {
                break;
            }
            ran = self.round(state, (&zones, &writers), false)?;
        }
        Ok(ran)
    }

    /// Reads what stands, and settles what that proves; gives how many updates it found to have taken effect.
    fn look<'w>(
        &'w self,
        state: &mut dyn State,
        (zones, writers): (&[&'w ZoneSpec], &'w Writers),
    ) -> Result<(apply::Survey<'w>, usize), ApplyError> {
        self.progress.stage("reading what stands", None);
        let now = self.request.now;
        let found = settle_found(state, self.id, self.config, writers, now)?;
        let survey = apply::survey(self.sealed.plan(), accesses(self.config, zones, writers));
        let found = found + settle_standing(state, &survey, now)?;
        Ok((survey, found))
    }

    /// Looks, settles, and sends what is missing.
    fn round<'w>(
        &'w self,
        state: &mut dyn State,
        (zones, writers): (&[&'w ZoneSpec], &'w Writers),
        is_first: bool,
    ) -> Result<Ran, ApplyError> {
        let Conduct { workspace, now, who, reason, .. } = *self.request;
        let plan = self.sealed.plan();
        let known = state.markers()?;
        let (survey, _) = self.look(state, (zones, writers))?;
        if let Some(refusal) = state_lost(&survey, &known) {
            return Ok(Ran::refused(refusal));
        }
        let terms = Terms { now, expires: self.config.plan_expires, expect: None };
        if let Err(refusal) = accept(self.sealed, self.place, &terms) {
            return Ok(Ran::refused(refusal));
        }
        let moved = moved(plan, &survey, workspace);
        let sent = state.sent(self.id)?;
        let survey = survey.with_made(made(plan, &sent));
        if is_first {
            let (who, reason) = (who.to_owned(), reason.map(str::to_owned));
            state.resume(self.id, &Resumption { at: now, who, reason })?;
        }
        let numbers = sent.iter().map(|sent| sent.number).max().unwrap_or(0);
        let orders = orders(self.sealed, self.request, &state.markers()?, numbers);
        let ran = run(self.request, self.progress, (self.id, survey, &orders, writers), state);
        Ok(Ran { moved, ..ran })
    }
}

/// Which changes of a plan took effect, as the journal says.
fn made(plan: &Plan, sent: &[Sent]) -> Vec<bool> {
    let done = sent.iter().filter(|sent| sent.fate == SentFate::Done).flat_map(|sent| &sent.changes);
    let done: HashSet<(&Name, Rtype)> = done.map(|change| (&change.name, change.rtype)).collect();
    let is_done = |change: &Change| done.contains(&(&change.key.owner.as_name().to_name(), change.key.rtype));
    plan.changes.iter().map(is_done).collect()
}
