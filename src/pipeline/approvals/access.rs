//! The services that a run asks, by the settings.

use std::collections::{BTreeMap, BTreeSet};

use super::desk::ServiceDesk;
use super::{ApprovalSettings, Approver, services_asked, settings_of};
use crate::cms::random::random_part;
use crate::diag::Problem;
use crate::inventory::cms::CmsVersion;
use crate::pipeline::TOOL;
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::settings::WorkspaceSettings;
use crate::state::State;

/// What a run needs to ask services.
pub struct ApprovalAccess<'a> {
    /// What projects ask for.
    projects: ApprovalSettings,
    /// The services that may be asked, with their versions.
    services: BTreeMap<String, CmsVersion>,
    /// Where requests are sent.
    desk: ServiceDesk<'a>,
    /// The owner.
    owner: &'a str,
    /// How the run is done.
    request: &'a ApplyConduct<'a>,
}

impl<'a> ApprovalAccess<'a> {
    /// What a run needs.
    ///
    /// Errors: the state cannot be read, or the system gives no random numbers.
    pub fn of(
        settings: &'a WorkspaceSettings,
        request: &'a ApplyConduct<'a>,
        state: &dyn State,
    ) -> Result<ApprovalAccess<'a>, Problem> {
        let (projects, config) = (settings_of(&settings.projects), &settings.config);
        let memory = state.approvals()?;
        let with_tasks: BTreeSet<&str> = memory.tasks().map(|row| row.service.as_str()).collect();
        let names = services_asked(&projects, with_tasks.into_iter());
        if !names.is_empty() {
            random_part().map_err(|error| Problem::new(TOOL, "cms-fault", error.to_string()))?;
        }
        let asked = config.cms.iter().filter(|service| names.contains(service.name.as_str()));
        let services = asked.map(|service| (service.name.clone(), service.version)).collect();
        let desk = ServiceDesk::new(config, request.workspace, &names, request.interrupted);
        Ok(ApprovalAccess { services, desk, owner: &config.marking.owner, request, projects })
    }

    /// Who asks them.
    pub fn approver(&self) -> Approver<'_> {
        Approver {
            projects: &self.projects,
            services: &self.services,
            desk: &self.desk,
            owner: self.owner,
            run: self.request.run,
            random: &|| random_part().expect("the system gave some before"),
            ignores: self.request.ignores_approvals,
            log: self.request.log,
        }
    }
}
