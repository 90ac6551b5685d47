//! Clients of the cluster-management services of the settings, with the tokens that these name.

use std::path::Path;

use crate::cms::client::CmsClient;
use crate::diag::Problem;
use crate::inventory::cms::CmsService;
use crate::inventory::model::Config;
use crate::provider;

/// The token of a service; none where it has none.
///
/// Errors: it cannot be had.
pub fn token_of(service: &CmsService, config: &Config, workspace: &Path) -> Result<Option<String>, Problem> {
    let settings = service.token.as_ref();
    settings.map(|settings| provider::token::fetch(settings, &config.source, workspace)).transpose()
}

/// A client of a service, with this token.
///
/// Errors: as [`CmsClient::new`].
pub fn client(service: &CmsService, token: Option<String>) -> Result<CmsClient, Problem> {
    let unusable = |message| Problem::new(format!("[cms.{}]", service.name), "cms-fault", message);
    CmsClient::new(service, token).map_err(|error| unusable(error.message))
}

/// A client of a service, with its own token.
///
/// Errors: as for [`token_of`] and [`client`].
pub fn client_of(service: &CmsService, config: &Config, workspace: &Path) -> Result<CmsClient, Problem> {
    client(service, token_of(service, config, workspace)?)
}
