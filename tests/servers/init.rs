//! `init --from-axfr` from real servers: a workspace whose first plan removes nothing and can be applied; what a server
//! does not give is reported, and nothing is written then.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{document, stderr, zonewright};

on_every_kind! {
    the_zones_of_a_server_become_a_workspace_whose_first_plan_removes_nothing
    what_cannot_be_transferred_leaves_nothing_behind
}

/// What a zone begins with.
const HEAD: &str = "$TTL 900\n@ SOA ns1.corp.test. hostmaster.corp.test. 1 3600 600 604800 300\n@ NS ns1.corp.test.\n";

/// Hosts of all kinds, and names that are none.
const CORP: &str = "ns1 AAAA 2001:db8:10::53\n@ AAAA 2001:db8:10:1::80\nwww AAAA 2001:db8:10:1::80\nftp CNAME www\n\
node1 AAAA 2001:db8:10:1:200:5eff:fe00:5301\nnode2 AAAA 2001:db8:10:1:200:5eff:fe00:5302\n\
node3.eu AAAA 2001:db8:10:2:200:5eff:fe00:5303\nold A 192.0.2.1\nold AAAA 2001:db8:10:3::c000:201\n\
legacy A 192.0.2.9\nstatic AAAA 2001:db8:10:4::1\nsub NS ns.sub\nns.sub AAAA 2001:db8:99::1\n\
far AAAA 2001:db8:77::1\n*.any AAAA 2001:db8:10:1::81\n";

/// The reverse zone of 2001:db8:10::/48.
const REVERSE: &str = "0.1.0.0.8.b.d.0.1.0.0.2.ip6.arpa";

/// One PTR of the four that hosts need, and one of another owner.
const POINTERS: &str = "1.0.3.5.0.0.e.f.f.f.e.5.0.0.2.0.1.0.0.0 PTR node1.corp.test.\n\
2.2.2.2.0.0.e.f.f.f.e.5.0.0.2.0.1.0.0.0 PTR other.example.org.\n";

/// A server of these zones, and a folder with its key as `tsig-keygen` writes it.
fn start(kind: Kind) -> Option<(Server, TempDir)> {
    let key = Key::new("zw");
    let zone = |name: &str, text: &str| (name.to_owned(), format!("{HEAD}{text}"));
    let zones = vec![zone("corp.test", CORP), zone(REVERSE, POINTERS), zone("2.0.192.in-addr.arpa", "")];
    let server = Server::start(kind, &ServerConfig { keys: vec![key.clone()], zones, ..ServerConfig::default() })?;
    let folder = tempfile::tempdir().expect("a folder");
    let Key { name, algorithm, secret } = key;
    let clause = format!("key \"{name}\" {{\n\talgorithm {algorithm};\n\tsecret \"{secret}\";\n}};\n");
    let file = folder.path().join("zw.key");
    fs::write(&file, clause).expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
    Some((server, folder))
}

/// Runs a command in a folder.
fn run(folder: &Path, args: &[&str]) -> Output {
    zonewright().args(args).current_dir(folder).env("NO_COLOR", "1").output().expect("the program runs")
}

/// Makes the workspace `fleet` in a folder from these zones of a server.
fn init(folder: &Path, server: &str, rest: &[&str]) -> Output {
    run(folder, &[&["init", "fleet", "--from-axfr", server], rest].concat())
}

/// The plan of the workspace.
fn plan(folder: &Path, rest: &[&str]) -> Value {
    let output = run(folder, &[&["-C", "fleet", "plan", "--format", "json"], rest].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    document(&output)
}

/// The names that changes of a plan add, each a PTR where there is none; no other change is among them.
fn pointers(plan: &Value) -> Vec<String> {
    let change = |change: &Value| {
        assert!(change["type"] == "PTR" && change["before"].is_null(), "{change}");
        change["after"]["rdata"][0].as_str().expect("a name").to_owned()
    };
    let mut names: Vec<String> = plan["changes"].as_array().expect("a list").iter().map(change).collect();
    names.sort_unstable();
    names
}

/// What a plan blocks: code and host.
fn blocked(plan: &Value) -> Vec<String> {
    let text = |host: &Value| {
        format!(
            "{} {}",
            host["code"].as_str().expect("a code"),
            host["subject"].as_str().expect("text").trim_start_matches("host:")
        )
    };
    let mut blocked: Vec<String> = plan["blocked"].as_array().expect("a list").iter().map(text).collect();
    blocked.sort_unstable();
    blocked
}

/// The zone that is named, and its reverse zones, which are found; all that is missing in them is the hosts' PTR.
fn the_zones_of_a_server_become_a_workspace_whose_first_plan_removes_nothing(kind: Kind) {
    let Some((server, folder)) = start(kind) else { return };
    let made = init(folder.path(), &server.address(), &["corp.test", "--tsig-secret-file", "zw.key"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    for part in [
        "- 1 zone: corp.test\n",
        &format!("- 2 reverse zones: {REVERSE}"),
        "- 7 hosts, 3 with a MAC",
        "(top of a zone): corp.test\n",
        "(wildcard): *.any.corp.test\n",
        "(name server, by NS): ns1.corp.test\n",
        "2001:db8:77::/64",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    let checked = run(folder.path(), &["-C", "fleet", "check"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    let first = plan(folder.path(), &[]);
    assert_eq!(pointers(&first), ["node2.corp.test.", "node3.eu.corp.test.", "old.corp.test.", "old.corp.test."]);
    // far, legacy and static, in the order of their names.
    assert_eq!(blocked(&first), ["no-ipv4-network 2", "no-mac 1", "no-mac 7"]);
    let saved = plan(folder.path(), &["--live-snapshot", "fleet/zones"]);
    assert_eq!(first["effect"], saved["effect"]);
    // NSD takes no updates.
    if kind != Kind::Nsd {
        let applied = run(folder.path(), &["-C", "fleet", "apply", "--yes"]);
        assert!(applied.status.success(), "{}", stderr(&applied));
        assert!(pointers(&plan(folder.path(), &[])).is_empty());
    }
    // A secret that is elsewhere is copied to where git takes up nothing, and no path of this machine is committed.
    let written = |file: &str| fs::read_to_string(folder.path().join("fleet").join(file)).expect("a file");
    assert!(written("zonewright.toml").contains("secret_file = \"keys/zw.key\""), "{}", written("zonewright.toml"));
    assert_eq!(written("keys/.gitignore"), "*\n");
    // A secret in the workspace is kept out of git.
    let ignored = |dir: &str| fs::read_to_string(folder.path().join(dir).join(".gitignore")).expect("a file");
    assert!(!ignored("fleet").contains("zw.key"), "{}", ignored("fleet"));
    fs::create_dir(folder.path().join("other")).expect("a folder");
    fs::rename(folder.path().join("zw.key"), folder.path().join("other/zw.key")).expect("the key");
    let key = ["corp.test", "--tsig-secret-file", "other/zw.key"];
    let second = run(folder.path(), &[&["init", "other", "--from-axfr", &server.address()], &key[..]].concat());
    assert!(second.status.success(), "{}", stderr(&second));
    assert!(ignored("other").ends_with("\n/zw.key\n"), "{}", ignored("other"));
    fs::rename(folder.path().join("other/zw.key"), folder.path().join("zw.key")).expect("the key");
    let again = init(folder.path(), &server.address(), &["corp.test", "--tsig-secret-file", "zw.key"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("this is a workspace already"), "{}", stderr(&again));
}

/// A zone that is not there, a key that is not given, and one with another secret.
fn what_cannot_be_transferred_leaves_nothing_behind(kind: Kind) {
    let Some((server, folder)) = start(kind) else { return };
    let wrong = folder.path().join("wrong.key");
    fs::write(&wrong, "key \"zw\" { algorithm hmac-sha256; secret \"d3Jvbmc=\"; };\n").expect("a file");
    fs::set_permissions(&wrong, Permissions::from_mode(0o600)).expect("it is ours");
    for rest in [
        &["corp.test", "other.test", "--tsig-secret-file", "zw.key"][..],
        &["corp.test"],
        &["corp.test", "--tsig-secret-file", "wrong.key"],
    ] {
        let output = init(folder.path(), &server.address(), rest);
        assert_eq!(output.status.code(), Some(1), "{rest:?}");
        assert!(stderr(&output).contains("= hint: "), "{}", stderr(&output));
        assert!(stderr(&output).contains("nothing was written"), "{}", stderr(&output));
        assert!(!folder.path().join("fleet").exists(), "{rest:?}");
    }
}
