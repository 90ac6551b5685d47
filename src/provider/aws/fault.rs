//! Why a service of AWS did not do what it was asked, or may not have. Pure.

use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpFailure};
use crate::inventory::value::Time;
use crate::provider::outage::of_cloud;

/// What a fault means for what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwsFaultKind {
    /// What a request says was there is not.
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
pub struct AwsFault {
    /// What that means for what was asked.
    pub kind: AwsFaultKind,
    /// A code, as problems have it.
    pub code: &'static str,
    /// The service's own code; empty where it gave none.
    pub name: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// What the service says of parts of the request, or the id of what is in its way; empty where it says nothing.
    pub said: Vec<String>,
    /// Whether the service does not know the access key, or its secret did not make the signature.
    pub is_of_key: bool,
}

impl AwsFault {
    /// One of which the service says nothing.
    pub fn new(kind: AwsFaultKind, code: &'static str, message: String, hint: &str) -> AwsFault {
        let (name, hint, said) = (String::new(), hint.to_owned(), Vec::new());
        AwsFault { kind, code, name, message, hint, said, is_of_key: false }
    }

    /// The same, where it is of the key with the source that has the key.
    pub fn with_source(self, source: impl FnOnce() -> String) -> AwsFault {
        if !self.is_of_key {
            return self;
        }
        let hint = format!("{WRONG_KEY}: compare those of {} with the key in IAM", source());
        AwsFault { hint, ..self }
    }

    /// The problem at a place.
    pub fn at(self, place: String) -> Problem {
        Problem::new(place, self.code, self.message).hint(self.hint)
    }

    /// That an answer is not what it should be.
    pub fn unusable(why: String) -> AwsFault {
        AwsFault::new(AwsFaultKind::Unknown, "api-failed", why, "`endpoint` must lead to the service, or be left out")
    }

    /// That credentials cannot be had. They may be there later: what gives them may be out of reach.
    pub fn without_credentials(problem: Problem) -> AwsFault {
        let hint = problem.hint.unwrap_or_default();
        AwsFault::new(AwsFaultKind::Ended, problem.code.as_str(), problem.message, &hint)
    }

    /// That there is no answer.
    pub fn unanswered(failure: HttpFailure) -> AwsFault {
        let (code, hint) = of_cloud(failure.kind);
        AwsFault::new(AwsFaultKind::Unknown, code, failure.message, hint)
    }
}

/// An answer without success, as it came and as the service calls it.
pub struct RefusedAnswer<'a> {
    /// What people call the service.
    pub service: &'a str,
    /// The answer.
    pub answer: &'a HttpAnswer,
    /// The service's own code; empty where it gave none.
    pub name: String,
    /// What it says, without secrets.
    pub said: Vec<String>,
    /// When it was asked.
    pub now: Time,
}

/// What is wrong where the service does not know who asks.
const WRONG_KEY: &str = "the access key, its secret or its session token is wrong";

/// How many messages of an answer are shown.
const SHOWN: usize = 3;

impl RefusedAnswer<'_> {
    /// The fault that it is.
    pub fn fault(&self, kind: AwsFaultKind, code: &'static str, hint: &str) -> AwsFault {
        let words: Vec<String> = self.said.iter().map(|message| shown(message)).collect();
        let more = words.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let said = words[..words.len().min(SHOWN)].join("; ");
        // What prints a message ends its sentence.
        let said = said.trim_end_matches('.');
        let said = if said.is_empty() { String::new() } else { format!(": {said}{more}") };
        let called = match self.name.as_str() {
            "" => format!("status {}", self.answer.status),
            name => format!("`{}`", shown(name)),
        };
        let message = shown(&format!("{} answers with {called}{said}", self.service));
        AwsFault { name: self.name.clone(), said: words, ..AwsFault::new(kind, code, message, hint) }
    }

    /// The fault that it is where its code or its status is one that all services share; `of_pace` says what to do where they
    /// are asked too fast, and `of_input` where they do not take what they are asked.
    pub fn of_any_service(&self, of_pace: &str, of_input: &str) -> AwsFault {
        let status = self.answer.status;
        match self.name.as_str() {
            "Throttling" | "ThrottlingException" | "RequestLimitExceeded" | "TooManyRequestsException" => {
                self.fault(AwsFaultKind::Busy, "api-failed", of_pace)
            }
            "ExpiredToken" | "ExpiredTokenException" => {
                self.fault(AwsFaultKind::Ended, "api-denied", "renew the credentials at their source")
            }
            "RequestExpired" | "SignatureDoesNotMatch" | "InvalidSignatureException"
                if clock_differs(self.answer, self.now).is_some() =>
            {
                let ahead = clock_differs(self.answer, self.now).unwrap_or_default();
                let message = format!("{} does not take the signature: the clocks differ by {ahead} s", self.service);
                let hint = "set the clock of this machine: signatures hold for five minutes";
                AwsFault { message, ..self.fault(AwsFaultKind::Refused, "api-denied", hint) }
            }
            "RequestExpired" => self.fault(AwsFaultKind::Ended, "api-denied", "compare the clock of this machine"),
            "SignatureDoesNotMatch"
            | "InvalidSignatureException"
            | "InvalidClientTokenId"
            | "InvalidAccessKeyId"
            | "UnrecognizedClientException" => {
                AwsFault { is_of_key: true, ..self.fault(AwsFaultKind::Refused, "api-denied", WRONG_KEY) }
            }
            _ if status == 429 => self.fault(AwsFaultKind::Busy, "api-failed", "try again later"),
            "AccessDeniedException" => self.denied(),
            _ if status == 403 => self.denied(),
            _ if status >= 500 => self.fault(AwsFaultKind::Unknown, "api-failed", "try again"),
            _ => self.fault(AwsFaultKind::Refused, "api-failed", of_input),
        }
    }

    /// That who asks may not.
    fn denied(&self) -> AwsFault {
        let hint = "compare the rights of the credentials with those in docs/targets.md; `zonewright doctor` names their source";
        self.fault(AwsFaultKind::Refused, "api-denied", hint)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The message and the hint of an answer of status 403 with a code.
    fn of_code(name: &str) -> (String, String) {
        let answer = HttpAnswer { host: String::new(), status: 403, content: vec![], headers: [].into() };
        let said = vec!["Consult the documentation for details.".to_owned()];
        let now = Time::from_timestamp(jiff::Timestamp::UNIX_EPOCH).unwrap();
        let refused = RefusedAnswer { service: "Route 53", answer: &answer, name: name.to_owned(), said, now };
        let fault = refused.of_any_service("slower", "other input").with_source(|| "profile `dns`".to_owned());
        (fault.message, fault.hint)
    }

    #[test]
    fn a_wrong_key_is_told_from_missing_rights() {
        for name in ["SignatureDoesNotMatch", "InvalidClientTokenId", "UnrecognizedClientException"] {
            let message = format!("Route 53 answers with `{name}`: Consult the documentation for details");
            let hint = "the access key, its secret or its session token is wrong: compare those of profile `dns` with \
                        the key in IAM";
            assert_eq!(of_code(name), (message, hint.to_owned()));
        }
        assert!(of_code("AccessDenied").1.contains("rights"), "{}", of_code("AccessDenied").1);
        assert!(of_code("AccessDeniedException").1.contains("rights"));
    }
}
