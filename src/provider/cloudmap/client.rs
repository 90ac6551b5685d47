//! Asks the API of Cloud Map.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::document::{self, MapPage};
use crate::http::{HttpAnswer, HttpMethod};
use crate::inventory::value::Time;
use crate::provider::aws::{AwsClient, AwsFault, AwsFaultKind, AwsQuestion, RefusedAnswer};

/// The name of the service in signatures.
pub const SERVICE: &str = "servicediscovery";

/// The media type of requests: JSON of the protocol of AWS, version 1.1.
const JSON: &str = "application/x-amz-json-1.1";

/// What the names of operations begin with in a header.
const TARGET: &str = "Route53AutoNaming_v20170314.";

/// How many octets an answer may have that is no page of a list.
const MAX_ANSWER: u64 = 1 << 20;

/// How many octets a page may have: a hundred instances with 5 000 characters of attributes each, by far.
const MAX_PAGE: u64 = 16 << 20;

/// Asks Cloud Map.
pub struct CloudMapClient(pub AwsClient);

impl CloudMapClient {
    /// Asks for something, and gives the content of an answer of success. All requests may be repeated: those that make something
    /// have a key by which the service knows a copy, and the others lead to the same when they are done twice.
    ///
    /// Errors: there is no answer, or no good one.
    pub fn ask(&self, operation: &str, content: &str) -> Result<Vec<u8>, AwsFault> {
        self.ask_for(operation, content, MAX_ANSWER)
    }

    /// Asks, for so many octets at most.
    fn ask_for(&self, operation: &str, content: &str, max: u64) -> Result<Vec<u8>, AwsFault> {
        let operation = format!("{TARGET}{operation}");
        let headers = [("x-amz-target", operation.as_str())];
        let (method, target, media_type, repeats) = (HttpMethod::Post, "/", JSON, true);
        self.0.ask(&AwsQuestion { method, target, headers: &headers, content, media_type, max, repeats })
    }

    /// Reads a list page by page: its items go to `take`, with how many octets they came in.
    ///
    /// Errors: a page cannot be read, or `take` does not want more.
    pub fn each_page<T>(
        &self,
        operation: &str,
        request: impl Fn(Option<&str>) -> String,
        read: impl Fn(&[u8]) -> Result<MapPage<T>, String>,
        mut take: impl FnMut(Vec<T>, u64) -> Result<(), AwsFault>,
    ) -> Result<(), AwsFault> {
        let (mut next, mut seen) = (None::<String>, HashSet::new());
        loop {
            let content = self.ask_for(operation, &request(next.as_deref()), MAX_PAGE)?;
            let page = read(&content).map_err(AwsFault::unusable)?;
            take(page.items, content.len() as u64)?;
            let Some(token) = page.next else { return Ok(()) };
            if !seen.insert(token.clone()) {
                return Err(AwsFault::unusable("its pages go in a circle".to_owned()));
            }
            next = Some(token);
        }
    }

    /// A key for a request that makes something: no other request of any run has it.
    pub fn new_key(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{:x}-{process:x}-{count:x}", (self.0.clock)().as_nanos())
    }
}

/// What to do where the service is asked too fast.
const OF_PACE: &str =
    "the service takes so many requests a second of an account: find what else asks it, or lower `requests_per_second`";

/// What to do where it does not take what it is asked.
const OF_INPUT: &str = "docs/targets.md says what Cloud Map takes";

/// What an answer without success means.
pub fn read_fault(answer: &HttpAnswer, hide: &dyn Fn(&str) -> String, now: Time) -> AwsFault {
    let found = document::read_refusal(&answer.content);
    let said = if found.message.is_empty() { Vec::new() } else { vec![hide(&found.message)] };
    let refused = RefusedAnswer { service: "Cloud Map", answer, name: found.code, said, now };
    let fault = match refused.name.as_str() {
        // What runs is asked for by its identifier.
        "DuplicateRequest" => {
            refused.fault(AwsFaultKind::Stale, "api-failed", "another tool changes the same: try again")
        }
        "ServiceAlreadyExists" | "ServiceNotFound" | "InstanceNotFound" => {
            let hint = "plan again: the new plan starts from what is there now";
            refused.fault(AwsFaultKind::Stale, "update-rejected", hint)
        }
        "ResourceLimitExceeded" => {
            let hint =
                "the account has a quota of services or instances: ask AWS for more, or remove what is not needed";
            refused.fault(AwsFaultKind::Refused, "update-rejected", hint)
        }
        "InvalidInput" | "ResourceInUse" => refused.fault(AwsFaultKind::Refused, "update-rejected", OF_INPUT),
        "NamespaceNotFound" => {
            let hint = "compare `namespace_ids` with the namespaces of the account";
            refused.fault(AwsFaultKind::Refused, "zone-not-served", hint)
        }
        _ => refused.of_any_service(OF_PACE, OF_INPUT),
    };
    AwsFault { said: found.other.into_iter().collect(), ..fault }
}
