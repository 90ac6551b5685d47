//! What a trial of a cluster-management service means.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Finding, FindingLevel, ServiceHealth};
use crate::cms::examine::{CmsStep, CmsStepKind, StepOutcome};
use crate::cms::{CmsFault, CmsFaultKind};
use crate::diag::{Code, Problem};
use crate::inventory::cms::{CmsService, CmsVersion};
use crate::inventory::value::Time;

/// A service that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceDiagnosis {
    /// The program that tried it, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When.
    pub created: Time,
    /// The name of the service.
    pub service: String,
    /// Its URL.
    pub url: String,
    /// The version that it is said to speak.
    pub version: CmsVersion,
    /// The host that dry runs were about.
    pub host: String,
    /// What was tried, in that order, each with what it means.
    pub steps: Vec<(CmsStep, Finding)>,
}

impl ServiceDiagnosis {
    /// How many findings there are of a level.
    pub fn count(&self, level: FindingLevel) -> usize {
        self.steps.iter().filter(|(_, finding)| finding.level == level).count()
    }
}

/// What was deleted at a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceCleaned {
    /// The service.
    pub service: String,
    /// The state.
    pub state: String,
    /// The hosts whose tasks are gone, sorted.
    pub hosts: Vec<String>,
    /// The tasks that could not be deleted, with why.
    pub failed: Vec<(String, String)>,
    /// The other states of this owner that have tasks there.
    pub others: BTreeSet<String>,
}

/// What the list of tasks of a service means, with how many there are and how long it took, or why it could not be asked; and that
/// runs got no answer from it, where they did not.
pub fn health(
    service: &CmsService,
    (listed, took): (Result<Result<usize, CmsFault>, Problem>, Duration),
    silence: Option<String>,
) -> ServiceHealth {
    let step = |outcome| judge(&CmsStep { kind: CmsStepKind::List, action: None, outcome, took }, service.timeout);
    let found = match listed {
        Ok(Ok(1)) => step(StepOutcome::Fine("its list has 1 task".to_owned())),
        Ok(Ok(count)) => step(StepOutcome::Fine(format!("its list has {count} tasks"))),
        Ok(Err(fault)) => step(StepOutcome::Fault(fault)),
        Err(Problem { place, code, message, hint, .. }) => {
            let level = FindingLevel::Problem;
            Finding { level, code, place: None, zone: None, message: format!("{place}: {message}"), hint }
        }
    };
    let silent = silence.map(|message| Finding {
        level: FindingLevel::Warning,
        code: Code::new("cms-silent"),
        place: None,
        zone: None,
        message,
        hint: Some(format!("`zonewright cms check {}` tries all of the protocol", service.name)),
    });
    let findings = std::iter::once(found).chain(silent).collect();
    let CmsService { name, url, version, .. } = service;
    ServiceHealth { service: name.clone(), url: url.clone(), version: *version, findings }
}

/// What a step means; `timeout` is how long a request may take.
pub fn judge(step: &CmsStep, timeout: Duration) -> Finding {
    let is_slow = step.took > timeout / 2;
    let about = match step.action {
        Some(action) => format!("`{action}`: "),
        None => String::new(),
    };
    let (level, code, message, hint) = match &step.outcome {
        StepOutcome::Fine(_) if is_slow => (
            FindingLevel::Warning,
            "cms-slow",
            format!("an answer took {} s", step.took.as_secs()),
            Some(format!("an answer after {} s counts as none: the host then waits", timeout.as_secs())),
        ),
        StepOutcome::Fine(said) => (FindingLevel::Ok, "cms-works", said.clone(), None),
        StepOutcome::Notable(said) => match step.kind {
            CmsStepKind::WithoutToken => {
                let hint = "let it refuse requests without the token, with status 401";
                (FindingLevel::Warning, "cms-open", said.clone(), Some(hint.to_owned()))
            }
            _ => (FindingLevel::Note, "cms-keeps-dry-runs", said.clone(), None),
        },
        StepOutcome::Wrong(said) => {
            let hint = match step.kind {
                CmsStepKind::Unknown => "answer with status 404: zonewright asks anew for a task that is not known",
                _ => "forget a task when it is deleted: its host would count as busy for ever",
            };
            (FindingLevel::Problem, "cms-wrong", said.clone(), Some(hint.to_owned()))
        }
        StepOutcome::Fault(CmsFault { kind, message, status }) => (
            FindingLevel::Problem,
            "cms-fault",
            message.clone(),
            Some(what_to_do((*kind, *status), step.kind).to_owned()),
        ),
    };
    Finding { level, code: Code::new(code), place: None, zone: None, message: format!("{about}{message}"), hint }
}

/// What the authors of a service are to do about a fault, with the status of the answer.
fn what_to_do((kind, status): (CmsFaultKind, Option<u16>), step: CmsStepKind) -> &'static str {
    match (kind, step) {
        (CmsFaultKind::Unreachable, _) => {
            "look whether the service runs, and whether `url` of zonewright.toml leads to it"
        }
        (CmsFaultKind::Late, _) => "answer at once: what takes longer is said by `in-process`",
        (CmsFaultKind::Status, _) if matches!(status, Some(401 | 403)) => {
            "look at `token` of zonewright.toml: the service refuses requests with it, or without one"
        }
        (CmsFaultKind::Status, _) if matches!(status, Some(500..)) => {
            "look at the log of the service: it fails by itself"
        }
        (CmsFaultKind::Status, CmsStepKind::DryRun) => {
            "answer a dry run with status 200; look at the `version` of zonewright.toml: an older one knows fewer actions"
        }
        (CmsFaultKind::Status, CmsStepKind::List) => "answer `GET /tasks/` with status 200; look at `url` and `token`",
        (CmsFaultKind::Status, _) => "answer with the status of the protocol: `zonewright schema cms`",
        (CmsFaultKind::TooLong, _) => "keep an answer below 1 MiB: forget tasks that were deleted",
        (CmsFaultKind::Content, _) => "answer with the JSON of the protocol: `zonewright schema cms`",
        (CmsFaultKind::WrongTask, _) => "answer with the `id` that was asked for",
        (CmsFaultKind::WrongHosts, _) => "answer with the `hosts` that were asked for",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Files, Origin};

    #[test]
    fn a_service_whose_token_cannot_be_had_is_not_said_to_be_down() {
        let service = CmsService {
            name: "a".to_owned(),
            url: "http://127.0.0.1:1".to_owned(),
            version: CmsVersion::V1_4,
            token: None,
            timeout: Duration::from_secs(10),
            origin: Origin::line(Files::default().add("zonewright.toml"), 1),
        };
        let problem = Problem::new("keys/a.token", "secret-unreadable", "no such file").hint("make the file");
        let health = health(&service, (Err(problem), Duration::ZERO), None);
        let [finding] = &health.findings[..] else { panic!("{:?}", health.findings) };
        assert_eq!((finding.code.as_str(), finding.level), ("secret-unreadable", FindingLevel::Problem));
        assert_eq!(finding.message, "keys/a.token: no such file");
        assert_eq!(finding.hint.as_deref(), Some("make the file"));
    }

    #[test]
    fn the_hint_follows_the_status_of_the_answer() {
        let hint = |status| what_to_do((CmsFaultKind::Status, status), CmsStepKind::DryRun);
        assert!(hint(Some(401)).contains("`token`") && hint(Some(403)).contains("`token`"));
        assert!(hint(Some(500)).contains("log of the service") && hint(Some(503)).contains("log of the service"));
        assert!(hint(Some(400)).contains("`version`"));
    }
}
