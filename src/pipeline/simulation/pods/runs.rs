//! Plans and applies of a story, by the real code.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration as SystemDuration, Instant};

use super::super::telling::{self, Silent, ran_words, shown};
use super::super::wires::Book;
use super::export;
use super::stage::Weakness;
use super::story::{HeldPlan, Story};
use super::world::{PodKey, Row, RunSeen, World, transient_name};
use crate::apply::CopyAccess;
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::change::{Change, ChangeKind};
use crate::claim::Subject;
use crate::diff::context::ServerNames;
use crate::diff::decide::{DecisionInput, decide};
use crate::diff::held::HeldEdits;
use crate::diff::{Selection, TrippedHosts};
use crate::dns::{Rdata, Rrset, Rtype};
use crate::health::gate::GateAnswer;
use crate::inventory::pods::PodState;
use crate::inventory::value::{Duration, Time};
use crate::live::{Apexes, Live, LiveZone};
use crate::pipeline::apply::{ApplyRun, ApplyWork, did_all};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::pod_states::{self, PodStates};
use crate::pipeline::recent_pods::gone_srv;
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::WaveChecks;
use crate::pipeline::waves::{self, NO_BUDGETS, settings_of};
use crate::plan::{Plan, SealedPlan, fixture};
use crate::rollout::recent::recent_names;
use crate::rollout::via::add_via;
use crate::state::{
    AcceptanceRecord, Acceptor, ApplyId, DownPods, OwnershipRegister, RolloutRegister, State, StatementRegister,
    WaitList,
};
use crate::target::{CopyId, PoolBounds, ReadTarget, ZoneId};

/// No gate and no probe is asked in these stories.
struct NoChecks;

impl WaveChecks for NoChecks {
    fn gate(&self, _: &str, _: &str) -> GateAnswer {
        GateAnswer { passed: true, said: String::new(), is_usable: true }
    }

    fn answers(&self, _: &str, _: IpAddr) -> Result<bool, String> {
        Ok(true)
    }
}

impl Story {
    /// What the primary holds, as decisions see it.
    fn live(&self, world: &World) -> Live {
        let known = |zone| LiveZone::known(world.primary.read_zone(zone).unwrap().contents);
        let zones = world.zones.iter().map(known).collect();
        Live::new(zones, Apexes::new(world.zones.iter())).with_own(self.state.own().unwrap())
    }

    /// The plan that makes all as the export says.
    pub fn plan(&self, now: Time) -> HeldPlan {
        let world = self.stage.world();
        let (live, inventory) = (self.live(&world), &self.inventory);
        let memory = self.state.rollouts().unwrap();
        let mut recent = recent_names(&memory, memory.now(now));
        if self.stage.weakness == Weakness::NoListedLately {
            recent.listed.clear();
        }
        recent.gone = gone_srv((inventory, &live), &self.state, &memory).unwrap();
        let (servers, bounds) = (ServerNames::new(), PoolBounds::new());
        let (selection, tripped) = (Selection::default(), TrippedHosts::default());
        let (waits, statements) = (self.state.waits().unwrap(), self.state.statements().unwrap());
        let decided = decide(
            inventory,
            &live,
            DecisionInput {
                now,
                servers: &servers,
                bounds: &bounds,
                selection: &selection,
                tripped: &tripped,
                waits: &waits,
                statements: &statements,
                held: &HeldEdits::default(),
                recent: &recent,
                copies: &[],
                own_of_records: &BTreeMap::new(),
                survey: None,
            },
        );
        let mut plan = Plan {
            created: now,
            expires: now.plus(Duration::from_secs(86_400)),
            inputs: BTreeMap::new(),
            zones: Vec::new(),
            changes: decided.changes,
            stated: decided.statements,
            delayed: decided.waiting,
            blocked: decided.blocked,
            skipped: decided.skipped,
            notices: decided.notices,
            ..fixture::empty()
        };
        plan.groups = waves::groups_seen(inventory, &plan);
        plan.pods = waves::pods_seen((inventory, &live), &plan, &self.state.pods_down().unwrap());
        let groups = settings_of(&inventory.projects, &inventory.pods.sets);
        add_via(&mut plan, &|group| groups.get(group).is_some_and(|terms| terms.overlap.is_some()));
        let state: &dyn State = &self.state;
        waves::foresee(&mut plan, (&inventory.projects, &inventory.pods.sets), (Some(&live), Some(state))).unwrap();
        self.weaken(&mut plan, &world);
        let rows = Arc::new(world.exported.clone());
        HeldPlan { sealed: SealedPlan::new(plan), rows, export: self.exports }
    }

    /// Takes from a plan what a weakness takes.
    fn weaken(&self, plan: &mut Plan, world: &World) {
        match self.stage.weakness {
            Weakness::NoReplacedWait => plan.pods.iter_mut().for_each(|pod| pod.replaces = None),
            // The state knows them, too: only one that is active again does not count.
            Weakness::NoDown => plan.pods.iter_mut().filter(|pod| pod.down).for_each(|pod| {
                (pod.down, pod.active) = (false, true);
            }),
            Weakness::NamesAfterSrv => plan.changes.iter_mut().for_each(|change| list_all(change, world)),
            Weakness::None | Weakness::NoRollout | Weakness::NoListedLately | Weakness::NoOverlap => {}
        }
    }

    /// A run: with a new plan, or one that was made before, or of an apply; gives whether nothing was left to do.
    pub fn run(&mut self, is_deadly: bool, given: Option<(HeldPlan, Option<ApplyId>)>) -> bool {
        self.runs += 1;
        // A clock that is set back by an hour, once in a while.
        let is_back = is_deadly && self.stage.one_of(4);
        let now = self.stage.world().now;
        let now = if is_back { now.minus(Duration::from_secs(3600)) } else { now };
        let (held, id) = given.unwrap_or_else(|| (self.plan(now), None));
        let states = self.note_pods(&held, now);
        let plan = held.sealed.plan();
        let state = &self.state as &dyn State;
        let has_news = waves::has_news(Some(state)) || waves::has_open_flux(state);
        if plan.changes.is_empty() && !has_news && id.is_none() {
            self.accept(&held, &Acceptor::IdleApply(""), now);
            return true;
        }
        self.history.push(format!("run {} at {now}: {}", self.runs, shown(&plan.changes)));
        self.history.extend(plan.blocked.iter().map(|own| format!("blocked: {} {}", own.subject, own.message)));
        self.begin_run(&held, now);
        self.stage.set_deadly(is_deadly);
        let ran = self.carry_out(&held.sealed, id, now);
        self.stage.set_deadly(false);
        self.stage.world().step();
        self.stage.world().run = None;
        self.history.push(ran.as_ref().map_or("it died".to_owned(), ran_words));
        let sent = ran.as_ref().map(|ran| ran.apply.is_some());
        if let Some(ran) = &ran {
            pod_states::note_moved(states.as_ref(), &ran.applied, &mut self.state);
        }
        if let Some(ran) = ran.filter(|ran| ran.refusal.is_none() && ran.is_journaled && did_all(&ran.applied)) {
            let acceptor = ran.apply.map_or(Acceptor::IdleApply(""), Acceptor::Apply);
            self.accept(&held, &acceptor, now);
        }
        self.last = Some(held);
        // What is left may wait for what never comes.
        sent == Some(false)
    }

    /// Notes what a run uses.
    fn begin_run(&mut self, held: &HeldPlan, now: Time) {
        let memory = self.state.rollouts().unwrap();
        let rows = memory.flux.iter().filter(|row| row.is_disruptive && row.is_in_flux(memory.now(now)));
        let subjects: BTreeSet<Subject> = rows.map(|row| row.subject.clone()).collect();
        let mut world = self.stage.world();
        let in_flux = subjects.iter().filter_map(|subject| world.pod_of(subject)).collect();
        let before = (0..world.sets.len()).flat_map(|set| world.unreachable(set)).collect();
        world.run = Some(RunSeen { rows: (*held.rows).clone(), before, in_flux });
    }

    /// Notes who died and who came back, by a plan whose export is still the same.
    fn note_pods(&mut self, held: &HeldPlan, now: Time) -> Option<PodStates> {
        if held.export != self.exports {
            return None;
        }
        let plan = held.sealed.plan();
        let states = PodStates::of(&self.inventory, plan, &self.state.pods_down().unwrap(), now);
        self.state.keep_pods_down(&states.down).unwrap();
        let blocked = plan.blocked.iter().map(|blocked| blocked.subject.clone()).collect();
        self.stage.world().note_states(&blocked);
        Some(states)
    }

    /// Accepts the export that a plan was made from, if it is still the same.
    fn accept(&mut self, held: &HeldPlan, acceptor: &Acceptor<'_>, now: Time) {
        if held.export == self.exports {
            self.state.accept(&[export::to_accept(&self.inventory)], acceptor, now).unwrap();
        }
    }

    /// Applies a plan, or resumes an apply, in a run that takes up to two seconds; none where the run died.
    fn carry_out(&mut self, sealed: &SealedPlan, id: Option<ApplyId>, now: Time) -> Option<ApplyRun> {
        let (settings, interrupted) = (&self.settings, AtomicBool::new(false));
        let conduct = ApplyConduct {
            began: Instant::now() - SystemDuration::from_secs(self.runs % 3),
            ..super::super::conduct(now, self.runs, &interrupted)
        };
        let (zones, primary) = {
            let world = self.stage.world();
            (world.zones.clone(), Arc::clone(&world.primary))
        };
        let pool = super::super::pool();
        let copy = |zone: &_| CopyAccess {
            copy: CopyId::only(&ZoneId { pool: pool.clone(), name: Clone::clone(zone) }),
            writer: Ok(&*primary),
            is_fenced: true,
            share: None,
        };
        let targets = Targets { copies: zones.iter().map(copy).collect(), writers: vec![&*primary] };
        let bounds = PlanBounds::of(&settings.config, &settings.projects);
        let expires = Duration::from_secs(86_400);
        let waves_expire = Some(now.plus(expires));
        let terms = PlanTerms { now: sealed.plan().created, expires, waves_expire, expect: None, bounds: &bounds };
        let budgets = settings_of(&settings.projects, &settings.pod_sets);
        let groups = if self.stage.weakness == Weakness::NoRollout { &NO_BUDGETS } else { &budgets };
        let work = ApplyWork {
            approver: None,
            sealed,
            place: "plan",
            terms,
            request: &conduct,
            progress: &Silent,
            targets: &targets,
            at_once: 1,
            guards: ApplyGuards::default(),
            settings,
            groups,
            checks: &NoChecks,
        };
        let mut book = Book { stage: &self.stage, run: 0, number: 0, state: &mut self.state };
        telling::carry_out(&work, &mut book, id)
    }
}

/// Lets an SRV list all pods by the names of their placements, whatever is there.
fn list_all(change: &mut Change, world: &World) {
    let name = change.key.owner.as_name().to_name();
    for set in &world.sets {
        for (own, endpoint, location) in set.srv_names() {
            if own != name || change.key.rtype != Rtype::SRV {
                continue;
            }
            let target = |((number, id), row): (&PodKey, &Row)| {
                let place = row.place.as_ref().filter(|place| location.is_none_or(|at| at == place.location))?;
                let is_listed =
                    row.is_enabled && row.state != PodState::Removing && endpoint.states.contains(&row.state);
                let is_own = world.sets[*number].id == set.id;
                (is_own && is_listed)
                    .then(|| Rdata::of_srv([0, 0, endpoint.port], transient_name(set, id, place).as_name()))
            };
            let targets: Vec<Rdata> = world.exported.iter().filter_map(target).collect();
            match &mut change.kind {
                ChangeKind::Create { after } | ChangeKind::Modify { after, .. } => {
                    *after = Rrset::new(after.ttl(), targets).unwrap_or_else(|| after.clone());
                }
                ChangeKind::Delete { .. } => {}
            }
        }
    }
}
