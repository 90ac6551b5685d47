//! What a shell completes values with: the words that a workspace knows.
//!
//! Reads files of the workspace, asks no server, reads no secret and writes nothing. Where a file cannot be read, its
//! words are missing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use crate::inventory::value::Time;
use crate::pipeline::vocabulary::{Vocabulary, words};

/// Completes the names and numbers of hosts.
pub fn hosts() -> ArgValueCandidates {
    of(Vocabulary::Hosts)
}

/// Completes the ids of projects.
pub fn projects() -> ArgValueCandidates {
    of(Vocabulary::Projects)
}

/// Completes the ids of sets of pods.
pub fn pod_sets() -> ArgValueCandidates {
    of(Vocabulary::PodSets)
}

/// Completes zones.
pub fn zones() -> ArgValueCandidates {
    of(Vocabulary::Zones)
}

/// Completes sources.
pub fn sources() -> ArgValueCandidates {
    of(Vocabulary::Sources)
}

/// Completes the numbers of applies, the latest first.
pub fn applies() -> ArgValueCandidates {
    of(Vocabulary::Applies)
}

/// Completes words that the workspace knows.
fn of(vocabulary: Vocabulary) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let now = Time::from_timestamp(jiff::Timestamp::now());
        let known = now.map(|now| words(&workspace(std::env::args_os()), vocabulary, now)).unwrap_or_default();
        known.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The workspace that the command line names so far: the folder after `-C`, else the current one.
fn workspace(args: impl Iterator<Item = OsString>) -> PathBuf {
    let mut words = args.skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        match word.to_str().and_then(|word| word.strip_prefix("-C")) {
            Some("") => return words.next().map(PathBuf::from).unwrap_or_default(),
            Some(folder) => return PathBuf::from(folder.trim_start_matches('=')),
            None => {}
        }
    }
    PathBuf::from(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_one_behind_its_flag() {
        let of = |line: &str| workspace(line.split(' ').map(OsString::from));
        assert_eq!(of("zonewright -- zonewright -C dns plan --host x"), PathBuf::from("dns"));
        assert_eq!(of("zonewright -- zonewright -Cdns plan"), PathBuf::from("dns"));
        assert_eq!(of("zonewright -- zonewright plan"), PathBuf::from("."));
    }
}
