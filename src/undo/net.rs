//! What an apply did in all: one change an RRset, however many updates it took.

use std::collections::HashMap;
use std::fmt;

use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::dns::{Name, RrKey, Rrset, Rtype, ZoneName};
use crate::state::{ApplyId, KeptRrset, Sent, SentChange, SentFate};

/// A change of the journal that is not valid.
#[derive(Debug, PartialEq, Eq)]
pub struct Odd {
    /// The update.
    pub update: u64,
    /// The owner name.
    pub name: Name,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the change of update {} at `{}` is not a change of that zone", self.update, self.name)
    }
}

/// The changes that an apply made, or may have made, from what was there before the first to what was there after the
/// last; in the order of sending. The reason of each is that its apply is undone, and names the update.
///
/// Updates that provably had no effect do not count. RRsets that an apply changed back are left out.
///
/// Errors: the journal holds something that is never written to it.
pub fn net(apply: ApplyId, sent: &[Sent]) -> Result<Vec<Change>, Odd> {
    let mut spans: Vec<Span<'_>> = Vec::new();
    let mut places: HashMap<(&ZoneName, &Name, Rtype), usize> = HashMap::new();
    for update in sent.iter().filter(|update| !matches!(update.fate, SentFate::Undone(_))) {
        for change in &update.changes {
            let next = spans.len();
            match *places.entry((&update.zone, &change.name, change.rtype)).or_insert(next) {
                place if place < next => spans[place] = Span { last: (update, change), ..spans[place] },
                _ => spans.push(Span { first: change, last: (update, change) }),
            }
        }
    }
    spans.iter().filter_map(|span| span.change(apply).transpose()).collect()
}

/// All that an apply did to one RRset.
#[derive(Clone, Copy)]
struct Span<'a> {
    /// The first change.
    first: &'a SentChange,
    /// The last one, with its update.
    last: (&'a Sent, &'a SentChange),
}

impl Span<'_> {
    /// The one change that results; `None` where nothing changed.
    fn change(&self, apply: ApplyId) -> Result<Option<Change>, Odd> {
        let (update, last) = self.last;
        let odd = || Odd { update: update.number, name: last.name.clone() };
        let rrset = |kept: &KeptRrset| kept.to_rrset(last.rtype).ok_or_else(odd);
        let before: Option<Rrset> = self.first.before.as_ref().map(rrset).transpose()?;
        let after: Option<Rrset> = last.after.as_ref().map(rrset).transpose()?;
        let owner = update.zone.owner(last.name.as_name()).ok_or_else(odd)?;
        let evidence = vec![format!("apply:{}:{}", apply.0, update.number)];
        Ok(ChangeKind::between(before, after).map(|kind| Change {
            zone: update.zone.clone(),
            key: RrKey { owner, rtype: last.rtype },
            host: last.host,
            also: last.also.clone(),
            project: last.project.clone(),
            kind,
            reasons: vec![Reason { rule: Rule::Undo, host: last.host, evidence }],
        }))
    }
}
