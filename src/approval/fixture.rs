//! Hosts and tasks for tests.

use super::ask::HostAsk;
use super::tasks::TaskRow;
use crate::claim::Subject;
use crate::cms::task::TaskType;
use crate::inventory::cms::CmsAction;
use crate::inventory::value::Inv;

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
