//! Repositories, real ones.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::fixture::Fixture;
use super::*;
use crate::diag::{Files, Origin};
use crate::inventory::read::{FileError, FileLayer as _, FoundBy};
use crate::inventory::source::PathPattern;

/// The files of a revision, in front of those of a folder.
fn tree_in(folder: &Path, revision: &str) -> GitTree {
    let repository = Repository::of(folder).unwrap();
    repository.tree(&repository.commit(revision).unwrap()).unwrap()
}

/// The same of the whole working tree.
fn tree(fixture: &Fixture, revision: &str) -> GitTree {
    tree_in(&fixture.path(), revision)
}

/// The text of a file.
fn text(tree: &GitTree, name: &str) -> String {
    let bytes = tree.read(name, u64::MAX).unwrap_or_else(|error| panic!("{name} {}", error.reason()));
    String::from_utf8(bytes).unwrap()
}

/// The names that a glob means, sorted.
fn find(tree: &GitTree, glob: &str) -> Vec<String> {
    let origin = Origin::line(Files::default().add(""), 1);
    let pattern = PathPattern { text: glob.to_owned(), origin, width: 1 };
    let mut found = tree.find(&pattern).unwrap_or_else(|error| panic!("{}", error.reason(&pattern)));
    found.sort();
    found
}

#[test]
fn a_revision_has_many_names() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    fixture.git(&["tag", "-a", "v1", "-m", "first"]);
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["branch", "origin/main"]);
    fixture.write("a", "two");
    fixture.commit();
    let repository = Repository::of(&fixture.path()).unwrap();
    for name in [&first, &first[..9], "HEAD~1", "HEAD^", "@~", "v1", "refs/tags/v1", "origin/main", "main~1"] {
        assert_eq!(repository.commit(name), Ok(first.clone()), "{name}");
    }
    assert_ne!(repository.commit("main"), Ok(first));
}

#[test]
fn a_name_that_is_not_a_revision_is_reported() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    let repository = Repository::of(&fixture.path()).unwrap();
    let unknown = GitError::NoSuchRevision { says: None, is_shallow: false };
    for name in
        ["nowhere", "", " ", "-x", "--all", "--git-dir", "main..main", "main:a", "a", "main -x", "a\0b", "^main"]
    {
        assert_eq!(repository.commit(name), Err(unknown.clone()), "{name:?}");
    }
    let error = repository.commit("main@{99}").unwrap_err();
    assert!(error.to_string().starts_with("git says: "), "{error}");
}

#[test]
fn a_repository_may_have_no_commit_and_a_folder_no_repository() {
    let Some(fixture) = Fixture::new() else { return };
    let repository = Repository::of(&fixture.path()).unwrap();
    let error = repository.commit("HEAD").unwrap_err();
    assert!(matches!(error, GitError::NoSuchRevision { .. }), "{error}");
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(Repository::of(elsewhere.path()).unwrap_err(), GitError::NotARepository);
    let nowhere = Repository::of(&elsewhere.path().join("nowhere")).unwrap_err();
    assert!(matches!(&nowhere, GitError::Says(says) if says.starts_with("cannot change to ")), "{nowhere}");
}

#[test]
fn what_git_complains_of_is_one_harmless_line() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write(".git/config", "[core]\n\trepositoryformatversion = 99\n");
    let error = Repository::of(&fixture.path()).unwrap_err().to_string();
    assert!(error.starts_with("git says: ") && error.contains("99") && !error.contains('\n'), "{error}");
}

#[test]
fn a_tree_has_what_the_commit_has_and_hides_what_was_added_since() {
    let Some(fixture) = Fixture::new() else { return };
    for (name, content) in [("kept", "kept"), ("changed", "old"), ("removed", "removed"), ("old-name", "same")] {
        fixture.write(name, content);
    }
    fixture.write(".gitignore", "export\n");
    fixture.commit();
    fixture.write("changed", "new");
    fixture.write("committed", "");
    fixture.remove("removed");
    fixture.git(&["mv", "old-name", "new-name"]);
    fixture.commit();
    fixture.write("staged", "");
    fixture.git(&["add", "staged"]);
    fixture.write("untracked", "");
    fixture.write("export", "");
    let tree = tree(&fixture, "HEAD~1");
    for (name, content) in [("kept", "kept"), ("changed", "old"), ("removed", "removed"), ("old-name", "same")] {
        assert!(tree.has(name) && !tree.hides(name, FoundBy::Name), "{name}");
        assert_eq!(text(&tree, name), content, "{name}");
    }
    for (name, is_hidden) in
        [("committed", true), ("staged", true), ("new-name", true), ("untracked", false), ("export", false)]
    {
        assert!(!tree.has(name) && tree.hides(name, FoundBy::Glob) == is_hidden, "{name}");
    }
    assert_eq!(find(&tree, "*"), ["changed", "kept", "old-name", "removed"]);
    assert_eq!(find(&tree, "./*-name"), ["old-name"]);
    assert!(matches!(tree.read("staged", 9), Err(FileError::Io(_))));
}

#[test]
fn a_workspace_may_lie_deep_in_a_repository() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "outside");
    fixture.write("deep/inventory/a", "inside");
    fixture.write("deep/inventory/projects/b.yaml", "b");
    fixture.write("deep/other", "other");
    fixture.commit();
    fixture.write("deep/inventory/projects/c.yaml", "c");
    fixture.git(&["add", "-A"]);
    let tree = tree_in(&fixture.path().join("deep/inventory"), "main");
    assert_eq!(text(&tree, "a"), "inside");
    assert_eq!(text(&tree, "./projects//b.yaml"), "b");
    assert_eq!(find(&tree, "*/*.yaml"), ["projects/b.yaml"]);
    assert!(tree.hides("projects/c.yaml", FoundBy::Glob) && !tree.has("other"));
    fixture.write("late/zonewright.toml", "");
    assert!(!tree_in(&fixture.path().join("late"), "main").names("zonewright.toml"));
}

#[test]
fn names_are_taken_as_they_are() {
    let Some(fixture) = Fixture::new() else { return };
    let names =
        ["with blank", "two\nlines", "a\"b", "it's", "tab\there", "ä/ö", "-x", "--all", ":(glob)x", "back\\slash"];
    for name in names {
        fixture.write(name, name);
    }
    fixture.commit();
    fixture.write("new ö", "");
    fixture.git(&["add", "-A"]);
    let tree = tree(&fixture, "HEAD");
    for name in names {
        assert_eq!(text(&tree, name), name);
        assert!(tree.names(name));
    }
    assert!(tree.hides("new ö", FoundBy::Name));
    assert_eq!(find(&tree, "ä/*"), ["ä/ö"]);
}

#[test]
fn names_with_a_dot_are_matched_as_on_disk() {
    let Some(fixture) = Fixture::new() else { return };
    for name in [".hidden.yaml", "a.yaml", "b/c.yaml", "b/.d.yaml", "b/e/f.yaml", ".g/h.yaml"] {
        fixture.write(name, name);
    }
    fixture.commit();
    let tree = tree(&fixture, "HEAD");
    let on_disk = |glob: &str| {
        let path = fixture.path();
        let whole = format!("{}/{glob}", path.display());
        let found = glob::glob_with(&whole, crate::inventory::read::GLOB).unwrap().map(Result::unwrap);
        let found = found.filter(|found| found.is_file());
        found.map(|found| found.strip_prefix(&path).unwrap().to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for glob in [
        "*.yaml",
        "*/*.yaml",
        "**/*.yaml",
        "b/**/*.yaml",
        ".*.yaml",
        "b/[c-d].yaml",
        "?.yaml",
        "*",
        "b/*",
        ".g/*",
        ".?/*.yaml",
    ] {
        assert_eq!(find(&tree, glob), on_disk(glob), "{glob}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_the_commit() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("real/a.txt", "a");
    fixture.write("real/b.txt", "b");
    for (target, name) in [
        ("real/a.txt", "to-file"),
        ("to-file", "to-link"),
        ("real", "to-folder"),
        ("../to-link", "real/up"),
        ("untracked", "to-untracked"),
        ("nowhere", "to-nothing"),
        ("../outside", "to-outside"),
        ("/etc/hostname", "to-root"),
        ("turn", "round"),
        ("round", "turn"),
    ] {
        fixture.link(target, name);
    }
    fixture.write(".gitignore", "untracked\n");
    fixture.commit();
    fixture.write("untracked", "");
    fixture.write("real/c.txt", "c");
    fixture.write("real/a.txt", "changed");
    fixture.git(&["add", "-A"]);
    let tree = tree(&fixture, "HEAD");
    for name in ["to-file", "to-link", "to-folder/a.txt", "real/up", "to-folder/up"] {
        assert_eq!(text(&tree, name), "a", "{name}");
    }
    for name in ["to-untracked", "to-nothing", "to-outside", "to-root", "round", "turn", "to-folder"] {
        assert!(!tree.has(name) && !tree.hides(name, FoundBy::Glob), "{name}");
    }
    assert!(tree.hides("to-folder/c.txt", FoundBy::Glob));
    assert_eq!(find(&tree, "to-folder/*"), ["to-folder/a.txt", "to-folder/b.txt", "to-folder/up"]);
    assert_eq!(find(&tree, "*/a.*"), ["real/a.txt", "to-folder/a.txt"]);
    assert_eq!(find(&tree, "**/b.*"), ["real/b.txt"]);
    assert_eq!(find(&tree, "to-*"), ["to-file", "to-link"]);
}

#[test]
fn submodules_are_passed_over() {
    let (Some(fixture), Some(other)) = (Fixture::new(), Fixture::new()) else { return };
    other.write("a.txt", "a");
    other.commit();
    fixture.git(&["submodule", "--quiet", "add", other.path().to_str().unwrap(), "module"]);
    fixture.commit();
    let tree = tree(&fixture, "HEAD");
    assert!(!tree.names("module") && !tree.has("module/a.txt") && !tree.hides("module/a.txt", FoundBy::Glob));
}

#[test]
fn a_shallow_clone_says_that_it_is_one() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    fixture.write("a", "two");
    fixture.commit();
    let clone = fixture.sibling("clone");
    let url = format!("file://{}", fixture.path().display());
    fixture.git(&["clone", "-q", "--depth=1", &url, clone.to_str().unwrap()]);
    let repository = Repository::of(&clone).unwrap();
    assert_eq!(text(&tree_in(&clone, "origin/main"), "a"), "two");
    let error = repository.commit("HEAD~1").unwrap_err();
    assert!(matches!(error, GitError::NoSuchRevision { is_shallow: true, .. }), "{error}");
}

#[test]
fn a_clone_without_contents_fetches_none() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = fixture.sibling("clone");
    let url = format!("file://{}", fixture.path().display());
    fixture.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &url, clone.to_str().unwrap()]);
    let tree = tree_in(&clone, "HEAD");
    assert!(tree.has("a"));
    let error = tree.read("a", 9).unwrap_err();
    assert_eq!(error.reason(), "cannot be read: its content is not in this clone");
}

#[test]
fn a_second_working_tree_has_an_index_of_its_own() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    let second = fixture.sibling("second");
    fixture.git(&["worktree", "add", "-q", "-b", "side", second.to_str().unwrap()]);
    fixture.write("added", "");
    fixture.git(&["add", "added"]);
    assert!(tree(&fixture, "side").hides("added", FoundBy::Name));
    let tree = tree_in(&second, "main");
    assert_eq!(text(&tree, "a"), "one");
    assert!(!tree.hides("added", FoundBy::Name));
}

#[test]
fn nothing_of_the_repository_is_touched() {
    let Some(fixture) = Fixture::new() else { return };
    fixture.write("a", "one");
    fixture.commit();
    fixture.write("a", "two");
    fixture.commit();
    // A process that refreshes the index writes it again.
    fixture.write("a", "two");
    fixture.write("staged", "");
    fixture.git(&["add", "staged"]);
    fixture.write("a", "three");
    fixture.write("untracked", "");
    let before = fixture.state();
    let tree = tree(&fixture, "HEAD~1");
    assert_eq!(text(&tree, "a"), "one");
    drop(tree);
    assert_eq!(fixture.state(), before);
    assert_eq!(fs::read_to_string(fixture.path().join("a")).unwrap(), "three");
}

#[test]
fn contents_are_read_from_many_threads_and_of_any_length() {
    let Some(fixture) = Fixture::new() else { return };
    for number in 0..40 {
        fixture.write(&format!("f{number}"), format!("{number}\n").repeat(number * 100));
    }
    fixture.write("large", vec![b'\n'; 20 << 20]);
    fixture.write("binary", b"\0\xff\n\r\n");
    fixture.commit();
    let tree = Arc::new(tree(&fixture, "HEAD"));
    std::thread::scope(|scope| {
        for number in 0..40 {
            let tree = Arc::clone(&tree);
            scope.spawn(move || {
                assert_eq!(text(&tree, &format!("f{number}")), format!("{number}\n").repeat(number * 100));
            });
        }
    });
    assert!(matches!(tree.read("large", 1000), Err(FileError::TooLarge(1000))));
    assert_eq!(tree.read("large", u64::MAX).unwrap().len(), 20 << 20);
    assert_eq!(tree.read("binary", 5).unwrap(), b"\0\xff\n\r\n");
    assert!(matches!(tree.read("binary", 4), Err(FileError::TooLarge(4))));
}

#[test]
fn git_is_told_nothing_by_the_hook_that_it_may_run_in() {
    let command = command(Path::new("-x"));
    let is_set = |name: &str| command.get_envs().find(|(key, _)| *key == name).map(|(_, value)| value.is_some());
    assert_eq!(
        (is_set("GIT_DIR"), is_set("GIT_INDEX_FILE"), is_set("GIT_NO_LAZY_FETCH")),
        (Some(false), Some(false), Some(true))
    );
    let words: Vec<_> = command.get_args().take(2).collect();
    assert_eq!(words, ["-C", "-x"]);
}
