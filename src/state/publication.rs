//! Whether what was applied is served: the steps of zones, the rows of servers, and the statuses of RRsets.

use std::collections::BTreeMap;

use super::ApplyId;
use super::rollouts::{self, StepsKnown};
use super::sql::{SqlChange, SqlDatabase, SqlRead, SqlRow, SqlRows as _, SqlValue, values};
use crate::consensus::{
    RrsetPublication, RrsetStatus, RrsetTask, ServerFault, ServerRow, StepNumber, StepSerial, TargetStanding, TimedRow,
    VoterId, ZoneRecord, ZoneRrsets, ZoneStatus,
};
use crate::diag::Problem;
use crate::dns::{Name, Rtype, Serial};
use crate::inventory::value::Time;
use crate::target::{PoolName, ZoneId};

/// What the rows of name servers and voting targets are about; others are for zones that are made and removed.
const UPDATE: &str = "UPDATE";

/// What is remembered of a zone, with the zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedZone {
    /// The zone.
    pub zone: ZoneId,
    /// What is remembered.
    pub record: ZoneRecord,
    /// The apply whose step is new since the record was read; none where none is.
    pub begun: Option<ApplyId>,
}

/// A row of a server, for reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStanding {
    /// Which.
    pub voter: VoterId,
    /// The row.
    pub kept: TimedRow,
}

/// A row of an RRset, for reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetStanding {
    /// The zone.
    pub zone: ZoneId,
    /// The owner name.
    pub name: Name,
    /// The type.
    pub rtype: Rtype,
    /// The apply that made its step.
    pub apply: ApplyId,
    /// The row.
    pub row: RrsetPublication,
}

/// All rows of a zone, for reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZonePublication {
    /// The zone.
    pub zone: ZoneId,
    /// Its status.
    pub status: ZoneStatus,
    /// The newest step.
    pub newest: StepNumber,
    /// The consensus step.
    pub consensus: StepNumber,
    /// The rows of servers, sorted by target and address.
    pub servers: Vec<ServerStanding>,
    /// The rows of RRsets, sorted by name and type.
    pub rrsets: Vec<RrsetStanding>,
}

/// How many RRsets of a pool have a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetTally {
    /// The pool.
    pub pool: PoolName,
    /// The status.
    pub status: RrsetStatus,
    /// How many.
    pub count: usize,
}

/// Whether what was applied is served. What a method wrote is durable when it returns.
pub trait PublicationRecord: Send {
    /// What is remembered of a zone, with the RRsets that are open; an empty record where it has no step.
    fn zone_record(&self, zone: &ZoneId) -> Result<ZoneRecord, Problem>;

    /// The zones that have steps, sorted by pool and name.
    fn zones_with_steps(&self) -> Result<Vec<ZoneId>, Problem>;

    /// The RRsets of a zone that have a row at a step of this apply or at a later step, each with when that was recorded.
    fn rrsets_since(&self, zone: &ZoneId, apply: ApplyId) -> Result<BTreeMap<(Name, Rtype), Time>, Problem>;

    /// The rows of the RRsets of a zone that a step after this one changed last, whatever their statuses.
    fn rrset_rows_after(&self, zone: &ZoneId, step: StepNumber) -> Result<ZoneRrsets, Problem>;

    /// Keeps all of these records, in one transaction.
    fn keep_records(&mut self, zones: &[RecordedZone], now: Time) -> Result<(), Problem>;

    /// All rows of the zones of a pool, sorted by the name of the zone.
    fn publications(&self, pool: &PoolName) -> Result<Vec<ZonePublication>, Problem>;

    /// The rows of the RRsets whose last step an apply made, sorted by zone, name and type.
    fn published_by(&self, apply: ApplyId) -> Result<Vec<RrsetStanding>, Problem>;

    /// How many RRsets of each pool have each status that occurs.
    fn rrset_tallies(&self) -> Result<Vec<RrsetTally>, Problem>;
}

impl<D: SqlDatabase> PublicationRecord for D {
    fn zone_record(&self, zone: &ZoneId) -> Result<ZoneRecord, Problem> {
        Ok(ZoneRecord {
            newest: step_in(self, "SELECT max(step) FROM zone_steps WHERE pool = ?1 AND zone = ?2", zone)?,
            consensus: step_in(self, "SELECT max(step) FROM zone_consensus WHERE pool = ?1 AND zone = ?2", zone)?,
            targets: targets(self, zone)?,
            servers: servers(self, zone)?,
            rrsets: open_rrsets(self, zone)?,
        })
    }

    fn zones_with_steps(&self) -> Result<Vec<ZoneId>, Problem> {
        let sql = "SELECT DISTINCT pool, zone FROM zone_steps";
        let mut zones = self.rows(sql, &[], |row| zone_id(self, row))?;
        zones.sort();
        Ok(zones)
    }

    fn rrsets_since(&self, zone: &ZoneId, apply: ApplyId) -> Result<BTreeMap<(Name, Rtype), Time>, Problem> {
        let sql = "SELECT r.name, r.type, s.at FROM rrset_rows r
             JOIN zone_steps s ON s.pool = r.pool AND s.zone = r.zone AND s.step = r.step
             WHERE r.pool = ?1 AND r.zone = ?2
             AND r.step >= (SELECT min(step) FROM zone_steps WHERE pool = ?1 AND zone = ?2 AND apply = ?3)";
        let (pool, name) = columns(zone);
        let told = |row: &dyn SqlRow| Ok((self.rrset(&row.get::<String>(0)?, &row.get::<String>(1)?)?, row.get(2)?));
        Ok(self.rows(sql, values![pool, name, apply], told)?.into_iter().collect())
    }

    fn rrset_rows_after(&self, zone: &ZoneId, step: StepNumber) -> Result<ZoneRrsets, Problem> {
        let (pool, name) = columns(zone);
        rrsets(self, "step > ?3", values![pool, name, number(step)])
    }

    fn keep_records(&mut self, zones: &[RecordedZone], now: Time) -> Result<(), Problem> {
        self.write(|change| {
            zones.iter().try_for_each(|zone| keep(change, zone, now))?;
            rollouts::serve(change, StepsKnown::Some, now)
        })
    }

    fn publications(&self, pool: &PoolName) -> Result<Vec<ZonePublication>, Problem> {
        let of_pool = self.zones_with_steps()?.into_iter().filter(|zone| zone.pool == *pool);
        of_pool.map(|zone| publication(self, zone)).collect()
    }

    fn published_by(&self, apply: ApplyId) -> Result<Vec<RrsetStanding>, Problem> {
        let sql = format!("{PUBLISHED} WHERE s.apply = ?1");
        let mut rrsets = self.rows(&sql, values![apply], |row| published(self, row))?;
        sort(&mut rrsets);
        Ok(rrsets)
    }

    fn rrset_tallies(&self) -> Result<Vec<RrsetTally>, Problem> {
        let sql = "SELECT pool, status, count(*) FROM rrset_rows GROUP BY pool, status";
        self.rows(sql, &[], |row| {
            let (pool, status) = (row.get::<String>(0)?, row.get::<String>(1)?);
            let pool = pool.parse().map_err(|_| self.odd("name of a pool", &pool))?;
            let status = RrsetStatus::parse(&status).ok_or_else(|| self.odd("status of an RRset", &status))?;
            Ok(RrsetTally { pool, status, count: row.get::<i64>(2)? as usize })
        })
    }
}

/// The rows of RRsets with the apply of their step, to be limited.
const PUBLISHED: &str = "SELECT r.pool, r.zone, r.name, r.type, r.step, r.task, r.status, s.apply
     FROM rrset_rows r JOIN zone_steps s ON s.pool = r.pool AND s.zone = r.zone AND s.step = r.step";

/// A zone in the columns `pool` and `zone`.
fn columns(zone: &ZoneId) -> (String, String) {
    (zone.pool.to_string(), zone.name.to_string())
}

/// Reads the zone in the first two columns.
fn zone_id(state: &(impl SqlRead + ?Sized), row: &dyn SqlRow) -> Result<ZoneId, Problem> {
    let pool = row.get::<String>(0)?;
    let pool = pool.parse().map_err(|_| state.odd("name of a pool", &pool))?;
    Ok(ZoneId { pool, name: state.zone(&row.get::<String>(1)?)? })
}

/// The step that a query about a zone gives; none where it gives none.
fn step_in(state: &impl SqlRead, sql: &str, zone: &ZoneId) -> Result<StepNumber, Problem> {
    let (pool, name) = columns(zone);
    let found = state.row(sql, values![pool, name], |row| row.get::<Option<i64>>(0))?;
    Ok(step(found.flatten().unwrap_or(0)))
}

/// A step from its number.
fn step(number: i64) -> StepNumber {
    StepNumber(number as u64)
}

/// A serial from its number.
fn serial(state: &(impl SqlRead + ?Sized), number: i64) -> Result<Serial, Problem> {
    u32::try_from(number).map(Serial).map_err(|_| state.odd("serial", &number.to_string()))
}

/// What is remembered of the targets of a zone.
fn targets(state: &impl SqlRead, zone: &ZoneId) -> Result<BTreeMap<String, TargetStanding>, Problem> {
    let (pool, name) = columns(zone);
    let sql = "SELECT target, step, is_set_back FROM target_steps WHERE pool = ?1 AND zone = ?2";
    let standing = |row: &dyn SqlRow| {
        let mut standing = TargetStanding { is_set_back: row.get(2)?, ..TargetStanding::default() };
        standing.steps.reached = step(row.get(1)?);
        Ok((row.get::<String>(0)?, standing))
    };
    let mut targets: BTreeMap<String, TargetStanding> =
        state.rows(sql, values![pool, name], standing)?.into_iter().collect();
    let sql = "SELECT target, step, serial FROM target_serials WHERE pool = ?1 AND zone = ?2 ORDER BY step";
    let kept = |row: &dyn SqlRow| {
        let kept = StepSerial { step: step(row.get(1)?), serial: serial(state, row.get(2)?)? };
        Ok((row.get::<String>(0)?, kept))
    };
    for (target, kept) in state.rows(sql, values![pool, name], kept)? {
        targets.entry(target).or_default().steps.serials.push(kept);
    }
    Ok(targets)
}

/// The rows of the servers of a zone.
fn servers(state: &impl SqlRead, zone: &ZoneId) -> Result<BTreeMap<VoterId, TimedRow>, Problem> {
    let (pool, name) = columns(zone);
    let sql = "SELECT target, server, fault, serial, step, at FROM server_rows
         WHERE pool = ?1 AND zone = ?2 AND action = ?3";
    let server = |row: &dyn SqlRow| {
        let address = row.get::<String>(1)?;
        let server = (!address.is_empty()).then_some(address);
        let fault = row.get::<Option<String>>(2)?;
        let fault = fault.map(|word| ServerFault::parse(&word).ok_or_else(|| state.odd("fault of a server", &word)));
        let serial = row.get::<Option<i64>>(3)?.map(|number| serial(state, number)).transpose()?;
        let kept = ServerRow { step: step(row.get(4)?), fault: fault.transpose()?, serial };
        Ok((VoterId { target: row.get(0)?, server }, TimedRow { row: kept, at: row.get(5)? }))
    };
    Ok(state.rows(sql, values![pool, name, UPDATE], server)?.into_iter().collect())
}

/// The RRsets of a zone whose row is open.
fn open_rrsets(state: &impl SqlRead, zone: &ZoneId) -> Result<ZoneRrsets, Problem> {
    let (pool, name) = columns(zone);
    rrsets(state, "status IN ('PENDING', 'ERROR')", values![pool, name])
}

/// The rows of RRsets of a zone that meet a condition, whose values come after the pool and the zone.
fn rrsets(state: &impl SqlRead, condition: &str, values: &[SqlValue<'_>]) -> Result<ZoneRrsets, Problem> {
    let sql =
        format!("SELECT name, type, step, task, status FROM rrset_rows WHERE pool = ?1 AND zone = ?2 AND {condition}");
    let rrset = |row: &dyn SqlRow| {
        let key = state.rrset(&row.get::<String>(0)?, &row.get::<String>(1)?)?;
        Ok((key, rrset_row(state, row, 2)?))
    };
    Ok(state.rows(&sql, values, rrset)?.into_iter().collect())
}

/// Reads the row of an RRset from three columns: step, task, status.
fn rrset_row(state: &(impl SqlRead + ?Sized), row: &dyn SqlRow, first: usize) -> Result<RrsetPublication, Problem> {
    let (task, status) = (row.get::<String>(first + 1)?, row.get::<String>(first + 2)?);
    Ok(RrsetPublication {
        step: step(row.get(first)?),
        task: RrsetTask::parse(&task).ok_or_else(|| state.odd("task of an RRset", &task))?,
        status: RrsetStatus::parse(&status).ok_or_else(|| state.odd("status of an RRset", &status))?,
    })
}

/// Reads a row of [`PUBLISHED`].
fn published(state: &impl SqlRead, row: &dyn SqlRow) -> Result<RrsetStanding, Problem> {
    let (name, rtype) = state.rrset(&row.get::<String>(2)?, &row.get::<String>(3)?)?;
    let zone = zone_id(state, row)?;
    Ok(RrsetStanding { zone, name, rtype, apply: row.get(7)?, row: rrset_row(state, row, 4)? })
}

/// Sorts rows of RRsets. A database would sort by the text of names.
fn sort(rrsets: &mut [RrsetStanding]) {
    rrsets.sort_by(|a, b| (&a.zone, &a.name, a.rtype).cmp(&(&b.zone, &b.name, b.rtype)));
}

/// All rows of a zone.
fn publication(state: &impl SqlDatabase, zone: ZoneId) -> Result<ZonePublication, Problem> {
    let ZoneRecord { newest, consensus, servers, .. } = state.zone_record(&zone)?;
    let (pool, name) = columns(&zone);
    let sql = format!("{PUBLISHED} WHERE r.pool = ?1 AND r.zone = ?2");
    let mut rrsets = state.rows(&sql, values![pool, name], |row| published(state, row))?;
    sort(&mut rrsets);
    let status = ZoneStatus::of(rrsets.iter().map(|rrset| rrset.row.status));
    let servers = servers.into_iter().map(|(voter, kept)| ServerStanding { voter, kept }).collect();
    Ok(ZonePublication { zone, status, newest, consensus, servers, rrsets })
}

/// Keeps a record.
fn keep(change: &dyn SqlChange, zone: &RecordedZone, now: Time) -> Result<(), Problem> {
    let RecordedZone { zone, record, begun } = zone;
    let (pool, name) = columns(zone);
    if let Some(apply) = begun {
        let sql = "INSERT INTO zone_steps (pool, zone, step, apply, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        change.execute(sql, values![pool, name, number(record.newest), apply, now])?;
    }
    let sql = "INSERT INTO zone_consensus (pool, zone, step) VALUES (?1, ?2, ?3)
         ON CONFLICT (pool, zone) DO UPDATE SET step = excluded.step WHERE zone_consensus.step <> excluded.step";
    change.execute(sql, values![pool, name, number(record.consensus)])?;
    record.targets.iter().try_for_each(|(target, standing)| keep_target(change, zone, target, standing))?;
    record.servers.iter().try_for_each(|(voter, kept)| keep_server(change, zone, voter, kept))?;
    let sql = "INSERT INTO rrset_rows (pool, zone, name, type, step, task, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (pool, zone, name, type)
         DO UPDATE SET step = excluded.step, task = excluded.task, status = excluded.status
         WHERE rrset_rows.step <> excluded.step OR rrset_rows.status <> excluded.status";
    for ((owner, rtype), RrsetPublication { step, task, status }) in &record.rrsets {
        let (owner, rtype) = (owner.to_string(), rtype.to_string());
        let (task, status) = (task.as_str(), status.as_str());
        change.execute(sql, values![pool, name, owner, rtype, number(*step), task, status])?;
    }
    Ok(())
}

/// The number of a step.
fn number(step: StepNumber) -> i64 {
    step.0 as i64
}

/// Keeps what is remembered of a target, and no serials but those that it has.
fn keep_target(change: &dyn SqlChange, zone: &ZoneId, target: &str, standing: &TargetStanding) -> Result<(), Problem> {
    let (pool, name) = columns(zone);
    let sql = "INSERT INTO target_steps (pool, zone, target, step, is_set_back) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (pool, zone, target) DO UPDATE SET step = excluded.step, is_set_back = excluded.is_set_back";
    let reached = number(standing.steps.reached);
    change.execute(sql, values![pool, name, target, reached, standing.is_set_back])?;
    change.execute(
        "DELETE FROM target_serials WHERE pool = ?1 AND zone = ?2 AND target = ?3",
        values![pool, name, target],
    )?;
    let sql = "INSERT INTO target_serials (pool, zone, target, step, serial) VALUES (?1, ?2, ?3, ?4, ?5)";
    for StepSerial { step, serial } in &standing.steps.serials {
        change.execute(sql, values![pool, name, target, number(*step), i64::from(serial.0)])?;
    }
    Ok(())
}

/// Keeps the row of a server.
fn keep_server(change: &dyn SqlChange, zone: &ZoneId, voter: &VoterId, kept: &TimedRow) -> Result<(), Problem> {
    let (pool, name) = columns(zone);
    let TimedRow { row: ServerRow { step, fault, serial }, at } = kept;
    let status = kept.row.status().as_str();
    let (server, fault) = (voter.server.as_deref().unwrap_or_default(), fault.map(|fault| fault.as_str().to_owned()));
    let serial = serial.map(|serial| i64::from(serial.0));
    let sql = "INSERT INTO server_rows (pool, zone, target, server, action, status, fault, serial, step, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (pool, zone, target, server, action)
         DO UPDATE SET status = excluded.status, fault = excluded.fault, serial = excluded.serial,
                       step = excluded.step, at = excluded.at";
    let (target, step) = (&voter.target, number(*step));
    change.execute(sql, values![pool, name, target, server, UPDATE, status, fault, serial, step, at])?;
    Ok(())
}
