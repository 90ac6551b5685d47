//! Asks Entra for the token of an application.
//!
//! Source: Microsoft identity platform, "OAuth 2.0 client credentials flow", by a secret and by a federated credential.

use std::time::Duration;

use super::cloud::AzureSite;
use super::source::{EntraApp, PLACE};
use super::token::{AzureToken, EntraRefusal};
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpClient, HttpContent, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::credentials::{MAX_ANSWER, ask};
use crate::provider::url::encode_query;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The form in which questions are sent.
const FORM: &str = "application/x-www-form-urlencoded";

/// The kind of a token that another platform gave (RFC 7523 section 2.2).
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What to do where Entra cannot answer now.
const LATER: &str = "Entra may answer later: try again";

/// What proves an application.
#[derive(Clone, Copy)]
pub enum AppProof<'p> {
    /// Its secret.
    Secret(&'p str),
    /// A token of a platform that Entra trusts.
    Assertion(&'p str),
}

/// Asks for a token with which the application can ask the cloud's Resource Manager.
///
/// Errors: Entra refuses, does not answer, or answers with something else.
pub fn sign_in(site: &AzureSite, app: &EntraApp, proof: AppProof<'_>, now: Time) -> Result<AzureToken, Problem> {
    let client = HttpClient::new(&site.authority, TIMEOUT);
    let client = client.map_err(|error| Problem::new(&site.authority, "connect-failed", error.message))?;
    let url = format!("{}/{}/oauth2/v2.0/token", site.authority, app.tenant);
    let scope = format!("{}/.default", site.audience);
    let mut pairs = vec![("grant_type", "client_credentials"), ("client_id", &app.client), ("scope", &scope)];
    let secret = match proof {
        AppProof::Secret(secret) => {
            pairs.push(("client_secret", secret));
            secret
        }
        AppProof::Assertion(token) => {
            pairs.extend([("client_assertion_type", ASSERTION), ("client_assertion", token)]);
            token
        }
    };
    let text = encode_query(&pairs);
    let content = Some(HttpContent { media_type: FORM, text: &text });
    let method = HttpMethod::Post;
    let question = HttpQuestion { method, url: &url, headers: &[], content, max: MAX_ANSWER, repeats: true };
    let answer = ask(&client, &question, PLACE).map_err(|problem| {
        let hint = "see whether this machine reaches Entra; `cloud` and `authority` choose which one is asked";
        problem.at(&site.authority).hint(hint)
    })?;
    read(&answer, app, secret, now).map_err(|problem| problem.at(&site.authority))
}

/// Reads an answer.
fn read(answer: &HttpAnswer, app: &EntraApp, secret: &str, now: Time) -> Result<AzureToken, Problem> {
    let client = &app.client;
    if answer.status == 200 {
        return AzureToken::parse(&answer.content, now).map_err(|why| {
            let message = format!("the answer of Entra for application `{client}` cannot be used: {why}");
            Problem::new(PLACE, "api-failed", message).hint("see whether a proxy changes answers")
        });
    }
    let refusal = EntraRefusal::parse(&answer.content);
    let says = refusal.as_ref().map_or_else(|| format!("status {}", answer.status), |own| own.shown(&[secret]));
    let message = format!("Entra gives no token to application `{client}`: {says}");
    let (code, hint) = match refusal {
        _ if matches!(answer.status, 429 | 500..) => ("api-failed", LATER),
        None => ("api-failed", "what answers is no Entra: look at `authority`, and at the proxy of the environment"),
        Some(own) if is_busy(&own) => ("api-failed", LATER),
        Some(own) => ("api-denied", refusal_hint(own.number())),
    };
    Err(Problem::new(PLACE, code, message).hint(hint))
}

/// Whether Entra says that it may do so later.
fn is_busy(refusal: &EntraRefusal) -> bool {
    matches!(refusal.kind(), "temporarily_unavailable" | "server_error")
}

/// What to do about a refusal, by the number of Entra's code.
///
/// Source: "Microsoft Entra authentication and authorization error codes".
fn refusal_hint(number: Option<&str>) -> &'static str {
    match number {
        Some("7000215") => "take the value of a client secret of this application, not the ID of the secret",
        Some("7000222") => "the client secret has ended: make a new one, and put it where the old one is",
        Some("700016" | "7000229") => {
            "compare `client_id` with the application's client ID, and `tenant_id` with the tenant that it is in"
        }
        Some("90002" | "900023") => {
            "compare `tenant_id` with the tenant's ID, and `cloud` with the cloud that it is in"
        }
        Some("70021" | "700211" | "700212" | "700213") => {
            "give the application a federated credential with the issuer, the subject and the audience of the token"
        }
        Some("700024") => "see whether the platform renews the file with the token, and compare the clock",
        Some("50027" | "700027") => "the file must hold the token as the platform wrote it",
        Some("500011") => "compare `endpoint` with the cloud's Resource Manager, and `cloud` with that of the tenant",
        _ => "Entra explains its codes at https://login.microsoftonline.com/error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::surroundings::testing::{CloudFake, at};

    /// An application.
    fn app() -> EntraApp {
        EntraApp { tenant: "example.net".into(), client: "c-1".into() }
    }

    /// What an answer leads to, with what was asked.
    fn ask(proof: AppProof<'_>, status: &str, content: &str) -> (Result<AzureToken, Problem>, String) {
        let fake = CloudFake::answering(&[(status, content)]);
        let endpoint = "https://arm.example.net".to_owned();
        let site = AzureSite { authority: fake.url(), audience: endpoint.clone(), endpoint };
        let found = sign_in(&site, &app(), proof, at("09:00:00"));
        (found, fake.asked().remove(0))
    }

    /// An answer with a token.
    const TOKEN: &str = r#"{"token_type": "Bearer", "expires_in": 3600, "access_token": "e.y"}"#;

    #[test]
    fn an_application_asks_by_its_secret() {
        let (found, asked) = ask(AppProof::Secret("a b&c+~"), "200 OK", TOKEN);
        let found = found.unwrap();
        assert_eq!((found.authorization(), found.expires), ("Bearer e.y", at("10:00:00")));
        let (head, content) = asked.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /example.net/oauth2/v2.0/token HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("\r\ncontent-type: {FORM}")), "{head}");
        assert_eq!(
            content,
            "grant_type=client_credentials&client_id=c-1&scope=https%3A%2F%2Farm.example.net%2F.default&\
             client_secret=a%20b%26c%2B~"
        );
    }

    #[test]
    fn an_application_asks_by_the_token_of_a_platform() {
        let (found, asked) = ask(AppProof::Assertion("w.e.b"), "200 OK", TOKEN);
        assert!(found.is_ok());
        let end = "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&\
                   client_assertion=w.e.b";
        assert!(asked.ends_with(end), "{asked}");
        assert!(!asked.contains("client_secret"));
    }

    #[test]
    fn a_refusal_is_explained_without_secrets() {
        let refusal = |kind: &str, text: &str| format!(r#"{{"error": "{kind}", "error_description": "{text}"}}"#);
        for (status, content, code, why, hint) in [
            (
                "401 No",
                refusal("invalid_client", "AADSTS7000215: Not hush. Trace ID: 1"),
                "api-denied",
                "`invalid_client`: AADSTS7000215: Not ….",
                "not the ID of the secret",
            ),
            (
                "400 No",
                refusal("unauthorized_client", "AADSTS700016: None\\r\\nTrace ID: 1"),
                "api-denied",
                "`unauthorized_client`: AADSTS700016: None",
                "compare `client_id`",
            ),
            (
                "400 No",
                refusal("invalid_request", "AADSTS90002: None"),
                "api-denied",
                "`invalid_request`: AADSTS90002: None",
                "compare `tenant_id`",
            ),
            (
                "401 No",
                refusal("invalid_client", "AADSTS700024: Late"),
                "api-denied",
                "`invalid_client`: AADSTS700024: Late",
                "renews the file",
            ),
            (
                "400 No",
                refusal("invalid_request", "AADSTS70021: No match"),
                "api-denied",
                "`invalid_request`: AADSTS70021: No match",
                "a federated credential",
            ),
            ("400 No", refusal("odd", ""), "api-denied", "`odd`", "microsoftonline.com/error"),
            ("400 No", refusal("temporarily_unavailable", ""), "api-failed", "`temporarily_unavailable`", "later"),
            ("429 Busy", refusal("busy", ""), "api-failed", "`busy`", "later"),
            ("502 Bad", "<html>hush</html>".to_owned(), "api-failed", "status 502", "later"),
            ("302 Away", String::new(), "api-failed", "status 302", "is no Entra"),
            ("404 None", "<html>hush</html>".to_owned(), "api-failed", "status 404", "is no Entra"),
        ] {
            let problem = ask(AppProof::Secret("hush"), status, &content).0.unwrap_err();
            let message = format!("Entra gives no token to application `c-1`: {why}");
            assert_eq!((problem.code.as_str(), problem.message), (code, message));
            assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{content}: {:?}", problem.hint);
        }
    }

    #[test]
    fn an_answer_that_is_none_is_explained() {
        let problem = ask(AppProof::Secret("hush"), "200 OK", "hush").0.unwrap_err();
        let why = "it is not JSON of a token: line 1, column 1";
        let message = format!("the answer of Entra for application `c-1` cannot be used: {why}");
        assert_eq!((problem.code.as_str(), problem.message), ("api-failed", message));
        let endpoint = "https://arm.example.net".to_owned();
        let site = AzureSite { authority: "http://127.0.0.1:1".into(), audience: endpoint.clone(), endpoint };
        let problem = sign_in(&site, &app(), AppProof::Secret("hush"), at("09:00:00")).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.place.as_str()), ("connect-failed", "http://127.0.0.1:1"));
    }
}
