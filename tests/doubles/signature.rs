//! Signature Version 4, checked: a second implementation, made from the published algorithm alone. All doubles of AWS
//! services use it.

use ring::hmac;
use sha2::{Digest as _, Sha256};

use super::clock::{parse_basic_time, shown_time};
use super::{DoubleRequest, decode_percent};

/// The one algorithm.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// How far the time of a request may be from the clock, in seconds.
const MAX_SKEW: i64 = 15 * 60;

/// What a signature is for.
#[derive(Debug, Clone, Copy)]
pub struct SignatureScope<'s> {
    /// The region.
    pub region: &'s str,
    /// The name of the service.
    pub service: &'s str,
}

/// Why a signature is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureFault {
    /// Which of the errors of the services it is.
    pub kind: SignatureFaultKind,
    /// What is wrong.
    pub message: String,
}

/// The errors that services have for signatures; each protocol has its own codes for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureFaultKind {
    /// There is none.
    Missing,
    /// A part of it is not there, or is broken.
    Incomplete,
    /// The key or its token is not known.
    StrangeKey,
    /// The time of the key is over.
    OldKey,
    /// The request is too old or too new.
    WrongTime,
    /// It is not the signature of this request.
    Mismatch,
}

/// A key that may sign.
pub struct KnownKey {
    /// The identifier of the key.
    pub access: String,
    /// The secret.
    pub secret: String,
    /// The session token that must be sent with it; none for a key of long life.
    pub token: Option<String>,
    /// Whether its time is over.
    pub is_expired: bool,
}

/// The header `authorization`, taken apart.
struct SignedHead<'r> {
    /// The identifier of the key.
    access: &'r str,
    /// Date, region, service and the closing word.
    scope: [&'r str; 4],
    /// The names of the headers that are signed, in lower case.
    headers: Vec<&'r str>,
    /// The signature, in hexadecimal.
    signature: &'r str,
}

/// Checks who signed a request, when, and that it is as it was signed.
pub fn check_signature(
    request: &DoubleRequest,
    keys: &[KnownKey],
    scope: SignatureScope<'_>,
    now: i64,
) -> Result<(), SignatureFault> {
    let missing = || fault(SignatureFaultKind::Missing, "Missing Authentication Token");
    let header = request.header("authorization").ok_or_else(missing)?;
    let head = parse_head(header).ok_or_else(|| incomplete("The authorization header is broken"))?;
    let date = request.header("x-amz-date").ok_or_else(|| incomplete("The header X-Amz-Date is missing"))?;
    let signed_at = parse_basic_time(date).ok_or_else(|| incomplete("The header X-Amz-Date is no time"))?;
    let key = find_key(request, keys, head.access)?;
    check_scope(&head, scope, date)?;
    check_signed_headers(request, &head)?;
    check_time(date, signed_at, now)?;
    if key.is_expired {
        let words = "The security token included in the request is expired";
        return Err(fault(SignatureFaultKind::OldKey, words));
    }
    let canonical = canonical_request(request, &head.headers).ok_or_else(mismatch)?;
    let to_sign = format!("{ALGORITHM}\n{date}\n{}\n{}", head.scope.join("/"), hex(&Sha256::digest(canonical)));
    let seed = format!("AWS4{}", key.secret).into_bytes();
    let signing = head.scope.iter().fold(seed, |key, part| keyed(&key, part.as_bytes()));
    if hex(&keyed(&signing, to_sign.as_bytes())) == head.signature { Ok(()) } else { Err(mismatch()) }
}

/// Takes the header apart.
fn parse_head(header: &str) -> Option<SignedHead<'_>> {
    let parts = header.strip_prefix(ALGORITHM)?.strip_prefix(' ')?;
    let mut fields = parts.split(',').map(|part| part.trim().split_once('='));
    let mut field = |name: &str| fields.next().flatten().filter(|(known, _)| *known == name).map(|(_, value)| value);
    let (credential, headers, signature) = (field("Credential")?, field("SignedHeaders")?, field("Signature")?);
    let mut words = credential.split('/');
    let access = words.next()?;
    let scope: [&str; 4] = words.collect::<Vec<_>>().try_into().ok()?;
    Some(SignedHead { access, scope, headers: headers.split(';').collect(), signature })
}

/// Finds the key; its token must be the one that is sent.
fn find_key<'k>(request: &DoubleRequest, keys: &'k [KnownKey], access: &str) -> Result<&'k KnownKey, SignatureFault> {
    let token = request.header("x-amz-security-token");
    let found = keys.iter().find(|key| key.access == access && key.token.as_deref() == token);
    let words = "The security token included in the request is invalid.";
    found.ok_or_else(|| fault(SignatureFaultKind::StrangeKey, words))
}

/// Checks what the signature is for.
fn check_scope(head: &SignedHead<'_>, scope: SignatureScope<'_>, date: &str) -> Result<(), SignatureFault> {
    let [day, region, service, end] = head.scope;
    let words = if !date.starts_with(day) || day.len() != 8 {
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP".to_owned()
    } else if region != scope.region {
        "Credential should be scoped to a valid region.".to_owned()
    } else if service != scope.service {
        format!("Credential should be scoped to correct service: '{}'.", scope.service)
    } else if end != "aws4_request" {
        "Credential should be scoped with a valid terminator: 'aws4_request'.".to_owned()
    } else {
        return Ok(());
    };
    Err(fault(SignatureFaultKind::Mismatch, words))
}

/// Checks that all is signed that must be: the host, the time, and whatever begins with `x-amz-`; in order.
fn check_signed_headers(request: &DoubleRequest, head: &SignedHead<'_>) -> Result<(), SignatureFault> {
    let sent = request.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
    let demanded = sent.filter(|name| name.starts_with("x-amz-")).chain(["host".to_owned()]);
    let is_whole = demanded.into_iter().all(|name| head.headers.contains(&name.as_str()));
    let is_sorted = head.headers.is_sorted() && head.headers.iter().all(|name| *name == name.to_ascii_lowercase());
    let are_sent = head.headers.iter().all(|name| request.header(name).is_some());
    if is_whole && is_sorted && are_sent { Ok(()) } else { Err(mismatch()) }
}

/// Checks the time of a request.
fn check_time(date: &str, signed_at: i64, now: i64) -> Result<(), SignatureFault> {
    if (now - signed_at).abs() <= MAX_SKEW {
        return Ok(());
    }
    let words = if signed_at < now { "Signature expired" } else { "Signature not yet current" };
    let shown = shown_time(now).replace(['-', ':'], "");
    Err(fault(SignatureFaultKind::WrongTime, format!("{words}: {date} is more than 15 min. from {shown}")))
}

/// Builds what is signed of a request; none where its target is broken.
fn canonical_request(request: &DoubleRequest, signed: &[&str]) -> Option<String> {
    // For every service but S3, the path is encoded as it was sent, and so a second time.
    let path = request.path().split('/').map(encoded).collect::<Vec<_>>().join("/");
    let query = request.query().split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((encoded(&decode_percent(key)?), encoded(&decode_percent(value)?)))
    });
    let mut query = query.collect::<Option<Vec<_>>>()?;
    query.sort();
    let query = query.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("&");
    let headers: String = signed.iter().map(|name| format!("{name}:{}\n", header_values(request, name))).collect();
    let body = hex(&Sha256::digest(&request.body));
    if request.header("x-amz-content-sha256").is_some_and(|stated| stated != body) {
        return None;
    }
    Some(format!("{}\n{path}\n{query}\n{headers}\n{}\n{body}", request.method, signed.join(";")))
}

/// Returns all values of a header, with single blanks, and commas between them.
fn header_values(request: &DoubleRequest, name: &str) -> String {
    let values = request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    let values = values.map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "));
    values.collect::<Vec<_>>().join(",")
}

/// Encodes all but letters, digits and `-_.~`.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() || b"-_.~".contains(&octet) {
            out.push(char::from(octet));
        } else {
            out.push_str(&format!("%{octet:02X}"));
        }
    }
    out
}

/// The keyed hash.
fn keyed(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}

/// Writes octets in hexadecimal.
fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The error of a header that is not whole.
fn incomplete(words: &str) -> SignatureFault {
    fault(SignatureFaultKind::Incomplete, words)
}

/// The error of a signature that is not ours.
fn mismatch() -> SignatureFault {
    let words = "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
                 Access Key and signing method. Consult the service documentation for details.";
    fault(SignatureFaultKind::Mismatch, words)
}

/// Makes a fault.
fn fault(kind: SignatureFaultKind, words: impl Into<String>) -> SignatureFault {
    SignatureFault { kind, message: words.into() }
}
