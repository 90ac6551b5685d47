//! `[cms.X]` of zonewright.toml.

use std::time;

use super::notify::is_url;
use super::shared::A_DURATION;
use crate::inventory::approvals::DEFAULT_SERVICE;
use crate::inventory::cms::{CmsService, CmsVersion};
use crate::inventory::node::{SettingsKey, SettingsNode, TableReader};
use crate::inventory::value::Duration;

/// How long one request may take where `timeout` does not say, and at most: a run waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads all services by their names; a wrong one is reported and has its name alone.
pub fn read(reader: &mut TableReader<'_>) -> Vec<(String, Option<CmsService>)> {
    let mut services: Vec<(String, Option<CmsService>)> = Vec::new();
    let Some(node) = reader.take("cms") else { return services };
    let mut table = TableReader::new(node, reader.source());
    for (key, node) in table.take_all() {
        if key.name == DEFAULT_SERVICE {
            let error =
                table.source().error("bad-value", key.origin, key.width, "`default` is the service that is built in");
            table.push(error.hint("give this service another name"));
        } else if !super::is_id(&key.name) {
            let message = format!("`{}` cannot be the name of a service", key.name);
            table.push(table.source().error("bad-value", key.origin, key.width, message).hint(super::ID_HINT));
        }
        let mut own = TableReader::new(node, table.source());
        services.push((key.name.clone(), read_service(&mut own, key)));
        table.append(own.finish());
    }
    reader.append(table.finish());
    services
}

/// Reads a service.
fn read_service(service: &mut TableReader<'_>, key: &SettingsKey) -> Option<CmsService> {
    let url = service.require("url").and_then(|node| read_url(service, node));
    let versions: Vec<(&str, CmsVersion)> =
        CmsVersion::ALL.iter().map(|version| (version.as_str(), *version)).collect();
    let version = service.require("version").and_then(|node| service.choice_of(node, &versions));
    let token = service.take("token").cloned();
    let timeout = service.take("timeout").and_then(|node| read_timeout(service, node)).unwrap_or(TIMEOUT);
    Some(CmsService {
        name: key.name.clone(),
        url: url?,
        version: version?,
        token,
        timeout: time::Duration::from_secs(timeout.as_secs()),
        origin: key.origin,
    })
}

/// Reads `url`, to which `/tasks/` is added.
fn read_url(service: &mut TableReader<'_>, node: &SettingsNode) -> Option<String> {
    let text = node.as_text().filter(|text| is_url(text) && !text.contains(['?', '#', '@']));
    if text.is_none() {
        let error = service.source().error("bad-value", node.origin, node.width, "`url` is not the URL of a service");
        service.push(error.hint("write `https://` or `http://`, a host and a path, without `?`, `#` or a password"));
    }
    text.map(|text| text.trim_end_matches('/').to_owned())
}

/// Reads `timeout`.
fn read_timeout<'a>(service: &mut TableReader<'a>, node: &'a SettingsNode) -> Option<Duration> {
    let timeout = service.parse_node::<Duration>(node, A_DURATION)?;
    let is_right = (1..=TIMEOUT.as_secs()).contains(&timeout.as_secs());
    if !is_right {
        service.error(node, "bad-value", "a timeout is from `1s` to `10s` here: the run waits for it");
    }
    is_right.then_some(timeout)
}
