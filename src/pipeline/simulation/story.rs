//! What happens under one seed: which run plans when, which dies and is resumed, and the time without faults at the
//! end, in which all runs are finished.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use super::super::waves::NO_BUDGETS;
use super::check::{Checks, Told};
use super::fleet::OWNER;
use super::run_wire::RunWire;
use super::seed_play::{SeedPlay, Weakness};
use super::stage::{Crash, Stage};
use super::wires::Book;
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::apply::{CopyAccess, OutcomeCode};
use crate::diag::Code;
use crate::dns::ZoneName;
use crate::inventory::value::Duration;
use crate::pipeline::apply::{ApplyRun, ApplyWork};
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::left_open::broken_off;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::NoChecks;
use crate::plan::SealedPlan;
use crate::registry::Marking;
use crate::state::{ApplyId, ApplyJournal, Sqlite};
use crate::target::{CopyId, WriteTarget, ZoneId};

/// How many sessions a run has at most before the faults end.
const SESSIONS: usize = 4;

/// A violation, with the seed that shows it.
#[derive(Debug)]
pub struct Violation {
    /// What must not happen: one line each.
    pub faults: Vec<String>,
    /// What happened, where that was kept.
    pub history: Vec<String>,
}

/// How a session ended.
enum End {
    /// The run died.
    Died,
    /// Its apply did all of its plan, before it began.
    Complete,
    /// It ended.
    Ran(Box<ApplyRun>),
}

/// One run: a plan and a state.
struct Run<'s> {
    /// Its number: 0 or 1.
    number: usize,
    /// Its plan.
    sealed: SealedPlan,
    /// Its state.
    book: Book<'s>,
    /// How many sessions it had.
    sessions: usize,
}

/// Plays a seed.
pub fn play(play: &SeedPlay, states: &mut [Sqlite; 2]) -> Result<(), Violation> {
    states.iter_mut().for_each(Sqlite::clear);
    let stage = &*Stage::new(play);
    let mut checks = Checks::default();
    match stage.below(3) {
        0 => alone(stage, states, &mut checks),
        1 if !stage.is_exclusive => side_by_side(stage, states, &mut checks),
        _ => behind(stage, states, &mut checks),
    }
    if let Some(cloud) = &stage.cloud {
        cloud.differences(&stage.fleet).into_iter().for_each(|fault| checks.fault(fault));
    }
    if checks.faults.is_empty() { Ok(()) } else { Err(Violation { faults: checks.faults, history: stage.history() }) }
}

/// One run, and another editor.
fn alone(stage: &Stage, states: &mut [Sqlite; 2], checks: &mut Checks) {
    let [state, _] = states;
    let sealed = stage.fleet.plan(0, &stage.primary);
    let mut run = Run { number: 0, sealed, book: Book { stage, run: 0, number: 0, state }, sessions: 0 };
    checks.plan(stage, 0, &run.sealed);
    run.live(stage, checks, SESSIONS);
    stage.calm();
    run.settle(stage, checks, true);
    checks.end(stage, &[&*run.book.state]);
}

/// Two runs at the same time, each with its own state and plan, made from the same zones.
fn side_by_side(stage: &Stage, states: &mut [Sqlite; 2], checks: &mut Checks) {
    let mut runs: Vec<Run<'_>> = states
        .iter_mut()
        .enumerate()
        .map(|(number, state)| {
            let sealed = stage.fleet.plan(number, &stage.primary);
            Run { number, sealed, book: Book { stage, run: number, number, state }, sessions: 0 }
        })
        .collect();
    runs.iter().for_each(|run| checks.plan(stage, run.number, &run.sealed));
    stage.duet();
    let shared = &*checks;
    let found: Vec<Checks> = std::thread::scope(|scope| {
        let threads: Vec<_> = runs
            .iter_mut()
            .map(|run| {
                scope.spawn(|| {
                    let mut checks = shared.of_same_plans();
                    stage.await_turn(run.number);
                    run.live(stage, &mut checks, SESSIONS);
                    stage.leave(run.number);
                    checks
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    found.into_iter().for_each(|found| checks.join(found));
    stage.calm();
    for run in &mut runs {
        run.settle(stage, checks, false);
    }
    let states: Vec<&Sqlite> = runs.iter().map(|run| &*run.book.state).collect();
    checks.end(stage, &states);
}

/// A run, and another that is planned after the first ended or died, with the same state; then both in any order.
fn behind(stage: &Stage, states: &mut [Sqlite; 2], checks: &mut Checks) {
    let [state, _] = states;
    let first = stage.fleet.plan(0, &stage.primary);
    checks.plan(stage, 0, &first);
    let mut run = Run { number: 0, sealed: first, book: Book { stage, run: 0, number: 0, state }, sessions: 0 };
    run.live(stage, checks, 1);
    let Run { sealed: first, book, sessions: of_first, .. } = run;
    if stage.weakness == Weakness::None {
        // A run whose answer was lost follows what is listed, and so does a plan: what the journal has from there is done, and the
        // log says so only later.
        stage.settle_listed();
        checks.check_edits(stage, &[&*book.state]);
    }
    // Who plans anew waits for what the service was asked to do.
    stage.settle_service();
    let second = stage.fleet.plan(1, &stage.primary);
    checks.plan(stage, 1, &second);
    let (mut state, mut sessions) = (book.state, [of_first, 0]);
    let count = if second.plan().changes.is_empty() { 1 } else { 2 };
    let sealed = [first, second];
    for _ in 0..1 + stage.below(SESSIONS) {
        let number = if sessions[1] == 0 { count - 1 } else { stage.below(count) };
        state = turn(stage, checks, (number, &sealed, &mut sessions), state, Run::step);
    }
    stage.calm();
    for number in 0..count {
        state = turn(stage, checks, (number, &sealed, &mut sessions), state, |run, stage, checks| {
            run.settle(stage, checks, true);
        });
    }
    checks.end(stage, &[&*state]);
}

/// Lets one of two runs with the same state do something; gives the state back.
fn turn<'s>(
    stage: &'s Stage,
    checks: &mut Checks,
    (number, sealed, sessions): (usize, &[SealedPlan; 2], &mut [usize; 2]),
    state: &'s mut Sqlite,
    act: impl FnOnce(&mut Run<'s>, &Stage, &mut Checks),
) -> &'s mut Sqlite {
    stage.solo(number);
    stage.settle_service();
    let book = Book { stage, run: number, number: 0, state };
    let mut run = Run { number, sealed: sealed[number].clone(), book, sessions: sessions[number] };
    act(&mut run, stage, checks);
    sessions[number] = run.sessions;
    run.book.state
}

impl Run<'_> {
    /// Begins the run and resumes it, in at most `most` sessions.
    fn live(&mut self, stage: &Stage, checks: &mut Checks, most: usize) {
        for _ in 0..1 + stage.below(most) {
            self.step(stage, checks);
        }
    }

    /// Begins or resumes the run once, then lets some time pass.
    fn step(&mut self, stage: &Stage, checks: &mut Checks) {
        let from = self.sessions;
        stage.set_active(self.number, true);
        let end = self.session(stage);
        stage.set_active(self.number, false);
        if let End::Ran(ran) = &end {
            // A service may list what it will only have done in a moment.
            stage.settle_service();
            let told = Told { run: self.number, is_first: from == 0, ran };
            checks.told(stage, &told);
        }
        stage.pass(self.number);
    }

    /// Resumes the run after the faults: then nothing is left to do for it, unless it is refused because a run with
    /// another state wrote since.
    fn settle(&mut self, stage: &Stage, checks: &mut Checks, knows_all: bool) {
        stage.solo(self.number);
        let number = self.number;
        match self.session(stage) {
            End::Complete => {}
            End::Died => checks.fault(format!("run {number} died after the faults")),
            End::Ran(ran) => {
                checks.told(stage, &Told { run: number, is_first: self.sessions == 1, ran: &ran });
                let may_be_refused = |code: Code| !knows_all && code.as_str() == "state-lost";
                if let Some(refusal) = ran.refusal.as_ref().filter(|refusal| !may_be_refused(refusal.code)) {
                    checks.fault(format!("run {number} is refused after the faults: {refusal:?}"));
                }
                checks.settled(stage, number, &ran);
            }
        }
    }

    /// One process: an apply that begins or is resumed.
    fn session(&mut self, stage: &Stage) -> End {
        let (number, sealed) = (self.number, &self.sealed);
        let interrupted = AtomicBool::new(false);
        let earlier = self.book.state.applies(10).unwrap().into_iter().find(|apply| apply.new.plan == sealed.id());
        if earlier.as_ref().is_some_and(|apply| self.book.state.document(apply.id).unwrap().is_none()) {
            return End::Complete;
        }
        self.sessions += 1;
        stage.begin_session(number);
        let plan = sealed.plan();
        let conduct = super::conduct(plan.created, (1 + number + 2 * self.sessions) as u64, &interrupted);
        let of_cloud = stage.cloud_writer(number);
        let target: &dyn WriteTarget = of_cloud.as_deref().unwrap_or(&*stage.primary);
        let wire = RunWire { stage, run: number, changes: &plan.changes, target };
        let writer: &dyn WriteTarget = &wire;
        let is_fenced = stage.is_fenced;
        let id = |zone: &ZoneName| ZoneId { pool: super::pool(), name: zone.clone() };
        let access = |zone| CopyAccess { copy: CopyId::only(&id(zone)), writer: Ok(writer), is_fenced, share: None };
        let copies = stage.fleet.zones.iter().map(access).collect();
        let targets = Targets { copies, writers: vec![writer] };
        let zones = stage.fleet.zones.iter().collect();
        let projects = stage.fleet.projects.iter().map(|(id, admin)| (id.as_str(), admin));
        let marking = Marking::sample(OWNER, stage.fleet.registry());
        let bounds = PlanBounds::new(zones, projects, &marking, stage.fleet.most_records());
        let expires = Duration::from_secs(86_400);
        let terms = PlanTerms { now: plan.created, expires, waves_expire: None, expect: None, bounds: &bounds };
        let (place, groups) = ("plan", &NO_BUDGETS);
        let (targets, guards) = (&targets, ApplyGuards::default());
        let (settings, progress) = (settings(), &wire);
        let work = ApplyWork {
            approver: None,
            sealed,
            place,
            terms,
            request: &conduct,
            progress,
            targets,
            at_once: 1,
            guards,
            settings,
            groups,
            checks: &NoChecks,
        };
        let id = earlier.map(|apply| apply.id);
        stage.tell(|| format!("run {number} {}", if id.is_some() { "is resumed" } else { "begins" }));
        let end = self.book.carry_out(&work, id);
        stage.tell(|| format!("run {number} ends: {}", shown(&end)));
        end
    }
}

/// Settings that allow all that the plans of the fleet change.
fn settings() -> &'static WorkspaceSettings {
    static SETTINGS: OnceLock<WorkspaceSettings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let workspace = tempfile::tempdir().unwrap();
        let write = |file, text| std::fs::write(workspace.path().join(file), text).unwrap();
        let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
        let project = "[project.search]\ndns_domain = \"example.net\"\nautomation = \"allowed\"\n";
        let toml = format!("owner = \"us\"\n[sources]\nprojects = \"search.yaml\"\n{exports}");
        write("zonewright.toml", toml + "[[sources.mac]]\nname = \"a\"\npath = \"a\"\n" + project);
        write("search.yaml", "id: search\nvlan_scheme: static\nvlans: {main: 1}\n".to_owned());
        load_settings(workspace.path()).unwrap()
    })
}

impl Book<'_> {
    /// Begins an apply, or resumes one; it may die.
    fn carry_out(&mut self, work: &ApplyWork<'_>, id: Option<ApplyId>) -> End {
        let done = catch_unwind(AssertUnwindSafe(|| match id {
            Some(id) => work.go_on(self, id),
            None => {
                let killed = broken_off(self)?;
                work.begin(self, &killed)
            }
        }));
        match done {
            Ok(ran) => End::Ran(Box::new(ran.unwrap())),
            Err(cause) if cause.is::<Crash>() => End::Died,
            Err(cause) => resume_unwind(cause),
        }
    }
}

/// How a session ended, in words.
fn shown(end: &End) -> String {
    match end {
        End::Died => "died".to_owned(),
        End::Complete => "was complete".to_owned(),
        End::Ran(ran) => match &ran.refusal {
            Some(refusal) => format!("refused {}", refusal.code),
            None => {
                let host = |host: &crate::apply::SubjectOutcome| {
                    let is_fine = host.outcome == OutcomeCode::Applied;
                    let why = host.message.as_deref().filter(|_| !is_fine).unwrap_or_default();
                    format!("{} {} {why}", host.name, host.outcome)
                };
                ran.applied.hosts.iter().map(host).collect::<Vec<_>>().join("; ")
            }
        },
    }
}
