//! Asks a service of AWS: signed, no faster than an account may, and again where nothing was done.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::fault::{AwsFault, AwsFaultKind};
use super::login::AwsLogin;
use super::settings::AwsSettings;
use super::sign::{AwsRequest, SigningScope, sign};
use super::surroundings::AwsSurroundings;
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpAsker, HttpClient, HttpContent, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::pace::AccountPace;

/// How often a question that may be repeated is asked whose answer does not come.
const ASKED_AGAIN: u32 = 3;

/// How often a request is sent that the service was too busy for.
const TRIES: u32 = 6;

/// How long is waited before the second try; each further one waits twice as long. Other tools ask the same account, and a
/// change may keep its zone busy for some seconds.
const PAUSE: Duration = Duration::from_secs(1);

/// How long is waited at most.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct AwsQuestion<'q> {
    /// How.
    pub method: HttpMethod,
    /// The path with its query, encoded.
    pub target: &'q str,
    /// Headers in addition to the media type of the content; they are signed, too.
    pub headers: &'q [(&'q str, &'q str)],
    /// The content; empty where there is none.
    pub content: &'q str,
    /// The media type of the content.
    pub media_type: &'static str,
    /// How many octets the answer may have.
    pub max: u64,
    /// Whether it may be asked twice: it changes nothing, or the same once more.
    pub repeats: bool,
}

/// Reads an answer without success; the function hides secrets in a text of it.
pub type FaultReader = fn(&HttpAnswer, &dyn Fn(&str) -> String, Time) -> AwsFault;

/// How a target asks a service.
#[derive(Debug, Clone, Copy)]
pub struct AwsTerms<'t> {
    /// The name of the service in signatures.
    pub service: &'static str,
    /// The region in signatures.
    pub region: &'t str,
    /// The URL of the API, without a final slash.
    pub endpoint: &'t str,
    /// Who asks.
    pub login: &'t AwsSettings,
    /// How many requests go in a second.
    pub requests: u64,
    /// How long one request may take.
    pub timeout: Duration,
    /// What an answer without success means.
    pub read_fault: FaultReader,
}

/// Asks one service.
pub struct AwsClient {
    /// The URL of the API, without a final slash.
    pub endpoint: String,
    /// The name of the service in signatures.
    pub service: &'static str,
    /// The region in signatures.
    pub region: String,
    /// What answers.
    pub http: Box<dyn HttpAsker>,
    /// Who asks.
    pub login: AwsLogin,
    /// How fast the account may be asked.
    pub pace: Arc<AccountPace>,
    /// How long after a request the next one may go.
    pub interval: Duration,
    /// The time, for signatures.
    pub clock: Box<dyn Fn() -> Time + Send + Sync>,
    /// What an answer without success means.
    pub read_fault: FaultReader,
}

impl AwsClient {
    /// A client of a workspace; nothing is asked yet.
    ///
    /// Errors: this system trusts no certificate; the problem is at this place.
    pub fn open(terms: &AwsTerms<'_>, workspace: &Path, place: &str) -> Result<AwsClient, Problem> {
        let http = HttpClient::new(terms.endpoint, terms.timeout).map_err(|error| {
            Problem::new(place, "connect-failed", error.message).hint("look at the settings of TLS")
        })?;
        let login = AwsLogin::new(terms.login.clone(), AwsSurroundings::of_process(workspace));
        Ok(AwsClient {
            endpoint: terms.endpoint.to_owned(),
            service: terms.service,
            region: terms.region.to_owned(),
            http: Box::new(http),
            pace: AccountPace::of(&format!("{} {} {}", terms.service, terms.endpoint, login.source())),
            login,
            interval: Duration::from_secs(1) / u32::try_from(terms.requests).unwrap_or(u32::MAX),
            clock: Box::new(|| {
                Time::from_timestamp(jiff::Timestamp::now()).expect("the clock is set to a time of ours")
            }),
            read_fault: terms.read_fault,
        })
    }

    /// Asks, and gives the content of an answer of success. What was too much for the service is asked again.
    ///
    /// Errors: there is no answer, or no good one.
    pub fn ask(&self, question: &AwsQuestion<'_>) -> Result<Vec<u8>, AwsFault> {
        let (mut tries, mut was_renewed) = (1, false);
        loop {
            let fault = match self.ask_once(question) {
                Ok(content) => return Ok(content),
                Err(fault) => fault,
            };
            let is_ended = fault.kind == AwsFaultKind::Ended && !was_renewed;
            if is_ended {
                was_renewed = true;
                self.login.forget();
            } else if fault.kind == AwsFaultKind::Busy && tries < TRIES {
                tries += 1;
                tracing::info!("{}; it is asked again, try {tries} of {TRIES}", fault.message);
                self.pace.wait_apart((PAUSE * (1 << (tries - 2))).min(MAX_PAUSE));
            } else if fault.kind == AwsFaultKind::Unknown && question.repeats && tries < ASKED_AGAIN {
                tries += 1;
                let again = format!("{}; it is asked again, try {tries} of {ASKED_AGAIN}", fault.message);
                // Each try takes the whole `timeout` then: without a word the run would seem to hang.
                if fault.code == "timeout" { tracing::warn!("{again}") } else { tracing::info!("{again}") }
            } else {
                return Err(fault);
            }
        }
    }

    /// Signs, asks once, and reads what is no success.
    fn ask_once(&self, question: &AwsQuestion<'_>) -> Result<Vec<u8>, AwsFault> {
        let AwsQuestion { method, target, headers, content, media_type, max, .. } = *question;
        let url = format!("{}{target}", self.endpoint);
        self.pace.take(self.interval);
        let now = (self.clock)();
        let credentials = self.login.credentials(now).map_err(AwsFault::without_credentials)?;
        let of_content = (!content.is_empty()).then_some(("content-type", media_type));
        let own: Vec<(&str, &str)> = of_content.into_iter().chain(headers.iter().copied()).collect();
        let request = AwsRequest { method, url: &url, headers: &own, content };
        let signed = sign(&request, &credentials, &SigningScope { service: self.service, region: &self.region, now });
        let signed = signed.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain(signed).collect();
        let content = (!content.is_empty()).then_some(HttpContent { media_type, text: content });
        let asked = HttpQuestion { method, url: &url, headers: &headers, content, max, repeats: false };
        let answer = self.http.ask(&asked).map_err(AwsFault::unanswered)?;
        match answer.status {
            200..=299 => Ok(answer.content),
            _ => {
                let fault = (self.read_fault)(&answer, &|text| credentials.hide_in(text), now);
                Err(fault.with_source(|| self.login.source()))
            }
        }
    }
}
