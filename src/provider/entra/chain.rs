//! The sources of tokens in order: which one is set, and what it gives.
//!
//! The order is that of Azure's own libraries and of external-dns: a secret, a token of the platform, the identity of
//! the machine; what the settings say before the file of other tools, and that before the environment. A source that is
//! set and fails ends the search: the next one would be another identity, with other rights.

use super::cloud::{AzureCloud, AzureSite, confidential_url};
use super::config_file::AzureConfig;
use super::managed::{ManagedQuestion, is_app, probe};
use super::settings::{EntraIdentity, EntraSettings};
use super::sign_in::{AppProof, sign_in};
use super::source::{
    ClientSecret, EntraApp, EntraSource, FederatedToken, ManagedIdentity, PLACE, SECRET, is_client, is_tenant,
    no_credentials,
};
use super::token::{AzureToken, EntraSecret};
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::provider::secret::SecretHints;
use crate::provider::surroundings::ProcessSurroundings;
use crate::provider::token::fetch_word;

/// The variable with the tenant.
const TENANT: &str = "AZURE_TENANT_ID";

/// The variable with the client ID of an application or identity.
const CLIENT: &str = "AZURE_CLIENT_ID";

/// The variable with the file of a platform's token.
const FEDERATED: &str = "AZURE_FEDERATED_TOKEN_FILE";

/// The variable with the URL of Entra.
const AUTHORITY: &str = "AZURE_AUTHORITY_HOST";

/// What is to be where the settings say.
const HINTS: SecretHints = SecretHints {
    file: "make the file with the client secret's value alone, and run `chmod 600` on it",
    variable: "set it to the client secret's value alone",
    command: "run it by hand: it must print the client secret's value alone and exit with 0",
};

/// Looks for tokens.
pub struct EntraChain {
    /// What the settings say.
    settings: EntraSettings,
    /// What the file of other tools says.
    pub config: AzureConfig,
    /// Where the cloud is asked.
    pub site: AzureSite,
    /// What is around the process.
    around: ProcessSurroundings,
}

/// One place that says who asks, in whole or in part.
#[derive(Clone, Default)]
struct SaidIds {
    /// The tenant.
    tenant: Option<String>,
    /// The application.
    client: Option<String>,
}

impl EntraChain {
    /// One by settings; the file that they name is read, and nothing is asked yet.
    ///
    /// Errors: the file cannot be used, or the environment names an Entra that cannot be asked.
    pub fn open(settings: EntraSettings, around: ProcessSurroundings) -> Result<EntraChain, Problem> {
        let config = match &settings.config_file {
            None => AzureConfig::default(),
            Some(path) => AzureConfig::load(path, &around)?,
        };
        let site = find_site(&settings, &config, &around)?;
        Ok(EntraChain { settings, config, site, around })
    }

    /// Where tokens are: the first source that is set.
    ///
    /// Errors: none is set, or the one that is set cannot be used.
    pub fn find(&self) -> Result<EntraSource, Problem> {
        match &self.settings.identity {
            EntraIdentity::Secret(source) => {
                let app = self.app([self.of_config(), self.of_environment()])?;
                Ok(EntraSource::Secret(app, ClientSecret::Given(source.clone())))
            }
            EntraIdentity::Federated(file) => {
                let app = self.app([self.of_config(), self.of_environment()])?;
                let token = FederatedToken { file: file.clone(), named_by: "federated_token_file" };
                Ok(EntraSource::Federated(app, token))
            }
            EntraIdentity::Managed => self.managed(self.assigned(), EntraSource::Metadata),
            EntraIdentity::FirstSet { then_managed } => {
                if let Some(source) = self.set_in_config(*then_managed)? {
                    return Ok(source);
                }
                if let Some(source) = self.set_in_environment()? {
                    return Ok(source);
                }
                if !then_managed {
                    return Err(none_set("nothing says who asks Azure"));
                }
                self.managed(self.assigned().or_else(|| self.around.variable(CLIENT)), EntraSource::LastMetadata)
            }
        }
    }

    /// Finds a source, and asks it.
    ///
    /// Errors: as for [`EntraChain::find`]; it gives none.
    pub fn fetch(&self, now: Time) -> Result<AzureToken, Problem> {
        self.ask(&self.find()?, now)
    }

    /// The source that the file of other tools names.
    fn set_in_config(&self, then_managed: bool) -> Result<Option<EntraSource>, Problem> {
        let AzureConfig { secret, shown, is_federated, is_managed, .. } = &self.config;
        let app = || self.app([self.of_config(), self.of_environment()]);
        let has_client = self.settings.client.is_some() || self.config.client.is_some();
        // Some clusters have both a secret and the switch of the machine's identity: the secret is what they use.
        if let Some(secret) = secret.as_ref().filter(|_| has_client) {
            return Ok(Some(EntraSource::Secret(app()?, ClientSecret::ConfigFile(shown.clone(), secret.clone()))));
        }
        if *is_federated {
            let Some(token) = self.federated() else {
                let message = format!("`{shown}` has `useWorkloadIdentityExtension`, and `{FEDERATED}` is not set");
                let hint = "label the pod `azure.workload.identity/use: \"true\"`, or set `federated_token_file`";
                return Err(no_credentials(FEDERATED, message).hint(hint));
            };
            return Ok(Some(EntraSource::Federated(app()?, token)));
        }
        if *is_managed && then_managed {
            return self.managed(self.assigned(), EntraSource::Metadata).map(Some);
        }
        Ok(None)
    }

    /// The source that the environment names.
    fn set_in_environment(&self) -> Result<Option<EntraSource>, Problem> {
        let app = || self.app([self.of_environment(), self.of_config()]);
        if let Some(secret) = self.around.variable(SECRET) {
            let secret = EntraSecret::parse(&secret).ok_or_else(|| {
                let message = format!("the value of `{SECRET}` is no client secret: one word");
                Problem::new(SECRET, "secret-malformed", message).hint(HINTS.variable)
            })?;
            return Ok(Some(EntraSource::Secret(app()?, ClientSecret::Environment(secret))));
        }
        self.federated().map(|token| Ok(EntraSource::Federated(app()?, token))).transpose()
    }

    /// The token of the platform that the environment names.
    fn federated(&self) -> Option<FederatedToken> {
        self.around.variable(FEDERATED).map(|file| FederatedToken { file, named_by: FEDERATED })
    }

    /// Who asks by the file of other tools.
    fn of_config(&self) -> SaidIds {
        SaidIds { tenant: self.config.tenant.clone(), client: self.config.client.clone() }
    }

    /// Who asks by the environment.
    fn of_environment(&self) -> SaidIds {
        SaidIds { tenant: self.around.variable(TENANT), client: self.around.variable(CLIENT) }
    }

    /// The client ID of the identity that is assigned to this machine or app.
    fn assigned(&self) -> Option<String> {
        self.settings.client.clone().or_else(|| self.config.assigned.clone())
    }

    /// The application by the settings, and else by the first of these places that says it.
    ///
    /// Errors: no place says it, or says something else.
    fn app(&self, places: [SaidIds; 2]) -> Result<EntraApp, Problem> {
        let of_settings = SaidIds { tenant: self.settings.tenant.clone(), client: self.settings.client.clone() };
        let [second, third] = places;
        let tenant = of_settings.tenant.or(second.tenant).or(third.tenant);
        let client = of_settings.client.or(second.client).or(third.client);
        let lacks = |what: &str, key: &str, of_file: &str, variable: &str| {
            let message = format!("no {what} is set for what proves who asks Azure, or what is set is none");
            let hint = format!("set `{key}` of the target; else `{of_file}` of `config_file` or `{variable}` says it");
            no_credentials(PLACE, message).hint(hint)
        };
        let tenant = tenant.filter(|tenant| is_tenant(tenant));
        let tenant = tenant.ok_or_else(|| lacks("tenant", "tenant_id", "tenantId", TENANT))?;
        let client = client.filter(|client| is_client(client));
        let client = client.ok_or_else(|| lacks("client ID", "client_id", "aadClientId", CLIENT))?;
        Ok(EntraApp { tenant, client })
    }

    /// The identity of this app, or else of this machine.
    ///
    /// Errors: what says which one it is, is no client ID.
    fn managed(
        &self,
        client: Option<String>,
        of_machine: fn(ManagedIdentity) -> EntraSource,
    ) -> Result<EntraSource, Problem> {
        if client.as_deref().is_some_and(|client| !is_client(client)) {
            let message = "what says which identity asks Azure is no client ID";
            let hint = format!("look at `userAssignedIdentityID` of `config_file`, and at `{CLIENT}`");
            return Err(no_credentials(PLACE, message).hint(hint));
        }
        let source = if is_app(&self.around) { EntraSource::AppService } else { of_machine };
        Ok(source(ManagedIdentity { client }))
    }

    /// Asks a source.
    fn ask(&self, source: &EntraSource, now: Time) -> Result<AzureToken, Problem> {
        let question = |identity| ManagedQuestion { identity, audience: &self.site.audience, now };
        match source {
            EntraSource::Secret(app, ClientSecret::Given(from)) => {
                let secret = fetch_word(from, &self.around.workspace, ("client secret", HINTS))?;
                sign_in(&self.site, app, AppProof::Secret(&secret), now)
            }
            EntraSource::Secret(app, ClientSecret::ConfigFile(_, secret) | ClientSecret::Environment(secret)) => {
                sign_in(&self.site, app, AppProof::Secret(secret.as_str()), now)
            }
            EntraSource::Federated(app, FederatedToken { file, named_by }) => {
                let token = self.around.token(&self.around.in_home(file), named_by)?;
                sign_in(&self.site, app, AppProof::Assertion(&token), now)
            }
            EntraSource::AppService(identity) => question(identity).ask_app(&self.around),
            EntraSource::Metadata(identity) => question(identity).ask_machine(&self.around),
            EntraSource::LastMetadata(identity) => {
                let found = probe(&self.around).and_then(|()| question(identity).ask_machine(&self.around));
                found.map_err(|problem| match problem.code.as_str() {
                    "no-credentials" | "connect-failed" | "timeout" => none_set(&format!(
                        "nothing says who asks Azure, and there is no identity of this machine: {}",
                        problem.message
                    )),
                    _ => problem,
                })
            }
        }
    }
}

/// Where the cloud is asked: by the settings, else by the file of other tools, else by the environment.
fn find_site(
    settings: &EntraSettings,
    config: &AzureConfig,
    around: &ProcessSurroundings,
) -> Result<AzureSite, Problem> {
    let named = settings.cloud.map(AzureSite::from).or_else(|| config.site.clone());
    let mut site = match (named, around.variable(AUTHORITY).filter(|_| settings.authority.is_none())) {
        (Some(site), _) => site,
        (None, None) => AzureCloud::Public.into(),
        (None, Some(text)) => {
            // Some of Azure's own libraries take a host without the scheme.
            let url = if text.contains("://") { text } else { format!("https://{text}") };
            let authority = confidential_url(&url).ok_or_else(|| {
                let message = format!("the value of `{AUTHORITY}` is no URL that secrets may be sent to");
                no_credentials(AUTHORITY, message).hint("write `https://` and a host")
            })?;
            // A platform of another cloud says so by this variable alone.
            let cloud = AzureCloud::of_authority(&authority).unwrap_or(AzureCloud::Public);
            AzureSite { authority, ..cloud.into() }
        }
    };
    if let Some(authority) = &settings.authority {
        site.authority.clone_from(authority);
    }
    if let Some(endpoint) = &settings.endpoint {
        site.endpoint.clone_from(endpoint);
        site.audience.clone_from(endpoint);
    }
    Ok(site)
}

/// The problem that no source is set.
fn none_set(why: &str) -> Problem {
    let hint = "give credentials by one of these, which are tried in this order: `client_secret`, \
                `federated_token_file` or `managed_identity` of the target; the same in its `config_file`; \
                `AZURE_CLIENT_SECRET` or `AZURE_FEDERATED_TOKEN_FILE`, with `AZURE_TENANT_ID` and `AZURE_CLIENT_ID`; \
                the identity of this app or machine";
    no_credentials(PLACE, why).hint(hint)
}
