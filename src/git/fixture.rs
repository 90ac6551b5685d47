//! Repositories for tests.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with a working tree, and other folders next to it.
pub struct Fixture {
    /// The folder of all.
    dir: tempfile::TempDir,
}

impl Fixture {
    /// A repository without a commit; where there is no git, that is said aloud.
    pub fn new() -> Option<Fixture> {
        if Command::new("git").arg("version").output().is_err() {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "git is not installed, and CI is true");
            writeln!(std::io::stderr(), "skipped: git is not installed").unwrap();
            return None;
        }
        let fixture = Fixture { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(fixture.path()).unwrap();
        fixture.git(&["init", "-q"]);
        Some(fixture)
    }

    /// The folder of the working tree.
    pub fn path(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    /// A path next to it.
    pub fn sibling(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs git in the working tree, which must succeed; returns what it prints.
    pub fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        for setting in
            ["user.name=a", "user.email=a@example.net", "init.defaultBranch=main", "protocol.file.allow=always"]
        {
            command.args(["-c", setting]);
        }
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Writes a file of the working tree.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Removes a file of the working tree.
    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }

    /// Makes a link in the working tree.
    #[cfg(unix)]
    pub fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.path().join(name)).unwrap();
    }

    /// Commits all there is.
    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    }

    /// What git says about the working tree, and the index file.
    pub fn state(&self) -> (String, Vec<u8>, std::time::SystemTime) {
        let index = self.path().join(".git/index");
        let metadata = fs::metadata(&index).unwrap();
        let status = self.git(&["--no-optional-locks", "status", "--porcelain=v2", "--branch", "--ignored"]);
        (status, fs::read(&index).unwrap(), metadata.modified().unwrap())
    }
}
