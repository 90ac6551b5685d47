//! Makes a plan: reads inventory and live DNS, derives, compares, decides.

use std::collections::{BTreeMap, BTreeSet};

use super::approvals::dry_run;
use super::base::BaseError;
use super::edited::{self, MarkedDecisions};
use super::findings::Findings;
use super::input_error::InputError;
use super::inputs::{PlanInput, PlanRequest, ReadFor, SnapshotUsed, gather};
use super::left_behind::{self, OrphanMemory};
use super::notices::{found_notices, slow_targets};
use super::review::{ReviewError, ReviewSubject};
use super::settings::OpenError;
use super::zone_changes::{self, ZonePlan};
use super::{TOOL, review, waves};
use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::diff::adopt::{self, AdoptionTerms};
use crate::diff::decide::{self, DecisionInput};
use crate::diff::held::HeldEdits;
use crate::diff::judge::FleetDecisions;
use crate::diff::{RuleContext, Selection, SubjectStandings};
use crate::dns::Name;
use crate::guard::Breaker;
use crate::inventory::model::{Config, Export, HostStatus, Inventory};
use crate::inventory::pool::Pool;
use crate::inventory::read::SETTINGS;
use crate::inventory::value::{Duration, Inv, Time};
use crate::live::{Live, PoolCopies};
use crate::names::holders::{fastbone_of, name_of};
use crate::plan::order;
use crate::plan::{HostSeen, Plan, PlanScope, PoolMarkSeen, Review, SourceSeen, TxtFormSeen, WorkspaceSeen};
use crate::progress::{Progress, RunStage};
use crate::provider::{self, outage};
use crate::reading::Zones;
use crate::registry::{Marking, Registry};
use crate::rollout::via::add_via;
use crate::state::State;
use crate::target::PoolName;

/// A plan, and the findings of the same run.
#[derive(Debug, Clone)]
pub struct MadePlan {
    /// The plan.
    pub plan: Plan,
    /// What was found.
    pub findings: Findings,
    /// Whether a zone or a source could not be read completely.
    pub is_partial: bool,
    /// The snapshot that it was made from, where given.
    pub snapshot: Option<SnapshotUsed>,
    /// The tripped breakers, sorted by scope.
    pub breakers: Vec<Breaker>,
    /// The targets that the plan would change, as messages call them, in the order of the configuration.
    pub targets: Vec<String>,
}

impl MadePlan {
    /// The same plan, made at another time.
    pub(super) fn again(&self, now: Time) -> MadePlan {
        let mut again = self.clone();
        let lifetime = again.plan.expires.since(again.plan.created).unwrap_or(Duration::from_secs(0));
        (again.plan.created, again.plan.expires) = (now, now.plus(lifetime));
        again
    }
}

/// Why there is no plan.
#[derive(Debug)]
pub enum PlanError {
    /// What it is made from cannot be read.
    Input(InputError),
    /// The command line names a base that cannot be read.
    Base(BaseError),
}

impl PlanError {
    /// What was found in the settings, where they cannot be used.
    pub fn findings(&self) -> Option<&Findings> {
        match self {
            PlanError::Input(InputError::Open(OpenError::Settings(findings)))
            | PlanError::Base(BaseError::Config(_, findings)) => Some(findings),
            PlanError::Input(_) | PlanError::Base(_) => None,
        }
    }
}

impl From<InputError> for PlanError {
    fn from(error: InputError) -> PlanError {
        PlanError::Input(error)
    }
}

impl From<ReviewError> for PlanError {
    fn from(error: ReviewError) -> PlanError {
        match error {
            ReviewError::Base(error) => PlanError::Base(error),
            ReviewError::State(error) => error.into(),
        }
    }
}

impl From<Problem> for PlanError {
    fn from(error: Problem) -> PlanError {
        PlanError::Input(error.into())
    }
}

/// Makes a plan: reads inventory and live DNS, derives, compares, decides.
///
/// Errors: [`PlanError`]. A source or zone that cannot be read is no error: the plan says what it leaves because of it.
pub fn make_plan(request: &PlanRequest<'_>, progress: &dyn Progress) -> Result<MadePlan, PlanError> {
    let input = gather(request, &ReadFor::Selected, progress)?;
    plan_of(input, request, progress).map(|(made, _)| made)
}

/// Makes a plan of what was read for it; gives what was read back, but for what is in the plan now.
pub(super) fn plan_of(
    mut input: PlanInput,
    request: &PlanRequest<'_>,
    progress: &dyn Progress,
) -> Result<(MadePlan, PlanInput), PlanError> {
    progress.stage(RunStage::Compare, None);
    if let Some(terms) = request.adopt {
        return Ok((adopt(&mut input, request, terms)?, input));
    }
    let MarkedDecisions { decided, written, held } = edited::decide(&input)?;
    let reviewed = ReviewSubject { input: &input, held: &held, decided: &decided, written: &written };
    let (review, remarks) = review::review(request, reviewed, progress)?;
    let mut made = made(&mut input, request, decided, review)?;
    made.findings.base = remarks;
    Ok((made, input))
}

/// Makes the plan that takes over RRsets of another owner.
///
/// Errors: no TXT says who owns what; or the state cannot be read.
fn adopt(input: &mut PlanInput, request: &PlanRequest<'_>, terms: AdoptionTerms<'_>) -> Result<MadePlan, Problem> {
    let mut pools = input.inventory.config.pools.iter();
    let tells = |registry: Registry| registry == Registry::Txt || registry.mark_place().is_some();
    if !pools.any(|pool| tells(pool.marking.registry)) {
        let message = "no pool has a registry in DNS, so that nothing says who owns an RRset";
        let hint = "set `registry = \"txt\"`, or what the target keeps, in zonewright.toml or in the pool whose records are taken over";
        return Err(Problem::new(SETTINGS, "not-registered", message).hint(hint));
    }
    let nothing = HeldEdits::default();
    let given = DecisionInput { held: &nothing, ..input.decision() };
    let look = |context: &RuleContext<'_>, standings: &SubjectStandings, copies: &[PoolCopies]| {
        adopt::decide(context, standings, copies, terms)
    };
    let mut decided = decide::look_at_each(&input.inventory, &input.zones.live, given, &look);
    decided.changes.sort_by(order::changes);
    made(input, request, decided, None)
}

/// The workspace that a plan is for.
///
/// Errors: the state cannot be read.
pub(super) fn workspace_seen(config: &Config, state: Option<&dyn State>) -> Result<WorkspaceSeen, Problem> {
    let id = state.map(|state| state.identity()).transpose()?.map(|identity| identity.id);
    let of_pool = |pool: &Pool| PoolMarkSeen {
        owner: pool.marking.owner.clone(),
        pool: pool.name.clone(),
        registry: pool.marking.registry,
        txt: TxtFormSeen::of(&pool.marking.form),
    };
    let Marking { owner, registry, form, .. } = &config.marking;
    let txt = TxtFormSeen::of(form);
    let differs = |seen: &PoolMarkSeen| (&seen.owner, seen.registry, &seen.txt) != (owner, *registry, &txt);
    let pools = config.pools.iter().map(of_pool).filter(differs).collect();
    Ok(WorkspaceSeen { owner: owner.clone(), pools, registry: *registry, txt, id })
}

/// Makes a plan from what was decided, with what the state knows: the use of limits, the tripped breakers, and the
/// zones with an apply that the state does not know. Takes out of the input what goes into the plan as it is.
///
/// Errors: the state cannot be read.
pub(super) fn made(
    input: &mut PlanInput,
    request: &PlanRequest<'_>,
    mut decided: FleetDecisions,
    review: Option<Review>,
) -> Result<MadePlan, Problem> {
    let PlanInput { inventory, selection, zones, remembered, .. } = input;
    let (now, state) = (input.now, input.state.as_deref());
    let workspace = workspace_seen(&inventory.config, state)?;
    let left = std::mem::take(&mut decided.left_behind);
    let (mut notices, is_partial) = found_notices(inventory, zones);
    let hosts = hosts_seen((inventory, &zones.live), &decided);
    notices.extend(decided.notices);
    let of_zones = zone_changes_of(request, &inventory.config, (zones, state), &decided.changes)?;
    notices.extend(of_zones.notices);
    notices.extend(slow_targets(&inventory.config, &decided.changes));
    let mut inputs = inventory.inputs.clone();
    inputs.extend(std::mem::take(&mut zones.inputs));
    let settings = inventory.settings_errors.keys().cloned().collect();
    let are_exports_believed = inventory.is_believed();
    let targets = targets(&inventory.config, &decided.changes);
    let mut plan = Plan {
        tool: TOOL.to_owned(),
        created: now,
        expires: now.plus(inventory.config.plan_expires),
        workspace,
        undoes: None,
        only: narrowed(selection, &request.projects),
        inputs,
        fleet: Some(fleet(inventory, selection)),
        hosts,
        affected: decided.affected,
        changes: decided.changes,
        review,
        stated: decided.statements,
        groups: Vec::new(),
        pods: Vec::new(),
        delayed: decided.waiting,
        waiting: Vec::new(),
        waves: Vec::new(),
        left_behind: Vec::new(),
        blocked: decided.blocked,
        skipped: decided.skipped,
        notices,
        limits: Vec::new(),
        sources: inventory.exports.iter().map(source_seen).collect(),
        zone_changes: of_zones.changes,
        zones: std::mem::take(&mut zones.seen),
    };
    left_behind::list(&mut plan, left, selection, OrphanMemory { config: &inventory.config, state })?;
    plan.limits = remembered.count(&plan, request.workspace);
    plan.groups = waves::groups_seen(inventory, &plan);
    let was_down = state.map(|state| state.pods_down()).transpose()?.unwrap_or_default();
    plan.pods = waves::pods_seen((inventory, &zones.live), &plan, &was_down);
    plan.notices.extend(waves::migrations(inventory, &plan, state)?);
    let groups = waves::settings_of(&inventory.projects, &inventory.pods.sets);
    add_via(&mut plan, &|group| groups.get(group).is_some_and(|terms| terms.overlap.is_some()));
    waves::foresee(&mut plan, (&inventory.projects, &inventory.pods.sets), (Some(&zones.live), state))?;
    plan.notices.extend(if request.asks_approvals {
        dry_run::ask(&plan, (&inventory.projects, &inventory.config), request.workspace)?
    } else {
        dry_run::silent(&inventory.projects, state)?
    });
    let unread = outage::gather(std::mem::take(&mut zones.unread).into_iter().map(|(_, error)| error));
    let files_read = plan.inputs.len();
    let findings = Findings {
        files: inventory.files.clone(),
        settings,
        are_exports_believed,
        diagnostics: std::mem::take(&mut input.diagnostics),
        files_read,
        zones: std::mem::take(&mut zones.findings),
        unread,
        forgotten: std::mem::take(&mut input.forgotten),
        base: Vec::new(),
    };
    let breakers = std::mem::take(&mut remembered.breakers);
    Ok(MadePlan { plan, findings, is_partial, snapshot: input.snapshot.take(), breakers, targets })
}

/// What a plan does with zones as such: nothing from a snapshot, and for some hosts or projects no more than they need.
fn zone_changes_of(
    request: &PlanRequest<'_>,
    config: &Config,
    (zones, state): (&Zones, Option<&dyn State>),
    changes: &[Change],
) -> Result<ZonePlan, Problem> {
    if request.live_snapshot.is_some() {
        return Ok(ZonePlan::default());
    }
    let all = zone_changes::decide(config, zones, state)?;
    let is_whole = request.hosts.is_empty() && request.projects.is_empty();
    Ok(if is_whole { all } else { all.narrowed(changes) })
}

/// The targets of the zones that changes are in, each once.
pub(super) fn targets(config: &Config, changes: &[Change]) -> Vec<String> {
    let changed: BTreeSet<&PoolName> = changes.iter().map(|change| &change.pool).collect();
    let targets = config.pools.iter().filter(|pool| changed.contains(&pool.name)).flat_map(|pool| &pool.targets);
    let mut places: Vec<String> = targets.map(provider::place).collect();
    places.dedup();
    places
}

/// What the command line narrowed the plan to.
fn narrowed(selection: &Selection, projects: &[String]) -> Option<PlanScope> {
    let Selection { hosts, subjects, patterns, .. } = selection;
    let of_hosts = hosts.iter().flat_map(|inv| [Subject::Host(*inv), Subject::Released(*inv)]);
    PlanScope {
        patterns: patterns.clone(),
        projects: projects.to_vec(),
        subjects: of_hosts.chain(subjects.iter().cloned()).collect(),
    }
    .if_any()
}

/// How many hosts hosts.csv has, of those that are selected; a number on several rows is one host.
fn fleet(inventory: &Inventory, selection: &Selection) -> u64 {
    let hosts = inventory.hosts.chunk_by(|a, b| a.inv == b.inv);
    hosts.filter(|rows| rows.iter().any(|host| selection.includes(host.inv, host.project))).count() as u64
}

/// What the inventory says of each host that a plan names.
fn hosts_seen((inventory, live): (&Inventory, &Live), decided: &FleetDecisions) -> BTreeMap<Inv, HostSeen> {
    let of_changes = decided.changes.iter().flat_map(Change::subjects);
    let left = decided.blocked.iter().map(|blocked| &blocked.subject);
    let left = left.chain(decided.skipped.iter().map(|skipped| &skipped.subject));
    let noticed = decided.notices.iter().filter_map(|notice| notice.subject.as_ref());
    let waiting = decided.waiting.iter().map(|waiting| &waiting.subject);
    let affected = decided.affected.iter().map(|affected| &affected.subject);
    let named = of_changes.chain(left).chain(noticed).chain(waiting).chain(affected);
    let named: BTreeSet<Inv> = named.filter_map(Subject::host).collect();
    let seen = |inv: Inv| {
        // Where a number has several rows, the values would depend on their order.
        let [host] = &inventory.hosts[inventory.places_of(inv)] else { return None };
        let text = |symbol| inventory.symbols.text(symbol).to_owned();
        let name = name_of(inventory, host).map(|(name, _)| name);
        let admin = inventory.projects[host.project.0 as usize].admin.as_ref();
        // Plans for which no service is asked need not say it.
        let needs_approval = admin.is_some_and(|admin| admin.approvals.is_some());
        let is_assigned = host.status == HostStatus::Assigned;
        let has_address = |name: &Name| live.addresses_at(name.as_name()).next().is_some();
        let fastbone = name.and_then(|name| fastbone_of(inventory, host.project, name.as_name()));
        let is_new = || is_assigned && !name.into_iter().chain(&fastbone).any(has_address);
        let seen = HostSeen {
            left: needs_approval && !is_assigned,
            location: text(host.location),
            name: name.map(Name::to_string),
            new: needs_approval && is_new(),
            rack: host.rack.map(text),
            switch: host.switch.map(text),
        };
        Some((inv, seen))
    };
    named.into_iter().filter_map(seen).collect()
}

/// What a plan says about an export.
fn source_seen(export: &Export) -> SourceSeen {
    let source = export.spec.name.clone();
    // Without a date the default holds for nothing.
    let max_age = export.spec.demands.max_age.filter(|max| !max.is_default || export.dated.is_some());
    let max_age = max_age.map(|max| max.age);
    SourceSeen { dated: export.dated, max_age, rows: export.rows as u64, source }
}
