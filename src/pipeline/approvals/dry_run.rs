//! What services would say of the hosts of a plan, asked by dry runs: nothing is kept, and no host is disturbed.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::desk::{CmsDesk, CmsLine, ServiceDesk};
use super::{ApprovalSettings, services_asked, settings_of};
use crate::approval::ask::asks_of;
use crate::approval::pass::CmsContent;
use crate::approval::{CmsReply, CmsRequest, CmsRequestKind, HostAsk};
use crate::change::{Notice, NoticeCode};
use crate::cms::random::random_part;
use crate::cms::task::{CmsTask, TaskStatus};
use crate::diag::Problem;
use crate::inventory::cms::CmsVersion;
use crate::inventory::model::Config;
use crate::inventory::model::Project;
use crate::pipeline::TOOL;
use crate::plan::Plan;
use crate::rollout::units_of;
use crate::state::{CmsFailure, State};

/// The notices about services that gave no answer when a run asked them last.
///
/// Errors: the state cannot be read.
pub fn silent(projects: &[Project], state: Option<&dyn State>) -> Result<Vec<Notice>, Problem> {
    let settings = settings_of(projects);
    let Some(state) = state.filter(|_| !settings.is_empty()) else { return Ok(Vec::new()) };
    let asked = services_asked(&settings, std::iter::empty());
    let failures = state.cms_failures()?.into_iter().filter(|failure| asked.contains(failure.service.as_str()));
    let notice = |CmsFailure { service, message, since, .. }: CmsFailure| {
        let message = format!("since {since} no request to `{service}` got an answer: {message}; hosts wait for it");
        Notice { code: NoticeCode::CmsSilent, name: service, subject: None, message }
    };
    Ok(failures.map(notice).collect())
}

/// Asks services what they would say of the hosts of a plan; gives a notice for each host that one would reject, and for each
/// service that gives no answer.
///
/// Errors: the system gives no random numbers.
pub fn ask(plan: &Plan, (projects, config): (&[Project], &Config), workspace: &Path) -> Result<Vec<Notice>, Problem> {
    let settings = settings_of(projects);
    let asks: Vec<HostAsk> = units_of(plan).iter().flat_map(|unit| asks_of(plan, unit, &settings)).collect();
    let names = services_asked(&settings, std::iter::empty());
    let versions: BTreeMap<&str, CmsVersion> =
        config.cms.iter().map(|service| (service.name.as_str(), service.version)).collect();
    random_part().map_err(|error| Problem::new(TOOL, "cms-fault", error.to_string()))?;
    let mut trial = DryRun::default();
    for (place, ask) in asks.iter().enumerate() {
        for (service, task) in tasks(ask, &settings, &versions, &config.marking.owner) {
            trial.of.insert(task.id.clone(), place);
            trial.left.entry(service).or_default().push_back(CmsRequestKind::Create(Box::new(task)));
        }
    }
    let interrupted = AtomicBool::new(false);
    let desk = ServiceDesk::new(config, workspace, &names, &interrupted);
    desk.open(&mut |line| {
        trial.run(line);
        Ok(())
    })?;
    Ok(trial.notices(&asks))
}

/// The dry runs of a host, each with its service.
fn tasks(
    ask: &HostAsk,
    settings: &ApprovalSettings,
    versions: &BTreeMap<&str, CmsVersion>,
    owner: &str,
) -> Vec<(String, CmsTask)> {
    let services = settings.get(&ask.project).map(|terms| terms.services.as_slice()).unwrap_or_default();
    let task = |service: &String| {
        // The service that is built in has no version, and rejects no host.
        let action = versions.get(service.as_str())?.asked_as(ask.action)?;
        let random = random_part().expect("the system gave some before");
        let task = CmsTask::dry(owner, &random, action, &ask.host, &ask.comment);
        Some((service.clone(), CmsTask { kind: ask.kind, ..task }))
    };
    services.iter().filter_map(task).collect()
}

/// Dry runs that are made.
#[derive(Default)]
struct DryRun {
    /// The host of each task, by its place.
    of: BTreeMap<String, usize>,
    /// What is still to be asked, by service.
    left: BTreeMap<String, VecDeque<CmsRequestKind>>,
    /// How many hosts each service would answer so of.
    said: BTreeMap<String, BTreeMap<TaskStatus, usize>>,
    /// What services reject: the place of the host, the service and what it said.
    rejected: Vec<(usize, String, String)>,
    /// Why services give no answer, by service: what the first one said, and how often.
    faults: BTreeMap<String, (String, usize)>,
}

impl DryRun {
    /// Asks for as long as a pass may last.
    fn run(&mut self, line: &mut dyn CmsLine) {
        loop {
            for (service, left) in &mut self.left {
                for _ in 0..line.room(service) {
                    let Some(kind) = left.pop_front() else { break };
                    line.send(CmsRequest { service: service.clone(), kind });
                }
            }
            let replies = line.receive();
            if replies.is_empty() {
                return;
            }
            replies.into_iter().for_each(|reply| self.take(reply));
        }
    }

    /// Takes a reply. What a service keeps of a dry run is deleted.
    fn take(&mut self, reply: CmsReply) {
        let CmsReply { request: CmsRequest { service, kind }, content, .. } = reply;
        if let Err(fault) = &content {
            let known = self.faults.entry(service.clone()).or_insert_with(|| (fault.message.clone(), 0));
            known.1 += 1;
        }
        let CmsRequestKind::Create(task) = kind else { return };
        if let (Ok(CmsContent::Task(Some(answer))), Some(place)) = (content, self.of.get(&task.id)) {
            *self.said.entry(service.clone()).or_default().entry(answer.status).or_default() += 1;
            if answer.status == TaskStatus::Rejected {
                self.rejected.push((*place, service.clone(), answer.message));
            }
        }
        // One whose answer was lost may have made a task, too.
        self.left.entry(service).or_default().push_front(CmsRequestKind::Delete(task.id));
    }

    /// What there is to say.
    fn notices(mut self, asks: &[HostAsk]) -> Vec<Notice> {
        self.rejected.sort();
        let rejected = self.rejected.into_iter().map(|(place, service, said)| {
            let HostAsk { subject, action, host, .. } = &asks[place];
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            let message = format!("`{service}` would reject `{action}` of `{host}`{said}");
            Notice { code: NoticeCode::CmsRejects, name: service, subject: Some(subject.clone()), message }
        });
        let faults = self.faults.into_iter().map(|(service, (said, count))| {
            let requests = if count == 1 { "1 request".to_owned() } else { format!("{count} requests") };
            let message = format!("{requests} to `{service}` got no answer: {said}");
            Notice { code: NoticeCode::CmsSilent, name: service, subject: None, message }
        });
        let is_create = |kind: &&CmsRequestKind| matches!(kind, CmsRequestKind::Create(_));
        let unasked = self.left.into_iter().map(|(service, left)| (service, left.iter().filter(is_create).count()));
        let unasked = unasked.filter(|(_, count)| *count > 0).map(|(service, count)| {
            let hosts = if count == 1 { "1 host was".to_owned() } else { format!("{count} hosts were") };
            let message = format!("{hosts} not asked for: `{service}` is too slow");
            Notice { code: NoticeCode::CmsSilent, name: service, subject: None, message }
        });
        let answers = self.said.into_iter().map(|(service, said)| {
            let count: usize = said.values().sum();
            let hosts = if count == 1 { "1 host".to_owned() } else { format!("{count} hosts") };
            let parts: Vec<String> = said.iter().map(|(status, count)| format!("{count} {status}")).collect();
            let message = format!("`{service}` was asked about {hosts} by dry runs: {}", parts.join(", "));
            Notice { code: NoticeCode::CmsAnswers, name: service, subject: None, message }
        });
        answers.chain(rejected).chain(faults).chain(unasked).collect()
    }
}
