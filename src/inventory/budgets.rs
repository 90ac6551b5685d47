//! Rollouts compared with the hosts that their projects have: what of them makes little sense. Pure.

use super::Inventory;
use super::model::{Host, HostStatus, Project, ProjectIndex, ZoneSpec};
use super::rollout::{MaxUnavailable, RolloutTerms, SettleTime};
use super::value::{Duration, Percent};
use crate::diag::{Diagnostic, Diagnostics};
use crate::dns::{Name, Ttl};

/// The code of a budget that does not fit its hosts.
const BUDGET: &str = "rollout-budget";

/// The code of a time that is shorter than caches keep records.
const SETTLE: &str = "rollout-settle";

/// The code of a first wave that is as large as the others.
const CANARY: &str = "rollout-canary";

/// The code of a time that is longer than the waves of a plan may take.
const OVERLAP: &str = "rollout-overlap";

/// Warns of budgets and times that do not fit the hosts of their projects.
pub fn check(inventory: &Inventory) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    for (place, project) in inventory.projects.iter().enumerate() {
        let project_index = ProjectIndex(place as u32);
        let Some(terms) = terms(project) else { continue };
        let in_service = in_service(inventory, project_index);
        let settle = ttl(inventory, project_index).and_then(|ttl| settle_warning(terms, ttl));
        let canary = canary_warning(terms, in_service);
        let overlap = overlap_warning(terms, inventory.config.waves_expire);
        let found = [budget_warning(terms, in_service), canary, settle, overlap];
        found.into_iter().flatten().for_each(|warning| warnings.push(warning));
    }
    warnings
}

/// What the file of a project says, where it can be read and says anything.
pub fn terms(project: &Project) -> Option<&RolloutTerms> {
    project.file.settings()?.rollout.as_ref()
}

/// How many hosts of a project are in service; a number on several rows is one host.
pub fn in_service(inventory: &Inventory, project: ProjectIndex) -> usize {
    let hosts = inventory.hosts.chunk_by(|a, b| a.inv == b.inv);
    let counts =
        |rows: &&[Host]| rows.iter().any(|host| host.project == project && host.status == HostStatus::Assigned);
    hosts.filter(counts).count()
}

/// Warns of a budget that holds nothing back, or of a share that is less than one host.
fn budget_warning(terms: &RolloutTerms, in_service: usize) -> Option<Diagnostic> {
    let (message, rule, hint) = match terms.max_unavailable {
        _ if in_service == 0 => return None,
        MaxUnavailable::Number(number) if number >= in_service => (
            format!("{number} is all of the project's hosts in service: there are {in_service}"),
            "such a budget lets all of them be unreachable at once",
            "write a smaller number, or a share such as `5%`",
        ),
        MaxUnavailable::Share(share) if share == Percent::from_whole(100) => (
            format!("{share} is all of the project's hosts in service"),
            "such a budget lets all of them be unreachable at once",
            "write a smaller share, such as `5%`",
        ),
        MaxUnavailable::Share(share) if share.of(in_service) == 0 => (
            format!("{share} of the project's hosts in service, {in_service}, is less than one host, and counts as 1"),
            "at least one may be unreachable, or nothing could ever change",
            "write `max_unavailable: 1` if one is meant",
        ),
        MaxUnavailable::Number(_) | MaxUnavailable::Share(_) => return None,
    };
    Some(Diagnostic::warning(BUDGET, terms.budget_origin, message).rule(rule).hint(hint))
}

/// The TTL of the records of a project's hosts.
fn ttl(inventory: &Inventory, project: ProjectIndex) -> Option<Ttl> {
    let domain = &inventory.projects[project.0 as usize].admin.as_ref()?.dns_domain;
    let zone = zone_of(inventory, domain);
    Some(zone.map_or(Ttl::DEFAULT, |zone| inventory.wanted_ttl(project, zone)))
}

/// The zone of a domain, where zonewright.toml has it.
pub fn zone_of<'i>(inventory: &'i Inventory, domain: &Name) -> Option<&'i ZoneSpec> {
    let holds = |zone: &&ZoneSpec| domain.as_name().is_at_or_below(zone.name.as_name());
    inventory.config.listed_zones().filter(holds).max_by_key(|zone| zone.name.as_name().as_wire().len())
}

/// Warns of a time that is shorter than the TTL of the records.
pub fn settle_warning(terms: &RolloutTerms, ttl: Ttl) -> Option<Diagnostic> {
    let SettleTime::Fixed(settle) = terms.settle else { return None };
    if settle >= Duration::from(ttl) {
        return None;
    }
    let message = format!("{settle} is shorter than the TTL of the records, {} seconds", ttl.as_secs());
    let warning = Diagnostic::warning(SETTLE, terms.settle_origin?, message);
    Some(warning.rule("caches hold a record as long as its TTL").hint("write `settle: ttl`, or lower the TTL first"))
}

/// Warns of a first wave that is larger than the budget, which it can never be; `in_service` are in service.
pub fn canary_warning(terms: &RolloutTerms, in_service: usize) -> Option<Diagnostic> {
    let (canary, origin) = (terms.canary?, terms.canary_origin?);
    let budget = terms.max_unavailable.of(in_service);
    if in_service == 0 || canary <= budget {
        return None;
    }
    let message = format!("the first wave is to be {canary}, and the budget allows {budget}");
    let warning = Diagnostic::warning(CANARY, origin, message);
    Some(warning.rule("`canary` is at most the budget").hint("write a smaller number, or leave `canary` out"))
}

/// Warns of an overlap that is longer than the waves of a plan may take.
pub fn overlap_warning(terms: &RolloutTerms, waves_expire: Duration) -> Option<Diagnostic> {
    let (overlap, origin) = (terms.overlap?, terms.overlap_origin?);
    if overlap <= waves_expire {
        return None;
    }
    let message = format!("{overlap} is longer than the waves of a plan may take, {waves_expire}");
    let warning = Diagnostic::warning(OVERLAP, origin, message);
    Some(
        warning.rule("the second step of a plan goes before `waves_expire` in `[plan]` of zonewright.toml").hint(
            "write a shorter `overlap`; or a longer `waves_expire`; or let a new plan take the old addresses away",
        ),
    )
}
