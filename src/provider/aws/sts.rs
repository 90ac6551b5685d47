//! Asks the Security Token Service for the credentials of a role.
//!
//! Source: the API reference of STS, version 2011-06-15: `AssumeRole`, `AssumeRoleWithWebIdentity`.

use std::time::Duration;

use super::credentials::{AwsCredentials, parse_end, shown_of_aws};
use super::sign::{AwsRequest, SigningScope, sign};
use super::source::{AssumedRole, PLACE, WebIdentity, no_credentials};
use super::surroundings::AwsSurroundings;
use super::xml::XmlElement;
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpClient, HttpContent, HttpMethod, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::credentials::{MAX_ANSWER, ask};
use crate::provider::url::{encode_query, plain_url};

/// The version of the API.
const VERSION: &str = "2011-06-15";

/// How long credentials are asked for, in seconds: an hour, the most that a role gives one that was itself taken with a
/// role.
const SECONDS: &str = "3600";

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The variable with the URL of another STS.
const URL: &str = "AWS_ENDPOINT_URL_STS";

/// The form in which questions are sent.
const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

/// The region of the one STS for all regions.
const GLOBAL: &str = "us-east-1";

/// A Security Token Service.
pub struct StsSite {
    /// Its URL, with a slash at its end.
    url: String,
    /// Its region.
    region: String,
    /// Asks it.
    client: HttpClient,
}

impl StsSite {
    /// The one of a region; without a region, or where the environment says so, the one for all.
    ///
    /// Errors: the environment names one that cannot be asked.
    pub fn of(around: &AwsSurroundings, region: Option<&str>) -> Result<StsSite, Problem> {
        let is_legacy = around.process.variable("AWS_STS_REGIONAL_ENDPOINTS").is_some_and(|word| word == "legacy");
        let (url, region) = match region.filter(|_| !is_legacy) {
            None => ("https://sts.amazonaws.com".to_owned(), GLOBAL),
            Some(region) => {
                // China has names of its own.
                let end = if region.starts_with("cn-") { ".cn" } else { "" };
                (format!("https://sts.{region}.amazonaws.com{end}"), region)
            }
        };
        let url = match around.process.variable(URL) {
            None => url,
            Some(own) => plain_url(&own).ok_or_else(|| {
                no_credentials(URL, format!("the value of `{URL}` is no URL")).hint("write `https://` and a host")
            })?,
        };
        let client = HttpClient::new(&url, TIMEOUT);
        let client = client.map_err(|error| Problem::new(&url, "connect-failed", error.message))?;
        Ok(StsSite { url: format!("{url}/"), region: region.to_owned(), client })
    }

    /// Takes a role with other credentials, for an hour.
    ///
    /// Errors: STS refuses, does not answer, or answers with something else.
    pub fn assume(&self, role: &AssumedRole, base: &AwsCredentials, now: Time) -> Result<AwsCredentials, Problem> {
        let mut pairs = common("AssumeRole", role);
        pairs.extend(role.external_id.as_deref().map(|id| ("ExternalId", id)));
        let text = encode_query(&pairs);
        let own = [("content-type", FORM)];
        let request = AwsRequest { method: HttpMethod::Post, url: &self.url, headers: &own, content: &text };
        let headers = sign(&request, base, &SigningScope { service: "sts", region: &self.region, now });
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.ask(&text, &headers)?;
        self.read(&answer, role, |text| base.hide_in(text))
    }

    /// Takes a role with the token of a web identity, for an hour. The token is the proof: nothing is signed.
    ///
    /// Errors: the token cannot be read; as for [`StsSite::assume`].
    pub fn assume_by_web(&self, own: &WebIdentity, around: &AwsSurroundings) -> Result<AwsCredentials, Problem> {
        let token = around.process.token(&around.process.in_home(&own.token_file), "AWS_WEB_IDENTITY_TOKEN_FILE")?;
        let mut pairs = common("AssumeRoleWithWebIdentity", &own.role);
        pairs.push(("WebIdentityToken", &token));
        let answer = self.ask(&encode_query(&pairs), &[])?;
        self.read(&answer, &own.role, |text| shown_of_aws(text, [token.as_str()]))
    }

    /// Asks.
    fn ask(&self, text: &str, headers: &[(&str, &str)]) -> Result<HttpAnswer, Problem> {
        let content = Some(HttpContent { media_type: FORM, text });
        let (method, url) = (HttpMethod::Post, self.url.as_str());
        let question = HttpQuestion { method, url, headers, content, max: MAX_ANSWER, repeats: true };
        ask(&self.client, &question, PLACE).map_err(|problem| {
            let hint = format!("see whether this machine reaches STS; `region` and `{URL}` choose which one is asked");
            problem.at(&self.url).hint(hint)
        })
    }

    /// Reads an answer.
    fn read(
        &self,
        answer: &HttpAnswer,
        role: &AssumedRole,
        hide: impl Fn(&str) -> String,
    ) -> Result<AwsCredentials, Problem> {
        let document = XmlElement::parse(&answer.content).unwrap_or_default();
        let text = |name: &str| document.leaf(name);
        let arn = &role.arn;
        if answer.status == 200 {
            let read = || {
                let part = |name: &str| text(name).ok_or_else(|| format!("it lacks `{name}`"));
                let key = (part("AccessKeyId")?, part("SecretAccessKey")?);
                let (token, end) = (part("SessionToken")?, parse_end(part("Expiration")?)?);
                AwsCredentials::new(key, Some(token), Some(end)).map_err(str::to_owned)
            };
            return read().map_err(|why| {
                let message = format!("the answer of STS for role `{arn}` cannot be used: {why}");
                Problem::new(&self.url, "api-failed", message).hint("see whether a proxy changes answers")
            });
        }
        let code = text("Code").map(&hide).unwrap_or_default();
        let says = match (code.as_str(), text("Message").map(&hide)) {
            ("", _) => format!("status {}", answer.status),
            (code, None) => format!("`{code}`"),
            // What prints a message ends its sentence.
            (code, Some(message)) => format!("`{code}`: {}", message.trim_end_matches('.')),
        };
        let message = format!("STS does not give role `{arn}`: {says}");
        if !(400..500).contains(&answer.status) || is_busy(&code) {
            return Err(Problem::new(&self.url, "api-failed", message).hint("STS may answer later: try again"));
        }
        Err(Problem::new(&self.url, "api-denied", message).hint(refusal_hint(&code)))
    }
}

/// What all questions say.
fn common<'r>(action: &'r str, role: &'r AssumedRole) -> Vec<(&'r str, &'r str)> {
    vec![
        ("Action", action),
        ("Version", VERSION),
        ("RoleArn", &role.arn),
        ("RoleSessionName", &role.session),
        ("DurationSeconds", SECONDS),
    ]
}

/// Whether a code of STS says that it may do so later.
fn is_busy(code: &str) -> bool {
    matches!(code, "Throttling" | "ThrottlingException" | "RequestLimitExceeded" | "IDPCommunicationError")
}

/// What to do about a refusal.
fn refusal_hint(code: &str) -> &'static str {
    match code {
        "ExpiredToken" | "ExpiredTokenException" => "renew the token or the credentials that the role is taken with",
        "SignatureDoesNotMatch" | "RequestExpired" => "compare the clock of this machine, and the secret access key",
        "InvalidClientTokenId" | "InvalidAccessKeyId" | "UnrecognizedClientException" => {
            "the key that the role is taken with is unknown to AWS, or switched off"
        }
        "InvalidIdentityToken" => "the account must know the issuer of the token as an identity provider",
        "RegionDisabledException" => "switch STS on in the region, or choose another `region`",
        _ => "the role must trust who takes it, and who takes it must be allowed to (`sts:AssumeRole`)",
    }
}

/// An answer of STS, for tests here and next door.
#[cfg(test)]
pub const ANSWER: &str = r#"<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
  <AssumedRoleUser><AssumedRoleId>AROA:zonewright</AssumedRoleId>
    <Arn>arn:aws:sts::1:assumed-role/dns/zonewright</Arn></AssumedRoleUser>
  <Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>of&amp;role</SecretAccessKey>
    <SessionToken>tok&#43;en</SessionToken><Expiration>2026-11-30T10:00:00Z</Expiration></Credentials>
</AssumeRoleResult><ResponseMetadata><RequestId>7</RequestId></ResponseMetadata></AssumeRoleResponse>"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::aws::testing::around;
    use crate::provider::surroundings::testing::{CloudFake, at};

    /// A role.
    fn role() -> AssumedRole {
        let arn = "arn:aws:iam::123456789012:role/dns".to_owned();
        AssumedRole { arn, external_id: Some("team:7".to_owned()), session: "zonewright".to_owned() }
    }

    /// Who takes it.
    fn base() -> AwsCredentials {
        AwsCredentials::new(("AKID", "hush"), Some("tok/1"), None).unwrap()
    }

    /// The outcome of an answer to who takes a role.
    fn assume(status: &str, content: &str) -> (Result<AwsCredentials, Problem>, Vec<String>) {
        let fake = CloudFake::answering(&[(status, content)]);
        let site = StsSite::of(&around(&[(URL, &fake.url())]), Some("eu-central-1")).unwrap();
        (site.assume(&role(), &base(), at("09:00:00")), fake.asked())
    }

    #[test]
    fn a_role_is_taken_by_a_signed_question() {
        let (found, asked) = assume("200 OK", ANSWER);
        let found = found.unwrap();
        assert_eq!((found.key_id.as_str(), found.secret(), found.token()), ("ASIA1", "of&role", Some("tok+en")));
        assert_eq!(found.expires, Some(at("10:00:00")));
        let (head, content) = asked[0].split_once("\r\n\r\n").unwrap();
        assert_eq!(
            content,
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fdns&\
             RoleSessionName=zonewright&DurationSeconds=3600&ExternalId=team%3A7"
        );
        assert!(head.contains("\r\nx-amz-security-token: tok/1"), "{head}");
        assert!(head.contains(&format!("\r\ncontent-type: {FORM}")), "{head}");
        let signed = "Credential=AKID/20261130/eu-central-1/sts/aws4_request, \
            SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
        assert!(head.contains(signed), "{head}");
    }

    #[test]
    fn a_token_of_a_file_takes_a_role_unsigned() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "web.token\n").unwrap();
        let fake = CloudFake::answering(&[("200 OK", ANSWER)]);
        let around = around(&[(URL, &fake.url())]);
        let own = WebIdentity { token_file: file.display().to_string(), role: role() };
        let found = StsSite::of(&around, None).unwrap().assume_by_web(&own, &around).unwrap();
        assert_eq!(found.key_id, "ASIA1");
        let asked = fake.asked();
        assert!(asked[0].contains("Action=AssumeRoleWithWebIdentity&") && !asked[0].contains("authorization"));
        assert!(asked[0].ends_with("&WebIdentityToken=web.token"), "{asked:?}");
    }

    #[test]
    fn a_refusal_is_explained_without_secrets() {
        let refusal = |code: &str, message: &str| {
            format!("<ErrorResponse><Error><Code>{code}</Code><Message>{message}</Message></Error></ErrorResponse>")
        };
        let of_role = "STS does not give role `arn:aws:iam::123456789012:role/dns`: ";
        let denied = refusal("AccessDenied", "no hush\nand no tok/1");
        let wrong = refusal("SignatureDoesNotMatch", "It does not match. The Canonical String was 'tok%2F1'");
        for (status, content, code, why) in [
            ("403 No", denied.as_str(), "api-denied", "`AccessDenied`: no … and no …"),
            ("403 No", wrong.as_str(), "api-denied", "`SignatureDoesNotMatch`: It does not match"),
            ("400 No", &refusal("Throttling", "Rate exceeded"), "api-failed", "`Throttling`: Rate exceeded"),
            ("502 Bad", "<html><p>hush</html>", "api-failed", "status 502"),
        ] {
            let problem = assume(status, content).0.unwrap_err();
            assert_eq!((problem.code.as_str(), problem.message), (code, format!("{of_role}{why}")));
        }
    }

    #[test]
    fn an_answer_that_is_none_is_explained() {
        let cut = &ANSWER[..ANSWER.find("<SessionToken>").unwrap()];
        let entity = format!("<!DOCTYPE a [<!ENTITY x \"y\">]>{ANSWER}");
        for (content, why) in [
            (cut.to_owned(), "it lacks `AccessKeyId`"),
            (ANSWER.replace("SessionToken>", "Other>"), "it lacks `SessionToken`"),
            (entity, "it lacks `AccessKeyId`"),
            (ANSWER.replace("2026-11-30T", "soon "), "its `Expiration` is no time of RFC 3339"),
        ] {
            let problem = assume("200 OK", &content).0.unwrap_err();
            let message =
                format!("the answer of STS for role `arn:aws:iam::123456789012:role/dns` cannot be used: {why}");
            assert_eq!((problem.code.as_str(), problem.message), ("api-failed", message));
        }
    }

    #[test]
    fn each_region_has_its_own_service() {
        let url = |variables: &[(&str, &str)], region| StsSite::of(&around(variables), region).map(|site| site.url);
        assert_eq!(url(&[], None).unwrap(), "https://sts.amazonaws.com/");
        assert_eq!(url(&[], Some("eu-central-1")).unwrap(), "https://sts.eu-central-1.amazonaws.com/");
        assert_eq!(url(&[], Some("cn-north-1")).unwrap(), "https://sts.cn-north-1.amazonaws.com.cn/");
        let legacy = [("AWS_STS_REGIONAL_ENDPOINTS", "legacy")];
        assert_eq!(url(&legacy, Some("eu-central-1")).unwrap(), "https://sts.amazonaws.com/");
        assert_eq!(url(&[(URL, "no url")], None).unwrap_err().code.as_str(), "no-credentials");
    }
}
