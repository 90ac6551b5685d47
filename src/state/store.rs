//! What a state can do, done by the tables of its file.

use std::collections::BTreeMap;

use rusqlite::Row;

use super::error::unreadable;
use super::sqlite::Sqlite;
use super::{
    Acceptance, AcceptedFile, Acceptor, ApplyId, ApplySummary, Breaker, BreakerReset, ExportToAccept, KnownMarker,
    LeftSubject, LiftedLimit, NewApply, PlanBasis, PlanText, Resumption, SentUpdate, SettledBatch, State,
    StateIdentity, UnsettledUpdate, WaitNews, WrittenRrset, allowances, applies, batches, breakers, effect, exports,
    markers, own, past, perhaps, waits, written,
};
use crate::apply::{ApplyOutcome, Batch, BatchOutcome};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::waits::RrsetWaits;
use crate::dns::{Name, RrKey, ZoneName};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::plan::Marker;

impl State for Sqlite {
    fn identity(&self) -> Result<StateIdentity, Problem> {
        let sql = "SELECT id, (SELECT min(started) FROM applies) FROM workspace";
        let found = self.read(sql, [], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))?.pop();
        let (id, first) = found.ok_or_else(|| unreadable(&self.file, "the state has no id of its workspace"))?;
        Ok(StateIdentity { id, first_begun: first.map(Time::from_nanos) })
    }

    fn own(&self) -> Result<OwnRrsets, Problem> {
        own::own(self)
    }

    fn markers(&self) -> Result<BTreeMap<ZoneName, KnownMarker>, Problem> {
        markers::known(self)
    }

    fn breakers(&self) -> Result<Vec<Breaker>, Problem> {
        breakers::tripped(self)
    }

    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, Problem> {
        applies::summaries(self, "ORDER BY id DESC LIMIT ?1", [i64::try_from(count).unwrap_or(i64::MAX)])
    }

    fn last_finished(&self) -> Result<Option<ApplySummary>, Problem> {
        Ok(applies::summaries(self, "WHERE finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT 1", [])?.pop())
    }

    fn unfinished(&self) -> Result<Vec<ApplySummary>, Problem> {
        applies::summaries(self, "WHERE finished IS NULL ORDER BY id DESC", [])
    }

    fn changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem> {
        let sql = "SELECT project, subject, at FROM ledger WHERE at >= ?1 ORDER BY at, apply, subject";
        let changed = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, Time::from_nanos(row.get(2)?)));
        let rows = self.read(sql, [since.as_nanos()], changed)?;
        rows.into_iter().map(|(project, subject, at)| Ok((project, self.subject(&subject)?, at))).collect()
    }

    fn apply(&self, id: ApplyId) -> Result<Option<ApplySummary>, Problem> {
        Ok(applies::summaries(self, "WHERE id = ?1", [id.0 as i64])?.pop())
    }

    fn resumable(&self, now: Time) -> Result<Vec<ApplyId>, Problem> {
        applies::resumable(self, now)
    }

    fn document(&self, id: ApplyId) -> Result<Option<String>, Problem> {
        applies::document(self, id)
    }

    fn planned(&self, id: ApplyId) -> Result<Option<PlanBasis>, Problem> {
        past::planned(self, id)
    }

    fn sent(&self, id: ApplyId) -> Result<Vec<SentUpdate>, Problem> {
        past::sent(self, id)
    }

    fn left_hosts(&self, id: ApplyId) -> Result<Vec<LeftSubject>, Problem> {
        past::left_hosts(self, id)
    }

    fn applies_of(&self, host: Inv) -> Result<Vec<ApplyId>, Problem> {
        past::applies_of(self, host)
    }

    fn applies_at(&self, name: &Name) -> Result<Vec<ApplyId>, Problem> {
        past::applies_at(self, name)
    }

    fn last_changed(&self, after: ApplyId, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
        past::last_changed(self, after, rrsets)
    }

    fn created_by(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<ApplyId>>, Problem> {
        own::created_by(self, rrsets)
    }

    fn last_written(&self, rrsets: &[&RrKey]) -> Result<Vec<Option<WrittenRrset>>, Problem> {
        written::last_written(self, rrsets)
    }

    fn version(&self) -> Result<u64, Problem> {
        let version = self.read("PRAGMA data_version", [], |row| row.get::<_, i64>(0))?;
        Ok(version.first().copied().unwrap_or_default() as u64)
    }

    fn begin(&mut self, apply: &NewApply, text: &PlanText<'_>) -> Result<ApplyId, Problem> {
        self.write(|change| applies::begin(change, apply, text))
    }

    fn resume(&mut self, id: ApplyId, resumption: &Resumption) -> Result<(), Problem> {
        self.write(|change| applies::resume(change, id, resumption))
    }

    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
        self.write(|change| batches::keep_sending(change, apply, batch, now))
    }

    fn note_settled(
        &mut self,
        apply: ApplyId,
        batch: &Batch<'_>,
        settled: &BatchOutcome,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| batches::keep_settled(change, apply, &SettledBatch { batch, outcome: settled }, now))
    }

    fn note_settled_and_sending(
        &mut self,
        apply: ApplyId,
        settled: &SettledBatch<'_>,
        next: &Batch<'_>,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| {
            batches::keep_settled(change, apply, settled, now)?;
            batches::keep_sending(change, apply, next, now)
        })
    }

    fn note_standing(&mut self, zone: &ZoneName, live: &Marker, now: Time) -> Result<usize, Problem> {
        self.write(|change| effect::settle_by(change, zone, live, now))
    }

    fn disown(&mut self, rrsets: &[&RrKey]) -> Result<(), Problem> {
        if rrsets.is_empty() {
            return Ok(());
        }
        self.write(|change| own::disown(change, rrsets))
    }

    fn unsettled(&self, id: ApplyId) -> Result<Vec<UnsettledUpdate>, Problem> {
        batches::unsettled(self, id)
    }

    fn note_found(&mut self, found: &UnsettledUpdate, now: Time) -> Result<bool, Problem> {
        self.write(|change| effect::settle_found(change, found, now))
    }

    fn finish(
        &mut self,
        apply: ApplyId,
        applied: &ApplyOutcome,
        accepted: Option<&[ExportToAccept]>,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| applies::finish(change, apply, applied, accepted, now))
    }

    fn adopt_markers(
        &mut self,
        markers: &[(ZoneName, Option<Marker>)],
        who: &str,
        reason: &str,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| markers::adopt(change, markers, who, reason, now))
    }

    fn exports(&self) -> Result<Vec<Acceptance>, Problem> {
        exports::exports(self)
    }

    fn export_files(&self, source: &str) -> Result<Vec<AcceptedFile>, Problem> {
        exports::export_files(self, source)
    }

    fn l3_switches(&self) -> Result<Vec<String>, Problem> {
        exports::l3_switches(self)
    }

    fn accept(&mut self, exports: &[ExportToAccept], acceptor: &Acceptor<'_>, now: Time) -> Result<(), Problem> {
        self.write(|change| exports::accept(change, exports, acceptor, now))
    }

    fn trip(&mut self, breaker: &Breaker) -> Result<(), Problem> {
        self.write(|change| breakers::trip(change, breaker))
    }

    fn reset(&mut self, scope: &str, reset: BreakerReset<'_>) -> Result<bool, Problem> {
        self.write(|change| breakers::reset(change, scope, reset))
    }

    fn allow(&mut self, apply: ApplyId, allowed: &[LiftedLimit]) -> Result<(), Problem> {
        self.write(|change| allowances::allow(change, apply, allowed))
    }

    fn allowed(&self, apply: ApplyId) -> Result<Vec<LiftedLimit>, Problem> {
        allowances::of_apply(self, apply)
    }

    fn last_inputs(&self) -> Result<BTreeMap<String, String>, Problem> {
        allowances::last_inputs(self)
    }

    fn waits(&self) -> Result<RrsetWaits, Problem> {
        waits::waits(self)
    }

    fn note_waits(&mut self, news: &WaitNews) -> Result<(), Problem> {
        self.write(|change| waits::note(change, news))
    }

    fn perhaps_changed_since(&self, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem> {
        perhaps::changed_since(self, since)
    }
}
