//! Which outcomes need a person.

use super::*;
use crate::diag::Problem;
use crate::plan::fixture;
use crate::report::schema::tests::check_one;
use crate::report::{SchemaKind, outlook::PlanOutlook};

/// The line of an event, as JSON.
fn line(report: &RunReport) -> serde_json::Value {
    let run = RunFacts { run: 7, command: "apply", workspace: "/etc/zonewright", who: "deploy@runner" };
    serde_json::from_str(&report.line("2026-11-20T02:00:00Z", &run)).unwrap()
}

#[test]
fn every_event_fits_the_schema() {
    let sealed = SealedPlan::new(fixture::fleet());
    let end = EndFacts { exit: 4, seconds: 1.5 };
    let done = DoneFacts { sealed: Some(&sealed), apply: Some(ApplyId(3)), applied: &ApplyOutcome::default() };
    let refusal = Problem::new("the plan", "plan-expired", "old");
    let tripped = "2026-11-20T00:00:00Z".parse().unwrap();
    let breaker = Breaker { scope: "project:search".into(), tripped, why: "31 hosts".into() };
    for report in [
        RunReport::plan_made(&sealed, &PlanOutlook::default()),
        RunReport::plan_refused(Some(&sealed), &refusal, 3),
        RunReport::plan_refused(None, &refusal, 1),
        RunReport::applied(Applier::Apply, &done, end),
        RunReport::applied(Applier::Resume, &done, end),
        RunReport::applied(Applier::Undo, &DoneFacts { sealed: None, apply: None, ..done }, end),
        RunReport::tripped(&breaker),
        RunReport::drift_checked(sealed.plan(), 1, end),
        RunReport::failed("no state", Some("restore it"), Some(AttentionReason::Outage), end),
        RunReport::failed("no such host", None, None, end),
        RunReport::cms_asked(&call(None)),
        RunReport::cms_asked(&CmsCall { project: None, action: None, kind: CmsCallKind::List, ..call(Some("late")) }),
    ] {
        assert_eq!(check_one(SchemaKind::Event, line(&report)), "", "{report:?}");
    }
}

/// A request to a service, with the kind of its fault.
fn call(fault: Option<&str>) -> CmsCall {
    CmsCall {
        service: "search".into(),
        version: CmsVersion::V1_1,
        project: Some("web".into()),
        kind: CmsCallKind::Create,
        action: Some(CmsAction::Reboot),
        outcome: fault.unwrap_or("in-process").into(),
        fault: fault.map(|_| "`cms.example.net` did not answer within 10 s\u{1b}".into()),
        at: "2026-11-20T02:00:00Z".parse().unwrap(),
        took: std::time::Duration::from_micros(12_900),
    }
}

#[test]
fn a_request_to_a_service_is_told_with_its_outcome() {
    let asked = line(&RunReport::cms_asked(&call(None)));
    assert_eq!((&asked["event"], &asked["level"]), (&"cms-asked".into(), &"INFO".into()));
    assert_eq!(asked["message"], "`search` answered to `create` in 12 ms: in-process");
    assert_eq!((&asked["request"], &asked["action"]), (&"create".into(), &"reboot".into()));
    assert_eq!((&asked["version"], &asked["milliseconds"]), (&"v1.1".into(), &12.into()));
    let silent = line(&RunReport::cms_asked(&call(Some("late"))));
    assert_eq!(
        (&silent["outcome"], &silent["level"], &silent["attention"]),
        (&"late".into(), &"WARN".into(), &().into())
    );
    assert_eq!(silent["fault"], "`cms.example.net` did not answer within 10 s\\u{1b}");
}

#[test]
fn the_exit_code_says_why_an_apply_needs_a_person() {
    let done = DoneFacts { sealed: None, apply: None, applied: &ApplyOutcome::default() };
    let attention = |exit| RunReport::applied(Applier::Apply, &done, EndFacts { exit, seconds: 0.0 }).attention;
    assert_eq!(
        [0, 1, 3, 4].map(attention),
        [None, Some(AttentionReason::Outage), Some(AttentionReason::Refused), Some(AttentionReason::Partial)]
    );
}
