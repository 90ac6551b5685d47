//! What a limit says, in words and numbers.

use crate::plan::{LimitKind, LimitSetting, LimitState};

/// Where the limits of hosts that lose records are set.
const SET: &str = "; `[limits]` in zonewright.toml sets another";

/// What a plan would use, and what sets the limit: `project:search/1h: 3 used + 31 planned = 34 hosts, but at most 20 may
/// change (max 20 within 1h, projects/search.yaml:9)`.
pub fn numbers(limit: &LimitState) -> String {
    let LimitState { max, used, planned, of, cause, .. } = limit;
    let name = limit.name();
    let of = of.unwrap_or_default();
    let set = setting(limit).map(|set| format!(" ({set})")).unwrap_or_default();
    match limit.counts {
        LimitKind::Hosts => {
            let sum = used.saturating_add(*planned);
            format!("{name}: {used} used + {planned} planned = {sum} hosts, but at most {max} may change{set}")
        }
        LimitKind::MaxDelete => {
            format!("{name}: {planned} of {of} RRsets would be deleted, but at most {max} may be{set}")
        }
        LimitKind::MaxModify => {
            format!("{name}: {planned} of {of} RRsets would be modified, but at most {max} may be{set}")
        }
        LimitKind::MaxLoss => format!(
            "{name}: {planned} of {of} hosts would lose AAAA or PTR records that are live, but at most {max} may{set}"
        ),
        LimitKind::MaxByCause if limit.setting.is_none() => {
            let cause = cause.as_deref().unwrap_or("one line");
            format!(
                "{name}: {planned} of {of} hosts would lose AAAA or PTR records that are live because of {cause}, but \
                 at most {max} may because of one new line{set}"
            )
        }
        LimitKind::MaxByCause => {
            let cause = cause.as_deref().unwrap_or("one line");
            format!("{name}: {planned} of {of} changes have the cause {cause}, but at most {max} may have it{set}")
        }
    }
}

/// The name of a limit, with what sets it.
pub fn named(limit: &LimitState) -> String {
    let set = setting(limit).map(|set| format!(" ({set})")).unwrap_or_default();
    format!("{}{set}", limit.name())
}

/// What sets a limit: `max_delete = "10%"` with its line, or that it is the default; none where this is not known.
pub fn setting(limit: &LimitState) -> Option<String> {
    match &limit.setting {
        // A limit over time has no default: its rule is a setting of the state's owner.
        None if limit.counts == LimitKind::Hosts => None,
        None => Some(match limit.counts {
            LimitKind::MaxLoss => format!("the default of {}: 15%, or 50 hosts{SET}", limit.counts),
            LimitKind::MaxByCause => format!(
                "the default of {}: 5%, or 50 hosts; 10 by a row of l3-tors that changed alone{SET}",
                limit.counts
            ),
            counts => format!("the default of {counts}"),
        }),
        Some(LimitSetting { says, place }) if place.is_empty() => Some(says.clone()),
        Some(LimitSetting { says, place }) => Some(format!("{says}, {place}")),
    }
}

/// When a plan that exceeds a limit would fit; empty where waiting does not help.
fn frees(limit: &LimitState) -> String {
    limit.frees.map(|frees| format!("without other changes, the plan fits from {frees}")).unwrap_or_default()
}

/// What a plan would use of a limit, and when the plan would fit.
pub fn says(limit: &LimitState) -> String {
    [numbers(limit), frees(limit)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The flag that lifts a limit for a plan that exceeds it: `--allow project:search/1h=34`.
pub fn allow(limit: &LimitState) -> String {
    format!("--allow {}={}", limit.name(), limit.used.saturating_add(limit.planned))
}
