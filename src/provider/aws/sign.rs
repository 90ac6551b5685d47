//! Requests signed by Signature Version 4. Pure.
//!
//! Source: AWS, "Create a signed AWS API request", with the rules for all services but S3: the path is encoded once
//! more as it is sent, and what leads back in it is removed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use ring::hmac;
use sha2::{Digest, Sha256};

use super::credentials::AwsCredentials;
use crate::http::HttpMethod;
use crate::inventory::value::Time;
use crate::provider::url::QUERY;

/// What is written as `%XX` in paths: a slash stays.
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// The word for the way of signing.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// A request that is to be signed, as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct AwsRequest<'r> {
    /// How it asks.
    pub method: HttpMethod,
    /// Where, with the query; encoded.
    pub url: &'r str,
    /// The headers that are signed in addition to `host` and those that signing makes: `content-type` and
    /// `x-amz-target`, where they are sent.
    pub headers: &'r [(&'r str, &'r str)],
    /// The content; empty where there is none.
    pub content: &'r str,
}

/// For whom, and when, a signature holds.
#[derive(Debug, Clone, Copy)]
pub struct SigningScope<'s> {
    /// The service's name in signatures, such as `route53`.
    pub service: &'s str,
    /// The region that the service is asked in.
    pub region: &'s str,
    /// The clock: AWS takes signatures of the last five minutes.
    pub now: Time,
}

/// The headers that sign a request, to be sent in addition to those that are signed: `authorization`, `x-amz-date`, and
/// `x-amz-security-token` where the credentials are of a session.
pub fn sign(
    request: &AwsRequest<'_>,
    credentials: &AwsCredentials,
    scope: &SigningScope<'_>,
) -> Vec<(&'static str, String)> {
    let moment = basic_time(scope.now);
    let mut made = vec![("x-amz-date", moment.clone())];
    made.extend(credentials.token().map(|token| ("x-amz-security-token", token.to_owned())));
    let (host, path, query) = parts(request.url);
    let mut headers: BTreeMap<String, String> = BTreeMap::from([("host".to_owned(), host)]);
    let own = made.iter().map(|(name, value)| (*name, value.as_str()));
    for (name, value) in request.headers.iter().copied().chain(own) {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let values = headers.entry(name.to_ascii_lowercase());
        values.and_modify(|all| *all = format!("{all},{value}")).or_insert(value);
    }
    let names = headers.keys().map(String::as_str).collect::<Vec<_>>().join(";");
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let canonical = format!(
        "{}\n{}\n{}\n{lines}\n{names}\n{}",
        request.method.as_str(),
        canonical_path(path),
        canonical_query(query),
        hex(&Sha256::digest(request.content.as_bytes())),
    );
    let day = &moment[..8];
    let place = format!("{day}/{}/{}/aws4_request", scope.region, scope.service);
    let to_sign = format!("{ALGORITHM}\n{moment}\n{place}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
    let first = format!("AWS4{}", credentials.secret()).into_bytes();
    let key = [day, scope.region, scope.service, "aws4_request"].iter().fold(first, |key, part| mac(&key, part));
    let signature = hex(&mac(&key, &to_sign));
    let id = &credentials.key_id;
    let authorization = format!("{ALGORITHM} Credential={id}/{place}, SignedHeaders={names}, Signature={signature}");
    made.insert(0, ("authorization", authorization));
    made
}

/// The host of a URL as the client sends it, without a port that goes without saying; its path; its query.
fn parts(url: &str) -> (String, &str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let usual = match scheme {
        "https" => ":443",
        _ => ":80",
    };
    (host.strip_suffix(usual).unwrap_or(host).to_owned(), path, query)
}

/// A path without `.`, `..` and empty segments, encoded once more.
fn canonical_path(path: &str) -> String {
    let mut kept = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let end = if path.ends_with('/') && !kept.is_empty() { "/" } else { "" };
    utf8_percent_encode(&format!("/{}{end}", kept.join("/")), PATH).to_string()
}

/// A query with its pairs sorted, in the one encoding that is signed.
fn canonical_query(query: &str) -> String {
    let again = |text: &str| {
        let plain: Vec<u8> = percent_decode_str(text).collect();
        percent_encoding::percent_encode(&plain, QUERY).to_string()
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (again(key), again(value))
    };
    let mut pairs: Vec<(String, String)> = pairs.map(pair).collect();
    pairs.sort_unstable();
    pairs.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&")
}

/// A time in the basic format of ISO 8601, in seconds: `20261130T091500Z`.
fn basic_time(time: Time) -> String {
    time.to_second().to_string().replace(['-', ':'], "")
}

/// The HMAC of a text (RFC 2104).
fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

/// Octets as hexadecimal digits.
fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::with_capacity(2 * octets.len()), |mut text, octet| {
        write!(text, "{octet:02x}").expect("a text takes all that is written");
        text
    })
}
