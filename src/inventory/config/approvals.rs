//! The approvals that `[project.X]` of zonewright.toml asks for.

use std::collections::HashMap;

use super::shared::A_DURATION;
use crate::diag::did_you_mean;
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::{CmsAction, CmsService};
use crate::inventory::node::{SettingsNode, TableReader};
use crate::inventory::value::Duration;

/// How many hosts of a project may be busy at a time where `max_busy_hosts` does not say.
const MAX_BUSY_HOSTS: usize = 5;

/// How many hosts are asked for ahead where `ask_ahead` does not say.
const ASK_AHEAD: usize = 10;

/// How long services are asked for a host where `give_up` does not say: a day.
const GIVE_UP: Duration = Duration::from_secs(86_400);

/// The keys that mean nothing without `cms`.
const REST: [&str; 4] = ["cms_actions", "max_busy_hosts", "ask_ahead", "give_up"];

/// What services may be asked for.
const ACTIONS: [CmsAction; 3] = [CmsAction::TemporaryUnreachable, CmsAction::Prepare, CmsAction::Deactivate];

/// Reads `cms` of a project and what goes with it; none where there is no `cms`, or where it has an error. `services` are
/// those of zonewright.toml that can be used.
pub fn read(project: &mut TableReader<'_>, services: &[CmsService]) -> Option<ApprovalTerms> {
    let Some(node) = project.take("cms") else {
        for key in REST {
            if let Some(node) = project.take(key) {
                let message = format!("`{key}` says how services are asked, and no `cms` says which");
                let error = project.source().error("bad-value", node.origin, node.width, message);
                project.push(error.hint("write `cms = [\"NAME\"]` of a `[cms.NAME]`, or leave the key out"));
            }
        }
        return None;
    };
    let services = read_services(node, services, project);
    let actions = project.take("cms_actions").map_or(Some(vec![CmsAction::TemporaryUnreachable]), |node| {
        let items = project.list_of(node)?;
        let words: Vec<(&str, CmsAction)> = ACTIONS.iter().map(|action| (action.as_str(), *action)).collect();
        let actions: Vec<CmsAction> = items.iter().filter_map(|item| project.choice_of(item, &words)).collect();
        if items.is_empty() {
            let message = "without an action no service is ever asked";
            let error = project.source().error("bad-value", node.origin, node.width, message);
            project.push(error.hint("name actions, or leave out `cms`"));
        }
        Some(actions)
    });
    let max_busy_hosts = read_number(project, "max_busy_hosts", 1).unwrap_or(MAX_BUSY_HOSTS);
    let ask_ahead = read_number(project, "ask_ahead", 0).unwrap_or(ASK_AHEAD);
    let give_up = project.parsed::<Duration>("give_up", A_DURATION).unwrap_or(GIVE_UP);
    Some(ApprovalTerms {
        services: services?,
        actions: actions?,
        max_busy_hosts,
        ask_ahead,
        give_up,
        origin: node.origin,
    })
}

/// Reads the names of services, each once; gives them in the order in which they are asked.
fn read_services<'a>(
    node: &'a SettingsNode,
    services: &[CmsService],
    project: &mut TableReader<'a>,
) -> Option<Vec<String>> {
    let items = project.list_of(node)?;
    let mut asked: Vec<&str> = Vec::new();
    let mut urls: HashMap<&str, &str> = HashMap::new();
    for item in items {
        let Some(name) = project.text_of(item) else { continue };
        let service = services.iter().find(|service| service.name == name);
        let same = service.and_then(|service| urls.insert(&service.url, name));
        if asked.contains(&name) {
            project.error(item, "bad-value", format!("`{name}` is there twice, and each service is asked once"));
        } else if service.is_none() && name != DEFAULT_SERVICE {
            let message = format!("zonewright.toml has no `[cms.{name}]`");
            let known = services.iter().map(|service| service.name.as_str()).chain([DEFAULT_SERVICE]);
            let hint = did_you_mean(name, known);
            let hint = hint.unwrap_or_else(|| format!("add `[cms.{name}]` with `url` and `version`, or leave it out"));
            let error = project.source().error("bad-value", item.origin, item.width, message);
            project.push(error.hint(hint));
        } else if let Some(same) = same {
            let message = format!("`{name}` and `{same}` have one URL, and each service is asked once");
            let error = project.source().error("bad-value", item.origin, item.width, message);
            project.push(error.hint("leave out one of them"));
        } else {
            asked.push(name);
        }
    }
    if items.is_empty() {
        project.error(node, "bad-value", "`cms` names no service");
    }
    // The service that is built in comes last: a host is busy from its `ok` on.
    asked.sort_unstable_by_key(|name| (*name == DEFAULT_SERVICE, *name));
    (!asked.is_empty()).then(|| asked.into_iter().map(str::to_owned).collect())
}

/// Reads a whole number from `least` on.
fn read_number(project: &mut TableReader<'_>, key: &'static str, least: usize) -> Option<usize> {
    let (node, number) = project.integer(key)?;
    let found = usize::try_from(number).ok().filter(|number| *number >= least);
    if found.is_none() {
        project.error(node, "bad-value", format!("`{number}` is too small: the least is {least}"));
    }
    found
}
