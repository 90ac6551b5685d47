//! A repository with a workspace, and the name server that it is about.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::edit::edit;
use crate::folder::copy;
use crate::support;

/// The clock of all runs.
pub const NOW: &str = "2026-11-20T02:00:00Z";

/// What the scripts and the tests run, in addition to what every system has.
const PROGRAMS: [&str; 4] = ["git", "curl", "jq", "flock"];

/// A repository, a name server with its zones, and the programs that a runner has.
pub struct Repository {
    /// Everything is in here.
    pub folder: TempDir,
    /// The name server.
    server: Child,
    /// The secret of its key.
    pub secret: String,
}

impl Drop for Repository {
    fn drop(&mut self) {
        self.server.kill().and_then(|()| self.server.wait()).expect("the server is ours");
    }
}

impl Repository {
    /// A workspace of the project, served from loopback, and committed to `main` with the pipeline's files.
    /// `faults` say which updates the server lets go wrong. None, and said aloud, where a program is missing that the
    /// scripts run, or the test.
    pub fn new(workspace: &str, faults: &[&str], pipeline: impl Fn(&Path)) -> Option<Repository> {
        let missing = PROGRAMS.iter().find(|program| !Path::new("/usr/bin").join(program).is_file());
        if let Some(missing) = missing {
            support::skip(&format!("{missing} is not installed"));
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let origin = folder.path().join("origin");
        let mut server = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(["--now", NOW, "serve", "--listen", "127.0.0.1:0", "-C"])
            .arg(support::root().join(workspace))
            .arg("--try")
            .arg(&origin)
            .args(faults.iter().flat_map(|fault| ["--fault", fault]))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("Ctrl-C"))).expect("it serves").expect("text");
        std::thread::spawn(move || lines.for_each(drop));
        let secret = fs::read_to_string(origin.join("keys/serve.secret")).expect("the secret").trim().to_owned();
        fs::remove_dir_all(origin.join("keys")).expect("the keys");
        fs::remove_dir_all(origin.join("zones")).expect("the zones");
        let toml = fs::read_to_string(origin.join("zonewright.toml")).expect("settings");
        let toml = toml.replace("secret_file = \"keys/serve.secret\"", "secret_env = \"ZONEWRIGHT_TSIG\"");
        fs::write(origin.join("zonewright.toml"), toml).expect("settings");
        let repository = Repository { folder, server, secret };
        pipeline(&origin);
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        repository.commit("the workspace");
        repository.programs();
        Some(repository)
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Programs as a runner has them in its PATH: zonewright with the clock of the test; and curl. Both keep what they
    /// are called with, which any process of a machine could read.
    fn programs(&self) {
        let folder = self.path("bin");
        fs::create_dir(&folder).expect("a folder");
        let log = self.path("arguments.txt");
        let binary = format!("{} --now {NOW}", env!("CARGO_BIN_EXE_zonewright"));
        for (name, program) in [("zonewright", binary.as_str()), ("curl", "/usr/bin/curl")] {
            let text = format!("#!/bin/sh\necho \"$0 $*\" >>{}\nexec {program} \"$@\"\n", log.display());
            fs::write(folder.join(name), text).expect("a file");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
    }

    /// What programs were called with, all of it.
    pub fn arguments(&self) -> String {
        fs::read_to_string(self.path("arguments.txt")).expect("programs were called")
    }

    /// Fails where a file of all that the jobs left, such as an artifact, a summary or the state, has a secret.
    /// `except` is where the service itself keeps it.
    pub fn assert_secret(&self, secret: &str, except: Option<&str>) {
        let folder = self.folder.path();
        let found =
            Command::new("grep").current_dir(folder).args(["-rlF", "--", secret, "."]).output().expect("it runs");
        let except = except.map(|name| format!("./{name}\n")).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&found.stdout), except, "files with a secret");
    }

    /// Fails where something was applied without saying of which effect it must be.
    pub fn assert_expected(&self) {
        let arguments = self.arguments();
        let mut applies = arguments.lines().filter(|line| line.contains(" apply ")).peekable();
        assert!(applies.peek().is_some() && applies.all(|line| line.contains(" --expect sha256:")), "{arguments}");
    }

    /// A command with the environment that any job has, in a folder.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("HOME", self.folder.path()).env("LANG", "C.UTF-8").env("USER", "runner").current_dir(folder);
        command
    }

    /// What the file `release` says of another version than the runner has: with the right checksum, and with a wrong
    /// one.
    pub fn releases(&self) -> [String; 2] {
        let released = self.path("released");
        let script = format!("#!/bin/sh\nexec {} --now {NOW} \"$@\"\n", env!("CARGO_BIN_EXE_zonewright"));
        fs::write(&released, script).expect("a file");
        fs::set_permissions(&released, fs::Permissions::from_mode(0o644)).expect("it is ours");
        let output = self.command("sha256sum", self.folder.path()).arg("released").output().expect("it runs");
        let sum = String::from_utf8(output.stdout).expect("text");
        let sum = sum.split(' ').next().expect("a sum");
        [sum, &"0".repeat(64)].map(|sum| format!("version=99.0.0\nurl=file://{}\nsha256={sum}\n", released.display()))
    }

    /// Runs git in the repository and gives what it says.
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.path("origin"), args)
    }

    /// Commits all of the working tree and gives the commit.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits an edit on a new branch from `main`, merges it for trial, and goes back: gives the commit and the trial
    /// merge.
    pub fn branch(&self, name: &str, edit: impl Fn(&Path)) -> (String, String) {
        self.git(&["checkout", "--quiet", "-B", name, "main"]);
        edit(&self.path("origin"));
        let head = self.commit("a change");
        let merge = self.trial(&head);
        (head, merge)
    }

    /// Merges a commit into `main` for trial, and leaves `main` as it is.
    pub fn trial(&self, head: &str) -> String {
        self.git(&["checkout", "--quiet", "--detach", "main"]);
        self.git(&["merge", "--quiet", "--no-ff", "--no-edit", head]);
        let merge = self.git(&["rev-parse", "HEAD"]);
        self.git(&["checkout", "--quiet", "main"]);
        merge
    }

    /// Merges a commit into `main` for good.
    pub fn merge(&self, head: &str) -> String {
        self.git(&["merge", "--quiet", "--no-ff", "--no-edit", head]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Takes a commit into a folder as the action `checkout` does: what git does not know is removed there.
    pub fn check_out(&self, commit: &str, folder: &Path, whole: bool) {
        fs::create_dir_all(folder).expect("a folder");
        git(folder, &["init", "--quiet"]);
        let origin = format!("file://{}", self.path("origin").display());
        let depth: &[&str] = if whole { &[] } else { &["--depth=1"] };
        git(folder, &[&["fetch", "--quiet"][..], depth, &[origin.as_str(), commit]].concat());
        git(folder, &["checkout", "--quiet", "--force", "--detach", commit]);
        git(folder, &["clean", "-ffdx", "--quiet"]);
    }

    /// Runs the binary with the key in a checkout of `main`, away from the jobs.
    pub fn look(&self, args: &[&str]) -> Output {
        let folder = self.path("look");
        self.check_out(&self.git(&["rev-parse", "main"]), &folder, false);
        self.command("zonewright", &folder).args(args).env("ZONEWRIGHT_TSIG", &self.secret).output().expect("it runs")
    }

    /// Whether a plan of `main` finds something to change.
    pub fn differs(&self) -> bool {
        match self.look(&["plan", "--detailed-exitcode"]).status.code() {
            Some(0) => false,
            Some(2) => true,
            code => panic!("a plan ends with {code:?}"),
        }
    }
}

/// Gives the VLAN of the two web hosts another network.
pub fn move_vlan(workspace: &Path) {
    edit(workspace, "racktables/l3-tors.txt", "0:1::/64", "0:9::/64");
}

/// Gives the database host another TTL.
pub fn shorten_ttl(workspace: &Path) {
    edit(workspace, "projects/db.yaml", "automation: true", "automation: true\nttl: 300");
}

/// Runs git in a folder and gives what it says.
fn git(folder: &Path, args: &[&str]) -> String {
    let fixed =
        ["-c", "user.name=Operator", "-c", "user.email=operator@example.net", "-c", "advice.detachedHead=false"];
    let output = Command::new("git").current_dir(folder).args(fixed).args(args).output().expect("git is installed");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Copies a folder of `ci/`.
pub fn copy_ci(name: &str, to: &Path) {
    copy(&support::root().join("ci").join(name), to);
}
