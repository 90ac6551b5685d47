//! Subjects that the command line names and that are no hosts.

use std::collections::BTreeSet;

use crate::claim::{STATED_KINDS, Subject, SubjectFamily, SubjectPattern};
use crate::desired::records::subject_of;
use crate::diag::{CallError, did_you_mean};
use crate::diff::statements::KeptStatements;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::pods::{PodSet, PodSetIndex};
use crate::inventory::stated::{StatedEntry, StatedRecords};

/// Checks that a subject may be one: its source or its pool is configured, and a file states its name, or did when an apply
/// noted it. Whether an unclaimed name has records is not known before DNS is read.
///
/// Errors: it is none, with what is near it.
pub fn check_known(inventory: &Inventory, statements: &KeptStatements, subject: &Subject) -> Result<(), CallError> {
    match subject.family() {
        SubjectFamily::Host(_) => Ok(()),
        SubjectFamily::Pod(own) => of_set(inventory, subject, &own.set, &|set| {
            let rows = &inventory.pods.rows[inventory.pods.places_of(set)];
            rows.iter().map(|pod| pod.id.to_string()).collect()
        }),
        SubjectFamily::Endpoints(own) => of_set(inventory, subject, &own.set, &|set| {
            let terms = inventory.pods.sets[set.0 as usize].terms();
            terms.into_iter().flat_map(|terms| &terms.endpoints).map(|endpoint| endpoint.name.to_string()).collect()
        }),
        SubjectFamily::Unclaimed(own) => {
            let pools: BTreeSet<&str> = inventory.config.pools.iter().map(|pool| pool.name.as_str()).collect();
            among(subject, "pool", own.pool.as_str(), &pools)
        }
        SubjectFamily::Stated(own) => of_source(inventory, statements, subject, (own.source, own.name)),
    }
}

/// Checks that some subject may be like a pattern. Which names are unclaimed, and which hosts gave names up, is not known
/// before DNS and the journal are read.
///
/// Errors: none is, with what is near it.
pub fn check_like(
    inventory: &Inventory,
    statements: &KeptStatements,
    pattern: &SubjectPattern,
) -> Result<(), CallError> {
    let is_open = ["orphan:", "released:"].iter().any(|kind| pattern.may_be_of(kind));
    let is_host = || inventory.hosts.iter().any(|host| pattern.matches(&Subject::Host(host.inv)));
    let is_locked = || inventory.lock.iter().any(|row| pattern.matches(&Subject::Host(row.inv)));
    // What an apply noted is of no kind that is known here.
    let is_noted = || !statements.is_empty() && STATED_KINDS.iter().any(|kind| pattern.may_be_of(&format!("{kind}:")));
    if is_open
        || is_host()
        || is_locked()
        || is_noted()
        || is_of_pods(inventory, pattern)
        || is_stated(inventory, pattern)
    {
        return Ok(());
    }
    let heads = heads(inventory);
    let head = pattern.head().unwrap_or_else(|| pattern.clone()).to_string();
    let near = if heads.contains(&head) {
        Some(format!("`{head}/*` is all of them"))
    } else {
        did_you_mean(&head, heads.iter().map(String::as_str))
    };
    let hint = near.unwrap_or_else(|| "`zonewright explain NAME` says which subject has a name".to_owned());
    Err(CallError { message: format!("`{pattern}`: no subject of the inventory is like it"), hint })
}

/// Whether a pod or an endpoint is like a pattern, or a set of which none is known.
fn is_of_pods(inventory: &Inventory, pattern: &SubjectPattern) -> bool {
    let pods = &inventory.pods;
    let is_like = |(place, set): (usize, &PodSet)| {
        let rows = &pods.rows[pods.places_of(PodSetIndex(place as u32))];
        let endpoints = || set.terms().into_iter().flat_map(|terms| &terms.endpoints);
        let has_like = rows.iter().any(|pod| pattern.matches(&Subject::pod(&*set.id, &*pod.id)))
            || endpoints().any(|own| pattern.matches_text(&format!("endpoints:{}/{}", set.id, own.name)));
        let has_head = |kind: &str| pattern.head().is_some_and(|head| head.matches_text(&format!("{kind}:{}", set.id)));
        has_like || rows.is_empty() && has_head("pod") || endpoints().next().is_none() && has_head("endpoints")
    };
    pods.sets.iter().enumerate().any(is_like)
}

/// Whether an entry of a file is like a pattern, or a source of which none is known.
fn is_stated(inventory: &Inventory, pattern: &SubjectPattern) -> bool {
    [&inventory.stated, &inventory.published].into_iter().any(|stated| is_stated_in(stated, pattern))
}

/// Whether an entry of these sources is like a pattern, or a source of which none is known.
fn is_stated_in(stated: &StatedRecords, pattern: &SubjectPattern) -> bool {
    let mut entries = stated.entries.iter();
    let has_like = entries
        .any(|entry| pattern.matches(&subject_of(&stated.sources[usize::from(entry.source)], &entry.by, &entry.owner)));
    let is_empty = |place: usize| stated.entries.iter().all(|entry| usize::from(entry.source) != place);
    let has_head =
        |kind: &str, name: &str| pattern.head().is_some_and(|head| head.matches_text(&format!("{kind}:{name}")));
    has_like
        || stated.sources.iter().enumerate().any(|(place, source)| {
            let is_like = STATED_KINDS.iter().any(|kind| has_head(kind, &source.name));
            is_like && is_empty(place)
        })
}

/// What is before the first `/` in subjects of sets and of sources.
fn heads(inventory: &Inventory) -> BTreeSet<String> {
    let sets = inventory.pods.sets.iter().flat_map(|set| ["pod", "endpoints"].map(|kind| format!("{kind}:{}", set.id)));
    let sources = inventory.stated.sources.iter().chain(&inventory.published.sources);
    let sources = sources.flat_map(|source| STATED_KINDS.map(|kind| format!("{kind}:{}", source.name)));
    sets.chain(sources).collect()
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
    let is_published = inventory.published.sources.iter().any(|own| *own.name == *source);
    let stated = if is_published { &inventory.published } else { &inventory.stated };
    let all = inventory.stated.sources.iter().chain(&inventory.published.sources);
    let sources: BTreeSet<&str> = all.map(|source| &*source.name).collect();
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
