//! Tries a cluster-management service of the settings, by dry runs.

use std::path::Path;

use super::TOOL;
use super::findings::Findings;
use super::inputs::load;
use super::settings::load_config;
use crate::cms::CmsCalls;
use crate::cms::client::CmsClient;
use crate::cms::examine::{CmsTrial, examine};
use crate::cms::random::random_part;
use crate::diag::{Problem, did_you_mean};
use crate::doctor::approvals::{ServiceDiagnosis, judge};
use crate::inventory::model::HostStatus;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::provider;

/// The host of dry runs where the inventory has none: no host has this name (RFC 2606 section 2).
const NO_HOST: &str = "host.invalid";

/// Why no service was tried.
#[derive(Debug)]
pub enum TrialError {
    /// zonewright.toml cannot be used.
    Settings(Box<Findings>),
    /// The settings have no such service; with the names that they have, and the hint.
    NoSuchService(Vec<String>, Option<String>),
    /// Something that is needed cannot be had.
    Unusable(Problem),
}

/// Tries a service. The dry runs are about `host`, or about a host of the inventory.
pub fn try_service(
    workspace: &Path,
    now: Time,
    (name, host): (&str, Option<&str>),
    progress: &dyn Progress,
) -> Result<ServiceDiagnosis, TrialError> {
    let (config, _) = load_config(workspace).map_err(TrialError::Settings)?;
    let Some(service) = config.cms.iter().find(|service| service.name == name) else {
        let known: Vec<String> = config.cms.iter().map(|service| service.name.clone()).collect();
        let near = did_you_mean(name, known.iter().map(String::as_str));
        return Err(TrialError::NoSuchService(known, near));
    };
    let settings = service.token.as_ref();
    let token = settings.map(|settings| provider::token::fetch(settings, &config.source, workspace)).transpose();
    let token = token.map_err(TrialError::Unusable)?;
    let client = |token: Option<String>| {
        CmsClient::new(service, token)
            .map_err(|error| TrialError::Unusable(Problem::new(format!("[cms.{name}]"), "cms-fault", error.message)))
    };
    let calls = client(token.clone())?;
    let without_token = token.is_some().then(|| client(None)).transpose()?;
    let host = match host {
        Some(host) => host.to_owned(),
        None => a_host(workspace, now, progress),
    };
    random_part().map_err(|error| TrialError::Unusable(Problem::new(TOOL, "cms-fault", error.to_string())))?;
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
    name.map_or_else(|| NO_HOST.to_owned(), |name| name.to_string().trim_end_matches('.').to_owned())
}
