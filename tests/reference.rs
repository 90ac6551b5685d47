//! An independent implementation in Python, written from the specification alone, agrees on random fleets.
//!
//! `FLEETS=1-2000` in the environment runs other seeds than the default.

#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/seeds.rs"]
mod seeds;
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};
use zonewright::change::{BlockCode, Rule, SkipCode};

/// The last seed by default.
const LAST: u64 = 200;

/// What of a plan both implementations must say alike.
fn essence(plan: &Value, exit: i32) -> Value {
    let pick = |list: &str, keys: &[&str]| -> Vec<Value> {
        let entries = plan[list].as_array().into_iter().flatten();
        entries.map(|entry| keys.iter().map(|key| ((*key).to_owned(), entry[key].clone())).collect()).collect()
    };
    let mut changes = pick("changes", &["zone", "name", "type", "subject", "also", "project", "before", "after"]);
    for (change, whole) in changes.iter_mut().zip(plan["changes"].as_array().into_iter().flatten()) {
        let reasons = whole["reasons"].as_array().into_iter().flatten();
        let mut reasons: Vec<String> =
            reasons.map(|reason| format!("{} {}", reason["rule"], reason["subject"])).collect();
        reasons.sort();
        reasons.dedup();
        change["reasons"] = json!(reasons);
    }
    let mut notices = pick("notices", &["code", "name", "subject"]);
    let compared = ["foreign-name", "protected", "left-behind"];
    notices.retain(|notice| compared.iter().any(|code| notice["code"] == *code));
    // A name that several clear away is reported once, with one of them.
    notices
        .iter_mut()
        .filter(|notice| notice["code"] == "protected")
        .for_each(|notice| notice["subject"] = Value::Null);
    notices.sort_by_key(Value::to_string);
    notices.dedup();
    json!({
        "exit": exit,
        "changes": changes,
        "blocked": pick("blocked", &["subject", "project", "code"]),
        "skipped": pick("skipped", &["subject", "project", "code"]),
        "notices": notices,
    })
}

/// What our binary says of a fleet.
fn ours(fleet: &Path, args: &[String]) -> Value {
    let plan = ["plan", "--format", "json", "-q", "-C", fleet.to_str().expect("UTF-8")].map(str::to_owned);
    let output = support::zonewright(&[&plan, args].concat(), None);
    let exit = output.status.code().expect("it ended by itself");
    match serde_json::from_slice(&output.stdout) {
        Ok(plan) => essence(&plan, exit),
        Err(_) => json!({"exit": exit, "fatal": true}),
    }
}

/// What the reference says of a fleet.
fn theirs(python: &Path, fleet: &Path, args: &[String]) -> Value {
    let output = Command::new(python)
        .arg(support::root().join("tests/reference/reference.py"))
        .arg("-C")
        .arg(fleet)
        .args(args)
        .output()
        .expect("Python was just found");
    let plan: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("the reference failed: {}", String::from_utf8_lossy(&output.stderr)));
    match plan.get("fatal") {
        Some(_) => plan,
        None => essence(&plan, plan["exit"].as_i64().expect("a number") as i32),
    }
}

/// The entries in which two answers differ, a line each.
fn difference(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for part in ["exit", "fatal", "changes", "blocked", "skipped", "notices"] {
        let list = |value: &Value| -> Vec<String> {
            let whole = &value[part];
            whole.as_array().map_or_else(|| vec![whole.to_string()], |list| list.iter().map(Value::to_string).collect())
        };
        let (ours, theirs) = (list(ours), list(theirs));
        lines.extend(ours.iter().filter(|line| !theirs.contains(line)).map(|line| format!("  ours   {part} {line}")));
        lines.extend(theirs.iter().filter(|line| !ours.contains(line)).map(|line| format!("  theirs {part} {line}")));
        if lines.is_empty() && ours != theirs {
            lines.push(format!("  {part}: the same entries in another order, or repeated"));
        }
    }
    lines
}

/// Counts the rules and codes that an answer shows.
fn count(seen: &mut BTreeMap<String, u64>, answer: &Value) {
    for notice in answer["notices"].as_array().into_iter().flatten() {
        *seen.entry(format!("notice {}", notice["code"].as_str().expect("a code"))).or_default() += 1;
    }
    for reason in answer["changes"].as_array().into_iter().flatten().flat_map(|c| c["reasons"].as_array()).flatten() {
        let rule = reason.as_str().and_then(|text| text.split('"').nth(1)).expect("a rule in quotes");
        *seen.entry(rule.to_owned()).or_default() += 1;
    }
    for list in ["blocked", "skipped"] {
        for entry in answer[list].as_array().into_iter().flatten() {
            *seen.entry(entry["code"].as_str().expect("a code").to_owned()).or_default() += 1;
        }
    }
}

#[test]
fn an_independent_implementation_agrees_on_random_fleets() {
    let Some(python) = support::python() else {
        support::skip("Python 3.11 is not there, so that the reference implementation cannot run");
        return;
    };
    let seen = Mutex::new(BTreeMap::new());
    let faults = Mutex::new(Vec::new());
    seeds::each(seeds::seeds(LAST), |seed, fleet| {
        fleet::write(&python, seed, fleet);
        let args = fleet::args(fleet);
        let (ours, theirs) = (ours(fleet, &args), theirs(&python, fleet, &args));
        count(&mut seen.lock().expect("no poison"), &theirs);
        let difference = difference(&ours, &theirs);
        if !difference.is_empty() {
            faults.lock().expect("no poison").push((seed, difference.join("\n")));
        }
    });
    let seen = seen.into_inner().expect("no poison");
    println!("rules and codes over the fleets: {seen:?}");
    let faults = faults.into_inner().expect("no poison");
    let shown: Vec<String> = faults.iter().map(|(seed, lines)| format!("fleet {seed}\n{lines}")).collect();
    assert!(faults.is_empty(), "{} fleets differ:\n{}", faults.len(), shown.join("\n"));
    // Breakers, limits and edits need a state; what is undone or adopted follows no rule; these fleets have one copy of each zone,
    // every zone is there, no manifest, file or row of a pod states records, and all addresses are derived.
    let later =
        ["breaker", "undo", "adopted", "edited-since", "copies-disagree", "copy-differs", "zone-missing", "opaque"];
    let of_records = ["stated", "not-stated", "makes-room", "claim-conflict", "target-limit", "no-address", "no-pod"];
    let of_apps = ["unknown-record", "scope-conflict"];
    let words = Rule::ALL.iter().map(|rule| rule.as_str());
    let words = words.chain(BlockCode::ALL.iter().map(|c| c.as_str())).chain(SkipCode::ALL.iter().map(|c| c.as_str()));
    let words = words.chain(["notice left-behind"]);
    let words = words.filter(|word| !later.contains(word) && !of_records.contains(word) && !of_apps.contains(word));
    let missing: Vec<&str> = words.filter(|word| !seen.contains_key(*word)).collect();
    assert!(missing.is_empty() || seeds::seeds(LAST) != (1..=LAST), "these never happened: {missing:?}");
}
