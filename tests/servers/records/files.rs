//! Apps, lists and DNS update records as the files of a workspace.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::expected::{Stated, StatedApp, StatedList, StatedPolicy, StatedRecord};

/// The folders whose files people write here.
const FOLDERS: [&str; 4] = ["apps", "clusters", "dns-update-records", "logical-clouds"];

/// What is said of a record next to what is published: where its server is, by the name of the record.
#[derive(Debug, Default)]
pub struct Places(pub BTreeMap<String, Place>);

/// Where the server of a record is.
#[derive(Debug, Clone)]
pub struct Place {
    /// The provider.
    pub provider: &'static str,
    /// The parameters that say where.
    pub parameters: String,
    /// The lines of the administrator's table.
    pub table: String,
}

/// Writes all files anew, and none else.
pub fn write(workspace: &Path, settings: &str, stated: &Stated, places: &Places) {
    for folder in FOLDERS {
        let folder = workspace.join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder");
    }
    let put = |name: String, text: String| fs::write(workspace.join(name), text).expect("a file");
    for app in &stated.apps {
        put(format!("apps/{}.yaml", app.name), app_text(app));
    }
    for list in &stated.lists {
        let folder = if list.is_cluster { "clusters" } else { "logical-clouds" };
        put(format!("{folder}/{}.yaml", list.of), list_text(list));
    }
    let mut settings = settings.to_owned();
    for record in &stated.records {
        let Place { provider, parameters, table } = &places.0[&record.name];
        put(format!("dns-update-records/{}.yaml", record.name), record_text(record, provider, parameters));
        write!(settings, "[dns_update_record.{}]\nproject = \"web\"\n{table}", record.name).expect("a String grows");
    }
    put("zonewright.toml".to_owned(), settings);
    put(
        "web.yaml".to_owned(),
        format!("id: web\nvlan_scheme: none\nttl: {}\nautomation: true\npolicy: sync\n", stated.ttl),
    );
}

/// The file of an app.
fn app_text(app: &StatedApp) -> String {
    let StatedApp { name, namespace, cloud, services } = app;
    let mut text = format!(
        "app: {name}\nbundle: {name}-bundle\nversion: v1\nprofile: prod\nnamespace: {namespace}\nlogical_cloud: {cloud}\n"
    );
    if services.is_empty() {
        return text + "services: []\n";
    }
    text += "services:\n";
    for service in services {
        text += &format!("  - name: {}\n    hostnames: [{}]\n", service.name, service.hostnames.join(", "));
        text += &service.ttl.map(|ttl| format!("    ttl: {ttl}\n")).unwrap_or_default();
        text += "    addresses:\n";
        for address in &service.addresses {
            let scope = if address.is_public { "public" } else { "cluster" };
            let ips: Vec<String> = address.ips.iter().map(|ip| format!("\"{ip}\"")).collect();
            let cluster = address.cluster;
            text += &format!("      - {{cluster: {cluster}, scope: {scope}, ips: [{}]}}\n", ips.join(", "));
        }
    }
    text
}

/// The file of a list.
fn list_text(list: &StatedList) -> String {
    let pairs: Vec<String> = list.records.iter().map(|record| format!("{{dns: {record}}}")).collect();
    format!("metadata: {{name: {}-names}}\nspec: {{kv: [{}]}}\n", list.of, pairs.join(", "))
}

/// The file of a record.
fn record_text(record: &StatedRecord, provider: &str, parameters: &str) -> String {
    let policy = match record.policy {
        StatedPolicy::Sync => "sync",
        StatedPolicy::UpsertOnly => "upsert-only",
    };
    let mut text = format!(
        "metadata: {{name: {}}}\nspec:\n  provider: {provider}\n  external-dns-parameters:\n    policy: {policy}\n    \
         registry: txt\n    txt-owner-id: {}\n{parameters}",
        record.name, record.owner
    );
    for (key, value) in [("txt-prefix", record.prefix), ("txt-suffix", record.suffix)] {
        if !value.is_empty() {
            text += &format!("    {key}: \"{value}\"\n");
        }
    }
    for (key, domains) in [("domain-filter", &record.only), ("exclude-domains", &record.without)] {
        if !domains.is_empty() {
            text += &format!("    {key}: [{}]\n", domains.join(", "));
        }
    }
    if record.is_broken {
        text += "    fqdn-template: \"{{.Name}}.example.com\"\n";
    }
    text
}
