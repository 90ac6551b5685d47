//! Tokens, and the forms in which they come. Pure.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::inventory::value::{Duration, Time};
use crate::provider::credentials::{one_word, shown};
use crate::provider::url::encode_segment;

/// What Entra puts behind a text, for its own support alone.
const OF_SUPPORT: &str = "Trace ID:";

/// The secret of an application. Nothing prints it, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct EntraSecret(String);

impl fmt::Debug for EntraSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EntraSecret(…)")
    }
}

impl EntraSecret {
    /// A secret of one word; none where the text is another.
    pub fn parse(text: &str) -> Option<EntraSecret> {
        one_word(text.trim()).map(|word| EntraSecret(word.to_owned()))
    }

    /// The secret, to be sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A token, with what proves who asks. Nothing prints it, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct AzureToken {
    /// The value of the header.
    authorization: String,
    /// When it ends.
    pub expires: Time,
}

impl fmt::Debug for AzureToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AzureToken(…)")
    }
}

impl AzureToken {
    /// The value of the header `authorization`, with the word `Bearer` (RFC 6750 section 2.1).
    pub fn authorization(&self) -> &str {
        &self.authorization
    }

    /// Reads an answer with a token: that of Entra, of the metadata service or of App Service.
    ///
    /// Errors: it is not of that form; in words, which quote nothing of it.
    pub fn parse(text: &[u8], now: Time) -> Result<AzureToken, String> {
        // What the library says of a fault may quote the token, so that only its place is kept.
        let document: TokenDocument = serde_json::from_slice(text)
            .map_err(|error| format!("it is not JSON of a token: line {}, column {}", error.line(), error.column()))?;
        let token = document.access_token.ok_or("it lacks `access_token`")?;
        let token = one_word(&token).ok_or("its `access_token` is no word of letters, digits and signs of ASCII")?;
        let expires = match (document.expires_on.as_ref(), document.expires_in.as_ref()) {
            (Some(moment), _) => {
                let second = seconds(moment).and_then(|seconds| i64::try_from(seconds).ok());
                let moment = second.and_then(|second| jiff::Timestamp::from_second(second).ok());
                moment.and_then(Time::from_timestamp).ok_or("its `expires_on` is no time in seconds")?
            }
            (None, Some(left)) => {
                now.plus(Duration::from_secs(seconds(left).ok_or("its `expires_in` is no number of seconds")?))
            }
            (None, None) => return Err("it lacks `expires_in`".to_owned()),
        };
        Ok(AzureToken { authorization: format!("Bearer {token}"), expires })
    }
}

/// An answer with a token. The metadata service writes numbers as text.
#[derive(Deserialize)]
struct TokenDocument {
    /// The token.
    access_token: Option<String>,
    /// When it ends, in seconds since 1970: of services that keep tokens and give them again.
    expires_on: Option<Value>,
    /// How long it holds, in seconds.
    expires_in: Option<Value>,
}

/// A number of seconds, or a text with one.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// What an answer says of why there is no token (RFC 6749 section 5.2).
#[derive(Deserialize)]
pub struct EntraRefusal {
    /// The kind of refusal, in a word.
    error: String,
    /// The same in a sentence, which begins with a code of Entra, such as `AADSTS7000215`.
    #[serde(default)]
    error_description: String,
}

impl EntraRefusal {
    /// Reads an answer; none where it is of another form.
    pub fn parse(text: &[u8]) -> Option<EntraRefusal> {
        serde_json::from_slice(text).ok()
    }

    /// The kind of refusal.
    pub fn kind(&self) -> &str {
        &self.error
    }

    /// The number of Entra's code; none where there is no code.
    pub fn number(&self) -> Option<&str> {
        let rest = self.error_description.split_once("AADSTS")?.1;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some(&rest[..end]).filter(|digits| !digits.is_empty())
    }

    /// What it says, without these secrets.
    pub fn shown(&self, secrets: &[&str]) -> String {
        // A proxy may quote the form, in which a secret is encoded.
        let encoded: Vec<String> = secrets.iter().map(|secret| encode_segment(secret)).collect();
        let hide = |text: &str| shown(text, secrets.iter().copied().chain(encoded.iter().map(String::as_str)));
        let (kind, text) = (hide(&self.error), self.error_description.split(OF_SUPPORT).next().unwrap_or_default());
        match hide(text).as_str() {
            "" => format!("`{kind}`"),
            text => format!("`{kind}`: {text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::surroundings::testing::at;

    #[test]
    fn tokens_come_in_three_forms() {
        for (text, end) in [
            (
                r#"{"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": "e.y"}"#,
                "09:59:59",
            ),
            (r#"{"access_token": "e.y", "expires_in": "86399", "expires_on": "1796036400"}"#, "11:00:00"),
            (r#"{"access_token": "e.y", "expires_on": 1796036400, "client_id": "x"}"#, "11:00:00"),
        ] {
            let token = AzureToken::parse(text.as_bytes(), at("09:00:00")).unwrap();
            assert_eq!((token.authorization(), token.expires), ("Bearer e.y", at(end)), "{text}");
            assert_eq!(format!("{token:?}"), "AzureToken(…)");
        }
    }

    #[test]
    fn what_is_no_token_is_refused_without_being_quoted() {
        for (text, why) in [
            ("hush", "it is not JSON of a token: line 1, column 1"),
            (r#"{"access_token": ["hush"]}"#, "it is not JSON of a token: line 1, column 17"),
            (r#"{"expires_in": 1}"#, "it lacks `access_token`"),
            (r#"{"access_token": "hush"}"#, "it lacks `expires_in`"),
            (
                r#"{"access_token": "hush\n", "expires_in": 1}"#,
                "its `access_token` is no word of letters, digits and signs of ASCII",
            ),
            (r#"{"access_token": "hush", "expires_in": -1}"#, "its `expires_in` is no number of seconds"),
            (r#"{"access_token": "hush", "expires_in": 1e99}"#, "its `expires_in` is no number of seconds"),
            (r#"{"access_token": "hush", "expires_on": "tomorrow"}"#, "its `expires_on` is no time in seconds"),
            (
                r#"{"access_token": "hush", "expires_on": 18446744073709551615}"#,
                "its `expires_on` is no time in seconds",
            ),
        ] {
            assert_eq!(AzureToken::parse(text.as_bytes(), at("09:00:00")).unwrap_err(), why, "{text}");
        }
    }

    #[test]
    fn a_refusal_is_shortened_and_has_no_secrets() {
        let text = br#"{"error": "invalid_client", "error_description":
            "AADSTS7000215: Wrong\r\nsecret a+b, or a%2Bb. Trace ID: 7 Correlation ID: 8 Timestamp: 9",
            "error_codes": [7000215]}"#;
        let refusal = EntraRefusal::parse(text).unwrap();
        assert_eq!((refusal.kind(), refusal.number()), ("invalid_client", Some("7000215")));
        assert_eq!(refusal.shown(&["a+b"]), "`invalid_client`: AADSTS7000215: Wrong secret …, or ….");
        let bare = EntraRefusal::parse(br#"{"error": "invalid_request"}"#).unwrap();
        assert_eq!((bare.shown(&[]).as_str(), bare.number()), ("`invalid_request`", None));
        assert!(EntraRefusal::parse(b"<html>").is_none() && EntraRefusal::parse(b"{}").is_none());
    }
}
