//! What waits for a later wave, for the answer to a question: as `status` has it.

use std::collections::BTreeSet;

use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::reverse::reverse_name;
use crate::explain::{ExplainQuestion, Explanation};
use crate::plan::WaitingSubject;
use crate::state::State;

/// The subjects that a question is about: the host, or those whose changes are at the name or are about the address.
pub fn subjects_of(question: &ExplainQuestion, changes: &[Change]) -> BTreeSet<Subject> {
    let of = |is_asked: &dyn Fn(&Change) -> bool| {
        let asked = changes.iter().filter(|change| is_asked(change));
        asked.flat_map(Change::subjects).filter_map(Subject::counted).collect()
    };
    match question {
        ExplainQuestion::Host(inv) | ExplainQuestion::Left(inv) => BTreeSet::from([Subject::Host(*inv)]),
        ExplainQuestion::Name(name) => of(&|change| change.key.owner.as_name() == name.as_name()),
        ExplainQuestion::Address(address) => {
            let reverse = reverse_name(*address);
            let has = |change: &Change| {
                let sides = [change.kind.before(), change.kind.after()].into_iter().flatten();
                let mut rdata = sides.flat_map(|rrset| rrset.rdata());
                rdata.any(|rdata| rdata.as_rdata(change.key.rtype).address() == Some(*address))
            };
            of(&|change| change.key.owner.as_name() == reverse.as_name() || has(change))
        }
    }
}

/// An explanation whose answer says which of some subjects wait for a later wave, why and until when.
///
/// Errors: the state cannot be read.
pub fn with_waits(
    mut explained: Explanation,
    subjects: &BTreeSet<Subject>,
    state: Option<&dyn State>,
) -> Result<Explanation, Problem> {
    let Some(state) = state.filter(|_| !subjects.is_empty()) else { return Ok(explained) };
    let memory = state.rollouts()?;
    for subject in subjects {
        if let Some(record) = memory.waits.get(subject) {
            explained.answer.push_str(&sentence(&record.wait));
        }
    }
    Ok(explained)
}

/// That a subject waits, as a further sentence.
fn sentence(waiting: &WaitingSubject) -> String {
    let WaitingSubject { code, message, since, subject, until, .. } = waiting;
    let what = subject.host().map_or_else(|| subject.to_string(), |inv| format!("host {inv}"));
    let until =
        until.map_or_else(|| "when it can go is not known".to_owned(), |until| format!("it can go from {until} on"));
    format!(" A change of {what} waits for a later wave since {since} (`{code}`): {message}; {until}.")
}
