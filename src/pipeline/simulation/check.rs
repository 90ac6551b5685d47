//! Finds what must never happen, by comparison with the log of the primary, which is the truth.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::fleet::slot;
use super::seed_play::Weakness;
use super::stage::{Stage, shown};
use crate::apply::OutcomeCode;
use crate::change::Change;
use crate::dns::{Name, Rrset, Rtype};
use crate::pipeline::apply::ApplyRun;
use crate::plan::SealedPlan;
use crate::provider::memory::primary::LoggedUpdate;
use crate::provider::memory::rules::RrsetDifference;
use crate::state::{ApplyJournal, OwnershipRegister, SentFate, SightedRrset, Sqlite};
use crate::target::Marker;
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
    /// RRsets of hosts for which the first session of a run said that nothing was done: the run, how many updates had
    /// been sent by then, and the RRset.
    untouched: Vec<(usize, usize, Name, Rtype)>,
}

/// An update of a run that took effect.
struct EffectiveUpdate {
    /// The run.
    run: usize,
    /// Its place among all updates that were sent.
    sent: usize,
    /// Its place among all updates that the primary processed.
    logged: usize,
    /// What it changed.
    differences: Vec<RrsetDifference>,
}

impl Checks {
    /// Notes a fault.
    pub fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    /// Keeps the plan of a run.
    pub fn plan(&mut self, run: usize, sealed: &SealedPlan) {
        self.plans.insert(run, sealed.plan().changes.clone());
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
            let is_fine = matches!(outcome, OutcomeCode::Applied | OutcomeCode::AlreadyApplied);
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
        }
    }

    /// Checks all that can be checked after the last event.
    pub fn end(&mut self, stage: &Stage, states: &[&Sqlite]) {
        let effects = effects(stage);
        // With a protection switched off, what runs say is wrong; only what happens to the zones counts.
        if stage.weakness != Weakness::None {
            self.faults.clear();
        }
        self.check_overwritten(&effects);
        if stage.weakness == Weakness::None {
            self.check_untouched(&effects);
            self.check_journals(stage, states, &effects);
            self.check_own(stage, states, &effects);
            self.check_edits(stage, states);
        }
        if !self.faults.is_empty() {
            stage.primary.with_log(|log| log.iter().for_each(|logged| tell(stage, logged)));
        }
    }

    /// Checks that what a run replaced was as its plan saw it, and that no change took effect twice.
    fn check_overwritten(&mut self, effects: &[EffectiveUpdate]) {
        let mut times: HashMap<(usize, &Name, Rtype), usize> = HashMap::new();
        let mut faults = Vec::new();
        for EffectiveUpdate { run, differences, .. } in effects {
            for RrsetDifference { name, rtype, before, .. } in differences.iter().filter(|found| is_of_host(found)) {
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
                *times.entry((*run, name, *rtype)).or_default() += 1;
            }
        }
        for ((run, name, rtype), count) in times.into_iter().filter(|(_, count)| *count > 1) {
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

    /// Checks that updates took effect exactly where a journal says so.
    fn check_journals(&mut self, stage: &Stage, states: &[&Sqlite], effects: &[EffectiveUpdate]) {
        let swaps = effects.iter().flat_map(|effect| &effect.differences).filter(|found| truth::is_marker(&found.name));
        let executed: HashSet<String> =
            swaps.filter_map(|swap| Some(Marker::of_rrset(swap.after.as_ref()?)?.to_string())).collect();
        let fates: HashMap<(usize, u64, u64), SentFate> = states
            .iter()
            .enumerate()
            .flat_map(|(number, state)| {
                let applies = state.applies(10).unwrap();
                let sent = applies.into_iter().flat_map(|apply| {
                    let sent = state.sent(apply.id).unwrap();
                    sent.into_iter().map(move |sent| ((apply.id.0, sent.number), sent.fate))
                });
                sent.map(move |((apply, batch), fate)| ((number, apply, batch), fate)).collect::<Vec<_>>()
            })
            .collect();
        let mut faults = Vec::new();
        for entry in &stage.cast().journaled {
            let marker = entry.marker.as_ref().map(Marker::to_string).unwrap_or_default();
            let was_done = executed.contains(&marker);
            match &fates[&(entry.state, entry.apply.0, entry.number)] {
                SentFate::Done if !was_done => {
                    faults.push(format!("the journal says that `{marker}` is done, but it is not"))
                }
                SentFate::Undone(why) if was_done => {
                    faults.push(format!("the journal says that `{marker}` is undone, but it took effect: {why}"));
                }
                _ => {}
            }
        }
        self.faults.extend(faults);
    }

    /// Checks that the own RRsets of a state are those that its runs created and did not delete, as far as the state
    /// knows the outcome of all updates. The state may treat an RRset that another editor changed since as never
    /// created.
    fn check_own(&mut self, stage: &Stage, states: &[&Sqlite], effects: &[EffectiveUpdate]) {
        for (number, state) in states.iter().enumerate() {
            if state.applies(10).unwrap().iter().any(|apply| apply.updates_open > 0) {
                continue;
            }
            let mut own: BTreeSet<(&Name, Rtype)> = BTreeSet::new();
            let mut created: HashMap<(&Name, Rtype), usize> = HashMap::new();
            let of_state = |effect: &&EffectiveUpdate| states.len() == 1 || effect.run == number;
            for effect in effects.iter().filter(of_state) {
                for found in effect.differences.iter().filter(|found| is_of_host(found)) {
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
                if is_own != is_known && !may_be_disowned {
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
                let changes = |found: &RrsetDifference| found.name == name && found.rtype == rtype;
                let last =
                    own.filter(|effect| effect.differences.iter().any(changes)).map(|effect| effect.logged).max();
                let is_edited = last.is_some_and(|last| {
                    stage.primary.with_log(|log| {
                        let later = log[last + 1..].iter().filter_map(|logged| logged.outcome.as_ref().ok());
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

/// Whether another editor changed an RRset after a place of the log.
fn is_changed_by_others(stage: &Stage, (name, rtype): (&Name, Rtype), since: usize) -> bool {
    stage.primary.with_log(|log| {
        let theirs = log[since..].iter().filter(|logged| !logged.is_delivered);
        let mut differences = theirs.filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
        differences.any(|found| found.name == *name && found.rtype == rtype)
    })
}

/// Whether a difference is one of a host's RRsets.
fn is_of_host(found: &RrsetDifference) -> bool {
    found.rtype != Rtype::SOA && !truth::is_marker(&found.name)
}

/// The updates of runs that took effect, in their order.
fn effects(stage: &Stage) -> Vec<EffectiveUpdate> {
    let cast = stage.cast();
    stage.primary.with_log(|log| {
        let effect = |(place, logged): (usize, &LoggedUpdate)| {
            let differences = logged.outcome.clone().ok().filter(|_| logged.is_delivered)?;
            let sent = cast.sent.iter().position(|sent| sent.message == logged.message)?;
            Some(EffectiveUpdate { run: cast.sent[sent].run, sent, logged: place, differences })
        };
        log.iter().enumerate().filter_map(effect).collect()
    })
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
