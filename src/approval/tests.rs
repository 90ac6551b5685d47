//! What is asked of services, in which order, and what is kept before.

mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::time;

use super::ask::asks_of;
use super::between::HostsBetween;
use super::collect::{HostsKnown, asked_too_long, collect};
use super::fixture::{ask, terms};
use super::outlook::unapproved;
use super::pass::CmsContent;
use super::queue::asked_now;
use super::*;
use crate::change::fixture::change;
use crate::change::{AffectedHost, Change};
use crate::claim::Subject;
use crate::cms::task::{ListedTask, TaskAnswer, TaskStatus, TaskType};
use crate::cms::{CmsFault, CmsFaultKind};
use crate::dns::Rtype;
use crate::inventory::approvals::ApprovalTerms;
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::value::{Duration, Inv, Time};
use crate::plan::{HostSeen, Plan, PlanScope, fixture};
use crate::rollout::{units, units_of};

/// So many seconds after a time.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// A host.
fn host(inv: u64) -> Subject {
    Subject::Host(Inv(inv))
}

/// Services in a test, and what is kept.
struct Yard {
    /// What the project asks.
    projects: BTreeMap<String, ApprovalTerms>,
    /// The services, with their versions.
    services: BTreeMap<String, CmsVersion>,
    /// What is kept.
    kept: ApprovalMemory,
    /// The clock.
    now: Time,
}

/// What a service answers.
type Answers<'a> = &'a dyn Fn(&CmsRequest) -> Result<CmsContent, CmsFault>;

impl Yard {
    /// Services of these names; a project asks all of them and `default`.
    fn new(services: &[(&str, CmsVersion)]) -> Yard {
        let names: Vec<&str> = services.iter().map(|(name, _)| *name).chain(["default"]).collect();
        Yard {
            projects: [("search".to_owned(), terms(&names))].into(),
            services: services.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect(),
            kept: ApprovalMemory::default(),
            now: at(0),
        }
    }

    /// Does something with a pass, sends all that it asks for, and keeps what changed; gives the requests as they were sent, and
    /// what is known at the end.
    fn pass(&mut self, begin: impl FnOnce(&mut ApprovalPass<'_>), answers: Answers<'_>) -> Vec<String> {
        let drawn = std::sync::atomic::AtomicU64::new(
            self.kept.tasks().count() as u64 + 100 * self.now.since(at(0)).map_or(0, |own| own.as_secs()),
        );
        let random = || format!("{:032x}", drawn.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
        let ids = TaskIds { owner: "dns", state: "5f", run: 7, random: &random };
        let term = ApprovalTerm { projects: &self.projects, services: &self.services, ids, now: self.now };
        let mut pass = ApprovalPass::new(term, self.kept.clone());
        begin(&mut pass);
        let mut sent = Vec::new();
        loop {
            let requests = pass.next(&|_| 1);
            let news = pass.take_news();
            keep(&mut self.kept, &news);
            if requests.is_empty() {
                return sent;
            }
            for request in requests {
                if let CmsRequestKind::Create(task) = &request.kind {
                    assert!(self.kept.task(&task.id).is_some(), "the row is there before the request");
                }
                sent.push(text(&request, &self.kept));
                let content = answers(&request);
                pass.take(CmsReply { request, content, took: time::Duration::ZERO });
            }
        }
    }
}

/// Keeps what changed.
fn keep(kept: &mut ApprovalMemory, news: &ApprovalNews) {
    news.kept.values().for_each(|row| kept.insert(row.clone()));
    news.gone.iter().for_each(|id| drop(kept.remove(id)));
    news.forgotten.iter().for_each(|subject| drop(kept.refusals.remove(subject)));
    kept.refusals.extend(news.refused.clone());
}

/// A request in short: the service, what is asked, the host.
fn text(request: &CmsRequest, kept: &ApprovalMemory) -> String {
    let of = |id: &str| kept.task(id).map_or("-".to_owned(), |row| row.subject.to_string());
    match &request.kind {
        CmsRequestKind::Create(task) => format!("{} {} {}", request.service, task.action, of(&task.id)),
        CmsRequestKind::Poll(id, _) => format!("{} poll {}", request.service, of(id)),
        CmsRequestKind::List => format!("{} list", request.service),
        CmsRequestKind::Delete(id) => format!("{} delete {}", request.service, of(id)),
    }
}

/// An answer about a task.
fn says(status: TaskStatus) -> Result<CmsContent, CmsFault> {
    Ok(CmsContent::Task(Some(TaskAnswer { status, message: "3 shards".to_owned() })))
}

/// All services say the same, and delete what they are to.
fn all_say(status: TaskStatus) -> impl Fn(&CmsRequest) -> Result<CmsContent, CmsFault> {
    move |request| match request.kind {
        CmsRequestKind::Delete(_) => Ok(CmsContent::Gone),
        CmsRequestKind::List => Ok(CmsContent::Tasks(Vec::new())),
        CmsRequestKind::Create(_) | CmsRequestKind::Poll(..) => says(status),
    }
}

/// Two services.
const TWO: [(&str, CmsVersion); 2] = [("a", CmsVersion::V1_4), ("b", CmsVersion::V1_0)];

#[test]
fn each_service_is_asked_after_the_ok_of_the_one_before_and_all_once_more() {
    let mut yard = Yard::new(&TWO);
    let sent = yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::Ok));
    assert_eq!(sent, ["a temporary-unreachable host:1", "b reboot host:1"]);
    assert_eq!(yard.kept.of(&host(1)).filter(|row| row.is_ok()).count(), 3, "`default`, too");
    let mut is_confirmed = (false, false);
    let sent = yard.pass(
        |pass| {
            pass.ask(vec![ask(1)]);
            is_confirmed.0 = pass.is_confirmed(&host(1));
            pass.confirm(&BTreeSet::from([host(1)]));
        },
        &all_say(TaskStatus::Ok),
    );
    assert_eq!((sent, is_confirmed.0), (vec!["a poll host:1".to_owned(), "b poll host:1".to_owned()], false));
}

#[test]
fn asking_once_more_asks_for_no_further_hosts() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::Ok));
    // `a` has not been reached for host 2 when the wave of host 1 is about to go.
    let sent = yard.pass(
        |pass| {
            pass.ask(vec![ask(1), ask(2)]);
            pass.confirm(&BTreeSet::from([host(1)]));
        },
        &all_say(TaskStatus::Ok),
    );
    assert_eq!(sent, ["a poll host:1", "b poll host:1"]);
}

#[test]
fn silence_and_in_process_let_no_host_through_and_keep_its_task() {
    let mut yard = Yard::new(&TWO);
    let late = |_: &CmsRequest| Err(CmsFault::new(CmsFaultKind::Late, "`a` did not answer within 10 s"));
    assert_eq!(yard.pass(|pass| pass.ask(vec![ask(1)]), &late), ["a temporary-unreachable host:1"]);
    let why = unapproved(&yard.kept, &ask(1), at(1), false);
    let message = "`a` gives no answer, asked since 2026-11-20T02:00:00Z: `a` did not answer within 10 s";
    assert_eq!((why.message.as_str(), why.until), (message, None));
    yard.now = at(60);
    assert_eq!(yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::InProcess)), ["a poll host:1"]);
    let message = "`a` does not allow it yet, asked since 2026-11-20T02:00:00Z: 3 shards";
    assert_eq!(unapproved(&yard.kept, &ask(1), at(61), false).message, message);
}

#[test]
fn a_rejection_deletes_all_tasks_and_holds_for_an_hour_for_this_change() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1)]), &|request| match (&request.kind, request.service.as_str()) {
        (CmsRequestKind::Delete(_), _) => Ok(CmsContent::Gone),
        (_, "a") => says(TaskStatus::Ok),
        _ => says(TaskStatus::Rejected),
    });
    assert_eq!(yard.kept.tasks().count(), 0);
    let why = unapproved(&yard.kept, &ask(1), at(5), true);
    assert_eq!((why.message.as_str(), why.until, why.is_rejected), ("`b` rejects it: 3 shards", Some(at(3600)), true));
    let asked = |ask: HostAsk, now| asked_now(vec![ask], &yard.kept, (&BTreeMap::new(), &BTreeSet::new()), now).len();
    assert_eq!(asked(ask(1), at(3599)), 0);
    assert_eq!(asked(ask(1), at(3600)), 1);
    assert_eq!(asked(HostAsk { change: "2".to_owned(), ..ask(1) }, at(5)), 1, "another change");
    assert_eq!(asked(HostAsk { kind: TaskType::Manual, ..ask(1) }, at(5)), 1, "a person named it");
}

#[test]
fn the_built_in_service_lets_so_many_be_busy() {
    let mut yard = Yard::new(&[]);
    assert!(yard.pass(|pass| pass.ask((1..=4).map(ask).collect()), &all_say(TaskStatus::Ok)).is_empty());
    let busy: Vec<bool> = (1..=4).map(|inv| yard.kept.of(&host(inv)).all(TaskRow::is_ok)).collect();
    assert_eq!(busy, [true, true, false, false]);
    let message =
        "`default` does not allow it yet, asked since 2026-11-20T02:00:00Z: 2 hosts of `search` are busy, and 2 may be";
    assert_eq!(unapproved(&yard.kept, &ask(3), at(5), false).message, message);
    let ids: Vec<String> = yard.kept.of(&host(1)).map(|row| row.id.clone()).collect();
    yard.pass(|pass| pass.end(ids), &all_say(TaskStatus::Ok));
    yard.pass(|pass| pass.ask(vec![ask(3)]), &all_say(TaskStatus::Ok));
    assert!(yard.kept.of(&host(3)).all(TaskRow::is_ok));
}

#[test]
fn a_task_that_its_service_forgot_is_asked_anew_with_a_new_id() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::InProcess));
    let id = |yard: &Yard| yard.kept.of(&host(1)).map(|row| row.id.clone()).collect::<Vec<_>>();
    let first = id(&yard);
    yard.now = at(1);
    let sent = yard.pass(|pass| pass.ask(vec![ask(1)]), &|request| match request.kind {
        CmsRequestKind::Poll(..) => Ok(CmsContent::Task(None)),
        _ => says(TaskStatus::InProcess),
    });
    assert_eq!(sent, ["a poll host:1", "a temporary-unreachable host:1"]);
    assert!(id(&yard).len() == 1 && id(&yard) != first);
}

#[test]
fn a_failed_delete_is_tried_again() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::InProcess));
    let ids: Vec<String> = yard.kept.tasks().map(|row| row.id.clone()).collect();
    let fails = |_: &CmsRequest| Err(CmsFault::new(CmsFaultKind::Status, "`a` answers with status 500"));
    assert_eq!(yard.pass(|pass| pass.end(ids), &fails), ["a delete host:1"]);
    assert!(yard.kept.tasks().all(|row| row.is_ended));
    let rest = |pass: &mut ApprovalPass<'_>| {
        let ended: Vec<String> = pass.memory().tasks().map(|row| row.id.clone()).collect();
        pass.end(ended);
    };
    yard.pass(rest, &all_say(TaskStatus::Ok));
    assert_eq!(yard.kept.tasks().count(), 0);
}

#[test]
fn tasks_that_belong_to_nothing_are_deleted_and_others_stay() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask((1..=5).map(ask).collect()), &all_say(TaskStatus::InProcess));
    let mut used: Vec<TaskRow> =
        yard.kept.tasks().filter(|row| [4, 5].map(host).contains(&row.subject)).cloned().collect();
    used.iter_mut().for_each(|row| row.is_used = true);
    used.into_iter().for_each(|row| yard.kept.insert(row));
    let listed = |id: &str| ListedTask { id: id.to_owned(), hosts: vec![ask(9).host], status: TaskStatus::Ok };
    let mut list: Vec<ListedTask> =
        yard.kept.tasks().filter(|row| row.subject != host(3)).map(|row| listed(&row.id)).collect();
    list.extend(["dns.5f.77", "dns.60.77", "dns.dry.1", "dns.dry.5f.77", "other.5f.77"].map(listed));
    let kept = yard.kept.clone();
    let ids = TaskIds { owner: "dns", state: "5f", run: 8, random: &String::new };
    let term = ApprovalTerm { projects: &yard.projects, services: &yard.services, ids, now: at(9) };
    let pass = || {
        let mut pass = ApprovalPass::new(term, kept.clone());
        pass.ask_lists([&"a".to_owned()]);
        for request in pass.next(&|_| 1) {
            pass.take(CmsReply { request, content: Ok(CmsContent::Tasks(list.clone())), took: time::Duration::ZERO });
        }
        pass
    };
    // Host 1 is in the plan, host 2 is not; 4 is in flux, and 5 has settled.
    let hosts = HostsKnown {
        is_in_flux: &|subject| *subject == host(4),
        is_changed: &|subject| [1, 3].map(host).contains(subject),
        is_seen: &|_, _| true,
        is_known: &|_| true,
        asks: &|_, _| true,
        doubtful: &|_| BTreeSet::new(),
    };
    let requests = |pass: &mut ApprovalPass<'_>| -> BTreeSet<String> {
        let word = |request: CmsRequest| match request.kind {
            CmsRequestKind::Delete(id) => yard.kept.task(&id).map_or(id, |row| row.subject.to_string()),
            CmsRequestKind::Poll(id, _) => format!("poll {}", yard.kept.task(&id).expect("a row").subject),
            other => panic!("{other:?}"),
        };
        pass.next(&|_| 100).into_iter().map(word).collect()
    };
    // Where the state may be of an earlier time, a host of which it knows nothing may be in flux.
    let mut doubtful = pass();
    collect(&mut doubtful, ids, &HostsKnown { doubtful: &|names| names.clone(), ..hosts });
    assert_eq!(requests(&mut doubtful), ["dns.dry.1", "poll host:3"].map(str::to_owned).into());
    let mut pass = pass();
    collect(&mut pass, ids, &hosts);
    // The list may lag: only what the service does not know is forgotten.
    let expected = ["dns.5f.77", "dns.dry.1", "host:2", "host:5", "poll host:3"];
    assert_eq!(requests(&mut pass), expected.map(str::to_owned).into());
    let left: BTreeSet<&Subject> = pass.memory().tasks().filter(|row| !row.is_ended).map(|row| &row.subject).collect();
    assert_eq!(left, [&host(1), &host(3), &host(4)].into());
}

#[test]
fn who_is_asked_for_too_long_goes_to_the_end() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1), ask(2)]), &all_say(TaskStatus::InProcess));
    let give_up = |_: &str| Some(Duration::from_secs(100));
    assert!(asked_too_long((&yard.kept, &HostsBetween::default()), &give_up, at(99)).is_empty());
    yard.now = at(100);
    let too_long = BTreeSet::from([host(1)]);
    yard.pass(|pass| pass.give_up(&too_long), &all_say(TaskStatus::Ok));
    let limits = BTreeMap::from([("search".to_owned(), 2)]);
    let asked = asked_now((1..=4).map(ask).collect(), &yard.kept, (&limits, &BTreeSet::new()), at(100));
    let asked: Vec<String> = asked.iter().map(|ask| ask.subject.to_string()).collect();
    assert_eq!(asked, ["host:2", "host:3"], "host 2 keeps its place, host 1 comes last");
}

#[test]
fn who_is_allowed_and_waits_for_something_else_holds_its_places_for_so_long_only() {
    let mut yard = Yard::new(&TWO);
    yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::Ok));
    assert!(yard.kept.tasks().all(TaskRow::is_ok));
    let give_up = |_: &str| Some(Duration::from_secs(100));
    assert!(asked_too_long((&yard.kept, &HostsBetween::default()), &give_up, at(99)).is_empty());
    assert_eq!(asked_too_long((&yard.kept, &HostsBetween::default()), &give_up, at(100)), [host(1)].into());
}

/// A plan of changes, with what the inventory says of hosts.
fn plan(changes: Vec<Change>, hosts: &[(u64, HostSeen)]) -> Plan {
    Plan { changes, hosts: hosts.iter().map(|(inv, seen)| (Inv(*inv), seen.clone())).collect(), ..fixture::empty() }
}

/// What is asked for the first unit of a plan.
fn asked(plan: &Plan) -> Option<(CmsAction, String, String, TaskType)> {
    let projects = BTreeMap::from([("search".to_owned(), terms(&["a"]))]);
    let ask = asks_of(plan, &units(&plan.changes)[0], &projects).into_iter().next()?;
    Some((ask.action, ask.host, ask.comment, ask.kind))
}

/// A change of the AAAA of a name of host 1.
fn aaaa(name: &str, before: &[&str], after: &[&str]) -> Change {
    change(("search", Some(1)), (name, Rtype::AAAA), ((600, before), (600, after)), &[])
}

#[test]
fn an_action_says_what_a_plan_does_to_a_host() {
    let seen =
        |new, left| HostSeen { name: Some("h1.search.example.net.".to_owned()), new, left, ..HostSeen::default() };
    let moved = aaaa("h1.search.example.net", &["2001:db8::1"], &["2001:db8::2"]);
    let name = "h1.search.example.net".to_owned();
    let replaced = "AAAA replaced".to_owned();
    assert_eq!(
        asked(&plan(vec![moved.clone()], &[(1, seen(false, false))])),
        Some((CmsAction::TemporaryUnreachable, name.clone(), replaced.clone(), TaskType::Automated))
    );
    let named = PlanScope { subjects: vec![host(1)], ..PlanScope::default() };
    let manual = Plan { only: Some(named), ..plan(vec![moved.clone()], &[]) };
    assert_eq!(asked(&manual).map(|(.., kind)| kind), Some(TaskType::Manual));
    let created = aaaa("h1.search.example.net", &[], &["2001:db8::2"]);
    let prepared = Some((CmsAction::Prepare, name, "AAAA added".to_owned(), TaskType::Automated));
    assert_eq!(asked(&plan(vec![created.clone()], &[(1, seen(true, false))])), prepared);
    assert_eq!(asked(&plan(vec![created.clone()], &[(1, seen(false, false))])), None, "it has others");
    let released = |change: Change| Change { subject: Subject::Released(Inv(1)), ..change };
    let gone = vec![
        released(aaaa("h1.search.example.net", &["2001:db8::1"], &[])),
        released(aaaa("fb-h1.search.example.net", &["2001:db8::9"], &[])),
    ];
    let left = asked(&plan(gone.clone(), &[]));
    assert_eq!(
        left.map(|(action, host, ..)| (action, host)),
        Some((CmsAction::Deactivate, "h1.search.example.net".to_owned()))
    );
    assert_eq!(asked(&plan(gone, &[(1, seen(false, false))])), None, "it has another name now");
    let undo = Plan { undoes: Some(3), ..plan(vec![created], &[]) };
    assert_eq!(asked(&undo).map(|(action, ..)| action), Some(CmsAction::Prepare));
    let elsewhere = Change { project: "web".to_owned(), ..moved };
    assert_eq!(asked(&plan(vec![elsewhere], &[])), None, "its project asks nothing");
}

#[test]
fn a_host_at_whose_name_another_one_takes_an_address_is_asked_for() {
    let taken = |before: &[&str], after: &[&str]| {
        let own = aaaa("h2.search.example.net", before, after);
        let project = "search".to_owned();
        let affected = AffectedHost { name: "h2.search.example.net.".to_owned(), project, subject: host(2) };
        let own_host = PlanScope { subjects: vec![host(1)], ..PlanScope::default() };
        Plan { affected: vec![affected], only: Some(own_host), ..plan(vec![own], &[]) }
    };
    let projects = BTreeMap::from([("search".to_owned(), terms(&["a"]))]);
    let asked = |plan: &Plan| -> Vec<(Subject, String, TaskType, bool)> {
        let asks = asks_of(plan, &units(&plan.changes)[0], &projects).into_iter();
        asks.map(|ask| (ask.subject, ask.host, ask.kind, ask.is_affected)).collect()
    };
    let name = || "h2.search.example.net".to_owned();
    let plan = taken(&["2001:db8::1"], &[]);
    let own = (host(1), name(), TaskType::Manual, false);
    assert_eq!(asked(&plan), [own.clone(), (host(2), name(), TaskType::Automated, true)]);
    assert_eq!(asked(&taken(&["2001:db8::1"], &["2001:db8::1", "2001:db8::2"])), [], "nothing is taken");
    // Where the host has a part in the change, it is a host of the plan as any other.
    let mut plan = plan;
    plan.changes[0].also = vec![host(2)];
    assert_eq!(asked(&plan), [own, (host(2), name(), TaskType::Automated, false)]);
}

#[test]
fn a_host_is_asked_for_by_its_own_name_whatever_names_its_change_is_at() {
    let seen = |name: &str| HostSeen { name: Some(format!("{name}.search.example.net.")), ..HostSeen::default() };
    // Host 1 comes, and its address goes from the second name of host 2.
    let changes = vec![
        aaaa("fb-h2.search.example.net", &["2001:db8::1"], &[]),
        aaaa("h1.search.example.net", &[], &["2001:db8::1"]),
    ];
    let project = "search".to_owned();
    let affected = AffectedHost { name: "fb-h2.search.example.net.".to_owned(), project, subject: host(2) };
    let plan = Plan { affected: vec![affected], ..plan(changes, &[(1, seen("h1")), (2, seen("h2"))]) };
    let projects = BTreeMap::from([("search".to_owned(), terms(&["a"]))]);
    let names: Vec<String> = asks_of(&plan, &units_of(&plan)[0], &projects).into_iter().map(|ask| ask.host).collect();
    assert_eq!(names, ["h1.search.example.net", "h2.search.example.net"]);
}

#[test]
fn a_host_that_only_loses_an_address_is_asked_for_with_those_that_go_with_it() {
    let in_unit = |inv: u64, unit: usize, is_affected| HostAsk { unit, is_affected, ..ask(inv) };
    // Host 9 goes with host 1, host 8 with one that needs no approval.
    let asks = || vec![in_unit(9, 1, true), in_unit(1, 1, false), in_unit(8, 2, true), in_unit(3, 3, false)];
    let asked = |limit: usize| -> Vec<String> {
        let limits = BTreeMap::from([("search".to_owned(), limit)]);
        let asked = asked_now(asks(), &ApprovalMemory::default(), (&limits, &BTreeSet::new()), at(0));
        asked.iter().map(|ask| ask.subject.to_string()).collect()
    };
    assert_eq!(asked(0), ["host:8"]);
    assert_eq!(asked(1), ["host:9", "host:1", "host:8"]);
    assert_eq!(asked(2), ["host:9", "host:1", "host:8", "host:3"]);
}

#[test]
fn changes_that_take_addresses_of_one_other_host_go_together() {
    let own = |inv: u64, name: &str| {
        change(("search", Some(inv)), (name, Rtype::AAAA), ((600, &["2001:db8::1"][..]), (600, &[])), &[])
    };
    let changes =
        vec![own(1, "h9.search.example.net"), own(2, "fb-h9.search.example.net"), own(3, "h3.search.example.net")];
    let affected = |name: &str| AffectedHost {
        name: format!("{name}.search.example.net."),
        project: "search".to_owned(),
        subject: host(9),
    };
    let plan = Plan { affected: vec![affected("fb-h9"), affected("h9")], ..plan(changes, &[]) };
    let units = units_of(&plan);
    let places: Vec<&[usize]> = units.iter().map(|unit| &unit.changes[..]).collect();
    assert_eq!(places, [&[0, 1][..], &[2]]);
    let projects = BTreeMap::from([("search".to_owned(), terms(&["a"]))]);
    let asks = asks_of(&plan, &units[0], &projects);
    let asked: Vec<&Subject> = asks.iter().map(|ask| &ask.subject).collect();
    assert_eq!(asked, [&host(1), &host(2), &host(9)], "each is asked for once");
}

#[test]
fn hosts_that_go_together_become_busy_together_or_not_at_all() {
    let together = |inv: u64| HostAsk { unit: 1, ..ask(inv) };
    let answers = |request: &CmsRequest| match &request.kind {
        CmsRequestKind::Create(task) if task.host().starts_with("h2") => says(TaskStatus::InProcess),
        _ => says(TaskStatus::Ok),
    };
    let mut yard = Yard::new(&[TWO[0]]);
    yard.pass(|pass| pass.ask(vec![together(1), together(2), ask(3)]), &answers);
    let is_busy = |yard: &Yard, inv| yard.kept.of(&host(inv)).any(|row| row.is_built_in() && row.is_ok());
    assert_eq!(
        [1, 2, 3].map(|inv| is_busy(&yard, inv)),
        [false, false, true],
        "2 may be busy, and host 2 is not through"
    );
    let message = "a host that shares its change has not been let through by all services";
    assert!(unapproved(&yard.kept, &together(1), at(1), false).message.ends_with(message));
    yard.pass(|pass| pass.ask(vec![together(1), together(2)]), &all_say(TaskStatus::Ok));
    assert_eq!([1, 2].map(|inv| is_busy(&yard, inv)), [false, false], "host 3 is busy, and both need a place");
    let ids: Vec<String> = yard.kept.of(&host(3)).map(|row| row.id.clone()).collect();
    yard.pass(|pass| pass.end(ids), &all_say(TaskStatus::Ok));
    yard.pass(|pass| pass.ask(vec![together(1), together(2)]), &all_say(TaskStatus::Ok));
    assert_eq!([1, 2].map(|inv| is_busy(&yard, inv)), [true, true]);
    // Three that go together never fit where two may be busy, and say so.
    let mut yard = Yard::new(&[]);
    yard.pass(|pass| pass.ask((1..=3).map(together).collect()), &all_say(TaskStatus::Ok));
    let message = unapproved(&yard.kept, &together(1), at(1), false).message;
    assert!(
        message.ends_with("3 hosts of `search` share a change, and 2 may be busy: raise `max_busy_hosts`"),
        "{message}"
    );
}

#[test]
fn a_rejection_lets_go_of_those_that_go_together_with_the_host() {
    let together = |inv: u64| HostAsk { unit: 1, ..ask(inv) };
    let mut yard = Yard::new(&[TWO[0]]);
    yard.pass(|pass| pass.ask(vec![together(1), together(2)]), &|request| match &request.kind {
        CmsRequestKind::Delete(_) => Ok(CmsContent::Gone),
        CmsRequestKind::Create(task) if task.host().starts_with("h2") => says(TaskStatus::Rejected),
        _ => says(TaskStatus::Ok),
    });
    assert_eq!(yard.kept.tasks().count(), 0);
    let asked = asked_now(vec![together(1), together(2)], &yard.kept, (&BTreeMap::new(), &BTreeSet::new()), at(9));
    assert!(asked.is_empty(), "neither is asked for within the hour");
}

#[test]
fn a_task_is_deleted_only_after_the_reply_to_what_is_under_way() {
    let mut yard = Yard::new(&[TWO[0]]);
    let together = |inv: u64| HostAsk { unit: 1, ..ask(inv) };
    // Both requests are under way, and the reply about host 2 comes first.
    let begin = |pass: &mut ApprovalPass<'_>| {
        pass.ask(vec![together(1), together(2)]);
        let is_of_first = |request: &CmsRequest| matches!(&request.kind, CmsRequestKind::Create(task) if task.host().starts_with("h1"));
        let mut requests = pass.next(&|_| 2);
        requests.sort_by_key(is_of_first);
        let deleted = requests.into_iter().zip([TaskStatus::Rejected, TaskStatus::Ok]).map(|(request, status)| {
            pass.take(CmsReply { request, content: says(status), took: time::Duration::ZERO });
            pass.next(&|_| 9).len()
        });
        assert_eq!(deleted.collect::<Vec<_>>(), [1, 1], "that of host 2, and then that of host 1");
    };
    yard.pass(begin, &|_| Ok(CmsContent::Gone));
}

#[test]
fn a_host_in_flux_keeps_its_tasks_and_gives_up_its_place_in_another_project() {
    let mut yard = Yard::new(&[TWO[0]]);
    yard.projects.insert("web".to_owned(), terms(&["a", "default"]));
    yard.pass(|pass| pass.ask(vec![ask(1)]), &all_say(TaskStatus::Ok));
    let used: Vec<TaskRow> = yard.kept.tasks().map(|row| TaskRow { is_used: true, ..row.clone() }).collect();
    used.into_iter().for_each(|row| yard.kept.insert(row));
    let other = HostAsk { action: CmsAction::Prepare, ..ask(1) };
    assert!(yard.pass(|pass| pass.end_others(&[other]), &all_say(TaskStatus::Ok)).is_empty());
    let elsewhere = HostAsk { project: "web".to_owned(), ..ask(1) };
    assert!(yard.pass(|pass| pass.end_others(&[elsewhere]), &all_say(TaskStatus::Ok)).is_empty());
    let left: Vec<&str> = yard.kept.tasks().map(|row| row.service.as_str()).collect();
    assert_eq!(left, ["a"], "the place among the busy hosts of `search`");
}
