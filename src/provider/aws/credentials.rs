//! Credentials, and the forms in which they come. Pure.

use std::fmt;

use serde::Deserialize;

use crate::inventory::value::Time;
use crate::provider::credentials::shown;

/// What AWS puts in front of the request that it quotes, in which the token may be written in another way.
const OF_REQUEST: &str = "The Canonical String";

/// Who asks, with what proves it. Nothing prints the secrets, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsCredentials {
    /// The name of the key, which is no secret.
    pub key_id: String,
    /// The secret of the key.
    secret: String,
    /// The token of a session, for keys that do not last.
    token: Option<String>,
    /// When they end; none where they last.
    pub expires: Option<Time>,
}

impl fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwsCredentials(…)")
    }
}

impl AwsCredentials {
    /// Credentials whose parts have been read.
    ///
    /// Errors: a part is empty, or has characters that no header can have; in words, without the part.
    pub fn new(key: (&str, &str), token: Option<&str>, expires: Option<Time>) -> Result<AwsCredentials, &'static str> {
        let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
        let token = token.filter(|token| !token.is_empty());
        if !is_word(key.0) {
            return Err("the access key ID is no word of letters, digits and signs of ASCII");
        }
        if !is_word(key.1) {
            return Err("the secret access key is no word of letters, digits and signs of ASCII");
        }
        if token.is_some_and(|token| !is_word(token)) {
            return Err("the session token is no word of letters, digits and signs of ASCII");
        }
        let (key_id, secret) = (key.0.to_owned(), key.1.to_owned());
        Ok(AwsCredentials { key_id, secret, token: token.map(str::to_owned), expires })
    }

    /// The secret of the key, for signing.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The token of the session, which each request sends.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// A server's text as it may be shown: one line of some length, without the secrets. AWS quotes the whole request,
    /// token included, where a signature is wrong.
    pub fn hide_in(&self, text: &str) -> String {
        shown_of_aws(text, [Some(self.secret()), self.token()].into_iter().flatten())
    }

    /// Reads what a `credential_process` prints (the documentation of the AWS command line, "Sourcing credentials with
    /// an external process").
    ///
    /// Errors: it is not of that form; in words, which quote nothing of it.
    pub fn parse_process(text: &[u8]) -> Result<AwsCredentials, String> {
        let document = CredentialsDocument::parse(text)?;
        if document.version != Some(1) {
            return Err("it does not say `\"Version\": 1`".to_owned());
        }
        document.credentials()
    }

    /// Reads what the endpoint of a container or of an instance answers with.
    ///
    /// Errors: it is not of that form; in words, which quote nothing of it but the service's own code.
    pub fn parse_endpoint(text: &[u8]) -> Result<AwsCredentials, String> {
        let document = CredentialsDocument::parse(text)?;
        match document.code.as_deref() {
            None | Some("Success") => document.credentials(),
            Some(code) => Err(format!("it says `{}`", shown(code, []))),
        }
    }
}

/// A text of AWS as it may be shown, without these secrets.
pub fn shown_of_aws<'s>(text: &str, secrets: impl IntoIterator<Item = &'s str>) -> String {
    shown(text.split(OF_REQUEST).next().unwrap_or_default(), secrets)
}

/// Credentials as JSON, in the forms of all the sources that give JSON.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CredentialsDocument {
    /// The version of the form, for a process.
    version: Option<u64>,
    /// Whether an instance's service could give any.
    code: Option<String>,
    /// The name of the key.
    access_key_id: Option<String>,
    /// The secret of the key.
    secret_access_key: Option<String>,
    /// The token of the session, as a process calls it, and as an endpoint does.
    #[serde(alias = "Token")]
    session_token: Option<String>,
    /// When they end (RFC 3339).
    expiration: Option<String>,
}

impl CredentialsDocument {
    /// Reads JSON. What the library says of a fault may quote a secret, so that only its place is kept.
    fn parse(text: &[u8]) -> Result<CredentialsDocument, String> {
        serde_json::from_slice(text)
            .map_err(|error| format!("it is not JSON of credentials: line {}, column {}", error.line(), error.column()))
    }

    /// The credentials.
    fn credentials(&self) -> Result<AwsCredentials, String> {
        let part = |part: &Option<String>, key: &str| part.clone().ok_or_else(|| format!("it lacks `{key}`"));
        let id = part(&self.access_key_id, "AccessKeyId")?;
        let secret = part(&self.secret_access_key, "SecretAccessKey")?;
        let expires = self.expiration.as_deref().map(parse_end).transpose()?;
        AwsCredentials::new((&id, &secret), self.session_token.as_deref(), expires).map_err(str::to_owned)
    }
}

/// Reads when credentials end.
///
/// Errors: it is no time of RFC 3339; in words.
pub fn parse_end(text: &str) -> Result<Time, String> {
    text.trim().parse().map_err(|()| "its `Expiration` is no time of RFC 3339".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_gives_credentials_as_json() {
        let text = br#"{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "hush/+1", "SessionToken": "tok",
            "Expiration": "2026-11-30T10:00:00+00:00", "More": 1}"#;
        let found = AwsCredentials::parse_process(text).unwrap();
        assert_eq!((found.key_id.as_str(), found.secret(), found.token()), ("AKID", "hush/+1", Some("tok")));
        assert_eq!(found.expires.unwrap().to_string(), "2026-11-30T10:00:00Z");
        let lasting = br#"{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "hush", "SessionToken": ""}"#;
        let found = AwsCredentials::parse_process(lasting).unwrap();
        assert_eq!((found.token(), found.expires), (None, None));
    }

    #[test]
    fn an_endpoint_gives_credentials_as_json() {
        let text = br#"{"Code": "Success", "AccessKeyId": "AKID", "SecretAccessKey": "hush", "Token": "tok"}"#;
        assert_eq!(AwsCredentials::parse_endpoint(text).unwrap().token(), Some("tok"));
        let refused = AwsCredentials::parse_endpoint(br#"{"Code": "AssumeRoleUnauthorizedAccess"}"#);
        assert_eq!(refused.unwrap_err(), "it says `AssumeRoleUnauthorizedAccess`");
    }

    #[test]
    fn what_is_no_credentials_is_refused_without_being_quoted() {
        for (text, why) in [
            (r#"{"Version": "hush", "AccessKeyId": "AKID"}"#, "it is not JSON of credentials: line 1, column 18"),
            (r#"["hush"]"#, "it is not JSON of credentials: line 1, column 7"),
            ("hush", "it is not JSON of credentials: line 1, column 1"),
            (r#"{"AccessKeyId": "AKID", "SecretAccessKey": "hush"}"#, "it does not say `\"Version\": 1`"),
            (r#"{"Version": 1, "AccessKeyId": "AKID", "SessionToken": "hush"}"#, "it lacks `SecretAccessKey`"),
            (
                r#"{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "hush\n"}"#,
                "the secret access key is no word of letters, digits and signs of ASCII",
            ),
            (
                r#"{"Version": 1, "AccessKeyId": "AKID", "SecretAccessKey": "a", "Expiration": "hush"}"#,
                "its `Expiration` is no time of RFC 3339",
            ),
        ] {
            assert_eq!(AwsCredentials::parse_process(text.as_bytes()).unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn secrets_are_hidden_in_what_a_server_says() {
        let own = AwsCredentials::new(("AKID", "hush"), Some("token+1"), None).unwrap();
        assert_eq!(format!("{own:?}"), "AwsCredentials(…)");
        assert_eq!(own.hide_in("no\n\thush,\u{1b} token+1 "), "no …, …");
        let quoted =
            "The signature does not match.\n\nThe Canonical String for this request should have been 'token%2B1";
        assert_eq!(own.hide_in(quoted), "The signature does not match.");
    }
}
