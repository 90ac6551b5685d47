//! GitLab's REST API, imitated as far as our scripts ask it. What they should not ask is an error.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::http::{Answer, Request, is};

/// The id of the account that writes notes.
pub const BOT: u64 = 99;

/// The secrets of the API: that of the bot, and that of jobs.
pub const TOKENS: [&str; 2] = ["glpat-bot", "glcbt-job"];

/// What GitLab keeps.
#[derive(Default)]
pub struct Kept {
    /// Merge requests.
    pub requests: Vec<Value>,
    /// Notes, each with its `request`.
    pub notes: Vec<Value>,
    /// Jobs that have ended, each with its `pipeline` and the folder of its artifacts.
    pub jobs: Vec<(Value, PathBuf)>,
    /// Parts of paths whose answers are cut off, and the status that they have.
    pub broken: Vec<(String, u16)>,
    /// The latest snapshot in the package registry.
    pub live: Option<Vec<u8>>,
}

/// Answers a request as GitLab does; an error where it should not have been made.
pub fn answer(kept: &mut Kept, request: &Request) -> Result<Answer, String> {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    if request.header("job-token") == TOKENS[1] {
        if parts != ["projects", "5", "packages", "generic", "zonewright-live", "latest", "live.tar"] {
            return Err("not for a job".into());
        }
        if request.method == "PUT" {
            kept.live = Some(request.body.clone());
            return Ok((201, br#"{"message":"201 Created"}"#.to_vec()));
        }
        return Ok(kept.live.clone().map_or((404, Vec::new()), |content| (200, content)));
    }
    // In the one header that curl sends to no other host.
    if request.header("authorization") != format!("Bearer {}", TOKENS[0]) {
        return Err("no token".into());
    }
    if let Some(broken) = kept.broken.iter().find(|broken| request.path.contains(&broken.0)) {
        return Ok((broken.1, br#"[{"id":"#.to_vec()));
    }
    let page = |list: Vec<&Value>| {
        let number = query.split('&').find_map(|pair| pair.strip_prefix("page=")).unwrap_or("1");
        let skipped = (number.parse::<usize>().expect("a number") - 1) * 100;
        json!(list.into_iter().skip(skipped).take(100).collect::<Vec<_>>())
    };
    let found = match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["user"]) => json!({"id": BOT}),
        ("GET", ["projects", "5", "merge_requests"]) => {
            page(kept.requests.iter().filter(|it| it["state"] == "opened").collect())
        }
        ("GET", ["projects", "5", "merge_requests", iid]) => {
            kept.requests.iter().find(|it| is(&it["iid"], iid)).ok_or("no such request")?.clone()
        }
        ("GET", ["projects", project, "pipelines", id, "jobs"]) => {
            if *project != "5" {
                return Ok((404, Vec::new()));
            }
            page(kept.jobs.iter().map(|(job, _)| job).filter(|job| is(&job["pipeline"], id)).collect())
        }
        ("GET", ["projects", "5", "jobs", id, "artifacts", "zonewright-plan", "plan.json"]) => {
            let found = kept.jobs.iter().find(|(job, _)| is(&job["id"], id)).ok_or("no such job")?;
            let file = fs::read(found.1.join("zonewright-plan/plan.json"));
            return Ok(file.map_or((404, Vec::new()), |content| (200, content)));
        }
        ("GET", ["projects", "5", "merge_requests", iid, "notes"]) => {
            page(kept.notes.iter().filter(|note| is(&note["request"], iid)).collect())
        }
        ("POST", ["projects", "5", "merge_requests", iid, "notes"]) => {
            let note = json!({"id": kept.notes.len() + 1, "request": iid.parse::<u64>().map_err(|_| "no number")?,
                "author": {"id": BOT}, "body": body(request)?});
            kept.notes.push(note.clone());
            note
        }
        ("PUT", ["projects", "5", "merge_requests", _, "notes", id]) => {
            let body = body(request)?;
            let note = kept.notes.iter_mut().find(|note| is(&note["id"], id)).ok_or("no such note")?;
            if note["author"]["id"] != BOT {
                return Err("another user's note".into());
            }
            note["body"] = body;
            note.clone()
        }
        ("GET", ["projects", "5", "repository", "commits", commit, "merge_requests"]) => {
            page(kept.requests.iter().filter(|it| it["merge_commit_sha"] == *commit).collect())
        }
        _ => return Err("not known".into()),
    };
    Ok((200, found.to_string().into_bytes()))
}

/// The text of a note, in which no line is a command to GitLab.
fn body(request: &Request) -> Result<Value, String> {
    let value: Value = serde_json::from_slice(&request.body).map_err(|error| error.to_string())?;
    let text = value["body"].as_str().ok_or("no body")?;
    if text.lines().any(|line| line.starts_with('/')) {
        Err("a quick action".into())
    } else {
        Ok(value["body"].clone())
    }
}
