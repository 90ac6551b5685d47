//! What is between a run and its state: before and after each line of the journal other editors may act, and the run may
//! die.

use std::collections::{BTreeMap, BTreeSet};

use super::cast::Journaled;
use super::fleet::slot;
use super::stage::Stage;
use crate::apply::{ApplyOutcome, Batch, BatchOutcome};
use crate::approval::{ApprovalMemory, ApprovalNews};
use crate::change::Change;
use crate::claim::Subject;
use crate::consensus::{StepNumber, ZoneRecord, ZoneRrsets};
use crate::diag::Problem;
use crate::diff::statements::{KeptStatements, RrsetStatement};
use crate::diff::waits::RrsetWaits;
use crate::dns::{Name, RrKey, Rtype};
use crate::inventory::value::{Inv, Time};
use crate::live::OwnRrsets;
use crate::rollout::{ProbeResult, RolloutChoice, RolloutMemory};
use crate::state::{
    Acceptance, AcceptanceRecord, AcceptedFile, Acceptor, ApplyId, ApplyJournal, ApplySummary, ApprovalGiven,
    ApprovalRegister, Breaker, BreakerReset, ChangeLedger, CmsFailure, CmsTally, DownPod, DownPods, ExportToAccept,
    FormerTtls, GateAsked, KnownMarkers, LackList, LackedChange, LeftSubject, LiftedLimit, NewApply, NewLack,
    OwnershipRegister, PlanBasis, PlanText, PublicationRecord, RecordedZone, Resumption, RolloutRegister,
    RrsetStanding, RrsetTally, SentUpdate, SightedRrset, Sqlite, State, StateAddress, StateIdentity, StatementRegister,
    UnsettledUpdate, WaitList, WaitNews, WrittenRrset, ZoneActionRow, ZonePublication, ZoneRegister,
};
use crate::target::{CopyId, Marker, PoolName, TargetId, TargetScope, ZoneId};

/// What a run's state reports to: other editors may act there, and the run may die there.
pub trait RunPoints: Sync {
    /// A point between two steps of a run.
    fn point(&self, run: usize, what: &str);

    /// A point of what only pools of several targets write.
    fn pool_point(&self, run: usize, what: &str);

    /// An apply begins, with the document of its plan.
    fn note_begun(&self, apply: ApplyId, document: &str);

    /// A batch is in the journal.
    fn note_journaled(&self, entry: Journaled);

    /// The journal says that changes were made.
    fn note_made(&self, _: usize, _: &[&Change]) {}

    /// Whether the state keeps what goes with a wave.
    fn keeps_waves(&self) -> bool {
        true
    }

    /// Whether the journal is asked for TTLs that were lowered.
    fn knows_former_ttls(&self) -> bool {
        true
    }

    /// Whether it is remembered that old and new addresses are there together.
    fn remembers_overlaps(&self) -> bool {
        true
    }

    /// What is kept of approvals in place of what was to be kept; none where that is.
    fn approval_news(&self, _: &ApprovalNews) -> Option<ApprovalNews> {
        None
    }

    /// Something of approvals is on disk.
    fn note_approvals(&self, _: &ApprovalNews) {}

    /// Whether it is forgotten what is in flux.
    fn forgets_flux(&self) -> bool {
        false
    }

    /// Whether it is remembered what SRV listed until lately.
    fn remembers_listed(&self) -> bool {
        true
    }
}

impl RunPoints for Stage {
    fn point(&self, run: usize, what: &str) {
        Stage::point(self, run, what);
    }

    // The zones of this simulation have one target.
    fn pool_point(&self, _: usize, _: &str) {}

    fn note_begun(&self, _: ApplyId, _: &str) {}

    fn note_journaled(&self, entry: Journaled) {
        self.journal(entry);
    }

    fn note_made(&self, run: usize, changes: &[&Change]) {
        self.cast().made.extend(changes.iter().map(|change| (run, slot(&change.key))));
    }
}

/// The state of a run.
pub struct Book<'s, S: RunPoints = Stage> {
    /// The stage.
    pub stage: &'s S,
    /// The run that writes.
    pub run: usize,
    /// Which state it is.
    pub number: usize,
    /// The state.
    pub state: &'s mut Sqlite,
}

/// Forwards methods that only read.
macro_rules! read {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(fn $name(&self $(, $arg: $type)*) -> Result<$out, Problem> {
            self.state.$name($($arg),*)
        })*
    };
}

/// Forwards methods that write: other editors may act before and after.
macro_rules! write {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        $(fn $name(&mut self $(, $arg: $type)*) -> Result<$out, Problem> {
            self.stage.point(self.run, concat!("before ", stringify!($name)));
            let done = self.state.$name($($arg),*);
            self.stage.point(self.run, concat!("after ", stringify!($name)));
            done
        })*
    };
}

impl<S: RunPoints> ApplyJournal for Book<'_, S> {
    read! {
        fn markers() -> KnownMarkers;
        fn sent_zones() -> Vec<ZoneId>;
        fn applies(count: usize) -> Vec<ApplySummary>;
        fn last_finished() -> Option<ApplySummary>;
        fn unfinished() -> Vec<ApplySummary>;
        fn apply(id: ApplyId) -> Option<ApplySummary>;
        fn last_of_plan() -> Option<ApplySummary>;
        fn syncs_after(id: ApplyId) -> Vec<ApplyId>;
        fn resumable(now: Time) -> Vec<ApplyId>;
        fn document(id: ApplyId) -> Option<String>;
        fn planned(id: ApplyId) -> Option<PlanBasis>;
        fn sent(id: ApplyId) -> Vec<SentUpdate>;
        fn left_hosts(id: ApplyId) -> Vec<LeftSubject>;
        fn applies_of(host: Inv) -> Vec<ApplyId>;
        fn applies_at(name: &Name) -> Vec<ApplyId>;
        fn last_changed(after: ApplyId, rrsets: &[SightedRrset<'_>]) -> Vec<Option<ApplyId>>;
        fn unsettled(id: ApplyId) -> Vec<UnsettledUpdate>;
        fn waves_expire(plan: &str) -> Option<Time>;
    }

    write! {
        fn resume(id: ApplyId, resumption: &Resumption, wave: &RolloutChoice) -> ();
        fn note_standing(copy: &CopyId, live: &Marker, now: Time) -> usize;
        fn note_found(found: &UnsettledUpdate, now: Time) -> bool;
        fn finish(apply: ApplyId, applied: &ApplyOutcome, accepted: Option<&[ExportToAccept]>, now: Time) -> ();
        fn adopt_markers(markers: &[(CopyId, Option<Marker>)], who: &str, reason: &str, now: Time) -> ();
    }

    fn begin(&mut self, apply: &NewApply, plan: &PlanText<'_>, wave: &RolloutChoice) -> Result<ApplyId, Problem> {
        self.stage.point(self.run, "before begin");
        let nothing = RolloutChoice::default();
        let wave = if self.stage.keeps_waves() { wave } else { &nothing };
        let begun = self.state.begin(apply, plan, wave)?;
        self.stage.note_begun(begun, plan.document);
        self.stage.point(self.run, "after begin");
        Ok(begun)
    }

    fn note_sending(&mut self, apply: ApplyId, batch: &Batch<'_>, now: Time) -> Result<(), Problem> {
        self.stage.point(self.run, "before note_sending");
        self.state.note_sending(apply, batch, now)?;
        let marker = batch.swap.as_ref().map(|swap| swap.after.clone());
        let keys = batch.changes.iter().map(|change| slot(&change.key)).collect();
        let (state, run, number) = (self.number, self.run, batch.number);
        self.stage.note_journaled(Journaled { state, run, apply, number, marker, keys });
        self.stage.point(self.run, "after note_sending");
        Ok(())
    }

    fn note_settled(
        &mut self,
        apply: ApplyId,
        batch: &Batch<'_>,
        settled: &BatchOutcome,
        now: Time,
    ) -> Result<(), Problem> {
        self.stage.point(self.run, "before note_settled");
        self.state.note_settled(apply, batch, settled, now)?;
        if matches!(settled, BatchOutcome::Done | BatchOutcome::Found) {
            self.stage.note_made(self.run, &batch.changes);
        }
        self.stage.point(self.run, "after note_settled");
        Ok(())
    }
}

impl<S: RunPoints> ChangeLedger for Book<'_, S> {
    read! {
        fn changed_since(since: Time) -> Vec<(String, Subject, Time)>;
        fn perhaps_changed_since(since: Time) -> Vec<(String, Subject, Time)>;
        fn breakers() -> Vec<Breaker>;
        fn allowed(apply: ApplyId) -> Vec<LiftedLimit>;
    }

    write! {
        fn trip(breaker: &Breaker) -> ();
        fn reset(scope: &str, reset: BreakerReset<'_>) -> bool;
        fn allow(apply: ApplyId, allowed: &[LiftedLimit]) -> ();
    }
}

impl<S: RunPoints> OwnershipRegister for Book<'_, S> {
    read! {
        fn own() -> OwnRrsets;
        fn own_at(target: &TargetScope) -> OwnRrsets;
        fn created_by(rrsets: &[SightedRrset<'_>]) -> Vec<Option<ApplyId>>;
        fn last_written(rrsets: &[SightedRrset<'_>]) -> Vec<Option<WrittenRrset>>;
    }

    write! {
        fn disown(rrsets: &[(&TargetId, &RrKey)]) -> ();
        fn release_targets(present: &[TargetId]) -> ();
    }
}

impl<S: RunPoints> LackList for Book<'_, S> {
    read! {
        fn lacks() -> Vec<LackedChange>;
    }

    fn add_lacks(&mut self, apply: ApplyId, lacks: &[NewLack<'_>], now: Time) -> Result<(), Problem> {
        self.stage.pool_point(self.run, "before add_lacks");
        self.state.add_lacks(apply, lacks, now)?;
        self.stage.pool_point(self.run, "after add_lacks");
        Ok(())
    }

    fn drop_lack(&mut self, lack: &LackedChange) -> Result<(), Problem> {
        self.stage.pool_point(self.run, "before drop_lack");
        self.state.drop_lack(lack)
    }

    fn drop_replaced(&mut self, held: &[(&CopyId, &Change)]) -> Result<(), Problem> {
        self.stage.pool_point(self.run, "before drop_replaced");
        self.state.drop_replaced(held)
    }
}

impl<S: RunPoints> AcceptanceRecord for Book<'_, S> {
    read! {
        fn exports() -> Vec<Acceptance>;
        fn export_files(source: &str) -> Vec<AcceptedFile>;
        fn l3_switches() -> Vec<String>;
        fn last_inputs() -> BTreeMap<String, String>;
    }

    write! {
        fn accept(exports: &[ExportToAccept], acceptor: &Acceptor<'_>, now: Time) -> ();
    }
}

impl<S: RunPoints> DownPods for Book<'_, S> {
    read! {
        fn pods_down() -> BTreeMap<Subject, DownPod>;
    }

    write! {
        fn keep_pods_down(down: &BTreeMap<Subject, DownPod>) -> ();
    }
}

impl<S: RunPoints> ApprovalRegister for Book<'_, S> {
    read! {
        fn approvals() -> ApprovalMemory;
        fn cms_tallies() -> Vec<CmsTally>;
        fn cms_failures() -> Vec<CmsFailure>;
        fn approvals_given(apply: ApplyId) -> Vec<ApprovalGiven>;
    }

    fn keep_approvals(&mut self, news: &ApprovalNews) -> Result<(), Problem> {
        self.stage.point(self.run, "before keep_approvals");
        let others = self.stage.approval_news(news);
        let news = others.as_ref().unwrap_or(news);
        self.state.keep_approvals(news)?;
        self.stage.note_approvals(news);
        self.stage.point(self.run, "after keep_approvals");
        Ok(())
    }
}

impl<S: RunPoints> WaitList for Book<'_, S> {
    read! {
        fn waits() -> RrsetWaits;
    }

    write! {
        fn note_waits(news: &WaitNews) -> ();
    }
}

impl<S: RunPoints> RolloutRegister for Book<'_, S> {
    fn rollouts(&self) -> Result<RolloutMemory, Problem> {
        let mut memory = self.state.rollouts()?;
        if self.stage.forgets_flux() {
            memory.flux.clear();
        }
        if !self.stage.remembers_overlaps() {
            memory.flux.iter_mut().for_each(|row| row.wanted = None);
        }
        if !self.stage.remembers_listed() {
            memory.flux.iter_mut().for_each(|row| row.before.retain(|former| former.rtype != Rtype::SRV));
        }
        Ok(memory)
    }

    read! {
        fn unserved() -> Vec<ApplyId>;
        fn gates_asked(apply: ApplyId) -> Vec<GateAsked>;
        fn moved_since(asked: &BTreeSet<(String, String)>, since: Time) -> BTreeSet<(String, String)>;
    }

    fn former_ttls(&self, asked: &BTreeSet<(String, String)>, now: Time) -> Result<FormerTtls, Problem> {
        if self.stage.knows_former_ttls() { self.state.former_ttls(asked, now) } else { Ok(FormerTtls::new()) }
    }

    write! {
        fn begin_wave(apply: ApplyId, choice: &RolloutChoice) -> ();
        fn give_up(apply: ApplyId, before: Time) -> ();
        fn note_waves(choice: &RolloutChoice) -> ();
        fn note_answers(answers: &[ProbeResult]) -> ();
        fn note_gates(apply: ApplyId, asked: &[GateAsked]) -> ();
    }

    // No story here has a rollout, so that it writes nothing.
    fn settle_flux(&mut self, now: Time) -> Result<(), Problem> {
        self.state.settle_flux(now)
    }
}

impl<S: RunPoints> StatementRegister for Book<'_, S> {
    read! {
        fn statements() -> KeptStatements;
    }

    write! {
        fn note_statements(news: &[RrsetStatement]) -> ();
    }
}

impl<S: RunPoints> PublicationRecord for Book<'_, S> {
    read! {
        fn zone_record(zone: &ZoneId) -> ZoneRecord;
        fn zones_with_steps() -> Vec<ZoneId>;
        fn rrsets_since(zone: &ZoneId, apply: ApplyId) -> BTreeMap<(Name, Rtype), Time>;
        fn rrset_rows_after(zone: &ZoneId, step: StepNumber) -> ZoneRrsets;
        fn publications(pool: &PoolName) -> Vec<ZonePublication>;
        fn published_by(apply: ApplyId) -> Vec<RrsetStanding>;
        fn rrset_tallies() -> Vec<RrsetTally>;
    }

    write! {
        fn keep_records(zones: &[RecordedZone], now: Time) -> ();
    }
}

impl<S: RunPoints> ZoneRegister for Book<'_, S> {
    read! {
        fn seen_copies() -> BTreeSet<CopyId>;
        fn zone_rows() -> Vec<ZoneActionRow>;
    }

    write! {
        fn note_seen(copies: &[CopyId], now: Time) -> ();
        fn note_zones(rows: &[ZoneActionRow]) -> ();
        fn drop_zone_row(row: &ZoneActionRow) -> ();
    }
}

impl<S: RunPoints> State for Book<'_, S> {
    fn address(&self) -> &StateAddress {
        self.state.address()
    }

    read! {
        fn identity() -> StateIdentity;
        fn version() -> u64;
    }
}
