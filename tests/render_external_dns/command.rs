//! The command: what it writes and says, and its exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::workspace::{EDGE, NOW, Workspace, app, list, table};

/// Runs the command in a workspace.
fn render(workspace: &Workspace, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.current_dir(workspace.path()).env("NO_COLOR", "1");
    command.args(["render", "external-dns", "--out", "out", "--now", NOW]).args(more);
    command.output().expect("the binary was built for this test")
}

/// Asserts how the command ended and what it printed on standard output.
fn assert_says(output: &Output, code: i32, lines: &[&str]) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), out.lines().collect::<Vec<_>>()), (Some(code), lines.to_vec()), "{err}");
}

/// Asserts that the command refused, and why.
fn assert_refused(output: &Output, code: i32, why: &str) {
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(code) && err.contains(why), "{:?} {err}", output.status);
}

/// The files of a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                fs::read_to_string(&path).expect("a text"),
            )
        })
        .collect()
}

/// A workspace with one app in use.
fn in_use() -> Workspace {
    let workspace = Workspace::new(&table("edge", "external-dns"));
    workspace.write("apps/shop.yaml", &app("shop", "shop", &[("web", "web.example.net", "192.0.2.10")]));
    workspace
}

#[test]
fn a_folder_is_brought_up_to_date_and_checked() {
    let workspace = in_use();
    let would = [
        "out/dnsendpoint_shop_web-edge.yaml: would be written",
        "out/external-dns_edge.yaml: would be written",
        "out: 2 files would be written",
    ];
    assert_says(&render(&workspace, &["--check"]), 2, &would);
    assert!(!workspace.path().join("out").exists());
    let written =
        ["out/dnsendpoint_shop_web-edge.yaml: written", "out/external-dns_edge.yaml: written", "out: 2 files written"];
    assert_says(&render(&workspace, &[]), 0, &written);
    let before = files(&workspace.path().join("out"));
    assert_says(&render(&workspace, &[]), 0, &["out: 2 files up to date"]);
    assert_says(&render(&workspace, &["--check"]), 0, &["out: 2 files up to date"]);
    assert_says(&render(&workspace, &["--check", "--quiet", "--image", "other:1"]), 2, &[]);
    assert_eq!(files(&workspace.path().join("out")), before);
    workspace.remove("apps/shop.yaml");
    let emptied = [
        "out/dnsendpoint_shop_web-edge.yaml: removed",
        "out/external-dns_edge.yaml: written",
        "out: 1 file written, 1 file removed",
    ];
    assert_says(&render(&workspace, &[]), 0, &emptied);
    assert_says(
        &render(&workspace, &["--check"]),
        2,
        &["out/external-dns_edge.yaml: would be removed", "out: 1 file would be removed"],
    );
    assert_says(&render(&workspace, &[]), 0, &["out/external-dns_edge.yaml: removed", "out: 1 file removed"]);
    assert_says(&render(&workspace, &[]), 0, &["out: 0 files up to date"]);
}

#[test]
fn the_exit_code_says_what_is_blocked() {
    let workspace = in_use();
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    let before = files(&workspace.path().join("out"));
    workspace.write("clusters/c1.yaml", &list(&["edge"]));
    workspace.write(
        "apps/new.yaml",
        &app("new", "shop", &[("new", "new.example.net", "192.0.2.11")]).replace("cluster: c1", "cluster: c2"),
    );
    let output = render(&workspace, &[]);
    assert_refused(&output, 4, "warning[not-rendered]: dnsendpoint_shop_web-edge.yaml stays as it is: the lists");
    let after = files(&workspace.path().join("out"));
    assert_eq!(after["dnsendpoint_shop_web-edge.yaml"], before["dnsendpoint_shop_web-edge.yaml"]);
    assert!(after.contains_key("dnsendpoint_shop_new-edge.yaml"), "all else is written");
    // It wins over what would be written.
    assert_eq!(render(&workspace, &["--check", "--image", "other:1"]).status.code(), Some(4));
}

#[test]
fn nothing_is_written_where_files_are_in_doubt() {
    let workspace = in_use();
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    let before = files(&workspace.path().join("out"));
    fs::remove_dir_all(workspace.path().join("apps")).expect("the apps");
    assert_refused(&render(&workspace, &[]), 1, "nothing was written: ");
    workspace.write("apps/idle.yaml", &app("idle", "idle", &[]));
    fs::remove_dir_all(workspace.path().join("records")).expect("the records");
    assert_refused(&render(&workspace, &[]), 1, "nothing was written: ");
    assert_eq!(files(&workspace.path().join("out")), before);
    assert_refused(&render(&workspace, &["--zone", "example.net"]), 1, "does not take");
}

#[test]
fn what_cannot_be_written_is_an_error_and_the_next_call_goes_on() {
    let workspace = in_use();
    workspace.write("out", "a file\n");
    assert_refused(&render(&workspace, &[]), 1, "out: error[render-not-saved]: the folder could not be read");
    workspace.remove("out");
    // A folder in the place of a file; all else is done.
    fs::create_dir_all(workspace.path().join("out/external-dns_edge.yaml")).expect("a folder");
    let output = render(&workspace, &[]);
    assert_refused(
        &output,
        1,
        "out/external-dns_edge.yaml: error[render-not-saved]: the file cannot be written: it is no",
    );
    let done = ["out/dnsendpoint_shop_web-edge.yaml: written", "out: 1 file written, 1 file cannot be read or written"];
    assert_says(&output, 1, &done);
    fs::remove_dir(workspace.path().join("out/external-dns_edge.yaml")).expect("the folder");
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    assert_eq!(files(&workspace.path().join("out")).len(), 2);
}

/// A service more in a workspace in use.
fn add_service(workspace: &Workspace, name: &str) {
    let services = [(name, &*format!("{name}.example.net"), "192.0.2.11")];
    workspace.write(&format!("apps/{name}.yaml"), &app(name, "shop", &services));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_file_stops_no_other_file() {
    let workspace = in_use();
    let out = workspace.path().join("out");
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    add_service(&workspace, "api");
    workspace.write("own", "mine\n");
    std::os::unix::fs::symlink("../own", out.join("dnsendpoint_shop_api-edge.yaml")).expect("a link");
    let fault = "out/dnsendpoint_shop_api-edge.yaml: error[render-not-saved]: the file cannot be written: it is a symbolic link";
    assert_refused(&render(&workspace, &["--check"]), 1, fault);
    let output = render(&workspace, &[]);
    assert_refused(&output, 1, fault);
    let summary = "out: 1 file written, 1 file up to date, 1 file cannot be read or written";
    assert_says(&output, 1, &["out/external-dns_edge.yaml: written", summary]);
    assert_eq!(fs::read_to_string(workspace.path().join("own")).expect("a file"), "mine\n");
}

#[cfg(unix)]
#[test]
fn an_endpoint_that_cannot_be_written_keeps_external_dns_from_starting() {
    let workspace = in_use();
    let out = workspace.path().join("out");
    fs::create_dir(&out).expect("a folder");
    std::os::unix::fs::symlink("nowhere", out.join("dnsendpoint_shop_web-edge.yaml")).expect("a link");
    add_service(&workspace, "api");
    let output = render(&workspace, &[]);
    assert_refused(
        &output,
        1,
        "warning[not-rendered]: the file stays as it is: not all endpoints of the record are written",
    );
    assert!(out.join("dnsendpoint_shop_api-edge.yaml").exists() && !out.join("external-dns_edge.yaml").exists());
}

#[test]
fn what_stays_is_counted_and_said() {
    let workspace = in_use();
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    let left = ["out: 0 files up to date, 2 files left as they are"];
    workspace.write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: false\npolicy: create-only\n");
    assert_says(&render(&workspace, &[]), 4, &left);
    workspace.write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: true\npolicy: create-only\n");
    // No table, a record that is wrong with another table, and no record.
    let text = fs::read_to_string(workspace.path().join("zonewright.toml")).expect("settings");
    workspace.write("zonewright.toml", text.split("[dns_update_record").next().expect("a part"));
    let output = render(&workspace, &[]);
    assert_says(&output, 4, &left);
    assert_refused(&output, 4, "stay as they are: zonewright.toml has no table for it");
    workspace.write("zonewright.toml", &text.replace("external-dns", "zonewright"));
    workspace.write("records/edge.yaml", &EDGE.replace("policy: sync", "policy: sink"));
    let output = render(&workspace, &[]);
    assert_says(&output, 4, &left);
    assert_refused(&output, 4, "the file stays as it is: its record `edge` is wrong");
    workspace.write("zonewright.toml", &text);
    workspace.remove("records/edge.yaml");
    workspace.write("records/other.yaml", &EDGE.replace("name: edge", "name: other"));
    assert_says(&render(&workspace, &[]), 4, &left);
    workspace.write("records/edge.yaml", EDGE);
    workspace.remove("records/other.yaml");
    assert_says(&render(&workspace, &[]), 0, &["out: 2 files up to date"]);
}

#[test]
fn an_empty_file_of_a_record_keeps_the_files_of_that_record_alone() {
    let workspace = in_use();
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    let before = files(&workspace.path().join("out"));
    for text in ["", "# nothing\n", "---\n", "null\n"] {
        workspace.write("records/edge.yaml", text);
        let output = render(&workspace, &[]);
        assert_says(&output, 4, &["out: 0 files up to date, 2 files left as they are"]);
        assert_refused(&output, 4, "no file has its record `edge`");
        assert_eq!(files(&workspace.path().join("out")), before);
    }
}

#[test]
fn what_a_killed_run_left_goes_with_the_next_one() {
    let workspace = in_use();
    let out = workspace.path().join("out");
    let left = [".external-dns_edge.yaml.4194305-0.tmp", ".dnsendpoint_shop_web-edge.yaml.1-3.tmp"];
    let others = [".external-dns_edge.yaml.swp", ".own.yaml.1-0.tmp"];
    for name in left.into_iter().chain(others) {
        workspace.write(&format!("out/{name}"), "part");
    }
    assert_eq!(render(&workspace, &["--check", "--quiet"]).status.code(), Some(2));
    assert_eq!(files(&out).len(), 4);
    assert_says(
        &render(&workspace, &[]),
        0,
        &["out/dnsendpoint_shop_web-edge.yaml: written", "out/external-dns_edge.yaml: written", "out: 2 files written"],
    );
    let after = files(&out);
    assert!(after.len() == 4 && others.iter().all(|name| after.contains_key(*name)), "{after:?}");
    workspace.write(&format!("out/{}", left[0]), "part");
    assert_says(&render(&workspace, &[]), 0, &["out: 2 files up to date"]);
    assert_eq!(files(&out).len(), 4);
}

#[test]
fn an_image_needs_a_name_without_blanks() {
    let workspace = in_use();
    for image in ["", " ", "a b", "a\nb", "a\tb", "ä"] {
        let output = render(&workspace, &["--image", image]);
        assert_refused(&output, 1, "an image has a name without blanks");
    }
    assert!(!workspace.path().join("out").exists());
    assert_eq!(
        render(&workspace, &["--quiet", "--image", "r.example.net:5000/dns@sha256:0a1b"]).status.code(),
        Some(0)
    );
}

#[test]
fn the_label_is_that_of_the_settings() {
    let workspace = in_use();
    workspace.add_settings("record_label = \"example.net/dns\"\n", "");
    assert_eq!(render(&workspace, &["--quiet"]).status.code(), Some(0));
    let files = files(&workspace.path().join("out"));
    assert!(files.values().all(|text| text.contains("example.net/dns: edge")));
    assert!(files["external-dns_edge.yaml"].contains("--label-filter=example.net/dns=edge"));
}
