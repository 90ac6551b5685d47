//! The tables of a report, as rows of cells.

use super::super::copies::SeveralTargets;
use super::super::counts::{self, PlanCounts, is_near};
use super::super::summary::serial_text;
use super::TextOptions;
use crate::diag::sanitize;
use crate::guard::words;
use crate::plan::{LimitState, Plan};

/// Rows of cells, without a heading.
pub type TableCells = Vec<Vec<String>>;

/// Counts by project, sorted, and then in total where there are several; `?` means hosts whose row is too bad to say
/// their project.
pub fn summary(plan: &Plan) -> TableCells {
    let projects = counts::by_project(plan);
    let label = |project: &str| if project.is_empty() { "?".to_owned() } else { sanitize(project) };
    let row = |label: String, counts: &PlanCounts| std::iter::once(label).chain(counts.cells()).collect();
    let rows = projects.iter().map(|(project, counts)| row(label(project), counts));
    let total = (projects.len() > 1).then(|| row("total".to_owned(), &PlanCounts::sum(projects.values())));
    rows.chain(total).collect()
}

/// The limits that a plan comes near, or with `-v` takes anything of: max, used, planned, and the name last, for it may
/// be long.
pub fn limits(plan: &Plan, options: &TextOptions) -> TableCells {
    let row = |limit: &LimitState| {
        let numbers = [limit.max, limit.used, limit.planned].map(|number| number.to_string());
        let name = sanitize(&limit.name());
        let name = if limit.exceeded { format!("{name}, exceeded") } else { name };
        numbers.into_iter().chain([name]).collect()
    };
    // From 80 % on the next plan may be the one that is refused.
    let is_shown = |limit: &&LimitState| {
        if options.verbose {
            is_near(plan, limit)
        } else {
            limit.exceeded || (limit.planned > 0 && (limit.used + limit.planned) * 5 >= limit.max * 4)
        }
    };
    plan.limits.iter().filter(is_shown).map(row).collect()
}

/// Of each limit that is exceeded what is said of it, and what lets the plan through.
pub fn exceeded(plan: &Plan) -> TableCells {
    let words = |limit: &LimitState| {
        vec![sanitize(&words::says(limit)), sanitize(&format!("`{}` lets this plan through", words::allow(limit)))]
    };
    plan.limits.iter().filter(|limit| limit.exceeded).map(words).collect()
}

/// The zones, below a heading: serial, RRsets, the target where a pool has several, and the name last, for it may be long.
/// Empty where there are none.
pub fn zones(plan: &Plan) -> TableCells {
    if plan.zones.is_empty() {
        return Vec::new();
    }
    let several = SeveralTargets::find(plan);
    let cells = |[serial, rrsets, target, zone]: [String; 4]| {
        let target = (!several.is_empty()).then_some(target);
        [serial, rrsets].into_iter().chain(target).chain([zone]).collect::<Vec<String>>()
    };
    let row = |zone: &crate::plan::ZoneSeen| {
        let target = several.target_of(zone).map(sanitize).unwrap_or_default();
        cells([serial_text(zone.serial), zone.rrsets.to_string(), target, sanitize(&zone.zone.to_string())])
    };
    let head = cells(["serial", "rrsets", "target", "zone"].map(str::to_owned));
    std::iter::once(head).chain(plan.zones.iter().map(row)).collect()
}
