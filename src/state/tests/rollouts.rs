//! What is remembered between waves.

use super::*;
use crate::claim::Subject;
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
