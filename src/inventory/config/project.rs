//! A project file: its tree to checked settings.

use ipnet::IpNet;

use super::rollout;
use super::shared::{read_host_limits, read_ttl};
use super::template_text::read_node;
use crate::diag::{Diagnostics, Origin};
use crate::inventory::addresses::{HostAddresses, ListedInterfaces};
use crate::inventory::health::HealthChecks;
use crate::inventory::model::{HostLimit, Policy, ProjectSettings, VlanScheme};
use crate::inventory::node::{SettingsNode, SettingsTree, SettingsValue, SourceText, TableReader};
use crate::inventory::template::{FastboneTemplate, NameTemplateError, ShortnameTemplate};
use crate::inventory::value::{HbfProjectId, Vlan};
use crate::registry::Registry;

/// What a project file says, as far as it could be read.
#[derive(Debug)]
pub struct ProjectDocument {
    /// Its id and place; `None` where it has no readable id.
    pub id: Option<(String, Origin)>,
    /// How many characters the id takes.
    pub id_width: usize,
    /// The settings, where the file has no error.
    pub settings: Option<Box<ProjectSettings>>,
    /// Where the first fault is, where there is one.
    pub fault: Option<Origin>,
    /// All that was found.
    pub diagnostics: Diagnostics,
}

/// How hosts are named where nothing says: the project's documented default.
const SHORTNAME_TEMPLATE: &str = "{location}{bucket}-{index:04}";

/// How fastbones are named where nothing says: the project's documented default.
const FASTBONE_NAME: &str = "fb-{shortname}";

/// Checks the tree of a project file; `health` is what its rollout may ask.
pub fn read(source: &SourceText, parsed: &SettingsTree, registry: Registry, health: &HealthChecks) -> ProjectDocument {
    let mut diagnostics = parsed.faults.clone();
    let mut reader = TableReader::new(&parsed.root, source);
    let id = read_id(&mut reader);
    let id_width = id.map_or(0, |(_, node)| node.width);
    let id = id.map(|(id, node)| (id.to_owned(), node.origin));
    let mut settings = None;
    if parsed.whole {
        settings = read_settings(&mut reader, registry, health);
        diagnostics.append(reader.finish());
    }
    let fault = diagnostics.iter().map(|diagnostic| diagnostic.origin).min();
    if id.is_none() || fault.is_some() {
        settings = None;
    }
    ProjectDocument { id, id_width, settings, fault, diagnostics }
}

/// Reads `id`.
fn read_id<'a>(reader: &mut TableReader<'a>) -> Option<(&'a str, &'a SettingsNode)> {
    let node = reader.require("id")?;
    let id = reader.text_of(node)?;
    if !super::is_id(id) {
        let message = format!("`{id}` cannot be the id of a project");
        let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(diagnostic.hint(super::ID_HINT));
        return None;
    }
    Some((id, node))
}

/// Reads all but `id`; `None` where something that must be there is not, which has been reported then.
fn read_settings(
    reader: &mut TableReader<'_>,
    registry: Registry,
    health: &HealthChecks,
) -> Option<Box<ProjectSettings>> {
    let file = reader.node().origin.file;
    let top = Origin::line(file, 1);
    let shortname_template =
        read_template(reader, "shortname_template", SHORTNAME_TEMPLATE, ShortnameTemplate::parse).map(|(it, _)| it);
    let (addresses, vlans) = match read_addresses(reader) {
        Some(origin) => (read_listed(reader, origin), Some((VlanScheme::None, origin))),
        None => {
            refuse_listed(reader);
            (HostAddresses::Derived, read_vlans(reader))
        }
    };
    let fastbone = read_template(reader, "fastbone_name", FASTBONE_NAME, FastboneTemplate::parse);
    let hbf_project_id = read_hbf_project_id(reader);
    let ttl = reader.take_entry("ttl").and_then(|(key, node)| Some((read_ttl(node, reader)?, key.origin)));
    let automation = reader.boolean("automation").unwrap_or(false);
    let (policy, policy_origin) = read_policy(reader, registry).unwrap_or((Policy::Repair, top));
    let limits = read_limits(reader);
    let availability = [("warn", false), ("require", true)];
    let requires_availability = reader.choice("availability", &availability).unwrap_or(false);
    let rollout = rollout::read(reader, health);
    let (vlans, vlans_origin) = vlans?;
    let (fastbone_name, fastbone_origin) = fastbone?;
    #[rustfmt::skip]
    let settings = ProjectSettings {
        shortname_template: shortname_template?,
        addresses, vlans, vlans_origin,
        fastbone_name, fastbone_origin: fastbone_origin.unwrap_or(top),
        hbf_project_id, ttl, automation, policy, policy_origin, limits, requires_availability, rollout,
    };
    Some(Box::new(settings))
}

/// Reads a template, or takes the default; returns its place, too.
fn read_template<T>(
    reader: &mut TableReader<'_>,
    key: &'static str,
    default: &str,
    parse: fn(&str) -> Result<T, NameTemplateError>,
) -> Option<(T, Option<Origin>)> {
    let Some((key, node)) = reader.take_entry(key) else {
        return Some((parse(default).expect("the default is a template"), None));
    };
    Some((read_node(node, reader, parse)?, Some(key.origin)))
}

/// Reads `addresses`: where it is written that the inventory lists them; none where they are derived.
fn read_addresses(reader: &mut TableReader<'_>) -> Option<Origin> {
    let (key, node) = reader.take_entry("addresses")?;
    let is_listed = reader.choice_of(node, &[("derived", false), ("inventory", true)]);
    // Behind a wrong word, which is reported, keys of either kind may be right.
    is_listed.unwrap_or(true).then_some(key.origin)
}

/// What the backbone is called in lists of addresses where nothing says: what it is called here.
const BACKBONE: &str = "backbone";

/// What the fastbone is called in lists of addresses where nothing says.
const FASTBONE: &str = "fastbone";

/// Reads what else is said of addresses that the inventory lists, which is written at `origin`. VLANs are not needed.
///
/// Hosts have a fastbone where `interfaces` names one, where `vlan_scheme` has one, or where there is neither.
fn read_listed(reader: &mut TableReader<'_>, origin: Origin) -> HostAddresses {
    let scheme = reader.take("vlan_scheme").and_then(|node| {
        let scheme = reader.choice_of(node, &[("search", Some(true)), ("static", Some(false)), ("none", None)])?;
        if scheme.is_none() {
            let message = "`vlan_scheme: none` says that there are no hosts, and `addresses: inventory` is about hosts";
            let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
            reader.push(diagnostic.hint("remove one of them"));
        }
        scheme
    });
    if let Some(node) = reader.take("vlans") {
        let mut vlans = TableReader::new(node, reader.source());
        for node in ["main", "fastbone"].map(|key| vlans.take(key)).into_iter().flatten() {
            read_vlan(node, &mut vlans);
        }
        reader.append(vlans.finish());
    }
    let interfaces = reader.take("interfaces");
    let has_fastbone = scheme.unwrap_or(interfaces.is_none());
    let [backbone, fastbone] = interfaces.map_or([const { None }; 2], |node| read_interfaces(node, reader));
    let networks = reader.take("networks").map(|node| read_networks(node, reader)).unwrap_or_default();
    let backbone = backbone.unwrap_or_else(|| BACKBONE.to_owned());
    let fastbone = fastbone.or_else(|| has_fastbone.then(|| FASTBONE.to_owned()));
    HostAddresses::Listed(Box::new(ListedInterfaces { origin, backbone, fastbone, networks }))
}

/// Refuses the keys that only addresses have that the inventory lists.
fn refuse_listed(reader: &mut TableReader<'_>) {
    for key in ["interfaces", "networks"] {
        let Some((name, _)) = reader.take_entry(key) else { continue };
        let message =
            format!("`{key}` is for addresses that the inventory lists, and those of this project are derived");
        let diagnostic = reader.source().error("bad-value", name.origin, key.len(), message);
        reader.push(diagnostic.hint(format!("write `addresses: inventory`, or remove `{key}`")));
    }
}

/// Reads what the inventory calls the backbone and the fastbone.
fn read_interfaces(node: &SettingsNode, reader: &mut TableReader<'_>) -> [Option<String>; 2] {
    let mut names = TableReader::new(node, reader.source());
    let nodes = ["backbone", "fastbone"].map(|key| names.take(key));
    let mut read = nodes.map(|node| {
        let name = node.and_then(|node| names.text_of(node))?;
        if name.trim().is_empty() {
            names.error(node?, "bad-value", "an interface needs a name");
        }
        Some(name.to_owned())
    });
    if let ([Some(one), Some(other)], Some(node)) = (&read, nodes[1])
        && one == other
    {
        names.error(node, "bad-value", format!("`{other}` cannot be both interfaces"));
        read[1] = None;
    }
    reader.append(names.finish());
    read
}

/// Reads the networks in which all addresses are.
fn read_networks<'a>(node: &'a SettingsNode, reader: &mut TableReader<'a>) -> Vec<(IpNet, Origin)> {
    let items = reader.list_of(node).unwrap_or_default();
    if items.is_empty() && matches!(node.value, SettingsValue::List(_)) {
        reader.error(node, "bad-value", "an empty list of networks admits no address");
    }
    let mut networks = Vec::new();
    for item in items {
        let Some(text) = reader.text_of(item) else { continue };
        match text.parse::<IpNet>() {
            Ok(network) if network.trunc() == network => networks.push((network, item.origin)),
            Ok(network) => {
                let message = format!("`{text}` has bits behind its prefix");
                let diagnostic = reader.source().error("bad-network", item.origin, item.width, message);
                reader.push(diagnostic.hint(format!("write `{}`", network.trunc())));
            }
            Err(_) => {
                let message = format!("`{text}` is not a network");
                let diagnostic = reader.source().error("bad-network", item.origin, item.width, message);
                reader.push(diagnostic.hint("write an address, a slash and a prefix length, such as `192.0.2.0/24`"));
            }
        }
    }
    networks
}

/// Reads `vlan_scheme` and `vlans`.
fn read_vlans(reader: &mut TableReader<'_>) -> Option<(VlanScheme, Origin)> {
    let scheme = reader.require_or("vlan_scheme", "; a project without hosts says `vlan_scheme: none`");
    let has_fastbone = match scheme.and_then(|node| reader.text_of(node)) {
        Some("search") => Some(true),
        Some("static") => Some(false),
        Some("none") => {
            let origin = scheme.expect("its text was read").origin;
            let Some((_, node)) = reader.take_entry("vlans") else { return Some((VlanScheme::None, origin)) };
            reader.error(
                node,
                "bad-value",
                "`vlan_scheme: none` says that there are no hosts, and these are their VLANs",
            );
            return None;
        }
        Some(other) => {
            let node = scheme.expect("its text was read");
            reader.error(node, "bad-value", format!("`{other}` is not `search`, `static` or `none`"));
            None
        }
        None => None,
    };
    let Some((key, node)) = reader.take_entry("vlans") else {
        reader.require("vlans");
        return None;
    };
    let mut vlans = TableReader::new(node, reader.source());
    let main = vlans.require("main").and_then(|node| read_vlan(node, &mut vlans));
    let fastbone_node = match has_fastbone {
        Some(true) => vlans.require("fastbone"),
        _ => vlans.take("fastbone"),
    };
    let fastbone = fastbone_node.and_then(|node| read_vlan(node, &mut vlans));
    if let (Some(node), Some(true)) = (fastbone_node, has_fastbone)
        && main.is_some()
        && main == fastbone
    {
        let message = "fastbone and main are the same VLAN";
        let diagnostic = vlans.source().error("same-vlan", node.origin, node.width, message);
        vlans.push(
            diagnostic
                .rule("the two interfaces of a host are in different VLANs")
                .hint("correct one of them, or use `vlan_scheme: static`"),
        );
    }
    reader.append(vlans.finish());
    let scheme = if has_fastbone? {
        VlanScheme::Search { main: main?, fastbone: fastbone? }
    } else {
        VlanScheme::Static { main: main? }
    };
    Some((scheme, key.origin))
}

/// Reads a VLAN number.
fn read_vlan(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<Vlan> {
    let number = reader.integer_of(node)?;
    let vlan = u64::try_from(number).ok().and_then(Vlan::new);
    if vlan.is_none() {
        let message = format!("`{number}` is not a VLAN");
        let diagnostic = reader.source().error("bad-vlan", node.origin, node.width, message);
        reader.push(diagnostic.rule("VLANs are numbered 1 to 4094 (IEEE 802.1Q section 9.6)"));
    }
    vlan
}

/// Reads `hbf_project_id`: hexadecimal text, quoted or not, exactly as it is written.
fn read_hbf_project_id(reader: &mut TableReader<'_>) -> Option<(HbfProjectId, Origin)> {
    let (key, node) = reader.take_entry("hbf_project_id")?;
    let text = reader.text_of(node)?;
    match text.parse() {
        Ok(id) => Some((id, key.origin)),
        Err(()) => {
            let message = format!("`{text}` is not a project id");
            let diagnostic = reader.source().error("bad-project-id", node.origin, node.width, message);
            reader.push(
                diagnostic
                    .rule("a project id is 1 to 8 hexadecimal digits")
                    .hint("write the digits alone, in quotes, such as \"1478\""),
            );
            None
        }
    }
}

/// Reads `limits`: the shares of zones are the administrator's, for a zone is shared.
fn read_limits(reader: &mut TableReader<'_>) -> Vec<HostLimit> {
    let Some(node) = reader.take("limits") else { return Vec::new() };
    let mut limits = TableReader::new(node, reader.source());
    let hosts = read_host_limits(&mut limits);
    reader.append(limits.finish());
    hosts
}

/// Reads `policy`; one that the registry forbids is an error.
fn read_policy(reader: &mut TableReader<'_>, registry: Registry) -> Option<(Policy, Origin)> {
    let (key, node) = reader.take_entry("policy")?;
    let policies = [
        ("create-only", Policy::CreateOnly),
        ("upsert-only", Policy::UpsertOnly),
        ("repair", Policy::Repair),
        ("sync", Policy::Sync),
    ];
    let policy = reader.choice_of(node, &policies)?;
    if policy == Policy::Sync && registry == Registry::Noop {
        let message = "`sync` is refused with `registry = \"noop\"`";
        let diagnostic = reader.source().error("sync-without-registry", node.origin, node.width, message);
        reader.push(
            diagnostic
                .rule("`sync` removes RRsets that zonewright created, and with `noop` every RRset counts as such")
                .hint("use `repair`, or set the registry to `journal` or `txt`"),
        );
    }
    Some((policy, key.origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::yaml;

    /// What is wrong in a project file with these lines, each with its line, column and width.
    fn faults(lines: &str) -> Vec<(u32, u32, usize, String)> {
        let text = format!("id: web\nvlan_scheme: static\nvlans: {{main: 604}}\n{lines}\n");
        let source = SourceText { file: Files::default().add("projects/web.yaml"), text };
        let document = read(&source, &yaml::parse(&source), Registry::Journal, &HealthChecks::default());
        assert_eq!(document.settings.is_none(), document.fault.is_some());
        let shown = |it: &crate::diag::Diagnostic| {
            (it.origin.line, it.origin.col, it.width, format!("{}: {}", it.code, it.message))
        };
        document.diagnostics.iter().map(shown).collect()
    }

    /// The mistakes that a template can have, with the character from 0 and how many are marked.
    const MISTAKES: [(&str, u32, usize); 16] = [
        ("x{rack}{index}", 1, 6),
        ("x{index", 1, 6),
        ("x{index}}", 8, 1),
        ("x}{index}", 1, 1),
        ("x{index:4}", 1, 9),
        ("x{index:00}", 1, 10),
        ("x{index:010}", 1, 11),
        ("x{bucket}-{index}", 10, 7),
        ("x{location}", 0, 11),
        ("x{index}-{index:02}", 9, 10),
        ("x.y{index}", 1, 1),
        ("x y{index}", 1, 1),
        ("xé{index}", 1, 1),
        ("xé{rack}{index}", 1, 1),
        ("x{{y}}{index}", 1, 2),
        ("x0123456789012345678901234567890123456789012345678901234567890{index:03}", 0, 72),
    ];

    #[test]
    fn a_template_that_is_empty_or_written_with_escapes_is_shown_whole() {
        let shown = |line: &str| {
            faults(&format!("shortname_template: {line}")).pop().map(|(at, col, width, _)| (at, col, width))
        };
        assert_eq!(shown("\"\""), Some((4, 22, 1)));
        assert_eq!(shown(r#""x\x2e{index}""#), Some((4, 21, 14)));
        assert_eq!(shown("''"), Some((4, 22, 1)));
        assert_eq!(shown("|\n  x{index}"), Some((5, 11, 1)), "the line end is not part of a label");
        assert!(shown("").is_some() && shown("{location}{index}").is_some(), "nothing, and a mapping");
    }

    #[test]
    fn a_mistake_in_a_template_is_shown_where_it_is_however_the_template_is_quoted() {
        for (template, at, width) in MISTAKES {
            let placed = |(before, behind): (&str, &str), line, col| {
                let found = faults(&format!("shortname_template: {before}{template}{behind}"));
                let [(at_line, at_col, at_width, message)] = &found[..] else { panic!("{template}: {found:?}") };
                assert_eq!((*at_line, *at_col, *at_width), (line, col + at, width), "{before}{template}: {message}");
                assert!(message.starts_with(&format!("bad-template: `{template}`: ")), "{message}");
            };
            placed(("", ""), 4, 21);
            placed(("'", "'"), 4, 22);
            placed(("\"", "\""), 4, 22);
            placed(("|-\n  ", ""), 5, 3);
            placed((">-\n    ", ""), 5, 5);
        }
    }
}
