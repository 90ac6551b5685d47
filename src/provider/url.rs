//! URLs of APIs in settings. Pure.

use std::net::Ipv4Addr;

use crate::diag::Origin;
use crate::dns::Name;
use crate::inventory::config::notify::is_url;
use crate::inventory::node::SettingsNode;

/// A URL without a user, and without what may follow its path, and without a final slash; none where it is none.
pub fn plain_url(text: &str) -> Option<String> {
    let is_plain = is_url(text) && !text.contains(['?', '#', '@']);
    is_plain.then(|| text.trim_end_matches('/').to_owned())
}

/// The name of the host of a URL, with its place; none where it is an address.
pub fn host_name(node: &SettingsNode) -> Option<(Name, Origin)> {
    let url = node.as_text().and_then(plain_url)?;
    let host = url.split_once("://")?.1.split(['/', ':']).next()?.to_owned();
    let is_address = host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
    Some((Name::parse(&host).ok().filter(|_| !is_address)?, node.origin))
}
