//! `[pool.X]` of zonewright.toml: the targets of the zones of a pool, the name servers that follow them, and when they agree.

use std::collections::HashMap;

use super::marking;
use super::shared::A_DURATION;
use crate::diag::Origin;
use crate::dns::{Name, ZoneName};
use crate::inventory::node::{SettingsKey, SettingsNode, TableReader};
use crate::inventory::pool::{CatalogSpec, FollowProof, NameServerSpec, PollTerms, Pool, TargetSpec};
use crate::inventory::value::Duration;
use crate::registry::Marking;
use crate::target::{PoolName, TargetId};

/// The share of the voters that must agree where nothing is said: all of them, so that no target is behind in silence.
const THRESHOLD: u32 = 100;

/// How name servers are asked where nothing is said: as OpenStack Designate documents it for its pool manager.
const POLLING: PollTerms =
    PollTerms { timeout: Duration::from_secs(30), retry_interval: Duration::from_secs(2), max_retries: 3 };

/// How often targets are brought in line where nothing is said: as OpenStack Designate does.
const SYNC_INTERVAL: Duration = Duration::from_secs(120);

/// The longest time between questions, and the longest wait for an answer: a slip of the pen is likelier beyond.
const LONGEST_POLL: LongestTime = LongestTime { seconds: 3600, text: "1h" };

/// The longest time for which targets may stay behind.
const LONGEST_SYNC: LongestTime = LongestTime { seconds: 86_400, text: "1d" };

/// The longest time that a setting may be.
#[derive(Clone, Copy)]
struct LongestTime {
    /// In seconds.
    seconds: u64,
    /// As it is written.
    text: &'static str,
}

/// The most questions after the first.
const MAX_RETRIES: u32 = 1000;

/// Reads `[pool.X]`; a pool that is wrong keeps its place. `marking` is what holds for all pools.
pub fn read(reader: &mut TableReader<'_>, marking: Option<&Marking>) -> Vec<(String, Option<Pool>)> {
    let Some(node) = reader.take("pool") else { return Vec::new() };
    let registry = reader.node().get("registry");
    let mut table = TableReader::new(node, reader.source());
    let mut pools = Vec::new();
    for (key, node) in table.take_all() {
        let mut pool = TableReader::new(node, table.source());
        let read = read_pool((key, node), &mut pool, (marking, registry));
        table.append(pool.finish());
        pools.push((key.name.clone(), read));
    }
    reader.append(table.finish());
    pools
}

/// Reads one pool.
fn read_pool(
    (key, node): (&SettingsKey, &SettingsNode),
    pool: &mut TableReader<'_>,
    (marking, registry): (Option<&Marking>, Option<&SettingsNode>),
) -> Option<Pool> {
    let name = pool_name(key, pool);
    let targets = pool.require("target").and_then(|list| pool.list_of(list)).unwrap_or_default();
    if node.get("target").is_some() && targets.is_empty() {
        pool.error(node, "no-target", "a pool without a target");
    }
    let targets: Option<Vec<TargetSpec>> = {
        let has_several = targets.len() > 1;
        let read: Vec<_> =
            targets.iter().map(|target| read_target(target, (name.as_ref(), has_several), pool)).collect();
        refuse_twins(targets, has_several, pool);
        read.into_iter().collect()
    };
    let known: Vec<&str> = targets.iter().flatten().map(|target| target.id.name.as_str()).collect();
    let servers = pool.list("nameserver").unwrap_or_default();
    let name_servers: Vec<Option<NameServerSpec>> =
        servers.iter().map(|server| read_name_server(server, (name.as_ref(), &known), pool)).collect();
    refuse_doubles(servers, pool);
    let threshold = read_number(pool, "threshold_percentage", 1..=100).unwrap_or(THRESHOLD);
    let polling = PollTerms {
        timeout: read_time(pool, "poll_timeout", LONGEST_POLL).unwrap_or(POLLING.timeout),
        retry_interval: read_time(pool, "poll_retry_interval", LONGEST_POLL).unwrap_or(POLLING.retry_interval),
        max_retries: read_number(pool, "poll_max_retries", 0..=MAX_RETRIES).unwrap_or(POLLING.max_retries),
    };
    let proofs = [("serials", FollowProof::Serials), ("records", FollowProof::Records)];
    let proof = pool.choice("verify", &proofs).unwrap_or(FollowProof::Serials);
    let sync_interval = read_time(pool, "periodic_sync_interval", LONGEST_SYNC).unwrap_or(SYNC_INTERVAL);
    let catalog = read_catalog(pool);
    let (marking, txt_key) = (marking::read_of_pool(pool, marking), marking::read_key(pool));
    let targets = targets.filter(|targets| !targets.is_empty())?;
    let name_servers = name_servers.into_iter().collect::<Option<Vec<_>>>()?;
    let (name, marking) = (name?, marking?);
    let registry = node.get("registry").or(registry).cloned();
    let has_marks = marking.registry.mark_place().is_some();
    let targets = targets.into_iter().map(|target| TargetSpec { has_marks, ..target }).collect();
    Some(Pool {
        name,
        targets,
        name_servers,
        threshold,
        polling,
        proof,
        sync_interval,
        catalog,
        marking,
        registry,
        txt_key,
        is_of_record: false,
    })
}

/// The pool of a DNS update record: one target, of which nothing else is said.
pub fn of_record(target: TargetSpec, marking: Marking, txt_key: Option<SettingsNode>) -> Pool {
    Pool {
        name: target.id.pool.clone(),
        targets: vec![target],
        name_servers: Vec::new(),
        threshold: THRESHOLD,
        polling: POLLING,
        proof: FollowProof::Serials,
        sync_interval: SYNC_INTERVAL,
        catalog: None,
        marking,
        registry: None,
        txt_key,
        is_of_record: true,
    }
}

/// Reads `catalog`.
fn read_catalog(pool: &mut TableReader<'_>) -> Option<CatalogSpec> {
    let node = pool.take("catalog")?;
    let text = pool.text_of(node)?;
    match Name::parse(text) {
        Ok(name) => Some(CatalogSpec { zone: ZoneName::new(name), origin: node.origin, width: node.width }),
        Err(error) => {
            pool.error(node, "bad-name", format!("`{text}` is not a zone: {error}"));
            None
        }
    }
}

/// The name of a pool.
fn pool_name(key: &SettingsKey, pool: &mut TableReader<'_>) -> Option<PoolName> {
    let name = plain_name(&key.name);
    if name.is_none() {
        let message = format!("`{}` cannot be the name of a pool", key.name);
        let diagnostic = pool.source().error("bad-value", key.origin, key.width, message);
        pool.push(diagnostic.hint(NAME_HINT));
    }
    name
}

/// What names of pools and targets are made of.
const NAME_HINT: &str = "use letters, digits, `-`, `_` and `.`";

/// A name of a pool or of a target. A lone hyphen is none: it is written where a pool is not known.
fn plain_name(text: &str) -> Option<PoolName> {
    text.parse().ok().filter(|name| *name != PoolName::unknown())
}

/// Reads what a pool must know of a target: its type, and its name, which a single one may leave out.
///
/// Only the provider knows the other keys.
fn read_target(
    node: &SettingsNode,
    (pool, has_several): (Option<&PoolName>, bool),
    reader: &mut TableReader<'_>,
) -> Option<TargetSpec> {
    let mut target = TableReader::new(node, reader.source());
    let provider = target.require("type").and_then(|node| target.text_of(node)).map(str::to_owned);
    let named = if has_several { target.require("name") } else { target.take("name") };
    let name = match named.map(|named| (named, target.text_of(named))) {
        None => pool.filter(|_| !has_several).map(|pool| pool.as_str().to_owned()),
        Some((_, None)) => None,
        Some((named, Some(text))) => {
            if plain_name(text).is_none() {
                let message = format!("`{text}` cannot be the name of a target");
                let diagnostic = target.source().error("bad-value", named.origin, named.width, message);
                target.push(diagnostic.hint(NAME_HINT));
            }
            Some(text.to_owned())
        }
    };
    if has_several && let Some(read) = node.get("read").filter(|read| read.as_text() == Some("query")) {
        let message = "the zones of a pool with several targets are read whole, so that copies can be compared";
        let diagnostic = target.source().error("bad-value", read.origin, read.width, message);
        target.push(
            diagnostic.hint("remove `read`, and let the server allow transfers; or give the target its own pool"),
        );
    }
    target.take_all();
    reader.append(target.finish());
    let id = TargetId { pool: pool?.clone(), name: name? };
    Some(TargetSpec { id, provider: provider?, settings: node.clone(), has_marks: false })
}

/// Refuses two targets of one name.
fn refuse_twins(targets: &[SettingsNode], has_several: bool, reader: &mut TableReader<'_>) {
    if has_several {
        refuse_same(targets, "name", reader, |text| {
            ("duplicate-target", format!("two targets of this pool have the name `{text}`"), "give each its own name")
        });
    }
}

/// Refuses a name server that is in the pool twice: its vote would count twice.
fn refuse_doubles(servers: &[SettingsNode], reader: &mut TableReader<'_>) {
    refuse_same(servers, "server", reader, |text| {
        ("duplicate-server", format!("name server `{text}` is in this pool twice"), "remove one of them")
    });
}

/// Refuses tables that have one text under a key; `words` gives the code, what is wrong, and what to do.
fn refuse_same(
    tables: &[SettingsNode],
    key: &'static str,
    reader: &mut TableReader<'_>,
    words: impl Fn(&str) -> (&'static str, String, &'static str),
) {
    let mut seen: HashMap<&str, Origin> = HashMap::new();
    for node in tables.iter().filter_map(|table| table.get(key)) {
        let Some(text) = node.as_text() else { continue };
        if let Some(first) = seen.get(text) {
            let (code, message, hint) = words(text);
            let diagnostic = reader.source().error(code, node.origin, node.width, message);
            reader.push(diagnostic.also(format!("the first is on line {}", first.line)).hint(hint));
        } else {
            seen.insert(text, node.origin);
        }
    }
}

/// Reads what a pool must know of a name server: which target it follows, and whether it gets NOTIFY. `targets` are the
/// names of the targets.
///
/// Only the provider knows the other keys.
fn read_name_server(
    node: &SettingsNode,
    (pool, targets): (Option<&PoolName>, &[&str]),
    reader: &mut TableReader<'_>,
) -> Option<NameServerSpec> {
    let mut server = TableReader::new(node, reader.source());
    let of = if targets.len() > 1 { server.require("of") } else { server.take("of") };
    let named = of.and_then(|of| server.text_of(of).map(|text| (of, text)));
    let name = match named {
        None => targets.first().map(|name| (*name).to_owned()),
        Some((of, text)) if !targets.is_empty() && !targets.contains(&text) => {
            let diagnostic =
                server.source().error("bad-value", of.origin, of.width, format!("the pool has no target `{text}`"));
            let names: Vec<String> = targets.iter().map(|name| format!("`{name}`")).collect();
            server.push(diagnostic.hint(format!("its targets are {}", names.join(", "))));
            None
        }
        Some((_, text)) => Some(text.to_owned()),
    };
    let notify = server.boolean("notify").unwrap_or(false);
    server.take_all();
    reader.append(server.finish());
    Some(NameServerSpec { of: TargetId { pool: pool?.clone(), name: name? }, notify, settings: node.clone() })
}

/// Reads a number within bounds.
fn read_number(reader: &mut TableReader<'_>, key: &'static str, bounds: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let (node, number) = reader.integer(key)?;
    let valid = u32::try_from(number).ok().filter(|number| bounds.contains(number));
    if valid.is_none() {
        let message = format!("`{number}` is not a number of {} to {}", bounds.start(), bounds.end());
        reader.error(node, "bad-value", message);
    }
    valid
}

/// Reads a time of a second or more.
fn read_time(reader: &mut TableReader<'_>, key: &'static str, longest: LongestTime) -> Option<Duration> {
    let node = reader.take(key)?;
    let time = reader.parse_node::<Duration>(node, A_DURATION)?;
    if !(1..=longest.seconds).contains(&time.as_secs()) {
        reader.error(node, "bad-value", format!("it must be between `1s` and `{}`", longest.text));
        return None;
    }
    Some(time)
}
