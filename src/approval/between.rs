//! Hosts that stopped in between: a wave changed something of such a host, and it is busy until it goes on. Where a service takes its
//! approval back, it may wait for a host that waits for it. So after a while all others let it go first. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::ask::HostAsk;
use super::pass::ApprovalPass;
use super::queue::shut_units;
use super::tasks::{ApprovalMemory, TaskRow};
use crate::claim::Subject;
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::value::Time;
use crate::rollout::RolloutMemory;
use crate::rollout::flux::FluxRow;

/// What projects ask for, by their ids.
type Projects = BTreeMap<String, ApprovalTerms>;

/// Hosts that are in flux until one of them goes on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct HostsBetween {
    /// Those whose own change stopped in between.
    pub stopped: BTreeSet<Subject>,
    /// Those that are in flux for no other reason than that one of the first will take an address at their name. Nothing of that was
    /// taken yet.
    pub affected: BTreeSet<Subject>,
}

impl HostsBetween {
    /// What waves left.
    pub fn of(rollouts: &RolloutMemory, now: Time) -> HostsBetween {
        let (between, others): (Vec<&FluxRow>, Vec<&FluxRow>) =
            rollouts.flux.iter().filter(|row| row.is_in_flux(now)).partition(|row| row.is_between());
        let stopped: BTreeSet<Subject> = between.iter().map(|row| row.subject.clone()).collect();
        let busy: BTreeSet<&Subject> =
            others.iter().flat_map(|row| std::iter::once(&row.subject).chain(&row.affected)).collect();
        let affected = between.iter().flat_map(|row| &row.affected);
        let affected = affected.filter(|own| !busy.contains(own) && !stopped.contains(own)).cloned().collect();
        HostsBetween { stopped, affected }
    }
}

/// The host that goes before all others: of those that stopped in between, or go together with one, that no service rejects, and that
/// were asked for `give_up` of their project, the one that waits longest. It goes first for the next period of that length: what one
/// host waits for in vain stops no others for ever. Later periods are its own or those of the others by the Thue-Morse sequence, so
/// that runs at regular times meet both, whatever their rhythm.
pub fn goes_first<'a>(
    asks: &'a [HostAsk],
    (memory, between): (&ApprovalMemory, &HostsBetween),
    projects: &Projects,
    now: Time,
) -> Option<&'a HostAsk> {
    let shut = shut_units(asks, memory, now);
    let stopped: BTreeSet<usize> =
        asks.iter().filter(|ask| between.stopped.contains(&ask.subject)).map(|ask| ask.unit).collect();
    let waits_since = |ask: &HostAsk| {
        let terms = projects.get(&ask.project)?;
        let waits = |row: &&TaskRow| !row.is_ended && !row.is_ok() && terms.services.contains(&row.service);
        let since = memory.of(&ask.subject).filter(waits).map(|row| row.since).min()?;
        let turns = now.since(since)?.as_secs() / terms.give_up.as_secs().max(1);
        let is_free = stopped.contains(&ask.unit) && !shut.contains(&ask.unit);
        (is_free && turns.count_ones() % 2 == 1).then_some(since)
    };
    let late = asks.iter().filter_map(|ask| Some((waits_since(ask)?, ask)));
    late.min_by_key(|(since, ask)| (*since, &ask.subject)).map(|(_, ask)| ask)
}

/// Lets a host go first: at the services that do not allow it yet, others lose the tasks that no wave used, and are not asked for; who
/// is affected by one that stopped in between loses also those that a wave used. Gives the hosts to ask for, those that go with it before all others; and those that are not asked for.
pub fn make_way(
    pass: &mut ApprovalPass<'_>,
    (first, between): (&HostAsk, &HostsBetween),
    projects: &Projects,
    asks: &[HostAsk],
) -> (Vec<HostAsk>, Vec<HostAsk>) {
    let services = |project: &str| projects.get(project).map(|terms| terms.services.as_slice()).unwrap_or_default();
    let memory = pass.memory();
    let is_allowed = |service: &str| memory.of(&first.subject).any(|row| row.service == service && row.is_ok());
    let wanted: BTreeSet<&String> = services(&first.project).iter().filter(|service| !is_allowed(service)).collect();
    // The service that is built in counts for each project by itself.
    let is_wanted = |project: &str, service: &String| {
        wanted.contains(service) && (service != DEFAULT_SERVICE || project == first.project)
    };
    let mates: BTreeSet<&Subject> = asks.iter().filter(|ask| ask.unit == first.unit).map(|ask| &ask.subject).collect();
    // One that stopped in between, too, and that all services allow, goes on: that ends by itself.
    let may_go_on = |subject: &Subject| {
        between.stopped.contains(subject) && memory.of(subject).all(|row| row.is_ended || row.is_ok())
    };
    let is_lost = |row: &&TaskRow| {
        let is_open = !row.is_ended && (!row.is_used || between.affected.contains(&row.subject));
        is_open && is_wanted(&row.project, &row.service) && !mates.contains(&row.subject) && !may_go_on(&row.subject)
    };
    let lost: Vec<String> = memory.tasks().filter(is_lost).map(|row| row.id.clone()).collect();
    let is_held = |ask: &&HostAsk| {
        let shares = || services(&ask.project).iter().any(|service| is_wanted(&ask.project, service));
        ask.unit != first.unit && !may_go_on(&ask.subject) && shares()
    };
    // Hosts that share a change are asked for together, or not at all.
    let units: BTreeSet<usize> = asks.iter().filter(is_held).map(|ask| ask.unit).collect();
    let (mut asked, held): (Vec<HostAsk>, Vec<HostAsk>) =
        asks.iter().cloned().partition(|ask| !units.contains(&ask.unit));
    asked.sort_by_key(|ask| ask.unit != first.unit);
    pass.end(lost);
    (asked, held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::fixture::{ask, row, said, terms};
    use crate::approval::pass::{ApprovalTerm, TaskIds};
    use crate::cms::task::TaskStatus;
    use crate::inventory::value::Duration;
    use crate::rollout::FluxStage;

    /// Host 1 stopped in between and waits for `a`, which lets host 2 through; host 2 waits for the service that is built in. Host 3
    /// stopped in between, too, and may go on. Host 4 is of a project that asks another service.
    fn memory() -> ApprovalMemory {
        let (ok, waits) = (TaskStatus::Ok, TaskStatus::InProcess);
        let used = |row| TaskRow { is_used: true, ..row };
        let rows = [
            said("a", 1, waits),
            used(said(DEFAULT_SERVICE, 1, ok)),
            said("a", 2, ok),
            said(DEFAULT_SERVICE, 2, waits),
            said("a", 3, ok),
            used(said(DEFAULT_SERVICE, 3, ok)),
            TaskRow { project: "web".to_owned(), ..said("z", 4, ok) },
        ];
        ApprovalMemory::new(rows, BTreeMap::new())
    }

    #[test]
    fn who_holds_what_a_host_in_between_needs_lets_go_of_it_after_a_while() {
        let projects: Projects =
            [("search".to_owned(), terms(&["a", DEFAULT_SERVICE])), ("web".to_owned(), terms(&["z", DEFAULT_SERVICE]))]
                .into();
        let of_web = HostAsk { project: "web".to_owned(), ..ask(4) };
        let asks = vec![ask(2), of_web, ask(3), ask(1)];
        let memory = memory();
        let late = row("a", 1).since.plus(terms(&[]).give_up);
        let between = HostsBetween { stopped: [1, 3].map(|own| ask(own).subject).into(), affected: BTreeSet::new() };
        let first = |now| goes_first(&asks, (&memory, &between), &projects, now).map(|ask| ask.subject.clone());
        assert_eq!(first(late.minus(Duration::from_secs(1))), None);
        assert_eq!(first(late), Some(ask(1).subject), "hosts 2 and 4 did not stop in between");
        let periods = |count: u64| late.plus(Duration::from_secs(count * terms(&[]).give_up.as_secs()));
        assert_eq!(first(periods(2)), None, "others have their turn");
        // Runs that come each second period, or each third, meet both.
        for rhythm in 2..20 {
            let turns: BTreeSet<bool> = (0..40).map(|run| first(periods(run * rhythm)).is_some()).collect();
            assert_eq!(turns.len(), 2, "each {rhythm} periods");
        }

        let ids = TaskIds { owner: "us", state: "state", run: 2, random: &|| "new".to_owned() };
        let services = BTreeMap::new();
        let term = ApprovalTerm { projects: &projects, services: &services, ids, now: late };
        let mut pass = ApprovalPass::new(term, memory.clone());
        let (asked, left) = make_way(&mut pass, (&ask(1), &between), &projects, &asks);
        let asked: Vec<String> = asked.iter().map(|ask| ask.subject.to_string()).collect();
        assert_eq!(asked, ["host:1", "host:4", "host:3"], "host 2 is not asked for");
        assert_eq!(left, [ask(2)]);
        let mut held: Vec<String> =
            pass.memory().tasks().filter(|row| !row.is_ended).map(|row| row.id.clone()).collect();
        held.sort();
        let expected = ["a1", "a3", "default1", "default2", "default3", "z4"].map(|own| format!("us.state.{own}"));
        assert_eq!(held, expected);
    }

    #[test]
    fn who_only_waits_with_a_host_in_between_lets_go_of_what_that_host_needs() {
        let projects: Projects = [("search".to_owned(), terms(&["a", "b"]))].into();
        let used = |service| TaskRow { is_used: true, ..said(service, 2, TaskStatus::Ok) };
        // A service rejected host 1, so that it has no task that a wave used.
        let memory = ApprovalMemory::new([said("a", 1, TaskStatus::InProcess), used("a"), used("b")], BTreeMap::new());
        let between = HostsBetween { stopped: [ask(1).subject].into(), affected: [ask(2).subject].into() };
        let late = row("a", 1).since.plus(terms(&[]).give_up);
        let asks = [ask(1)];
        let first = goes_first(&asks, (&memory, &between), &projects, late).expect("it waited for long");
        let ids = TaskIds { owner: "us", state: "state", run: 2, random: &|| "new".to_owned() };
        let services = BTreeMap::new();
        let term = ApprovalTerm { projects: &projects, services: &services, ids, now: late };
        let held = |between: &HostsBetween| {
            let mut pass = ApprovalPass::new(term, memory.clone());
            make_way(&mut pass, (first, between), &projects, &asks);
            let held = pass.memory().tasks().filter(|row| !row.is_ended).map(|row| row.id.clone());
            held.collect::<BTreeSet<String>>()
        };
        let expected = |ids: &[&str]| ids.iter().map(|own| format!("us.state.{own}")).collect::<BTreeSet<String>>();
        // `b` is not asked for host 1 while `a` does not allow it.
        assert_eq!(held(&between), expected(&["a1"]));
        // One that is in flux by itself keeps its tasks.
        let alone = HostsBetween { affected: BTreeSet::new(), ..between.clone() };
        assert_eq!(held(&alone), expected(&["a1", "a2", "b2"]));
    }

    #[test]
    fn one_that_goes_together_with_a_host_in_between_goes_first_where_it_waits() {
        let projects: Projects = [("search".to_owned(), terms(&["a"]))].into();
        let asks = [ask(1), HostAsk { unit: ask(1).unit, ..ask(2) }, ask(3)];
        let rows =
            [said("a", 1, TaskStatus::Ok), said("a", 2, TaskStatus::InProcess), said("a", 3, TaskStatus::InProcess)];
        let memory = ApprovalMemory::new(rows, BTreeMap::new());
        let between = HostsBetween { stopped: [ask(1).subject].into(), ..HostsBetween::default() };
        let late = row("a", 1).since.plus(terms(&[]).give_up);
        assert_eq!(goes_first(&asks, (&memory, &between), &projects, late), Some(&asks[1]));
    }

    #[test]
    fn hosts_that_are_in_flux_for_another_reason_too_do_not_only_wait() {
        let now: Time = "2026-11-20T03:00:00Z".parse().unwrap();
        let row = |subject: u64, affected: &[u64], is_between: bool| FluxRow {
            affected: affected.iter().map(|own| ask(*own).subject).collect(),
            wanted: is_between.then(Vec::new),
            subject: ask(subject).subject,
            apply: 1,
            group: "search".to_owned(),
            location: String::new(),
            settle: Duration::from_secs(300),
            is_disruptive: true,
            is_repair: false,
            is_down: false,
            canary_of: None,
            before: Vec::new(),
            gave: Vec::new(),
            stage: FluxStage::NotServed,
            answer: None,
        };
        let flux = vec![row(1, &[2, 3, 4], true), row(3, &[], false), row(5, &[4], false)];
        let between = HostsBetween::of(&RolloutMemory { flux, ..RolloutMemory::default() }, now);
        let expected = HostsBetween { stopped: [ask(1).subject].into(), affected: [ask(2).subject].into() };
        assert_eq!(between, expected);
    }
}
