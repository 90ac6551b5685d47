//! What is at an RRset's place, compared with what a plan says about it. Pure.

use std::collections::HashMap;

use crate::change::{Change, ChangeKind};
use crate::dns::{OwnerName, Rrset, Rtype, ZoneName};
use crate::target::Answer;

/// The changes that delete a CNAME or the NS of a delegation, by zone and owner name: what is created there at the same target takes its place.
#[derive(Debug)]
pub struct DeletedCnames<'a>(HashMap<(&'a ZoneName, &'a OwnerName), Vec<&'a Change>>);

impl<'a> DeletedCnames<'a> {
    /// Those among these changes.
    pub fn of(changes: impl IntoIterator<Item = &'a Change>) -> DeletedCnames<'a> {
        let mut deleted: HashMap<(&ZoneName, &OwnerName), Vec<&Change>> = HashMap::new();
        let is_deleted = |change: &&Change| {
            matches!(change.key.rtype, Rtype::CNAME | Rtype::NS) && matches!(change.kind, ChangeKind::Delete { .. })
        };
        for change in changes.into_iter().filter(is_deleted) {
            deleted.entry((&change.zone, &change.key.owner)).or_default().push(change);
        }
        DeletedCnames(deleted)
    }

    /// Whether an RRset is as [`is_before`] says, or the CNAME or NS that it takes the place of is as the plan saw that.
    pub fn is_before(&self, change: &Change, answer: &Answer) -> bool {
        let is_replaced = |cname: &Rrset| {
            let mut deleted = self.0.get(&(&change.zone, &change.key.owner)).into_iter().flatten();
            deleted.any(|deleted| deleted.shares_target(change) && deleted.kind.before() == Some(cname))
        };
        match (&change.kind, answer) {
            (ChangeKind::Create { .. }, Answer::Holds(Rtype::CNAME, cname)) => is_replaced(cname),
            (ChangeKind::Create { .. }, Answer::Delegated(cut, Some(servers)))
                if cut.as_name() == change.key.owner.as_name() =>
            {
                is_replaced(servers)
            }
            _ => is_before(change, answer),
        }
    }
}

/// Whether an RRset is as the plan saw it, the TTL too; where something is to be added, nothing else may bar the place.
pub fn is_before(change: &Change, answer: &Answer) -> bool {
    match (&change.kind, answer) {
        (ChangeKind::Create { .. }, answer) => *answer == Answer::Nothing,
        (ChangeKind::Modify { before, .. } | ChangeKind::Delete { before }, answer) => holds(change, before, answer),
    }
}

/// Whether an RRset is as planned, the TTL too.
pub fn is_after(change: &Change, answer: &Answer) -> bool {
    is_left(change, change.kind.after(), answer)
}

/// Whether an RRset is between what the plan saw and what it is to be.
pub fn is_between(change: &Change, answer: &Answer) -> bool {
    match answer {
        Answer::Holds(rtype, rrset) if *rtype == change.key.rtype => change.kind.is_between(Some(rrset)),
        Answer::Nothing => change.kind.is_between(None),
        // What is to go is gone. No step leaves a CNAME in the way of what is to come: another editor made it.
        Answer::Holds(Rtype::CNAME, _) => is_after(change, answer),
        _ => false,
    }
}

/// Whether an RRset is what a change leaves after some step of it, the TTL too; none is left where it goes.
pub fn is_left(change: &Change, left: Option<&Rrset>, answer: &Answer) -> bool {
    match (left, answer) {
        (Some(left), answer) => holds(change, left, answer),
        (None, Answer::Nothing) => true,
        // A CNAME is alone at its name: the RRset is gone.
        (None, Answer::Holds(Rtype::CNAME, _)) => change.key.rtype != Rtype::CNAME,
        (None, _) => false,
    }
}

/// Whether exactly this RRset is there.
fn holds(change: &Change, wanted: &Rrset, answer: &Answer) -> bool {
    matches!(answer, Answer::Holds(rtype, rrset) if *rtype == change.key.rtype && rrset == wanted)
}

/// What an RRset's place holds, in words.
pub fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Holds(rtype, rrset) => shown_rrset(*rtype, rrset),
        Answer::Nothing => "nothing".to_owned(),
        Answer::Delegated(cut, _) => format!("names at or below the delegation `{cut}`"),
        Answer::BelowDname(owner, _) => format!("names below the DNAME at `{owner}`"),
    }
}

/// The most records that are listed.
const LISTED: usize = 4;

/// An RRset in words.
fn shown_rrset(rtype: Rtype, rrset: &Rrset) -> String {
    let texts = rrset.rdata_texts(rtype);
    let more = texts.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let mark = rrset.mark().map(|mark| format!(" of owner `{}`", mark.owner)).unwrap_or_default();
    format!("{rtype} {}{more} with TTL {}{mark}", texts[..texts.len().min(LISTED)].join(", "), rrset.ttl())
}

/// What the plan saw at an RRset's place, in words.
pub fn shown_before(change: &Change) -> String {
    shown_or_nothing(change.key.rtype, change.kind.before())
}

/// An RRset in words, where there is one.
pub fn shown_or_nothing(rtype: Rtype, rrset: Option<&Rrset>) -> String {
    rrset.map_or_else(|| "nothing".to_owned(), |rrset| shown_rrset(rtype, rrset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::fixture::{Side, change, rrset};

    #[test]
    fn a_cname_of_another_editor_is_no_step_of_what_is_to_come() {
        const NONE: Side<'static> = (0, &[]);
        let (one, two): (Side<'_>, Side<'_>) = ((600, &["2a02:6b8::1"]), (600, &["2a02:6b8::2"]));
        let of = |sides| change(("search", Some(1)), ("a.search.example.net", Rtype::AAAA), sides, &[]);
        let cname = Answer::Holds(Rtype::CNAME, rrset(Rtype::CNAME, 600, &["b.example.net."]).unwrap());
        for (sides, is_step_of_nothing, is_step_of_cname) in
            [((NONE, one), true, false), ((one, two), true, false), ((one, NONE), true, true)]
        {
            let change = of(sides);
            assert_eq!(is_between(&change, &Answer::Nothing), is_step_of_nothing, "{sides:?}");
            assert_eq!(is_between(&change, &cname), is_step_of_cname, "{sides:?}");
        }
    }
}
