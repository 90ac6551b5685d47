//! What a zone that is known whole answers about single names, as its server would.
//!
//! Comes in: the zone's contents and a question. Goes out: the answer to it, with one thing left out: a name that only
//! a wildcard covers counts as nothing, since it has no records. Pure.

use crate::dns::{Name, NameRef, Rrset, RrsetRef, Rtype, ZoneContents, ZoneName};
use std::collections::HashSet;

use super::question::{Answer, NameExistence, Question};

/// A zone that is known whole.
pub trait WholeZone {
    /// The zone.
    fn apex(&self) -> &ZoneName;

    /// A copy of one RRset.
    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset>;
}

impl WholeZone for ZoneContents {
    fn apex(&self) -> &ZoneName {
        self.apex()
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        self.rrset(name, rtype).map(RrsetRef::to_rrset)
    }
}

/// Answers one question about a name in the zone.
///
/// Source: RFC 1034 section 4.3.2 for the order: a delegation comes before names at or below it, a DNAME before names
/// below it (RFC 6672 section 3.2), and the highest of those above the name comes first; then the type that was asked
/// for, then a CNAME. What the zone itself has at a delegation, NS, DS and the addresses of name servers, it answers.
pub fn answer(contents: &impl WholeZone, question: &Question) -> Answer {
    let name = question.name.as_name();
    match answer_from_above(contents, name) {
        Some(Answer::Delegated(cut, Some(servers))) if question.is_of_parent(cut.as_name(), &servers) => {
            let found = contents.rrset(name, question.rtype);
            return found.map_or(Answer::Nothing, |rrset| Answer::Holds(question.rtype, rrset));
        }
        Some(above) => return above,
        None => {}
    }
    let found =
        [question.rtype, Rtype::CNAME].into_iter().find_map(|rtype| Some((rtype, contents.rrset(name, rtype)?)));
    found.map_or(Answer::Nothing, |(rtype, rrset)| Answer::Holds(rtype, rrset))
}

/// The answer of the highest delegation at or above a name, or of the highest DNAME above it.
fn answer_from_above(contents: &impl WholeZone, name: NameRef<'_>) -> Option<Answer> {
    let apex = contents.apex().as_name();
    let inside = name.ancestors().take_while(|ancestor| ancestor.is_at_or_below(apex));
    let found = inside.filter_map(|ancestor| {
        if ancestor != apex
            && let Some(servers) = contents.rrset(ancestor, Rtype::NS)
        {
            return Some(Answer::Delegated(ancestor.to_name(), Some(servers)));
        }
        let dname = (ancestor != name).then(|| contents.rrset(ancestor, Rtype::DNAME)).flatten()?;
        Some(Answer::BelowDname(ancestor.to_name(), dname))
    });
    found.last()
}

/// Whether names exist in a zone: something is at or below them, or a wildcard covers them.
///
/// Source: RFC 4592 section 2.2.2 for names without records that have some below them, section 3.3.1 for wildcards.
pub fn existence(contents: &ZoneContents, names: &[Name]) -> Vec<NameExistence> {
    let owners: Vec<Name> = contents.rrsets().map(RrsetRef::owner).collect();
    let apex = contents.apex().as_name();
    let ancestors = owners.iter().flat_map(|owner| owner.as_name().ancestors());
    let existing: HashSet<NameRef<'_>> = ancestors.filter(|above| above.is_at_or_below(apex)).collect();
    let is_covered = |name: &Name| {
        // The wildcard below the closest name that exists counts, and no other.
        let encloser = name.as_name().ancestors().find(|above| existing.contains(above));
        let wildcard = encloser.and_then(|above| Name::prepend(b"*", above).ok());
        wildcard.is_some_and(|wildcard| existing.contains(&wildcard.as_name()))
    };
    let exists = |name: &Name| existing.contains(&name.as_name()) || is_covered(name);
    let answer = |name: &Name| answer(contents, &Question::whether(name.clone()));
    names.iter().map(|name| NameExistence::of(answer(name), !exists(name))).collect()
}

#[cfg(test)]
mod tests;
