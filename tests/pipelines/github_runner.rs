//! GitHub, imitated: a runner that takes the steps of a workflow.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Map, Value, json};

use crate::expression::{fill, holds};
use crate::folder::copy;
use crate::github_api::{Kept, answer};
use crate::http::{self, Server};
use crate::repository::{Repository, copy_ci};
use crate::yaml;

/// The id of the repository; a fork has another.
pub const OURS: u64 = 1;

/// GitHub with one repository.
pub struct Hub {
    /// The repository.
    pub repository: Repository,
    /// What it keeps.
    kept: Arc<Mutex<Kept>>,
    /// The API.
    api: Server,
}

/// What starts a run.
pub struct Start {
    /// The workflow, without `.yml`.
    pub workflow: &'static str,
    /// The name of the event.
    pub event_name: &'static str,
    /// The event.
    pub event: Value,
    /// The commit that is checked out, of which the workflow is, too.
    pub commit: String,
    /// The branch that the run is of, as the API tells it.
    pub branch: String,
    /// The commit that the run is of, as the API tells it.
    pub head: String,
    /// The repository that the commit comes from.
    pub from: u64,
    /// Inputs of a start by hand.
    pub inputs: Value,
}

/// How a run ended.
pub struct Ended {
    /// The id of the run.
    pub id: u64,
    /// `success` or `failure`.
    pub conclusion: &'static str,
    /// The result of each job, and the exit code of the step that failed.
    pub jobs: BTreeMap<String, (String, i32)>,
    /// The text of the summary.
    pub summary: String,
    /// What the steps printed.
    pub log: String,
}

/// A running run.
struct Run<'a> {
    /// What started it.
    start: &'a Start,
    /// The workflow.
    workflow: Value,
    /// What jobs gave to those that need them.
    needs: Map<String, Value>,
    /// How it ended so far.
    ended: Ended,
}

/// A running job.
struct Job<'a> {
    /// What the file says of it.
    spec: &'a Value,
    /// What expressions can name.
    contexts: Value,
    /// The checkout.
    workspace: PathBuf,
    /// The folder for temporary files.
    temp: PathBuf,
    /// The environment of all its steps.
    env: BTreeMap<String, String>,
}

impl Hub {
    /// A repository with our workflows at the root of its workspace, and the state on a disk of the runner.
    /// `faults` say which updates the name server lets go wrong. None where a program is missing.
    pub fn new(faults: &[&str]) -> Option<Hub> {
        Hub::of("tests/cases/_base", faults)
    }

    /// The same with another workspace of the project.
    pub fn of(workspace: &str, faults: &[&str]) -> Option<Hub> {
        let repository = Repository::new(workspace, faults, |origin| copy_ci("github", &origin.join(".github")))?;
        let state = repository.path("state");
        fs::create_dir(&state).expect("a folder");
        let file = repository.path("origin/.github/workflows");
        for entry in fs::read_dir(file).expect("a folder") {
            let path = entry.expect("a file").path();
            let text = fs::read_to_string(&path).expect("a workflow");
            fs::write(path, text.replace("/var/lib/zonewright", &state.display().to_string())).expect("a workflow");
        }
        repository.commit("the state's place");
        let kept = Arc::new(Mutex::new(Kept::default()));
        let api = http::serve(Arc::clone(&kept), answer);
        Some(Hub { repository, kept, api })
    }

    /// What GitHub keeps.
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no thread panicked")
    }

    /// Fails where the API was asked for anything that it should not be, or a secret was in an argument of a program.
    pub fn assert_content(&self) {
        self.api.assert_content();
        let arguments = self.repository.arguments();
        assert!(!arguments.contains("ghs_") && !arguments.contains(&self.repository.secret), "{arguments}");
        self.repository.assert_secret(&self.repository.secret, None);
        self.repository.assert_secret("ghs_", None);
    }

    /// Runs a workflow to its end, all environments agreed to.
    pub fn run(&self, start: &Start) -> Ended {
        let file = format!("{}:.github/workflows/{}.yml", start.commit, start.workflow);
        let workflow = yaml::parse(&self.repository.git(&["show", &file]));
        assert!(workflow["on"].get(start.event_name).is_some(), "{} starts by {}", start.workflow, start.event_name);
        let id = self.new_run(start);
        let ended =
            Ended { id, conclusion: "success", jobs: BTreeMap::new(), summary: String::new(), log: String::new() };
        let jobs = workflow["jobs"].as_object().expect("jobs").clone();
        let mut run = Run { start, workflow, needs: Map::new(), ended };
        let (first, then): (Vec<_>, Vec<_>) = jobs.iter().partition(|(_, spec)| spec.get("needs").is_none());
        for (name, spec) in first.into_iter().chain(then) {
            let contexts = self.contexts(&run, spec);
            let needed = spec.get("needs").map(|needed| needed.as_str().expect("one job"));
            let ready = needed.is_none_or(|needed| run.ended.jobs[needed].0 == "success");
            if !ready || !spec.get("if").is_none_or(|condition| holds(condition.as_str().expect("text"), &contexts)) {
                run.ended.jobs.insert(name.clone(), ("skipped".into(), 0));
                continue;
            }
            let code = self.run_job(&mut run, name, spec, contexts);
            let result = if code == 0 { "success" } else { "failure" };
            run.ended.conclusion = if code == 0 { run.ended.conclusion } else { "failure" };
            run.ended.jobs.insert(name.clone(), (result.into(), code));
        }
        self.kept().runs[usize::try_from(id).expect("few runs") - 1]["conclusion"] = json!(run.ended.conclusion);
        for text in [&run.ended.log, &run.ended.summary] {
            assert!(!text.contains("ghs_") && !text.contains(&self.repository.secret), "a secret in a log or summary");
        }
        run.ended
    }

    /// Enters a run and gives its id.
    fn new_run(&self, start: &Start) -> u64 {
        let mut kept = self.kept();
        let id = kept.runs.len() as u64 + 1;
        kept.runs.push(json!({
            "id": id, "event": start.event_name, "path": format!(".github/workflows/{}.yml", start.workflow),
            "head_branch": start.branch, "head_sha": start.head, "conclusion": null,
            "html_url": format!("https://github.example/o/dns/actions/runs/{id}"),
            "head_repository": {"id": start.from, "full_name": if start.from == OURS { "o/dns" } else { "f/dns" },
                "owner": {"login": if start.from == OURS { "o" } else { "f" }}},
        }));
        id
    }

    /// What the expressions of a job can name. Secrets are there where it has an environment, which `main` alone may
    /// use.
    fn contexts(&self, run: &Run<'_>, spec: &Value) -> Value {
        let (start, id) = (run.start, run.ended.id);
        let environment = spec.get("environment").and_then(Value::as_str);
        let pull = start.event_name == "pull_request";
        let mut secrets = Map::new();
        if let Some(environment) = environment {
            assert!(["dns-read", "dns-production"].contains(&environment) && !pull && start.branch == "main");
            secrets.insert("ZONEWRIGHT_TSIG".into(), json!(self.repository.secret));
        }
        json!({
            "github": {"event": start.event, "event_name": start.event_name, "ref_name": start.branch,
                "token": format!("ghs_{id}"), "repository": "o/dns"},
            "inputs": start.inputs, "secrets": secrets, "steps": {}, "needs": run.needs,
            "runner": {"temp": "", "self_hosted": spec["runs-on"].is_array()},
        })
    }

    /// Takes the steps of a job; gives the exit code of the step that failed.
    fn run_job(&self, run: &mut Run<'_>, name: &str, spec: &Value, mut contexts: Value) -> i32 {
        let token = contexts["github"]["token"].as_str().expect("text").to_owned();
        let permissions =
            spec.get("permissions").or(run.workflow.get("permissions")).expect("every job says its rights");
        self.kept().tokens.insert(token, permissions.clone());
        let own_machine = contexts["runner"]["self_hosted"] == true;
        let place =
            self.repository.path(&if own_machine { "own".into() } else { format!("hosted-{}-{name}", run.ended.id) });
        let temp = place.join("temp");
        // The runner empties this folder before each job.
        fs::remove_dir_all(&temp).unwrap_or_default();
        fs::create_dir_all(&temp).expect("a folder");
        contexts["runner"] = json!({"temp": temp});
        let mut job = Job { spec, contexts, workspace: place.join("checkout"), temp, env: BTreeMap::new() };
        job.enter(run.start, run.ended.id, &self.api.url);
        for (key, value) in run.workflow.get("env").and_then(Value::as_object).into_iter().flatten() {
            job.env.insert(key.clone(), fill(value.as_str().expect("text"), &job.contexts));
        }
        let mut failed = 0;
        for step in spec["steps"].as_array().expect("steps") {
            let condition = step.get("if").map(|condition| condition.as_str().expect("text"));
            let always = condition.is_some_and(|condition| condition.contains("cancelled()"));
            if (failed != 0 && !always) || !condition.is_none_or(|condition| holds(condition, &job.contexts)) {
                if let Some(id) = step.get("id") {
                    job.contexts["steps"][id.as_str().expect("text")] = json!({"outputs": {}});
                }
                continue;
            }
            let code = match step.get("run") {
                Some(script) => self.run_script(&mut job, step, script.as_str().expect("text"), &mut run.ended),
                None => self.use_action(&job, step, run),
            };
            if code != 0 && step.get("continue-on-error") != Some(&json!(true)) && failed == 0 {
                failed = code;
            }
        }
        run.ended.summary += &fs::read_to_string(job.temp.join("summary")).unwrap_or_default();
        let outputs = job.spec.get("outputs").and_then(Value::as_object).into_iter().flatten();
        let outputs: Map<_, _> = outputs
            .map(|(key, value)| (key.clone(), json!(fill(value.as_str().expect("text"), &job.contexts))))
            .collect();
        run.needs.insert(name.to_owned(), json!({"outputs": outputs}));
        failed
    }

    /// Runs a script as a step does; gives its exit code.
    fn run_script(&self, job: &mut Job<'_>, step: &Value, script: &str, ended: &mut Ended) -> i32 {
        assert!(!script.contains("${{"), "an expression in a script: {script}");
        let output_file = job.temp.join("output");
        let path_file = job.temp.join("path");
        fs::write(&output_file, "").expect("a file");
        let mut command = self.repository.command("bash", &job.workspace);
        command.args(["-e", "-c", script]).envs(&job.env);
        command.env("GITHUB_OUTPUT", &output_file).env("GITHUB_PATH", &path_file);
        if let Ok(added) = fs::read_to_string(&path_file) {
            let own = self.repository.path("bin");
            command.env("PATH", format!("{}:{}:/usr/bin:/bin", added.trim(), own.display()));
        }
        for (key, value) in step.get("env").and_then(Value::as_object).into_iter().flatten() {
            command.env(key, fill(value.as_str().expect("text"), &job.contexts));
        }
        let output = command.output().expect("bash runs");
        let code = output.status.code().expect("it was not killed");
        ended.log += &format!("$ {script}\n{}", String::from_utf8_lossy(&output.stdout));
        ended.log += &format!("{}[{code}]\n", String::from_utf8_lossy(&output.stderr));
        if let Some(id) = step.get("id") {
            let text = fs::read_to_string(&output_file).expect("a file");
            let outputs: Map<_, _> = text
                .lines()
                .map(|line| line.split_once('=').expect("NAME=VALUE"))
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .collect();
            job.contexts["steps"][id.as_str().expect("text")] = json!({"outputs": outputs});
        }
        code
    }

    /// Does what an action does, as far as the test can tell; gives an exit code.
    fn use_action(&self, job: &Job<'_>, step: &Value, run: &Run<'_>) -> i32 {
        let with = |key: &str| match step["with"].get(key) {
            Some(Value::String(text)) => fill(text, &job.contexts),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let action = step["uses"].as_str().expect("text").split_once('@').expect("a version").0;
        match action {
            "actions/checkout" => {
                assert_eq!(with("persist-credentials"), "false");
                self.repository.check_out(&run.start.commit, &job.workspace, with("fetch-depth") == "0");
                0
            }
            "actions/upload-artifact" => {
                self.upload(&with("name"), Path::new(&with("path")), &with("if-no-files-found"), run.ended.id)
            }
            "actions/download-artifact" => {
                let from = with("run-id");
                assert!(from.is_empty() || with("github-token").starts_with("ghs_"), "another run's needs the token");
                let from = if from.is_empty() { run.ended.id } else { from.parse().expect("a run") };
                self.download(&with("name"), from, Path::new(&with("path")))
            }
            _ => panic!("{action} is not known"),
        }
    }

    /// Keeps a file or folder as an artifact of a run.
    pub fn upload(&self, name: &str, path: &Path, if_none: &str, run: u64) -> i32 {
        let empty = !path.exists() || path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        if empty {
            return i32::from(if_none == "error" || if_none.is_empty());
        }
        let mut kept = self.kept();
        let id = kept.artifacts.len() as u64 + 1;
        let folder = self.repository.path(&format!("artifacts/{id}"));
        fs::create_dir_all(&folder).expect("a folder");
        if path.is_dir() {
            copy(path, &folder);
        } else {
            fs::copy(path, folder.join(path.file_name().expect("a name"))).expect("a copy");
        }
        let maker = &kept.runs[usize::try_from(run).expect("few runs") - 1];
        let artifact = json!({"id": id, "name": name, "expired": false, "workflow_run": {"id": run,
            "repository_id": OURS, "head_repository_id": maker["head_repository"]["id"],
            "head_branch": maker["head_branch"], "head_sha": maker["head_sha"]}});
        kept.artifacts.push(artifact);
        0
    }

    /// Fetches an artifact of a run.
    fn download(&self, name: &str, run: u64, to: &Path) -> i32 {
        let kept = self.kept();
        let found = kept.artifacts.iter().rev().find(|it| it["name"] == name && it["workflow_run"]["id"] == run);
        let Some(found) = found else { return 1 };
        copy(&self.repository.path(&format!("artifacts/{}", found["id"])), to);
        0
    }
}

impl Job<'_> {
    /// Sets the environment that every step has.
    fn enter(&mut self, start: &Start, id: u64, api: &str) {
        let event = self.temp.join("event.json");
        fs::write(&event, start.event.to_string()).expect("a file");
        let text = |path: &Path| path.display().to_string();
        let all = [
            ("GITHUB_EVENT_PATH", text(&event)),
            ("GITHUB_EVENT_NAME", start.event_name.into()),
            ("GITHUB_STEP_SUMMARY", text(&self.temp.join("summary"))),
            ("GITHUB_WORKSPACE", text(&self.workspace)),
            ("GITHUB_REPOSITORY", "o/dns".into()),
            ("GITHUB_SERVER_URL", "https://github.example".into()),
            ("GITHUB_API_URL", api.into()),
            ("GITHUB_RUN_ID", id.to_string()),
            ("GITHUB_SHA", start.commit.clone()),
            ("GITHUB_ACTOR", "operator".into()),
            ("GITHUB_ACTIONS", "true".into()),
            ("CI", "true".into()),
            ("RUNNER_TEMP", text(&self.temp)),
        ];
        self.env.extend(all.map(|(key, value)| (key.to_owned(), value)));
    }
}
