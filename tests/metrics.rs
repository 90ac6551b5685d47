//! `--metrics FILE` of the built binary: there however a command ends, and read by Prometheus.

#[path = "folder/copy.rs"]
mod copy;
#[path = "folder/edit.rs"]
mod edit;
#[expect(dead_code, reason = "this file needs promtool, and no Python")]
mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use copy::copy;
use edit::edit;
use tempfile::TempDir;

/// The clock of all runs.
const NOW: &str = "2026-11-20T02:00:00Z";

/// A small healthy workspace, and a folder for metrics next to it.
struct Place {
    /// Both.
    folder: TempDir,
}

impl Place {
    /// A copy of the workspace that all cases start from.
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&support::root().join("tests/cases/_base"), &folder.path().join("workspace"));
        fs::create_dir(folder.path().join("metrics")).expect("a folder");
        Place { folder }
    }

    /// The workspace.
    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// The same, in which two hosts are to be changed.
    fn moved() -> Place {
        let place = Place::new();
        edit(&place.workspace(), "racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
        place
    }

    /// A file for metrics.
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("metrics").join(name)
    }

    /// Runs a command that writes its metrics to a file.
    fn run(&self, args: &[&str], name: &str) -> Output {
        let mut all = vec!["-C".to_owned(), self.workspace().display().to_string(), "--now".into(), NOW.into()];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        all.extend(["--metrics".to_owned(), self.file(name).display().to_string()]);
        support::zonewright(&all, None)
    }

    /// What a file of metrics holds.
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).expect("the metrics were written")
    }

    /// The value of a sample, by the text before it; `None` where there is no such sample.
    fn value(&self, name: &str, sample: &str) -> Option<f64> {
        let text = self.text(name);
        let mut numbers = text.lines().filter_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        numbers.next().map(|number| number.parse().expect("a number"))
    }
}

/// What a command printed on standard error.
fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The program that checks metrics; none where it is not installed.
fn promtool() -> Option<PathBuf> {
    let found = ["promtool", "/usr/bin/promtool"].into_iter().map(PathBuf::from);
    found.into_iter().find(|program| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn prometheus_reads_what_every_command_writes() {
    let Some(promtool) = promtool() else {
        return support::skip("promtool is not installed: what Prometheus says of the metrics was not asked");
    };
    let place = Place::moved();
    let hosts = place.workspace().join("racktables/hosts.csv");
    let rows = fs::read_to_string(&hosts).expect("hosts.csv");
    let hostile = "301,,\"q\"\"{}\\n\\ \u{e9}#\",assigned,sas,q1,r1,sas-s1,ge3,\n";
    fs::write(&hosts, rows + hostile).expect("hosts.csv");
    for (command, args) in [
        ("plan", vec!["plan"]),
        ("drift", vec!["drift"]),
        ("apply", vec!["apply", "--yes"]),
        ("broken", vec!["plan", "--host", "9"]),
    ] {
        let name = format!("{command}.prom");
        place.run(&args, &name);
        let file = fs::File::open(place.file(&name)).expect("the metrics were written");
        let output = Command::new(&promtool)
            .args(["check", "metrics"])
            .stdin(Stdio::from(file))
            .output()
            .expect("promtool runs");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(output.status.success() && said.is_empty(), "{command}: {said}\n{}", place.text(&name));
    }
    assert!(place.text("plan.prom").contains("project=\"q\\\"{}"), "{}", place.text("plan.prom"));
}

#[test]
fn of_pools_with_several_targets_each_copy_is_reported() {
    let place = Place::new();
    let workspace = place.workspace();
    let pair = |name: &str, dir: &str| {
        format!("[[pool.main.target]]\nname = \"{name}\"\ntype = \"zonefile\"\ndir = \"{dir}\"\n")
    };
    copy(&workspace.join("zones"), &workspace.join("copies"));
    edit(&workspace, "copies/web.example.net.zone", "\nsas0-0001 AAAA", "\nsas0-9999 AAAA 2001:db8::1\nsas0-0001 AAAA");
    let one = "[[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n";
    edit(&workspace, "zonewright.toml", one, &[pair("a", "zones"), pair("b", "copies")].concat());
    place.run(&["plan"], "plan.prom");
    let value = |metric: &str, labels: &str| {
        place.value("plan.prom", &format!("zonewright_{metric}{{command=\"plan\",{labels}}}"))
    };
    let of_copy = |metric, target| value(metric, &format!("zone=\"web.example.net.\",target=\"{target}\""));
    assert_eq!([of_copy("zone_read", "a"), of_copy("zone_read", "b")], [Some(1.0); 2]);
    assert_eq!(of_copy("zone_serial", "a"), of_copy("zone_serial", "b"));
    assert_eq!(of_copy("zone_rrsets", "b"), of_copy("zone_rrsets", "a").map(|rrsets| rrsets + 1.0));
    assert_eq!(value("zone_read", "zone=\"web.example.net.\""), None, "each sample is of one copy");
}

#[test]
fn what_was_found_and_done_is_reported() {
    let place = Place::moved();
    assert_eq!(place.run(&["drift"], "drift.prom").status.code(), Some(2));
    let value = |sample: &str| place.value("drift.prom", sample);
    assert_eq!(
        value("zonewright_strayed_rrsets{command=\"drift\",class=\"never-applied\",project=\"web\"}"),
        Some(6.0)
    );
    assert_eq!(value("zonewright_run_exit_code{command=\"drift\"}"), Some(2.0));
    assert_eq!(value("zonewright_run_success{command=\"drift\"}"), Some(1.0));
    assert_eq!(value("zonewright_last_apply_timestamp_seconds{command=\"drift\"}"), None, "there was none");
    assert_eq!(place.run(&["apply", "--yes"], "apply.prom").status.code(), Some(0));
    let value = |sample: &str| place.value("apply.prom", sample);
    assert_eq!(value("zonewright_pending_changes{command=\"apply\"}"), Some(6.0));
    assert_eq!(value("zonewright_apply_hosts{command=\"apply\",outcome=\"applied\"}"), Some(2.0));
    assert_eq!(value("zonewright_apply_updates{command=\"apply\"}"), Some(2.0));
    assert_eq!(value("zonewright_apply_changes{command=\"apply\"}"), Some(6.0));
    let now = 1_795_140_000.0;
    assert_eq!(value("zonewright_last_apply_timestamp_seconds{command=\"apply\"}"), Some(now));
    assert_eq!(value("zonewright_run_timestamp_seconds{command=\"apply\"}"), Some(now));
    for stage in ["inventory", "zones", "compare", "digest", "survey", "send", "read_back"] {
        let sample = format!("zonewright_run_stage_duration_seconds{{command=\"apply\",stage=\"{stage}\"}}");
        assert!(value(&sample).is_some_and(|took| took >= 0.0), "{stage}");
    }
    edit(&place.workspace(), "zones/web.example.net.zone", "0:9:0:1478:0:101", "0:9::dead");
    assert_eq!(place.run(&["drift"], "drift.prom").status.code(), Some(2));
    assert_eq!(place.value("drift.prom", "zonewright_drifted_rrsets{command=\"drift\"}"), Some(1.0));
    let names: Vec<_> = fs::read_dir(place.folder.path().join("metrics")).expect("a folder").collect();
    assert_eq!(names.len(), 2, "an old file gives way, and nothing else is left: {names:?}");
}

#[test]
fn a_plan_that_is_refused_shows() {
    let place = Place::moved();
    let file = place.workspace().join("projects/web.yaml");
    let text = fs::read_to_string(&file).expect("a project file");
    fs::write(&file, text + "limits: {hosts: [{period: 1h, max: 1}]}\n").expect("a project file");
    assert_eq!(place.run(&["plan"], "plan.prom").status.code(), Some(0));
    let value = |sample: &str| place.value("plan.prom", sample);
    assert_eq!(value("zonewright_plan_refused{command=\"plan\"}"), Some(1.0));
    assert_eq!(value("zonewright_plan_refusal_info{command=\"plan\",code=\"limit-exceeded\"}"), Some(1.0));
    assert_eq!(value("zonewright_limit_exceeded{command=\"plan\",limit=\"project:web/1h\"}"), Some(1.0));
    assert_eq!(value("zonewright_breakers_tripped{command=\"plan\"}"), Some(0.0));
    assert_eq!(place.run(&["apply", "--auto"], "apply.prom").status.code(), Some(3));
    let value = |sample: &str| place.value("apply.prom", sample);
    assert_eq!(value("zonewright_plan_refused{command=\"apply\"}"), Some(1.0));
    assert_eq!(value("zonewright_run_exit_code{command=\"apply\"}"), Some(3.0));
    assert_eq!(value("zonewright_run_success{command=\"apply\"}"), Some(0.0));
    assert_eq!(value("zonewright_breakers_tripped{command=\"apply\"}"), Some(1.0), "this run tripped it");
    let tripped = "zonewright_breaker_tripped_timestamp_seconds{command=\"apply\",scope=\"project:web\"}";
    assert_eq!(value(tripped), Some(1_795_140_000.0));
}

#[test]
fn a_run_without_a_plan_leaves_metrics_too() {
    let place = Place::new();
    fs::write(place.workspace().join("zonewright.toml"), "owner =\n").expect("the settings");
    assert_eq!(place.run(&["plan"], "plan.prom").status.code(), Some(1));
    assert_eq!(place.value("plan.prom", "zonewright_plan_made{command=\"plan\"}"), Some(0.0));
    assert_eq!(place.value("plan.prom", "zonewright_run_success{command=\"plan\"}"), Some(0.0));
    assert_eq!(place.value("plan.prom", "zonewright_breakers_tripped{command=\"plan\"}"), None, "it is unknown");
    assert_eq!(place.run(&["apply", "no-such-plan.json", "--yes"], "apply.prom").status.code(), Some(1));
    assert_eq!(place.value("apply.prom", "zonewright_run_exit_code{command=\"apply\"}"), Some(1.0));
}

#[test]
fn metrics_that_cannot_be_written_hide_nothing() {
    let place = Place::new();
    let healthy = place.run(&["plan"], "no-such-folder/plan.prom");
    assert_eq!(healthy.status.code(), Some(1), "their users rely on them");
    assert!(stderr(&healthy).contains("no-such-folder/plan.prom: error[metrics-unwritable]: "), "{}", stderr(&healthy));
    assert!(
        String::from_utf8_lossy(&healthy.stdout).contains("No changes: live DNS matches"),
        "it was printed all the same"
    );
    let moved = Place::moved();
    assert_eq!(moved.run(&["drift"], "no-such-folder/drift.prom").status.code(), Some(2), "which says more");
}

#[test]
fn a_name_that_the_collector_ignores_is_reported() {
    let place = Place::new();
    let output = place.run(&["plan"], "plan.txt");
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("plan.txt: warning[metrics-file-name]: "), "{}", stderr(&output));
    assert!(place.text("plan.txt").starts_with("# HELP zonewright_build_info "));
    assert_eq!(stderr(&place.run(&["plan"], "plan.prom")), "");
}

#[cfg(unix)]
#[test]
fn others_may_read_the_metrics() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let command = format!(
        "umask 077; exec \"$0\" plan -C '{}' --now {NOW} --metrics '{}'",
        place.workspace().display(),
        place.file("plan.prom").display()
    );
    let run = Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_zonewright")]).output().expect("a shell");
    assert!(run.status.success(), "{}", stderr(&run));
    let found = fs::metadata(place.file("plan.prom")).expect("the metrics were written");
    assert_eq!(found.permissions().mode() & 0o777, 0o644);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_leaves_nothing_behind() {
    let place = Place::new();
    let command = format!(
        "ulimit -f 1; exec \"$0\" plan -C '{}' --now {NOW} --metrics '{}'",
        place.workspace().display(),
        place.file("plan.prom").display()
    );
    let run = Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_zonewright")]).output().expect("a shell");
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    assert!(stderr(&run).contains("plan.prom: error[metrics-unwritable]: "), "{}", stderr(&run));
    assert_eq!(fs::read_dir(place.folder.path().join("metrics")).expect("a folder").count(), 0);
}
