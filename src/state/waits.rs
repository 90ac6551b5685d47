//! The RRsets that wait to be deleted: since when applies want each to lose records because no host has the name.

use std::collections::BTreeSet;

use rusqlite::{Row, Transaction, params};

use super::sqlite::Sqlite;
use crate::diag::Problem;
use crate::diff::waits::Waits;
use crate::dns::{Name, NameRef, Rtype};
use crate::inventory::value::Time;
use crate::plan::Plan;

/// What an apply of a plan makes of what waits.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WaitNews {
    /// What waits from then on, or again: owner name, type, since when.
    pub begun: Vec<(Name, Rtype, Time)>,
    /// What no longer waits: a host has the name again.
    pub over: Vec<(Name, Rtype)>,
}

impl WaitNews {
    /// Compares a plan that is applied `now` with what waits.
    ///
    /// An RRset that the plan lists as waiting begins to wait now, if it is not noted yet, or is noted with a time in
    /// the future because a clock stepped back: nothing is known about the time between the plan and its apply. An
    /// RRset that the plan does not list no longer waits, if the plan would have to list it: [`Plan::tells_all_waits`].
    /// An RRset that the plan changes waits until that is done.
    pub fn of(plan: &Plan, waits: &Waits, now: Time) -> WaitNews {
        let is_begun = |owner: &Name, rtype: Rtype| waits.since(owner, rtype).is_none_or(|since| since > now);
        let listed = plan.waiting.iter().map(|waiting| (waiting.key.owner.as_name().to_name(), waiting.key.rtype));
        let begun = listed.filter(|(owner, rtype)| is_begun(owner, *rtype));
        let begun = begun.map(|(owner, rtype)| (owner, rtype, now)).collect();
        if !plan.tells_all_waits() {
            return WaitNews { begun, over: Vec::new() };
        }
        let keys = plan.waiting.iter().map(|waiting| &waiting.key).chain(plan.changes.iter().map(|change| &change.key));
        let listed: BTreeSet<(NameRef<'_>, Rtype)> = keys.map(|key| (key.owner.as_name(), key.rtype)).collect();
        let ended = waits.iter().filter(|(owner, rtype, _)| !listed.contains(&(owner.as_name(), *rtype)));
        WaitNews { begun, over: ended.map(|(owner, rtype, _)| (owner.clone(), rtype)).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.over.is_empty()
    }
}

/// All that wait.
pub fn waits(state: &Sqlite) -> Result<Waits, Problem> {
    let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?));
    let rows = state.read("SELECT name, type, since FROM waits", [], row)?;
    let wait = |(name, rtype, since): (String, String, i64)| {
        let (owner, rtype) = state.rrset(&name, &rtype)?;
        Ok((owner, rtype, Time::from_nanos(since)))
    };
    rows.into_iter().map(wait).collect()
}

/// Keeps what an apply makes of what waits.
pub fn note(change: &Transaction<'_>, news: &WaitNews) -> rusqlite::Result<()> {
    let sql = "INSERT INTO waits (name, type, since) VALUES (?1, ?2, ?3)
         ON CONFLICT (name, type) DO UPDATE SET since = excluded.since";
    let mut begin = change.prepare_cached(sql)?;
    for (owner, rtype, since) in &news.begun {
        begin.execute(params![owner.to_string(), rtype.to_string(), since.as_nanos()])?;
    }
    for (owner, rtype) in &news.over {
        end(change, &owner.to_string(), &rtype.to_string())?;
    }
    Ok(())
}

/// Forgets that an RRset waits: it was deleted, or created anew.
pub fn end(change: &Transaction<'_>, name: &str, rtype: &str) -> rusqlite::Result<()> {
    change.prepare_cached("DELETE FROM waits WHERE name = ?1 AND type = ?2")?.execute([name, rtype]).map(drop)
}
