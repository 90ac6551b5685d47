//! Finds what must never happen, by comparison with the log of the primary, which is the truth.

use std::collections::{BTreeSet, HashMap};

use super::effects::{EffectiveUpdate, effects, is_changed_by_others};
use super::fleet::slot;
use super::journals::{untrue_of_markers, untrue_of_rrsets};
use super::marks::unmarked;
use super::seed_play::Weakness;
use super::stage::{Stage, shown};
use super::steps::wrong_steps;
use crate::apply::OutcomeCode;
use crate::change::Change;
use crate::dns::{Name, Rrset, Rtype};
use crate::pipeline::apply::ApplyRun;
use crate::plan::SealedPlan;
use crate::provider::memory::primary::LoggedUpdate;
use crate::provider::memory::rules::RrsetDifference;
use crate::state::{ApplyJournal, OwnershipRegister, SightedRrset, Sqlite};
use crate::verify::truth;

/// What a run said when it ended.
pub struct Told<'r> {
    /// The run.
    pub run: usize,
    /// Whether this was its first session, and not a resume.
    pub is_first: bool,
    /// What it said.
    pub ran: &'r ApplyRun,
}

/// What was found so far.
#[derive(Default)]
pub struct Checks {
    /// What must not happen.
    pub faults: Vec<String>,
    /// The changes of each run's plan.
    plans: HashMap<usize, Vec<Change>>,
    /// How many updates there had been when each run planned.
    planned_at: HashMap<usize, usize>,
    /// RRsets of hosts for which the first session of a run said that nothing was done: the run, how many updates had
    /// been sent by then, and the RRset.
    untouched: Vec<(usize, usize, Name, Rtype)>,
}

impl Checks {
    /// Notes a fault.
    pub fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// Keeps the plan of a run.
    pub fn plan(&mut self, stage: &Stage, run: usize, sealed: &SealedPlan) {
        self.plans.insert(run, sealed.plan().changes.clone());
        self.planned_at.insert(run, stage.primary.with_log(<[_]>::len));
    }

    /// The same plans, of which nothing is found yet.
    pub fn of_same_plans(&self) -> Checks {
        Checks { plans: self.plans.clone(), planned_at: self.planned_at.clone(), ..Checks::default() }
    }

    /// Adds what another check found.
    pub fn join(&mut self, other: Checks) {
        self.faults.extend(other.faults);
        self.untouched.extend(other.untouched);
    }

    /// Checks what a run says: what it applied is in DNS, or was until another editor changed it.
    pub fn told(&mut self, stage: &Stage, told: &Told<'_>) {
        let (run, sent) = (told.run, stage.cast().sent.len());
        for host in &told.ran.applied.hosts {
            let changes: Vec<Change> =
                self.plans[&run].iter().filter(|change| change.subject == host.subject).cloned().collect();
            for change in &changes {
                let (name, rtype) = (change.key.owner.as_name().to_name(), change.key.rtype);
                match host.outcome {
                    OutcomeCode::Applied | OutcomeCode::AlreadyApplied => {
                        let place = stage.fleet.place(&name, rtype).unwrap();
                        let held = stage.past(place).iter().any(|past| past.as_ref() == change.kind.after());
                        if !held {
                            let outcome = host.outcome;
                            self.fault(format!("run {run} reports {outcome}, but {name} {rtype} never was as planned"));
                        }
                    }
                    OutcomeCode::Stale | OutcomeCode::NotReached if told.is_first => {
                        self.untouched.push((run, sent, name, rtype));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Checks what a run says after the faults: nothing is left to be done for it.
    pub fn settled(&mut self, stage: &Stage, run: usize, ran: &ApplyRun) {
        for host in &ran.applied.hosts {
            let (name, outcome) = (&host.name, host.outcome);
            // Where nothing is compared, a lost answer leaves open whether something else wrote.
            let is_fine = matches!(outcome, OutcomeCode::Applied | OutcomeCode::AlreadyApplied)
                || stage.is_exclusive && outcome == OutcomeCode::Raced;
            if !is_fine && !matches!(outcome, OutcomeCode::Stale | OutcomeCode::Partial) {
                self.fault(format!("run {run} reports {outcome} for {name} after the faults: {:?}", host.message));
            }
            let changes: Vec<Change> =
                self.plans[&run].iter().filter(|change| change.subject == host.subject).cloned().collect();
            let is_there =
                |change: &Change| truth::standing(&stage.primary, &change.key).as_ref() == change.kind.after();
            if is_fine && !changes.iter().all(is_there) {
                self.fault(format!("run {run} reports {outcome} for {name} after the faults, and not all is in DNS"));
            }
            if !is_fine && changes.iter().all(is_there) {
                self.fault(format!("run {run} reports {outcome} for {name} after the faults, and all is in DNS"));
            }
            if !is_fine && !self.is_disturbed(stage, run, &changes) {
                let why = &host.message;
                self.fault(format!("run {run} reports {outcome} for {name}, which no other changed: {why:?}"));
            }
        }
    }

    /// Whether anything but a run changed something at the names of these changes of its plan since, or at the mark that one of
    /// them relies on: what would be created without its mark is left.
    fn is_disturbed(&self, stage: &Stage, run: usize, changes: &[Change]) -> bool {
        let effects = effects(stage);
        let is_own = |place: usize| {
            let mut of_run = effects.iter().filter(|effect| effect.run == run && !effect.is_echo);
            of_run.any(|effect| effect.logged == place)
        };
        let is_mark_of = |change: &Change, found: &RrsetDifference| {
            let place = stage.fleet.place(&change.key.owner.as_name().to_name(), change.key.rtype);
            let mark = place.and_then(|place| stage.fleet.mark_of(place)).map(|place| slot(&stage.fleet.keys[place]).0);
            change.kind.before().is_none() && mark.as_ref() == Some(&found.name)
        };
        let is_at = |found: &RrsetDifference| {
            let is_it =
                |change: &Change| change.key.owner.as_name() == found.name.as_name() || is_mark_of(change, found);
            changes.iter().any(is_it)
        };
        let planned_at = self.planned_at[&run];
        stage.primary.with_log(|log| {
            let (early, since) = log.split_at(planned_at);
            let others = since.iter().zip(planned_at..).filter(|(_, place)| !is_own(*place)).map(|(logged, _)| logged);
            let changed = |logged: &LoggedUpdate| logged.outcome.clone().unwrap_or_default();
            // The plans know nothing of a CNAME that was there before.
            let mut aliases = early.iter().flat_map(changed).filter(|found| found.rtype == Rtype::CNAME);
            aliases.any(|found| is_at(&found)) || others.flat_map(changed).any(|found| is_at(&found))
        })
    }

    /// Checks all that can be checked after the last event.
    pub fn end(&mut self, stage: &Stage, states: &[&Sqlite]) {
        let effects = effects(stage);
        // With a protection switched off, what runs say is wrong; only what happens to the zones counts.
        if stage.weakness != Weakness::None {
            self.faults.clear();
        }
        if stage.is_exclusive {
            self.faults.extend(wrong_steps(stage, &effects, &self.plans));
        } else {
            self.check_overwritten(stage, &effects);
        }
        self.faults.extend(unmarked(stage, &effects));
        if stage.weakness == Weakness::None {
            self.check_untouched(&effects);
            self.check_again(stage);
            self.faults.extend(if stage.is_fenced {
                untrue_of_markers(stage, states, &effects)
            } else {
                untrue_of_rrsets(stage, (states, &self.plans), &effects)
            });
            self.check_own(stage, states, &effects);
            self.check_edits(stage, states);
        }
        if !self.faults.is_empty() {
            stage.primary.with_log(|log| log.iter().for_each(|logged| tell(stage, logged)));
        }
    }

    /// Checks that what a run replaced was as its plan saw it, and that no change took effect twice. Without a marker, a service
    /// has no condition that stops a second creation once another editor deleted the RRset, and an apply that died does not
    /// know whether another editor put back what was there.
    fn check_overwritten(&mut self, stage: &Stage, effects: &[EffectiveUpdate]) {
        let mut times: HashMap<(usize, usize, &Name, Rtype), usize> = HashMap::new();
        let mut faults = Vec::new();
        for effect in effects {
            let run = &effect.run;
            let session = if stage.is_fenced { 0 } else { effect.session };
            for RrsetDifference { name, rtype, before, .. } in effect.of_hosts() {
                let is_it =
                    |change: &&Change| change.key.owner.as_name() == name.as_name() && change.key.rtype == *rtype;
                let Some(change) = self.plans[run].iter().find(is_it) else {
                    faults.push(format!("run {run} changed {name} {rtype}, which is not in its plan"));
                    continue;
                };
                if before.as_ref() != change.kind.before() {
                    let shown = |rrset: Option<&Rrset>| {
                        rrset.map_or("nothing".to_owned(), |rrset| {
                            format!("{} {}", rrset.ttl(), rrset.rdata_texts(*rtype).join(", "))
                        })
                    };
                    let (held, saw) = (shown(before.as_ref()), shown(change.kind.before()));
                    faults.push(format!("run {run} overwrote {name} {rtype}: it held {held}, its plan saw {saw}"));
                }
                if stage.is_fenced || before.is_some() {
                    *times.entry((*run, session, name, *rtype)).or_default() += 1;
                }
            }
        }
        for ((run, _, name, rtype), count) in times.into_iter().filter(|(_, count)| *count > 1) {
            faults.push(format!("run {run} changed {name} {rtype} {count} times"));
        }
        self.faults.extend(faults);
    }

    /// Checks that no run changed what it said it did not change.
    fn check_untouched(&mut self, effects: &[EffectiveUpdate]) {
        for (run, sent, name, rtype) in std::mem::take(&mut self.untouched) {
            let early = effects.iter().filter(|effect| effect.run == run && effect.sent < sent);
            let is_touched = |found: &RrsetDifference| found.name == name && found.rtype == rtype;
            if early.flat_map(|effect| &effect.differences).any(is_touched) {
                self.fault(format!("run {run} said that it did not change {name} {rtype}, but had changed it"));
            }
        }
    }

    /// Checks that nothing was sent of which the journal said that it was made.
    fn check_again(&mut self, stage: &Stage) {
        let cast = stage.cast();
        let again = cast.sent.iter().filter(|sent| sent.is_again);
        self.faults
            .extend(again.map(|sent| format!("run {} sent again what was made: {}", sent.run, shown(&sent.message))));
    }

    /// Checks that the own RRsets of a state are those that its runs created and did not delete, as far as the state
    /// knows the outcome of all updates. The state may treat an RRset that another editor changed since as never
    /// created. Without a marker, what other editors changed at any time may count as the state's.
    fn check_own(&mut self, stage: &Stage, states: &[&Sqlite], effects: &[EffectiveUpdate]) {
        for (number, state) in states.iter().enumerate() {
            if state.applies(10).unwrap().iter().any(|apply| apply.updates_open > 0) {
                continue;
            }
            let mut own: BTreeSet<(&Name, Rtype)> = BTreeSet::new();
            let mut created: HashMap<(&Name, Rtype), usize> = HashMap::new();
            let of_state = |effect: &&EffectiveUpdate| states.len() == 1 || effect.run == number;
            for effect in effects.iter().filter(|effect| !effect.is_echo).filter(of_state) {
                for found in effect.of_hosts() {
                    let slot = (&found.name, found.rtype);
                    match (&found.before, &found.after) {
                        (None, _) => {
                            own.insert(slot);
                            created.insert(slot, effect.logged);
                        }
                        (_, None) => drop(own.remove(&slot)),
                        _ => {}
                    }
                }
            }
            let known = state.own().unwrap();
            for key in &stage.fleet.keys {
                let (name, rtype) = slot(key);
                let (is_own, is_known) = (own.contains(&(&name, rtype)), known.contains(name.as_name(), rtype));
                let since = created.get(&(&name, rtype)).copied();
                let may_be_disowned =
                    is_own && since.is_some_and(|since| is_changed_by_others(stage, (&name, rtype), since));
                let may_be_taken = !stage.is_fenced && is_touched(stage, effects, (&name, rtype));
                if is_own != is_known && !may_be_disowned && !may_be_taken {
                    self.fault(format!(
                        "state {number} says that {name} {rtype} is own: {is_known}; the truth: {is_own}"
                    ));
                }
            }
        }
    }
}

impl Checks {
    /// Checks that an RRset which is not as a state's journal left it was changed last by another editor: a plan would
    /// say `edited-since` of it. Gives how many such RRsets there are.
    pub fn check_edits(&mut self, stage: &Stage, states: &[&Sqlite]) -> usize {
        let effects = effects(stage);
        let mut count = 0;
        for (number, state) in states.iter().enumerate() {
            for key in &stage.fleet.keys {
                let (name, rtype) = slot(key);
                let Some(written) = state.last_written(&[SightedRrset::anywhere(key)]).unwrap().remove(0) else {
                    continue;
                };
                if written.left(rtype, truth::standing(&stage.primary, key).as_ref()) {
                    continue;
                }
                count += 1;
                let own = effects.iter().filter(|effect| states.len() == 1 || effect.run == number);
                let own = own.filter(|effect| !effect.is_echo);
                let changes = |found: &RrsetDifference| found.name == name && found.rtype == rtype;
                let last =
                    own.filter(|effect| effect.differences.iter().any(changes)).map(|effect| effect.logged + 1).max();
                // Without a marker, what another editor wrote may count as done.
                let taken = (!stage.is_fenced).then(|| journaled_at(stage, number, &(name.clone(), rtype))).flatten();
                let is_edited = last.or(taken).is_some_and(|last| {
                    stage.primary.with_log(|log| {
                        let later = log[last..].iter().filter_map(|logged| logged.outcome.as_ref().ok());
                        later.flatten().any(changes)
                    })
                });
                if !is_edited {
                    let apply = written.apply.0;
                    self.fault(format!("state {number}: {name} {rtype} is not as apply {apply} left it, by no edit"));
                }
            }
        }
        count
    }
}

/// Whether anything but updates of runs changed an RRset.
fn is_touched(stage: &Stage, effects: &[EffectiveUpdate], (name, rtype): (&Name, Rtype)) -> bool {
    let mut echoes = effects.iter().filter(|effect| effect.is_echo).flat_map(EffectiveUpdate::of_hosts);
    is_changed_by_others(stage, (name, rtype), 0) || echoes.any(|found| found.name == *name && found.rtype == rtype)
}

/// How many updates there had been when a state's journal got the first batch of an RRset.
fn journaled_at(stage: &Stage, state: usize, key: &(Name, Rtype)) -> Option<usize> {
    let cast = stage.cast();
    let mut of_key = cast.journaled.iter().filter(|(entry, _)| entry.state == state && entry.keys.contains(key));
    of_key.next().map(|(_, updates)| *updates)
}

/// Writes an update that the primary processed to the history.
fn tell(stage: &Stage, logged: &LoggedUpdate) {
    let by = if logged.is_delivered { "a run" } else { "another editor" };
    let became = match &logged.outcome {
        Ok(differences) => format!("{} RRsets changed", differences.len()),
        Err(rcode) => rcode.to_string(),
    };
    stage.tell(|| format!("truth: {by}: {became}: {}", shown(&logged.message)));
}
