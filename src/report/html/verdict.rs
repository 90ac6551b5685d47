//! The top of a page: the verdict, the reasons for it, and what the plan is about.

use std::collections::BTreeSet;

use serde::Serialize;

use super::escape::{counted, grouped, subjects};
use crate::claim::Subject;
use crate::guard::LIMIT_EXCEEDED;
use crate::guard::words;
use crate::plan::{Change, ChangeClass, ChangeKind, ComparisonBase, Plan, Review, WaitCode};
use crate::report::counts::PlanCounts;
use crate::report::host_label::subject_label;
use crate::report::outages::said_once;
use crate::report::outlook::{PlanOutlook, PlanVerdict};
use crate::report::summary::{SubjectCounts, SubjectTally, plural};
use crate::report::verdict;

/// The verdict, for the template.
#[derive(Serialize)]
pub struct VerdictView {
    /// The class of its style.
    class: &'static str,
    /// A sign that differs without colour, too.
    sign: &'static str,
    /// The verdict in one sentence, as every format says it.
    headline: String,
    /// Whether it may be applied; empty where there is nothing to apply.
    state: String,
    /// How many RRsets it deletes; none where it deletes nothing.
    deletes: Option<String>,
    /// The reasons: what was found, and what helps.
    because: Vec<(String, Option<String>)>,
}

/// The verdict on a plan.
pub fn verdict(plan: &Plan, outlook: &PlanOutlook) -> VerdictView {
    let deleted = plan.changes.iter().filter(|change| matches!(change.kind, ChangeKind::Delete { .. })).count();
    let deletes = (deleted > 0).then(|| counted(deleted, "RRset"));
    let view = |class, sign, state: String, because| {
        let headline = verdict::headline(plan, outlook);
        VerdictView { class, sign, headline, state, deletes: deletes.clone(), because }
    };
    match PlanVerdict::of(plan, outlook) {
        PlanVerdict::Refused => {
            let state = verdict::refused(plan, outlook).unwrap_or_default();
            view("refused", "\u{2715}", state, refusals(plan, outlook))
        }
        PlanVerdict::Partial => {
            let state = "Not complete: some sources or zones could not be read, or are not trusted".to_owned();
            view("partial", "!", state, failures(plan).collect())
        }
        PlanVerdict::Idle => view("idle", "=", String::new(), Vec::new()),
        PlanVerdict::Ready if is_view(outlook) => {
            view("ready", "\u{2026}", "Nothing refuses the whole plan".to_owned(), Vec::new())
        }
        PlanVerdict::Ready => view("ready", "\u{2713}", ready(plan), Vec::new()),
    }
}

/// That a plan may be applied, and to how many hosts.
fn ready(plan: &Plan) -> String {
    let changed = PlanCounts::of_plan(plan).subjects();
    if changed == SubjectCounts::default() {
        return "Ready to apply to unclaimed names".to_owned();
    }
    format!("Ready to apply to {}{}", subjects(changed, plan.fleet.unwrap_or_default()), in_waves(plan))
}

/// How much of a plan goes now, and how much with later waves; empty where all of it goes at once.
fn in_waves(plan: &Plan) -> String {
    let all: BTreeSet<&Subject> = plan.waiting.iter().map(|waiting| &waiting.subject).collect();
    let later = plan.waiting.iter().filter(|waiting| waiting.code != WaitCode::DoesNotFit);
    let later = SubjectCounts::of(later.map(|waiting| &waiting.subject));
    if later == SubjectCounts::default() {
        return String::new();
    }
    let mut going = PlanCounts::default();
    let goes = |change: &&Change| change.subjects().all(|subject| !all.contains(subject));
    plan.changes.iter().filter(goes).for_each(|change| going.count(change));
    let now = match going.subjects() {
        none if none == SubjectCounts::default() => "none".to_owned(),
        now => subjects(now, 0),
    };
    format!(": {now} now, {} in later waves", subjects(later, 0))
}

/// Whether only some of a plan's changes are shown.
fn is_view(outlook: &PlanOutlook) -> bool {
    outlook.hidden.is_some_and(|hidden| hidden > 0)
}

/// What keeps a plan from being all that it should be.
fn failures(plan: &Plan) -> impl Iterator<Item = (String, Option<String>)> {
    let less = plan.notices.iter().filter(|notice| notice.code.tells_of_less());
    said_once(less).into_iter().map(|(_, says)| (says, None))
}

/// Why a plan is refused: the limits that it exceeds, or what a guard says, and each time what lets it through; then
/// what keeps it from being all that it should be.
fn refusals(plan: &Plan, outlook: &PlanOutlook) -> Vec<(String, Option<String>)> {
    let exceeded = plan.limits.iter().filter(|limit| limit.exceeded);
    let limits = exceeded.map(|limit| (words::says(limit), Some(format!("`{}` lets it through", words::allow(limit)))));
    let limits: Vec<(String, Option<String>)> = limits.collect();
    // The plan names each limit that the refusal sums up.
    let others = outlook.refusal.iter().filter(|refusal| limits.is_empty() || refusal.code != LIMIT_EXCEEDED);
    let others = others.map(|refusal| (refusal.message.clone(), refusal.hint.clone()));
    others.chain(limits.iter().cloned()).chain(failures(plan)).collect()
}

/// A number with what it counts.
#[derive(Serialize)]
pub struct CountView {
    /// What it is of, for the style; empty where it has none.
    class: &'static str,
    /// The number, its thousands apart.
    number: String,
    /// What it counts.
    what: String,
}

/// A number with what it counts.
fn count(class: &'static str, number: usize, what: &str) -> CountView {
    CountView { class, number: grouped(number as u64), what: what.to_owned() }
}

/// What is in a plan, in numbers.
pub fn counts(plan: &Plan) -> Vec<CountView> {
    let [SubjectTally { number: hosts, .. }, others @ ..] = PlanCounts::of_plan(plan).subjects().by_kind();
    let of_hosts = match plan.fleet {
        Some(fleet) => format!("of {}", counted(fleet as usize, "host")),
        None if hosts == 1 => "host".to_owned(),
        None => "hosts".to_owned(),
    };
    let of = |wanted: fn(&ChangeKind) -> bool| plan.changes.iter().filter(|change| wanted(&change.kind)).count();
    let left = [("blocked", plan.blocked.len()), ("skipped", plan.skipped.len()), ("waiting", plan.delayed.len())];
    let has_hosts = hosts > 0 || plan.fleet.is_some_and(|fleet| fleet > 0) || others.iter().all(|own| own.number == 0);
    let others = others.into_iter().filter(|own| own.number > 0);
    let changed = has_hosts.then(|| count("", hosts, &of_hosts)).into_iter();
    let changed = changed.chain(others.map(|own| count("", own.number, &plural(own.number, own.noun))));
    let all = count("", plan.changes.len(), if plan.changes.len() == 1 { "change" } else { "changes" });
    let changes = [
        count("create", of(|kind| matches!(kind, ChangeKind::Create { .. })), "create"),
        count("modify", of(|kind| matches!(kind, ChangeKind::Modify { .. })), "modify"),
        count("delete", of(|kind| matches!(kind, ChangeKind::Delete { .. })), "delete"),
    ];
    let left = left.into_iter().filter(|(_, number)| *number > 0);
    std::iter::once(all)
        .chain(changed)
        .chain(changes)
        .chain(left.map(|(what, number)| count("", number, what)))
        .collect()
}

/// What the inventory was compared with, and how many changes of each class there are.
#[derive(Serialize)]
pub struct ClassCounts {
    /// What the inventory was compared with.
    against: String,
    /// The changes of each class: number, class, what it means.
    counts: Vec<(String, &'static str, &'static str)>,
    /// That changes have no explanation, where some have none.
    unexplained: Option<String>,
    /// What else differs from the base, in sentences.
    since: Vec<String>,
}

/// The classes of a plan's changes; none where it was compared with nothing.
pub fn classes(plan: &Plan, review: &Review) -> Option<ClassCounts> {
    match &review.against {
        ComparisonBase::Nothing => None,
        ComparisonBase::Journal { apply, at } => {
            let against = format!("Compared with apply {apply} of {}.", at.to_second());
            Some(ClassCounts { against, counts: Vec::new(), unexplained: None, since: Vec::new() })
        }
        ComparisonBase::Base { name, commit } => {
            let commit = commit
                .as_ref()
                .map(|commit| format!(", commit `{}`", commit.chars().take(12).collect::<String>()))
                .unwrap_or_default();
            let against = format!("Compared with `{name}`{commit}.");
            let counts = ChangeClass::ALL
                .iter()
                .map(|class| (grouped(of_class(review, *class) as u64), class.as_str(), means(*class)));
            Some(ClassCounts {
                against,
                counts: counts.collect(),
                unexplained: unexplained(review),
                since: since(plan, review),
            })
        }
    }
}

/// How many changes are of a class.
fn of_class(review: &Review, class: ChangeClass) -> usize {
    let of_class = review.causes.iter().filter(|cause| cause.class == Some(class));
    of_class.map(|cause| cause.changes.len()).sum()
}

/// What a class means, in a few words.
fn means(class: ChangeClass) -> &'static str {
    match class {
        ChangeClass::Caused => "by the differences from it",
        ChangeClass::Mixed => "in part",
        ChangeClass::Pending => "due before",
    }
}

/// That changes have no explanation, where some have none.
fn unexplained(review: &Review) -> Option<String> {
    let causes = review.causes.iter().filter(|cause| !cause.is_explained);
    let number: usize = causes.map(|cause| cause.changes.len()).sum();
    let changes = counted(number, "change");
    (number > 0).then(|| format!("{changes} {} not explained by the differences: check them first.", verb(number)))
}

/// The verb of a number.
fn verb(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// What else differs from the base.
fn since(plan: &Plan, review: &Review) -> Vec<String> {
    let settled = (review.settled > 0).then(|| {
        let need = if review.settled == 1 { "needs" } else { "need" };
        format!("{} that the base would change {need} no change now.", counted(review.settled as usize, "RRset"))
    });
    let hosts: Vec<String> = review.newly_blocked.iter().take(20).map(|subject| subject_label(plan, subject)).collect();
    let more = review.newly_blocked.len() - hosts.len();
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let blocked = (!hosts.is_empty()).then(|| {
        let all = review.newly_blocked.len();
        let what = subjects(SubjectCounts::of(&review.newly_blocked), 0);
        format!("{what} {} blocked, and not with the base: {}{more}.", verb(all), hosts.join(", "))
    });
    [settled, blocked].into_iter().flatten().collect()
}
