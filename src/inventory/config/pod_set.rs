//! The file of a set of pods: its tree to checked settings.

use std::collections::BTreeMap;

use super::rollout::{self, UnavailabilityBudget, read_budget};
use super::shared::{A_DURATION, read_ttl};
use super::template_text;
use crate::diag::{Diagnostics, Origin, did_you_mean};
use crate::dns::{Name, Ttl};
use crate::inventory::health::HealthChecks;
use crate::inventory::model::{ProjectAdmin, ProjectIndex};
use crate::inventory::node::{SettingsNode, SettingsTree, SettingsValue, SourceText, TableReader};
use crate::inventory::pod_template::{PodField, PodFields, PodTemplate};
use crate::inventory::pods::{EndpointSpec, PodMigration, PodSetTerms, PodState, is_set_id};
use crate::inventory::rollout::MaxUnavailable;
use crate::inventory::template::{NameTemplateError, fault};
use crate::inventory::value::Duration;

/// What the file of a set says, as far as it could be read.
#[derive(Debug)]
pub struct PodSetDocument {
    /// Its id and place; `None` where it has no readable id.
    pub id: Option<(String, Origin)>,
    /// How many characters the id takes.
    pub id_width: usize,
    /// The project that it names, where zonewright.toml has it; its number counts the projects of zonewright.toml.
    pub project: Option<ProjectIndex>,
    /// The settings, where the file has no error.
    pub terms: Option<Box<PodSetTerms>>,
    /// Where the first fault is, where there is one.
    pub fault: Option<Origin>,
    /// All that was found.
    pub diagnostics: Diagnostics,
}

/// How the name is made that stays with a pod, where nothing says.
const CONSTANT: &str = "{pod}";

/// How the name of a placement is made where nothing says.
const TRANSIENT: &str = "{pod}-{placement}";

/// How long a pod stays at one place where nothing says.
const MIN_INTERVAL: Duration = Duration::from_secs(3600);

/// The fields of the name that stays with a pod.
const OF_CONSTANT: [PodField; 4] = [PodField::Pod, PodField::Node, PodField::Rack, PodField::Location];

/// The fields of the name of a placement.
const OF_TRANSIENT: [PodField; 5] =
    [PodField::Pod, PodField::Placement, PodField::Node, PodField::Rack, PodField::Location];

/// The most characters of the name or the protocol of an endpoint: a label has one more, for the underscore.
const MAX_SERVICE: usize = 62;

/// What the files of sets are read by.
#[derive(Debug, Clone, Copy)]
pub struct PodSetContext<'a> {
    /// `[project.X]`, by id.
    pub admins: &'a BTreeMap<String, ProjectAdmin>,
    /// What rollouts may ask.
    pub health: &'a HealthChecks,
}

/// Checks the tree of the file of a set.
pub fn read(source: &SourceText, parsed: &SettingsTree, context: PodSetContext<'_>) -> PodSetDocument {
    let mut diagnostics = parsed.faults.clone();
    let mut reader = TableReader::new(&parsed.root, source);
    let id = read_id(&mut reader);
    let id_width = id.map_or(0, |(_, node)| node.width);
    let id = id.map(|(id, node)| (id.to_owned(), node.origin));
    let (mut project, mut terms) = (None, None);
    if parsed.whole {
        project = read_project(&mut reader, context.admins);
        let origin = id.as_ref().map_or(Origin::line(source.file, 1), |(_, origin)| *origin);
        terms = read_terms(&mut reader, project, origin, context);
        diagnostics.append(reader.finish());
    }
    let fault = diagnostics.iter().map(|diagnostic| diagnostic.origin).min();
    if id.is_none() || fault.is_some() {
        terms = None;
    }
    let project = project.map(|project| project.index);
    PodSetDocument { id, id_width, project, terms: terms.map(Box::new), fault, diagnostics }
}

/// Reads `id`.
fn read_id<'a>(reader: &mut TableReader<'a>) -> Option<(&'a str, &'a SettingsNode)> {
    let node = reader.require("id")?;
    let id = reader.text_of(node)?;
    if !is_set_id(id) {
        let message = format!("`{id}` cannot be the id of a set");
        let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(diagnostic.hint("an id is letters, digits, `-`, `_` and `.`"));
        return None;
    }
    Some((id, node))
}

/// A project that zonewright.toml has.
#[derive(Debug, Clone, Copy)]
struct KnownProject<'a> {
    /// Its number in zonewright.toml.
    index: ProjectIndex,
    /// Its id.
    id: &'a str,
    /// What zonewright.toml says.
    admin: &'a ProjectAdmin,
}

/// Reads `project`.
fn read_project<'c>(
    reader: &mut TableReader<'_>,
    admins: &'c BTreeMap<String, ProjectAdmin>,
) -> Option<KnownProject<'c>> {
    let node = reader.require("project")?;
    let id = reader.text_of(node)?;
    let found = admins.iter().enumerate().find(|(_, (own, _))| own.as_str() == id);
    if found.is_none() {
        let message = format!("zonewright.toml has no `[project.{id}]`");
        let hint = did_you_mean(id, admins.keys().map(String::as_str));
        let hint = hint.unwrap_or_else(|| format!("correct it, or ask the administrator for `[project.{id}]`"));
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.rule("the switches, policy, limits and domains of a project hold for its sets").hint(hint));
    }
    found.map(|(place, (id, admin))| KnownProject { index: ProjectIndex(place as u32), id, admin })
}

/// Reads all but `id` and `project`; `None` where something that must be there is not, which has been reported then.
fn read_terms(
    reader: &mut TableReader<'_>,
    project: Option<KnownProject<'_>>,
    origin: Origin,
    context: PodSetContext<'_>,
) -> Option<PodSetTerms> {
    let domain = read_domain(reader, project);
    let names = read_names(reader);
    let ttl = reader.take_entry("ttl").and_then(|(key, node)| Some((read_ttl(node, reader)?, key.origin)));
    let ttl: Option<(Ttl, Origin)> = ttl;
    let budget = match reader.take("unavailability_budget") {
        Some(node) => read_budget(node, "pods", reader).map(|max| UnavailabilityBudget { max, origin: node.origin }),
        None => Some(UnavailabilityBudget { max: MaxUnavailable::Number(1), origin }),
    };
    let words: Vec<(&str, PodMigration)> = PodMigration::ALL.iter().map(|word| (word.as_str(), *word)).collect();
    let migration = reader.choice("migration", &words).unwrap_or(PodMigration::Move);
    let min_interval = reader.parsed("min_interval", A_DURATION).unwrap_or(MIN_INTERVAL);
    let rollout = rollout::read_of_set(reader, budget, context.health);
    let endpoints = read_endpoints(reader);
    let DomainSetting { domain, origin: domain_origin } = domain?;
    let NamePair { constant, transient } = names?;
    Some(PodSetTerms {
        project: project?.index,
        domain,
        constant,
        transient,
        ttl,
        rollout: rollout?,
        migration,
        min_interval,
        endpoints,
        origin,
        domain_origin,
    })
}

/// The domain of a set.
struct DomainSetting {
    /// The domain.
    domain: Name,
    /// Where it is written.
    origin: Origin,
}

/// Reads `domain`.
fn read_domain(reader: &mut TableReader<'_>, project: Option<KnownProject<'_>>) -> Option<DomainSetting> {
    let node = reader.require("domain")?;
    let text = reader.text_of(node)?;
    let domain = match Name::parse_host(text) {
        Ok(domain) if domain != Name::root() => domain,
        Ok(_) => {
            reader.error(node, "bad-name", "the root zone has no pods");
            return None;
        }
        Err(error) => {
            reader.error(node, "bad-name", format!("`{text}` is not a domain name: {error}"));
            return None;
        }
    };
    if let Some(KnownProject { id, admin, .. }) = project.filter(|project| !project.admin.contains(domain.as_name())) {
        let own: Vec<String> =
            std::iter::once(&admin.dns_domain).chain(&admin.also_domains).map(|own| format!("`{own}`")).collect();
        let message = format!("`{domain}` is not at or below a domain of project `{id}`");
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(
            error
                .rule("a set has its names at or below a domain of its project")
                .hint(format!("the domains of the project are {}", own.join(", "))),
        );
    }
    Some(DomainSetting { domain, origin: node.origin })
}

/// How the pods of a set are named.
struct NamePair {
    /// The name that stays.
    constant: PodTemplate,
    /// That of a placement.
    transient: PodTemplate,
}

/// Reads `names`, or takes the defaults.
fn read_names(reader: &mut TableReader<'_>) -> Option<NamePair> {
    let default = |text, fields: &[PodField]| PodTemplate::parse(text, fields).expect("the default is a template");
    let (constant, transient) = (default(CONSTANT, &OF_CONSTANT), default(TRANSIENT, &OF_TRANSIENT));
    let Some(node) = reader.take("names") else { return Some(NamePair { constant, transient }) };
    let mut names = TableReader::new(node, reader.source());
    let constant = match names.take("constant") {
        Some(node) => template_text::read_node(node, &mut names, parse_constant),
        None => Some(constant),
    };
    let node = names.take("transient");
    let transient = match node {
        Some(node) => template_text::read_node(node, &mut names, parse_transient),
        None => Some(transient),
    };
    if let (Some(constant), Some(transient), Some(node)) = (&constant, &transient, node)
        && constant.to_string().eq_ignore_ascii_case(&transient.to_string())
    {
        let message = format!("`{transient}` is the template of both names");
        let error = names.source().error("bad-template", node.origin, node.width, message);
        names.push(
            error
                .rule("the constant name of a pod and the name of its placement must differ")
                .hint("write `{pod}-{placement}` for the one that each placement has"),
        );
    }
    reader.append(names.finish());
    Some(NamePair { constant: constant?, transient: transient? })
}

/// Parses the template of the name that stays.
fn parse_constant(text: &str) -> Result<PodTemplate, NameTemplateError> {
    let template = PodTemplate::parse(text, &OF_CONSTANT)?;
    check_has_pod(text, &template)?;
    Ok(template)
}

/// Parses the template of the name of a placement.
fn parse_transient(text: &str) -> Result<PodTemplate, NameTemplateError> {
    let template = PodTemplate::parse(text, &OF_TRANSIENT)?;
    check_has_pod(text, &template)?;
    let of_place = [PodField::Placement, PodField::Node, PodField::Rack, PodField::Location];
    if !of_place.into_iter().any(|field| template.has(field)) {
        let message = "it has no field of the place (`{placement}`, `{node}`, `{rack}` or `{location}`), so that two placements have one name";
        return Err(fault(0, text.chars().count(), message));
    }
    Ok(template)
}

/// Says that a template has no `{pod}`.
fn check_has_pod(text: &str, template: &PodTemplate) -> Result<(), NameTemplateError> {
    let is_whole = template.has(PodField::Pod);
    let message = "it has no `{pod}`, which both names need, so that all pods of the set have one name";
    is_whole.then_some(()).ok_or_else(|| fault(0, text.chars().count(), message))
}

/// Reads `endpoints`.
fn read_endpoints(reader: &mut TableReader<'_>) -> Vec<EndpointSpec> {
    let mut endpoints: Vec<EndpointSpec> = Vec::new();
    for node in reader.list("endpoints").unwrap_or_default() {
        let mut table = TableReader::new(node, reader.source());
        let name = table.require("name");
        let read = read_endpoint(name, node.origin, &mut table);
        if let (Some(endpoint), Some(name)) = (&read, name)
            && let Some(twin) = endpoints.iter().find(|other| is_one_srv(other, endpoint))
        {
            let message = format!("`_{}._{}` may be the name of two endpoints", endpoint.name, endpoint.protocol);
            let error = table.source().error("bad-value", name.origin, name.width, message);
            let other = format!("the other is `_{}._{}` on line {}", twin.name, twin.protocol, twin.origin.line);
            table.push(
                error.also(other).rule("an endpoint has a name and protocol of its own").hint("rename one of them"),
            );
        }
        reader.append(table.finish());
        endpoints.extend(read);
    }
    endpoints
}

/// Whether two endpoints may be one SRV RRset.
fn is_one_srv(one: &EndpointSpec, other: &EndpointSpec) -> bool {
    let gives = |one: &EndpointSpec, other: &EndpointSpec| {
        let label = other.name.label(&PodFields::default());
        label.is_ok_and(|label| one.name.may_give(label.as_bytes()))
    };
    let is_same = one.name.to_string().eq_ignore_ascii_case(&other.name.to_string());
    one.protocol == other.protocol && (is_same || gives(one, other) || gives(other, one))
}

/// Reads one endpoint; its `name` was taken.
fn read_endpoint(name: Option<&SettingsNode>, origin: Origin, table: &mut TableReader<'_>) -> Option<EndpointSpec> {
    let name = name.and_then(|node| template_text::read_node(node, table, parse_service));
    let protocol = table.require("protocol").and_then(|node| read_protocol(node, table));
    let port = table.require("port").and_then(|node| read_port(node, table));
    let states = table.take("states").map_or_else(|| vec![PodState::Active], |node| read_states(node, table));
    let labels = table.take("labels").map(|node| read_labels(node, table)).unwrap_or_default();
    Some(EndpointSpec { name: name?, protocol: protocol?, port: port?, states, labels, origin })
}

/// Parses the name of an endpoint.
fn parse_service(text: &str) -> Result<PodTemplate, NameTemplateError> {
    let template = PodTemplate::parse(text, &[PodField::Location])?;
    if text.starts_with('_') {
        return Err(fault(0, 1, "an underscore, which zonewright writes in front itself"));
    }
    let label = template.label(&PodFields::default());
    if label.is_ok_and(|label| label.len() > MAX_SERVICE) {
        return Err(fault(0, text.chars().count(), format!("a name of more than {MAX_SERVICE} characters")));
    }
    Ok(template)
}

/// Reads the protocol of an endpoint.
fn read_protocol(node: &SettingsNode, table: &mut TableReader<'_>) -> Option<Box<str>> {
    let Some(text) = node.as_text().filter(|_| !node.is_null()) else {
        table.wrong_type(node, "a protocol");
        return None;
    };
    let is_plain = text.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-');
    if text.is_empty() || text.len() > MAX_SERVICE || !is_plain {
        let error = table.source().error("bad-value", node.origin, node.width, format!("`{text}` is not a protocol"));
        table.push(error.hint("write letters, digits and hyphens, without the underscore, such as `tcp`"));
        return None;
    }
    Some(text.to_ascii_lowercase().into())
}

/// Reads a port.
fn read_port(node: &SettingsNode, table: &mut TableReader<'_>) -> Option<u16> {
    let number = table.integer_of(node)?;
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    if port.is_none() {
        table.error(node, "bad-value", format!("`{number}` is not a port, which is 1 to 65535"));
    }
    port
}

/// Reads the states in which a pod is listed, each once.
fn read_states<'a>(node: &'a SettingsNode, table: &mut TableReader<'a>) -> Vec<PodState> {
    let items = table.list_of(node).unwrap_or_default();
    if items.is_empty() && matches!(node.value, SettingsValue::List(_)) {
        table.error(node, "bad-value", "an endpoint with no state lists no pod");
    }
    // A pod that is down has no address to list.
    let states = PodState::ALL.iter().filter(|state| !state.is_down());
    let words: Vec<(&str, PodState)> = states.map(|state| (state.as_str(), *state)).collect();
    let mut read: Vec<PodState> = items.iter().filter_map(|item| table.choice_of(item, &words)).collect();
    read.sort_unstable();
    read.dedup();
    read
}

/// Reads the labels of an endpoint, sorted by key.
fn read_labels(node: &SettingsNode, outer: &mut TableReader<'_>) -> Vec<(String, String)> {
    let mut table = TableReader::new(node, outer.source());
    let mut labels = Vec::new();
    for (key, node) in table.take_all() {
        labels.extend(table.text_of(node).map(|text| (key.name.clone(), text.to_owned())));
    }
    outer.append(table.finish());
    labels.sort_unstable();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::yaml;

    /// What is wrong in a set with one more line.
    fn faults(line: &str) -> Vec<String> {
        let admin = ProjectAdmin {
            dns_domain: Name::parse("example.net").unwrap(),
            also_domains: Vec::new(),
            automation_allowed: true,
            keep_edits: false,
            approvals: None,
            origin: Origin::line(Files::default().add("toml"), 1),
        };
        let admins = BTreeMap::from([("p".to_owned(), admin)]);
        let text = format!("id: s\nproject: p\ndomain: s.example.net\n{line}\n");
        let source = SourceText { file: Files::default().add("set"), text };
        let context = PodSetContext { admins: &admins, health: &HealthChecks::default() };
        let document = read(&source, &yaml::parse(&source), context);
        assert_eq!(document.terms.is_none(), document.fault.is_some(), "{line}");
        document.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
    }

    #[test]
    fn endpoints_that_may_be_one_are_refused() {
        let two = |one: &str, other: &str| {
            faults(&format!(
                "endpoints: [{{name: '{one}', protocol: tcp, port: 1}}, {{name: '{other}', protocol: TCP, port: 2}}]"
            ))
        };
        assert_eq!(two("http", "HTTP"), ["bad-value: `_HTTP._tcp` may be the name of two endpoints"]);
        assert_eq!(two("h-{location}", "h-sas").len(), 1);
        assert_eq!(two("h-sas", "h-{location}").len(), 1);
        assert_eq!(two("h-{location}", "g-sas"), [""; 0]);
    }

    #[test]
    fn templates_need_their_fields() {
        for (constant, transient, wrong) in [
            ("{pod}", "{pod}-{placement}", false),
            ("{pod}-{rack}", "{pod}-{node}", false),
            ("{node}", "{pod}-{node}", true),
            ("{pod}-{placement}", "{pod}-{node}", true),
            ("{pod}", "{pod}-x", true),
            ("{pod}-{Node}", "{pod}-{node}", true),
            ("{pod}-{node}", "{pod}-{node}", true),
        ] {
            let found = faults(&format!("names: {{constant: '{constant}', transient: '{transient}'}}"));
            assert_eq!(found.len(), usize::from(wrong), "{constant} {transient}: {found:?}");
        }
    }

    #[test]
    fn a_budget_is_beside_the_rollout() {
        assert_eq!(faults("unavailability_budget: 5%\nrollout: {canary: 1}"), [""; 0]);
        assert_eq!(faults("rollout: {max_unavailable: 1}"), ["bad-value: the budget of a set is not in `rollout`"]);
        assert_eq!(
            faults("unavailability_budget: two"),
            ["bad-value: `two` is neither a number of pods, such as `2`, nor a share, such as `5%`"]
        );
    }
}
