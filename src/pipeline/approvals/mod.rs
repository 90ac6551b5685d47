//! Approvals, between the settings, a plan, the state and services.
//!
//! Comes in: the projects whose hosts need approvals, a plan, what is kept. Goes out: which hosts may go now, and why the others
//! wait. What the next request needs is in the state before that is sent.

pub mod access;

pub mod desk;

pub mod dry_run;

pub mod foreseen;

pub mod doubtful;

use std::collections::{BTreeMap, BTreeSet};

use self::desk::{CmsDesk, CmsLine};
use super::conduct::RunLog;
use super::settings::WorkspaceSettings;
use crate::apply::{ApplyOutcome, OutcomeCode};
use crate::approval::ask::asks_of;
use crate::approval::between::{HostsBetween, goes_first, make_way};
use crate::approval::collect::{HostsKnown, asked_too_long, collect};
use crate::approval::outlook::unapproved;
use crate::approval::queue::asked_now;
use crate::approval::{ApprovalMemory, ApprovalPass, ApprovalTerm, HostAsk, TaskIds};
use crate::change::Change;
use crate::claim::Subject;
use crate::cms::task::TaskType;
use crate::diag::Problem;
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::CmsVersion;
use crate::inventory::model::Project;
use crate::inventory::value::Time;
use crate::plan::Plan;
use crate::rollout::{ChangeUnit, RolloutMemory, UnapprovedHost, plan_covers, units_of, what_is_left};
use crate::state::State;

/// What projects ask for, by their ids.
pub type ApprovalSettings = BTreeMap<String, ApprovalTerms>;

/// What the projects of a workspace ask for.
pub fn settings_of(projects: &[Project]) -> ApprovalSettings {
    let asked = |project: &Project| Some((project.id.clone(), project.admin.as_ref()?.approvals.clone()?));
    projects.iter().filter_map(asked).collect()
}

/// Whether an apply must look at tasks, even if it has nothing else to do.
pub fn has_news(settings: &WorkspaceSettings, state: Option<&dyn State>) -> bool {
    may_have_tasks(&settings_of(&settings.projects), state).unwrap_or(false)
}

/// Whether services may have tasks: projects ask for some, or earlier runs left some.
///
/// Errors: the state cannot be read.
fn may_have_tasks(projects: &ApprovalSettings, state: Option<&dyn State>) -> Result<bool, Problem> {
    let Some(state) = state.filter(|_| projects.is_empty()) else { return Ok(!projects.is_empty()) };
    Ok(state.approvals()?.tasks().next().is_some())
}

/// The services that a run may ask: those of projects, and those that have tasks still.
pub fn services_asked<'s>(
    settings: &'s ApprovalSettings,
    with_tasks: impl Iterator<Item = &'s str>,
) -> BTreeSet<&'s str> {
    let asked = settings.values().flat_map(|terms| &terms.services).map(String::as_str);
    asked.chain(with_tasks).filter(|service| *service != DEFAULT_SERVICE).collect()
}

/// What a run asks services with.
pub struct Approver<'a> {
    /// What projects ask for.
    pub projects: &'a ApprovalSettings,
    /// The services that may be asked, with their versions.
    pub services: &'a BTreeMap<String, CmsVersion>,
    /// Where requests are sent.
    pub desk: &'a dyn CmsDesk,
    /// The owner.
    pub owner: &'a str,
    /// The number of the run.
    pub run: u64,
    /// 128 random bits in hexadecimal, another text each time.
    pub random: &'a (dyn Fn() -> String + Sync),
    /// Whether hosts that a person named go without approvals.
    pub ignores: bool,
    /// Gets the requests as they end.
    pub log: &'a dyn RunLog,
}

/// For which hosts services are asked.
#[derive(Clone, Copy)]
pub struct AskScope<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its units.
    pub units: &'a [ChangeUnit],
    /// Those that are still to be made, by their places.
    pub open: &'a BTreeSet<usize>,
    /// Those of them that will go, in the order of waves.
    pub order: &'a [usize],
    /// For how many hosts of a project services are asked at a time, where that is limited.
    pub limits: &'a BTreeMap<String, usize>,
    /// The hosts that go now whatever room there is.
    pub free: &'a BTreeSet<Subject>,
    /// The hosts that earlier waves left in between.
    pub between: &'a HostsBetween,
}

/// The hosts of changes that may not have reached all clients yet, and those at whose names these took addresses.
fn hosts_in_flux(rollouts: &RolloutMemory, now: Time) -> BTreeSet<Subject> {
    let rows = rollouts.flux.iter().filter(|row| row.is_in_flux(now));
    rows.flat_map(|row| std::iter::once(&row.subject).chain(&row.affected)).cloned().collect()
}

/// The subjects of a change, and the hosts at whose names it takes addresses that are not their own.
fn hit_by<'p>(plan: &'p Plan, change: &'p Change) -> impl Iterator<Item = Subject> + use<'p> {
    let affected = plan.affected(change).map(|affected| affected.subject.clone());
    change.subjects().filter_map(Subject::counted).chain(affected)
}

/// What was found out before a wave.
pub struct Approvals<'a> {
    /// Services, with what is known.
    pass: ApprovalPass<'a>,
    /// The hosts of the plan that need an approval, in its order.
    asks: BTreeMap<usize, Vec<HostAsk>>,
    /// The hosts of units that go without the approvals that they need: an operator said so.
    ignored: BTreeMap<usize, BTreeSet<Subject>>,
    /// The hosts that are not asked for, with the one that goes before them.
    goes_before: BTreeMap<Subject, Subject>,
    /// The clock.
    now: Time,
}

impl Approver<'_> {
    /// Whether any host needs an approval.
    pub fn is_needed(&self) -> bool {
        !self.projects.is_empty()
    }

    /// Whether services may have tasks.
    ///
    /// Errors: the state cannot be read.
    pub fn may_have_tasks(&self, state: &dyn State) -> Result<bool, Problem> {
        may_have_tasks(self.projects, Some(state))
    }

    /// What holds while services are asked.
    fn term<'t>(&'t self, state_id: &'t str, now: Time) -> ApprovalTerm<'t> {
        let ids = TaskIds { owner: self.owner, state: state_id, run: self.run, random: self.random };
        // People read these times, and nothing needs more digits.
        ApprovalTerm { projects: self.projects, services: self.services, ids, now: now.to_second() }
    }

    /// Lets services and the state agree on which tasks there are, and deletes those that belong to nothing. `doubtful` are, of hosts,
    /// those whose zones do not say that the state is not of an earlier time.
    ///
    /// Errors: the state cannot be read or written.
    pub fn collect(
        &self,
        (plan, known): (&Plan, &BTreeMap<String, String>),
        state: &mut dyn State,
        clock: Time,
        doubtful: &dyn Fn(&BTreeSet<String>) -> BTreeSet<String>,
    ) -> Result<(), Problem> {
        let memory = state.approvals()?;
        let (id, rollouts) = (state.identity()?.id, state.rollouts()?);
        let now = rollouts.now(clock);
        // A host that stopped in between, and of which nothing is left to go, is not busy for ever.
        let rollouts = what_is_left(&rollouts, plan, known);
        let term = self.term(&id, now);
        let mut pass = ApprovalPass::new(term, memory);
        pass.ask_lists(self.services.keys());
        self.run_pass(&mut pass, state)?;
        let changed: BTreeSet<Subject> = plan.changes.iter().flat_map(|change| hit_by(plan, change)).collect();
        let in_flux = hosts_in_flux(&rollouts, now);
        let blocked: BTreeSet<Option<Subject>> = plan.blocked.iter().map(|own| own.subject.counted()).collect();
        let named: BTreeSet<&Subject> = plan.only.iter().flat_map(|only| &only.subjects).collect();
        let covered: BTreeSet<&String> = known.keys().filter(|project| plan_covers(plan, known, project)).collect();
        let is_seen = |subject: &Subject, project: &str| {
            let is_gone = !self.projects.contains_key(project);
            let is_seen = is_gone || named.contains(subject) || covered.contains(&project.to_owned());
            is_seen && !blocked.contains(&Some(subject.clone()))
        };
        let hosts = HostsKnown {
            is_in_flux: &|subject| in_flux.contains(subject),
            is_changed: &|subject| changed.contains(subject),
            is_seen: &is_seen,
            is_known: &|service| self.services.contains_key(service),
            asks: &|project, service| {
                self.projects.get(project).is_some_and(|terms| terms.services.iter().any(|own| own == service))
            },
            doubtful,
        };
        collect(&mut pass, term.ids, &hosts);
        let between = HostsBetween::of(&rollouts, now);
        let too_long = self.asked_too_long(plan, (pass.memory(), &between), now);
        let names = too_long.iter().flat_map(|subject| pass.memory().of(subject)).map(|row| row.host.clone());
        let names: BTreeSet<String> = names.collect();
        let doubtful = if names.is_empty() { names } else { doubtful(&names) };
        let is_certain = |subject: &Subject| pass.memory().of(subject).all(|row| !doubtful.contains(&row.host));
        let too_long: BTreeSet<Subject> = too_long.into_iter().filter(is_certain).collect();
        pass.give_up(&too_long);
        // A refusal does not say of which project its host is.
        let is_whole = self.projects.keys().all(|project| covered.contains(project));
        let is_past = |subject: &&Subject| {
            let is_seen = is_whole || named.contains(*subject);
            is_seen && !changed.contains(*subject) && !blocked.contains(&Some((*subject).clone()))
        };
        let past = pass.memory().refusals.keys().filter(is_past);
        let past: BTreeSet<Subject> = past.cloned().collect();
        pass.forgive(&past);
        self.run_pass(&mut pass, state)
    }

    /// The hosts that services were asked for longer than their projects say, and those that go together with one of them.
    fn asked_too_long(
        &self,
        plan: &Plan,
        (memory, between): (&ApprovalMemory, &HostsBetween),
        now: Time,
    ) -> BTreeSet<Subject> {
        let give_up = |project: &str| self.projects.get(project).map(|terms| terms.give_up);
        let too_long = asked_too_long((memory, between), &give_up, now);
        // Who goes together with one of them goes to the end, too, and holds nothing meanwhile.
        let of_unit = |unit: &ChangeUnit| -> BTreeSet<Subject> {
            unit.changes.iter().flat_map(|place| hit_by(plan, &plan.changes[*place])).collect()
        };
        let together = units_of(plan).into_iter().map(|unit| of_unit(&unit));
        let together: Vec<BTreeSet<Subject>> = together.filter(|own| !own.is_disjoint(&too_long)).collect();
        // Where one of them stopped in between, all of them go first after a while.
        let (stay, together): (Vec<_>, Vec<_>) =
            together.into_iter().partition(|own| !own.is_disjoint(&between.stopped));
        let stay: BTreeSet<Subject> = stay.into_iter().flatten().collect();
        together.into_iter().flatten().chain(too_long).filter(|subject| !stay.contains(subject)).collect()
    }

    /// Asks services for the hosts of a plan.
    ///
    /// Errors: the state cannot be read or written.
    pub fn ask<'t>(
        &'t self,
        scope: &AskScope<'_>,
        (state, id): (&mut dyn State, &'t str),
        now: Time,
    ) -> Result<Approvals<'t>, Problem> {
        let AskScope { plan, units, open, order, limits, free, between } = *scope;
        // A host that is not asked for now is not let through, either.
        let (mut asks, mut ignored) = (BTreeMap::new(), BTreeMap::new());
        for unit in open {
            let (without, own): (Vec<HostAsk>, Vec<HostAsk>) = asks_of(plan, &units[*unit], self.projects)
                .into_iter()
                .partition(|ask| self.ignores && ask.kind == TaskType::Manual);
            if !own.is_empty() {
                asks.insert(*unit, own);
            }
            if !without.is_empty() {
                ignored.insert(*unit, without.into_iter().map(|ask| ask.subject).collect());
            }
        }
        let mut in_order: Vec<HostAsk> = order.iter().filter_map(|unit| asks.get(unit)).flatten().cloned().collect();
        let mut goes_before: BTreeMap<Subject, Subject> = BTreeMap::new();
        let mut pass = ApprovalPass::new(self.term(id, now), state.approvals()?);
        if !in_order.is_empty() {
            pass.end_others(&in_order);
            let first = goes_first(&in_order, (pass.memory(), between), self.projects, now).cloned();
            if let Some(first) = first {
                let (asked, held) = make_way(&mut pass, (&first, between), self.projects, &in_order);
                in_order = asked;
                goes_before = held.into_iter().map(|ask| (ask.subject, first.subject.clone())).collect();
            }
            let hosts = asked_now(in_order, pass.memory(), (limits, free), now);
            pass.ask(hosts);
            self.run_pass(&mut pass, state)?;
        }
        Ok(Approvals { pass, asks, ignored, goes_before, now: now.to_second() })
    }

    /// Asks all services of hosts once more, right before their wave.
    ///
    /// Errors: the state cannot be written.
    pub fn confirm(
        &self,
        approvals: &mut Approvals<'_>,
        hosts: &BTreeSet<Subject>,
        state: &mut dyn State,
    ) -> Result<(), Problem> {
        approvals.pass.confirm(hosts);
        self.run_pass(&mut approvals.pass, state)
    }

    /// Ends the tasks of hosts whose turn is over, and that are not in flux: those to which no message was sent, and those whose
    /// change reaches clients at once.
    ///
    /// Errors: the state cannot be read or written.
    pub fn end(
        &self,
        (plan, applied): (&Plan, &ApplyOutcome),
        state: &mut dyn State,
        clock: Time,
    ) -> Result<(), Problem> {
        let memory = state.approvals()?;
        if memory.tasks().next().is_none() && memory.refusals.is_empty() {
            return Ok(());
        }
        let (id, rollouts) = (state.identity()?.id, state.rollouts()?);
        let now = rollouts.now(clock);
        let in_flux = hosts_in_flux(&rollouts, now);
        let mut pass = ApprovalPass::new(self.term(&id, now), memory);
        let over = applied.hosts.iter().filter(|host| host.outcome != OutcomeCode::Waiting);
        let mut over: BTreeSet<Subject> = over.filter_map(|host| host.subject.counted()).collect();
        // Who only loses an address of its name has the outcome of whose change that is.
        let is_over = |change: &&Change| change.subjects().filter_map(Subject::counted).any(|own| over.contains(&own));
        let affected = plan.changes.iter().filter(is_over);
        let affected: Vec<Subject> =
            affected.flat_map(|change| plan.affected(change)).map(|own| own.subject.clone()).collect();
        over.extend(affected);
        over.retain(|subject| !in_flux.contains(subject));
        let ids = over.iter().flat_map(|subject| pass.memory().of(subject)).map(|row| row.id.clone());
        let ids: Vec<String> = ids.collect();
        pass.end(ids);
        let done = applied.hosts.iter().filter(|host| host.outcome.is_done());
        pass.forgive(&done.filter_map(|host| host.subject.counted()).collect());
        self.run_pass(&mut pass, state)
    }

    /// Sends all that a pass asks for, and reports the requests, also those that the state cannot keep. Before a request is sent,
    /// what it needs is in the state.
    fn run_pass(&self, pass: &mut ApprovalPass<'_>, state: &mut dyn State) -> Result<(), Problem> {
        let mut keep = |pass: &mut ApprovalPass<'_>| {
            let news = pass.take_news();
            self.log.asked(&news.calls);
            state.keep_approvals(&news)
        };
        if !pass.has_work() {
            return keep(pass);
        }
        self.desk.open(&mut |line: &mut dyn CmsLine| {
            loop {
                let requests = pass.next(&|service| line.room(service));
                keep(pass)?;
                requests.into_iter().for_each(|request| line.send(request));
                let replies = line.receive();
                if replies.is_empty() {
                    return keep(pass);
                }
                replies.into_iter().for_each(|reply| pass.take(reply));
            }
        })
    }
}

impl Approvals<'_> {
    /// The hosts of units that need an approval and have none, with why; of those that were asked for once more, each service must
    /// have confirmed it.
    pub fn unapproved(&self, again: &BTreeSet<Subject>) -> BTreeMap<Subject, UnapprovedHost> {
        let allowed = self.pass.allowed();
        let is_through = |subject: &Subject| {
            allowed.contains(subject) && (!again.contains(subject) || self.pass.is_confirmed(subject))
        };
        let mut held: BTreeMap<Subject, UnapprovedHost> = BTreeMap::new();
        for asks in self.asks.values() {
            let mut own: Vec<(Subject, UnapprovedHost)> = Vec::new();
            for ask in asks.iter().filter(|ask| !is_through(&ask.subject)) {
                let is_rejected = self.pass.rejected().contains(&ask.subject);
                let mut why = unapproved(self.pass.memory(), ask, self.now, is_rejected);
                if ask.is_affected {
                    let (host, name) = (&ask.subject, &ask.host);
                    why.message = format!("{host}, `{name}`, loses an address by it, and {}", why.message);
                }
                if let Some(first) = self.goes_before.get(&ask.subject).filter(|_| why.until.is_none()) {
                    why.message = format!(
                        "{first} goes first: its change stopped in between, and it waits for the same services"
                    );
                }
                own.push((ask.subject.clone(), why));
            }
            // One that is allowed holds its places meanwhile: a service that lets one host through may wait for that for ever.
            if let Some(through) = asks.iter().find(|ask| is_through(&ask.subject)) {
                for (_, why) in own.iter_mut().filter(|(_, why)| why.until.is_none()) {
                    why.message = format!("{}; {}, which shares the change, is allowed", why.message, through.subject);
                }
            }
            // Where one is rejected, those that go with it do not go for that reason.
            if let Some((host, why)) = own.iter().find(|(_, why)| why.until.is_some()).cloned() {
                let is_affected = asks.iter().any(|ask| ask.is_affected && ask.subject == host);
                for (subject, other) in own.iter_mut().filter(|(_, other)| other.until.is_none()) {
                    let message = if is_affected {
                        why.message.clone()
                    } else {
                        format!("{subject} shares a change with {host}, and {}", why.message)
                    };
                    *other = UnapprovedHost { message, ..why.clone() };
                }
            }
            held.extend(own);
        }
        held
    }

    /// The hosts of units that go without the approvals that they need.
    pub fn ignored(&self, units: &[usize]) -> BTreeSet<Subject> {
        units.iter().filter_map(|unit| self.ignored.get(unit)).flatten().cloned().collect()
    }

    /// The hosts that a service rejected in this run.
    pub fn rejected(&self) -> &BTreeSet<Subject> {
        self.pass.rejected()
    }

    /// The hosts of units that need an approval.
    pub fn hosts_of(&self, units: &[usize]) -> BTreeSet<Subject> {
        let asks = units.iter().filter_map(|unit| self.asks.get(unit)).flatten();
        asks.map(|ask| ask.subject.clone()).collect()
    }
}
