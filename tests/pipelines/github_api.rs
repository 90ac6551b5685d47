//! GitHub's REST API, imitated as far as our scripts ask it. What they should not ask is an error.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::{Answer, Request, is};

/// What GitHub keeps.
#[derive(Default)]
pub struct Kept {
    /// Artifacts, the latest last, as the API tells them.
    pub artifacts: Vec<Value>,
    /// Runs, the latest last.
    pub runs: Vec<Value>,
    /// Pull requests.
    pub pulls: Vec<Value>,
    /// Comments.
    pub comments: Vec<Value>,
    /// Whether a user deletes the next comment right before it is changed.
    pub is_comment_going: bool,
    /// Parts of requests, as METHOD and path, whose answers are cut off, and the status that they have.
    pub broken: Vec<(String, u16)>,
    /// What each token may do.
    pub tokens: BTreeMap<String, Value>,
}

/// Answers a request as GitHub does; an error where it should not have been made.
pub fn answer(kept: &mut Kept, request: &Request) -> Result<Answer, String> {
    let token = request.header("authorization").strip_prefix("Bearer ").ok_or("no token")?;
    let rights = kept.tokens.get(token).ok_or("an unknown token")?.clone();
    let may = |scope: &str, access: &[&str]| match rights[scope].as_str() {
        Some(has) if access.contains(&has) => Ok(()),
        has => Err(format!("the right {scope} is {has:?}")),
    };
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let query: BTreeMap<_, _> =
        query.split('&').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (key, decode(value))).collect();
    let parts: Vec<_> = path.strip_prefix("/repos/o/dns/").ok_or("another repository")?.split('/').collect();
    let asked = format!("{} {}", request.method, request.path);
    if let Some(broken) = kept.broken.iter().find(|broken| asked.contains(&broken.0)) {
        return Ok((broken.1, br#"[{"message":"#.to_vec()));
    }
    let found = match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["actions", "artifacts"]) => {
            may("actions", &["read"])?;
            let named: Vec<_> = kept.artifacts.iter().rev().filter(|it| it["name"] == *query["name"]).collect();
            json!({"total_count": named.len(), "artifacts": named})
        }
        ("GET", ["actions", "runs", id]) => {
            may("actions", &["read"])?;
            kept.runs.iter().find(|run| is(&run["id"], id)).ok_or("no such run")?.clone()
        }
        ("GET", ["pulls"]) => {
            may("pull-requests", &["read", "write"])?;
            let fits = |pull: &&Value| {
                let label = format!(
                    "{}:{}",
                    pull["head"]["repo"]["owner"]["login"].as_str().unwrap_or(""),
                    text(&pull["head"]["ref"])
                );
                pull["state"] == *query["state"] && label == query["head"] && pull["base"]["ref"] == *query["base"]
            };
            json!(kept.pulls.iter().filter(fits).collect::<Vec<_>>())
        }
        ("GET", ["commits", commit, "pulls"]) => {
            may("pull-requests", &["read", "write"])?;
            json!(kept.pulls.iter().filter(|pull| pull["merge_commit_sha"] == *commit).collect::<Vec<_>>())
        }
        ("GET", ["issues", number, "comments"]) => {
            may("pull-requests", &["read", "write"])?;
            let page: usize = query["page"].parse().map_err(|_| "no page")?;
            let all = kept.comments.iter().filter(|comment| is(&comment["issue"], number));
            json!(all.skip((page - 1) * 100).take(100).collect::<Vec<_>>())
        }
        ("POST", ["issues", number, "comments"]) => {
            may("pull-requests", &["write"])?;
            let body = body(request)?;
            let comment = json!({"id": kept.comments.len() + 1, "issue": number.parse::<u64>().map_err(|_| "no number")?,
                "body": body, "user": {"login": "github-actions[bot]", "type": "Bot"}});
            kept.comments.push(comment.clone());
            comment
        }
        ("PATCH", ["issues", "comments", id]) => {
            may("pull-requests", &["write"])?;
            if kept.is_comment_going {
                kept.is_comment_going = false;
                kept.comments.retain(|comment| !is(&comment["id"], id));
                return Ok((404, br#"{"message":"Not Found"}"#.to_vec()));
            }
            let body = body(request)?;
            let comment = kept.comments.iter_mut().find(|comment| is(&comment["id"], id)).ok_or("no such")?;
            if comment["user"]["login"] != "github-actions[bot]" {
                return Err("another user's comment".into());
            }
            comment["body"] = body;
            comment.clone()
        }
        _ => return Err("not known".into()),
    };
    Ok((200, found.to_string().into_bytes()))
}

/// The text of a comment, as GitHub takes it.
fn body(request: &Request) -> Result<Value, String> {
    let value: Value = serde_json::from_slice(&request.body).map_err(|error| error.to_string())?;
    let length = value["body"].as_str().ok_or("no body")?.len();
    if value.as_object().is_some_and(|it| it.len() == 1) && length <= 65_536 {
        Ok(value["body"].clone())
    } else {
        Err(format!("a body of {length} octets, or more than a body"))
    }
}

/// The text of a value, or nothing.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A value of a query, percent-decoded.
fn decode(value: &str) -> String {
    let mut octets = Vec::new();
    let mut rest = value.bytes();
    while let Some(octet) = rest.next() {
        octets.push(if octet == b'%' {
            let pair = [rest.next().expect("two digits"), rest.next().expect("two digits")];
            u8::from_str_radix(std::str::from_utf8(&pair).expect("digits"), 16).expect("digits")
        } else {
            octet
        });
    }
    String::from_utf8(octets).expect("text")
}
