//! `check-jsonschema`, which holds workflows and manifests to their JSON Schemas. `ci/test` installs it under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;

/// The program; none where it is not installed.
pub fn check_jsonschema() -> Option<PathBuf> {
    let own = support::root().join("target/check-jsonschema/bin/check-jsonschema");
    let works = |program: &Path| Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    [own, PathBuf::from("check-jsonschema")].into_iter().find(|program| works(program))
}

/// Holds files, by their paths below the project, to a schema: `["--builtin-schema", NAME]` or `["--schemafile", FILE]`. Skips
/// where the program is not installed.
pub fn assert_valid(schema: [&str; 2], files: &[&str]) {
    let Some(program) = check_jsonschema() else {
        return support::skip("check-jsonschema is not installed (ci/test does it)");
    };
    let output = Command::new(program).current_dir(support::root()).args(schema).args(files).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
