//! `ci/kubernetes/`: the manifests are what Kubernetes takes, and say what they must.

use std::process::Command;

use crate::schemas::{assert_valid, check_jsonschema};
use crate::{PROGRAM, assert_ended, file, text};

/// The schema of the kinds that occur.
const SCHEMA: &str = "tests/schemas/kubernetes-1.34.json";

#[test]
fn the_manifests_follow_the_schema_of_kubernetes() {
    assert_valid(["--schemafile", SCHEMA], &["ci/kubernetes/cronjob.yaml", "ci/kubernetes/state.yaml"]);
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
fn the_job_has_the_least_rights_and_runs_once() {
    let manifest = text("ci/kubernetes/cronjob.yaml");
    for part in [
        "concurrencyPolicy: Forbid",
        "backoffLimit: 0",
        "restartPolicy: Never",
        "automountServiceAccountToken: false",
        "runAsNonRoot: true",
        "allowPrivilegeEscalation: false",
        "readOnlyRootFilesystem: true",
        "drop: [ALL]",
        "type: RuntimeDefault",
        &format!("/zonewright:{}\n", env!("CARGO_PKG_VERSION")),
    ] {
        assert_eq!(manifest.matches(part).count(), 1, "{part}");
    }
}

#[test]
fn the_program_takes_what_the_job_calls_it_with() {
    let manifest = text("ci/kubernetes/cronjob.yaml");
    let args =
        manifest.lines().find_map(|line| line.trim().strip_prefix("args: [")?.strip_suffix(']')).expect("arguments");
    let output = Command::new(PROGRAM).args(args.split(", ")).output().expect("the binary was built for this test");
    assert_ended(&output, 1, "source-missing");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("Usage"), "the arguments are understood");
}
