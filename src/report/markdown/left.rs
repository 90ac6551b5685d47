//! The hosts that get no change, by cause; and what else there is to know.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::alike::{self, AlikeNotices};
use super::super::counts::without;
use super::super::gather::gather;
use super::super::summary::{SubjectCounts, counted};
use super::super::waves::{group_lines, next_wave};
use super::super::words::ExplainedCode as _;
use super::ReportSubject;
use super::escape::{code, plain, sentence, subject_label};
use super::fit::PagePart;
use crate::claim::Subject;
use crate::plan::{BlockCode, BlockedSubject, NoticeCode, Plan, Review, SkipCode};

/// How many of several similar things are shown: five show what is going on.
const FEW: usize = 5;

/// The hosts that one cause blocks.
struct BlockedGroup<'a> {
    /// The code.
    code: BlockCode,
    /// What to do.
    hint: &'a str,
    /// What is wrong.
    message: &'a str,
    /// The hosts, sorted.
    hosts: Vec<&'a BlockedSubject>,
}

/// Some of the blocked hosts.
struct BlockedPart<'a> {
    /// What it is, for readers of a report from which it was left out.
    name: &'static str,
    /// What a line about them begins with.
    title: &'static str,
    /// The hosts.
    hosts: Vec<&'a BlockedSubject>,
    /// Whether the list is folded.
    is_folded: bool,
}

/// With a base, the hosts that are blocked now and are not blocked with the base; empty without one.
pub fn newly_blocked<'a>(subject: &'a ReportSubject<'a>) -> PagePart<'a> {
    let hosts = subject.plan.blocked.iter().filter(|blocked| is_new(subject, blocked)).collect();
    part(subject.plan, BlockedPart { name: "newly blocked", title: "Newly blocked", hosts, is_folded: false })
}

/// The other blocked hosts. With a base they are folded: they have nothing to do with the change set.
pub fn blocked<'a>(subject: &'a ReportSubject<'a>) -> PagePart<'a> {
    let hosts = subject.plan.blocked.iter().filter(|blocked| !is_new(subject, blocked)).collect();
    let is_folded = subject.review.is_some_and(Review::is_based);
    let title = if is_folded { "Blocked before this change set" } else { "Blocked" };
    part(subject.plan, BlockedPart { name: "blocked", title, hosts, is_folded })
}

/// Whether a host is blocked now, and is not blocked with the base.
fn is_new(subject: &ReportSubject<'_>, blocked: &BlockedSubject) -> bool {
    subject.review.is_some_and(|review| review.newly_blocked.binary_search(&blocked.subject).is_ok())
}

/// Blocked hosts by code, hint and message; the items are the causes, those of most hosts first.
fn part<'a>(plan: &'a Plan, BlockedPart { name, title, hosts, is_folded }: BlockedPart<'a>) -> PagePart<'a> {
    let groups = groups(&hosts);
    let items = groups.len();
    let mut codes: BTreeMap<BlockCode, Vec<&Subject>> = BTreeMap::new();
    hosts.iter().for_each(|blocked| codes.entry(blocked.code).or_default().push(&blocked.subject));
    let text = move |shown: usize| {
        if codes.is_empty() {
            return String::new();
        }
        let by_code = codes.iter().map(|(code, all)| format!("{} {code}", all.len())).collect::<Vec<_>>().join(", ");
        if shown == 0 {
            return format!("{title}: {by_code}.\n");
        }
        let list = list(plan, &groups[..shown], &codes);
        if is_folded {
            format!("<details>\n<summary>{title}: {by_code}</summary>\n\n{list}\n</details>\n")
        } else {
            let (gets, this) = if hosts.len() == 1 { ("gets", "it") } else { ("get", "them") };
            let head = SubjectCounts::of(hosts.iter().map(|blocked| &blocked.subject)).in_words();
            format!("#### {title}: {head} {gets} no change until what blocks {this} is fixed\n\n{list}")
        }
    };
    PagePart { name, items, share: 50, text: Box::new(text) }
}

/// The list of what some causes block, by code; `codes` says what each blocks in all.
fn list(plan: &Plan, shown: &[BlockedGroup<'_>], codes: &BTreeMap<BlockCode, Vec<&Subject>>) -> String {
    let mut out = String::new();
    for (block, all) in codes {
        let in_words = SubjectCounts::of(all.iter().copied()).in_words();
        let of_code: Vec<&BlockedGroup<'_>> = shown.iter().filter(|group| group.code == *block).collect();
        out.push_str(&format!("- **{block}**, {in_words}: {}\n", block.words().brief));
        let mut told = 0;
        for of_hint in gather(&of_code, |group| group.hint) {
            for group in &of_hint {
                told += group.hosts.len();
                out.push_str(&format!("  - {}: {}\n", whose(plan, &group.hosts), sentence(group.message, code)));
            }
            out.push_str(&format!("  - **hint:** {}\n", sentence(of_hint[0].hint, code)));
        }
        match all.len() - told {
            0 => {}
            _ if told == 0 => out.push_str(&format!("  - {in_words}, not shown here\n")),
            more => out.push_str(&format!("  - and {more} more, not shown here\n")),
        }
    }
    out
}

/// The causes that are worth showing, those of most hosts first: a few of each hint, and of each code a few hints.
fn groups<'a>(blocked: &[&'a BlockedSubject]) -> Vec<BlockedGroup<'a>> {
    let mut codes: BTreeMap<BlockCode, Vec<&BlockedSubject>> = BTreeMap::new();
    blocked.iter().for_each(|blocked| codes.entry(blocked.code).or_default().push(blocked));
    let mut groups = Vec::new();
    for (code, of_code) in codes {
        for of_hint in gather(&of_code, |blocked| &blocked.hint).into_iter().take(FEW) {
            for hosts in gather(&of_hint, |blocked| &blocked.message).into_iter().take(FEW) {
                groups.push(BlockedGroup { code, hint: &hosts[0].hint, message: &hosts[0].message, hosts });
            }
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.hosts.len()));
    groups
}

/// How many hosts these are, of which project where they have one in common, and the first few.
fn whose(plan: &Plan, hosts: &[&BlockedSubject]) -> String {
    let projects: BTreeSet<&str> = hosts.iter().map(|blocked| blocked.project.as_str()).collect();
    // The row of a host whose project is unknown is too bad to say it.
    let project = projects.first().filter(|project| projects.len() == 1 && !project.is_empty());
    let of = project.map(|project| format!(" of {}", code(project))).unwrap_or_default();
    let labels = hosts.iter().take(FEW).map(|blocked| subject_label(plan, &blocked.subject));
    let labels = labels.collect::<Vec<_>>().join(", ");
    let what = SubjectCounts::of(hosts.iter().map(|blocked| &blocked.subject)).in_words();
    match hosts.len() {
        1 if hosts[0].subject.host().is_none() => format!("{labels}{of}"),
        1 => format!("host {labels}{of}"),
        count if count <= FEW => format!("{what}{of}, {labels}"),
        count => format!("{what}{of}, {labels} and {} more", count - FEW),
    }
}

/// The notices without those that the verdict has, folded; the items are the first few of each code.
pub fn notices(plan: &Plan) -> PagePart<'_> {
    let mut of_code: HashMap<NoticeCode, usize> = HashMap::new();
    let mut worth: Vec<AlikeNotices> = Vec::new();
    let mut counts: BTreeMap<NoticeCode, usize> = BTreeMap::new();
    for alike in alike::gather(plan, plan.notices.iter().filter(|notice| !notice.code.tells_of_less())) {
        *counts.entry(alike.code).or_default() += alike.count;
        let seen = of_code.entry(alike.code).or_default();
        *seen += 1;
        if *seen <= FEW {
            worth.push(alike);
        }
    }
    let items = worth.len();
    let text = move |shown: usize| {
        let all: usize = counts.values().sum();
        if all == 0 {
            return String::new();
        }
        let by_code = counts.iter().map(|(code, count)| format!("{count} {code}")).collect::<Vec<_>>().join(", ");
        if shown == 0 {
            return format!("Notices: {by_code}.\n");
        }
        let list: String = worth[..shown].iter().map(|alike| format!("- {}\n", sentence(&alike.says, code))).collect();
        let more = match all - worth[..shown].iter().map(|alike| alike.count).sum::<usize>() {
            0 => String::new(),
            more => format!("- and {}, not shown here\n", counted(more, "more notice")),
        };
        format!("<details>\n<summary>Notices: {by_code}</summary>\n\n{list}{more}\n</details>\n")
    };
    PagePart { name: "notices", items, share: 25, text: Box::new(text) }
}

/// How many hosts are skipped, and how many RRsets wait to be deleted.
pub fn rest(plan: &Plan) -> PagePart<'_> {
    let mut codes: BTreeMap<SkipCode, usize> = BTreeMap::new();
    plan.skipped.iter().for_each(|skipped| *codes.entry(skipped.code).or_default() += 1);
    let mut out = String::new();
    if !codes.is_empty() {
        let by_code = codes.iter().map(|(code, count)| format!("{count} {code}")).collect::<Vec<_>>().join(", ");
        out.push_str(&format!(
            "Skipped, zonewright leaves them alone: {} ({by_code}).\n",
            SubjectCounts::of(plan.skipped.iter().map(|skipped| &skipped.subject)).in_words()
        ));
    }
    if !plan.waiting.is_empty() {
        let blank = if out.is_empty() { "" } else { "\n" };
        let waiting = SubjectCounts::of(plan.waiting.iter().map(|waiting| &waiting.subject)).in_words();
        let next = next_wave(&plan.waiting);
        let next = next.map(|next| format!(", the next one from {} on", code(&next.to_string()))).unwrap_or_default();
        let groups: String = group_lines(&plan.waves).iter().map(|line| format!("- {}\n", plain(line))).collect();
        out.push_str(&format!("{blank}Goes in waves: {waiting} in later ones{next}.\n\n{groups}"));
    }
    if !plan.delayed.is_empty() {
        let wait = if plan.delayed.len() == 1 { "waits" } else { "wait" };
        let due = plan.delayed.iter().filter_map(|waiting| waiting.due).min();
        let due = due.map(|due| format!(", the first until {}", code(&due.to_string()))).unwrap_or_default();
        let blank = if out.is_empty() { "" } else { "\n" };
        let rrsets = counted(plan.delayed.len(), "RRset");
        out.push_str(&format!("{blank}{rrsets} without a {} {wait} to be deleted{due}.\n", without(plan)));
    }
    if !plan.blocked.is_empty() || !plan.skipped.is_empty() || !plan.notices.is_empty() {
        let blank = if out.is_empty() { "" } else { "\n" };
        out.push_str(&format!("{blank}`zonewright help CODE` explains a code.\n"));
    }
    PagePart { name: "skipped", items: 0, share: 100, text: Box::new(move |_| out.clone()) }
}
