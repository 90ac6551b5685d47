//! Tests how limits are counted, with entries of the ledger.

use super::*;
use crate::dns::Rtype;
use crate::guard::words;
use crate::inventory::value::Inv;
use crate::inventory::value::{Duration, Percent};
use crate::plan::fixture::{self, change, reason};
use crate::plan::{Rule, ZoneSeen};

/// A time so many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// Rules of these limits of hosts, as scope, period and number.
fn hosts(limits: &[(&str, u64, u64)]) -> LimitRules {
    let rule = |(scope, period, max): &(&str, u64, u64)| HostRule {
        scope: (*scope).to_owned(),
        period: Duration::from_secs(*period),
        max: *max,
        place: None,
    };
    LimitRules { hosts: limits.iter().map(rule).collect(), ..LimitRules::default() }
}

/// A plan that does something to an AAAA of each of these hosts of a project: `c`reate, `m`odify or `d`elete.
fn plan(project: &str, hosts: impl IntoIterator<Item = u64>, does: char) -> Plan {
    let changes = hosts.into_iter().map(|host| {
        let name = format!("h{host}.search.example.net");
        let (old, new): (&[&str], &[&str]) = (&["2001:db8::1"], &["2001:db8::2"]);
        let sides = match does {
            'c' => ((0, &[][..]), (60, new)),
            'm' => ((60, old), (60, new)),
            _ => ((60, old), (0, &[][..])),
        };
        let evidence = [format!("hosts.csv:{host}"), "projects/search.yaml:4".to_owned()];
        let evidence = evidence.each_ref().map(String::as_str);
        change((project, Some(host)), (&name, Rtype::AAAA), sides, &[reason(Rule::WrongAddress, Some(host), &evidence)])
    });
    let seen = ZoneSeen { managed: 400, rrsets: 900, ..fixture::empty().zones[1].clone() };
    Plan { changes: changes.collect(), zones: vec![seen], ..fixture::empty() }
}

/// A ledger in which hosts of `search` were changed at times.
fn ledger(entries: &[(u64, u64)]) -> Ledger {
    Ledger::new(
        entries.iter().map(|(host, second)| ("search".to_owned(), Subject::Host(Inv(*host)), at(*second))).collect(),
    )
}

/// The limits as text: name, numbers, whether exceeded.
fn told(counted: &[LimitState]) -> Vec<String> {
    let told = |limit: &LimitState| {
        let LimitState { used, planned, max, exceeded, .. } = limit;
        format!("{} {used}+{planned}/{max}{}", limit.name(), if *exceeded { " exceeded" } else { "" })
    };
    counted.iter().map(told).collect()
}

#[test]
fn a_host_that_was_changed_already_is_not_counted_again() {
    let rules = hosts(&[("global", 3600, 3), ("project:search", 3600, 2), ("project:web", 3600, 0)]);
    let found = count(&plan("search", [1, 2], 'c'), &rules, &ledger(&[(1, 0), (3, 0)]), at(60), &|_| LineKind::Other);
    assert_eq!(told(&found), ["global/1h 2+1/3", "project:search/1h 2+1/2 exceeded", "project:web/1h 0+0/0"]);
}

#[test]
fn a_plan_that_adds_no_host_exceeds_nothing() {
    let rules = hosts(&[("global", 3600, 1)]);
    let used = ledger(&[(1, 0), (2, 0)]);
    assert_eq!(
        told(&count(&plan("search", [1, 2], 'c'), &rules, &used, at(60), &|_| LineKind::Other)),
        ["global/1h 2+0/1"]
    );
    assert_eq!(
        told(&count(&plan("search", [3], 'c'), &rules, &used, at(60), &|_| LineKind::Other)),
        ["global/1h 2+1/1 exceeded"]
    );
}

#[test]
fn an_exceeded_limit_says_when_it_frees_up_unless_waiting_is_no_help() {
    let used = ledger(&[(1, 0), (2, 60), (3, 120)]);
    let found = count(&plan("search", 10..12, 'c'), &hosts(&[("project:search", 3600, 3)]), &used, at(200), &|_| {
        LineKind::Other
    });
    assert_eq!(found[0].frees, Some(at(3660)), "when the second host is as old as the period");
    assert_eq!(
        words::says(&found[0]),
        "project:search/1h: 3 used + 2 planned = 5 hosts, but at most 3 may change; without other changes, the plan \
         fits from 2026-11-20T03:01:00Z"
    );
    assert_eq!(words::allow(&found[0]), "--allow project:search/1h=5");
    let found = count(&plan("search", 10..14, 'c'), &hosts(&[("project:search", 3600, 3)]), &used, at(200), &|_| {
        LineKind::Other
    });
    assert_eq!((found[0].exceeded, found[0].frees), (true, None), "the plan alone is too much");
}

#[test]
fn shares_are_of_what_the_rules_manage_and_have_a_floor() {
    let share = |text: &str| Some(text.parse().unwrap());
    let count = |plan: &Plan, rules: &LimitRules| told(&shares(plan, rules));
    let name = "zone:search.example.net.";
    assert_eq!(count(&plan("search", 0..50, 'd'), &LimitRules::default()), [format!("{name}/max_delete 0+50/50")]);
    assert_eq!(
        count(&plan("search", 0..51, 'd'), &LimitRules::default()),
        [format!("{name}/max_delete 0+51/50 exceeded")]
    );
    let mut moved = plan("search", 0..60, 'd');
    moved.changes.extend(plan("search", 100..160, 'c').changes);
    assert_eq!(
        count(&moved, &LimitRules::default()),
        [format!("{name}/max_delete 0+60/60")],
        "as many are created as deleted"
    );
    moved.changes.pop();
    assert_eq!(count(&moved, &LimitRules::default()), [format!("{name}/max_delete 0+60/59 exceeded")]);
    assert_eq!(count(&plan("search", 0..120, 'm'), &LimitRules::default()), [format!("{name}/max_modify 0+120/1000")]);
    let mut large = plan("search", 0..2000, 'd');
    large.zones[0].managed = 19_995;
    let told = [format!("{name}/max_delete 0+2000/1999 exceeded")];
    assert_eq!(count(&large, &LimitRules::default()), told, "a tenth of a large zone, rounded down");
    assert_eq!(count(&plan("search", 0..300, 'c'), &LimitRules::default()), [""; 0], "what is created deletes nothing");
    let strict = LimitRules { max_delete: share("1%"), max_modify: share("0%"), ..LimitRules::default() };
    assert_eq!(count(&plan("search", 0..5, 'd'), &strict), [format!("{name}/max_delete 0+5/4 exceeded")]);
    assert_eq!(
        count(&plan("search", 0..1, 'm'), &strict),
        [format!("{name}/max_modify 0+1/1")],
        "one is always allowed"
    );
    assert_eq!(count(&plan("search", 0..2, 'm'), &strict), [format!("{name}/max_modify 0+2/1 exceeded")]);
    let unread = Plan { zones: Vec::new(), ..plan("search", 0..300, 'd') };
    assert_eq!(count(&unread, &strict), [""; 0], "the shares of an undo's zones are not known");
}

#[test]
fn what_one_new_line_causes_is_counted_from_twenty_changes_on() {
    let places = [(LimitKind::MaxByCause, "zonewright.toml:41".to_owned())].into();
    let rules = LimitRules { max_by_cause: Some(Percent::from_whole(50)), places, ..LimitRules::default() };
    let count = |hosts: u64, line: &dyn Fn(&str) -> LineKind| {
        count(&plan("search", 0..hosts, 'c'), &rules, &Ledger::default(), at(0), line)
    };
    let found = count(20, &|_| LineKind::Other);
    assert_eq!(told(&found), ["global/max_by_cause 0+20/10 exceeded"]);
    assert_eq!(
        words::says(&found[0]),
        "global/max_by_cause: 20 of 20 changes have the cause projects/search.yaml:4, but at most 10 may have it \
         (max_by_cause = \"50%\", zonewright.toml:41)"
    );
    assert_eq!(words::allow(&found[0]), "--allow global/max_by_cause=20");
    assert_eq!(told(&count(19, &|_| LineKind::Other)), [""; 0]);
    let found = count(20, &|place| if place == "projects/search.yaml:4" { LineKind::Old } else { LineKind::Other });
    assert_eq!(told(&found), ["global/max_by_cause 0+1/10"], "an old line causes nothing");
    assert_eq!(found[0].cause.as_deref(), Some("hosts.csv:0"));
    assert_eq!(told(&count(20, &|_| LineKind::Old)), [""; 0]);
}

#[test]
fn what_undoes_an_apply_has_no_cause() {
    let mut plan = plan("search", 0..30, 'd');
    for change in &mut plan.changes {
        change.reasons = vec![reason(Rule::Undo, change.subject.host().map(|host| host.0), &["apply:7:1"])];
    }
    let rules = LimitRules { max_by_cause: Some(Percent::from_whole(50)), ..LimitRules::default() };
    assert!(by_cause(&plan, &rules, &|_| LineKind::Other).is_none());
}

#[test]
fn counted_again_the_cause_is_the_one_that_was_found() {
    let rules = LimitRules { max_by_cause: Some(Percent::from_whole(100)), ..LimitRules::default() };
    let mut plan = plan("search", 0..20, 'c');
    plan.limits = count(&plan, &rules, &Ledger::default(), at(0), &|_| LineKind::Other);
    let strict = LimitRules { max_by_cause: Some(Percent::from_whole(10)), ..LimitRules::default() };
    let again = |rules: &LimitRules| recount(&plan, &[], rules, &Ledger::default(), at(9));
    assert_eq!(told(&again(&strict)), ["global/max_by_cause 0+20/2 exceeded"]);
    assert_eq!(told(&again(&LimitRules::default())), [""; 0]);
}

#[test]
fn a_host_that_is_done_already_is_not_counted_again() {
    let rules = hosts(&[("global", 3600, 5)]);
    let plan = plan("search", 0..20, 'm');
    let open: Vec<&Change> = plan.changes.iter().skip(18).collect();
    let counted = recount(&plan, &open, &rules, &Ledger::default(), at(0));
    assert_eq!(told(&counted)[0], "global/1h 0+2/5");
    assert_eq!(counted[1].planned, 20, "the share is that of the plan");
}
