//! What targets lack, tried again by `sync` in the order in which it was asked for.
//!
//! Comes in: what the state says that targets lack, and what they hold now. Goes out: what is made there; what is no longer
//! lacking is forgotten. The inventory decides nothing here. What is made goes the way of an apply: with limits and
//! breakers, a journal, markers, and what is there now as prerequisite.

use std::collections::{BTreeMap, BTreeSet};

use super::TOOL;
use super::apply::{ApplyRun, ApplyWork};
use super::conduct::ApplyConduct;
use super::guards::{ApplyGuards, rules_now};
use super::hold_back::{AddressSight, hold_back, target_of};
use super::left_open::broken_off;
use super::open_lack::{LackToLeave, OpenLack, held};
use super::plan::workspace_seen;
use super::pointers::{NamedZones, PointerChange, PointerTakers};
use super::publication::PoolRolls;
use super::publication::taken::serial;
use super::settings::WorkspaceSettings;
use super::targets::{OpenedZones, Targets};
use super::wave_checks::ConfiguredChecks;
use super::waves::NO_BUDGETS;
use crate::apply::SIDE_BY_SIDE;
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::change::{Change, ChangeKind, Reason, Rule};
use crate::consensus::SerialSeen;
use crate::diag::Problem;
use crate::dns::{Name, RrKey, Rrset, Rtype};
use crate::inventory::model::ZoneSpec;
use crate::plan::{Plan, PlanScope, SealedPlan};
use crate::progress::Progress;
use crate::registry::MarkLabels;
use crate::state::lacks::{LackOutcome, LeftLack};
use crate::state::{LackedChange, PublicationRecord, RecordedZone, State};
use crate::target::{CopyId, TargetId, ZoneId};

/// What is done about one lacking change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LackFate {
    /// The RRset is as the change makes it.
    Done,
    /// No target that took the change still has it so.
    Over,
    /// The RRset is as it was before the change: it is made.
    Make,
    /// It is neither: the next plan decides.
    Left,
    /// No target that can be read still has the change, but another one may: it waits.
    Unclear,
}

/// What the other copies hold of an RRset.
struct HeldElsewhere {
    /// In those that could be read.
    held: Vec<Option<Rrset>>,
    /// Whether these are all.
    is_all: bool,
}

/// Decides about a lacking change; `here` is what the target holds.
///
/// Source: the order in which a change is judged is that of the contract: done, over, made, left.
fn fate(change: &ChangeKind, here: Option<&Rrset>, others: &HeldElsewhere) -> LackFate {
    if here == change.after() {
        LackFate::Done
    } else if !others.held.iter().any(|other| other.as_ref() == change.after()) {
        if others.is_all { LackFate::Over } else { LackFate::Unclear }
    } else if here == change.before() {
        LackFate::Make
    } else {
        LackFate::Left
    }
}

/// What is to be made at a copy, and what happens to its lacks.
#[derive(Default)]
struct CopyWork {
    /// The changes: from what is there now to what the last of the lacks makes of it.
    changes: Vec<Change>,
    /// The lacks that are over.
    over: Vec<LackedChange>,
    /// What is left.
    left: Vec<LackToLeave>,
}

/// What is needed to try again what targets lack.
pub(super) struct LackWork<'a> {
    /// The settings.
    pub settings: &'a WorkspaceSettings,
    /// How it is to be done.
    pub request: &'a ApplyConduct<'a>,
    /// The voters of all pools.
    pub rolls: &'a PoolRolls<'a>,
    /// Shows the operator how far it is.
    pub progress: &'a dyn Progress,
}

impl LackWork<'_> {
    /// Tries again what targets lack, of one pool or of all.
    ///
    /// Errors: the state cannot be read or written.
    pub fn retry(&self, state: &mut dyn State, pool: Option<&str>) -> Result<LackOutcome, Problem> {
        let config = &self.settings.config;
        let lacks = self.open_lacks(state, pool)?;
        let mut zones: BTreeSet<ZoneId> = lacks.keys().map(CopyId::zone_id).collect();
        for killed in broken_off(state)? {
            let sent = state.sent(killed)?.into_iter();
            zones.extend(sent.map(|sent| ZoneId { pool: sent.target.pool, name: sent.zone }));
        }
        zones.extend(behind(state)?.into_iter().map(|copy| copy.zone_id()));
        let left_out = lacks.values().flatten().filter(|own| own.lack.is_left_out);
        let pointers = left_out.filter_map(PointerChange::of_lack);
        let named = NamedZones::of(config);
        zones.extend(pointers.flat_map(|own| own.sites(&named)).map(|site| config.zone_id(site.zone)));
        zones.retain(|zone| pool.is_none_or(|pool| zone.pool.as_str() == pool));
        if zones.is_empty() {
            return Ok(LackOutcome::default());
        }
        let specs: Vec<&ZoneSpec> = config.zones.iter().filter(|spec| zones.contains(&config.zone_id(spec))).collect();
        let opened = OpenedZones::open(config, specs, self.request.workspace, self.request.now);
        let targets = opened.targets();
        self.take_up(state, &targets)?;
        let lacks = self.open_lacks(state, pool)?;
        self.retry_at(state, lacks, &targets)
    }

    /// Notes what applies that were broken off changed, and what targets may lack of it.
    pub fn take_up(&self, state: &mut dyn State, targets: &Targets<'_>) -> Result<(), Problem> {
        let killed = broken_off(state)?;
        let sealed = SealedPlan::new(self.plan(state, Vec::new())?);
        let (bounds, checks) = (PlanBounds::of(&self.settings.config, &self.settings.projects), self.checks());
        self.work(&sealed, &bounds, (targets, &checks)).take_up(state, &killed)
    }

    /// The gates and probes of the settings.
    fn checks(&self) -> ConfiguredChecks<'_> {
        ConfiguredChecks::of(&self.settings.config, self.request, self.progress)
    }

    /// How changes are made at targets that are open.
    fn work<'w>(
        &'w self,
        sealed: &'w SealedPlan,
        bounds: &'w PlanBounds<'w>,
        (targets, checks): (&'w Targets<'w>, &'w ConfiguredChecks<'w>),
    ) -> ApplyWork<'w> {
        let LackWork { settings, request, progress, .. } = *self;
        let expires = settings.config.plan_expires;
        let terms = PlanTerms { now: request.now, expires, waves_expire: None, expect: None, bounds };
        let rules = rules_now(settings, Some(sealed.plan()));
        let guards = ApplyGuards { rules, allow: request.allow, auto: request.auto };
        let (place, at_once, groups) = ("sync", SIDE_BY_SIDE, &NO_BUDGETS);
        // What a target lacks was approved before another one of its pool had it.
        let approver = None;
        ApplyWork {
            sealed,
            place,
            terms,
            request,
            progress,
            targets,
            at_once,
            guards,
            settings,
            groups,
            checks,
            approver,
        }
    }

    /// What targets of the settings lack, of one pool or of all, by copy.
    pub fn open_lacks(
        &self,
        state: &dyn State,
        pool: Option<&str>,
    ) -> Result<BTreeMap<CopyId, Vec<OpenLack>>, Problem> {
        let config = &self.settings.config;
        let is_meant = |lack: &LackedChange| {
            let (zone, target) = (lack.copy.zone_id(), &lack.copy.target);
            let is_there = config.targets().any(|own| own.id == *target);
            let has_zone = config.zone(&zone).is_some();
            is_there && has_zone && pool.is_none_or(|pool| target.pool.as_str() == pool)
        };
        let mut by_copy: BTreeMap<CopyId, Vec<OpenLack>> = BTreeMap::new();
        for lack in state.lacks()?.into_iter().filter(is_meant).filter_map(OpenLack::of) {
            by_copy.entry(lack.lack.copy.clone()).or_default().push(lack);
        }
        Ok(by_copy)
    }

    /// Tries again what copies lack at targets that are open.
    pub fn retry_at(
        &self,
        state: &mut dyn State,
        by_copy: BTreeMap<CopyId, Vec<OpenLack>>,
        targets: &Targets<'_>,
    ) -> Result<LackOutcome, Problem> {
        // A run that was killed may have made the last change of a copy, and not noted that the copy has reached the step.
        let is_open = |copy: &CopyId| targets.access(copy).is_some();
        let names: BTreeSet<CopyId> =
            by_copy.keys().cloned().chain(behind(state)?.into_iter().filter(is_open)).collect();
        let takers = PointerTakers::find(state, &by_copy)?;
        let mut outcome = LackOutcome::default();
        let (mut changes, mut left) = (Vec::new(), Vec::new());
        for (copy, lacks) in by_copy {
            let work = look(targets, &copy, lacks);
            outcome.settled += work.over.len();
            work.over.iter().try_for_each(|lack| state.drop_lack(lack))?;
            changes.extend(work.changes);
            left.extend(work.left);
        }
        let sight = AddressSight::of(&self.settings.config, &changes, targets, takers);
        let waiting = hold_back(&mut changes, &left, &sight);
        outcome.left.extend(left.into_iter().map(|own| own.told).chain(waiting));
        if !changes.is_empty() {
            self.make(state, changes, targets, &mut outcome)?;
        }
        self.catch_up(state, &names, targets)?;
        Ok(outcome)
    }

    /// Makes changes, each at the one target that it is for.
    fn make(
        &self,
        state: &mut dyn State,
        changes: Vec<Change>,
        targets: &Targets<'_>,
        outcome: &mut LackOutcome,
    ) -> Result<(), Problem> {
        let sealed = SealedPlan::new(self.plan(state, changes)?);
        let (bounds, checks) = (PlanBounds::of(&self.settings.config, &self.settings.projects), self.checks());
        let ApplyRun { refusal, applied, .. } = self.work(&sealed, &bounds, (targets, &checks)).begin(state, &[])?;
        // A server may take an update and ignore a part of it: what was read back there counts, not what was sent.
        let lacking = state.lacks()?;
        let changes = &sealed.plan().changes;
        let left = still_lacking(changes, &lacking);
        outcome.made += changes.len() - left.len();
        outcome.refusal = refusal;
        let why = |change: &Change| {
            let outcome = applied.hosts.iter().find(|host| host.subject == change.subject);
            let said = outcome.and_then(|host| host.message.clone().or(Some(host.lacks.first()?.message.clone())));
            said.unwrap_or_else(|| "it was not made".to_owned())
        };
        let told =
            left.iter().map(|change| LeftLack { target: target_of(change), key: change.key.clone(), why: why(change) });
        outcome.left.extend(told);
        Ok(())
    }

    /// The plan of changes that targets lack. It reads no inventory: no hosts, sources or zones are in it.
    fn plan(&self, state: &dyn State, changes: Vec<Change>) -> Result<Plan, Problem> {
        let config = &self.settings.config;
        let projects: BTreeSet<String> = changes.iter().map(|change| change.project.clone()).collect();
        let projects: Vec<String> = projects.into_iter().collect();
        Ok(Plan {
            tool: TOOL.to_owned(),
            created: self.request.now,
            expires: self.request.now.plus(config.plan_expires),
            workspace: workspace_seen(config, Some(state))?,
            undoes: None,
            // So that it says nothing about hosts and RRsets that it does not have.
            only: PlanScope::new([], &projects),
            inputs: BTreeMap::new(),
            fleet: None,
            hosts: BTreeMap::new(),
            affected: Vec::new(),
            changes,
            review: None,
            groups: Vec::new(),
            pods: Vec::new(),
            delayed: Vec::new(),
            waiting: Vec::new(),
            waves: Vec::new(),
            stated: Vec::new(),
            left_behind: Vec::new(),
            blocked: Vec::new(),
            skipped: Vec::new(),
            notices: Vec::new(),
            limits: Vec::new(),
            sources: Vec::new(),
            zone_changes: Vec::new(),
            zones: Vec::new(),
        })
    }

    /// Notes that targets which no longer lack anything have reached the newest step of their zones.
    fn catch_up(&self, state: &mut dyn State, copies: &BTreeSet<CopyId>, targets: &Targets<'_>) -> Result<(), Problem> {
        let lacking: BTreeSet<CopyId> = state.lacks()?.into_iter().map(|lack| lack.copy).collect();
        let mut kept: BTreeMap<ZoneId, RecordedZone> = BTreeMap::new();
        for copy in copies.difference(&lacking) {
            let zone = copy.zone_id();
            let (Some(roll), Some(writer)) = (self.rolls.roll(&zone), targets.writer(copy)) else { continue };
            let Some(serial) = serial(writer, &copy.zone) else { continue };
            let recorded = match kept.remove(&zone) {
                Some(recorded) => recorded,
                None => RecordedZone { zone: zone.clone(), record: state.zone_record(&zone)?, begun: None },
            };
            let mut recorded = recorded;
            let seen = SerialSeen { target: &copy.target.name, serial };
            recorded.record.catch_up(&seen, roll, self.request.clock());
            recorded.record.count(roll, !self.rolls.is_asked(&zone.pool));
            kept.insert(zone, recorded);
        }
        let kept: Vec<RecordedZone> = kept.into_values().collect();
        if kept.is_empty() {
            return Ok(());
        }
        PublicationRecord::keep_records(state, &kept, self.request.clock())
    }
}

/// The copies that have not reached the newest step of their zone.
fn behind(state: &dyn State) -> Result<Vec<CopyId>, Problem> {
    let mut behind = Vec::new();
    for zone in state.zones_with_steps()? {
        let record = state.zone_record(&zone)?;
        for (name, _) in record.targets.iter().filter(|(_, standing)| standing.steps.reached < record.newest) {
            let target = TargetId { pool: zone.pool.clone(), name: name.clone() };
            behind.push(CopyId { target, zone: zone.name.clone() });
        }
    }
    Ok(behind)
}

/// The changes, each for one target, that the state still says to be lacking there.
fn still_lacking<'c>(changes: &'c [Change], lacks: &[LackedChange]) -> Vec<&'c Change> {
    let lacking: BTreeSet<(&CopyId, &Name, Rtype)> =
        lacks.iter().map(|lack| (&lack.copy, &lack.change.name, lack.change.rtype)).collect();
    let is_lacking = |change: &&Change| {
        let copy = CopyId { target: target_of(change), zone: change.zone.clone() };
        lacking.contains(&(&copy, &change.key.owner.as_name().to_name(), change.key.rtype))
    };
    changes.iter().filter(is_lacking).collect()
}

/// Looks at the RRsets that a copy lacks, there and at the other targets, and decides about each.
fn look(targets: &Targets<'_>, copy: &CopyId, lacks: Vec<OpenLack>) -> CopyWork {
    let mut work = CopyWork::default();
    let keys: BTreeSet<RrKey> = lacks.iter().map(|own| own.key.clone()).collect();
    let keys: Vec<RrKey> = keys.into_iter().collect();
    let here = match held(targets, copy, &keys) {
        Ok(here) => here,
        Err(problem) => {
            work.left = lacks.iter().map(|own| LackToLeave::of(own, problem.to_string())).collect();
            return work;
        }
    };
    let is_other =
        |other: &&CopyId| other.zone == copy.zone && other.target.pool == copy.target.pool && **other != *copy;
    let others = targets.copies.iter().map(|access| &access.copy).filter(is_other);
    let others: Vec<Option<BTreeMap<RrKey, Option<Rrset>>>> =
        others.map(|other| held(targets, other, &keys).ok()).collect();
    for key in keys {
        let elsewhere = HeldElsewhere {
            held: others.iter().flatten().map(|held| held[&key].clone()).collect(),
            is_all: others.iter().all(Option::is_some),
        };
        let own: Vec<&OpenLack> = lacks.iter().filter(|own| own.key == key).collect();
        judge(&mut work, &own, &here[&key], &elsewhere);
    }
    work
}

/// Decides about the lacks of one RRset, the oldest first: each finds what is there, what the one before it makes, or what those
/// before it would have made that are over.
fn judge(work: &mut CopyWork, lacks: &[&OpenLack], here: &Option<Rrset>, others: &HeldElsewhere) {
    let (mut now, mut made) = (here.clone(), Vec::new());
    // A target that was away for several changes goes from the first to the last.
    let mut gone_through = here.clone();
    for (place, own) in lacks.iter().enumerate() {
        let mut leave = |why: &str| work.left.push(LackToLeave::of(own, why.to_owned()));
        let goes_on = gone_through.as_ref() == own.kind.before();
        match fate(&own.kind, now.as_ref(), others) {
            LackFate::Done if made.is_empty() => work.over.push(own.lack.clone()),
            // Once the one before it is made.
            LackFate::Done => {}
            LackFate::Over => {
                gone_through = if goes_on { own.kind.after().cloned() } else { gone_through };
                work.over.push(own.lack.clone());
            }
            LackFate::Left if !goes_on => {
                leave("the target holds something else than the change expects: the next plan decides");
            }
            // An RRset of another owner is only taken over, as in a plan: its records change once it is ours.
            LackFate::Make | LackFate::Left if !made.is_empty() && changes_owner_and_records(here, own) => {
                let why = "the RRset is taken over from another owner first: run `zonewright sync` again";
                work.left.extend(lacks[place..].iter().map(|own| LackToLeave::of(own, why.to_owned())));
                break;
            }
            LackFate::Make | LackFate::Left => {
                (now, gone_through) = (own.kind.after().cloned(), own.kind.after().cloned());
                made.push(*own);
            }
            LackFate::Unclear => leave("the targets that took the change cannot be read"),
        }
    }
    let Some(last) = made.last() else { return };
    match ChangeKind::between(here.clone(), last.kind.after().cloned()) {
        Some(kind) => work.changes.push(change(last, kind)),
        None => work.over.extend(made.iter().map(|own| own.lack.clone())),
    }
}

/// Whether to go from what is there to what a lack leaves changes both whose an RRset is, by its mark, and its records.
fn changes_owner_and_records(here: &Option<Rrset>, own: &OpenLack) -> bool {
    let (Some(here), Some(after)) = (here, own.kind.after()) else { return false };
    let owner = |rrset: &'_ Rrset| rrset.mark().map(|mark| mark.owner.clone());
    owner(here) != owner(after) && !here.has_records_of(after)
}

/// The change that brings one copy what it lacks.
fn change(own: &OpenLack, kind: ChangeKind) -> Change {
    let LackedChange { copy, apply, change, .. } = &own.lack;
    let reason = |rule| Reason { evidence: vec![format!("apply:{}", apply.0)], rule, subject: change.subject.clone() };
    // The journal does not keep rules; that a TXT is the registry's ties it to the RRset that it records. A mark alone changes only
    // where an RRset is taken over.
    let rule = if takes_over(&kind) { Rule::Adopted } else { Rule::Registry };
    let registry = (is_registry(&own.key, &kind) || kind.is_of_mark()).then(|| reason(rule));
    Change {
        pool: copy.target.pool.clone(),
        zone: copy.zone.clone(),
        key: own.key.clone(),
        subject: change.subject.clone(),
        also: change.also.clone(),
        registers: change.registers.clone(),
        via: None,
        targets: vec![copy.target.name.clone()],
        project: change.project.clone(),
        kind,
        reasons: std::iter::once(reason(Rule::CopyDiffers)).chain(registry).collect(),
    }
}

/// Whether a change of a TXT of the registry takes an RRset over: a text takes the place of another one.
fn takes_over(kind: &ChangeKind) -> bool {
    matches!(kind, ChangeKind::Modify { before, after } if before.rdata().len() == after.rdata().len())
}

/// Whether a change is one of a TXT of the registry.
fn is_registry(key: &RrKey, kind: &ChangeKind) -> bool {
    let rdata = kind.before().into_iter().chain(kind.after()).flat_map(Rrset::rdata);
    key.rtype == Rtype::TXT && rdata.into_iter().any(|rdata| MarkLabels::read(rdata.as_rdata(Rtype::TXT)).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{RrsetText, fixture};
    use crate::dns::RrsetMark;
    use crate::state::{ApplyId, SentChange};
    use crate::target::PoolName;

    /// An AAAA RRset; none without an address.
    fn aaaa(address: &str) -> Option<Rrset> {
        (!address.is_empty()).then(|| fixture::rrset(Rtype::AAAA, 60, &[address])).flatten()
    }

    /// What happens to a change from the first to the second address, where the third is at the target and the last are
    /// at the others that can be read; `is_all` says whether all can.
    fn fate_where(is_all: bool, [before, after, here]: [&str; 3], others: &[&str]) -> LackFate {
        let kind = ChangeKind::between(aaaa(before), aaaa(after)).unwrap();
        let others = HeldElsewhere { held: others.iter().map(|other| aaaa(other)).collect(), is_all };
        fate(&kind, aaaa(here).as_ref(), &others)
    }

    /// The same where all can be read.
    fn fate_of(before: &str, after: &str, here: &str, others: &[&str]) -> LackFate {
        fate_where(true, [before, after, here], others)
    }

    #[test]
    fn a_lack_waits_while_those_that_took_the_change_cannot_be_read() {
        let new = ["", "2a02::1", ""];
        assert_eq!(fate_where(false, new, &[]), LackFate::Unclear);
        assert_eq!(fate_where(false, new, &["2a02::2"]), LackFate::Unclear);
        assert_eq!(fate_where(false, new, &["2a02::1"]), LackFate::Make, "one that has it is enough");
        assert_eq!(fate_where(false, ["", "2a02::1", "2a02::1"], &[]), LackFate::Done);
    }

    #[test]
    fn a_lack_is_done_over_made_or_left() {
        assert_eq!(fate_of("", "2a02::1", "2a02::1", &["2a02::1"]), LackFate::Done);
        assert_eq!(fate_of("", "2a02::1", "2a02::1", &[""]), LackFate::Done, "what is there needs no other");
        assert_eq!(fate_of("", "2a02::1", "", &["2a02::2", ""]), LackFate::Over);
        assert_eq!(fate_of("", "2a02::1", "", &["2a02::2", "2a02::1"]), LackFate::Make);
        assert_eq!(fate_of("2a02::1", "", "2a02::1", &[""]), LackFate::Make, "a delete");
        assert_eq!(fate_of("2a02::1", "", "2a02::2", &[""]), LackFate::Left, "another editor was there");
        assert_eq!(fate_of("2a02::1", "2a02::2", "2a02::3", &["2a02::2"]), LackFate::Left);
        assert_eq!(fate_of("2a02::1", "2a02::2", "2a02::1", &[]), LackFate::Over, "none can say that it has it");
    }

    /// A new RRset of this type at `a.example.net`, for the target `a` of a pool.
    fn for_a(pool: &str, rtype: Rtype, rdata: &str) -> Change {
        let pool: PoolName = pool.parse().unwrap();
        let own = fixture::change(("p", Some(1)), ("a.example.net", rtype), ((60, &[]), (60, &[rdata])), &[]);
        Change { pool, targets: vec!["a".to_owned()], ..own }
    }

    /// That the target of a change still lacks it.
    fn lack(change: &Change) -> LackedChange {
        let Change { pool, zone, key, subject, project, kind, .. } = change;
        let sent = SentChange {
            registers: None,
            subject: subject.clone(),
            also: Vec::new(),
            project: project.clone(),
            name: key.owner.as_name().to_name(),
            rtype: key.rtype,
            before: None,
            after: kind.after().map(|rrset| RrsetText::of(key.rtype, rrset)),
        };
        let target = TargetId { pool: pool.clone(), name: "a".to_owned() };
        let copy = CopyId { target, zone: zone.clone() };
        let at = "2026-11-20T02:00:00Z".parse().unwrap();
        LackedChange {
            copy,
            apply: ApplyId(1),
            at,
            change: sent,
            why: "the server was down".to_owned(),
            is_left_out: false,
        }
    }

    /// What happens to lacks of one RRset, each from the first to the second address, where the target holds `here` and the
    /// only other one holds `there`: how many are over and left, and what is made in all.
    fn judged(lacks: &[[&str; 2]], [here, there]: [&str; 2]) -> (usize, usize, Option<ChangeKind>) {
        let change = for_a("main", Rtype::AAAA, "2a02::1");
        let of = |sides: &[&str; 2]| {
            let [before, after] = sides.map(|side| aaaa(side).map(|rrset| RrsetText::of(Rtype::AAAA, &rrset)));
            let lack = lack(&change);
            OpenLack::of(LackedChange { change: SentChange { before, after, ..lack.change }, ..lack }).unwrap()
        };
        let lacks: Vec<OpenLack> = lacks.iter().map(of).collect();
        let mut work = CopyWork::default();
        let others = HeldElsewhere { held: vec![aaaa(there)], is_all: true };
        judge(&mut work, &lacks.iter().collect::<Vec<_>>(), &aaaa(here), &others);
        let made = work.changes.pop();
        assert!(work.changes.is_empty());
        (work.over.len(), work.left.len(), made.map(|change| change.kind))
    }

    #[test]
    fn a_target_that_was_away_for_several_changes_of_an_rrset_goes_from_the_first_to_the_last() {
        let (one, two, three) = ("2a02::1", "2a02::2", "2a02::3");
        let made = |before, after| ChangeKind::between(aaaa(before), aaaa(after));
        let twice = [["", one], [one, two]];
        assert_eq!(judged(&twice, ["", two]), (1, 0, made("", two)));
        assert_eq!(judged(&twice, [one, two]), (1, 0, made(one, two)));
        assert_eq!(judged(&twice, [two, two]), (2, 0, None));
        assert_eq!(judged(&twice, [three, two]), (1, 1, None), "another editor was there");
        assert_eq!(judged(&twice, ["", three]), (2, 0, None), "at the other one, too");
        assert_eq!(
            judged(&[["", one], ["", two]], ["", two]),
            (1, 0, made("", two)),
            "it was there for the later plan"
        );
        // There and back.
        assert_eq!(judged(&[["", one], [one, ""]], ["", ""]), (2, 0, None));
        assert_eq!(judged(&[["", one], [one, ""], ["", two]], ["", two]), (2, 0, made("", two)));
    }

    #[test]
    fn an_rrset_of_another_owner_is_taken_over_before_its_records_change() {
        let marked = |address, owner| aaaa(address).map(|rrset| rrset.marked(Some(RrsetMark::of(owner))));
        let steps = [marked("2a02::1", "them"), marked("2a02::1", "us"), marked("2a02::2", "us")];
        let change = for_a("main", Rtype::AAAA, "2a02::1");
        let text = |rrset: &Option<Rrset>| rrset.as_ref().map(|rrset| RrsetText::of(Rtype::AAAA, rrset));
        let of = |sides: &[Option<Rrset>]| {
            let LackedChange { change, .. } = lack(&change);
            let change = SentChange { before: text(&sides[0]), after: text(&sides[1]), ..change };
            OpenLack::of(LackedChange { change, ..lack(&for_a("main", Rtype::AAAA, "2a02::1")) }).unwrap()
        };
        let lacks: Vec<OpenLack> = steps.windows(2).map(of).collect();
        let others = HeldElsewhere { held: vec![steps[1].clone(), steps[2].clone()], is_all: true };
        let judged_from = |here: usize| {
            let mut work = CopyWork::default();
            judge(&mut work, &lacks.iter().collect::<Vec<_>>(), &steps[here], &others);
            let made: Vec<ChangeKind> = work.changes.into_iter().map(|change| change.kind).collect();
            (made, work.over.len(), work.left.len())
        };
        let step = |to: usize| ChangeKind::between(steps[to - 1].clone(), steps[to].clone()).into_iter().collect();
        assert_eq!(judged_from(0), (step(1), 0, 1));
        assert_eq!(judged_from(1), (step(2), 1, 0));
    }

    #[test]
    fn what_is_still_lacking_is_told_by_pool_and_type() {
        let one = for_a("main", Rtype::AAAA, "2a02::1");
        let other_type = for_a("main", Rtype::TXT, "\"x\"");
        let other_pool = for_a("other", Rtype::AAAA, "2a02::1");
        let all = [one.clone(), other_type, other_pool];
        for (place, change) in all.iter().enumerate() {
            assert_eq!(still_lacking(&all, &[lack(change)]), [&all[place]]);
        }
        assert_eq!(still_lacking(&all, &[]), Vec::<&Change>::new());
    }
}
