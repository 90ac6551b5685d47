//! What a run reports to programs: one JSON object on one line for each outcome. `schemas/event.schema.json` describes
//! it.
//!
//! Comes in: a plan, an apply, a refusal, and what is known of the run. Goes out: the line, and whether a person is
//! needed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::counts::{self, PlanCounts};
use super::outages::{no_plan, nothing_read, outages, short_of, unread};
use super::outlook::{PlanOutlook, PlanVerdict};
use super::publication::SyncReport;
use super::summary::{SubjectCounts, counted};
use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::approval::{CmsCall, CmsCallKind};
use crate::diag::{Code, Problem, sanitize};
use crate::guard::Breaker;
use crate::guard::UNKNOWN_LIMIT;
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::config::notify::AttentionReason;
use crate::plan::{Plan, SealedPlan, WaitingSubject};
use crate::rollout::{hosts_of, units};
use crate::state::lacks::LackOutcome;
use crate::state::{ApplyId, GateAsked};

/// What is the same in all events of a run.
#[derive(Debug, Clone, Serialize)]
pub struct RunFacts<'a> {
    /// The number of the run.
    pub run: u64,
    /// The command.
    pub command: &'a str,
    /// The folder of the workspace.
    pub workspace: &'a str,
    /// Who runs it.
    pub who: &'a str,
}

/// What happened, with its facts.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum RunEvent {
    /// A plan was made.
    PlanMade(PlanFacts),
    /// A plan was refused; nothing was sent.
    PlanRefused(RefusalFacts),
    /// A plan was applied.
    ApplyFinished(ApplyFacts),
    /// An earlier apply was resumed.
    ResumeFinished(ApplyFacts),
    /// An earlier apply was undone.
    UndoFinished(ApplyFacts),
    /// Targets and name servers were brought in line.
    SyncFinished(SyncFacts),
    /// A breaker tripped.
    BreakerTripped(BreakerFacts),
    /// A wave of a rollout was sent.
    WaveSent(WaveFacts),
    /// A gate did not pass, so that no wave of its group was sent.
    GateFailed(GateFacts),
    /// A cluster-management service was asked.
    CmsAsked(CmsFacts),
    /// Live DNS was compared with what is desired.
    DriftChecked(DriftFacts),
    /// The command ended before it had an outcome.
    RunFailed(FailureFacts),
}

/// RRsets by kind of change.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeCounts {
    /// RRsets that are created.
    create: usize,
    /// RRsets that are modified.
    modify: usize,
    /// RRsets that are deleted.
    delete: usize,
}

/// What could not be read for a plan.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UnreadFacts {
    /// How many zones could not be read.
    unread: usize,
    /// Why, each cause once.
    outages: Vec<OutageFacts>,
}

/// Why zones could not be read.
#[derive(Debug, Clone, Serialize)]
pub struct OutageFacts {
    /// The servers, or the file or folder.
    server: String,
    /// The code of the error.
    code: String,
    /// What happened, in words.
    cause: String,
}

impl UnreadFacts {
    /// What could not be read for a plan.
    fn of(plan: &Plan) -> UnreadFacts {
        let outages = outages(plan).into_iter().map(|outage| OutageFacts {
            server: sanitize(outage.place),
            code: outage.code.to_string(),
            cause: sanitize(outage.message),
        });
        UnreadFacts { unread: unread(plan), outages: outages.collect() }
    }
}

/// The facts of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PlanFacts {
    /// Its `id`.
    plan: String,
    /// Its `effect`.
    effect: String,
    /// The file that it was saved to.
    file: Option<String>,
    /// Its verdict.
    verdict: &'static str,
    /// Why it would be refused.
    code: Option<Code>,
    /// Its changes.
    changes: ChangeCounts,
    /// How many hosts it changes.
    hosts: usize,
    /// How many unclaimed names it changes.
    names: usize,
    /// How many hosts are blocked.
    blocked: usize,
    /// How many hosts are skipped.
    skipped: usize,
    /// What could not be read.
    #[serde(flatten)]
    unread: UnreadFacts,
}

/// The facts of a refusal.
#[derive(Debug, Clone, Serialize)]
pub struct RefusalFacts {
    /// What was refused.
    place: String,
    /// Why, as a code.
    code: Code,
    /// What to do.
    hint: Option<String>,
    /// The plan's `id`, where it could be read.
    plan: Option<String>,
    /// The plan's `effect`, the same.
    effect: Option<String>,
    /// The exit code.
    exit: u8,
}

/// The facts of an apply.
#[derive(Debug, Clone, Serialize)]
pub struct ApplyFacts {
    /// Its number in the journal; null where there was nothing to send.
    apply: Option<u64>,
    /// The plan's `id`; null where no plan was kept.
    plan: Option<String>,
    /// The plan's `effect`, the same.
    effect: Option<String>,
    /// How many hosts the plan changes.
    hosts: usize,
    /// How many unclaimed names it changes.
    names: usize,
    /// How many of them had which outcome.
    outcomes: BTreeMap<&'static str, usize>,
    /// How many updates took effect.
    updates: usize,
    /// How many changes these made.
    changes: usize,
    /// How many problems are not about single hosts.
    problems: usize,
    /// What could not be read for the plan.
    #[serde(flatten)]
    unread: UnreadFacts,
    /// How the run ended.
    #[serde(flatten)]
    end: EndFacts,
}

/// The facts of a `sync`.
#[derive(Debug, Clone, Serialize)]
pub struct SyncFacts {
    /// How many zones were not served at their newest step.
    zones: usize,
    /// How many of them are served now.
    active: usize,
    /// How many changes that targets lacked were made.
    made: usize,
    /// How many no longer lack.
    settled: usize,
    /// How many are left.
    left: usize,
    /// How many problems are about targets and name servers as a whole.
    problems: usize,
    /// How the run ended.
    #[serde(flatten)]
    end: EndFacts,
}

/// The facts of a breaker.
#[derive(Debug, Clone, Serialize)]
pub struct BreakerFacts {
    /// What it holds back.
    scope: String,
    /// Why it tripped.
    why: String,
    /// When.
    since: String,
    /// How it is reset.
    hint: String,
}

/// The facts of a wave.
#[derive(Debug, Clone, Serialize)]
pub struct WaveFacts {
    /// The number of the apply in the journal.
    apply: Option<u64>,
    /// How many subjects were in it.
    sent: usize,
    /// How many wait for a later one, by code.
    waiting: BTreeMap<&'static str, usize>,
    /// When the next one can go at the earliest; none where that is not known, or nothing waits.
    next: Option<String>,
}

/// The facts of a gate.
#[derive(Debug, Clone, Serialize)]
pub struct GateFacts {
    /// The project or set.
    group: String,
    /// The name of the gate.
    gate: String,
    /// What it printed.
    said: String,
}

/// The facts of a request to a cluster-management service.
#[derive(Debug, Clone, Serialize)]
pub struct CmsFacts {
    /// The service, by its name in zonewright.toml.
    service: String,
    /// The project; none where the request was about no host.
    project: Option<String>,
    /// What was asked.
    request: CmsCallKind,
    /// What it was to allow; none where the request was about no host.
    action: Option<CmsAction>,
    /// The version that the service speaks.
    version: CmsVersion,
    /// What the answer was.
    outcome: String,
    /// Why it is none; none where it is one.
    fault: Option<String>,
    /// How long it took.
    milliseconds: u64,
    /// When.
    at: String,
}

/// The facts of drift.
#[derive(Debug, Clone, Serialize)]
pub struct DriftFacts {
    /// How many RRsets are not as desired.
    rrsets: usize,
    /// How many of them are drift: they are not as an apply left them.
    drifted: usize,
    /// What could not be read.
    #[serde(flatten)]
    unread: UnreadFacts,
    /// How the run ended.
    #[serde(flatten)]
    end: EndFacts,
}

/// The facts of a run without an outcome.
#[derive(Debug, Clone, Serialize)]
pub struct FailureFacts {
    /// What to do.
    hint: Option<String>,
    /// How the run ended.
    #[serde(flatten)]
    end: EndFacts,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct EndFacts {
    /// The exit code.
    pub exit: u8,
    /// How long it took so far.
    pub seconds: f64,
}

/// The command that applied a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applier {
    /// `apply`, `fix`.
    Apply,
    /// `resume`.
    Resume,
    /// `undo`.
    Undo,
}

/// An event with its headline, and whether a person is needed.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// What happened.
    pub event: RunEvent,
    /// The same in words.
    pub message: String,
    /// Why a person is needed; none where none is.
    pub attention: Option<AttentionReason>,
}

/// An event as a line.
#[derive(Serialize)]
struct EventLine<'a> {
    /// When.
    timestamp: &'a str,
    /// How grave.
    level: &'static str,
    /// What happened, in words.
    message: &'a str,
    /// The run.
    #[serde(flatten)]
    run: &'a RunFacts<'a>,
    /// Why a person is needed.
    attention: Option<AttentionReason>,
    /// The facts.
    #[serde(flatten)]
    event: &'a RunEvent,
}

/// The words of outcomes that a plan or an apply may have, for the schema too.
const VERDICTS: [(PlanVerdict, &str); 4] = [
    (PlanVerdict::Partial, "partial"),
    (PlanVerdict::Refused, "refused"),
    (PlanVerdict::Idle, "idle"),
    (PlanVerdict::Ready, "ready"),
];

impl RunReport {
    /// A plan that was made.
    pub fn plan_made(sealed: &SealedPlan, outlook: &PlanOutlook) -> RunReport {
        let plan = sealed.plan();
        let verdict = PlanVerdict::of(plan, outlook);
        let word = VERDICTS.iter().find(|(known, _)| *known == verdict).map_or("ready", |(_, word)| *word);
        let total = PlanCounts::sum(counts::by_project(plan).values());
        let [create, modify, delete] = total.changes;
        let [blocked, skipped] = total.left;
        let nameless = names_without_host(plan);
        let subjects = SubjectCounts { nameless, ..total.subjects() };
        let message = in_words(plan, || {
            let subjects = subjects.in_words();
            let changes = format!("{create} to create, {modify} to modify, {delete} to delete for {subjects}");
            format!("plan made: {changes}; {blocked} blocked, {skipped} skipped")
        });
        let facts = PlanFacts {
            plan: sealed.id().to_owned(),
            effect: sealed.effect().to_owned(),
            file: outlook.file.clone(),
            verdict: word,
            code: outlook.refusal.as_ref().map(|refusal| refusal.code),
            changes: ChangeCounts { create, modify, delete },
            hosts: subjects.hosts,
            names: total.stated.len() + nameless,
            blocked,
            skipped,
            unread: UnreadFacts::of(plan),
        };
        let is_short = plan.notices.iter().any(|notice| notice.code.tells_of_failure());
        RunReport { event: RunEvent::PlanMade(facts), message, attention: is_short.then_some(AttentionReason::Outage) }
    }

    /// A plan, or what was to be one, that was refused.
    pub fn plan_refused(sealed: Option<&SealedPlan>, refusal: &Problem, exit: u8) -> RunReport {
        let Problem { place, code, message, hint, findings: _ } = refusal;
        let facts = RefusalFacts {
            place: place.clone(),
            code: *code,
            hint: hint.clone(),
            plan: sealed.map(|sealed| sealed.id().to_owned()),
            effect: sealed.map(|sealed| sealed.effect().to_owned()),
            exit,
        };
        let attention = match exit {
            ERROR if *code == UNKNOWN_LIMIT => None,
            ERROR => Some(AttentionReason::Outage),
            _ => Some(AttentionReason::Refused),
        };
        RunReport { event: RunEvent::PlanRefused(facts), message: format!("plan refused: {message}"), attention }
    }

    /// An apply that was carried out.
    pub fn applied(applier: Applier, done: &DoneFacts<'_>, end: EndFacts) -> RunReport {
        let DoneFacts { sealed, apply, applied } = done;
        let (word, event): (&str, fn(ApplyFacts) -> RunEvent) = match applier {
            Applier::Apply => ("apply", RunEvent::ApplyFinished),
            Applier::Resume => ("resume", RunEvent::ResumeFinished),
            Applier::Undo => ("undo", RunEvent::UndoFinished),
        };
        let outcomes: BTreeMap<&str, usize> =
            OutcomeCode::ALL.iter().map(|outcome| (outcome.as_str(), applied.count(*outcome))).collect();
        let sum = |of: fn(&crate::apply::ZoneWritten) -> usize| applied.zones.iter().map(of).sum::<usize>();
        let told: Vec<String> =
            outcomes.iter().filter(|(_, count)| **count > 0).map(|(word, count)| format!("{count} {word}")).collect();
        let told = if told.is_empty() { "nothing to change".to_owned() } else { told.join(", ") };
        let plan = sealed.map(SealedPlan::plan);
        let names = applied.hosts.iter().filter(|host| host.subject.host().is_none()).count();
        let finished = || format!("{word} finished: {told}");
        let message = match plan {
            Some(plan) if applied.hosts.is_empty() => in_words(plan, finished),
            _ => finished(),
        };
        let facts = ApplyFacts {
            apply: apply.map(|id| id.0),
            plan: sealed.map(|sealed| sealed.id().to_owned()),
            effect: sealed.map(|sealed| sealed.effect().to_owned()),
            hosts: applied.hosts.len() - names,
            names,
            updates: sum(|zone| zone.updates),
            changes: sum(|zone| zone.changes),
            problems: applied.problems.len(),
            unread: plan.map(UnreadFacts::of).unwrap_or_default(),
            outcomes,
            end,
        };
        RunReport { event: event(facts), message, attention: attention(applied, end.exit) }
    }

    /// A `sync`.
    pub fn synced(report: &SyncReport<'_>, end: EndFacts) -> RunReport {
        let (zones, active) = (report.served.zones.len(), report.active());
        let LackOutcome { made, settled, left, .. } = report.lacks;
        let facts = SyncFacts {
            zones,
            active,
            made: *made,
            settled: *settled,
            left: left.len(),
            problems: report.problems.len(),
            end,
        };
        let of_zones = (zones > 0).then(|| format!("{active} of {} ACTIVE", counted(zones, "zone")));
        let lacks =
            (!report.lacks.is_empty()).then(|| format!("{} made, {} left", counted(*made, "change"), left.len()));
        let done: Vec<String> = of_zones.into_iter().chain(lacks).collect();
        let done = if done.is_empty() { "nothing to do".to_owned() } else { done.join("; ") };
        let attention = match end.exit {
            0 => None,
            ERROR => Some(AttentionReason::Outage),
            REFUSED => Some(AttentionReason::Refused),
            _ => Some(AttentionReason::Partial),
        };
        RunReport { event: RunEvent::SyncFinished(facts), message: format!("sync finished: {done}"), attention }
    }

    /// A breaker that tripped.
    pub fn tripped(breaker: &Breaker) -> RunReport {
        let Breaker { scope, tripped, why } = breaker;
        let facts =
            BreakerFacts { scope: scope.clone(), why: why.clone(), since: tripped.to_string(), hint: breaker.hint() };
        let message = format!("breaker tripped: {}", breaker.says());
        RunReport { event: RunEvent::BreakerTripped(facts), message, attention: Some(AttentionReason::Breaker) }
    }

    /// A wave that was sent, and what waits for a later one.
    pub fn wave_sent(apply: Option<ApplyId>, applied: &ApplyOutcome, left: &[WaitingSubject]) -> RunReport {
        let sent = applied.hosts.len() - applied.count(OutcomeCode::Waiting);
        let mut waiting: BTreeMap<&'static str, usize> = BTreeMap::new();
        left.iter().for_each(|own| *waiting.entry(own.code.as_str()).or_default() += 1);
        let next = left.iter().filter_map(|own| own.until).min().map(|next| next.to_string());
        let message = format!("wave sent: {sent} in it, {} left for later ones", left.len());
        let facts = WaveFacts { apply: apply.map(|id| id.0), sent, waiting, next };
        RunReport { event: RunEvent::WaveSent(facts), message, attention: None }
    }

    /// A gate that did not pass.
    pub fn gate_failed(asked: &GateAsked) -> RunReport {
        let GateAsked { group, gate, said, .. } = asked;
        let [group, gate, said] = [group, gate, said].map(|text| sanitize(text));
        let message = format!("gate `{gate}` of `{group}` did not pass: {said}");
        RunReport { event: RunEvent::GateFailed(GateFacts { group, gate, said }), message, attention: None }
    }

    /// A request to a cluster-management service.
    pub fn cms_asked(call: &CmsCall) -> RunReport {
        let CmsCall { service, version, project, kind, action, outcome, fault, at, took } = call;
        let fault = fault.as_deref().map(sanitize);
        let milliseconds = took.as_millis() as u64;
        let message = match &fault {
            Some(fault) => format!("`{service}` gave no answer to `{kind}`: {fault}"),
            None => format!("`{service}` answered to `{kind}` in {milliseconds} ms: {outcome}"),
        };
        let facts = CmsFacts {
            service: service.clone(),
            project: project.clone(),
            request: *kind,
            action: *action,
            version: *version,
            outcome: outcome.clone(),
            fault,
            milliseconds,
            at: at.to_string(),
        };
        RunReport { event: RunEvent::CmsAsked(facts), message, attention: None }
    }

    /// Live DNS, compared with what is desired; `drifted` RRsets are not as an apply left them.
    pub fn drift_checked(plan: &Plan, drifted: usize, end: EndFacts) -> RunReport {
        let rrsets = plan.changes.len();
        let facts = DriftFacts { rrsets, drifted, unread: UnreadFacts::of(plan), end };
        let message = match nothing_read(plan) {
            Some(says) => format!("nothing could be compared: {says}"),
            None => in_words(plan, || {
                format!("drift checked: {} not as desired, {drifted} of them drifted", counted(rrsets, "RRset"))
            }),
        };
        let attention = match end.exit {
            ERROR => Some(AttentionReason::Outage),
            REFUSED => Some(AttentionReason::Refused),
            _ => (drifted > 0).then_some(AttentionReason::Drift),
        };
        RunReport { event: RunEvent::DriftChecked(facts), message, attention }
    }

    /// A run that ended before it had an outcome, and why a person is needed.
    pub fn failed(message: &str, hint: Option<&str>, attention: Option<AttentionReason>, end: EndFacts) -> RunReport {
        let facts = FailureFacts { hint: hint.map(str::to_owned), end };
        let message = format!("run failed: {message}");
        RunReport { event: RunEvent::RunFailed(facts), message, attention }
    }

    /// How grave it is, as messages say it.
    pub fn level(&self) -> &'static str {
        match (&self.event, self.attention) {
            (RunEvent::RunFailed(_) | RunEvent::PlanRefused(_), _)
            | (_, Some(AttentionReason::Outage | AttentionReason::Refused | AttentionReason::Breaker)) => "ERROR",
            (RunEvent::CmsAsked(facts), _) if facts.fault.is_some() => "WARN",
            (RunEvent::GateFailed(_), _) | (_, Some(AttentionReason::Partial | AttentionReason::Drift)) => "WARN",
            (_, None) => "INFO",
        }
    }

    /// The event as JSON, without the end of the line.
    pub fn line(&self, timestamp: &str, run: &RunFacts<'_>) -> String {
        let RunReport { event, message, attention } = self;
        let line = EventLine { timestamp, level: self.level(), message, run, attention: *attention, event };
        serde_json::to_string(&line).expect("texts and numbers are JSON")
    }
}

/// A headline with what the plan lacks; where no zone could be read, that there is no plan.
fn in_words(plan: &Plan, headline: impl FnOnce() -> String) -> String {
    match no_plan(plan) {
        Some(no_plan) => no_plan.replacen("No plan", "no plan", 1),
        None => short_of(plan).iter().fold(headline(), |says, clause| format!("{says}; {clause}")),
    }
}

/// How many unclaimed names a plan changes, as an apply counts them.
fn names_without_host(plan: &Plan) -> usize {
    let changes = &plan.changes;
    // Most plans change none, and to arrange a large one takes time.
    if changes.iter().all(|change| change.subject.counted().is_some()) {
        return 0;
    }
    let hosts = |unit| hosts_of(changes, unit).into_iter().filter(|(_, subject)| subject.counted().is_none()).count();
    units(changes).iter().map(hosts).sum()
}

/// What was done.
#[derive(Debug, Clone, Copy)]
pub struct DoneFacts<'a> {
    /// The plan, where it was kept.
    pub sealed: Option<&'a SealedPlan>,
    /// Its number in the journal.
    pub apply: Option<ApplyId>,
    /// The outcomes of its hosts.
    pub applied: &'a ApplyOutcome,
}

/// The exit code of an error.
const ERROR: u8 = 1;

/// The exit code of a refusal.
const REFUSED: u8 = 3;

/// The exit code of an apply of which something waits for a later wave.
const WAITING: u8 = 5;

/// Why an apply needs a person.
fn attention(applied: &ApplyOutcome, exit: u8) -> Option<AttentionReason> {
    let is_done = applied.hosts.iter().all(|host| host.outcome.is_done());
    match exit {
        0 => None,
        ERROR => Some(AttentionReason::Outage),
        // Hosts wait for a later wave, and nothing went wrong.
        WAITING => None,
        // A source is not believed, and what did not need it was done.
        REFUSED if is_done => Some(AttentionReason::Refused),
        _ => Some(AttentionReason::Partial),
    }
}
