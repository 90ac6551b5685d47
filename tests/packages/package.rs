//! What `cargo package` and cargo-deb take: all that the program is built from, and nothing that is not there.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::{assert_ended, file, support, text};

/// The files that `cargo package` takes.
fn packaged() -> BTreeSet<PathBuf> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["package", "--list", "--allow-dirty", "--offline"]).current_dir(support::root());
    let output = command.output().expect("cargo runs this test");
    assert_ended(&output, 0, "Cargo.toml");
    String::from_utf8(output.stdout).expect("UTF-8").lines().map(PathBuf::from).collect()
}

/// A path without `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.into_iter().collect()
}

#[test]
fn the_package_has_all_that_the_program_is_built_from() {
    let packaged = packaged();
    let mut count = 0;
    for source in packaged.iter().filter(|path| path.starts_with("src")) {
        let shown = source.to_str().expect("UTF-8");
        for part in text(shown).split("include_str!(\"").skip(1) {
            let (included, _) = part.split_once('"').expect("a quote ends the path");
            let included = resolved(&source.parent().expect("a folder").join(included));
            assert!(packaged.contains(&included), "{shown} includes {}", included.display());
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
    for folder in ["tests", "ci", "inventory", "target", "examples"] {
        assert!(
            !packaged.iter().any(|path| path.starts_with(folder)),
            "{folder} is of no use to who installs the program"
        );
    }
}

#[test]
fn the_debian_package_is_made_of_what_is_there() {
    let manifest: toml::Table = text("Cargo.toml").parse().expect("TOML");
    let deb = &manifest["package"]["metadata"]["deb"];
    let release = text("ci/release");
    let mut targets = BTreeSet::new();
    for asset in deb["assets"].as_array().expect("a list") {
        let part = |place: usize| asset[place].as_str().expect("text");
        let (source, target) = (part(0), part(1));
        match source.strip_prefix("target/") {
            Some("release/zonewright") => {}
            Some(made) => {
                let name =
                    made.strip_prefix("made/").expect("the folder of what ci/release makes").replace("man/*.1", "man");
                assert!(release.contains(&format!("\"$made/{name}\"")), "ci/release does not make {source}");
            }
            None => {
                let pattern = file(source);
                let found = glob::glob(pattern.to_str().expect("UTF-8")).expect("a pattern").count();
                assert!(found > 0, "{source}");
            }
        }
        assert!(!target.starts_with('/'), "{target}");
        targets.insert(target);
    }
    for target in ["usr/bin/", "usr/share/man/man1/", "usr/share/doc/zonewright/copyright"] {
        assert!(targets.contains(target), "{target}");
    }
    let units = &deb["systemd-units"];
    for switch in ["enable", "start", "restart-after-upgrade", "stop-on-upgrade"] {
        assert_eq!(units[switch].as_bool(), Some(false), "{switch}: a person switches on what changes DNS");
    }
}
