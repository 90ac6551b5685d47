//! What must hold of the files as they are: schemas, pinned versions, least rights, and scripts without a fault.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{schemas, support, yaml};

/// The files of a folder of `ci/`, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(support::root().join("ci").join(folder)).expect("a folder");
    let mut files: Vec<_> =
        entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The files with an ending, by their paths below the project.
fn paths(folder: &str, ending: &str) -> Vec<String> {
    let files = files(folder).into_iter();
    let below = files.map(|path| path.strip_prefix(support::root()).expect("below the project").display().to_string());
    below.filter(|path| path.ends_with(ending)).collect()
}

#[test]
fn workflows_are_as_their_schema_says() {
    let files = paths("github/workflows", ".yml");
    schemas::assert_valid(
        ["--builtin-schema", "vendor.github-workflows"],
        &files.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn gitlab_jobs_are_as_their_schema_says() {
    schemas::assert_valid(["--builtin-schema", "vendor.gitlab-ci"], &["ci/gitlab/zonewright.gitlab-ci.yml"]);
}

#[test]
fn actions_are_pinned_and_scripts_hold_no_expression() {
    for path in files("github/workflows") {
        let text = fs::read_to_string(&path).expect("a workflow");
        for line in text.lines().filter(|line| line.contains("uses:")) {
            let (_, version) = line.split_once('@').expect("a version");
            let (commit, tag) = version.split_once(" # v").expect("the version in a comment");
            assert!(
                commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()) && tag.contains('.'),
                "{line}"
            );
        }
        assert!(!text.contains("pull_request_target") && !text.contains("actions/cache"), "{}", path.display());
        let workflow = yaml::parse(&text);
        for job in workflow["jobs"].as_object().expect("jobs").values() {
            let secret = job.to_string().contains("secrets.");
            assert!(!secret || job.get("environment").is_some(), "a secret without an environment: {}", path.display());
            assert!(job.get("timeout-minutes").is_some(), "{}", path.display());
            for step in job["steps"].as_array().expect("steps") {
                assert!(step.get("run").is_none_or(|run| !run.to_string().contains("${{")), "{step}");
            }
        }
    }
    let plan =
        yaml::parse(&fs::read_to_string(support::root().join("ci/github/workflows/zonewright-plan.yml")).expect("it"));
    assert_eq!(plan["permissions"], serde_json::json!({"contents": "read", "actions": "read"}));
    assert!(!plan.to_string().contains("self-hosted") && !plan.to_string().contains("secrets."));
}

#[test]
fn scripts_are_without_a_fault() {
    for folder in ["github/zonewright", "gitlab/zonewright"] {
        let output = Command::new("shellcheck")
            .args(["--external-sources", "--source-path=SCRIPTDIR", "--source-path=."])
            .args(paths(folder, ".sh"))
            .current_dir(support::root())
            .output();
        let Ok(output) = output else { return support::skip("shellcheck is not installed") };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
