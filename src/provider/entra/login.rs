//! Keeps a token, and renews it in time.

use std::sync::Arc;

use super::chain::EntraChain;
use super::settings::EntraSettings;
use super::source::no_credentials;
use super::token::AzureToken;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::provider::credentials::RenewedCredentials;
use crate::provider::surroundings::ProcessSurroundings;

/// Who asks Azure. Threads share it: one of them renews, and the others wait.
pub struct AzureLogin {
    /// Looks for tokens.
    chain: EntraChain,
    /// The one that was found.
    kept: RenewedCredentials<AzureToken>,
}

impl AzureLogin {
    /// One by settings; the `config_file` that they name is read, and nothing is asked yet.
    ///
    /// Errors: the file cannot be used, or the environment names an Entra that cannot be asked.
    pub fn open(settings: EntraSettings, around: ProcessSurroundings) -> Result<AzureLogin, Problem> {
        Ok(AzureLogin { chain: EntraChain::open(settings, around)?, kept: RenewedCredentials::new() })
    }

    /// A token that holds at this time: the one that is kept, or a new one where it ends soon. Where no new one can be
    /// had, the old one goes on as long as it holds.
    ///
    /// Errors: `no-credentials` where no source has any; what is wrong with the source that is set.
    pub fn token(&self, now: Time) -> Result<Arc<AzureToken>, Problem> {
        self.kept.get(now, || {
            let found = self.fetch(now)?;
            let expires = found.expires;
            Ok((found, Some(expires)))
        })
    }

    /// Drops what is kept: a server says that it has ended.
    pub fn forget(&self) {
        self.kept.forget();
    }

    /// Where tokens are, in words; where there are none, why.
    pub fn source(&self) -> String {
        self.chain.find().map_or_else(|problem| problem.message, |source| source.to_string())
    }

    /// The URL of the cloud's Resource Manager, without a slash at its end.
    pub fn endpoint(&self) -> &str {
        &self.chain.site.endpoint
    }

    /// The subscription that the `config_file` names.
    pub fn subscription(&self) -> Option<&str> {
        self.chain.config.subscription.as_deref()
    }

    /// The resource group that the `config_file` names.
    pub fn resource_group(&self) -> Option<&str> {
        self.chain.config.resource_group.as_deref()
    }

    /// Fetches a token that holds.
    fn fetch(&self, now: Time) -> Result<AzureToken, Problem> {
        let found = self.chain.fetch(now)?;
        if found.expires > now {
            return Ok(found);
        }
        let source = self.source();
        let message = format!("the token of {source} ended at {}", found.expires.to_second());
        Err(no_credentials(source, message).hint("compare the clock of this machine"))
    }
}

#[cfg(test)]
impl AzureLogin {
    /// The same with a token that is kept for good, so that nothing is asked.
    pub fn keeping(self, token: &str) -> AzureLogin {
        let now = Time::from_nanos(0);
        let text = serde_json::json!({ "access_token": token, "expires_in": 3_600 }).to_string();
        let token = AzureToken::parse(text.as_bytes(), now).expect("a token");
        self.kept.get(now, || Ok((token, None))).expect("nothing is asked");
        self
    }
}
