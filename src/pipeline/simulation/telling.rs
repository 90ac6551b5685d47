//! What stories of rollouts share: a run that shows no progress and may die, and its end in words.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use super::stage::Crash;
use super::wires::{Book, RunPoints};
use crate::apply::SubjectOutcome;
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::Rrset;
use crate::pipeline::apply::{ApplyRun, ApplyWork};
use crate::pipeline::left_open::broken_off;
use crate::progress::{Progress, RunStage};
use crate::state::ApplyId;

/// Shows no progress, and waits for nothing.
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}

    fn step(&self) {}

    fn pause(&self, _: Duration) {}
}

/// Changes in words.
pub fn shown(changes: &[Change]) -> String {
    let one = |change: &Change| {
        let side = |rrset: Option<&Rrset>| {
            rrset
                .map(|own| format!("{}/{}", own.rdata_texts(change.key.rtype).join(","), own.ttl().as_secs()))
                .unwrap_or_default()
        };
        format!("{}: {} -> {}", change.key.owner, side(change.kind.before()), side(change.kind.after()))
    };
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// How a run ended, in words.
pub fn ran_words(ran: &ApplyRun) -> String {
    if let Some(refusal) = &ran.refusal {
        return format!("refused: {refusal}");
    }
    let host = |host: &SubjectOutcome| {
        format!("{} {} {}", host.subject, host.outcome, host.message.as_deref().unwrap_or_default())
    };
    let hosts: Vec<String> = ran.applied.hosts.iter().map(host).collect();
    format!("it ends: {}; {:?}", hosts.join("; "), ran.applied.problems)
}

/// Begins the apply of a plan, or goes on with one; none where the run died.
pub fn carry_out<S: RunPoints>(work: &ApplyWork<'_>, book: &mut Book<'_, S>, id: Option<ApplyId>) -> Option<ApplyRun> {
    let done = catch_unwind(AssertUnwindSafe(|| -> Result<ApplyRun, Problem> {
        match id {
            Some(id) => work.go_on(book, id),
            None => {
                let killed = broken_off(&*book)?;
                work.begin(book, &killed)
            }
        }
    }));
    match done {
        Ok(ran) => Some(ran.unwrap()),
        Err(cause) if cause.is::<Crash>() => None,
        Err(cause) => resume_unwind(cause),
    }
}
