//! Workspaces, good and bad.

use std::fs;

use super::*;
use crate::diag::{Severity, render};
use crate::dns::Ttl;
use crate::inventory::model::{ClaimAddresses, Permission, Policy, ProjectFile, ProjectSettings, Trust, VlanScheme};
use crate::inventory::pods::{Pod, PodMigration, PodState};
use crate::inventory::rollout::MaxUnavailable;
use crate::inventory::value::{Duration, HbfProjectId, Inv, Percent, Vlan};
use crate::registry::Registry;

/// zonewright.toml with every key there is.
const TOML: &str = r#"owner = "fleet-dns"
registry = "journal"
free_domain = "free.invalid"
name_cooldown = "8d"
max_bad_rows = "50%"
delete_after = "1h"

[state]
url = "sqlite:.zonewright/state.db"

[sources]
projects   = "projects/*.yaml"
hosts      = "racktables/hosts.csv"
l3_tors    = { path = "racktables/l3-tors.txt", max_age = "6h", max_shrink = "10%", max_churn = "5%", min_rows = 1 }
net_layout = { path = ["racktables/net-layout.xml"], digest = "sha256" }
ipv4_map   = "racktables/ipv4-map.txt"

[[sources.mac]]
name = "agent"
path = "agents/agent-*.jsonl"

[[sources.mac]]
name = "eine"
path = ["agents/eine-*.jsonl"]
max_age = "12h"
penalty = "1h"
require_end = true

[project.search]
dns_domain = "search.example.net"
also_domains = ["old.example.net"]
automation = "allowed"

[project.web]
dns_domain = "web.example.net"

[pool.main]
[[pool.main.target]]
type = "rfc2136"
server = "127.0.0.1:5353"
tsig_key = { name = "zonewright.", algorithm = "hmac-sha256", secret_file = "keys/main.secret" }

[pool.demo]
[[pool.demo.target]]
type = "zonefile"
dir = "zones"

[[zone]]
name = "Search.example.net"
pool = "main"
permission = "full"
claim_addresses = "all"
ttl = 600
fence = "marker"
protect = ["www.search.example.net", "db-*"]

[[zone]]
network = "2a02:6b8::/40"
pool = "demo"

[limits]
hosts = [{ period = "1h", max = 200 }, { period = "1d", max = 1000 }]
max_delete = "10%"
max_modify = "30%"
max_by_cause = "20%"

[plan]
expires = "12h"
"#;

/// A project file with every key there is.
const SEARCH: &str = r#"id: search
shortname_template: "{location}-{index:04}"
vlan_scheme: search
vlans:
  main: 604
  fastbone: 761
fastbone_name: "{shortname}-fb"
hbf_project_id: 12e5
ttl: 300
automation: true
policy: sync
limits:
  hosts: [{period: 1h, max: 20}]
"#;

/// The shortest project file.
const WEB: &str = "id: web\nvlan_scheme: static\nvlans: {main: 542}\n";

/// A workspace on disk.
struct Fixture(tempfile::TempDir);

impl Fixture {
    /// A workspace without faults.
    fn new() -> Fixture {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        for (name, text) in [
            ("zonewright.toml", TOML),
            ("projects/search.yaml", SEARCH),
            ("projects/web.yaml", WEB),
            (
                "racktables/hosts.csv",
                "inv,name,project,status,location,queue,rack,switch,port,restrictions\n\
                 1,,web,assigned,sas,,,sas1-s1,,\n2,,search,assigned,sas,,,sas1-s2,,\n",
            ),
            ("racktables/l3-tors.txt", "sas1-s1 542 2a02:6b8:0:1::/64\n"),
            (
                "racktables/net-layout.xml",
                "<net-layout><datacenter name=\"sas\"><vlan id=\"604\"><network>2a02:6b8:0:2::/64</network></vlan></datacenter></net-layout>\n",
            ),
            ("racktables/ipv4-map.txt", "10.0.0.0/8 sas 604 2a02:6b8:0:3::/64\n"),
            ("agents/agent-2.jsonl", "{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":1,\"mac\":\"78e3b5089398\"}\n"),
            (
                "agents/agent-1.jsonl",
                "{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":1,\"mac\":\"78e3b5089398\",\"switch\":\"sas1-s1\"}\n",
            ),
            (
                "agents/eine-1.jsonl",
                "{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":1,\"mac\":\"78e3b5089399\"}\n# end 1\n",
            ),
        ] {
            fixture.write(name, text);
        }
        fixture.write_digest("racktables/net-layout.xml");
        fixture
    }

    /// Writes the digest of a file next to it, as `sha256sum` does.
    fn write_digest(&self, name: &str) {
        let digest = disk::digest(&fs::read(self.0.path().join(name)).unwrap());
        let base = name.rsplit('/').next().unwrap();
        self.write(&format!("{name}.sha256"), format!("{digest}  {base}\n"));
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.0.path().join(name)).unwrap();
    }

    fn load(&self) -> LoadedWorkspace {
        load_workspace(self.0.path(), "2026-11-20T12:00:00Z".parse().unwrap(), &|_| {})
    }
}

/// The errors of a workspace, as text.
fn errors(loaded: &LoadedWorkspace) -> String {
    let mut errors = Diagnostics::default();
    for diagnostic in loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        errors.push(diagnostic.clone());
    }
    render(&errors, loaded.files())
}

fn codes(loaded: &LoadedWorkspace) -> Vec<&'static str> {
    let errors = loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// Loads the good workspace with one change to zonewright.toml.
fn with_toml(from: &str, to: &str) -> LoadedWorkspace {
    assert!(TOML.contains(from), "{from}");
    let fixture = Fixture::new();
    fixture.write("zonewright.toml", TOML.replacen(from, to, 1));
    fixture.load()
}

/// Loads the good workspace with one change to the project `search`.
fn with_project(from: &str, to: &str) -> LoadedWorkspace {
    assert!(SEARCH.contains(from), "{from}");
    let fixture = Fixture::new();
    fixture.write("projects/search.yaml", SEARCH.replacen(from, to, 1));
    fixture.load()
}

/// The settings of a project that must be good.
fn good<'a>(inventory: &'a Inventory, id: &str) -> &'a ProjectSettings {
    let project = inventory.projects.iter().find(|project| project.id == id);
    project.and_then(|project| project.file.settings()).expect("the project is good")
}

#[test]
fn a_workspace_is_read_whole() {
    let loaded = Fixture::new().load();
    assert_eq!(render(&loaded.diagnostics, loaded.files()), "");
    let inventory = loaded.inventory.unwrap();
    let config = &inventory.config;
    let marking = &config.marking;
    assert_eq!((marking.owner.as_str(), marking.registry), ("fleet-dns", Registry::Journal));
    assert_eq!(config.name_cooldown, Duration::from_secs(8 * 86_400));
    assert_eq!(config.plan_expires, Duration::from_secs(43_200));
    let [forward, reverse] = config.zones.as_slice() else { panic!("two zones") };
    assert_eq!((forward.name.to_string().as_str(), forward.origin.line), ("search.example.net.", 48));
    assert_eq!((forward.permission, forward.claim_addresses), (Permission::Full, ClaimAddresses::All));
    assert_eq!((forward.ttl, forward.ttl_origin.map(|origin| origin.line)), (Ttl::from_secs(600), Some(53)));
    assert_eq!(reverse.name.to_string(), "0.0.8.b.6.0.2.0.a.2.ip6.arpa.");
    assert_eq!((reverse.permission, config.pools[reverse.pool].name.as_str()), (Permission::Own, "demo"));
    assert_eq!(config.reference(forward).provider, "rfc2136");

    let ids: Vec<&str> = inventory.projects.iter().map(|project| project.id.as_str()).collect();
    assert_eq!(ids, ["search", "web"]);
    let search = good(&inventory, "search");
    let (main, fastbone) = (Vlan::new(604).unwrap(), Vlan::new(761).unwrap());
    assert_eq!((search.vlans, search.vlans_origin.line), (VlanScheme::Search { main, fastbone }, 4));
    assert_eq!(search.hbf_project_id.map(|(id, origin)| (id, origin.line)), Some((HbfProjectId(0x12e5), 8)));
    assert_eq!((search.automation, search.policy), (true, Policy::Sync));
    let web = good(&inventory, "web");
    assert_eq!((web.policy, web.policy_origin.line, web.ttl, web.hbf_project_id), (Policy::Repair, 1, None, None));

    let projects: Vec<u32> = inventory.hosts.iter().map(|host| host.project.0).collect();
    assert_eq!(projects, [1, 0]);
    let sources: Vec<&str> = inventory.mac_sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources, ["agent", "eine"]);
    let reports: Vec<String> =
        inventory.reports.iter().map(|report| inventory.files.place(report.origin).to_string()).collect();
    assert_eq!(reports, ["agents/agent-1.jsonl:1", "agents/agent-2.jsonl:1", "agents/eine-1.jsonl:1"]);
    assert_eq!(inventory.inputs.len(), 10);
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert!(inventory.inputs.values().all(|digest| digest.len() == 64 && digest != empty));
    assert_eq!(inventory.trust.names_lock, Trust::Known);
}

#[test]
fn for_names_no_more_is_read_than_what_they_come_from() {
    let fixture = Fixture::new();
    fixture.write("racktables/l3-tors.txt", "no row\n");
    fixture.remove("racktables/net-layout.xml");
    let now = "2026-11-20T12:00:00Z".parse().unwrap();
    let loaded = load_extent(fixture.0.path(), WorkspaceExtent::Names, now, &|_| {});
    assert_eq!(codes(&loaded), [""; 0]);
    let (names, whole) = (loaded.inventory.unwrap(), fixture.load().inventory.unwrap());
    assert_eq!(format!("{:?}", names.hosts), format!("{:?}", whole.hosts));
    assert_eq!(names.lock.len(), whole.lock.len());
    assert!(!whole.reports.is_empty() && names.reports.is_empty());
    let trusted: Vec<(&str, bool)> = names.sources().map(|(name, trust)| (name, trust.doubt().is_none())).collect();
    assert_eq!(
        trusted,
        [
            ("projects", true),
            ("hosts", true),
            ("l3_tors", false),
            ("net_layout", false),
            ("ipv4_map", false),
            ("addresses", false),
            ("names.lock", true)
        ]
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let fixture = Fixture::new();
    let rows: String =
        (0..50_000).map(|n| format!("{},,p{},assigned,l{},,,s{},,\n", n % 49_000, n % 9, n % 5, n % 777)).collect();
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    fixture.write("racktables/hosts.csv", format!("{header}{rows}"));
    let load = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let loaded = pool.install(|| fixture.load());
        format!("{:?} {:?}", loaded.inventory.as_ref().map(|inventory| &inventory.hosts), loaded.diagnostics)
    };
    assert!(load(1) == load(3));
}

#[test]
fn any_error_in_zonewright_toml_is_fatal() {
    for (from, to, code) in [
        ("owner = \"fleet-dns\"", "", "missing-key"),
        ("\"fleet-dns\"", "\"a,b\"", "bad-owner"),
        ("\"fleet-dns\"", "\"a\\u0000\"", "bad-owner"),
        ("\"fleet-dns\"", &format!("\"{}\"", "a".repeat(101)), "bad-owner"),
        ("\"fleet-dns\"", "7", "wrong-type"),
        ("registry =", "registri =", "unknown-key"),
        ("\"journal\"", "\"jurnal\"", "bad-value"),
        ("free_domain =", "owner =", "duplicate-key"),
        ("\"free.invalid\"", "\"free invalid\"", "bad-name"),
        ("\"8d\"", "\"eight days\"", "bad-value"),
        ("\"50%\"", "\"50\"", "bad-value"),
        ("\"1h\"", "3600", "wrong-type"),
        ("sqlite:.zonewright/state.db", "redis:", "bad-value"),
        ("url =", "uri =", "unknown-key"),
        ("[sources]", "[sauces]", "unknown-key"),
        ("hosts      =", "host       =", "missing-key"),
        ("\"racktables/hosts.csv\"", "\"../hosts.csv\"", "outside-workspace"),
        ("\"racktables/hosts.csv\"", "\"/etc/hosts\"", "outside-workspace"),
        ("\"racktables/hosts.csv\"", "\"a[\"", "bad-value"),
        ("\"racktables/hosts.csv\"", "[]", "bad-value"),
        ("\"racktables/hosts.csv\"", "7", "wrong-type"),
        ("max_age = \"6h\"", "max_age = \"6\"", "bad-value"),
        ("min_rows = 1", "min_rows = -1", "bad-value"),
        ("name = \"eine\"", "name = \"agent\"", "duplicate-source"),
        ("penalty = \"1h\"", "penalty = \"-1h\"", "bad-value"),
        ("require_end = true", "require_end = \"yes\"", "wrong-type"),
        ("\"web.example.net\"", "\"SEARCH.example.net.\"", "duplicate-domain"),
        ("\"web.example.net\"", "\".\"", "bad-name"),
        ("\"web.example.net\"", "\"FREE.invalid.\"", "bad-value"),
        ("[\"old.example.net\"]", "[\"old.free.invalid\"]", "bad-value"),
        ("\"allowed\"", "\"on\"", "bad-value"),
        ("[\"old.example.net\"]", "\"old.example.net\"", "wrong-type"),
        ("[project.web]", "[project.\"w b\"]", "bad-value"),
        ("[[pool.demo.target]]", "[[pool.main.target]]", "missing-key"),
        ("type = \"zonefile\"", "", "missing-key"),
        ("[[pool.demo.target]]\ntype = \"zonefile\"\ndir = \"zones\"", "target = []", "no-target"),
        ("pool = \"demo\"", "pool = \"dmeo\"", "unknown-pool"),
        ("\"2a02:6b8::/40\"", "\"2a02:6b8::/41\"", "network-boundary"),
        ("\"2a02:6b8::/40\"", "\"10.0.0.0/20\"", "network-boundary"),
        ("\"2a02:6b8::/40\"", "\"2a02:6b8::1/40\"", "network-boundary"),
        ("\"2a02:6b8::/40\"", "\"2a02:6b8::\"", "bad-value"),
        ("network = \"2a02:6b8::/40\"", "name = \"search.EXAMPLE.net.\"", "duplicate-zone"),
        ("\"Search.example.net\"", "\"0.0.8.b.6.0.2.0.a.2.ip6.arpa\"", "duplicate-zone"),
        ("\"Search.example.net\"", "\"a..b\"", "bad-name"),
        ("network = \"2a02:6b8::/40\"", "", "missing-key"),
        ("network = \"2a02:6b8::/40\"", "network = \"2a02:6b8::/40\"\nname = \"a\"", "bad-value"),
        ("permission = \"full\"", "permission = \"all\"", "bad-value"),
        ("ttl = 600", "ttl = -1", "bad-ttl"),
        ("ttl = 600", "ttl = 2147483648", "bad-ttl"),
        ("ttl = 600", "ttl = 600.0", "wrong-type"),
        ("fence = \"marker\"", "fence = \"on\"", "bad-value"),
        ("\"db-*\"", "\"d b\"", "bad-value"),
        ("period = \"1d\"", "perod = \"1d\"", "missing-key"),
        ("max = 200", "max = -200", "bad-value"),
        ("max_delete = \"10%\"", "max_delete = \"110%\"", "bad-value"),
        ("expires = \"12h\"", "expires = \"\"", "bad-value"),
        ("[plan]", "[plan", "toml-syntax"),
        ("[plan]", "\0", "toml-syntax"),
    ] {
        let loaded = with_toml(from, to);
        assert!(loaded.inventory.is_err(), "{to}");
        assert!(codes(&loaded).contains(&code), "{to}: {}", errors(&loaded));
    }
}

#[test]
fn all_errors_in_zonewright_toml_come_at_once() {
    let fixture = Fixture::new();
    let text = TOML.replace("\"fleet-dns\"", "\"a b\"").replace("pool = \"main\"", "pol = \"main\"");
    fixture.write("zonewright.toml", text.replace("ttl = 600", "ttl = 2147483648"));
    insta::assert_snapshot!(errors(&fixture.load()), @r#"
    zonewright.toml:1:9: error[bad-owner]: `a b` cannot be an owner
      1 | owner = "a b"
        |         ^^^^^
        = rule: it is recorded as `heritage=external-dns,external-dns/owner=OWNER` (zonewright help bad-owner)
        = hint: use 1 to 100 bytes without commas, equals signs, quotes, backslashes, blanks and control characters
    zonewright.toml:48:1: error[missing-key]: the key `pool` is missing
      48 | [[zone]]
         = hint: add `pool`
    zonewright.toml:50:1: error[unknown-key]: this table has no key `pol`
      50 | pol = "main"
         | ^^^
         = hint: did you mean `pool`?
    zonewright.toml:53:7: error[bad-ttl]: `2147483648` is not a TTL
      53 | ttl = 2147483648
         |       ^^^^^^^^^^
         = rule: a TTL has 31 bits: 0 to 2147483647 seconds (RFC 2181 section 8) (zonewright help bad-ttl)
         = hint: write the seconds, such as 3600
    "#);
}

#[test]
fn a_workspace_above_the_folder_is_named() {
    let fixture = Fixture::new();
    let folder = fixture.0.path().display().to_string();
    let below =
        |name: &str| load_workspace(&fixture.0.path().join(name), "2026-11-20T12:00:00Z".parse().unwrap(), &|_| {});
    insta::assert_snapshot!(errors(&below("racktables/nowhere")).replace(&folder, "DIR"), @r"
    zonewright.toml: error[source-missing]: no zonewright.toml in `DIR/racktables/nowhere`, which does not exist
        = hint: `DIR` has one: `-C DIR`; `zonewright init DIR` makes a new workspace
    ");
}

#[test]
fn a_source_that_is_too_large_is_not_read() {
    let path = "\"racktables/hosts.csv\"";
    let with_limit = |max: &str| with_toml(path, &format!("{{ path = {path}, max_size = \"{max}\" }}"));
    let shown = errors(&with_limit("64B"));
    assert!(shown.contains("racktables/hosts.csv: error[file-too-large]: the file is larger than 64B\n"), "{shown}");
    assert!(!codes(&with_limit("64KiB")).contains(&"file-too-large"));
    assert_eq!(codes(&with_limit("64MB")), ["bad-value"]);
    // Without the key there is a limit too. The file has holes in place of octets.
    let fixture = Fixture::new();
    let hosts = fs::File::options().write(true).open(fixture.0.path().join("racktables/hosts.csv")).unwrap();
    hosts.set_len((512 << 20) + 1).unwrap();
    assert!(codes(&fixture.load()).contains(&"file-too-large"));
}

#[test]
fn a_folder_without_zonewright_toml_is_no_workspace() {
    let fixture = Fixture::new();
    fixture.remove("zonewright.toml");
    let folder = fixture.0.path().display().to_string();
    insta::assert_snapshot!(errors(&fixture.load()).replace(&folder, "DIR"), @r"
    zonewright.toml: error[source-missing]: no zonewright.toml in `DIR`
        = hint: name the workspace with `-C DIR`; `zonewright init DIR` makes a new one
    ");
    let loaded = load_workspace(&fixture.0.path().join("nowhere"), "2026-11-20T12:00:00Z".parse().unwrap(), &|_| {});
    assert!(loaded.inventory.is_err());
    fixture.write("zonewright.toml", "#".repeat(2 << 20));
    assert_eq!(codes(&fixture.load()), ["file-too-large"]);
    fixture.write("zonewright.toml", b"owner = \"\xff\"\n");
    assert_eq!(codes(&fixture.load()), ["not-utf-8"]);
}

#[test]
fn an_error_in_a_project_file_is_that_projects() {
    for (from, to, code) in [
        ("{location}-{index:04}", "{location}", "bad-template"),
        ("{location}-{index:04}", "{bucket}-{index}", "bad-template"),
        ("vlan_scheme: search", "vlan_scheme: both", "bad-value"),
        ("vlan_scheme: search", "", "missing-key"),
        ("main: 604", "main: 4096", "bad-vlan"),
        ("main: 604", "main: six", "wrong-type"),
        ("main: 604", "main: 761", "same-vlan"),
        ("  fastbone: 761\n", "", "missing-key"),
        ("{shortname}-fb", "{shortname}", "bad-template"),
        ("12e5", "123456789", "bad-project-id"),
        ("12e5", "0x12e5", "bad-project-id"),
        ("12e5", "~", "wrong-type"),
        ("ttl: 300", "ttl: -1", "bad-ttl"),
        ("ttl: 300", "ttl: 2147483648", "bad-ttl"),
        ("automation: true", "automation: yes", "wrong-type"),
        ("policy: sync", "policy: replace", "bad-value"),
        ("policy: sync", "polcy: sync", "unknown-key"),
        ("policy: sync", "id: other", "duplicate-key"),
        ("policy: sync", "<<: {policy: sync}", "yaml-merge-key"),
        ("policy: sync", "policy: &p sync", "yaml-anchor"),
        ("policy: sync", "policy: [", "yaml-syntax"),
        ("period: 1h", "period: hour", "bad-value"),
        ("limits:\n", "---\nlimits:\n", "yaml-documents"),
    ] {
        let loaded = with_project(from, to);
        assert!(codes(&loaded).contains(&code), "{to}: {}", errors(&loaded));
        let inventory = loaded.inventory.expect("a project file is never fatal");
        assert!(matches!(inventory.projects[0].file, ProjectFile::Bad { .. }), "{to}");
        assert_eq!(inventory.projects[0].id, "search");
        good(&inventory, "web");
    }
    let loaded = with_toml("\"journal\"", "\"noop\"");
    assert_eq!(codes(&loaded), ["sync-without-registry"]);
    let loaded = with_project("id: search\n", "");
    assert_eq!(codes(&loaded), ["missing-project", "missing-key"]);
}

#[test]
fn the_place_of_a_fault_in_a_template_is_that_in_the_file() {
    insta::assert_snapshot!(errors(&with_project("{location}-{index:04}", "ä{rack}")), @r#"
    projects/search.yaml:2:22: error[bad-template]: `ä{rack}`: a character that a label may not contain
      2 | shortname_template: "ä{rack}"
        |                      ^
        = rule: the fields of templates and what they need (zonewright help bad-template)
    "#);
    insta::assert_snapshot!(errors(&with_project("\"{location}-{index:04}\"", "x{rack}-{index}")), @r"
    projects/search.yaml:2:22: error[bad-template]: `x{rack}-{index}`: `{rack}` is not a field; there are `{location}`, `{bucket}`, `{index}` and `{index:0N}`
      2 | shortname_template: x{rack}-{index}
        |                      ^^^^^^
        = rule: the fields of templates and what they need (zonewright help bad-template)
    ");
    insta::assert_snapshot!(errors(&with_project("{location}-{index:04}", "\\x61{rack}")), @r#"
    projects/search.yaml:2:21: error[bad-template]: `a{rack}`: `{rack}` is not a field; there are `{location}`, `{bucket}`, `{index}` and `{index:0N}`
      2 | shortname_template: "\x61{rack}"
        |                     ^^^^^^^^^^^^
        = rule: the fields of templates and what they need (zonewright help bad-template)
    "#);
}

#[test]
fn of_two_files_for_one_project_neither_counts() {
    let fixture = Fixture::new();
    fixture.write("projects/twin.yaml", WEB);
    let loaded = fixture.load();
    insta::assert_snapshot!(errors(&loaded), @"
    projects/twin.yaml:1:5: error[duplicate-project]: the project id `web` is in several files
      1 | id: web
        |     ^^^
        = also: the other is projects/web.yaml:1
        = rule: a project has one file; if several files have its id, zonewright uses none of them (zonewright help duplicate-project)
        = hint: give one of them another id, or remove it
    projects/web.yaml:1:5: error[duplicate-project]: the project id `web` is in several files
      1 | id: web
        |     ^^^
        = also: the other is projects/twin.yaml:1
        = rule: a project has one file; if several files have its id, zonewright uses none of them (zonewright help duplicate-project)
        = hint: give one of them another id, or remove it
    ");
    assert!(matches!(loaded.inventory.unwrap().projects[1].file, ProjectFile::Bad { .. }));
}

#[test]
fn projects_that_nothing_defines_are_missing() {
    let fixture = Fixture::new();
    fixture.remove("projects/web.yaml");
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    fixture.write("racktables/hosts.csv", format!("{header}1,,no-one,assigned,sas,,,,,\n2,,a,free,sas,,,,,\n"));
    let loaded = fixture.load();
    assert_eq!(codes(&loaded), ["missing-project"]);
    assert_eq!(loaded.diagnostics.iter().filter(|diagnostic| diagnostic.code.as_str() == "unknown-project").count(), 2);
    let inventory = loaded.inventory.unwrap();
    let ids: Vec<&str> = inventory.projects.iter().map(|project| project.id.as_str()).collect();
    assert_eq!(ids, ["a", "no-one", "search", "web"]);
    assert!(matches!(inventory.projects[3].file, ProjectFile::Missing) && inventory.projects[3].admin.is_some());
    assert_eq!(inventory.hosts.iter().map(|host| host.project.0).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn sources_that_are_not_there_are_unknown() {
    let fixture = Fixture::new();
    for name in ["racktables/hosts.csv", "racktables/l3-tors.txt", "agents/eine-1.jsonl", "projects/search.yaml"] {
        fixture.remove(name);
    }
    fixture.write("racktables/ipv4-map.txt", "");
    fs::create_dir(fixture.0.path().join("names.lock")).unwrap();
    let loaded = fixture.load();
    insta::assert_snapshot!(errors(&loaded), @r#"
    zonewright.toml:13:14: error[source-missing]: source `hosts`: there is no file racktables/hosts.csv
      13 | hosts      = "racktables/hosts.csv"
         |              ^^^^^^^^^^^^^^^^^^^^^^
         = rule: zonewright treats a missing source as unknown, not as empty (zonewright help source-missing)
         = hint: export it, correct the path, or remove the source
    zonewright.toml:14:23: error[source-missing]: source `l3_tors`: there is no file racktables/l3-tors.txt
      14 | l3_tors    = { path = "racktables/l3-tors.txt", max_age = "6h", max_shrink = "10%", max_churn = "5%", min_rows = 1 }
         |                       ^^^^^^^^^^^^^^^^^^^^^^^^
         = rule: zonewright treats a missing source as unknown, not as empty (zonewright help source-missing)
         = hint: export it, correct the path, or remove the source
    zonewright.toml:24:9: error[source-missing]: source `eine`: agents/eine-*.jsonl matches no file
      24 | path = ["agents/eine-*.jsonl"]
         |         ^^^^^^^^^^^^^^^^^^^^^
         = rule: zonewright treats a missing source as unknown, not as empty (zonewright help source-missing)
         = hint: export it, correct the path, or remove the source
    zonewright.toml:29:10: error[missing-project]: no project file has the id `search`
      29 | [project.search]
         |          ^^^^^^
         = rule: a project needs `[project.ID]` in zonewright.toml and a project file of its owner (zonewright help missing-project)
         = hint: add the file, or correct the id; until then its hosts are blocked `bad-input`
    racktables/ipv4-map.txt: error[source-empty]: the file is empty
        = rule: zonewright treats an empty export as unknown, not as a source without rows (zonewright help source-empty)
        = hint: export again
    names.lock: error[source-unreadable]: the file is not a regular file
        = hint: make it a file that can be read
    "#);
    let inventory = loaded.inventory.unwrap();
    let doubts =
        [&inventory.trust.hosts, &inventory.trust.l3_tors, &inventory.trust.ipv4_map, &inventory.trust.names_lock];
    insta::assert_snapshot!(doubts.map(|trust| trust.doubt().unwrap_or("known")).join("\n"), @r"
    source `hosts`: there is no file racktables/hosts.csv
    source `l3_tors`: there is no file racktables/l3-tors.txt
    source `ipv4_map`: racktables/ipv4-map.txt is empty
    source `names.lock`: names.lock is not a regular file
    ");
    assert_eq!(inventory.trust.net_layout, Trust::Known);
    assert_eq!(inventory.mac_sources[0].trust, Trust::Known);
    assert_eq!(inventory.mac_sources[1].trust.doubt(), Some("source `eine`: agents/eine-*.jsonl matches no file"));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_workspace() {
    let elsewhere = Fixture::new();
    let fixture = Fixture::new();
    let path = |name: &str| fixture.0.path().join(name);
    for name in ["racktables/hosts.csv", "projects/web.yaml"] {
        fixture.remove(name);
        std::os::unix::fs::symlink(elsewhere.0.path().join(name), path(name)).unwrap();
    }
    std::os::unix::fs::symlink("nowhere", path("names.lock")).unwrap();
    fs::rename(path("agents"), path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", path("agents")).unwrap();
    let loaded = fixture.load();
    assert_eq!(codes(&loaded), ["missing-project", "outside-workspace", "outside-workspace", "source-missing"]);
    let inventory = loaded.inventory.unwrap();
    assert_eq!(inventory.reports.len(), 3);
    assert_eq!(inventory.trust.hosts.doubt(), Some("source `hosts`: racktables/hosts.csv leads out of the workspace"));
}

#[test]
fn no_cut_of_a_settings_file_panics() {
    let fixture = Fixture::new();
    for end in (0..TOML.len()).step_by(7) {
        fixture.write("zonewright.toml", &TOML[..end]);
        fixture.load();
    }
    fixture.write("zonewright.toml", TOML);
    for end in 0..SEARCH.len() {
        fixture.write("projects/search.yaml", &SEARCH[..end]);
        assert!(fixture.load().inventory.is_ok());
    }
}

/// The workspace with a `digest` demanded of the agents' reports, which any file of the folder is.
fn with_digests() -> Fixture {
    let fixture = Fixture::new();
    fixture.remove("agents/eine-1.jsonl");
    let toml = TOML.replacen("path = \"agents/agent-*.jsonl\"", "path = \"agents/agent*\"\ndigest = true", 1);
    fixture.write(
        "zonewright.toml",
        toml.replacen("agents/eine-*.jsonl", "agents/agent-2.jsonl", 1).replacen(
            "require_end = true",
            "require_end = false",
            1,
        ),
    );
    fixture.write_digest("agents/agent-1.jsonl");
    fixture.write_digest("agents/agent-2.jsonl");
    fixture
}

#[test]
fn a_source_that_agrees_with_its_digests_is_known_and_they_are_no_input() {
    let loaded = with_digests().load();
    assert_eq!(errors(&loaded), "");
    let inventory = loaded.inventory.unwrap();
    assert_eq!(inventory.mac_sources[0].trust, Trust::Known);
    let agents = inventory.exports.iter().find(|export| export.spec.name == "agent").unwrap();
    assert_eq!((agents.files.len(), agents.rows), (2, 2));
    assert!(inventory.inputs.keys().all(|name| !name.contains("sha256")));
}

#[test]
fn a_source_that_does_not_agree_with_its_digest_is_distrusted() {
    let fixture = with_digests();
    fixture.write("agents/agent-2.jsonl", "{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":2,\"mac\":\"78e3b5089398\"}\n");
    fixture.remove("agents/agent-1.jsonl.sha256");
    let loaded = fixture.load();
    insta::assert_snapshot!(errors(&loaded), @"
    agents/agent-1.jsonl: error[digest-missing]: source `agent`: agents/agent-1.jsonl.sha256 is not there, and `digest` demands it
        = rule: with `digest` each file must agree with the `.sha256` file next to it (zonewright help digest-missing)
        = hint: let the exporter write the SHA-256 of the file next to it, as `sha256sum` prints it
    agents/agent-2.jsonl: error[digest-mismatch]: source `agent`: the SHA-256 of agents/agent-2.jsonl is d83c2db85bbe…, and agents/agent-2.jsonl.sha256 says 8e5cda4b7d3f…
        = rule: with `digest` each file must agree with the `.sha256` file next to it (zonewright help digest-mismatch)
        = hint: export or copy both files again
    ");
    let inventory = loaded.inventory.unwrap();
    let reason = "source `agent`: agents/agent-1.jsonl.sha256 is not there, and `digest` demands it".to_owned();
    assert_eq!(inventory.mac_sources[0].trust, Trust::Distrusted { reason });
    // Another source of the same file demands nothing.
    assert_eq!(inventory.mac_sources[1].trust, Trust::Known);
    // What could not even be read whole stays unknown.
    fixture.write("agents/agent-2.jsonl", "");
    let inventory = fixture.load().inventory.unwrap();
    assert!(matches!(inventory.mac_sources[0].trust, Trust::Unknown { .. }));
}

/// The file of a set with every key there is.
const SHOP: &str = r#"id: shop
project: web
domain: shop.web.example.net
names: {constant: "{pod}", transient: "{pod}-{node}"}
ttl: 60
unavailability_budget: 10%
migration: copy-and-remove
min_interval: 2h
rollout: {one_location_at_a_time: false, settle: 5m, canary: 2}
endpoints:
  - {name: "http-{location}", protocol: TCP, port: 8080, states: [active, prepared], labels: {shard: 1, a: b}}
  - {name: grpc, protocol: tcp, port: 9090}
"#;

/// Adds pods to a workspace.
fn with_pods(rows: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("zonewright.toml", TOML.replace("[sources]", "[sources]\npods = \"pods/*.jsonl\""));
    fixture.write("pod-sets/shop.yaml", SHOP);
    fixture.write("pod-sets/ads.yaml", "id: ads\nproject: web\ndomain: ads.web.example.net\n");
    let half = rows.len() / 2;
    for (name, rows) in [("pods/1.jsonl", &rows[..half]), ("pods/2.jsonl", &rows[half..])] {
        fixture.write(name, rows.iter().map(|row| format!("{row}\n")).collect::<String>());
    }
    fixture
}

#[test]
fn the_latest_row_of_each_pod_counts() {
    let row = |time: &str, rest: &str| format!("{{\"time\":\"2026-11-20T{time}:00Z\",{rest}}}");
    let at = |node: u8| {
        format!(
            "\"node\":\"SAS1-000{node}.example.net.\",\"rack\":\"sas1-1\",\"location\":\"sas\",\"addresses\":[\"2a02::{node}\",\"192.0.2.{node}\",\"2a02::{node}\"]"
        )
    };
    let rows = [
        row("01:00", &format!("\"set\":\"shop\",\"pod\":\"BB\",\"state\":\"active\",{}", at(1))),
        row("01:30", &format!("\"set\":\"shop\",\"pod\":\"bb\",\"state\":\"active\",\"inv\":7,{}", at(2))),
        row("01:10", &format!("\"set\":\"shop\",\"pod\":\"bb\",\"state\":\"active\",{}", at(3))),
        row(
            "01:00",
            "\"set\":\"shop\",\"pod\":\"a-1\",\"state\":\"waiting\",\"enabled\":false,\"replaces\":\"Bb\",\"new\":[{}]",
        ),
        row("01:00", "\"set\":\"ads\",\"pod\":\"bb\",\"state\":\"dead\",\"addresses\":[],\"node\":null"),
        row("01:00", "\"set\":\"ads\",\"pod\":\"bb\",\"state\":\"dead\""),
    ];
    let loaded = with_pods(&rows.iter().map(String::as_str).collect::<Vec<_>>()).load();
    assert_eq!(codes(&loaded), [""; 0]);
    let inventory = loaded.inventory.unwrap();
    let pods = &inventory.pods;
    let shown = |pod: &Pod| {
        let node = pod.node.map(|node| inventory.symbols.text(node));
        let place = inventory.files.place(pod.origin);
        format!("{}/{} {} {node:?} {:?} {place}", pods.set_of(pod).id, pod.id, pod.state, pod.addresses)
    };
    assert_eq!(
        pods.rows.iter().map(shown).collect::<Vec<_>>(),
        [
            "ads/bb dead None [] pods/2.jsonl:2",
            "shop/a-1 waiting None [] pods/2.jsonl:1",
            "shop/bb active Some(\"sas1-0002.example.net\") [192.0.2.2, 2a02::2] pods/1.jsonl:2",
        ]
    );
    assert!(!pods.rows[1].is_enabled && pods.rows[2].is_enabled && pods.rows.iter().all(|pod| pod.fault.is_none()));
    assert_eq!((pods.rows[1].replaces.as_deref(), pods.rows[2].inv), (Some("bb"), Some(Inv(7))));
    assert!(pods.sets.iter().all(|set| set.terms().is_some()));
    let terms = pods.sets[1].terms().unwrap();
    assert_eq!(inventory.projects[terms.project.0 as usize].id, "web");
    assert_eq!(
        (terms.domain.to_string(), terms.migration),
        ("shop.web.example.net.".to_owned(), PodMigration::CopyAndRemove)
    );
    assert_eq!(terms.rollout.max_unavailable, MaxUnavailable::Share(Percent::from_whole(10)));
    assert_eq!((terms.rollout.canary, terms.rollout.one_location_at_a_time), (Some(2), false));
    let [http, grpc] = &terms.endpoints[..] else { panic!("{:?}", terms.endpoints) };
    assert_eq!((&*http.protocol, http.port, &http.states), ("tcp", 8080, &vec![PodState::Prepared, PodState::Active]));
    assert_eq!(http.labels, [("a".to_owned(), "b".to_owned()), ("shard".to_owned(), "1".to_owned())]);
    assert_eq!(grpc.states, [PodState::Active]);
    let ads = pods.sets[0].terms().unwrap();
    assert_eq!((ads.rollout.max_unavailable, ads.ttl), (MaxUnavailable::Number(1), None));
    assert!(inventory.sources().any(|(name, trust)| name == "pods" && *trust == Trust::Known));
}

#[test]
fn without_pods_the_files_of_sets_may_lack() {
    let fixture = Fixture::new();
    assert_eq!(codes(&fixture.load()), [""; 0]);
    fixture.write("zonewright.toml", TOML.replace("[sources]", "[sources]\npods = \"pods/*.jsonl\""));
    assert_eq!(codes(&fixture.load()), ["source-missing", "source-missing"]);
}
