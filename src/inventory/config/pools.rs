//! `[pool.X]` of zonewright.toml: the target of the zones of a pool, and the name servers that follow it.

use std::collections::HashMap;

use super::node::{SettingsNode, TableReader};
use crate::diag::Origin;
use crate::inventory::model::{NameServerSpec, Pool, TargetSpec};
use crate::target::{PoolName, TargetId};

/// Reads `[pool.X]`; a pool that is wrong keeps its place.
pub fn read(reader: &mut TableReader<'_>) -> Vec<(String, Option<Pool>)> {
    let Some(node) = reader.take("pool") else { return Vec::new() };
    let mut table = TableReader::new(node, reader.source());
    let mut pools = Vec::new();
    for (key, node) in table.take_all() {
        let mut pool = TableReader::new(node, table.source());
        let targets = pool.require("target").and_then(|list| pool.list_of(list));
        let target = targets.and_then(|targets| read_target(node, targets, &mut pool));
        let servers = pool.list("nameserver").unwrap_or_default();
        let servers: Vec<_> = servers.iter().map(|node| (node, read_name_server(node, &key.name, &mut pool))).collect();
        refuse_doubles(&servers, &mut pool);
        table.append(pool.finish());
        // A lone hyphen is what is written where a pool is not known.
        let is_reserved = |name: &PoolName| *name == PoolName::unknown();
        let refused = || format!("`{}` cannot be the name of a pool", key.name);
        let name: Result<PoolName, String> = key.name.parse();
        let name = name.and_then(|name| if is_reserved(&name) { Err(refused()) } else { Ok(name) });
        if let Err(message) = &name {
            let diagnostic = table.source().error("bad-value", key.origin, key.width, message);
            table.push(diagnostic.hint("use letters, digits, `-`, `_` and `.`"));
        }
        let pool = name.ok().zip(target).map(|(name, (provider, settings))| {
            let target = TargetSpec { id: TargetId::only(&name), provider, settings };
            let name_server = |(node, notify): (&SettingsNode, bool)| NameServerSpec {
                of: target.id.clone(),
                notify,
                settings: node.clone(),
            };
            let name_servers = servers.into_iter().map(name_server).collect();
            Pool { name, targets: vec![target], name_servers }
        });
        pools.push((key.name.clone(), pool));
    }
    reader.append(table.finish());
    pools
}

/// Reads the one target of a pool: its type and its settings.
fn read_target<'a>(
    pool: &SettingsNode,
    targets: &'a [SettingsNode],
    reader: &mut TableReader<'a>,
) -> Option<(String, SettingsNode)> {
    let node = match targets {
        [] => {
            reader.error(pool, "no-target", "a pool without a target");
            return None;
        }
        [node] => node,
        [_, second, ..] => {
            let message = "a second target in one pool";
            let diagnostic = reader.source().error("several-targets", second.origin, second.width, message);
            reader.push(diagnostic.hint("a pool has one target; give each target its own pool"));
            return None;
        }
    };
    // Only the provider knows its settings, so nothing else is asked of the table here.
    let mut target = TableReader::new(node, reader.source());
    let provider = target.require("type").and_then(|node| target.text_of(node)).map(str::to_owned);
    target.take_all();
    reader.append(target.finish());
    Some((provider?, node.clone()))
}

/// Reads what a pool must know of a name server: whether it gets NOTIFY. `pool` is the name of the one target that it can follow.
///
/// Only the provider knows the other keys.
fn read_name_server(node: &SettingsNode, pool: &str, reader: &mut TableReader<'_>) -> bool {
    let mut server = TableReader::new(node, reader.source());
    if let Some(of) = server.take("of")
        && server.text_of(of).is_some_and(|text| text != pool)
    {
        let message = format!("the pool has no target `{}`", of.as_text().unwrap_or_default());
        let diagnostic = server.source().error("bad-value", of.origin, of.width, message);
        server.push(diagnostic.hint(format!("its one target has the name of the pool, `{pool}`; leave `of` out")));
    }
    let notify = server.boolean("notify").unwrap_or(false);
    server.take_all();
    reader.append(server.finish());
    notify
}

/// Refuses a name server that is in the pool twice: its vote would count twice.
fn refuse_doubles(servers: &[(&SettingsNode, bool)], reader: &mut TableReader<'_>) {
    let mut seen: HashMap<&str, Origin> = HashMap::new();
    for server in servers.iter().filter_map(|(node, _)| node.get("server")) {
        let Some(text) = server.as_text() else { continue };
        if let Some(first) = seen.get(text) {
            let message = format!("name server `{text}` is in this pool twice");
            let diagnostic = reader.source().error("duplicate-server", server.origin, server.width, message);
            reader.push(diagnostic.also(format!("the first is on line {}", first.line)).hint("remove one of them"));
        } else {
            seen.insert(text, server.origin);
        }
    }
}
