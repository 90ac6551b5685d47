//! zonewright.toml: its tree to checked settings.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ipnet::IpNet;

use super::shared::{A_DURATION, A_PERCENTAGE, read_host_limits, read_ttl};
use super::sources::{NamedTables, PodSetPaths, SourceSettings, read_sources};
use super::{apexes, approvals, catalogs, cms, health, marking, notify, pools, update_records};
use crate::diag::{Diagnostics, Origin, did_you_mean};
use crate::dns::reverse::reverse_zone;
use crate::dns::{Name, ZoneName};
use crate::inventory::cms::CmsService;
use crate::inventory::model::{
    ClaimAddresses, Config, Limits, Permission, ProjectAdmin, ProtectPattern, ShareLimit, ZonePurpose, ZoneSpec,
};
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsTree, SourceText, TableReader};
use crate::inventory::pool::Pool;
use crate::inventory::source::{KnownFormat, PathPattern, SourceSpec};
use crate::inventory::update_record::{UpdateRecordTerms, UpdateRecords};
use crate::inventory::value::{Duration, Percent};
use crate::target::ZoneFence;

/// What zonewright.toml says.
#[derive(Debug)]
pub struct Settings {
    /// What concerns the run.
    pub config: Config,
    /// `[project.X]`, by id.
    pub admins: BTreeMap<String, ProjectAdmin>,
    /// Where project files are.
    pub projects: Vec<PathPattern>,
    /// Where the files of sets of pods are.
    pub pod_sets: PodSetPaths,
    /// Where the files of DNS update records are.
    pub update_records: Vec<PathPattern>,
    /// `[dns_update_record.X]`, in the file's order.
    pub update_record_terms: Vec<UpdateRecordTerms>,
    /// The configured sources: in the order of `formats`, those of MACs in the file's order.
    pub sources: Vec<SourceSpec>,
}

/// What kept the settings from being used, or what to know about them.
pub type CheckedSettings = (Option<Settings>, Diagnostics);

/// How long a released name stays taken where nothing says: the project's documented default.
const NAME_COOLDOWN: Duration = Duration::from_secs(7 * 86_400);

/// The share of bad rows above which a source is unknown where nothing says: the project's documented default.
const MAX_BAD_ROWS: Percent = Percent::from_whole(1);

/// How long a saved plan may be applied where nothing says: the project's documented default.
const PLAN_EXPIRES: Duration = Duration::from_secs(86_400);

/// How long the later waves of a plan may be applied where nothing says: a week, so that a rollout that begins on a Monday
/// can end, and a forgotten one does not go on for ever.
const WAVES_EXPIRE: Duration = Duration::from_secs(604_800);

/// How long deletes wait where nothing says: not at all, as the project documents.
const DELETE_AFTER: Duration = Duration::from_secs(0);

/// How many records an RRset may have by default: the project's documented default. A host has one name and a few
/// addresses; 100 AAAA need 2 800 octets, more than fits into UDP (RFC 9715 section 3: 1 400).
const MAX_RRSET: usize = 100;

impl Default for Limits {
    /// The limits where there is no `[limits]`.
    fn default() -> Limits {
        Limits {
            hosts: Vec::new(),
            max_delete: None,
            max_modify: None,
            max_by_cause: None,
            max_loss: None,
            max_rrset: MAX_RRSET,
        }
    }
}

/// Where the state is kept where nothing says: the project's documented default.
pub const STATE_FILE: &str = ".zonewright/state.db";

/// Where released hosts get their names where nothing says: below a domain that never exists (RFC 2606 section 2).
const FREE_DOMAIN: &str = "free.invalid";

/// Checks the tree of zonewright.toml; there are settings only where there is no error.
///
/// `formats` are those that `[sources]` may name.
pub fn read(source: SourceText, parsed: SettingsTree, formats: &[KnownFormat]) -> CheckedSettings {
    let SettingsTree { root, faults, whole } = parsed;
    let mut diagnostics = faults;
    if !whole {
        return (None, diagnostics);
    }
    let mut reader = TableReader::new(&root, &source);
    let (marking, txt_key) = (marking::read(&mut reader), marking::read_key(&mut reader));
    let free_domain = reader.take("free_domain").and_then(|node| read_domain(node, &mut reader));
    let name_cooldown = reader.parsed("name_cooldown", A_DURATION).unwrap_or(NAME_COOLDOWN);
    let max_bad_rows = reader.parsed("max_bad_rows", A_PERCENTAGE).unwrap_or(MAX_BAD_ROWS);
    let delete_after = reader.parsed("delete_after", A_DURATION).unwrap_or(DELETE_AFTER);
    let state_file = read_state(&mut reader).unwrap_or_else(|| STATE_FILE.to_owned());
    let PlanLifetimes { expires: plan_expires, waves_expire } = read_plan(&mut reader);
    let limits = read_limits(&mut reader);
    let (health, cms) = (health::read(&mut reader), cms::read(&mut reader));
    // Read for what is wrong in it; a run that needs it reads it again, alone.
    notify::read(&mut reader);
    let free_domain = free_domain.unwrap_or_else(|| Name::parse(FREE_DOMAIN).expect("a constant name"));
    let admins = read_admins(&mut reader, &free_domain, &cms);
    let pools = pools::read(&mut reader, marking.as_ref());
    let update_record_terms = update_records::read(&mut reader, &admins);
    let SourceSettings { projects, pod_sets, update_records, record_label, specs: sources } =
        read_sources(&mut reader, formats, NamedTables { projects: &admins, pools: &pools });
    if let Some(key) = &txt_key {
        marking::warn_of_idle_key(key, pools.iter().filter_map(|(_, pool)| pool.as_ref()), &mut reader);
    }
    let mut zones = read_zones(&mut reader, &pools);
    catalogs::add(&mut reader, &pools, &mut zones);
    diagnostics.append(reader.finish());
    let settings = match (marking, diagnostics.error_count()) {
        (Some(marking), 0) => {
            let pools = pools.into_iter().filter_map(|(_, pool)| pool).collect();
            let cms = cms.into_iter().filter_map(|(_, service)| service).collect();
            #[rustfmt::skip]
            let config = Config {
                marking, txt_key, free_domain, name_cooldown, max_bad_rows, plan_expires, waves_expire, state_file,
                limits, delete_after, health, cms,
                zones, pools, source, update_records: UpdateRecords::default(), record_label,
            };
            Some(Settings { config, admins, projects, pod_sets, update_records, update_record_terms, sources })
        }
        _ => None,
    };
    (settings, diagnostics)
}

/// Reports a project's domain in which every name counts as none.
fn check_domain(node: &SettingsNode, free_domain: &Name, project: &mut TableReader<'_>) {
    let domain = node.as_text().and_then(|text| Name::parse_host(text).ok());
    let Some(domain) = domain.filter(|domain| domain.as_name().is_at_or_below(free_domain.as_name())) else { return };
    let message = format!("`{domain}` is at or below `free_domain`, `{free_domain}`");
    let diagnostic = project.source().error("bad-value", node.origin, node.width, message);
    project.push(
        diagnostic
            .rule("a name below `free_domain` counts as no name")
            .hint("choose a `free_domain` that contains no project's domain"),
    );
}

/// Reads a domain of host names.
fn read_domain(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<Name> {
    let text = match node.as_text() {
        Some(text) => text,
        None => {
            reader.wrong_type(node, "a domain name");
            return None;
        }
    };
    match Name::parse_host(text) {
        Ok(name) if name != Name::root() => Some(name),
        Ok(_) => {
            reader.error(node, "bad-name", "the root zone has no hosts");
            None
        }
        Err(error) => {
            reader.error(node, "bad-name", format!("`{text}` is not a domain name: {error}"));
            None
        }
    }
}

/// Reads `[state]`: the file that the state is kept in, relative to the workspace.
fn read_state(reader: &mut TableReader<'_>) -> Option<String> {
    let node = reader.take("state")?;
    let mut state = TableReader::new(node, reader.source());
    let url = state.take("url").and_then(|url| state.text_of(url).map(|text| (url, text)));
    let file = url.and_then(|(url, text)| {
        let file = text.strip_prefix("sqlite:").filter(|path| !path.is_empty() && !path.contains('\0'));
        if file.is_none() {
            state.error(url, "bad-value", "the state is kept in `sqlite:` and a path");
        }
        file.map(str::to_owned)
    });
    reader.append(state.finish());
    file
}

/// How long plans may be applied.
struct PlanLifetimes {
    /// The first wave.
    expires: Duration,
    /// The others.
    waves_expire: Duration,
}

/// Reads `[plan]`.
fn read_plan(reader: &mut TableReader<'_>) -> PlanLifetimes {
    let mut lifetimes = PlanLifetimes { expires: PLAN_EXPIRES, waves_expire: WAVES_EXPIRE };
    let Some(node) = reader.take("plan") else { return lifetimes };
    let mut plan = TableReader::new(node, reader.source());
    lifetimes.expires = plan.parsed("expires", A_DURATION).unwrap_or(PLAN_EXPIRES);
    lifetimes.waves_expire = plan.parsed("waves_expire", A_DURATION).unwrap_or(WAVES_EXPIRE);
    reader.append(plan.finish());
    lifetimes
}

/// Reads `[project.X]`, whose domains must be outside `free_domain`; `services` are those that it may name.
fn read_admins(
    reader: &mut TableReader<'_>,
    free_domain: &Name,
    services: &[(String, Option<CmsService>)],
) -> BTreeMap<String, ProjectAdmin> {
    let mut admins = BTreeMap::new();
    let Some(node) = reader.take("project") else { return admins };
    let mut table = TableReader::new(node, reader.source());
    let mut domains: HashMap<Name, &str> = HashMap::new();
    for (key, node) in table.take_all() {
        check_id(key, &mut table);
        let mut project = TableReader::new(node, table.source());
        let domain_node = project.require("dns_domain");
        let dns_domain = domain_node.and_then(|node| read_domain(node, &mut project));
        let also = project.list("also_domains").unwrap_or_default();
        let also_domains = also.iter().filter_map(|node| read_domain(node, &mut project)).collect();
        let automation_allowed =
            project.choice("automation", &[("allowed", true), ("forbidden", false)]).unwrap_or(false);
        let keep_edits = project.boolean("keep_edits").unwrap_or(false);
        let approvals = approvals::read(&mut project, services);
        if let (Some(node), Some(domain)) = (domain_node, &dns_domain)
            && let Some(first) = domains.insert(domain.clone(), &key.name)
        {
            let message = format!("`{domain}` is the domain of project `{first}` too");
            let diagnostic = project.source().error("duplicate-domain", node.origin, node.width, message);
            project.push(
                diagnostic
                    .rule("zonewright finds the project of a name by its domain, so each domain has one project")
                    .hint("give one of them another domain; `also_domains` may be shared"),
            );
        }
        for node in domain_node.into_iter().chain(also) {
            check_domain(node, free_domain, &mut project);
        }
        table.append(project.finish());
        if let Some(dns_domain) = dns_domain {
            let origin = key.origin;
            let admin = ProjectAdmin { dns_domain, also_domains, automation_allowed, keep_edits, approvals, origin };
            admins.insert(key.name.clone(), admin);
        }
    }
    reader.append(table.finish());
    admins
}

/// Checks the id of a project.
fn check_id(key: &SettingsKey, reader: &mut TableReader<'_>) {
    if !super::is_id(&key.name) {
        let message = format!("`{}` cannot be the id of a project", key.name);
        reader.push(reader.source().error("bad-value", key.origin, key.width, message).hint(super::ID_HINT));
    }
}

/// Reads `[[zone]]`.
fn read_zones(reader: &mut TableReader<'_>, pools: &[(String, Option<Pool>)]) -> Vec<ZoneSpec> {
    let mut zones: Vec<ZoneSpec> = Vec::new();
    let mut seen: HashMap<ZoneName, Origin> = HashMap::new();
    let places: HashMap<&str, usize> = pools.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect();
    for node in reader.list("zone").unwrap_or_default() {
        let mut table = TableReader::new(node, reader.source());
        let apex = read_apex(&mut table);
        let pool = table.require("pool").and_then(|pool| read_pool(pool, &places, &mut table));
        let permissions = [("full", Permission::Full), ("own", Permission::Own)];
        let permission = table.choice("permission", &permissions).unwrap_or(Permission::Own);
        let claims = [("hosts", ClaimAddresses::Hosts), ("all", ClaimAddresses::All)];
        let claim_addresses = table.choice("claim_addresses", &claims).unwrap_or(ClaimAddresses::Hosts);
        let ttl_entry = table.take_entry("ttl");
        let ttl = ttl_entry.and_then(|(_, node)| read_ttl(node, &mut table));
        let fence = table.choice("fence", &[("marker", ZoneFence::Marker), ("none", ZoneFence::None)]);
        let protect = read_protect(&mut table, apex.as_ref().map(|(_, name)| name));
        let states = [("present", ZonePurpose::Records), ("absent", ZonePurpose::Absent)];
        let purpose = table.choice("state", &states).unwrap_or(ZonePurpose::Records);
        let (create, create_origin) = (apexes::read(&mut table), node.get("create").map(|node| node.origin));
        if let Some((node, name)) = &apex {
            if let Some(first) = seen.get(name) {
                let message = format!("the zone `{name}` is configured twice");
                let diagnostic = table.source().error("duplicate-zone", node.origin, node.width, message);
                table.push(diagnostic.also(format!("the first is on line {}", first.line)).hint("remove one of them"));
            } else {
                seen.insert(name.clone(), node.origin);
            }
        }
        reader.append(table.finish());
        if let (Some((_, name)), Some(pool)) = (apex, pool) {
            let (origin, ttl_origin) = (node.origin, ttl_entry.map(|(key, _)| key.origin));
            #[rustfmt::skip]
            zones.push(ZoneSpec {
                name, pool, permission, claim_addresses, ttl, fence, protect, purpose, create, create_origin, origin, ttl_origin,
            });
        }
    }
    zones
}

/// Reads `name` or `network` of a zone; gives the node that says it too.
fn read_apex<'a>(table: &mut TableReader<'a>) -> Option<(&'a SettingsNode, ZoneName)> {
    match (table.take("name"), table.take("network")) {
        (Some(node), None) => {
            let text = table.text_of(node)?;
            match Name::parse(text) {
                Ok(name) => Some((node, ZoneName::new(name))),
                Err(error) => {
                    table.error(node, "bad-name", format!("`{text}` is not a zone: {error}"));
                    None
                }
            }
        }
        (None, Some(node)) => {
            let network: IpNet = table.parse_node(node, "a network such as `2a02:6b8::/40` or `10.20.0.0/16`")?;
            let zone = if network.trunc() == network { reverse_zone(network) } else { None };
            if zone.is_none() {
                let message = format!("`{network}` is not the network of a reverse zone");
                let diagnostic = table.source().error("network-boundary", node.origin, node.width, message);
                table.push(
                    diagnostic
                        .rule("a network ends on a nibble (IPv6, prefix a multiple of 4) or a byte (IPv4), without host bits")
                        .hint("configure the zones that exist, one for each label boundary"),
                );
            }
            zone.map(|zone| (node, zone))
        }
        (Some(_), Some(node)) => {
            table.error(node, "bad-value", "a zone has `name` or `network`, not both");
            None
        }
        (None, None) => {
            let node = table.node();
            let diagnostic = table.source().error("missing-key", node.origin, node.width, "a zone without a name");
            table.push(diagnostic.hint("add `name`, or `network` for a reverse zone"));
            None
        }
    }
}

/// Finds the pool of a zone.
fn read_pool<'a>(node: &'a SettingsNode, places: &HashMap<&str, usize>, table: &mut TableReader<'a>) -> Option<usize> {
    let name = table.text_of(node)?;
    let place = places.get(name).copied();
    if place.is_none() {
        let known: BTreeSet<&str> = places.keys().copied().collect();
        let diagnostic =
            table.source().error("unknown-pool", node.origin, node.width, format!("there is no pool `{name}`"));
        let all = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let near = || did_you_mean(name, known.iter().copied());
        table.push(if known.is_empty() {
            diagnostic.hint(format!("add `[[pool.{name}.target]]`"))
        } else {
            diagnostic.hint(near().unwrap_or_else(|| format!("the pools are {}", all())))
        });
    }
    place
}

/// Reads `protect`: names and globs of names, each whole or below the apex.
fn read_protect(table: &mut TableReader<'_>, apex: Option<&ZoneName>) -> Vec<ProtectPattern> {
    let Some(apex) = apex else {
        table.take("protect");
        return Vec::new();
    };
    let mut patterns = Vec::new();
    for node in table.list("protect").unwrap_or_default() {
        let Some(text) = table.text_of(node) else { continue };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | '?' | '[' | ']' | '!');
        let is_plain = text.chars().all(plain) && !text.starts_with('.') && !text.contains("..") && !text.is_empty();
        let whole = absolute(text, apex);
        match glob::Pattern::new(&whole) {
            Ok(_) if is_plain && !can_end_in(&whole, apex) => {
                let message = format!("`{whole}` is outside `{apex}`, so it would protect nothing");
                let diagnostic = table.source().error("bad-value", node.origin, node.width, message);
                table.push(diagnostic.hint(
                    "list it in its own zone; or leave out the final dot, which makes it a name below this zone",
                ));
            }
            Ok(glob) if is_plain => patterns.push(ProtectPattern { glob, origin: node.origin }),
            _ => table.error(node, "bad-value", format!("`{text}` is not a name or a glob of names")),
        }
    }
    patterns
}

/// A name or glob as names are printed; one that does not end in the name of its zone is relative to the apex.
fn absolute(text: &str, apex: &ZoneName) -> String {
    let (lower, apex) = (text.to_ascii_lowercase(), apex.to_string());
    let whole = format!("{}.", lower.trim_end_matches('.'));
    let ends_so = whole == apex || whole.ends_with(&format!(".{apex}")) || lower.ends_with('.');
    // Every name ends with the dot of the root.
    if ends_so || apex == "." { whole } else { format!("{whole}{apex}") }
}

/// Whether a glob may match names at or below the apex, judged by the text after its last metacharacter.
fn can_end_in(glob: &str, apex: &ZoneName) -> bool {
    let apex = apex.to_string();
    match glob.rsplit_once(['*', '?', ']']) {
        Some((_, tail)) => tail.ends_with(&apex) || apex.ends_with(tail),
        None => glob == apex || apex == "." || glob.ends_with(&format!(".{apex}")),
    }
}

/// Reads `[limits]`.
fn read_limits(reader: &mut TableReader<'_>) -> Limits {
    let Some(node) = reader.take("limits") else { return Limits::default() };
    let mut limits = TableReader::new(node, reader.source());
    let read = Limits {
        hosts: read_host_limits(&mut limits),
        max_delete: read_share(&mut limits, "max_delete"),
        max_modify: read_share(&mut limits, "max_modify"),
        max_by_cause: read_share(&mut limits, "max_by_cause"),
        max_loss: read_share(&mut limits, "max_loss"),
        max_rrset: read_max_rrset(&mut limits).unwrap_or(MAX_RRSET),
    };
    reader.append(limits.finish());
    read
}

/// Reads a share that one plan may not exceed.
fn read_share(limits: &mut TableReader<'_>, key: &'static str) -> Option<ShareLimit> {
    let (key, node) = limits.take_entry(key)?;
    Some(ShareLimit { share: limits.parse_node(node, A_PERCENTAGE)?, origin: key.origin })
}

/// Reads `max_rrset`.
fn read_max_rrset(limits: &mut TableReader<'_>) -> Option<usize> {
    let (node, records) = limits.integer("max_rrset")?;
    if records < 1 {
        limits.error(node, "bad-value", "an RRset has at least one record");
    }
    usize::try_from(records).ok()
}
