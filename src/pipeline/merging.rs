//! How git merges names.lock: what `.gitattributes` says of it.
//!
//! Two branches that give names both add rows, often at one place. By itself git calls that a conflict; by `merge=union` it
//! keeps the rows of both, which `check --fix-lock` settles.

use std::fs;
use std::path::Path;

use crate::inventory::source::NAMES_LOCK;

/// The file that says how git merges the files beside and below it.
pub const ATTRIBUTES: &str = ".gitattributes";

/// What it is to say.
pub const UNION: &str = "names.lock merge=union";

/// Whether git merges names.lock line by line, or has nothing to do with it.
///
/// Looks from the workspace up to the root of the work tree; settings of one's own, outside of it, are nobody else's.
pub fn is_merged_by_line(workspace: &Path) -> bool {
    let Ok(workspace) = fs::canonicalize(workspace) else { return true };
    let Some(root) = workspace.ancestors().find(|folder| folder.join(".git").exists()) else { return true };
    workspace.ancestors().take_while(|folder| folder.starts_with(root)).any(|folder| {
        let text = fs::read_to_string(folder.join(ATTRIBUTES)).unwrap_or_default();
        text.lines().any(says_union)
    })
}

/// Whether a line says that names.lock is merged line by line.
fn says_union(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let pattern = words.next().unwrap_or_default();
    let own = pattern.rsplit('/').next().unwrap_or_default();
    [NAMES_LOCK, "*.lock", "*"].contains(&own) && words.any(|word| word == "merge=union")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_names_lock_are_known() {
        for line in ["names.lock merge=union", "/inventory/names.lock text merge=union", "**/*.lock\tmerge=union"] {
            assert!(says_union(line), "{line}");
        }
        for line in ["", "names.lock", "# names.lock merge=union", "Cargo.lock merge=union", "names.lock merge=ours"] {
            assert!(!says_union(line), "{line}");
        }
    }

    #[test]
    fn attributes_count_up_to_the_root_of_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (root, workspace) = (folder.path().join("tree"), folder.path().join("tree/deep/inventory"));
        fs::create_dir_all(&workspace).unwrap();
        fs::write(folder.path().join(ATTRIBUTES), UNION).unwrap();
        assert!(is_merged_by_line(&workspace), "nothing is known of git here");
        fs::create_dir(root.join(".git")).unwrap();
        assert!(!is_merged_by_line(&workspace), "what stands above the tree does not count");
        fs::write(root.join("deep").join(ATTRIBUTES), format!("*.toml text\n{UNION}\n")).unwrap();
        assert!(is_merged_by_line(&workspace));
    }
}
