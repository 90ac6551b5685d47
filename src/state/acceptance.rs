//! Exports that are, were or are to be accepted, and who accepts them. Pure.

use std::collections::BTreeMap;

use super::ApplyId;
use crate::guard::baseline::ExportDifference;
use crate::inventory::value::Time;

/// An export that was accepted, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance {
    /// The source.
    pub source: String,
    /// How many rows it had, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// When it was last accepted.
    pub at: Time,
    /// The apply that accepted it; none where one with nothing to do did, or a person.
    pub apply: Option<ApplyId>,
    /// Who ran that, as the system knows them; empty where it does not.
    pub who: String,
    /// Why a person accepted it; none where no person did.
    pub reason: Option<String>,
    /// The digests of its files, by name.
    pub files: BTreeMap<String, String>,
}

impl Acceptance {
    /// How it was accepted, in words: `by apply 7`.
    pub fn words(&self) -> String {
        let who = if self.who.is_empty() { String::new() } else { format!(" of {}", self.who) };
        match (self.apply, &self.reason) {
            (Some(ApplyId(id)), _) => format!("by apply {id}"),
            (None, None) => format!("by an apply{who} with nothing to do"),
            (None, Some(reason)) if self.who.is_empty() => format!("by hand: {reason}"),
            (None, Some(reason)) => format!("by {}: {reason}", self.who),
        }
    }
}

/// A file of an export that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedFile {
    /// Its name in messages.
    pub name: String,
    /// SHA-256, in hexadecimal.
    pub digest: String,
    /// Its content.
    pub content: Vec<u8>,
}

/// What a person accepted, and in the place of what.
#[derive(Debug, Clone)]
pub struct ExportExchange {
    /// The source.
    pub source: String,
    /// How many rows its export has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// What was accepted before.
    pub before: Option<Acceptance>,
    /// How what they say differs.
    pub difference: ExportDifference,
    /// Of l3-tors: the switches that are no longer in an L3 segment, sorted.
    pub leaving: Vec<String>,
}

/// A source of a workspace, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceStatus {
    /// Its name.
    pub source: String,
    /// How many rows its export has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// Why it is not believed.
    pub doubt: Option<String>,
    /// What was last accepted.
    pub accepted: Option<Acceptance>,
    /// Whether its export is that one still.
    pub is_accepted: bool,
}

/// An export that is to be the accepted one.
#[derive(Debug, Clone)]
pub enum ExportToAccept {
    /// The one that already is: that of this source is accepted again.
    Again(String),
    /// Another.
    Anew(NewExport),
}

impl ExportToAccept {
    /// The source.
    pub fn source(&self) -> &str {
        match self {
            ExportToAccept::Again(source) | ExportToAccept::Anew(NewExport { source, .. }) => source,
        }
    }
}

/// An export with its content.
#[derive(Debug, Clone)]
pub struct NewExport {
    /// The source.
    pub source: String,
    /// How many rows it has, bad ones included.
    pub rows: usize,
    /// When it was made, according to its content.
    pub dated: Option<Time>,
    /// Its files; empty where zonewright.toml no longer has such a source.
    pub files: Vec<AcceptedFile>,
    /// Of l3-tors: the switches that it lists.
    pub switches: Vec<String>,
}

/// Who accepts exports.
#[derive(Debug, Clone, Copy)]
pub enum Acceptor<'a> {
    /// An apply: what a later one accepted stays.
    Apply(ApplyId),
    /// An apply that had nothing to do, and so is not in the journal; who ran it.
    IdleApply(&'a str),
    /// A person, and why. From then on, switches that the export does not list are in no L3 segment.
    Person(&'a str, &'a str),
}
