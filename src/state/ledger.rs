//! What limits and breakers count: the hosts that were changed, the breakers that tripped, and the limits that an
//! operator lifted for an apply.

use super::kept_change::KeptChange;
use super::sql::{SqlDatabase, SqlRow, SqlRows as _, values};
use super::{ApplyId, LiftedLimit, seal};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::guard::{Allowance, Breaker};
use crate::inventory::value::Time;

/// Who resets a breaker, and why.
#[derive(Debug, Clone, Copy)]
pub struct BreakerReset<'a> {
    /// Who; empty where that is unknown.
    pub who: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When.
    pub now: Time,
}

/// What limits and breakers count. What a method wrote is durable when it returns.
pub trait ChangeLedger: Send {
    /// The hosts that were changed since a time, each change of a host once: project, host, when.
    fn changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem>;

    /// The hosts of the updates that were sent since a time with an unknown outcome: project, host, when.
    fn perhaps_changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem>;

    /// The tripped breakers, sorted by scope.
    fn breakers(&self) -> Result<Vec<Breaker>, Problem>;

    /// Trips a breaker. One that is tripped already stays as it is: an operator must look at what tripped it first.
    fn trip(&mut self, breaker: &Breaker) -> Result<(), Problem>;

    /// Resets the breaker of a scope, and keeps who did so and why; gives whether it was tripped.
    fn reset(&mut self, scope: &str, reset: BreakerReset<'_>) -> Result<bool, Problem>;

    /// The limits that were lifted for an apply, sorted by name.
    fn allowed(&self, apply: ApplyId) -> Result<Vec<LiftedLimit>, Problem>;

    /// Keeps that limits are lifted for an apply. Of two numbers for one limit the greater holds.
    fn allow(&mut self, apply: ApplyId, allowed: &[LiftedLimit]) -> Result<(), Problem>;
}

impl<D: SqlDatabase> ChangeLedger for D {
    fn changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem> {
        let sql = "SELECT project, subject, at FROM ledger WHERE at >= ?1 ORDER BY at, apply, subject";
        let changed = |row: &dyn SqlRow| Ok((row.get(0)?, self.subject(&row.get::<String>(1)?)?, row.get(2)?));
        self.rows(sql, values![since], changed)
    }

    fn perhaps_changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem> {
        let sql = format!(
            "{} WHERE (settled IS NULL OR settled = 'unknown') AND sent_at >= ?1
             ORDER BY sent_at, batches.apply, batches.number",
            seal::SENT
        );
        let mut hosts = Vec::new();
        for (batch, changes) in self.rows(&sql, values![since], seal::sent)? {
            let at = Time::from_nanos(batch.sent_at);
            let kept = self.changes(&changes)?;
            let of_host = |KeptChange { subject, project, .. }| Some((project, subject.counted()?, at));
            hosts.extend(kept.into_iter().filter_map(of_host));
        }
        Ok(hosts)
    }

    fn breakers(&self) -> Result<Vec<Breaker>, Problem> {
        let breaker = |row: &dyn SqlRow| Ok(Breaker { scope: row.get(0)?, tripped: row.get(1)?, why: row.get(2)? });
        let mut breakers = self.rows("SELECT scope, tripped, why FROM breakers", &[], breaker)?;
        breakers.sort_by(|a, b| a.scope.cmp(&b.scope));
        Ok(breakers)
    }

    fn trip(&mut self, Breaker { scope, tripped, why }: &Breaker) -> Result<(), Problem> {
        let sql = "INSERT INTO breakers (scope, tripped, why) VALUES (?1, ?2, ?3) ON CONFLICT (scope) DO NOTHING";
        self.write(|change| change.execute(sql, values![scope, tripped, why]).map(drop))
    }

    fn reset(&mut self, scope: &str, reset: BreakerReset<'_>) -> Result<bool, Problem> {
        let BreakerReset { who, reason, now } = reset;
        self.write(|change| {
            let sql = "INSERT INTO breaker_resets (scope, tripped, why, at, who, reason)
                 SELECT scope, tripped, why, ?2, ?3, ?4 FROM breakers WHERE scope = ?1";
            change.execute(sql, values![scope, now, who, reason])?;
            Ok(change.execute("DELETE FROM breakers WHERE scope = ?1", values![scope])? > 0)
        })
    }

    fn allowed(&self, apply: ApplyId) -> Result<Vec<LiftedLimit>, Problem> {
        let allowed = |row: &dyn SqlRow| {
            let allowance = Allowance { name: row.get(0)?, number: row.get::<i64>(1)? as u64 };
            Ok(LiftedLimit { allowance, effect: row.get(2)?, at: row.get(3)?, who: row.get(4)? })
        };
        let sql = "SELECT name, number, effect, at, who FROM allowances WHERE apply = ?1";
        let mut found = self.rows(sql, values![apply], allowed)?;
        found.sort_by(|a, b| a.allowance.name.cmp(&b.allowance.name));
        Ok(found)
    }

    fn allow(&mut self, apply: ApplyId, allowed: &[LiftedLimit]) -> Result<(), Problem> {
        let sql = "INSERT INTO allowances (apply, name, number, effect, at, who) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (apply, name)
             DO UPDATE SET number = excluded.number, effect = excluded.effect, at = excluded.at, who = excluded.who
             WHERE excluded.number >= allowances.number";
        self.write(|change| {
            for LiftedLimit { allowance: Allowance { name, number }, effect, at, who } in allowed {
                change.execute(sql, values![apply, name, *number as i64, effect, at, who])?;
            }
            Ok(())
        })
    }
}
