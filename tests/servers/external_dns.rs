//! A zone that goes from external-dns to zonewright and back: what is there at each turn is what external-dns would have
//! written, octet by octet.
//!
//! `tests/external_dns/writer.py` says what external-dns writes for some endpoints; it knows nothing of zonewright. Its TXT
//! have the TTL of the endpoints, since zonewright gives a new TXT that of its RRset; external-dns' own provider of RFC 2136
//! gives them its `--rfc2136-min-ttl`, and does not look at it again.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::edit::edit;
use crate::rig::{Rig, apply_in, folded, quiet_in, text_of};
use crate::server::Kind;

on_every_primary! {
    a_zone_goes_from_external_dns_to_zonewright_and_back
}

/// What runs the writer.
const PYTHON: &str = "/usr/bin/python3";

/// The zone.
const ZONE: &str = "example.net.";

/// The TTL of all records and TXT.
const TTL: u64 = 300;

/// The owner of external-dns, and another.
const THEIRS: &str = "k8s";
const OTHER: &str = "fleet";

/// The settings of names of TXT: prefix, suffix, what takes the place of `*`.
const FORMS: [[&str; 3]; 5] = [
    ["", "", ""],
    ["", "", "any"],
    ["dns-", "", "any"],
    ["%{record_type}-dns.", "", "any"],
    ["", "-%{record_type}-dns", "any"],
];

/// A record of a manifest.
#[derive(Debug, Clone, Copy)]
struct Endpoint {
    /// The manifest, in the namespace `prod`.
    manifest: &'static str,
    /// The name, without the final dot.
    name: &'static str,
    /// The type.
    rtype: &'static str,
    /// The targets.
    targets: &'static [&'static str],
}

/// An endpoint.
const fn endpoint(
    manifest: &'static str,
    name: &'static str,
    rtype: &'static str,
    targets: &'static [&'static str],
) -> Endpoint {
    Endpoint { manifest, name, rtype, targets }
}

/// What the manifests state at first.
const FIRST: &[Endpoint] = &[
    endpoint("shop", "www.example.net", "A", &["192.0.2.10", "192.0.2.11"]),
    endpoint("shop", "www.example.net", "AAAA", &["2001:db8::10"]),
    endpoint("shop", "*.pages.example.net", "CNAME", &["www.example.net"]),
    endpoint("mail", "old.example.net", "A", &["192.0.2.25"]),
    endpoint("mail", "api.example.net", "CNAME", &["lb.example.org"]),
];

/// The same with another target, one record fewer, one more, and one of another type.
const SECOND: &[Endpoint] = &[
    endpoint("shop", "www.example.net", "A", &["192.0.2.12"]),
    endpoint("shop", "www.example.net", "AAAA", &["2001:db8::10"]),
    endpoint("shop", "*.pages.example.net", "CNAME", &["www.example.net"]),
    endpoint("mail", "new.example.net", "AAAA", &["2001:db8::25"]),
    endpoint("mail", "api.example.net", "A", &["192.0.2.80"]),
];

/// What external-dns writes for endpoints: lines `NAME TTL TYPE RDATA`.
fn written([prefix, suffix, wildcard]: [&str; 3], owner: &str, endpoints: &[Endpoint]) -> BTreeSet<String> {
    let records = endpoints.iter().map(|own| {
        let Endpoint { manifest, name, rtype, targets } = own;
        json!({"name": name, "type": rtype, "ttl": TTL, "values": targets, "resource": format!("crd/prod/{manifest}")})
    });
    let input = json!({
        "owner": owner,
        "prefix": prefix,
        "suffix": suffix,
        "wildcard_replacement": wildcard,
        "default_ttl_of_txt": TTL,
        "zone": ZONE,
        "records": records.collect::<Vec<_>>(),
    });
    let writer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external_dns/writer.py");
    let mut command = Command::new(PYTHON);
    command.arg(writer).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("Python runs");
    child.stdin.take().expect("its input is piped").write_all(input.to_string().as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text_of(&output.stderr));
    let line = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| record[key].as_str().expect("text").to_owned();
        folded(&format!("{} {} {} {}", text("name"), record["ttl"], text("type"), text("value")))
    };
    text_of(&output.stdout).lines().map(line).collect()
}

/// The manifests that state endpoints.
fn manifests(endpoints: &[Endpoint]) -> String {
    let item = |manifest: &str| {
        let own = endpoints.iter().filter(|endpoint| endpoint.manifest == manifest).map(|endpoint| {
            let Endpoint { name, rtype, targets, .. } = endpoint;
            json!({"dnsName": name, "recordType": rtype, "recordTTL": TTL, "targets": targets})
        });
        json!({
            "apiVersion": "externaldns.k8s.io/v1alpha1",
            "kind": "DNSEndpoint",
            "metadata": {"namespace": "prod", "name": manifest},
            "spec": {"endpoints": own.collect::<Vec<_>>()},
        })
    };
    let items = ["shop", "mail"].map(item);
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// A workspace with the zone as external-dns left it, in a file, and the same manifests.
fn workspace(form: [&str; 3]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["projects", "zones"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    let keys = ["txt_prefix", "txt_suffix", "txt_wildcard_replacement"];
    let forms: String = keys
        .iter()
        .zip(form)
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("{key} = \"{value}\"\n"))
        .collect();
    let settings = format!(
        "owner = \"{THEIRS}\"\nregistry = \"txt\"\n{forms}\n\
         [sources]\nprojects = \"projects/*.yaml\"\nhosts = \"none\"\n\n\
         [[sources.records]]\nname = \"apps\"\nformat = \"dnsendpoint\"\npath = \"manifests.json\"\nproject = \"apps\"\n\
         conflicts = \"external-dns\"\n\n\
         [project.apps]\ndns_domain = \"example.net\"\nautomation = \"allowed\"\n\n\
         [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\n\
         [[zone]]\nname = \"example.net\"\npool = \"main\"\npermission = \"own\"\n"
    );
    let lines: String = written(form, THEIRS, FIRST).iter().map(|line| format!("{line}\n")).collect();
    let apex = "@ 3600 SOA ns.example.org. hostmaster.example.org. 1 7200 900 1209600 300\n@ 3600 NS ns.example.org.\n";
    let files = [
        ("zonewright.toml", settings),
        ("projects/apps.yaml", "id: apps\nvlan_scheme: none\nautomation: true\npolicy: repair\n".to_owned()),
        ("manifests.json", manifests(FIRST)),
        ("zones/example.net.zone", format!("{apex}{lines}")),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// A server with the zone, and its workspace.
struct Turn {
    /// The server.
    rig: Rig,
    /// The form of names.
    form: [&'static str; 3],
}

impl Turn {
    /// Checks that the zone has what external-dns would have written, and that nothing is planned.
    fn check(&self, owner: &str, endpoints: &[Endpoint]) {
        let records = self.rig.zone(ZONE).records;
        let is_theirs = |line: &&String| {
            let (name, rtype) = crate::rig::key_of(line);
            name != ZONE && (name, rtype.as_str()) != (crate::rig::marker_name(ZONE), "TXT")
        };
        let found: BTreeSet<String> = records.iter().filter(is_theirs).map(|line| folded(line)).collect();
        let expected = written(self.form, owner, endpoints);
        let differing: Vec<&String> = expected.symmetric_difference(&found).collect();
        assert!(differing.is_empty(), "{:?} {owner}: {differing:#?}", self.form);
        let plan = self.rig.plan().document;
        assert_eq!((&plan["changes"], &plan["blocked"]), (&json!([]), &json!([])), "{:?} {owner}", self.form);
    }

    /// Lets the manifests state endpoints, and applies that.
    fn state(&self, endpoints: &[Endpoint]) {
        fs::write(self.rig.workspace.path().join("manifests.json"), manifests(endpoints)).expect("a file");
        let applied = self.rig.apply(&self.rig.plan(), &[]);
        assert_eq!(applied.exit, Some(0), "{:?}: {}", self.form, applied.said());
    }

    /// Becomes another owner, and takes over what is the one's that we were.
    fn become_owner(&self, owner: &str, from: &str) {
        let path = self.rig.workspace.path();
        edit(path, "zonewright.toml", &format!("owner = \"{from}\"\n"), &format!("owner = \"{owner}\"\n"));
        let plan = path.join(format!("adopt-{owner}.json"));
        let mut command = quiet_in(path);
        let output = command.args(["adopt", "--from-owner", from, "--out"]).arg(&plan).output().expect("it runs");
        assert!(output.status.success(), "{}{}", text_of(&output.stdout), text_of(&output.stderr));
        let applied = apply_in(path, &plan, &[]);
        assert_eq!(applied.exit, Some(0), "{:?}: {}", self.form, applied.said());
    }
}

/// The test, for one kind of server.
fn a_zone_goes_from_external_dns_to_zonewright_and_back(kind: Kind) {
    if !crate::have(Path::new(PYTHON)) {
        return;
    }
    for form in FORMS {
        let Some(rig) = Rig::of_files(kind, workspace(form).path()) else { return };
        let turn = Turn { rig, form };
        // The same owner has all of it at once; an apply without a change notes what the manifests state.
        turn.check(THEIRS, FIRST);
        turn.state(FIRST);
        turn.state(SECOND);
        turn.check(THEIRS, SECOND);
        // Another owner takes it over, and brings it back to what it was.
        turn.become_owner(OTHER, THEIRS);
        turn.check(OTHER, SECOND);
        turn.state(FIRST);
        turn.check(OTHER, FIRST);
        // It is given back: the zone is the one that external-dns left.
        turn.become_owner(THEIRS, OTHER);
        turn.check(THEIRS, FIRST);
    }
}
