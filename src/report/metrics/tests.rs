//! Every metric is there, in a text that Prometheus reads, whatever the values are.

use std::collections::BTreeSet;

use super::*;
use crate::apply::{SubjectOutcome, ZoneWritten};
use crate::approval::{ApprovalMemory, CmsCallKind};
use crate::consensus::{VoterId, ZoneStatus};
use crate::diag::Problem;
use crate::drift::{of_one_target, strays};
use crate::inventory::cms::CmsVersion;
use crate::inventory::value::Inv;
use crate::plan::fixture::{self, fleet, reviewed, zone};
use crate::plan::{BlockedSubject, DelayedRrset, Notice, SealedPlan, WaitCode, ZoneAction};
use crate::report::running::{Obstacle, PlanNews, RunningFacts, StateNews};
use crate::state::tallies::{ServedTally, VoterTally};
use crate::state::{ApplyId, NewApply, WrittenRrset, ZoneActionRow};
use crate::target::{CopyId, TargetId};

/// A sample as it is read back: the family, the labels, the value.
type Sample = (String, Vec<(String, String)>, f64);

/// Reads the text format (version 0.0.4), and checks its rules: help and type before the samples of a family, no family
/// twice, names and escapes as they must be, no sample twice.
fn parsed(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n') && !text.contains("\n\n"));
    let (mut families, mut samples) = (BTreeSet::new(), Vec::<Sample>::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (family, help) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')).expect("help begins");
        assert!(!help.is_empty() && families.insert(family.to_owned()), "{line}");
        let kind = if family.ends_with("_sum") { "untyped" } else { "gauge" };
        assert_eq!(lines.next(), Some(format!("# TYPE {family} {kind}").as_str()));
        let before = samples.len();
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let sample = sample(line);
            assert_eq!(sample.0, family);
            assert!(!samples.iter().any(|other| other.0 == sample.0 && other.1 == sample.1), "twice: {line}");
            samples.push(sample);
        }
        assert!(samples.len() > before, "{family} has no samples");
    }
    samples
}

/// Reads one sample.
fn sample(line: &str) -> Sample {
    let (family, rest) = line.split_once('{').expect("every sample has labels");
    assert!(family.bytes().all(|octet| octet.is_ascii_lowercase() || octet == b'_'), "{line}");
    let (mut labels, mut rest) = (Vec::new(), rest);
    loop {
        let (name, value) = rest.split_once("=\"").expect("a label has a value in quotes");
        assert!(name.bytes().all(|octet| octet.is_ascii_lowercase() || octet == b'_'), "{line}");
        let (mut text, mut chars) = (String::new(), value.char_indices());
        let end = loop {
            match chars.next().expect("a value ends").1 {
                '"' => break chars.offset(),
                '\\' => text.push(match chars.next().expect("an escape ends").1 {
                    'n' => '\n',
                    c @ ('"' | '\\') => c,
                    c => panic!("\\{c} is no escape: {line}"),
                }),
                c => text.push(c),
            }
        };
        labels.push((name.to_owned(), text));
        rest = &value[end..];
        match rest.strip_prefix("} ") {
            Some(number) => return (family.to_owned(), labels, number.parse().expect("a number ends the line")),
            None => rest = rest.strip_prefix(',').expect("a comma parts labels"),
        }
    }
}

/// The value of the one sample of a family with these labels and the command.
fn value(samples: &[Sample], family: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let is_own = |sample: &&Sample| {
        let (name, own, _) = sample;
        let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        name == family && own[0].0 == "command" && own[1..] == *labels
    };
    samples.iter().find(is_own).map(|(_, _, value)| *value)
}

/// A refusal.
fn refusal() -> Problem {
    Problem::new("the plan", "limit-exceeded", "too many")
}

/// What an apply left behind that ended.
fn last() -> ApplySummary {
    let started = "2026-11-20T01:00:00Z".parse().unwrap();
    ApplySummary {
        id: ApplyId(12),
        new: NewApply {
            plan: String::new(),
            effect: String::new(),
            started,
            who: String::new(),
            reason: None,
            inputs: BTreeMap::new(),
            hosts: 3,
            undoes: None,
            is_whole: true,
        },
        finished: Some("2026-11-20T01:00:01.5Z".parse().unwrap()),
        outcomes: [("applied".to_owned(), 2), ("stale".to_owned(), 1)].into(),
        updates_done: 1,
        updates_open: 0,
        is_sync: false,
        resumed: vec![],
    }
}

/// What a state says of a pool with one of everything.
fn tally() -> PoolTally {
    let copy = CopyId {
        target: TargetId { pool: crate::change::fixture::pool(), name: "a".to_owned() },
        zone: zone("new.example.net"),
    };
    let at = "2026-11-20T01:00:00Z".parse().unwrap();
    let row = |why: Option<&str>| ZoneActionRow {
        copy: copy.clone(),
        action: ZoneAction::Create,
        why: why.map(str::to_owned),
        at,
    };
    let voter = VoterId { target: "a".to_owned(), server: Some("192.0.2.1:53".to_owned()) };
    let voters = vec![VoterTally { voter, at_newest: 3, failed: 1 }];
    let zones = vec![ZoneStatus::Active, ZoneStatus::Active, ZoneStatus::Error];
    let served = Some(ServedTally { rrsets: StatusCounts::default(), zones, voters });
    let lacking = vec![("a".to_owned(), 0), ("b".to_owned(), 5)];
    PoolTally { pool: crate::change::fixture::pool(), served, lacking, made: vec![row(None), row(Some("no"))] }
}

/// What a state says of approvals: two services of one URL, and one that the settings no longer have.
fn approvals() -> ApprovalTally {
    let at = |hour: u32| format!("2026-11-20T0{hour}:00:00Z").parse().unwrap();
    let call = |service: &str, project: Option<&str>, took| CmsTally {
        service: service.to_owned(),
        version: CmsVersion::V1_1,
        project: project.map(str::to_owned),
        kind: if project.is_some() { CmsCallKind::Create } else { CmsCallKind::List },
        action: project.map(|_| CmsAction::Reboot),
        outcome: if project.is_some() { "ok".to_owned() } else { "done".to_owned() },
        count: 3,
        took: Duration::from_millis(took),
        last: at(1),
    };
    let failure = |service: &str, since| CmsFailure {
        service: service.to_owned(),
        kind: "late".to_owned(),
        message: "it did not answer within 10 s".to_owned(),
        since,
        last: at(2),
        count: 7,
    };
    let tasks = ApprovalTally::of(&ApprovalMemory::default(), ["one", "default"].into_iter()).tasks;
    let label = |service: &str| (service.to_owned(), "cms_example_net_a".to_owned());
    ApprovalTally {
        calls: vec![call("one", Some("web"), 250), call("other", Some("web"), 500), call("gone", None, 125)],
        tasks,
        failures: vec![failure("one", at(1)), failure("other", at(0)), failure("gone", at(2))],
        labels: ["one", "other"].map(label).into(),
    }
}

#[test]
fn services_are_called_by_their_urls_and_all_requests_count() {
    let samples = parsed(&full().render());
    let value = |family: &str, labels: &[(&str, &str)]| value(&samples, family, labels);
    let of = |service, [project, action, request, outcome]: [&'static str; 4]| {
        [
            ("service", service),
            ("project", project),
            ("action", action),
            ("version", "v1.1"),
            ("request", request),
            ("outcome", outcome),
        ]
    };
    let both = of("cms_example_net_a", ["web", "reboot", "create", "ok"]);
    assert_eq!(value("zonewright_cms_requests", &both), Some(6.0));
    assert_eq!(value("zonewright_cms_request_seconds_sum", &both), Some(0.75));
    let gone = of("gone", ["", "", "list", "done"]);
    assert_eq!((value("zonewright_cms_requests", &gone)), Some(3.0));
    assert_eq!(value("zonewright_cms_request_seconds_sum", &gone), Some(0.125));
    let tasks = |service, status| value("zonewright_cms_tasks", &[("service", service), ("status", status)]);
    for status in ["ok", "in-process", "not-answered", "to-be-deleted"] {
        assert_eq!([tasks("cms_example_net_a", status), tasks("default", status)], [Some(0.0); 2], "{status}");
    }
    let since = |service| value("zonewright_cms_failing_since_seconds", &[("service", service)]);
    assert_eq!(since("cms_example_net_a"), Some(1_795_132_800.0), "the one that is silent for longer");
    assert_eq!(since("gone"), Some(1_795_140_000.0));
}

/// Metrics of a run in which there is something of everything.
fn full() -> Metrics {
    let sealed = SealedPlan::new(reviewed());
    let plan = sealed.plan();
    let mut metrics = Metrics::new("apply");
    metrics.plan(plan, Some(&refusal()));
    metrics.pool(&tally());
    let written = |place: usize| {
        let at = "2026-11-20T01:00:00Z".parse().unwrap();
        (place % 2 == 1).then_some(WrittenRrset { apply: ApplyId(12), number: 1, at, is_new: false, after: None })
    };
    let strays = strays(plan, of_one_target((0..plan.changes.len()).map(written)), plan.created);
    metrics.drift(&Drift { plan, strays: &strays, place: "state.db", is_known: true });
    let host = |outcome| SubjectOutcome {
        subject: crate::claim::Subject::Host(Inv(7)),
        project: "search".into(),
        name: "a.search.example.net.".into(),
        changes: 1,
        outcome,
        is_between: false,
        message: None,
        hint: None,
        lacks: Vec::new(),
    };
    let hosts = [OutcomeCode::Applied, OutcomeCode::Applied, OutcomeCode::Stale].map(host).into();
    let sent = |name, updates| ZoneWritten {
        pool: crate::change::fixture::pool(),
        zone: zone(name),
        target: None,
        updates,
        changes: updates * 3,
        unknown: 0,
        took: Duration::ZERO,
    };
    let zones = vec![sent("example.net", 2), sent("web.example.net", 1)];
    metrics.applied(&ApplyOutcome { hosts, zones, zone_changes: vec![], problems: vec![] });
    let tripped = "2026-11-20T00:00:00Z".parse().unwrap();
    let breaker = Breaker { scope: "project:search".into(), tripped, why: "31 hosts".into() };
    metrics.state(&[breaker], Some(&last()), 2);
    let flux = [("search".to_owned(), 1)].into();
    metrics.rollouts(&RolloutTally { waiting: vec![(WaitCode::Gate, 2)], flux });
    metrics.approvals(&approvals());
    metrics.running(&running(tripped));
    metrics.stage("zones", Duration::from_millis(1500));
    metrics.stage("zones", Duration::from_millis(1000));
    metrics.ended(RunEnd { began: Some(tripped), took: Duration::from_secs(3), exit: 3, is_success: false });
    metrics
}

/// What a `run` says of itself between two passes.
fn running(now: Time) -> RunningNews {
    RunningNews {
        facts: RunningFacts {
            workspace: "/dns".to_owned(),
            began: now,
            interval: crate::inventory::value::Duration::from_secs(60),
            only_plans: false,
        },
        now,
        role: RunningRole::Leads,
        busy_since: None,
        next: Some(now),
        last: None,
        failures: 2,
        obstacle: None,
        has_broken_settings: false,
        plan: PlanNews::default(),
        state: StateNews::default(),
    }
}

#[test]
fn the_configuration_is_broken_where_no_pass_is_made_for_it_or_a_file_of_it_has_errors() {
    let of = |change: &dyn Fn(&mut RunningNews)| {
        let mut news = running("2026-11-20T00:00:00Z".parse().unwrap());
        change(&mut news);
        let mut metrics = Metrics::new("run");
        metrics.running(&news);
        let text = metrics.render();
        let line = text.lines().find(|line| line.starts_with("zonewright_config_ok{")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    };
    let obstacle = |is_config| Some(Obstacle { is_config, why: String::new() });
    assert_eq!(of(&|_| {}), "1");
    assert_eq!(of(&|news| news.has_broken_settings = true), "0");
    assert_eq!(of(&|news| news.obstacle = obstacle(true)), "0");
    assert_eq!(of(&|news| news.obstacle = obstacle(false)), "1", "that is the state");
}

#[test]
fn every_metric_is_there_once_something_is_to_be_told() {
    let samples = parsed(&full().render());
    let families: BTreeSet<&str> = samples.iter().map(|(family, ..)| family.as_str()).collect();
    let all: BTreeSet<&str> = MetricFamily::ALL.iter().map(|family| family.name()).collect();
    assert_eq!(families, all);
    assert_eq!(all.len(), MetricFamily::ALL.len(), "no name is there twice");
    assert!(samples.iter().all(|(_, labels, _)| labels[0] == ("command".into(), "apply".into())));
    assert!(samples.iter().all(|(_, labels, _)| labels.iter().all(|(name, _)| name != "host")));
}

#[test]
fn names_are_as_prometheus_wants_them() {
    for family in MetricFamily::ALL {
        let (name, help) = (family.name(), family.help());
        assert!(name.starts_with("zonewright_") && help.ends_with('.'), "{name}");
        let kept = ["_total", "_sum", "_count", "_bucket"];
        let is_odd = family.kind() == "gauge" && kept.iter().any(|ending| name.ends_with(ending));
        assert!(!is_odd, "{name} is not what its ending says");
        assert!(!name.contains("timestamp") && !name.contains("duration") || name.ends_with("_seconds"), "{name}");
    }
}

#[test]
fn numbers_are_those_of_the_plan() {
    let samples = parsed(&full().render());
    let value = |family: &str, labels: &[(&str, &str)]| value(&samples, family, labels);
    let plan = SealedPlan::new(reviewed());
    let changes = plan.plan().changes.len() as f64;
    assert_eq!(value("zonewright_pending_changes", &[]), Some(changes));
    let sum = |family: &str| samples.iter().filter(|sample| sample.0 == family).map(|sample| sample.2).sum::<f64>();
    assert_eq!(sum("zonewright_pending_changes_by_cause"), changes);
    assert_eq!(sum("zonewright_strayed_rrsets"), changes);
    assert_eq!(sum("zonewright_blocked_hosts_by_code"), value("zonewright_blocked_hosts", &[]).unwrap());
    assert_eq!(sum("zonewright_skipped_hosts_by_code"), value("zonewright_skipped_hosts", &[]).unwrap());
    let by_cause = [("class", "pending"), ("cause", "drift"), ("project", "web")];
    assert_eq!(value("zonewright_pending_changes_by_cause", &by_cause), Some(3.0));
    assert_eq!(value("zonewright_limit_exceeded", &[("limit", "project:search/1h")]), Some(1.0));
    assert_eq!(value("zonewright_limit_used", &[("limit", "project:search/1h")]), Some(18.0));
    assert_eq!(value("zonewright_plan_refused", &[]), Some(1.0));
    assert_eq!(value("zonewright_plan_refusal_info", &[("code", "limit-exceeded")]), Some(1.0));
    assert_eq!(value("zonewright_source_trusted", &[("source", "hosts")]), Some(1.0));
    assert_eq!(value("zonewright_source_trusted", &[("source", "eine")]), Some(0.0), "it is in no list of exports");
    assert_eq!(value("zonewright_source_timestamp_seconds", &[("source", "net_layout")]), None);
    assert_eq!(value("zonewright_source_max_age_seconds", &[("source", "agent")]), Some(3600.0));
    assert_eq!(value("zonewright_apply_hosts", &[("outcome", "applied")]), Some(2.0));
    assert_eq!(
        (value("zonewright_apply_updates", &[]), value("zonewright_apply_changes", &[])),
        (Some(3.0), Some(9.0))
    );
    assert_eq!(value("zonewright_last_apply_hosts", &[("outcome", "failed")]), Some(0.0));
    assert_eq!(value("zonewright_last_apply_timestamp_seconds", &[]), Some(1_795_136_401.5));
    assert_eq!(value("zonewright_run_stage_duration_seconds", &[("stage", "zones")]), Some(2.5));
}

#[test]
fn of_limits_that_are_called_the_same_the_tightest_is_told() {
    let plan = fleet();
    let of = |max| LimitState { max, ..plan.limits[0].clone() };
    for limits in [vec![of(20), of(10)], vec![of(10), of(20)]] {
        let mut metrics = Metrics::new("plan");
        metrics.plan(&Plan { limits, ..fixture::empty() }, None);
        let samples = parsed(&metrics.render());
        assert_eq!(value(&samples, "zonewright_limit_max", &[("limit", "global/1d")]), Some(10.0));
    }
}

#[test]
fn a_run_that_found_nothing_says_so() {
    let mut metrics = Metrics::new("plan");
    metrics.ended(RunEnd { began: None, took: Duration::ZERO, exit: 1, is_success: false });
    insta::assert_snapshot!(metrics.render(), @r#"
    # HELP zonewright_build_info The version of zonewright that ran; always 1.
    # TYPE zonewright_build_info gauge
    zonewright_build_info{command="plan",version="0.1.0"} 1
    # HELP zonewright_run_duration_seconds How long the run took.
    # TYPE zonewright_run_duration_seconds gauge
    zonewright_run_duration_seconds{command="plan"} 0
    # HELP zonewright_run_exit_code The exit code of the run.
    # TYPE zonewright_run_exit_code gauge
    zonewright_run_exit_code{command="plan"} 1
    # HELP zonewright_run_success Whether the run succeeded: exit code 0 or 2.
    # TYPE zonewright_run_success gauge
    zonewright_run_success{command="plan"} 0
    # HELP zonewright_plan_made Whether there was a plan at all.
    # TYPE zonewright_plan_made gauge
    zonewright_plan_made{command="plan"} 0
    "#);
    metrics.plan(&fixture::empty(), None);
    metrics.state(&[], None, 0);
    let samples = parsed(&metrics.render());
    for family in ["pending_changes", "blocked_hosts", "skipped_hosts", "plan_refused", "breakers_tripped"] {
        assert_eq!(value(&samples, &format!("zonewright_{family}"), &[]), Some(0.0), "alarms need a number: {family}");
    }
}

#[test]
fn hostile_values_stay_inside_their_quotes() {
    let hostile = "a\"} 1\n# TYPE x counter\nzonewright_x{y=\"\\\u{1b}[31m\u{2028}é\r\\n";
    let mut plan = fleet();
    plan.changes.iter_mut().for_each(|change| change.project = hostile.to_owned());
    plan.blocked.iter_mut().for_each(|BlockedSubject { project, .. }| *project = hostile.to_owned());
    plan.skipped.iter_mut().for_each(|skipped| skipped.project = hostile.to_owned());
    plan.notices.iter_mut().for_each(|Notice { name, .. }| *name = hostile.to_owned());
    plan.limits.iter_mut().for_each(|limit| limit.scope = hostile.to_owned());
    plan.delayed = Vec::<DelayedRrset>::new();
    let mut metrics = Metrics::new("plan");
    metrics.plan(SealedPlan::new(plan).plan(), None);
    let tripped = "2026-11-20T00:00:00Z".parse().unwrap();
    metrics.state(&[Breaker { scope: hostile.into(), tripped, why: hostile.into() }], None, 0);
    let text = metrics.render();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    let samples = parsed(&text);
    let shown = crate::diag::sanitize(hostile);
    let read = value(&samples, "zonewright_breaker_tripped_timestamp_seconds", &[("scope", &shown)]);
    assert_eq!(read, Some(1_795_132_800.0));
    assert!(samples.iter().all(|(family, ..)| family != "zonewright_x"));
}
