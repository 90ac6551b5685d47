//! What happens under one seed: wishes that change, plans, applies that die or are resumed, services and people that do as they
//! like; and a quiet time at the end.

use std::sync::Mutex;

use super::desk::{Pretence, serve};
use super::services::{KnownTask, ServicePolicy, TrueService};
use super::site::{rolls, settings, zone_id};
use super::stage::{Stage, Weakness};
use super::world::{PROJECTS, TrueHost, primary};
use crate::cms::task::TaskStatus;
use crate::consensus::TimedRow;
use crate::diag::{Files, Origin};
use crate::dns::{Serial, ZoneName};
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::rollout::{MaxUnavailable, RolloutTerms};
use crate::inventory::value::Duration;
use crate::pipeline::waves::{GroupSettings, settings_of};
use crate::plan::SealedPlan;
use crate::state::{ApplyId, ApplyJournal as _, PublicationRecord as _, RecordedZone, Sqlite, State as _};
use crate::target::SerialAnswer;
use crate::verify::truth::Numbers;

/// How many events a story has.
const EVENTS: usize = 40;

/// How many plans are kept that may be applied, or whose applies may go on.
const KEPT_PLANS: usize = 3;

/// The names of services.
pub const NAMES: [&str; 3] = ["a", "b", "c"];

/// The id of another state of the same owner.
const OTHER_STATE: &str = "ffffffffffffffffffffffffffffffff";

/// A copy of the state.
pub struct KeptState {
    /// The copy.
    pub state: Sqlite,
    /// What the primary served when it was made.
    pub serials: Vec<Serial>,
    /// The next number of a task, where ids repeat.
    pub numbers: u64,
}

/// The right state, while one of an earlier time is in its place.
pub struct RightState {
    /// The state.
    pub state: Sqlite,
    /// The zones of which the older one does not know all.
    pub zones: Vec<ZoneName>,
    /// The next number of a task, where ids repeat.
    pub numbers: u64,
}

/// A story.
pub struct Story {
    /// The dice, and what else is shared.
    pub stage: Stage,
    /// What is pretended of services while something is switched off.
    pub desk: Mutex<Pretence>,
    /// The state of all runs.
    pub state: Sqlite,
    /// A copy of the state, which may be put back.
    pub kept: Option<KeptState>,
    /// The right state, while one of an earlier time is in its place.
    pub right: Option<RightState>,
    /// The budgets.
    pub groups: GroupSettings,
    /// The plans of the latest runs, and plans that were made and not applied yet: any of them may go on at any time.
    plans: Vec<SealedPlan>,
    /// The tasks of others, each with its service.
    pub foreign: Vec<(String, String)>,
}

/// Plays a seed; an error is the first violation.
pub fn play(seed: u64, weakness: Weakness) -> Result<(), String> {
    Story::new(seed, weakness, false).play()
}

/// Plays a seed; gives what happened, and whether nothing was violated.
pub fn tell(seed: u64, weakness: Weakness) -> (Vec<String>, bool) {
    let mut story = Story::new(seed, weakness, true);
    let violation = story.play().err();
    let is_right = violation.is_none();
    let mut told = story.stage.cast().history.take().unwrap_or_default();
    told.extend(violation);
    (told, is_right)
}

/// What a project asks for, at random.
fn terms(dice: &mut Numbers, services: &[&str]) -> ApprovalTerms {
    let all = [CmsAction::Prepare, CmsAction::Deactivate, CmsAction::TemporaryUnreachable];
    let actions = all.into_iter().filter(|_| dice.below(5) > 0).collect();
    let give_up = [900, 3_600, 20_000][dice.below(3)];
    let mut terms = ApprovalTerms {
        services: Vec::new(),
        actions,
        max_busy_hosts: 1 + dice.below(2),
        ask_ahead: dice.below(3),
        give_up: Duration::from_secs(give_up),
        origin: Origin::line(Files::default().add("zonewright.toml"), 1),
    };
    terms.services = chosen(dice, services);
    terms
}

/// Some of the services, sorted, and perhaps that which is built in; never none.
fn chosen(dice: &mut Numbers, services: &[&str]) -> Vec<String> {
    let mut chosen: Vec<String> =
        services.iter().filter(|_| dice.below(4) > 0).map(|name| (*name).to_owned()).collect();
    if chosen.is_empty() || dice.below(2) == 0 {
        chosen.push(DEFAULT_SERVICE.to_owned());
    }
    chosen
}

impl Story {
    /// The story of a seed.
    fn new(seed: u64, weakness: Weakness, has_history: bool) -> Story {
        let mut dice = Numbers(seed);
        let (count, projects) = (2 + dice.below(5), 1 + dice.below(2));
        let host = |number: usize| TrueHost::new(number, PROJECTS[number % projects], (dice.below(6) > 0).then_some(0));
        let hosts: Vec<TrueHost> = (0..count).map(host).collect();
        let names = &NAMES[..1 + dice.below(NAMES.len())];
        let budgets = settings_of(&settings().projects, &[]);
        let rollout = |dice: &mut Numbers, own: RolloutTerms| match dice.below(3) {
            0 => RolloutTerms::without_budget(own.budget_origin),
            kind => RolloutTerms {
                max_unavailable: MaxUnavailable::Number(1 + dice.below(3)),
                one_location_at_a_time: dice.below(3) == 0,
                canary: (dice.below(3) == 0).then_some(1),
                overlap: (kind == 1 && dice.below(2) == 0).then(|| Duration::from_secs([0, 120, 900][dice.below(3)])),
                ..own
            },
        };
        let groups = budgets.into_iter().map(|(project, own)| (project, rollout(&mut dice, own))).collect();
        let now = "2026-11-20T02:00:00Z".parse().unwrap();
        let stage = Stage::new(seed, weakness, primary(&hosts), now, has_history);
        let state = Sqlite::in_memory();
        {
            let mut cast = stage.cast();
            cast.dice = dice;
            cast.hosts = hosts;
            cast.state_id = state.identity().unwrap().id;
            for name in names {
                let mut service = TrueService::new(&mut cast.dice, count);
                if weakness == Weakness::AskedAtOnce {
                    service.policy = ServicePolicy::Strict;
                }
                cast.services.insert((*name).to_owned(), service);
            }
            for project in &PROJECTS[..projects] {
                let mut own = terms(&mut cast.dice, names);
                if weakness == Weakness::AskedAtOnce {
                    // Giving up ends what waits in a circle.
                    own.give_up = Duration::from_secs(1_000_000);
                }
                cast.projects.insert((*project).to_owned(), own);
            }
        }
        stage.observe();
        stage.cast().hosts.iter_mut().for_each(|host| host.changes.clear());
        Story {
            stage,
            desk: Mutex::default(),
            state,
            kept: None,
            right: None,
            groups,
            plans: Vec::new(),
            foreign: Vec::new(),
        }
    }

    /// Plays it.
    fn play(&mut self) -> Result<(), String> {
        self.wish();
        for _ in 0..EVENTS {
            self.event()?;
            self.check()?;
        }
        self.rest()
    }

    /// Something happens.
    fn event(&mut self) -> Result<(), String> {
        match self.stage.below(24) {
            0..=2 => {
                let seconds = [60, 301, 301, 3_601][self.stage.below(4)];
                self.pass(seconds);
            }
            3 | 4 => self.wish(),
            5..=10 => {
                let is_deadly = self.stage.below(3) == 0;
                self.run(is_deadly, None)?;
            }
            11 | 12 => self.go_on()?,
            13 => self.hold_plan(),
            14 => self.keep_state(),
            15 => self.put_back(),
            16..=18 => self.serve(),
            19 => self.set(),
            20 => self.come_foreign(),
            21 => self.go_foreign(),
            _ => self.services_move(),
        }
        Ok(())
    }

    /// Whether nothing was violated.
    pub fn check(&self) -> Result<(), String> {
        let cast = self.stage.cast();
        if let Some(fault) = cast.faults.first() {
            return Err(fault.clone());
        }
        let is_there = |(service, id): &&(String, String)| cast.services[service].tasks.contains_key(id);
        match self.foreign.iter().find(|own| !is_there(own)) {
            Some((service, id)) => Err(format!("the task `{id}` of another state is gone at `{service}`")),
            None => Ok(()),
        }
    }

    /// Time passes.
    pub fn pass(&mut self, seconds: u64) {
        let mut cast = self.stage.cast();
        cast.now = cast.now.plus(Duration::from_secs(seconds));
        let now = cast.now;
        cast.tell(|| format!("{now} comes"));
    }

    /// The inventory has some hosts elsewhere, new, or no longer.
    fn wish(&mut self) {
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        for _ in 0..=cast.dice.below(cast.hosts.len()) {
            let host = cast.dice.below(cast.hosts.len());
            let wish = cast.dice.below(4);
            cast.hosts[host].wish = wish.checked_sub(1);
        }
        cast.tell(|| "wishes change".to_owned());
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
            let is_deadly = self.stage.below(3) == 0;
            self.run(is_deadly, Some((sealed, own)))?;
        }
        Ok(())
    }

    /// A plan is made, and kept.
    fn hold_plan(&mut self) {
        let now = self.stage.cast().now;
        let sealed = self.plan(now);
        if !sealed.plan().changes.is_empty() {
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

    /// All name servers serve what the primary has, and are asked.
    pub fn serve(&mut self) {
        self.stage.observe();
        self.stage.catch_up();
        let now = self.stage.cast().now;
        let rolls = rolls();
        for (project, serial) in PROJECTS.iter().zip(self.serials()) {
            let zone = zone_id(project);
            let mut record = self.state.zone_record(&zone).unwrap();
            for own in rolls.name_servers("main") {
                let target = record.targets.get(&own.voter.target).map(|target| target.counted());
                let Some(target) = target else { continue };
                let row = record.row(&own.voter).after(SerialAnswer::Serves(serial), &target, record.newest);
                record.servers.insert(own.voter.clone(), TimedRow { row, at: now });
            }
            if record.targets.values().any(|target| target.is_set_back) {
                self.stage.cast().fault(format!("the serial of `{project}` counts as set back, and it never was"));
            }
            record.count(rolls.roll(&zone).unwrap(), true);
            self.state.keep_records(&[RecordedZone { zone, record, begun: None }], now).unwrap();
        }
        self.stage.cast().tell(|| "name servers serve all".to_owned());
    }

    /// A person sets other services for a project, or that a service speaks another version.
    fn set(&mut self) {
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        let names: Vec<String> = cast.services.keys().cloned().collect();
        if cast.dice.below(4) == 0 {
            let (name, version) = (&names[cast.dice.below(names.len())], cast.dice.below(CmsVersion::ALL.len()));
            let version = CmsVersion::ALL[version];
            cast.services.get_mut(name).unwrap().version = version;
            cast.tell(|| format!("`{name}` speaks {version}"));
            return;
        }
        let project = PROJECTS[cast.dice.below(2)];
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let services = chosen(&mut cast.dice, &names);
        let Some(terms) = cast.projects.get_mut(project) else { return };
        // Who is busy is forgotten together with the service that is built in.
        if !services.iter().any(|name| name == DEFAULT_SERVICE) {
            let own = cast.hosts.iter_mut().filter(|host| host.project == project);
            own.flat_map(|host| &mut host.changes).for_each(|change| change.counts = false);
        }
        let dropped: Vec<&String> = terms.services.iter().filter(|name| !services.contains(name)).collect();
        // A run that sees it has no use for the tasks there, also where a later one asks that service again before it has deleted them.
        let is_of = |host: &str| cast.hosts.iter().any(|own| own.project == project && own.service_name() == host);
        let tasks = dropped.into_iter().filter_map(|name| cast.services.get(name)).flat_map(|own| &own.tasks);
        cast.ended.extend(tasks.filter(|(_, task)| is_of(&task.host)).map(|(id, _)| id.clone()));
        terms.services.clone_from(&services);
        cast.tell(|| format!("`{project}` asks {services:?}"));
    }

    /// Another state of the owner, another owner, or a dry run makes a task.
    fn come_foreign(&mut self) {
        let number = self.stage.below(1 << 30);
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        let names: Vec<String> = cast.services.keys().cloned().collect();
        let service = names[cast.dice.below(names.len())].clone();
        let host = cast.hosts[cast.dice.below(cast.hosts.len())].service_name();
        let prefixes =
            [format!("us.{OTHER_STATE}"), "us2.dry".to_owned(), format!("us2.{}", cast.state_id), "us.dry".to_owned()];
        let kind = cast.dice.below(prefixes.len());
        let id = format!("{}.{number:08x}", prefixes[kind]);
        let status = TaskStatus::ALL[cast.dice.below(TaskStatus::ALL.len())];
        cast.services.get_mut(&service).unwrap().tasks.insert(id.clone(), KnownTask { host, status });
        // Those of dry runs are for the first who finds them.
        if kind < 3 {
            self.foreign.push((service, id));
        }
    }

    /// Another state deletes a task of its own.
    fn go_foreign(&mut self) {
        if !self.foreign.is_empty() {
            let (service, id) = self.foreign.swap_remove(self.stage.below(self.foreign.len()));
            self.stage.cast().services.get_mut(&service).unwrap().tasks.remove(&id);
        }
    }

    /// Something happens at services.
    fn services_move(&mut self) {
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        let names: Vec<String> = cast.services.keys().cloned().collect();
        let name = &names[cast.dice.below(names.len())];
        let is_own = |id: &String| id.starts_with(&format!("us.{}.", cast.state_id));
        match cast.dice.below(4) {
            0 => {
                let underway = std::mem::take(&mut cast.services.get_mut(name).unwrap().underway);
                cast.tell(|| format!("`{name}` does what came late"));
                for kind in underway {
                    serve(cast, name, &kind);
                }
            }
            1 => {
                let own = cast.services.get_mut(name).unwrap();
                own.older_list = own.list();
                own.older_list.sort_by_key(|task| task.id.replace(&cast.state_id, "state"));
            }
            2 => {
                let own = cast.services.get_mut(name).unwrap();
                let ids: Vec<String> = own.tasks.keys().filter(|id| is_own(id)).cloned().collect();
                ids.iter().for_each(|id| own.forget(id));
                cast.tell(|| format!("`{name}` forgets all"));
            }
            _ => {
                let own = cast.services.get_mut(name).unwrap();
                let back: Vec<_> = own.deleted.drain(..).filter(|(id, _)| is_own(id)).collect();
                own.tasks.extend(back);
                cast.tell(|| format!("`{name}` brings back what was deleted"));
            }
        }
    }
}
