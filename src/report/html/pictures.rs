//! The pictures of a page: bars, with their numbers in words next to them.
//!
//! Comes in: a plan and its review. Goes out: for each bar what it is called and what is drawn. A template makes SVG of
//! it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::escape::{counted, grouped};
use crate::guard::words;
use crate::inventory::value::Duration;
use crate::plan::{Change, ChangeKind, GroupWaves, LimitKind, LimitState, Plan, SourceSeen};
use crate::report::waves::now_and_later;

/// How many bars a picture has at most: what fits on a screen.
const BARS: usize = 12;

/// From how much of a limit on a plan is near to it, in percent: enough to look up before the next plan is refused.
const NEAR: u64 = 80;

/// Some bars.
#[derive(Debug, PartialEq, Serialize)]
pub struct Picture {
    /// What it is in the page's addresses.
    id: &'static str,
    /// What it shows.
    title: &'static str,
    /// What else there is to know of it.
    note: String,
    /// Whether its colours are those of kinds of changes.
    of_kinds: bool,
    /// Whether there is little room for it on a phone, where it is folded.
    is_folded: bool,
    /// The bars.
    bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, PartialEq, Serialize)]
pub struct Bar {
    /// What it is of.
    label: String,
    /// Its numbers, as the page has them next to it.
    numbers: String,
    /// Its numbers in words.
    desc: String,
    /// The parts, from left to right.
    parts: Vec<BarPart>,
    /// Where a mark is, in percent.
    mark: Option<String>,
}

/// A part of a bar.
#[derive(Debug, PartialEq, Serialize)]
pub struct BarPart {
    /// What it is, for the style.
    class: &'static str,
    /// Where it begins, in percent.
    x: String,
    /// How wide it is, in percent.
    width: String,
}

/// The pictures of a plan that have anything to show.
pub fn pictures(plan: &Plan) -> Vec<Picture> {
    let all = [projects(plan), locations(plan), waves(plan), limits(plan), sources(plan)];
    all.into_iter().flatten().collect()
}

/// How many changes create, modify and delete.
type KindCounts = [usize; 3];

/// The changes by project.
fn projects(plan: &Plan) -> Option<Picture> {
    let kinds = by(plan, |change| change.project.as_str());
    of_kinds("by-project", "Changes by project", kinds)
}

/// The changes by location, where the location of a changed host is known.
fn locations(plan: &Plan) -> Option<Picture> {
    let known = |change: &Change| Some(plan.hosts.get(&change.subject.host()?)?.location.as_str());
    plan.changes.iter().find_map(known)?;
    let kinds = by(plan, |change| known(change).unwrap_or("elsewhere"));
    of_kinds("by-location", "Changes by location", kinds)
}

/// Counts changes by a text of theirs.
fn by<'a>(plan: &'a Plan, text: impl Fn(&'a Change) -> &'a str) -> BTreeMap<&'a str, KindCounts> {
    let mut counts: BTreeMap<&str, KindCounts> = BTreeMap::new();
    for change in &plan.changes {
        let place = match change.kind {
            ChangeKind::Create { .. } => 0,
            ChangeKind::Modify { .. } => 1,
            ChangeKind::Delete { .. } => 2,
        };
        counts.entry(text(change)).or_default()[place] += 1;
    }
    counts
}

/// A picture of changes by kind: most first, and what has no bar of its own in a last one.
fn of_kinds(id: &'static str, title: &'static str, counts: BTreeMap<&str, KindCounts>) -> Option<Picture> {
    let total = |kinds: &KindCounts| kinds.iter().sum::<usize>();
    let mut sorted: Vec<(String, KindCounts)> =
        counts.into_iter().map(|(name, kinds)| (name.to_owned(), kinds)).collect();
    sorted.sort_by_key(|(_, kinds)| std::cmp::Reverse(total(kinds)));
    if sorted.len() > BARS {
        let rest = sorted.split_off(BARS - 1);
        let sum = |place: usize| rest.iter().map(|(_, kinds)| kinds[place]).sum();
        sorted.push((format!("{} others", grouped(rest.len() as u64)), [sum(0), sum(1), sum(2)]));
    }
    let full = sorted.iter().map(|(_, kinds)| total(kinds)).max()?;
    let bars = sorted.into_iter().map(|(label, kinds)| of_kind(label, kinds, full)).collect();
    Some(Picture { id, title, note: String::new(), of_kinds: true, is_folded: false, bars })
}

/// The bar of some changes; `full` of them would fill it.
fn of_kind(label: String, kinds: KindCounts, full: usize) -> Bar {
    const SIGNS: [(&str, &str, char); 3] =
        [("create", "created", '+'), ("modify", "modified", '~'), ("delete", "deleted", '\u{2212}')];
    let named = || SIGNS.into_iter().zip(kinds).filter(|(_, count)| *count > 0);
    let numbers: Vec<String> = named().map(|((.., sign), count)| format!("{sign}{}", grouped(count as u64))).collect();
    let words: Vec<String> = named().map(|((_, word, _), count)| format!("{} {word}", grouped(count as u64))).collect();
    let parts = parts(named().map(|((class, ..), count)| (class, count as f64)), full as f64);
    let desc = format!("{}: {}", counted(kinds.iter().sum(), "change"), words.join(", "));
    Bar { label, numbers: numbers.join("  "), desc, parts, mark: None }
}

/// What of each group would go now, and what with later waves; none where all goes at once.
fn waves(plan: &Plan) -> Option<Picture> {
    let sizes = now_and_later(plan);
    let sized = plan.waves.iter().filter_map(|own| Some((own, *sizes.get(own.group.as_str())?)));
    let mut sized: Vec<(&GroupWaves, (usize, usize))> = sized.filter(|(_, (_, later))| *later > 0).collect();
    let full = sized.iter().map(|(_, (now, later))| now + later).max()?;
    let more = sized.len().saturating_sub(BARS);
    sized.truncate(BARS);
    let bars = sized.into_iter().map(|(own, sizes)| wave_bar(own, sizes, full as f64)).collect();
    let more = if more > 0 { format!("; {} more groups", grouped(more as u64)) } else { String::new() };
    let note = format!("now, and later{more}");
    Some(Picture { id: "by-wave", title: "Waves", note, of_kinds: false, is_folded: false, bars })
}

/// The bar of a group of which so many go now and later; `full` subjects would fill it.
fn wave_bar(own: &GroupWaves, (now, later): (usize, usize), full: f64) -> Bar {
    let lasts = Duration::from_secs(own.seconds);
    let sizes = [now, later].map(|size| grouped(size as u64));
    let waves = counted(own.waves as usize, "wave");
    Bar {
        label: own.group.clone(),
        numbers: format!("{} now + {} later, {waves}, {lasts}", sizes[0], sizes[1]),
        desc: format!(
            "{} now and {} later, in {waves}; the last one {lasts} after the first at the earliest",
            sizes[0], sizes[1]
        ),
        parts: parts([("used", now as f64), ("planned", later as f64)], full),
        mark: None,
    }
}

/// How much of each limit is used: exceeded ones first, then the fullest.
fn limits(plan: &Plan) -> Option<Picture> {
    let fill = |limit: &LimitState| limit.used.saturating_add(limit.planned) as f64 / limit.max.max(1) as f64;
    let mut sorted: Vec<&LimitState> = plan.limits.iter().collect();
    sorted.sort_by(|a, b| b.exceeded.cmp(&a.exceeded).then(fill(b).total_cmp(&fill(a))));
    let more = sorted.len().saturating_sub(BARS);
    sorted.truncate(BARS);
    let more = match more {
        0 => String::new(),
        1 => "; 1 more is emptier".to_owned(),
        more => format!("; {} more are emptier", grouped(more as u64)),
    };
    let note = format!("used + planned of max{more}");
    let bars: Vec<Bar> = sorted.into_iter().map(limit).collect();
    (!bars.is_empty()).then_some(Picture {
        id: "limits-used",
        title: "Limits used",
        note,
        of_kinds: false,
        is_folded: true,
        bars,
    })
}

/// The bar of a limit, with a mark at its end where the plan goes beyond.
fn limit(limit: &LimitState) -> Bar {
    let LimitState { max, used, planned, exceeded, .. } = limit;
    let full = used.saturating_add(*planned).max(*max).max(1) as f64;
    let of = if limit.counts == LimitKind::Hosts { format!("{} + ", grouped(*used)) } else { String::new() };
    let total = used.saturating_add(*planned);
    // Words say the same as a colour.
    let (class, word) = match total.saturating_mul(100) / (*max).max(1) {
        _ if *exceeded => ("over", ", exceeded"),
        100.. if total > 0 => ("over", ", full"),
        NEAR.. => ("near", ", nearly full"),
        _ => ("planned", ""),
    };
    let numbers = format!("{of}{} of {}{word}", grouped(*planned), grouped(*max));
    Bar {
        label: limit.name(),
        numbers,
        desc: words::numbers(limit),
        parts: parts([("used", *used as f64), (class, *planned as f64)], full),
        mark: exceeded.then(|| percent(*max as f64 / full)),
    }
}

/// How old each export was, of what it may be; without those that have no limit.
fn sources(plan: &Plan) -> Option<Picture> {
    let limited = plan.sources.iter().filter_map(|source| Some((source, source.max_age?)));
    let bars: Vec<Bar> = limited.map(|(source, max_age)| age(plan, source, max_age)).collect();
    let note = "when the plan was made".to_owned();
    let (id, title) = ("ages", "Age of sources");
    (!bars.is_empty()).then_some(Picture { id, title, note, of_kinds: false, is_folded: true, bars })
}

/// The bar of an export's age, of what it may be.
fn age(plan: &Plan, source: &SourceSeen, max_age: Duration) -> Bar {
    let age = source.dated.map(|dated| plan.created.since(dated).unwrap_or(Duration::from_secs(0)));
    let bar =
        |numbers: String, desc: String, parts, mark| Bar { label: source.source.clone(), numbers, desc, parts, mark };
    let Some(age) = age else {
        return bar("undated".to_owned(), "it does not say when it was made".to_owned(), Vec::new(), None);
    };
    let is_old = age > max_age;
    let full = age.max(max_age).as_secs().max(1) as f64;
    let is_near = age.as_secs().saturating_mul(100) >= max_age.as_secs().saturating_mul(NEAR);
    let (class, word) = match (is_old, is_near) {
        (true, _) => ("over", ", too old"),
        (false, true) => ("near", ", nearly too old"),
        (false, false) => ("used", ""),
    };
    let numbers = format!("{} of {max_age}{word}", rough(age));
    let mark = is_old.then(|| percent(max_age.as_secs() as f64 / full));
    bar(
        numbers,
        format!("{} old, and it may be {max_age}", rough(age)),
        parts([(class, age.as_secs() as f64)], full),
        mark,
    )
}

/// A length of time without what is too small to matter.
fn rough(age: Duration) -> String {
    const UNITS: [u64; 3] = [86_400, 3600, 60];
    let seconds = age.as_secs();
    // Days come with hours, hours with minutes.
    let least = UNITS.windows(2).find(|pair| seconds >= pair[0]).map_or(1, |pair| pair[1]);
    Duration::from_secs(seconds / least * least).to_string()
}

/// The parts of a bar one behind another; `full` would fill it. What is not nothing can be seen.
fn parts(sizes: impl IntoIterator<Item = (&'static str, f64)>, full: f64) -> Vec<BarPart> {
    let mut end = 0.0;
    let part = |(class, size): (&'static str, f64)| {
        let (x, width) = (percent(end / full), percent((size / full).max(0.004)));
        end += size;
        BarPart { class, x, width }
    };
    sizes.into_iter().filter(|(_, size)| *size > 0.0).map(part).collect()
}

/// A share in percent, as SVG writes it.
fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::reach::takes_value;
    use crate::claim::Subject;
    use crate::inventory::value::Time;
    use crate::plan::{GroupSeen, WaitCode, WaitingSubject, fixture};

    /// What one picture of the fixture shows: of each bar the label, the numbers, the parts, and the mark.
    fn shown(id: &str) -> Vec<String> {
        let plan = fixture::reviewed();
        let pictures = pictures(&plan);
        let picture = pictures.into_iter().find(|picture| picture.id == id).unwrap();
        let part = |part: &BarPart| format!("{} {}", part.class, part.width);
        let bar = |bar: &Bar| {
            let parts: Vec<String> = bar.parts.iter().map(part).collect();
            format!("{} | {} | {} | {}", bar.label, bar.numbers, parts.join(", "), bar.mark.as_deref().unwrap_or("-"))
        };
        picture.bars.iter().map(bar).collect()
    }

    #[test]
    fn changes_are_counted_by_project_most_first() {
        insta::assert_snapshot!(shown("by-project").join("\n"), @r"
        search | +4  ~3  −3 | create 40.00%, modify 30.00%, delete 30.00% | -
        web | +2  ~1 | create 20.00%, modify 10.00% | -
        lab | −1 | delete 10.00% | -
        ");
    }

    #[test]
    fn changes_without_a_host_or_of_unknown_hosts_are_elsewhere() {
        insta::assert_snapshot!(shown("by-location").join("\n"), @r"
        SAS | +4  ~3  −2 | create 44.44%, modify 33.33%, delete 22.22% | -
        MYT | +2  ~1 | create 22.22%, modify 11.11% | -
        elsewhere | −2 | delete 22.22% | -
        ");
    }

    #[test]
    fn an_exceeded_limit_comes_first_and_has_a_mark_at_its_end() {
        insta::assert_snapshot!(shown("limits-used").join("\n"), @r"
        project:search/1h | 18 + 3 of 20, exceeded | used 85.71%, over 14.29% | 95.24%
        global/1d | 118 + 5 of 1000 | used 11.80%, planned 0.50% | -
        ");
    }

    #[test]
    fn ages_are_those_at_the_time_of_the_plan() {
        insta::assert_snapshot!(shown("ages").join("\n"), @r"
        agent | 15m of 1h | used 25.00% | -
        l3_tors | 5h20m of 6h, nearly too old | near 88.89% | -
        ");
    }

    #[test]
    fn many_projects_share_a_last_bar() {
        let mut plan = fixture::fleet();
        let change = plan.changes[0].clone();
        plan.changes = (0..30).map(|number| Change { project: format!("p{number:02}"), ..change.clone() }).collect();
        let pictures = pictures(&plan);
        let last = pictures[0].bars.last().unwrap();
        assert_eq!((pictures[0].bars.len(), last.label.as_str(), last.numbers.as_str()), (BARS, "19 others", "~19"));
    }

    #[test]
    fn a_bar_of_waves_has_the_pods_of_a_set_that_go_now_and_later() {
        let pod = |id: &str| Subject::pod("shop-web", id);
        let plan = fixture::fleet();
        let is_taken = |change: &&Change| takes_value(change) && change.kind.after().is_some();
        let taken = plan.changes.iter().find(is_taken).expect("a change that takes an address").clone();
        let change = |id: &str| Change { subject: pod(id), project: "shop".to_owned(), ..taken.clone() };
        // When two of them go is not known, and an SRV that waits is no pod.
        let waits = |subject: Subject, until: Option<Time>| WaitingSubject {
            code: WaitCode::Budget,
            message: "the budget is 1".to_owned(),
            project: "shop".to_owned(),
            since: plan.created,
            subject,
            until,
        };
        let endpoints: Subject = "endpoints:shop-web/http".parse().unwrap();
        let plan = Plan {
            changes: ["a", "b", "c", "d"].map(change).into(),
            waiting: vec![
                waits(pod("b"), Some(plan.created)),
                waits(pod("c"), None),
                waits(pod("d"), None),
                waits(endpoints, None),
            ],
            waves: vec![GroupWaves { group: "shop-web".to_owned(), seconds: 20, subjects: 2, waves: 2 }],
            groups: vec![GroupSeen { group: "shop-web".to_owned(), in_service: 4, unmet: None }],
            ..plan
        };
        let picture = waves(&plan).expect("a picture");
        assert_eq!(picture.bars[0].numbers, "1 now + 3 later, 2 waves, 20s");
    }

    #[test]
    fn lengths_of_time_are_rough() {
        let texts = [59, 3599, 3661, 90_061].map(|seconds| rough(Duration::from_secs(seconds)));
        assert_eq!(texts, ["59s", "59m59s", "1h1m", "1d1h"]);
    }
}
