//! The step to version 7 of the tables: numbers of hosts become subjects.
//!
//! Until then a change of an orphan had no host, and neither its name nor its pool was kept. The name is found in the
//! change. The pool is not known ([`PoolName::unknown`]).

use std::collections::HashMap;

use serde_json::Value;

use super::seal;
use super::sql::{SqlChange, values};
use crate::diag::Problem;
use crate::target::PoolName;

/// The text of a host; numbers are kept as signed ones of the same bits.
fn host(inv: i64) -> String {
    format!("host:{}", inv as u64)
}

/// The text of an orphan.
fn orphan(name: &str) -> String {
    format!("orphan:{}/{name}", PoolName::unknown())
}

/// Copies what tables of earlier versions say of hosts.
pub fn copy(db: &dyn SqlChange) -> Result<(), Problem> {
    let sql = "INSERT INTO ledger (apply, subject, project, at) VALUES (?1, ?2, ?3, ?4)";
    db.query("SELECT apply, host, project, at FROM ledger_of_hosts", &[], &mut |row| {
        let (apply, project, at): (i64, String, i64) = (row.get(0)?, row.get(2)?, row.get(3)?);
        db.execute(sql, values![apply, host(row.get(1)?), project, at]).map(drop)
    })?;
    let sql = "INSERT INTO blocked_subjects (apply, subject) VALUES (?1, ?2)";
    db.query("SELECT apply, host FROM blocked_hosts", &[], &mut |row| {
        db.execute(sql, values![row.get::<i64>(0)?, host(row.get(1)?)]).map(drop)
    })?;
    let sql = "INSERT INTO left_subjects (apply, place, subject, project, name, outcome, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    db.query("SELECT apply, place, host, project, name, outcome, message FROM left_hosts", &[], &mut |row| {
        let (apply, place, name): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let subject = row.get::<Option<i64>>(2)?.map_or_else(|| orphan(&name), host);
        let (project, outcome): (String, String) = (row.get(3)?, row.get(5)?);
        db.execute(sql, values![apply, place, subject, project, name, outcome, row.get::<Option<String>>(6)?]).map(drop)
    })?;
    let sql = "UPDATE batch_changes SET changes = ?3, seal = ?4 WHERE apply = ?1 AND number = ?2";
    db.query("SELECT apply, number, changes, seal FROM batch_changes", &[], &mut |row| {
        let (apply, number): (i64, i64) = (row.get(0)?, row.get(1)?);
        // A row that is not what was written stays as it is, so that a later read still finds that out.
        let written = seal::changes(row, 2, apply, number).ok();
        match written.as_deref().and_then(rewritten) {
            Some(changes) => {
                let seal = seal::of_changes(apply, number, &changes);
                db.execute(sql, values![apply, number, changes, seal]).map(drop)
            }
            None => Ok(()),
        }
    })
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
    use crate::state::kept_change::KeptChange;

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
        assert!(serde_json::from_value::<Vec<KeptChange>>(found.into()).is_ok());
        assert_eq!([rewritten("{}"), rewritten("[{}]"), rewritten("[{\"host\":true}]")], [None, None, None]);
    }
}
