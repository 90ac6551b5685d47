//! `run`: passes, one after another, until it is stopped.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::args::RunArgs;
use super::ending::ended;
use super::exit::Exit;
use super::notify;
use super::output::{self, CommandFailure};
use super::process_run::ProcessRun;
use super::run_desk::RunDesk;
use super::run_pass::{PassOutcome, PassTerms, pass};
use super::shared_args::SharedArgs;
use super::signals::{self, ServiceSignals};
use super::values::ListenArg;
use super::who::who;
use crate::diag::Problem;
use crate::inventory::value::{self, Time};
use crate::passes::PassSchedule;
use crate::pipeline::LastPlan;
use crate::pipeline::running::{RunningSettings, running_settings};
use crate::report::running::{Obstacle, PassEnd, RunningFacts, RunningNews, RunningRole, leader};
use crate::state::{StateAddress, StateLock};
use crate::web::{self, RunningWeb, WebDesk, WebTerms};

/// Where the page is served where nothing is said.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7979);

/// How connections to the page are treated: browsers, scrapers and watchdogs.
const TERMS: WebTerms = WebTerms { name: "page", silence: Duration::from_secs(10), most: 64 };

/// How often it looks for signals, and at least how long it waits before it asks for the lead again.
const LOOK: Duration = Duration::from_millis(50);

/// How often another process is asked for the lead at least.
const LEAD_AT_LEAST: Duration = Duration::from_secs(5);

/// Makes passes until it is stopped.
pub fn run(shared: &SharedArgs, args: &RunArgs) -> Result<Exit, CommandFailure> {
    refuse_limits(shared, args)?;
    let signals = signals::watch_service()?;
    let schedule = PassSchedule::new(args.interval.as_std());
    let desk = Arc::new(RunDesk::new(first_news(shared, args)?, schedule.well_for()));
    let page = serve(shared, args, &desk)?;
    let passes = PassLoop {
        shared,
        args,
        signals: &signals,
        desk: &desk,
        page,
        schedule,
        lead: None,
        passes: 0,
        synced: None,
        sync_interval: Duration::ZERO,
        is_behind: false,
        last_plan: RefCell::default(),
        told: None,
        began: output::now(shared)?,
    };
    passes.go()
}

/// Refuses what limits a single plan, and a clock that does not go on.
fn refuse_limits(shared: &SharedArgs, args: &RunArgs) -> Result<(), CommandFailure> {
    if shared.limits_plans() || !shared.zones.is_empty() {
        let message =
            "`run` carries out the whole workspace: `--host`, `--subject`, `--project` and `--zone` limit only a plan";
        return Err(
            CommandFailure::of_call(message).hint("leave them out; a project has its own switch (`automation`)")
        );
    }
    if shared.now.is_some() && !args.once {
        let failure = CommandFailure::of_call("the clock of `run` goes on: `--now` is for `--once` alone");
        return Err(failure.hint("leave it out"));
    }
    Ok(())
}

/// What is known before the first pass.
fn first_news(shared: &SharedArgs, args: &RunArgs) -> Result<RunningNews, CommandFailure> {
    let now = output::now(shared)?;
    let workspace = shared.workspace.canonicalize().unwrap_or_else(|_| shared.workspace.clone());
    Ok(RunningNews {
        facts: RunningFacts {
            workspace: workspace.display().to_string(),
            began: now,
            interval: args.interval,
            only_plans: args.dry_run,
        },
        now,
        role: RunningRole::Begins,
        busy_since: None,
        next: None,
        last: None,
        failures: 0,
        obstacle: None,
        has_broken_settings: false,
        plan: Default::default(),
        state: Default::default(),
    })
}

/// Serves the page, where it is asked for; says where.
///
/// Errors: the address that was given cannot be used.
fn serve(shared: &SharedArgs, args: &RunArgs, desk: &Arc<RunDesk>) -> Result<Option<RunningWeb>, CommandFailure> {
    let address = match args.listen {
        Some(ListenArg::Nowhere) => return Ok(None),
        Some(ListenArg::At(address)) => address,
        None if args.once => return Ok(None),
        None => ADDRESS,
    };
    match listen(desk, address) {
        Ok(web) => {
            let says = format!("a page shows how it is going: http://{}/", web.address());
            output::note(shared.log_format, shared.quiet, &says);
            Ok(Some(web))
        }
        // Of several processes on one machine the first has the usual address.
        Err(error) if args.listen.is_none() => {
            let why = if error.kind() == ErrorKind::AddrInUse {
                "another process has the address".to_owned()
            } else {
                error.to_string()
            };
            let says = format!("no page is served at {address}: {why}; `--listen ADDRESS` names another one");
            output::note(shared.log_format, shared.quiet, &says);
            Ok(None)
        }
        Err(error) => {
            let failure = CommandFailure::of_call(format!("cannot listen on `{address}`: {error}"));
            Err(failure.hint("give an address of this machine with a free port, such as `--listen 127.0.0.1:7980`"))
        }
    }
}

/// Listens for requests to the page.
fn listen(desk: &Arc<RunDesk>, address: SocketAddr) -> io::Result<RunningWeb> {
    let desk: Arc<dyn WebDesk> = Arc::<RunDesk>::clone(desk);
    web::listen(desk, address, TERMS)
}

/// What is to be done at a turn.
enum PassTurn {
    /// A pass.
    Pass,
    /// Nothing: another process makes the passes.
    Follow,
    /// Nothing: the configuration or the state cannot be used.
    Stopped,
    /// Nothing yet: a person's command has the state.
    Wait,
}

/// The passes of a process.
struct PassLoop<'a> {
    /// What every command takes.
    shared: &'a SharedArgs,
    /// What `run` takes.
    args: &'a RunArgs,
    /// The signals.
    signals: &'a ServiceSignals,
    /// What is shown.
    desk: &'a Arc<RunDesk>,
    /// The page, where it is served.
    page: Option<RunningWeb>,
    /// When passes begin.
    schedule: PassSchedule,
    /// The state that this process leads.
    lead: Option<(StateAddress, StateLock)>,
    /// How many passes ended.
    passes: u64,
    /// When targets were brought in line last.
    synced: Option<Instant>,
    /// How often they are.
    sync_interval: Duration,
    /// Whether anything was behind then.
    is_behind: bool,
    /// The plan of the last pass.
    last_plan: RefCell<LastPlan>,
    /// What was said last of a turn without a pass, so that it is said once.
    told: Option<String>,
    /// When it began.
    began: Time,
}

impl PassLoop<'_> {
    /// Makes passes until it is stopped, or the one that was asked for.
    fn go(mut self) -> Result<Exit, CommandFailure> {
        loop {
            let turn = self.turn();
            let exit = match turn {
                PassTurn::Pass => Some(self.pass()?),
                PassTurn::Stopped => Some(Exit::Error),
                PassTurn::Follow | PassTurn::Wait => None,
            };
            if let (true, Some(exit)) = (self.args.once, exit) {
                return Ok(exit);
            }
            let interval = self.args.interval.as_std();
            let pause = match turn {
                PassTurn::Pass => self.schedule.pause(drawn()),
                // It looks again soon, and not all the time.
                PassTurn::Stopped => interval.max(LOOK),
                PassTurn::Follow | PassTurn::Wait => interval.clamp(LOOK, LEAD_AT_LEAST),
            };
            if !matches!(turn, PassTurn::Pass) {
                self.desk.well(self.schedule.well_for());
            }
            // The process that had the usual address may be gone.
            if self.page.is_none() && self.args.listen.is_none() {
                self.page = listen(self.desk, ADDRESS).ok();
            }
            if !self.wait(pause, matches!(turn, PassTurn::Pass)) {
                return Ok(Exit::Done);
            }
        }
    }

    /// What is to be done now.
    fn turn(&mut self) -> PassTurn {
        let RunningSettings { state, sync_interval } = match running_settings(&self.shared.workspace) {
            Ok(settings) => settings,
            Err(findings) => {
                let why = output::rendered(self.shared, &findings);
                let says =
                    CommandFailure::new("the configuration cannot be used: nothing is changed until it is fixed");
                self.stop(Obstacle { is_config: true, why }, says, |shared| output::findings(shared, &findings));
                return PassTurn::Stopped;
            }
        };
        self.sync_interval = sync_interval.as_std();
        if self.args.dry_run || self.args.once {
            let role = if self.args.dry_run { RunningRole::Plans } else { RunningRole::Leads };
            self.desk.note(|news| (news.obstacle, news.role) = (None, role));
            return self.go_on();
        }
        let role = match self.role(&state) {
            Ok(role) => role,
            Err(problem) => {
                let why = problem.to_string();
                self.stop(Obstacle { is_config: false, why }, problem.into(), |_| {});
                return PassTurn::Stopped;
            }
        };
        self.desk.note(|news| (news.obstacle, news.role) = (None, role.clone()));
        if let RunningRole::Follows(holder) = &role {
            let says = format!("{} leads: this process waits to take over", leader(holder.as_ref()));
            self.tell(&says, |shared| output::note(shared.log_format, shared.quiet, &says));
            return PassTurn::Follow;
        }
        if let Some(holder) = StateLock::holder(&state) {
            let says = format!("another command has the state: {}; the pass begins after it", leader(Some(&holder)));
            self.tell(&says, |shared| output::note(shared.log_format, shared.quiet, &says));
            return PassTurn::Wait;
        }
        self.go_on()
    }

    /// Makes a pass; says so where the last thing that was said is why there is none.
    fn go_on(&mut self) -> PassTurn {
        if self.told.take().is_some() {
            output::note(self.shared.log_format, self.shared.quiet, "this process makes the passes now");
        }
        PassTurn::Pass
    }

    /// Notes why no pass is made; says so once, also to people.
    fn stop(&mut self, obstacle: Obstacle, failure: CommandFailure, say: impl FnOnce(&SharedArgs)) {
        let own = self.shared_of_pass();
        self.tell(&obstacle.why, |shared| {
            say(shared);
            ended(&own, true, Err(failure));
            notify::send(&own);
        });
        self.desk.note(|news| news.obstacle = Some(obstacle));
    }

    /// Says something once.
    fn tell(&mut self, text: &str, say: impl FnOnce(&SharedArgs)) {
        if self.told.as_deref() != Some(text) {
            say(self.shared);
            self.told = Some(text.to_owned());
        }
    }

    /// Takes the lead of a state, or keeps it; says who has it.
    ///
    /// Errors: there can be no lock.
    fn role(&mut self, address: &StateAddress) -> Result<RunningRole, Problem> {
        if self.lead.as_ref().is_some_and(|(led, lock)| led == address && lock.still_leads(address)) {
            return Ok(RunningRole::Leads);
        }
        self.lead = None;
        let now = output::clock().unwrap_or(self.began);
        match StateLock::lead(address, &who(), now)? {
            Some(lock) => {
                self.lead = Some((address.clone(), lock));
                Ok(RunningRole::Leads)
            }
            None => Ok(RunningRole::Follows(StateLock::leader(address))),
        }
    }

    /// Makes a pass, and shows what it did.
    fn pass(&mut self) -> Result<Exit, CommandFailure> {
        let own = self.shared_of_pass();
        let (began, started) = (output::now(&own)?, Instant::now());
        self.desk.note(|news| (news.busy_since, news.next) = (Some(began), None));
        let syncs = !self.args.once && self.synced.is_none_or(|synced| synced.elapsed() >= self.sync_interval);
        let (only_plans, headline) = (self.args.dry_run, self.desk.headline());
        let signals = (!self.args.once).then_some(self.signals);
        let terms = PassTerms { only_plans, syncs, before: &headline, last_plan: &self.last_plan, signals };
        let PassOutcome { exit, problem, has_broken_settings, is_behind, plan, metrics, state } = pass(&own, terms);
        if let Some(is_behind) = is_behind {
            (self.synced, self.is_behind) = (Some(Instant::now()), is_behind);
        }
        self.passes += 1;
        self.schedule.ended(exit == Exit::Error && !self.is_interrupted());
        let took = value::Duration::measured(started.elapsed());
        let (has_plan, is_behind) = (plan.is_some(), self.is_behind);
        let end = PassEnd { number: self.passes, began, took, exit: exit.code(), problem, has_plan, is_behind };
        let failures = self.schedule.failures();
        let (plan, shown) = plan.unzip();
        self.desk.note(|news| {
            (news.busy_since, news.last, news.failures) = (None, Some(end), failures);
            news.has_broken_settings = has_broken_settings;
            news.plan = shown.unwrap_or_else(|| std::mem::take(&mut news.plan));
            news.state = state.unwrap_or_else(|| std::mem::take(&mut news.state));
        });
        self.desk.passed(metrics, plan);
        self.desk.well(self.schedule.well_for());
        Ok(exit)
    }

    /// What a pass is given: it is a run of its own.
    fn shared_of_pass(&self) -> SharedArgs {
        let SharedArgs { workspace, now, reason, log_format, quiet, verbose, color, .. } = self.shared;
        let reason = reason.clone().or_else(|| Some("a pass of `zonewright run`".to_owned()));
        SharedArgs {
            workspace: workspace.clone(),
            hosts: Vec::new(),
            picked: Vec::new(),
            projects: Vec::new(),
            zones: Vec::new(),
            now: *now,
            reason,
            log_format: *log_format,
            quiet: *quiet,
            verbose: *verbose,
            color: *color,
            process: ProcessRun { command: "run", ..ProcessRun::default() },
        }
    }

    /// Whether it is to end.
    fn is_interrupted(&self) -> bool {
        self.signals.interrupted.load(Ordering::SeqCst)
    }

    /// Waits, unless a signal comes; says whether it goes on. `is_shown`: whether a pass is next.
    fn wait(&self, pause: Duration, is_shown: bool) -> bool {
        let began = Instant::now();
        let next = output::clock().map(|now: Time| now.plus(value::Duration::measured(pause)));
        self.desk.note(|news| news.next = next.filter(|_| is_shown));
        loop {
            if self.is_interrupted() {
                return false;
            }
            let rest = pause.saturating_sub(began.elapsed());
            if self.signals.hangup.swap(false, Ordering::SeqCst) {
                // Who asks for a pass may know of something that no stamp shows.
                self.last_plan.borrow_mut().forget();
                return true;
            }
            if rest.is_zero() {
                return true;
            }
            thread::sleep(rest.min(LOOK));
        }
    }
}

/// A random number from 0 to 1.
fn drawn() -> f64 {
    RandomState::new().hash_one(()) as f64 / u64::MAX as f64
}
