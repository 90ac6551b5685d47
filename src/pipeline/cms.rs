//! Tries a cluster-management service of the settings by dry runs, and deletes what a lost state left there.

use std::path::Path;

use super::TOOL;
use super::cms_access::{client, token_of};
use super::findings::Findings;
use super::inputs::load;
use super::settings::{load_config, state_address};
use crate::cms::examine::{CmsTrial, examine};
use crate::cms::random::random_part;
use crate::cms::task::{DRY, ListedTask};
use crate::cms::{CmsCalls, CmsFault};
use crate::diag::{Problem, did_you_mean};
use crate::doctor::approvals::{ServiceCleaned, ServiceDiagnosis, judge};
use crate::inventory::cms::CmsService;
use crate::inventory::model::{Config, HostStatus};
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::state;

/// The host of dry runs where the inventory has none: no host has this name (RFC 2606 section 2).
const NO_HOST: &str = "host.invalid";

/// Why no service was asked.
#[derive(Debug)]
pub enum ServiceError {
    /// zonewright.toml cannot be used.
    Settings(Box<Findings>),
    /// The settings have no such service; with the names that they have, and the hint.
    NoSuchService(Vec<String>, Option<String>),
    /// The state whose tasks are to be deleted is that of the workspace.
    OwnState,
    /// Something that is needed cannot be had.
    Unusable(Problem),
}

/// Tries a service. The dry runs are about `host`, or about a host of the inventory.
pub fn try_service(
    workspace: &Path,
    now: Time,
    (name, host): (&str, Option<&str>),
    progress: &dyn Progress,
) -> Result<ServiceDiagnosis, ServiceError> {
    let (config, _) = load_config(workspace).map_err(ServiceError::Settings)?;
    let KnownService { service, token } = known(&config, name, workspace)?;
    let calls = client(service, token.clone()).map_err(ServiceError::Unusable)?;
    let without_token = token.is_some().then(|| client(service, None)).transpose().map_err(ServiceError::Unusable)?;
    let host = match host {
        Some(host) => host.to_owned(),
        None => a_host(workspace, now, progress),
    };
    random_part().map_err(|error| ServiceError::Unusable(Problem::new(TOOL, "cms-fault", error.to_string())))?;
    let random = || random_part().expect("the system gave some just now");
    let trial = CmsTrial { owner: &config.marking.owner, host: &host, version: service.version, random: &random };
    let steps = examine(&calls, without_token.as_ref().map(|calls| calls as &dyn CmsCalls), &trial);
    let judged = steps.into_iter().map(|step| (step.clone(), judge(&step, service.timeout)));
    Ok(ServiceDiagnosis {
        tool: TOOL.to_owned(),
        created: now,
        service: service.name.clone(),
        url: service.url.clone(),
        version: service.version,
        host,
        steps: judged.collect(),
    })
}

/// A host in service with a name; of several the one with the lowest number.
fn a_host(workspace: &Path, now: Time, progress: &dyn Progress) -> String {
    let inventory = load(workspace, now, progress).ok().map(|(inventory, _)| inventory);
    let hosts = inventory.iter().flat_map(|inventory| &inventory.hosts);
    let name = hosts.filter(|host| host.status == HostStatus::Assigned).find_map(|host| host.name.as_ref());
    name.map_or_else(|| NO_HOST.to_owned(), |name| name.as_name().to_dotless_text())
}

/// A service of the settings, with its token.
struct KnownService<'c> {
    /// The service.
    service: &'c CmsService,
    /// Its token; none where it has none.
    token: Option<String>,
}

/// Finds a service.
fn known<'c>(config: &'c Config, name: &str, workspace: &Path) -> Result<KnownService<'c>, ServiceError> {
    let Some(service) = config.cms.iter().find(|service| service.name == name) else {
        let known: Vec<String> = config.cms.iter().map(|service| service.name.clone()).collect();
        let near = did_you_mean(name, known.iter().map(String::as_str));
        return Err(ServiceError::NoSuchService(known, near));
    };
    let token = token_of(service, config, workspace).map_err(ServiceError::Unusable)?;
    Ok(KnownService { service, token })
}

/// Deletes the tasks of a state at a service; that of the workspace is none that was lost.
pub fn clean_service(workspace: &Path, name: &str, state_id: &str) -> Result<ServiceCleaned, ServiceError> {
    let (config, _) = load_config(workspace).map_err(ServiceError::Settings)?;
    let KnownService { service, token } = known(&config, name, workspace)?;
    let own = state::open_to_read(&state_address(workspace, &config)).map_err(ServiceError::Unusable)?;
    let own = own.map(|state| state.identity()).transpose().map_err(ServiceError::Unusable)?;
    if own.is_some_and(|own| own.id == state_id) {
        return Err(ServiceError::OwnState);
    }
    let calls = client(service, token).map_err(ServiceError::Unusable)?;
    let faulty = |fault: CmsFault| {
        let hint = format!("`zonewright cms check {name}` finds out what is wrong");
        ServiceError::Unusable(Problem::new(format!("[cms.{name}]"), "cms-fault", fault.message).hint(hint))
    };
    let listed = calls.list().map_err(faulty)?;
    let owner = format!("{}.", config.marking.owner);
    let state_of = |task: &ListedTask| {
        let (state, _) = task.id.strip_prefix(&owner)?.rsplit_once('.')?;
        Some(state.to_owned())
    };
    let (lost, others): (Vec<ListedTask>, Vec<ListedTask>) =
        listed.into_iter().partition(|task| state_of(task).as_deref() == Some(state_id));
    let mut cleaned = ServiceCleaned {
        service: name.to_owned(),
        state: state_id.to_owned(),
        hosts: Vec::new(),
        failed: Vec::new(),
        others: others.iter().filter_map(state_of).filter(|state| state != DRY).collect(),
    };
    for task in lost {
        match calls.delete(&task.id) {
            Ok(()) => cleaned.hosts.extend(task.hosts),
            Err(fault) => cleaned.failed.push((task.id, fault.message)),
        }
    }
    cleaned.hosts.sort();
    Ok(cleaned)
}
