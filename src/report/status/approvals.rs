//! What a state says of approvals, as text: how far tasks are, which hosts are not through and why, and which services do not
//! answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::approval::outlook::waits;
use crate::approval::{RefusalKind, TaskStanding};
use crate::claim::Subject;
use crate::inventory::value::Time;
use crate::plan::WaitCode;
use crate::report::gather::gather;
use crate::report::page::TextPage;
use crate::report::summary::{SubjectCounts, counted};
use crate::report::waves::WaitGroup;
use crate::state::{ApprovalStanding, CmsFailure};

/// A host, and why it is not through.
type HeldHost<'a> = (&'a Subject, String);

impl TextPage<'_> {
    /// Adds what there is to say of approvals.
    pub fn approvals(&mut self, approvals: &ApprovalStanding) {
        if approvals.is_empty() {
            return;
        }
        self.heading("Approvals");
        self.tasks(approvals);
        let open: Vec<HeldHost<'_>> = approvals.open().into_iter().map(|row| (&row.subject, waits(row))).collect();
        self.held(&open);
        self.held(&rejected(approvals));
        for CmsFailure { service, message, since, count, .. } in &approvals.failures {
            let requests = counted(*count as usize, "request");
            let since = since.to_second();
            self.line(2, &format!("`{service}` does not answer since {since}, {requests}: {message}"));
            self.line(4, &format!("hint: `zonewright cms check {service}` finds out what is wrong"));
        }
    }

    /// Adds how many tasks each service has, by how far they are.
    fn tasks(&mut self, approvals: &ApprovalStanding) {
        let mut services: BTreeMap<&str, BTreeMap<TaskStanding, usize>> = BTreeMap::new();
        for row in &approvals.tasks {
            *services.entry(&row.service).or_default().entry(row.standing()).or_default() += 1;
        }
        for (service, counts) in services {
            let all = counted(counts.values().sum(), "task");
            let parts: Vec<String> =
                counts.iter().map(|(standing, count)| format!("{count} {}", words(*standing))).collect();
            self.line(2, &format!("`{service}`: {all}, {}", parts.join(", ")));
        }
    }

    /// Adds hosts that are not through, by what is said of them.
    fn held(&mut self, hosts: &[HeldHost<'_>]) {
        let all: Vec<&HeldHost<'_>> = hosts.iter().collect();
        let groups = gather(&all, |(_, why)| why);
        let (shown, rest) = groups.split_at(self.options.shown(groups.len()));
        for group in shown {
            let who = SubjectCounts::of(group.iter().map(|(subject, _)| *subject)).in_words();
            self.line(2, &format!("{who}: {}", group[0].1));
            let shown = self.options.shown(group.len());
            let hosts: Vec<String> = group[..shown].iter().map(|(subject, _)| subject.to_string()).collect();
            let more = group.len() - shown;
            let more = if more > 0 { format!(" and {more} more (-v lists all)") } else { String::new() };
            self.line(4, &format!("{}{more}", hosts.join(", ")));
        }
        let left: usize = rest.iter().map(Vec::len).sum();
        if left > 0 {
            self.line(2, &format!("and {} more (-v lists all)", counted(left, "host")));
        }
    }

    /// What waits, without the hosts that are among the approvals already.
    pub fn without_told<'w>(&mut self, mut group: WaitGroup<'w>, approvals: &ApprovalStanding) -> WaitGroup<'w> {
        if group.code != WaitCode::Approval {
            return group;
        }
        let open = approvals.open().into_iter().map(|row| &row.subject);
        let rejected = rejected(approvals);
        let told: BTreeSet<&Subject> = open.chain(rejected.iter().map(|(subject, _)| *subject)).collect();
        let all = group.subjects.len();
        group.subjects.retain(|waiting| !told.contains(&waiting.subject));
        match (all - group.subjects.len(), group.subjects.len()) {
            (0, _) => {}
            (_, 0) => self.line(4, "all of them are under Approvals, with what services said"),
            (some, _) => self.line(4, &format!("{some} of them are under Approvals, with what services said")),
        }
        group
    }
}

/// The hosts that were rejected, or that went to the end.
fn rejected(approvals: &ApprovalStanding) -> Vec<HeldHost<'_>> {
    let held = approvals.refusals.iter().filter_map(|(subject, refusal, until)| {
        let said = if refusal.message.is_empty() { String::new() } else { format!(": {}", refusal.message) };
        let at = refusal.at.to_second();
        let why = match (refusal.kind, until.map(Time::from_second)) {
            (RefusalKind::Rejected, Some(until)) => {
                format!("`{}` rejected it at {at}, asked again from {until} on{said}", refusal.service)
            }
            (RefusalKind::GaveUp, _) => {
                format!("asked for too long until {at}: all others are asked for first")
            }
            (RefusalKind::Rejected, None) => return None,
        };
        Some((subject, why))
    });
    held.collect()
}

/// How far tasks are, in words.
fn words(standing: TaskStanding) -> &'static str {
    match standing {
        TaskStanding::Ok => "ok",
        TaskStanding::InProcess => "in process",
        TaskStanding::NotAnswered => "not answered",
        TaskStanding::ToBeDeleted => "to be deleted",
    }
}
