//! Subjects that the command line names and that are no hosts.

use std::collections::BTreeSet;

use crate::claim::Subject;
use crate::desired::records::subject_of;
use crate::diag::{CallError, did_you_mean};
use crate::diff::statements::KeptStatements;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::pods::PodSetIndex;
use crate::inventory::stated::StatedEntry;

/// Checks that a subject may be one: its source or its pool is configured, and a file states its name, or did when an apply
/// noted it. Whether an unclaimed name has records is not known before DNS is read.
///
/// Errors: it is none, with what is near it.
pub fn check_known(inventory: &Inventory, statements: &KeptStatements, subject: &Subject) -> Result<(), CallError> {
    match subject {
        Subject::Host(_) | Subject::Released(_) => Ok(()),
        Subject::Pod(own) => of_set(inventory, subject, &own.set, &|set| {
            let rows = &inventory.pods.rows[inventory.pods.places_of(set)];
            rows.iter().map(|pod| pod.id.to_string()).collect()
        }),
        Subject::Endpoints(own) => of_set(inventory, subject, &own.set, &|set| {
            let terms = inventory.pods.sets[set.0 as usize].terms();
            terms.into_iter().flat_map(|terms| &terms.endpoints).map(|endpoint| endpoint.name.to_string()).collect()
        }),
        Subject::Orphan(own) => {
            let pools: BTreeSet<&str> = inventory.config.pools.iter().map(|pool| pool.name.as_str()).collect();
            among(subject, "pool", own.pool.as_str(), &pools)
        }
        Subject::Endpoint(own) => of_source(inventory, statements, subject, (&own.source, &own.name)),
        Subject::Record(own) => of_source(inventory, statements, subject, (&own.source, &own.name)),
    }
}

/// Checks a subject of a set of pods; `members` are the pods or endpoints of a set.
fn of_set(
    inventory: &Inventory,
    subject: &Subject,
    set: &str,
    members: &dyn Fn(PodSetIndex) -> BTreeSet<String>,
) -> Result<(), CallError> {
    let sets: BTreeSet<&str> = inventory.pods.sets.iter().map(|set| &*set.id).collect();
    among(subject, "set of pods", set, &sets)?;
    let text = subject.to_string();
    let (before, own) = text.rsplit_once('/').unwrap_or_default();
    let known = inventory.pods.find_set(set).map(members).unwrap_or_default();
    if known.contains(own) {
        return Ok(());
    }
    let near = did_you_mean(own, known.iter().map(String::as_str));
    let hint = near.unwrap_or_else(|| format!("`{before}/*` is all of the set"));
    Err(CallError { message: format!("`{subject}`: the set `{set}` has no `{own}`"), hint })
}

/// Checks a subject of a source.
fn of_source(
    inventory: &Inventory,
    statements: &KeptStatements,
    subject: &Subject,
    (source, name): (&str, &Name),
) -> Result<(), CallError> {
    let stated = &inventory.stated;
    let sources: BTreeSet<&str> = stated.sources.iter().map(|source| &*source.name).collect();
    among(subject, "source of records", source, &sources)?;
    let of_entry = |entry: &StatedEntry| {
        subject_of(&stated.sources[usize::from(entry.source)], &entry.by, &entry.owner).to_string()
    };
    let text = subject.to_string();
    let is_noted = || statements.iter().any(|(noted, ..)| noted == name);
    let at_name = |entry: &&StatedEntry| entry.owner == *name;
    if stated.entries.iter().filter(at_name).any(|entry| of_entry(entry) == text) || is_noted() {
        return Ok(());
    }
    let known: BTreeSet<String> = stated.entries.iter().map(of_entry).collect();
    let near = did_you_mean(&text, known.iter().map(String::as_str));
    let hint = near.unwrap_or_else(|| "`zonewright explain NAME` says what states a name".to_owned());
    Err(CallError { message: format!("no file states `{subject}`, and no apply noted that one did"), hint })
}

/// Checks that a name is one of those that are configured.
fn among(subject: &Subject, what: &str, name: &str, known: &BTreeSet<&str>) -> Result<(), CallError> {
    if known.contains(name) {
        return Ok(());
    }
    let all: Vec<String> = known.iter().map(|own| format!("`{own}`")).collect();
    let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("there are: {}", all.join(", ")));
    Err(CallError { message: format!("`{subject}`: there is no {what} `{name}`"), hint })
}
