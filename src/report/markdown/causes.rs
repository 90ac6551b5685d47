//! The causes of the changes: a headline for each cause, and below it a folded list of its hosts with their changes.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::super::counts::PlanCounts;
use super::super::source_url::SourceUrl;
use super::super::summary::counted;
use super::changes;
use super::escape::{code, fenced, html, linked, linked_html, sentence};
use super::fit::{largest, shared};
use crate::inventory::value::Inv;
use crate::plan::{Cause, Change, ChangeClass, ComparisonBase, Plan, Review};

/// How many places of a cause its headline names; the lists of changes show the consequences.
const PLACES: usize = 2;

/// How much of the room for lists is kept for causes that matter less, in percent: enough for examples.
const KEPT: usize = 20;

/// How many changes of a cause are shown at least where any are: what a host that moves has.
const EXAMPLE: usize = 4;

/// How many changes a cause of the change set has at most if its list is unfolded: about a screen of a pull request.
const UNFOLDED: usize = 20;

/// The causes of a plan's changes.
pub struct PlanCauses<'a> {
    /// The causes, those first that matter most.
    causes: Vec<CauseItem<'a>>,
    /// What the inventory was compared with.
    against: Option<&'a ComparisonBase>,
}

/// A cause with its changes.
struct CauseItem<'a> {
    /// The plan.
    plan: &'a Plan,
    /// Where lines of exports are to be seen.
    source: Option<&'a SourceUrl>,
    /// The cause.
    cause: &'a Cause,
    /// Its changes, in the order in which they are shown.
    changes: Vec<&'a Change>,
    /// What is counted of them.
    counts: PlanCounts,
    /// The lines of each change, as far as they were asked for.
    lines: Vec<OnceCell<String>>,
    /// How many hosts have changes, from each change on.
    hosts_from: Vec<usize>,
}

/// A cause with some of its changes.
pub struct FoldedCause {
    /// The text.
    text: String,
    /// How many of its changes are in it.
    changes: usize,
}

impl<'a> PlanCauses<'a> {
    /// The causes of a plan: what nothing explains first, then by class and size as the review has them.
    pub fn new(plan: &'a Plan, review: Option<&'a Review>, source: Option<&'a SourceUrl>) -> PlanCauses<'a> {
        let of_review = review.iter().flat_map(|review| &review.causes);
        let mut causes: Vec<CauseItem<'_>> = of_review.map(|cause| CauseItem::new(plan, source, cause)).collect();
        causes.sort_by_key(|item| item.tier());
        PlanCauses { causes, against: review.map(|review| &review.against) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.causes.len()
    }

    /// What is counted of the changes that nothing explains.
    pub fn unexplained(&self) -> PlanCounts {
        PlanCounts::sum(self.causes.iter().filter(|item| !item.cause.is_explained).map(|item| &item.counts))
    }

    /// What is counted of the changes of a class.
    pub fn of_class(&self, class: ChangeClass) -> PlanCounts {
        PlanCounts::sum(self.causes.iter().filter(|item| item.cause.class == Some(class)).map(|item| &item.counts))
    }

    /// The first `shown` causes by class, with the list of changes of those in `folds`, and how many more there are.
    pub fn text(&self, shown: usize, folds: &[Option<FoldedCause>]) -> String {
        let mut out = String::new();
        if self.causes.is_empty() {
            return out;
        }
        if shown == 0 {
            let changes: usize = self.causes.iter().map(|item| item.changes.len()).sum();
            return format!(
                "{} with {}, not shown here.\n",
                counted(self.count(), "cause"),
                counted(changes, "change")
            );
        }
        let mut classes: Vec<Option<ChangeClass>> = self.causes.iter().map(|item| item.cause.class).collect();
        classes.sort();
        classes.dedup();
        for class in classes {
            let of_class = |item: &&CauseItem<'_>| item.cause.class == class;
            let sum = PlanCounts::sum(self.causes.iter().filter(of_class).map(|item| &item.counts));
            let blank = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{blank}#### {}: {}\n", self.title(class), in_words(&sum)));
            for (item, place) in self.causes[..shown].iter().zip(0..).filter(|(item, _)| of_class(item)) {
                match folds.get(place).and_then(Option::as_ref) {
                    Some(folded) => out.push_str(&format!("\n{}", folded.text)),
                    None => out.push_str(&format!("\n{}", item.headline())),
                }
            }
            let rest: Vec<&CauseItem<'_>> = self.causes[shown..].iter().filter(of_class).collect();
            if !rest.is_empty() {
                let sum = PlanCounts::sum(rest.iter().map(|item| &item.counts));
                let more = counted(rest.len(), "more cause");
                out.push_str(&format!("\nAnd {more} of {}, not shown here.\n", in_words(&sum)));
            }
        }
        out
    }

    /// Folds the changes of the first `shown` causes into `room` octets beyond what their headlines take: first of what
    /// nothing explains, then of what the change set causes, then of what was pending. Causes that matter the same
    /// share the room.
    pub fn fold(&self, shown: usize, mut room: usize) -> Vec<Option<FoldedCause>> {
        let mut folds = Vec::with_capacity(shown);
        let needs: Vec<usize> = self.causes[..shown].iter().map(|item| item.needs(room)).collect();
        for tier in self.causes[..shown].chunk_by(|a, b| a.tier() == b.tier()) {
            let (own, later) = needs[folds.len()..].split_at(tier.len());
            let kept = later.iter().sum::<usize>().min(room * KEPT / 100);
            for (item, share) in tier.iter().zip(shares(tier, own, room - kept)) {
                let headline = item.headline().len();
                let folded = item.folded(headline + share);
                room -= folded.as_ref().map_or(0, |folded| folded.text.len().saturating_sub(headline));
                folds.push(folded);
            }
        }
        folds
    }

    /// The heading above the causes of a class.
    fn title(&self, class: Option<ChangeClass>) -> String {
        match (class, self.against) {
            (Some(ChangeClass::Caused), _) => "Caused by this change set".to_owned(),
            (Some(ChangeClass::Mixed), _) => "Caused in part by this change set".to_owned(),
            (Some(ChangeClass::Pending), _) => "Pending before this change set".to_owned(),
            (None, Some(ComparisonBase::Journal { apply, .. })) => format!("Since apply {apply}"),
            (None, _) => "Causes".to_owned(),
        }
    }
}

/// Shares `room` among causes that matter the same: as many of the first as there is room to show examples of each.
/// Where there is no room for examples of the first, all get the same share.
fn shares(tier: &[CauseItem<'_>], needs: &[usize], room: usize) -> Vec<usize> {
    let least: Vec<usize> = tier.iter().zip(needs).map(|(item, need)| item.example().min(*need)).collect();
    let is_enough = |shares: &[usize]| shares.iter().zip(&least).all(|(share, least)| share >= least);
    let most = (1..=tier.len()).rev().map(|first| shared(&needs[..first], room)).find(|shares| is_enough(shares));
    let mut shares = most.unwrap_or_else(|| shared(needs, room));
    shares.resize(tier.len(), 0);
    shares
}

impl<'a> CauseItem<'a> {
    /// A cause of a plan.
    fn new(plan: &'a Plan, source: Option<&'a SourceUrl>, cause: &'a Cause) -> CauseItem<'a> {
        let changes = changes::arranged(plan, cause.changes.iter().map(|change| &plan.changes[*change as usize]));
        let mut counts = PlanCounts::default();
        changes.iter().for_each(|change| counts.count(change));
        let mut hosts: HashSet<Inv> = HashSet::new();
        let mut hosts_from: Vec<usize> = Vec::with_capacity(changes.len() + 1);
        hosts_from.push(0);
        for change in changes.iter().rev() {
            hosts.extend(change.subject.host());
            hosts_from.push(hosts.len());
        }
        hosts_from.reverse();
        let lines = changes.iter().map(|_| OnceCell::new()).collect();
        CauseItem { plan, source, cause, changes, counts, lines, hosts_from }
    }

    /// How much it matters; causes of one tier share the room for lists.
    fn tier(&self) -> u8 {
        match self.cause.class {
            _ if !self.cause.is_explained => 0,
            Some(ChangeClass::Caused | ChangeClass::Mixed) => 1,
            Some(ChangeClass::Pending) | None => 2,
        }
    }

    /// The cause in a line, without its changes.
    fn headline(&self) -> String {
        let mark = if self.cause.is_explained { "" } else { "⚠️ **not explained:** " };
        let places = self.places(linked);
        format!("- {mark}{}{places}: {}\n", sentence(&self.cause.says, code), self.extent())
    }

    /// The cause with the first of its changes folded below it, as many as fit; none where none does.
    fn folded(&self, room: usize) -> Option<FoldedCause> {
        let text = |shown: usize| Some(self.details(shown)).filter(|text| shown > 0 && text.len() <= room);
        // A line of a change has no less than a sign, a type, a name and a TTL.
        let most = self.changes.len().min(room / 16 + 1);
        let (changes, text) = largest(most, text)?;
        Some(FoldedCause { text, changes })
    }

    /// How many octets the list of its changes takes beyond the headline, or `room` if that is less.
    fn needs(&self, room: usize) -> usize {
        let headline = self.headline().len();
        self.folded(headline + room).map_or(0, |folded| {
            if folded.changes == self.changes.len() { folded.text.len().saturating_sub(headline) } else { room }
        })
    }

    /// How many octets a list of the first few of its changes takes beyond the headline.
    fn example(&self) -> usize {
        self.details(self.changes.len().min(EXAMPLE)).len().saturating_sub(self.headline().len())
    }

    /// The cause with the first `shown` of its changes folded below it, and how many more there are.
    fn details(&self, shown: usize) -> String {
        let mark = if self.cause.is_explained { "" } else { "⚠️ <b>not explained:</b> " };
        let (says, places) = (sentence(&self.cause.says, html), self.places(linked_html));
        let mut diff = String::new();
        for (place, change) in self.changes[..shown].iter().enumerate() {
            if place == 0 || !changes::is_one(self.changes[place - 1], change) {
                diff.push_str(&changes::heading(self.plan, change));
            }
            diff.push_str(self.lines[place].get_or_init(|| changes::lines(change)));
        }
        let more = match self.changes.len() - shown {
            0 => String::new(),
            more => {
                let more = of_hosts(&counted(more, "more change"), self.hosts_from[shown]);
                format!("And {more}, not shown here.\n\n")
            }
        };
        let (counts, diff) = (self.extent(), fenced("diff", &diff));
        // A reviewer reads what the change set causes. A long list stays folded, so that the next cause is in sight.
        let is_new = matches!(self.cause.class, Some(ChangeClass::Caused | ChangeClass::Mixed));
        let open = if is_new && self.changes.len() <= UNFOLDED { " open" } else { "" };
        format!("<details{open}>\n<summary>{mark}{says}{places}: {counts}</summary>\n\n{diff}\n{more}</details>\n")
    }

    /// How many changes there are of how many hosts, and how many of them delete.
    fn extent(&self) -> String {
        let [_, _, delete] = self.counts.changes;
        let deletes = if delete == 0 { String::new() } else { format!(", {}", counted(delete, "delete")) };
        format!("{}{deletes}", in_words(&self.counts))
    }

    /// The first places, each in code, and where it is known leading to its line.
    fn places(&self, linked: impl Fn(&str, Option<&str>) -> String) -> String {
        let (shown, rest) = self.cause.places.split_at(self.cause.places.len().min(PLACES));
        let url = |place: &str| self.source.and_then(|source| source.link(place));
        let shown: Vec<String> = shown.iter().map(|place| linked(place, url(place).as_deref())).collect();
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) }
    }
}

impl FoldedCause {
    /// How many changes are in it.
    pub fn changes(&self) -> usize {
        self.changes
    }
}

/// Changes in words, with their hosts: `160 changes of 40 hosts`.
pub fn in_words(counts: &PlanCounts) -> String {
    of_hosts(&counted(counts.all_changes(), "change"), counts.hosts.len())
}

/// What some hosts have; orphans have none.
fn of_hosts(what: &str, hosts: usize) -> String {
    if hosts == 0 { what.to_owned() } else { format!("{what} of {}", counted(hosts, "host")) }
}
