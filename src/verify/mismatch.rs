//! RRsets that were written, compared with what they are read as: what differs, and the server's rule that probably did it.

use crate::apply::compare::{is_after, is_before, shown};
use crate::apply::{LaneReadBack, OutcomeCode, UnitVerdict};
use crate::change::{Change, ChangeKind};
use crate::dns::{NameRef, RrKey, Rtype};
use crate::target::Answer;

/// From how many records on an RRset may be over a limit of the server (BIND's `max-records-per-type` is 100).
const MANY: usize = 100;

/// What is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mismatch {
    /// What differs, and why probably: lower case, no full stop.
    message: String,
    /// What to do.
    hint: String,
}

/// The first change of a unit that was made but is not there, or could not be read back.
pub fn unread(changes: &[Change], done: &[usize], read_back: &LaneReadBack) -> Option<UnitVerdict> {
    done.iter().find_map(|place| match &read_back[place] {
        Ok(answer) => check(&changes[*place], answer).map(|Mismatch { message, hint }| UnitVerdict {
            outcome: OutcomeCode::NotApplied,
            message,
            hint: Some(hint),
        }),
        Err(error) => {
            let message = format!("it was written, but could not be read back: {error}");
            Some(UnitVerdict { outcome: OutcomeCode::Failed, message, hint: error.hint.clone() })
        }
    })
}

/// Compares a change that was made with what its RRset is read as; `None` where it is there.
fn check(change: &Change, answer: &Answer) -> Option<Mismatch> {
    if is_after(change, answer) {
        return None;
    }
    let RrKey { owner, rtype } = &change.key;
    let (why, hint) = likely_rule(change, answer);
    let message = format!("{rtype} of `{owner}` is not as it was written: there is {}; {why}", shown(answer));
    Some(Mismatch { message, hint: hint.to_owned() })
}

/// The rule that a change probably fell to, and what to do.
fn likely_rule(change: &Change, answer: &Answer) -> (String, &'static str) {
    match answer {
        Answer::Holds(Rtype::CNAME, _) => (
            "a server ignores data where there is a CNAME (RFC 2136 section 3.4.2.2)".to_owned(),
            "remove the CNAME, or give the host another name",
        ),
        Answer::Delegated(cut, _) => (
            format!("`{cut}` is delegated, and a server never answers for names at or below a delegation"),
            "write it into the child zone, or remove the delegation",
        ),
        Answer::BelowDname(owner, _) => (
            format!("the DNAME at `{owner}` hides all names below it (RFC 6672 section 2.4)"),
            "remove the DNAME, or give the host another name",
        ),
        answer if is_before(change, answer) => unchanged(change),
        _ => (
            "another editor probably changed it right after the update".to_owned(),
            "plan again: the new plan starts from what is there now",
        ),
    }
}

/// Why a server leaves an RRset as it was although it says otherwise.
fn unchanged(change: &Change) -> (String, &'static str) {
    let after = change.kind.after().map_or(0, |after| after.rdata().len());
    if after >= MANY {
        return (
            format!("the server probably limits how many records an RRset has, and this one would have {after}"),
            "raise its limit (BIND: `max-records-per-type`)",
        );
    }
    if !matches!(change.kind, ChangeKind::Delete { .. }) && !is_host_name(change.key.owner.as_name()) {
        return (
            "the server probably checks names, and this one is not a host name (RFC 952)".to_owned(),
            "make the server accept it (BIND: `check-names primary ignore;`)",
        );
    }
    (
        "the server reported success but did not change it: its update policy probably ignored the change".to_owned(),
        "make the server's policy allow this name and type for the key",
    )
}

/// Whether every label is of letters, digits and hyphens, as `check-names` requires.
fn is_host_name(name: NameRef<'_>) -> bool {
    name.labels().flatten().all(|octet| octet.is_ascii_alphanumeric() || *octet == b'-')
}
