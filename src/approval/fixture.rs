//! Projects, hosts and tasks for tests.

use super::ask::HostAsk;
use super::tasks::{TaskRow, TaskSaid};
use crate::claim::Subject;
use crate::cms::task::{TaskStatus, TaskType};
use crate::diag::{Files, Origin};
use crate::inventory::approvals::ApprovalTerms;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::{Duration, Inv};

/// A project that asks these services, of which the one that is built in lets two hosts be busy.
pub fn terms(services: &[&str]) -> ApprovalTerms {
    ApprovalTerms {
        services: services.iter().map(|name| (*name).to_owned()).collect(),
        actions: vec![CmsAction::TemporaryUnreachable, CmsAction::Prepare, CmsAction::Deactivate],
        max_busy_hosts: 2,
        ask_ahead: 1,
        give_up: Duration::from_secs(86_400),
        origin: Origin::line(Files::default().add("zonewright.toml"), 1),
    }
}

/// A host of the project `search` that is to move.
pub fn ask(inv: u64) -> HostAsk {
    HostAsk {
        subject: Subject::Host(Inv(inv)),
        project: "search".to_owned(),
        host: format!("h{inv}.search.example.net"),
        action: CmsAction::TemporaryUnreachable,
        change: "moved".to_owned(),
        comment: "AAAA replaced".to_owned(),
        kind: TaskType::Automated,
        is_affected: false,
        unit: inv as usize,
    }
}

/// A task of such a host at a service, of which nothing was said yet.
pub fn row(service: &str, inv: u64) -> TaskRow {
    let HostAsk { subject, project, host, action, comment, kind, .. } = ask(inv);
    TaskRow {
        id: format!("us.state.{service}{inv}"),
        service: service.to_owned(),
        project,
        subject,
        host,
        action,
        kind,
        comment,
        group: "us.state.1".to_owned(),
        since: "2026-11-20T02:00:00Z".parse().unwrap(),
        tried: None,
        said: None,
        fault: None,
        is_used: false,
        is_ended: false,
    }
}

/// Such a task with what its service said of it when it was made.
pub fn said(service: &str, inv: u64, status: TaskStatus) -> TaskRow {
    let own = row(service, inv);
    TaskRow { said: Some(TaskSaid { status, message: String::new(), at: own.since }), ..own }
}
