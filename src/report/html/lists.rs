//! The lists of a page: causes, what gets no change and why, notices, what waits, limits, sources, zones.
//!
//! Comes in: a plan. Goes out: for each list what is shown, and how much more there is: a browser lays out all that it
//! is given, and no person reads a very long list to its end.

use std::collections::BTreeMap;

use serde::Serialize;

use super::escape::{counted, grouped, subjects};
use crate::claim::Subject;
use crate::codes;
use crate::plan::{
    BlockCode, BlockedSubject, Cause, DelayedRrset, Notice, NoticeCode, Plan, Review, SkipCode, SkippedSubject,
    WaitingSubject,
};
use crate::report::alike::{self, is_of_target};
use crate::report::copies::SeveralTargets;
use crate::report::counts::PlanCounts;
use crate::report::data::rrset;
use crate::report::gather::{gather, waits};
use crate::report::host_label::{host_label, subject_label};
use crate::report::source_url::SourceUrl;
use crate::report::summary::{SubjectCounts, serial_text};
use crate::report::words::ExplainedCode as _;

/// How many items of a list are in the page at most: more than a person reads, and little to lay out.
pub const LONG: usize = 200;

/// How many items of a list are seen while it is folded.
const FEW: usize = 12;

/// The items of a list that are shown, and how many more there are.
#[derive(Serialize)]
pub struct ShownItems<T> {
    /// Those that are shown.
    items: Vec<T>,
    /// How many more there are, its thousands apart; none where all are shown.
    more: Option<String>,
}

/// Shows the first items of a list.
fn shown<A, T>(all: &[A], view: impl FnMut(&A) -> T) -> ShownItems<T> {
    shown_up_to(LONG, all, view)
}

/// Shows the first `most` items of a list.
fn shown_up_to<A, T>(most: usize, all: &[A], view: impl FnMut(&A) -> T) -> ShownItems<T> {
    let items = all.iter().take(most).map(view).collect();
    let more = all.len().saturating_sub(most);
    ShownItems { items, more: (more > 0).then(|| grouped(more as u64)) }
}

/// A cause of some changes.
#[derive(Serialize)]
pub struct HtmlCause {
    /// Its place, by which the script shows its changes.
    place: usize,
    /// The class; none without a base.
    class: Option<&'static str>,
    /// The kind.
    kind: &'static str,
    /// In words.
    says: String,
    /// The lines that say so.
    places: Vec<LineView>,
    /// Whether what differs explains it.
    is_explained: bool,
    /// How many changes of how many hosts.
    count: String,
}

/// A line of an export.
#[derive(Serialize)]
struct LineView {
    /// `file:line`.
    text: String,
    /// Where it is to be seen; none where that is not known.
    url: Option<String>,
}

/// The causes: those that are seen at once, and those that are folded.
#[derive(Serialize)]
pub struct CausesView {
    /// Both, the second only where there are any.
    parts: Vec<CausesPart>,
    /// How many more there are.
    more: Option<String>,
}

/// Some causes, one behind another.
#[derive(Serialize)]
struct CausesPart {
    /// Which the first of them is, from 1.
    first: usize,
    /// They.
    items: Vec<HtmlCause>,
}

/// The causes, in their order.
pub fn causes(plan: &Plan, review: &Review, source: Option<&SourceUrl>) -> CausesView {
    /// How many are seen at once: so many that the changes are not out of sight.
    const SEEN: usize = 8;
    let mut place = 0;
    let ShownItems { mut items, more } = shown(&review.causes, |cause| {
        place += 1;
        view(plan, source, cause, place - 1)
    });
    let folded = items.split_off(items.len().min(SEEN));
    let parts = [CausesPart { first: 1, items }, CausesPart { first: SEEN + 1, items: folded }];
    CausesView { parts: parts.into_iter().filter(|part| !part.items.is_empty()).collect(), more }
}

/// A cause.
fn view(plan: &Plan, source: Option<&SourceUrl>, cause: &Cause, place: usize) -> HtmlCause {
    let mut counts = PlanCounts::default();
    cause.changes.iter().for_each(|change| counts.count(&plan.changes[*change as usize]));
    let all = counts.subjects();
    let of = if all == SubjectCounts::default() { String::new() } else { format!(" of {}", subjects(all, 0)) };
    HtmlCause {
        place,
        class: cause.class.map(|class| class.as_str()),
        kind: cause.kind.as_str(),
        says: cause.says.clone(),
        places: cause
            .places
            .iter()
            .map(|text| LineView { text: text.clone(), url: source.and_then(|source| source.link(text)) })
            .collect(),
        is_explained: cause.is_explained,
        count: format!("{}{of}", counted(cause.changes.len(), "change")),
    }
}

/// The items of one code.
#[derive(Serialize)]
pub struct CodeItems<T> {
    /// The code.
    code: &'static str,
    /// What it means.
    brief: &'static str,
    /// What its page says.
    help: CodeHelp,
    /// How many there are.
    count: String,
    /// Whether they are few, and seen at once.
    is_short: bool,
    /// The items, or groups of them.
    groups: ShownItems<T>,
}

/// What the page of a code says, as `zonewright help CODE` prints it.
#[derive(Serialize)]
pub struct CodeHelp {
    /// What it means.
    means: &'static str,
    /// What to do.
    advice: &'static str,
}

/// What the page of a code says. A test checks that each code has one.
fn help(code: &str) -> CodeHelp {
    let page = codes::find(code);
    let text = |part: fn(&'static codes::CodePage) -> &'static str| page.map(part).unwrap_or_default();
    CodeHelp { means: text(|page| &page.means), advice: text(|page| &page.advice) }
}

/// Blocked hosts that one hint helps.
#[derive(Serialize)]
pub struct HintFaults {
    /// What to do.
    hint: String,
    /// The faults, those with most hosts first.
    faults: ShownItems<FaultHosts>,
}

/// Hosts with one fault.
#[derive(Serialize)]
pub struct FaultHosts {
    /// What is wrong.
    message: String,
    /// The hosts.
    hosts: HostList,
}

/// Some hosts.
#[derive(Serialize)]
pub struct HostList {
    /// How many.
    count: String,
    /// Whether there is only one.
    is_one: bool,
    /// Their project where they have one in common; empty where not.
    project: String,
    /// Their names and numbers.
    list: String,
}

/// The blocked hosts by code, hint and message; the codes in the order in which they are tried.
pub fn blocked(plan: &Plan) -> Vec<CodeItems<HintFaults>> {
    let mut codes: BTreeMap<BlockCode, Vec<&BlockedSubject>> = BTreeMap::new();
    plan.blocked.iter().for_each(|blocked| codes.entry(blocked.code).or_default().push(blocked));
    let of_code = |(code, all): (BlockCode, Vec<&BlockedSubject>)| CodeItems {
        code: code.as_str(),
        brief: code.words().brief,
        help: help(code.as_str()),
        count: subjects(SubjectCounts::of(all.iter().map(|blocked| &blocked.subject)), 0),
        is_short: gather(&all, |blocked| &blocked.message).len() <= FEW,
        groups: shown(&gather(&all, |blocked| &blocked.hint), |of_hint| HintFaults {
            hint: of_hint[0].hint.clone(),
            faults: shown(&gather(of_hint, |blocked| &blocked.message), |of_fault| FaultHosts {
                message: of_fault[0].message.clone(),
                hosts: hosts(plan, of_fault.iter().map(|blocked| (&blocked.subject, blocked.project.as_str()))),
            }),
        }),
    };
    codes.into_iter().map(of_code).collect()
}

/// The skipped hosts by code and project.
pub fn skipped(plan: &Plan) -> Vec<CodeItems<HostList>> {
    let mut codes: BTreeMap<SkipCode, BTreeMap<&str, Vec<&SkippedSubject>>> = BTreeMap::new();
    for skipped in &plan.skipped {
        codes.entry(skipped.code).or_default().entry(&skipped.project).or_default().push(skipped);
    }
    let of_code = |(code, projects): (SkipCode, BTreeMap<&str, Vec<&SkippedSubject>>)| CodeItems {
        code: code.as_str(),
        brief: code.words().brief,
        help: help(code.as_str()),
        count: subjects(SubjectCounts::of(projects.values().flatten().map(|skipped| &skipped.subject)), 0),
        is_short: projects.len() <= FEW,
        groups: shown(&projects.into_values().collect::<Vec<_>>(), |all| {
            hosts(plan, all.iter().map(|skipped| (&skipped.subject, skipped.project.as_str())))
        }),
    };
    codes.into_iter().map(of_code).collect()
}

/// Some hosts with their projects, at least one.
fn hosts<'a>(plan: &Plan, hosts: impl Iterator<Item = (&'a Subject, &'a str)>) -> HostList {
    let all: Vec<(&Subject, &str)> = hosts.collect();
    let label = |subject: &Subject| match subject.host() {
        Some(host) if all.len() == 1 => format!("host {}", host_label(plan, host)),
        _ => subject_label(plan, subject),
    };
    let labels: Vec<String> = all.iter().take(LONG).map(|(subject, _)| label(subject)).collect();
    let more = all.len() - labels.len();
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let project = all[0].1;
    let is_common = all.iter().all(|(_, other)| *other == project);
    HostList {
        count: subjects(SubjectCounts::of(all.iter().map(|(subject, _)| *subject)), 0),
        is_one: all.len() == 1,
        project: if is_common { project.to_owned() } else { String::new() },
        list: format!("{}{more}", labels.join(", ")),
    }
}

/// The notices by code. A pool of several targets may have one for each host or zone: of these a few are enough.
pub fn notices(plan: &Plan) -> Vec<CodeItems<String>> {
    let of_code = |all: &[Notice]| {
        let code = all[0].code;
        let is_of_copies = is_of_target(code) || code == NoticeCode::CopiesDiffer;
        let says = messages(plan, all);
        CodeItems {
            code: code.as_str(),
            brief: code.words().brief,
            help: help(code.as_str()),
            count: counted(all.len(), "notice"),
            is_short: says.len() <= FEW || is_of_copies,
            groups: shown_up_to(if is_of_copies { FEW } else { LONG }, &says, String::clone),
        }
    };
    plan.notices.chunk_by(|a, b| a.code == b.code).map(of_code).collect()
}

/// What notices of one code say; those about a target that say the same of several hosts are one.
fn messages(plan: &Plan, all: &[Notice]) -> Vec<String> {
    if is_of_target(all[0].code) {
        return alike::gather(plan, all.iter()).into_iter().map(|alike| alike.says).collect();
    }
    let says = |Notice { name, message, .. }: &Notice| {
        if message.contains(name) { message.clone() } else { format!("`{name}`: {message}") }
    };
    all.iter().map(says).collect()
}

/// What waits since one time, until one.
#[derive(Serialize)]
pub struct WaitsView {
    /// Since when, and until when.
    times: String,
    /// The RRsets, each with whose it was and by which rule it goes.
    rrsets: ShownItems<(String, String)>,
}

/// What waits, by its times.
pub fn waiting(plan: &Plan) -> Vec<WaitsView> {
    let view = |(times, all): (String, Vec<&DelayedRrset>)| WaitsView {
        times,
        rrsets: shown(&all, |waiting| {
            let host =
                waiting.subject.host().map(|host| format!("host {} of ", host_label(plan, host))).unwrap_or_default();
            let whose = format!("{} of {host}{}", waiting.rule.words().title, waiting.project);
            (rrset(waiting.key.rtype, waiting.key.owner.as_name()), whose)
        }),
    };
    waits(plan).into_iter().map(view).collect()
}

/// A table.
#[derive(Serialize)]
pub struct ListTable {
    /// What it is in the page's addresses.
    id: &'static str,
    /// What leads to it.
    word: &'static str,
    /// Its title.
    title: &'static str,
    /// The heads of its columns.
    heads: Vec<&'static str>,
    /// Its rows.
    rows: ShownItems<Vec<String>>,
}

/// The tables that have any rows.
pub fn tables(plan: &Plan) -> Vec<ListTable> {
    let all = [later_waves(plan), limits(plan), sources(plan), zones(plan)];
    all.into_iter().filter(|table| !table.rows.items.is_empty()).collect()
}

/// The subjects that would wait for a later wave.
fn later_waves(plan: &Plan) -> ListTable {
    let sorted: Vec<&WaitingSubject> = plan.waiting.iter().collect();
    let rows = shown(&sorted, |waiting| {
        let whose = waiting.subject.host().map(|host| host_label(plan, host));
        let until = waiting.until.map(|until| until.to_string());
        vec![
            whose.unwrap_or_else(|| waiting.subject.to_string()),
            waiting.project.clone(),
            waiting.code.to_string(),
            waiting.message.clone(),
            until.unwrap_or_else(|| "\u{2013}".to_owned()),
        ]
    });
    let heads = vec!["subject", "project", "code", "why", "from"];
    ListTable { id: "later", word: "Later waves", title: "Goes with later waves", heads, rows }
}

/// The limits; exceeded ones first.
fn limits(plan: &Plan) -> ListTable {
    let mut sorted: Vec<_> = plan.limits.iter().collect();
    sorted.sort_by_key(|limit| !limit.exceeded);
    let rows = shown(&sorted, |limit| {
        let numbers = [limit.used, limit.planned, limit.max].map(grouped);
        let exceeded = if limit.exceeded { "exceeded" } else { "" };
        [limit.name()].into_iter().chain(numbers).chain([exceeded.to_owned()]).collect()
    });
    ListTable {
        id: "limits",
        word: "Limits",
        title: "Limits",
        heads: vec!["limit", "used", "planned", "max", ""],
        rows,
    }
}

/// The exports.
fn sources(plan: &Plan) -> ListTable {
    let text = |value: Option<String>| value.unwrap_or_else(|| "\u{2013}".to_owned());
    let rows = shown(&plan.sources, |source| {
        let dated = text(source.dated.map(|dated| dated.to_string()));
        let max_age = text(source.max_age.map(|max_age| max_age.to_string()));
        vec![source.source.clone(), grouped(source.rows), dated, max_age]
    });
    let heads = vec!["source", "rows", "made", "max age"];
    ListTable { id: "sources", word: "Sources", title: "Sources as they were read", heads, rows }
}

/// The zones.
fn zones(plan: &Plan) -> ListTable {
    let several = SeveralTargets::find(plan);
    let rows = shown(&plan.zones, |zone| {
        let target = several.target_of(zone).map(str::to_owned).unwrap_or_default();
        let target = (!several.is_empty()).then_some(target);
        let cells = [zone.zone.to_string()].into_iter().chain(target);
        cells.chain([serial_text(zone.serial), grouped(zone.rrsets)]).collect()
    });
    let target = (!several.is_empty()).then_some("target");
    let heads = ["zone"].into_iter().chain(target).chain(["serial", "RRsets"]).collect();
    ListTable { id: "zones", word: "Zones", title: "Zones as they were read", heads, rows }
}
