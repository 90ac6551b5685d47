//! Breakers: an unattended run trips them, and an operator resets them.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::inventory::value::Time;
use crate::plan::{LimitState, Plan};

/// The breaker of all projects.
pub const GLOBAL: &str = "global";

/// A scope whose breaker has tripped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Breaker {
    /// `global`, or `project:` and the id.
    pub scope: String,
    /// When it tripped.
    pub tripped: Time,
    /// Why.
    pub why: String,
}

impl Breaker {
    /// Whether it stops changes for the hosts of a project.
    pub fn holds(&self, project: &str) -> bool {
        self.scope == GLOBAL || self.scope.strip_prefix("project:") == Some(project)
    }

    /// The message that it is tripped, since when, and why.
    pub fn says(&self) -> String {
        format!("the breaker `{}` has been tripped since {}: {}", self.scope, self.tripped, self.why)
    }

    /// How an operator resets it after finding out why it tripped.
    pub fn hint(&self) -> String {
        format!("find out why, then run `zonewright status --reset {} --reason TEXT`", self.scope)
    }
}

/// The breaker that a limit trips: that of its project, else that of all projects.
pub fn scope_of(limit: &LimitState) -> &str {
    if limit.scope.starts_with("project:") { &limit.scope } else { GLOBAL }
}

/// The breakers that exceeded limits trip: each scope once, with why; sorted by scope.
pub fn to_trip(exceeded: &[&LimitState]) -> Vec<(String, String)> {
    let scopes: BTreeSet<&str> = exceeded.iter().map(|limit| scope_of(limit)).collect();
    let why = |scope: &str| {
        let own = exceeded.iter().filter(|limit| scope_of(limit) == scope);
        own.map(|limit| super::words::numbers(limit)).collect::<Vec<_>>().join("; ")
    };
    scopes.into_iter().map(|scope| (scope.to_owned(), why(scope))).collect()
}

/// The breaker that stops a change of a plan; none where an operator named the hosts of the plan.
pub fn holding<'b>(plan: &Plan, tripped: &'b [Breaker]) -> Option<&'b Breaker> {
    if plan.only.as_ref().is_some_and(|only| !only.subjects.is_empty()) {
        return None;
    }
    tripped.iter().find(|breaker| plan.changes.iter().any(|change| breaker.holds(&change.project)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::value::Inv;
    use crate::plan::{LimitKind, PlanScope, fixture};

    /// A breaker of a scope.
    fn breaker(scope: &str) -> Breaker {
        Breaker { scope: scope.to_owned(), tripped: Time::from_nanos(0), why: "31 hosts".to_owned() }
    }

    /// A limit that is exceeded.
    fn limit(scope: &str, counts: LimitKind) -> LimitState {
        LimitState {
            scope: scope.to_owned(),
            period: "1h".to_owned(),
            counts,
            max: 20,
            used: 3,
            planned: 31,
            exceeded: true,
            of: None,
            cause: None,
            frees: None,
            setting: None,
        }
    }

    #[test]
    fn a_project_trips_its_own_breaker_and_all_else_that_of_everything() {
        let (own, all) = (limit("project:search", LimitKind::Hosts), limit("global", LimitKind::Hosts));
        let zone = limit("zone:example.net.", LimitKind::MaxDelete);
        let tripped = to_trip(&[&own, &zone, &all]);
        assert_eq!(tripped.iter().map(|(scope, _)| scope.as_str()).collect::<Vec<_>>(), ["global", "project:search"]);
        assert_eq!(tripped[1].1, "project:search/1h: 3 used + 31 planned = 34 hosts, but at most 20 may change");
        assert!(tripped[0].1.contains("zone:example.net./max_delete: ") && tripped[0].1.contains("; global/1h: "));
    }

    #[test]
    fn a_tripped_breaker_holds_back_what_is_in_its_scope() {
        let plan = fixture::fleet();
        let held = |scope: &str| holding(&plan, &[breaker(scope)]).is_some();
        assert!(held("global") && held("project:search") && !held("project:storage") && !held("project:sea"));
        let named = Plan { only: PlanScope::new([Inv(1)], &[]), ..plan.clone() };
        assert!(holding(&named, &[breaker("global")]).is_none());
        let of_project = Plan { only: PlanScope::new([], &["search".to_owned()]), ..plan };
        assert!(holding(&of_project, &[breaker("global")]).is_some(), "a project is not named host by host");
    }
}
