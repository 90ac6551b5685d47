//! What happens under one seed: plans and applies under faults, some of which die and are resumed, `sync` between them, and
//! the time without faults at the end, in which all is finished.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use super::super::super::waves::NO_BUDGETS;
use super::super::seed_play::Weakness;
use super::super::story::Violation;
use super::super::wires::Book;
use super::check::{PoolChecks, SessionEnd};
use super::stage::{NAMES, PoolStage};
use super::wires::{Hasty, TargetWire};
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::apply::{CopyAccess, PoolShare, VoteTerms};
use crate::change::{Change, ChangeKind};
use crate::dns::ZoneName;
use crate::inventory::value::Duration;
use crate::pipeline::apply::ApplyWork;
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::lacking::LackWork;
use crate::pipeline::left_open::broken_off;
use crate::pipeline::publication::PoolRolls;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::NoChecks;
use crate::plan::{Plan, SealedPlan, ZoneSeen, fixture};
use crate::reading::ReadingTerms;
use crate::registry::{Marking, Registry};
use crate::state::{ApplyId, ApplyJournal, ApplySummary, Sqlite};
use crate::target::{CopyId, WriteTarget};
use crate::verify::truth;

/// How many sessions there are at most before the faults end.
const SESSIONS: usize = 5;

/// What a session does.
enum Errand<'p> {
    /// Applies a plan.
    Begin(&'p SealedPlan),
    /// Resumes an apply of a plan.
    Resume(ApplyId, &'p SealedPlan),
    /// Tries again what targets lack.
    Sync,
}

/// A seed that is played.
pub struct PoolStory<'s> {
    /// The stage.
    stage: &'s PoolStage,
    /// The state.
    state: Sqlite,
    /// What was found.
    checks: PoolChecks,
    /// How many sessions there were.
    sessions: u64,
    /// The last plan, and its apply where it began.
    last: Option<SealedPlan>,
}

/// Plays a seed.
pub fn play(seed: u64, weakness: Weakness) -> Result<(), Violation> {
    let stage = PoolStage::new(seed, weakness);
    let (state, checks) = (Sqlite::in_memory(), PoolChecks::default());
    let mut story = PoolStory { stage: &stage, state, checks, sessions: 0, last: None };
    story.storm();
    story.settle();
    story.checks.end(&stage, &story.state);
    let faults = story.checks.faults;
    if faults.is_empty() { Ok(()) } else { Err(Violation { faults, history: stage.history() }) }
}

impl PoolStory<'_> {
    /// Applies, resumes, and says `sync`, while faults happen.
    fn storm(&mut self) {
        let first = self.plan(0);
        self.run(&Errand::Begin(&first));
        self.last = Some(first);
        for _ in 0..self.stage.below(SESSIONS) {
            self.stage.pass();
            match self.stage.below(4) {
                0 => self.resume(),
                1 => {
                    let next = self.plan(1);
                    self.run(&Errand::Begin(&next));
                    self.last = Some(next);
                }
                _ => self.run(&Errand::Sync),
            }
        }
    }

    /// Finishes all after the faults.
    fn settle(&mut self) {
        self.stage.calm();
        // What never ended is resumed; one that ended is left to `sync`.
        self.resume();
        self.run(&Errand::Sync);
        // An update that may still come late is not known to `sync`, and a killed apply may have sent one.
        let applies = self.state.applies(20).unwrap();
        let ended = self.last.as_ref().and_then(|plan| {
            let is_its = |apply: &&ApplySummary| apply.new.plan == plan.id();
            let is_known = |apply: &&ApplySummary| apply.finished.is_some() && apply.updates_open == 0;
            Some((plan, applies.iter().filter(is_its).find(is_known)?.id))
        });
        if let Some((plan, id)) = ended {
            let unfinished = self.state.left_hosts(id).unwrap();
            self.checks.synced(self.stage, plan.plan(), &unfinished);
        }
        let run = 1 - self.stage.below(2);
        let plan = self.plan(run);
        if !plan.plan().changes.is_empty() {
            self.run(&Errand::Begin(&plan));
        }
        self.checks.planned(self.stage, run);
        self.run(&Errand::Sync);
        self.checks.planned(self.stage, run);
        self.checks.without_lacks(&self.state);
        self.checks.published(self.stage, &self.state);
    }

    /// Resumes the last apply, where it never ended.
    fn resume(&mut self) {
        let Some(id) = broken_off(&self.state).unwrap().pop() else { return };
        let Some(plan) = self.last.clone() else { return };
        let is_its = self.state.apply(id).unwrap().is_some_and(|apply| apply.new.plan == plan.id());
        if is_its {
            self.run(&Errand::Resume(id, &plan));
        }
    }

    /// A plan made from what the copies hold that are known: those of targets that are not down.
    fn plan(&self, run: usize) -> SealedPlan {
        let stage = self.stage;
        let all = 0..stage.primaries.len();
        let terms = VoteTerms { threshold: stage.threshold, voters: all.len() };
        let up: Vec<usize> = all.clone().filter(|copy| !stage.primaries[*copy].is_down()).collect();
        // Where too few are known a plan would block all.
        let known = if terms.is_reached(up.len()) { up } else { all.clone().collect() };
        let mut changes: Vec<Change> = Vec::new();
        for (place, key) in stage.fleet.keys.iter().enumerate() {
            let mut kinds: Vec<(ChangeKind, Vec<String>)> = Vec::new();
            for copy in &known {
                let held = truth::standing(&stage.primaries[*copy], key);
                let Some(kind) = ChangeKind::between(held, stage.fleet.wanted(place, run)) else { continue };
                match kinds.iter_mut().find(|(other, _)| *other == kind) {
                    Some((_, targets)) => targets.push(NAMES[*copy].to_owned()),
                    None => kinds.push((kind, vec![NAMES[*copy].to_owned()])),
                }
            }
            changes.extend(kinds.into_iter().map(|(kind, targets)| {
                let targets = if targets.len() == all.len() { Vec::new() } else { targets };
                Change { targets, ..stage.fleet.change(place, kind) }
            }));
        }
        let seen = |zone: &ZoneName, copy: usize| ZoneSeen {
            digest: "0".repeat(64),
            managed: 0,
            pool: stage.pool(),
            rrsets: 10,
            serial: Some(0),
            target: NAMES[copy].to_owned(),
            zone: zone.clone(),
        };
        let zones = stage.fleet.zones.iter().flat_map(|zone| known.iter().map(move |copy| seen(zone, *copy)));
        let zones = zones.collect();
        stage.tell(|| format!("a plan for run {run} is made of {known:?}, {} changes", changes.len()));
        let tool = format!("run {run} {}", self.sessions);
        SealedPlan::new(Plan { tool, changes, inputs: BTreeMap::new(), zones, ..fixture::empty() })
    }

    /// One process.
    fn run(&mut self, errand: &Errand<'_>) {
        self.sessions += 1;
        let stage = self.stage;
        stage.revive(matches!(errand, Errand::Sync));
        let conduct = super::super::conduct("2026-11-20T02:00:00Z".parse().unwrap(), self.sessions, &stage.interrupted);
        let wires: Vec<TargetWire<'_>> = (0..stage.primaries.len()).map(|copy| TargetWire { stage, copy }).collect();
        let targets = self.targets(&wires);
        let mut book = Book { stage, run: 0, number: 0, state: &mut self.state };
        let done = catch_unwind(AssertUnwindSafe(|| carry_out(errand, &mut book, (&conduct, &targets, stage))));
        let end = match done {
            Ok(end) => end,
            Err(_) if stage.is_dead() => SessionEnd::Died,
            Err(cause) => resume_unwind(cause),
        };
        stage.tell(|| shown(&end));
        if stage.weakness == Weakness::None {
            self.checks.ended(stage, &end);
        }
    }

    /// The targets, with the ways to all copies.
    fn targets<'w>(&self, wires: &'w [TargetWire<'w>]) -> Targets<'w> {
        let terms = VoteTerms { threshold: self.stage.threshold, voters: wires.len() };
        let access = |zone: &ZoneName, wire: &'w TargetWire<'w>| CopyAccess {
            copy: CopyId { target: self.stage.target(wire.copy), zone: zone.clone() },
            writer: Ok(wire),
            is_fenced: true,
            share: Some(PoolShare { votes: 1, terms }),
        };
        let zones = self.stage.fleet.zones.iter();
        let copies = zones.flat_map(|zone| wires.iter().map(move |wire| access(zone, wire))).collect();
        Targets { copies, writers: wires.iter().map(|wire| wire as &dyn WriteTarget).collect() }
    }
}

/// Does what a session is for.
fn carry_out(
    errand: &Errand<'_>,
    book: &mut Book<'_, PoolStage>,
    (conduct, targets, stage): (&ApplyConduct<'_>, &Targets<'_>, &PoolStage),
) -> SessionEnd {
    let settings = settings(stage);
    let progress = &Hasty;
    let (Errand::Begin(sealed) | Errand::Resume(_, sealed)) = errand else {
        let source = ReadingTerms { workspace: conduct.workspace, now: conduct.now, cache: None };
        let source = source.context(&settings.config).source;
        let rolls = PoolRolls::of(&settings.config, source);
        let work = LackWork { settings, request: conduct, rolls: &rolls, progress };
        work.take_up(book, targets).unwrap();
        let lacks = work.open_lacks(book, None).unwrap();
        stage.tell(|| format!("sync begins with {} lacks", lacks.values().map(Vec::len).sum::<usize>()));
        let outcome = work.retry_at(book, lacks, targets).unwrap();
        return SessionEnd::Synced(Box::new(outcome));
    };
    let zones = stage.fleet.zones.iter().collect();
    let projects = stage.fleet.projects.iter().map(|(id, admin)| (id.as_str(), admin));
    let marking = Marking::sample("us", Registry::Journal);
    let bounds = PlanBounds::new(zones, projects, &marking, 1);
    let expires = Duration::from_secs(86_400);
    let terms = PlanTerms { now: sealed.plan().created, expires, waves_expire: None, expect: None, bounds: &bounds };
    let guards = ApplyGuards::default();
    let (place, request, groups) = ("plan", conduct, &NO_BUDGETS);
    let work = ApplyWork {
        approver: None,
        sealed,
        place,
        terms,
        request,
        progress,
        targets,
        at_once: 1,
        guards,
        settings,
        groups,
        checks: &NoChecks,
    };
    let ran = match errand {
        Errand::Resume(id, _) => work.go_on(book, *id),
        _ => broken_off(book).and_then(|killed| work.begin(book, &killed)),
    };
    SessionEnd::Ran(Box::new(ran.unwrap()))
}

/// The settings for the pool of a stage.
fn settings(stage: &PoolStage) -> &'static WorkspaceSettings {
    static SETTINGS: OnceLock<BTreeMap<(usize, u32), WorkspaceSettings>> = OnceLock::new();
    let all = SETTINGS.get_or_init(|| {
        let each = [2, 3].into_iter().flat_map(|count| [34, 67, 100].map(|threshold| (count, threshold)));
        each.map(|(count, threshold)| ((count, threshold), settings_of(count, threshold))).collect()
    });
    &all[&(stage.primaries.len(), stage.threshold)]
}

/// Settings that allow all that the plans of the fleet change.
fn settings_of(count: usize, threshold: u32) -> WorkspaceSettings {
    let workspace = tempfile::tempdir().unwrap();
    let write = |file, text| std::fs::write(workspace.path().join(file), text).unwrap();
    let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
    let project = "[project.search]\ndns_domain = \"search.example.net\"\nautomation = \"allowed\"\n";
    let target =
        |name: &str| format!("[[pool.main.target]]\nname = \"{name}\"\ntype = \"zonefile\"\ndir = \"{name}\"\n");
    let targets: String = NAMES[..count].iter().map(|name| target(name)).collect();
    let pool = format!("[pool.main]\nthreshold_percentage = {threshold}\n{targets}");
    let zone = |key: &str| format!("[[zone]]\n{key}\npool = \"main\"\npermission = \"full\"\n");
    let zones = zone("name = \"search.example.net\"") + &zone("network = \"2a02:6b8::/40\"");
    let sources = format!(
        "owner = \"us\"\n[sources]\nprojects = \"search.yaml\"\n{exports}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n"
    );
    write("zonewright.toml", format!("{sources}{project}{pool}{zones}"));
    write("search.yaml", "id: search\nvlan_scheme: static\nvlans: {main: 1}\n".to_owned());
    load_settings(workspace.path()).unwrap()
}

/// How a session ended, in words.
fn shown(end: &SessionEnd) -> String {
    match end {
        SessionEnd::Died => "it died".to_owned(),
        SessionEnd::Synced(outcome) => format!("sync ends: {outcome:?}"),
        SessionEnd::Ran(ran) => match &ran.refusal {
            Some(refusal) => format!("it is refused: {refusal:?}"),
            None => {
                let host = |host: &crate::apply::SubjectOutcome| {
                    let why = host.message.as_deref().unwrap_or_default();
                    format!("{} {} {why} {:?}", host.name, host.outcome, host.lacks)
                };
                format!("it ends: {}", ran.applied.hosts.iter().map(host).collect::<Vec<_>>().join("; "))
            }
        },
    }
}
