//! Changes as the lines of a diff.

use std::collections::HashSet;

use super::super::copies::listed;
use super::super::data;
use super::super::host_label::{host_label, is_without_pod, subject_label, without};
use super::super::words::via_in_words;
use super::escape::plain;
use crate::dns::Rrset;
use crate::plan::{Change, ChangeKind, Plan};

/// How many records of one change are shown: more than a host has.
const RECORDS: usize = 12;

/// Puts changes in the order in which they are shown; where only some are shown, the rest matters less. First come
/// hosts that lose an RRset, then those of which one is modified, then those that only get some. The changes of a host
/// are in the same order.
pub fn arranged<'a>(plan: &Plan, changes: impl Iterator<Item = &'a Change>) -> Vec<&'a Change> {
    let mut all: Vec<&Change> = changes.collect();
    let mut hosts: Vec<&mut [&Change]> = all.chunk_by_mut(|a, b| is_one(a, b)).collect();
    hosts
        .iter_mut()
        .for_each(|host| host.sort_by_cached_key(|change| (rank(change), data::reading_order(plan, change))));
    hosts.sort_by_key(|host| rank(host[0]));
    hosts.concat()
}

/// How little a change may harm: what is lost comes first.
fn rank(change: &Change) -> u8 {
    match change.kind {
        ChangeKind::Delete { .. } => 0,
        ChangeKind::Modify { .. } => 1,
        ChangeKind::Create { .. } => 2,
    }
}

/// The heading above the changes of a host, or those of a project at unclaimed names.
pub fn heading(plan: &Plan, change: &Change) -> String {
    let project = plain(&change.project);
    match (change.subject.host(), change.subject.is_stated()) {
        (Some(host), _) => format!("@@ host {} of {project} @@\n", plain(&host_label(plan, host))),
        (None, true) => format!("@@ {} of {project} @@\n", plain(&subject_label(plan, &change.subject))),
        (None, false) => format!("@@ no {}, project {project} @@\n", without(change)),
    }
}

/// Whether two changes have one heading.
pub fn is_one(a: &Change, b: &Change) -> bool {
    let heading = |change: &Change| (change.project.clone(), change.subject.counted(), is_without_pod(change));
    heading(a) == heading(b)
}

/// The records of a change, a line each: what goes, what comes, what stays.
pub fn lines(change: &Change) -> String {
    let rrset = data::rrset_of(change);
    let at = listed(&change.targets).map(|targets| format!(" (at {})", plain(&targets))).unwrap_or_default();
    let via = via_in_words(change).map(|via| format!("  ({})", via.replace('`', ""))).unwrap_or_default();
    let records = |side: Option<&Rrset>| -> Vec<String> {
        let texts = |rrset: &Rrset| (rrset.ttl(), data::texts_of(change, Some(rrset)));
        let (ttl, texts) = side.map(texts).unzip();
        texts.into_iter().flatten().map(|text| format!("{}  {text}", ttl.expect("an RRset has a TTL"))).collect()
    };
    let (before, after) = (records(change.kind.before()), records(change.kind.after()));
    let in_before: HashSet<&String> = before.iter().collect();
    let in_after: HashSet<&String> = after.iter().collect();
    let stays = before.iter().filter(|text| in_after.contains(text)).map(|text| (' ', text));
    let goes = before.iter().filter(|text| !in_after.contains(text)).map(|text| ('-', text));
    let comes = after.iter().filter(|text| !in_before.contains(text)).map(|text| ('+', text));
    let all: Vec<(char, &String)> = goes.chain(comes).chain(stays).collect();
    let (shown, rest) = all.split_at(all.len().min(RECORDS));
    let mut out = String::new();
    for (sign, text) in shown {
        let via = if *sign == '-' { via.as_str() } else { "" };
        out.push_str(&format!("{sign} {rrset}  {}{at}{via}\n", plain(text)));
    }
    if !rest.is_empty() {
        let of = |wanted: char| rest.iter().filter(|(sign, _)| *sign == wanted).count();
        let rest = [('-', "go"), ('+', "come"), (' ', "stay")].map(|(sign, word)| format!("{} {word}", of(sign)));
        out.push_str(&format!("  {rrset}  and more records{at}: {}\n", rest.join(", ")));
    }
    out
}
