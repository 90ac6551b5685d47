//! The step to version 7 of the tables: numbers of hosts become subjects.
//!
//! Until then a change of an orphan had no host, and neither its name nor its pool was kept. The name is found in the
//! change. The pool is not known ([`PoolName::unknown`]).

use std::collections::HashMap;

use rusqlite::{Connection, params};
use serde_json::Value;

use super::seal;
use crate::inventory::pool_name::PoolName;

/// The text of a host; numbers are kept as signed ones of the same bits.
fn host(inv: i64) -> String {
    format!("host:{}", inv as u64)
}

/// The text of an orphan.
fn orphan(name: &str) -> String {
    format!("orphan:{}/{name}", PoolName::unknown())
}

/// Copies what tables of earlier versions say of hosts, and drops them.
pub fn copy(db: &Connection) -> rusqlite::Result<()> {
    let mut rows = db.prepare("SELECT apply, host, project, at FROM ledger_of_hosts")?;
    let mut rows = rows.query([])?;
    let mut put = db.prepare("INSERT INTO ledger (apply, subject, project, at) VALUES (?1, ?2, ?3, ?4)")?;
    while let Some(row) = rows.next()? {
        let (project, at): (String, i64) = (row.get(2)?, row.get(3)?);
        put.execute(params![row.get::<_, i64>(0)?, host(row.get(1)?), project, at])?;
    }
    let mut rows = db.prepare("SELECT apply, host FROM blocked_hosts")?;
    let mut rows = rows.query([])?;
    let mut put = db.prepare("INSERT INTO blocked_subjects (apply, subject) VALUES (?1, ?2)")?;
    while let Some(row) = rows.next()? {
        put.execute(params![row.get::<_, i64>(0)?, host(row.get(1)?)])?;
    }
    let mut rows = db.prepare("SELECT apply, place, host, project, name, outcome, message FROM left_hosts")?;
    let mut rows = rows.query([])?;
    let sql = "INSERT INTO left_subjects (apply, place, subject, project, name, outcome, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut put = db.prepare(sql)?;
    while let Some(row) = rows.next()? {
        let (apply, place, name): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let subject = row.get::<_, Option<i64>>(2)?.map_or_else(|| orphan(&name), host);
        let (project, outcome): (String, String) = (row.get(3)?, row.get(5)?);
        put.execute(params![apply, place, subject, project, name, outcome, row.get::<_, Option<String>>(6)?])?;
    }
    let mut rows = db.prepare("SELECT apply, number, changes, seal FROM batch_changes")?;
    let mut rows = rows.query([])?;
    let mut put = db.prepare("UPDATE batch_changes SET changes = ?3, seal = ?4 WHERE apply = ?1 AND number = ?2")?;
    while let Some(row) = rows.next()? {
        let (apply, number): (i64, i64) = (row.get(0)?, row.get(1)?);
        // A row that is not what was written stays as it is, so that a later read still finds that out.
        let written = row.get::<_, String>(2).ok().filter(|text| {
            let seal = seal::of_changes(apply, number, text);
            row.get::<_, Option<i64>>(3).is_ok_and(|kept| kept == Some(seal))
        });
        if let Some(changes) = written.as_deref().and_then(rewritten) {
            put.execute(params![apply, number, changes, seal::of_changes(apply, number, &changes)])?;
        }
    }
    db.execute_batch("DROP TABLE ledger_of_hosts; DROP TABLE blocked_hosts; DROP TABLE left_hosts;")
}

/// A list of changes with subjects; `None` where it is no such list.
fn rewritten(changes: &str) -> Option<String> {
    let mut changes: Vec<serde_json::Map<String, Value>> = serde_json::from_str(changes).ok()?;
    let pointed_to = changes.iter().filter_map(|change| Some((text(change, "name")?, pointed_to(change)?)));
    let pointed_to: HashMap<String, String> = pointed_to.map(|(name, to)| (name.to_owned(), to)).collect();
    for change in &mut changes {
        let subject = match change.remove("host")? {
            Value::Null => orphan(&orphan_name(change, &pointed_to)?),
            inv => format!("host:{}", inv.as_u64()?),
        };
        change.insert("subject".to_owned(), subject.into());
        if let Some(also) = change.get_mut("also") {
            for inv in also.as_array_mut()? {
                *inv = format!("host:{}", inv.as_u64()?).into();
            }
        }
    }
    serde_json::to_string(&changes).ok()
}

/// A text of a change.
fn text<'a>(change: &'a serde_json::Map<String, Value>, field: &str) -> Option<&'a str> {
    change.get(field)?.as_str()
}

/// What a PTR points to that the change takes away.
fn pointed_to(change: &serde_json::Map<String, Value>) -> Option<String> {
    let targets = |side: &str| change.get(side).and_then(|rrset| rrset.get("rdata")).and_then(Value::as_array);
    let after = targets("after").map_or(&[][..], Vec::as_slice);
    let gone = targets("before")?.iter().find(|target| !after.contains(target))?;
    (text(change, "type")? == "PTR").then(|| gone.as_str().map(str::to_owned)).flatten()
}

/// The name that no host had, of a change that was an orphan's: that of the addresses, or what the PTR pointed to. A TXT
/// of the registry is at `aaaa-` or `ptr-` and the name of the RRset that it recorded.
fn orphan_name(change: &serde_json::Map<String, Value>, pointed_to: &HashMap<String, String>) -> Option<String> {
    let name = text(change, "name")?;
    let recorded =
        name.strip_prefix("aaaa-").or(name.strip_prefix("ptr-")).filter(|_| text(change, "type") == Some("TXT"));
    let name = recorded.unwrap_or(name);
    Some(pointed_to.get(name).map_or(name, String::as_str).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_get_their_text_and_orphans_their_name() {
        let rrset = |rdata: &str| format!("{{\"ttl\":600,\"rdata\":[\"{rdata}\"]}}");
        let deletes = |host: &str, name: &str, rtype: &str, rdata: &str| {
            let before = rrset(rdata);
            format!(
                "{{\"host\":{host},\"project\":\"web\",\"name\":\"{name}\",\"type\":\"{rtype}\",\"before\":{before},\"after\":null}}"
            )
        };
        let reverse = "1.0.ip6.arpa.";
        let changes = [
            deletes("18446744073709551615,\"also\":[7,8]", "a.example.net.", "AAAA", "2a02::1"),
            deletes("null", "gone.example.net.", "AAAA", "2a02::2"),
            deletes("null", reverse, "PTR", "gone.example.net."),
            deletes("null", "aaaa-gone.example.net.", "TXT", "x"),
            deletes("null", &format!("ptr-{reverse}"), "TXT", "x"),
        ];
        let found: Vec<Value> = serde_json::from_str(&rewritten(&format!("[{}]", changes.join(","))).unwrap()).unwrap();
        let subjects: Vec<&str> = found.iter().map(|change| change["subject"].as_str().unwrap()).collect();
        let orphan = "orphan:-/gone.example.net.";
        assert_eq!(subjects, ["host:18446744073709551615", orphan, orphan, orphan, orphan]);
        assert_eq!(found[0]["also"], serde_json::json!(["host:7", "host:8"]));
        assert!(found.iter().all(|change| change.get("host").is_none() && change["before"]["ttl"] == 600));
        assert!(crate::state::journal::from_json(&serde_json::to_string(&found).unwrap()).is_some());
        assert_eq!([rewritten("{}"), rewritten("[{}]"), rewritten("[{\"host\":true}]")], [None, None, None]);
    }
}
