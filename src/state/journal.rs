//! The journal: every apply with its plan, every update that was sent with its outcome, and the markers, which show what
//! took effect in each zone.

use super::applies::SYNC;
use super::ownership::SightedRrset;
use super::sql::{SqlDatabase, SqlRow, SqlRows as _, values};
use super::{
    ApplyId, ApplySummary, ExportToAccept, KnownMarkers, LeftSubject, NewApply, PlanBasis, PlanText, Resumption,
    SentUpdate, SettledBatch, UnsettledUpdate, applies, batches, effect, markers, past,
};
use crate::apply::{ApplyOutcome, Batch, BatchOutcome};
use crate::diag::Problem;
use crate::dns::Name;
use crate::inventory::value::{Inv, Time};
use crate::rollout::RolloutChoice;
use crate::target::{CopyId, Marker, ZoneId};

/// Applies, updates and markers. What a method wrote is durable when it returns.
pub trait ApplyJournal: Send {
    /// What is known about the markers, by zone.
    fn markers(&self) -> Result<KnownMarkers, Problem>;

    /// The zones to which updates were sent, each once.
    fn sent_zones(&self) -> Result<Vec<ZoneId>, Problem>;

    /// The latest applies, the latest first; at most `count`.
    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, Problem>;

    /// The apply that ended last; none where none ended.
    fn last_finished(&self) -> Result<Option<ApplySummary>, Problem>;

    /// The applies that never ended, the latest first.
    fn unfinished(&self) -> Result<Vec<ApplySummary>, Problem>;

    /// One apply; `None` where there is none of this number.
    fn apply(&self, id: ApplyId) -> Result<Option<ApplySummary>, Problem>;

    /// The latest apply that is not one of a `sync`.
    fn last_of_plan(&self) -> Result<Option<ApplySummary>, Problem>;

    /// The applies of a `sync` that began after this one, the earliest first.
    fn syncs_after(&self, id: ApplyId) -> Result<Vec<ApplyId>, Problem>;

    /// The applies that can be taken up again at a time: their plan is kept and has not expired, and no `sync` made them.
    /// The latest first.
    fn resumable(&self, now: Time) -> Result<Vec<ApplyId>, Problem>;

    /// The document of the plan of an apply; `None` once nothing of it can be taken up again.
    fn document(&self, id: ApplyId) -> Result<Option<String>, Problem>;

    /// Until when the later waves of a plan may go, by its `id`; `None` where no apply of it began, or none is kept.
    fn waves_expire(&self, plan: &str) -> Result<Option<Time>, Problem>;

    /// What the plan of an apply was made by; `None` where an earlier version of the state began the apply.
    fn planned(&self, id: ApplyId) -> Result<Option<PlanBasis>, Problem>;

    /// All updates of an apply, in the order of sending.
    fn sent(&self, id: ApplyId) -> Result<Vec<SentUpdate>, Problem>;

    /// The hosts that an apply did not leave as planned, in the order of the plan; empty before it ended.
    fn left_hosts(&self, id: ApplyId) -> Result<Vec<LeftSubject>, Problem>;

    /// The applies that changed, or tried to change, something for a host, perhaps together with others, and those that
    /// did not leave it as planned; the latest first.
    fn applies_of(&self, host: Inv) -> Result<Vec<ApplyId>, Problem>;

    /// The applies that changed, or tried to change, an RRset at a name or a PTR to it, and those that did not leave a
    /// host of this name as planned; the latest first. May return others: [`super::SentChange::is_at`] decides.
    fn applies_at(&self, name: &Name) -> Result<Vec<ApplyId>, Problem>;

    /// The latest apply after another that changed, or may have changed, each of these RRsets; in their order.
    fn last_changed(&self, after: ApplyId, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<ApplyId>>, Problem>;

    /// Begins an apply, and keeps its plan and its first wave. Plans that have expired are kept no longer.
    fn begin(&mut self, apply: &NewApply, plan: &PlanText<'_>, wave: &RolloutChoice) -> Result<ApplyId, Problem>;

    /// Keeps that an apply is taken up again: it has not ended from then on; and its next wave.
    fn resume(&mut self, id: ApplyId, resumption: &Resumption, wave: &RolloutChoice) -> Result<(), Problem>;

    /// Keeps a batch that is about to be sent.
    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem>;

    /// Keeps the outcome of a batch. A batch that took effect moves the marker, changes which RRsets are own, and
    /// enters the ledger.
    fn note_settled(
        &mut self,
        apply: ApplyId,
        batch: &Batch<'_>,
        settled: &BatchOutcome,
        now: Time,
    ) -> Result<(), Problem>;

    /// Keeps the outcomes of batches, and then those that are about to be sent, as [`ApplyJournal::note_settled`] and
    /// [`ApplyJournal::note_sending`] do: with one sync, and all of it or nothing, where the state can.
    fn note_settled_and_sending(
        &mut self,
        apply: ApplyId,
        settled: &[SettledBatch<'_>],
        next: &[&Batch<'_>],
        now: Time,
    ) -> Result<(), Problem> {
        settled.iter().try_for_each(|own| self.note_settled(apply, own.batch, own.outcome, now))?;
        next.iter().try_for_each(|own| self.note_sending(apply, own, now))
    }

    /// Settles the updates that earlier applies left open in a zone, by the marker that is there: those that led to it
    /// took effect, and the others never will. Returns how many took effect. A marker that the state does not know
    /// changes nothing.
    fn note_standing(&mut self, copy: &CopyId, live: &Marker, now: Time) -> Result<usize, Problem>;

    /// The updates that an apply left open and that no marker will settle: those without a marker, and those whose
    /// marker is past.
    fn unsettled(&self, id: ApplyId) -> Result<Vec<UnsettledUpdate>, Problem>;

    /// Keeps that an open update took effect, as all of it is there. Returns whether it was still open: if another
    /// update that made the same changes took effect, this one did not.
    fn note_found(&mut self, found: &UnsettledUpdate, now: Time) -> Result<bool, Problem>;

    /// Ends an apply; the outcome of each of its hosts replaces that of an earlier end. If it did all of its plan,
    /// these exports become the accepted ones, except those for which a later apply accepted another. Its plan is then
    /// deleted, unless the outcome of an update is unknown.
    fn finish(
        &mut self,
        apply: ApplyId,
        applied: &ApplyOutcome,
        accepted: Option<&[ExportToAccept]>,
        now: Time,
    ) -> Result<(), Problem>;

    /// Treats the markers in these zones as known, because an operator says so, and why.
    fn adopt_markers(
        &mut self,
        markers: &[(CopyId, Option<Marker>)],
        who: &str,
        reason: &str,
        now: Time,
    ) -> Result<(), Problem>;
}

impl<D: SqlDatabase> ApplyJournal for D {
    fn sent_zones(&self) -> Result<Vec<ZoneId>, Problem> {
        let of_row = |row: &dyn SqlRow| {
            let (pool, zone) = (row.get::<String>(0)?, row.get::<String>(1)?);
            let pool = pool.parse().map_err(|_| self.odd("name of a pool", &pool))?;
            Ok(ZoneId { pool, name: self.zone(&zone)? })
        };
        self.rows("SELECT DISTINCT pool, zone FROM batches", &[], of_row)
    }

    fn markers(&self) -> Result<KnownMarkers, Problem> {
        markers::known(self)
    }

    fn applies(&self, count: usize) -> Result<Vec<ApplySummary>, Problem> {
        applies::summaries(self, "ORDER BY id DESC LIMIT ?1", values![i64::try_from(count).unwrap_or(i64::MAX)])
    }

    fn last_finished(&self) -> Result<Option<ApplySummary>, Problem> {
        Ok(applies::summaries(self, "WHERE finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT 1", &[])?.pop())
    }

    fn unfinished(&self) -> Result<Vec<ApplySummary>, Problem> {
        applies::summaries(self, "WHERE finished IS NULL ORDER BY id DESC", &[])
    }

    fn apply(&self, id: ApplyId) -> Result<Option<ApplySummary>, Problem> {
        Ok(applies::summaries(self, "WHERE id = ?1", values![id])?.pop())
    }

    fn last_of_plan(&self) -> Result<Option<ApplySummary>, Problem> {
        Ok(applies::summaries(self, &format!("WHERE NOT {SYNC} ORDER BY id DESC LIMIT 1"), &[])?.pop())
    }

    fn syncs_after(&self, id: ApplyId) -> Result<Vec<ApplyId>, Problem> {
        self.rows(&format!("SELECT id FROM applies WHERE id > ?1 AND {SYNC} ORDER BY id"), values![id], |row| {
            row.get(0)
        })
    }

    fn resumable(&self, now: Time) -> Result<Vec<ApplyId>, Problem> {
        let sql = format!(
            "SELECT apply FROM plans WHERE expires >= ?1 AND apply NOT IN (SELECT id FROM applies WHERE {SYNC})
             ORDER BY apply DESC"
        );
        self.rows(&sql, values![now], |row| row.get(0))
    }

    fn document(&self, id: ApplyId) -> Result<Option<String>, Problem> {
        self.row("SELECT document FROM plans WHERE apply = ?1", values![id], |row| row.get(0))
    }

    fn waves_expire(&self, plan: &str) -> Result<Option<Time>, Problem> {
        let sql = "SELECT max(expires) FROM plans JOIN applies ON id = apply WHERE plan = ?1";
        Ok(self.row(sql, values![plan], |row| row.get::<Option<Time>>(0))?.flatten())
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

    fn last_changed(&self, after: ApplyId, rrsets: &[SightedRrset<'_>]) -> Result<Vec<Option<ApplyId>>, Problem> {
        past::last_changed(self, after, rrsets)
    }

    fn begin(&mut self, apply: &NewApply, text: &PlanText<'_>, wave: &RolloutChoice) -> Result<ApplyId, Problem> {
        self.write(|change| applies::begin(change, apply, text, wave))
    }

    fn resume(&mut self, id: ApplyId, resumption: &Resumption, wave: &RolloutChoice) -> Result<(), Problem> {
        self.write(|change| applies::resume(change, id, resumption, wave))
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
        settled: &[SettledBatch<'_>],
        next: &[&Batch<'_>],
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| {
            settled.iter().try_for_each(|settled| batches::keep_settled(change, apply, settled, now))?;
            next.iter().try_for_each(|next| batches::keep_sending(change, apply, next, now))
        })
    }

    fn note_standing(&mut self, copy: &CopyId, live: &Marker, now: Time) -> Result<usize, Problem> {
        self.write(|change| effect::settle_by(change, copy, live, now))
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
        markers: &[(CopyId, Option<Marker>)],
        who: &str,
        reason: &str,
        now: Time,
    ) -> Result<(), Problem> {
        self.write(|change| markers::adopt(change, markers, who, reason, now))
    }
}
