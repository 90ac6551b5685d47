//! What all editors share: a primary, a network that loses and delays, and dice that say which run goes on, which dies,
//! and what another editor changes meanwhile.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};

use super::cast::{Cast, Journaled, Rates};
use super::clouds::CloudAccount;
use super::fleet::{Fleet, slot};
use super::seed_play::{PrimaryKind, SeedPlay, Weakness};
use crate::dns::{Rrset, Rtype};
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};
use crate::provider::memory::primary::MemoryPrimary;
use crate::target::WriteTarget;
use crate::verify::truth::{self, Numbers};

/// The sudden end of a process.
pub struct Crash;

/// How many RRsets a zone is said to have, so that reading it whole is cheaper than reading some of them.
const SMALL_ZONE: u64 = 1;

/// Something that happens between two steps of a run.
enum Act {
    /// Nothing.
    Go,
    /// Another editor edits.
    Edit,
    /// All that is on the way arrives.
    Arrive,
    /// The server comes back.
    Up,
    /// The run dies.
    Crash,
    /// The other run goes on.
    Yield,
}

/// All that the editors of one seed share.
pub struct Stage {
    /// The truth.
    pub primary: Arc<MemoryPrimary>,
    /// The names and RRsets that the runs are about.
    pub fleet: Fleet,
    /// The service behind the primary, where there is one.
    pub cloud: Option<CloudAccount>,
    /// Whether a marker fences zones.
    pub is_fenced: bool,
    /// Whether no other editor writes what runs are about while one of them is active, and values are written one by one.
    pub is_exclusive: bool,
    /// How many RRsets a zone has, as readers hear; none where they hear nothing.
    pub size_hint: Option<u64>,
    /// What is switched off.
    pub weakness: Weakness,
    /// What the dice decided.
    cast: Arc<Mutex<Cast>>,
    /// This stage.
    own: Weak<Stage>,
    /// Woken whenever the turn changes.
    woken: Condvar,
}

impl Stage {
    /// The stage of a seed.
    pub fn new(play: &SeedPlay) -> Arc<Stage> {
        let SeedPlay { seed, kind, weakness, has_history } = *play;
        let mut dice = Numbers(seed);
        let rates = Rates {
            crash: [0, 60, 25][dice.below(3)],
            edit: [40, 15, 8][dice.below(3)],
            fault: [0, 30, 14, 10][dice.below(4)],
        };
        let hosts = 1 + dice.below(3);
        let fleet = match kind {
            PrimaryKind::Azure => Fleet::new(hosts).with_marks(),
            PrimaryKind::CloudMap => Fleet::of_addresses(hosts),
            PrimaryKind::Memory | PrimaryKind::Route53 => Fleet::new(hosts),
        };
        let (window, edits) = (1 + dice.below(3), 2 + dice.below(5));
        let primary = fleet.primary(window, edits);
        let cast = Cast {
            dice,
            rates,
            is_stormy: true,
            turn: 0,
            alive: [true, false],
            active: [false; 2],
            sessions: [0; 2],
            crashes: 4,
            edits: 0,
            sent: Vec::new(),
            journaled: Vec::new(),
            made: HashSet::new(),
            history: has_history.then(Vec::new),
        };
        let cast = Arc::new(Mutex::new(cast));
        let told = Arc::clone(&cast);
        if kind == PrimaryKind::Memory && weakness == Weakness::Prerequisites {
            primary.alter(|message| message.prerequisites.retain(is_of_marker));
        }
        primary.decide(move |message| {
            let mut cast = told.lock().unwrap();
            let run = cast.turn;
            let fault = cast.fault();
            cast.tell(|| format!("run {run} sends {}: {fault:?}", shown(message)));
            cast.note_sent(run, message);
            fault
        });
        let primary = Arc::new(primary);
        let cloud = CloudAccount::new((kind, weakness), &primary, &fleet, &mut cast.lock().unwrap().dice);
        let size_hint = cloud.as_ref().and_then(|_| (cast.lock().unwrap().dice.below(2) == 0).then_some(SMALL_ZONE));
        let has_markers = matches!(kind, PrimaryKind::Memory | PrimaryKind::Route53);
        let is_fenced = has_markers && weakness != Weakness::Marker;
        let is_exclusive = kind == PrimaryKind::CloudMap;
        let woken = Condvar::new();
        Arc::new_cyclic(|own| Stage {
            primary,
            cloud,
            is_fenced,
            is_exclusive,
            size_hint,
            fleet,
            weakness,
            cast,
            own: Weak::clone(own),
            woken,
        })
    }

    /// What a run writes to a service with; none where there is none behind the primary.
    pub fn cloud_writer(&self, run: usize) -> Option<Box<dyn WriteTarget>> {
        let own = Weak::clone(&self.own);
        let point = move || own.upgrade().into_iter().for_each(|stage| stage.request_point(run));
        Some(self.cloud.as_ref()?.writer(point))
    }

    /// A process of a run begins.
    pub fn begin_session(&self, run: usize) {
        self.cast().sessions[run] += 1;
    }

    /// Keeps that a batch is in the journal.
    pub fn journal(&self, entry: Journaled) {
        let updates = self.primary.with_log(<[_]>::len);
        self.cast().journaled.push((entry, updates));
    }

    /// What the dice decided.
    pub fn cast(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap()
    }

    /// A number below another.
    pub fn below(&self, bound: usize) -> usize {
        self.cast().dice.below(bound)
    }

    /// Adds a line to the history.
    pub fn tell(&self, line: impl FnOnce() -> String) {
        self.cast().tell(line);
    }

    /// All lines.
    pub fn history(&self) -> Vec<String> {
        self.cast().history.clone().unwrap_or_default()
    }

    /// A point before one of many requests of a run: as many of them as there are, only few are a point between two steps.
    fn request_point(&self, run: usize) {
        if self.cast().one_of(12) {
            self.point(run, "before a request");
        }
    }

    /// A point between two steps of an active run: other editors may act here, and the run may die here.
    pub fn point(&self, run: usize, what: &str) {
        let act = {
            let mut cast = self.cast();
            if !cast.is_stormy {
                return;
            }
            let (crash, edit) = (cast.rates.crash, cast.rates.edit);
            if cast.crashes > 0 && cast.one_of(crash) {
                cast.crashes -= 1;
                Act::Crash
            } else if cast.edits < 12 && cast.one_of(edit) {
                cast.edits += 1;
                Act::Edit
            } else if cast.one_of(40) {
                Act::Arrive
            } else if cast.one_of(6) {
                Act::Up
            } else if cast.alive[1 - run] && cast.one_of(3) {
                Act::Yield
            } else {
                Act::Go
            }
        };
        match act {
            Act::Go => {}
            Act::Edit => self.edit(),
            Act::Arrive => self.arrive(),
            Act::Up => self.primary.set_down(false),
            Act::Yield => self.give_way(run),
            Act::Crash => {
                self.tell(|| format!("run {run} dies: {what}"));
                resume_unwind(Box::new(Crash));
            }
        }
    }

    /// A time in which a run is not active.
    pub fn pass(&self, run: usize) {
        if self.is_exclusive && self.below(2) == 0 {
            self.settle_service();
        }
        for _ in 0..self.below(4) {
            let (edits, arrives, yields) = {
                let mut cast = self.cast();
                (cast.one_of(2), cast.one_of(4), cast.alive[1 - run])
            };
            if edits {
                self.edit();
            }
            if arrives {
                self.arrive();
            }
            if yields {
                self.give_way(run);
            }
        }
        if self.below(2) == 0 {
            self.primary.set_down(false);
        }
    }

    /// Lets so much time pass that a service does all that it took.
    pub fn settle_service(&self) {
        self.cloud.iter().for_each(CloudAccount::pass);
    }

    /// Lets what a service lists be so, where it lists what it will only have done in a moment.
    pub fn settle_listed(&self) {
        self.cloud.iter().filter(|cloud| cloud.lists_early()).for_each(CloudAccount::pass);
    }

    /// Lets all that is on the way arrive.
    fn arrive(&self) {
        if self.primary.on_the_way() > 0 {
            self.tell(|| "all that is on the way arrives".to_owned());
            self.primary.arrive();
        }
    }

    /// Ends the faults: all that was on the way arrives.
    pub fn calm(&self) {
        self.cast().is_stormy = false;
        self.tell(|| "the faults end here".to_owned());
        self.primary.set_down(false);
        self.arrive();
        self.settle_service();
    }

    /// Says whether a run is active.
    pub fn set_active(&self, run: usize, is_active: bool) {
        self.cast().active[run] = is_active;
    }

    /// Gives a run the turn, and stops the other.
    pub fn solo(&self, run: usize) {
        let mut cast = self.cast();
        cast.turn = run;
        cast.alive = [run == 0, run == 1];
    }

    /// Lets both runs go on by turns.
    pub fn duet(&self) {
        let mut cast = self.cast();
        cast.alive = [true; 2];
        cast.turn = cast.dice.below(2);
    }

    /// Gives the turn to the other run, and waits until it comes back.
    fn give_way(&self, run: usize) {
        let mut cast = self.cast();
        cast.turn = 1 - run;
        drop(cast);
        self.woken.notify_all();
        self.await_turn(run);
    }

    /// Waits until it is a run's turn.
    pub fn await_turn(&self, run: usize) {
        let mut cast = self.cast();
        while cast.turn != run {
            cast = self.woken.wait(cast).unwrap();
        }
    }

    /// Ends a run's part: the turn is the other's.
    pub fn leave(&self, run: usize) {
        let mut cast = self.cast();
        cast.alive[run] = false;
        cast.turn = 1 - run;
        drop(cast);
        self.woken.notify_all();
    }

    /// Another editor changes an RRset of a host, or restores an earlier one.
    ///
    /// TTLs are not in prerequisites, so that no run can detect a change of only a TTL after it read the RRset. Such an
    /// edit is made only while no run is active and nothing is on the way, and a restored RRset has the TTL that it had
    /// last; but the services compare TTLs.
    fn edit(&self) {
        let (place, kind, number, is_idle) = {
            let mut cast = self.cast();
            let is_idle = cast.active == [false; 2];
            (cast.dice.below(self.fleet.keys.len()), cast.dice.below(8), cast.edits * 8 + cast.dice.below(8), is_idle)
        };
        let key = &self.fleet.keys[place];
        let standing = truth::standing(&self.primary, key);
        let past = self.past(place);
        let as_last = |rrset: &Rrset| past.iter().rev().flatten().find(|old| old.rdata() == rrset.rdata()).cloned();
        let is_busy = self.cloud.as_ref().is_some_and(CloudAccount::is_busy);
        let is_quiet = is_idle && !is_busy && self.primary.on_the_way() == 0;
        if self.is_exclusive && !is_quiet {
            return self.cloud.iter().for_each(|cloud| cloud.disturb(number));
        }
        let may_be_ttl_alone = self.cloud.is_some() || kind == 4 && is_quiet;
        let wanted = match kind {
            0 | 1 => Some(self.fleet.foreign(place, number)),
            2 => None,
            3 => standing.as_ref().map(|standing| self.fleet.with_another(place, standing, number)),
            4 if self.cloud.is_some() || is_quiet => standing.as_ref().map(Fleet::with_other_ttl),
            5 => self.fleet.planned(place, number),
            _ => past[number % past.len()].clone(),
        };
        let wanted = wanted.map(|wanted| if may_be_ttl_alone { wanted } else { as_last(&wanted).unwrap_or(wanted) });
        if wanted == standing {
            return;
        }
        let mut message = truth::edit(&self.fleet.zones, key, wanted.as_ref());
        let owner = key.owner.as_name().to_name();
        message.instructions.insert(0, UpdateInstruction::DeleteRrset(owner.clone(), Rtype::CNAME));
        if wanted.is_none() && number % 3 == 0 {
            message.instructions.push(self.fleet.alias(owner));
        }
        self.tell(|| format!("another editor sends {}", shown(&message)));
        self.primary.update(&message);
    }

    /// All that an RRset's place held, in order; the last is what it holds now.
    pub fn past(&self, place: usize) -> Vec<Option<Rrset>> {
        let mut past = vec![self.fleet.first[place].clone()];
        let key = slot(&self.fleet.keys[place]);
        self.primary.with_log(|log| {
            let differences = log.iter().filter_map(|logged| logged.outcome.as_ref().ok()).flatten();
            let own = differences.filter(|difference| (&difference.name, difference.rtype) == (&key.0, key.1));
            past.extend(own.map(|difference| difference.after.clone()));
        });
        past
    }
}

/// Whether a prerequisite is about a marker.
pub fn is_of_marker(prerequisite: &UpdatePrerequisite) -> bool {
    let (UpdatePrerequisite::InUse(name)
    | UpdatePrerequisite::NotInUse(name)
    | UpdatePrerequisite::Exists(name, _)
    | UpdatePrerequisite::Absent(name, _)
    | UpdatePrerequisite::Holds(name, ..)) = prerequisite;
    truth::is_marker(name)
}

/// What an update does, on one line.
pub fn shown(message: &UpdateMessage) -> String {
    let instruction = |instruction: &UpdateInstruction| match instruction {
        UpdateInstruction::Add(name, rtype, ttl, rdata) => format!("+{name} {ttl} {rtype} {}", rdata.as_rdata(*rtype)),
        UpdateInstruction::DeleteRrset(name, rtype) => format!("-{name} {rtype}"),
        UpdateInstruction::DeleteName(name) => format!("-{name}"),
        UpdateInstruction::DeleteRecord(name, rtype, rdata) => format!("-{name} {rtype} {}", rdata.as_rdata(*rtype)),
    };
    message.instructions.iter().map(instruction).collect::<Vec<_>>().join("; ")
}
