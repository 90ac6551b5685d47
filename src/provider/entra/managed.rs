//! Asks the services that give a machine or an app the token of its own identity: the metadata service of a machine
//! (IMDS), and the one that App Service and similar platforms give an app.

use std::net::IpAddr;
use std::time::Duration;

use super::source::{ManagedIdentity, no_credentials};
use super::token::{AzureToken, EntraRefusal};
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpClient, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::credentials::{MAX_ANSWER, ask, one_word};
use crate::provider::surroundings::ProcessSurroundings;
use crate::provider::url::{encode_query, is_confidential, plain_url};

/// The variable with the URL of an app's service.
pub const APP_URL: &str = "IDENTITY_ENDPOINT";

/// The variable with what an app's service asks for.
pub const APP_HEADER: &str = "IDENTITY_HEADER";

/// The variable with the URL of another metadata service.
const METADATA_URL: &str = "AZURE_POD_IDENTITY_AUTHORITY_HOST";

/// The metadata service of a machine, which is on its own link.
const METADATA: &str = "http://169.254.169.254";

/// The path of tokens there.
const TOKENS: &str = "/metadata/identity/oauth2/token";

/// How long an answer may take that says whether there is a metadata service: it is next to the machine, or there is
/// none.
const PROBE: Duration = Duration::from_secs(1);

/// How long a token may take: the service asks Entra for the first one.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the environment names an app's service.
pub fn is_app(around: &ProcessSurroundings) -> bool {
    [APP_URL, APP_HEADER].iter().all(|name| around.variable(name).is_some())
}

/// Which token is asked for, and when.
#[derive(Clone, Copy)]
pub struct ManagedQuestion<'q> {
    /// The identity.
    pub identity: &'q ManagedIdentity,
    /// What the token is for: the URL of the cloud's Resource Manager.
    pub audience: &'q str,
    /// The clock.
    pub now: Time,
}

impl ManagedQuestion<'_> {
    /// The query, for this version of a service's API.
    fn query(&self, version: &str) -> String {
        let resource = format!("{}/", self.audience.trim_end_matches('/'));
        let mut pairs = vec![("api-version", version), ("resource", &resource)];
        pairs.extend(self.identity.client.as_deref().map(|client| ("client_id", client)));
        encode_query(&pairs)
    }

    /// Asks the service of an app ([`is_app`]).
    ///
    /// Errors: it may not be asked, does not answer, or gives no token.
    pub fn ask_app(&self, around: &ProcessSurroundings) -> Result<AzureToken, Problem> {
        let own = (around.variable(APP_URL), around.variable(APP_HEADER));
        let (Some(url), Some(header)) = own else {
            return Err(no_credentials(APP_URL, format!("`{APP_URL}` and `{APP_HEADER}` are not both set")));
        };
        // What the service asks for is a secret.
        let is_near = |address: IpAddr| matches!(address, IpAddr::V4(address) if address.is_link_local());
        if !is_confidential(&url, is_near) {
            let message = format!("the value of `{APP_URL}` is no URL that may be asked for credentials");
            let hint =
                "it is a URL of `https://`, or of `http://` and this machine (such as 127.0.0.1 or 169.254.129.2)";
            return Err(no_credentials(APP_URL, message).hint(hint));
        }
        let Some(header) = one_word(&header) else {
            let message = format!("the value of `{APP_HEADER}` is not one word");
            return Err(Problem::new(APP_HEADER, "secret-malformed", message).hint("the platform sets it"));
        };
        let mark = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{mark}{}", self.query("2019-08-01"));
        let site = ManagedSite { what: "the identity service of this app", place: APP_URL.to_owned() };
        let answer = site.ask(&url, &[("x-identity-header", header)], TIMEOUT)?;
        site.read(&answer, &[header], self.now)
    }

    /// Asks the metadata service of this machine.
    ///
    /// Errors: it does not answer, or this machine has no such identity.
    pub fn ask_machine(&self, around: &ProcessSurroundings) -> Result<AzureToken, Problem> {
        let (site, url) = machine(around)?;
        let url = format!("{url}?{}", self.query("2018-02-01"));
        let answer = site.ask(&url, &[("metadata", "true")], TIMEOUT)?;
        site.read(&answer, &[], self.now)
    }
}

/// Whether this machine has a metadata service: it answers, be it that the question lacks something.
///
/// Errors: it does not answer.
pub fn probe(around: &ProcessSurroundings) -> Result<(), Problem> {
    let (site, url) = machine(around)?;
    site.ask(&format!("{url}?api-version=2018-02-01"), &[], PROBE).map(drop)
}

/// The metadata service of this machine, with the URL of its tokens.
fn machine(around: &ProcessSurroundings) -> Result<(ManagedSite, String), Problem> {
    let url = match around.variable(METADATA_URL) {
        None => METADATA.to_owned(),
        Some(own) => plain_url(&own).ok_or_else(|| {
            no_credentials(METADATA_URL, format!("the value of `{METADATA_URL}` is no URL"))
                .hint("write `http://` and a host")
        })?,
    };
    let tokens = format!("{url}{TOKENS}");
    Ok((ManagedSite { what: "the metadata service of this machine", place: url }, tokens))
}

/// A service near this machine.
struct ManagedSite {
    /// What messages call it.
    what: &'static str,
    /// What is in front of them.
    place: String,
}

impl ManagedSite {
    /// Asks, whatever proxy the environment names.
    fn ask(&self, url: &str, headers: &[(&str, &str)], timeout: Duration) -> Result<HttpAnswer, Problem> {
        let client = HttpClient::direct(url, timeout);
        let client = client.map_err(|error| no_credentials(&self.place, error.message))?;
        let method = HttpMethod::Get;
        let question = HttpQuestion { method, url, headers, content: None, max: MAX_ANSWER, repeats: true };
        ask(&client, &question, &self.place).map_err(|problem| {
            let message = format!("{}: {}", self.what, problem.message);
            let hint = "outside of Azure there is none; in a pod, a policy of the cluster may block it";
            Problem::new(&self.place, problem.code, message).hint(hint)
        })
    }

    /// Reads an answer.
    fn read(&self, answer: &HttpAnswer, secrets: &[&str], now: Time) -> Result<AzureToken, Problem> {
        let failed = |code: &'static str, why: String| {
            Problem::new(&self.place, code, format!("{} gives no token: {why}", self.what))
        };
        if answer.status == 200 {
            let read = AzureToken::parse(&answer.content, now);
            return read.map_err(|why| failed("api-failed", why).hint("another service may be at its address"));
        }
        let refusal = EntraRefusal::parse(&answer.content);
        let says = refusal.as_ref().map_or_else(String::new, |own| format!(", {}", own.shown(secrets)));
        let why = format!("it answers with status {}{says}", answer.status);
        // It answers with 404 or 410 while it is being renewed; the 404 of another service has no such text.
        match answer.status {
            404 if refusal.is_some() => Err(failed("api-failed", why).hint("it may answer later: try again")),
            400..=499 if !matches!(answer.status, 410 | 429) => {
                let hint = "assign an identity to this machine or app; `client_id` is that of one that was assigned";
                Err(failed("no-credentials", why).hint(hint))
            }
            _ => Err(failed("api-failed", why).hint("it may answer later: try again")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::surroundings::testing::{CloudFake, at, process_around};

    /// An answer with a token.
    const TOKEN: &str = r#"{"access_token": "e.y", "expires_on": "1796036400", "token_type": "Bearer"}"#;

    /// A question for the public cloud, of the machine's own identity or another.
    fn question(identity: &ManagedIdentity) -> ManagedQuestion<'_> {
        ManagedQuestion { identity, audience: "https://management.azure.com", now: at("09:00:00") }
    }

    #[test]
    fn a_machine_asks_its_metadata_service() {
        let fake = CloudFake::answering(&[("200 OK", TOKEN)]);
        let around = process_around(&[(METADATA_URL, &format!("{}/", fake.url()))]);
        for (client, end) in [(None, ""), (Some("c-1".to_owned()), "&client_id=c-1")] {
            let found = question(&ManagedIdentity { client }).ask_machine(&around).unwrap();
            assert_eq!((found.authorization(), found.expires), ("Bearer e.y", at("11:00:00")));
            let asked = fake.asked().pop().unwrap();
            let line = format!(
                "GET {TOKENS}?api-version=2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com%2F{end} HTTP/1.1\r\n"
            );
            assert!(asked.starts_with(&line), "{asked}");
            assert!(asked.contains("\r\nmetadata: true\r\n"), "{asked}");
        }
        probe(&around).unwrap();
        let asked = fake.asked().pop().unwrap();
        assert!(asked.starts_with(&format!("GET {TOKENS}?api-version=2018-02-01 HTTP/1.1\r\n")), "{asked}");
        assert!(!asked.contains("\r\nmetadata: "), "a token would be asked for");
    }

    #[test]
    fn an_app_asks_its_own_service() {
        let fake = CloudFake::answering(&[("200 OK", TOKEN)]);
        let url = format!("{}/msi/token", fake.url());
        let around = process_around(&[(APP_URL, &url), (APP_HEADER, "let-me")]);
        assert!(is_app(&around) && !is_app(&process_around(&[(APP_URL, &url)])));
        question(&ManagedIdentity { client: Some("c-1".into()) }).ask_app(&around).unwrap();
        let asked = fake.asked().pop().unwrap();
        let line =
            "GET /msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fmanagement.azure.com%2F&client_id=c-1 ";
        assert!(asked.starts_with(line), "{asked}");
        assert!(asked.contains("\r\nx-identity-header: let-me\r\n"), "{asked}");
    }

    #[test]
    fn the_secret_of_an_app_goes_to_near_services_alone() {
        let own = ManagedIdentity { client: None };
        for url in ["http://example.net/msi", "http://127.0.0.1@example.net/", "127.0.0.1/msi"] {
            let around = process_around(&[(APP_URL, url), (APP_HEADER, "hush")]);
            let problem = question(&own).ask_app(&around).unwrap_err();
            assert_eq!((problem.code.as_str(), problem.place.as_str()), ("no-credentials", APP_URL), "{url}");
        }
        let around = process_around(&[(APP_URL, "http://127.0.0.1:1/"), (APP_HEADER, "hush hush")]);
        let problem = question(&own).ask_app(&around).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.message.contains("hush")), ("secret-malformed", false));
    }

    #[test]
    fn what_is_no_token_is_explained() {
        let none = r#"{"error": "invalid_request", "error_description": "Identity not found"}"#;
        for (status, content, code, why) in [
            ("400 No", none, "no-credentials", "it answers with status 400, `invalid_request`: Identity not found"),
            ("404 No", "<html>hush", "no-credentials", "it answers with status 404"),
            ("404 No", r#"{"error": "not_found"}"#, "api-failed", "it answers with status 404, `not_found`"),
            ("410 Gone", "", "api-failed", "it answers with status 410"),
            ("500 Oh", "hush", "api-failed", "it answers with status 500"),
            ("200 OK", "hush", "api-failed", "it is not JSON of a token: line 1, column 1"),
        ] {
            let fake = CloudFake::answering(&[(status, content)]);
            let around = process_around(&[(METADATA_URL, &fake.url())]);
            let problem = question(&ManagedIdentity { client: None }).ask_machine(&around).unwrap_err();
            let message = format!("the metadata service of this machine gives no token: {why}");
            assert_eq!((problem.code.as_str(), problem.message), (code, message), "{status}");
        }
    }

    #[test]
    fn a_service_that_may_not_be_there_is_waited_for_a_second() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let begun = std::time::Instant::now();
        assert_eq!(probe(&process_around(&[(METADATA_URL, &url)])).unwrap_err().code.as_str(), "timeout");
        assert!(begun.elapsed() < TIMEOUT);
        let refused = probe(&process_around(&[(METADATA_URL, "http://127.0.0.1:1")])).unwrap_err();
        assert_eq!(refused.code.as_str(), "connect-failed");
        let odd = probe(&process_around(&[(METADATA_URL, "nowhere")])).unwrap_err();
        assert_eq!((odd.code.as_str(), odd.place.as_str()), ("no-credentials", METADATA_URL));
    }
}
