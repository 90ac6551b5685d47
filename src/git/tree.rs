//! The files of a commit, links followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::contents::GitContents;
use crate::inventory::read::{FileError, FileLayer, FindError, FoundBy, GLOB};
use crate::inventory::source::PathPattern;

/// The most links that are followed for one name. Source: Linux, path_resolution(7).
const MAX_LINKS: usize = 40;

/// The longest path that a link may hold, in octets. Source: Linux, PATH_MAX.
const MAX_PATH: u64 = 4096;

/// The files of a commit that are in a folder, by name from there; and the names that git's index has now.
pub struct GitTree {
    /// Files and links, by name.
    entries: BTreeMap<String, TreeEntry>,
    /// The names in the index.
    indexed: BTreeSet<String>,
    /// The contents.
    contents: GitContents,
}

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TreeEntry {
    /// A file with the content of this hash.
    File(String),
    /// A link that holds this path.
    Link(String),
}

/// Where a name leads to.
#[derive(Debug, PartialEq, Eq)]
enum NameLead<'a> {
    /// To the file with this hash.
    File(&'a str),
    /// To a name that is not a file of the commit.
    Nothing(String),
    /// Out of the folder, or round in circles.
    Away,
}

/// An answer of git that cannot be understood.
#[derive(Debug)]
pub struct OddAnswer;

impl fmt::Display for OddAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "something that this version cannot read")
    }
}

impl GitTree {
    /// Takes what `git ls-tree -r -z` and `git ls-files -z` print.
    pub fn new(listed: &[u8], indexed: &[u8], contents: GitContents) -> Result<GitTree, OddAnswer> {
        let mut entries = BTreeMap::new();
        for record in records(listed) {
            let (name, entry) = parse(record).ok_or(OddAnswer)?;
            let entry = match entry {
                Some(ListedEntry::File(hash)) => TreeEntry::File(hash),
                Some(ListedEntry::Link(hash)) => match contents.read(&hash, MAX_PATH) {
                    Ok(path) => TreeEntry::Link(String::from_utf8_lossy(&path).into_owned()),
                    // What cannot be followed leads away.
                    Err(_) => TreeEntry::Link("/".into()),
                },
                None => continue,
            };
            entries.insert(name, entry);
        }
        let indexed = records(indexed).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Ok(GitTree { entries, indexed, contents })
    }

    /// Whether anything has this name, be it a link that leads nowhere.
    pub fn names(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Follows a name.
    fn follow(&self, name: &str) -> NameLead<'_> {
        let mut links = 0;
        let mut ahead: Vec<String> = name.split('/').rev().map(str::to_owned).collect();
        let mut at: Vec<String> = Vec::new();
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." if at.pop().is_none() => return NameLead::Away,
                ".." => continue,
                _ => at.push(part),
            }
            if let Some(TreeEntry::Link(path)) = self.entries.get(&at.join("/")) {
                links += 1;
                if path.starts_with('/') || links > MAX_LINKS {
                    return NameLead::Away;
                }
                at.pop();
                ahead.extend(path.split('/').rev().map(str::to_owned));
            }
        }
        let name = at.join("/");
        match self.entries.get(&name) {
            Some(TreeEntry::File(hash)) => NameLead::File(hash),
            _ => NameLead::Nothing(name),
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
            if matches!(entry, TreeEntry::File(_)) || depth >= parts.len() {
                continue;
            }
            // As on disk, `**` follows no links.
            let start = &parts[..depth];
            if !start.contains(&"**")
                && means(&start.join("/"), link)
                && let NameLead::Nothing(folder) = self.follow(link)
            {
                found.extend(self.below(&folder).map(|rest| format!("{link}/{rest}")));
            }
        }
        found
    }
}

impl FileLayer for GitTree {
    fn has(&self, name: &str) -> bool {
        matches!(self.follow(name), NameLead::File(_))
    }

    fn hides(&self, name: &str, _: FoundBy) -> bool {
        match self.follow(name) {
            NameLead::Nothing(name) => self.indexed.contains(&name),
            NameLead::File(_) | NameLead::Away => false,
        }
    }

    fn find(&self, glob: &PathPattern) -> Result<Vec<String>, FindError> {
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
            NameLead::File(hash) => self.contents.read(hash, max),
            NameLead::Nothing(_) | NameLead::Away => Err(FileError::Io(std::io::ErrorKind::NotFound.into())),
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
enum ListedEntry {
    /// Of a file's content.
    File(String),
    /// Of a link's.
    Link(String),
}

/// Reads `MODE KIND HASH TAB NAME`; nothing is listed of a submodule. Source: git, `git ls-tree`, "Output Format".
fn parse(record: &[u8]) -> Option<(String, Option<ListedEntry>)> {
    let tab = record.iter().position(|octet| *octet == b'\t')?;
    let name = String::from_utf8_lossy(&record[tab + 1..]).into_owned();
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let [mode, kind, hash] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let listed = match (mode, kind) {
        ("120000", "blob") => Some(ListedEntry::Link(hash.to_owned())),
        (_, "blob") => Some(ListedEntry::File(hash.to_owned())),
        _ => None,
    };
    Some((name, listed))
}
