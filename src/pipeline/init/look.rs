//! Finds the files in a folder that are recognised as an export, a zone or a project file.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::starter::found::RecognisedFile;
use crate::starter::recognise::recognise;

/// How deep it searches: exports are a few folders down at most.
const DEPTH: usize = 4;

/// How many entries are read: a folder with more cannot become a workspace.
const ENTRIES: usize = 20_000;

/// The largest file that is read, in octets: exports of a million hosts are smaller.
const MAX_FILE: u64 = 512 * 1024 * 1024;

/// Searches a folder, which may not exist yet; the files found are sorted by path.
///
/// Hidden files and folders, links to folders, and files that cannot be read are ignored.
pub fn look(folder: &Path) -> io::Result<Vec<RecognisedFile>> {
    let mut found = Vec::new();
    let mut left = ENTRIES;
    if folder.try_exists()? {
        walk(folder, "", DEPTH, &mut left, &mut found)?;
    }
    found.sort_by(|a: &RecognisedFile, b: &RecognisedFile| a.path.cmp(&b.path));
    Ok(found)
}

/// Searches one folder, and those in it.
fn walk(folder: &Path, below: &str, depth: usize, left: &mut usize, found: &mut Vec<RecognisedFile>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') || *left == 0 {
            continue;
        }
        *left -= 1;
        let path = format!("{below}{name}");
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            // A folder that cannot be read counts as empty.
            let _ = walk(&entry.path(), &format!("{path}/"), depth - 1, left, found);
        } else if kind.is_file()
            && let Some(text) = read(&entry.path())
            && let Some(kind) = recognise(&path, &text)
        {
            found.push(RecognisedFile { path, kind });
        }
    }
    Ok(())
}

/// The text of a file that may be an export, by the ending of its name; none where it cannot be read.
fn read(path: &Path) -> Option<String> {
    /// The endings of the names of such files.
    const ENDINGS: [&str; 8] = ["csv", "txt", "xml", "jsonl", "json", "zone", "yaml", "yml"];
    let ending = path.extension()?.to_str()?;
    let file = File::open(path).ok().filter(|_| ENDINGS.contains(&ending))?;
    let mut octets = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut octets).ok()?;
    Some(String::from_utf8_lossy(&octets).into_owned())
}
