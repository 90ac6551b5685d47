//! Workspaces without hosts, with one zone in a file and records that manifests state, and what the built binary says of them.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::zonewright;

/// The clock.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The settings of a workspace.
#[derive(Debug, Clone)]
pub struct Settings<'c> {
    /// Our owner id.
    pub owner: &'c str,
    /// The prefix of TXT names, empty where there is none.
    pub prefix: &'c str,
    /// The suffix, the same.
    pub suffix: &'c str,
    /// What takes the place of `*`, the same.
    pub wildcard: &'c str,
    /// The key of encrypted TXT, the same.
    pub key: &'c str,
    /// The zone, without the final dot.
    pub zone: &'c str,
    /// The domains of the project, without the final dot.
    pub domains: Vec<String>,
    /// Names that nothing changes.
    pub protect: Vec<String>,
    /// The types that the manifests state.
    pub types: Vec<String>,
    /// The policy.
    pub policy: &'c str,
}

impl Settings<'_> {
    /// `zonewright.toml`.
    fn text(&self) -> String {
        let forms =
            [("txt_prefix", self.prefix), ("txt_suffix", self.suffix), ("txt_wildcard_replacement", self.wildcard)];
        let set = forms.iter().filter(|(_, value)| !value.is_empty());
        let forms: String = set.map(|(key, value)| format!("{key} = \"{value}\"\n")).collect();
        let key = if self.key.is_empty() { "" } else { "txt_encrypt_aes_key = { secret_file = \"txt.key\" }\n" };
        let (first, others) = self.domains.split_first().expect("a project has a domain");
        format!(
            "owner = \"{owner}\"\nregistry = \"txt\"\n{forms}{key}\n\
             [sources]\nprojects = \"projects/*.yaml\"\nhosts = \"none\"\n\n\
             [[sources.records]]\nname = \"apps\"\nformat = \"dnsendpoint\"\npath = \"manifests.json\"\n\
             project = \"apps\"\nconflicts = \"external-dns\"\nmax_shrink = \"100%\"\nrecord_types = {types:?}\n\n\
             [project.apps]\ndns_domain = \"{first}\"\nalso_domains = {others:?}\nautomation = \"allowed\"\n\n\
             [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\n\
             [[zone]]\nname = \"{zone}\"\npool = \"main\"\npermission = \"own\"\nprotect = {protect:?}\n",
            owner = self.owner,
            types = self.types,
            zone = self.zone,
            protect = self.protect,
        )
    }
}

/// A record of external-dns' tables.
#[derive(Debug, Clone)]
pub struct TableRecord {
    /// Its name in lower case, without the final dot.
    pub name: String,
    /// Its type.
    pub rtype: String,
    /// Its values, as the table has them.
    pub values: Vec<String>,
    /// Its TTL, 0 where none is set.
    pub ttl: u64,
    /// Its owner, empty where it has none.
    pub owner: String,
    /// The manifest that it is of, by namespace and name; none where it has none.
    pub manifest: Option<(String, String)>,
}

impl TableRecord {
    /// Reads a record.
    pub fn of(record: &Value) -> TableRecord {
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let values = record["targets"].as_array().expect("targets are a list").iter();
        let resource = record["resource"].as_str().and_then(|resource| {
            // Some have capital letters, as no manifest has.
            let (rest, name) = resource.rsplit_once('/')?;
            let namespace = rest.rsplit('/').next().unwrap_or(rest);
            Some((namespace.to_lowercase(), name.to_lowercase()))
        });
        TableRecord {
            name: text("dns_name").trim_end_matches('.').to_lowercase(),
            rtype: text("type"),
            values: values.map(|value| value.as_str().expect("a target is text").to_owned()).collect(),
            ttl: record["ttl"].as_u64().expect("a TTL is a number"),
            owner: text("owner"),
            manifest: resource,
        }
    }

    /// Makes one value of several texts.
    pub fn join_strings(&mut self) {
        if self.values.len() > 1 {
            self.values = vec![self.values.iter().map(|value| format!("\"{value}\" ")).collect()];
        }
    }

    /// Its lines in a zone file.
    ///
    /// The tables have names in A records, texts without quotes, and names of hosts without the final dot.
    pub fn lines(&self) -> String {
        let ttl = if self.ttl == 0 { 3600 } else { self.ttl };
        let line = |value: &String| format!("{}. {ttl} {} {}\n", self.name, self.rtype, in_zone(&self.rtype, value));
        self.values.iter().map(line).collect()
    }
}

/// A value of the tables as a master file has it.
fn in_zone(rtype: &str, value: &str) -> String {
    match rtype {
        "A" => value.parse().unwrap_or(Ipv4Addr::new(192, 0, 2, 1)).to_string(),
        "AAAA" => value.to_owned(),
        "TXT" if value.starts_with('"') => value.to_owned(),
        "TXT" => format!("\"{value}\""),
        // The tables leave out the preference.
        "NAPTR" => format!("100 {value}"),
        _ => format!("{}.", value.trim_end_matches('.')),
    }
}

/// A value, so that two texts of one value are the same.
pub fn folded(value: &str) -> String {
    let value = value.trim_end_matches('.').to_lowercase();
    value.parse::<Ipv6Addr>().map_or(value, |address| address.to_string())
}

/// A workspace in a folder.
pub struct Workspace {
    /// The folder.
    folder: TempDir,
}

impl Workspace {
    /// Makes one whose zone has these lines; it states nothing.
    pub fn new(settings: &Settings<'_>, lines: &str) -> Workspace {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).expect("a file");
        for name in ["projects", "zones"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        write("zonewright.toml", &settings.text());
        write("txt.key", settings.key);
        fs::set_permissions(folder.path().join("txt.key"), fs::Permissions::from_mode(0o600)).expect("a mode");
        let project = format!("id: apps\nvlan_scheme: none\nautomation: true\npolicy: {}\n", settings.policy);
        write("projects/apps.yaml", &project);
        let apex =
            "@ 3600 SOA ns.example.org. hostmaster.example.org. 1 7200 900 1209600 300\n@ 3600 NS ns.example.org.\n";
        write(&format!("zones/{}.zone", settings.zone), &format!("$TTL 3600\n{apex}{lines}"));
        let workspace = Workspace { folder };
        workspace.state(&[]);
        workspace
    }

    /// Lets manifests state these records, each that of its resource.
    pub fn state(&self, records: &[TableRecord]) {
        let mut manifests: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
        // A source without any manifest would be unknown.
        manifests.insert(("default".to_owned(), "unnamed".to_owned()), Vec::new());
        for record in records {
            let resource = record.manifest.clone().unwrap_or(("default".to_owned(), "unnamed".to_owned()));
            manifests.entry(resource).or_default().push(json!({
                "dnsName": record.name, "recordType": record.rtype, "recordTTL": record.ttl, "targets": record.values,
            }));
        }
        let items = manifests.into_iter().map(|((namespace, name), endpoints)| {
            json!({
                "apiVersion": "externaldns.k8s.io/v1alpha1",
                "kind": "DNSEndpoint",
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"endpoints": endpoints},
            })
        });
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items.collect::<Vec<_>>()});
        fs::write(self.folder.path().join("manifests.json"), format!("{list:#}")).expect("a file");
    }

    /// Runs a command; it must succeed. What it prints.
    fn run(&self, args: &[&str]) -> String {
        let place = ["-q", "--now", NOW, "-C", self.folder.path().to_str().expect("UTF-8")];
        let args: Vec<String> = place.iter().chain(args).map(|&arg| arg.to_owned()).collect();
        let output = zonewright(&args, Some(1));
        let text = |octets: Vec<u8>| String::from_utf8(octets).expect("UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}\n{stdout}{stderr}");
        stdout
    }

    /// Plans by a command, which is `plan` or `adopt`.
    pub fn plan(&self, command: &[&str]) -> Value {
        let file = self.folder.path().join("plan.json");
        self.run(&[command, &["--out", file.to_str().expect("UTF-8")]].concat());
        serde_json::from_str(&fs::read_to_string(file).expect("a plan")).expect("a plan is JSON")
    }

    /// Applies the latest plan.
    pub fn apply(&self) {
        let file = self.folder.path().join("plan.json");
        self.run(&["apply", file.to_str().expect("UTF-8")]);
    }

    /// What is known about a name.
    pub fn explain(&self, name: &str) -> Value {
        serde_json::from_str(&self.run(&["explain", name, "--format", "json"])).expect("an explanation is JSON")
    }
}
