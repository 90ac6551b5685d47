//! Bases of workspaces, in git and in other folders.

use std::fs;
use std::path::Path;

use super::*;
use crate::git::fixture::Fixture;
use crate::inventory::model::{ProjectFile, Trust};

/// The smallest workspace with all that a revision may lack.
const TOML: &str = r#"owner = "fleet-dns"
free_domain = "free.invalid"

[sources]
projects   = "projects/*.yaml"
hosts      = "racktables/hosts.csv"
l3_tors    = "racktables/l3-tors.txt"
net_layout = "racktables/net-layout.xml"
ipv4_map   = "racktables/ipv4-map.txt"

[[sources.mac]]
name = "agent"
path = "agents/*.jsonl"

[project.web]
dns_domain = "web.example.net"

[pool.demo]
[[pool.demo.target]]
type = "zonefile"
dir = "zones"

[[zone]]
name = "web.example.net"
pool = "demo"
"#;

/// A project file.
const WEB: &str = "id: web\nvlan_scheme: static\nvlans: {main: 542}\n";

/// A line of an agent.
const REPORT: &str = "{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":1,\"mac\":\"78e3b5089398\"}\n";

/// A line of names.lock.
const LOCK: &str = "1\tsas-0001.web.example.net\tweb\t2026-11-19T23:45:00Z\t-\n";

/// The workspace's files.
fn files() -> Vec<(&'static str, String)> {
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    let layout = "<net-layout><datacenter name=\"sas\"><vlan id=\"604\"><network>2a02:6b8:0:2::/64</network></vlan>\
                  </datacenter></net-layout>\n";
    vec![
        ("zonewright.toml", TOML.to_owned()),
        ("projects/web.yaml", WEB.to_owned()),
        ("racktables/hosts.csv", format!("{header}1,,web,assigned,sas,,,sas1-s1,,\n")),
        ("racktables/l3-tors.txt", "sas1-s1 542 2a02:6b8:0:1::/64\n".to_owned()),
        ("racktables/net-layout.xml", layout.to_owned()),
        ("racktables/ipv4-map.txt", "10.0.0.0/8 sas 604 2a02:6b8:0:3::/64\n".to_owned()),
        ("agents/one.jsonl", REPORT.to_owned()),
    ]
}

/// The clock.
fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

/// A repository with the workspace committed, without the files that begin with `without`, which are not in git.
fn repository(without: &str) -> Option<Fixture> {
    let fixture = Fixture::new()?;
    for (name, text) in files() {
        fixture.write(name, text);
    }
    fixture.write(".gitignore", if without.is_empty() { String::new() } else { format!("{without}*\n") });
    fixture.commit();
    Some(fixture)
}

/// Loads a base, which there is.
fn good(fixture: &Fixture, base: &str) -> Base {
    load(&fixture.path(), base, now()).unwrap_or_else(|error| panic!("{base}: {error}"))
}

/// The names of what was borrowed, and why.
fn borrowed(base: &Base) -> Vec<(&str, BorrowReason)> {
    base.borrowed.iter().map(|borrowed| (borrowed.name.as_str(), borrowed.why)).collect()
}

/// The remarks as they are shown.
fn remarks(base: &Base) -> String {
    remarks_beside(base, &base.inventory.inputs)
}

/// The remarks as they are shown with an inventory of these files.
fn remarks_beside(base: &Base, inputs: &BTreeMap<String, String>) -> String {
    let lines = base
        .remarks(&Files::default(), inputs, &Diagnostics::default())
        .into_iter()
        .map(|BaseRemark { place, code, message }| format!("{place}: {code}: {message}\n"));
    lines.collect()
}

/// The ids of the projects that have a file.
fn projects(base: &Base) -> Vec<&str> {
    let with_file = |file: &ProjectFile| !matches!(file, ProjectFile::Missing);
    let found = base.inventory.projects.iter().filter(|project| with_file(&project.file));
    found.map(|project| project.id.as_str()).collect()
}

#[test]
fn a_base_is_as_the_revision_was() {
    let Some(fixture) = repository("") else { return };
    fixture.write("racktables/l3-tors.txt", "sas1-s1 542 2a02:6b8:0:9::/64\nsas1-s2 542 2a02:6b8:0:a::/64\n");
    fixture.write("projects/new.yaml", WEB.replace("web", "new"));
    fixture.write("names.lock", LOCK);
    fixture.remove("agents/one.jsonl");
    fixture.write("agents/two.jsonl", REPORT.repeat(3));
    fixture.commit();
    let before = good(&fixture, "HEAD~1");
    assert_eq!(borrowed(&before), []);
    assert_eq!(before.commit, Some(fixture.git(&["rev-parse", "HEAD~1"])));
    assert_eq!((before.inventory.reports.len(), projects(&before)), (1, vec!["web"]));
    let rows: Vec<usize> = before.inventory.exports.iter().map(|export| export.rows).collect();
    assert!(before.inventory.exports.iter().any(|export| export.files == ["agents/one.jsonl"]), "{rows:?}");
    assert!(!before.inventory.inputs.contains_key("names.lock"));
    assert!(before.inventory.sources().all(|(_, trust)| *trust == Trust::Known));
    let after = good(&fixture, "main");
    assert_eq!((after.inventory.reports.len(), projects(&after)), (3, vec!["new", "web"]));
    assert_ne!(before.inventory.inputs["racktables/l3-tors.txt"], after.inventory.inputs["racktables/l3-tors.txt"]);
    assert_eq!(remarks(&after), "");
}

#[test]
fn the_same_revision_gives_the_inventory_of_the_working_tree() {
    let Some(fixture) = repository("") else { return };
    let base = good(&fixture, "HEAD");
    let LoadedWorkspace { inventory, diagnostics, .. } = read::load_workspace(&fixture.path(), now(), &|_| {});
    let told =
        |of: &Inventory| format!("{:?}", (&of.files, &of.inputs, &of.hosts, &of.reports, &of.exports, &of.projects));
    assert_eq!(told(&base.inventory), told(&inventory.unwrap()));
    assert_eq!(format!("{:?}", base.diagnostics), format!("{diagnostics:?}"));
}

#[test]
fn exports_that_are_not_in_git_stand_in_both() {
    let Some(fixture) = repository("/racktables\n/agents") else { return };
    fixture.write("agents/two.jsonl", REPORT);
    let base = good(&fixture, "HEAD");
    let names = [
        "agents/one.jsonl",
        "agents/two.jsonl",
        "racktables/hosts.csv",
        "racktables/ipv4-map.txt",
        "racktables/l3-tors.txt",
        "racktables/net-layout.xml",
    ];
    assert_eq!(borrowed(&base), names.map(|name| (name, BorrowReason::Unknown)));
    assert_eq!((base.inventory.hosts.len(), base.inventory.reports.len(), remarks(&base)), (1, 2, String::new()));
    let mut inputs = base.inventory.inputs.clone();
    inputs.insert("racktables/hosts.csv".to_owned(), "sha256:another".to_owned());
    insta::assert_snapshot!(remarks_beside(&base, &inputs), @"racktables/hosts.csv: changed-meanwhile: the file \
                                                              changed between two reads: causes of changes may be \
                                                              wrong where they depend on it; plan again");
}

#[test]
fn what_was_put_into_git_since_was_not_there_unless_a_source_needs_it() {
    let Some(fixture) = repository("/racktables/hosts.csv\n/agents") else { return };
    fixture.write(".gitignore", "");
    fixture.write("names.lock", LOCK);
    fixture.commit();
    let base = good(&fixture, "HEAD~1");
    // Where the base has no file of a glob, it gets all of the workspace.
    assert_eq!(
        borrowed(&base),
        [("agents/one.jsonl", BorrowReason::Needed), ("racktables/hosts.csv", BorrowReason::Needed)]
    );
    assert!(base.inventory.lock.is_empty() && base.inventory.trust.names_lock == Trust::Known);
    assert_eq!(remarks(&base), "");
}

#[test]
fn a_lock_that_is_not_in_git_stands_in_both_and_is_warned_of() {
    let Some(fixture) = repository("names.lock") else { return };
    fixture.write("names.lock", LOCK);
    let base = good(&fixture, "HEAD");
    assert_eq!(borrowed(&base), [("names.lock", BorrowReason::Unknown)]);
    assert_eq!(base.inventory.lock.len(), 1);
    assert!(remarks(&base).starts_with("names.lock: not-in-git: "), "{}", remarks(&base));
}

#[test]
fn a_project_file_that_nobody_added_to_git_is_warned_of() {
    let Some(fixture) = repository("") else { return };
    fixture.write("projects/new.yaml", WEB.replace("web", "new"));
    let base = good(&fixture, "HEAD");
    assert_eq!(projects(&base), ["new", "web"]);
    insta::assert_snapshot!(remarks(&base), @"projects/new.yaml: not-in-git: the file is not in git, and is used for \
                                              the base too; `git add` it if it is new");
    fixture.git(&["add", "projects/new.yaml"]);
    let base = good(&fixture, "HEAD");
    assert_eq!((projects(&base), remarks(&base)), (vec!["web"], String::new()));
}

#[test]
fn a_placeholder_of_lfs_is_no_export() {
    let Some(fixture) = repository("") else { return };
    let whole = fs::read(fixture.path().join("racktables/hosts.csv")).unwrap();
    fixture.write(
        "racktables/hosts.csv",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d1\
         7e2393\nsize 12345\n",
    );
    fixture.commit();
    fixture.write("racktables/hosts.csv", whole);
    let base = good(&fixture, "HEAD");
    assert_eq!(borrowed(&base), [("racktables/hosts.csv", BorrowReason::Placeholder)]);
    assert_eq!(base.inventory.hosts.len(), 1);
    insta::assert_snapshot!(remarks(&base), @"racktables/hosts.csv: base-lacks-content: the base has only a Git LFS \
                                              placeholder: the present file is used for the base too");
}

#[test]
fn a_digest_beside_an_export_is_not_held_against_that_of_the_base() {
    let Some(fixture) = Fixture::new() else { return };
    for (name, text) in files() {
        fixture.write(name, text);
    }
    let toml = TOML.replace("\"racktables/hosts.csv\"", "{ path = \"racktables/hosts.csv\", digest = true }");
    fixture.write("zonewright.toml", toml);
    fixture.commit();
    fixture.write("racktables/hosts.csv.sha256", "0".repeat(64));
    let base = good(&fixture, "HEAD");
    assert_eq!(base.inventory.trust.hosts, Trust::Known);
    let LoadedWorkspace { inventory, .. } = read::load_workspace(&fixture.path(), now(), &|_| {});
    assert!(matches!(inventory.unwrap().trust.hosts, Trust::Distrusted { .. }));
}

#[test]
fn errors_in_a_base_have_its_name() {
    let Some(fixture) = repository("agents") else { return };
    fixture.write("projects/web.yaml", "id: web\nvlan_schme: static\n");
    fixture.write("agents/one.jsonl", "{\n");
    fixture.commit();
    fixture.write("projects/web.yaml", WEB);
    let base = good(&fixture, "HEAD");
    let found = crate::diag::render(&base.diagnostics.errors(), &base.files());
    let lines: Vec<&str> = found.lines().filter(|line| !line.starts_with(' ')).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    HEAD:projects/web.yaml:1:1: error[missing-key]: the key `vlan_scheme` is missing
    HEAD:projects/web.yaml:1:1: error[missing-key]: the key `vlans` is missing
    HEAD:projects/web.yaml:2:1: error[unknown-key]: this table has no key `vlan_schme`
    agents/one.jsonl:1:1: error[bad-json]: EOF while parsing an object
    ");
    insta::assert_snapshot!(remarks(&base), @"HEAD: base-has-errors: the base has 4 errors that the workspace does not \
                                              have: causes of changes may be wrong where they depend on them");
}

#[test]
fn a_base_whose_settings_cannot_be_used_is_an_error() {
    let Some(fixture) = repository("") else { return };
    fixture.write("zonewright.toml", TOML.replace("free_domain", "fre_domain"));
    fixture.commit();
    fixture.write("zonewright.toml", TOML);
    let error = load(&fixture.path(), "HEAD", now()).unwrap_err();
    assert_eq!(error.to_string(), "zonewright.toml of the base `HEAD` cannot be used");
    let BaseError::Config(_, findings) = error else { panic!("the settings are bad") };
    let found = crate::diag::render(&findings.diagnostics, &findings.files);
    assert!(found.starts_with("HEAD:zonewright.toml:"), "{found}");
}

#[test]
fn a_base_that_cannot_be_read_says_what_to_do() {
    let Some(fixture) = repository("") else { return };
    fixture.git(&["mv", "zonewright.toml", "elsewhere.toml"]);
    fixture.commit();
    fixture.write("zonewright.toml", TOML);
    let told = |workspace: &Path, base: &str| {
        let error = load(workspace, base, now()).unwrap_err();
        format!("{error}\n  {}\n", error.hint())
    };
    let told: String =
        ["HEAD", "nowhere", "-x", "./nowhere", "main/", ""].map(|base| told(&fixture.path(), base)).concat();
    insta::assert_snapshot!(told, @r"
    the base `HEAD` has no workspace here: it lacks zonewright.toml
      name a revision that has the workspace in the same folder, or another folder
    the base `nowhere` cannot be read: there is no such revision
      name a branch, a tag or a commit that this clone has, or a folder with a zonewright.toml
    the base `-x` cannot be read: there is no such revision
      name a branch, a tag or a commit that this clone has, or a folder with a zonewright.toml
    the base `./nowhere` is not a folder with a zonewright.toml
      name a folder with a workspace, or a revision of git such as `origin/main`
    the base `main/` is not a folder with a zonewright.toml
      name a folder with a workspace, or a revision of git such as `origin/main`
    the base `` cannot be read: there is no such revision
      name a branch, a tag or a commit that this clone has, or a folder with a zonewright.toml
    ");
    let elsewhere = tempfile::tempdir().unwrap();
    let error = load(elsewhere.path(), "HEAD", now()).unwrap_err();
    assert_eq!(error.to_string(), "the base `HEAD` cannot be read: the workspace is not in a git repository");
}

/// A workspace, and a folder with another state of some of its files.
fn two_folders(names: &[&str]) -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (workspace, base) = (dir.path().join("workspace"), dir.path().join("base"));
    let write = |path: std::path::PathBuf, text: String| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (name, text) in files() {
        write(workspace.join(name), text.clone());
        if names.contains(&name) {
            write(base.join(name), text);
        }
    }
    (dir, workspace, base)
}

#[test]
fn a_folder_stands_in_front_as_far_as_it_goes() {
    let (_dir, workspace, base) = two_folders(&["zonewright.toml", "projects/web.yaml", "racktables/l3-tors.txt"]);
    fs::write(base.join("racktables/l3-tors.txt"), "sas1-s1 542 2a02:6b8:0:9::/64\n").unwrap();
    fs::write(workspace.join("projects/new.yaml"), WEB.replace("web", "new")).unwrap();
    fs::write(workspace.join("names.lock"), LOCK).unwrap();
    let name = base.to_str().unwrap();
    let found = load(&workspace, name, now()).unwrap();
    assert_eq!((found.commit.as_deref(), projects(&found), remarks(&found)), (None, vec!["web"], String::new()));
    let names: Vec<&str> = found.borrowed.iter().map(|borrowed| borrowed.name.as_str()).collect();
    let expected = [
        "agents/one.jsonl",
        "names.lock",
        "racktables/hosts.csv",
        "racktables/ipv4-map.txt",
        "racktables/net-layout.xml",
    ];
    assert_eq!(names, expected);
    let files = found.files();
    let all = found.inventory.exports.iter().filter_map(|export| export.first);
    let all: Vec<&str> = all.map(|file| files.name(file)).filter(|name| name.contains("l3-tors")).collect();
    assert_eq!(all, [base.join("racktables/l3-tors.txt").to_str().unwrap()]);
}

#[cfg(unix)]
#[test]
fn links_lead_out_of_no_base() {
    let (dir, workspace, base) = two_folders(&["zonewright.toml"]);
    fs::write(dir.path().join("secret"), WEB).unwrap();
    fs::create_dir(base.join("projects")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), base.join("projects/web.yaml")).unwrap();
    let found = load(&workspace, base.to_str().unwrap(), now()).unwrap();
    let codes: Vec<&str> = found.diagnostics.errors().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert!(codes.contains(&"outside-workspace"), "{codes:?}");
    assert_eq!(projects(&found), Vec::<&str>::new());
}

#[test]
fn who_does_not_own_the_repository_is_told_how_to_trust_it() {
    let says = format!("{FOREIGN} in repository at 'somewhere'");
    let error = BaseError::Git("main".to_owned(), GitError::Says(says));
    assert!(error.hint().contains("safe.directory"), "{}", error.hint());
    let other = BaseError::Git("main".to_owned(), GitError::Says("bad object".to_owned()));
    assert!(!other.hint().contains("safe.directory"));
}
