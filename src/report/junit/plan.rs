//! A plan as a report of tests: what fails is what an operator must fix.

use std::collections::{BTreeMap, BTreeSet};

use super::super::copies::{SeveralTargets, mark};
use super::super::host_label::{host_label, subject_label};
use super::super::outlook::PlanOutlook;
use super::super::scope::scope;
use super::super::summary::{counted as number, serial_text};
use super::super::verdict;
use super::super::words::ExplainedCode as _;
use super::{CaseOutcome, TestCase, TestSuite, document};
use crate::claim::Subject;
use crate::guard::LIMIT_EXCEEDED;
use crate::guard::words;
use crate::plan::{BlockedSubject, Change, ChangeKind, LimitState, Notice, NoticeCode, Plan, SealedPlan, SkipCode};

/// Renders a plan: a suite of what it was made from, one of its limits, and one for each project with a case for each
/// host that is blocked, skipped, or to be changed.
pub fn plan(sealed: &SealedPlan, outlook: &PlanOutlook) -> String {
    let plan = sealed.plan();
    let mut first = TestSuite::new("zonewright.inputs".to_owned(), inputs(plan));
    let verdict = [Some(verdict::headline(plan, outlook)), verdict::refused(plan, outlook)];
    let verdict = verdict.into_iter().flatten().collect::<Vec<_>>().join(". ").replace('`', "");
    first.properties =
        vec![("verdict", verdict.clone()), ("plan", sealed.id().to_owned()), ("effect", sealed.effect().to_owned())];
    first.properties.extend(outlook.file.clone().map(|file| ("file", file)));
    first.properties.extend(outlook.url.clone().map(|url| ("url", url)));
    first.properties.extend(scope(plan, outlook).into_iter().map(|says| ("scope", says)));
    let mut suites = vec![first, TestSuite::new("zonewright.limits".to_owned(), limits(plan, outlook))];
    suites.extend(projects(plan));
    suites.iter_mut().for_each(|suite| suite.created = Some(plan.created.to_string()));
    document(&verdict, &suites)
}

/// The exports and zones that the plan was made from; those fail that could not be read or are not believed.
fn inputs(plan: &Plan) -> Vec<TestCase> {
    let mut passed: BTreeMap<(bool, String), TestCase> = BTreeMap::new();
    let mut failed: BTreeMap<(bool, String), Vec<TestCase>> = BTreeMap::new();
    for source in &plan.sources {
        let name = format!("source {}", source.source);
        let dated = source.dated.map(|dated| format!(", of {dated}")).unwrap_or_default();
        passed.insert(
            (false, source.source.clone()),
            TestCase::passed(name, format!("{}{dated}", number(source.rows as usize, "row"))),
        );
    }
    let several = SeveralTargets::find(plan);
    for seen in &plan.zones {
        let at = several.target_of(seen).map(|target| format!(" at {target}")).unwrap_or_default();
        let zone = format!("{}{at}", seen.zone);
        let says = format!("serial {}, {}", serial_text(seen.serial), number(seen.rrsets as usize, "RRset"));
        passed.insert((true, zone.clone()), TestCase::passed(format!("zone {zone}"), says));
    }
    for Notice { code, name, message, .. } in &plan.notices {
        let (is_zone, what) = match code {
            NoticeCode::ZoneUnknown => (true, "zone"),
            NoticeCode::BadSettings => (false, "settings"),
            NoticeCode::UnknownSet => (false, "set of pods"),
            NoticeCode::SourceUnknown | NoticeCode::SourceUntrusted | NoticeCode::RecordsUnread => (false, "source"),
            _ => continue,
        };
        let case = TestCase::failed(format!("{what} {name}"), code.as_str(), message, Some(code.words().long));
        failed.entry((is_zone, name.clone())).or_default().push(case);
    }
    let mut cases: BTreeMap<(bool, String), Vec<TestCase>> =
        passed.into_iter().map(|(key, case)| (key, vec![case])).collect();
    // A failure replaces the case of what was read all the same.
    cases.extend(failed);
    cases.into_values().flatten().collect()
}

/// The limits; those fail that are exceeded. Any other refusal of the plan is a case of its own.
fn limits(plan: &Plan, outlook: &PlanOutlook) -> Vec<TestCase> {
    let limit = |limit: &LimitState| {
        if !limit.exceeded {
            TestCase::passed(limit.name(), words::numbers(limit))
        } else {
            let hint =
                format!("look at what it would do; if that is right, `{}` lets this plan through", words::allow(limit));
            TestCase::failed(limit.name(), LIMIT_EXCEEDED, &words::says(limit), Some(&hint))
        }
    };
    let mut cases: Vec<TestCase> = plan.limits.iter().map(limit).collect();
    let has_told = plan.limits.iter().any(|limit| limit.exceeded);
    if let Some(refusal) = outlook.refusal.as_ref().filter(|refusal| !has_told || refusal.code != LIMIT_EXCEEDED) {
        cases.push(TestCase::failed("the plan", refusal.code, &refusal.message, refusal.hint.as_deref()));
    }
    cases
}

/// What a plan holds for one project.
#[derive(Default)]
struct ProjectPlan<'a> {
    /// The blocked hosts.
    blocked: BTreeMap<Subject, &'a BlockedSubject>,
    /// The skipped hosts.
    skipped: BTreeMap<Subject, SkipCode>,
    /// The changes by host, and by name that a file states; those at names that no host has last.
    changes: BTreeMap<(bool, Option<Subject>), Vec<&'a Change>>,
}

/// A suite for each project, sorted; `?` is that of hosts whose row is too bad to say their project.
fn projects(plan: &Plan) -> Vec<TestSuite> {
    let mut projects: BTreeMap<&str, ProjectPlan<'_>> = BTreeMap::new();
    for blocked in &plan.blocked {
        projects.entry(&blocked.project).or_default().blocked.insert(blocked.subject.clone(), blocked);
    }
    for skipped in &plan.skipped {
        projects.entry(&skipped.project).or_default().skipped.insert(skipped.subject.clone(), skipped.code);
    }
    for change in &plan.changes {
        let own = change.subject.counted();
        projects.entry(&change.project).or_default().changes.entry((own.is_none(), own)).or_default().push(change);
    }
    let name = |project: &str| format!("zonewright.project.{}", if project.is_empty() { "?" } else { project });
    projects.into_iter().map(|(project, held)| TestSuite::new(name(project), held.cases(plan))).collect()
}

impl ProjectPlan<'_> {
    /// A case for each host, sorted, and one for the names that no host has. The case of a blocked or skipped host says
    /// what changes all the same.
    fn cases(&self, plan: &Plan) -> Vec<TestCase> {
        let hosts = self.changes.keys().filter_map(|(_, own)| own.clone());
        let left = self.blocked.keys().chain(self.skipped.keys()).cloned();
        let subjects: BTreeSet<Subject> = hosts.chain(left).collect();
        let mut cases: Vec<TestCase> = subjects.iter().map(|subject| self.case(plan, subject)).collect();
        let without_host = self.changes.get(&(true, None));
        cases.extend(without_host.map(|changes| TestCase::passed("unclaimed names", counted(changes))));
        cases
    }

    /// The case of a subject.
    fn case(&self, plan: &Plan, subject: &Subject) -> TestCase {
        let name = match subject.host() {
            Some(host) => format!("host {}", host_label(plan, host)),
            None => subject_label(plan, subject),
        };
        let changes = self.changes.get(&(false, subject.counted())).map(|changes| counted(changes));
        // What it leaves behind may change all the same: a name that it gave up.
        let changed = changes.as_ref().map(|changes| format!("; changed all the same: {changes}"));
        let changed = changed.unwrap_or_default();
        if let Some(BlockedSubject { code, message, hint, .. }) = self.blocked.get(subject) {
            return TestCase::failed(name, code.as_str(), &format!("{message}{changed}"), Some(hint));
        }
        if let Some(code) = self.skipped.get(subject) {
            let message = format!("{code}: {}{changed}", code.words().brief);
            return TestCase { name, outcome: CaseOutcome::Skipped { code: code.as_str().into(), message } };
        }
        TestCase::passed(name, changes.unwrap_or_default())
    }
}

/// How many RRsets are to be created, modified and deleted; those at some targets alone by themselves.
fn counted(changes: &[&Change]) -> String {
    let mut counts: BTreeMap<(String, u8), (&str, usize)> = BTreeMap::new();
    for change in changes {
        let (place, what) = match change.kind {
            ChangeKind::Create { .. } => (0, "create"),
            ChangeKind::Modify { .. } => (1, "modify"),
            ChangeKind::Delete { .. } => (2, "delete"),
        };
        counts.entry((mark(&change.targets), place)).or_insert((what, 0)).1 += 1;
    }
    let told = counts.iter().map(|((at, _), (what, count))| format!("{what} {count}{at}"));
    told.collect::<Vec<_>>().join(", ")
}
