//! The TXT of the registry that say whose an RRset is, as a copy holds them now.

use crate::apply::SurveyedCopy;
use crate::change::Change;
use crate::diag::Problem;
use crate::dns::{RrKey, Rtype};
use crate::registry::Marking;
use crate::target::{Answer, Question};

/// The questions for the TXT of the RRset of a change, at the names that count, in their order; none where there can be no TXT.
pub(super) fn questions(Change { zone, key, .. }: &Change, marking: &Marking) -> Vec<Question> {
    let names = marking.form.names(key.owner.as_name(), key.rtype);
    let owners = names.filter_map(|name| zone.owner(name.as_name()));
    owners.map(|owner| Question::of(&RrKey { owner, rtype: Rtype::TXT })).collect()
}

/// What a copy answers to each list of questions; all of them go at once.
///
/// Errors: the zone cannot be read.
pub(super) fn read(copy: &SurveyedCopy<'_>, asked: &[Vec<Question>]) -> Result<Vec<Vec<Answer>>, Problem> {
    let mut answers = copy.writer.observe(&copy.copy.zone, &asked.concat(), copy.rrsets)?.into_iter();
    Ok(asked.iter().map(|own| answers.by_ref().take(own.len()).collect()).collect())
}

/// Whether the first of the answers that has a TXT of the registry names us alone; none where no answer has one.
pub(super) fn names_us(answers: &[Answer], marking: &Marking) -> Option<bool> {
    let texts = answers.iter().filter_map(|answer| match answer {
        Answer::Holds(Rtype::TXT, rrset) => Some(rrset.rdata()),
        _ => None,
    });
    texts.into_iter().find_map(|texts| marking.is_ours(texts))
}
