//! How git merges names.lock, by `.gitattributes`.
//!
//! Two branches that give names both add rows, often at one place. By default git reports a conflict there. With
//! `merge=union` it keeps the rows of both, which `check --fix-lock` settles.

use std::fs;
use std::path::Path;

use glob::{MatchOptions, Pattern};

use crate::git;
use crate::inventory::source::NAMES_LOCK;

/// The file that says how git merges the files in its folder and below.
pub const ATTRIBUTES: &str = ".gitattributes";

/// The line that it must have.
pub const UNION: &str = "names.lock merge=union";

/// Whether git merges names.lock line by line; true, too, where the workspace is not in git.
///
/// Searches from the workspace up to the root of the work tree. A user's own settings outside of it do not count: other
/// users do not have them.
pub fn is_merged_by_line(workspace: &Path) -> bool {
    let Ok(workspace) = fs::canonicalize(workspace) else { return true };
    let Some(root) = git::root_of(&workspace) else { return true };
    let lock = workspace.join(NAMES_LOCK);
    // The file nearest to names.lock counts first, and of its lines the last (gitattributes(5)).
    let said = workspace.ancestors().take_while(|folder| folder.starts_with(root)).find_map(|folder| {
        let text = fs::read_to_string(folder.join(ATTRIBUTES)).ok()?;
        let lock = lock.strip_prefix(folder).ok()?;
        text.lines().rev().find_map(|line| says_union(line, lock))
    });
    said.unwrap_or(false)
}

/// Whether a line says that a file, by its path from the line's folder, is merged line by line; `None` where the line
/// does not say how the file is merged.
fn says_union(line: &str, file: &Path) -> Option<bool> {
    let mut words = line.split_ascii_whitespace();
    let pattern = words.next()?.trim_matches('"');
    // A pattern that has no slash, except at its end, is about names in every folder.
    let pattern = match pattern.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    };
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
    if !Pattern::new(&pattern).is_ok_and(|pattern| pattern.matches_path_with(file, options)) {
        return None;
    }
    let is_of_merge = |word: &&str| word.trim_start_matches(['-', '!']).split('=').next() == Some("merge");
    words.rfind(is_of_merge).map(|word| word == "merge=union")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_names_lock_are_known() {
        let said = |line: &str| says_union(line, Path::new("inventory/names.lock"));
        for pattern in ["names.lock", "/inventory/names.lock", "inventory/*", "**/*.lock", "\"names.lock\"", "*", "n*k"]
        {
            assert_eq!(said(&format!("{pattern} text merge=union")), Some(true), "{pattern}");
        }
        for pattern in
            ["#", "Cargo.lock", "/names.lock", "other/names.lock", "/*", "inventory/", "inventory/names.lock/"]
        {
            assert_eq!(said(&format!("{pattern} merge=union")), None, "{pattern}");
        }
        let words = ["merge=ours", "-merge", "!merge", "merge", "merge=union -merge"];
        assert_eq!(words.map(|words| said(&format!("names.lock {words}"))), [Some(false); 5]);
        assert_eq!(["", "names.lock", "names.lock text emerge=union"].map(said), [None; 3]);
    }

    #[test]
    fn attributes_count_up_to_the_root_of_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (root, workspace) = (folder.path().join("tree"), folder.path().join("tree/deep/inventory"));
        fs::create_dir_all(&workspace).unwrap();
        fs::write(folder.path().join(ATTRIBUTES), UNION).unwrap();
        assert!(is_merged_by_line(&workspace), "nothing is known of git here");
        fs::create_dir(root.join(".git")).unwrap();
        assert!(!is_merged_by_line(&workspace), "what is above the tree does not count");
        fs::write(root.join("deep").join(ATTRIBUTES), format!("*.toml text\n{UNION}\n")).unwrap();
        assert!(is_merged_by_line(&workspace));
        fs::write(workspace.join(ATTRIBUTES), "* text\n").unwrap();
        assert!(is_merged_by_line(&workspace), "it does not say how files are merged");
        fs::write(workspace.join(ATTRIBUTES), format!("{UNION}\n*.lock -merge\n")).unwrap();
        assert!(!is_merged_by_line(&workspace), "the last line of the nearest file counts");
    }
}
