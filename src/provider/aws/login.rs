//! Keeps credentials, and renews them in time.

use std::sync::{Arc, Mutex};

use super::chain::AwsChain;
use super::credentials::AwsCredentials;
use super::settings::AwsSettings;
use super::source::no_credentials;
use super::surroundings::AwsSurroundings;
use crate::diag::Problem;
use crate::inventory::value::{Duration, Time};
use crate::parallel::HELD;

/// How long before their end credentials are renewed: longer than a request takes, and clocks differ.
const AHEAD: Duration = Duration::from_secs(300);

/// Who asks AWS. Threads share it: one of them renews, and the others wait.
pub struct AwsLogin {
    /// Looks for credentials.
    chain: AwsChain,
    /// Those that were found.
    kept: Mutex<Option<KeptCredentials>>,
}

/// Credentials that were found.
struct KeptCredentials {
    /// The credentials.
    credentials: Arc<AwsCredentials>,
    /// When others are fetched; none where they last.
    renewal: Option<Time>,
}

impl KeptCredentials {
    /// Those that end at some time are fetched again some time before; where that is now, halfway to the end, so that
    /// not every request fetches.
    fn of(credentials: Arc<AwsCredentials>, now: Time) -> KeptCredentials {
        let renewal = credentials.expires.map(|end| {
            let ahead = end.minus(AHEAD);
            let left = end.since(now).unwrap_or(Duration::from_secs(0));
            if ahead > now { ahead } else { now.plus(Duration::from_secs(left.as_secs() / 2)) }
        });
        KeptCredentials { credentials, renewal }
    }

    /// Whether they hold.
    fn holds(&self, now: Time) -> bool {
        self.credentials.expires.is_none_or(|end| now < end)
    }
}

impl AwsLogin {
    /// One by settings; nothing is asked yet.
    pub fn new(settings: AwsSettings, around: AwsSurroundings) -> AwsLogin {
        AwsLogin { chain: AwsChain { settings, around }, kept: Mutex::new(None) }
    }

    /// Credentials that hold at this time: those that are kept, or new ones where these end soon. Where no new ones can
    /// be had, the old ones go on as long as they hold.
    ///
    /// Errors: `no-credentials` where no source has any; what is wrong with the source that is set.
    pub fn credentials(&self, now: Time) -> Result<Arc<AwsCredentials>, Problem> {
        let mut kept = self.kept.lock().expect(HELD);
        if let Some(kept) = &*kept
            && kept.renewal.is_none_or(|renewal| now < renewal)
        {
            return Ok(Arc::clone(&kept.credentials));
        }
        let credentials = match (self.fetch(now), kept.take().filter(|kept| kept.holds(now))) {
            (Ok(new), _) => Arc::new(new),
            (Err(_), Some(old)) => old.credentials,
            (Err(problem), None) => return Err(problem),
        };
        *kept = Some(KeptCredentials::of(Arc::clone(&credentials), now));
        Ok(credentials)
    }

    /// Drops what is kept: a server says that it has ended.
    pub fn forget(&self) {
        *self.kept.lock().expect(HELD) = None;
    }

    /// Where credentials are, in words; where there are none, why.
    pub fn source(&self) -> String {
        self.chain.find().map_or_else(|problem| problem.message, |source| source.to_string())
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
