//! What the runs of one seed share: dice that say where a run dies, what is switched off, and what the state keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard};

use super::super::cast::Journaled;
use super::super::stage::Crash;
use super::super::wires::RunPoints;
use super::services::TrueService;
use super::world::TrueHost;
use crate::approval::ApprovalNews;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::Time;
use crate::pipeline::approvals::ApprovalSettings;
use crate::provider::memory::primary::MemoryPrimary;
use crate::state::ApplyId;
use crate::verify::truth::Numbers;

/// Which protection is switched off, to see that the simulation finds the faults that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Nothing.
    None,
    /// What a service allowed once counts for good: it is not asked again before a wave.
    NoSecondPoll,
    /// A task is in the state only after its request was sent.
    RowAfterRequest,
    /// All services of a host are asked at once.
    AskedAtOnce,
    /// The ids of tasks are numbers that the state counts.
    IdsRepeat,
    /// No list of a service is read.
    NoCollection,
    /// Whatever begins with the name of the owner counts as of this state.
    CollectsForeign,
    /// A host is busy until the run ends.
    BusyUntilRunEnds,
    /// A task that could not be deleted counts as deleted.
    DeleteForgotten,
}

/// What all of a story shares, and changes while a run goes.
pub struct Cast {
    /// The dice.
    pub dice: Numbers,
    /// Whether a run may die.
    pub is_deadly: bool,
    /// Whether faults have ended.
    pub is_calm: bool,
    /// The number of the run.
    pub run: u64,
    /// The true time.
    pub now: Time,
    /// The services, by name.
    pub services: BTreeMap<String, TrueService>,
    /// The hosts, by number.
    pub hosts: Vec<TrueHost>,
    /// What projects ask for.
    pub projects: ApprovalSettings,
    /// What the plan of the run does to hosts, by number.
    pub deeds: BTreeMap<usize, CmsAction>,
    /// Of hosts that the plan of the run changes, those that have their names, too, and that it does not change.
    pub affected: BTreeMap<usize, usize>,
    /// The hosts of the latest message to DNS that `default` had to let through.
    pub counted: BTreeSet<usize>,
    /// The id of the state.
    pub state_id: String,
    /// Whether the state is of an earlier time: services may be asked what they know, and nothing else.
    pub is_older: bool,
    /// The tasks at services that have a row on disk.
    pub rows: BTreeSet<String>,
    /// The tasks with which hosts went.
    pub used: BTreeSet<String>,
    /// The tasks that this run asked for again before a wave.
    pub polled: BTreeSet<String>,
    /// The tasks that allowed a message to DNS.
    pub went: BTreeSet<String>,
    /// Whether a state of an earlier time was ever put back: it may not know all tasks.
    pub was_restored: bool,
    /// The tasks that runs wanted to delete whose state was of their time.
    pub ended: BTreeSet<String>,
    /// The tasks of which their service itself said that they are gone.
    pub gone: BTreeSet<String>,
    /// The next number of a task, where ids repeat.
    pub numbers: u64,
    /// News that are held back until the next ones come.
    held: Option<ApprovalNews>,
    /// Whether the apply of the run has ended.
    has_finished: bool,
    /// What was violated.
    pub faults: Vec<String>,
    /// What happened, where it is kept.
    pub history: Option<Vec<String>>,
}

impl Cast {
    /// Adds a line to the history.
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(history) = &mut self.history {
            history.push(line());
        }
    }

    /// Notes a violation.
    pub fn fault(&mut self, fault: String) {
        self.tell(|| format!("VIOLATION: {fault}"));
        self.faults.push(fault);
    }

    /// Draws whether an event happens that happens once in so many; never once faults have ended.
    pub fn one_of(&mut self, count: usize) -> bool {
        !self.is_calm && self.dice.below(count) == 0
    }

    /// Whether an id is one of this state.
    pub fn is_own(&self, id: &str) -> bool {
        id.strip_prefix("us.")
            .and_then(|rest| rest.strip_prefix(&self.state_id))
            .is_some_and(|own| own.starts_with('.'))
    }

    /// An id as the history has it: without what differs each time.
    pub fn short(&self, id: &str) -> String {
        let own = id.strip_prefix("us.").and_then(|rest| rest.strip_prefix(&self.state_id));
        own.map_or_else(|| id.replace(&self.state_id, "state"), |own| format!("own{}", &own[..own.len().min(7)]))
    }
}

/// The stage.
pub struct Stage {
    /// What is switched off.
    pub weakness: Weakness,
    /// The primary.
    pub primary: MemoryPrimary,
    /// What changes.
    cast: Mutex<Cast>,
}

impl Stage {
    /// The stage of a seed.
    pub fn new(seed: u64, weakness: Weakness, primary: MemoryPrimary, now: Time, has_history: bool) -> Stage {
        let cast = Cast {
            dice: Numbers(seed),
            is_deadly: false,
            is_calm: false,
            run: 0,
            now,
            services: BTreeMap::new(),
            hosts: Vec::new(),
            projects: BTreeMap::new(),
            deeds: BTreeMap::new(),
            affected: BTreeMap::new(),
            counted: BTreeSet::new(),
            state_id: String::new(),
            is_older: false,
            rows: BTreeSet::new(),
            used: BTreeSet::new(),
            polled: BTreeSet::new(),
            went: BTreeSet::new(),
            was_restored: false,
            ended: BTreeSet::new(),
            gone: BTreeSet::new(),
            numbers: 0,
            held: None,
            has_finished: false,
            faults: Vec::new(),
            history: has_history.then(Vec::new),
        };
        Stage { weakness, primary, cast: Mutex::new(cast) }
    }

    /// What changes.
    pub fn cast(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap()
    }

    /// A number below another.
    pub fn below(&self, bound: usize) -> usize {
        self.cast().dice.below(bound)
    }

    /// A run begins.
    pub fn begin_run(&self, is_deadly: bool) {
        let mut cast = self.cast();
        cast.run += 1;
        (cast.is_deadly, cast.has_finished, cast.held) = (is_deadly, false, None);
        cast.polled.clear();
    }

    /// The random part of an id.
    pub fn random(&self) -> String {
        let mut cast = self.cast();
        if self.weakness == Weakness::IdsRepeat {
            cast.numbers += 1;
            return format!("{:032x}", cast.numbers);
        }
        (0..4).map(|_| format!("{:08x}", cast.dice.below(1 << 31))).collect()
    }

    /// A point at which a run may die.
    pub fn death_point(&self, what: &str) {
        let dies = {
            let mut cast = self.cast();
            let dies = cast.is_deadly && cast.dice.below(25) == 0;
            if dies {
                cast.tell(|| format!("it dies {what}"));
            }
            dies
        };
        if dies {
            resume_unwind(Box::new(Crash));
        }
    }
}

impl RunPoints for Stage {
    fn point(&self, _: usize, what: &str) {
        if what == "after finish" {
            self.cast().has_finished = true;
        }
        self.death_point(what);
    }

    // Here all pools have one target, so that little of it is written.
    fn pool_point(&self, _: usize, _: &str) {}

    fn note_begun(&self, _: ApplyId, _: &str) {}

    fn note_journaled(&self, _: Journaled) {}

    fn approval_news(&self, news: &ApprovalNews) -> Option<ApprovalNews> {
        let is_late = self.weakness == Weakness::RowAfterRequest;
        is_late.then(|| self.cast().held.replace(news.clone()).unwrap_or_default())
    }

    fn note_approvals(&self, news: &ApprovalNews) {
        let mut cast = self.cast();
        let kept = news.kept.values().filter(|row| !row.is_built_in()).map(|row| row.id.clone());
        cast.rows.extend(kept);
        for id in &news.gone {
            let is_there = cast.services.values().any(|service| service.tasks.contains_key(id));
            if cast.rows.remove(id) && is_there && !cast.gone.contains(id) {
                let id = cast.short(id);
                cast.fault(format!("the state forgets the task {id}, and its service never said that it is gone"));
            }
        }
    }

    fn forgets_flux(&self) -> bool {
        self.weakness == Weakness::BusyUntilRunEnds && self.cast().has_finished
    }
}
