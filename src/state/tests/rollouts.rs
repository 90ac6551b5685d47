//! What is remembered between waves.

use super::*;
use crate::claim::Subject;
use crate::rollout::{FluxRow, FluxStage};

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
        canary_of: None,
        before: Vec::new(),
        stage: FluxStage::NotServed,
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
