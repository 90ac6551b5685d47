//! What the runs of a seed share: the primaries of the pool, and dice that say at each step of each target what happens.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::cast::Journaled;
use super::super::fleet::{Fleet, slot};
use super::super::seed_play::Weakness;
use super::super::stage::{Crash, is_of_marker, shown};
use super::super::wires::RunPoints;
use crate::change::Change;
use crate::dns::Rrset;
use crate::plan::document;
use crate::provider::memory::primary::{MemoryPrimary, UpdateFault};
use crate::state::ApplyId;
use crate::target::{PoolName, TargetId};
use crate::verify::truth::{self, Numbers};

/// The names of the targets.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// How often events happen, each as one of so many; 0 is never.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// The run dies at a step.
    crash: usize,
    /// Another editor edits a copy at a step.
    edit: usize,
    /// An update suffers a fault.
    fault: usize,
}

/// What the dice decided about one target, or about the state.
struct LaneCast {
    /// The dice.
    dice: Numbers,
    /// How often events happen.
    rates: Rates,
    /// Whether faults happen.
    is_stormy: bool,
}

impl LaneCast {
    /// Draws whether an event happens that happens once in so many.
    fn one_of(&mut self, count: usize) -> bool {
        count > 0 && self.dice.below(count) == 0
    }

    /// What happens to an update.
    fn fault(&mut self) -> UpdateFault {
        let kinds = self.rates.fault;
        if !self.is_stormy || kinds == 0 {
            return UpdateFault::None;
        }
        match self.dice.below(kinds) {
            0 => UpdateFault::LostAnswer,
            1 => UpdateFault::Lost,
            2 => UpdateFault::Late,
            3 => UpdateFault::Slow,
            4 => UpdateFault::Stuck,
            5 => UpdateFault::Doubled,
            6 => UpdateFault::ServFail,
            7 => UpdateFault::Refused,
            8 => UpdateFault::Dead,
            _ => UpdateFault::None,
        }
    }
}

/// An apply that began: what its plan holds.
pub struct BegunApply {
    /// Its changes.
    pub changes: Vec<Change>,
    /// Whether `sync` made it.
    pub is_sync: bool,
}

/// All that the runs of one seed share.
pub struct PoolStage {
    /// The truth, target by target.
    pub primaries: Vec<MemoryPrimary>,
    /// The names and RRsets that the runs are about.
    pub fleet: Fleet,
    /// What each copy holds at first, RRset by RRset.
    pub first: Vec<Vec<Option<Rrset>>>,
    /// The threshold of the pool, in percent.
    pub threshold: u32,
    /// What is switched off.
    pub weakness: Weakness,
    /// What the dice decide about each target.
    lanes: Vec<Arc<Mutex<LaneCast>>>,
    /// What the dice decide about the run itself.
    run: Mutex<LaneCast>,
    /// Whether the run of this session died: nothing of it goes on.
    is_dead: AtomicBool,
    /// Set together with that, so that what waits goes on, and finds out.
    pub interrupted: AtomicBool,
    /// Whether what begins now is a `sync`.
    pub is_sync: AtomicBool,
    /// The applies that began.
    pub begun: Mutex<BTreeMap<ApplyId, BegunApply>>,
    /// The batches of the journal.
    pub journaled: Mutex<Vec<Journaled>>,
    /// Which RRsets of which copy another editor edited.
    pub edited: Mutex<BTreeSet<(usize, usize)>>,
    /// What happened: a seed does not always give the same, so that all of it is kept.
    history: Mutex<Vec<String>>,
}

/// Takes a lock, even where a run died with it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl PoolStage {
    /// The stage of a seed.
    pub fn new(seed: u64, weakness: Weakness) -> PoolStage {
        let mut dice = Numbers(seed ^ 0x9e37_79b9_7f4a_7c15);
        dice.below(2);
        let rates = Rates {
            crash: [0, 90, 40][dice.below(3)],
            edit: [0, 60, 20][dice.below(3)],
            fault: [0, 40, 18, 12][dice.below(4)],
        };
        let fleet = Fleet::new(1 + dice.below(3));
        let count = 2 + dice.below(2);
        let threshold = [34, 67, 100][dice.below(3)];
        let (window, edits) = (1 + dice.below(3), 2 + dice.below(5));
        let cast = |dice: &mut Numbers| LaneCast { dice: Numbers(dice.below(1 << 30) as u64), rates, is_stormy: true };
        let lanes: Vec<Arc<Mutex<LaneCast>>> = (0..count).map(|_| Arc::new(Mutex::new(cast(&mut dice)))).collect();
        let run = Mutex::new(cast(&mut dice));
        let primaries: Vec<MemoryPrimary> = lanes.iter().map(|lane| primary(&fleet, lane, (window, edits))).collect();
        if weakness == Weakness::Prerequisites {
            primaries.iter().for_each(|primary| primary.alter(|message| message.prerequisites.retain(is_of_marker)));
        }
        let mut stage = PoolStage {
            primaries,
            fleet,
            first: Vec::new(),
            threshold,
            weakness,
            lanes,
            run,
            is_dead: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            is_sync: AtomicBool::new(false),
            begun: Mutex::default(),
            journaled: Mutex::default(),
            edited: Mutex::default(),
            history: Mutex::default(),
        };
        for place in 0..stage.fleet.keys.len() {
            for copy in 0..count {
                if dice.below(4) == 0 {
                    stage.edit(copy, (place, dice.below(4), dice.below(90)));
                }
            }
        }
        lock(&stage.edited).clear();
        let held = |primary| stage.fleet.keys.iter().map(|key| truth::standing(primary, key)).collect();
        stage.first = stage.primaries.iter().map(held).collect();
        stage
    }

    /// The pool.
    pub fn pool(&self) -> PoolName {
        super::super::pool()
    }

    /// A target, by its place.
    pub fn target(&self, copy: usize) -> TargetId {
        TargetId { pool: self.pool(), name: NAMES[copy].to_owned() }
    }

    /// A number below another.
    pub fn below(&self, bound: usize) -> usize {
        lock(&self.run).dice.below(bound)
    }

    /// Adds a line to the history.
    pub fn tell(&self, line: impl FnOnce() -> String) {
        lock(&self.history).push(line());
    }

    /// All lines.
    pub fn history(&self) -> Vec<String> {
        lock(&self.history).clone()
    }

    /// Begins a session: the run is alive.
    pub fn revive(&self, is_sync: bool) {
        self.is_dead.store(false, Ordering::SeqCst);
        self.interrupted.store(false, Ordering::SeqCst);
        self.is_sync.store(is_sync, Ordering::SeqCst);
    }

    /// Whether the run of this session died.
    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::SeqCst)
    }

    /// Ends the run, if it is not to go on.
    fn die(&self) {
        if self.is_dead() {
            resume_unwind(Box::new(Crash));
        }
    }

    /// Lets the run die here.
    fn crash(&self, what: &str) {
        self.tell(|| format!("the run dies: {what}"));
        self.is_dead.store(true, Ordering::SeqCst);
        self.interrupted.store(true, Ordering::SeqCst);
        resume_unwind(Box::new(Crash));
    }

    /// A step of a target: the run may die here, another editor may edit the copy, and the target may come back.
    pub fn step(&self, copy: usize, what: &str) {
        self.die();
        let mut cast = lock(&self.lanes[copy]);
        if !cast.is_stormy {
            return;
        }
        let rates = cast.rates;
        if cast.one_of(rates.crash) {
            drop(cast);
            self.crash(&format!("{} {what}", NAMES[copy]));
        } else if cast.one_of(rates.edit) {
            let (place, kind, number) =
                (cast.dice.below(self.fleet.keys.len()), cast.dice.below(5), cast.dice.below(90));
            drop(cast);
            self.edit(copy, (place, kind, number));
        } else if cast.one_of(40) {
            drop(cast);
            self.arrive(copy);
        } else if cast.one_of(12) {
            drop(cast);
            self.primaries[copy].set_down(false);
        }
    }

    /// A time in which nothing runs.
    pub fn pass(&self) {
        for copy in 0..self.primaries.len() {
            let mut cast = lock(&self.lanes[copy]);
            let (arrives, wakes, dies) = (cast.one_of(4), cast.one_of(2), cast.one_of(8));
            let edits = cast.rates.edit > 0 && cast.one_of(4);
            let edit = (cast.dice.below(self.fleet.keys.len()), cast.dice.below(5), cast.dice.below(90));
            drop(cast);
            if edits {
                self.edit(copy, edit);
            }
            if arrives {
                self.arrive(copy);
            }
            if wakes || dies {
                self.primaries[copy].set_down(dies && !wakes);
            }
        }
    }

    /// Lets all that is on the way to a target arrive.
    fn arrive(&self, copy: usize) {
        if self.primaries[copy].on_the_way() > 0 {
            self.tell(|| format!("all that is on the way to {} arrives", NAMES[copy]));
            self.primaries[copy].arrive();
        }
    }

    /// Ends the faults: all that was on the way arrives.
    pub fn calm(&self) {
        self.tell(|| "the faults end here".to_owned());
        lock(&self.run).is_stormy = false;
        for copy in 0..self.primaries.len() {
            lock(&self.lanes[copy]).is_stormy = false;
            self.primaries[copy].set_down(false);
            self.arrive(copy);
        }
    }

    /// Another editor changes an RRset of a host in one copy, or restores an earlier one.
    ///
    /// All RRsets here have the same TTL, since no prerequisite is about TTLs.
    fn edit(&self, copy: usize, (place, kind, number): (usize, usize, usize)) {
        let (key, primary) = (&self.fleet.keys[place], &self.primaries[copy]);
        let standing = truth::standing(primary, key);
        let wanted = match kind {
            0 => Some(self.fleet.foreign(place, number)),
            1 => None,
            2 => standing.as_ref().map(|standing| self.fleet.with_another(place, standing, number)),
            3 => self.fleet.planned(place, number),
            _ => {
                let past = self.past(copy, place);
                past[number % past.len()].clone()
            }
        };
        if wanted == standing {
            return;
        }
        lock(&self.edited).insert((copy, place));
        let message = truth::edit(&self.fleet.zones, key, wanted.as_ref());
        self.tell(|| format!("another editor sends {}: {}", NAMES[copy], shown(&message)));
        primary.update(&message);
    }

    /// All that an RRset's place held in a copy, in order; the last is what it holds now.
    pub fn past(&self, copy: usize, place: usize) -> Vec<Option<Rrset>> {
        let mut past = vec![self.fleet.first[place].clone()];
        let key = slot(&self.fleet.keys[place]);
        self.primaries[copy].with_log(|log| {
            let differences = log.iter().filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
            let own = differences.filter(|difference| (&difference.name, difference.rtype) == (&key.0, key.1));
            past.extend(own.map(|difference| difference.after.clone()));
        });
        past
    }

    /// Whether another editor edited an RRset of a host in any copy, since the first plan.
    pub fn is_host_edited(&self, place: usize) -> bool {
        let host = self.fleet.host(place);
        lock(&self.edited).iter().any(|(_, edited)| self.fleet.host(*edited) == host)
    }
}

/// A primary with the first data of a fleet, to which happens what the dice of its target say.
fn primary(fleet: &Fleet, lane: &Arc<Mutex<LaneCast>>, (window, edits): (usize, usize)) -> MemoryPrimary {
    let primary = fleet.primary(window, edits);
    let cast = Arc::clone(lane);
    primary.decide(move |_| lock(&cast).fault());
    primary
}

impl RunPoints for PoolStage {
    fn point(&self, _: usize, what: &str) {
        self.die();
        let mut cast = lock(&self.run);
        let crash = cast.rates.crash;
        let dies = cast.is_stormy && cast.one_of(crash);
        drop(cast);
        if dies {
            self.crash(what);
        }
    }

    fn pool_point(&self, run: usize, what: &str) {
        self.point(run, what);
    }

    fn note_begun(&self, apply: ApplyId, document: &str) {
        let changes = document::parse(document).unwrap().plan().changes.clone();
        let is_sync = self.is_sync.load(Ordering::SeqCst);
        self.tell(|| {
            format!("apply {} begins, {} changes{}", apply.0, changes.len(), if is_sync { ", of a sync" } else { "" })
        });
        lock(&self.begun).insert(apply, BegunApply { changes, is_sync });
    }

    fn note_journaled(&self, entry: Journaled) {
        lock(&self.journaled).push(entry);
    }
}
