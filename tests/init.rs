//! `init` in folders: what it makes works at once, and what is there stays as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

#[path = "folder/copy.rs"]
mod copy;

/// The mark for lines that are left out.
const OMISSION: &str = "…";

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the built binary in a folder.
fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command.output().expect("the binary was built for this test")
}

/// Runs it where it must succeed; gives what it prints.
fn done(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// The standard error of a run.
fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        if entry.file_type().expect("a type").is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|(path, text)| (format!("{name}/{path}"), text)))
        } else {
            found.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    found
}

/// An empty folder.
fn empty() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A copy of the demo without its settings.
fn demo() -> TempDir {
    let folder = empty();
    copy::copy(&root().join("inventory"), folder.path());
    fs::remove_file(folder.path().join("zonewright.toml")).expect("it was copied");
    folder
}

#[test]
fn an_example_works_at_once_and_its_plan_is_the_one_that_is_described() {
    let folder = empty();
    let said = done(folder.path(), &["init", "example"]);
    assert!(said.contains("zonewright -C example plan"), "{said}");
    assert_eq!(done(folder.path(), &["-C", "example", "check"]), "7 files, 0 errors, 0 warnings\n");
    let plan = done(folder.path(), &["-C", "example", "plan"]);
    let printed: Vec<&str> = plan.lines().collect();
    let described = fs::read_to_string(root().join("docs/start.md")).expect("docs/start.md");
    let excerpt = described.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an excerpt");
    let lines: Vec<&str> = excerpt.lines().collect();
    let blocks: Vec<&[&str]> = lines.split(|line| *line == OMISSION).filter(|block| !block.is_empty()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let found = printed.windows(block.len()).any(|lines| lines == block);
        assert!(found, "not printed:\n{}\nbut\n{plan}", block.join("\n"));
    }
    // What the settings say by default is what their comments say, so that a reader may take them for complete.
    let settings = fs::read_to_string(folder.path().join("example/zonewright.toml")).expect("the settings");
    for line in settings.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')) {
        assert!(line.contains("# "), "nothing explains `{line}`");
    }
}

/// The target of the example, as `init` writes it.
const FILE_TARGET: &str = "[[pool.main.target]]\ntype = \"zonefile\"                         # what the target is\n\
                           dir = \"zones\"                             # holds APEX.zone for each zone\n";

#[test]
fn each_target_of_a_cloud_that_the_first_steps_show_passes_check() {
    let described = fs::read_to_string(root().join("docs/start.md")).expect("docs/start.md");
    let targets: Vec<&str> = described.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let types: Vec<&str> = targets.iter().filter_map(|target| target.split('"').nth(1)).collect();
    assert_eq!(types, ["route53", "azure", "cloudmap"]);
    for target in targets {
        let folder = empty();
        done(folder.path(), &["init", "cloud"]);
        edit(&folder.path().join("cloud/zonewright.toml"), FILE_TARGET, target);
        assert_eq!(done(folder.path(), &["-C", "cloud", "check"]), "5 files, 0 errors, 0 warnings\n", "{target}");
    }
}

#[test]
fn a_workspace_is_made_of_the_zones_that_a_snapshot_saved() {
    let folder = empty();
    done(folder.path(), &["init", "cloud"]);
    fs::create_dir(folder.path().join("fleet")).expect("a folder");
    done(folder.path(), &["-C", "cloud", "snapshot", "--out", "fleet/zones"]);
    let said = done(folder.path(), &["-C", "fleet", "init"]);
    assert!(said.contains("1 zone: example.net") && said.contains("2 hosts, 1 with a MAC"), "{said}");
    let plan = done(folder.path(), &["-C", "fleet", "plan"]);
    assert!(plan.starts_with("No changes for 2 hosts; 1 blocked."), "{plan}");
}

#[test]
fn the_folder_of_the_workspace_is_the_default() {
    let folder = empty();
    done(folder.path(), &["init"]);
    let there = files(folder.path());
    assert!(there.contains_key("zonewright.toml") && there.contains_key("projects/example.yaml"), "{:?}", there.keys());
    let other = empty();
    done(other.path(), &["-C", "a", "init", "b/c"]);
    assert!(other.path().join("a/b/c/zonewright.toml").exists());
}

#[test]
fn a_workspace_is_refused_and_left_as_it_is() {
    let folder = empty();
    fs::write(folder.path().join("zonewright.toml"), "mine").expect("a file");
    let before = files(folder.path());
    let output = run(folder.path(), &["init"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("this is a workspace already"), "{}", stderr(&output));
    assert_eq!(files(folder.path()), before);
}

#[test]
fn where_a_file_is_in_the_way_nothing_is_written() {
    for (taken, is_folder) in [("exports/hosts.csv", false), ("agents", false), ("zones/example.net.zone", true)] {
        let folder = empty();
        let place = folder.path().join(taken);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        if is_folder {
            fs::create_dir(&place).expect("a folder")
        } else {
            fs::write(&place, "mine").expect("a file")
        }
        let before = files(folder.path());
        let output = run(folder.path(), &["init"]);
        assert_eq!(output.status.code(), Some(1), "{taken}");
        assert!(stderr(&output).contains(" = hint: nothing was written"), "{taken}: {}", stderr(&output));
        assert_eq!(files(folder.path()), before, "{taken}");
    }
}

#[test]
fn what_git_is_told_already_stays_and_what_is_missing_is_named() {
    let folder = empty();
    fs::write(folder.path().join(".gitignore"), "keys/\n").expect("a file");
    let said = done(folder.path(), &["init"]);
    assert!(said.contains("Left as they were\n  .gitignore\n"), "{said}");
    assert!(said.contains("Add to your .gitignore: .zonewright/."), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join(".gitignore")).expect("a file"), "keys/\n");
}

#[test]
fn a_file_is_no_folder() {
    let folder = empty();
    fs::write(folder.path().join("x"), "").expect("a file");
    let output = run(folder.path(), &["init", "x"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("`x` is not a folder"), "{}", stderr(&output));
    let output = run(folder.path(), &["init", "x/y"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("= hint: "), "{}", stderr(&output));
}

#[test]
fn the_exports_of_a_folder_are_found_and_the_plan_of_zones_that_are_there_removes_nothing() {
    let folder = demo();
    let before = files(folder.path());
    let now = ["--now", "2026-11-20T02:00:00Z"];
    let said = done(folder.path(), &[&["init"][..], &now].concat());
    assert!(said.contains("111 hosts in racktables/hosts.csv"), "{said}");
    let settings = fs::read_to_string(folder.path().join("zonewright.toml")).expect("the settings");
    for line in [
        "hosts = \"racktables/hosts.csv\"",
        "l3_tors = \"racktables/l3-tors.txt\"",
        "net_layout = \"racktables/net-layout.xml\"",
        "ipv4_map = \"racktables/ipv4-map.txt\"",
        "path = \"agents/agent-*.jsonl\"",
        "path = \"agents/eine-*.jsonl\"",
        "network = \"2a02:6b8::/40\"",
        "[project.search]",
    ] {
        assert!(settings.contains(&format!("\n{line}")), "{line}\n{settings}");
    }
    let after = files(folder.path());
    assert!(before.iter().all(|(path, text)| after.get(path) == Some(text)), "what was there stays");
    let args = [&["plan", "--format", "json", "-q"][..], &now].concat();
    let output = run(folder.path(), &args);
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a plan");
    let changes = plan["changes"].as_array().expect("a list");
    assert!(!changes.is_empty());
    // The demo's registry is another: by the journal, which is new, nothing is ours.
    assert!(changes.iter().all(|change| change["before"].is_null()), "{changes:?}");
}

#[test]
fn hosts_without_zones_get_stand_ins_and_a_plan() {
    let folder = demo();
    // The demo of pods has zones of its own.
    for gone in ["zones", "projects", "shop"] {
        fs::remove_dir_all(folder.path().join(gone)).expect("it was copied");
    }
    let now = ["--now", "2026-11-20T02:00:00Z"];
    let said = done(folder.path(), &[&["init"][..], &now].concat());
    assert!(said.contains("zones/ replaces live DNS with 7 empty zones"), "{said}");
    assert!(folder.path().join("projects/search.yaml").exists());
    let plan = done(folder.path(), &[&["plan", "--format", "json", "-q"][..], &now].concat());
    serde_json::from_str::<serde_json::Value>(&plan).expect("a plan");
}

#[test]
fn addresses_that_an_export_lists_are_planned_as_they_are() {
    let folder = empty();
    let hosts = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n\
                 1,a.example.net,app,assigned,fra,,,,,\n2,b.example.net,app,assigned,fra,,,,,\n";
    let addresses = "inv,interface,address\n1,ens3,192.0.2.1\n1,ens3,2001:db8::1\n2,ens3,192.0.2.2\n2,ipmi,10.0.0.2\n";
    fs::write(folder.path().join("hosts.csv"), hosts).expect("a file");
    fs::write(folder.path().join("addresses.csv"), addresses).expect("a file");
    let now = ["--now", "2026-11-20T02:00:00Z"];
    let said = done(folder.path(), &[&["init"][..], &now].concat());
    assert!(said.contains("`ens3`, counts as the main one"), "{said}");
    assert!(!said.contains("no-mac") && !said.contains("no-network"), "{said}");
    let project = fs::read_to_string(folder.path().join("projects/app.yaml")).expect("a project file");
    assert!(project.contains("\naddresses: inventory\ninterfaces: {backbone: \"ens3\"}\n"), "{project}");
    let plan = done(folder.path(), &[&["plan", "--format", "json", "-q"][..], &now].concat());
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("a plan");
    let changes = plan["changes"].as_array().expect("a list");
    let count = |rtype: &str| changes.iter().filter(|change| change["type"] == rtype).count();
    assert_eq!((count("A"), count("AAAA"), count("PTR")), (2, 1, 3), "{plan}");
}

#[test]
fn the_errors_of_a_server_say_what_to_do_about_just_them() {
    let folder = empty();
    let error = |args: &[&str]| stderr(&run(folder.path(), &[&["init", "x", "--from-axfr"], args].concat()));
    // No name ends in .invalid (RFC 6761 section 6.4).
    let unknown = error(&["ns1.example.invalid", "example.net"]);
    assert!(unknown.contains("this machine can resolve it"), "{unknown}");
    let closed = error(&["127.0.0.1:1", "example.net"]);
    assert!(closed.contains("the server is running"), "{closed}");
    for text in [unknown, closed] {
        assert!(!text.contains("--tsig-secret-file"), "a key does not help here: {text}");
    }
}

#[test]
fn an_export_that_is_not_recognised_is_named() {
    let folder = empty();
    fs::write(folder.path().join("hosts.csv"), "inv;name\n1;a.example.net\n").expect("a file");
    let said = done(folder.path(), &["init"]);
    assert!(said.contains("- `hosts.csv` was not used"), "{said}");
}

#[test]
fn what_comes_next_fits_80_columns() {
    let folder = empty();
    for name in ["x", "a-folder-with-a-name-that-is-rather-long"] {
        let said = done(folder.path(), &["init", name]);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        assert!(said.contains(&format!("zonewright -C {name} plan")), "{said}");
    }
}

#[test]
fn files_that_state_records_are_planned_with_and_without_hosts() {
    let put = |folder: &Path, path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("it can be written");
    };
    let manifest = "apiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nmetadata: {name: web}\nspec:\n  \
                    endpoints:\n  - {dnsName: www.example.org, recordType: A, targets: [192.0.2.1]}\n";
    let folder = empty();
    put(folder.path(), "k8s/prod/web.yaml", manifest);
    put(folder.path(), "config/example.net.yaml", "www:\n  type: A\n  value: 192.0.2.9\n");
    put(folder.path(), "config/production.yaml", "providers: {}\n");
    let said = done(folder.path(), &["init"]);
    for part in ["1 file of manifests: k8s/prod/web.yaml", "1 zone in YAML: config/example.net.yaml", "--txt-owner-id"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(done(folder.path(), &["check"]), "6 files, 0 errors, 0 warnings\n");
    let plan = done(folder.path(), &["plan"]);
    assert!(plan.contains("2 to create, 0 to modify, 0 to delete for 2 names in files"), "{plan}");

    // The project of the hosts keeps its domain; that of the records may use it, too.
    let folder = demo();
    put(
        folder.path(),
        "k8s/web.json",
        "{\"kind\": \"DNSEndpoint\", \"apiVersion\": \"externaldns.k8s.io/v1alpha1\", \
        \"metadata\": {\"name\": \"web\"}, \"spec\": {\"endpoints\": [{\"dnsName\": \"www.search.example.net\", \
        \"recordType\": \"A\", \"targets\": [\"192.0.2.1\"]}]}}\n",
    );
    done(folder.path(), &["init"]);
    let settings = fs::read_to_string(folder.path().join("zonewright.toml")).expect("it was made");
    for part in ["[project.records]\ndns_domain = \"records.search.example.net\"", "path = \"k8s/*.json\""] {
        assert!(settings.contains(part), "{settings}");
    }
    let plan = done(folder.path(), &["plan"]);
    assert!(plan.contains("1 name in files"), "{plan}");
}

#[test]
fn a_server_that_is_not_there_and_zones_that_are_none_are_reported() {
    let folder = empty();
    for (args, message) in [
        (&["127.0.0.1:1", "example.net"][..], "error[connect-failed]"),
        (&["127.0.0.1:1", "./fleet"], "`./fleet` is not a zone"),
        (&["a b", "example.net"], "a server is `HOST`"),
        (&["127.0.0.1:1", "example.net", "--tsig-secret-file", "none"], "secret in `"),
    ] {
        let output = run(folder.path(), &[&["init", "x", "--from-axfr"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
        assert!(files(folder.path()).is_empty(), "{args:?}");
    }
}

/// Puts one text in the place of another in a file.
fn edit(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("a file");
    assert!(text.contains(from), "{} has no {from:?}", file.display());
    fs::write(file, text.replacen(from, to, 1)).expect("it can be written");
}

#[test]
fn a_fleet_of_twelve_moves_a_vlan_and_retires_a_host_with_what_is_written() {
    let folder = empty();
    let path = |name: &str| folder.path().join(name);
    let at = |now: &str, args: &[&str]| done(folder.path(), &[&["--now", now], args].concat());
    at("2026-11-20T01:00:00Z", &["init"]);
    let (mut hosts, mut reports) = (String::new(), String::new());
    for inv in 5..=16 {
        hosts += &format!("{inv},dc0-00{inv:02}.example.net,example,assigned,dc,,,switch-1,,\n");
        let report = format!("\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{inv},\"mac\":\"00:00:5e:00:53:{inv:02x}\"");
        reports += &format!("{{{report},\"switch\":\"switch-1\"}}\n");
    }
    for (file, more) in [("exports/hosts.csv", hosts), ("agents/example.jsonl", reports)] {
        let text = fs::read_to_string(path(file)).expect("a file");
        fs::write(path(file), text + &more).expect("it can be written");
    }
    at("2026-11-20T02:00:00Z", &["apply", "--yes"]);
    let zone = |name: &str| fs::read_to_string(path("zones").join(name)).expect("a zone");
    assert_eq!(zone("example.net.zone").matches("2001:db8:0:1:200:5eff:fe00:53").count(), 14, "12, and 1 and 2");

    edit(&path("exports/l3-tors.txt"), "switch-2  1", "switch-1  2  2001:db8:0:3::/64\nswitch-2  1");
    edit(&path("projects/example.yaml"), "main: 1", "main: 2");
    at("2026-11-20T03:00:00Z", &["apply", "--yes"]);
    let forward = zone("example.net.zone");
    assert_eq!(forward.matches("2001:db8:0:3:200:5eff:fe00:53").count(), 13, "1 is of another editor:\n{forward}");

    edit(&path("exports/hosts.csv"), "16,dc0-0016.example.net,example,assigned,dc,,,switch-1,,\n", "");
    let waits = at("2026-11-20T04:00:00Z", &["apply", "--yes"]);
    assert!(waits.contains("dc0-0016.example.net"), "{waits}");
    assert!(zone("example.net.zone").contains("dc0-0016"), "it waits for a day");
    at("2026-11-21T05:00:00Z", &["apply", "--yes"]);
    for name in ["example.net.zone", "8.b.d.0.1.0.0.2.ip6.arpa.zone"] {
        assert!(!zone(name).contains("dc0-0016"), "{}", zone(name));
        assert!(zone(name).contains("dc0-0015"), "{}", zone(name));
    }
}
