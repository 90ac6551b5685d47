//! `create` and `apex` of `[[zone]]`: with what a zone is made where a target lacks it.

use crate::dns::Name;
use crate::inventory::node::{SettingsNode, TableReader};
use crate::target::ZoneApex;

/// Reads `create` and `apex`; gives the apex where the zone is to be made.
pub fn read(zone: &mut TableReader<'_>) -> Option<ZoneApex> {
    let creates = zone.boolean("create").unwrap_or(false);
    let apex = zone.take("apex").map(|node| (node, read_apex(node, zone)));
    if creates && apex.is_none() {
        let node = zone.node();
        let message = "a zone that is made needs an apex";
        let diagnostic = zone.source().error("missing-key", node.origin, node.width, message);
        zone.push(diagnostic.hint(
            "add `[zone.apex]` with `ns = [\"ns1.example.net\"]`, `mname = \"ns1.example.net\"` and \
             `rname = \"hostmaster.example.net\"`",
        ));
    }
    apex.and_then(|(_, apex)| apex).filter(|_| creates)
}

/// Reads `[zone.apex]`.
fn read_apex<'a>(node: &'a SettingsNode, zone: &mut TableReader<'a>) -> Option<ZoneApex> {
    let mut apex = TableReader::new(node, zone.source());
    let servers = apex.require("ns");
    let listed = servers.and_then(|list| apex.list_of(list)).unwrap_or_default();
    let names: Vec<Option<Name>> = listed.iter().map(|server| host_name(server, &mut apex)).collect();
    if let Some(list) = servers.filter(|_| listed.is_empty()) {
        apex.error(list, "bad-value", "a zone has at least one name server");
    }
    let ns: Option<Vec<Name>> = names.into_iter().collect();
    let ns = ns.filter(|names| !names.is_empty()).map(|mut names| {
        names.sort();
        names.dedup();
        names
    });
    let mname = apex.require("mname").and_then(|node| host_name(node, &mut apex));
    let rname = apex.require("rname").and_then(|node| mailbox(node, &mut apex));
    zone.append(apex.finish());
    Some(ZoneApex { mname: mname?, ns: ns?, rname: rname? })
}

/// Reads the name of a server.
fn host_name<'a>(node: &'a SettingsNode, apex: &mut TableReader<'a>) -> Option<Name> {
    let text = apex.text_of(node)?;
    match Name::parse_host(text) {
        Ok(name) => Some(name),
        Err(error) => {
            apex.error(node, "bad-name", format!("`{text}` is not the name of a server: {error}"));
            None
        }
    }
}

/// Reads a mailbox: a name, or an address, whose part before the `@` becomes the first label (RFC 1035 section 8).
fn mailbox<'a>(node: &'a SettingsNode, apex: &mut TableReader<'a>) -> Option<Name> {
    let text = apex.text_of(node)?;
    let read = match text.split_once('@') {
        Some((local, domain)) => Name::parse(&format!("{}.{domain}", local.replace('.', "\\."))),
        None => Name::parse(text),
    };
    match read {
        Ok(name) if name != Name::root() => Some(name),
        _ => {
            let message = format!("`{text}` is not a mailbox, such as `hostmaster.example.net`");
            apex.error(node, "bad-name", message);
            None
        }
    }
}
