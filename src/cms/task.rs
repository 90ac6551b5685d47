//! Tasks as services read and write them. Pure.

use serde::{Deserialize, Serialize};

use super::{CmsFault, CmsFaultKind};
use crate::document::words;
use crate::inventory::cms::CmsAction;

/// How many octets an answer may have: 1 MiB.
pub const MAX_ANSWER: u64 = 1024 * 1024;

/// How long a message of a service may be that is kept: it may be a page.
const MAX_MESSAGE: usize = 512;

/// Who asks, in each task.
pub const ISSUER: &str = "zonewright";

/// What takes the place of the state's id in the ids of dry runs.
pub const DRY: &str = "dry";

words! {
    /// What a service says of a task.
    TaskStatus {
        /// The host may be disturbed.
        Ok = "ok",
        /// It may not, and zonewright is not to wait for it.
        Rejected = "rejected",
        /// It may not yet.
        InProcess = "in-process",
    }
}

impl TaskStatus {
    /// Reads a status: case, hyphens and underscores do not count.
    pub fn read(text: &str) -> Option<TaskStatus> {
        let word: String = text.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        match word.to_ascii_lowercase().as_str() {
            "ok" => Some(TaskStatus::Ok),
            "rejected" => Some(TaskStatus::Rejected),
            "inprocess" | "inprogress" => Some(TaskStatus::InProcess),
            _ => None,
        }
    }
}

words! {
    /// Whether a person asked for the change of this host.
    TaskType {
        /// A plan did.
        Automated = "automated",
        /// A person named the host.
        Manual = "manual",
    }
}

/// A task: one host is to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CmsTask {
    /// What distinguishes it from all others, those of lost states too.
    pub id: String,
    /// Whether a person asked for it.
    #[serde(rename = "type")]
    pub kind: TaskType,
    /// Who asks.
    pub issuer: &'static str,
    /// What is to be allowed.
    pub action: CmsAction,
    /// The host: one.
    pub hosts: [String; 1],
    /// What is to be done, in words.
    pub comment: String,
    /// Whether the host loses what is on it: never.
    pub destructive: bool,
    /// The run that asks: all its tasks have the same.
    pub group: String,
    /// Whether nothing is to be done because of it.
    pub dry_run: bool,
}

impl CmsTask {
    /// The task of a dry run; `random` distinguishes it.
    pub fn dry(owner: &str, random: &str, action: CmsAction, host: &str, comment: &str) -> CmsTask {
        CmsTask {
            id: dry_id(owner, random),
            kind: TaskType::Automated,
            issuer: ISSUER,
            action,
            hosts: [host.to_owned()],
            comment: comment.to_owned(),
            destructive: false,
            group: dry_id(owner, "0"),
            dry_run: true,
        }
    }

    /// The host.
    pub fn host(&self) -> &str {
        let [host] = &self.hosts;
        host
    }

    /// The task as the content of a request.
    pub fn content(&self) -> String {
        serde_json::to_string(self).expect("a task is JSON")
    }
}

/// The id of a task of a dry run.
pub fn dry_id(owner: &str, random: &str) -> String {
    format!("{owner}.{DRY}.{random}")
}

/// What a service says of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAnswer {
    /// The status.
    pub status: TaskStatus,
    /// What it says besides; empty where it says nothing.
    pub message: String,
}

/// A task in the list of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTask {
    /// Its id.
    pub id: String,
    /// Its hosts.
    pub hosts: Vec<String>,
    /// Its status.
    pub status: TaskStatus,
}

/// A task of an answer, before it is compared with what was asked.
#[derive(Deserialize)]
struct AnsweredTask {
    /// Its id.
    id: String,
    /// Its hosts.
    hosts: Vec<String>,
    /// Its status.
    status: String,
    /// What is said besides.
    #[serde(default)]
    message: Option<String>,
}

/// A list of an answer.
#[derive(Deserialize)]
struct AnsweredList {
    /// The tasks.
    result: Vec<AnsweredTask>,
}

/// Reads what is said of a task that was asked for with this id and this host.
///
/// Errors: the content is not that of the protocol, or is about another task or host.
pub fn read_answer(content: &[u8], id: &str, host: &str) -> Result<TaskAnswer, CmsFault> {
    let task: AnsweredTask = read(content)?;
    if task.id != id {
        return Err(CmsFault::new(
            CmsFaultKind::WrongTask,
            format!("answers about the task `{}`", shortened(&task.id)),
        ));
    }
    if !is_host(&task.hosts, host) {
        let hosts = shortened(&task.hosts.join(", "));
        return Err(CmsFault::new(CmsFaultKind::WrongHosts, format!("answers about the hosts `{hosts}`")));
    }
    let status = read_status(&task.status)?;
    Ok(TaskAnswer { status, message: shortened(task.message.as_deref().unwrap_or_default()) })
}

/// Reads a list of tasks.
///
/// Errors: the content is not that of the protocol.
pub fn read_list(content: &[u8]) -> Result<Vec<ListedTask>, CmsFault> {
    let list: AnsweredList = read(content)?;
    let task = |AnsweredTask { id, hosts, status, .. }| Ok(ListedTask { status: read_status(&status)?, id, hosts });
    list.result.into_iter().map(task).collect()
}

/// Reads JSON of one form.
fn read<'c, T: Deserialize<'c>>(content: &'c [u8]) -> Result<T, CmsFault> {
    serde_json::from_slice(content).map_err(|error| {
        let what = if error.is_data() {
            "with JSON that is not that of the protocol"
        } else {
            "with something other than JSON"
        };
        CmsFault::new(CmsFaultKind::Content, format!("answers {what}: {error}"))
    })
}

/// Reads a status.
fn read_status(text: &str) -> Result<TaskStatus, CmsFault> {
    TaskStatus::read(text).ok_or_else(|| {
        CmsFault::new(
            CmsFaultKind::Content,
            format!("answers with the status `{}`, which the protocol lacks", shortened(text)),
        )
    })
}

/// Whether a list has this host alone; names are compared without case, and without a dot at the end (RFC 4343).
fn is_host(hosts: &[String], host: &str) -> bool {
    let plain = |name: &str| name.trim_end_matches('.').to_ascii_lowercase();
    matches!(hosts, [own] if plain(own) == plain(host))
}

/// A text of a service, as much of it as is kept.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an answer is read as, in short.
    fn read_as(content: &str) -> Result<(TaskStatus, String), CmsFaultKind> {
        let read = read_answer(content.as_bytes(), "me.dry.1", "a.example.net");
        read.map(|answer| (answer.status, answer.message)).map_err(|fault| fault.kind)
    }

    #[test]
    fn a_task_is_written_as_the_protocol_says() {
        let task = CmsTask::dry("fleet-dns", "9f", CmsAction::Reboot, "sas1-0001.search.example.net", "AAAA replaced");
        let expected = "{\"id\":\"fleet-dns.dry.9f\",\"type\":\"automated\",\"issuer\":\"zonewright\",\"action\":\"reboot\",\
                        \"hosts\":[\"sas1-0001.search.example.net\"],\"comment\":\"AAAA replaced\",\"destructive\":false,\
                        \"group\":\"fleet-dns.dry.0\",\"dry_run\":true}";
        assert_eq!(task.content(), expected);
    }

    #[test]
    fn a_status_is_read_without_case_hyphens_and_underscores() {
        let all =
            ["ok", "OK", "rejected", "Rejected", "in-process", "in_process", "InProcess", "IN-PROGRESS", "inprogress"];
        let read: Vec<&str> = all.iter().map(|text| TaskStatus::read(text).unwrap().as_str()).collect();
        let three = "in-process";
        assert_eq!(read, ["ok", "ok", "rejected", "rejected", three, three, three, three, three]);
        for text in ["", "okay", "in process", "done"] {
            assert_eq!(TaskStatus::read(text), None, "{text}");
        }
    }

    #[test]
    fn an_answer_is_about_what_was_asked_or_is_none() {
        let answer =
            |id: &str, hosts: &str, rest: &str| read_as(&format!("{{\"id\":\"{id}\",\"hosts\":[{hosts}]{rest}}}"));
        let own = "\"a.example.net\"";
        let ok = ",\"status\":\"ok\"";
        assert_eq!(answer("me.dry.1", own, ok), Ok((TaskStatus::Ok, String::new())));
        let more = ",\"status\":\"IN_PROGRESS\",\"message\":\"moving 3 shards\",\"new\":1";
        assert_eq!(
            answer("me.dry.1", "\"A.example.NET.\"", more),
            Ok((TaskStatus::InProcess, "moving 3 shards".to_owned()))
        );
        assert_eq!(answer("me.dry.2", own, ok), Err(CmsFaultKind::WrongTask));
        for hosts in ["", "\"b.example.net\"", "\"a.example.net\",\"b.example.net\""] {
            assert_eq!(answer("me.dry.1", hosts, ok), Err(CmsFaultKind::WrongHosts), "{hosts}");
        }
        for rest in ["", ",\"status\":null", ",\"status\":\"maybe\"", ",\"status\":\"ok\",\"message\":7"] {
            assert_eq!(answer("me.dry.1", own, rest), Err(CmsFaultKind::Content), "{rest}");
        }
        for content in ["", "ok", "[]", "{\"id\":\"me.dry.1\"", "null"] {
            assert_eq!(read_as(content), Err(CmsFaultKind::Content), "{content}");
        }
        let long = "x".repeat(2000);
        let (_, message) = answer("me.dry.1", own, &format!(",\"status\":\"ok\",\"message\":\"{long}\"")).unwrap();
        assert_eq!(message.chars().count(), MAX_MESSAGE + 1);
    }

    #[test]
    fn a_list_is_read_whole_or_not_at_all() {
        let one = "{\"id\":\"x\",\"hosts\":[\"a\",\"b\"],\"status\":\"ok\"}";
        let listed = read_list(format!("{{\"result\":[{one}]}}").as_bytes()).unwrap();
        assert_eq!((listed.len(), listed[0].id.as_str(), listed[0].hosts.len()), (1, "x", 2));
        for content in ["{}", "[]", "{\"result\":[{\"id\":\"x\"}]}"] {
            assert_eq!(read_list(content.as_bytes()).unwrap_err().kind, CmsFaultKind::Content, "{content}");
        }
    }
}
