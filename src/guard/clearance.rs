//! The clearance to apply one plan; a plan that exceeds a limit that was not lifted gets none.

use std::str::FromStr;

use serde::Serialize;

use super::breakers::GLOBAL;
use super::shares;
use crate::dns::ZoneName;
use crate::plan::{LimitKind, LimitState, Plan, SealedPlan, ZoneAction};

/// The permission to apply one wave of a plan. Only [`clear`] gives it, nothing is written without it, and it cannot be
/// used twice.
#[derive(Debug, PartialEq, Eq)]
pub struct Clearance {
    /// The plan's `id`.
    plan: String,
}

impl Clearance {
    /// The `id` of the plan that it is for.
    pub fn plan(&self) -> &str {
        &self.plan
    }
}

/// A limit that an operator lifts for one plan, and how far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Allowance {
    /// The limit's name.
    #[serde(rename = "limit")]
    pub name: String,
    /// How many may change in total, or exactly as many as the plan adds.
    pub number: u64,
}

impl FromStr for Allowance {
    type Err = String;

    /// Reads `project:search/1h=34`.
    fn from_str(text: &str) -> Result<Allowance, String> {
        let parts = text.rsplit_once('=').filter(|(name, _)| name.contains('/') || zone_lock(name).is_some());
        let parsed = parts.and_then(|(name, number)| Some((name, number.parse().ok()?)));
        let (name, number) = parsed.ok_or_else(|| {
            "give the name of a limit and a number, such as `project:search/1h=34`; a plan and `zonewright status` \
             list the limits"
                .to_owned()
        })?;
        // The name of a zone may lack its final dot.
        let is_short = zone_lock(name).is_some_and(|zone| !zone.ends_with('.'));
        Ok(Allowance { name: if is_short { format!("{name}.") } else { name.to_owned() }, number })
    }
}

/// What an allowance begins with that lets a zone be made which an earlier apply saw.
const ZONE_CREATE: &str = "zone-create:";

/// What an allowance begins with that lets a zone be deleted.
const ZONE_DELETE: &str = "zone-delete:";

/// The zone of an allowance to make or to delete one.
fn zone_lock(name: &str) -> Option<&str> {
    let kinds = [ZONE_CREATE, ZONE_DELETE];
    kinds.iter().find_map(|kind| name.strip_prefix(kind)).filter(|zone| !zone.is_empty())
}

impl Allowance {
    /// The zone that may be made although an earlier apply saw it, as text with the final dot; none of other allowances,
    /// and of one for any other number of zones than one.
    pub fn zone_to_create(&self) -> Option<&str> {
        self.name.strip_prefix(ZONE_CREATE).filter(|_| self.number == 1)
    }

    /// Lets a zone be deleted.
    pub fn to_delete(zone: &ZoneName) -> Allowance {
        Allowance { name: format!("{ZONE_DELETE}{zone}"), number: 1 }
    }

    /// Whether it lets a zone be deleted, whose name is given as text with the final dot.
    pub fn lets_delete(&self, zone: &str) -> bool {
        self.name.strip_prefix(ZONE_DELETE) == Some(zone) && self.number == 1
    }
}

/// A limit that a plan exceeds, and that was not lifted far enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceededLimit<'a> {
    /// The limit.
    pub limit: &'a LimitState,
    /// The greatest number that the operator allows, which is too small; none where the operator does not lift the
    /// limit.
    pub allowed: Option<u64>,
}

/// Gives the clearance for a plan that was counted, where all limits that it exceeds were lifted far enough.
///
/// Errors: the limits that it exceeds, never none.
pub fn clear<'a>(
    sealed: &SealedPlan,
    counted: &'a [LimitState],
    allowed: &[Allowance],
) -> Result<Clearance, Vec<ExceededLimit<'a>>> {
    let over = |limit: &'a LimitState| {
        let name = limit.name();
        let numbers = || allowed.iter().filter(|allowance| allowance.name == name).map(|allowance| allowance.number);
        // An operator who gives exactly the number that the plan adds has read the plan. Any other number is a bound on
        // all that the limit counts.
        let is_enough =
            numbers().any(|number| number == limit.planned || number >= limit.used.saturating_add(limit.planned));
        (limit.exceeded && !is_enough).then_some(ExceededLimit { limit, allowed: numbers().max() })
    };
    let exceeded: Vec<ExceededLimit<'_>> = counted.iter().filter_map(over).collect();
    if exceeded.is_empty() { Ok(Clearance { plan: sealed.id().to_owned() }) } else { Err(exceeded) }
}

/// The first allowance that names no limit.
pub fn stray<'a>(plan: &Plan, counted: &[LimitState], allowed: &'a [Allowance]) -> Option<&'a Allowance> {
    allowed.iter().find(|allowance| !exists(plan, counted, &allowance.name))
}

/// Whether there is a limit of this name. Limits of one plan exist even where the plan uses nothing of them.
fn exists(plan: &Plan, counted: &[LimitState], name: &str) -> bool {
    let is_share = || {
        let (scope, kind) = name.rsplit_once('/')?;
        match LimitKind::parse(kind)? {
            LimitKind::Hosts => None,
            LimitKind::MaxByCause | LimitKind::MaxLoss => (scope == GLOBAL).then_some(()),
            LimitKind::MaxDelete | LimitKind::MaxModify => {
                plan.zones.iter().any(|seen| shares::scope(plan, seen) == scope).then_some(())
            }
        }
    };
    let is_in_plan = |action: ZoneAction, kind: &str| {
        let mut changes = plan.zone_changes.iter().filter(|change| change.action == action);
        name.strip_prefix(kind).is_some_and(|zone| changes.any(|change| change.zone.to_string() == zone))
    };
    counted.iter().any(|limit| limit.name() == name)
        || is_share().is_some()
        || is_in_plan(ZoneAction::Create, ZONE_CREATE)
        || is_in_plan(ZoneAction::Delete, ZONE_DELETE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture;

    /// A limit of hosts with three used and 31 planned.
    fn limit(name: &str, max: u64) -> LimitState {
        let (scope, period) = name.rsplit_once('/').unwrap();
        LimitState {
            scope: scope.to_owned(),
            period: period.to_owned(),
            counts: LimitKind::Hosts,
            max,
            used: 3,
            planned: 31,
            exceeded: 34 > max,
            of: None,
            cause: None,
            frees: None,
            setting: None,
        }
    }

    /// Allowances.
    fn allow(texts: &[&str]) -> Vec<Allowance> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_plan_within_its_limits_is_cleared_by_its_id() {
        let sealed = SealedPlan::new(fixture::fleet());
        assert_eq!(clear(&sealed, &[limit("global/1h", 34)], &[]).unwrap().plan(), sealed.id());
    }

    #[test]
    fn each_limit_is_lifted_by_its_own_name_and_far_enough_or_not_at_all() {
        let sealed = SealedPlan::new(fixture::fleet());
        let counted = [limit("global/1h", 20), limit("project:search/1h", 20), limit("global/1d", 100)];
        let stops = |texts: &[&str]| {
            let allowed = allow(texts);
            match (stray(sealed.plan(), &counted, &allowed), clear(&sealed, &counted, &allowed)) {
                (Some(stray), _) => format!("no {}", stray.name),
                (None, Ok(_)) => String::new(),
                (None, Err(over)) => {
                    over.iter().map(|over| format!("{} {:?};", over.limit.name(), over.allowed)).collect()
                }
            }
        };
        assert_eq!(stops(&["global/1h=34", "project:search/1h=40"]), "");
        assert_eq!(stops(&["global/1h=33", "project:search/1h=34"]), "global/1h Some(33);");
        assert_eq!(stops(&["global/1h=31", "project:search/1h=34"]), "", "31 is what the plan adds");
        assert_eq!(stops(&["global/1h=32", "project:search/1h=30"]), "global/1h Some(32);project:search/1h Some(30);");
        assert_eq!(stops(&["global/1h=34"]), "project:search/1h None;");
        assert_eq!(stops(&["global/1h=34", "project:serch/1h=34"]), "no project:serch/1h");
        assert_eq!(stops(&["zone:nowhere.example./max_delete=3"]), "no zone:nowhere.example./max_delete");
        let near =
            ["global/1h=34", "project:search/1h=34", "zone:web.example.net./max_modify=3", "global/max_by_cause=9"];
        assert_eq!(stops(&near), "");
    }

    #[test]
    fn an_allowance_is_a_name_and_a_number() {
        let allowance: Allowance = "zone:a=b.example./max_delete=12".parse().unwrap();
        assert_eq!((allowance.name.as_str(), allowance.number), ("zone:a=b.example./max_delete", 12));
        for text in ["", "=", "5", "global/1h", "global/1h=", "global/1h=-1", "global=5", "global/1h=all"] {
            assert!(text.parse::<Allowance>().is_err(), "{text}");
        }
    }
}
