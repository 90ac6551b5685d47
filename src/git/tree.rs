//! The files of a commit, links followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::contents::Contents;
use crate::inventory::read::{Asked, FileError, FindError, GLOB, Layer};
use crate::inventory::source::Pattern;

/// The most links that are followed for one name. Source: Linux, path_resolution(7).
const MAX_LINKS: usize = 40;

/// The longest path that a link may hold, in octets. Source: Linux, PATH_MAX.
const MAX_PATH: u64 = 4096;

/// The files of a commit that are in a folder, by name from there; and the names that git's index has now.
pub struct Tree {
    /// Files and links, by name.
    entries: BTreeMap<String, Entry>,
    /// The names in the index.
    indexed: BTreeSet<String>,
    /// The contents.
    contents: Contents,
}

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// A file with the content of this hash.
    File(String),
    /// A link that holds this path.
    Link(String),
}

/// Where a name leads to.
#[derive(Debug, PartialEq, Eq)]
enum Lead<'a> {
    /// To the file with this hash.
    File(&'a str),
    /// To a name that is not a file of the commit.
    Nothing(String),
    /// Out of the folder, or round in circles.
    Away,
}

/// An answer of git that cannot be understood.
#[derive(Debug)]
pub struct Odd;

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "something that this version cannot read")
    }
}

impl Tree {
    /// Takes what `git ls-tree -r -z` and `git ls-files -z` print.
    pub fn new(listed: &[u8], indexed: &[u8], contents: Contents) -> Result<Tree, Odd> {
        let mut entries = BTreeMap::new();
        for record in records(listed) {
            let (name, entry) = parse(record).ok_or(Odd)?;
            let entry = match entry {
                Some(Listed::File(hash)) => Entry::File(hash),
                Some(Listed::Link(hash)) => match contents.read(&hash, MAX_PATH) {
                    Ok(path) => Entry::Link(String::from_utf8_lossy(&path).into_owned()),
                    // What cannot be followed leads away.
                    Err(_) => Entry::Link("/".into()),
                },
                None => continue,
            };
            entries.insert(name, entry);
        }
        let indexed = records(indexed).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Ok(Tree { entries, indexed, contents })
    }

    /// Whether anything has this name, be it a link that leads nowhere.
    pub fn names(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Follows a name.
    fn follow(&self, name: &str) -> Lead<'_> {
        let mut links = 0;
        let mut ahead: Vec<String> = name.split('/').rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." if at.pop().is_none() => return Lead::Away,
                ".." => continue,
                _ => at.push(part),
            }
            if let Some(Entry::Link(path)) = self.entries.get(&at.join("/")) {
                links += 1;
                if path.starts_with('/') || links > MAX_LINKS {
                    return Lead::Away;
                }
                at.pop();
                ahead.extend(path.split('/').rev().map(str::to_owned));
            }
        }
        let name = at.join("/");
        match self.entries.get(&name) {
            Some(Entry::File(hash)) => Lead::File(hash),
            _ => Lead::Nothing(name),
        }
    }

    /// The names of all files below a folder, by their rest.
    fn below<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a str> {
        let start = format!("{folder}/");
        let from = self.entries.range(start.clone()..).map(|(name, _)| name.as_str());
        from.map_while(move |name| name.strip_prefix(start.as_str()))
    }

    /// The names that files have through links to folders, of those that a glob may match. A link in a folder that a
    /// link leads to is not followed.
    fn through_links(&self, glob: &str) -> Vec<String> {
        let parts: Vec<&str> = glob.split('/').collect();
        let mut found = Vec::new();
        for (link, entry) in &self.entries {
            let depth = link.split('/').count();
            if matches!(entry, Entry::File(_)) || depth >= parts.len() {
                continue;
            }
            // As on disk, `**` follows no links.
            let start = &parts[..depth];
            if !start.contains(&"**")
                && means(&start.join("/"), link)
                && let Lead::Nothing(folder) = self.follow(link)
            {
                found.extend(self.below(&folder).map(|rest| format!("{link}/{rest}")));
            }
        }
        found
    }
}

impl Layer for Tree {
    fn has(&self, name: &str) -> bool {
        matches!(self.follow(name), Lead::File(_))
    }

    fn hides(&self, name: &str, _: Asked) -> bool {
        match self.follow(name) {
            Lead::Nothing(name) => self.indexed.contains(&name),
            Lead::File(_) | Lead::Away => false,
        }
    }

    fn find(&self, glob: &Pattern) -> Result<Vec<String>, FindError> {
        let glob = plain(&glob.text);
        let matcher = glob::Pattern::new(&glob).map_err(|error| FindError::Unreadable(error.msg.to_owned()))?;
        let through = self.through_links(&glob);
        let names = self.entries.keys().chain(&through);
        let is_meant =
            |name: &&String| matcher.matches_with(name, GLOB) && hides_no_part(name, &glob) && self.has(name);
        Ok(names.filter(is_meant).cloned().collect())
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, FileError> {
        match self.follow(name) {
            Lead::File(hash) => self.contents.read(hash, max),
            Lead::Nothing(_) | Lead::Away => Err(FileError::Io(std::io::ErrorKind::NotFound.into())),
        }
    }
}

/// Whether a glob means a name.
fn means(glob: &str, name: &str) -> bool {
    glob::Pattern::new(glob).is_ok_and(|glob| glob.matches_with(name, GLOB))
}

/// Whether a glob spells out what begins with a dot in a name: on disk no part with a sign in it finds that.
fn hides_no_part(name: &str, glob: &str) -> bool {
    name.split('/').filter(|part| part.starts_with('.')).all(|part| glob.split('/').any(|spelled| spelled == part))
}

/// A path without what says nothing in it.
fn plain(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

/// The records between NULs.
fn records(octets: &[u8]) -> impl Iterator<Item = &[u8]> {
    octets.split(|octet| *octet == 0).filter(|record| !record.is_empty())
}

/// What a record of `git ls-tree` lists: a hash.
enum Listed {
    /// Of a file's content.
    File(String),
    /// Of a link's.
    Link(String),
}

/// Reads `MODE KIND HASH TAB NAME`; nothing is listed of a submodule. Source: git, `git ls-tree`, "Output Format".
fn parse(record: &[u8]) -> Option<(String, Option<Listed>)> {
    let tab = record.iter().position(|octet| *octet == b'\t')?;
    let name = String::from_utf8_lossy(&record[tab + 1..]).into_owned();
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let [mode, kind, hash] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let listed = match (mode, kind) {
        ("120000", "blob") => Some(Listed::Link(hash.to_owned())),
        (_, "blob") => Some(Listed::File(hash.to_owned())),
        _ => None,
    };
    Some((name, listed))
}
