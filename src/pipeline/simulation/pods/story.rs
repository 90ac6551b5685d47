//! What happens under one seed: events of pods, exports, plans, applies that die or are resumed, name servers that catch up
//! and are polled, resolvers that are asked; and a quiet time at the end, in which all must come to be as wished.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::sets::{ZONES, workspace};
use super::stage::{PodStage, Weakness};
use super::world::{NAME_SERVERS, PodKey, Row};
use crate::consensus::TimedRow;
use crate::diag::FileId;
use crate::dns::Rtype;
use crate::inventory::Inventory;
use crate::inventory::pods::PodState;
use crate::inventory::value::Duration;
use crate::pipeline::publication::PoolRolls;
use crate::pipeline::settings::WorkspaceSettings;
use crate::plan::SealedPlan;
use crate::reading::ReadingTerms;
use crate::state::{ApplyJournal, DownPods, PublicationRecord, RecordedZone, RolloutRegister, Sqlite};
use crate::target::{SerialAnswer, ZoneId};

/// How many events a story has.
const EVENTS: usize = 90;

/// How many rounds the quiet time at the end has at most.
const ROUNDS: usize = 80;

/// How many plans are kept to be applied later.
const KEPT_PLANS: usize = 2;

/// A story.
pub struct Story {
    /// The dice and the truth.
    pub stage: PodStage,
    /// What people set.
    pub settings: WorkspaceSettings,
    /// What the export says.
    pub inventory: Inventory,
    /// The file of its rows.
    pub file: FileId,
    /// How many exports there were.
    pub exports: u64,
    /// The state of all runs.
    pub state: Sqlite,
    /// The plan of the latest run.
    pub last: Option<HeldPlan>,
    /// Plans that were made and not applied yet.
    pub held: Vec<HeldPlan>,
    /// How many runs there were.
    pub runs: u64,
    /// What happened.
    pub history: Vec<String>,
}

/// A plan, and what it was made from.
#[derive(Clone)]
pub struct HeldPlan {
    /// The plan.
    pub sealed: SealedPlan,
    /// What the export said.
    pub rows: Arc<BTreeMap<PodKey, Row>>,
    /// The number of the export.
    pub export: u64,
}

/// Plays a seed; gives what happened, and whether nothing was violated: the violation is the last line.
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
        let stage = PodStage::new(seed, weakness);
        let policy = if stage.one_of(2) { "repair" } else { "sync" };
        let permission = if stage.one_of(2) { "own" } else { "full" };
        let (sets, now) = {
            let world = stage.world();
            (world.sets.clone(), world.now)
        };
        let (settings, mut inventory) = workspace(&sets, (policy, permission), now);
        let file = inventory.files.add("pods.jsonl");
        let history = sets.iter().map(|set| format!("{set:?}")).collect();
        Story {
            stage,
            settings,
            inventory,
            file,
            exports: 0,
            state: Sqlite::in_memory(),
            last: None,
            held: Vec::new(),
            runs: 0,
            history,
        }
    }

    /// Plays it.
    fn play(&mut self) -> Result<(), String> {
        let sets = self.stage.world().sets.len();
        for set in 0..sets {
            let most = if self.stage.one_of(2) { 2 } else { 12 / sets };
            for _ in 0..2 + self.stage.below(most) {
                self.add_pod(set, PodState::Active, None);
            }
        }
        self.export();
        self.round()?;
        self.round()?;
        for _ in 0..EVENTS {
            self.event();
            self.check()?;
        }
        self.quiet()
    }

    /// Something happens.
    fn event(&mut self) {
        match self.stage.below(24) {
            0..=2 => self.pass(1 + self.stage.below(400) as u64),
            3..=7 => self.pod_event(),
            8 | 9 => self.export(),
            10..=12 => {
                let is_deadly = self.stage.one_of(3);
                self.run(is_deadly, None);
            }
            13 => self.resume(),
            14 => self.keep_plan(),
            15 => self.apply_kept(),
            16 => self.catch_up(),
            17 => {
                self.stage.world().catch_up_all();
                self.poll();
            }
            18 => self.poll(),
            _ => self.ask(),
        }
    }

    /// Looks whether all holds.
    fn check(&mut self) -> Result<(), String> {
        let mut world = self.stage.world();
        world.step();
        let violation = world.violation.clone();
        drop(world);
        violation.map_or_else(|| self.check_locations().and_then(|()| self.check_overlaps()), Err)
    }

    /// Where old and new addresses overlap, no client has wrong ones alone, but for repairs, which go in one step.
    fn check_overlaps(&self) -> Result<(), String> {
        let memory = self.state.rollouts().unwrap();
        let world = self.stage.world();
        for set in (0..world.sets.len()).filter(|set| world.sets[*set].overlap.is_some()) {
            let is_repaired =
                |pod: usize| memory.rows_of(&world.subject(pod)).any(|row| row.is_repair && row.is_in_flux(world.now));
            let is_missed = |pod: &usize| world.is_unreachable(*pod) && !is_repaired(*pod);
            if let Some(pod) = world.unreachable(set).into_iter().find(is_missed) {
                let id = &world.pods[pod].id;
                return Err(format!("no address of {id} works for some client, although its old and new ones overlap"));
            }
        }
        Ok(())
    }

    /// Pods of two locations are not unreachable at once, but for repairs, which do not wait for a location.
    fn check_locations(&self) -> Result<(), String> {
        let memory = self.state.rollouts().unwrap();
        let world = self.stage.world();
        for set in (0..world.sets.len()).filter(|set| world.sets[*set].one_location) {
            let is_repaired = |pod: &usize| {
                memory.rows_of(&world.subject(*pod)).any(|row| row.is_repair && row.is_in_flux(world.now))
            };
            let unreachable = world.unreachable(set);
            let counted = unreachable.iter().filter(|pod| !is_repaired(pod) && !world.pods[**pod].went_at.is_empty());
            let places: BTreeSet<(&str, &str)> =
                counted.map(|pod| (&*world.pods[*pod].went_at, &*world.pods[*pod].id)).collect();
            let locations: BTreeSet<&str> = places.iter().map(|(location, _)| *location).collect();
            if locations.len() > 1 {
                return Err(format!("pods at several locations are unreachable: {places:?}"));
            }
        }
        Ok(())
    }

    /// Time passes.
    fn pass(&mut self, seconds: u64) {
        let mut world = self.stage.world();
        world.now = world.now.plus(Duration::from_secs(seconds));
        let told = format!("{} comes", world.now);
        drop(world);
        self.history.push(told);
    }

    /// A name server catches up with a zone.
    fn catch_up(&mut self) {
        let (name_server, zone) = (self.stage.below(NAME_SERVERS), self.stage.below(ZONES.len()));
        self.stage.world().catch_up(name_server, zone);
        self.history.push(format!("name server {name_server} catches up with {}", ZONES[zone]));
    }

    /// Clients ask resolvers for pods, and follow SRV.
    fn ask(&mut self) {
        let mut world = self.stage.world();
        for _ in 0..8 {
            let path = (self.stage.below(world.resolvers.len()), self.stage.below(NAME_SERVERS));
            if self.stage.one_of(2) {
                let name = world.pods[self.stage.below(world.pods.len())].constant.clone();
                world.resolve(path, &name, Rtype::AAAA);
                continue;
            }
            let set = self.stage.below(world.sets.len());
            let names: Vec<_> = world.sets[set].srv_names().into_iter().map(|(name, ..)| name).collect();
            let targets = world.resolve(path, &names[self.stage.below(names.len())], Rtype::SRV);
            for target in targets.iter().take(self.stage.below(targets.len() + 1)) {
                world.resolve((path.0, self.stage.below(NAME_SERVERS)), target, Rtype::AAAA);
            }
        }
    }

    /// The latest apply is resumed.
    fn resume(&mut self) {
        let Some(held) = self.last.clone() else { return };
        let latest = self.state.applies(1).unwrap().into_iter().next();
        // A run may have died before its apply began.
        let own = latest.filter(|apply| apply.new.plan == held.sealed.id()).map(|apply| apply.id);
        if let Some(id) = own.filter(|id| self.state.document(*id).unwrap().is_some()) {
            let is_deadly = self.stage.one_of(4);
            self.history.push("the latest apply goes on".to_owned());
            self.run(is_deadly, Some((held, Some(id))));
        }
    }

    /// A plan is made, and kept.
    fn keep_plan(&mut self) {
        if self.held.len() < KEPT_PLANS {
            let now = self.stage.world().now;
            self.held.push(self.plan(now));
            self.history.push("a plan is made, and kept".to_owned());
        }
    }

    /// A plan that was kept is applied; another run may have gone since, or none.
    fn apply_kept(&mut self) {
        if !self.held.is_empty() {
            let held = self.held.remove(0);
            let is_deadly = self.stage.one_of(4);
            self.history.push("a plan that was kept is applied".to_owned());
            self.run(is_deadly, Some((held, None)));
        }
    }

    /// Asks all name servers, and keeps what they show.
    fn poll(&mut self) {
        let config = &self.settings.config;
        let world = self.stage.world();
        let terms = ReadingTerms { workspace: Path::new("."), now: world.now, cache: None };
        let rolls = PoolRolls::of(config, terms.context(config).source);
        for (number, name) in world.zones.iter().enumerate() {
            let zone = ZoneId { pool: super::super::pool(), name: name.clone() };
            let mut record = self.state.zone_record(&zone).unwrap();
            for (server, own) in rolls.name_servers("main").iter().enumerate() {
                let target = record.targets.get(&own.voter.target).map(|target| target.counted());
                let Some(target) = target else { continue };
                let answer = SerialAnswer::Serves(world.name_servers[server][number].serial());
                let row = record.row(&own.voter).after(answer, &target, record.newest);
                record.servers.insert(own.voter.clone(), TimedRow { row, at: world.now });
            }
            record.count(rolls.roll(&zone).unwrap(), true);
            let kept = RecordedZone { zone, record, begun: None };
            self.state.keep_records(&[kept], world.now).unwrap();
        }
    }

    /// All name servers catch up, all settles, and a run goes; gives whether nothing was left to do.
    fn round(&mut self) -> Result<bool, String> {
        self.stage.world().catch_up_all();
        self.poll();
        self.check()?;
        self.pass(701);
        let is_done = self.run(false, None);
        self.check()?;
        Ok(is_done)
    }

    /// Faults end: all must come to be as wished.
    fn quiet(&mut self) -> Result<(), String> {
        self.history.push("the quiet time begins".to_owned());
        self.stage.end_faults();
        self.held.clear();
        self.end_outages();
        self.export();
        let mut done = 0;
        for _ in 0..ROUNDS {
            self.ask();
            done = if self.round()? { done + 1 } else { 0 };
            if done == 2 {
                return self.stage.world().is_as_wanted();
            }
        }
        self.history.push(format!("{:?}", self.state.rollouts().unwrap()));
        Err("there is no end of changes".to_owned())
    }

    /// So many pods come back that none has to wait for those that do not.
    fn end_outages(&mut self) {
        self.end_absences();
        let sets = self.stage.world().sets.len();
        for set in 0..sets {
            let (back, successors, budget) = {
                let world = self.stage.world();
                let of_set = (0..world.pods.len()).filter(|pod| world.pods[*pod].set == set);
                let rows: Vec<(usize, &Row)> =
                    of_set.filter_map(|pod| Some((pod, world.pods[pod].row.as_ref()?))).collect();
                // What is known of a pod waits for the one that replaces it.
                let is_there = |id: &String| rows.iter().any(|(pod, _)| world.pods[*pod].id == *id);
                let is_successor = |row: &Row| world.sets[set].copies && row.replaces.as_ref().is_some_and(is_there);
                let is_down = |row: &Row| matches!(row.state, PodState::Dead | PodState::Waiting);
                let is_silent =
                    |pod: usize, row: &Row| row.state == PodState::Active && world.pods[pod].homes.is_empty();
                let pick = |picks: &dyn Fn(usize, &Row) -> bool| -> Vec<usize> {
                    rows.iter().filter(|(pod, row)| picks(*pod, row)).map(|(pod, _)| *pod).collect()
                };
                let successors = pick(&|_, row| is_successor(row) && row.state == PodState::Prepared);
                let must = pick(&|pod, row| is_silent(pod, row) || (is_successor(row) && is_down(row)));
                let may = pick(&|_, row| !is_successor(row) && is_down(row));
                ((must, may), successors, world.sets[set].budget)
            };
            let (must, may) = back;
            let stay = self.stage.below(budget);
            may.into_iter().skip(stay).chain(must).for_each(|pod| self.comes_back(pod, PodState::Active));
            successors.into_iter().for_each(|pod| self.begins(pod));
        }
    }

    /// Pods that died and have a place again are active there, and those that are taken away go: until then they count as down.
    fn end_absences(&mut self) {
        let down = self.state.pods_down().unwrap();
        let fallen: Vec<(usize, PodState)> = {
            let world = self.stage.world();
            let known = down.keys().filter_map(|subject| world.pod_of(subject));
            known.filter_map(|pod| Some((pod, world.pods[pod].row.as_ref()?.state))).collect()
        };
        for (pod, state) in fallen {
            match state {
                PodState::Prepared => self.begins(pod),
                PodState::Removing => self.goes(pod),
                PodState::Waiting | PodState::Active | PodState::Dead => {}
            }
        }
    }
}
