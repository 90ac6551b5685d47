//! Requests and answers of etcd's gateway: JSON with keys and values in base64, and numbers as texts. Pure.
//!
//! Source: etcd's `rpc.proto` by way of the gateway's mapping to JSON, as version 3.4 answers.

use std::fmt::{Display, Write as _};

use domain::utils::base64;
use serde::Deserialize;

use super::keys::EtcdKey;
use super::layout::KeyRange;

/// A request that is written: an object, whose fields are added one after another.
struct JsonObject(String);

impl JsonObject {
    /// One that begins with these characters.
    fn beginning(text: &str) -> JsonObject {
        JsonObject(text.to_owned())
    }

    /// Adds a field with octets, in base64.
    fn octets(mut self, name: &str, octets: &[u8]) -> JsonObject {
        self.add_name(name);
        // Writing to a text does not fail.
        let _ = base64::display(&octets, &mut self.0);
        self.0.push('"');
        self
    }

    /// Adds a field with a number, as a text.
    fn number(mut self, name: &str, number: impl Display) -> JsonObject {
        self.add_name(name);
        let _ = write!(self.0, "{number}\"");
        self
    }

    /// Adds the name of a field, and the quotation mark before its text.
    fn add_name(&mut self, name: &str) {
        let comma = if self.0.ends_with('{') { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{name}\":\"");
    }

    /// The text, with these characters at the end.
    fn ending(mut self, text: &str) -> String {
        self.0.push_str(text);
        self.0
    }
}

/// A request for the keys of a range at a revision, or now, at most so many of them; from this key on, whose octets may be any.
pub fn range((from, to): (&[u8], &str), revision: Option<i64>, limit: usize) -> String {
    let request =
        JsonObject::beginning("{").octets("key", from).octets("range_end", to.as_bytes()).number("limit", limit);
    match revision {
        Some(revision) => request.number("revision", revision).ending("}"),
        None => request.ending("}"),
    }
}

/// What must hold for a transaction to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The key was written last at this revision; with 0 it is not there.
    Unchanged(String, i64),
    /// No key of the range was written after this revision.
    NoneSince(KeyRange, i64),
    /// The key has this value.
    Holds(String, String),
}

impl Comparison {
    /// As a part of a request.
    fn to_json(&self) -> String {
        let of = |target: &str, result: &str| {
            JsonObject::beginning(&format!("{{\"target\":\"{target}\",\"result\":\"{result}\""))
        };
        let made = match self {
            Comparison::Unchanged(key, 0) => of("VERSION", "EQUAL").octets("key", key.as_bytes()).number("version", 0),
            Comparison::Unchanged(key, revision) => {
                of("MOD", "EQUAL").octets("key", key.as_bytes()).number("mod_revision", revision)
            }
            Comparison::NoneSince(range, revision) => of("MOD", "LESS")
                .octets("key", range.from.as_bytes())
                .octets("range_end", range.to.as_bytes())
                .number("mod_revision", revision + 1),
            Comparison::Holds(key, value) => {
                of("VALUE", "EQUAL").octets("key", key.as_bytes()).octets("value", value.as_bytes())
            }
        };
        made.ending("}")
    }
}

/// A part of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Writes a key.
    Put(String, String),
    /// Deletes a key.
    Delete(String),
    /// Reads a range.
    Range(KeyRange),
    /// Reads one key.
    Get(String),
}

impl Operation {
    /// As a part of a request.
    fn to_json(&self) -> String {
        let of = |request: &str, key: &str| {
            JsonObject::beginning(&format!("{{\"request_{request}\":{{")).octets("key", key.as_bytes())
        };
        let made = match self {
            Operation::Put(key, value) => of("put", key).octets("value", value.as_bytes()),
            Operation::Delete(key) => of("delete_range", key),
            Operation::Range(range) => of("range", &range.from).octets("range_end", range.to.as_bytes()),
            Operation::Get(key) => of("range", key),
        };
        made.ending("}}")
    }
}

/// A transaction that is made where all of this holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction {
    /// What must hold.
    pub comparisons: Vec<Comparison>,
    /// What is done then.
    pub operations: Vec<Operation>,
}

impl Transaction {
    /// The request.
    pub fn to_json(&self) -> String {
        let comparisons: Vec<String> = self.comparisons.iter().map(Comparison::to_json).collect();
        let operations: Vec<String> = self.operations.iter().map(Operation::to_json).collect();
        format!("{{\"compare\":[{}],\"success\":[{}]}}", comparisons.join(","), operations.join(","))
    }
}

/// What precedes each answer.
#[derive(Debug, Default, Deserialize)]
struct AnswerHeader {
    /// The revision of the whole etcd.
    #[serde(default)]
    revision: String,
}

/// A key in an answer.
#[derive(Debug, Deserialize)]
struct KeyAnswer<'d> {
    /// The key.
    #[serde(borrow)]
    key: &'d str,
    /// The revision at which it was written last.
    #[serde(borrow)]
    mod_revision: &'d str,
    /// Its lease; none, or 0, where it has none.
    #[serde(borrow, default)]
    lease: Option<&'d str>,
    /// The value; none where it is empty.
    #[serde(borrow, default)]
    value: &'d str,
}

/// The keys of a range.
#[derive(Debug, Default, Deserialize)]
struct RangeAnswer<'d> {
    /// What precedes it, where it is an answer by itself.
    #[serde(default)]
    header: AnswerHeader,
    /// The keys, in their order.
    #[serde(borrow, default)]
    kvs: Vec<KeyAnswer<'d>>,
    /// Whether there are more.
    #[serde(default)]
    more: bool,
}

/// An answer to a transaction.
#[derive(Debug, Deserialize)]
struct TransactionAnswer<'d> {
    /// What precedes it.
    header: AnswerHeader,
    /// What its parts gave.
    #[serde(borrow, default)]
    responses: Vec<PartAnswer<'d>>,
    /// Whether all held.
    #[serde(default)]
    succeeded: bool,
}

/// What a part of a transaction gave.
#[derive(Debug, Deserialize)]
struct PartAnswer<'d> {
    /// The keys of a range.
    #[serde(borrow, default)]
    response_range: Option<RangeAnswer<'d>>,
}

/// The keys of a range at a revision.
#[derive(Debug)]
pub struct RangeRead {
    /// The keys.
    pub keys: Vec<EtcdKey>,
    /// The revision of the whole etcd when it answered.
    pub revision: i64,
    /// The octets of the last key, where there are more.
    pub last: Option<Vec<u8>>,
}

/// What a transaction came to.
#[derive(Debug)]
pub struct TransactionDone {
    /// Whether it was made.
    pub is_made: bool,
    /// The revision of the whole etcd then.
    pub revision: i64,
    /// The keys that its parts read.
    pub keys: Vec<EtcdKey>,
}

/// The words for an answer that is none.
fn unread(error: impl std::fmt::Display) -> String {
    format!("its answer cannot be read: {error}")
}

/// Reads an answer with the keys of a range.
///
/// Errors: in words.
pub fn read_range(octets: &[u8]) -> Result<RangeRead, String> {
    let RangeAnswer { header, kvs, more } = serde_json::from_slice(octets).map_err(unread)?;
    let keys = kvs.iter().map(read_pair).collect::<Result<_, String>>()?;
    let last = kvs.last().filter(|_| more).map(|pair| decoded(pair.key)).transpose()?;
    Ok(RangeRead { keys, revision: read_number(&header.revision)?, last })
}

/// Reads the answer to a transaction.
///
/// Errors: in words.
pub fn read_transaction(octets: &[u8]) -> Result<TransactionDone, String> {
    let TransactionAnswer { header, responses, succeeded } = serde_json::from_slice(octets).map_err(unread)?;
    let pairs = responses.iter().filter_map(|response| response.response_range.as_ref()).flat_map(|range| &range.kvs);
    let keys = pairs.map(read_pair).collect::<Result<_, String>>()?;
    Ok(TransactionDone { is_made: succeeded, revision: read_number(&header.revision)?, keys })
}

/// Reads a number.
fn read_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| unread(format!("`{text}` is no revision")))
}

/// The octets of a text in base64.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    base64::decode(text).map_err(|_| unread("a key is not in base64"))
}

/// Reads a key with its value.
fn read_pair(pair: &KeyAnswer<'_>) -> Result<EtcdKey, String> {
    let key = String::from_utf8_lossy(&decoded(pair.key)?).into_owned();
    let value = if pair.value.is_empty() { Vec::new() } else { decoded(pair.value)? };
    let has_lease = pair.lease.is_some_and(|lease| lease != "0");
    Ok(EtcdKey { key, mod_revision: read_number(pair.mod_revision)?, has_lease, value })
}

/// What a refusal is.
#[derive(Debug, Deserialize)]
pub struct EtcdRefusal {
    /// The number of the error in gRPC.
    #[serde(default)]
    pub code: i64,
    /// What is wrong.
    #[serde(default)]
    pub message: String,
}

/// The token that an answer to a log-in has.
///
/// Errors: in words.
pub fn read_token(octets: &[u8]) -> Result<String, String> {
    /// The answer.
    #[derive(Deserialize)]
    struct LogInAnswer {
        /// The token.
        token: String,
    }
    serde_json::from_slice(octets).map(|LogInAnswer { token }| token).map_err(unread)
}
