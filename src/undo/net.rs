//! What an apply did in all: one change an RRset, however many updates it took.

use std::collections::HashMap;
use std::fmt;

use crate::change::RrsetText;
use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::dns::{Name, RrKey, Rrset, Rtype, ZoneName};
use crate::state::{ApplyId, SentChange, SentFate, SentUpdate};
use crate::target::PoolName;

/// A change of the journal that is not valid.
#[derive(Debug, PartialEq, Eq)]
pub struct OddChange {
    /// The update.
    pub update: u64,
    /// The owner name.
    pub name: Name,
}

impl fmt::Display for OddChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the change of update {} at `{}` is not a change of that zone", self.update, self.name)
    }
}

/// The changes that an apply made, or may have made, from what was there before the first to what was there after the
/// last; in the order of sending. The reason of each is that its apply is undone, and names the update.
///
/// Updates that provably had no effect do not count. RRsets that an apply changed back are left out.
///
/// `pool_of` gives the pool of a zone.
///
/// Errors: the journal holds something that is never written to it.
pub fn net(
    apply: ApplyId,
    sent: &[SentUpdate],
    pool_of: impl Fn(&ZoneName) -> PoolName,
) -> Result<Vec<Change>, OddChange> {
    let mut spans: Vec<RrsetSpan<'_>> = Vec::new();
    let mut places: HashMap<(&ZoneName, &Name, Rtype), usize> = HashMap::new();
    for update in sent.iter().filter(|update| !matches!(update.fate, SentFate::Undone(_))) {
        for change in &update.changes {
            let next = spans.len();
            match *places.entry((&update.zone, &change.name, change.rtype)).or_insert(next) {
                place if place < next => spans[place] = RrsetSpan { last: (update, change), ..spans[place] },
                _ => spans.push(RrsetSpan { first: change, last: (update, change) }),
            }
        }
    }
    let change = |span: &RrsetSpan<'_>| span.change(apply, pool_of(&span.last.0.zone)).transpose();
    spans.iter().filter_map(change).collect()
}

/// All that an apply did to one RRset.
#[derive(Clone, Copy)]
struct RrsetSpan<'a> {
    /// The first change.
    first: &'a SentChange,
    /// The last one, with its update.
    last: (&'a SentUpdate, &'a SentChange),
}

impl RrsetSpan<'_> {
    /// The one change that results; `None` where nothing changed.
    fn change(&self, apply: ApplyId, pool: PoolName) -> Result<Option<Change>, OddChange> {
        let (update, last) = self.last;
        let odd = || OddChange { update: update.number, name: last.name.clone() };
        let rrset = |kept: &RrsetText| kept.to_rrset(last.rtype).map_err(|_| odd());
        let before: Option<Rrset> = self.first.before.as_ref().map(rrset).transpose()?;
        let after: Option<Rrset> = last.after.as_ref().map(rrset).transpose()?;
        let owner = update.zone.owner(last.name.as_name()).ok_or_else(odd)?;
        let evidence = vec![format!("apply:{}:{}", apply.0, update.number)];
        Ok(ChangeKind::between(before, after).map(|kind| Change {
            pool,
            zone: update.zone.clone(),
            key: RrKey { owner, rtype: last.rtype },
            subject: last.subject.clone(),
            also: last.also.clone(),
            targets: Vec::new(),
            project: last.project.clone(),
            kind,
            reasons: vec![Reason { evidence, rule: Rule::Undo, subject: last.subject.clone() }],
        }))
    }
}
