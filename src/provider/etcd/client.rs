//! Asks the members of an etcd, over its gateway.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::json::{self, EtcdRefusal, RangeRead, Transaction, TransactionDone};
use super::keys::EtcdKey;
use super::layout::KeyRange;
use super::settings::EtcdSettings;
use crate::diag::{Code, Problem};
use crate::http::{
    HttpAnswer, HttpClient, HttpContent, HttpFailure, HttpFailureKind, HttpMethod, HttpQuestion, HttpTrust,
};
use crate::parallel::HELD;
use crate::provider::secret::SecretHints;
use crate::provider::token;

/// How many keys one answer has. Pages are of one revision.
const PAGE: usize = 10_000;

/// How many octets an answer to a write may have.
const MAX_ANSWER: u64 = 64 << 20;

/// What is to be where the password is.
const HINTS: SecretHints = SecretHints {
    file: "make the file with the password alone, and run `chmod 600` on it",
    variable: "set it to the password alone",
    command: "run it by hand: it must print the password alone and exit with 0",
};

/// An etcd.
pub struct EtcdClient {
    /// The members, each with its URL.
    members: Vec<(String, HttpClient)>,
    /// Which member is asked.
    current: AtomicUsize,
    /// Who asks, with the password.
    user: Option<(String, String)>,
    /// The token of a log-in, while it holds.
    token: Mutex<Option<String>>,
}

/// Why there is no answer of success.
#[derive(Debug, Clone)]
pub struct EtcdFault {
    /// A code, as problems have it.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: &'static str,
    /// Whether nothing was done, provably.
    pub is_refusal: bool,
}

impl EtcdFault {
    /// The problem at a place.
    pub fn at(self, place: String) -> Problem {
        Problem::new(place, Code::new(self.code), self.message).hint(self.hint)
    }

    /// That an answer is not what it should be.
    pub fn unusable(why: String) -> EtcdFault {
        let hint = "`endpoints` must lead to members of an etcd of version 3.4 or later";
        EtcdFault { code: "api-failed", message: why, hint, is_refusal: false }
    }
}

/// A range, read at one revision.
#[derive(Debug)]
pub struct KeysRead {
    /// The keys.
    pub keys: Vec<EtcdKey>,
    /// The revision.
    pub revision: i64,
    /// How many octets the answers had.
    pub octets: u64,
}

impl EtcdClient {
    /// A client, with the password.
    ///
    /// Errors: the password or the certificates cannot be had.
    pub fn open(settings: &EtcdSettings, workspace: &Path) -> Result<EtcdClient, Problem> {
        let place = settings.endpoints[0].clone();
        let read = |file: &String| {
            fs::read(workspace.join(file)).map_err(|error| {
                let message = format!("`{file}` cannot be read: {}", error.to_string().to_lowercase());
                let hint = "`ca_file`, `cert_file` and `key_file` are PEM files, absolute or relative to the workspace";
                Problem::new(&place, "connect-failed", message).hint(hint)
            })
        };
        let authorities = settings.ca_file.as_ref().map(read).transpose()?;
        let client = settings.client_files.as_ref().map(|(cert, key)| Ok((read(cert)?, read(key)?))).transpose()?;
        let trust = HttpTrust { authorities, client };
        let member = |url: &String| {
            let client = HttpClient::trusting(url, settings.timeout, &trust).map_err(|error| {
                let hint = "check `endpoints`, `ca_file`, `cert_file` and `key_file`";
                Problem::new(url, "connect-failed", error.message).hint(hint)
            })?;
            Ok((url.clone(), client))
        };
        let members = settings.endpoints.iter().map(member).collect::<Result<_, Problem>>()?;
        let user = settings.user.as_ref().map(|(user, password)| {
            let password = token::fetch_word(password, workspace, ("password", HINTS));
            Ok((user.clone(), password.map_err(|error: Problem| error.at(&place))?))
        });
        let user = user.transpose()?;
        Ok(EtcdClient { members, current: AtomicUsize::new(0), user, token: Mutex::new(None) })
    }

    /// The members, for messages.
    pub fn place(&self) -> String {
        self.members.iter().map(|(url, _)| url.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Reads all keys of a range at one revision, that of the first answer or this one; at most so many keys and octets.
    ///
    /// Errors: there is no answer, or more comes.
    pub fn read(&self, range: &KeyRange, at: Option<i64>, most: (u64, u64)) -> Result<KeysRead, EtcdFault> {
        let (mut keys, mut octets, mut revision) = (Vec::new(), 0, at);
        let mut from = range.from.clone().into_bytes();
        loop {
            let request = json::range((&from, &range.to), revision, PAGE);
            let answer = self.ask_any("/v3/kv/range", &request, most.1.saturating_sub(octets))?;
            octets += answer.content.len() as u64;
            let RangeRead { keys: more, revision: now, last } =
                json::read_range(&answer.content).map_err(EtcdFault::unusable)?;
            revision.get_or_insert(now);
            keys.extend(more);
            if keys.len() as u64 > most.0 {
                let message = format!("there are more than {} keys", most.0);
                let hint = "if the zone is that large, raise `max_records` of the target";
                return Err(EtcdFault { code: "read-limit", message, hint, is_refusal: true });
            }
            match last {
                // The next key is the same one with a zero behind it.
                Some(last) => from = [last.as_slice(), &[0]].concat(),
                None => return Ok(KeysRead { keys, revision: revision.unwrap_or(now), octets }),
            }
        }
    }

    /// Whether there is any key in a range.
    ///
    /// Errors: as for [`EtcdClient::read`].
    pub fn has_any(&self, range: &KeyRange) -> Result<bool, EtcdFault> {
        let answer =
            self.ask_any("/v3/kv/range", &json::range((range.from.as_bytes(), &range.to), None, 1), MAX_ANSWER)?;
        Ok(!json::read_range(&answer.content).map_err(EtcdFault::unusable)?.keys.is_empty())
    }

    /// Makes a transaction that only reads, at any member.
    ///
    /// Errors: as for [`EtcdClient::read`].
    pub fn look(&self, transaction: &Transaction) -> Result<TransactionDone, EtcdFault> {
        let answer = self.ask_any("/v3/kv/txn", &transaction.to_json(), MAX_ANSWER)?;
        json::read_transaction(&answer.content).map_err(EtcdFault::unusable)
    }

    /// Makes a transaction that a request says, at one member and once.
    ///
    /// Errors: there is no answer, or no good one; the fault says whether nothing was done.
    pub fn write(&self, request: &str) -> Result<TransactionDone, EtcdFault> {
        let answer = self.ask("/v3/kv/txn", request, MAX_ANSWER)?;
        json::read_transaction(&answer.content).map_err(EtcdFault::unusable)
    }

    /// Asks one member after the other, until one answers.
    fn ask_any(&self, path: &str, request: &str, max: u64) -> Result<HttpAnswer, EtcdFault> {
        let mut first = None;
        for _ in &self.members {
            match self.ask(path, request, max) {
                Err(fault) if !fault.is_refusal => {
                    first.get_or_insert(fault);
                }
                answered => return answered,
            }
        }
        Err(first.unwrap_or_else(|| EtcdFault::unusable("there is no member".to_owned())))
    }

    /// Asks a member, and logs in where that is necessary; after a failure the next one is asked the next time.
    fn ask(&self, path: &str, request: &str, max: u64) -> Result<HttpAnswer, EtcdFault> {
        let number = self.current.load(Ordering::Relaxed);
        let member = &self.members[number % self.members.len()];
        let mut answer = self.post(member, (path, request), max);
        // A token holds for five minutes, or until the member starts again (`--auth-token-ttl`).
        if answer.as_ref().is_ok_and(|answer| answer.status == 401) && self.user.is_some() {
            self.token.lock().expect(HELD).take();
            answer = self.post(member, (path, request), max);
        }
        let answer = answer.inspect_err(|fault| {
            if !fault.is_refusal {
                // Another thread may have gone on already.
                let _ = self.current.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed);
            }
        })?;
        if answer.status >= 500 {
            // This member may be cut off from the others.
            let _ = self.current.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
        if answer.status == 200 { Ok(answer) } else { Err(refused(&answer)) }
    }

    /// Posts a request, with the token of the log-in.
    fn post(
        &self,
        member: &(String, HttpClient),
        (path, json): (&str, &str),
        max: u64,
    ) -> Result<HttpAnswer, EtcdFault> {
        let token = self.token_for(member)?;
        let url = format!("{}{path}", member.0);
        let headers: Vec<(&str, &str)> = token.iter().map(|token| ("authorization", token.as_str())).collect();
        let (method, content) = (HttpMethod::Post, Some(HttpContent::json(json)));
        let question = HttpQuestion { method, url: &url, headers: &headers, content, max, repeats: false };
        member.1.ask(&question).map_err(unanswered)
    }

    /// The token of a log-in; none where no user is set.
    fn token_for(&self, (url, client): &(String, HttpClient)) -> Result<Option<String>, EtcdFault> {
        let Some((user, password)) = &self.user else { return Ok(None) };
        let mut token = self.token.lock().expect(HELD);
        if token.is_none() {
            let url = format!("{url}/v3/auth/authenticate");
            let json = json!({"name": user, "password": password}).to_string();
            let question = HttpQuestion {
                method: HttpMethod::Post,
                url: &url,
                headers: &[],
                content: Some(HttpContent::json(&json)),
                max: MAX_ANSWER,
                repeats: false,
            };
            let answer = client.ask(&question).map_err(unanswered)?;
            if answer.status != 200 {
                let fault = refused(&answer);
                let is_denial = matches!(answer.status, 400 | 401 | 403 | 412);
                let denied = EtcdFault { code: "api-denied", is_refusal: true, hint: LOG_IN, ..fault.clone() };
                return Err(if is_denial { denied } else { fault });
            }
            *token = Some(json::read_token(&answer.content).map_err(EtcdFault::unusable)?);
        }
        Ok(token.clone())
    }
}

/// What to do about a log-in that fails.
const LOG_IN: &str =
    "compare `user` and `password` of the target with `etcdctl user list`; if authentication is off, leave both out";

/// That there is no answer.
fn unanswered(HttpFailure { kind, message }: HttpFailure) -> EtcdFault {
    let (code, hint) = match kind {
        HttpFailureKind::Unreachable => (
            "connect-failed",
            "check that etcd runs, and that `endpoints` are right: `https://` where it needs TLS, with `ca_file`, `cert_file` and `key_file`",
        ),
        HttpFailureKind::Late => {
            ("timeout", "check that most members of the etcd run; if it is always so, raise `timeout`")
        }
        HttpFailureKind::TooLong => ("read-limit", "if the zone is that large, raise `max_size` of the target"),
    };
    EtcdFault { code, message, hint, is_refusal: false }
}

/// That an answer is a refusal. A member that has no leader may have passed a transaction on (gRPC: 4 and 14).
fn refused(answer: &HttpAnswer) -> EtcdFault {
    let EtcdRefusal { code, message } =
        serde_json::from_slice(&answer.content).unwrap_or(EtcdRefusal { code: 0, message: String::new() });
    let words: String = message.chars().filter(|c| !c.is_control()).take(300).collect();
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    let message = format!("etcd answers with status {}{words}", answer.status);
    let is_refusal = matches!(code, 3 | 7 | 9 | 11 | 16) && answer.status < 500 || answer.status == 403;
    match answer.status {
        // Authentication is on, and no user is named.
        400 if words.contains("user name is empty") => EtcdFault {
            code: "api-denied",
            message,
            hint: "etcd asks who it is: give `user` and `password`",
            is_refusal,
        },
        401 | 403 => {
            let hint = "give the user of the target a role that may read and write the prefix, and the same below `/zonewright`";
            EtcdFault { code: "api-denied", message, hint, is_refusal }
        }
        _ => EtcdFault { code: "api-failed", message, hint: "look at the logs of etcd", is_refusal },
    }
}
