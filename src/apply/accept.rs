//! Whether a plan may be applied at all. Pure.
//!
//! Its digests, format and order are proven where it is loaded (`plan::store`). Here are the other checks: its times,
//! which its `id` does not cover, its changes, which any person can digest, and the effect that the operator expects.

use super::shape::{self, PlanBounds};
use crate::diag::Problem;
use crate::inventory::value::{Duration, Time};
use crate::plan::{Plan, SealedPlan};

/// How far the clocks of two machines may differ: a plan may come from another.
const SKEW: Duration = Duration::from_secs(300);

/// What a plan is measured by.
#[derive(Debug, Clone, Copy)]
pub struct PlanTerms<'a> {
    /// The clock.
    pub now: Time,
    /// How long a plan may be applied, `[plan] expires`.
    pub expires: Duration,
    /// Until when its later waves may go, where its first one has gone.
    pub waves_expire: Option<Time>,
    /// The effect that was reviewed, where `--expect` names it.
    pub expect: Option<&'a str>,
    /// What a plan can hold.
    pub bounds: &'a PlanBounds<'a>,
}

/// Refuses a plan that must not be applied; `place` names it.
///
/// The times are not part of the plan's `id`. They can be forged, but not so that a plan lasts longer than one that is
/// made now: it is not made in the future, and expires as soon as the setting says, or sooner. (The setting may have been
/// raised since it was made.)
pub fn accept(sealed: &SealedPlan, place: &str, terms: &PlanTerms<'_>) -> Result<(), Problem> {
    let refuse = |code, message, hint: &str| Err(Problem::new(place, code, message).hint(hint));
    let plan = sealed.plan();
    let Plan { created, expires, .. } = plan;
    if *created > terms.now.plus(SKEW) {
        let message = format!("it says that it was made at {created}, and it is {} now", terms.now);
        let hint = "check the clock of this machine and of the one that planned; where both are right, another editor \
                    changed the time: plan again";
        return refuse("plan-times", message, hint);
    }
    if *expires > created.plus(terms.expires) || expires < created {
        let message = format!(
            "it says that it was made at {created} and expires at {expires}, but by `[plan] expires` ({}) it expires \
             at {}",
            terms.expires,
            created.plus(terms.expires)
        );
        return refuse(
            "plan-times",
            message,
            "another editor changed its times, or the setting was lowered: plan again",
        );
    }
    if let Some(expired) = expired(sealed, place, terms.now) {
        match terms.waves_expire.filter(|until| until > expires) {
            Some(until) if terms.now <= until => {}
            Some(until) => {
                let message = format!("its later waves could go until {until}, and it is {} now", terms.now);
                return refuse("plan-expired", message, "plan again");
            }
            None => {
                let message = format!("{}, and it is {} now", expired.message, terms.now);
                return Err(Problem { message, ..expired });
            }
        }
    }
    if let Some(message) = shape::stray(plan, terms.bounds) {
        return refuse("plan-malformed", message, NOT_OURS);
    }
    match terms.expect {
        Some(expect) if expect != sealed.effect() => {
            let message = format!("its effect is `{}`, but `--expect` names `{expect}`", sealed.effect());
            refuse("not-expected", message, "review this plan; then give its own effect to `--expect`")
        }
        _ => Ok(()),
    }
}

/// What to do about a plan that holds what no plan can hold.
pub const NOT_OURS: &str =
    "plan again. If no setting changed since, zonewright did not make this plan: find out who did";

/// The refusal of a plan that is too old at a time.
pub fn expired(sealed: &SealedPlan, place: &str, now: Time) -> Option<Problem> {
    let expires = sealed.plan().expires;
    (expires < now).then(|| Problem::new(place, "plan-expired", format!("it expired at {expires}")).hint("plan again"))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::plan::fixture;
    use crate::registry::{Marking, Registry};

    /// The outcome for a plan without changes, at most a day old, at a time and with an expectation.
    fn outcome(change: impl FnOnce(&mut Plan), now: &str, expect: Option<&str>) -> Result<(), Problem> {
        let mut plan = fixture::empty();
        plan.created = "2026-11-20T02:00:00Z".parse().unwrap();
        plan.expires = "2026-11-21T02:00:00Z".parse().unwrap();
        change(&mut plan);
        let sealed = SealedPlan::new(plan);
        let marking = Marking::sample("us", Registry::Journal);
        let bounds = PlanBounds::new(Vec::new(), [], &marking, 100);
        let (now, expires) = (now.parse().unwrap(), Duration::from_secs(86_400));
        accept(&sealed, "plan.json", &PlanTerms { now, expires, waves_expire: None, expect, bounds: &bounds })
    }

    /// The code of the refusal, where there is one.
    fn code(change: impl FnOnce(&mut Plan), now: &str, expect: Option<&str>) -> Option<&'static str> {
        outcome(change, now, expect).err().map(|refusal| refusal.code.as_str())
    }

    #[test]
    fn a_plan_is_refused_after_it_expired() {
        assert_eq!(code(|_| {}, "2026-11-21T02:00:00Z", None), None);
        assert_eq!(code(|_| {}, "2026-11-21T02:00:01Z", None), Some("plan-expired"));
    }

    #[test]
    fn a_plan_may_last_as_long_as_the_setting_says_and_no_longer() {
        let expiring = |at: &str| {
            let at = at.parse().unwrap();
            code(|plan| plan.expires = at, "2026-11-20T02:00:00Z", None)
        };
        for refused in ["2027-11-21T02:00:00Z", "2026-11-21T02:00:01Z", "2026-11-20T01:59:59Z"] {
            assert_eq!(expiring(refused), Some("plan-times"), "{refused}");
        }
        // The setting was raised since, or says that a plan expires at once.
        for taken in ["2026-11-20T03:00:00Z", "2026-11-20T02:00:00Z"] {
            assert_eq!(expiring(taken), None, "{taken}");
        }
    }

    #[test]
    fn a_plan_of_the_future_is_refused_with_the_clocks_that_may_be_wrong() {
        assert_eq!(code(|_| {}, "2026-11-20T01:55:00Z", None), None);
        let refusal = outcome(|_| {}, "2026-11-20T01:54:59Z", None).unwrap_err();
        assert_eq!(refusal.code.as_str(), "plan-times");
        assert_eq!(
            refusal.message,
            "it says that it was made at 2026-11-20T02:00:00Z, and it is 2026-11-20T01:54:59Z now"
        );
        assert!(refusal.hint.unwrap().starts_with("check the clock of this machine and of the one that planned"));
    }

    #[test]
    fn a_plan_of_another_effect_than_expected_is_refused() {
        let effect = SealedPlan::new(fixture::empty()).effect().to_owned();
        assert_eq!(code(|_| {}, "2026-11-20T03:00:00Z", Some(&effect)), None);
        assert_eq!(code(|_| {}, "2026-11-20T03:00:00Z", Some("sha256:00")), Some("not-expected"));
    }

    #[test]
    fn a_plan_that_no_rule_makes_is_refused() {
        let forged = |plan: &mut Plan| plan.changes = fixture::fleet().changes;
        let refusal = outcome(forged, "2026-11-20T03:00:00Z", None).unwrap_err();
        assert_eq!(refusal.code.as_str(), "plan-malformed");
        assert!(refusal.message.starts_with("it changes "), "{}", refusal.message);
    }
}
