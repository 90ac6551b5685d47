//! A workspace with records, lists and apps, and a folder of manifests in memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use zonewright::external_dns::folder::{FolderContent, FolderPlan, steps};
use zonewright::external_dns::wishes::{FolderWishes, wishes};
use zonewright::inventory::load_workspace;
use zonewright::inventory::model::Inventory;
use zonewright::inventory::value::Time;

/// The clock of all tests.
pub const NOW: &str = "2026-11-20T02:00:00Z";

/// The label of records.
pub const LABEL: &str = "zonewright.dev/dns-update-record";

/// The image of external-dns.
pub const IMAGE: &str = "registry.k8s.io/external-dns/external-dns:v0.22.0";

/// The settings in front of the tables of records.
const SETTINGS: &str = "\
owner = \"fleet-dns\"
registry = \"txt\"
[sources]
projects = \"projects/*.yaml\"
hosts = \"none\"
dns_update_records = \"records/*.yaml\"
record_lists = [\"logical-clouds/*.yaml\", \"clusters/*.yaml\"]
apps = \"apps/*.yaml\"
[project.web]
dns_domain = \"example.net\"
automation = \"allowed\"
";

/// The record `edge`.
pub const EDGE: &str = "\
metadata: {name: edge}
spec:
  provider: rfc2136
  external-dns-parameters:
    rfc2136-host: 192.0.2.1
    rfc2136-zone: example.net
    rfc2136-insecure: true
    policy: sync
    txt-owner-id: shop
";

/// A workspace in a folder of its own.
pub struct Workspace {
    pub folder: tempfile::TempDir,
}

impl Workspace {
    /// A workspace with these tables of records, the record `edge`, a list of `lc1` that names it, and one app that publishes
    /// nothing.
    pub fn new(tables: &str) -> Workspace {
        let workspace = Workspace { folder: tempfile::tempdir().expect("a folder") };
        workspace.write("zonewright.toml", &format!("{SETTINGS}{tables}"));
        workspace.write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: true\npolicy: create-only\n");
        workspace.write("records/edge.yaml", EDGE);
        workspace.write("logical-clouds/lc1.yaml", &list(&["edge"]));
        workspace.write("clusters/none.yaml", &list(&[]));
        workspace.write("apps/idle.yaml", &app("idle", "idle", &[]));
        workspace
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).expect("the file is there");
    }

    /// Adds settings to the sources, and tables at the end.
    pub fn add_settings(&self, of_sources: &str, tables: &str) {
        let text = fs::read_to_string(self.path().join("zonewright.toml")).expect("settings");
        let text = text.replace("[sources]\n", &format!("[sources]\n{of_sources}"));
        self.write("zonewright.toml", &format!("{text}{tables}"));
    }

    pub fn inventory(&self) -> Inventory {
        let now: Time = NOW.parse().expect("a time");
        load_workspace(self.path(), now, &|_| {}).inventory.expect("settings")
    }

    pub fn wishes(&self) -> FolderWishes {
        wishes(&self.inventory(), IMAGE)
    }
}

/// The table of a record.
pub fn table(record: &str, by: &str) -> String {
    format!("[dns_update_record.{record}]\nproject = \"web\"\nby = \"{by}\"\n")
}

/// A list of records.
pub fn list(records: &[&str]) -> String {
    let pairs: Vec<String> = records.iter().map(|record| format!("{{dns: {record}}}")).collect();
    format!("metadata: {{name: l}}\nspec: {{kv: [{}]}}\n", pairs.join(", "))
}

/// An app in a namespace, with services: their names, hostnames and addresses.
pub fn app(name: &str, namespace: &str, services: &[(&str, &str, &str)]) -> String {
    let service = |(name, hostname, address): &(&str, &str, &str)| {
        format!(
            "\n  - {{name: {name}, hostnames: [{hostname}], ttl: 60, addresses: [{{cluster: c1, scope: public, ips: [{address}]}}]}}"
        )
    };
    let services: String = services.iter().map(service).collect();
    let services = if services.is_empty() { " []".to_owned() } else { services };
    format!(
        "app: {name}\nbundle: {name}-bundle\nversion: v1\nprofile: prod\nnamespace: {namespace}\nlogical_cloud: lc1\nservices:{services}\n"
    )
}

/// A folder of manifests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifests(pub BTreeMap<String, String>);

impl Manifests {
    /// One call, of which at most so many steps are carried out.
    pub fn call(&mut self, wishes: &FolderWishes, most: usize) -> FolderPlan {
        let content = FolderContent { texts: self.0.clone(), ..FolderContent::default() };
        let plan = steps(wishes, &content, LABEL);
        for step in plan.steps.iter().take(most) {
            match &step.text {
                Some(text) => drop(self.0.insert(step.file.clone(), text.clone())),
                None => assert!(self.0.remove(&step.file).is_some(), "only what is there is removed"),
            }
        }
        plan
    }

    /// The names of the files.
    pub fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

/// What a folder without any manifest would get.
pub fn fresh(wishes: &FolderWishes) -> Manifests {
    let mut folder = Manifests::default();
    folder.call(wishes, usize::MAX);
    folder
}
