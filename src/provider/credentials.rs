//! What the rooms share that ask clouds for credentials: how a service is asked, how what it says is shown, and how
//! long what it gave is kept.

use std::sync::{Arc, Mutex};

use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpClient, HttpFailureKind, HttpQuestion};
use crate::inventory::value::{Duration, Time};
use crate::parallel::HELD;

/// How many octets an answer with credentials may have, by far.
pub const MAX_ANSWER: u64 = 256 * 1024;

/// How long before their end credentials are renewed: longer than a request takes, and clocks differ.
const AHEAD: Duration = Duration::from_secs(300);

/// What is in a text where a secret was.
const HIDDEN: &str = "…";

/// The most characters of a server's message that are shown.
const MAX_SHOWN: usize = 300;

/// Asks a service that gives credentials; any status is an answer. `place` is in front of what is wrong.
///
/// Errors: there is no answer.
pub fn ask(client: &HttpClient, question: &HttpQuestion<'_>, place: &str) -> Result<HttpAnswer, Problem> {
    client.ask(question).map_err(|failure| {
        let code = match failure.kind {
            HttpFailureKind::Unreachable => "connect-failed",
            HttpFailureKind::Late => "timeout",
            HttpFailureKind::TooLong => "api-failed",
        };
        Problem::new(place, code, failure.message)
    })
}

/// A server's text as it may be shown: one line of some length, without these secrets.
pub fn shown<'s>(text: &str, secrets: impl IntoIterator<Item = &'s str>) -> String {
    let mut text = text.to_owned();
    for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, HIDDEN);
    }
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    line.collect::<Vec<_>>().join(" ").chars().take(MAX_SHOWN).collect()
}

/// A text that a header can have; none where it is another.
pub fn one_word(text: &str) -> Option<&str> {
    (!text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())).then_some(text)
}

/// Credentials that are kept, and renewed in time. Threads share them: one of them renews, and the others wait.
pub struct RenewedCredentials<C> {
    /// Those that were fetched last.
    kept: Mutex<Option<KeptCredentials<C>>>,
}

/// Credentials that were fetched.
struct KeptCredentials<C> {
    /// The credentials.
    credentials: Arc<C>,
    /// When they end; none where they last.
    expires: Option<Time>,
    /// When others are fetched; none where they last.
    renewal: Option<Time>,
}

impl<C> KeptCredentials<C> {
    /// Those that end at some time are fetched again some time before; where that is now, halfway to the end, so that
    /// not every request fetches.
    fn of(credentials: Arc<C>, expires: Option<Time>, now: Time) -> KeptCredentials<C> {
        let renewal = expires.map(|end| {
            let ahead = end.minus(AHEAD);
            let left = end.since(now).unwrap_or(Duration::from_secs(0));
            if ahead > now { ahead } else { now.plus(Duration::from_secs(left.as_secs() / 2)) }
        });
        KeptCredentials { credentials, expires, renewal }
    }

    /// Whether they hold.
    fn holds(&self, now: Time) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

impl<C> RenewedCredentials<C> {
    /// None yet.
    pub fn new() -> RenewedCredentials<C> {
        RenewedCredentials { kept: Mutex::new(None) }
    }

    /// Credentials that hold at this time: those that are kept, or what `fetch` gives where these end soon, with its
    /// end. Where it gives none, the old ones go on as long as they hold.
    ///
    /// Errors: those of `fetch`.
    pub fn get(
        &self,
        now: Time,
        fetch: impl FnOnce() -> Result<(C, Option<Time>), Problem>,
    ) -> Result<Arc<C>, Problem> {
        let mut kept = self.kept.lock().expect(HELD);
        if let Some(kept) = &*kept
            && kept.renewal.is_none_or(|renewal| now < renewal)
        {
            return Ok(Arc::clone(&kept.credentials));
        }
        let (credentials, expires) = match (fetch(), kept.take().filter(|kept| kept.holds(now))) {
            (Ok((new, expires)), _) => (Arc::new(new), expires),
            (Err(_), Some(old)) => (old.credentials, old.expires),
            (Err(problem), None) => return Err(problem),
        };
        *kept = Some(KeptCredentials::of(Arc::clone(&credentials), expires, now));
        Ok(credentials)
    }

    /// Drops what is kept: a server says that it has ended.
    pub fn forget(&self) {
        *self.kept.lock().expect(HELD) = None;
    }
}
