//! Why a host waits for an approval, in words. Pure.

use super::ask::HostAsk;
use super::queue::{REJECTED_FOR, rejected_until};
use super::tasks::{ApprovalMemory, TaskRow};
use crate::cms::task::TaskStatus;
use crate::inventory::value::Time;
use crate::rollout::UnapprovedHost;

/// Why a host may not go that is not allowed, as far as it is known.
pub fn unapproved(memory: &ApprovalMemory, ask: &HostAsk, now: Time, is_rejected: bool) -> UnapprovedHost {
    if let Some(refusal) = memory.refusals.get(&ask.subject) {
        // One that a person named is asked for again by the next run, and was rejected in this one.
        let until = rejected_until(refusal, ask, now).or_else(|| is_rejected.then(|| refusal.at.plus(REJECTED_FOR)));
        if until.is_some() {
            let said = said_clause(&refusal.message);
            let message = format!("`{}` rejects it{said}", refusal.service);
            return UnapprovedHost { message, until, is_rejected };
        }
    }
    let mut open: Vec<&TaskRow> = memory.of(&ask.subject).filter(|row| row.is_open()).collect();
    open.sort_unstable_by(|one, other| one.service.cmp(&other.service));
    let message = open.first().map_or_else(|| "its services have not been asked yet".to_owned(), |row| waits(row));
    UnapprovedHost { message, until: None, is_rejected: false }
}

/// What a task waits for.
pub fn waits(row: &TaskRow) -> String {
    let (service, since) = (&row.service, row.since.to_second());
    if let Some(fault) = &row.fault {
        return format!("`{service}` gives no answer, asked since {since}: {fault}");
    }
    match &row.said {
        Some(said) if said.status != TaskStatus::Ok => {
            format!("`{service}` does not allow it yet, asked since {since}{}", said_clause(&said.message))
        }
        Some(_) | None => format!("`{service}` has not answered yet, asked since {since}"),
    }
}

/// What a service says besides.
fn said_clause(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::approval::fixture::{ask, said};

    #[test]
    fn a_service_that_allowed_a_host_and_then_gives_no_answer_is_named() {
        let now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
        let memory = |fault: Option<&str>| {
            let fault = fault.map(str::to_owned);
            ApprovalMemory::new([TaskRow { fault, ..said("a", 1, TaskStatus::Ok) }], BTreeMap::new())
        };
        let told = |fault| unapproved(&memory(fault), &ask(1), now, false).message;
        assert_eq!(told(Some("late")), "`a` gives no answer, asked since 2026-11-20T02:00:00Z: late");
        assert_eq!(told(None), "its services have not been asked yet");
    }
}
