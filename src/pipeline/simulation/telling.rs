//! What stories of rollouts share: a run that shows no progress, and its end in words.

use std::time::Duration;

use crate::apply::SubjectOutcome;
use crate::change::Change;
use crate::dns::Rrset;
use crate::pipeline::apply::ApplyRun;
use crate::progress::{Progress, RunStage};

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
