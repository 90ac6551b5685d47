//! Asks the API of Azure DNS: with a token, and again where nothing was done.

use std::sync::Arc;
use std::time::Duration;

use super::document::{self, AzureRefusal};
use super::service::AzureKind;
use super::work::{self, AzureWork};
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpAsker, HttpContent, HttpFailure, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::credentials::shown;
use crate::provider::entra::AzureLogin;
use crate::provider::outage::of_cloud;
use crate::provider::pace::AccountPace;

/// How often a request is sent that the service was too busy for.
const TRIES: u32 = 6;

/// How long is waited before the second try where the service does not say; each further one waits twice as long.
const PAUSE: Duration = Duration::from_secs(2);

/// How long is waited at most: its limits are those of a minute.
const MAX_PAUSE: Duration = Duration::from_secs(120);

/// The status of what is begun and not done.
const BEGUN: u16 = 202;

/// How often it is asked how far something is: for ten minutes, at the pauses of ours.
const FOLLOWED: u32 = 300;

/// How many octets an answer may have that says how far something is.
const MAX_STATUS: u64 = 1 << 20;

/// The media type of requests.
const JSON: &str = "application/json";

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct AzureQuestion<'q> {
    /// How.
    pub method: HttpMethod,
    /// The path with its query, without the version of the API where the query does not have it.
    pub target: &'q str,
    /// The header under whose condition something is written, with its value.
    pub condition: Option<(&'q str, &'q str)>,
    /// The content, as JSON; empty where there is none.
    pub content: &'q str,
    /// How many octets the answer may have.
    pub max: u64,
}

/// What the service did.
#[derive(Debug)]
pub struct AzureDone {
    /// The status of HTTP.
    pub status: u16,
    /// What it says of it.
    pub content: Vec<u8>,
    /// Where it says how far it is, as a path; none where it is done.
    follow: Option<FollowedWork>,
}

/// What the service has begun and not done yet.
#[derive(Debug)]
struct FollowedWork {
    /// The path at which it says how far it is.
    path: String,
    /// How long it is to be left.
    after: Option<Duration>,
}

/// Why something was not done, or may not have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureFaultKind {
    /// What a request says was there is not.
    Stale,
    /// A record set that is asked for is not there.
    Missing,
    /// The service will not do it.
    Refused,
    /// The service could not do it just then, and says when to ask again; nothing was done.
    Busy(Option<Duration>),
    /// The token has ended; nothing was done.
    Ended,
    /// There is no answer, or one that proves nothing.
    Unknown,
}

/// Why something was not done, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureFault {
    /// What that means for a write.
    pub kind: AzureFaultKind,
    /// A code, as problems have it.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl AzureFault {
    /// The problem at a place.
    pub fn at(self, place: String) -> Problem {
        Problem::new(place, self.code, self.message).hint(self.hint)
    }

    /// That an answer is not what it should be.
    pub fn unusable(why: String) -> AzureFault {
        let hint = "`endpoint` must lead to the Resource Manager of Azure, or be left out".to_owned();
        AzureFault { kind: AzureFaultKind::Unknown, code: "api-failed", message: why, hint }
    }
}

/// Gives the pace of a zone by its path.
pub type ZonePaces = Box<dyn Fn(&str) -> Arc<AccountPace> + Send + Sync>;

/// Asks Azure DNS.
pub struct AzureClient {
    /// Which service.
    pub kind: AzureKind,
    /// What answers.
    pub http: Box<dyn HttpAsker>,
    /// Who asks.
    pub login: AzureLogin,
    /// How fast each zone may be written, which all targets of this process share.
    pub paces: ZonePaces,
    /// Where waiting is done.
    pub pace: Arc<AccountPace>,
    /// The time, for tokens.
    pub clock: Box<dyn Fn() -> Time + Send + Sync>,
}

impl AzureClient {
    /// Asks, and gives what an answer of success says. What was too much for the service is asked again.
    ///
    /// Errors: there is no answer, or no good one; what is begun and not done is none.
    pub fn ask(&self, question: &AzureQuestion<'_>) -> Result<AzureDone, AzureFault> {
        let done = self.ask_until_taken(question)?;
        if done.status == BEGUN { Err(unfinished("it has not done yet what it was asked for")) } else { Ok(done) }
    }

    /// Asks for something that may take a while, and waits until it is done.
    ///
    /// Errors: as for [`AzureClient::ask`]; it failed, or is not done for too long.
    pub fn ask_to_end(&self, question: &AzureQuestion<'_>) -> Result<(), AzureFault> {
        let mut done = self.ask_until_taken(question)?;
        if done.status != BEGUN {
            return Ok(());
        }
        let work = done.follow.take().ok_or_else(|| unfinished("it does not say where to ask how far it is"))?;
        let (path, mut after) = (work.path, work.after);
        for _ in 0..FOLLOWED {
            self.pace.wait(after.unwrap_or(PAUSE).min(MAX_PAUSE));
            let question =
                AzureQuestion { method: HttpMethod::Get, target: &path, condition: None, content: "", max: MAX_STATUS };
            let done = self.ask_until_taken(&question)?;
            after = done.follow.and_then(|work| work.after);
            match work::read_status(&done.content).map_err(AzureFault::unusable)? {
                AzureWork::Goes => {}
                AzureWork::Done => return Ok(()),
                AzureWork::Failed(AzureRefusal { code, message }) => {
                    let message = format!("Azure did not do it: `{code}`: {message}");
                    let hint = "docs/targets.md says what Azure takes".to_owned();
                    return Err(AzureFault { kind: AzureFaultKind::Refused, code: "api-failed", message, hint });
                }
            }
        }
        Err(unfinished("it goes on for too long"))
    }

    /// Asks until the service takes what it is asked for: it is done, or begun.
    fn ask_until_taken(&self, question: &AzureQuestion<'_>) -> Result<AzureDone, AzureFault> {
        let (mut tries, mut was_renewed) = (1, false);
        loop {
            let fault = match self.ask_once(question) {
                Ok(done) => return Ok(done),
                Err(fault) => fault,
            };
            match fault.kind {
                AzureFaultKind::Ended if !was_renewed => {
                    was_renewed = true;
                    self.login.forget();
                }
                AzureFaultKind::Busy(after) if tries < TRIES => {
                    tries += 1;
                    tracing::info!("{}; it is asked again, try {tries} of {TRIES}", fault.message);
                    self.pace.wait_apart(after.unwrap_or(PAUSE * (1 << (tries - 2))).min(MAX_PAUSE));
                }
                _ => return Err(fault),
            }
        }
    }

    /// Asks once, and reads what is no success.
    fn ask_once(&self, question: &AzureQuestion<'_>) -> Result<AzureDone, AzureFault> {
        let AzureQuestion { method, target, condition, content, max } = *question;
        let token = self.login.token((self.clock)()).map_err(|problem| AzureFault {
            kind: AzureFaultKind::Refused,
            code: "no-credentials",
            message: problem.message,
            hint: problem.hint.unwrap_or_default(),
        })?;
        let url = format!("{}{}", self.login.endpoint(), self.versioned(target));
        let headers: Vec<(&str, &str)> =
            [("authorization", token.authorization())].into_iter().chain(condition).collect();
        let content = (!content.is_empty()).then_some(HttpContent { media_type: JSON, text: content });
        let asked = HttpQuestion { method, url: &url, headers: &headers, content, max, repeats: false };
        let answer = self.http.ask(&asked).map_err(unanswered)?;
        if matches!(answer.status, 200 | 201 | BEGUN | 204) {
            let link = answer.headers.get("azure-asyncoperation").or_else(|| answer.headers.get("location"));
            let after = retry_after(&answer);
            let follow = link.and_then(|link| path_of(link)).map(|path| FollowedWork { path, after });
            return Ok(AzureDone { status: answer.status, content: answer.content, follow });
        }
        let AzureRefusal { code, message } = document::read_refusal(&answer.content);
        let secret = token.authorization().split(' ').next_back();
        let hide = |text: &str| shown(text, secret);
        Err(refused(&answer, &AzureRefusal { code: hide(&code), message: hide(&message) }))
    }

    /// A path and query with the version of the API, which links of the service have already.
    fn versioned(&self, target: &str) -> String {
        if target.contains("api-version=") {
            return target.to_owned();
        }
        let mark = if target.contains('?') { '&' } else { '?' };
        format!("{target}{mark}api-version={}", self.kind.api_version())
    }
}

/// The path and query of a link. A token goes to the endpoint alone, wherever the link leads; none where it is no link.
pub fn path_of(link: &str) -> Option<String> {
    let path = link.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| rest[at..].to_owned()));
    path.filter(|path| path.chars().all(|c| c.is_ascii_graphic() && c != '#'))
}

/// How long the service wants to be left.
fn retry_after(answer: &HttpAnswer) -> Option<Duration> {
    let seconds = answer.headers.get("retry-after").and_then(|text| text.trim().parse().ok());
    seconds.map(Duration::from_secs)
}

/// That something is begun, of which it is not known whether it is done.
fn unfinished(why: &str) -> AzureFault {
    let message = format!("Azure answers with status {BEGUN}: {why}");
    AzureFault {
        kind: AzureFaultKind::Unknown,
        code: "api-failed",
        message,
        hint: "look at the zone, and try again".to_owned(),
    }
}

/// That there is no answer.
fn unanswered(failure: HttpFailure) -> AzureFault {
    let (code, hint) = of_cloud(failure.kind);
    AzureFault { kind: AzureFaultKind::Unknown, code, message: failure.message, hint: hint.to_owned() }
}

/// What an answer without success means.
fn refused(answer: &HttpAnswer, refusal: &AzureRefusal) -> AzureFault {
    let AzureRefusal { code, message } = refusal;
    let called = if code.is_empty() { format!("status {}", answer.status) } else { format!("`{code}`") };
    let said = if message.is_empty() { String::new() } else { format!(": {}", message.trim_end_matches('.')) };
    let made = |kind, code: &'static str, hint: &str| {
        let message = format!("Azure answers with {called}{said}");
        AzureFault { kind, code, message, hint: hint.to_owned() }
    };
    let retry = || retry_after(answer);
    let plan_again = "plan again: the new plan starts from what is there now";
    match answer.status {
        412 => made(AzureFaultKind::Stale, "update-rejected", plan_again),
        409 if message.contains("CNAME") => made(AzureFaultKind::Stale, "update-rejected", plan_again),
        404 if code == "NotFound" => {
            made(AzureFaultKind::Missing, "zone-not-served", "compare the zone with those of the subscription")
        }
        404 => made(
            AzureFaultKind::Refused,
            "zone-not-served",
            "compare `subscription_id` and `resource_group` with the list of zones",
        ),
        401 => made(
            AzureFaultKind::Ended,
            "api-denied",
            "`zonewright doctor` names who asks; compare its tenant and cloud",
        ),
        403 => made(
            AzureFaultKind::Refused,
            "api-denied",
            "compare the role of who asks with that in docs/targets.md; `zonewright doctor` names who asks",
        ),
        429 => made(
            AzureFaultKind::Busy(retry()),
            "api-failed",
            "the service counts requests of each zone: find what else asks it, or lower `writes_per_minute`",
        ),
        503 if retry().is_some() => made(AzureFaultKind::Busy(retry()), "api-failed", "try again"),
        408 | 500.. => made(AzureFaultKind::Unknown, "api-failed", "try again"),
        // An answer of success that says nothing of a record set.
        ..300 => made(AzureFaultKind::Unknown, "api-failed", "try again"),
        _ => made(AzureFaultKind::Refused, "update-rejected", "docs/targets.md says what Azure takes"),
    }
}
