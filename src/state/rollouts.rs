//! What is remembered between the waves of rollouts: changes that may not have reached all clients, batches, and what
//! waits.
//!
//! A row of a change is on disk before the first message of it, in one transaction with the entry of the journal. Which
//! updates had it, and when its zones were served, is kept with it.

use std::collections::{BTreeMap, BTreeSet};

use super::ApplyId;
use super::approvals;
use super::gates::{GateAsked, GateOutcome};
use super::kept_change::KeptChange;
use super::sql::{SqlChange, SqlDatabase, SqlRead, SqlRow, SqlRows as _, values};
use crate::apply::Batch;
use crate::change::RrsetText;
use crate::change::reach::is_address_type;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::value::{Duration, Time};
use crate::plan::{WaitCode, WaitingSubject};
use crate::rollout::{
    FluxRow, FluxStage, FormerRrset, GroupBatch, ProbeResult, RolloutChoice, RolloutMemory, WaitRecord,
};

/// The TTLs that RRsets had before, by name and type.
pub type FormerTtls = BTreeMap<(String, String), Duration>;

/// What is remembered between waves. What a method wrote is durable when it returns.
pub trait RolloutRegister: Send {
    /// All of it.
    fn rollouts(&self) -> Result<RolloutMemory, Problem>;

    /// Keeps what goes with a further wave of an apply that runs.
    fn begin_wave(&mut self, apply: ApplyId, choice: &RolloutChoice) -> Result<(), Problem>;

    /// Keeps what waits and what no longer does, for an apply that sends nothing.
    fn note_waves(&mut self, choice: &RolloutChoice) -> Result<(), Problem>;

    /// The largest TTL that each of these RRsets, by name and type, had before a change that was less than that TTL ago.
    fn former_ttls(&self, asked: &BTreeSet<(String, String)>, now: Time) -> Result<FormerTtls, Problem>;

    /// Which of these RRsets, by name and type, got other values in the place of live ones since then.
    fn moved_since(
        &self,
        asked: &BTreeSet<(String, String)>,
        since: Time,
    ) -> Result<BTreeSet<(String, String)>, Problem>;

    /// The applies with a change that is not known to be served, ascending.
    fn unserved(&self) -> Result<Vec<ApplyId>, Problem>;

    /// Gives up the updates of an apply that were sent before a time, whose outcome is not known, and that did not take effect
    /// until now: nothing of them is in flux any longer.
    fn give_up(&mut self, apply: ApplyId, before: Time) -> Result<(), Problem>;

    /// Keeps whether subjects answered their probe after a change, by the subject and the apply.
    fn note_answers(&mut self, answers: &[ProbeResult]) -> Result<(), Problem>;

    /// Keeps what gates said before a wave of an apply.
    fn note_gates(&mut self, apply: ApplyId, asked: &[GateAsked]) -> Result<(), Problem>;

    /// What gates said before the waves of an apply, in the order in which they were asked.
    fn gates_asked(&self, apply: ApplyId) -> Result<Vec<GateAsked>, Problem>;

    /// Finds out, while no apply runs, which changes were never made and which zones are served.
    fn settle_flux(&mut self, now: Time) -> Result<(), Problem>;
}

impl<D: SqlDatabase> RolloutRegister for D {
    fn rollouts(&self) -> Result<RolloutMemory, Problem> {
        let (flux, batches, waits, latest) = (flux(self)?, batches(self)?, waits(self)?, latest(self)?);
        let mut memory = RolloutMemory { flux, batches, waits, latest };
        memory.end_replaced();
        Ok(memory)
    }

    fn begin_wave(&mut self, apply: ApplyId, choice: &RolloutChoice) -> Result<(), Problem> {
        self.write(|change| begin_wave(change, apply, choice))
    }

    fn note_waves(&mut self, choice: &RolloutChoice) -> Result<(), Problem> {
        self.write(|change| keep_waits(change, choice))
    }

    fn former_ttls(&self, asked: &BTreeSet<(String, String)>, now: Time) -> Result<FormerTtls, Problem> {
        former_ttls(self, asked, now)
    }

    fn moved_since(
        &self,
        asked: &BTreeSet<(String, String)>,
        since: Time,
    ) -> Result<BTreeSet<(String, String)>, Problem> {
        if asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let sql = "SELECT c.changes FROM batches b JOIN batch_changes c ON c.apply = b.apply AND c.number = b.number
             WHERE b.sent_at >= ?1 AND (b.settled IS NULL OR b.settled <> 'undone')";
        let mut moved = BTreeSet::new();
        for changes in self.rows(sql, values![since], |row| row.get::<String>(0))? {
            let replaced =
                self.changes(&changes)?.into_iter().filter(|kept| kept.before.is_some() && kept.after.is_some());
            moved.extend(replaced.map(|kept| (kept.name, kept.rtype)).filter(|key| asked.contains(key)));
        }
        Ok(moved)
    }

    fn unserved(&self) -> Result<Vec<ApplyId>, Problem> {
        let sql =
            format!("SELECT DISTINCT z.apply FROM flux_zones z WHERE z.served IS NULL AND {COUNTS} ORDER BY z.apply");
        self.rows(&sql, &[], |row| row.get(0))
    }

    fn give_up(&mut self, apply: ApplyId, before: Time) -> Result<(), Problem> {
        let sql = "UPDATE flux_updates SET is_lost = 1 WHERE apply = ?1 AND is_lost = 0 AND number IN
             (SELECT number FROM batches WHERE apply = ?1 AND (settled IS NULL OR settled = 'unknown') AND sent_at < ?2)";
        self.write(|change| change.execute(sql, values![apply, before]).map(drop))
    }

    fn note_answers(&mut self, answers: &[ProbeResult]) -> Result<(), Problem> {
        if answers.is_empty() {
            return Ok(());
        }
        let sql = "UPDATE flux SET answer = ?3 WHERE subject = ?1 AND apply = ?2";
        let note = |change: &dyn SqlChange, ProbeResult { subject, apply, answered }: &ProbeResult| {
            change.execute(sql, values![subject.to_string(), *apply as i64, *answered]).map(drop)
        };
        self.write(|change| answers.iter().try_for_each(|answer| note(change, answer)))
    }

    fn note_gates(&mut self, apply: ApplyId, asked: &[GateAsked]) -> Result<(), Problem> {
        if asked.is_empty() {
            return Ok(());
        }
        let sql =
            "INSERT INTO gates_asked (apply, at, group_name, gate, outcome, said) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let note = |change: &dyn SqlChange, GateAsked { at, group, gate, outcome, said }: &GateAsked| {
            change.execute(sql, values![apply, at, group, gate, outcome.as_str(), said]).map(drop)
        };
        self.write(|change| asked.iter().try_for_each(|asked| note(change, asked)))
    }

    fn gates_asked(&self, apply: ApplyId) -> Result<Vec<GateAsked>, Problem> {
        let sql = "SELECT at, group_name, gate, outcome, said FROM gates_asked WHERE apply = ?1 ORDER BY at, group_name, gate";
        self.rows(sql, values![apply], |row| {
            let outcome = row.get::<String>(3)?;
            let outcome = GateOutcome::parse(&outcome).ok_or_else(|| self.odd("outcome of a gate", &outcome))?;
            Ok(GateAsked { at: row.get(0)?, group: row.get(1)?, gate: row.get(2)?, outcome, said: row.get(4)? })
        })
    }

    fn settle_flux(&mut self, now: Time) -> Result<(), Problem> {
        // Most states have no rollout, and a transaction that writes nothing costs a sync all the same.
        if self.row("SELECT 1 FROM flux LIMIT 1", &[], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        self.write(|change| {
            let sql = format!("UPDATE flux SET is_over = 1 WHERE is_over = 0 AND NOT {MADE}");
            change.execute(&sql, &[])?;
            keep_latest(change, Some(now))?;
            serve(change, StepsKnown::All, now)
        })
    }
}

/// Whether an update with a change of a row of `flux` may have taken effect.
const MADE: &str = "EXISTS (SELECT 1 FROM flux_updates u JOIN batches b ON b.apply = u.apply AND b.number = u.number
     WHERE u.apply = flux.apply AND u.subject = flux.subject AND u.is_lost = 0
       AND (b.settled IS NULL OR b.settled <> 'undone'))";

/// Whether a zone of a row of `flux` counts: an update of it may have taken effect.
const COUNTS: &str = "EXISTS (SELECT 1 FROM flux_updates u JOIN batches b ON b.apply = u.apply AND b.number = u.number
     WHERE u.apply = z.apply AND u.subject = z.subject AND b.pool = z.pool AND b.zone = z.zone AND u.is_lost = 0
       AND (b.settled IS NULL OR b.settled <> 'undone'))";

/// Keeps the rows of what an apply is about to change, and what waits.
pub fn begin_wave(change: &dyn SqlChange, apply: ApplyId, choice: &RolloutChoice) -> Result<(), Problem> {
    if !choice.flux.is_empty() {
        keep_latest(change, None)?;
    }
    approvals::use_tasks(change, &choice.approved)?;
    approvals::note_given(change, apply, choice)?;
    for (subject, former) in &choice.outdated {
        for table in ["flux", "flux_zones", "flux_updates"] {
            let sql = format!("DELETE FROM {table} WHERE subject = ?1 AND apply = ?2");
            change.execute(&sql, values![subject.to_string(), *former as i64])?;
        }
    }
    // A later part of an apply: what it had stays known, and it settles anew.
    let sql =
        "INSERT INTO flux (subject, apply, group_name, location, settle, is_disruptive, is_repair, canary_of, former,
           gave, is_down, wanted, affected, is_over) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0)
         ON CONFLICT (subject, apply) DO UPDATE SET is_over = 0, gave = excluded.gave, answer = NULL,
           wanted = COALESCE(excluded.wanted, flux.wanted),
           affected = CASE WHEN excluded.affected = '[]' THEN flux.affected ELSE excluded.affected END,
           settle = CASE WHEN flux.settle > excluded.settle THEN flux.settle ELSE excluded.settle END,
           is_disruptive = CASE WHEN flux.is_disruptive = 1 THEN 1 ELSE excluded.is_disruptive END";
    for row in &choice.flux {
        let FluxRow {
            subject,
            group,
            location,
            settle,
            is_disruptive,
            is_repair,
            canary_of,
            before,
            affected,
            gave,
            is_down,
            wanted,
            ..
        } = row;
        let (subject, settle) = (subject.to_string(), settle.as_secs() as i64);
        let canary_of = canary_of.map(|batch| batch as i64);
        let former = serde_json::to_string(before).expect("texts are JSON");
        let gave = serde_json::to_string(gave).expect("addresses are JSON");
        let affected: Vec<String> = affected.iter().map(Subject::to_string).collect();
        let affected = serde_json::to_string(&affected).expect("texts are JSON");
        let wanted = wanted.as_ref().map(|wanted| serde_json::to_string(wanted).expect("texts are JSON"));
        #[rustfmt::skip]
        change.execute(sql, values![
            subject, apply, group, location, settle, *is_disruptive, *is_repair, canary_of, former, gave, *is_down, wanted,
            affected,
        ])?;
    }
    keep_waits(change, choice)
}

/// Keeps the batches, what waits, and what no longer does.
fn keep_waits(change: &dyn SqlChange, choice: &RolloutChoice) -> Result<(), Problem> {
    let sql = "INSERT INTO rollout_batches (group_name, number, is_canary_settled, in_service) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (group_name) DO UPDATE SET number = excluded.number,
           is_canary_settled = excluded.is_canary_settled, in_service = excluded.in_service
         WHERE rollout_batches.number <> excluded.number
           OR rollout_batches.is_canary_settled <> excluded.is_canary_settled
           OR rollout_batches.in_service <> excluded.in_service";
    for (group, GroupBatch { number, is_canary_settled, in_service }) in &choice.batches {
        change.execute(sql, values![group, *number as i64, *is_canary_settled, *in_service as i64])?;
    }
    let sql = "INSERT INTO rollout_waits (subject, project, group_name, batch, since, code, until, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (subject) DO UPDATE SET project = excluded.project, group_name = excluded.group_name,
           batch = excluded.batch, since = excluded.since, code = excluded.code, until = excluded.until,
           message = excluded.message";
    for WaitRecord { wait, group, batch } in choice.waits.values().chain(choice.between.values()) {
        let WaitingSubject { code, message, project, since, subject, until } = wait;
        let subject = subject.to_string();
        change.execute(sql, values![subject, project, group, *batch as i64, since, code.as_str(), until, message])?;
    }
    let sql = "DELETE FROM rollout_waits WHERE subject = ?1";
    choice.ended.iter().try_for_each(|subject| change.execute(sql, values![subject.to_string()]).map(drop))
}

/// Keeps that an update is about to be sent, for the rows whose changes it has.
pub fn note_sending(change: &dyn SqlChange, apply: ApplyId, batch: &Batch<'_>) -> Result<(), Problem> {
    if change.row("SELECT 1 FROM flux WHERE apply = ?1 LIMIT 1", values![apply], |_| Ok(()))?.is_none() {
        return Ok(());
    }
    let (number, pool, zone) = (batch.number as i64, batch.copy.target.pool.to_string(), batch.copy.zone.to_string());
    let mut subjects: Vec<String> =
        batch.changes.iter().flat_map(|change| change.subjects()).map(Subject::to_string).collect();
    subjects.sort_unstable();
    subjects.dedup();
    let update = "INSERT INTO flux_updates (apply, number, subject, is_lost)
         SELECT ?1, ?2, ?3, 0 WHERE EXISTS (SELECT 1 FROM flux WHERE apply = ?1 AND subject = ?3)
         ON CONFLICT DO NOTHING";
    let of_zone = "INSERT INTO flux_zones (apply, subject, pool, zone, after_step, served)
         SELECT ?1, ?2, ?3, ?4, ?5, NULL WHERE EXISTS (SELECT 1 FROM flux WHERE apply = ?1 AND subject = ?2)
         ON CONFLICT (apply, subject, pool, zone) DO UPDATE SET after_step = excluded.after_step, served = NULL";
    let step = "SELECT COALESCE(max(step), 0) FROM zone_steps WHERE pool = ?1 AND zone = ?2";
    let step = change.row(step, values![pool, zone], |row| row.get::<i64>(0))?.unwrap_or(0);
    for subject in subjects {
        change.execute(update, values![apply, number, subject])?;
        change.execute(of_zone, values![apply, subject, pool, zone, step])?;
    }
    Ok(())
}

/// Notes that an update took effect: what took the old addresses of a subject is no longer in between.
pub fn note_done<C: AsRef<[KeptChange]>>(
    change: &dyn SqlChange,
    apply: ApplyId,
    changes: impl FnOnce() -> C,
) -> Result<(), Problem> {
    let is_any = "SELECT 1 FROM flux WHERE apply = ?1 AND wanted IS NOT NULL LIMIT 1";
    if change.row(is_any, values![apply], |_| Ok(()))?.is_none() {
        return Ok(());
    }
    let sql = "SELECT wanted FROM flux WHERE apply = ?1 AND subject = ?2";
    for taking in changes().as_ref() {
        let (name, rtype) = change.rrset(&taking.name, &taking.rtype)?;
        let values = |side: &Option<RrsetText>| side.as_ref().map(|side| side.rdata.clone()).unwrap_or_default();
        let (before, after) = (values(&taking.before), values(&taking.after));
        if !is_address_type(rtype) || before.iter().all(|value| after.contains(value)) {
            continue;
        }
        let left = FormerRrset { name, rtype, values: after };
        for subject in std::iter::once(&taking.subject).chain(&taking.also).map(Subject::to_string) {
            let wanted = change.row(sql, values![apply, subject], |row| row.get::<Option<String>>(0))?.flatten();
            let wanted: Vec<FormerRrset> = wanted.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            if wanted.contains(&left) {
                let sql = "UPDATE flux SET wanted = NULL WHERE apply = ?1 AND subject = ?2";
                change.execute(sql, values![apply, subject])?;
            }
        }
    }
    Ok(())
}

/// Whether the steps of all that was sent are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepsKnown {
    /// They are, also those of runs that died.
    All,
    /// Those of some zones are.
    Some,
}

/// Keeps since when the zones of changes are served: when nothing of the zone is pending or in error, the outcome of all
/// updates with the change is known, and what they did is recorded as a step.
pub fn serve(change: &dyn SqlChange, known: StepsKnown, now: Time) -> Result<(), Problem> {
    // The open rows are few, and have an index; a look at the rows of each zone would cost the square of a wave.
    let is_recorded = match known {
        StepsKnown::All => "",
        StepsKnown::Some => {
            "AND EXISTS (SELECT 1 FROM zone_steps s WHERE s.pool = flux_zones.pool AND s.zone = flux_zones.zone
                           AND s.apply = flux_zones.apply AND s.step > flux_zones.after_step)"
        }
    };
    let sql = &format!(
        "UPDATE flux_zones SET served = ?1 WHERE served IS NULL
         AND (pool, zone) NOT IN (SELECT pool, zone FROM rrset_rows WHERE status IN ('PENDING', 'ERROR'))
         AND NOT EXISTS (SELECT 1 FROM flux_updates u JOIN batches b ON b.apply = u.apply AND b.number = u.number
                         WHERE u.apply = flux_zones.apply AND u.subject = flux_zones.subject AND u.is_lost = 0
                           AND (b.settled IS NULL OR b.settled = 'unknown'))
         {is_recorded}"
    );
    // A clock that was set back must not let a change seem to be served before it was made.
    let served = latest(change)?.map_or(now, |latest| latest.max(now));
    change.execute(sql, values![served]).map(drop)
}

/// The latest time that a run noted.
fn latest(state: &(impl SqlRead + ?Sized)) -> Result<Option<Time>, Problem> {
    let times = [
        "SELECT max(started) FROM applies",
        "SELECT max(finished) FROM applies",
        "SELECT max(served) FROM flux_zones",
        "SELECT max(latest) FROM rollout_clock",
    ];
    let time = |sql| Ok(state.row(sql, &[], |row| row.get::<Option<Time>>(0))?.flatten());
    times.into_iter().try_fold(None, |latest, sql| Ok(time(sql)?.max(latest)))
}

/// Keeps the latest time apart from what it is known of: rows that have settled are deleted, and an apply that is resumed
/// has not ended. Without it, a clock that was set back would then bring back what has settled.
fn keep_latest(change: &dyn SqlChange, now: Option<Time>) -> Result<(), Problem> {
    let sql = "INSERT INTO rollout_clock (one, latest) VALUES (1, ?1)
         ON CONFLICT (one) DO UPDATE SET latest = excluded.latest";
    latest(change)?.max(now).map_or(Ok(()), |latest| change.execute(sql, values![latest]).map(drop))
}

/// The rows of changes, sorted by subject and apply.
fn flux(state: &impl SqlRead) -> Result<Vec<FluxRow>, Problem> {
    let sql = format!(
        "SELECT flux.subject, flux.apply, flux.group_name, flux.location, flux.settle, flux.is_disruptive,
           flux.is_repair, flux.canary_of, flux.former,
           flux.is_over = 1 OR (a.finished IS NOT NULL AND NOT {MADE}),
           NOT {MADE} OR EXISTS (SELECT 1 FROM flux_zones z WHERE z.apply = flux.apply AND z.subject = flux.subject
                   AND z.served IS NULL AND {COUNTS}),
           (SELECT max(z.served) FROM flux_zones z
              WHERE z.apply = flux.apply AND z.subject = flux.subject AND {COUNTS}),
           flux.gave, flux.answer, flux.is_down, flux.wanted, flux.affected
         FROM flux JOIN applies a ON a.id = flux.apply"
    );
    let mut rows = state.rows(&sql, &[], |row| flux_row(state, row))?;
    rows.sort_by(|a, b| (&a.subject, a.apply).cmp(&(&b.subject, b.apply)));
    Ok(rows)
}

/// Reads a row of a change.
fn flux_row(state: &impl SqlRead, row: &dyn SqlRow) -> Result<FluxRow, Problem> {
    let rrsets = |text: String| serde_json::from_str(&text).map_err(|_| state.odd("list of RRsets", &text));
    let before: Vec<FormerRrset> = rrsets(row.get(8)?)?;
    let gave = row.get::<String>(12)?;
    let affected = row.get::<String>(16)?;
    let hosts: Vec<String> = serde_json::from_str(&affected).map_err(|_| state.odd("list of hosts", &affected))?;
    let hosts = hosts.iter().map(|host| host.parse().map_err(|_| state.odd("subject", host)));
    let wanted = row.get::<Option<String>>(15)?.map(rrsets).transpose()?;
    let (is_not_made, is_open) = (row.get::<bool>(9)?, row.get::<bool>(10)?);
    let stage = match row.get::<Option<Time>>(11)? {
        _ if is_not_made => FluxStage::NotMade,
        Some(served) if !is_open => FluxStage::ServedSince(served),
        _ => FluxStage::NotServed,
    };
    Ok(FluxRow {
        subject: subject(state, row)?,
        apply: row.get::<ApplyId>(1)?.0,
        group: row.get(2)?,
        location: row.get(3)?,
        settle: Duration::from_secs(row.get::<i64>(4)? as u64),
        is_disruptive: row.get(5)?,
        is_repair: row.get(6)?,
        canary_of: row.get::<Option<i64>>(7)?.map(|batch| batch as u64),
        before,
        affected: hosts.collect::<Result<_, Problem>>()?,
        gave: serde_json::from_str(&gave).map_err(|_| state.odd("list of addresses", &gave))?,
        stage,
        answer: row.get(13)?,
        is_down: row.get(14)?,
        wanted,
    })
}

/// The subject in the first column.
fn subject(state: &impl SqlRead, row: &dyn SqlRow) -> Result<Subject, Problem> {
    let text = row.get::<String>(0)?;
    text.parse().map_err(|_| state.odd("subject", &text))
}

/// The batches, by group.
fn batches(state: &impl SqlRead) -> Result<BTreeMap<String, GroupBatch>, Problem> {
    let sql = "SELECT group_name, number, is_canary_settled, in_service FROM rollout_batches";
    let batch = |row: &dyn SqlRow| {
        let (number, in_service) = (row.get::<i64>(1)? as u64, row.get::<i64>(3)? as u64);
        Ok((row.get(0)?, GroupBatch { number, is_canary_settled: row.get(2)?, in_service }))
    };
    Ok(state.rows(sql, &[], batch)?.into_iter().collect())
}

/// What waits, by subject.
fn waits(state: &impl SqlRead) -> Result<BTreeMap<Subject, WaitRecord>, Problem> {
    let sql = "SELECT subject, project, group_name, batch, since, code, until, message FROM rollout_waits";
    let wait = |row: &dyn SqlRow| {
        let subject = subject(state, row)?;
        let code = row.get::<String>(5)?;
        let code = WaitCode::parse(&code).ok_or_else(|| state.odd("cause of a wait", &code))?;
        let (project, since, until, message) = (row.get(1)?, row.get(4)?, row.get(6)?, row.get(7)?);
        let wait = WaitingSubject { code, message, project, since, subject: subject.clone(), until };
        Ok((subject, WaitRecord { wait, group: row.get(2)?, batch: row.get::<i64>(3)? as u64 }))
    };
    Ok(state.rows(sql, &[], wait)?.into_iter().collect())
}

/// The TTLs of RRsets before changes; an update whose outcome is not known counts as made.
fn former_ttls(state: &impl SqlRead, asked: &BTreeSet<(String, String)>, now: Time) -> Result<FormerTtls, Problem> {
    if asked.is_empty() {
        return Ok(FormerTtls::new());
    }
    // What was there before is served until the zone is, by the latest change of the update.
    let sql = "SELECT c.changes, COALESCE(b.settled_at, b.sent_at),
           (SELECT max(z.served) FROM flux_zones z WHERE z.apply = b.apply AND z.pool = b.pool AND z.zone = b.zone),
           EXISTS (SELECT 1 FROM flux_zones z
                   WHERE z.apply = b.apply AND z.pool = b.pool AND z.zone = b.zone AND z.served IS NULL)
         FROM batches b JOIN batch_changes c ON c.apply = b.apply AND c.number = b.number
         WHERE b.sent_at >= ?1 AND (b.settled IS NULL OR b.settled <> 'undone')";
    let since = now.minus(LONGEST);
    let read = |row: &dyn SqlRow| {
        let (made, served) = (row.get::<Time>(1)?, row.get::<Option<Time>>(2)?);
        let ended = if row.get::<bool>(3)? { now } else { served.map_or(made, |served| served.max(made)) };
        Ok((row.get::<String>(0)?, ended))
    };
    let mut ttls = FormerTtls::new();
    for (changes, at) in state.rows(sql, values![since], read)? {
        for kept in state.changes(&changes)? {
            let (Some(before), key) = (kept.before, (kept.name, kept.rtype)) else { continue };
            let ttl = Duration::from_secs(u64::from(before.ttl));
            if now < at.plus(ttl) && asked.contains(&key) {
                let known = ttls.entry(key).or_insert(ttl);
                *known = ttl.max(*known);
            }
        }
    }
    Ok(ttls)
}

/// Longer ago no change counts: caches hold records for a week at most (RFC 8767 section 4).
const LONGEST: Duration = Duration::from_secs(604_800);
