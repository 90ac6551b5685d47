//! GitLab, imitated: a runner that takes the jobs of a pipeline.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::folder::copy;
use crate::gitlab_api::{Kept, TOKENS, answer};
use crate::http::{self, Server};
use crate::repository::{Repository, copy_ci};
use crate::{support, yaml};

/// GitLab with one project.
pub struct Lab {
    /// The repository.
    pub repository: Repository,
    /// What it keeps.
    kept: Arc<Mutex<Kept>>,
    /// The API.
    api: Server,
}

/// What starts a pipeline.
pub struct Start<'a> {
    /// `merge_request_event`, `push`, `web` or `schedule`.
    pub source: &'a str,
    /// The commit.
    pub commit: String,
    /// The branch; empty in pipelines of merge requests.
    pub branch: &'a str,
    /// Variables that a person gave.
    pub variables: &'a [(&'a str, &'a str)],
    /// Jobs that are started by hand.
    pub by_hand: &'a [&'a str],
}

/// How a pipeline ended.
pub struct Ended {
    /// The id of the pipeline.
    pub id: usize,
    /// The exit code of each job that ran.
    pub jobs: BTreeMap<String, i32>,
    /// What the jobs printed.
    pub log: String,
}

impl Lab {
    /// A project with our jobs, and the state on a disk of the runner. None where a program is missing.
    pub fn new() -> Option<Lab> {
        let repository = Repository::new("tests/cases/_base", &[], |origin| {
            copy_ci("gitlab", &origin.join(".gitlab"));
            let include = "include:\n  - local: .gitlab/zonewright.gitlab-ci.yml\n";
            fs::write(origin.join(".gitlab-ci.yml"), include).expect("a file");
        })?;
        fs::create_dir(repository.path("state")).expect("a folder");
        fs::write(repository.path("note-token"), TOKENS[0]).expect("a file");
        fs::write(repository.path("tsig"), &repository.secret).expect("a file");
        let kept = Arc::new(Mutex::new(Kept::default()));
        let api = http::serve(Arc::clone(&kept), answer);
        Some(Lab { repository, kept, api })
    }

    /// What GitLab keeps.
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no thread panicked")
    }

    /// Fails where the API was asked for anything that it should not be, or a secret was in an argument of a program.
    pub fn assert_content(&self) {
        self.api.assert_content();
        let arguments = self.repository.arguments();
        for secret in TOKENS.into_iter().chain([self.repository.secret.as_str()]) {
            assert!(!arguments.contains(secret), "{arguments}");
        }
        for (secret, variable) in
            [(TOKENS[0], Some("note-token")), (TOKENS[1], None), (&self.repository.secret, Some("tsig"))]
        {
            self.repository.assert_secret(secret, variable);
        }
    }

    /// Runs a pipeline to its end, or to a job that is started by hand.
    pub fn run(&self, start: &Start<'_>) -> Ended {
        let text = self.repository.git(&["show", &format!("{}:.gitlab/zonewright.gitlab-ci.yml", start.commit)]);
        let file = yaml::parse(&text);
        let id = self.kept().jobs.len() + 1;
        let mut ended = Ended { id, jobs: BTreeMap::new(), log: String::new() };
        for name in names(&text) {
            let job = extended(&file, &name);
            let variables = self.variables(start, &job);
            let Some(rule) = job["rules"].as_array().expect("rules").iter().find(|rule| holds(&rule["if"], &variables))
            else {
                continue;
            };
            assert!(start.branch == "main" || job.get("environment").is_none(), "an environment in a merge request");
            let by_hand = rule.get("when").is_some_and(|when| when == "manual");
            let needed = job.get("needs").and_then(Value::as_array).cloned();
            let ready = match &needed {
                Some(needs) => needs.iter().all(|need| ended.jobs.get(need.as_str().expect("text")) == Some(&0)),
                None => true,
            };
            if !ready || (by_hand && !start.by_hand.contains(&name.as_str())) {
                continue;
            }
            let code = self.run_job(start, &name, &job, &variables, needed.unwrap_or_default(), &mut ended);
            ended.jobs.insert(name, code);
        }
        for secret in TOKENS.into_iter().chain([self.repository.secret.as_str()]) {
            assert!(!ended.log.contains(secret), "a secret in a log");
        }
        ended
    }

    /// The variables of a job. What is protected is there on `main` alone, the key only in an environment.
    fn variables(&self, start: &Start<'_>, job: &Value) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.display().to_string();
        let mut all: BTreeMap<String, String> = job["variables"]
            .as_object()
            .expect("variables")
            .iter()
            .map(|(key, value)| (key.clone(), value.as_str().expect("text").to_owned()))
            .collect();
        let own_machine = job.get("tags").is_some();
        let place = self.repository.path(if own_machine { "own" } else { "hosted" });
        let given = [
            ("ZONEWRIGHT_STATE", text(self.repository.path("state"))),
            ("CI", "true".into()),
            ("CI_PIPELINE_SOURCE", start.source.into()),
            ("CI_DEFAULT_BRANCH", "main".into()),
            ("CI_COMMIT_SHA", start.commit.clone()),
            ("CI_PROJECT_ID", "5".into()),
            ("CI_PROJECT_DIR", text(place.join("checkout"))),
            ("CI_API_V4_URL", self.api.url.clone()),
            ("CI_JOB_TOKEN", TOKENS[1].into()),
            ("CI_PIPELINE_URL", "https://gitlab.example/g/dns/-/pipelines/1".into()),
            ("GITLAB_USER_LOGIN", "operator".into()),
        ];
        all.extend(given.map(|(key, value)| (key.to_owned(), value)));
        all.extend(start.variables.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        if start.source == "merge_request_event" {
            let url = self.repository.path("origin");
            fs::remove_file(url.with_extension("git")).unwrap_or_default();
            std::os::unix::fs::symlink(&url, url.with_extension("git")).expect("a link");
            all.insert("CI_MERGE_REQUEST_PROJECT_URL".into(), format!("file://{}", url.display()));
            all.insert("CI_MERGE_REQUEST_PROJECT_ID".into(), "5".into());
            all.insert("CI_MERGE_REQUEST_TARGET_BRANCH_NAME".into(), "main".into());
        } else {
            all.insert("CI_COMMIT_BRANCH".into(), start.branch.into());
        }
        if start.branch == "main" {
            all.insert("ZONEWRIGHT_NOTE_TOKEN_FILE".into(), text(self.repository.path("note-token")));
            if job.get("environment").is_some() {
                all.insert("ZONEWRIGHT_TSIG_FILE".into(), text(self.repository.path("tsig")));
            }
        }
        all
    }

    /// Takes the steps of a job, and keeps its artifacts; gives its exit code.
    fn run_job(
        &self,
        start: &Start<'_>,
        name: &str,
        job: &Value,
        variables: &BTreeMap<String, String>,
        needs: Vec<Value>,
        ended: &mut Ended,
    ) -> i32 {
        let checkout = PathBuf::from(&variables["CI_PROJECT_DIR"]);
        self.repository.check_out(&start.commit, &checkout, true);
        for need in needs {
            let kept = self.kept();
            let made = kept.jobs.iter().rfind(|(made, _)| made["name"] == need).expect("it ended");
            copy(&made.1, &checkout);
        }
        let lines = [&job["before_script"], &job["script"]];
        let lines = lines.iter().flat_map(|lines| lines.as_array().expect("lines"));
        let script: Vec<_> = lines.map(|line| line.as_str().expect("text")).collect();
        let mut command = self.repository.command("bash", &checkout);
        let output =
            command.args(["-eo", "pipefail", "-c", &script.join("\n")]).envs(variables).output().expect("bash runs");
        let code = output.status.code().expect("it was not killed");
        ended.log += &format!("# {name}\n{}", String::from_utf8_lossy(&output.stdout));
        ended.log += &format!("{}[{code}]\n", String::from_utf8_lossy(&output.stderr));
        let mut kept = self.kept();
        let id = kept.jobs.len() + 1;
        let folder = self.repository.path(&format!("jobs/{id}"));
        fs::create_dir_all(&folder).expect("a folder");
        keep(job, code, &checkout, &folder);
        let web = format!("https://gitlab.example/g/dns/-/jobs/{id}");
        kept.jobs.push((json!({"id": id, "name": name, "pipeline": ended.id, "web_url": web}), folder));
        code
    }
}

/// Copies what a job leaves; a report that is named must be there.
fn keep(job: &Value, code: i32, checkout: &Path, folder: &Path) {
    let Some(artifacts) = job.get("artifacts") else { return };
    if code != 0 && artifacts.get("when").is_none_or(|when| when != "always") {
        return;
    }
    if let Some(report) = artifacts.pointer("/reports/junit") {
        let file = checkout.join(report.as_str().expect("text"));
        let text =
            fs::read_to_string(&file).or_else(|error| if code == 0 { Err(error) } else { Ok("<testsuites".into()) });
        assert!(text.expect("a report").contains("<testsuites"), "{}", file.display());
    }
    for path in artifacts.get("paths").and_then(Value::as_array).into_iter().flatten() {
        let path = path.as_str().expect("text").trim_end_matches('/');
        if checkout.join(path).is_dir() {
            copy(&checkout.join(path), &folder.join(path));
        }
    }
}

/// The jobs of a file, in its order; those that begin with a dot are none.
fn names(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()));
    lines.map(|line| line.trim_end_matches(':').to_owned()).collect()
}

/// A job with what it extends.
fn extended(file: &Value, name: &str) -> Value {
    let mut job = file[file[name]["extends"].as_str().expect("it extends another")].clone();
    job.as_object_mut().expect("a job").extend(file[name].as_object().expect("a job").clone());
    job
}

/// Whether the condition of a rule holds: comparisons that are all to be true.
fn holds(condition: &Value, variables: &BTreeMap<String, String>) -> bool {
    let value = |term: &str| match (term.strip_prefix('$'), term.strip_prefix('"')) {
        (Some(name), _) => variables.get(name).cloned().unwrap_or_default(),
        (None, Some(text)) => text.trim_end_matches('"').to_owned(),
        (None, None) => panic!("`{term}` is not known"),
    };
    let condition = condition.as_str().expect("a condition");
    condition.split(" && ").all(|part| {
        let (left, right) = part.split_once(" == ").expect("a comparison");
        value(left) == value(right)
    })
}

/// The common part says what each job runs in.
#[test]
fn every_job_extends_the_common_one() {
    let text = fs::read_to_string(support::root().join("ci/gitlab/zonewright.gitlab-ci.yml")).expect("the file");
    let file = yaml::parse(&text);
    assert_eq!(names(&text).len() + 1, file.as_object().expect("jobs").len());
    for name in names(&text) {
        assert_eq!(file[&name]["extends"], ".zonewright");
    }
}
