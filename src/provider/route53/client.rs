//! Asks the API of Route 53: signed, no faster than an account may, and again where nothing was done.

use std::sync::Arc;
use std::time::Duration;

use super::document::{self, ServiceFault};
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpAsker, HttpContent, HttpFailure, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::aws::{AwsLogin, AwsRequest, SigningScope, sign};
use crate::provider::outage::of_cloud;
use crate::provider::pace::AccountPace;
use crate::provider::url::encode_query;

/// What the path of each request begins with: the version of the API.
const VERSION: &str = "/2013-04-01";

/// The name of the service in signatures.
const SERVICE: &str = "route53";

/// The region in signatures for an endpoint: the service is one for all regions of a partition (AWS, "Amazon Route 53 endpoints").
fn region_of(endpoint: &str) -> &'static str {
    match endpoint {
        own if own.ends_with(".amazonaws.com.cn") => "cn-northwest-1",
        own if own.contains("us-gov") => "us-gov-west-1",
        _ => "us-east-1",
    }
}

/// How often a question that changes nothing is asked whose answer does not come.
const ASKED_AGAIN: u32 = 3;

/// How often a request is sent that the service was too busy for.
const TRIES: u32 = 6;

/// How long is waited before the second try; each further one waits twice as long. Other tools ask the same account, and a
/// change keeps its zone busy for some seconds.
const PAUSE: Duration = Duration::from_secs(1);

/// How long is waited at most.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Route53Question<'q> {
    /// How.
    pub method: HttpMethod,
    /// The path behind the version.
    pub path: &'q str,
    /// The query, with values as they are.
    pub query: &'q [(&'q str, &'q str)],
    /// The content, as XML; empty where there is none.
    pub content: &'q str,
    /// How many octets the answer may have.
    pub max: u64,
}

/// Why something was not done, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route53FaultKind {
    /// What a change of a batch says was there is not.
    Stale,
    /// The service will not do it.
    Refused,
    /// The service could not do it just then; nothing was done.
    Busy,
    /// The credentials have ended; nothing was done.
    Ended,
    /// There is no answer, or one that proves nothing.
    Unknown,
}

/// Why something was not done, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route53Fault {
    /// What that means for a change.
    pub kind: Route53FaultKind,
    /// A code, as problems have it.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// What the service says: a message for each change that fails.
    pub said: Vec<String>,
}

impl Route53Fault {
    /// The problem at a place.
    pub fn at(self, place: String) -> Problem {
        Problem::new(place, self.code, self.message).hint(self.hint)
    }

    /// That an answer is not what it should be.
    pub fn unusable(why: String) -> Route53Fault {
        let hint = "`endpoint` must lead to Route 53, or be left out".to_owned();
        Route53Fault { kind: Route53FaultKind::Unknown, code: "api-failed", message: why, hint, said: Vec::new() }
    }
}

/// Asks Route 53.
pub struct Route53Client {
    /// The URL of the API, without the version.
    pub endpoint: String,
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
}

impl Route53Client {
    /// Asks, and gives the content of an answer of success. What was too much for the service is asked again.
    ///
    /// Errors: there is no answer, or no good one.
    pub fn ask(&self, question: &Route53Question<'_>) -> Result<Vec<u8>, Route53Fault> {
        let (mut tries, mut was_renewed) = (1, false);
        loop {
            let fault = match self.ask_once(question) {
                Ok(content) => return Ok(content),
                Err(fault) => fault,
            };
            let is_ended = fault.kind == Route53FaultKind::Ended && !was_renewed;
            if is_ended {
                was_renewed = true;
                self.login.forget();
            } else if fault.kind == Route53FaultKind::Busy && tries < TRIES {
                self.pace.wait((PAUSE * (1 << (tries - 1))).min(MAX_PAUSE));
                tries += 1;
            } else if fault.kind == Route53FaultKind::Unknown
                && question.method == HttpMethod::Get
                && tries < ASKED_AGAIN
            {
                tries += 1;
            } else {
                return Err(fault);
            }
        }
    }

    /// Signs, asks once, and reads what is no success.
    fn ask_once(&self, question: &Route53Question<'_>) -> Result<Vec<u8>, Route53Fault> {
        let Route53Question { method, path, query, content, max } = *question;
        let query = if query.is_empty() { String::new() } else { format!("?{}", encode_query(query)) };
        let url = format!("{}{VERSION}{path}{query}", self.endpoint);
        self.pace.take(self.interval);
        let now = (self.clock)();
        let credentials = self.login.credentials(now).map_err(|problem| Route53Fault {
            // They may be there later: what gives them may be out of reach.
            kind: Route53FaultKind::Ended,
            code: problem.code.as_str(),
            message: problem.message,
            hint: problem.hint.unwrap_or_default(),
            said: Vec::new(),
        })?;
        let own: Vec<(&str, &str)> = if content.is_empty() { Vec::new() } else { vec![("content-type", XML)] };
        let request = AwsRequest { method, url: &url, headers: &own, content };
        let signed =
            sign(&request, &credentials, &SigningScope { service: SERVICE, region: region_of(&self.endpoint), now });
        let headers: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let content = (!content.is_empty()).then_some(HttpContent { media_type: XML, text: content });
        let asked = HttpQuestion { method, url: &url, headers: &headers, content, max, repeats: false };
        let answer = self.http.ask(&asked).map_err(unanswered)?;
        match answer.status {
            200..=299 => Ok(answer.content),
            _ => {
                let fault = document::read_fault(&answer.content);
                let hide = |text: &String| credentials.hide_in(text);
                let said = fault.messages.iter().map(hide).collect();
                Err(refused(&answer, &ServiceFault { messages: said, ..fault }, now))
            }
        }
    }
}

/// The media type of requests.
const XML: &str = "application/xml";

/// That there is no answer.
fn unanswered(failure: HttpFailure) -> Route53Fault {
    let (code, hint) = of_cloud(failure.kind);
    Route53Fault {
        kind: Route53FaultKind::Unknown,
        code,
        message: failure.message,
        hint: hint.to_owned(),
        said: Vec::new(),
    }
}

/// What the service says of a change whose RRset is not what the change says.
const STALE: [&str; 5] = [
    "but it already exists",
    "but it was not found",
    "do not match the current values",
    "conflicting",
    "conflicts with other records",
];

/// How many messages of an answer are shown.
const SHOWN: usize = 3;

/// What an answer without success means.
fn refused(answer: &HttpAnswer, fault: &ServiceFault, now: Time) -> Route53Fault {
    let words: Vec<String> = fault.messages.iter().map(|message| shown(message)).collect();
    let more = words.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let said = words[..words.len().min(SHOWN)].join("; ");
    let said = if said.is_empty() { String::new() } else { format!(": {said}{more}") };
    let made = |kind, code: &'static str, hint: &str| Route53Fault {
        kind,
        code,
        message: shown(&format!("Route 53 answers with {}{said}", code_of(answer, fault))),
        hint: hint.to_owned(),
        said: words.clone(),
    };
    let is_stale = |message: &String| STALE.iter().any(|words| message.contains(words));
    match fault.code.as_str() {
        "InvalidChangeBatch" if !fault.messages.is_empty() && fault.messages.iter().all(is_stale) => {
            made(Route53FaultKind::Stale, "update-rejected", "plan again: the new plan starts from what is there now")
        }
        "InvalidChangeBatch" | "InvalidInput" => {
            made(Route53FaultKind::Refused, "update-rejected", "docs/targets.md says what Route 53 takes")
        }
        "Throttling" | "ThrottlingException" | "PriorRequestNotComplete" => made(
            Route53FaultKind::Busy,
            "api-failed",
            "the service takes five requests a second of an account: find what else asks it, or lower `requests_per_second`",
        ),
        "ExpiredToken" | "ExpiredTokenException" => {
            made(Route53FaultKind::Ended, "api-denied", "renew the credentials at their source")
        }
        "RequestExpired" | "SignatureDoesNotMatch" if clock_differs(answer, now).is_some() => {
            let ahead = clock_differs(answer, now).unwrap_or_default();
            let message = format!("Route 53 does not take the signature: the clocks differ by {ahead} s");
            let hint = "set the clock of this machine: signatures hold for five minutes".to_owned();
            Route53Fault { message, hint, ..made(Route53FaultKind::Refused, "api-denied", "") }
        }
        "RequestExpired" => made(Route53FaultKind::Ended, "api-denied", "compare the clock of this machine"),
        "NoSuchHostedZone" => {
            made(Route53FaultKind::Refused, "zone-not-served", "compare `zone_ids` with the zones of the account")
        }
        _ if answer.status == 429 => made(Route53FaultKind::Busy, "api-failed", "try again later"),
        _ if answer.status == 403 => made(
            Route53FaultKind::Refused,
            "api-denied",
            "compare the rights of the credentials with those in docs/targets.md; `zonewright doctor` names their source",
        ),
        _ if answer.status >= 500 => made(Route53FaultKind::Unknown, "api-failed", "try again"),
        _ => made(Route53FaultKind::Refused, "api-failed", "docs/targets.md says what Route 53 takes"),
    }
}

/// How an answer without success is called.
fn code_of(answer: &HttpAnswer, fault: &ServiceFault) -> String {
    if fault.code.is_empty() { format!("status {}", answer.status) } else { format!("`{}`", shown(&fault.code)) }
}

/// By how many seconds the clock of the service differs, where that is more than a signature tolerates.
fn clock_differs(answer: &HttpAnswer, now: Time) -> Option<u64> {
    let date = jiff::fmt::rfc2822::parse(answer.headers.get("date")?).ok()?;
    let theirs = Time::from_timestamp(date.timestamp())?;
    let apart = theirs.since(now).or_else(|| now.since(theirs))?.as_secs();
    (apart > 240).then_some(apart)
}

/// What a server says, as far as it is shown.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}
