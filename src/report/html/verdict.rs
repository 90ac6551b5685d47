//! What stands at the top of a page: what the plan comes to, why, and what it is about.

use std::collections::BTreeSet;

use serde::Serialize;

use super::escape::{counted, grouped};
use crate::guard::words;
use crate::plan::{Against, ChangeKind, Class, LimitState, Plan, Review};
use crate::report::notice::says;
use crate::report::outlook::{Outlook, Verdict};

/// The code of the refusal that tells of limits, of which the plan tells too.
const EXCEEDED: &str = "limit-exceeded";

/// The verdict, for the template.
#[derive(Serialize)]
pub struct VerdictView {
    /// The class of its style.
    class: &'static str,
    /// A sign that is told apart without colour.
    sign: &'static str,
    /// The verdict in a few words.
    headline: String,
    /// What brought it about: what was found, and what helps.
    because: Vec<(String, Option<String>)>,
}

/// The verdict on a plan.
pub fn verdict(plan: &Plan, outlook: &Outlook) -> VerdictView {
    let view =
        |class, sign, headline: &str, because| VerdictView { class, sign, headline: headline.to_owned(), because };
    match Verdict::of(plan, outlook) {
        Verdict::Refused => {
            view("refused", "\u{2715}", &format!("Refused by {}", guard(plan, outlook)), refusals(plan, outlook))
        }
        Verdict::Partial => {
            let headline = "Partial: not all that it rests on could be read and believed";
            view("partial", "!", headline, failures(plan).collect())
        }
        Verdict::Idle => view("idle", "=", idle(plan), Vec::new()),
        Verdict::Ready if is_view(outlook) && plan.changes.is_empty() => {
            view("idle", "\u{2026}", "No changes in what is shown", Vec::new())
        }
        Verdict::Ready if is_view(outlook) => {
            view("ready", "\u{2026}", "A view: nothing refuses the plan, and not all of it is shown", Vec::new())
        }
        Verdict::Ready => view("ready", "\u{2713}", "Ready to apply", Vec::new()),
    }
}

/// That there are no changes, and what that means.
fn idle(plan: &Plan) -> &'static str {
    match plan {
        Plan { undoes: Some(_), .. } => "Nothing to undo",
        plan if !plan.blocked.is_empty() || !plan.skipped.is_empty() => "Nothing to do, the hosts below aside",
        plan if !plan.waiting.is_empty() => "Nothing to do, what waits below aside",
        _ => "Nothing to do: live DNS is as it should be",
    }
}

/// Whether only some of a plan's changes are shown.
fn is_view(outlook: &Outlook) -> bool {
    outlook.hidden.is_some_and(|hidden| hidden > 0)
}

/// What keeps a plan from being all that it should be.
fn failures(plan: &Plan) -> impl Iterator<Item = (String, Option<String>)> {
    plan.notices.iter().filter(|notice| notice.code.tells_of_less()).map(|notice| (says(notice), None))
}

/// What refuses a plan.
fn guard(plan: &Plan, outlook: &Outlook) -> String {
    let exceeded: Vec<&LimitState> = plan.limits.iter().filter(|limit| limit.exceeded).collect();
    let refusal = outlook.refusal.as_ref().filter(|refusal| exceeded.is_empty() || refusal.code != EXCEEDED);
    match (refusal, exceeded.as_slice()) {
        (Some(refusal), _) => format!("`{}`", refusal.code),
        (None, [limit]) => format!("the limit `{}`", limit.name()),
        (None, limits) => format!("{} limits", limits.len()),
    }
}

/// Why a plan is refused: the limits that it exceeds, or what a guard says, and each time what lets it through; then what
/// keeps it from being all that it should be.
fn refusals(plan: &Plan, outlook: &Outlook) -> Vec<(String, Option<String>)> {
    let exceeded = plan.limits.iter().filter(|limit| limit.exceeded);
    let limits = exceeded.map(|limit| (words::says(limit), Some(format!("`{}` lets it through", words::allow(limit)))));
    let limits: Vec<(String, Option<String>)> = limits.collect();
    // Of limits the plan itself tells one by one what the refusal says in one piece.
    let others = outlook.refusal.iter().filter(|refusal| limits.is_empty() || refusal.code != EXCEEDED);
    let others = others.map(|refusal| (refusal.message.clone(), refusal.hint.clone()));
    others.chain(limits.iter().cloned()).chain(failures(plan)).collect()
}

/// A number with what it counts.
#[derive(Serialize)]
pub struct Count {
    /// What it is of, for the style; empty where it has none.
    class: &'static str,
    /// The number, its thousands apart.
    number: String,
    /// What it counts.
    what: &'static str,
}

/// A number with what it counts.
fn count(class: &'static str, number: usize, what: &'static str) -> Count {
    Count { class, number: grouped(number as u64), what }
}

/// What is in a plan, in numbers.
pub fn counts(plan: &Plan) -> Vec<Count> {
    let hosts = plan.changes.iter().filter_map(|change| change.host).collect::<BTreeSet<_>>().len();
    let of = |wanted: fn(&ChangeKind) -> bool| plan.changes.iter().filter(|change| wanted(&change.kind)).count();
    let left = [("blocked", plan.blocked.len()), ("skipped", plan.skipped.len()), ("waiting", plan.waiting.len())];
    let changes = [
        count("", plan.changes.len(), if plan.changes.len() == 1 { "change" } else { "changes" }),
        count("", hosts, if hosts == 1 { "host" } else { "hosts" }),
        count("create", of(|kind| matches!(kind, ChangeKind::Create { .. })), "create"),
        count("modify", of(|kind| matches!(kind, ChangeKind::Modify { .. })), "modify"),
        count("delete", of(|kind| matches!(kind, ChangeKind::Delete { .. })), "delete"),
    ];
    let left = left.into_iter().filter(|(_, number)| *number > 0);
    changes.into_iter().chain(left.map(|(what, number)| count("", number, what))).collect()
}

/// What the changes are classed against, and how many of each class there are.
#[derive(Serialize)]
pub struct Classes {
    /// What the inventory was held against.
    against: String,
    /// The changes of each class: number, class, what it means.
    counts: Vec<(String, &'static str, &'static str)>,
    /// That changes have no explanation, where some have none.
    unexplained: Option<String>,
    /// What else differs from the base, in sentences.
    beside: Vec<String>,
}

/// The classes of a plan's changes; none where nothing was held against it.
pub fn classes(review: &Review) -> Option<Classes> {
    match &review.against {
        Against::Nothing => None,
        Against::Journal { apply, at } => {
            let against = format!("Held against apply {apply} of {at}.");
            Some(Classes { against, counts: Vec::new(), unexplained: None, beside: Vec::new() })
        }
        Against::Base { name, commit } => {
            let commit = commit
                .as_ref()
                .map(|commit| format!(", commit `{}`", commit.chars().take(12).collect::<String>()))
                .unwrap_or_default();
            let against = format!("Held against `{name}`{commit}.");
            let counts = Class::ALL
                .iter()
                .map(|class| (grouped(of_class(review, *class) as u64), class.as_str(), means(*class)));
            Some(Classes {
                against,
                counts: counts.collect(),
                unexplained: unexplained(review),
                beside: beside(review),
            })
        }
    }
}

/// How many changes are of a class.
fn of_class(review: &Review, class: Class) -> usize {
    let of_class = review.causes.iter().filter(|cause| cause.class == Some(class));
    of_class.map(|cause| cause.changes.len()).sum()
}

/// What a class means, in a few words.
fn means(class: Class) -> &'static str {
    match class {
        Class::Caused => "by what differs from it",
        Class::Mixed => "in part",
        Class::Pending => "due before",
    }
}

/// That changes have no explanation, where some have none.
fn unexplained(review: &Review) -> Option<String> {
    let causes = review.causes.iter().filter(|cause| !cause.is_explained);
    let number: usize = causes.map(|cause| cause.changes.len()).sum();
    let changes = counted(number, "change");
    (number > 0).then(|| format!("{changes} {} not explained by what differs: look there first.", verb(number)))
}

/// The verb of a number.
fn verb(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// What a base tells beside the classes.
fn beside(review: &Review) -> Vec<String> {
    let settled = (review.settled > 0).then(|| {
        format!(
            "{} that the base would change as it wants stay as they are.",
            counted(review.settled as usize, "RRset")
        )
    });
    let hosts: Vec<String> = review.newly_blocked.iter().take(20).map(ToString::to_string).collect();
    let more = review.newly_blocked.len() - hosts.len();
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let blocked = (!hosts.is_empty()).then(|| {
        let all = review.newly_blocked.len();
        format!("{} {} blocked, and not with the base: {}{more}.", counted(all, "host"), verb(all), hosts.join(", "))
    });
    [settled, blocked].into_iter().flatten().collect()
}
