//! Finds what must never happen in a pool, by comparison with the logs of its primaries, which are the truth.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::fleet::slot;
use super::super::stage::shown as shown_update;
use super::stage::{NAMES, PoolStage};
use crate::change::{Change, ChangeKind};
use crate::dns::{Name, RrKey, Rrset, Rtype};
use crate::pipeline::apply::ApplyRun;
use crate::plan::Plan;
use crate::provider::memory::primary::LoggedUpdate;
use crate::provider::memory::rules::RrsetDifference;
use crate::state::lacks::LeftLack;
use crate::state::{
    ApplyId, ApplyJournal, LackList, LeftSubject, OwnershipRegister, PublicationRecord as _, SentFate, Sqlite,
};
use crate::target::{Marker, TargetScope, ZoneId};
use crate::verify::truth;

/// How a session ended.
pub enum SessionEnd {
    /// The run died.
    Died,
    /// An apply ended.
    Ran(Box<ApplyRun>),
    /// A `sync` ended.
    Synced(Box<crate::state::lacks::LackOutcome>),
}

/// What was found so far.
#[derive(Default)]
pub struct PoolChecks {
    /// What must not happen.
    pub faults: Vec<String>,
    /// What the latest `sync` left, by target.
    left: HashSet<(String, RrKey)>,
    /// The PTR among them whose addresses were not changed by the apply that deleted the PTR elsewhere.
    undecided: HashSet<(String, RrKey)>,
}

/// An update of a run that took effect in a copy.
struct PoolEffect {
    /// The marker that it left.
    marker: String,
    /// What it changed of hosts.
    differences: Vec<RrsetDifference>,
}

/// An RRset in words.
fn words(rtype: Rtype, rrset: Option<&Rrset>) -> String {
    rrset.map_or("nothing".to_owned(), |rrset| rrset.rdata_texts(rtype).join(", "))
}

/// Whether a plan knew what a copy holds.
fn is_known(plan: &Plan, copy: usize) -> bool {
    plan.zones.iter().any(|seen| seen.target == NAMES[copy])
}

/// What a plan asks of a copy at a key. In one that was unknown the change of the reference is tried, if there are not
/// several.
fn asked_of<'p>(plan: &'p Plan, copy: usize, key: &'p RrKey) -> impl Iterator<Item = &'p Change> {
    let is_alone = plan.changes.iter().filter(|own| own.key == *key).count() == 1;
    let is_tried = is_alone && !is_known(plan, copy);
    plan.changes.iter().filter(move |own| own.key == *key && (own.is_at(NAMES[copy]) || is_tried))
}

impl PoolChecks {
    /// Checks what a session says when it ends: what it applied is in as many copies as reach the threshold, or was.
    pub fn ended(&mut self, stage: &PoolStage, end: &SessionEnd) {
        if let SessionEnd::Synced(outcome) = end {
            let place = |own: &LeftLack| (own.target.name.clone(), own.key.clone());
            self.left = outcome.left.iter().map(place).collect();
            let is_undecided = |own: &&LeftLack| own.why.contains("were not changed with it");
            self.undecided = outcome.left.iter().filter(is_undecided).map(place).collect();
        }
        let SessionEnd::Ran(ran) = end else { return };
        let Some(apply) = ran.apply else { return };
        let begun = stage.begun.lock().unwrap();
        let changes = &begun[&apply].changes;
        for host in ran.applied.hosts.iter().filter(|host| host.outcome.is_done()) {
            let own: Vec<&Change> = changes.iter().filter(|change| change.subject == host.subject).collect();
            let has_all = |copy: &usize| {
                own.iter().filter(|change| change.is_at(NAMES[*copy])).all(|change| {
                    let (name, rtype) = (change.key.owner.as_name().to_name(), change.key.rtype);
                    let place = stage.fleet.place(&name, rtype).unwrap();
                    stage.past(*copy, place).iter().any(|past| past.as_ref() == change.kind.after())
                })
            };
            let votes = (0..stage.primaries.len()).filter(has_all).count();
            if 100 * votes < stage.threshold as usize * stage.primaries.len() {
                self.faults
                    .push(format!("apply {} says {} of {}, at {votes} targets", apply.0, host.outcome, host.name));
            }
        }
    }

    /// Whether `sync` left a change at a copy with reason: something of its host that it left there is neither as before
    /// the plan nor as planned, or is of an earlier plan; or is a PTR of which the next plan decides.
    fn is_left(&self, stage: &PoolStage, plan: &Plan, copy: usize, change: &Change) -> bool {
        let host = |key: &RrKey| {
            let place = stage.fleet.place(&key.owner.as_name().to_name(), key.rtype);
            place.map(|place| stage.fleet.host(place))
        };
        let is_odd = |key: &RrKey| {
            let held = truth::standing(&stage.primaries[copy], key);
            let asked: Vec<&Change> = asked_of(plan, copy, key).collect();
            asked.iter().all(|own| held.as_ref() != own.kind.before() && held.as_ref() != own.kind.after())
        };
        let mut of_host = self.left.iter().filter(|(name, key)| name == NAMES[copy] && host(key) == host(&change.key));
        self.left.contains(&(NAMES[copy].to_owned(), change.key.clone()))
            && of_host.any(|left| is_odd(&left.1) || self.undecided.contains(left))
    }

    /// Checks, once all is calm and after a `sync`, that a change of a plan which one copy took is in all copies that it is for,
    /// where no other editor was at its host. What an apply did not finish, for want of targets, is left to the next plan;
    /// and so is a host at a target where something of it is neither as before the plan nor as planned.
    pub fn synced(&mut self, stage: &PoolStage, plan: &Plan, unfinished: &[LeftSubject]) {
        let is_unfinished = |change: &Change| unfinished.iter().any(|own| own.subject == change.subject);
        for change in &plan.changes {
            let (name, rtype) = (change.key.owner.as_name().to_name(), change.key.rtype);
            let place = stage.fleet.place(&name, rtype).unwrap();
            if stage.is_host_edited(place) || is_unfinished(change) {
                continue;
            }
            let held: Vec<(usize, Option<Rrset>)> = (0..stage.primaries.len())
                .filter(|copy| asked_of(plan, *copy, &change.key).any(|own| own.kind == change.kind))
                .filter(|copy| !self.is_left(stage, plan, *copy, change))
                .map(|copy| (copy, truth::standing(&stage.primaries[copy], &change.key)))
                .collect();
            let is_taken =
                held.iter().any(|(copy, held)| is_known(plan, *copy) && held.as_ref() == change.kind.after());
            if is_taken && held.iter().any(|(_, held)| held.as_ref() == change.kind.before()) {
                let shown = |(copy, held): &(usize, Option<Rrset>)| {
                    format!("{}: {}", NAMES[*copy], words(rtype, held.as_ref()))
                };
                let held: Vec<String> = held.iter().map(shown).collect();
                self.faults.push(format!("after the sync {name} {rtype} is {}", held.join(", ")));
            }
        }
    }

    /// Checks that all copies hold what the plan of a run asks for.
    pub fn planned(&mut self, stage: &PoolStage, run: usize) {
        for (place, key) in stage.fleet.keys.iter().enumerate() {
            let wanted = stage.fleet.wanted(place, run);
            for (copy, primary) in stage.primaries.iter().enumerate() {
                let held = truth::standing(primary, key);
                if held != wanted {
                    let (held, wanted) = (words(key.rtype, held.as_ref()), words(key.rtype, wanted.as_ref()));
                    let at = NAMES[copy];
                    self.faults.push(format!("at the end {at} holds {held} at {}, and not {wanted}", key.owner));
                }
            }
        }
    }

    /// Checks that the state knows of nothing that targets lack.
    pub fn without_lacks(&mut self, state: &Sqlite) {
        for lack in state.lacks().unwrap() {
            let (target, name, rtype) = (&lack.copy.target.name, &lack.change.name, lack.change.rtype);
            self.faults.push(format!("at the end {target} lacks {name} {rtype} of apply {}", lack.apply.0));
        }
    }

    /// Checks that every target has reached the newest step of every zone.
    pub fn published(&mut self, stage: &PoolStage, state: &Sqlite) {
        for zone in &stage.fleet.zones {
            let zone = ZoneId { pool: stage.pool(), name: zone.clone() };
            let record = state.zone_record(&zone).unwrap();
            for (target, standing) in &record.targets {
                let (reached, newest) = (standing.steps.reached, record.newest);
                if reached != newest {
                    self.faults.push(format!("at the end {target} is at step {reached} of {newest} of {}", zone.name));
                }
            }
        }
    }

    /// Checks all that can be checked after the last event.
    pub fn end(&mut self, stage: &PoolStage, state: &Sqlite) {
        // With a protection switched off, only what happens to the zones counts.
        if stage.weakness != super::Weakness::None {
            self.faults.clear();
        }
        for (copy, primary) in stage.primaries.iter().enumerate() {
            let effects = primary.with_log(effects);
            self.check_overwritten(stage, copy, &effects);
            if stage.weakness == super::Weakness::None {
                self.check_own(stage, (copy, state), &effects);
            }
        }
        if stage.weakness == super::Weakness::None {
            self.check_journal(stage, state);
        }
        if !self.faults.is_empty() {
            for (copy, primary) in stage.primaries.iter().enumerate() {
                primary.with_log(|log| log.iter().for_each(|logged| tell(stage, copy, logged)));
            }
        }
    }

    /// Checks that what an apply replaced in a copy was as its plan saw it there, that no change took effect twice, and that
    /// a `sync` replaced only what an earlier plan saw.
    fn check_overwritten(&mut self, stage: &PoolStage, copy: usize, effects: &[PoolEffect]) {
        let journaled = stage.journaled.lock().unwrap();
        let applies: HashMap<String, ApplyId> =
            journaled.iter().filter_map(|entry| Some((entry.marker.as_ref()?.to_string(), entry.apply))).collect();
        let begun = stage.begun.lock().unwrap();
        let mut times: HashMap<(ApplyId, &Name, Rtype), usize> = HashMap::new();
        for PoolEffect { marker, differences } in effects {
            let Some(apply) = applies.get(marker) else {
                self.faults.push(format!("an update to {} is not in the journal: {marker}", NAMES[copy]));
                continue;
            };
            let plan = &begun[apply];
            for RrsetDifference { name, rtype, before, .. } in differences {
                let is_it = |change: &&Change| {
                    change.key.owner.as_name() == name.as_name()
                        && change.key.rtype == *rtype
                        && change.is_at(NAMES[copy])
                };
                let at = format!("apply {} at {}: {name} {rtype}", apply.0, NAMES[copy]);
                let Some(change) = plan.changes.iter().find(is_it) else {
                    self.faults.push(format!("{at} is not in its plan"));
                    continue;
                };
                if before.as_ref() != change.kind.before() {
                    let (was, saw) = (words(*rtype, before.as_ref()), words(*rtype, change.kind.before()));
                    self.faults.push(format!("{at} was {was}, and the plan saw {saw}"));
                }
                let count = times.entry((*apply, name, *rtype)).or_default();
                *count += 1;
                if *count > 1 {
                    self.faults.push(format!("{at} took effect {count} times"));
                }
                // Of a copy that was unknown, what the reference held counts.
                let planned = begun.values().filter(|plan| !plan.is_sync).flat_map(|plan| &plan.changes);
                let is_same = |own: &&Change| own.key == change.key;
                if plan.is_sync && !planned.filter(is_same).any(|own| own.kind.before() == change.kind.before()) {
                    self.faults.push(format!("{at}: a sync replaced {}", words(*rtype, before.as_ref())));
                }
            }
        }
    }

    /// Checks that the journal tells the fate of no update wrong.
    fn check_journal(&mut self, stage: &PoolStage, state: &Sqlite) {
        let effects = stage.primaries.iter().flat_map(|primary| primary.with_log(effects));
        let executed: HashSet<String> = effects.map(|effect| effect.marker).collect();
        let applies: BTreeSet<ApplyId> = stage.begun.lock().unwrap().keys().copied().collect();
        let mut fates: HashMap<(u64, u64), SentFate> = HashMap::new();
        for apply in applies {
            let sent = state.sent(apply).unwrap();
            fates.extend(sent.into_iter().map(|sent| ((apply.0, sent.number), sent.fate)));
        }
        for entry in stage.journaled.lock().unwrap().iter() {
            let marker = entry.marker.as_ref().map(Marker::to_string).unwrap_or_default();
            let was_done = executed.contains(&marker);
            match &fates[&(entry.apply.0, entry.number)] {
                SentFate::Done if !was_done => {
                    self.faults.push(format!("the journal says that `{marker}` is done, but it is not"));
                }
                SentFate::Undone(why) if was_done => {
                    let fault = format!("the journal says that `{marker}` is undone, but it took effect: {why}");
                    self.faults.push(fault);
                }
                _ => {}
            }
        }
    }

    /// Checks that what is own at a target is what runs created there and did not delete, as far as all outcomes are known
    /// and no other editor was there.
    fn check_own(&mut self, stage: &PoolStage, (copy, state): (usize, &Sqlite), effects: &[PoolEffect]) {
        let applies: Vec<ApplyId> = stage.begun.lock().unwrap().keys().copied().collect();
        let is_open = |id: &ApplyId| state.apply(*id).unwrap().is_some_and(|apply| apply.updates_open > 0);
        if applies.iter().any(is_open) {
            return;
        }
        let target = stage.target(copy);
        let others =
            (0..stage.primaries.len()).filter(|other| *other != copy).map(|other| NAMES[other].to_owned()).collect();
        let known = state.own_at(&TargetScope { others, ..TargetScope::only(target) }).unwrap();
        for (place, key) in stage.fleet.keys.iter().enumerate() {
            let (name, rtype) = slot(key);
            let mut is_own = false;
            for found in effects.iter().flat_map(|effect| &effect.differences) {
                if found.name == name && found.rtype == rtype {
                    match ChangeKind::between(found.before.clone(), found.after.clone()) {
                        Some(ChangeKind::Create { .. }) => is_own = true,
                        Some(ChangeKind::Delete { .. }) => is_own = false,
                        Some(ChangeKind::Modify { .. }) | None => {}
                    }
                }
            }
            let is_edited = stage.edited.lock().unwrap().contains(&(copy, place));
            let is_known = known.contains(name.as_name(), rtype);
            if is_own != is_known && !is_edited {
                let at = NAMES[copy];
                self.faults
                    .push(format!("the state says of {name} {rtype} at {at} that it is own: {is_known}, not {is_own}"));
            }
        }
    }
}

/// The updates of runs that took effect in a copy, in their order.
fn effects(log: &[LoggedUpdate]) -> Vec<PoolEffect> {
    let effect = |logged: &LoggedUpdate| {
        let mut differences = logged.outcome.clone().ok().filter(|_| logged.is_delivered)?;
        let marker = differences.iter().find(|found| truth::is_marker(&found.name))?;
        let marker = Marker::of_rrset(marker.after.as_ref()?)?.to_string();
        differences.retain(|found| found.rtype != Rtype::SOA && !truth::is_marker(&found.name));
        Some(PoolEffect { marker, differences })
    };
    log.iter().filter_map(effect).collect()
}

/// Writes an update that a primary processed to the history.
fn tell(stage: &PoolStage, copy: usize, logged: &LoggedUpdate) {
    let by = if logged.is_delivered { "a run" } else { "another editor" };
    let became = match &logged.outcome {
        Ok(differences) => format!("{} RRsets changed", differences.len()),
        Err(rcode) => rcode.to_string(),
    };
    stage.tell(|| format!("truth of {}: {by}: {became}: {}", NAMES[copy], shown_update(&logged.message)));
}
