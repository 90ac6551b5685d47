//! The page of `run`: how it is going. It needs no script: the browser asks for it again by itself.

use serde::Serialize;

use super::engine;
use super::escape::{counted, grouped};
use super::policy::policy;
use crate::inventory::value::{Duration, Time};
use crate::plan::SourceSeen;
use crate::report::running::{PassEnd, RunningMood, RunningNews, RunningRole, leader};
use crate::state::tallies::PoolTally;
use minijinja::Value;

/// What the page is made of.
const PAGE: &str = include_str!("../../../templates/run.html");

/// Its style: that of a plan's page.
const STYLE: &str = include_str!("../../../templates/plan.css");

/// After how many seconds a browser asks for it again.
const REFRESH: u64 = 15;

/// What is not known, or not there.
const NONE: &str = "\u{2013}";

/// What `run.html` gets.
#[derive(Serialize)]
struct RunningView {
    /// What the browser may load and run.
    policy: String,
    /// The style.
    style: Value,
    /// After how many seconds it is asked for again.
    refresh: u64,
    /// The class of the verdict's style.
    class: &'static str,
    /// A sign that differs without colour, too.
    sign: &'static str,
    /// The verdict.
    verdict: String,
    /// What went wrong, each with its lines.
    problems: Vec<Vec<String>>,
    /// The workspace.
    workspace: String,
    /// When the page was made.
    now: String,
    /// What is said about this process and its passes: a term and its words.
    facts: Vec<(&'static str, String)>,
    /// Whether there is a plan to look at.
    has_plan: bool,
    /// The tables that have rows.
    tables: Vec<RunningTable>,
}

/// A table.
#[derive(Serialize)]
struct RunningTable {
    /// What it is in the page's addresses.
    id: &'static str,
    /// Its title.
    title: &'static str,
    /// The heads of its columns.
    heads: Vec<&'static str>,
    /// Its rows.
    rows: Vec<Vec<String>>,
}

/// Renders what is known.
pub fn render(news: &RunningNews) -> String {
    let (mood, verdict) = news.verdict();
    let (class, sign) = match mood {
        RunningMood::Waiting => ("idle", "\u{2026}"),
        RunningMood::Well => ("ready", "\u{2713}"),
        RunningMood::InPart => ("partial", "!"),
        RunningMood::Trouble => ("refused", "\u{2715}"),
    };
    let of_pass = news.last.iter().filter_map(|last| last.problem.as_ref());
    let problems = news.obstacle.iter().map(|obstacle| &obstacle.why).chain(of_pass).chain(&news.state.breakers);
    let all = [pools(news), waves(news), drift(news), sources(news)];
    engine::rendered(
        PAGE,
        RunningView {
            policy: policy(STYLE, ""),
            style: Value::from_safe_string(STYLE.to_owned()),
            refresh: REFRESH,
            class,
            sign,
            verdict,
            problems: problems.map(|problem| problem.lines().map(str::to_owned).collect()).collect(),
            workspace: news.facts.workspace.clone(),
            now: news.now.to_second().to_string(),
            facts: facts(news),
            has_plan: news.plan.made.is_some(),
            tables: all.into_iter().filter(|table| !table.rows.is_empty()).collect(),
        },
    )
}

/// What is said about the process and its passes.
fn facts(news: &RunningNews) -> Vec<(&'static str, String)> {
    let ago = |time: Time| age(news.now, Some(time)) + " ago";
    let mut facts = Vec::new();
    if let Some(PassEnd { number, began, took, exit, .. }) = &news.last {
        let began = format!("{} ({})", began.to_second(), ago(*began));
        facts.push(("Last pass", format!("number {number}, begun {began}; it took {took}; exit code {exit}")));
    }
    if news.failures > 0 {
        let failures = counted(news.failures as usize, "failure");
        facts.push(("Failures", format!("{failures} in a row: the pauses are longer")));
    }
    if let Some(made) = news.plan.made {
        facts.push(("Last plan", format!("made {} ({})", made.to_second(), ago(made))));
    }
    if let Some(since) = news.busy_since {
        facts.push(("Now", format!("a pass is under way since {} ({})", since.to_second(), ago(since))));
    }
    if let Some(next) = news.next {
        let due = next.since(news.now).map_or_else(|| "now".to_owned(), |wait| format!("in {}", whole(wait)));
        facts.push(("Next pass", format!("{} ({due})", next.to_second())));
    }
    if news.state.unfinished > 0 {
        let number = grouped(news.state.unfinished as u64);
        facts.push(("Not ended", format!("applies: {number}; `zonewright resume` goes on")));
    }
    let role = match &news.role {
        RunningRole::Begins => "begins".to_owned(),
        RunningRole::Plans => "only plans".to_owned(),
        RunningRole::Leads => "makes the passes".to_owned(),
        RunningRole::Follows(holder) => format!("waits: {} leads", leader(holder.as_ref())),
    };
    let began = format!("{} ({})", news.facts.began.to_second(), ago(news.facts.began));
    facts.push(("This process", format!("{role}; started {began}; a pass every {}", news.facts.interval)));
    facts
}

/// A duration in whole seconds.
fn whole(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs())
}

/// How long ago something was; a dash where that is not known.
fn age(now: Time, then: Option<Time>) -> String {
    then.map_or_else(|| NONE.to_owned(), |then| whole(now.since(then).unwrap_or(Duration::from_secs(0))).to_string())
}

/// The pools.
fn pools(news: &RunningNews) -> RunningTable {
    let row = |pool: &PoolTally| {
        let served = pool.served.as_ref().map(|served| served.rrsets);
        let count = |number: Option<usize>| number.map_or_else(|| NONE.to_owned(), |number| grouped(number as u64));
        vec![
            pool.pool.to_string(),
            count(served.map(|served| served.done())),
            count(served.map(|served| served.pending)),
            count(served.map(|served| served.error)),
            count(Some(pool.changes_lacking())),
            count(Some(pool.zones_not_served())),
        ]
    };
    RunningTable {
        id: "pools",
        title: "Pools: RRsets as they are served",
        heads: vec!["pool", "served", "waiting", "not served", "lacking", "zones behind"],
        rows: news.state.pools.iter().map(row).collect(),
    }
}

/// What waits for later waves, and what is in flux.
fn waves(news: &RunningNews) -> RunningTable {
    let waiting = news.waits().map(|(code, count)| vec![code.to_string(), "waiting".to_owned(), grouped(count as u64)]);
    let flux = news.state.rollouts.iter().flat_map(|tally| &tally.flux).filter(|(_, count)| **count > 0);
    let flux = flux.map(|(group, count)| vec![group.clone(), "in flux".to_owned(), grouped(*count as u64)]);
    RunningTable {
        id: "waves",
        title: "Waves: hosts and pods",
        heads: vec!["why or whose", "what", "count"],
        rows: waiting.chain(flux).collect(),
    }
}

/// What is not as desired, by what moved.
fn drift(news: &RunningNews) -> RunningTable {
    let row = |(mover, count): &(crate::drift::Mover, usize)| vec![mover.to_string(), grouped(*count as u64)];
    RunningTable {
        id: "drift",
        title: "Drift: RRsets that were not as desired when the pass began",
        heads: vec!["what moved", "RRsets"],
        rows: news.plan.moved.iter().map(row).collect(),
    }
}

/// The sources, with their ages.
fn sources(news: &RunningNews) -> RunningTable {
    let row = |source: &SourceSeen| {
        let most = source.max_age.map_or_else(|| NONE.to_owned(), |most| most.to_string());
        vec![source.source.clone(), grouped(source.rows), age(news.now, source.dated), most]
    };
    RunningTable {
        id: "sources",
        title: "Sources",
        heads: vec!["source", "rows", "age", "max age"],
        rows: news.plan.sources.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::running::{Obstacle, PlanNews, RunningFacts, StateNews};
    use crate::state::LockHolder;

    /// What is known after a pass that ended so.
    fn after(exit: u8) -> RunningNews {
        let at = |text: &str| -> Time { text.parse().unwrap() };
        RunningNews {
            facts: RunningFacts {
                workspace: "/dns <&>".to_owned(),
                began: at("2026-11-20T00:00:00Z"),
                interval: Duration::from_secs(60),
                only_plans: false,
            },
            now: at("2026-11-20T02:00:00Z"),
            role: RunningRole::Leads,
            busy_since: None,
            next: Some(at("2026-11-20T02:00:30Z")),
            last: Some(PassEnd {
                number: 7,
                began: at("2026-11-20T01:59:00Z"),
                took: Duration::from_secs(2),
                exit,
                problem: Some("one <b>\ntwo".to_owned()),
                has_plan: exit != 1,
                is_behind: false,
            }),
            failures: 2,
            obstacle: None,
            has_broken_settings: false,
            plan: PlanNews { headline: "No changes".to_owned(), ..PlanNews::default() },
            state: StateNews { unfinished: 3, ..StateNews::default() },
        }
    }

    /// The verdict of a page, and its class.
    fn verdict(news: &RunningNews) -> (String, String) {
        let page = render(news);
        let (before, rest) = page.split_once("<h1 class=\"verdict ").unwrap();
        assert!(before.contains("http-equiv=\"refresh\"") && !page.contains("<script"));
        let (class, rest) = rest.split_once('"').unwrap();
        let words = rest.split("<span>").nth(1).unwrap().split("</span>").next().unwrap();
        assert_eq!(page.matches(words).count(), 3, "the title, and where it begins and ends: {words}");
        (class.to_owned(), words.to_owned())
    }

    #[test]
    fn a_page_begins_and_ends_with_the_verdict() {
        let of = |exit| verdict(&after(exit));
        let both = |class: &str, words: &str| (class.to_owned(), words.to_owned());
        assert_eq!(of(0), both("ready", "The last pass did what its plan says. No changes"));
        assert_eq!(of(1), both("refused", "The last pass failed: there is no plan"));
        assert_eq!(of(3), both("refused", "The last pass was refused: a person must look. No changes"));
        assert_eq!(of(4), both("partial", "The last pass was done in part; the next one goes on. No changes"));
        assert_eq!(of(5), both("ready", "The last pass sent what may go now; the rest waits. No changes"));
        let mut news = after(0);
        news.last.as_mut().unwrap().is_behind = true;
        let words = "The last pass did what its plan says, but not all servers have it. No changes";
        assert_eq!(verdict(&news), both("partial", words));
        news.obstacle = Some(Obstacle { is_config: true, why: "zonewright.toml:1:1".to_owned() });
        assert_eq!(verdict(&news).1, "The configuration is broken: nothing is changed until it is fixed");
        let holder = LockHolder { pid: Some(12), who: "ops".to_owned(), since: None };
        let news = RunningNews { role: RunningRole::Follows(Some(holder)), ..after(0) };
        assert_eq!(verdict(&news), both("idle", "Ready to take over: process 12 of ops leads"));
        assert_eq!(verdict(&RunningNews { last: None, ..after(0) }).1, "The first pass is under way");
    }

    #[test]
    fn a_page_says_what_went_wrong_and_nothing_in_it_is_markup() {
        let page = render(&after(3));
        assert!(page.contains("<code>one &lt;b&gt;</code><br><code>two</code>"), "{page}");
        assert!(page.contains("<code>/dns &lt;&amp;&gt;</code>"), "{page}");
        assert!(page.contains("number 7, begun 2026-11-20T01:59:00Z (1m ago); it took 2s; exit code 3"), "{page}");
        assert!(page.contains("2026-11-20T02:00:30Z (in 30s)") && page.contains("2 failures in a row"), "{page}");
        assert!(page.contains("applies: 3; <code>zonewright resume</code> goes on"), "{page}");
    }
}
