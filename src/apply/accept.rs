//! Whether a plan may be applied at all. Pure.
//!
//! Its digests, format and order are proven where it is loaded (`plan::store`). Here are the other checks: what its
//! `id` does not cover, its age, and the effect that the operator expects.

use super::model::Refusal;
use crate::inventory::value::{Duration, Time};
use crate::plan::SealedPlan;

/// What a plan is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The clock.
    pub now: Time,
    /// How long a plan may be applied, `[plan] expires`.
    pub expires: Duration,
    /// The effect that was reviewed, where `--expect` names it.
    pub expect: Option<&'a str>,
}

/// Refuses a plan that must not be applied; `place` names it.
///
/// The times are not part of the plan's `id`: that one follows from the other by the setting proves them.
pub fn accept(sealed: &SealedPlan, place: &str, terms: &Terms<'_>) -> Result<(), Refusal> {
    let refuse = |code, message, hint: &str| {
        Err(Refusal { place: place.to_owned(), code, message, hint: Some(hint.to_owned()) })
    };
    let plan = sealed.plan();
    if plan.expires != plan.created.plus(terms.expires) {
        let message = format!(
            "it says that it was made at {} and expires at {}, but `[plan] expires` ({}) gives another time",
            plan.created, plan.expires, terms.expires
        );
        return refuse("plan-times", message, "another editor changed its times, or the setting changed: plan again");
    }
    if let Some(expired) = expired(sealed, place, terms.now) {
        return Err(Refusal { message: format!("{}, and it is {} now", expired.message, terms.now), ..expired });
    }
    match terms.expect {
        Some(expect) if expect != sealed.effect() => {
            let message = format!("its effect is `{}`, but `--expect` names `{expect}`", sealed.effect());
            refuse("not-expected", message, "review this plan; then give its own effect to `--expect`")
        }
        _ => Ok(()),
    }
}

/// The refusal of a plan that is too old at a time.
pub fn expired(sealed: &SealedPlan, place: &str, now: Time) -> Option<Refusal> {
    let expires = sealed.plan().expires;
    (expires < now).then(|| Refusal {
        place: place.to_owned(),
        code: "plan-expired",
        message: format!("it expired at {expires}"),
        hint: Some("plan again".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, fixture};

    /// The outcome for the fixture, at most a day old, at a time and with an expectation.
    fn outcome(change: impl FnOnce(&mut Plan), now: &str, expect: Option<&str>) -> Result<(), &'static str> {
        let mut plan = fixture::fleet();
        plan.created = "2026-11-20T02:00:00Z".parse().unwrap();
        plan.expires = "2026-11-21T02:00:00Z".parse().unwrap();
        change(&mut plan);
        let sealed = SealedPlan::new(plan);
        let terms = Terms { now: now.parse().unwrap(), expires: Duration::from_secs(86_400), expect };
        accept(&sealed, "plan.json", &terms).map_err(|refusal| refusal.code)
    }

    #[test]
    fn a_plan_is_refused_after_it_expired() {
        assert_eq!(outcome(|_| {}, "2026-11-21T02:00:00Z", None), Ok(()));
        assert_eq!(outcome(|_| {}, "2026-11-21T02:00:01Z", None), Err("plan-expired"));
    }

    #[test]
    fn a_plan_whose_times_were_altered_is_refused() {
        let later = |plan: &mut Plan| plan.expires = "2027-11-21T02:00:00Z".parse().unwrap();
        assert_eq!(outcome(later, "2026-11-20T03:00:00Z", None), Err("plan-times"));
    }

    #[test]
    fn a_plan_of_another_effect_than_expected_is_refused() {
        let effect = SealedPlan::new(fixture::fleet()).effect().to_owned();
        assert_eq!(outcome(|_| {}, "2026-11-20T03:00:00Z", Some(&effect)), Ok(()));
        assert_eq!(outcome(|_| {}, "2026-11-20T03:00:00Z", Some("sha256:00")), Err("not-expected"));
    }
}
