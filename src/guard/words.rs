//! What a limit says, in words and numbers.

use crate::plan::{LimitKind, LimitState};

/// What a plan would come to: `project:search/1h: 3 used + 31 planned = 34 hosts, and 20 may change`.
pub fn numbers(limit: &LimitState) -> String {
    let LimitState { max, used, planned, of, cause, .. } = limit;
    let name = limit.name();
    let of = of.unwrap_or_default();
    let share = max.saturating_mul(100).checked_div(of).map(|share| format!(" ({share}%)")).unwrap_or_default();
    match limit.counts {
        LimitKind::Hosts => {
            format!(
                "{name}: {used} used + {planned} planned = {} hosts, and {max} may change",
                used.saturating_add(*planned)
            )
        }
        LimitKind::MaxDelete => format!("{name}: {planned} of {of} RRsets would be deleted, and {max} may be{share}"),
        LimitKind::MaxModify => format!("{name}: {planned} of {of} RRsets would be modified, and {max} may be{share}"),
        LimitKind::MaxByCause => {
            let cause = cause.as_deref().unwrap_or("one line");
            format!("{name}: {planned} of {of} changes rest on {cause}, and {max} may{share}")
        }
    }
}

/// When a plan would fit that exceeds a limit; empty where waiting does not help.
fn frees(limit: &LimitState) -> String {
    limit.frees.map(|frees| format!("it would fit from {frees}")).unwrap_or_default()
}

/// What would come of a limit that is exceeded, and when it would not be.
pub fn says(limit: &LimitState) -> String {
    [numbers(limit), frees(limit)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// What lets a plan through that exceeds a limit: `--allow project:search/1h=34`.
pub fn allow(limit: &LimitState) -> String {
    format!("--allow {}={}", limit.name(), limit.used.saturating_add(limit.planned))
}
