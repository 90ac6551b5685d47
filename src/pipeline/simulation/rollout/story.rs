//! What happens under one seed: exports that change, plans, applies that die or are resumed, name servers that catch up and
//! are polled, resolvers that are asked; and a quiet time at the end, in which all must come to be as wished.

use std::collections::BTreeSet;

use super::site::{rolls, settings, zone_id};
use super::stage::{RolloutStage, Weakness};
use super::world::{NAME_SERVERS, World};
use crate::claim::Subject;
use crate::consensus::TimedRow;
use crate::dns::Serial;
use crate::inventory::rollout::{MaxUnavailable, RolloutTerms};
use crate::inventory::value::{Duration, Inv};
use crate::pipeline::waves::{GroupSettings, settings_of};
use crate::plan::SealedPlan;
use crate::state::{ApplyId, ApplyJournal, PublicationRecord, RecordedZone, RolloutRegister, Sqlite};
use crate::target::SerialAnswer;

/// How many events a story has.
const EVENTS: usize = 60;

/// How many rounds there are in which all name servers are current, and exports are still wrong.
const WRONG_ROUNDS: usize = 8;

/// How many rounds the quiet time at the end has at most.
const ROUNDS: usize = 60;

/// How many plans are kept that may be applied, or whose applies may go on.
const KEPT_PLANS: usize = 3;

/// A copy of the state.
pub struct KeptState {
    /// The copy.
    pub state: Sqlite,
    /// What the primary served when it was made.
    pub serial: Serial,
}

/// What is true while a state from an earlier time is in the place of the right one, and an apply wrote since.
pub struct OlderState {
    /// The right state.
    pub right: Sqlite,
    /// What the primary served when the older one was put back: nothing may be written from then on.
    pub serial: Serial,
}

/// A story.
pub struct Story {
    /// The dice.
    pub stage: RolloutStage,
    /// The truth.
    pub world: World,
    /// The state of all runs.
    pub state: Sqlite,
    /// A copy of the state, which may be put back.
    pub kept: Option<KeptState>,
    /// What is true while a state from an earlier time is in the place of the right one.
    pub older: Option<OlderState>,
    /// The budget.
    pub groups: GroupSettings,
    /// Whether its export is wrong once in a while.
    may_be_wrong: bool,
    /// The plans of the latest runs, and plans that were made and not applied yet: any of them may go on at any time.
    pub plans: Vec<SealedPlan>,
    /// How many runs there were.
    pub runs: u64,
    /// What happened.
    pub history: Vec<String>,
}

/// Plays a seed; an error is what happened until a violation, which is the last line.
pub fn play(seed: u64, weakness: Weakness) -> Result<(), Vec<String>> {
    let (told, is_right) = tell(seed, weakness);
    if is_right { Ok(()) } else { Err(told) }
}

/// Plays a seed; gives what happened, and whether nothing was violated.
pub fn tell(seed: u64, weakness: Weakness) -> (Vec<String>, bool) {
    let mut story = Story::new(seed, weakness);
    let violation = story.play().err();
    let is_right = violation.is_none();
    story.history.extend(violation);
    (story.history, is_right)
}

impl Story {
    /// The story of a seed.
    fn new(seed: u64, weakness: Weakness) -> Story {
        let stage = RolloutStage::new(seed, weakness);
        let world = World::new(3 + stage.below(6), 1 + stage.below(3));
        let own = settings_of(&settings().projects, &[]).remove("search").unwrap();
        let terms = RolloutTerms {
            max_unavailable: MaxUnavailable::Number(1 + stage.below(3)),
            one_location_at_a_time: stage.below(3) > 0,
            canary: (stage.below(2) == 0).then_some(1),
            gate: (stage.below(3) == 0).then(|| "health".to_owned()),
            probe: (stage.below(2) == 0).then(|| "ssh".to_owned()),
            overlap: (stage.below(2) == 0).then(|| Duration::from_secs([0, 120, 900][stage.below(3)])),
            ..own
        };
        let may_be_wrong = terms.probe.is_some();
        let probe = terms.probe.filter(|_| weakness != Weakness::NoProbe);
        let terms = RolloutTerms { probe, ..terms };
        let groups = [("search".to_owned(), terms)].into();
        let (state, history) = (Sqlite::in_memory(), Vec::new());
        Story {
            stage,
            world,
            state,
            kept: None,
            older: None,
            groups,
            may_be_wrong,
            plans: Vec::new(),
            runs: 0,
            history,
        }
    }

    /// Plays it.
    fn play(&mut self) -> Result<(), String> {
        for _ in 0..EVENTS {
            self.event()?;
            self.world.move_hosts();
            self.check()?;
        }
        self.recover()?;
        for _ in 0..WRONG_ROUNDS {
            self.ask();
            self.change_ttls();
            self.move_hosts();
            self.round()?;
        }
        self.quiet()
    }

    /// Something happens.
    fn event(&mut self) -> Result<(), String> {
        match self.stage.below(21) {
            0 | 1 => self.pass(1 + self.stage.below(400) as u64),
            2 | 3 => self.move_hosts(),
            4 | 5 => self.change_ttls(),
            6..=8 => return self.apply(),
            9 | 17 => self.go_on()?,
            18 => self.hold_plan(),
            19 => self.keep_state(),
            20 => return self.put_back(),
            10 | 11 => self.catch_up(),
            12 => self.poll(),
            13 => self.leave(),
            _ => self.ask(),
        }
        Ok(())
    }

    /// Counts whom clients may not reach.
    pub fn check(&self) -> Result<(), String> {
        let terms = &self.groups["search"];
        // Where old and new addresses overlap, even a client that hears a wrong one in addition counts.
        let has_overlap = terms.overlap.is_some();
        let unreachable = if has_overlap { self.world.unreachable_in_part() } else { self.world.unreachable() };
        let budget = terms.max_unavailable.of(self.world.hosts.len());
        if unreachable.len() > budget {
            return Err(format!("{unreachable:?} are unreachable, and the budget is {budget}"));
        }
        // A repair does not wait for a location.
        let memory = self.right_state().rollouts().unwrap();
        let is_repaired = |host: &&usize| {
            let subject = Subject::Host(Inv(**host as u64));
            memory.rows_of(&subject).any(|row| row.is_repair && row.is_in_flux(self.world.now))
        };
        if has_overlap && let Some(host) = self.world.unreachable().iter().find(|host| !is_repaired(host)) {
            return Err(format!("no address of h{host} works for some client, although its old and new ones overlap"));
        }
        let others = unreachable.iter().filter(|host| !is_repaired(host));
        let locations: BTreeSet<&str> = others.map(|host| self.world.hosts[*host].location).collect();
        if terms.one_location_at_a_time && locations.len() > 1 {
            return Err(format!("{unreachable:?} are unreachable at {locations:?}"));
        }
        Ok(())
    }

    /// All name servers catch up and settle, and a run goes; gives whether nothing was left to do.
    fn round(&mut self) -> Result<bool, String> {
        (0..NAME_SERVERS).for_each(|name_server| self.world.catch_up(name_server));
        self.poll();
        self.check()?;
        self.pass(301);
        let is_done = self.run(false, None)?;
        self.world.move_hosts();
        self.check()?;
        Ok(is_done)
    }

    /// Faults end: all must come to be as wished.
    fn quiet(&mut self) -> Result<(), String> {
        self.history.push("the quiet time begins".to_owned());
        self.stage.end_faults();
        for own in &mut self.world.hosts {
            own.wrong.clear();
            if own.left.is_some() {
                own.wish = *own.homes.first().unwrap();
            }
        }
        self.world.move_hosts();
        for _ in 0..ROUNDS {
            if self.round()? {
                return Ok(());
            }
        }
        self.history.push(format!("{:?}", self.state.rollouts().unwrap()));
        Err("not all comes to be as wished".to_owned())
    }

    /// Time passes.
    pub fn pass(&mut self, seconds: u64) {
        self.world.now = self.world.now.plus(Duration::from_secs(seconds));
        self.history.push(format!("{} comes", self.world.now));
    }

    /// The export gives some hosts other addresses.
    fn move_hosts(&mut self) {
        for _ in 0..=self.stage.below(self.world.hosts.len()) {
            let host = self.stage.below(self.world.hosts.len());
            let (wish, wrong) = (self.stage.below(4), self.may_be_wrong && self.stage.below(5) == 0);
            let written = self.world.written(host);
            let own = &mut self.world.hosts[host];
            own.wish = wish;
            if wrong && !own.homes.contains(&wish) && !written.contains(&wish) {
                own.wrong.insert(wish);
                self.history.push(format!("the export says h{host} is at {wish}, which is wrong"));
            } else {
                own.wrong.remove(&wish);
            }
        }
    }

    /// A host moves by itself to where its export has it, or will have it.
    fn leave(&mut self) {
        let (host, home) = (self.stage.below(self.world.hosts.len()), self.stage.below(4));
        let written = self.world.written(host);
        let own = &mut self.world.hosts[host];
        let Some(old) = written.first().copied().filter(|_| own.homes == written && written.len() == 1) else { return };
        if self.groups["search"].probe.is_some() && own.left.is_none() && home != old {
            (own.homes, own.left) = ([home].into(), Some(old));
            own.wrong.remove(&home);
            if self.stage.below(3) > 0 {
                own.wish = home;
            }
            self.history.push(format!("h{host} moves by itself from {old} to {home}"));
        }
    }

    /// The export gives some hosts another TTL.
    fn change_ttls(&mut self) {
        let host = self.stage.below(self.world.hosts.len());
        self.world.hosts[host].ttl = [30, 300, 900][self.stage.below(3)];
    }

    /// A name server catches up.
    fn catch_up(&mut self) {
        let name_server = self.stage.below(NAME_SERVERS);
        self.world.catch_up(name_server);
        self.history.push(format!("name server {name_server} serves {}", self.world.serial(name_server)));
    }

    /// Clients ask resolvers.
    fn ask(&mut self) {
        for _ in 0..6 {
            let resolver = self.stage.below(self.world.resolver_count());
            let (name_server, host) = (self.stage.below(NAME_SERVERS), self.stage.below(self.world.hosts.len()));
            self.world.resolve(resolver, name_server, host);
        }
    }

    /// A plan is made and applied, perhaps by a run whose clock was set back, and perhaps dies.
    fn apply(&mut self) -> Result<(), String> {
        let is_deadly = self.stage.below(3) == 0;
        self.run(is_deadly, None).map(drop)
    }

    /// One of several plans goes on: its apply is resumed, or begins; others may have gone since it was made.
    fn go_on(&mut self) -> Result<(), String> {
        if self.plans.is_empty() {
            return Ok(());
        }
        let sealed = self.plans[self.stage.below(self.plans.len())].clone();
        let applies = self.state.applies(usize::MAX).unwrap();
        let own: Option<ApplyId> = applies.iter().find(|apply| apply.new.plan == sealed.id()).map(|apply| apply.id);
        let is_over = own.is_some_and(|id| self.state.document(id).unwrap().is_none());
        if !is_over {
            let is_deadly = self.stage.below(4) == 0;
            self.run(is_deadly, Some((sealed, own)))?;
        }
        Ok(())
    }

    /// A plan is made, and kept.
    fn hold_plan(&mut self) {
        let sealed = self.plan(self.world.now);
        if !sealed.plan().changes.is_empty() {
            self.history.push("a plan is made, and kept".to_owned());
            self.keep_plan(sealed);
        }
    }

    /// Keeps a plan for later; the oldest is forgotten.
    pub fn keep_plan(&mut self, sealed: SealedPlan) {
        self.plans.retain(|own| own.id() != sealed.id());
        self.plans.push(sealed);
        let forgotten = self.plans.len().saturating_sub(KEPT_PLANS);
        self.plans.drain(..forgotten);
    }

    /// Asks all name servers, and keeps what they show.
    pub fn poll(&mut self) {
        let rolls = rolls();
        let zone = zone_id(&self.world);
        let mut record = self.state.zone_record(&zone).unwrap();
        for (number, own) in rolls.name_servers("main").iter().enumerate() {
            let target = record.targets.get(&own.voter.target).map(|target| target.counted());
            let Some(target) = target else { continue };
            let answer = SerialAnswer::Serves(self.world.serial(number));
            let row = record.row(&own.voter).after(answer, &target, record.newest);
            record.servers.insert(own.voter.clone(), TimedRow { row, at: self.world.now });
        }
        record.count(rolls.roll(&zone).unwrap(), true);
        let kept = RecordedZone { zone, record, begun: None };
        self.state.keep_records(&[kept], self.world.now).unwrap();
    }
}
