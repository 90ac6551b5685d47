//! The files of a workspace to start from; their comments say what was guessed.
//!
//! Comes in: what was found in a folder, or the zones that a server gave. Goes out: the text of each file, and what to
//! print about it. Pure: other rooms read, write and print.

mod common;

mod editors;

mod example;

pub use common::{IGNORE, KEYS, ignored};
pub use origin::{ImportTarget, KeyGiven};

pub mod fleet;

pub mod found;

pub mod imported;

mod origin;

mod project;

pub mod recognise;

mod settings;

mod stated;

pub mod transferred;

use std::collections::BTreeSet;

use crate::dns::{Name, NameRef};

/// One file that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterFile {
    /// Its path in the workspace, with slashes.
    pub path: String,
    /// Its text, with a final newline.
    pub text: String,
    /// What it is for, in a few words.
    pub about: String,
}

impl StarterFile {
    /// A file.
    fn new(path: impl Into<String>, about: impl Into<String>, text: String) -> StarterFile {
        StarterFile { path: path.into(), text, about: about.into() }
    }
}

/// A workspace that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Starter {
    /// Its files; the settings first.
    pub files: Vec<StarterFile>,
    /// What it was made from, one sentence each.
    pub basis: Vec<String>,
    /// What was guessed or is missing, and what to do about it; one paragraph each.
    pub remarks: Vec<String>,
}

/// The settings, which make a folder a workspace.
pub const SETTINGS: &str = "zonewright.toml";

/// A name as people write it in settings: without the final dot.
fn plain(name: NameRef<'_>) -> String {
    let text = name.to_string();
    text.strip_suffix('.').filter(|short| !short.is_empty()).unwrap_or(&text).to_owned()
}

/// A file in a folder.
fn in_folder(folder: &str, file: &str) -> String {
    if folder == "." { file.to_owned() } else { format!("{folder}/{file}") }
}

/// The folder of a path; a dot for the workspace itself.
fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()
}

/// The name without its first label; none for the root.
fn parent(name: &Name) -> Option<Name> {
    name.as_name().parent().map(NameRef::to_name)
}

/// A text as an id, an owner or the name of a file may have it: letters, digits and hyphens, in lower case.
fn slug(text: &str) -> String {
    let kept = text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect::<String>();
    let words: Vec<&str> = kept.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// A slug of a text that no other has yet.
fn fresh_slug(text: &str, taken: &mut BTreeSet<String>) -> String {
    let stem = Some(slug(text)).filter(|stem| !stem.is_empty()).unwrap_or_else(|| "unnamed".to_owned());
    let all = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}-{number}")));
    let fresh = all.into_iter().find(|stem| !taken.contains(stem)).expect("numbers do not end");
    taken.insert(fresh.clone());
    fresh
}

/// So many things, in words.
fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Some names in one line: a few of them, and how many more.
fn some<T: std::fmt::Display>(names: &[T]) -> String {
    /// How many are named.
    const SHOWN: usize = 4;
    let shown: Vec<String> = names.iter().take(SHOWN).map(ToString::to_string).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
