//! Tests: the order in which the services of a host are asked, and what it holds meanwhile.

use std::collections::BTreeMap;
use std::time::Duration as SystemDuration;

use crate::approval::fixture::{ask, row, said, terms};
use crate::approval::pass::{ApprovalPass, ApprovalTerm, CmsContent, CmsReply, CmsRequestKind, TaskIds};
use crate::approval::queue::asked_now;
use crate::approval::tasks::{ApprovalMemory, TaskRow};
use crate::cms::task::{TaskAnswer, TaskStatus};
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::CmsVersion;
use crate::inventory::value::Time;

/// A project that asks `a`, `b` and the service that is built in, which lets one host be busy.
fn projects() -> BTreeMap<String, ApprovalTerms> {
    let terms = ApprovalTerms { max_busy_hosts: 1, ..terms(&["a", "b", DEFAULT_SERVICE]) };
    [("search".to_owned(), terms)].into()
}

/// Asks for a host of which this is kept; `a` says something, and all others say `ok`. Gives what was sent, and at which services
/// the host has tasks that are not to be deleted.
fn asked(rows: Vec<TaskRow>, said: TaskStatus) -> (Vec<String>, Vec<String>) {
    let (projects, now): (_, Time) = (projects(), "2026-11-20T03:00:00Z".parse().unwrap());
    let services = ["a", "b"].map(|name| (name.to_owned(), CmsVersion::V1_4)).into();
    let ids = TaskIds { owner: "us", state: "state", run: 2, random: &|| "new".to_owned() };
    let term = ApprovalTerm { projects: &projects, services: &services, ids, now };
    let mut pass = ApprovalPass::new(term, ApprovalMemory::new(rows, BTreeMap::new()));
    pass.ask(vec![ask(1)]);
    let mut sent = Vec::new();
    loop {
        let requests = pass.next(&|_| 9);
        if requests.is_empty() {
            break;
        }
        for request in requests {
            let (word, content) = match &request.kind {
                CmsRequestKind::Delete(_) => ("delete", CmsContent::Gone),
                kind => {
                    let status = if request.service == "a" { said } else { TaskStatus::Ok };
                    let word = if matches!(kind, CmsRequestKind::Create(_)) { "create" } else { "poll" };
                    (word, CmsContent::Task(Some(TaskAnswer { status, message: String::new() })))
                }
            };
            sent.push(format!("{word} {}", request.service));
            pass.take(CmsReply { request, content: Ok(content), took: SystemDuration::ZERO });
        }
    }
    let held = pass.memory().tasks().filter(|row| !row.is_ended).map(|row| row.service.clone());
    (sent, held.collect())
}

#[test]
fn who_waits_for_a_service_again_holds_no_later_one() {
    let rows = || {
        vec![
            said("a", 1, TaskStatus::InProcess),
            said("b", 1, TaskStatus::Ok),
            said(DEFAULT_SERVICE, 1, TaskStatus::Ok),
        ]
    };
    let (sent, held) = asked(rows(), TaskStatus::InProcess);
    assert_eq!((sent, held), (vec!["poll a".to_owned(), "delete b".to_owned()], vec!["a".to_owned()]));
    // What a wave used stays: the host is in flux.
    let used = rows().into_iter().map(|row| TaskRow { is_used: true, ..row }).collect();
    let (sent, held) = asked(used, TaskStatus::InProcess);
    assert_eq!((sent.join(" "), held.join(" ")), ("poll a".to_owned(), "a b default".to_owned()));
}

#[test]
fn each_service_is_asked_after_the_ok_of_the_one_before() {
    let (sent, held) = asked(Vec::new(), TaskStatus::InProcess);
    assert_eq!((sent.join(" "), held.join(" ")), ("create a".to_owned(), "a".to_owned()));
}

#[test]
fn who_is_in_flux_stays_busy_where_a_later_change_is_rejected_or_given_up() {
    let used = || TaskRow { is_used: true, ..said(DEFAULT_SERVICE, 1, TaskStatus::Ok) };
    let (sent, held) = asked(vec![used()], TaskStatus::Rejected);
    assert_eq!((sent.join(" "), held.join(" ")), ("create a delete a".to_owned(), DEFAULT_SERVICE.to_owned()));
    let (projects, services) = (projects(), BTreeMap::new());
    let ids = TaskIds { owner: "us", state: "state", run: 2, random: &|| "new".to_owned() };
    let term = ApprovalTerm { projects: &projects, services: &services, ids, now: used().since };
    let memory = ApprovalMemory::new([used(), said("a", 1, TaskStatus::InProcess)], BTreeMap::new());
    let mut pass = ApprovalPass::new(term, memory);
    pass.give_up(&[ask(1).subject].into());
    let held: Vec<&str> = pass.memory().tasks().filter(|row| !row.is_ended).map(|row| row.service.as_str()).collect();
    assert_eq!(held, [DEFAULT_SERVICE]);
}

#[test]
fn no_limit_holds_for_who_takes_no_room() {
    let limits = [("search".to_owned(), 1)].into();
    let asked = |free: &[u64]| -> Vec<String> {
        let free = free.iter().map(|inv| ask(*inv).subject).collect();
        let memory = ApprovalMemory::new([row("a", 1)], BTreeMap::new());
        let now = row("a", 1).since;
        let asks = asked_now(vec![ask(1), ask(2), ask(3)], &memory, (&limits, &free), now);
        asks.into_iter().map(|ask| ask.subject.to_string()).collect()
    };
    assert_eq!(asked(&[]), ["host:1"]);
    assert_eq!(asked(&[3]), ["host:1", "host:3"]);
}
