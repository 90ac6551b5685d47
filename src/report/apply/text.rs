//! The outcome of an apply as text: the verdict, what is left, what was written, and where to look it up.

use std::collections::{BTreeMap, BTreeSet};

use super::{ApplyReport, WaveNews};
use crate::apply::{ApplyOutcome, OutcomeCode, SubjectOutcome, TargetLack, ZoneWritten};
use crate::diag::{Problem, sanitize};
use crate::dns::ZoneName;
use crate::plan::{NoticeCode, SealedPlan, WaitCode};
use crate::report::TextOptions;
use crate::report::applies::short;
use crate::report::gather::gather;
use crate::report::host_label::of_project;
use crate::report::outages::{no_plan, unread_records};
use crate::report::page::TextPage;
use crate::report::publication::clause;
use crate::report::summary::{SubjectCounts, counted};
use crate::report::waves::{gate_lines, group_lines, may_go_later, needs_others, next_wave};
use crate::report::words::ExplainedCode as _;
use crate::report::wrap::table;
use crate::report::zone_changes::{zones_done, zones_left};
use crate::state::served::ServedOutcome;
use crate::state::{GateAsked, GateOutcome};
use crate::target::PoolName;

/// Hosts, each with how many of its changes a target lacks.
type LackingHosts<'a> = Vec<(&'a SubjectOutcome, usize)>;

/// How many lines are read at a glance (the first terminals had 24).
const SCREEN: usize = 24;

/// The outcomes that leave something to do, those first that need a person most.
const LEFT: [OutcomeCode; 9] = [
    OutcomeCode::Partial,
    OutcomeCode::Raced,
    OutcomeCode::NotApplied,
    OutcomeCode::Failed,
    OutcomeCode::NoLongerAllowed,
    OutcomeCode::Stale,
    OutcomeCode::Rejected,
    OutcomeCode::NotReached,
    OutcomeCode::Waiting,
];

/// What to do after an undo. Who undoes a mistake of an undo has corrected the inventory, which then asks for nothing else.
const DONE_AGAIN: &str = "as long as the inventory asks for what was undone, the next plan does it again: correct the inventory \
                          or the export before that, or hold the project back";

/// The outcomes of hosts that `resume` goes on with.
const RESUMABLE: [OutcomeCode; 4] =
    [OutcomeCode::Partial, OutcomeCode::Failed, OutcomeCode::NotReached, OutcomeCode::Waiting];

/// Renders the outcome of an apply.
pub fn render(report: &ApplyReport<'_>, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    page.verdict(report);
    if without_plan(report).is_some() {
        return page.out;
    }
    page.problems(&report.applied.problems);
    for outcome in LEFT {
        page.outcome(outcome, report.applied);
    }
    page.lacks(report.applied);
    page.zone_changes(&report.applied.zone_changes);
    page.zones(report.applied);
    report.served.iter().for_each(|served| page.name_servers(served));
    page.waves(report);
    page.moved(report.moved);
    page.reference(report);
    // A report that fills a screen ends with the verdict, too: the first line has scrolled away.
    if page.out.lines().count() > SCREEN {
        page.out.push('\n');
        page.verdict(report);
    }
    page.out
}

impl TextPage<'_> {
    /// Adds the first line, which is the verdict, and what to do where the plan was refused.
    fn verdict(&mut self, report: &ApplyReport<'_>) {
        let ApplyOutcome { hosts, problems, .. } = report.applied;
        let fine = report.done() + report.applied.count(OutcomeCode::Waiting);
        let is_whole = fine == hosts.len() && problems.is_empty() && without_plan(report).is_none();
        let is_short = report.served.is_some_and(ServedOutcome::is_short);
        let style =
            if report.refusal.is_none() && is_whole && !is_short { &self.paint.create } else { &self.paint.alarm };
        let style = style.clone();
        match report.refusal {
            Some(refusal) => {
                self.painted(0, &style, &format!("Refused: {refusal}"));
                self.hint(2, refusal.hint.as_deref());
                self.line(2, "Nothing was changed.");
            }
            None => self.painted(0, &style, &verdict(report)),
        }
    }

    /// Adds what is wrong with targets and zones as a whole.
    fn problems(&mut self, problems: &[Problem]) {
        if !problems.is_empty() {
            self.heading("Problems");
        }
        for problem in problems {
            self.line(2, &problem.to_string());
            self.hint(4, problem.hint.as_deref());
        }
    }

    /// Adds the hosts of one outcome: what it means, then the hosts by hint and message.
    fn outcome(&mut self, outcome: OutcomeCode, applied: &ApplyOutcome) {
        let hosts: Vec<&SubjectOutcome> = applied.hosts.iter().filter(|host| host.outcome == outcome).collect();
        if hosts.is_empty() {
            return;
        }
        self.heading(&format!("{outcome}, {}: {}", subjects(hosts.iter().copied()), outcome.words().brief));
        for of_hint in gather(&hosts, |host| host.hint.as_deref().unwrap_or_default()) {
            let causes = gather(&of_hint, |host| host.message.as_deref().unwrap_or_default());
            let (shown, rest) = causes.split_at(self.options.shown(causes.len()));
            shown.iter().for_each(|hosts| self.cause(hosts));
            if !rest.is_empty() {
                let more: Vec<&SubjectOutcome> = rest.concat();
                self.line(2, &format!("and {} more (-v lists all)", subjects(more)));
            }
            self.hint(2, of_hint[0].hint.as_deref());
        }
    }

    /// Adds one cause, and the hosts that it concerns.
    fn cause(&mut self, hosts: &[&SubjectOutcome]) {
        let message = hosts[0].message.as_deref().unwrap_or_default();
        match hosts {
            [host] if message.is_empty() => self.line(2, &subject(host)),
            [host] => self.line(2, &format!("{}: {message}", subject(host))),
            _ => {
                let depth = if message.is_empty() { 2 } else { 4 };
                if !message.is_empty() {
                    self.line(2, message);
                }
                let (shown, rest) = hosts.split_at(self.options.shown(hosts.len()));
                shown.iter().for_each(|host| self.line(depth, &subject(host)));
                if !rest.is_empty() {
                    self.line(depth, &format!("and {} more (-v lists all)", subjects(rest.iter().copied())));
                }
            }
        }
    }

    /// Adds what to do, where there is something.
    fn hint(&mut self, depth: usize, hint: Option<&str>) {
        if let Some(hint) = hint {
            self.line(depth, &format!("hint: {hint}"));
        }
    }

    /// Adds what targets lack that others of their pool have, by target and cause.
    fn lacks(&mut self, applied: &ApplyOutcome) {
        let mut causes: BTreeMap<(&PoolName, &str, &str), LackingHosts<'_>> = BTreeMap::new();
        for (host, TargetLack { pool, target, changes, message }) in lacks(applied) {
            causes.entry((pool, target, message)).or_default().push((host, *changes));
        }
        if causes.is_empty() {
            return;
        }
        self.heading("Targets that lack changes which others of their pool have");
        for ((pool, target, message), hosts) in causes {
            let changes = counted(hosts.iter().map(|(_, changes)| changes).sum(), "change");
            let whose = subjects(hosts.iter().map(|(host, _)| *host));
            self.line(2, &format!("target {target} of pool {pool}, {changes} of {whose}: {message}"));
        }
    }

    /// Adds what was written, zone by zone; the names last, for they may be long.
    fn zones(&mut self, applied: &ApplyOutcome) {
        if applied.zones.iter().all(|zone| zone.updates == 0) {
            return;
        }
        self.heading("Written");
        let mut rows = vec![["updates", "changes", "seconds", "zone"].map(str::to_owned).to_vec()];
        rows.extend(applied.zones.iter().map(|zone| {
            let seconds = format!("{:.2}", zone.took.as_secs_f64());
            let is_other = |other: &ZoneWritten| other.zone == zone.zone && other.pool != zone.pool;
            let pool = if applied.zones.iter().any(is_other) { format!(" in {}", zone.pool) } else { String::new() };
            let at = zone.target.as_ref().map(|target| format!(" at {target}")).unwrap_or_default();
            let name = sanitize(&format!("{}{pool}{at}", zone.zone));
            vec![zone.updates.to_string(), zone.changes.to_string(), seconds, name]
        }));
        self.out.push_str(&table(&rows, "rrrl", 2));
    }

    /// Adds how groups go in waves, where something waits for a later one.
    fn waves(&mut self, report: &ApplyReport<'_>) {
        let WaveNews { waiting, groups, gates, until } = report.waves;
        if !gates.is_empty() {
            self.heading("Gates");
            gate_lines(gates).iter().for_each(|line| self.line(2, line));
        }
        let Some(next) = next_wave(waiting) else { return };
        self.heading("Waves, from this one on");
        group_lines(groups).iter().for_each(|line| self.line(2, line));
        let until = until.map(|until| format!(", and the last one until {until}")).unwrap_or_default();
        self.line(2, &format!("the next one can go from {next} on{until}"));
    }

    /// Adds the zones and input files that changed since the plan was made.
    fn moved(&mut self, moved: &[String]) {
        if moved.is_empty() {
            return;
        }
        self.heading("Changed since the plan was made; for information only: each host is compared by itself");
        let shown = self.options.shown(moved.len());
        moved[..shown].iter().for_each(|what| self.line(2, what));
        if shown < moved.len() {
            self.line(2, &format!("and {} more (-v lists all)", moved.len() - shown));
        }
    }

    /// Adds where the journal and the plan are to be found.
    fn reference(&mut self, report: &ApplyReport<'_>) {
        let apply = match report.apply {
            Some(apply) => {
                let began = if report.is_resumed { "resumed" } else { "begun" };
                format!("Apply {} in the journal, {began} {}", apply.0, report.started)
            }
            None => match report.noted.statements {
                0 => "Nothing was added to the journal".to_owned(),
                count => {
                    let notes = counted(count, "note");
                    format!("Nothing was added to the journal; the state has {notes} about what files state")
                }
            },
        };
        let style = self.paint.dim.clone();
        self.out.push('\n');
        let plan = report.sealed.map_or(String::new(), |sealed| format!("; plan {}", short(sealed.id())));
        self.painted(0, &style, &format!("{apply}{plan}."));
        let is_left = RESUMABLE.iter().any(|outcome| report.applied.count(*outcome) > 0);
        if let (true, Some(apply)) = (is_left, report.apply) {
            self.line(0, &format!("`zonewright resume {}` goes on with what is left.", apply.0));
        }
        let undoes = report.sealed.is_some_and(|sealed| sealed.plan().undoes.is_some());
        if undoes && report.applied.zones.iter().any(|zone| zone.changes > 0) {
            self.hint(0, Some(DONE_AGAIN));
        }
        let may_go = || report.waves.waiting.iter().filter(|waiting| may_go_later(waiting));
        if report.waves.waiting.iter().any(|waiting| waiting.code == WaitCode::Gate) {
            self.line(0, "`zonewright help gate` says what to do about a gate that did not pass.");
        } else if report.apply.is_none() && may_go().next().is_some() && may_go().all(needs_others) {
            self.line(0, "Waiting alone does not help: who holds the room must be back first, as said above. `--host` and `--subject` name what is to go all the same.");
        } else if report.apply.is_none()
            && may_go().next().is_some()
            && may_go().all(|own| own.code == WaitCode::Approval)
        {
            self.line(0, "Apply again later, or let `apply` wait with `--wait`. Where a service gives no answer, `zonewright cms check NAME` finds out why.");
        } else if report.apply.is_none() && may_go().next().is_some() {
            self.line(0, "Apply the plan again later, or let `apply` wait with `--wait`. `zonewright sync` asks name servers that were behind.");
        }
    }
}

/// The outcome of a plan that was not refused, in a line.
fn verdict(report: &ApplyReport<'_>) -> String {
    if let Some(no_plan) = without_plan(report) {
        return format!("{no_plan}.");
    }
    let applied = report.applied;
    let unknown = unknown_updates(applied);
    let text = with_zones(applied, of_subjects(report));
    let text = match unknown {
        _ if report.done() == applied.hosts.len() => text,
        0 => text,
        unknown => format!("{text}; {} may have taken effect, or may still", counted(unknown, "update")),
    };
    let unread = report.sealed.and_then(|sealed| unread_records(sealed.plan())).map(|clause| sanitize(&clause));
    let interrupted =
        match (report.is_interrupted && report.done() < applied.hosts.len(), is_untouched(applied) && unknown == 0) {
            (false, _) => None,
            (true, true) => Some("interrupted before anything was sent".to_owned()),
            (true, false) => Some("interrupted".to_owned()),
        };
    let text = std::iter::once(text)
        .chain(shut(report.waves.gates))
        .chain(interrupted)
        .chain(unread)
        .collect::<Vec<_>>()
        .join("; ");
    let text = report.served.map_or_else(|| text.clone(), |served| format!("{text}; {}", clause(served)));
    match applied.problems.len() {
        0 => format!("{text}."),
        problems => format!("{text}; {}.", counted(problems, "problem")),
    }
}

/// How the changes of subjects went, in a clause.
fn of_subjects(report: &ApplyReport<'_>) -> String {
    let applied = report.applied;
    let all = subjects(&applied.hosts);
    let left = counts(applied);
    let already = applied.count(OutcomeCode::AlreadyApplied);
    let untouched = is_untouched(applied);
    let unknown = unknown_updates(applied);
    match (applied.hosts.len(), report.done()) {
        (0, _) if is_at_rest(report) => "Nothing to do: the plan has no changes".to_owned(),
        (0, _) => match report.noted.waits {
            0 => "Nothing was changed: the plan has no changes".to_owned(),
            waits => {
                let begin = if waits == 1 { "begins" } else { "begin" };
                format!("Nothing was changed; {} {begin} to wait to be deleted", counted(waits, "RRset"))
            }
        },
        (1, 1) if already == 1 => format!("Nothing to do: {all} was already as the plan says"),
        (total, _) if already == total => format!("Nothing to do: all {all} were already as the plan says"),
        (total, done) if done == total && untouched => {
            format!("Nothing was left to do: all {all} are as the plan says")
        }
        (total, done) if done == total => whole(applied, edited(report)),
        (total, 0) if untouched && applied.count(OutcomeCode::Waiting) == total => {
            format!("Nothing was changed: {}", waiting_words(report, Some(&all), total))
        }
        (total, done) if done + applied.count(OutcomeCode::Waiting) == total => {
            let waiting = waiting_words(report, None, total - done);
            let between = between(applied).map(|between| format!(" {between};")).unwrap_or_default();
            format!("Applied so far: {};{between} {waiting}", done_of(applied))
        }
        (_, 0) if untouched && unknown > 0 => format!("None known to be applied of {all}: {left}"),
        (_, 0) if untouched => format!("None applied of {all}: {left}"),
        (_, done) if untouched && done == already => {
            format!("None applied of {all}: {already} already as the plan says, {left}")
        }
        _ if already > 0 => format!("Applied in part: {}, {already} of them before; {left}", done_of(applied)),
        _ => format!("Applied in part: {}; {left}", done_of(applied)),
    }
}

/// The clause about subjects, with what was done about whole zones.
fn with_zones(applied: &ApplyOutcome, text: String) -> String {
    match (zones_done(&applied.zone_changes), zones_left(&applied.zone_changes)) {
        (None, None) => text,
        (None, Some(left)) if applied.hosts.is_empty() => format!("Nothing was changed: {left}"),
        (Some(zones), None) if applied.hosts.is_empty() => format!("Applied: {zones}"),
        (Some(zones), Some(left)) if applied.hosts.is_empty() => format!("Applied in part: {zones}; {left}"),
        (zones, left) => std::iter::once(text).chain(zones).chain(left).collect::<Vec<_>>().join("; "),
    }
}

/// Whether nothing was changed in any zone.
fn is_untouched(applied: &ApplyOutcome) -> bool {
    applied.zones.iter().all(|zone| zone.changes == 0)
}

/// How many updates may have taken effect, or may still.
fn unknown_updates(applied: &ApplyOutcome) -> usize {
    applied.zones.iter().map(|zone| zone.unknown).sum()
}

/// How many subjects wait for a later wave, and how many fit none; `all` are those that wait, in words.
fn waiting_words(report: &ApplyReport<'_>, all: Option<&str>, waiting: usize) -> String {
    let misfits = report.waves.waiting.iter().filter(|own| own.code == WaitCode::DoesNotFit).count().min(waiting);
    let said = |count: usize, all: Option<&str>, verbs: [&str; 2]| {
        let who = all.map_or_else(|| count.to_string(), str::to_owned);
        (count > 0).then(|| format!("{who} {}", verbs[usize::from(count != 1)]))
    };
    let later = waiting - misfits;
    let of_all = |count: usize| all.filter(|_| count == waiting);
    let later = said(later, of_all(later), ["waits for a later wave", "wait for a later wave"]);
    let misfits = said(misfits, of_all(misfits), ["fits no wave", "fit no wave"]);
    later.into_iter().chain(misfits).collect::<Vec<_>>().join(", ")
}

/// Which gates did not pass, in a clause; none where all did.
fn shut(gates: &[GateAsked]) -> Option<String> {
    let failed = gates.iter().filter(|asked| asked.outcome == GateOutcome::Failed);
    let failed: Vec<String> = failed.map(|asked| format!("`{}` of {}", asked.gate, asked.group)).collect();
    let gate = if failed.len() == 1 { "the gate" } else { "the gates" };
    (!failed.is_empty()).then(|| sanitize(&format!("{gate} {} did not pass", failed.join(", "))))
}

/// Says that no zone could be read for the plan; none where one was, or where something was done all the same.
fn without_plan(report: &ApplyReport<'_>) -> Option<String> {
    let ApplyReport { sealed, apply, refusal, applied, .. } = report;
    let did_nothing = apply.is_none() && refusal.is_none() && applied.hosts.is_empty() && applied.problems.is_empty();
    sealed.filter(|_| did_nothing).and_then(|sealed| no_plan(sealed.plan()))
}

/// Whether a plan without changes leaves nothing to do: every zone and source was read, no host is blocked and no RRset
/// waits to be deleted.
fn is_at_rest(report: &ApplyReport<'_>) -> bool {
    report.sealed.map(SealedPlan::plan).is_some_and(|plan| {
        let is_short = plan.notices.iter().any(|notice| notice.code.tells_of_failure());
        plan.blocked.is_empty() && plan.delayed.is_empty() && !is_short
    })
}

/// How many RRsets an undo leaves, because they were edited since.
fn edited(report: &ApplyReport<'_>) -> usize {
    let plan = report.sealed.map(SealedPlan::plan).filter(|plan| plan.undoes.is_some());
    plan.map_or(0, |plan| plan.notices.iter().filter(|notice| notice.code == NoticeCode::EditedSince).count())
}

/// The verdict where all of it is done, and something was sent; an undo leaves so many RRsets as they were `edited`.
fn whole(applied: &ApplyOutcome, edited: usize) -> String {
    let changed = applied.hosts.iter().filter(|host| host.outcome == OutcomeCode::Applied);
    let written = applied.zones.iter().filter(|zone| zone.changes > 0);
    let names: BTreeSet<(&PoolName, &ZoneName)> = written.clone().map(|zone| (&zone.pool, &zone.zone)).collect();
    let zones = counted(names.len(), "zone");
    let zones = if written.clone().any(|zone| zone.target.is_some()) {
        match written.clone().count() {
            1 => format!("1 copy of {zones}"),
            copies => format!("{copies} copies of {zones}"),
        }
    } else {
        zones
    };
    let rrsets = counted(written.map(|zone| zone.changes).sum(), "RRset");
    let already = match applied.count(OutcomeCode::AlreadyApplied) {
        0 => String::new(),
        already => format!(" {already} already done,"),
    };
    let lacking: BTreeSet<(&PoolName, &String)> = lacks(applied).map(|(_, lack)| (&lack.pool, &lack.target)).collect();
    let left = match lacking.len() {
        0 if edited > 0 => format!("{} left as edited", counted(edited, "RRset")),
        0 => "nothing left".to_owned(),
        1 => "1 target lacks changes".to_owned(),
        targets => format!("{targets} targets lack changes"),
    };
    format!("Applied: {} changed ({rrsets} in {zones}),{already} {left}", subjects(changed))
}

/// What targets lack, with whose changes they are.
fn lacks(applied: &ApplyOutcome) -> impl Iterator<Item = (&SubjectOutcome, &TargetLack)> {
    applied.hosts.iter().flat_map(|host| host.lacks.iter().map(move |lack| (host, lack)))
}

/// How many had each outcome that leaves something to do: `2 stale, 1 failed`.
fn counts(applied: &ApplyOutcome) -> String {
    let found = LEFT.into_iter().map(|outcome| (applied.count(outcome), outcome)).filter(|(count, _)| *count > 0);
    found.map(|(count, outcome)| format!("{count} {outcome}")).collect::<Vec<_>>().join(", ")
}

/// How many are as planned of the hosts, of the names that files state, and of those that no host has.
fn done_of(applied: &ApplyOutcome) -> String {
    let done = applied.hosts.iter().filter(|host| host.outcome.is_done()).map(|host| &host.subject);
    SubjectCounts::of(done).out_of(SubjectCounts::of(applied.hosts.iter().map(|host| &host.subject)))
}

/// How many wait with both their old and their new addresses, in a clause; none where none does.
fn between(applied: &ApplyOutcome) -> Option<String> {
    let between: Vec<&SubjectOutcome> = applied.hosts.iter().filter(|host| host.is_between).collect();
    let have = match between.len() {
        0 => return None,
        1 => "has both its old and its new addresses now",
        _ => "have both their old and their new addresses now",
    };
    Some(format!("{} {have}", subjects(between)))
}

/// How many hosts, and names that no host has.
fn subjects<'a>(all: impl IntoIterator<Item = &'a SubjectOutcome>) -> String {
    SubjectCounts::of(all.into_iter().map(|host| &host.subject)).in_words()
}

/// One host, or name that no host has.
fn subject(found: &SubjectOutcome) -> String {
    let SubjectOutcome { subject, project, name, .. } = found;
    format!("{}, {name}", of_project(subject, project))
}
