//! A plan as Markdown for a comment on a pull request.
//!
//! Comes in: a plan and what is known of it. Goes out: GitHub Flavored Markdown that begins with [`MARK`] and has at
//! most [`MAX`] octets. Whatever comes from input is in code, see [`escape`]. Where not all fits, the least important
//! is left out, see [`page`]; the report says how much, in that place and at the end.

mod causes;

mod changes;

mod counts;

mod escape;

mod fit;

mod foot;

mod left;

mod notes;

mod verdict;

use self::causes::PlanCauses;
use self::fit::{FittedPart, PagePart, joined};
use self::foot::{ReportCut, ReportFoot};
use self::verdict::ReportHead;
use super::outlook::PlanOutlook;
use crate::plan::{Plan, Review, SealedPlan};
use crate::review;

/// How many octets a comment may have. GitHub allows as many characters ("body is too long (maximum is 65536
/// characters)"); GitLab allows a million.
const MAX: usize = 65_536;

/// What a report begins with, so that a pipeline finds its own comment to replace it. Renderers do not show it.
const MARK: &str = "<!-- zonewright plan -->\n";

/// What a report is about.
struct ReportSubject<'a> {
    /// The plan, or a view of it.
    plan: &'a Plan,
    /// The plan's id.
    id: &'a str,
    /// The plan's effect.
    effect: &'a str,
    /// What is known of it in addition to what it says itself.
    outlook: &'a PlanOutlook,
    /// The causes of the changes; none where there are none.
    review: Option<&'a Review>,
    /// The causes in the order in which they are listed.
    causes: PlanCauses<'a>,
}

/// Renders a plan.
pub fn render(sealed: &SealedPlan, outlook: &PlanOutlook) -> String {
    let plan = sealed.plan();
    let review = review::of_plan(plan);
    let (review, causes) = (review.as_ref(), PlanCauses::new(plan, review.as_ref(), outlook.source_url.as_ref()));
    page(&ReportSubject { plan, id: sealed.id(), effect: sealed.effect(), outlook, review, causes }, MAX)
}

/// Renders a report of at most `max` octets, where that is at least what its heading and its end take.
///
/// What matters most takes its room first: the verdict, the end, counts, the headlines of causes, what is blocked, what
/// is near or noticed, and last the folded lists of changes.
fn page(subject: &ReportSubject<'_>, max: usize) -> String {
    let ReportSubject { plan, causes, .. } = subject;
    let head = ReportHead::new(subject);
    let verdict =
        PagePart { name: "the verdict", items: head.remarks(), share: 100, text: Box::new(|shown| head.text(shown)) };
    let parts = [
        counts::against(subject),
        counts::projects(plan),
        PagePart { name: "causes", items: causes.count(), share: 50, text: Box::new(|shown| causes.text(shown, &[])) },
        left::newly_blocked(subject),
        left::blocked(subject),
        counts::limits(plan),
        counts::locations(subject),
        left::rest(plan),
        left::notices(plan),
    ];
    // The longest that the end can become: it is known last how much is left out.
    let most =
        ReportCut { changes: plan.changes.len(), parts: parts.iter().map(|part| part.name).collect(), is_more: true };
    let foot = ReportFoot::new(subject, max);
    let mut room = max.saturating_sub(MARK.len() + foot.text(&most).len());
    // The reasons of a refusal matter more than any other part, but there may be a thousand of them.
    let most = room.min((room / 2).max(joined(&head.text(0))));
    let (verdicts, _) = fit::fit(std::slice::from_ref(&verdict), most);
    room -= joined(&verdicts[0].text);
    let (mut fitted, dropped) = fit::fit(&parts, room);
    room -= fitted.iter().map(|part| joined(&part.text)).sum::<usize>();
    let folds = causes.fold(fitted[CAUSES].items, room);
    let listed: usize = folds.iter().flatten().map(|folded| folded.changes()).sum();
    let is_cut = |fitted: &FittedPart, part: &PagePart<'_>| fitted.items < part.items;
    let is_more =
        is_cut(&verdicts[0], &verdict) || fitted.iter().zip(&parts).any(|(fitted, part)| is_cut(fitted, part));
    if !fitted[CAUSES].text.is_empty() {
        fitted[CAUSES].text = causes.text(fitted[CAUSES].items, &folds);
    }
    let mut out = MARK.to_owned();
    let shown = SHOWN.iter().map(|place| &fitted[*place]);
    for part in verdicts.iter().chain(shown).filter(|part| !part.text.is_empty()) {
        out.extend([&part.text, "\n"]);
    }
    out + &foot.text(&ReportCut { changes: plan.changes.len() - listed, parts: dropped, is_more })
}

/// The place of the causes among the parts.
const CAUSES: usize = 2;

/// The places of the parts in the order in which they are read.
const SHOWN: [usize; 9] = [0, 1, 6, 2, 3, 4, 5, 7, 8];

#[cfg(test)]
mod tests;
