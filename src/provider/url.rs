//! URLs of APIs: those in settings, and what is put into them. Pure.

use std::net::{IpAddr, Ipv4Addr};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::diag::Origin;
use crate::dns::Name;
use crate::inventory::config::notify::is_url;
use crate::inventory::node::SettingsNode;

/// What is written as `%XX` in queries: all but the unreserved characters (RFC 3986 section 2.3).
pub const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A URL without a user, and without what may follow its path, and without a final slash; none where it is none.
pub fn plain_url(text: &str) -> Option<String> {
    let is_plain = is_url(text) && !text.contains(['?', '#', '@']);
    is_plain.then(|| text.trim_end_matches('/').to_owned())
}

/// Whether a URL has a path, but for a slash at its end.
pub fn has_path(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.trim_end_matches('/').contains('/')
}

/// The name of the host of a URL, with its place; none where it is an address.
pub fn host_name(node: &SettingsNode) -> Option<(Name, Origin)> {
    let url = node.as_text().and_then(plain_url)?;
    let host = url.split_once("://")?.1.split(['/', ':']).next()?.to_owned();
    let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
    Some((Name::parse(&host).ok().filter(|_| !is_address)?, node.origin))
}

/// A query with values as they are: for URLs, and for the content of forms.
pub fn encode_query(pairs: &[(&str, &str)]) -> String {
    let pair = |(key, value): &(&str, &str)| {
        format!("{}={}", utf8_percent_encode(key, QUERY), utf8_percent_encode(value, QUERY))
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// A text as one segment of a path.
pub fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// Whether what is sent to a URL is read by no other machine: it is of TLS, or of this machine, or of an address that
/// `is_near` takes.
pub fn is_confidential(url: &str, is_near: impl Fn(IpAddr) -> bool) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // What is before an `@` is no part of the host, and a `\` is read in two ways.
    if authority.is_empty() || !url.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '@' | '\\')) {
        return false;
    }
    let host = match authority.strip_prefix('[') {
        Some(inside) => inside.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    match scheme {
        "https" => true,
        "http" => {
            host.eq_ignore_ascii_case("localhost")
                || host.parse().is_ok_and(|address: IpAddr| address.is_loopback() || is_near(address))
        }
        _ => false,
    }
}
