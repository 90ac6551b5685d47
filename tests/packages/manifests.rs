//! `ci/kubernetes/`: the manifests are what Kubernetes takes, and say what they must.

use std::process::Command;

use crate::schemas::{assert_valid, check_jsonschema};
use crate::{PROGRAM, assert_ended, file, text};

/// The schema of the kinds that occur.
const SCHEMA: &str = "tests/schemas/kubernetes-1.34.json";

#[test]
fn the_manifests_follow_the_schema_of_kubernetes() {
    assert_valid(
        ["--schemafile", SCHEMA],
        &["ci/kubernetes/cronjob.yaml", "ci/kubernetes/deployment.yaml", "ci/kubernetes/state.yaml"],
    );
    // The schema is strict: it would find a word that is misspelt.
    let Some(program) = check_jsonschema() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = folder.path().join("cronjob.yaml");
    let manifest = text("ci/kubernetes/cronjob.yaml").replace("readOnlyRootFilesystem", "readOnlyRootFileSystem");
    std::fs::write(&wrong, manifest).expect("a file");
    let output = Command::new(program).arg("--schemafile").arg(file(SCHEMA)).arg(wrong).output().expect("it runs");
    assert_ended(&output, 1, "readOnlyRootFileSystem");
}

#[test]
fn the_job_and_the_deployment_have_the_least_rights() {
    let once = ["concurrencyPolicy: Forbid", "backoffLimit: 0", "restartPolicy: Never"];
    let always = ["replicas: 2", "path: /readyz", "path: /healthz"];
    for (manifest, own) in [("cronjob", once), ("deployment", always)] {
        assert_least_rights(&text(&format!("ci/kubernetes/{manifest}.yaml")), &own);
    }
}

/// Asserts that a manifest has each of these parts once, and those that keep its pod from all that it does not need.
fn assert_least_rights(manifest: &str, own: &[&str]) {
    for part in own.iter().copied().chain([
        "automountServiceAccountToken: false",
        "runAsNonRoot: true",
        "allowPrivilegeEscalation: false",
        "readOnlyRootFilesystem: true",
        "drop: [ALL]",
        "type: RuntimeDefault",
        concat!("/zonewright:", env!("CARGO_PKG_VERSION"), "\n"),
    ]) {
        assert_eq!(manifest.matches(part).count(), 1, "{part}");
    }
}

#[test]
fn the_program_takes_what_the_job_calls_it_with() {
    let manifest = text("ci/kubernetes/deployment.yaml");
    let args =
        manifest.lines().find_map(|line| line.trim().strip_prefix("args: [")?.strip_suffix(']')).expect("arguments");
    let mut command = Command::new(PROGRAM);
    command.args(args.replace("0.0.0.0:7979", "none").replace('"', "").split(", ")).args(["--once", "--dry-run"]);
    assert_ended(&command.output().expect("the binary was built for this test"), 1, "source-missing");
    let manifest = text("ci/kubernetes/cronjob.yaml");
    let args =
        manifest.lines().find_map(|line| line.trim().strip_prefix("args: [")?.strip_suffix(']')).expect("arguments");
    let output = Command::new(PROGRAM).args(args.split(", ")).output().expect("the binary was built for this test");
    assert_ended(&output, 1, "source-missing");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("Usage"), "the arguments are understood");
}
