//! `ci/pre-commit/check`: it judges what is staged, and leaves tree and index as they are.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::copy::copy;
use crate::{PROGRAM, assert_ended, file, said, text};

/// A line that belongs in no l3-tors.
const WRONG: &str = "sas1-s9 604 2001:db8::/63\n";

/// A repository with a healthy workspace in its folder `dns`, an export that is not in git, and the hook.
struct Repository {
    /// The working tree.
    folder: TempDir,
}

impl Repository {
    /// A repository with one commit.
    fn new() -> Repository {
        let repository = Repository { folder: tempfile::tempdir().expect("a folder") };
        copy(&file("tests/cases/_base"), &repository.path("dns"));
        repository.accept_any_age();
        fs::write(repository.path(".gitignore"), "dns/agents/\n.zonewright/\n").expect("a file");
        for args in [
            &["init", "-q"][..],
            &["config", "user.name", "A"],
            &["config", "user.email", "a@example.net"],
            &["config", "zonewright.workspace", "dns"],
            &["add", "."],
            &["commit", "-q", "-m", "first"],
        ] {
            assert_ended(&repository.git(args), 0, "");
        }
        let hook = repository.path(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
        fs::copy(file("ci/pre-commit/check"), hook).expect("a file");
        repository
    }

    /// Lets the exports be of any age: the hook uses the machine's clock.
    fn accept_any_age(&self) {
        let path = self.path("dns/zonewright.toml");
        let mut settings = fs::read_to_string(&path).expect("a file");
        for (key, file) in [("l3_tors", "l3-tors.txt"), ("net_layout", "net-layout.xml")] {
            let plain = format!("{key} = \"racktables/{file}\"");
            assert!(settings.contains(&plain), "{settings}");
            let any_age = format!("{key} = {{ path = \"racktables/{file}\", max_age = \"none\" }}");
            settings = settings.replace(&plain, &any_age);
        }
        fs::write(&path, settings).expect("a file");
    }

    /// A path in the working tree.
    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    /// Runs git, without any user's settings.
    fn git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.folder.path()).env("ZONEWRIGHT", PROGRAM);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.output().expect("git is installed")
    }

    /// Appends to a file.
    fn append(&self, path: &str, text: &str) {
        let old = fs::read_to_string(self.path(path)).expect("a file");
        fs::write(self.path(path), old + text).expect("a file");
    }

    /// The state of tree and index.
    fn status(&self) -> String {
        said(&self.git(&["status", "--porcelain=v2", "--ignored", "--untracked-files=all"]))
    }
}

/// The files of a folder, as text.
fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn what_is_staged_counts_and_not_the_working_tree() {
    let repository = Repository::new();
    assert!(count(&repository.path("dns/agents")) > 0, "the exports are there, and not in git");
    // The tree is wrong and the index is not.
    repository.append("dns/racktables/l3-tors.txt", "# a comment\n");
    assert_ended(&repository.git(&["add", "."]), 0, "");
    repository.append("dns/racktables/l3-tors.txt", WRONG);
    let before = repository.status();
    assert_ended(&repository.git(&["commit", "-m", "second"]), 0, "");
    let after = repository.status();
    assert!(before.contains("1 MM") && after.contains("1 .M"), "{before}\n{after}");

    // The index is wrong and the tree is not.
    assert_ended(&repository.git(&["add", "."]), 0, "");
    let wrong = fs::read_to_string(repository.path("dns/racktables/l3-tors.txt")).expect("a file");
    fs::write(repository.path("dns/racktables/l3-tors.txt"), wrong.replace(WRONG, "")).expect("a file");
    let before = repository.status();
    let refused = repository.git(&["commit", "-m", "third"]);
    assert_ended(&refused, 1, "racktables/l3-tors.txt:");
    assert_ended(&refused, 1, "error[not-a-64]");
    assert_eq!(repository.status(), before);
    assert_ended(&repository.git(&["log", "--format=%s", "-1"]), 0, "second");
    // A commit of named files has an index of its own, with the files as they are in the tree.
    repository.append("dns/racktables/l3-tors.txt", "# another comment\n");
    assert_ended(&repository.git(&["commit", "-m", "fourth", "dns/racktables/l3-tors.txt"]), 0, "");
}

#[test]
fn a_commit_of_something_else_is_not_checked() {
    let repository = Repository::new();
    fs::write(repository.path("notes"), "text\n").expect("a file");
    assert_ended(&repository.git(&["add", "notes"]), 0, "");
    let mut command = Command::new("git");
    command.args(["commit", "-q", "-m", "second"]).current_dir(repository.folder.path());
    assert_ended(&command.env("ZONEWRIGHT", "no-such-zonewright").output().expect("git runs"), 0, "");
    repository.append("dns/racktables/l3-tors.txt", "# a comment\n");
    let mut command = Command::new("git");
    command.args(["commit", "-a", "-m", "third"]).current_dir(repository.folder.path());
    let output = command.env("ZONEWRIGHT", "no-such-zonewright").output().expect("git runs");
    assert_ended(&output, 1, "no-such-zonewright is not installed; `git commit --no-verify` goes without it");
}

#[test]
fn what_lies_about_is_no_part_of_the_commit() {
    let repository = Repository::new();
    // A file that is to be added some day, a repository of its own, and names that look like options.
    fs::write(repository.path("dns/projects/new.yaml"), "project: [\n").expect("a file");
    assert_ended(&repository.git(&["add", "--intent-to-add", "dns/projects/new.yaml"]), 0, "");
    assert_ended(&repository.git(&["init", "-q", "dns/zz"]), 0, "");
    fs::write(repository.path("dns/zz/file"), "text\n").expect("a file");
    for args in [&["add", "file"][..], &["-c", "user.name=A", "-c", "user.email=a", "commit", "-q", "-m", "other"]] {
        assert_ended(&repository.git(&[&["-C", "dns/zz"], args].concat()), 0, "");
    }
    fs::create_dir(repository.path("-n")).expect("a folder");
    fs::write(repository.path("-n/-x \n y"), "text\n").expect("a file");
    repository.append("dns/racktables/l3-tors.txt", "# a comment\n");
    assert_ended(&repository.git(&["add", "dns/racktables"]), 0, "");
    let before = repository.status();
    assert_ended(&repository.git(&["commit", "-m", "second"]), 0, "0 errors");
    assert_eq!(repository.status().lines().count(), before.lines().count() - 1);
    fs::remove_dir_all(repository.path("dns/zz")).expect("a folder");
    assert_ended(&repository.git(&["reset", "-q", "--hard"]), 0, "");

    // A tree that lacks files which the commit has.
    assert_ended(&repository.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/dns/projects"]), 0, "");
    assert!(!repository.path("dns/projects/web.yaml").exists());
    repository.append("dns/racktables/l3-tors.txt", "# a comment\n");
    assert_ended(&repository.git(&["commit", "-a", "-m", "third"]), 0, "0 errors");
    assert_ended(&repository.git(&["sparse-checkout", "disable"]), 0, "");
}

#[test]
fn a_workspace_may_go_and_a_wrong_setting_is_reported() {
    let repository = Repository::new();
    assert_ended(&repository.git(&["rm", "-r", "-q", "dns"]), 0, "");
    assert_ended(&repository.git(&["commit", "-m", "second"]), 0, "");
    fs::write(repository.path("notes"), "text\n").expect("a file");
    assert_ended(&repository.git(&["add", "notes"]), 0, "");
    assert_ended(&repository.git(&["commit", "-m", "third"]), 0, "there is no dns in git");
}

#[test]
fn the_framework_is_told_what_to_run() {
    // What its documentation demands of each hook; and the files that it finds are not for `check`, which takes a
    // workspace.
    let hooks = text(".pre-commit-hooks.yaml");
    let each: Vec<&str> = hooks.split("\n- ").skip(1).collect();
    assert_eq!(each.len(), 2);
    for (hook, language) in each.iter().zip(["rust", "system"]) {
        for key in ["id: zonewright-check", "name: ", "entry: zonewright check\n", "pass_filenames: false"] {
            assert_eq!(hook.matches(key).count(), 1, "{key}");
        }
        assert!(hook.contains(&format!("language: {language}\n")), "{hook}");
    }
}
