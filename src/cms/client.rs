//! A service over HTTP.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::task::{CmsTask, ListedTask, MAX_ANSWER, TaskAnswer, read_answer, read_list};
use super::{CmsCalls, CmsFault, CmsFaultKind};
use crate::diag::AttemptError;
use crate::http::{HttpAnswer, HttpClient, HttpContent, HttpFailure, HttpFailureKind, HttpMethod, HttpQuestion};
use crate::inventory::cms::CmsService;

/// A client of a service. Requests may be made side by side; they share its connections.
pub struct CmsClient {
    /// Where its tasks are: `URL/tasks/`.
    tasks: String,
    /// What says who asks: its bearer token (RFC 6750 section 2.1).
    bearer: Option<String>,
    /// The connections.
    http: HttpClient,
}

impl CmsClient {
    /// A client, with the token that the settings name.
    ///
    /// Errors: this system trusts no certificate.
    pub fn new(service: &CmsService, token: Option<String>) -> Result<CmsClient, AttemptError> {
        let http = HttpClient::new(&service.url, service.timeout)?;
        let bearer = token.map(|token| format!("Bearer {token}"));
        Ok(CmsClient { tasks: format!("{}/tasks/", service.url), bearer, http })
    }

    /// Asks.
    fn ask(&self, method: HttpMethod, rest: &str, json: Option<&str>) -> Result<HttpAnswer, CmsFault> {
        let url = format!("{}{rest}", self.tasks);
        let headers: Vec<(&str, &str)> = self.bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        let content = json.map(HttpContent::json);
        let question = HttpQuestion { method, url: &url, headers: &headers, content, max: MAX_ANSWER, repeats: false };
        self.http.ask(&question).map_err(|HttpFailure { kind, message }| {
            let kind = match kind {
                HttpFailureKind::Unreachable => CmsFaultKind::Unreachable,
                HttpFailureKind::Late => CmsFaultKind::Late,
                HttpFailureKind::TooLong => CmsFaultKind::TooLong,
            };
            CmsFault::new(kind, message)
        })
    }
}

impl CmsCalls for CmsClient {
    fn create(&self, task: &CmsTask) -> Result<TaskAnswer, CmsFault> {
        let rest = if task.dry_run { "?dry_run=true" } else { "" };
        let answer = self.ask(HttpMethod::Post, rest, Some(&task.content()))?;
        expect(&answer, answer.status == 200)?;
        read_answer(&answer.content, &task.id, task.host()).map_err(|fault| said_by(&answer, fault))
    }

    fn poll(&self, id: &str, host: &str) -> Result<Option<TaskAnswer>, CmsFault> {
        let answer = self.ask(HttpMethod::Get, &in_path(id), None)?;
        if answer.status == 404 {
            return Ok(None);
        }
        expect(&answer, answer.status == 200)?;
        read_answer(&answer.content, id, host).map(Some).map_err(|fault| said_by(&answer, fault))
    }

    fn list(&self) -> Result<Vec<ListedTask>, CmsFault> {
        let answer = self.ask(HttpMethod::Get, "", None)?;
        expect(&answer, answer.status == 200)?;
        read_list(&answer.content).map_err(|fault| said_by(&answer, fault))
    }

    fn delete(&self, id: &str) -> Result<(), CmsFault> {
        let answer = self.ask(HttpMethod::Delete, &in_path(id), None)?;
        expect(&answer, matches!(answer.status, 200..=299 | 404))
    }
}

/// What is written as it is in a path: unreserved characters (RFC 3986 section 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An id as the last part of a path: an owner may have `/` in it.
fn in_path(id: &str) -> String {
    utf8_percent_encode(id, ENCODED).to_string()
}

/// Refuses a status that is none of the protocol.
fn expect(answer: &HttpAnswer, is_expected: bool) -> Result<(), CmsFault> {
    let HttpAnswer { host, status, .. } = answer;
    let said = || CmsFault::new(CmsFaultKind::Status, format!("`{host}` answers with status {status}"));
    let fault = || CmsFault { status: Some(*status), ..said() };
    is_expected.then_some(()).ok_or_else(fault)
}

/// A fault of an answer, with who gave it.
fn said_by(answer: &HttpAnswer, fault: CmsFault) -> CmsFault {
    CmsFault { message: format!("`{}` {}", answer.host, fault.message), ..fault }
}
