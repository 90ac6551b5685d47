//! Keeps credentials, and renews them in time.

use std::sync::Arc;

use super::chain::AwsChain;
use super::credentials::AwsCredentials;
use super::settings::AwsSettings;
use super::source::no_credentials;
use super::surroundings::AwsSurroundings;
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::provider::credentials::RenewedCredentials;

/// Who asks AWS. Threads share it: one of them renews, and the others wait.
pub struct AwsLogin {
    /// Looks for credentials.
    chain: AwsChain,
    /// Those that were found.
    kept: RenewedCredentials<AwsCredentials>,
}

impl AwsLogin {
    /// One by settings; nothing is asked yet.
    pub fn new(settings: AwsSettings, around: AwsSurroundings) -> AwsLogin {
        AwsLogin { chain: AwsChain { settings, around }, kept: RenewedCredentials::new() }
    }

    /// Credentials that hold at this time: those that are kept, or new ones where these end soon. Where no new ones can
    /// be had, the old ones go on as long as they hold.
    ///
    /// Errors: `no-credentials` where no source has any; what is wrong with the source that is set.
    pub fn credentials(&self, now: Time) -> Result<Arc<AwsCredentials>, Problem> {
        self.kept.get(now, || {
            let found = self.fetch(now)?;
            let expires = found.expires;
            Ok((found, expires))
        })
    }

    /// Drops what is kept: a server says that it has ended.
    pub fn forget(&self) {
        self.kept.forget();
    }

    /// Where credentials are, in words; where there are none, why.
    pub fn source(&self) -> String {
        self.chain.find().map_or_else(|problem| problem.message, |source| source.to_string())
    }

    /// A place with who asks there; the place alone where there are no credentials, which the problem of asking says.
    pub fn asked_at(&self, place: &str) -> String {
        match self.chain.find() {
            Ok(source) => format!("{place}, asked with the credentials of {source}"),
            Err(_) => place.to_owned(),
        }
    }

    /// Fetches credentials that hold.
    fn fetch(&self, now: Time) -> Result<AwsCredentials, Problem> {
        let found = self.chain.fetch(now)?;
        match found.expires {
            Some(end) if end <= now => {
                let source = self.source();
                let message = format!("the credentials of {source} ended at {}", end.to_second());
                Err(no_credentials(source, message).hint("renew them there, and compare the clock of this machine"))
            }
            _ => Ok(found),
        }
    }
}
