//! Asks the API of Route 53.

use super::document;
use crate::http::{HttpAnswer, HttpMethod};
use crate::inventory::value::Time;
use crate::provider::aws::{AwsClient, AwsFault, AwsFaultKind, AwsQuestion, RefusedAnswer};
use crate::provider::url::encode_query;

/// What the path of each request begins with: the version of the API.
const VERSION: &str = "/2013-04-01";

/// The name of the service in signatures.
pub const SERVICE: &str = "route53";

/// The media type of requests.
const XML: &str = "application/xml";

/// The region in signatures for an endpoint: the service is one for all regions of a partition (AWS, "Amazon Route 53 endpoints").
pub fn region_of(endpoint: &str) -> &'static str {
    match endpoint {
        own if own.ends_with(".amazonaws.com.cn") => "cn-northwest-1",
        own if own.contains("us-gov") => "us-gov-west-1",
        _ => "us-east-1",
    }
}

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

/// Asks Route 53.
pub struct Route53Client(pub AwsClient);

impl Route53Client {
    /// Asks, and gives the content of an answer of success. What was too much for the service is asked again.
    ///
    /// Errors: there is no answer, or no good one.
    pub fn ask(&self, question: &Route53Question<'_>) -> Result<Vec<u8>, AwsFault> {
        let Route53Question { method, path, query, content, max } = *question;
        let query = if query.is_empty() { String::new() } else { format!("?{}", encode_query(query)) };
        let target = format!("{VERSION}{path}{query}");
        let repeats = method == HttpMethod::Get;
        let (headers, media_type) = (&[], XML);
        self.0.ask(&AwsQuestion { method, target: &target, headers, content, media_type, max, repeats })
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

/// What to do where the service is asked too fast.
const OF_PACE: &str =
    "the service takes five requests a second of an account: find what else asks it, or lower `requests_per_second`";

/// What to do where it does not take what it is asked.
const OF_INPUT: &str = "docs/targets.md says what Route 53 takes";

/// What an answer without success means.
pub fn read_fault(answer: &HttpAnswer, hide: &dyn Fn(&str) -> String, now: Time) -> AwsFault {
    let found = document::read_fault(&answer.content);
    let said = found.messages.iter().map(|message| hide(message)).collect();
    let refused = RefusedAnswer { service: "Route 53", answer, name: found.code, said, now };
    let is_stale = |message: &String| STALE.iter().any(|words| message.contains(words));
    match refused.name.as_str() {
        "InvalidChangeBatch" if !refused.said.is_empty() && refused.said.iter().all(is_stale) => {
            let hint = "plan again: the new plan starts from what is there now";
            refused.fault(AwsFaultKind::Stale, "update-rejected", hint)
        }
        "InvalidChangeBatch" | "InvalidInput" => refused.fault(AwsFaultKind::Refused, "update-rejected", OF_INPUT),
        "PriorRequestNotComplete" => refused.fault(AwsFaultKind::Busy, "api-failed", OF_PACE),
        "NoSuchHostedZone" => {
            let hint = "compare `zone_ids` with the zones of the account";
            refused.fault(AwsFaultKind::Refused, "zone-not-served", hint)
        }
        _ => refused.of_any_service(OF_PACE, OF_INPUT),
    }
}
