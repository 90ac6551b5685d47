//! Whether all formats tell the same of a plan.

use std::collections::BTreeMap;

use super::*;
use crate::diag::Problem;
use crate::plan::{ChangeKind, Notice, NoticeCode, Plan, fixture};

/// What a plan is, by its verdict.
fn plans() -> Vec<(&'static str, Plan, PlanOutlook)> {
    let notice = |code| Notice {
        code,
        name: "hosts".to_owned(),
        subject: None,
        message: "racktables/hosts.csv was cut".to_owned(),
    };
    let bare = || Plan { limits: Vec::new(), notices: Vec::new(), ..fixture::fleet() };
    let with = |code| Plan { notices: vec![notice(code)], ..bare() };
    let only_deletes = |plan: Plan| {
        let is_delete = |change: &crate::plan::Change| matches!(change.kind, ChangeKind::Delete { .. });
        Plan { changes: plan.changes.iter().filter(|change| is_delete(change)).cloned().collect(), ..plan }
    };
    let refusal = Problem::new("the plan", "breaker-tripped", "the breaker `project:web` is tripped").hint("reset it");
    let refused = PlanOutlook { refusal: Some(refusal), ..PlanOutlook::default() };
    let view = PlanOutlook { hidden: Some(3), ..PlanOutlook::default() };
    let saved = PlanOutlook { file: Some("plan.json".to_owned()), ..PlanOutlook::default() };
    let undo = Plan { undoes: Some(12), ..bare() };
    let idle = Plan { blocked: Vec::new(), skipped: Vec::new(), ..fixture::empty() };
    vec![
        ("ready", bare(), saved.clone()),
        ("ready", only_deletes(bare()), PlanOutlook::default()),
        ("ready", undo, saved),
        ("ready", Plan { limits: Vec::new(), notices: Vec::new(), ..fixture::reviewed() }, PlanOutlook::default()),
        ("view", bare(), view.clone()),
        ("view", fixture::empty(), view.clone()),
        ("idle", idle, PlanOutlook::default()),
        ("partial", with(NoticeCode::SourceUnknown), PlanOutlook::default()),
        ("partial", with(NoticeCode::ZoneUnknown), PlanOutlook::default()),
        ("partial", with(NoticeCode::SourceUntrusted), PlanOutlook::default()),
        ("partial", Plan { changes: Vec::new(), ..with(NoticeCode::SourceUnknown) }, PlanOutlook::default()),
        ("refused", fixture::reviewed(), PlanOutlook::default()),
        ("refused", fixture::reviewed(), view),
        ("refused", bare(), refused),
    ]
}

/// A plan in a format.
fn printed(plan_value: &Plan, outlook: &PlanOutlook, format: PlanFormat) -> String {
    let sealed = SealedPlan::new(plan_value.clone());
    let templates = Templates::load(BTreeMap::new()).unwrap();
    let options = TextOptions { width: 1000, verbose: true, ..TextOptions::default() };
    plan(&sealed, outlook, format, &templates, &options).unwrap()
}

/// What a report says of a plan: that it is refused, that it is not complete, that not all of it is shown, that it is safe.
fn told(format: PlanFormat, text: &str) -> [bool; 4] {
    let has = |part: &str| text.contains(part);
    match format {
        PlanFormat::Text => [
            text.starts_with("Refused by "),
            has("no plan for ") || has("No plan: ") || has(" errors: "),
            has("; 3 more changes not shown."),
            has("live DNS matches the inventory"),
        ],
        PlanFormat::Markdown => [
            has("\n**Refused by "),
            has("**Not complete: ") || has("- **not read:** ") || has("- **not trusted:** "),
            has("- **a view:** 3 more changes of the plan are not shown and not counted here"),
            has("✅"),
        ],
        PlanFormat::Html => [
            has("<h1 class=\"verdict refused\">"),
            has("<h1 class=\"verdict partial\">")
                || has("racktables/hosts.csv was cut</li>")
                || has("its last line has no end</li>"),
            has("3 more changes of the plan are not shown. "),
            has("<p class=\"state ready\">") || has("live DNS matches the inventory</span>"),
        ],
        PlanFormat::Junit => {
            let fails = |code: &str| has(&format!("<failure type=\"{code}\""));
            [
                fails("limit-exceeded") || fails("breaker-tripped"),
                LESS.iter().any(|code| fails(code.as_str())),
                has("<property name=\"scope\" value=\"A view: 3 more changes of the plan are not shown\"/>"),
                !has("<failure"),
            ]
        }
        PlanFormat::Diff => {
            let (less, view) = (has("# not complete: "), has("# A view: 3 more changes of the plan are not shown"));
            [has("# refused as it is: "), less, view, !has("# ")]
        }
        PlanFormat::Json => unreachable!("it is what the others are compared with"),
    }
}

/// The notices that say that a plan is not complete.
const LESS: [NoticeCode; 6] = [
    NoticeCode::SourceUnknown,
    NoticeCode::ZoneUnknown,
    NoticeCode::BadSettings,
    NoticeCode::UnknownSet,
    NoticeCode::RecordsUnread,
    NoticeCode::SourceUntrusted,
];

/// The formats for people and their tools.
const FORMATS: [PlanFormat; 5] =
    [PlanFormat::Text, PlanFormat::Markdown, PlanFormat::Html, PlanFormat::Diff, PlanFormat::Junit];

#[test]
fn every_format_tells_what_speaks_against_a_plan() {
    for (what, plan, outlook) in plans() {
        let is_refused = outlook.refusal.is_some() || plan.limits.iter().any(|limit| limit.exceeded);
        let is_less = plan.notices.iter().any(|notice| LESS.contains(&notice.code));
        let is_view = outlook.hidden.is_some();
        for format in FORMATS {
            let text = printed(&plan, &outlook, format);
            let [refused, less, view, safe] = told(format, &text);
            assert_eq!([refused, less, view], [is_refused, is_less, is_view], "{what} {format:?}: {text}");
            assert!(!(safe && (is_refused || is_less)), "{what} {format:?} looks safe: {text}");
            assert_eq!(text, printed(&plan, &outlook, format), "the same bytes");
        }
    }
}

/// What a report counts: RRsets that are created, modified and deleted, blocked and skipped hosts.
fn counted(format: PlanFormat, text: &str) -> [usize; 5] {
    let number = |text: &str| text.trim_matches('*').parse().unwrap_or(0);
    match format {
        PlanFormat::Markdown => {
            let heading = text.lines().find(|line| line.starts_with("### ")).unwrap_or_default();
            [" to create", " to modify", " to delete", " blocked", " skipped"].map(|what| {
                let before = heading.split_once(what).map_or("", |(before, _)| before);
                number(before.rsplit(' ').next().unwrap_or_default())
            })
        }
        PlanFormat::Text => {
            let is_total = |line: &&str| line.trim_start_matches(['|', ' ', '*']).starts_with("total");
            let row = text.lines().find(is_total).unwrap_or_default();
            let cells: Vec<&str> = row.split([' ', '|']).filter(|cell| !cell.is_empty()).collect();
            std::array::from_fn(|place| cells.get(place + 2).map_or(0, |cell| number(cell)))
        }
        PlanFormat::Html => ["create", "modify", "delete", "blocked", "skipped"].map(|what| {
            let rest = text.split_once(&format!("<dt>{what}</dt><dd>")).map_or("0<", |(_, rest)| rest);
            number(rest.split_once('<').unwrap().0)
        }),
        PlanFormat::Junit => {
            let projects = || text.lines().skip_while(|line| !line.contains("zonewright.project."));
            let all = projects().collect::<Vec<_>>().join("\n");
            let sum = |word: &str| {
                let word = format!("{word} ");
                let counts = all.split(&word).skip(1);
                counts.map(|rest| number(rest.split([',', '<']).next().unwrap())).sum()
            };
            let cases = |outcome: &str| all.matches(outcome).count();
            [sum("create"), sum("modify"), sum("delete"), cases("<failure "), cases("<skipped ")]
        }
        PlanFormat::Diff | PlanFormat::Json => unreachable!("one has no counts, with the others all are held"),
    }
}

#[test]
fn every_format_counts_the_same() {
    for (what, plan, outlook) in plans() {
        let document: serde_json::Value = serde_json::from_str(&printed(&plan, &outlook, PlanFormat::Json)).unwrap();
        let list = |name: &str| document[name].as_array().unwrap();
        let kind = |before: bool, after: bool| {
            let is = |change: &&serde_json::Value| {
                change["before"].is_null() != before && change["after"].is_null() != after
            };
            list("changes").iter().filter(is).count()
        };
        let of_kinds = [kind(false, true), kind(true, true), kind(true, false)];
        let expected = [&of_kinds[..], &[list("blocked").len(), list("skipped").len()]].concat();
        for format in [PlanFormat::Text, PlanFormat::Markdown, PlanFormat::Html, PlanFormat::Junit] {
            let text = printed(&plan, &outlook, format);
            assert_eq!(counted(format, &text).to_vec(), expected, "{what} {format:?}: {text}");
        }
    }
}

#[test]
fn numbers_of_a_saved_plan_overflow_nothing() {
    let mut plan = fixture::fleet();
    for limit in &mut plan.limits {
        (limit.used, limit.planned, limit.max, limit.of) = (u64::MAX, u64::MAX, u64::MAX, Some(1));
    }
    for format in FORMATS {
        assert!(!printed(&plan, &PlanOutlook::default(), format).is_empty());
    }
}
