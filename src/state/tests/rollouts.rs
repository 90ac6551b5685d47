//! What is remembered between waves.

use super::*;
use crate::approval::{ApprovalNews, Refusal, RefusalKind, TaskRow, TaskSaid};
use crate::claim::Subject;
use crate::cms::task::{TaskStatus, TaskType};
use crate::inventory::cms::CmsAction;
use crate::rollout::{FluxRow, FluxStage, ProbeResult};

/// A wave of host 1.
fn wave() -> RolloutChoice {
    let row = FluxRow {
        subject: Subject::Host(Inv(1)),
        apply: 0,
        group: "search".to_owned(),
        location: "fra".to_owned(),
        settle: Duration::from_secs(600),
        is_disruptive: true,
        is_repair: false,
        is_down: false,
        canary_of: None,
        before: Vec::new(),
        affected: vec![Subject::Host(Inv(7))],
        gave: Vec::new(),
        wanted: None,
        stage: FluxStage::NotServed,
        answer: None,
    };
    RolloutChoice { flux: vec![row], ..RolloutChoice::default() }
}

#[test]
fn the_latest_time_never_falls() {
    let mut state = Sqlite::in_memory();
    let text = PlanText { document: "{}", made: at(0), expires: at(1000), blocked: &[] };
    let id = state.begin(&new_apply(), &text, &wave()).unwrap();
    state.finish(id, &ApplyOutcome::default(), None, at(100)).unwrap();
    let latest = |state: &Sqlite| state.rollouts().unwrap().latest.unwrap();
    assert_eq!(latest(&state), at(100));
    // An apply that is resumed has no end, and the clock was set back.
    let again = Resumption { at: at(50), who: "ops".into(), reason: None };
    state.resume(id, &again, &wave()).unwrap();
    assert_eq!(latest(&state), at(100));
    state.finish(id, &ApplyOutcome::default(), None, at(60)).unwrap();
    assert_eq!(latest(&state), at(100));
    // A run that chooses waves and sends nothing.
    state.settle_flux(at(200)).unwrap();
    state.settle_flux(at(70)).unwrap();
    assert_eq!(latest(&state), at(200));
}

#[test]
fn what_probes_and_gates_said_is_kept() {
    let mut state = Sqlite::in_memory();
    let text = PlanText { document: "{}", made: at(0), expires: at(1000), blocked: &[] };
    let id = state.begin(&new_apply(), &text, &wave()).unwrap();
    let answer = |state: &Sqlite| state.rollouts().unwrap().flux[0].answer;
    assert_eq!(answer(&state), None);
    for answered in [false, true] {
        state.note_answers(&[ProbeResult { subject: Subject::Host(Inv(1)), apply: id.0, answered }]).unwrap();
        assert_eq!(answer(&state), Some(answered));
    }
    let gave: Vec<std::net::IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    let again = RolloutChoice { flux: vec![FluxRow { gave: gave.clone(), ..wave().flux.remove(0) }], ..wave() };
    // A later part of the apply gives other addresses: they are asked anew.
    state.begin_wave(id, &again).unwrap();
    let row = state.rollouts().unwrap().flux.remove(0);
    assert_eq!((row.answer, row.gave), (None, gave));
    assert_eq!(row.affected, [Subject::Host(Inv(7))]);
    let asked = |seconds: u64, outcome| GateAsked {
        at: at(seconds),
        group: "search".to_owned(),
        gate: "health".to_owned(),
        outcome,
        said: "all is well".to_owned(),
    };
    state.note_gates(id, &[asked(20, GateOutcome::Failed)]).unwrap();
    state.note_gates(id, &[asked(10, GateOutcome::Passed)]).unwrap();
    let expected = [asked(10, GateOutcome::Passed), asked(20, GateOutcome::Failed)];
    assert_eq!(state.gates_asked(id).unwrap(), expected);
    assert!(state.gates_asked(ApplyId(id.0 + 1)).unwrap().is_empty());
}

/// A task of a host that a service lets through.
fn allowed(host: u64, service: &str) -> TaskRow {
    TaskRow {
        id: format!("us.5f.{service}.{host}"),
        service: service.to_owned(),
        project: "search".to_owned(),
        subject: Subject::Host(Inv(host)),
        host: format!("h{host}.example.net"),
        action: CmsAction::Reboot,
        kind: TaskType::Automated,
        comment: String::new(),
        group: "us.5f.1".to_owned(),
        since: at(0),
        tried: Some(at(5)),
        said: Some(TaskSaid { status: TaskStatus::Ok, message: "go".to_owned(), at: at(5) }),
        fault: None,
        is_used: false,
        is_ended: false,
    }
}

#[test]
fn what_services_said_is_kept_with_the_wave() {
    let mut state = Sqlite::in_memory();
    let ended = TaskRow { is_ended: true, ..allowed(1, "old") };
    let rows = [allowed(1, "a"), allowed(1, "default"), allowed(2, "a"), ended];
    let refusal = Refusal {
        kind: RefusalKind::Rejected,
        at: at(6),
        service: "a".to_owned(),
        message: "it has the last replica".to_owned(),
        change: "[]".to_owned(),
    };
    let news = ApprovalNews {
        kept: rows.map(|row| (row.id.clone(), row)).into(),
        refused: [(Subject::Host(Inv(3)), refusal)].into(),
        ..ApprovalNews::default()
    };
    state.keep_approvals(&news).unwrap();
    let hosts = |hosts: &[u64]| hosts.iter().map(|host| Subject::Host(Inv(*host))).collect();
    let choice = RolloutChoice { approved: hosts(&[1]), ignored: hosts(&[4]), refused: hosts(&[3]), ..wave() };
    let text = PlanText { document: "{}", made: at(0), expires: at(1000), blocked: &[] };
    let id = state.begin(&new_apply(), &text, &choice).unwrap();
    let told = |state: &Sqlite| -> Vec<String> {
        let told = state.approvals_given(id).unwrap().into_iter();
        told.map(|own| format!("{} {} {} {:?} {}", own.subject, own.service, own.status, own.message, own.at)).collect()
    };
    let begun = new_apply().started;
    let first = [
        format!("host:1 a ok \"go\" {}", at(5)),
        format!("host:1 default ok \"go\" {}", at(5)),
        format!("host:3 a rejected \"it has the last replica\" {}", at(6)),
        format!("host:4 - ignored \"\" {begun}"),
    ];
    assert_eq!(told(&state), first, "an apply that is killed before its first update has them");
    // A later part: host 2 goes, and host 1 goes again after its service said something else.
    let said = TaskSaid { status: TaskStatus::Ok, message: "go on".to_owned(), at: at(50) };
    let again = TaskRow { said: Some(said), ..allowed(1, "a") };
    state
        .keep_approvals(&ApprovalNews { kept: [(again.id.clone(), again)].into(), ..ApprovalNews::default() })
        .unwrap();
    let next = RolloutChoice { approved: hosts(&[1, 2]), ignored: hosts(&[4]), ..wave() };
    let resumption = Resumption { at: at(60), who: "ops".into(), reason: None };
    state.resume(id, &resumption, &next).unwrap();
    let expected = [
        format!("host:1 a ok \"go on\" {}", at(50)),
        first[1].clone(),
        format!("host:2 a ok \"go\" {}", at(5)),
        first[2].clone(),
        format!("host:4 - ignored \"\" {}", at(60)),
    ];
    assert_eq!(told(&state), expected);
    assert!(state.approvals_given(ApplyId(id.0 + 1)).unwrap().is_empty());
}
