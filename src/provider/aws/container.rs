//! Asks the endpoint that gives a container its credentials: that of ECS, and the agent of EKS Pod Identity.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::credentials::AwsCredentials;
use super::source::{PLACE, no_credentials};
use super::surroundings::AwsSurroundings;
use crate::diag::Problem;
use crate::http::{HttpClient, HttpMethod, HttpQuestion};
use crate::provider::credentials::{MAX_ANSWER, ask, one_word};
use crate::provider::url::is_confidential;

/// The variable with the path of the endpoint.
const PATH: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";

/// The variable with the URL of the endpoint.
const URL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

/// The variable with the name of the file that holds what the endpoint wants to see.
const TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

/// The variable with what the endpoint wants to see.
const TOKEN: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";

/// How long an answer may take: the endpoint is on the same machine.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The addresses of the endpoints of ECS and EKS, which are on the machine's own link.
const OF_LINK: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
];

/// Whether the environment names an endpoint.
pub fn is_set(around: &AwsSurroundings) -> bool {
    [PATH, URL].iter().any(|name| around.process.variable(name).is_some())
}

/// Asks the endpoint.
///
/// Errors: none is set that may be asked, or its answer has no credentials.
pub fn fetch(around: &AwsSurroundings) -> Result<AwsCredentials, Problem> {
    let url = url(around)?;
    let token = match (around.process.variable(TOKEN_FILE), around.process.variable(TOKEN)) {
        (Some(file), _) => Some(around.process.token(&around.process.in_home(&file), TOKEN_FILE)?),
        (None, Some(token)) => Some(one_word(&token).map(str::to_owned).ok_or_else(|| {
            Problem::new(TOKEN, "secret-malformed", format!("the value of `{TOKEN}` is no token: one word"))
        })?),
        (None, None) => None,
    };
    let client = HttpClient::direct(&url, TIMEOUT);
    let client = client.map_err(|error| Problem::new(PLACE, "connect-failed", error.message))?;
    let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
    let question = HttpQuestion {
        method: HttpMethod::Get,
        url: &url,
        headers: &headers,
        content: None,
        max: MAX_ANSWER,
        repeats: true,
    };
    let answer = ask(&client, &question, PLACE)?;
    let failed = |code: &'static str, why: String| {
        let message = format!("the endpoint of this container gives no credentials: {why}");
        Problem::new(PLACE, code, message)
            .hint("look whether the task has a role, or the service account an association")
    };
    match answer.status {
        200 => AwsCredentials::parse_endpoint(&answer.content).map_err(|why| failed("api-failed", why)),
        status @ 400..=499 => Err(failed("api-denied", format!("it answers with status {status}"))),
        status => Err(failed("api-failed", format!("it answers with status {status}"))),
    }
}

/// The URL of the endpoint. A secret is sent to it, so that no other host than a near one may be asked without TLS.
fn url(around: &AwsSurroundings) -> Result<String, Problem> {
    if let Some(path) = around.process.variable(PATH) {
        return match one_word(&path).filter(|path| path.starts_with('/')) {
            Some(path) => Ok(format!("{}{path}", around.container)),
            None => Err(no_credentials(PATH, format!("the value of `{PATH}` is no path"))),
        };
    }
    let Some(url) = around.process.variable(URL) else {
        let message = "this is no container with credentials: the environment names no endpoint";
        return Err(no_credentials(PLACE, message).hint(format!("`{PATH}` or `{URL}` is set there")));
    };
    if may_ask(&url) {
        return Ok(url);
    }
    let message = format!("the value of `{URL}` is no URL that may be asked for credentials");
    let hint = "it is a URL of `https://`, or of `http://` and this machine: 127.0.0.1, 169.254.170.2, 169.254.170.23 \
                or [fd00:ec2::23]";
    Err(no_credentials(URL, message).hint(hint))
}

/// Whether a URL may be asked: it is of TLS, or of this machine or its link.
fn may_ask(url: &str) -> bool {
    is_confidential(url, |address| OF_LINK.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::aws::testing::around;
    use crate::provider::surroundings::testing::CloudFake;

    #[test]
    fn only_near_hosts_are_asked_without_tls() {
        for url in [
            "https://example.net/creds",
            "http://127.0.0.1:8080/",
            "http://127.9.9.9",
            "http://[::1]:80/x",
            "http://localhost/x",
            "http://169.254.170.2/x",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
        ] {
            assert!(may_ask(url), "{url}");
        }
        for url in [
            "http://example.net/creds",
            "http://169.254.169.254/x",
            "http://127.0.0.1@example.net/",
            "http://127.0.0.1.example.net/",
            "http://example.net\\@127.0.0.1/",
            "http://[fd00:ec2::24]/",
            "file:///etc/passwd",
            "127.0.0.1/x",
            "http:///x",
        ] {
            assert!(!may_ask(url), "{url}");
        }
    }

    #[test]
    fn the_endpoint_of_a_path_is_asked_with_the_token() {
        let fake =
            CloudFake::answering(&[("200 OK", r#"{"AccessKeyId": "A", "SecretAccessKey": "hush", "Token": "t"}"#)]);
        let mut around = around(&[(PATH, "/v2/creds?id=7"), (TOKEN, "let-me"), (URL, "http://example.net/")]);
        around.container = fake.url();
        assert_eq!(fetch(&around).unwrap().secret(), "hush");
        let asked = fake.asked();
        assert!(asked[0].starts_with("GET /v2/creds?id=7 HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[0].contains("\r\nauthorization: let-me\r\n"), "{asked:?}");
    }

    #[test]
    fn the_token_of_a_file_is_read_each_time() {
        let fake = CloudFake::answering(&[("200 OK", r#"{"AccessKeyId": "A", "SecretAccessKey": "hush"}"#)]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let url = format!("{}/creds", fake.url());
        let around = around(&[(URL, &url), (TOKEN_FILE, file.to_str().unwrap()), (TOKEN, "not-this")]);
        for token in ["one", "two"] {
            std::fs::write(&file, format!("{token}\n")).unwrap();
            fetch(&around).unwrap();
            assert!(fake.asked().last().unwrap().contains(&format!("\r\nauthorization: {token}\r\n")));
        }
        std::fs::write(&file, "hush hush").unwrap();
        let problem = fetch(&around).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.message.contains("hush")), ("secret-malformed", false));
    }

    #[test]
    fn what_is_no_answer_of_credentials_is_explained() {
        for (status, content, code, why) in [
            ("403 No", "hush", "api-denied", "it answers with status 403"),
            ("500 Oh", "hush", "api-failed", "it answers with status 500"),
            ("200 OK", "hush", "api-failed", "it is not JSON of credentials: line 1, column 1"),
        ] {
            let fake = CloudFake::answering(&[(status, content)]);
            let url = fake.url();
            let problem = fetch(&around(&[(URL, &url)])).unwrap_err();
            assert_eq!(problem.code.as_str(), code);
            assert_eq!(problem.message, format!("the endpoint of this container gives no credentials: {why}"));
        }
        let problem = fetch(&around(&[(URL, "http://example.net/")])).unwrap_err();
        assert_eq!(problem.code.as_str(), "no-credentials");
    }
}
