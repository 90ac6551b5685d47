//! What apps and lists ask for, up to the changes of a plan: in the pool of each DNS update record, by its policy, and with the
//! lines behind each value.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use zonewright::change::{Change, ChangeKind};
use zonewright::claim::Subject;
use zonewright::diff::decide::{DecisionInput, decide};
use zonewright::diff::held::HeldEdits;
use zonewright::diff::judge::FleetDecisions;
use zonewright::diff::recent::RecentPods;
use zonewright::diff::statements::KeptStatements;
use zonewright::diff::waits::RrsetWaits;
use zonewright::diff::{Selection, TrippedHosts};
use zonewright::dns::{Name, Rtype};
use zonewright::inventory::load_workspace;
use zonewright::inventory::model::{Inventory, Policy, ProjectIndex};
use zonewright::inventory::published::{self, PublishingRecord};
use zonewright::inventory::sources::Draft;
use zonewright::inventory::stated::RecordState;
use zonewright::inventory::value::Time;
use zonewright::pipeline::targets::server_names;
use zonewright::progress::{Progress, RunStage};
use zonewright::reading::{CreationTerms, ReadingTerms, ZonesRequest, zones};
use zonewright::target::PoolBounds;

const SETTINGS: &str = "\
owner = \"fleet-dns\"
registry = \"noop\"
[sources]
projects = \"projects/*.yaml\"
hosts = \"none\"
record_lists = [\"logical-clouds/*.yaml\", \"clusters/*.yaml\"]
apps = \"apps/*.yaml\"
[project.web]
dns_domain = \"example.net\"
automation = \"allowed\"
[[pool.bind.target]]
type = \"zonefile\"
dir = \"bind\"
[[pool.etcd.target]]
type = \"zonefile\"
dir = \"etcd\"
[[zone]]
name = \"apps.example.net\"
pool = \"bind\"
permission = \"own\"
[[zone]]
name = \"edge.example.net\"
pool = \"etcd\"
permission = \"own\"
";

const APP: &str = "\
app: shop
bundle: shop-bundle
version: v1
profile: prod
namespace: shop
logical_cloud: lc1
services:
  - name: web
    hostnames: [web.apps.example.net, web.edge.example.net]
    ttl: 60
    addresses:
      - {cluster: edge-1, scope: public, ips: [192.0.2.10, \"2001:db8::10\"]}
      - {cluster: edge-1, scope: cluster, ips: [10.0.0.5]}
";

/// A workspace with what its zones hold.
struct Workspace {
    folder: tempfile::TempDir,
    statements: Vec<(&'static str, Rtype, &'static str)>,
    records: Vec<(&'static str, RecordState)>,
}

impl Workspace {
    /// The app, a list for its logical cloud that names `bind`, one for its cluster that names `etcd`, and these records at
    /// `web.apps.example.net`.
    fn new(app: &str, live: &str) -> Workspace {
        let workspace = Workspace {
            folder: tempfile::tempdir().expect("a folder"),
            statements: Vec::new(),
            records: vec![("bind", RecordState::Open(Policy::Sync)), ("etcd", RecordState::Open(Policy::Sync))],
        };
        workspace.write("zonewright.toml", SETTINGS);
        workspace.write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: true\npolicy: create-only\n");
        workspace.write("apps/shop.yaml", app);
        workspace.write("logical-clouds/lc1.yaml", "metadata: {name: l}\nspec: {kv: [{dns: bind}]}\n");
        workspace.write("clusters/edge-1.yaml", "metadata: {name: e}\nspec: {kv: [{dns: etcd}]}\n");
        for (file, zone, records) in [("bind", "apps", live), ("etcd", "edge", "")] {
            let apex = "@ SOA ns.example.net. hostmaster.example.net. 1 7200 900 1209600 300\n@ NS ns.example.net.\n";
            workspace.write(&format!("{file}/{zone}.example.net.zone"), &format!("$TTL 3600\n{apex}{records}"));
        }
        workspace
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// What is decided: changes, blocked and skipped subjects, each a line.
    fn decided(&self) -> Vec<String> {
        let now: Time = "2026-11-20T02:00:00Z".parse().expect("a time");
        let mut inventory = load_workspace(self.folder.path(), now, &|_| {}).inventory.expect("settings");
        self.switch_on(&mut inventory);
        let decided = decide_on(&inventory, self.folder.path(), now, &self.kept());
        let changes = decided.changes.iter().map(shown);
        let blocked = decided.blocked.iter().map(|own| format!("{} {}", own.code, own.subject));
        let skipped = decided.skipped.iter().map(|own| format!("{} {}", own.code, own.subject));
        changes.chain(blocked).chain(skipped).collect()
    }

    /// Lets the records be there.
    fn switch_on(&self, inventory: &mut Inventory) {
        let mut draft = Draft { apps: std::mem::take(&mut inventory.apps), ..Draft::default() };
        let origin = draft.apps.lists[0].origin;
        let record = |(name, state): &(&str, RecordState)| PublishingRecord {
            name: Arc::from(*name),
            origin,
            project: Some("web".to_owned()),
            state: *state,
            fault: None,
        };
        let records: Vec<PublishingRecord> = self.records.iter().map(record).collect();
        published::add(&mut draft, &records, &inventory.files);
        let place = |id: &str| inventory.projects.iter().position(|project| project.id == id);
        let numbers: Vec<Option<usize>> = draft.projects.texts().map(place).collect();
        for source in &mut draft.published.sources {
            let number = numbers[source.project.0 as usize].expect("the project is in the settings");
            source.project = ProjectIndex(number as u32);
        }
        (inventory.apps, inventory.published) = (draft.apps, draft.published);
        // Pools of records, whose zones are files here.
        inventory.config.pools.iter_mut().for_each(|pool| pool.is_of_record = true);
    }

    /// What applies noted.
    fn kept(&self) -> KeptStatements {
        let noted = self.statements.iter();
        noted.map(|(name, rtype, by)| (Name::parse(name).expect("a name"), *rtype, (*by).to_owned())).collect()
    }
}

/// A test needs no progress reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

fn decide_on(inventory: &Inventory, folder: &Path, now: Time, statements: &KeptStatements) -> FleetDecisions {
    let selection = Selection::default();
    let terms = ReadingTerms { workspace: folder, now, cache: None };
    let creation = &CreationTerms::NONE;
    let request = ZonesRequest { inventory, selection: &selection, terms, creation, statements };
    let read = zones::read(&request, None, &Silent);
    let input = DecisionInput {
        now,
        servers: &server_names(inventory),
        bounds: &PoolBounds::new(),
        selection: &selection,
        tripped: &TrippedHosts::default(),
        waits: &RrsetWaits::default(),
        statements,
        held: &HeldEdits::default(),
        recent: &RecentPods::default(),
        copies: &read.copies,
        own_of_records: &read.own_of_records,
        survey: None,
    };
    decide(inventory, &read.live, input)
}

/// A change in one line.
fn shown(change: &Change) -> String {
    let does = match change.kind {
        ChangeKind::Create { .. } => "create",
        ChangeKind::Modify { .. } => "modify",
        ChangeKind::Delete { .. } => "delete",
    };
    format!("{does} {} {} in {} for {}", change.key.rtype, change.key.owner, change.pool, change.subject)
}

const OF_BIND: &str = "endpoint:bind/shop/web-bind/web.apps.example.net.";

#[test]
fn each_record_gets_what_its_lists_say_and_in_its_own_pool_alone() {
    let workspace = Workspace::new(APP, "");
    assert_eq!(
        workspace.decided(),
        [
            "create A web.apps.example.net. in bind for endpoint:bind/shop/web-bind/web.apps.example.net.",
            "create AAAA web.apps.example.net. in bind for endpoint:bind/shop/web-bind/web.apps.example.net.",
            "create A web.edge.example.net. in etcd for endpoint:etcd/shop/web-etcd/web.edge.example.net.",
            // Each record has a zone for one of the two hostnames.
            "no-zone endpoint:bind/shop/web-bind/web.edge.example.net.",
            "no-zone endpoint:etcd/shop/web-etcd/web.apps.example.net.",
        ]
    );
}

#[test]
fn a_value_is_explained_by_the_app_the_list_and_the_record() {
    let workspace = Workspace::new(APP, "");
    let now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
    let mut inventory = load_workspace(workspace.folder.path(), now, &|_| {}).inventory.unwrap();
    workspace.switch_on(&mut inventory);
    let decided = decide_on(&inventory, workspace.folder.path(), now, &workspace.kept());
    // The record is stated where the first list is.
    let lines: Vec<&String> = decided.changes[0].lines().collect();
    assert_eq!(lines, ["apps/shop.yaml:12", "clusters/edge-1.yaml:1", "logical-clouds/lc1.yaml:2"]);
}

#[test]
fn what_an_endpoint_no_longer_states_goes_by_the_policy_of_its_record() {
    let without_v6 = APP.replace(", \"2001:db8::10\"", "").replace(", web.edge.example.net", "");
    let live = "web 60 A 192.0.2.10\nweb 60 AAAA 2001:db8::10\n";
    let noted = ("web.apps.example.net.", Rtype::AAAA, "bind/shop/web-bind");
    for (policy, goes) in [(Policy::Sync, true), (Policy::Repair, true), (Policy::UpsertOnly, false)] {
        let mut workspace = Workspace::new(&without_v6, live);
        workspace.records[0].1 = RecordState::Open(policy);
        workspace.statements = vec![noted];
        let expected = format!("delete AAAA web.apps.example.net. in bind for {OF_BIND}");
        let found = workspace.decided();
        assert_eq!(found.contains(&expected), goes, "{policy:?}: {found:?}");
    }
}

#[test]
fn what_an_endpoint_stated_that_is_gone_goes_under_sync_alone() {
    let nothing = format!("{}services: []\n", APP.split("services:").next().unwrap());
    let noted = ("web.apps.example.net.", Rtype::A, "bind/shop/web-bind");
    for (state, goes) in [
        (RecordState::Open(Policy::Sync), true),
        (RecordState::Open(Policy::Repair), false),
        // What another program carries out, or what is switched off, is left.
        (RecordState::Idle, false),
        (RecordState::Unknown, false),
    ] {
        let mut workspace = Workspace::new(&nothing, "web 60 A 192.0.2.10\n");
        workspace.records[0].1 = state;
        workspace.statements = vec![noted];
        let expected = "delete A web.apps.example.net. in bind for orphan:bind/web.apps.example.net.";
        assert_eq!(workspace.decided(), if goes { vec![expected] } else { Vec::new() }, "{state:?}");
    }
}

#[test]
fn what_is_blocked_keeps_what_is_live() {
    let live = "web 60 A 192.0.2.99\n";
    let noted = ("web.apps.example.net.", Rtype::A, "bind/shop/web-bind");
    let one_name = APP.replace(", web.edge.example.net", "");
    let of = |code: &str| vec![format!("{code} {OF_BIND}")];
    let decided = |app: &str, change: &dyn Fn(&mut Workspace)| {
        let mut workspace = Workspace::new(app, live);
        workspace.statements = vec![noted];
        workspace.write("clusters/edge-1.yaml", "metadata: {name: e}\nspec: {kv: []}\n");
        change(&mut workspace);
        workspace.decided()
    };
    let bare = one_name.replace("[192.0.2.10, \"2001:db8::10\"]", "[]");
    assert_eq!(decided(&bare, &|_| {}), of("no-address"));
    let of_both = |workspace: &mut Workspace| {
        workspace.write("clusters/edge-1.yaml", "metadata: {name: e}\nspec: {kv: [{a: bind}]}\n");
    };
    assert_eq!(decided(&one_name, &of_both), of("scope-conflict"));
    let twice = |workspace: &mut Workspace| {
        workspace.write("apps/other.yaml", &one_name.replace("app: shop", "app: other"));
    };
    assert_eq!(decided(&one_name, &twice), of("claim-conflict"));
    let wrong = one_name.replace("ttl: 60", "tll: 60");
    assert_eq!(decided(&wrong, &|_| {}), of("bad-input"));
    let bad_list = |workspace: &mut Workspace| {
        workspace.write("clusters/edge-1.yaml", "metadata: {nmae: e}\nspec: {kv: []}\n");
    };
    assert_eq!(decided(&one_name, &bad_list), of("bad-input"));
    let idle = |workspace: &mut Workspace| workspace.records[0].1 = RecordState::Idle;
    assert_eq!(decided(&one_name, &idle), of("automation-off"));
}

#[test]
fn what_is_gone_stays_while_any_app_or_list_is_wrong() {
    let nothing = format!("{}services: []\n", APP.split("services:").next().unwrap());
    let broken = [("apps/b.yaml", "app: b\n"), ("clusters/edge-2.yaml", "metadata: {nmae: e}\nspec: {kv: []}\n")];
    for (file, text) in broken {
        let mut workspace = Workspace::new(&nothing, "web 60 A 192.0.2.10\n");
        workspace.statements = vec![("web.apps.example.net.", Rtype::A, "bind/shop/web-bind")];
        assert_eq!(workspace.decided().len(), 1);
        workspace.write(file, text);
        assert_eq!(workspace.decided(), Vec::<String>::new(), "{file}");
    }
}

#[test]
fn what_belongs_to_no_record_does_not_see_its_zones() {
    let workspace = Workspace::new(&APP.replace(", web.edge.example.net", ""), "");
    let source = "[[sources.records]]\nname = \"files\"\nformat = \"dnsendpoint\"\npath = \"manifests/*.yaml\"\nproject = \"web\"\n";
    workspace.write("zonewright.toml", &format!("{SETTINGS}{source}"));
    let head = "apiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nmetadata: {name: m, namespace: prod}\n";
    let endpoint = "{dnsName: web.apps.example.net, recordType: A, targets: [192.0.2.77]}";
    workspace.write("manifests/m.yaml", &format!("{head}spec: {{endpoints: [{endpoint}]}}\n"));
    let found = workspace.decided();
    // It says something else of the name, and neither contradicts the other.
    assert!(found.contains(&"no-zone endpoint:files/prod/m/web.apps.example.net.".to_owned()), "{found:?}");
    assert!(found.contains(&format!("create A web.apps.example.net. in bind for {OF_BIND}")), "{found:?}");
}

#[test]
fn a_subject_is_read_from_its_text() {
    assert!(matches!(OF_BIND.parse::<Subject>(), Ok(Subject::Endpoint(_))));
}
