//! Asks the metadata service of an EC2 instance for the credentials of its role, by its second version alone: the first
//! one gives them to anything that can make the machine send a GET.

use std::time::Duration;

use super::credentials::AwsCredentials;
use super::source::{PLACE, no_credentials};
use super::surroundings::AwsSurroundings;
use crate::diag::Problem;
use crate::http::{HttpClient, HttpContent, HttpMethod, HttpQuestion};
use crate::provider::credentials::{MAX_ANSWER, ask, one_word};
use crate::provider::url::encode_segment;

/// The variable that says that the service is not to be asked.
const DISABLED: &str = "AWS_EC2_METADATA_DISABLED";

/// The variable with the URL of the service.
const URL: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

/// The variable that says by which protocol the service is asked.
const MODE: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE";

/// The path of the roles.
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

/// How long an answer may take: the service is next to the machine, or there is none.
const TIMEOUT: Duration = Duration::from_secs(1);

/// How long the token of the service holds, in seconds: longer than its three questions take.
const TOKEN_SECONDS: &str = "60";

/// Whether the environment forbids to ask the service.
pub fn is_disabled(around: &AwsSurroundings) -> bool {
    around.process.variable(DISABLED).is_some_and(|word| word.eq_ignore_ascii_case("true"))
}

/// Asks the service.
///
/// Errors: it may not be asked, it does not answer, or this instance has no role.
pub fn fetch(around: &AwsSurroundings) -> Result<AwsCredentials, Problem> {
    let site = MetadataSite::of(around)?;
    let token = site.token()?;
    let headers = [("x-aws-ec2-metadata-token", token.as_str())];
    let roles = site.ask(HttpMethod::Get, ROLES, &headers)?;
    let role = roles.lines().next().unwrap_or_default().trim();
    if role.is_empty() {
        return Err(site.no_role());
    }
    let content = site.ask(HttpMethod::Get, &format!("{ROLES}{}", encode_segment(role)), &headers)?;
    AwsCredentials::parse_endpoint(content.as_bytes()).map_err(|why| {
        let message = format!("the metadata service of this instance gives no credentials: {why}");
        Problem::new(&site.url, "api-failed", message).hint("look at the role of the instance, and whom it trusts")
    })
}

/// The service.
struct MetadataSite {
    /// Its URL, without a path.
    url: String,
    /// Asks it.
    client: HttpClient,
}

impl MetadataSite {
    /// That of this machine.
    fn of(around: &AwsSurroundings) -> Result<MetadataSite, Problem> {
        if is_disabled(around) {
            let message = format!("`{DISABLED}` forbids to ask the metadata service of this instance");
            return Err(no_credentials(DISABLED, message).hint("remove the variable, or name another source"));
        }
        let is_v6 = around.process.variable(MODE).is_some_and(|mode| mode.eq_ignore_ascii_case("ipv6"));
        let usual = if is_v6 { "http://[fd00:ec2::254]" } else { "http://169.254.169.254" };
        let url = around.process.variable(URL).unwrap_or_else(|| usual.to_owned());
        let url = url.trim_end_matches('/').to_owned();
        let client = HttpClient::direct(&url, TIMEOUT);
        let client = client.map_err(|error| no_credentials(&url, error.message).hint(format!("look at `{URL}`")))?;
        Ok(MetadataSite { url, client })
    }

    /// A token, without which the service says nothing.
    fn token(&self) -> Result<String, Problem> {
        let headers = [("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS)];
        let token = self.ask(HttpMethod::Put, "/latest/api/token", &headers)?;
        let token = one_word(token.trim()).map(str::to_owned);
        token.ok_or_else(|| no_credentials(&self.url, "what answers is no metadata service of AWS"))
    }

    /// Asks, and gives the text of a success.
    fn ask(&self, method: HttpMethod, path: &str, headers: &[(&str, &str)]) -> Result<String, Problem> {
        let url = format!("{}{path}", self.url);
        let content = (method == HttpMethod::Put).then_some(HttpContent { media_type: "text/plain", text: "" });
        let question = HttpQuestion { method, url: &url, headers, content, max: MAX_ANSWER, repeats: false };
        let answer = ask(&self.client, &question, PLACE).map_err(|problem| {
            let message = format!("the metadata service of this instance: {}", problem.message);
            let hint = "outside of EC2 there is none; in a container, the instance's metadata needs a hop limit of 2";
            Problem::new(&self.url, problem.code, message).hint(hint)
        })?;
        match answer.status {
            200 => Ok(String::from_utf8_lossy(&answer.content).into_owned()),
            404 if method == HttpMethod::Get => Err(self.no_role()),
            status => {
                let message = format!("the metadata service of this instance answers with status {status}");
                Err(no_credentials(&self.url, message).hint("outside of EC2, another service may be at its address"))
            }
        }
    }

    /// That there is nothing to get.
    fn no_role(&self) -> Problem {
        let hint = "attach a role to the instance, or name another source";
        no_credentials(&self.url, "this instance has no role").hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::aws::testing::around;
    use crate::provider::surroundings::testing::CloudFake;

    #[test]
    fn the_token_opens_the_role_and_its_credentials() {
        let keys = r#"{"Code": "Success", "AccessKeyId": "A", "SecretAccessKey": "hush", "Token": "t",
            "Expiration": "2026-11-30T15:00:00Z"}"#;
        let fake = CloudFake::answering(&[("200 OK", "open=="), ("200 OK", "dns@edit\nmore"), ("200 OK", keys)]);
        let found = fetch(&around(&[(URL, &format!("{}/", fake.url()))])).unwrap();
        assert_eq!(found.expires.unwrap().to_string(), "2026-11-30T15:00:00Z");
        let asked = fake.asked();
        assert!(asked[0].starts_with("PUT /latest/api/token HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[0].contains("\r\nx-aws-ec2-metadata-token-ttl-seconds: 60\r\n"), "{asked:?}");
        assert!(asked[0].contains("\r\ncontent-length: 0\r\n"), "{asked:?}");
        assert!(asked[2].starts_with(&format!("GET {ROLES}dns%40edit HTTP/1.1\r\n")), "{asked:?}");
        assert!(asked[1..].iter().all(|text| text.contains("\r\nx-aws-ec2-metadata-token: open==\r\n")), "{asked:?}");
    }

    #[test]
    fn what_is_not_there_is_no_source() {
        for answers in [
            &[("404 None", "")][..],
            &[("200 OK", "<html>a page</html>")],
            &[("200 OK", "open"), ("404 None", "")],
            &[("200 OK", "open"), ("200 OK", "\n")],
        ] {
            let fake = CloudFake::answering(answers);
            let problem = fetch(&around(&[(URL, &fake.url())])).unwrap_err();
            assert_eq!(problem.code.as_str(), "no-credentials", "{answers:?}");
        }
        let problem = fetch(&around(&[(URL, "http://127.0.0.1:1")])).unwrap_err();
        assert_eq!(problem.code.as_str(), "connect-failed");
        let problem = fetch(&around(&[(DISABLED, "TRUE"), (URL, "http://127.0.0.1:1")])).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.place.as_str()), ("no-credentials", DISABLED));
    }

    #[test]
    fn a_service_that_does_not_answer_is_waited_for_a_second() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let begun = std::time::Instant::now();
        assert_eq!(fetch(&around(&[(URL, &url)])).unwrap_err().code.as_str(), "timeout");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
