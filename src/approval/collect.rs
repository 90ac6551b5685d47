//! Which tasks belong to nothing: they are deleted, so that no host stays out of service because of one. Pure.

use std::collections::BTreeSet;

use super::between::HostsBetween;
use super::pass::{ApprovalPass, TaskIds};
use super::tasks::{ApprovalMemory, TaskRow};
use crate::claim::Subject;
use crate::cms::task::{DRY, ListedTask};
use crate::inventory::value::{Duration, Time};

/// What is known of hosts.
#[derive(Clone, Copy)]
pub struct HostsKnown<'a> {
    /// Whether a change of a host may not have reached all clients yet.
    pub is_in_flux: &'a dyn Fn(&Subject) -> bool,
    /// Whether the plan changes a host.
    pub is_changed: &'a dyn Fn(&Subject) -> bool,
    /// Whether the plan looked at a host of a project: of others it says nothing.
    pub is_seen: &'a dyn Fn(&Subject, &str) -> bool,
    /// Whether zonewright.toml has a service.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// The services that are asked for hosts of a project.
    pub asks: &'a dyn Fn(&str, &str) -> bool,
    /// Of hosts, by the names that services get: those of which it is not known whether the state is of an earlier time. A change
    /// of which it knows nothing may not have reached all clients yet.
    pub doubtful: &'a dyn Fn(&BTreeSet<String>) -> BTreeSet<String>,
}

/// Ends and forgets tasks, by what services list.
pub fn collect(pass: &mut ApprovalPass<'_>, ids: TaskIds<'_>, hosts: &HostsKnown<'_>) {
    let (memory, lists) = (pass.memory().clone(), pass.lists().clone());
    let surplus =
        lists.iter().map(|(service, listed)| (service, without_row((service, listed), &memory, (ids, hosts.is_known))));
    let surplus: Vec<(&String, Vec<&ListedTask>)> = surplus.collect();
    let over: Vec<&TaskRow> = memory.tasks().filter(|row| is_over(row, hosts)).collect();
    // What goes because of what the state says of a host, and not by itself.
    let listed = surplus.iter().flat_map(|(_, tasks)| tasks).filter(|task| !is_dry(&task.id, ids));
    let by_state = over.iter().copied().filter(|row| !row.is_ended).map(|row| &row.host);
    let names: BTreeSet<String> = listed.flat_map(|task| &task.hosts).chain(by_state).cloned().collect();
    let doubtful = if names.is_empty() { names } else { (hosts.doubtful)(&names) };
    for (service, tasks) in surplus {
        let is_certain =
            |task: &&ListedTask| is_dry(&task.id, ids) || task.hosts.iter().all(|host| !doubtful.contains(host));
        pass.remove(service, tasks.into_iter().filter(is_certain).map(|task| task.id.clone()));
        pass.look_for(service, vanished(service, &lists[service], &memory));
    }
    let over = over.into_iter().filter(|row| row.is_ended || !doubtful.contains(&row.host));
    pass.end(over.map(|row| row.id.clone()).collect::<Vec<_>>());
}

/// The tasks in a list that no row of this service is about: those of this state, and dry runs of this owner. One whose row is of a
/// service that zonewright.toml no longer has may be here under another name.
fn without_row<'l>(
    (service, listed): (&str, &'l [ListedTask]),
    memory: &ApprovalMemory,
    (ids, is_known): (TaskIds<'_>, &dyn Fn(&str) -> bool),
) -> Vec<&'l ListedTask> {
    let own = ids.prefix();
    let has_row = |id: &str| memory.task(id).is_some_and(|row| row.service == service || is_known(&row.service));
    let is_of_nothing = |task: &&ListedTask| {
        let is_own = task.id.strip_prefix(&own).is_some_and(is_random) && !has_row(&task.id);
        is_own || is_dry(&task.id, ids)
    };
    listed.iter().filter(is_of_nothing).collect()
}

/// Whether a task is a dry run of this owner.
fn is_dry(id: &str, ids: TaskIds<'_>) -> bool {
    id.strip_prefix(&format!("{}.{DRY}.", ids.owner)).is_some_and(is_random)
}

/// Whether a text may be the random part of an id: that of another owner may begin alike, and goes on.
fn is_random(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|octet| octet.is_ascii_hexdigit())
}

/// The rows of tasks that a service does not list.
fn vanished(service: &str, listed: &[ListedTask], memory: &ApprovalMemory) -> Vec<String> {
    let known: BTreeSet<&str> = listed.iter().map(|task| task.id.as_str()).collect();
    let own = memory.tasks().filter(|row| row.service == service && !known.contains(row.id.as_str()));
    own.map(|row| row.id.clone()).collect()
}

/// Whether nothing needs a task any longer.
fn is_over(row: &TaskRow, hosts: &HostsKnown<'_>) -> bool {
    let is_in_flux = (hosts.is_in_flux)(&row.subject);
    // It was for a change whose time is over, or the project no longer asks this service.
    let is_past = row.is_used && !is_in_flux;
    let is_idle = !(hosts.is_changed)(&row.subject) && (hosts.is_seen)(&row.subject, &row.project) && !is_in_flux;
    row.is_ended || is_past || is_idle || !(hosts.asks)(&row.project, &row.service)
}

/// The hosts for which services were asked for too long, by the time that each project gives them. One that all of them allow and
/// that waits for something else counts, too: it holds a place at each of them, and who has what it waits for may wait for that. One
/// that stopped in between does not: it goes first.
pub fn asked_too_long(
    (memory, between): (&ApprovalMemory, &HostsBetween),
    give_up: &dyn Fn(&str) -> Option<Duration>,
    now: Time,
) -> BTreeSet<Subject> {
    let is_too_long = |row: &TaskRow| give_up(&row.project).is_some_and(|give_up| row.since.plus(give_up) <= now);
    let open = memory.tasks().filter(|row| !row.is_used && !row.is_ended && !between.stopped.contains(&row.subject));
    open.filter(|row| is_too_long(row)).map(|row| row.subject.clone()).collect()
}
